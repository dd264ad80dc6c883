//! Where the inputs of a fuzz target come from: soups of bytes, characters and tokens; programs of the corpus with a few
//! changes; programs nested or repeated beyond reason; and the well-typed programs of `wengert-gen`.

use super::random::Random;
use crate::project;

/// Texts that are changed and mixed.
#[derive(Debug)]
pub struct Corpus {
    texts: Vec<String>,
}

/// What may stand in a program, and a little of what may not.
const TOKENS: &[&str] = &[
    "def",
    "type",
    "alias",
    "import",
    "as",
    "let",
    "rec",
    "and",
    "in",
    "if",
    "then",
    "else",
    "match",
    "with",
    "true",
    "false",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    ":",
    "=",
    "|",
    "->",
    "\\",
    "λ",
    "→",
    "×",
    "_",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "**",
    "++",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "≤",
    "≥",
    "≠",
    "∧",
    "∨",
    "¬",
    "&&",
    "||",
    "|>",
    ">>",
    "0",
    "1",
    "2",
    "3.5",
    "1e5",
    "9223372036854775808",
    "1_000",
    "1e999",
    "\"text\"",
    "\"\\u{3bb}\\n\"",
    "\"",
    "x",
    "y",
    "f",
    "xs",
    "n",
    "a",
    "main",
    "Real",
    "Int",
    "Bool",
    "String",
    "Dual",
    "List",
    "Nil",
    "Cons",
    "Some",
    "sin",
    "exp",
    "grad",
    "jvp",
    "vjp",
    "pullback",
    "linearize",
    "custom_jvp",
    "custom_vjp",
    "stop_gradient",
    "checkpoint",
    "taylor",
    "hessian",
    "map",
    "fold",
    "build",
    "iota",
    "iterate",
    "while_loop",
    "zip",
    "sum",
    "length",
    "apply_dual",
    "to_dual",
    "∇",
    "∂",
    "Ω",
    "π",
    "⊕",
    "xs[0]",
    "r.x",
    "-- comment\n",
    "\n",
    "\t",
    "\r\n",
    "é",
    "\u{0}",
    "\u{feff}",
    "😀",
    "'",
    "`",
    "#",
    "@",
    "$",
    "~",
    ";",
];

/// Small whole programs that reach far, as seeds for changes.
const SEEDS: &[&str] = &[
    "def main = grad (\\x -> x * grad (\\y -> x + y) 2.0) 1.0\n",
    "def main = jvp (\\g -> g (g 1.0)) (sin, cos)\n",
    "type List a = Nil | Cons a (List a)\ndef total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest\n\
     def main = grad total (Cons 1.0 (Cons 2.0 Nil))\n",
    "def main = grad (\\r -> r.x ^ 2 + sum r.ys) {x = 3.0, ys = [1.0, 2.0]}\n",
    "def f (xs : [n]Real) (ys : [n]Real) : [n]Real = map2 (\\x y -> x * y) xs ys\ndef main = f [1.0] [2.0, 3.0]\n",
    "def main = let rec even n = if n == 0 then true else odd (n - 1) and odd n = if n == 0 then false else even (n - 1) in even 10\n",
    "def main = apply_dual (pullback (\\x -> x * x) to_dual 3.0) 1.0\n",
    "def main = (hessian (\\x -> x[0] ^ 2 * x[1]) [1.0, 2.0], taylor 5 exp 0.0, linearize sin 1.0 |> fst)\n",
    "def main = custom_vjp (\\x -> x * x) (\\x -> (x * x, \\c -> 3.0 * c)) 2.0 |> \\y -> while_loop (\\z -> z < 100.0) (\\z -> z * 2.0) y\n",
];

impl Corpus {
    /// The programs of the project: the library, the examples, the wrong programs, the seeds here.
    pub fn of_the_project() -> Corpus {
        let mut texts: Vec<String> = SEEDS.iter().map(ToString::to_string).collect();
        for folder in ["lib", "examples", "tests/errors"] {
            texts.extend(project::files(folder, "wg").iter().map(|path| project::read(path)));
        }
        Corpus { texts }
    }

    fn any(&self, random: &mut Random) -> &str {
        random.pick(&self.texts).map_or("", String::as_str)
    }

    /// A program of the corpus with a few changes; now and then with none.
    pub fn changed(&self, random: &mut Random) -> String {
        let mut text = self.any(random).to_string();
        if text.len() > 3000 {
            text = some_items(&text, random);
        }
        for _ in 0..random.below(6) {
            text = self.change(&text, random);
        }
        text
    }

