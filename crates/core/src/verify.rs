//! What is a well-formed core program. Every type is recomputed from binders, instantiations and literals, by rules that
//! share nothing with the checker's inference, so that each stage which makes core terms can be held to it.
//!
//! Checked of a data type: it is listed under its name; parameters are distinct; there is a constructor; constructors
//! have distinct names; field types are well formed over the parameters.
//!
//! Checked of a definition:
//! * it is listed under its name, its scheme is closed, and the body has the scheme's type under the scheme's parameters;
//! * type variables: in scope where they occur, and bound once in a definition; data types in types are declared and have
//!   the right number of arguments;
//! * variables: in scope; all binders of a definition have distinct ids; an occurrence carries the binder's name;
//! * instantiations: one argument for each parameter, of its kind, satisfying its predicates (given those of the enclosing
//!   parameters: `Num` implies `Ord` and `Data`, `Ord` implies `Data`); inside a recursive group its functions, and inside
//!   a definition the definition itself, are instantiated with exactly their own parameters;
//! * functions of a `LetRec` are lambdas;
//! * globals exist; constructors exist, at the position and with the name given, and are saturated;
//! * primitives are saturated, and where the argument that is a size (`#n` in the table) is a literal, it does not
//!   contradict the size in the instantiation;
//! * `Lit::Num` stands only at a type variable with the predicate `Num`;
//! * patterns fit the scrutinee, records have no field twice, projections and fields exist, `Update` keeps the field's
//!   type, a match has an arm, the arms and the branches of an `If` agree.
//!
//! Types agree if they are equal but for sizes. Sizes are gradual: two constants must be equal, everything else agrees, and
//! where two agreeing types meet (branches, arms) a size on which they differ is unknown afterwards.
//!
//! Not checked: that matches are exhaustive, that evaluation succeeds, and the order of anything.

mod patterns;
mod preds;
mod terms;
mod types;

use crate::term::{DataType, Def, Program, Term, Var};
use crate::types::{Param, Scheme, Type};
use preds::Facts;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;
use wengert_base::{Name, Span};

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The definition or data type it is in, by qualified name.
    pub item: Name,
    /// The term it is about.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`: {}", self.item, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Verifies a whole program.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    verify_module(program, &Program::default())
}

/// Verifies `module`, which may use the data types and definitions of `context`; those are taken for granted.
pub fn verify_module(module: &Program, context: &Program) -> Result<(), Vec<VerifyError>> {
    let env = Env::new(module, context);
    let mut errors = Vec::new();
    for (name, data) in &module.types {
        let mut verifier = Verifier::new(&env, *name);
        verifier.data_type(*name, data);
        errors.append(&mut verifier.errors);
    }
    for (name, def) in &module.defs {
        let mut verifier = Verifier::new(&env, *name);
        verifier.def(*name, def);
        errors.append(&mut verifier.errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The type of a term whose free variables are in `env`, or the first violation in it.
pub fn type_of(term: &Term, env: &Env) -> Result<Type, VerifyError> {
    let mut verifier = Verifier::new(env, Name::new("term"));
    let ty = verifier.infer(term);
    match (verifier.errors.into_iter().next(), ty) {
        (None, Some(ty)) => Ok(ty),
        (Some(error), _) => Err(error),
        (None, None) => Err(VerifyError {
            item: Name::new("term"),
            span: term.span,
            message: "the term has no type".into(),
        }),
    }
}

/// What may occur in a term: the items of a program, type parameters and variables.
#[derive(Clone)]
pub struct Env<'a> {
    module: &'a Program,
    context: &'a Program,
    params: Vec<Param>,
    locals: FxHashMap<u32, Local>,
    /// Computed when a predicate first asks for it.
    facts: OnceCell<FxHashMap<Name, Facts>>,
}

/// A variable in scope.
#[derive(Clone)]
struct Local {
    name: Name,
    scheme: Scheme,
    /// Whether the occurrence is inside the recursive group that binds it.
    in_group: bool,
}

impl<'a> Env<'a> {
    /// The items of `module` and of the `context` that it uses.
    pub fn new(module: &'a Program, context: &'a Program) -> Env<'a> {
        Env { module, context, params: Vec::new(), locals: FxHashMap::default(), facts: OnceCell::new() }
    }

    /// With these type parameters in scope.
    pub fn with_params(mut self, params: &[Param]) -> Env<'a> {
        self.params.extend_from_slice(params);
        self
    }

    /// With this variable in scope.
    pub fn with_local(mut self, var: Var, scheme: Scheme) -> Env<'a> {
        self.locals.insert(var.id, Local { name: var.name, scheme, in_group: false });
        self
    }

    /// The data type of that name.
    fn data(&self, name: Name) -> Option<&'a Arc<DataType>> {
        self.module.types.get(&name).or_else(|| self.context.types.get(&name))
    }

    /// The definition of that name.
    fn global(&self, name: Name) -> Option<&'a Arc<Def>> {
        self.module.defs.get(&name).or_else(|| self.context.defs.get(&name))
    }

    /// What the predicates need to know of the data types.
    fn facts(&self) -> &FxHashMap<Name, Facts> {
        self.facts.get_or_init(|| preds::facts(self.context.types.values().chain(self.module.types.values())))
    }
}

