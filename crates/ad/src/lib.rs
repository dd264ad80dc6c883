//! Derivatives on the array IR: a program with derivative requests becomes one without, by functions on functions.
//!
//! Two transformations do it all, with one derivative rule per operation on reals, from `wengert_prim`:
//!
//! * [`linearize`] splits a function into its *primal part*, which also gives what the linear part needs (the residual),
//!   and its *linear part* ([`linear`]), a program in a language of its own in which everything is linear. [`forward`]
//!   writes the linear part down as IR; [`transpose`] writes down its transpose.
//! * [`jvp`] is both forward at once: value and tangent side by side, nothing kept.
//!
//! ```text
//! def f(x, y) = let a = sin x in a * y
//!
//! jvp f        a = sin x;  c = cos x;  a' = x' c;  z = a y;  z' = a' y + y' a
//! primal part  a = sin x;  c = cos x;  z = a y;  residual (a, c)
//! linear part  a' = c x';  z' = y a' + a y'
//! transpose    ā = y z̄;  ȳ = a z̄;  x̄ = c ā
//! ```
//!
//! [`requests`] goes through the program and puts calls of these functions where derivatives are asked for, innermost
//! first: before a function is differentiated, the requests inside it are expanded, so that a derivative of a derivative
//! is nothing new. Every function is made once for each set of parameters that vary ([`activity`] finds what else does).
//!
//! A function that asks for its own derivative (one that applies function values does) has copies for the function values
//! that it is given ([`flow`], [`specialize`]), most of which do so no more; others may do so a number of times, and then as often as
//! running says: [`levels`], with [`points`] in what outlives them. What is differentiated with respect to functions: [`given`], or as deep as
//! running says: [`shifted`].
//!
//! Where running tells more than derivatives that are made beforehand can do, or they would be too many, none is made: numbers know what they
//! vary by ([`tagged`](mod@tagged)).
//!
//! [`types`] has tangent types, [`surface`] the way between them and what the user sees; [`scalar`] and [`arrays`] the
//! rules of single operations ([`series`] those of series, [`long`] those of long ones), [`custom`] the user's own ([`mixed`] where such are differentiated once more, [`velocity`] to the last bit, [`guard`] leaves them out for zeros, [`transposed`] turns them around), [`expand`] writes out products of arrays; [`tidy`] removes what is not needed, [`unmade`] what there is not.
//!
//! Where cotangents must add up to the last bit as the interpreter adds them up, functions note on a tape what they do, and that tape runs
//! backward: [`record`]. Which tangents vary when it runs, a rule that is not run for zeros asks there too.

mod activity;
mod again;
mod arrays;
mod curried;
mod custom;
mod decisions;
mod expand;
mod flow;
mod forward;
mod given;
mod guard;
mod jvp;
mod levels;
mod like;
mod linear;
mod linearity;
mod linearize;
mod long;
mod mixed;
mod points;
mod products;
mod record;
mod requests;
mod scalar;
mod scoped;
mod series;
mod shifted;
mod specialize;
mod surface;
mod tagged;
mod taylor;
mod tidy;
mod transpose;
mod transposed;
mod types;
mod unmade;
mod velocity;

pub use tagged::tagged;

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Span;
use wengert_ir::op::{APART, ASTRAY, Atom, Op, Rule, Stmt};
use wengert_ir::program::{Func, FuncId, LinearId, Program};
use wengert_ir::ty::{DataId, Role};
use wengert_ir::{Block, Builder, Ty};

/// The message of the failure that running ends with where a derivative would be needed that cannot be made beforehand: as some are of a
/// function that asks for its own derivative again and again, to an order that only running tells. Such a program is one for the
/// interpreter.
pub const BEYOND: &str = "a derivative of an order that is not known before running";

/// The message of the failure that running ends with where a rule is not linear, as far as compiled code sees. The interpreter says more.
pub const UNSEEN: &str = "a rule of `custom_jvp` or `custom_vjp` is not linear";

/// The message of the failure that running ends with where `taylor` is asked for derivatives of an order that is no order, or of so many that
/// nobody could wait for them. The interpreter says more.
pub const ORDER: &str = "an order of `taylor` that is negative or beyond all measure";

