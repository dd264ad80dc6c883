//! Loops that do nothing where a cotangent is zero.

use expect_test::expect;

/// A loop that goes backward through a table, as a program.
fn program(body: &str) -> String {
    format!(
        "func f(n: Int, m: Int, a: [][]Real, w: []Real) -> ([][]Real, Real, []Real) {{ r, q, s = for backward j < n, b = a, e += 0.0, c += w, x in w {{ {body} }} return r, q, s }} entry f = f"
    )
}

/// What stands in the loop after the pass.
fn after(body: &str) -> String {
    let mut program = wengert_ir::parse(&program(body)).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{body}");
    crate::idle::run(&mut program);
    let text = wengert_ir::print(&program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    let lines = text.lines().skip(2).take_while(|line| !line.starts_with("  }"));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

const STEP: &str = "k = j + 1 t = b[m, k] b2 = b with [m, k] = 0.0 u = mul_zero(t, x)";

#[test]
fn an_iteration_does_nothing_where_the_cotangent_is_zero() {
    let text = after(&format!(
        "{STEP} l = m - 1 b3 = b2 with [l, j] += u v = t - u e2 = e + v c2 = c with [j] += v b4 = b3 with [m, j] += v yield b4, e2, c2"
    ));
    expect![[r#"
        k = j + 1
        t = b[m, k]
        some = t != 0.0
        b4, e2, c2 = if some {
          b2 = b with [m, k] = 0.0
          u = mul_zero(t, x)
          l = m - 1
          b3 = b2 with [l, j] += u
          v = t - u
          e2_2 = e + v
          c2_2 = c with [j] += v
          b4_2 = b3 with [m, j] += v
          yield b4_2, e2_2, c2_2
        } else {
          l2 = m - 1
          t2 = b[l2, j]
          t3 = b[m, j]
          yield b, e, c
        }
        yield b4, e2, c2
    "#]]
    .assert_eq(&text);
}

#[test]
fn what_follows_a_branch_is_done_on_the_side_that_gives_no_zero() {
    let text = after(
        "p = x > 0.0 k = j + 1 t = b[m, k] b2 = b with [m, k] = 0.0
         v, b3 = if p { yield t, b2 } else { d = b2 with [m, k] += t yield 0.0, d }
         b4 = b3 with [m, 0] += v b5 = b4 with [0, j] += v yield b5, e, c",
    );
    expect![[r#"
        p = x > 0.0
        k = j + 1
        t = b[m, k]
        some = t != 0.0
        b5, e2, c2 = if some {
          b2 = b with [m, k] = 0.0
          b5_2, e3, c3 = if p {
            b4 = b2 with [m, 0] += t
            b5_3 = b4 with [0, j] += t
            yield b5_3, e, c
          } else {
            d = b2 with [m, k] += t
            t2 = d[m, 0]
            t3 = d[0, j]
            yield d, e, c
          }
          yield b5_2, e3, c3
        } else {
          t4 = b[m, 0]
          t5 = b[0, j]
          yield b, e, c
        }
        yield b5, e2, c2
    "#]]
    .assert_eq(&text);
}

/// Places are looked at on the sides of branches, too, and only there.
#[test]
fn what_may_fail_is_asked_still() {
    let text = after(&format!(
        "{STEP} p = j == 0 b3 = if p {{ l = m - 1 d = b2 with [l, k] += u yield d }} else {{ l = j - 1 d = b2 with [m, l] += u d2 = d with [m, j] += t yield d2 }} c2 = c with [m] += u yield b3, e, c2"
    ));
    expect![[r#"
        k = j + 1
        t = b[m, k]
        some = t != 0.0
        b3, e2, c2 = if some {
          b2 = b with [m, k] = 0.0
          u = mul_zero(t, x)
          p = j == 0
          b3_2 = if p {
            l = m - 1
            d = b2 with [l, k] += u
            yield d
          } else {
            l2 = j - 1
            d2 = b2 with [m, l2] += u
            d2_2 = d2 with [m, j] += t
            yield d2_2
          }
          c2_2 = c with [m] += u
          yield b3_2, e, c2_2
        } else {
          p2 = j == 0
          if p2 {
            l3 = m - 1
            t2 = b[l3, k]
          } else {
            l4 = j - 1
            t3 = b[m, l4]
            t4 = b[m, j]
          }
          c3 = c with [m] += 0.0
          yield b, e, c3
        }
        yield b3, e2, c2
    "#]]
    .assert_eq(&text);
}

#[test]
fn iterations_stay_that_do_not_wait_or_do_something_with_zeros() {
    for rest in [
        // Nothing of what others read is updated: in this column nobody else reads; elsewhere nobody reads at all.
        "l = m - 1 b3 = b2 with [l, k] += u v = u * 2.0 e2 = e + v yield b3, e2, c",
        "v = u * 2.0 e2 = e + v c2 = c with [j] += u yield b2, e2, c2",
        // It is added that is not zero: a function of zero, an ordinary product, what another element is.
        "b3 = b2 with [m, j] += u v = cos(t) e2 = e + v yield b3, e2, c",
        "b3 = b2 with [m, j] += u v = t * x e2 = e + v yield b3, e2, c",
        "b3 = b2 with [m, j] += u v = t + x e2 = e + v yield b3, e2, c",
        "v = x / t b3 = b2 with [m, j] += v e2 = e + u yield b3, e2, c",
        "b3 = b2 with [m, j] += x e2 = e + u v = e2 - u yield b3, v, c",
        // Another element is set, or one to something else.
        "b3 = b2 with [m, j] = 0.0 e2 = e + u b4 = b3 with [m, 0] += u yield b4, e2, c",
        "b3 = b2 with [m, k] = 1.0 e2 = e + u b4 = b3 with [m, 0] += u yield b4, e2, c",
        // What all iterations add to one element is a sum.
        "b3 = b2 with [m, 0] += u b4 = b3 with [0, k] += u v = u * 2.0 e2 = e + v yield b4, e2, c",
        // One side of a branch does something.
        "p = x > 0.0 b3 = if p { d = b2 with [m, j] += u yield d } else { d = b2 with [m, j] += x yield d } e2 = e + u yield b3, e2, c",
        // It is less work than to ask.
        "b3 = b2 with [m, j] += t yield b3, e, c",
    ] {
        let body = format!("{STEP} {rest}");
        let mut before = wengert_ir::parse(&program(&body)).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&before), Ok(()), "{body}");
        assert!(!crate::idle::run(&mut before), "{}", wengert_ir::print(&before));
    }
}
