//! The printer: the notation of Figure 1 in Unicode, which [`super::parse`] reads back.
//!
//! Operators stand between their operands where a function is applied to a pair; nested pairs are written as tuples, a
//! `case` that ignores its contents as `if`, a product of equal types as a power (`ℝ^7`).

use super::names;
use super::syntax::{Builtin, Const, E, Expr, Kind, LeafOp, Overloaded, Pat, Ty, grow};
use std::ops::Range;
use std::rc::Rc;
use wengert_base::real;
use wengert_prim::RealOp;

/// Types with more nodes are cut short.
const TYPE_BUDGET: usize = 2000;

/// How tightly a place binds: a term with a lower strength gets parentheses.
mod strength {
    pub(super) const BLOCK: u8 = 0;
    pub(super) const UNARY: u8 = 4;
    pub(super) const APPLICATION: u8 = 5;
    pub(super) const ATOM: u8 = 6;
}

/// A term.
pub(crate) fn term(e: &E) -> String {
    marked(e, std::ptr::null()).0
}

/// A term, and which bytes of it print the subterm `mark`.
pub(crate) fn marked(e: &E, mark: *const Expr) -> (String, Option<Range<usize>>) {
    let mut printer = Printer { out: String::new(), mark, range: None };
    printer.term(e, strength::BLOCK);
    (printer.out, printer.range)
}

/// A type.
pub(crate) fn ty(ty: &Ty) -> String {
    if ty.weight(TYPE_BUDGET + 1) > TYPE_BUDGET {
        return "…".into();
    }
    let mut out = String::new();
    write_type(&mut out, ty, 0);
    out
}

fn write_type(out: &mut String, ty: &Ty, above: u8) {
    grow(|| match ty {
        Ty::Real => out.push('ℝ'),
        Ty::Int => out.push('ℤ'),
        Ty::String => out.push_str("String"),
        Ty::Unit => out.push('1'),
        Ty::Delta => out.push_str("Delta"),
        Ty::DeltaMap => out.push_str("DeltaMap"),
        Ty::Var(name) => out.push_str(name.as_str()),
        Ty::Meta(_) => out.push('?'),
        Ty::Fun(a, b) => enclosed(out, above > 0, |out| {
            write_type(out, a, 1);
            out.push_str(" → ");
            write_type(out, b, 0);
        }),
        Ty::Rec(name, body) => enclosed(out, above > 0, |out| {
            out.push('μ');
            out.push_str(name.as_str());
            out.push_str(". ");
            write_type(out, body, 0);
        }),
        Ty::Sum(a, b) => enclosed(out, above > 1, |out| {
            write_type(out, a, 2);
            out.push_str(" + ");
            // Sums nest to the right.
            write_type(out, b, 1);
        }),
        Ty::Prod(..) => write_product(out, ty, above),
        Ty::Vector(a) => enclosed(out, above > 3, |out| {
            out.push_str("Vector ");
            write_type(out, a, 4);
        }),
        Ty::Monad(a) => enclosed(out, above > 3, |out| {
            out.push_str("M ");
            write_type(out, a, 4);
        }),
    });
}

fn write_product(out: &mut String, ty: &Ty, above: u8) {
    let mut parts = Vec::new();
    let mut rest = ty;
    while let Ty::Prod(a, b) = rest {
        parts.push(&**a);
        rest = b;
    }
    parts.push(rest);
    if let [first, others @ ..] = parts.as_slice()
        && others.iter().all(|part| part == first)
    {
        return enclosed(out, above > 3, |out| {
            write_type(out, first, 4);
            out.push_str(&format!("^{}", parts.len()));
        });
    }
    enclosed(out, above > 2, |out| {
        for (i, part) in parts.iter().enumerate() {
            out.push_str(if i > 0 { " × " } else { "" });
            write_type(out, part, 3);
        }
    });
}

fn enclosed(out: &mut String, parentheses: bool, f: impl FnOnce(&mut String)) {
    out.push_str(if parentheses { "(" } else { "" });
    f(out);
    out.push_str(if parentheses { ")" } else { "" });
}

struct Printer {
    out: String,
    mark: *const Expr,
    range: Option<Range<usize>>,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn term(&mut self, e: &E, above: u8) {
        let start = self.out.len();
        grow(|| self.node(e, above));
        if std::ptr::eq(Rc::as_ptr(e), self.mark) && self.range.is_none() {
            self.range = Some(start..self.out.len());
        }
    }

