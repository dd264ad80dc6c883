//! Random surface trees: untyped, but such as the parser could make, without parentheses.

use arbtest::arbitrary::{Result, Unstructured};
use wengert_base::{Name, Span};
use wengert_syntax::ast::*;

const AT: Span = Span::NOWHERE;
const LOWER: [&str; 7] = ["x", "y", "f", "long_name_of_something", "∇", "π", "a'"];
const UPPER: [&str; 3] = ["Cons", "Nil", "A_rather_long_constructor"];

fn ident(u: &mut Unstructured<'_>, names: &[&str]) -> Result<Ident> {
    Ok(Ident { name: Name::new(u.choose(names)?), span: AT })
}

fn some<T>(
    u: &mut Unstructured<'_>,
    least: usize,
    most: usize,
    mut one: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let count = u.int_in_range(least..=most)?;
    (0..count).map(|_| one(u)).collect()
}

fn path(u: &mut Unstructured<'_>) -> Result<Path> {
    let module = if u.ratio(1, 5)? { Some(ident(u, &["m", "linalg"])?) } else { None };
    Ok(Path { module, name: ident(u, &UPPER)?, span: AT })
}

fn literal(u: &mut Unstructured<'_>) -> Result<Literal> {
    Ok(match u.int_in_range(0..=4)? {
        0 => Literal::Number(u.int_in_range(0..=(1 << 63) - 1)?),
        1 => Literal::Number(u.int_in_range(0..=9)?),
        2 => Literal::Real(f64::from_bits(u.arbitrary::<u64>()? >> 1)),
        3 => Literal::String(u.arbitrary::<&str>()?.chars().take(12).collect()),
        _ => Literal::Bool(u.arbitrary()?),
    })
}

fn finite_literal(u: &mut Unstructured<'_>) -> Result<Literal> {
    let literal = literal(u)?;
    let infinite = matches!(literal, Literal::Real(x) if !x.is_finite());
    Ok(if infinite { Literal::Real(0.5) } else { literal })
}

/// A whole module.
pub(crate) fn module(u: &mut Unstructured<'_>) -> Result<Module> {
    Ok(Module { items: some(u, 0, 6, item)?, span: AT })
}

fn item(u: &mut Unstructured<'_>) -> Result<Item> {
    Ok(match u.int_in_range(0..=6)? {
        0 => Item::Import(import(u)?),
        1 => Item::Type(TypeDecl {
            name: ident(u, &UPPER)?,
            params: some(u, 0, 2, |u| ident(u, &LOWER))?,
            ctors: some(u, 1, 4, |u| {
                Ok(CtorDecl { name: ident(u, &UPPER)?, fields: some(u, 0, 3, |u| ty(u, 2))?, span: AT })
            })?,
            span: AT,
        }),
        2 => Item::Alias(AliasDecl {
            name: ident(u, &UPPER)?,
            params: some(u, 0, 2, |u| ident(u, &LOWER))?,
            ty: ty(u, 4)?,
            span: AT,
        }),
        _ => Item::Def(Def {
            name: ident(u, &LOWER)?,
            params: some(u, 0, 3, |u| pattern(u, 2))?,
            result: if u.arbitrary()? { Some(ty(u, 3)?) } else { None },
            body: expr(u, 7)?,
            span: AT,
        }),
    })
}

fn import(u: &mut Unstructured<'_>) -> Result<Import> {
    let source = if u.arbitrary()? {
        ImportSource::Library(ident(u, &["linalg", "m"])?)
    } else {
        ImportSource::File { path: "dir/file.wg".into(), span: AT }
    };
    let alias = if u.arbitrary()? { Some(ident(u, &LOWER)?) } else { None };
    let names = if u.arbitrary()? { Some(some(u, 0, 3, |u| ident(u, &LOWER))?) } else { None };
    Ok(Import { source, alias, names, span: AT })
}

/// An expression of at most this depth.
pub(crate) fn expr(u: &mut Unstructured<'_>, depth: u32) -> Result<Expr> {
    let kind = if depth == 0 || u.is_empty() { leaf(u)? } else { branch(u, depth - 1)? };
    Ok(Expr { kind, span: AT })
}

fn leaf(u: &mut Unstructured<'_>) -> Result<ExprKind> {
    Ok(match u.int_in_range(0..=4)? {
        0 => ExprKind::Lit(finite_literal(u)?),
        1 => ExprKind::Ctor(path(u)?),
        2 => ExprKind::Op(*u.choose(&BinOp::ALL)?),
        3 => ExprKind::Tuple(Vec::new()),
        _ => ExprKind::Var(ident(u, &LOWER)?.name),
    })
}

fn boxed(u: &mut Unstructured<'_>, depth: u32) -> Result<Box<Expr>> {
    Ok(Box::new(expr(u, depth)?))
}

