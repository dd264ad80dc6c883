//! Loops that do something in some of their iterations only.

use expect_test::{Expect, expect};

/// The loop inside of one over `k < n`, as a program.
fn program(inner: &str) -> String {
    format!(
        "func f(n: Int, m: Int, p: Bool, a: []Real, x: Real) -> Real {{ y = for k < n, s = x {{ {inner} yield t }} return y }} entry f = f"
    )
}

/// What stands in the outer loop after the pass.
fn after(inner: &str) -> String {
    made(inner, crate::within::run)
}

fn made(inner: &str, pass: fn(&mut wengert_ir::Program)) -> String {
    let mut program = wengert_ir::parse(&program(inner)).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{inner}");
    pass(&mut program);
    let text = wengert_ir::print(&program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    let lines = text.lines().skip(2).take_while(|line| !line.starts_with("    yield"));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

fn check(inner: &str, expected: &Expect) {
    expected.assert_eq(&after(inner));
}

/// Nothing is done.
fn stays(inner: &str) {
    let as_it_was = inner.replace(" yield", "\nyield");
    let text = after(&as_it_was);
    assert!(text.contains("i < n") && text.contains("if c {"), "{text}");
}

#[test]
fn a_loop_goes_through_the_iterations_in_which_something_is_done() {
    check(
        "t = for i < n, u = s, b in a { c = k < i v = if c { w = sin(b) z = u * w yield z } else { yield u } yield v }",
        &expect![[r#"
            t = k + 1
            t2 = n - t
            t3 = for i < t2, u = s {
              i2 = i + t
              b = a[i2]
              c = k < i2
              w = sin(b)
              z = u * w
              yield z
            }
        "#]],
    );
    // The other way round, and from the last to the first.
    check(
        "t = for backward i < n, u = s { c = i < k v = if c { yield u } else { w = u * u yield w } yield v }",
        &expect![[r#"
            t = n - k
            t2 = for backward i < t, u = s {
              i2 = i + k
              c = i2 < k
              w = u * u
              yield w
            }
        "#]],
    );
    check(
        "t = for i < n, u = s { l = k + 1 c = i < l v = if c { w = u * u yield w } else { yield u } yield v }",
        &expect![[r#"
            t = k + 1
            t2 = for i < t, u = s {
              l = k + 1
              c = i < l
              w = u * u
              yield w
            }
        "#]],
    );
    check(
        "t = for i < n, u = s { c = i == k v = if c { w = a[i] yield w } else { yield u } yield v }",
        &expect![[r#"
            t = for i < 1, u = s {
              i2 = i + k
              c = i2 == k
              w = a[i2]
              yield w
            }
        "#]],
    );
    // Of several values some are handed on on both sides, and sums are as they were where nothing is added.
    check(
        "q, r, t = for i < n, u = s, o = x, e += 0.0 {
            c = i <= k d = not(c)
            v, g = if d { w = u * o h = e + w yield w, h } else { yield u, e }
            yield v, o, g }",
        &expect![[r#"
            t = k + 1
            t2 = n - t
            q, r, t3 = for i < t2, u = s, o = x, e += 0.0 {
              i2 = i + t
              c = i2 <= k
              d = not(c)
              w = u * o
              h = e + w
              yield w, o, h
            }
        "#]],
    );
    // What else is asked is asked still.
    check(
        "t = for i < n, u = s { d = i > k c = select(d, p, false) v = if c { w = u * u yield w } else { yield u } yield v }",
        &expect![[r#"
            t = k + 1
            t2 = n - t
            t3 = for i < t2, u = s {
              i2 = i + t
              d = i2 > k
              c = select(d, p, false)
              v = if c {
                w = u * u
                yield w
              } else {
                yield u
              }
              yield v
            }
        "#]],
    );
}

#[test]
fn loops_stay_where_more_is_done_or_the_bound_may_lie_beyond() {
    let body = "c = i > k v = if c { w = u * u yield w } else { yield u } yield v";
    // Other bounds: as many iterations are not known, nor that it is none or all.
    for from in
        ["c = i > m", "l = k + 2 c = i >= l", "l = k - 1 c = i >= l", "c = i != k", "l = k + 1 c = i == l"]
    {
        stays(&format!("t = for i < n, u = s {{ {} }}", body.replacen("c = i > k", from, 1)));
    }
    // Something else is done, may fail, or is given for each iteration.
    stays(
        "t = for i < n, u = s { c = i > k v = if c { w = u * u yield w } else { w2 = u + 1.0 yield w2 } yield v }",
    );
    stays("t = for i < n, u = s { c = i > k v = if c { w = u * u yield w } else { yield x } yield v }");
    stays(
        "t = for i < n, u = s { o = a[i] c = i > k v = if c { w = u * o yield w } else { yield u } yield v }",
    );
    stays("t, o = for i < n, u = s { c = i > k v = if c { w = u * u yield w } else { yield u } yield v, u }");
    stays(
        "t = for i < n, u = s { c = i > k v = if c { w = u * u yield w } else { yield u } e = v + 1.0 yield e }",
    );
    // A loop around with other indices.
    let text = after(&format!("t = for i < m, u = s {{ {body} }}"));
    assert!(text.contains("i < m") && text.contains("if c {"), "{text}");
}

#[test]
fn nothing_is_added_where_a_sum_is_what_it_was_when_no_more_derivatives_are_made() {
    let sum = "u = for i < n, v = 0.0 {
        c = k < i
        w = if c { o = a[i] q = o * o yield q } else { yield 0.0 }
        v2 = v + w
        yield v2
    }
    t = s + u";
    let text = after(sum);
    assert!(text.contains("if c {"), "{text}");
    expect![[r#"
        t = k + 1
        t2 = n - t
        u = for i < t2, v = 0.0 {
          i2 = i + t
          c = k < i2
          o = a[i2]
          q = o * o
          v2 = v + q
          yield v2
        }
        t3 = s + u
    "#]]
    .assert_eq(&made(sum, crate::within::with_sums));
    // A sum that begins with something else may be -0, and a number may come to it on the other side.
    for (from, to) in [("v = 0.0", "v = x"), ("yield 0.0", "yield x"), ("v + w", "v - w")] {
        let text = made(&sum.replace(from, to), crate::within::with_sums);
        assert!(text.contains("i < n") && text.contains("if c {"), "{text}");
    }
}

/// The same when no more derivatives are made, of a sum of what is computed where a condition holds.
fn window(condition: &str) -> String {
    let inner = format!(
        "l = length(a) t = for i < l, u = 0.0, z in a {{ {condition} v = if c {{ w = z * x yield w }} else {{ yield 0.0 }} o = u + v yield o }}"
    );
    made(&inner, crate::within::with_sums)
}

#[test]
fn a_condition_on_the_index_becomes_bounds() {
    // As in a convolution; with a number that may be anything; equal to something.
    expect![[r#"
        l = length(a)
        t = 1 + k
        t2 = t - l
        t3 = max(0, t2)
        t4 = min(l, t)
        t5 = t4 - t3
        t6 = max(0, t5)
        t7 = for i < t6, u = 0.0 {
          i2 = i + t3
          z = a[i2]
          w = z * x
          o = u + w
          yield o
        }
    "#]]
    .assert_eq(&window("d = k - i e = d >= 0 g = d < l c = select(e, g, false)"));
    expect![[r#"
        l = length(a)
        t = max(m, -4503599627370496)
        t2 = min(t, 4503599627370496)
        t3 = 1 + t2
        t4 = max(0, t3)
        t5 = max(t4, t2)
        t6 = l - t5
        t7 = max(0, t6)
        t8 = for i < t7, u = 0.0 {
          i2 = i + t5
          z = a[i2]
          w = z * x
          o = u + w
          yield o
        }
    "#]]
    .assert_eq(&window("e = i > m g = m <= i c = select(e, g, false)"));
    expect![[r#"
        l = length(a)
        t = -3 + k
        t2 = max(0, t)
        t3 = -2 + k
        t4 = min(l, t3)
        t5 = t4 - t2
        t6 = max(0, t5)
        t7 = for i < t6, u = 0.0 {
          i2 = i + t2
          z = a[i2]
          w = z * x
          o = u + w
          yield o
        }
    "#]]
    .assert_eq(&window("d = i + 3 c = d == k"));
}

#[test]
fn other_conditions_stay() {
    // A sum that may wrap, another product, something that changes, not equal, one of two, something else.
    for condition in [
        "d = i + m c = d < k",
        "d = i * 2 c = d < k",
        "d = i - i e = d < k q = i + k g = q < i c = select(e, g, false)",
        "c = i != k",
        "e = i > k g = i < 2 c = select(e, true, g)",
        "e = i > k c = select(e, p, false)",
    ] {
        let text = window(condition);
        assert!(text.contains("i < l") && text.contains("if c {"), "{text}");
    }
}
