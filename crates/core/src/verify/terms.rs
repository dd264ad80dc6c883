//! The type of a term: one rule for each kind of term.
//!
//! `infer` gives no type after an error, and what depends on it is passed over, so that one mistake is reported once.

use super::Verifier;
use super::types::{meet, meet_sizes};
use crate::sig::signature;
use crate::term::{Arm, CtorRef, Lit, RecBinding, Term, TermKind, Var};
use crate::types::{Param, Row, Scheme, Size, Type, TypeArg};
use wengert_base::{Name, Span};
use wengert_prim::Prim;

impl Verifier<'_, '_> {
    /// Demands a term of a type that agrees with `wanted`.
    pub(super) fn expect(&mut self, term: &Term, wanted: &Type, what: &str) -> Option<()> {
        let found = self.infer(term)?;
        self.agree(&found, wanted, what, term.span)
    }

    /// The type of a term, unless there is an error in it.
    pub(super) fn infer(&mut self, term: &Term) -> Option<Type> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.infer_kind(term))
    }

    /// The rules.
    fn infer_kind(&mut self, term: &Term) -> Option<Type> {
        let span = term.span;
        match &term.kind {
            TermKind::Var { var, args } => self.var(*var, args, span),
            TermKind::Global { name, args } => self.global(*name, args, span),
            TermKind::Lit(lit) => self.literal(lit, span),
            TermKind::Lam { param, body } => {
                self.well_formed(&param.ty, span);
                let scheme = Scheme::mono(param.ty.clone());
                Some(Type::fun(param.ty.clone(), self.in_scope_of(param.var, scheme, body, span)?))
            }
            TermKind::App { func, arg } => self.application(func, arg),
            TermKind::Let { var, scheme, value, body } => {
                self.under_scheme(scheme, value);
                self.in_scope_of(*var, scheme.clone(), body, span)
            }
            TermKind::LetRec { bindings, body } => self.let_rec(bindings, body, span),
            TermKind::If { cond, then, otherwise } => {
                self.expect(cond, &Type::Bool, "the condition");
                let then = self.infer(then);
                let otherwise = self.infer(otherwise);
                self.same(&then?, &otherwise?, "the branches", span)
            }
            TermKind::Tuple(items) => self.tuple(items, span),
            TermKind::Proj { tuple, index } => self.component(tuple, *index, span),
            TermKind::Record(fields) => self.record(fields, span),
            TermKind::Field { record, field } => {
                let ty = self.infer(record)?;
                self.field(&ty, *field, span)
            }
            TermKind::Update { record, fields } => self.update(record, fields, span),
            TermKind::Ctor { ctor, args, fields } => self.construct(*ctor, args, fields, span),
            TermKind::Match { scrutinee, arms } => {
                let ty = self.infer(scrutinee)?;
                self.arms(&ty, arms, span)
            }
            TermKind::Array { elem, items } => {
                self.well_formed(elem, span);
                for item in items {
                    self.expect(item, elem, "an element");
                }
                Some(Type::array(Size::Const(items.len() as u64), elem.clone()))
            }
            TermKind::Prim { prim, type_args, args } => self.prim(*prim, type_args, args, span),
            TermKind::CheckSize { array, axis, expected, .. } => {
                self.check_size(array, *axis, expected, span)
            }
        }
    }

    /// The type of `body`, with a variable in scope.
    fn in_scope_of(&mut self, var: Var, scheme: Scheme, body: &Term, span: Span) -> Option<Type> {
        self.bind(var, scheme, false, span);
        let result = self.infer(body);
        self.unbind(var);
        result
    }

    /// `f a`
    fn application(&mut self, func: &Term, arg: &Term) -> Option<Type> {
        let func_type = self.infer(func);
        let arg_type = self.infer(arg);
        let (func_type, arg_type) = (func_type?, arg_type?);
        let Type::Fun(from, to) = &func_type else {
            return self.error(func.span, format!("`{func_type}` is not a function"));
        };
        self.agree(&arg_type, from, "the argument", arg.span)?;
        Some(to.as_ref().clone())
    }

    /// `(a, b)`
    fn tuple(&mut self, items: &[Term], span: Span) -> Option<Type> {
        if items.len() == 1 {
            return self.error(span, "a tuple has one component".into());
        }
        let types: Vec<Option<Type>> = items.iter().map(|item| self.infer(item)).collect();
        Some(Type::Tuple(types.into_iter().collect::<Option<_>>()?))
    }

    /// `t!0`
    fn component(&mut self, tuple: &Term, index: u32, span: Span) -> Option<Type> {
        let ty = self.infer(tuple)?;
        let component = if let Type::Tuple(items) = &ty { items.get(index as usize) } else { None };
        match component {
            Some(component) => Some(component.clone()),
            None => self.error(span, format!("`{ty}` has no component {index}")),
        }
    }

    /// `{x = a}`
    fn record(&mut self, fields: &[(Name, Term)], span: Span) -> Option<Type> {
        self.distinct_fields(fields.iter().map(|(name, _)| *name), span);
        let types: Vec<_> = fields.iter().map(|(name, field)| Some((*name, self.infer(field)?))).collect();
        let fields = types.into_iter().collect::<Option<_>>()?;
        Some(Type::Record(Row { fields, rest: None }))
    }

    /// `{r with x = a}`
    fn update(&mut self, record: &Term, fields: &[(Name, Term)], span: Span) -> Option<Type> {
        self.distinct_fields(fields.iter().map(|(name, _)| *name), span);
        let ty = self.infer(record)?;
        for (name, value) in fields {
            if let Some(wanted) = self.field(&ty, *name, span) {
                self.expect(value, &wanted, "the new field");
            }
        }
        Some(ty)
    }

    /// `Cons a b`
    fn construct(&mut self, ctor: CtorRef, args: &[Type], fields: &[Term], span: Span) -> Option<Type> {
        let (whole, types) = self.ctor(ctor, args, span)?;
        if types.len() != fields.len() {
            let (wanted, given) = (types.len(), fields.len());
            return self.error(span, format!("`{}` has {wanted} fields, not {given}", ctor.name));
        }
        for (field, wanted) in fields.iter().zip(&types) {
            self.expect(field, wanted, "the field of a constructor");
        }
        Some(whole)
    }

    /// An array of a size that is checked.
    fn check_size(&mut self, array: &Term, axis: u32, expected: &Term, span: Span) -> Option<Type> {
        self.expect(expected, &Type::Int, "the size");
        let ty = self.infer(array)?;
        let size = if let TermKind::Lit(Lit::Int(n)) = expected.kind {
            u64::try_from(n).map_or(Size::Unknown, Size::Const)
        } else {
            Size::Unknown
        };
        match resize(&ty, axis, &size) {
            Some(ty) => Some(ty),
            None => self.error(span, format!("`{ty}` has no axis {axis}")),
        }
    }

    /// An occurrence of a local variable.
    fn var(&mut self, var: Var, args: &[TypeArg], span: Span) -> Option<Type> {
        let Some(local) = self.locals.get(&var.id).cloned() else {
            return self.error(span, format!("`{}%{}` is not in scope", var.name, var.id));
        };
        if local.name != var.name {
            return self.error(span, format!("`{}%{}` is bound as `{}`", var.name, var.id, local.name));
        }
        if local.in_group {
            self.own_params(&local.scheme.params, args, var.name, span)?;
        }
        self.instantiate(&local.scheme, args, &|| format!("`{}`", var.name), span)
    }

    /// An occurrence of a definition.
    fn global(&mut self, name: Name, args: &[TypeArg], span: Span) -> Option<Type> {
        let Some(def) = self.env.global(name) else {
            return self.error(span, format!("there is no definition `{name}`"));
        };
        if name == self.item {
            self.own_params(&def.scheme.params, args, name, span)?;
        }
        self.instantiate(&def.scheme, args, &|| format!("`{name}`"), span)
    }

    /// A function inside its own recursive group is instantiated with exactly its own parameters.
    fn own_params(&mut self, params: &[Param], args: &[TypeArg], name: Name, span: Span) -> Option<()> {
        if params.iter().map(Param::as_arg).eq(args.iter().cloned()) {
            return Some(());
        }
        self.error(span, format!("`{name}` is instantiated differently inside its own recursive group"))
    }

    /// A recursive group and its scope.
    fn let_rec(&mut self, bindings: &[RecBinding], body: &Term, span: Span) -> Option<Type> {
        // A group shares its parameters; each scheme lists those it needs.
        let mut params: Vec<Param> = Vec::new();
        for param in bindings.iter().flat_map(|binding| &binding.scheme.params) {
            if !params.iter().any(|other| other.name == param.name) {
                params.push(param.clone());
            }
        }
        for RecBinding { var, scheme, value } in bindings {
            self.bind(*var, scheme.clone(), true, span);
            if !matches!(value.kind, TermKind::Lam { .. }) {
                self.error::<()>(value.span, format!("`{}` is recursive but not a lambda", var.name));
            }
        }
        self.with_params(&params, span, |verifier| {
            for RecBinding { scheme, value, .. } in bindings {
                verifier.well_formed(&scheme.ty, value.span);
                verifier.expect(value, &scheme.ty, "the value of this binding");
            }
        });
        for RecBinding { var, .. } in bindings {
            if let Some(local) = self.locals.get_mut(&var.id) {
                local.in_group = false;
            }
        }
        let result = self.infer(body);
        bindings.iter().for_each(|binding| self.unbind(binding.var));
        result
    }

    /// The arms of a match on a value of type `scrutinee`.
    fn arms(&mut self, scrutinee: &Type, arms: &[Arm], span: Span) -> Option<Type> {
        let mut result: Option<Type> = None;
        let mut failed = arms.is_empty();
        if failed {
            self.error::<()>(span, "a match has no arm".into());
        }
        for Arm { pattern, body } in arms {
            let mut bound = Vec::new();
            self.pattern(pattern, scrutinee, body.span, &mut bound);
            let ty = self.infer(body);
            bound.into_iter().for_each(|var| self.unbind(var));
            let joined = match (ty, result.take()) {
                (Some(ty), Some(before)) => self.same(&before, &ty, "the arms", body.span),
                (ty, before) => ty.or(before),
            };
            failed |= joined.is_none();
            result = joined;
        }
        result.filter(|_| !failed)
    }

    /// The type that `a` and `b` agree with.
    fn same(&mut self, a: &Type, b: &Type, what: &str, span: Span) -> Option<Type> {
        match meet(a, b) {
            Some(ty) => Some(ty),
            None => self.error(span, format!("{what} have types `{a}` and `{b}`")),
        }
    }

    /// The type of a field.
    fn field(&mut self, record: &Type, field: Name, span: Span) -> Option<Type> {
        let found = if let Type::Record(row) = record { row.fields.get(&field) } else { None };
        match found {
            Some(ty) => Some(ty.clone()),
            None => self.error(span, format!("`{record}` has no field `{field}`")),
        }
    }

    /// A primitive.
    fn prim(&mut self, prim: Prim, type_args: &[TypeArg], args: &[Term], span: Span) -> Option<Type> {
        let info = prim.info();
        let sig = signature(prim);
        let ty = self.instantiate(&sig.scheme, type_args, &|| format!("`{}`", info.name), span);
        let types: Vec<Option<Type>> = args.iter().map(|arg| self.infer(arg)).collect();
        let mut ty = ty?;
        if args.len() != info.arity {
            let message = format!("`{}` takes {} arguments, not {}", info.name, info.arity, args.len());
            return self.error(span, message);
        }
        if let Some((index, size)) = sig.size_arg
            && let Some(TermKind::Lit(Lit::Int(n))) = args.get(index).map(|arg| &arg.kind)
            && let Ok(n) = u64::try_from(*n)
        {
            let declared = sig.scheme.params.iter().zip(type_args).find(|(param, _)| param.name == size);
            if let Some((_, TypeArg::Size(declared))) = declared
                && meet_sizes(declared, &Size::Const(n)).is_none()
            {
                return self.error(span, format!("`{}` of {n} elements has the size {declared}", info.name));
            }
        }
        for (arg, found) in args.iter().zip(types) {
            let Type::Fun(from, to) = ty else {
                return self.error(span, format!("`{}` has too many arguments", info.name));
            };
            self.agree(&found?, &from, &format!("an argument of `{}`", info.name), arg.span)?;
            ty = to.as_ref().clone();
        }
        Some(ty)
    }
}

/// The array type with another size at `axis`.
fn resize(ty: &Type, axis: u32, size: &Size) -> Option<Type> {
    let Type::Array(own, elem) = ty else { return None };
    if axis == 0 {
        return Some(Type::array(size.clone(), elem.as_ref().clone()));
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        Some(Type::array(own.clone(), resize(elem, axis - 1, size)?))
    })
}
