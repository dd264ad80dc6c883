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
use std::sync::Mutex;
use wengert_driver::scope::Scope;
use wengert_driver::{BEYOND, Engine, Input, Options, PASSES, Session, show};
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
        exact: false,
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
        exact: false,
    },
    Question {
        name: "ask_reverse_of_forward",
        along: true,
        body: "grad (\\y -> norm_squared (snd (jvp entry (y, t)))) x",
        exact: false,
    },
    Question {
        name: "ask_reverse_of_reverse",
        along: false,
        body: "grad (\\y -> norm_squared (grad (\\z -> norm_squared (entry z)) y)) x",
        exact: false,
    },
    Question {
        name: "ask_checkpointed",
        along: false,
        body: "grad (\\y -> norm_squared (checkpoint entry y)) x",
        exact: false,
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
];

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
    let all = names.iter().map(|name| (*name).to_string()).collect();
    vec![
        Way::by("ir unoptimized", Options { without: all, ..strict(Engine::Ir) }),
        Way::by("ir", strict(Engine::Ir)),
        Way::by(format!("ir without {one}"), without(Engine::Ir, one)),
        Way::by("native strict", strict(Engine::Native)).like("ir"),
        Way::by(format!("native strict without {other}"), without(Engine::Native, other)),
        Way::by("native", Options { strict: false, ..strict(Engine::Native) }).rounding(),
        Way::by("native strict by four threads", by_parts(true, 4)).like("ir"),
        Way::by("native by parts", by_parts(false, 1)).rounding(),
        Way::by("native by four threads", by_parts(false, 4)).like("native by parts"),
    ]
}

/// What is known and not compared: in reverse mode of reverse mode, where no pass has simplified the code, a branch that adds to an
/// array may keep that array for its shape, which the verifier refuses.
const KNOWN: &str = "is used where it is not only added to";

/// A program with the questions as definitions, checked.
pub struct Asked {
    /// Where it was checked.
    pub session: Session,
    /// Its definitions.
    pub scope: Scope,
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
        Ok(Asked { session, scope, point: case.point.json(), tangent: case.tangent.json() })
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
        match self.session.call_in(&self.scope, question.name, &input, options) {
            Ok(evaluated) => {
                // What the engine leaves to the interpreter is nothing to compare.
                (evaluated.engine == options.engine).then(|| Ok(text::unsigned(&show(&evaluated.value))))
            }
            Err(diagnostics) => {
                let limit = |code: &str| matches!(code, "E0715" | "E0716" | "E0717" | "E0723" | "E0724");
                if diagnostics.iter().any(|error| {
                    limit(error.code) || error.message == BEYOND || error.message.contains(KNOWN)
                }) {
                    return None;
                }
                let place = diagnostics.first().map(|error| error.primary.span);
                let place = place.filter(|span| !span.is_nowhere()).map(|span| (span.start, span.end));
                Some(Err(format!("{}{place:?}", complaints(&diagnostics))))
            }
        }
    }
}

/// The program's text, followed by questions as definitions.
fn program_text(case: &Case, questions: &[Question]) -> String {
    let mut text = case.program.text();
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
    let has_rules = case.program.text().contains("custom_");
    let in_reverse = uses_reverse_mode(case);
    let interpreter = limits();
    let mut compared = 0;
    let mut disagreements: Vec<Disagreement> = Vec::new();
    for question in questions {
        let Some(oracle) = asked.answer(question, &interpreter) else { continue };
        let exact = question.exact && !in_reverse;
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
            let fine = same(expected, &answer, exact) || (has_rules && open(expected, &answer));
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

/// What is left open in programs with rules of their own: which fails first, the function or the rule, and what the rule makes of
/// a tangent that is 0 where the function has no derivative.
fn open(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.contains("NaN") || b.contains("NaN"),
        (Err(a), Err(b)) => a.lines().next() == b.lines().next(),
        (_, _) => false,
    }
}

/// Whether sums may be made in another order inside the program.
fn uses_reverse_mode(case: &Case) -> bool {
    let text = case.program.text();
    ["grad", "vjp", "jacrev", "pullback"].iter().any(|operator| text.contains(operator))
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
        let config = Config { max_depth: depth(*seed), ..config.clone() };
        let case = case(*seed, &config, entry.clone());
        let ways = ways(*seed);
        let (disagreements, compared) = match judge(&case, &ways, &questions(*seed)) {
            Ok(judged) => judged,
            Err(error) => return (Some(Report { text: format!("seed {seed}: {error}"), case }), 0, true),
        };
        let Some(first) = disagreements.first() else { return (None, compared, false) };
        // Shrinking takes long; one of a kind will do.
        let kind = (first.way.split(" without").next().unwrap_or_default().to_string(), first.question);
        let mut kinds = kinds.lock().unwrap_or_else(|e| e.into_inner());
        let count: &mut usize = kinds.entry(kind).or_default();
        *count += 1;
        let enough = *count > 1;
        drop(kinds);
        (if enough { None } else { Some(report(case, first, ways)) }, compared, true)
    });
    let (mut reports, mut failed, mut compared) = (Vec::new(), 0, 0);
    for (report, count, fails) in results {
        reports.extend(report);
        compared += count;
        failed += usize::from(fails);
    }
    Findings { reports, failed, compared }
}

