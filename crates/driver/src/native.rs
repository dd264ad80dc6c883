//! Running a program in machine code: through the compiler, with values laid out as its entry says.
//!
//! A value of the language is several values of the IR (a tuple its components, an array of tuples several arrays); its
//! type tells how to put it together again, with the names of fields and constructors that the IR does not know.

mod elements;
mod left;
mod machine;
mod ragged;
mod uniform;

pub(crate) use left::{for_interpreter, huge, is_for_interpreter, is_for_tags, of_its_types};
pub(crate) use machine::Machine;
use ragged::is_ragged;

use crate::cache;
use crate::compiler::Compiler;
use crate::emit::{self, Stage};
use crate::engine::{Engine, Options};
use crate::errors;
use elements::{leaf_elems, stacked};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_core::{Program, Subst, Type, TypeArg};
use wengert_engine::{Error, Head, Layout, Limits, Line, Manner, Native, Passes, Rows, Unit};
use wengert_fault::Fault;
use wengert_interp::value::CtorInfo;
use wengert_interp::{Interp, Value, View};
use wengert_ir::Elem;
use wengert_ir::eval::{Array, Items, Node, Value as Flat};
use wengert_mono::bridge::bridge_with_notes;

/// What machine code is made with.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    maker: Maker,
    manner: Manner,
    passes: Passes,
    /// Whether machine code is kept on disk.
    cache: bool,
    /// What was made before machine code, for other targets.
    pub(crate) units: Option<Units>,
}

/// What the compiler made of the definitions of one scope, before it is made into machine code: for calls of the same definitions
/// with other options.
#[derive(Clone, Debug, Default)]
pub struct Units(Rc<RefCell<FxHashMap<UnitKey, Result<Unit, Diagnostic>>>>);

/// A definition at its types, with how many arguments it is called with, its form, and the passes that were left out.
type UnitKey = (Name, Vec<TypeArg>, Shape, Passes);

/// Which form of a definition is compiled: the number of its arguments, and how arrays stand in the elements of arrays.
pub(crate) type Shape = (usize, Rows);

impl Units {
    /// The one of that definition; made, if it was not yet.
    fn get(
        &self,
        (name, type_args): (Name, &[TypeArg]),
        shape: Shape,
        passes: &Passes,
        make: impl FnOnce() -> Result<Unit, Diagnostic>,
    ) -> Result<Unit, Diagnostic> {
        let key = (name, type_args.to_vec(), shape, passes.clone());
        if let Some(unit) = self.0.borrow().get(&key) {
            return unit.clone();
        }
        let unit = make();
        self.0.borrow_mut().insert(key, unit.clone());
        unit
    }
}

#[derive(Clone, Copy, Debug)]
enum Maker {
    /// None: the evaluator of the IR.
    Reference,
    /// The code generator of this program.
    Jit,
    /// The system's C compiler.
    C,
}

impl Target {
    /// What these options ask for, unless it is the interpreter.
    pub(crate) fn of(options: &Options) -> Option<Target> {
        let maker = match options.engine {
            Engine::Interp => return None,
            Engine::Ir => Maker::Reference,
            Engine::Native => Maker::Jit,
            Engine::C => Maker::C,
        };
        let manner = Manner { strict: options.strict, short_loops: options.short_loops };
        Some(Target { maker, manner, passes: passes(options), cache: options.cache, units: None })
    }

    /// The same for a program for which derivatives are not made beforehand; `None` if it is that.
    pub(crate) fn tagged(&self) -> Option<Target> {
        let passes = Passes { ordered: true, tagged: true, ..self.passes.clone() };
        (!self.passes.tagged).then(|| Target { passes, ..self.clone() })
    }

