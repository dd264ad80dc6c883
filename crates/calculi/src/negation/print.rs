//! Prints types and terms as in the paper, in Unicode; the parser reads it back to the same term.
//!
//! Precedences, low to high: `λ`, `+ -`, `· /`, explicit substitution, application, atoms. Bound variables keep their
//! names, with a number after `_` where the name is that of another variable which occurs in the scope: so
//! `t[x := ⟨x, λa. x' a⟩]` is printed as in the paper, where the two `x` are two variables.

use super::syntax::{Kind, Node, Symbol, Tm, Ty, Var, deep, free_vars};
use rustc_hash::FxHashMap;
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
    let mut printer = Printer::new(tm, None, true);
    printer.write(tm, 0);
    printer.out
}

/// A term without the types of its variables, as the paper writes terms.
pub fn plain(tm: &Tm) -> String {
    highlighted(tm, None).0
}

/// A term with the declarations of its free variables: `x : !R ⊢ …`, as the parser wants it.
pub fn sequent(tm: &Tm) -> String {
    let mut printer = Printer::new(tm, None, true);
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

/// A term without types, and which bytes of the text are the node `focus`.
pub fn highlighted(tm: &Tm, focus: Option<&Tm>) -> (String, Option<Range<usize>>) {
    let mut printer = Printer::new(tm, focus, false);
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

/// Where each variable occurs: the nodes of the tree are numbered in the order in which they are printed.
fn occurrences_of(tm: &Tm) -> FxHashMap<u64, Vec<u64>> {
    let (mut found, mut waiting, mut at) = (FxHashMap::<u64, Vec<u64>>::default(), vec![tm], 0u64);
    while let Some(tm) = waiting.pop() {
        if let Kind::Var(x) = &tm.kind {
            found.entry(x.id).or_default().push(at);
        }
        at += 1;
        waiting.extend(tm.kind.children().into_iter().rev());
    }
    found
}

struct Printer<'a> {
    out: String,
    focus: Option<&'a Tm>,
    range: Option<Range<usize>>,
    annotated: bool,
    names: FxHashMap<u64, String>,
    /// The variables in scope by the name that they have here, innermost last.
    named: FxHashMap<String, Vec<u64>>,
    occurrences: FxHashMap<u64, Vec<u64>>,
    /// The number of the next node.
    at: u64,
}

impl<'a> Printer<'a> {
    fn new(tm: &Tm, focus: Option<&'a Tm>, annotated: bool) -> Printer<'a> {
        let mut printer = Printer {
            out: String::new(),
            focus,
            range: None,
            annotated,
            names: FxHashMap::default(),
            named: FxHashMap::default(),
            occurrences: occurrences_of(tm),
            at: 0,
        };
        for x in free_vars(tm) {
            printer.bind(&x, tm.size);
        }
        printer
    }

    /// Names a variable whose scope is printed next and has `size` nodes. Another variable of that name may be hidden by
    /// it, if it does not occur there.
    fn bind(&mut self, x: &Var, size: u64) -> String {
        let scope = self.at..self.at.saturating_add(size);
        let stem = stem(&x.name);
        let mut name = x.name.to_string();
        let mut number = 1;
        while Symbol::by_name(&name).is_some() || self.is_taken(&name, &scope) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        self.named.entry(name.clone()).or_default().push(x.id);
        self.names.insert(x.id, name.clone());
        name
    }

    fn is_taken(&self, name: &str, scope: &Range<u64>) -> bool {
        let occurs = |id: &u64| {
            let all = self.occurrences.get(id).map_or(&[][..], Vec::as_slice);
            all.get(all.partition_point(|at| *at < scope.start)).is_some_and(|at| *at < scope.end)
        };
        self.named.get(name).is_some_and(|ids| ids.iter().any(occurs))
    }

    fn unbind(&mut self, x: &Var) {
        if let Some(name) = self.names.remove(&x.id)
            && let Some(ids) = self.named.get_mut(&name)
        {
            ids.retain(|id| *id != x.id);
        }
    }

    fn name(&self, x: &Var) -> String {
        self.names.get(&x.id).cloned().unwrap_or_else(|| x.name.to_string())
    }

    fn annotation(&mut self, x: &Var, name: &str) {
        self.out.push_str(name);
        if self.annotated {
            self.out.push_str(if x.linear { ":" } else { ":!" });
            write_ty(&x.ty, 0, &mut self.out);
        }
    }

    fn write(&mut self, tm: &Tm, level: u8) {
        let start = self.out.len();
        self.at += 1;
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
                let name = p.bind(x, body.size);
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
                let name = self.bind(x, t.size);
                self.write(t, 3);
                self.unbind(x);
                self.out.push('[');
                self.annotation(x, &name);
                self.out.push_str(" := ");
                self.write(u, 0);
                self.out.push(']');
            }
            Kind::SubPair(t, x, y, u) => {
                let names = (self.bind(x, t.size), self.bind(y, t.size));
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
