//! Where arrays are made: in their places, beside others, and not filled in first.

use super::{call, fault, gives, real};
use wengert_ir::eval::Value;

/// Rows that come out of branches are made where they belong too: nothing is made but `xs` and `ys`.
#[test]
fn rows_of_branches_are_made_in_their_places() {
    let text = r"
        func f(n: Int) -> (Real, Real, Real, Real) {
            xs = [2.0, 3.0]
            m = length(xs)
            ys = each i < n {
                first = i == 0
                row = if first {
                    yield xs
                } else {
                    second = i == 1
                    other = if second {
                        z = zeros(xs)
                        yield z
                    } else {
                        scaled = each j < m, x in xs { f = real(i) y = x * f yield y }
                        yield scaled
                    }
                    yield other
                }
                yield row
            }
            a = ys[0, 1]
            b = ys[1, 0]
            c = ys[2, 1]
            d = ys[3, 0]
            return a, b, c, d
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    assert_eq!(loops.matches("= alloc(").count(), 2, "{loops}");
    gives(text, &[Value::Int(4)], &[real(3.0), real(0.0), real(6.0), real(6.0)]);
}

/// Arrays that a loop makes, shifted by a place, are not copied: the number beside them goes where there is room for it.
#[test]
fn shifted_arrays_are_not_copied() {
    let text = |more: &str| {
        format!(
            "func f(n: Int, xs: []Real) -> (Real, Real, Real) {{
                m = n - 1
                ys, zs = each i < n, x in xs {{ y = x * 2.0 z = x * 3.0 yield y, z }}
                one = [1.0]
                before = slice(ys, 0, m)
                as = concat(one, before)
                two = [5.0, 7.0]
                after = slice(ys, 1, n)
                bs = concat(after, two)
                {more}
                s = for j < n, s0 = 0.0, a in as, y2 in ys {{ t = a * y2 s1 = s0 + t yield s1 }}
                b = bs[n]
                c = last[0]
                return s, b, c
            }}
            entry f = f"
        )
    };
    for (more, copies) in [
        ("last = concat(one, zs)", 0),
        // Of the room before an array there is one.
        ("nine = [9.0] last = concat(nine, before)", 2),
        // Another array is none of a loop.
        ("part = slice(xs, 0, m) last = concat(one, part)", 2),
        // It does not begin at its first element.
        ("part = slice(zs, 1, n) last = concat(one, part)", 2),
        // It is given away.
        ("ws = set(zs, 0, 2.0) last = concat(one, zs)", 3),
    ] {
        let text = text(more);
        let program = wengert_ir::parse(&text).expect("a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        assert_eq!(loops.matches("copy_words(").count(), copies, "{more}: {loops}");
        let entry = *program.entries.values().next().expect("it has an entry");
        for size in [1, 2, 9, 40] {
            let xs = Value::reals((0..size).map(|i| f64::from(i) + 0.5).collect::<Vec<f64>>());
            let args = [Value::Int(i64::from(size)), xs];
            let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
                .call(entry, args.to_vec())
                .expect("it runs");
            gives(&text, &args, &expected);
        }
    }
}

#[test]
fn rows_that_are_joined_are_made_in_their_place() {
    let text = r"
        func shifts(xs: []Real, k: Int) -> [][]Real {
            n = length(xs)
            m = n - 1
            out = each i < k {
                first = [1.0]
                rest = slice(xs, 0, m)
                row = concat(first, rest)
                yield row
            }
            return out
        }
        entry shifts = shifts";
    let loops = crate::loops::print(&crate::lower::lower(&wengert_ir::parse(text).expect("a program")));
    // One copy of each part, none of the row.
    assert_eq!(loops.matches("copy_words").count(), 2, "{loops}");
    let xs = Value::reals([2.0, 3.0, 4.0]);
    let given = call(text, &[xs, Value::Int(2)]);
    assert_eq!(
        given.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]"]
    );
    let none = Value::reals([]);
    let given = call(text, &[none.clone(), Value::Int(0)]);
    assert_eq!(given.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[]"]);
    assert_eq!(fault(text, &[none, Value::Int(1)]).message(), "`slice xs 0 -1`: the array has 0 elements");
}

/// Zeros to which a product is added at once are filled in where the product is made; not if somebody looks at them before or after,
/// and not where they may be another array's.
#[test]
fn zeros_that_only_a_product_is_added_to_are_not_filled_first() {
    let text = |more: &str, result: &str| {
        format!(
            "func f(x: []Real, y: []Real, z: []Real, w: Bool) -> ([][]Real, Real) {{
                n = length(x)
                m = length(y)
                row = replicate(m, 0.0)
                zeros = replicate(n, row)
                {more}
                p = add_product_backward({result}, x, z)
                some = p[0, 0]
                return p, some
            }}
            entry f = f"
        )
    };
    let row = |xs: &[f64]| Value::reals(xs.to_vec());
    let long: Vec<f64> = (0..40).map(|i| f64::from(i) - 3.5).collect();
    for (more, result, fills) in [
        // That of the row, and of the matrix where the sizes differ.
        ("", "zeros", 2),
        ("before = sin(0.5)", "zeros", 2),
        // What it is added to was looked at: it is filled before, and not filled where the sizes differ.
        ("seen = zeros[0, 0] other = set(zeros, 0, 0, seen)", "other", 2),
        ("view = zeros[0] seen = sum(view) other = set(zeros, 0, 0, seen)", "other", 2),
        ("one = if w { yield zeros } else { yield zeros }", "one", 2),
        ("one = set(zeros, 0, 0, 2.0)", "zeros", 2),
    ] {
        let text = text(more, result);
        let program = wengert_ir::parse(&text).expect("a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        assert_eq!(loops.matches("zero_words(").count(), fills, "{more}: {loops}");
        let first = loops.find("add_product(").expect("a product");
        let before = loops.get(..first).map_or(0, |text| text.matches("zero_words(").count());
        assert_eq!(before == 1, matches!(more, "" | "before = sin(0.5)"), "{more}: {loops}");
        let entry = *program.entries.values().next().expect("it has an entry");
        for (x, y, z) in [
            (row(&[1.0, -2.0]), row(&[3.0, 0.0]), row(&[3.0, f64::INFINITY])),
            (row(&[0.0, -2.0]), row(&long), row(&long)),
            (row(&long), row(&long), row(&long)),
            (row(&long), row(&[1.0, 2.0, 3.0]), row(&long)),
        ] {
            let args = [x, y, z, Value::Bool(true)];
            let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
                .call(entry, args.to_vec())
                .expect("it runs");
            gives(&text, &args, &expected);
        }
    }
}
