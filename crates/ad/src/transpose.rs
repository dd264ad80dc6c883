//! The transpose of linear code written down as IR: from cotangents of the results to those of what varies.
//!
//! Statements are gone through from the last to the first. Every variable has the sum of the cotangents that it got from
//! its uses so far (none is zero); a statement takes that of its result, and adds to those of its operands:
//!
//! ```text
//! z' = (x' - z · y') / y             s = z̄ / y;  x̄ += s;  ȳ -= s · z
//! ```
//!
//! So sums are made in the order in which a tape that runs backward makes them: the last use first. Nested code takes the
//! sums so far of the variables that it uses and gives them back: a branch sees those around it, a loop has them as
//! accumulators (to which arrays are added in place), a function as parameters. [`live`] finds beforehand what gets a
//! cotangent at all, so that nothing is computed for nothing; functions are made for each pattern of what is there.

mod arrays;
mod control;
mod live;
mod parts;

use crate::like::Likes;
use crate::linear::{Arg, Lin, LinBlock, LinCall, LinPullback, Ref, Term};
use crate::scoped::Scoped;
use crate::{Ad, Code, Key, deep};
pub(crate) use live::Unknown;
use parts::Parts;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Op, Var};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Elem, Table, Ty};
use wengert_prim::RealOp;

/// The transpose of a function, for some of its results and with sums that are there already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub(crate) key: Key,
    /// Which results have a cotangent.
    pub(crate) weighted: Vec<bool>,
    /// For which parameters there is a sum to be added to.
    pub(crate) seeded: Vec<bool>,
    /// Whether the arguments are there instead of the residual, and the function is run again.
    pub(crate) checkpoint: bool,
}

/// A variable whose cotangent is summed, or an element or a row of it, at indices of the function that is written.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) var: Var,
    pub(crate) indices: Vec<Atom>,
}

/// Writes transposed code.
pub(crate) struct Transposer<'a, 'c> {
    pub(crate) code: &'a mut Code<'c>,
    /// Variables of the primal part.
    pub(crate) env: Scoped,
    /// The sums of cotangents so far; what is not here is zero.
    pub(crate) bars: Scoped,
    /// What such a sum consists of instead, if it is known only at some places yet.
    parts: Parts,
    /// Rows of arrays whose sums are accumulators: the array, and where the row stands in it.
    pub(crate) rows: FxHashMap<Var, Place>,
    /// What is an accumulator here: it may only be added to.
    pub(crate) accumulators: FxHashSet<Var>,
    /// The variables of the primal part.
    pub(crate) source: &'a Table<Var, VarInfo>,
    /// Which of them have the shape of which.
    pub(crate) likes: &'a Likes,
}

impl Transposer<'_, '_> {
    pub(crate) fn info(&self, var: Var) -> VarInfo {
        *self.source.at(var)
    }

    /// Name and type of the cotangent of a variable.
    pub(crate) fn barred(&mut self, var: Var) -> (Name, Ty) {
        let VarInfo { name, ty } = self.info(var);
        (barred(name), self.code.ad.tangent(ty).unwrap_or(ty))
    }

    pub(crate) fn primal(&self, atom: &Atom) -> Atom {
        crate::again::meaning(&self.env, self.likes, atom)
    }

