//! Operations.

use super::{Parsed, Parser, Token};
use crate::op::{ArrayOp, Atom, Custom, IntOp, Mode, Op, Requirement, Rule, Stmt, TextOp};
use crate::program::{LinearId, VarInfo};
use crate::ty::{DataId, Ty};
use crate::words::{self, INFIX, Infix, Word};
use wengert_base::{Name, Span};
use wengert_prim::RealOp;

impl Parser {
    /// What stands on the right of `=`, or alone.
    pub(super) fn op(&mut self) -> Parsed<Op> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                if words::RESERVED.contains(&word.as_str()) {
                    return self.reserved(&word);
                }
                match (words::word(&word), self.peek_at(1)) {
                    (Some(found), Token::Symbol("(")) => {
                        self.bump();
                        return self.word_call(found);
                    }
                    (Some(Word::Polygamma), Token::Symbol("[")) => {
                        self.bump();
                        return self.polygamma();
                    }
                    (_, Token::Symbol("(" | "::")) => return self.call(),
                    _ => {}
                }
            }
            Token::Quoted(_) if matches!(self.peek_at(1), Token::Symbol("(" | "::")) => return self.call(),
            Token::Symbol("[") => {
                self.bump();
                return Ok(Op::Array(ArrayOp::Literal, self.list("]", Parser::atom)?));
            }
            Token::Symbol("-") => {
                self.bump();
                let x = self.atom()?;
                return Ok(self.number(RealOp::Neg, IntOp::Neg, vec![x]));
            }
            Token::Quoted(_)
            | Token::Int(_)
            | Token::Real(_)
            | Token::Text(_)
            | Token::Symbol(_)
            | Token::End => {}
        }
        let first = self.atom()?;
        self.after_atom(first)
    }

    /// What begins with a reserved word.
    fn reserved(&mut self, word: &str) -> Parsed<Op> {
        if matches!(word, "true" | "false" | "NaN" | "Infinity") {
            let atom = self.atom()?;
            return self.after_atom(atom);
        }
        self.bump();
        match word {
            "match" => self.match_on(),
            "if" => self.if_else(),
            "each" => self.counted(Mode::Each),
            "for" => self.counted(Mode::Sequence),
            "reduce" => self.counted(Mode::Reduce),
            "while" => self.while_loop(),
            "checkpoint" => {
                let func = self.func()?;
                self.symbol("(")?;
                Ok(Op::Call { func, args: self.list(")", Parser::atom)?, checkpoint: true })
            }
            "require" => self.require(),
            "empty" => {
                let ty = self.ty()?;
                Ok(Op::Array(ArrayOp::Empty(ty.elem(), ty.rank()), Vec::new()))
            }
            "jvp" => self.jvp(),
            "linearize" => {
                let linear = self.linear()?;
                self.symbol("(")?;
                Ok(Op::Linearize { linear, args: self.list(")", Parser::atom)? })
            }
            "forward" => {
                let (linear, residual, tangents) = self.linear_map()?;
                Ok(Op::Forward { linear, residual, tangents })
            }
            "backward" => {
                let (linear, residual, cotangents) = self.linear_map()?;
                Ok(Op::Backward { linear, residual, cotangents })
            }
            "custom" => self.custom(),
            "taylor" => {
                let order = self.atom()?;
                let func = self.func()?;
                let captured = self.captured()?;
                self.symbol("(")?;
                let at = self.atom()?;
                self.symbol(")")?;
                Ok(Op::Taylor { func, captured, order, at })
            }
            _ => {
                self.next -= 1;
                Err(self.expected("an operation"))
            }
        }
    }

    /// What may follow an operand: nothing, an infix operation, indices, `with`.
    fn after_atom(&mut self, first: Atom) -> Parsed<Op> {
        if self.eat("[") {
            let mut args = vec![first];
            args.extend(self.list("]", Parser::atom)?);
            return Ok(Op::Array(ArrayOp::Index, args));
        }
        if self.eat_word("with") {
            self.symbol("[")?;
            let mut args = vec![first];
            args.extend(self.list("]", Parser::atom)?);
            let op = if self.eat("+=") { ArrayOp::AddAt } else { ArrayOp::Set };
            if op == ArrayOp::Set && !self.eat("=") {
                return Err(self.expected("`=` or `+=`"));
            }
            args.push(self.atom()?);
            return Ok(Op::Array(op, args));
        }
        let Token::Symbol(symbol) = self.peek() else { return Ok(Op::Copy(first)) };
        let Some((_, infix)) = INFIX.iter().find(|(text, _)| text == symbol) else {
            return Ok(Op::Copy(first));
        };
        self.bump();
        let second = self.atom()?;
        Ok(self.infix(*infix, first, second))
    }

    fn infix(&self, infix: Infix, x: Atom, y: Atom) -> Op {
        match infix {
            Infix::Number(RealOp::Add, _) if self.type_of(&x).rank() > 0 => {
                Op::Array(ArrayOp::Add, vec![x, y])
            }
            Infix::Number(real, int) => self.number(real, int, vec![x, y]),
            Infix::Compare(op) => Op::Compare(op, x, y),
            Infix::Rem => Op::Int(IntOp::Rem, vec![x, y]),
            Infix::Pow => Op::Real(RealOp::Pow, vec![x, y]),
            Infix::Append => Op::Text(TextOp::Append, vec![x, y]),
            Infix::Power if self.type_of(&x) == Ty::INT => Op::Int(IntOp::Power, vec![x, y]),
            Infix::Power => {
                if let Atom::Int(n) = y {
                    return Op::Real(RealOp::PowInt(n), vec![x]);
                }
                Op::Power { base: x, exponent: y }
            }
        }
    }

    /// Arithmetic: the first operand tells on what.
    fn number(&self, real: RealOp, int: IntOp, args: Vec<Atom>) -> Op {
        let on_ints = args.first().is_some_and(|arg| self.type_of(arg) == Ty::INT);
        if on_ints { Op::Int(int, args) } else { Op::Real(real, args) }
    }

    /// The operands of a word, and what they make of it.
    fn word_call(&mut self, word: Word) -> Parsed<Op> {
        self.symbol("(")?;
        let place = self.next;
        let args = self.list(")", Parser::atom)?;
        let few = || self.error_at(place, "operands are missing, or there are too many");
        let one = || <[Atom; 1]>::try_from(args.clone()).map_err(|_| few());
        let two = || <[Atom; 2]>::try_from(args.clone()).map_err(|_| few());
        Ok(match word {
            Word::Real(op) => Op::Real(op, args),
            Word::Int(op) => Op::Int(op, args),
            Word::Number(real, int) => self.number(real, int, args),
            Word::Text(op) => Op::Text(op, args),
            Word::Array(op) => Op::Array(op, args),
            Word::StopGradient => Op::StopGradient(args),
            Word::Power => {
                let [base, exponent] = two()?;
                Op::Power { base, exponent }
            }
            Word::Polygamma => {
                let [order, x] = two()?;
                Op::Polygamma { order, x }
            }
            Word::Convert(op) => {
                let [x] = one()?;
                Op::Convert(op, x)
            }
            Word::Not => {
                let [x] = one()?;
                Op::Not(x)
            }
            Word::Fail => {
                let [message] = one()?;
                Op::Fail { message }
            }
            Word::Whole => {
                let [array] = one()?;
                Op::Whole(array)
            }
            Word::Select => {
                let [cond, then, otherwise] = <[Atom; 3]>::try_from(args.clone()).map_err(|_| few())?;
                Op::Select { cond, then, otherwise }
            }
            Word::Show => match args.first().map(|x| self.type_of(x)) {
                Some(Ty::INT) => Op::Text(TextOp::ShowInt, args),
                Some(Ty::TEXT) => Op::Text(TextOp::ShowText, args),
                _ => Op::Text(TextOp::ShowReal, args),
            },
            Word::Length => match args.as_slice() {
                [xs] => Op::Array(ArrayOp::Length(0), vec![xs.clone()]),
                [xs, Atom::Int(axis)] => {
                    let axis =
                        u8::try_from(*axis).map_err(|_| self.error_at(place, "there is no such axis"))?;
                    Op::Array(ArrayOp::Length(axis), vec![xs.clone()])
                }
                _ => return Err(few()),
            },
        })
    }

    /// `[3](x)`, after the word.
    fn polygamma(&mut self) -> Parsed<Op> {
        self.symbol("[")?;
        let place = self.next;
        let order = match self.atom()? {
            Atom::Int(n) => u32::try_from(n).ok(),
            Atom::Var(_) | Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
        };
        let order =
            order.ok_or_else(|| self.error_at(place, "the order is a number that is not negative"))?;
        self.symbol("]")?;
        self.symbol("(")?;
        Ok(Op::Real(RealOp::Polygamma(order), self.list(")", Parser::atom)?))
    }

    /// `f(x)`, `Cons(x, xs)`, `List::Cons(x, xs)`
    fn call(&mut self) -> Parsed<Op> {
        let place = self.next;
        if matches!(self.peek_at(1), Token::Symbol("::")) {
            let data = self.data_type()?;
            let ctor = self.ctor_after_colons(data)?;
            self.symbol("(")?;
            return Ok(Op::Make { data, ctor, fields: self.list(")", Parser::atom)? });
        }
        let name = self.name()?;
        self.symbol("(")?;
        let func = self.funcs.get(&name).copied();
        let args = self.list(")", Parser::atom)?;
        if let Some(func) = func {
            return Ok(Op::Call { func, args, checkpoint: false });
        }
        match self.ctors.get(&name).map(Vec::as_slice) {
            Some([(data, ctor)]) => Ok(Op::Make { data: *data, ctor: *ctor, fields: args }),
            Some(_) => {
                Err(self.error_at(place, format!("several types have `{name}`: write `Type::{name}`")))
            }
            None => Err(self.error_at(place, format!("there is no function or constructor `{name}`"))),
        }
    }

    fn ctor_after_colons(&mut self, data: DataId) -> Parsed<u32> {
        self.symbol("::")?;
        let place = self.next;
        let name = self.name()?;
        let ctors = &self.program.data.at(data).ctors;
        let found = ctors.iter().position(|ctor| ctor.name == name).and_then(|i| u32::try_from(i).ok());
        found.ok_or_else(|| self.error_at(place, format!("the type has no constructor `{name}`")))
    }

    /// The name of a constructor of that type, with the type's name before it or not.
    pub(super) fn ctor_of(&mut self, data: DataId) -> Parsed<u32> {
        let place = self.next;
        if matches!(self.peek_at(1), Token::Symbol("::")) {
            if self.data_type()? != data {
                return Err(self.error_at(place, "this constructor is of another type"));
            }
            return self.ctor_after_colons(data);
        }
        let name = self.name()?;
        let ctors = &self.program.data.at(data).ctors;
        let found = ctors.iter().position(|ctor| ctor.name == name).and_then(|i| u32::try_from(i).ok());
        found.ok_or_else(|| self.error_at(place, format!("the type has no constructor `{name}`")))
    }

    /// `a == b, same_size map2` or `a >= 0, count build`, after the word.
    fn require(&mut self) -> Parsed<Op> {
        let left = self.atom()?;
        let right = if self.eat(">=") {
            let place = self.next;
            if self.atom()? != Atom::Int(0) {
                return Err(self.error_at(place, "it can only be required not to be negative"));
            }
            let limit = self.vars.push(VarInfo { name: Name::new("t"), ty: Ty::INT });
            let op = Op::Int(IntOp::Max, vec![left.clone(), Atom::Int(0)]);
            self.before.push(Stmt { outs: vec![limit], op, span: Span::NOWHERE });
            Atom::Var(limit)
        } else {
            self.symbol("==")?;
            self.atom()?
        };
        self.symbol(",")?;
        let place = self.next;
        let kind = self.name()?;
        let what = match kind.as_str() {
            "same_size" => Requirement::SameSize(self.name()?),
            "product_size" => Requirement::ProductSize(self.name()?),
            "named_size" => {
                let name = self.name()?;
                let Token::Int(axis) = *self.peek() else { return Err(self.expected("an axis")) };
                let axis = u32::try_from(axis).map_err(|_| self.expected("an axis"))?;
                self.bump();
                Requirement::NamedSize(name, axis)
            }
            "rows" => Requirement::Rows,
            "count" => Requirement::Count(self.name()?),
            "shape" => Requirement::Shape(self.name()?),
            "same_ctor" => {
                let operation = self.name()?;
                Requirement::SameCtor(operation, self.data_type()?)
            }
            "reals" => Requirement::Reals(self.name()?),
            "beside" => Requirement::Beside,
            other => return Err(self.error_at(place, format!("there is no requirement `{other}`"))),
        };
        Ok(Op::Require { what, left, right })
    }

    /// `f(x, n; dx, _)`, after the word.
    fn jvp(&mut self) -> Parsed<Op> {
        let func = self.func()?;
        self.symbol("(")?;
        let args = self.list(";", Parser::atom)?;
        let tangents =
            self.list(")", |parser| if parser.eat_word("_") { Ok(None) } else { parser.atom().map(Some) })?;
        Ok(Op::Jvp { func, args, tangents })
    }

    /// The name of a linearization.
    fn linear(&mut self) -> Parsed<LinearId> {
        let place = self.next;
        let name = self.name()?;
        let found = self.linears.get(&name).copied();
        found.ok_or_else(|| self.error_at(place, format!("there is no linearization `{name}`")))
    }

    /// `f_map(residual, x, y)`
    fn linear_map(&mut self) -> Parsed<(LinearId, Atom, Vec<Atom>)> {
        let linear = self.linear()?;
        self.symbol("(")?;
        let residual = self.atom()?;
        let rest = if self.eat(")") {
            Vec::new()
        } else {
            self.symbol(",")?;
            self.list(")", Parser::atom)?
        };
        Ok((linear, residual, rest))
    }

    /// `[x, y]`
    fn captured(&mut self) -> Parsed<Vec<Atom>> {
        self.symbol("[")?;
        self.list("]", Parser::atom)
    }

    /// `vjp f[a](x), rule[b], apply`, after the word.
    fn custom(&mut self) -> Parsed<Op> {
        let is_jvp = self.eat_word("jvp");
        if !is_jvp {
            self.word("vjp").map_err(|_| self.expected("`jvp` or `vjp`"))?;
        }
        let func = self.func()?;
        let captured = self.captured()?;
        self.symbol("(")?;
        let point = self.list(")", Parser::atom)?;
        self.symbol(",")?;
        let rule = self.func()?;
        let rule_captured = self.captured()?;
        let rule = if is_jvp {
            Rule::Jvp(rule)
        } else {
            self.symbol(",")?;
            Rule::Vjp(rule, self.func()?)
        };
        Ok(Op::Custom(Box::new(Custom { func, captured, rule, rule_captured, point })))
    }
}
