//! Loops that add to neighbors.

use super::{text_of, with_options};
use crate::Math;
use wengert_ir::eval::Value;

/// Adds at the places `shifts` away from `i`, for the places from 2 on.
fn program(backward: bool, shifts: &[i64]) -> String {
    let mut body = String::from("j = i + 2 x = xs[j] ");
    let mut sum = "g".to_string();
    for (number, shift) in shifts.iter().enumerate() {
        body += &format!(
            "k{number} = j + {shift} c{number} = x * {}.5 g{number} = {sum} with [k{number}] += c{number} ",
            number + 1
        );
        sum = format!("g{number}");
    }
    let way = if backward { "each backward" } else { "each" };
    format!(
        "func f(xs: []Real) -> []Real {{
            n = length(xs)
            m = n - 4
            l = max(m, 0)
            zeros = zeros(xs)
            s = {way} i < l, g += zeros {{ {body} yield {sum} }}
            return s
        }}
        entry f = f"
    )
}

/// The same, one by one.
fn one_by_one(backward: bool, shifts: &[i64], xs: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; xs.len()];
    let count = xs.len().saturating_sub(4);
    for step in 0..count {
        let j = 2 + if backward { count - 1 - step } else { step };
        for (number, shift) in shifts.iter().enumerate() {
            let place = usize::try_from(j as i64 + shift).expect("the first and last two are left out");
            sums[place] += xs[j] * (number as f64 + 1.5);
        }
    }
    sums
}

