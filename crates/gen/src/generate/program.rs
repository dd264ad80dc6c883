//! Whole programs: data types, definitions that use earlier ones, and the entry.
//!
//! A definition is a plain function, or recurs as often as its first argument says (a literal at every call), perhaps by way of
//! another one, or recurs over the structure of a list, a tree or another declared type.

use super::{Callable, Gen, Recursion};
use crate::tree::{Bound, Child, Form, GenPat, Node};
use crate::ty::{DataDecl, GenType, standard_decls};
use crate::{Config, Program};
use arbitrary::{Result, Unstructured};
use std::collections::BTreeSet;
use wengert_base::Name;

/// How often an entry is generated anew because it is small or does not seem to depend on its argument.
const MAX_TRIES: u32 = 6;

/// What counts as small.
const MIN_WEIGHT: u64 = 80;

/// A generated definition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GenDef {
    pub(crate) name: Name,
    /// Name, type, and whether the type is written.
    pub(crate) params: Vec<(Name, GenType, bool)>,
    /// Whether the result's type is written; it is the body's.
    pub(crate) annotated: bool,
    pub(crate) body: Node,
}

/// A program; its entry takes and gives what `arg` and `result` say, or what chance says.
pub(crate) fn program(
    u: &mut Unstructured,
    config: &Config,
    arg: Option<GenType>,
    result: Option<GenType>,
) -> Result<Program> {
    let mut decls = if config.data { standard_decls() } else { Vec::new() };
    if config.data && u.ratio(1, 2)? {
        decls.push(random_decl(u)?);
    }
    // Definitions are smaller than the entry, which is what the tests call.
    let small = Config { max_depth: config.max_depth.saturating_sub(2), ..config.clone() };
    let mut generator = Gen::new(u, small, decls);
    let mut defs = Vec::new();
    for i in 0..generator.u.int_in_range(0..=config.max_definitions)? {
        let name = Name::new(&format!("f{i}"));
        let def = match generator.u.int_in_range(0..=3)? {
            1 if config.recursion => generator.fuel_defs(name)?,
            2 | 3 if config.recursion && config.data => vec![generator.struct_def(name)?],
            _ => vec![generator.plain_def(name)?],
        };
        defs.extend(def);
    }
    let arg_type = match arg {
        Some(ty) => ty,
        None => generator.smooth_first_order()?,
    };
    let result_type = match result {
        Some(ty) => ty,
        None => generator.smooth_first_order()?,
    };
    generator.config.max_depth = config.max_depth;
    let entry = Name::new("entry");
    let x = Name::new("x0");
    let annotated = generator.u.arbitrary()?;
    let mut body = None;
    for _ in 0..MAX_TRIES {
        let bound = vec![Bound::value(x, arg_type.clone())];
        let tried = generator.inside(bound, 1, |g| g.expr(&result_type))?.node;
        let good = tried.depends_on(&BTreeSet::from([x])) && tried.weight() >= MIN_WEIGHT;
        body = Some(tried);
        if good || generator.u.is_empty() {
            break;
        }
    }
    let body = match body {
        Some(body) => body,
        None => generator.leaf(&result_type)?,
    };
    defs.push(GenDef { name: entry, params: vec![(x, arg_type.clone(), true)], annotated, body });
    Ok(Program::new(generator.decls, defs, entry, arg_type, result_type))
}

/// `type Case a = Case0 … | Case1 …`: fields that are not recursive, the first constructor without any.
fn random_decl(u: &mut Unstructured) -> Result<DataDecl> {
    let has_param = u.arbitrary()?;
    let mut ctors = vec![(Name::new("Case0"), Vec::new())];
    for i in 1..=u.int_in_range(1..=3)? {
        let mut fields = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            fields.push(match u.int_in_range(0..=5)? {
                0 | 1 if has_param => GenType::Param,
                2 => GenType::Int,
                3 => GenType::Bool,
                4 => GenType::Tuple(vec![GenType::Real, GenType::Real]),
                5 => GenType::array(2, GenType::Real),
                _ => GenType::Real,
            });
        }
        ctors.push((Name::new(&format!("Case{i}")), fields));
    }
    Ok(DataDecl { name: Name::new("Case"), has_param, ctors })
}

