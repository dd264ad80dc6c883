//! Long loops around short ones, turned inside out.

use super::slopes::check_relaxed;
use expect_test::expect;

/// The program, and whether something was turned.
fn turned(text: &str) -> (String, bool) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before:\n{text}");
    let changed = crate::turned::run(&mut program);
    let printed = wengert_ir::print(&program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{printed}");
    (printed, changed)
}

#[test]
fn a_long_loop_around_short_ones_is_turned_inside_out() {
    check_relaxed(
        "func f(ws: []Real, xs: []Real) -> []Real {
            k = length(ws)
            l = length(xs)
            n = l - k
            ys = each i < n {
                s = for j < k, s2 = 0.0, w in ws {
                    p = i + j
                    x = xs[p]
                    t = w * x
                    s3 = s2 + t
                    yield s3
                }
                y = exp(s)
                yield y
            }
            return ys
        }
        entry f = f",
        &expect![[r#"
            func f(ws: []Real, xs: []Real) -> []Real {
              k = length(ws)
              l = length(xs)
              n = l - k
              c = n >= 32
              i = 48 - k
              c2 = i >= 0
              c3 = select(c, c2, false)
              ys = if c3 {
                i2 = n + 1023
                blocks = i2 / 1024
                made = replicate(n, -0.0)
                ys2 = each b < blocks, made2 += made {
                  first = b * 1024
                  i3 = n - first
                  m = min(i3, 1024)
                  same = replicate(m, 0.0)
                  s = each j < k, s2 += same, w in ws {
                    i4 = j + first
                    s3 = each i5 < m, s2_2 += s2 {
                      i6 = i5 + i4
                      x = xs[i6]
                      t = w * x
                      s3_2 = s2_2 with [i5] += t
                      yield s3_2
                    }
                    yield s3
                  }
                  y = each i7 < m, s4 in s {
                    y2 = exp(s4)
                    yield y2
                  }
                  made3 = each i8 < m, made4 += made2, x2 in y {
                    i9 = first + i8
                    made5 = made4 with [i9] += x2
                    yield made5
                  }
                  yield made3
                }
                yield ys2
              } else {
                ys3 = each i10 < n {
                  s5 = for j2 < k, s2_3 = 0.0, w2 in ws {
                    p = i10 + j2
                    x3 = xs[p]
                    t2 = w2 * x3
                    s3_3 = s2_3 + t2
                    yield s3_3
                  }
                  y3 = exp(s5)
                  yield y3
                }
                yield ys3
              }
              return ys
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_the_steps_of_short_loops_leave_is_kept_for_a_piece() {
    check_relaxed(
        "func f(cs: []Real, xs: []Real, b: []Real) -> ([]Real, []Real) {
            k = length(cs)
            n = length(xs)
            l = length(b)
            b2, ys = each backward i < n, a += b, x in xs {
                s, before = for j < k, s2 = 1.0, c in cs {
                    t = s2 * x
                    s3 = t + c
                    yield s3, s2
                }
                x_bar, a2 = for backward j2 < k, s_bar = s, a3 += a, r in before {
                    t_bar = s_bar * x
                    a4 = a3 with [j2] += s_bar
                    u = t_bar * r
                    yield u, a4
                }
                yield a2, x_bar
            }
            return b2, ys
        }
        entry f = f",
        &expect![[r#"
            func f(cs: []Real, xs: []Real, b: []Real) -> ([]Real, []Real) {
              k = length(cs)
              n = length(xs)
              l = length(b)
              c = n >= 32
              i = l - k
              c2 = i >= 0
              c3 = select(c, c2, false)
              b2, ys = if c3 {
                i2 = n + 127
                blocks = i2 / 128
                made = replicate(n, -0.0)
                b2_2, ys2 = each backward b3 < blocks, a += b, made2 += made {
                  first = b3 * 128
                  i3 = n - first
                  m = min(i3, 128)
                  same = replicate(m, 1.0)
                  s, before = for j < k, s2 = same, c4 in cs {
                    s3 = each i4 < m, s2_2 in s2 {
                      i5 = i4 + first
                      x = xs[i5]
                      t = s2_2 * x
                      s3_2 = t + c4
                      yield s3_2
                    }
                    yield s3, s2
                  }
                  x_bar, a2 = for backward j2 < k, s_bar = s, a3 += a, r in before {
                    a4, u = each i6 < m, a3_2 += a3, s_bar2 in s_bar, r2 in r {
                      i7 = i6 + first
                      x2 = xs[i7]
                      t_bar = s_bar2 * x2
                      a4_2 = a3_2 with [j2] += s_bar2
                      u2 = t_bar * r2
                      yield a4_2, u2
                    }
                    yield u, a4
                  }
                  made3 = each i8 < m, made4 += made2, x3 in x_bar {
                    i9 = first + i8
                    made5 = made4 with [i9] += x3
                    yield made5
                  }
                  yield a2, made3
                }
                yield b2_2, ys2
              } else {
                b2_3, ys3 = each backward i10 < n, a5 += b, x4 in xs {
                  s4, before2 = for j3 < k, s2_3 = 1.0, c5 in cs {
                    t2 = s2_3 * x4
                    s3_3 = t2 + c5
                    yield s3_3, s2_3
                  }
                  x_bar2, a2_2 = for backward j2_2 < k, s_bar3 = s4, a3_3 += a5, r3 in before2 {
                    t_bar2 = s_bar3 * x4
                    a4_3 = a3_3 with [j2_2] += s_bar3
                    u3 = t_bar2 * r3
                    yield u3, a4_3
                  }
                  yield a2_2, x_bar2
                }
                yield b2_3, ys3
              }
              return b2, ys
            }

            entry f = f
        "#]],
    );
}

/// A loop over `xs` around one over `ws` with this body, which adds `t`.
fn around(len: &str, short: &str, body: &str) -> String {
    format!(
        "func f(ws: []Real, xs: []Real, rows: [][]Real, k: Int, n: Int) -> Real {{
            m = length(xs)
            m2 = length(ws)
            m3 = length(rows)
            m4 = length(rows, 1)
            s = for i < {len}, s2 = 0.0 {{
                t2 = for j < {short}, t3 = 0.0 {{ {body} t4 = t3 + t yield t4 }}
                u = t2 * t2
                s3 = s2 + u
                yield s3
            }}
            return s
        }}
        entry f = f"
    )
}

#[test]
fn loops_that_gain_nothing_or_may_fail_stay() {
    let near = "p = i + j x = xs[p] w = ws[j] t = w * x";
    for (len, short, body, expected) in [
        ("n", "k", near, true),
        ("n", "48", near, true),
        ("32", "k", near, true),
        // Long ones inside are vectors themselves; short ones outside would be none.
        ("n", "49", near, false),
        ("31", "k", near, false),
        // What is read lies far apart, or where only running tells.
        ("n", "k", "r = rows[i] t = r[j]", false),
        ("n", "k", "t = rows[i, j]", false),
        ("n", "k", "t = rows[j, i]", true),
        ("n", "k", "p = i * j t = xs[p]", false),
        ("n", "k", "p = i * 4 t = xs[p]", true),
        ("n", "k", "p = i * 5 t = xs[p]", false),
        ("n", "k", "p = k - i t = xs[p]", false),
        // Whether it is there is not known before.
        ("n", "k", "r = ws[j] p = floor(r) t = xs[p]", false),
        ("n", "k", "t5 = ws[j] d = k / j w = real(d) t = t5 * w", false),
    ] {
        let text = around(len, short, body);
        let parsed = wengert_ir::parse(&text);
        assert!(parsed.is_ok(), "{text}: {parsed:?}");
        let (printed, changed) = turned(&text);
        assert_eq!(changed, expected, "{printed}");
    }
}

#[test]
fn what_short_loops_add_to_a_number_is_added_to_it_last() {
    check_relaxed(
        "func f(n: Int, x: Real) -> Real {
            s = each i < n, a += 1.0 {
                y = real(i)
                z = 2.0 + y
                a2 = a + y
                z2, a3 = for j < 6, z3 = z, b += a2 { t = x / z3 b2 = b + t z4 = z3 + t yield z4, b2 }
                a4 = a3 + z2
                a5 = each j2 < 3, c += a4 { u = y * z2 c2 = c + u yield c2 }
                yield a5
            }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, x: Real) -> Real {
              c = n >= 32
              s = if c {
                i = n + 1023
                blocks = i / 1024
                s2 = each b < blocks, a += 1.0 {
                  first = b * 1024
                  i2 = n - first
                  m = min(i2, 1024)
                  y, z = each i3 < m {
                    i4 = first + i3
                    y2 = real(i4)
                    z2 = 2.0 + y2
                    yield y2, z2
                  }
                  same = replicate(m, -0.0)
                  z2_2, a3 = for j < 6, z3 = z, b2 += same {
                    b2_2, z4 = each i5 < m, b3 += b2, z3_2 in z3 {
                      t = x / z3_2
                      b2_3 = b3 with [i5] += t
                      z4_2 = z3_2 + t
                      yield b2_3, z4_2
                    }
                    yield z4, b2_2
                  }
                  same2 = replicate(m, -0.0)
                  a5 = each j2 < 3, c2 += same2 {
                    c2_2 = each i6 < m, c3 += c2, y3 in y, z2_3 in z2_2 {
                      u = y3 * z2_3
                      c2_3 = c3 with [i6] += u
                      yield c2_3
                    }
                    yield c2_2
                  }
                  a2 = each i7 < m, a4 += a, y4 in y, z2_4 in z2_2, a3_2 in a3, a5_2 in a5 {
                    a2_2 = a4 + y4
                    a3_3 = a2_2 + a3_2
                    a4_2 = a3_3 + z2_4
                    a5_3 = a4_2 + a5_2
                    yield a5_3
                  }
                  yield a2
                }
                yield s2
              } else {
                s3 = each i8 < n, a6 += 1.0 {
                  y5 = real(i8)
                  z5 = 2.0 + y5
                  z2_5, a3_4 = for j3 < 6, z3_3 = z5, b4 += -0.0 {
                    t2 = x / z3_3
                    b2_4 = b4 + t2
                    z4_3 = z3_3 + t2
                    yield z4_3, b2_4
                  }
                  u2 = y5 * z2_5
                  a5_4 = each j2_2 < 3, c4 += -0.0 {
                    c2_4 = c4 + u2
                    yield c2_4
                  }
                  a2_3 = a6 + y5
                  a3_5 = a2_3 + a3_4
                  a4_3 = a3_5 + z2_5
                  a5_5 = a4_3 + a5_4
                  yield a5_5
                }
                yield s3
              }
              return s
            }

            entry f = f
        "#]],
    );
    // Somebody looks at what it is between them.
    let text = "func f(n: Int, x: Real) -> Real {
        s = for i < n, a = 1.0 {
            a2 = for j < 6, b = a { b2 = b + x yield b2 }
            a3 = a2 * x
            yield a3
        }
        return s
    } entry f = f";
    assert!(!turned(text).1);
}

#[test]
fn numbers_that_others_look_at_inside_stay() {
    // The sum so far is needed in each iteration: it has no end before the next one begins.
    let text = "func f(ws: []Real, n: Int) -> Real {
        k = length(ws)
        s = for i < n, s2 = 0.0 {
            t = for j < k, t2 = s2, w in ws { t3 = t2 * w yield t3 }
            s3 = s2 + t
            yield s3
        }
        return s
    } entry f = f";
    assert!(!turned(text).1);
    // Elements are added to in the same array by both: it is one array that goes from one loop to the other.
    let text = "func f(ws: []Real, b: []Real, n: Int) -> []Real {
        k = length(ws)
        l = length(b)
        b2 = each i < n, a += b {
            a2 = each j < k, a3 += a, w in ws { p = i + j a4 = a3 with [p] += w yield a4 }
            x = real(i)
            a5 = a2 with [i] += x
            yield a5
        }
        return b2
    } entry f = f";
    let (printed, changed) = turned(text);
    assert!(changed && printed.matches("a2 +=").count() <= 2, "{printed}");
}

