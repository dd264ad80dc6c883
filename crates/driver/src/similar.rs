//! Which of several names was probably meant.

/// The candidate nearest to `name`, if one is near enough to be a slip: at most a third of its letters differ, or it
/// differs in case only.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(MAX_LENGTH + 1).collect();
    if letters.len() > MAX_LENGTH {
        return None;
    }
    let allowed = letters.len().div_ceil(3);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let distance = match candidate.eq_ignore_ascii_case(name) {
                true => 0,
                false => distance(&letters, candidate),
            };
            (distance <= allowed && distance < letters.len()).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Longer names are not compared.
const MAX_LENGTH: usize = 40;

/// Insertions, deletions, replacements and exchanges of neighbors (optimal string alignment).
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(MAX_LENGTH + 1).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&last, j) + usize::from(x != y);
            let mut best = replaced.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["Circle", "Rect", "Cons", "Nil"];
        assert_eq!(nearest("Cirlce", names), Some("Circle"));
        assert_eq!(nearest("cons", names), Some("Cons"));
        assert_eq!(nearest("Con", names), Some("Cons"));
        assert_eq!(nearest("Square", names), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", ["y"]), None);
    }
}
