//! Where variables are declared: in the innermost block that has all their occurrences, at the first of them.
//!
//! Blocks are numbered in the order in which they are printed. The two parts of a `while` loop are one block; the
//! condition stands between them. The index of a `for` loop is bound in its body.

use rustc_hash::FxHashMap;
use wengert_ir::ty::Id;
use wengert_native::loops::{Func, Local, Operand, Stmt, Sum, Value};

/// A block.
pub(crate) type Block = u32;

/// What is known of a variable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    /// How often it is assigned in the text; being a parameter counts.
    pub(crate) sets: u32,
    /// How often it is read in the text.
    pub(crate) reads: u32,
    /// Where it is declared: the block, and the place of the statement there.
    pub(crate) declared: Option<(Block, u32)>,
    /// The last block in which it is assigned.
    pub(crate) set_in: Block,
    /// The last block in which it is read.
    pub(crate) read_in: Block,
}

/// The variables of a function.
pub(crate) struct Scopes {
    infos: Vec<Info>,
    declarations: FxHashMap<(Block, u32), Vec<Local>>,
}

impl Scopes {
    /// Looks through a function.
    pub(crate) fn of(func: &Func) -> Scopes {
        let mut walk =
            Walk { infos: vec![Info::default(); func.locals.len()], parents: vec![(0, 0)], depths: vec![0] };
        for param in &func.params {
            walk.written(*param, (0, 0));
        }
        walk.stmts(&func.body, 0, 0);
        let end = (0, count(&func.body));
        for result in &func.results {
            walk.read(*result, end);
        }
        let mut declarations: FxHashMap<(Block, u32), Vec<Local>> = FxHashMap::default();
        for (local, _) in func.locals.iter() {
            let place = walk.infos.get(local.index()).and_then(|info| info.declared);
            if let Some(place) = place.filter(|_| !func.params.contains(&local)) {
                declarations.entry(place).or_default().push(local);
            }
        }
        Scopes { infos: walk.infos, declarations }
    }

    /// What is known of a variable.
    pub(crate) fn info(&self, local: Local) -> Info {
        self.infos.get(local.index()).copied().unwrap_or_default()
    }

    /// The variables declared at this place.
    pub(crate) fn declared(&self, place: (Block, u32)) -> &[Local] {
        self.declarations.get(&place).map_or(&[], Vec::as_slice)
    }
}

/// How many statements there are.
pub(crate) fn count(stmts: &[Stmt]) -> u32 {
    u32::try_from(stmts.len()).unwrap_or(u32::MAX)
}

struct Walk {
    infos: Vec<Info>,
    /// For each block, where it is.
    parents: Vec<(Block, u32)>,
    depths: Vec<u32>,
}

impl Walk {
    fn block(&mut self, place: (Block, u32)) -> Block {
        let depth = self.depth(place.0) + 1;
        self.parents.push(place);
        self.depths.push(depth);
        u32::try_from(self.parents.len() - 1).unwrap_or(u32::MAX)
    }

    fn depth(&self, block: Block) -> u32 {
        self.depths.get(block as usize).copied().unwrap_or(0)
    }

    fn parent(&self, place: (Block, u32)) -> (Block, u32) {
        self.parents.get(place.0 as usize).copied().unwrap_or((0, 0))
    }

    /// The place in the innermost block around both that leads to the first.
    fn common(&self, mut first: (Block, u32), mut second: (Block, u32)) -> (Block, u32) {
        while self.depth(first.0) > self.depth(second.0) {
            first = self.parent(first);
        }
        while self.depth(second.0) > self.depth(first.0) {
            second = self.parent(second);
        }
        while first.0 != second.0 {
            first = self.parent(first);
            second = self.parent(second);
        }
        first
    }

    fn occurs(&mut self, local: Local, place: (Block, u32)) {
        let Some(info) = self.infos.get(local.index()).copied() else { return };
        let declared = info.declared.map_or(place, |first| self.common(first, place));
        if let Some(info) = self.infos.get_mut(local.index()) {
            info.declared = Some(declared);
        }
    }