/// The walk over one item.
struct Verifier<'e, 'a> {
    env: &'e Env<'a>,
    item: Name,
    /// Type parameters in scope.
    params: Vec<Param>,
    /// Names of all type parameters bound so far in the item.
    bound_types: FxHashSet<Name>,
    /// Variables in scope.
    locals: FxHashMap<u32, Local>,
    /// Ids of all variables bound so far in the item.
    bound_ids: FxHashSet<u32>,
    errors: Vec<VerifyError>,
}

impl<'e, 'a> Verifier<'e, 'a> {
    /// At the start of an item.
    fn new(env: &'e Env<'a>, item: Name) -> Verifier<'e, 'a> {
        Verifier {
            env,
            item,
            params: env.params.clone(),
            bound_types: env.params.iter().map(|param| param.name).collect(),
            locals: env.locals.clone(),
            bound_ids: env.locals.keys().copied().collect(),
            errors: Vec::new(),
        }
    }

    /// Notes a violation. Always `None`: the type of the term is not known.
    fn error<T>(&mut self, span: Span, message: String) -> Option<T> {
        self.errors.push(VerifyError { item: self.item, span, message });
        None
    }

    /// A data type.
    fn data_type(&mut self, key: Name, data: &DataType) {
        if key != data.name {
            self.error::<()>(data.span, format!("the type `{}` is listed as `{key}`", data.name));
        }
        if data.ctors.is_empty() {
            self.error::<()>(data.span, "a data type needs a constructor".into());
        }
        let params: Vec<Param> = data
            .params
            .iter()
            .map(|name| Param { name: *name, kind: crate::types::Kind::Type(Vec::new()) })
            .collect();
        let mut names = FxHashSet::default();
        self.with_params(&params, data.span, |verifier| {
            for ctor in &data.ctors {
                if !names.insert(ctor.name) {
                    verifier.error::<()>(data.span, format!("two constructors are called `{}`", ctor.name));
                }
                ctor.fields.iter().for_each(|field| verifier.well_formed(field, data.span));
            }
        });
    }

    /// A definition.
    fn def(&mut self, key: Name, def: &Def) {
        if key != def.name {
            self.error::<()>(def.span, format!("the definition `{}` is listed as `{key}`", def.name));
        }
        self.under_scheme(&def.scheme, &def.body);
    }

    /// `value` against `scheme`, with its parameters in scope.
    fn under_scheme(&mut self, scheme: &Scheme, value: &Term) {
        self.with_params(&scheme.params, value.span, |verifier| {
            verifier.well_formed(&scheme.ty, value.span);
            verifier.expect(value, &scheme.ty, "the value of this binding");
        });
    }

    /// `inside`, with these type parameters in scope.
    fn with_params<T>(&mut self, params: &[Param], span: Span, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.params.len();
        for param in params {
            if !self.bound_types.insert(param.name) {
                self.error::<()>(span, format!("the type variable `{}` is bound twice", param.name));
            }
            if !param.preds().is_sorted_by(|a, b| a < b) {
                self.error::<()>(span, format!("the predicates of `{}` are not in order", param.name));
            }
            self.params.push(param.clone());
        }
        let result = inside(self);
        self.params.truncate(outer);
        result
    }

    /// Brings a variable into scope.
    fn bind(&mut self, var: Var, scheme: Scheme, in_group: bool, span: Span) {
        if !self.bound_ids.insert(var.id) {
            self.error::<()>(span, format!("two binders have the number of `{}%{}`", var.name, var.id));
        }
        self.locals.insert(var.id, Local { name: var.name, scheme, in_group });
    }

    /// Takes a variable out of scope.
    fn unbind(&mut self, var: Var) {
        self.locals.remove(&var.id);
    }
}

#[cfg(test)]
mod tests;
