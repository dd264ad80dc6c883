//! Tests of the notation, and of the paper's examples.

use super::syntax::Tm;
use super::*;

pub(crate) fn read(text: &str) -> Tm {
    parse::parse(SourceId(0), text).map(|(tm, _)| tm).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn printing_and_reading_figure_1() {
    let g = read(examples::FIGURE_1);
    let text = print::sequent(&g);
    assert_eq!(text, "x1 : !R, x2 : !R ⊢ sin(z2)[z2:!R := z1 · z1][z1:!R := x1 - x2]");
}

#[test]
fn figure_1_by_corollary_16() {
    let g = read(examples::FIGURE_1);
    let free = syntax::free_vars(&g);
    let mut xs = free.clone();
    xs.sort_by(|a, b| a.name.cmp(&b.name));
    let tags = transform::tags(&xs, 1);
    let term = transform::value_and_gradient_term(&g, &xs, &tags, &[5.0, 2.0], 1).unwrap();
    types::infer(&term).unwrap();
    let outcome = machine::run(&term, true, &Limits::default()).unwrap_or_else(|halt| panic!("{halt:?}"));
    let Kind::Pair(value, sum) = &outcome.end.kind else { panic!("{}", print::term(&outcome.end)) };
    assert_eq!(print::term(value), "0.4121184852417566");
    let gradient = transform::read_back(sum, &tags).unwrap().gradient;
    assert!(close(gradient[0], -5.466781571308061) && close(gradient[1], 5.466781571308061), "{gradient:?}");
    let run = reduce::normalize(&term, rules_of_traces(), Strategy::Unfolding, &Limits::default());
    let Kind::Pair(_, sum) = &run.end.kind else { panic!("{}", print::term(&run.end)) };
    assert_eq!(transform::read_back(sum, &tags).unwrap().gradient, gradient);
}

fn closed_gradient(tm: &Tm, xs: &[Var], at: &[f64], factoring: bool) -> (u64, Vec<f64>) {
    let tags = transform::tags(xs, 1);
    let term = transform::gradient_term(tm, xs, &tags, at, 1).unwrap();
    let limits = Limits { steps: 100_000_000, size: 100_000_000, recorded: 0 };
    let outcome = machine::run(&term, factoring, &limits).unwrap_or_else(|halt| panic!("{halt:?}"));
    (outcome.counts.steps, transform::read_back(&outcome.end, &tags).unwrap().gradient)
}

#[test]
fn figure_2_is_bp_of_figure_1() {
    let g = read(examples::FIGURE_1);
    let mut xs = syntax::free_vars(&g);
    xs.sort_by(|a, b| a.name.cmp(&b.name));
    let bp = ground::bp(&g, &xs, &Var::exponential("a", Ty::Real)).unwrap();
    // In the figure the substitution of b is inside that of c, which is (19).
    let figure = "⟨sin(z2), ⟨1 · c, (-1) · c⟩[c:!R := z1 · b + z1 · b][b:!R := cos(z2) · a]⟩\
                  [z2:!R := z1 · z1][z1:!R := x1 - x2]";
    assert_eq!(print::term(&bp), figure);
}

/// The numeral that a variable gets, around a term.
fn at(tm: Tm, bindings: &[(&Var, f64)]) -> Tm {
    bindings.iter().fold(tm, |tm, (x, r)| syntax::sub(tm, x, syntax::num(*r)))
}

fn reduced(tm: &Tm) -> reduce::Run {
    let run = reduce::normalize(tm, rules_of_traces(), Strategy::Unfolding, &Limits::default());
    assert!(run.stopped.is_none());
    run
}

#[test]
fn section_2_the_values_of_figure_1() {
    let g = read("sin(z2)[z2 := z1·z1][z1 := x1 - x2][x1 := 5][x2 := 2]");
    assert_eq!(print::plain(&reduced(&g).end), "0.4121184852417566");
    // Section 2.3: D⃗ at ⟨5, 1⟩ and ⟨2, 0⟩.
    let g = read(examples::FIGURE_1);
    let mut xs = syntax::free_vars(&g);
    xs.sort_by(|a, b| a.name.cmp(&b.name));
    let seed = |r: f64, t: f64| syntax::pair(syntax::num(r), syntax::num(t));
    let seeds = [(xs[0].clone(), seed(5.0, 1.0)), (xs[1].clone(), seed(2.0, 0.0))];
    let forward = transform::seeded(&g, &seeds, transform::Mode::Forward).unwrap();
    assert_eq!(print::plain(&reduced(&forward).end), "⟨0.4121184852417566, -5.466781571308061⟩");
    // Section 2.5: bp at the same point.
    let a = Var::exponential("a", Ty::Real);
    let bp = ground::bp(&g, &xs, &a).unwrap();
    let end = reduced(&at(bp, &[(&a, 1.0), (&xs[0], 5.0), (&xs[1], 2.0)])).end;
    assert_eq!(print::plain(&end), "⟨0.4121184852417566, ⟨-5.466781571308061, 5.466781571308061⟩⟩");
}

#[test]
fn section_3_compares_forward_and_reverse() {
    // G := g(z)[z := f(x)] with f = sin and g = exp.
    let g = read("x:!R ⊢ exp(z)[z := sin(x)]");
    let xs = syntax::free_vars(&g);
    let a = Var::exponential("a", Ty::Real);
    let bp = ground::bp(&g, &xs, &a).unwrap();
    assert_eq!(print::plain(&bp), "⟨exp(z), (cos(x) · b)[b := exp(z) · a]⟩[z := sin(x)]");
    let point = Var::exponential("x", Ty::Real);
    let seeds = [(xs[0].clone(), syntax::pair(syntax::var(&point), syntax::var(&a)))];
    let forward = transform::seeded(&g, &seeds, transform::Mode::Forward).unwrap();
    let expected =
        "⟨exp(w), exp(w) · w'⟩[⟨w, w'⟩ := z][z := ⟨sin(w), cos(w) · w'⟩[⟨w, w'⟩ := x]][x := ⟨x, a⟩]";
    assert_eq!(print::plain(&forward), expected);
    // D⃗(G){⟨x, a⟩/x} and D⃖(G){⟨x, x′⟩/x} with their substitutions carried out.
    let shown = |tm: &Tm| print::plain(&equivalence::unfold(&reduced(tm).end));
    assert_eq!(shown(&forward), "⟨exp(sin(x)), exp(sin(x)) · (cos(x) · a)⟩");
    let tags = transform::tags(&xs, 1);
    let (reverse, _) = transform::tagged(&g, &xs, &tags, 1).unwrap();
    assert_eq!(shown(&reverse), "⟨exp(sin(x)), λa. x' (cos(x) · (exp(sin(x)) · a))⟩");
    assert_eq!(shown(&bp), "⟨exp(sin(x)), cos(x) · (exp(sin(x)) · a)⟩");
    // "In both cases we obtain ⟨h(r), h′(r)⟩ in the same number of steps": of those that compute.
    let numeric = |tm: Tm| {
        let run = reduced(&tm);
        let steps: u64 = ["14", "23"].iter().filter_map(|rule| run.counts.by_rule.get(rule)).sum();
        (print::plain(&run.end), steps)
    };
    let backward = numeric(at(bp, &[(&a, 1.0), (&xs[0], 0.5)]));
    assert_eq!(numeric(at(forward, &[(&a, 1.0), (&point, 0.5)])), backward);
    let (h, slope) = (0.5f64.sin().exp(), 0.5f64.cos() * 0.5f64.sin().exp());
    assert_eq!(backward.0, format!("⟨{h:?}, {slope:?}⟩"));
}

/// Each rule at the root of a term with substitutions behind its parts, and terms where a side condition does not hold.
const CONTRACTIONS: &[(reduce::Rule, &str, Option<&str>)] = &[
    (reduce::Rule::R7, "((λx:!R. x)[y := 1]) 2", Some("x[x := 2][y := 1]")),
    (reduce::Rule::R8, "(z - w)[⟨z, w⟩ := ⟨1, 2⟩[y := 3]]", Some("(z - w)[z := 1][w := 2][y := 3]")),
    (reduce::Rule::R9, "(x + x)[x := 1[y := 2]]", Some("(1 + x)[x := 1][y := 2]")),
    (reduce::Rule::R9, "(x + x)[x := 1 + 2]", None),
    (reduce::Rule::R10, "5[x := 1[y := 2]]", Some("5[y := 2]")),
    (reduce::Rule::R10, "x[x := 1]", None),
    (reduce::Rule::R10, "5[x := 1 + 2]", None),
    (reduce::Rule::R11, "(2 · b)[b:R := 1[y := 2]]", Some("(2 · 1)[y := 2]")),
    (reduce::Rule::R11, "(2 · b)[b:R := 1 + 2]", None),
    (reduce::Rule::R12, "1[x := 5] + 2[y := 6]", Some("3[x := 5][y := 6]")),
    (reduce::Rule::R13, "⟨1, 2⟩[x := 5] + ⟨3, 4⟩[y := 6]", Some("⟨1 + 3, 2 + 4⟩[x := 5][y := 6]")),
    (reduce::Rule::R14, "2[x := 5] · 3[y := 6]", Some("6[x := 5][y := 6]")),
    (reduce::Rule::R15, "f:!(R → R) ⊢ f", Some("λy. f y")),
    (reduce::Rule::R15, "f:!R^⊥ ⊢ f", Some("λa. f a")),
    (reduce::Rule::R15, "3", None),
    (reduce::Rule::R16, "p[p := ⟨1, 2⟩[y := 3]]", Some("p[p := ⟨p, p'⟩][⟨p, p'⟩ := ⟨1, 2⟩][y := 3]")),
    (reduce::Rule::R17, "x:!R^⊥ ⊢ (x 1)[y := 5] + (x 2)[z := 6]", Some("x (1 + 2)[y := 5][z := 6]")),
    (reduce::Rule::R17, "x:!R^⊥ ⊢ x 1 + (5 + x 2)[y := 6]", Some("(x (1 + 2) + 5)[y := 6]")),
    (reduce::Rule::R17, "f:!(R → R) ⊢ f 1 + f 2", None),
    (reduce::Rule::R17, "x:!R^⊥, y:!R^⊥ ⊢ x 1 + y 2", None),
    (reduce::Rule::R23, "sin(0[x := 5])", Some("0[x := 5]")),
];

#[test]
fn each_rule_makes_what_table_2_says() {
    let shown = |(rule, text, _): &(reduce::Rule, &str, Option<&str>)| {
        reduce::contract(&read(text), *rule, 0).map(|tm| print::plain(&tm))
    };
    let wrong: Vec<_> = CONTRACTIONS
        .iter()
        .map(|case| (case, shown(case)))
        .filter(|(case, found)| found.as_deref() != case.2)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sums_of_tuples_are_differentiated_part_by_part() {
    let g = read("x:!R ⊢ (p · q)[⟨p, q⟩ := ⟨x, 2⟩ + ⟨3, x · x⟩]");
    let xs = syntax::free_vars(&g);
    // (x + 3)(2 + x²) at 2: 2 + x² + 2x(x + 3).
    assert_eq!(closed_gradient(&g, &xs, &[2.0], true).1, [26.0]);
}

#[test]
fn a_variable_may_have_the_name_of_a_symbol() {
    let x = Var::exponential("sin", Ty::Real);
    let tm = syntax::lam(&x, syntax::op(wengert_prim::RealOp::Sin, vec![syntax::var(&x)]));
    let text = print::term(&tm);
    assert_eq!(text, "λsin_2:!R. sin(sin_2)");
    assert_eq!(print::term(&read(&text)), text);
}

#[test]
fn table_1_refuses_what_is_not_linear() {
    for text in [
        "λa:R. ⟨a, 1⟩",
        "λa:R. ⟨1, a⟩",
        "λa:R. a + 1",
        "λa:R. 2",
        "λa:R. sin(2)",
        "λa:R. sin(a)",
        "λa:R. (λx:!R. x) 2",
        "λa:R. (λx:!R. x) a",
        "λa:R. a · a",
        "λa:R. a · 2",
        "λa:R. λx:!R. a",
        "λa:R. b[b:R := 2]",
        "λa:R. a[x := a]",
        "λa:R. λb:R. a",
    ] {
        let refused = parse::parse(SourceId(0), text).map(drop).map_err(|error| error.code);
        assert_eq!(refused, Err("E0946"), "{text}");
    }
    for text in
        ["1 2", "⟨1, 2⟩ + 3", "(λx:!R. x) + (λx:!R. x)", "sin(⟨1, 2⟩)", "x[⟨x, y⟩ := 1]", "1 · ⟨2, 3⟩"]
    {
        let refused = parse::parse(SourceId(0), text).map(drop).map_err(|error| error.code);
        assert_eq!(refused, Err("E0945"), "{text}");
    }
    for text in ["λa:R. 0", "λa:R. ⟨a, 0⟩", "λa:R. 2 · a + a", "λa:R. (λb:R. b) a", "λa:R. b[b:R := 2 · a]"]
    {
        assert!(parse::parse(SourceId(0), text).is_ok(), "{text}");
    }
}

#[test]
fn a_trace_of_figure_1_factors_once_and_replaces_the_adjoint_afterwards() {
    let g = read(examples::FIGURE_1);
    let mut xs = syntax::free_vars(&g);
    xs.sort_by(|a, b| a.name.cmp(&b.name));
    let tags = transform::tags(&xs, 1);
    let term = transform::gradient_term(&g, &xs, &tags, &[5.0, 2.0], 1).unwrap();
    let run = reduced(&term);
    let factored: Vec<_> = run.steps.iter().filter(|step| step.rule == "17").collect();
    assert_eq!(factored.len(), 1);
    let redex = factored[0].redex.clone().unwrap();
    assert_eq!(&factored[0].before[redex], "z1' (3 · a) + z1' (3 · a)");
    assert!(factored[0].after.contains("λa. z1' (3 · a + 3 · a)"), "{}", factored[0].after);
    assert_eq!(print::plain(&run.end), "x1' (-5.466781571308061) + x2' 5.466781571308061");
    // Each step starts from what the one before made, and marks something.
    for pair in run.steps.windows(2) {
        assert_eq!(pair[0].after, pair[1].before);
    }
    assert!(run.steps.iter().all(|step| step.redex.as_ref().is_some_and(|redex| !redex.is_empty())));
}

#[test]
fn sizes_count_what_is_in_memory_and_shared_nodes_once() {
    // An abstraction that holds a dag of 2¹² leaves, and is not applied.
    let (x, f) = (Var::exponential("x", Ty::Real), Var::exponential("f", Ty::fun(Ty::Real, Ty::Real)));
    let mut body = syntax::var(&x);
    for _ in 0..12 {
        body = syntax::add(body.clone(), body);
    }
    let unused = syntax::sub(syntax::num(1.0), &f, syntax::lam(&x, body));
    assert!(unused.size > 8000);
    let counts = machine::run(&unused, true, &Limits::default()).unwrap().counts;
    assert!(counts.max_size < 40, "{}", counts.max_size);
    // Nested doubling lets: a heap cell for each, so that the size is the program's and so many cells.
    let size = |n: usize, factoring: bool| {
        let (x, tm) = examples::doubling(n);
        let tags = transform::tags(std::slice::from_ref(&x), 1);
        let term = transform::gradient_term(&tm, &[x], &tags, &[0.5], 1).unwrap();
        machine::run(&term, factoring, &Limits::default()).unwrap().counts.max_size
    };
    assert_eq!(size(40, true) - size(30, true), size(30, true) - size(20, true));
    // What is alive is never less than the heap: two nodes for each binding that was made.
    let net = examples::network(&[0.5; 30]);
    let image = transform::reverse(&net.applied, 1).unwrap();
    let closed = [&net.epsilon, &net.rho].iter().fold(image, |tm, x| {
        let seed = syntax::pair(syntax::num(0.5), syntax::lam(&Var::linear("a"), syntax::num(0.0)));
        syntax::sub(tm, &x.at(Ty::prod(Ty::Real, Ty::Neg(1))), seed)
    });
    let counts = machine::run(&closed, true, &Limits::default()).unwrap().counts;
    let dropped = counts.by_rule.get("10").copied().unwrap_or(0);
    assert!(counts.max_size >= 2 * dropped && counts.max_size <= closed.size + 8 * counts.steps);
}

#[test]
fn factoring_makes_nested_doubling_linear() {
    let steps = |n: usize, factoring: bool| {
        let (x, tm) = examples::doubling(n);
        let (steps, gradient) = closed_gradient(&tm, &[x], &[0.5], factoring);
        assert!(close(gradient[0], 0.5f64.cos() * (n as f64).exp2()), "{gradient:?}");
        steps
    };
    let (ten, twenty, forty) = (steps(10, true), steps(20, true), steps(40, true));
    assert_eq!(forty - twenty, 2 * (twenty - ten));
    assert!(steps(14, false) > 15 * steps(10, false), "without (17) the work doubles at every level");
}

#[test]
fn large_terms_take_linear_time() {
    let n = 20_000;
    let x = Var::exponential("x", Ty::Real);
    let zs: Vec<Var> = (0..=n).map(|_| Var::exponential("z", Ty::Real)).collect();
    let mut tm = syntax::var(&zs[n]);
    for i in (1..=n).rev() {
        let half = syntax::mul(syntax::num(0.5), syntax::var(&zs[i - 1]));
        tm = syntax::sub(tm, &zs[i], syntax::add(half.clone(), half));
    }
    tm = syntax::sub(tm, &zs[0], syntax::var(&x));
    let (steps, gradient) = closed_gradient(&tm, &[x], &[3.0], true);
    assert!(close(gradient[0], 1.0) && steps < 60 * tm.size, "{steps}");
}

#[test]
fn section_6_2_reducing_the_layer_first_is_cheaper() {
    let steps = |n: usize, strategy: Strategy| {
        let items: Vec<f64> = (0..n).map(|i| i as f64 * 0.1).collect();
        let net = examples::network(&items);
        let image = transform::reverse(&net.applied, 1).unwrap();
        let run =
            reduce::normalize(&image, Rules::BETA, strategy, &Limits { recorded: 0, ..Limits::default() });
        assert!(run.stopped.is_none());
        run.counts.steps
    };
    let gain = |n| steps(n, Strategy::Unfolding).saturating_sub(steps(n, Strategy::BodiesFirst));
    assert!(gain(6) > gain(3) && gain(3) > 0, "{} {}", gain(3), gain(6));
}

#[test]
fn read_back_is_linear_and_adding_injected_tuples_is_quadratic() {
    let counts = |n: usize| {
        let tags: Vec<Var> = (0..n).map(|_| Var::exponential("x'", Ty::Neg(n))).collect();
        let summand = |i: usize| syntax::app(syntax::var(&tags[i % n]), syntax::num(1.0));
        let sum = (0..3 * n).map(summand).reduce(syntax::add).unwrap();
        let read = transform::read_back(&sum, &tags).unwrap();
        assert_eq!(read.gradient, vec![3.0; n]);
        // n entries, 3n − 1 sums, 3n summands and as many additions.
        assert_eq!(read.operations as usize, n + (3 * n - 1) + 3 * n + 3 * n);
        let once = (0..n).map(summand).reduce(syntax::add).unwrap();
        let injected = transform::with_injections(&once, &tags);
        let outcome = machine::run(&injected, true, &Limits::default()).unwrap();
        assert_eq!(outcome.end.size as usize, 2 * n - 1, "the tuple itself");
        outcome.counts.steps
    };
    let (ten, twenty, forty, eighty) = (counts(10), counts(20), counts(40), counts(80));
    // A second difference that doubles with n is a square's; here exactly: steps = a·n² + b·n + c.
    assert!(eighty - 2 * forty > 2 * (forty - 2 * twenty), "{ten} {twenty} {forty} {eighty}");
    assert!(twenty > 2 * ten);
}

#[test]
fn no_text_breaks_the_reader() {
    for text in
        ["", "λ", "⟨", "x[", "x:!R ⊢", "f(1)", "sin(1, 2)", "λa:R. a + 1", "[1; 2]_", "((((", "1 1", "-", "R"]
    {
        let Err(error) = parse::parse(SourceId(0), text) else { panic!("{text}") };
        assert!(errors::CODES.iter().any(|code| code.code == error.code), "{text}");
    }
    let deep = "(".repeat(100_000);
    assert_eq!(parse::parse(SourceId(0), &deep).map(drop).map_err(|e| e.code), Err("E0942"));
    let long = "x:!R ⊢ x".to_owned() + &"[y := 1]".repeat(100_000);
    assert_eq!(parse::parse(SourceId(0), &long).map(drop).map_err(|e| e.code), Err("E0942"));
}
