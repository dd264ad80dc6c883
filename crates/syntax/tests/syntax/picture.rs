//! What the tests of this crate share: a compact picture of trees, and of diagnostics.

use wengert_base::{Diagnostic, SourceId};
use wengert_syntax::ast::*;

pub(crate) const FILE: SourceId = SourceId(0);

/// A module, one item a line.
pub(crate) fn module(module: &Module) -> String {
    module.items.iter().map(|i| item(i) + "\n").collect()
}

fn item(item: &Item) -> String {
    match item {
        Item::Import(import) => {
            let source = match &import.source {
                ImportSource::Library(name) => name.name.to_string(),
                ImportSource::File { path, .. } => format!("{path:?}"),
            };
            let alias = import.alias.map(|a| format!(" as {}", a.name)).unwrap_or_default();
            let names = import.names.as_ref().map(|n| format!(" ({})", idents(n))).unwrap_or_default();
            format!("import {source}{alias}{names}")
        }
        Item::Def(def) => {
            let result = def.result.as_ref().map(|t| format!(" : {}", ty(t))).unwrap_or_default();
            format!("def {}{}{result} = {}", def.name.name, list(&def.params, pattern), expr(&def.body))
        }
        Item::Type(decl) => {
            let ctors: Vec<String> =
                decl.ctors.iter().map(|c| format!("{}{}", c.name.name, list(&c.fields, ty))).collect();
            format!("type {} {} = {}", decl.name.name, idents(&decl.params), ctors.join(" | "))
        }
        Item::Alias(decl) => format!("alias {} {} = {}", decl.name.name, idents(&decl.params), ty(&decl.ty)),
    }
}

fn idents(names: &[Ident]) -> String {
    names.iter().map(|n| n.name.to_string()).collect::<Vec<_>>().join(" ")
}

fn list<T>(elements: &[T], show: impl Fn(&T) -> String) -> String {
    elements.iter().map(|e| format!(" {}", show(e))).collect()
}

fn path(path: &Path) -> String {
    match path.module {
        Some(module) => format!("{}.{}", module.name, path.name.name),
        None => path.name.name.to_string(),
    }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Number(n) => n.to_string(),
        Literal::Real(x) => wengert_base::real::show(*x),
        Literal::String(s) => format!("{s:?}"),
        Literal::Bool(b) => b.to_string(),
    }
}

fn binding(binding: &Binding) -> String {
    let result = binding.result.as_ref().map(|t| format!(" : {}", ty(t))).unwrap_or_default();
    let target = match &binding.target {
        Target::Function { name, params } => format!("{}{}", name.name, list(params, pattern)),
        Target::Pattern(p) => pattern(p),
    };
    format!("[{target}{result} = {}]", expr(&binding.value))
}

fn fields(fields: &[(Ident, Expr)]) -> String {
    list(fields, |(name, value)| format!("{}={}", name.name, expr(value)))
}

/// An expression with all structure shown by parentheses.
pub(crate) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Var(name) => name.to_string(),
        ExprKind::Ctor(ctor) => path(ctor),
        ExprKind::Lit(lit) => literal(lit),
        ExprKind::Op(op) => format!("(op {})", op.text()),
        ExprKind::Lambda { params, body } => format!("(fn{} -> {})", list(params, pattern), expr(body)),
        ExprKind::App { func, args } => format!("(@ {}{})", expr(func), list(args, expr)),
        ExprKind::Binary { op, lhs, rhs, .. } => format!("({} {} {})", op.text(), expr(lhs), expr(rhs)),
        ExprKind::Neg(inner) => format!("(neg {})", expr(inner)),
        ExprKind::If { cond, then, otherwise } => {
            format!("(if {} {} {})", expr(cond), expr(then), expr(otherwise))
        }
        ExprKind::Match { scrutinee, arms } => {
            let arms = list(arms, |a| format!("[{} -> {}]", pattern(&a.pattern), expr(&a.body)));
            format!("(match {}{arms})", expr(scrutinee))
        }
        ExprKind::Let { binding: b, body } => format!("(let {} {})", binding(b), expr(body)),
        ExprKind::LetRec { bindings, body } => format!("(letrec{} {})", list(bindings, binding), expr(body)),
        ExprKind::Tuple(es) => format!("(tuple{})", list(es, expr)),
        ExprKind::Array(es) => format!("(array{})", list(es, expr)),
        ExprKind::Record(fs) => format!("(record{})", fields(fs)),
        ExprKind::Update { base, fields: fs } => format!("(update {}{})", expr(base), fields(fs)),
        ExprKind::Field { base, field } => format!("(. {} {})", expr(base), field.name),
        ExprKind::Index { base, indices } => format!("(index {}{})", expr(base), list(indices, expr)),
        ExprKind::Annot { expr: inner, ty: t } => format!("(: {} {})", expr(inner), ty(t)),
        ExprKind::Paren(inner) => format!("(paren {})", expr(inner)),
        ExprKind::Error => "<hole>".into(),
    }
}

