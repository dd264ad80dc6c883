//! What the user may have meant: names that are close to an unknown one, and what other languages call the same thing.

use wengert_base::Name;

/// Library names by what other languages call them.
const VALUES: &[(&str, &str)] = &[
    ("len", "`length`"),
    ("size", "`length`"),
    ("count", "`length`"),
    ("foldl", "`fold`"),
    ("fold_left", "`fold`"),
    ("foldLeft", "`fold`"),
    ("foldr", "`fold`, which goes from left to right"),
    ("scanl", "`scan`"),
    ("cumsum", "`scan (+) 0`"),
    ("println", "there is none: a program is its value, and `wengert run` prints the value of `main`"),
    ("print", "there is none: a program is its value, and `wengert run` prints the value of `main`"),
    ("putStrLn", "there is none: a program is its value, and `wengert run` prints the value of `main`"),
    ("ln", "`log`"),
    ("pow", "`x ** y` (a `Real` power) or `x ^ n` (an `Int` power)"),
    ("power", "`x ** y` (a `Real` power) or `x ^ n` (an `Int` power)"),
    ("diff", "`derivative`, or `grad` for several inputs"),
    ("deriv", "`derivative`, or `grad` for several inputs"),
    ("gradient", "`grad`"),
    ("value_grad", "`value_and_grad`"),
    ("jacobian", "`jacfwd` or `jacrev`"),
    ("jac", "`jacfwd` or `jacrev`"),
    ("vjp2", "`vjp`"),
    ("jvp2", "`jvp`"),
    ("fmod", "`%`"),
    ("rem", "`%`"),
    ("quot", "`/`"),
    ("fabs", "`abs`"),
    ("ceiling", "`ceil`"),
    ("toFloat", "`real`"),
    ("float", "`real`"),
    ("fromIntegral", "`real`"),
    ("to_real", "`real`"),
    ("toReal", "`real`"),
    ("f64", "`real`"),
    ("int", "`floor`, `round` or `truncate`"),
    ("str", "`show`"),
    ("toString", "`show`"),
    ("to_string", "`show`"),
    ("head", "`xs[0]`"),
    ("append", "`++` for texts, `concat` for arrays"),
    ("range", "`iota n`"),
    ("arange", "`iota n`"),
    ("zeros", "`replicate n 0.0`"),
    ("ones", "`replicate n 1.0`"),
    ("zipWith", "`map2`"),
    ("zip_with", "`map2`"),
    ("zeros_like", "`zero`"),
    ("max_by", "`maximum`"),
    ("norm2", "`norm`"),
    ("while", "`while_loop`"),
    ("until", "`while_loop`, as long as a condition holds"),
    ("for", "`fold`, over `iota n`"),
    ("loop", "`fold`, `iterate` or `while_loop`"),
    ("nan", "`0.0 / 0.0`"),
    ("NaN", "`0.0 / 0.0`"),
    ("inf", "`infinity`"),
    ("matrix_multiply", "`matmul`"),
    ("mm", "`matmul`"),
    ("error", "`fail`"),
    ("undefined", "`fail`"),
    ("panic", "`fail`"),
    ("raise", "`fail`"),
    ("sgn", "`sign`"),
    ("arcsin", "`asin`"),
    ("arccos", "`acos`"),
    ("arctan", "`atan`"),
    ("arctan2", "`atan2`"),
    ("True", "`true`"),
    ("False", "`false`"),
    ("otherwise", "`_`"),
    ("null", "there is none: a missing value is `None` of the type `Option`, after `import option`"),
    ("nil", "the constructor `Nil` of a list, or `[]` for an array"),
];

