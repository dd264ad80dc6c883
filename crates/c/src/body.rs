//! Functions: statements become statements, and what is computed once and used once becomes part of an expression.
//!
//! A value that is used once, in the block where it is computed, waits until it is used (`Pending`). It is written down as
//! a variable of its own before something changes what it is made of.

mod columns;
mod control;
mod counts;
mod doubt;
mod expr;
mod extremes;
mod finite;
mod guards;
mod over;
mod parallel;
mod rare;
mod real;
mod settled;
mod slopes;
mod steps;
mod strips;
mod sums;
mod tables;
mod trial;
mod waiting;

use crate::pointers::Pointers;
use crate::scopes::{Block, Info, Scopes, count};
use crate::text::{Expr, Level, comment};
use crate::unit::Unit;
use over::Over;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::fmt::Write;
use steps::Noted;
use strips::Strip;
use sums::Plan;
use trial::Trial;
use wengert_base::Span;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;
use wengert_native::Reads;
use wengert_native::loops::{Func, Local, Operand, Runtime, Stmt, Value, Word};

pub(crate) use real::power_function;

/// Longer expressions are taken apart.
const WIDE: usize = 56;

/// A function that is being printed.
pub(crate) struct Body<'u, 'p> {
    pub(crate) unit: &'u mut Unit<'p>,
    pub(crate) pointers: &'u Pointers,
    pub(crate) id: FuncId,
    pub(crate) func: &'p Func,
    names: Vec<String>,
    scopes: Scopes,
    pending: Vec<Pending>,
    /// Which variables are declared, by number.
    declared: Vec<bool>,
    /// Checks that are made elsewhere.
    skipped: FxHashSet<*const Stmt>,
    /// Where it is noted that an argument is not for the main path of a function, if only that is to be called.
    rare: Option<String>,
    /// How the loop around is run without its checks, if it is.
    trial: Option<Trial>,
    /// Whether choices inside of others stand before them.
    flat: bool,
    /// How the loop around is run in any order.
    plan: Plan,
    over: Over,
    /// Whether zeros are not strong here.
    plain: bool,
    /// Where it is noted that what is stored is not finite, if one of these variables is.
    noted: Option<Noted>,
    /// What is kept of the loop around, if it is printed in strips.
    strip: Option<Strip>,
    /// Variables that are declared before a run of statements which is there twice.
    outcome: FxHashSet<Local>,
    /// Loops around.
    loops: usize,
    /// Whether objects are made and freed by functions that are called.
    far: bool,
    /// What the variables are that are assigned once.
    values: FxHashMap<Local, &'p Value>,
    /// What loops only read, if that was asked for.
    reads: OnceCell<Reads>,
    out: String,
    depth: usize,
    /// Blocks so far.
    blocks: Block,
    /// The source line of the last comment.
    line: usize,
}

/// A value that waits for its use.
struct Pending {
    local: Local,
    expr: Expr,
    /// Whether it reads memory.
    reads: bool,
    /// The variables in it that may change.
    changing: Vec<Local>,
    /// How deep the block is in which it waits.
    depth: usize,
    /// The factors, if it is a product.
    product: Option<(Expr, Expr)>,
}

