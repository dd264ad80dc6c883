//! The parser: recursive descent over the grammar of Figure 1, with the sugar of 3.1.3.
//!
//! ```text
//! file    ::= ("fun" f pattern "=" expr ";")* ["{" x ":" type, … "}" "⊢"] expr
//! expr    ::= "λ" binder+ "." expr | "let" binder "=" expr (";" binder "=" expr)* "in" expr | dotted ["+" expr]
//! dotted  ::= "J" f "·" dotted | "D" atom "·" dotted | "(λp.S)*" "·" dotted | "(Ω λp.P)" "·" dotted | atom+
//! atom    ::= x | r | f atom | π₁ atom | ( expr ) | ⟨ expr, … ⟩ | [r; …]* | [expr, …] | Ω [r; …] | ⟨ P | S ⟩_p      then π₁, π₂
//! ```
//!
//! `[r₁; …; rₙ]` is a column vector, `[s₁, …, sₙ]` a Church list `λf d. f sₙ (… (f s₁ d))` (example 3.2).

use super::definition::compile;
use super::errors;
use super::func::{Def, Func, Instr};
use super::lexer::{Token, lex};
use super::raw::{File, Raw, RawKind, RawPat, RawPatKind, RawType};
use super::subst::deep;
use std::rc::Rc;
use wengert_base::{Diagnostic, SourceId, Span};

/// What stands before a `·`.
enum Head {
    Term(Raw),
    Star(RawPat, Raw, Span),
    Omega(RawPat, Raw, Span),
}

pub(super) const MAX_DEPTH: u32 = 2000;

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// Parses a text.
pub(crate) fn parse(source: SourceId, text: &str) -> std::result::Result<File, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lex(source, text, &mut errors);
    let mut parser = Parser { tokens, at: 0, funcs: Vec::new(), text, depth: 0 };
    match parser.file() {
        Ok(file) if errors.is_empty() => Ok(file),
        Ok(_) => Err(errors),
        Err(error) => {
            errors.push(error);
            Err(errors)
        }
    }
}