    pub(crate) fn primals(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.primal(atom)).collect()
    }

    /// The zero cotangent of a variable.
    pub(crate) fn zero(&mut self, var: Var) -> Atom {
        let point = self.primal(&Atom::Var(var));
        let ty = self.info(var).ty;
        self.code.zero(Some(&point), ty)
    }

    /// The sum so far, zero if there is none.
    pub(crate) fn bar_or_zero(&mut self, var: Var) -> Atom {
        self.gather_parts(var);
        match self.bars.get(&var) {
            Some(bar) => bar.clone(),
            None => self.zero(var),
        }
    }

    /// Where the cotangent of an operand is summed.
    pub(crate) fn place(&self, of: &Ref) -> Place {
        let (var, inner) = match of {
            Ref::Var(var) => (*var, Vec::new()),
            Ref::At(array, indices) => (*array, self.primals(indices)),
        };
        match self.rows.get(&var) {
            Some(Place { var, indices }) => {
                Place { var: *var, indices: indices.iter().cloned().chain(inner).collect() }
            }
            None => Place { var, indices: inner },
        }
    }

    /// The variable in whose sum the cotangents of a variable go.
    pub(crate) fn summed_in(&self, var: Var) -> Var {
        self.rows.get(&var).map_or(var, |place| place.var)
    }

    /// Adds a cotangent.
    pub(crate) fn add(&mut self, of: &Ref, cotangent: Atom, negative: bool) {
        let place = self.place(of);
        self.add_at(place, cotangent, negative);
    }

    pub(crate) fn add_at(&mut self, place: Place, cotangent: Atom, negative: bool) {
        let Place { var, indices } = place;
        let (name, _) = self.barred(var);
        if self.is_part(var, &indices) {
            return self.note_part(var, indices, cotangent, negative);
        }
        let direct = indices.is_empty() && !self.accumulators.contains(&var);
        let cotangent =
            if negative && !direct { self.code.real(RealOp::Neg, vec![cotangent]) } else { cotangent };
        let bar = if indices.is_empty() {
            match (self.bars.remove(&var), negative && direct) {
                (None, false) => cotangent,
                (None, true) => self.code.real_called(name, RealOp::Neg, vec![cotangent]),
                (Some(bar), true) => self.code.real_called(name, RealOp::Sub, vec![bar, cotangent]),
                (Some(bar), false) => self.code.sum_called(name, bar, cotangent),
            }
        } else {
            let bar = self.bar_or_zero(var);
            let args: Vec<Atom> = std::iter::once(bar).chain(indices).chain([cotangent]).collect();
            self.code.b.called(name).array(ArrayOp::AddAt, args)
        };
        self.bars.insert(var, bar);
        self.add_parts(var);
    }

    /// Whether there is a sum.
    pub(crate) fn has_bar(&self, var: Var) -> bool {
        self.bars.contains_key(&var) || self.parts.has(var)
    }

    /// Takes the cotangent of a variable that is defined here.
    pub(crate) fn take(&mut self, var: Var) -> Option<Atom> {
        self.gather_parts(var);
        self.bars.remove(&var)
    }

    /// The cotangents of what a block uses, from those of its results.
    pub(crate) fn block(&mut self, block: &LinBlock, weighed: Vec<(&Ref, Atom)>) {
        let outer = self.expect_whole(block);
        weighed.into_iter().for_each(|(of, weight)| self.add(of, weight, false));
        deep(|| block.stmts.iter().rev().for_each(|lin| self.lin(lin)));
        self.parts.expect(outer);
    }

    fn lin(&mut self, lin: &Lin) {
        match lin {
            Lin::Form { out, terms, divisor } => {
                let Some(bar) = self.take(*out) else { return };
                self.form(bar, terms, divisor.as_ref());
            }
            Lin::Array { out, op, args, extra } => {
                let Some(bar) = self.take(*out) else { return };
                self.array(*op, args, extra, bar);
            }
            Lin::Make { out, data, ctor, fields } => {
                let Some(bar) = self.take(*out) else { return };
                let Some(func) = self.code.ad.fields_function(*data, *ctor) else { return };
                let types = self.code.ad.field_tangents(*data, *ctor);
                let mut args = vec![bar];
                for (field, ty) in fields.iter().zip(&types) {
                    if ty.rank() > 0 {
                        args.push(self.shape(field));
                    }
                }
                let bars = self.code.b.call(func, args, &types);
                for (field, bar) in fields.iter().zip(bars) {
                    if let Arg::Linear(of) = field {
                        self.add(of, bar, false);
                    }
                }
            }
            Lin::Fields { of, data, ctor, outs, .. } => {
                if outs.iter().all(|out| !self.has_bar(*out)) {
                    return;
                }
                let Some(tangent) = self.code.ad.whole_tangent(*data) else { return };
                let mut fields = Vec::new();
                for out in outs {
                    fields.push(self.bar_or_zero(*out));
                    self.bars.remove(out);
                }
                let ctor = self.code.ad.tangent_ctor(*data, *ctor);
                let whole = self.code.b.make(tangent, ctor, fields);
                self.add(of, whole, false);
            }
            Lin::Branch(branch) => self.branch(branch),
            Lin::Loop(parts) => self.repeat(parts),
            Lin::Call(call) => self.call(call),
            Lin::Product(product) => self.product(product),
            Lin::Sum { out, parts } => {
                let Some(bar) = self.take(*out) else { return };
                parts.iter().for_each(|of| self.add(of, bar.clone(), false));
            }
            Lin::Pullback(pullback) => self.pull_back(pullback),
        }
    }

    /// A rule's own function from cotangents to cotangents.
    fn pull_back(&mut self, pullback: &LinPullback) {
        let bars: Vec<Option<Atom>> = pullback.outs.iter().map(|out| self.take((*out)?)).collect();
        if bars.iter().all(Option::is_none) {
            return;
        }
        let back = self.primal(&pullback.back);
        let values = self.points(&pullback.values);
        let points: Vec<Atom> = pullback.points.iter().map(|(point, _)| point.clone()).collect();
        let points = self.points(&points);
        let found = match pullback.forward {
            Some(_) => self.code.pull_inside(pullback.apply, &back, &values, &bars),
            None => self.code.pull_back(pullback.apply, &back, &values, &bars, &points),
        };
        for ((_, of), bar) in pullback.points.iter().zip(found) {
            if let (Some(of), Some(bar)) = (of, bar) {
                self.add(of, bar, false);
            }
        }
    }

    /// What shows the shapes of these. Reals have none, and are not kept: any other will do.
    fn points(&mut self, atoms: &[Atom]) -> Vec<Atom> {
        let is_real = |this: &Self, atom: &Atom| atom.var().is_some_and(|var| this.info(var).ty == Ty::REAL);
        let all = atoms.iter();
        all.map(|atom| if is_real(self, atom) { Atom::Real(0.0) } else { self.primal(atom) }).collect()
    }

    /// The point of an operand, for its shape.
    fn shape(&mut self, arg: &Arg) -> Atom {
        match arg {
            Arg::Zero(point) | Arg::Fixed(point) => self.primal(point),
            Arg::Linear(Ref::Var(var)) => self.primal(&Atom::Var(*var)),
            Arg::Linear(Ref::At(array, indices)) => {
                let array = self.primal(&Atom::Var(*array));
                let args: Vec<Atom> = std::iter::once(array).chain(self.primals(indices)).collect();
                self.code.b.array(ArrayOp::Index, args)
            }
        }
    }

    fn form(&mut self, bar: Atom, terms: &[Term], divisor: Option<&Atom>) {
        let mut scaled = bar;
        if let Some(divisor) = divisor {
            let divisor = self.primal(divisor);
            scaled = self.code.real(RealOp::DivZero, vec![scaled, divisor]);
        }
        for term in terms {
            // The first contribution is the sum so far.
            let place = self.place(&term.of);
            let first = !term.negative && place.indices.is_empty() && !self.has_bar(place.var);
            let name = if first { self.barred(place.var).0 } else { "t".into() };
            let summand = match &term.coef {
                Some(coef) => {
                    let coef = self.primal(coef);
                    self.code.real_called(name, RealOp::MulZero, vec![scaled.clone(), coef])
                }
                None => scaled.clone(),
            };
            self.add_at(place, summand, term.negative);
        }
    }

    fn call(&mut self, call: &LinCall) {
        let weighted: Vec<bool> = call.outs.iter().flatten().map(|out| self.has_bar(*out)).collect();
        if !weighted.contains(&true) {
            return;
        }
        let weights: Vec<Atom> = call.outs.iter().flatten().filter_map(|out| self.take(*out)).collect();
        // The sum so far of each argument, unless another argument has it already.
        let (mut seeds, mut seeded) = (Vec::new(), Vec::new());
        let active: Vec<&Ref> = call.args.iter().filter_map(Arg::linear).collect();
        let live = self.code.ad.live_params(&call.key, &weighted);
        for (of, live) in active.iter().zip(&live) {
            let place = self.place(of);
            let whole = place.indices.is_empty() && *live && call.seeds;
            let seed = if whole { self.take(place.var) } else { None };
            seeded.push(seed.is_some());
            seeds.push(seed);
        }
        let through = seeded.clone();
        let variant = Variant { key: call.key.clone(), weighted, seeded, checkpoint: call.checkpoint };
        let (func, seeded) = self.code.ad.backward_of_all(variant);
        for (seed, seeded) in seeds.iter_mut().zip(seeded) {
            if seeded && seed.is_none() {
                *seed = Some(self.code.zero(None, Ty::REAL));
            }
        }
        let seeds = seeds.into_iter().flatten();
        let args: Vec<Atom> = self.primals(&call.residual).into_iter().chain(weights).chain(seeds).collect();
        let back: Vec<(&Ref, bool)> = active
            .iter()
            .zip(&through)
            .zip(live)
            .filter(|(_, live)| *live)
            .map(|((of, through), _)| (*of, *through))
            .collect();
        let mut named = Vec::new();
        for (of, _) in &back {
            let place = self.place(of);
            let (name, ty) = self.barred(place.var);
            named.push((name, ty.at(place.indices.len()).unwrap_or(ty)));
        }
        let sums = self.code.b.named(&named, Op::Call { func, args, checkpoint: false });
        // What has gone through is there before more is added to it: a row of one argument may be another argument.
        let (through, added): (Vec<_>, Vec<_>) =
            back.into_iter().zip(sums).partition(|((_, through), _)| *through);
        for ((of, _), sum) in through {
            let place = self.place(of);
            self.bars.insert(place.var, sum);
        }
        for ((of, _), sum) in added {
            let place = self.place(of);
            self.add_at(place, sum, false);
        }
    }
}

