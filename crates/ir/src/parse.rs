//! The text form, read back: `parse(&print(p))` is `p` but for spans and for names, which the printer makes unique.
//!
//! A hand-written recursive descent over the tokens of `lexer`. Two passes: the first reads declarations and the heads of
//! functions, for calls may stand before what they call; the second reads the bodies (`code` statements and blocks, `ops`
//! operations). Types of variables come from the operations. The first error ends the parse: this text is written by
//! the printer and by compiler engineers. What is read may still be wrong in ways that [`crate::verify()`] tells.

mod code;
mod lexer;
mod ops;

use crate::op::{Block, Stmt, Var};
use crate::program::{Func, FuncId, Linear, LinearId, Program, VarInfo};
use crate::ty::{Ctor, Data, DataId, Elem, Role, Table, Ty};
use crate::words::RESERVED;
use lexer::{Lexed, Token};
use rustc_hash::FxHashMap;
use std::fmt;
use wengert_base::{Name, Span};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Parsed<T> = Result<T, ParseError>;

/// How deep blocks may nest, so that the program can be walked and dropped safely.
pub const MAX_DEPTH: usize = 5_000;

/// Reads a program.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser {
        tokens: lexer::lex(text)?,
        next: 0,
        depth: 0,
        program: Program::default(),
        data: FxHashMap::default(),
        ctors: FxHashMap::default(),
        funcs: FxHashMap::default(),
        linears: FxHashMap::default(),
        vars: Table::default(),
        scope: FxHashMap::default(),
        hidden: Vec::new(),
        before: Vec::new(),
    };
    parser.declare()?;
    for (func, place) in parser.heads()? {
        parser.next = place;
        parser.body(func)?;
    }
    Ok(parser.program)
}

/// The tokens, how far they are read, and what is declared.
struct Parser {
    /// Ends with [`Token::End`].
    tokens: Vec<Lexed>,
    next: usize,
    depth: usize,
    program: Program,
    data: FxHashMap<Name, DataId>,
    /// By constructor; several if types share a name.
    ctors: FxHashMap<Name, Vec<(DataId, u32)>>,
    funcs: FxHashMap<Name, FuncId>,
    linears: FxHashMap<Name, LinearId>,
    /// Variables of the function that is being read.
    vars: Table<Var, VarInfo>,
    scope: FxHashMap<Name, Var>,
    /// What the names bound in the blocks around meant before, to be undone at the ends of the blocks.
    hidden: Vec<(Name, Option<Var>)>,
    /// Statements that the one that is being read stands for besides.
    before: Vec<Stmt>,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token after so many others.
    fn peek_at(&self, further: usize) -> &Token {
        self.tokens.get(self.next + further).map_or(&Token::End, |lexed| &lexed.token)
    }

    fn bump(&mut self) {
        self.next += 1;
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    /// Reads that symbol if it is next.
    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.next += usize::from(found);
        found
    }

    /// Reads that word if it is next.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// A message about the next token.
    fn expected(&self, what: &str) -> ParseError {
        self.error(format!("expected {what}, found {}", self.peek()))
    }

