//! Terms of a sum that are the same product but for a constant become one.
//!
//! The derivative of a power, or of a quotient of powers, adds a product for each place where a factor stands, and several of
//! these are the same number.
//!
//! ```text
//! a = t * x   b = x * t   c = y + a   d = c + b            becomes   p = a * 2.0   d = y + p
//! a = t * 3.0   b = t * x   c = b - a   d = c - t          becomes   p = t * -4.0  d = b + p
//! a = x - 1.0   b = y + a   c = b + 3.0                    becomes   a = y + x     c = a + 2.0
//! ```
//!
//! That rounds differently, and where products are infinite or underflow on the way results differ. The pass is for where numbers need
//! not be to the last bit those of the interpreter. Terms that take from each other stay: they may be infinite.

use crate::doubles::handed_on;
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::Op;
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// More factors, and more terms, than these are not looked at.
const FACTORS: usize = 8;
const TERMS: usize = 32;
/// Constants up to this one are added up beforehand: larger ones may be there to round what they are added to.
const LARGE: f64 = 1e6;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let (products, bases) = (FxHashMap::default(), FxHashMap::default());
        let mut terms = Terms { func, uses, products, bases, carried: FxHashSet::default() };
        changed |= terms.block(&mut body);
        func.body = body;
    }
    changed
}

/// How zeros meet what is infinite in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zeros {
    /// Not at all: there is one factor, perhaps several times.
    Nowhere,
    /// They win.
    Strong,
    /// The product is no number.
    Weak,
}

/// A constant times some variables.
#[derive(Clone, Debug)]
struct Product {
    constant: f64,
    /// In order.
    factors: Vec<Var>,
    zeros: Zeros,
}

impl Product {
    fn of(var: Var) -> Product {
        Product { constant: 1.0, factors: vec![var], zeros: Zeros::Nowhere }
    }

    fn times(mut self, constant: f64) -> Option<Product> {
        self.constant *= constant;
        self.constant.is_normal().then_some(self)
    }

    /// The product of two, in which zeros win or do not; nothing if zeros would be something else in it than before.
    fn and(mut self, other: Product, zeros: Zeros) -> Option<Product> {
        self.factors.extend(other.factors);
        self.factors.sort_unstable();
        let one = self.factors.first() == self.factors.last();
        let fits = |inside: Zeros| inside == Zeros::Nowhere || inside == zeros;
        if !fits(self.zeros) || !fits(other.zeros) || self.factors.len() > FACTORS {
            return None;
        }
        self.zeros = if one { Zeros::Nowhere } else { zeros };
        self.times(other.constant)
    }

    fn is_like(&self, other: &Product) -> bool {
        self.zeros == other.zeros && self.factors == other.factors
    }
}

/// A term of a sum.
#[derive(Clone, Debug)]
struct Term {
    atom: Atom,
    /// What it is added with: 1 or -1.
    sign: f64,
}

/// Sums of a block, with how many terms they have if those of sums in them are counted that nothing else needs.
type Sums = FxHashMap<Var, (RealOp, [Atom; 2], usize)>;

struct Terms<'f> {
    func: &'f mut Func,
    uses: FxHashMap<Var, usize>,
    /// What variables are products of, if they are.
    products: FxHashMap<Var, Product>,
    /// The variables that others are but for a sign or a constant.
    bases: FxHashMap<Var, Var>,
    /// What loops hand on, and sums with it: what is added up from step to step is added to last.
    carried: FxHashSet<Var>,
}

