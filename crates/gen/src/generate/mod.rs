//! Type-first generation: given a type, choose a construct that can have it, and generate its parts.
//!
//! [`Gen`] holds what is in scope and three budgets. *Depth* limits nesting; near its end leaves become likelier.
//! *Repetition* estimates how often the expression at hand will run, so that loops in loops in recursive functions stay
//! cheap. *Derivative nesting* is limited by the configuration. When the random bytes run out, every choice takes its
//! first possibility, which is always a leaf.
//!
//! In smooth mode the function computed is smooth and its values stay moderate, so that finite differences can judge it:
//! no kinks, no poles, no rounding; control flow depends on integers, truth values and the shape of data only, and what
//! goes round a loop is squeezed by `sin`, `tanh` and the like.

mod derivative;
mod loops;
mod number;
pub(crate) mod program;
mod ragged;
mod rows;
mod structure;
mod wide;

use crate::Config;
use crate::tree::{Bound, Child, Form, GenPat, Node, Template, What};
use crate::ty::{DataDecl, GenType};
use crate::value::{GenValue, gen_real};
use arbitrary::{Result, Unstructured};
use wengert_base::Name;
use wengert_syntax::ast::BinOp;

/// Nesting of expressions.
const MAX_DEPTH: u32 = 9;

/// How often, at most, an expression inside loops should run.
const MAX_REPETITION: u64 = 300;

/// Sizes of arrays that vector code and threads divide.
const LONG: &[u64] = &[8, 19, 37];

/// Longer arrays are not written element by element.
pub(super) const SHORT: u64 = 4;

/// Operations, by estimate, of one run of a program.
const MAX_COST: u64 = 30_000;

/// A definition that may be called.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) name: Name,
    /// Whether the first argument is a number of recursions, which `params` leaves out.
    pub(crate) fuel: bool,
    pub(crate) params: Vec<GenType>,
    pub(crate) result: GenType,
    pub(crate) cost: u64,
}

/// The function under definition, callable on something smaller.
#[derive(Clone, Debug)]
struct Recursion {
    func: Name,
    fuel: Name,
    /// Parameters after the one that gets smaller.
    params: Vec<GenType>,
    result: GenType,
    /// Calls still allowed, and only where the expression runs as often as the function.
    calls_left: u32,
    repetition: u64,
}

/// The generator.
pub(crate) struct Gen<'g, 'u> {
    pub(crate) u: &'g mut Unstructured<'u>,
    pub(crate) config: Config,
    pub(crate) decls: Vec<DataDecl>,
    pub(crate) defs: Vec<Callable>,
    scope: Vec<Bound>,
    recursion: Option<Recursion>,
    depth: u32,
    repetition: u64,
    derivatives: u32,
    next_name: u32,
}

/// What a producer gives: nothing if it cannot make that type here.
type Made = Result<Option<Node>>;

impl<'g, 'u> Gen<'g, 'u> {
    /// With nothing in scope.
    pub(crate) fn new(u: &'g mut Unstructured<'u>, config: Config, decls: Vec<DataDecl>) -> Gen<'g, 'u> {
        Gen {
            u,
            config,
            decls,
            defs: Vec::new(),
            scope: Vec::new(),
            recursion: None,
            depth: 0,
            repetition: 1,
            derivatives: 0,
            next_name: 0,
        }
    }

    /// A name that is not in use; now and then, one that is, which it shadows.
    fn fresh(&mut self) -> Result<Name> {
        if self.u.ratio(1, 12)? {
            let mut values = self.scope.iter().rev().filter(|bound| bound.name.as_str().starts_with('v'));
            if let Some(bound) = values.next() {
                return Ok(bound.name);
            }
        }
        Ok(self.unique("v"))
    }

    /// A name with that prefix which stands for nothing else.
    fn unique(&mut self, prefix: &str) -> Name {
        self.next_name += 1;
        Name::new(&format!("{prefix}{}", self.next_name))
    }

    /// `make` with more names in scope, running `times` as often.
    fn inside(
        &mut self,
        binders: Vec<Bound>,
        times: u64,
        make: impl FnOnce(&mut Self) -> Result<Node>,
    ) -> Result<Child> {
        let (outer, before) = (self.scope.len(), self.repetition);
        self.scope.extend(binders.iter().cloned());
        self.repetition = before.saturating_mul(times);
        let node = make(self);
        self.scope.truncate(outer);
        self.repetition = before;
        Ok(Child { binders, node: node? })
    }

    /// An expression in which the variables of `pattern` are in scope.
    fn body(&mut self, pattern: &GenPat, times: u64, ty: &GenType) -> Result<Child> {
        self.inside(pattern.binders(), times, |g| g.expr(ty))
    }

