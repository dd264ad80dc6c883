//! The evaluator: hand-computed results for every operation, faults, limits, deep recursion.

use super::{Evaluator, Failure, Limits, Value};
use crate::{FuncId, Program, parse, verify};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use wengert_fault::Fault;

fn read(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(verify(&program), Ok(()), "{text}");
    program
}

/// The results of the function `main`, or the message of the fault.
fn run_with(text: &str, args: Vec<Value>, limits: Limits) -> (Result<Vec<Value>, Failure>, u64) {
    let program = read(text);
    let main = program.entries.get(&wengert_base::Name::new("main")).copied().unwrap_or(FuncId(0));
    let mut evaluator = Evaluator::new(&program, limits);
    let results = evaluator.call(main, args);
    (results, evaluator.flops())
}

fn shown(results: Result<Vec<Value>, Failure>) -> String {
    match results {
        Ok(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ; "),
        Err(failure) => failure.fault.message(),
    }
}

/// Results (or message) and flops of statements, which bind `y`, of the type written first.
fn check(cases: &[(&str, &str, &str, u64)]) {
    let mut wrong = Vec::new();
    for (ty, body, expected, flops) in cases {
        let text = format!(
            "data List {{\n Nil()\n Cons(Real, List)\n}}\nfunc main(x: Real, n: Int, xs: []Real, rows: [][]Real, ns: []Int) -> {ty} {{\n{body}\nreturn y\n}}"
        );
        let rows = Value::array([2, 3], super::Items::Reals(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let args = vec![
            Value::Real(2.5),
            Value::Int(7),
            Value::reals([3.0, 1.0, 2.0]),
            rows,
            Value::ints([2, 0, 2]),
        ];
        let (results, found) = run_with(&text, args, Limits::default());
        let results = shown(results);
        if results != *expected || found != *flops {
            wrong.push(format!("{body}\n  gives {results} with {found} flops, not {expected} with {flops}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scalars() {
    check(&[
        ("Real", "y = x * x", "6.25", 1),
        ("Real", "y = x - 1.0", "1.5", 1),
        ("Real", "y = x / 0.0", "Infinity", 1),
        ("Real", "y = -x", "-2.5", 1),
        ("Real", "y = exp(0.0)", "1.0", 4),
        ("Real", "y = max(x, NaN)", "NaN", 1),
        ("Real", "y = mul_zero(0.0, Infinity)", "0.0", 1),
        ("Real", "y = x ^ 2", "6.25", 1),
        ("Real", "m = n - 5\ny = x ^ m", "6.25", 1),
        ("Real", "m = n - 10\ny = 2.0 ^ m", "0.125", 4),
        ("Real", "y = power(x, 0)", "1.0", 0),
        ("Real", "a = polygamma(0, x)\nb = digamma(x)\ny = a - b", "0.0", 9),
        (
            "Real",
            "y = polygamma(-1, x)",
            "`polygamma -1`: the order must be 0 or more, and at most 4294967295",
            0,
        ),
        ("Int", "y = n + 9223372036854775807", "-9223372036854775802", 0),
        ("Int", "y = n - 10", "-3", 0),
        ("Int", "y = n * 6", "42", 0),
        ("Int", "m = -n\ny = m / 2", "-3", 0),
        ("Int", "m = -n\ny = m % 2", "-1", 0),
        ("Int", "m = -n\ny = div(m, 2)", "-4", 0),
        ("Int", "m = -n\ny = mod(m, 2)", "1", 0),
        ("Int", "y = n / 0", "`7 / 0`: an `Int` cannot be divided by zero", 0),
        ("Int", "y = n % 0", "`7 % 0`: an `Int` cannot be divided by zero", 0),
        ("Int", "y = div(n, 0)", "`div 7 0`: an `Int` cannot be divided by zero", 0),
        ("Int", "y = mod(n, 0)", "`mod 7 0`: an `Int` cannot be divided by zero", 0),
        ("Int", "y = -9223372036854775808 / -1", "-9223372036854775808", 0),
        ("Int", "y = abs(-9223372036854775808)", "-9223372036854775808", 0),
        ("Int", "y = sign(-3)", "-1", 0),
        ("Int", "y = min(n, 3)", "3", 0),
        ("Int", "y = max(n, 3)", "7", 0),
        ("Int", "y = n ^ 3", "343", 0),
        ("Int", "y = n ^ -1", "`7 ^ (-1)`: a negative power of an `Int` is no `Int`", 0),
        ("Int", "y = bit_and(n, 12)", "4", 0),
        ("Int", "y = bit_or(n, 8)", "15", 0),
        ("Int", "y = bit_xor(n, 2)", "5", 0),
        ("Int", "y = shift_left(n, 63)", "-9223372036854775808", 0),
        ("Int", "y = shift_right(-1, 60)", "15", 0),
        ("Int", "y = shift_left(n, 64)", "a shift by 64 bits", 0),
        ("Bool", "y = x < 3.0", "true", 0),
        ("Bool", "y = NaN == NaN", "false", 0),
        ("Bool", "y = NaN != NaN", "true", 0),
        ("Bool", "y = NaN >= x", "false", 0),
        ("Bool", "y = 3 <= 3", "true", 0),
        ("Bool", "y = true != false", "true", 0),
        ("Bool", "y = \"a\" > \"B\"", "true", 0),
        ("Real", "y = real(n)", "7.0", 0),
        ("Int", "y = floor(-2.5)", "-3", 0),
        ("Int", "y = ceil(-2.5)", "-2", 0),
        ("Int", "y = round(-2.5)", "-3", 0),
        ("Int", "y = truncate(-2.5)", "-2", 0),
        ("Int", "y = floor(1e19)", "`floor 1e19`: 1e19 is outside the range of `Int`", 0),
        ("Int", "y = round(NaN)", "`round NaN`: NaN is not a number", 0),
        ("Bool", "y = is_nan(x)", "false", 0),
        ("Bool", "c = is_nan(NaN)\ny = not(c)", "false", 0),
        ("Real", "c = n == 7\ny = select(c, x, 0.0)", "2.5", 0),
        ("Text", "a = show(x)\nb = show(n)\nc = a ++ b\nd = show(c)\ny = d ++ \"!\"", "\"\\\"2.57\\\"!\"", 0),
        ("Int", "y = string_length(\"λx\")", "2", 0),
        ("Real", "y: Real = fail(\"my fault\")", "my fault", 0),
        ("Unit", "y = ()", "()", 0),
        ("Real", "a, y = stop_gradient(n, x)", "2.5", 0),
    ]);
}

#[test]
fn arrays() {
    check(&[
        ("[]Real", "y = [x, 1.0]", "[2.5, 1.0]", 0),
        ("[][]Real", "y = [xs, xs]", "[[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]", 0),
        (
            "[][]Real",
            "a = [x]\ny = [xs, a]",
            "the rows of an array of arrays must agree: row 0 has size 3, row 1 has size 1",
            0,
        ),
        ("[][]Real", "y = empty [][]Real", "[]", 0),
        ("[]List", "a = Nil()\nb = Cons(x, a)\ny = [a, b]", "[0(), 1(2.5, 0())]", 0),
        ("[]Unit", "y = [(), ()]", "[(), ()]", 0),
        ("Int", "y = length(rows)", "2", 0),
        ("Int", "y = length(rows, 1)", "3", 0),
        ("Real", "y = xs[2]", "2.0", 0),
        ("Real", "y = xs[3]", "index 3 is out of range: the array has 3 elements", 0),
        ("Real", "y = xs[-1]", "index -1 is out of range: the array has 3 elements", 0),
        ("[]Real", "y = rows[1]", "[4.0, 5.0, 6.0]", 0),
        ("Real", "y = rows[1, 2]", "6.0", 0),
        ("Real", "y = rows[2, 9]", "index 2 is out of range: the array has 2 elements", 0),
        ("Real", "y = rows[1, 3]", "index 3 is out of range: the array has 3 elements", 0),
        ("[]Real", "y = xs with [1] = x", "[3.0, 2.5, 2.0]", 0),
        ("[][]Real", "y = rows with [0] = xs", "[[3.0, 1.0, 2.0], [4.0, 5.0, 6.0]]", 0),
        ("[][]Real", "y = rows with [1, 0] = x", "[[1.0, 2.0, 3.0], [2.5, 5.0, 6.0]]", 0),
        ("[]Real", "y = xs with [3] = x", "index 3 is out of range: the array has 3 elements", 0),
        (
            "[][]Real",
            "a = [x]\ny = rows with [0] = a",
            "the rows of an array of arrays must agree: row 1 has size 3, row 0 has size 1",
            0,
        ),
        ("[][]Real", "a = [x]\nb = [xs]\ny = b with [0] = a", "[[2.5]]", 0),
        ("[]Real", "y = xs with [1] += x", "[3.0, 3.5, 2.0]", 1),
        ("[][]Real", "y = rows with [1] += xs", "[[1.0, 2.0, 3.0], [7.0, 6.0, 8.0]]", 3),
        ("[][]Real", "a = empty []Real\ny = rows with [1] += a", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", 0),
        ("[]Real", "y = xs + xs", "[6.0, 2.0, 4.0]", 3),
        ("[]Real", "a = empty []Real\ny = a + xs", "[3.0, 1.0, 2.0]", 0),
        ("[]Real", "a = empty []Real\ny = xs + a", "[3.0, 1.0, 2.0]", 0),
        (
            "[]Real",
            "a = [x]\ny = xs + a",
            "`add`: the point is an array of 3 elements, but the tangent is an array of 1 element",
            0,
        ),
        ("[][]Real", "y = zeros(rows)", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]", 0),
        ("Real", "y = zeros(x)", "0.0", 0),
        ("[]Int", "y = iota(3)", "[0, 1, 2]", 0),
        ("[]Int", "y = iota(-1)", "`iota` cannot be given a negative count, and this one is -1", 0),
        (
            "[]Int",
            "y = iota(9223372036854775807)",
            "`iota` of 9223372036854775807 elements does not fit into memory",
            0,
        ),
        ("[]Int", "y = iota(1000000000000)", "the program uses more than the memory limit of 4 GiB", 0),
        ("[]Real", "y = replicate(2, x)", "[2.5, 2.5]", 0),
        ("[][]Real", "y = replicate(2, xs)", "[[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]", 0),
        ("[]List", "a = Nil()\ny = replicate(2, a)", "[0(), 0()]", 0),
        ("[]Text", "y = replicate(1, \"t\")", "[\"t\"]", 0),
        (
            "[]Real",
            "y = replicate(-2, x)",
            "`replicate` cannot be given a negative count, and this one is -2",
            0,
        ),
        ("[]Real", "y = concat(xs, xs)", "[3.0, 1.0, 2.0, 3.0, 1.0, 2.0]", 0),
        (
            "[][]Real",
            "a = [x]\nb = [a]\ny = concat(rows, b)",
            "the rows of an array of arrays must agree: row 0 has size 3, row 2 has size 1",
            0,
        ),
        ("[][]Real", "a = empty [][]Real\ny = concat(a, rows)", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", 0),
        ("[]Real", "y = flatten(rows)", "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", 0),
        (
            "[][]Real",
            "a = flatten(rows)\nb = transpose(rows)\ny = unflatten_like(a, b)",
            "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
            0,
        ),
        ("[]Real", "y = slice(xs, 1, 3)", "[1.0, 2.0]", 0),
        ("[]Real", "y = slice(xs, 1, 1)", "[]", 0),
        ("[]Real", "y = slice(xs, 2, 1)", "`slice xs 2 1`: the array has 3 elements", 0),
        ("[][]Real", "y = reverse(rows)", "[[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]", 0),
        ("[][]Real", "y = transpose(rows)", "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]", 0),
        (
            "[][]Real",
            "a = transpose(rows)\ny = transpose(rows, a)",
            "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]",
            0,
        ),
        ("[][]Real", "e = empty []Real\na = [e, e]\nb = transpose(a)\ny = transpose(b, a)", "[[], []]", 0),
        (
            "[][][]Real",
            "a = [rows, rows]\ny = transpose(a)",
            "[[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0], [4.0, 5.0, 6.0]]]",
            0,
        ),
        ("[]Real", "y = gather(xs, ns)", "[2.0, 3.0, 2.0]", 0),
        ("[][]Real", "a = [1, 1]\ny = gather(rows, a)", "[[4.0, 5.0, 6.0], [4.0, 5.0, 6.0]]", 0),
        ("[][]Real", "y = gather(rows, ns)", "index 2 is out of range: the array has 2 elements", 0),
        ("[]Real", "y = scatter_add(xs, ns, xs)", "[4.0, 1.0, 7.0]", 3),
        ("[]Int", "y = scatter_add(ns, ns, ns)", "[2, 0, 6]", 0),
        ("[][]Real", "a = [1, 1]\ny = scatter_add(rows, a, rows)", "[[1.0, 2.0, 3.0], [9.0, 12.0, 15.0]]", 6),
        (
            "[]Real",
            "a = [1]\ny = scatter_add(xs, a, xs)",
            "`scatter_add` needs arrays of the same size, but one has 1 element and the other 3 elements",
            0,
        ),
        ("[]Real", "a = [true, false, true]\ny = filter(xs, a)", "[3.0, 2.0]", 0),
        ("[]Real", "y = ravel(rows)", "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", 0),
        (
            "[][]Real",
            "a = transpose(rows)\nb = ravel(a)\ny = reshape(b, rows)",
            "[[1.0, 4.0, 2.0], [5.0, 3.0, 6.0]]",
            0,
        ),
    ]);
}

#[test]
fn reductions() {
    check(&[
        ("Real", "y = sum(xs)", "6.0", 2),
        ("Real", "a = [1e16, 1.0, 1.0, -1e16]\ny = sum(a)", "0.0", 3),
        ("Real", "a = empty []Real\ny = sum(a)", "0.0", 0),
        ("Int", "a = empty []Int\ny = product(a)", "1", 0),
        ("Int", "y = sum(ns)", "4", 0),
        ("Real", "y = product(xs)", "6.0", 2),
        ("Real", "y = maximum(xs)", "3.0", 2),
        ("Real", "a = [1.0, NaN, 2.0]\ny = maximum(a)", "NaN", 2),
        ("Int", "a = [1.0, NaN, 2.0]\ny = argmin(a)", "1", 2),
        ("Int", "y = argmax(ns)", "0", 0),
        ("Int", "y = minimum(ns)", "0", 0),
        ("Real", "a = empty []Real\ny = minimum(a)", "`minimum` of an empty array", 0),
        ("Int", "a = empty []Int\ny = argmax(a)", "`argmax` of an empty array", 0),
        ("Real", "y = dot(xs, xs)", "14.0", 5),
        ("Int", "y = dot(ns, ns)", "8", 0),
        (
            "Real",
            "a = [x]\ny = dot(a, xs)",
            "`dot` needs arrays of the same size, but one has 1 element and the other 3 elements",
            0,
        ),
        ("[]Real", "y = matvec(rows, xs)", "[11.0, 29.0]", 10),
        (
            "[]Real",
            "a = [x]\ny = matvec(rows, a)",
            "`matvec`: the rows of the first argument have 3 elements, but the second has 1",
            0,
        ),
        ("[]Real", "a = empty [][]Real\ny = matvec(a, xs)", "[]", 0),
        ("[][]Real", "a = transpose(rows)\ny = matmul(rows, a)", "[[14.0, 32.0], [32.0, 77.0]]", 20),
        (
            "[][]Real",
            "y = matmul(rows, rows)",
            "`matmul`: the rows of the first argument have 3 elements, but the second has 2",
            0,
        ),
        ("[]Real", "a = [x, 1.0]\ny = add_product(a, rows, xs)", "[13.5, 30.0]", 12),
        ("[]Real", "a = [x, 1.0]\ny = add_product_tn(xs, rows, a)", "[9.5, 11.0, 15.5]", 12),
        (
            "[][]Real",
            "a = [0.0, 1.0]\ny = add_product(rows, a, xs)",
            "[[1.0, 2.0, 3.0], [7.0, 6.0, 8.0]]",
            12,
        ),
        (
            "[][]Real",
            "a = [x, 1.0]\nb = [a, a]\ny = add_product_nt(b, rows, rows)",
            "[[16.5, 33.0], [34.5, 78.0]]",
            24,
        ),
        (
            "[][]Real",
            "a = [x, 1.0]\nb = [a, a]\ny = add_product_tt(rows, rows, b)",
            "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
            0,
        ),
        ("[][]Real", "y = add_product_tn(rows, 1, rows, xs)", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", 0),
        (
            "[][]Real",
            "a = [0.0, 2.0]\ny = add_product_tn(rows, 1, rows, a)",
            "[[1.0, 2.0, 3.0], [12.0, 15.0, 18.0]]",
            12,
        ),
        (
            "[][]Real",
            "a = [0.0, 2.0]\ny = add_product_tn(rows, 2, rows, a)",
            "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
            0,
        ),
        ("[]Real", "a = [x, x]\ny = add_product(a, rows, xs, rows, xs)", "[24.5, 60.5]", 24),
        (
            "[]Real",
            "r = [Infinity, 0.0]\na = [r]\nb = [0.0, Infinity]\nc = [x]\ny = add_product(c, a, b)",
            "[2.5]",
            4,
        ),
        (
            "[]Real",
            "r = [1e16, 1.0]\na = [r]\nb = [1.0, 1.0]\nc = [-1e16]\ny = add_product(c, a, b)",
            "[1.0]",
            4,
        ),
        (
            "[]Real",
            "r = [1e16, 1.0]\na = [r]\nb = [1.0, 1.0]\nc = [-1e16]\ny = add_product_backward(c, a, b)",
            "[0.0]",
            4,
        ),
        ("[]Real", "y = sort(xs)", "[1.0, 2.0, 3.0]", 0),
        (
            "[]Real",
            "a = [NaN, 2.0, -Infinity, 0.0, -0.0]\ny = sort(a)",
            "[-Infinity, 0.0, -0.0, 2.0, NaN]",
            0,
        ),
        ("[]Int", "a = [NaN, 2.0, -Infinity, 2.0]\ny = argsort(a)", "[2, 1, 3, 0]", 0),
        ("[]Text", "a = [\"b\", \"a\"]\ny = sort(a)", "[\"a\", \"b\"]", 0),
        ("[]Int", "y = argsort(ns)", "[1, 0, 2]", 0),
    ]);
}

#[test]
fn requirements() {
    let message = |what: &str| {
        let text = format!(
            "data List {{\n Nil()\n Cons(Real, List)\n}}\nfunc main() -> () {{\n require 3 == 3, {what}\n require 1 == 2, {what}\n}}"
        );
        shown(run_with(&text, Vec::new(), Limits::default()).0)
    };
    for (what, expected) in [
        (
            "same_size map2",
            "`map2` needs arrays of the same size, but one has 1 element and the other 2 elements",
        ),
        (
            "product_size matvec",
            "`matvec`: the rows of the first argument have 1 element, but the second has 2",
        ),
        ("named_size n 1", "the rows of this array should have size n = 1, but has 2"),
        ("rows", "the rows of an array of arrays must agree: row 0 has size 1, row 1 has size 2"),
        ("count build", "`build` of 1 elements does not fit into memory"),
        ("shape add", "`add`: the point is an array of 1 element, but the tangent is an array of 2 elements"),
        ("same_ctor add List", "`add`: the point is a `Cons`, but the tangent is another constructor"),
        (
            "reals unravel",
            "`unravel`: the point is a value that holds 1 `Real`, but the tangent is an array of 2 `Real`s",
        ),
    ] {
        assert_eq!(message(what), expected);
    }
    let below = "func main() -> () { n = -1 + 0 m = max(n, 0) require n == m, count build }";
    let negative = "`build` cannot be given a negative count, and this one is -1";
    assert_eq!(shown(run_with(below, Vec::new(), Limits::default()).0), negative);
}

#[test]
fn control() {
    check(&[
        ("Real", "c = n < 3\ny = if c {\n yield 1.0\n} else {\n z = x * 2.0\n yield z\n}", "5.0", 1),
        (
            "Real",
            "a = Nil()\nb = Cons(x, a)\ny = match b {\nNil() {\n yield 0.0\n}\nCons(h, t) {\n yield h\n}\n}",
            "2.5",
            0,
        ),
        ("[]Real", "y = each i < 3, a in xs {\n b = a * a\n yield b\n}", "[9.0, 1.0, 4.0]", 3),
        ("Real", "y = for i < 3, s = 0.0, a in xs {\n t = s * 10.0\n u = t + a\n yield u\n}", "312.0", 6),
        (
            "Real",
            "y = for backward i < 3, s = 0.0, a in xs {\n t = s * 10.0\n u = t + a\n yield u\n}",
            "213.0",
            6,
        ),
        ("[]Int", "s, y = for backward i < 3, s = 0 {\n t = s + 1\n yield t, i\n}", "[0, 1, 2]", 0),
        ("[]Int", "s, y = for backward i < 3, s = 0 {\n t = s + 1\n yield t, s\n}", "[2, 1, 0]", 0),
        ("Real", "y = reduce i < 3, m = -Infinity, a in xs {\n b = max(m, a)\n yield b\n}", "3.0", 3),
        (
            "[][]Real",
            "y = each i < 2, r in rows {\n b = reverse(r)\n yield b\n}",
            "[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]",
            0,
        ),
        (
            "[][]Int",
            "y = each i < 3 {\n b = iota(i)\n yield b\n}",
            "the rows of an array of arrays must agree: row 0 has size 0, row 1 has size 1",
            0,
        ),
        ("[][]Real", "y = each i < 0 {\n yield xs\n}", "[]", 0),
        (
            "[]Real",
            "y = each i < n, a in xs {\n yield a\n}",
            "internal error: a loop of length 7 has an input of size 3",
            0,
        ),
        (
            "[]Real",
            "z = zeros(xs)\ny = each i < 3, g += z, k in ns {\n h = g with [k] += x\n yield h\n}",
            "[2.5, 0.0, 5.0]",
            3,
        ),
        (
            "[]Int",
            "a, y = while k = 1 {\n c = k < 100\n yield c\n} do k {\n m = k * n\n yield m, k\n}",
            "[1, 7, 49]",
            0,
        ),
        ("Int", "y = while k = 1 {\n yield false\n} do k {\n yield k\n}", "1", 0),
        // What a loop captures is there in each iteration; what is used once more is not taken.
        (
            "Real",
            "b = xs with [0] = 0.0\ny = for i < 3, s = 0.0 {\n a = b[i]\n t = s + a\n yield t\n}",
            "3.0",
            3,
        ),
        ("[]Real", "a = xs with [0] = 9.0\ny = xs", "[3.0, 1.0, 2.0]", 0),
        (
            "Real",
            "c = n < 3\nz = if c {\n yield xs\n} else {\n b = xs with [0] = 5.0\n yield b\n}\na = xs[0]\nb = z[0]\ny = a * b",
            "15.0",
            1,
        ),
    ]);
}

const LISTS: &str = "\
data List {
  Nil()
  Cons(Real, List)
}

func count(n: Int) -> List {
  done = n == 0
  list = if done {
    nil = Nil()
    yield nil
  } else {
    m = n - 1
    rest = count(m)
    x = real(n)
    cell = Cons(x, rest)
    yield cell
  }
  return list
}

func total(list: List) -> Real {
  sum = match list {
    Nil() {
      yield 0.0
    }
    Cons(x, rest) {
      t = total(rest)
      s = x + t
      yield s
    }
  }
  return sum
}

func ends(n: Int, k: Int) -> Int {
  done = n == 0
  y = if done {
    yield k
  } else {
    m = n - 1
    j = k + 2
    z = ends(m, j)
    yield z
  }
  return y
}

func endless(n: Int) -> Int {
  y = endless(n)
  return y
}

func deeper(n: Int) -> Int {
  y = deeper(n)
  z = y + 1
  return z
}

func main(n: Int) -> (Real, Int) {
  list = count(n)
  sum = total(list)
  k = ends(n, 0)
  return sum, k
}

entry main = main
";

#[test]
fn recursion_a_million_deep_runs_and_its_data_is_freed() {
    // On a small stack: nothing may follow the program's recursion.
    let run = || {
        let (results, flops) = run_with(LISTS, vec![Value::Int(1_000_000)], Limits::default());
        assert_eq!(shown(results), "500000500000.0 ; 2000000");
        assert_eq!(flops, 1_000_000);
    };
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no overflow");
    // A shared deep list is dropped and compared without recursion too.
    let program = read(LISTS);
    let count = FuncId(0);
    let mut evaluator = Evaluator::new(&program, Limits::default());
    let lists = evaluator.call(count, vec![Value::Int(1_000_000)]).expect("it runs");
    let others = evaluator.call(count, vec![Value::Int(1_000_000)]).expect("it runs");
    assert!(lists[0].same(&others[0]));
    assert!(!lists[0].same(&Value::data(0, [])));
}

#[test]
fn tail_calls_take_no_stack() {
    let program = read(LISTS);
    let limits = Limits { max_memory: 1 << 20, ..Limits::default() };
    let mut evaluator = Evaluator::new(&program, limits);
    let results = evaluator.call(FuncId(2), vec![Value::Int(300_000), Value::Int(0)]);
    assert_eq!(shown(results), "600000");
}

#[test]
fn limits_stop_a_program() {
    let program = read(LISTS);
    let (endless, deeper) = (FuncId(3), FuncId(4));
    let run = |func, limits| {
        let failure =
            Evaluator::new(&program, limits).call(func, vec![Value::Int(0)]).expect_err("it is endless");
        failure.fault
    };
    let default = Limits::default;
    assert_eq!(run(endless, Limits { max_steps: Some(10_000), ..default() }), Fault::Steps { limit: 10_000 });
    let limit = Duration::from_millis(20);
    assert_eq!(run(endless, Limits { timeout: Some(limit), ..default() }), Fault::Time { limit });
    let interrupt = Some(Arc::new(AtomicU64::new(1)));
    assert_eq!(run(endless, Limits { interrupt, ..default() }), Fault::Interrupted);
    let memory = run(deeper, Limits { max_memory: 10 << 20, ..default() });
    assert!(matches!(memory, Fault::Memory { limit: 10_485_760, .. }), "{memory:?}");
}

#[test]
fn a_limit_on_steps_is_for_each_call() {
    let program = read(LISTS);
    let mut evaluator = Evaluator::new(&program, Limits { max_steps: Some(5_000), ..Limits::default() });
    for _ in 0..5 {
        assert_eq!(shown(evaluator.call(FuncId(2), vec![Value::Int(500), Value::Int(0)])), "1000");
    }
}

#[test]
fn an_array_that_nobody_else_has_is_changed_in_place() {
    // 20,000 updates of 20,000 elements: 400 million steps if each were a copy.
    let text = "\
func main(n: Int) -> Real {
  zeros = replicate(n, 0.0)
  xs = for i < n, xs = zeros {
    x = real(i)
    c = i < 10
    ys = if c {
      yield xs
    } else {
      ys = xs with [i] = x
      yield ys
    }
    yield ys
  }
  k, ys = while k = 0, ys = xs {
    a = ys[k]
    c = a < 19999.0
    b = k < 10
    t = select(b, true, c)
    yield t
  } do k, ys {
    zs = ys with [k] += 1.0
    m = k + 1
    yield m, zs
  }
  s = sum(ys)
  return s
}";
    let limits = Limits { max_steps: Some(2_000_000), ..Limits::default() };
    let (results, _) = run_with(text, vec![Value::Int(20_000)], limits);
    // 10 + … + 19999, and one more for each of the first 19999.
    assert_eq!(shown(results), "200009954.0");
}

#[test]
fn derivatives_must_be_made_first() {
    let text = "\
func f(x: Real) -> Real {
  return x
}
func rule(x: Real, dx: Real) -> (Real, Real) {
  return x, dx
}
func main(x: Real) -> Real {
  a = custom jvp f[](x), rule[]
  y, dy = jvp f(a; x)
  return dy
}
entry main = main
";
    let (results, _) = run_with(text, vec![Value::Real(1.0)], Limits::default());
    assert_eq!(shown(results), "internal error: `jvp`: derivatives must be made first");
}

#[test]
fn every_function_of_the_program_with_every_operation_is_run_or_refused_with_a_reason() {
    let program = read(crate::parse::tests::EVERYTHING);
    let expected = [
        ("pair", "1.5 ; 3.0"),
        ("reals", "NaN"),
        ("ints", "16"),
        ("scalars", "true ; 1 ; \"\\\"1.5\\\"\""),
        ("data", "1(1.5, 0()) ; 1(1.5, 1.5) ; 1(1.5, [1, 2], \"long\") ; 0()"),
        ("arrays", "`matvec`: the rows of the first argument have 1 element, but the second has 0"),
        ("loops", "internal error: a loop of length 1 has an input of size 0"),
        ("rule", "2.25 ; 2.25"),
        ("derivatives", "internal error: `jvp`: derivatives must be made first"),
    ];
    for (name, expected) in expected {
        let (id, func) = program.funcs.iter().find(|(_, func)| func.name.as_str() == name).expect(name);
        let args = func.param_types().iter().map(|ty| sample(*ty)).collect();
        let results = Evaluator::new(&program, Limits::default()).call(id, args);
        assert_eq!(shown(results), expected, "{name}");
    }
}

/// A value of a type: 1, or an array without rows.
fn sample(ty: crate::Ty) -> Value {
    use crate::Elem;
    match (ty.rank(), ty.elem()) {
        (0, Elem::Real) => Value::Real(1.5),
        (0, Elem::Int) => Value::Int(1),
        (0, Elem::Bool) => Value::Bool(true),
        (0, Elem::Text) => Value::text("t"),
        (0, Elem::Unit) => Value::Unit,
        (0, Elem::Data(_)) => Value::data(0, []),
        (rank, elem) => super::array::empty(elem, rank),
    }
}
