//! Linearization: a function becomes its primal part, which also gives the residual, and its linear part.
//!
//! ```text
//! def f(x, y) = let a = sin x in a * y
//!
//! primal part: a = sin x;  c = cos x;  z = a * y          residual: a, c  (and y, which the caller has)
//! linear part: a' = c · x';  z' = y · a' + a · y'
//! ```
//!
//! The residual is what the linear part mentions. Parameters among it are not given back: the caller has them. Inside,
//! every kind of block keeps what its linear part mentions in its own way ([`branch`], [`repeat`]). A function that calls
//! itself has a *tape*: a data type that holds the residual, and so the tapes of the calls inside it. Deep recursion makes
//! a deep tape, and no other bookkeeping.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations with blocks and calls are named, the others have a rule"
)]

mod branch;
mod deeper;
mod repeat;
mod settled;
mod tape;

use crate::arrays::Scope;
use crate::expand::Prepared;
use crate::like::Likes;
use crate::linear::{Arg, Lin, LinBlock, LinCall, Mentions, Ref};
use crate::scoped::Scoped;
use crate::{Ad, Code, Key, deep};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, VarInfo};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Table, Ty};

/// Functions and branches give at most so many values beside their results. If there are more, they are put into one: else
/// functions that call functions that call functions hand on what all of them keep.
const MANY: usize = 24;

/// A linearized function.
pub(crate) struct Linearized {
    /// The function, with products written out.
    pub(crate) func: Func,
    /// The primal part.
    pub(crate) primal: FuncId,
    /// The variables of the primal part.
    pub(crate) vars: Rc<Table<Var, VarInfo>>,
    /// Which of them have the shape of which.
    pub(crate) likes: Rc<Likes>,
    /// The linear part.
    pub(crate) block: LinBlock,
    /// Which results vary.
    pub(crate) results: Vec<bool>,
    /// What the linear part mentions.
    pub(crate) residual: Vec<Var>,
    /// Of which of that only the shape is needed.
    pub(crate) shapes: Vec<bool>,
    /// The data type that holds the residual, if the function is recursive or the residual is large.
    pub(crate) tape: Option<DataId>,
    /// The variable of the branch whose constructors those of the tape are, if the whole function is a branch.
    pub(crate) branch: Option<Var>,
    /// Results that do not vary, though callers think so.
    unseen: Vec<bool>,
}

/// What a call of a primal part gives.
pub(crate) type Called = (Vec<Atom>, Vec<Atom>);

impl Ad {
    /// A function linearized in some of its parameters.
    pub(crate) fn linearize(&mut self, key: &Key) -> Rc<Linearized> {
        if let Some(known) = self.linears.get(key) {
            return Rc::clone(known);
        }
        let prepared = self.prepare_linear(key);
        let func = &prepared.func;
        let reserved = self.is_recursive(key.0).then(|| self.reserve_tape(key, func));
        let likes = Rc::new(self.likes(func));
        let (settled, apart) = (self.settled.contains(&key.0), self.apart(func));
        let mut code = Code::like(self, func, &format!("primal_{}", func.name));
        let mut walk = Linearize {
            code: &mut code,
            likes: &likes,
            scope: Scope { active: &prepared.active, same: FxHashMap::default(), places: true, apart },
            branches: FxHashMap::default(),
            params: func.body.params.clone(),
            settled,
            facts: Rc::new(settled::Facts::of(&func.body, &likes)),
            around: Vec::new(),
            said: Vec::new(),
            of: key.0,
        };
        let mut block = walk.block(&func.body);
        let branches = std::mem::take(&mut walk.branches);
        let (residual, shapes) = Mentions::new(&code.b.func().vars, &likes).of_function(&block);
        let mut results = func.body.results.clone();
        let kept: Vec<Var> = residual.iter().filter(|var| !func.body.params.contains(var)).copied().collect();
        let recursive = reserved.map(|(_, data)| data);
        let tape = recursive.or_else(|| (kept.len() > MANY).then(|| code.ad.tape_type(func)));
        let branch = tape.and_then(|_| tape::whole(&block, &residual, &branches, func));
        match (tape, branch) {
            (Some(_), Some(branch)) => results.push(Atom::Var(branch)),
            (Some(data), None) => results.push(code.tape(data, &residual)),
            (None, _) => results.extend(kept.into_iter().map(Atom::Var)),
        }
        let Code { ad, b, .. } = code;
        let mut made = b.finish(results);
        if let (Some(data), Some(var)) = (tape, branch) {
            ad.tape_of_branch(&mut made, &mut block, (data, var), &residual, &likes);
        }
        let vars = Rc::new(made.vars.clone());
        let made = crate::tidy::tidy(made, &ad.program);
        let primal = self.put(reserved.map(|(id, _)| id), made);
        let unseen = self.unseen(key.0, &block, &prepared);
        let linearized = Rc::new(Linearized {
            func: func.clone(),
            primal,
            vars,
            likes,
            block,
            results: prepared.results.clone(),
            unseen,
            residual,
            shapes,
            tape,
            branch,
        });
        self.linears.insert(key.clone(), Rc::clone(&linearized));
        linearized
    }