    /// Visible variables with their types, innermost last.
    fn variables(&self) -> impl Iterator<Item = (Name, &GenType)> {
        let visible = |i: usize, name: Name| !self.scope.iter().skip(i + 1).any(|later| later.name == name);
        self.scope.iter().enumerate().filter_map(move |(i, bound)| match &bound.what {
            What::Value(ty) if visible(i, bound.name) => Some((bound.name, ty)),
            What::Value(_) | What::Poly(_) | What::SelfCall => None,
        })
    }

    /// A variable of that type, recent ones more often.
    fn variable(&mut self, ty: &GenType) -> Made {
        let fitting: Vec<Name> =
            self.variables().filter(|(_, own)| *own == ty).map(|(name, _)| name).collect();
        if fitting.is_empty() {
            return Ok(None);
        }
        let back = self.u.choose_index(fitting.len())?.min(self.u.choose_index(fitting.len())?);
        let name = fitting.iter().rev().nth(back);
        Ok(name.map(|name| Node::new(ty.clone(), Form::Var(*name), vec![])))
    }

    /// An expression of type `ty`.
    pub(crate) fn expr(&mut self, ty: &GenType) -> Result<Node> {
        let tired = self.depth >= self.config.max_depth.min(MAX_DEPTH);
        if tired || self.u.is_empty() || self.u.int_in_range(0..=9)? < self.depth.min(6) {
            return self.leaf(ty);
        }
        self.depth += 1;
        let mut made = None;
        for _ in 0..3 {
            made = self.compound(ty)?;
            if made.is_some() {
                break;
            }
        }
        let node = match made {
            Some(node) => Ok(node),
            None => self.leaf(ty),
        };
        self.depth -= 1;
        node
    }

    /// Something with parts.
    fn compound(&mut self, ty: &GenType) -> Made {
        if self.config.wide && self.u.ratio(1, 4)? {
            return self.wide(ty);
        }
        match self.u.int_in_range(0..=19)? {
            0..=6 => self.own_form(ty),
            7 => self.let_value(ty),
            8 => self.let_function(ty),
            9 => self.branch(ty),
            10 => self.match_data(ty),
            11 | 12 => self.call_definition(ty),
            13 => self.apply(ty),
            14 => self.loop_over_number(ty),
            15 => self.loop_over_array(ty),
            16 => self.take_apart(ty),
            17 => self.polymorphic(ty),
            _ => self.derivative(ty),
        }
    }

    /// What only this type has.
    fn own_form(&mut self, ty: &GenType) -> Made {
        match ty {
            GenType::Real => self.real().map(Some),
            GenType::Int => self.int().map(Some),
            GenType::Bool => self.boolean().map(Some),
            GenType::String => self.string().map(Some),
            GenType::Tuple(items) => {
                let items = items.iter().map(|item| self.expr(item)).collect::<Result<_>>()?;
                Ok(Some(Node::new(ty.clone(), Form::Tuple, items)))
            }
            GenType::Record(fields) => self.record(ty, fields),
            GenType::Array(n, elem) => self.array(ty, *n, elem),
            GenType::Data(name, _) => self.constructor(ty, *name),
            GenType::Fun(from, to) => self.function(ty, from, to),
            GenType::Param => Ok(None),
        }
    }

