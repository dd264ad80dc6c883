//! Trees without their places: two trees are the same program if they are equal once all spans are erased.

use crate::ast::{
    Binding, Expr, ExprKind, Ident, ImportSource, Item, Module, Path, Pattern, PatternKind, SizeExpr, Target,
    Type, TypeKind,
};
use wengert_base::Span;

/// Stack for the derived comparison of trees, which recurses; their depth is bounded by the parser.
const STACK: usize = 64 * 1024 * 1024;

/// Whether two modules are equal but for spans.
pub fn same_module(one: &Module, other: &Module) -> bool {
    stacker::grow(STACK, || {
        let (mut one, mut other) = (one.clone(), other.clone());
        erase_module(&mut one);
        erase_module(&mut other);
        one == other
    })
}

/// Whether two expressions are equal but for spans.
pub fn same_expr(one: &Expr, other: &Expr) -> bool {
    stacker::grow(STACK, || {
        let (mut one, mut other) = (one.clone(), other.clone());
        erase_expr(&mut one);
        erase_expr(&mut other);
        one == other
    })
}

fn erase_span(span: &mut Span) {
    *span = Span::NOWHERE;
}

fn erase_ident(ident: &mut Ident) {
    erase_span(&mut ident.span);
}

fn erase_path(path: &mut Path) {
    path.module.iter_mut().for_each(erase_ident);
    erase_ident(&mut path.name);
    erase_span(&mut path.span);
}

fn erase_module(module: &mut Module) {
    erase_span(&mut module.span);
    for item in &mut module.items {
        match item {
            Item::Import(import) => {
                match &mut import.source {
                    ImportSource::Library(name) => erase_ident(name),
                    ImportSource::File { span, .. } => erase_span(span),
                }
                import.alias.iter_mut().for_each(erase_ident);
                import.names.iter_mut().flatten().for_each(erase_ident);
                erase_span(&mut import.span);
            }
            Item::Def(def) => {
                erase_ident(&mut def.name);
                def.params.iter_mut().for_each(erase_pattern);
                def.result.iter_mut().for_each(erase_type);
                erase_expr(&mut def.body);
                erase_span(&mut def.span);
            }
            Item::Type(decl) => {
                erase_ident(&mut decl.name);
                decl.params.iter_mut().for_each(erase_ident);
                for ctor in &mut decl.ctors {
                    erase_ident(&mut ctor.name);
                    ctor.fields.iter_mut().for_each(erase_type);
                    erase_span(&mut ctor.span);
                }
                erase_span(&mut decl.span);
            }
            Item::Alias(decl) => {
                erase_ident(&mut decl.name);
                decl.params.iter_mut().for_each(erase_ident);
                erase_type(&mut decl.ty);
                erase_span(&mut decl.span);
            }
        }
    }
}

fn erase_fields(fields: &mut [(Ident, Expr)]) {
    for (name, value) in fields {
        erase_ident(name);
        erase_expr(value);
    }
}

fn erase_binding(binding: &mut Binding) {
    match &mut binding.target {
        Target::Function { name, params } => {
            erase_ident(name);
            params.iter_mut().for_each(erase_pattern);
        }
        Target::Pattern(pattern) => erase_pattern(pattern),
    }
    binding.result.iter_mut().for_each(erase_type);
    erase_expr(&mut binding.value);
    erase_span(&mut binding.span);
}

fn erase_expr(expr: &mut Expr) {
    erase_span(&mut expr.span);
    match &mut expr.kind {
        ExprKind::Var(_) | ExprKind::Lit(_) | ExprKind::Op(_) | ExprKind::Error => {}
        ExprKind::Ctor(path) => erase_path(path),
        ExprKind::Lambda { params, body } => {
            params.iter_mut().for_each(erase_pattern);
            erase_expr(body);
        }
        ExprKind::App { func, args } => {
            erase_expr(func);
            args.iter_mut().for_each(erase_expr);
        }
        ExprKind::Binary { op_span, lhs, rhs, .. } => {
            erase_span(op_span);
            erase_expr(lhs);
            erase_expr(rhs);
        }
        ExprKind::Neg(inner) | ExprKind::Paren(inner) => erase_expr(inner),
        ExprKind::If { cond, then, otherwise } => {
            erase_expr(cond);
            erase_expr(then);
            erase_expr(otherwise);
        }
        ExprKind::Match { scrutinee, arms } => {
            erase_expr(scrutinee);
            for arm in arms {
                erase_pattern(&mut arm.pattern);
                erase_expr(&mut arm.body);
                erase_span(&mut arm.span);
            }
        }
        ExprKind::Let { binding, body } => {
            erase_binding(binding);
            erase_expr(body);
        }
        ExprKind::LetRec { bindings, body } => {
            bindings.iter_mut().for_each(erase_binding);
            erase_expr(body);
        }
        ExprKind::Tuple(elements) | ExprKind::Array(elements) => elements.iter_mut().for_each(erase_expr),
        ExprKind::Record(fields) => erase_fields(fields),
        ExprKind::Update { base, fields } => {
            erase_expr(base);
            erase_fields(fields);
        }
        ExprKind::Field { base, field } => {
            erase_expr(base);
            erase_ident(field);
        }
        ExprKind::Index { base, indices } => {
            erase_expr(base);
            indices.iter_mut().for_each(erase_expr);
        }
        ExprKind::Annot { expr, ty } => {
            erase_expr(expr);
            erase_type(ty);
        }
    }
}

fn erase_pattern(pattern: &mut Pattern) {
    erase_span(&mut pattern.span);
    match &mut pattern.kind {
        PatternKind::Wildcard | PatternKind::Var(_) | PatternKind::Lit { .. } | PatternKind::Error => {}
        PatternKind::Ctor { ctor, args } => {
            erase_path(ctor);
            args.iter_mut().for_each(erase_pattern);
        }
        PatternKind::Tuple(patterns) => patterns.iter_mut().for_each(erase_pattern),
        PatternKind::Record(fields) => {
            for (name, pattern) in fields {
                erase_ident(name);
                pattern.iter_mut().for_each(erase_pattern);
            }
        }
        PatternKind::As { pattern, name } => {
            erase_pattern(pattern);
            erase_ident(name);
        }
        PatternKind::Annot { pattern, ty } => {
            erase_pattern(pattern);
            erase_type(ty);
        }
        PatternKind::Paren(pattern) => erase_pattern(pattern),
    }
}

fn erase_type(ty: &mut Type) {
    erase_span(&mut ty.span);
    match &mut ty.kind {
        TypeKind::Var(_) | TypeKind::Error => {}
        TypeKind::Named { path, args } => {
            erase_path(path);
            args.iter_mut().for_each(erase_type);
        }
        TypeKind::Fun(from, to) => {
            erase_type(from);
            erase_type(to);
        }
        TypeKind::Tuple(types) => types.iter_mut().for_each(erase_type),
        TypeKind::Record { fields, rest } => {
            for (name, ty) in fields {
                erase_ident(name);
                erase_type(ty);
            }
            rest.iter_mut().for_each(erase_ident);
        }
        TypeKind::Array { size, elem } => {
            match size {
                SizeExpr::Unknown => {}
                SizeExpr::Number(_, span) => erase_span(span),
                SizeExpr::Name(name) => erase_ident(name),
            }
            erase_type(elem);
        }
        TypeKind::Paren(inner) => erase_type(inner),
    }
}
