//! Diagnostics of the driver: files and imports, JSON inputs, entries, and the command. `E08xx`.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

/// The kinds of diagnostics made here.
pub const CODES: &[Code] = &[
    Code { code: "E0801", title: "a file cannot be read" },
    Code { code: "E0802", title: "a file is not text" },
    Code { code: "E0803", title: "a file is too large" },
    Code { code: "E0804", title: "there is no such library module" },
    Code { code: "E0805", title: "modules import each other in a circle" },
    Code { code: "E0806", title: "a file cannot be written" },
    Code { code: "E0810", title: "the input is not JSON" },
    Code { code: "E0811", title: "the input is not an array of arguments" },
    Code { code: "E0812", title: "the number of arguments is wrong" },
    Code { code: "E0813", title: "a JSON value has the wrong kind" },
    Code { code: "E0814", title: "a JSON number does not fit" },
    Code { code: "E0815", title: "a JSON array has the wrong length" },
    Code { code: "E0816", title: "a JSON object has the wrong fields" },
    Code { code: "E0817", title: "a JSON constructor is unknown" },
    Code { code: "E0818", title: "functions cannot be given as JSON" },
    Code { code: "E0819", title: "the JSON does not tell the type of an argument" },
    Code { code: "E0820", title: "there is no such definition" },
    Code { code: "E0821", title: "the cost of this cannot be counted" },
    Code { code: "E0822", title: "the engine is not available" },
    Code { code: "E0823", title: "there is no such command" },
    Code { code: "E0824", title: "a command lacks its argument" },
    Code { code: "E0825", title: "there is no such calculus" },
    Code { code: "E0826", title: "there is no such rule" },
    Code { code: "E0827", title: "the C compiler failed" },
    Code { code: "E0828", title: "a definition cannot be called from C" },
    Code { code: "E0829", title: "only the interpreter can run this" },
    Code { code: "E0830", title: "the interpreter runs this instead of machine code" },
    Code { code: "E0831", title: "a function of functions has no code of its own" },
    Code { code: "E0832", title: "there is no derivative to build" },
];

/// A file that cannot be opened or read.
pub fn unreadable(span: Span, path: &str, error: &std::io::Error) -> Diagnostic {
    use std::io::ErrorKind;
    let kind = error.kind();
    let message = if kind == ErrorKind::NotFound {
        format!("the file `{path}` does not exist")
    } else if kind == ErrorKind::PermissionDenied {
        format!("the file `{path}` may not be read")
    } else if kind == ErrorKind::IsADirectory {
        format!("`{path}` is a directory, not a file")
    } else {
        format!("the file `{path}` cannot be read: {error}")
    };
    let diagnostic = Diagnostic::error("E0801", span, message);
    if kind == ErrorKind::NotFound && !span.is_nowhere() {
        return diagnostic.help("the path of an import is relative to the file that imports");
    }
    diagnostic
}

/// An import of a pipe, a device or the like.
pub fn no_regular_file(span: Span, path: &str) -> Diagnostic {
    Diagnostic::error("E0801", span, format!("`{path}` is not a regular file"))
        .help("only regular files can be imported")
}

/// A file that cannot be written.
pub fn unwritable(path: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("E0806", Span::NOWHERE, format!("the file `{path}` cannot be written: {error}"))
        .note("it is unchanged")
}

/// A file that is not UTF-8.
pub fn not_utf8(span: Span, path: &str, valid_up_to: usize) -> Diagnostic {
    Diagnostic::error("E0802", span, format!("the file `{path}` is not UTF-8 text"))
        .note(format!("the first byte that is not part of a character is byte {valid_up_to}"))
        .help("save the file as UTF-8")
}

/// A file that is larger than the driver reads.
pub fn too_large(span: Span, path: &str, limit: u64) -> Diagnostic {
    Diagnostic::error("E0803", span, format!("the file `{path}` is too large"))
        .note(format!("at most {} MiB are read", limit >> 20))
}

/// `import name` where the library has no such module.
pub fn unknown_library_module(span: Span, name: &str, similar: Option<&str>, all: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0804", span, format!("the library has no module `{name}`"))
        .label("not found")
        .note(format!("its modules are {}", all.join(", ")));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `import {similar}`?")),
        None => diagnostic.help(format!("a file is imported by its path: `import \"{name}.wg\"`")),
    }
}

