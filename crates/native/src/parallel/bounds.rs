//! Between which numbers the integers of a function are: where a loop goes over a row of a small matrix, its work is known to be
//! little though not how much it is.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed may be any number")]

use crate::loops::walk::every;
use crate::loops::{Func, Int, Local, Operand, Stmt, Value};
use rustc_hash::FxHashMap;

/// From the one to the other.
type Range = (i64, i64);
const ANY: Range = (i64::MIN, i64::MAX);

/// What is known of the variables that are assigned once.
#[derive(Default)]
pub(super) struct Bounds {
    ranges: FxHashMap<Local, Range>,
}

impl Bounds {
    /// The bounds of a function's variables, of which each is assigned so often.
    pub(super) fn of(func: &Func, body: &[Stmt], sets: &FxHashMap<Local, usize>) -> Bounds {
        let mut bounds = Bounds::default();
        // What is computed comes after what it is computed from.
        every(body, &mut |stmt| {
            let (local, range) = match stmt {
                Stmt::Set(local, value) => (*local, bounds.value(value)),
                Stmt::For { index, len, .. } => (*index, (0, bounds.range(*len).1.saturating_sub(1).max(0))),
                _ => return,
            };
            if range != ANY && sets.get(&local) == Some(&1) && !func.params.contains(&local) {
                bounds.ranges.insert(local, range);
            }
        });
        bounds
    }

    /// The most that a size can be.
    pub(super) fn most(&self, size: Operand) -> f64 {
        self.range(size).1.max(0) as f64
    }

    fn range(&self, operand: Operand) -> Range {
        match operand {
            Operand::Int(n) => (n, n),
            Operand::Local(local) => self.ranges.get(&local).copied().unwrap_or(ANY),
            Operand::Real(_) | Operand::Text(_) => ANY,
        }
    }

    fn value(&self, value: &Value) -> Range {
        match value {
            Value::Copy(operand) => self.range(*operand),
            Value::Select(_, a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Value::CompareInt(..) | Value::CompareReal(..) | Value::OutOfRange(..) => (0, 1),
            Value::Int(op, a, b) => combined(*op, self.range(*a), self.range(*b)),
            _ => ANY,
        }
    }
}

/// What comes out of two numbers; anything, if it may be too large.
fn combined(op: Int, a: Range, b: Range) -> Range {
    let wide = |n: i64| i128::from(n);
    let ends = match op {
        Int::Add => (wide(a.0) + wide(b.0), wide(a.1) + wide(b.1)),
        Int::Sub => (wide(a.0) - wide(b.1), wide(a.1) - wide(b.0)),
        Int::Mul => {
            let all = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)].map(|(a, b)| wide(a) * wide(b));
            all.iter().fold((i128::MAX, i128::MIN), |(least, most), n| (least.min(*n), most.max(*n)))
        }
        Int::Min => (wide(a.0.min(b.0)), wide(a.1.min(b.1))),
        Int::Max => (wide(a.0.max(b.0)), wide(a.1.max(b.1))),
        _ => return ANY,
    };
    match (i64::try_from(ends.0), i64::try_from(ends.1)) {
        (Ok(least), Ok(most)) => (least, most),
        _ => ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::{ANY, combined};
    use crate::loops::Int;

    #[test]
    fn what_is_too_large_may_be_anything() {
        assert_eq!(combined(Int::Mul, (-2, 3), (-5, 4)), (-15, 12));
        assert_eq!(combined(Int::Add, (0, i64::MAX), (1, 1)), ANY);
        assert_eq!(combined(Int::Min, ANY, (0, 7)), (i64::MIN, 7));
        assert_eq!(combined(Int::Sub, (0, 3), (1, 1)), (-1, 2));
    }
}
