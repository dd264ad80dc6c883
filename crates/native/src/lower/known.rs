//! What is known before the program runs: sizes that are numbers make many a question of theirs one that is answered here, with the
//! branch that waits for it.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known")]

use crate::loops::{Int, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// What a value is, if it is a number or what is there already.
pub(super) fn known(value: &Value) -> Option<Operand> {
    match value {
        Value::CompareInt(compare, Operand::Int(a), Operand::Int(b)) => Some(truth(compare.holds(a, b))),
        Value::CompareInt(compare, Operand::Local(a), Operand::Local(b)) if a == b => {
            Some(truth(compare.holds(&0, &0)))
        }
        Value::CompareReal(compare, Operand::Real(a), Operand::Real(b)) => Some(truth(compare.holds(a, b))),
        Value::OutOfRange(Operand::Int(index), Operand::Int(size)) => {
            Some(truth(!(0..*size).contains(index)))
        }
        Value::Select(Operand::Int(cond), then, otherwise) => {
            Some(if *cond == 0 { *otherwise } else { *then })
        }
        // Reals that are equal may differ in the sign of zero.
        Value::Select(_, then, otherwise) if then == otherwise && !matches!(then, Operand::Real(_)) => {
            Some(*then)
        }
        Value::IntToReal(Operand::Int(n)) => Some(Operand::Real(*n as f64)),
        Value::Real(RealOp::Mul, factors) => match factors.as_slice() {
            [Operand::Real(a), Operand::Real(b)] => Some(Operand::Real(a * b)),
            _ => None,
        },
        Value::Int(op, a, b) => combined(*op, *a, *b),
        _ => None,
    }
}

fn combined(op: Int, a: Operand, b: Operand) -> Option<Operand> {
    match (op, a, b) {
        (Int::Or, Operand::Int(0), other) | (Int::Or, other, Operand::Int(0)) => Some(other),
        (Int::And, Operand::Int(0), _) | (Int::And, _, Operand::Int(0)) => Some(Operand::Int(0)),
        (Int::Min, Operand::Int(a), Operand::Int(b)) => Some(Operand::Int(a.min(b))),
        (Int::Max, Operand::Int(a), Operand::Int(b)) => Some(Operand::Int(a.max(b))),
        _ => None,
    }
}

/// The side of a branch that is taken, if that is known.
pub(super) fn taken(stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
    match stmt {
        Stmt::If { cond: Operand::Int(0), then: _, otherwise } => Ok(otherwise),
        Stmt::If { cond: Operand::Int(_), then, otherwise: _ } => Ok(then),
        other => Err(other),
    }
}

fn truth(holds: bool) -> Operand {
    Operand::Int(i64::from(holds))
}

#[cfg(test)]
mod tests {
    use super::known;
    use crate::loops::{Local, Operand, Value};
    use wengert_ir::op::Compare;

    #[test]
    fn what_is_known_of_sizes_is_not_asked_again() {
        let text = "func f(a: []Real, i: Int) -> Real {
                row = replicate(4, 1.0)
                some = slice(row, 0, i)
                rows = replicate(4, row)
                turned = transpose(rows)
                x = turned[i, 2]
                s = sum(some)
                t = x + s
                return t
            }
            entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        for question in ["0 < 0", "4 == 0", "4 != 0", "16 == 0", "2 >= 4"] {
            assert!(!loops.contains(question), "{question}: {loops}");
        }
    }

    #[test]
    fn zeros_of_either_sign_are_a_choice() {
        let cond = Operand::Local(Local(0));
        let choice = |a: Operand, b: Operand| known(&Value::Select(cond, a, b));
        assert_eq!(choice(Operand::Real(0.0), Operand::Real(-0.0)), None);
        assert_eq!(choice(Operand::Int(4), Operand::Int(4)), Some(Operand::Int(4)));
        let range = |index: i64| known(&Value::OutOfRange(Operand::Int(index), Operand::Int(4)));
        assert_eq!(range(-1), Some(Operand::Int(1)));
        assert_eq!(range(3), Some(Operand::Int(0)));
        let same = known(&Value::CompareInt(Compare::Lt, cond, cond));
        assert_eq!(same, Some(Operand::Int(0)));
    }
}
