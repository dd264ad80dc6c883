//! Functions that vary: what they have captured does, or a tangent is given.
//!
//! ```text
//! perturbed(tag, f, h) at x       f x, which varies under the tag by h at what is without it
//! tangent_of(tag, f) at x         the tangent of f x under the tag, which gets a name of its own first: x may know the old one
//! ```
//!
//! What is without a tag, or has another one instead, is so in what functions have captured, and on the tapes that pullbacks keep.

use super::functions::Rewrite;
use super::tapes;
use super::walks::{Walk, Way};
use super::work::{DUAL, NOTED, SERIES, Work};
use super::{Helper, Tagged};
use crate::BEYOND;
use wengert_ir::op::{Atom, Compare, Op, Stmt};
use wengert_ir::program::{FuncId, Program};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_ir::{Block, Builder};

/// A tag that no number has.
const NO_TAG: i64 = -2;

/// The types of functions that have tangents: here they have one constructor more, after that for tangents.
pub(super) fn functions_with_tangents(program: &Program) -> Vec<DataId> {
    let of = |(_, data): (DataId, &Data)| match data.role {
        Role::Tangent(of) if program.data.at(of).role == Role::Closure => Some(of),
        Role::Tangent(_) | Role::Declared | Role::Closure | Role::Residual => None,
    };
    program.data.iter().filter_map(of).collect()
}

impl Tagged {
    /// The number of the constructor of tangents, and of functions that are perturbed, if there are such of a type.
    fn own_ctors(&self, data: DataId) -> Option<[u32; 2]> {
        let last = u32::try_from(self.program.data.at(data).ctors.len()).ok()?.checked_sub(1)?;
        self.functions.contains(&data).then_some([last, last + 1])
    }

    /// The constructors of functions that have tangents.
    pub(super) fn function_ctors(&mut self, data: DataId, own: DataId) -> Vec<Ctor> {
        let mut ctors = self.program.data.at(data).ctors.clone();
        ctors.pop();
        let mut made = Vec::new();
        for Ctor { name, fields } in ctors {
            made.push(Ctor { name, fields: self.tys(&fields) });
        }
        let own = Ty::Scalar(Elem::Data(own));
        made.push(Ctor { name: "tangent_of".into(), fields: vec![Ty::INT, own] });
        made.push(Ctor { name: "perturbed".into(), fields: vec![Ty::INT, own, own] });
        made
    }

    /// Where a tag is moved to another one: what is without it, and the tangent, which is none if there is none.
    fn split_function(&mut self) -> FuncId {
        let (num, number) = (self.num(), self.number);
        if let Some(known) = self.helpers.get(&Helper::Split) {
            return *known;
        }
        let own = self.reserve("split");
        self.helpers.insert(Helper::Split, own);
        let mut work = Work::new(self, Builder::new("split".into()));
        let tag = work.b.param("tag".into(), Ty::INT);
        let x = work.b.param("x".into(), num);
        let both = [num, num];
        let found = work.cases(x.clone(), number, &both, &mut |work, ctor, fields| {
            let nothing = |work: &mut Work<'_>| vec![x.clone(), work.none()];
            let [at, primal, rest @ ..] = fields.as_slice() else { return nothing(work) };
            let same = work.b.compare(Compare::Eq, at.clone(), tag.clone());
            let smaller = work.is_below(ctor, at, &tag);
            work.choose(smaller, &both, nothing, |work| {
                let inside = |work: &mut Work<'_>, x: &Atom| {
                    let found = work.b.call(own, [tag.clone(), x.clone()], &both);
                    <[Atom; 2]>::try_from(found).unwrap_or([Atom::Unit, Atom::Unit])
                };
                match (ctor, rest) {
                    (DUAL, [tangent]) => work.choose(
                        same,
                        &both,
                        |_| vec![primal.clone(), tangent.clone()],
                        |work| {
                            let [primal, first] = inside(work, primal);
                            let [tangent, second] = inside(work, tangent);
                            let value = work.with_tangent(at, &primal, &tangent);
                            vec![value, work.order_one(at, &first, &second)]
                        },
                    ),
                    (NOTED, _) => work.choose(
                        same,
                        &both,
                        |work| work.fail(&both, BEYOND),
                        |work| {
                            let [primal, first] = inside(work, primal);
                            let fields = [at.clone(), primal].into_iter().chain(rest.iter().cloned());
                            vec![work.b.make(number, NOTED, fields.collect::<Vec<_>>()), first]
                        },
                    ),
                    (SERIES, [coefs]) => work.split_series(&tag, [at, primal, coefs]),
                    _ => nothing(work),
                }
            })
        });
        let made = work.finish(found);
        *self.program.funcs.at_mut(own) = made;
        own
    }
}

