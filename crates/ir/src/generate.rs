//! Well-formed random programs, to compare passes and engines with each other.
//!
//! Everything is type-first: a statement picks a type, then an operation that gives it, then operands of the types that
//! this needs, from the variables in scope or made on the spot. So that few programs fail, every axis of every array has
//! [`SIZE`] elements, indices are taken modulo that, and loops are short. The same seed gives the same program.
//!
//! ```
//! use wengert_ir::eval::{Evaluator, Limits};
//! use wengert_ir::generate::{Random, Config, arguments, program};
//! let mut random = Random::new(7);
//! let (program, main) = program(&mut random, &Config::default());
//! assert_eq!(wengert_ir::verify(&program), Ok(()));
//! let args = arguments(&mut random, &program, main);
//! let _ = Evaluator::new(&program, Limits::default()).call(main, args);
//! ```

mod blocks;
mod statements;

use crate::build::Builder;
use crate::eval::{Items, Value};
use crate::op::{Atom, Op};
use crate::program::{FuncId, Linear, Program};
use crate::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_base::Name;

/// The size of every axis of every array.
pub const SIZE: usize = 3;

/// How large programs become.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Functions beside the recursive ones that are always there.
    pub funcs: usize,
    /// Statements of a function's outermost block, at most.
    pub stmts: usize,
    /// How deep blocks nest.
    pub depth: usize,
    /// Whether only what has a tangent is given to functions and given back: no data, no texts.
    pub flat: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { funcs: 3, stmts: 10, depth: 3, flat: false }
    }
}

/// A source of random numbers: splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that the seed decides.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these; there is at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).copied()
    }

    /// A real: mostly of moderate size, sometimes one of those that make trouble.
    pub fn real(&mut self) -> f64 {
        const SPECIAL: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 2.0, 1e-30, 1e30, f64::INFINITY];
        if self.once_in(6) {
            return self.pick(&SPECIAL).unwrap_or(0.0);
        }
        (self.below(8001) as f64 - 4000.0) / 1000.0
    }
}

/// The data types of every program.
pub const LIST: DataId = DataId(0);
/// A sum with fields of several kinds.
pub const SHAPE: DataId = DataId(1);

fn data_types() -> [Data; 2] {
    let ctor = |name: &str, fields: &[Ty]| Ctor { name: name.into(), fields: fields.to_vec() };
    let list = Ty::Scalar(Elem::Data(LIST));
    [
        Data {
            name: "List".into(),
            role: Role::Declared,
            ctors: vec![ctor("Nil", &[]), ctor("Cons", &[Ty::REAL, list])],
        },
        Data {
            name: "Shape".into(),
            role: Role::Declared,
            ctors: vec![
                ctor("Dot", &[]),
                ctor("Circle", &[Ty::REAL]),
                ctor("Path", &[Ty::Array(Elem::Real, 1), Ty::INT]),
                ctor("Scaled", &[Ty::Scalar(Elem::Data(SHAPE)), Ty::REAL]),
            ],
        },
    ]
}

/// A program and its entry `main`, which takes no functions or texts and is not recursive itself.
pub fn program(random: &mut Random, config: &Config) -> (Program, FuncId) {
    let mut program = Program::default();
    for data in data_types() {
        program.data.push(data);
    }
    recursive(random, &mut program);
    for i in 0..config.funcs {
        let func = function(random, &program, config, &format!("f{i}"));
        program.funcs.push(func);
    }
    let main = function(random, &program, config, "main");
    let main = program.funcs.push(main);
    program.entries.insert("main".into(), main);
    (program, main)
}

