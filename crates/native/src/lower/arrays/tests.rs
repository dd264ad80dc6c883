//! How arrays are made.

#[test]
fn rows_of_zeros_are_made_at_once() {
    let text = "func f(n: Int) -> ([][]Real, [][]Real) {
            row = replicate(n, 0.0)
            a = replicate(n, row)
            one = replicate(n, 1.0)
            b = replicate(n, one)
            return a, b
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    assert_eq!(loops.matches("zero_words(").count(), 2, "{loops}");
    assert_eq!(loops.matches("for ").count(), 2, "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    let compiled =
        crate::Compiled::with_math(program, crate::Math::Strict, 1 << 30, std::sync::Arc::default());
    let made =
        compiled.expect("it compiles").call(entry, &[wengert_ir::eval::Value::Int(2)]).expect("it runs");
    let shown: Vec<String> = made.iter().map(|value| format!("{value:?}")).collect();
    let (zeros, ones) = (shown.first().expect("zeros"), shown.get(1).expect("ones"));
    assert_eq!(zeros.replace("0.0", "1.0"), *ones);
}

#[test]
fn rows_that_are_zeros_but_for_some_elements_are_made_in_their_place() {
    let text = "func f(xs: [][]Real) -> ([][]Real, [][]Real) {
            n = length(xs)
            a = each i < n, x in xs { zs = zeros(x) y = x[0] b = zs with [0] += 2.0 c = b with [1] += y yield c }
            d = each i < n, x in xs { us = zeros(x) b2 = us with [1] += 3.0 c2 = b2 with [0] += 4.0 e = sum(b2) g = c2 with [0] += e yield g }
            return a, d
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    // The second array's rows begin with what something else looks at.
    assert_eq!((loops.matches("alloc(").count(), loops.matches("zero_words(").count()), (3, 2), "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    let row = |numbers: [f64; 4]| wengert_ir::eval::Items::Reals(numbers.to_vec());
    let given = wengert_ir::eval::Value::array([2, 2], row([5.0, 6.0, 7.0, 8.0]));
    let compiled =
        crate::Compiled::with_math(program, crate::Math::Strict, 1 << 30, std::sync::Arc::default());
    let made = compiled.expect("it compiles").call(entry, &[given]).expect("it runs");
    let expected = [[2.0, 5.0, 2.0, 7.0], [7.0, 3.0, 7.0, 3.0]]
        .map(|numbers| wengert_ir::eval::Value::array([2, 2], row(numbers)));
    assert!(made.iter().zip(&expected).all(|(a, b)| a.same(b)), "{made:?}");
    assert_eq!(made.len(), 2);
}

#[test]
fn rows_that_are_written_out_are_made_in_their_place() {
    let text = "func f(x: Real) -> ([][]Real, [][][]Real, [][]Real, [][]Real, []Real) {
            a = [x, 1.0]
            b = [2.0, x]
            both = [a, b]
            c = [x, 3.0]
            d = [c]
            e = [4.0, 5.0]
            g = [e]
            cube = [d, g]
            twice = [x, 6.0]
            pair = [twice, twice]
            seen = [7.0, x]
            other = [8.0, 9.0]
            mixed = [seen, other]
            return both, cube, pair, mixed, seen
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    // Of rows that are used twice, and of what has one of these in it, each is made.
    assert_eq!(loops.matches("alloc(").count(), 7, "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    let array = |sizes: &[usize], numbers: &[f64]| {
        wengert_ir::eval::Value::array(
            sizes.iter().copied(),
            wengert_ir::eval::Items::Reals(numbers.to_vec()),
        )
    };
    let compiled =
        crate::Compiled::with_math(program, crate::Math::Strict, 1 << 30, std::sync::Arc::default());
    let mut compiled = compiled.expect("it compiles");
    let made = compiled.call(entry, &[wengert_ir::eval::Value::Real(0.5)]).expect("it runs");
    let expected = [
        array(&[2, 2], &[0.5, 1.0, 2.0, 0.5]),
        array(&[2, 1, 2], &[0.5, 3.0, 4.0, 5.0]),
        array(&[2, 2], &[0.5, 6.0, 0.5, 6.0]),
        array(&[2, 2], &[7.0, 0.5, 8.0, 9.0]),
        array(&[2], &[7.0, 0.5]),
    ];
    assert!(made.iter().zip(&expected).all(|(a, b)| a.same(b)), "{made:?}");
    assert_eq!(made.len(), expected.len());
    drop(made);
    assert_eq!(compiled.words_in_use(), 0);
}

/// Rows of branches, of sizes that only a run can tell to be the same.
const ROWS: &str = "func f(us: []Real, n: Int, m: Int) -> [][]Real {
    k = length(us)
    a = each i < n {
        c = i == 1
        row = if c { yield us } else {
            t = real(i)
            made = each j < m { x = us[j] y = x + t yield y }
            yield made
        }
        yield row
    }
    return a
}
entry f = f";

#[test]
fn rows_of_branches_are_made_in_their_place_where_their_sizes_agree() {
    let program = wengert_ir::parse(ROWS).expect("the text is a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    let (alike, others) = loops.split_once("\n    else {").expect("there are two loops");
    // The array; and else one for each row that is made, and the array when there is one, or none.
    assert_eq!((alike.matches("alloc(").count(), others.matches("alloc(").count()), (1, 3), "{loops}");
    let mut beside = crate::beside::Beside::new(&program, &[crate::Math::Strict, crate::Math::Fast]);
    for size in [0, 1, 2, 3, 40] {
        let us = wengert_ir::eval::Value::reals((0..size).map(f64::from).collect::<Vec<f64>>());
        for n in [0, 1, 2, 5] {
            for m in [size - 1, size, size + 1, 0] {
                let numbers = [n, m.max(0)].map(|n| wengert_ir::eval::Value::Int(i64::from(n)));
                let args: Vec<_> = std::iter::once(us.clone()).chain(numbers).collect();
                beside.agrees(&args, format_args!("{size} numbers, {n} rows of {m}"));
            }
        }
    }
}
