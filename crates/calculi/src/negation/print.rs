//! Prints types and terms as in the paper, in Unicode; the parser reads it back to the same term.
//!
//! Precedences, low to high: `λ`, `+ -`, `· /`, explicit substitution, application, atoms. Bound variables keep their
//! names, with a number after `_` where a name is already taken in the scope.

use super::syntax::{Kind, Node, Symbol, Tm, Ty, Var, deep, free_vars};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use wengert_prim::RealOp;

/// A type: `R^⊥ → R × R`.
pub fn ty(t: &Ty) -> String {
    let mut out = String::new();
    write_ty(t, 0, &mut out);
    out
}

fn write_ty(t: &Ty, level: u8, out: &mut String) {
    deep(|| match t {
        Ty::Real => out.push('R'),
        Ty::Neg(1) => out.push_str("R^⊥"),
        Ty::Neg(d) => out.push_str(&format!("R^⊥{d}")),
        Ty::Prod(a, b) => within(level > 1, out, |out| {
            write_ty(a, 2, out);
            out.push_str(" × ");
            write_ty(b, 1, out);
        }),
        Ty::Fun(a, b) => within(level > 0, out, |out| {
            write_ty(a, 1, out);
            out.push_str(" → ");
            write_ty(b, 0, out);
        }),
    });
}

fn within(parentheses: bool, out: &mut String, f: impl FnOnce(&mut String)) {
    if parentheses {
        out.push('(');
    }
    f(out);
    if parentheses {
        out.push(')');
    }
}

/// A term.
pub fn term(tm: &Tm) -> String {
    highlighted(tm, None).0
}

/// A term with the declarations of its free variables: `x : !R ⊢ …`, as the parser wants it.
pub fn sequent(tm: &Tm) -> String {
    let mut printer = Printer::new(tm, None);
    let declarations: Vec<String> = free_vars(tm)
        .iter()
        .map(|x| format!("{} : {}{}", printer.name(x), if x.linear { "" } else { "!" }, ty(&x.ty)))
        .collect();
    printer.write(tm, 0);
    if declarations.is_empty() {
        printer.out
    } else {
        format!("{} ⊢ {}", declarations.join(", "), printer.out)
    }
}

/// A term, and which bytes of the text are the node `focus`.
pub fn highlighted(tm: &Tm, focus: Option<&Tm>) -> (String, Option<Range<usize>>) {
    let mut printer = Printer::new(tm, focus);
    printer.write(tm, 0);
    (printer.out, printer.range)
}

/// A function symbol as it is written before its arguments.
pub fn symbol(f: Symbol) -> String {
    match f {
        Symbol::Op(RealOp::PowInt(n)) => format!("power_{}", integer(n)),
        Symbol::Op(RealOp::Polygamma(n)) => format!("polygamma_{n}"),
        Symbol::Op(RealOp::Pow) => "pow".to_owned(),
        Symbol::Op(RealOp::Sub) => "minus".to_owned(),
        Symbol::Op(RealOp::Mul) => "times".to_owned(),
        Symbol::Op(RealOp::Div) => "divided".to_owned(),
        Symbol::Op(op) => op.name().to_owned(),
        Symbol::Partial(op, i) => format!("∂{}_{}", i + 1, symbol(Symbol::Op(op))),
    }
}

/// Minus signs are no part of names.
fn integer(n: i64) -> String {
    if n < 0 { format!("m{}", n.unsigned_abs()) } else { n.to_string() }
}

struct Printer<'a> {
    out: String,
    focus: Option<&'a Tm>,
    range: Option<Range<usize>>,
    names: FxHashMap<u64, String>,
    taken: FxHashSet<String>,
    last: FxHashMap<String, u64>,
}