impl Gen<'_, '_> {
    /// A first-order type that holds a `Real`.
    fn smooth_first_order(&mut self) -> Result<GenType> {
        for _ in 0..4 {
            let ty = self.some_type(2)?;
            if ty.is_first_order() && ty.holds_real(&self.decls) {
                return Ok(ty);
            }
        }
        Ok(GenType::Real)
    }

    /// Parameters, with their types written or not.
    fn params(&mut self, least: usize) -> Result<Vec<(Name, GenType, bool)>> {
        let count = self.u.int_in_range(least..=3)?;
        let mut params = Vec::new();
        for _ in 0..count {
            let ty = self.some_type(2)?;
            let annotated = ty.needs_annotation() || self.u.arbitrary()?;
            params.push((self.unique("a"), ty, annotated));
        }
        Ok(params)
    }

    /// The body, with the parameters in scope, and the definition made callable.
    fn finish_def(
        &mut self,
        name: Name,
        params: Vec<(Name, GenType, bool)>,
        result: GenType,
        fuel: bool,
        times: u64,
        body: impl FnOnce(&mut Self) -> Result<Node>,
    ) -> Result<GenDef> {
        let bound = params.iter().map(|(name, ty, _)| Bound::value(*name, ty.clone())).collect();
        let body = self.inside(bound, 1, body)?.node;
        let defs = &self.defs;
        let call = |name| defs.iter().find(|def| def.name == name).map_or(1, |def| def.cost);
        let cost = body.cost(&call).saturating_mul(times);
        let types = params.iter().skip(usize::from(fuel)).map(|(_, ty, _)| ty.clone());
        let callable = Callable { name, fuel, params: types.collect(), result, cost };
        self.defs.push(callable);
        Ok(GenDef { name, params, annotated: self.u.arbitrary()?, body })
    }

    /// `def f a b = e`
    fn plain_def(&mut self, name: Name) -> Result<GenDef> {
        let params = self.params(0)?;
        let result = self.some_type(2)?;
        let ty = result.clone();
        self.finish_def(name, params, result, false, 1, |g| g.expr(&ty))
    }

    /// `def f n a = if n <= 0 then e else … f (n - 1) …`; or two such, each of which calls the other.
    fn fuel_defs(&mut self, name: Name) -> Result<Vec<GenDef>> {
        let mut params = self.params(1)?;
        // What is handed on must not grow.
        params.retain(|(_, ty, _)| !ty.any(&|part| matches!(part, GenType::Data(..) | GenType::String)));
        let result = self.some_vector()?;
        if !self.config.wide || !self.u.ratio(1, 3)? {
            return Ok(vec![self.fuel_def(name, name, params, result)?]);
        }
        let other = Name::new(&format!("{name}b"));
        params.iter_mut().for_each(|(_, _, annotated)| *annotated = true);
        let mut again = params.clone();
        again.iter_mut().for_each(|(name, _, _)| *name = self.unique("a"));
        let mut first = self.fuel_def(name, other, params, result.clone())?;
        // The second may call the first as its other self only: otherwise neither ends.
        let callable = self.defs.pop();
        let mut second = self.fuel_def(other, name, again, result)?;
        let cost = self.defs.last().map_or(0, |second| second.cost);
        self.defs.extend(callable);
        self.defs.iter_mut().rev().take(2).for_each(|def| def.cost = def.cost.saturating_add(cost));
        (first.annotated, second.annotated) = (true, true);
        Ok(vec![first, second])
    }

    /// `def f n a = if n <= 0 then e else … g (n - 1) …`
    fn fuel_def(
        &mut self,
        name: Name,
        func: Name,
        others: Vec<(Name, GenType, bool)>,
        result: GenType,
    ) -> Result<GenDef> {
        let fuel = self.unique("n");
        let mut params = vec![(fuel, GenType::Int, true)];
        params.extend(others);
        let ty = result.clone();
        let recursion = Recursion {
            func,
            fuel,
            params: params.iter().skip(1).map(|(_, ty, _)| ty.clone()).collect(),
            result: result.clone(),
            calls_left: 0,
            repetition: 1,
        };
        self.finish_def(name, params, result, true, 16, |g| {
            let base = g.bounded(&ty)?;
            let marker = Bound { name: func, what: crate::tree::What::SelfCall };
            let step = g.inside(vec![marker], 1, |g| g.fuel_step(recursion, &ty))?;
            Ok(Node::binding(ty.clone(), Form::FuelIf(fuel), vec![Child::plain(base), step]))
        })
    }

