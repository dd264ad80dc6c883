//! Types, schemes, type arguments and the signatures of primitives.
//!
//! ```text
//! scheme  = ["forall" {name | "[" name "]" | "{" name "}"} "."] [context "=>"] type
//! context = pred | "(" pred {"," pred} ")"          pred = ("Num" | "Ord" | "Data" | "Smooth" | "Tangent") name
//! type    = operand ["->" type]
//! operand = size operand | "Dual" atom | Data {atom} | atom
//! atom    = "Real" | … | name | Data | "(" {type ","} ")" | row
//! row     = "{" {name ":" type ","} ["|" name] "}"          size = "[" [name | number] "]"
//! ```
//!
//! A name whose last part starts with a capital is a data type, every other one a variable; `data` before a name in
//! back-quotes makes it a data type whatever it looks like. In a signature (only there) `#n` is an argument of type
//! `Int` that is the size `n`.

use super::{ParseError, Parser, Token};
use crate::sig::Signature;
use crate::subst::VarSort;
use crate::types::{Kind, Param, Pred, Row, Scheme, Size, Type, TypeArg};
use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::Name;

/// Predicates as written, `Num a`.
type Context = Vec<(Pred, Name)>;

impl Parser {
    /// A scheme in exact form.
    pub(super) fn scheme(&mut self) -> Result<Scheme, ParseError> {
        let mut params = Vec::new();
        if self.eat_keyword("forall") {
            while !self.eat_symbol(".") {
                params.push(self.param()?);
            }
        }
        let start = self.next;
        let context = self.context()?;
        for (pred, name) in context {
            let unbound = format!("`{name}` is not bound by `forall`");
            let param =
                params.iter_mut().find(|param| param.name == name && param.kind.sort() == VarSort::Type);
            let Some(Param { kind: Kind::Type(preds), .. }) = param else {
                return Err(self.error_at(start, unbound));
            };
            preds.push(pred);
        }
        Ok(Scheme { params, ty: self.ty()? })
    }

    /// `a`, `[n]` or `{r}`.
    fn param(&mut self) -> Result<Param, ParseError> {
        let (kind, close) = if self.eat_symbol("[") {
            (Kind::Size, Some("]"))
        } else if self.eat_symbol("{") {
            (Kind::Row, Some("}"))
        } else {
            (Kind::Type(Vec::new()), None)
        };
        let name = self.name("a bound variable or `.`")?;
        close.map_or(Ok(()), |close| self.symbol(close))?;
        Ok(Param { name, kind })
    }

    /// A signature: variables bound implicitly, types before sizes.
    pub(super) fn signature(&mut self) -> Result<Signature, ParseError> {
        let context = self.context()?;
        let mut size_arg = None;
        let mut args = Vec::new();
        let ty = loop {
            if let Token::Hash(name) = *self.peek() {
                self.next += 1;
                if size_arg.replace((args.len(), name)).is_some() {
                    return Err(self.error_at(self.next - 1, "a second size argument".into()));
                }
                args.push(Type::Int);
            } else {
                let operand = self.operand()?;
                if *self.peek() != Token::Symbol("->") {
                    break operand;
                }
                args.push(operand);
            }
            self.symbol("->")?;
        };
        let ty = args.into_iter().rev().fold(ty, |to, from| Type::fun(from, to));
        let mut free: Vec<_> = ty.free_vars().into_iter().collect();
        free.sort_by_key(|(sort, _)| *sort);
        let params: Vec<Param> = free
            .into_iter()
            .map(|(sort, name)| {
                let mut preds: Vec<Pred> =
                    context.iter().filter(|(_, of)| *of == name).map(|(pred, _)| *pred).collect();
                preds.sort_unstable();
                let kind = match sort {
                    VarSort::Type => Kind::Type(preds),
                    VarSort::Row => Kind::Row,
                    VarSort::Size => Kind::Size,
                };
                Param { name, kind }
            })
            .collect();
        for (_, name) in &context {
            if !params.iter().any(|param| param.name == *name && !param.preds().is_empty()) {
                return Err(
                    self.error_at(0, format!("the predicate is about `{name}`, which does not occur"))
                );
            }
        }
        Ok(Signature { scheme: Scheme { params, ty }, size_arg })
    }

    /// `Num a =>`, `(Data a, Smooth a) =>`, or nothing.
    fn context(&mut self) -> Result<Context, ParseError> {
        let start = self.next;
        let listed = self.eat_symbol("(");
        if self.pred_here().is_none() {
            self.next = start;
            return Ok(Vec::new());
        }
        let mut context = Vec::new();
        loop {
            let Some(pred) = self.pred_here() else { return Err(self.error("a predicate")) };
            self.next += 1;
            context.push((pred, self.name("a type variable")?));
            if !(listed && self.eat_symbol(",")) {
                break;
            }
        }
        if listed {
            self.symbol(")")?;
        }
        self.symbol("=>")?;
        Ok(context)
    }

