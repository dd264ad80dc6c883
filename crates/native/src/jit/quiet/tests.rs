//! Loops that fill columns, and what their code is.

use super::super::Code;
use super::super::tests::{agrees, program};

fn code(text: &str) -> String {
    let mut loops = crate::lower::lower(&program(text));
    crate::dead::clean(&mut loops);
    Code::text(&loops).expect("there is a code generator")
}

/// A loop whose length nobody knows, and that keeps what it computes.
const KEEPS: &str = "func f(xs: []Real) -> ([]Real, []Real, Real) {
        n = length(xs)
        x = real(n)
        i, y, ys, zs = while i = 0, y = x {
            m = n * 9
            more = i < m
            yield more
        } do i, y {
            z = y * 0.75
            w = z + x
            j = i + 1
            yield j, w, y, z
        }
        return ys, zs, y
    }
    entry f = f";

#[test]
fn what_makes_room_in_a_column_leaves_all_registers() {
    assert_eq!(code(KEEPS).contains("preserve_all"), cfg!(target_arch = "x86_64"));
    agrees(KEEPS, 0, 0);
    // A loop that keeps nothing needs no room.
    let without = KEEPS.replace("i, y, ys, zs =", "i, y =").replace("yield j, w, y, z", "yield j, w");
    let without = without.replace("ys, zs, y", "xs, xs, y");
    assert!(!code(&without).contains("preserve_all"));
}

/// What a loop in which nothing is called needs of functions that are called before it.
#[test]
fn what_is_called_beside_quick_loops_leaves_all_registers() {
    let text = |step: &str| {
        format!(
            "func f(xs: []Real) -> ([]Real, []Real, Real) {{
                n = length(xs)
                x = real(n) a = sin(x) b = cos(a)
                s = for i < n, s = x {{
                    c = s > 1.0
                    t = if c {{ h = s * 0.5 p = h + a yield p }} else {{ q = {step} yield q }}
                    yield t
                }}
                z = exp(s) u = z + b
                return xs, xs, u
            }}
            entry f = f"
        )
    };
    let quick = text("s - b");
    assert_eq!(code(&quick).contains("preserve_all"), cfg!(target_arch = "x86_64"));
    agrees(&quick, 0, 0);
    // Here a loop calls something itself.
    assert!(!code(&text("sin(s)")).contains("preserve_all"));
    agrees(&text("sin(s)"), 0, 0);
    // And here it is short.
    assert!(!code(&quick.replace("i < n", "i < 3")).contains("preserve_all"));
}

#[test]
fn loops_along_an_array_do_not_look_whether_to_stop() {
    let text = |body: &str| {
        format!(
            "func f(xs: []Real, m: Int) -> Real {{
                n = length(xs)
                s = for i < n, s = 1.0 {{ {body} yield t }}
                return s
            }}
            entry f = f"
        )
    };
    let looks = |body: &str| code(&text(body)).matches("atomic_load").count();
    assert_eq!(looks("x = xs[i] y = s * x t = y + 1.0"), 0);
    assert_eq!(looks("x = xs[m] y = s * x t = y + 1.0"), 1);
}

#[test]
fn constants_come_second() {
    let text = "func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, s = 1.0, x in xs { y = 3.0 * x z = s / y t = 2.0 + z yield t }
            return s
        }
        entry f = f";
    let made = code(text);
    let constant = |line: &str, op: &str| {
        let (_, args) = line.split_once(op)?;
        let first = args.split([',', ' ']).next()?;
        Some(made.contains(&format!("{first} = f64const")))
    };
    for op in ["= fmul ", "= fadd "] {
        let first: Vec<bool> = made.lines().filter_map(|line| constant(line, op)).collect();
        assert!(!first.is_empty() && first.iter().all(|is| !is), "{made}");
    }
}