/// A function of random parameters and results that may call those there are.
fn function(random: &mut Random, program: &Program, config: &Config, name: &str) -> crate::Func {
    let mut gen_ = Gen { random, program, config, b: Builder::new(name.into()), scope: Vec::new(), depth: 0 };
    for _ in 0..1 + gen_.random.below(3) {
        let ty = gen_.border_type();
        let name = gen_.variable_name(ty);
        let param = gen_.b.param(name, ty);
        gen_.scope.push(param);
    }
    for _ in 0..1 + gen_.random.below(config.stmts) {
        gen_.stmt();
    }
    let results = (0..1 + gen_.random.below(2)).map(|_| gen_.result()).collect();
    gen_.b.finish(results)
}

/// `count n x`: a list of n numbers; `total list x`: a fold over a list. Bodies differ from program to program.
fn recursive(random: &mut Random, program: &mut Program) {
    use crate::op::{Compare, IntOp};
    use wengert_prim::RealOp;
    let list = Ty::Scalar(Elem::Data(LIST));
    let ops = [RealOp::Add, RealOp::Mul, RealOp::Sub, RealOp::Max, RealOp::Hypot];
    let op = |random: &mut Random| random.pick(&ops).unwrap_or(RealOp::Add);

    let mut b = Builder::new("count".into());
    let (n, x) = (b.param("n".into(), Ty::INT), b.param("x".into(), Ty::REAL));
    let more = b.called("more").compare(Compare::Gt, n.clone(), Atom::Int(0));
    let then = b.block(&[], |b, _| {
        let fewer = b.called("fewer").int(IntOp::Sub, [n.clone(), Atom::Int(1)]);
        let next = b.called("next").real(op(random), [x.clone(), Atom::Real(random.real())]);
        let rest = b.called("rest").call(FuncId(0), [fewer, next], &[list]);
        let fields: Vec<Atom> = [x.clone()].into_iter().chain(rest).collect();
        vec![b.called("list").make(LIST, 1, fields)]
    });
    let otherwise = b.block(&[], |b, _| vec![b.called("nil").make(LIST, 0, [])]);
    let results = b.called("list").if_else(more, then, otherwise);
    program.funcs.push(b.finish(results));

    let mut b = Builder::new("total".into());
    let (list, x) = (b.param("list".into(), list), b.param("x".into(), Ty::REAL));
    let empty = b.block(&[], |_, _| vec![x.clone()]);
    let fields = [("head".into(), Ty::REAL), ("tail".into(), Ty::Scalar(Elem::Data(LIST)))];
    let cell = b.block(&fields, |b, fields| {
        let [head, tail] = fields.as_slice() else { return vec![x.clone()] };
        let next = b.called("next").real(op(random), [x.clone(), head.clone()]);
        let rest = b.called("rest").call(FuncId(1), [tail.clone(), next], &[Ty::REAL]);
        let rest = rest.into_iter().next().unwrap_or(Atom::Real(0.0));
        vec![b.called("sum").real(op(random), [head.clone(), rest])]
    });
    let results = b.called("sum").typed(&[Ty::REAL], Op::Match { on: list, arms: vec![empty, cell] });
    program.funcs.push(b.finish(results));
}

/// A function under construction.
struct Gen<'a> {
    random: &'a mut Random,
    program: &'a Program,
    config: &'a Config,
    b: Builder,
    /// Variables that may be used.
    scope: Vec<Atom>,
    depth: usize,
}

