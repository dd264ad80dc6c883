//! Sums of what is the same in all iterations.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn a_sum_of_what_is_always_the_same_is_a_product() {
    let text = "func f(xs: []Real, k: Real, a: Real) -> (Real, Real, Real, Real) {
        n = length(xs)
        s, t, c, u = for i < n, s = 0.5, t = a, c = 0.0, u = 0.0, x in xs {
            s2 = s - k
            t2 = t + k t3 = t2 + 2.0
            c2 = c + 1.0
            u2 = u + x
            yield s2, t3, c2, u2
        }
        return s, t, c, u
    }
    entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: []Real, k: Real, a: Real) -> (Real, Real, Real, Real) {
          n = length(xs)
          u = for i < n, u2 = 0.0, x in xs {
            u2_2 = u2 + x
            yield u2_2
          }
          count = real(n)
          all = mul_zero(k, count)
          sum = 0.5 - all
          sum2 = a + all
          all2 = count * 2.0
          sum3 = sum2 + all2
          return sum, sum3, count, u
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_needed_on_the_way_or_may_be_taken_away_again_is_added_there() {
    let text = "func f(xs: []Real, k: Real) -> (Real, Real, Real, []Real) {
        n = length(xs)
        s, u, v, ts = for i < n, s = 0.0, u = 0.0, v = 0.0, x in xs {
            s2 = s + k t = s2 * x
            u2 = u + k u3 = u2 * x
            v2 = v + x v3 = v2 - k
            yield s2, u3, v3, t
        }
        return s, u, v, ts
    }
    entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: []Real, k: Real) -> (Real, Real, Real, []Real) {
          n = length(xs)
          s, u, v, ts = for i < n, s2 = 0.0, u2 = 0.0, v2 = 0.0, x in xs {
            s2_2 = s2 + k
            t = s2_2 * x
            u2_2 = u2 + k
            u3 = u2_2 * x
            sum = x - k
            v3 = v2 + sum
            yield s2_2, u3, v3, t
          }
          return s, u, v, ts
        }

        entry f = f
    "#]],
    );
}
