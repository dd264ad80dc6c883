//! Libraries for C programs: what the values of entries are in C, and what failures say (`words`).

mod words;

use crate::{LEFT, Unit};
use wengert_base::Span;
use wengert_c::{Export, Exported, Form, Line, Math, Message, Parts};
use wengert_ir::{Elem, Func, Ty};
use wengert_lower::Layout;
use wengert_native::loops::{Program as Loops, Site};
use words::{Words, words};

/// Why functions and values of declared types cannot be given to C.
pub const NO_DATA: &str = "a function or a value of a data type has no form in C";

/// Why arrays of texts cannot be.
pub const NO_TEXTS: &str = "an array of texts has no form in C";

/// A function of a library.
pub struct CFunction {
    /// Its name in C.
    pub name: String,
    /// What its header says of it.
    pub doc: String,
    /// Which derivative it is of the first one.
    pub role: Role,
    /// What it is; its derivatives are made.
    pub unit: Unit,
    /// The same for ragged rows, if that is another program.
    pub ragged: Option<Unit>,
    /// The same with no derivative made beforehand, if some may be missing.
    pub tagged: Option<Unit>,
}

/// What a function of a library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The function itself.
    Value,
    /// Of arguments and tangents, the value and its tangent.
    Jvp,
    /// Of arguments and a cotangent, the value and the cotangents of the arguments.
    Vjp,
}

/// The C file and the header of a library of this name; or why a function cannot be called from C. `place` is how a place in
/// the source is called.
pub fn c_library(
    name: &str,
    functions: Vec<CFunction>,
    place: &dyn Fn(Span) -> String,
    line: &Line<'_>,
) -> Result<Exported, String> {
    let shared = |unit: Unit| crate::shared(unit, crate::Manner::default());
    let shared = |function: CFunction| CFunction {
        unit: shared(function.unit),
        // Arguments and results of which the arrays stand by themselves are nothing that C could hold.
        ragged: function.ragged.map(shared).filter(|unit| signature(unit).is_ok()),
        tagged: function.tagged.map(shared),
        ..function
    };
    let functions: Vec<CFunction> = functions.into_iter().map(shared).collect();
    let loops = |unit: &Unit| wengert_native::divided(&unit.program, false, false);
    let loops: Vec<(Loops, [Option<Loops>; 2])> = functions
        .iter()
        .map(|function| {
            let others = [&function.ragged, &function.tagged];
            (loops(&function.unit), others.map(|unit| unit.as_ref().map(loops)))
        })
        .collect();
    let mut exports: Vec<Export<'_>> = Vec::new();
    for (function, (loops, [ragged, tagged])) in functions.iter().zip(&loops) {
        let mut made = export(function, &function.unit, loops, place)?;
        let other = |form: &str, unit: &Option<Unit>, loops| -> Result<_, String> {
            let Some((unit, loops)) = unit.as_ref().zip(loops) else { return Ok(None) };
            let name = format!("wg_{form}_{}", function.name);
            Ok(Some(Box::new(Export { name, ..export(function, unit, loops, place)? })))
        };
        made.ragged = other("ragged", &function.ragged, ragged.as_ref())?;
        made.tagged = other("tagged", &function.tagged, tagged.as_ref())?;
        if let Some(first) = exports.first() {
            name_after(first, function.role, &mut made);
        }
        exports.push(made);
    }
    wengert_c::export(name, &exports, Math::Library, line).ok_or_else(|| "there is nothing to export".into())
}

fn export<'p>(
    function: &CFunction,
    unit: &Unit,
    loops: &'p Loops,
    place: &dyn Fn(Span) -> String,
) -> Result<Export<'p>, String> {
    let (params, results) = signature(unit)?;
    let names = wengert_c::c_names(
        params.iter().map(|(name, _)| name.as_str()).chain(results.iter().map(|(name, _)| name.as_str())),
        TAKEN,
    );
    let forms = params.iter().chain(&results).map(|(_, form)| *form);
    let mut all: Vec<(String, Form)> = names.into_iter().zip(forms).collect();
    let results = all.split_off(params.len());
    // Where C itself can hold no such arrays, that is what is wrong.
    let beyond = unit.entry.uneven && function.ragged.is_none();
    let message = |site: &Site| {
        let Words { mut text, mut cases, uneven } = words(unit, site.failure);
        if uneven && beyond {
            (text, cases) = (BEYOND_C.to_string(), Vec::new());
        }
        Message { place: place(site.span), text, cases, uneven }
    };
    Ok(Export {
        name: function.name.clone(),
        doc: function.doc.clone(),
        program: loops,
        func: unit.entry.func,
        params: all,
        parts: parts(&unit.entry.params),
        results,
        messages: loops.sites.iter().map(message).collect(),
        ragged: None,
        tagged: None,
        left: &LEFT,
    })
}

