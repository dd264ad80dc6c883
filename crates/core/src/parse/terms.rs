//! Programs, terms and patterns.
//!
//! ```text
//! program = {"type" name {name} "=" [ctor {"|" ctor}] | "def" name ":" scheme "=" term}       ctor = name {type atom}
//! term    = "\" binder "->" term | "let" local ":" scheme "=" term "in" term
//!         | "let" "rec" [function {"and" function}] "in" term                  function = local ":" scheme "=" term
//!         | "if" term "then" term "else" term | "match" term "with" {"|" pattern "->" term} "end" | application
//! application = (prim | ctor | atom | "check_size" name number atom) {atom}
//! prim    = "#"name {arg}                ctor = name "::" name "#"number {arg}                         arg = "@"…
//! atom    = (local {arg} | name {arg} | literal | ctor | prim | "(" term ")" | tuple | record | array) {"!"number | "." name}
//! record  = "{" {name "=" term ","} "}" | "{" term "with" {name "=" term ","} "}"       array = "[" {term ","} ":" type "]"
//! pattern = name "::" name "#"number {arg} {pattern atom} | pattern atom
//! pattern atom = "_" | binder | literal | "(" pattern "as" local ":" type ")" | tuple | record | ctor
//! binder  = "(" local ":" type ")"
//! ```
//!
//! A primitive or constructor takes all atoms that follow as its arguments; one that is the function of an application
//! stands in parentheses.

use super::{ParseError, Parser, Token};
use crate::term::{
    Arm, Binder, Ctor, CtorRef, DataType, Def, Lit, Pattern, Program, RecBinding, Term, TermKind, Var,
};
use crate::types::{Type, TypeArg};
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_prim::Prim;

/// A term that stands nowhere in a file.
fn term(kind: TermKind) -> Term {
    Term { kind, span: Span::NOWHERE }
}

impl Parser {
    /// A whole program.
    pub(super) fn program(&mut self) -> Result<Program, ParseError> {
        let mut program = Program::default();
        loop {
            let at = self.next;
            if self.eat_keyword("type") {
                let data = self.data_type()?;
                let name = data.name;
                if program.types.insert(name, Arc::new(data)).is_some() {
                    return Err(self.error_at(at, format!("the type `{name}` is declared twice")));
                }
            } else if self.eat_keyword("def") {
                let def = self.def()?;
                let name = def.name;
                if program.defs.insert(name, Arc::new(def)).is_some() {
                    return Err(self.error_at(at, format!("`{name}` is defined twice")));
                }
            } else if *self.peek() == Token::End {
                return Ok(program);
            } else {
                return Err(self.error("`type` or `def`"));
            }
        }
    }

    /// A data type, after `type`.
    fn data_type(&mut self) -> Result<DataType, ParseError> {
        let name = self.name("the name of the type")?;
        let mut params = Vec::new();
        while !self.eat_symbol("=") {
            params.push(self.name("a type parameter or `=`")?);
        }
        let mut ctors = Vec::new();
        while matches!(self.peek(), Token::Ident(_) | Token::Quoted(_)) {
            let name = self.name("a constructor")?;
            let mut fields = Vec::new();
            while self.starts_field_type() {
                fields.push(self.type_atom()?);
            }
            ctors.push(Ctor { name, fields });
            if !self.eat_symbol("|") {
                break;
            }
        }
        Ok(DataType { name, params, ctors, span: Span::NOWHERE })
    }

    /// Whether the type of a field follows.
    fn starts_field_type(&self) -> bool {
        matches!(
            self.peek(),
            Token::Ident(_) | Token::Quoted(_) | Token::Keyword("data") | Token::Symbol("(" | "{")
        )
    }

    /// A definition, after `def`.
    fn def(&mut self) -> Result<Def, ParseError> {
        let name = self.name("the name of the definition")?;
        self.symbol(":")?;
        let scheme = self.scheme()?;
        self.symbol("=")?;
        let body = self.term()?;
        Ok(Def { name, scheme, body, span: Span::NOWHERE })
    }

    /// A term.
    pub(super) fn term(&mut self) -> Result<Term, ParseError> {
        self.nested(|parser| {
            if parser.eat_symbol("\\") {
                let param = parser.binder()?;
                parser.symbol("->")?;
                let body = Arc::new(parser.term()?);
                return Ok(term(TermKind::Lam { param, body }));
            }
            if parser.eat_keyword("let") {
                return parser.let_term();
            }
            if parser.eat_keyword("if") {
                let cond = Arc::new(parser.term()?);
                parser.keyword("then")?;
                let then = Arc::new(parser.term()?);
                parser.keyword("else")?;
                let otherwise = Arc::new(parser.term()?);
                return Ok(term(TermKind::If { cond, then, otherwise }));
            }
            if parser.eat_keyword("match") {
                return parser.match_term();
            }
            parser.application()
        })
    }

