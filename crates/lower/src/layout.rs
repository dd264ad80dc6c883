//! How values are represented in the IR.
//!
//! A tuple is its components, the empty one nothing. An array of tuples is an array for each component, and an array of
//! what takes no value is an array of [`wengert_ir::Elem::Unit`], which knows its size. A functional on a first-order type is a vector
//! of that type.
//!
//! So the arrays in the elements of an array are rows of an array with more axes, and must be of one size. In a program with ragged
//! rows ([`Rows::Ragged`]) each of them is an object of its own, a [`box`](Lower::boxed_row); rows of arrays of arrays agree in size
//! all the same, since the language says so.
//!
//! A class of functions that has one member is represented by what the member has captured, which may be nothing: calls
//! know whom they call. A class of several members, one whose member would hold itself, and one that derivative
//! operators see is a data type with a constructor for each member.

use crate::context::Lower;
use crate::errors;
use crate::tree::{DataIx, Elem, Flow, SiteId, Type};
use wengert_base::Name;
use wengert_ir as ir;
use wengert_ir::op::{Atom, Op};
use wengert_ir::ty::{Ctor, Data, DataId, Role};

/// A function is kept as at most so many values; what has captured more is put into one.
const MAX_INLINE: usize = 8;

/// How arrays stand in the elements of arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rows {
    /// As rows of an array with more axes. They must agree in size, else the program fails, whether the language demands it or not.
    #[default]
    Regular,
    /// Each by itself, where the language lets them differ in size: in tuples, records and functions.
    Ragged,
}

/// How the functions of a class are represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rep {
    /// There is none.
    Nothing,
    /// There is one: by what it has captured.
    Inline(Elem),
    /// By a constructor for each.
    Data(DataId),
}