/// What parameters cannot be called: the first one is the run.
const TAKEN: &[&str] = &["run"];

/// What fails in a library whose arguments or results would have to be ragged.
const BEYOND_C: &str = "arrays of different sizes stand in the elements of an array, which the arguments or results in C cannot hold";

/// Names and forms.
type Named = Vec<(String, Form)>;

/// The parameters and results of an entry.
fn signature(unit: &Unit) -> Result<(Named, Named), String> {
    let Some(func) = unit.program.funcs.get(unit.entry.func) else {
        return Err("there is no entry".into());
    };
    Ok((parameters(func)?, results(func)?))
}

/// Names the parameters and results of a derivative after those of the function, which keep theirs.
fn name_after(first: &Export<'_>, role: Role, made: &mut Export<'_>) {
    let names =
        |all: &[(String, Form)]| -> Vec<String> { all.iter().map(|(name, _)| name.clone()).collect() };
    let with = |names: &[String], ending: &str| -> Vec<String> {
        names.iter().map(|name| format!("{name}_{ending}")).collect()
    };
    let (params, results) = (names(&first.params), names(&first.results));
    let (others, other_results) = match role {
        Role::Value => return,
        Role::Jvp => (with(&params, "tangent"), with(&results, "tangent")),
        Role::Vjp => (with(&results, "cotangent"), with(&params, "cotangent")),
    };
    let is_such = made.params.len() == params.len() + others.len()
        && made.results.len() == results.len() + other_results.len();
    if !is_such {
        return;
    }
    // A parameter may be called as the tangent of another one is.
    let taken: Vec<&str> =
        TAKEN.iter().copied().chain(params.iter().chain(&results).map(String::as_str)).collect();
    let fresh = wengert_c::c_names(others.iter().chain(&other_results).map(String::as_str), &taken);
    let (others, other_results) = fresh.split_at_checked(others.len()).unwrap_or_default();
    let new = params.iter().chain(others).chain(&results).chain(other_results);
    let all = made.params.iter_mut().chain(&mut made.results);
    all.zip(new).for_each(|((name, _), new)| name.clone_from(new));
}

fn parameters(func: &Func) -> Result<Named, String> {
    let of = |param: &wengert_ir::Var| {
        let info = func.vars.at(*param);
        form(info.ty).map(|form| (info.name.to_string(), form))
    };
    func.body.params.iter().map(of).collect()
}

/// Which parameters are parts of one array of tuples: an array is an array for each value of an element.
fn parts(params: &[Layout]) -> Vec<Parts> {
    let (mut all, mut place) = (Vec::new(), 0);
    for param in params {
        parts_of(param, place, 0, &mut all);
        place += param.values();
    }
    all
}

/// The same of what begins at a parameter and stands in arrays with so many axes.
fn parts_of(layout: &Layout, first: usize, axis: usize, all: &mut Vec<Parts>) {
    match layout {
        Layout::Tuple(items) => {
            let mut place = first;
            for item in items {
                parts_of(item, place, axis, all);
                place += item.values();
            }
        }
        Layout::Array(of) => {
            all.extend((1..layout.values()).map(|other| Parts { one: first, other: first + other, axis }));
            parts_of(of, first, axis + 1, all);
        }
        Layout::Dual(of) | Layout::Boxed(_, of) => parts_of(of, first, axis, all),
        Layout::Real | Layout::Int | Layout::Bool | Layout::Text | Layout::Data(_) | Layout::Function(_) => {}
    }
}

fn results(func: &Func) -> Result<Named, String> {
    let count = func.results.len();
    let name = |place: usize| if count == 1 { "result".to_string() } else { format!("result{}", place + 1) };
    let all = func.results.iter().enumerate();
    all.map(|(place, ty)| form(*ty).map(|form| (name(place), form))).collect()
}

/// What a value of the IR is in C.
fn form(ty: Ty) -> Result<Form, String> {
    match ty {
        Ty::Scalar(Elem::Real) => Ok(Form::Real),
        Ty::Scalar(Elem::Int | Elem::Unit) => Ok(Form::Int),
        Ty::Scalar(Elem::Bool) => Ok(Form::Bool),
        Ty::Scalar(Elem::Text) => Ok(Form::Text),
        Ty::Array(Elem::Real, rank) => Ok(Form::Reals(rank)),
        Ty::Array(Elem::Int | Elem::Bool | Elem::Unit, rank) => Ok(Form::Ints(rank)),
        Ty::Array(Elem::Text, _) => Err(NO_TEXTS.into()),
        Ty::Scalar(Elem::Data(_)) | Ty::Array(Elem::Data(_), _) => Err(NO_DATA.into()),
    }
}
