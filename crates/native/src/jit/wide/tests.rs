//! Loops in vectors of eight and of four, beside the evaluator of the IR.

use super::super::Compiler;
use super::super::tests::{agrees, program};
use super::Width;
use super::program::{Arg, Carried, Fused, Op, Program, Real, Step};
use crate::Math;
use crate::loops::{Int, Local, Operand, Stmt, Value};
use wengert_ir::ty::Id;

/// How many loops of a program are done in vectors of this width.
fn wide(text: &str, math: Math, width: Width) -> usize {
    let mut loops = crate::lower::lower(&program(text));
    crate::dead::clean(&mut loops);
    crate::memory::mark(&mut loops);
    let mut compiler = Compiler::new(&loops, math).expect("there is a code generator");
    compiler.wide = Some(width);
    for (id, func) in loops.funcs.iter() {
        compiler.build(id, func);
    }
    compiler.wides
}

/// That so many loops are, and give what the evaluator gives, where the processor has such vectors.
pub(in crate::jit) fn in_wide(text: &str, fast: usize, strict: usize) {
    for width in [4, 8].into_iter().filter_map(Width::of_most) {
        assert_eq!(
            (wide(text, Math::Fast, width), wide(text, Math::Strict, width)),
            (fast, strict),
            "{text}"
        );
    }
    agrees(text, fast, strict);
}

/// More values at a time than there are registers.
#[test]
fn values_without_a_register_are_in_memory() {
    let count = 40;
    let made: String =
        (0..count).map(|n| format!("a{n} = x * {n}.5 b{n} = a{n} + y p{n} = b{n} > {n}.0\n")).collect();
    let read: String = (0..count)
        .map(|n| {
            let last = if n == 0 { "x".to_string() } else { format!("e{}", n - 1) };
            let m = count - 1 - n;
            format!("c{n} = select(p{m}, b{m}, {last}) d{n} = c{n} - {last} e{n} = d{n} + b{n}\n")
        })
        .collect();
    for (carried, sum, first) in [("s = 0.0, ", "t = s + x", "t, "), ("", "", "")] {
        let (kind, result) = if carried.is_empty() { ("each", "") } else { ("for", "r, ") };
        let ty = if carried.is_empty() { "[]Real" } else { "(Real, []Real)" };
        let text = format!(
            "func f(xs: []Real) -> {ty} {{
                n = length(xs)
                {result}ys = {kind} i < n, {carried}x in xs {{
                    k = n - i
                    m = k - 1
                    y = xs[m]
                    {made} {read} {sum}
                    yield {first}e{}
                }}
                return {result}ys
            }}
            entry f = f",
            count - 1
        );
        in_wide(&text, 1, usize::from(carried.is_empty()));
    }
}

/// More is carried than there are registers for that.
#[test]
fn sums_without_a_register_are_in_memory() {
    for count in [9, 16, 32] {
        let list = |name: &str, by: &str, more: &dyn Fn(usize) -> String| {
            (0..count).map(|n| format!("{name}{n}{}", more(n))).collect::<Vec<_>>().join(by)
        };
        let begun = list("s", ", ", &|n| format!(" = {n}.0"));
        let sums = list("u", " ", &|n| format!(" = x * {n}.5 t{n} = s{n} + u{n}"));
        let (results, given) = (list("r", ", ", &|_| String::new()), list("t", ", ", &|_| String::new()));
        let types = vec!["Real"; count].join(", ");
        let text = format!(
            "func f(xs: []Real) -> ({types}) {{
                n = length(xs)
                {results} = for i < n, {begun}, x in xs {{ {sums} yield {given} }}
                return {results}
            }}
            entry f = f"
        );
        in_wide(&text, 1, 0);
    }
}

