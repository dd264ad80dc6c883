//! Rows that hold nothing are counted: of what a loop has kept of each iteration there is nothing left but how many iterations there were.
//!
//! ```text
//! x, hs, is = while … do { … yield x2, Row(), i }        x, is = while … do { … yield x2, i }
//! tape = Rows(hs)                                becomes  n = length(is)  tape = Rows(n)
//! match tape { Rows(hs) { n = length(hs) … } }            match tape { Rows(n) { … } }
//! ```
//!
//! So it is where derivatives are made of a loop that goes on as long as a condition holds, and the rest of what it kept turned out not to be needed.

use crate::flat::known;
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// A field: of which data, which constructor, and which of its fields.
type Field = (DataId, usize, usize);

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let is_unit = |ctors: &[wengert_ir::ty::Ctor]| matches!(ctors, [only] if only.fields.is_empty());
    let data = program.data.iter().filter(|(_, data)| is_unit(&data.ctors));
    let units: FxHashSet<DataId> = data.map(|(id, _)| id).collect();
    if units.is_empty() {
        return;
    }
    let fields = fields(program, &units);
    for (id, data) in program.data.iter_mut().filter(|_| !fields.is_empty()) {
        for (at, ctor) in data.ctors.iter_mut().enumerate() {
            let counted =
                ctor.fields.iter_mut().enumerate().filter(|(field, _)| fields.contains(&(id, at, *field)));
            counted.for_each(|(_, ty)| *ty = Ty::INT);
        }
    }
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let asked = Asked::of(&body);
        Counted { func, units: &units, fields: &fields, asked, counts: FxHashSet::default() }
            .block(&mut body);
        func.body = body;
    }
}

/// Whether it is an array of what holds nothing.
fn is_row(ty: Ty, units: &FxHashSet<DataId>) -> bool {
    matches!(ty, Ty::Array(Elem::Data(data), 1) if units.contains(&data))
}

/// Fields with such arrays, of which nobody wants more than how long they are.
fn fields(program: &Program, units: &FxHashSet<DataId>) -> FxHashSet<Field> {
    let mut fields: FxHashSet<Field> = FxHashSet::default();
    for (id, data) in program.data.iter() {
        for (at, ctor) in data.ctors.iter().enumerate() {
            let rows = ctor.fields.iter().enumerate().filter(|(_, ty)| is_row(**ty, units));
            fields.extend(rows.map(|(field, _)| (id, at, field)));
        }
    }
    if !fields.is_empty() {
        let known = known(program);
        fields.retain(|(data, ..)| !known.contains(data));
    }
    if fields.is_empty() {
        return fields;
    }
    for (_, func) in program.funcs.iter() {
        let asked = Asked::of(&func.body);
        func.body.for_each_stmt(&mut |stmt| {
            let Op::Match { on, arms } = &stmt.op else { return };
            let Elem::Data(data) = func.type_of(on).elem() else { return };
            for (at, arm) in arms.iter().enumerate() {
                for (field, param) in arm.params.iter().enumerate() {
                    if !asked.of_field(*param, arm, &stmt.outs, arms.len() == 1) {
                        fields.remove(&(data, at, field));
                    }
                }
            }
        });
    }
    fields
}

/// How often variables are used, and how often for their length.
struct Asked {
    uses: FxHashMap<Var, usize>,
    lengths: FxHashMap<Var, usize>,
}

impl Asked {
    fn of(body: &Block) -> Asked {
        let mut lengths: FxHashMap<Var, usize> = FxHashMap::default();
        body.for_each_stmt(&mut |stmt| {
            if let Op::Array(ArrayOp::Length(_), args) = &stmt.op {
                args.iter().filter_map(Atom::var).for_each(|var| *lengths.entry(var).or_default() += 1);
            }
        });
        Asked { uses: count_uses(body), lengths }
    }