    /// Numbers that have a tangent of their own, though they are elements of an array.
    fn apart(&self, func: &Func) -> FxHashSet<Var> {
        if self.exact {
            return FxHashSet::default();
        }
        let mut apart = deeper::used_deeper(&func.body);
        apart.retain(|var| func.ty(*var) == Ty::REAL);
        apart
    }

    /// A function that was made, in its place if it has one.
    fn put(&mut self, place: Option<FuncId>, made: Func) -> FuncId {
        let Some(id) = place else { return self.program.funcs.push(made) };
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// Results of an entry that do not vary, though callers think so. Of other functions these know.
    fn unseen(&mut self, func: FuncId, block: &LinBlock, prepared: &Prepared) -> Vec<bool> {
        if self.entry_of(func).is_none() {
            return Vec::new();
        }
        let all = block.results.iter().zip(&prepared.results).zip(&prepared.func.results);
        all.map(|((of, active), ty)| of.is_none() && *active && self.tangent(*ty).is_some()).collect()
    }

    /// Numbers for the primal part of a recursive function and for the type of its tape.
    fn reserve_tape(&mut self, key: &Key, func: &Func) -> (FuncId, DataId) {
        let data = self.tape_type(func);
        let mut results = func.results.clone();
        results.push(Ty::Scalar(Elem::Data(data)));
        let id = self.reserve(results);
        self.tapes.insert(key.clone(), (id, data));
        (id, data)
    }

    fn tape_type(&mut self, func: &Func) -> DataId {
        let name = Name::new(&format!("{}_tape", func.name));
        self.program.data.push(Data { name, role: Role::Residual, ctors: Vec::new() })
    }

    /// Whether a function calls itself, by way of others perhaps.
    pub(crate) fn is_recursive(&self, func: FuncId) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![func]);
        while let Some(next) = todo.pop() {
            let mut found = false;
            self.program.funcs.at(next).body.for_each_stmt(&mut |stmt| {
                for callee in crate::requests::callees(&stmt.op) {
                    found |= callee == func;
                    if seen.insert(callee) {
                        todo.push(callee);
                    }
                }
            });
            if found {
                return true;
            }
        }
        false
    }

    /// The data type that boxes a value, so that it fits into an array whatever its size.
    pub(crate) fn box_of(&mut self, ty: Ty) -> DataId {
        if let Some(known) = self.boxes.get(&ty) {
            return *known;
        }
        let name: Name = "Row".into();
        let ctors = vec![Ctor { name, fields: vec![ty] }];
        let data = self.program.data.push(Data { name, role: Role::Residual, ctors });
        self.boxes.insert(ty, data);
        data
    }
}

impl Linearized {
    /// Those results that vary as far as callers know, with what they vary by: nothing, if it was not seen before the function was made that
    /// they do not. What callers know not to vary does not, even where the function seems to let it.
    pub(crate) fn varying(&self) -> impl Iterator<Item = (Option<&Ref>, &Atom)> {
        let all = self.block.results.iter().zip(&self.func.body.results).enumerate();
        let unseen = |i: &usize| self.unseen.get(*i) == Some(&true);
        let known = |i: &usize| self.results.get(*i) == Some(&true);
        all.filter(move |(i, (of, _))| (of.is_some() && known(i)) || unseen(i))
            .map(|(_, (of, atom))| (of.as_ref(), atom))
    }

