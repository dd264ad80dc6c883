//! The lowering under way: functions that are asked for and made one after the other, and the function being made.
//!
//! Code is made on demand. Asking for a function ([`Lower::request`]) gives its number at once and puts it on the list;
//! so recursion needs nothing special, and what nobody calls is not there. A function is made as a list of blocks
//! under construction; statements go into the last one.

use crate::layout::{Rep, Rows};
use crate::tree::{DataIx, Flow, LamId, SiteId, Tree, Type, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_ir::op::{Atom, Block, Compare, IntOp, Op, Requirement, Stmt, Var};
use wengert_ir::program::{Func, FuncId, LinearId, VarInfo};
use wengert_ir::ty::{DataId, Table, Ty};
use wengert_mono::simple::Shown;
use wengert_prim::RealOp;

/// What a function is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The program's term, applied to so many arguments.
    Entry,
    /// The code of a lambda: what it has captured, then its parameters.
    Lam(LamId),
    /// A function of the class, then so many arguments.
    Apply(Flow, usize),
    /// `\t -> apply_dual d (snd (jvp f (x, t)))` with `d`, `f`, `x` captured.
    Functional(SiteId),
    /// Whether two values are equal.
    Equal(Type),
    /// The text of a value that holds records so; as the argument of a constructor.
    Show(Type, Shown, bool),
    /// A vector operation.
    Vector(Vector, Type),
}

/// A vector operation on values of a type, as a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vector {
    /// A point to its zero tangent.
    Zero,
    /// The sum of two.
    Add,
    /// A factor and a vector.
    Scale,
    /// A sum so far, and two vectors: the sum with their products.
    Inner,
    /// As `Inner`, but zero times anything is zero, and shapes are checked as `apply_dual` does.
    Pair,
    /// How many reals there are.
    Count,
    /// A value, an array and a place there: the array with the reals from that place on, and the place after them.
    Fill,
    /// A value, an array and a place there: the value with the reals from that place on, and the place after them.
    Take,
}

/// The lowering.
pub(crate) struct Lower<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) program: wengert_ir::Program,
    /// Sources that are not the user's own.
    pub(crate) is_library: &'a dyn Fn(SourceId) -> bool,
    /// How many arguments the entry takes at most.
    pub(crate) arity: usize,
    pub(crate) errors: Vec<Diagnostic>,
    /// How arrays stand in the elements of arrays.
    rows: Rows,
    /// The objects that hold such arrays, if each stands by itself.
    pub(crate) boxes: FxHashMap<Ty, DataId>,
    /// Whether arrays stand in elements where they may differ in size.
    pub(crate) uneven: bool,

    pub(crate) reps: FxHashMap<Flow, Rep>,
    pub(crate) deciding: FxHashSet<Flow>,
    pub(crate) unfinished_classes: Vec<(Flow, DataId)>,
    /// The types of tangents of classes that have any.
    pub(crate) tangents: FxHashMap<Flow, DataId>,
    pub(crate) data: FxHashMap<DataIx, DataId>,
    pub(crate) unfinished_data: Vec<DataIx>,
    pub(crate) residuals: FxHashMap<SiteId, DataId>,
    pub(crate) linears: FxHashMap<SiteId, LinearId>,
    /// Linearizations whose function is known.
    pub(crate) known_linears: FxHashSet<SiteId>,

    funcs: FxHashMap<Key, FuncId>,
    pub(crate) queue: VecDeque<(Key, Type, FuncId)>,
    pub(crate) current: Current,
}

/// The function being made.
#[derive(Default)]
pub(crate) struct Current {
    pub(crate) vars: Table<Var, VarInfo>,
    /// Where variables are.
    pub(crate) env: FxHashMap<VarId, Vec<Atom>>,
    blocks: Vec<Vec<Stmt>>,
    span: Option<Span>,
    /// Variables whose names say nothing yet.
    unnamed: FxHashSet<Var>,
}

/// A data type has at most so many values of which none says what it is for.
const UNNAMED: &str = "t";

