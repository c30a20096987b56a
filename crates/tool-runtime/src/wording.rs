//! Numbers in sentences.

/// "1 line", "2 lines".
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// "1st", "2nd", "3rd", "4th".
pub(crate) fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let ordinals: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 113].map(ordinal).into();
        assert_eq!(ordinals.join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 113th");
        assert_eq!([0, 1, 2].map(|count| counted(count, "line")), ["0 lines", "1 line", "2 lines"]);
    }
}
