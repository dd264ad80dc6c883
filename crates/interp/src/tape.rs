//! The tape of one reverse-mode call: a linear program from the tangents of its inputs to those of its outputs.
//!
//! Every slot holds one tangent: of a real, or of a function that a checkpoint gave. Slot `i` is what entry `i` defines:
//!
//! * an *input*, or an *output* of the node before it: nothing to compute;
//! * a *linear* entry `(± c₀·a ± c₁·b) / d` over two earlier slots, 12 bytes and 16 for each coefficient that is not 1;
//! * a *node*: something that needs the program to run when the tape does ([`Node`]).
//!
//! Coefficients are reals with smaller tags than the tape's. They lie in a row in the order of the entries, so an entry
//! only says how many it has. [`crate::sweep`] runs tapes, backward and forward, as often as needed.
//!
//! A tape must not hold values that refer to it, for that would be a cycle of counted references. What a node has to
//! remember is therefore kept as an [`Abstraction`]: with the slots taken out.

use crate::arith::stays_zero;
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure};
use crate::value::{Tag, Value, drop_later, meter};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A tape.
pub struct Tape {
    tag: Tag,
    /// Its slots are placeholders of an [`Abstraction`]; nothing is ever recorded on it.
    formal: bool,
    /// Loops on this tape are split into segments that are run again (set while a checkpoint is run again).
    pub remat: Cell<bool>,
    /// Whether a custom rule is running on slots of this tape.
    has_linear: Cell<bool>,
    /// Which primitive's rule the linear slots come from, for messages.
    rule_name: Cell<&'static str>,
    inner: RefCell<Recording>,
}

#[derive(Default)]
struct Recording {
    entries: Vec<Entry>,
    coefs: Vec<Value>,
    nodes: Vec<Rc<Node>>,
    /// Tags that function slots depend on although they are larger than the tape's: see [`crate::note`].
    bound: FxHashMap<u32, Rc<[Tag]>>,
    /// Where the custom rules begin that are running.
    rules: Vec<usize>,
    /// Bytes reported to the memory meter.
    metered: i64,
}

/// What a slot is computed from.
#[derive(Clone, Copy)]
struct Entry {
    /// Slot of the first term; of a node, its number.
    a: u32,
    /// Slot of the second term.
    b: u32,
    flags: u16,
}

const TERM_A: u16 = 1;
const NEGATIVE_A: u16 = 1 << 1;
const COEF_A: u16 = 1 << 2;
const TERM_B: u16 = 1 << 3;
const NEGATIVE_B: u16 = 1 << 4;
const COEF_B: u16 = 1 << 5;
const DIVISOR: u16 = 1 << 6;
const NODE: u16 = 1 << 7;
/// The slot is a tangent of a custom rule: only linear use is allowed.
const LINEAR: u16 = 1 << 8;
/// Nothing comes through: all partials are zero.
const NOTHING: u16 = 1 << 9;

/// A term of a linear entry.
pub(crate) struct TapeTerm {
    /// The slot.
    pub(crate) slot: u32,
    /// Whether it is subtracted.
    pub(crate) negative: bool,
    /// Its coefficient, `None` for 1.
    pub(crate) coef: Option<Value>,
}

/// A linear entry, read back.
pub(crate) struct LinearEntry {
    /// At most two.
    pub(crate) terms: SmallVec<[TapeTerm; 2]>,
    /// The divisor, `None` for 1.
    pub(crate) divisor: Option<Value>,
}

/// An entry, read back.
pub(crate) enum EntryView {
    /// An input, or an output of a node.
    Leaf,
    /// A linear entry.
    Linear(LinearEntry),
    /// A node.
    Node(Rc<Node>),
}

