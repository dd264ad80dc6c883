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

/// A text that is being made: what is known of it is joined before anything is done.
struct Written {
    before: Atom,
    end: String,
}

impl Written {
    fn onto(before: Atom) -> Written {
        match before {
            Atom::Text(text) => Written { before: Atom::Text(Arc::from("")), end: text.to_string() },
            before => Written { before, end: String::new() },
        }
    }

    fn push(&mut self, text: &str) {
        self.end.push_str(text);
    }

    fn append(&mut self, lower: &mut Lower<'_>, text: Atom) {
        let before = self.made(lower);
        *self = Written::onto(lower.append(before, text));
    }

    /// Writes a value behind it.
    fn show(
        &mut self,
        lower: &mut Lower<'_>,
        ty: &Type,
        shown: &Shown,
        (atoms, argument): (Vec<Atom>, bool),
    ) {
        let before = self.made(lower);
        *self = Written::onto(lower.show_behind(before, ty, shown, (atoms, argument)));
    }

    fn made(&mut self, lower: &mut Lower<'_>) -> Atom {
        let end = Atom::Text(Arc::from(std::mem::take(&mut self.end)));
        lower.append(self.before.clone(), end)
    }
}

/// The parts of a value and whether it is the argument of a constructor: what has more than one part stands in parentheses there.
type Parts = (Vec<Atom>, bool);

