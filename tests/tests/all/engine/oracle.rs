//! What the interpreter says of a program, and whether the evaluator of the IR says the same.

use std::path::Path;
use wengert_base::{Diagnostic, SourceId};
use wengert_core::Program as Core;
use wengert_driver::scope::Scope;
use wengert_driver::{Options, Session, show};
use wengert_interp::View;
use wengert_ir::Op;
use wengert_ir::eval::{self as ir, Evaluator, Items, Limits};
use wengert_lower::{Entry, Layout, Lowered};
use wengert_mono::bridge::bridge_with_notes;
use wengert_mono::{simple, simple_check, simple_show};

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
}

/// The program in the IR, verified.
pub(super) fn verified((program, notes): &Noted) -> Result<Lowered, String> {
    let simplified = wengert_lower::simplify(program, &mut notes.clone(), &|_: SourceId| false);
    let errors = simple_check::check(&simplified);
    if !errors.is_empty() {
        return Err(format!("{errors:#?}\n{}", simple_show::show(&simplified)));
    }
    let lowered = wengert_lower::lower_with_notes(
        program,
        notes,
        &|_: SourceId| false,
        usize::MAX,
        wengert_lower::Rows::Regular,
    )
    .map_err(|errors| messages(&errors))?;
    if let Err(errors) = wengert_ir::verify(&lowered.program) {
        let errors: String = errors.iter().take(8).map(|error| format!("{error}\n")).collect();
        return Err(format!("{errors}\n{}", wengert_ir::print(&lowered.program)));
    }
    Ok(lowered)
}

/// Whether nothing in the program asks for a derivative.
fn is_plain(program: &wengert_ir::Program) -> bool {
    let mut plain = true;
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| {
            plain &= !matches!(
                stmt.op,
                Op::Jvp { .. }
                    | Op::Linearize { .. }
                    | Op::Forward { .. }
                    | Op::Backward { .. }
                    | Op::Taylor { .. }
            );
        });
    }
    plain
}

/// What the reference evaluator says of a program, in the words of the interpreter; nothing if a limit was reached.
pub(super) fn evaluated(
    lowered: &Lowered,
    value: &Result<wengert_interp::Value, Diagnostic>,
) -> Result<(), String> {
    let limits = Limits { max_steps: Some(50_000_000), max_memory: 1 << 30, ..Limits::default() };
    let mut evaluator = Evaluator::new(&lowered.program, limits);
    let found = evaluator.call(lowered.entry.func, Vec::new());
    match (value, found) {
        (Ok(value), Ok(found)) => {
            let mut text = String::new();
            if same(&lowered.entry, &lowered.entry.result, &found, value, &mut text) {
                return Ok(());
            }
            Err(format!("{} by the interpreter, but {found:?} in {text}", show(value)))
        }
        (Err(wanted), Err(found)) => {
            let found = found.diagnostic();
            if (wanted.code, &wanted.message) == (found.code, &found.message) {
                return Ok(());
            }
            Err(format!("`{}: {}` but `{}: {}`", wanted.code, wanted.message, found.code, found.message))
        }
        (Ok(value), Err(found)) => Err(format!("{} but `{}`", show(value), found.diagnostic().message)),
        (Err(wanted), Ok(found)) => Err(format!("`{}: {}` but {found:?}", wanted.code, wanted.message)),
    }
}

/// Whether values of the IR are the value of the interpreter. Zeros of both signs are the same.
fn same(
    entry: &Entry,
    layout: &Layout,
    found: &[ir::Value],
    value: &wengert_interp::Value,
    at: &mut String,
) -> bool {
    let one = found.first();
    match (layout, value.view()) {
        (Layout::Real, View::Real(x)) => {
            matches!(one, Some(ir::Value::Real(y)) if x == *y || (x.is_nan() && y.is_nan()))
        }
        (Layout::Int, View::Int(x)) => matches!(one, Some(ir::Value::Int(y)) if x == *y),
        (Layout::Bool, View::Bool(x)) => matches!(one, Some(ir::Value::Bool(y)) if x == *y),
        (Layout::Text, View::String(x)) => matches!(one, Some(ir::Value::Text(y)) if x == y.as_str()),
        (Layout::Tuple(items), View::Tuple(parts)) => all_same(entry, items, found, &parts, at),
        (layout, View::Record(fields)) => {
            let parts: Vec<_> = fields.into_iter().map(|(_, value)| value).collect();
            match (layout, parts.as_slice()) {
                (layout, [only]) => same(entry, layout, found, only, at),
                (Layout::Tuple(items), parts) => all_same(entry, items, found, parts, at),
                _ => false,
            }
        }
        (Layout::Array(of), View::Array(rows)) => {
            rows.iter().enumerate().all(|(index, value)| {
                let row: Option<Vec<ir::Value>> =
                    found.iter().map(|array| row(array, index, rows.len())).collect();
                row.is_some_and(|row| same(entry, of, row.get(..of.values()).unwrap_or_default(), value, at))
            }) && found
                .iter()
                .all(|array| matches!(array, ir::Value::Array(array) if array.rows() == rows.len()))
        }
        (Layout::Data(data), View::Data(name, parts)) => {
            let Some(ir::Value::Data(node)) = one else { return false };
            at.push_str(name.as_str());
            let ctors = entry.data.iter().find(|(id, _)| id == data).map(|(_, ctors)| ctors);
            let Some(fields) = ctors.and_then(|ctors| ctors.get(node.ctor as usize)) else { return false };
            all_same(entry, fields, node.fields(), &parts, at)
        }
        (Layout::Dual(of), View::Dual(Some(inner))) => same(entry, of, found, &inner, at),
        (Layout::Function(_), View::Function | View::Dual(None)) => true,
        _ => false,
    }
}

