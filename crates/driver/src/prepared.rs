//! Definitions that are made ready once and called often.
//!
//! [`Session::prepare`] checks, settles types and compiles. [`Prepared::read`] reads arguments into the form of the engine,
//! [`Prepared::call`] and [`Prepared::time`] call, and the results stay in the engine's form ([`Held`]) until
//! [`Prepared::value`] is asked for, or until they are arguments of the next call. So a measurement sees the evaluation and
//! nothing else.

use crate::engine::{Options, limits};
use crate::errors;
use crate::json::arguments::{Arguments, arguments};
use crate::json::guess::{Numbers, default_arg};
use crate::json::parse::Document;
use crate::native::{self, Machine, Target};
use crate::session::Session;
use crate::watch::Watch;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_core::{Def, Kind, Param, Program, Row, Scheme, Size, Type, TypeArg};
use wengert_engine::Rows;
use wengert_interp::{Interp, Value};

/// How often to call: until both numbers are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// At least so many times.
    pub count: u64,
    /// Until the calls together took so long.
    pub time: Duration,
}

/// A value in the form of an engine.
#[derive(Clone, Debug)]
pub struct Held(Form);

#[derive(Clone, Debug)]
enum Form {
    Value(Value),
    Flat(Rows, Vec<wengert_ir::eval::Value>),
}

/// A definition that is ready to be called.
pub struct Prepared {
    program: Program,
    def: Arc<Def>,
    type_args: Vec<TypeArg>,
    params: Vec<Type>,
    result: Type,
    interp: Interp,
    /// The definition in machine code, with regular rows.
    machine: Option<Machine>,
    /// The same with ragged rows, since they were met.
    ragged: Option<Machine>,
    /// What that is made of.
    source: Option<Source>,
    /// How long that took.
    later: Duration,
    /// Why the interpreter calls it, if another engine was asked for.
    left: String,
}

/// What machine code is made with.
struct Source {
    target: Target,
    library: Vec<SourceId>,
    limits: wengert_engine::Limits,
    options: Options,
}

impl Session {
    /// Makes the definition `entry` of a file ready, for arguments of the types that those in a JSON array have.
    pub fn prepare(
        &mut self,
        file: &Path,
        entry: &str,
        document: &Document,
        options: &Options,
    ) -> Result<Prepared, Vec<Diagnostic>> {
        let (program, def, _) = self.definition(file, entry)?;
        let Arguments { type_args, types, result, .. } =
            arguments(document, entry, &def.scheme, &program.types, Numbers::Int)
                .map_err(|error| vec![error])?;
        self.ready(program, def, Settled { type_args, params: types, result }, options)
    }

    /// The same for arguments of these types; `None` if it does not take such arguments.
    pub fn prepare_for(
        &mut self,
        file: &Path,
        entry: &str,
        types: &[Type],
        options: &Options,
    ) -> Result<Option<Prepared>, Vec<Diagnostic>> {
        let (program, def, _) = self.definition(file, entry)?;
        let settled = settle(&def.scheme, types);
        settled.map(|settled| self.ready(program, def, settled, options)).transpose()
    }

    pub(crate) fn ready(
        &mut self,
        program: Program,
        def: Arc<Def>,
        settled: Settled,
        options: &Options,
    ) -> Result<Prepared, Vec<Diagnostic>> {
        let one = |error| vec![error];
        options.engine.require().map_err(one)?;
        let Settled { type_args, params, result } = settled;
        let library = self.modules.library_sources();
        let limits = limits(options);
        let own = native::limits(limits.max_memory, &Arc::default(), options.threads);
        let mut interp = Interp::new(&program, limits);
        interp.set_library_sources(library.clone());
        let source = Target::of(options).map(|target| Source {
            target,
            library,
            limits: own,
            options: options.clone(),
        });
        let (machine, ragged, later, left) = (None, None, Duration::ZERO, String::new());
        let mut prepared = Prepared {
            program,
            def,
            type_args,
            params,
            result,
            interp,
            machine,
            ragged,
            source,
            later,
            left,
        };
        match prepared.made(Rows::Regular) {
            Err(error) if native::is_for_interpreter(&error) => {
                prepared.left = native::for_interpreter(&error).unwrap_or_default();
                if native::is_for_tags(&error) {
                    prepared.use_tags().map_err(one)?;
                }
            }
            made => prepared.machine = made.map_err(one)?,
        }
        Ok(prepared)
    }
}

