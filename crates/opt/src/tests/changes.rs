//! Arrays that loops hand on and change.

use super::check;
use expect_test::expect;
use wengert_ir::Program;

/// A loop that hands a matrix on, as a program.
fn program(body: &str) -> String {
    format!(
        "func f(n: Int, p: Bool, a: [][]Real) -> [][]Real {{ y = for k < n, m = a {{ {body} yield t }} return y }} entry f = f"
    )
}

/// Nothing is done.
fn stays(body: &str) {
    let text = program(body);
    let mut program: Program = wengert_ir::parse(&text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    let before = wengert_ir::print(&program);
    assert!(!crate::changes::run(&mut program), "{}", wengert_ir::print(&program));
    assert_eq!(wengert_ir::print(&program), before);
}

/// What is done with such a program.
fn changed(body: &str) -> String {
    let mut program: Program = wengert_ir::parse(&program(body)).expect("the text is a program");
    assert!(crate::changes::run(&mut program), "{body}");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{}", wengert_ir::print(&program));
    wengert_ir::print(&program)
}

#[test]
fn a_step_of_elimination_changes_the_rows_below() {
    check(
        "changes",
        "func f(a: [][]Real) -> [][]Real {
            n = length(a)
            w = length(a, 1)
            y = for k < n, m = a {
                t = each i < n, r in m {
                    c = i <= k
                    z = if c { yield r } else {
                        x = r[k]
                        p = m[k, k]
                        q = x / p
                        row = each j < w, e in r { g = m[k, j] h = q * g d = e - h yield d }
                        yield row
                    }
                    yield z
                }
                yield t
            }
            return y
        }
        entry f = f",
        &expect![[r#"
            func f(a: [][]Real) -> [][]Real {
              n = length(a)
              w = length(a, 1)
              y = for k < n, m = a {
                m2 = for i < n, m3 = m {
                  c = i <= k
                  m4 = if c {
                    yield m3
                  } else {
                    x = m3[i, k]
                    p = m3[k, k]
                    q = x / p
                    m5 = for j < w, m6 = m3 {
                      e = m6[i, j]
                      g = m6[k, j]
                      h = q * g
                      d = e - h
                      m7 = m6 with [i, j] = d
                      yield m7
                    }
                    yield m5
                  }
                  yield m4
                }
                t = m2
                yield t
              }
              return y
            }

            entry f = f
        "#]],
    );
}

#[test]
fn one_condition_for_rows_and_columns() {
    // The condition on the row is asked before the columns are gone through. What the columns are is asked before all.
    check(
        "changes",
        "func f(a: [][]Real) -> [][]Real {
            n = length(a)
            y = for k < n, m = a {
                t = each i < n {
                    b = i > k
                    row = each j < n {
                        c = j > k
                        d = select(b, c, false)
                        z = if d { x = m[i, j] u = m[i, k] v = m[k, j] w = u * v s = x - w yield s } else { o = m[i, j] yield o }
                        yield z
                    }
                    yield row
                }
                yield t
            }
            return y
        }
        entry f = f",
        &expect![[r#"
            func f(a: [][]Real) -> [][]Real {
              n = length(a)
              n2 = length(a, 1)
              same = n2 == n
              y = if same {
                y2 = for k < n, m = a {
                  m2 = for i < n, m3 = m {
                    b = i > k
                    m4 = if b {
                      u = m3[i, k]
                      m5 = for j < n, m6 = m3 {
                        c = j > k
                        d = select(b, c, false)
                        m7 = if c {
                          x = m6[i, j]
                          v = m6[k, j]
                          w = u * v
                          s = x - w
                          m8 = m6 with [i, j] = s
                          yield m8
                        } else {
                          yield m6
                        }
                        yield m7
                      }
                      yield m5
                    } else {
                      yield m3
                    }
                    yield m4
                  }
                  t = m2
                  yield t
                }
                yield y2
              } else {
                y3 = for k2 < n, m9 = a {
                  t2 = each i2 < n {
                    b2 = i2 > k2
                    row = each j2 < n {
                      c2 = j2 > k2
                      d2 = select(b2, c2, false)
                      z = if d2 {
                        x2 = m9[i2, j2]
                        u2 = m9[i2, k2]
                        v2 = m9[k2, j2]
                        w2 = u2 * v2
                        s2 = x2 - w2
                        yield s2
                      } else {
                        o = m9[i2, j2]
                        yield o
                      }
                      yield z
                    }
                    yield row
                  }
                  yield t2
                }
                yield y3
              }
              return y
            }

            entry f = f
        "#]],
    );
}

#[test]
fn rows_that_are_taken_before_are_read_where_they_are() {
    let text = changed(
        "w = length(m, 1) q = m[k] t = each i < n, r in m { c = i > k z = if c {
            row = each j < w, e in r, g in q { d = e - g yield d } yield row } else { yield r } yield z }",
    );
    assert!(text.contains("[k, j]"), "{text}");
}

#[test]
fn what_is_read_must_be_there_still() {
    let step = |condition: &str, read: &str| {
        format!(
            "w = length(m, 1) l = k - 1 o = k + 1 t = each i < n, r in m {{ h = i - 1 c = {condition} z = if c {{
                row = each j < w, e in r {{ g = {read} d = e - g yield d }} yield row }} else {{ yield r }} yield z }}"
        )
    };
    // A row that stays, an element of the row itself.
    for (condition, read) in
        [("i > k", "m[k, j]"), ("i > k", "m[l, j]"), ("i > k", "m[i, j]"), ("i < k", "m[o, j]")]
    {
        changed(&step(condition, read));
    }
    // A row that was changed before, or may have been.
    for (condition, read) in [
        ("i > k", "m[h, j]"),
        ("i > k", "m[o, j]"),
        ("i >= k", "m[k, j]"),
        ("i > k", "m[j, k]"),
        ("i > k", "m[i, k]"),
        ("i != k", "m[l, j]"),
        ("p", "m[k, j]"),
    ] {
        stays(&step(condition, read));
    }
}

