//! Terms and types as text, in the paper's notation; what is printed parses back.
//!
//! Tuples are flat, `⟨x,y,z⟩` for `⟨⟨x,y⟩,z⟩`, and dual constants are columns, `[660; 528]*`. Variables that reductions make get the
//! smallest number that is free (`z1`, `v2`); two variables of one name in one scope are told apart by a number too.

use super::reduce::numbers;
use super::subst::deep;
use super::syntax::{Kind, Pat, PatKind, Term, Type, TypeKind, Var};
use rustc_hash::FxHashMap;
use std::ops::Range;
use wengert_base::real;

/// How a term is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `(Ω λy. P) · S`
    Paper,
    /// The same with the types of bound variables.
    Typed,
    /// `⟨P | S⟩_y` (3.5).
    Machine,
}

/// Nodes that are printed at most; the rest is `…`.
const BUDGET: u32 = 60_000;

/// The term, and where the node at address `mark` stands in it.
pub(crate) fn print_marked(
    term: &Term,
    mark: Option<*const ()>,
    notation: Notation,
) -> (String, Option<Range<usize>>) {
    let mut printer = Printer {
        out: String::new(),
        notation,
        mark,
        range: None,
        names: FxHashMap::default(),
        used: FxHashMap::default(),
        next: FxHashMap::default(),
        budget: BUDGET,
    };
    printer.term(term, 0);
    (printer.out, printer.range)
}

/// The term in the paper's notation.
#[cfg(test)]
pub(crate) fn print(term: &Term) -> String {
    print_marked(term, None, Notation::Paper).0
}

struct Printer {
    out: String,
    notation: Notation,
    mark: Option<*const ()>,
    range: Option<Range<usize>>,
    names: FxHashMap<u32, String>,
    used: FxHashMap<String, u32>,
    next: FxHashMap<String, u32>,
    budget: u32,
}

/// What has to be undone when a scope ends.
type Undo = Vec<(u32, Option<String>, String, Option<(String, Option<u32>)>)>;

impl Printer {
    fn term(&mut self, term: &Term, level: u8) {
        let start = self.out.len();
        let marked = self.mark == Some(term.ptr()) && self.range.is_none();
        if self.budget == 0 {
            self.out.push('…');
        } else {
            self.budget -= 1;
            let parentheses = level > own_level(term, self.notation);
            if parentheses {
                self.out.push('(');
            }
            deep(|| self.bare(term));
            if parentheses {
                self.out.push(')');
            }
        }
        if marked {
            self.range = Some(start..self.out.len());
        }
    }

    fn bare(&mut self, term: &Term) {
        match term.kind() {
            Kind::Zero => self.out.push('0'),
            Kind::Var(var) => {
                let name = self.name_of(var);
                self.out.push_str(&name);
            }
            Kind::Real(x) => self.real(*x, true),
            Kind::Lam(pat, body) => {
                self.out.push('λ');
                self.scope(pat, ". ", body, 0);
            }
            Kind::App(f, a) => {
                self.term(f, 2);
                self.out.push(' ');
                self.term(a, 3);
            }
            Kind::Let(..) => self.lets(term),
            Kind::Proj(i, a) => {
                self.out.push_str(if *i == 1 { "π1(" } else { "π2(" });
                self.term(a, 0);
                self.out.push(')');
            }
            Kind::Pair(..) => self.tuple(term),
            Kind::Fun(f, a) => {
                self.out.push_str(&f.name());
                self.out.push('(');
                self.term(a, 0);
                self.out.push(')');
            }
            Kind::Jac(f, a) => {
                self.out.push_str("J ");
                self.out.push_str(&f.name());
                self.out.push_str(" · ");
                self.term(a, 1);
            }
            Kind::DualMap(pat, body, s) => {
                self.out.push_str("(λ");
                self.scope(pat, ". ", body, 0);
                self.out.push_str(")* · ");
                self.term(s, 1);
            }
            Kind::DualConst(vector) => self.column(vector),
            Kind::Pull(pat, body, s) => self.pull(pat, body, s),
            Kind::Sum(a, b) => {
                self.term(a, 1);
                self.out.push_str(" + ");
                self.term(b, if matches!(b.kind(), Kind::Sum(..)) { 0 } else { 1 });
            }
            Kind::Diff(f, a) => {
                self.out.push_str("D ");
                self.term(f, 3);
                self.out.push_str(" · ");
                self.term(a, 1);
            }
        }
    }

