//! Functions that give functions, where others may be given as tangents of them.
//!
//! What varies in `f x` beside the function itself, which is a function value too, belongs to one of several: a cotangent of `f x` says
//! how what `f` has captured in it varies, and nothing of what `h` does that is given as the tangent of `f`. So what `f x` gives is not
//! that function value, but one that holds `f` and `x`; and to apply it to `y` is to apply `f` to both, which is additive in `f`:
//!
//! ```text
//! apply(f, x) = match f { lambda() { g = Inner::lambda(x) in g } … }        apply2(g, y) = match g { lambda(x) { x * y } … }
//!
//! apply(f, x) = Inner::applied(f, x)                                        apply2(g, y) = match g { …, applied(f, x) { both(f, x, y) } }
//! both(f, x, y) = match f { lambda() { g = Inner::lambda(x) in apply2(g, y) } … }
//! ```
//!
//! Of an array of functions each element waits for the arguments, and knows its place, an argument too. How many there are is computed at
//! once:
//!
//! ```text
//! apply(f, x) = match f { lambda() { a = Inner::lambda(x); b = Inner::sin() in [a, b] } … }
//!
//! apply(f, x) = n = length(rest(f, x)) in each i < n { Inner::applied(f, x, i) }
//! both(f, x, i, y) = match f { lambda() { a = Inner::lambda(x); b = Inner::sin() in apply2([a, b][i], y) } … }
//! ```
//!
//! Where function values are inside of data, or of arrays of arrays, the rest has their shape: see [`holes`].
//!
//! Where they give such data again there is no end, and what was applied so far is data, too: see [`paths`].
//!
//! That computes what is done between the arguments anew for each second one, so it is done only where derivatives cannot be made
//! otherwise. What `f x` gives beside functions, and how it fails, is computed as before.

mod holes;
mod paths;

use holes::{Filling, Holes, Making, Steps};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::Ty;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Mode, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Program, VarInfo};
use wengert_ir::ty::{Ctor, DataId, Elem, Role};

/// The program where function values are not made before all arguments are there; `None` if there is nothing to do.
pub(crate) fn uncurried(program: &Program) -> Option<Program> {
    let tangents = |(_, data): (DataId, &wengert_ir::ty::Data)| match data.role {
        Role::Tangent(of) if program.data.at(of).role == Role::Closure => Some(of),
        Role::Tangent(_) | Role::Declared | Role::Closure | Role::Residual => None,
    };
    let closures: FxHashSet<DataId> = program.data.iter().filter_map(tangents).collect();
    let applies = applications(program, &closures)?;
    let mut work = Curried { applies, finals: FxHashMap::default(), holes: Holes::default(), program };
    if closures.iter().all(|data| work.gives(*data).is_empty()) {
        return None;
    }
    let given = crate::flow::find(program).given;
    work.applies.retain(|data, _| given.contains_key(data));
    let mut made = program.clone();
    let mut any = false;
    for group in work.inner_first() {
        any |= match group.as_slice() {
            [data] if !work.reaches(*data, *data) => work.rewrite(&mut made, *data),
            group => work.rewrite_together(&mut made, group),
        };
    }
    any.then_some(made)
}

/// For each type of function values, the functions that apply them; `None` if they are taken apart elsewhere.
pub(crate) fn applications(
    program: &Program,
    closures: &FxHashSet<DataId>,
) -> Option<FxHashMap<DataId, Vec<FuncId>>> {
    // Those that nobody applies wait as well.
    let mut found: FxHashMap<DataId, Vec<FuncId>> = closures.iter().map(|data| (*data, Vec::new())).collect();
    for (id, func) in program.funcs.iter() {
        let mut apart = 0;
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Match { on, .. } = &stmt.op
                && let Elem::Data(data) = func.type_of(on).elem()
                && closures.contains(&data)
            {
                apart += 1;
            }
        });
        if apart == 0 {
            continue;
        }
        let [Stmt { op: Op::Match { on, arms }, outs, .. }] = func.body.stmts.as_slice() else { return None };
        let first = func.body.params.first().copied();
        let Elem::Data(data) = func.type_of(on).elem() else { return None };
        let same = func.body.results.iter().map(Atom::var).eq(outs.iter().copied().map(Some));
        if apart != 1 || !same || on.var() != first || arms.len() != program.data.at(data).ctors.len() {
            return None;
        }
        found.entry(data).or_default().push(id);
    }
    Some(found)
}

