//! Which variables somebody needs: marked from what a program gives and from what may fail, through branches, loops, calls and
//! data at once, so that what only feeds itself is not among them.
//!
//! A variable is needed if an operation with an effect (a failure, no end) or a needed variable of its statement uses it. For a
//! loop each result has its own needs: the result of the body in that place. A row of an input is needed in the body or
//! else nobody needs the array. Results of functions and fields of data that stay inside the program are needed if a call
//! or a match needs them.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed needs all that it mentions")]

use crate::facts::{Counts, is_droppable};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Loop, Mode, Op, Rule};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, DataId, Elem, Program, Stmt, Ty, Var};

/// A field of a constructor.
pub(crate) type Field = (DataId, u32, usize);

/// What is needed.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    vars: FxHashSet<(FuncId, Var)>,
    results: FxHashSet<(FuncId, usize)>,
    fields: FxHashSet<Field>,
    /// Functions and data that are known outside, and keep all they have.
    fixed_funcs: FxHashSet<FuncId>,
    fixed_data: FxHashSet<DataId>,
}

impl Needed {
    /// Whether a variable is.
    pub(crate) fn var(&self, func: FuncId, var: Var) -> bool {
        self.vars.contains(&(func, var))
    }

    /// Whether a result of a function is.
    pub(crate) fn result(&self, func: FuncId, place: usize) -> bool {
        self.fixed_funcs.contains(&func) || self.results.contains(&(func, place))
    }

    /// Whether a parameter of a function is.
    pub(crate) fn param(&self, func: FuncId, param: Var) -> bool {
        self.fixed_funcs.contains(&func) || self.var(func, param)
    }

    /// Whether a field is.
    pub(crate) fn field(&self, field: Field) -> bool {
        self.fixed_data.contains(&field.0) || self.fields.contains(&field)
    }
}

/// Where a variable comes from.
#[derive(Clone, Copy)]
enum Source<'p> {
    /// A result of a statement.
    Stmt(&'p Stmt, usize),
    /// A parameter of a block of a statement: of the body of a loop, of the condition of a `while`, of an arm.
    Inner(&'p Stmt, usize, usize),
    /// A parameter of its function.
    Param(usize),
}

/// Operands, and the function that has them.
type Operands<'p> = (FuncId, &'p [Atom]);

struct Mark<'p> {
    program: &'p Program,
    total: &'p FxHashSet<FuncId>,
    counts: &'p Counts,
    sources: FxHashMap<(FuncId, Var), Source<'p>>,
    /// Statements that are needed.
    stmts: FxHashSet<*const Stmt>,
    /// The statement around each statement.
    around: FxHashMap<*const Stmt, &'p Stmt>,
    /// Calls that are needed, by function called.
    calls: FxHashMap<FuncId, Vec<Operands<'p>>>,
    /// Values of data that are needed, by constructor.
    makes: FxHashMap<(DataId, u32), Vec<Operands<'p>>>,
    needed: Needed,
    todo: Vec<(FuncId, Var)>,
}

/// Marks what is needed of a program.
pub(crate) fn needed(program: &Program, total: &FxHashSet<FuncId>, counts: &Counts) -> Needed {
    let mut mark = Mark {
        program,
        total,
        counts,
        sources: FxHashMap::default(),
        stmts: FxHashSet::default(),
        around: FxHashMap::default(),
        calls: FxHashMap::default(),
        makes: FxHashMap::default(),
        needed: Needed::default(),
        todo: Vec::new(),
    };
    (mark.needed.fixed_funcs, mark.needed.fixed_data) = fixed(program);
    for (id, func) in program.funcs.iter() {
        for (place, param) in func.body.params.iter().enumerate() {
            mark.sources.insert((id, *param), Source::Param(place));
        }
        mark.note(id, &func.body, None);
    }
    for (id, func) in program.funcs.iter() {
        if mark.needed.fixed_funcs.contains(&id) {
            func.body.results.iter().for_each(|atom| mark.atom(id, atom));
        }
        mark.effects(id, &func.body);
    }
    while let Some((func, var)) = mark.todo.pop() {
        mark.source(func, var);
    }
    mark.needed
}

