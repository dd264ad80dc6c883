//! Loop programs as text, for people who want to see what is compiled.
//!
//! ```text
//! func total(p0: address, i1: int) -> (r2: real) {
//!     r2 = 0.0
//!     for i3 in 0..i1 {
//!         r4 = real p0[i3]
//!         r2 = add(r2, r4)
//!     }
//! }
//! ```

use super::{Failure, Func, Int, Kind, Local, Operand, Passing, Program, Round, Stmt, Sum, Value, Word};
use std::fmt::Write;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { program, text: String::new(), depth: 0 };
    for (id, func) in program.funcs.iter() {
        printer.func(id, func);
    }
    printer.text
}

struct Printer<'a> {
    program: &'a Program,
    text: String,
    depth: usize,
}

/// What is printed next is about this function.
struct Line<'a> {
    func: &'a Func,
}

impl Line<'_> {
    fn local(&self, local: Local) -> String {
        let letter = match self.func.locals.get(local) {
            Some(Word::Real) => 'r',
            Some(Word::Int) | None => 'i',
            Some(Word::Ref) => 'o',
            Some(Word::Address) => 'p',
        };
        format!("{letter}{}", local.0)
    }

    fn locals(&self, locals: &[Local]) -> String {
        locals.iter().map(|local| self.local(*local)).collect::<Vec<_>>().join(", ")
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Local(local) => self.local(*local),
            Operand::Real(x) => format!("{x:?}"),
            Operand::Int(n) => n.to_string(),
            Operand::Text(number) => format!("text{number}"),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    /// What a loop adds to.
    fn sums(&self, sums: &[Sum]) -> String {
        let names = sums.iter().map(|sum| match sum {
            Sum::Word(local, _) | Sum::Array { first: local, .. } | Sum::Near(local) => self.local(*local),
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { String::new() } else { format!(" adding to {}", names.join(", ")) }
    }

    /// `base[index + offset]`.
    fn place(&self, base: &Operand, index: &Operand, offset: i32) -> String {
        let base = self.operand(base);
        match (index, offset) {
            (Operand::Int(index), offset) => format!("{base}[{}]", index.wrapping_add(i64::from(offset))),
            (index, 0) => format!("{base}[{}]", self.operand(index)),
            (index, offset) => format!("{base}[{} + {offset}]", self.operand(index)),
        }
    }

    fn value(&self, value: &Value, word: Option<Word>) -> String {
        let one = |name: &str, a: &Operand| format!("{name}({})", self.operand(a));
        let two = |name: &str, a: &Operand, b: &Operand| {
            format!("{name}({}, {})", self.operand(a), self.operand(b))
        };
        match value {
            Value::Copy(a) => self.operand(a),
            Value::Real(op, args) => {
                format!("{}({})", format!("{op:?}").to_lowercase(), self.operands(args))
            }
            Value::Int(op, a, b) => {
                let (a, b) = (self.operand(a), self.operand(b));
                infix(*op).map_or_else(|name| format!("{name}({a}, {b})"), |sign| format!("{a} {sign} {b}"))
            }
            Value::CompareReal(op, a, b) | Value::CompareInt(op, a, b) => {
                format!("{} {} {}", self.operand(a), op.symbol(), self.operand(b))
            }
            Value::OutOfRange(a, b) => two("out_of_range", a, b),
            Value::Select(cond, a, b) => {
                let (cond, a, b) = (self.operand(cond), self.operand(a), self.operand(b));
                format!("if {cond} then {a} else {b}")
            }
            Value::IntToReal(a) => one("real", a),
            Value::RealToInt(a) => one("int", a),
            Value::Round(round, a) => one(rounding(*round), a),
            Value::Bits(a) => one("bits", a),
            Value::Load { base, index, offset } => {
                let kind = if word == Some(Word::Real) { "real " } else { "" };
                format!("{kind}{}", self.place(base, index, *offset))
            }
            Value::Address { base, index, offset } => format!("&{}", self.place(base, index, *offset)),
            Value::Tag(a, _) => one("constructor", a),
            Value::Unique(a, _) => one("unique", a),
            Value::Alloc(a, _, None) => one("alloc", a),
            Value::Alloc(a, _, Some(ctor)) => format!("alloc({}, constructor {ctor})", self.operand(a)),
        }
    }
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn func(&mut self, id: FuncId, func: &Func) {
        let line = Line { func };
        let word = |local: &Local| match func.locals.get(*local) {
            Some(Word::Real) => "real",
            Some(Word::Int) | None => "int",
            Some(Word::Ref) => "object",
            Some(Word::Address) => "address",
        };
        let list = |locals: &[Local]| {
            let all = locals.iter().map(|local| format!("{}: {}", line.local(*local), word(local)));
            all.collect::<Vec<_>>().join(", ")
        };
        if id.index() > 0 {
            self.text.push('\n');
        }
        let borrowed = func.passing.iter().filter(|passing| **passing == Passing::Borrowed).count();
        let note = if borrowed == func.passing.len() { "" } else { " owning" };
        let shared = if func.shared { " sharing" } else { "" };
        let name = format!("{}_{}", func.name, id.index());
        self.line(&format!(
            "func {name}({}) -> ({}){note}{shared} {{",
            list(&func.params),
            list(&func.results)
        ));
        self.depth += 1;
        self.block(&line, &func.body);
        self.depth -= 1;
        self.line("}");
    }

    fn block(&mut self, line: &Line<'_>, stmts: &[Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            stmts.iter().for_each(|stmt| self.stmt(line, stmt));
        });
    }

    fn nested(&mut self, line: &Line<'_>, head: &str, stmts: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.block(line, stmts);
        self.depth -= 1;
        self.line("}");
    }

    fn stmt(&mut self, line: &Line<'_>, stmt: &Stmt) {
        match stmt {
            Stmt::Set(local, value) => {
                let word = line.func.locals.get(*local).copied();
                self.line(&format!("{} = {}", line.local(*local), line.value(value, word)));
            }
            Stmt::Store { base, index, offset, value } => {
                self.line(&format!("{} = {}", line.place(base, index, *offset), line.operand(value)));
            }
            Stmt::If { cond, then, otherwise } => {
                self.nested(line, &format!("if {}", line.operand(cond)), then);
                if !otherwise.is_empty() {
                    self.nested(line, "else", otherwise);
                }
            }
            Stmt::Switch { on, cases } => {
                self.line(&format!("switch {} {{", line.operand(on)));
                for (number, case) in cases.iter().enumerate() {
                    self.nested(line, &format!("case {number}"), case);
                }
                self.line("}");
            }
            Stmt::For { index, len, backward, independent, sums, body } => {
                let (index, len) = (line.local(*index), line.operand(len));
                let order = if *backward { " backward" } else { "" };
                let note = if *independent { " independent" } else { "" };
                let sums = line.sums(sums);
                self.nested(line, &format!("for {index} in 0..{len}{order}{note}{sums}"), body);
            }
            Stmt::Parallel { part, len, backward, work: _, captured, sums } => {
                let order = if *backward { " backward" } else { "" };
                let (name, given) = (self.function(*part), line.locals(captured));
                let (len, sums) = (line.operand(len), line.sums(sums));
                self.line(&format!("in parallel 0..{len}{order}{sums} do {name}({given})"));
            }
            Stmt::While { head, cond, body } => {
                self.nested(line, "while", head);
                self.nested(line, &format!("{} do", line.operand(cond)), body);
            }
            Stmt::Call { func, args, outs } => {
                let call = format!("{}({})", self.function(*func), line.operands(args));
                self.assign(line, outs, &call);
            }
            Stmt::Runtime { call, args, out } => {
                let call = format!("{}({})", call.name(), line.operands(args));
                self.assign(line, out.as_slice(), &call);
            }
            Stmt::Retain(a, kind) => self.line(&format!("retain({}){}", line.operand(a), what(*kind))),
            Stmt::Release(a, kind) => self.line(&format!("release({}){}", line.operand(a), what(*kind))),
            Stmt::Free(a, _) => self.line(&format!("free({})", line.operand(a))),
            Stmt::Fail(site, numbers) => {
                let failure = self.program.sites.get(*site as usize).map(|site| site.failure);
                let name = failure.map_or("unknown", failure_name);
                self.line(&format!("fail {name}({})", line.operands(numbers)));
            }
        }
    }

    fn function(&self, func: FuncId) -> String {
        let name = self.program.funcs.get(func).map_or_else(String::new, |func| func.name.to_string());
        format!("{name}_{}", func.index())
    }

    fn assign(&mut self, line: &Line<'_>, outs: &[Local], call: &str) {
        if outs.is_empty() {
            self.line(call);
        } else {
            self.line(&format!("{} = {call}", line.locals(outs)));
        }
    }
}

