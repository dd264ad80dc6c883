//! About how much work a loop is, found before it runs: in units of which a simple operation is one.
//!
//! The work of an iteration is a sum of products of sizes that are known before the loop, for the loops inside of it.

use super::bounds::Bounds;
use crate::loops::walk::pieces;
use crate::loops::{Func, Local, Operand, Program, Runtime, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Table;
use wengert_prim::RealOp;
use wengert_prim::real_op::ELEMENTARY_COST;

/// How often a loop is taken to run whose length is not known before.
const SOME: f64 = 8.0;
/// The work of a call that may be one of many.
const RECURSION: f64 = 256.0;
/// What a function of the runtime takes.
const RUNTIME: f64 = 24.0;
/// More products of sizes are not worth computing.
const MOST: usize = 4;

/// A sum of products.
#[derive(Clone, Debug)]
pub(super) struct Work {
    constant: f64,
    products: Vec<(f64, Vec<Local>)>,
}

impl Work {
    fn of(constant: f64) -> Work {
        Work { constant, products: Vec::new() }
    }

    /// The most that it can be.
    pub(super) fn most(&self, bounds: &Bounds) -> f64 {
        let most = |(factor, sizes): &(f64, Vec<Local>)| {
            sizes.iter().fold(*factor, |product, size| product * bounds.most(Operand::Local(*size)))
        };
        self.constant + self.products.iter().map(most).sum::<f64>()
    }

    fn add(&mut self, other: Work) {
        self.constant += other.constant;
        self.products.extend(other.products);
        while self.products.len() > MOST {
            let (factor, sizes) = self.products.remove(0);
            self.constant += sizes.iter().fold(factor, |product, _| product * SOME);
        }
    }

    /// So many times as much.
    pub(super) fn times(mut self, n: f64) -> Work {
        self.constant *= n;
        self.products.iter_mut().for_each(|(factor, _)| *factor *= n);
        self
    }

    fn times_size(self, size: Local) -> Work {
        let with = |mut sizes: Vec<Local>| {
            sizes.push(size);
            sizes
        };
        let mut products: Vec<(f64, Vec<Local>)> =
            self.products.into_iter().map(|(factor, sizes)| (factor, with(sizes))).collect();
        if self.constant > 0.0 {
            products.push((self.constant, vec![size]));
        }
        Work { constant: 0.0, products }
    }

    /// The larger, about.
    fn or(self, other: Work) -> Work {
        if self.guess() >= other.guess() { self } else { other }
    }

    /// A number, whatever the sizes are.
    pub(super) fn guess(&self) -> f64 {
        let products = self.products.iter().map(|(n, sizes)| sizes.iter().fold(*n, |n, _| n * SOME));
        self.constant + products.sum::<f64>()
    }

    /// Computes it before a loop.
    pub(super) fn compute(&self, func: &mut Func, made: &mut Vec<Stmt>) -> Operand {
        let mut total = Operand::Real(self.constant);
        for (factor, sizes) in &self.products {
            let mut product = Operand::Real(*factor);
            for size in sizes {
                let size = real(func, Operand::Local(*size), made);
                product = arithmetic(func, RealOp::Mul, product, size, made);
            }
            total = arithmetic(func, RealOp::Add, total, product, made);
        }
        total
    }
}

/// An integer as a real.
pub(super) fn real(func: &mut Func, n: Operand, made: &mut Vec<Stmt>) -> Operand {
    if let Operand::Int(n) = n {
        return Operand::Real(n as f64);
    }
    let local = func.fresh(Word::Real);
    made.push(Stmt::Set(local, Value::IntToReal(n)));
    Operand::Local(local)
}

fn arithmetic(func: &mut Func, op: RealOp, a: Operand, b: Operand, made: &mut Vec<Stmt>) -> Operand {
    let local = func.fresh(Word::Real);
    made.push(Stmt::Set(local, Value::Real(op, vec![a, b])));
    Operand::Local(local)
}

/// The work of each function, called with arguments of some size.
pub(super) fn of_functions(program: &Program) -> Table<FuncId, f64> {
    let mut works: Table<FuncId, f64> = Table::default();
    for (_, func) in program.funcs.iter() {
        works.push(if func.recursive.is_some() { RECURSION } else { 0.0 });
    }
    // What calls what is not known here: a few rounds are enough for a guess.
    for _ in 0..3 {
        for (id, func) in program.funcs.iter().filter(|(_, func)| func.recursive.is_none()) {
            let inside = func.locals.iter().map(|(local, _)| local).collect();
            let pieces = pieces(&func.body);
            let work = Walk { func, works: &works, inside: &inside, pieces }.stmts(&func.body).guess();
            *works.at_mut(id) = work.min(1e9);
        }
    }
    works
}

/// The work of an iteration of a loop that assigns these variables.
pub(super) fn of(func: &Func, body: &[Stmt], works: &Table<FuncId, f64>, inside: &FxHashSet<Local>) -> Work {
    Walk { func, works, inside, pieces: pieces(body) }.stmts(body)
}

struct Walk<'w> {
    func: &'w Func,
    works: &'w Table<FuncId, f64>,
    inside: &'w FxHashSet<Local>,
    /// How many iterations pieces of long loops have.
    pieces: FxHashMap<Local, i64>,
}

