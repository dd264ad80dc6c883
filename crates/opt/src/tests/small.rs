//! Small arrays of which the sizes are known.

use super::check;
use expect_test::expect;

#[test]
fn what_a_loop_hands_on_and_a_branch_gives_is_numbers() {
    check(
        "small",
        "func f(xs: []Real, n: Int) -> Real {
            start = [1.0, 0.0]
            v, total = for i < n, v = start, total = 0.0, x in xs {
                one = [x, 1.0] two = [0.0, x]
                m = [one, two]
                c = x < 0.0
                w = if c { a = matvec(m, v) yield a } else { b = [x, x] yield b }
                d = dot(w, v)
                s = total + d
                yield w, s
            }
            y = v[0]
            r = y + total
            return r
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, n: Int) -> Real {
              start = [1.0, 0.0]
              x = start[0]
              x2 = start[1]
              v, v2, total = for i < n, v3 = x, v4 = x2, total2 = 0.0, x3 in xs {
                v5 = [v3, v4]
                one = [x3, 1.0]
                two = [0.0, x3]
                m = [one, two]
                c = x3 < 0.0
                w, w2 = if c {
                  x4 = m[0, 0]
                  x5 = m[0, 1]
                  x6 = m[1, 0]
                  x7 = m[1, 1]
                  x8 = v5[0]
                  x9 = v5[1]
                  t = x4 * x8
                  t2 = x5 * x9
                  t3 = t + t2
                  t4 = x6 * x8
                  t5 = x7 * x9
                  t6 = t4 + t5
                  a = [t3, t6]
                  x10 = a[0]
                  x11 = a[1]
                  yield x10, x11
                } else {
                  b = [x3, x3]
                  x12 = b[0]
                  x13 = b[1]
                  yield x12, x13
                }
                w3 = [w, w2]
                x14 = w3[0]
                x15 = w3[1]
                x16 = v5[0]
                x17 = v5[1]
                t7 = x14 * x16
                t8 = x15 * x17
                t9 = t7 + t8
                d = t9
                s = total2 + d
                x18 = w3[0]
                x19 = w3[1]
                yield x18, x19, s
              }
              v6 = [v, v2]
              y = v6[0]
              r = y + total
              return r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_read_at_a_place_that_moves_stays_an_array() {
    for step in
        ["y = v[j] w = [x, y]", "u = v with [0] = x y = u[j] w = u with [1] = y", "w = v with [j] = x"]
    {
        let text = format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                start = [1.0, 0.0]
                v = for i < n, v = start, x in xs {{ j = i % 2 {step} yield w }}
                return v
            }}
            entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        assert!(!crate::small::run(&mut program), "{step}");
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn products_of_what_need_not_be_small_stay() {
    let text = "func f(ms: [][][]Real, v: []Real, n: Int) -> [][]Real {
            ws = each i < n, m in ms { w = matvec(m, v) yield w }
            return ws
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert!(!crate::small::run(&mut program));
}

#[test]
fn sums_of_small_arrays_are_sums_of_their_elements() {
    check(
        "small",
        "func f(xs: []Real) -> Real {
            n = length(xs)
            start = [0.0, 0.0]
            v = for i < n, v = start, x in xs { one = [x, 1.0] w = v + one yield w }
            y = v[0]
            return y
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> Real {
              n = length(xs)
              start = [0.0, 0.0]
              x = start[0]
              x2 = start[1]
              v, v2 = for i < n, v3 = x, v4 = x2, x3 in xs {
                v5 = [v3, v4]
                one = [x3, 1.0]
                x4 = v5[0]
                x5 = v5[1]
                x6 = one[0]
                x7 = one[1]
                t = x4 + x6
                t2 = x5 + x7
                w = [t, t2]
                x8 = w[0]
                x9 = w[1]
                yield x8, x9
              }
              v6 = [v, v2]
              y = v6[0]
              return y
            }

            entry f = f
        "#]],
    );
}