impl<'a> Printer<'a> {
    fn new(tm: &Tm, focus: Option<&'a Tm>) -> Printer<'a> {
        let (names, taken, last) = (FxHashMap::default(), FxHashSet::default(), FxHashMap::default());
        let mut printer = Printer { out: String::new(), focus, range: None, names, taken, last };
        for x in free_vars(tm) {
            printer.bind(&x);
        }
        printer
    }

    fn bind(&mut self, x: &Var) -> String {
        let mut name = x.name.to_string();
        if self.taken.contains(&name) || Symbol::by_name(&name).is_some() {
            let stem = stem(&name).to_owned();
            let last = self.last.entry(stem.clone()).or_insert(1);
            loop {
                *last += 1;
                name = format!("{stem}_{last}");
                if !self.taken.contains(&name) {
                    break;
                }
            }
        }
        self.taken.insert(name.clone());
        self.names.insert(x.id, name.clone());
        name
    }

    fn unbind(&mut self, x: &Var) {
        if let Some(name) = self.names.remove(&x.id) {
            if let Some(last) = self.last.get_mut(stem(&name))
                && name.ends_with(&format!("_{last}"))
            {
                *last -= 1;
            }
            self.taken.remove(&name);
        }
    }

    fn name(&self, x: &Var) -> String {
        self.names.get(&x.id).cloned().unwrap_or_else(|| x.name.to_string())
    }

    fn annotation(&mut self, x: &Var, name: &str) {
        self.out.push_str(&format!("{name}:{}", if x.linear { "" } else { "!" }));
        write_ty(&x.ty, 0, &mut self.out);
    }

    fn write(&mut self, tm: &Tm, level: u8) {
        let start = self.out.len();
        deep(|| self.node(tm, level));
        if self.focus.is_some_and(|focus| std::ptr::eq::<Node>(&**focus, &**tm)) && self.range.is_none() {
            self.range = Some(start..self.out.len());
        }
    }

    fn enclosed(&mut self, parentheses: bool, f: impl FnOnce(&mut Self)) {
        if parentheses {
            self.out.push('(');
        }
        f(self);
        if parentheses {
            self.out.push(')');
        }
    }

    fn infix(&mut self, t: &Tm, operator: &str, u: &Tm, at: u8, level: u8) {
        self.enclosed(level > at, |p| {
            p.write(t, at);
            p.out.push_str(operator);
            p.write(u, at + 1);
        });
    }

    fn node(&mut self, tm: &Tm, level: u8) {
        match &tm.kind {
            Kind::Var(x) => {
                let name = self.name(x);
                self.out.push_str(&name);
            }
            Kind::Num(r) => self.numeral(*r, level),
            Kind::Lam(x, body) => self.enclosed(level > 0, |p| {
                let name = p.bind(x);
                p.out.push('λ');
                p.annotation(x, &name);
                p.out.push_str(". ");
                p.write(body, 0);
                p.unbind(x);
            }),
            Kind::App(t, u) => self.enclosed(level > 4, |p| {
                p.write(t, 4);
                p.out.push(' ');
                p.write(u, 5);
            }),
            Kind::Pair(t, u) => {
                self.out.push('⟨');
                self.write(t, 0);
                self.out.push_str(", ");
                self.write(u, 0);
                self.out.push('⟩');
            }
            Kind::Sub(..) | Kind::SubPair(..) => self.enclosed(level > 3, |p| p.substitution(tm)),
            Kind::Add(t, u) => self.infix(t, " + ", u, 1, level),
            Kind::Fun(f, args) => self.function(*f, args, level),
        }
    }

    /// A chain of substitutions `t[p₁ := u₁]…[p_n := u_n]`: binders of the outer ones are in scope of the inner, so
    /// names are given from the outside, and `uᵢ` is printed when the names of the inner ones are given back.
    fn substitution(&mut self, tm: &Tm) {
        match &tm.kind {
            Kind::Sub(t, x, u) => {
                let name = self.bind(x);
                self.write(t, 3);
                self.unbind(x);
                self.out.push('[');
                self.annotation(x, &name);
                self.out.push_str(" := ");
                self.write(u, 0);
                self.out.push(']');
            }
            Kind::SubPair(t, x, y, u) => {
                let names = (self.bind(x), self.bind(y));
                self.write(t, 3);
                self.unbind(x);
                self.unbind(y);
                self.out.push_str("[⟨");
                self.annotation(x, &names.0);
                self.out.push_str(", ");
                self.annotation(y, &names.1);
                self.out.push_str("⟩ := ");
                self.write(u, 0);
                self.out.push(']');
            }
            Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::App(..) | Kind::Pair(..) => {}
            Kind::Add(..) | Kind::Fun(..) => {}
        }
    }

    fn numeral(&mut self, r: f64, level: u8) {
        let text = if r.is_nan() {
            "nan".to_owned()
        } else if r.is_infinite() {
            if r > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
        } else if r == r.trunc() && r.abs() < 1e15 {
            if r == 0.0 && r.is_sign_negative() { "-0".to_owned() } else { format!("{r:.0}") }
        } else {
            wengert_base::real::show(r)
        };
        self.enclosed(text.starts_with('-') && level > 0, |p| p.out.push_str(&text));
    }

    fn function(&mut self, f: Symbol, args: &[Tm], level: u8) {
        match (f, args) {
            (Symbol::Op(RealOp::Sub), [t, u]) => self.infix(t, " - ", u, 1, level),
            (Symbol::Op(RealOp::Mul), [t, u]) => self.infix(t, " · ", u, 2, level),
            (Symbol::Op(RealOp::Div), [t, u]) => self.infix(t, " / ", u, 2, level),
            _ => {
                self.out.push_str(&symbol(f));
                self.out.push('(');
                for (i, arg) in args.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.write(arg, 0);
                }
                self.out.push(')');
            }
        }
    }
}

/// A name without the number that was put after it.
fn stem(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, digits)) if !stem.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    }
}

impl Symbol {
    /// The symbol of that name, in Unicode or ASCII spelling (`∂1_hypot`, `d1_hypot`).
    pub fn by_name(name: &str) -> Option<Symbol> {
        let partial = name.strip_prefix('∂').or_else(|| name.strip_prefix('d'));
        if let Some((i, of)) = partial.and_then(|rest| rest.split_once('_'))
            && let Ok(i) = i.parse::<usize>()
        {
            return match Symbol::by_name(of)? {
                Symbol::Op(op) if (1..=op.arity()).contains(&i) => Some(Symbol::Partial(op, i - 1)),
                Symbol::Op(_) | Symbol::Partial(..) => None,
            };
        }
        if let Some(n) = name.strip_prefix("power_") {
            let n = n.strip_prefix('m').map_or_else(|| n.parse(), |n| format!("-{n}").parse());
            return n.ok().map(|n| Symbol::Op(RealOp::PowInt(n)));
        }
        if let Some(n) = name.strip_prefix("polygamma_") {
            return n.parse().ok().filter(|n| *n > 0).map(|n| Symbol::Op(RealOp::Polygamma(n)));
        }
        let parametric = |op: &RealOp| matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_) | RealOp::Add);
        RealOp::SAMPLES
            .iter()
            .filter(|op| !parametric(op))
            .map(|op| Symbol::Op(*op))
            .find(|f| symbol(*f) == name)
    }
}