/// Function values that are given.
#[derive(Clone)]
enum Inner {
    /// One.
    One(DataId),
    /// An array of them.
    Many(DataId),
    /// Of these types, inside of other data or arrays.
    Inside(Vec<DataId>),
}

impl Inner {
    /// Their types.
    fn types(&self) -> &[DataId] {
        match self {
            Inner::One(data) | Inner::Many(data) => std::slice::from_ref(data),
            Inner::Inside(types) => types,
        }
    }

    /// Whether there may be more than one, which are counted.
    fn is_counted(&self) -> bool {
        !matches!(self, Inner::One(_))
    }
}

/// How one of the function values that are given is found.
#[derive(Clone, Copy)]
enum Found {
    /// It is what is given.
    Itself,
    /// It is an element of that.
    Element,
    /// It is an element of the array that this function makes of it.
    Listed(FuncId),
}

struct Curried<'a> {
    program: &'a Program,
    /// The functions that apply function values for which others may be given as tangents.
    applies: FxHashMap<DataId, Vec<FuncId>>,
    /// What applies them in the new program, and gives no such function values.
    finals: FxHashMap<DataId, Vec<FuncId>>,
    holes: Holes,
}

impl Curried<'_> {
    /// The types of function values that function values of a type give.
    fn gives(&self, data: DataId) -> Vec<DataId> {
        let funcs = self.applies.get(&data).into_iter().flatten();
        let results = funcs.flat_map(|id| &self.program.funcs.at(*id).results);
        let inner = results.filter_map(|ty| self.inner(self.program, *ty));
        inner.flat_map(|inner| inner.types().to_vec()).collect()
    }

    /// The function values that a result is or holds.
    fn inner(&self, program: &Program, ty: Ty) -> Option<Inner> {
        let is_waiting = |data: DataId| self.applies.contains_key(&data);
        match ty {
            Ty::Scalar(Elem::Data(data)) if is_waiting(data) => Some(Inner::One(data)),
            Ty::Array(Elem::Data(data), 1) if is_waiting(data) => Some(Inner::Many(data)),
            Ty::Scalar(_) | Ty::Array(..) => {
                let types = holes::functions_in(program, &is_waiting, ty)?;
                (!types.is_empty()).then_some(Inner::Inside(types))
            }
        }
    }

    /// Whether values of a type give values of another one, which may be the same, at once or later.
    fn reaches(&self, from: DataId, to: DataId) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![from]);
        while let Some(next) = todo.pop() {
            for inner in self.gives(next) {
                if inner == to {
                    return true;
                }
                if seen.insert(inner) {
                    todo.push(inner);
                }
            }
        }
        false
    }

    /// The types, those that others give first, and those together that give each other.
    fn inner_first(&self) -> Vec<Vec<DataId>> {
        let mut left: Vec<DataId> = self.applies.keys().copied().collect();
        left.sort_unstable();
        let mut groups: Vec<Vec<DataId>> = Vec::new();
        while let Some(first) = left.first().copied() {
            // Of those that are left and that it reaches, one reaches none but what reaches it.
            let is_last = |data: &DataId| {
                left.iter().all(|other| !self.reaches(*data, *other) || self.reaches(*other, *data))
            };
            let last = left.iter().copied().find(is_last).unwrap_or(first);
            let is_beside =
                |data: DataId| data == last || (self.reaches(data, last) && self.reaches(last, data));
            let (group, rest) = left.iter().partition(|data| is_beside(**data));
            groups.push(group);
            left = rest;
        }
        groups
    }

    /// Lets the functions that apply values of a type give no function values that have captured something.
    fn rewrite(&mut self, made: &mut Program, data: DataId) -> bool {
        let mut finals = Vec::new();
        let mut any = false;
        for id in self.applies.get(&data).cloned().unwrap_or_default() {
            let of = self.program.funcs.at(id);
            let inner: Vec<Option<Inner>> =
                of.results.iter().map(|ty| self.inner(self.program, *ty)).collect();
            if inner.iter().all(Option::is_none) {
                finals.push(id);
                continue;
            }
            any = true;
            let whole = made.funcs.at(id).clone();
            let rest = made.funcs.push(whole.clone());
            let without = self.without(made, &whole, &inner, rest);
            *made.funcs.at_mut(rest) = without;
            finals.push(rest);
            let mut waiting = Vec::new();
            for (place, inner) in inner.into_iter().enumerate() {
                let Some(inner) = inner else { continue };
                let mut ctors = Vec::new();
                for data in inner.types() {
                    ctors.push((*data, self.applied(made, &whole, (place, &inner), *data, &mut finals)));
                }
                waiting.push(Waiting { place, inner, ctors, steps: None });
            }
            let function = self.waiting(made, &whole, rest, waiting);
            *made.funcs.at_mut(id) = function;
        }
        self.finals.insert(data, finals);
        any
    }

    /// The constructor of function values of a type that wait for further arguments, and the functions that apply them.
    fn applied(
        &mut self,
        made: &mut Program,
        whole: &Func,
        (place, inner): (usize, &Inner),
        data: DataId,
        finals: &mut Vec<FuncId>,
    ) -> u32 {
        let mut fields = whole.param_types();
        fields.extend(inner.is_counted().then_some(Ty::INT));
        let ctor = add_ctor(made, data, fields);
        let found = match inner {
            Inner::One(_) => Found::Itself,
            Inner::Many(_) => Found::Element,
            Inner::Inside(_) => {
                let ty = whole.results.get(place).copied().unwrap_or(Ty::INT);
                Found::Listed(self.making(made, |making| making.list(ty, data)))
            }
        };
        for last in self.finals.get(&data).cloned().unwrap_or_default() {
            let both = made.funcs.push(whole.clone());
            let applied = (last, made.funcs.at(last));
            *made.funcs.at_mut(both) = composed(whole, (place, found, data), applied, both);
            finals.push(both);
            let mut params: Vec<VarInfo> = whole.body.params.iter().map(|var| *whole.vars.at(*var)).collect();
            params.extend(inner.is_counted().then_some(VarInfo { name: Name::new("i"), ty: Ty::INT }));
            add_arm(made, last, params, both);
        }
        ctor
    }

    /// Makes something for types with function values in them.
    fn making<R>(&mut self, program: &mut Program, make: impl FnOnce(&mut Making<'_>) -> R) -> R {
        let applies = &self.applies;
        let is_waiting = |data: DataId| applies.contains_key(&data);
        make(&mut Making { program, is_waiting: &is_waiting, holes: &mut self.holes })
    }

    /// What a function gives beside function values; of arrays of such, zeros, and the shape of what they are in.
    fn without(&mut self, made: &mut Program, whole: &Func, inner: &[Option<Inner>], itself: FuncId) -> Func {
        let mut func = whole.clone();
        for (place, inner) in inner.iter().enumerate() {
            match inner {
                None | Some(Inner::One(_)) => {}
                Some(Inner::Many(_)) => counted(&mut func, place),
                Some(Inner::Inside(_)) => {
                    let ty = whole.results.get(place).copied().unwrap_or(Ty::INT);
                    let shape = self.making(made, |making| (making.shape(ty), making.shape_type(ty)));
                    shaped(&mut func, place, shape);
                }
            }
        }
        let keep = |place: usize| !matches!(inner.get(place), Some(Some(Inner::One(_))));
        retain(&mut func.results, keep);
        retain(&mut func.body.results, keep);
        if let Some((arms, outs)) = the_match(&mut func) {
            retain(outs, keep);
            arms.iter_mut().for_each(|arm| retain(&mut arm.results, keep));
        }
        tangent_arm(&mut func, itself);
        func
    }

    /// What gives function values that wait for further arguments.
    fn waiting(&mut self, made: &mut Program, whole: &Func, rest: FuncId, waiting: Vec<Waiting>) -> Func {
        let mut func = whole.clone();
        let args: Vec<Atom> = func.body.params.iter().copied().map(Atom::Var).collect();
        let span = func.span;
        let outs = the_match(&mut func).map(|(_, outs)| outs.clone()).unwrap_or_default();
        let mut given = outs.clone();
        for Waiting { place, inner, .. } in waiting.iter().filter(|of| of.inner.is_counted()) {
            let ty = match (inner, whole.results.get(*place)) {
                (Inner::Inside(_), Some(ty)) => self.making(made, |making| making.shape_type(*ty)),
                _ => ZEROS,
            };
            if let Some(there) = given.get_mut(*place) {
                *there = func.fresh(Name::new("zeros"), ty);
            }
        }
        let shapes = given.clone();
        let is_one = |place: usize| waiting.iter().any(|of| of.place == place && !of.inner.is_counted());
        retain(&mut given, |place| !is_one(place));
        let op = Op::Call { func: rest, args: args.clone(), checkpoint: false };
        func.body.stmts = vec![Stmt { outs: given, op, span }];
        for Waiting { place, inner, ctors, steps } in waiting {
            let out: Vec<Var> = outs.get(place).copied().into_iter().collect();
            let shape: Vec<Atom> = shapes.get(place).copied().map(Atom::Var).into_iter().collect();
            let ctor = ctors.first().map_or(0, |(_, ctor)| *ctor);
            match inner {
                Inner::One(data) => {
                    let op = Op::Make { data, ctor, fields: args.clone() };
                    func.body.stmts.push(Stmt { outs: out, op, span });
                }
                Inner::Many(data) => each_waits(&mut func, (data, ctor), (shape, out), &args),
                Inner::Inside(_) => {
                    let counts = ctors.iter().map(|_| func.fresh(Name::new("n"), Ty::INT));
                    let outs = out.into_iter().chain(counts).collect();
                    let none = ctors.iter().map(|_| Atom::Int(0));
                    let args = shape.into_iter().chain(args.iter().cloned()).chain(none).collect();
                    let params = whole.body.params.iter().map(|var| *whole.vars.at(*var)).collect();
                    let mut filling = Filling { params, ctors, steps, made: FxHashMap::default() };
                    let ty = whole.results.get(place).copied().unwrap_or(Ty::INT);
                    let filled = self.making(made, |making| making.filled(&mut filling, ty));
                    let op = Op::Call { func: filled, args, checkpoint: false };
                    func.body.stmts.push(Stmt { outs, op, span });
                }
            }
        }
        func
    }
}

