//! Straight-line code, the cases of rules, and derivatives of derivatives.

use super::check;
use expect_test::expect;

#[test]
fn straight_line_code() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(x: Real, y: Real) -> Real {
  a = sin(x)
  b = a * y
  c = b / x
  return c
}
func main(x: Real, y: Real) -> (Real, Real, Real, Real) {
  v, r = linearize f_map(x, y)
  gx, gy = backward f_map(r, 1.0)
  z, t = jvp f(x, y; 1.0, _)
  return v, gx, gy, t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real, y: Real) -> (Real, Real, Real, Real) {
              c, t, a, c2 = primal_f(x, y)
              t2, t3 = back_f(t, y, a, c2, x, 1.0)
              c3, c' = jvp_f(x, y, 1.0)
              return c, t2, t3, c'
            }

            func primal_f(x: Real, y: Real) -> (Real, Real, Real, Real) {
              a = sin(x)
              t = cos(x)
              b = a * y
              c = b / x
              return c, t, a, c
            }

            func back_f(t: Real, y: Real, a: Real, c: Real, x: Real, c_bar: Real) -> (Real, Real) {
              t2 = div_zero(c_bar, x)
              t3 = mul_zero(t2, c)
              x_bar = -t3
              a_bar = mul_zero(t2, y)
              y_bar = mul_zero(t2, a)
              t4 = mul_zero(a_bar, t)
              x_bar2 = x_bar + t4
              return x_bar2, y_bar
            }

            func jvp_f(x: Real, y: Real, x': Real) -> (Real, Real) {
              a = sin(x)
              t = cos(x)
              a' = mul_zero(x', t)
              b = a * y
              b' = mul_zero(a', y)
              c = b / x
              t2 = mul_zero(x', c)
              t3 = b' - t2
              c' = div_zero(t3, x)
              return c, c'
            }
        "#]],
    );
}

#[test]
fn cases_of_a_rule_are_coefficients() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(x: Real, y: Real) -> Real {
  a = max(x, y)
  b = abs(a)
  return b
}
func main(x: Real, y: Real) -> (Real, Real) {
  v, r = linearize f_map(x, y)
  gx, gy = backward f_map(r, 1.0)
  return gx, gy
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real, y: Real) -> (Real, Real) {
              b, slope, slope2, t = primal_f(x, y)
              t2, t3 = back_f(slope, slope2, t, 1.0)
              return t2, t3
            }

            func primal_f(x: Real, y: Real) -> (Real, Real, Real, Real) {
              a = max(x, y)
              c = y <= x
              slope = if c {
                yield 1.0
              } else {
                c2 = x < y
                slope2 = select(c2, 0.0, a)
                yield slope2
              }
              slope3 = 1.0 - slope
              b = abs(a)
              t = sign(a)
              return b, slope, slope3, t
            }

            func back_f(slope: Real, slope2: Real, t: Real, b_bar: Real) -> (Real, Real) {
              a_bar = mul_zero(b_bar, t)
              x_bar = mul_zero(a_bar, slope)
              y_bar = mul_zero(a_bar, slope2)
              return x_bar, y_bar
            }
        "#]],
    );
}

#[test]
fn second_derivatives_are_nothing_new() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: Real) -> Real {
  y = exp(x)
  z = y * x
  return z
}
func gradient(x: Real) -> Real {
  v, r = linearize f_map(x)
  g = backward f_map(r, 1.0)
  return g
}
func main(x: Real) -> Real {
  v, t = jvp gradient(x; 1.0)
  return t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func gradient(x: Real) -> Real {
              z, y = primal_f(x)
              t = back_f(y, x, 1.0)
              return t
            }

            func main(x: Real) -> Real {
              t, t' = jvp_gradient(x, 1.0)
              return t'
            }

            func primal_f(x: Real) -> (Real, Real) {
              y = exp(x)
              z = y * x
              return z, y
            }

            func back_f(y: Real, x: Real, z_bar: Real) -> Real {
              y_bar = mul_zero(z_bar, x)
              x_bar = mul_zero(z_bar, y)
              t = mul_zero(y_bar, y)
              x_bar2 = x_bar + t
              return x_bar2
            }

            func jvp_gradient(x: Real, x': Real) -> (Real, Real) {
              z, y, z', y' = jvp_primal_f(x, x')
              t, t' = jvp_back_f(y, x, 1.0, y', x')
              return t, t'
            }

            func jvp_primal_f(x: Real, x': Real) -> (Real, Real, Real, Real) {
              y = exp(x)
              y' = mul_zero(x', y)
              z = y * x
              t = mul_zero(y', x)
              t2 = mul_zero(x', y)
              z' = t + t2
              return z, y, z', y'
            }

            func jvp_back_f(y: Real, x: Real, z_bar: Real, y': Real, x': Real) -> (Real, Real) {
              y_bar = mul_zero(z_bar, x)
              y_bar' = mul_zero(x', z_bar)
              x_bar = mul_zero(z_bar, y)
              x_bar' = mul_zero(y', z_bar)
              t = mul_zero(y_bar, y)
              t2 = mul_zero(y_bar', y)
              t3 = mul_zero(y', y_bar)
              t' = t2 + t3
              x_bar2 = x_bar + t
              x_bar'2 = x_bar' + t'
              return x_bar2, x_bar'2
            }
        "#]],
    );
}
