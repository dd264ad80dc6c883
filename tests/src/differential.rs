//! One suite in which every evaluator answers the same questions about generated programs, and must give the same answers.
//!
//! A *question* is a definition that is added to a program: the value of its entry at a point, or one of its derivatives, first
//! or second, in each mode. A *way* to answer is an engine with its options. Each way is compared with another one: with the
//! interpreter, or, where two run the same code, with that to the last bit.
//!
//! A case that disagrees is made smaller as long as the same two ways disagree about the same question, and is then shown as a
//! program with both answers and the commands that give them. [`WAYS`](ways) is the list of ways, and the place where a further
//! option to vary is added.

pub mod batch;

use crate::property::{Case, case, complaints, limits, setting, smallest};
use crate::{parallel, text};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, Span};
use wengert_driver::scope::Scope;
use wengert_driver::{BEYOND, Engine, Input, Options, PASSES, RELAXED, Session, Units, show};
use wengert_gen::{Config, GenType};

/// Something that is asked of a program.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Its name, under which the definition is added to the program.
    pub name: &'static str,
    /// Whether it takes a tangent, besides a point `x`.
    along: bool,
    /// The body of the definition.
    body: &'static str,
    /// Whether sums are made in the interpreter's order, so that the last bit is the same.
    exact: bool,
}

/// All that is asked.
pub const QUESTIONS: &[Question] = &[
    Question { name: "ask_value", along: false, body: "entry x", exact: true },
    Question { name: "ask_forward", along: true, body: "jvp entry (x, t)", exact: true },
    Question {
        name: "ask_reverse",
        along: false,
        body: "let (y, back) = vjp entry x in (y, back y)",
        exact: true,
    },
    Question {
        name: "ask_linear",
        along: true,
        body: "let (y, lin) = linearize entry x in (y, lin t)",
        exact: true,
    },
    Question {
        name: "ask_forward_of_forward",
        along: true,
        body: "snd (jvp (\\y -> snd (jvp entry (y, t))) (x, t))",
        exact: true,
    },
    Question {
        name: "ask_forward_of_reverse",
        along: true,
        body: "snd (jvp (grad (\\y -> norm_squared (entry y))) (x, t))",
        exact: true,
    },
    Question {
        name: "ask_reverse_of_forward",
        along: true,
        body: "grad (\\y -> norm_squared (snd (jvp entry (y, t)))) x",
        exact: true,
    },
    Question {
        name: "ask_reverse_of_reverse",
        along: false,
        body: "grad (\\y -> norm_squared (grad (\\z -> norm_squared (entry z)) y)) x",
        exact: true,
    },
    Question {
        name: "ask_checkpointed",
        along: false,
        body: "grad (\\y -> norm_squared (checkpoint entry y)) x",
        exact: true,
    },
    Question {
        name: "ask_of_a_function",
        along: true,
        body: "snd (jvp (\\f -> f x) (entry, \\y -> snd (jvp entry (y, t))))",
        exact: true,
    },
    Question {
        name: "ask_to_a_function",
        along: true,
        body: "let (f, df) = jvp (\\y -> \\s -> entry (scale s y)) (x, t) in (f 0.5, df 0.5)",
        exact: true,
    },
    Question {
        name: "ask_at_edges",
        along: true,
        body: "let y = unravel x (map edge (ravel x)) in jvp entry (y, t)",
        exact: true,
    },
    Question {
        name: "ask_back_at_edges",
        along: false,
        body: "let y = unravel x (map edge (ravel x)) in let (z, back) = vjp entry y in back z",
        exact: true,
    },
];

/// What numbers are replaced by where it is asked for edges: those far from 0 by what is infinite or no number, others by 0.
const EDGE: &str = "def edge (x : Real) : Real = if x > 1.25 then 1.0 / 0.0 else if x < -1.25 then 0.0 / 0.0 else if abs x < 0.5 then 0.0 else x";

