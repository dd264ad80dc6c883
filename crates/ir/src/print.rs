//! A program as text, for people who look at what the engine does, and for [`crate::parse()`], which reads it back.
//!
//! ```text
//! data List { Nil(); Cons(Real, List) }
//!
//! func total(list: List, bias: Real) -> Real {
//!   sum = match list {
//!     Nil() {
//!       yield bias
//!     }
//!     Cons(head, tail) {
//!       rest = total(tail, bias)
//!       t = head + rest
//!       yield t
//!     }
//!   }
//!   return sum
//! }
//!
//! entry total = total
//! ```
//!
//! A loop names what it carries (`s = 0.0`), what it adds to (`g += zeros`) and its rows (`x in xs`) in its head:
//! `s2, ys = for i < n, s = 0.0, x in xs { … yield t, y }`. `require n >= 0, …` stands for `m = max(n, 0)` and `require n == m, …`. Names that occur twice are told apart by numbers. Types of
//! variables are not printed but where nothing else tells them; spans are not printed.
//!
//! [`print_used`] is for people alone: there what is used once, and has no name of the source, stands where it is used (`places`), what is not
//! used is `_`, and the condition of a loop stands in its head (`heads`).

mod heads;
mod limits;
mod ops;
mod order;
mod places;
mod shapes;

use crate::op::{Atom, Block, Loop, Mode, Op, Requirement, Stmt, Var, While};
use crate::program::{Func, FuncId, LinearId, Program};
use crate::ty::{Ctor, Data, DataId, Elem, Id, Role, Ty};
use crate::visit::{deep, flat_op};
use crate::words;
use heads::{Head, Heads, Test};
use order::{Defined, only_failure, otherwise, unused};
use places::Places;
use rustc_hash::{FxHashMap, FxHashSet};
use shapes::Shapes;
use wengert_base::Name;

/// The whole program.
pub fn print(program: &Program) -> String {
    print_with(program, &|_| true, false)
}

/// The program for a reader: data types of which there are no values are left out, and small expressions stand where they are used.
pub fn print_used(program: &Program) -> String {
    let used = used_data(program);
    print_with(program, &|id| used.contains(&id), true)
}

/// The data types of variables, and those in their fields.
fn used_data(program: &Program) -> FxHashSet<DataId> {
    let mut todo: Vec<Elem> = Vec::new();
    for (_, func) in program.funcs.iter() {
        let mut bound: Vec<Var> = func.body.params.clone();
        func.body.for_each_stmt(&mut |stmt| {
            bound.extend(&stmt.outs);
            bound.extend(stmt.op.blocks().into_iter().flat_map(|block| &block.params));
        });
        todo.extend(bound.into_iter().map(|var| func.ty(var).elem()));
        todo.extend(func.results.iter().map(|ty| ty.elem()));
    }
    let mut used = FxHashSet::default();
    while let Some(elem) = todo.pop() {
        if let Elem::Data(id) = elem
            && used.insert(id)
            && let Some(data) = program.data.get(id)
        {
            todo.extend(data.ctors.iter().flat_map(|ctor| &ctor.fields).map(|ty| ty.elem()));
        }
    }
    used
}

fn print_with(program: &Program, is_shown: &dyn Fn(DataId) -> bool, in_place: bool) -> String {
    let names = Names::new(program);
    let data = program.data.iter().filter(|(id, _)| is_shown(*id));
    let mut parts: Vec<String> = data.map(|(id, data)| names.data_text(id, data)).collect();
    parts.extend(program.linears.ids().map(|id| names.linear_text(program, id)));
    for (id, func) in program.funcs.iter() {
        parts.push(FuncPrinter::new(&names, func, in_place).func(id));
    }
    if !program.entries.is_empty() {
        let entry = |(name, id): (&Name, &FuncId)| {
            format!("entry {} = {}\n", words::quoted(name.as_str(), |_| false), names.func(*id))
        };
        parts.push(program.entries.iter().map(entry).collect());
    }
    parts.join("\n")
}