    /// Machine code of a definition; from the cache, if it is there.
    fn ready(
        &self,
        program: &Program,
        entry: (Name, &[TypeArg]),
        library: &[SourceId],
        shape: Shape,
        limits: Limits,
    ) -> Result<Native, Diagnostic> {
        let kept = self.cache && matches!(self.maker, Maker::Jit);
        let key = kept.then(|| self.key(program, entry, library, shape));
        let known = key.and_then(cache::load);
        if let Some(native) = known.and_then(|bytes| Native::restore(&bytes, limits.clone())) {
            return Ok(native);
        }
        let native = stoppable(&limits.stop.clone(), || {
            let make = || unit(program, entry, library, shape, &self.passes);
            let unit = match &self.units {
                Some(units) => units.get(entry, shape, &self.passes, make)?,
                None => make()?,
            };
            self.make(unit, limits)
        })?;
        if let Some((key, bytes)) = key.zip(native.save().filter(|_| kept)) {
            cache::store(key, &bytes);
        }
        Ok(native)
    }

    /// A name made of all that the machine code of a definition depends on.
    fn key(
        &self,
        program: &Program,
        (name, type_args): (Name, &[TypeArg]),
        library: &[SourceId],
        shape: Shape,
    ) -> u128 {
        let needed = emit::needed(program, name);
        let text = wengert_core::print(&needed);
        let type_args: Vec<String> = type_args.iter().map(ToString::to_string).collect();
        let manner = (self.manner.strict, self.manner.short_loops, &self.passes);
        let mut spans = Vec::new();
        for def in needed.defs.values() {
            spans.push(def.span);
            let mut terms = vec![&def.body];
            while let Some(term) = terms.pop() {
                spans.push(term.span);
                term.push_children(&mut terms);
            }
        }
        cache::key(&(text, name.as_str(), type_args, spans, library, shape, manner))
    }

    /// Machine code of a program whose derivatives are made.
    fn make(&self, unit: Unit, limits: Limits) -> Result<Native, Diagnostic> {
        if !matches!(self.maker, Maker::Reference) && wengert_engine::is_huge(&unit) {
            return Err(huge(&unit));
        }
        match self.maker {
            Maker::Jit => return wengert_engine::native(unit, self.manner, limits).map_err(diagnostic),
            Maker::Reference => return Ok(wengert_engine::reference(unit, limits)),
            Maker::C => {}
        }
        let compiler = Compiler::find()?;
        let source = wengert_engine::c(unit, self.manner, &|_| None);
        let library = compiler.library(source.text())?;
        source.open(&library.path().to_string_lossy(), limits).map_err(diagnostic)
    }
}

/// What is compiled, or that the user asked to stop or the time was up.
pub(crate) fn stoppable<R>(
    stop: &Arc<AtomicU64>,
    work: impl FnOnce() -> Result<R, Diagnostic>,
) -> Result<R, Diagnostic> {
    let stopped = |_| Err(Fault::Interrupted.diagnostic(Span::NOWHERE));
    wengert_engine::stoppable(stop, work).unwrap_or_else(stopped)
}

/// The passes that these options ask for.
pub(crate) fn passes(options: &Options) -> Passes {
    let ordered = options.strict || options.engine == Engine::Ir;
    Passes { without: options.without.clone(), ordered, in_order: false, tagged: options.tagged }
}

/// The value of a definition at arguments, by machine code.
pub(crate) fn call(
    target: &Target,
    program: &Program,
    entry: (Name, &[TypeArg]),
    args: &[Value],
    library: &[SourceId],
    limits: Limits,
    interp: &mut Interp,
) -> Result<Value, Diagnostic> {
    let found = call_as(target, program, entry, args, library, limits.clone(), interp);
    match (&found, target.tagged()) {
        (Err(error), Some(tagged)) if is_for_tags(error) => {
            // Why it is left to the interpreter, if it is, the first failure says.
            match call_as(&tagged, program, entry, args, library, limits, interp) {
                Err(error) if is_for_interpreter(&error) => found,
                other => other,
            }
        }
        (_, _) => found,
    }
}

