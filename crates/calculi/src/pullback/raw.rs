//! Terms and types as written, before names and types are known; and the grammar of types.

use super::errors;
use super::func::Func;
use super::lexer::Token;
use super::parse::{MAX_DEPTH, Parser, Result};
use wengert_base::Span;

/// A term as written, before names and types are known.
pub(crate) struct Raw {
    pub(crate) kind: RawKind,
    pub(crate) span: Span,
}

pub(crate) enum RawKind {
    Zero,
    Var(String),
    Real(f64),
    Lam(RawPat, Box<Raw>),
    App(Box<Raw>, Box<Raw>),
    Let(RawPat, Box<Raw>, Box<Raw>),
    Proj(u8, Box<Raw>),
    Pair(Box<Raw>, Box<Raw>),
    Fun(Func, Box<Raw>),
    Jac(Func, Box<Raw>),
    DualMap(RawPat, Box<Raw>, Box<Raw>),
    DualConst(Vec<f64>),
    Pull(RawPat, Box<Raw>, Box<Raw>),
    Sum(Box<Raw>, Box<Raw>),
    Diff(Box<Raw>, Box<Raw>),
}

pub(crate) struct RawPat {
    pub(crate) kind: RawPatKind,
    pub(crate) ty: Option<RawType>,
    pub(crate) span: Span,
}

pub(crate) enum RawPatKind {
    Var(String),
    Pair(Box<RawPat>, Box<RawPat>),
}

#[derive(Clone)]
pub(crate) enum RawType {
    Reals(usize),
    Product(Box<RawType>, Box<RawType>),
    Function(Box<RawType>, Box<RawType>),
    Dual(Box<RawType>),
    /// The dummy type D of example 3.2: any one type.
    List(Box<RawType>),
    Unknown,
}

/// A parsed text.
pub(crate) struct File {
    /// Declared free variables.
    pub(crate) context: Vec<(String, RawType)>,
    pub(crate) term: Raw,
}

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Result<RawType> {
        self.nested(|parser| {
            let mut ty = parser.ty_atom()?;
            while parser.eat(&Token::Times) {
                ty = RawType::Product(Box::new(ty), Box::new(parser.ty_atom()?));
            }
            if !parser.eat(&Token::Arrow) {
                return Ok(ty);
            }
            Ok(RawType::Function(Box::new(ty), Box::new(parser.ty()?)))
        })
    }

    fn ty_atom(&mut self) -> Result<RawType> {
        let mut ty = if self.eat(&Token::Omega) {
            let inner = self.nested(Self::ty_atom)?;
            RawType::Function(Box::new(inner.clone()), Box::new(RawType::Dual(Box::new(inner))))
        } else if self.eat(&Token::Open) {
            let ty = self.ty()?;
            self.need(&Token::Close)?;
            ty
        } else if self.eat(&Token::Underscore) {
            RawType::Unknown
        } else {
            self.ty_name()?
        };
        let mut stars = 0;
        while self.eat(&Token::Star) {
            stars += 1;
            if stars > MAX_DEPTH {
                return Err(errors::too_deep(self.span()));
            }
            ty = RawType::Dual(Box::new(ty));
        }
        Ok(ty)
    }

    fn ty_name(&mut self) -> Result<RawType> {
        let (span, name) = (self.span(), self.name()?);
        let size = |digits: &str| digits.parse::<usize>().ok().filter(|n| (1..=10_000).contains(n));
        match name.as_str() {
            "R" if self.eat(&Token::Caret) => {
                let n = self.number()?;
                size(&n.to_string()).map(RawType::Reals)
            }
            "R" => Some(RawType::Reals(1)),
            "List" => {
                self.need(&Token::Open)?;
                let inner = self.ty()?;
                self.need(&Token::Close)?;
                Some(RawType::List(Box::new(inner)))
            }
            other => other.strip_prefix('R').and_then(size).map(RawType::Reals),
        }
        .ok_or_else(|| {
            errors::expected(
                span,
                "a type: `R`, `R^n`, `σ × τ`, `σ ⇒ τ`, `σ*`, `Ωσ` or `List(σ)`",
                &format!("`{name}`"),
            )
        })
    }
}
