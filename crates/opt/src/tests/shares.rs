//! What is associative, in shares.

use wengert_ir::eval::{Evaluator, Items, Limits, Value};

/// What the entry of a program gives for an array of so many integers.
fn result(program: &wengert_ir::Program, size: usize) -> String {
    let entry = *program.entries.values().next().expect("it has an entry");
    let items = Items::Ints((0..size as i64).map(|k| k * 7919 % 13 - 5).collect());
    let limits = Limits { max_steps: None, max_memory: 1 << 30, ..Limits::default() };
    let given = Evaluator::new(program, limits).call(entry, vec![Value::array(vec![size], items)]);
    format!("{:?}", given.map_err(|failure| failure.fault))
}

/// That a program is made in shares or not, and gives the same.
fn agrees(text: &str, in_shares: bool) {
    let before = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&before), Ok(()));
    let mut after = before.clone();
    crate::share(&mut after, &crate::Options::default());
    assert_eq!(wengert_ir::verify(&after), Ok(()), "{}", wengert_ir::print(&after));
    assert_eq!(wengert_ir::print(&after).contains("share"), in_shares, "{}", wengert_ir::print(&after));
    for size in [0, 1, 5, 4095, 4096, 4097, 5000, 10_007] {
        assert_eq!(result(&after, size), result(&before, size), "size {size}");
    }
}

#[test]
fn products_of_matrices_in_shares() {
    // Integers wrap, so that the products are the same in any grouping. What they begin with is not neutral.
    agrees(
        "func f(xs: []Int) -> (Int, Int, Int, Int) {
            n = length(xs)
            ps, qs, rs, ss = each i < n, x in xs { p = x + 1 q = x * i r = i - x yield p, q, r, x }
            a, b, c, d = reduce i2 < n, a = 2, b = 1, c = -1, d = 3, p in ps, q in qs, r in rs, s in ss {
                ap = a * p
                br = b * r
                a2 = ap + br
                aq = a * q
                bs = b * s
                b2 = aq + bs
                cp = c * p
                dr = d * r
                c2 = cp + dr
                cq = c * q
                ds = d * s
                d2 = cq + ds
                yield a2, b2, c2, d2
            }
            return a, b, c, d
        }
        entry f = f",
        true,
    );
}

#[test]
fn the_last_that_is_not_zero_and_how_many_there_are() {
    agrees(
        "func f(xs: []Int) -> (Int, Int) {
            n = length(xs)
            ones = each i < n, x in xs { c = x > 0 o = if c { yield 1 } else { yield 0 } yield o }
            k, last = reduce j < n, k = 0, last = 0, o in ones, x in xs {
                k2 = k + o
                none = x == 0
                l = if none { yield last } else { yield x }
                yield k2, l
            }
            return k, last
        }
        entry f = f",
        true,
    );
}

#[test]
fn what_may_fail_and_what_is_a_sum_stays() {
    agrees(
        "func f(xs: []Int) -> Int {
            n = length(xs)
            k = reduce j < n, k = 1, x in xs { p = k * x d = p / x yield d }
            return k
        }
        entry f = f",
        false,
    );
    agrees(
        "func f(xs: []Int) -> (Int, Int) {
            n = length(xs)
            k = reduce j < n, k = 1, x in xs { p = k + x yield p }
            m = reduce j2 < n, m = 1, x2 in xs { p2 = max(m, x2) yield p2 }
            return k, m
        }
        entry f = f",
        false,
    );
}
