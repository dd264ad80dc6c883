//! Derivatives with respect to functions as derivatives with respect to a number, and tangents that are functions as derivatives that are
//! made when these are applied: where they could not be made otherwise, as those of functions that are made as deep as running says.
//!
//! The tangent of a function `f` is a function `h`: `f` moves along `h`, and by how much is a number:
//!
//! ```text
//! _, t = jvp g (f, h)        _, t = jvp (\e -> g (moved f h e)) (0.0, -1.0)        apply(moved f h e, x) = apply(f, x) - e · apply(h, x)
//! ```
//!
//! There the number is zero, which wins in the product, so `moved f h e` gives what `f` gives, its zeros with their signs; and what `f x` varies by is what
//! `h x` is besides. What is differentiated then are numbers, as deep as running says ([`crate::levels`]), and in the interpreter's order.
//!
//! Of a function that gives functions the tangent is one that keeps where the derivative was asked for, and in which direction:
//!
//! ```text
//! _, t = jvp g (x, dx)        t = derived(x, dx)        apply(derived(x, dx), y) = _, t = jvp (\x y -> apply(g(x), y)) (x, dx) (y, 0)  in t
//! ```
//!
//! That computes `g x` anew for each argument. So it is done only where derivatives cannot be made otherwise.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests and rules are named, the others stay")]

mod along;

use crate::curried::applications;
use crate::{Ad, Code};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{FuncId, Program, VarInfo};
use wengert_ir::ty::{Ctor, DataId, Elem, Role, Ty};

/// The program with such derivatives only; `None` if there are none, or others that are not of this kind.
pub(crate) fn shifted(program: &Program) -> Option<Program> {
    let tangents = |(_, data): (DataId, &wengert_ir::ty::Data)| match data.role {
        Role::Tangent(of) if program.data.at(of).role == Role::Closure => Some(of),
        Role::Tangent(_) | Role::Declared | Role::Closure | Role::Residual => None,
    };
    let closures: FxHashSet<DataId> = program.data.iter().filter_map(tangents).collect();
    if closures.is_empty() {
        return None;
    }
    let applies = applications(program, &closures)?;
    let mut ad = Ad::new(program.clone(), false);
    let mut work = Shifted {
        closures,
        applies,
        moved: FxHashMap::default(),
        helpers: FxHashMap::default(),
        arms: Vec::new(),
        refused: false,
    };
    if !work.meets_functions(program) {
        return None;
    }
    work.forget_tangents(&mut ad);
    let mut next = 0;
    while let Some(id) = ad.program.funcs.ids().nth(next) {
        next += 1;
        work.rewrite(&mut ad, id);
        if work.refused || ad.is_full() {
            return None;
        }
    }
    wengert_ir::verify(&ad.program).is_ok().then_some(ad.program)
}

struct Shifted {
    /// The types of function values that have tangents.
    closures: FxHashSet<DataId>,
    /// The functions that apply them.
    applies: FxHashMap<DataId, Vec<FuncId>>,
    /// The constructors of those that are moved along others.
    moved: FxHashMap<DataId, u32>,
    /// The functions that move data along others, for a place in the source.
    helpers: FxHashMap<(DataId, Span), FuncId>,
    /// What is still to be done by functions that apply function values, for a further constructor of these: to call another function.
    arms: Vec<(FuncId, Vec<Ty>, FuncId)>,
    /// Whether there is something that cannot be done so.
    refused: bool,
}

/// A request for a derivative in forward mode.
struct Request {
    func: FuncId,
    args: Vec<Atom>,
    tangents: Vec<Option<Atom>>,
}

