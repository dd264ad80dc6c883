//! What the next iteration waits for.

use super::doubles::check;
use expect_test::expect;

#[test]
fn what_the_next_iteration_waits_for_is_compared_last() {
    check(
        "s, q = for i < 9, left = x, corner = y { up = real(i) a = min(up, left) b = min(corner, a) t = sin(up) next = t + b yield next, up } r = s + q return r",
        &expect![[r#"
            s, q = for i < 9, left = x, corner = y {
            up = real(i)
            least = min(corner, up)
            b = min(least, left)
            t = sin(up)
            next = t + b
            yield next, up
            }
            r = s + q
            return r
        "#]],
    );
    // What comes first stays first: among equal ones it counts.
    check(
        "s = for i < 9, s = x { a = real(i) b = sin(a) t = max(a, b) u = max(s, t) w = cos(a) v = max(u, w) next = v - y yield next } return s",
        &expect![[r#"
            s = for i < 9, s2 = x {
            a = real(i)
            b = sin(a)
            w = cos(a)
            most = max(a, b)
            most2 = max(most, w)
            v = max(s2, most2)
            next = v - y
            yield next
            }
            return s
        "#]],
    );
    // What is looked at in between stays.
    check(
        "s, q = for i < 9, left = x, sum = 0.0 { up = real(i) a = min(up, left) b = min(y, a) c = sum + a yield b, c } r = s + q return r",
        &expect![[r#"
            s, q = for i < 9, left = x, sum = 0.0 {
            up = real(i)
            a = min(up, left)
            b = min(y, a)
            c = sum + a
            yield b, c
            }
            r = s + q
            return r
        "#]],
    );
}