/// Ways for runs of very many programs: a third of them for each program. Engines differ where programs are new, not where ways are.
pub fn ways_in_turn(seed: u64) -> Vec<Way> {
    let turns = [&[0, 5, 4][..], &[1, 3, 7, 8], &[2, 5, 6]];
    let turn = turns.get((seed % 3) as usize).copied().unwrap_or_default();
    let ways = ways(seed).into_iter().enumerate();
    ways.filter(|(place, _)| turn.contains(place)).map(|(_, way)| way).collect()
}

/// The value, and some of the other questions in their turn.
fn questions(seed: u64) -> Vec<Question> {
    let (first, others) = QUESTIONS.split_at(1);
    let turns = (0..3).map(|turn| (seed as usize * 3 + turn) % others.len());
    first.iter().chain(turns.filter_map(|turn| others.get(turn))).copied().collect()
}

/// The text of an answer: a value as it is printed, or how the program failed.
pub type Answer = Result<String, String>;

/// A way to answer.
pub struct Way {
    /// What it is called.
    pub name: String,
    /// The interpreter, if nothing is said; else the way of that name, which runs the same code.
    like: Option<&'static str>,
    /// Numbers may differ in the last places.
    rounds: bool,
    answer: Answering,
}

type Otherwise = dyn Fn(&mut Asked, &Question) -> Answer + Sync;

enum Answering {
    By(Options),
    /// By a function of a program that is not an engine: for tests of this suite.
    Otherwise(Box<Otherwise>),
}

impl Way {
    fn by(name: impl Into<String>, options: Options) -> Way {
        Way { name: name.into(), like: None, rounds: false, answer: Answering::By(options) }
    }

    /// A way that is no engine.
    pub fn otherwise(name: &str, answer: impl Fn(&mut Asked, &Question) -> Answer + Sync + 'static) -> Way {
        Way { name: name.into(), like: None, rounds: false, answer: Answering::Otherwise(Box::new(answer)) }
    }

    fn like(self, name: &'static str) -> Way {
        Way { like: Some(name), ..self }
    }

    fn rounding(self) -> Way {
        Way { rounds: true, ..self }
    }

    /// The options of the command that answer this way.
    fn flags(&self) -> String {
        let Answering::By(options) = &self.answer else { return String::new() };
        let mut flags = format!("--engine {}", options.engine.name());
        if options.strict {
            flags.push_str(" --strict");
        }
        if options.threads > 1 {
            flags.push_str(&format!(" --threads {}", options.threads));
        }
        if options.short_loops {
            flags.push_str(" --short-loops");
        }
        if !options.without.is_empty() {
            flags.push_str(&format!(" --without {}", options.without.join(",")));
        }
        flags
    }
}

/// The ways to answer questions about a case. Each pass is left out in its turn.
pub fn ways(seed: u64) -> Vec<Way> {
    let strict = |engine| Options { engine, strict: true, ..limits() };
    let without = |engine, pass: &str| Options { without: vec![pass.to_string()], ..strict(engine) };
    let by_parts =
        |strict, threads| Options { engine: Engine::Native, strict, short_loops: true, threads, ..limits() };
    let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    let turn = |by: u64| *names.get((by as usize) % names.len()).unwrap_or(&"");
    let (one, other) = (turn(seed), turn(seed / names.len() as u64 + seed));
    let relaxed = RELAXED.get((seed as usize) % RELAXED.len()).map_or("", |pass| pass.name);
    let all = names.iter().map(|name| (*name).to_string()).collect();
    let tagged = Options { tagged: true, ..strict(Engine::Native) };
    let tagged = Way::by("native strict, no derivative made beforehand", tagged);
    let in_turn = seed.is_multiple_of(TAGGED_IN_TURN).then_some(tagged);
    let others = vec![
        Way::by("ir unoptimized", Options { without: all, ..strict(Engine::Ir) }),
        Way::by("ir", strict(Engine::Ir)),
        Way::by(format!("ir without {one}"), without(Engine::Ir, one)),
        Way::by("native strict", strict(Engine::Native)).like("ir"),
        Way::by(format!("native strict without {other}"), without(Engine::Native, other)),
        Way::by("native", Options { strict: false, ..strict(Engine::Native) }).rounding(),
        Way::by(
            format!("native without {relaxed}"),
            Options { strict: false, ..without(Engine::Native, relaxed) },
        )
        .rounding(),
        Way::by("native strict by four threads", by_parts(true, 4)).like("ir"),
        Way::by("native by parts", by_parts(false, 1)).rounding(),
        Way::by("native by four threads", by_parts(false, 4)).like("native by parts"),
    ];
    others.into_iter().chain(in_turn).collect()
}