#[test]
fn neighbors_are_added_to_in_strips_and_in_order() {
    let many = [[0, 1, 0], [1, 0, -1], [-2, 2, 1], [2, 2, -1]];
    for (backward, shifts) in [true, false].into_iter().flat_map(|way| many.map(|shifts| (way, shifts))) {
        let text = program(backward, &shifts);
        let made = text_of(&text, Math::Host);
        // What comes first is added at once.
        let first = if backward { shifts.iter().min() } else { shifts.iter().max() };
        let later = shifts.iter().filter(|shift| Some(*shift) != first).count();
        assert_eq!(made.matches("[512]").count(), later, "{made}");
        let Some((mut library, entry)) = with_options(&text, Math::Host, &["-O3"]) else { return };
        for count in [0, 3, 4, 5, 19, 20, 21, 515, 516, 517, 1028, 1700] {
            // In another order the sums would be others.
            let xs: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
            let found = library.call(entry, &[Value::reals(xs.clone())]).expect("it runs");
            let expected = one_by_one(backward, &shifts, &xs);
            let same = found.first().is_some_and(|sums| sums.same(&Value::reals(expected.clone())));
            assert!(same, "{backward} {shifts:?} {count}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn where_the_order_does_not_matter_strips_go_upward_and_keep_little() {
    for (backward, shifts) in [(true, [1, 0, 1]), (false, [0, 1, 0])] {
        let text = program(backward, &shifts);
        let made = text_of(&text, Math::Library);
        assert_eq!(made.matches("[512]").count(), 1, "{made}");
        assert!(!made.contains("- 512 : 0"), "{made}");
        let Some((mut library, entry)) = with_options(&text, Math::Library, &["-O3"]) else { return };
        for count in [0, 5, 21, 516, 1700] {
            let xs: Vec<f64> = (0..count).map(|i| f64::from(i % 37 + 1)).collect();
            let found = library.call(entry, &[Value::reals(xs.clone())]).expect("it runs");
            let expected = one_by_one(backward, &shifts, &xs);
            // Sums of halves of small numbers are exact.
            assert!(
                found.first().is_some_and(|sums| sums.same(&Value::reals(expected))),
                "{backward} {count}"
            );
        }
    }
}

/// Adds to neighbors, and besides to a number.
const BESIDE: &str = "func f(xs: []Real) -> ([]Real, Real) {
        n = length(xs)
        m = n - 1
        l = max(m, 0)
        zeros = zeros(xs)
        s, t = each backward i < l, g += zeros, a += 0.0 {
            x = xs[i] k = i + 1 y = xs[k] z = x * y
            b = g with [i] += x c = b with [k] += z d = a + z yield c, d
        }
        return s, t
    }
    entry f = f";

/// What a program gives for some numbers, with the arguments: they are small integers, so that sums of products are exact.
type Given = fn(&[f64]) -> (Vec<Value>, [Value; 2]);

/// Makes one strip, unless all is to be added in order, and gives for so many numbers what is expected.
fn gives(text: &str, counts: &[i32], expected: Given) {
    assert_eq!(text_of(text, Math::Host).matches("[512]").count(), 0);
    let made = text_of(text, Math::Library);
    assert_eq!(made.matches("[512]").count(), 1, "{made}");
    let Some((mut library, entry)) = with_options(text, Math::Library, &["-O3", "-fopenmp-simd"]) else {
        return;
    };
    for count in counts {
        let xs: Vec<f64> = (0..*count).map(|i| f64::from(i % 37 - 9)).collect();
        let (args, expected) = expected(&xs);
        let found = library.call(entry, &args).expect("it runs");
        let same = found.iter().zip(&expected).all(|(found, expected)| found.same(expected));
        assert!(found.len() == 2 && same, "{count}: {found:?} {expected:?}");
    }
}

#[test]
fn strips_add_to_variables_too_where_the_order_does_not_matter() {
    gives(BESIDE, &[0, 1, 2, 17, 512, 513, 514, 1700], |xs| {
        let mut sums = xs.to_vec();
        sums.iter_mut().last().into_iter().for_each(|last| *last = 0.0);
        let products: Vec<f64> = xs.iter().zip(xs.iter().skip(1)).map(|(x, y)| x * y).collect();
        sums.iter_mut().skip(1).zip(&products).for_each(|(sum, product)| *sum += product);
        let total = Value::Real(products.iter().sum::<f64>() + 0.0);
        (vec![Value::reals(xs.to_vec())], [Value::reals(sums), total])
    });
}

/// Adds to neighbors, and besides to elements that do not move, one of them of the same array.
const WEIGHED: &str = "func f(xs: []Real, ws: []Real) -> ([]Real, []Real) {
        n = length(xs)
        m = n - 1
        l = max(m, 0)
        zeros = zeros(xs)
        none = zeros(ws)
        s, t = each backward i < l, g += zeros, h += none {
            x = xs[i] k = i + 1 y = xs[k] z = x * y
            b = g with [i] += x c = b with [k] += z d = c with [0] += y
            u = h with [1] += y v = u with [0] += z yield d, v
        }
        return s, t
    }
    entry f = f";

#[test]
fn strips_add_to_elements_that_do_not_move_too_where_the_order_does_not_matter() {
    gives(WEIGHED, &[1, 2, 17, 512, 513, 514, 1700], |xs| {
        let (mut sums, mut weights) = (vec![0.0; xs.len()], [0.0; 2]);
        for (i, (x, y)) in xs.iter().zip(xs.iter().skip(1)).enumerate() {
            for (place, more) in [(i, *x), (i + 1, x * y), (0, *y)] {
                sums[place] += more;
            }
            weights = [weights[0] + x * y, weights[1] + y];
        }
        let args = vec![Value::reals(xs.to_vec()), Value::reals([5.0, 7.0])];
        (args, [Value::reals(sums), Value::reals(weights)])
    });
}

#[test]
fn what_reads_what_it_adds_to_is_in_no_strips() {
    let reads = "func f(xs: []Real) -> []Real {
            n = length(xs)
            m = n - 1
            zeros = zeros(xs)
            s = for i < m, g = zeros {
                x = xs[i] k = i + 1 y = g[i] z = x + y
                a = g with [k] += z b = a with [i] += x yield b
            }
            return s
        }
        entry f = f";
    assert_eq!(text_of(reads, Math::Host).matches("[512]").count(), 0);
    let Some((mut library, entry)) = with_options(reads, Math::Host, &["-O3"]) else { return };
    let found = library.call(entry, &[Value::reals([1.0, 2.0, 4.0])]).expect("it runs");
    assert!(found.first().is_some_and(|sums| sums.same(&Value::reals([1.0, 3.0, 3.0]))), "{found:?}");
}
