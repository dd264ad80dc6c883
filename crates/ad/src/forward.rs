//! Linear code written down as IR: from tangents of what varies to tangents of the results.
//!
//! ```text
//! a' = c · x'                                  a' = mul_zero(x', c)
//! z' = (x' - z · y') / y                       t = mul_zero(y', z);  s = x' - t;  z' = div_zero(s, y)
//! ```
//!
//! Positive terms come first, so that no negation is needed where a subtraction does. A tangent that is zero for sure is
//! no operand: what has none is not computed at all.

use crate::again::Primal;
use crate::like::Likes;
use crate::linear::{Arg, Branch, Carried, Choice, Lin, LinBlock, LinCall, LinLoop, LinPullback, Ref, Term};
use crate::scoped::Scoped;
use crate::transpose::Variant;
use crate::types::dotted;
use crate::{Code, Key, deep};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Mode, Op, Var};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Elem, Table, Ty};
use wengert_prim::RealOp;

/// Where linear code is written to, and what its variables are there.
pub(crate) struct Writer<'a, 'c> {
    pub(crate) code: &'a mut Code<'c>,
    /// Variables of the primal part; what is not here goes by its own name.
    pub(crate) env: Scoped,
    /// Tangents that are not zero.
    pub(crate) dots: Scoped,
    /// The variables of the primal part; `None` if they are those of the function that is written.
    pub(crate) source: Option<&'a Table<Var, VarInfo>>,
    /// Which of them have the shape of which.
    pub(crate) likes: &'a Likes,
}