impl Shifted {
    /// Whether a value is or holds such a function.
    fn holds(&self, program: &Program, ty: Ty) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![ty]);
        while let Some(next) = todo.pop() {
            let Elem::Data(data) = next.elem() else { continue };
            if self.closures.contains(&data) {
                return true;
            }
            if seen.insert(data) && program.data.at(data).role == Role::Declared {
                todo.extend(program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
            }
        }
        false
    }

    /// Whether derivatives with respect to functions, or of functions that give such, are asked for.
    fn meets_functions(&self, program: &Program) -> bool {
        let mut found = false;
        for (_, func) in program.funcs.iter() {
            func.body.for_each_stmt(&mut |stmt| {
                if let Op::Jvp { args, tangents, .. } = &stmt.op {
                    let given = args.iter().zip(tangents).filter(|(_, tangent)| tangent.is_some());
                    let given = given.map(|(arg, _)| func.type_of(arg));
                    let outs = stmt.outs.iter().map(|out| func.ty(*out));
                    found |= given.chain(outs).any(|ty| self.holds(program, ty));
                }
            });
        }
        found
    }

    /// No function value is a tangent any more that holds what it is the tangent of.
    fn forget_tangents(&self, ad: &mut Ad) {
        for data in ad.program.data.ids() {
            let last = ad.program.data.at(data).ctors.len().saturating_sub(1);
            for id in self.applies.get(&data).into_iter().flatten() {
                let mut func = ad.program.funcs.at(*id).clone();
                let types = func.results.clone();
                let fresh: Vec<_> = types.iter().map(|ty| func.fresh(Name::new("t"), *ty)).collect();
                let span = func.span;
                if let [Stmt { op: Op::Match { arms, .. }, .. }] = func.body.stmts.as_mut_slice()
                    && let Some(arm) = arms.get_mut(last)
                {
                    let op = Op::Fail { message: Atom::Text("a function value that there is not".into()) };
                    arm.stmts = vec![Stmt { outs: fresh.clone(), op, span }];
                    arm.results = fresh.into_iter().map(Atom::Var).collect();
                }
                *ad.program.funcs.at_mut(*id) = func;
            }
        }
    }

    /// Replaces the requests of a function.
    fn rewrite(&mut self, ad: &mut Ad, id: FuncId) {
        let func = ad.program.funcs.at(id).clone();
        let mut asks = false;
        func.body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Jvp { args, tangents, .. } => {
                let given = args.iter().zip(tangents).filter(|(_, tangent)| tangent.is_some());
                let mut given = given.map(|(arg, _)| func.type_of(arg));
                let mut outs = stmt.outs.iter().map(|out| func.ty(*out));
                asks |=
                    given.any(|ty| self.holds(&ad.program, ty)) || outs.any(|ty| self.holds(&ad.program, ty));
            }
            // A rule says what the tangents are.
            Op::Custom(parts) => {
                let all = parts.point.iter().map(|atom| func.type_of(atom));
                let mut all = all.chain(stmt.outs.iter().map(|out| func.ty(*out)));
                self.refused |= all.any(|ty| self.holds(&ad.program, ty));
            }
            _ => {}
        });
        if !asks || self.refused {
            return;
        }
        let mut code = Code::like(ad, &func, func.name.as_str());
        let results = code.replaced(&func.body, &mut |code, stmt| match &stmt.op {
            Op::Jvp { func, args, tangents } => {
                let request = Request { func: *func, args: args.clone(), tangents: tangents.clone() };
                Some(self.request(code, request))
            }
            _ => None,
        });
        let made = code.finish(results);
        *ad.program.funcs.at_mut(id) = made;
        for (last, held, both) in std::mem::take(&mut self.arms) {
            add_arm(ad.program.funcs.at_mut(last), held, both);
        }
    }

    /// What a request gives.
    fn request(&mut self, code: &mut Code<'_>, request: Request) -> Vec<Atom> {
        let original = (request.func, request.args.clone());
        let request = self.along_numbers(code, request);
        let types = code.ad.program.funcs.at(request.func).results.clone();
        let gives: Vec<bool> = types.iter().map(|ty| self.holds(&code.ad.program, *ty)).collect();
        if !gives.contains(&true) {
            let Request { func, args, tangents } = request;
            return code.b.typed(&types.repeat(2), Op::Jvp { func, args, tangents });
        }
        // Functions that it gives are those that it gives at a point that does not vary.
        let values = code.b.call(original.0, original.1, &types);
        let mut tangents = Vec::new();
        let numbers = self.numbers_of(code, &request, &gives);
        let mut numbers = numbers.into_iter();
        for (place, (ty, gives)) in types.iter().zip(&gives).enumerate() {
            if *gives {
                tangents.push(self.derived(code, &request, (place, *ty)));
            } else {
                tangents.extend(numbers.next());
            }
        }
        values.into_iter().chain(tangents).collect()
    }

    /// The tangents of those results that hold no functions.
    fn numbers_of(&mut self, code: &mut Code<'_>, request: &Request, gives: &[bool]) -> Vec<Atom> {
        if !gives.contains(&false) {
            return Vec::new();
        }
        let func = without(code.ad, request.func, gives);
        let types = code.ad.program.funcs.at(func).results.clone();
        let Request { args, tangents, .. } = request;
        let (args, tangents) = (args.clone(), tangents.clone());
        code.b.typed(&types.repeat(2), Op::Jvp { func, args, tangents }).split_off(types.len())
    }

    /// The function that is the tangent of a result: one that is derived when it is applied.
    fn derived(&mut self, code: &mut Code<'_>, request: &Request, (place, ty): (usize, Ty)) -> Atom {
        let Ty::Scalar(Elem::Data(data)) = ty else {
            self.refused = true;
            return Atom::Unit;
        };
        if !self.closures.contains(&data) {
            self.refused = true;
            return Atom::Unit;
        }
        let fields: Vec<Atom> =
            request.args.iter().cloned().chain(request.tangents.iter().flatten().cloned()).collect();
        let types: Vec<Ty> = fields.iter().map(|atom| code.b.type_of(atom)).collect();
        let given: Vec<bool> = request.tangents.iter().map(Option::is_some).collect();
        let ctor = new_ctor(code.ad, data, "derived", types.clone());
        let span = code.b.span();
        for last in self.applies.get(&data).cloned().unwrap_or_default() {
            let composed = composed(code.ad, (request.func, place), last, span);
            let both = derivative(code.ad, (composed, last), &given, &types, span);
            self.arms.push((last, types.clone(), both));
        }
        code.b.make(data, ctor, fields)
    }
}