impl Lower<'_> {
    /// The types of the values that a value of type `ty` takes.
    pub(crate) fn flat(&mut self, ty: &Type) -> Vec<ir::Ty> {
        let mut out = Vec::new();
        self.flatten(ty, &mut out);
        out
    }

    fn flatten(&mut self, ty: &Type, out: &mut Vec<ir::Ty>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real => out.push(ir::Ty::REAL),
            Type::Int => out.push(ir::Ty::INT),
            Type::Bool => out.push(ir::Ty::BOOL),
            Type::Text => out.push(ir::Ty::TEXT),
            Type::Tuple(items) => items.iter().for_each(|item| self.flatten(item, out)),
            Type::Dual(of) => self.flatten(of, out),
            Type::Array(elem) => {
                for row in self.rows(elem) {
                    out.push(self.array_of(row));
                }
            }
            Type::Data(data) => out.push(ir::Ty::Scalar(ir::Elem::Data(self.data(*data)))),
            Type::Fun(_, flow, _) => match self.rep(*flow) {
                Rep::Nothing => {}
                Rep::Inline(elem) => {
                    let captured = self.captured_types(elem);
                    out.extend(captured);
                }
                Rep::Data(data) => out.push(ir::Ty::Scalar(ir::Elem::Data(data))),
            },
        });
    }

    /// The types of the rows of an array of `elem`: one at least.
    pub(crate) fn rows(&mut self, elem: &Type) -> Vec<ir::Ty> {
        let mut rows = self.flat(elem);
        if rows.is_empty() {
            rows.push(ir::Ty::Scalar(ir::Elem::Unit));
        }
        if !matches!(elem, Type::Array(_)) {
            for row in rows.iter_mut().filter(|row| row.rank() > 0) {
                self.uneven = true;
                if self.ragged() {
                    *row = ir::Ty::Scalar(ir::Elem::Data(self.boxed_row(*row)));
                }
            }
        }
        rows
    }

    /// The objects that hold arrays of type `ty` in the elements of arrays, so that each has its own size.
    fn boxed_row(&mut self, ty: ir::Ty) -> DataId {
        if let Some(known) = self.boxes.get(&ty) {
            return *known;
        }
        let name = Name::new("Row");
        let data = Data { name, role: Role::Declared, ctors: vec![Ctor { name, fields: vec![ty] }] };
        let id = self.program.data.push(data);
        self.boxes.insert(ty, id);
        id
    }

    /// The row of an array for an element.
    pub(crate) fn packed(&mut self, elem: &Type, mut atoms: Vec<Atom>) -> Vec<Atom> {
        if atoms.is_empty() {
            atoms.push(Atom::Unit);
        }
        let rows = self.rows(elem);
        atoms.into_iter().zip(rows).map(|(atom, row)| self.boxed(atom, row)).collect()
    }

    /// The element of an array in a row: nothing if it takes no value.
    pub(crate) fn unpacked(&mut self, elem: &Type, row: Vec<Atom>) -> Vec<Atom> {
        let types = self.flat(elem);
        row.into_iter().zip(types).map(|(atom, ty)| self.opened(atom, ty)).collect()
    }

    /// An array as one of type `ty`: in a box, if that is the type of one.
    fn boxed(&mut self, array: Atom, ty: ir::Ty) -> Atom {
        match ty {
            ir::Ty::Scalar(ir::Elem::Data(data)) if self.ty(&array).rank() > 0 => {
                self.one(Op::Make { data, ctor: 0, fields: vec![array] }, ty)
            }
            ir::Ty::Scalar(_) | ir::Ty::Array(..) => array,
        }
    }

    /// What has type `ty`, or is in a box.
    pub(crate) fn opened(&mut self, atom: Atom, ty: ir::Ty) -> Atom {
        if ty.rank() == 0 || self.ty(&atom).rank() > 0 {
            return atom;
        }
        let inner = self.called("x", ty);
        let arm = self.block_of(vec![inner], |_| vec![Atom::Var(inner)]);
        self.one(Op::Match { on: atom, arms: vec![arm] }, ty)
    }

    /// The type of arrays of `row`.
    pub(crate) fn array_of(&mut self, row: ir::Ty) -> ir::Ty {
        row.array_of().unwrap_or_else(|| {
            self.errors.push(errors::internal(self.span(), "an array has hundreds of axes"));
            row
        })
    }

    /// A declared type.
    pub(crate) fn data(&mut self, ix: DataIx) -> DataId {
        if let Some(known) = self.data.get(&ix) {
            return *known;
        }
        let info = self.tree.data.at(ix);
        let ctors = info.ctors.iter().map(|(name, _)| Ctor { name: *name, fields: Vec::new() }).collect();
        let id = self.program.data.push(Data { name: info.name, role: Role::Declared, ctors });
        self.data.insert(ix, id);
        self.unfinished_data.push(ix);
        id
    }

    /// How the functions of a class are represented.
    pub(crate) fn rep(&mut self, flow: Flow) -> Rep {
        let root = self.tree.flows.find(flow);
        if let Some(known) = self.reps.get(&root) {
            return *known;
        }
        let class = self.tree.flows.class(root);
        let only = if class.elems.len() == 1 { class.elems.first().copied() } else { None };
        let rep = match only {
            _ if class.active || class.boxed => self.by_constructors(root),
            None if class.elems.is_empty() => Rep::Nothing,
            None => self.by_constructors(root),
            // It holds itself.
            Some(_) if !self.deciding.insert(root) => self.by_constructors(root),
            Some(elem) => {
                let size = self.captured_types(elem).len();
                self.deciding.remove(&root);
                match self.reps.get(&root) {
                    Some(known) => *known,
                    None if size > MAX_INLINE => self.by_constructors(root),
                    None => Rep::Inline(elem),
                }
            }
        };
        self.reps.insert(root, rep);
        rep
    }

    fn by_constructors(&mut self, root: Flow) -> Rep {
        let data = Data { name: Name::new("Function"), role: Role::Closure, ctors: Vec::new() };
        let id = self.program.data.push(data);
        if self.tree.flows.class(root).active {
            let name = Name::new("Tangent");
            let tangent = Data { name, role: Role::Tangent(id), ctors: Vec::new() };
            let tangent = self.program.data.push(tangent);
            self.tangents.insert(root, tangent);
        }
        let rep = Rep::Data(id);
        self.reps.insert(root, rep);
        self.unfinished_classes.push((root, id));
        rep
    }

    /// The number of a member's constructor.
    pub(crate) fn ctor_of(&self, flow: Flow, elem: Elem) -> u32 {
        let place = self.tree.flows.class(flow).elems.get_index_of(&elem).unwrap_or_default();
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// The types of what a function has captured.
    pub(crate) fn captured_types(&mut self, elem: Elem) -> Vec<ir::Ty> {
        let mut out = Vec::new();
        match elem {
            Elem::Lam(lam, given) => {
                let tree = self.tree;
                let lambda = tree.lams.at(lam);
                for var in lambda.captures.iter().chain(lambda.params.iter().take(given as usize)) {
                    self.flatten(&tree.vars.at(*var).ty, &mut out);
                }
            }
            Elem::Back(site) | Elem::Forward(site) => {
                out.push(ir::Ty::Scalar(ir::Elem::Data(self.residual(site))));
            }
            Elem::TangentMap(site) => {
                let func = self.tree.sites.at(site).func.clone();
                self.flatten(&func, &mut out);
                self.flatten(&parameter(&func), &mut out);
            }
            Elem::Functional(site) => {
                let site = self.tree.sites.at(site);
                self.flatten(&site.functional, &mut out);
                self.flatten(&site.func, &mut out);
                self.flatten(&parameter(&site.func), &mut out);
            }
        }
        out
    }

    /// The residual of a call of a derivative operator.
    pub(crate) fn residual(&mut self, site: SiteId) -> DataId {
        if let Some(known) = self.residuals.get(&site) {
            return *known;
        }
        let data = Data { name: Name::new("Residual"), role: Role::Residual, ctors: Vec::new() };
        let id = self.program.data.push(data);
        self.residuals.insert(site, id);
        id
    }

    /// Fills in the fields of the types that were used. Returns whether there was anything to do.
    pub(crate) fn finish_types(&mut self) -> bool {
        let mut any = false;
        while let Some(ix) = self.unfinished_data.pop() {
            any = true;
            let info = self.tree.data.at(ix);
            for (index, (_, fields)) in info.ctors.iter().enumerate() {
                let fields: Vec<ir::Ty> = fields.iter().flat_map(|field| self.flat(field)).collect();
                let id = self.data(ix);
                if let Some(ctor) = self.program.data.at_mut(id).ctors.get_mut(index) {
                    ctor.fields = fields;
                }
            }
        }
        while let Some((root, id)) = self.unfinished_classes.pop() {
            any = true;
            let tree = self.tree;
            for elem in &tree.flows.class(root).elems {
                let (name, fields) = (self.elem_name(*elem), self.captured_types(*elem));
                self.program.data.at_mut(id).ctors.push(Ctor { name, fields });
            }
            if let Some(tangent) = self.tangents.get(&root) {
                let fields = [id, *tangent].map(|data| ir::Ty::Scalar(ir::Elem::Data(data))).to_vec();
                self.program.data.at_mut(id).ctors.push(Ctor { name: Name::new("tangent_of"), fields });
            }
        }
        any
    }

    fn elem_name(&self, elem: Elem) -> Name {
        match elem {
            Elem::Lam(lam, _) => self.tree.lams.at(lam).name,
            Elem::Back(_) => Name::new("back"),
            Elem::Forward(_) => Name::new("forward"),
            Elem::TangentMap(_) => Name::new("tangent_map"),
            Elem::Functional(_) => Name::new("functional"),
        }
    }
}

/// The type of a function's parameter.
pub(crate) fn parameter(func: &Type) -> Type {
    func.fun().map_or_else(Type::unit, |(from, _, _)| from.clone())
}
