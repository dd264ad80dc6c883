//! Layout of expressions.
//!
//! Parentheses are added only where a tree without text needs them (see [`super::parens`]).

use super::doc::{Op, WIDTH, flat_width};
use super::parens::{ANYWHERE, CLOSED, Follow, Place, needs_parens, right_part};
use super::printer::Printer;
use crate::ast::{Arm, BinOp, Binding, Expr, ExprKind, Ident, Literal, Pattern, Target};
use crate::precedence::{LOWEST, POWER, Side, binding};
use crate::token::TokenKind;

/// Indentation of what belongs to the line above.
const STEP: usize = 2;
/// A `match`, `if` or `let` is written on one line only if it is at most so wide.
const WIDEST_MATCH: usize = 64;
const WIDEST_IF: usize = 80;
const WIDEST_CHAIN: usize = 64;
const WIDEST_LET: usize = 60;
/// Other groups are limited by the line only.
const ANY: usize = usize::MAX;
/// The last argument may hang on the line of the function if what stands before it is at most so wide.
const WIDEST_BEFORE_HANGING: usize = 60;

/// Whether the expression hangs on the line of what introduces it, its last line closing it.
fn hangs(expr: &Expr) -> bool {
    if let ExprKind::Paren(inner) = &expr.kind {
        return matches!(inner.kind, ExprKind::Lambda { .. } | ExprKind::Match { .. });
    }
    is_listing(expr) || matches!(expr.kind, ExprKind::Lambda { .. })
}

/// Whether the expression has brackets that may stand on lines of their own.
fn is_listing(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Array(_) | ExprKind::Record(_) | ExprKind::Update { .. })
}

fn is_let(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Let { .. } | ExprKind::LetRec { .. })
}

fn is_function(expr: &Expr) -> bool {
    if let ExprKind::Paren(inner) = &expr.kind {
        return is_function(inner);
    }
    matches!(expr.kind, ExprKind::Lambda { .. })
}