impl Gen<'_> {
    /// A result of a function: one of the variables made last, so that much of the function matters.
    fn result(&mut self) -> Atom {
        let types = self.border_types();
        let fits = |atom: &&Atom| types.contains(&self.b.type_of(atom));
        let found: Vec<Atom> = self.scope.iter().rev().filter(fits).take(4).cloned().collect();
        let chosen = self.random.below(found.len());
        found.into_iter().nth(chosen).unwrap_or(Atom::Real(0.0))
    }

    /// The type of a parameter of a function.
    fn border_type(&mut self) -> Ty {
        let types = self.border_types();
        self.random.pick(&types).unwrap_or(Ty::REAL)
    }

    /// The types that parameters and results of functions may have; what is wanted more often stands there twice.
    fn border_types(&self) -> Vec<Ty> {
        let flat =
            [Ty::REAL, Ty::REAL, Ty::Array(Elem::Real, 1), Ty::Array(Elem::Real, 2), Ty::INT, Ty::BOOL];
        let data =
            [Ty::Scalar(Elem::Data(LIST)), Ty::Scalar(Elem::Data(SHAPE)), Ty::Array(Elem::Data(SHAPE), 1)];
        let data = data.get(..if self.config.flat { 0 } else { data.len() }).unwrap_or_default();
        flat.iter().chain(data).copied().collect()
    }

    /// The type of a variable inside a function.
    fn inner_type(&mut self) -> Ty {
        let types = [Ty::Array(Elem::Int, 1), Ty::Array(Elem::Bool, 1), Ty::TEXT, Ty::INT];
        if self.random.once_in(5) { self.random.pick(&types).unwrap_or(Ty::INT) } else { self.border_type() }
    }

    fn variable_name(&mut self, ty: Ty) -> Name {
        let names: &[&str] = match (ty, ty.elem()) {
            (Ty::Scalar(_), Elem::Real) => &["x", "y", "z", "u", "v"],
            (Ty::Scalar(_), Elem::Int) => &["i", "j", "k", "n"],
            (Ty::Scalar(_), Elem::Bool) => &["c"],
            (Ty::Scalar(_), Elem::Text) => &["text"],
            (Ty::Scalar(_), Elem::Data(_)) => &["d", "list"],
            (Ty::Array(_, 1), _) => &["xs", "ys"],
            _ => &["rows"],
        };
        self.random.pick(names).unwrap_or("x").into()
    }

    /// Appends an operation; what it gives may be used from here on.
    fn emit(&mut self, op: Op) -> Vec<Atom> {
        let outs = self.b.emit(self.program, op);
        self.scope.extend(outs.iter().cloned());
        outs
    }

    fn emit1(&mut self, ty: Ty, op: Op) -> Atom {
        let name = self.variable_name(ty);
        self.b.called(name);
        self.emit(op).into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A value of a type: a variable, a literal, or made here.
    fn value(&mut self, ty: Ty) -> Atom {
        let found: Vec<usize> = (0..self.scope.len())
            .filter(|i| self.scope.get(*i).is_some_and(|atom| self.b.type_of(atom) == ty))
            .collect();
        let scalar = ty.rank() == 0 && !matches!(ty.elem(), Elem::Data(_));
        if !found.is_empty() && !self.random.once_in(if scalar { 6 } else { 12 }) {
            // What was made last is what was not used yet.
            let recent = found.len() - 1 - self.random.below(found.len()).min(self.random.below(found.len()));
            let atom = found.get(recent).and_then(|i| self.scope.get(*i));
            return atom.cloned().unwrap_or(Atom::Unit);
        }
        self.literal(ty)
    }

    fn literal(&mut self, ty: Ty) -> Atom {
        if let Some(row) = ty.at(1) {
            let rows = (0..SIZE).map(|_| self.value(row)).collect();
            return self.emit1(ty, Op::Array(crate::op::ArrayOp::Literal, rows));
        }
        match ty.elem() {
            Elem::Real => Atom::Real(self.random.real()),
            Elem::Int => Atom::Int(self.random.below(7) as i64 - 2),
            Elem::Bool => Atom::Bool(self.random.once_in(2)),
            Elem::Text => Atom::Text(self.random.pick(&["a", "λ\n", ""]).unwrap_or("").into()),
            Elem::Unit => Atom::Unit,
            Elem::Data(data) => self.make(data, ty),
        }
    }

    fn make(&mut self, data: DataId, ty: Ty) -> Atom {
        let ctors = &self.program.data.at(data).ctors;
        let ctor = if self.random.once_in(2) { 0 } else { self.random.below(ctors.len()) };
        let types = ctors.get(ctor).map(|ctor| ctor.fields.clone()).unwrap_or_default();
        let fields = types.into_iter().map(|ty| self.value(ty)).collect();
        let ctor = u32::try_from(ctor).unwrap_or(0);
        self.emit1(ty, Op::Make { data, ctor, fields })
    }
}