/// Modules that import each other; `cycle` names each once, starting with the one whose import is at `span`.
pub fn import_cycle(span: Span, cycle: &[String]) -> Diagnostic {
    let first = cycle.first().map_or("", String::as_str);
    let message = match cycle.len() {
        1 => format!("`{first}` imports itself"),
        _ => format!("`{first}` imports itself through other modules"),
    };
    let mut chain: Vec<String> = cycle.iter().map(|name| format!("`{name}`")).collect();
    chain.push(format!("`{first}`"));
    Diagnostic::error("E0805", span, message)
        .label("this import closes the circle")
        .note(chain.join(" imports "))
        .help("move what both need to a module of its own")
}

/// A JSON text in which something else was expected.
pub fn bad_json(span: Span, expected: &str, found: Option<char>, help: Option<&str>) -> Diagnostic {
    let found = match found {
        Some(c) => format!("`{c}`"),
        None => "the end of the text".into(),
    };
    let diagnostic = Diagnostic::error("E0810", span, format!("this is not JSON: {expected}, found {found}"));
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// A JSON token that is malformed.
pub fn bad_json_token(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("E0810", span, format!("this is not JSON: {message}"))
}

/// An input whose outermost value is not an array.
pub fn input_not_array(span: Span, found: &str, entry: &str) -> Diagnostic {
    Diagnostic::error(
        "E0811",
        span,
        format!("the input must be a JSON array of the arguments of `{entry}`, found {found}"),
    )
    .help("write one argument as `[3.0]`, and one argument that is a tuple as `[[1.0, 2.0]]`")
}

/// An input with too many or too few arguments.
pub fn argument_count(span: Span, entry: &str, ty: &str, expected: usize, found: usize) -> Diagnostic {
    let diagnostic = match expected {
        0 => Diagnostic::error(
            "E0812",
            span,
            format!("`{entry}` is not a function, but the input has {}", arguments(found)),
        ),
        _ => Diagnostic::error(
            "E0812",
            span,
            format!("`{entry}` takes at most {}, but the input has {found}", arguments(expected)),
        ),
    };
    let diagnostic = diagnostic.note(format!("`{entry} : {ty}`"));
    match expected {
        0 => diagnostic.help("leave the input out"),
        1 => diagnostic
            .help("an argument that is a tuple is an array inside the array of arguments: `[[1.0, 2.0]]`"),
        _ => diagnostic,
    }
}

fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".into() } else { format!("{count} arguments") }
}

/// A JSON value at `path` that is not what the type demands.
pub fn wrong_json(span: Span, path: &str, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0813", span, format!("{path}: expected {expected}, found {found}"))
}

/// A JSON number at `path` that its type cannot hold.
pub fn number_out_of_range(span: Span, path: &str, number: &str, ty: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0814", span, format!("{path}: {number} is not {ty}"));
    match ty {
        "an `Int`" => diagnostic.help("an `Int` is a whole number from -2^63 to 2^63 - 1"),
        _ => diagnostic.help("write \"Infinity\" or \"-Infinity\", in quotes, for the infinities"),
    }
}

/// A JSON array at `path` whose length is not what the type says; `why` tells where that length comes from.
pub fn wrong_length(span: Span, path: &str, expected: &str, found: usize, why: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0815", span, format!("{path}: expected {expected}, found {found}"));
    match why {
        Some(why) => diagnostic.note(why),
        None => diagnostic,
    }
}

/// A JSON object at `path` without a field that the type has.
pub fn missing_field(span: Span, path: &str, field: &str, ty: &str) -> Diagnostic {
    Diagnostic::error("E0816", span, format!("{path}: the field \"{field}\" is missing"))
        .note(format!("the type is `{ty}`"))
}

/// A JSON object at `path` with a field that the type does not have.
pub fn extra_field(span: Span, path: &str, field: &str, ty: &str, similar: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0816", span, format!("{path}: there is no field \"{field}\" in the type"))
            .note(format!("the type is `{ty}`"));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean \"{similar}\"?")),
        None => diagnostic,
    }
}

