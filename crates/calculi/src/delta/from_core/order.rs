//! Equality, order, and the array functions whose result has a shape that depends on values or on what came before: `scan`,
//! `filter`, `sort` and their like.
//!
//! Section 10.2 has `build` and `index` only. So what is computed one after the other is put together by halves, each half
//! a function of the index, and `build` asks the function for each element.

use super::super::syntax::{Builtin, Compare, Const, E, Expr, IntOp, Kind, LeafOp, Pat, Ty, grow, make};
use super::primitives::{below, build, fold, index, int, length, named};
use super::{Translated, Translator, project, truth};
use crate::kit::simple;
use make::{app, choice, lam, leaf_op, pair, real_op, var};
use std::rc::Rc;
use wengert_base::Name;
use wengert_prim::{Prim, RealOp};

fn unit() -> E {
    make::constant(Const::Unit)
}

/// `==` or `!=` at any first-order type.
pub(super) fn equality(
    t: &mut Translator<'_>,
    prim: Prim,
    args: &[E],
    operand: Option<&simple::Ty>,
) -> Translated<Option<E>> {
    let (Some(ty), [a, b]) = (operand, args) else { return Ok(None) };
    if prim != Prim::Eq && prim != Prim::Ne {
        return Ok(None);
    }
    let (x, y) = (t.unused("v"), t.unused("v"));
    let Some(equal) = equal(t, ty, &mut Vec::new(), var(x), var(y))? else { return Ok(None) };
    let answer = if prim == Prim::Ne { choice(equal, truth(false), truth(true)) } else { equal };
    Ok(Some(make::bind(Pat::Var(x), Rc::clone(a), make::bind(Pat::Var(y), Rc::clone(b), answer))))
}

fn both(a: E, b: E) -> E {
    choice(a, b, truth(false))
}

/// Whether two values of a type are equal; `open` are the recursive types around it, with the functions for them.
fn equal(
    t: &mut Translator<'_>,
    ty: &simple::Ty,
    open: &mut Vec<(simple::Ty, Name)>,
    x: E,
    y: E,
) -> Translated<Option<E>> {
    grow(|| {
        Ok(Some(match ty {
            simple::Ty::Real => leaf_op(LeafOp::CompareReal(Compare::Eq), vec![x, y]),
            simple::Ty::Int => leaf_op(LeafOp::CompareInt(Compare::Eq), vec![x, y]),
            simple::Ty::String => leaf_op(LeafOp::CompareString(Compare::Eq), vec![x, y]),
            simple::Ty::Bool => choice(x, Rc::clone(&y), choice(y, truth(false), truth(true))),
            simple::Ty::Tuple(parts) => {
                let mut all = truth(true);
                for (at, part) in parts.iter().enumerate().rev() {
                    let field = |e: &E| project(Rc::clone(e), at, parts.len());
                    let Some(one) = equal(t, part, open, field(&x), field(&y))? else { return Ok(None) };
                    all = if at + 1 == parts.len() { one } else { both(one, all) };
                }
                all
            }
            simple::Ty::Array(element) => {
                let [xs, ys, go, i] = ["v", "v", "go", "i"].map(|base| t.unused(base));
                let here = equal(t, element, open, index(xs, var(i)), index(ys, var(i)))?;
                let Some(here) = here else { return Ok(None) };
                let rest = app(var(go), int(IntOp::Add, var(i), make::int(1)));
                let body = choice(below(var(i), length(xs)), both(here, rest), truth(true));
                let all =
                    Expr::new(Kind::LetRec(go, None, lam(Pat::Var(i), body), app(var(go), make::int(0))));
                let lengths = leaf_op(LeafOp::CompareInt(Compare::Eq), vec![length(xs), length(ys)]);
                make::bind(Pat::Var(xs), x, make::bind(Pat::Var(ys), y, both(lengths, all)))
            }
            simple::Ty::Data(..) => return equal_data(t, ty, open, x, y),
            simple::Ty::Fun(..) | simple::Ty::Dual(_) => return Ok(None),
        }))
    })
}

