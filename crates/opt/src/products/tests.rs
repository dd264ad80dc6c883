//! Loops that are products, of matrices of all small sizes, that fit and do not: with the pass and without it they give the
//! same, failures included.

use expect_test::{Expect, expect};
use wengert_ir::eval::{Evaluator, Items, Limits, Value};
use wengert_ir::{FuncId, Program};

/// Statements that make `c` of `a`, `b` (matrices) and `v` (a vector), and the type of `c`.
const LOOPS: &[(&str, &str)] = &[
    (
        "[][]Real",
        "m = length(a) k = length(b) n = length(b, 1)
         c = each i < m { r = each j < n { s = for l < k, t = 0.0 { u = a[i, l] w = b[l, j] p = u * w q = t + p yield q } yield s } yield r }",
    ),
    (
        "[][]Real",
        "m = length(a) k = length(a, 1) n = length(b, 1)
         c = each i < m, x in a { r = each j < n { s = for l < k, t = 0.0, u in x { w = b[l, j] p = w * u q = p + t yield q } yield s } yield r }",
    ),
    (
        "[][]Real",
        "m = length(a) d = transpose(b) n = length(d)
         c = each i < m, x in a { r = each j < n, y in d { s = dot(x, y) yield s } yield r }",
    ),
    (
        "[][]Real",
        "m = length(a) n = length(b)
         c = each i < m, x in a { r = each j < n, y in b { s = dot(y, x) yield s } yield r }",
    ),
    (
        "[][]Real",
        "m = length(a, 1) n = length(b, 1) k = length(a)
         c = each i < m { z = b[0] r = each j < n { s = for l < k, t = 0.0, x in a { u = x[i] w = b[l, j] p = u * w q = t + p yield q } yield s } yield r }",
    ),
    (
        "[][]Real",
        "m = length(a) n = length(b) k = length(a, 1) h = length(b, 1)
         c = each i < m, x in a { r = each j < n, y in b { require k == h, same_size map2 s = for l < k, t = 0.0, u in x, w in y { p = u * w q = t + p yield q } yield s } yield r }",
    ),
    ("[]Real", "m = length(a) c = each i < m, x in a { s = dot(x, v) yield s }"),
    (
        "[]Real",
        "m = length(a) k = length(v)
         c = each i < m { x = a[i] s = for l < k, t = 0.0, w in v { u = x[l] p = u * w q = t + p yield q } yield s }",
    ),
    (
        "[]Real",
        "m = length(a, 1) k = length(v)
         c = each i < m { s = for l < k, t = 0.0, w in v { u = a[l, i] p = u * w q = t + p yield q } yield s }",
    ),
];

/// Loops that look like products and are none.
const OTHERS: &[&str] = &[
    "m = length(a) c = each i < m, x in a { s = dot(x, x) yield s }",
    "m = length(a) k = length(v) c = each i < m, x in a { s = for l < k, t = 1.0, w in v { u = x[l] p = u * w q = t + p yield q } yield s }",
    "m = length(a) k = length(v) c = each i < m, x in a { s = for backward l < k, t = 0.0, w in v { u = x[l] p = u * w q = t + p yield q } yield s }",
    "m = length(a) k = length(v) c = each i < m, x in a { s = for l < k, t = 0.0, w in v { u = x[l] p = u - w q = t + p yield q } yield s }",
    "m = length(a) k = length(v) c = each i < m, x in a { s = for l < k, t = 0.0, w in v { u = x[l] p = mul_zero(u, w) q = t + p yield q } yield s }",
    "m = length(a) k = length(v) c = each i < m, x in a { s = for l < k, t = 0.0, w in v { u = x[i] p = u * w q = t + p yield q } yield s }",
];

fn parse(ty: &str, loops: &str) -> Program {
    let text =
        format!("func f(a: [][]Real, b: [][]Real, v: []Real) -> {ty} {{\n{loops}\nreturn c\n}}\nentry f = f");
    let program = wengert_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    program
}

fn matrix(n: usize, m: usize, seed: usize) -> Value {
    // An array without rows has no sizes.
    let m = if n == 0 { 0 } else { m };
    Value::array([n, m], Items::Reals((0..n * m).map(|k| ((k * 5 + seed) as f64).sin()).collect()))
}

fn outcome(program: &Program, args: Vec<Value>) -> String {
    match Evaluator::new(program, Limits::default()).call(FuncId(0), args) {
        Ok(values) => values.iter().map(Value::to_string).collect(),
        Err(failure) => failure.fault.message(),
    }
}