/// The messages of failures that say nothing about the program: the interpreter runs it then.
pub const LEFT: [&str; 5] = [BEYOND, UNSEEN, ORDER, ASTRAY, APART];

/// Whether a program asks for derivatives, or has rules for them.
pub fn asks(program: &Program) -> bool {
    let asks = |stmt: &Stmt| {
        matches!(
            stmt.op,
            Op::Jvp { .. }
                | Op::Linearize { .. }
                | Op::Forward { .. }
                | Op::Backward { .. }
                | Op::Custom(_)
                | Op::Taylor { .. }
                | Op::StopGradient(_)
                | Op::Call { checkpoint: true, .. }
        )
    };
    program.funcs.iter().any(|(_, func)| !func.body.all_stmts(&mut |stmt| !asks(stmt)))
}

/// The program with every derivative that it asks for made. What a tape can do and linearization cannot, is done [so](differentiate_exactly).
/// Where they are too many, none is made beforehand ([`tagged()`]).
pub fn differentiate(program: Program) -> Program {
    let made = made(&program, false, false);
    if made.is_whole {
        return made.program;
    }
    if made.is_large {
        return tagged(&program).unwrap_or(made.program);
    }
    let exact = self::made(&program, true, false);
    let made = if exact.is_whole { exact } else { made };
    let tagged = if made.always_lacks() { tagged(&program) } else { None };
    tagged.unwrap_or(made.program)
}

/// The same, with cotangents added up as on a tape, to the last bit; that takes longer and more memory when it runs.
pub fn differentiate_exactly(program: Program) -> Program {
    let made = made(&program, true, true);
    let lacks = !made.is_whole && (made.is_large || made.is_deep || made.always_lacks());
    let wants = made.is_inexact || lacks;
    let tagged = if wants { tagged(&program) } else { None };
    tagged.unwrap_or(made.program)
}

/// A program with derivatives made.
struct Made {
    program: Program,
    /// Whether none of them is left to the interpreter.
    is_whole: bool,
    /// Whether some are because so many were made.
    is_large: bool,
    /// Whether functions ask for their own derivatives, as deep as running says.
    is_deep: bool,
    /// Whether some are not seen to be the interpreter's to the last bit.
    is_inexact: bool,
}

impl Made {
    /// Whether every run comes to a derivative that is not made.
    fn always_lacks(&self) -> bool {
        !self.is_whole
            && self.program.entries.values().any(|entry| requests::ends_beyond(&self.program, *entry))
    }
}

/// Where derivatives with respect to functions are left to the interpreter, they are made [with respect to numbers](shifted): of functions that
/// are made as deep as running says, or, if it is said, of all.
fn made(program: &Program, exact: bool, all: bool) -> Made {
    let other = curried::uncurried(program);
    let whole = |ad: Ad| Made {
        is_whole: !ad.has_beyond(),
        is_large: ad.is_full(),
        is_deep: !ad.levels.is_empty(),
        is_inexact: ad.is_inexact,
        program: ad.program,
    };
    let ad = completed(Ad::new(program.clone(), exact));
    // Tangents of tangents of functions are of types of higher and higher order, which functions in functions may mix.
    let other = other.filter(|_| ad.has_beyond() || ad.mixes_sums);
    let other = other.map(|other| whole(completed(Ad::new(other, exact))));
    let other = other.filter(|other| wengert_ir::verify(&other.program).is_ok());
    // What waits for all of its arguments adds up otherwise.
    let is_inexact = exact && !program.linears.is_empty();
    let other = other.map(|other| Made { is_inexact: is_inexact || other.is_inexact, ..other });
    let found = other.unwrap_or_else(|| whole(ad));
    if found.is_whole || !(found.is_deep || all) {
        return found;
    }
    // In reverse mode what is moved would have a cotangent of its own.
    let in_order = !exact || program.linears.is_empty();
    let last = if in_order { shifted::shifted(program) } else { None };
    let last = last.map(|last| whole(completed(Ad::new(last, exact))));
    last.filter(|last| last.is_whole && wengert_ir::verify(&last.program).is_ok()).unwrap_or(found)
}

