//! From generated nodes to the surface tree.
//!
//! [`build`] makes surface expressions and puts parentheses exactly where the grammar needs them, so that the result is
//! what parsing its printed form gives. Here each form is spelled out in terms of it.

pub(crate) mod build;

use crate::tree::{Form, GenPat, Node, Operator, Template};
use crate::ty::{DataDecl, GenType};
use crate::value::GenValue;
use build::{
    annotated, app, array, binary, call, ctor_pattern, group_arm, ident, index, int, lambda, let_fun, let_in,
    literal, pattern, tuple, tuple_pattern, ty_expr, var, var_pattern,
};
use wengert_base::{Name, Span};
use wengert_syntax::ast::{
    Arm, BinOp, Binding, CtorDecl, Expr, ExprKind, Pattern, PatternKind, Target, TypeDecl,
};

/// A node as a surface expression.
pub(crate) fn lower(node: &Node) -> Expr {
    let parts: Vec<Expr> = node.children.iter().map(|child| lower(&child.node)).collect();
    match &node.form {
        Form::Var(name) => var(*name),
        Form::Lit(value) => literal(value),
        Form::Whole(n) => int(u64::from(*n)),
        Form::Tuple => tuple(parts),
        Form::Record(names) => build::record(names, parts),
        Form::Array if parts.is_empty() => annotated(array(parts), ty_expr(&node.ty)),
        Form::Array => array(parts),
        Form::Ctor(name) => app(build::ctor(*name), parts),
        Form::Field(name) => build::field(*name, take(parts)),
        Form::Update(name) => build::update(*name, take(parts)),
        Form::Index(i) => index(only(parts), int(*i)),
        Form::Call(name) | Form::PolyCall(name) => app(var(*name), parts),
        Form::FuelCall(name, count) => app(var(*name), with_first(int(u64::from(*count)), parts)),
        Form::Apply => apply(take(parts)),
        Form::Pipe => operator(BinOp::Pipe, take(parts)),
        Form::Compose => operator(BinOp::Compose, take(parts)),
        Form::Binary(op) => operator(*op, take(parts)),
        Form::Neg => build::negated(only(parts)),
        Form::Power(n) => binary(BinOp::Power, only(parts), int(u64::from(*n))),
        Form::Annotated => annotated(only(parts), ty_expr(&node.ty)),
        Form::Lambda(param, is_annotated) => lower_lambda(param, *is_annotated, &node.ty, only(parts)),
        Form::Let(target) => let_pattern(target, take(parts)),
        Form::LetFun(name, param) => let_function(*name, param, take(parts)),
        Form::LetPoly(name, template) => template_binding(*name, *template, only(parts)),
        Form::If => conditional(take(parts)),
        Form::Match(patterns) => match_first(patterns, parts),
        Form::StructMatch(name, _, patterns) => match_on(var(*name), patterns, parts),
        Form::FuelIf(fuel) => fuel_if(*fuel, take(parts)),
        Form::SelfCall { func, fuel, minus_one } => self_call(*func, *fuel, *minus_one, parts),
        Form::Build(n, i) => call_loop("build", Some(*n), vec![var_pattern(*i)], parts),
        Form::Map(param) => call_loop("map", None, vec![pattern(param)], parts),
        Form::Map2(x, y) => call_loop("map2", None, vec![pattern(x), pattern(y)], parts),
        Form::Fold(acc, x) => call_loop("fold", None, vec![var_pattern(*acc), var_pattern(*x)], parts),
        Form::Scan(acc, x) => call_loop("scan", None, vec![var_pattern(*acc), var_pattern(*x)], parts),
        Form::Reduce(a, b) => call_loop("reduce", None, vec![var_pattern(*a), var_pattern(*b)], parts),
        Form::Iterate(n, param) => call_loop("iterate", Some(u64::from(*n)), vec![pattern(param)], parts),
        Form::While(count, k, param) => lower_while(*count, *k, param, None, take(parts)),
        Form::WhileCond(count, k, param) => {
            let [cond, body, start] = take(parts);
            lower_while(*count, *k, param, Some(cond), [body, start])
        }
        Form::Loop { count, go, fuel, state } => {
            local_loop(*count, *go, (*fuel, *state), &node.ty, take(parts))
        }
        Form::Derive(operator, param, ty) => lower_derivative(*operator, typed_param(param, ty), parts),
        Form::DeriveFun { g, x } => derive_function(*g, *x, take(parts)),
        Form::CustomRule { vjp } => custom_rule(*vjp, only(parts)),
        Form::OwnRule { vjp, wrong, param, from } => {
            own_rule(*vjp, *wrong, typed_param(param, from), take(parts))
        }
    }
}

