//! Which known names an unknown one was probably meant to be.

/// The names closest to `wanted`, best first, at most three; none when nothing is close.
pub fn near_names<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = fold(wanted);
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let folded = fold(name);
            let contained = wanted != folded
                && wanted.len() > 2
                && folded.len() > 2
                && (folded.contains(&wanted) || wanted.contains(&folded));
            let distance = if contained { 1 } else { edit_distance(&wanted, &folded) };
            let allowed = (wanted.chars().count().max(folded.chars().count()) / 3).max(1);
            (distance <= allowed).then_some((distance, name))
        })
        .collect();
    scored.sort_unstable();
    scored.dedup_by_key(|(_, name)| *name);
    // The same word in another spelling leaves no doubt.
    if scored.first().is_some_and(|(distance, _)| *distance == 0) {
        scored.retain(|(distance, _)| *distance == 0);
    }
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// "did you mean `read`?" or the empty string.
pub(crate) fn did_you_mean(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", quoted.join(" or "))
}

fn fold(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Levenshtein distance in characters. Names are short; long input is cut so that cost stays bounded.
fn edit_distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 64;
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, left_char) in left.chars().take(LONGEST).enumerate() {
        let mut diagonal = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, right_char) in right.iter().enumerate() {
            let substitution = diagonal + usize::from(left_char != *right_char);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        for (wanted, expected) in [
            ("Read", vec!["read"]),
            ("reed", vec!["read"]),
            ("bsh", vec!["bash"]),
            ("todo_write", vec!["todowrite"]),
            ("launch_rocket", vec![]),
        ] {
            let known = ["read", "write", "bash", "todoread", "todowrite"];
            assert_eq!(near_names(wanted, known), expected, "{wanted}");
        }
    }
}