/// Whether a point is its own tangent in what goes back later: there it is one number on the tape, and here two, each with a sum of its own.
fn moves_along_itself(program: &Program) -> bool {
    let itself = |stmt: &Stmt| {
        let Op::Jvp { args, tangents, .. } = &stmt.op else { return false };
        tangents.iter().flatten().any(|tangent| tangent.var().is_some() && args.contains(tangent))
    };
    let nowhere = |func: &Func| func.body.all_stmts(&mut |stmt| !itself(stmt));
    !program.linears.is_empty() && !program.funcs.iter().all(|(_, func)| nowhere(func))
}

fn completed(mut ad: Ad) -> Ad {
    ad.is_inexact |= ad.exact && moves_along_itself(&ad.program);
    ad.leave_idle_rules_out();
    ad.specialize();
    ad.keep_points();
    let inside = ad.find_nesting();
    ad.find_applications();
    ad.find_apart();
    ad.sources = ad.program.funcs.ids().collect();
    ad.expand_inside(&inside);
    ad.expand_requests();
    ad.make_sums();
    ad.make_tests();
    let reached = unmade::reached(&ad.program);
    ad.mixes_sums = ad.makes_tangents_of_sums(&reached);
    unmade::drop_unmade(&mut ad.program, &reached);
    ad
}

/// A function and which of its parameters vary.
type Key = (FuncId, Vec<bool>);

