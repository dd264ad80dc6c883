//! How long a function and its derivatives take.

use crate::cost::Calls;
use crate::engine::{Engine, Options};
use crate::json::guess::Numbers;
use crate::native;
use crate::prepared::{Held, Prepared, Runs, Settled};
use crate::session::{Input, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wengert_base::Diagnostic;
use wengert_core::{Def, Type};
use wengert_interp::Value;

/// Times of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench {
    /// Making the function and its derivatives ready to be called, from the checked program.
    pub compile: Duration,
    /// The function.
    pub primal: Duration,
    /// Its value and directional derivative, if it has one.
    pub jvp: Option<Duration>,
    /// Its pullback, if it has one, and of its value what that needs.
    pub vjp: Option<Duration>,
    /// How often each was called, at least.
    pub runs: usize,
    /// The most memory that one of them had, if the engine knows.
    pub peak_bytes: Option<u64>,
    /// Those of `primal`, `jvp` and `vjp` that the engine leaves to the interpreter: it cannot make their derivatives before
    /// running.
    pub interpreted: Vec<&'static str>,
    /// Why that is so of the first of them.
    pub why: String,
}

/// Calls before the first that counts.
const WARM_UP: Runs = Runs { count: 3, time: Duration::from_millis(50) };

impl Session {
    /// Measures the definition `entry` of a file at the arguments in `input`: medians of as many calls as `runs` says. Tangent and
    /// cotangent are 1 everywhere.
    pub fn bench(
        &mut self,
        file: &Path,
        entry: &str,
        input: &Input,
        runs: Runs,
        options: &Options,
    ) -> Result<Bench, Vec<Diagnostic>> {
        let call = self.call(file, entry, Some(input), Numbers::Real)?;
        options.in_time()?;
        let calls = Calls::of(&call);
        let mut program = call.program.clone();
        let [primal, jvp, vjp] = calls.defs();
        program.defs.extend([&primal, &jvp, &vjp].map(|def| (def.name, Arc::clone(def))));
        let mut compile = Duration::ZERO;
        let mut ready = |def: &Arc<Def>, from: &Type, to: &Type| {
            let begin = Instant::now();
            let settled = Settled { type_args: Vec::new(), params: vec![from.clone()], result: to.clone() };
            let prepared = self.ready(program.clone(), Arc::clone(def), settled, options);
            compile += begin.elapsed();
            prepared
        };
        let (point, result) = (&calls.point_type, &calls.result);
        let pair = |a: &Type, b: &Type| Type::Tuple(vec![a.clone(), b.clone()]);
        let compiled = options.engine != Engine::Interp;
        let mut measured = Measured {
            runs,
            least: usize::MAX,
            peak: None,
            later: Duration::ZERO,
            compiled,
            interpreted: Vec::new(),
            why: String::new(),
        };
        let mut function = ready(&primal, point, result)?;
        let (time, value) = measured.measure("primal", &mut function, calls.point.clone())?;
        let (mut forward_time, mut reverse_time) = (None, None);
        if calls.require_derivatives(&call, entry).is_ok() {
            let value = function.value(&value);
            let mut forward = ready(&jvp, &pair(point, point), &pair(result, result))?;
            forward_time = Some(measured.measure("jvp", &mut forward, calls.along_ones())?.0);
            let mut reverse = ready(&vjp, &pair(point, result), point)?;
            reverse_time = Some(measured.measure("vjp", &mut reverse, calls.with_ones_of(&value))?.0);
        }
        let Measured { least, peak, later, interpreted, why, .. } = measured;
        Ok(Bench {
            compile: compile + later,
            primal: time,
            jvp: forward_time,
            vjp: reverse_time,
            runs: least,
            peak_bytes: peak,
            interpreted,
            why,
        })
    }
}

/// What several measurements have in common.
struct Measured {
    runs: Runs,
    /// The fewest calls of one of them.
    least: usize,
    /// The most memory of one of them.
    peak: Option<u64>,
    /// How long it took to compile what was needed only then.
    later: Duration,
    /// Whether there is another engine than the interpreter.
    compiled: bool,
    /// What the interpreter did.
    interpreted: Vec<&'static str>,
    /// Why, of the first of these.
    why: String,
}

impl Measured {
    /// The median time of a call, and its result.
    fn measure(
        &mut self,
        part: &'static str,
        function: &mut Prepared,
        arg: Value,
    ) -> Result<(Duration, Held), Vec<Diagnostic>> {
        let one = |error| vec![error];
        let warm = |function: &mut Prepared| {
            let args = function.hold(vec![arg.clone()])?;
            function.time(&args, WARM_UP, &mut |_| {}).map(|_| args)
        };
        let mut args = warm(function);
        while let Err(error) = &args
            && native::is_for_interpreter(error)
            && !function.is_interpreted()
        {
            let why = native::for_interpreter(error);
            if !(native::is_for_tags(error) && function.use_tags().map_err(one)?) {
                function.leave_to_interpreter(why.unwrap_or_default());
            }
            args = warm(function);
        }
        let args = args.map_err(one)?;
        self.later += function.later();
        if self.compiled && function.is_interpreted() {
            if self.interpreted.is_empty() {
                self.why = function.left().to_string();
            }
            self.interpreted.push(part);
        }
        let mut times = Vec::new();
        let value = function.time(&args, self.runs, &mut |time| times.push(time)).map_err(one)?;
        self.least = self.least.min(times.len());
        self.peak = self.peak.max(function.peak_bytes());
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        Ok((median, value))
    }
}