/// The value of a definition at arguments, by machine code that is made so.
fn call_as(
    target: &Target,
    program: &Program,
    entry: (Name, &[TypeArg]),
    args: &[Value],
    library: &[SourceId],
    limits: Limits,
    interp: &mut Interp,
) -> Result<Value, Diagnostic> {
    let mut rows = rows_of(args);
    loop {
        let mut native = target.ready(program, entry, library, (args.len(), rows), limits.clone())?;
        let mut form = Form { stop: limits.stop.clone(), ..Form::new(program, &native, interp) };
        let mut flat = Vec::new();
        for (arg, layout) in args.iter().zip(&native.entry().params) {
            form.flatten(arg, layout, &mut flat);
        }
        match native.call(&flat).map_err(|failure| failure.diagnostic()) {
            Err(error) if is_uneven(&error) && native.entry().uneven => rows = Rows::Ragged,
            given => {
                let layout = native.entry().result.clone();
                let ty = result_type(program, entry, args.len())?;
                return form.whole(&given?, &layout, &ty);
            }
        }
    }
}

/// The form that is called with these arguments first.
pub(crate) fn rows_of(args: &[Value]) -> Rows {
    if args.iter().any(is_ragged) { Rows::Ragged } else { Rows::Regular }
}

/// What the compiler makes of a definition, as text.
pub(crate) fn text(
    program: &Program,
    entry: (Name, &[TypeArg]),
    library: &[SourceId],
    stage: Stage,
    line: &Line<'_>,
    passes: &Passes,
) -> Result<String, Diagnostic> {
    if stage == Stage::Ir {
        let lowered = with_code(program, entry.0, lowered(program, entry, library, ALL, passes)?)?;
        return Ok(wengert_engine::ir(&lowered));
    }
    let unit = with_code(program, entry.0, unit(program, entry, library, ALL, passes)?)?;
    let strict = passes.ordered;
    match stage {
        Stage::Loops => Ok(wengert_engine::loops(unit, strict)),
        Stage::C => {
            let manner = Manner { strict, ..Manner::default() };
            Ok(wengert_engine::c(unit, manner, line).text().to_string())
        }
        Stage::Clif => wengert_engine::clif(unit, strict).map_err(diagnostic),
        Stage::Core | Stage::Ir | Stage::Derivative => Ok(wengert_engine::derivative(unit, strict)),
    }
}

/// A function takes all arguments at once that are not functions.
const ALL: Shape = (usize::MAX, Rows::Regular);

/// The unit, if there is anything to see in it: a function that takes functions is compiled for each that it is given.
fn with_code(program: &Program, name: Name, unit: Unit) -> Result<Unit, Diagnostic> {
    if matches!(unit.entry.result, Layout::Function(_)) {
        let span = program.defs.get(&name).map_or(Span::NOWHERE, |def| def.span);
        return Err(errors::no_code(span));
    }
    Ok(unit)
}

/// A definition with its derivatives made, ready to be compiled.
pub(crate) fn unit(
    program: &Program,
    entry: (Name, &[TypeArg]),
    library: &[SourceId],
    shape: Shape,
    passes: &Passes,
) -> Result<Unit, Diagnostic> {
    let lowered = lowered(program, entry, library, shape, passes)?;
    wengert_engine::differentiate(lowered, passes).map_err(diagnostic)
}

/// A definition in the IR.
fn lowered(
    program: &Program,
    (name, type_args): (Name, &[TypeArg]),
    library: &[SourceId],
    (arity, rows): Shape,
    passes: &Passes,
) -> Result<Unit, Diagnostic> {
    let singles = rows == Rows::Ragged;
    let (simple, notes) = bridge_with_notes(program, name, type_args, singles).map_err(first)?;
    let is_library = |source: SourceId| library.contains(&source);
    wengert_engine::lower(&simple, &notes, &is_library, (arity, rows), passes).map_err(diagnostic)
}

