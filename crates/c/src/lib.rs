//! The C back end: loop programs as C text that a person can read, with the runtime they need.
//!
//! [`source`] prints one or more programs into one self-contained file of C11 with GNU extensions. The pieces of
//! `runtime/` are the one truth about memory, texts, sorting and failures: the same text is compiled into a library that this
//! process opens, and into a library for others, which needs nothing of Wengert.
//!
//! - [`scopes`] finds where variables are declared, [`pointers`] what addresses point at, [`names`] what all is called;
//! - [`mod@exports`] makes functions that C programs call, and their header, [`messages`] what failures say to them;
//! - [`body`] prints functions; [`mod@unit`] keeps what they have in common.

mod body;
mod exports;
mod messages;
mod names;
mod pointers;
mod scopes;
mod text;
mod unit;

use crate::body::Body;
use crate::pointers::Pointers;
use crate::unit::Unit;
use std::fmt::Write;
use wengert_ir::program::FuncId;
use wengert_native::library::host_functions;
use wengert_native::loops::{Func, Kind, Local, Program, Word};

pub use exports::{Export, Exported, Form, MOST_THREADS, Parts, export};
pub use messages::{Case, Message, RANGES, Range};
pub use names::{c_names, exported_name};
pub use unit::Line;

const BASE: &str = include_str!("../runtime/base.c");
const STACK: &str = include_str!("../runtime/stack.c");
const HEAP: &str = include_str!("../runtime/heap.c");
const REAL: &str = include_str!("../runtime/real.c");
const SPECIAL: &str = include_str!("../runtime/special.c");
const EXTREME: &str = include_str!("../runtime/extreme.c");
const JOIN: &str = include_str!("../runtime/join.c");
const TEXT: &str = include_str!("../runtime/text.c");
const ORDER: &str = include_str!("../runtime/order.c");
const MATMUL: &str = include_str!("../runtime/matmul.c");
const THREADS: &str = include_str!("../runtime/threads.c");
const LIBRARY: &str = include_str!("../runtime/library.c");

/// Vector math brings its own.
const FUSED: &str = "\
/* a * b + c, rounded once if the machine can. */
#if defined __FMA__ || defined __aarch64__
static inline WG_UNUSED double wg_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
static inline WG_UNUSED double wg_fma(double a, double b, double c) { return a * b + c; }
#endif
";

/// Where functions of reals come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Math {
    /// From the program that opens the library: to the last bit as everywhere in Wengert.
    Host,
    /// From the text itself: vector math, which is within one unit in the last place of the exact value.
    Library,
}

/// A program to print.
pub struct Input<'p> {
    /// The program.
    pub program: &'p Program,
    /// The functions that can be called from outside.
    pub entries: Vec<FuncId>,
    /// Kinds that whoever calls it speaks of.
    pub kinds: Vec<Kind>,
}

/// A C file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its text.
    pub text: String,
    /// The kinds by which the caller says what it releases; their places are their numbers.
    pub kinds: Vec<Kind>,
}

/// The C file of a program that this process opens.
pub fn source(input: &Input<'_>, math: Math, line: &Line<'_>) -> Source {
    let mut unit = Unit::new(input.program, math, line);
    let mut code = String::new();
    program(&mut unit, &mut code);
    let names: Vec<String> = (0..input.entries.len()).map(|number| format!("wg_entry_{number}")).collect();
    for (name, func) in names.iter().zip(&input.entries) {
        entry(&unit, name, *func, &mut code);
    }
    let _ = writeln!(code, "static const wg_entry wg_entries[] = {{{}}};", names.join(", "));
    let direct = |func: &FuncId| input.program.funcs.get(*func).is_some_and(Func::always_returns);
    let direct: Vec<&str> = input.entries.iter().map(|func| if direct(func) { "1" } else { "0" }).collect();
    let _ = writeln!(code, "static const char wg_direct[] = {{{}}};\n", direct.join(", "));
    input.kinds.iter().for_each(|kind| {
        unit.kind(*kind);
    });
    let kinds = unit.kinds();
    let mut interface = LIBRARY.to_string();
    if unit.parts().threads {
        interface.push_str(
            "WG_EXPORT void wengert_threads(wg_run *r, word threads) { wg_set_threads(r, threads); }\n",
        );
    }
    let text = assemble(&mut unit, math, &code, &interface);
    Source { text, kinds }
}