    /// A variable or the simplest expression.
    pub(crate) fn leaf(&mut self, ty: &GenType) -> Result<Node> {
        if self.u.ratio(5, 6)?
            && let Some(variable) = self.variable(ty)?
        {
            return Ok(variable);
        }
        if self.u.ratio(5, 6)?
            && let Some(component) = self.component(ty)?
        {
            return Ok(component);
        }
        match ty {
            GenType::Real if !self.u.ratio(5, 6)? => {
                Ok(Node::new(ty.clone(), Form::Whole(self.u.int_in_range(0..=3)?), vec![]))
            }
            GenType::Real => Ok(literal(ty, GenValue::Real(gen_real(self.u)?))),
            GenType::Int => Ok(literal(ty, GenValue::Int(self.u.int_in_range(-3..=5)?))),
            GenType::Bool => Ok(literal(ty, GenValue::Bool(self.u.arbitrary()?))),
            GenType::String => Ok(literal(ty, GenValue::String((*self.u.choose(&["", "a", "λ"])?).into()))),
            GenType::Tuple(items) => {
                let items = items.iter().map(|item| self.leaf(item)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Tuple, items))
            }
            GenType::Record(fields) => {
                let names = fields.iter().map(|(name, _)| *name).collect();
                let items = fields.iter().map(|(_, field)| self.leaf(field)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Record(names), items))
            }
            GenType::Array(n, elem) if *n > SHORT => self.long_array(ty, *n, elem),
            GenType::Array(n, elem) => {
                let items = (0..*n).map(|_| self.leaf(elem)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Array, items))
            }
            GenType::Fun(from, to) => {
                let param = GenPat::Var(self.fresh()?, from.as_ref().clone());
                let body = self.inside(param.binders(), 3, |g| g.leaf(to))?;
                Ok(Node::binding(ty.clone(), Form::Lambda(param, from.needs_annotation()), vec![body]))
            }
            GenType::Data(name, _) => {
                let decl = self.decls.iter().find(|decl| decl.name == *name);
                let ctors: Vec<_> = decl.iter().flat_map(|decl| &decl.ctors).cloned().collect();
                let ends =
                    |fields: &[GenType]| !fields.iter().any(|field| matches!(field, GenType::Data(..)));
                let ctors: Vec<_> = ctors.into_iter().filter(|(_, fields)| ends(fields)).collect();
                let index = if ctors.is_empty() { 0 } else { self.u.choose_index(ctors.len())? };
                let Some((ctor, fields)) = ctors.into_iter().nth(index) else {
                    return Ok(Node::new(ty.clone(), Form::Tuple, vec![]));
                };
                let fields = fields.iter().map(|field| self.leaf(&field.at(ty))).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Ctor(ctor), fields))
            }
            GenType::Param => Ok(Node::new(ty.clone(), Form::Tuple, vec![])),
        }
    }

    /// A part of a variable.
    fn component(&mut self, ty: &GenType) -> Made {
        let holders: Vec<Node> = self
            .variables()
            .filter_map(|(name, of)| component_of(Node::new(of.clone(), Form::Var(name), vec![]), ty))
            .collect();
        if !holders.is_empty() {
            let index = self.u.choose_index(holders.len())?;
            return Ok(holders.into_iter().nth(index));
        }
        let wanted = |of: &GenType| match ty {
            GenType::Real => *of != GenType::Real && of.is_first_order() && of.holds_real(&self.decls),
            GenType::Bool => *of == GenType::Int || (*of == GenType::Real && !self.config.smooth),
            GenType::Int
            | GenType::String
            | GenType::Tuple(_)
            | GenType::Record(_)
            | GenType::Array(..)
            | GenType::Data(..)
            | GenType::Fun(..)
            | GenType::Param => false,
        };
        let sources: Vec<Node> = self
            .variables()
            .filter(|(_, of)| wanted(of))
            .map(|(name, of)| Node::new(of.clone(), Form::Var(name), vec![]))
            .collect();
        if sources.is_empty() {
            return Ok(None);
        }
        let index = self.u.choose_index(sources.len())?;
        let Some(source) = sources.into_iter().nth(index) else { return Ok(None) };
        Ok(Some(if *ty == GenType::Real {
            let all = number::call(GenType::array(1, GenType::Real), "ravel", vec![source]);
            number::call(GenType::Real, "sum", vec![all])
        } else {
            let than = self.leaf(&source.ty.clone())?;
            Node::new(GenType::Bool, Form::Binary(BinOp::Lt), vec![source, than])
        }))
    }

    /// A small type, mostly without functions.
    pub(crate) fn some_type(&mut self, depth: u32) -> Result<GenType> {
        let simple = if depth == 0 { 6 } else { 11 };
        Ok(match self.u.int_in_range(0..=simple)? {
            0..=3 => GenType::Real,
            4 => GenType::Int,
            5 => GenType::Bool,
            6 if self.config.strings => GenType::String,
            6 => GenType::Int,
            7 => {
                let count = self.u.int_in_range(2..=3)?;
                GenType::Tuple((0..count).map(|_| self.some_type(depth - 1)).collect::<Result<_>>()?)
            }
            8 if self.config.records => {
                let all = ["x", "y", "z"];
                let count = self.u.int_in_range(1..=3)?;
                let names = all.iter().take(count).map(|name| Name::new(name));
                GenType::Record(
                    names.map(|name| Ok((name, self.some_type(depth - 1)?))).collect::<Result<_>>()?,
                )
            }
            9 if self.config.arrays => {
                if self.config.wide && self.u.ratio(1, 5)? {
                    return Ok(GenType::array(*self.u.choose(LONG)?, self.some_type(0)?));
                }
                let n = *self.u.choose(&[2, 3, 1, 4, 0])?;
                GenType::array(n, self.some_type(depth - 1)?)
            }
            10 if self.config.functions => GenType::fun(self.some_type(0)?, self.some_type(depth - 1)?),
            11 if self.config.data && !self.decls.is_empty() => {
                let index = self.u.choose_index(self.decls.len())?;
                let chosen = self.decls.get(index).map(|decl| (decl.name, decl.has_param));
                let Some((name, has_param)) = chosen else { return Ok(GenType::Real) };
                let args = match has_param {
                    true if self.config.wide && self.u.ratio(1, 4)? => {
                        vec![GenType::fun(GenType::Real, GenType::Real)]
                    }
                    true => vec![self.some_type(0)?],
                    false => vec![],
                };
                GenType::Data(name, args)
            }
            _ => GenType::Real,
        })
    }

    /// A type of `Real`s in a fixed structure.
    fn some_vector(&mut self) -> Result<GenType> {
        Ok(match self.u.int_in_range(0..=5)? {
            0..=2 => GenType::Real,
            3 => GenType::Tuple(vec![GenType::Real, GenType::Real]),
            4 if self.config.arrays => {
                let least = u64::from(!(self.config.wide && self.u.ratio(1, 4)?));
                GenType::array(self.u.int_in_range(least..=3)?, GenType::Real)
            }
            5 if self.config.records => {
                GenType::Record(vec![(Name::new("x"), GenType::Real), (Name::new("y"), GenType::Real)])
            }
            _ => GenType::Real,
        })
    }

    /// `let p = e in body`
    fn let_value(&mut self, ty: &GenType) -> Made {
        let of = self.some_type(2)?;
        let value = self.expr(&of)?;
        let target = self.irrefutable(&of)?;
        let body = self.body(&target, 1, ty)?;
        Ok(Some(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(value), body])))
    }

    /// `let f p = e in body`
    fn let_function(&mut self, ty: &GenType) -> Made {
        let from = self.some_type(1)?;
        if from.needs_annotation() {
            return Ok(None);
        }
        let to = if self.u.ratio(1, 2)? { ty.clone() } else { self.some_type(1)? };
        let param = self.irrefutable(&from)?;
        let value = self.body(&param, 3, &to)?;
        let name = self.unique("h");
        let bound = Bound::value(name, GenType::fun(from.clone(), to.clone()));
        let body =
            self.inside(vec![bound], 1, |g| if to == *ty { g.call_of(name, &from, ty) } else { g.expr(ty) })?;
        Ok(Some(Node::binding(ty.clone(), Form::LetFun(name, param), vec![value, body])))
    }

    /// `f e`
    fn call_of(&mut self, name: Name, from: &GenType, to: &GenType) -> Result<Node> {
        let function = Node::new(GenType::fun(from.clone(), to.clone()), Form::Var(name), vec![]);
        let arg = self.expr(from)?;
        Ok(Node::new(to.clone(), Form::Apply, vec![function, arg]))
    }

    /// `if c then a else b`
    fn branch(&mut self, ty: &GenType) -> Made {
        let cond = self.expr(&GenType::Bool)?;
        let (then, otherwise) = (self.expr(ty)?, self.expr(ty)?);
        Ok(Some(Node::new(ty.clone(), Form::If, vec![cond, then, otherwise])))
    }

    /// A call of an earlier definition, or of the one under definition.
    fn call_definition(&mut self, ty: &GenType) -> Made {
        if let Some(node) = self.call_self(ty)? {
            return Ok(Some(node));
        }
        let affordable =
            |def: &&Callable| def.result == *ty && self.repetition.saturating_mul(def.cost) <= MAX_COST;
        let fitting: Vec<Callable> = self.defs.iter().filter(affordable).cloned().collect();
        if fitting.is_empty() {
            return Ok(None);
        }
        let Callable { name, fuel, params, .. } = self.u.choose(&fitting)?.clone();
        let args = params.iter().map(|param| self.expr(param)).collect::<Result<_>>()?;
        let form = if fuel { Form::FuelCall(name, self.u.int_in_range(1..=4)?) } else { Form::Call(name) };
        Ok(Some(Node::new(ty.clone(), form, args)))
    }

    /// A call of the function under definition.
    fn call_self(&mut self, ty: &GenType) -> Made {
        let repetition = self.repetition;
        let Some(recursion) = &mut self.recursion else { return Ok(None) };
        if recursion.result != *ty || recursion.calls_left == 0 || recursion.repetition != repetition {
            return Ok(None);
        }
        recursion.calls_left -= 1;
        let Recursion { func, fuel, params, .. } = recursion.clone();
        let args = params.iter().map(|param| self.bounded(param)).collect::<Result<_>>()?;
        Ok(Some(Node::new(ty.clone(), Form::SelfCall { func, fuel, minus_one: true }, args)))
    }

    /// A function from the scope, or made on the spot, applied.
    fn apply(&mut self, ty: &GenType) -> Made {
        let functions: Vec<(Name, GenType)> = self
            .variables()
            .filter(|(_, own)| matches!(own, GenType::Fun(_, to) if **to == *ty))
            .map(|(name, own)| (name, own.clone()))
            .collect();
        let (func, from) = if functions.is_empty() || self.u.ratio(1, 4)? {
            let from = self.some_type(1)?;
            (self.expr(&GenType::fun(from.clone(), ty.clone()))?, from)
        } else {
            let (name, own) = self.u.choose(&functions)?.clone();
            let GenType::Fun(from, _) = &own else { return Ok(None) };
            let from = from.as_ref().clone();
            (Node::new(own, Form::Var(name), vec![]), from)
        };
        let arg = self.expr(&from)?;
        Ok(Some(if self.u.ratio(1, 4)? {
            Node::new(ty.clone(), Form::Pipe, vec![arg, func])
        } else {
            Node::new(ty.clone(), Form::Apply, vec![func, arg])
        }))
    }

    /// A polymorphic local function and a body that uses it.
    fn polymorphic(&mut self, ty: &GenType) -> Made {
        let visible: Vec<(Name, Template)> = self
            .scope
            .iter()
            .filter_map(|bound| match bound.what {
                What::Poly(template) => Some((bound.name, template)),
                What::Value(_) | What::SelfCall => None,
            })
            .collect();
        if visible.is_empty() || self.u.ratio(1, 4)? {
            let templates =
                [Template::Identity, Template::Constant, Template::Twice, Template::Apply, Template::Double];
            let template = *self.u.choose(&templates)?;
            let name = self.unique("p");
            let bound = Bound { name, what: What::Poly(template) };
            let body = self.inside(vec![bound], 1, |g| match g.polymorphic_call(name, template, ty)? {
                Some(call) => Ok(call),
                None => g.expr(ty),
            })?;
            return Ok(Some(Node::binding(ty.clone(), Form::LetPoly(name, template), vec![body])));
        }
        let (name, template) = *self.u.choose(&visible)?;
        self.polymorphic_call(name, template, ty)
    }

    /// A call of a polymorphic function for a `ty`.
    fn polymorphic_call(&mut self, name: Name, template: Template, ty: &GenType) -> Made {
        let args = match template {
            Template::Identity => vec![self.expr(ty)?],
            Template::Constant => {
                let other = self.some_type(1)?;
                vec![self.expr(ty)?, self.expr(&other)?]
            }
            Template::Twice => vec![self.expr(&GenType::fun(ty.clone(), ty.clone()))?, self.expr(ty)?],
            Template::Apply => {
                let from = self.some_type(1)?;
                vec![self.expr(&GenType::fun(from.clone(), ty.clone()))?, self.expr(&from)?]
            }
            Template::Double => {
                let GenType::Tuple(items) = ty else { return Ok(None) };
                let [first, second] = items.as_slice() else { return Ok(None) };
                if first != second {
                    return Ok(None);
                }
                vec![self.expr(first)?]
            }
        };
        Ok(Some(Node::new(ty.clone(), Form::PolyCall(name), args)))
    }
}