    fn column(&mut self, vector: &Term) {
        self.out.push('[');
        for (i, x) in numbers(vector).unwrap_or_default().iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { "; " });
            self.real(*x, false);
        }
        self.out.push_str("]*");
    }

    /// A number; a bare `0` would be the term 0.
    fn real(&mut self, x: f64, bare: bool) {
        let text = real::show(x);
        let short = text.strip_suffix(".0").filter(|short| !bare || *short != "0");
        self.out.push_str(short.unwrap_or(&text));
    }

    fn pull(&mut self, pat: &Pat, body: &Term, form: &Term) {
        if self.notation != Notation::Machine {
            self.out.push_str("(Ω λ");
            self.scope(pat, ". ", body, 0);
            self.out.push_str(") · ");
            self.term(form, 1);
            return;
        }
        self.out.push('⟨');
        let undo = self.enter(pat);
        self.term(body, 0);
        let mut subscript = std::mem::take(&mut self.out);
        self.pattern(pat);
        std::mem::swap(&mut subscript, &mut self.out);
        self.leave(undo);
        self.out.push_str(" | ");
        self.term(form, 0);
        self.out.push_str("⟩_");
        self.out.push_str(&subscript);
    }

    fn tuple(&mut self, term: &Term) {
        let (mut parts, mut first) = (Vec::new(), term.clone());
        while let Kind::Pair(a, b) = first.kind() {
            parts.push(b.clone());
            let a = a.clone();
            first = a;
            if self.mark == Some(first.ptr()) {
                break;
            }
        }
        self.out.push('⟨');
        self.term(&first, 0);
        while let Some(part) = parts.pop() {
            self.out.push_str(", ");
            self.term(&part, 0);
        }
        self.out.push('⟩');
    }

    fn lets(&mut self, term: &Term) {
        let (mut undos, mut term) = (Vec::new(), term.clone());
        self.out.push_str("let ");
        while let Kind::Let(var, value, body) = term.kind() {
            if !undos.is_empty() {
                self.out.push_str("; ");
            }
            // The value is outside the variable's scope, but is printed after its name.
            let before = std::mem::take(&mut self.out);
            let known = self.range.is_some();
            self.term(value, 0);
            let value = std::mem::replace(&mut self.out, before);
            let pat = Pat::var(var.clone());
            undos.push(self.enter(&pat));
            self.pattern(&pat);
            self.out.push_str(" = ");
            let shift = self.out.len();
            self.range = self
                .range
                .take()
                .map(|range| if known { range } else { range.start + shift..range.end + shift });
            self.out.push_str(&value);
            let body = body.clone();
            term = body;
        }
        self.out.push_str(" in ");
        self.term(&term, 0);
        while let Some(undo) = undos.pop() {
            self.leave(undo);
        }
    }

    fn scope(&mut self, pat: &Pat, separator: &str, body: &Term, level: u8) {
        let undo = self.enter(pat);
        self.pattern(pat);
        self.out.push_str(separator);
        self.term(body, level);
        self.leave(undo);
    }

    fn pattern(&mut self, pat: &Pat) {
        let typed = self.notation == Notation::Typed;
        if typed {
            self.out.push('(');
        }
        self.pattern_names(pat);
        if typed {
            self.out.push_str(" : ");
            self.out.push_str(&print_type(pat.ty()));
            self.out.push(')');
        }
    }

    fn pattern_names(&mut self, pat: &Pat) {
        let (mut parts, mut first) = (Vec::new(), pat.clone());
        while let PatKind::Pair(a, b) = first.kind() {
            parts.push(b.clone());
            let a = a.clone();
            first = a;
        }
        let several = !parts.is_empty();
        if several {
            self.out.push('⟨');
        }
        if let PatKind::Var(var) = first.kind() {
            let name = self.name_of(var);
            self.out.push_str(&name);
        }
        while let Some(part) = parts.pop() {
            self.out.push_str(", ");
            deep(|| self.pattern_names(&part));
        }
        if several {
            self.out.push('⟩');
        }
    }

    fn name_of(&mut self, var: &Var) -> String {
        if let Some(name) = self.names.get(&var.id()) {
            return name.clone();
        }
        self.choose(var);
        self.names.get(&var.id()).cloned().unwrap_or_default()
    }

    /// Gives the variable a name that no other one has here.
    fn choose(&mut self, var: &Var) -> (String, Option<(String, Option<u32>)>) {
        let base = var.name().trim_end_matches(|c: char| c.is_ascii_digit());
        let base = if base.is_empty() { var.name() } else { base };
        let mut hint = None;
        let name = if !var.is_fresh() && !self.used.contains_key(var.name()) {
            var.name().to_string()
        } else {
            let before = self.next.get(base).copied();
            let mut number = before.unwrap_or(1);
            while self.used.contains_key(&format!("{base}{number}")) {
                number += 1;
            }
            self.next.insert(base.to_string(), number + 1);
            hint = Some((base.to_string(), before));
            format!("{base}{number}")
        };
        *self.used.entry(name.clone()).or_default() += 1;
        self.names.insert(var.id(), name.clone());
        (name, hint)
    }

    fn enter(&mut self, pat: &Pat) -> Undo {
        let mut undo = Vec::new();
        for var in pat.vars().into_iter().rev() {
            let outer = self.names.remove(&var.id());
            let (name, hint) = self.choose(&var);
            undo.push((var.id(), outer, name, hint));
        }
        undo
    }

    fn leave(&mut self, mut undo: Undo) {
        while let Some((id, outer, name, hint)) = undo.pop() {
            match outer {
                Some(outer) => self.names.insert(id, outer),
                None => self.names.remove(&id),
            };
            if let Some(count) = self.used.get_mut(&name) {
                *count -= 1;
                if *count == 0 {
                    self.used.remove(&name);
                }
            }
            if let Some((base, before)) = hint {
                match before {
                    Some(before) => self.next.insert(base, before),
                    None => self.next.remove(&base),
                };
            }
        }
    }
}

