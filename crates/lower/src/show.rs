//! `show`: for each type of data or arrays a function that makes the text, as the interpreter prints it.

#![expect(clippy::wildcard_enum_match_arm, reason = "functions are made for data and arrays only")]

use crate::arrays::Plan;
use crate::context::{Key, Lower};
use crate::tree::{DataIx, Type};
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_ir::op::{Atom, Compare, Mode, Op, TextOp};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;
use wengert_mono::simple::Shown;
use wengert_prim::RealOp;

fn text(text: &str) -> Atom {
    Atom::Text(Arc::from(text))
}

impl Lower<'_> {
    /// The text of a value; as the argument of a constructor, what has more than one part stands in parentheses.
    pub(crate) fn show(&mut self, ty: &Type, shown: &Shown, mut atoms: Vec<Atom>, argument: bool) -> Atom {
        if let Shown::Record(fields) = shown {
            return self.show_record(ty, fields, atoms);
        }
        match ty {
            Type::Real | Type::Int => self.show_number(ty, atoms, argument),
            Type::Bool => {
                let cond = atoms.pop().unwrap_or(Atom::Unit);
                self.one(Op::Select { cond, then: text("true"), otherwise: text("false") }, Ty::TEXT)
            }
            Type::Text => self.one(Op::Text(TextOp::ShowText, atoms), Ty::TEXT),
            Type::Tuple(items) => {
                let parts = self.split(items, atoms);
                let mut texts = vec![text("(")];
                for (index, (item, part)) in items.iter().zip(parts).enumerate() {
                    if index > 0 {
                        texts.push(text(", "));
                    }
                    let inner = if let Shown::Tuple(all) = shown { all.get(index) } else { None };
                    texts.push(self.show(item, inner.unwrap_or(&Shown::Plain), part, false));
                }
                texts.push(text(")"));
                self.append(texts)
            }
            Type::Dual(of) => {
                let inner = self.show(of, shown, atoms, false);
                self.append(vec![text("<dual "), inner, text(">")])
            }
            // The types exclude it.
            Type::Fun(..) => text("<function>"),
            Type::Array(_) | Type::Data(_) => {
                let argument = argument && matches!(ty, Type::Data(_));
                let key = Key::Show(ty.clone(), shown.clone(), argument);
                let func = self.request(key, Type::unit(), Name::new("show"), vec![Ty::TEXT]);
                self.call(func, atoms).pop().unwrap_or(Atom::Unit)
            }
        }
    }

    /// Texts one after the other; literals next to each other are joined here.
    fn append(&mut self, parts: Vec<Atom>) -> Atom {
        let mut joined: Vec<Atom> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Atom::Text(before)), Atom::Text(after)) => {
                    *before = Arc::from(format!("{before}{after}"))
                }
                (_, part) => joined.push(part),
            }
        }
        let mut parts = joined.into_iter();
        let first = parts.next().unwrap_or_else(|| text(""));
        parts.fold(first, |all, part| self.one(Op::Text(TextOp::Append, vec![all, part]), Ty::TEXT))
    }

    /// A record: a tuple of its fields, or its only field.
    fn show_record(&mut self, ty: &Type, fields: &[(Name, Shown)], atoms: Vec<Atom>) -> Atom {
        let types: Vec<Type> = match ty {
            Type::Tuple(items) if fields.len() != 1 || items.len() == 1 => items.to_vec(),
            only => vec![only.clone()],
        };
        let parts = self.split(&types, atoms);
        let mut texts = vec![text("{")];
        for (index, (((name, shown), ty), part)) in fields.iter().zip(&types).zip(parts).enumerate() {
            texts.push(text(&format!("{}{name} = ", if index > 0 { ", " } else { "" })));
            texts.push(self.show(ty, shown, part, false));
        }
        texts.push(text("}"));
        self.append(texts)
    }

    fn show_number(&mut self, ty: &Type, atoms: Vec<Atom>, argument: bool) -> Atom {
        let x = atoms.first().cloned().unwrap_or(Atom::Unit);
        let op = if *ty == Type::Real { TextOp::ShowReal } else { TextOp::ShowInt };
        let shown = self.one(Op::Text(op, atoms), Ty::TEXT);
        if !argument {
            return shown;
        }
        let negative = if *ty == Type::Real {
            // The text of a number begins with a minus if the number is negative, or a negative zero.
            let below = self.compare(Compare::Lt, x.clone(), Atom::Real(0.0));
            let inverse = self.real(RealOp::Div, vec![Atom::Real(1.0), x]);
            let from_below = self.compare(Compare::Eq, inverse, Atom::Real(f64::NEG_INFINITY));
            let op = Op::Select { cond: below, then: Atom::Bool(true), otherwise: from_below };
            self.one(op, Ty::BOOL)
        } else {
            self.compare(Compare::Lt, x, Atom::Int(0))
        };
        let then = {
            let shown = shown.clone();
            |lower: &mut Self| vec![lower.append(vec![text("("), shown, text(")")])]
        };
        let result = self.branch(negative, &[Ty::TEXT], then, |_| vec![shown]);
        result.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// Makes the function for a type.
    pub(crate) fn make_show(&mut self, id: FuncId, ty: &Type, shown: &Shown, argument: bool) {
        let params: Vec<(Name, Ty)> = self.flat(ty).into_iter().map(|ty| (Name::new("x"), ty)).collect();
        self.define(id, Span::NOWHERE, &params, |lower, atoms| {
            vec![match ty {
                Type::Data(ix) => lower.show_data(*ix, shown, atoms, argument),
                _ => lower.show_array(&ty.elem(), shown, atoms),
            }]
        });
    }

    fn show_array(&mut self, elem: &Type, shown: &Shown, arrays: Vec<Atom>) -> Atom {
        let shown = if let Shown::Array(of) = shown { of } else { &Shown::Plain };
        let len = self.length(&arrays);
        let (mode, outputs) = (Mode::Each, vec![Ty::TEXT]);
        let plan = Plan { mode, len, inputs: arrays, init: Vec::new(), outputs };
        let mut items = self.repeat(plan, |lower, round| {
            let row = lower.unpacked(elem, round.rows);
            (Vec::new(), vec![lower.show(elem, shown, row, false)])
        });
        items.push(text(", "));
        let inner = self.one(Op::Text(TextOp::Join, items), Ty::TEXT);
        self.append(vec![text("["), inner, text("]")])
    }

    fn show_data(&mut self, ix: DataIx, shown: &Shown, mut atoms: Vec<Atom>, argument: bool) -> Atom {
        let tree = self.tree;
        let ctors = if let Shown::Data(place) = shown { tree.shown_data.get(*place) } else { None };
        let on = atoms.pop().unwrap_or(Atom::Unit);
        let arms = self.arms(ix, "x", |lower, ctor, fields| {
            let name = lower.tree.data.at(ix).ctors.get(ctor).map_or("?", |(name, _)| name.as_str());
            let types = lower.field_types(ix, ctor);
            let how = ctors.and_then(|ctors| ctors.get(ctor));
            if let (false, [of]) = (lower.tree.data.at(ix).heads.is_empty(), types.as_slice()) {
                // It is what it holds.
                let shown = how.and_then(|how| how.first()).unwrap_or(&Shown::Plain);
                return vec![lower.show(of, shown, fields, argument)];
            }
            let parentheses = argument && !types.is_empty();
            let mut parts = vec![text(if parentheses { "(" } else { "" }), text(name)];
            let fields = lower.split(&types, fields);
            for (index, (ty, field)) in types.iter().zip(fields).enumerate() {
                parts.push(text(" "));
                let shown = how.and_then(|how| how.get(index)).unwrap_or(&Shown::Plain);
                parts.push(lower.show(ty, shown, field, true));
            }
            parts.push(text(if parentheses { ")" } else { "" }));
            vec![lower.append(parts)]
        });
        self.one(Op::Match { on, arms }, Ty::TEXT)
    }
}
