//! Reads terms in the paper's notation, Unicode or ASCII.
//!
//! ```text
//! program  ::=  [x : σ, …  ⊢]  sum                            `|-`
//! sum      ::=  product  (('+' | '-') product)*               `-N` is `neg N`, of a number a number
//! product  ::=  application (('·' | '/' | '⊙' | '⊘') application)*        `*` `/` `.*` `./`
//! application ::= operand operand*
//! operand  ::=  ('T' | 'D' | 'ι1' | 'ι2' | 'π1' | 'π2') operand | λx:σ. sum | let x = sum in sum | atom ['^' n]
//! atom     ::=  x | r | c | ε | ( sum ) | ⟨sum, sum⟩ | [sum, …]            `\` `inj1` `pi1` `eps` `<` `>`
//! σ        ::=  R | α | T σ | σ × σ | σ → σ | ( σ )
//! ```
//!
//! `3 + ε` of the paper is `ι2 3 + ε`, where `ε` is `ι1 1`; `[a, b]` is a Church list.

use super::errors;
use super::print;
use super::syntax::{
    Compare, Const, Half, Kind, Term, Var, church_list, constant, deep, derivative, inj, node, num,
    number_kind, op, pair,
};
use super::types::Written;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, SourceId, Span};
use wengert_prim::RealOp;

/// How deep terms may be nested.
const MAX_DEPTH: usize = 2_000;

/// A term with the declared types of its variables.
#[derive(Debug)]
pub struct Program {
    /// Its free variables.
    pub context: Vec<(Var, Written)>,
    /// Types that were written at a `λ`.
    pub annotations: FxHashMap<u32, Written>,
    /// The term.
    pub term: Term,
}