/// A JSON object at `path` that has a field twice.
pub fn repeated_field(span: Span, path: &str, field: &str) -> Diagnostic {
    Diagnostic::error("E0816", span, format!("{path}: the field \"{field}\" is there twice"))
}

/// A JSON object at `path` that should be a constructor but has not the keys of one.
pub fn not_a_constructor(span: Span, path: &str, ty: &str) -> Diagnostic {
    Diagnostic::error("E0816", span, format!("{path}: this object is not a constructor of `{ty}`"))
        .help("a constructor is written `{\"tag\": \"Name\", \"fields\": [ … ]}`")
}

/// A constructor at `path` that its type does not have.
pub fn unknown_tag(
    span: Span,
    path: &str,
    tag: &str,
    ty: &str,
    all: &[&str],
    similar: Option<&str>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0817", span, format!("{path}: `{tag}` is not a constructor of `{ty}`"))
            .note(format!("its constructors are {}", all.join(", ")));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean \"{similar}\"?")),
        None => diagnostic,
    }
}

/// An argument at `path` whose type holds a function or a dual.
pub fn no_json_form(span: Span, path: &str, ty: &str) -> Diagnostic {
    Diagnostic::error("E0818", span, format!("{path}: a value of type `{ty}` cannot be written as JSON"))
        .help("define an entry that builds it from data, or use `wengert eval` with an expression")
}

/// A polymorphic argument whose type the JSON leaves open; `why` says what is in the way.
pub fn ambiguous_json(span: Span, variable: &str, entry: &str, ty: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0819", span, format!("the JSON does not tell what `{variable}` is: {why}"))
        .note(format!("`{entry} : {ty}`"))
        .help(format!("annotate the parameters of `{entry}` with their types"))
}

/// A definition that does not exist.
pub fn unknown_definition(name: &str, place: &str, similar: Option<&str>, all: &[&str]) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::error("E0820", Span::NOWHERE, format!("{place} does not define `{name}`"));
    if !all.is_empty() && all.len() <= 30 {
        diagnostic = diagnostic.note(format!("it defines {}", all.join(", ")));
    }
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None if name == "main" => diagnostic.help("name what to evaluate by `--entry NAME`"),
        None => diagnostic,
    }
}

/// A name that neither the library nor the table of built-in functions has.
pub fn undocumented(name: &str, similar: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0820", Span::NOWHERE, format!("the library has nothing called `{name}`"));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None => diagnostic.help("`wengert doc` lists everything"),
    }
}

/// A calculus that does not exist.
pub fn unknown_calculus(name: &str, similar: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0825", Span::NOWHERE, format!("there is no calculus `{name}`"));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None => diagnostic.help("`wengert calculus` lists them"),
    }
}

/// A rule that the calculus does not have.
pub fn unknown_rule(calculus: &str, name: &str, similar: Option<&str>, all: &[&str]) -> Diagnostic {
    let message = format!("the calculus `{calculus}` has no rule `{name}`");
    let diagnostic =
        Diagnostic::error("E0826", Span::NOWHERE, message).note(format!("its rules are {}", all.join(", ")));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None => diagnostic.help(format!("`wengert calculus {calculus}` says what each does")),
    }
}

/// An error code that does not exist.
pub fn unknown_code(code: &str) -> Diagnostic {
    Diagnostic::error("E0820", Span::NOWHERE, format!("there is no error code `{code}`"))
        .help("`wengert explain` lists all codes")
}

/// An entry whose cost cannot be counted, because of its type.
pub fn no_cost(span: Span, entry: &str, ty: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0821", span, format!("the cost of `{entry}` cannot be counted: {why}"))
        .label(format!("`{ty}`"))
        .help("give a function from first-order values that hold a `Real` to first-order values")
}

/// The engine `c` without a C compiler; `named` is what `CC` says.
pub fn no_compiler(named: Option<&str>) -> Diagnostic {
    let message = match named {
        Some(named) => format!("there is no C compiler `{named}`, which the variable CC names"),
        None => "there is no C compiler on this machine".to_string(),
    };
    let diagnostic = Diagnostic::error("E0822", Span::NOWHERE, message);
    match named {
        Some(_) => diagnostic.help("set CC to the name of a C compiler, such as `gcc` or `clang`, or unset it"),
        None => diagnostic.help(
            "install gcc or clang (on Debian and Ubuntu `apt install gcc`, on Fedora `dnf install gcc`), or run \
             it with `--engine native`, which needs no compiler",
        ),
    }
}

