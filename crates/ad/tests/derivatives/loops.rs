//! Loops run backwards, and branches in them.

use super::check;
use expect_test::expect;

#[test]
fn arms_compute_cheap_numbers_again() {
    // `p` is a product of what the derivative mentions in any case; the sine is kept.
    let text = "
residual F {}
linear f_map of f(fixed, varies, varies) keeps F
func f(n: Int, x: Real, c: Real) -> Real {
  y2 = for i < n, y = x {
    big = y > 1.0
    z = if big {
      p = c * y
      q = p * y
      yield q
    } else {
      s = sin(y)
      r = s * y
      yield r
    }
    yield z
  }
  return y2
}
func main(n: Int, x: Real, c: Real) -> (Real, Real) {
  v, r = linearize f_map(n, x, c)
  gx, gc = backward f_map(r, 1.0)
  return gx, gc
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(n: Int, x: Real, c: Real) -> (Real, Real) {
              y2, ys, ts, ss = primal_f(n, x, c)
              t, t2 = back_f(ys, ts, ss, c, 1.0)
              return t, t2
            }

            func primal_f(n: Int, x: Real, c: Real) -> (Real, []Real, []Real, []Real) {
              y2, ys, ts, ss = for i < n, y = x {
                big = y > 1.0
                z, t, s = if big {
                  p = c * y
                  q = p * y
                  yield q, 0.0, 0.0
                } else {
                  s2 = sin(y)
                  t2 = cos(y)
                  r = s2 * y
                  yield r, t2, s2
                }
                yield z, y, t, s
              }
              return y2, ys, ts, ss
            }

            func back_f(ys: []Real, ts: []Real, ss: []Real, c: Real, y2_bar: Real) -> (Real, Real) {
              n = length(ys)
              y_bar, c_bar = for backward i < n, y_bar2 = y2_bar, c_bar2 += 0.0, y in ys, t in ts, s in ss {
                big = y > 1.0
                c_bar3, y_bar3 = if big {
                  p = c * y
                  p_bar = mul_zero(y_bar2, y)
                  y_bar4 = mul_zero(y_bar2, p)
                  t2 = mul_zero(p_bar, y)
                  c_bar4 = c_bar2 + t2
                  t3 = mul_zero(p_bar, c)
                  y_bar5 = y_bar4 + t3
                  yield c_bar4, y_bar5
                } else {
                  s_bar = mul_zero(y_bar2, y)
                  y_bar6 = mul_zero(y_bar2, s)
                  t4 = mul_zero(s_bar, t)
                  y_bar7 = y_bar6 + t4
                  yield c_bar2, y_bar7
                }
                yield y_bar3, c_bar3
              }
              return y_bar, c_bar
            }
        "#]],
    );
}

#[test]
fn loops_run_backwards() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(xs: []Real, c: Real) -> Real {
  n = length(xs)
  ys = each i < n, x in xs {
    y = x * c
    yield y
  }
  s2 = for i < n, s = 0.0, y in ys {
    t = s * y
    u = t + c
    yield u
  }
  return s2
}
func main(xs: []Real, c: Real) -> ([]Real, Real, Real) {
  v, r = linearize f_map(xs, c)
  gxs, gc = backward f_map(r, 1.0)
  z, t = jvp f(xs, c; _, 1.0)
  return gxs, gc, t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(xs: []Real, c: Real) -> ([]Real, Real, Real) {
              s2, ys, ss = primal_f(xs, c)
              ts, t = back_f(xs, c, ys, ss, 1.0)
              s2_2, s2' = jvp_f(xs, c, 1.0)
              return ts, t, s2'
            }

            func primal_f(xs: []Real, c: Real) -> (Real, []Real, []Real) {
              n = length(xs)
              ys = each i < n, x in xs {
                y = x * c
                yield y
              }
              s2, ss = for i2 < n, s = 0.0, y2 in ys {
                t = s * y2
                u = t + c
                yield u, s
              }
              return s2, ys, ss
            }

            func back_f(xs: []Real, c: Real, ys: []Real, ss: []Real, s2_bar: Real) -> ([]Real, Real) {
              n = length(ys)
              s_bar, c_bar, ys_bar = for backward i < n, s_bar2 = s2_bar, c_bar2 += 0.0, y in ys, s in ss {
                c_bar3 = c_bar2 + s_bar2
                s_bar3 = mul_zero(s_bar2, y)
                y_bar = mul_zero(s_bar2, s)
                yield s_bar3, c_bar3, y_bar
              }
              n2 = length(xs)
              c_bar4, xs_bar = each backward i2 < n2, c_bar5 += c_bar, x in xs, ys_bar2 in ys_bar {
                x_bar = mul_zero(ys_bar2, c)
                t = mul_zero(ys_bar2, x)
                c_bar6 = c_bar5 + t
                yield c_bar6, x_bar
              }
              return xs_bar, c_bar4
            }

            func jvp_f(xs: []Real, c: Real, c': Real) -> (Real, Real) {
              n = length(xs)
              ys, ys' = each i < n, x in xs {
                y = x * c
                y' = mul_zero(c', x)
                yield y, y'
              }
              s2, s2' = for i2 < n, s = 0.0, s' = 0.0, y2 in ys, y'2 in ys' {
                t = s * y2
                t2 = mul_zero(s', y2)
                t3 = mul_zero(y'2, s)
                t' = t2 + t3
                u = t + c
                u' = t' + c'
                yield u, u'
              }
              return s2, s2'
            }
        "#]],
    );
}