/// Types by what other languages call them.
const TYPES: &[(&str, &str)] = &[
    ("Float", "`Real`"),
    ("Double", "`Real`"),
    ("f64", "`Real`"),
    ("f32", "`Real`"),
    ("Float64", "`Real`"),
    ("float", "`Real`"),
    ("double", "`Real`"),
    ("real", "`Real`"),
    ("Integer", "`Int`"),
    ("int", "`Int`"),
    ("i64", "`Int`"),
    ("i32", "`Int`"),
    ("Int64", "`Int`"),
    ("Boolean", "`Bool`"),
    ("bool", "`Bool`"),
    ("string", "`String`"),
    ("str", "`String`"),
    ("Text", "`String`"),
    ("Str", "`String`"),
    ("Unit", "`()`"),
    ("Void", "`()`"),
    ("Array", "`[]a`"),
    ("Vec", "`[]a`"),
    ("Vector", "`[n]Real`"),
    ("Matrix", "`[n][m]Real`"),
    ("Tensor", "`[n][m]Real`"),
    ("List", "`List` of the library, after `import list`"),
    ("Option", "`Option` of the library, after `import option`"),
    ("Maybe", "`Option` of the library, after `import option`"),
    ("Complex", "`Complex` of the library, after `import complex`"),
];

/// Constructors by what other languages call them.
const CTORS: &[(&str, &str)] = &[
    ("True", "`true`"),
    ("False", "`false`"),
    ("Just", "`Some`, after `import option`"),
    ("Nothing", "`None`, after `import option`"),
    ("Some", "`Some` of the library, after `import option`"),
    ("None", "`None` of the library, after `import option`"),
    ("Cons", "`Cons` of the library, after `import list`"),
    ("Nil", "`Nil` of the library, after `import list`"),
];

fn known(table: &[(&str, &str)], name: Name) -> Option<String> {
    table.iter().find(|(other, _)| *other == name.as_str()).map(|(_, ours)| (*ours).to_owned())
}

/// Advice for an unknown value: what is close, or what it is called here.
pub(crate) fn value(name: Name, known_names: impl Iterator<Item = Name>) -> Option<String> {
    known(VALUES, name).or_else(|| similar(name, known_names).map(|close| format!("`{close}`")))
}

/// Advice for an unknown type.
pub(crate) fn type_name(name: Name, known_names: impl Iterator<Item = Name>) -> Option<String> {
    known(TYPES, name).or_else(|| similar(name, known_names).map(|close| format!("`{close}`")))
}

/// Advice for an unknown constructor.
pub(crate) fn constructor(name: Name, known_names: impl Iterator<Item = Name>) -> Option<String> {
    let close = similar(name, known_names).map(|close| format!("`{close}`"));
    known(CTORS, name).or(close)
}

/// The known name that is closest, if one is close.
pub(crate) fn similar(name: Name, known_names: impl Iterator<Item = Name>) -> Option<Name> {
    let wanted: Vec<char> = name.as_str().chars().collect();
    let limit = match wanted.len() {
        0..=3 => 1,
        4..=5 => 2,
        _ => 3,
    };
    let scored = known_names.filter(|other| *other != name).filter_map(|other| {
        let chars: Vec<char> = other.as_str().chars().collect();
        let distance = distance(&wanted, &chars, limit)?;
        (distance < wanted.len().max(chars.len())).then_some((distance, other))
    });
    scored.min().map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words, if at most `limit`.
fn distance(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > 64 {
        return None;
    }
    let same = |x: &char, y: &char| x.to_lowercase().eq(y.to_lowercase());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let replace = at(&last, j) + usize::from(!same(x, y));
            let mut best = replace.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closest(name: &str, others: &[&str]) -> Option<String> {
        similar(Name::new(name), others.iter().map(|other| Name::new(other))).map(|found| found.to_string())
    }

    #[test]
    fn close_names_are_found_and_distant_ones_are_not() {
        assert_eq!(closest("lenght", &["length", "log"]), Some("length".into()));
        assert_eq!(closest("sni", &["sin", "cos"]), Some("sin".into()));
        assert_eq!(closest("Grad", &["grad", "read"]), Some("grad".into()));
        assert_eq!(closest("x", &["y"]), None);
        assert_eq!(closest("frobnicate", &["fold", "concat"]), None);
    }
}