impl Tagged {
    fn has_tag_function(&mut self) -> FuncId {
        let num = self.num();
        if let Some(known) = self.helpers.get(&Helper::HasTag) {
            return *known;
        }
        let own = self.reserve("has_tag");
        self.helpers.insert(Helper::HasTag, own);
        let mut work = Work::new(self, Builder::new("has_tag".into()));
        let tag = work.b.param("tag".into(), Ty::INT);
        let x = work.b.param("x".into(), num);
        let found = work.cases_of_number(&x, Ty::BOOL, &mut |work, ctor, fields| {
            let [at, primal, rest @ ..] = fields else { return Some(Atom::Bool(false)) };
            let part = |work: &mut Work<'_>, x: &Atom| {
                work.b.call(own, [tag.clone(), x.clone()], &[Ty::BOOL]).remove(0)
            };
            let same = work.b.compare(Compare::Eq, at.clone(), tag.clone());
            let below = work.is_below(ctor, at, &tag);
            let ends = work.b.select(same.clone(), Atom::Bool(true), below);
            let goes_on = work.b.typed1(Ty::BOOL, Op::Not(ends));
            let found = work.choose(
                goes_on,
                &[Ty::BOOL],
                |work| {
                    let first = part(work, primal);
                    let second = match (ctor, rest) {
                        (DUAL, [tangent]) => part(work, tangent),
                        (SERIES, [coefs]) => {
                            let len = work.length(coefs);
                            let init = vec![Atom::Bool(false)];
                            let found = work.carrying(
                                len,
                                vec![coefs.clone()],
                                init,
                                &[],
                                |work, _, carried, rows| {
                                    let ([found], [x]) = (carried, rows) else {
                                        return (Vec::new(), Vec::new());
                                    };
                                    let here = part(work, x);
                                    (vec![work.b.select(found.clone(), Atom::Bool(true), here)], Vec::new())
                                },
                            );
                            found.into_iter().next().unwrap_or(Atom::Bool(true))
                        }
                        _ => Atom::Bool(false),
                    };
                    vec![work.b.select(first, Atom::Bool(true), second)]
                },
                |_| vec![same],
            );
            found.into_iter().next()
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }
}

impl Work<'_> {
    /// The tangent of what varies along a tangent: by the tangents of both.
    fn order_one(&mut self, tag: &Atom, first: &Atom, second: &Atom) -> Atom {
        let [none, no_more] = [first, second].map(|x| self.is_none(x));
        self.choose_number(
            none,
            |work| {
                work.choose_number(
                    no_more.clone(),
                    |work| work.none(),
                    |work| {
                        let zero = work.plain(Atom::Real(0.0));
                        work.with_tangent(tag, &zero, second)
                    },
                )
            },
            |work| work.with_tangent(tag, first, second),
        )
    }

    /// Whether there is nothing with a larger tag in a number with this one. A series that a rule gives may have larger tags inside.
    pub(super) fn is_below(&mut self, ctor: u32, at: &Atom, tag: &Atom) -> Atom {
        if self.to.has_series && ctor != NOTED {
            return Atom::Bool(false);
        }
        self.b.compare(Compare::Lt, at.clone(), tag.clone())
    }