    fn enclosed(&mut self, parentheses: bool, f: impl FnOnce(&mut Self)) {
        self.text(if parentheses { "(" } else { "" });
        f(self);
        self.text(if parentheses { ")" } else { "" });
    }

    fn pattern(&mut self, pat: &Pat) {
        match pat {
            Pat::Var(name) => self.text(name.as_str()),
            Pat::Wild => self.text("_"),
            Pat::Pair(a, b) => grow(|| {
                self.text("(");
                self.pattern(a);
                let mut rest = b;
                while let Pat::Pair(a, b) = &**rest {
                    self.text(", ");
                    self.pattern(a);
                    rest = b;
                }
                self.text(", ");
                self.pattern(rest);
                self.text(")");
            }),
        }
    }

    fn node(&mut self, e: &E, above: u8) {
        let block = above > strength::BLOCK;
        match &e.kind {
            Kind::Var(name, _) => self.text(name.as_str()),
            Kind::Opaque(text) => self.text(text),
            Kind::Const(constant) => self.constant(constant, above),
            Kind::Lam(pat, ty, body) => self.enclosed(block, |p| p.lambda(pat, ty.as_ref(), body)),
            Kind::Let(pat, value, body) => self.enclosed(block, |p| {
                p.text("let ");
                p.pattern(pat);
                p.text(" = ");
                p.term(value, strength::BLOCK);
                p.text(" in ");
                p.term(body, strength::BLOCK);
            }),
            Kind::LetRec(name, ty, value, body) => self.enclosed(block, |p| {
                p.text("letrec ");
                p.text(name.as_str());
                if let Some(ty) = ty {
                    p.text(" : ");
                    p.text(&self::ty(ty));
                }
                p.text(" = ");
                p.term(value, strength::BLOCK);
                p.text(" in ");
                p.term(body, strength::BLOCK);
            }),
            Kind::Case(e, p, a, q, b) => self.enclosed(block, |printer| printer.case(e, p, a, q, b)),
            Kind::Do(..) => self.enclosed(block, |p| p.statements(e)),
            Kind::App(f, x) => self.application(f, x, above),
            Kind::Pair(a, b) => self.tuple(a, b),
            Kind::Fst(a) => self.prefixed("fst ", a, above),
            Kind::Snd(a) => self.prefixed("snd ", a, above),
            Kind::Inl(a) => self.prefixed("inl ", a, above),
            Kind::Inr(a) => self.prefixed("inr ", a, above),
            Kind::Pure(a) => self.prefixed("pure ", a, above),
            Kind::Unroll(a) => self.prefixed("unroll ", a, above),
            Kind::Roll(ty, a) => self.prefixed(&format!("roll_{{{}}} ", self::ty(ty)), a, above),
            Kind::Ann(a, ty) => {
                self.text("(");
                self.term(a, strength::BLOCK);
                self.text(" : ");
                self.text(&self::ty(ty));
                self.text(")");
            }
        }
    }

    /// Pairs nested to the right, as one tuple.
    fn tuple(&mut self, a: &E, b: &E) {
        self.text("(");
        self.term(a, strength::BLOCK);
        let mut rest = b;
        // A marked pair is kept in one piece, so that its range is one.
        while let Kind::Pair(a, b) = &rest.kind
            && !std::ptr::eq(Rc::as_ptr(rest), self.mark)
        {
            self.text(", ");
            self.term(a, strength::BLOCK);
            rest = b;
        }
        self.text(", ");
        self.term(rest, strength::BLOCK);
        self.text(")");
    }

    fn lambda(&mut self, pat: &Pat, ty: Option<&Ty>, body: &E) {
        self.text("λ");
        if let Some(ty) = ty {
            self.text("(");
            self.pattern(pat);
            self.text(" : ");
            self.text(&self::ty(ty));
            self.text(")");
        } else {
            self.pattern(pat);
        }
        self.text(". ");
        self.term(body, strength::BLOCK);
    }

    fn case(&mut self, e: &E, p: &Pat, a: &E, q: &Pat, b: &E) {
        if *p == Pat::Wild && *q == Pat::Wild {
            self.text("if ");
            self.term(e, strength::BLOCK);
            self.text(" then ");
            self.term(a, strength::BLOCK);
            self.text(" else ");
            return self.term(b, strength::BLOCK);
        }
        self.text("case ");
        self.term(e, strength::BLOCK);
        self.text(" of inl ");
        self.pattern(p);
        self.text(" → ");
        self.term(a, strength::BLOCK);
        self.text(", inr ");
        self.pattern(q);
        self.text(" → ");
        self.term(b, strength::BLOCK);
    }