#[test]
fn products_keep_nothing() {
    let text = "
residual F {}
linear f_map of f(varies, fixed, varies) keeps F
func f(m: [][]Real, k: [][]Real, v: []Real) -> ([][]Real, []Real) {
  p = matmul(m, k)
  q = matvec(m, v)
  return p, q
}
func main(m: [][]Real, k: [][]Real, v: []Real, w: [][]Real, u: []Real) -> ([][]Real, []Real) {
  p, q, r = linearize f_map(m, k, v)
  gm, gv = backward f_map(r, w, u)
  return gm, gv
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(m: [][]Real, k: [][]Real, v: []Real, w: [][]Real, u: []Real) -> ([][]Real, []Real) {
              p, q = primal_f(m, k, v)
              n = length(p)
              n2 = length(w)
              require n == n2, shape vjp
              n3 = length(p, 1)
              n4 = length(w, 1)
              require n3 == n4, shape vjp
              n5 = length(q)
              n6 = length(u)
              require n5 == n6, shape vjp
              ts, ts2 = back_f(k, v, m, w, u)
              return ts, ts2
            }

            func primal_f(m: [][]Real, k: [][]Real, v: []Real) -> ([][]Real, []Real) {
              p = matmul(m, k)
              q = matvec(m, v)
              return p, q
            }

            func back_f(k: [][]Real, v: []Real, m: [][]Real, p_bar: [][]Real, q_bar: []Real) -> ([][]Real, []Real) {
              zeros = zeros(v)
              v_bar = add_product_tn_backward(zeros, m, q_bar)
              zeros2 = zeros(m)
              m_bar = add_product_backward(zeros2, q_bar, v)
              m_bar2 = add_product_nt_backward(m_bar, p_bar, k)
              return m_bar2, v_bar
            }
        "#]],
    );
}

#[test]
fn while_loops_are_counted() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: Real) -> Real {
  y = while a = x {
    c = a < 100.0
    yield c
  } do a {
    b = a * a
    yield b
  }
  z = while a = y {
    c = a < 1000.0
    yield c
  } do a {
    b = a + a
    yield b
  }
  return z
}
func main(x: Real) -> Real {
  v, r = linearize f_map(x)
  g = backward f_map(r, 1.0)
  return g
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real) -> Real {
              z, as, n = primal_f(x)
              t = back_f(as, n, 1.0)
              return t
            }

            func primal_f(x: Real) -> (Real, []Real, Int) {
              y, as = while a = x {
                c = a < 100.0
                yield c
              } do a2 {
                b = a2 * a2
                yield b, a2
              }
              z, n = while a3 = y, n2 = 0 {
                c2 = a3 < 1000.0
                yield c2
              } do a4, n3 {
                b2 = a4 + a4
                n4 = n3 + 1
                yield b2, n4
              }
              return z, as, n
            }

            func back_f(as: []Real, n: Int, z_bar: Real) -> Real {
              a_bar = for backward i < n, a_bar2 = z_bar {
                a_bar3 = a_bar2 + a_bar2
                yield a_bar3
              }
              n2 = length(as)
              a_bar4 = for backward i2 < n2, a_bar5 = a_bar, a in as {
                a_bar6 = mul_zero(a_bar5, a)
                t = mul_zero(a_bar5, a)
                a_bar7 = a_bar6 + t
                yield a_bar7
              }
              return a_bar4
            }
        "#]],
    );
}