/// One function.
pub fn print_func(program: &Program, id: FuncId) -> String {
    let names = Names::new(program);
    program.funcs.get(id).map(|func| FuncPrinter::new(&names, func, false).func(id)).unwrap_or_default()
}

/// A statement of a function, its first line only.
pub fn print_stmt(program: &Program, func: &Func, stmt: &Stmt) -> String {
    print_stmt_with(&Names::new(program), func, stmt)
}

/// The same, with names that are known already.
pub(crate) fn print_stmt_with(names: &Names, func: &Func, stmt: &Stmt) -> String {
    let mut printer = FuncPrinter::new(names, func, false);
    let start = printer.outs(stmt);
    printer.stmt(stmt, start);
    printer.out.lines().next().unwrap_or_default().trim().to_owned()
}

/// Names that are unique in the program.
pub(crate) struct Names {
    funcs: Vec<String>,
    data: Vec<String>,
    /// Constructors as they are made: with the type's name before, where several types have one of that name.
    ctors: Vec<Vec<String>>,
    /// Constructors where the type is known.
    short: Vec<Vec<String>>,
    linears: Vec<String>,
}

/// Names that are taken.
#[derive(Default)]
struct Taken {
    used: FxHashSet<String>,
    /// The number to try next, by name: a thousand times the same name must not take a million steps.
    next: FxHashMap<String, usize>,
}

