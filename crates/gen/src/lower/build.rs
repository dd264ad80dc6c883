//! Makers of surface syntax. Everything stands nowhere in a file; parentheses are put where an operand binds less
//! strongly than its place needs, and nowhere else.

use super::lower_pattern_fields;
use crate::tree::GenPat;
use crate::ty::GenType;
use crate::value::GenValue;
use wengert_base::{Name, Span};
use wengert_syntax::ast::{
    BinOp, Binding, Expr, ExprKind, Ident, Literal, Path, Pattern, PatternKind, SizeExpr, Target, Type,
    TypeKind,
};

/// An expression.
pub(crate) fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NOWHERE }
}

/// A pattern.
pub(crate) fn pattern_of(kind: PatternKind) -> Pattern {
    Pattern { kind, span: Span::NOWHERE }
}

/// A name.
pub(crate) fn ident(name: Name) -> Ident {
    Ident { name, span: Span::NOWHERE }
}

/// A name without a module.
fn path(name: Name) -> Path {
    Path { module: None, name: ident(name), span: Span::NOWHERE }
}

/// How strongly an expression holds together: 0 as far as possible to the right, then operators, then application.
fn strength(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Lambda { .. }
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Let { .. }
        | ExprKind::LetRec { .. } => 0,
        ExprKind::Binary { op, .. } => operator_strength(*op),
        ExprKind::Neg(_) => NEGATION,
        ExprKind::App { .. } => APPLICATION,
        ExprKind::Var(_)
        | ExprKind::Ctor(_)
        | ExprKind::Lit(_)
        | ExprKind::Op(_)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(_)
        | ExprKind::Update { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Annot { .. }
        | ExprKind::Paren(_)
        | ExprKind::Error => POSTFIX,
    }
}

const NEGATION: u8 = 9;
const POWER: u8 = 10;
const APPLICATION: u8 = 11;
const POSTFIX: u8 = 12;

/// How strongly an operator binds.
fn operator_strength(op: BinOp) -> u8 {
    match op {
        BinOp::Pipe => 1,
        BinOp::Compose => 2,
        BinOp::Or => 3,
        BinOp::And => 4,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 5,
        BinOp::Append => 6,
        BinOp::Add | BinOp::Sub => 7,
        BinOp::Mul | BinOp::Div | BinOp::Rem => 8,
        BinOp::Power | BinOp::RealPower => POWER,
    }
}

/// Whether a chain of the operator groups to the right.
fn groups_right(op: BinOp) -> bool {
    matches!(op, BinOp::Or | BinOp::And | BinOp::Append | BinOp::Power | BinOp::RealPower)
}

/// `(e)`
pub(crate) fn paren(e: Expr) -> Expr {
    expr(ExprKind::Paren(Box::new(e)))
}

/// The expression, in parentheses if it is weaker than `least`.
fn at_least(least: u8, e: Expr) -> Expr {
    if strength(&e) < least { paren(e) } else { e }
}

/// As the base of `.x` or `[i]`.
fn postfix(e: Expr) -> Expr {
    if matches!(e.kind, ExprKind::Lit(_)) { paren(e) } else { at_least(POSTFIX, e) }
}

/// `{x = a, y = b}`
pub(crate) fn record(names: &[Name], values: Vec<Expr>) -> Expr {
    let fields = names.iter().map(|name| ident(*name)).zip(values);
    expr(ExprKind::Record(fields.collect()))
}

/// `e.x`
pub(crate) fn field(name: Name, [base]: [Expr; 1]) -> Expr {
    expr(ExprKind::Field { base: Box::new(postfix(base)), field: ident(name) })
}

/// `{e with x = e'}`
pub(crate) fn update(name: Name, [base, value]: [Expr; 2]) -> Expr {
    expr(ExprKind::Update { base: Box::new(base), fields: vec![(ident(name), value)] })
}

/// A variable or a function of the library.
pub(crate) fn var(name: Name) -> Expr {
    expr(ExprKind::Var(name))
}

/// A constructor.
pub(crate) fn ctor(name: Name) -> Expr {
    expr(ExprKind::Ctor(path(name)))
}

/// `f a b`; only `f` if there is no argument.
pub(crate) fn app(func: Expr, args: Vec<Expr>) -> Expr {
    if args.is_empty() {
        return func;
    }
    let args = args.into_iter().map(|arg| at_least(POSTFIX, arg));
    // `(f a) b` is written `f a b`.
    if let ExprKind::App { func, args: mut before } = func.kind {
        before.extend(args);
        return expr(ExprKind::App { func, args: before });
    }
    expr(ExprKind::App { func: Box::new(at_least(POSTFIX, func)), args: args.collect() })
}

