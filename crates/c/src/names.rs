//! Names of the source as names of C.
//!
//! What the C text declares itself begins with `wg_`, functions of the program with `f_`, its texts with `text_`; local variables
//! keep their names unless they would hide one of those, or are words of C.

use rustc_hash::{FxHashMap, FxHashSet};

/// Words of C, and what generated code uses of its library.
const RESERVED: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "asm", "typeof", "ref", "word", "r", "fabs", "sqrt", "floor", "ceil", "trunc",
    "int64_t", "uint64_t", "uint16_t", "size_t", "errno", "stdin", "stdout", "stderr", "main", "assert",
    "signbit", "isnan", "isinf", "isfinite", "bool", "true", "false", "alignas", "alignof", "noreturn",
    "nullptr",
];

const OWN_PREFIXES: &[&str] = &["wg_", "WG_", "f_", "text_"];

const GREEK: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('φ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('∇', "grad"),
    ('∂', "derivative"),
    ('Ω', "pullback"),
];

/// The letters of a name that C has; others are written out.
pub(crate) fn letters(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
            '\'' => out.push_str("_prime"),
            '.' | '-' | ' ' => out.push('_'),
            c => match GREEK.iter().find(|(greek, _)| *greek == c) {
                Some((_, word)) => out.push_str(word),
                None => out.push_str(&format!("u{:x}", u32::from(c))),
            },
        }
    }
    out
}

/// Names of C, all different, as close to these as can be; none is one of `taken`.
pub fn c_names<'n>(names: impl IntoIterator<Item = &'n str>, taken: &[&str]) -> Vec<String> {
    let mut scope = Names::default();
    scope.used.extend(taken.iter().map(ToString::to_string));
    names.into_iter().map(|name| scope.fresh(name)).collect()
}

/// The names of one scope.
#[derive(Default)]
pub(crate) struct Names {
    used: FxHashSet<String>,
    /// The number that comes next after a name. There may be thousands of one name.
    next: FxHashMap<String, usize>,
}

impl Names {
    /// A name that nothing else here has, as close to this one as can be.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let mut name = letters(name);
        let hidden = OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if hidden || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "v_");
        }
        self.unique(name)
    }

    /// A name of a function.
    pub(crate) fn function(&mut self, name: &str) -> String {
        self.unique(format!("f_{}", letters(name)))
    }

    fn unique(&mut self, name: String) -> String {
        if !RESERVED.contains(&name.as_str()) && self.used.insert(name.clone()) {
            return name;
        }
        // With a number, these would be names that the text itself declares.
        let stem = if matches!(name.as_str(), "text" | "wg") { format!("v_{name}") } else { name };
        let next = self.next.entry(stem.clone()).or_insert(2);
        loop {
            let other = format!("{stem}_{next}");
            *next += 1;
            if self.used.insert(other.clone()) {
                return other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_names_of_c_and_differ() {
        let mut names = Names::default();
        assert_eq!(names.fresh("x"), "x");
        assert_eq!(names.fresh("x"), "x_2");
        assert_eq!(names.fresh("x'"), "x_prime");
        assert_eq!(names.fresh("double"), "double_2");
        assert_eq!(names.fresh("θ₁"), "thetau2081");
        assert_eq!(names.fresh("wg_alloc"), "v_wg_alloc");
        assert_eq!([names.fresh("text"), names.fresh("text")], ["text", "v_text_2"]);
        assert_eq!(names.function("linalg.norm"), "f_linalg_norm");
    }
}
