//! Loops that are run in vectors, beside the evaluator of the IR.

use super::vector;
use crate::{Compiled, Manner, Math};
use std::sync::Arc;
use wengert_ir::Program;
use wengert_ir::eval::{Evaluator, Items, Limits, Value};

pub(super) fn program(text: &str) -> Program {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    program
}

/// How many loops of a program are run in vectors.
fn vectors(text: &str, math: Math) -> usize {
    let mut loops = crate::lower::lower(&program(text));
    crate::dead::clean(&mut loops);
    crate::memory::mark(&mut loops);
    loops.funcs.iter().map(|(_, func)| vector::plans(func, math == Math::Fast).len()).sum()
}

/// What there is to be the same: numbers as text, to so many digits, and where there is none, the failure.
fn shown(values: Result<Vec<Value>, wengert_ir::eval::Failure>, digits: usize) -> String {
    match values {
        Ok(values) => values.iter().map(|value| number(value, digits)).collect(),
        Err(failure) => format!("{:?} {:?}", failure.fault, failure.span),
    }
}

fn number(value: &Value, digits: usize) -> String {
    let real = |x: &f64| format!("{:.digits$e} ", if *x == 0.0 { 0.0 } else { *x });
    match value {
        Value::Real(x) => real(x),
        Value::Array(array) => match array.items() {
            Items::Reals(xs) => xs.iter().map(real).collect(),
            items @ (Items::Ints(_)
            | Items::Bools(_)
            | Items::Texts(_)
            | Items::Units(_)
            | Items::Data(_)) => {
                format!("{items:?}")
            }
        },
        Value::Int(_) | Value::Bool(_) | Value::Text(_) | Value::Unit | Value::Data(_) => {
            format!("{value:?} ")
        }
    }
}

/// That so many loops are run in vectors, and give what the evaluator gives for arrays of many sizes: to the last bit in
/// strict mode, and else but for rounding.
pub(super) fn agrees(text: &str, fast: usize, strict: usize) {
    assert_eq!((vectors(text, Math::Fast), vectors(text, Math::Strict)), (fast, strict), "{text}");
    let program = program(text);
    let entry = *program.entries.values().next().expect("it has an entry");
    for size in (0..20_usize).chain([63, 64, 65, 100]) {
        for special in [false, true] {
            // Numbers of which sums are exact, so that their order does not matter; zeros, and what is no number.
            let mut xs: Vec<f64> = (0..size).map(|k| ((k * 7919) % 257) as f64 * 0.125 - 16.0).collect();
            if special {
                xs.iter_mut().step_by(5).for_each(|x| *x = 0.0);
                xs.iter_mut().skip(3).step_by(11).for_each(|x| *x = f64::NAN);
                xs.iter_mut().skip(7).step_by(13).for_each(|x| *x = f64::INFINITY);
            }
            let args = [Value::reals(xs)];
            let expected = Evaluator::new(&program, Limits::default()).call(entry, args.to_vec());
            let expected = [shown(expected.clone(), 17), shown(expected, 12)];
            for (math, digits, expected) in [(Math::Strict, 17, &expected[0]), (Math::Fast, 12, &expected[1])]
            {
                for lanes in [8, 4, 2] {
                    let manner = Manner { math, mark: None, short_loops: false, lanes };
                    let (mut compiled, _) = Compiled::made(program.clone(), manner, 1 << 32, Arc::default())
                        .expect("it compiles");
                    let given = compiled.call(entry, &args);
                    assert_eq!(&shown(given, digits), expected, "{math:?}, {lanes}, size {size}, {text}");
                }
            }
        }
    }
}

#[test]
fn maps() {
    agrees(
        "func f(xs: []Real) -> ([]Real, []Real) {
            n = length(xs)
            ys, zs = each i < n, x in xs {
                a = x * 2.5
                b = a - 1.0
                c = mul_zero(b, x)
                d = div_zero(a, b)
                e = max(c, d)
                f = min(e, 100.0)
                g = abs(f)
                h = sqrt(g)
                k = x ^ 3
                l = sign(k)
                m = relu(b)
                o = -l
                p = o + m
                q = h / p
                yield q, k
            }
            return ys, zs
        }
        entry f = f",
        1,
        1,
    );
}