impl Prepared {
    /// The types of its arguments.
    pub fn params(&self) -> &[Type] {
        &self.params
    }

    /// The type of its result.
    pub fn result(&self) -> &Type {
        &self.result
    }

    /// Arguments from a JSON array. `None` if they settle other types than those it was made ready for.
    pub fn read(&mut self, document: &Document) -> Result<Option<Vec<Held>>, Diagnostic> {
        let entry = self.def.name.as_str();
        let entry = entry.rsplit_once('.').map_or(entry, |(_, last)| last);
        let Arguments { type_args, values, types, .. } =
            arguments(document, entry, &self.def.scheme, &self.program.types, Numbers::Int)?;
        let same = |(one, other): (&TypeArg, &TypeArg)| {
            matches!((one, other), (TypeArg::Size(_), TypeArg::Size(_))) || one == other
        };
        if types.len() != self.params.len() || !type_args.iter().zip(&self.type_args).all(same) {
            return Ok(None);
        }
        self.hold(values).map(Some)
    }

    /// A form of it in machine code; nothing for the interpreter.
    fn made(&self, rows: Rows) -> Result<Option<Machine>, Diagnostic> {
        let Some(source) = &self.source else { return Ok(None) };
        let (entry, shape) = ((self.def.name, self.type_args.as_slice()), (self.params.len(), rows));
        let (library, limits) = (&source.library, source.limits.clone());
        let make = || Machine::new(&source.target, &self.program, entry, shape, library, limits);
        Watch::new(&source.options).compiling(make).map(Some)
    }

    /// From now on rows may be ragged.
    fn make_ragged(&mut self) -> Result<(), Diagnostic> {
        if self.ragged.is_none() {
            let begin = Instant::now();
            self.ragged = self.made(Rows::Ragged)?;
            self.later += begin.elapsed();
        }
        Ok(())
    }

    /// How long it took to compile what was not made at first.
    pub(crate) fn later(&self) -> Duration {
        self.later
    }

    /// Arguments of the types that it was made ready for.
    pub(crate) fn hold(&mut self, values: Vec<Value>) -> Result<Vec<Held>, Diagnostic> {
        if self.machine.is_none() {
            return Ok(values.into_iter().map(|value| Held(Form::Value(value))).collect());
        }
        if native::rows_of(&values) == Rows::Ragged {
            self.make_ragged()?;
        }
        let Some(machine) = self.ragged.as_ref().or(self.machine.as_ref()) else { return Ok(Vec::new()) };
        let flat = machine.flatten(&values, &self.program, &mut self.interp);
        Ok(flat.into_iter().map(|flat| Held(Form::Flat(machine.rows(), flat))).collect())
    }

    /// Arguments in the form of the machine that is called.
    fn flat(&mut self, args: &[Held]) -> Vec<wengert_ir::eval::Value> {
        let mut all = Vec::new();
        for (place, (Held(form), ty)) in args.iter().zip(&self.params).enumerate() {
            match (form, &self.machine, &self.ragged) {
                (Form::Flat(Rows::Regular, flat), Some(machine), Some(ragged)) => {
                    let value = machine.argument(place, flat, ty, &self.program, &mut self.interp);
                    all.extend(ragged.flattened(place, &value, &self.program, &mut self.interp));
                }
                (Form::Flat(_, flat), _, _) => all.extend(flat.iter().cloned()),
                (Form::Value(_), _, _) => {}
            }
        }
        all
    }

