//! Section 5.1: ground terms, grammar (25), and symbolic backpropagation `bp` on them, Definition 10.
//!
//! `bp_{x,a}(G) = ⟨G₀, ⟨G₁, …, G_n⟩α⟩β` is kept in its four parts until the end, the tuple by the variables that are not
//! `0` in it, and the contexts as queues, so that the time is that of the result's size and not of n tuples of length n.
//! Definition 10 wants the variables of `f(y)` distinct; where one repeats, as in Figure 1's `z₁·z₁`, its entries are
//! added by `⊕`, as Figure 2 has it.

use super::syntax::{self, Kind, Symbol, Tm, Ty, Var, add, deep, mul, num, pair, sub, var};
use super::transform::partial;
use std::collections::{BTreeMap, VecDeque};

/// Whether a term is ground, up to the sugar `f(G₁, …, G_k)`: type R, and no higher types inside.
pub fn is_ground(tm: &Tm) -> bool {
    deep(|| match &tm.kind {
        Kind::Var(x) => !x.linear && x.ty == Ty::Real,
        Kind::Num(_) => true,
        Kind::Sub(t, x, u) => !x.linear && x.ty == Ty::Real && is_ground(t) && is_ground(u),
        Kind::Add(t, u) => is_ground(t) && is_ground(u),
        Kind::Fun(Symbol::Op(_), args) => args.iter().all(is_ground),
        Kind::Fun(Symbol::Partial(..), _) => false,
        Kind::Lam(..) | Kind::App(..) | Kind::Pair(..) | Kind::SubPair(..) => false,
    })
}

/// `F₀ ⊕ F₁`: the sum, where `0` is left out.
pub fn oplus(f0: Tm, f1: Tm) -> Tm {
    let is_zero = |tm: &Tm| matches!(tm.kind, Kind::Num(0.0));
    if is_zero(&f0) {
        f1
    } else if is_zero(&f1) {
        f0
    } else {
        add(f0, f1)
    }
}

/// A substitution context `{·}[p₁ := t₁]…`, innermost first.
type Context = VecDeque<(Var, Tm)>;

/// The four parts of `bp_{x,a}(G)`.
pub struct Backpropagation {
    /// `G₀`
    pub value: Tm,
    /// The `Gᵢ` that are not `0`, by `xᵢ`.
    pub entries: BTreeMap<u64, Tm>,
    /// `α`
    pub alpha: Context,
    /// `β`
    pub beta: Context,
}

/// `bp_{x,a}(G)`, Definition 10, as a term of type `R × R^n`; `None` if `G` is not ground.
pub fn bp(g: &Tm, xs: &[Var], a: &Var) -> Option<Tm> {
    let parts = parts(g, a)?;
    let entry = |x: &Var| parts.entries.get(&x.id).cloned().unwrap_or_else(|| num(0.0));
    let gradient = wrap(syntax::tuple(xs.iter().map(entry).collect()), &parts.alpha);
    Some(wrap(pair(parts.value, gradient), &parts.beta))
}

/// Definition 10 by cases.
pub fn parts(g: &Tm, a: &Var) -> Option<Backpropagation> {
    if !is_ground(g) {
        return None;
    }
    Some(backpropagate(g, &var(a), &mut Names(0)))
}

fn wrap(tm: Tm, context: &Context) -> Tm {
    context.iter().fold(tm, |tm, (x, u)| sub(tm, x, u.clone()))
}

/// The adjoints `b`, `c`, … in the order in which they are made, as in Figure 2.
struct Names(u32);

impl Names {
    fn next(&mut self) -> Var {
        let letter = char::from_u32(u32::from(b'b') + self.0 % 7).unwrap_or('b');
        self.0 += 1;
        Var::exponential(letter.to_string(), Ty::Real)
    }
}

