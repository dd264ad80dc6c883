//! Loops as long as a condition holds, and the arrays that they make: nobody knows before how long these get.
//!
//! What gets a number (or a reference) in each iteration is a *column*. All columns of a loop are as long as each other: they have one
//! count, and room for as many, and grow together. Room for the first few rows is there from the start. Arrays of
//! rows grow one by one: the size of a row is known when there is one. Of a column of `()` of which nothing but the length is
//! asked there is the count only, and a look now and then whether there would be memory for it.

use super::loops::split;
use super::uses::Vars;
use super::{ArrayPlace, Lower, Operand, Place, Stmt, Value, Word, kind};
use crate::loops::{Int, Local, Runtime};
use wengert_ir::op::{ArrayOp, Compare, Op, While};
use wengert_ir::{Atom, Elem, Ty, Var};

/// The first rows of a column: with its header it is an object of 32 words, the largest that are cheap to make.
const FIRST: i64 = 30;
/// So many times as long a column becomes when it is full: there may be many of them.
const GROWTH: i64 = 4;
/// The first rows of an array of rows.
const FIRST_ROWS: i64 = 8;

/// The columns of a loop.
struct Columns {
    list: Vec<Column>,
    /// Rows so far.
    count: Local,
    /// Rows that fit.
    room: Local,
}

/// An output with a number or a reference for each iteration.
struct Column {
    out: Var,
    row: Atom,
    /// Nothing if only the count matters.
    object: Option<Local>,
}

/// An output with an array for each iteration.
struct Grown {
    out: Var,
    row: Atom,
    elem: Elem,
    object: Local,
    /// Rows so far.
    count: Local,
    /// Rows that fit.
    room: Local,
}

impl<'a> Lower<'a> {
    /// `while`
    pub(super) fn while_holds(&mut self, outs: &[Var], parts: &'a While, dying: &mut Vars) {
        let carried: Vec<&Atom> = parts.init.iter().collect();
        let (params, _) = split(&parts.body, 0, carried.len());
        let (cond_params, _) = split(&parts.cond, 0, carried.len());
        let locals = self.start_carried(&carried, params, &parts.body, dying);
        let made = outs.get(carried.len()..).unwrap_or_default();
        let rows = parts.body.results.get(carried.len()..).unwrap_or_default();
        let columns = self.start_columns(made, rows);
        let grown = self.start_growing(made, rows);
        let cond = self.made.fresh(Word::Int);
        let head = self.inside(|this| {
            // The condition only looks at what is carried.
            for ((param, carried), local) in cond_params.iter().zip(params).zip(&locals) {
                this.bind_version(*param, *carried, *local);
            }
            this.block(&parts.cond, Vars::new(), &mut |this, given, _| {
                let value = given.first().map_or(Operand::Int(0), |atom| this.word(atom));
                this.emit(Stmt::Set(cond, Value::Copy(value)));
            });
        });
        let body = self.inside(|this| {
            this.bind_carried(params, &locals);
            let mine = this.counted_params(params, &locals);
            let (early, late): (Vec<&Column>, Vec<&Column>) =
                columns.list.iter().partition(|column| this.is_carried_number(&column.row, params));
            this.more_columns(&columns);
            early.into_iter().for_each(|column| this.put_in_column(column, &columns, &mut Vars::new()));
            this.block(&parts.body, mine, &mut |this, given, dying| {
                late.iter().for_each(|column| this.put_in_column(column, &columns, dying));
                this.count_row(&columns);
                grown.iter().for_each(|grown| this.grow(grown));
                this.end_carried(given, &locals, dying);
            });
        });
        self.emit(Stmt::While { head, cond: Operand::Local(cond), body });
        self.bind_after(outs, params, &locals);
        for column in columns.list {
            match column.object {
                Some(object) => self.finish_growing(column.out, object, columns.count),
                None => {
                    let dims = vec![Operand::Local(columns.count)];
                    let place = ArrayPlace { object: None, first: Operand::Int(0), dims, elem: Elem::Unit };
                    self.places.insert(column.out, Place::Array(place));
                }
            }
        }
        for grown in grown {
            self.finish_growing(grown.out, grown.object, grown.count);
        }
    }

    /// Whether nothing but the length matters of an array of `()`.
    fn only_counts(&self, out: Var) -> bool {
        let mut others = self.func.ty(out) != Ty::Array(Elem::Unit, 1);
        let mut look = |atoms: &[Atom]| others = others || atoms.iter().any(|atom| atom.var() == Some(out));
        look(&self.func.body.results);
        self.func.body.for_each_stmt(&mut |stmt| {
            if !matches!(stmt.op, Op::Array(ArrayOp::Length(_), _)) {
                stmt.op.for_each_atom(&mut |atom| look(std::slice::from_ref(atom)));
            }
            stmt.op.blocks().into_iter().for_each(|block| look(&block.results));
        });
        !others
    }

    /// The columns among outputs, with room for a few rows.
    fn start_columns(&mut self, outs: &[Var], rows: &[Atom]) -> Columns {
        let (count, room) = (self.made.fresh(Word::Int), self.made.fresh(Word::Int));
        let scalars: Vec<_> =
            outs.iter().zip(rows).filter(|(out, _)| self.func.ty(**out).rank() == 1).collect();
        let mut list = Vec::with_capacity(scalars.len());
        for (out, row) in scalars {
            let object = (!self.only_counts(*out)).then(|| {
                let object = self.made.fresh(Word::Ref);
                let made = self.alloc_array(&[Operand::Int(FIRST)]);
                self.emit(Stmt::Set(object, Value::Copy(made)));
                object
            });
            list.push(Column { out: *out, row: row.clone(), object });
        }
        if !list.is_empty() {
            self.emit(Stmt::Set(count, Value::Copy(Operand::Int(0))));
            self.emit(Stmt::Set(room, Value::Copy(Operand::Int(FIRST))));
        }
        Columns { list, count, room }
    }