fn all_same(
    entry: &Entry,
    layouts: &[Layout],
    found: &[ir::Value],
    values: &[wengert_interp::Value],
    at: &mut String,
) -> bool {
    let mut found = found;
    layouts.len() == values.len()
        && layouts.iter().zip(values).all(|(layout, value)| {
            let Some((own, rest)) = found.split_at_checked(layout.values()) else { return false };
            found = rest;
            same(entry, layout, own, value, at)
        })
        && found.is_empty()
}

/// Row `index` of `count`.
fn row(array: &ir::Value, index: usize, count: usize) -> Option<ir::Value> {
    let ir::Value::Array(array) = array else { return None };
    let each = array.items().len() / count;
    let items = (index * each..(index + 1) * each).map(|at| array.items().get(at));
    match array.row_shape() {
        [] => array.items().get(index),
        shape => Some(of_items(shape, items.collect::<Option<Vec<_>>>()?, array.items())),
    }
}

/// An array of that shape.
fn of_items(shape: &[usize], values: Vec<ir::Value>, like: &Items) -> ir::Value {
    let mut items = like.clone();
    match &mut items {
        Items::Reals(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Real(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Ints(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Int(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Bools(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Bool(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Texts(xs) => {
            *xs = values
                .into_iter()
                .filter_map(|x| if let ir::Value::Text(x) = x { Some(x) } else { None })
                .collect()
        }
        Items::Units(xs) => *xs = vec![(); values.len()],
        Items::Data(xs) => {
            *xs = values
                .into_iter()
                .filter_map(|x| if let ir::Value::Data(x) = x { Some(x) } else { None })
                .collect()
        }
    }
    ir::Value::array(shape.iter().copied(), items)
}

/// A simply typed program with what is noted on it.
type Noted = (simple::Program, simple::Notes);

/// The program of an expression in the scope of a file.
pub(super) fn of_expression(text: &str, file: Option<&Path>) -> Result<Noted, String> {
    let (core, entry, _) = Session::new().core(text, file).map_err(|errors| messages(&errors))?;
    bridge_with_notes(&core, entry, &[], false).map_err(|errors| messages(&errors))
}

/// What the interpreter says of an expression.
fn interpreted(
    session: &mut Session,
    scope: &Scope,
    text: &str,
) -> Option<Result<wengert_interp::Value, Diagnostic>> {
    let options = Options { max_steps: Some(20_000_000), max_memory: Some(1 << 30), ..Options::default() };
    match session.eval_in(scope, "engine.wg", text, &options) {
        Ok(evaluated) => Some(Ok(evaluated.value)),
        Err(mut errors) => match errors.pop() {
            Some(error) if matches!(error.code, "E0715" | "E0716" | "E0717") => None,
            Some(error) => Some(Err(error)),
            None => None,
        },
    }
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The checker refuses it.
    Refused,
    /// It is lowered; it asks for derivatives, or takes too long.
    Lowered,
    /// It is evaluated with the same result.
    Agrees,
}

/// The program of the definition `it` in a module, and what is needed to interpret it; nothing if the checker refuses it.
fn checked(text: &str) -> Result<Option<(Session, Scope, Noted)>, String> {
    let mut session = Session::new();
    let report = session.check_text("generated.wg", text, Path::new("."));
    if report.has_errors() {
        return Ok(None);
    }
    let mut linked = Core::default();
    for module in &report.modules {
        linked.types.extend(module.program.types.clone());
        linked.defs.extend(module.program.defs.clone());
    }
    let own = report.modules.last().and_then(|module| {
        module.program.defs.keys().find(|name| name.as_str().rsplit('.').next() == Some("it")).copied()
    });
    let it = own.ok_or("the module has no `it`")?;
    let program = bridge_with_notes(&linked, it, &[], false).map_err(|errors| messages(&errors))?;
    Ok(Some((session, Scope::of_file(&report.modules), program)))
}

/// The program of the definition `it` in a module.
pub(super) fn of_module(text: &str) -> Result<Noted, String> {
    checked(text)?.map(|(_, _, program)| program).ok_or_else(|| "the checker refuses it".to_owned())
}

/// A module with a definition `it`: it is lowered, and, where nothing asks for a derivative, evaluated.
pub(super) fn agrees(text: &str) -> Result<Verdict, String> {
    let Some((mut session, scope, program)) = checked(text)? else { return Ok(Verdict::Refused) };
    let lowered = verified(&program)?;
    if !is_plain(&lowered.program) {
        return Ok(Verdict::Lowered);
    }
    match interpreted(&mut session, &scope, "it") {
        Some(value) => evaluated(&lowered, &value).map(|()| Verdict::Agrees),
        None => Ok(Verdict::Lowered),
    }
}