/// The first `N` parts; generated nodes have as many as their form needs.
fn take<const N: usize>(parts: Vec<Expr>) -> [Expr; N] {
    let mut parts = parts.into_iter();
    std::array::from_fn(|_| parts.next().unwrap_or_else(|| tuple(Vec::new())))
}

/// The only part.
fn only(parts: Vec<Expr>) -> Expr {
    let [part] = take(parts);
    part
}

/// The arguments after a first one.
fn with_first(first: Expr, parts: Vec<Expr>) -> Vec<Expr> {
    std::iter::once(first).chain(parts).collect()
}

/// `f e`
fn apply([func, arg]: [Expr; 2]) -> Expr {
    app(func, vec![arg])
}

/// `a op b`
fn operator(op: BinOp, [lhs, rhs]: [Expr; 2]) -> Expr {
    binary(op, lhs, rhs)
}

/// `\p -> e`
fn lower_lambda(param: &GenPat, is_annotated: bool, ty: &GenType, body: Expr) -> Expr {
    let param = match (ty, is_annotated) {
        (GenType::Fun(from, _), true) => typed_param(param, from),
        _ => pattern(param),
    };
    lambda(vec![param], body)
}

/// `let p = e in body`
fn let_pattern(target: &GenPat, [value, body]: [Expr; 2]) -> Expr {
    let_in(Target::Pattern(pattern(target)), value, body)
}

/// `let f p = e in body`
fn let_function(name: Name, param: &GenPat, [value, body]: [Expr; 2]) -> Expr {
    let_fun(name, vec![pattern(param)], value, body)
}

/// `if c then a else b`
fn conditional([cond, then, otherwise]: [Expr; 3]) -> Expr {
    build::if_else(cond, then, otherwise)
}

/// `if n <= 0 then a else b`
fn fuel_if(fuel: Name, [base, step]: [Expr; 2]) -> Expr {
    build::if_else(binary(BinOp::Le, var(fuel), int(0)), base, step)
}

/// `f (n - 1) …` or `f rest …`
fn self_call(func: Name, fuel: Name, minus_one: bool, parts: Vec<Expr>) -> Expr {
    let smaller = if minus_one { binary(BinOp::Sub, var(fuel), int(1)) } else { var(fuel) };
    app(var(func), with_first(smaller, parts))
}

/// `snd (jvp (\g -> e) (\x -> a, \x -> b))`
fn derive_function(g: Name, x: Name, [body, point, tangent]: [Expr; 3]) -> Expr {
    let real = GenType::fun(GenType::Real, GenType::Real);
    let function = lambda(vec![typed_param(&GenPat::Var(g, real.clone()), &real)], body);
    let [point, tangent] = [point, tangent].map(|value| lambda(vec![var_pattern(x)], value));
    second(call("jvp", vec![function, tuple(vec![point, tangent])]))
}

/// A parameter with its type.
fn typed_param(param: &GenPat, ty: &GenType) -> Pattern {
    let inner = Box::new(pattern(param));
    build::pattern_of(PatternKind::Annot { pattern: inner, ty: ty_expr(ty) })
}

/// `snd e`
fn second(pair: Expr) -> Expr {
    call("snd", vec![pair])
}

/// `match e with …`, the scrutinee being the first part.
fn match_first(patterns: &[GenPat], parts: Vec<Expr>) -> Expr {
    let mut parts = parts.into_iter();
    let scrutinee = parts.next().unwrap_or_else(|| tuple(Vec::new()));
    match_on(scrutinee, patterns, parts.collect())
}

/// `match scrutinee with …`
fn match_on(scrutinee: Expr, patterns: &[GenPat], bodies: Vec<Expr>) -> Expr {
    let arms = patterns
        .iter()
        .zip(bodies)
        .map(|(head, body)| Arm { pattern: pattern(head), body: group_arm(body), span: Span::NOWHERE })
        .collect();
    build::expr(ExprKind::Match { scrutinee: Box::new(scrutinee), arms })
}