/// Function values that wait.
struct Waiting {
    /// The result that they are or that holds them.
    place: usize,
    inner: Inner,
    /// For each type of them the constructor of those that wait.
    ctors: Vec<(DataId, u32)>,
    /// What they hold as data, if they do.
    steps: Option<Steps>,
}

const ZEROS: Ty = Ty::Array(Elem::Real, 1);

/// Adds a constructor before that of tangents.
fn add_ctor(program: &mut Program, data: DataId, fields: Vec<Ty>) -> u32 {
    let ctors = &mut program.data.at_mut(data).ctors;
    let place = ctors.len().saturating_sub(1);
    ctors.insert(place, Ctor { name: Name::new("applied"), fields });
    for (_, func) in program.funcs.iter_mut() {
        shift(&mut func.body, data, place as u32);
    }
    place as u32
}

/// Constructors from this one on have moved.
fn shift(block: &mut Block, of: DataId, place: u32) {
    for stmt in &mut block.stmts {
        if let Op::Make { data, ctor, .. } = &mut stmt.op
            && *data == of
            && *ctor >= place
        {
            *ctor += 1;
        }
        stmt.op.blocks_mut().into_iter().for_each(|inner| shift(inner, of, place));
    }
}

/// The match that a function consists of.
fn the_match(func: &mut Func) -> Option<(&mut Vec<Block>, &mut Vec<Var>)> {
    match func.body.stmts.as_mut_slice() {
        [Stmt { op: Op::Match { arms, .. }, outs, .. }] => Some((arms, outs)),
        _ => None,
    }
}

