//! From the typed core to a closed, simply typed program.
//!
//! The core is polymorphic and has many definitions; a calculus has one closed term of a simple type. So each definition
//! is translated once for each list of types at which it is used (`Instance`), starting from the entry: what is not
//! used does not appear. `terms` translates terms, `types` instantiates and erases types, `patterns` compiles matches to
//! single steps of case analysis, `operators` recognizes the derivative operators, and `assemble` puts the instances
//! around the term: recursive ones as `LetRec`, others as `Let`, and functions used once in their place.
//!
//! ```text
//! def square x = x * x
//! def main = grad (\x -> square x) 3.0       becomes       grad (\x -> let x = x in x * x) 3.0
//! ```
//!
//! Small definitions of the prelude are copied to where they are used, so that traces show mathematics and not plumbing.
//! A record is the tuple of its fields in the order of their names, and a record with one field is that field, unless an engine
//! has to tell them apart. Array sizes are gone from types; a size that the checker left to be checked while running is an `if`
//! around `fail`.

mod assemble;
mod nested;
mod notes;
mod operators;
mod patterns;
mod terms;
#[cfg(test)]
mod tests;
mod types;

use crate::errors;
use crate::simple::{Data, Notes, Program, Term, TermKind, Ty, Var};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Def, Kind, Param, Pred, Program as Core, Row, Scheme, Size, Subst, Type, TypeArg};

/// So many instances more than there are definitions at most.
const MAX_INSTANCES: usize = 2_000;
/// Nodes of terms and types at most, counted as they are made.
const MAX_WORK: u64 = 20_000_000;
/// The depth at most, so that the program can be walked and dropped safely.
const MAX_DEPTH: u32 = 10_000;
/// A definition of the prelude that is no larger than this is copied to where it is used.
const SMALL: usize = 40;

/// The program that computes the definition `entry` of `core`; types that nothing decides get their defaults.
pub fn bridge(core: &Core, entry: Name) -> Result<Program, Vec<Diagnostic>> {
    bridge_at(core, entry, &[])
}

/// The program that computes the definition `entry` of `core` at these arguments of its scheme; what is missing gets its default.
pub fn bridge_at(core: &Core, entry: Name, args: &[TypeArg]) -> Result<Program, Vec<Diagnostic>> {
    Bridge::new(core).program(entry, args).map(|(program, _)| program).map_err(|error| vec![error])
}

/// The same with what simple types do not tell and an engine needs. If `singles`, a record with one field is a
/// tuple with one component; so it is too where types grow by such records.
pub fn bridge_with_notes(
    core: &Core,
    entry: Name,
    args: &[TypeArg],
    singles: bool,
) -> Result<(Program, Notes), Vec<Diagnostic>> {
    let mut bridge = Bridge::new(core);
    bridge.notes = Some(Notes::default());
    bridge.nested.grow = nested::growing(core);
    bridge.singles = singles || nested::grow_by_singles(core, &bridge.nested.grow);
    bridge.program(entry, args).map_err(|error| vec![error])
}

/// The translation under way.
struct Bridge<'a> {
    core: &'a Core,
    next_var: u32,
    work: u64,
    /// By definition and types.
    instances: IndexMap<Key, Instance>,
    /// How many instances have their term.
    translated: usize,
    data: IndexMap<Ty, Data>,
    /// Definitions that are being copied to their use, from the outermost in.
    copying: Vec<Name>,
    small: FxHashMap<Name, bool>,
    /// Missing if nobody asks for them.
    notes: Option<Notes>,
    /// Whether a record with one field is a tuple with one component, and not that field.
    singles: bool,
    /// Declared types whose values hold records, by their places in the notes.
    shown: FxHashMap<Type, usize>,
    /// Variables that are shown and may hold records.
    to_show: Vec<(Var, Type)>,
    /// Declared types that hold themselves at larger and larger arguments.
    nested: nested::Nested,
}

/// What an instance is known by: a definition, and the types (no sizes) of its parameters.
type Key = (Name, Vec<TypeArg>);