    /// Whether the interpreter calls it.
    pub(crate) fn is_interpreted(&self) -> bool {
        self.machine.is_none()
    }

    /// From now on numbers know what they vary by, if they did not: whether it is compiled so. What is held must be held anew.
    pub(crate) fn use_tags(&mut self) -> Result<bool, Diagnostic> {
        let Some(source) = &mut self.source else { return Ok(false) };
        let Some(tagged) = source.target.tagged() else { return Ok(false) };
        source.target = tagged;
        (self.machine, self.ragged) = (None, None);
        let begin = Instant::now();
        match self.made(Rows::Regular) {
            Err(error) if native::is_for_interpreter(&error) => {}
            made => self.machine = made?,
        }
        self.later += begin.elapsed();
        Ok(self.machine.is_some())
    }

    /// From now on the interpreter calls it, for that reason; what is held must be held anew.
    pub(crate) fn leave_to_interpreter(&mut self, why: String) {
        (self.machine, self.ragged, self.left) = (None, None, why);
    }

    /// Why the interpreter calls it, if another engine was asked for.
    pub(crate) fn left(&self) -> &str {
        &self.left
    }

    /// The most bytes that its memory had, if that is known.
    pub(crate) fn peak_bytes(&mut self) -> Option<u64> {
        self.ragged.as_mut().or(self.machine.as_mut()).and_then(Machine::peak_bytes)
    }

    /// Its result.
    pub fn call(&mut self, args: &[Held]) -> Result<Held, Diagnostic> {
        self.time(args, Runs { count: 1, time: Duration::ZERO }, &mut |_| {})
    }

    /// Its result, after as many calls as `runs` says; `each` is given the time of each.
    pub fn time(
        &mut self,
        args: &[Held],
        runs: Runs,
        each: &mut dyn FnMut(Duration),
    ) -> Result<Held, Diagnostic> {
        let mut clock = Clock { runs, done: 0, total: Duration::ZERO, each };
        if self.machine.is_none() {
            let values = || args.iter().map(|Held(form)| form.value()).collect::<Vec<_>>();
            loop {
                let values = values();
                let begin = Instant::now();
                let value = self.interp.eval_global(self.def.name, &self.type_args, values)?;
                if clock.is_over(begin.elapsed()) {
                    return Ok(Held(Form::Value(value)));
                }
            }
        }
        if args.iter().any(|Held(form)| matches!(form, Form::Flat(Rows::Ragged, _))) {
            self.make_ragged()?;
        }
        loop {
            let flat = self.flat(args);
            let Some(machine) = self.ragged.as_mut().or(self.machine.as_mut()) else {
                return Err(errors::internal(Span::NOWHERE, "no machine code"));
            };
            match machine.run(&flat, &mut |time| clock.is_over(time)) {
                Err(error) if machine.is_uneven(&error) => self.make_ragged()?,
                result => return result.map(|result| Held(Form::Flat(machine.rows(), result))),
            }
        }
    }

    /// What a result of this definition is.
    pub fn value(&mut self, result: &Held) -> Value {
        match &result.0 {
            Form::Flat(rows, flat) => {
                let machine = if *rows == Rows::Ragged { &self.ragged } else { &self.machine };
                let value = machine
                    .as_ref()
                    .map(|machine| machine.value(flat, &self.result, &self.program, &mut self.interp));
                value.unwrap_or(Value::Bool(false))
            }
            form @ Form::Value(_) => form.value(),
        }
    }
}

impl Form {
    /// As the interpreter's; values of other engines never come here.
    fn value(&self) -> Value {
        match self {
            Form::Value(value) => value.clone(),
            Form::Flat(..) => Value::Bool(false),
        }
    }
}

