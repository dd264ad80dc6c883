//! Loops around loops that go down columns.
//!
//! ```text
//! for j:                                          for j: s[j] = 0
//!     t = 0                                       for i:
//!     for i: t = max(t, x[i] + m[i][j])               for j: s[j] = max(s[j], x[i] + m[i][j])
//!     y[j] = t + e[j]                             for j: y[j] = s[j] + e[j]
//! ```
//!
//! One element of each row lies far from the next, so the inner loop makes no good vectors; but what lies beside each other can be done at once, for some
//! hundreds of columns. Each column does what it did, in the same order. What its iterations hand on is kept on the stack. Nothing may fail: what
//! the loops check is asked before.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no part of such loops")]

use super::control::{Run, may_be_long};
use super::doubt::assigned;
use super::{Body, guards};
use crate::scopes::{count, for_each_operand};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_native::loops::{Int, Local, Operand, Stmt, Value, Word};

/// So many columns at once.
const COLUMNS: usize = 512;
/// For fewer it does not pay.
const FEW: i64 = 8;
/// More variables that are handed on would be too much to keep.
const MOST: usize = 4;

/// Such a loop.
struct Columns<'s> {
    /// What is handed on, and what that begins with.
    carried: Vec<(Local, Operand)>,
    index: Local,
    len: Operand,
    body: &'s [Stmt],
    /// What comes after the inner loop.
    rest: &'s [Stmt],
    /// The place of that.
    after: u32,
    /// What is to hold for no check to fail, and the checks.
    conditions: Vec<String>,
    checks: FxHashSet<*const Stmt>,
}

impl Body<'_, '_> {
    /// Prints a loop so, if it is one and nothing fails, or as it is. Whether it is one.
    pub(super) fn columns(&mut self, run: &Run<'_>) -> bool {
        let Some(columns) = self.columns_of(run) else { return false };
        let mut conditions = columns.conditions.clone();
        if run.end.parse::<i64>().is_err() {
            conditions.insert(0, format!("{} >= {FEW}", run.end));
        }
        let before = (self.blocks, self.declared.clone(), self.line);
        let always = conditions.is_empty();
        if !always {
            self.put(&format!("if ({}) {{", conditions.join(" && ")));
            self.depth += 1;
        }
        self.skipped.extend(&columns.checks);
        self.by_rows(run, &columns);
        self.skipped.retain(|check| !columns.checks.contains(check));
        if !always {
            self.depth -= 1;
            (self.blocks, self.declared, self.line) = before;
            self.put("} else {");
            self.depth += 1;
            self.once(run);
            self.depth -= 1;
            self.put("}");
        }
        true
    }

    fn by_rows(&mut self, run: &Run<'_>, columns: &Columns<'_>) {
        let end = self.integer(columns.len).text;
        let (from, to) = self.begin_pieces(run, COLUMNS);
        let j = self.name(run.index).to_string();
        let (at, column) =
            (format!("[{j} - {from}]"), format!("for (word {j} = {from}; {j} < {to}; {j}++) {{"));
        let kept: Vec<(Local, String)> =
            columns.carried.iter().map(|(local, _)| (*local, self.unit.temporary())).collect();
        for ((local, start), (_, name)) in columns.carried.iter().zip(&kept) {
            let start = self.copied(*local, *start).text;
            self.put(&format!("{}{name}[{COLUMNS}];", self.declarator(*local)));
            self.put(&column);
            self.put(&format!("    {name}{at} = {start};"));
            self.put("}");
            self.is_declared(*local);
        }
        self.is_declared(run.index);
        self.is_declared(columns.index);
        // Each column adds up in its order: nothing keeps that from being done for several at once.
        let sums = self.plan.sums.len();
        self.plan.sums.extend(kept.iter().map(|(local, _)| *local));
        self.loops += 2;
        // The blocks have the numbers that they have where one loop is in the other.
        self.blocks += 1;
        let (outer, inner) = (self.blocks, self.blocks + 1);
        let i = self.name(columns.index).to_string();
        self.put(&format!("for (word {i} = 0; {i} < {end}; {i}++) {{"));
        self.depth += 1;
        if may_be_long(columns.body, columns.index, columns.len) {
            self.put("wg_check_stop(r);");
        }
        self.blocks = inner;
        self.column((&column, &at), &kept, true, &mut |body| body.stmts(columns.body, inner, 0));
        self.depth -= 1;
        self.put("}");
        self.column((&column, &at), &kept, false, &mut |body| body.stmts(columns.rest, outer, columns.after));
        self.loops -= 2;
        self.plan.sums.truncate(sums);
        self.depth -= 1;
        self.put("}");
    }