impl Ad {
    /// The transpose for these sums, or for more: a recursive function that adds to a number in all its calls but the outermost does so there, too.
    /// Where cotangents are added up as on a tape, nothing is added to zero.
    fn backward_of_all(&mut self, mut variant: Variant) -> (FuncId, Vec<bool>) {
        let func = self.backward_function(&variant);
        let entry = (variant.key.clone(), variant.weighted.clone());
        if self.exact || variant.checkpoint {
            return (func, variant.seeded);
        }
        let of = self.program.funcs.at(variant.key.0);
        let active = of.body.params.iter().zip(&variant.key.1).filter(|(_, active)| **active);
        let numbers: Vec<bool> = active.map(|(param, _)| of.ty(*param) == Ty::REAL).collect();
        let seedings = self.seedings.get(&entry);
        let fuller = seedings.into_iter().flatten().rev().find(|other| {
            let all = other.iter().zip(&variant.seeded).zip(&numbers);
            **other != variant.seeded
                && all.into_iter().all(|((more, here), number)| more == here || *more && *number)
        });
        // Whether it is recursive takes longest to say.
        let Some(fuller) = fuller.filter(|_| self.is_recursive(variant.key.0)) else {
            return (func, variant.seeded);
        };
        variant.seeded.clone_from(fuller);
        (self.backward_function(&variant), variant.seeded)
    }

