//! Objects that threads make for each other, tried by a C program that includes the text; also with the compiler's own checks
//! for races and for memory that nobody has, where it has these.

use super::{compiler, place};
use crate::{Input, Math, source};
use std::process::Command;
use wengert_ir::FuncId;

/// Trees are made, put into others, and taken apart; lists share their ends; texts are the program's.
const TEXT: &str = "data tree { Leaf(Real) Node(tree, tree) Row([]Real) Name(Text, tree) }
    data list { Nil() Cons(Real, list) }
    func grow(depth: Int, x: Real) -> tree {
        done = depth == 0
        t = if done { l = tree::Leaf(x) m = tree::Name(\"leaf\", l) yield m } else {
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
            Name(s, t) { u = turned(t) v = tree::Name(s, u) yield v }
        }
        return s
    }
    func total(t: tree) -> Real {
        s = match t {
            Leaf(x) { yield x }
            Node(a, b) { u = total(a) v = total(b) w = u + v yield w }
            Row(xs) { s = sum(xs) yield s }
            Name(s, t) { u = total(t) yield u }
        }
        return s
    }
    func length_of(l: list) -> Real {
        s = match l {
            Nil() { yield 0.0 }
            Cons(x, rest) { t = length_of(rest) u = x + t yield u }
        }
        return s
    }
    func f(n: Int, rounds: Int) -> Real {
        s = for k < rounds, s = 0.0 {
            trees = each i < n {
                odd = i % 3
                depth = 1 + odd
                x = real(i)
                t = grow(depth, x)
                m = odd * 150
                row = each j < m { r = real(j) p = r * x yield p }
                u = tree::Row(row)
                v = tree::Node(t, u)
                yield v
            }
            others = each i < n, t in trees { u = turned(t) yield u }
            sums = each i < n, t in others { u = total(t) yield u }
            nil = list::Nil()
            few = each i < 50 { r = real(i) l = list::Cons(r, nil) yield l }
            many = each i < n { j = i % 50 l = few[j] y = length_of(l) m = list::Cons(y, l) yield m }
            more = each i < n, l in many {
                j = n - i
                o = j - 1
                m = many[o]
                y = length_of(m)
                p = list::Cons(y, l)
                yield p
            }
            lengths = each i < n, l in more { y = length_of(l) yield y }
            u = for i < n, u = s, y in sums, z in lengths { v = u + y w = v * 0.5 q = w + z yield q }
            yield u
        }
        return s
    }
    entry f = f";

/// Calls it with one thread and with several, then from several threads at once, each time for so many `ROUNDS`.
const PROGRAM: &str = r"
static double truth;
static void *caller(void *given) {
    wg_run *r = wengert_open((uint64_t)1 << 32, NULL);
    wengert_threads(r, 2);
    word arguments[2] = {1500, ROUNDS}, results[1];
    for (int k = 0; k < 2; k++) {
        if (wengert_call(r, 0, arguments, results) || wg_of_bits(results[0]) != truth) exit(4);
    }
    wengert_close(r);
    return given;
}
int main(void) {
    for (word threads = 1; threads <= 4; threads++) {
        wg_run *r = wengert_open((uint64_t)1 << 32, NULL);
        wengert_threads(r, threads);
        word arguments[2] = {1500, ROUNDS}, results[1];
        for (int k = 0; k < 10; k++) {
            if (wengert_call(r, 0, arguments, results)) return 1;
            double found = wg_of_bits(results[0]);
            if (threads == 1) truth = found;
            if (found != truth) return 2;
            /* Where the number of threads changes, others have the memory. */
            if (k == 5) wengert_threads(r, 1);
            if (k == 6) wengert_threads(r, threads);
        }
        /* Nothing is in use but what was left at the end of chunks. If one object of each iteration were left, it would be more than that; how
         * many are kept for later depends on which thread has made them and which has freed them. */
        if (wengert_words_in_use(r) > 4 * WG_CHUNK) return 3;
        if (r->spare_words > WG_SPARE_WORDS) return 5;
        wengert_close(r);
    }
    pthread_t callers[2];
    for (int i = 0; i < 2; i++) pthread_create(&callers[i], NULL, caller, NULL);
    for (int i = 0; i < 2; i++) pthread_join(callers[i], NULL);
    return 0;
}
";

/// Compiles a program with such a check, and runs it; `None` if the compiler has no such check, or it does not work here.
fn status(text: &str, check: Option<&str>) -> Option<(Option<i32>, String)> {
    let cc = compiler()?;
    let (from, to) = (place("c"), place("run"));
    std::fs::write(&from, text).expect("there is room");
    let made = Command::new(cc)
        .args(["-std=gnu11", "-O1", "-g", "-pthread", "-w"])
        // The compiler's checks make it slow, and need no long run to see a race.
        .arg(if check.is_some() { "-DROUNDS=2" } else { "-DROUNDS=10" })
        .args(check)
        .arg("-o")
        .args([&to, &from])
        .arg("-lm")
        .output()
        .expect("the compiler runs");
    assert!(made.status.success() || check.is_some(), "{}", String::from_utf8_lossy(&made.stderr));
    let output = made.status.success().then(|| Command::new(&to).output().expect("it runs"));
    let _ = (std::fs::remove_file(from), std::fs::remove_file(to));
    output.map(|output| (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn what_threads_make_for_each_other_is_counted_and_freed() {
    let program = wengert_ir::parse::parse(TEXT).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let loops = wengert_native::divided(&program, true, true);
    let entries: Vec<FuncId> = program.entries.values().copied().collect();
    let text = source(&Input { program: &loops, entries, kinds: Vec::new() }, Math::Library, &|_| None).text;
    for check in [None, Some("-fsanitize=thread"), Some("-fsanitize=address")] {
        let works = check.is_none()
            || status("int main(void) { return 0; }", check).is_some_and(|(code, _)| code == Some(0));
        if works && let Some((code, told)) = status(&(text.clone() + PROGRAM), check) {
            assert!(code == Some(0) && told.is_empty(), "{check:?}: {code:?}\n{told}");
        }
    }
}
