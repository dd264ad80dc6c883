//! Libraries for C programs: functions with plain arguments, and the header that declares them.
//!
//! ```c
//! norm_run *run = norm_open((uint64_t)1 << 30);
//! double length;
//! if (norm(run, (wengert_reals_1){xs, {3}}, &length)) puts(norm_message(run));
//! norm_close(run);
//! ```
//!
//! Each function takes a run, its arguments, and where its results go, and gives 0, or 1 if it failed. Arrays are given by
//! address and sizes; those that come back are in memory that the caller frees.

use crate::messages::{self, Message};
use crate::text::{comment, quoted};
use crate::unit::Unit;
use crate::{Line, Math, assemble, entry, program};
use std::fmt::Write;
use wengert_ir::program::FuncId;
use wengert_native::loops::{Kind, Passing, Program};

const EXPORTS: &str = include_str!("../runtime/exports.c");

/// What the object of a parameter is called: nothing else in the text begins so.
const OBJECT_OF: &str = "wg_object_of_";

/// The most threads that make sense.
pub const MOST_THREADS: usize = 1024;

/// Longer heads of functions are broken.
const WIDE: usize = 100;

/// What a value is in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `double`
    Real,
    /// `int64_t`
    Int,
    /// `bool`
    Bool,
    /// `const char *`, and `char *` as a result
    Text,
    /// A structure with the address of reals and sizes along so many axes.
    Reals(u8),
    /// The same with integers or truth values.
    Ints(u8),
}

/// Two parameters that are parts of one array of tuples, and have its size along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The one.
    pub one: usize,
    /// The other.
    pub other: usize,
    /// The axis.
    pub axis: usize,
}

/// A function for C programs.
pub struct Export<'p> {
    /// Its name.
    pub name: String,
    /// What stands above it in the header.
    pub doc: String,
    /// The program.
    pub program: &'p Program,
    /// The function in it.
    pub func: FuncId,
    /// Names and forms of the parameters.
    pub params: Vec<(String, Form)>,
    /// Which arrays among the parameters are parts of one array of tuples.
    pub parts: Vec<Parts>,
    /// Names and forms of the results.
    pub results: Vec<(String, Form)>,
    /// For each place where the program can fail, what it says then.
    pub messages: Vec<Message>,
    /// The same function for arrays of different sizes in the elements of an array: it is called where this one meets them.
    pub ragged: Option<Box<Export<'p>>>,
    /// The same function with no derivative made beforehand: it is called where this one needs one that it does not have.
    pub tagged: Option<Box<Export<'p>>>,
    /// What it says then.
    pub left: &'static [&'static str],
}

impl<'p> Export<'p> {
    /// It, and its other forms.
    fn forms(&self) -> impl Iterator<Item = &Export<'p>> {
        std::iter::once(self).chain(self.others())
    }

    fn others(&self) -> impl Iterator<Item = &Export<'p>> {
        self.ragged.as_deref().into_iter().chain(self.tagged.as_deref())
    }
}

/// A library's texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The C file.
    pub source: String,
    /// The header.
    pub header: String,
}

/// The library of these functions, with this name.
pub fn export(name: &str, exports: &[Export<'_>], math: Math, line: &Line<'_>) -> Option<Exported> {
    let first = exports.first()?;
    let mut unit = Unit::new(first.program, math, line);
    let (mut code, mut interface) = (String::new(), String::new());
    for (place, export) in exports.iter().enumerate() {
        for (form, made) in export.forms().enumerate() {
            if (place, form) > (0, 0) {
                unit.next(made.program);
            }
            let linkage = if form == 0 { "WG_EXPORT" } else { "static" };
            one(&mut unit, (name, linkage), made, &mut code, &mut interface);
        }
    }
    let header = header(name, exports);
    let mut text = String::from(EXPORTS);
    let forms = || exports.iter().flat_map(Export::forms);
    if forms().flat_map(|form| &form.messages).any(Message::shows_reals) {
        unit.needs_texts();
    }
    text.push_str(&messages::tables(forms().flat_map(|form| &form.messages)));
    text.push_str("\nstatic const char *const wg_missing[] = {");
    first.left.iter().for_each(|left| text.push_str(&format!("{}, ", quoted(left))));
    text.push_str("NULL};\n\n");
    text.push_str(&arrays(exports));
    let _ = writeln!(text, "typedef struct wg_run {name}_run;");
    let run = format!(
        "WG_EXPORT {name}_run *{name}_open(uint64_t memory) {{ return wg_open(memory, NULL); }}\n\
         WG_EXPORT void {name}_close({name}_run *r) {{ wg_close(r); }}\n\
         WG_EXPORT const char *{name}_message(const {name}_run *r) {{ return r->text; }}\n\n"
    );
    text.push_str(&run);
    let set = if unit.parts().threads { "wg_set_threads(r, threads)" } else { "r->threads = threads" };
    let _ = writeln!(
        text,
        "WG_EXPORT void {name}_threads({name}_run *r, int threads) {{\n    \
         threads = threads < 1 ? 1 : threads > {MOST_THREADS} ? {MOST_THREADS} : threads;\n    {set};\n}}\n"
    );
    text.push_str(&interface);
    Some(Exported { source: assemble(&mut unit, math, &code, &text), header })
}

fn one<'p>(
    unit: &mut Unit<'p>,
    (name, linkage): (&str, &str),
    export: &Export<'p>,
    code: &mut String,
    interface: &mut String,
) {
    program(unit, code);
    let inner = format!("wg_entry_of_{}", export.name);
    entry(unit, &inner, export.func, code);
    for other in export.others() {
        let _ = writeln!(interface, "static {};\n", head(name, other));
    }
    let _ = write!(interface, "{linkage} ");
    function(unit, name, export, &inner, interface);
}

