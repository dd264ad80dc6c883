//! Generated programs are well formed, run, and are read back as they are printed.

use super::{Config, Random, arguments, program, with_derivatives};
use crate::eval::{Evaluator, Limits, Value};
use crate::{Program, parse, print, verify};

const PROGRAMS: u64 = 600;

fn outcome(program: &Program, main: crate::FuncId, args: &[Value]) -> String {
    let limits = Limits { max_steps: Some(5_000_000), ..Limits::default() };
    let mut evaluator = Evaluator::new(program, limits);
    let results = evaluator.call(main, args.to_vec());
    let shown = match results {
        Ok(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ; "),
        Err(failure) => failure.fault.message(),
    };
    format!("{shown} with {} flops", evaluator.flops())
}

#[test]
fn generated_programs_are_well_formed_run_and_are_read_back() {
    let (mut fine, mut size) = (0, 0);
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let config = Config { flat: seed % 2 == 0, ..Config::default() };
        let (mut made, main) = program(&mut random, &config);
        let printed = print(&made);
        if let Err(errors) = verify(&made) {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("seed {seed}\n{}\n{printed}", errors.join("\n"));
        }
        let again = parse(&printed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
        assert_eq!(verify(&again), Ok(()), "seed {seed}");
        assert_eq!(print(&again), printed, "seed {seed}");
        let args = arguments(&mut random, &made, main);
        let found = outcome(&made, main, &args);
        assert_eq!(outcome(&again, main, &args), found, "seed {seed}\n{printed}");
        assert!(!found.contains("internal error"), "seed {seed}: {found}\n{printed}");
        fine += usize::from(!found.contains('`') && !found.starts_with("stop"));
        size += made.funcs.iter().map(|(_, func)| func.body.size()).sum::<usize>();
        with_derivatives(&mut made, main);
        assert_eq!(verify(&made), Ok(()), "seed {seed}");
    }
    let programs = usize::try_from(PROGRAMS).expect("a small number");
    assert!(fine * 10 > programs * 8, "only {fine} of {programs} programs run to the end");
    assert!(size > programs * 40, "programs are small: {size} statements in {programs}");
}

#[test]
fn every_operation_is_generated() {
    let mut text = String::new();
    for seed in 0..100 {
        text += &print(&program(&mut Random::new(seed), &Config::default()).0);
    }
    let words = [
        "if ",
        "match ",
        "each ",
        "for ",
        "for backward",
        "reduce ",
        "while ",
        "+= ",
        "with [",
        "checkpoint ",
        "fail(",
        "select(",
        "sin(",
        "polygamma[",
        "gather(",
        "scatter_add(",
        "matmul(",
        "matvec(",
        "dot(",
        "sum(",
        "product(",
        "maximum(",
        "minimum(",
        "argmax(",
        "sort(",
        "argsort(",
        "transpose(",
        "reverse(",
        "slice(",
        "concat(",
        "flatten(",
        "unflatten_like(",
        "reshape(",
        "ravel(",
        "filter(",
        "iota(",
        "replicate(",
        "zeros(",
        "stop_gradient(",
        "show(",
        "++",
        "is_nan(",
        "floor(",
        "real(",
        "div(",
        "Cons(",
        "Scaled(",
        "total(",
        "count(",
    ];
    let missing: Vec<&str> = words.into_iter().filter(|word| !text.contains(*word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