#[test]
fn choices_and_integers() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                c = x > 0.5
                d = x <= 9.0
                a = x * 3.0
                b = x - 7.0
                v = select(c, a, b)
                y = select(d, v, x)
                j = i * 3
                k = n - j
                r = real(k)
                z = y + r
                late = i >= 2
                w = select(late, z, x)
                yield w
            }
            return ys
        }
        entry f = f",
        1,
        1,
    );
}

#[test]
fn elements_by_their_indices() {
    agrees(
        "func f(xs: []Real) -> ([]Real, []Real) {
            n = length(xs)
            m = n / 2
            last = n - 1
            ys = each i < m {
                j = i * 2
                x = xs[j]
                k = j + 1
                y = xs[k]
                z = x + y
                w = z * y
                yield w
            }
            zs = each i < n {
                j = last - i
                x = xs[j]
                y = xs[0]
                z = x * y
                a = z + x
                b = a - y
                yield b
            }
            return ys, zs
        }
        entry f = f",
        2,
        2,
    );
}

#[test]
fn sums_and_extremes() {
    agrees(
        "func f(xs: []Real) -> (Real, Real, Real, Real) {
            n = length(xs)
            s, t = for i < n, s = 0.5, t = 3.0, x in xs {
                y = x * x
                a = s + y
                b = a - x
                c = t - y
                yield b, c
            }
            m = minimum(xs)
            k = maximum(xs)
            return s, t, m, k
        }
        entry f = f",
        3,
        0,
    );
}

#[test]
fn what_is_carried_and_stored() {
    agrees(
        "func f(xs: []Real) -> (Real, []Real, []Real) {
            n = length(xs)
            s, ys = for i < n, s = 0.0, x in xs {
                y = x + 1.5
                t = s + y
                yield t, y
            }
            r, zs = for backward i < n, r = 1.0, y in ys {
                z = y * 2.0
                t = z + r
                yield t, z
            }
            u = s + r
            return u, ys, zs
        }
        entry f = f",
        2,
        0,
    );
}

#[test]
fn a_carried_value_that_is_no_sum_is_not_taken() {
    agrees(
        "func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs {
                h = s * 0.5
                t = h + x
                yield t
            }
            return s
        }
        entry f = f",
        0,
        0,
    );
}

#[test]
fn the_last_value_is_kept() {
    agrees(
        "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            l, ys = for i < n, l = -1.0, x in xs {
                a = x * 2.0
                b = a + 1.0
                yield a, b
            }
            return l, ys
        }
        entry f = f",
        1,
        1,
    );
}

#[test]
fn indices_out_of_range_fail_where_they_did() {
    for factor in 1..4 {
        let text = format!(
            "func f(xs: []Real) -> ([]Real, Real) {{
                n = length(xs)
                ys = each i < n, x in xs {{
                    j = i * {factor}
                    k = j - i
                    y = xs[k]
                    z = x * y
                    a = z + y
                    yield a
                }}
                s = for i < n, s = 0.0, x in xs {{
                    j = i + 1
                    m = j % 17
                    y = xs[m]
                    z = x * y
                    a = z - y
                    b = a * z
                    t = s + b
                    yield t
                }}
                return ys, s
            }}
            entry f = f"
        );
        agrees(&text, 2, 1);
    }
}

#[test]
fn both_sides_of_a_choice() {
    agrees(
        "func f(xs: []Real) -> ([]Real, []Real) {
            n = length(xs)
            ys, zs = each i < n, x in xs {
                low = x < 0.0
                y, z = if low {
                    a = x * 2.0
                    b = a - 1.0
                    high = b > -20.0
                    c, d = if high { e = b + x yield e, a } else { yield a, b }
                    yield c, d
                } else {
                    a2 = abs(x)
                    b2 = sqrt(a2)
                    yield b2, x
                }
                w = y + z
                yield w, z
            }
            return ys, zs
        }
        entry f = f",
        1,
        1,
    );
}

