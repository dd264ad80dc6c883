//! Reads terms in the notation of the paper, in Unicode or ASCII.
//!
//! ```text
//! file ::= [x : !A, …, a : R ⊢] t
//! t    ::= λx:!A. t | λa:R. t | t + t | t - t | t · t | t / t | t[x:!A := t] | t[⟨x:!A, y:!B⟩ := t] | t t
//!        | x | 1.5 | -1.5 | f(t, …) | ⟨t, …⟩ | [t; …]_A | (t)
//! A    ::= R | R^d | R^⊥ | R^⊥d | A × A | A → A | (A)
//! ```
//!
//! ASCII: `\` for λ, `*` for · and ×, `->`, `<…>`, `|-`, `R^bot`. In explicit substitutions the annotation may be left
//! out: it is the type of the substituted term. `[t; …]_A` is the Church list of section 6.1 with results of type A.
//! The reader makes a raw tree first, because in `t[x := u]` the binder comes after its scope.

use super::errors;
use super::lex::{Token, TokenKind, lex};
use super::syntax::{self, Kind, Symbol, Tm, Ty, Var, deep};
use super::types;
use rustc_hash::FxHashMap;
use wengert_base::{Diagnostic, SourceId, Span};
use wengert_prim::RealOp;

/// Deeper terms are refused.
const DEPTH: u32 = 4000;

/// Reads and type-checks a term; its free variables are those declared before `⊢`.
pub fn parse(source: SourceId, text: &str) -> Result<(Tm, Ty), Diagnostic> {
    let tokens = lex(source, text)?;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        depth: 0,
        end: Span::new(source, text.len() as u32, text.len() as u32),
    };
    let mut scope = Scope { names: FxHashMap::default(), spans: FxHashMap::default() };
    if tokens.iter().any(|token| token.kind == TokenKind::Turnstile) {
        while !reader.eat(&TokenKind::Turnstile) {
            let binder = reader.binder()?;
            let var = binder.declared()?;
            scope.names.entry(binder.name).or_default().push(var);
            if !reader.eat(&TokenKind::Comma) && reader.peek() != Some(&TokenKind::Turnstile) {
                return Err(reader.unexpected("`,` or `⊢`"));
            }
        }
    }
    let raw = reader.term()?;
    if reader.peek().is_some() {
        return Err(reader.unexpected("the end of the term"));
    }
    let tm = scope.elaborate(&raw)?;
    let linear = syntax::free_vars(&tm).into_iter().find(|x| x.linear);
    let ty = types::judge(&tm, linear.as_ref()).map_err(|error| scope.type_error(&error, raw.span))?;
    Ok((tm, ty))
}

struct Raw {
    kind: RawKind,
    span: Span,
    depth: u32,
}

struct Binder {
    name: String,
    span: Span,
    annotation: Option<(bool, Ty)>,
}

impl Binder {
    fn var(&self, linear: bool, ty: Ty) -> Var {
        if linear { Var::linear(self.name.as_str()) } else { Var::exponential(self.name.as_str(), ty) }
    }

    fn declared(&self) -> Result<Var, Diagnostic> {
        match &self.annotation {
            Some((true, ty)) if *ty != Ty::Real => Err(errors::not_linear(
                self.span,
                format!(
                    "the linear variable `{}` must be of type R; write `!` for an exponential one",
                    self.name
                ),
            )),
            Some((linear, ty)) => Ok(self.var(*linear, ty.clone())),
            None => Err(errors::ill_typed(
                self.span,
                format!("the variable `{0}` needs its type, `{0}:!A` or `{0}:R`", self.name),
            )),
        }
    }
}

enum RawKind {
    Name(String),
    Num(f64),
    Lam(Binder, Box<Raw>),
    App(Box<Raw>, Box<Raw>),
    Tuple(Vec<Raw>),
    List(Vec<Raw>, Ty),
    Sub(Box<Raw>, Vec<Binder>, Box<Raw>),
    Call(String, Vec<Raw>),
    Infix(RealOp, Box<Raw>, Box<Raw>),
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    end: Span,
}

