//! Loops that are joined because nothing in them fails.

use super::{after, check, stays};
use expect_test::expect;

/// What is left of a division by how often a loop around goes is an index of what is so long, so that nothing fails there.
#[test]
fn what_is_left_of_a_division_is_in_range() {
    let text = "func f(xs: []Real, ys: []Real) -> []Real {
            n = length(xs)
            as = each i < n { h = i + n h2 = h - 1 k = h2 % n a = xs[k] yield a }
            bs = each j < n, y in as { i2 = j + 1 k2 = i2 % n b = xs[k2] c = b * y yield c }
            return bs
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real) -> []Real {
          n = length(xs)
          bs = each j < n {
            h = j + n
            h2 = h - 1
            k = h2 % n
            a = xs[k]
            i2 = j + 1
            k2 = i2 % n
            b = xs[k2]
            c = b * a
            yield c
          }
          return bs
        }

        entry f = f
    "#]],
    );
    // Of a negative number it is negative, and another array may be shorter.
    for (from, to) in [("h2 = h - 1", "h2 = i - 1"), ("a = xs[k]", "a = ys[k]")] {
        stays("fuse", &text.replace(from, to).replace("b = xs[k2]", "b = ys[k2]"));
    }
    // But not as mathematicians divide.
    let floored = text.replace("h2 = h - 1 k = h2 % n", "h2 = i - 7 k = mod(h2, n)");
    assert!(!after("fuse", &floored).contains("as = "));
}

/// What goes through data may go on for as long as it likes beside something else, if neither fails.
#[test]
fn loops_that_go_through_data_are_joined() {
    let text = "data Tree { Leaf(Real) Node(Tree, Tree) }
        tangent Tree2 of Tree { Zero() Leaf2(Real) Node2(Tree2, Tree2) }
        func total(t: Tree, x: Real) -> Real {
            s = match t {
                Leaf(y) { z = x * y yield z }
                Node(l, r) { a = total(l, x) b = total(r, x) c = a + b yield c }
            }
            return s
        }
        func main(t: Tree, xs: []Real) -> Real {
            n = length(xs)
            ys = each i < n, x in xs { y = total(t, x) yield y }
            s = for j < n, s2 = 1.0, y2 in ys { z = total(t, y2) s3 = s2 * z yield s3 }
            return s
        }
        entry main = main";
    check(
        "fuse",
        text,
        &expect![[r#"
        data Tree {
          Leaf(Real)
          Node(Tree, Tree)
        }

        tangent Tree2 of Tree {
          Zero()
          Leaf2(Real)
          Node2(Tree2, Tree2)
        }

        func total(t: Tree, x: Real) -> Real {
          s = match t {
            Leaf(y) {
              z = x * y
              yield z
            }
            Node(l, r) {
              a = total(l, x)
              b = total(r, x)
              c = a + b
              yield c
            }
          }
          return s
        }

        func main(t: Tree, xs: []Real) -> Real {
          n = length(xs)
          s = for j < n, s2 = 1.0, x in xs {
            y = total(t, x)
            z = total(t, y)
            s3 = s2 * z
            yield s3
          }
          return s
        }

        entry main = main
    "#]],
    );
    let failing = |message: &str| text.replace("a = total(l, x)", &format!("a: Real = fail({message:?})"));
    assert!(!after("fuse", &failing(wengert_ir::op::ASTRAY)).contains("ys = "));
    stays("fuse", &failing("of the user's own"));
}
