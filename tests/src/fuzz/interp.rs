//! The interpreter: what is accepted runs to a value or to a message, within its limits, twice to the same end; so do its
//! derivatives where its types allow them; and any text given as JSON input is read or refused.

use super::checker::with_session;
use super::{Corpus, Random, judge};
use arbitrary::Unstructured;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use wengert_base::Diagnostic;
use wengert_driver::scope::Scope;
use wengert_driver::{Evaluated, Input, Options, Session, Signature, show};
use wengert_gen::{Config, gen_program, gen_value};

/// So many steps take milliseconds; whoever needs this long for them hangs.
const STEPS: u64 = 100_000;
const TIME: Duration = Duration::from_secs(5);
const MEMORY: u64 = 128 << 20;

/// So many definitions of a program are tried.
const DEFINITIONS: usize = 5;

/// A program that has a good chance to be accepted.
pub fn input(corpus: &Corpus, random: &mut Random) -> String {
    if random.one_in(3) { corpus.changed(random) } else { generated(random) }
}

/// A well-typed program whose `main` calls its entry.
pub(super) fn generated(random: &mut Random) -> String {
    let length = 64 + random.below(3000);
    let bytes = random.bytes(length);
    let mut unstructured = Unstructured::new(&bytes);
    let config = Config { max_depth: 3 + random.below(5) as u32, ..Config::default() };
    let Ok(program) = gen_program(&mut unstructured, &config) else { return String::new() };
    let input = gen_value(&mut unstructured, &program.arg_type, program.decls());
    let main = input.ok().flatten().map(|value| format!("\ndef main = {} {}\n", program.entry, value.text()));
    program.text() + &main.unwrap_or_default()
}

/// Holds one program against the promises.
pub fn check(text: &str) -> Result<(), String> {
    with_session(|session| {
        let report = session.check_text("fuzz.wg", text, Path::new("no such folder"));
        if !report.has_errors() {
            let scope = Scope::of_file(&report.modules);
            for signature in report.signatures().iter().rev().take(DEFINITIONS) {
                for expression in experiments(signature) {
                    run_twice(session, &scope, &expression)?;
                }
            }
        }
        read_json(session, &json(&mut Random::new(text.len() as u64 ^ hash(text))))
    })
}

/// Expressions to try with a definition of this type.
fn experiments(signature: &Signature) -> Vec<String> {
    let name = signature.name;
    let forms: &[&str] = match signature.ty.as_str() {
        "Real -> Real" => &[
            "(NAME 0.5, derivative NAME 0.5, grad NAME 0.5)",
            "taylor 4 NAME 0.5",
            "derivative (grad NAME) 0.5",
            "grad (derivative NAME) (-1.0)",
            "let (y, t) = linearize NAME 0.0 in (y, t 1.0, t 2.0)",
            "from_dual (pullback NAME to_dual 2.0)",
        ],
        "[n]Real -> Real" | "[]Real -> Real" | "[3]Real -> Real" => &[
            "(NAME [0.5, -1.0, 2.0], grad NAME [0.5, -1.0, 2.0])",
            "hessian NAME [0.5, 0.0, 2.0]",
            "grad_fwd NAME [0.0, 0.0, 0.0]",
        ],
        "Int -> Int" | "Int -> Real" => &["[NAME (-1), NAME 0, NAME 3]"],
        ty if ty.contains("->") => &["NAME"],
        _ => &["NAME", "jvp (\\_ -> NAME) (1.0, 1.0)"],
    };
    forms.iter().map(|form| form.replace("NAME", name.as_str())).collect()
}

/// Two runs end in the same way, and both end.
fn run_twice(session: &mut Session, scope: &Scope, expression: &str) -> Result<(), String> {
    let start = Instant::now();
    let options = options();
    let first = session.eval_in(scope, "expression", expression, &options);
    let first = settle(session, first).map_err(|error| format!("{error} in {expression}"))?;
    if start.elapsed() > TIME {
        return Err(format!("{STEPS} steps take {:?}: {expression}", start.elapsed()));
    }
    let second = session.eval_in(scope, "expression", expression, &options);
    let second = settle(session, second)?;
    if first == second { Ok(()) } else { Err(format!("two runs of {expression} differ:\n{first}\n{second}")) }
}

