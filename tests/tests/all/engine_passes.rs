//! Generated IR programs go through differentiation and the optimizer, which is run whole and without each of its passes.
//!
//! What comes out is well formed every time, gives what the program gave before (to the last bit, failures included), and
//! forward and reverse mode are transposes of each other: ⟨w, J v⟩ = ⟨Jᵀ w, v⟩.

#![expect(clippy::wildcard_enum_match_arm, reason = "reals are named, the others have no tangents")]

use wengert_base::Name;
use wengert_ir::eval::{Evaluator, Items, Limits, Value};
use wengert_ir::generate::{Config, Random, arguments, program, with_derivatives};
use wengert_ir::{Program, print, shrink, verify};
use wengert_opt::{Options, PASSES, finish, optimize};
use wengert_tests::parallel;

type Outcome = Result<Vec<Value>, String>;

/// What an entry gives; `None` if it takes too long, which optimized code need not do.
fn run(program: &Program, entry: &str, args: &[Value]) -> Option<Outcome> {
    let limits = Limits { max_steps: Some(100_000), max_memory: 64 << 20, ..Limits::default() };
    let func = *program.entries.get(&Name::new(entry)).expect("passes keep entries");
    match Evaluator::new(program, limits).call(func, args.to_vec()) {
        Ok(values) => Some(Ok(values)),
        Err(failure) => {
            let message = failure.fault.message();
            (!message.starts_with("stopped after")).then(|| Err(format!("{message} {:?}", failure.span)))
        }
    }
}

fn same(a: &Option<Outcome>, b: &Option<Outcome>) -> bool {
    match (a, b) {
        (Some(Ok(a)), Some(Ok(b))) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
        (Some(Err(a)), Some(Err(b))) => a == b,
        (Some(_), Some(_)) => false,
        (_, _) => true,
    }
}

fn shown(outcome: &Option<Outcome>) -> String {
    match outcome {
        Some(Ok(values)) => values.iter().map(Value::to_string).collect::<Vec<_>>().join("; "),
        Some(Err(error)) => format!("fails: {error}"),
        None => "takes too long".into(),
    }
}

