//! The primitives of the core: those on reals are the calculus's own, those on arrays are written by `build`, `index` and
//! recursion, as section 10.2 has it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the primitives looked for are listed, the others are refused"
)]

use super::super::each;
use super::super::syntax::{Builtin, Compare, Const, E, Expr, IntOp, Kind, LeafOp, Pat, Poly, Ty, make};
use super::{Translated, Translator, order, project, truth};
use crate::kit::simple::{self, Term, TermKind};
use make::{app, choice, lam, leaf_op, pair, real_op, var};
use std::rc::Rc;
use wengert_base::Name;
use wengert_prim::{Prim, RealOp};

/// A saturated primitive with its translated arguments.
pub(super) fn primitive(
    t: &mut Translator<'_>,
    prim: Prim,
    args: Vec<E>,
    from: &[Term],
    term: &Term,
) -> Translated<E> {
    let refusal = t.outside(&format!("the primitive `{}` at this type", prim.info().name), term.span);
    let operand = from.first().map(|arg| &arg.ty);
    if operand == Some(&simple::Ty::Int)
        && let Some(e) = integer_choice(t, prim, &args)
    {
        return Ok(e);
    }
    let literal = matches!(from, [_, Term { kind: TermKind::Int(_), .. }]);
    if prim == Prim::Power && (!literal || operand == Some(&simple::Ty::Int)) {
        return Ok(order::power(t, &args, operand == Some(&simple::Ty::Int)));
    }
    let found = arithmetic(prim, &args, operand, from)
        .or_else(|| real_function(prim, &args, operand))
        .or_else(|| comparison(prim, &args, operand))
        .or_else(|| conversion(prim, &args));
    if let Some(e) = found {
        return Ok(e);
    }
    if let Some(e) = polytypic(t, prim, &args, from)? {
        return Ok(e);
    }
    if let Some(e) = order::equality(t, prim, &args, operand)? {
        return Ok(e);
    }
    let array = from.last().map_or(&simple::Ty::Real, |arg| innermost(&arg.ty));
    rounding(t, prim, &args)
        .or_else(|| loops(t, prim, &args))
        .or_else(|| arrays(t, prim, &args))
        .or_else(|| matrices(t, prim, &args, array))
        .or_else(|| order::ordered(t, prim, &args, array))
        .or_else(|| folds(t, prim, &args, operand))
        .ok_or(refusal)
}

fn two(args: &[E]) -> Option<(E, E)> {
    if let [a, b] = args { Some((Rc::clone(a), Rc::clone(b))) } else { None }
}

fn one(args: &[E]) -> Option<E> {
    if let [a] = args { Some(Rc::clone(a)) } else { None }
}

fn arithmetic(prim: Prim, args: &[E], operand: Option<&simple::Ty>, from: &[Term]) -> Option<E> {
    let int = *operand? == simple::Ty::Int;
    if !int && *operand? != simple::Ty::Real {
        return None;
    }
    let table = [
        (Prim::Add, RealOp::Add, IntOp::Add),
        (Prim::Sub, RealOp::Sub, IntOp::Sub),
        (Prim::Mul, RealOp::Mul, IntOp::Mul),
        (Prim::Div, RealOp::Div, IntOp::Div),
        (Prim::Neg, RealOp::Neg, IntOp::Neg),
    ];
    if let Some((_, real, integer)) = table.iter().find(|(other, _, _)| *other == prim) {
        let args = args.to_vec();
        return Some(if int { leaf_op(LeafOp::Int(*integer), args) } else { real_op(*real, args) });
    }
    if prim == Prim::Rem {
        return Some(leaf_op(LeafOp::Int(IntOp::Rem), args.to_vec()));
    }
    if prim == Prim::Power && !int {
        let TermKind::Int(n) = from.get(1)?.kind else { return None };
        return Some(real_op(RealOp::PowInt(n), vec![Rc::clone(args.first()?)]));
    }
    None
}