/// What a branch in a loop reads of a parameter of the function is read again, and not kept for each iteration.
#[test]
fn branches_read_parameters_again() {
    let text = "
residual S {}
linear f_map of f(fixed, fixed, varies) keeps S
func f(places: []Int, ws: []Real, xs: []Real) -> []Real {
  n = length(places)
  ys = each i < n, place in places {
    some = 0 < place
    y = if some {
      w = ws[place]
      x = xs[place]
      p = w * x
      yield p
    } else {
      yield 1.0
    }
    yield y
  }
  return ys
}
func main(places: []Int, ws: []Real, xs: []Real, t: []Real) -> []Real {
  v, r = linearize f_map(places, ws, xs)
  g = forward f_map(r, t)
  return g
}
entry main = main
";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let made = wengert_ir::print_used(&wengert_ad::differentiate(program));
    let linear = made.split_once("func linear_f(").map_or("", |(_, rest)| rest);
    assert!(linear.contains("= ws["), "{made}");
    // The first loop gives values, and nothing for the second one.
    assert!(made.contains("  ys = each i < length(places)"), "{made}");
}

/// What a branch in a loop reads of an array that a loop around carries is read again: that array is kept in any case, for its shape.
#[test]
fn branches_read_again_what_is_carried_around_them() {
    let text = "
residual S {}
linear f_map of f(varies) keeps S
func f(b: []Real) -> []Real {
  r = for k < 3, x = b {
    n = length(x)
    y = each i < n {
      some = i < k
      v = if some { yield 1.0 } else {
        u = x[i]
        w = x[k]
        p = u * w
        yield p
      }
      yield v
    }
    yield y
  }
  return r
}
func main(b: []Real, t: []Real) -> []Real {
  v, r = linearize f_map(b)
  g = backward f_map(r, t)
  return g
}
entry main = main
";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let made = wengert_ir::print_used(&wengert_ad::differentiate(program));
    let (primal, back) = made.split_once("func back_f(").expect("there is a transpose");
    // An iteration gives what it carries, and that for the way back.
    assert!(primal.contains("y = each") && !primal.contains("yield v, "), "{made}");
    assert_eq!(back.matches("= x2[").count(), 2, "{made}");
}

#[test]
fn what_is_read_beside_an_update_is_added_in_place() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: []Real) -> []Real {
  n = length(x)
  ys = for i < n, xs = x {
    j = n - i
    b = xs[i]
    a = xs[j]
    zs = xs with [i] = a
    ws = zs with [j] = b
    yield ws
  }
  return ys
}
func g(x: []Real, w: []Real) -> []Real {
  y, r = linearize f_map(x)
  x_bar = backward f_map(r, w)
  return x_bar
}
entry g = g
";
    check(
        text,
        &expect![[r#"
        func g(x: []Real, w: []Real) -> []Real {
          ys, n = primal_f(x)
          n2 = length(ys)
          n3 = length(w)
          require n2 == n3, shape vjp
          ts = back_f(n, x, w)
          return ts
        }

        func primal_f(x: []Real) -> ([]Real, Int) {
          n = length(x)
          ys = for i < n, xs = x {
            j = n - i
            b = xs[i]
            a = xs[j]
            zs = xs with [i] = a
            ws = zs with [j] = b
            yield ws
          }
          return ys, n
        }

        func back_f(n: Int, x: []Real, ys_bar: []Real) -> []Real {
          xs_bar = for backward i < n, xs_bar2 = ys_bar {
            j = n - i
            t = xs_bar2[j]
            ts = xs_bar2 with [j] = 0.0
            t2 = ts[i]
            ts2 = ts with [i] = 0.0
            xs_bar3 = ts2 with [i] += t
            xs_bar4 = xs_bar3 with [j] += t2
            yield xs_bar4
          }
          return xs_bar
        }
    "#]],
    );
}
