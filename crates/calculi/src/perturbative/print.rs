//! Prints types and terms as in the paper; the parser reads them back to the same term.
//!
//! Sums are printed with the paper's abbreviations: the summands `ι₁M` and `ι₂N` of a bag as one pair `⟨M, N⟩`. Bound
//! variables keep their names, with a number where a name is taken. A shared part is printed wherever it occurs, so a
//! text can be much longer than its graph: it ends with `…` after [`LONGEST`] bytes.

use super::parse::is_reserved;
use super::syntax::{Compare, Const, Half, Kind, Node, Term, Var, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;
use wengert_base::real;
use wengert_prim::RealOp;

/// How many bytes of a term are printed.
pub const LONGEST: usize = 20_000;

/// A term.
pub fn term(term: &Term) -> String {
    highlighted(term, None, LONGEST).0
}

/// A term, cut after `longest` bytes, and which bytes are the first occurrence of the node `focus`.
pub fn highlighted(term: &Term, focus: Option<&Term>, longest: usize) -> (String, Option<Range<usize>>) {
    let mut printer = Printer {
        out: String::new(),
        longest,
        focus: focus.map(Rc::as_ptr),
        range: None,
        names: FxHashMap::default(),
        taken: FxHashSet::default(),
    };
    printer.term(term, 0);
    if printer.full() {
        printer.out.push('…');
    }
    (printer.out, printer.range)
}

/// A number; a whole one without point.
pub fn number(r: f64) -> String {
    if r.fract() == 0.0 && r.abs() < 1e15 { format!("{r:.0}") } else { real::show(r) }
}

/// The name of a constant.
pub fn constant(c: Const) -> String {
    match c {
        Const::Choose(Compare::Eq) => "choose_eq".into(),
        Const::Choose(Compare::Lt) => "choose_lt".into(),
        Const::Choose(Compare::Le) => "choose_le".into(),
        Const::Op(RealOp::PowInt(n)) if n < 0 => format!("power_m{}", n.unsigned_abs()),
        Const::Op(RealOp::PowInt(n)) => format!("power_{n}"),
        Const::Op(RealOp::Polygamma(n)) => format!("polygamma_{n}"),
        Const::Op(RealOp::Add) => "add".into(),
        Const::Op(RealOp::Sub) => "sub".into(),
        Const::Op(RealOp::Mul) => "mul".into(),
        Const::Op(RealOp::Div) => "div".into(),
        Const::Op(RealOp::Neg) => "neg".into(),
        Const::Op(RealOp::Pow) => "pow".into(),
        Const::Op(op) => op.name().into(),
    }
}

/// The sign of a constant that is written between its arguments.
fn infix(c: Const) -> Option<&'static str> {
    match c {
        Const::Op(RealOp::Mul) => Some(" · "),
        Const::Op(RealOp::Div) => Some(" / "),
        Const::Op(RealOp::MulZero) => Some(" ⊙ "),
        Const::Op(RealOp::DivZero) => Some(" ⊘ "),
        Const::Op(_) | Const::Choose(_) => None,
    }
}

struct Printer {
    out: String,
    longest: usize,
    focus: Option<*const Node>,
    range: Option<Range<usize>>,
    names: FxHashMap<u32, String>,
    taken: FxHashSet<String>,
}

/// Where a term stands: 0 anywhere, 1 as a summand, 2 as a factor on the left, 3 on the right, 4 as an operator, 5 as an
/// operand.
type Level = u8;

impl Printer {
    fn put(&mut self, text: &str) {
        if !self.full() {
            self.out.push_str(text);
        }
    }

    fn full(&self) -> bool {
        self.out.len() > self.longest
    }

    fn name(&mut self, x: &Var) -> String {
        if let Some(known) = self.names.get(&x.id) {
            return known.clone();
        }
        let base = x.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let base = if base.is_empty() { "x" } else { base };
        let mut name = x.name.to_string();
        let mut count = 1;
        while self.taken.contains(&name) || is_reserved(&name) {
            count += 1;
            name = format!("{base}{count}");
        }
        self.taken.insert(name.clone());
        self.names.insert(x.id, name.clone());
        name
    }

    fn term(&mut self, term: &Term, level: Level) {
        if self.full() {
            return;
        }
        let start = self.out.len();
        let focused = self.focus == Some(Rc::as_ptr(term));
        deep(|| self.kind(&term.kind(), level));
        if focused && self.range.is_none() && !self.full() {
            self.range = Some(start..self.out.len());
        }
    }