/// Arguments for a function of a generated program.
pub fn arguments(random: &mut Random, program: &Program, func: FuncId) -> Vec<Value> {
    let types = program.funcs.at(func).param_types();
    types.into_iter().map(|ty| argument(random, program, ty, 4)).collect()
}

/// A value of a type, with so many levels of data in it at most.
pub fn argument(random: &mut Random, program: &Program, ty: Ty, levels: usize) -> Value {
    let count = SIZE.pow(u32::from(ty.rank()));
    let shape = std::iter::repeat_n(SIZE, usize::from(ty.rank()));
    let items = match ty.elem() {
        Elem::Real => Items::Reals((0..count).map(|_| random.real()).collect()),
        Elem::Int => Items::Ints((0..count).map(|_| random.below(9) as i64 - 3).collect()),
        Elem::Bool => Items::Bools((0..count).map(|_| random.once_in(2)).collect()),
        Elem::Text => Items::Texts((0..count).map(|_| crate::eval::Text::new("t").into()).collect()),
        Elem::Unit => Items::Units(vec![(); count]),
        Elem::Data(id) => {
            let ctors = program.data.get(id).map(|data| data.ctors.as_slice()).unwrap_or_default();
            let mut node = || {
                let ctor = if levels == 0 { 0 } else { random.below(ctors.len()) };
                let types = ctors.get(ctor).map(|ctor| ctor.fields.as_slice()).unwrap_or_default();
                let field = |ty: &Ty| argument(random, program, *ty, levels.saturating_sub(1));
                let fields: Vec<Value> = types.iter().map(field).collect();
                crate::eval::Node::new(u32::try_from(ctor).unwrap_or(0), fields).into()
            };
            Items::Data((0..count).map(|_| node()).collect())
        }
    };
    match (ty.rank(), items.get(0)) {
        (0, Some(value)) => value,
        _ => Value::array(shape, items),
    }
}

/// Adds two functions to a program: value and tangents of `func` in all its parameters, `(parameters, tangents) → (results,
/// tangents)`, and its results and cotangents, `(parameters, cotangents of the results) → (results, cotangents of the
/// parameters)`.
pub fn with_derivatives(program: &mut Program, func: FuncId) -> (FuncId, FuncId) {
    let source = program.funcs.at(func);
    let (params, results, name) = (source.param_types(), source.results.clone(), source.name);
    let given = |b: &mut Builder, prefix: &str, types: &[Ty]| -> Vec<Atom> {
        types.iter().enumerate().map(|(i, ty)| b.param(format!("{prefix}{i}").as_str().into(), *ty)).collect()
    };
    let mut b = Builder::new(format!("{name}_jvp").as_str().into());
    let (args, tangents) = (given(&mut b, "x", &params), given(&mut b, "dx", &params));
    let tangents = tangents.into_iter().map(Some).collect();
    let outs = b.emit(program, Op::Jvp { func, args, tangents });
    let jvp = program.funcs.push(b.finish(outs));

    let kept = Data { name: format!("{name}_kept").as_str().into(), role: Role::Residual, ctors: Vec::new() };
    let residual = program.data.push(kept);
    let linear = program.linears.push(Linear { func, active: vec![true; params.len()], residual });
    let mut b = Builder::new(format!("{name}_vjp").as_str().into());
    let (args, cotangents) = (given(&mut b, "x", &params), given(&mut b, "dy", &results));
    let mut outs = b.emit(program, Op::Linearize { linear, args });
    let residual = outs.pop().unwrap_or(Atom::Unit);
    outs.extend(b.emit(program, Op::Backward { linear, residual, cotangents }));
    let vjp = program.funcs.push(b.finish(outs));
    (jvp, vjp)
}

#[cfg(test)]
mod tests;