impl<'c> Writer<'_, 'c> {
    pub(crate) fn info(&self, var: Var) -> VarInfo {
        *self.source.unwrap_or(&self.code.b.func().vars).at(var)
    }

    /// Name and type of the tangent of a variable.
    pub(crate) fn dotted(&mut self, var: Var) -> (Name, Ty) {
        let VarInfo { name, ty } = self.info(var);
        (dotted(name), self.code.ad.tangent(ty).unwrap_or(ty))
    }

    pub(crate) fn primal(&self, atom: &Atom) -> Atom {
        crate::again::meaning(&self.env, self.likes, atom)
    }

    fn primals(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.primal(atom)).collect()
    }

    /// The tangent of an operand, if it is not zero.
    pub(crate) fn get(&mut self, of: &Ref) -> Option<Atom> {
        match of {
            Ref::Var(var) => self.dots.get(var).cloned(),
            Ref::At(array, indices) => {
                let tangent = self.dots.get(array)?.clone();
                let args: Vec<Atom> = std::iter::once(tangent).chain(self.primals(indices)).collect();
                Some(self.code.b.array(ArrayOp::Index, args))
            }
        }
    }

    /// The tangent of an operand, of a variable of this type.
    pub(crate) fn get_or_zero(&mut self, of: &Ref) -> Atom {
        if let Some(tangent) = self.get(of) {
            return tangent;
        }
        let info = self.info(of.base());
        let point = self.primal(&Atom::Var(of.base()));
        match of {
            Ref::Var(_) => self.code.zero(Some(&point), info.ty),
            Ref::At(_, indices) => {
                let ty = info.ty.at(indices.len()).unwrap_or(Ty::REAL);
                let args: Vec<Atom> = std::iter::once(point).chain(self.primals(indices)).collect();
                let row = if ty.rank() > 0 { Some(self.code.b.array(ArrayOp::Index, args)) } else { None };
                self.code.zero(row.as_ref(), ty)
            }
        }
    }

    /// An operand of an operation on tangents.
    pub(crate) fn arg(&mut self, arg: &Arg) -> Atom {
        match arg {
            Arg::Fixed(atom) => self.primal(atom),
            Arg::Linear(of) => self.get_or_zero(of),
            Arg::Zero(point) => {
                let ty = match point.var() {
                    Some(var) => self.info(var).ty,
                    None => self.code.b.type_of(point),
                };
                let point = self.primal(point);
                self.code.zero(Some(&point), ty)
            }
        }
    }

    pub(crate) fn block(&mut self, block: &LinBlock) {
        deep(|| block.stmts.iter().for_each(|lin| self.lin(lin)));
    }

    pub(crate) fn lin(&mut self, lin: &Lin) {
        match lin {
            Lin::Form { out, terms, divisor } => self.form(*out, terms, divisor.as_ref()),
            Lin::Array { out, op, args, .. } => {
                if args.iter().filter_map(Arg::linear).all(|of| !self.dots.contains_key(&of.base())) {
                    return;
                }
                let (name, ty) = self.dotted(*out);
                let args: Vec<Atom> = args.iter().map(|arg| self.arg(arg)).collect();
                let tangent = self.code.b.called(name).typed1(ty, Op::Array(*op, args));
                self.dots.insert(*out, tangent);
            }
            Lin::Make { out, data, ctor, fields } => {
                if fields.iter().filter_map(Arg::linear).all(|of| !self.dots.contains_key(&of.base())) {
                    return;
                }
                let (name, ty) = self.dotted(*out);
                let fields: Vec<Atom> = fields.iter().map(|field| self.arg(field)).collect();
                if let (Ty::Scalar(Elem::Data(tangent)), Some(_)) = (ty, self.code.ad.whole_tangent(*data)) {
                    let ctor = self.code.ad.tangent_ctor(*data, *ctor);
                    let made = self.code.b.called(name).make(tangent, ctor, fields);
                    self.dots.insert(*out, made);
                }
            }
            Lin::Fields { of, data, ctor, outs, like } => {
                let Some(whole) = self.get(of) else { return };
                let Some(func) = self.code.ad.fields_function(*data, *ctor) else { return };
                let order = self.code.order.clone();
                let args = std::iter::once(whole).chain(order).chain(self.primals(like)).collect();
                let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.dotted(*out)).collect();
                let op = Op::Call { func, args, checkpoint: false };
                let tangents = self.code.b.named(&named, op);
                self.dots.extend(outs.iter().copied().zip(tangents));
            }
            Lin::Branch(branch) => self.branch(branch),
            Lin::Loop(parts) => self.repeat(parts),
            Lin::Call(call) => self.call(call),
            Lin::Product(product) => self.product(product),
            Lin::Sum { out, parts } => {
                let mut sum: Option<Atom> = None;
                for of in parts {
                    let Some(part) = self.get(of) else { continue };
                    sum = Some(match sum {
                        Some(sum) => self.code.sum(sum, part),
                        None => part,
                    });
                }
                if parts.is_empty() {
                    let ty = self.info(*out).ty;
                    let point = self.primals(&[Atom::Var(*out)]).pop();
                    sum = Some(self.code.zero(point.as_ref(), ty));
                }
                self.dots.extend(sum.map(|sum| (*out, sum)));
            }
            Lin::Pullback(pullback) => self.push_forward(pullback),
        }
    }

    /// The transpose of a rule's function from cotangents to cotangents.
    fn push_forward(&mut self, pullback: &LinPullback) {
        let mut weights = Vec::new();
        for (_, of) in &pullback.points {
            weights.push(of.as_ref().and_then(|of| self.get(of)));
        }
        if weights.iter().all(Option::is_none) {
            return;
        }
        self.push_weighted(pullback, weights);
        // What varies as far as others know has a tangent, and be it zero: they do not ask for its shape.
        for (out, value) in pullback.outs.iter().zip(&pullback.values) {
            let Some(out) = out.filter(|out| !self.dots.contains_key(out)) else { continue };
            let ty = self.info(out).ty;
            if self.code.ad.tangent(ty).is_some() {
                let value = self.point(value, ty);
                let zero = self.code.zero(Some(&value), ty);
                self.dots.insert(out, zero);
            }
        }
    }

    fn push_weighted(&mut self, pullback: &LinPullback, weights: Vec<Option<Atom>>) {
        if let Some(func) = pullback.forward {
            self.push_inside(pullback, func);
            return;
        }
        if self.code.ad.is_transposed_exactly(pullback.apply) {
            self.push_exactly(pullback, &weights);
            return;
        }
        let mut args = vec![self.primal(&pullback.back)];
        let mut active = vec![false];
        for value in &pullback.values {
            let ty = value.var().map_or(Ty::REAL, |var| self.info(var).ty);
            let value = self.primal(value);
            active.push(self.code.ad.tangent(ty).is_some());
            args.push(self.code.outward(&value, None, ty));
        }
        let key: Key = (pullback.apply, active.clone());
        if !self.code.ad.is_linear(&key, 0, 1) {
            self.code.watch(&key, &args, 0, 1);
        }
        let linearized = self.code.ad.linearize(&key);
        let (_, mut args) = linearized.call(self.code, &args);
        let mut weighted = Vec::new();
        for (weight, varies) in weights.into_iter().zip(&linearized.results) {
            if *varies {
                weighted.push(weight.is_some());
                args.extend(weight);
            }
        }
        if !weighted.contains(&true) {
            return;
        }
        let live = self.code.ad.live_params(&key, &weighted);
        let seeded = vec![false; live.len()];
        let variant = Variant { key, weighted, seeded, checkpoint: false };
        let func = self.code.ad.backward_function(&variant);
        let varying = pullback.outs.iter().zip(active.iter().skip(1)).filter(|(_, active)| **active);
        let outs: Vec<Option<Var>> =
            varying.zip(live).filter(|(_, live)| *live).map(|((out, _), _)| *out).collect();
        let types = self.code.ad.program.funcs.at(func).results.clone();
        let tangents = self.code.b.call(func, args, &types);
        self.dots.extend(outs.into_iter().zip(tangents).filter_map(|(out, tangent)| Some((out?, tangent))));
    }

    /// The same, recorded on a tape.
    fn push_exactly(&mut self, pullback: &LinPullback, weights: &[Option<Atom>]) {
        let mut args = vec![self.primal(&pullback.back)];
        let mut points = Vec::new();
        let surface = self.code.ad.program.funcs.at(pullback.apply).clone();
        let types = surface.param_types().into_iter().skip(1).zip(&pullback.values);
        let values: Vec<(Atom, Ty)> = types.map(|(ty, value)| (self.point(value, ty), ty)).collect();
        args.extend(values.iter().map(|(value, _)| value.clone()));
        for (((x, _), weight), ty) in pullback.points.iter().zip(weights).zip(&surface.results) {
            let x = self.point(x, *ty);
            points.push(self.code.outward(&x, weight.clone(), *ty));
        }
        args.extend(points);
        let func = self.code.ad.transposed(pullback.apply);
        let types: Vec<Ty> = values.iter().map(|(_, ty)| *ty).collect();
        let found = self.code.b.call(func, args, &types);
        for ((out, found), (value, ty)) in pullback.outs.iter().zip(found).zip(values) {
            let tangent = self.code.inward("custom_vjp".into(), &value, &found, ty);
            self.dots.extend((*out).zip(tangent));
        }
    }

    /// The same of a function that was made.
    fn push_inside(&mut self, pullback: &LinPullback, func: FuncId) {
        let mut args = vec![self.primal(&pullback.back)];
        for value in &pullback.values {
            let ty = value.var().map_or(Ty::REAL, |var| self.info(var).ty);
            args.push(self.point(value, ty));
        }
        for (_, of) in &pullback.points {
            args.extend(of.as_ref().map(|of| self.get_or_zero(of)));
        }
        let types = self.code.ad.program.funcs.at(func).results.clone();
        let found = self.code.b.call(func, args, &types);
        self.dots.extend(pullback.outs.iter().flatten().copied().zip(found));
    }

    /// What shows the shape of a value. Reals have none, and may not be there: any will do.
    fn point(&self, atom: &Atom, ty: Ty) -> Atom {
        if ty == Ty::REAL { Atom::Real(0.0) } else { self.primal(atom) }
    }

    fn form(&mut self, out: Var, terms: &[Term], divisor: Option<&Atom>) {
        let mut sum: Option<Atom> = None;
        let (name, _) = self.dotted(out);
        // The last operation gives the tangent, and its name.
        let present = terms.iter().filter(|term| self.dots.contains_key(&term.of.base())).count();
        let name_of = |last: bool| if last { name } else { "t".into() };
        let mut done = 0;
        for negative in [false, true] {
            for term in terms.iter().filter(|term| term.negative == negative) {
                let Some(mut summand) = self.get(&term.of) else { continue };
                if let Some(coef) = &term.coef {
                    let coef = self.primal(coef);
                    let only = present == 1 && !negative && divisor.is_none();
                    summand = self.code.real_called(name_of(only), RealOp::MulZero, vec![summand, coef]);
                }
                done += 1;
                let name = name_of(done == present && divisor.is_none());
                sum = Some(match (sum, negative) {
                    (None, false) => summand,
                    // A tangent that is zero is never -0.
                    (None, true) if self.code.ad.exact => {
                        self.code.real_called(name, RealOp::Sub, vec![Atom::Real(0.0), summand])
                    }
                    (None, true) => self.code.real_called(name, RealOp::Neg, vec![summand]),
                    (Some(sum), false) => self.code.real_called(name, RealOp::Add, vec![sum, summand]),
                    (Some(sum), true) => self.code.real_called(name, RealOp::Sub, vec![sum, summand]),
                });
            }
        }
        let Some(mut sum) = sum else { return };
        if let Some(divisor) = divisor {
            let divisor = self.primal(divisor);
            sum = self.code.real_called(name, RealOp::DivZero, vec![sum, divisor]);
            if self.code.ad.exact {
                // What an infinite number divides may be -0.
                sum = self.code.real_called(name, RealOp::Add, vec![sum, Atom::Real(0.0)]);
            }
        }
        self.dots.insert(out, sum);
    }

    /// The tangents of a block's results, zeros included, for those that vary somewhere.
    fn results(
        &mut self,
        block: &LinBlock,
        wanted: &[Option<VarInfo>],
        values: &[Option<Atom>],
    ) -> Vec<Atom> {
        let mut found = Vec::new();
        for (i, info) in wanted.iter().enumerate() {
            let Some(info) = info else { continue };
            found.push(match block.results.get(i) {
                Some(Some(of)) => self.get_or_zero(of),
                _ => {
                    let point = values.get(i).cloned().flatten().map(|value| self.primal(&value));
                    self.code.zero(point.as_ref(), info.ty)
                }
            });
        }
        found
    }

    fn branch(&mut self, branch: &Branch) {
        let Branch { on, arms, outs, .. } = branch;
        let wanted: Vec<Option<VarInfo>> = outs.iter().map(|out| out.map(|out| self.info(out))).collect();
        // A branch that gives an array that does not vary needs its shape: that of the result of the whole.
        let values: Vec<Option<Atom>> = outs.iter().map(|out| out.map(Atom::Var)).collect();
        let mut blocks = Vec::new();
        for arm in arms {
            let (env, dots) = (self.env.begin(), self.dots.begin());
            self.code.b.open();
            for param in &arm.params {
                let VarInfo { name, ty } = self.info(*param);
                let param_there = self.code.b.param(name, ty);
                self.env.insert(*param, param_there);
            }
            for (var, atom) in &arm.binds {
                let atom = self.primal(atom);
                self.env.insert(*var, atom);
            }
            let (code, mut primal) = self.primal_part();
            primal.compute_again(code, &arm.again);
            self.block(&arm.block);
            let results = self.results(&arm.block, &wanted, &values);
            blocks.push(self.code.b.close(results));
            self.env.end(env);
            self.dots.end(dots);
        }
        let op = choose(self.primal_choice(on), blocks);
        let outs: Vec<Var> = outs.iter().flatten().copied().collect();
        let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.dotted(*out)).collect();
        let tangents = self.code.b.named(&named, op);
        self.dots.extend(outs.into_iter().zip(tangents));
    }

    pub(crate) fn primal_choice(&self, on: &Choice) -> Choice {
        match on {
            Choice::If(cond) => Choice::If(self.primal(cond)),
            Choice::Match(value) => Choice::Match(self.primal(value)),
        }
    }

    fn repeat(&mut self, parts: &LinLoop) {
        let mut init = Vec::new();
        for carried in &parts.carried {
            init.push(self.arg(&carried.init));
        }
        let mut inputs: Vec<Atom> = parts.rows.iter().map(|row| self.primal(&row.array)).collect();
        let tangents: Vec<Var> = parts
            .inputs
            .iter()
            .filter(|(_, of)| self.dots.contains_key(&of.base()))
            .map(|(row, _)| *row)
            .collect();
        for (row, of) in &parts.inputs {
            if tangents.contains(row) {
                inputs.extend(self.get(of));
            }
        }
        let len = match inputs.first().filter(|_| !parts.rows.is_empty()) {
            Some(rows) => self.code.length(rows),
            None => self.primal(&parts.len),
        };
        let (env, dots) = (self.env.begin(), self.dots.begin());
        self.code.b.open();
        let index = self.code.b.param("i".into(), Ty::INT);
        self.env.extend(parts.index.map(|var| (var, index)));
        for carried in &parts.carried {
            let (name, ty) = self.dotted(carried.param);
            let param = self.code.b.param(name, ty);
            self.dots.insert(carried.param, param);
        }
        let (code, mut primal) = self.primal_part();
        primal.open_rows(code, parts);
        for row in tangents {
            let (name, ty) = self.dotted(row);
            let param = self.code.b.param(name, ty);
            self.dots.insert(row, param);
        }
        self.block(&parts.body);
        let results = self.loop_results(parts);
        let body = self.code.b.close(results);
        self.env.end(env);
        self.dots.end(dots);
        let outs: Vec<Var> =
            parts.carried.iter().map(|c| c.out).chain(parts.outputs.iter().map(|(out, _)| *out)).collect();
        let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.dotted(*out)).collect();
        let mode = if init.is_empty() { Mode::Each } else { Mode::Sequence };
        let op = Loop { mode, backward: parts.backward, len, inputs, init, accs: Vec::new(), body };
        let found = self.code.b.named(&named, Op::Loop(Box::new(op)));
        self.dots.extend(outs.into_iter().zip(found));
    }

    /// The tangents that an iteration gives: of what is carried, and of rows of outputs.
    fn loop_results(&mut self, parts: &LinLoop) -> Vec<Atom> {
        let mut results = Vec::new();
        let given = parts.carried.iter().map(|carried| (carried.result, Some(carried)));
        for (result, carried) in given.chain(parts.outputs.iter().map(|(_, result)| (*result, None))) {
            results.push(match (parts.body.results.get(result), carried) {
                (Some(Some(of)), _) => self.get_or_zero(of),
                // A next state that does not vary: zero in its shape, or in the shape of this one.
                (_, Some(Carried { param, fixed, .. })) => {
                    let here = self.dots.get(param).cloned();
                    let point = fixed.as_ref().map(|next| self.primal(next)).or(here);
                    let ty = self.info(*param).ty;
                    self.code.zero(point.as_ref(), ty)
                }
                (_, None) => Atom::Real(0.0),
            });
        }
        results
    }

    /// Where code is written to, and what the variables of the primal part are there.
    fn primal_part(&mut self) -> (&mut Code<'c>, Primal<'_>) {
        let Writer { code, env, source, likes, .. } = self;
        (code, Primal { env, source: *source, likes })
    }

    fn call(&mut self, call: &LinCall) {
        let active = |arg: &Arg| arg.linear().is_some();
        if call.args.iter().filter_map(Arg::linear).all(|of| !self.dots.contains_key(&of.base())) {
            return;
        }
        let func = self.code.ad.forward_function(&call.key, call.checkpoint);
        let mut args = self.primals(&call.residual);
        for arg in call.args.iter().filter(|arg| active(arg)) {
            args.push(self.arg(arg));
        }
        let outs: Vec<Var> = call.outs.iter().flatten().copied().collect();
        let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.dotted(*out)).collect();
        let tangents = self.code.b.named(&named, Op::Call { func, args, checkpoint: false });
        self.dots.extend(outs.into_iter().zip(tangents));
    }
}