impl Terms<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut sums = Sums::default();
            let stmts = std::mem::take(&mut place.stmts);
            place.stmts.reserve(stmts.len());
            for mut stmt in stmts {
                self.carried.extend(handed_on(&stmt.op));
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                if let (Op::Real(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) {
                    let (op, out) = (*op, *out);
                    if let Some(product) = self.product(op, args) {
                        self.products.insert(out, product);
                        let base = multiple_of(op, args);
                        self.bases
                            .extend(base.map(|var| (out, self.bases.get(&var).copied().unwrap_or(var))));
                    }
                    if let (RealOp::Add | RealOp::Sub, [x, y]) = (op, args.as_slice()) {
                        let args = [x.clone(), y.clone()];
                        if let Some(better) = self.sum(op, &args, &sums, stmt.span, &mut place.stmts) {
                            changed = true;
                            stmt.op = better;
                        }
                        if args.iter().any(|arg| self.is_carried(arg)) {
                            self.carried.insert(out);
                        }
                        // Twice a number is a product.
                        if args.first() != args.last() {
                            let count = self.count(&args, &sums);
                            sums.insert(out, (op, args, count));
                        }
                    }
                }
                place.stmts.push(stmt);
            }
            changed
        })
    }

    /// A variable as a product, if it is a number.
    fn factor(&self, atom: &Atom) -> Option<Product> {
        let var = atom.var()?;
        Some(self.products.get(&var).cloned().unwrap_or_else(|| Product::of(var)))
    }

    fn product(&self, op: RealOp, args: &[Atom]) -> Option<Product> {
        match (op, args) {
            (RealOp::Neg, [x]) => self.factor(x)?.times(-1.0),
            (RealOp::Add, [x, y]) if x == y => self.factor(x)?.times(2.0),
            (RealOp::Mul | RealOp::MulZero, [x, Atom::Real(c)] | [Atom::Real(c), x]) => {
                self.factor(x)?.times(*c)
            }
            (RealOp::Mul, [x, y]) => self.factor(x)?.and(self.factor(y)?, Zeros::Weak),
            (RealOp::MulZero, [x, y]) => self.factor(x)?.and(self.factor(y)?, Zeros::Strong),
            _ => None,
        }
    }

    /// How many terms a sum has.
    fn count(&self, args: &[Atom; 2], sums: &Sums) -> usize {
        let counts = args.iter().map(|arg| self.inner(arg, sums).map_or(1, |(_, _, count)| *count));
        counts.fold(0, usize::saturating_add)
    }

    /// The sum that a term is, if nothing else needs that.
    fn inner<'s>(&self, atom: &Atom, sums: &'s Sums) -> Option<&'s (RealOp, [Atom; 2], usize)> {
        atom.var().filter(|var| self.uses.get(var) == Some(&1)).and_then(|var| sums.get(&var))
    }

    /// The terms of a sum, those of sums in it included that nothing else needs. There are few.
    fn terms(&self, op: RealOp, args: &[Atom; 2], sums: &Sums, sign: f64, terms: &mut Vec<Term>) {
        let [first, second] = args;
        let other = if op == RealOp::Sub { -sign } else { sign };
        for (atom, sign) in [(first, sign), (second, other)] {
            match self.inner(atom, sums) {
                Some((op, args, _)) => self.terms(*op, args, sums, sign, terms),
                None => terms.push(Term { atom: atom.clone(), sign }),
            }
        }
    }

    /// A sum with fewer terms, if some of them are alike: what has to be computed before it is put into `before`.
    fn sum(
        &mut self,
        op: RealOp,
        args: &[Atom; 2],
        sums: &Sums,
        span: Span,
        before: &mut Vec<Stmt>,
    ) -> Option<Op> {
        if self.count(args, sums) > TERMS {
            return None;
        }
        let mut terms = Vec::new();
        self.terms(op, args, sums, 1.0, &mut terms);
        let count = terms.len();
        let terms = self.together(with_one_constant(terms));
        if terms.len() == count || args.first() == args.last() {
            return None;
        }
        let mut made = Vec::with_capacity(terms.len());
        for (atom, constant) in terms {
            if constant.abs() == 1.0 {
                made.push((atom, constant < 0.0));
            } else {
                let product = Op::Real(RealOp::Mul, vec![atom, Atom::Real(constant)]);
                made.push((self.emit(product, span, before), false));
            }
        }
        // What is carried comes last, so that a step waits for one sum only.
        made.sort_by_key(|(atom, _)| self.is_carried(atom));
        let start = made.iter().position(|(_, negative)| !negative).unwrap_or_default();
        let (mut sum, negative) = made.get(start).cloned()?;
        if negative {
            sum = self.emit(Op::Real(RealOp::Neg, vec![sum]), span, before);
        }
        made.remove(start);
        let Some((last, negative)) = made.pop() else { return Some(Op::Copy(sum)) };
        let op = |negative: bool| if negative { RealOp::Sub } else { RealOp::Add };
        for (atom, negative) in made {
            sum = self.emit(Op::Real(op(negative), vec![sum, atom]), span, before);
        }
        let args = if !negative && self.is_carried(&last) { vec![last, sum] } else { vec![sum, last] };
        Some(Op::Real(op(negative), args))
    }

    /// Terms that are alike become one, where the first of them is: a number, and with what it is multiplied.
    fn together(&self, terms: Vec<Term>) -> Vec<(Atom, f64)> {
        let mut groups: Vec<(Option<Product>, Vec<Term>)> = Vec::new();
        for term in terms {
            let product = self.factor(&term.atom);
            let like = product.as_ref().and_then(|product| {
                groups
                    .iter_mut()
                    .find(|(other, _)| other.as_ref().is_some_and(|other| other.is_like(product)))
            });
            match like {
                Some((_, group)) => group.push(term),
                None => groups.push((product, vec![term])),
            }
        }
        let mut made = Vec::with_capacity(groups.len());
        for (_, group) in groups {
            let constant = |atom: &Atom| self.factor(atom).map_or(1.0, |product| product.constant);
            let parts: Vec<f64> = group.iter().map(|term| term.sign * constant(&term.atom)).collect();
            let total: f64 = parts.iter().sum();
            let along = parts.iter().all(|part| part.is_sign_positive() == total.is_sign_positive());
            let bases: Vec<Atom> = group.iter().map(|term| self.base(&term.atom)).collect();
            let base = bases.iter().find(|base| constant(base).abs() == 1.0).or(bases.first());
            match base {
                Some(base) if group.len() > 1 && along && total.is_normal() => {
                    made.push((base.clone(), total / constant(base)));
                }
                _ => made.extend(group.into_iter().map(|term| (term.atom, term.sign))),
            }
        }
        made
    }

    fn base(&self, atom: &Atom) -> Atom {
        let base = atom.var().and_then(|var| self.bases.get(&var));
        base.map_or_else(|| atom.clone(), |base| Atom::Var(*base))
    }

    fn is_carried(&self, atom: &Atom) -> bool {
        atom.var().is_some_and(|var| self.carried.contains(&var))
    }

    fn emit(&mut self, op: Op, span: Span, before: &mut Vec<Stmt>) -> Atom {
        let var = self.func.vars.push(VarInfo { name: Name::new("t"), ty: Ty::REAL });
        before.push(Stmt { outs: vec![var], op, span });
        Atom::Var(var)
    }
}

