//! E02xx: names, modules, declarations.

use super::{
    E0201, E0202, E0203, E0204, E0205, E0206, E0207, E0208, E0209, E0210, E0211, E0212, E0213, E0214, E0215,
    E0216, E0217, E0218, E0219, E0220,
};
use wengert_base::{Diagnostic, Name, Span};

/// What may be meant; a remark after a comma comes last.
fn perhaps(hint: &str) -> String {
    match hint.split_once(", ") {
        Some((meant, remark)) => format!("perhaps {meant} is meant, {remark}"),
        None => format!("perhaps {hint} is meant"),
    }
}

fn similar_name(diagnostic: Diagnostic, similar: Option<Name>) -> Diagnostic {
    match similar {
        Some(similar) => diagnostic.help(format!("perhaps `{similar}` is meant")),
        None => diagnostic,
    }
}

/// Where a name is that only has to be imported.
fn to_import(name: Name, module: &str) -> String {
    format!("the library has it: `import {module} ({name})`")
}

pub(crate) fn unknown_name(
    name: Name,
    span: Span,
    hint: Option<String>,
    library: Option<&str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(E0201, span, format!("`{name}` is not defined")).label("not found");
    match (library, hint) {
        (Some(module), _) => diagnostic.help(to_import(name, module)),
        (None, Some(hint)) if hint.starts_with("there is none") => diagnostic.help(hint),
        (None, Some(hint)) => diagnostic.help(perhaps(&hint)),
        (None, None) => {
            diagnostic.help("define it with `def` or `let`, or import the module that defines it")
        }
    }
}

/// A name in the value that a plain `let` gives it.
pub(crate) fn recursion_without_rec(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0201, span, format!("`{name}` is not defined before its own `let` ends"))
        .label("not defined yet")
        .help(format!("a local function that calls itself needs `rec`: `let rec {name} … = …`"))
}

pub(crate) fn unknown_ctor(
    name: Name,
    span: Span,
    hint: Option<String>,
    library: Option<&str>,
) -> Diagnostic {
    let message = format!("there is no constructor `{name}`");
    let diagnostic = Diagnostic::error(E0202, span, message).label("not found");
    match (library, hint) {
        // Constructors come in company: the whole module.
        (Some(module), _) => diagnostic.help(format!("the library has it: `import {module}`")),
        (None, Some(hint)) => diagnostic.help(perhaps(&hint)),
        (None, None) => diagnostic
            .help("constructors come from `type` declarations; variables begin with a lower-case letter"),
    }
}

pub(crate) fn unknown_type(
    name: Name,
    span: Span,
    hint: Option<String>,
    library: Option<&str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(E0203, span, format!("there is no type `{name}`")).label("not found");
    match (library, hint) {
        (Some(module), _) => diagnostic.help(to_import(name, module)),
        (None, Some(hint)) => diagnostic.help(perhaps(&hint)),
        (None, None) => diagnostic,
    }
}

/// Modules of other languages whose functions are built in here.
pub(crate) fn is_foreign_module(name: Name) -> bool {
    const FOREIGN: [&str; 11] =
        ["np", "numpy", "jnp", "jax", "lax", "math", "Math", "torch", "tf", "f64", "f32"];
    FOREIGN.contains(&name.as_str())
}

pub(crate) fn unknown_module(name: Name, span: Span, similar: Option<Name>) -> Diagnostic {
    let message = format!("no imported module is called `{name}`");
    let diagnostic = Diagnostic::error(E0204, span, message).label("not imported");
    match similar {
        Some(_) => similar_name(diagnostic, similar),
        None if is_foreign_module(name) => {
            diagnostic.help("functions such as `sin`, `sum` and `grad` need no module: leave the prefix out")
        }
        None => diagnostic
            .help(format!("if `{name}` is a module of the library, write `import {name}` at the top")),
    }
}

pub(crate) fn not_in_module(
    what: &str,
    name: Name,
    span: Span,
    module: &str,
    similar: Option<Name>,
) -> Diagnostic {
    let message = format!("module `{module}` has no {what} `{name}`");
    similar_name(Diagnostic::error(E0205, span, message).label("not found"), similar)
}

