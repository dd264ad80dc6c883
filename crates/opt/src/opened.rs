//! Data that loops look at again and again is looked at before them, once: before derivatives are made.
//!
//! ```text
//!                                              parts = match s { Round(r) { yield Round'(r) } Square(a, b) { … } }
//! for x in xs {                                for x in xs {
//!   y = match s {                                y = match parts {
//!     Round(r) { … }                 becomes       Round'(r) { … }
//!     Square(a, b) { … }                           Square'(a, b) { … }
//!   }                                            }
//! ```
//!
//! The new type is one that nobody outside knows, so that it lies [flat]: inside of the loops there are numbers, and their derivatives add
//! up as numbers do. Otherwise each iteration makes a tangent of the data, and adds it to that of the others, which may be zero, or of
//! another constructor. So it is with arrays of data, and elements of them.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed only uses data as a whole")]

use crate::flat;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Data, Role};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let known = flat::known(program);
    let is_open = |(id, data): &(DataId, &Data)| {
        data.role == Role::Declared && data.ctors.len() > 1 && known.contains(id) && flat::lies_flat(data)
    };
    let small: FxHashSet<DataId> = program.data.iter().filter(is_open).map(|(id, _)| id).collect();
    if small.is_empty() {
        return false;
    }
    let mut inner: FxHashMap<DataId, DataId> = FxHashMap::default();
    let mut changed = false;
    for id in asked(program) {
        let mut uses = Uses::new(program.funcs.at(id), &small);
        let func = program.funcs.at(id);
        uses.bind(&func.body.params);
        uses.block(&func.body);
        let chosen = uses.chosen();
        if chosen.is_empty() {
            continue;
        }
        let mut func = func.clone();
        for var in chosen.opened() {
            if let Some(data) = data_of(&func, var) {
                inner.entry(data).or_insert_with(|| {
                    let copy = program.data.at(data).clone();
                    program.data.push(copy)
                });
            }
        }
        let mut body = std::mem::take(&mut func.body);
        Open { program, func: &mut func, inner: &inner, chosen, parts: FxHashMap::default(), loops: 0 }
            .block(&mut body);
        func.body = body;
        *program.funcs.at_mut(id) = func;
        changed = true;
    }
    changed
}

/// The functions of which derivatives are asked.
fn asked(program: &Program) -> Vec<FuncId> {
    let mut asked: FxHashSet<FuncId> = program.linears.iter().map(|(_, linear)| linear.func).collect();
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Jvp { func, .. } | Op::Taylor { func, .. } = &stmt.op {
                asked.insert(*func);
            }
        });
    }
    program.funcs.ids().filter(|id| asked.contains(id)).collect()
}

fn data_of(func: &Func, var: Var) -> Option<DataId> {
    match func.ty(var).elem() {
        Elem::Data(data) => Some(data),
        _ => None,
    }
}

fn repeats(op: &Op) -> bool {
    matches!(op, Op::Loop(_) | Op::While(_))
}

/// How data is used in a function.
struct Uses<'f> {
    func: &'f Func,
    small: &'f FxHashSet<DataId>,
    loops: usize,
    /// In how many loops a variable is bound.
    bound: FxHashMap<Var, usize>,
    /// What is matched, and that in more loops than it is bound in.
    matched: FxHashSet<Var>,
    deep: Vec<Var>,
    /// What is used otherwise.
    whole: FxHashSet<Var>,
    /// What fields are called where they are looked at first.
    names: FxHashMap<DataId, Vec<Vec<Name>>>,
    /// Elements of arrays, and whether they are taken in more loops than the array is bound in.
    elements: Vec<(Var, Var, bool)>,
}

/// What becomes something else.
struct Chosen {
    /// Data that is opened where it is bound.
    scalars: FxHashSet<Var>,
    arrays: FxHashSet<Var>,
    /// Elements of those arrays that are opened already.
    elements: FxHashSet<Var>,
    bound: FxHashMap<Var, usize>,
    names: FxHashMap<DataId, Vec<Vec<Name>>>,
}

impl Chosen {
    fn is_empty(&self) -> bool {
        self.scalars.is_empty() && self.arrays.is_empty()
    }

    fn opened(&self) -> impl Iterator<Item = Var> {
        let mut all: Vec<Var> = self.scalars.iter().chain(&self.arrays).copied().collect();
        all.sort_unstable();
        all.into_iter()
    }
}