    /// `do { p ← e; … }` with the statements of the last one in the same braces.
    fn statements(&mut self, e: &E) {
        self.text("do { ");
        let mut rest = e;
        while let Kind::Do(pat, value, next) = &rest.kind {
            self.pattern(pat);
            self.text(" ← ");
            self.term(value, strength::BLOCK);
            self.text("; ");
            rest = next;
        }
        self.term(rest, strength::BLOCK);
        self.text(" }");
    }

    fn prefixed(&mut self, word: &str, e: &E, above: u8) {
        self.enclosed(above > strength::APPLICATION, |p| {
            p.text(word);
            p.term(e, strength::ATOM);
        });
    }

    fn application(&mut self, f: &E, x: &E, above: u8) {
        if let (Kind::Const(constant), Kind::Pair(a, b)) = (&f.kind, &x.kind)
            && let Some((sign, strength)) = infix(constant)
        {
            return self.enclosed(above > strength, |p| {
                p.term(a, strength);
                p.text(" ");
                p.text(&sign);
                p.text(" ");
                p.term(b, strength + 1);
            });
        }
        if let Kind::Const(Const::RealOp(RealOp::PowInt(n))) = &f.kind {
            return self.enclosed(above > strength::UNARY, |p| {
                p.term(x, strength::APPLICATION);
                p.text(&format!(" ^ {n}"));
            });
        }
        self.enclosed(above > strength::APPLICATION, |p| {
            p.term(f, strength::APPLICATION);
            p.text(" ");
            p.term(x, strength::ATOM);
        });
    }

    fn constant(&mut self, constant: &Const, above: u8) {
        let negative = |text: &str| text.starts_with('-') && above > strength::UNARY;
        match constant {
            Const::Real(x) => {
                let text = real::show(*x);
                self.enclosed(negative(&text), |p| p.text(&text));
            }
            Const::Int(n) => {
                let text = n.to_string();
                self.enclosed(negative(&text), |p| p.text(&text));
            }
            Const::Str(text) => {
                let escaped =
                    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
                self.text(&format!("\"{escaped}\""));
            }
            Const::Unit => self.text("()"),
            Const::RealOp(op) => self.text(&names::real_op(*op)),
            Const::Leaf(op) => self.text(&names::leaf(*op)),
            Const::Overloaded(Overloaded::Neg) => self.text("negate"),
            Const::Overloaded(op) => self.text(&format!("({})", op.sign())),
            Const::Poly(poly, ty) => {
                let subscript = ty.as_ref().map(|ty| format!("_{{{}}}", self::ty(ty))).unwrap_or_default();
                let name = names::poly(*poly);
                let sign = !name.starts_with(|c: char| c.is_alphabetic());
                self.enclosed(sign, |p| p.text(&format!("{name}{subscript}")));
            }
            Const::Fun(builtin) => self.text(names::builtin(*builtin)),
        }
    }
}

/// The sign of a function that stands between its operands, and its strength.
fn infix(constant: &Const) -> Option<(String, u8)> {
    match constant {
        Const::RealOp(op) => names::infix(*op).map(|(sign, strength)| (sign.to_string(), strength)),
        Const::Leaf(op @ LeafOp::CompareReal(_)) => {
            names::leaf_infix(*op).map(|(sign, strength)| (sign.trim_end_matches('ℝ').to_string(), strength))
        }
        Const::Leaf(op) => names::leaf_infix(*op),
        Const::Overloaded(op) => match op {
            Overloaded::Neg => None,
            Overloaded::Add | Overloaded::Sub => Some((op.sign().into(), 2)),
            Overloaded::Mul | Overloaded::Div => Some((op.sign().into(), 3)),
            Overloaded::Compare(_) => Some((op.sign().into(), 1)),
        },
        Const::Poly(poly, ty) => {
            let name = names::poly(*poly);
            let subscript = ty.as_ref().map(|ty| format!("_{{{}}}", self::ty(ty))).unwrap_or_default();
            let strength = if name == "⊕" { 2 } else { 3 };
            (!name.starts_with(|c: char| c.is_alphabetic())).then(|| (format!("{name}{subscript}"), strength))
        }
        Const::Fun(Builtin::Zero | Builtin::OneHot | Builtin::Scale | Builtin::Add | Builtin::Var) => None,
        Const::Fun(_) | Const::Real(_) | Const::Int(_) | Const::Str(_) | Const::Unit => None,
    }
}