fn equal_data(
    t: &mut Translator<'_>,
    ty: &simple::Ty,
    open: &mut Vec<(simple::Ty, Name)>,
    x: E,
    y: E,
) -> Translated<Option<E>> {
    if let Some((_, go)) = open.iter().find(|(other, _)| other == ty) {
        return Ok(Some(app(var(*go), pair(x, y))));
    }
    let Some(data) = t.data.get(ty).cloned() else { return Ok(None) };
    let [go, a, b] = ["go", "v", "v"].map(|base| t.unused(base));
    open.push((ty.clone(), go));
    let unrolled = |v| if t.recursive.contains(ty) { Expr::new(Kind::Unroll(var(v))) } else { var(v) };
    let (mut left, mut right) = (unrolled(a), unrolled(b));
    let mut arms = Vec::new();
    for (at, (_, fields)) in data.ctors.iter().enumerate() {
        let (p, q) = (t.unused("v"), t.unused("v"));
        let fields = simple::Ty::Tuple(fields.clone());
        let Some(same) = equal(t, &fields, open, var(p), var(q))? else { return Ok(None) };
        let last = at + 1 == data.ctors.len();
        let rest = (t.unused("r"), t.unused("r"));
        arms.push((left, right, p, q, same, rest, last));
        (left, right) = (var(rest.0), var(rest.1));
    }
    open.pop();
    let mut answer = truth(true);
    for (left, right, p, q, same, (r, s), last) in arms.into_iter().rev() {
        answer = if last {
            make::bind(Pat::Var(p), left, make::bind(Pat::Var(q), right, same))
        } else {
            let here = make::case(Rc::clone(&right), Pat::Var(q), same, Pat::Wild, truth(false));
            let there = make::case(right, Pat::Wild, truth(false), Pat::Var(s), answer);
            make::case(left, Pat::Var(p), here, Pat::Var(r), there)
        };
    }
    let closed = t.ty(ty, wengert_base::Span::NOWHERE)?;
    let parameter = Some(Ty::prod(closed.clone(), closed));
    let function = Expr::new(Kind::Lam(Pat::pair(Pat::Var(a), Pat::Var(b)), parameter, answer));
    Ok(Some(Expr::new(Kind::LetRec(go, None, function, app(var(go), pair(x, y))))))
}

/// Whether `a` comes before `b` in a sorted array: `NaN` last.
fn before(ty: &simple::Ty, a: E, b: E) -> E {
    if *ty == simple::Ty::Int {
        return below(a, b);
    }
    if *ty == simple::Ty::String {
        return leaf_op(LeafOp::CompareString(Compare::Lt), vec![a, b]);
    }
    let is_number = |x: &E| leaf_op(LeafOp::CompareReal(Compare::Eq), vec![Rc::clone(x), Rc::clone(x)]);
    let less = leaf_op(LeafOp::CompareReal(Compare::Lt), vec![Rc::clone(&a), Rc::clone(&b)]);
    choice(is_number(&b), less, is_number(&a))
}