impl Walk<'_> {
    fn stmts(&self, stmts: &[Stmt]) -> Work {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut work = Work::of(0.0);
            stmts.iter().for_each(|stmt| work.add(self.stmt(stmt)));
            work
        })
    }

    fn stmt(&self, stmt: &Stmt) -> Work {
        match stmt {
            Stmt::Set(_, value) => Work::of(cost(value)),
            Stmt::Store { .. } => Work::of(1.0),
            Stmt::If { cond: _, then, otherwise } => {
                let mut work = self.stmts(then).or(self.stmts(otherwise));
                work.constant += 1.0;
                work
            }
            Stmt::Switch { on: _, cases } => {
                let works = cases.iter().map(|case| self.stmts(case));
                works.fold(Work::of(2.0), Work::or)
            }
            Stmt::For { len, body, .. } => {
                let mut each = self.stmts(body);
                each.constant += 1.0;
                self.repeated(each, *len)
            }
            Stmt::While { head, cond: _, body } => {
                let mut each = self.stmts(head);
                each.add(self.stmts(body));
                each.times(SOME)
            }
            Stmt::Call { func, .. } => Work::of(self.works.get(*func).copied().unwrap_or(0.0) + 4.0),
            Stmt::Runtime { call: call @ (Runtime::MatMul | Runtime::AddProduct), args, .. } => {
                let first = if *call == Runtime::MatMul { 3 } else { 1 };
                let sizes = args.get(first..first + 3).unwrap_or_default();
                sizes.iter().fold(Work::of(0.5), |work, size| self.repeated(work, *size))
            }
            Stmt::Runtime { call: Runtime::CopyWords | Runtime::ZeroWords, args, .. } => {
                args.last().map_or(Work::of(1.0), |size| self.repeated(Work::of(0.5), *size))
            }
            Stmt::Runtime { .. } => Work::of(RUNTIME),
            Stmt::Retain(..) | Stmt::Release(..) | Stmt::Free(..) => Work::of(2.0),
            // What fails is done with.
            Stmt::Parallel { .. } | Stmt::Fail(..) => Work::of(0.0),
        }
    }

    fn repeated(&self, each: Work, len: Operand) -> Work {
        match len {
            Operand::Int(n) => each.times(n as f64),
            Operand::Local(size) if !self.inside.contains(&size) && self.is_int(size) => {
                each.times_size(size)
            }
            Operand::Local(size) => each.times(self.pieces.get(&size).map_or(SOME, |most| *most as f64)),
            Operand::Real(_) | Operand::Text(_) => each.times(SOME),
        }
    }

    fn is_int(&self, local: Local) -> bool {
        self.func.locals.get(local) == Some(&Word::Int)
    }
}

/// What an operation takes.
fn cost(value: &Value) -> f64 {
    match value {
        Value::Real(RealOp::Div | RealOp::Sqrt | RealOp::DivZero, _) => 4.0,
        Value::Real(op, _) if op.cost() >= ELEMENTARY_COST => 12.0,
        Value::Alloc(..) => 16.0,
        Value::Copy(_) => 0.0,
        Value::Real(..)
        | Value::Int(..)
        | Value::CompareReal(..)
        | Value::CompareInt(..)
        | Value::OutOfRange(..)
        | Value::Select(..)
        | Value::IntToReal(_)
        | Value::RealToInt(_)
        | Value::Round(..)
        | Value::Bits(_)
        | Value::Load { .. }
        | Value::Address { .. }
        | Value::Tag(..)
        | Value::Unique(..) => 1.0,
    }
}