/// One of so many programs runs with numbers that know what they vary by.
const TAGGED_IN_TURN: u64 = 4;

/// A program with the questions as definitions, checked.
pub struct Asked {
    /// Where it was checked.
    pub session: Session,
    /// Its definitions.
    pub scope: Scope,
    /// What was compiled of it.
    units: Units,
    point: String,
    tangent: String,
}

impl Asked {
    fn new(case: &Case) -> Result<Asked, String> {
        let mut session = Session::new();
        let report = session.check_text("generated.wg", &program_text(case, QUESTIONS), Path::new("."));
        if report.has_errors() {
            return Err(complaints(&report.diagnostics));
        }
        let scope = Scope::of_file(&report.modules);
        Ok(Asked {
            session,
            scope,
            units: Units::default(),
            point: case.point.json(),
            tangent: case.tangent.json(),
        })
    }

    /// The arguments of a question, as JSON.
    pub fn input(&self, question: &Question) -> String {
        if question.along {
            format!("[{}, {}]", self.point, self.tangent)
        } else {
            format!("[{}]", self.point)
        }
    }

    /// The answer of an engine; nothing if it ran into a limit, or leaves the question to the interpreter.
    fn answer(&mut self, question: &Question, options: &Options) -> Option<Answer> {
        let input = Input::Text(self.input(question));
        match self.session.call_sharing(&self.scope, question.name, &input, options, &self.units) {
            Ok(evaluated) => {
                // What the engine leaves to the interpreter is nothing to compare.
                (evaluated.engine == options.engine).then(|| Ok(text::unsigned(&show(&evaluated.value))))
            }
            Err(diagnostics) => worded(&diagnostics),
        }
    }
}

/// How a program failed, with the place; nothing if it ran into a limit, or was left to the interpreter.
fn worded(diagnostics: &[Diagnostic]) -> Option<Answer> {
    let limit = |code: &str| matches!(code, "E0715" | "E0716" | "E0717" | "E0723" | "E0724");
    if diagnostics.iter().any(|error| limit(error.code) || error.message == BEYOND) {
        return None;
    }
    let place = |span: Span| (!span.is_nowhere()).then_some((span.start, span.end));
    // Through which calls it came there only the interpreter tells, and only if it comes there soon.
    let by_calls = |note: &&String| note.ends_with(" led there") || note.starts_with("it happened inside");
    let said = diagnostics.iter().filter(|error| error.is_error()).map(|error| {
        let more: String = error
            .notes
            .iter()
            .filter(|note| !by_calls(note))
            .chain(&error.help)
            .map(|text| format!("; {text}"))
            .collect();
        let label = &error.primary.message;
        format!("{}: {} {label}{more}\nat {:?}\n", error.code, error.message, place(error.primary.span))
    });
    Some(Err(said.collect()))
}

/// The program's text, followed by questions as definitions.
fn program_text(case: &Case, questions: &[Question]) -> String {
    let mut text = format!("{}\n{EDGE}\n", case.program.text());
    for question in questions {
        let params = if question.along { "x t" } else { "x" };
        text.push_str(&format!("\ndef {} {params} = {}\n", question.name, question.body));
    }
    text
}

/// A way that gives another answer than the one it is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Disagreement {
    way: String,
    question: &'static str,
    expected: String,
    found: String,
}