/// Functions on integers that choose by a comparison.
fn integer_choice(t: &mut Translator<'_>, prim: Prim, args: &[E]) -> Option<E> {
    if ![Prim::Abs, Prim::Min, Prim::Max, Prim::Sign].contains(&prim) {
        return None;
    }
    Some(named(t, args, |_, names| match (prim, names) {
        (Prim::Min, [a, b]) => choice(below(var(*b), var(*a)), var(*b), var(*a)),
        (Prim::Max, [a, b]) => choice(below(var(*a), var(*b)), var(*b), var(*a)),
        (Prim::Sign, [a]) => {
            let positive = choice(below(make::int(0), var(*a)), make::int(1), make::int(0));
            choice(below(var(*a), make::int(0)), make::int(-1), positive)
        }
        (_, [a, ..]) => {
            let negated = leaf_op(LeafOp::Int(IntOp::Neg), vec![var(*a)]);
            choice(below(var(*a), make::int(0)), negated, var(*a))
        }
        _ => make::constant(Const::Unit),
    }))
}

/// A function on reals that the calculus has under the same name.
fn real_function(prim: Prim, args: &[E], operand: Option<&simple::Ty>) -> Option<E> {
    if operand != Some(&simple::Ty::Real) {
        return None;
    }
    let name = prim.info().name;
    let plain = |op: &&RealOp| op.name() == name && !matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_));
    let op = RealOp::SAMPLES.iter().find(plain)?;
    (op.arity() == args.len()).then(|| real_op(*op, args.to_vec()))
}

fn comparison(prim: Prim, args: &[E], operand: Option<&simple::Ty>) -> Option<E> {
    let (a, b) = two(args)?;
    let swapped = [(Prim::Gt, Compare::Lt), (Prim::Ge, Compare::Le)];
    let straight =
        [(Prim::Eq, Compare::Eq), (Prim::Ne, Compare::Ne), (Prim::Lt, Compare::Lt), (Prim::Le, Compare::Le)];
    let (compare, args) = if let Some((_, compare)) = swapped.iter().find(|(other, _)| *other == prim) {
        (*compare, vec![b, a])
    } else {
        (straight.iter().find(|(other, _)| *other == prim)?.1, vec![a, b])
    };
    match operand? {
        simple::Ty::Real => Some(leaf_op(LeafOp::CompareReal(compare), args)),
        simple::Ty::Int => Some(leaf_op(LeafOp::CompareInt(compare), args)),
        simple::Ty::String => Some(leaf_op(LeafOp::CompareString(compare), args)),
        simple::Ty::Bool | simple::Ty::Tuple(_) | simple::Ty::Array(_) => None,
        simple::Ty::Fun(..) | simple::Ty::Data(..) | simple::Ty::Dual(_) => None,
    }
}

fn conversion(prim: Prim, args: &[E]) -> Option<E> {
    let floor = |x| leaf_op(LeafOp::Floor, vec![x]);
    if prim == Prim::Real {
        return Some(leaf_op(LeafOp::ToReal, args.to_vec()));
    }
    if prim == Prim::Floor {
        return Some(floor(one(args)?));
    }
    if prim == Prim::Ceil {
        let down = floor(real_op(RealOp::Neg, args.to_vec()));
        return Some(leaf_op(LeafOp::Int(IntOp::Neg), vec![down]));
    }
    if prim == Prim::Not {
        return Some(choice(one(args)?, truth(false), truth(true)));
    }
    if prim == Prim::Fail {
        return Some(app(make::builtin(Builtin::Fail), one(args)?));
    }
    if prim == Prim::Checkpoint {
        let (f, x) = two(args)?;
        return Some(app(f, x));
    }
    (prim == Prim::Append).then(|| leaf_op(LeafOp::Append, args.to_vec()))
}