/// Something on a tape that needs the program to run. `output` has the shape of its result: a formal slot where that
/// was given a slot of the tape.
pub(crate) enum Node {
    /// The function at `slot`, whose tangent is the unknown function `h`, was applied: the outputs are `h point`.
    /// Where the point is perturbed under `bound` tags (forward, larger than the tape's), so is `output`.
    Apply { slot: u32, point: Value, bound: Vec<Tag>, output: Abstraction },
    /// `custom_vjp`: the function from cotangents of the outputs to those of the inputs.
    Custom { pullback: Value, input: Abstraction, output: Abstraction },
    /// `checkpoint f x`: run again, it gives the outputs. `call` is the pair `(f, x)`.
    Checkpoint { call: Abstraction, output: Abstraction },
}

/// A value with the slots of a tape taken out: `value` has formal slots `0, 1, …` instead, which stand for `slots`.
#[derive(Clone)]
pub(crate) struct Abstraction {
    pub(crate) formal: Rc<Tape>,
    pub(crate) value: Value,
    pub(crate) slots: Rc<[u32]>,
}

impl Abstraction {
    /// Takes the slots of `tape` out of `value`, and out of what functions in it have captured.
    pub(crate) fn of(cx: &mut Context, tape: &Rc<Tape>, value: &Value) -> Result<Abstraction, Failure> {
        let formal = Tape::formal(cx.fresh_tag());
        let (value, slots) = perturb::transfer(cx, tape, &formal, value)?;
        Ok(Abstraction { formal, value, slots: slots.into() })
    }

    /// The slot that a placeholder stands for.
    pub(crate) fn slot(&self, formal: u32) -> u32 {
        self.slots.get(formal as usize).copied().unwrap_or(0)
    }

    /// The same slots around another value of the same shape.
    pub(crate) fn with_value(&self, value: Value) -> Abstraction {
        Abstraction { value, ..self.clone() }
    }
}

/// A recorded linear map: what `linearize` and `vjp` return.
pub struct Linearization {
    pub(crate) tape: Rc<Tape>,
    /// The point, without the tape's tag. Its leaves are the first slots, from left to right.
    pub(crate) input: Value,
    pub(crate) output: Abstraction,
}

/// Memory of an entry and of a coefficient.
const ENTRY_BYTES: usize = size_of::<Entry>();
const COEF_BYTES: usize = size_of::<Value>();
/// Memory of a node beside its values, roughly.
const NODE_BYTES: usize = 160;
/// Slots are numbered with 32 bits.
const MAX_ENTRIES: usize = u32::MAX as usize - 1;

impl Tape {
    /// An empty tape.
    pub fn new(tag: Tag) -> Rc<Tape> {
        Rc::new(Tape::with(tag, false, Recording::default()))
    }

    fn with(tag: Tag, formal: bool, recording: Recording) -> Tape {
        let tape = Tape {
            tag,
            formal,
            remat: Cell::new(false),
            has_linear: Cell::new(false),
            rule_name: Cell::new("custom_jvp"),
            inner: RefCell::new(recording),
        };
        tape.inner.borrow_mut().update_meter();
        tape
    }

    /// Its tag.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// Whether its slots are placeholders.
    pub(crate) fn is_formal(&self) -> bool {
        self.formal
    }

