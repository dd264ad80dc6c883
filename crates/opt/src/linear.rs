//! Integers as linear forms: sums of variables with coefficients and a constant, all modulo 2^64 as the arithmetic is.

use smallvec::SmallVec;
use wengert_ir::{Atom, Var};

/// A linear form. Variables stand in order, and no coefficient is 0, so that equal forms are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Linear {
    terms: SmallVec<[(Var, i64); 2]>,
    constant: i64,
}

/// Forms with more variables are not worth it.
const TERMS: usize = 4;
/// Sums of sizes with larger coefficients may be too large for an integer.
const LARGE: i64 = 1 << 10;

impl Linear {
    /// A number.
    pub(crate) fn constant(constant: i64) -> Linear {
        Linear { terms: SmallVec::new(), constant }
    }

    /// A variable.
    pub(crate) fn of(var: Var) -> Linear {
        Linear { terms: SmallVec::from_slice(&[(var, 1)]), constant: 0 }
    }

    /// The variables in it.
    pub(crate) fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|(var, _)| *var)
    }

    /// The variables and how often each is in it, and the number.
    pub(crate) fn parts(&self) -> (Vec<(Var, i64)>, i64) {
        (self.terms.to_vec(), self.constant)
    }

    /// The operand that it is, if it is one.
    pub(crate) fn atom(&self) -> Option<Atom> {
        match (self.terms.as_slice(), self.constant) {
            ([], n) => Some(Atom::Int(n)),
            ([(var, 1)], 0) => Some(Atom::Var(*var)),
            (_, _) => None,
        }
    }

    /// Whether it has few variables.
    pub(crate) fn is_small(&self) -> bool {
        self.terms.len() <= TERMS
    }

    /// Whether it is not negative because its variables are sizes of what is in memory.
    pub(crate) fn is_sum_of(&self, is_size: &dyn Fn(Var) -> bool) -> bool {
        let fits = |n: i64| (0..LARGE).contains(&n);
        fits(self.constant) && self.terms.iter().all(|(var, n)| fits(*n) && is_size(*var))
    }

    /// Whether it is made of sizes of what is in memory by sums and differences: it is not larger than such a sum.
    pub(crate) fn is_difference_of(&self, is_size: &dyn Fn(Var) -> bool) -> bool {
        let fits = |n: i64| (-LARGE..LARGE).contains(&n);
        fits(self.constant) && self.terms.iter().all(|(var, n)| fits(*n) && is_size(*var))
    }

    /// So many times the form.
    pub(crate) fn times(&self, n: i64) -> Linear {
        let terms = self.terms.iter().map(|(var, m)| (*var, m.wrapping_mul(n)));
        Linear { terms: terms.filter(|(_, n)| *n != 0).collect(), constant: self.constant.wrapping_mul(n) }
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Linear) -> Linear {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant);
        for (var, n) in &other.terms {
            match sum.terms.binary_search_by_key(var, |(var, _)| *var) {
                Err(place) => sum.terms.insert(place, (*var, *n)),
                Ok(place) => {
                    if let Some((_, m)) = sum.terms.get_mut(place) {
                        *m = m.wrapping_add(*n);
                    }
                }
            }
        }
        sum.terms.retain(|(_, n)| *n != 0);
        sum
    }

    /// The difference.
    pub(crate) fn minus(&self, other: &Linear) -> Linear {
        self.plus(&other.times(-1))
    }

    /// The form with a variable replaced.
    pub(crate) fn replace(&self, var: Var, by: &Linear) -> Linear {
        let Some((_, n)) = self.terms.iter().find(|(other, _)| *other == var) else { return self.clone() };
        self.plus(&Linear::of(var).times(n.wrapping_neg())).plus(&by.times(*n))
    }

    /// If the form is zero: the newest variable that is known then, and what it is.
    pub(crate) fn solve(&self) -> Option<(Var, Linear)> {
        let (var, n) = *self.terms.iter().rev().find(|(_, n)| *n == 1 || *n == -1)?;
        let rest = self.plus(&Linear::of(var).times(-n));
        Some((var, rest.times(-n)))
    }
}

#[cfg(test)]
mod tests {
    use super::Linear;
    use wengert_ir::{Atom, Var};

    #[test]
    fn sums_and_solutions() {
        let (x, y) = (Linear::of(Var(1)), Linear::of(Var(2)));
        let form = x.times(3).plus(&y.times(2)).minus(&x.times(2)).plus(&Linear::constant(5));
        assert_eq!(form, Linear::constant(5).plus(&y.plus(&y)).plus(&x));
        assert_eq!(form.solve(), Some((Var(1), y.times(-2).minus(&Linear::constant(5)))));
        assert_eq!(y.minus(&x).solve(), Some((Var(2), x.clone())));
        assert_eq!(form.replace(Var(1), &y.times(-2)).atom(), Some(Atom::Int(5)));
        assert_eq!(x.minus(&x).plus(&y).atom(), Some(Atom::Var(Var(2))));
        assert_eq!(x.times(2).solve(), None);
        assert_eq!(x.times(i64::MIN).times(2), Linear::constant(0));
    }
}
