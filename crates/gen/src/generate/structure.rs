//! Tuples, records, arrays, data, functions, and the patterns that take them apart.

use super::number::call;
use super::{Gen, Made};
use crate::tree::{Child, Form, GenPat, Node};
use crate::ty::GenType;
use crate::value::GenValue;
use arbitrary::Result;
use wengert_base::Name;

/// Arms of one match.
const MAX_ARMS: usize = 6;

impl Gen<'_, '_> {
    /// A record, or an update of one.
    pub(super) fn record(&mut self, ty: &GenType, fields: &[(Name, GenType)]) -> Made {
        if self.u.ratio(1, 4)?
            && let Some((name, field)) = fields.first()
        {
            let (base, value) = (self.expr(ty)?, self.expr(field)?);
            return Ok(Some(Node::new(ty.clone(), Form::Update(*name), vec![base, value])));
        }
        let names = fields.iter().map(|(name, _)| *name).collect();
        let items = fields.iter().map(|(_, field)| self.expr(field)).collect::<Result<_>>()?;
        Ok(Some(Node::new(ty.clone(), Form::Record(names), items)))
    }

    /// An array: elements, or a function of the index, or a function of other arrays.
    pub(super) fn array(&mut self, ty: &GenType, n: u64, elem: &GenType) -> Made {
        let first_order = elem.is_first_order();
        if n > 0 && matches!(elem, GenType::Array(..)) && first_order && self.u.ratio(1, 2)? {
            return self.rearranged(ty, n, elem);
        }
        let first = if n > super::SHORT { 3 } else { 0 };
        Ok(Some(match self.u.int_in_range(first..=9)? {
            0..=2 => {
                let items = (0..n).map(|_| self.expr(elem)).collect::<Result<_>>()?;
                Node::new(ty.clone(), Form::Array, items)
            }
            3 | 4 => {
                let i = self.fresh()?;
                let body = self.body(&GenPat::Var(i, GenType::Int), n.max(1), elem)?;
                Node::binding(ty.clone(), Form::Build(n, i), vec![body])
            }
            5 => {
                let from = self.some_type(1)?;
                let param = self.irrefutable(&from)?;
                let body = self.body(&param, n.max(1), elem)?;
                let source = self.expr(&GenType::array(n, from))?;
                Node::binding(ty.clone(), Form::Map(param), vec![body, Child::plain(source)])
            }
            6 => {
                let (left, right) = (self.some_type(1)?, self.some_type(0)?);
                let x = self.irrefutable(&left)?;
                let y = GenPat::Var(self.unique("w"), right.clone());
                let binders = [x.binders(), y.binders()].concat();
                let body = self.inside(binders, n.max(1), |g| g.expr(elem))?;
                let xs = Child::plain(self.expr(&GenType::array(n, left))?);
                let ys = Child::plain(self.expr(&GenType::array(n, right))?);
                Node::binding(ty.clone(), Form::Map2(x, y), vec![body, xs, ys])
            }
            7 => self.scan(ty, n, elem)?,
            8 if first_order && n > 0 => return self.rearranged(ty, n, elem),
            _ => {
                let source = self.expr(ty)?;
                call(ty.clone(), "reverse", vec![source])
            }
        }))
    }

