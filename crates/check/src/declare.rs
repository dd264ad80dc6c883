//! Type and alias declarations of a module. Aliases come first, in the order of their dependencies, so that one may
//! use another; data types may refer to each other in any way. A declaration with an error is kept, marked as
//! broken, so that uses of it are not reported.

use crate::annotate::{Annotator, VarKind, VarUse};
use crate::errors::{names, sizes};
use crate::interface::{AliasInfo, CtorInfo, TypeInfo};
use crate::pred::summarize;
use crate::scope::{BUILT_IN_TYPES, Globals};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Ctor, DataType, Type};
use wengert_syntax::ast::{self, AliasDecl, Ident, SizeExpr, TypeDecl, TypeKind};

/// Declares all types and aliases; gives the data types of the module in source order.
pub(crate) fn declare(
    globals: &mut Globals,
    types: &[&TypeDecl],
    aliases: &[&AliasDecl],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Arc<DataType>> {
    let mut seen: FxHashMap<Name, Span> = FxHashMap::default();
    let mut is_new = |ident: &Ident, diagnostics: &mut Vec<Diagnostic>| {
        if ident.name.as_str() == "_" {
            return false;
        }
        if BUILT_IN_TYPES.contains(&ident.name.as_str()) {
            diagnostics.push(names::built_in_type(ident.name, ident.span));
            return false;
        }
        match seen.get(&ident.name) {
            Some(before) => {
                diagnostics.push(names::duplicate_type(ident.name, ident.span, *before));
                false
            }
            None => {
                seen.insert(ident.name, ident.span);
                true
            }
        }
    };
    let types: Vec<&TypeDecl> =
        types.iter().copied().filter(|decl| is_new(&decl.name, diagnostics)).collect();
    let aliases: Vec<&AliasDecl> =
        aliases.iter().copied().filter(|decl| is_new(&decl.name, diagnostics)).collect();
    // Names and parameters first: declarations may refer to each other.
    for decl in &types {
        let info = placeholder(globals, decl);
        globals.own.types.insert(decl.name.name, info);
    }
    declare_aliases(globals, &aliases, diagnostics);
    declare_types(globals, &types, diagnostics)
}

fn placeholder(globals: &Globals, decl: &TypeDecl) -> Arc<TypeInfo> {
    let data = DataType {
        name: globals.qualify(decl.name.name),
        params: decl.params.iter().map(|param| param.name).collect(),
        ctors: Vec::new(),
        span: decl.name.span,
    };
    let none = vec![false; decl.params.len()];
    Arc::new(TypeInfo {
        data: Arc::new(data),
        holds_function: false,
        data_params: none.clone(),
        holds_real: false,
        smooth_params: none,
        broken: false,
    })
}

fn declare_aliases(globals: &mut Globals, aliases: &[&AliasDecl], diagnostics: &mut Vec<Diagnostic>) {
    let mut pending: Vec<&AliasDecl> = aliases.to_vec();
    loop {
        let names: Vec<Name> = pending.iter().map(|decl| decl.name.name).collect();
        // An alias is ready when it mentions no alias that is not.
        let (ready, rest): (Vec<&AliasDecl>, Vec<&AliasDecl>) = pending.iter().partition(|decl| {
            let mut mentioned = Vec::new();
            mentioned_types(&decl.ty, &mut mentioned);
            !mentioned.iter().any(|name| names.contains(name))
        });
        let (batch, stuck) = if ready.is_empty() { (rest.clone(), true) } else { (ready, false) };
        for decl in &batch {
            distinct_params(&decl.params, diagnostics);
            let pending_names = if stuck { names.as_slice() } else { &[] };
            let (mut tys, broken) = resolve(globals, &decl.params, [&decl.ty], pending_names, diagnostics);
            let info = AliasInfo {
                params: decl.params.iter().map(|param| param.name).collect(),
                ty: tys.pop().filter(|_| !broken),
                span: decl.name.span,
            };
            globals.own.aliases.insert(decl.name.name, Arc::new(info));
        }
        if stuck || rest.is_empty() {
            return;
        }
        pending = rest;
    }
}

fn declare_types(
    globals: &mut Globals,
    types: &[&TypeDecl],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Arc<DataType>> {
    let mut declared: Vec<(Arc<DataType>, bool)> = Vec::with_capacity(types.len());
    let mut ctor_places: FxHashMap<Name, Span> = FxHashMap::default();
    for decl in types {
        // The parser has complained about a declaration without constructors.
        let mut broken = decl.ctors.is_empty();
        broken |= !distinct_params(&decl.params, diagnostics);
        let mut ctors: Vec<Ctor> = Vec::with_capacity(decl.ctors.len());
        for ctor in &decl.ctors {
            let (fields, bad) = resolve(globals, &decl.params, &ctor.fields, &[], diagnostics);
            broken |= bad;
            match ctor_places.get(&ctor.name.name) {
                Some(before) => {
                    diagnostics.push(names::duplicate_ctor(ctor.name.name, ctor.name.span, *before));
                    broken = true;
                }
                None => {
                    ctor_places.insert(ctor.name.name, ctor.name.span);
                }
            }
            ctors.push(Ctor { name: ctor.name.name, fields });
        }
        let data = DataType {
            name: globals.qualify(decl.name.name),
            params: decl.params.iter().map(|param| param.name).collect(),
            ctors,
            span: decl.name.span,
        };
        declared.push((Arc::new(data), broken));
    }
    spread_brokenness(&mut declared);
    summarize(&declared, &mut globals.known_types);
    for (decl, (data, _)) in types.iter().zip(&declared) {
        let Some(info) = globals.known_types.get(&data.name).cloned() else { continue };
        globals.own.types.insert(decl.name.name, Arc::clone(&info));
        for (index, ctor) in data.ctors.iter().enumerate() {
            let ctor_info = CtorInfo { info: Arc::clone(&info), index: index as u32 };
            globals.own.ctors.entry(ctor.name).or_insert(ctor_info);
        }
    }
    declared.into_iter().filter(|(_, broken)| !broken).map(|(data, _)| data).collect()
}

/// A declaration that mentions a broken one is broken too: what remains must be whole in itself.
fn spread_brokenness(declared: &mut [(Arc<DataType>, bool)]) {
    loop {
        let broken: Vec<Name> =
            declared.iter().filter(|(_, broken)| *broken).map(|(data, _)| data.name).collect();
        let mut changed = false;
        for (data, is_broken) in declared.iter_mut().filter(|(_, broken)| !broken) {
            let fields = data.ctors.iter().flat_map(|ctor| &ctor.fields);
            if fields.into_iter().any(|field| mentions_any(field, &broken)) {
                *is_broken = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Whether one of these declared types occurs in the type.
fn mentions_any(ty: &Type, names: &[Name]) -> bool {
    match ty {
        Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => false,
        Type::Tuple(parts) => parts.iter().any(|part| mentions_any(part, names)),
        Type::Record(row) => row.fields.values().any(|field| mentions_any(field, names)),
        Type::Array(_, elem) => mentions_any(elem, names),
        Type::Fun(from, to) => mentions_any(from, names) || mentions_any(to, names),
        Type::Data(name, args) => names.contains(name) || args.iter().any(|arg| mentions_any(arg, names)),
        Type::Dual(of) => mentions_any(of, names),
    }
}

/// Written types of a declaration with the given parameters, and whether there was an error.
fn resolve<'t>(
    globals: &Globals,
    params: &[Ident],
    types: impl IntoIterator<Item = &'t ast::Type>,
    pending: &[Name],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Type>, bool) {
    let mut annotator = Annotator::new(globals);
    annotator.pending = pending;
    let resolved: Vec<Type> = types.into_iter().map(|ty| annotator.ty(ty)).collect();
    let Annotator { uses, diagnostics: mut found, broken, .. } = annotator;
    let unbound =
        |var: &VarUse| !(var.kind == VarKind::Type && params.iter().any(|param| param.name == var.name));
    let mut told: Vec<Name> = Vec::new();
    for var in uses.iter().filter(|var| unbound(var)) {
        if told.contains(&var.name) {
            continue;
        }
        told.push(var.name);
        found.push(match var.kind {
            VarKind::Type => names::unbound_type_variable(var.name, var.span),
            VarKind::Row => names::unbound_row_variable(var.name, var.span),
            VarKind::Size => sizes::size_in_declaration(var.name, var.span),
        });
    }
    let broken = broken || !found.is_empty();
    diagnostics.append(&mut found);
    (resolved, broken)
}

fn distinct_params(params: &[Ident], diagnostics: &mut Vec<Diagnostic>) -> bool {
    let before = diagnostics.len();
    for (index, param) in params.iter().enumerate() {
        if let Some(first) = params.iter().take(index).find(|other| other.name == param.name) {
            diagnostics.push(names::duplicate_type_parameter(param.name, param.span, first.span));
        }
    }
    diagnostics.len() == before
}

/// Unqualified type names in a written type.
fn mentioned_types(ty: &ast::Type, into: &mut Vec<Name>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &ty.kind {
        TypeKind::Var(_) | TypeKind::Error => {}
        TypeKind::Named { path, args } => {
            if path.module.is_none() {
                into.push(path.name.name);
            }
            args.iter().for_each(|arg| mentioned_types(arg, into));
        }
        TypeKind::Fun(from, to) => {
            mentioned_types(from, into);
            mentioned_types(to, into);
        }
        TypeKind::Tuple(items) => items.iter().for_each(|item| mentioned_types(item, into)),
        TypeKind::Record { fields, .. } => fields.iter().for_each(|(_, ty)| mentioned_types(ty, into)),
        TypeKind::Array { size: SizeExpr::Unknown | SizeExpr::Number(..) | SizeExpr::Name(_), elem } => {
            mentioned_types(elem, into);
        }
        TypeKind::Paren(inner) => mentioned_types(inner, into),
    });
}