    /// The primitive whose rule its linear slots belong to.
    pub(crate) fn rule_name(&self) -> &'static str {
        self.rule_name.get()
    }

    pub(crate) fn set_rule_name(&self, name: &'static str) {
        self.rule_name.set(name);
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.inner.borrow().entries.len()
    }

    /// Whether there are slots that hold tangents of a custom rule.
    pub(crate) fn has_linear(&self) -> bool {
        self.has_linear.get()
    }

    /// Whether the slot holds a tangent of a custom rule.
    pub(crate) fn is_linear(&self, slot: u32) -> bool {
        self.has_linear.get()
            && self.inner.borrow().entries.get(slot as usize).is_some_and(|entry| entry.flags & LINEAR != 0)
    }

    /// Whether nothing can come through a slot, as that of `0 * x`.
    pub(crate) fn lets_nothing_through(&self, slot: u32) -> bool {
        self.inner.borrow().entries.get(slot as usize).is_some_and(|entry| entry.flags & NOTHING != 0)
    }

    fn is_nothing(&self, term: &TapeTerm) -> bool {
        term.coef.as_ref().is_some_and(stays_zero) || self.lets_nothing_through(term.slot)
    }

    /// A fresh tape for placeholders.
    pub(crate) fn formal(tag: Tag) -> Rc<Tape> {
        Rc::new(Tape::with(tag, true, Recording::default()))
    }

    /// A slot for an input, or for an output of the last node.
    pub(crate) fn add_leaf(&self) -> Result<u32, Failure> {
        self.push(Entry { a: 0, b: 0, flags: 0 }, [])
    }

    /// Another slot with the tangent of `slot`, but marked linear.
    pub(crate) fn mark_linear(&self, slot: u32) -> Result<u32, Failure> {
        self.has_linear.set(true);
        self.push(Entry { a: slot, b: 0, flags: TERM_A | LINEAR }, [])
    }

    /// A custom rule is about to run: what is marked linear from here on is its.
    pub(crate) fn begin_linear(&self) {
        let mut inner = self.inner.borrow_mut();
        let start = inner.entries.len();
        inner.rules.push(start);
    }

    /// The custom rule has run: removes its marks.
    pub(crate) fn end_linear(&self) {
        let mut inner = self.inner.borrow_mut();
        let start = inner.rules.pop().unwrap_or(0);
        for entry in inner.entries.iter_mut().skip(start) {
            entry.flags &= !LINEAR;
        }
        self.has_linear.set(!inner.rules.is_empty());
    }

    /// A slot for an input that is marked linear.
    pub(crate) fn add_linear_leaf(&self) -> Result<u32, Failure> {
        self.has_linear.set(true);
        self.push(Entry { a: 0, b: 0, flags: LINEAR }, [])
    }

    /// Records `(Σ terms) / divisor`, at least one term, and gives its slot; `linear` marks it.
    pub(crate) fn record(
        &self,
        terms: SmallVec<[TapeTerm; 2]>,
        divisor: Option<Value>,
        linear: bool,
    ) -> Result<u32, Failure> {
        if let ([TapeTerm { slot, negative: false, coef: None }], None) = (terms.as_slice(), &divisor) {
            return Ok(*slot);
        }
        self.record_apart(terms, divisor, linear)
    }

    /// The same, but the slot is never that of the only term: the cotangents of a result that depends on cases are added up
    /// before they go to the operand that was chosen, as in compiled code, which chooses late.
    pub(crate) fn record_apart(
        &self,
        terms: SmallVec<[TapeTerm; 2]>,
        divisor: Option<Value>,
        linear: bool,
    ) -> Result<u32, Failure> {
        let mut entry = Entry { a: 0, b: 0, flags: if linear { LINEAR } else { 0 } };
        let mut coefs: SmallVec<[Value; 3]> = SmallVec::new();
        if terms.iter().all(|term| self.is_nothing(term)) {
            entry.flags |= NOTHING;
        }
        for (i, term) in terms.into_iter().enumerate() {
            let (present, negative, coef) =
                if i == 0 { (TERM_A, NEGATIVE_A, COEF_A) } else { (TERM_B, NEGATIVE_B, COEF_B) };
            *(if i == 0 { &mut entry.a } else { &mut entry.b }) = term.slot;
            entry.flags |= present | if term.negative { negative } else { 0 };
            if let Some(value) = term.coef {
                entry.flags |= coef;
                coefs.push(value);
            }
        }
        if let Some(divisor) = divisor {
            entry.flags |= DIVISOR;
            coefs.push(divisor);
        }
        self.push(entry, coefs)
    }

    fn push(&self, entry: Entry, coefs: impl IntoIterator<Item = Value>) -> Result<u32, Failure> {
        let mut inner = self.inner.borrow_mut();
        let slot = inner.entries.len();
        if self.formal || slot >= MAX_ENTRIES {
            return Err(errors::internal("a tape with more than 2^32 entries, or a formal one"));
        }
        let full = inner.entries.len() == inner.entries.capacity();
        let coefs_before = inner.coefs.capacity();
        inner.entries.push(entry);
        inner.coefs.extend(coefs);
        if full || inner.coefs.capacity() != coefs_before {
            inner.update_meter();
        }
        Ok(slot as u32)
    }

    /// Adds a node; its outputs are the leaves added next.
    pub(crate) fn push_node(&self, node: Node) -> Result<(), Failure> {
        let number = {
            let mut inner = self.inner.borrow_mut();
            inner.nodes.push(Rc::new(node));
            inner.update_meter();
            inner.nodes.len() as u32 - 1
        };
        self.push(Entry { a: number, b: 0, flags: NODE }, []).map(|_| ())
    }

    /// The entry of `slot`. `coef` says where its coefficients end, and is moved to where they begin.
    pub(crate) fn entry_before(&self, slot: usize, coef: &mut usize) -> EntryView {
        let inner = self.inner.borrow();
        let Some(entry) = inner.entries.get(slot) else { return EntryView::Leaf };
        *coef = coef.saturating_sub(entry.coef_count());
        let mut at = *coef;
        inner.view(*entry, &mut at)
    }

    /// The entry of `slot`. `coef` says where its coefficients begin, and is moved to where they end.
    pub(crate) fn entry_after(&self, slot: usize, coef: &mut usize) -> EntryView {
        let inner = self.inner.borrow();
        let Some(entry) = inner.entries.get(slot) else { return EntryView::Leaf };
        inner.view(*entry, coef)
    }

    /// Skips the entry of `slot` backward, unless it is a node: those have something to do even where nothing has
    /// accumulated at their own slot.
    pub(crate) fn skip_before(&self, slot: usize, coef: &mut usize) -> bool {
        let inner = self.inner.borrow();
        let Some(entry) = inner.entries.get(slot) else { return true };
        *coef = coef.saturating_sub(entry.coef_count());
        entry.flags & NODE == 0
    }

    /// The larger tags that the function in `slot` depends on.
    pub(crate) fn bound_tags(&self, slot: u32) -> Rc<[Tag]> {
        self.inner.borrow().bound.get(&slot).cloned().unwrap_or_default()
    }

    /// Remembers the larger tags that the function in `slot` depends on.
    pub(crate) fn bind_tags(&self, slot: u32, tags: Rc<[Tag]>) {
        self.inner.borrow_mut().bound.insert(slot, tags);
    }

    /// Whether a value on the tape is perturbed under `tag`.
    pub(crate) fn mentions(&self, tag: Tag) -> bool {
        self.values().iter().any(|value| perturb::mentions(tag, value))
    }

    /// How many coefficients there are.
    pub(crate) fn coef_len(&self) -> usize {
        self.inner.borrow().coefs.len()
    }

    /// All values that the tape holds, in the order in which [`Tape::with_values`] takes them.
    pub(crate) fn values(&self) -> Vec<Value> {
        let inner = self.inner.borrow();
        let mut values: Vec<Value> = inner.coefs.clone();
        for node in &inner.nodes {
            values.extend(node.values());
        }
        values
    }

    /// The same tape with other values.
    pub(crate) fn with_values(&self, values: Vec<Value>) -> Rc<Tape> {
        let inner = self.inner.borrow();
        let mut values = values.into_iter();
        let coefs: Vec<Value> = values.by_ref().take(inner.coefs.len()).collect();
        let nodes = inner.nodes.iter().map(|node| Rc::new(node.with_values(&mut values))).collect();
        let bound = inner.bound.clone();
        let entries = inner.entries.clone();
        let recording = Recording { entries, coefs, nodes, bound, rules: Vec::new(), metered: 0 };
        let tape = Tape::with(self.tag, self.formal, recording);
        tape.remat.set(self.remat.get());
        Rc::new(tape)
    }
}