#[test]
fn functions_on_both_sides_of_a_choice() {
    // Not in vectors as they are written: functions are computed in strips, between which nothing is left but choices.
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                low = x <= 1.0
                y = if low {
                    a = x / 16.0
                    some = a < 0.5
                    b = if some { c = exp(a) yield c } else { yield a }
                    yield b
                } else {
                    d = log(x)
                    yield d
                }
                yield y
            }
            return ys
        }
        entry f = f",
        0,
        0,
    );
}

#[test]
fn arrays_that_are_added_to() {
    agrees(
        "func f(xs: []Real) -> ([]Real, []Real) {
            n = length(xs)
            zs = replicate(n, 0.5)
            vs = replicate(n, 1.5)
            us, ws = for backward i < n, us += zs, ws += vs, x in xs {
                y = x * 0.5
                z = y + 1.0
                a = add_at(us, i, z)
                j = i + 0
                b = add_at(ws, j, y)
                yield a, b
            }
            return us, ws
        }
        entry f = f",
        1,
        1,
    );
}

/// A chain of products and quotients with strong zeros, of which some are no numbers if nobody looks for the zeros.
const STRONG: &str = "func f(xs: []Real) -> ([]Real, []Real, Real) {
        n = length(xs)
        s, ys, zs = for i < n, s = 0.0, x in xs {
            over = 1.0 / x
            far = over * 1e200
            a = mul_zero(x, over)
            b = mul_zero(a, x)
            c = div_zero(x, x)
            d = mul_zero(c, far)
            e = div_zero(b, x)
            high = e > 0.5
            g = select(high, d, 2.0)
            h = mul_zero(g, x)
            k = h + e
            l = abs(c)
            t = s + l
            yield t, k, g
        }
        return ys, zs, s
    }
    entry f = f";

#[test]
fn strong_zeros_are_looked_for_only_if_something_is_no_number() {
    let quick = |math: Math| -> usize {
        let mut loops = crate::lower::lower(&program(STRONG));
        crate::dead::clean(&mut loops);
        crate::memory::mark(&mut loops);
        let plans = |func| {
            vector::plans(func, math == Math::Fast).into_values().filter(vector::Plan::is_quick).count()
        };
        loops.funcs.iter().map(|(_, func)| plans(func)).sum()
    };
    assert_eq!((quick(Math::Fast), quick(Math::Strict)), (1, 0));
    agrees(STRONG, 1, 0);
}