/// The functions of a program, with the texts and types they need.
fn program<'p>(unit: &mut Unit<'p>, code: &mut String) {
    let program = unit.program;
    let pointers = Pointers::of(program);
    code.push_str(&unit.texts());
    let (mut heads, mut bodies) = (String::new(), String::new());
    for (id, func) in program.funcs.iter() {
        heads.extend(unit.result_struct(id, func));
    }
    for (id, func) in program.funcs.iter() {
        wengert_ir::stop::check();
        let text = Body::print(unit, &pointers, id, func);
        if program.funcs.len() > 1 {
            let head = text.lines().find(|line| line.starts_with("static ")).unwrap_or_default();
            let _ = writeln!(heads, "{};", head.trim_end_matches(" {"));
        }
        bodies.push_str(&text);
        if func.part.is_some() {
            let name = unit.part(id);
            let _ = writeln!(heads, "static void {name}(wg_run *r, const word *arguments, word *results);");
            entry(unit, &name, id, &mut bodies);
        }
    }
    let _ = write!(code, "{heads}\n{bodies}");
}

/// A function that takes arguments from memory and puts results there.
fn entry(unit: &Unit<'_>, name: &str, func: FuncId, code: &mut String) {
    let Some(made) = unit.program.funcs.get(func) else { return };
    let mut args = vec!["r".to_string()];
    args.extend(made.params.iter().enumerate().map(|(place, param)| {
        let word = format!("arguments[{place}]");
        match made.locals.get(*param) {
            Some(Word::Real) => format!("wg_of_bits({word})"),
            Some(Word::Int) | None => word,
            Some(Word::Ref | Word::Address) => format!("(void *){word}"),
        }
    }));
    let call = format!("{}({})", unit.function(func), args.join(", "));
    let stored = |value: String, result: &Local| match made.locals.get(*result) {
        Some(Word::Real) => format!("wg_word_of({value})"),
        Some(Word::Int) | None => value,
        Some(Word::Ref | Word::Address) => format!("(word){value}"),
    };
    let _ = writeln!(code, "static void {name}(wg_run *r, const word *arguments, word *results) {{");
    match made.results.as_slice() {
        [] => {
            let _ = writeln!(code, "    {call};");
        }
        [result] => {
            let _ = writeln!(code, "    results[0] = {};", stored(call, result));
        }
        results => {
            let _ = writeln!(code, "    {}given = {call};", unit.result_type(func));
            for (place, result) in results.iter().enumerate() {
                let value = stored(format!("given.x{place}"), result);
                let _ = writeln!(code, "    results[{place}] = {value};");
            }
        }
    }
    code.push_str("}\n");
}

/// The whole file.
fn assemble(unit: &mut Unit<'_>, math: Math, code: &str, interface: &str) -> String {
    let parts = unit.parts();
    let mut text = String::from("/* Made by Wengert. */\n#define _GNU_SOURCE\n");
    if math == Math::Host {
        text.push_str("#define WG_EXACT\n");
    }
    text.push_str(BASE);
    text.push('\n');
    text.push_str(STACK);
    text.push('\n');
    text.push_str(HEAP);
    text.push('\n');
    text.push_str(REAL);
    text.push('\n');
    if parts.functions || math == Math::Host {
        text.push_str(&functions(math));
    }
    let pieces = [
        (TEXT, parts.text || parts.order),
        (ORDER, parts.order),
        (EXTREME, parts.extreme),
        (JOIN, parts.join),
        (THREADS, parts.threads),
        (MATMUL, parts.matmul),
    ];
    for (part, wanted) in pieces {
        if wanted {
            text.push_str(part);
            text.push('\n');
        }
    }
    if math == Math::Library && !parts.functions {
        text.push_str(FUSED);
    }
    text.push_str(&unit.calls());
    text.push_str(&unit.powers());
    text.push_str("\n/* ---- The program ");
    text.push_str(&"-".repeat(97));
    text.push_str(" */\n\n");
    text.push_str(&unit.kind_tables());
    text.push_str(code);
    text.push_str(interface);
    text
}

/// The functions of reals.
fn functions(math: Math) -> String {
    let mut text = String::new();
    match math {
        Math::Host => {
            text.push_str("/* Functions of reals: the host's. */\nstatic struct {\n");
            for function in host_functions() {
                let _ = writeln!(text, "    double (*{})({});", function.name, function.params);
            }
            text.push_str("} wg_host;\n");
            text.push_str("WG_EXPORT void wengert_functions(const void *all) { memcpy(&wg_host, all, sizeof wg_host); }\n");
            for function in host_functions() {
                let name = function.name;
                if function.params.starts_with("void *") {
                    let _ = writeln!(text, "#define wg_{name}(a, b) wg_host.{name}(NULL, a, b)");
                } else {
                    let _ = writeln!(text, "#define wg_{name} wg_host.{name}");
                }
            }
        }
        Math::Library => {
            text.push_str(&wengert_vmath::c_source());
            text.push('\n');
            text.push_str(SPECIAL);
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