    /// A message at the next token.
    fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.next, message)
    }

    fn error_at(&self, place: usize, message: impl Into<String>) -> ParseError {
        let at = self.tokens.get(place).or(self.tokens.last());
        let (line, column) = at.map_or((1, 1), |lexed| (lexed.line, lexed.column));
        ParseError { line, column, message: message.into() }
    }

    /// A name, quoted or not.
    fn name(&mut self) -> Parsed<Name> {
        let found = match self.plain_word() {
            Some(text) => (!RESERVED.contains(&text)).then(|| Name::new(text)),
            None => self.quoted(),
        };
        let name = found.ok_or_else(|| self.expected("a name"))?;
        self.bump();
        Ok(name)
    }

    /// The next token if it is a name or word without quotes.
    fn plain_word(&self) -> Option<&str> {
        if let Token::Word(text) = self.peek() { Some(text) } else { None }
    }

    /// The next token if it is a name in quotes.
    fn quoted(&self) -> Option<Name> {
        if let Token::Quoted(text) = self.peek() { Some(Name::new(text)) } else { None }
    }

    /// What a rule reads, again and again with commas between, up to a closing symbol, which is read too.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// First pass over the declarations: names of data types and functions.
    fn declare(&mut self) -> Parsed<()> {
        while *self.peek() != Token::End {
            let Token::Word(word) = self.peek() else { return Err(self.expected("a declaration")) };
            let word = word.clone();
            self.bump();
            let place = self.next;
            match word.as_str() {
                "data" | "closure" | "residual" | "tangent" => {
                    let name = self.name()?;
                    let id = self.program.data.push(Data { name, role: Role::Declared, ctors: Vec::new() });
                    if self.data.insert(name, id).is_some() {
                        return Err(self.error_at(place, format!("the data type `{name}` is declared twice")));
                    }
                    if word == "tangent" {
                        self.word("of")?;
                        self.name()?;
                    }
                    self.skip_block()?;
                }
                "func" => {
                    let name = self.name()?;
                    let id = self.program.funcs.push(no_func(name));
                    if self.funcs.insert(name, id).is_some() {
                        return Err(self.error_at(place, format!("the function `{name}` is declared twice")));
                    }
                    while !self.is_symbol("{") && *self.peek() != Token::End {
                        self.bump();
                    }
                    self.skip_block()?;
                }
                "linear" => self.skip_linear()?,
                "entry" => {
                    self.name()?;
                    self.symbol("=")?;
                    self.name()?;
                }
                _ => {
                    self.next -= 1;
                    return Err(self.expected("a declaration (`data`, `func`, `linear`, `entry`)"));
                }
            }
        }
        self.next = 0;
        Ok(())
    }

    /// Skips what stands between braces, and them.
    fn skip_block(&mut self) -> Parsed<()> {
        let start = self.next;
        self.symbol("{")?;
        let mut open = 1;
        while open > 0 {
            match self.peek() {
                Token::Symbol("{") => open += 1,
                Token::Symbol("}") => open -= 1,
                Token::End => return Err(self.error_at(start, "`{` is never closed")),
                Token::Word(_)
                | Token::Quoted(_)
                | Token::Int(_)
                | Token::Real(_)
                | Token::Text(_)
                | Token::Symbol(_) => {}
            }
            self.bump();
        }
        Ok(())
    }

    /// A linearization after its first word, names not looked up.
    fn skip_linear(&mut self) -> Parsed<()> {
        self.name()?;
        self.word("of")?;
        self.name()?;
        self.symbol("(")?;
        self.list(")", Parser::name)?;
        self.word("keeps")?;
        self.name().map(|_| ())
    }

    /// The rest of the first pass: constructors, heads of functions, linearizations, entries. Gives where bodies begin.
    fn heads(&mut self) -> Parsed<Vec<(FuncId, usize)>> {
        let (mut linears, mut bodies) = (Vec::new(), Vec::new());
        while let Some(word) = self.plain_word() {
            match word {
                "func" => {
                    let id = self.head()?;
                    bodies.push((id, self.next));
                    self.skip_block()?;
                }
                "linear" => {
                    linears.push(self.next);
                    self.bump();
                    self.skip_linear()?;
                }
                "entry" => {
                    self.bump();
                    let name = self.name()?;
                    self.symbol("=")?;
                    let func = self.func()?;
                    self.program.entries.insert(name, func);
                }
                _ => self.data_declaration()?,
            }
        }
        for place in linears {
            self.next = place;
            self.linear_declaration()?;
        }
        Ok(bodies)
    }

    fn data_declaration(&mut self) -> Parsed<()> {
        let kind = self.plain_word().unwrap_or_default().to_owned();
        self.bump();
        let id = self.data_type()?;
        let role = match kind.as_str() {
            "closure" => Role::Closure,
            "residual" => Role::Residual,
            "tangent" => {
                self.word("of")?;
                Role::Tangent(self.data_type()?)
            }
            _ => Role::Declared,
        };
        self.program.data.at_mut(id).role = role;
        self.symbol("{")?;
        while !self.eat("}") {
            let name = self.name()?;
            self.symbol("(")?;
            let fields = self.list(")", Parser::ty)?;
            let ctors = &mut self.program.data.at_mut(id).ctors;
            let index = u32::try_from(ctors.len()).unwrap_or(u32::MAX);
            ctors.push(Ctor { name, fields });
            self.ctors.entry(name).or_default().push((id, index));
            self.eat(";");
        }
        Ok(())
    }

    /// The name of a data type.
    fn data_type(&mut self) -> Parsed<DataId> {
        let place = self.next;
        let name = self.name()?;
        self.data
            .get(&name)
            .copied()
            .ok_or_else(|| self.error_at(place, format!("there is no data type `{name}`")))
    }

    /// The name of a function.
    fn func(&mut self) -> Parsed<FuncId> {
        let place = self.next;
        let name = self.name()?;
        self.funcs
            .get(&name)
            .copied()
            .ok_or_else(|| self.error_at(place, format!("there is no function `{name}`")))
    }

    fn ty(&mut self) -> Parsed<Ty> {
        let mut rank: u8 = 0;
        while self.eat("[") {
            self.symbol("]")?;
            rank = rank.checked_add(1).ok_or_else(|| self.error("an array has at most 255 axes"))?;
        }
        let elem = match self.plain_word().unwrap_or_default() {
            "Real" => Some(Elem::Real),
            "Int" => Some(Elem::Int),
            "Bool" => Some(Elem::Bool),
            "Text" => Some(Elem::Text),
            "Unit" => Some(Elem::Unit),
            _ => None,
        };
        let elem = match elem {
            Some(elem) => {
                self.bump();
                elem
            }
            None => Elem::Data(self.data_type()?),
        };
        Ok(Ty::of_rank(elem, rank))
    }

    /// `func f(x: Real) -> Real`
    fn head(&mut self) -> Parsed<FuncId> {
        self.word("func")?;
        let id = self.func()?;
        self.vars = Table::default();
        self.symbol("(")?;
        let params = self.list(")", |parser| {
            let name = parser.name()?;
            parser.symbol(":")?;
            let ty = parser.ty()?;
            Ok(parser.vars.push(VarInfo { name, ty }))
        })?;
        self.symbol("->")?;
        let results = if self.eat("(") { self.list(")", Parser::ty)? } else { vec![self.ty()?] };
        let vars = std::mem::take(&mut self.vars);
        let func = self.program.funcs.at_mut(id);
        func.vars = vars;
        func.body.params = params;
        func.results = results;
        Ok(id)
    }

    /// `linear f_map of f(varies, fixed) keeps R`
    fn linear_declaration(&mut self) -> Parsed<()> {
        self.word("linear")?;
        let place = self.next;
        let name = self.name()?;
        self.word("of")?;
        let func = self.func()?;
        self.symbol("(")?;
        let active = self.list(")", |parser| {
            let varies = parser.eat_word("varies");
            if !varies {
                parser.word("fixed").map_err(|_| parser.expected("`varies` or `fixed`"))?;
            }
            Ok(varies)
        })?;
        self.word("keeps")?;
        let residual = self.data_type()?;
        let id = self.program.linears.push(Linear { func, active, residual });
        if self.linears.insert(name, id).is_some() {
            return Err(self.error_at(place, format!("the linearization `{name}` is declared twice")));
        }
        Ok(())
    }

    /// Second pass: the body of a function.
    fn body(&mut self, id: FuncId) -> Parsed<()> {
        // The head stays in place: the function may call itself.
        let func = self.program.funcs.at(id);
        self.vars = func.vars.clone();
        let params = func.body.params.clone();
        self.scope = params.iter().map(|var| (self.vars.at(*var).name, *var)).collect();
        self.hidden.clear();
        let mut body = self.block("return")?;
        body.params = params;
        let func = self.program.funcs.at_mut(id);
        func.vars = std::mem::take(&mut self.vars);
        func.body = body;
        Ok(())
    }
}

/// A function whose head is still to be read.
fn no_func(name: Name) -> Func {
    Func { name, results: Vec::new(), vars: Table::default(), body: Block::default(), span: Span::NOWHERE }
}

#[cfg(test)]
pub(crate) mod tests;
