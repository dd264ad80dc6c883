//! Parts that refer to the same objects, and what they make: references are counted as they are in a whole loop, and nothing is left.

use super::{SIZES, agrees, bits, reals};
use crate::parallel::divide;
use crate::{Compiled, Manner, Math};
use std::sync::Arc;
use wengert_ir::eval::Value;

/// Lists, and a function of them that is some work.
const LISTS: &str = "data list { Nil() Cons(Real, list) }
    func total(l: list) -> Real {
        s = match l {
            Nil() { yield 0.0 }
            Cons(x, rest) { t = total(rest) u = x + t yield u }
        }
        return s
    }";

#[test]
fn a_loop_whose_iterations_refer_to_one_object_stays_whole() {
    // Each iteration keeps a reference to the same list.
    let text = format!(
        "{LISTS}
        func f(xs: []Real) -> ([]Real, []Real) {{
            n = length(xs)
            nil = list::Nil()
            shared = list::Cons(2.0, nil)
            ls = each i < n, x in xs {{
                y = total(shared)
                z = x + y
                mine = list::Cons(z, shared)
                yield mine
            }}
            ys = each i < n, l in ls {{ s = total(l) yield s }}
            return ys, xs
        }}
        entry f = f"
    );
    agrees(&text, (1, 1), SIZES);
}

#[test]
fn what_parts_make_outlives_them() {
    agrees(
        "data tree { Leaf(Real) Node(tree, tree) Row([]Real) }
        func grow(depth: Int, x: Real) -> tree {
            done = depth == 0
            t = if done { l = tree::Leaf(x) yield l } else {
                d = depth - 1
                y = x * 0.5
                a = grow(d, y)
                z = sin(x)
                b = grow(d, z)
                n = tree::Node(a, b)
                yield n
            }
            return t
        }
        func total(t: tree) -> Real {
            s = match t {
                Leaf(x) { yield x }
                Node(a, b) { u = total(a) v = total(b) w = u + v yield w }
                Row(xs) { s = sum(xs) yield s }
            }
            return s
        }
        func f(xs: []Real) -> ([]Real, Real) {
            n = length(xs)
            trees = each i < n, x in xs {
                depth = i % 5
                t = grow(depth, x)
                long = depth == 4
                u = if long {
                    m = i % 60
                    row = each j < m { r = real(j) p = r * x yield p }
                    k = tree::Row(row)
                    v = tree::Node(t, k)
                    yield v
                } else { yield t }
                yield u
            }
            sums = each i < n, t in trees { s = total(t) yield s }
            last = for i < n, s = 0.0, t in trees { u = total(t) v = u + s yield v }
            return sums, last
        }
        entry f = f",
        // One of them is the sum of a row.
        (2, 4),
        &[0, 1, 2, 63, 100, 3000],
    );
}

#[test]
fn parts_count_references_to_the_same_objects_atomically() {
    // Elements of one array are taken into others, some of them several times.
    let text = format!(
        "{LISTS}
        func f(xs: []Real) -> []Real {{
            n = length(xs)
            nil = list::Nil()
            few = each i < 7 {{ r = real(i) l = list::Cons(r, nil) k = list::Cons(0.5, l) yield k }}
            many = each i < n, x in xs {{
                j = i % 7
                l = few[j]
                y = total(l)
                z = x + y
                k = list::Cons(z, l)
                yield k
            }}
            both = each i < n, l in many {{
                j = n - i
                o = j - 1
                m = many[o]
                x = total(m)
                k = list::Cons(x, l)
                yield k
            }}
            ys = each i < n, l in both {{ s = total(l) yield s }}
            return ys
        }}
        entry f = f"
    );
    agrees(&text, (3, 3), &[0, 1, 2, 63, 100, 20_000]);
}

#[test]
fn where_references_are_most_of_the_work_a_loop_stays_whole() {
    let text = format!(
        "{LISTS}
        func f(xs: []Real) -> []Real {{
            n = length(xs)
            nil = list::Nil()
            few = each i < 7 {{ r = real(i) l = list::Cons(r, nil) yield l }}
            many = each i < n, x in xs {{ j = i % 7 l = few[j] k = list::Cons(x, l) yield k }}
            ys = each i < n, l in many {{ s = total(l) yield s }}
            return ys
        }}
        entry f = f"
    );
    agrees(&text, (1, 1), &[100, 20_000]);
}

/// Of each part of a program, whether it counts references atomically, if all loops are long.
fn shared(text: &str) -> Vec<bool> {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    let before = loops.funcs.len();
    divide(&mut loops, true, true);
    loops.funcs.iter().skip(before).map(|(_, func)| func.shared).collect()
}

