//! Blocks, statements, and the operations with blocks inside.

use super::{MAX_DEPTH, Parsed, Parser, Token};
use crate::op::{Atom, Block, Loop, Mode, Op, Stmt, Var, While};
use crate::program::VarInfo;
use crate::ty::{Elem, Ty};
use crate::typing::{self, type_of_atom};
use crate::visit::deep;
use crate::words::RESERVED;
use wengert_base::{Name, Span};

/// A variable on the left of `=`, with its type if that is written.
struct Out {
    place: usize,
    name: Name,
    ty: Option<Ty>,
}

impl Parser {
    /// Binds a new variable.
    fn bind(&mut self, name: Name, ty: Ty) -> Var {
        let var = self.vars.push(VarInfo { name, ty });
        self.hidden.push((name, self.scope.insert(name, var)));
        var
    }

    /// Reads with a rule; the names that it binds are forgotten afterwards.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        let mark = self.hidden.len();
        if self.depth >= MAX_DEPTH {
            return Err(self.error("blocks nest too deeply"));
        }
        self.depth += 1;
        let result = deep(|| rule(self))?;
        self.depth -= 1;
        while self.hidden.len() > mark
            && let Some((name, before)) = self.hidden.pop()
        {
            match before {
                Some(var) => self.scope.insert(name, var),
                None => self.scope.remove(&name),
            };
        }
        Ok(result)
    }

    /// `{ … yield x }`; the parameters are left to the caller.
    pub(super) fn block(&mut self, last: &str) -> Parsed<Block> {
        self.symbol("{")?;
        let mut block = Block::default();
        loop {
            if self.eat("}") {
                return Ok(block);
            }
            if self.eat_word(last) {
                block.results.push(self.atom()?);
                while self.eat(",") {
                    block.results.push(self.atom()?);
                }
                self.symbol("}")?;
                return Ok(block);
            }
            let stmt = self.stmt()?;
            block.stmts.append(&mut self.before);
            block.stmts.push(stmt);
            self.eat(";");
        }
    }

    /// A block with parameters of these names and types.
    fn block_with(&mut self, params: &[(Name, Ty)]) -> Parsed<Block> {
        self.scoped(|parser| {
            let params = params.iter().map(|(name, ty)| parser.bind(*name, *ty)).collect();
            Ok(Block { params, ..parser.block("yield")? })
        })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.next;
        let mut outs: Vec<Out> = Vec::new();
        let is_name = match self.peek() {
            Token::Word(word) => !RESERVED.contains(&word.as_str()),
            Token::Quoted(_) => true,
            Token::Int(_) | Token::Real(_) | Token::Text(_) | Token::Symbol(_) | Token::End => false,
        };
        if is_name && matches!(self.peek_at(1), Token::Symbol("=" | "," | ":")) {
            loop {
                let (place, name) = (self.next, self.name()?);
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                outs.push(Out { place, name, ty });
                if !self.eat(",") {
                    break;
                }
            }
            self.symbol("=")?;
        }
        let op = self.op()?;
        let mut types = typing::types_of(&self.program, &self.vars, &op)
            .map_err(|message| self.error_at(start, message))?;
        if op.never_returns() {
            let known = |out: &Out| {
                let unknown = || format!("`{}` needs a type: nothing tells it", out.name);
                out.ty.ok_or_else(|| self.error_at(out.place, unknown()))
            };
            types = outs.iter().map(known).collect::<Parsed<Vec<Ty>>>()?;
        }
        if types.len() != outs.len() {
            let message =
                format!("the operation has {} results, but there are {} names", types.len(), outs.len());
            return Err(self.error_at(start, message));
        }
        for (out, ty) in outs.iter().zip(&types) {
            if out.ty.is_some_and(|written| written != *ty) {
                let found = typing::show_type(&self.program, *ty);
                return Err(self.error_at(out.place, format!("`{}` is of type {found}", out.name)));
            }
        }
        let outs = outs.iter().zip(types).map(|(out, ty)| self.bind(out.name, ty)).collect();
        Ok(Stmt { outs, op, span: Span::NOWHERE })
    }

    /// An operand.
    pub(super) fn atom(&mut self) -> Parsed<Atom> {
        let atom = match self.peek() {
            Token::Int(n) => Atom::Int(*n),
            Token::Real(x) => Atom::Real(*x),
            Token::Text(text) => Atom::Text(text.clone()),
            Token::Word(word) => match word.as_str() {
                "true" => Atom::Bool(true),
                "false" => Atom::Bool(false),
                "NaN" => Atom::Real(f64::NAN),
                "Infinity" => Atom::Real(f64::INFINITY),
                _ => return self.variable(),
            },
            Token::Quoted(_) => return self.variable(),
            Token::Symbol("(") => {
                self.bump();
                self.symbol(")")?;
                return Ok(Atom::Unit);
            }
            Token::Symbol(_) | Token::End => return Err(self.expected("an operand")),
        };
        self.bump();
        Ok(atom)
    }

    fn variable(&mut self) -> Parsed<Atom> {
        let place = self.next;
        let name = self.name()?;
        let var = self.scope.get(&name);
        var.map(|var| Atom::Var(*var))
            .ok_or_else(|| self.error_at(place, format!("there is no variable `{name}`")))
    }

    pub(super) fn type_of(&self, atom: &Atom) -> Ty {
        type_of_atom(&self.vars, atom).unwrap_or(Ty::Scalar(Elem::Unit))
    }

    /// `match x { Nil() { … } Cons(head, tail) { … } }`, after the word.
    pub(super) fn match_on(&mut self) -> Parsed<Op> {
        let place = self.next;
        let on = self.atom()?;
        let Ty::Scalar(Elem::Data(data)) = self.type_of(&on) else {
            return Err(self.error_at(place, "`match` needs a value of a data type"));
        };
        self.symbol("{")?;
        let ctors = self.program.data.at(data).ctors.clone();
        let mut arms: Vec<Option<Block>> = vec![None; ctors.len()];
        while !self.eat("}") {
            let place = self.next;
            let index = self.ctor_of(data)?;
            let arm = arms.get_mut(index as usize).filter(|arm| arm.is_none());
            if arm.is_none() {
                return Err(self.error_at(place, "there is an arm for this constructor already"));
            }
            self.symbol("(")?;
            let names = self.list(")", Parser::name)?;
            let fields = ctors.get(index as usize).map_or(&[][..], |ctor| ctor.fields.as_slice());
            if names.len() != fields.len() {
                return Err(self.error_at(place, format!("this constructor has {} fields", fields.len())));
            }
            let params: Vec<(Name, Ty)> = names.into_iter().zip(fields.iter().copied()).collect();
            let block = self.block_with(&params)?;
            if let Some(arm) = arms.get_mut(index as usize) {
                *arm = Some(block);
            }
        }
        let found: Option<Vec<Block>> = arms.into_iter().collect();
        let arms = found
            .ok_or_else(|| self.error_at(place, "an arm is missing: there is one for each constructor"))?;
        Ok(Op::Match { on, arms })
    }

    /// `if c { … } else { … }`, after the word.
    pub(super) fn if_else(&mut self) -> Parsed<Op> {
        let cond = self.atom()?;
        let then = self.block_with(&[])?;
        self.word("else")?;
        Ok(Op::If { cond, then, otherwise: self.block_with(&[])? })
    }

    /// `for i < n, s = 0.0, x in xs { … }`, after the first word.
    pub(super) fn counted(&mut self, mode: Mode) -> Parsed<Op> {
        let backward = self.eat_word("backward");
        let mut params = vec![(self.name()?, Ty::INT)];
        self.symbol("<")?;
        let len = self.atom()?;
        let mut atoms: [Vec<Atom>; 3] = Default::default();
        let mut reached = 0;
        while self.eat(",") {
            let (place, name) = (self.next, self.name()?);
            let kind = if self.eat("=") {
                0
            } else if self.eat("+=") {
                1
            } else if self.eat_word("in") {
                2
            } else {
                return Err(self.expected("`=`, `+=` or `in`"));
            };
            if kind < reached {
                return Err(self.error_at(
                    place,
                    "first what is carried (`=`), then accumulators (`+=`), then rows (`in`)",
                ));
            }
            reached = kind;
            let atom = self.atom()?;
            let ty = self.type_of(&atom);
            let ty = if kind < 2 { Some(ty) } else { ty.at(1) };
            params.push((
                name,
                ty.ok_or_else(|| self.error_at(place, format!("`{name}` is to be a row of no array")))?,
            ));
            atoms.get_mut(kind).into_iter().for_each(|atoms| atoms.push(atom.clone()));
        }
        let body = self.block_with(&params)?;
        let [init, accs, inputs] = atoms;
        Ok(Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs, body })))
    }

    /// `while x = 0.0 { … } do y { … }`, after the first word.
    pub(super) fn while_loop(&mut self) -> Parsed<Op> {
        let (mut params, mut init) = (Vec::new(), Vec::new());
        while !self.is_symbol("{") {
            let name = self.name()?;
            self.symbol("=")?;
            let atom = self.atom()?;
            params.push((name, self.type_of(&atom)));
            init.push(atom);
            if !self.eat(",") {
                break;
            }
        }
        let cond = self.block_with(&params)?;
        self.word("do")?;
        let place = self.next;
        let mut names = Vec::new();
        while !self.is_symbol("{") {
            names.push(self.name()?);
            if !self.eat(",") {
                break;
            }
        }
        if names.len() != params.len() {
            return Err(self.error_at(place, format!("the body is given {} values", params.len())));
        }
        let params: Vec<(Name, Ty)> = names.into_iter().zip(params.iter().map(|(_, ty)| *ty)).collect();
        Ok(Op::While(Box::new(While { init, cond, body: self.block_with(&params)? })))
    }
}
