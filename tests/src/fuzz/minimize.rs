//! Makes a failing input small: drops lines, then pieces of text, as long as it still fails in the same way
//! (delta debugging; quadratic at worst, so it stops after a number of attempts).

const ATTEMPTS: usize = 3000;

/// The smallest text found for which `fails` still holds. `fails(text)` is known to hold.
pub(super) fn minimize(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut left = ATTEMPTS;
    let mut best = text.to_string();
    loop {
        let lines: Vec<String> = best.split_inclusive('\n').map(str::to_string).collect();
        let fewer_lines = shrink(lines, fails, &mut left).concat();
        let characters: Vec<String> = fewer_lines.chars().map(String::from).collect();
        let fewer = shrink(characters, fails, &mut left).concat();
        if fewer.len() >= best.len() || left == 0 {
            return fewer;
        }
        best = fewer;
    }
}

/// Drops pieces: halves first, then quarters, down to single ones.
fn shrink(mut pieces: Vec<String>, fails: &mut dyn FnMut(&str) -> bool, left: &mut usize) -> Vec<String> {
    let mut size = pieces.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < pieces.len() && *left > 0 {
            *left -= 1;
            let shorter: Vec<String> =
                pieces.iter().take(start).chain(pieces.iter().skip(start + size)).cloned().collect();
            if fails(&shorter.concat()) {
                pieces = shorter;
            } else {
                start += size;
            }
        }
        size /= 2;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::minimize;

    #[test]
    fn what_does_not_matter_goes() {
        let mut fails = |text: &str| text.contains('a') && text.contains('λ');
        assert_eq!(minimize("first\nsecond a b\nthird λ\n", &mut fails), "aλ");
    }
}
