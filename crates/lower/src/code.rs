//! Terms to statements: one case for each kind of term, in the order of evaluation.

use crate::context::Lower;
use crate::tree::{Kind, Node, Type, VarId};
use std::sync::Arc;
use wengert_base::Name;
use wengert_ir as ir;
use wengert_ir::op::{ArrayOp, Atom, Compare, Op, Requirement, Var};
use wengert_mono::simple::Shown;

impl Lower<'_> {
    /// The values of a term.
    pub(crate) fn term(&mut self, node: &Node) -> Vec<Atom> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.spanned(node.span, |lower| lower.term_inner(node))
        })
    }

    /// The value of a term whose type takes one.
    pub(crate) fn single(&mut self, node: &Node) -> Atom {
        self.term(node).pop().unwrap_or(Atom::Unit)
    }

    /// The values of terms, from left to right.
    pub(crate) fn all(&mut self, nodes: &[Node]) -> Vec<Atom> {
        nodes.iter().flat_map(|node| self.term(node)).collect()
    }

    fn term_inner(&mut self, node: &Node) -> Vec<Atom> {
        match &node.kind {
            Kind::Var(var) => self.read(*var, &node.ty),
            Kind::Real(x) => vec![Atom::Real(*x)],
            Kind::Int(n) => vec![Atom::Int(*n)],
            Kind::Bool(b) => vec![Atom::Bool(*b)],
            Kind::Text(text) => vec![Atom::Text(Arc::clone(text))],
            Kind::Lam(lam) => {
                let captured = self.captured(*lam);
                self.lambda_value(*lam, 0, captured, &node.ty)
            }
            Kind::App(func, args) => self.application(func, args),
            Kind::Let(var, value, body) => {
                self.bind_let(*var, value);
                self.term(body)
            }
            Kind::LetRec(_, body) => self.term(body),
            Kind::If(cond, then, otherwise) => {
                let cond = self.single(cond);
                let types = self.flat(&node.ty);
                self.branch(cond, &types, |lower| lower.term(then), |lower| lower.term(otherwise))
            }
            Kind::Tuple(items) => self.all(items),
            Kind::Proj(tuple, index) => self.projection(tuple, *index),
            Kind::Prim(prim, args) => self.primitive(*prim, args, &node.ty),
            Kind::Derive(operator, site, args) => self.derive(*operator, *site, args, &node.ty),
            Kind::Ctor(index, fields) => {
                let fields = self.all(fields);
                self.construct(&node.ty, *index, fields)
            }
            Kind::Case(scrutinee, arms) => self.case(scrutinee, arms, &node.ty),
            Kind::Array(items) => self.array_literal(items, &node.ty),
            Kind::CheckSize { array, axis, expected, name } => self.check_size(array, *axis, expected, *name),
        }
    }

    /// Where a variable is; a function that a `let` binds is made on the spot.
    pub(crate) fn read(&mut self, var: VarId, ty: &Type) -> Vec<Atom> {
        if let Some(lam) = self.tree.vars.at(var).known {
            let captured = self.captured(lam);
            return self.lambda_value(lam, 0, captured, ty);
        }
        self.current.env.get(&var).cloned().unwrap_or_default()
    }

    /// The value of a variable is these atoms from now on.
    pub(crate) fn bind(&mut self, var: VarId, atoms: Vec<Atom>) {
        let info = self.tree.vars.at(var);
        // The components of a tuple may get better names when it is taken apart.
        let for_good = !matches!(info.ty, Type::Tuple(_));
        if info.shown.is_some() {
            for (atom, (name, _)) in atoms.iter().zip(self.signature_of(var)) {
                self.name(std::slice::from_ref(atom), name, for_good);
            }
        } else {
            self.name(&atoms, info.name, for_good);
        }
        self.current.env.insert(var, atoms);
    }

    /// A `let` without its body.
    pub(crate) fn bind_let(&mut self, var: VarId, value: &Node) {
        if self.tree.vars.at(var).known.is_none() {
            let atoms = self.term(value);
            self.bind(var, atoms);
        }
    }

    /// Values of type `ty` taken apart into the values of its components.
    pub(crate) fn split(&mut self, types: &[Type], atoms: Vec<Atom>) -> Vec<Vec<Atom>> {
        let mut atoms = atoms.into_iter();
        types.iter().map(|ty| atoms.by_ref().take(self.flat(ty).len()).collect()).collect()
    }

    /// New variables for a variable of the source.
    pub(crate) fn parameters(&mut self, var: VarId) -> Vec<Var> {
        let info = self.tree.vars.at(var);
        let types = self.flat(&info.ty);
        let vars: Vec<Var> = types.into_iter().map(|ty| self.unnamed(ty)).collect();
        self.bind(var, vars.iter().copied().map(Atom::Var).collect());
        vars
    }

    fn projection(&mut self, tuple: &Node, index: usize) -> Vec<Atom> {
        let atoms = self.term(tuple);
        let Type::Tuple(items) = &tuple.ty else { return atoms };
        let parts = self.split(items, atoms);
        parts.into_iter().nth(index).unwrap_or_default()
    }

    /// A constructor of a declared type.
    pub(crate) fn construct(&mut self, ty: &Type, ctor: u32, fields: Vec<Atom>) -> Vec<Atom> {
        let types = self.flat(ty);
        let Some(ir::Elem::Data(data)) = types.first().map(|ty| ty.elem()) else { return Vec::new() };
        self.emit(Op::Make { data, ctor, fields }, &types)
    }

    fn case(&mut self, scrutinee: &Node, arms: &[(Vec<VarId>, Node)], ty: &Type) -> Vec<Atom> {
        let on = self.single(scrutinee);
        let types = self.flat(ty);
        let mut blocks = Vec::with_capacity(arms.len());
        for (vars, body) in arms {
            let params = vars.iter().flat_map(|var| self.parameters(*var)).collect();
            blocks.push(self.block_of(params, |lower| lower.term(body)));
        }
        self.emit(Op::Match { on, arms: blocks }, &types)
    }

    fn array_literal(&mut self, items: &[Node], ty: &Type) -> Vec<Atom> {
        let elem = ty.elem();
        let rows = self.rows(&elem);
        let mut columns: Vec<Vec<Atom>> = vec![Vec::with_capacity(items.len()); rows.len()];
        for item in items {
            let atoms = self.row_of(item);
            columns.iter_mut().zip(atoms).for_each(|(column, atom)| column.push(atom));
        }
        let mut arrays = Vec::with_capacity(rows.len());
        for (row, column) in rows.into_iter().zip(columns) {
            let array = self.array_of(row);
            let op = if column.is_empty() {
                Op::Array(ArrayOp::Empty(array.elem(), array.rank()), Vec::new())
            } else {
                Op::Array(ArrayOp::Literal, column)
            };
            arrays.push(self.one(op, array));
        }
        arrays
    }

    /// The array, if its size is right.
    fn check_size(&mut self, array: &Node, axis: u32, expected: &Node, name: Name) -> Vec<Atom> {
        let expected = self.single(expected);
        let arrays = self.term(array);
        if let (Some(first), Ok(place)) = (arrays.first().cloned(), u8::try_from(axis)) {
            let length = |lower: &mut Self, place| {
                lower.one(Op::Array(ArrayOp::Length(place), vec![first.clone()]), ir::Ty::INT)
            };
            let what = Requirement::NamedSize(name, axis);
            if axis == 0 {
                let size = length(self, place);
                self.require(what, expected, size);
            } else {
                // Without rows there is no row of a wrong size.
                let rows = length(self, place - 1);
                let some = self.compare(Compare::Gt, rows, Atom::Int(0));
                let check = |lower: &mut Self| {
                    let size = length(lower, place);
                    lower.require(what, expected, size);
                    Vec::new()
                };
                self.branch(some, &[], check, |_| Vec::new());
            }
        }
        arrays
    }

    /// The row of an array for an element.
    pub(crate) fn row_of(&mut self, node: &Node) -> Vec<Atom> {
        let atoms = self.term(node);
        self.packed(&node.ty, atoms)
    }

    /// The names and types of the parameters that stand for a variable.
    pub(crate) fn signature_of(&mut self, var: VarId) -> Vec<(Name, ir::Ty)> {
        let info = self.tree.vars.at(var);
        let mut named = Vec::new();
        let (name, ty, shown) = (info.name, info.ty.clone(), info.shown.clone());
        self.named_parts(name, &ty, shown.as_ref(), &mut named);
        named
    }

    /// The values that a variable of this type is, which are called as the fields of a record.
    fn named_parts(&mut self, name: Name, ty: &Type, shown: Option<&Shown>, named: &mut Vec<(Name, ir::Ty)>) {
        match (ty, shown) {
            (Type::Tuple(items), Some(Shown::Record(fields))) if items.len() == fields.len() => {
                for (item, (field, shown)) in items.iter().zip(fields) {
                    self.named_parts(*field, item, Some(shown), named);
                }
            }
            _ => named.extend(self.flat(ty).into_iter().map(|ty| (name, ty))),
        }
    }
}