/// The kind of what is counted, where that does not speak for itself.
fn what(kind: Kind) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match kind {
        Kind::Plain => Ok(()),
        Kind::Text => write!(text, " -- text"),
        Kind::Data(data) => write!(text, " -- data {data}"),
        Kind::Array(rank) => write!(text, " -- array of rank {rank}"),
        Kind::ArrayOfText(rank) => write!(text, " -- array of rank {rank} of texts"),
        Kind::ArrayOfData(rank, data) => write!(text, " -- array of rank {rank} of data {data}"),
    };
    text
}

/// The sign between the operands, or the name before them.
fn infix(op: Int) -> Result<&'static str, &'static str> {
    match op {
        Int::Add => Ok("+"),
        Int::Sub => Ok("-"),
        Int::Mul => Ok("*"),
        Int::Div => Ok("/"),
        Int::Rem => Ok("%"),
        Int::And => Ok("&"),
        Int::Or => Ok("|"),
        Int::Xor => Ok("^"),
        Int::ShiftLeft => Ok("<<"),
        Int::ShiftRight => Ok(">>"),
        Int::Min => Err("min"),
        Int::Max => Err("max"),
    }
}

fn rounding(round: Round) -> &'static str {
    match round {
        Round::Floor => "floor",
        Round::Ceil => "ceil",
        Round::Nearest => "round",
        Round::Truncate => "truncate",
    }
}

fn failure_name(failure: Failure) -> &'static str {
    match failure {
        Failure::Index => "index",
        Failure::Division(_) => "division",
        Failure::Required(_) => "required",
        Failure::Ragged(_) => "ragged",
        Failure::Empty(_) => "empty",
        Failure::Slice => "slice",
        Failure::NegativePower => "negative_power",
        Failure::Shift => "shift",
        Failure::NotAnInt(_) => "not_an_int",
        Failure::NegativeCount(_) => "negative_count",
        Failure::TooLarge(_) => "too_large",
        Failure::User => "user",
        Failure::Polygamma => "polygamma",
        Failure::Memory => "memory",
        Failure::Interrupted => "interrupted",
        Failure::Internal => "internal",
    }
}
