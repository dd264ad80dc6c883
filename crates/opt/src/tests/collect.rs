//! Loops that add to neighbors.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_added_to_neighbors_is_collected() {
    check_relaxed(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            zeros = zeros(xs)
            m = n - 1
            zs = each backward i < n, a += zeros, x in xs {
                first = i == 0
                b = if first { c = a with [i] += x yield c } else {
                    t = x * 3.0
                    j = i - 1
                    d = a with [j] += t
                    e = d with [i] += x
                    yield e
                }
                yield b
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              collected = each j < n, x in xs {
                x2 = x
                i = j + 1
                c = i < n
                from = if c {
                  x3 = xs[i]
                  t = x3 * 3.0
                  yield t
                } else {
                  yield 0.0
                }
                sum = x2 + from
                yield sum
              }
              return collected
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_not_known_is_asked_before() {
    check_relaxed(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            zeros = zeros(xs)
            zs = each i < n, a += zeros, x in xs {
                j = i + n
                k = j - 2
                l = k % n
                b = a with [l] += x
                yield b
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              c = n >= 2
              zs = if c {
                collected = each j < n {
                  i = j + 2
                  i2 = i % n
                  x = xs[i2]
                  yield x
                }
                yield collected
              } else {
                zeros = zeros(xs)
                zs2 = each i3 < n, a += zeros, x2 in xs {
                  j2 = i3 + n
                  k = j2 - 2
                  l = k % n
                  b = a with [l] += x2
                  yield b
                }
                yield zs2
              }
              return zs
            }

            entry f = f
        "#]],
    );
}

/// Of what is asked for several times, the most.
#[test]
fn what_is_read_at_fixed_places_is_asked_for_before() {
    check_relaxed(
        "func f(ws: []Real, xs: []Real) -> []Real {
            n = length(xs)
            zeros = zeros(xs)
            zs = each i < n, a += zeros, x in xs {
                w = ws[0]
                v = ws[2]
                j = i + 1
                k = j % n
                y = x * w
                z = x * v
                b = a with [i] += y
                c = b with [k] += z
                yield c
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(ws: []Real, xs: []Real) -> []Real {
              n = length(ws)
              n2 = length(xs)
              c = n >= 3
              zs = if c {
                w = ws[0]
                v = ws[2]
                collected = each j < n2, x in xs {
                  x2 = x
                  y = x2 * w
                  i = j + n2
                  i2 = i - 1
                  i3 = i2 % n2
                  x3 = xs[i3]
                  z = x3 * v
                  sum = y + z
                  yield sum
                }
                yield collected
              } else {
                zeros = zeros(xs)
                zs2 = each i4 < n2, a += zeros, x4 in xs {
                  w2 = ws[0]
                  v2 = ws[2]
                  j2 = i4 + 1
                  k = j2 % n2
                  y2 = x4 * w2
                  z2 = x4 * v2
                  b = a with [i4] += y2
                  c2 = b with [k] += z2
                  yield c2
                }
                yield zs2
              }
              return zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_much_work_is_done_once() {
    check_relaxed(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            zeros = zeros(xs)
            m = n - 1
            k = max(m, 0) require m == k, count build
            zs = each i < m, a += zeros {
                x = xs[i]
                y = sin(x)
                j = i + 1
                b = a with [i] += y
                c = b with [j] += y
                yield c
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              m = n - 1
              require m >= 0, count build
              y = each i < m {
                x = xs[i]
                y2 = sin(x)
                yield y2
              }
              collected = each j < n {
                c = j < m
                from = if c {
                  y3 = y[j]
                  yield y3
                } else {
                  yield 0.0
                }
                i2 = j - 1
                c2 = j >= 1
                from2 = if c2 {
                  y4 = y[i2]
                  yield y4
                } else {
                  yield 0.0
                }
                sum = from + from2
                yield sum
              }
              return collected
            }

            entry f = f
        "#]],
    );
}

/// Places that are not known to be there, that are not some number of places away, sums that somebody looks at on the way, and
/// arrays of which most elements stay as they are.
#[test]
fn what_may_fail_or_is_no_gain_stays() {
    let loops = [
        "each i < n, a += ys, x in xs { j = i + k b = a with [j] += x yield b }",
        "each i < n, a += ys, x in xs { j = 2 * i b = a with [j] += x yield b }",
        "each i < n, a += ys, x in xs { b = a with [0] += x yield b }",
        "each i < 5, a += ys { j = i + 1 b = a with [i] += 1.0 c = b with [j] += 1.0 yield c }",
        "each i < n, a += ys, x in xs { b = a with [i] += x yield b }",
    ];
    for text in loops {
        let text = format!(
            "func f(xs: []Real, ys: []Real, k: Int) -> []Real {{ n = length(xs) zs = {text} return zs }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        crate::relax(&mut program, &crate::Options::default());
        let made = wengert_ir::print(&program);
        assert!(made.contains("+= ys"), "{made}");
    }
}

/// Sizes that are required to be equal before any loop need not be asked about; those of which it is said later must be.
/// What a loop around adds up may only be added to: no loop reads what was there before.
#[test]
fn what_iterations_of_a_loop_around_share_is_added_to() {
    let made = |start: &str| {
        let text = format!(
            "func f(xs: []Real, k: Int) -> []Real {{
                n = length(xs) zeros = zeros(xs)
                ys = each t < k, sums += zeros {{
                  one = zeros(xs)
                  all = each i < n, a += {start}, x in xs {{ r = i + 1 j = r % n b = a with [j] += x c = b with [i] += x yield c }}
                  both = {}
                  yield both
                }}
                return ys
            }} entry f = f",
            if start == "sums" { "all" } else { "sums + all" }
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        crate::collect::run(&mut program);
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        wengert_ir::print(&program)
    };
    let (shared, own) = (made("sums"), made("one"));
    assert!(!shared.contains("collected") && own.contains("collected"), "{shared}\n{own}");
}

#[test]
fn sizes_that_must_be_equal_are_one() {
    let made = |first: &str, last: &str| {
        let text = format!(
            "func f(xs: []Real, vs: []Real) -> []Real {{
                n = length(xs) m = length(vs) {first} zeros = zeros(xs)
                ys = each i < n, a += zeros, x in xs {{
                  r = i + 1 j = r % n v = vs[i] w = v * x b = a with [j] += w c = b with [i] += x yield c
                }}
                {last}
                return ys
            }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        crate::relax(&mut program, &crate::Options::default());
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        wengert_ir::print(&program)
    };
    let required = "require n == m, shape `jvp`";
    let early = made(required, "");
    assert!(!early.contains("+=") && early.contains("collected"), "{early}");
    let late = made("", required);
    assert!(late.contains("+="), "{late}");
}

#[test]
fn what_else_is_added_up_over_both_loops_stays_beside() {
    check_relaxed(
        "func f(u: [][]Real, c: Real) -> ([][]Real, Real) {
            n = length(u)
            m = length(u, 1)
            k = m - 1
            zeros = zeros(u)
            b, s = each backward i < n, a += zeros, s += 0.0, row in u {
                d, t = each backward j < k, e += a, t += s {
                    l = j + 1
                    x = row[l]
                    y = x * c
                    f = e with [i, l] += y
                    g = f with [i, j] += x
                    w = t + x
                    yield g, w
                }
                yield d, t
            }
            return b, s
        }
        entry f = f",
        &expect![[r#"
            func f(u: [][]Real, c: Real) -> ([][]Real, Real) {
              n = length(u)
              m = length(u, 1)
              k = m - 1
              s = each i < n, s2 += 0.0, row in u {
                t = each j < k, t2 += s2 {
                  l = j + 1
                  x = row[l]
                  w = t2 + x
                  yield w
                }
                yield t
              }
              collected = each j2 < n, u2 in u {
                collected2 = each j3 < m {
                  c2 = j3 >= 1
                  from = if c2 {
                    x2 = u2[j3]
                    y = x2 * c
                    yield y
                  } else {
                    yield 0.0
                  }
                  c3 = j3 < k
                  from2 = if c3 {
                    l2 = j3 + 1
                    x3 = u2[l2]
                    yield x3
                  } else {
                    yield 0.0
                  }
                  sum = from + from2
                  yield sum
                }
                yield collected2
              }
              return collected, s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_required_in_all_iterations_is_asked_before() {
    check_relaxed(
        "func f(u: [][]Real, k: Int) -> [][]Real {
            n = length(u)
            m = length(u, 1)
            l = m - 1
            zeros = zeros(u)
            b = each backward i < n, a += zeros, row in u {
                require k == l, count build
                d = each backward j < l, e += a {
                    h = j + 1
                    x = row[h]
                    f = e with [i, h] += x
                    g = f with [i, j] += x
                    yield g
                }
                yield d
            }
            return b
        }
        entry f = f",
        &expect![[r#"
            func f(u: [][]Real, k: Int) -> [][]Real {
              n = length(u)
              m = length(u, 1)
              l = m - 1
              i = 1 + k
              i2 = i - m
              c = i2 >= 0
              i3 = m - k
              c2 = i3 >= 1
              c3 = select(c, c2, false)
              b = if c3 {
                collected = each j < n, u2 in u {
                  collected2 = each j2 < m {
                    c4 = j2 >= 1
                    from = if c4 {
                      x = u2[j2]
                      yield x
                    } else {
                      yield 0.0
                    }
                    c5 = j2 < l
                    from2 = if c5 {
                      h = j2 + 1
                      x2 = u2[h]
                      yield x2
                    } else {
                      yield 0.0
                    }
                    sum = from + from2
                    yield sum
                  }
                  yield collected2
                }
                yield collected
              } else {
                zeros = zeros(u)
                b2 = each backward i4 < n, a += zeros, row in u {
                  require k == l, count build
                  d = each j3 < l, e += a {
                    h2 = j3 + 1
                    x3 = row[h2]
                    f = e with [i4, h2] += x3
                    g = f with [i4, j3] += x3
                    yield g
                  }
                  yield d
                }
                yield b2
              }
              return b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_loops_around_add_up_too_is_still_added_to() {
    // What `b` is before may not be read: it goes on being added to, at each iteration's own place, and the other array is collected.
    check_relaxed(
        "func f(us: []Real, cs: []Real, k: Int) -> ([]Real, []Real) {
            n = length(us)
            m = length(cs)
            l = n - 1
            sums = zeros(cs)
            v, all = for r < k, x = us, b += sums {
                zeros = zeros(us)
                y, b2 = each backward i < l, a += zeros, b3 += b {
                    j = i + 1
                    p = x[i]
                    b4 = b3 with [i] += p
                    a2 = a with [j] += p
                    q = p * 2.0
                    a3 = a2 with [i] += q
                    yield a3, b4
                }
                yield y, b2
            }
            return v, all
        }
        entry f = f",
        &expect![[r#"
            func f(us: []Real, cs: []Real, k: Int) -> ([]Real, []Real) {
              n = length(us)
              m = length(cs)
              l = n - 1
              sums = zeros(cs)
              i = 1 + m
              i2 = i - n
              c = i2 >= 0
              v, all = for r < k, x = us, b += sums {
                y, b2 = if c {
                  b2_2 = each backward i3 < l, b3 += b {
                    p = x[i3]
                    b4 = b3 with [i3] += p
                    yield b4
                  }
                  collected = each j < n, p2 in x {
                    i4 = j - 1
                    c2 = j >= 1
                    from = if c2 {
                      p3 = x[i4]
                      yield p3
                    } else {
                      yield 0.0
                    }
                    c3 = j < l
                    from2 = if c3 {
                      p4 = p2
                      q = p4 * 2.0
                      yield q
                    } else {
                      yield 0.0
                    }
                    sum = from + from2
                    yield sum
                  }
                  yield collected, b2_2
                } else {
                  zeros = zeros(us)
                  y2, b2_3 = each backward i5 < l, a += zeros, b3_2 += b {
                    j2 = i5 + 1
                    p5 = x[i5]
                    b4_2 = b3_2 with [i5] += p5
                    a2 = a with [j2] += p5
                    q2 = p5 * 2.0
                    a3 = a2 with [i5] += q2
                    yield a3, b4_2
                  }
                  yield y2, b2_3
                }
                yield y, b2
              }
              return v, all
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_a_loop_adds_to_elements_that_stay_it_goes_on_adding() {
    // A filter: its weights stay, and what it goes over is neighbors.
    check_relaxed(
        "func f(ws: []Real, xs: []Real) -> ([]Real, []Real) {
            n = length(xs)
            m = n - 1
            k = max(m, 0) require m == k, count build
            zeros = zeros(ws)
            zeros2 = zeros(xs)
            us, ys = each i < m, a += zeros, b += zeros2 {
                x = xs[i]
                j = i + 1
                y = xs[j]
                w = ws[0]
                t = w * y
                a2 = a with [0] += x
                b2 = b with [i] += t
                a3 = a2 with [0] += y
                b3 = b2 with [j] += w
                yield a3, b3
            }
            return us, ys
        }
        entry f = f",
        &expect![[r#"
            func f(ws: []Real, xs: []Real) -> ([]Real, []Real) {
              n = length(ws)
              n2 = length(xs)
              m = n2 - 1
              require m >= 0, count build
              zeros = zeros(ws)
              c = n >= 1
              us, ys = if c {
                w = ws[0]
                sum = each i < m, sum2 += 0.0 {
                  x = xs[i]
                  j = i + 1
                  y = xs[j]
                  both = x + y
                  sum3 = sum2 + both
                  yield sum3
                }
                us2 = zeros with [0] += sum
                collected = each j2 < n2 {
                  c2 = j2 < m
                  from = if c2 {
                    j3 = j2 + 1
                    y2 = xs[j3]
                    t = w * y2
                    yield t
                  } else {
                    yield 0.0
                  }
                  c3 = j2 >= 1
                  from2 = select(c3, w, 0.0)
                  sum4 = from + from2
                  yield sum4
                }
                yield us2, collected
              } else {
                zeros2 = zeros(xs)
                ys2, sum5 = each i2 < m, b += zeros2, sum6 += 0.0 {
                  x2 = xs[i2]
                  j4 = i2 + 1
                  y3 = xs[j4]
                  w2 = ws[0]
                  t2 = w2 * y3
                  b2 = b with [i2] += t2
                  both2 = x2 + y3
                  sum7 = sum6 + both2
                  b3 = b2 with [j4] += w2
                  yield b3, sum7
                }
                some = m > 0
                us3 = if some {
                  us4 = zeros with [0] += sum5
                  yield us4
                } else {
                  yield zeros
                }
                yield us3, ys2
              }
              return us, ys
            }

            entry f = f
        "#]],
    );
}
