//! Loops with edges, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::Program;
use wengert_ir::eval::Value;

fn program(text: &str) -> Program {
    wengert_ir::parse::parse(text).expect("the text is a program")
}

/// The loops of a program, as text.
fn split(program: &Program) -> String {
    split_for(program, true)
}

/// The same for machine code (`checks`), or for C.
fn split_for(program: &Program, checks: bool) -> String {
    let mut loops = crate::lower::lower(program);
    crate::dead::clean(&mut loops);
    super::split(&mut loops, checks);
    crate::loops::print(&loops)
}

/// The same for any number of elements, failures included.
fn agrees(program: &Program, counts: &[i32], more: &[i64]) {
    let mut beside = Beside::new(program, &[Math::Strict]);
    for count in counts {
        let xs: Vec<f64> = (0..*count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
        for n in more.iter().map(|more| (i64::from(*count) + more).max(0)) {
            beside.agrees(&[Value::reals(xs.clone()), Value::Int(n)], format_args!("{count} {n}"));
        }
    }
}

const COUNTS: [i32; 12] = [0, 1, 2, 3, 15, 16, 17, 18, 19, 33, 64, 513];

#[test]
fn loops_around_loops_have_edges_only_where_there_are_branches() {
    // A choice is nothing beside what the loop inside does.
    let around = |first: &str| {
        program(&format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                s = each i < n {{
                    c = i == 0
                    {first}
                    t = for j < n, t2 = y, x in xs {{ z = x * y t3 = t2 + z yield t3 }}
                    yield t
                }}
                return s
            }}
            entry f = f"
        ))
    };
    for (first, edges) in
        [("y = select(c, 0.5, 2.0)", 0), ("y = if c { yield 0.5 } else { a = real(i) yield a }", 1)]
    {
        let program = around(first);
        for checks in [true, false] {
            let loops = split_for(&program, checks);
            let more =
                loops.matches("for ").count() - split_for(&around("y = 0.5"), checks).matches("for ").count();
            assert_eq!(usize::from(more > 0), edges, "{loops}");
        }
        agrees(&program, &COUNTS, &[0]);
    }
}

#[test]
fn between_the_edges_nobody_asks_where_they_are() {
    for way in ["each", "each backward"] {
        let program = program(&format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = max(n, 0)
                l = m - 1
                s = {way} i < m {{
                    first = i == 0
                    y = if first {{ yield 0.5 }} else {{
                        last = i == l
                        z = if last {{ yield 0.25 }} else {{
                            j = i - 1 a = xs[j] k = i + 1 b = xs[k] d = b - a yield d
                        }}
                        yield z
                    }}
                    yield y
                }}
                return s
            }}
            entry f = f"
        ));
        let loops = split(&program);
        let between = loops.split("for ").nth(2).expect("three loops");
        assert!(!between.contains("if ") && !between.contains("out_of_range"), "{loops}");
        assert_eq!(loops.matches("for ").count(), 3, "{loops}");
        agrees(&program, &COUNTS, &[0, -1, 1, 2, 5]);
    }
}

#[test]
fn what_both_edges_say_together_is_known_between_them() {
    let program = program(
        "func f(xs: []Real, n: Int) -> []Real {
            m = max(n, 0)
            l = m - 1
            s = each i < m {
                first = i == 0
                last = i == l
                edge = select(first, true, last)
                y = if edge { yield 0.5 } else { j = i - 1 a = xs[j] k = i + 1 b = xs[k] d = b - a yield d }
                yield y
            }
            return s
        }
        entry f = f",
    );
    let loops = split(&program);
    let between = loops.split("for ").nth(2).expect("three loops");
    assert!(!between.contains("if ") && !between.contains("out_of_range"), "{loops}");
    agrees(&program, &COUNTS, &[0, -1, 1, 2, 5]);
}

#[test]
fn places_that_go_round_are_sums_between_the_edges() {
    for (round, shift) in
        ["mod(k, m)", "k % m"].into_iter().flat_map(|round| [-2, 1, 3].map(|shift| (round, shift)))
    {
        let text = format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = max(n, 0)
                s = each i < m {{
                    j = i + m k = j + {shift} l = {round} x = xs[l]
                    o = i - 1 p = mod(o, m) y = xs[p]
                    z = x - y yield z
                }}
                return s
            }}
            entry f = f"
        );
        let program = program(&text);
        let loops = split(&program);
        let between = loops.split("for ").nth(2).expect("three loops");
        assert!(!between.contains("out_of_range") && !between.contains("select"), "{loops}");
        agrees(&program, &COUNTS, &[0, -1, 1]);
    }
}