    fn written(&mut self, local: Local, place: (Block, u32)) {
        self.occurs(local, place);
        if let Some(info) = self.infos.get_mut(local.index()) {
            info.sets += 1;
            info.set_in = place.0;
        }
    }

    fn read(&mut self, local: Local, place: (Block, u32)) {
        self.occurs(local, place);
        if let Some(info) = self.infos.get_mut(local.index()) {
            info.reads += 1;
            info.read_in = place.0;
        }
    }

    fn operand(&mut self, operand: &Operand, place: (Block, u32)) {
        if let Operand::Local(local) = operand {
            self.read(*local, place);
        }
    }

    fn operands(&mut self, operands: &[Operand], place: (Block, u32)) {
        operands.iter().for_each(|operand| self.operand(operand, place));
    }

    fn stmts(&mut self, stmts: &[Stmt], block: Block, from: u32) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for (place, stmt) in (from..).zip(stmts) {
                self.stmt(stmt, (block, place));
            }
        });
    }

    fn nested(&mut self, stmts: &[Stmt], place: (Block, u32)) {
        let block = self.block(place);
        self.stmts(stmts, block, 0);
    }

    fn stmt(&mut self, stmt: &Stmt, place: (Block, u32)) {
        match stmt {
            Stmt::Set(local, value) => {
                for_each_operand(value, &mut |operand| self.operand(operand, place));
                self.written(*local, place);
            }
            Stmt::Store { base, index, offset: _, value } => self.operands(&[*base, *index, *value], place),
            Stmt::If { cond, then, otherwise } => {
                self.operand(cond, place);
                self.nested(then, place);
                self.nested(otherwise, place);
            }
            Stmt::Switch { on, cases } => {
                self.operand(on, place);
                cases.iter().for_each(|case| self.nested(case, place));
            }
            Stmt::For { index, len, body, .. } => {
                self.operand(len, place);
                let block = self.block(place);
                self.written(*index, (block, 0));
                self.stmts(body, block, 0);
            }
            Stmt::Parallel { len, work, captured, sums, .. } => {
                self.operands(&[*len, *work], place);
                captured.iter().for_each(|local| self.read(*local, place));
                for sum in sums {
                    match sum {
                        Sum::Word(local, _) => {
                            self.read(*local, place);
                            self.written(*local, place);
                        }
                        Sum::Near(first) => self.read(*first, place),
                        Sum::Array { object: _, first, size } => {
                            self.read(*first, place);
                            self.operand(size, place);
                        }
                    }
                }
            }
            Stmt::While { head, cond, body } => {
                let block = self.block(place);
                let middle = count(head);
                self.stmts(head, block, 0);
                self.operand(cond, (block, middle));
                self.stmts(body, block, middle + 1);
            }
            Stmt::Call { func: _, args, outs } => {
                self.operands(args, place);
                outs.iter().for_each(|out| self.written(*out, place));
            }
            Stmt::Runtime { call: _, args, out } => {
                self.operands(args, place);
                out.iter().for_each(|out| self.written(*out, place));
            }
            Stmt::Retain(operand, _) | Stmt::Release(operand, _) | Stmt::Free(operand, _) => {
                self.operand(operand, place);
            }
            Stmt::Fail(_, numbers) => self.operands(numbers, place),
        }
    }
}

/// The operands of a value.
pub(crate) fn for_each_operand(value: &Value, visit: &mut dyn FnMut(&Operand)) {
    match value {
        Value::Real(_, args) => args.iter().for_each(visit),
        Value::Int(_, a, b)
        | Value::CompareReal(_, a, b)
        | Value::CompareInt(_, a, b)
        | Value::OutOfRange(a, b) => {
            visit(a);
            visit(b);
        }
        Value::Select(cond, a, b) => {
            visit(cond);
            visit(a);
            visit(b);
        }
        Value::Load { base, index, offset: _ } | Value::Address { base, index, offset: _ } => {
            visit(base);
            visit(index);
        }
        Value::Copy(x)
        | Value::IntToReal(x)
        | Value::RealToInt(x)
        | Value::Round(_, x)
        | Value::Bits(x)
        | Value::Tag(x, _)
        | Value::Unique(x, _)
        | Value::Alloc(x, _, _) => visit(x),
    }
}
