//! From the array IR to the loop IR: where values live, who frees them, and loops instead of array operations.
//!
//! **Representation.** A scalar is a word. Text and data are references. An array is the address of its first element and
//! its sizes, in variables, together with a reference to the object that holds it, if this function has one: a row of an
//! array, or a parameter that is only read, has none and is a *view*.
//!
//! **Ownership** (`block`). Each reference that a block binds is the block's own, and is given away at its last use or
//! released after it, so that an array that is updated is usually nobody else's and is updated in place. What a view looks into
//! stays alive until the view's last use (`uses`). Loops borrow what they capture; branches own what dies in them.
//! Parameters that a function never gives away are borrowed from the caller (`borrow`).
//!
//! **Cursors** (`cursor`). Data that a loop walks through, and somebody else keeps, is not counted on the way.
//!
//! **Stable arrays** (`stable`). An array that a loop only reads and updates is made the loop's own before it, and updated in
//! place without looking; iterations that keep to places of their own may be done in any order (`columns`).
//!
//! **Destinations** (`arrays`). The array that a loop makes as a row of another array is made in its place there, if the
//! sizes of the row are known before the loop (`shape`), or can be compared there (`alike`). What is one end of a longer array has room beside it for the rest (`beside`).

mod alike;
mod arrays;
mod beside;
mod block;
mod borrow;
mod columns;
mod control;
mod cursor;
mod data;
mod drain;
mod growing;
mod in_place;
mod known;
mod loops;
mod origins;
mod pauses;
mod reduce;
mod scalar;
mod shape;
mod stable;
mod sums;
mod thin;
mod update;
mod uses;
mod written;