/// Terms with the sum of the constants among them where the first of these is. Nothing else is infinite because of them, so they may take from
/// each other.
fn with_one_constant(mut terms: Vec<Term>) -> Vec<Term> {
    let constant = |term: &Term| {
        let Atom::Real(c) = term.atom else { return None };
        (c.abs() <= LARGE).then_some(term.sign * c)
    };
    let all: Vec<f64> = terms.iter().filter_map(constant).collect();
    let Some(first) = terms.iter().position(|term| constant(term).is_some()).filter(|_| all.len() > 1) else {
        return terms;
    };
    terms.retain(|term| constant(term).is_none());
    let total: f64 = all.iter().sum();
    if total != 0.0 && !terms.is_empty() {
        terms.insert(first, Term { atom: Atom::Real(total.abs()), sign: total.signum() });
    }
    terms
}

/// Of what variable a number is made by a sign or a constant.
fn multiple_of(op: RealOp, args: &[Atom]) -> Option<Var> {
    match (op, args) {
        (RealOp::Neg, [x]) | (RealOp::Mul | RealOp::MulZero, [x, Atom::Real(_)] | [Atom::Real(_), x]) => {
            x.var()
        }
        (RealOp::Add, [x, y]) if x == y => x.var(),
        _ => None,
    }
}
