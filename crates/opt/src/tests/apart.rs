//! What loops add to one element, summed apart.

use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    assert!(crate::apart::run(&mut program));
    let text = wengert_ir::print(&program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    expected.assert_eq(&text);
}

/// A loop that adds to the elements and to the one at `k`, after `before`.
fn program(before: &str) -> String {
    format!(
        "func f(n: Int, k: Int, xs: []Real) -> []Real {{ {before} z = zeros(xs) \
         zs = each i < n, a += z, x in xs {{ t = xs[k] b = a with [i] += x y = t * x c = b with [k] += y yield c }} \
         return zs }} entry f = f"
    )
}

#[test]
fn where_the_element_need_not_be_there_a_branch_asks_whether_there_was_an_iteration() {
    check(
        &program(""),
        &expect![[r#"
        func f(n: Int, k: Int, xs: []Real) -> []Real {
          z = zeros(xs)
          zs, sum = each i < n, a += z, sum2 += 0.0, x in xs {
            t = xs[k]
            b = a with [i] += x
            y = t * x
            c = b
            sum3 = sum2 + y
            yield c, sum3
          }
          some = n > 0
          zs2 = if some {
            zs3 = zs with [k] += sum
            yield zs3
          } else {
            yield zs
          }
          return zs2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn where_it_is_there_nobody_asks() {
    check(
        &program("s = xs[k]"),
        &expect![[r#"
        func f(n: Int, k: Int, xs: []Real) -> []Real {
          s = xs[k]
          z = zeros(xs)
          zs, sum = each i < n, a += z, sum2 += 0.0, x in xs {
            t = xs[k]
            b = a with [i] += x
            y = t * x
            c = b
            sum3 = sum2 + y
            yield c, sum3
          }
          zs2 = zs with [k] += sum
          return zs2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_added_to_a_few_elements_only_is_summed_in_numbers() {
    let text = "func f(n: Int, xs: []Real) -> ([]Real, []Real) {
            z = replicate(2, 0.0) w = replicate(3, 0.0)
            zs, ws = each i < n, a += z, b += w, x in xs {
                y = sin(x)
                a2 = a with [0] += x
                b2 = b with [i] += y
                a3 = a2 with [1] += y
                a4 = a3 with [0] += y
                yield a4, b2
            }
            return zs, ws
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert!(crate::apart::cells(&mut program));
    let text = wengert_ir::print(&program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
    expect![[r#"
        func f(n: Int, xs: []Real) -> ([]Real, []Real) {
          z = replicate(2, 0.0)
          w = replicate(3, 0.0)
          ws, sum, sum2 = each i < n, b += w, sum3 += 0.0, sum4 += 0.0, x in xs {
            y = sin(x)
            b2 = b with [i] += y
            sum5 = sum4 + y
            both = x + y
            sum6 = sum3 + both
            yield b2, sum6, sum5
          }
          zs = z
          zs2 = zs with [1] += sum2
          zs3 = zs2 with [0] += sum
          return zs3, ws
        }

        entry f = f
    "#]]
    .assert_eq(&text);
}