/// The type of a definition applied to so many arguments.
fn result_type(
    program: &Program,
    (name, type_args): (Name, &[TypeArg]),
    count: usize,
) -> Result<Type, Diagnostic> {
    let Some(def) = program.defs.get(&name) else {
        return Err(errors::internal(Span::NOWHERE, format!("there is no definition `{name}`")));
    };
    let mut ty = def.scheme.instantiate(type_args);
    for _ in 0..count {
        if let Type::Fun(_, result) = ty {
            ty = Type::clone(&result);
        }
    }
    Ok(ty)
}

fn diagnostic(error: Error) -> Diagnostic {
    match error {
        Error::Program(errors) => first(errors),
        Error::Internal(broken) => errors::internal(Span::NOWHERE, broken.0),
    }
}

fn first(errors: Vec<Diagnostic>) -> Diagnostic {
    let first = errors.into_iter().next();
    first.unwrap_or_else(|| errors::internal(Span::NOWHERE, "an error without a text"))
}

/// Limits of machine code.
pub(crate) fn limits(memory: u64, stop: &Arc<AtomicU64>, threads: usize) -> Limits {
    Limits { memory, stop: stop.clone(), threads: threads.max(1) }
}

/// The forms of values.
struct Form<'a> {
    program: &'a Program,
    entry_data: Vec<(wengert_ir::DataId, Vec<Vec<Layout>>)>,
    /// The uniform type.
    uniform: Option<(wengert_ir::DataId, Vec<Head>)>,
    interp: &'a mut Interp,
    /// Not 0 when nobody waits for a value any more.
    stop: Arc<AtomicU64>,
}

/// Whether that is the failure of an array of arrays of different sizes.
pub(crate) fn is_uneven(error: &Diagnostic) -> bool {
    let ragged = Fault::Ragged { first: (0, String::new()), second: (1, String::new()) };
    error.code == ragged.code()
}