/// How deep expressions nest. Small programs are quick, large ones have more in them.
fn depth(seed: u64) -> u32 {
    if seed % 16 == 15 { 7 } else { 3 + (seed % 4) as u32 }
}

/// The same for the C compiler, which is slow: several programs make one library.
pub fn compare_c(config: &Config, seeds: impl Iterator<Item = u64>) -> Findings {
    let seeds: Vec<u64> = seeds.collect();
    let together: Vec<&[u64]> = seeds.chunks(PROGRAMS_IN_A_LIBRARY).collect();
    let results = parallel::map(&together, |seeds| {
        let sized = |seed: u64| Config { max_depth: depth(seed).min(5), ..config.clone() };
        let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, &sized(*seed), None)).collect();
        let asked = cases.iter().map(|case| (case, answered(case))).collect::<Vec<_>>();
        let found = c_ways().iter().map(|way| batch_disagrees(&asked, way)).collect::<Result<Vec<_>, _>>();
        let compared: usize = asked.iter().map(|(_, questions)| c_ways().len() * questions.len()).sum();
        if found.as_ref().is_ok_and(|found| found.iter().all(|disagrees| !disagrees)) {
            return (Vec::new(), compared, 0);
        }
        // Which program it is, each by itself tells.
        let judged = cases.into_iter().map(|case| (judge(&case, &c_ways(), &questions(case.seed)), case));
        let mut reports = Vec::new();
        for (judged, case) in judged {
            match judged {
                Ok((found, _)) => reports.extend(found.first().map(|first| report(case, first, c_ways()))),
                Err(error) => reports.push(Report { text: format!("seed {}: {error}", case.seed), case }),
            }
        }
        let failed = reports.len();
        (reports, compared, failed)
    });
    let mut findings = Findings { reports: Vec::new(), failed: 0, compared: 0 };
    for (reports, compared, failed) in results {
        findings.reports.extend(reports);
        findings.compared += compared;
        findings.failed += failed;
    }
    findings
}

/// How many programs make one library.
const PROGRAMS_IN_A_LIBRARY: usize = 4;

fn c_ways() -> Vec<Way> {
    let strict = Options { engine: Engine::C, strict: true, ..limits() };
    let fast = Options { strict: false, ..strict.clone() };
    let by_parts = Options { short_loops: true, threads: 4, ..fast.clone() };
    vec![
        Way::by("c strict", strict),
        Way::by("c", fast).rounding(),
        Way::by("c by four threads", by_parts).rounding(),
    ]
}

/// The questions about a case that the interpreter answers with a value.
fn answered(case: &Case) -> Vec<(Question, Answer)> {
    let Ok(mut asked) = Asked::new(case) else { return Vec::new() };
    let answer = |question: Question| {
        let answer = asked.answer(&question, &limits()).filter(Result::is_ok)?;
        Some((question, answer))
    };
    questions(case.seed).into_iter().filter_map(answer).collect()
}

/// Whether a way answers otherwise than the interpreter somewhere.
fn batch_disagrees(asked: &[(&Case, Vec<(Question, Answer)>)], way: &Way) -> Result<bool, String> {
    let Answering::By(options) = &way.answer else { return Ok(false) };
    let cases: Vec<(&Case, Vec<Question>)> = asked
        .iter()
        .map(|(case, answers)| (*case, answers.iter().map(|(question, _)| *question).collect()))
        .collect();
    // What is left to the interpreter would be that for all of them: then each is asked by itself.
    let Some(answers) = batch::Batch::new(&cases)?.answers(options)? else { return Ok(true) };
    Ok(asked.iter().zip(&answers).any(|((case, expected), found)| {
        let exact = !way.rounds && !uses_reverse_mode(case);
        let mut pairs = expected.iter().zip(found);
        pairs.any(|((question, expected), found)| !same(expected, found, exact && question.exact))
    }))
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