fn own_level(term: &Term, notation: Notation) -> u8 {
    match term.kind() {
        Kind::Lam(..) | Kind::Let(..) | Kind::Sum(..) => 0,
        Kind::Pull(..) if notation == Notation::Machine => 3,
        Kind::Jac(..) | Kind::DualMap(..) | Kind::Pull(..) | Kind::Diff(..) => 1,
        Kind::App(..) => 2,
        Kind::Zero
        | Kind::Var(_)
        | Kind::Real(_)
        | Kind::Proj(..)
        | Kind::Pair(..)
        | Kind::Fun(..)
        | Kind::DualConst(_) => 3,
    }
}

/// A type in the paper's notation.
pub(crate) fn print_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(ty, 0, &mut out);
    out
}

fn write_type(ty: &Type, level: u8, out: &mut String) {
    if out.len() > 2000 {
        out.push('…');
        return;
    }
    if let Some(n) = reals(ty) {
        out.push_str(&if n == 1 { "R".to_string() } else { format!("R^{n}") });
        return;
    }
    deep(|| match ty.kind() {
        TypeKind::Real => out.push('R'),
        TypeKind::Product(a, b) => bracket(level > 1, out, |out| {
            write_type(a, 1, out);
            out.push_str(" × ");
            write_type(b, 2, out);
        }),
        TypeKind::Function(a, b) => match b.kind() {
            TypeKind::Dual(c) if a == c => {
                out.push('Ω');
                out.push('(');
                write_type(a, 0, out);
                out.push(')');
            }
            TypeKind::Real | TypeKind::Product(..) | TypeKind::Function(..) | TypeKind::Dual(_) => {
                bracket(level > 0, out, |out| {
                    write_type(a, 1, out);
                    out.push_str(" ⇒ ");
                    write_type(b, 0, out);
                });
            }
        },
        TypeKind::Dual(a) => {
            write_type(a, 2, out);
            out.push('*');
        }
    });
}

fn bracket(parentheses: bool, out: &mut String, inside: impl FnOnce(&mut String)) {
    if parentheses {
        out.push('(');
    }
    inside(out);
    if parentheses {
        out.push(')');
    }
}

/// n, if the type is Rⁿ nested to the left.
pub(crate) fn reals(ty: &Type) -> Option<usize> {
    ty.width()?;
    let (mut n, mut ty) = (1, ty.clone());
    while let TypeKind::Product(a, b) = ty.kind() {
        if !matches!(b.kind(), TypeKind::Real) {
            return None;
        }
        n += 1;
        let a = a.clone();
        ty = a;
    }
    Some(n)
}