/// A library function, applied.
pub(crate) fn call(name: &str, args: Vec<Expr>) -> Expr {
    app(var(Name::new(name)), args)
}

/// `a op b`
pub(crate) fn binary(op: BinOp, lhs: Expr, rhs: Expr) -> Expr {
    let own = operator_strength(op);
    let chains = !matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
    let (left, right) = match (chains, groups_right(op)) {
        (false, _) => (own + 1, own + 1),
        (true, true) => (own + 1, own),
        (true, false) => (own, own + 1),
    };
    let (lhs, rhs) = (Box::new(at_least(left, lhs)), Box::new(at_least(right, rhs)));
    expr(ExprKind::Binary { op, op_span: Span::NOWHERE, lhs, rhs })
}

/// `-e`
pub(crate) fn negated(e: Expr) -> Expr {
    expr(ExprKind::Neg(Box::new(at_least(POWER, e))))
}

/// `(a, b)`
pub(crate) fn tuple(mut items: Vec<Expr>) -> Expr {
    match items.pop() {
        Some(only) if items.is_empty() => only,
        last => {
            items.extend(last);
            expr(ExprKind::Tuple(items))
        }
    }
}

/// `[a, b]`
pub(crate) fn array(items: Vec<Expr>) -> Expr {
    expr(ExprKind::Array(items))
}

/// `e[i]`
pub(crate) fn index(base: Expr, i: Expr) -> Expr {
    expr(ExprKind::Index { base: Box::new(postfix(base)), indices: vec![i] })
}

/// `(e : t)`
pub(crate) fn annotated(e: Expr, ty: Type) -> Expr {
    expr(ExprKind::Annot { expr: Box::new(e), ty })
}

/// A number without a point.
pub(crate) fn int(n: u64) -> Expr {
    expr(ExprKind::Lit(Literal::Number(n)))
}

/// A value as an expression.
pub(crate) fn literal(value: &GenValue) -> Expr {
    match value {
        GenValue::Real(x) if x.is_sign_negative() => negated(expr(ExprKind::Lit(Literal::Real(-x)))),
        GenValue::Real(x) => expr(ExprKind::Lit(Literal::Real(*x))),
        GenValue::Int(n) if *n < 0 => negated(int(n.unsigned_abs())),
        GenValue::Int(n) => int(n.unsigned_abs()),
        GenValue::Bool(b) => expr(ExprKind::Lit(Literal::Bool(*b))),
        GenValue::String(text) => expr(ExprKind::Lit(Literal::String(text.clone()))),
        GenValue::Tuple(items) => tuple(items.iter().map(literal).collect()),
        GenValue::Array(items) => array(items.iter().map(literal).collect()),
        GenValue::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| (ident(*name), literal(field)));
            expr(ExprKind::Record(fields.collect()))
        }
        GenValue::Ctor(name, fields) => app(ctor(*name), fields.iter().map(literal).collect()),
    }
}

/// `\p q -> e`
pub(crate) fn lambda(params: Vec<Pattern>, body: Expr) -> Expr {
    let params = params.into_iter().map(pattern_atom).collect();
    expr(ExprKind::Lambda { params, body: Box::new(body) })
}

/// `let target = value in body`
pub(crate) fn let_in(target: Target, value: Expr, body: Expr) -> Expr {
    let binding = Box::new(Binding { target, result: None, value, span: Span::NOWHERE });
    expr(ExprKind::Let { binding, body: Box::new(body) })
}

/// `let name params = value in body`
pub(crate) fn let_fun(name: Name, params: Vec<Pattern>, value: Expr, body: Expr) -> Expr {
    let params = params.into_iter().map(pattern_atom).collect();
    let_in(Target::Function { name: ident(name), params }, value, body)
}

/// `if cond then then else otherwise`
pub(crate) fn if_else(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
    let (cond, then, otherwise) = (Box::new(cond), Box::new(then), Box::new(otherwise));
    expr(ExprKind::If { cond, then, otherwise })
}

/// The body of an arm: what could take the following arms for its own stands in parentheses.
pub(crate) fn group_arm(body: Expr) -> Expr {
    at_least(1, body)
}

/// A variable as a pattern.
pub(crate) fn var_pattern(name: Name) -> Pattern {
    pattern_of(PatternKind::Var(name))
}

/// `(p, q)`
pub(crate) fn tuple_pattern(items: Vec<Pattern>) -> Pattern {
    pattern_of(PatternKind::Tuple(items))
}