fn backpropagate(g: &Tm, a: &Tm, names: &mut Names) -> Backpropagation {
    let only =
        |value: Tm, entries| Backpropagation { value, entries, alpha: Context::new(), beta: Context::new() };
    deep(|| match &g.kind {
        Kind::Var(x) => only(g.clone(), BTreeMap::from([(x.id, a.clone())])),
        Kind::Sub(f, z, h) => substitution(backpropagate(f, a, names), z, h, names),
        Kind::Add(f, h) => {
            let (f, h) = (backpropagate(f, a, names), backpropagate(h, a, names));
            Backpropagation {
                value: add(f.value, h.value),
                entries: merge(f.entries, h.entries),
                alpha: join(f.alpha, h.alpha),
                beta: join(f.beta, h.beta),
            }
        }
        Kind::Fun(f, args) => symbol(*f, args, a, names),
        Kind::Num(_) | Kind::Lam(..) | Kind::App(..) | Kind::Pair(..) | Kind::SubPair(..) => {
            only(g.clone(), BTreeMap::new())
        }
    })
}

/// `f(y)`, with arguments that are no variables named first.
fn symbol(f: Symbol, args: &[Tm], a: &Tm, names: &mut Names) -> Backpropagation {
    let mut named = Vec::new();
    let ys: Vec<Var> = args
        .iter()
        .map(|arg| {
            if let Kind::Var(y) = &arg.kind {
                return y.clone();
            }
            let y = Var::exponential("y", Ty::Real);
            named.push((y.clone(), arg.clone()));
            y
        })
        .collect();
    let ys_as_terms: Vec<Tm> = ys.iter().map(var).collect();
    let mut entries = BTreeMap::new();
    for (i, y) in ys.iter().enumerate() {
        let slope = partial(f, i, &ys_as_terms);
        if !matches!(slope.kind, Kind::Num(0.0)) {
            insert(&mut entries, y.id, mul(slope, a.clone()));
        }
    }
    let value = syntax::fun(f, ys_as_terms);
    let base = Backpropagation { value, entries, alpha: Context::new(), beta: Context::new() };
    named.into_iter().fold(base, |outer, (y, arg)| substitution(outer, &y, &arg, names))
}

/// `F′[z := F″]`
fn substitution(mut outer: Backpropagation, z: &Var, inner: &Tm, names: &mut Names) -> Backpropagation {
    let Some(h) = outer.entries.remove(&z.id) else {
        let inner = backpropagate(inner, &num(0.0), names);
        outer.beta.push_back((z.clone(), inner.value));
        return Backpropagation { beta: join(outer.beta, inner.beta), ..outer };
    };
    let b = names.next();
    let mut inner = backpropagate(inner, &var(&b), names);
    inner.alpha.push_back((b, h));
    outer.beta.push_back((z.clone(), inner.value));
    Backpropagation {
        value: outer.value,
        entries: merge(outer.entries, inner.entries),
        alpha: join(inner.alpha, outer.alpha),
        beta: join(outer.beta, inner.beta),
    }
}

fn insert(entries: &mut BTreeMap<u64, Tm>, id: u64, tm: Tm) {
    let sum = match entries.remove(&id) {
        Some(before) => oplus(before, tm),
        None => tm,
    };
    entries.insert(id, sum);
}

/// `⟨F₁ ⊕ F′₁, …⟩`, walking through the smaller one.
fn merge(first: BTreeMap<u64, Tm>, second: BTreeMap<u64, Tm>) -> BTreeMap<u64, Tm> {
    let swapped = first.len() < second.len();
    let (mut large, small) = if swapped { (second, first) } else { (first, second) };
    for (id, tm) in small {
        let sum = match large.remove(&id) {
            Some(other) if swapped => oplus(tm, other),
            Some(other) => oplus(other, tm),
            None => tm,
        };
        large.insert(id, sum);
    }
    large
}

/// `αα′`, moving the shorter one.
fn join(mut inner: Context, mut outer: Context) -> Context {
    if inner.len() < outer.len() {
        while let Some(last) = inner.pop_back() {
            outer.push_front(last);
        }
        outer
    } else {
        inner.extend(outer);
        inner
    }
}
