//! Functions that give data with functions in it that give such data again.
//!
//! What `f x` holds waits for its arguments, and what it gives then holds what waits again. So a function value that waits holds `f` and
//! a *path*: what `f` is applied to, and which function is taken of what that gives, again and again.
//!
//! ```text
//! type Stream = Next Real (Real -> Stream)                                 Path = End | Step(x, i, Path)
//!
//! apply(f, x) = s = rest(f, x) in t, _ = filled(s, f, x, 0) in t           which holds applied(f, Step(x, 0, End))
//! rest(f, x) = match f { lambda() { … in shape(Next(x, g)) } …, applied(g, p) { along(g, p, x) } }
//! along(f, p, y) = match f {
//!     lambda() { match p { Step(x, i, q) { g = functions(Next(x, …))[i] in if q is End { rest(g, y) } else { along(g, q, y) } } } }
//!     applied(g, q) { along(g, q ++ p, y) }
//! }
//! ```
//!
//! Several types of function values that give each other have one type of paths. For each function that gives none of them there is an
//! `along`, which is additive in `f`.

use super::holes::{END, Steps};
use super::{Curried, Inner, Waiting, add_arm, add_ctor, tangent_arm, the_match};
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Program, VarInfo};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role};
use wengert_ir::{Builder, Ty};

/// A function that applies function values of a group, and gives such.
struct Giver {
    id: FuncId,
    of: DataId,
    whole: Func,
    /// The results that hold function values, and their types.
    inner: Vec<(usize, Vec<DataId>)>,
    /// For each constructor of the function values what it does.
    parts: Vec<FuncId>,
}

/// What is made for a group.
struct Group<'g> {
    members: &'g [DataId],
    givers: Vec<Giver>,
    path: DataId,
    /// The constructor of the step by a function to function values of a type in one of its results.
    steps: FxHashMap<(FuncId, usize, DataId), u32>,
    /// Whether a path ends.
    is_end: FuncId,
    /// Two paths one after the other.
    joined: FuncId,
    /// The constructors of function values that wait: of which type the first one is, and of which they are.
    ctors: FxHashMap<(DataId, DataId), u32>,
    /// For the type of a first function value and a function that applies the last one: what goes along a path.
    along: FxHashMap<(DataId, FuncId), FuncId>,
}