/// What keeps its form: entries, functions that derivatives are asked of, and the data that they speak of.
pub(crate) fn fixed(program: &Program) -> (FxHashSet<FuncId>, FxHashSet<DataId>) {
    let mut funcs: FxHashSet<FuncId> = program.entries.values().copied().collect();
    let mut all: FxHashSet<DataId> = FxHashSet::default();
    funcs.extend(program.linears.iter().map(|(_, linear)| linear.func));
    let mut requests = !program.linears.is_empty();
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Jvp { func, .. } | Op::Taylor { func, .. } => {
                requests = true;
                funcs.insert(*func);
            }
            Op::Custom(custom) => {
                requests = true;
                funcs.insert(custom.func);
                match custom.rule {
                    Rule::Jvp(rule) => funcs.extend([rule]),
                    Rule::Vjp(first, second) => funcs.extend([first, second]),
                }
            }
            _ => {}
        });
    }
    if requests {
        // Tangents of data have the form of the data.
        all.extend(program.data.ids());
        return (funcs, all);
    }
    let mut todo: Vec<Ty> = Vec::new();
    for func in program.entries.values().filter_map(|id| program.funcs.get(*id)) {
        todo.extend(&func.results);
        todo.extend(func.body.params.iter().map(|param| func.ty(*param)));
    }
    while let Some(ty) = todo.pop() {
        if let Elem::Data(data) = ty.elem()
            && all.insert(data)
        {
            todo.extend(program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
        }
    }
    (funcs, all)
}

