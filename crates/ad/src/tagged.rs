//! Derivatives as the interpreter makes them: numbers that know what they vary by, however deep derivatives are nested, in whatever modes.
//!
//! Code of derivatives grows with their order, and where only running tells the order, not all of them can be made beforehand. Here no code
//! is made for any of them. A number is data instead:
//!
//! ```text
//! plain(x)                      a number
//! dual(tag, primal, tangent)    what varies along a tangent: the call of `jvp` with this tag asks
//! series(tag, primal, coefs)    a Taylor series: the call of `taylor` with this tag asks
//! noted(tag, primal, at, slot)  what varies with a slot of the tape of `vjp` with this tag, the tape at this place of those under way
//! ```
//!
//! Primal and tangent are such numbers in turn, with smaller tags. An operation looks for the largest tag, does what it does to what is without it,
//! and makes tangent, or entry on the tape, by its rule ([`numbers`]). So the code is as large as that of the program, however high the order is, and
//! the numbers are those of the interpreter, to the last bit. It is slower by far than derivatives that are made, and therefore only for
//! programs that those are not made for.
//!
//! Functions are given the next tag and the tapes under way, and give them back ([`work`]). [`functions`] writes down a function so, [`arrays`] what it
//! does with arrays, [`requests`] what it asks for, [`tapes`] how tapes run, and [`walks`] is how all numbers of a value are reached.

#![expect(clippy::wildcard_enum_match_arm, reason = "what refuses or touches is named, the others do not")]

mod arrays;
mod closures;
mod custom;
mod functions;
mod marks;
mod moved;
mod nodes;
mod numbers;
mod requests;
mod rules;
mod series;
mod solve;
mod tapes;
mod walks;
mod work;

use crate::requests::{callees, is_request};
use numbers::Number;
use rustc_hash::{FxHashMap, FxHashSet};
use walks::Walk;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Atom, Op, Rule, Stmt};
use wengert_ir::program::{Func, FuncId, Program};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_ir::{Block, Builder};
use work::Work;

/// The message of failures that never happen.
const NEVER: &str = crate::ASTRAY;

/// The program in which no derivative is asked for any more, and numbers know what they vary by; `None` if it has what cannot be done so.
pub fn tagged(program: &Program) -> Option<Program> {
    let (program, again) = crate::record::run_again(program);
    let mut tagged = Tagged::new(&program, &again);
    if tagged.refuses() {
        return None;
    }
    for (name, id) in program.entries.clone() {
        let entry = tagged.entry(id);
        tagged.program.entries.insert(name, entry);
    }
    while let Some((of, id)) = tagged.todo.pop() {
        let made = functions::rewritten(&mut tagged, of);
        *tagged.program.funcs.at_mut(id) = made;
    }
    let mut program = tagged.program;
    program.linears = wengert_ir::ty::Table::default();
    for (_, func) in program.funcs.iter_mut() {
        // Nobody calls what was there before.
        if !func.body.all_stmts(&mut |stmt| !is_request(&stmt.op) && !matches!(stmt.op, Op::Custom(_))) {
            let outs: Vec<_> =
                func.results.clone().into_iter().map(|ty| func.fresh("t".into(), ty)).collect();
            let op = Op::Fail { message: Atom::Text(NEVER.into()) };
            func.body.results = outs.iter().copied().map(Atom::Var).collect();
            func.body.stmts = vec![Stmt { outs, op, span: func.span }];
        }
    }
    wengert_ir::verify(&program).is_ok().then_some(program)
}

/// Functions that are made once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Helper {
    /// An operation, and what it does if a number is not plain.
    Number(Number),
    Slowly(Number),
    /// The innermost number.
    Value,
    /// A number without a tag.
    Without,
    /// What is without a tag, and the tangent under it.
    Split,
    /// The coefficients of a number, operations on coefficients, and sums of their products.
    Series,
    Operation(Number),
    Convolution,
    TangentConvolution,
    /// The next slot of a tape.
    Count,
    /// The numbers on a tape are reached.
    Tape(Walk),
    /// Adds to a cotangent, or takes from it.
    Gather(bool),
    /// Tapes run.
    Backward,
    Forward,
    /// All numbers of data are reached; for messages, where in the source.
    Walk(Walk, DataId, Span),
    /// A function with a rule.
    Ruled(FuncId, FuncId),
    /// A function that is run again when the tape runs.
    Again(FuncId),
    /// The first place of each slot.
    Firsts,
    /// The innermost number, if it is not that of a tangent for a rule.
    Observed,
    /// What is linear in such tangents, and the same without marks.
    IsLinear,
    Unmarked,
    UnmarkedTape,
    /// Whether a number has a tag.
    HasTag,
}