impl Group<'_> {
    fn path_type(&self) -> Ty {
        Ty::Scalar(Elem::Data(self.path))
    }

    /// The types of function values that are given.
    fn targets(&self) -> Vec<DataId> {
        let all = self.givers.iter().flat_map(|giver| &giver.inner);
        let mut targets: Vec<DataId> = all.flat_map(|(_, types)| types).copied().collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

impl Curried<'_> {
    /// Lets the functions that apply values of these types, which give each other, give no function values that have captured something.
    pub(super) fn rewrite_together(&mut self, made: &mut Program, members: &[DataId]) -> bool {
        let givers = self.givers(made, members);
        let mut group = declared(made, members, givers);
        for target in group.targets() {
            for root in members {
                let fields = vec![Ty::Scalar(Elem::Data(*root)), group.path_type()];
                let ctor = add_ctor(made, target, fields);
                group.ctors.insert((*root, target), ctor);
            }
        }
        for giver in &mut group.givers {
            giver.whole = made.funcs.at(giver.id).clone();
            giver.parts = parts(made, giver);
        }
        let rests = self.rests(made, &group);
        let mut lasts = Vec::new();
        for target in group.targets() {
            for last in self.finals.get(&target).cloned().unwrap_or_default() {
                lasts.push((target, last));
                for root in members {
                    group.along.insert((*root, last), made.funcs.push(Func::clone(made.funcs.at(last))));
                }
            }
        }
        for (target, last) in &lasts {
            for root in members {
                let Some(along) = group.along.get(&(*root, *last)).copied() else { continue };
                let func = self.along(made, &group, *root, (*target, *last), along);
                *made.funcs.at_mut(along) = func;
                let held = vec![
                    VarInfo { name: Name::new("f"), ty: Ty::Scalar(Elem::Data(*root)) },
                    VarInfo { name: Name::new("path"), ty: group.path_type() },
                ];
                add_arm(made, *last, held, along);
                self.finals.entry(*root).or_default().push(along);
            }
        }
        for (giver, rest) in group.givers.iter().zip(rests) {
            let function = self.waits_along(made, &group, giver, rest);
            *made.funcs.at_mut(giver.id) = function;
        }
        true
    }

    fn givers(&self, made: &Program, members: &[DataId]) -> Vec<Giver> {
        let mut givers = Vec::new();
        for of in members {
            for id in self.applies.get(of).into_iter().flatten() {
                let whole = made.funcs.at(*id).clone();
                let all = whole.results.iter().enumerate();
                let inner: Vec<(usize, Vec<DataId>)> = all
                    .filter_map(|(place, ty)| Some((place, self.inner(self.program, *ty)?.types().to_vec())))
                    .collect();
                if !inner.is_empty() {
                    givers.push(Giver { id: *id, of: *of, whole, inner, parts: Vec::new() });
                }
            }
        }
        givers
    }

    /// For each of them the function that gives shapes of what it gives; notes what gives no function values.
    fn rests(&mut self, made: &mut Program, group: &Group<'_>) -> Vec<FuncId> {
        for of in group.members {
            let mut finals = self.applies.get(of).cloned().unwrap_or_default();
            finals.retain(|id| group.givers.iter().all(|giver| giver.id != *id));
            self.finals.insert(*of, finals);
        }
        let mut rests = Vec::new();
        for giver in &group.givers {
            let rest = made.funcs.push(giver.whole.clone());
            let mut inner: Vec<Option<Inner>> = giver.whole.results.iter().map(|_| None).collect();
            for (place, types) in &giver.inner {
                if let Some(there) = inner.get_mut(*place) {
                    *there = Some(Inner::Inside(types.clone()));
                }
            }
            let without = self.without(made, &giver.whole, &inner, rest);
            *made.funcs.at_mut(rest) = without;
            self.finals.entry(giver.of).or_default().push(rest);
            rests.push(rest);
        }
        rests
    }

    /// What gives function values that wait, with paths of one step.
    fn waits_along(&mut self, made: &mut Program, group: &Group<'_>, giver: &Giver, rest: FuncId) -> Func {
        let mut waiting = Vec::new();
        for (place, types) in &giver.inner {
            let ctor =
                |data: &DataId| (*data, group.ctors.get(&(giver.of, *data)).copied().unwrap_or_default());
            let step = |data: &DataId| group.steps.get(&(giver.id, *place, *data)).copied().unwrap_or(END);
            let steps = Steps { path: group.path, ctors: types.iter().map(step).collect() };
            let ctors = types.iter().map(ctor).collect();
            let inner = Inner::Inside(types.clone());
            waiting.push(Waiting { place: *place, inner, ctors, steps: Some(steps) });
        }
        self.waiting(made, &giver.whole, rest, waiting)
    }

    /// The function that goes along a path from function values of a type, to apply with a function the last one.
    fn along(
        &mut self,
        made: &mut Program,
        group: &Group<'_>,
        root: DataId,
        (target, last): (DataId, FuncId),
        itself: FuncId,
    ) -> Func {
        let (name, span, results) = {
            let last = made.funcs.at(last);
            (Name::new(&format!("along_{}", last.name)), last.span, last.results.clone())
        };
        let mut b = Builder::new(name);
        b.set_func_span(span);
        b.set_span(span);
        let f = b.param(Name::new("f"), Ty::Scalar(Elem::Data(root)));
        let path = b.param(Name::new("path"), group.path_type());
        let more = more_params(&mut b, made.funcs.at(last));
        let ctors = made.data.at(root).ctors.clone();
        let mut arms = Vec::new();
        for (k, ctor) in ctors.iter().enumerate() {
            b.open();
            let fields: Vec<Atom> = ctor.fields.iter().map(|ty| b.param(Name::new("x"), *ty)).collect();
            let before = group.members.iter().find(|of| group.ctors.get(&(**of, root)) == Some(&(k as u32)));
            let found = match (before, fields.as_slice()) {
                (Some(before), [first, way]) => {
                    let along = group.along.get(&(*before, last)).copied().unwrap_or(itself);
                    let args = [way.clone(), path.clone()];
                    let whole = b.called("path").call(group.joined, args, &[group.path_type()]);
                    let args: Vec<Atom> = [first].into_iter().chain(&whole).chain(&more).cloned().collect();
                    b.call(along, args, &results)
                }
                (Some(_), _) => never(&mut b, &results),
                (None, _) if k + 1 == ctors.len() => never(&mut b, &results),
                (None, _) => {
                    let way =
                        Way { root, ctor: k, fields, path: path.clone(), more: more.clone(), target, last };
                    self.first_step(made, group, &mut b, way, &results)
                }
            };
            arms.push(b.close(found));
        }
        let found = b.typed(&results, Op::Match { on: f, arms });
        let mut func = b.finish(found);
        tangent_arm(&mut func, itself);
        func
    }

    /// The first step of a path, and the rest of it.
    fn first_step(
        &mut self,
        made: &mut Program,
        group: &Group<'_>,
        b: &mut Builder,
        way: Way,
        results: &[Ty],
    ) -> Vec<Atom> {
        b.open();
        let none = never(b, results);
        let mut arms = vec![b.close(none)];
        for giver in &group.givers {
            for (place, types) in &giver.inner {
                for data in types {
                    b.open();
                    let args = more_params(b, &giver.whole);
                    let i = b.param(Name::new("i"), Ty::INT);
                    let rest = b.param(Name::new("path"), group.path_type());
                    let part = if giver.of == way.root { giver.parts.get(way.ctor).copied() } else { None };
                    let found = match (part, giver.whole.results.get(*place)) {
                        (Some(part), Some(ty)) => {
                            let args: Vec<Atom> = way.fields.iter().chain(&args).cloned().collect();
                            let given = b.call(part, args, &giver.whole.results);
                            let given = given.get(*place).cloned().unwrap_or(Atom::Unit);
                            let list = self.making(made, |making| making.list(*ty, *data));
                            let all = Ty::Array(Elem::Data(*data), 1);
                            let list = b.called("fs").call(list, [given], &[all]).remove(0);
                            let next = b.called("f").array(ArrayOp::Index, [list, i]);
                            next_step(group, b, (next, *data, rest), &way, results)
                        }
                        (_, _) => never(b, results),
                    };
                    arms.push(b.close(found));
                }
            }
        }
        b.typed(results, Op::Match { on: way.path, arms })
    }
}

