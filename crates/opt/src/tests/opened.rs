//! Data that loops look at again and again.

use super::{check, stays};
use expect_test::expect;

const SHAPES: &str = r"
    data Shape {
        Round(Real, Real)
        Wall(Real)
    }
    residual Residual {}
    linear f_map of f(varies, varies) keeps Residual
";

#[test]
fn data_that_a_loop_looks_at_again_and_again_is_looked_at_before_it() {
    let text = format!(
        "{SHAPES}
        func f(s: Shape, xs: []Real) -> Real {{
            n = length(xs)
            y = for i < n, y = 0.0, x in xs {{
                a = match s {{
                    Round(c, r) {{
                        t = x * c
                        d = t - r
                        yield d
                    }}
                    Wall(h) {{
                        d2 = x * h
                        yield d2
                    }}
                }}
                z = y + a
                yield z
            }}
            return y
        }}
        entry f = f"
    );
    check(
        "opened",
        &text,
        &expect![[r#"
        data Shape {
          Round(Real, Real)
          Wall(Real)
        }

        residual Residual {}

        data Shape2 {
          Round(Real, Real)
          Wall(Real)
        }

        linear f_map of f(varies, varies) keeps Residual

        func f(s: Shape, xs: []Real) -> Real {
          s2 = match s {
            Round(c, r) {
              made = Shape2::Round(c, r)
              yield made
            }
            Wall(h) {
              made2 = Shape2::Wall(h)
              yield made2
            }
          }
          n = length(xs)
          y = for i < n, y2 = 0.0, x in xs {
            a = match s2 {
              Round(c2, r2) {
                t = x * c2
                d = t - r2
                yield d
              }
              Wall(h2) {
                d2 = x * h2
                yield d2
              }
            }
            z = y2 + a
            yield z
          }
          return y
        }

        entry f = f
    "#]],
    );
}

#[test]
fn so_are_the_elements_of_an_array() {
    let text = format!(
        "{SHAPES}
        func f(ss: []Shape, xs: []Real) -> Real {{
            n = length(xs)
            m = length(ss)
            y = for i < n, y = 0.0, x in xs {{
                first = ss[i]
                b = match first {{
                    Round(e, f) {{
                        yield e
                    }}
                    Wall(g) {{
                        yield g
                    }}
                }}
                z = for j < m, z = y, s in ss {{
                    a = match s {{
                        Round(c, r) {{
                            d = x * c
                            yield d
                        }}
                        Wall(h) {{
                            yield h
                        }}
                    }}
                    w = z + a
                    yield w
                }}
                v = z * b
                yield v
            }}
            return y
        }}
        entry f = f"
    );
    check(
        "opened",
        &text,
        &expect![[r#"
        data Shape {
          Round(Real, Real)
          Wall(Real)
        }

        residual Residual {}

        data Shape2 {
          Round(Real, Real)
          Wall(Real)
        }

        linear f_map of f(varies, varies) keeps Residual

        func f(ss: []Shape, xs: []Real) -> Real {
          n = length(ss)
          ss2 = each i < n, ss3 in ss {
            ss4 = match ss3 {
              Round(e, f) {
                made = Shape2::Round(e, f)
                yield made
              }
              Wall(g) {
                made2 = Shape2::Wall(g)
                yield made2
              }
            }
            yield ss4
          }
          n2 = length(xs)
          m = length(ss)
          y = for i2 < n2, y2 = 0.0, x in xs {
            first = ss2[i2]
            b = match first {
              Round(e2, f2) {
                yield e2
              }
              Wall(g2) {
                yield g2
              }
            }
            z = for j < m, z2 = y2, s in ss2 {
              a = match s {
                Round(c, r) {
                  d = x * c
                  yield d
                }
                Wall(h) {
                  yield h
                }
              }
              w = z2 + a
              yield w
            }
            v = z * b
            yield v
          }
          return y
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_looked_at_once_or_handed_on_as_a_whole_stays() {
    let text = format!(
        "{SHAPES}
        func f(s: Shape, ss: []Shape) -> Real {{
            a = match s {{
                Round(c, r) {{
                    yield r
                }}
                Wall(h) {{
                    yield h
                }}
            }}
            n = length(ss)
            y = for j < n, y = a, x in ss {{
                a2 = match x {{
                    Round(c2, r2) {{
                        yield c2
                    }}
                    Wall(h2) {{
                        yield h2
                    }}
                }}
                w = y * a2
                yield w
            }}
            z = for i < n, z = y {{
                last = for j2 < n, last = s, x2 in ss {{
                    yield x2
                }}
                b = match last {{
                    Round(c3, r3) {{
                        yield r3
                    }}
                    Wall(h3) {{
                        yield h3
                    }}
                }}
                v = z * b
                yield v
            }}
            return z
        }}
        entry f = f"
    );
    stays("opened", &text);
}