/// `Cons p q`
pub(crate) fn ctor_pattern(name: Name, fields: Vec<Pattern>) -> Pattern {
    let args = fields.into_iter().map(pattern_atom).collect();
    pattern_of(PatternKind::Ctor { ctor: path(name), args })
}

/// A pattern as a parameter or a field.
fn pattern_atom(pattern: Pattern) -> Pattern {
    let loose = match &pattern.kind {
        PatternKind::Ctor { args, .. } => !args.is_empty(),
        PatternKind::Lit { negative, .. } => *negative,
        PatternKind::As { .. } => true,
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::Annot { .. }
        | PatternKind::Paren(_)
        | PatternKind::Error => false,
    };
    if loose { pattern_of(PatternKind::Paren(Box::new(pattern))) } else { pattern }
}

/// A generated pattern.
pub(crate) fn pattern(of: &GenPat) -> Pattern {
    match of {
        GenPat::Wildcard => pattern_of(PatternKind::Wildcard),
        GenPat::Var(name, _) => var_pattern(*name),
        GenPat::Lit(value) => {
            let (lit, negative) = match value {
                GenValue::Int(n) => (Literal::Number(n.unsigned_abs()), *n < 0),
                GenValue::Real(x) => (Literal::Real(x.abs()), *x < 0.0),
                GenValue::String(text) => (Literal::String(text.clone()), false),
                GenValue::Bool(b) => (Literal::Bool(*b), false),
                GenValue::Tuple(_) | GenValue::Record(_) | GenValue::Array(_) | GenValue::Ctor(..) => {
                    return pattern_of(PatternKind::Wildcard);
                }
            };
            pattern_of(PatternKind::Lit { lit, negative })
        }
        GenPat::Tuple(items) => tuple_pattern(items.iter().map(pattern).collect()),
        GenPat::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| {
                // `{x = x}` is written `{x}`.
                let short = matches!(field, GenPat::Var(var, _) if var == name);
                (ident(*name), (!short).then(|| pattern(field)))
            });
            pattern_of(PatternKind::Record(fields.collect()))
        }
        GenPat::Ctor(name, fields) => lower_pattern_fields(*name, fields),
    }
}

/// A type.
fn type_of(kind: TypeKind) -> Type {
    Type { kind, span: Span::NOWHERE }
}

/// A generated type.
pub(crate) fn ty_expr(ty: &GenType) -> Type {
    let named = |name: &str, args: Vec<Type>| {
        let args = args.into_iter().map(type_atom).collect();
        type_of(TypeKind::Named { path: path(Name::new(name)), args })
    };
    match ty {
        GenType::Real => named("Real", vec![]),
        GenType::Int => named("Int", vec![]),
        GenType::Bool => named("Bool", vec![]),
        GenType::String => named("String", vec![]),
        GenType::Tuple(items) => type_of(TypeKind::Tuple(items.iter().map(ty_expr).collect())),
        GenType::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| (ident(*name), ty_expr(field))).collect();
            type_of(TypeKind::Record { fields, rest: None })
        }
        GenType::Array(n, elem) => type_of(TypeKind::Array {
            size: SizeExpr::Number(*n, Span::NOWHERE),
            elem: Box::new(element_type(ty_expr(elem))),
        }),
        GenType::Data(name, args) => named(name.as_str(), args.iter().map(ty_expr).collect()),
        GenType::Fun(from, to) => {
            let from = ty_expr(from);
            let from = if matches!(from.kind, TypeKind::Fun(..)) { paren_type(from) } else { from };
            type_of(TypeKind::Fun(Box::new(from), Box::new(ty_expr(to))))
        }
        GenType::Param => type_of(TypeKind::Var(Name::new("a"))),
    }
}

/// `(t)`
fn paren_type(ty: Type) -> Type {
    type_of(TypeKind::Paren(Box::new(ty)))
}

/// A type as an array's element.
fn element_type(ty: Type) -> Type {
    if matches!(ty.kind, TypeKind::Array { .. }) { ty } else { type_atom(ty) }
}

/// A type as an argument or as the field of a constructor.
pub(crate) fn type_atom(ty: Type) -> Type {
    let loose = match &ty.kind {
        TypeKind::Fun(..) | TypeKind::Array { .. } => true,
        TypeKind::Named { args, .. } => !args.is_empty(),
        TypeKind::Var(_)
        | TypeKind::Tuple(_)
        | TypeKind::Record { .. }
        | TypeKind::Paren(_)
        | TypeKind::Error => false,
    };
    if loose { paren_type(ty) } else { ty }
}