/// A further constructor of function values. That of tangents is the last one no longer: there are none.
fn new_ctor(ad: &mut Ad, data: DataId, name: &str, fields: Vec<Ty>) -> u32 {
    let ctors = &mut ad.program.data.at_mut(data).ctors;
    ctors.push(Ctor { name: name.into(), fields });
    ctors.len() as u32 - 1
}

/// The block, in a function that applies function values, for a further constructor of these.
fn add_arm(func: &mut wengert_ir::Func, held: Vec<Ty>, both: FuncId) {
    let params: Vec<Var> = held.into_iter().map(|ty| func.fresh("x".into(), ty)).collect();
    let more = func.body.params.iter().skip(1).copied();
    let args = params.iter().copied().chain(more).map(Atom::Var).collect();
    let outs: Vec<Var> = func.results.clone().into_iter().map(|ty| func.fresh("y".into(), ty)).collect();
    let results = outs.iter().copied().map(Atom::Var).collect();
    let op = Op::Call { func: both, args, checkpoint: false };
    let stmts = vec![Stmt { outs, op, span: func.span }];
    if let [Stmt { op: Op::Match { arms, .. }, .. }] = func.body.stmts.as_mut_slice() {
        arms.push(Block { params, stmts, results });
    }
}

/// A function that gives the other results of one only.
fn without(ad: &mut Ad, func: FuncId, gives: &[bool]) -> FuncId {
    let of = ad.program.funcs.at(func);
    let (name, types) = (of.name, of.results.clone());
    let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
    let mut code = Code::new(ad, name.as_str());
    let args: Vec<Atom> = params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
    let found = code.b.call(func, args, &types);
    let kept = found.into_iter().zip(gives).filter(|(_, gives)| !**gives).map(|(atom, _)| atom).collect();
    let made = code.finish(kept);
    ad.program.funcs.push(made)
}

/// A function whose result at a place is applied to further arguments.
fn composed(ad: &mut Ad, (func, place): (FuncId, usize), last: FuncId, span: Span) -> FuncId {
    let of = ad.program.funcs.at(func);
    let (name, types) = (of.name, of.results.clone());
    let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
    let applied = ad.program.funcs.at(last);
    let results = applied.results.clone();
    let more: Vec<VarInfo> = applied.body.params.iter().skip(1).map(|var| *applied.vars.at(*var)).collect();
    let mut code = Code::new(ad, &format!("{name}_applied"));
    code.b.set_func_span(span);
    code.b.set_span(span);
    let mut param = |VarInfo { name, ty }| code.b.param(name, ty);
    let args: Vec<Atom> = params.into_iter().map(&mut param).collect();
    let more: Vec<Atom> = more.into_iter().map(&mut param).collect();
    let found = code.b.call(func, args, &types).into_iter().nth(place);
    let args: Vec<Atom> = found.into_iter().chain(more).collect();
    let found = code.b.call(last, args, &results);
    let made = code.finish(found);
    ad.program.funcs.push(made)
}

/// From what a function was given, tangents of that, and further arguments: the tangents of what it gives.
fn derivative(
    ad: &mut Ad,
    (func, last): (FuncId, FuncId),
    given: &[bool],
    held: &[Ty],
    span: Span,
) -> FuncId {
    let results = ad.program.funcs.at(func).results.clone();
    let applied = ad.program.funcs.at(last);
    let more: Vec<VarInfo> = applied.body.params.iter().skip(1).map(|var| *applied.vars.at(*var)).collect();
    let mut code = Code::new(ad, "derived");
    code.b.set_func_span(span);
    code.b.set_span(span);
    let held: Vec<Atom> = held.iter().map(|ty| code.b.param("x".into(), *ty)).collect();
    let more: Vec<Atom> = more.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
    let (xs, ts) = held.split_at_checked(given.len()).unwrap_or_default();
    let mut ts = ts.iter().cloned();
    let tangents = given.iter().map(|given| if *given { ts.next() } else { None });
    let tangents: Vec<Option<Atom>> = tangents.chain(more.iter().map(|_| None)).collect();
    let args = xs.iter().chain(&more).cloned().collect();
    let found = code.b.typed(&results.repeat(2), Op::Jvp { func, args, tangents });
    let tangents = found.into_iter().skip(results.len()).collect();
    let made = code.finish(tangents);
    ad.program.funcs.push(made)
}
