//! Matches on what branches make, and what is known inside of branches.

use super::check;
use expect_test::expect;

#[test]
fn matches_become_part_of_the_branches_that_make_what_they_match() {
    let text = r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }
        func f(p: Bool, x: Real) -> (Real, Real) {
            u = x * x
            d, e = if p {
                s = sin(x) a = Shape::Disk(s) yield a, s
            } else {
                b = Shape::Box(x, u) yield b, 1.0
            }
            v = u + x
            z = match d {
                Disk(r) { w = r * e yield w }
                Box(g, h) { w2 = g + h w3 = w2 - e yield w3 }
            }
            y = z + v
            return y, e
        }
        entry f = f"#;
    check(
        "cases",
        text,
        &expect![[r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }

        func f(p: Bool, x: Real) -> (Real, Real) {
          u = x * x
          v = u + x
          z, e = if p {
            s = sin(x)
            w = s * s
            yield w, s
          } else {
            w2 = x + u
            w3 = w2 - 1.0
            yield w3, 1.0
          }
          y = z + v
          return y, e
        }

        entry f = f
    "#]],
    );
    // What is also given to somebody else is made; two that make the same would both want the one arm.
    let stays = [
        ("b = Shape::Box(x, u)", "b = Shape::Disk(u)"),
        ("v = u + x", "v = u + e"),
        ("y = z + v", "y = match d { Disk(r2) { yield r2 } Box(g2, h2) { yield g2 } }"),
    ];
    for (from, to) in stays {
        let text = text.replace(from, to);
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::cases::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn a_branch_that_fails_gives_what_the_match_gave() {
    let text = r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }
        func f(p: Bool, x: Real, n: Int) -> (Real, Int) {
            d, m = if p {
                a: Shape, k: Int = fail("no")
                yield a, k
            } else {
                b = Shape::Box(x, x) yield b, n
            }
            z = match d { Disk(r) { yield r } Box(g, h) { w = g * h yield w } }
            return z, m
        }
        entry f = f"#;
    check(
        "cases",
        text,
        &expect![[r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }

        func f(p: Bool, x: Real, n: Int) -> (Real, Int) {
          z, m = if p {
            z2: Real, m2: Int = fail("no")
            yield z2, m2
          } else {
            w = x * x
            yield w, n
          }
          return z, m
        }

        entry f = f
    "#]],
    );
}

#[test]
fn conditions_and_what_is_matched_are_known_inside() {
    let text = r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }
        func f(p: Bool, d: Shape, x: Real) -> Real {
            y = if p {
                z = if p { a = x * x yield a } else { yield x }
                yield z
            } else {
                q = not(p)
                z2 = if q { b = x + x yield b } else { yield x }
                yield z2
            }
            w = match d {
                Disk(r) { s = match d { Disk(t) { yield t } Box(g, h) { c = g + h yield c } } yield s }
                Box(g2, h2) { s2 = select(p, g2, h2) yield s2 }
            }
            v = if p { yield w } else { yield y }
            return v
        }
        entry f = f"#;
    check(
        "simplify",
        text,
        &expect![[r#"
        data Shape {
          Disk(Real)
          Box(Real, Real)
        }

        func f(p: Bool, d: Shape, x: Real) -> Real {
          y = if p {
            a = x * x
            yield a
          } else {
            b = x + x
            yield b
          }
          w = match d {
            Disk(r) {
              yield r
            }
            Box(g2, h2) {
              s2 = select(p, g2, h2)
              yield s2
            }
          }
          v = select(p, w, y)
          return v
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_settled_stays_as_it_is() {
    let text = "func g(x: Real) -> Real { y = x * 1.0 z = y + y return z }
        func f(x: Real) -> Real { a = g(x) b = g(a) c = a * 0.0 return b }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    let options = crate::Options::default();
    assert!(crate::optimize(&mut program, &options), "it takes few rounds");
    let before = wengert_ir::print(&program);
    assert!(crate::optimize(&mut program, &options));
    assert_eq!(wengert_ir::print(&program), before);
}