/// Rounding and division that are not the calculus's own, by those that are.
fn rounding(t: &mut Translator<'_>, prim: Prim, args: &[E]) -> Option<E> {
    let known = [Prim::Round, Prim::Truncate, Prim::IsNan, Prim::DivFloor, Prim::ModFloor];
    if !known.contains(&prim) {
        return None;
    }
    let floor = |x| leaf_op(LeafOp::Floor, vec![x]);
    let less = |a, b| leaf_op(LeafOp::CompareReal(Compare::Lt), vec![a, b]);
    let negated = |n| leaf_op(LeafOp::Int(IntOp::Neg), vec![n]);
    let minus = |x| real_op(RealOp::Neg, vec![x]);
    let is_zero = |n| leaf_op(LeafOp::CompareInt(Compare::Eq), vec![n, make::int(0)]);
    let f = t.unused("f");
    Some(named(t, args, |_, names| match (prim, names) {
        (Prim::IsNan, [x]) => leaf_op(LeafOp::CompareReal(Compare::Ne), vec![var(*x), var(*x)]),
        (Prim::Truncate, [x]) => {
            choice(less(var(*x), make::real(0.0)), negated(floor(minus(var(*x)))), floor(var(*x)))
        }
        (Prim::Round, [x]) => {
            // The fraction is exact, where adding a half would round.
            let away = |x: &dyn Fn() -> E| {
                let fraction = real_op(RealOp::Sub, vec![x(), leaf_op(LeafOp::ToReal, vec![var(f)])]);
                let up = int(IntOp::Add, var(f), make::int(1));
                let nearest = choice(less(fraction, make::real(0.5)), var(f), up);
                make::bind(Pat::Var(f), floor(x()), nearest)
            };
            let below_zero = negated(away(&|| minus(var(*x))));
            choice(less(var(*x), make::real(0.0)), below_zero, away(&|| var(*x)))
        }
        (_, [a, b]) => {
            let rest = int(IntOp::Rem, var(*a), var(*b));
            let negative = |n: Name| below(var(n), make::int(0));
            let apart = |n: Name, m: Name| {
                choice(negative(n), choice(negative(m), truth(false), truth(true)), negative(m))
            };
            let (quotient, adjusted) = if prim == Prim::DivFloor {
                let quotient = int(IntOp::Div, var(*a), var(*b));
                (Rc::clone(&quotient), int(IntOp::Sub, quotient, make::int(1)))
            } else {
                (var(f), int(IntOp::Add, var(f), var(*b)))
            };
            let signs = choice(apart(f, *b), adjusted, Rc::clone(&quotient));
            make::bind(Pat::Var(f), rest, choice(is_zero(var(f)), quotient, signs))
        }
        _ => make::constant(Const::Unit),
    }))
}

fn polytypic(t: &mut Translator<'_>, prim: Prim, args: &[E], from: &[Term]) -> Translated<Option<E>> {
    let Some(last) = from.last() else { return Ok(None) };
    if let (Prim::Ravel, [value]) = (prim, args) {
        let ty = t.ty(&last.ty, last.span)?;
        return Ok(Some(order::ravel(t, &ty, Rc::clone(value))));
    }
    if let (Prim::Unravel, [like, xs], Some(first)) = (prim, args, from.first()) {
        // The reals are numbered from left to right, and each is replaced by the one at its number.
        let (ty, name) = (t.ty(&first.ty, first.span)?, t.unused("xs"));
        let leaf = |_, n| index(name, int(IntOp::Sub, n, make::int(1)));
        let replace = each::number(&ty, &|ty: &Ty| Ok(ty.clone()), &leaf)?;
        let all = make::fst(app(replace, pair(Rc::clone(like), make::int(0))));
        return Ok(Some(make::bind(Pat::Var(name), Rc::clone(xs), all)));
    }
    let poly = match prim {
        Prim::VecAdd => Poly::Add,
        Prim::VecScale | Prim::VecZero => Poly::Scale,
        Prim::VecInner => Poly::Dot,
        _ => return Ok(None),
    };
    let ty: Ty = t.ty(&last.ty, last.span)?;
    let mut args = args.to_vec();
    if prim == Prim::VecZero {
        args.insert(0, make::real(0.0));
    }
    Ok(Some(app(make::poly(poly, &ty), make::tuple(args))))
}