impl<'u, 'p> Body<'u, 'p> {
    /// The text of a function.
    pub(crate) fn print(
        unit: &'u mut Unit<'p>,
        pointers: &'u Pointers,
        id: FuncId,
        func: &'p Func,
    ) -> String {
        let names = unit.local_names(func);
        let scopes = Scopes::of(func);
        let mut body = Body {
            unit,
            pointers,
            id,
            func,
            names,
            scopes,
            pending: Vec::new(),
            declared: vec![false; func.locals.len()],
            skipped: FxHashSet::default(),
            rare: None,
            trial: None,
            flat: false,
            plan: Plan::default(),
            over: Over::default(),
            plain: false,
            noted: None,
            strip: None,
            outcome: FxHashSet::default(),
            loops: 0,
            far: counts::is_much(&func.body),
            values: rare::values(func),
            reads: OnceCell::new(),
            out: String::new(),
            depth: 1,
            blocks: 0,
            line: 0,
        };
        let head = body.signature();
        if let Some(site) = func.recursive {
            body.put(&format!("wg_check_stack(r, {site});"));
        } else if func.pauses {
            body.put("wg_check_stop(r);");
        }
        func.params.iter().for_each(|param| body.is_declared(*param));
        body.stmts(&func.body, 0, 0);
        body.declare((0, count(&func.body)), None);
        body.results();
        let mut text = String::new();
        if let Some((number, line)) = (body.unit.line)(func.span) {
            let _ = writeln!(text, "/* {number} | {} */", comment(&line));
        }
        let _ = writeln!(text, "{head} {{\n{}}}\n", body.out);
        text
    }

    /// The function's type and name.
    pub(crate) fn signature(&self) -> String {
        let mut params = vec!["wg_run *r".to_string()];
        for param in &self.func.params {
            let name = self.name(*param);
            params.push(match self.word(*param) {
                Word::Address if self.is_own(*param) => {
                    format!("{}restrict {name}", self.pointer(*param))
                }
                Word::Real | Word::Int | Word::Ref | Word::Address => {
                    format!("{}{name}", self.declarator(*param))
                }
            });
        }
        format!(
            "static {}{}({})",
            self.unit.result_type(self.id),
            self.unit.function(self.id),
            params.join(", ")
        )
    }

    fn results(&mut self) {
        let results = self.func.results.clone();
        match results.as_slice() {
            [] => {}
            [result] => {
                let value = self.local(*result);
                self.put(&format!("return {};", value.text));
            }
            results => {
                let values: Vec<String> = results.iter().map(|result| self.local(*result).text).collect();
                let ty = self.unit.result_type(self.id);
                self.put(&format!("return ({}){{{}}};", ty.trim_end(), values.join(", ")));
            }
        }
        self.flush(|_| true);
    }

    pub(crate) fn put(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    pub(crate) fn name(&self, local: Local) -> &str {
        self.names.get(local.index()).map_or("nothing", String::as_str)
    }

    /// Gives a variable another name; the one it had.
    fn rename(&mut self, local: Local, name: String) -> String {
        self.names.get_mut(local.index()).map_or_else(String::new, |known| std::mem::replace(known, name))
    }

    pub(crate) fn word(&self, local: Local) -> Word {
        self.func.locals.get(local).copied().unwrap_or(Word::Int)
    }

    fn info(&self, local: Local) -> Info {
        self.scopes.info(local)
    }

    pub(crate) fn assigned_once(&self, local: Local) -> bool {
        self.info(local).sets <= 1
    }

    /// Whether a parameter leads to what no other parameter leads to.
    pub(crate) fn is_own(&self, param: Local) -> bool {
        let among = |own: &Vec<Local>| own.contains(&param);
        self.func.params.contains(&param)
            && self.assigned_once(param)
            && self.func.part.as_ref().is_none_or(among)
    }

    /// `double *` or `word *`
    fn pointer(&self, local: Local) -> &'static str {
        if self.pointers.at_reals(self.id, local) { "double *" } else { "word *" }
    }

