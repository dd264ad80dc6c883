//! Gradients of what looks at elements of small arrays.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_added_to_zeros_of_known_size_is_listed() {
    check_relaxed(
        "func f(m: [][]Real, v: []Real) -> ([][]Real, []Real) {
            r = length(m) require 2 == r, count build
            s = length(m, 1) require 2 == s, count build
            n = length(v) require 3 == n, count build
            a = m[0, 0] b = m[0, 1] c = m[1, 0] d = m[1, 1] x = v[2]
            zeros = zeros(m)
            m1 = zeros with [0, 0] += d
            m2 = m1 with [1, 1] += a
            m3 = m2 with [0, 1] += c
            m4 = m3 with [1, 0] += b
            m5 = m4 with [1, 0] += x
            zeros2 = zeros(v)
            v1 = zeros2 with [0] += x
            v2 = v1 with [2] += a
            return m5, v2
        }
        entry f = f",
        &expect![[r#"
            func f(m: [][]Real, v: []Real) -> ([][]Real, []Real) {
              r = length(m)
              require 2 == r, count build
              s = length(m, 1)
              require 2 == s, count build
              n = length(v)
              require 3 == n, count build
              a = m[0, 0]
              b = m[0, 1]
              c = m[1, 0]
              d = m[1, 1]
              x = v[2]
              sum = b + x
              t = [d, c]
              t2 = [sum, a]
              m5 = [t, t2]
              v2 = [x, 0.0, a]
              return m5, v2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_updates_stay() {
    let stays = |body: &str| {
        let text = format!(
            "func f(v: []Real, x: Real, k: Int) -> []Real {{ n = length(v) require 6 == n, count build zeros = zeros(v) {body} return r }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert!(!crate::listed::run(&mut program), "{body}");
    };
    // Few elements of many, a place that is not known or not there, and zeros that something else looks at.
    stays("a = zeros with [0] += x r = a with [1] += x");
    stays("a = zeros with [0] += x b = a with [1] += x r = b with [k] += x");
    stays("a = zeros with [0] += x b = a with [1] += x r = b with [6] += x");
    stays("a = zeros with [0] += x b = a with [1] += x c = b with [2] += x s = sum(a) r = c with [3] += s");
}