    /// The transpose of the linear part of a function as a function: from the residual (of a checkpoint: the arguments), the
    /// cotangents of results and sums so far, to the sums for the parameters that get any.
    pub(crate) fn backward_function(&mut self, variant: &Variant) -> FuncId {
        if let Some(known) = self.backwards.get(variant) {
            return *known;
        }
        if variant.checkpoint {
            return self.run_again(variant);
        }
        let Variant { key, weighted, seeded, .. } = variant;
        let linearized = self.linearize(key);
        let live = self.live_params(key, weighted);
        let params = linearized.func.body.params.iter().zip(&key.1);
        let params: Vec<Var> = params.filter(|(_, active)| **active).map(|(param, _)| *param).collect();
        let types = params.iter().zip(&live).filter(|(_, live)| **live);
        let types: Vec<Ty> = types.map(|(param, _)| linearized.func.ty(*param)).collect();
        let results = types.into_iter().filter_map(|ty| self.tangent(ty)).collect();
        let id = self.reserve(results);
        self.backwards.insert(variant.clone(), id);
        self.seedings.entry((key.clone(), weighted.clone())).or_default().push(seeded.clone());
        let mut code = Code::new(self, &format!("back_{}", linearized.func.name));
        code.b.set_func_span(linearized.func.span);
        code.b.set_span(linearized.func.span);
        let (env, tape) = linearized.open(&mut code);
        let mut transposer = Transposer {
            code: &mut code,
            env,
            bars: Scoped::default(),
            parts: Parts::default(),
            rows: FxHashMap::default(),
            accumulators: FxHashSet::default(),
            source: &linearized.vars,
            likes: &linearized.likes,
        };
        let mut weights = Vec::new();
        for ((of, atom), _) in linearized.varying().zip(weighted).filter(|(_, weighted)| **weighted) {
            let (name, ty) = match atom.var() {
                Some(var) => transposer.barred(var),
                None => (Name::new("weight"), Ty::REAL),
            };
            let weight = transposer.code.b.param(name, ty);
            weights.extend(of.map(|of| (of, weight)));
        }
        for (param, _) in params.iter().zip(seeded).filter(|(_, seeded)| **seeded) {
            let (name, ty) = transposer.barred(*param);
            let seed = transposer.code.b.param(name, ty);
            transposer.bars.insert(*param, seed);
        }
        linearized.unpack(transposer.code, &mut transposer.env, tape.as_ref());
        transposer.block(&linearized.block, weights);
        let mut results = Vec::new();
        for (param, _) in params.iter().zip(live).filter(|(_, live)| *live) {
            results.push(transposer.bar_or_zero(*param));
        }
        let results = linearized.close(&mut code, tape, results);
        let func = code.finish(results);
        *self.program.funcs.at_mut(id) = func;
        id
    }

