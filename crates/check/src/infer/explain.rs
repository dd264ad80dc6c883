//! From a clash of types to a message: picks the kind of error that fits the reason for the demand, and the advice that
//! fits both types.

use super::apply::is_gradient;
use super::{Infer, Why};
use crate::errors::{Mismatch, derivatives, sizes, types};
use crate::scope::{Found, Value, ascii_name};
use crate::show::Shower;
use crate::ty::{Rest, RowTy, Source, Ty};
use crate::unify::Clash;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::Pred;
use wengert_syntax::ast::{BinOp, Expr, ExprKind};

impl Infer<'_> {
    /// A type as text.
    pub(crate) fn show(&self, ty: &Ty) -> String {
        Shower::new(&self.store).show(ty)
    }

    /// Two types with common names.
    pub(crate) fn show_pair(&self, a: &Ty, b: &Ty) -> (String, String) {
        let mut shower = Shower::new(&self.store);
        (shower.show(a), shower.show(b))
    }

    /// Reports that `expr` has type `got` where `want` was demanded.
    pub(crate) fn explain(&mut self, expr: &Expr, want: &Ty, got: &Ty, why: &Why, clash: Clash) {
        if let Clash::Exhausted = clash {
            return self.report_exhausted();
        }
        if let Some(diagnostic) = self.derivative_trouble(expr, want, got, why) {
            return self.report(diagnostic);
        }
        if let Some(literal) = self.literal_behind(&clash) {
            // A literal against something else: that it is a number says more than its predicate.
            if literal == expr.span {
                let diagnostic = self.mismatch(expr, want, &Ty::Error, why, false);
                return self.report(diagnostic);
            }
            if !within(expr.span, literal) && self.is_all_of(&clash, got) {
                let diagnostic = self.mismatch(expr, &Ty::Error, got, why, false);
                return self.report(diagnostic);
            }
        }
        if let Some(diagnostic) = self.explain_common(&clash, expr.span) {
            let diagnostic = self.with_reason(diagnostic, why);
            let diagnostic = match self.number_missing_arguments(&clash, expr, got, why) {
                Some(advice) => diagnostic.help(advice),
                None => diagnostic,
            };
            return self.report(diagnostic);
        }
        let diagnostic = self.mismatch(expr, want, got, why, matches!(clash, Clash::Infinite));
        self.report(diagnostic);
    }

    /// The place of the literal that demanded a number, if that demand is what failed.
    fn literal_behind(&self, clash: &Clash) -> Option<Span> {
        match clash {
            Clash::Pred { pred: Pred::Num, origin, .. } => {
                let origin = self.store.origin_of(*origin);
                (origin.source == Source::Literal).then_some(origin.span)
            }
            Clash::Pred { .. }
            | Clash::Shape
            | Clash::Infinite
            | Clash::Size(..)
            | Clash::TooGeneral { .. }
            | Clash::SameVars(..)
            | Clash::Field
            | Clash::Exhausted => None,
        }
    }

    /// Whether the type that fails a predicate is all of `got`, not a part of it.
    fn is_all_of(&self, clash: &Clash, got: &Ty) -> bool {
        let mut shower = Shower::new(&self.store);
        matches!(clash, Clash::Pred { ty, .. } if shower.show(ty) == shower.show(got))
    }

    /// Advice where a number is needed and something stands that gives one only after more arguments, or where arguments
    /// stand in a tuple.
    fn number_missing_arguments(&self, clash: &Clash, expr: &Expr, got: &Ty, why: &Why) -> Option<String> {
        if !matches!(clash, Clash::Pred { pred: Pred::Num, .. }) {
            return None;
        }
        let subtracted = match clash {
            Clash::Pred { origin, .. } => {
                self.store.origin_of(*origin).source == Source::Function(Name::new("-"))
            }
            Clash::Shape
            | Clash::Infinite
            | Clash::Size(..)
            | Clash::TooGeneral { .. }
            | Clash::SameVars(..)
            | Clash::Field
            | Clash::Exhausted => false,
        };
        let got = self.store.shallow(got);
        match got {
            Ty::Fun(..) if subtracted => {
                let advice = self.missing_arguments(expr, &Ty::Real, &got)?;
                Some(format!("{advice}; a negative argument stands in parentheses, `f (-1)`"))
            }
            Ty::Fun(..) => self.missing_arguments(expr, &Ty::Real, &got),
            Ty::Tuple(_) => self.one_after_the_other(expr, why),
            Ty::Real
            | Ty::Int
            | Ty::Bool
            | Ty::String
            | Ty::Record(_)
            | Ty::Array(..)
            | Ty::Data(..)
            | Ty::Dual(_)
            | Ty::Meta(_)
            | Ty::Rigid(_)
            | Ty::Error => None,
        }
    }

    /// Reports a demand that failed only when a definition was generalized.
    pub(crate) fn explain_late(&mut self, clash: &Clash) {
        let span = match clash {
            Clash::Pred { origin, .. } => self.store.origin_of(*origin).span,
            Clash::Shape
            | Clash::Infinite
            | Clash::Size(..)
            | Clash::TooGeneral { .. }
            | Clash::SameVars(..)
            | Clash::Field
            | Clash::Exhausted => self.current_span,
        };
        match self.explain_common(clash, span) {
            Some(diagnostic) => self.report(diagnostic),
            None => self.report_exhausted(),
        }
    }

    /// Clashes that are explained alike wherever they happen.
    pub(crate) fn explain_common(&mut self, clash: &Clash, span: Span) -> Option<Diagnostic> {
        match clash {
            Clash::Shape | Clash::Field => None,
            Clash::Exhausted => {
                self.report_exhausted();
                None
            }
            Clash::Infinite => None,
            Clash::Size(a, b) => Some(sizes::contradiction(span, *a, *b)),
            Clash::TooGeneral { user, ty } => {
                let shown = self.show(ty);
                Some(types::annotation_too_general(user.name, user.span, span, &shown))
            }
            Clash::SameVars(x, y) => Some(types::variables_must_agree(x.name, x.span, y.name, y.span, span)),
            Clash::Pred { pred, ty, origin } => {
                let origin = self.store.origin_of(*origin);
                let shown = self.show(ty);
                Some(self.predicate_trouble(*pred, ty, &shown, origin.source, origin.span, span))
            }
        }
    }

    fn predicate_trouble(
        &self,
        pred: Pred,
        ty: &Ty,
        shown: &str,
        source: Source,
        demanded: Span,
        span: Span,
    ) -> Diagnostic {
        let function = match source {
            Source::Literal => return types::number_where_other(demanded, span, shown),
            Source::Function(name) => name,
        };
        let head = self.store.shallow(ty);
        match pred {
            Pred::Num => types::not_a_number(function, demanded, span, shown, number_advice(function, &head)),
            Pred::Ord => types::not_ordered(function, demanded, span, shown),
            Pred::Data | Pred::Tangent if is_derivative(function) => {
                derivatives::not_first_order(function, demanded, span, shown)
            }
            Pred::Data | Pred::Tangent => types::not_first_order(function, demanded, span, shown),
            Pred::Smooth => derivatives::nothing_to_differentiate(function, demanded, span, shown),
        }
    }

    fn with_reason(&self, diagnostic: Diagnostic, why: &Why) -> Diagnostic {
        match why {
            Why::Annotation(span) if !mentions(&diagnostic, *span) => {
                diagnostic.also(*span, "this annotation demands it")
            }
            Why::Result { span, .. } if !mentions(&diagnostic, *span) => {
                diagnostic.also(*span, "the result is annotated here")
            }
            Why::Argument { callee, index, callee_span, .. } if !mentions(&diagnostic, *callee_span) => {
                diagnostic
                    .also(*callee_span, format!("as argument {} of {}", index + 1, function_name(*callee)))
            }
            Why::Annotation(_)
            | Why::Result { .. }
            | Why::Argument { .. }
            | Why::LambdaBody { .. }
            | Why::Operand { .. }
            | Why::Negated
            | Why::Branch(_)
            | Why::Arm(_)
            | Why::Element(_)
            | Why::Condition
            | Why::Index
            | Why::Update(_)
            | Why::Recursion(_) => diagnostic,
        }
    }

    /// Whether the demand comes from a derivative operator of the library.
    pub(crate) fn is_differentiated(&self, why: &Why) -> bool {
        let Why::Argument { callee: Some(callee), .. } = why else { return false };
        is_derivative(*callee)
            && !self.globals.own_values.contains_key(callee)
            && self.local(*callee).is_none()
    }

    /// Mistakes in the use of derivative operators that have an explanation of their own.
    fn derivative_trouble(&mut self, expr: &Expr, want: &Ty, got: &Ty, why: &Why) -> Option<Diagnostic> {
        let Why::Argument { callee: Some(callee), index, callee_span, .. } = *why else { return None };
        if !self.is_differentiated(why) {
            return None;
        }
        let operator = ascii_name(callee);
        let (want, got) = (self.store.shallow(want), self.store.shallow(got));
        let place = if operator.as_str() == "taylor" { 1 } else { 0 };
        if let (true, Ty::Fun(..), Ty::Fun(from, to)) = (index == place, &want, &got) {
            let (from, to) = (self.store.shallow(from), self.store.shallow(to));
            return self.differentiated_trouble(operator, callee, callee_span, expr.span, &from, &to);
        }
        match (operator.as_str(), index, &want, &got) {
            ("jvp", 1, Ty::Tuple(_), _) if !matches!(got, Ty::Tuple(_) | Ty::Meta(_) | Ty::Error) => {
                Some(derivatives::jvp_takes_a_pair(callee_span, expr.span))
            }
            ("custom_jvp" | "custom_vjp", 1, Ty::Fun(..), _) => {
                let (want, got) = self.show_pair(&want, &got);
                Some(derivatives::rule_of_wrong_type(callee, callee_span, expr.span, &want, &got))
            }
            (name, 0, Ty::Fun(..), Ty::Tuple(parts))
                if is_derivative(Name::new(name)) && self.starts_with_function(parts) =>
            {
                Some(derivatives::arguments_in_a_tuple(callee, callee_span, expr.span))
            }
            (name, 0, Ty::Fun(..), _)
                if is_derivative(Name::new(name))
                    && !matches!(got, Ty::Fun(..) | Ty::Meta(_) | Ty::Error) =>
            {
                let shown = self.show(&got);
                Some(derivatives::not_a_function(callee, callee_span, expr.span, &shown))
            }
            _ => None,
        }
    }

    fn starts_with_function(&self, parts: &[Ty]) -> bool {
        parts.first().is_some_and(|first| matches!(self.store.shallow(first), Ty::Fun(..)))
    }

    /// As [`Infer::derivative_trouble`], for a function from `from` to `to` that an operator is to differentiate.
    fn differentiated_trouble(
        &mut self,
        operator: Name,
        callee: Name,
        callee_span: Span,
        span: Span,
        from: &Ty,
        to: &Ty,
    ) -> Option<Diagnostic> {
        let unknown = |ty: &Ty| matches!(ty, Ty::Meta(_) | Ty::Error);
        let operator = operator.as_str();
        if matches!(operator, "derivative" | "taylor") && !matches!(from, Ty::Real) && !unknown(from) {
            let shown = self.show(from);
            return Some(derivatives::input_not_real(callee, callee_span, span, &shown));
        }
        if matches!(operator, "jacfwd" | "jacrev" | "hessian")
            && !matches!(from, Ty::Array(..))
            && !unknown(from)
        {
            let shown = self.show(from);
            return Some(derivatives::input_not_array(callee, callee_span, span, &shown));
        }
        let gradient = matches!(operator, "grad" | "value_and_grad" | "grad_fwd" | "hvp" | "hessian");
        if gradient && !matches!(to, Ty::Real) && !unknown(to) {
            let shown = self.show(to);
            let is_function = matches!(to, Ty::Fun(..));
            return Some(derivatives::result_not_real(callee, callee_span, span, &shown, is_function));
        }
        None
    }

    /// Two types that are built differently.
    fn mismatch(&mut self, expr: &Expr, want: &Ty, got: &Ty, why: &Why, infinite: bool) -> Diagnostic {
        let (mut want_text, mut got_text) = self.show_pair(want, got);
        if matches!(got, Ty::Error) {
            got_text = "a number".to_owned();
        }
        if matches!(want, Ty::Error) {
            want_text = "a number".to_owned();
        }
        let (want, got) = (self.store.shallow(want), self.store.shallow(got));
        let advice = self.advice(expr, &want, &got, why);
        let mismatch = Mismatch { span: expr.span, want: want_text, got: got_text, advice };
        if infinite {
            return types::infinite_type(&mismatch);
        }
        match *why {
            Why::Annotation(span) => types::annotation(mismatch, span),
            Why::Result { name, span } => types::result(mismatch, name, span),
            Why::Argument { callee, index, callee_span, .. } => {
                types::argument(mismatch, callee, index, callee_span)
            }
            Why::LambdaBody { callee, index, callee_span } => {
                types::lambda_body(mismatch, callee, index, callee_span)
            }
            Why::Operand { op: BinOp::Power, other: Some(_) } if matches!(got, Ty::Real) => {
                types::real_exponent(expr.span)
            }
            Why::Operand { op: BinOp::RealPower, .. } if matches!(got, Ty::Int) => {
                types::int_power(expr.span)
            }
            Why::Operand { op, other } => types::operand(mismatch, op.text(), other),
            Why::Negated => types::operand(mismatch, "-", None),
            Why::Branch(then) => types::branches(mismatch, then),
            Why::Arm(first) => types::arms(mismatch, first),
            Why::Element(first) => types::elements(mismatch, first),
            Why::Condition => types::condition(mismatch),
            Why::Index => types::index(mismatch),
            Why::Update(field) => types::update(mismatch, field),
            Why::Recursion(name) => types::recursion(mismatch, name),
        }
    }

    /// What may be meant.
    fn advice(&self, expr: &Expr, want: &Ty, got: &Ty, why: &Why) -> Option<String> {
        let subject = subject(expr);
        match (want, got) {
            (Ty::Real, Ty::Int) => Some(match &subject {
                Some(name) => format!("convert it: `real {name}`"),
                None => "convert it with `real (…)`".into(),
            }),
            (Ty::Int, Ty::Real) if matches!(why, Why::Operand { other: Some(_), .. }) => Some(
                "convert one of them: `real (…)` makes a `Real` of an `Int`, `floor (…)` and `round (…)` an `Int` of a `Real`".into(),
            ),
            (Ty::Int, Ty::Real) => Some(match &subject {
                Some(name) => {
                    format!("convert it: `floor {name}` rounds down, `round {name}` to the nearest")
                }
                None => "convert it: `floor (…)` rounds down, `round (…)` to the nearest".into(),
            }),
            (Ty::String, Ty::Array(..)) if matches!(why, Why::Operand { op: BinOp::Append, .. }) => {
                Some("`++` joins texts; `concat xs ys` joins arrays".into())
            }
            (Ty::Record(want), Ty::Record(got)) => self.field_advice(want, got),
            (Ty::String, Ty::Real | Ty::Int | Ty::Bool) => Some("`show` turns a value into text".into()),
            (_, Ty::Fun(..)) if !matches!(want, Ty::Fun(..)) => {
                self.missing_arguments(expr, want, got).or_else(|| self.other_order(why))
            }
            (Ty::Fun(..), Ty::Array(..) | Ty::Int | Ty::Real | Ty::Error) => self.other_order(why),
            (Ty::Tuple(parts), _) if parts.len() > 1 && matches!(why, Why::Argument { .. }) => Some(format!(
                "it takes {} values as one tuple: `({})`",
                parts.len(),
                vec!["…"; parts.len()].join(", ")
            )),
            (_, Ty::Tuple(_)) if !matches!(want, Ty::Tuple(_)) => self.one_after_the_other(expr, why),
            (Ty::Array(..), Ty::Real | Ty::Int) => Some("an array of one element is written `[x]`".into()),
            (Ty::Data(name, _), _)
                if crate::show::base_name(*name) == "List" && matches!(got, Ty::Array(..)) =>
            {
                Some(
                    "square brackets make arrays; a list is built from its constructors, `Cons x Nil`".into(),
                )
            }
            _ => None,
        }
    }

    /// Which fields are missing in a record, or are too many.
    fn field_advice(&self, want: &RowTy, got: &RowTy) -> Option<String> {
        let (want, got) = (self.store.flat_row(want), self.store.flat_row(got));
        let beyond = |a: &RowTy, b: &RowTy| -> Vec<String> {
            a.fields
                .keys()
                .filter(|name| !b.fields.contains_key(*name))
                .map(|name| format!("`{name}`"))
                .collect()
        };
        let missing = beyond(&want, &got);
        let extra = if matches!(want.rest, Rest::Closed) { beyond(&got, &want) } else { Vec::new() };
        let fields = |names: &[String]| match names {
            [one] => format!("the field {one}"),
            many => format!("the fields {}", many.join(", ")),
        };
        match (missing.as_slice(), extra.as_slice()) {
            ([], []) => None,
            (missing, []) => Some(format!("add {}", fields(missing))),
            ([], extra) => Some(format!(
                "leave out {}: a record with fields that are not asked for is of another type",
                fields(extra)
            )),
            (missing, extra) => {
                Some(format!("it lacks {} and has {} instead", fields(missing), fields(extra)))
            }
        }
    }

    /// The type of a primitive that is applied, if it is not hidden by another definition.
    fn primitive_called(&self, why: &Why) -> Option<(Name, &'static str)> {
        let Why::Argument { callee: Some(callee), .. } = *why else { return None };
        match self.globals.value(callee) {
            Found::One(Value::Prim(prim)) if self.local(callee).is_none() => Some((callee, prim.info().sig)),
            Found::One(_) | Found::Ambiguous(_) | Found::Excused | Found::Nothing => None,
        }
    }

    /// A function where something else is needed, or something else where a function is needed.
    fn other_order(&self, why: &Why) -> Option<String> {
        let (callee, signature) = self.primitive_called(why)?;
        let plain = signature.split_once("=> ").map_or(signature, |(_, ty)| ty).replace("#n", "Int");
        Some(format!("are the arguments in another order? The type of `{callee}` is `{plain}`"))
    }

    /// A tuple for the arguments of a function that takes them one after the other.
    fn one_after_the_other(&self, expr: &Expr, why: &Why) -> Option<String> {
        let Why::Argument { callee: Some(callee), .. } = why else { return None };
        let ExprKind::Tuple(parts) = &expr.kind else { return None };
        let names: Vec<String> = ["x", "y", "z"].iter().take(parts.len()).map(ToString::to_string).collect();
        let is_short = names.len() == parts.len() && parts.len() > 1;
        let takes_one = self.primitive_called(why).is_some_and(|(_, ty)| ty.matches("->").count() < 2);
        (is_short && !takes_one).then(|| {
            format!(
                "if `{callee}` takes these one after the other, write `{callee} {}`, without a tuple",
                names.join(" ")
            )
        })
    }

    fn missing_arguments(&self, expr: &Expr, want: &Ty, got: &Ty) -> Option<String> {
        if is_lambda(expr) {
            return None;
        }
        let mut count = 0;
        let mut rest = got.clone();
        while let Ty::Fun(_, to) = rest {
            count += 1;
            rest = self.store.shallow(&to);
        }
        let plausible =
            std::mem::discriminant(&rest) == std::mem::discriminant(want) || matches!(rest, Ty::Meta(_));
        let name = head(expr).map_or_else(|| "this function".to_owned(), |name| format!("`{name}`"));
        let what = if count == 1 { "1 more argument".to_owned() } else { format!("{count} more arguments") };
        plausible.then(|| format!("{name} needs {what}"))
    }
}