    /// `x = e in body` or `rec f = e and … in body`, after `let`.
    fn let_term(&mut self) -> Result<Term, ParseError> {
        if !self.eat_keyword("rec") {
            let RecBinding { var, scheme, value } = self.binding()?;
            self.keyword("in")?;
            let body = Arc::new(self.term()?);
            return Ok(term(TermKind::Let { var, scheme, value: Arc::new(value), body }));
        }
        let mut bindings = Vec::new();
        if !self.eat_keyword("in") {
            bindings.push(self.binding()?);
            while self.eat_keyword("and") {
                bindings.push(self.binding()?);
            }
            self.keyword("in")?;
        }
        let body = Arc::new(self.term()?);
        Ok(term(TermKind::LetRec { bindings, body }))
    }

    /// `x%3 : scheme = term`
    fn binding(&mut self) -> Result<RecBinding, ParseError> {
        let var = self.local()?;
        self.symbol(":")?;
        let scheme = self.scheme()?;
        self.symbol("=")?;
        Ok(RecBinding { var, scheme, value: self.term()? })
    }

    /// `e with | p -> a … end`, after `match`.
    fn match_term(&mut self) -> Result<Term, ParseError> {
        let scrutinee = Arc::new(self.term()?);
        self.keyword("with")?;
        let mut arms = Vec::new();
        while self.eat_symbol("|") {
            let pattern = self.pattern()?;
            self.symbol("->")?;
            arms.push(Arm { pattern, body: self.term()? });
        }
        self.keyword("end")?;
        Ok(term(TermKind::Match { scrutinee, arms }))
    }

    /// `x%3`
    fn local(&mut self) -> Result<Var, ParseError> {
        let Token::Local(name, id) = *self.peek() else { return Err(self.error("a local variable `x%1`")) };
        self.next += 1;
        Ok(Var { name, id })
    }

    /// `(x%3 : type)`
    fn binder(&mut self) -> Result<Binder, ParseError> {
        self.symbol("(")?;
        let binder = self.bare_binder()?;
        self.symbol(")")?;
        Ok(binder)
    }

    /// `x%3 : type`
    fn bare_binder(&mut self) -> Result<Binder, ParseError> {
        let var = self.local()?;
        self.symbol(":")?;
        Ok(Binder { var, ty: self.ty()? })
    }

    /// A primitive, a constructor, `check_size`, or an atom, and what it is applied to.
    fn application(&mut self) -> Result<Term, ParseError> {
        if let Some(prim) = self.prim_here()? {
            let type_args = self.type_args()?;
            let args = self.atoms()?;
            return Ok(term(TermKind::Prim { prim, type_args, args }));
        }
        if self.ctor_follows() {
            let (ctor, args) = self.ctor()?;
            let fields = self.atoms()?;
            return Ok(term(TermKind::Ctor { ctor, args, fields }));
        }
        if self.eat_keyword("check_size") {
            let name = self.name("the size as written, in back-quotes")?;
            let axis = self.number("the axis")?;
            let expected = Arc::new(self.atom()?);
            let array = Arc::new(self.atom()?);
            return Ok(term(TermKind::CheckSize { array, axis, expected, name }));
        }
        let mut func = self.atom()?;
        for (depth, arg) in self.atoms()?.into_iter().enumerate() {
            if depth as u32 >= super::MAX_DEPTH {
                return Err(self.error_at(self.next, "too many arguments".into()));
            }
            func = term(TermKind::App { func: Arc::new(func), arg: Arc::new(arg) });
        }
        Ok(func)
    }

    /// All atoms that follow.
    fn atoms(&mut self) -> Result<Vec<Term>, ParseError> {
        let mut atoms = Vec::new();
        while self.starts_atom() {
            atoms.push(self.atom()?);
        }
        Ok(atoms)
    }

    /// Whether an atom follows.
    fn starts_atom(&self) -> bool {
        match self.peek() {
            Token::Ident(_)
            | Token::Quoted(_)
            | Token::Local(..)
            | Token::Int(_)
            | Token::Real(_)
            | Token::String(_) => true,
            Token::Keyword(word) => matches!(*word, "true" | "false" | "NaN" | "Infinity"),
            Token::Symbol(symbol) => matches!(*symbol, "(" | "{" | "["),
            Token::Hash(_) | Token::Large(_) | Token::End => false,
        }
    }