impl Printer<'_> {
    /// An expression with nothing around it.
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.expr_at(expr, ANYWHERE);
    }

    fn expr_at(&mut self, expr: &Expr, place: Place) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            if self.cursor.is_none() && needs_parens(expr, place) {
                self.token(TokenKind::LeftParen);
                self.indented(1, |printer| printer.bare(expr, Follow::Nothing));
                self.token(TokenKind::RightParen);
            } else {
                self.bare(expr, place.follow);
            }
        });
    }

    /// An expression without parentheses around it.
    fn bare(&mut self, expr: &Expr, follow: Follow) {
        match &expr.kind {
            ExprKind::Var(name) => self.name(*name),
            ExprKind::Ctor(path) => self.path(path),
            ExprKind::Lit(literal) => self.literal(literal),
            ExprKind::Op(op) => {
                self.token(TokenKind::LeftParen);
                self.token(TokenKind::Op(*op));
                self.token(TokenKind::RightParen);
            }
            ExprKind::Lambda { params, body } => self.lambda(params, body, follow),
            ExprKind::App { func, args } => self.application(func, args),
            ExprKind::Binary { .. } => self.chain(expr, follow),
            ExprKind::Neg(inner) => self.negation(inner, follow),
            ExprKind::If { otherwise, .. } => {
                let chain = matches!(otherwise.kind, ExprKind::If { .. });
                self.group(if chain { WIDEST_CHAIN } else { WIDEST_IF }, |printer| {
                    printer.if_expr(expr, follow)
                });
            }
            ExprKind::Match { scrutinee, arms } => self.match_expr(scrutinee, arms, follow, WIDEST_MATCH),
            ExprKind::Let { .. } | ExprKind::LetRec { .. } => self.lets(expr, follow, false),
            ExprKind::Tuple(elements) => self.tuple(elements),
            ExprKind::Array(elements) => self.array(elements),
            ExprKind::Record(fields) => self.record(None, fields),
            ExprKind::Update { base, fields } => self.record(Some(base), fields),
            ExprKind::Field { base, field } => {
                self.base(base);
                self.token(TokenKind::Dot);
                self.ident(*field);
            }
            ExprKind::Index { base, indices } => {
                self.base(base);
                self.token(TokenKind::LeftBracket);
                self.group(ANY, |printer| printer.indented(STEP, |printer| printer.comma_separated(indices)));
                self.token(TokenKind::RightBracket);
            }
            ExprKind::Annot { expr: inner, ty } => {
                let parens = self.opens_own_paren(expr.span, inner.span);
                self.opening_if(parens);
                self.expr(inner);
                self.space();
                self.token(TokenKind::Colon);
                self.space();
                self.ty(ty);
                self.closing_if(parens);
            }
            ExprKind::Paren(inner) => self.paren(inner),
            ExprKind::Error => self.token(TokenKind::Underscore),
        }
    }

    /// What `.field` and `[index]` follow. `1.x` would be read as a number, `Nil.x` as a name of a module.
    fn base(&mut self, base: &Expr) {
        let unclear = matches!(base.kind, ExprKind::Lit(_) | ExprKind::Ctor(_));
        self.closed(base, unclear);
    }

    /// An operand without operators, in parentheses if `unclear`.
    fn closed(&mut self, expr: &Expr, unclear: bool) {
        let parens = unclear && self.cursor.is_none();
        self.opening_if(parens);
        self.expr_at(expr, CLOSED);
        self.closing_if(parens);
    }

    pub(super) fn opening_if(&mut self, parens: bool) {
        if parens {
            self.token(TokenKind::LeftParen);
        }
    }

    pub(super) fn closing_if(&mut self, parens: bool) {
        if parens {
            self.token(TokenKind::RightParen);
        }
    }

    /// Whether the parentheses around an annotation are its own: inside a tuple it needs none.
    pub(super) fn opens_own_paren(&self, whole: wengert_base::Span, inner: wengert_base::Span) -> bool {
        self.cursor.is_none() || whole.start != inner.start
    }

    /// What follows `=`, `->` or `in`: on the same line if it fits, else indented on the next. A `let` always has lines
    /// of its own.
    pub(super) fn body(&mut self, body: &Expr, follow: Follow) {
        let place = Place { least: LOWEST, follow };
        if is_let(body) && !needs_parens(body, place) {
            self.indented(STEP, |printer| {
                printer.push(Op::Hardline);
                printer.lets(body, follow, true);
            });
        } else {
            self.short_body(body, place);
        }
    }

    /// As `body`, but a short `let` may stay on the line. An array or a record that does not fit even on a line of its
    /// own hangs on the line where it begins.
    fn short_body(&mut self, body: &Expr, place: Place) {
        let start = self.ops.len();
        let may_hang = is_listing(body) && !self.after_comment();
        self.group(ANY, |printer| {
            printer.indented(STEP, |printer| {
                printer.line();
                printer.expr_at(body, place);
            });
        });
        if !may_hang {
            return;
        }
        let written = self.ops.get(start..).unwrap_or(&[]);
        let fits = self.indent + STEP + flat_width(written) <= WIDTH && !written.iter().any(Op::breaks);
        if !fits && let [begin, indent, line, .., dedent, end] = self.ops.get_mut(start..).unwrap_or(&mut [])
        {
            let nothing = Op::Text("".into());
            *line = Op::Text(" ".into());
            (*begin, *indent, *dedent, *end) = (nothing.clone(), nothing.clone(), nothing.clone(), nothing);
        }
    }

    fn lambda(&mut self, params: &[Pattern], body: &Expr, follow: Follow) {
        self.token(TokenKind::Lambda);
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.space();
            }
            self.atom_pattern(param);
        }
        self.space();
        self.token(TokenKind::Arrow);
        self.short_body(body, Place { least: LOWEST, follow });
    }

    fn negation(&mut self, inner: &Expr, follow: Follow) {
        self.token(TokenKind::Op(BinOp::Sub));
        if matches!(inner.kind, ExprKind::Neg(_)) {
            // Two dashes would begin a comment.
            self.space();
        }
        self.expr_at(inner, Place { least: POWER, follow });
    }

    fn application(&mut self, func: &Expr, args: &[Expr]) {
        let Some((last, before)) = args.split_last() else { return };
        let start = self.ops.len();
        self.push(Op::Begin(ANY));
        self.closed(func, matches!(func.kind, ExprKind::Lit(_)));
        self.push(Op::Indent(STEP));
        self.indent += STEP;
        for arg in before {
            self.line();
            self.expr_at(arg, CLOSED);
        }
        let written = self.ops.get(start..).unwrap_or(&[]);
        let hanging = hangs(last)
            && !before.iter().any(is_function)
            && flat_width(written) <= WIDEST_BEFORE_HANGING
            && !written.iter().any(|op| op.breaks());
        if hanging {
            self.indent -= STEP;
            self.push(Op::Dedent);
            self.push(Op::End);
            self.space();
            self.expr_at(last, CLOSED);
        } else {
            self.line();
            self.expr_at(last, CLOSED);
            self.indent -= STEP;
            self.push(Op::Dedent);
            self.push(Op::End);
        }
    }

    /// A chain of operators of the same strength, one operand on a line if it is broken.
    fn chain(&mut self, expr: &Expr, follow: Follow) {
        let ExprKind::Binary { op, .. } = &expr.kind else { return };
        let (level, side) = binding(*op);
        let (first, rest) = flatten(expr, level, side);
        let (left_least, right_least) = match side {
            Side::Left => (level, level + 1),
            Side::Right => (level + 1, level),
            Side::Neither => (level + 1, level + 1),
        };
        let pipeline = matches!(op, BinOp::Pipe | BinOp::Compose);
        let count = rest.len();
        self.group(ANY, |printer| {
            let follow_first = if count == 0 { follow } else { Follow::Operator };
            printer.expr_at(first, Place { least: left_least, follow: follow_first });
            printer.indented(if pipeline { 0 } else { STEP }, |printer| {
                for (index, (op, operand)) in rest.iter().enumerate() {
                    printer.line();
                    printer.token(TokenKind::Op(*op));
                    printer.space();
                    let last = index + 1 == count;
                    let least = if side == Side::Right && !last { level + 1 } else { right_least };
                    let follow = if last { follow } else { Follow::Operator };
                    printer.expr_at(operand, Place { least, follow });
                }
            });
        });
    }

    /// `if c then a else if d then b else e`, each part on a line of its own or all on one.
    fn if_expr(&mut self, expr: &Expr, follow: Follow) {
        let mut current = expr;
        while let ExprKind::If { cond, then, otherwise } = &current.kind {
            self.token(TokenKind::If);
            self.space();
            self.indented(STEP, |printer| printer.expr(cond));
            self.space();
            self.token(TokenKind::Then);
            self.branch(then, Follow::Nothing);
            self.line();
            self.token(TokenKind::Else);
            if !matches!(otherwise.kind, ExprKind::If { .. }) || self.after_comment() {
                self.branch(otherwise, follow);
                return;
            }
            self.space();
            current = otherwise;
        }
    }

    fn branch(&mut self, branch: &Expr, follow: Follow) {
        self.short_body(branch, Place { least: LOWEST, follow });
    }

    fn match_expr(&mut self, scrutinee: &Expr, arms: &[Arm], follow: Follow, widest: usize) {
        self.group(widest, |printer| {
            printer.token(TokenKind::Match);
            printer.space();
            printer.indented(STEP, |printer| printer.expr(scrutinee));
            printer.space();
            printer.token(TokenKind::With);
            for (index, arm) in arms.iter().enumerate() {
                printer.line();
                let last = index + 1 == arms.len();
                printer.arm(arm, if last { follow } else { Follow::Arm });
            }
        });
    }

    fn arm(&mut self, arm: &Arm, follow: Follow) {
        self.token(TokenKind::Bar);
        self.space();
        self.indented(STEP, |printer| printer.pattern(&arm.pattern));
        self.space();
        self.token(TokenKind::Arrow);
        if let ExprKind::Match { scrutinee, arms } = &arm.body.kind
            && !needs_parens(&arm.body, Place { least: LOWEST, follow })
        {
            // On one line its arms could be mistaken for arms of the outer match.
            self.indented(STEP, |printer| {
                printer.push(Op::Hardline);
                printer.match_expr(scrutinee, arms, follow, 0);
            });
        } else {
            self.body(&arm.body, follow);
        }
    }

    /// A chain of `let`s, one on a line; a single short one may stand on one line unless it must be `broken`.
    fn lets(&mut self, expr: &Expr, follow: Follow, broken: bool) {
        let several = matches!(&expr.kind, ExprKind::LetRec { bindings, .. } if bindings.len() > 1)
            || right_part(expr).is_some_and(is_let);
        self.group(WIDEST_LET, |printer| {
            let mut rest = expr;
            while let Some(body) = printer.let_head(rest) {
                if is_let(body) {
                    printer.hard_line();
                    rest = body;
                    continue;
                }
                if broken || several {
                    printer.hard_line();
                } else {
                    printer.line();
                }
                printer.token(TokenKind::In);
                printer.body(body, follow);
                return;
            }
        });
    }

    /// `let` with its bindings; gives the body. None for anything else.
    fn let_head<'e>(&mut self, expr: &'e Expr) -> Option<&'e Expr> {
        if let ExprKind::LetRec { bindings, body } = &expr.kind {
            self.let_rec(bindings);
            return Some(body);
        }
        let ExprKind::Let { binding, body } = &expr.kind else { return None };
        self.token(TokenKind::Let);
        self.space();
        self.binding(binding);
        Some(body)
    }

    fn let_rec(&mut self, bindings: &[Binding]) {
        self.token(TokenKind::Let);
        self.space();
        self.token(TokenKind::Rec);
        self.space();
        for (index, binding) in bindings.iter().enumerate() {
            if index > 0 {
                self.hard_line();
                self.token(TokenKind::And);
                self.space();
            }
            self.binding(binding);
        }
    }

    fn binding(&mut self, binding: &Binding) {
        match &binding.target {
            Target::Function { name, params } => {
                self.ident(*name);
                self.params(params);
            }
            Target::Pattern(pattern) => self.pattern(pattern),
        }
        self.result_type(binding.result.as_ref());
        self.space();
        self.token(TokenKind::Equals);
        self.body(&binding.value, Follow::Nothing);
    }

    fn comma_separated(&mut self, elements: &[Expr]) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.comma();
                self.line();
            }
            self.expr(element);
        }
        self.closing_comments();
    }

    fn tuple(&mut self, elements: &[Expr]) {
        self.token(TokenKind::LeftParen);
        self.group(ANY, |printer| printer.indented(1, |printer| printer.comma_separated(elements)));
        self.token(TokenKind::RightParen);
    }

    /// An array; one of simple elements fills its lines.
    fn array(&mut self, elements: &[Expr]) {
        let fill = elements.iter().all(is_simple);
        self.group(ANY, |printer| {
            printer.token(TokenKind::LeftBracket);
            printer.indented(STEP, |printer| {
                for (index, element) in elements.iter().enumerate() {
                    let last = index + 1 == elements.len();
                    let write = |printer: &mut Self| {
                        if index > 0 {
                            printer.line();
                        } else {
                            printer.soft_line();
                        }
                        printer.expr(element);
                        if !last {
                            printer.comma();
                        }
                    };
                    if fill && index > 0 { printer.group(ANY, write) } else { write(printer) }
                }
                printer.closing_comments();
            });
            if !elements.is_empty() {
                printer.soft_line();
            }
            printer.token(TokenKind::RightBracket);
        });
    }

    /// `{x = 1.0}` or `{base with x = 1.0}`.
    fn record(&mut self, base: Option<&Expr>, fields: &[(Ident, Expr)]) {
        self.group(ANY, |printer| {
            printer.token(TokenKind::LeftBrace);
            if let Some(base) = base {
                let start = printer.ops.len();
                printer.expr(base);
                // `{-` would be taken for the beginning of a comment in the style of Haskell.
                let minus = Op::Text(TokenKind::Op(BinOp::Sub).text().into());
                if printer.ops.iter().skip(start).find(|op| matches!(op, Op::Text(_))) == Some(&minus) {
                    printer.ops.insert(start, Op::Text(" ".into()));
                }
                printer.space();
                printer.token(TokenKind::With);
            }
            printer.indented(STEP, |printer| {
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 || base.is_some() {
                        printer.line();
                    } else {
                        printer.soft_line();
                    }
                    printer.ident(*name);
                    printer.space();
                    printer.token(TokenKind::Equals);
                    printer.body(value, Follow::Nothing);
                    if index + 1 < fields.len() {
                        printer.comma();
                    }
                }
                printer.closing_comments();
            });
            if !fields.is_empty() {
                printer.soft_line();
            }
            printer.token(TokenKind::RightBrace);
        });
    }

    fn paren(&mut self, inner: &Expr) {
        self.token(TokenKind::LeftParen);
        if matches!(inner.kind, ExprKind::Lambda { .. }) {
            self.expr(inner);
        } else {
            self.indented(1, |printer| printer.expr(inner));
        }
        self.token(TokenKind::RightParen);
    }
}