/// The array types that are used.
fn arrays(exports: &[Export<'_>]) -> String {
    let mut ranks: Vec<Form> = Vec::new();
    for (_, form) in exports.iter().flat_map(|export| export.params.iter().chain(&export.results)) {
        if matches!(form, Form::Reals(_) | Form::Ints(_)) && !ranks.contains(form) {
            ranks.push(*form);
        }
    }
    let mut text = String::new();
    for form in ranks {
        let (name, element, rank) = match form {
            Form::Reals(rank) => (c_type(form), "double", rank),
            Form::Ints(rank) => (c_type(form), "int64_t", rank),
            Form::Real | Form::Int | Form::Bool | Form::Text => continue,
        };
        let guard = name.to_uppercase();
        let _ = write!(
            text,
            "#ifndef {guard}\n#define {guard}\ntypedef struct {{\n    {element} *data; /* in row-major order */\n    \
             int64_t size[{rank}];\n}} {name};\n#endif\n\n"
        );
    }
    text
}

/// The type of a value.
fn c_type(form: Form) -> String {
    match form {
        Form::Real => "double".into(),
        Form::Int => "int64_t".into(),
        Form::Bool => "_Bool".into(),
        Form::Text => "const char *".into(),
        Form::Reals(rank) => format!("wengert_reals_{rank}"),
        Form::Ints(rank) => format!("wengert_ints_{rank}"),
    }
}

/// A function's head, without a semicolon.
fn head(name: &str, export: &Export<'_>) -> String {
    let mut params = vec![format!("{name}_run *run")];
    let declared = |form: Form, name: &str, star: &str| {
        let ty = c_type(form);
        let space = if ty.ends_with('*') { "" } else { " " };
        format!("{ty}{space}{star}{name}")
    };
    params.extend(export.params.iter().map(|(name, form)| declared(*form, name, "")));
    params.extend(export.results.iter().map(|(name, form)| {
        if *form == Form::Text { format!("char **{name}") } else { declared(*form, name, "*") }
    }));
    let line = format!("int {}({})", export.name, params.join(", "));
    if line.len() <= WIDE {
        return line;
    }
    // As many on a line as fit.
    let (mut text, mut width) = (format!("int {}(", export.name), WIDE);
    for (place, param) in params.iter().enumerate() {
        let comma = if place + 1 < params.len() { "," } else { ")" };
        if width + param.len() + 2 > WIDE {
            text.push_str("\n    ");
            width = 4;
        } else {
            text.push(' ');
        }
        width += param.len() + 2;
        text.push_str(param);
        text.push_str(comma);
    }
    text
}

fn header(name: &str, exports: &[Export<'_>]) -> String {
    let guard = format!("WENGERT_{}_H", name.to_uppercase());
    let mut text = format!(
        "/* {name}: a library made by Wengert. */\n#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{}\
         /* Where functions run: its memory and stack. Threads need one each. */\ntypedef struct wg_run {name}_run;\n\n\
         /* A new one that may use so many bytes; NULL if there is no address space. */\n\
         {name}_run *{name}_open(uint64_t memory);\nvoid {name}_close({name}_run *run);\n\n\
         /* How many threads make long loops: 1 at first, and from 1 to {MOST_THREADS}, whatever is asked for. Results do not depend\n \
         * on it. */\n\
         void {name}_threads({name}_run *run, int threads);\n\n\
         /* Functions give 0, or 1 if they failed: then this says why. Arrays that are arguments are only read; the data of\n \
         * arrays and texts that are results is to be given to `free`. */\n\
         const char *{name}_message(const {name}_run *run);\n",
        arrays(exports)
    );
    for export in exports {
        let _ = write!(text, "\n/* {} */\n{};\n", comment(&export.doc), head(name, export));
    }
    let _ = write!(text, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n");
    // C++ has no `_Bool`.
    text.replace("_Bool ", "bool ")
        .replace("#include <stdint.h>\n", "#include <stdbool.h>\n#include <stdint.h>\n")
}

/// What runs the entry, and the other form where arrays of different sizes stand in the way, or a derivative is missing.
fn run(export: &Export<'_>, inner: &str, text: &mut String) {
    let call = format!("wg_run_entry(run, {inner}, wg_arguments, wg_results)");
    if export.others().next().is_none() {
        let _ = writeln!(text, "    if ({call}) return wg_failed(run);");
        return;
    }
    let _ = writeln!(text, "    if ({call}) {{");
    let names = export.params.iter().chain(&export.results).map(|(name, _)| name.as_str());
    let names: Vec<&str> = std::iter::once("run").chain(names).collect();
    for (why, other) in [("wg_is_uneven", &export.ragged), ("wg_is_missing", &export.tagged)] {
        if let Some(other) = other {
            let again = format!("{}({})", other.name, names.join(", "));
            let _ = writeln!(
                text,
                "        if ({why}(run)) {{\n            wg_clear(run);\n            return {again};\n        }}"
            );
        }
    }
    text.push_str("        return wg_failed(run);\n    }\n");
}

/// The checks that no size is negative, and that the parts of arrays of tuples have one size.
fn sizes(export: &Export<'_>) -> String {
    let mut text = String::new();
    for (name, form) in &export.params {
        let rank = match form {
            Form::Reals(rank) | Form::Ints(rank) => *rank,
            Form::Real | Form::Int | Form::Bool | Form::Text => 0,
        };
        for axis in 0..rank {
            let (size, quoted) = (format!("{name}.size[{axis}]"), quoted(name));
            let _ =
                writeln!(text, "    if ({size} < 0) return wg_negative_size(run, {quoted}, {axis}, {size});");
        }
    }
    for parts in &export.parts {
        let name = |place: usize| export.params.get(place).map(|(name, _)| name.as_str());
        let (Some(one), Some(other)) = (name(parts.one), name(parts.other)) else { continue };
        let size = |name: &str| format!("{name}.size[{}]", parts.axis);
        let (size, other_size) = (size(one), size(other));
        let _ = writeln!(
            text,
            "    if ({size} != {other_size}) return wg_parts_differ(run, {}, {size}, {}, {other_size});",
            quoted(one),
            quoted(other)
        );
    }
    text
}

/// The function that C programs call.
fn function(unit: &mut Unit<'_>, name: &str, export: &Export<'_>, inner: &str, text: &mut String) {
    let passing = unit.program.funcs.get(export.func).map(|func| func.passing.clone()).unwrap_or_default();
    let (mut words, mut checks, mut borrowed_texts) = (Vec::new(), String::new(), Vec::new());
    for ((param, form), passing) in export.params.iter().zip(passing) {
        let mut object = |made: String| {
            let _ = writeln!(
                checks,
                "    ref {OBJECT_OF}{param} = {made};\n    if (!{OBJECT_OF}{param}) return wg_no_memory(run);"
            );
            words.push(format!("(word){OBJECT_OF}{param}"));
        };
        match (form, passing) {
            (Form::Real, _) => words.push(format!("wg_word_of({param})")),
            (Form::Int | Form::Bool, _) => words.push(param.clone()),
            (Form::Text, passing) => {
                object(format!("wg_text_in(run, {param})"));
                borrowed_texts.push((param, passing));
            }
            (Form::Reals(rank) | Form::Ints(rank), Passing::Borrowed) => {
                words.push(format!("(word){param}.data"));
                words.extend((0..*rank).map(|axis| format!("{param}.size[{axis}]")));
            }
            (Form::Reals(rank) | Form::Ints(rank), Passing::Owned) => {
                object(format!("wg_array_in(run, {param}.data, {param}.size, {rank})"));
            }
        }
    }
    let count = export.results.len().max(1);
    let arguments = if words.is_empty() { "0".to_string() } else { words.join(", ") };
    let _ =
        writeln!(text, "{} {{\n{}{checks}    word wg_results[{count}];", head(name, export), sizes(export));
    let _ = writeln!(text, "    const word wg_arguments[] = {{{arguments}}};");
    run(export, inner, text);
    for (place, (result, form)) in export.results.iter().enumerate() {
        let word = format!("wg_results[{place}]");
        let line = match form {
            Form::Real => format!("*{result} = wg_of_bits({word});"),
            Form::Int => format!("*{result} = {word};"),
            Form::Bool => format!("*{result} = {word} != 0;"),
            Form::Text => format!("*{result} = wg_text_out(run, (ref){word}, {});", unit.kind(Kind::Text)),
            Form::Reals(rank) | Form::Ints(rank) => format!(
                "{result}->data = wg_array_out(run, (ref){word}, {result}->size, {rank}, {});",
                unit.kind(Kind::Array(*rank))
            ),
        };
        let _ = writeln!(text, "    {line}");
    }
    for (param, passing) in borrowed_texts {
        if passing == Passing::Borrowed {
            let _ = writeln!(text, "    wg_release_flat(run, {OBJECT_OF}{param});");
        }
    }
    text.push_str("    return 0;\n}\n\n");
}
