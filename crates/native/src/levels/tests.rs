//! Functions with some of their calls in themselves, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::eval::Value;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;

/// A tree of so many levels, and what is looked for in it; and a recursion that gives two numbers and hands on a third.
const TEXT: &str = "data Tree { Leaf(Real) Node(Tree, Tree) }
    func main(n: Int, x: Real) -> (Real, Real, Real) {
        t = grow(n, x)
        a = total(t)
        b, c = both(n, x, 3.0)
        return a, b, c
    }
    func grow(n: Int, x: Real) -> Tree {
        c = n == 0
        t = if c { l = Tree::Leaf(x) yield l } else {
            m = n - 1
            y = x * 0.75
            z = x + 0.5
            a = grow(m, y)
            b = grow(m, z)
            l = Tree::Node(a, b)
            yield l
        }
        return t
    }
    func total(t: Tree) -> Real {
        y = match t {
            Leaf(x) { z = x * x yield z }
            Node(l, r) { a = total(l) b = total(r) c = b * 0.5 d = a - c yield d }
        }
        return y
    }
    func both(n: Int, x: Real, w: Real) -> (Real, Real) {
        c = n <= 0
        a, b = if c { yield w, x } else {
            m = n - 2
            p, q = both(m, w, x)
            s = p * 0.5
            u, v = both(m, s, q)
            k = u + p
            yield k, v
        }
        return a, b
    }
    entry main = main";

fn lowered() -> crate::loops::Program {
    let program = wengert_ir::parse::parse(TEXT).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let mut loops = crate::lower::lower(&program);
    crate::dead::clean(&mut loops);
    loops
}

#[test]
fn small_functions_have_some_levels_of_their_calls_in_themselves() {
    let mut loops = lowered();
    let calls = |loops: &crate::loops::Program| -> Vec<usize> {
        (1..4).map(|k| super::calls(&loops.funcs.at(FuncId::new(k)).body, FuncId::new(k))).collect()
    };
    assert_eq!(calls(&loops), [2, 2, 2]);
    super::unroll(&mut loops);
    for count in calls(&loops) {
        assert!(count == 4 || count == 8, "{}", crate::loops::print(&loops));
    }
    assert_eq!(super::calls(&loops.funcs.at(FuncId::new(2)).body, FuncId::new(2)), 8, "the sum is small");
}

#[test]
fn they_give_what_they_gave() {
    let mut beside = Beside::of_text(TEXT, &[Math::Strict]);
    for n in 0..12 {
        beside.agrees(&[Value::Int(n), Value::Real(1.25)], format_args!("{n} levels"));
    }
}
