//! What the functions of a program have in common: names, texts, kinds of references, places of failures.

use crate::Math;
use crate::names::{Names, plain_name};
use crate::text::quoted;
use std::collections::BTreeMap;
use std::fmt::Write;
use wengert_base::Span;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;
use wengert_native::loops::{Failure, Func, Kind, Program, Runtime, Word};
use wengert_prim::RealOp;

/// The source line that a span begins in, by number, and its text.
pub type Line<'l> = dyn Fn(Span) -> Option<(usize, String)> + 'l;

/// A program that is being printed; several in one text share functions and tables.
pub(crate) struct Unit<'p> {
    pub(crate) program: &'p Program,
    /// Whether numbers need not be to the last bit what the interpreter gives.
    pub(crate) fast: bool,
    pub(crate) line: &'p Line<'p>,
    names: Names,
    funcs: Vec<String>,
    /// How many texts and places of failures the programs before have.
    texts_before: usize,
    sites_before: usize,
    programs: usize,
    /// Kinds by number, each with the program whose data types it speaks of.
    kinds: Vec<(usize, Kind)>,
    tables: Vec<&'p Program>,
    powers: BTreeMap<i64, String>,
    /// Whether what is printed is in an innermost loop, where functions are put into the code.
    pub(crate) in_loop: bool,
    /// Whether it may become vector code.
    pub(crate) in_vectors: bool,
    /// Functions of vector math that are called, by name.
    called: BTreeMap<&'static str, usize>,
    parts: Parts,
    temporaries: usize,
}

/// What of the runtime is needed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) functions: bool,
    pub(crate) text: bool,
    pub(crate) order: bool,
    /// Looks for the largest and the smallest.
    pub(crate) extreme: bool,
    /// Joins numbers to the largest or the smallest of them.
    pub(crate) join: bool,
    pub(crate) matmul: bool,
    pub(crate) threads: bool,
}

impl<'p> Unit<'p> {
    pub(crate) fn new(program: &'p Program, math: Math, line: &'p Line<'p>) -> Unit<'p> {
        let mut unit = Unit {
            program,
            fast: math == Math::Library,
            line,
            names: Names::default(),
            funcs: Vec::new(),
            texts_before: 0,
            sites_before: 0,
            programs: 0,
            kinds: vec![(0, Kind::Plain)],
            tables: Vec::new(),
            powers: BTreeMap::new(),
            in_loop: false,
            in_vectors: false,
            called: BTreeMap::new(),
            parts: Parts::default(),
            temporaries: 0,
        };
        unit.begin(program);
        unit
    }

    /// Goes on with another program.
    pub(crate) fn next(&mut self, program: &'p Program) {
        self.texts_before += self.program.texts.len();
        self.sites_before += self.program.sites.len();
        self.programs += 1;
        self.begin(program);
    }

    fn begin(&mut self, program: &'p Program) {
        self.program = program;
        self.tables.push(program);
        self.funcs = program.funcs.iter().map(|(_, func)| self.names.function(func.name.as_str())).collect();
    }

    pub(crate) fn function(&self, func: FuncId) -> String {
        self.funcs.get(func.index()).cloned().unwrap_or_default()
    }

    /// The entry of a part of a loop.
    pub(crate) fn part(&self, part: FuncId) -> String {
        format!("wg_entry_{}", self.function(part))
    }

    /// The type of what a function gives, with a space.
    pub(crate) fn result_type(&self, func: FuncId) -> String {
        let Some(made) = self.program.funcs.get(func) else { return "void ".into() };
        match made.results.as_slice() {
            [] => "void ".into(),
            [result] => word_type(made.locals.get(*result).copied()).into(),
            _ => format!("{}_results ", self.function(func)),
        }
    }

    /// The declaration of that type, if it has several parts.
    pub(crate) fn result_struct(&self, func: FuncId, made: &Func) -> Option<String> {
        if made.results.len() < 2 {
            return None;
        }
        let mut text = String::from("typedef struct {\n");
        for (number, result) in made.results.iter().enumerate() {
            let name = plain_name(made, *result);
            let word = word_type(made.locals.get(*result).copied());
            let note = if name.len() > 1 { format!(" /* {name} */") } else { String::new() };
            let _ = writeln!(text, "    {word}x{number};{note}");
        }
        let _ = writeln!(text, "}} {}_results;", self.function(func));
        Some(text)
    }

    /// Names of the variables of a function, all different.
    pub(crate) fn local_names(&mut self, func: &Func) -> Vec<String> {
        let mut names = Names::default();
        self.temporaries = 0;
        func.locals.iter().map(|(local, _)| names.fresh(&plain_name(func, local))).collect()
    }

    /// A name of a variable that is not of the program.
    pub(crate) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("wg_{}", self.temporaries)
    }

    /// The number of a kind.
    pub(crate) fn kind(&mut self, kind: Kind) -> usize {
        self.kind_of(self.programs, kind)
    }

