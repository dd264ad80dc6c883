//! Generated programs as surface trees: they print and parse back to themselves, they use the whole language, and they
//! shrink.

use arbitrary::Unstructured;
use wengert_base::SourceId;
use wengert_gen::{
    Config, GenType, Law, Program, gen_expr, gen_program, gen_program_of, minimize, rewritten, shrink,
    standard_decls,
};
use wengert_syntax::{parse, parse_expr, print_expr, print_module, same_expr, same_module};

/// That parsing the printed program gives the program.
fn assert_reads_back(program: &Program) {
    let text = print_module(&program.module);
    let parsed = parse(SourceId(0), &text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    assert!(same_module(&parsed.module, &program.module), "another tree:\n{text}");
}

/// Bytes that look random, the same each time.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn programs_read_back() {
    for config in [Config::default(), Config::smooth()] {
        arbtest::arbtest(|u| {
            assert_reads_back(&gen_program(u, &config)?);
            Ok(())
        })
        .size_min(64)
        .size_max(8192)
        .budget_ms(1500);
    }
}

#[test]
fn expressions_read_back() {
    arbtest::arbtest(|u| {
        let ty = GenType::Tuple(vec![GenType::Real, GenType::array(2, GenType::Int)]);
        let expr = gen_expr(u, &ty, &Config::default())?;
        let text = print_expr(&expr);
        let parsed = parse_expr(SourceId(0), &text);
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
        assert!(same_expr(&parsed.expr, &expr), "another tree:\n{text}");
        Ok(())
    })
    .budget_ms(500);
}

#[test]
fn programs_use_the_whole_language() {
    let mut all = String::new();
    for seed in 1..300 {
        let bytes = bytes(seed, 4096);
        let program = gen_program(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        all.push_str(&print_module(&program.module));
    }
    for construct in [
        "jvp",
        "vjp",
        "grad (",
        "grad_fwd",
        "derivative",
        "linearize",
        "pullback",
        "apply_dual",
        "to_dual",
        "jacfwd",
        "jacrev",
        "taylor",
        "checkpoint",
        "custom_jvp",
        "custom_vjp",
        "stop_gradient",
        "iterate",
        "while_loop",
        "let rec",
        "match",
        "if ",
        "fold",
        "scan",
        "map (",
        "map2",
        "build",
        "transpose",
        "matmul",
        "matvec",
        "dot",
        "with x",
        ".x",
        "|>",
        ">>",
        "++",
        "type Tree a",
        "Cons",
        "Node",
        "Circle",
        "_ ->",
        "def f3",
        "scale",
        "index",
        "^ 2",
        "**",
        "not",
        "&&",
        "show",
    ] {
        assert!(all.contains(construct), "`{construct}` is never generated");
    }
}

#[test]
fn smooth_programs_have_no_kinks() {
    for seed in 1..100 {
        let bytes = bytes(seed, 4096);
        let program = gen_program(&mut Unstructured::new(&bytes), &Config::smooth()).unwrap();
        let text = print_module(&program.module);
        for rough in ["relu", "floor", "maximum", "stop_gradient", "sort", "argmax", "cbrt", "round", "tan ("]
        {
            let word = |part: &str| part == rough;
            assert!(!text.split(|c: char| !c.is_alphanumeric() && c != '_').any(word), "{rough}:\n{text}");
        }
    }
}

#[test]
fn entries_have_the_type_that_was_asked_for() {
    let pair = GenType::Tuple(vec![GenType::Real, GenType::Real]);
    let bytes = bytes(7, 2048);
    let mut u = Unstructured::new(&bytes);
    let program = gen_program_of(&mut u, &Config::smooth(), pair.clone(), GenType::Real).unwrap();
    assert_eq!((program.arg_type, program.result_type), (pair, GenType::Real));
    assert!(print_module(&program.module).contains("def entry (x0 : (Real, Real))"));
}

#[test]
fn every_shrunk_program_is_shorter_and_reads_back() {
    for seed in 1..20 {
        let bytes = bytes(seed, 1024);
        let program = gen_program(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        for smaller in shrink(&program).take(40) {
            assert_reads_back(&smaller);
            assert_ne!(smaller.module, program.module);
            assert_eq!(smaller.arg_type, program.arg_type);
        }
    }
}

#[test]
fn laws_change_derivatives_and_nothing_else() {
    let (mut modes, mut pointwise) = (0, 0);
    for seed in 1..200 {
        let bytes = bytes(seed, 8192);
        let program = gen_program(&mut Unstructured::new(&bytes), &Config::smooth()).unwrap();
        if let Some(other) = rewritten(&program, Law::OtherModes) {
            assert_reads_back(&other);
            assert_ne!(other.module, program.module);
            modes += 1;
        }
        if let Some(other) = rewritten(&program, Law::Pointwise) {
            assert_reads_back(&other);
            assert!(other.text().contains("\\(z1 : "), "{}", other.text());
            pointwise += 1;
        }
    }
    assert!(modes > 50 && pointwise > 20, "{modes} and {pointwise} programs were changed");
}

#[test]
fn minimizing_keeps_what_matters_and_little_else() {
    let wanted = |program: &Program| print_module(&program.module).contains("vjp");
    let mut found = 0;
    for seed in 1..60 {
        let bytes = bytes(seed, 4096);
        let program = gen_program(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        if !wanted(&program) {
            continue;
        }
        found += 1;
        let smallest = minimize(program, wanted);
        let text = print_module(&smallest.module);
        assert!(text.contains("vjp") && text.len() < 600, "{text}");
        if found == 5 {
            return;
        }
    }
    panic!("only {found} programs to minimize");
}

#[test]
fn standard_types_start_with_a_constructor_that_ends_recursion() {
    for decl in standard_decls() {
        let (_, fields) = &decl.ctors[0];
        assert!(!fields.iter().any(|field| matches!(field, GenType::Data(..))), "{}", decl.name);
    }
}
