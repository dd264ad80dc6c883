//! What a function with a rule and its rule have captured, where derivatives by that are differentiated once more: both get tangents, the
//! rule at a tangent that is zero and varies with the point ([`crate::velocity`]).

use super::Jvp;
use crate::velocity::Beside;
use wengert_ir::op::{Atom, Block, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::VarInfo;
use wengert_ir::ty::Ty;

impl Jvp<'_, '_> {
    /// Appends a function with a rule, and gives its tangents by what is captured.
    pub(super) fn by_captures(&mut self, stmt: &Stmt, parts: &Custom) -> Vec<Option<Atom>> {
        let (captured, rule_captured) =
            (self.scope.mask(&parts.captured), self.scope.mask(&parts.rule_captured));
        let types: Vec<Ty> = stmt.outs.iter().map(|out| self.code.b.func().ty(*out)).collect();
        let plain = types.iter().all(|ty| self.code.ad.tangent(*ty) == Some(*ty));
        let beside = if plain {
            self.code.beside(parts, &types, (captured.clone(), rule_captured.clone()))
        } else {
            None
        };
        let Some(Beside { func, args, rule, rule_args }) = beside else {
            self.code.b.push(stmt.clone());
            return self.by_captured(stmt, parts);
        };
        let tangents = self.tangents_or_zeros(&super::rules::varying(&parts.captured, &captured));
        let (values, own) = self.code.call_jvp(&func, &args, &tangents);
        let tangents = self.tangents_or_zeros(&super::rules::varying(&parts.rule_captured, &rule_captured));
        // Whether the transpose of a rule varies is not known as exactly.
        let all = matches!(parts.rule, Rule::Vjp(..));
        let mut which: Vec<bool> = own.iter().map(|own| all || own.is_some()).collect();
        let mut others = Vec::new();
        for args in rule_args {
            let (mut more, mut dots) = self.code.call_jvp(&rule, &args, &tangents);
            more.drain(..values.len().min(more.len()));
            dots.drain(..values.len().min(dots.len()));
            which.iter_mut().zip(&dots).for_each(|(varies, dot)| *varies |= dot.is_some());
            others.push((more, dots));
        }
        let numbers: Vec<Atom> = others.iter().flat_map(|(more, _)| more.iter().cloned()).collect();
        let cond = self.code.are_zero(&numbers);
        let then = self.with_more((values, own), others, &which);
        let otherwise = self.by_captures_apart(stmt, parts, &which);
        let mut outs = stmt.outs.clone();
        let mut found = Vec::new();
        for (out, varies) in stmt.outs.iter().zip(which) {
            found.push(varies.then(|| {
                let (name, ty) = self.code.tangent_of(*out);
                let dot = self.code.b.fresh(name, ty);
                outs.push(dot);
                Atom::Var(dot)
            }));
        }
        let op = Op::If { cond, then, otherwise };
        self.code.b.push(Stmt { outs, op, span: stmt.span });
        found
    }

    /// The block in which values, and their tangents, vary with those others, too.
    fn with_more(
        &mut self,
        (mut values, mut own): (Vec<Atom>, Vec<Option<Atom>>),
        others: Vec<(Vec<Atom>, Vec<Option<Atom>>)>,
        which: &[bool],
    ) -> Block {
        self.code.b.open();
        for (more, dots) in others {
            values = self.code.with_others(&values, &more);
            for ((value, own), dot) in values.iter().zip(&mut own).zip(dots) {
                if let Some(dot) = dot {
                    let tangent = self.dot_or_zero(value, own.take());
                    *own = self.code.with_others(&[tangent], &[dot]).pop();
                }
            }
        }
        let mut results = values.clone();
        for ((value, own), _) in values.iter().zip(own).zip(which).filter(|(_, varies)| **varies) {
            results.push(self.dot_or_zero(value, own));
        }
        self.code.b.close(results)
    }

    /// The block in which the derivative by what the rule has captured is a function with a rule in turn.
    fn by_captures_apart(&mut self, stmt: &Stmt, parts: &Custom, which: &[bool]) -> Block {
        self.code.b.open();
        let infos: Vec<VarInfo> = stmt.outs.iter().map(|out| *self.code.b.func().vars.at(*out)).collect();
        let outs: Vec<Var> =
            infos.into_iter().map(|VarInfo { name, ty }| self.code.b.fresh(name, ty)).collect();
        let made = Stmt { outs, ..stmt.clone() };
        self.code.b.push(made.clone());
        let mut found = self.by_captured(&made, parts).into_iter();
        let values: Vec<Atom> = made.outs.iter().copied().map(Atom::Var).collect();
        let mut results = values.clone();
        for (value, varies) in values.iter().zip(which) {
            let dot = found.next().flatten();
            if *varies {
                results.push(self.dot_or_zero(value, dot));
            }
        }
        self.code.b.close(results)
    }

    fn dot_or_zero(&mut self, value: &Atom, dot: Option<Atom>) -> Atom {
        let ty = self.code.b.type_of(value);
        dot.unwrap_or_else(|| self.code.zero(Some(value), ty))
    }
}