#[test]
fn copies_of_references_are_counted_atomically() {
    // Each iteration copies an array of lists: one that all of them copy, or one of its own.
    let text = |few: &str| {
        format!(
            "{LISTS}
            func f(xs: []Real) -> []Real {{
                n = length(xs)
                nil = list::Nil()
                some = each i < 7 {{ r = real(i) l = list::Cons(r, nil) yield l }}
                ys = each i < n, x in xs {{
                    own = each j < 7 {{ r = real(j) l = list::Cons(r, nil) yield l }}
                    both = concat({few}, {few})
                    j = i % 14
                    l = both[j]
                    y = total(l)
                    z = x + y
                    yield z
                }}
                return ys
            }}
            entry f = f"
        )
    };
    for (few, expected, count) in [("some", true, 0), ("own", false, 1)] {
        assert_eq!(shared(&text(few)), [false, expected], "{few}");
        agrees(&text(few), (count, count), &[0, 1, 100, 20_000]);
    }
}

/// The most bytes that a program has while so many rounds make trees and take them apart.
fn peak(text: &str, threads: usize, rounds: i64) -> (String, u64) {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let manner = Manner { math: Math::Strict, mark: None, short_loops: true, lanes: crate::LANES };
    let (mut compiled, _) = Compiled::made(program, manner, 1 << 32, Arc::default()).expect("it compiles");
    compiled.set_threads(threads);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let before = compiled.words_in_use();
    let made = compiled.call(entry, &[reals(5_000), Value::Int(rounds)]).map_err(|failure| failure.fault);
    assert_eq!(compiled.words_in_use(), before, "memory is left with {threads} threads");
    (bits(&made), compiled.peak_bytes())
}

#[test]
fn memory_is_used_again_whichever_thread_has_freed_it() {
    // Trees with a long and a short array in each, made by parts, put into others by parts, and freed by all threads or by one.
    let text = "data tree { Leaf(Real) Node(tree, tree) Row([]Real) }
        func grow(depth: Int, x: Real) -> tree {
            done = depth == 0
            t = if done { l = tree::Leaf(x) yield l } else {
                d = depth - 1
                y = x * 0.5
                a = grow(d, y)
                z = x + 0.25
                b = grow(d, z)
                n = tree::Node(a, b)
                yield n
            }
            return t
        }
        func turned(t: tree) -> tree {
            s = match t {
                Leaf(x) { y = x * 0.75 l = tree::Leaf(y) yield l }
                Node(a, b) { u = turned(b) v = turned(a) w = tree::Node(u, v) yield w }
                Row(xs) { m = length(xs) ys = each j < m, x in xs { y = x + 1.0 yield y } r = tree::Row(ys) yield r }
            }
            return s
        }
        func total(t: tree) -> Real {
            s = match t {
                Leaf(x) { yield x }
                Node(a, b) { u = total(a) v = total(b) w = u + v yield w }
                Row(xs) { s = sum(xs) yield s }
            }
            return s
        }
        func f(xs: []Real, rounds: Int) -> Real {
            n = length(xs)
            s = for k < rounds, s = 0.0 {
                trees = each i < n, x in xs {
                    odd = i % 3
                    depth = 2 + odd
                    t = grow(depth, x)
                    m = odd * 30
                    row = each j < m { r = real(j) p = r * x yield p }
                    u = tree::Row(row)
                    v = tree::Node(t, u)
                    yield v
                }
                others = each i < n, t in trees { u = turned(t) yield u }
                sums = each i < n, t in others { u = total(t) yield u }
                u = for i < n, u = s, y in sums { v = u + y w = v * 0.5 yield w }
                yield u
            }
            return s
        }
        entry f = f";
    let (truth, one) = peak(text, 1, 60);
    for threads in [2, 3, 4] {
        let (made, several) = peak(text, threads, 60);
        assert_eq!(made, truth, "{threads} threads");
        // Each thread has a chunk and some objects of each size of its own.
        assert!(
            several < one + one / 2 + (threads as u64) * (1 << 20),
            "{threads} threads: {several} and {one}"
        );
    }
}

#[test]
fn what_others_made_is_counted_atomically() {
    // A part gives a function elements of an array that is not its own, some of which are one object.
    agrees(
        "data list { Nil() Cons(Real, list) }
        func after(l: list) -> list {
            s = match l { Nil() { yield l } Cons(x, rest) { yield rest } }
            return s
        }
        func total(l: list) -> Real {
            s = match l {
                Nil() { yield 0.0 }
                Cons(x, rest) { t = total(rest) u = x + t yield u }
            }
            return s
        }
        func f(xs: []Real) -> []Real {
            n = length(xs)
            nil = list::Nil()
            few = each i < 3 { r = real(i) k = list::Cons(0.5, nil) l = list::Cons(r, k) yield l }
            many = each i < n { j = i % 3 l = few[j] yield l }
            ys = each i < n, x in xs, l in many { m = after(l) s = total(m) y = s * x yield y }
            return ys
        }
        entry f = f",
        (1, 1),
        SIZES,
    );
}
