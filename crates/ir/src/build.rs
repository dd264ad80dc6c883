//! Making functions: a [`Builder`] appends statements with fresh variables, and copies code from elsewhere.
//!
//! ```
//! use wengert_ir::{Atom, Builder, Program, Ty};
//! use wengert_prim::RealOp;
//! let mut program = Program::default();
//! let mut b = Builder::new("square_plus".into());
//! let (x, y) = (b.param("x".into(), Ty::REAL), b.param("y".into(), Ty::REAL));
//! let square = b.called("square").real(RealOp::Mul, [x.clone(), x]);
//! let sum = b.real(RealOp::Add, [square, y]);
//! program.funcs.push(b.finish(vec![sum]));
//! ```
//!
//! Blocks are opened and closed: statements go into the innermost open one.

use crate::op::{ArrayOp, Atom, Block, Compare, Convert, IntOp, Loop, Op, Stmt, Var, While};
use crate::program::{Func, FuncId, Program};
use crate::ty::{DataId, Elem, Table, Ty};
use crate::typing;
use crate::visit::{deep, flat_op};
use rustc_hash::FxHashMap;
use wengert_base::{Name, Span};
use wengert_prim::RealOp;

/// A function under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    func: Func,
    /// The blocks around the innermost open one, outermost first.
    around: Vec<Block>,
    /// The innermost open block.
    block: Block,
    /// What the next statement's variables are called.
    name: Option<Name>,
    span: Span,
}

impl Builder {
    /// A function without parameters and statements so far.
    pub fn new(name: Name) -> Builder {
        let func = Func {
            name,
            results: Vec::new(),
            vars: Table::default(),
            body: Block::default(),
            span: Span::NOWHERE,
        };
        Builder { func, around: Vec::new(), block: Block::default(), name: None, span: Span::NOWHERE }
    }

    /// Goes on with a function: statements are appended to its body, whose results are taken away and given here.
    pub fn resume(mut func: Func) -> (Builder, Vec<Atom>) {
        let mut block = std::mem::take(&mut func.body);
        let results = std::mem::take(&mut block.results);
        let span = func.span;
        (Builder { func, around: Vec::new(), block, name: None, span }, results)
    }

    /// The function so far; its body is not there yet.
    pub fn func(&self) -> &Func {
        &self.func
    }

    /// The parameters of the function so far.
    pub fn params(&self) -> &[Var] {
        &self.around.first().unwrap_or(&self.block).params
    }

    /// The statements of the innermost open block so far.
    pub fn so_far(&self) -> &[Stmt] {
        &self.block.stmts
    }

    /// The function, with these results.
    pub fn finish(mut self, results: Vec<Atom>) -> Func {
        while !self.around.is_empty() {
            self.close(Vec::new());
        }
        self.func.results = results.iter().map(|atom| self.func.type_of(atom)).collect();
        self.func.body = Block { results, ..self.block };
        self.func
    }

    /// The source of the function.
    pub fn set_func_span(&mut self, span: Span) {
        self.func.span = span;
    }

    /// The source of the statements that follow.
    pub fn set_span(&mut self, span: Span) -> &mut Builder {
        self.span = span;
        self
    }

    /// The source of the statements that follow, as set last.
    pub fn span(&self) -> Span {
        self.span
    }

    /// What the variables of the next statement are called.
    pub fn called(&mut self, name: impl Into<Name>) -> &mut Builder {
        self.name = Some(name.into());
        self
    }

    /// A further parameter of the innermost open block: of the function, if none is open.
    pub fn param(&mut self, name: Name, ty: Ty) -> Atom {
        let var = self.func.fresh(name, ty);
        self.block.params.push(var);
        Atom::Var(var)
    }

    /// A variable that is not bound yet.
    pub fn fresh(&mut self, name: Name, ty: Ty) -> Var {
        self.func.fresh(name, ty)
    }

    /// The type of an operand.
    pub fn type_of(&self, atom: &Atom) -> Ty {
        self.func.type_of(atom)
    }

    /// The name of an operand that is a variable.
    pub fn name_of(&self, atom: &Atom) -> Option<Name> {
        Some(self.func.vars.get(atom.var()?)?.name)
    }

    /// Opens a block inside the innermost one.
    pub fn open(&mut self) {
        self.around.push(std::mem::take(&mut self.block));
    }

    /// Closes the innermost block.
    pub fn close(&mut self, results: Vec<Atom>) -> Block {
        let outer = self.around.pop().unwrap_or_default();
        Block { results, ..std::mem::replace(&mut self.block, outer) }
    }

