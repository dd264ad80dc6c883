//! Small data that refers to nothing lies flat: the number of its constructor, and its fields side by side.
//!
//! ```text
//! f = if c { Scale(a) } else { Shift(b) }          which, t = if c { 0, a } else { 1, b }
//! match f { Scale(a) { a * x } Shift(b) { x + b } }       if which == 0 { t * x } else { x + t }
//! ```
//!
//! Constructors share places for fields of one type. Then functions as values, or what a branch keeps for its derivative, are numbers:
//! nothing is allocated for them, arrays of them are arrays of numbers, and the derivative of what they hold needs no
//! tangent type. What derivatives are asked about, and what the outside knows, keeps its form.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed knows nothing of data")]

use crate::live::fixed;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Data, Role};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// So many constructors at most: they are told apart one after the other.
const CTORS: usize = 4;
/// So many places for fields at most.
const PLACES: usize = 8;

/// How data of a type lies.
struct Form {
    /// What is at each place. If there are several constructors, the first place has the number of the constructor.
    places: Vec<Elem>,
    /// For each constructor, at which place each field is.
    fields: Vec<Vec<usize>>,
    /// What fields at each place are called where they are looked at first.
    names: Vec<Option<Name>>,
}

impl Form {
    /// What a part of something is called: the number of the constructor as it.
    fn name(&self, place: usize, whole: &VarInfo) -> Name {
        match self.names.get(place).copied().flatten() {
            Some(name) if whole.ty.rank() == 0 => name,
            Some(name) => Name::new(&format!("{name}s")),
            None => whole.name,
        }
    }
}

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let known = known(program);
    let is_free = |id: &DataId| !known.contains(id);
    let mut forms: FxHashMap<DataId, Form> = program
        .data
        .iter()
        .filter(|(id, _)| is_free(id))
        .filter_map(|(id, data)| Some((id, form(data)?)))
        .collect();
    let uses = |func: &Func| func.vars.iter().any(|(_, info)| flat(&forms, info.ty).is_some());
    if forms.is_empty() || !program.funcs.iter().any(|(_, func)| uses(func)) {
        return;
    }
    program.funcs.iter().for_each(|(_, func)| called(func, &mut forms));
    for (_, data) in program.data.iter_mut() {
        for ctor in &mut data.ctors {
            ctor.fields = ctor.fields.iter().flat_map(|ty| parts(&forms, *ty)).collect();
        }
    }
    for (_, func) in program.funcs.iter_mut() {
        func.results = func.results.iter().flat_map(|ty| parts(&forms, *ty)).collect();
        let mut body = std::mem::take(&mut func.body);
        let mut lay = Lay { forms: &forms, func, parts: FxHashMap::default() };
        lay.block(&mut body);
        func.body = body;
    }
}

/// The types that keep their form: what entries and functions that derivatives are asked of take and give, and what has
/// tangents or is one, as long as derivatives are asked for.
pub(crate) fn known(program: &Program) -> FxHashSet<DataId> {
    let (funcs, _): (FxHashSet<FuncId>, _) = fixed(program);
    let mut known = FxHashSet::default();
    let mut todo: Vec<Ty> = Vec::new();
    for func in funcs.iter().filter_map(|id| program.funcs.get(*id)) {
        todo.extend(&func.results);
        todo.extend(func.body.params.iter().map(|param| func.ty(*param)));
    }
    if funcs.len() > program.entries.len() || !program.linears.is_empty() {
        for (id, data) in program.data.iter() {
            if let Role::Tangent(of) = data.role {
                todo.extend([id, of].map(|id| Ty::Scalar(Elem::Data(id))));
            }
        }
        todo.extend(program.linears.iter().map(|(_, linear)| Ty::Scalar(Elem::Data(linear.residual))));
    }
    while let Some(ty) = todo.pop() {
        if let Elem::Data(data) = ty.elem()
            && known.insert(data)
        {
            todo.extend(program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
        }
    }
    known
}

/// Whether data of this type would lie flat if nobody outside knew it.
pub(crate) fn lies_flat(data: &Data) -> bool {
    form(data).is_some()
}

fn form(data: &Data) -> Option<Form> {
    if data.ctors.is_empty() || data.ctors.len() > CTORS {
        return None;
    }
    let several = data.ctors.len() > 1;
    let mut places: Vec<Elem> = if several { vec![Elem::Int] } else { Vec::new() };
    let mut fields = Vec::new();
    for ctor in &data.ctors {
        let mut own: Vec<usize> = Vec::new();
        for ty in &ctor.fields {
            let Ty::Scalar(elem @ (Elem::Real | Elem::Int | Elem::Bool)) = ty else { return None };
            let free = (usize::from(several)..places.len())
                .find(|place| !own.contains(place) && places.get(*place) == Some(elem));
            own.push(free.unwrap_or_else(|| {
                places.push(*elem);
                places.len() - 1
            }));
            // There may be thousands of fields.
            if places.len() > PLACES + usize::from(several) {
                return None;
            }
        }
        fields.push(own);
    }
    let names = vec![None; places.len()];
    (!places.is_empty()).then_some(Form { places, fields, names })
}

/// Notes what fields are called in a function.
fn called(func: &Func, forms: &mut FxHashMap<DataId, Form>) {
    func.body.for_each_stmt(&mut |stmt| {
        let Op::Match { on, arms } = &stmt.op else { return };
        let Elem::Data(data) = func.type_of(on).elem() else { return };
        let Some(form) = forms.get_mut(&data) else { return };
        for (arm, places) in arms.iter().zip(&form.fields) {
            for (param, place) in arm.params.iter().zip(places) {
                let name = form.names.get_mut(*place);
                name.into_iter().for_each(|name| *name = name.or(Some(func.vars.at(*param).name)));
            }
        }
    });
}

fn flat(forms: &FxHashMap<DataId, Form>, ty: Ty) -> Option<&Form> {
    match ty.elem() {
        Elem::Data(data) => forms.get(&data),
        _ => None,
    }
}

/// The types of the parts of a value.
fn parts(forms: &FxHashMap<DataId, Form>, ty: Ty) -> Vec<Ty> {
    match flat(forms, ty) {
        Some(form) => form.places.iter().map(|elem| Ty::of_rank(*elem, ty.rank())).collect(),
        None => vec![ty],
    }
}

/// A walk through a function.
struct Lay<'f> {
    forms: &'f FxHashMap<DataId, Form>,
    func: &'f mut Func,
    /// The parts of variables, and what fields are.
    parts: FxHashMap<Var, Vec<Atom>>,
}