#[test]
fn what_goes_down_columns_is_turned_however_long_it_is() {
    let program = |read: &str| {
        format!(
            "func f(m: [][]Real, ws: []Real) -> []Real {{
                k = length(ws)
                n = length(m)
                l = length(m, 1)
                ys = each i < l {{ s = for j < n, s2 = 0.0, row in m {{ {read} s3 = s2 + x yield s3 }} yield s }}
                return ys
            }} entry f = f"
        )
    };
    let (down, changed) = turned(&program("x = row[i]"));
    assert!(changed && down.contains("l >= 8") && !down.contains("48"), "{down}");
    let (down, changed) = turned(&program("x = m[j, i]"));
    assert!(changed && down.contains("l >= 8") && !down.contains("48"), "{down}");
    // What lies side by side makes vectors as it is, if there is enough of it.
    let (along, changed) = turned(&program("p = i + j x = ws[p]"));
    assert!(changed && along.contains("l >= 32") && along.contains("48 - n"), "{along}");
}

#[test]
fn what_adds_to_two_arrays_stays_together_if_it_computes_something_for_both() {
    let program = |second: &str| {
        format!(
            "func f(ws: []Real, xs: []Real) -> ([]Real, []Real) {{
                k = length(ws)
                n = length(xs)
                zeros = zeros(ws)
                zeros2 = zeros(xs)
                us, ys = each i < n, a += zeros, b += zeros2 {{
                    x = xs[i]
                    a2, b2 = each j < k, a3 += a, b3 += b, w in ws {{
                        t = w * x
                        a4 = a3 with [j] += t
                        {second}
                        b4 = b3 with [i] += u
                        yield a4, b4
                    }}
                    yield a2, b2
                }}
                return us, ys
            }} entry f = f"
        )
    };
    let loops = |second: &str| {
        let (printed, changed) = turned(&program(second));
        assert!(changed, "{printed}");
        printed.split(" else ").next().map_or(0, |turned| turned.matches("each").count())
    };
    assert_eq!(loops("u = sin(t)") + 1, loops("u = sin(w)"));
}

