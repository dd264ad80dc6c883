//! Types of operations: what an operation demands of its operands, and what its results are.
//!
//! [`types_of`] looks at one operation. Blocks inside it are taken as they are: it looks at the types of their parameters
//! and results, and the verifier looks inside.

mod array;

use crate::op::{Atom, Block, Compare, Convert, Custom, IntOp, Loop, Mode, Op, Rule, TextOp, Var, While};
use crate::program::{Func, FuncId, Linear, LinearId, Program, VarInfo};
use crate::ty::{Data, DataId, Elem, Role, Table, Ty};

/// Types, or what is wrong.
pub type Types = Result<Vec<Ty>, String>;

/// The types of the results of an operation, in a function with these variables; or what is wrong with it.
/// An operation that never returns ([`Op::never_returns`]) has results of any types: none are given.
pub fn types_of(program: &Program, vars: &Table<Var, VarInfo>, op: &Op) -> Types {
    Typing { program, vars }.op(op)
}

/// The type of an operand; `None` if there is no such variable.
pub fn type_of_atom(vars: &Table<Var, VarInfo>, atom: &Atom) -> Option<Ty> {
    Some(match atom {
        Atom::Var(var) => vars.get(*var)?.ty,
        Atom::Real(_) => Ty::REAL,
        Atom::Int(_) => Ty::INT,
        Atom::Bool(_) => Ty::BOOL,
        Atom::Text(_) => Ty::TEXT,
        Atom::Unit => Ty::Scalar(Elem::Unit),
    })
}

/// A type as the printer writes it, with the data types' own names.
pub fn show_type(program: &Program, ty: Ty) -> String {
    let elem = match ty.elem() {
        Elem::Real => "Real",
        Elem::Int => "Int",
        Elem::Bool => "Bool",
        Elem::Text => "Text",
        Elem::Unit => "Unit",
        Elem::Data(id) => program.data.get(id).map_or("?", |data| data.name.as_str()),
    };
    format!("{}{elem}", "[]".repeat(usize::from(ty.rank())))
}

/// Types as the printer writes them: `(Real, []Int)`.
pub fn show_types(program: &Program, types: &[Ty]) -> String {
    let shown: Vec<String> = types.iter().map(|ty| show_type(program, *ty)).collect();
    format!("({})", shown.join(", "))
}

impl Func {
    /// The type of an operand.
    pub fn type_of(&self, atom: &Atom) -> Ty {
        type_of_atom(&self.vars, atom).unwrap_or(Ty::Scalar(Elem::Unit))
    }

    /// The types of the parameters.
    pub fn param_types(&self) -> Vec<Ty> {
        self.body.params.iter().map(|var| self.ty(*var)).collect()
    }
}

impl IntOp {
    /// How many operands it takes.
    pub fn arity(self) -> usize {
        match self {
            IntOp::Neg | IntOp::Abs | IntOp::Sign => 1,
            IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Div | IntOp::Rem => 2,
            IntOp::DivFloor | IntOp::ModFloor | IntOp::Min | IntOp::Max | IntOp::Power => 2,
            IntOp::BitAnd | IntOp::BitOr | IntOp::BitXor | IntOp::ShiftLeft | IntOp::ShiftRight => 2,
        }
    }
}

/// One function's operations.
pub(crate) struct Typing<'a> {
    pub(crate) program: &'a Program,
    pub(crate) vars: &'a Table<Var, VarInfo>,
}

