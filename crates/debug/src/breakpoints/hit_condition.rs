//! When a breakpoint that was reached stops: `3`, `== 3`, `> 5`, `% 2 == 0` and their kin, the same on every adapter.

use std::fmt;
use std::str::FromStr;

/// Which of a breakpoint's hits count, the first being number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitCondition {
    Compare(Comparison, u64),
    /// Hits whose number leaves this rest.
    Modulo {
        by: u64,
        rest: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    /// Longer signs first, so that `>=` is not taken for `>`.
    const SIGNS: [(&'static str, Self); 9] = [
        ("===", Self::Equal),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        (">", Self::Greater),
        ("<", Self::Less),
        ("=", Self::Equal),
        ("", Self::Equal),
    ];

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl HitCondition {
    /// Whether the hit of this number stops.
    pub fn holds(self, hit: u64) -> bool {
        match self {
            Self::Compare(Comparison::Equal, number) => hit == number,
            Self::Compare(Comparison::NotEqual, number) => hit != number,
            Self::Compare(Comparison::Less, number) => hit < number,
            Self::Compare(Comparison::AtMost, number) => hit <= number,
            Self::Compare(Comparison::Greater, number) => hit > number,
            Self::Compare(Comparison::AtLeast, number) => hit >= number,
            Self::Modulo { by, rest } => hit % by == rest,
        }
    }
}

impl fmt::Display for HitCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(comparison, number) => write!(formatter, "{} {number}", comparison.sign()),
            Self::Modulo { by, rest } => write!(formatter, "% {by} == {rest}"),
        }
    }
}

impl FromStr for HitCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || {
            format!(
                "`{text}` is no hit condition; write a count like `3`, `== 3`, `> 5`, `<= 2` or `% 2 == 0`"
            )
        };
        let number = |digits: &str| digits.trim().parse::<u64>().map_err(|_| refused());
        let text = text.trim();
        if let Some(modulo) = text.strip_prefix('%') {
            let (by, rest) = match modulo.split_once("==").or_else(|| modulo.split_once('=')) {
                Some((by, rest)) => (number(by)?, number(rest.trim_start_matches('='))?),
                None => (number(modulo)?, 0),
            };
            return if by == 0 { Err(refused()) } else { Ok(Self::Modulo { by, rest }) };
        }
        let (sign, comparison) =
            Comparison::SIGNS.into_iter().find(|(sign, _)| text.starts_with(sign)).ok_or_else(refused)?;
        Ok(Self::Compare(comparison, number(&text[sign.len()..])?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_stops_at_the_right_hits() {
        let rows = [
            ("3", "3"),
            ("== 3", "3"),
            ("=3", "3"),
            ("===3", "3"),
            ("> 3", "4 5 6"),
            (">=3", "3 4 5 6"),
            ("< 3", "1 2"),
            ("<=2", "1 2"),
            ("!= 2", "1 3 4 5 6"),
            ("% 2 == 0", "2 4 6"),
            ("%2", "2 4 6"),
            ("% 3 == 1", "1 4"),
        ];
        for (form, expected) in rows {
            let condition: HitCondition = form.parse().unwrap();
            let hits: Vec<String> =
                (1..=6).filter(|hit| condition.holds(*hit)).map(|hit| hit.to_string()).collect();
            assert_eq!(hits.join(" "), expected, "{form}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_forms() {
        for text in
            ["", "x", "> x", "% 0", "%", "== 3 4", "3.5", "-1", "99999999999999999999999", "os.system()"]
        {
            assert!(text.parse::<HitCondition>().unwrap_err().contains("% 2 == 0"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(number in 0_u64..1000, by in 1_u64..50, rest in 0_u64..50, sign in 0_usize..9) {
            for condition in
                [HitCondition::Compare(Comparison::SIGNS[sign].1, number), HitCondition::Modulo { by, rest }]
            {
                prop_assert_eq!(condition.to_string().parse::<HitCondition>().unwrap(), condition);
            }
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text in ".{0,40}") {
            text.parse::<HitCondition>().ok();
        }
    }
}