/// The program under way.
struct Tagged {
    program: Program,
    /// Types that hold numbers.
    relevant: FxHashSet<DataId>,
    /// What they are here.
    types: FxHashMap<DataId, DataId>,
    funcs: FxHashMap<FuncId, FuncId>,
    /// Functions of the program, and what they are here: still to be made.
    todo: Vec<(FuncId, FuncId)>,
    helpers: FxHashMap<Helper, FuncId>,
    /// Numbers.
    number: DataId,
    /// Tapes.
    tape: DataId,
    /// Whether there are any.
    goes_back: bool,
    /// Whether there are Taylor series.
    has_series: bool,
    /// Functions that need to know the next tag, or the tapes.
    touching: FxHashSet<FuncId>,
    /// The types of functions that have tangents.
    functions: FxHashSet<DataId>,
    /// What is run when tapes run.
    kinds: Vec<nodes::Kind>,
    /// Whether rules are run on slots.
    has_marks: bool,
}

impl Tagged {
    fn new(source: &Program, again: &FxHashMap<FuncId, FuncId>) -> Tagged {
        let mut program = source.clone();
        let turns = |op: &Op| matches!(op, Op::Custom(parts) if matches!(parts.rule, Rule::Vjp(..)));
        let goes_back = !source.linears.is_empty() || holds(source, &turns);
        let data = |name: &str| Data { name: name.into(), role: Role::Residual, ctors: Vec::new() };
        let number = program.data.push(data("Number"));
        let tape = program.data.push(data("Tape"));
        let mut tagged = Tagged {
            relevant: relevant(source),
            types: FxHashMap::default(),
            funcs: FxHashMap::default(),
            todo: Vec::new(),
            helpers: FxHashMap::default(),
            number,
            tape,
            goes_back,
            has_series: holds(source, &|op| matches!(op, Op::Taylor { .. })),
            touching: FxHashSet::default(),
            functions: closures::functions_with_tangents(source).into_iter().collect(),
            kinds: if goes_back { nodes::kinds(source, again) } else { Vec::new() },
            has_marks: goes_back && holds(source, &|op| matches!(op, Op::Custom(_))),
            program,
        };
        let (num, rest) = (tagged.num(), Ty::Scalar(Elem::Data(tape)));
        let ctor = |name: &str, fields: Vec<Ty>| Ctor { name: name.into(), fields };
        tagged.program.data.at_mut(number).ctors = vec![
            ctor("plain", vec![Ty::REAL]),
            ctor("dual", vec![Ty::INT, num, num]),
            ctor("noted", vec![Ty::INT, num, Ty::INT, Ty::INT]),
            ctor("none", Vec::new()),
            ctor("series", vec![Ty::INT, num, Ty::Array(Elem::Data(number), 1)]),
        ];
        let term = [Ty::INT, Ty::BOOL, num];
        let one: Vec<Ty> = [Ty::INT].into_iter().chain(term).chain([num, rest]).collect();
        let two = [Ty::INT].into_iter().chain(term).chain(term).chain([num, rest]).collect();
        let mut ctors = vec![ctor("start", vec![Ty::INT]), ctor("one", one), ctor("two", two)];
        ctors.extend(tagged.node_ctors());
        tagged.program.data.at_mut(tape).ctors = ctors;
        tagged.touching = tagged.touching_functions();
        tagged
    }

    /// The type of numbers.
    fn num(&self) -> Ty {
        Ty::Scalar(Elem::Data(self.number))
    }

    fn tape_ty(&self) -> Ty {
        Ty::Scalar(Elem::Data(self.tape))
    }

    /// Whether there is something that cannot be done so.
    fn refuses(&self) -> bool {
        let refused = |op: &Op| matches!(op, Op::Array(ArrayOp::AddProduct(_) | ArrayOp::UnflattenLike, _));
        holds(&self.program, &refused)
    }

    /// What a type is here.
    fn ty(&mut self, ty: Ty) -> Ty {
        match ty.elem() {
            Elem::Real => Ty::of_rank(Elem::Data(self.number), ty.rank()),
            Elem::Data(data) => Ty::of_rank(Elem::Data(self.data(data)), ty.rank()),
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => ty,
        }
    }

    fn tys(&mut self, types: &[Ty]) -> Vec<Ty> {
        types.iter().map(|ty| self.ty(*ty)).collect()
    }

    fn data(&mut self, data: DataId) -> DataId {
        if !self.relevant.contains(&data) {
            return data;
        }
        if let Some(known) = self.types.get(&data) {
            return *known;
        }
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let id = self.program.data.push(Data { name, role: Role::Residual, ctors: Vec::new() });
        self.types.insert(data, id);
        let linear = self.program.linears.iter().find(|(_, linear)| linear.residual == data);
        let mut made = Vec::new();
        if let Some((_, linear)) = linear {
            let linear = linear.clone();
            made.push(Ctor { name, fields: self.kept_by(&linear) });
        } else if self.functions.contains(&data) {
            made = self.function_ctors(data, id);
        } else {
            for Ctor { name, fields } in ctors {
                made.push(Ctor { name, fields: self.tys(&fields) });
            }
        }
        self.program.data.at_mut(id).ctors = made;
        id
    }