    /// What stands before the name in a declaration.
    pub(crate) fn declarator(&self, local: Local) -> &'static str {
        match self.word(local) {
            Word::Real => "double ",
            Word::Int => "word ",
            Word::Ref => "ref ",
            Word::Address => self.pointer(local),
        }
    }

    /// Declares the variables whose place is here, except the one that the statement itself declares.
    fn declare(&mut self, place: (Block, u32), except: Option<Local>) {
        self.declare_those(place, |local, _| Some(local) != except);
    }

    /// Declares those of which this holds.
    fn declare_those(&mut self, place: (Block, u32), which: impl Fn(Local, Info) -> bool) {
        let declared = self.scopes.declared(place).iter();
        let locals: Vec<Local> = declared.copied().filter(|local| which(*local, self.info(*local))).collect();
        for local in locals {
            let known = self.declared.get(local.index()).copied().unwrap_or(false);
            if !known && !self.is_inline(local) {
                self.is_declared(local);
                let zero = if self.word(local) == Word::Real { "0.0" } else { "0" };
                self.put(&format!("{}{} = {zero};", self.declarator(local), self.name(local)));
            }
        }
    }

    fn is_declared(&mut self, local: Local) {
        if let Some(declared) = self.declared.get_mut(local.index()) {
            *declared = true;
        }
    }

    /// Whether a variable is assigned and read once, in the same block.
    fn is_inline(&self, local: Local) -> bool {
        let info = self.info(local);
        !self.outcome.contains(&local)
            && info.sets == 1
            && info.reads == 1
            && info.set_in == info.read_in
            && !self.func.params.contains(&local)
            && info.declared.map(|(block, _)| block) == Some(info.set_in)
    }

    /// Writes down those waiting values for which `which` holds.
    fn flush(&mut self, which: impl Fn(&Pending) -> bool) {
        let mut kept = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            if which(&pending) {
                let line = self.definition(pending.local, &pending.expr);
                self.put(&line);
            } else {
                kept.push(pending);
            }
        }
        self.pending = kept;
    }

    fn definition(&self, local: Local, expr: &Expr) -> String {
        let (declarator, name) = (self.declarator(local), self.name(local));
        match self.word(local) {
            Word::Address | Word::Ref => format!("{declarator}const {name} = {};", expr.text),
            Word::Real | Word::Int => format!("const {declarator}{name} = {};", expr.text),
        }
    }

    fn flush_reads(&mut self) {
        self.flush(|pending| pending.reads);
    }

    /// A comment with the source line, if it is another one than before.
    fn source_line(&mut self, span: Option<Span>) {
        let Some((number, text)) = span.and_then(|span| (self.unit.line)(span)) else { return };
        if number != self.line {
            self.line = number;
            let text = format!("/* {number} | {} */", comment(&text));
            self.put(&text);
        }
    }

    fn span_of(&self, locals: &[Local]) -> Option<Span> {
        locals.iter().find_map(|local| self.func.origins.get(local)).map(|origin| origin.span)
    }

    pub(crate) fn stmts(&mut self, stmts: &[Stmt], block: Block, from: u32) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.over.enter(stmts);
            let (mut rest, mut place) = (stmts, from);
            while !rest.is_empty() {
                let table = self.table_length(rest);
                if table > 0 {
                    let (run, after) = rest.split_at(table);
                    self.table(run, (block, place));
                    place += count(run);
                    rest = after;
                    continue;
                }
                let (run, after) = rest.split_at(self.run_length(rest).max(1));
                match self.outcome(run) {
                    Some(outcome) => self.without_looking(run, &outcome, (block, place)),
                    None => {
                        for (place, stmt) in (place..).zip(run) {
                            self.stmt(stmt, (block, place));
                        }
                    }
                }
                place += count(run);
                rest = after;
            }
            self.over.leave(self.depth);
        });
    }

    /// A block that is entered: its number.
    pub(crate) fn enter(&mut self) -> Block {
        self.blocks += 1;
        self.depth += 1;
        self.blocks
    }

    pub(crate) fn leave(&mut self) {
        let depth = self.depth;
        self.flush(|pending| pending.depth >= depth);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt, place: (Block, u32)) {
        // What nothing assigns is read only after what always fails, but the compiler wants to know it.
        self.declare_those(place, |_, info| info.sets == 0);
        if self.update(stmt) {
            return self.declare(place, None);
        }
        match stmt {
            Stmt::Set(local, value) => self.set(*local, value, place),
            Stmt::Store { base, index, offset, value } => {
                self.declare(place, None);
                self.store(*base, *index, *offset, *value);
            }
            Stmt::If { cond, .. } if self.skipped.contains(&std::ptr::from_ref(stmt)) => {
                self.declare(place, None);
                self.pass_over(stmt, *cond);
            }
            Stmt::If { cond, then, otherwise } => {
                self.declare(place, None);
                self.branch(*cond, then, otherwise);
            }
            Stmt::Switch { on, cases } => {
                self.declare(place, None);
                self.switch(*on, cases);
            }
            Stmt::For { body, .. } => {
                self.declare(place, None);
                self.nearer(body, |this| this.for_loop(stmt));
            }
            Stmt::While { head, cond, body } => {
                self.declare(place, None);
                self.nearer(body, |this| this.while_loop(head, *cond, body));
            }
            Stmt::Parallel { part, len, backward, work, captured, sums } => {
                self.declare(place, None);
                self.parallel(*part, (*len, *backward, *work), captured, sums);
            }
            Stmt::Call { func, args, outs } => self.call(*func, args, outs, place),
            Stmt::Runtime { call, args, out } => self.runtime(*call, args, *out, place),
            Stmt::Retain(object, kind) => self.retain(*object, *kind),
            Stmt::Release(object, kind) => self.release(*object, *kind),
            Stmt::Free(object, _) => self.free(*object),
            Stmt::Fail(site, numbers) => {
                self.declare(place, None);
                self.fail(*site, numbers);
            }
        }
    }

    fn store(&mut self, base: Operand, index: Operand, offset: i32, value: Operand) {
        let real = self.is_real(value);
        let text = self.stored(value).text;
        let target = self.element(base, index, offset, real);
        self.flush_reads();
        if self.noted.as_ref().is_some_and(|noted| noted.waiting.contains(&target.text)) {
            self.note_waiting();
        }
        self.put(&format!("{} = {text};", target.text));
        if self.cell(base, index, offset).is_none() {
            self.note_stored(value, &target.text);
        }
    }

    fn set(&mut self, local: Local, value: &Value, place: (Block, u32)) {
        let info = self.info(local);
        if info.reads == 0 && !matches!(value, Value::Alloc(..)) {
            self.is_declared(local);
            return self.declare(place, None);
        }
        if self.half_reciprocal(local, value) {
            return self.declare(place, Some(local));
        }
        let made = self.value(local, value);
        if let (true, false) = (self.is_inline(local), matches!(value, Value::Alloc(..))) {
            let narrow = made.expr.text.len() <= WIDE;
            self.declare(place, Some(local));
            self.pending.push(Pending { local, ..made });
            if !narrow {
                self.source_line(self.span_of(&[local]));
                self.flush(|pending| pending.local == local);
            }
            return;
        }
        self.source_line(self.span_of(&[local]));
        let own = !self.func.params.contains(&local) && !self.outcome.contains(&local);
        let here = info.declared == Some(place) && own;
        self.declare(place, here.then_some(local));
        if matches!(value, Value::Alloc(..)) {
            self.flush_reads();
        }
        self.flush(|pending| pending.changing.contains(&local));
        if here {
            self.is_declared(local);
        }
        let line = match (here, info.sets) {
            (true, 1) => self.definition(local, &made.expr),
            (true, _) => format!("{}{} = {};", self.declarator(local), self.name(local), made.expr.text),
            (false, _) if self.is_in_order(local, value) => {
                format!("{} = wg_in_order({});", self.name(local), made.expr.text)
            }
            (false, _) => format!("{} = {};", self.name(local), made.expr.text),
        };
        self.put(&line);
        if here {
            self.note_reciprocal(local, value);
        }
    }

    fn call(&mut self, func: FuncId, args: &[Operand], outs: &[Local], place: (Block, u32)) {
        let mut given = vec![Expr::primary("r")];
        let callee = self.unit.program.funcs.get(func);
        for (place, arg) in args.iter().enumerate() {
            let param = callee.and_then(|callee| {
                let param = callee.params.get(place)?;
                callee.locals.get(*param).map(|word| (*word, self.pointers.at_reals(func, *param)))
            });
            given.push(self.argument(*arg, param));
        }
        let call = Expr::call(&self.unit.function(func), &given);
        self.source_line(self.span_of(outs));
        self.flush_reads();
        match outs {
            [] => {
                self.declare(place, None);
                self.put(&format!("{};", call.text));
            }
            [out] => self.assign(*out, &call, place),
            outs => {
                let ty = self.unit.result_type(func).trim_end().to_string();
                let given = self.unit.temporary();
                self.put(&format!("const {ty} {given} = {};", call.text));
                // Each is declared where it is taken out.
                let here = |out: &&Local| self.info(**out).declared == Some(place);
                let own: Vec<Local> = outs.iter().filter(here).copied().collect();
                own.into_iter().for_each(|out| self.is_declared(out));
                for (number, out) in outs.iter().enumerate() {
                    let part = Expr::primary(format!("{given}.x{number}"));
                    if self.is_inline(*out) {
                        let (changing, depth) = (Vec::new(), self.depth);
                        self.pending.push(Pending {
                            local: *out,
                            expr: part,
                            reads: false,
                            changing,
                            depth,
                            product: None,
                        });
                    } else if self.info(*out).reads > 0 {
                        self.assign(*out, &part, place);
                    }
                }
            }
        }
    }

    /// Assigns what a call gives, and declares the variable if this is the place.
    fn assign(&mut self, out: Local, value: &Expr, place: (Block, u32)) {
        let info = self.info(out);
        let here = info.declared == Some(place) && !self.func.params.contains(&out);
        self.declare(place, Some(out).filter(|_| here));
        self.flush(|pending| pending.changing.contains(&out));
        if here {
            self.is_declared(out);
        }
        let line = match (info.reads, here, info.sets) {
            (0, true, _) => format!("{};", value.text),
            (_, true, 1) => self.definition(out, value),
            (_, true, _) => format!("{}{} = {};", self.declarator(out), self.name(out), value.text),
            (_, false, _) => format!("{} = {};", self.name(out), value.text),
        };
        self.put(&line);
    }

    fn runtime(&mut self, call: Runtime, args: &[Operand], out: Option<Local>, place: (Block, u32)) {
        let mut given = Vec::with_capacity(args.len() + 1);
        if self.unit.runtime_takes_run(call) {
            given.push(Expr::primary("r"));
        }
        for arg in args {
            given.push(self.argument(*arg, None));
        }
        let call = Expr::call(self.unit.runtime(call), &given);
        self.source_line(self.span_of(out.as_slice()));
        self.flush_reads();
        match out {
            Some(out) => self.assign(out, &call, place),
            None => {
                self.declare(place, None);
                self.put(&format!("{};", call.text));
            }
        }
    }

    pub(crate) fn fail(&mut self, site: u32, numbers: &[Operand]) {
        if let (true, [message]) = (self.unit.is_users(site), numbers) {
            let (message, number) = (self.reference(*message), self.unit.site(site));
            self.put(&format!("wg_fail_with(r, {number}, {});", message.text));
            return;
        }
        let numbers: Vec<String> =
            numbers.iter().map(|number| self.integer(*number).at(Level::Conditional)).collect();
        let numbers = if numbers.is_empty() { "0".to_string() } else { numbers.join(", ") };
        let note = self.unit.site_note(site);
        let number = self.unit.site(site);
        self.put(&format!("WG_FAIL({number}, {numbers});{note}"));
    }

    /// What follows the statements of a block.
    pub(crate) fn end_of(stmts: &[Stmt]) -> u32 {
        count(stmts)
    }
}