/// A definition at certain types.
struct Instance {
    var: Var,
    ty: Type,
    /// Missing until it is translated.
    term: Option<Term>,
}

/// What names mean inside of one definition at certain types.
#[derive(Default)]
struct Scope {
    subst: Subst,
    /// By the number of the variable in the core.
    locals: FxHashMap<u32, Local>,
    groups: Vec<Group>,
}

/// A local variable.
enum Local {
    /// At one type.
    Mono(Var, Type),
    /// Bound by a polymorphic `let`: the variables for the types at which it was used.
    Poly(Scheme, IndexMap<Vec<TypeArg>, (Var, Type)>),
    /// Member of a recursive group, by the places of both.
    Member(usize, usize),
}

/// A recursive group.
struct Group {
    /// The parameters of all members.
    params: Vec<Param>,
    /// Names and types of the members.
    members: Vec<(Name, Scheme)>,
    /// For the types at which it was used, the variables and types of the members.
    wanted: IndexMap<Vec<TypeArg>, Vec<(Var, Type)>>,
    /// Which of these is being translated.
    current: Option<usize>,
}

/// A term with its type in the core, which knows the names of fields.
type Typed = (Term, Type);

impl<'a> Bridge<'a> {
    fn new(core: &'a Core) -> Bridge<'a> {
        Bridge {
            core,
            next_var: 0,
            work: 0,
            instances: IndexMap::new(),
            translated: 0,
            data: IndexMap::new(),
            copying: Vec::new(),
            small: FxHashMap::default(),
            notes: None,
            singles: false,
            shown: FxHashMap::default(),
            to_show: Vec::new(),
            nested: nested::Nested::default(),
        }
    }

    fn program(mut self, entry: Name, given: &[TypeArg]) -> Result<(Program, Notes), Diagnostic> {
        let def = self.definition(entry, Span::NOWHERE)?;
        let params = def.scheme.params.iter().enumerate();
        let args: Vec<TypeArg> =
            params.map(|(i, param)| given.get(i).cloned().unwrap_or_else(|| default_arg(param))).collect();
        let (term, _) = self.body(&def, &args)?;
        while let Some(((name, args), _)) = self.instances.get_index(self.translated) {
            let (name, args) = (*name, args.clone());
            let def = self.definition(name, term.span)?;
            let (body, _) = self.body(&def, &args)?;
            if let Some((_, instance)) = self.instances.get_index_mut(self.translated) {
                instance.term = Some(body);
            }
            self.translated += 1;
        }
        self.close_data()?;
        self.note_shown();
        let instances: Vec<(Var, Term)> = self
            .instances
            .into_values()
            .filter_map(|instance| instance.term.map(|term| (instance.var, term)))
            .collect();
        if let Some(notes) = &mut self.notes {
            for (var, function) in &instances {
                if let TermKind::Lam(param, ..) = &function.kind {
                    notes.functions.insert(*param, var.name);
                }
            }
        }
        let term = assemble::assemble(term, instances)?;
        Ok((Program { term, data: self.data }, self.notes.unwrap_or_default()))
    }

    fn definition(&self, name: Name, span: Span) -> Result<Arc<Def>, Diagnostic> {
        self.core.defs.get(&name).cloned().ok_or_else(|| errors::unknown_definition(span, name))
    }

    /// The body of a definition at these types.
    fn body(&mut self, def: &Def, args: &[TypeArg]) -> Result<Typed, Diagnostic> {
        let mut scope = Scope::default();
        bind_params(&mut scope.subst, &def.scheme.params, args);
        self.term(&mut scope, &def.body)
    }

    /// A fresh variable.
    fn fresh(&mut self, name: Name) -> Var {
        self.next_var += 1;
        Var { name, id: self.next_var }
    }

    /// A node of a term.
    fn node(&mut self, kind: TermKind, ty: &Type, span: Span) -> Result<Term, Diagnostic> {
        let ty = self.erase(ty, span)?;
        Ok(Term { kind, ty, span })
    }

    /// Counts work.
    fn count(&mut self, nodes: u64, span: Span) -> Result<(), Diagnostic> {
        self.work += nodes;
        if self.work > MAX_WORK {
            return Err(errors::too_large(span, "it has millions of parts"));
        }
        Ok(())
    }

    /// Whether a definition is copied to where it is used.
    fn is_small(&mut self, def: &Def) -> bool {
        if !def.name.as_str().starts_with("prelude.") || self.copying.contains(&def.name) {
            return false;
        }
        if let Some(known) = self.small.get(&def.name) {
            return *known;
        }
        let small = terms::size(&def.body, SMALL) <= SMALL && !terms::mentions(&def.body, def.name);
        self.small.insert(def.name, small);
        small
    }

    /// An occurrence of a definition.
    fn global(&mut self, name: Name, args: &[TypeArg], span: Span) -> Result<Typed, Diagnostic> {
        let def = self.definition(name, span)?;
        if self.is_small(&def) {
            self.copying.push(name);
            let copied = self.body(&def, args);
            self.copying.pop();
            let (mut term, ty) = copied?;
            term.span = span;
            return Ok((term, ty));
        }
        let key = (name, without_sizes(args));
        let (var, ty) = match self.instances.get(&key) {
            Some(instance) => (instance.var, instance.ty.clone()),
            None => {
                if self.instances.len() >= self.core.defs.len() + MAX_INSTANCES {
                    return Err(errors::too_large(span, "its definitions are used at thousands of types"));
                }
                let shown = Name::new(name.as_str().rsplit('.').next().unwrap_or_default());
                let var = self.fresh(shown);
                let mut subst = Subst::new();
                bind_params(&mut subst, &def.scheme.params, args);
                let ty = types::closed(&subst, &def.scheme.ty);
                self.instances.insert(key, Instance { var, ty: ty.clone(), term: None });
                (var, ty)
            }
        };
        let term = self.node(TermKind::Var(var), &ty, span)?;
        Ok((term, ty))
    }
}

/// The arguments without sizes, which do not distinguish instances.
fn without_sizes(args: &[TypeArg]) -> Vec<TypeArg> {
    args.iter().filter(|arg| !matches!(arg, TypeArg::Size(_))).cloned().collect()
}

/// Binds type and row parameters to `args`, in which sizes may be left out; sizes are unknown.
fn bind_params(subst: &mut Subst, params: &[Param], args: &[TypeArg]) {
    let mut args = args.iter().filter(|arg| !matches!(arg, TypeArg::Size(_)));
    for param in params {
        let arg = match param.kind {
            Kind::Size => TypeArg::Size(Size::Unknown),
            Kind::Type(_) | Kind::Row => args.next().cloned().unwrap_or_else(|| default_arg(param)),
        };
        match arg {
            TypeArg::Type(ty) => subst.bind_type(param.name, ty),
            TypeArg::Row(row) => subst.bind_row(param.name, row),
            TypeArg::Size(size) => subst.bind_size(param.name, size),
        }
    }
}

/// What a parameter stands for if nothing decides it, as in the evaluator.
fn default_arg(param: &Param) -> TypeArg {
    match &param.kind {
        Kind::Size => TypeArg::Size(Size::Unknown),
        Kind::Row => TypeArg::Row(Row::default()),
        Kind::Type(preds) if preds.contains(&Pred::Smooth) => TypeArg::Type(Type::Real),
        Kind::Type(preds) if preds.contains(&Pred::Num) && preds.contains(&Pred::Tangent) => {
            TypeArg::Type(Type::Real)
        }
        Kind::Type(preds) if preds.contains(&Pred::Num) || preds.contains(&Pred::Ord) => {
            TypeArg::Type(Type::Int)
        }
        Kind::Type(_) => TypeArg::Type(Type::unit()),
    }
}

/// The parameters of several schemes, each once.
fn union_of_params<'s>(schemes: impl Iterator<Item = &'s Scheme>) -> Vec<Param> {
    let mut seen = FxHashSet::default();
    schemes.flat_map(|scheme| &scheme.params).filter(|param| seen.insert(param.name)).cloned().collect()
}