    /// Parameters for the residual: what the linear part's variables are, and the tape if there is one.
    pub(crate) fn open(&self, code: &mut Code<'_>) -> (Scoped, Option<Atom>) {
        if let Some(tape) = self.tape {
            let tape = code.b.param("tape".into(), Ty::Scalar(Elem::Data(tape)));
            return match self.branch {
                Some(branch) => (Scoped::from_iter([(branch, tape)]), None),
                None => (Scoped::default(), Some(tape)),
            };
        }
        let mut env = Scoped::default();
        for var in &self.residual {
            let VarInfo { name, ty } = *self.vars.at(*var);
            env.insert(*var, code.b.param(name, ty));
        }
        (env, None)
    }

    /// Opens the tape.
    pub(crate) fn unpack(&self, code: &mut Code<'_>, env: &mut Scoped, tape: Option<&Atom>) {
        if tape.is_some() {
            code.b.open();
            for var in &self.residual {
                let VarInfo { name, ty } = *self.vars.at(*var);
                env.insert(*var, code.b.param(name, ty));
            }
        }
    }

    /// Ends what `unpack` has begun; gives the results of the function.
    pub(crate) fn close(&self, code: &mut Code<'_>, tape: Option<Atom>, results: Vec<Atom>) -> Vec<Atom> {
        let Some(on) = tape else { return results };
        let named: Vec<(Name, Ty)> = results
            .iter()
            .map(|atom| (code.b.name_of(atom).unwrap_or("result".into()), code.b.type_of(atom)))
            .collect();
        let arm = code.b.close(results);
        code.b.named(&named, Op::Match { on, arms: vec![arm] })
    }

    /// Calls the primal part: the results of the function, and the residual as the linear part wants it.
    pub(crate) fn call(&self, code: &mut Code<'_>, args: &[Atom]) -> Called {
        let mut named: Vec<(Name, Ty)> = self
            .func
            .body
            .results
            .iter()
            .zip(&self.func.results)
            .map(|(atom, ty)| (self.name(atom), *ty))
            .collect();
        let params = &self.func.body.params;
        match self.tape {
            Some(tape) => named.push(("tape".into(), Ty::Scalar(Elem::Data(tape)))),
            None => {
                let locals = self.residual.iter().filter(|var| !params.contains(var));
                named.extend(locals.map(|var| (self.vars.at(*var).name, self.vars.at(*var).ty)));
            }
        }
        let op = Op::Call { func: self.primal, args: args.to_vec(), checkpoint: false };
        let mut results = code.b.named(&named, op);
        let rest = results.split_off(self.func.results.len());
        (results, self.residual_of(args, rest))
    }

    /// The residual, from the arguments and what the primal part gives beside its results.
    pub(crate) fn residual_of(&self, args: &[Atom], given: Vec<Atom>) -> Vec<Atom> {
        if self.tape.is_some() {
            return given;
        }
        let mut given = given.into_iter();
        let params = &self.func.body.params;
        let one = |var: &Var| match params.iter().position(|param| param == var) {
            Some(i) => args.get(i).cloned(),
            None => given.next(),
        };
        self.residual.iter().filter_map(one).collect()
    }

    /// The types of the residual.
    pub(crate) fn residual_types(&self) -> Vec<Ty> {
        match self.tape {
            Some(tape) => vec![Ty::Scalar(Elem::Data(tape))],
            None => self.residual.iter().map(|var| self.vars.at(*var).ty).collect(),
        }
    }

    fn name(&self, atom: &Atom) -> Name {
        atom.var().map_or("result".into(), |var| self.func.vars.at(var).name)
    }
}

/// The walk through a function. The primal part has the variables of the function, and more.
struct Linearize<'a, 'c> {
    code: &'a mut Code<'c>,
    likes: &'a Likes,
    scope: Scope<'a>,
    /// The variables that hold what the blocks of a branch keep, with their types.
    branches: FxHashMap<Var, DataId>,
    /// The parameters of the function.
    params: Vec<Var>,
    /// Whether it knows itself which numbers vary.
    settled: bool,
    /// What is known of its integers.
    facts: Rc<settled::Facts>,
    /// What is settled in the loops around, the outermost first.
    around: Vec<Rc<settled::Settled>>,
    /// What conditions around say of integers.
    said: Vec<settled::Said>,
    /// The function.
    of: FuncId,
}

