//! Constructors that nobody makes go, and with them what would be done for them.
//!
//! Tangent types have constructors for all that may happen: functions that are given as tangents, sums, tangents of tangents. In most
//! programs little of that happens, but each function that takes a tangent apart has a block for each of its constructors, and a function
//! that is made of that by another derivative has blocks for the constructors of the next tangent type in each of these.
//!
//! ```text
//! match f' { Zero() { … } lambda'(t) { … } Given(h) { … } Sum(a, b) { … } }        match f' { Zero() { … } lambda'(t) { … } }
//! ```
//!
//! A constructor is made if it is where running can come to: in what an entry calls, where a match is left out as far as nobody makes its
//! constructors. What comes in from outside or goes there may be anything, and stays as it is.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed makes no data and takes none apart")]

use crate::deep;
use crate::requests::callees;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use wengert_ir::op::{Atom, Block, Op, Requirement, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Program};
use wengert_ir::ty::{DataId, Elem, Ty};

/// For types of which constructors go: the new number of each that stays.
type Kept = BTreeMap<DataId, Vec<Option<u32>>>;

/// What running can come to.
#[derive(Default)]
pub(crate) struct Reached {
    funcs: Vec<FuncId>,
    seen: FxHashSet<FuncId>,
    made: FxHashSet<(DataId, u32)>,
    /// Types whose constructors stay, and all of which may be there.
    fixed: FxHashSet<DataId>,
    changed: bool,
}

/// What running can come to. No derivative is asked for any more.
pub(crate) fn reached(program: &Program) -> Reached {
    let mut reached = Reached { fixed: fixed(program), ..Reached::default() };
    program.entries.values().for_each(|entry| reached.call(*entry));
    loop {
        reached.changed = false;
        let mut next = 0;
        while let Some(id) = reached.funcs.get(next).copied() {
            let func = program.funcs.at(id);
            reached.block(func, &func.body);
            next += 1;
        }
        if !reached.changed {
            return reached;
        }
        wengert_ir::stop::check();
    }
}

/// Drops what nobody makes.
pub(crate) fn drop_unmade(program: &mut Program, reached: &Reached) {
    let kept = reached.kept(program);
    if kept.is_empty() {
        return;
    }
    for id in program.funcs.ids() {
        if !program.funcs.at(id).body.all_stmts(&mut |stmt| !touches(program.funcs.at(id), stmt, &kept)) {
            let mut func = program.funcs.at(id).clone();
            let mut body = std::mem::take(&mut func.body);
            if reached.seen.contains(&id) {
                Dropping { kept: &kept, func: &mut func }.block(&mut body);
            } else {
                fail(&mut func, &mut body);
            }
            func.body = body;
            *program.funcs.at_mut(id) = func;
        }
    }
    for (data, places) in &kept {
        let mut places = places.iter();
        let keep = |_: &_| places.next().is_some_and(Option::is_some);
        program.data.at_mut(*data).ctors.retain(keep);
    }
}

/// Whether a statement makes data of such a type, or takes it apart.
fn touches(func: &Func, stmt: &Stmt, kept: &Kept) -> bool {
    match &stmt.op {
        Op::Make { data, .. } => kept.contains_key(data),
        Op::Match { on, .. } => {
            matches!(func.type_of(on).elem(), Elem::Data(data) if kept.contains_key(&data))
        }
        _ => false,
    }
}

/// The types of what comes from outside or goes there, with all that is in it, and of whose constructors failures tell.
fn fixed(program: &Program) -> FxHashSet<DataId> {
    let mut todo: Vec<Ty> = Vec::new();
    for entry in program.entries.values() {
        let func = program.funcs.at(*entry);
        todo.extend(func.param_types().into_iter().chain(func.results.iter().copied()));
    }
    let mut fixed = FxHashSet::default();
    while let Some(ty) = todo.pop() {
        if let Elem::Data(data) = ty.elem()
            && fixed.insert(data)
        {
            todo.extend(program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
        }
    }
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Require { what: Requirement::SameCtor(_, data), .. } = &stmt.op {
                fixed.insert(*data);
            }
        });
    }
    fixed
}

impl Reached {
    fn call(&mut self, func: FuncId) {
        if self.seen.insert(func) {
            self.funcs.push(func);
            self.changed = true;
        }
    }

    /// Whether a constructor is made.
    pub(crate) fn is_made(&self, data: DataId, ctor: usize) -> bool {
        self.fixed.contains(&data) || u32::try_from(ctor).is_ok_and(|ctor| self.made.contains(&(data, ctor)))
    }

    fn block(&mut self, func: &Func, block: &Block) {
        deep(|| {
            for stmt in &block.stmts {
                match &stmt.op {
                    Op::Make { data, ctor, .. } => self.changed |= self.made.insert((*data, *ctor)),
                    Op::Match { on, arms } => {
                        let Elem::Data(data) = func.type_of(on).elem() else { continue };
                        for (ctor, arm) in arms.iter().enumerate() {
                            if self.is_made(data, ctor) {
                                self.block(func, arm);
                            }
                        }
                    }
                    op => {
                        callees(op).into_iter().for_each(|callee| self.call(callee));
                        op.blocks().into_iter().for_each(|inner| self.block(func, inner));
                    }
                }
            }
        });
    }

    /// For types of which constructors go: the new number of each that stays.
    fn kept(&self, program: &Program) -> Kept {
        let mut kept = BTreeMap::new();
        for (id, data) in program.data.iter() {
            let made = |ctor: usize| self.is_made(id, ctor);
            if self.fixed.contains(&id) || (0..data.ctors.len()).all(made) {
                continue;
            }
            let mut next = 0;
            let number = |ctor: usize| {
                made(ctor).then(|| {
                    next += 1;
                    next - 1
                })
            };
            kept.insert(id, (0..data.ctors.len()).map(number).collect());
        }
        kept
    }
}

struct Dropping<'a> {
    kept: &'a Kept,
    func: &'a mut Func,
}

impl Dropping<'_> {
    fn block(&mut self, block: &mut Block) {
        deep(|| block.stmts.iter_mut().for_each(|stmt| self.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.op {
            Op::Make { data, ctor, .. } => {
                let places = self.kept.get(data);
                if let Some(Some(place)) = places.and_then(|places| places.get(*ctor as usize)) {
                    *ctor = *place;
                }
            }
            Op::Match { on, arms } => {
                if let Elem::Data(data) = self.func.type_of(on).elem()
                    && let Some(places) = self.kept.get(&data)
                {
                    let mut places = places.iter();
                    arms.retain(|_| places.next().is_some_and(Option::is_some));
                }
                if arms.is_empty() {
                    // There is no such value.
                    stmt.op = Op::Fail { message: Atom::Text(NEVER.into()) };
                    return;
                }
                arms.iter_mut().for_each(|arm| self.block(arm));
            }
            op => op.blocks_mut().into_iter().for_each(|inner| self.block(inner)),
        }
    }
}

/// The message of what running does not come to.
const NEVER: &str = "what there is not is taken apart";

/// Lets a function do nothing.
fn fail(func: &mut Func, body: &mut Block) {
    let types = func.results.clone();
    let outs: Vec<Var> = types.into_iter().map(|ty| func.fresh("result".into(), ty)).collect();
    let op = Op::Fail { message: Atom::Text(NEVER.into()) };
    body.results = outs.iter().copied().map(Atom::Var).collect();
    body.stmts = vec![Stmt { outs, op, span: func.span }];
}