    /// The predicate that the next token names.
    fn pred_here(&self) -> Option<Pred> {
        Pred::ALL.into_iter().find(|pred| *self.peek() == Token::Keyword(pred.text()))
    }

    /// A type.
    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        self.nested(|parser| {
            let from = parser.operand()?;
            if !parser.eat_symbol("->") {
                return Ok(from);
            }
            Ok(Type::fun(from, parser.ty()?))
        })
    }

    /// A type without a bare arrow.
    fn operand(&mut self) -> Result<Type, ParseError> {
        self.nested(|parser| {
            if *parser.peek() == Token::Symbol("[") {
                let size = parser.size()?;
                return Ok(Type::array(size, parser.operand()?));
            }
            if *parser.peek() == Token::Ident(Name::new("Dual")) {
                parser.next += 1;
                return Ok(Type::Dual(Arc::new(parser.type_atom()?)));
            }
            let head = parser.type_atom()?;
            let Type::Data(name, mut args) = head else { return Ok(head) };
            while parser.starts_type_atom() {
                args.push(parser.type_atom()?);
            }
            Ok(Type::Data(name, args))
        })
    }

    /// Whether an argument of a data type follows.
    fn starts_type_atom(&self) -> bool {
        match self.peek() {
            Token::Ident(_) | Token::Quoted(_) => true,
            Token::Keyword(word) => *word == "data",
            Token::Symbol(symbol) => matches!(*symbol, "(" | "{"),
            Token::Local(..)
            | Token::Int(_)
            | Token::Large(_)
            | Token::Real(_)
            | Token::String(_)
            | Token::Hash(_)
            | Token::End => false,
        }
    }

    /// A type as an argument; a data type stands without its arguments.
    pub(super) fn type_atom(&mut self) -> Result<Type, ParseError> {
        if self.eat_symbol("(") {
            return self.nested(|parser| {
                let (mut items, trailing) = parser.comma_list(")", Parser::ty)?;
                match items.pop() {
                    Some(only) if items.is_empty() && !trailing => Ok(only),
                    last => {
                        items.extend(last);
                        Ok(Type::Tuple(items))
                    }
                }
            });
        }
        if *self.peek() == Token::Symbol("{") {
            return Ok(Type::Record(self.row()?));
        }
        if self.eat_keyword("data") {
            return Ok(Type::Data(self.name("the name of a data type")?, Vec::new()));
        }
        let quoted = matches!(self.peek(), Token::Quoted(_));
        let name = self.name("a type")?;
        Ok(match name.as_str() {
            _ if quoted => Type::Var(name),
            "Real" => Type::Real,
            "Int" => Type::Int,
            "Bool" => Type::Bool,
            "String" => Type::String,
            text if text.rsplit('.').next().is_some_and(|last| last.starts_with(char::is_uppercase)) => {
                Type::Data(name, Vec::new())
            }
            _ => Type::Var(name),
        })
    }

    /// `{x : Real | r}`
    fn row(&mut self) -> Result<Row, ParseError> {
        self.nested(|parser| {
            parser.symbol("{")?;
            let mut row = Row { fields: BTreeMap::new(), rest: None };
            loop {
                if parser.eat_symbol("|") {
                    row.rest = Some(parser.name("a row variable")?);
                    parser.symbol("}")?;
                    return Ok(row);
                }
                if parser.eat_symbol("}") {
                    return Ok(row);
                }
                if !row.fields.is_empty() {
                    parser.symbol(",")?;
                }
                let at = parser.next;
                let name = parser.name("a field")?;
                parser.symbol(":")?;
                if row.fields.insert(name, parser.ty()?).is_some() {
                    return Err(parser.error_at(at, format!("the field `{name}` stands twice")));
                }
            }
        })
    }

    /// `[n]`, `[3]`, `[]`
    fn size(&mut self) -> Result<Size, ParseError> {
        self.symbol("[")?;
        if self.eat_symbol("]") {
            return Ok(Size::Unknown);
        }
        let constant = if let Token::Int(n) = *self.peek() { u64::try_from(n).ok() } else { None };
        let constant = if let Token::Large(n) = *self.peek() { Some(n) } else { constant };
        let size = match constant {
            Some(n) => Size::Const(n),
            None => Size::Var(self.name("a size")?),
        };
        self.next += usize::from(constant.is_some());
        self.symbol("]")?;
        Ok(size)
    }

    /// Any number of `@Real`, `@[n]`, `@row {x : Real}`.
    pub(super) fn type_args(&mut self) -> Result<Vec<TypeArg>, ParseError> {
        let mut args = Vec::new();
        while self.eat_symbol("@") {
            args.push(if *self.peek() == Token::Symbol("[") {
                TypeArg::Size(self.size()?)
            } else if self.eat_keyword("row") {
                TypeArg::Row(self.row()?)
            } else {
                TypeArg::Type(self.type_atom()?)
            });
        }
        Ok(args)
    }
}