impl Entry {
    fn coef_count(self) -> usize {
        (self.flags & (COEF_A | COEF_B | DIVISOR)).count_ones() as usize
    }
}

impl Recording {
    fn update_meter(&mut self) {
        let bytes = self.entries.capacity() * ENTRY_BYTES
            + self.coefs.capacity() * COEF_BYTES
            + self.nodes.capacity() * NODE_BYTES;
        meter(bytes as i64 - self.metered);
        self.metered = bytes as i64;
    }

    /// Reads an entry; `coef` is moved from the beginning to the end of its coefficients.
    fn view(&self, entry: Entry, coef: &mut usize) -> EntryView {
        if entry.flags & NODE != 0 {
            let node = self.nodes.get(entry.a as usize);
            return node.map_or(EntryView::Leaf, |node| EntryView::Node(Rc::clone(node)));
        }
        if entry.flags & TERM_A == 0 {
            return EntryView::Leaf;
        }
        let mut take = |present: u16| {
            (entry.flags & present != 0).then(|| {
                let value = self.coefs.get(*coef).cloned();
                *coef += 1;
                value.unwrap_or(Value::Real(f64::NAN))
            })
        };
        let mut terms = SmallVec::new();
        terms.push(TapeTerm { slot: entry.a, negative: entry.flags & NEGATIVE_A != 0, coef: take(COEF_A) });
        if entry.flags & TERM_B != 0 {
            terms.push(TapeTerm {
                slot: entry.b,
                negative: entry.flags & NEGATIVE_B != 0,
                coef: take(COEF_B),
            });
        }
        EntryView::Linear(LinearEntry { terms, divisor: take(DIVISOR) })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        meter(-self.metered);
        drop_later(self.coefs.drain(..));
    }
}

