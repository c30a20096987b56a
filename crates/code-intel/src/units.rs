//! Columns as others count them: editors in UTF-16, some programs in bytes, people in characters.

/// In which units columns count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Units {
    Utf8,
    /// Also where it is not said: who leaves it out counts as editors do.
    #[default]
    Utf16,
    Utf32,
}

impl Units {
    fn of(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The column, from 1 and in characters, of so many units into a line.
    pub(crate) fn column(self, line: &str, units: u32) -> u32 {
        let mut left = units as usize;
        let mut column = 1;
        for character in line.chars() {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(self.of(character));
            column += 1;
        }
        column
    }

    /// So many units into a line is a column, which counts from 1 and in characters.
    pub(crate) fn before(self, line: &str, column: u32) -> u32 {
        let characters = line.chars().take(column.saturating_sub(1) as usize);
        characters.map(|character| self.of(character)).sum::<usize>() as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_column_is_the_same_there_and_back(line in ".{0,40}", at in 0_u32..50) {
            let column = at.min(line.chars().count() as u32) + 1;
            for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
                prop_assert_eq!(units.column(&line, units.before(&line, column)), column);
            }
        }
    }

    #[test]
    fn characters_beyond_the_first_plane_count_twice_in_utf16() {
        let line = "x = '😀é' + y";
        for (units, before) in [(Units::Utf8, 14), (Units::Utf16, 11), (Units::Utf32, 10)] {
            assert_eq!(units.before(line, 11), before, "{units:?}");
            assert_eq!(units.column(line, before), 11, "{units:?}");
        }
    }
}