/// Parses a term.
pub fn parse(source: SourceId, text: &str) -> Result<Program, Diagnostic> {
    let tokens = lex(source, text)?;
    let end = Span::new(source, text.len() as u32, text.len() as u32);
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        depth: 0,
        scope: FxHashMap::default(),
        annotations: FxHashMap::default(),
    };
    let context = parser.context()?;
    let term = parser.sum()?;
    match parser.peek() {
        None => Ok(Program { context, annotations: parser.annotations, term }),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

/// The constant of that name.
fn constant_named(name: &str) -> Option<Const> {
    if let Some(rest) = name.strip_prefix("power_") {
        let n =
            rest.strip_prefix('m').map_or_else(|| rest.parse().ok(), |n| n.parse::<i64>().ok().map(|n| -n));
        return n.map(|n| Const::Op(RealOp::PowInt(n)));
    }
    if let Some(n) = name.strip_prefix("polygamma_").and_then(|n| n.parse().ok()) {
        return (n > 0).then_some(Const::Op(RealOp::Polygamma(n)));
    }
    let choices = [Compare::Eq, Compare::Lt, Compare::Le].map(Const::Choose);
    let operations = RealOp::SAMPLES.iter().map(|op| Const::Op(*op));
    choices.into_iter().chain(operations).find(|c| print::constant(*c) == name)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Num(f64),
    Sign(&'static str),
}

/// Signs with their canonical spelling, longer ones first.
const SIGNS: &[(&str, &str)] = &[
    ("->", "→"),
    ("|-", "⊢"),
    (".*", "⊙"),
    ("./", "⊘"),
    ("→", "→"),
    ("⊢", "⊢"),
    ("⊙", "⊙"),
    ("⊘", "⊘"),
    ("×", "×"),
    ("λ", "λ"),
    ("\\", "λ"),
    ("⟨", "⟨"),
    ("<", "⟨"),
    ("⟩", "⟩"),
    (">", "⟩"),
    ("·", "·"),
    ("*", "·"),
    ("−", "-"),
    ("²", "²"),
    ("³", "³"),
    (".", "."),
    (",", ","),
    (":", ":"),
    ("+", "+"),
    ("-", "-"),
    ("/", "/"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("=", "="),
];

fn lex(source: SourceId, text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = token(rest, first).ok_or_else(|| {
            let span = Span::new(source, at as u32, (at + first.len_utf8()) as u32);
            errors::syntax(span, &format!("`{first}`"), "a term")
        })?;
        tokens.push((token, Span::new(source, at as u32, (at + length) as u32)));
        at += length;
    }
    Ok(tokens)
}

fn token(rest: &str, first: char) -> Option<(Token, usize)> {
    if first.is_ascii_digit() {
        let length = number_length(rest);
        return rest.get(..length)?.parse().ok().map(|r| (Token::Num(r), length));
    }
    if first != 'λ' && first.is_alphabetic() || first == '_' {
        let continues =
            |c: char| c.is_alphanumeric() && !matches!(c, '²' | '³' | 'λ') || matches!(c, '_' | '\'');
        let end = rest.char_indices().find(|(_, c)| !continues(*c)).map_or(rest.len(), |(i, _)| i);
        return rest.get(..end).map(|name| (Token::Name(name.to_owned()), end));
    }
    let (spelling, sign) = SIGNS.iter().find(|(spelling, _)| rest.starts_with(spelling))?;
    Some((Token::Sign(sign), spelling.len()))
}

/// Digits, a fraction only if a digit follows the point, and an exponent.
fn number_length(rest: &str) -> usize {
    let digits = |from: usize| rest.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let byte = |at: usize| rest.as_bytes().get(at).copied();
    let mut end = digits(0);
    if byte(end) == Some(b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(byte(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    end: Span,
    depth: usize,
    scope: FxHashMap<String, Vec<Var>>,
    annotations: FxHashMap<u32, Written>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    fn since(&self, start: Span) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(start, |(_, span)| *span);
        start.to(last)
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Name(name)) => format!("`{name}`"),
            Some(Token::Num(r)) => format!("`{}`", print::number(*r)),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        errors::syntax(self.span(), &found, expected)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.at += usize::from(found);
        found
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(n)) if n == name);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Name(name)) if !is_reserved(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            Some(_) | None => Err(self.unexpected("the name of a variable")),
        }
    }

    /// Guards against nesting that the stack of later passes could not take.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(errors::too_deep(self.span(), MAX_DEPTH));
        }
        self.depth += 1;
        let result = deep(|| parse(self));
        self.depth -= 1;
        result
    }

    fn context(&mut self) -> Parsed<Vec<(Var, Written)>> {
        let mut context = Vec::new();
        if !self.tokens.iter().any(|(token, _)| *token == Token::Sign("⊢")) {
            return Ok(context);
        }
        while !self.eat("⊢") {
            if !context.is_empty() {
                self.expect(",")?;
            }
            let name = self.name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            let var = Var::fresh(&name);
            self.scope.entry(name).or_default().push(var.clone());
            context.push((var, ty));
        }
        Ok(context)
    }

    fn ty(&mut self) -> Parsed<Written> {
        self.nested(|p| {
            let from = p.product_type()?;
            if p.eat("→") { Ok(Written::Fun(Rc::new(from), Rc::new(p.ty()?))) } else { Ok(from) }
        })
    }

    fn product_type(&mut self) -> Parsed<Written> {
        let first = self.atomic_type()?;
        if self.eat("×") || self.eat("·") {
            let second = self.nested(Parser::product_type)?;
            return Ok(Written::Prod(Rc::new(first), Rc::new(second)));
        }
        Ok(first)
    }

    fn atomic_type(&mut self) -> Parsed<Written> {
        if self.eat("(") {
            let ty = self.ty()?;
            self.expect(")")?;
            return Ok(ty);
        }
        if self.eat_name("T") {
            let ty = Rc::new(self.nested(Parser::atomic_type)?);
            return Ok(Written::Prod(ty.clone(), ty));
        }
        if self.eat_name("R") {
            return Ok(Written::Real);
        }
        match self.peek() {
            Some(Token::Name(name)) => {
                let ty = Written::Atom(Rc::from(name.as_str()));
                self.at += 1;
                Ok(ty)
            }
            Some(_) | None => Err(self.unexpected("a type")),
        }
    }

    fn sum(&mut self) -> Parsed<Term> {
        self.nested(|p| {
            let start = p.span();
            let mut parts = vec![p.signed()?];
            loop {
                if p.eat("+") {
                    parts.push(p.product()?);
                } else if matches!(p.peek(), Some(Token::Sign("-"))) {
                    parts.push(p.signed()?);
                } else {
                    break;
                }
            }
            let span = p.since(start);
            Ok(match parts.pop() {
                Some(only) if parts.is_empty() => only,
                last => node(Kind::Sum(parts.into_iter().chain(last).collect()), span),
            })
        })
    }

    /// A product, perhaps with a sign before it.
    fn signed(&mut self) -> Parsed<Term> {
        let start = self.span();
        if !self.eat("-") {
            return self.product();
        }
        let term = self.product()?;
        let kind = match term.kind() {
            Kind::Num(r) => Kind::Num(-r),
            Kind::Sum(parts) if parts.is_empty() => Kind::Sum(parts),
            _ => Kind::App(constant(Const::Op(RealOp::Neg)), term),
        };
        Ok(node(kind, self.since(start)))
    }

    fn product(&mut self) -> Parsed<Term> {
        let start = self.span();
        let mut left = self.application()?;
        let mut links = 0;
        loop {
            let f = match self.peek() {
                Some(Token::Sign("·")) => RealOp::Mul,
                Some(Token::Sign("/")) => RealOp::Div,
                Some(Token::Sign("⊙")) => RealOp::MulZero,
                Some(Token::Sign("⊘")) => RealOp::DivZero,
                Some(_) | None => return Ok(left),
            };
            self.at += 1;
            links += 1;
            if self.depth + links > MAX_DEPTH {
                return Err(errors::too_deep(self.span(), MAX_DEPTH));
            }
            let right = self.application()?;
            left = node(op(f, &[left, right]).kind(), self.since(start));
        }
    }

    fn application(&mut self) -> Parsed<Term> {
        let start = self.span();
        let mut left = self.operand()?;
        let mut links = 0;
        while self.starts_operand() {
            links += 1;
            if self.depth + links > MAX_DEPTH {
                return Err(errors::too_deep(self.span(), MAX_DEPTH));
            }
            let right = self.operand()?;
            left = node(Kind::App(left, right), self.since(start));
        }
        Ok(left)
    }

    fn starts_operand(&self) -> bool {
        match self.peek() {
            Some(Token::Name(name)) => name != "in",
            Some(Token::Num(_)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "(" | "⟨" | "[" | "λ"),
            None => false,
        }
    }

    fn operand(&mut self) -> Parsed<Term> {
        self.nested(|p| {
            let start = p.span();
            if p.eat("λ") {
                return p.lambda(start);
            }
            if p.eat_name("let") {
                return p.let_in(start);
            }
            let prefix = match p.peek() {
                Some(Token::Name(name)) => prefix_named(name),
                Some(_) | None => None,
            };
            let Some(prefix) = prefix else { return p.power() };
            p.at += 1;
            if matches!(prefix, Prefix::Derivative) && !p.starts_operand() {
                return Ok(node(derivative().kind(), p.since(start)));
            }
            let s = p.operand()?;
            let kind = match prefix {
                Prefix::Push => Kind::Push(s),
                Prefix::Inj(k) => Kind::Inj(k, s),
                Prefix::Proj(k) => Kind::Proj(k, s),
                Prefix::Derivative => Kind::App(derivative(), s),
            };
            Ok(node(kind, p.since(start)))
        })
    }

    fn bind<T>(&mut self, name: String, parse: impl FnOnce(&mut Parser, &Var) -> Parsed<T>) -> Parsed<T> {
        let var = Var::fresh(&name);
        self.scope.entry(name.clone()).or_default().push(var.clone());
        let result = parse(self, &var);
        if let Some(bound) = self.scope.get_mut(&name) {
            bound.pop();
        }
        result
    }

    fn lambda(&mut self, start: Span) -> Parsed<Term> {
        let name = self.name()?;
        let annotation = if self.eat(":") { Some(self.ty()?) } else { None };
        self.bind(name, |p, x| {
            if let Some(ty) = annotation {
                p.annotations.insert(x.id, ty);
            }
            let body = if p.eat(".") { p.sum()? } else { p.nested(|p| p.lambda(start))? };
            Ok(node(Kind::Lam(x.clone(), body), p.since(start)))
        })
    }

    /// `let x = N in M` is `(λx. M) N`.
    fn let_in(&mut self, start: Span) -> Parsed<Term> {
        let name = self.name()?;
        self.expect("=")?;
        let value = self.sum()?;
        if !self.eat_name("in") {
            return Err(self.unexpected("`in`"));
        }
        self.bind(name, |p, x| {
            let body = p.sum()?;
            let span = p.since(start);
            Ok(node(Kind::App(node(Kind::Lam(x.clone(), body), span), value), span))
        })
    }

    fn power(&mut self) -> Parsed<Term> {
        let start = self.span();
        let base = self.atom()?;
        let exponent = if self.eat("²") {
            2
        } else if self.eat("³") {
            3
        } else if self.eat("^") {
            self.exponent()?
        } else {
            return Ok(base);
        };
        let f = constant(Const::Op(RealOp::PowInt(exponent)));
        Ok(node(Kind::App(f, base), self.since(start)))
    }

    fn exponent(&mut self) -> Parsed<i64> {
        let negative = self.eat("-");
        match self.peek() {
            Some(Token::Num(r)) if r.fract() == 0.0 && r.abs() < 1e9 => {
                let n = *r as i64;
                self.at += 1;
                Ok(if negative { -n } else { n })
            }
            Some(_) | None => Err(self.unexpected("a whole number")),
        }
    }

    fn atom(&mut self) -> Parsed<Term> {
        let start = self.span();
        if self.eat("(") {
            let term = self.sum()?;
            self.expect(")")?;
            return Ok(term);
        }
        if self.eat("⟨") {
            let first = self.sum()?;
            self.expect(",")?;
            let second = self.sum()?;
            self.expect("⟩")?;
            return Ok(node(pair(first, second).kind(), self.since(start)));
        }
        if self.eat("[") {
            let mut items = Vec::new();
            while !self.eat("]") {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.sum()?);
            }
            if items.len() > MAX_DEPTH * 50 {
                return Err(errors::too_deep(self.since(start), MAX_DEPTH * 50));
            }
            return Ok(node(church_list(items).kind(), self.since(start)));
        }
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected("a term")) };
        let kind = match token {
            Token::Num(r) => number_kind(r),
            Token::Name(name) => match self.scope.get(&name).and_then(|bound| bound.last()) {
                Some(x) => Kind::Var(x.clone()),
                None => named(&name).ok_or_else(|| errors::unbound(start, &name))?,
            },
            Token::Sign(_) => return Err(self.unexpected("a term")),
        };
        self.at += 1;
        Ok(node(kind, start))
    }
}

enum Prefix {
    Push,
    Inj(Half),
    Proj(Half),
    Derivative,
}

fn prefix_named(name: &str) -> Option<Prefix> {
    Some(match name {
        "T" => Prefix::Push,
        "D" => Prefix::Derivative,
        "ι1" | "ι₁" | "inj1" | "iota1" => Prefix::Inj(Half::First),
        "ι2" | "ι₂" | "inj2" | "iota2" => Prefix::Inj(Half::Second),
        "π1" | "π₁" | "pi1" | "proj1" => Prefix::Proj(Half::First),
        "π2" | "π₂" | "pi2" | "proj2" => Prefix::Proj(Half::Second),
        _ => return None,
    })
}

fn named(name: &str) -> Option<Kind> {
    Some(match name {
        "ε" | "eps" => inj(Half::First, num(1.0)).kind(),
        "Infinity" => Kind::Num(f64::INFINITY),
        "NaN" => Kind::Num(f64::NAN),
        _ => Kind::Const(constant_named(name)?),
    })
}

/// Whether no variable can have that name.
pub(super) fn is_reserved(name: &str) -> bool {
    matches!(name, "let" | "in") || prefix_named(name).is_some() || named(name).is_some()
}
