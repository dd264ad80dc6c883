//! Machine code that is made once and called often.

use super::{Form, Shape, Target, diagnostic, unit};
use crate::native;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_core::{Program, Type, TypeArg};
use wengert_engine::{Limits, Native, Passes, Rows};
use wengert_interp::{Interp, Value};
use wengert_ir::eval::Value as Flat;

/// A definition in machine code.
pub(crate) struct Machine {
    native: Native,
    /// How arrays stand in the elements of arrays.
    rows: Rows,
}

impl Machine {
    /// Compiles a form of a definition.
    pub(crate) fn new(
        target: &Target,
        program: &Program,
        entry: (Name, &[TypeArg]),
        shape: Shape,
        library: &[SourceId],
        limits: Limits,
    ) -> Result<Machine, Diagnostic> {
        let unit = unit(program, entry, library, shape, &target.passes)?;
        let native = target.make(unit, limits)?;
        Ok(Machine { native, rows: shape.1 })
    }

    /// The same by the code generator of this program; it keeps storing at `mark` which of the spans it is at, counted from 1.
    pub(crate) fn marked(
        program: &Program,
        entry: (Name, &[TypeArg]),
        (library, rows): (&[SourceId], Rows),
        (memory, stop): (u64, &Arc<AtomicU64>),
        (mark, passes): (&'static AtomicI64, &Passes),
    ) -> Result<(Machine, Vec<Span>), Diagnostic> {
        let marked = || {
            let unit = unit(program, entry, library, (1, rows), passes)?;
            if wengert_engine::is_huge(&unit) {
                return Err(native::huge(&unit));
            }
            wengert_engine::marked(unit, native::limits(memory, stop, 1), mark).map_err(diagnostic)
        };
        let (native, spans) = native::stoppable(stop, marked)?;
        Ok((Machine { native, rows }, spans))
    }

    /// The most bytes that its memory had, if that is known.
    pub(crate) fn peak_bytes(&mut self) -> Option<u64> {
        self.native.peak_bytes()
    }

    /// Which form it is.
    pub(crate) fn rows(&self) -> Rows {
        self.rows
    }

    /// Whether that failure need not be one of the form with ragged rows.
    pub(crate) fn is_uneven(&self, error: &Diagnostic) -> bool {
        self.native.entry().uneven && native::is_uneven(error)
    }

    /// Arguments as values of the IR, several for each. They must have this form.
    pub(crate) fn flatten(&self, args: &[Value], program: &Program, interp: &mut Interp) -> Vec<Vec<Flat>> {
        let each = args.iter().enumerate();
        each.map(|(place, arg)| self.flattened(place, arg, program, interp)).collect()
    }

    /// The result after as many calls as `is_over`, which is told the time of each, demands.
    pub(crate) fn run(
        &mut self,
        args: &[Flat],
        is_over: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Vec<Flat>, Diagnostic> {
        let mut loaded = self.native.load(args).map_err(|failure| failure.diagnostic())?;
        // To read the clock for the first time in a while takes longer than to read it again, and is no part of what is measured.
        std::hint::black_box(Instant::now().elapsed());
        let result = loop {
            let begin = Instant::now();
            let given = self.native.call_loaded(&mut loaded);
            let time = begin.elapsed();
            match given {
                Ok(()) if is_over(time) => break Ok(self.native.read(&mut loaded)),
                Ok(()) => self.native.forget(&mut loaded),
                Err(failure) => break Err(failure.diagnostic()),
            }
        };
        self.native.unload(loaded);
        result
    }

    /// One argument as values of the IR.
    pub(crate) fn flattened(
        &self,
        place: usize,
        value: &Value,
        program: &Program,
        interp: &mut Interp,
    ) -> Vec<Flat> {
        let form = Form::new(program, &self.native, interp);
        let mut flat = Vec::new();
        if let Some(layout) = self.native.entry().params.get(place) {
            form.flatten(value, layout, &mut flat);
        }
        flat
    }

    /// What an argument of that type is.
    pub(crate) fn argument(
        &self,
        place: usize,
        flat: &[Flat],
        ty: &Type,
        program: &Program,
        interp: &mut Interp,
    ) -> Value {
        let mut form = Form::new(program, &self.native, interp);
        let layout = self.native.entry().params.get(place);
        layout.map_or(Value::Bool(false), |layout| form.value(flat, layout, ty))
    }

    /// What a result of that type is.
    pub(crate) fn value(&self, flat: &[Flat], ty: &Type, program: &Program, interp: &mut Interp) -> Value {
        let mut form = Form::new(program, &self.native, interp);
        form.value(flat, &self.native.entry().result, ty)
    }
}
