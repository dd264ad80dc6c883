//! Loops that go backward and may as well go onward, and reads at places where something was read before.

use expect_test::expect;

/// What the pass makes of the body of a function, and what tidies up after it.
fn check(body: &str, expected: &expect_test::Expect) {
    let text = format!(
        "func f(is: []Int, js: []Int, xs: []Real, ys: []Real, c: Bool) -> []Real {{ n = length(is) {body} }} entry f = f"
    );
    let mut program = wengert_ir::parse(&text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    crate::onward::run(&mut program);
    for name in ["cse", "dce"] {
        let pass = crate::PASSES.iter().find(|pass| pass.name == name).expect("there is such a pass");
        (pass.run)(&mut program);
    }
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    let text = wengert_ir::print(&program);
    let lines = text.lines().skip(1).take_while(|line| *line != "}");
    let body: Vec<&str> = lines.map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    expected.assert_eq(&format!("{}\n", body.join("\n")));
}

/// A loop that adds the elements at some places to an array.
fn adding(places: &str, from: &str) -> String {
    format!(
        "r = each backward i3 < n, a += zeros, k in {places} {{ x = {from}[k] b = a with [k] += x yield b }} return r"
    )
}

#[test]
fn what_was_read_in_one_loop_is_there_in_another() {
    check(
        &format!("zeros = zeros(xs) each i < n, k in is {{ x = xs[k] }} {}", adding("is", "xs")),
        &expect![[r#"
              n = length(is)
              zeros = zeros(xs)
              r = each i3 < n, a += zeros, k in is {
                x = xs[k]
                b = a with [k] += x
                yield b
              }
              return r
        "#]],
    );
}

#[test]
fn what_may_fail_later_stays_backward() {
    let adding = adding("is", "xs");
    // Other places, another array, and what is looked for on one side of a branch only.
    for before in [
        "each i < n, k in js { x = xs[k] }",
        "each i < n, k in is { x = ys[k] }",
        "if c { each i < n, k in is { x = xs[k] } } else { }",
        "each i < n, k in is { if c { x = xs[k] } else { } }",
        "each i < n, k in is { l = k + 1 x = xs[l] }",
    ] {
        let text = format!(
            "func f(is: []Int, js: []Int, xs: []Real, ys: []Real, c: Bool) -> []Real {{ n = length(is) zeros = zeros(xs) {before} {adding} }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect(before);
        let shown = wengert_ir::print(&program);
        crate::onward::run(&mut program);
        assert_eq!(wengert_ir::print(&program), shown);
    }
}

#[test]
fn what_fails_in_between_keeps_its_place() {
    check(
        &format!(
            "zeros = zeros(xs) each i < n, k in is {{ x = xs[k] }} each i2 < n, k in js {{ y = ys[k] }} {}",
            adding("is", "xs")
        ),
        &expect![[r#"
              n = length(is)
              zeros = zeros(xs)
              each i < n, k in is {
                x = xs[k]
              }
              each i2 < n, k2 in js {
                y = ys[k2]
              }
              r = each i3 < n, a += zeros, k3 in is {
                x2 = xs[k3]
                b = a with [k3] += x2
                yield b
              }
              return r
        "#]],
    );
}

/// A loop that keeps what it finds at places that it computes, and one that goes backward with that.
const KEEPING: &str = "zeros = zeros(xs)
    ks, zs = each i < n, y in ys { k = floor(y) l = k + 1 x = xs[l] z = x * y yield k, z }
    r = each backward i3 < n, a += zeros, k2 in ks, z2 in zs {
      l2 = k2 + 1 x2 = xs[l2] u = x2 * z2 b = a with [l2] += u yield b
    }
    return r";

#[test]
fn what_is_kept_for_a_loop_backward_that_fails_nowhere_else_need_not_be() {
    check(
        KEEPING,
        &expect![[r#"
            n = length(is)
            zeros = zeros(xs)
            r = each i3 < n, a += zeros, y in ys {
              k = floor(y)
              l = k + 1
              x = xs[l]
              z = x * y
              u = x * z
              b = a with [l] += u
              yield b
            }
            return r
        "#]],
    );
    // So it is if the first one adds something up, too.
    let summing = KEEPING
        .replace("ks, zs = each i < n, y", "s, ks, zs = for i < n, s0 = 1.0, y")
        .replace("yield k, z", "s1 = z + s0 yield s1, k, z")
        .replace("return r", "v = r with [0] += s return v");
    check(
        &summing,
        &expect![[r#"
            n = length(is)
            zeros = zeros(xs)
            r, s = each i3 < n, a += zeros, s0 += 1.0, y in ys {
              k = floor(y)
              l = k + 1
              x = xs[l]
              z = x * y
              s1 = z + s0
              u = x * z
              b = a with [l] += u
              yield b, s1
            }
            v = r with [0] += s
            return v
        "#]],
    );
}

#[test]
fn what_is_kept_stays_if_the_loop_backward_may_fail_or_functions_are_computed() {
    for (from, to) in [
        ("l2 = k2 + 1", "l2 = k2 + 2"),
        ("x2 = xs[l2]", "x2 = ys[l2]"),
        ("z = x * y", "z = exp(x)"),
        ("u = x2 * z2", "v = sin(x2) u = v * z2"),
        ("yield k, z }", "yield k, z } q = ys[0] w = zs[0] require n == 7, rows"),
        ("r = each backward", "require n == 7, rows r = each backward"),
    ] {
        let body = KEEPING.replace(from, to);
        let text = format!(
            "func f(is: []Int, js: []Int, xs: []Real, ys: []Real, c: Bool) -> []Real {{ n = length(is) {body} }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        crate::onward::run(&mut program);
        let made = wengert_ir::print(&program);
        assert!(made.contains("ks, zs = each"), "{from} {to}: {made}");
    }
}

#[test]
fn what_is_kept_for_one_iteration_of_loops_around_loops_is_kept_no_longer() {
    // A value beside its gradient: of loops around loops, and of functions, whose rows are in nobody's way.
    check(
        "m = length(xs)
        t, tss, us = for i < n, s0 = 0.0, y in ys {
            v, ts = for j < m, v0 = 0.0, x in xs { a = x * y b = a * a v1 = v0 + b c = a + a yield v1, c }
            w = sin(v) d = cos(v) s1 = s0 + w
            yield s1, ts, d
        }
        zeros = zeros(xs)
        bars = each backward i2 < n, a2 += zeros, ts2 in tss, u in us, y2 in ys {
            bars2 = each backward j2 < m, a3 += a2, t2 in ts2 { e = t2 * u f = e * y2 a4 = a3 with [j2] += f yield a4 }
            yield bars2
        }
        g = bars with [0] += t
        return g",
        &expect![[r#"
            n = length(is)
            m = length(xs)
            zeros = zeros(xs)
            bars, t = each i2 < n, a2 += zeros, s0 += 0.0, y2 in ys {
              v, ts = for j < m, v0 = 0.0, x in xs {
                a = x * y2
                b = a * a
                v1 = v0 + b
                c2 = a + a
                yield v1, c2
              }
              w = sin(v)
              d = cos(v)
              s1 = s0 + w
              bars2 = each j2 < m, a3 += a2, t2 in ts {
                e = t2 * d
                f = e * y2
                a4 = a3 with [j2] += f
                yield a4
              }
              yield bars2, s1
            }
            g = bars with [0] += t
            return g
        "#]],
    );
    check(
        "s, cs = for i < n, s0 = 0.0, y in ys { a = sin(y) c = cos(y) s1 = s0 + a yield s1, c }
        t = s * 2.0
        gs = each i2 < n, c2 in cs { g = -c2 yield g }
        r = gs with [0] = t
        return r",
        &expect![[r#"
            n = length(is)
            s, gs = each i2 < n, s0 += 0.0, y in ys {
              a = sin(y)
              c2 = cos(y)
              s1 = s0 + a
              g = -c2
              yield s1, g
            }
            t = s * 2.0
            r = gs with [0] = t
            return r
        "#]],
    );
}
