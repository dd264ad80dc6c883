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

#[test]
fn section_3_compares_forward_and_reverse() {
    let g = read("x:!R ⊢ cos(z)[z := sin(x)]");
    let bp = ground::bp(&g, &syntax::free_vars(&g), &Var::exponential("a", Ty::Real)).unwrap();
    let slope = "∂1_cos(z)";
    let expected = format!("⟨cos(z), cos(x) · b[b:!R := {slope} · a]⟩[z:!R := sin(x)]");
    assert_eq!(print::term(&bp), expected.replace("cos(x) · b[", "(cos(x) · b)["));
    let forward = transform::forward(&g).unwrap();
    assert_eq!(types::infer(&forward).unwrap(), Ty::prod(Ty::Real, Ty::Real));
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
