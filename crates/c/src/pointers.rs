//! What addresses point at: reals or other words.
//!
//! Variables that may hold the same address are put into one class; a class whose words are only read and written as reals is
//! of type `double *`, others of type `word *`. So the C compiler knows that writing reals changes no sizes.

use wengert_ir::program::FuncId;
use wengert_ir::ty::{Id, Table};
use wengert_native::loops::{Func, Local, Operand, Program, Runtime, Stmt, Value, Word};

/// What the words of a class are used as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    real: bool,
    other: bool,
}

/// For each variable of each function, whether it points at reals.
pub(crate) struct Pointers {
    parents: Vec<usize>,
    uses: Vec<Uses>,
    starts: Table<FuncId, usize>,
}

impl Pointers {
    /// Looks through a program.
    pub(crate) fn of(program: &Program) -> Pointers {
        let mut starts = Table::default();
        let mut count = 0;
        for (_, func) in program.funcs.iter() {
            starts.push(count);
            count += func.locals.len();
        }
        let mut pointers =
            Pointers { parents: (0..count).collect(), uses: vec![Uses::default(); count], starts };
        for (id, func) in program.funcs.iter() {
            Walk { pointers: &mut pointers, program, id, func }.stmts(&func.body);
        }
        pointers
    }

    /// Whether the words at this address are reals.
    pub(crate) fn at_reals(&self, func: FuncId, local: Local) -> bool {
        let mut class = self.place(func, local);
        while let Some(parent) = self.parents.get(class).copied().filter(|parent| *parent != class) {
            class = parent;
        }
        self.uses.get(class).is_some_and(|uses| uses.real && !uses.other)
    }

    fn place(&self, func: FuncId, local: Local) -> usize {
        self.starts.get(func).copied().unwrap_or(0) + local.index()
    }

    fn class(&mut self, mut place: usize) -> usize {
        while let Some(parent) = self.parents.get(place).copied().filter(|parent| *parent != place) {
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(own) = self.parents.get_mut(place) {
                *own = above;
            }
            place = parent;
        }
        place
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.class(a), self.class(b));
        if a == b {
            return;
        }
        let moved = self.uses.get(b).copied().unwrap_or_default();
        if let Some(parent) = self.parents.get_mut(b) {
            *parent = a;
        }
        if let Some(uses) = self.uses.get_mut(a) {
            *uses = Uses { real: uses.real || moved.real, other: uses.other || moved.other };
        }
    }

    fn used(&mut self, place: usize, real: bool) {
        let class = self.class(place);
        if let Some(uses) = self.uses.get_mut(class) {
            uses.real |= real;
            uses.other |= !real;
        }
    }
}

struct Walk<'p> {
    pointers: &'p mut Pointers,
    program: &'p Program,
    id: FuncId,
    func: &'p Func,
}

impl Walk<'_> {
    /// The place of a variable that holds an address.
    fn address(&self, operand: Operand) -> Option<usize> {
        let Operand::Local(local) = operand else { return None };
        let is_address = self.func.locals.get(local) == Some(&Word::Address);
        is_address.then(|| self.pointers.place(self.id, local))
    }

    fn used(&mut self, operand: Operand, real: bool) {
        if let Some(place) = self.address(operand) {
            self.pointers.used(place, real);
        }
    }

    fn join(&mut self, a: Operand, b: Operand) {
        if let (Some(a), Some(b)) = (self.address(a), self.address(b)) {
            self.pointers.join(a, b);
        }
    }

    fn is_real(&self, operand: Operand) -> bool {
        match operand {
            Operand::Real(_) => true,
            Operand::Local(local) => self.func.locals.get(local) == Some(&Word::Real),
            Operand::Int(_) | Operand::Text(_) => false,
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || stmts.iter().for_each(|stmt| self.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(local, value) => self.set(*local, value),
            Stmt::Store { base, index: _, offset: _, value } => {
                let real = self.is_real(*value);
                self.used(*base, real);
            }
            Stmt::Call { func, args, outs: _ } => {
                let Some(callee) = self.program.funcs.get(*func) else { return };
                for (param, arg) in callee.params.iter().zip(args) {
                    if let Some(arg) = self.address(*arg) {
                        let param = self.pointers.place(*func, *param);
                        self.pointers.join(param, arg);
                    }
                }
            }
            Stmt::Parallel { part, captured, .. } => {
                let Some(callee) = self.program.funcs.get(*part) else { return };
                for (param, local) in callee.params.iter().skip(2).zip(captured) {
                    if let Some(place) = self.address(Operand::Local(*local)) {
                        let param = self.pointers.place(*part, *param);
                        self.pointers.join(param, place);
                    }
                }
            }
            Stmt::Runtime { call, args, out: _ } => self.runtime(*call, args),
            Stmt::If { cond: _, then, otherwise } => {
                self.stmts(then);
                self.stmts(otherwise);
            }
            Stmt::Switch { on: _, cases } => cases.iter().for_each(|case| self.stmts(case)),
            Stmt::For { body, .. } => self.stmts(body),
            Stmt::While { head, cond: _, body } => {
                self.stmts(head);
                self.stmts(body);
            }
            Stmt::Retain(..) | Stmt::Release(..) | Stmt::Free(..) | Stmt::Fail(..) => {}
        }
    }

    fn set(&mut self, local: Local, value: &Value) {
        let to = Operand::Local(local);
        match value {
            Value::Copy(from) => self.join(to, *from),
            Value::Select(_, a, b) => {
                self.join(to, *a);
                self.join(to, *b);
            }
            Value::Address { base, index: _, offset: _ } => self.join(to, *base),
            Value::Load { base, index: _, offset: _ } => {
                let real = self.is_real(to);
                self.used(*base, real);
            }
            Value::Real(..)
            | Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => {}
        }
    }

    fn runtime(&mut self, call: Runtime, args: &[Operand]) {
        match call {
            Runtime::MatMul | Runtime::MatVec | Runtime::AddProduct => {
                args.iter().for_each(|arg| self.used(*arg, true))
            }
            Runtime::CopyWords => {
                if let [from, to, ..] = args {
                    self.join(*from, *to);
                }
            }
            Runtime::Power
            | Runtime::Polygamma
            | Runtime::IntPower
            | Runtime::TextAppend
            | Runtime::TextExtend
            | Runtime::TextLength
            | Runtime::TextCompare
            | Runtime::ShowReal
            | Runtime::ShowInt
            | Runtime::ShowText
            | Runtime::SortReal
            | Runtime::SortInt
            | Runtime::SortText
            | Runtime::ArgSortReal
            | Runtime::ArgSortInt
            | Runtime::ArgSortText
            | Runtime::ZeroWords
            | Runtime::Map
            | Runtime::Scratch => {}
        }
    }
}
