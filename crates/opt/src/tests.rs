//! Each pass alone on a small program: what it does, and what it must leave.

use crate::PASSES;
use expect_test::{Expect, expect};

/// The program after one pass.
fn check(pass: &str, text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    let pass = PASSES.iter().find(|known| known.name == pass).expect("there is such a pass");
    (pass.run)(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn inline_copies_small_functions_and_leaves_recursive_ones() {
    let text = r"
        func square(x: Real) -> Real { y = x * x return y }
        func pow(x: Real, n: Int) -> Real {
            done = n == 0
            p = if done { yield 1.0 } else { m = n - 1 r = pow(x, m) p = r * x yield p }
            return p
        }
        func f(x: Real) -> Real { a = square(x) b = square(a) c = pow(b, 3) return c }
        entry f = f";
    check(
        "inline",
        text,
        &expect![[r#"
            func square(x: Real) -> Real {
              y = x * x
              return y
            }

            func pow(x: Real, n: Int) -> Real {
              done = n == 0
              p2 = if done {
                yield 1.0
              } else {
                m = n - 1
                r = pow(x, m)
                p = r * x
                yield p
              }
              return p2
            }

            func f(x: Real) -> Real {
              y = x * x
              a = y
              y2 = a * a
              b = y2
              c = pow(b, 3)
              return c
            }

            entry f = f
        "#]],
    );
}

#[test]
fn simplify_uses_what_is_known() {
    let text = r"
        data Shape { Circle(Real); Square(Real) }
        func f(x: Real, n: Int) -> (Real, Int) {
            s = Circle(x)
            a = match s { Circle(r) { b = r * r yield b } Square(w) { yield w } }
            c = 1 < 2
            d = if c { yield a } else { yield 0.0 }
            xs = [x, d]
            g = xs[1]
            k = length(xs)
            m = k * 1
            h = mul_zero(g, 2.0)
            j = h * 1.0
            return j, m
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
        data Shape {
          Circle(Real)
          Square(Real)
        }

        func f(x: Real, n: Int) -> (Real, Int) {
          s = Circle(x)
          b = x * x
          xs = [x, b]
          h = b * 2.0
          return h, 2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn rows_are_gone_through() {
    let text = r"
        func f(xs: []Real, a: [][]Real) -> []Real {
            n = length(xs)
            m = length(a)
            ys = each i < n {
                x = xs[i]
                y = each j < m { z = a[j, i] w = x * z yield w }
                s = sum(y)
                yield s
            }
            return ys
        }
        entry f = f";
    check(
        "rows",
        text,
        &expect![[r#"
        func f(xs: []Real, a: [][]Real) -> []Real {
          n = length(xs)
          m = length(a)
          ys = each i < n, x2 in xs {
            x = x2
            y = each j < m, a2 in a {
              z = a2[i]
              w = x * z
              yield w
            }
            s = sum(y)
            yield s
          }
          return ys
        }

        entry f = f
    "#]],
    );
}

#[test]
fn cse_stays_inside_of_its_block() {
    let text = r"
        func f(x: Real, c: Bool) -> Real {
            a = sin(x)
            b = if c { d = sin(x) e = cos(x) g = d + e yield g } else { h = cos(x) yield h }
            k = cos(x)
            l = a + b
            m = l * k
            return m
        }
        entry f = f";
    check(
        "cse",
        text,
        &expect![[r#"
        func f(x: Real, c: Bool) -> Real {
          a = sin(x)
          b = if c {
            e = cos(x)
            g = a + e
            yield g
          } else {
            h = cos(x)
            yield h
          }
          k = cos(x)
          l = a + b
          m = l * k
          return m
        }

        entry f = f
    "#]],
    );
}

#[test]
fn hoist_moves_what_cannot_fail() {
    let text = r"
        func f(x: Real, xs: []Real, n: Int) -> []Real {
            ys = each i < n {
                a = exp(x)
                b = xs[0]
                c = real(i)
                d = a * b
                e = d + c
                yield e
            }
            return ys
        }
        entry f = f";
    check(
        "hoist",
        text,
        &expect![[r#"
        func f(x: Real, xs: []Real, n: Int) -> []Real {
          a = exp(x)
          ys = each i < n {
            b = xs[0]
            c = real(i)
            d = a * b
            e = d + c
            yield e
          }
          return ys
        }

        entry f = f
    "#]],
    );
}

#[test]
fn fuse_joins_loops_and_sums() {
    let text = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            ys = each i < n, x in xs { y = x * x yield y }
            zs = each i < n, y in ys { z = y + 1.0 yield z }
            s = sum(zs)
            ws = each i < n, x in xs { w = exp(x) yield w }
            t = for i < n, acc = 0.0, w in ws { u = acc * w yield u }
            return s, t
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real) -> (Real, Real) {
          n = length(xs)
          s = for i5 < n, s2 = 0.0, x in xs {
            y = x * x
            z = y + 1.0
            s3 = s2 + z
            yield s3
          }
          t = for i4 < n, acc = 0.0, x2 in xs {
            w = exp(x2)
            u = acc * w
            yield u
          }
          return s, t
        }

        entry f = f
    "#]],
    );
}

#[test]
fn fuse_keeps_the_order_of_failures() {
    let text = r"
        func f(xs: []Real, is: []Int, js: []Int) -> []Real {
            n = length(is)
            ys = each i < n, k in is { y = xs[k] yield y }
            zs = each i < n, y in ys, j in js { w = xs[j] z = y + w yield z }
            return zs
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real, is: []Int, js: []Int) -> []Real {
          n = length(is)
          ys = each i < n, k in is {
            y = xs[k]
            yield y
          }
          zs = each i2 < n, y2 in ys, j in js {
            w = xs[j]
            z = y2 + w
            yield z
          }
          return zs
        }

        entry f = f
    "#]],
    );
}

#[test]
fn dce_narrows_loops_and_keeps_failures() {
    let text = r"
        func unused(x: Real) -> Real { return x }
        func f(xs: []Real, n: Int) -> Real {
            s, p, ys = for i < n, s = 0.0, p = 1.0, x in xs { t = s + x q = p * x yield t, q, q }
            a = sin(s)
            b = xs[7]
            c, d = while v = s, w = s { go = v < 9.0 yield go } do g, h { k = g * 2.0 l = h + g yield k, l }
            return c
        }
        entry f = f";
    check(
        "dce",
        text,
        &expect![[r#"
        func f(xs: []Real, n: Int) -> Real {
          s2 = for i < n, s = 0.0, x in xs {
            t = s + x
            yield t
          }
          b = xs[7]
          c = while v = s2 {
            go = v < 9.0
            yield go
          } do g {
            k = g * 2.0
            yield k
          }
          return c
        }

        entry f = f
    "#]],
    );
}

#[test]
fn dce_drops_what_can_only_fail_where_something_failed_before() {
    let text = r"
        func f(xs: []Real, ys: []Real, c: Bool) -> Real {
            m = maximum(xs)
            at = argmax(xs)
            r = if c { n = maximum(ys) k = argmax(ys) yield m } else { yield 1.0 }
            l = argmin(ys)
            return r
        }
        entry f = f";
    check(
        "dce",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, c: Bool) -> Real {
              m = maximum(xs)
              r = if c {
                n = maximum(ys)
                yield m
              } else {
                yield 1.0
              }
              l = argmin(ys)
              return r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn dce_goes_through_calls_data_and_loops_inside_of_loops() {
    let text = r"
        residual Kept { Kept([]Real, Real) Other(Int) }
        func f(xs: []Real, n: Int) -> (Real, Kept) {
            s, v, us, vs = for i < n, s = 0.0, u = 1.0, x in xs {
                a, b = for j < n, a = s, b = u { c = a + x d = b * x yield c, d }
                yield a, b, x, a
            }
            kept = Kept(us, s)
            return s, kept
        }
        func g(xs: []Real, n: Int, m: Int) -> Real {
            done = n == m
            s, kept = if done { e, l = f(xs, n) yield e, l } else { other = Other(m) yield 0.0, other }
            t = match kept {
                Kept(us, r) { q = for backward i < n, q = r, u in us { p = q + r yield p } yield q }
                Other(k) { yield 1.0 }
            }
            return t
        }
        func h(xs: []Real) -> Real { n = length(xs) y = g(xs, n, 4) z = g(xs, 3, n) w = y + z return w }
        entry h = h";
    check(
        "dce",
        text,
        &expect![[r#"
        residual Kept {
          Kept(Real)
          Other()
        }

        func f(xs: []Real, n: Int) -> Kept {
          s2 = for i < n, s = 0.0, x in xs {
            a2 = for j < n, a = s {
              c = a + x
              yield c
            }
            yield a2
          }
          kept = Kept(s2)
          return kept
        }

        func g(xs: []Real, n: Int, m: Int) -> Real {
          done = n == m
          kept = if done {
            l = f(xs, n)
            yield l
          } else {
            other = Other()
            yield other
          }
          t = match kept {
            Kept(r) {
              q2 = for backward i < n, q = r {
                p = q + r
                yield p
              }
              yield q2
            }
            Other() {
              yield 1.0
            }
          }
          return t
        }

        func h(xs: []Real) -> Real {
          n = length(xs)
          y = g(xs, n, 4)
          z = g(xs, 3, n)
          w = y + z
          return w
        }

        entry h = h
    "#]],
    );
}

#[test]
fn sizes_drop_what_is_known_and_forget_what_a_block_told() {
    let text = r"
        func f(xs: []Real, ys: []Real, rows: [][]Real, n: Int, b: Bool) -> ([]Real, Int, Int) {
            a = length(xs)
            m = max(a, 0)
            require a == m, count build
            p = max(n, 0)
            require n == p, count build
            c = length(ys)
            k = if b { require a == c, same_size map2 d = length(ys) yield d } else { yield 0 }
            zs = each i < m, x in xs { require a == c, same_size map2 l = c - a one = [x] t = one[l] yield t }
            e = length(zs)
            require e == a, same_size map2
            require c == a, same_size map2
            w = for i < n, w = xs {
                first = [1.0]
                l = length(w)
                o = l - 1
                s = slice(w, 0, o)
                v = concat(first, s)
                q = length(v)
                require a == q, same_size map2
                yield v
            }
            g = length(w)
            r = each i < a, row in rows { u = each j < a { yield 1.0 } yield u }
            h = length(r, 1)
            return w, k, h
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, rows: [][]Real, n: Int, b: Bool) -> ([]Real, Int, Int) {
              a = length(xs)
              c = length(ys)
              m = a
              p = max(n, 0)
              require n == p, count build
              k = if b {
                require a == c, same_size map2
                d = a
                yield d
              } else {
                yield 0
              }
              zs = each i < a, x in xs {
                require a == c, same_size map2
                l = 0
                one = [x]
                t = one[l]
                yield t
              }
              e = a
              require c == a, same_size map2
              w2 = for i2 < n, w = xs {
                first = [1.0]
                l2 = a
                o = l2 - 1
                s = slice(w, 0, o)
                v = concat(first, s)
                q = a
                yield v
              }
              g = a
              r = each i3 < a, row in rows {
                u = each j < a {
                  yield 1.0
                }
                yield u
              }
              h = length(r, 1)
              return w2, k, h
            }

            entry f = f
        "#]],
    );
}

#[test]
fn unbox_opens_boxes_of_one_size() {
    let text = r"
        residual Row { Row([]Real) }
        func f(xs: []Real, n: Int, m: Int) -> (Real, []Real) {
            k = length(xs)
            w, rows, others = for i < n, w = xs {
                v = each j < k, x in w { y = sin(x) yield y }
                row = Row(v)
                z = each j < i { yield 1.0 }
                other = Row(z)
                yield v, row, other
            }
            s = for backward i < n, s = 0.0, row in rows, other in others {
                t = match row { Row(v) { y = v[m] yield y } }
                u = match other { Row(v) { y = v[m] yield y } }
                a = s + t
                b = a + u
                yield b
            }
            return s, w
        }
        entry f = f";
    check(
        "unbox",
        text,
        &expect![[r#"
        residual Row {
          Row([]Real)
        }

        func f(xs: []Real, n: Int, m: Int) -> (Real, []Real) {
          k = length(xs)
          w2, rows, others = for i < n, w = xs {
            v = each j < k, x in w {
              y = sin(x)
              yield y
            }
            row = v
            z = each j2 < i {
              yield 1.0
            }
            other = Row(z)
            yield v, row, other
          }
          s2 = for backward i2 < n, s = 0.0, row2 in rows, other2 in others {
            v2 = row2
            y2 = v2[m]
            t = y2
            u = match other2 {
              Row(v3) {
                y3 = v3[m]
                yield y3
              }
            }
            a = s + t
            b = a + u
            yield b
          }
          return s2, w2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn strong_looks_at_the_other_factor_before_a_loop() {
    let text = r"
        func f(xs: []Real, w: Real, y: Real, n: Int) -> (Real, Real, []Real, Real) {
            a = for i < n, a = 0.0, x in xs { b = a + x yield b }
            c = mul_zero(a, w)
            d = for i < n, d = 0.0, x in xs { e = x * y g = d + e yield g }
            z = mul_zero(w, d)
            h = for i < n, h = 0.0, x in xs { k = h - x yield k }
            m = mul_zero(h, w)
            t = m + h
            o = for i < n, o = 0.0, x in xs { p = o - x yield p }
            us = xs with [0] = y
            q = mul_zero(o, w)
            r = for i < n, r = 0.0 { v = us[i] u = r + v yield u }
            s = mul_zero(r, w)
            e2 = c + z
            g2 = q + s
            return e2, t, us, g2
        }
        entry f = f";
    // `h` is used twice, what `o` is made of is changed before its product, and `r` may fail.
    check(
        "strong",
        text,
        &expect![[r#"
            func f(xs: []Real, w: Real, y: Real, n: Int) -> (Real, Real, []Real, Real) {
              skip = w == 0.0
              c = if skip {
                yield 0.0
              } else {
                a2 = for i < n, a = 0.0, x in xs {
                  b = a + x
                  yield b
                }
                c2 = mul_zero(a2, w)
                yield c2
              }
              skip2 = w == 0.0
              z = if skip2 {
                yield 0.0
              } else {
                d2 = for i2 < n, d = 0.0, x2 in xs {
                  e = x2 * y
                  g = d + e
                  yield g
                }
                z2 = mul_zero(w, d2)
                yield z2
              }
              h2 = for i3 < n, h = 0.0, x3 in xs {
                k = h - x3
                yield k
              }
              m = mul_zero(h2, w)
              t = m + h2
              o2 = for i4 < n, o = 0.0, x4 in xs {
                p = o - x4
                yield p
              }
              us = xs with [0] = y
              q = mul_zero(o2, w)
              r2 = for i5 < n, r = 0.0 {
                v = us[i5]
                u = r + v
                yield u
              }
              s = mul_zero(r2, w)
              e2 = c + z
              g2 = q + s
              return e2, t, us, g2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sizes_of_parameters_come_first_and_zeros_need_not_what_is_kept() {
    let text = r"
        func f(xs: []Real, rows: [][]Real, s: Int) -> []Real {
            y = zeros(xs)
            n = length(xs)
            z, kept = for i < s, z = y {
                m = length(z)
                require m == n, same_size map2
                u = each j < n, a in xs, b in z { c = a * b yield c }
                yield u, z
            }
            w = for i < s, w = z, row in kept {
                o = zeros(row)
                v = each j < n, a in w, b in o { c = a + b yield c }
                yield v
            }
            return w
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
        func f(xs: []Real, rows: [][]Real, s: Int) -> []Real {
          n = length(xs)
          y = zeros(xs)
          z2, kept = for i < s, z = y {
            m = n
            u = each j < n, a in xs, b in z {
              c = a * b
              yield c
            }
            yield u, z
          }
          w2 = for i2 < s, w = z2, row in kept {
            o = zeros(xs)
            v = each j2 < n, a2 in w, b2 in o {
              c2 = a2 + b2
              yield c2
            }
            yield v
          }
          return w2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn inline_copies_larger_functions_to_calls_with_numbers() {
    let body: String = (0..60).map(|i| format!("x{} = x{i} * y ", i + 1)).collect();
    let text = format!(
        "func g(x0: Real, y: Real) -> Real {{ {body} return x60 }}
         func f(x: Real) -> (Real, Real, Real) {{ a = g(x, 1.0) b = g(1.0, x) c = g(x, a) return a, b, c }}
         entry f = f"
    );
    let mut program = wengert_ir::parse(&text).expect("the text is a program");
    crate::inline::run(&mut program);
    let text = wengert_ir::print(&program);
    // Two calls were with a number; the third stays a call.
    assert_eq!((text.matches("g(x, a)").count(), text.matches("= g(").count()), (1, 1), "{text}");
}

#[test]
fn inline_leaves_one_function_of_a_circle() {
    let text = r"
        func even(n: Int) -> Bool {
            z = n == 0
            r = if z { yield true } else { m = n - 1 o = odd(m) yield o }
            return r
        }
        func odd(n: Int) -> Bool {
            z = n == 0
            r = if z { yield false } else { m = n - 1 e = even(m) yield e }
            return r
        }
        func f(n: Int) -> Bool { e = even(n) return e }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::inline::run(&mut program);
    crate::dce::run(&mut program);
    let text = wengert_ir::print(&program);
    // `even` calls itself now; nobody needs `odd`.
    assert_eq!((text.matches("= even(").count(), text.matches("odd(").count()), (2, 0), "{text}");
}

#[test]
fn known_numbers_and_fields_given_twice_are_bound_where_they_are_needed() {
    let text = r"
        data Tape { End(Real); More(Real, Real, Real, Int, Tape) }
        func go(n: Int, x: Real, step: Real) -> Tape {
            z = n == 0
            t = if z { e = End(x) yield e } else {
                m = n - 1
                y = x * step
                rest = go(m, y, step)
                a = More(y, step, y, 3, rest)
                yield a
            }
            return t
        }
        func back(t: Tape, w: Real) -> Real {
            s = match t {
                End(x) { yield x }
                More(a, b, c, k, rest) {
                    r = back(rest, a)
                    d = b * c
                    q = real(k)
                    u = d + q
                    v = u * r
                    yield v
                }
            }
            return s
        }
        func f(x: Real, n: Int) -> Real { t = go(n, x, 0.5) r = back(t, 1.0) return r }
        entry f = f";
    check(
        "known",
        text,
        &expect![[r#"
        data Tape {
          End(Real)
          More(Real, Real, Real, Int, Tape)
        }

        func go(n: Int, x: Real, step2: Real) -> Tape {
          step = 0.5
          z = n == 0
          t = if z {
            e = End(x)
            yield e
          } else {
            m = n - 1
            y = x * step
            rest = go(m, y, step)
            a = More(y, step, y, 3, rest)
            yield a
          }
          return t
        }

        func back(t: Tape, w: Real) -> Real {
          s = match t {
            End(x) {
              yield x
            }
            More(a, b2, c2, k2, rest) {
              b = 0.5
              c = a
              k = 3
              r = back(rest, a)
              d = b * c
              q = real(k)
              u = d + q
              v = u * r
              yield v
            }
          }
          return s
        }

        func f(x: Real, n: Int) -> Real {
          t = go(n, x, 0.5)
          r = back(t, 1.0)
          return r
        }

        entry f = f
    "#]],
    );
}

#[test]
fn known_leaves_data_that_is_given_from_outside() {
    let text = r"
        data Pair { Pair(Real, Real) }
        func f(p: Pair, x: Real) -> (Real, Pair) {
            q = Pair(x, x)
            a = match p { Pair(u, v) { w = u - v yield w } }
            return a, q
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::known::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

/// Neighbors of an array are read in range: so the first loop can become part of the second, and what is added to `t` is not
/// needed.
const NEIGHBORS: &str = r"
    func f(xs: []Real) -> []Real {
        n = length(xs)
        m = n - 1
        ys = each i < m { j = i + 1 a = xs[i] b = xs[j] c = a * b yield c }
        z = zeros(xs)
        s, t = each backward i < m, s += z, t += z, y in ys {
            j = i + 1
            s2 = s with [j] += y
            t2 = t with [j] += y
            yield s2, t2
        }
        return s
    }
    entry f = f";

#[test]
fn fuse_knows_what_is_in_range() {
    check(
        "fuse",
        NEIGHBORS,
        &expect![[r#"
        func f(xs: []Real) -> []Real {
          n = length(xs)
          m = n - 1
          z = zeros(xs)
          s3, t3 = each backward i2 < m, s += z, t += z {
            j = i2 + 1
            a = xs[i2]
            b = xs[j]
            c = a * b
            j2 = i2 + 1
            s2 = s with [j2] += c
            t2 = t with [j2] += c
            yield s2, t2
          }
          return s3
        }

        entry f = f
    "#]],
    );
    // Beyond the end the first iteration that fails is another one.
    let beyond = NEIGHBORS.replace("a = xs[i] b = xs[j]", "k = i + 2 a = xs[i] b = xs[k]");
    let mut program = wengert_ir::parse(&beyond).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::fuse::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

#[test]
fn dce_knows_what_is_in_range() {
    check(
        "dce",
        NEIGHBORS,
        &expect![[r#"
        func f(xs: []Real) -> []Real {
          n = length(xs)
          m = n - 1
          ys = each i < m {
            j = i + 1
            a = xs[i]
            b = xs[j]
            c = a * b
            yield c
          }
          z = zeros(xs)
          s3 = each backward i2 < m, s += z, y in ys {
            j2 = i2 + 1
            s2 = s with [j2] += y
            yield s2
          }
          return s3
        }

        entry f = f
    "#]],
    );
    for (from, to) in [("j = i + 1\n            s2", "j = i + 2\n            s2"), ("m = n - 1", "m = n - 0")]
    {
        let beyond = NEIGHBORS.replace(from, to);
        assert_ne!(beyond, NEIGHBORS);
        let mut program = wengert_ir::parse(&beyond).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::dce::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn branches_on_one_condition_become_one() {
    let text = r"
        func f(x: Real, n: Int) -> (Real, Real) {
            p = x > 0.0
            c = if p { yield 0.0 } else { k = cos(x) yield k }
            z = x * x
            d = if p { y = z + x yield y } else { yield c }
            a = if p { i = div(2, n) yield i } else { yield n }
            j = div(1, n)
            e = if p { r = real(a) yield r } else { yield z }
            return d, e
        }
        entry f = f";
    check(
        "branches",
        text,
        &expect![[r#"
        func f(x: Real, n: Int) -> (Real, Real) {
          p = x > 0.0
          z = x * x
          d = if p {
            y = z + x
            yield y
          } else {
            k = cos(x)
            yield k
          }
          a = if p {
            i = div(2, n)
            yield i
          } else {
            yield n
          }
          j = div(1, n)
          e = if p {
            r = real(a)
            yield r
          } else {
            yield z
          }
          return d, e
        }

        entry f = f
    "#]],
    );
    // What else is used stays where it is, and so does what may fail before something that may.
    let stays = [("return d, e", "g = d + c return g, e"), ("z = x * x", "z = x * c")];
    for (from, to) in stays {
        let text = text.replace(from, to);
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::branches::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

/// The program relaxed.
fn check_relaxed(text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    crate::relax(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn what_a_loop_hands_on_is_multiplied_with_the_slope_of_the_step() {
    // The cotangent goes through a quotient and a product in each step; a sum takes its part of it, in both branches.
    let text = r"
        func f(xs: []Real, q: Real) -> (Real, Real) {
            n = length(xs)
            x_bar2, q_bar2 = for backward i < n, x_bar = 1.0, q_bar += 0.0, x in xs {
                c = x > 1.0
                y_bar, q_bar3 = if c {
                    a = -x_bar
                    b = div_zero(a, x)
                    d = mul_zero(b, q)
                    e = x_bar + d
                    g = q_bar + b
                    yield e, g
                } else {
                    h = x_bar * 0.5
                    yield h, q_bar
                }
                yield y_bar, q_bar3
            }
            return x_bar2, q_bar2
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: []Real, q: Real) -> (Real, Real) {
          n = length(xs)
          x_bar2, q_bar2 = for backward i < n, x_bar = 1.0, q_bar += 0.0, x in xs {
            c = x > 1.0
            y_bar, q_bar3 = if c {
              b2 = -1.0 / x
              d2 = mul_zero(b2, q)
              e2 = 1.0 + d2
              yield e2, b2
            } else {
              yield 0.5, 0.0
            }
            t = mul_zero(x_bar, y_bar)
            t2 = mul_zero(x_bar, q_bar3)
            t3 = q_bar + t2
            yield t, t3
          }
          return x_bar2, q_bar2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn slopes_are_left_where_they_are_no_gain_or_not_all_of_it() {
    // A short way; what else comes in on the way; a condition on the tangent; no derivative at all.
    for body in [
        "a = mul_zero(t, x) yield a",
        "a = mul_zero(t, x) b = a + x c = mul_zero(b, x) d = c - b yield d",
        "p = t > 0.0 a = mul_zero(t, x) b = a + t c = b - a s = select(p, b, c) yield s",
        "a = t * x b = a + t c = b * x yield c",
        "a = mul_zero(t, x) b = mul_zero(a, t) c = b + t yield c",
    ] {
        let text = format!(
            "func f(xs: []Real) -> Real {{ n = length(xs) t2 = for i < n, t = 1.0, x in xs {{ {body} }} return t2 }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::relax(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
