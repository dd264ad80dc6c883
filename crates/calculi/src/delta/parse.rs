//! The parser of terms and types, by recursive descent.
//!
//! ```text
//! e ::= λp … p. e | let p = e in e | letrec f = e in e | case e of inl p → e, inr p → e | if e then e else e
//!     | do { p ← e; …; e } | a
//! a ::= a + a | a × a | a ⊗_{A} a | a < a | … | a ^ n | - a | head … | (e) | (e, …, e) | (e : A) | (+) | literal
//! A ::= A → A | A + A | A × A | A^n | Vector A | M A | μX. A | ℝ | ℤ | String | 1 | Delta | DeltaMap
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "one form is looked for, the others are alike")]

use super::errors;
use super::lex::{Token, lex};
use super::names::{self, Infix};
use super::syntax::{Const, E, Expr, Kind, Overloaded, Pat, Ty, grow, make};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_prim::RealOp;

/// How deep terms may be nested.
const DEPTH: usize = 20_000;
/// How deep types and patterns may be nested, and how many components a tuple may have.
const WIDTH: usize = 1000;

type Parsed<T> = Result<T, Diagnostic>;

/// Parses a term.
pub(crate) fn parse(source: SourceId, text: &str) -> Parsed<E> {
    let words = lex(source, text)?;
    let mut parser = Parser { words, at: 0, depth: 0 };
    let e = parser.expr()?;
    match parser.peek() {
        Token::End => Ok(e),
        Token::Word(_) | Token::Real(_) | Token::Int(_) | Token::Text(_) | Token::Sign(_) => {
            Err(parser.expected("an operator or the end of the term"))
        }
    }
}