/// The reals of a value.
fn reals(value: &Value) -> Vec<f64> {
    match value {
        Value::Real(x) => vec![*x],
        Value::Array(array) => match array.items() {
            Items::Reals(reals) => reals.to_vec(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The inner product, and the sum of the absolute values of its summands. Zeros are strong.
fn inner(a: &[Value], b: &[Value]) -> (f64, f64) {
    let pairs = a.iter().flat_map(reals).zip(b.iter().flat_map(reals));
    let products = pairs.filter(|(a, b)| *a != 0.0 && *b != 0.0).map(|(a, b)| a * b);
    products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()))
}

/// Random tangents.
fn tangents(random: &mut Random, points: &[Value]) -> Vec<Value> {
    let mut small = || (random.below(2001) as f64 - 1000.0) / 1000.0;
    let mut one = |point: &Value| match point {
        Value::Real(_) => Value::Real(small()),
        Value::Array(array) => match array.items() {
            Items::Reals(reals) => {
                Value::array(array.shape().to_vec(), Items::Reals(reals.iter().map(|_| small()).collect()))
            }
            _ => point.clone(),
        },
        other => other.clone(),
    };
    points.iter().map(&mut one).collect()
}

fn messages(errors: &[wengert_ir::VerifyError]) -> String {
    errors.iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn well_formed(program: &Program, after: &str) -> Result<(), String> {
    verify(program).map_err(|errors| format!("ill formed after {after}: {}", messages(&errors)))
}

/// The entries, with arguments, and what they give.
type Expected = Vec<(&'static str, Vec<Value>, Option<Outcome>)>;

fn unchanged(program: &Program, expected: &Expected, after: &str) -> Result<(), String> {
    well_formed(program, after)?;
    for (entry, args, before) in expected {
        let found = run(program, entry, args);
        if !same(before, &found) {
            return Err(format!("{after} changes `{entry}`: {} to {}", shown(before), shown(&found)));
        }
    }
    Ok(())
}

/// Nothing changes, whatever passes are left out.
fn optimized(program: &Program, expected: &Expected) -> Result<(), String> {
    let without = PASSES.iter().map(|pass| Some(pass.name)).chain([None]);
    for name in without {
        let options =
            Options { without: name.into_iter().map(str::to_owned).collect(), ..Options::default() };
        let mut changed = program.clone();
        optimize(&mut changed, &options);
        finish(&mut changed, &options);
        unchanged(
            &changed,
            expected,
            &format!("the optimizer without {}", name.unwrap_or("anything left out")),
        )?;
    }
    Ok(())
}

/// What is wrong with a program, if anything is.
fn judge(seed: u64, source: &Program, args: &[Value]) -> Result<(), String> {
    let before = run(source, "main", args);
    let expected = vec![("main", args.to_vec(), before.clone())];
    optimized(source, &expected)?;
    if !seed.is_multiple_of(2) {
        return Ok(());
    }
    let mut program = source.clone();
    let main = *program.entries.get(&Name::new("main")).expect("there is a main function");
    let (jvp, vjp) = with_derivatives(&mut program, main);
    program.entries.insert("jvp".into(), jvp);
    program.entries.insert("vjp".into(), vjp);
    let made = wengert_ad::differentiate(program);
    unchanged(&made, &expected, "making derivatives")?;
    let random = &mut Random::new(seed ^ 77);
    let dx = tangents(random, args);
    let forward: Vec<Value> = args.iter().chain(&dx).cloned().collect();
    let jvp = run(&made, "jvp", &forward);
    let Some(Ok(values)) = &before else {
        return if same(&before, &jvp) { Ok(()) } else { Err(format!("`jvp`: {}", shown(&jvp))) };
    };
    let dy = tangents(random, values);
    let backward: Vec<Value> = args.iter().chain(&dy).cloned().collect();
    let vjp = run(&made, "vjp", &backward);
    let mut expected = expected;
    if let (Some(Ok(there)), Some(Ok(back))) = (&jvp, &vjp) {
        let ((tangent, one), (cotangent, other)) = (
            inner(&dy, there.get(values.len()..).unwrap_or_default()),
            inner(back.get(values.len()..).unwrap_or_default(), &dx),
        );
        // What is not finite on the way has no meaning as a linear map.
        let finite = there.iter().chain(back).chain(values).flat_map(reals).all(f64::is_finite);
        let scale = one.max(other).max(1e-6);
        if finite && (tangent - cotangent).abs() > 1e-6 * scale {
            return Err(format!("forward mode gives {tangent}, reverse mode {cotangent}"));
        }
    } else if let (Some(jvp), Some(vjp)) = (&jvp, &vjp) {
        return Err(format!("`jvp`: {}, `vjp`: {}", shown(&Some(jvp.clone())), shown(&Some(vjp.clone()))));
    }
    expected.push(("jvp", forward, jvp));
    expected.push(("vjp", backward, vjp));
    optimized(&made, &expected)
}

#[test]
fn no_pass_changes_generated_programs_and_modes_are_transposes() {
    let cases = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = (0..cases.unwrap_or(400)).collect();
    let failures = parallel::map(&seeds, |seed| {
        let random = &mut Random::new(*seed);
        let (depth, stmts) = (2 + (seed % 2) as usize, 2 + (seed % 9) as usize);
        let config = Config { flat: seed % 2 == 0, depth, stmts, funcs: (seed % 4) as usize };
        let (source, main) = program(random, &config);
        let args = arguments(random, &source, main);
        let error = judge(*seed, &source, &args).err()?;
        // The first words tell the kind of failure.
        let kind = |error: &str| error.split(['`', ':']).next().unwrap_or_default().to_owned();
        let small = shrink::shrink(&source, &mut |smaller| {
            judge(*seed, smaller, &args).err().is_some_and(|other| kind(&other) == kind(&error))
        });
        Some(format!("seed {seed}: {error}\n{}", print(&small)))
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