pub(super) struct Parser<'a> {
    tokens: Vec<(Token, Span)>,
    at: usize,
    funcs: Vec<Rc<Def>>,
    text: &'a str,
    depth: u32,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn peek_second(&self) -> &Token {
        self.tokens.get(self.at + 1).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn span(&self) -> Span {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map_or(Span::new(SourceId(0), 0, 0), |(_, span)| *span)
    }

    fn before(&self) -> Span {
        self.tokens.get(self.at.saturating_sub(1)).map_or(Span::new(SourceId(0), 0, 0), |(_, span)| *span)
    }

    pub(super) fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    pub(super) fn need(&mut self, token: &Token) -> Result<()> {
        if self.eat(token) { Ok(()) } else { self.unexpected(&token.text()) }
    }

    pub(super) fn unexpected<T>(&self, what: &str) -> Result<T> {
        Err(errors::expected(self.span(), what, &self.peek().text()))
    }

    pub(super) fn name(&mut self) -> Result<String> {
        match self.peek() {
            Token::Ident(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.unexpected("a name"),
        }
    }

    /// Counts nesting, also of chains that nest to the left.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(errors::too_deep(self.span()));
        }
        self.depth += 1;
        let result = deep(|| parse(self));
        self.depth -= 1;
        result
    }

    fn file(&mut self) -> Result<File> {
        while self.eat(&Token::Fun) {
            self.definition()?;
        }
        let mut context = Vec::new();
        if self.eat(&Token::OpenBrace) {
            while !self.eat(&Token::CloseBrace) {
                let name = self.name()?;
                let ty = if self.eat(&Token::Colon) { self.ty()? } else { RawType::Unknown };
                context.push((name, ty));
                if !self.eat(&Token::Comma) && *self.peek() != Token::CloseBrace {
                    return self.unexpected("`,` or `}`");
                }
            }
            self.need(&Token::Turnstile)?;
        } else {
            self.eat(&Token::Turnstile);
        }
        let term = self.expr()?;
        if *self.peek() != Token::End {
            return self.unexpected("the end of the term");
        }
        Ok(File { context, term })
    }

    fn definition(&mut self) -> Result<()> {
        let start = self.before();
        let name = self.name()?;
        let pat = self.pattern()?;
        self.need(&Token::Equals)?;
        let body = self.expr()?;
        self.need(&Token::Semicolon)?;
        let mut names = Vec::new();
        pattern_names(&pat, &mut names);
        let mut def = Def {
            name,
            inputs: names.len(),
            code: (0..names.len()).map(Instr::Input).collect(),
            outputs: Vec::new(),
            text: String::new(),
        };
        def.outputs = compile(&body, &names, &mut def.code)?;
        let range = start.start as usize..self.before().end as usize;
        def.text = self.text.get(range).unwrap_or_default().to_string();
        self.funcs.push(Rc::new(def));
        Ok(())
    }

    fn func(&self, name: &str) -> Option<Func> {
        let defined = self.funcs.iter().rev().find(|def| def.name == name);
        defined.map(|def| Func::Defined(def.clone())).or_else(|| Func::by_name(name))
    }

    fn expr(&mut self) -> Result<Raw> {
        self.nested(|parser| {
            let start = parser.span();
            match parser.peek() {
                Token::Lambda => {
                    parser.at += 1;
                    let pats = parser.binders()?;
                    let body = parser.expr()?;
                    Ok(lambda(pats, body, start))
                }
                Token::Let => parser.lets(start),
                _ => {
                    let term = parser.dotted()?;
                    if !parser.eat(&Token::Plus) {
                        return Ok(term);
                    }
                    let second = parser.expr()?;
                    let span = start.to(second.span);
                    Ok(Raw { kind: RawKind::Sum(Box::new(term), Box::new(second)), span })
                }
            }
        })
    }

    fn lets(&mut self, start: Span) -> Result<Raw> {
        let mut bindings = Vec::new();
        self.need(&Token::Let)?;
        loop {
            let pat = self.binder()?;
            self.need(&Token::Equals)?;
            bindings.push((pat, self.expr()?));
            if bindings.len() > MAX_DEPTH as usize {
                return Err(errors::too_deep(self.span()));
            }
            if !self.eat(&Token::Semicolon) {
                break;
            }
        }
        self.need(&Token::In)?;
        let body = self.expr()?;
        Ok(bindings.into_iter().rev().fold(body, |body, (pat, value)| {
            let span = start.to(body.span);
            Raw { kind: RawKind::Let(pat, Box::new(value), Box::new(body)), span }
        }))
    }

    fn binders(&mut self) -> Result<Vec<RawPat>> {
        let mut pats = Vec::new();
        while !self.eat(&Token::Dot) {
            pats.push(self.binder()?);
        }
        if pats.is_empty() {
            return self.unexpected("a variable or a pattern");
        }
        Ok(pats)
    }

    /// A pattern, perhaps with a type: `x`, `x : R`, `(x : R)`.
    fn binder(&mut self) -> Result<RawPat> {
        let parentheses = self.eat(&Token::Open);
        let mut pat = self.pattern()?;
        if self.eat(&Token::Colon) {
            pat.ty = Some(self.ty()?);
        }
        if parentheses {
            self.need(&Token::Close)?;
        }
        Ok(pat)
    }

    fn pattern(&mut self) -> Result<RawPat> {
        self.nested(|parser| {
            let start = parser.span();
            if !parser.eat(&Token::OpenAngle) {
                let kind = RawPatKind::Var(parser.name()?);
                return Ok(RawPat { kind, ty: None, span: start });
            }
            let mut pat = parser.pattern()?;
            while parser.eat(&Token::Comma) {
                let second = parser.pattern()?;
                let kind = RawPatKind::Pair(Box::new(pat), Box::new(second));
                pat = RawPat { kind, ty: None, span: start.to(parser.before()) };
            }
            parser.need(&Token::CloseAngle)?;
            let mut names = Vec::new();
            pattern_names(&pat, &mut names);
            names.sort_unstable();
            match names.windows(2).find(|pair| pair.first() == pair.last()) {
                Some(pair) => {
                    Err(errors::repeated_variable(pat.span, pair.first().map_or("", String::as_str)))
                }
                None => Ok(pat),
            }
        })
    }

    fn dotted(&mut self) -> Result<Raw> {
        self.nested(|parser| {
            let start = parser.span();
            match parser.peek() {
                Token::J => {
                    parser.at += 1;
                    let (span, name) = (parser.span(), parser.name()?);
                    let func = parser.func(&name).ok_or_else(|| errors::unknown_function(span, &name))?;
                    let term = parser.operand(start, "J", "J f · S")?;
                    let span = start.to(term.span);
                    Ok(Raw { kind: RawKind::Jac(func, Box::new(term)), span })
                }
                Token::D => {
                    parser.at += 1;
                    let func = parser.postfix()?;
                    let func = into_term(func)?;
                    let term = parser.operand(start, "D", "D s · t")?;
                    let span = start.to(term.span);
                    Ok(Raw { kind: RawKind::Diff(Box::new(func), Box::new(term)), span })
                }
                _ => parser.applied(),
            }
        })
    }

    fn operand(&mut self, start: Span, operator: &str, shape: &str) -> Result<Raw> {
        if !self.eat(&Token::Cdot) {
            return Err(errors::lone_operator(start.to(self.before()), operator, shape));
        }
        self.dotted()
    }

    fn applied(&mut self) -> Result<Raw> {
        let start = self.span();
        let mut term = match self.postfix()? {
            Head::Term(term) => term,
            head if *self.peek() == Token::Cdot => {
                self.at += 1;
                let form = Box::new(self.dotted()?);
                let span = start.to(form.span);
                let kind = match head {
                    Head::Star(pat, body, _) => RawKind::DualMap(pat, Box::new(body), form),
                    Head::Omega(pat, body, _) => RawKind::Pull(pat, Box::new(body), form),
                    Head::Term(term) => return Ok(term),
                };
                return Ok(Raw { kind, span });
            }
            head => into_term(head)?,
        };
        let mut arguments = 0;
        while self.starts_atom() {
            arguments += 1;
            if arguments > MAX_DEPTH {
                return Err(errors::too_deep(self.span()));
            }
            let arg = into_term(self.postfix()?)?;
            let span = start.to(arg.span);
            term = Raw { kind: RawKind::App(Box::new(term), Box::new(arg)), span };
        }
        Ok(term)
    }

    fn starts_atom(&self) -> bool {
        matches!(
            self.peek(),
            Token::Ident(_)
                | Token::Number(_)
                | Token::Open
                | Token::OpenAngle
                | Token::OpenBracket
                | Token::Omega
                | Token::Proj(_)
        )
    }

    fn postfix(&mut self) -> Result<Head> {
        let start = self.span();
        let mut head = self.nested(Self::atom)?;
        loop {
            match (self.peek().clone(), head) {
                (Token::Proj(index), Head::Term(term)) if *self.peek_second() != Token::Open => {
                    self.at += 1;
                    let span = start.to(self.before());
                    head = Head::Term(Raw { kind: RawKind::Proj(index, Box::new(term)), span });
                }
                (Token::Star, Head::Term(term)) => {
                    self.at += 1;
                    let span = start.to(self.before());
                    head = match term.kind {
                        RawKind::Lam(pat, body) => Head::Star(pat, *body, span),
                        _ => match numbers(&term) {
                            Some(numbers) => Head::Term(Raw { kind: RawKind::DualConst(numbers), span }),
                            None => {
                                return Err(errors::expected(
                                    span,
                                    "a vector of numbers `[1; 2]*` or a function `(λx.S)*` before `*`",
                                    "another term",
                                ));
                            }
                        },
                    };
                }
                (_, other) => return Ok(other),
            }
        }
    }

    fn atom(&mut self) -> Result<Head> {
        let start = self.span();
        let token = self.peek().clone();
        let kind = match token {
            Token::Ident(name) => {
                self.at += 1;
                if name == "scale" && self.eat(&Token::OpenBracket) {
                    let r = self.number()?;
                    self.need(&Token::CloseBracket)?;
                    RawKind::Fun(Func::Scale(r), Box::new(into_term(self.postfix()?)?))
                } else {
                    match self.func(&name).filter(|_| self.starts_atom()) {
                        Some(func) => RawKind::Fun(func, Box::new(self.argument()?)),
                        None => RawKind::Var(name),
                    }
                }
            }
            Token::Number(x) => {
                self.at += 1;
                let written = self.text.get(start.start as usize..start.end as usize);
                if written == Some("0") { RawKind::Zero } else { RawKind::Real(x) }
            }
            Token::Proj(index) => {
                self.at += 1;
                RawKind::Proj(index, Box::new(into_term(self.nested(Self::atom)?)?))
            }
            Token::Open => return self.parenthesized(start),
            Token::OpenAngle => return self.angle(start).map(Head::Term),
            Token::OpenBracket => return self.bracket(start).map(Head::Term),
            Token::Omega => {
                self.at += 1;
                let form = into_term(self.nested(Self::atom)?)?;
                let Some(numbers) = numbers(&form) else {
                    return Err(errors::lone_operator(start.to(form.span), "Ω", "(Ω λx.P) · S"));
                };
                let pat = RawPat { kind: RawPatKind::Var("x".into()), ty: None, span: start };
                let body = Raw { kind: RawKind::DualConst(numbers), span: form.span };
                RawKind::Lam(pat, Box::new(body))
            }
            _ => return self.unexpected("a term"),
        };
        Ok(Head::Term(Raw { kind, span: start.to(self.before()) }))
    }

    /// The argument of a function symbol: `f(a, b)` is `f ⟨a,b⟩`.
    fn argument(&mut self) -> Result<Raw> {
        let start = self.span();
        if !self.eat(&Token::Open) {
            return into_term(self.nested(Self::atom)?);
        }
        let mut term = self.expr()?;
        while self.eat(&Token::Comma) {
            let second = self.expr()?;
            let span = start.to(second.span);
            term = Raw { kind: RawKind::Pair(Box::new(term), Box::new(second)), span };
        }
        self.need(&Token::Close)?;
        Ok(term)
    }

    fn parenthesized(&mut self, start: Span) -> Result<Head> {
        self.need(&Token::Open)?;
        if *self.peek() == Token::Omega && matches!(self.peek_second(), Token::Lambda | Token::Open) {
            self.at += 1;
            let parentheses = self.eat(&Token::Open);
            self.need(&Token::Lambda)?;
            let pats = self.binders()?;
            let body = self.expr()?;
            if parentheses {
                self.need(&Token::Close)?;
            }
            self.need(&Token::Close)?;
            let span = start.to(self.before());
            return match lambda(pats, body, start).kind {
                RawKind::Lam(pat, body) => Ok(Head::Omega(pat, *body, span)),
                _ => self.unexpected("a function after Ω"),
            };
        }
        let mut term = self.expr()?;
        self.need(&Token::Close)?;
        term.span = start.to(self.before());
        Ok(Head::Term(term))
    }

    fn angle(&mut self, start: Span) -> Result<Raw> {
        self.need(&Token::OpenAngle)?;
        let mut term = self.expr()?;
        if self.eat(&Token::Bar) {
            let form = self.expr()?;
            self.need(&Token::CloseAngle)?;
            self.need(&Token::Underscore)?;
            let pat = self.binder()?;
            let span = start.to(self.before());
            return Ok(Raw { kind: RawKind::Pull(pat, Box::new(term), Box::new(form)), span });
        }
        while self.eat(&Token::Comma) {
            let second = self.expr()?;
            let span = start.to(second.span);
            term = Raw { kind: RawKind::Pair(Box::new(term), Box::new(second)), span };
        }
        self.need(&Token::CloseAngle)?;
        Ok(term)
    }

    fn bracket(&mut self, start: Span) -> Result<Raw> {
        self.need(&Token::OpenBracket)?;
        let (mut items, mut list) = (Vec::new(), false);
        while !self.eat(&Token::CloseBracket) {
            items.push(self.expr()?);
            match self.peek() {
                Token::Comma => {
                    list = true;
                    self.at += 1;
                }
                Token::Semicolon => self.at += 1,
                Token::CloseBracket => {}
                _ => return self.unexpected("`,`, `;` or `]`"),
            }
        }
        let span = start.to(self.before());
        // `[r]` is a vector where a vector is needed: before `*` and after Ω.
        let vector = !list && (items.len() != 1 || *self.peek() == Token::Star || self.after_omega(start));
        if !vector {
            return Ok(church_list(items, span));
        }
        match into_tuple(items) {
            Some(tuple) => Ok(Raw { kind: tuple.kind, span }),
            None => Err(errors::expected(span, "numbers in a vector", "none")),
        }
    }

    fn after_omega(&self, start: Span) -> bool {
        let place = self.tokens.iter().position(|(_, span)| *span == start);
        let before = place.and_then(|at| at.checked_sub(1)).and_then(|at| self.tokens.get(at));
        before.is_some_and(|(token, _)| *token == Token::Omega)
    }

    pub(super) fn number(&mut self) -> Result<f64> {
        match self.peek() {
            Token::Number(x) => {
                let x = *x;
                self.at += 1;
                Ok(x)
            }
            _ => self.unexpected("a number"),
        }
    }
}