    /// Makes room for one more row.
    fn more_columns(&mut self, columns: &Columns) {
        if columns.list.is_empty() {
            return;
        }
        let (count, room) = (Operand::Local(columns.count), Operand::Local(columns.room));
        let full = self.set(Word::Int, Value::CompareInt(Compare::Ge, count, room));
        let more = self.apart(|this| {
            let more = this.int(Int::Mul, room, Operand::Int(GROWTH));
            for column in &columns.list {
                match column.object {
                    Some(object) => this.move_to_larger((column.out, object), &[more], count),
                    None => {
                        let room = this.alloc_array(&[more]);
                        this.emit(Stmt::Free(room, kind(this.func.ty(column.out))));
                    }
                }
            }
            this.emit(Stmt::Set(columns.room, Value::Copy(more)));
        });
        self.emit(Stmt::If { cond: full, then: more, otherwise: Vec::new() });
    }

    fn put_in_column(&mut self, column: &Column, columns: &Columns, dying: &mut Vars) {
        let Some(object) = column.object else { return };
        let value = self.consume(&column.row, dying);
        let first = self.first(Operand::Local(object), 1);
        self.emit(Stmt::Store { base: first, index: Operand::Local(columns.count), offset: 0, value });
    }

    fn count_row(&mut self, columns: &Columns) {
        if !columns.list.is_empty() {
            let next = self.int(Int::Add, Operand::Local(columns.count), Operand::Int(1));
            self.emit(Stmt::Set(columns.count, Value::Copy(next)));
        }
    }

    /// The outputs that are no columns.
    fn start_growing(&mut self, outs: &[Var], rows: &[Atom]) -> Vec<Grown> {
        let more = outs.iter().zip(rows).filter(|(out, _)| self.func.ty(**out).rank() > 1);
        let more: Vec<_> = more.map(|(out, row)| (*out, row.clone())).collect();
        let mut list = Vec::with_capacity(more.len());
        for (out, row) in more {
            let ty = self.func.ty(out);
            let object = self.made.fresh(Word::Ref);
            let (count, room) = (self.made.fresh(Word::Int), self.made.fresh(Word::Int));
            let empty = self.alloc_array(&vec![Operand::Int(0); usize::from(ty.rank())]);
            self.emit(Stmt::Set(object, Value::Copy(empty)));
            self.emit(Stmt::Set(count, Value::Copy(Operand::Int(0))));
            self.emit(Stmt::Set(room, Value::Copy(Operand::Int(0))));
            list.push(Grown { out, row, elem: ty.elem(), object, count, room });
        }
        list
    }

    /// Appends a row.
    fn grow(&mut self, grown: &Grown) {
        let (count, room) = (Operand::Local(grown.count), Operand::Local(grown.room));
        let row = self.array(&grown.row);
        let full = self.set(Word::Int, Value::CompareInt(Compare::Ge, count, room));
        let more = self.apart(|this| {
            let twice = this.int(Int::Mul, room, Operand::Int(2));
            let room = this.set(Word::Int, Value::Int(Int::Max, twice, Operand::Int(FIRST_ROWS)));
            let dims: Vec<Operand> = std::iter::once(room).chain(row.dims.iter().copied()).collect();
            let size = this.product(Some(&row.dims));
            let words = this.int(Int::Mul, count, size);
            this.move_to_larger((grown.out, grown.object), &dims, words);
            this.emit(Stmt::Set(grown.room, Value::Copy(room)));
        });
        self.emit(Stmt::If { cond: full, then: more, otherwise: Vec::new() });
        let rank = self.func.ty(grown.out).rank();
        if let Place::Array(made) = self.array_at(grown.object, grown.elem, rank) {
            let expected = made.dims.get(1..).unwrap_or_default().to_vec();
            self.check_rows(count, &expected, &row.dims);
            self.copy_row(&row, made.first, count, grown.elem);
        }
        let next = self.int(Int::Add, count, Operand::Int(1));
        self.emit(Stmt::Set(grown.count, Value::Copy(next)));
    }

    /// Moves so many words of an output into a new object of these sizes.
    fn move_to_larger(&mut self, (out, object): (Var, Local), dims: &[Operand], words: Operand) {
        let larger = self.alloc_array(dims);
        let (from, to) = (self.first(Operand::Local(object), dims.len()), self.first(larger, dims.len()));
        // The elements are moved: the old object is freed without them.
        self.emit(Stmt::Runtime { call: Runtime::CopyWords, args: vec![from, to, words], out: None });
        self.emit(Stmt::Free(Operand::Local(object), kind(self.func.ty(out))));
        self.emit(Stmt::Set(object, Value::Copy(larger)));
    }

    /// The array has as many rows as were appended, whatever room there is.
    fn finish_growing(&mut self, out: Var, object: Local, count: Local) {
        self.store(Operand::Local(object), 1, Operand::Local(count));
        self.bind_owned(out, object);
    }
}