/// The C compiler does not compile.
pub fn compiler_failed(said: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0827", Span::NOWHERE, "the C compiler failed");
    let diagnostic = if said.trim().is_empty() {
        diagnostic
    } else {
        diagnostic.note(format!("it said: {}", said.trim()))
    };
    diagnostic
        .help("set the variable CC to another C compiler, or run it with `--engine native`, which needs none")
}

/// A definition whose arguments or results have no form in C.
pub fn not_for_c(span: Span, entry: &str, ty: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0828", span, format!("`{entry}` cannot be called from C: its type is `{ty}`"))
        .note(why)
        .help("give it arguments and results of numbers, truth values, texts, arrays of numbers or truth values, and tuples and records of all these")
}

/// A definition whose type leaves open what C gives it or gets of it: `variable` stands for any type.
pub fn open_for_c(span: Span, entry: &str, ty: &str, variable: &str) -> Diagnostic {
    Diagnostic::error("E0828", span, format!("`{entry}` cannot be called from C: its type is `{ty}`"))
        .note(format!("nothing says which type `{variable}` is, and a function of C is for one"))
        .help(format!("annotate the parameters of `{entry}`, or its result, with their types"))
}

/// A definition whose derivative cannot be built.
pub fn no_derivative(span: Span, entry: &str, ty: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0832", span, format!("there is no derivative of `{entry}` to build: {why}"))
        .label(format!("`{ty}`"))
        .help("build it without `--jvp` and `--vjp`, or give it a parameter that holds a `Real`")
}

/// A function that takes functions, of which the compiler's code is to be shown.
pub fn no_code(span: Span) -> Diagnostic {
    Diagnostic::error("E0831", span, "a function that takes functions has no code of its own")
        .note("it is compiled anew for each function that it is given")
        .help("show it with one that it is given: `\\x -> derivative sin x`")
}

/// What the compiler leaves to the interpreter, where there must be machine code.
pub fn only_interpreted(span: Span, entry: &str) -> Diagnostic {
    let why = "this is so for rules of `custom_jvp` and \
               `custom_vjp` that are not linear, and for programs that are too large for machine code";
    for_interpreter(span, &format!("`{entry}`"), why)
}

/// A program without machine code, where that was asked for, and why.
pub fn no_machine_code(span: Span, why: &str) -> Diagnostic {
    for_interpreter(span, "this program", why)
}

fn for_interpreter(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0829", span, format!("only the interpreter can run {what}"))
        .note(why)
        .help("`wengert run`, `eval` and `bench` do it with the interpreter")
}

/// What the interpreter ran although machine code was asked for.
pub fn interpreted(engine: &str, why: &str) -> Diagnostic {
    let message = format!("this program is run by the interpreter, not by the engine `{engine}`");
    Diagnostic::warning("E0830", Span::NOWHERE, message).note(why)
}

/// A command of the interactive mode that does not exist.
pub fn unknown_command(command: &str, similar: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0823", Span::NOWHERE, format!("there is no command `{command}`"));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None => diagnostic.help("`:help` lists the commands"),
    }
}

/// A command of the interactive mode without its argument.
pub fn missing_argument(command: &str, argument: &str) -> Diagnostic {
    Diagnostic::error("E0824", Span::NOWHERE, format!("`{command}` needs an argument"))
        .help(format!("write `{command} {argument}`"))
}

/// `:reload` before any `:load`.
pub fn nothing_to_reload() -> Diagnostic {
    Diagnostic::error("E0824", Span::NOWHERE, "no file has been loaded yet").help("write `:load FILE` first")
}

/// Something that must not happen. Its code is not in the list: no program can be shown that gives it.
pub fn internal(span: Span, what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("E0899", span, format!("internal error: {what}"))
        .note("this is a bug in wengert, not in your program")
        .help("please report it together with the program")
}