    /// What a function of the program is here.
    fn func(&mut self, func: FuncId) -> FuncId {
        if let Some(known) = self.funcs.get(&func) {
            return *known;
        }
        let name = self.program.funcs.at(func).name;
        let id = self.reserve(name.as_str());
        self.funcs.insert(func, id);
        self.todo.push((func, id));
        id
    }

    /// A function that is still to be made.
    fn reserve(&mut self, name: &str) -> FuncId {
        self.program.funcs.push(Func {
            name: name.into(),
            results: Vec::new(),
            vars: wengert_ir::ty::Table::default(),
            body: Block::default(),
            span: Span::NOWHERE,
        })
    }

    fn helper(
        &mut self,
        helper: Helper,
        name: &str,
        make: impl FnOnce(&mut Work<'_>) -> Vec<Atom>,
    ) -> FuncId {
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let id = self.reserve(name);
        self.helpers.insert(helper, id);
        let mut work = Work::new(self, Builder::new(Name::new(name)));
        let results = make(&mut work);
        let made = work.finish(results);
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// A function that is called from outside.
    fn entry(&mut self, id: FuncId) -> FuncId {
        let func = self.program.funcs.at(id);
        let (name, span, results) = (func.name, func.span, func.results.clone());
        let params: Vec<_> = func.body.params.iter().map(|var| *func.vars.at(*var)).collect();
        let own = self.func(id);
        let touches = self.touching.contains(&id);
        let tape = self.tape;
        let mut work = Work::new(self, Builder::new(name));
        work.b.set_func_span(span);
        work.b.set_span(span);
        let args: Vec<Atom> = params.iter().map(|info| work.b.param(info.name, info.ty)).collect();
        let mut given = Vec::new();
        for (arg, info) in args.iter().zip(&params) {
            given.push(work.lifted(arg, info.ty));
        }
        if touches {
            let tapes = work.b.called("tapes").array(ArrayOp::Empty(Elem::Data(tape), 1), []);
            work.begin(Atom::Int(0), tapes);
        }
        let found = work.call_touching(own, touches, given, &results);
        let mut lowered = Vec::new();
        for (value, ty) in found.iter().zip(&results) {
            // Nobody looks into a pullback.
            lowered.push(if work.to.is_kept(*ty) { value.clone() } else { work.lowered(value, *ty) });
        }
        work.forget();
        let made = work.finish(lowered);
        self.program.funcs.push(made)
    }

    /// Whether a value is what a pullback keeps.
    fn is_kept(&self, ty: Ty) -> bool {
        let data = if let Ty::Scalar(Elem::Data(data)) = ty { Some(data) } else { None };
        data.is_some_and(|data| self.program.data.at(data).role == Role::Residual)
    }

    /// The functions that need to know the next tag, or the tapes.
    fn touching_functions(&self) -> FxHashSet<FuncId> {
        let mut found = FxHashSet::default();
        loop {
            let before = found.len();
            for (id, func) in self.program.funcs.iter() {
                if !found.contains(&id) && self.touches(&func.body, func, &found) {
                    found.insert(id);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Whether a block needs to know them.
    fn touches(&self, block: &Block, func: &Func, known: &FxHashSet<FuncId>) -> bool {
        !block.all_stmts(&mut |stmt| {
            let own = match &stmt.op {
                Op::Real(..) | Op::Power { .. } | Op::Polygamma { .. } => self.goes_back,
                Op::Array(op, args) => {
                    self.goes_back
                        && arrays::computes(*op)
                        && args.first().is_some_and(|xs| func.type_of(xs).elem() == Elem::Real)
                }
                Op::Custom(_) => true,
                Op::Call { checkpoint: true, .. } => self.goes_back,
                op => is_request(op),
            };
            !own && !callees(&stmt.op).iter().any(|callee| known.contains(callee))
        })
    }
}

/// Whether a program has such an operation.
fn holds(program: &Program, is: &dyn Fn(&Op) -> bool) -> bool {
    program.funcs.iter().any(|(_, func)| !func.body.all_stmts(&mut |stmt| !is(&stmt.op)))
}

/// The data types that hold numbers.
fn relevant(program: &Program) -> FxHashSet<DataId> {
    let mut found: FxHashSet<DataId> = program.linears.iter().map(|(_, linear)| linear.residual).collect();
    found.extend(closures::functions_with_tangents(program));
    loop {
        let before = found.len();
        for (id, data) in program.data.iter() {
            let mut fields = data.ctors.iter().flat_map(|ctor| &ctor.fields);
            let holds = fields.any(|ty| match ty.elem() {
                Elem::Real => true,
                Elem::Data(data) => found.contains(&data),
                Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => false,
            });
            if holds {
                found.insert(id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
