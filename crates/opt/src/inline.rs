//! Calls of small functions, and of functions that are called once, become their bodies. Of functions that call each other
//! in a circle, the one stays by which the circle is entered.
//!
//! Functions are taken in the order in which they need each other, so that a body is inlined with its own calls already
//! inlined. What is called no more is dropped by `dce`. A tangent map, say, is applied to the directions `(1, 0)` and `(0, 1)`:
//! with these it is a much smaller function.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed uses no function")]

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::build::Copier;
use wengert_ir::op::{Op, Var};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt};

/// A body of at most so many statements is copied to every call.
const SMALL: usize = 40;
/// And one of at most so many to calls with constants, of which the body may know what to make.
const KNOWN: usize = 160;
/// No function grows beyond this by copies.
const LARGE: usize = 2_000;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let mut uses: FxHashMap<FuncId, usize> = FxHashMap::default();
    for (_, func) in program.funcs.iter() {
        for callee in callees(&func.body) {
            *uses.entry(callee).or_default() += 1;
        }
    }
    for id in program.entries.values() {
        // What can be called from outside stays as it is.
        *uses.entry(*id).or_default() += 1;
    }
    let (order, recursive) = callees_first(program);
    let mut known: FxHashMap<FuncId, usize> =
        program.funcs.iter().map(|(id, func)| (id, func.body.size())).collect();
    for id in order {
        let Some(place) = program.funcs.get(id) else { continue };
        let params = place.body.params.clone();
        let size = known.get(&id).copied().unwrap_or_default();
        let is_param = params.iter().copied().collect();
        let (uses, recursive, sizes) = (&uses, &recursive, &known);
        let inliner = Inliner { program, uses, recursive, sizes, params, is_param, size };
        if !inliner.finds(&place.body) {
            continue;
        }
        let mut func = place.clone();
        let mut body = std::mem::take(&mut func.body);
        let mut inliner = inliner;
        inliner.block(&mut func, &mut body);
        func.body = body;
        known.insert(id, func.body.size());
        *program.funcs.at_mut(id) = func;
    }
}

struct Inliner<'a> {
    program: &'a Program,
    uses: &'a FxHashMap<FuncId, usize>,
    recursive: &'a FxHashSet<FuncId>,
    /// How many statements functions have.
    sizes: &'a FxHashMap<FuncId, usize>,
    /// Parameters of the function.
    params: Vec<Var>,
    is_param: FxHashSet<Var>,
    size: usize,
}

impl<'a> Inliner<'a> {
    /// Whether there is a call to be inlined.
    fn finds(&self, body: &Block) -> bool {
        !body.all_stmts(&mut |stmt| match &stmt.op {
            Op::Call { func, args, checkpoint: false } => self.wanted(*func, args).is_none(),
            _ => true,
        })
    }

    fn block(&mut self, func: &mut Func, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                if let Op::Call { func: callee, args, checkpoint: false } = &stmt.op
                    && let Some(callee) = self.wanted(*callee, args)
                {
                    self.copy(func, &mut out, callee, args, &stmt);
                    continue;
                }
                for inner in stmt.op.blocks_mut() {
                    self.block(func, inner);
                }
                out.push(stmt);
            }
            block.stmts = out;
        });
    }

    fn copy(
        &mut self,
        func: &mut Func,
        out: &mut Vec<Stmt>,
        (callee, size): (&Func, usize),
        args: &[Atom],
        call: &Stmt,
    ) {
        self.size += size;
        let mut copier = Copier::new(callee);
        self.adopt_names(func, callee, args);
        for (param, arg) in callee.body.params.iter().zip(args) {
            copier.set(*param, arg.clone());
        }
        for stmt in &callee.body.stmts {
            out.push(copier.stmt(func, stmt));
        }
        for (var, result) in call.outs.iter().zip(&callee.body.results) {
            let op = Op::Copy(copier.atom(result));
            out.push(Stmt { outs: vec![*var], op, span: call.span });
        }
    }

    /// Parts of a tuple that a parameter was have one name, until they are given to a function that has taken the tuple apart.
    fn adopt_names(&self, func: &mut Func, callee: &Func, args: &[Atom]) {
        let mut alike: FxHashMap<Name, usize> = FxHashMap::default();
        for param in &self.params {
            *alike.entry(func.vars.at(*param).name).or_default() += 1;
        }
        let alike = |var: Var| alike.get(&func.vars.at(var).name).is_some_and(|count| *count > 1);
        let named = callee.body.params.iter().zip(args).filter_map(|(param, arg)| Some((*param, arg.var()?)));
        let parts: Vec<(Var, Var)> =
            named.filter(|(_, var)| alike(*var) && self.is_param.contains(var)).collect();
        for (param, var) in parts {
            func.vars.at_mut(var).name = callee.vars.at(param).name;
        }
    }

    /// The function and its size, if calls of it become its body.
    fn wanted(&self, id: FuncId, args: &[Atom]) -> Option<(&'a Func, usize)> {
        let func = self.program.funcs.get(id)?;
        let size = *self.sizes.get(&id)?;
        let most = if args.iter().any(|arg| matches!(arg, Atom::Real(_))) { KNOWN } else { SMALL };
        let fits = size <= most || self.uses.get(&id) == Some(&1);
        (fits && !self.recursive.contains(&id) && self.size + size <= LARGE).then_some((func, size))
    }
}

/// The functions that a block uses, as often as it does.
pub(crate) fn callees(block: &Block) -> Vec<FuncId> {
    let mut found = Vec::new();
    block.for_each_stmt(&mut |stmt| match &stmt.op {
        Op::Call { func, .. } | Op::Jvp { func, .. } | Op::Taylor { func, .. } => found.push(*func),
        Op::Custom(custom) => {
            found.push(custom.func);
            match custom.rule {
                wengert_ir::op::Rule::Jvp(rule) => found.push(rule),
                wengert_ir::op::Rule::Vjp(first, second) => found.extend([first, second]),
            }
        }
        _ => {}
    });
    found
}

/// Functions in an order in which those come first that others call; and one of each circle, without which there is none.
fn callees_first(program: &Program) -> (Vec<FuncId>, FxHashSet<FuncId>) {
    let mut order = Vec::new();
    let mut recursive = FxHashSet::default();
    let mut open: FxHashSet<FuncId> = FxHashSet::default();
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    for start in program.funcs.ids() {
        let mut path: Vec<(FuncId, Vec<FuncId>)> = Vec::new();
        let mut next = Some(start);
        loop {
            if let Some(id) = next.take()
                && seen.insert(id)
            {
                open.insert(id);
                path.push((id, program.funcs.get(id).map(|func| callees(&func.body)).unwrap_or_default()));
            }
            let Some((id, rest)) = path.last_mut() else { break };
            match rest.pop() {
                Some(callee) if open.contains(&callee) => {
                    recursive.insert(callee);
                }
                Some(callee) => next = Some(callee),
                None => {
                    order.push(*id);
                    open.remove(id);
                    path.pop();
                }
            }
        }
    }
    (order, recursive)
}
