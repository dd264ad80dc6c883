//! Names of the source as names of C.
//!
//! What the C text declares itself begins with `wg_`, functions of the program with `f_`, its texts with `text_`; local variables
//! keep their names unless they would hide one of those, or are words of C.

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_native::loops::{Func, Local, Part, Word};

/// Words of C, and what generated code uses of its library.
const WORDS: &str = "\
    auto break case char const continue default do double else enum extern float for goto if inline int long \
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while \
    asm typeof ref word r fabs sqrt floor ceil trunc int64_t uint64_t uint16_t size_t main signbit isnan isinf \
    isfinite memcpy true false nullptr typeof_unqual constexpr";

/// Words of C++, in which headers are read too.
const WORDS_OF_CPP: &str = "\
    catch char16_t char32_t char8_t class co_await co_return co_yield concept const_cast consteval constinit \
    decltype delete dynamic_cast explicit export friend mutable namespace new noexcept operator private \
    protected public reinterpret_cast requires static_cast template this throw try typeid typename using virtual \
    wchar_t";

/// Names that are something else before the compiler sees them: what GCC defines by itself where names need not begin with
/// underscores, and what headers of C and POSIX define that a program may include before that of a library.
const MACROS: &str = "\
    alignas alignof and and_eq assert bitand bitor bool compl complex d_fileno errno h_addr h_errno i386 linux \
    math_errhandling noreturn not not_eq or or_eq s6_addr s6_addr16 s6_addr32 sa_handler sa_sigaction \
    sched_priority si_addr si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid \
    si_pkey si_ptr si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value \
    sigev_notify_attributes sigev_notify_function st_atime st_ctime st_mtime static_assert stderr stdin stdout \
    thread_local unix xor xor_eq";

/// Names that a library must not have, and why.
const LIBRARY_NAMES: &str = include_str!("library_names.txt");

/// What is declared with a library of a name: its other functions, and the type of its runs.
const BESIDE: &[&str] = &["_open", "_close", "_message", "_threads", "_run", "_jvp", "_vjp"];

const OWN_PREFIXES: &[&str] = &["wg_", "WG_", "f_", "text_", "wengert_", "WENGERT_"];

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

/// A name of C for a function of a library, as close to this one as can be: neither it nor what is declared with it is what the
/// C library has.
pub fn exported_name(name: &str) -> String {
    let known: FxHashSet<&str> = library_names().collect();
    let is_known = |name: &str| {
        known.contains(name) || BESIDE.iter().any(|end| known.contains(&*format!("{name}{end}")))
    };
    let mut scope = Names::default();
    loop {
        let made = scope.fresh(name);
        if !is_known(&made) {
            return made;
        }
    }
}

/// All that the C library has.
fn library_names() -> impl Iterator<Item = &'static str> {
    LIBRARY_NAMES.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Whether something else is called so wherever C is read.
fn is_reserved(name: &str) -> bool {
    [WORDS, WORDS_OF_CPP, MACROS].iter().any(|table| table.split_whitespace().any(|word| word == name))
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
        if !is_reserved(&name) && self.used.insert(name.clone()) {
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

/// What a variable is called, before names are made to differ.
pub(crate) fn plain_name(func: &Func, local: Local) -> String {
    let Some(origin) = func.origins.get(&local) else {
        let letter = match func.locals.get(local) {
            Some(Word::Real) => "t",
            Some(Word::Int) | None => "n",
            Some(Word::Ref) => "o",
            Some(Word::Address) => "at",
        };
        return letter.to_string();
    };
    match origin.part {
        Part::Value => origin.name.to_string(),
        Part::Object => format!("{}_object", origin.name),
        Part::Size => format!("{}_size", origin.name),
        Part::SizeAlong(axis) => format!("{}_size{axis}", origin.name),
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, exported_name, library_names};

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

    #[test]
    fn words_of_cpp_and_macros_are_no_names() {
        for word in ["class", "new", "template", "and", "linux", "unix", "math_errhandling", "stdin", "errno"]
        {
            assert_eq!(Names::default().fresh(word), format!("{word}_2"));
        }
        assert_eq!(Names::default().fresh("wengert_reals_1"), "v_wengert_reals_1");
        assert_eq!(Names::default().fresh("gamma"), "gamma", "a variable may be called like a function of C");
    }

    #[test]
    fn a_library_has_no_name_of_the_c_library() {
        let known =
            ["sin", "gamma", "y1", "index", "free", "printf", "mmap", "pthread_create", "write", "time"];
        for name in known {
            assert_eq!(exported_name(name), format!("{name}_2"));
        }
        // The functions `mq_open` and `sem_close` are the C library's.
        assert_eq!([exported_name("mq"), exported_name("sem")], ["mq_2", "sem_2"]);
        assert_eq!([exported_name("main"), exported_name("class")], ["main_2", "class_2"]);
        assert_eq!([exported_name("loss"), exported_name("loss'")], ["loss", "loss_prime"]);
        assert!(library_names().is_sorted(), "the table is in order");
    }
}