#[test]
fn comparisons_with_the_ends_are_edges_and_others_stay() {
    for (compare, splits) in [
        ("i < 1", true),
        ("0 < i", true),
        ("i <= 2", true),
        ("i >= l", true),
        ("l > i", true),
        ("l <= i", true),
        ("i != 7", true),
        ("i == h", true),
        ("k < h", false),
    ] {
        let program = program(&format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = max(n, 0) l = m - 1 h = m / 2
                s = each i < m {{ k = i * i c = {compare} y = if c {{ yield 0.5 }} else {{ x = sin(2.5) yield x }} yield y }}
                return s
            }}
            entry f = f"
        ));
        let loops = split(&program);
        assert_eq!(loops.matches("for ").count() >= 3, splits, "{compare}: {loops}");
        agrees(&program, &COUNTS, &[0]);
    }
}

#[test]
fn checks_of_all_iterations_are_made_before() {
    let program = program(
        "func f(xs: []Real, n: Int) -> []Real {
            m = max(n, 0)
            s = each i < m { j = i + 3 a = xs[j] k = n - i b = xs[k] c = xs[5] d = a - b e = d * c yield e }
            return s
        }
        entry f = f",
    );
    let loops = split(&program);
    let between = loops.split("for ").nth(1).expect("two loops");
    let between = between.split("else").next().expect("a branch");
    assert!(!between.contains("out_of_range"), "{loops}");
    agrees(&program, &COUNTS, &[0, -2, -3, -4, -20]);
}

/// Of a loop over an array that asks what it is told, where `k` is any number, with `l`, which is another one.
fn asking(way: &str, asks: &str, below: &str, above: &str) -> Program {
    program(&format!(
        "func f(xs: []Real, k: Int) -> []Real {{
            m = length(xs)
            s = {way} i < m {{
                l = k - 3 d = k - i t = i + 7 u = k + i
                c = {asks}
                y = if c {{ {below} yield y }} else {{ {above} yield y }}
                yield y
            }}
            return s
        }}
        entry f = f"
    ))
}

#[test]
fn each_range_of_indices_has_a_loop_that_asks_nothing() {
    for way in ["each", "each backward"] {
        for (asks, ranges) in [
            ("i < k", 2),
            ("i <= k", 2),
            ("k > i", 2),
            ("i >= l", 2),
            ("l != i", 3),
            ("i == k", 3),
            ("d > 5", 2),
            ("t <= k", 2),
            ("u < 40", 2),
        ] {
            let program = asking(way, asks, "y = xs[i]", "a = xs[i] y = a * 0.5");
            let loops = split(&program);
            let parts = loops.split("else {").nth(3).unwrap_or_default();
            assert!(loops.matches("for ").count() > ranges, "{asks}: {loops}");
            assert!(!parts.contains(" < k"), "{asks}: {loops}");
            agrees(&program, &COUNTS, &[0, -1, 1, -5, -9, 3, -10, -2_000, 1 << 50, i64::MAX - 600]);
        }
    }
}

/// Where a branch around loops may change anywhere, those in both of its arms have edges of their own.
#[test]
fn loops_on_both_sides_of_what_may_be_anywhere_are_divided() {
    let program = program(
        "func f(xs: []Real, k: Int) -> [][]Real {
            n = length(xs)
            g = each i < n, y in xs {
                c = i <= k
                row = each j < n, x in xs {
                    v = if c { yield y } else {
                        d = j < k
                        u = if d { yield x } else { at = j - k z = xs[at] e = z * y yield e }
                        yield u
                    }
                    yield v
                }
                yield row
            }
            return g
        }
        entry f = f",
    );
    for checks in [true, false] {
        let mut loops = crate::lower::lower(&program);
        crate::parallel::divide(&mut loops, true, false);
        crate::dead::clean(&mut loops);
        super::split(&mut loops, checks);
        let loops = crate::loops::print(&loops);
        // In each of the three loops around there are both.
        let part = loops.split("func ").find(|func| func.starts_with("f_part")).unwrap_or_default();
        assert!(part.matches("for ").count() >= 3 + 2 * 3, "{checks}: {loops}");
    }
    let mut beside = Beside::new(&program, &[Math::Strict]);
    for count in [0, 1, 3, 16, 17, 40] {
        let xs: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
        for k in [-3, 0, 1, 7, 16, 39, 40, 1 << 59, i64::MAX, i64::MIN] {
            beside.agrees(&[Value::reals(xs.clone()), Value::Int(k)], format_args!("{count} {k}"));
        }
    }
}