/// Products that are zero if a factor is, and what is made of them.
#[test]
fn strong_products_become_part_of_sums_where_nobody_looks_for_zeros() {
    let [x, y, z] = [0, 1, 2].map(Arg::Vector);
    let real = |id, op, a, b| Step::Vector(id, Op::Real(op, a, b));
    for quick in [false, true] {
        let mut program = Program {
            steps: vec![
                Step::Vector(0, Op::Load { from: 0 }),
                Step::Vector(1, Op::Load { from: 1 }),
                real(3, Real::MulZero, x, y),
                real(4, Real::Add, z, Arg::Vector(3)),
            ],
            carried: vec![Carried { before: 2, after: Arg::Vector(4), first: None }],
            vectors: 5,
            quick,
            ..Program::default()
        };
        program.fuse();
        let fused = Step::Vector(4, Op::FusedZero(Fused::Plus, x, y, z));
        assert_eq!(program.steps.contains(&fused), quick);
    }
    let made: String = (0..8)
        .map(|n| {
            let sum = ["y + p", "p - y", "y - p"].map(|sum| sum.replace('p', &format!("p{n}")));
            let last = if n == 0 { "x".to_string() } else { format!("c{}", n - 1) };
            format!("p{n} = mul_zero({last}, {}.0) c{n} = {} ", n % 3, sum[n % 3])
        })
        .collect();
    let text = format!(
        "func f(xs: []Real) -> (Real, []Real, []Real) {{
            n = length(xs)
            h = xs[0]
            s, ys, zs = for i < n, s = 0.0, x in xs {{
                k = n - i
                m = k - 1
                y = xs[m]
                q = mul_zero(x, y) a = h + q
                r = mul_zero(y, h) b = r - x
                v = mul_zero(x, x) c = y - v
                w = mul_zero(h, x) d = 2.5 - w
                {made}
                e = mul_zero(x, h) t = s + e
                j = a + b o = c + d
                yield t, j, o
            }}
            return s, ys, zs
        }}
        entry f = f"
    );
    in_wide(&text, 1, 0);
}

#[test]
fn sums_have_several_parts() {
    let extremes = "func f(xs: []Real) -> (Real, Real) {
        a = maximum(xs)
        b = minimum(xs)
        return a, b
    }
    entry f = f";
    in_wide(extremes, 2, 0);
    for more in ["", "z = y * x y2 = z - 1.0 y3 = y2 * y2 s4 = s3 + y3 "] {
        let last = if more.is_empty() { "s3" } else { "s4" };
        let text = format!(
            "func f(xs: []Real) -> (Real, Real) {{
                n = length(xs)
                a, b = for backward i < n, s = 1.0, t = 2.0, x in xs {{
                    y = x * 0.5
                    s3 = s - y
                    {more}
                    t3 = x + t
                    yield {last}, t3
                }}
                return a, b
            }}
            entry f = f"
        );
        in_wide(&text, 1, 0);
    }
}

#[test]
fn numbers_that_lie_apart_and_integers() {
    let steps: String = (1..30).map(|n| format!("z{n} = z{} * 0.5 ", n - 1)).collect();
    let text = format!(
        "func f(xs: []Real) -> ([]Real, []Int, []Real) {{
            n = length(xs)
            m = n / 3
            ys, ks, zs = each i < m {{
                j = i * 3
                x = xs[j]
                k = j + 2
                y = xs[k]
                z0 = mul_zero(x, y)
                u = j * i
                v = u - k
                late = v > 40
                even = i != 7
                a = bit_and(v, 12)
                b = bit_or(a, 3)
                c = bit_xor(b, v)
                d = max(c, u)
                e = min(d, 300)
                w = select(late, e, k)
                l = select(even, w, 5)
                r = real(l)
                {steps}
                t = z29 + r
                q = sign(x)
                yield t, w, q
            }}
            return ys, ks, zs
        }}
        entry f = f"
    );
    in_wide(&text, 1, 1);
}