/// A library loop: the first child is the body of its function.
fn call_loop(name: &str, count: Option<u64>, params: Vec<Pattern>, children: Vec<Expr>) -> Expr {
    let mut children = children.into_iter();
    let function = lambda(params, children.next().unwrap_or_else(|| tuple(Vec::new())));
    call(name, count.map(int).into_iter().chain([function]).chain(children).collect())
}

/// `let rec go k s = if k <= 0 then s else go (k - 1) body in go 3 start`
fn local_loop(
    count: u32,
    go: Name,
    (fuel, state): (Name, Name),
    ty: &GenType,
    [body, start]: [Expr; 2],
) -> Expr {
    let state_pattern = GenPat::Var(state, ty.clone());
    let state_param =
        if ty.needs_annotation() { typed_param(&state_pattern, ty) } else { pattern(&state_pattern) };
    let params = vec![var_pattern(fuel), state_param];
    let next = binary(BinOp::Sub, var(fuel), int(1));
    let again = app(var(go), vec![next, body]);
    let stop = binary(BinOp::Le, var(fuel), int(0));
    let value = build::if_else(stop, var(state), again);
    let target = Target::Function { name: ident(go), params };
    let binding = Binding { target, result: None, value, span: Span::NOWHERE };
    let start = app(var(go), vec![int(u64::from(count)), start]);
    build::expr(ExprKind::LetRec { bindings: vec![binding], body: Box::new(start) })
}

/// `snd (while_loop (\(k, _) -> k < 3) (\(k, p) -> (k + 1, body)) (0, start))`
fn lower_while(count: u32, k: Name, param: &GenPat, also: Option<Expr>, [body, start]: [Expr; 2]) -> Expr {
    let fewer = binary(BinOp::Lt, var(k), int(u64::from(count)));
    let (state, more) = match also {
        None => (build::pattern_of(PatternKind::Wildcard), fewer),
        Some(cond) => (pattern(param), binary(BinOp::And, fewer, cond)),
    };
    let cond = lambda(vec![tuple_pattern(vec![var_pattern(k), state])], more);
    let next = tuple(vec![binary(BinOp::Add, var(k), int(1)), body]);
    let step = lambda(vec![tuple_pattern(vec![var_pattern(k), pattern(param)])], next);
    let start = tuple(vec![int(0), start]);
    second(call("while_loop", vec![cond, step, start]))
}

/// An operator applied to the function and the other children.
fn lower_derivative(operator: Operator, param: Pattern, parts: Vec<Expr>) -> Expr {
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_else(|| tuple(Vec::new()));
    let function = lambda(vec![param], next());
    let point = next();
    let simple = |name: &str, point: Expr| call(name, vec![function.clone(), point]);
    match operator {
        Operator::Derivative => simple("derivative", point),
        Operator::Grad => simple("grad", point),
        Operator::GradForward => simple("grad_fwd", point),
        Operator::JacForward => simple("jacfwd", point),
        Operator::JacReverse => simple("jacrev", point),
        Operator::Checkpoint => simple("checkpoint", point),
        Operator::Jvp => second(call("jvp", vec![function, tuple(vec![point, next()])])),
        Operator::JvpAlong => {
            let p = Name::new("p0");
            let scaled = call("scale", vec![literal(&GenValue::Real(0.5)), var(p)]);
            let derivative = second(call("jvp", vec![function, tuple(vec![var(p), scaled])]));
            let_in(Target::Pattern(var_pattern(p)), point, derivative)
        }
        Operator::Vjp | Operator::Linearize => {
            let (name, map) = if operator == Operator::Vjp { ("vjp", "back") } else { ("linearize", "lin") };
            let wildcard = build::pattern_of(PatternKind::Wildcard);
            let pair = Target::Pattern(tuple_pattern(vec![wildcard, var_pattern(Name::new(map))]));
            let applied = call(map, vec![next()]);
            let_in(pair, simple(name, point), applied)
        }
        Operator::Taylor(order) => {
            let order = u64::from(order);
            let all = call("taylor", vec![int(order), function, point]);
            index(build::paren(all), int(order))
        }
        Operator::Pullback => {
            let form = lambda(vec![build::pattern_of(PatternKind::Wildcard)], call("to_dual", vec![next()]));
            let dual = call("pullback", vec![function, form, point]);
            call("apply_dual", vec![dual, next()])
        }
    }
}