#[test]
fn where_one_index_is_left_out_there_are_two_loops_in_c_too() {
    for (asks, one, others) in [("i == k", "y = 1.0", "y = xs[i]"), ("i != k", "y = xs[i]", "y = 1.0")] {
        let loops = split_for(&asking("each", asks, one, others), false);
        assert_eq!(loops.matches("for ").count(), 4, "{asks}: {loops}");
    }
    // The C compiler does that itself.
    let loops = split_for(&asking("each", "i < k", "y = 1.0", "y = xs[i]"), false);
    assert_eq!(loops.matches("for ").count(), 1, "{loops}");
    // Nothing is left of a range in which nothing is done.
    let program = program(
        "func f(xs: []Real, k: Int) -> []Real {
            n = length(xs)
            vs = zeros(xs)
            g = each i < n, h += vs, x in xs {
                c = i == k
                h2 = if c { yield h } else { h1 = h with [i] += x yield h1 }
                yield h2
            }
            return g
        }
        entry f = f",
    );
    let loops = split_for(&program, false);
    assert_eq!(loops.matches("for ").count(), 3, "{loops}");
    agrees(&program, &COUNTS, &[0, -1, 1, -5, -9, 3, -10, -2_000, 1 << 50, i64::MAX - 600]);
}

#[test]
fn ranges_fail_where_the_loop_failed() {
    for (asks, below, above) in [
        ("i < k", "y = xs[i]", "j = i + 2 y = xs[j]"),
        ("i == k", "y = xs[l]", "j = i - 1 y = xs[j]"),
        ("i >= k", "y = xs[d]", "j = m - i y = xs[j]"),
        ("u < 3", "y = xs[u]", "y = 1.0"),
    ] {
        let program = asking("each", asks, below, above);
        agrees(&program, &COUNTS, &[0, -1, 1, -9, -20, 2_000, i64::MAX - 600]);
    }
}

#[test]
fn loops_stay_whole_that_ask_for_what_changes() {
    let whole = |text: &str| {
        let program = program(text);
        let loops = split(&program);
        agrees(&program, &COUNTS, &[0, -5, 5]);
        loops.matches("for ").count() == 1
    };
    // What is compared with is carried.
    assert!(whole(
        "func f(xs: []Real, n: Int) -> Int {
            m = length(xs)
            s = for i < m, s = n { c = i < s t = if c { a = s - 2 yield a } else { b = i * s yield b } yield t }
            return s
        }
        entry f = f"
    ));
    // Reals are compared.
    assert!(whole(
        "func f(xs: []Real, n: Int) -> []Real {
            m = length(xs) r = real(n)
            s = each i < m { x = real(i) c = x < r y = if c { a = sin(x) yield a } else { yield x } yield y }
            return s
        }
        entry f = f"
    ));
}

#[test]
fn sizes_that_are_asked_not_to_be_negative_are_what_they_are_of() {
    let program = program(
        "func f(xs: []Real, n: Int) -> []Real {
            l = n - 2
            m = max(l, 0)
            k = n - 5
            s = each i < m {
                first = i >= 2
                y = if first { j = i - 2 a = xs[j] yield a } else { yield 0.0 }
                before = i < k
                z = if before { j2 = i + 3 b = xs[j2] yield b } else { yield 0.0 }
                d = y + z
                yield d
            }
            return s
        }
        entry f = f",
    );
    let loops = split(&program);
    let between = loops.split("for ").nth(2).expect("three loops");
    assert!(!between.contains("if ") && !between.contains("out_of_range"), "{loops}");
    agrees(&program, &COUNTS, &[0, 1]);
}

/// One iteration in the middle that is another than the others is no edge: half of the loop would ask.
#[test]
fn what_is_in_the_middle_is_asked_in_the_loop() {
    let around = |point: &str| {
        program(&format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = length(xs)
                h = {point}
                ys = each i < m, x in xs {{
                    first = i == 0
                    y = if first {{ yield 0.0 }} else {{ j = i - 1 z = xs[j] yield z }}
                    c = i == h
                    d = select(c, 1.0, 0.5)
                    z = x + y
                    w = z * d
                    yield w
                }}
                return ys
            }}
            entry f = f"
        ))
    };
    // In each of the three loops; or in two of them.
    let asked = |point: &str| split(&around(point)).matches("then 1.0 else 0.5").count();
    assert_eq!((asked("m / 2"), asked("n + 0"), asked("m - 1")), (3, 3, 2));
    for point in ["m / 2", "n + 0", "m - 1"] {
        agrees(&around(point), &COUNTS, &[0, -1, -3, 7]);
    }
}
