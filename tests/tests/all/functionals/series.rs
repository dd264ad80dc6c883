//! Taylor series of derivatives with respect to functions.

use super::{compiled, interpreted};
use wengert_tests::everywhere;

/// Taylor series of derivatives with respect to functions, and derivatives of such series with respect to functions: of any order. With
/// `--strict` up to order 24.
const SERIES: &[(&str, &str)] = &[
    (
        "(taylor ORDER (\\a -> snd (jvp (\\g -> g (g a)) (sin, cos))) 0.7)[5]",
        "(taylor 5 (\\a -> cos (sin a) + cos (sin a) * cos a) 0.7)[5]",
    ),
    (
        "(\\n -> (taylor n (\\a -> snd (jvp (\\g -> g (g a)) (sin, cos))) 0.7)[5]) ORDER",
        "(taylor 5 (\\a -> cos (sin a) + cos (sin a) * cos a) 0.7)[5]",
    ),
    (
        "(taylor ORDER (\\a -> snd (jvp (\\g -> g (g a)) ((\\y -> sin (a * y)), (\\y -> cos (a + y))))) 0.7)[4]",
        "(taylor 4 (\\a -> cos (a + sin (a * a)) + a * cos (a * sin (a * a)) * cos (a + a)) 0.7)[4]",
    ),
    (
        "(taylor ORDER (\\a -> apply_dual (pullback (\\g -> grad g (g a)) (\\_ -> to_dual 1.0) (\\y -> sin (a * y))) (\\y -> cos (a + y))) 0.7)[4]",
        "(taylor 4 (\\a -> 0.0 - sin (a + sin (a * a)) - a * a * sin (a * sin (a * a)) * cos (a + a)) 0.7)[4]",
    ),
    (
        "snd (jvp (\\h -> (taylor ORDER (\\x -> h (h x)) 0.3)[6]) (sin, cos))",
        "(taylor 6 (\\x -> cos (sin x) + cos (sin x) * cos x) 0.3)[6]",
    ),
    (
        "apply_dual (pullback (\\h -> (taylor ORDER (\\x -> h (h x)) 0.3)[6]) (\\_ -> to_dual 1.0) sin) cos",
        "(taylor 6 (\\x -> cos (sin x) + cos (sin x) * cos x) 0.3)[6]",
    ),
    (
        "snd (jvp (\\h -> grad (\\k -> (taylor ORDER (\\x -> h (k * h x)) 0.3)[3]) 0.8) (sin, cos))",
        "grad (\\k -> (taylor 3 (\\x -> cos (k * sin x) + cos (k * sin x) * k * cos x) 0.3)[3]) 0.8",
    ),
    (
        "snd (jvp (\\h -> (taylor ORDER (\\x -> grad (\\k -> h (k * h x)) 0.8) 0.3)[3]) (sin, cos))",
        "(taylor 3 (\\x -> grad (\\k -> cos (k * sin x) + cos (k * sin x) * k * cos x) 0.8) 0.3)[3]",
    ),
    // Rules that have captured what varies along the series.
    (
        "(taylor ORDER (\\a -> grad (grad (\\x -> custom_jvp (\\y -> a * a * y * y) (\\(y, t) -> (a * a * y * y, 2.0 * a * a * y * t)) (x * x))) 0.5) 0.3)[2]",
        "6.0",
    ),
    (
        "(taylor ORDER (\\a -> let (y, p) = vjp (\\x -> custom_vjp (\\y -> a * y * y) (\\y -> (a * y * y, \\w -> 2.0 * a * y * w)) x) 0.5 in p a) 0.3)[2]",
        "2.0",
    ),
    // Rules that are given functions which do not vary along the series.
    (
        "(taylor ORDER (\\a -> snd (jvp (\\h -> custom_jvp (\\g -> g a) (\\(g, t) -> (g a, t a)) h) (sin, cos))) 0.3)[5]",
        "(taylor 5 cos 0.3)[5]",
    ),
    (
        "(taylor ORDER (\\a -> custom_jvp (\\y -> y * sin a) (\\(g, t) -> (g, t)) 0.5) 0.3)[5]",
        "0.5 * (taylor 5 sin 0.3)[5]",
    ),
];

#[test]
fn series_of_any_order_of_derivatives_with_respect_to_functions_are_compiled() {
    let (mut session, scope) = everywhere::session_with("def nothing = 0\n");
    for (program, expected) in SERIES {
        for (order, modes) in [("6", &[false, true][..]), ("26", &[false])] {
            let program = program.replace("ORDER", order);
            // Where only running tells the order there are fewer in strict mode.
            let modes = if program.starts_with("(\\n") { &[false] } else { modes };
            let found = compiled(&mut session, &scope, &program, modes);
            let expected = interpreted(&mut session, &scope, expected);
            let close = (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
            assert!(close, "{program}\ngives {found}, not {expected}");
        }
    }
}