/// Library functions that differentiate a function.
pub(crate) fn is_derivative(name: Name) -> bool {
    is_gradient(name)
        || matches!(
            ascii_name(name).as_str(),
            "vjp" | "jvp" | "linearize" | "pullback" | "hvp" | "taylor" | "custom_vjp" | "custom_jvp"
        )
}

/// Whether `inner` lies in `outer`.
fn within(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// Whether a place is already pointed at.
fn mentions(diagnostic: &Diagnostic, span: Span) -> bool {
    diagnostic.primary.span == span || diagnostic.secondary.iter().any(|label| label.span == span)
}

/// Whether a function is written out.
fn is_lambda(expr: &Expr) -> bool {
    let mut expr = expr;
    while let ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    matches!(expr.kind, ExprKind::Lambda { .. })
}

/// Advice for `f (a, b)` where `f` takes no tuple.
/// The function of an application.
fn head(expr: &Expr) -> Option<String> {
    let mut expr = expr;
    while let ExprKind::App { func: inner, .. } | ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    subject(expr)
}

fn number_advice(function: Name, ty: &Ty) -> Option<String> {
    Some(match (function.as_str(), ty) {
        ("+", Ty::String) => "join texts with `++`".into(),
        ("+", Ty::Array(..)) => "`map2 (+) xs ys` or `add xs ys` adds arrays; `concat xs ys` joins them".into(),
        ("+", Ty::Tuple(_) | Ty::Record(_) | Ty::Data(..)) => "`add` adds tuples, records and arrays".into(),
        ("-", Ty::Array(..)) => "`map2 (-) xs ys` subtracts element by element".into(),
        ("*", Ty::Array(..)) => "`scale c xs` multiplies by a number, `dot xs ys` is the inner product, `map2 (*) xs ys` goes element by element".into(),
        ("*", Ty::Tuple(_) | Ty::Record(_) | Ty::Data(..)) => "`scale c v` multiplies by a number".into(),
        ("/", Ty::Array(..)) => "`map (\\x -> x / c) xs` divides every element".into(),
        ("sum" | "maximum" | "minimum" | "product" | "dot", Ty::Array(..)) => {
            format!("`{function}` takes an array of numbers; `map {function}` goes through the rows")
        }
        ("max" | "min", Ty::Array(..)) => {
            format!("`{function} x y` takes two numbers; `{function}imum xs` goes through an array")
        }
        (_, Ty::Fun(..)) => "a function stands where a number is needed: give it its arguments".into(),
        (_, Ty::String) => "a text is not a number".into(),
        (_, Ty::Bool) => "`if b then 1 else 0` makes a number of a truth value".into(),
        _ => return None,
    })
}

/// The name of a function in a message.
pub(crate) fn function_name(name: Option<Name>) -> String {
    name.map_or_else(|| "the function".to_owned(), |name| format!("`{name}`"))
}

/// A short text for an expression: a variable, or the function of an application.
fn subject(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Var(name) => Some(name.to_string()),
        ExprKind::Ctor(path) => Some(path.name.name.to_string()),
        ExprKind::Paren(inner) => subject(inner),
        ExprKind::Field { base, field } => subject(base).map(|base| format!("{base}.{}", field.name)),
        ExprKind::App { .. } => head(expr).map(|func| format!("({func} …)")),
        ExprKind::Lit(_)
        | ExprKind::Op(_)
        | ExprKind::Lambda { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Neg(_)
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Let { .. }
        | ExprKind::LetRec { .. }
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(_)
        | ExprKind::Update { .. }
        | ExprKind::Index { .. }
        | ExprKind::Annot { .. }
        | ExprKind::Error => None,
    }
}
