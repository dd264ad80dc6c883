//! Loops that make arrays for others that read them at another place than their own index.

use super::check;
use expect_test::expect;

const TEXT: &str = "
    func f(xs: []Real, n: Int) -> []Real {
        m = length(xs)
        ys = each i < m, x in xs { y = x * x yield y }
        zs = each k < m, x2 in xs {
            first = k + 1
            some = m - first
            s = for j < some, t = x2 { l = j + first z = xs[l] t2 = t + z yield t2 }
            us, vs = each i2 < m, x3 in xs { u = s * x3 v = u + s yield u, v }
            r = for j2 < some, t3 = s {
                l2 = j2 + first
                c = t3 > 0.0
                u2 = us[l2]
                v2 = vs[l2]
                w = if c { a = u2 * v2 yield a } else { yield v2 }
                t4 = t3 + w
                yield t4
            }
            yield r
        }
        return zs
    }
    entry f = f";

#[test]
fn a_loop_that_reads_beside_its_index_makes_what_it_reads() {
    check(
        "fuse",
        TEXT,
        &expect![[r#"
        func f(xs: []Real, n: Int) -> []Real {
          m = length(xs)
          ys = each i < m, x in xs {
            y = x * x
            yield y
          }
          zs = each k < m, x2 in xs {
            first = k + 1
            some = m - first
            s = for j < some, t = x2 {
              l = j + first
              z = xs[l]
              t2 = t + z
              yield t2
            }
            r = for j2 < some, t3 = s {
              l2 = j2 + first
              c = t3 > 0.0
              x3 = xs[l2]
              u = s * x3
              v = u + s
              w = if c {
                a = u * v
                yield a
              } else {
                yield v
              }
              t4 = t3 + w
              yield t4
            }
            yield r
          }
          return zs
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_read_at_several_places_or_may_not_be_there_is_made_before() {
    // At another place, at one that may lie beyond, twice over, and given as a whole.
    for (from, to) in [
        ("v2 = vs[l2]", "l3 = j2 + 0 v2 = vs[l3]"),
        ("l2 = j2 + first", "l2 = j2 + n"),
        ("yield r", "o = us[0] r2 = r + o yield r2"),
        ("u = s * x3", "p = xs[n] u = s * p"),
    ] {
        let mut program = wengert_ir::parse(&TEXT.replace(from, to)).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{from}");
        crate::fuse::run(&mut program);
        let text = wengert_ir::print(&program);
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        assert!(text.contains("us, vs = each"), "{to}: {text}");
    }
}