impl<'a> Lower<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        is_library: &'a dyn Fn(SourceId) -> bool,
        arity: usize,
        rows: Rows,
    ) -> Lower<'a> {
        Lower {
            tree,
            program: wengert_ir::Program::default(),
            is_library,
            arity,
            errors: Vec::new(),
            rows,
            boxes: FxHashMap::default(),
            uneven: false,
            reps: FxHashMap::default(),
            deciding: FxHashSet::default(),
            unfinished_classes: Vec::new(),
            tangents: FxHashMap::default(),
            data: FxHashMap::default(),
            unfinished_data: Vec::new(),
            residuals: FxHashMap::default(),
            linears: FxHashMap::default(),
            known_linears: FxHashSet::default(),
            funcs: FxHashMap::default(),
            queue: VecDeque::new(),
            current: Current::default(),
        }
    }

    /// Whether arrays in the elements of arrays stand by themselves.
    pub(crate) fn ragged(&self) -> bool {
        self.rows == Rows::Ragged
    }

    /// The function for a purpose, made later. `ty` is what its maker needs to know besides.
    pub(crate) fn request(&mut self, key: Key, ty: Type, name: Name, results: Vec<Ty>) -> FuncId {
        if let Some(known) = self.funcs.get(&key) {
            return *known;
        }
        let func =
            Func { name, results, vars: Table::default(), body: Block::default(), span: Span::NOWHERE };
        let id = self.program.funcs.push(func);
        self.funcs.insert(key.clone(), id);
        self.queue.push_back((key, ty, id));
        id
    }

    /// Makes the body of a function with these parameters; `body` gets them.
    pub(crate) fn define(
        &mut self,
        id: FuncId,
        span: Span,
        params: &[(Name, Ty)],
        body: impl FnOnce(&mut Self, Vec<Atom>) -> Vec<Atom>,
    ) {
        self.current = Current { span: Some(span), ..Current::default() };
        let vars: Vec<Var> = params.iter().map(|(name, ty)| self.variable(*name, *ty)).collect();
        self.open();
        let results = body(self, vars.iter().copied().map(Atom::Var).collect());
        let stmts = self.close();
        let current = std::mem::take(&mut self.current);
        let func = self.program.funcs.at_mut(id);
        func.vars = current.vars;
        func.body = Block { params: vars, stmts, results };
        func.span = span;
    }

    /// Where the source's expression is.
    pub(crate) fn span(&self) -> Span {
        self.current.span.unwrap_or(Span::NOWHERE)
    }

    /// Runs `walk` on behalf of the expression at `span`, or, if that is in a library, of the nearest around it that is not.
    pub(crate) fn spanned<R>(&mut self, span: Span, walk: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.current.span;
        let is_library = |span: &Span| (self.is_library)(span.source) || span.is_nowhere();
        if outer.is_none_or(|outer| !is_library(&span) || is_library(&outer)) {
            self.current.span = Some(span);
        }
        let result = walk(self);
        self.current.span = outer;
        result
    }

    /// A new variable.
    pub(crate) fn variable(&mut self, name: Name, ty: Ty) -> Var {
        self.current.vars.push(VarInfo { name, ty })
    }

    /// A new variable whose name is left to whoever binds it.
    pub(crate) fn unnamed(&mut self, ty: Ty) -> Var {
        self.called(UNNAMED, ty)
    }

    /// A new variable with a name that gives way to one of the source.
    pub(crate) fn called(&mut self, name: &str, ty: Ty) -> Var {
        let var = self.variable(Name::new(name), ty);
        self.current.unnamed.insert(var);
        var
    }

    /// The values of a tuple, which get better names when it is taken apart.
    pub(crate) fn rename_later(&mut self, atoms: &[Atom]) {
        self.current.unnamed.extend(atoms.iter().filter_map(Atom::var));
    }

    /// Variables among `atoms` that have no name yet get this one; `for_good` if no later one is better.
    pub(crate) fn name(&mut self, atoms: &[Atom], name: Name, for_good: bool) {
        for atom in atoms {
            if let Atom::Var(var) = atom
                && self.current.unnamed.contains(var)
            {
                self.current.vars.at_mut(*var).name = name;
                if for_good {
                    self.current.unnamed.remove(var);
                }
            }
        }
    }

    /// The type of an operand.
    pub(crate) fn ty(&self, atom: &Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.current.vars.at(*var).ty,
            Atom::Real(_) => Ty::REAL,
            Atom::Int(_) => Ty::INT,
            Atom::Bool(_) => Ty::BOOL,
            Atom::Text(_) => Ty::TEXT,
            Atom::Unit => Ty::Scalar(wengert_ir::Elem::Unit),
        }
    }

    /// Begins a block.
    pub(crate) fn open(&mut self) {
        self.current.blocks.push(Vec::new());
    }

    /// Ends a block.
    pub(crate) fn close(&mut self) -> Vec<Stmt> {
        self.current.blocks.pop().unwrap_or_default()
    }

    /// A block without parameters.
    pub(crate) fn block(&mut self, body: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        self.block_of(Vec::new(), body)
    }

    /// A block with parameters.
    pub(crate) fn block_of(&mut self, params: Vec<Var>, body: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        self.open();
        let results = body(self);
        Block { params, stmts: self.close(), results }
    }

    /// Computes something whose results are of these types.
    pub(crate) fn emit(&mut self, op: Op, types: &[Ty]) -> Vec<Atom> {
        let outs: Vec<Var> = types.iter().map(|ty| self.unnamed(*ty)).collect();
        let stmt = Stmt { outs: outs.clone(), op, span: self.span() };
        if let Some(block) = self.current.blocks.last_mut() {
            block.push(stmt);
        }
        outs.into_iter().map(Atom::Var).collect()
    }

    /// Computes something with one result.
    pub(crate) fn one(&mut self, op: Op, ty: Ty) -> Atom {
        self.emit(op, &[ty]).pop().unwrap_or(Atom::Unit)
    }

    pub(crate) fn real(&mut self, op: RealOp, args: Vec<Atom>) -> Atom {
        self.one(Op::Real(op, args), Ty::REAL)
    }

    pub(crate) fn int(&mut self, op: IntOp, args: Vec<Atom>) -> Atom {
        self.one(Op::Int(op, args), Ty::INT)
    }

    pub(crate) fn compare(&mut self, op: Compare, a: Atom, b: Atom) -> Atom {
        self.one(Op::Compare(op, a, b), Ty::BOOL)
    }

    pub(crate) fn require(&mut self, what: Requirement, left: Atom, right: Atom) {
        if left != right {
            self.emit(Op::Require { what, left, right }, &[]);
        }
    }

    pub(crate) fn call(&mut self, func: FuncId, args: Vec<Atom>) -> Vec<Atom> {
        let results = self.program.funcs.at(func).results.clone();
        self.emit(Op::Call { func, args, checkpoint: false }, &results)
    }

    /// `if`, with results of these types.
    pub(crate) fn branch(
        &mut self,
        cond: Atom,
        types: &[Ty],
        then: impl FnOnce(&mut Self) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.emit(Op::If { cond, then, otherwise }, types)
    }
}
