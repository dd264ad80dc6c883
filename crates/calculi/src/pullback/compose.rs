//! Reduction 6 along a whole let series: `(λv₁.V₁)*·…·(λvₙ.Vₙ)*·V` to `(λv₁. Vₙ[…])*·V`.
//!
//! One after the other, from the right, each of these substitutions goes through all of what those before have made, so that n
//! of them cost n² although the terms do not grow. Where nobody looks, they are done together: after 20a and 20b, `Vᵢ` is
//! `⟨vᵢ, Sᵢ⟩` and `vᵢ₊₁` is vᵢ with one more variable, so that a substitution that grows from the left by `[Sᵢ/…]` goes
//! through each `Sᵢ` once. Steps and their counts are the same: the results are normal forms of the same redexes. Not so where the
//! map is 0, which ends it early, and where `≡+` copies what is around a sum, with its redexes or without; there ([`Known`]
//! looks for sums), and where a limit would be met on the way, they are taken one by one.

use super::reduce::{Frame, Reducer};
use super::subst::{Subst, deep};
use super::syntax::{Kind, Pat, PatKind, Term, Var, each_child, is_pattern};
use rustc_hash::{FxHashMap, FxHashSet};

/// A map `(λpat.⟨pat, S⟩)*`, with the variable that stands for S in the map on its right.
struct Link {
    pat: Pat,
    last: Var,
    s: Term,
}

/// The frame as the map on the left of one that binds `right`.
fn link(frame: &Frame, right: &Pat) -> Option<Link> {
    let Frame::DualArg(pat, body) = frame else { return None };
    let (Kind::Pair(first, s), PatKind::Pair(kept, last)) = (body.kind(), right.kind()) else { return None };
    let PatKind::Var(last) = last.kind() else { return None };
    let fits = kept.ptr() == pat.ptr() && is_pattern(pat, first);
    fits.then(|| Link { pat: pat.clone(), last: last.clone(), s: s.clone() })
}

/// What the variables of the links stand for, names of names followed.
#[derive(Default)]
struct Known(FxHashMap<u32, Term>);

impl Known {
    fn head(&self, term: &Term) -> Term {
        match term.kind() {
            Kind::Var(var) => self.0.get(&var.id()).unwrap_or(term).clone(),
            Kind::Proj(index, of) => {
                let component = deep(|| self.head(of)).project(*index);
                if matches!(component.kind(), Kind::Var(_)) { self.head(&component) } else { component }
            }
            _ => term.clone(),
        }
    }

    fn may_be_sum(&self, term: &Term) -> bool {
        match self.head(term).kind() {
            Kind::Sum(..) => true,
            Kind::App(f, _) => !matches!(self.head(f).kind(), Kind::Jac(..) | Kind::Var(_)),
            Kind::Proj(_, of) => !matches!(self.head(of).kind(), Kind::Var(_)),
            _ => false,
        }
    }

    /// Whether nothing that may become a sum stands in a linear position other than under a pair or another sum.
    fn keeps_sums(&self, term: &Term) -> bool {
        let (mut stack, mut seen) = (vec![term.clone()], FxHashSet::default());
        while let Some(term) = stack.pop() {
            let linear = match term.kind() {
                Kind::Jac(_, of) | Kind::Proj(_, of) | Kind::DualMap(_, _, of) | Kind::App(of, _) => Some(of),
                _ => None,
            };
            if linear.is_some_and(|of| self.may_be_sum(of)) {
                return false;
            }
            each_child(term.kind(), |_, child| {
                let open = child.few_free().is_none_or(|free| !free.is_empty());
                if open && seen.insert(child.ptr()) {
                    stack.push(child.clone());
                }
            });
        }
        true
    }
}

impl Reducer<'_> {
    /// The maps around `term`, if it is one itself, composed as far as 6 goes before 5 takes over; `None` if it is one map
    /// or none.
    pub(super) fn composed(&mut self, term: &Term, frames: &mut Vec<Frame>, bottom: usize) -> Option<Term> {
        let Kind::DualMap(pat, second, rest) = term.kind() else { return None };
        if self.watched() || frames.len() > self.one_by_one {
            return None;
        }
        self.one_by_one = usize::MAX;
        let mut links: Vec<Link> = Vec::new();
        let mut right = pat.clone();
        for frame in frames.get(bottom..)?.iter().rev() {
            let Some(link) = link(frame, &right) else { break };
            right = link.pat.clone();
            links.push(link);
            if right.ty().width().is_some() {
                break;
            }
        }
        if links.len() < 2 {
            return None;
        }
        let outer = frames.len() - links.len();
        let before = (self.counts.clone(), self.premise_steps, self.flops);
        let Some(body) = self.substituted(&links, second) else {
            (self.counts, self.premise_steps, self.flops) = before;
            self.one_by_one = outer;
            return None;
        };
        // Terms before and after the substitutions were there together, which is no term on the way.
        self.counts.max_size = before.0.max_size;
        drop(links);
        frames.truncate(outer);
        Some(Term::dual_map(right, body, rest.clone()))
    }

    /// How many sums have been taken out of linear positions.
    fn sums(&self) -> u64 {
        self.counts.by_rule.get("≡+").copied().unwrap_or(0)
    }

    /// The body of the composition; `None` if its steps would not be the same in another order.
    fn substituted(&mut self, links: &[Link], second: &Term) -> Option<Term> {
        self.note_together("6", links.len()).ok()?;
        // What has been rewritten is remembered by address, so it has to stay.
        let (mut all, mut kept, mut known) = (Subst::nothing(), Vec::new(), Known::default());
        for link in links.iter().rev() {
            let s = self.run(link.s.clone(), &mut Vec::new()).ok()?;
            known.keeps_sums(&s).then_some(())?;
            known.0.insert(link.last.id(), known.head(&s));
            let value = all.apply(&s);
            all.and(&link.last, value);
            kept.push(s);
        }
        known.keeps_sums(second).then_some(())?;
        let sums = self.sums();
        let body = self.run(all.apply(second), &mut Vec::new()).ok()?;
        (!body.is_zero() && self.sums() == sums).then_some(body)
    }
}