/// A pattern.
pub(crate) fn pattern(p: &Pattern) -> String {
    match &p.kind {
        PatternKind::Wildcard => "_".into(),
        PatternKind::Var(name) => name.to_string(),
        PatternKind::Lit { lit, negative } => format!("{}{}", if *negative { "-" } else { "" }, literal(lit)),
        PatternKind::Ctor { ctor, args } if args.is_empty() => path(ctor),
        PatternKind::Ctor { ctor, args } => format!("({}{})", path(ctor), list(args, pattern)),
        PatternKind::Tuple(ps) => format!("(tuple{})", list(ps, pattern)),
        PatternKind::Record(fs) => {
            let show = |(name, p): &(Ident, Option<Pattern>)| match p {
                Some(p) => format!("{}={}", name.name, pattern(p)),
                None => name.name.to_string(),
            };
            format!("(record{})", list(fs, show))
        }
        PatternKind::As { pattern: p, name } => format!("(as {} {})", pattern(p), name.name),
        PatternKind::Annot { pattern: p, ty: t } => format!("(: {} {})", pattern(p), ty(t)),
        PatternKind::Paren(p) => format!("(paren {})", pattern(p)),
        PatternKind::Error => "<hole>".into(),
    }
}

/// A type.
pub(crate) fn ty(t: &Type) -> String {
    match &t.kind {
        TypeKind::Var(name) => name.to_string(),
        TypeKind::Named { path: p, args } if args.is_empty() => path(p),
        TypeKind::Named { path: p, args } => format!("({}{})", path(p), list(args, ty)),
        TypeKind::Fun(from, to) => format!("(-> {} {})", ty(from), ty(to)),
        TypeKind::Tuple(ts) => format!("(tuple{})", list(ts, ty)),
        TypeKind::Record { fields, rest } => {
            let rest = rest.map(|r| format!(" | {}", r.name)).unwrap_or_default();
            format!("(record{}{rest})", list(fields, |(name, t)| format!("{}:{}", name.name, ty(t))))
        }
        TypeKind::Array { size, elem } => {
            let size = match size {
                SizeExpr::Unknown => String::new(),
                SizeExpr::Number(n, _) => n.to_string(),
                SizeExpr::Name(n) => n.name.to_string(),
            };
            format!("([{size}] {})", ty(elem))
        }
        TypeKind::Paren(t) => format!("(paren {})", ty(t)),
        TypeKind::Error => "<hole>".into(),
    }
}

/// The text with characters that cannot be seen written as escapes.
fn visible(text: &str) -> String {
    let hidden = |c: char| c.is_control() || "\u{a0}\u{200b}".contains(c);
    text.chars().map(|c| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// Diagnostics, each with the marked source text.
pub(crate) fn diagnostics(text: &str, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| diagnostic(text, d)).collect()
}

fn diagnostic(text: &str, d: &Diagnostic) -> String {
    let slice = |span: wengert_base::Span| {
        visible(text.get(span.start as usize..span.end as usize).unwrap_or("<bad span>"))
    };
    let mut out = format!("{} `{}`: {}\n", d.code, slice(d.primary.span), d.message);
    if !d.primary.message.is_empty() {
        out += &format!("  here: {}\n", d.primary.message);
    }
    for label in &d.secondary {
        out += &format!("  `{}`: {}\n", slice(label.span), label.message);
    }
    for note in &d.notes {
        out += &format!("  note: {note}\n");
    }
    if let Some(help) = &d.help {
        out += &format!("  help: {help}\n");
    }
    out
}