/// Disagreements about a case, the first of each way; and how many answers were compared.
fn judge(case: &Case, ways: &[Way], questions: &[Question]) -> Result<(Vec<Disagreement>, usize), String> {
    let mut asked = Asked::new(case)?;
    let otherwise = adds_otherwise(case);
    let interpreter = limits();
    let mut compared = 0;
    let mut disagreements: Vec<Disagreement> = Vec::new();
    for question in questions {
        let Some(oracle) = asked.answer(question, &interpreter) else { continue };
        let exact = question.exact && !otherwise;
        let mut answers: BTreeMap<&str, Answer> = BTreeMap::new();
        for way in ways {
            let answer = catch_unwind(AssertUnwindSafe(|| match &way.answer {
                Answering::By(options) => asked.answer(question, options),
                Answering::Otherwise(answer) => Some(answer(&mut asked, question)),
            }));
            let Some(answer) = answer.unwrap_or_else(|_| Some(Err("a panic".into()))) else { continue };
            let expected = way.like.and_then(|name| answers.get(name)).unwrap_or(&oracle);
            let exact = !way.rounds && (exact || !std::ptr::eq(expected, &raw const oracle));
            compared += 1;
            let fine = same(expected, &answer, exact);
            if !fine && !disagreements.iter().any(|known| known.way == way.name) {
                let shown = |answer: &Answer| match answer {
                    Ok(text) => text.clone(),
                    Err(text) => format!("fails: {}", text.trim().chars().take(600).collect::<String>()),
                };
                disagreements.push(Disagreement {
                    way: way.name.clone(),
                    question: question.name,
                    expected: shown(expected),
                    found: shown(&answer),
                });
            }
            answers.insert(&way.name, answer);
        }
    }
    Ok((disagreements, compared))
}

/// Whether sums may be made in another order inside the program: in derivatives with respect to functions, and in Taylor series of
/// functions with rules, and of those that apply functions for which others are given as tangents.
fn adds_otherwise(case: &Case) -> bool {
    let text = case.program.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    any(&["jvp (\\(g", "jvp (\\((g", "pullback"]) || (any(&["taylor"]) && any(&["custom_", "jvp"]))
}

fn same(a: &Answer, b: &Answer, exact: bool) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a == b || (!exact && text::close(a, b, 1e-9)),
        (Err(a), Err(b)) => a == b,
        (_, _) => false,
    }
}

/// What a run of the suite found.
pub struct Findings {
    /// Each disagreement that was found, shrunk and worded; of those that look alike the first.
    pub reports: Vec<Report>,
    /// How many cases disagree.
    pub failed: usize,
    /// How many answers were compared.
    pub compared: usize,
    /// How many programs were tried.
    pub tried: usize,
}

impl Findings {
    /// Both together.
    pub fn and(mut self, other: Findings) -> Findings {
        self.reports.extend(other.reports);
        self.failed += other.failed;
        self.compared += other.compared;
        self.tried += other.tried;
        self
    }

    fn none() -> Findings {
        Findings { reports: Vec::new(), failed: 0, compared: 0, tried: 0 }
    }
}

/// Whether the time is over in which new programs are tried, if there is such.
fn is_over() -> bool {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let begin = BEGIN.get_or_init(Instant::now);
    begin.elapsed() > Duration::from_secs(setting("WENGERT_DIFFERENTIAL_SECONDS", u64::MAX))
}

/// A disagreement about a small program.
pub struct Report {
    /// The case, made smaller.
    pub case: Case,
    /// What to print.
    pub text: String,
}