use crate::loops as out;
use crate::loops::{Int, Kind, Local, Operand, Passing, Site, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;
use wengert_base::Span;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Table;
use wengert_ir::{Atom, DataId, Elem, Func, Op, Program, Ty, Var};

/// The loop program of an IR program, which is verified and has no derivative left to make.
pub fn lower(program: &Program) -> out::Program {
    lower_marked(program, None).0
}

/// The same; if an address is given, the program stores there which place of the source it is at, as the number of a span
/// among those that are returned. So a profiler sees from outside where the time goes.
pub fn lower_marked(program: &Program, mark: Option<i64>) -> (out::Program, Vec<Span>) {
    let modes = borrow::modes(program);
    let recursive = borrow::recursive(program);
    let pausing = pauses::pausing(program, &borrow::callees(program), &|id| recursive.contains_key(&id));
    let tapes = program.data.ids().filter(|data| borrow::is_tape(program, *data)).collect();
    let thin = thin::thin(program);
    let mut shared = Shared {
        tapes,
        thin,
        texts: Vec::new(),
        text_numbers: FxHashMap::default(),
        sites: Vec::new(),
        modes,
        mark,
        spans: Vec::new(),
        span_numbers: FxHashMap::default(),
    };
    let mut funcs = Table::default();
    for id in program.funcs.ids() {
        wengert_ir::stop::check();
        let mut lower = Lower::new(&mut shared, program, id);
        let site = recursive.get(&id).map(|span| lower.site_at(out::Failure::Memory, *span));
        lower.made.pauses = pausing.contains(&id);
        funcs.push(lower.function(site));
    }
    let data = program.data.ids().map(|id| {
        let kinds = |ctor: &wengert_ir::ty::Ctor| ctor.fields.iter().map(|ty| kind(*ty)).collect();
        thin::numbered(program, &shared.thin, id).into_iter().map(kinds).collect()
    });
    let made = out::Program { funcs, texts: shared.texts, sites: shared.sites, data: data.collect() };
    (made, shared.spans)
}

/// What functions have in common.
struct Shared {
    /// Data types of what derivatives keep.
    tapes: FxHashSet<DataId>,
    /// Data types with a constructor that is its field.
    thin: FxHashMap<DataId, thin::Thin>,
    texts: Vec<Arc<str>>,
    text_numbers: FxHashMap<Arc<str>, u32>,
    sites: Vec<Site>,
    /// For each function, how each parameter is passed.
    modes: Table<FuncId, Vec<Passing>>,
    /// Where the number of the span goes that the program is at.
    mark: Option<i64>,
    spans: Vec<Span>,
    span_numbers: FxHashMap<Span, i64>,
}

/// Where the value of a variable is.
#[derive(Clone, Debug)]
enum Place {
    /// A word that refers to nothing.
    Plain(Operand),
    /// Text or data.
    Counted(Operand),
    /// An array.
    Array(ArrayPlace),
}

/// Where an array is.
#[derive(Clone, Debug)]
struct ArrayPlace {
    /// The object, unless this is a view.
    object: Option<Local>,
    /// The address of the first element.
    first: Operand,
    /// The size along each axis.
    dims: Vec<Operand>,
    /// What it is made of.
    elem: Elem,
}

/// Where an array is to be made: as a row of another one.
#[derive(Clone)]
struct Destination {
    place: ArrayPlace,
    /// Which row.
    index: Operand,
}

/// The lowering of a function.
struct Lower<'a> {
    shared: &'a mut Shared,
    program: &'a Program,
    id: FuncId,
    func: &'a Func,
    made: out::Func,
    /// The statements that are being made.
    code: Vec<Stmt>,
    places: FxHashMap<Var, Place>,
    /// What each view looks into.
    views: FxHashMap<Var, Var>,
    free: uses::Free,
    written: written::Written,
    /// Where arrays are to be made.
    destinations: FxHashMap<Var, Destination>,
    /// Which arrays have room beside them.
    beside: beside::Beside,
    /// For each version of an array that a loop updates in place, the first, which has its place.
    stable: FxHashMap<Var, Var>,
    /// Variables that hold a reference which is not theirs: what loops walk through.
    borrowed: FxHashSet<Local>,
    /// The results of branches that such references come through.
    on_the_way: FxHashSet<Var>,
    /// Places that are there, and the sizes that they stay below: indices of the loops around, and what was asked before.
    in_range: Vec<(Operand, Operand)>,
    /// The largest or smallest elements of arrays that were looked for: the array, whether the largest, the element, and its place.
    extremes: Vec<(Var, bool, Local, Local)>,
    /// Variables that are sizes of arrays: they are not negative.
    sizes: FxHashSet<Local>,
    /// The sums of integers of the function, where somebody has asked.
    added: OnceCell<columns::Added>,
    /// Sizes that are the same in the loop that is being made.
    alike: alike::Alike,
    /// Variables that were made there.
    in_place: FxHashSet<Var>,
    /// Arrays that are made there for what is nothing but them with some elements changed.
    changed_in_place: FxHashSet<Var>,
    /// Arrays that are zeros before they are made: the array that they are rows of is.
    zeros_there: FxHashSet<Var>,
    /// Arrays that were made with zeros in them.
    zeros: FxHashSet<Var>,
    /// Objects that were made in so many loops, and referred to once.
    fresh: FxHashMap<Local, usize>,
    /// In how many loops the code is that is being made.
    depth: usize,
    /// The source of the statement.
    span: Span,
    /// The calls of the function itself at its end.
    tail_calls: FxHashSet<*const Op>,
    /// Whether to start again; set if there are such calls.
    again: Option<Local>,
}