    /// The transpose of a checkpoint: runs the primal part, and then its transpose.
    fn run_again(&mut self, variant: &Variant) -> FuncId {
        let key = &variant.key;
        let linearized = self.linearize(key);
        let back = self.backward_function(&Variant { checkpoint: false, ..variant.clone() });
        let results = self.program.funcs.at(back).results.clone();
        let weights: Vec<Ty> = linearized
            .func
            .results
            .iter()
            .zip(&linearized.results)
            .filter(|(_, active)| **active)
            .zip(&variant.weighted)
            .filter(|(_, weighted)| **weighted)
            .map(|((ty, _), _)| *ty)
            .collect();
        let mut code = Code::new(self, &format!("again_{}", linearized.func.name));
        code.b.set_span(linearized.func.span);
        let mut args = Vec::new();
        for param in &linearized.func.body.params {
            let VarInfo { name, ty } = *linearized.func.vars.at(*param);
            args.push(code.b.param(name, ty));
        }
        let mut given = Vec::new();
        for ty in weights {
            let ty = code.ad.tangent(ty).unwrap_or(ty);
            given.push(code.b.param("weight".into(), ty));
        }
        let seeded = linearized.func.body.params.iter().zip(&key.1).filter(|(_, active)| **active);
        for ((param, _), _) in seeded.zip(&variant.seeded).filter(|(_, seeded)| **seeded) {
            let VarInfo { name, ty } = *linearized.func.vars.at(*param);
            let ty = code.ad.tangent(ty).unwrap_or(ty);
            given.push(code.b.param(barred(name), ty));
        }
        let (_, residual) = linearized.call(&mut code, &args);
        let args: Vec<Atom> = residual.into_iter().chain(given).collect();
        let bars = code.b.call(back, args, &results);
        let func = code.finish(bars);
        let id = self.program.funcs.push(func);
        self.backwards.insert(variant.clone(), id);
        self.note_again(id, variant);
        id
    }
}

/// The name of the cotangent of what has this name.
pub(crate) fn barred(name: Name) -> Name {
    Name::new(&format!("{name}_bar"))
}

/// Whether an element of this type is one of an array of reals.
pub(crate) fn is_real(ty: Ty) -> bool {
    ty.elem() == Elem::Real
}
