//! Arrays whose elements are those of other arrays: where sums must be those of a tape, what is added to an element goes where it
//! stands first.
//!
//! ```text
//! ys = slice xs 2 n       ȳs[i] += c  is  x̄s[2 + i] += c
//! ys = gather xs ps       ȳs[i] += c  is  x̄s[ps[i]] += c
//! zs = concat xs ys       until zs is made (backwards), x̄s[i] += c  is  z̄s[i] += c
//! a = [x, y]              the same: x̄ += c  is  ā[0] += c
//! ```

use super::{Place, Transposer, is_real};
use crate::linear::{Arg, Lin, LinBlock, Ref, defines};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, IntOp, Var};

/// What stands elsewhere, by its variable: what is found last counts.
#[derive(Debug, Default)]
pub(crate) struct Views(FxHashMap<Var, Vec<View>>);

#[derive(Clone, Debug)]
struct View {
    of: Ref,
    shift: Shift,
    /// The array that a statement makes.
    made: Var,
}

/// Where an element stands.
#[derive(Clone, Debug)]
enum Shift {
    /// It is one.
    Itself,
    /// So much further.
    By(Atom),
    /// At the place that is in this array.
    At(Atom),
    /// From the end of so many.
    FromEnd(Atom),
    /// In rows of so many.
    InRows(Atom),
}

impl Views {
    pub(super) fn is_one(&self, var: Var) -> bool {
        self.0.contains_key(&var)
    }

    fn get(&self, var: Var) -> Option<&View> {
        self.0.get(&var)?.last()
    }

    fn pop(&mut self, var: Var) {
        if let Some(all) = self.0.get_mut(&var) {
            all.pop();
            if all.is_empty() {
                self.0.remove(&var);
            }
        }
    }
}

impl Transposer<'_, '_> {
    /// Notes what stands elsewhere in a block, before cotangents of its results are known. `whole` says that it is that of a function.
    pub(super) fn look_at(&mut self, block: &LinBlock, whole: bool) {
        if !self.code.ad.exact {
            return;
        }
        let mut own = FxHashSet::default();
        block.stmts.iter().for_each(|lin| {
            defines(lin, &mut |var| {
                own.insert(var);
            });
        });
        for lin in &block.stmts {
            for (var, view) in self.views_of(lin) {
                let outer = !whole && !own.contains(&var);
                if !outer && !self.rows.contains_key(&var) && !self.accumulators.contains(&var) {
                    self.views.0.entry(var).or_default().push(view);
                }
            }
        }
    }

    /// Before this statement it does not stand there.
    pub(super) fn look_away(&mut self, lin: &Lin) {
        if let Lin::Array { out, .. } = lin
            && self.code.ad.exact
        {
            for (var, _) in self.views_of(lin) {
                if self.views.get(var).is_some_and(|view| view.made == *out) {
                    self.views.pop(var);
                }
            }
        }
    }

    /// What a statement says.
    fn views_of(&self, lin: &Lin) -> Vec<(Var, View)> {
        let Lin::Array { out, op, args, extra } = lin else { return Vec::new() };
        if !is_real(self.info(*out).ty) {
            return Vec::new();
        }
        let view = |shift: Shift, of: &Ref| vec![(*out, View { of: of.clone(), shift, made: *out })];
        match (op, args.as_slice()) {
            (ArrayOp::Slice, [Arg::Linear(of), Arg::Fixed(from), _]) => view(Shift::By(from.clone()), of),
            (ArrayOp::Gather, [Arg::Linear(of), Arg::Fixed(places)]) => view(Shift::At(places.clone()), of),
            (ArrayOp::Reverse, [Arg::Linear(of)]) => match extra.first() {
                Some(n) => view(Shift::FromEnd(n.clone()), of),
                None => Vec::new(),
            },
            (ArrayOp::Flatten, [Arg::Linear(of)]) => match extra.first() {
                Some(width) => view(Shift::InRows(width.clone()), of),
                None => Vec::new(),
            },
            (ArrayOp::Concat, [xs, ys]) => {
                let Some(n) = extra.first() else { return Vec::new() };
                let parts = [(xs, Atom::Int(0)), (ys, n.clone())];
                let mut found: Vec<(Var, View)> = Vec::new();
                for (part, from) in parts {
                    if let Arg::Linear(Ref::Var(var)) = part
                        && found.iter().all(|(known, _)| known != var)
                    {
                        found.push((*var, View { of: Ref::Var(*out), shift: Shift::By(from), made: *out }));
                    }
                }
                found
            }
            (ArrayOp::Literal, rows) => {
                let mut found: Vec<(Var, View)> = Vec::new();
                for (place, row) in rows.iter().enumerate() {
                    if let Arg::Linear(Ref::Var(var)) = row
                        && is_real(self.info(*var).ty)
                        && found.iter().all(|(known, _)| known != var)
                    {
                        let of = Ref::At(*out, vec![Atom::Int(place as i64)]);
                        found.push((*var, View { of, shift: Shift::Itself, made: *out }));
                    }
                }
                found
            }
            (_, _) => Vec::new(),
        }
    }