pub(crate) fn not_imported(name: Name, span: Span, module: &str, similar: Option<Name>) -> Diagnostic {
    let message = format!("module `{module}` has nothing called `{name}`");
    similar_name(Diagnostic::error(E0206, span, message).label("not found"), similar)
}

pub(crate) fn ambiguous(what: &str, name: Name, span: Span, places: &[(String, Span)]) -> Diagnostic {
    let message = format!("the {what} `{name}` is ambiguous");
    let mut diagnostic = Diagnostic::error(E0207, span, message).label("which one?");
    for (module, import) in places {
        diagnostic = diagnostic.also(*import, format!("`{module}` has it"));
    }
    let first = places.first().map_or("module", |(module, _)| module.as_str());
    diagnostic.help(format!("write `{first}.{name}`, or import only what you need: `import {first} (…)`"))
}

pub(crate) fn duplicate_definition(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0208, span, format!("`{name}` is defined twice"))
        .label("again here")
        .also(before, "first defined here")
        .help("rename one of them; definitions at top level may be in any order, so neither hides the other")
}

pub(crate) fn repeated_variable(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0209, span, format!("`{name}` is bound twice"))
        .label("again here")
        .also(before, "first bound here")
        .help("give one of them another name, or write `_` for what is not needed")
}

pub(crate) fn duplicate_ctor(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0210, span, format!("constructor `{name}` is declared twice"))
        .label("again here")
        .also(before, "first declared here")
}

pub(crate) fn duplicate_type(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0211, span, format!("type `{name}` is declared twice"))
        .label("again here")
        .also(before, "first declared here")
}

pub(crate) fn duplicate_field(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0212, span, format!("field `{name}` is given twice"))
        .label("again here")
        .also(before, "first given here")
}

pub(crate) fn duplicate_type_parameter(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0213, span, format!("type parameter `{name}` is given twice"))
        .label("again here")
        .also(before, "first given here")
}

pub(crate) fn unbound_type_variable(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0214, span, format!("type variable `{name}` is not a parameter of the declaration"))
        .label("not bound")
        .help(format!("add it after the name of the type: `type T {name} = …`"))
}

pub(crate) fn unbound_row_variable(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(
        E0214,
        span,
        format!("the rest `{name}` of a record cannot be left open in a declaration"),
    )
    .label("not bound")
    .help("list all fields of the record")
}

pub(crate) fn cyclic_alias(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0215, span, format!("alias `{name}` stands for a type that mentions itself"))
        .label("mentioned here")
        .help("an alias is only another way of writing a type; a recursive type is declared with `type`")
}

pub(crate) fn recursive_value(name: Name, span: Span, through: Option<Name>) -> Diagnostic {
    let message = match through {
        Some(other) => format!("the value of `{name}` is needed to compute it, through `{other}`"),
        None => format!("the value of `{name}` is needed to compute it"),
    };
    Diagnostic::error(E0216, span, message)
        .label("not a function")
        .help("only functions can be recursive: give it a parameter, or compute the value without itself")
}

pub(crate) fn recursion_needs_function(name: Option<Name>, span: Span) -> Diagnostic {
    let what = name.map_or_else(|| "this pattern".to_owned(), |name| format!("`{name}`"));
    Diagnostic::error(E0217, span, format!("`let rec` defines functions, but {what} is not one"))
        .label("not a function")
        .help("give it a parameter, or use `let` without `rec`")
}

pub(crate) fn duplicate_alias(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(E0218, span, format!("two imports are called `{name}`"))
        .label("again here")
        .also(before, "first used here")
        .help("give one of them another name after `as`")
}

pub(crate) fn module_as_value(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0219, span, format!("`{name}` is a module, not a value"))
        .label("a module")
        .help(format!("name something in it: `{name}.…`"))
}

pub(crate) fn built_in_type(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0220, span, format!("the type `{name}` is built in"))
        .label("cannot be declared again")
        .help("give the type another name")
}