/// The items as a tuple, nested to the left.
fn into_tuple(items: Vec<Raw>) -> Option<Raw> {
    items.into_iter().reduce(|tuple, item| {
        let span = tuple.span.to(item.span);
        Raw { kind: RawKind::Pair(Box::new(tuple), Box::new(item)), span }
    })
}

fn into_term(head: Head) -> Result<Raw> {
    match head {
        Head::Term(term) => Ok(term),
        Head::Star(_, _, span) => Err(errors::lone_operator(span, "(λx.S)*", "(λx.S)* · S'")),
        Head::Omega(_, _, span) => Err(errors::lone_operator(span, "(Ω λx.P)", "(Ω λx.P) · S")),
    }
}

fn lambda(pats: Vec<RawPat>, body: Raw, start: Span) -> Raw {
    pats.into_iter().rev().fold(body, |body, pat| {
        let span = start.to(body.span);
        Raw { kind: RawKind::Lam(pat, Box::new(body)), span }
    })
}

/// The numbers of `r`, `0` or a tuple of such.
fn numbers(term: &Raw) -> Option<Vec<f64>> {
    let (mut numbers, mut stack) = (Vec::new(), vec![term]);
    while let Some(part) = stack.pop() {
        match &part.kind {
            RawKind::Real(x) => numbers.push(*x),
            RawKind::Zero => numbers.push(0.0),
            RawKind::Pair(a, b) => stack.extend([&**b, &**a]),
            _ => return None,
        }
    }
    Some(numbers)
}

/// `[s₁, …, sₙ] ≡ λf d. f sₙ (… (f s₁ d))`
fn church_list(items: Vec<Raw>, span: Span) -> Raw {
    let var = |name: &str| Raw { kind: RawKind::Var(name.into()), span };
    let pat = |name: &str| RawPat { kind: RawPatKind::Var(name.into()), ty: None, span };
    // Names that no item can mention.
    let (f, d) = ("f·", "d·");
    let app = |a: Raw, b: Raw| Raw { kind: RawKind::App(Box::new(a), Box::new(b)), span };
    let body = items.into_iter().fold(var(d), |rest, item| app(app(var(f), item), rest));
    lambda(vec![pat(f), pat(d)], body, span)
}

fn pattern_names(pat: &RawPat, names: &mut Vec<String>) {
    let mut stack = vec![pat];
    while let Some(pat) = stack.pop() {
        match &pat.kind {
            RawPatKind::Var(name) => names.push(name.clone()),
            RawPatKind::Pair(a, b) => stack.extend([&**b, &**a]),
        }
    }
}