/// The block for tangents: what differentiates the function itself.
fn tangent_arm(func: &mut Func, itself: FuncId) {
    let params: Vec<Atom> = func.body.params.iter().skip(1).copied().map(Atom::Var).collect();
    let results = func.results.clone();
    let fresh =
        |func: &mut Func| -> Vec<Var> { results.iter().map(|ty| func.fresh(Name::new("t"), *ty)).collect() };
    let (values, tangents) = (fresh(func), fresh(func));
    let span = func.span;
    let Some(arm) = the_match(func).and_then(|(arms, _)| arms.last_mut()) else { return };
    let [of, along] = match arm.params.as_slice() {
        [of, along] => [*of, *along].map(Atom::Var),
        _ => return,
    };
    let given = std::iter::once(Some(along)).chain(params.iter().map(|_| None)).collect();
    let args = std::iter::once(of).chain(params).collect();
    let outs = values.into_iter().chain(tangents.iter().copied()).collect();
    arm.stmts = vec![Stmt { outs, op: Op::Jvp { func: itself, args, tangents: given }, span }];
    arm.results = tangents.into_iter().map(Atom::Var).collect();
}

/// Puts as many zeros in the place of a result, an array.
fn counted(func: &mut Func, place: usize) {
    let span = func.span;
    let count = the_match(func).map_or(0, |(arms, _)| arms.len());
    for arm in 0..count.saturating_sub(1) {
        let (n, zeros) = (func.fresh(Name::new("n"), Ty::INT), func.fresh(Name::new("zeros"), ZEROS));
        let Some(arm) = the_match(func).and_then(|(arms, _)| arms.get_mut(arm)) else { continue };
        let Some(result) = arm.results.get_mut(place) else { continue };
        let array = std::mem::replace(result, Atom::Var(zeros));
        let many = vec![Atom::Var(n), Atom::Real(0.0)];
        for (out, op, args) in [(n, ArrayOp::Length(0), vec![array]), (zeros, ArrayOp::Replicate, many)] {
            arm.stmts.push(Stmt { outs: vec![out], op: Op::Array(op, args), span });
        }
    }
    give(func, place, ZEROS);
}