    /// How often it is not used for its length.
    fn others(&self, var: Var) -> usize {
        let count = |of: &FxHashMap<Var, usize>| of.get(&var).copied().unwrap_or(0);
        count(&self.uses) - count(&self.lengths)
    }

    /// Whether of a field, if anything, only the length is asked, in a case or, if there is only one, after it.
    fn of_field(&self, param: Var, arm: &Block, outs: &[Var], only: bool) -> bool {
        let given: Vec<Var> = given(param, arm, outs).collect();
        self.others(param) == given.len()
            && (given.is_empty() || only && given.into_iter().all(|out| self.others(out) == 0))
    }
}

/// What a match gives for a field.
fn given<'m>(param: Var, arm: &'m Block, outs: &'m [Var]) -> impl Iterator<Item = Var> + 'm {
    let results = arm.results.iter().zip(outs);
    results.filter(move |(result, _)| result.var() == Some(param)).map(|(_, out)| *out)
}

struct Counted<'f> {
    func: &'f mut Func,
    units: &'f FxHashSet<DataId>,
    fields: &'f FxHashSet<Field>,
    asked: Asked,
    /// What is a number now.
    counts: FxHashSet<Var>,
}

impl Counted<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                let mut after = Vec::new();
                self.stmt(&mut stmt, (&mut out, &mut after));
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                out.push(stmt);
                out.append(&mut after);
            }
            place.stmts = out;
        });
    }

    fn stmt(&mut self, stmt: &mut Stmt, (before, after): (&mut Vec<Stmt>, &mut Vec<Stmt>)) {
        let span = stmt.span;
        if let Op::Make { data, ctor, fields } = &mut stmt.op {
            for (at, field) in fields.iter_mut().enumerate() {
                if self.fields.contains(&(*data, *ctor as usize, at)) {
                    let count = self.func.fresh(Name::new("n"), Ty::INT);
                    let op = Op::Array(ArrayOp::Length(0), vec![field.clone()]);
                    before.push(Stmt { outs: vec![count], op, span });
                    *field = Atom::Var(count);
                }
            }
        } else if let Op::Match { on, arms } = &mut stmt.op {
            let Elem::Data(data) = self.func.type_of(on).elem() else { return };
            for (at, arm) in arms.iter().enumerate() {
                for (field, param) in arm.params.iter().enumerate() {
                    if self.fields.contains(&(data, at, field)) {
                        for var in given(*param, arm, &stmt.outs).chain([*param]) {
                            self.func.vars.at_mut(var).ty = Ty::INT;
                            self.counts.insert(var);
                        }
                    }
                }
            }
        } else if let Op::While(parts) = &stmt.op {
            self.as_long(parts.init.len(), stmt, after);
        } else if let Op::Array(ArrayOp::Length(_), args) = &stmt.op
            && let [Atom::Var(array)] = args.as_slice()
            && self.counts.contains(array)
        {
            stmt.op = Op::Copy(Atom::Var(*array));
        }
    }

    /// What a loop has kept besides is as long as rows that hold nothing.
    fn as_long(&mut self, carried: usize, stmt: &mut Stmt, after: &mut Vec<Stmt>) {
        let is_row = |var: &Var, func: &Func| is_row(func.ty(*var), self.units);
        let kept = stmt.outs.get(carried..).unwrap_or_default();
        let Some(like) = kept.iter().find(|var| !is_row(var, self.func)).copied() else { return };
        for var in stmt.outs.iter_mut().skip(carried) {
            if is_row(var, self.func) && self.asked.lengths.contains_key(var) && self.asked.others(*var) == 0
            {
                let old = std::mem::replace(var, self.func.vars.push(*self.func.vars.at(*var)));
                self.func.vars.at_mut(old).ty = Ty::INT;
                self.counts.insert(old);
                let op = Op::Array(ArrayOp::Length(0), vec![Atom::Var(like)]);
                after.push(Stmt { outs: vec![old], op, span: stmt.span });
            }
        }
    }
}
