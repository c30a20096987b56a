//! Which known names an unknown one was probably meant to be.

/// The names closest to `given`, best first, at most three; none when nothing is close.
pub fn near_names<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = fold(given);
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let folded = fold(name);
            let distance = if is_part(given, name) { 1 } else { edit_distance(&wanted, &folded) };
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

/// Whether one name is a part of the other that says something: a word of it, its beginning, or most of it. Any three
/// letters do not: `cat` is in `frobnicate`.
fn is_part(left: &str, right: &str) -> bool {
    let (left_folded, right_folded) = (fold(left), fold(right));
    let (short, long, of) = if left_folded.len() < right_folded.len() {
        (left_folded, right_folded, right)
    } else {
        (right_folded, left_folded, left)
    };
    let is_word = || of.split(['_', '-', '.', ' ']).any(|word| fold(word) == short);
    let is_start = || short.len() > 3 && long.starts_with(&short);
    let is_most = || short.len() * 2 > long.len() && long.contains(&short);
    short.len() > 2 && short != long && (is_word() || is_start() || is_most())
}

fn fold(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Edit distance in characters; a swap of neighbours counts once. Names are short; long input is cut so that cost stays bounded.
fn edit_distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 64;
    let left: Vec<char> = left.chars().take(LONGEST).collect();
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    // The row before the last one, for swaps, and the last one.
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, left_char) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, right_char) in right.iter().enumerate() {
            let substitution = row[j] + usize::from(left_char != right_char);
            let mut best = substitution.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && left[i - 1] == *right_char && left[i] == right[j - 1] {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
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
            ("raed", vec!["read"]),
            ("todo_write", vec!["todowrite"]),
            ("read_the_file", vec!["read"]),
            ("todo", vec!["todoread", "todowrite"]),
            ("launch_rocket", vec![]),
            ("frobnicate", vec![]),
        ] {
            let known = ["read", "cat", "write", "bash", "todoread", "todowrite"];
            assert_eq!(near_names(wanted, known), expected, "{wanted}");
        }
    }
}