    /// Parts of a number without a tag, and of order one in it.
    pub(super) fn split(&mut self, tag: &Atom, x: &Atom) -> [Atom; 2] {
        let (func, num) = (self.to.split_function(), self.to.num());
        let found = self.b.call(func, [tag.clone(), x.clone()], &[num, num]);
        <[Atom; 2]>::try_from(found).unwrap_or([Atom::Unit, Atom::Unit])
    }

    /// A number with another tag instead of one.
    pub(super) fn renamed(&mut self, from: &Atom, to: &Atom, x: &Atom) -> Atom {
        let [primal, tangent] = self.split(from, x);
        let none = self.is_none(&tangent);
        self.choose_number(none, |_| x.clone(), |work| work.with_tangent(to, &primal, &tangent))
    }

    /// Whether a number has a tag.
    pub(super) fn has_tag(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let func = self.to.has_tag_function();
        self.b.call(func, [tag.clone(), x.clone()], &[Ty::BOOL]).remove(0)
    }

    /// The parts of a series with a larger tag.
    fn split_series(&mut self, tag: &Atom, [at, primal, coefs]: [&Atom; 3]) -> Vec<Atom> {
        let (num, number, ty) = (self.to.num(), self.to.number, self.series_ty());
        let [primal, first] = self.split(tag, primal);
        let len = self.length(coefs);
        let none = self.is_none(&first);
        let found =
            self.carrying(len, vec![coefs.clone()], vec![none], &[num, num], |work, _, carried, rows| {
                let ([nothing], [x]) = (carried, rows) else { return (Vec::new(), Vec::new()) };
                let [part, more] = work.split(tag, x);
                let none = work.is_none(&more);
                let zero = work.plain(Atom::Real(0.0));
                let more = work.choose_number(none.clone(), |_| zero, |_| more.clone());
                (vec![work.b.select(none, nothing.clone(), Atom::Bool(false))], vec![part, more])
            });
        let [nothing, parts, more] = <[Atom; 3]>::try_from(found).unwrap_or([const { Atom::Unit }; 3]);
        debug_assert_eq!(self.b.type_of(&parts), ty);
        let value = self.b.make(number, SERIES, [at.clone(), primal, parts]);
        let more = self.choose_number(
            nothing,
            |work| work.none(),
            |work| {
                let none = work.is_none(&first);
                let zero = work.plain(Atom::Real(0.0));
                let first = work.choose_number(none, |_| zero, |_| first.clone());
                work.b.make(number, SERIES, [at.clone(), first, more])
            },
        );
        vec![value, more]
    }

    /// A walk that has something of its own to do at functions: what it makes of one.
    pub(super) fn walk_function_value(
        &mut self,
        walk: Walk,
        data: DataId,
        way: &mut Way,
        xs: &[Atom],
    ) -> Option<Atom> {
        let own = Ty::Scalar(Elem::Data(data));
        let made = self.to.made_by(walk, own);
        let (here, ctors) = (self.to.data(data), self.to.own_ctors(data));
        match (walk, ctors, xs, way.given.as_slice()) {
            (Walk::Pair | Walk::Plus | Walk::Rule, Some([_, perturbed]), [x, t], [tag, ..]) => {
                Some(self.b.make(here, perturbed, [tag.clone(), x.clone(), t.clone()]))
            }
            (Walk::Tangent, Some(ctors), [x], [tag]) => Some(self.tangent_of_function((data, ctors), tag, x)),
            (Walk::Marked | Walk::Shorter | Walk::Velocity, _, [x], [tag, ..]) => {
                let mut way = Way { given: vec![tag.clone()], carried: vec![Atom::Bool(false)] };
                self.walk(Walk::Mentions, own, &mut way, xs);
                let found = way.carried.into_iter().next().unwrap_or(Atom::Bool(true));
                self.choose(found, &[], |work| work.fail(&[], crate::UNSEEN), |_| Vec::new());
                if walk == Walk::Shorter {
                    return Some(x.clone());
                }
                // Zero everywhere: the tangent under a tag that there is not.
                let zero = ctors.map(|[last, _]| self.b.make(here, last, [Atom::Int(NO_TAG), x.clone()]));
                zero.or_else(|| self.fail(&[made], BEYOND).into_iter().next())
            }
            _ => {
                let found = self.fail(&[made], BEYOND);
                walk.makes().then(|| found.into_iter().next().unwrap_or(Atom::Unit))
            }
        }
    }