    fn within(&mut self, parentheses: bool, print: impl FnOnce(&mut Printer)) {
        if parentheses {
            self.put("(");
        }
        print(self);
        if parentheses {
            self.put(")");
        }
    }

    fn kind(&mut self, kind: &Kind, level: Level) {
        match kind {
            Kind::Var(x) => {
                let name = self.name(x);
                self.put(&name);
            }
            Kind::Num(r) => self.within(*r < 0.0 && level > 0, |p| p.put(&number(*r))),
            Kind::Const(c) => self.put(&constant(*c)),
            Kind::Lam(x, s) => self.within(level > 0, |p| {
                let outer = p.names.remove(&x.id);
                let name = p.name(x);
                p.put("λ");
                p.put(&name);
                p.put(". ");
                p.term(s, 0);
                p.names.remove(&x.id);
                p.taken.remove(&name);
                if let Some(outer) = outer {
                    p.names.insert(x.id, outer);
                }
            }),
            Kind::App(s, n) => self.application(s, n, level),
            Kind::Push(s) => self.prefix("T ", s, level),
            Kind::Inj(Half::First, s) => self.prefix("ι1 ", s, level),
            Kind::Inj(Half::Second, s) => self.prefix("ι2 ", s, level),
            Kind::Proj(Half::First, s) => self.prefix("π1 ", s, level),
            Kind::Proj(Half::Second, s) => self.prefix("π2 ", s, level),
            Kind::Sum(parts) => self.sum(parts, level),
            Kind::Same(s) => self.term(s, level),
        }
    }

    fn prefix(&mut self, sign: &str, s: &Term, level: Level) {
        // `T s` binds like an operand: `T f x` is `(T f) x`.
        self.within(level > 5, |p| {
            p.put(sign);
            p.term(s, 5);
        });
    }

    fn application(&mut self, s: &Term, n: &Term, level: Level) {
        if let Kind::Const(c) = s.kind() {
            if let Some(sign) = infix(c)
                && let Some((first, second)) = halves(n)
            {
                return self.within(level > 2, |p| {
                    p.bag(&first, 2);
                    p.put(sign);
                    p.bag(&second, 3);
                });
            }
            if let Const::Op(RealOp::PowInt(exponent)) = c {
                return self.within(level > 5, |p| {
                    let simple = matches!(n.kind(), Kind::Var(_));
                    p.within(!simple, |p| p.term(n, 0));
                    p.put(&format!("^{exponent}"));
                });
            }
        }
        self.within(level > 4, |p| {
            p.term(s, 4);
            p.put(" ");
            p.term(n, 5);
        });
    }

    fn sum(&mut self, parts: &[Term], level: Level) {
        let mut flat = Vec::new();
        flatten(parts, &mut flat);
        if let Some((first, second)) = split(&flat)
            && !first.is_empty()
            && !second.is_empty()
        {
            self.put("⟨");
            self.bag(&first, 0);
            self.put(", ");
            self.bag(&second, 0);
            self.put("⟩");
            return;
        }
        self.bag(&flat, level);
    }

    /// The sum of terms.
    fn bag(&mut self, parts: &[Term], level: Level) {
        match parts {
            [] => self.put("0"),
            [only] => self.term(only, level),
            [first, rest @ ..] => self.within(level > 0, |p| {
                p.term(first, 1);
                for part in rest {
                    p.put(" + ");
                    p.term(part, 1);
                }
            }),
        }
    }
}

/// More summands than are ever printed. Bags may share bags, so there can be far more of them than nodes.
const MOST_SUMMANDS: usize = 20_000;

/// The summands of a bag, those of bags in it included, up to more than can be shown.
fn flatten(parts: &[Term], flat: &mut Vec<Term>) {
    for part in parts {
        if flat.len() > MOST_SUMMANDS {
            return;
        }
        match part.kind() {
            Kind::Sum(inner) => deep(|| flatten(&inner, flat)),
            _ => flat.push(part.clone()),
        }
    }
}

/// What is below `ι₁` and below `ι₂`, if the term is a sum of these only.
fn halves(term: &Term) -> Option<(Vec<Term>, Vec<Term>)> {
    let mut flat = Vec::new();
    flatten(std::slice::from_ref(term), &mut flat);
    split(&flat)
}

fn split(flat: &[Term]) -> Option<(Vec<Term>, Vec<Term>)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for part in flat {
        match part.kind() {
            Kind::Inj(Half::First, s) => flatten(&[s], &mut first),
            Kind::Inj(Half::Second, s) => flatten(&[s], &mut second),
            _ => return None,
        }
    }
    Some((first, second))
}
