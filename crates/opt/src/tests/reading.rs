//! What is done so that derivatives read as if a person had written them.

use super::check;
use expect_test::{Expect, expect};

#[track_caller]
fn relaxed(text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::relax(&mut program, &crate::Options::default());
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn what_is_always_added_to_one_element_is_summed_apart() {
    relaxed(
        "func f(xs: []Real, k: Int) -> []Real {
            n = length(xs) zeros = zeros(xs) p = argmax(xs) ys = zeros with [p] += 1.0
            zs = each backward i < n, a += ys, x in xs {
              y = exp(x) b = a with [i] += y z = -y c = b with [p] += z yield c
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Int) -> []Real {
              n = length(xs)
              p = argmax(xs)
              sum, zs = each i < n, sum2 += 0.0, x in xs {
                y = exp(x)
                z = -y
                sum3 = sum2 + z
                yield sum3, y
              }
              sum4 = 1.0 + sum
              zs2 = zs with [p] += sum4
              return zs2
            }

            entry f = f
        "#]],
    );
}

/// As in the gradient of a sum over all pairs: the array is one of zeros before the loop around the loop.
#[test]
fn what_an_inner_loop_adds_to_an_element_of_the_outer_one_is_summed_apart() {
    relaxed(
        "func f(xs: []Real, ys: []Real) -> ([]Real, []Real) {
            n = length(xs) zeros = zeros(xs) m = length(ys)
            zs = each backward i < n, a += zeros, x in xs {
              b = each backward j < n, c += a, y in xs { s = x * y d = c with [i] += s e = d with [j] += y yield e }
              yield b
            }
            us = each backward i < m, a += ys, x in ys {
              b = each backward j < m, c += a, y in ys { s = x * y d = c with [i] += s e = d with [j] += y yield e }
              yield b
            }
            return zs, us
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, ys: []Real) -> ([]Real, []Real) {
              n = length(xs)
              zeros = zeros(xs)
              m = length(ys)
              zs = each i < n, a += zeros, x in xs {
                b, sum = each j < n, c += a, sum2 += 0.0, y in xs {
                  s = x * y
                  sum3 = sum2 + s
                  e = c with [j] += y
                  yield e, sum3
                }
                b2 = b with [i] += sum
                yield b2
              }
              us = each i2 < m, a2 += ys, x2 in ys {
                b3 = each j2 < m, c2 += a2, y2 in ys {
                  s2 = x2 * y2
                  d = c2 with [i2] += s2
                  e2 = d with [j2] += y2
                  yield e2
                }
                yield b3
              }
              return zs, us
            }

            entry f = f
        "#]],
    );
}

