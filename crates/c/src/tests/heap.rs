//! The memory of the runtime, tried by a C program that includes the text.

use super::{compiler, gives, library, place, text_of};
use crate::Math;
use std::process::Command;
use wengert_fault::Fault;
use wengert_ir::eval::Value;

/// Makes objects of all sizes, between small ones that move the rest of a chunk about.
const PROGRAM: &str = r#"
#define WORDS 700
int main(void) {
    static ref made[2][WORDS];
    wg_run *r = wg_open((uint64_t)1 << 30, NULL);
    word before = 0;
    /* The system is not asked for an object of a hundred words. */
    wg_free(r, wg_alloc(r, 100, WG_MEMORY));
    if (r->large || r->spares) return 6;
    for (int round = 0; round < 3; round++) {
        for (word words = 1; words < WORDS; words++) {
            for (int k = 0; k < 2; k++) {
                ref o = made[k][words] = wg_alloc(r, words, WG_MEMORY);
                if (words > 9 && (uintptr_t)(o + 2) % 64 != 0) return 1;
                for (word i = 1; i < words; i++) o[i] = words * 1000 + k;
            }
        }
        for (word words = 1; words < WORDS; words++) {
            for (int k = 0; k < 2; k++) {
                ref o = made[k][words];
                if (*o != 1) return 2;
                for (word i = 1; i < words; i++) {
                    if (o[i] != words * 1000 + k) return 3;
                }
                wg_free(r, o);
            }
        }
        /* Lengths that differ a little share their memory: what an array of one had, one of the other gets. */
        for (word words = 40; words < 48; words++) {
            ref o = wg_alloc(r, words, WG_MEMORY);
            wg_free(r, o);
            ref other = wg_alloc(r, 87 - words, WG_MEMORY);
            if (o != other) return 4;
            wg_free(r, other);
        }
        word now = wengert_words_in_use(r);
        if (round > 0 && now != before) return 5;
        before = now;
    }
    /* What an object was before does not matter to its size. */
    for (word words = 2; words < 300; words += 7) {
        ref data = wg_make(r, words, 3, WG_MEMORY);
        if (wg_constructor(data) != 3) return 7;
        wg_free(r, data);
        ref array = wg_alloc(r, words, WG_MEMORY);
        if (array != data) return 8;
        wg_free(r, array);
    }
    /* Long objects begin at different places of a page. */
    word last = 0;
    for (int k = 0; k < 8; k++) {
        word now = (word)((uintptr_t)wg_alloc(r, 20000, WG_MEMORY) % 4096);
        if (now == last) return 9;
        last = now;
    }
    /* Large objects that nobody needs are used again, as many as they are, but no more of them are kept than so many words. */
    enum { MANY = 60, LONG = 100000 };
    static ref tape[MANY];
    for (int k = 0; k < MANY; k++) tape[k] = wg_alloc(r, LONG, WG_MEMORY);
    word all = r->all.now;
    for (int k = 0; k < MANY; k++) wg_free(r, tape[k]);
    if (r->spare_words > WG_SPARE_WORDS || r->spare_words < WG_SPARE_WORDS - 2 * LONG) return 10;
    word kept = r->spares;
    for (int k = 0; k < kept; k++) {
        if (!(tape[k] = wg_alloc(r, LONG - k * 100, WG_MEMORY))) return 11;
        if (k + 1 < kept && r->spares != kept - 1 - k) return 12;
    }
    /* Those of another size make room for them; and few are kept however large they are. */
    for (int k = 0; k < kept; k++) wg_free(r, tape[k]);
    for (int k = 0; k < MANY; k++) tape[k] = wg_alloc(r, LONG / 3, WG_MEMORY);
    for (int k = 0; k < MANY; k++) wg_free(r, tape[k]);
    if (r->spare_words > WG_SPARE_WORDS) return 13;
    for (int k = 0; k < MANY; k++) tape[k] = wg_alloc(r, LONG / 3, WG_MEMORY);
    if (r->all.now > all + MANY * LONG) return 14;
    for (int k = 0; k < MANY; k++) wg_free(r, tape[k]);
    static ref huge[3];
    for (int k = 0; k < 3; k++) huge[k] = wg_alloc(r, WG_SPARE_WORDS, WG_MEMORY);
    for (int k = 0; k < 3; k++) wg_free(r, huge[k]);
    if (r->all.now - r->spare_words > all) return 15;
    /* The most that were in use is known. */
    if (r->all.most < r->all.now || r->all.most < 3 * WG_SPARE_WORDS) return 16;
    wg_close(r);
    return 0;
}
"#;

#[test]
fn elements_of_longer_arrays_lie_at_whole_lines_and_memory_is_used_again() {
    let Some(cc) = compiler() else { return };
    let text = text_of("func f(x: Real) -> Real { return x } entry f = f", Math::Host);
    let (from, to) = (place("c"), place("run"));
    std::fs::write(&from, text + PROGRAM).expect("there is room");
    let output = Command::new(cc)
        .args(["-std=gnu11", "-O1", "-pthread", "-w", "-o"])
        .arg(&to)
        .arg(&from)
        .arg("-lm")
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = Command::new(&to).status().expect("it runs");
    let _ = (std::fs::remove_file(from), std::fs::remove_file(to));
    assert_eq!(status.code(), Some(0));
}