    /// Library functions from arrays to arrays.
    fn rearranged(&mut self, ty: &GenType, n: u64, elem: &GenType) -> Made {
        let real = *elem == GenType::Real;
        Ok(Some(match (self.u.int_in_range(0..=4)?, elem) {
            (0, GenType::Array(m, inner)) if *m > 0 => {
                let source = GenType::array(*m, GenType::array(n, inner.as_ref().clone()));
                call(ty.clone(), "transpose", vec![self.expr(&source)?])
            }
            (1, GenType::Array(m, inner)) if **inner == GenType::Real => {
                let k = self.u.int_in_range(1..=3)?;
                let left = GenType::array(n, GenType::array(k, GenType::Real));
                let right = GenType::array(k, GenType::array(*m, GenType::Real));
                call(ty.clone(), "matmul", vec![self.bounded(&left)?, self.bounded(&right)?])
            }
            (0, GenType::Real) => {
                let k = self.u.int_in_range(1..=3)?;
                let left = GenType::array(n, GenType::array(k, GenType::Real));
                let right = GenType::array(k, GenType::Real);
                call(ty.clone(), "matvec", vec![self.bounded(&left)?, self.bounded(&right)?])
            }
            (1, GenType::Real) => call(ty.clone(), "add", vec![self.expr(ty)?, self.expr(ty)?]),
            (2, GenType::Real) => {
                let (by, of) = (self.bounded_real()?, self.expr(ty)?);
                call(ty.clone(), "scale", vec![by, of])
            }
            (3, _) if real && !self.config.smooth => call(ty.clone(), "sort", vec![self.expr(ty)?]),
            _ => {
                let index = crate::generate::literal(&GenType::Int, GenValue::Int(0));
                call(ty.clone(), "set", vec![self.expr(ty)?, index, self.expr(elem)?])
            }
        }))
    }

    /// A constructor and its fields; recursion gets less likely with depth, because `expr` does.
    pub(super) fn constructor(&mut self, ty: &GenType, name: Name) -> Made {
        let Some(decl) = self.decls.iter().find(|decl| decl.name == name).cloned() else { return Ok(None) };
        let (ctor, fields) = self.u.choose(&decl.ctors)?.clone();
        let fields = fields.iter().map(|field| self.expr(&field.at(ty))).collect::<Result<_>>()?;
        Ok(Some(Node::new(ty.clone(), Form::Ctor(ctor), fields)))
    }

    /// A lambda, or two functions one after the other.
    pub(super) fn function(&mut self, ty: &GenType, from: &GenType, to: &GenType) -> Made {
        if self.u.ratio(1, 5)? {
            let between = self.some_type(0)?;
            let first = self.expr(&GenType::fun(from.clone(), between.clone()))?;
            let second = self.expr(&GenType::fun(between, to.clone()))?;
            return Ok(Some(Node::new(ty.clone(), Form::Compose, vec![first, second])));
        }
        let param = self.irrefutable(from)?;
        let annotated = from.needs_annotation() || self.u.arbitrary()?;
        let body = self.body(&param, 3, to)?;
        Ok(Some(Node::binding(ty.clone(), Form::Lambda(param, annotated), vec![body])))
    }