    /// An atom with its projections.
    fn atom(&mut self) -> Result<Term, ParseError> {
        let mut atom = self.nested(Parser::bare_atom)?;
        let mut depth = 0;
        loop {
            if self.eat_symbol("!") {
                let index = self.number("the index of a component")?;
                atom = term(TermKind::Proj { tuple: Arc::new(atom), index });
            } else if self.eat_symbol(".") {
                // `.x.y` is one identifier to the lexer; a field whose name has a point is quoted.
                let quoted = matches!(self.peek(), Token::Quoted(_));
                let name = self.name("a field")?;
                let parts = name.as_str().split('.').filter(|_| !quoted).map(Name::new);
                for field in parts.chain(quoted.then_some(name)) {
                    depth += 1;
                    atom = term(TermKind::Field { record: Arc::new(atom), field });
                }
            } else {
                return Ok(atom);
            }
            depth += 1;
            if depth > super::MAX_DEPTH {
                return Err(self.error_at(self.next, "too many projections".into()));
            }
        }
    }

    /// An atom.
    fn bare_atom(&mut self) -> Result<Term, ParseError> {
        if let Some(lit) = self.literal()? {
            return Ok(term(TermKind::Lit(lit)));
        }
        if self.ctor_follows() {
            let (ctor, args) = self.ctor()?;
            return Ok(term(TermKind::Ctor { ctor, args, fields: Vec::new() }));
        }
        match self.peek() {
            Token::Local(..) => {
                let var = self.local()?;
                Ok(term(TermKind::Var { var, args: self.type_args()? }))
            }
            Token::Ident(_) | Token::Quoted(_) => {
                let name = self.name("a global")?;
                Ok(term(TermKind::Global { name, args: self.type_args()? }))
            }
            Token::Symbol("(") => {
                self.next += 1;
                let (mut items, trailing) = self.comma_list(")", Parser::term)?;
                match items.pop() {
                    Some(only) if items.is_empty() && !trailing => Ok(only),
                    last => {
                        items.extend(last);
                        Ok(term(TermKind::Tuple(items)))
                    }
                }
            }
            Token::Symbol("{") => self.record(),
            Token::Symbol("[") => {
                self.next += 1;
                let mut items = Vec::new();
                while !self.eat_symbol(":") {
                    if !items.is_empty() {
                        self.symbol(",")?;
                    }
                    items.push(self.term()?);
                }
                let elem = self.ty()?;
                self.symbol("]")?;
                Ok(term(TermKind::Array { elem, items }))
            }
            Token::Keyword(_)
            | Token::Int(_)
            | Token::Large(_)
            | Token::Real(_)
            | Token::String(_)
            | Token::Hash(_)
            | Token::Symbol(_)
            | Token::End => Err(self.error("a term")),
        }
    }

    /// `{x = a}` or `{r with x = a}`.
    fn record(&mut self) -> Result<Term, ParseError> {
        self.symbol("{")?;
        let is_field = matches!(self.peek(), Token::Ident(_) | Token::Quoted(_))
            && self.tokens.get(self.next + 1).is_some_and(|lexed| lexed.token == Token::Symbol("="));
        if is_field || *self.peek() == Token::Symbol("}") {
            let (fields, _) = self.comma_list("}", Parser::field)?;
            return Ok(term(TermKind::Record(fields)));
        }
        let record = Arc::new(self.term()?);
        self.keyword("with")?;
        let (fields, _) = self.comma_list("}", Parser::field)?;
        Ok(term(TermKind::Update { record, fields }))
    }

    /// `x = a`
    fn field(&mut self) -> Result<(Name, Term), ParseError> {
        let name = self.name("a field")?;
        self.symbol("=")?;
        Ok((name, self.term()?))
    }

    /// A literal, if one follows.
    fn literal(&mut self) -> Result<Option<Lit>, ParseError> {
        let lit = match self.peek() {
            Token::Int(n) => Lit::Int(*n),
            Token::Real(x) => Lit::Real(*x),
            Token::String(text) => Lit::String(Arc::clone(text)),
            Token::Keyword("true") => Lit::Bool(true),
            Token::Keyword("false") => Lit::Bool(false),
            Token::Keyword("NaN") => Lit::Real(f64::NAN),
            Token::Keyword("Infinity") => Lit::Real(f64::INFINITY),
            Token::Keyword(_)
            | Token::Ident(_)
            | Token::Quoted(_)
            | Token::Local(..)
            | Token::Large(_)
            | Token::Hash(_)
            | Token::Symbol(_)
            | Token::End => return Ok(None),
        };
        self.next += 1;
        if let Lit::Int(n) = lit
            && self.eat_symbol("~")
        {
            return Ok(Some(Lit::Num(n, self.name("a type variable")?)));
        }
        Ok(Some(lit))
    }