/// The operation that takes one of these blocks.
pub(crate) fn choose(on: Choice, mut blocks: Vec<Block>) -> Op {
    match on {
        Choice::Match(on) => Op::Match { on, arms: blocks },
        Choice::If(cond) => {
            let otherwise = blocks.pop().unwrap_or_default();
            Op::If { cond, then: blocks.pop().unwrap_or_default(), otherwise }
        }
    }
}

impl crate::Ad {
    /// The linear part of a function as a function: from the residual (of a checkpoint: the arguments) and the tangents of
    /// the arguments that vary, to those of the results that do.
    pub(crate) fn forward_function(&mut self, key: &Key, checkpoint: bool) -> FuncId {
        if checkpoint {
            return self.tangent_function(key);
        }
        if let Some(known) = self.forwards.get(key) {
            return *known;
        }
        let linearized = self.linearize(key);
        let mut results = Vec::new();
        let func = &linearized.func;
        for (ty, active) in func.results.iter().zip(&linearized.results) {
            results.extend(self.tangent(*ty).filter(|_| *active));
        }
        let id = self.reserve(results);
        self.forwards.insert(key.clone(), id);
        let mut code = Code::new(self, &format!("linear_{}", func.name));
        code.b.set_func_span(func.span);
        code.b.set_span(func.span);
        let (env, tape) = linearized.open(&mut code);
        let mut writer = Writer {
            code: &mut code,
            env,
            dots: Scoped::default(),
            source: Some(&linearized.vars),
            likes: &linearized.likes,
        };
        for (param, active) in linearized.func.body.params.iter().zip(&key.1) {
            if *active {
                let (name, ty) = writer.dotted(*param);
                let tangent = writer.code.b.param(name, ty);
                writer.dots.insert(*param, tangent);
            }
        }
        linearized.unpack(writer.code, &mut writer.env, tape.as_ref());
        writer.block(&linearized.block);
        let mut results = Vec::new();
        for (of, atom) in linearized.varying() {
            results.push(match of {
                Some(of) => writer.get_or_zero(of),
                None if linearized.func.type_of(atom) == Ty::REAL => Atom::Real(0.0),
                None => {
                    let ty = linearized.func.type_of(atom);
                    let types: Vec<Ty> = writer.code.ad.tangent(ty).into_iter().collect();
                    writer.code.fail(&types, crate::BEYOND).pop().unwrap_or(Atom::Unit)
                }
            });
        }
        let results = linearized.close(&mut code, tape, results);
        let func = code.finish(results);
        *self.program.funcs.at_mut(id) = func;
        id
    }
}