/// What an iteration of the long loop reads once may lie apart from what others read; what the short ones read may not.
#[test]
fn what_is_read_once_may_lie_apart() {
    let program = |inside: &str, outside: &str| {
        format!(
            "func f(score: []Real, table: [][]Real, more: [][]Real, o: Int) -> []Real {{
                n = length(score)
                ys = each j < n {{
                    m = for i < n, a = -Infinity, x in score {{
                        y = {inside}
                        z = x + y
                        b = max(a, z)
                        yield b
                    }}
                    e = {outside}
                    u = m + e
                    yield u
                }}
                return ys
            }} entry f = f"
        )
    };
    for (inside, outside, changes) in [
        ("table[i, j]", "more[o, j]", true),
        ("table[i, j]", "more[j, o]", true),
        ("table[i, j]", "more[j, j]", true),
        ("table[j, i]", "more[j, o]", false),
    ] {
        let (printed, changed) = turned(&program(inside, outside));
        assert_eq!(changed, changes, "{printed}");
    }
}

#[test]
fn elements_of_rows_are_read_before_and_what_fails_without_iterations_is_asked_before() {
    check_relaxed(
        "func f(cs: [][]Real, ps: [][]Real) -> Real {
            k = length(cs)
            n = length(ps)
            s = for i < n, s2 = 0.0, p in ps {
                m = for j < k, m2 = 1000.0, c in cs {
                    x = p[0]
                    y = c[0]
                    d = x - y
                    e = d * d
                    m3 = min(m2, e)
                    yield m3
                }
                some = k > 0
                least = if some {
                    yield m
                } else {
                    none = empty []Real
                    l = minimum(none)
                    yield l
                }
                s3 = s2 + least
                yield s3
            }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(cs: [][]Real, ps: [][]Real) -> Real {
              n = length(cs, 1)
              n2 = length(ps, 1)
              k = length(cs)
              n3 = length(ps)
              c = k >= 1
              c2 = n3 >= 32
              c3 = select(c, c2, false)
              c4 = n2 >= 1
              c5 = select(c3, c4, false)
              c6 = n >= 1
              c7 = select(c5, c6, false)
              s = if c7 {
                i = n3 + 1023
                blocks = i / 1024
                s2 = for b < blocks, s2_2 = 0.0 {
                  first = b * 1024
                  i2 = n3 - first
                  m = min(i2, 1024)
                  x = each i3 < m {
                    i4 = first + i3
                    x2 = ps[i4, 0]
                    yield x2
                  }
                  same = replicate(m, 1000.0)
                  m2 = for j < k, m2_2 = same, c8 in cs {
                    y = c8[0]
                    m3 = each i5 < m, x3 in x, m2_3 in m2_2 {
                      d = x3 - y
                      e = d * d
                      m3_2 = min(m2_3, e)
                      yield m3_2
                    }
                    yield m3
                  }
                  s2_3 = for i6 < m, s2_4 = s2_2, m4 in m2 {
                    s3 = s2_4 + m4
                    yield s3
                  }
                  yield s2_3
                }
                yield s2
              } else {
                some = k > 0
                s4 = for i7 < n3, s2_5 = 0.0, p in ps {
                  m5 = for j2 < k, m2_4 = 1000.0, c9 in cs {
                    x4 = p[0]
                    y2 = c9[0]
                    d2 = x4 - y2
                    e2 = d2 * d2
                    m3_3 = min(m2_4, e2)
                    yield m3_3
                  }
                  least = if some {
                    yield m5
                  } else {
                    none = empty []Real
                    l = minimum(none)
                    yield l
                  }
                  s3_2 = s2_5 + least
                  yield s3_2
                }
                yield s4
              }
              return s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn rows_that_are_asked_for_more_than_elements_and_other_branches_stay() {
    for more in ["q = sum(p) m4 = m3 + q", "q = length(p) r = real(q) m4 = m3 + r"] {
        let text = format!(
            "func f(cs: [][]Real, ps: [][]Real) -> Real {{
                n = length(ps)
                s = for i < n, s2 = 0.0, p in ps {{
                    m4 = for j < 20, m2 = 0.0, c in cs {{
                        x = p[0]
                        y = c[0]
                        d = x - y
                        m3 = min(m2, d)
                        {more}
                        yield m4
                    }}
                    s3 = s2 + m4
                    yield s3
                }}
                return s
            }}
            entry f = f"
        );
        assert!(!turned(&text).1, "{text}");
    }
}
