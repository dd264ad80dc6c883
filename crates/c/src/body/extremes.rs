//! Loops that look for the first largest or smallest element of an array: the runtime does that without branches, and many
//! elements at once.

use super::Body;
use wengert_ir::op::Compare;
use wengert_native::loops::{Join, Local, Operand, Stmt, Sum, Value, Word};

/// Such a loop.
struct Extreme {
    base: Operand,
    best: Local,
    place: Local,
    largest: bool,
}

/// What a loop looks for, if it does nothing else.
fn extreme(stmt: &Stmt) -> Option<Extreme> {
    let Stmt::For { index, len: _, backward: false, independent: _, sums, body } = stmt else { return None };
    let [Sum::Word(best, join), Sum::Word(place, Join::Place)] = sums.as_slice() else { return None };
    let largest = match join {
        Join::Largest => true,
        Join::Smallest => false,
        Join::Add | Join::Max | Join::Min | Join::Place => return None,
    };
    let [
        Stmt::Set(x, Value::Load { base, index: Operand::Local(at), offset: 0 }),
        Stmt::Set(worse, Value::CompareReal(compare, Operand::Local(now), Operand::Local(next))),
        Stmt::If { cond: Operand::Local(cond), then, otherwise },
    ] = body.as_slice()
    else {
        return None;
    };
    let expected = if largest { Compare::Ge } else { Compare::Le };
    let same = at == index && now == best && next == x && cond == worse && *compare == expected;
    (same && then.is_empty() && takes(otherwise, (*best, *x), (*place, *index))).then_some(Extreme {
        base: *base,
        best: *best,
        place: *place,
        largest,
    })
}

/// Whether statements take what is better, unless the best is no number.
fn takes(stmts: &[Stmt], (best, x): (Local, Local), (place, index): (Local, Local)) -> bool {
    let [Stmt::Set(number, Value::CompareReal(Compare::Eq, a, b)), Stmt::If { cond, then, otherwise }] =
        stmts
    else {
        return false;
    };
    let is = |operand: &Operand, local: Local| *operand == Operand::Local(local);
    let sets = |stmt: &Stmt, to: Local, from: Local| matches!(stmt, Stmt::Set(set, Value::Copy(value)) if *set == to && is(value, from));
    is(a, best)
        && is(b, best)
        && is(cond, *number)
        && otherwise.is_empty()
        && matches!(then.as_slice(), [first, second] if sets(first, best, x) && sets(second, place, index))
}

impl Body<'_, '_> {
    /// Prints a call instead of such a loop; whether it is one.
    pub(super) fn extreme(&mut self, stmt: &Stmt) -> bool {
        let Some(Extreme { base, best, place, largest }) = extreme(stmt) else { return false };
        let Stmt::For { len, .. } = stmt else { return false };
        if self.word(best) != Word::Real {
            return false;
        }
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        let xs = self.address(base, true).text;
        let count = self.integer(*len).text;
        let wanted = self.info(place).reads > 0;
        let (best, place) = (self.name(best).to_string(), self.name(place).to_string());
        let function = if largest { "wg_first_largest" } else { "wg_first_smallest" };
        self.unit.uses_extremes();
        if wanted {
            let found = self.unit.temporary();
            self.put(&format!("const wg_found {found} = {function}({xs}, {count}, {best}, {place});"));
            self.put(&format!("{best} = {found}.best;"));
            self.put(&format!("{place} = {found}.place;"));
        } else {
            self.put(&format!("{best} = {function}({xs}, {count}, {best}, 0).best;"));
        }
        // The loop, what it does where the next one is better, and what it does unless the best is no number.
        self.blocks += 5;
        true
    }
}