impl Typing<'_> {
    pub(crate) fn op(&self, op: &Op) -> Types {
        match op {
            Op::Copy(x) => Ok(vec![self.atom(x)?]),
            Op::Real(op, args) => self.all(args, &vec![Ty::REAL; op.arity()]).and(one(Ty::REAL)),
            Op::Power { base, exponent } => {
                self.expect(base, Ty::REAL)?;
                self.expect(exponent, Ty::INT).and(one(Ty::REAL))
            }
            Op::Polygamma { order, x } => {
                self.expect(order, Ty::INT)?;
                self.expect(x, Ty::REAL).and(one(Ty::REAL))
            }
            Op::Int(op, args) => self.all(args, &vec![Ty::INT; op.arity()]).and(one(Ty::INT)),
            Op::Compare(op, x, y) => self.compare(*op, x, y),
            Op::Convert(op, x) => self.convert(*op, x),
            Op::Not(x) => self.expect(x, Ty::BOOL).and(one(Ty::BOOL)),
            Op::Select { cond, then, otherwise } => {
                self.expect(cond, Ty::BOOL)?;
                let ty = self.atom(then)?;
                self.expect(otherwise, ty).and(one(ty))
            }
            Op::Text(op, args) => self.text(*op, args),
            Op::Fail { message } => self.expect(message, Ty::TEXT).map(|()| Vec::new()),
            Op::Require { what: _, left, right } => {
                self.expect(left, Ty::INT)?;
                self.expect(right, Ty::INT).map(|()| Vec::new())
            }
            Op::Whole(array) => match self.atom(array)? {
                ty if ty.rank() > 1 => Ok(Vec::new()),
                ty => Err(format!("an array of arrays is whole, this is of type {}", self.show(ty))),
            },
            Op::Make { data, ctor, fields } => self.make(*data, *ctor, fields),
            Op::Match { on, arms } => self.match_on(on, arms),
            Op::If { cond, then, otherwise } => {
                self.expect(cond, Ty::BOOL)?;
                self.params("the first branch", then, &[])?;
                self.params("the second branch", otherwise, &[])?;
                self.same_results(&[then, otherwise])
            }
            Op::Call { func, args, checkpoint: _ } => {
                let func = self.func(*func)?;
                self.all(args, &func.param_types())?;
                Ok(func.results.clone())
            }
            Op::Loop(parts) => self.counted(parts),
            Op::While(parts) => self.while_loop(parts),
            Op::Array(op, args) => self.array(*op, args),
            Op::Jvp { func, args, tangents } => self.jvp(*func, args, tangents),
            Op::Linearize { linear, args } => {
                let linear = self.linear(*linear)?;
                let func = self.func(linear.func)?;
                self.all(args, &func.param_types())?;
                let residual = Ty::Scalar(Elem::Data(linear.residual));
                Ok(func.results.iter().copied().chain([residual]).collect())
            }
            Op::Forward { linear, residual, tangents } => {
                let (active, results) = self.linear_map(*linear, residual)?;
                self.all(tangents, &active)?;
                Ok(results)
            }
            Op::Backward { linear, residual, cotangents } => {
                let (active, results) = self.linear_map(*linear, residual)?;
                self.all(cotangents, &results)?;
                Ok(active)
            }
            Op::Custom(parts) => self.custom(parts),
            Op::StopGradient(args) => args.iter().map(|x| self.atom(x)).collect(),
            Op::Taylor { func, captured, order, at } => {
                let func = self.func(*func)?;
                let args: Vec<Atom> = captured.iter().chain([at]).cloned().collect();
                self.all(&args, &func.param_types())?;
                self.expect(at, Ty::REAL)?;
                self.expect(order, Ty::INT)?;
                self.given("the results of the function", &func.results, &[Ty::REAL])?;
                one(Ty::Array(Elem::Real, 1))
            }
        }
    }

    pub(crate) fn atom(&self, atom: &Atom) -> Result<Ty, String> {
        type_of_atom(self.vars, atom).ok_or_else(|| format!("there is no variable {atom:?}"))
    }

    pub(crate) fn show(&self, ty: Ty) -> String {
        show_type(self.program, ty)
    }

    /// An operand as it is named in messages.
    pub(crate) fn name(&self, atom: &Atom) -> String {
        match atom {
            Atom::Var(var) => {
                self.vars.get(*var).map_or_else(|| format!("{var:?}"), |v| format!("`{}`", v.name))
            }
            Atom::Real(x) => wengert_base::real::show(*x),
            Atom::Int(n) => n.to_string(),
            Atom::Bool(truth) => truth.to_string(),
            Atom::Text(text) => format!("{text:?}"),
            Atom::Unit => "()".into(),
        }
    }

    pub(crate) fn expect(&self, atom: &Atom, ty: Ty) -> Result<(), String> {
        let found = self.atom(atom)?;
        if found == ty {
            return Ok(());
        }
        Err(format!(
            "{} should be of type {}, but is of type {}",
            self.name(atom),
            self.show(ty),
            self.show(found)
        ))
    }

    /// Operands of exactly these types.
    pub(crate) fn all(&self, args: &[Atom], types: &[Ty]) -> Result<(), String> {
        self.count(args, types.len())?;
        args.iter().zip(types).try_for_each(|(arg, ty)| self.expect(arg, *ty))
    }

    pub(crate) fn count(&self, args: &[Atom], wanted: usize) -> Result<(), String> {
        if args.len() == wanted {
            return Ok(());
        }
        Err(format!("it takes {wanted} operands and has {}", args.len()))
    }

    fn given(&self, what: &str, found: &[Ty], wanted: &[Ty]) -> Result<(), String> {
        if found == wanted {
            return Ok(());
        }
        let [found, wanted] = [found, wanted].map(|types| show_types(self.program, types));
        Err(format!("{what} should be of types {wanted}, but are of types {found}"))
    }

    /// The types of a block's parameters.
    fn params(&self, what: &str, block: &Block, wanted: &[Ty]) -> Result<(), String> {
        let found: Result<Vec<Ty>, String> =
            block.params.iter().map(|var| self.atom(&Atom::Var(*var))).collect();
        self.given(&format!("the parameters of {what}"), &found?, wanted)
    }

    fn results(&self, block: &Block) -> Types {
        block.results.iter().map(|atom| self.atom(atom)).collect()
    }

    fn same_results(&self, blocks: &[&Block]) -> Types {
        let Some((first, rest)) = blocks.split_first() else { return Ok(Vec::new()) };
        let types = self.results(first)?;
        for block in rest {
            self.given("the results of a branch", &self.results(block)?, &types)?;
        }
        Ok(types)
    }

    pub(crate) fn func(&self, id: FuncId) -> Result<&Func, String> {
        self.program.funcs.get(id).ok_or_else(|| format!("there is no function {}", id.0))
    }

    pub(crate) fn linear(&self, id: LinearId) -> Result<&Linear, String> {
        self.program.linears.get(id).ok_or_else(|| format!("there is no linearization {}", id.0))
    }

    pub(crate) fn data(&self, id: DataId) -> Result<&Data, String> {
        self.program.data.get(id).ok_or_else(|| format!("there is no data type {}", id.0))
    }

    fn compare(&self, op: Compare, x: &Atom, y: &Atom) -> Types {
        let ty = self.atom(x)?;
        let equality = matches!(op, Compare::Eq | Compare::Ne);
        let comparable = ty == Ty::REAL || ty == Ty::INT || ty == Ty::TEXT || (ty == Ty::BOOL && equality);
        if !comparable {
            return Err(format!("values of type {} are not compared so", self.show(ty)));
        }
        self.expect(y, ty).and(one(Ty::BOOL))
    }

    fn convert(&self, op: Convert, x: &Atom) -> Types {
        let (from, to) = match op {
            Convert::IntToReal => (Ty::INT, Ty::REAL),
            Convert::Floor | Convert::Ceil | Convert::Round | Convert::Truncate => (Ty::REAL, Ty::INT),
            Convert::IsNan => (Ty::REAL, Ty::BOOL),
        };
        self.expect(x, from).and(one(to))
    }

    fn text(&self, op: TextOp, args: &[Atom]) -> Types {
        let (from, to): (&[Ty], Ty) = match op {
            TextOp::Append => (&[Ty::TEXT, Ty::TEXT], Ty::TEXT),
            TextOp::Length => (&[Ty::TEXT], Ty::INT),
            TextOp::ShowReal => (&[Ty::REAL], Ty::TEXT),
            TextOp::ShowInt => (&[Ty::INT], Ty::TEXT),
            TextOp::ShowText => (&[Ty::TEXT], Ty::TEXT),
        };
        self.all(args, from).and(one(to))
    }

    fn make(&self, id: DataId, ctor: u32, fields: &[Atom]) -> Types {
        let data = self.data(id)?;
        let ctor = data
            .ctors
            .get(ctor as usize)
            .ok_or_else(|| format!("`{}` has no constructor {ctor}", data.name))?;
        self.all(fields, &ctor.fields).and(one(Ty::Scalar(Elem::Data(id))))
    }

    fn match_on(&self, on: &Atom, arms: &[Block]) -> Types {
        let Ty::Scalar(Elem::Data(id)) = self.atom(on)? else {
            return Err(format!("{} is no value of a data type", self.name(on)));
        };
        let data = self.data(id)?;
        if arms.len() != data.ctors.len() {
            return Err(format!(
                "`{}` has {} constructors, but there are {} arms",
                data.name,
                data.ctors.len(),
                arms.len()
            ));
        }
        for (ctor, arm) in data.ctors.iter().zip(arms) {
            self.params(&format!("the arm of `{}`", ctor.name), arm, &ctor.fields)?;
        }
        self.same_results(&arms.iter().collect::<Vec<&Block>>())
    }

    fn counted(&self, parts: &Loop) -> Types {
        let Loop { mode, backward: _, len, inputs, init, accs, body } = parts;
        self.expect(len, Ty::INT)?;
        let types = |atoms: &[Atom]| -> Types { atoms.iter().map(|atom| self.atom(atom)).collect() };
        let (carried, added) = (types(init)?, types(accs)?);
        if let Some(acc) = accs.iter().zip(&added).find(|(_, ty)| ty.elem() != Elem::Real) {
            return Err(format!("the accumulator {} holds no reals", self.name(acc.0)));
        }
        let mut rows = Vec::new();
        for input in inputs {
            let row = self.atom(input)?.at(1);
            rows.push(row.ok_or_else(|| format!("the input {} is no array", self.name(input)))?);
        }
        let mut params = vec![Ty::INT];
        params.extend(carried.iter().chain(&added).chain(&rows));
        self.params("the body", body, &params)?;
        let given = self.results(body)?;
        let mut wanted = carried.clone();
        wanted.extend(&added);
        let (kept, outputs) = given.split_at_checked(wanted.len()).ok_or("the body gives too few results")?;
        self.given("the first results of the body", kept, &wanted)?;
        match mode {
            Mode::Each if !init.is_empty() => return Err("`each` carries nothing".into()),
            Mode::Reduce if !accs.is_empty() || !outputs.is_empty() || carried != rows => {
                return Err(
                    "`reduce` has as many inputs as it carries values, of their types, and nothing else"
                        .into(),
                );
            }
            Mode::Each | Mode::Sequence | Mode::Reduce => {}
        }
        self.with_rows(wanted, outputs)
    }

    /// The results of a loop: these, and an array for each row.
    fn with_rows(&self, mut results: Vec<Ty>, rows: &[Ty]) -> Types {
        for row in rows {
            results.push(self.array_of(*row)?);
        }
        Ok(results)
    }

    pub(crate) fn array_of(&self, row: Ty) -> Result<Ty, String> {
        row.array_of().ok_or_else(|| "an array has at most 255 axes".into())
    }

    fn while_loop(&self, parts: &While) -> Types {
        let While { init, cond, body } = parts;
        let carried: Vec<Ty> = init.iter().map(|atom| self.atom(atom)).collect::<Types>()?;
        self.params("the condition", cond, &carried)?;
        self.given("the results of the condition", &self.results(cond)?, &[Ty::BOOL])?;
        self.params("the body", body, &carried)?;
        let given = self.results(body)?;
        let (kept, rows) = given.split_at_checked(carried.len()).ok_or("the body gives too few results")?;
        self.given("the first results of the body", kept, &carried)?;
        self.with_rows(carried, rows)
    }

    fn jvp(&self, func: FuncId, args: &[Atom], tangents: &[Option<Atom>]) -> Types {
        let func = self.func(func)?;
        let params = func.param_types();
        self.all(args, &params)?;
        if tangents.len() != params.len() {
            return Err(format!("there are {} tangents for {} parameters", tangents.len(), params.len()));
        }
        for (tangent, ty) in tangents.iter().zip(params) {
            if let Some(tangent) = tangent
                && !self.is_closure_tangent(tangent, ty)?
            {
                self.expect(tangent, ty)?;
            }
        }
        Ok(func.results.iter().chain(&func.results).copied().collect())
    }

    /// Whether it is the tangent itself, not the surface tangent, of a closure of type `ty`.
    fn is_closure_tangent(&self, tangent: &Atom, ty: Ty) -> Result<bool, String> {
        let (Ty::Scalar(Elem::Data(tangent)), Ty::Scalar(Elem::Data(of))) = (self.atom(tangent)?, ty) else {
            return Ok(false);
        };
        let role = |data| self.program.data.get(data).map(|data| data.role);
        Ok(role(of) == Some(Role::Closure) && role(tangent) == Some(Role::Tangent(of)))
    }

    /// The types between which a linearization goes: active parameters, results.
    fn linear_map(&self, id: LinearId, residual: &Atom) -> Result<(Vec<Ty>, Vec<Ty>), String> {
        let linear = self.linear(id)?;
        self.expect(residual, Ty::Scalar(Elem::Data(linear.residual)))?;
        let func = self.func(linear.func)?;
        let params = func.param_types();
        let active = params.iter().zip(&linear.active).filter(|(_, active)| **active).map(|(ty, _)| *ty);
        Ok((active.collect(), func.results.clone()))
    }

    fn custom(&self, parts: &Custom) -> Types {
        let Custom { func, captured, rule, rule_captured, point } = parts;
        let types = |atoms: &[Atom]| -> Types { atoms.iter().map(|atom| self.atom(atom)).collect() };
        let func = self.func(*func)?;
        let (point, mut args) = (types(point)?, types(captured)?);
        args.extend(&point);
        self.given("the arguments of the function", &args, &func.param_types())?;
        let mut args = types(rule_captured)?;
        args.extend(&point);
        match rule {
            Rule::Jvp(rule) => {
                let rule = self.func(*rule)?;
                args.extend(&point);
                self.given("the arguments of the rule", &args, &rule.param_types())?;
                let both: Vec<Ty> = func.results.iter().chain(&func.results).copied().collect();
                self.given("the results of the rule", &rule.results, &both)?;
            }
            Rule::Vjp(rule, apply) => {
                let (rule, apply) = (self.func(*rule)?, self.func(*apply)?);
                self.given("the arguments of the rule", &args, &rule.param_types())?;
                let (closure, values) = rule.results.split_last().ok_or("the rule gives no function")?;
                self.given("the first results of the rule", values, &func.results)?;
                let mut args = vec![*closure];
                args.extend(&func.results);
                self.given("the arguments of the rule's pullback", &args, &apply.param_types())?;
                self.given("the results of the rule's pullback", &apply.results, &point)?;
            }
        }
        Ok(func.results.clone())
    }
}

fn one(ty: Ty) -> Types {
    Ok(vec![ty])
}