    /// `let r = f (n - 1) … in e`, `e` having perhaps one more call.
    fn fuel_step(&mut self, recursion: Recursion, ty: &GenType) -> Result<Node> {
        self.recursion = Some(Recursion { calls_left: 1, ..recursion });
        let value = match self.call_self(ty)? {
            Some(call) => call,
            None => self.leaf(ty)?,
        };
        if let Some(recursion) = &mut self.recursion {
            recursion.calls_left = u32::from(self.u.ratio(1, 3)?);
        }
        let target = GenPat::Var(self.unique("v"), ty.clone());
        let body = self.inside(target.binders(), 1, |g| g.bounded(ty));
        self.recursion = None;
        Ok(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(value), body?]))
    }

    /// `def f xs a = match xs with | Nil -> e | Cons x rest -> let r = f rest … in e`
    fn struct_def(&mut self, name: Name) -> Result<GenDef> {
        let declared = self.u.choose(&["List", "List", "Tree", "Shape"])?;
        let over = match *declared {
            "Shape" => GenType::Data(Name::new("Shape"), vec![]),
            generic => GenType::Data(Name::new(generic), vec![self.some_type(1)?]),
        };
        let xs = self.unique("xs");
        let annotated = over.needs_annotation() || self.u.arbitrary()?;
        let mut params = vec![(xs, over.clone(), annotated)];
        params.extend(self.params(0)?.into_iter().take(1));
        params.retain(|(name, ty, _)| {
            *name == xs || !ty.any(&|part| matches!(part, GenType::Data(..) | GenType::String))
        });
        let result = match self.u.int_in_range(0..=4)? {
            0 if *declared == "List" => GenType::Data(Name::new("List"), vec![self.some_vector()?]),
            _ => self.some_vector()?,
        };
        let ty = result.clone();
        let extra: Vec<GenType> = params.iter().skip(1).map(|(_, ty, _)| ty.clone()).collect();
        self.finish_def(name, params, result, false, 16, |g| g.struct_match(name, xs, &over, &extra, &ty))
    }

    /// The match of a function over structure.
    fn struct_match(
        &mut self,
        func: Name,
        xs: Name,
        over: &GenType,
        extra: &[GenType],
        ty: &GenType,
    ) -> Result<Node> {
        let GenType::Data(data, _) = over else { return self.leaf(ty) };
        let ctors = self.decls.iter().find(|decl| decl.name == *data).map(|decl| decl.ctors.clone());
        let (mut patterns, mut children) = (Vec::new(), Vec::new());
        for (ctor, fields) in ctors.unwrap_or_default() {
            let fields: Vec<GenPat> =
                fields.iter().map(|field| GenPat::Var(self.unique("v"), field.at(over))).collect();
            let smaller: Vec<Name> = fields
                .iter()
                .filter_map(|field| if let GenPat::Var(name, of) = field { Some((*name, of)) } else { None })
                .filter(|(_, of)| *of == over)
                .map(|(name, _)| name)
                .collect();
            let pattern = GenPat::Ctor(ctor, fields);
            let mut binders = pattern.binders();
            binders.push(Bound { name: func, what: crate::tree::What::SelfCall });
            children.push(self.inside(binders, 1, |g| g.struct_arm(func, &smaller, extra, ty))?);
            patterns.push(pattern);
        }
        Ok(Node::binding(ty.clone(), Form::StructMatch(xs, over.clone(), patterns), children))
    }

    /// `let r = f rest … in e`, for each smaller part.
    fn struct_arm(&mut self, func: Name, smaller: &[Name], extra: &[GenType], ty: &GenType) -> Result<Node> {
        let Some((rest, others)) = smaller.split_first() else { return self.bounded(ty) };
        let args = extra.iter().map(|param| self.bounded(param)).collect::<Result<_>>()?;
        let form = Form::SelfCall { func, fuel: *rest, minus_one: false };
        let value = Node::new(ty.clone(), form, args);
        let target = GenPat::Var(self.unique("v"), ty.clone());
        let body = self.inside(target.binders(), 1, |g| g.struct_arm(func, others, extra, ty))?;
        Ok(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(value), body]))
    }
}
