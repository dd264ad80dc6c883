//! Copies of data.

use super::check;
use expect_test::expect;

#[test]
fn a_tape_that_is_a_copy_is_what_it_was_copied_from() {
    let text = r"
        data Tree { Leaf(Real); Node(Tree, Tree) }
        residual tape { Leaf(Real); Node(tape, tape) }
        func main(t: Tree) -> Real { a = primal(t) b = back(a, 1.0) return b }
        func primal(t: Tree) -> tape {
            r = match t {
                Leaf(x) { a = tape::Leaf(x) yield a }
                Node(l, m) { b = primal(l) c = primal(m) d = tape::Node(b, c) yield d }
            }
            return r
        }
        func back(t: tape, y: Real) -> Real {
            r = match t {
                Leaf(x) { a = x * y yield a }
                Node(l, m) { z = y * 0.5 b = back(m, z) c = back(l, b) yield c }
            }
            return r
        }
        entry main = main";
    check(
        "copies",
        text,
        &expect![[r#"
        data Tree {
          Leaf(Real)
          Node(Tree, Tree)
        }

        residual tape {
          Leaf(Real)
          Node(Tree, Tree)
        }

        func main(t: Tree) -> Real {
          a = t
          b = back(a, 1.0)
          return b
        }

        func primal(t: Tree) -> Tree {
          r = match t {
            Leaf(x) {
              a = Tree::Leaf(x)
              yield a
            }
            Node(l, m) {
              b = l
              c = m
              d = Tree::Node(b, c)
              yield d
            }
          }
          return r
        }

        func back(t: Tree, y: Real) -> Real {
          r = match t {
            Leaf(x) {
              a = x * y
              yield a
            }
            Node(l, m) {
              z = y * 0.5
              b = back(m, z)
              c = back(l, b)
              yield c
            }
          }
          return r
        }

        entry main = main
    "#]],
    );
}

#[test]
fn what_differs_from_its_source_stays() {
    // Fields change places, a constructor becomes another, or the type is the program's own.
    let program = |kind: &str, node: &str, leaf: &str| {
        format!(
            "data Tree {{ Leaf(Real); Node(Tree, Tree); Twig(Real) }}
            {kind} tape {{ Leaf(Real); Node(tape, tape); Twig(Real) }}
            func main(t: Tree) -> Real {{ a = primal(t) b = back(a) return b }}
            func primal(t: Tree) -> tape {{
                r = match t {{
                    Leaf(x) {{ a = tape::{leaf}(x) yield a }}
                    Node(l, m) {{ b = primal(l) c = primal(m) d = tape::Node({node}) yield d }}
                    Twig(u) {{ e = tape::Twig(u) yield e }}
                }}
                return r
            }}
            func back(t: tape) -> Real {{
                r = match t {{
                    Leaf(x) {{ yield x }}
                    Node(l, m) {{ b = back(m) c = back(l) d = b - c yield d }}
                    Twig(u) {{ v = -u yield v }}
                }}
                return r
            }}
            entry main = main"
        )
    };
    let change = |text: &str| {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::copies::run(&mut program);
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        wengert_ir::print(&program) != before
    };
    assert!(change(&program("residual", "b, c", "Leaf")));
    assert!(!change(&program("residual", "c, b", "Leaf")));
    assert!(!change(&program("residual", "b, b", "Leaf")));
    assert!(!change(&program("residual", "b, c", "Twig")));
    assert!(!change(&program("data", "b, c", "Leaf")));
}