/// The first operand of a chain, and the others with the operators before them.
fn flatten(expr: &Expr, level: u8, side: Side) -> (&Expr, Vec<(BinOp, &Expr)>) {
    let mut rest = Vec::new();
    let mut current = expr;
    if side == Side::Right {
        let mut first = None;
        let mut pending = None;
        while let ExprKind::Binary { op, lhs, rhs, .. } = &current.kind
            && binding(*op).0 == level
        {
            match pending.replace(*op) {
                Some(before) => rest.push((before, &**lhs)),
                None => first = Some(&**lhs),
            }
            current = rhs;
        }
        rest.extend(pending.map(|op| (op, current)));
        return (first.unwrap_or(expr), rest);
    }
    let mut steps = 0;
    while let ExprKind::Binary { op, lhs, rhs, .. } = &current.kind
        && binding(*op).0 == level
        && (side == Side::Left || steps == 0)
    {
        rest.push((*op, &**rhs));
        current = lhs;
        steps += 1;
    }
    rest.reverse();
    (current, rest)
}

/// Whether many of these may stand on one line of an array.
fn is_simple(expr: &Expr) -> bool {
    if let ExprKind::Neg(inner) = &expr.kind {
        return is_simple(inner);
    }
    let is_string = matches!(expr.kind, ExprKind::Lit(Literal::String(_)));
    matches!(expr.kind, ExprKind::Var(_) | ExprKind::Ctor(_) | ExprKind::Lit(_)) && !is_string
}