/// When calls have been made often enough.
struct Clock<'a> {
    runs: Runs,
    done: u64,
    total: Duration,
    each: &'a mut dyn FnMut(Duration),
}

impl Clock<'_> {
    fn is_over(&mut self, time: Duration) -> bool {
        self.done += 1;
        self.total += time;
        (self.each)(time);
        self.done >= self.runs.count && self.total >= self.runs.time
    }
}

/// The types of a definition at its arguments.
pub(crate) struct Settled {
    pub(crate) type_args: Vec<TypeArg>,
    pub(crate) params: Vec<Type>,
    pub(crate) result: Type,
}

/// What a definition's type parameters stand for if its arguments have these types.
fn settle(scheme: &Scheme, types: &[Type]) -> Option<Settled> {
    let mut known = Known::default();
    let mut rest = &scheme.ty;
    for ty in types {
        let Type::Fun(from, to) = rest else { return None };
        if !known.agree(from, ty) {
            return None;
        }
        rest = to;
    }
    let type_args = known.type_args(scheme);
    let mut params = Vec::new();
    let mut result = scheme.instantiate(&type_args);
    for _ in types {
        if let Type::Fun(from, to) = result {
            params.push(Type::clone(&from));
            result = Type::clone(&to);
        }
    }
    Some(Settled { type_args, params, result })
}

/// What variables stand for.
#[derive(Default)]
struct Known {
    types: FxHashMap<Name, Type>,
    rows: FxHashMap<Name, Row>,
}

impl Known {
    /// Whether a type becomes the other one if its variables stand for something. Sizes do not matter.
    fn agree(&mut self, general: &Type, ty: &Type) -> bool {
        match (general, ty) {
            (Type::Var(name), ty) => match self.types.get(name).cloned() {
                Some(known) => self.agree(&known, ty),
                None => {
                    self.types.insert(*name, ty.clone());
                    true
                }
            },
            (Type::Array(_, general), Type::Array(_, ty)) | (Type::Dual(general), Type::Dual(ty)) => {
                self.agree(general, ty)
            }
            (Type::Tuple(generals), Type::Tuple(types)) => self.all_agree(generals, types),
            (Type::Data(general, generals), Type::Data(name, types)) => {
                general == name && self.all_agree(generals, types)
            }
            (Type::Fun(from, to), Type::Fun(own_from, own_to)) => {
                self.agree(from, own_from) && self.agree(to, own_to)
            }
            (Type::Record(general), Type::Record(row)) => self.rows_agree(general, row),
            (general, ty) => general == ty,
        }
    }

    fn all_agree(&mut self, generals: &[Type], types: &[Type]) -> bool {
        generals.len() == types.len()
            && generals.iter().zip(types).all(|(general, ty)| self.agree(general, ty))
    }

    fn rows_agree(&mut self, general: &Row, row: &Row) -> bool {
        let named = general
            .fields
            .iter()
            .all(|(name, ty)| row.fields.get(name).is_some_and(|own| self.agree(ty, own)));
        let others = row.fields.iter().filter(|(name, _)| !general.fields.contains_key(name));
        let others: std::collections::BTreeMap<_, _> = others.map(|(name, ty)| (*name, ty.clone())).collect();
        match general.rest {
            None => named && others.is_empty(),
            Some(rest) => {
                self.rows.insert(rest, Row { fields: others, rest: None });
                named
            }
        }
    }

    fn type_args(&self, scheme: &Scheme) -> Vec<TypeArg> {
        let arg = |param: &Param| match &param.kind {
            Kind::Size => TypeArg::Size(Size::Unknown),
            Kind::Row => {
                self.rows.get(&param.name).map_or_else(|| default_arg(param), |row| TypeArg::Row(row.clone()))
            }
            Kind::Type(_) => {
                self.types.get(&param.name).map_or_else(|| default_arg(param), |ty| TypeArg::Type(ty.clone()))
            }
        };
        scheme.params.iter().map(arg).collect()
    }
}