fn options() -> Options {
    Options { max_steps: Some(STEPS), max_memory: Some(MEMORY), timeout: Some(TIME), ..Options::default() }
}

/// The value or the message as text. An expression that does not check is no failure: its form was a guess.
fn settle(session: &Session, outcome: Result<Evaluated, Vec<Diagnostic>>) -> Result<String, String> {
    match outcome {
        Ok(evaluated) => Ok(show(&evaluated.value)),
        Err(diagnostics) => {
            judge::diagnostics(session.sources(), &diagnostics)?;
            Ok(wengert_driver::render::text::render(session.sources(), &diagnostics, Default::default()))
        }
    }
}

/// Entries of many types, which read the JSON.
const ENTRIES: &str = "\
type List a = Nil | Cons a (List a)
type Shape = Circle Real | Rect {w : Real, h : Real} | Many []Shape

def reals (x : Real) (y : Real) = x + y
def ints (n : Int) (p : (Int, Bool)) = (n, p)
def words (s : String) (t : [2]String) = (s, t)
def arrays (xs : [n]Real) (m : [n][n]Real) = (xs, m)
def total (xs : List Real) = xs
def shape (s : Shape) = s
def anything x = x
def nothing () = ()
def apply (f : Real -> Real) = f 1
";

fn read_json(session: &mut Session, input: &str) -> Result<(), String> {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = super::current_file(super::Target::Interp).with_file_name("entries.wg");
        crate::project::write(&file, ENTRIES);
        file
    });
    let entries = ENTRIES.lines().filter_map(|line| line.strip_prefix("def ")?.split(' ').next());
    let entries: Vec<&str> = entries.collect();
    let Some(entry) = entries.get(hash(input) as usize % entries.len()) else { return Ok(()) };
    let outcome = session.run(file, entry, Some(&Input::Text(input.to_string())), &options());
    settle(session, outcome).map(|_| ()).map_err(|error| format!("{error}\nfor {entry} of {input}"))
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    })
}

/// Any JSON, or almost JSON.
fn json(random: &mut Random) -> String {
    const PIECES: &[&str] = &[
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"tag\"",
        "\"fields\"",
        "\"Cons\"",
        "\"Nil\"",
        "\"Rect\"",
        "\"w\"",
        "1",
        "-0",
        "2.5",
        "1e400",
        "1e-400",
        "\"NaN\"",
        "\"Infinity\"",
        "null",
        "true",
        "false",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\"",
        "\"λ\"",
        "nul",
        "1.",
        "+1",
        "01",
        "'a'",
        "\"",
        "9223372036854775808",
        " ",
        "\n",
        "\u{0}",
        "//",
    ];
    match random.below(10) {
        0 => "[".repeat(random.below(200_000)),
        1..=3 => (0..random.below(30)).filter_map(|_| random.pick(PIECES).copied()).collect(),
        _ => format!("[{}, {}]", tree(random, 4), tree(random, 4)),
    }
}

fn tree(random: &mut Random, depth: usize) -> String {
    const LEAVES: &[&str] =
        &["1", "2.5", "-3", "\"NaN\"", "\"a\"", "true", "[]", "null", "{}", "1e300", "0.0"];
    if depth == 0 || random.one_in(3) {
        return random.pick(LEAVES).copied().unwrap_or("0").to_string();
    }
    match random.below(3) {
        0 => format!("[{}]", trees(random, 3, depth)),
        1 => format!("{{\"tag\": \"Cons\", \"fields\": [{}]}}", trees(random, 2, depth)),
        _ => format!("{{\"tag\": \"Rect\", \"fields\": [{{\"w\": {}, \"h\": 2}}]}}", trees(random, 1, depth)),
    }
}

fn trees(random: &mut Random, count: usize, depth: usize) -> String {
    (0..count).map(|_| tree(random, depth - 1)).collect::<Vec<_>>().join(", ")
}