/// `let f … = … in body`
fn template_binding(name: Name, template: Template, body: Expr) -> Expr {
    let (f, y, z) = (Name::new("f"), Name::new("y"), Name::new("z"));
    let apply = || app(var(f), vec![var(y)]);
    let (params, value): (&[Name], Expr) = match template {
        Template::Identity => (&[y], var(y)),
        Template::Constant => (&[y, z], var(y)),
        Template::Twice => (&[f, y], app(var(f), vec![apply()])),
        Template::Apply => (&[f, y], apply()),
        Template::Double => (&[y], tuple(vec![var(y), var(y)])),
    };
    let_fun(name, params.iter().map(|param| var_pattern(*param)).collect(), value, body)
}

/// `custom_jvp sin (\(x, t) -> (sin x, cos x * t)) e`, or `custom_vjp cos (\x -> (cos x, \t -> -(sin x) * t)) e`.
fn custom_rule(vjp: bool, arg: Expr) -> Expr {
    let (x, t) = (Name::new("x"), Name::new("t"));
    let at_x = |name: &str| call(name, vec![var(x)]);
    if vjp {
        let back = lambda(vec![var_pattern(t)], binary(BinOp::Mul, build::negated(at_x("sin")), var(t)));
        let rule = lambda(vec![var_pattern(x)], tuple(vec![at_x("cos"), back]));
        return call("custom_vjp", vec![var(Name::new("cos")), rule, arg]);
    }
    let value = tuple(vec![at_x("sin"), binary(BinOp::Mul, at_x("cos"), var(t))]);
    let rule = lambda(vec![tuple_pattern(vec![var_pattern(x), var_pattern(t)])], value);
    call("custom_jvp", vec![var(Name::new("sin")), rule, arg])
}

/// `custom_jvp (\p -> e) (jvp (\p -> e)) x`
fn own_rule(vjp: bool, wrong: bool, param: Pattern, [body, point]: [Expr; 2]) -> Expr {
    let function = lambda(vec![param], body);
    let (custom, derivative) = if vjp { ("custom_vjp", "vjp") } else { ("custom_jvp", "jvp") };
    let rule = if wrong {
        threefold(vjp, derivative, function.clone())
    } else {
        call(derivative, vec![function.clone()])
    };
    call(custom, vec![function, rule, point])
}

/// `\q -> (\(y, d) -> (y, scale 3.0 d)) (jvp f q)`, or `\q -> (\(y, d) -> (y, \w -> scale 3.0 (d w))) (vjp f q)`
fn threefold(vjp: bool, derivative: &str, function: Expr) -> Expr {
    let [q, y, d, w] = ["q", "y", "d", "w"].map(Name::new);
    let scaled = |of: Expr| call("scale", vec![literal(&GenValue::Real(3.0)), of]);
    let given =
        if vjp { lambda(vec![var_pattern(w)], scaled(app(var(d), vec![var(w)]))) } else { scaled(var(d)) };
    let pair = vec![var_pattern(y), var_pattern(d)];
    let both = lambda(vec![tuple_pattern(pair)], tuple(vec![var(y), given]));
    let found = call(derivative, vec![function, var(q)]);
    lambda(vec![var_pattern(q)], app(both, vec![found]))
}

/// `type List a = Nil | Cons a (List a)`
pub(crate) fn lower_decl(decl: &DataDecl) -> TypeDecl {
    let ctors = decl.ctors.iter().map(|(name, fields)| CtorDecl {
        name: ident(*name),
        fields: fields.iter().map(|field| build::type_atom(ty_expr(field))).collect(),
        span: Span::NOWHERE,
    });
    TypeDecl {
        name: ident(decl.name),
        params: if decl.has_param { vec![ident(Name::new("a"))] } else { Vec::new() },
        ctors: ctors.collect(),
        span: Span::NOWHERE,
    }
}

/// Constructor patterns stand in parentheses as parameters and fields.
pub(crate) fn lower_params(params: &[(Name, GenType, bool)]) -> Vec<Pattern> {
    let param = |(name, ty, is_annotated): &(Name, GenType, bool)| {
        if *is_annotated { typed_param(&GenPat::Var(*name, ty.clone()), ty) } else { var_pattern(*name) }
    };
    params.iter().map(param).collect()
}

/// A generated pattern as a surface pattern; see [`ctor_pattern`] for parentheses.
pub(crate) fn lower_pattern_fields(name: Name, fields: &[GenPat]) -> Pattern {
    ctor_pattern(name, fields.iter().map(pattern).collect())
}