/// Asks about the programs with these seeds; the type of their entries is left to chance unless it is given.
pub fn compare(
    config: &Config,
    entry: Option<(GenType, GenType)>,
    seeds: impl Iterator<Item = u64>,
    ways: impl Fn(u64) -> Vec<Way> + Sync,
) -> Findings {
    let seeds: Vec<u64> = seeds.collect();
    let kinds = Mutex::new(BTreeMap::new());
    let results = parallel::map(&seeds, |seed| {
        if is_over() {
            return Findings::none();
        }
        let config = Config { max_depth: depth(*seed), ..config.clone() };
        let case = case(*seed, &config, entry.clone());
        let ways = ways(*seed);
        let (disagreements, compared) = match judge(&case, &ways, &questions(*seed)) {
            Ok(judged) => judged,
            Err(error) => {
                let reports = vec![Report { text: format!("seed {seed}: {error}"), case }];
                return Findings { reports, failed: 1, compared: 0, tried: 1 };
            }
        };
        let Some(first) = disagreements.first() else {
            return Findings { compared, tried: 1, ..Findings::none() };
        };
        // Shrinking takes long; one of a kind will do.
        let kind = (first.way.split(" without").next().unwrap_or_default().to_string(), first.question);
        let mut kinds = kinds.lock().unwrap_or_else(|e| e.into_inner());
        let count: &mut usize = kinds.entry(kind).or_default();
        *count += 1;
        let enough = *count > 1;
        drop(kinds);
        let reports = if enough { Vec::new() } else { vec![report(case, first, ways)] };
        Findings { reports, failed: 1, compared, tried: 1 }
    });
    results.into_iter().fold(Findings::none(), Findings::and)
}

/// The text of the program with that number, on one line.
pub fn text_of(config: &Config, seed: u64) -> String {
    let config = Config { max_depth: depth(seed), ..config.clone() };
    let text = case(seed, &config, None).program.text();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How deep expressions nest. Small programs are quick, large ones have more in them.
fn depth(seed: u64) -> u32 {
    match seed % 64 {
        63 => 7,
        15 | 31 | 47 => 6,
        other => 3 + (other % 3) as u32,
    }
}

/// The same for the C compiler, which is slow: several programs make one library.
pub fn compare_c(config: &Config, seeds: impl Iterator<Item = u64>) -> Findings {
    let seeds: Vec<u64> = seeds.collect();
    let together: Vec<(usize, &[u64])> = seeds.chunks(PROGRAMS_IN_A_LIBRARY).enumerate().collect();
    let results = parallel::map(&together, |(turn, seeds)| {
        if is_over() {
            return Findings::none();
        }
        let sized = |seed: u64| Config { max_depth: depth(seed).min(5), ..config.clone() };
        let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, &sized(*seed), None)).collect();
        let asked: Vec<(&Case, Vec<(Question, Answer)>)> =
            cases.iter().map(|case| (case, answered(case))).collect();
        let [strict, fast, by_parts] = c_ways();
        let ways = [strict, if turn % 2 == 0 { fast } else { by_parts }];
        let found: Result<Vec<Vec<usize>>, String> =
            ways.iter().map(|way| disagreeing(&asked, way)).collect();
        let compared: usize = asked.iter().map(|(_, questions)| ways.len() * questions.len()).sum();
        // If they do not even make a library, each by itself tells which it is.
        let suspects: Vec<usize> = match found {
            Ok(found) => found.concat(),
            Err(_) => (0..cases.len()).collect(),
        };
        let suspects = cases.into_iter().enumerate().filter(|(place, _)| suspects.contains(place));
        let mut reports = Vec::new();
        for (_, case) in suspects {
            match judge(&case, &c_ways(), &questions(case.seed)) {
                Ok((found, _)) => {
                    reports.extend(found.first().map(|first| report(case, first, c_ways().into())))
                }
                Err(error) => reports.push(Report { text: format!("seed {}: {error}", case.seed), case }),
            }
        }
        Findings { failed: reports.len(), reports, compared, tried: seeds.len() }
    });
    results.into_iter().fold(Findings::none(), Findings::and)
}

/// How many programs make one library.
const PROGRAMS_IN_A_LIBRARY: usize = 8;

fn c_ways() -> [Way; 3] {
    let strict = Options { engine: Engine::C, strict: true, ..limits() };
    let fast = Options { strict: false, ..strict.clone() };
    let by_parts = Options { short_loops: true, threads: 4, ..fast.clone() };
    [
        Way::by("c strict", strict),
        Way::by("c", fast).rounding(),
        Way::by("c by four threads", by_parts).rounding(),
    ]
}