/// `letrec go = λ(from, to, s). if to - from < 2 then one (from, s) else join …`: results of `count > 0` steps, by halves.
fn halves(
    t: &mut Translator<'_>,
    count: E,
    start: E,
    one: impl FnOnce(&mut Translator<'_>, Name, Name) -> E,
    join: impl FnOnce(&mut Translator<'_>, Name, [Name; 2], E, E) -> E,
) -> E {
    let [go, from, to, s, half] = ["go", "from", "to", "s", "half"].map(|base| t.unused(base));
    let single = below(int(IntOp::Sub, var(to), var(from)), make::int(2));
    let one = one(t, from, s);
    let call = |a: E, b: E, s: E| app(var(go), make::tuple(vec![a, b, s]));
    let results = ["low", "high"].map(|base| t.unused(base));
    let [low, _] = results;
    let first = call(var(from), var(half), var(s));
    // The state that the first half leaves is its second component.
    let second = call(var(half), var(to), make::snd(var(low)));
    let joined = join(t, half, results, first, second);
    let middle = int(IntOp::Div, int(IntOp::Add, var(from), var(to)), make::int(2));
    let body = choice(single, one, make::bind(Pat::Var(half), middle, joined));
    let parameter = Pat::tuple([from, to, s].map(Pat::Var).to_vec());
    let run = call(make::int(0), count, start);
    Expr::new(Kind::LetRec(go, None, lam(parameter, body), run))
}

/// Array functions that go through an array in order.
pub(super) fn ordered(t: &mut Translator<'_>, prim: Prim, args: &[E], element: &simple::Ty) -> Option<E> {
    let known = [Prim::Scan, Prim::Filter, Prim::Sort, Prim::ArgSort, Prim::ArgMax, Prim::ArgMin];
    if !known.contains(&prim) {
        return None;
    }
    Some(named(t, args, |t, names| match (prim, names) {
        (Prim::Scan, [f, start, xs]) => scan(t, *f, *start, *xs),
        (Prim::Filter, [keep, xs]) => filter(t, *keep, *xs),
        (Prim::Sort, [xs]) => sorted(t, *xs, element, true),
        (Prim::ArgSort, [xs]) => sorted(t, *xs, element, false),
        (_, [xs]) => arg_best(t, *xs, element, prim == Prim::ArgMax),
        _ => unit(),
    }))
}

/// All results of a fold.
fn scan(t: &mut Translator<'_>, f: Name, start: Name, xs: Name) -> E {
    let [at, i] = ["at", "i"].map(|base| t.unused(base));
    let run = halves(
        t,
        length(xs),
        var(start),
        |t, from, s| {
            let next = t.unused("s");
            let result = pair(lam(Pat::Wild, var(next)), var(next));
            make::bind(Pat::Var(next), make::apps(var(f), [var(s), index(xs, var(from))]), result)
        },
        |_, half, [low, high], first, second| {
            let pick = |of| app(make::fst(var(of)), var(i));
            let element = choice(below(var(i), var(half)), pick(low), pick(high));
            let result = pair(lam(Pat::Var(i), element), make::snd(var(high)));
            make::bind(Pat::Var(low), first, make::bind(Pat::Var(high), second, result))
        },
    );
    let j = t.unused("i");
    let all = make::bind(Pat::Var(at), make::fst(run), build(length(xs), j, app(var(at), var(j))));
    let k = t.unused("i");
    choice(below(make::int(0), length(xs)), all, build(make::int(0), k, var(start)))
}

/// The elements for which a function is true: a half is how many it keeps, and which.
fn filter(t: &mut Translator<'_>, keep: Name, xs: Name) -> E {
    let [i, kept] = ["i", "kept"].map(|base| t.unused(base));
    let run = halves(
        t,
        length(xs),
        unit(),
        |t, from, s| {
            let x = t.unused("x");
            let count = choice(app(var(keep), var(x)), make::int(1), make::int(0));
            let result = pair(pair(count, lam(Pat::Wild, var(x))), var(s));
            make::bind(Pat::Var(x), index(xs, var(from)), result)
        },
        |_, _, [low, high], first, second| {
            let count = |of: Name| make::fst(make::fst(var(of)));
            let at = |of: Name, i| app(make::snd(make::fst(var(of))), i);
            let after = int(IntOp::Sub, var(i), count(low));
            let element = choice(below(var(i), count(low)), at(low, var(i)), at(high, after));
            let total = int(IntOp::Add, count(low), count(high));
            let result = pair(pair(total, lam(Pat::Var(i), element)), make::snd(var(high)));
            make::bind(Pat::Var(low), first, make::bind(Pat::Var(high), second, result))
        },
    );
    let j = t.unused("i");
    let element = app(make::snd(make::fst(var(kept))), var(j));
    let all = build(make::fst(make::fst(var(kept))), j, element);
    choice(below(make::int(0), length(xs)), make::bind(Pat::Var(kept), run, all), var(xs))
}

/// The elements in ascending order, or their places: element `k` is the one before which `k` others come.
fn sorted(t: &mut Translator<'_>, xs: Name, element: &simple::Ty, values: bool) -> E {
    let [ranks, i, k, x, y] = ["ranks", "i", "k", "x", "y"].map(|base| t.unused(base));
    let rank = fold(t, make::int(0), length(xs), |count, j| {
        let earlier = choice(
            before(element, var(x), var(y)),
            truth(false),
            leaf_op(LeafOp::CompareInt(Compare::Lt), vec![Rc::clone(&j), var(i)]),
        );
        let counts = choice(before(element, var(y), var(x)), truth(true), earlier);
        let more = int(IntOp::Add, Rc::clone(&count), make::int(1));
        make::bind(Pat::Var(y), index(xs, j), choice(counts, more, count))
    });
    let rank = make::bind(Pat::Var(x), index(xs, var(i)), rank);
    let place = fold(t, make::int(0), length(xs), |found, j| {
        let here = leaf_op(LeafOp::CompareInt(Compare::Eq), vec![index(ranks, Rc::clone(&j)), var(k)]);
        choice(here, j, found)
    });
    let result = if values {
        let p = t.unused("p");
        make::bind(Pat::Var(p), place, index(xs, var(p)))
    } else {
        place
    };
    make::bind(Pat::Var(ranks), build(length(xs), i, rank), build(length(xs), k, result))
}

/// Where the first largest or smallest element stands.
fn arg_best(t: &mut Translator<'_>, xs: Name, element: &simple::Ty, largest: bool) -> E {
    // An empty array has no such place, which reading its first element says.
    let first = t.unused("x");
    let place = fold(t, make::int(0), length(xs), |best, i| {
        let (old, new) = (index(xs, Rc::clone(&best)), index(xs, Rc::clone(&i)));
        let better = if largest { before(element, old, new) } else { before(element, new, old) };
        choice(better, i, best)
    });
    make::bind(Pat::Var(first), index(xs, make::int(0)), place)
}

/// The largest or smallest element, of reals by the primitive with its rule for ties.
pub(super) fn extreme(t: &mut Translator<'_>, prim: Prim, xs: Name, ints: bool) -> E {
    let largest = prim == Prim::Maximum;
    let first = index(xs, make::int(0));
    fold(t, first, length(xs), |best, i| {
        let next = index(xs, i);
        if ints {
            let better = if largest {
                below(Rc::clone(&best), Rc::clone(&next))
            } else {
                below(Rc::clone(&next), Rc::clone(&best))
            };
            return choice(better, next, best);
        }
        real_op(if largest { RealOp::Max } else { RealOp::Min }, vec![best, next])
    })
}

/// `xⁿ` for an exponent that is only known while running, by squaring.
pub(super) fn power(t: &mut Translator<'_>, args: &[E], ints: bool) -> E {
    named(t, args, |t, names| {
        let [x, n] = names else { return unit() };
        let [go, y, m] = ["go", "y", "m"].map(|base| t.unused(base));
        let times = |a, b| {
            if ints { int(IntOp::Mul, a, b) } else { real_op(RealOp::Mul, vec![a, b]) }
        };
        let one = || if ints { make::int(1) } else { make::real(1.0) };
        let same = |a, b| leaf_op(LeafOp::CompareInt(Compare::Eq), vec![a, b]);
        let even = same(int(IntOp::Rem, var(m), make::int(2)), make::int(0));
        let half = int(IntOp::Div, var(m), make::int(2));
        let squared = app(var(go), pair(times(var(y), var(y)), half));
        let less = int(IntOp::Sub, var(m), make::int(1));
        let odd = times(var(y), app(var(go), pair(var(y), less)));
        let body = choice(below(var(m), make::int(1)), one(), choice(even, squared, odd));
        let run = |x, n| app(var(go), pair(x, n));
        let negated = leaf_op(LeafOp::Int(IntOp::Neg), vec![var(*n)]);
        let negative = if ints {
            let text = "an `Int` has no power with a negative exponent";
            app(make::builtin(Builtin::Fail), make::constant(Const::Str(text.into())))
        } else {
            real_op(RealOp::Div, vec![one(), run(var(*x), negated)])
        };
        let all = choice(below(var(*n), make::int(0)), negative, run(var(*x), var(*n)));
        Expr::new(Kind::LetRec(go, None, lam(Pat::pair(Pat::Var(y), Pat::Var(m)), body), all))
    })
}

/// `ravel`: all reals from left to right. A part is how many it has, and which.
pub(super) fn ravel(t: &mut Translator<'_>, ty: &Ty, value: E) -> E {
    let [all, i] = ["all", "i"].map(|base| t.unused(base));
    let parts = reals(t, ty, value, &mut Vec::new());
    let array = build(make::fst(var(all)), i, app(make::snd(var(all)), var(i)));
    make::bind(Pat::Var(all), parts, array)
}

fn joined(t: &mut Translator<'_>, a: E, b: E) -> E {
    let [low, high, i] = ["low", "high", "i"].map(|base| t.unused(base));
    let at = |of, i| app(make::snd(var(of)), i);
    let after = int(IntOp::Sub, var(i), make::fst(var(low)));
    let pick = choice(below(var(i), make::fst(var(low))), at(low, var(i)), at(high, after));
    let count = int(IntOp::Add, make::fst(var(low)), make::fst(var(high)));
    let both = pair(count, lam(Pat::Var(i), pick));
    make::bind(Pat::Var(low), a, make::bind(Pat::Var(high), b, both))
}

/// How many reals a value has, and the function from a place to the real there.
fn reals(t: &mut Translator<'_>, ty: &Ty, x: E, open: &mut Vec<(Name, Name, Ty)>) -> E {
    let nothing = || pair(make::int(0), lam(Pat::Wild, make::real(0.0)));
    grow(|| match ty {
        Ty::Real => pair(make::int(1), lam(Pat::Wild, x)),
        Ty::Prod(a, b) => {
            let [left, right] = ["a", "b"].map(|base| t.unused(base));
            let (a, b) = (reals(t, a, var(left), open), reals(t, b, var(right), open));
            make::bind(Pat::pair(Pat::Var(left), Pat::Var(right)), x, joined(t, a, b))
        }
        Ty::Sum(a, b) => {
            let [left, right] = ["a", "b"].map(|base| t.unused(base));
            let (a, b) = (reals(t, a, var(left), open), reals(t, b, var(right), open));
            make::case(x, Pat::Var(left), a, Pat::Var(right), b)
        }
        Ty::Vector(a) => {
            let xs = t.unused("xs");
            let run = halves(
                t,
                length(xs),
                make::constant(Const::Unit),
                |t, from, s| pair(reals(t, a, index(xs, var(from)), open), var(s)),
                |t, _, [low, high], first, second| {
                    let both = joined(t, make::fst(var(low)), make::fst(var(high)));
                    let result = pair(both, make::snd(var(high)));
                    make::bind(Pat::Var(low), first, make::bind(Pat::Var(high), second, result))
                },
            );
            let all = choice(below(make::int(0), length(xs)), make::fst(run), nothing());
            make::bind(Pat::Var(xs), x, all)
        }
        Ty::Rec(name, body) => {
            let [go, r] = ["go", "r"].map(|base| t.unused(base));
            let closed =
                open.iter().rev().fold(ty.clone(), |ty, (bound, _, by)| Ty::instantiate(&ty, *bound, by));
            open.push((*name, go, closed.clone()));
            let inner = reals(t, body, Expr::new(Kind::Unroll(var(r))), open);
            open.pop();
            let function = Expr::new(Kind::Lam(Pat::Var(r), Some(closed), inner));
            Expr::new(Kind::LetRec(go, None, function, app(var(go), x)))
        }
        Ty::Var(name) => {
            let go = open.iter().rev().find(|(bound, _, _)| bound == name);
            go.map_or_else(nothing, |(_, go, _)| app(var(*go), x))
        }
        Ty::Int | Ty::String | Ty::Unit | Ty::Fun(..) | Ty::Monad(_) => nothing(),
        Ty::Delta | Ty::DeltaMap | Ty::Meta(_) => nothing(),
    })
}