impl<'a> Lower<'a> {
    fn new(shared: &'a mut Shared, program: &'a Program, id: FuncId) -> Lower<'a> {
        let func = program.funcs.at(id);
        let made = out::Func {
            name: func.name,
            params: Vec::new(),
            results: Vec::new(),
            locals: Table::default(),
            body: Vec::new(),
            recursive: None,
            pauses: false,
            passing: shared.modes.at(id).clone(),
            borrowed: Vec::new(),
            span: func.span,
            origins: FxHashMap::default(),
            part: None,
            shared: false,
        };
        let beside = beside::find(func);
        let mut views = uses::views(func);
        views.extend(beside.joined.iter().map(|(out, (array, _))| (*out, *array)));
        Lower {
            shared,
            program,
            id,
            func,
            made,
            code: Vec::new(),
            places: FxHashMap::default(),
            views,
            free: uses::Free::of_function(func),
            written: written::Written::of_function(func),
            destinations: FxHashMap::default(),
            beside,
            added: OnceCell::new(),
            alike: alike::Alike::default(),
            in_place: FxHashSet::default(),
            changed_in_place: FxHashSet::default(),
            zeros_there: FxHashSet::default(),
            zeros: FxHashSet::default(),
            fresh: FxHashMap::default(),
            depth: 0,
            stable: FxHashMap::default(),
            borrowed: FxHashSet::default(),
            on_the_way: FxHashSet::default(),
            in_range: Vec::new(),
            extremes: Vec::new(),
            sizes: FxHashSet::default(),
            span: func.span,
            tail_calls: borrow::tail_calls(id, &func.body),
            again: None,
        }
    }

    fn function(mut self, recursive: Option<u32>) -> out::Func {
        let func = self.func;
        self.made.results = func.results.iter().map(|ty| self.made.locals.push(word(*ty))).collect();
        let results = self.made.results.clone();
        let passing = self.shared.modes.at(self.id).clone();
        let mut mine = uses::Vars::default();
        for (param, passing) in func.body.params.iter().zip(passing) {
            self.param(*param, passing);
            if passing == Passing::Owned && kind(func.ty(*param)) != Kind::Plain {
                mine.insert(*param);
            }
        }
        self.block(&func.body, mine, &mut |this, given, dying| {
            for (result, atom) in results.iter().zip(given) {
                let value = this.consume(atom, dying);
                this.emit(Stmt::Set(*result, Value::Copy(value)));
            }
        });
        self.made.recursive = recursive;
        self.made.origins = origins::origins(func, &self.places);
        self.made.body = match self.again {
            None => self.code,
            // A call of itself at the end sets `again` and the parameters, and ends.
            Some(again) => {
                let once = Stmt::Set(again, Value::Copy(Operand::Int(0)));
                let body = std::iter::once(once).chain(self.code).collect();
                let first = Stmt::Set(again, Value::Copy(Operand::Int(1)));
                vec![first, Stmt::While { head: Vec::new(), cond: Operand::Local(again), body }]
            }
        };
        self.made
    }

    fn param(&mut self, param: Var, passing: Passing) {
        let ty = self.func.ty(param);
        let place = match (ty, passing) {
            (Ty::Array(elem, rank), Passing::Borrowed) => {
                let first = self.made.fresh(Word::Address);
                let dims: Vec<Local> = (0..rank).map(|_| self.made.fresh(Word::Int)).collect();
                self.made.params.push(first);
                self.made.borrowed.push(first);
                self.made.params.extend(&dims);
                self.sizes.extend(&dims);
                let dims = dims.into_iter().map(Operand::Local).collect();
                Place::Array(ArrayPlace { object: None, first: Operand::Local(first), dims, elem })
            }
            (Ty::Array(elem, rank), Passing::Owned) => {
                let object = self.made.fresh(Word::Ref);
                self.made.params.push(object);
                self.array_at(object, elem, rank)
            }
            (Ty::Scalar(_), passing) => {
                let local = self.made.fresh(word(ty));
                self.made.params.push(local);
                if passing == Passing::Borrowed && word(ty) == Word::Ref {
                    self.made.borrowed.push(local);
                }
                if kind(ty) == Kind::Plain {
                    Place::Plain(Operand::Local(local))
                } else {
                    Place::Counted(Operand::Local(local))
                }
            }
        };
        self.places.insert(param, place);
    }

    /// The array in an object.
    fn array_at(&mut self, object: Local, elem: Elem, rank: u8) -> Place {
        let base = Operand::Local(object);
        let dims = (0..rank)
            .map(|axis| {
                let offset = i32::from(axis) + 1;
                let size = self.made.fresh(Word::Int);
                self.emit(Stmt::Set(size, Value::Load { base, index: Operand::Int(0), offset }));
                self.sizes.insert(size);
                Operand::Local(size)
            })
            .collect();
        let offset = i32::from(rank) + 1;
        let first = self.set(Word::Address, Value::Address { base, index: Operand::Int(0), offset });
        Place::Array(ArrayPlace { object: Some(object), first, dims, elem })
    }

    fn emit(&mut self, stmt: Stmt) {
        if let Stmt::Retain(Operand::Local(object), _) = &stmt {
            self.fresh.remove(object);
        }
        match known::taken(stmt) {
            Ok(side) => self.code.extend(side),
            Err(stmt) => self.code.push(stmt),
        }
    }

    /// A new variable with this value; or the value, if it is known.
    fn set(&mut self, word: Word, value: Value) -> Operand {
        if let Some(known) = known::known(&value) {
            return known;
        }
        let local = self.made.fresh(word);
        self.emit(Stmt::Set(local, value));
        Operand::Local(local)
    }

    /// Integer arithmetic, done here if both are known.
    fn int(&mut self, op: Int, a: Operand, b: Operand) -> Operand {
        match (op, a, b) {
            (Int::Add, Operand::Int(x), Operand::Int(y)) => Operand::Int(x.wrapping_add(y)),
            (Int::Sub, Operand::Int(x), Operand::Int(y)) => Operand::Int(x.wrapping_sub(y)),
            (Int::Mul, Operand::Int(x), Operand::Int(y)) => Operand::Int(x.wrapping_mul(y)),
            (Int::Mul, _, Operand::Int(0)) | (Int::Mul, Operand::Int(0), _) => Operand::Int(0),
            (Int::Add | Int::Sub, a, Operand::Int(0)) | (Int::Mul, a, Operand::Int(1)) => a,
            (Int::Add, Operand::Int(0), b) | (Int::Mul, Operand::Int(1), b) => b,
            (op, a, b) => self.set(Word::Int, Value::Int(op, a, b)),
        }
    }

    /// The statements that `make` emits, apart.
    fn apart(&mut self, make: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let before = std::mem::take(&mut self.code);
        make(self);
        std::mem::replace(&mut self.code, before)
    }

    /// The statements of a body of a loop.
    fn inside(&mut self, make: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        self.depth += 1;
        let body = self.apart(make);
        self.depth -= 1;
        body
    }

    /// Stores where the program is, if somebody wants to know.
    fn mark(&mut self, span: Span) {
        let Some(address) = self.shared.mark.filter(|_| !span.is_nowhere()) else { return };
        let spans = &mut self.shared.spans;
        let number = *self.shared.span_numbers.entry(span).or_insert_with(|| {
            spans.push(span);
            spans.len() as i64
        });
        let (base, value) = (Operand::Int(address), Operand::Int(number));
        self.emit(Stmt::Store { base, index: Operand::Int(0), offset: 0, value });
    }

    /// Fails, if the condition holds.
    fn fail_if(&mut self, cond: Operand, failure: out::Failure, numbers: Vec<Operand>) {
        let site = self.site(failure);
        self.emit(Stmt::If { cond, then: vec![Stmt::Fail(site, numbers)], otherwise: Vec::new() });
    }

    /// A new object of so many words.
    fn alloc(&mut self, words: Operand) -> Operand {
        let site = self.site(out::Failure::Memory);
        self.set(Word::Ref, Value::Alloc(words, site, None))
    }

    fn site(&mut self, failure: out::Failure) -> u32 {
        self.site_at(failure, self.span)
    }

    fn site_at(&mut self, failure: out::Failure, span: Span) -> u32 {
        let site = Site { failure, span };
        let sites = &mut self.shared.sites;
        let known = sites.iter().rposition(|known| *known == site);
        let index = known.unwrap_or_else(|| {
            sites.push(site);
            sites.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn text(&mut self, text: &Arc<str>) -> Operand {
        let texts = &mut self.shared.texts;
        let number = *self.shared.text_numbers.entry(text.clone()).or_insert_with(|| {
            texts.push(text.clone());
            u32::try_from(texts.len() - 1).unwrap_or(u32::MAX)
        });
        Operand::Text(number)
    }

    /// The place of a variable that is bound.
    fn place(&self, var: Var) -> Place {
        self.places.get(&var).cloned().unwrap_or(Place::Plain(Operand::Int(0)))
    }

    /// A scalar operand.
    fn word(&mut self, atom: &Atom) -> Operand {
        match atom {
            Atom::Var(var) => match self.place(*var) {
                Place::Plain(operand) | Place::Counted(operand) => operand,
                Place::Array(array) => array.object.map_or(array.first, Operand::Local),
            },
            Atom::Real(x) => Operand::Real(*x),
            Atom::Int(n) => Operand::Int(*n),
            Atom::Bool(b) => Operand::Int(i64::from(*b)),
            Atom::Text(text) => self.text(text),
            Atom::Unit => Operand::Int(0),
        }
    }

    fn words(&mut self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|atom| self.word(atom)).collect()
    }

    /// An array operand, to be read.
    fn array(&self, atom: &Atom) -> ArrayPlace {
        match atom {
            Atom::Var(var) => match self.place(*var) {
                Place::Array(array) => array,
                Place::Plain(first) | Place::Counted(first) => {
                    ArrayPlace { object: None, first, dims: Vec::new(), elem: Elem::Unit }
                }
            },
            Atom::Real(_) | Atom::Int(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => {
                ArrayPlace { object: None, first: Operand::Int(0), dims: Vec::new(), elem: Elem::Unit }
            }
        }
    }

    fn ty(&self, atom: &Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.func.ty(*var),
            Atom::Real(_) => Ty::REAL,
            Atom::Int(_) => Ty::INT,
            Atom::Bool(_) => Ty::BOOL,
            Atom::Text(_) => Ty::TEXT,
            Atom::Unit => Ty::Scalar(Elem::Unit),
        }
    }

    /// Binds a variable to a new word with this value.
    fn bind(&mut self, var: Var, value: Value) {
        let ty = self.func.ty(var);
        let operand = self.set(word(ty), value);
        self.bind_word(var, operand);
    }

    /// Binds a variable of scalar type to a word.
    fn bind_word(&mut self, var: Var, operand: Operand) {
        let place = if kind(self.func.ty(var)) == Kind::Plain {
            Place::Plain(operand)
        } else {
            Place::Counted(operand)
        };
        self.places.insert(var, place);
    }

    /// Binds a variable to what an owned word or object holds.
    fn bind_owned(&mut self, var: Var, local: Local) {
        match self.func.ty(var) {
            Ty::Array(elem, rank) => {
                let place = self.array_at(local, elem, rank);
                self.places.insert(var, place);
            }
            Ty::Scalar(_) => self.bind_word(var, Operand::Local(local)),
        }
    }
}

/// The word that holds a value of this type: for an array its object.
fn word(ty: Ty) -> Word {
    match ty {
        Ty::Scalar(Elem::Real) => Word::Real,
        Ty::Scalar(Elem::Int | Elem::Bool | Elem::Unit) => Word::Int,
        Ty::Scalar(Elem::Text | Elem::Data(_)) | Ty::Array(..) => Word::Ref,
    }
}

/// What such a word refers to.
pub fn kind(ty: Ty) -> Kind {
    match ty {
        Ty::Scalar(Elem::Real | Elem::Int | Elem::Bool | Elem::Unit) => Kind::Plain,
        Ty::Scalar(Elem::Text) => Kind::Text,
        Ty::Scalar(Elem::Data(data)) => Kind::Data(data.0),
        Ty::Array(Elem::Text, rank) => Kind::ArrayOfText(rank),
        Ty::Array(Elem::Data(data), rank) => Kind::ArrayOfData(rank, data.0),
        Ty::Array(Elem::Real | Elem::Int | Elem::Bool | Elem::Unit, rank) => Kind::Array(rank),
    }
}