struct Parser {
    words: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.words.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        self.words.get(self.at).or(self.words.last()).map_or(Span::NOWHERE, |(_, span)| *span)
    }

    fn last_span(&self) -> Span {
        self.words.get(self.at.saturating_sub(1)).map_or(Span::NOWHERE, |(_, span)| *span)
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::Word(word) => word.clone(),
            Token::Real(x) => wengert_base::real::show(*x),
            Token::Int(n) => n.to_string(),
            Token::Text(_) => "a text".into(),
            Token::Sign(sign) => (*sign).into(),
            Token::End => String::new(),
        };
        errors::expected(self.span(), what, &found)
    }

    fn need_sign(&mut self, sign: &str) -> Parsed<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn need_word(&mut self, word: &str) -> Parsed<()> {
        if self.word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn deeper<T>(&mut self, limit: usize, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= limit {
            return Err(errors::too_deep(self.span(), limit));
        }
        self.depth += 1;
        let result = grow(|| f(self));
        self.depth -= 1;
        result
    }

    fn expr(&mut self) -> Parsed<E> {
        self.deeper(DEPTH, Self::expr_here)
    }

    fn expr_here(&mut self) -> Parsed<E> {
        let start = self.span();
        let kind = if self.sign("λ") {
            return self.lambda(start);
        } else if self.word("let") {
            let pat = self.pattern()?;
            self.need_sign("=")?;
            let value = self.expr()?;
            self.need_word("in")?;
            Kind::Let(pat, value, self.expr()?)
        } else if self.word("letrec") {
            let name = self.binder()?;
            let ty = if self.sign(":") { Some(self.ty()?) } else { None };
            self.need_sign("=")?;
            let value = self.expr()?;
            if !matches!(value.kind, Kind::Lam(..)) {
                return Err(errors::recursion(value.span, name.as_str()));
            }
            self.need_word("in")?;
            Kind::LetRec(name, ty, value, self.expr()?)
        } else if self.word("case") {
            self.case()?
        } else if self.word("if") {
            let condition = self.expr()?;
            self.need_word("then")?;
            let then = self.expr()?;
            self.need_word("else")?;
            Kind::Case(condition, Pat::Wild, then, Pat::Wild, self.expr()?)
        } else if self.word("do") {
            self.need_sign("{")?;
            let e = self.statements()?;
            self.need_sign("}")?;
            return Ok(e);
        } else {
            return self.binary(0);
        };
        Ok(Expr::at(kind, start.to(self.last_span())))
    }

    fn lambda(&mut self, start: Span) -> Parsed<E> {
        let mut parameters = vec![self.parameter()?];
        while !self.sign(".") {
            parameters.push(self.parameter()?);
        }
        let body = self.expr()?;
        let span = start.to(self.last_span());
        let wrap = |body, (pat, ty)| Expr::at(Kind::Lam(pat, ty, body), span);
        Ok(parameters.into_iter().rev().fold(body, wrap))
    }

    fn case(&mut self) -> Parsed<Kind> {
        let scrutinee = self.expr()?;
        self.need_word("of")?;
        self.need_word("inl")?;
        let left = self.pattern()?;
        self.need_sign("→")?;
        let then = self.expr()?;
        self.need_sign(",")?;
        self.need_word("inr")?;
        let right = self.pattern()?;
        self.need_sign("→")?;
        Ok(Kind::Case(scrutinee, left, then, right, self.expr()?))
    }

    /// `p ← e; …; e`
    fn statements(&mut self) -> Parsed<E> {
        let start = self.span();
        let mark = self.at;
        if let Ok(pat) = self.pattern()
            && self.sign("←")
        {
            let value = self.expr()?;
            self.need_sign(";")?;
            let rest = self.deeper(DEPTH, Self::statements)?;
            return Ok(Expr::at(Kind::Do(pat, value, rest), start.to(self.last_span())));
        }
        self.at = mark;
        self.expr()
    }

    fn binder(&mut self) -> Parsed<Name> {
        let Token::Word(word) = self.peek() else { return Err(self.expected("a variable")) };
        if names::is_reserved(word) {
            return Err(errors::reserved(self.span(), word));
        }
        let name = Name::new(word);
        self.advance();
        Ok(name)
    }

    fn parameter(&mut self) -> Parsed<(Pat, Option<Ty>)> {
        let mark = self.at;
        if self.sign("(")
            && let Ok(pat) = self.pattern()
            && self.sign(":")
        {
            let ty = self.ty()?;
            self.need_sign(")")?;
            return Ok((pat, Some(ty)));
        }
        self.at = mark;
        Ok((self.pattern()?, None))
    }

    fn pattern(&mut self) -> Parsed<Pat> {
        if self.sign("_") {
            return Ok(Pat::Wild);
        }
        if !self.sign("(") {
            return Ok(Pat::Var(self.binder()?));
        }
        let mut parts = vec![self.deeper(WIDTH, Self::pattern)?];
        while self.sign(",") {
            parts.push(self.deeper(WIDTH, Self::pattern)?);
        }
        if parts.len() > WIDTH {
            return Err(errors::power_too_large(self.span(), WIDTH));
        }
        self.need_sign(")")?;
        Ok(Pat::tuple(parts))
    }

    /// The operator here, and how tightly it binds: 1 comparisons, 2 sums, 3 products.
    fn operator(&mut self) -> Option<(Infix, u8)> {
        let Token::Sign(sign) = self.peek() else { return None };
        let sign = *sign;
        let typed = match self.words.get(self.at + 1) {
            Some((Token::Word(word), _)) => match word.as_str() {
                "_ℤ" => Some('Z'),
                "_ℝ" => Some('R'),
                "_S" => Some('S'),
                _ => None,
            },
            Some(_) | None => None,
        };
        let (infix, strength) = names::operator(sign, typed)?;
        self.at += 1 + usize::from(typed.is_some());
        Some((infix, strength))
    }

    fn binary(&mut self, above: u8) -> Parsed<E> {
        let start = self.span();
        let mut left = self.power()?;
        loop {
            let mark = self.at;
            let Some((infix, strength)) = self.operator() else { return Ok(left) };
            if strength <= above {
                self.at = mark;
                return Ok(left);
            }
            let place = self.last_span();
            let head = match infix {
                Infix::Const(constant) => constant,
                Infix::Poly(poly) => Const::Poly(poly, self.subscript()?),
            };
            let right =
                if self.opens_block() { self.expr()? } else { self.deeper(DEPTH, |p| p.binary(strength))? };
            let span = start.to(self.last_span());
            let pair = Expr::at(Kind::Pair(left, right), span);
            left = Expr::at(Kind::App(Expr::at(Kind::Const(head), place), pair), span);
        }
    }

    /// Whether a term that extends as far as possible begins here.
    fn opens_block(&self) -> bool {
        match self.peek() {
            Token::Sign(sign) => *sign == "λ",
            Token::Word(word) => ["let", "letrec", "case", "if", "do"].contains(&word.as_str()),
            Token::Real(_) | Token::Int(_) | Token::Text(_) | Token::End => false,
        }
    }

    fn subscript(&mut self) -> Parsed<Option<Ty>> {
        if !self.sign("_{") {
            return Ok(None);
        }
        let ty = self.ty()?;
        self.need_sign("}")?;
        Ok(Some(ty))
    }

    /// `- a`, `a ^ n`
    fn power(&mut self) -> Parsed<E> {
        let start = self.span();
        if self.sign("-") {
            let operand = self.deeper(DEPTH, Self::power)?;
            let span = start.to(self.last_span());
            return Ok(match &operand.kind {
                Kind::Const(Const::Real(x)) => Expr::at(Kind::Const(Const::Real(-x)), span),
                Kind::Const(Const::Int(n)) => Expr::at(Kind::Const(Const::Int(n.wrapping_neg())), span),
                _ => {
                    let head = Expr::at(Kind::Const(Const::Overloaded(Overloaded::Neg)), start);
                    Expr::at(Kind::App(head, operand), span)
                }
            });
        }
        let mut base = self.application()?;
        while self.sign("^") {
            let exponent = self.exponent()?;
            let head = make::constant(Const::RealOp(RealOp::PowInt(exponent)));
            base = Expr::at(Kind::App(head, base), start.to(self.last_span()));
        }
        Ok(base)
    }

    fn exponent(&mut self) -> Parsed<i64> {
        let negative = self.sign("-");
        let Token::Int(n) = self.peek() else {
            return Err(self.expected("an integer literal as the exponent"));
        };
        let n = if negative { -*n } else { *n };
        self.advance();
        Ok(n)
    }

    fn application(&mut self) -> Parsed<E> {
        let start = self.span();
        let mut head = self.head()?;
        loop {
            let argument = if self.opens_block() {
                self.expr()?
            } else if self.starts_atom() {
                self.atom()?
            } else {
                break;
            };
            head = Expr::at(Kind::App(head, argument), start.to(self.last_span()));
        }
        Ok(head)
    }

    /// `fst e`, `inl e`, …, or an atom.
    fn head(&mut self) -> Parsed<E> {
        let start = self.span();
        let form: Option<fn(E) -> Kind> = match self.peek() {
            Token::Word(word) => match word.as_str() {
                "fst" => Some(Kind::Fst),
                "snd" => Some(Kind::Snd),
                "inl" => Some(Kind::Inl),
                "inr" => Some(Kind::Inr),
                "pure" => Some(Kind::Pure),
                "unroll" => Some(Kind::Unroll),
                "roll" => {
                    self.advance();
                    let Some(ty) = self.subscript()? else {
                        return Err(self.expected("the type, as in `roll_{μX. A}`"));
                    };
                    let e = self.operand()?;
                    return Ok(Expr::at(Kind::Roll(ty, e), start.to(self.last_span())));
                }
                _ => None,
            },
            Token::Real(_) | Token::Int(_) | Token::Text(_) | Token::Sign(_) | Token::End => None,
        };
        let Some(form) = form else { return self.atom() };
        self.advance();
        let e = self.operand()?;
        Ok(Expr::at(form(e), start.to(self.last_span())))
    }

    /// What `fst` and its like apply to.
    fn operand(&mut self) -> Parsed<E> {
        if self.opens_block() { self.expr() } else { self.deeper(DEPTH, Self::head) }
    }

    fn starts_atom(&self) -> bool {
        match self.peek() {
            Token::Word(word) => {
                let not = ["in", "of", "then", "else", "inl", "inr", "fst", "snd", "pure", "roll", "unroll"];
                !not.contains(&word.as_str())
            }
            Token::Real(_) | Token::Int(_) | Token::Text(_) => true,
            Token::Sign(sign) => *sign == "(",
            Token::End => false,
        }
    }

    fn atom(&mut self) -> Parsed<E> {
        let span = self.span();
        let kind = match self.peek().clone() {
            Token::Real(x) => Kind::Const(Const::Real(x)),
            Token::Int(n) => Kind::Const(Const::Int(n)),
            Token::Text(text) => Kind::Const(Const::Str(text.into())),
            Token::Sign("(") => {
                self.advance();
                return self.parenthesized(span);
            }
            Token::Word(word) => {
                self.advance();
                let kind = self.named(&word)?.ok_or_else(|| {
                    self.at -= 1;
                    self.expected("a term")
                })?;
                return Ok(match kind {
                    Kind::Const(Const::Int(truth)) => {
                        let unit = Expr::at(Kind::Const(Const::Unit), span);
                        Expr::at(if truth == 1 { Kind::Inl(unit) } else { Kind::Inr(unit) }, span)
                    }
                    kind => Expr::at(kind, span.to(self.last_span())),
                });
            }
            Token::Sign(_) | Token::End => return Err(self.expected("a term")),
        };
        self.advance();
        Ok(Expr::at(kind, span))
    }

    /// What a word means; truth values come as integers.
    fn named(&mut self, word: &str) -> Parsed<Option<Kind>> {
        Ok(Some(match word {
            "true" => Kind::Const(Const::Int(1)),
            "false" => Kind::Const(Const::Int(0)),
            "Infinity" => Kind::Const(Const::Real(f64::INFINITY)),
            "NaN" => Kind::Const(Const::Real(f64::NAN)),
            word => match names::constant(word) {
                Some(Const::Poly(poly, _)) => Kind::Const(Const::Poly(poly, self.subscript()?)),
                Some(constant) => Kind::Const(constant),
                None if names::is_reserved(word) => return Ok(None),
                None => Kind::Var(Name::new(word), u32::MAX),
            },
        }))
    }

    fn parenthesized(&mut self, start: Span) -> Parsed<E> {
        if self.sign(")") {
            return Ok(Expr::at(Kind::Const(Const::Unit), start.to(self.last_span())));
        }
        if let Some(section) = self.section(start)? {
            return Ok(section);
        }
        let first = self.expr()?;
        if self.sign(":") {
            let ty = self.ty()?;
            self.need_sign(")")?;
            return Ok(Expr::at(Kind::Ann(first, ty), start.to(self.last_span())));
        }
        let mut parts = vec![first];
        while self.sign(",") {
            parts.push(self.expr()?);
        }
        if parts.len() > WIDTH {
            return Err(errors::power_too_large(start, WIDTH));
        }
        if !self.sign(")") {
            return Err(self.expected("`,` or `)`"));
        }
        let span = start.to(self.last_span());
        let mut parts = parts.into_iter().rev();
        let Some(last) = parts.next() else { return Err(self.expected("a term")) };
        Ok(parts.fold(last, |rest, part| Expr::at(Kind::Pair(part, rest), span)))
    }

    /// `(+)`, `(⊗_{A})`, `(^ 2)`
    fn section(&mut self, start: Span) -> Parsed<Option<E>> {
        let mark = self.at;
        let constant = if self.sign("^") {
            Const::RealOp(RealOp::PowInt(self.exponent()?))
        } else {
            match self.operator() {
                Some((Infix::Const(constant), _)) => constant,
                Some((Infix::Poly(poly), _)) => Const::Poly(poly, self.subscript()?),
                None => return Ok(None),
            }
        };
        // `(-x)` is a negated term, `(-ℝ)` the function.
        let minus = matches!(self.words.get(mark), Some((Token::Sign("-"), _)));
        if !self.sign(")") {
            self.at = mark;
            return if minus { Ok(None) } else { Err(self.expected("`)`")) };
        }
        Ok(Some(Expr::at(Kind::Const(constant), start.to(self.last_span()))))
    }

    fn ty(&mut self) -> Parsed<Ty> {
        self.deeper(DEPTH, |p| {
            let left = p.sum_type()?;
            if p.sign("→") { Ok(Ty::fun(left, p.ty()?)) } else { Ok(left) }
        })
    }

    fn sum_type(&mut self) -> Parsed<Ty> {
        let mut parts = vec![self.product_type()?];
        while self.sign("+") {
            parts.push(self.product_type()?);
        }
        let mut parts = parts.into_iter().rev();
        let Some(last) = parts.next() else { return Err(self.expected("a type")) };
        Ok(parts.fold(last, |rest, ty| Ty::sum(ty, rest)))
    }

    fn product_type(&mut self) -> Parsed<Ty> {
        let mut parts = vec![self.power_type()?];
        while self.sign("×") {
            parts.push(self.power_type()?);
        }
        if parts.len() > WIDTH {
            return Err(errors::power_too_large(self.span(), WIDTH));
        }
        Ok(Ty::tuple(parts))
    }

    fn power_type(&mut self) -> Parsed<Ty> {
        let base = self.atomic_type()?;
        if !self.sign("^") {
            return Ok(base);
        }
        let Token::Int(n) = self.peek() else { return Err(self.expected("a number of components")) };
        let count = usize::try_from(*n).unwrap_or(0);
        if count == 0 {
            return Err(self.expected("a positive number of components"));
        }
        if count > WIDTH {
            return Err(errors::power_too_large(self.span(), WIDTH));
        }
        self.advance();
        Ok(Ty::tuple(vec![base; count]))
    }

    fn atomic_type(&mut self) -> Parsed<Ty> {
        let found = self.peek().clone();
        self.advance();
        Ok(match found {
            Token::Sign("ℝ") => Ty::Real,
            Token::Sign("ℤ") => Ty::Int,
            Token::Sign("δ") => self.deeper(WIDTH, Self::atomic_type)?,
            Token::Int(1) => Ty::Unit,
            Token::Sign("μ") => {
                let name = self.binder()?;
                self.need_sign(".")?;
                Ty::Rec(name, Rc::new(self.ty()?))
            }
            Token::Sign("(") => {
                let ty = self.ty()?;
                self.need_sign(")")?;
                ty
            }
            Token::Word(word) => match word.as_str() {
                "String" => Ty::String,
                "Delta" => Ty::Delta,
                "DeltaMap" => Ty::DeltaMap,
                "DeltaId" => Ty::Int,
                "Vector" => Ty::Vector(Rc::new(self.deeper(WIDTH, Self::atomic_type)?)),
                "M" => Ty::monad(self.deeper(WIDTH, Self::atomic_type)?),
                name if !names::is_reserved(name) => Ty::Var(Name::new(name)),
                _ => {
                    self.at -= 1;
                    return Err(self.expected("a type"));
                }
            },
            Token::Sign(_) | Token::Int(_) | Token::Real(_) | Token::Text(_) | Token::End => {
                self.at -= 1;
                return Err(self.expected("a type"));
            }
        })
    }
}