    fn change(&self, text: &str, random: &mut Random) -> String {
        let (start, end) = range(text, random);
        let (before, middle, after) = (&text[..start], &text[start..end], &text[end..]);
        let token = random.pick(TOKENS).copied().unwrap_or("");
        match random.below(9) {
            0 => format!("{before}{after}"),
            1 => format!("{before}{middle}{middle}{after}"),
            2 => format!("{before}{token}{middle}{after}"),
            3 => format!("{before} {token} {after}"),
            4 => before.to_string(),
            5 => {
                let other = self.any(random);
                let (from, to) = range(other, random);
                format!("{before}{}{after}", &other[from..to])
            }
            6 => swap_words(text, random),
            7 => replace_word(text, token, random),
            _ => format!(
                "{before}{}{after}",
                middle.repeat(2 + random.below(200)).chars().take(20_000).collect::<String>()
            ),
        }
    }

    /// Any text: a soup, a changed program, or a monster.
    pub fn wild(&self, random: &mut Random) -> String {
        match random.below(24) {
            0 | 1 => {
                let length = random.below(120);
                String::from_utf8_lossy(&random.bytes(length)).into_owned()
            }
            2 | 3 => characters(random),
            4..8 => tokens(random),
            8 => monster(random),
            _ => self.changed(random),
        }
    }
}

/// Some of the top-level items of a long program, so that an input stays small enough to try thousands of them.
fn some_items(text: &str, random: &mut Random) -> String {
    let items: Vec<&str> = text.split("\n\n").collect();
    let start = random.below(items.len());
    items.iter().skip(start).take(1 + random.below(12)).flat_map(|item| [*item, "\n\n"]).collect()
}

/// A short range of `text` between characters; now and then a long one.
fn range(text: &str, random: &mut Random) -> (usize, usize) {
    let length = if random.one_in(8) { text.len() } else { 24 };
    let mut start = random.below(text.len() + 1);
    let mut end = (start + random.below(length + 1)).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}

fn swap_words(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let (i, j) = (random.below(words.len()), random.below(words.len()));
    words.swap(i, j);
    words.join(" ")
}

fn replace_word(text: &str, token: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let place = random.below(words.len());
    if let Some(word) = words.get_mut(place) {
        *word = token;
    }
    words.join(" ")
}

fn characters(random: &mut Random) -> String {
    (0..random.below(80))
        .filter_map(|_| {
            let limit = random.pick(&[128, 1024, 0x11_0000]).copied().unwrap_or(128);
            char::from_u32(random.below(limit) as u32)
        })
        .collect()
}

fn tokens(random: &mut Random) -> String {
    let start = if random.one_in(2) { "def main = " } else { "" };
    let mut text = start.to_string();
    for _ in 0..random.below(60) {
        text.push_str(random.pick(TOKENS).copied().unwrap_or(""));
        if !random.one_in(6) {
            text.push(' ');
        }
    }
    text
}

/// A program that is deep, wide or long.
fn monster(random: &mut Random) -> String {
    const DEEP: &[(&str, &str, &str)] = &[
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{x = ", "1", "}"),
        ("\\x -> ", "x", ""),
        ("let x = ", "1", " in x"),
        ("let x = 1 ", "in x", ""),
        ("if true then ", "1", " else 2"),
        ("match 1 with | x -> ", "x", ""),
        ("f (", "x", ")"),
        ("- ", "1", ""),
        ("1 + ", "1", ""),
        ("1 ^ ", "1", ""),
        ("", "x", ".x"),
        ("", "xs", "[0]"),
        ("", "f", " x"),
        ("", "f", " |> f"),
        ("", "1.0", " + 1.0"),
        ("sin (", "1.0", ")"),
        ("grad (\\x -> ", "x", ") 1.0"),
        ("(1 : ", "Int", ")"),
        ("match x with | Cons (", "y", ") z -> y"),
        ("\"", "", ""),
        ("-- ", "", "\n"),
    ];
    let Some((open, middle, close)) = random.pick(DEEP) else { return String::new() };
    let depth = random.pick(&[3, 40, 700, 1990, 2010, 30_000]).copied().unwrap_or(3);
    format!(
        "def main = {}{middle}{}\n",
        open.repeat(depth),
        close.repeat(if random.one_in(5) { 0 } else { depth })
    )
}