/// The bits of the result for these numbers.
fn bits(text: &str, math: Math, xs: [f64; 3]) -> u64 {
    let program = program(text);
    let entry = *program.entries.values().next().expect("it has an entry");
    let mut compiled = Compiled::with_math(program, math, 1 << 32, Arc::default()).expect("it compiles");
    match compiled.call(entry, &xs.map(Value::Real)).as_deref() {
        Ok([Value::Real(x)]) => x.to_bits(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_product_and_a_sum_round_once_unless_strict() {
    let (x, y) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0);
    let all = [
        ("  s = t + z\n", -1.0, x.mul_add(y, -1.0), x * y - 1.0),
        ("  s = z + t\n", -1.0, x.mul_add(y, -1.0), x * y - 1.0),
        ("  s = t - z\n", 1.0, x.mul_add(y, -1.0), x * y - 1.0),
        ("  s = z - t\n", 1.0, (-x).mul_add(y, 1.0), 1.0 - x * y),
        // A product that is read again stays what it is.
        ("  u = t + z\n  s = u * t\n", -1.0, (x * y - 1.0) * (x * y), (x * y - 1.0) * (x * y)),
        ("  s = t - t\n", 1.0, 0.0, 0.0),
    ];
    for (lines, z, once, twice) in all {
        let text = format!(
            "func f(x: Real, y: Real, z: Real) -> Real {{\n  t = x * y\n{lines}  return s\n}}\n\nentry f = f\n"
        );
        let fast = if super::fused::is_done(Math::Fast) { once } else { twice };
        assert_eq!(bits(&text, Math::Fast, [x, y, z]), fast.to_bits(), "{text}");
        assert_eq!(bits(&text, Math::Strict, [x, y, z]), twice.to_bits(), "{text}");
    }
}

#[test]
fn what_steps_make_very_small_is_zero() {
    let text = "func f(n: Int, x: Real, y: Real) -> Real {
            r, s = for i < n, t = 1.0, s += 0.0 {
                a = mul_zero(t, x)
                b = mul_zero(t, y)
                u = s + b
                yield a, u
            }
            v = r + s
            return r
        }
        entry f = f";
    let program = program(text);
    let entry = *program.entries.values().next().expect("it has an entry");
    let run = |math: Math, n: i64| {
        let mut compiled =
            Compiled::with_math(program.clone(), math, 1 << 32, Arc::default()).expect("it compiles");
        let args = [Value::Int(n), Value::Real(0.5), Value::Real(1.0)];
        match compiled.call(entry, &args).as_deref() {
            Ok([Value::Real(r)]) => *r,
            other => panic!("{other:?}"),
        }
    };
    let least = 0.5_f64.powi(1060);
    for math in [Math::Fast, Math::Strict] {
        assert_eq!(run(math, 1060).to_bits(), least.to_bits(), "{math:?}");
    }
    assert_eq!(run(Math::Strict, 1061).to_bits(), (least / 2.0).to_bits());
    assert_eq!(run(Math::Fast, 1061).to_bits(), 0);
}

#[test]
fn what_runs_once_in_a_large_program_is_made_with_less_care() {
    use std::fmt::Write as _;
    // `f0` runs once, `g` in a loop, `h` is called by that, `f1` has a loop of its own.
    let many: String = (0..800).map(|k| format!("a{} = a{k} * x b{k} = a{k} + 1.0 ", k + 1)).collect();
    let mut text = String::new();
    let _ = write!(
        text,
        "func h(x: Real) -> Real {{ y = sin(x) return y }} func g(x: Real) -> Real {{ y = h(x) return y }} "
    );
    let _ = write!(text, "func f0(x: Real) -> Real {{ a0 = x + 1.0 {many} return a800 }} ");
    let _ = write!(
        text,
        "func f1(x: Real, n: Int) -> Real {{ z = f0(x) y2 = for i < n, y = z {{ t = g(y) yield t }} return y2 }} entry f1 = f1"
    );
    let once = |text: &str| {
        let loops = crate::lower::lower(&program(text));
        let mut names: Vec<String> = super::once::once(&loops)
            .into_iter()
            .filter_map(|id| loops.funcs.get(id).map(|func| func.name.to_string()))
            .collect();
        names.sort();
        names
    };
    assert_eq!(once(&text), ["f0"]);
    assert_eq!(once(&text.replace("i < n", "i < 9")), ["f0", "f1", "g", "h"]);
    // A small program has all the care.
    assert_eq!(once(&text.replace(&many, "a800 = a0 * x ")), [""; 0]);
}

#[test]
fn code_grows_with_the_program_however_long_variables_live() {
    use std::fmt::Write as _;
    // Sums of loops, and numbers from branches, that are used at the end.
    let lines = |count: usize| {
        let mut text = "func f(xs: []Real, n: Int, c: Bool) -> Real {".to_owned();
        for k in 0..count {
            let _ = write!(
                text,
                " s{k} = for i < n, s = 0.0, x in xs {{ y = x * {k}.5 t = s + y yield t }} \
                  b{k} = if c {{ t = s{k} * 2.0 yield t }} else {{ yield 1.5 }}"
            );
        }
        let _ = write!(text, " r0 = 0.0 + 0.0");
        for k in 0..count {
            let _ = write!(text, " q{k} = r{k} + s{k} r{} = q{k} + b{k}", k + 1);
        }
        let _ = write!(text, " return r{count} }} entry f = f");
        crate::clif(&program(&text)).expect("it can be compiled").lines().count()
    };
    let (some, twice) = (lines(20), lines(40));
    assert!(twice < some * 21 / 10, "{some} lines, and {twice} for twice as much");
}

/// Addresses of different words would all be known through all of the function.
#[test]
fn calls_share_their_place_on_the_stack() {
    let calls: String = (1..40).map(|k| format!(" x{k}, y{k} = g(x{}, y{})", k - 1, k - 1)).collect();
    let text = format!(
        "func g(x: Real, y: Real) -> (Real, Real) {{ a = x + y b = x * y return a, b }}
        func f(x0: Real, y0: Real) -> Real {{ {calls} return x39 }} entry f = f"
    );
    let code = crate::clif(&program(&text)).expect("it can be compiled");
    assert_eq!(code.matches("explicit_slot").count(), 1, "{code}");
}

#[test]
fn code_grows_with_the_program_however_deep_choices_nest() {
    use crate::loops::walk::every;
    let count = |depth: usize| {
        let sides: String = (0..depth)
            .map(|k| format!("c{k} = x < {k}.5 y{k} = if c{k} {{ a{k} = x * {k}.5 yield a{k} }} else {{"))
            .collect();
        let ends: String = (0..depth)
            .rev()
            .map(|k| if k + 1 == depth { " yield x }".to_owned() } else { format!(" yield y{} }}", k + 1) })
            .collect();
        let text = format!(
            "func f(xs: []Real, n: Int) -> []Real {{ r = each i < n, x in xs {{ {sides}{ends} yield y0 }} return r }} entry f = f"
        );
        let mut loops = crate::lower::lower(&program(&text));
        crate::straight::straighten(&mut loops);
        let (mut count, mut branches) = (0, 0);
        loops.funcs.iter().for_each(|(_, func)| {
            every(&func.body, &mut |stmt| {
                count += 1;
                branches += usize::from(matches!(stmt, crate::loops::Stmt::If { .. }));
            });
        });
        assert!(branches < 4, "{branches} branches are left");
        count
    };
    let (some, twice) = (count(30), count(60));
    assert!(twice < some * 21 / 10, "{some} statements, and {twice} for twice as much");
}

/// What only computes is called on the stack that is there; what loops, makes something or may fail is not.
#[test]
fn what_only_computes_needs_no_stack_of_its_own() {
    let direct = |text: &str| {
        let program = wengert_ir::parse(text).expect("a program");
        let entries: Vec<_> = program.entries.values().copied().collect();
        let loops = crate::lower::lower(&program);
        let code = super::Code::compile(&loops, &entries, Math::Strict, crate::LANES).expect("it compiles");
        let kept = code.kept.clone().expect("it can be kept").code(Math::Strict).expect("it is code");
        [code.entries[0].direct, kept.entries[0].direct]
    };
    let cases = [
        ("func f(x: Real) -> Real { y = x * x z = sin(y) return z } entry f = f", true),
        (
            "func f(x: Real) -> Real { c = x < 0.0 y = if c { yield 1.0 } else { yield x } return y } entry f = f",
            true,
        ),
        (
            "func f(n: Int) -> Real { s = for i < n, t = 0.0 { u = t + 1.0 yield u } return s } entry f = f",
            false,
        ),
        ("func f(n: Int) -> Int { m = n / 2 k = 7 / n r = m + k return r } entry f = f", false),
        ("func f(x: Real) -> []Real { xs = [x, x] return xs } entry f = f", false),
    ];
    for (text, expected) in cases {
        assert_eq!(direct(text), [expected; 2], "{text}");
    }
}

/// Truth values that comparisons of reals give: stored, chosen between, and turned round.
#[test]
fn truth_values_are_in_vectors() {
    super::wide::tests::in_wide(
        "func f(xs: []Real) -> ([]Bool, []Bool, []Bool, []Real, []Real) {
            n = length(xs)
            ps, qs, rs, ys = each i < n, x in xs {
                a = x * x
                p = a <= 4.0
                q, y = if p { yield false, 0.0 } else { r = x < 0.0 z = select(r, x, a) yield r, z }
                t = if p { s = x == 0.0 yield s } else { yield true }
                u = not(q)
                v = if u { yield t } else { yield q }
                yield p, q, v, y
            }
            zs = each j < n, x2 in xs, p2 in ps, q2 in qs, r2 in rs {
                b = select(r2, x2, 1.5)
                c = select(q2, 0.25, b)
                w = x2 > 1.0
                d = if p2 { yield w } else { yield r2 }
                e = select(d, c, x2)
                f2 = mul_zero(e, b)
                yield f2
            }
            return ps, qs, rs, ys, zs
        }
        entry f = f",
        2,
        2,
    );
}