    /// Where what is added to a place goes.
    pub(crate) fn resolved(&mut self, mut place: Place) -> Place {
        while let Some(View { of, shift, .. }) = self.views.get(place.var).cloned() {
            let mut rest = place.indices.into_iter();
            let mut row = None;
            let shifted = match (shift, rest.next()) {
                (Shift::Itself, first) => first,
                (_, None) => return Place { var: place.var, indices: Vec::new() },
                (Shift::By(Atom::Int(0)), Some(index)) => Some(index),
                (Shift::By(from), Some(index)) => {
                    let from = self.primal(&from);
                    Some(self.code.b.called("place").int(IntOp::Add, [from, index]))
                }
                (Shift::At(places), Some(index)) => {
                    let places = self.primal(&places);
                    Some(self.code.b.called("place").array(ArrayOp::Index, [places, index]))
                }
                (Shift::FromEnd(n), Some(index)) => {
                    let n = self.primal(&n);
                    let last = self.code.b.called("last").int(IntOp::Sub, [n, Atom::Int(1)]);
                    Some(self.code.b.called("place").int(IntOp::Sub, [last, index]))
                }
                (Shift::InRows(width), Some(index)) => {
                    let width = self.primal(&width);
                    row = Some(self.code.b.called("row").int(IntOp::Div, [index.clone(), width.clone()]));
                    Some(self.code.b.called("place").int(IntOp::Rem, [index, width]))
                }
            };
            let Place { var, mut indices } = self.place(&of);
            indices.extend(row.into_iter().chain(shifted).chain(rest));
            place = Place { var, indices };
        }
        place
    }

    /// The variable where the elements of an array stand.
    pub(super) fn root(&self, var: Var) -> Var {
        match (self.views.get(var), self.rows.get(&var)) {
            (Some(view), _) => self.root(view.of.base()),
            (None, Some(place)) if place.var != var => self.root(place.var),
            (None, _) => var,
        }
    }

    /// Adds a cotangent of all elements, the last first.
    pub(super) fn put_all(&mut self, var: Var, cotangent: Atom) {
        let Some(View { of, shift, .. }) = self.views.get(var).cloned() else { return };
        let places = match shift {
            Shift::Itself => return,
            Shift::By(from) => super::arrays::Places::From(self.primal(&from)),
            Shift::At(places) => super::arrays::Places::At(self.primal(&places)),
            Shift::InRows(_) => {
                let like = self.shape(&Arg::Linear(of.clone()));
                let back = self.code.b.array(ArrayOp::UnflattenLike, [cotangent, like]);
                return self.add(&of, back, false);
            }
            Shift::FromEnd(_) => {
                let back = self.code.b.array(ArrayOp::Reverse, [cotangent]);
                return self.add(&of, back, false);
            }
        };
        self.scatter(&of, cotangent, places);
    }

    /// What an array that is none of its own has got goes to where its elements stand.
    pub(crate) fn settle(&mut self, var: Var) {
        if self.views.is_one(var)
            && let Some(bar) = self.bars.remove(&var)
        {
            self.put_all(var, bar);
        }
    }
}