    /// The tangent that a function was given, if that is all; else one that is made where it is applied.
    fn tangent_of_function(
        &mut self,
        (data, [last, perturbed]): (DataId, [u32; 2]),
        tag: &Atom,
        x: &Atom,
    ) -> Atom {
        let own = Ty::Scalar(Elem::Data(data));
        let here = self.to.data(data);
        let ty = Ty::Scalar(Elem::Data(here));
        let found = self.apart(|work| {
            work.cases(x.clone(), here, &[ty], &mut |work, ctor, fields| {
                let later = |work: &mut Work<'_>| vec![work.b.make(here, last, [tag.clone(), x.clone()])];
                let [at, primal, tangent] = fields.as_slice() else { return later(work) };
                if ctor != perturbed {
                    return later(work);
                }
                let same = work.b.compare(Compare::Eq, at.clone(), tag.clone());
                work.choose(
                    same,
                    &[ty],
                    |work| {
                        let mut way = Way { given: vec![tag.clone()], carried: vec![Atom::Bool(false)] };
                        work.walk(Walk::Mentions, own, &mut way, std::slice::from_ref(primal));
                        let mentions = way.carried.into_iter().next().unwrap_or(Atom::Bool(true));
                        work.choose(mentions, &[ty], later, |_| vec![tangent.clone()])
                    },
                    later,
                )
            })
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// What a walk makes of the constructors of functions that are not the program's.
    pub(super) fn walk_own_ctor(
        &mut self,
        walk: Walk,
        (data, ctor): (DataId, u32),
        way: &Way,
        fields: &[Atom],
    ) -> Option<Vec<Atom>> {
        let [last, perturbed] = self.to.own_ctors(data)?;
        let (at, inner) = fields.split_first()?;
        if ctor != last && ctor != perturbed {
            return None;
        }
        let here = self.to.data(data);
        let ty = Ty::Scalar(Elem::Data(here));
        let (at, is_bound) = (at.clone(), ctor == last);
        let whole = |work: &mut Self, at: &Atom| {
            let made = work.walk_functions((walk, data), &mut way.clone(), inner);
            vec![work.b.make(here, ctor, [at.clone()].into_iter().chain(made).collect::<Vec<Atom>>())]
        };
        if walk.goes_through() {
            let mut next = way.clone();
            let made = self.walk_functions((walk, data), &mut next, inner);
            let all: Vec<Atom> = [at].into_iter().chain(made).collect();
            let made = walk.makes().then(|| self.b.make(here, ctor, all));
            return Some(next.carried.into_iter().chain(made).collect());
        }
        if walk == Walk::Largest {
            return self.largest_of_own((data, is_bound), way, (&at, inner));
        }
        let kept = |work: &mut Self| vec![work.b.make(here, ctor, fields.to_vec())];
        let (Walk::Mentions | Walk::Without | Walk::Rename, Some(tag)) = (walk, way.given.first()) else {
            return None;
        };
        let same = self.b.compare(Compare::Eq, at.clone(), tag.clone());
        if walk == Walk::Mentions {
            let mut next = way.clone();
            self.walk_functions((walk, data), &mut next, inner);
            let found = next.carried.into_iter().next()?;
            return Some(vec![if is_bound { found } else { self.b.select(same, Atom::Bool(true), found) }]);
        }
        let to = way.given.get(1).cloned();
        Some(self.choose(
            same,
            &[ty],
            |work| match (is_bound, to, inner) {
                (true, _, _) => kept(work),
                (false, Some(to), _) => whole(work, &to),
                (false, None, [primal, ..]) => {
                    work.walk_functions((walk, data), &mut way.clone(), std::slice::from_ref(primal))
                }
                (false, None, []) => Vec::new(),
            },
            |work| whole(work, &at),
        ))
    }

    /// The largest tag of a tangent, whose own tag does not count, or of a function that is perturbed.
    fn largest_of_own(
        &mut self,
        (data, is_bound): (DataId, bool),
        way: &Way,
        (at, inner): (&Atom, &[Atom]),
    ) -> Option<Vec<Atom>> {
        let mut next = way.clone();
        if is_bound {
            let given = Way { given: vec![at.clone()], carried: Vec::new() };
            let inner = self.walk_functions((Walk::Without, data), &mut given.clone(), inner);
            self.walk_functions((Walk::Largest, data), &mut next, &inner);
            return Some(next.carried);
        }
        self.walk_functions((Walk::Largest, data), &mut next, inner);
        let largest = next.carried.first()?.clone();
        let more = self.b.compare(Compare::Ge, at.clone(), largest);
        let before = next.carried.clone();
        let own = vec![at.clone(), Atom::Int(0), Atom::Int(0)];
        Some(self.choose(more, &[Ty::INT; 3], |_| own, |_| before))
    }

    /// What a walk makes of functions of one type.
    fn walk_functions(&mut self, (walk, data): (Walk, DataId), way: &mut Way, xs: &[Atom]) -> Vec<Atom> {
        let own = Ty::Scalar(Elem::Data(data));
        let mut made = Vec::new();
        for x in xs {
            made.extend(self.walk(walk, own, way, std::slice::from_ref(x)));
        }
        made
    }

    /// What a walk makes of what a pullback keeps: of the numbers on its tape. Of the point and of what came out only the shape, and the
    /// slots, are looked at.
    pub(super) fn walk_kept(&mut self, walk: Walk, data: DataId, way: &mut Way, x: &Atom) -> Option<Atom> {
        let here = self.to.data(data);
        let ty = Ty::Scalar(Elem::Data(here));
        let goes_on =
            matches!(walk, Walk::Without | Walk::Rename | Walk::Constant | Walk::Mentions | Walk::Largest);
        if !goes_on && !walk.goes_through() {
            let made = self.to.made_by(walk, Ty::Scalar(Elem::Data(data)));
            let found = self.fail(&[made], BEYOND);
            return walk.makes().then(|| found.into_iter().next().unwrap_or(Atom::Unit));
        }
        let types: Vec<Ty> = way.carried.iter().map(|atom| self.b.type_of(atom)).collect();
        let made = walk.makes().then_some(ty);
        let types: Vec<Ty> = types.into_iter().chain(made).collect();
        let start = way.clone();
        let mut found = self.apart(|work| {
            work.cases(x.clone(), here, &types, &mut |work, ctor, fields| {
                let (Some(tag), Some(tape)) = (fields.first(), fields.get(1)) else { return Vec::new() };
                let mut way = start.clone();
                let tape = tapes::walk_tape(work, walk, &mut way, tape);
                let rest = fields.iter().skip(2).cloned();
                let all: Vec<Atom> = [tag.clone()].into_iter().chain(tape).chain(rest).collect();
                let made = walk.makes().then(|| work.b.make(here, ctor, all));
                way.carried.into_iter().chain(made).collect()
            })
        });
        let made = found.split_off(way.carried.len().min(found.len()));
        way.carried = found;
        made.into_iter().next()
    }
}

impl Rewrite<'_, '_> {
    /// The function that applies function values, if this is such: what it does with those that are not the program's.
    pub(super) fn applied(&mut self, stmt: &Stmt, data: DataId) -> Option<Vec<Atom>> {
        let Op::Match { on, arms } = &stmt.op else { return None };
        let [last, perturbed] = self.work.to.own_ctors(data)?;
        let [only] = self.source.body.stmts.as_slice() else { return None };
        let (first, rest) = self.source.body.params.split_first()?;
        let same = self.source.body.results.iter().map(Atom::var).eq(stmt.outs.iter().copied().map(Some));
        if !std::ptr::eq(only, stmt) || on.var() != Some(*first) || !same {
            return None;
        }
        let rest: Vec<(Atom, Ty)> = rest.iter().map(|var| (Atom::Var(*var), self.source.ty(*var))).collect();
        let on = self.atom(on);
        let mut made = Vec::new();
        for (_, arm) in arms.iter().enumerate().filter(|(ctor, _)| *ctor != last as usize) {
            made.push(self.side(arm));
        }
        made.push(self.tangent_side(data, last, &rest));
        made.push(self.perturbed_side(data, perturbed, &rest));
        let types = self.types(&stmt.outs);
        let types = self.work.to.tys(&types);
        Some(self.joined(Op::Match { on, arms: made }, types))
    }

    fn own_side(
        &mut self,
        (data, ctor): (DataId, u32),
        run: impl FnOnce(&mut Self, &[Atom]) -> Vec<Atom>,
    ) -> Block {
        let here = self.work.to.data(data);
        let fields =
            self.work.to.program.data.at(here).ctors.get(ctor as usize).map(|ctor| ctor.fields.clone());
        let before = self.work.state();
        self.work.b.open();
        let fields: Vec<Atom> =
            fields.unwrap_or_default().into_iter().map(|ty| self.work.b.param("f".into(), ty)).collect();
        let found = run(self, &fields);
        let all = self.work.state_atoms().into_iter().chain(found).collect();
        self.work.set_state(before);
        self.work.b.close(all)
    }

    fn tangent_side(&mut self, data: DataId, ctor: u32, rest: &[(Atom, Ty)]) -> Block {
        let results = self.source.results.clone();
        let own = Ty::Scalar(Elem::Data(data));
        self.own_side((data, ctor), |rewrite, fields| {
            let [tag, func] = fields else { return Vec::new() };
            let fresh = rewrite.work.fresh_tag();
            let given = [tag.clone(), fresh.clone()];
            let func = rewrite.walked(Walk::Rename, own, &given, std::slice::from_ref(func));
            let mut args = vec![func];
            for (arg, _) in rest {
                args.push(rewrite.atom(arg));
            }
            let found = rewrite.call_with(rewrite.id, args, &results);
            let given = [fresh];
            let each = found.iter().zip(&results);
            each.map(|(value, ty)| rewrite.walked(Walk::Tangent, *ty, &given, std::slice::from_ref(value)))
                .collect()
        })
    }

    fn perturbed_side(&mut self, data: DataId, ctor: u32, rest: &[(Atom, Ty)]) -> Block {
        let results = self.source.results.clone();
        self.own_side((data, ctor), |rewrite, fields| {
            let [tag, primal, tangent] = fields else { return Vec::new() };
            let given = std::slice::from_ref(tag);
            let (mut args, mut point) = (vec![primal.clone()], vec![tangent.clone()]);
            for (arg, ty) in rest {
                let x = rewrite.atom(arg);
                point.push(rewrite.walked(Walk::Without, *ty, given, std::slice::from_ref(&x)));
                args.push(x);
            }
            let values = rewrite.call_with(rewrite.id, args, &results);
            let tangents = rewrite.call_with(rewrite.id, point, &results);
            let mut all = Vec::new();
            for ((value, tangent), ty) in values.iter().zip(&tangents).zip(&results) {
                all.push(rewrite.walked(Walk::Plus, *ty, given, &[value.clone(), tangent.clone()]));
            }
            all
        })
    }
}