/// The code of a large body stands once: short arrays are done by it too. What the last iteration gives is read later.
#[test]
fn large_bodies_and_what_the_last_iteration_gives() {
    let steps: String = (1..30).map(|n| format!("a{n} = a{} * x b{n} = a{n} + 0.25\n", n - 1)).collect();
    let text = format!(
        "func f(xs: []Real) -> ([]Real, []Real, Real) {{
            n = length(xs)
            ys = each i < n, x in xs {{
                a0 = x * 0.001
                {steps}
                c = b29 - a3
                yield c
            }}
            last, zs = for backward i < n, before = 3.5, x in xs {{
                y = x * 2.0
                z = y - 1.0
                yield z, y
            }}
            return ys, zs, last
        }}
        entry f = f"
    );
    in_wide(&text, 2, 2);
}

/// What lies between the edges of a piece of a long loop has many iterations, too.
#[test]
fn pieces_of_long_loops_without_their_edges() {
    let int = |to: usize, op, x: usize, y| {
        Stmt::Set(Local::new(to), Value::Int(op, Operand::Local(Local::new(x)), Operand::Int(y)))
    };
    let copy = Stmt::Set(Local::new(4), Value::Copy(Operand::Local(Local::new(3))));
    let stmts = [
        int(1, Int::Min, 0, 64),
        int(2, Int::Sub, 1, 1),
        int(3, Int::Max, 2, 0),
        copy,
        int(5, Int::Min, 0, 8),
        int(6, Int::Sub, 0, 1),
    ];
    let mut known: Vec<Local> = super::super::vector::lengths(&stmts).into_iter().collect();
    known.sort();
    assert_eq!(known, [1, 2, 3, 4].map(Local::new));
}

/// In a body that stands there a second time anyway nobody looks for two strong zeros first.
#[test]
fn a_few_strong_zeros_are_looked_for_only_if_something_is_no_number() {
    in_wide(
        "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s, ys = for i < n, s = 0.0, x in xs {
                y = 1.0 / x
                z = mul_zero(x, y)
                w = mul_zero(z, x)
                t = s + w
                yield t, w
            }
            return s, ys
        }
        entry f = f",
        1,
        0,
    );
}

/// A product that is read once and what is made of it are one step.
#[test]
fn products_become_part_of_sums() {
    let [x, y, z] = [0, 1, 2].map(Arg::Vector);
    let real = |id, op, a, b| Step::Vector(id, Op::Real(op, a, b));
    let mut program = Program {
        steps: vec![
            Step::Vector(0, Op::Load { from: 0 }),
            Step::Vector(1, Op::Load { from: 1 }),
            real(3, Real::Mul, Arg::Given(2), x),
            real(4, Real::Sub, y, Arg::Vector(3)),
            // It is read twice.
            real(5, Real::Mul, y, y),
            real(6, Real::Add, Arg::Vector(5), Arg::Vector(5)),
            real(7, Real::Mul, x, y),
            real(8, Real::Add, z, Arg::Vector(7)),
        ],
        carried: vec![Carried { before: 2, after: Arg::Vector(8), first: None }],
        vectors: 9,
        ..Program::default()
    };
    program.fuse();
    let fused = |id, how, a, b, c| Step::Vector(id, Op::Fused(how, a, b, c));
    assert_eq!(program.steps.len(), 6);
    assert!(program.steps.contains(&fused(4, Fused::From, x, Arg::Given(2), y)));
    assert!(program.steps.contains(&fused(8, Fused::Plus, x, y, z)));
    in_wide(
        "func f(xs: []Real) -> (Real, []Real, []Real, []Real) {
            n = length(xs)
            h = xs[0]
            s, ys, zs, ws = for i < n, s = 0.0, x in xs {
                k = n - i
                m = k - 1
                y = xs[m]
                a = x * y
                b = a + h
                c = x * x
                d = c - y
                e = h * y
                f = b - e
                g = x * 2.5
                t = s + g
                u = y * y
                v = u + u
                w = v - d
                yield t, f, w, d
            }
            return s, ys, zs, ws
        }
        entry f = f",
        1,
        0,
    );
}