pub(super) fn index(xs: Name, i: E) -> E {
    app(make::builtin(Builtin::Index), pair(var(xs), i))
}

pub(super) fn length(xs: Name) -> E {
    app(make::builtin(Builtin::Length), var(xs))
}

pub(super) fn build(n: E, i: Name, body: E) -> E {
    app(make::builtin(Builtin::Build), pair(n, lam(Pat::Var(i), body)))
}

pub(super) fn int(op: IntOp, a: E, b: E) -> E {
    leaf_op(LeafOp::Int(op), vec![a, b])
}

pub(super) fn below(a: E, b: E) -> E {
    leaf_op(LeafOp::CompareInt(Compare::Lt), vec![a, b])
}

/// Binds arguments to names, so that each is computed once.
pub(super) fn named(
    t: &mut Translator<'_>,
    args: &[E],
    body: impl FnOnce(&mut Translator<'_>, &[Name]) -> E,
) -> E {
    let names: Vec<Name> = args.iter().map(|_| t.unused("v")).collect();
    let body = body(t, &names);
    let bound = names.into_iter().zip(args).rev();
    bound.fold(body, |body, (name, arg)| make::bind(Pat::Var(name), Rc::clone(arg), body))
}

/// `letrec go = λ(acc, i). if test then go (next, i + 1) else acc in go (start, 0)`
pub(super) fn fold(t: &mut Translator<'_>, start: E, count: E, next: impl FnOnce(E, E) -> E) -> E {
    let (go, acc, i) = (t.unused("go"), t.unused("acc"), t.unused("i"));
    let more = int(IntOp::Add, var(i), make::int(1));
    let step = app(var(go), pair(next(var(acc), var(i)), more));
    let body = choice(below(var(i), count), step, var(acc));
    let function = lam(Pat::pair(Pat::Var(acc), Pat::Var(i)), body);
    Expr::new(Kind::LetRec(go, None, function, app(var(go), pair(start, make::int(0)))))
}

fn loops(t: &mut Translator<'_>, prim: Prim, args: &[E]) -> Option<E> {
    if prim == Prim::Iterate {
        return Some(named(t, args, |t, names| match names {
            [n, f, x] => fold(t, var(*x), var(*n), |acc, _| app(var(*f), acc)),
            _ => make::constant(Const::Unit),
        }));
    }
    if prim != Prim::WhileLoop {
        return None;
    }
    Some(named(t, args, |t, names| match names {
        [condition, f, x] => {
            let (go, acc) = (t.unused("go"), t.unused("acc"));
            let again = app(var(go), app(var(*f), var(acc)));
            let body = choice(app(var(*condition), var(acc)), again, var(acc));
            Expr::new(Kind::LetRec(go, None, lam(Pat::Var(acc), body), app(var(go), var(*x))))
        }
        _ => make::constant(Const::Unit),
    }))
}

fn arrays(t: &mut Translator<'_>, prim: Prim, args: &[E]) -> Option<E> {
    let known = [
        Prim::Length,
        Prim::Index,
        Prim::Build,
        Prim::Iota,
        Prim::Replicate,
        Prim::SetIndex,
        Prim::Map,
        Prim::Map2,
        Prim::Zip,
        Prim::Unzip,
        Prim::Transpose,
        Prim::Slice,
        Prim::Reverse,
        Prim::Gather,
        Prim::Concat,
    ];
    if !known.contains(&prim) {
        return None;
    }
    let i = t.unused("i");
    Some(named(t, args, |t, names| match (prim, names) {
        (Prim::Length, [xs]) => length(*xs),
        (Prim::Index, [xs, at]) => index(*xs, var(*at)),
        (Prim::Build, [n, f]) => build(var(*n), i, app(var(*f), var(i))),
        (Prim::Iota, [n]) => build(var(*n), i, var(i)),
        (Prim::Replicate, [n, x]) => build(var(*n), i, var(*x)),
        (Prim::SetIndex, [xs, at, x]) => {
            let here = leaf_op(LeafOp::CompareInt(Compare::Eq), vec![var(i), var(*at)]);
            build(length(*xs), i, choice(here, var(*x), index(*xs, var(i))))
        }
        (Prim::Map, [f, xs]) => build(length(*xs), i, app(var(*f), index(*xs, var(i)))),
        (Prim::Map2, [f, xs, ys]) => {
            build(length(*xs), i, make::apps(var(*f), [index(*xs, var(i)), index(*ys, var(i))]))
        }
        (Prim::Zip, [xs, ys]) => build(length(*xs), i, pair(index(*xs, var(i)), index(*ys, var(i)))),
        (Prim::Unzip, [xs]) => {
            let half = |at| build(length(*xs), i, project(index(*xs, var(i)), at, 2));
            pair(half(0), half(1))
        }
        (Prim::Transpose, [rows]) => transpose(t, *rows, i),
        (Prim::Slice, [xs, from, to]) => {
            let at = int(IntOp::Add, var(*from), var(i));
            build(int(IntOp::Sub, var(*to), var(*from)), i, index(*xs, at))
        }
        (Prim::Reverse, [xs]) => {
            let last = int(IntOp::Sub, length(*xs), make::int(1));
            build(length(*xs), i, index(*xs, int(IntOp::Sub, last, var(i))))
        }
        (Prim::Gather, [xs, places]) => build(length(*places), i, index(*xs, index(*places, var(i)))),
        (Prim::Concat, [xs, ys]) => {
            let rest = index(*ys, int(IntOp::Sub, var(i), length(*xs)));
            let element = choice(below(var(i), length(*xs)), index(*xs, var(i)), rest);
            build(int(IntOp::Add, length(*xs), length(*ys)), i, element)
        }
        _ => make::constant(Const::Unit),
    }))
}

fn transpose(t: &mut Translator<'_>, rows: Name, i: Name) -> E {
    let j = t.unused("j");
    let first = app(make::builtin(Builtin::Length), index(rows, make::int(0)));
    let element = app(make::builtin(Builtin::Index), pair(index(rows, var(j)), var(i)));
    build(first, i, build(length(rows), j, element))
}

fn folds(t: &mut Translator<'_>, prim: Prim, args: &[E], operand: Option<&simple::Ty>) -> Option<E> {
    if matches!(prim, Prim::Fold | Prim::Reduce) {
        return Some(named(t, args, |t, names| match names {
            [f, start, xs] => {
                fold(t, var(*start), length(*xs), |acc, i| make::apps(var(*f), [acc, index(*xs, i)]))
            }
            _ => make::constant(Const::Unit),
        }));
    }
    let element = innermost(operand?);
    let int_elements = *element == simple::Ty::Int;
    let number = |n: i32| if int_elements { make::int(i64::from(n)) } else { make::real(f64::from(n)) };
    let plus =
        move |a, b| if int_elements { int(IntOp::Add, a, b) } else { real_op(RealOp::Add, vec![a, b]) };
    let times =
        move |a, b| if int_elements { int(IntOp::Mul, a, b) } else { real_op(RealOp::Mul, vec![a, b]) };
    match prim {
        Prim::Maximum | Prim::Minimum => Some(named(t, args, |t, names| match names {
            [xs] => order::extreme(t, prim, *xs, int_elements),
            _ => make::constant(Const::Unit),
        })),
        Prim::Sum => Some(named(t, args, |t, names| match names {
            [xs] => fold(t, number(0), length(*xs), |acc, i| plus(acc, index(*xs, i))),
            _ => make::constant(Const::Unit),
        })),
        Prim::Product => Some(named(t, args, |t, names| match names {
            [xs] => fold(t, number(1), length(*xs), |acc, i| times(acc, index(*xs, i))),
            _ => make::constant(Const::Unit),
        })),
        Prim::Dot => Some(named(t, args, |t, names| match names {
            [xs, ys] => {
                let product = |i: &E| times(index(*xs, Rc::clone(i)), index(*ys, Rc::clone(i)));
                fold(t, number(0), length(*xs), |acc, i| plus(acc, product(&i)))
            }
            _ => make::constant(Const::Unit),
        })),
        Prim::MatVec => Some(named(t, args, |t, names| match names {
            [rows, v] => {
                let (r, row) = (t.unused("r"), t.unused("row"));
                let product = |i: &E| times(index(row, Rc::clone(i)), index(*v, Rc::clone(i)));
                let dot = fold(t, number(0), length(*v), |acc, i| plus(acc, product(&i)));
                build(length(*rows), r, make::bind(Pat::Var(row), index(*rows, var(r)), dot))
            }
            _ => make::constant(Const::Unit),
        })),
        _ => None,
    }
}

/// Functions on arrays of arrays, and on places in arrays.
fn matrices(t: &mut Translator<'_>, prim: Prim, args: &[E], element: &simple::Ty) -> Option<E> {
    if ![Prim::MatMul, Prim::Flatten, Prim::ScatterAdd].contains(&prim) {
        return None;
    }
    let ints = *element == simple::Ty::Int;
    let zero = || if ints { make::int(0) } else { make::real(0.0) };
    let plus = |a, b| if ints { int(IntOp::Add, a, b) } else { real_op(RealOp::Add, vec![a, b]) };
    let times = |a, b| if ints { int(IntOp::Mul, a, b) } else { real_op(RealOp::Mul, vec![a, b]) };
    let [i, j, row, m] = ["i", "j", "row", "m"].map(|base| t.unused(base));
    let width = |rows: Name| {
        let first = app(make::builtin(Builtin::Length), index(rows, make::int(0)));
        choice(below(make::int(0), length(rows)), first, make::int(0))
    };
    let entry = |rows: Name, i, j| app(make::builtin(Builtin::Index), pair(index(rows, i), j));
    Some(named(t, args, |t, names| match (prim, names) {
        (Prim::MatMul, [a, b]) => {
            let product = |k: &E| times(index(row, Rc::clone(k)), entry(*b, Rc::clone(k), var(j)));
            let dot = fold(t, zero(), length(*b), |acc, k| plus(acc, product(&k)));
            let columns = build(var(m), j, dot);
            let rows = build(length(*a), i, make::bind(Pat::Var(row), index(*a, var(i)), columns));
            make::bind(Pat::Var(m), width(*b), rows)
        }
        (Prim::Flatten, [rows]) => {
            let (at, within) = (int(IntOp::Div, var(i), var(m)), int(IntOp::Rem, var(i), var(m)));
            let count = int(IntOp::Mul, length(*rows), var(m));
            make::bind(Pat::Var(m), width(*rows), build(count, i, entry(*rows, at, within)))
        }
        (Prim::ScatterAdd, [xs, places, values]) => {
            let added = fold(t, index(*xs, var(i)), length(*places), |acc, k| {
                let here = vec![index(*places, Rc::clone(&k)), var(i)];
                let here = leaf_op(LeafOp::CompareInt(Compare::Eq), here);
                choice(here, plus(Rc::clone(&acc), index(*values, k)), acc)
            });
            build(length(*xs), i, added)
        }
        _ => make::constant(Const::Unit),
    }))
}

fn innermost(ty: &simple::Ty) -> &simple::Ty {
    let mut ty = ty;
    while let simple::Ty::Array(element) = ty {
        ty = element;
    }
    ty
}
