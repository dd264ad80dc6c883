//! Expected texts: compared with what is printed now, shown as a difference by lines, and rewritten when the user says
//! so with `BLESS=1`.

use std::path::Path;

/// Whether expected texts are to be rewritten.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Compares `actual` with the file at `path`, or rewrites the file when blessing.
pub fn compare_file(path: &Path, actual: &str) -> Result<(), String> {
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    if blessing() {
        crate::project::write(path, actual);
        return Ok(());
    }
    let name = crate::project::relative(path);
    Err(format!(
        "{name} differs (- expected, + now; `BLESS=1 cargo test` accepts):\n{}",
        difference(&expected, actual)
    ))
}

/// The difference of two texts, line by line: lines that went with `-`, lines that came with `+`, the rest with a space.
pub fn difference(expected: &str, actual: &str) -> String {
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = actual.lines().collect();
    let common = common_lengths(&old, &new);
    let length = |i: usize, j: usize| common.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    let mut line = |mark: char, content: &str| {
        text.push(mark);
        text.push_str(content);
        text.push('\n');
    };
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                line(' ', a);
                i += 1;
                j += 1;
            }
            (Some(a), other) if other.is_none() || length(i + 1, j) >= length(i, j + 1) => {
                line('-', a);
                i += 1;
            }
            (_, Some(b)) => {
                line('+', b);
                j += 1;
            }
            (_, None) => return text,
        }
    }
}

/// `result[i][j]` is the length of the longest common subsequence of `old[i..]` and `new[j..]`.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut rows = vec![vec![0; new.len() + 1]];
    for a in old.iter().rev() {
        let below = rows.last().cloned().unwrap_or_default();
        let mut row = vec![0; new.len() + 1];
        for (j, b) in new.iter().enumerate().rev() {
            let at = |cells: &[usize], k: usize| cells.get(k).copied().unwrap_or(0);
            let best = if a == b { at(&below, j + 1) + 1 } else { at(&below, j).max(at(&row, j + 1)) };
            if let Some(cell) = row.get_mut(j) {
                *cell = best;
            }
        }
        rows.push(row);
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_keeps_what_is_common() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\nd\n"), " a\n-b\n+x\n c\n+d\n");
        assert_eq!(difference("", "a"), "+a\n");
        assert_eq!(difference("a", ""), "-a\n");
    }
}