impl Linearize<'_, '_> {
    /// Appends a block to the primal part and gives its linear part.
    fn block(&mut self, block: &Block) -> LinBlock {
        let mut stmts = Vec::new();
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt, &mut stmts)));
        LinBlock::new(stmts, block.results.iter().map(|atom| self.scope.of(atom)).collect())
    }

    fn stmt(&mut self, stmt: &Stmt, lins: &mut Vec<Lin>) {
        self.code.b.set_span(stmt.span);
        let varies = stmt.outs.iter().any(|out| self.scope.active.contains(out));
        match &stmt.op {
            _ if !varies => self.fixed(stmt),
            Op::If { cond, then, otherwise } => lins.push(self.if_else(stmt, cond, then, otherwise)),
            Op::Match { on, arms } => lins.push(self.match_on(stmt, on, arms)),
            Op::Select { cond, then, otherwise } => lins.push(self.select(stmt, cond, then, otherwise)),
            Op::Loop(parts) => lins.push(self.repeat(stmt, parts)),
            Op::While(parts) => lins.push(self.while_loop(stmt, parts)),
            Op::Call { func, args, .. } if self.code.ad.linear_helpers.contains_key(func) => {
                lins.extend(self.scope.helper(self.code, stmt, *func, args));
            }
            Op::Call { func, args, checkpoint } => lins.push(self.call(stmt, *func, args, *checkpoint)),
            Op::Custom(parts) => lins.extend(self.scope.custom(self.code, stmt, parts)),
            _ => lins.extend(self.scope.straight(self.code, stmt)),
        }
    }

    /// What does not vary stays. A number that may vary is never taken for nothing but zero, where it is not known whether it does.
    fn fixed(&mut self, stmt: &Stmt) {
        let asked = self.code.ad.exact_zero_of(stmt);
        if !self.settled && asked.is_some_and(|x| self.scope.of(x).is_some()) {
            let op = Op::Copy(Atom::Bool(false));
            self.code.b.push(Stmt { outs: stmt.outs.clone(), op, span: stmt.span });
        } else {
            self.code.b.push(stmt.clone());
        }
    }

    /// For each variable whether it varies.
    fn outs(&self, outs: &[Var]) -> Vec<Option<Var>> {
        outs.iter().map(|out| self.scope.active.contains(out).then_some(*out)).collect()
    }

    fn call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom], checkpoint: bool) -> Lin {
        let key: Key = self.code.ad.unguarded((func, self.scope.mask(args)));
        let outs = self.outs(&stmt.outs);
        // What does not vary is no operand of the linear part.
        let linear = |(arg, active): (&Atom, &bool)| match self.scope.arg(arg) {
            Arg::Linear(of) if *active => Arg::Linear(of),
            Arg::Zero(point) if *active => Arg::Zero(point),
            _ => Arg::Zero(Atom::Unit),
        };
        let linear_args: Vec<Arg> = args.iter().zip(&key.1).map(linear).collect();
        let seeds = !checkpoint;
        // As in the interpreter, where only the innermost tape notes a checkpoint: one around notes what that does.
        let notes = checkpoint && !self.code.ad.exact;
        let checkpoint = checkpoint || self.code.ad.is_run_again(key.0);
        let (residual, shapes) = if checkpoint {
            let op = Op::Call { func, args: args.to_vec(), checkpoint: notes };
            self.code.b.push(Stmt { outs: stmt.outs.clone(), op, span: stmt.span });
            (args.to_vec(), vec![false; args.len()])
        } else {
            self.call_primal(stmt, &key, args)
        };
        Lin::Call(Box::new(LinCall { key, residual, shapes, checkpoint, seeds, args: linear_args, outs }))
    }

    /// Appends the call of the primal part of a function: its residual, and of which of that only the shape is needed.
    fn call_primal(&mut self, stmt: &Stmt, key: &Key, args: &[Atom]) -> (Vec<Atom>, Vec<bool>) {
        let tape =
            if self.code.ad.linears.contains_key(key) { None } else { self.code.ad.tapes.get(key).copied() };
        match tape {
            // A call of a function that is being linearized.
            Some((primal, data)) => {
                let tape = self.code.b.fresh("tape".into(), Ty::Scalar(Elem::Data(data)));
                let outs = stmt.outs.iter().copied().chain([tape]).collect();
                let op = Op::Call { func: primal, args: args.to_vec(), checkpoint: false };
                self.code.b.push(Stmt { outs, op, span: stmt.span });
                (vec![Atom::Var(tape)], vec![false])
            }
            None => {
                let linearized = self.code.ad.linearize(key);
                let params = &linearized.func.body.params;
                let mut given = Vec::new();
                match linearized.tape {
                    Some(data) => given.push(self.code.b.fresh("tape".into(), Ty::Scalar(Elem::Data(data)))),
                    None => {
                        for var in linearized.residual.iter().filter(|var| !params.contains(var)) {
                            let VarInfo { name, ty } = *linearized.vars.at(*var);
                            given.push(self.code.b.fresh(name, ty));
                        }
                    }
                }
                let outs = stmt.outs.iter().chain(&given).copied().collect();
                let op = Op::Call { func: linearized.primal, args: args.to_vec(), checkpoint: false };
                self.code.b.push(Stmt { outs, op, span: stmt.span });
                let shapes = if linearized.tape.is_some() { vec![false] } else { linearized.shapes.clone() };
                (linearized.residual_of(args, given.into_iter().map(Atom::Var).collect()), shapes)
            }
        }
    }

    /// What linear code mentions of the variables that `block` binds at its top.
    fn mentioned(&self, lin: &LinBlock, block: &Block) -> Vec<Var> {
        let bound = bound(block);
        self.mentions(lin).iter().copied().filter(|var| bound.contains(var)).collect()
    }

    /// What linear code mentions of variables outside of its block.
    fn mentioned_around(&self, lin: &LinBlock, block: &Block) -> FxHashSet<Var> {
        let bound = bound(block);
        self.mentions(lin).iter().copied().filter(|var| !bound.contains(var)).collect()
    }

    fn mentions<'b>(&self, lin: &'b LinBlock) -> &'b IndexSet<Var> {
        &Mentions::new(&self.code.b.func().vars, self.likes).of_block(lin).found
    }

    /// Of what it mentions, that of which only the shape is needed.
    fn only_shapes(&self, lin: &LinBlock, mentioned: &[Var]) -> FxHashSet<Var> {
        let values = &Mentions::new(&self.code.b.func().vars, self.likes).of_block(lin).values;
        mentioned.iter().copied().filter(|var| !values.contains(var)).collect()
    }

    fn select(&mut self, stmt: &Stmt, cond: &Atom, then: &Atom, otherwise: &Atom) -> Lin {
        self.code.b.push(stmt.clone());
        let arm = |of: Option<Ref>| crate::linear::Arm {
            params: Vec::new(),
            binds: Vec::new(),
            again: Vec::new(),
            block: LinBlock::new(Vec::new(), vec![of]),
        };
        let arms = vec![arm(self.scope.of(then)), arm(self.scope.of(otherwise))];
        let outs = self.outs(&stmt.outs);
        let on = crate::linear::Choice::If(cond.clone());
        let (besides, points) = (Vec::new(), Vec::new());
        Lin::Branch(Box::new(crate::linear::Branch { on, arms, outs, besides, points }))
    }
}

/// The variables that a block binds, those inside of its operations excepted.
fn bound(block: &Block) -> FxHashSet<Var> {
    block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect()
}

impl Code<'_> {
    /// A tape with one constructor, which holds these variables.
    fn tape(&mut self, data: DataId, residual: &[Var]) -> Atom {
        let fields = residual.iter().map(|var| self.b.func().ty(*var)).collect();
        let name = self.ad.program.data.at(data).name;
        self.ad.program.data.at_mut(data).ctors = vec![Ctor { name, fields }];
        let fields: Vec<Atom> = residual.iter().copied().map(Atom::Var).collect();
        self.b.called("tape").make(data, 0, fields)
    }

    /// The content of a box.
    pub(crate) fn open_box(&mut self, on: Atom, name: Name, ty: Ty) -> Atom {
        self.b.open();
        let field = self.b.param(name, ty);
        let arm = self.b.close(vec![field]);
        self.b.named(&[(name, ty)], Op::Match { on, arms: vec![arm] }).remove(0)
    }
}