impl<'f> Uses<'f> {
    fn new(func: &'f Func, small: &'f FxHashSet<DataId>) -> Uses<'f> {
        let (bound, elements) = (FxHashMap::default(), Vec::new());
        let (matched, whole) = (FxHashSet::default(), FxHashSet::default());
        let names = FxHashMap::default();
        Uses { func, small, loops: 0, bound, matched, deep: Vec::new(), whole, names, elements }
    }

    fn is_small(&self, var: Var) -> bool {
        self.func.ty(var).rank() < 2 && data_of(self.func, var).is_some_and(|data| self.small.contains(&data))
    }

    fn bind(&mut self, vars: &[Var]) {
        for var in vars {
            if self.is_small(*var) {
                self.bound.insert(*var, self.loops);
            }
        }
    }

    fn use_whole(&mut self, atom: &Atom) {
        self.whole.extend(atom.var());
    }

    fn block(&mut self, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                self.stmt(stmt);
                self.bind(&stmt.outs);
            }
            block.results.iter().for_each(|result| self.use_whole(result));
        });
    }

    fn is_deep(&self, var: Var) -> bool {
        self.bound.get(&var).is_some_and(|loops| *loops < self.loops)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::Match { on: Atom::Var(on), arms } => {
                self.matched.insert(*on);
                if let Some(data) = data_of(self.func, *on) {
                    let name = |param: &Var| self.func.vars.at(*param).name;
                    let names = || arms.iter().map(|arm| arm.params.iter().map(name).collect()).collect();
                    self.names.entry(data).or_insert_with(names);
                }
                if self.is_deep(*on) {
                    self.deep.push(*on);
                }
            }
            Op::Array(ArrayOp::Length(_), _) => {}
            Op::Array(ArrayOp::Index, args) => match (args.as_slice(), stmt.outs.as_slice()) {
                ([Atom::Var(array), _], [out]) => self.elements.push((*out, *array, self.is_deep(*array))),
                _ => args.iter().for_each(|arg| self.use_whole(arg)),
            },
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                parts.init.iter().chain(&parts.accs).for_each(|given| self.use_whole(given));
                let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
                for (row, input) in rows.zip(&parts.inputs) {
                    if let Atom::Var(array) = input {
                        self.elements.push((*row, *array, self.is_deep(*array)));
                    }
                }
            }
            op => op.for_each_atom(&mut |atom| self.use_whole(atom)),
        }
        self.loops += usize::from(repeats(&stmt.op));
        for inner in stmt.op.blocks() {
            self.bind(&inner.params);
            self.block(inner);
        }
        self.loops -= usize::from(repeats(&stmt.op));
    }

    fn chosen(self) -> Chosen {
        let looked_at = |var: &Var| self.matched.contains(var) && !self.whole.contains(var);
        let is_array = |var: &Var| self.func.ty(*var).rank() == 1 && self.is_small(*var);
        let of_arrays =
            self.elements.iter().filter(|(element, array, _)| looked_at(element) && is_array(array));
        let arrays: FxHashSet<Var> =
            of_arrays.clone().filter(|(_, _, deep)| *deep).map(|(_, array, _)| *array).collect();
        let elements: FxHashSet<Var> = of_arrays
            .filter(|(_, array, _)| arrays.contains(array))
            .map(|(element, _, _)| *element)
            .collect();
        let deep = self.deep.iter().copied();
        let scalars = deep.filter(|var| self.is_small(*var) && !elements.contains(var)).collect();
        Chosen { scalars, arrays, elements, bound: self.bound, names: self.names }
    }
}

/// A walk that opens what was chosen.
struct Open<'p> {
    program: &'p Program,
    func: &'p mut Func,
    /// The types that nobody outside knows.
    inner: &'p FxHashMap<DataId, DataId>,
    chosen: Chosen,
    /// What was opened.
    parts: FxHashMap<Var, Var>,
    loops: usize,
}

