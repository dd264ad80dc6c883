//! Recursive functions one after the other.

use super::check;
use expect_test::expect;

/// A tree of cotangents, and the tree that it stands for.
const TEXT: &str = r#"
    data Tree {
      Leaf(Real)
      Node(Tree, Tree)
    }
    tangent Slope of Tree {
      Zero()
      Tip(Real)
      Fork(Slope, Slope)
    }
    func main(tree: Tree) -> Tree {
        d = back(tree, 1.0)
        e = surface(tree, d)
        return e
    }
    func back(t: Tree, w: Real) -> Slope {
        d = match t {
            Leaf(x) { a = w * x s = Tip(a) yield s }
            Node(l, r) {
                v = w * 0.5
                q = back(r, v)
                p = back(l, w)
                s = Fork(p, q)
                yield s
            }
        }
        return d
    }
    func surface(t: Tree, d: Slope) -> Tree {
        e = match t {
            Leaf(x) {
                a = match d {
                    Zero() { yield 0.0 }
                    Tip(b) { yield b }
                    Fork(p, q) { c: Real = fail("another") yield c }
                }
                s = Tree::Leaf(a)
                yield s
            }
            Node(l, r) {
                f, g = match d {
                    Zero() { y = Zero() z = Zero() yield y, z }
                    Tip(b) { y: Slope, z: Slope = fail("another") yield y, z }
                    Fork(p, q) { yield p, q }
                }
                m = surface(l, f)
                n = surface(r, g)
                s = Tree::Node(m, n)
                yield s
            }
        }
        return e
    }
    entry main = main"#;

#[test]
fn what_a_recursive_function_makes_for_another_one_is_not_made() {
    check(
        "compose",
        TEXT,
        &expect![[r#"
        data Tree {
          Leaf(Real)
          Node(Tree, Tree)
        }

        tangent Slope of Tree {
          Zero()
          Tip(Real)
          Fork(Slope, Slope)
        }

        func main(tree: Tree) -> Tree {
          e = back2(tree, 1.0)
          return e
        }

        func back(t: Tree, w: Real) -> Slope {
          d = match t {
            Leaf(x) {
              a = w * x
              s = Tip(a)
              yield s
            }
            Node(l, r) {
              v = w * 0.5
              q = back(r, v)
              p = back(l, w)
              s2 = Fork(p, q)
              yield s2
            }
          }
          return d
        }

        func surface(t: Tree, d: Slope) -> Tree {
          e = match t {
            Leaf(x) {
              a = match d {
                Zero() {
                  yield 0.0
                }
                Tip(b) {
                  yield b
                }
                Fork(p, q) {
                  c: Real = fail("another")
                  yield c
                }
              }
              s = Leaf(a)
              yield s
            }
            Node(l, r) {
              f, g = match d {
                Zero() {
                  y = Zero()
                  z = Zero()
                  yield y, z
                }
                Tip(b2) {
                  y2: Slope, z2: Slope = fail("another")
                  yield y2, z2
                }
                Fork(p2, q2) {
                  yield p2, q2
                }
              }
              m = surface(l, f)
              n = surface(r, g)
              s2 = Node(m, n)
              yield s2
            }
          }
          return e
        }

        func back2(t: Tree, w: Real) -> Tree {
          e = match t {
            Leaf(x) {
              a = w * x
              s = Leaf(a)
              yield s
            }
            Node(l, r) {
              v = w * 0.5
              n = back2(r, v)
              m = back2(l, w)
              s2 = Node(m, n)
              yield s2
            }
          }
          return e
        }

        entry main = main
    "#]],
    );
}

#[test]
fn two_that_go_through_different_data_become_one() {
    // What is taken apart beside it is another tree, of which it is not known which constructor it has.
    let text = TEXT
        .replace("func main(tree: Tree)", "func main(tree: Tree, other: Tree)")
        .replace("surface(tree, d)", "surface(other, d)");
    check(
        "compose",
        &text,
        &expect![[r#"
        data Tree {
          Leaf(Real)
          Node(Tree, Tree)
        }

        tangent Slope of Tree {
          Zero()
          Tip(Real)
          Fork(Slope, Slope)
        }

        func main(tree: Tree, other: Tree) -> Tree {
          e = back2(tree, 1.0, other)
          return e
        }

        func back(t: Tree, w: Real) -> Slope {
          d = match t {
            Leaf(x) {
              a = w * x
              s = Tip(a)
              yield s
            }
            Node(l, r) {
              v = w * 0.5
              q = back(r, v)
              p = back(l, w)
              s2 = Fork(p, q)
              yield s2
            }
          }
          return d
        }

        func surface(t: Tree, d: Slope) -> Tree {
          e = match t {
            Leaf(x) {
              a = match d {
                Zero() {
                  yield 0.0
                }
                Tip(b) {
                  yield b
                }
                Fork(p, q) {
                  c: Real = fail("another")
                  yield c
                }
              }
              s = Leaf(a)
              yield s
            }
            Node(l, r) {
              f, g = match d {
                Zero() {
                  y = Zero()
                  z = Zero()
                  yield y, z
                }
                Tip(b2) {
                  y2: Slope, z2: Slope = fail("another")
                  yield y2, z2
                }
                Fork(p2, q2) {
                  yield p2, q2
                }
              }
              m = surface(l, f)
              n = surface(r, g)
              s2 = Node(m, n)
              yield s2
            }
          }
          return e
        }

        func back2(t: Tree, w: Real, t2: Tree) -> Tree {
          e = match t {
            Leaf(x) {
              a = w * x
              s = Leaf(a)
              e2 = s
              yield e2
            }
            Node(l, r) {
              v = w * 0.5
              l2, r2 = match t2 {
                Leaf(x2) {
                  l3: Tree, r3: Tree = fail("another")
                  yield l3, r3
                }
                Node(l4, r4) {
                  yield l4, r4
                }
              }
              n = back2(r, v, r2)
              m = back2(l, w, l2)
              s2 = Node(m, n)
              e3 = s2
              yield e3
            }
          }
          return e
        }

        entry main = main
    "#]],
    );
}

#[test]
fn what_others_look_at_is_made() {
    let stays = [
        // Somebody else takes it, too.
        ("return e", "g = surface(e, d) return g"),
        // One half is made from the other.
        (
            "p = back(l, w)",
            "z = match q { Zero() { yield 0.0 } Tip(b) { yield b } Fork(g, h) { yield w } } p = back(l, z)",
        ),
    ];
    for (from, to) in stays {
        let text = TEXT.replacen(from, to, 1);
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        let before = wengert_ir::print(&program);
        crate::compose::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
