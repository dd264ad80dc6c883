//! Equality: for each type of data or arrays a function. It cannot fail, and looks no further than the first difference.

#![expect(clippy::wildcard_enum_match_arm, reason = "functions are made for data and arrays only")]

use crate::arrays::{Plan, Round};
use crate::context::{Key, Lower};
use crate::tree::{DataIx, Type};
use wengert_base::{Name, Span};
use wengert_ir::op::{Atom, Compare, Mode, Op, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;

impl Lower<'_> {
    /// Whether two values are equal.
    pub(crate) fn equal(&mut self, ty: &Type, x: Vec<Atom>, y: Vec<Atom>) -> Atom {
        match ty {
            Type::Real | Type::Int | Type::Bool | Type::Text => {
                let (x, y) = (x.into_iter().next(), y.into_iter().next());
                self.compare(Compare::Eq, x.unwrap_or(Atom::Unit), y.unwrap_or(Atom::Unit))
            }
            Type::Tuple(items) => self.all_equal(items, x, y),
            Type::Dual(of) => self.equal(of, x, y),
            // The types exclude it.
            Type::Fun(..) => Atom::Bool(true),
            Type::Array(_) | Type::Data(_) => {
                let name = Name::new("equal");
                let func = self.request(Key::Equal(ty.clone()), Type::unit(), name, vec![Ty::BOOL]);
                let args = x.into_iter().chain(y).collect();
                self.call(func, args).pop().unwrap_or(Atom::Bool(true))
            }
        }
    }

    /// Whether the components of two tuples are equal.
    fn all_equal(&mut self, items: &[Type], x: Vec<Atom>, y: Vec<Atom>) -> Atom {
        let mut pairs: Vec<_> = self.split(items, x).into_iter().zip(self.split(items, y)).collect();
        pairs.reverse();
        self.next_equal(items, pairs)
    }

    fn next_equal(&mut self, items: &[Type], mut pairs: Vec<(Vec<Atom>, Vec<Atom>)>) -> Atom {
        let Some((item, rest)) = items.split_first() else { return Atom::Bool(true) };
        let (x, y) = pairs.pop().unwrap_or_default();
        let same = self.equal(item, x, y);
        if rest.is_empty() {
            return same;
        }
        let then = |lower: &mut Self| vec![lower.next_equal(rest, pairs)];
        let both = self.branch(same, &[Ty::BOOL], then, |_| vec![Atom::Bool(false)]);
        both.into_iter().next().unwrap_or(Atom::Bool(true))
    }

    /// Makes the function for a type.
    pub(crate) fn make_equal(&mut self, id: FuncId, ty: &Type) {
        let types = self.flat(ty);
        let both = ["x", "y"].map(Name::new);
        let params: Vec<(Name, Ty)> =
            both.into_iter().flat_map(|name| types.iter().map(move |ty| (name, *ty))).collect();
        self.define(id, Span::NOWHERE, &params, |lower, mut x| {
            let y = x.split_off(types.len());
            vec![match ty {
                Type::Data(ix) => lower.equal_data(*ix, x, y),
                _ => lower.equal_arrays(&ty.elem(), x, y),
            }]
        });
    }

    fn equal_arrays(&mut self, elem: &Type, x: Vec<Atom>, y: Vec<Atom>) -> Atom {
        let (m, n) = (self.length(&x), self.length(&y));
        let same = self.compare(Compare::Eq, m.clone(), n);
        let count = x.len();
        let inputs = x.into_iter().chain(y).collect();
        let init = vec![Atom::Bool(true)];
        let plan = Plan { mode: Mode::Sequence, len: m, inputs, init, outputs: Vec::new() };
        let rows = |lower: &mut Self| {
            lower.repeat(plan, |lower, round| {
                let Round { mut carried, rows: mut x, .. } = round;
                let y = x.split_off(count);
                let so_far = carried.pop().unwrap_or(Atom::Bool(true));
                let then = |lower: &mut Self| {
                    let (x, y) = (lower.unpacked(elem, x), lower.unpacked(elem, y));
                    vec![lower.equal(elem, x, y)]
                };
                let next = lower.branch(so_far, &[Ty::BOOL], then, |_| vec![Atom::Bool(false)]);
                (next, Vec::new())
            })
        };
        let result = self.branch(same, &[Ty::BOOL], rows, |_| vec![Atom::Bool(false)]);
        result.into_iter().next().unwrap_or(Atom::Bool(true))
    }

    fn equal_data(&mut self, ix: DataIx, mut x: Vec<Atom>, mut y: Vec<Atom>) -> Atom {
        let (x, y) = (x.pop().unwrap_or(Atom::Unit), y.pop().unwrap_or(Atom::Unit));
        let outer = self.arms(ix, "x", |lower, ctor, own| {
            let y = y.clone();
            let inner = lower.arms(ix, "y", |lower, other, fields| {
                if other != ctor {
                    return vec![Atom::Bool(false)];
                }
                let types = lower.field_types(ix, ctor);
                vec![lower.all_equal(&types, own.clone(), fields)]
            });
            lower.emit(Op::Match { on: y, arms: inner }, &[Ty::BOOL])
        });
        self.one(Op::Match { on: x, arms: outer }, Ty::BOOL)
    }

    /// The types of the fields of a constructor.
    pub(crate) fn field_types(&self, ix: DataIx, ctor: usize) -> Vec<Type> {
        self.tree.data.at(ix).ctors.get(ctor).map(|(_, fields)| fields.clone()).unwrap_or_default()
    }

    /// An arm for each constructor of a declared type.
    pub(crate) fn arms(
        &mut self,
        ix: DataIx,
        name: &str,
        mut body: impl FnMut(&mut Self, usize, Vec<Atom>) -> Vec<Atom>,
    ) -> Vec<wengert_ir::Block> {
        let count = self.tree.data.at(ix).ctors.len();
        let mut arms = Vec::with_capacity(count);
        for ctor in 0..count {
            let mut vars: Vec<Var> = Vec::new();
            for field in self.field_types(ix, ctor) {
                for ty in self.flat(&field) {
                    vars.push(self.variable(Name::new(name), ty));
                }
            }
            let fields = vars.iter().copied().map(Atom::Var).collect();
            arms.push(self.block_of(vars, |lower| body(lower, ctor, fields)));
        }
        arms
    }
}