/// Puts the shape of a result in its place.
fn shaped(func: &mut Func, place: usize, (shape, ty): (FuncId, Ty)) {
    let span = func.span;
    let count = the_match(func).map_or(0, |(arms, _)| arms.len());
    for arm in 0..count.saturating_sub(1) {
        let out = func.fresh(Name::new("shape"), ty);
        let Some(arm) = the_match(func).and_then(|(arms, _)| arms.get_mut(arm)) else { continue };
        let Some(result) = arm.results.get_mut(place) else { continue };
        let args = vec![std::mem::replace(result, Atom::Var(out))];
        let op = Op::Call { func: shape, args, checkpoint: false };
        arm.stmts.push(Stmt { outs: vec![out], op, span });
    }
    give(func, place, ty);
}

/// Lets a result have another type.
fn give(func: &mut Func, place: usize, ty: Ty) {
    let out = func.fresh(Name::new("zeros"), ty);
    if let Some(there) = the_match(func).and_then(|(_, outs)| outs.get_mut(place)) {
        *there = out;
    }
    if let (Some(result), Some(there)) = (func.body.results.get_mut(place), func.results.get_mut(place)) {
        (*result, *there) = (Atom::Var(out), ty);
    }
}

fn retain<T>(items: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
    let mut place = 0;
    items.retain(|_| {
        place += 1;
        keep(place - 1)
    });
}