impl<'p> Mark<'p> {
    /// Notes where the variables of a block come from.
    fn note(&mut self, func: FuncId, block: &'p Block, around: Option<&'p Stmt>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                if let Some(around) = around {
                    self.around.insert(std::ptr::from_ref(stmt), around);
                }
                for (place, out) in stmt.outs.iter().enumerate() {
                    self.sources.insert((func, *out), Source::Stmt(stmt, place));
                }
                for (which, inner) in stmt.op.blocks().into_iter().enumerate() {
                    for (place, param) in inner.params.iter().enumerate() {
                        self.sources.insert((func, *param), Source::Inner(stmt, which, place));
                    }
                    self.note(func, inner, Some(stmt));
                }
            }
        });
    }

    /// Marks the statements that may fail, or may not end.
    fn effects(&mut self, func: FuncId, block: &'p Block) {
        let counts = self.counts.get(&func);
        block.for_each_stmt(&mut |stmt| {
            if !is_droppable(stmt, self.total, counts) {
                self.stmt(func, stmt);
            }
        });
    }

    fn atom(&mut self, func: FuncId, atom: &Atom) {
        if let Some(var) = atom.var()
            && self.needed.vars.insert((func, var))
        {
            self.todo.push((func, var));
        }
    }

    fn nth(&mut self, func: FuncId, atoms: &[Atom], place: usize) {
        if let Some(atom) = atoms.get(place) {
            self.atom(func, atom);
        }
    }

    /// A statement is done: what decides whether and how often, and what it needs whichever of its results are needed.
    fn stmt(&mut self, func: FuncId, stmt: &'p Stmt) {
        let mut next = Some(stmt);
        while let Some(stmt) = next {
            if !self.stmts.insert(std::ptr::from_ref(stmt)) {
                return;
            }
            self.control(func, stmt);
            next = self.around.get(&std::ptr::from_ref(stmt)).copied();
        }
    }

    fn control(&mut self, func: FuncId, stmt: &'p Stmt) {
        match &stmt.op {
            Op::If { cond, then: _, otherwise: _ } => self.atom(func, cond),
            Op::Match { on, arms: _ } => self.atom(func, on),
            Op::Loop(parts) => {
                self.atom(func, &parts.len);
                if parts.mode == Mode::Reduce {
                    (0..parts.body.results.len()).for_each(|place| self.turn(func, parts, place));
                    parts.inputs.iter().for_each(|input| self.atom(func, input));
                }
            }
            Op::While(parts) => parts.cond.results.iter().for_each(|atom| self.atom(func, atom)),
            Op::Call { func: callee, args, checkpoint: _ } => {
                self.calls.entry(*callee).or_default().push((func, args));
                if let Some(body) = self.program.funcs.get(*callee).map(|callee| &callee.body) {
                    for (param, arg) in body.params.iter().zip(args) {
                        if self.needed.param(*callee, *param) {
                            self.atom(func, arg);
                        }
                    }
                }
            }
            Op::Make { data, ctor, fields } => {
                self.makes.entry((*data, *ctor)).or_default().push((func, fields));
                for (place, field) in fields.iter().enumerate() {
                    if self.needed.field((*data, *ctor, place)) {
                        self.atom(func, field);
                    }
                }
            }
            op => op.for_each_atom(&mut |atom| self.atom(func, atom)),
        }
    }

    /// What a needed variable needs.
    fn source(&mut self, func: FuncId, var: Var) {
        match self.sources.get(&(func, var)).copied() {
            None => {}
            Some(Source::Stmt(stmt, place)) => {
                self.stmt(func, stmt);
                self.result(func, stmt, place);
            }
            Some(Source::Inner(stmt, which, place)) => {
                self.stmt(func, stmt);
                self.inner(func, stmt, which, place);
            }
            Some(Source::Param(place)) => {
                for (caller, args) in self.calls.get(&func).cloned().unwrap_or_default() {
                    self.nth(caller, args, place);
                }
            }
        }
    }

    /// A result of a statement is needed.
    fn result(&mut self, func: FuncId, stmt: &'p Stmt, place: usize) {
        match &stmt.op {
            Op::If { cond: _, then, otherwise } => {
                self.nth(func, &then.results, place);
                self.nth(func, &otherwise.results, place);
            }
            Op::Match { on: _, arms } => arms.iter().for_each(|arm| self.nth(func, &arm.results, place)),
            Op::Loop(parts) => self.turn(func, parts, place),
            Op::While(parts) => {
                self.nth(func, &parts.body.results, place);
                self.nth(func, &parts.init, place);
            }
            Op::Call { func: callee, .. } => {
                if self.needed.results.insert((*callee, place))
                    && let Some(body) = self.program.funcs.get(*callee).map(|callee| &callee.body)
                {
                    self.nth(*callee, &body.results, place);
                }
            }
            _ => {}
        }
    }

    /// A result of a loop is needed.
    fn turn(&mut self, func: FuncId, parts: &Loop, place: usize) {
        self.nth(func, &parts.body.results, place);
        match place.checked_sub(parts.init.len()) {
            None => self.nth(func, &parts.init, place),
            Some(place) => self.nth(func, &parts.accs, place),
        }
    }

    /// A parameter of a block inside of a statement is needed.
    fn inner(&mut self, func: FuncId, stmt: &'p Stmt, which: usize, place: usize) {
        match &stmt.op {
            Op::Loop(parts) => {
                let carried = parts.init.len() + parts.accs.len();
                match place.checked_sub(1) {
                    None => {}
                    Some(place) if place < carried => self.turn(func, parts, place),
                    Some(place) => self.nth(func, &parts.inputs, place - carried),
                }
            }
            Op::While(parts) => {
                self.nth(func, &parts.body.results, place);
                self.nth(func, &parts.init, place);
            }
            Op::Match { on, arms: _ } => {
                let ty = on.var().map(|on| self.program.funcs.at(func).ty(on));
                if let (Some(Ty::Scalar(Elem::Data(data))), Ok(ctor)) = (ty, u32::try_from(which)) {
                    self.field(data, ctor, place);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, data: DataId, ctor: u32, place: usize) {
        if self.needed.fields.insert((data, ctor, place)) {
            for (func, fields) in self.makes.get(&(data, ctor)).cloned().unwrap_or_default() {
                self.nth(func, fields, place);
            }
        }
    }
}