    /// A loop over columns, which finds what is handed on, and keeps it.
    fn column(
        &mut self,
        (head, at): (&str, &str),
        kept: &[(Local, String)],
        keeps: bool,
        print: &mut dyn FnMut(&mut Self),
    ) {
        self.put("WG_INDEPENDENT");
        self.put(head);
        self.depth += 1;
        (self.unit.in_loop, self.unit.in_vectors) = (true, true);
        for (local, name) in kept {
            self.put(&format!("{}{} = {name}{at};", self.declarator(*local), self.name(*local)));
        }
        print(self);
        for (local, name) in kept.iter().filter(|_| keeps) {
            self.put(&format!("{name}{at} = {};", self.name(*local)));
        }
        (self.unit.in_loop, self.unit.in_vectors) = (false, false);
        self.leave();
        self.put("}");
    }

    /// What such a loop is made of.
    fn columns_of<'s>(&self, run: &Run<'s>) -> Option<Columns<'s>> {
        let few = run.end.parse::<i64>().is_ok_and(|count| count < FEW);
        (self.unit.fast && run.independent() && !run.backward && !few).then_some(())?;
        let starts = run.body.iter().take_while(|stmt| matches!(stmt, Stmt::Set(..))).count();
        let (before, from) = run.body.split_at_checked(starts)?;
        let [Stmt::For { index, len, backward: false, body, .. }, rest @ ..] = from else { return None };
        let (assigned_inside, assigned_after) = (assigned(body), assigned(rest));
        let mut all: FxHashSet<Local> = assigned_inside.union(&assigned_after).copied().collect();
        all.extend(assigned(before).into_iter().chain([run.index, *index]));
        let fixed = |operand: &Operand| operand.local().is_none_or(|local| !all.contains(&local));
        let start = |stmt: &Stmt| match stmt {
            Stmt::Set(local, Value::Copy(start)) => {
                let number = matches!(self.word(*local), Word::Real | Word::Int);
                let once = !assigned_after.contains(local) && !self.assigned_once(*local);
                (number && once && fixed(start)).then_some((*local, *start))
            }
            _ => None,
        };
        let carried: Vec<(Local, Operand)> = before.iter().map(start).collect::<Option<_>>()?;
        let known: FxHashSet<Local> = carried.iter().map(|(local, _)| *local).collect();
        let own = assigned_inside.iter().all(|local| known.contains(local) || self.assigned_once(*local));
        let shape = fixed(len) && own && known.len() == carried.len() && (1..=MOST).contains(&known.len());
        shape.then_some(())?;
        let mut found = Found::new(run.index, *index, known);
        found.inside(body)?;
        is_straight(rest).then_some(())?;
        found.columns.then_some(())?;
        let mut columns = Columns {
            carried,
            index: *index,
            len: *len,
            body,
            rest,
            after: count(before) + 1,
            conditions: Vec::new(),
            checks: FxHashSet::default(),
        };
        self.ask(run, &mut columns)?;
        Some(columns)
    }

    /// Finds what is to hold for no check to fail.
    fn ask(&self, run: &Run<'_>, columns: &mut Columns<'_>) -> Option<()> {
        let inner = match columns.len {
            Operand::Int(count) => count.to_string(),
            Operand::Local(len) => self.name(len).to_string(),
            Operand::Real(_) | Operand::Text(_) => return None,
        };
        let loops = [(run.index, &run.end), (columns.index, &inner)].map(|(index, end)| {
            let mut around = guards::Loop::of(self, columns.body, index);
            around.also(columns.rest, run.index);
            around.also(&[], columns.index);
            (around, end)
        });
        let mut loops = loops;
        for stmt in columns.body.iter().chain(columns.rest) {
            match stmt {
                Stmt::Set(local, value) if self.assigned_once(*local) => {
                    loops.iter_mut().for_each(|(around, _)| _ = around.values.insert(*local, value));
                }
                Stmt::If { cond: Operand::Local(cond), .. } => {
                    let check = std::ptr::from_ref(stmt);
                    if self.skipped.contains(&check) {
                        continue;
                    }
                    let condition = loops.iter().find_map(|(around, end)| around.never(*cond, end))?;
                    if !columns.conditions.contains(&condition) {
                        columns.conditions.push(condition);
                    }
                    columns.checks.insert(check);
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// What is found in the bodies of both loops.
struct Found {
    column: Local,
    /// What depends on the column, and on the row.
    of_column: FxHashSet<Local>,
    of_row: FxHashSet<Local>,
    /// Whether something is read of each row at the column.
    columns: bool,
}

impl Found {
    fn new(column: Local, row: Local, carried: FxHashSet<Local>) -> Found {
        let mut of_column = carried;
        of_column.insert(column);
        let of_row = FxHashSet::from_iter([row]);
        Found { column, of_column, of_row, columns: false }
    }

    fn is_of_column(&self, operand: Operand) -> bool {
        operand.local().is_some_and(|local| self.of_column.contains(&local))
    }

    fn is_of_row(&self, operand: Operand) -> bool {
        operand.local().is_some_and(|local| self.of_row.contains(&local))
    }

    /// The inner loop: it stores nothing, and what it reads lies side by side for the columns.
    fn inside(&mut self, body: &[Stmt]) -> Option<()> {
        let mut sums: FxHashMap<Local, [Operand; 2]> = FxHashMap::default();
        for stmt in body {
            let Stmt::Set(local, value) = stmt else {
                is_check(stmt).then_some(())?;
                continue;
            };
            is_plain(value).then_some(())?;
            let (mut of_column, mut of_row) = (false, false);
            for_each_operand(value, &mut |operand| {
                of_column |= self.is_of_column(*operand);
                of_row |= self.is_of_row(*operand);
            });
            match value {
                Value::Load { base, index, .. } if of_column => {
                    (!self.is_of_column(*base)).then_some(())?;
                    let more = self.beside(*index, &sums)?;
                    self.columns |= self.is_of_row(*base) || self.is_of_row(more);
                }
                Value::Address { .. } => (!of_column).then_some(())?,
                Value::Int(Int::Add, a, b) => _ = sums.insert(*local, [*a, *b]),
                _ => {}
            }
            if of_column {
                self.of_column.insert(*local);
            }
            if of_row {
                self.of_row.insert(*local);
            }
        }
        Some(())
    }

    /// What is added to the number of the column for a place, if it is that, and something which is the same for all columns.
    fn beside(&self, place: Operand, sums: &FxHashMap<Local, [Operand; 2]>) -> Option<Operand> {
        let column = Operand::Local(self.column);
        if place == column {
            return Some(Operand::Int(0));
        }
        let [a, b] = *sums.get(&place.local()?)?;
        let more = if a == column { b } else { (b == column).then_some(a)? };
        (!self.is_of_column(more)).then_some(more)
    }
}

/// Whether that may come after the inner loop.
fn is_straight(rest: &[Stmt]) -> bool {
    rest.iter().all(|stmt| match stmt {
        Stmt::Set(_, value) => is_plain(value),
        Stmt::Store { .. } => true,
        _ => is_check(stmt),
    })
}

fn is_check(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If { cond: Operand::Local(_), then, otherwise }
        if otherwise.is_empty() && matches!(then.as_slice(), [.., Stmt::Fail(..)]))
}

/// Whether it makes no object.
fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Alloc(..) | Value::Unique(..) | Value::Tag(..))
}
