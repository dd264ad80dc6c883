//! Examples, the code of the book, generated programs and deep ones.

use super::by_hand::DEFINITIONS;
use super::oracle::{Verdict, agrees, of_expression, verified};
use arbitrary::Unstructured;
use std::sync::atomic::{AtomicUsize, Ordering};
use wengert_gen::{Config, gen_program, gen_value};
use wengert_tests::{parallel, project};

#[test]
fn every_example_is_lowered() {
    let mut failed = Vec::new();
    let examples = project::files("examples", "wg");
    for file in &examples {
        let lowered = of_expression("main", Some(file)).and_then(|program| verified(&program));
        if let Err(error) = lowered {
            failed.push(format!("{}:\n{error}", project::relative(file)));
        }
    }
    println!("{} of {} examples are lowered", examples.len() - failed.len(), examples.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 30_000).map(|_| next()).collect()
}

/// Expressions about the entry of a generated program at a point.
const EXPRESSIONS: &[&str] = &[
    "entry x",
    "let y = entry x in (y == y, y != entry x, ravel y, inner y y, add y (scale 2.0 y))",
    "let y = entry x in (unravel y (scale 0.5 (ravel y)), zero y, norm y, apply_dual (to_dual y) y)",
    "let (y, dy) = jvp entry (x, x) in (show y, ravel dy, y == y)",
    "let (y, back) = vjp entry x in (back y, y)",
    "let (y, forward) = linearize entry x in (inner (forward x) y, add y (scale 2.0 (zero y)))",
    "grad (\\x -> norm_squared (grad (\\x -> norm_squared (entry x)) x)) x",
];

#[test]
fn generated_programs_are_lowered() {
    let cases = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = (0..cases.unwrap_or(60)).collect();
    let (lowered, evaluated) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = parallel::map(&seeds, |seed| {
        let config = match seed % 4 {
            0 => Config::default(),
            1 => Config::smooth(),
            // What is evaluated already.
            _ => Config { max_derivatives: 0, taylor: false, ..Config::default() },
        };
        let bytes = bytes(*seed);
        let (for_input, for_program) = bytes.split_at(128);
        let program = gen_program(&mut Unstructured::new(for_program), &config).expect("there are bytes");
        let mut input = Unstructured::new(for_input);
        let point = gen_value(&mut input, &program.arg_type, program.decls());
        let point = point.expect("there are bytes").expect("entries take first-order values");
        for expression in EXPRESSIONS {
            let text = format!("{}\ndef it = let x = {} in {expression}\n", program.text(), point.text());
            match agrees(&text) {
                Ok(Verdict::Refused) => {}
                Ok(Verdict::Lowered) => drop(lowered.fetch_add(1, Ordering::Relaxed)),
                Ok(Verdict::Agrees) => drop(evaluated.fetch_add(1, Ordering::Relaxed)),
                Err(error) => return Some(format!("seed {seed}, {expression}: {error}\n{text}")),
            }
        }
        None
    });
    let failed: Vec<String> = failures.into_iter().flatten().collect();
    let (lowered, evaluated) = (lowered.into_inner(), evaluated.into_inner());
    println!(
        "{lowered} generated programs are lowered, {evaluated} evaluated as well, {} fail",
        failed.len()
    );
    assert!(evaluated > seeds.len(), "only {evaluated} programs are evaluated");
    assert!(failed.is_empty(), "{} fail; the first:\n{}", failed.len(), failed[0]);
}

#[test]
fn the_code_of_the_book_is_lowered() {
    let mut failed = Vec::new();
    let mut count = 0;
    for page in wengert_tests::book::pages() {
        for block in page.blocks.iter().filter(|block| block.language == "wengert-eval") {
            for case in wengert_tests::book::eval_cases(block) {
                // What is refused before it runs is shown in the book, too.
                let Ok(program) = of_expression(&case.source, None) else { continue };
                count += 1;
                if let Err(error) = verified(&program) {
                    failed.push(format!("{} line {}: {}\n{error}", page.name, case.line, case.source));
                }
            }
        }
    }
    println!("{} of {count} expressions of the book are lowered", count - failed.len());
    assert!(count > 60, "only {count} expressions are found");
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
}

/// Whether deep terms are lowered, evaluated and dropped on a small stack.
#[test]
fn deep_programs_are_lowered_on_a_small_stack() {
    let nest =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(400), close.repeat(400));
    let texts = [
        nest("(if length [1] == 1 then ", "1", " else 0)"),
        nest("(let x = 1 in ", "2", ")"),
        nest("((\\x -> ", "x", ") 1)"),
        nest("(1, ", "2", ")"),
        nest("[", "1", "]")
            .replace(&"[".repeat(400), &"[".repeat(120))
            .replace(&"]".repeat(400), &"]".repeat(120)),
        nest("(1 + ", "2", ")"),
        nest("(match Cons 1 Nil with | Nil -> 0 | Cons y _ -> y + ", "2", ")"),
        format!("total ({})", nest("(Cons 1.0 ", "Nil", ")")),
        (0..900)
            .map(|n| {
                format!("let f{n} x = {}x in ", if n == 0 { String::new() } else { format!("f{} ", n - 1) })
            })
            .collect::<String>()
            + "f899 1",
        "let rec down n = if n == 0 then 0 else 1 + down (n - 1) in down 1000000".to_owned(),
        "total (rec_map (\\x -> x) (from_to 0 300000))".to_owned(),
        "(from_to 0 300000 == from_to 0 300000, inner (from_to 0 300000) (from_to 0 300000))".to_owned(),
    ];
    for text in texts {
        let start: String = text.chars().take(60).collect();
        let verdict = agrees(&format!("{DEFINITIONS}\ndef it = {text}\n"));
        assert!(
            matches!(verdict, Ok(Verdict::Agrees)),
            "{start}: {:?}",
            verdict.map(|verdict| format!("{verdict:?}"))
        );
    }
}