impl Lower<'_> {
    /// The text of a value.
    pub(crate) fn show(&mut self, ty: &Type, shown: &Shown, atoms: Vec<Atom>) -> Atom {
        self.show_behind(Atom::Text(Arc::from("")), ty, shown, (atoms, false))
    }

    /// The text before, and behind it that of a value. All parts are put behind the same text, so that what is deep takes no longer
    /// than what is long.
    fn show_behind(&mut self, before: Atom, ty: &Type, shown: &Shown, (mut atoms, argument): Parts) -> Atom {
        if let Shown::Record(fields) = shown {
            return self.show_record(before, ty, fields, atoms);
        }
        let mut written = Written::onto(before);
        match ty {
            Type::Real | Type::Int => {
                let number = self.show_number(ty, atoms, argument);
                written.append(self, number);
            }
            Type::Bool => {
                let cond = atoms.pop().unwrap_or(Atom::Unit);
                let (then, otherwise) = (Atom::Text(Arc::from("true")), Atom::Text(Arc::from("false")));
                let text = self.one(Op::Select { cond, then, otherwise }, Ty::TEXT);
                written.append(self, text);
            }
            Type::Text => {
                let text = self.one(Op::Text(TextOp::ShowText, atoms), Ty::TEXT);
                written.append(self, text);
            }
            Type::Tuple(items) => {
                written.push("(");
                for (index, (item, part)) in items.iter().zip(self.split(items, atoms)).enumerate() {
                    written.push(if index > 0 { ", " } else { "" });
                    let inner = if let Shown::Tuple(all) = shown { all.get(index) } else { None };
                    written.show(self, item, inner.unwrap_or(&Shown::Plain), (part, false));
                }
                written.push(")");
            }
            Type::Dual(of) => {
                written.push("<dual ");
                written.show(self, of, shown, (atoms, false));
                written.push(">");
            }
            // The types exclude it.
            Type::Fun(..) => written.push("<function>"),
            Type::Array(_) | Type::Data(_) => {
                let argument = argument && matches!(ty, Type::Data(_));
                let key = Key::Show(ty.clone(), shown.clone(), argument);
                let func = self.request(key, Type::unit(), Name::new("show"), vec![Ty::TEXT]);
                atoms.insert(0, written.made(self));
                return self.call(func, atoms).pop().unwrap_or(Atom::Unit);
            }
        }
        written.made(self)
    }

    /// One text behind another.
    fn append(&mut self, before: Atom, text: Atom) -> Atom {
        match (&before, &text) {
            (_, Atom::Text(known)) if known.is_empty() => before,
            (Atom::Text(known), _) if known.is_empty() => text,
            (Atom::Text(first), Atom::Text(second)) => Atom::Text(Arc::from(format!("{first}{second}"))),
            _ => self.one(Op::Text(TextOp::Append, vec![before, text]), Ty::TEXT),
        }
    }

    /// A record: a tuple of its fields, or its only field.
    fn show_record(&mut self, before: Atom, ty: &Type, fields: &[(Name, Shown)], atoms: Vec<Atom>) -> Atom {
        let types: Vec<Type> = match ty {
            Type::Tuple(items) if fields.len() != 1 || items.len() == 1 => items.to_vec(),
            only => vec![only.clone()],
        };
        let parts = self.split(&types, atoms);
        let mut written = Written::onto(before);
        written.push("{");
        for (index, (((name, shown), ty), part)) in fields.iter().zip(&types).zip(parts).enumerate() {
            written.push(&format!("{}{name} = ", if index > 0 { ", " } else { "" }));
            written.show(self, ty, shown, (part, false));
        }
        written.push("}");
        written.made(self)
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
            |lower: &mut Self| {
                let mut written = Written::onto(Atom::Text(Arc::from("(")));
                written.append(lower, shown);
                written.push(")");
                vec![written.made(lower)]
            }
        };
        let result = self.branch(negative, &[Ty::TEXT], then, |_| vec![shown]);
        result.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// Makes the function for a type, which puts a value behind a text.
    pub(crate) fn make_show(&mut self, id: FuncId, ty: &Type, shown: &Shown, argument: bool) {
        let parts = self.flat(ty).into_iter().map(|ty| (Name::new("x"), ty));
        let params: Vec<(Name, Ty)> = std::iter::once((Name::new("text"), Ty::TEXT)).chain(parts).collect();
        self.define(id, Span::NOWHERE, &params, |lower, mut atoms| {
            let before = atoms.remove(0);
            vec![match ty {
                Type::Data(ix) => lower.show_data(before, *ix, shown, (atoms, argument)),
                _ => lower.show_array(before, &ty.elem(), shown, atoms),
            }]
        });
    }

    fn show_array(&mut self, before: Atom, elem: &Type, shown: &Shown, arrays: Vec<Atom>) -> Atom {
        let shown = if let Shown::Array(of) = shown { of } else { &Shown::Plain };
        let len = self.length(&arrays);
        let mut written = Written::onto(before);
        written.push("[");
        let init = vec![written.made(self)];
        let plan = Plan { mode: Mode::Sequence, len, inputs: arrays, init, outputs: Vec::new() };
        let made = self.repeat(plan, |lower, mut round| {
            let row = lower.unpacked(elem, round.rows);
            let is_first = lower.compare(Compare::Eq, round.index, Atom::Int(0));
            let (then, otherwise) = (Atom::Text(Arc::from("")), Atom::Text(Arc::from(", ")));
            let between = lower.one(Op::Select { cond: is_first, then, otherwise }, Ty::TEXT);
            let mut written = Written::onto(round.carried.pop().unwrap_or(Atom::Unit));
            written.append(lower, between);
            written.show(lower, elem, shown, (row, false));
            (vec![written.made(lower)], Vec::new())
        });
        let mut written = Written::onto(made.into_iter().next().unwrap_or(Atom::Unit));
        written.push("]");
        written.made(self)
    }

    fn show_data(&mut self, before: Atom, ix: DataIx, shown: &Shown, (mut atoms, argument): Parts) -> Atom {
        let tree = self.tree;
        let ctors = if let Shown::Data(place) = shown { tree.shown_data.get(*place) } else { None };
        let on = atoms.pop().unwrap_or(Atom::Unit);
        let arms = self.arms(ix, "x", |lower, ctor, fields| {
            let name = lower.tree.data.at(ix).ctors.get(ctor).map_or("?", |(name, _)| name.as_str());
            let types = lower.field_types(ix, ctor);
            let how = ctors.and_then(|ctors| ctors.get(ctor));
            let mut written = Written::onto(before.clone());
            if let (false, [of]) = (lower.tree.data.at(ix).heads.is_empty(), types.as_slice()) {
                // It is what it holds.
                let shown = how.and_then(|how| how.first()).unwrap_or(&Shown::Plain);
                written.show(lower, of, shown, (fields, argument));
                return vec![written.made(lower)];
            }
            let parentheses = argument && !types.is_empty();
            written.push(if parentheses { "(" } else { "" });
            written.push(name);
            let fields = lower.split(&types, fields);
            for (index, (ty, field)) in types.iter().zip(fields).enumerate() {
                written.push(" ");
                let shown = how.and_then(|how| how.get(index)).unwrap_or(&Shown::Plain);
                written.show(lower, ty, shown, (field, true));
            }
            written.push(if parentheses { ")" } else { "" });
            vec![written.made(lower)]
        });
        self.one(Op::Match { on, arms }, Ty::TEXT)
    }
}