#[test]
fn what_else_needs_the_array_keeps_it() {
    let step = |before: &str, after: &str| {
        format!(
            "w = length(m, 1) {before} t = each i < n, r in m {{ c = i > k z = if c {{
                row = each j < w, e in r {{ d = -e yield d }} yield row }} else {{ yield r }} yield z }} {after}"
        )
    };
    changed(&step("s = transpose(m)", "u = reverse(t)"));
    stays(&step("", "u = m[n] v = sum(u)"));
    // A row that stays is there afterwards.
    changed(&step("q = m[k]", "u = q[k] v = m[k, 0] s = sum(q)"));
    // Another one is kept as it was.
    assert!(changed(&step("l = k + 1 q = m[l]", "u = q[k]")).contains("q[k]"));
    // Every row is another one, or the rows have another size.
    stays("t = each i < n, r in m { yield r }");
    stays(
        "w = length(m, 1) t = each i < n, r in m { row = each j < w, e in r { d = -e yield d } yield row }",
    );
    stays(
        "t = each i < n, r in m { c = i > k z = if c { s = reverse(r) u = concat(s, s) yield u } else { yield r } yield z }",
    );
}

#[test]
fn what_does_not_pay_stays() {
    let rows = |condition: &str, made: &str| {
        format!(
            "w = length(m, 1) t = each i < n, r in m {{ c = {condition} z = if c {{
                row = each j < w, e in r {{ {made} yield d }} yield row }} else {{ yield r }} yield z }}"
        )
    };
    // What is the same in all rows is computed once for them.
    changed(&rows("i > k", "g = m[k, j] h = g * e s = sin(h) d = e - s"));
    stays(&rows("i > k", "g = m[k, j] s = sin(g) d = e - s"));
    // One row that stays is no more than one that is copied.
    stays(&rows("i != k", "g = m[k, j] d = e - g"));
    // Of elements one bound is asked, not more.
    let elements = |condition: &str| {
        format!(
            "w = length(m, 1) t = each i < n, r in m {{ b = i > k row = each j < w, e in r {{
                l = j <= i q = e > 0.0 a = j > k {condition} z = if c {{ d = e * 2.0 yield d }} else {{ yield e }} yield z }} yield row }}"
        )
    };
    changed(&elements("c = select(b, a, false)"));
    stays(&elements("c = select(a, l, false)"));
    stays(&elements("c = select(a, q, false)"));
}

#[test]
fn what_is_set_to_itself_and_more_is_added_to() {
    let text = r"
        func f(xs: []Real, ws: [][]Real, r: []Real, k: Int, z: Real) -> ([]Real, [][]Real, []Real) {
            x = xs[k]
            y = z + x
            ys = xs with [k] = y
            row = ws[k]
            n = length(ws, 1)
            m = length(r)
            require n == m, shape add
            sum = row + r
            vs = ws with [k] = sum
            x2 = ys[0]
            y2 = x2 + z
            zs = ys with [k] = y2
            return zs, vs, xs
        }
        entry f = f";
    check(
        "changes",
        text,
        &expect![[r#"
        func f(xs: []Real, ws: [][]Real, r: []Real, k: Int, z: Real) -> ([]Real, [][]Real, []Real) {
          x = xs[k]
          y = z + x
          ys = xs with [k] += z
          row = ws[k]
          n = length(ws, 1)
          m = length(r)
          require n == m, shape add
          sum = row + r
          vs = ws with [k] += r
          x2 = ys[0]
          y2 = x2 + z
          zs = ys with [k] = y2
          return zs, vs, xs
        }

        entry f = f
    "#]],
    );
}