/// As in the forces between all pairs of bodies: if one array were taken apart, the loop would be no loop of vectors.
#[test]
fn what_is_added_to_several_arrays_stays_together() {
    relaxed(
        "func f(xs: []Real) -> ([]Real, []Real) {
            n = length(xs) zeros = zeros(xs) more = zeros(xs) p = argmax(xs)
            zs, zs2 = each backward i < n, a += zeros, a2 += more, x in xs {
              b = a with [i] += x c = b with [p] += x b2 = a2 with [i] += x c2 = b2 with [p] += x yield c, c2
            }
            return zs, zs2
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> ([]Real, []Real) {
              n = length(xs)
              zeros = zeros(xs)
              more = zeros(xs)
              p = argmax(xs)
              zs, zs2 = each i < n, a += zeros, a2 += more, x in xs {
                b = a with [i] += x
                c = b with [p] += x
                b2 = a2 with [i] += x
                c2 = b2 with [p] += x
                yield c, c2
              }
              return zs, zs2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_not_known_to_be_there_stays() {
    relaxed(
        "func f(xs: []Real, k: Int) -> []Real {
            n = length(xs) zeros = zeros(xs)
            zs = each backward i < n, a += zeros, x in xs { b = a with [i] += x c = b with [k] += x yield c }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Int) -> []Real {
              n = length(xs)
              zeros = zeros(xs)
              zs = each backward i < n, a += zeros, x in xs {
                b = a with [i] += x
                c = b with [k] += x
                yield c
              }
              return zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sums_go_onward_but_not_what_may_fail() {
    relaxed(
        "func f(xs: []Real, is: []Int) -> (Real, Real) {
            n = length(xs) m = length(is)
            s = each backward i < n, a += 0.0, x in xs { b = a + x yield b }
            r = each backward j < m, c += 0.0, k in is { y = xs[k] d = c + y yield d }
            return s, r
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, is: []Int) -> (Real, Real) {
              n = length(xs)
              m = length(is)
              s = each i < n, a += 0.0, x in xs {
                b = a + x
                yield b
              }
              r = each backward j < m, c += 0.0, k in is {
                y = xs[k]
                d = c + y
                yield d
              }
              return s, r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_zero_that_meets_no_infinity_is_no_strong_one() {
    relaxed(
        "func f(x: Real, y: Real) -> (Real, Real, Real, Real, Real, Real) {
            a = x * x b = cos(a) c = mul_zero(b, x)
            d = x * -400.0 e = x + x g = mul_zero(d, e)
            h = 1.0 / x k = mul_zero(h, x)
            l = exp(x) m = mul_zero(l, x)
            o = x - y p = y + y q = mul_zero(o, p)
            r = x + y s = mul_zero(r, x)
            return c, g, k, m, q, s
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real, Real, Real, Real, Real) {
              a = x * x
              b = cos(a)
              c = b * x
              d = x * -800.0
              g = d * x
              h = 1.0 / x
              k = mul_zero(h, x)
              l = exp(x)
              m = mul_zero(l, x)
              o = x - y
              p = y + y
              q = mul_zero(o, p)
              r = x + y
              s = mul_zero(r, x)
              return c, g, k, m, q, s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn beside_its_logarithm_a_number_divided_by_itself_is_one() {
    relaxed(
        "func f(x: Real, y: Real) -> (Real, Real, Real, Real) {
            a = log(x) b = div_zero(x, x) c = a + b
            d = -a e = y + d g = e - b
            h = log(y) k = h + b
            l = mul_zero(a, y) m = l + b
            return c, g, k, m
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real, Real, Real) {
              a = log(x)
              b = div_zero(x, x)
              c = a + 1.0
              e = y - a
              g = e - 1.0
              h = log(y)
              k = h + b
              l = mul_zero(a, y)
              m = l + b
              return c, g, k, m
            }

            entry f = f
        "#]],
    );
}

#[test]
fn factors_of_two_go_into_constants() {
    relaxed(
        "func f(x: Real, y: Real) -> (Real, Real, Real) {
            r = sqrt(y) a = 0.5 / r b = x + x c = mul_zero(a, b)
            d = r + r e = div_zero(x, d) g = mul_zero(e, y) h = g * 2.0
            s = sign(x) t = mul_zero(x, s) u = 0.0 + t
            return c, h, u
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real, Real) {
              r = sqrt(y)
              a = 1.0 / r
              c = mul_zero(a, x)
              e = div_zero(x, r)
              h = mul_zero(e, y)
              t = abs(x)
              return c, h, t
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_required_in_each_iteration_is_required_once() {
    let text = "func f(n: Int, a: Int, b: Int) -> Int {
        each i < n { require a == b, product_size matmul }
        each j < n { require a == j, rows }
        return n
    }
    entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::finish(&mut program, &crate::Options::default());
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    expect![[r#"
        func f(n: Int, a: Int, b: Int) -> Int {
          if n > 0 {
            require a == b, product_size matmul
          }
          each j < n {
            require a == j, rows
          }
          return n
        }

        entry f = f
    "#]]
    .assert_eq(&wengert_ir::print_used(&program));
}

#[test]
fn what_is_only_asked_for_its_size_is_not_made() {
    check(
        "sizes",
        "func f(xs: []Real, m: Int) -> (Int, Int) {
            n = length(xs)
            a = each i < m { r = each j < n, x in xs { y = x + 1.0 yield y } yield r }
            b = each i < m { r = each j < n, x in xs { y = x + 1.0 yield y } yield r }
            k = length(a, 1)
            l = length(b, 1)
            s = sum_of(b)
            return k, l
        }
        func sum_of(b: [][]Real) -> Int { n = length(b) return n }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, m: Int) -> (Int, Int) {
              n = length(xs)
              a = each i < m {
                r = each j < n, x in xs {
                  y = x + 1.0
                  yield y
                }
                yield r
              }
              b = each i2 < m {
                r2 = each j2 < n, x2 in xs {
                  y2 = x2 + 1.0
                  yield y2
                }
                yield r2
              }
              none = m == 0
              k = select(none, 0, n)
              l = length(b, 1)
              s = sum_of(b)
              return k, l
            }

            func sum_of(b: [][]Real) -> Int {
              n = length(b)
              return n
            }

            entry f = f
        "#]],
    );
}

#[test]
fn an_array_of_functions_is_called_one_by_one() {
    check(
        "known",
        "func f(x: Real) -> Real {
            fs = [1, 0]
            s = for i < 2, s = 0.0, g in fs {
              c = g == 0
              y = if c { a = sin(x) yield a } else { b = cos(x) yield b }
              t = s + y
              yield t
            }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real) -> Real {
              fs = [1, 0]
              g = fs[0]
              c = g == 0
              y = if c {
                a = sin(x)
                yield a
              } else {
                b = cos(x)
                yield b
              }
              t = 0.0 + y
              g2 = fs[1]
              c2 = g2 == 0
              y2 = if c2 {
                a2 = sin(x)
                yield a2
              } else {
                b2 = cos(x)
                yield b2
              }
              t2 = t + y2
              s = t2
              return s
            }

            entry f = f
        "#]],
    );
}

/// For people: what is looked at only because it may not be there is not seen where that is asked again.
#[test]
fn what_is_asked_again_is_not_asked_before() {
    let shown = |body: &str, expected: &Expect| {
        let text = format!("func f(xs: []Real, i: Int, j: Int) -> []Real {{ {body} }} entry f = f");
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        crate::unsaid(&mut program);
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        let lines: String =
            wengert_ir::print(&program).lines().skip(1).take_while(|line| *line != "}").collect();
        expected.assert_eq(&lines);
    };
    shown(
        "t = xs[i] z = zeros(xs) y = z with [j] += 2.0 u = xs[1] w = y with [i] += 1.0 return w",
        &expect!["  z = zeros(xs)  y = z with [j] += 2.0  u = xs[1]  w = y with [i] += 1.0  return w"],
    );
    shown(
        "m = maximum(xs) p = argmin(xs) z = zeros(xs) y = z with [p] += 1.0 return y",
        &expect!["  p = argmin(xs)  z = zeros(xs)  y = z with [p] += 1.0  return y"],
    );
    // What is used stays, and what is asked of another array, or on one side of a branch.
    shown(
        "t = xs[i] u = sin(t) y = xs with [i] += u c = i < j
         z = if c { k = y with [j] += 1.0 yield k } else { yield y } v = y[0] return z",
        &expect![
            "  t = xs[i]  u = sin(t)  y = xs with [i] += u  c = i < j  z = if c {    k = y with [j] += 1.0    yield k  } else {    yield y  }  v = y[0]  return z"
        ],
    );
    shown(
        "t = xs[i] c = i < j z = if c { k = xs with [i] += 1.0 yield k } else { yield xs } return z",
        &expect![
            "  t = xs[i]  c = i < j  z = if c {    k = xs with [i] += 1.0    yield k  } else {    yield xs  }  return z"
        ],
    );
}