impl Open<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(block.stmts.len());
            for param in &block.params {
                self.open(*param, self.func.span, &mut out);
            }
            for mut stmt in std::mem::take(&mut block.stmts) {
                self.stmt(&mut stmt);
                let (outs, span) = (stmt.outs.clone(), stmt.span);
                out.push(stmt);
                outs.into_iter().for_each(|made| self.open(made, span, &mut out));
            }
            block.stmts = out;
        });
    }

    fn inner_type(&self, var: Var) -> Option<(DataId, DataId)> {
        let data = data_of(self.func, var)?;
        Some((data, *self.inner.get(&data)?))
    }

    fn open(&mut self, var: Var, span: Span, out: &mut Vec<Stmt>) {
        let is_array = self.chosen.arrays.contains(&var);
        if !is_array && !self.chosen.scalars.contains(&var) {
            return;
        }
        let Some((data, inner)) = self.inner_type(var) else { return };
        let name = self.func.vars.at(var).name;
        let made = if is_array {
            let len = self.func.fresh("n".into(), Ty::INT);
            out.push(Stmt { outs: vec![len], op: Op::Array(ArrayOp::Length(0), vec![Atom::Var(var)]), span });
            let (index, row) =
                (self.func.fresh("i".into(), Ty::INT), self.func.fresh(name, Ty::Scalar(Elem::Data(data))));
            let opened = self.func.fresh(name, Ty::Scalar(Elem::Data(inner)));
            let op = self.looked_at(row, (data, inner), span);
            let body = Block {
                params: vec![index, row],
                stmts: vec![Stmt { outs: vec![opened], op, span }],
                results: vec![Atom::Var(opened)],
            };
            let all = self.func.fresh(name, Ty::Array(Elem::Data(inner), 1));
            let op = Op::Loop(Box::new(Loop {
                mode: Mode::Each,
                backward: false,
                len: Atom::Var(len),
                inputs: vec![Atom::Var(var)],
                init: Vec::new(),
                accs: Vec::new(),
                body,
            }));
            out.push(Stmt { outs: vec![all], op, span });
            all
        } else {
            let opened = self.func.fresh(name, Ty::Scalar(Elem::Data(inner)));
            let op = self.looked_at(var, (data, inner), span);
            out.push(Stmt { outs: vec![opened], op, span });
            opened
        };
        self.parts.insert(var, made);
    }

    /// The same constructor of the type that nobody outside knows.
    fn looked_at(&mut self, on: Var, (data, inner): (DataId, DataId), span: Span) -> Op {
        let ctors = &self.program.data.at(data).ctors;
        let names = self.chosen.names.get(&data);
        let arm = |(ctor, fields): (u32, &Vec<Ty>)| {
            let names = names.and_then(|names| names.get(ctor as usize));
            let named = |place: usize| names.and_then(|names| names.get(place)).copied();
            let param = |(place, ty): (usize, &Ty)| {
                self.func.fresh(named(place).unwrap_or_else(|| "part".into()), *ty)
            };
            let params: Vec<Var> = fields.iter().enumerate().map(param).collect();
            let made = self.func.fresh("made".into(), Ty::Scalar(Elem::Data(inner)));
            let fields = params.iter().copied().map(Atom::Var).collect();
            let op = Op::Make { data: inner, ctor, fields };
            Block { params, stmts: vec![Stmt { outs: vec![made], op, span }], results: vec![Atom::Var(made)] }
        };
        let arms = (0..).zip(ctors.iter().map(|ctor| &ctor.fields)).map(arm).collect();
        Op::Match { on: Atom::Var(on), arms }
    }

    /// An element of an opened array is opened.
    fn element(&mut self, element: Var, array: &mut Atom) {
        let opened = array.var().and_then(|array| self.parts.get(&array));
        if let (true, Some(opened)) = (self.chosen.elements.contains(&element), opened) {
            *array = Atom::Var(*opened);
            if let Some((_, inner)) = self.inner_type(element) {
                self.func.vars.at_mut(element).ty = Ty::Scalar(Elem::Data(inner));
            }
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.op {
            Op::Match { on, .. } => {
                let outside = |var: &Var| self.chosen.bound.get(var).is_some_and(|loops| *loops < self.loops);
                if let Some(opened) = on.var().filter(outside).and_then(|var| self.parts.get(&var)) {
                    *on = Atom::Var(*opened);
                }
            }
            Op::Array(ArrayOp::Index, args) => {
                if let ([array, _], [out]) = (args.as_mut_slice(), stmt.outs.as_slice()) {
                    self.element(*out, array);
                }
            }
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
                for (row, input) in rows.zip(&mut parts.inputs) {
                    self.element(*row, input);
                }
            }
            _ => {}
        }
        let repeats = usize::from(repeats(&stmt.op));
        self.loops += repeats;
        stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
        self.loops -= repeats;
    }
}