    /// A component of something larger.
    pub(super) fn take_apart(&mut self, ty: &GenType) -> Made {
        let other = self.some_type(1)?;
        match self.u.int_in_range(0..=3)? {
            0 => {
                let pair = self.expr(&GenType::Tuple(vec![ty.clone(), other]))?;
                Ok(Some(call(ty.clone(), "fst", vec![pair])))
            }
            1 if self.config.records => {
                let fields = vec![(Name::new("x"), ty.clone()), (Name::new("y"), other)];
                let record = self.expr(&GenType::Record(fields))?;
                Ok(Some(Node::new(ty.clone(), Form::Field(Name::new("x")), vec![record])))
            }
            2 => self.index(ty),
            _ => {
                let of = GenType::Tuple(vec![other, ty.clone()]);
                let value = self.expr(&of)?;
                let target = self.irrefutable(&of)?;
                let body = self.body(&target, 1, ty)?;
                Ok(Some(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(value), body])))
            }
        }
    }

    /// `match e with …` on a value of some type that has cases.
    pub(super) fn match_data(&mut self, ty: &GenType) -> Made {
        let of = self.some_type(2)?;
        if !of.is_first_order() {
            return Ok(None);
        }
        let scrutinee = self.expr(&of)?;
        let patterns = self.cover(&of, 2)?;
        let mut children = vec![Child::plain(scrutinee)];
        for pattern in &patterns {
            children.push(self.body(pattern, 1, ty)?);
        }
        Ok(Some(Node::binding(ty.clone(), Form::Match(patterns), children)))
    }

    /// A pattern that every value matches.
    pub(super) fn irrefutable(&mut self, ty: &GenType) -> Result<GenPat> {
        match ty {
            GenType::Tuple(items) if self.u.ratio(2, 3)? => {
                Ok(GenPat::Tuple(items.iter().map(|item| self.irrefutable(item)).collect::<Result<_>>()?))
            }
            GenType::Record(fields) if self.u.ratio(1, 2)? => {
                let fields = fields.iter().map(|(name, field)| Ok((*name, self.irrefutable(field)?)));
                Ok(GenPat::Record(fields.collect::<Result<_>>()?))
            }
            GenType::Real
            | GenType::Int
            | GenType::Bool
            | GenType::String
            | GenType::Tuple(_)
            | GenType::Record(_)
            | GenType::Array(..)
            | GenType::Data(..)
            | GenType::Fun(..)
            | GenType::Param => {
                if self.u.ratio(1, 10)? {
                    return Ok(GenPat::Wildcard);
                }
                // Never a name that is taken: one pattern must not bind a name twice.
                Ok(GenPat::Var(self.unique("v"), ty.clone()))
            }
        }
    }

    /// Patterns that together match every value, each after the first reachable.
    pub(super) fn cover(&mut self, ty: &GenType, depth: u32) -> Result<Vec<GenPat>> {
        if depth == 0 {
            return Ok(vec![self.irrefutable(ty)?]);
        }
        let mut patterns = Vec::new();
        match ty {
            GenType::Bool => {
                let first: bool = self.u.arbitrary()?;
                patterns.extend([first, !first].map(|b| GenPat::Lit(GenValue::Bool(b))));
            }
            GenType::Int => {
                patterns.push(GenPat::Lit(GenValue::Int(self.u.int_in_range(-1..=2)?)));
                patterns.push(self.irrefutable(ty)?);
            }
            GenType::Data(name, _) => {
                let ctors = self.decls.iter().find(|decl| decl.name == *name).map(|decl| decl.ctors.clone());
                for (ctor, fields) in ctors.unwrap_or_default() {
                    let fields: Vec<GenType> = fields.iter().map(|field| field.at(ty)).collect();
                    for fields in self.cover_all(&fields, depth - 1)? {
                        patterns.push(GenPat::Ctor(ctor, fields));
                    }
                }
            }
            GenType::Tuple(items) => {
                patterns.extend(self.cover_all(items, depth - 1)?.into_iter().map(GenPat::Tuple));
            }
            GenType::Real
            | GenType::String
            | GenType::Record(_)
            | GenType::Array(..)
            | GenType::Fun(..)
            | GenType::Param => {}
        }
        if patterns.is_empty() || patterns.len() > MAX_ARMS {
            return Ok(vec![self.irrefutable(ty)?]);
        }
        if patterns.len() > 1 && self.u.ratio(1, 5)? {
            patterns.pop();
            patterns.push(GenPat::Wildcard);
        }
        Ok(patterns)
    }

    /// Rows of patterns that together match every row of values; one column at most is split into cases.
    fn cover_all(&mut self, types: &[GenType], depth: u32) -> Result<Vec<Vec<GenPat>>> {
        if types.is_empty() {
            return Ok(vec![Vec::new()]);
        }
        let split = self.u.choose_index(types.len())?;
        let Some(of) = types.get(split) else { return Ok(vec![]) };
        let mut rows = Vec::new();
        for case in self.cover(of, depth)? {
            let mut row = Vec::new();
            for (i, ty) in types.iter().enumerate() {
                row.push(if i == split { case.clone() } else { self.irrefutable(ty)? });
            }
            rows.push(row);
        }
        Ok(rows)
    }
}