/// The program under way, and what was made already.
struct Ad {
    program: Program,
    /// Cotangents are added up as on a tape.
    exact: bool,
    /// Whether there are rules of the user's own.
    has_rules: bool,
    /// What was made is not seen to be the interpreter's to the last bit, although cotangents are.
    is_inexact: bool,
    /// What was made to record functions on tapes.
    recorded: record::Made,
    /// Linear maps that are never recorded.
    apart: FxHashSet<LinearId>,
    /// Tangent types of data types, where known; `None` if there is none.
    tangents: FxHashMap<DataId, Option<DataId>>,
    /// Types whose tangent types were asked for.
    asked: FxHashSet<DataId>,
    /// Tangent types that have all their constructors.
    whole: FxHashSet<DataId>,
    /// Tangent types of closures that the program declares.
    declared: FxHashMap<DataId, DataId>,
    /// Those of them whose values are given as tangents.
    given: FxHashSet<DataId>,
    /// Types that primal parts keep which of these functions it was in.
    which: FxHashSet<DataId>,
    /// For a copy of a function that applies function values, the copy for those that are given as tangents.
    at_given: FxHashMap<FuncId, FuncId>,
    /// Functions that are additive in the function values that they apply, and that reverse mode runs again.
    applications: FxHashMap<FuncId, given::Application>,
    /// Transposes of such functions, that run them again.
    again_of: FxHashMap<FuncId, transpose::Variant>,
    /// The linearizations whose residuals these types hold.
    residuals: FxHashMap<DataId, LinearId>,
    /// Those of these types that are being made.
    under_way: FxHashSet<DataId>,
    helpers: FxHashMap<types::Helper, FuncId>,
    /// Helpers that are linear: what calls them is differentiated by another call, not by their derivatives.
    linear_helpers: FxHashMap<FuncId, types::Helper>,
    /// Functions that add tangents of a type, still to be made.
    sums: Vec<(FuncId, DataId)>,
    /// Whether there are sums of tangents of functions that are differentiated: what such a sum varies by is not seen to belong to its parts.
    mixes_sums: bool,
    /// Functions that tell whether tangents of a type are zero, still to be made.
    tests: Vec<(FuncId, Ty)>,
    /// All functions that tell whether something is zero and nothing else.
    zero_tests: FxHashSet<FuncId>,
    /// Functions in which these tests know what varies.
    settled: FxHashSet<FuncId>,
    /// Functions that are run only if tangents are not zero.
    guards: FxHashMap<FuncId, guard::Guard>,
    /// For a function, which results vary.
    reach: FxHashMap<Key, Vec<bool>>,
    /// Functions whose results are not settled in `reach`; `Some` while they are being settled.
    unsettled: Option<Vec<Key>>,
    /// Functions that are no derivatives.
    sources: FxHashSet<FuncId>,
    /// In long series or not, and with products of matrices written out or not.
    prepared: FxHashMap<(Key, [bool; 3]), Rc<expand::Prepared>>,
    jvps: FxHashMap<Key, FuncId>,
    /// Functions with their tangents: what they are the derivatives of.
    derived: FxHashMap<FuncId, given::Derived>,
    linears: FxHashMap<Key, Rc<linearize::Linearized>>,
    /// Primal part and type of the tape of recursive functions, before they are done.
    tapes: FxHashMap<Key, (FuncId, DataId)>,
    forwards: FxHashMap<Key, FuncId>,
    /// Values and tangents up to an order, from arguments with tangents up to another.
    series: FxHashMap<(Key, usize, usize), FuncId>,
    /// What is made for long series.
    long: long::Long,
    backwards: FxHashMap<transpose::Variant, FuncId>,
    /// For a function and cotangents that are there, which sums so far its transposes are given, in the order in which they were made.
    seedings: FxHashMap<(Key, Vec<bool>), Vec<Vec<bool>>>,
    /// For a function and cotangents that are there, which parameters get one.
    lives: FxHashMap<(Key, Vec<bool>), Vec<bool>>,
    unsettled_lives: Option<Vec<(Key, Vec<bool>)>>,
    boxes: FxHashMap<Ty, DataId>,
    /// For a function, which results have the shape of a parameter.
    alike: FxHashMap<FuncId, Vec<like::Like>>,
    wrapped: FxHashMap<LinearId, Rc<requests::Wrapped>>,
    /// How far the expansion of a function's requests is.
    progress: FxHashMap<FuncId, requests::Progress>,
    /// Transposes of what rules give, from tangents of the point to those of the values.
    transposes: FxHashMap<FuncId, FuncId>,
    /// Rules from cotangents to cotangents as rules from tangents to tangents.
    tangent_rules: FxHashMap<(FuncId, FuncId), FuncId>,
    /// Whether derivatives may be differentiated.
    nests: bool,
    /// How often they are at most, and what varies with a later derivative than the next.
    later_on: velocity::Later,
    /// Whether those that are made at the moment may.
    is_inside: bool,
    /// The functions whose requests are expanded later.
    later: FxHashSet<FuncId>,
    /// For a rule and what varies of what it has captured: the type of what the derivative by that needs, and the functions that apply
    /// it backward and forward.
    mixed: FxHashMap<(Rule, Vec<bool>), (DataId, FuncId, FuncId)>,
    /// Such functions that are still to be made.
    pending: Vec<(mixed::Mixed, Span)>,
    /// Rules that were made for mixed derivatives: of which rules.
    mixed_rules: FxHashMap<FuncId, FuncId>,
    /// Copies of functions that ask for their own derivatives, by the number of times that they may.
    levels: FxHashMap<(FuncId, usize), FuncId>,
    /// Statements in all functions that were made.
    written: usize,
    /// Statements in the program.
    given_size: usize,
}

/// Whether derivatives go by rules of the user's own.
fn has_rules(program: &Program) -> bool {
    let rule = |stmt: &Stmt| matches!(stmt.op, Op::Custom(_));
    program.funcs.iter().any(|(_, func)| !func.body.all_stmts(&mut |stmt| !rule(stmt)))
}