impl<'a> Form<'a> {
    fn new(program: &'a Program, native: &Native, interp: &'a mut Interp) -> Form<'a> {
        let entry = native.entry();
        let (entry_data, uniform) = (entry.data.clone(), entry.uniform.clone());
        Form { program, entry_data, uniform, interp, stop: Arc::default() }
    }

    /// The values of the IR that a value is.
    fn flatten(&self, value: &Value, layout: &Layout, out: &mut Vec<Flat>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match (value.view(), layout) {
            (_, Layout::Boxed(boxes, of)) => {
                let mut own = Vec::new();
                self.flatten(value, of, &mut own);
                let boxed = |(boxed, value): (&Option<_>, Flat)| match boxed {
                    Some(_) => Flat::data(0, vec![value]),
                    None => value,
                };
                out.extend(boxes.iter().zip(own).map(boxed));
            }
            (_, Layout::Data(data)) if self.is_uniform(*data) => out.push(self.uniform_node(value, *data)),
            (View::Real(x), _) => out.push(Flat::Real(x)),
            (View::Int(n), _) => out.push(Flat::Int(n)),
            (View::Bool(truth), _) => out.push(Flat::Bool(truth)),
            (View::String(text), _) => out.push(Flat::text(text)),
            (View::Tuple(items), Layout::Tuple(layouts)) => {
                items.iter().zip(layouts).for_each(|(item, layout)| self.flatten(item, layout, out));
            }
            (View::Record(fields), Layout::Tuple(layouts)) if fields.len() == layouts.len() => {
                fields.iter().zip(layouts).for_each(|((_, field), layout)| self.flatten(field, layout, out));
            }
            // A record with one field is that field.
            (View::Record(fields), layout) => {
                fields.iter().for_each(|(_, field)| self.flatten(field, layout, out));
            }
            (View::Data(_, fields), Layout::Data(data)) => out.push(self.node(value, &fields, *data)),
            (View::Array(items), Layout::Array(of)) => out.extend(self.arrays(&items, of)),
            (View::Dual(Some(vector)), Layout::Dual(of)) => self.flatten(&vector, of, out),
            // The checker excludes all others.
            (_, _) => out.push(Flat::Unit),
        });
    }

    /// The layouts of the fields of a constructor.
    fn layouts(&self, data: wengert_ir::DataId, ctor: usize) -> Option<&Vec<Layout>> {
        let (_, ctors) = self.entry_data.iter().find(|(known, _)| *known == data)?;
        ctors.get(ctor)
    }

    fn node(&self, value: &Value, fields: &[Value], data: wengert_ir::DataId) -> Flat {
        let index = if let Value::Data(data) = value { data.ctor.index } else { 0 };
        let mut flat = Vec::new();
        if let Some(layouts) = self.layouts(data, index as usize) {
            fields.iter().zip(layouts).for_each(|(field, layout)| self.flatten(field, layout, &mut flat));
        }
        Flat::data(index, flat)
    }

    /// The arrays of the components of elements.
    fn arrays(&self, items: &[Value], of: &Layout) -> Vec<Flat> {
        let mut columns: Vec<Vec<Flat>> = vec![Vec::with_capacity(items.len()); of.values().max(1)];
        for item in items {
            let mut flat = Vec::new();
            self.flatten(item, of, &mut flat);
            if flat.is_empty() {
                flat.push(Flat::Unit);
            }
            for (column, value) in columns.iter_mut().zip(flat) {
                column.push(value);
            }
        }
        let mut leaves = Vec::new();
        leaf_elems(of, 1, &mut leaves);
        if leaves.is_empty() {
            leaves.push((Elem::Unit, 1));
        }
        let stacked = |(rows, (elem, rank)): (Vec<Flat>, (Elem, u8))| stacked(&rows, elem, rank);
        columns.into_iter().zip(leaves).map(stacked).collect()
    }

    /// The value of that type that values of the IR are, if it is there before anybody asks to stop.
    fn whole(&mut self, flat: &[Flat], layout: &Layout, ty: &Type) -> Result<Value, Diagnostic> {
        let value = self.value(flat, layout, ty);
        if self.is_stopped() { Err(Fault::Interrupted.diagnostic(Span::NOWHERE)) } else { Ok(value) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != 0
    }

    /// The value of that type that values of the IR are. When it is to stop, what is missing is left out.
    fn value(&mut self, flat: &[Flat], layout: &Layout, ty: &Type) -> Value {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match (layout, ty, flat) {
            (Layout::Boxed(boxes, of), _, flat) => {
                let opened = |(boxed, value): (&Option<_>, &Flat)| match (boxed, value) {
                    (Some(_), Flat::Data(node)) => node.fields().first().cloned().unwrap_or(Flat::Unit),
                    _ => value.clone(),
                };
                let own: Vec<Flat> = boxes.iter().zip(flat).map(opened).collect();
                self.value(&own, of, ty)
            }
            (Layout::Data(of), _, [Flat::Data(x)]) if self.is_uniform(*of) => self.held(x, *of, ty),
            // What a function is nobody outside of machine code can say: any stands for it.
            (_, Type::Fun(..), _) => self.some_function(),
            (Layout::Tuple(layouts), Type::Tuple(types), flat) => {
                let mut rest = flat;
                let mut items = Vec::with_capacity(types.len());
                for (layout, ty) in layouts.iter().zip(types) {
                    let (own, others) = rest.split_at_checked(layout.values()).unwrap_or((rest, &[]));
                    items.push(self.value(own, layout, ty));
                    rest = others;
                }
                Value::tuple(items)
            }
            (layout, Type::Record(row), flat) => {
                let one = [layout.clone()];
                let layouts = if let Layout::Tuple(layouts) = layout
                    && layouts.len() == row.fields.len()
                {
                    layouts.as_slice()
                } else {
                    one.as_slice()
                };
                let mut rest = flat;
                let mut fields = Vec::new();
                for ((name, ty), layout) in row.fields.iter().zip(layouts) {
                    let (own, others) = rest.split_at_checked(layout.values()).unwrap_or((rest, &[]));
                    fields.push((*name, self.value(own, layout, ty)));
                    rest = others;
                }
                Value::record(fields)
            }
            (Layout::Array(of), Type::Array(_, elem), flat) => self.array(flat, of, elem),
            (Layout::Dual(of), Type::Dual(ty), flat) => {
                let vector = self.value(flat, of, ty);
                Value::Dual(Rc::new([vector].into_iter().collect()))
            }
            (_, _, [Flat::Real(x)]) => Value::Real(*x),
            (_, _, [Flat::Int(n)]) => Value::Int(*n),
            (_, _, [Flat::Bool(truth)]) => Value::Bool(*truth),
            (_, _, [Flat::Text(text)]) => Value::string(text.as_str()),
            (Layout::Data(data), Type::Data(name, args), [Flat::Data(node)]) => {
                self.data(node, *data, *name, args)
            }
            (_, Type::Dual(_), _) => {
                let unreadable = self.some_function();
                Value::Dual(Rc::new([unreadable].into_iter().collect()))
            }
            (_, _, _) => self.some_function(),
        })
    }

    fn some_function(&mut self) -> Value {
        let unit = TypeArg::Type(Type::unit());
        self.interp.eval_global(Name::new("prelude.id"), &[unit], Vec::new()).unwrap_or(Value::Bool(false))
    }

    fn array(&mut self, flat: &[Flat], of: &Layout, elem: &Type) -> Value {
        let arrays: Vec<&Rc<Array>> = flat
            .iter()
            .filter_map(|flat| if let Flat::Array(array) = flat { Some(array) } else { None })
            .collect();
        // A record of one field is that field.
        if let ([array], Layout::Real, Type::Real) = (arrays.as_slice(), of, elem)
            && let Items::Reals(items) = array.items()
            && !items.is_empty()
        {
            return Value::reals(items.clone());
        }
        if let ([array], Layout::Int, Type::Int) = (arrays.as_slice(), of, elem)
            && let Items::Ints(items) = array.items()
            && !items.is_empty()
        {
            return Value::ints(items.clone());
        }
        let rows = arrays.first().map_or(0, |array| array.rows());
        let mut items = Vec::with_capacity(rows);
        for place in 0..rows {
            if self.is_stopped() {
                break;
            }
            let row: Vec<Flat> = arrays.iter().filter_map(|array| array.row(place)).collect();
            items.push(self.value(&row, of, elem));
        }
        Value::array(items).unwrap_or_else(|_| Value::reals(Vec::new()))
    }

    fn data(&mut self, node: &Node, data: wengert_ir::DataId, name: Name, args: &[Type]) -> Value {
        if self.is_stopped() {
            return Value::Bool(false);
        }
        let ctor = node.ctor as usize;
        let layouts = self.layouts(data, ctor).cloned().unwrap_or_default();
        let Some(declared) = self.program.types.get(&name).cloned() else { return Value::Bool(false) };
        let subst = Subst::of_data(&declared.params, args);
        let types = declared.ctors.get(ctor).map(|ctor| ctor.fields.clone()).unwrap_or_default();
        let info: Option<Rc<CtorInfo>> = self.interp.ctors(name).and_then(|ctors| ctors.get(ctor)).cloned();
        let mut rest = node.fields();
        let mut fields = Vec::with_capacity(types.len());
        for (layout, ty) in layouts.iter().zip(&types) {
            let (own, others) = rest.split_at_checked(layout.values()).unwrap_or((rest, &[]));
            fields.push(self.value(own, layout, &subst.ty(ty)));
            rest = others;
        }
        info.map_or(Value::Bool(false), |info| Value::data(info, fields))
    }
}

#[cfg(test)]
mod tests;