/// What goes along a path: from a constructor of function values of a type with these fields, to apply the last one, of a type, with a
/// function to more arguments.
struct Way {
    root: DataId,
    ctor: usize,
    fields: Vec<Atom>,
    path: Atom,
    more: Vec<Atom>,
    target: DataId,
    last: FuncId,
}

/// From a function value on: it is applied, if the path ends, or there are further steps.
fn next_step(
    group: &Group<'_>,
    b: &mut Builder,
    (next, data, rest): (Atom, DataId, Atom),
    way: &Way,
    results: &[Ty],
) -> Vec<Atom> {
    let apply = |b: &mut Builder| {
        let args: Vec<Atom> = [&next].into_iter().chain(&way.more).cloned().collect();
        b.call(way.last, args, results)
    };
    let go_on = |b: &mut Builder, along: FuncId| {
        let args: Vec<Atom> = [&next, &rest].into_iter().chain(&way.more).cloned().collect();
        b.call(along, args, results)
    };
    let along = group.along.get(&(data, way.last)).copied();
    match (along, data == way.target) {
        (None, false) => never(b, results),
        (None, true) => apply(b),
        (Some(along), false) => go_on(b, along),
        (Some(along), true) => {
            let cond = b.called("is_end").call(group.is_end, [rest.clone()], &[Ty::BOOL]).remove(0);
            b.open();
            let found = apply(b);
            let then = b.close(found);
            b.open();
            let found = go_on(b, along);
            let otherwise = b.close(found);
            b.typed(results, Op::If { cond, then, otherwise })
        }
    }
}

/// A path that there is not.
fn never(b: &mut Builder, results: &[Ty]) -> Vec<Atom> {
    b.typed(results, Op::Fail { message: Atom::Text("a path that there is not".into()) })
}

/// Parameters like those of a function that applies function values, but for the first.
fn more_params(b: &mut Builder, of: &Func) -> Vec<Atom> {
    let infos: Vec<VarInfo> = of.body.params.iter().skip(1).map(|var| *of.vars.at(*var)).collect();
    infos.into_iter().map(|VarInfo { name, ty }| b.param(name, ty)).collect()
}