impl Lay<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.params = self.bind_all(&block.params);
            let mut out = Vec::with_capacity(block.stmts.len());
            for stmt in std::mem::take(&mut block.stmts) {
                self.stmt(stmt, &mut out);
            }
            block.stmts = out;
            block.results = self.all(&block.results);
        });
    }

    fn form(&self, atom: &Atom) -> Option<&Form> {
        flat(self.forms, self.func.type_of(atom))
    }

    /// The variables for the parts of one that is bound here.
    fn bind(&mut self, var: Var) -> Vec<Var> {
        let info = *self.func.vars.at(var);
        let Some(form) = flat(self.forms, info.ty) else { return vec![var] };
        let types = parts(self.forms, info.ty).into_iter().enumerate();
        let vars: Vec<Var> = types.map(|(place, ty)| self.func.fresh(form.name(place, &info), ty)).collect();
        self.parts.insert(var, vars.iter().copied().map(Atom::Var).collect());
        vars
    }

    fn bind_all(&mut self, vars: &[Var]) -> Vec<Var> {
        vars.iter().flat_map(|var| self.bind(*var)).collect()
    }

    fn one(&self, atom: &Atom) -> Vec<Atom> {
        let known = atom.var().and_then(|var| self.parts.get(&var));
        known.cloned().unwrap_or_else(|| vec![atom.clone()])
    }

    fn all(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().flat_map(|atom| self.one(atom)).collect()
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        match &mut stmt.op {
            Op::Make { data, ctor, fields } => {
                if let (Some(form), [var]) = (self.forms.get(data), stmt.outs.as_slice()) {
                    let made = self.made(form, *ctor, fields);
                    self.parts.insert(*var, made);
                    return;
                }
            }
            Op::Match { on, arms } if self.form(on).is_some() => {
                let (on, arms) = (on.clone(), std::mem::take(arms));
                return self.choose(stmt, &on, arms, out);
            }
            Op::Copy(x) if self.form(x).is_some() => {
                if let [var] = stmt.outs.as_slice() {
                    self.parts.insert(*var, self.one(x));
                }
                return;
            }
            Op::Select { cond, then, otherwise } if self.form(then).is_some() => {
                let (cond, then, otherwise) = (cond.clone(), self.one(then), self.one(otherwise));
                for ((var, then), otherwise) in self.bind_all(&stmt.outs).into_iter().zip(then).zip(otherwise)
                {
                    let cond = self.one(&cond).pop().unwrap_or(Atom::Unit);
                    let op = Op::Select { cond, then, otherwise };
                    out.push(Stmt { outs: vec![var], op, span: stmt.span });
                }
                return;
            }
            // The parts are of one shape.
            Op::Whole(x) => {
                if let Some(first) = self.one(x).into_iter().next() {
                    *x = first;
                }
            }
            Op::Array(op, args) => return self.array(*op, args, &stmt.outs, stmt.span, out),
            _ => {}
        }
        for block in stmt.op.blocks_mut() {
            self.block(block);
        }
        self.operands(&mut stmt.op);
        stmt.outs = self.bind_all(&stmt.outs);
        out.push(stmt);
    }

    /// Operands that stand in lists are there with all their parts; those that stand alone have only one.
    fn operands(&self, op: &mut Op) {
        let lists: Vec<&mut Vec<Atom>> = match op {
            Op::Make { fields: list, .. } | Op::Call { args: list, .. } | Op::StopGradient(list) => {
                vec![list]
            }
            Op::Loop(parts) => vec![&mut parts.init, &mut parts.accs, &mut parts.inputs],
            Op::While(parts) => vec![&mut parts.init],
            Op::Custom(parts) => vec![&mut parts.captured, &mut parts.rule_captured, &mut parts.point],
            _ => Vec::new(),
        };
        for list in lists {
            *list = self.all(list);
        }
        op.for_each_atom_mut(&mut |atom| {
            if let [only] = self.one(atom).as_slice() {
                *atom = only.clone();
            }
        });
    }

    /// The parts of a constructor with these fields.
    fn made(&self, form: &Form, ctor: u32, fields: &[Atom]) -> Vec<Atom> {
        let filler = |elem: &Elem| match elem {
            Elem::Int => Atom::Int(0),
            Elem::Bool => Atom::Bool(false),
            _ => Atom::Real(0.0),
        };
        let mut made: Vec<Atom> = form.places.iter().map(filler).collect();
        if let (true, Some(which)) = (form.fields.len() > 1, made.first_mut()) {
            *which = Atom::Int(i64::from(ctor));
        }
        for (place, field) in form.fields.get(ctor as usize).into_iter().flatten().zip(self.all(fields)) {
            if let Some(there) = made.get_mut(*place) {
                *there = field;
            }
        }
        made
    }

    /// A match, as a choice by the number of the constructor.
    fn choose(&mut self, stmt: Stmt, on: &Atom, arms: Vec<Block>, out: &mut Vec<Stmt>) {
        let values = self.one(on);
        let fields: Vec<Vec<usize>> = self.form(on).map(|form| form.fields.clone()).unwrap_or_default();
        let mut blocks: Vec<Block> = Vec::new();
        for (mut arm, places) in arms.into_iter().zip(fields) {
            for (param, place) in std::mem::take(&mut arm.params).into_iter().zip(places) {
                self.parts.insert(param, values.get(place).cloned().into_iter().collect());
            }
            self.block(&mut arm);
            blocks.push(arm);
        }
        let Some(mut last) = blocks.pop() else { return };
        if blocks.is_empty() {
            out.append(&mut last.stmts);
            // What fails gives nothing.
            let mut results = last.results.into_iter();
            for var in stmt.outs {
                let count = parts(self.forms, self.func.ty(var)).len();
                let given: Vec<Atom> = results.by_ref().take(count).collect();
                self.parts.insert(var, given);
            }
            return;
        }
        let outs = self.bind_all(&stmt.outs);
        let which = values.first().cloned().unwrap_or(Atom::Unit);
        self.chain(which, (blocks, last), (outs, stmt.span), out);
    }

    /// One block after the other, each by its number.
    fn chain(
        &mut self,
        which: Atom,
        (blocks, last): (Vec<Block>, Block),
        (outs, span): (Vec<Var>, Span),
        out: &mut Vec<Stmt>,
    ) {
        let infos: Vec<_> = outs.iter().map(|var| *self.func.vars.at(*var)).collect();
        let count = blocks.len();
        let mut otherwise = last;
        for (ctor, then) in blocks.into_iter().enumerate().rev() {
            let cond = self.func.fresh("c".into(), Ty::BOOL);
            let asked = Op::Compare(Compare::Eq, which.clone(), Atom::Int(ctor as i64));
            let asked = Stmt { outs: vec![cond], op: asked, span };
            let own: Vec<Var> = if ctor == 0 {
                outs.clone()
            } else {
                infos.iter().map(|info| self.func.fresh(info.name, info.ty)).collect()
            };
            let chosen = Op::If { cond: Atom::Var(cond), then, otherwise };
            let results = own.iter().copied().map(Atom::Var).collect();
            let stmts = vec![asked, Stmt { outs: own, op: chosen, span }];
            otherwise = Block { params: Vec::new(), stmts, results };
        }
        debug_assert!(count > 0, "a chain has a first block");
        out.append(&mut otherwise.stmts);
    }

    /// An array operation, on each part for itself.
    fn array(&mut self, op: ArrayOp, args: &[Atom], outs: &[Var], span: Span, out: &mut Vec<Stmt>) {
        let data = if let ArrayOp::Empty(Elem::Data(data), _) = op { self.forms.get(&data) } else { None };
        let elems: Vec<Elem> = data.map(|form| form.places.clone()).unwrap_or_default();
        let args: Vec<Vec<Atom>> = args.iter().map(|arg| self.one(arg)).collect();
        for (place, var) in self.bind_all(outs).into_iter().enumerate() {
            let op = match (op, elems.get(place)) {
                (ArrayOp::Empty(_, rank), Some(elem)) => ArrayOp::Empty(*elem, rank),
                (op, _) => op,
            };
            let part =
                |all: &Vec<Atom>| all.get(place).or_else(|| all.first()).cloned().unwrap_or(Atom::Unit);
            out.push(Stmt { outs: vec![var], op: Op::Array(op, args.iter().map(part).collect()), span });
        }
    }
}

#[cfg(test)]
mod tests;