    /// A block with these parameters, made by a function that gives its results.
    pub fn block(
        &mut self,
        params: &[(Name, Ty)],
        body: impl FnOnce(&mut Builder, Vec<Atom>) -> Vec<Atom>,
    ) -> Block {
        self.open();
        let params = params.iter().map(|(name, ty)| self.param(*name, *ty)).collect();
        let results = body(self, params);
        self.close(results)
    }

    /// Appends a statement as it is.
    pub fn push(&mut self, stmt: Stmt) {
        self.block.stmts.push(stmt);
    }

    /// Appends an operation whose results have these types.
    pub fn typed(&mut self, types: &[Ty], op: Op) -> Vec<Atom> {
        let name = self.name.take();
        let outs: Vec<Var> =
            types.iter().map(|ty| self.func.fresh(name.unwrap_or_else(|| default_name(*ty)), *ty)).collect();
        let atoms = outs.iter().copied().map(Atom::Var).collect();
        self.block.stmts.push(Stmt { outs, op, span: self.span });
        atoms
    }

    /// Appends an operation whose results have these names and types.
    pub fn named(&mut self, outs: &[(Name, Ty)], op: Op) -> Vec<Atom> {
        self.name = None;
        let outs: Vec<Var> = outs.iter().map(|(name, ty)| self.func.fresh(*name, *ty)).collect();
        let atoms = outs.iter().copied().map(Atom::Var).collect();
        self.block.stmts.push(Stmt { outs, op, span: self.span });
        atoms
    }

    /// Appends an operation with a result of this type.
    pub fn typed1(&mut self, ty: Ty, op: Op) -> Atom {
        self.typed(&[ty], op).pop().unwrap_or(Atom::Unit)
    }

    /// Appends any operation that returns. What is ill typed has no results: the verifier tells why.
    pub fn emit(&mut self, program: &Program, op: Op) -> Vec<Atom> {
        let types = typing::types_of(program, &self.func.vars, &op).unwrap_or_default();
        self.typed(&types, op)
    }

    /// Appends any operation with one result.
    pub fn emit1(&mut self, program: &Program, op: Op) -> Atom {
        self.emit(program, op).pop().unwrap_or(Atom::Unit)
    }

    /// Arithmetic on reals.
    pub fn real(&mut self, op: RealOp, args: impl Into<Vec<Atom>>) -> Atom {
        self.typed1(Ty::REAL, Op::Real(op, args.into()))
    }

    /// Arithmetic on integers.
    pub fn int(&mut self, op: IntOp, args: impl Into<Vec<Atom>>) -> Atom {
        self.typed1(Ty::INT, Op::Int(op, args.into()))
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, x: Atom, y: Atom) -> Atom {
        self.typed1(Ty::BOOL, Op::Compare(op, x, y))
    }

    /// A conversion.
    pub fn convert(&mut self, op: Convert, x: Atom) -> Atom {
        let ty = match op {
            Convert::IntToReal => Ty::REAL,
            Convert::IsNan => Ty::BOOL,
            Convert::Floor | Convert::Ceil | Convert::Round | Convert::Truncate => Ty::INT,
        };
        self.typed1(ty, Op::Convert(op, x))
    }

    /// One of two operands.
    pub fn select(&mut self, cond: Atom, then: Atom, otherwise: Atom) -> Atom {
        let ty = self.type_of(&then);
        self.typed1(ty, Op::Select { cond, then, otherwise })
    }

    /// An array operation. What is ill typed gives `()`: the verifier tells why.
    pub fn array(&mut self, op: ArrayOp, args: impl Into<Vec<Atom>>) -> Atom {
        let op = Op::Array(op, args.into());
        // No array operation looks at the program but for the names in messages.
        let types = typing::types_of(&Program::default(), &self.func.vars, &op).unwrap_or_default();
        self.typed(&types, op).pop().unwrap_or(Atom::Unit)
    }

    /// A constructor with its fields.
    pub fn make(&mut self, data: DataId, ctor: u32, fields: impl Into<Vec<Atom>>) -> Atom {
        self.typed1(Ty::Scalar(Elem::Data(data)), Op::Make { data, ctor, fields: fields.into() })
    }

    /// A call of a function whose results have these types.
    pub fn call(&mut self, func: FuncId, args: impl Into<Vec<Atom>>, results: &[Ty]) -> Vec<Atom> {
        self.typed(results, Op::Call { func, args: args.into(), checkpoint: false })
    }

    /// One of two blocks, which give results of the same types.
    pub fn if_else(&mut self, cond: Atom, then: Block, otherwise: Block) -> Vec<Atom> {
        let types: Vec<Ty> = then.results.iter().map(|atom| self.type_of(atom)).collect();
        self.typed(&types, Op::If { cond, then, otherwise })
    }