impl Taken {
    /// The name, with a number if it is taken.
    fn unique(&mut self, name: &str) -> String {
        let name = if name.is_empty() { "t" } else { name };
        if self.used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let next = self.next.entry(name.to_owned()).or_insert(2);
        let separator = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        loop {
            let candidate = format!("{name}{separator}{next}");
            *next += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

impl Names {
    pub(crate) fn new(program: &Program) -> Names {
        let is_word = |name: &str| words::word(name).is_some();
        let mut taken = Taken::default();
        let unique: Vec<String> =
            program.funcs.iter().map(|(_, func)| taken.unique(func.name.as_str())).collect();
        let mut taken = Taken::default();
        let data: Vec<String> =
            program.data.iter().map(|(_, data)| taken.unique(data.name.as_str())).collect();
        let mut taken = Taken::default();
        let map_name = |id: LinearId| {
            let func = program.linears.at(id).func;
            format!("{}_map", program.funcs.get(func).map_or("", |func| func.name.as_str()))
        };
        let linears = program.linears.ids().map(|id| words::quoted(&taken.unique(&map_name(id)), |_| false));
        let linears = linears.collect();
        let mut count: FxHashMap<&str, usize> = FxHashMap::default();
        for name in program.data.iter().flat_map(|(_, data)| &data.ctors).map(|ctor| ctor.name.as_str()) {
            *count.entry(name).or_default() += 1;
        }
        for name in &unique {
            *count.entry(name).or_default() += 1;
        }
        let short_names = |data: &Data| -> Vec<String> {
            let mut taken = Taken::default();
            data.ctors.iter().map(|ctor| words::quoted(&taken.unique(ctor.name.as_str()), is_word)).collect()
        };
        let short: Vec<Vec<String>> = program.data.iter().map(|(_, data)| short_names(data)).collect();
        let data: Vec<String> = data.iter().map(|name| words::quoted(name, is_type)).collect();
        let ctors = program.data.iter().zip(&data).zip(&short).map(|(((_, declared), data), short)| {
            let full = |(ctor, short): (&Ctor, &String)| {
                let alone = count.get(ctor.name.as_str()) == Some(&1);
                if alone { short.clone() } else { format!("{data}::{short}") }
            };
            declared.ctors.iter().zip(short).map(full).collect()
        });
        let ctors = ctors.collect();
        Names {
            funcs: unique.iter().map(|name| words::quoted(name, is_word)).collect(),
            data,
            ctors,
            short,
            linears,
        }
    }

    fn func(&self, id: FuncId) -> &str {
        self.funcs.get(id.index()).map_or("?", String::as_str)
    }

    fn linear(&self, id: LinearId) -> &str {
        self.linears.get(id.index()).map_or("?", String::as_str)
    }

    fn ctor(&self, data: DataId, ctor: usize) -> &str {
        self.ctors.get(data.index()).and_then(|ctors| ctors.get(ctor)).map_or("?", String::as_str)
    }

    fn short(&self, data: DataId, ctor: usize) -> &str {
        self.short.get(data.index()).and_then(|ctors| ctors.get(ctor)).map_or("?", String::as_str)
    }

    fn ty(&self, ty: Ty) -> String {
        "[]".repeat(usize::from(ty.rank())) + self.elem(ty.elem())
    }

    fn elem(&self, elem: Elem) -> &str {
        match elem {
            Elem::Real => "Real",
            Elem::Int => "Int",
            Elem::Bool => "Bool",
            Elem::Text => "Text",
            Elem::Unit => "Unit",
            Elem::Data(id) => self.data.get(id.index()).map_or("?", String::as_str),
        }
    }

    fn types(&self, types: &[Ty]) -> String {
        let shown: Vec<String> = types.iter().map(|ty| self.ty(*ty)).collect();
        shown.join(", ")
    }

    fn data_text(&self, id: DataId, data: &Data) -> String {
        let name = self.elem(Elem::Data(id));
        let head = match data.role {
            Role::Declared => format!("data {name}"),
            Role::Closure => format!("closure {name}"),
            Role::Residual => format!("residual {name}"),
            Role::Tangent(of) => format!("tangent {name} of {}", self.elem(Elem::Data(of))),
        };
        let ctor =
            |(i, ctor): (usize, &Ctor)| format!("  {}({})\n", self.short(id, i), self.types(&ctor.fields));
        let ctors: String = data.ctors.iter().enumerate().map(ctor).collect();
        if ctors.is_empty() { format!("{head} {{}}\n") } else { format!("{head} {{\n{ctors}}}\n") }
    }

    fn requirement(&self, what: Requirement) -> String {
        let quoted = |name: Name| words::quoted(name.as_str(), |_| false);
        match what {
            Requirement::SameSize(function) => format!("same_size {}", quoted(function)),
            Requirement::ProductSize(function) => format!("product_size {}", quoted(function)),
            Requirement::NamedSize(name, axis) => format!("named_size {} {axis}", quoted(name)),
            Requirement::Rows => "rows".into(),
            Requirement::Count(function) => format!("count {}", quoted(function)),
            Requirement::Shape(operation) => format!("shape {}", quoted(operation)),
            Requirement::SameCtor(operation, data) => {
                format!("same_ctor {} {}", quoted(operation), self.elem(Elem::Data(data)))
            }
            Requirement::Reals(operation) => format!("reals {}", quoted(operation)),
            Requirement::Beside => "beside".into(),
        }
    }

    fn linear_text(&self, program: &Program, id: LinearId) -> String {
        let linear = program.linears.at(id);
        let params: Vec<&str> =
            linear.active.iter().map(|active| if *active { "varies" } else { "fixed" }).collect();
        let (name, func) = (self.linear(id), self.func(linear.func));
        format!(
            "linear {name} of {func}({}) keeps {}\n",
            params.join(", "),
            self.elem(Elem::Data(linear.residual))
        )
    }
}

fn is_type(name: &str) -> bool {
    words::TYPES.contains(&name)
}

/// Prints the code of one function.
struct FuncPrinter<'a> {
    names: &'a Names,
    func: &'a Func,
    vars: Vec<String>,
    limits: FxHashSet<Var>,
    places: Places<'a>,
    shapes: Shapes<'a>,
    heads: Heads<'a>,
    /// Whether this is for people.
    in_place: bool,
    depth: usize,
    out: String,
}

impl<'a> FuncPrinter<'a> {
    fn new(names: &'a Names, func: &'a Func, in_place: bool) -> FuncPrinter<'a> {
        let shapes = if in_place { Shapes::new(func) } else { Shapes::default() };
        let places = if in_place { places::places(func, &shapes) } else { Places::default() };
        let heads = if in_place { Heads::new(func, &places) } else { Heads::default() };
        let mut unused = if in_place { unused(func) } else { FxHashSet::default() };
        heads.use_both(&mut unused);
        // Those that are seen come first: no number is spent on what is gone.
        let limits = limits::limits(func);
        let is_shown = |var| !limits.contains(&var) && !places.contains_key(&var) && !unused.contains(&var);
        let order = Defined::of(&func.body, &is_shown, &heads, in_place).into_iter().chain(func.vars.ids());
        let mut taken = Taken::default();
        let mut vars = vec![String::new(); func.vars.len()];
        for (var, name) in func.vars.ids().zip(&mut vars) {
            if unused.contains(&var) {
                "_".clone_into(name);
            }
        }
        for var in order {
            if let (Some(info), Some(name)) = (func.vars.get(var), vars.get_mut(var.index()))
                && name.is_empty()
            {
                *name = words::quoted(&taken.unique(info.name.as_str()), |_| false);
            }
        }
        heads.name(&mut vars);
        FuncPrinter {
            names,
            func,
            vars,
            limits,
            places,
            shapes,
            heads,
            in_place,
            depth: 1,
            out: String::new(),
        }
    }

    fn func(mut self, id: FuncId) -> String {
        let param = |var: &Var| match self.func.vars.get(*var) {
            Some(info) => format!("{}: {}", self.var(*var), self.names.ty(info.ty)),
            None => "?".into(),
        };
        let params: Vec<String> = self.func.body.params.iter().map(param).collect();
        let results = match self.func.results.as_slice() {
            [one] => self.names.ty(*one),
            all => format!("({})", self.names.types(all)),
        };
        self.out = format!("func {}({}) -> {results} {{\n", self.names.func(id), params.join(", "));
        self.stmts(&self.func.body, "return");
        self.out.push_str("}\n");
        self.out
    }

    fn var(&self, var: Var) -> &str {
        self.vars.get(var.index()).map_or("?", String::as_str)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn stmts(&mut self, block: &Block, last: &str) {
        self.stmts_from(block, 0, last);
    }

    fn stmts_from(&mut self, block: &Block, from: usize, last: &str) {
        let ends = self.in_place && places::is_end(block);
        for (at, stmt) in block.stmts.iter().enumerate().skip(from) {
            if !stmt.outs.iter().any(|out| self.limits.contains(out) || self.places.contains_key(out)) {
                let is_last = ends && at + 1 == block.stmts.len();
                let start = if !is_last {
                    self.outs(stmt)
                } else if matches!(stmt.op, Op::Fail { .. }) {
                    String::new()
                } else {
                    format!("{last} ")
                };
                self.stmt(stmt, start);
            }
        }
        if !block.results.is_empty() && !ends {
            let results = self.atoms(&block.results);
            self.line(&format!("{last} {results}"));
        }
    }

    /// The statements of a block inside an operation, after its head.
    fn block(&mut self, head: &str, block: &Block, tail: &str) {
        self.line(&format!("{head} {{"));
        self.rest_of_block(block, tail);
    }

    fn rest_of_block(&mut self, block: &Block, tail: &str) {
        self.end_of_block(block, 0, tail);
    }

    /// The same from this statement on.
    fn end_of_block(&mut self, block: &Block, from: usize, tail: &str) {
        deep(|| {
            self.depth += 1;
            self.stmts_from(block, from, "yield");
            self.depth -= 1;
        });
        self.line(&format!("}}{tail}"));
    }

    fn outs(&self, stmt: &Stmt) -> String {
        let out = |var: &Var| {
            let ty = self.func.vars.get(*var).filter(|_| stmt.op.never_returns());
            self.var(*var).to_owned()
                + &ty.map_or(String::new(), |info| format!(": {}", self.names.ty(info.ty)))
        };
        let outs: Vec<String> = stmt.outs.iter().map(out).collect();
        if outs.is_empty() { String::new() } else { outs.join(", ") + " = " }
    }

    fn stmt(&mut self, stmt: &Stmt, start: String) {
        match &stmt.op {
            Op::Match { on, arms } => {
                self.line(&format!("{start}match {} {{", self.whole(on)));
                self.arms(on, arms);
                self.line("}");
            }
            Op::If { cond, then, otherwise } => {
                self.line(&format!("{start}if {} {{", self.whole(cond)));
                self.branches(then, otherwise);
            }
            Op::Loop(parts) => self.block(&(start + &self.loop_head(parts)), &parts.body, ""),
            Op::While(parts) => self.repeated(start, parts),
            op @ flat_op!() => {
                let op = self.flat(op);
                self.line(&(start + &op));
            }
        }
    }

    fn repeated(&mut self, start: String, parts: &While) {
        let While { init, cond, body } = parts;
        let carried = |this: &Self, params: &[Var]| -> Vec<String> {
            let pairs = params.iter().zip(init);
            pairs.map(|(var, atom)| format!("{} = {}", this.var(*var), this.whole(atom))).collect()
        };
        if let Some(Head { tests, body: (block, from) }) = self.heads.of(parts) {
            let mut head = carried(self, &body.params);
            head.extend(tests.iter().map(|test| self.test(test)));
            let (block, from) = (*block, *from);
            self.line(&format!("{start}while {} {{", head.join(", ")));
            return self.end_of_block(block, from, "");
        }
        let carried = carried(self, &cond.params);
        let vars: Vec<&str> = body.params.iter().map(|var| self.var(*var)).collect();
        let second = format!(" do {}{{", vars.join(", ") + if vars.is_empty() { "" } else { " " });
        self.block(format!("{start}while {}", carried.join(", ")).trim_end(), cond, &second);
        self.rest_of_block(body, "");
    }

    /// What is asked in the head of a loop.
    fn test(&self, test: &Test<'_>) -> String {
        match test {
            Test::Is { on, ctor: (data, ctor), fields } => {
                let fields: Vec<&str> = fields.iter().map(|var| self.var(*var)).collect();
                format!("{} is {}({})", self.whole(on), self.names.short(*data, *ctor), fields.join(", "))
            }
            Test::Holds(cond) => self.whole(cond),
            Test::Gives(op) => self.flat(op),
        }
    }

    /// What stands on both sides of a branch, after its head.
    fn branches(&mut self, then: &Block, otherwise: &Block) {
        match places::only_branch(otherwise, &self.places).filter(|_| self.in_place) {
            Some((cond, first, second)) => {
                let cond = self.whole(cond);
                self.rest_of_block(then, &format!(" else if {cond} {{"));
                deep(|| self.branches(first, second));
            }
            None if self.in_place && otherwise.stmts.is_empty() && otherwise.results.is_empty() => {
                self.rest_of_block(then, "");
            }
            None => {
                self.rest_of_block(then, " else {");
                self.rest_of_block(otherwise, "");
            }
        }
    }

    fn arms(&mut self, on: &Atom, arms: &[Block]) {
        let Ty::Scalar(Elem::Data(data)) = self.func.type_of(on) else { return };
        let rest = otherwise(arms).filter(|_| self.in_place);
        self.depth += 1;
        for (i, arm) in arms.iter().enumerate() {
            if rest.is_some_and(|rest| only_failure(arm) == only_failure(rest)) {
                continue;
            }
            let fields: Vec<&str> = arm.params.iter().map(|var| self.var(*var)).collect();
            self.block(&format!("{}({})", self.names.short(data, i), fields.join(", ")), arm, "");
        }
        if let Some(rest) = rest {
            self.block("_", rest, "");
        }
        self.depth -= 1;
    }

    fn loop_head(&self, parts: &Loop) -> String {
        let Loop { mode, backward, len, inputs, init, accs, body } = parts;
        let mode = match mode {
            Mode::Each => "each",
            Mode::Sequence => "for",
            Mode::Reduce => "reduce",
        };
        let mut params = body.params.iter().map(|var| self.var(*var));
        let backward = if *backward { "backward " } else { "" };
        let mut head = format!("{mode} {backward}{} < {}", params.next().unwrap_or("?"), self.whole(len));
        for (word, atoms) in [("=", init), ("+=", accs), ("in", inputs)] {
            for (atom, var) in atoms.iter().zip(&mut params) {
                head += &format!(", {var} {word} {}", self.whole(atom));
            }
        }
        head
    }
}

#[cfg(test)]
mod tests;