/// A function whose result at a place, or a function value in it, is applied to further arguments.
fn composed(
    whole: &Func,
    (place, found, data): (usize, Found, DataId),
    (last, applied): (FuncId, &Func),
    itself: FuncId,
) -> Func {
    let mut func = whole.clone();
    func.name = Name::new(&format!("{}_{}", whole.name, applied.name));
    func.results.clone_from(&applied.results);
    let is_counted = !matches!(found, Found::Itself);
    let index = is_counted.then(|| func.fresh(Name::new("i"), Ty::INT));
    func.body.params.extend(index);
    let mut more = Vec::new();
    for param in applied.body.params.iter().skip(1) {
        let VarInfo { name, ty } = *applied.vars.at(*param);
        more.push(func.fresh(name, ty));
    }
    func.body.params.extend(&more);
    let named = named_results(applied);
    let fresh = |func: &mut Func| -> Vec<Var> {
        named.iter().map(|VarInfo { name, ty }| func.fresh(*name, *ty)).collect()
    };
    let outs = fresh(&mut func);
    let count = the_match(&mut func).map_or(0, |(arms, _)| arms.len());
    for arm in 0..count.saturating_sub(1) {
        let results = fresh(&mut func);
        let element = func.fresh(Name::new("f"), Ty::Scalar(Elem::Data(data)));
        let list = func.fresh(Name::new("fs"), Ty::Array(Elem::Data(data), 1));
        let span = func.span;
        let Some(arm) = the_match(&mut func).and_then(|(arms, _)| arms.get_mut(arm)) else { continue };
        let Some(mut given) = arm.results.get(place).cloned() else { continue };
        if let Found::Listed(listed) = found {
            let op = Op::Call { func: listed, args: vec![given], checkpoint: false };
            arm.stmts.push(Stmt { outs: vec![list], op, span });
            given = Atom::Var(list);
        }
        if let Some(index) = index {
            let op = Op::Array(ArrayOp::Index, vec![given, Atom::Var(index)]);
            arm.stmts.push(Stmt { outs: vec![element], op, span });
            given = Atom::Var(element);
        }
        let args: Vec<Atom> = std::iter::once(given).chain(more.iter().copied().map(Atom::Var)).collect();
        let op = Op::Call { func: last, args, checkpoint: false };
        arm.stmts.push(Stmt { outs: results.clone(), op, span });
        arm.results = results.into_iter().map(Atom::Var).collect();
    }
    if let Some((_, there)) = the_match(&mut func) {
        there.clone_from(&outs);
    }
    func.body.results = outs.into_iter().map(Atom::Var).collect();
    tangent_arm(&mut func, itself);
    func
}

/// Names and types of the results of a function.
fn named_results(func: &Func) -> Vec<VarInfo> {
    let name = |atom: &Atom| atom.var().map_or(Name::new("t"), |var| func.vars.at(var).name);
    let all = func.body.results.iter().zip(&func.results);
    all.map(|(atom, ty)| VarInfo { name: name(atom), ty: *ty }).collect()
}

/// The block, in a function that applies function values, for those that wait for these arguments.
fn add_arm(program: &mut Program, id: FuncId, held: Vec<VarInfo>, both: FuncId) {
    let func = program.funcs.at_mut(id);
    let params: Vec<Var> = held.into_iter().map(|VarInfo { name, ty }| func.fresh(name, ty)).collect();
    let more: Vec<Var> = func.body.params.iter().skip(1).copied().collect();
    let results: Vec<Var> =
        func.results.clone().into_iter().map(|ty| func.fresh(Name::new("t"), ty)).collect();
    let args = params.iter().chain(&more).copied().map(Atom::Var).collect();
    let op = Op::Call { func: both, args, checkpoint: false };
    let stmt = Stmt { outs: results.clone(), op, span: func.span };
    let arm = Block { params, stmts: vec![stmt], results: results.into_iter().map(Atom::Var).collect() };
    if let Some((arms, _)) = the_match(func) {
        arms.insert(arms.len().saturating_sub(1), arm);
    }
}

/// Makes an array of function values that wait, as long as one of zeros.
fn each_waits(
    func: &mut Func,
    (data, ctor): (DataId, u32),
    (zeros, outs): (Vec<Atom>, Vec<Var>),
    args: &[Atom],
) {
    let span = func.span;
    let [n, i] = ["n", "i"].map(|name| func.fresh(Name::new(name), Ty::INT));
    let made = func.fresh(Name::new("f"), Ty::Scalar(Elem::Data(data)));
    func.body.stmts.push(Stmt { outs: vec![n], op: Op::Array(ArrayOp::Length(0), zeros), span });
    let fields = args.iter().cloned().chain([Atom::Var(i)]).collect();
    let op = Op::Make { data, ctor, fields };
    let stmts = vec![Stmt { outs: vec![made], op, span }];
    let body = Block { params: vec![i], stmts, results: vec![Atom::Var(made)] };
    let (mode, backward, len) = (Mode::Each, false, Atom::Var(n));
    let (init, accs, inputs) = (Vec::new(), Vec::new(), Vec::new());
    let op = Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs, body }));
    func.body.stmts.push(Stmt { outs, op, span });
}