impl Ad {
    fn new(program: Program, exact: bool) -> Ad {
        Ad {
            residuals: program.linears.iter().map(|(id, linear)| (linear.residual, id)).collect(),
            declared: declared_tangents(&program),
            given_size: requests::size_of(&program),
            has_rules: has_rules(&program),
            program,
            exact,
            is_inexact: false,
            under_way: FxHashSet::default(),
            recorded: record::Made::default(),
            apart: FxHashSet::default(),
            given: FxHashSet::default(),
            which: FxHashSet::default(),
            at_given: FxHashMap::default(),
            applications: FxHashMap::default(),
            again_of: FxHashMap::default(),
            tangents: FxHashMap::default(),
            whole: FxHashSet::default(),
            asked: FxHashSet::default(),
            helpers: FxHashMap::default(),
            linear_helpers: FxHashMap::default(),
            sums: Vec::new(),
            mixes_sums: false,
            tests: Vec::new(),
            zero_tests: FxHashSet::default(),
            settled: FxHashSet::default(),
            guards: FxHashMap::default(),
            reach: FxHashMap::default(),
            unsettled: None,
            prepared: FxHashMap::default(),
            jvps: FxHashMap::default(),
            derived: FxHashMap::default(),
            sources: FxHashSet::default(),
            linears: FxHashMap::default(),
            tapes: FxHashMap::default(),
            forwards: FxHashMap::default(),
            series: FxHashMap::default(),
            long: long::Long::default(),
            backwards: FxHashMap::default(),
            seedings: FxHashMap::default(),
            lives: FxHashMap::default(),
            unsettled_lives: None,
            boxes: FxHashMap::default(),
            alike: FxHashMap::default(),
            wrapped: FxHashMap::default(),
            progress: FxHashMap::default(),
            transposes: FxHashMap::default(),
            tangent_rules: FxHashMap::default(),
            nests: false,
            later_on: velocity::Later::default(),
            is_inside: false,
            later: FxHashSet::default(),
            mixed: FxHashMap::default(),
            pending: Vec::new(),
            mixed_rules: FxHashMap::default(),
            levels: FxHashMap::default(),
            written: 0,
        }
    }
}

/// Tangent types that a program declares.
fn declared_tangents(program: &Program) -> FxHashMap<DataId, DataId> {
    let declared = program.data.iter().filter_map(|(id, data)| match data.role {
        Role::Tangent(of) => Some((of, id)),
        Role::Declared | Role::Closure | Role::Residual => None,
    });
    declared.collect()
}

/// A function under construction in the program under way.
struct Code<'a> {
    ad: &'a mut Ad,
    b: Builder,
    /// The order of long series, where they are tangents.
    order: Option<Atom>,
}

impl<'a> Code<'a> {
    /// A new function.
    fn new(ad: &'a mut Ad, name: &str) -> Code<'a> {
        // Functions may need others before they are finished, without end.
        wengert_ir::stop::check();
        Code { ad, b: Builder::new(name.into()), order: None }
    }

    /// A function with the variables and parameters of `func`, and no statements yet.
    fn like(ad: &'a mut Ad, func: &Func, name: &str) -> Code<'a> {
        let mut empty = func.clone();
        empty.name = name.into();
        empty.body.stmts.clear();
        Code { ad, b: Builder::resume(empty).0, order: None }
    }

    /// Writes a block again, and gives its results. Wherever `instead` gives results for a statement, they stand in its place.
    fn replaced(
        &mut self,
        block: &Block,
        instead: &mut dyn FnMut(&mut Code<'_>, &Stmt) -> Option<Vec<Atom>>,
    ) -> Vec<Atom> {
        deep(|| {
            for stmt in &block.stmts {
                self.b.set_span(stmt.span);
                if let Some(results) = instead(self, stmt) {
                    for (out, result) in stmt.outs.iter().zip(results) {
                        self.b.push(Stmt { outs: vec![*out], op: Op::Copy(result), span: stmt.span });
                    }
                    continue;
                }
                let mut stmt = stmt.clone();
                for inner in stmt.op.blocks_mut() {
                    self.b.open();
                    let results = self.replaced(inner, instead);
                    let made = self.b.close(results);
                    *inner = Block { params: inner.params.clone(), ..made };
                }
                self.b.push(stmt);
            }
        });
        block.results.clone()
    }

    /// The function.
    fn finish(self, results: Vec<Atom>) -> Func {
        wengert_ir::stop::check();
        let func = tidy::tidy(self.b.finish(results), &self.ad.program);
        self.ad.written += func.body.size();
        func
    }
}

/// Goes on with `walk` on a stack that is large enough: blocks nest as deep as the source's expressions.
fn deep<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, walk)
}
