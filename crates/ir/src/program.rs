//! Functions and programs.

use crate::op::{Atom, Block, Var};
use crate::ty::{Data, DataId, Id, Table, Ty, ids};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use wengert_base::{Name, Span};

ids! {
    /// A function of a program.
    FuncId;
    /// A linearization of a program, see [`Linear`].
    LinearId;
}

/// A program: closed, with entry points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Data types.
    pub data: Table<DataId, Data>,
    /// Functions. They may call each other in any order.
    pub funcs: Table<FuncId, Func>,
    /// Linearizations that [`crate::Op::Linearize`] asks for. None is left after the derivatives are made.
    pub linears: Table<LinearId, Linear>,
    /// Functions that can be called from outside, by the source's name.
    pub entries: IndexMap<Name, FuncId>,
    /// Of expressions like `a[i][j]` that are one operation: where in the source `a[i]` stands, and so on. For messages.
    pub rows: BTreeMap<Span, Vec<Span>>,
}

impl Program {
    /// What is to blame if an index is out of range that so many others come after, in an operation of this place.
    pub fn indexed(&self, whole: Span, after: usize) -> Span {
        let rows = self.rows.get(&whole).map_or(&[][..], Vec::as_slice);
        rows.len().checked_sub(after).and_then(|row| rows.get(row)).copied().unwrap_or(whole)
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Its name: that of the source's definition, or what it is for, made unique by the printer.
    pub name: Name,
    /// Types of its results.
    pub results: Vec<Ty>,
    /// All variables of the body, parameters included. Each is bound exactly once.
    pub vars: Table<Var, VarInfo>,
    /// Parameters and body.
    pub body: Block,
    /// The source's definition.
    pub span: Span,
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarInfo {
    /// The source's name, or what it is for.
    pub name: Name,
    /// Its type.
    pub ty: Ty,
}

/// The linearization of a function in some of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The function.
    pub func: FuncId,
    /// For each parameter, whether it varies.
    pub active: Vec<bool>,
    /// What is kept from the primal part: a data type with role [`crate::ty::Role::Residual`], without constructors until the
    /// derivative is made.
    pub residual: DataId,
}

impl Func {
    /// A new variable.
    pub fn fresh(&mut self, name: Name, ty: Ty) -> Var {
        self.vars.push(VarInfo { name, ty })
    }

    /// The operands of [`crate::op::ArrayOp::AddProduct`]: the array, the indices, the factors.
    pub fn product<'t>(&self, args: &'t [Atom]) -> Option<(&'t Atom, &'t [Atom], &'t [Atom])> {
        let (array, rest) = args.split_first()?;
        let indices = rest.iter().take_while(|atom| self.type_of(atom) == Ty::INT).count();
        let (indices, factors) = rest.split_at(indices);
        Some((array, indices, factors))
    }

    /// The type of a variable.
    pub fn ty(&self, var: Var) -> Ty {
        self.vars.at(var).ty
    }
}