/// Declares the type of paths, and makes what asks for their end and what joins them.
fn declared<'g>(made: &mut Program, members: &'g [DataId], givers: Vec<Giver>) -> Group<'g> {
    let path = Data { name: Name::new("Path"), role: Role::Declared, ctors: Vec::new() };
    let path = made.data.push(path);
    let own = Ty::Scalar(Elem::Data(path));
    let mut ctors = vec![Ctor { name: Name::new("End"), fields: Vec::new() }];
    let mut steps = FxHashMap::default();
    for giver in &givers {
        for (place, types) in &giver.inner {
            for data in types {
                steps.insert((giver.id, *place, *data), ctors.len() as u32);
                let fields = giver.whole.param_types().into_iter().skip(1).chain([Ty::INT, own]).collect();
                ctors.push(Ctor { name: Name::new("Step"), fields });
            }
        }
    }
    made.data.at_mut(path).ctors.clone_from(&ctors);
    let is_end = is_end(&ctors, own);
    let is_end = made.funcs.push(is_end);
    let joined = made.funcs.push(Builder::new(Name::new("reserved")).finish(Vec::new()));
    let func = join(&ctors, path, joined);
    *made.funcs.at_mut(joined) = func;
    let (ctors, along) = (FxHashMap::default(), FxHashMap::default());
    Group { members, givers, path, steps, is_end, joined, ctors, along }
}

fn is_end(ctors: &[Ctor], own: Ty) -> Func {
    let mut b = Builder::new(Name::new("is_end"));
    let on = b.param(Name::new("path"), own);
    let mut arms = Vec::new();
    for (place, ctor) in ctors.iter().enumerate() {
        b.open();
        for ty in &ctor.fields {
            b.param(Name::new("x"), *ty);
        }
        arms.push(b.close(vec![Atom::Bool(place == END as usize)]));
    }
    let found = b.typed1(Ty::BOOL, Op::Match { on, arms });
    b.finish(vec![found])
}

fn join(ctors: &[Ctor], path: DataId, itself: FuncId) -> Func {
    let own = Ty::Scalar(Elem::Data(path));
    let mut b = Builder::new(Name::new("joined"));
    let [on, after] = ["path", "after"].map(|name| b.param(Name::new(name), own));
    let mut arms = Vec::new();
    for (place, ctor) in ctors.iter().enumerate() {
        b.open();
        let mut fields: Vec<Atom> = ctor.fields.iter().map(|ty| b.param(Name::new("x"), *ty)).collect();
        let whole = match fields.pop() {
            Some(rest) => {
                fields.extend(b.call(itself, [rest, after.clone()], &[own]));
                b.make(path, place as u32, fields)
            }
            None => after.clone(),
        };
        arms.push(b.close(vec![whole]));
    }
    let found = b.typed1(own, Op::Match { on, arms });
    b.finish(vec![found])
}

/// For each constructor of function values, but that of tangents, the function of its fields and the arguments that a function is there.
fn parts(made: &mut Program, giver: &Giver) -> Vec<FuncId> {
    let mut whole = giver.whole.clone();
    let name = whole.name;
    let arms: Vec<Block> = the_match(&mut whole).map(|(arms, _)| arms.clone()).unwrap_or_default();
    let mut params = giver.whole.body.params.clone();
    let first = if params.is_empty() { None } else { Some(params.remove(0)) };
    let mut found = Vec::new();
    for (ctor, arm) in arms.iter().enumerate().take(arms.len().saturating_sub(1)) {
        let mut func = giver.whole.clone();
        func.name = Name::new(&format!("{name}_part"));
        func.body = arm.clone();
        func.body.params.extend(&params);
        if let Some(first) = first.filter(|first| mentions(arm, *first)) {
            let fields = arm.params.iter().copied().map(Atom::Var).collect();
            let op = Op::Make { data: giver.of, ctor: ctor as u32, fields };
            func.body.stmts.insert(0, Stmt { outs: vec![first], op, span: func.span });
        }
        found.push(made.funcs.push(func));
    }
    found
}

/// Whether a block looks at a variable, or gives it.
fn mentions(block: &Block, var: Var) -> bool {
    let is_var = |atom: &Atom| atom.var() == Some(var);
    let inside = |stmt: &Stmt| {
        let mut found = stmt.op.blocks().into_iter().any(|inner| mentions(inner, var));
        stmt.op.for_each_atom(&mut |atom| found |= is_var(atom));
        found
    };
    block.results.iter().any(is_var) || block.stmts.iter().any(inside)
}
