//! Rows that hold nothing.

use super::check;
use expect_test::expect;

#[test]
fn rows_that_hold_nothing_are_counted() {
    // As long as what is kept besides; a number, where data holds them; and as they are, where somebody goes through them.
    check(
        "flat",
        r"
        residual Row { Row() }
        residual Rows { Rows([]Row) }
        residual Seen { Seen([]Row) }
        func f(n: Int, x: Real) -> (Int, Int, Real) {
            k, hs, is = while i = n { c = i > 0 yield c } do j { h = Row::Row() l = j - 1 yield l, h, j }
            a = length(hs)
            k2, gs = while i2 = n { c2 = i2 > 0 yield c2 } do j2 { g = Row::Row() l2 = j2 - 1 yield l2, g }
            tape = Rows::Rows(gs)
            seen = Seen::Seen(gs)
            s = for i3 < a, s3 = 0.0, i4 in is { r = real(i4) t = s3 + r yield t }
            b = match tape { Rows(ts) { m = length(ts) yield m } }
            t2 = match tape { Rows(ts2) { yield ts2 } }
            b2 = length(t2)
            d = match seen { Seen(us) { m2 = for i5 < b, m3 = 0, u in us { m4 = match u { Row() { o = m3 + 1 yield o } } yield m4 } yield m2 } }
            e = b + b2
            return e, d, s
        }
        entry f = f",
        &expect![[r#"
            residual Row {
              Row()
            }

            residual Rows {
              Rows(Int)
            }

            residual Seen {
              Seen([]Row)
            }

            func f(n: Int, x: Real) -> (Int, Int, Real) {
              k, hs, is = while i = n {
                c = i > 0
                yield c
              } do j {
                h = Row()
                l = j - 1
                yield l, h, j
              }
              hs2 = length(is)
              a = hs2
              k2, gs = while i2 = n {
                c2 = i2 > 0
                yield c2
              } do j2 {
                g = Row()
                l2 = j2 - 1
                yield l2, g
              }
              n2 = length(gs)
              seen = Seen(gs)
              s = for i3 < a, s3 = 0.0, i4 in is {
                r = real(i4)
                t = s3 + r
                yield t
              }
              m = n2
              b2 = n2
              d = match seen {
                Seen(us) {
                  m2 = for i5 < m, m3 = 0, u in us {
                    m4 = match u {
                      Row() {
                        o = m3 + 1
                        yield o
                      }
                    }
                    yield m4
                  }
                  yield m2
                }
              }
              e = m + b2
              return e, d, s
            }

            entry f = f
        "#]],
    );
}