    /// A primitive, if one follows.
    fn prim_here(&mut self) -> Result<Option<Prim>, ParseError> {
        let Token::Hash(name) = *self.peek() else { return Ok(None) };
        let Some(prim) = Prim::by_name(name.as_str()) else {
            return Err(self.error("the name of a primitive"));
        };
        self.next += 1;
        Ok(Some(prim))
    }

    /// Whether `Data::Ctor#n` follows.
    fn ctor_follows(&self) -> bool {
        matches!(self.peek(), Token::Ident(_) | Token::Quoted(_))
            && self.tokens.get(self.next + 1).is_some_and(|lexed| lexed.token == Token::Symbol("::"))
    }

    /// `Data::Ctor#n` and its type arguments.
    fn ctor(&mut self) -> Result<(CtorRef, Vec<Type>), ParseError> {
        let data = self.name("a data type")?;
        self.symbol("::")?;
        let name = self.name("a constructor")?;
        let Token::Hash(position) = *self.peek() else { return Err(self.error("`#` and its position")) };
        let Ok(index) = position.as_str().parse() else { return Err(self.error("`#` and its position")) };
        self.next += 1;
        let at = self.next;
        let mut args = Vec::new();
        for arg in self.type_args()? {
            match arg {
                TypeArg::Type(ty) => args.push(ty),
                TypeArg::Row(_) | TypeArg::Size(_) => {
                    return Err(self.error_at(at, "a data type takes types only".into()));
                }
            }
        }
        Ok((CtorRef { data, index, name }, args))
    }

    /// A small number.
    fn number(&mut self, what: &str) -> Result<u32, ParseError> {
        let Token::Int(n) = *self.peek() else { return Err(self.error(what)) };
        let Ok(n) = n.try_into() else { return Err(self.error(what)) };
        self.next += 1;
        Ok(n)
    }

    /// A pattern.
    fn pattern(&mut self) -> Result<Pattern, ParseError> {
        self.nested(|parser| {
            if !parser.ctor_follows() {
                return parser.pattern_atom();
            }
            let (ctor, args) = parser.ctor()?;
            let mut fields = Vec::new();
            while parser.starts_atom() || *parser.peek() == Token::Symbol("_") {
                fields.push(parser.pattern_atom()?);
            }
            Ok(Pattern::Ctor { ctor, args, fields })
        })
    }

    /// A pattern as the field of a constructor.
    fn pattern_atom(&mut self) -> Result<Pattern, ParseError> {
        self.nested(|parser| {
            if parser.eat_symbol("_") {
                return Ok(Pattern::Wildcard);
            }
            if let Some(lit) = parser.literal()? {
                return Ok(Pattern::Lit(lit));
            }
            if parser.ctor_follows() {
                let (ctor, args) = parser.ctor()?;
                return Ok(Pattern::Ctor { ctor, args, fields: Vec::new() });
            }
            if parser.eat_symbol("{") {
                let (fields, _) = parser.comma_list("}", |parser| {
                    let name = parser.name("a field")?;
                    parser.symbol("=")?;
                    Ok((name, parser.pattern()?))
                })?;
                return Ok(Pattern::Record(fields));
            }
            if !parser.eat_symbol("(") {
                return Err(parser.error("a pattern"));
            }
            if matches!(parser.peek(), Token::Local(..)) {
                let binder = parser.bare_binder()?;
                parser.symbol(")")?;
                return Ok(Pattern::Bind(binder));
            }
            parser.parenthesized_pattern()
        })
    }

    /// A tuple, `p as x%3 : t`, or a single pattern, after `(`.
    fn parenthesized_pattern(&mut self) -> Result<Pattern, ParseError> {
        if self.eat_symbol(")") {
            return Ok(Pattern::Tuple(Vec::new()));
        }
        let first = self.pattern()?;
        if self.eat_keyword("as") {
            let binder = self.bare_binder()?;
            self.symbol(")")?;
            return Ok(Pattern::As(Box::new(first), binder));
        }
        if self.eat_symbol(")") {
            return Ok(first);
        }
        self.symbol(",")?;
        let (rest, _) = self.comma_list(")", Parser::pattern)?;
        let mut items = vec![first];
        items.extend(rest);
        Ok(Pattern::Tuple(items))
    }
}