/// Branches and choices in loops that hand something on.
#[test]
fn choices_in_loops_that_hand_on() {
    agrees(
        "func f(xs: []Real) -> (Int, Int, Real, Real, []Real, []Real) {
            n = length(xs)
            m, k, s, t, ys, zs = for i < n, m2 = 7, k2 = 0, s2 = 1.0, t2 = 0.0, x in xs {
                r = m2 % 2
                odd = r == 1
                m3, k3 = if odd { a = m2 * 3 b = a + 1 yield b, k2 } else { c = m2 / 2 d = k2 - m2 yield c, d }
                p = x <= s2
                q = s2 < x
                e = select(q, 0.0, NaN)
                slope = select(p, 1.0, e)
                g = if odd { yield 0.5 } else { yield slope }
                s3 = min(s2, x)
                s4 = s3 + 0.25
                u = mul_zero(t2, slope)
                v = mul_zero(g, x)
                w = mul_zero(slope, e)
                z = u + v
                t3 = z + 1.0
                yield m3, k3, s4, t3, w, t3
            }
            return m, k, s, t, ys, zs
        }
        entry f = f",
        0,
        0,
    );
}

/// Which number is the least is not to be foreseen: it is one instruction, and a branch only for what is no number. Nor is what a slope leaves of 1.
#[test]
fn the_least_and_the_rest_of_a_slope_have_no_branch() {
    let text = "func f(xs: []Real) -> (Real, Real) {
        n = length(xs)
        s, t = for i < n, s = 9.0, t = 1.0, x in xs {
            k = n - i
            m = k - 1
            y = xs[m]
            a = min(x, s) b = max(a, y)
            rest = 1.0 - y
            u = t * 0.5
            v = mul_zero(u, rest)
            w = v + 1.0
            yield b, w
        }
        return s, t
    }
    entry f = f";
    let loops = crate::lower::lower(&program(text));
    let mut compiler = super::Compiler::new(&loops, Math::Fast).expect("there is a code generator");
    let made: String =
        loops.funcs.iter().map(|(id, func)| compiler.build(id, func).func.display().to_string()).collect();
    let count = |what: &str| made.matches(what).count();
    assert_eq!((count(" lt v"), count(" uno v"), count("bnot")), (2, 2, 1), "{made}");
    agrees(text, 0, 0);
}

/// Of two factors that may be zero one asks at once.
#[test]
fn products_of_slopes_have_one_mask() {
    let text = "func f(xs: []Real) -> Real {
        n = length(xs)
        s = for i < n, s = 1.0, x in xs {
            m = n - i
            k = m - 1
            y = xs[k]
            a = mul_zero(x, y)
            u = s * 0.5
            v = u + a
            yield v
        }
        return s
    }
    entry f = f";
    let loops = crate::lower::lower(&program(text));
    let mut compiler = super::Compiler::new(&loops, Math::Strict).expect("there is a code generator");
    let made: String =
        loops.funcs.iter().map(|(id, func)| compiler.build(id, func).func.display().to_string()).collect();
    assert_eq!(made.matches("bor").count(), 1, "{made}");
    agrees(text, 0, 0);
}
