//! Loops that add to the elements of their own row of zeros, and of one other row.

use expect_test::{Expect, expect};
use wengert_ir::eval::{Evaluator, Items, Limits, Value};

/// What goes backward through shortest paths.
const TEXT: &str = "func f(x: [][]Real, w: [][]Real) -> [][]Real {
        n = length(x)
        z = for k < n, c = w {
            zeros = zeros(x)
            b = each backward i < n, a += zeros, row in c {
                d = each backward j < n, e += a, y in row {
                    f = e with [i, j] += y
                    m = y * 2.0
                    g = f with [i, k] += m
                    h = g with [k, j] += y
                    yield h
                }
                yield d
            }
            yield b
        }
        return z
    }
    entry f = f";

/// The program with such rows, which gives what it gave, and fails where it failed.
fn made(text: &str) -> (bool, String) {
    let before = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&before), Ok(()), "before");
    let mut after = before.clone();
    let any = crate::lines::run(&mut after);
    assert_eq!(wengert_ir::verify(&after), Ok(()), "after:\n{}", wengert_ir::print(&after));
    let entry = *before.entries.values().next().expect("it has an entry");
    for (rows, columns) in [(0, 0), (1, 1), (2, 2), (3, 3), (2, 3), (3, 2), (3, 0), (1, 0)] {
        for (more, wide) in [(rows, columns), (rows, rows), (2, 2), (3, 2)] {
            let matrix = |rows: usize, columns: usize| {
                let items = (0..rows * columns).map(|at| if at == 1 { -0.0 } else { at as f64 - 2.0 });
                Value::array([rows, columns], Items::Reals(items.collect()))
            };
            let args = [matrix(rows, columns), matrix(more, wide)];
            let by = |program| Evaluator::new(program, Limits::default()).call(entry, args.to_vec());
            let (a, b) = (by(&before), by(&after));
            assert!(
                same(&a, &b),
                "{rows} {columns} {more} {wide}: {a:?} {b:?}\n{}",
                wengert_ir::print(&after)
            );
        }
    }
    (any, wengert_ir::print(&after))
}

/// Whether two runs give the same numbers, but for signs of zeros and the columns of no rows, or the same failure.
fn same<E: std::fmt::Debug>(a: &Result<Vec<Value>, E>, b: &Result<Vec<Value>, E>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Value::Array(a), Value::Array(b)) => match (a.items(), b.items()) {
                (Items::Reals(xs), Items::Reals(ys)) => xs == ys,
                (a, b) => format!("{a:?}") == format!("{b:?}"),
            },
            (a, b) => format!("{a:?}") == format!("{b:?}"),
        }),
        (a, b) => format!("{a:?}") == format!("{b:?}"),
    }
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&made(text).1);
}

#[test]
fn what_is_added_to_the_own_row_and_to_one_other_is_two_rows() {
    check(
        &TEXT.replace("n = length(x)", "n = length(x) m = length(x, 1) require m == n, rows"),
        &expect![[r#"
            func f(x: [][]Real, w: [][]Real) -> [][]Real {
              n = length(x)
              m = length(x, 1)
              require m == n, rows
              z = for k < n, c = w {
                zeros = zeros(x)
                a = replicate(n, 0.0)
                a2, b = each backward i < n, a3 += a, row in c {
                  a4 = replicate(n, 0.0)
                  e, e2 = each backward j < n, e3 += a4, e4 += a3, y in row {
                    e5 = e3 with [j] += y
                    m2 = y * 2.0
                    f = e5 with [k] += m2
                    g = e4 with [j] += y
                    yield f, g
                  }
                  yield e2, e
                }
                b2 = b with [k] += a2
                yield b2
              }
              return z
            }

            entry f = f
        "#]],
    );
}

#[test]
fn where_it_is_not_known_whether_there_are_as_many_rows_a_branch_asks() {
    let text = "func f(x: [][]Real, w: [][]Real) -> ([][]Real, [][]Real) {
            n = length(w)
            m = length(w, 1)
            zeros = zeros(x)
            b, rows = each i < n, a += zeros, row in w {
                d, s = each j < m, e += a, s += 0.0, y in row {
                    f = e with [i, j] += y
                    t = s + y
                    yield f, t
                }
                ss = replicate(1, s)
                yield d, ss
            }
            return b, rows
        }
        entry f = f";
    check(
        text,
        &expect![[r#"
        func f(x: [][]Real, w: [][]Real) -> ([][]Real, [][]Real) {
          n = length(w)
          m = length(w, 1)
          n2 = length(x)
          n3 = n2 == n
          n4 = select(n3, true, false)
          n5 = length(x, 1)
          n6 = n5 == m
          n7 = select(n6, n4, false)
          b, rows = if n7 {
            rows2, b2 = each i < n, row in w {
              a = replicate(m, 0.0)
              e, s = each j < m, e2 += a, s2 += 0.0, y in row {
                e3 = e2 with [j] += y
                t = s2 + y
                yield e3, t
              }
              ss = replicate(1, s)
              yield ss, e
            }
            yield b2, rows2
          } else {
            zeros = zeros(x)
            b3, rows3 = each i2 < n, a2 += zeros, row2 in w {
              d, s3 = each j2 < m, e4 += a2, s4 += 0.0, y2 in row2 {
                f = e4 with [i2, j2] += y2
                t2 = s4 + y2
                yield f, t2
              }
              ss2 = replicate(1, s3)
              yield d, ss2
            }
            yield b3, rows3
          }
          return b, rows
        }

        entry f = f
    "#]],
    );
}

#[test]
fn rows_on_the_sides_of_a_branch_are_rows() {
    let text = TEXT.replace(
        "f = e with [i, j] += y m",
        "c2 = i < k f = if c2 { o = e with [i, j] += y yield o } else { yield e } m",
    );
    let text = text.replace(
        "f = e with [i, j] += y\n",
        "c2 = i < k f = if c2 { o = e with [i, j] += y p = o with [k, j] += y yield p } else { yield e }\n",
    );
    assert!(made(&text).0);
}

#[test]
fn others_stay() {
    assert!(made(TEXT).0);
    for (from, to) in [
        // Two other rows.
        ("[k, j]", "[0, j]"),
        // One of which it is not known that it is there.
        ("[k, j] += y", "[p, j] += y"),
        // Neighbors.
        ("f = e with [i, j] += y", "p = j + 1 f = e with [i, p] += y"),
        // A row is added as a whole.
        ("yield d\n", "o = d with [i] += row yield o\n"),
        // It is no zeros.
        ("zeros = zeros(x)", "zeros = x"),
        // Nothing is added to the own row.
        ("[i, j]", "[k, j]"),
    ] {
        let text = TEXT.replace(from, to).replace("n = length(x)\n", "n = length(x) p = 1\n");
        let text = if from == "[i, j]" { text.replace("[i, k]", "[k, k]") } else { text };
        assert!(text != TEXT, "{from}");
        assert!(!made(&text).0, "{text}");
    }
}