type Read<T> = Result<T, Diagnostic>;

impl Reader<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    fn eat(&mut self, kind: &TokenKind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: TokenKind) -> Read<()> {
        if self.eat(&kind) { Ok(()) } else { Err(self.unexpected(&kind.text())) }
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = self.peek().map_or_else(|| "the end of the text".to_owned(), TokenKind::text);
        errors::syntax(self.span(), &found, expected)
    }

    fn node(&self, kind: RawKind, start: Span) -> Read<Raw> {
        let below = match &kind {
            RawKind::Name(_) | RawKind::Num(_) => 0,
            RawKind::Lam(_, t) => t.depth,
            RawKind::App(t, u) | RawKind::Sub(t, _, u) | RawKind::Infix(_, t, u) => t.depth.max(u.depth),
            RawKind::Tuple(ts) | RawKind::Call(_, ts) => {
                ts.iter().map(|t| t.depth).max().unwrap_or(0).saturating_add(ts.len() as u32)
            }
            RawKind::List(ts, _) => {
                ts.iter().map(|t| t.depth).max().unwrap_or(0).saturating_add(2 * ts.len() as u32)
            }
        };
        let end = self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(start, |token| token.span);
        let span = start.to(end);
        if below >= DEPTH {
            return Err(errors::too_deep(span, DEPTH as usize));
        }
        Ok(Raw { kind, span, depth: below + 1 })
    }

    fn term(&mut self) -> Read<Raw> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(errors::too_deep(self.span(), DEPTH as usize));
        }
        let read = deep(|| self.sum());
        self.depth -= 1;
        read
    }

    fn sum(&mut self) -> Read<Raw> {
        let start = self.span();
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Some(TokenKind::Plus) => RealOp::Add,
                Some(TokenKind::Minus) => RealOp::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product()?;
            left = self.node(RawKind::Infix(op, Box::new(left), Box::new(right)), start)?;
        }
    }

    fn product(&mut self) -> Read<Raw> {
        let start = self.span();
        let mut left = self.substituted()?;
        loop {
            let op = match self.peek() {
                Some(TokenKind::Times) => RealOp::Mul,
                Some(TokenKind::Slash) => RealOp::Div,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.substituted()?;
            left = self.node(RawKind::Infix(op, Box::new(left), Box::new(right)), start)?;
        }
    }

    fn substituted(&mut self) -> Read<Raw> {
        let start = self.span();
        if self.peek() == Some(&TokenKind::Minus) {
            return self.negative();
        }
        let mut t = self.application()?;
        while self.at_substitution() {
            self.expect(TokenKind::OpenBracket)?;
            let binders = if self.eat(&TokenKind::OpenAngle) {
                let x = self.binder()?;
                self.expect(TokenKind::Comma)?;
                let y = self.binder()?;
                self.expect(TokenKind::CloseAngle)?;
                vec![x, y]
            } else {
                vec![self.binder()?]
            };
            self.expect(TokenKind::Assign)?;
            let u = self.term()?;
            self.expect(TokenKind::CloseBracket)?;
            t = self.node(RawKind::Sub(Box::new(t), binders, Box::new(u)), start)?;
        }
        Ok(t)
    }

    /// `-1` is a numeral, any other `-t` is `negate(t)`.
    fn negative(&mut self) -> Read<Raw> {
        let start = self.span();
        self.expect(TokenKind::Minus)?;
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(errors::too_deep(start, DEPTH as usize));
        }
        let of = deep(|| self.substituted())?;
        self.depth -= 1;
        if let RawKind::Num(r) = of.kind {
            return self.node(RawKind::Num(-r), start);
        }
        self.node(RawKind::Call("negate".to_owned(), vec![of]), start)
    }

    /// Whether `[` opens a substitution rather than a list: then a binder and `:=` follow.
    fn at_substitution(&self) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or(&[]);
        let mut kinds = rest.iter().map(|token| &token.kind);
        if kinds.next() != Some(&TokenKind::OpenBracket) {
            return false;
        }
        match (kinds.next(), kinds.next(), kinds.next(), kinds.next()) {
            (Some(TokenKind::Name(_)), Some(TokenKind::Assign | TokenKind::Colon), ..) => true,
            (Some(TokenKind::OpenAngle), Some(TokenKind::Name(_)), Some(TokenKind::Colon), _) => true,
            (
                Some(TokenKind::OpenAngle),
                Some(TokenKind::Name(_)),
                Some(TokenKind::Comma),
                Some(TokenKind::Name(_)),
            ) => {
                let closing = kinds.next();
                closing == Some(&TokenKind::Colon)
                    || (closing == Some(&TokenKind::CloseAngle) && kinds.next() == Some(&TokenKind::Assign))
            }
            _ => false,
        }
    }

    fn starts_atom(&self) -> bool {
        match self.peek() {
            Some(TokenKind::OpenBracket) => !self.at_substitution(),
            Some(TokenKind::Name(_) | TokenKind::Num(_) | TokenKind::Lambda) => true,
            Some(TokenKind::OpenParen | TokenKind::OpenAngle) => true,
            _ => false,
        }
    }

    fn application(&mut self) -> Read<Raw> {
        let start = self.span();
        let mut t = self.atom()?;
        while self.starts_atom() {
            let u = self.atom()?;
            t = self.node(RawKind::App(Box::new(t), Box::new(u)), start)?;
        }
        Ok(t)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other token starts no term")]
    fn atom(&mut self) -> Read<Raw> {
        let start = self.span();
        let Some(token) = self.tokens.get(self.at) else { return Err(self.unexpected("a term")) };
        self.at += 1;
        match &token.kind {
            TokenKind::Num(r) => self.node(RawKind::Num(*r), start),
            TokenKind::Name(name) if self.adjacent_parenthesis() => {
                self.expect(TokenKind::OpenParen)?;
                let args = self.list(&TokenKind::Comma, TokenKind::CloseParen)?;
                self.node(RawKind::Call(name.clone(), args), start)
            }
            TokenKind::Name(name) => self.node(RawKind::Name(name.clone()), start),
            TokenKind::Lambda => {
                let binder = self.binder()?;
                self.expect(TokenKind::Dot)?;
                let body = self.term()?;
                self.node(RawKind::Lam(binder, Box::new(body)), start)
            }
            TokenKind::OpenParen => {
                let t = self.term()?;
                self.expect(TokenKind::CloseParen)?;
                self.node(t.kind, start)
            }
            TokenKind::OpenAngle => {
                let components = self.list(&TokenKind::Comma, TokenKind::CloseAngle)?;
                if components.len() < 2 {
                    return Err(errors::syntax(start, "⟨…⟩ with fewer than two components", "⟨t, u⟩"));
                }
                self.node(RawKind::Tuple(components), start)
            }
            TokenKind::OpenBracket => {
                let items = self.list(&TokenKind::Semicolon, TokenKind::CloseBracket)?;
                self.expect(TokenKind::Underscore)?;
                let ty = self.type_atom()?;
                self.node(RawKind::List(items, ty), start)
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("a term"))
            }
        }
    }

    /// `f(` without a space is a function symbol's argument list.
    fn adjacent_parenthesis(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|i| self.tokens.get(i));
        self.peek() == Some(&TokenKind::OpenParen)
            && before.is_some_and(|token| token.span.end == self.span().start)
    }

    fn list(&mut self, separator: &TokenKind, close: TokenKind) -> Read<Vec<Raw>> {
        let mut items = Vec::new();
        if self.eat(&close) {
            return Ok(items);
        }
        loop {
            items.push(self.term()?);
            if !self.eat(separator) {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn binder(&mut self) -> Read<Binder> {
        let span = self.span();
        let Some(TokenKind::Name(name)) = self.peek().cloned() else {
            return Err(self.unexpected("a variable"));
        };
        self.at += 1;
        let annotation = if self.eat(&TokenKind::Colon) {
            let exponential = self.eat(&TokenKind::Bang);
            Some((!exponential, self.ty()?))
        } else {
            None
        };
        Ok(Binder { name, span, annotation })
    }

    fn ty(&mut self) -> Read<Ty> {
        let a = self.type_product()?;
        if self.eat(&TokenKind::Arrow) { Ok(Ty::fun(a, self.deeper(Self::ty)?)) } else { Ok(a) }
    }

    fn type_product(&mut self) -> Read<Ty> {
        let a = self.type_atom()?;
        if self.eat(&TokenKind::Cross) || self.eat(&TokenKind::Times) {
            Ok(Ty::prod(a, self.deeper(Self::type_product)?))
        } else {
            Ok(a)
        }
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read<Ty>) -> Read<Ty> {
        self.depth += 1;
        if self.depth > DEPTH / 8 {
            return Err(errors::too_deep(self.span(), DEPTH as usize / 8));
        }
        let ty = deep(|| read(self))?;
        self.depth -= 1;
        Ok(ty)
    }

    fn type_atom(&mut self) -> Read<Ty> {
        if self.eat(&TokenKind::OpenParen) {
            let ty = self.deeper(Self::ty)?;
            self.expect(TokenKind::CloseParen)?;
            return Ok(ty);
        }
        if self.peek() != Some(&TokenKind::Name("R".to_owned())) {
            return Err(self.unexpected("a type"));
        }
        self.at += 1;
        if !self.eat(&TokenKind::Hat) {
            return Ok(Ty::Real);
        }
        let negation = self.eat(&TokenKind::Bottom) || self.eat(&TokenKind::Name("bot".to_owned()));
        match self.peek() {
            Some(TokenKind::Num(d)) if *d >= 1.0 && *d <= 1000.0 && d.fract() == 0.0 => {
                let d = *d as usize;
                self.at += 1;
                Ok(if negation { Ty::Neg(d) } else { Ty::euclid(d) })
            }
            _ if negation => Ok(Ty::Neg(1)),
            _ => Err(self.unexpected("`⊥` or a dimension from 1 to 1000")),
        }
    }
}

/// Names in scope, and where nodes come from.
struct Scope {
    names: FxHashMap<String, Vec<Var>>,
    spans: FxHashMap<*const syntax::Node, Span>,
}

impl Scope {
    fn type_error(&self, error: &types::TypeError, whole: Span) -> Diagnostic {
        let span = self.spans.get(&std::rc::Rc::as_ptr(&error.at)).copied().unwrap_or(whole);
        let make = if error.linearity { errors::not_linear } else { errors::ill_typed };
        make(span, error.message.clone())
    }

    fn within(&mut self, vars: &[Var], body: &Raw) -> Read<Tm> {
        for x in vars {
            self.names.entry(x.name.to_string()).or_default().push(x.clone());
        }
        let elaborated = self.elaborate(body);
        for x in vars {
            self.names.entry(x.name.to_string()).or_default().pop();
        }
        elaborated
    }

    fn elaborate(&mut self, raw: &Raw) -> Read<Tm> {
        let tm = deep(|| self.former(raw))?;
        self.spans.entry(std::rc::Rc::as_ptr(&tm)).or_insert(raw.span);
        Ok(tm)
    }

    fn all(&mut self, raws: &[Raw]) -> Read<Vec<Tm>> {
        raws.iter().map(|raw| self.elaborate(raw)).collect()
    }

    fn former(&mut self, raw: &Raw) -> Read<Tm> {
        match &raw.kind {
            RawKind::Num(r) => Ok(syntax::num(*r)),
            RawKind::Name(name) => match self.names.get(name).and_then(|vars| vars.last()) {
                Some(x) => Ok(syntax::var(x)),
                None => constant(name).map(syntax::num).ok_or_else(|| errors::unbound(raw.span, name)),
            },
            RawKind::Lam(binder, body) => {
                let x = binder.declared()?;
                Ok(syntax::lam(&x, self.within(std::slice::from_ref(&x), body)?))
            }
            RawKind::App(t, u) => Ok(syntax::app(self.elaborate(t)?, self.elaborate(u)?)),
            RawKind::Tuple(components) => Ok(syntax::tuple(self.all(components)?)),
            RawKind::List(items, ty) => self.church_list(items, ty, raw.span),
            RawKind::Sub(t, binders, u) => self.substitution(t, binders, u),
            RawKind::Infix(op, t, u) => Ok(syntax::op(*op, vec![self.elaborate(t)?, self.elaborate(u)?])),
            RawKind::Call(name, args) => self.call(raw, name, args),
        }
    }

    fn substitution(&mut self, t: &Raw, binders: &[Binder], u: &Raw) -> Read<Tm> {
        let value = self.elaborate(u)?;
        if !types::type_of(&value).is_small() {
            return Err(errors::large_type(u.span));
        }
        let inferred = || types::type_of(&value);
        match binders {
            [x] => {
                let x = if x.annotation.is_some() { x.declared()? } else { x.var(false, inferred()) };
                let body = self.within(std::slice::from_ref(&x), t)?;
                Ok(syntax::sub(body, &x, value))
            }
            [x, y] => {
                let halves = match inferred() {
                    Ty::Prod(a, b) => Some(((*a).clone(), (*b).clone())),
                    Ty::Real | Ty::Fun(..) | Ty::Neg(_) => None,
                };
                let var = |binder: &Binder, half: Option<&Ty>| match (&binder.annotation, half) {
                    (Some((true, _)), _) => Err(errors::not_linear(
                        binder.span,
                        format!(
                            "`{}` is bound to a part of a pair, so it is exponential: write `!`",
                            binder.name
                        ),
                    )),
                    (None, Some(ty)) => Ok(binder.var(false, ty.clone())),
                    (Some(_), _) => binder.declared(),
                    (None, None) => Err(errors::ill_typed(u.span, "expected a pair".to_owned())),
                };
                let x = var(x, halves.as_ref().map(|halves| &halves.0))?;
                let y = var(y, halves.as_ref().map(|halves| &halves.1))?;
                let body = self.within(&[x.clone(), y.clone()], t)?;
                Ok(syntax::sub_pair(body, &x, &y, value))
            }
            _ => Err(errors::syntax(t.span, "several variables", "one variable or two")),
        }
    }

    fn church_list(&mut self, items: &[Raw], result: &Ty, span: Span) -> Read<Tm> {
        let items = self.all(items)?;
        let element = items.first().map_or(Ty::Real, types::type_of);
        let list = super::examples::church_list(items, &element, result);
        let mut waiting = vec![&list];
        while let Some(tm) = waiting.pop() {
            if self.spans.insert(std::rc::Rc::as_ptr(tm), span).is_none() {
                waiting.extend(tm.kind.children());
            }
        }
        Ok(list)
    }

    fn call(&mut self, raw: &Raw, name: &str, args: &[Raw]) -> Read<Tm> {
        if let Some(f) = self.names.get(name).and_then(|vars| vars.last()).cloned() {
            let args = self.all(args)?;
            let argument = if args.is_empty() {
                return Err(errors::syntax(raw.span, "`()`", "an argument"));
            } else {
                syntax::tuple(args)
            };
            let head = syntax::var(&f);
            self.spans.insert(std::rc::Rc::as_ptr(&head), raw.span);
            return Ok(syntax::app(head, argument));
        }
        let Some(f) = Symbol::by_name(name) else { return Err(errors::unknown_symbol(raw.span, name)) };
        if f.arity() != args.len() {
            return Err(errors::arity(raw.span, name, f.arity(), args.len()));
        }
        Ok(syntax::mk(Kind::Fun(f, self.all(args)?)))
    }
}

fn constant(name: &str) -> Option<f64> {
    match name {
        "inf" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        "pi" | "π" => Some(std::f64::consts::PI),
        _ => None,
    }
}