/// The first component of `whole` that has type `ty`.
fn component_of(whole: Node, ty: &GenType) -> Option<Node> {
    match whole.ty.clone() {
        GenType::Tuple(items) => {
            let index = items.iter().position(|item| item == ty)?;
            let v = Name::new("v0");
            let part = |i| if i == index { GenPat::Var(v, ty.clone()) } else { GenPat::Wildcard };
            let target = GenPat::Tuple((0..items.len()).map(part).collect());
            let body = Node::new(ty.clone(), Form::Var(v), vec![]);
            let body = Child { binders: target.binders(), node: body };
            Some(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(whole), body]))
        }
        GenType::Record(fields) => {
            let (name, _) = fields.iter().find(|(_, field)| field == ty)?;
            Some(Node::new(ty.clone(), Form::Field(*name), vec![whole]))
        }
        GenType::Array(n, elem) if n > 0 && *elem == *ty => {
            Some(Node::new(ty.clone(), Form::Index(n - 1), vec![whole]))
        }
        GenType::Real
        | GenType::Int
        | GenType::Bool
        | GenType::String
        | GenType::Array(..)
        | GenType::Data(..)
        | GenType::Fun(..)
        | GenType::Param => None,
    }
}

/// A literal.
fn literal(ty: &GenType, value: GenValue) -> Node {
    Node::new(ty.clone(), Form::Lit(value), vec![])
}