    fn kind_of(&mut self, program: usize, kind: Kind) -> usize {
        let program = if matches!(kind, Kind::Data(_) | Kind::ArrayOfData(..)) { program } else { 0 };
        let known = self.kinds.iter().position(|known| *known == (program, kind));
        known.unwrap_or_else(|| {
            self.kinds.push((program, kind));
            self.kinds.len() - 1
        })
    }

    /// The kinds of the first program, by number.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        self.kinds.iter().map(|(_, kind)| *kind).collect()
    }

    /// The tables by which objects are taken apart.
    pub(crate) fn kind_tables(&mut self) -> String {
        let (mut text, mut rows) = (String::new(), Vec::new());
        let mut place = 0;
        while let Some((program, kind)) = self.kinds.get(place).copied() {
            rows.push(match kind {
                Kind::Plain => "{WG_PLAIN, 0, 0, NULL}".to_string(),
                Kind::Text | Kind::Array(_) => "{WG_FLAT, 0, 0, NULL}".to_string(),
                Kind::Data(data) => {
                    self.constructors(&mut text, program, place, data);
                    format!("{{WG_DATA, 0, 0, wg_ctors_{place}}}")
                }
                Kind::ArrayOfText(rank) => {
                    format!("{{WG_ARRAY, {rank}, {}, NULL}}", self.kind_of(program, Kind::Text))
                }
                Kind::ArrayOfData(rank, data) => {
                    format!("{{WG_ARRAY, {rank}, {}, NULL}}", self.kind_of(program, Kind::Data(data)))
                }
            });
            place += 1;
        }
        let _ = writeln!(text, "static const wg_kind wg_kinds[] = {{\n    {}}};", rows.join(",\n    "));
        text
    }

    fn constructors(&mut self, text: &mut String, program: usize, place: usize, data: u32) {
        let table = self.tables.get(program).and_then(|program| program.data.get(data as usize));
        let ctors: Vec<Vec<Kind>> = table.cloned().unwrap_or_default();
        let mut rows = Vec::new();
        for (number, fields) in ctors.iter().enumerate() {
            // The fields come after the count.
            let refer = (1..).zip(fields).filter(|(_, kind)| **kind != Kind::Plain);
            let refer: Vec<String> =
                refer.map(|(place, kind)| format!("{{{place}, {}}}", self.kind_of(program, *kind))).collect();
            if refer.is_empty() {
                rows.push("{0, NULL}".to_string());
                continue;
            }
            let name = format!("wg_fields_{place}_{number}");
            let _ = writeln!(text, "static const wg_field {name}[] = {{{}}};", refer.join(", "));
            rows.push(format!("{{{}, {name}}}", refer.len()));
        }
        if rows.is_empty() {
            rows.push("{0, NULL}".to_string());
        }
        let _ = writeln!(text, "static const wg_ctor wg_ctors_{place}[] = {{{}}};", rows.join(", "));
    }

    /// The name of a text of the program.
    pub(crate) fn text(&mut self, number: u32) -> String {
        self.parts.text = true;
        format!("text_{}", self.texts_before + number as usize)
    }

    /// The texts of the program.
    pub(crate) fn texts(&self) -> String {
        let mut out = String::new();
        for (number, text) in (self.texts_before..).zip(&self.program.texts) {
            let room = text.len().next_multiple_of(8).max(8);
            let _ = writeln!(
                out,
                "static struct {{ word count, bytes; char text[{room}]; }} text_{number} = {{WG_FOREVER, {}, {}}};",
                text.len(),
                quoted(text)
            );
        }
        out
    }

    /// The number of a place of failure in the whole text.
    pub(crate) fn site(&self, site: u32) -> usize {
        self.sites_before + site as usize
    }

    /// Iterations of a loop are joined to the largest or the smallest.
    pub(crate) fn joins_extremes(&mut self) {
        self.parts.join = true;
    }

    /// The largest or the smallest is looked for.
    pub(crate) fn uses_extremes(&mut self) {
        self.parts.extreme = true;
    }

    /// Loops are made by parts.
    pub(crate) fn needs_threads(&mut self) {
        self.parts.threads = true;
    }

    /// Texts are made.
    pub(crate) fn needs_texts(&mut self) {
        self.parts.text = true;
    }

    /// Functions of reals are needed.
    pub(crate) fn needs_functions(&mut self) {
        self.parts.functions = true;
    }

    /// Whether the failure is the user's `fail`.
    pub(crate) fn is_users(&self, site: u32) -> bool {
        self.program.sites.get(site as usize).is_some_and(|site| site.failure == Failure::User)
    }

    /// A comment that says what fails.
    pub(crate) fn site_note(&self, site: u32) -> String {
        let failure = self.program.sites.get(site as usize).map(|site| site.failure);
        let what = match failure {
            None | Some(Failure::Internal) => "cannot happen".to_string(),
            Some(Failure::Index) => "no such index".into(),
            Some(Failure::Division(name)) => format!("`{name}` by 0"),
            Some(Failure::Required(_)) => "sizes differ".into(),
            Some(Failure::Ragged(_)) => "rows of different sizes".into(),
            Some(Failure::Empty(name)) => format!("`{name}` of nothing"),
            Some(Failure::Slice) => "no such slice".into(),
            Some(Failure::NegativePower) => "negative power of an integer".into(),
            Some(Failure::Shift) => "shift by so many bits".into(),
            Some(Failure::NotAnInt(name)) => format!("`{name}` is no integer"),
            Some(Failure::NegativeCount(name)) => format!("`{name}` of a negative count"),
            Some(Failure::TooLarge(name)) => format!("`{name}` of too many"),
            Some(Failure::User) => "fail".into(),
            Some(Failure::Polygamma) => "no such order".into(),
            Some(Failure::Memory) => "memory is full".into(),
            Some(Failure::Interrupted) => "stopped".into(),
        };
        format!(" /* {} */", crate::text::comment(&what))
    }

    /// The function that multiplies out a power.
    pub(crate) fn power(&mut self, n: i64) -> String {
        let name =
            if n < 0 { format!("wg_power_minus_{}", n.unsigned_abs()) } else { format!("wg_power_{n}") };
        self.powers.entry(n).or_insert(name).clone()
    }

    /// The name by which a function of vector math is called where it is not put into the code: that would be much code.
    pub(crate) fn called(&mut self, op: RealOp) -> Option<String> {
        let function = wengert_vmath::function_of(op).filter(|_| self.fast && !self.in_loop)?;
        self.called.insert(function.name(), function.arity());
        Some(format!("wg_call_{}", function.name()))
    }

    /// The functions of vector math that are called.
    pub(crate) fn calls(&self) -> String {
        let mut text = String::new();
        for (name, arity) in &self.called {
            let (params, args) = if *arity == 2 { ("double x, double y", "x, y") } else { ("double x", "x") };
            let _ = writeln!(
                text,
                "static __attribute__((noinline)) double wg_call_{name}({params}) {{ return wg_{name}({args}); }}"
            );
        }
        text
    }

    /// The functions that multiply out powers.
    pub(crate) fn powers(&self) -> String {
        self.powers.iter().map(|(n, name)| crate::body::power_function(name, *n)).collect()
    }

    pub(crate) fn parts(&self) -> Parts {
        self.parts
    }

    /// The function of the runtime for a call.
    pub(crate) fn runtime(&mut self, call: Runtime) -> &'static str {
        use Runtime as R;
        match call {
            R::TextAppend
            | R::TextExtend
            | R::TextLength
            | R::TextCompare
            | R::ShowReal
            | R::ShowInt
            | R::ShowText => {
                self.parts.text = true;
            }
            R::SortReal | R::SortInt | R::SortText | R::ArgSortReal | R::ArgSortInt | R::ArgSortText => {
                self.parts.order = true;
            }
            R::MatMul | R::MatVec | R::AddProduct => {
                (self.parts.matmul, self.parts.threads) = (true, true);
            }
            R::Power | R::Polygamma => self.parts.functions = true,
            R::IntPower | R::CopyWords | R::ZeroWords | R::Map | R::Scratch => {}
        }
        match call {
            R::Power => "wg_power",
            R::Polygamma => "wg_polygamma",
            R::IntPower => "wg_int_power",
            R::TextAppend => "wg_text_append",
            R::TextExtend => "wg_text_extend",
            R::TextLength => "wg_text_length",
            R::TextCompare => "wg_text_compare",
            R::ShowReal => "wg_show_real",
            R::ShowInt => "wg_show_int",
            R::ShowText => "wg_show_text",
            R::SortReal => "wg_sort_real",
            R::SortInt => "wg_sort_int",
            R::SortText => "wg_sort_text",
            R::ArgSortReal => "wg_argsort_real",
            R::ArgSortInt => "wg_argsort_int",
            R::ArgSortText => "wg_argsort_text",
            R::MatMul => "wg_matmul",
            R::MatVec => "wg_matvec",
            R::AddProduct => "wg_add_product",
            R::CopyWords => "wg_copy",
            R::ZeroWords => "wg_zero",
            // These are made for the code generator without vectors only.
            R::Map => "wg_map",
            R::Scratch => "wg_scratch",
        }
    }

    /// Whether such a function takes the run: it makes objects, or is divided between threads.
    pub(crate) fn runtime_takes_run(&self, call: Runtime) -> bool {
        use Runtime as R;
        match call {
            R::TextAppend | R::TextExtend => true,
            R::ShowReal | R::ShowInt | R::ShowText => true,
            R::SortReal | R::SortInt | R::SortText | R::ArgSortReal | R::ArgSortInt | R::ArgSortText => true,
            R::Power | R::Polygamma | R::IntPower | R::TextLength | R::TextCompare => false,
            R::MatMul | R::MatVec | R::AddProduct => true,
            R::CopyWords | R::ZeroWords | R::Map | R::Scratch => false,
        }
    }
}

fn word_type(word: Option<Word>) -> &'static str {
    match word {
        Some(Word::Real) => "double ",
        Some(Word::Int) | None => "word ",
        Some(Word::Ref) => "ref ",
        Some(Word::Address) => "word *",
    }
}