fn branch(u: &mut Unstructured<'_>, depth: u32) -> Result<ExprKind> {
    Ok(match u.int_in_range(0..=16)? {
        0 => ExprKind::Lambda { params: some(u, 1, 3, |u| pattern(u, 2))?, body: boxed(u, depth)? },
        1 | 2 => ExprKind::App { func: boxed(u, depth)?, args: some(u, 1, 3, |u| expr(u, depth))? },
        3..=5 => ExprKind::Binary {
            op: *u.choose(&BinOp::ALL)?,
            op_span: AT,
            lhs: boxed(u, depth)?,
            rhs: boxed(u, depth)?,
        },
        6 => ExprKind::Neg(boxed(u, depth)?),
        7 => ExprKind::If { cond: boxed(u, depth)?, then: boxed(u, depth)?, otherwise: boxed(u, depth)? },
        8 => ExprKind::Match {
            scrutinee: boxed(u, depth)?,
            arms: some(u, 1, 3, |u| Ok(Arm { pattern: pattern(u, 3)?, body: expr(u, depth)?, span: AT }))?,
        },
        9 => ExprKind::Let { binding: Box::new(binding(u, depth)?), body: boxed(u, depth)? },
        10 => ExprKind::LetRec { bindings: some(u, 1, 3, |u| binding(u, depth))?, body: boxed(u, depth)? },
        11 => ExprKind::Tuple(some(u, 2, 4, |u| expr(u, depth))?),
        12 => ExprKind::Array(some(u, 0, 4, |u| expr(u, depth))?),
        13 => ExprKind::Record(fields(u, 0, depth)?),
        14 => ExprKind::Update { base: boxed(u, depth)?, fields: fields(u, 1, depth)? },
        15 => match u.int_in_range(0..=1)? {
            0 => ExprKind::Field { base: boxed(u, depth)?, field: ident(u, &LOWER)? },
            _ => ExprKind::Index { base: boxed(u, depth)?, indices: some(u, 1, 2, |u| expr(u, depth))? },
        },
        _ => ExprKind::Annot { expr: boxed(u, depth)?, ty: ty(u, 3)? },
    })
}

fn fields(u: &mut Unstructured<'_>, least: usize, depth: u32) -> Result<Vec<(Ident, Expr)>> {
    some(u, least, 3, |u| Ok((ident(u, &LOWER)?, expr(u, depth)?)))
}

fn binding(u: &mut Unstructured<'_>, depth: u32) -> Result<Binding> {
    let target = if u.arbitrary()? {
        Target::Function { name: ident(u, &LOWER)?, params: some(u, 1, 2, |u| pattern(u, 2))? }
    } else {
        Target::Pattern(pattern(u, 2)?)
    };
    let result = if u.ratio(1, 3)? { Some(ty(u, 2)?) } else { None };
    Ok(Binding { target, result, value: expr(u, depth)?, span: AT })
}

fn pattern(u: &mut Unstructured<'_>, depth: u32) -> Result<Pattern> {
    let most = if depth == 0 { 2 } else { 8 };
    let depth = depth.saturating_sub(1);
    let kind = match u.int_in_range(0..=most)? {
        0 => PatternKind::Wildcard,
        1 => {
            let lit = finite_literal(u)?;
            let number = matches!(lit, Literal::Number(_) | Literal::Real(_));
            PatternKind::Lit { lit, negative: number && u.arbitrary()? }
        }
        2 | 3 => PatternKind::Var(ident(u, &LOWER)?.name),
        4 => PatternKind::Ctor { ctor: path(u)?, args: some(u, 0, 3, |u| pattern(u, depth))? },
        5 if u.ratio(1, 4)? => PatternKind::Tuple(Vec::new()),
        5 => PatternKind::Tuple(some(u, 2, 3, |u| pattern(u, depth))?),
        6 => PatternKind::Record(some(u, 0, 3, |u| {
            let inner = if u.arbitrary()? { Some(pattern(u, depth)?) } else { None };
            Ok((ident(u, &LOWER)?, inner))
        })?),
        7 => PatternKind::As { pattern: Box::new(pattern(u, depth)?), name: ident(u, &LOWER)? },
        _ => PatternKind::Annot { pattern: Box::new(pattern(u, depth)?), ty: ty(u, 2)? },
    };
    Ok(Pattern { kind, span: AT })
}

fn ty(u: &mut Unstructured<'_>, depth: u32) -> Result<Type> {
    let most = if depth == 0 { 1 } else { 7 };
    let depth = depth.saturating_sub(1);
    let kind = match u.int_in_range(0..=most)? {
        0 => TypeKind::Var(ident(u, &LOWER)?.name),
        1 => TypeKind::Named { path: path(u)?, args: Vec::new() },
        2 => TypeKind::Named { path: path(u)?, args: some(u, 1, 2, |u| ty(u, depth))? },
        3 => TypeKind::Fun(Box::new(ty(u, depth)?), Box::new(ty(u, depth)?)),
        4 if u.ratio(1, 4)? => TypeKind::Tuple(Vec::new()),
        4 => TypeKind::Tuple(some(u, 2, 3, |u| ty(u, depth))?),
        5 => {
            let fields = some(u, 0, 3, |u| Ok((ident(u, &LOWER)?, ty(u, depth)?)))?;
            let rest = if !fields.is_empty() && u.arbitrary()? { Some(ident(u, &LOWER)?) } else { None };
            TypeKind::Record { fields, rest }
        }
        _ => {
            let size = match u.int_in_range(0..=2)? {
                0 => SizeExpr::Unknown,
                1 => SizeExpr::Number(u.int_in_range(0..=100)?, AT),
                _ => SizeExpr::Name(ident(u, &LOWER)?),
            };
            TypeKind::Array { size, elem: Box::new(ty(u, depth)?) }
        }
    };
    Ok(Type { kind, span: AT })
}