    /// Appends a copy of a block of `from`, whose parameters stand for `args`; gives its results. Variables that the
    /// block does not bind stand for what `copier` says.
    pub fn inline(&mut self, copier: &mut Copier<'_>, block: &Block, args: &[Atom]) -> Vec<Atom> {
        for (param, arg) in block.params.iter().zip(args) {
            copier.set(*param, arg.clone());
        }
        for stmt in &block.stmts {
            let stmt = copier.stmt(&mut self.func, stmt);
            self.block.stmts.push(stmt);
        }
        block.results.iter().map(|atom| copier.atom(atom)).collect()
    }

    /// Appends a copy of the body of a function, applied to `args`; gives its results.
    pub fn inline_func(&mut self, func: &Func, args: &[Atom]) -> Vec<Atom> {
        self.inline(&mut Copier::new(func), &func.body, args)
    }
}

/// What a result of that type is called if nothing better is known.
fn default_name(ty: Ty) -> Name {
    let text = match ty {
        Ty::Scalar(Elem::Real) => "t",
        Ty::Scalar(Elem::Int) => "k",
        Ty::Scalar(Elem::Bool) => "c",
        Ty::Scalar(Elem::Text) => "text",
        Ty::Scalar(Elem::Unit) => "unit",
        Ty::Scalar(Elem::Data(_)) => "d",
        Ty::Array(..) => "ts",
    };
    text.into()
}

/// Copies code of a function into another one (or the same), with fresh variables for all that it binds.
#[derive(Debug)]
pub struct Copier<'a> {
    /// The function that the code is of, if that is another one.
    from: Option<&'a Func>,
    meaning: FxHashMap<Var, Atom>,
}

impl<'a> Copier<'a> {
    /// For code of this function. What is neither bound by the code nor [`Copier::set`] is left as it is.
    pub fn new(from: &'a Func) -> Copier<'a> {
        Copier { from: Some(from), meaning: FxHashMap::default() }
    }

    /// For code of the function into which it is copied.
    pub fn within() -> Copier<'a> {
        Copier { from: None, meaning: FxHashMap::default() }
    }

    /// From here on `var` stands for `atom`.
    pub fn set(&mut self, var: Var, atom: Atom) {
        self.meaning.insert(var, atom);
    }

    /// What an operand of the code is in the copy.
    pub fn atom(&self, atom: &Atom) -> Atom {
        let known = atom.var().and_then(|var| self.meaning.get(&var));
        known.unwrap_or(atom).clone()
    }

    /// A fresh variable for one of the code.
    pub fn bind(&mut self, into: &mut Func, var: Var) -> Var {
        let info = *self.from.map_or(&into.vars, |from| &from.vars).at(var);
        let copy = into.vars.push(info);
        self.meaning.insert(var, Atom::Var(copy));
        copy
    }

    /// A copy of a statement.
    pub fn stmt(&mut self, into: &mut Func, stmt: &Stmt) -> Stmt {
        let op = self.op(into, &stmt.op);
        let outs = stmt.outs.iter().map(|var| self.bind(into, *var)).collect();
        Stmt { outs, op, span: stmt.span }
    }

    /// A copy of an operation.
    pub fn op(&mut self, into: &mut Func, op: &Op) -> Op {
        deep(|| match op {
            Op::Match { on, arms } => {
                let on = self.atom(on);
                Op::Match { on, arms: arms.iter().map(|arm| self.block(into, arm)).collect() }
            }
            Op::If { cond, then, otherwise } => {
                let (cond, then) = (self.atom(cond), self.block(into, then));
                Op::If { cond, then, otherwise: self.block(into, otherwise) }
            }
            Op::Loop(parts) => Op::Loop(Box::new(Loop {
                mode: parts.mode,
                backward: parts.backward,
                len: self.atom(&parts.len),
                inputs: self.atoms(&parts.inputs),
                init: self.atoms(&parts.init),
                accs: self.atoms(&parts.accs),
                body: self.block(into, &parts.body),
            })),
            Op::While(parts) => {
                let (init, cond) = (self.atoms(&parts.init), self.block(into, &parts.cond));
                Op::While(Box::new(While { init, cond, body: self.block(into, &parts.body) }))
            }
            flat @ flat_op!() => {
                let mut flat = flat.clone();
                flat.for_each_atom_mut(&mut |atom| *atom = self.atom(atom));
                flat
            }
        })
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.atom(atom)).collect()
    }

    /// A copy of a block, parameters included.
    pub fn block(&mut self, into: &mut Func, block: &Block) -> Block {
        let params = block.params.iter().map(|var| self.bind(into, *var)).collect();
        let stmts = block.stmts.iter().map(|stmt| self.stmt(into, stmt)).collect();
        Block { params, stmts, results: self.atoms(&block.results) }
    }
}