impl Node {
    fn values(&self) -> SmallVec<[Value; 3]> {
        match self {
            Node::Apply { point, output, .. } => SmallVec::from_iter([point.clone(), output.value.clone()]),
            Node::Custom { pullback, input, output } => {
                SmallVec::from_iter([pullback.clone(), input.value.clone(), output.value.clone()])
            }
            Node::Checkpoint { call, output } => {
                SmallVec::from_iter([call.value.clone(), output.value.clone()])
            }
        }
    }

    fn with_values(&self, values: &mut impl Iterator<Item = Value>) -> Node {
        let mut next = || values.next().unwrap_or(Value::Real(f64::NAN));
        match self {
            Node::Apply { slot, bound, output, .. } => {
                let point = next();
                Node::Apply { slot: *slot, point, bound: bound.clone(), output: output.with_value(next()) }
            }
            Node::Custom { input, output, .. } => {
                let pullback = next();
                let input = input.with_value(next());
                Node::Custom { pullback, input, output: output.with_value(next()) }
            }
            Node::Checkpoint { call, output } => {
                let call = call.with_value(next());
                Node::Checkpoint { call, output: output.with_value(next()) }
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let values = self.values();
        let none = || Value::Real(0.0);
        match self {
            Node::Apply { point, output, .. } => {
                *point = none();
                output.value = none();
            }
            Node::Custom { pullback, input, output } => {
                *pullback = none();
                input.value = none();
                output.value = none();
            }
            Node::Checkpoint { call, output } => {
                call.value = none();
                output.value = none();
            }
        }
        drop_later(values.into_iter());
    }
}

impl Drop for Linearization {
    fn drop(&mut self) {
        let parts = [&mut self.input, &mut self.output.value];
        drop_later(parts.map(|part| std::mem::replace(part, Value::Real(0.0))).into_iter());
    }
}