/// The questions about a case that the interpreter answers and the compiler does not leave to it, with the answers.
fn answered(case: &Case) -> Vec<(Question, Answer)> {
    let Ok(mut asked) = Asked::new(case) else { return Vec::new() };
    let compiled = Options { engine: Engine::Native, strict: true, ..limits() };
    let answer = |question: Question| {
        let answer = asked.answer(&question, &limits())?;
        asked.answer(&question, &compiled).map(|_| (question, answer))
    };
    questions(case.seed).into_iter().filter_map(answer).collect()
}

/// The cases about which a way answers otherwise than the interpreter.
fn disagreeing(asked: &[(&Case, Vec<(Question, Answer)>)], way: &Way) -> Result<Vec<usize>, String> {
    let Answering::By(options) = &way.answer else { return Ok(Vec::new()) };
    let cases: Vec<(&Case, Vec<Question>)> = asked
        .iter()
        .map(|(case, answers)| (*case, answers.iter().map(|(question, _)| *question).collect()))
        .collect();
    let answers = batch::Batch::new(&cases)?.answers(options)?;
    let differs = |(case, expected): &(&Case, Vec<(Question, Answer)>), found: &[Option<Answer>]| {
        let exact = !way.rounds && !adds_otherwise(case);
        expected.iter().zip(found).any(|((question, expected), found)| {
            !found.as_ref().is_none_or(|found| same(expected, found, exact && question.exact))
        })
    };
    let places = asked.iter().zip(&answers).enumerate();
    Ok(places.filter(|(_, (asked, found))| differs(asked, found)).map(|(place, _)| place).collect())
}

/// The case made smaller while the two still disagree, and worded. It is shown at once, for a long run may be ended early.
#[expect(clippy::print_stderr, reason = "whoever waits for a long run sees what it finds")]
fn report(case: Case, first: &Disagreement, mut ways: Vec<Way>) -> Report {
    let like = ways.iter().find(|way| way.name == first.way).and_then(|way| way.like);
    ways.retain(|way| way.name == first.way || Some(way.name.as_str()) == like);
    let questions: Vec<Question> =
        QUESTIONS.iter().filter(|question| question.name == first.question).copied().collect();
    let disagreement = |case: &Case| {
        let (found, _) = judge(case, &ways, &questions).ok()?;
        found.into_iter().find(|other| other.way == first.way)
    };
    let case = smallest(case, |smaller| disagreement(smaller).is_some());
    let found = disagreement(&case).unwrap_or_else(|| first.clone());
    let flags = |name: &str| ways.iter().find(|way| way.name == name).map(Way::flags).unwrap_or_default();
    let along = questions.iter().any(|question| question.along);
    let tangent = if along { format!(", {}", case.tangent.json()) } else { String::new() };
    let run = |flags: &str| {
        let input = format!("[{}{tangent}]", case.point.json());
        format!("wengert run case.wg --entry {} --input '{input}' {flags}", found.question)
    };
    let own = ways.iter().find(|way| way.name == found.way);
    let commands = match own.map(|way| &way.answer) {
        Some(Answering::By(_)) => {
            format!("{}\n{}", run(&like.map_or("--engine interp".into(), flags)), run(&flags(&found.way)))
        }
        Some(Answering::Otherwise(_)) | None => run("--engine interp"),
    };
    let text = format!(
        "seed {}: {} and {} disagree about `{}`\ngives {}\ninstead of {}\nof case.wg:\n{}\n{commands}\n",
        case.seed,
        found.way,
        like.unwrap_or("interp"),
        found.question,
        found.found,
        found.expected,
        program_text(&case, &questions),
    );
    eprintln!("{text}");
    Report { case, text }
}

/// How many programs to try.
pub fn cases(default: u64) -> u64 {
    setting("WENGERT_DIFFERENTIAL_CASES", setting("WENGERT_PROPERTY_CASES", default))
}