/// Arms that only fail free nothing, for a run that fails gives up all that it has; and those that fail alike are one.
#[test]
fn arms_that_fail_alike_are_made_once() {
    let text = r#"
        data Shape { Point() Circle(Real) Square([]Real) Pair(Shape, Shape) }
        func f(n: Int) -> Real {
            x = 2.0
            xs = [x, x]
            circle = Circle(x)
            is_circle = n == 1
            s = if is_circle { yield circle } else {
                is_square = n == 2
                s = if is_square { s = Square(xs) yield s } else {
                    is_pair = n == 3
                    s = if is_pair { s = Pair(circle, circle) yield s } else { s = Point() yield s }
                    yield s
                }
                yield s
            }
            r = match s {
                Point() { r: Real = fail("none") yield r }
                Circle(x) { r = x + x yield r }
                Square(xs) { r: Real = fail("none") yield r }
                Pair(a, b) { r: Real = fail("none") yield r }
            }
            return r
        }
        entry f = f"#;
    assert_eq!(text_of(text, Math::Host).matches("wg_fail_with(r, ").count(), 1);
    let Some((mut library, entry)) = library(text) else { return };
    for _ in 0..2 {
        for n in [0, 2, 3] {
            let failure = library.call(entry, &[Value::Int(n)]).expect_err("it fails");
            assert_eq!(failure.fault, Fault::Failed { message: "none".into() });
        }
        assert!(
            library.call(entry, &[Value::Int(1)]).expect("it runs").iter().all(|x| x.same(&Value::Real(4.0)))
        );
    }
}

/// However often a call fails: what it has made is given up.
#[test]
fn what_fails_leaves_nothing_in_memory() {
    let text = r#"
        data List { Nil() Cons([]Real, List) }
        func f(n: Int) -> Real {
            xs = each i < 20000 { x = real(i) yield x }
            nil = Nil()
            list = Cons(xs, nil)
            r = match list { Nil() { yield 0.0 } Cons(ys, rest) { y = ys[n] yield y } }
            s = match list { Nil() { yield r } Cons(ys, rest) { y = ys[1] t = y + r yield t } }
            return s
        }
        entry f = f"#;
    let Some((mut library, entry)) = library(text) else { return };
    library.call(entry, &[Value::Int(7)]).expect("it runs");
    let words = library.words_in_use();
    for _ in 0..20 {
        let failure = library.call(entry, &[Value::Int(20_000)]).expect_err("it fails");
        assert_eq!(failure.fault, Fault::Index { index: 20_000, size: 20_000 });
    }
    assert!(library.words_in_use() <= words);
    assert!(
        library.call(entry, &[Value::Int(2)]).expect("it runs").iter().all(|x| x.same(&Value::Real(3.0)))
    );
}

/// A program that exchanges the sides of a tree, and what is in a leaf, so many times.
fn exchanges(times: usize) -> String {
    let exchange = |k: usize| {
        format!(
            "t{} = match t{k} {{
                Nothing() {{ n = Nothing() yield n }}
                Leaf(x, y) {{ l = Leaf(y, x) yield l }}
                Node(xs, a, b) {{ n = Node(xs, b, a) yield n }}
                Named(name, a) {{ n = Named(name, a) yield n }}
            }}\n",
            k + 1
        )
    };
    let exchanges: String = (0..times).map(exchange).collect();
    format!(
        "data Tree {{ Nothing() Leaf(Real, Real) Node([]Real, Tree, Tree) Named(Text, Tree) }}
         func f(t0: Tree) -> (Tree, Tree) {{ {exchanges} return t0, t{times} }} entry f = f"
    )
}

/// Where much of a function makes, frees and counts objects, there is a call in each place, else what it takes.
#[test]
fn code_that_handles_many_objects_calls_functions_for_it() {
    let (few, many) = (text_of(&exchanges(3), Math::Host), text_of(&exchanges(25), Math::Host));
    let program = |text: &str| text.split_once("---- The program").map(|(_, program)| program.to_string());
    let (few, many) = (program(&few).expect("it is there"), program(&many).expect("it is there"));
    assert!(few.contains(" wg_make(r, ") && !few.contains("_far("), "{few}");
    assert!(many.contains(" wg_make_far(r, ") && !many.contains(" wg_make(r, "), "{many}");
    assert!(many.contains("wg_take_apart_far(r, ") && many.contains("wg_release_far(r, "), "{many}");
    let leaf = |x: f64, y: f64| Value::data(1, [Value::Real(x), Value::Real(y)]);
    let reals = Value::array([2], wengert_ir::eval::Items::Reals(vec![1.0, 2.0]));
    let node = |a: Value, b: Value| Value::data(2, [reals.clone(), a, b]);
    let named = Value::data(3, [Value::text("name"), leaf(1.0, 2.0)]);
    for (tree, other) in [
        (node(named.clone(), leaf(3.0, 4.0)), node(leaf(3.0, 4.0), named.clone())),
        (leaf(5.0, 6.0), leaf(6.0, 5.0)),
        (named.clone(), named),
        (Value::data(0, []), Value::data(0, [])),
    ] {
        gives(&exchanges(25), std::slice::from_ref(&tree), &[tree.clone(), other]);
    }
}