#[test]
fn products_give_what_the_loops_gave_for_all_sizes() {
    for (ty, loops) in LOOPS {
        let before = parse(ty, loops);
        let mut after = before.clone();
        super::run(&mut after);
        assert_eq!(wengert_ir::verify(&after), Ok(()), "{}", wengert_ir::print(&after));
        let text = wengert_ir::print(&after);
        assert!(text.contains("matmul(") || text.contains("matvec("), "{text}");
        // Nothing is found a second time.
        let mut again = after.clone();
        super::run(&mut again);
        assert_eq!(wengert_ir::print(&again), text);
        for sizes in 0..4_usize.pow(4) {
            let [n, m, k, l] = [sizes % 4, sizes / 4 % 4, sizes / 16 % 4, sizes / 64];
            let vector = Value::reals((0..l).map(|i| i as f64 + 0.5).collect::<Vec<f64>>());
            let args = vec![matrix(n, m, 1), matrix(k, l, 2), vector];
            let (expected, found) = (outcome(&before, args.clone()), outcome(&after, args));
            assert_eq!(expected, found, "{n} {m} {k} {l}\n{loops}\n{text}");
        }
    }
}

#[test]
fn what_is_no_product_stays() {
    for loops in OTHERS {
        let before = parse("[]Real", loops);
        let mut after = before.clone();
        super::run(&mut after);
        assert_eq!(wengert_ir::print(&after), wengert_ir::print(&before));
    }
}

fn check(ty: &str, loops: &str, expected: &Expect) {
    let mut program = parse(ty, loops);
    super::run(&mut program);
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn rows_times_a_vector() {
    check(
        "[]Real",
        "m = length(a) c = each i < m, x in a { s = dot(x, v) yield s }",
        &expect![[r#"
            func f(a: [][]Real, b: [][]Real, v: []Real) -> []Real {
              m = length(a)
              n = length(a, 1)
              n2 = length(v)
              each i < m {
                require n == n2, same_size dot
              }
              c = matvec(a, v)
              return c
            }

            entry f = f
        "#]],
    );
}

#[test]
fn three_loops() {
    let (ty, loops) = LOOPS.first().copied().unwrap_or_default();
    check(
        ty,
        loops,
        &expect![[r#"
        func f(a: [][]Real, b: [][]Real, v: []Real) -> [][]Real {
          m = length(a)
          k = length(b)
          n = length(b, 1)
          n2 = length(a, 1)
          fits = n2 == k
          c = if fits {
            c2 = matmul(a, b)
            yield c2
          } else {
            c3 = each i < m {
              r = each j < n {
                s = for l < k, t = 0.0 {
                  u = a[i, l]
                  w = b[l, j]
                  p = u * w
                  q = t + p
                  yield q
                }
                yield s
              }
              yield r
            }
            yield c3
          }
          return c
        }

        entry f = f
    "#]],
    );
}

#[test]
fn of_a_product_that_nobody_uses_its_check_remains() {
    let (ty, loops) = (
        "[]Real",
        "p = matmul(a, b) q = matvec(b, v) n = length(p, 1) d = dot(v, v) z = zeros(q) c = replicate(n, 1.0) y = z[0]",
    );
    check(
        ty,
        loops,
        &expect![[r#"
            func f(a: [][]Real, b: [][]Real, v: []Real) -> []Real {
              n = length(a)
              n2 = length(a, 1)
              n3 = length(b)
              each i < n {
                require n2 == n3, product_size matmul
              }
              n4 = length(b)
              n5 = length(b, 1)
              n6 = length(v)
              each i2 < n4 {
                require n5 == n6, product_size matvec
              }
              n7 = length(a)
              n8 = length(b, 1)
              none = n7 == 0
              n9 = select(none, 0, n8)
              n10 = length(v)
              n11 = length(v)
              require n10 == n11, same_size dot
              n12 = length(b)
              z = replicate(n12, 0.0)
              c = replicate(n9, 1.0)
              y = z[0]
              return c
            }

            entry f = f
        "#]],
    );
    let before = parse(ty, loops);
    let mut after = before.clone();
    super::run(&mut after);
    for sizes in 0..4_usize.pow(4) {
        let [n, m, k, l] = [sizes % 4, sizes / 4 % 4, sizes / 16 % 4, sizes / 64];
        let args = vec![matrix(n, m, 1), matrix(k, l, 2), Value::reals(vec![1.0; l])];
        assert_eq!(outcome(&before, args.clone()), outcome(&after, args), "{n} {m} {k} {l}");
    }
}

#[test]
fn a_product_that_another_loop_goes_through_is_one_all_the_same() {
    let loops = "m = length(a) k = length(b) n = length(b, 1)
         r = each i < m { r = each j < n { s = for l < k, t = 0.0 { u = a[i, l] w = b[l, j] p = u * w q = t + p yield q } yield s } yield r }
         c = each i < m, x in r { s = for j < n, t = 0.0, y in x { z = y * y q = t + z yield q } yield s }";
    let before = parse("[]Real", loops);
    let mut after = before.clone();
    crate::optimize(&mut after, &crate::Options::default());
    assert!(wengert_ir::print(&after).contains("matmul(a, b)"), "{}", wengert_ir::print(&after));
    for sizes in 0..4_usize.pow(4) {
        let [n, m, k, l] = [sizes % 4, sizes / 4 % 4, sizes / 16 % 4, sizes / 64];
        let args = vec![matrix(n, m, 1), matrix(k, l, 2), Value::reals(Vec::new())];
        assert_eq!(outcome(&before, args.clone()), outcome(&after, args), "{n} {m} {k} {l}");
    }
}
