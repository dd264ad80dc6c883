//! Sums over places that move with the loop but do not begin at 0.

use super::{are_close, are_strict_but_rounded, source, text_of, with_loops};
use crate::{Input, Math};
use wengert_ir::eval::{Items, Value};

/// The first numbers of each row of a matrix times a vector.
const TRIANGLE: &str = r"
    func f(m: [][]Real, v: []Real) -> []Real {
        n = length(v)
        ys = each i < n {
            k = i + 1
            s = for j < k, s = 0.0 { a = m[i, j] x = v[j] y = a * x t = s + y yield t }
            yield s
        }
        return ys
    }
    entry f = f";

/// The derivative of that with respect to the matrix and the vector.
const BACKWARD: &str = r"
    func f(m: [][]Real, v: []Real, b: []Real) -> ([][]Real, []Real) {
        n = length(v)
        ms = zeros(m)
        vs = zeros(v)
        gm, gv = each backward i < n, g += ms, h += vs, y in b {
            k = i + 1
            g2, h2 = each backward j < k, g1 += g, h1 += h {
                a = m[i, j] x = v[j]
                p = y * x q = y * a
                g3 = g1 with [i, j] += p
                h3 = h1 with [j] += q
                yield g3, h3
            }
            yield g2, h2
        }
        return gm, gv
    }
    entry f = f";

/// Two additions for each index, to places of one array that may meet.
const MEETING: &str = r"
    func f(v: []Real, k: Int) -> []Real {
        n = length(v)
        m = n - k
        vs = zeros(v)
        g = each i < m, h += vs, x in v {
            j = i + k
            h1 = h with [i] += x
            h2 = h1 with [j] += x
            yield h2
        }
        return g
    }
    entry f = f";

fn matrix(size: usize) -> Value {
    let number = |place: usize| (place * 7 % 11) as f64 * 0.37 - 1.5;
    Value::array([size, size], Items::Reals((0..size * size).map(number).collect()))
}

fn vector(size: usize) -> Value {
    Value::reals((0..size).map(|i| (i % 13) as f64 * 0.21 - 1.0).collect::<Vec<_>>())
}

/// Three sums for each index: of places that lie apart, in order and in the opposite one; and additions to two places that never meet.
const APART: &str = r"
    func f(v: []Real, k: Int) -> ([]Real, Real) {
        n = length(v)
        h = n / 2
        m = h - k
        vs = zeros(v)
        g = each backward i < m, h0 += vs {
            t = 2 * i
            u = t + 1
            a = v[t] b = v[u]
            h1 = h0 with [t] += b
            h2 = h1 with [u] += a
            yield h2
        }
        s = for i < h, s = 0.0 { t = i * 2 u = t + 1 l = n - u a = v[u] b = v[l] x = a * b y = s + x yield y }
        return g, s
    }
    entry f = f";

/// Additions to places of which one moves faster than the other, and to one that goes the other way.
const CROSSING: &str = r"
    func f(v: []Real, k: Int) -> []Real {
        n = length(v)
        h = n / 2
        m = n - k
        e = n - 1
        vs = zeros(v)
        g = each i < h, h += vs {
            t = 2 * i
            j = i + k
            x = v[i]
            h1 = h with [t] += x
            y = x * 0.5
            h2 = h1 with [j] += y
            yield h2
        }
        r = each backward i < m, h += g {
            l = e - i
            x = v[i]
            h1 = h with [i] += x
            h2 = h1 with [l] += x
            yield h2
        }
        return r
    }
    entry f = f";

/// The sum of differences of neighbors in all columns, which looks up the row in each iteration, and a cell of another row.
const LOOKED_UP: &str = r"
    func f(m: [][]Real, k: Int) -> []Real {
        n = length(m)
        ys = each i < n {
            c = length(m, 1)
            d = c - 1
            s = for j < d, s = 0.0 { row = m[i] l = j + 1 a = row[l] b = row[j] x = a - b y = x * x t = s + y yield t }
            z = for j < n, z = s { row = m[j] a = row[k] t = z + a yield t }
            yield z
        }
        return ys
    }
    entry f = f";

#[test]
fn elements_of_a_row_that_each_iteration_looks_up_are_added_up_in_vectors() {
    // Not those of rows that differ from iteration to iteration.
    let made = text_of(LOOKED_UP, Math::Library);
    assert!(made.contains("#pragma omp simd reduction"), "{made}");
    let sizes = [1, 2, 15, 16, 17, 40];
    are_close(LOOKED_UP, &sizes.map(|size| vec![matrix(size), Value::Int(0)]));
    are_close(LOOKED_UP, &sizes.map(|size| vec![matrix(size), Value::Int(size as i64 - 1)]));
}

#[test]
fn a_part_of_a_row_is_added_up_in_vectors() {
    let made = text_of(TRIANGLE, Math::Library);
    assert_eq!(made.matches("#pragma omp simd reduction").count(), 1, "{made}");
    assert_eq!(text_of(TRIANGLE, Math::Host).matches("#pragma omp simd reduction").count(), 0);
    let sizes = [1, 15, 16, 17, 40];
    are_close(TRIANGLE, &sizes.map(|size| vec![matrix(size), vector(size)]));
    are_close(BACKWARD, &sizes.map(|size| vec![matrix(size), vector(size), vector(size)]));
    let shifted = |shift| sizes.map(|size| vec![vector(size + 8), Value::Int(shift)]);
    are_close(MEETING, &[0, 1, 3, 8].map(shifted).concat());
}

#[test]
fn places_that_only_running_tells_are_added_to_in_strips_where_the_order_does_not_matter() {
    for (text, strips) in [(MEETING, 1), (CROSSING, 2)] {
        assert_eq!(text_of(text, Math::Library).matches("[512]").count(), strips, "{text}");
        assert_eq!(text_of(text, Math::Host).matches("[512]").count(), 0, "{text}");
    }
    let sizes = [1, 2, 15, 16, 33, 600, 1100];
    let shifted = |shift| sizes.map(|size| vec![vector(2 * size), Value::Int(shift)]);
    are_close(CROSSING, &shifted(0));
    let shifted = |shift| [16, 33, 600, 1100].map(|size| vec![vector(2 * size), Value::Int(shift)]);
    are_close(CROSSING, &[1, 2, 16].map(shifted).concat());
}

#[test]
fn places_that_lie_apart_are_in_vectors() {
    let made = text_of(APART, Math::Library);
    assert_eq!(made.matches("#pragma omp simd reduction").count(), 1, "{made}");
    assert_eq!(made.matches("WG_INDEPENDENT\n").count(), 1, "{made}");
    assert!(made.contains("wg_inside_steps(1, 2, "), "{made}");
    let sizes = [1, 2, 3, 31, 32, 33, 34, 600];
    are_close(APART, &sizes.map(|size| vec![vector(size), Value::Int(0)]));
    are_close(APART, &[33, 34, 600].map(|size| vec![vector(size), Value::Int(9)]));
}

/// What pairs of elements add to both: to one that stays, and to one that moves from somewhere on.
const PAIRS: &str = r"
    func f(v: []Real, k: Int) -> []Real {
        n = length(v)
        m = n - k
        vs = zeros(v)
        g = each i < n, h += vs, x in v {
            g = each j < m, h1 += h {
                l = j + k
                y = v[l]
                a = x - y
                b = mul_zero(a, y)
                c = mul_zero(b, a)
                h2 = h1 with [i] += c
                d = -c
                h3 = h2 with [l] += d
                yield h3
            }
            yield g
        }
        return g
    }
    entry f = f";

#[test]
fn an_element_that_stays_and_one_that_moves_are_added_to_in_vectors() {
    let made = text_of(PAIRS, Math::Library);
    // Once without looking for zeros, and once with.
    // Without looking for zeros, and with.
    assert_eq!(made.matches("#pragma omp simd reduction").count(), 2, "{made}");
    assert_eq!(text_of(PAIRS, Math::Host).matches("#pragma omp simd reduction").count(), 0);
    for k in [0, 1, 7] {
        are_close(PAIRS, &[7, 8, 15, 16, 17, 40, 600].map(|size| vec![vector(size), Value::Int(k)]));
    }
}

/// Sums of what depends on choices that no iteration changes: of numbers, of branches, and of products with a factor that may be zero.
const SETTLED: &str = r"
    func f(v: []Real, k: Int) -> (Real, Real, []Real) {
        n = length(v)
        c = k > 3
        d = k == 2
        w = real(k)
        s = for i < n, s = 0.0, x in v { y = x * x z = select(c, y, x) u = select(d, 1.5, z) t = s + u yield t }
        p = for i < n, p = s, x in v { y = mul_zero(w, x) t = p + y yield t }
        vs = zeros(v)
        g = each i < n, h += vs, x in v { y = mul_zero(x, w) z = select(c, y, x) h1 = h with [k] += z yield h1 }
        return s, p, g
    }
    entry f = f";

#[test]
fn what_depends_on_choices_made_before_is_kept_and_then_added_up() {
    let made = text_of(SETTLED, Math::Library);
    // Of the loop that keeps the compiler makes one for each way that the choices go; the one that adds up has none.
    assert_eq!(made.matches("#pragma omp simd reduction").count(), 3, "{made}");
    assert_eq!(made.matches("[512];").count(), 3, "{made}");
    assert_eq!(text_of(SETTLED, Math::Host).matches("[512];").count(), 0);
    let sizes = [9, 15, 16, 17, 511, 512, 513, 1100];
    let all = [0, 2, 3, 4].map(|k| sizes.map(|size| vec![vector(size), Value::Int(k)])).concat();
    are_close(SETTLED, &all);
}

/// What is added to elements of two rows of a matrix, which can be one row; and to two elements of each.
const ROWS: &str = r"
    func f(m: [][]Real, v: []Real, i: Int, k: Int) -> [][]Real {
        n = length(v)
        l = n - 1
        ms = zeros(m)
        g = each j < n, h += ms, x in v { h1 = h with [i, j] += x y = x * 0.5 h2 = h1 with [k, j] += y yield h2 }
        g2 = each j < l, h += g, x in v {
            p = j + 1
            h1 = h with [i, j] += x
            y = x * 0.5
            h2 = h1 with [k, j] += y
            h3 = h2 with [k, p] += x
            yield h3
        }
        return g2
    }
    entry f = f";

#[test]
fn rows_are_added_to_at_once_and_neighbors_in_them_in_strips() {
    let program = wengert_ir::parse::parse(ROWS).expect("the text is a program");
    let entry = *program.entries.values().next().expect("it has an entry");
    // Where rows begin is computed before the loop then.
    let loops = wengert_native::divided(&program, false, false);
    let input = Input { program: &loops, entries: vec![entry], kinds: Vec::new() };
    let made = source(&input, Math::Library, &|_| None).text;
    // Of the first two the compiler looks whether they lie apart; of the other three two wait.
    let whole = made
        .rsplit_once(" f_f(wg_run")
        .and_then(|(_, rest)| rest.split_once("\n}\n"))
        .map(|(whole, _)| whole);
    assert_eq!(whole.map(|whole| whole.matches("[512]").count()), Some(2), "{made}");
    let Some((mut library, entry)) = with_loops(program, loops, entry, Math::Library, &["-O3"]) else {
        return;
    };
    let args = |i, k, size| vec![matrix(size), vector(size), Value::Int(i), Value::Int(k)];
    let all: Vec<_> = [(0, 1), (1, 0), (2, 2)]
        .iter()
        .flat_map(|(i, k)| [3, 16, 17, 40, 600].map(|size| args(*i, *k, size)))
        .collect();
    are_strict_but_rounded(ROWS, (&mut library, entry), &all);
}

#[test]
fn checks_of_places_that_are_far_from_each_other_are_made_before_the_loop() {
    let text = r"
        func f(xs: []Real, n: Int, k: Int) -> Real {
            s = for i < n, s = 0.0 { p = i * k q = p + 1 a = xs[q] t = s + a yield t }
            return s
        }
        entry f = f";
    let made = text_of(text, Math::Library);
    assert!(made.contains("wg_inside_far(1, k, n, xs_size)"), "{made}");
    let args = |n, k| vec![vector(100), Value::Int(n), Value::Int(k)];
    are_close(text, &[args(0, 1 << 62), args(33, 3), args(1, i64::MAX), args(20, 0), args(99, 1)]);
    // Where the last place has come around to the first, those between are none; so it is where one is below 0, or too many.
    let Some((mut fast, entry)) = super::with_options(text, Math::Library, &["-O3"]) else { return };
    let Some((mut strict, _)) = super::with_options(text, Math::Host, &[]) else { return };
    for (n, k) in [(5, 1 << 62), (9, 1 << 61), (3, i64::MIN), (3, -1), (34, 3), (3, i64::MAX)] {
        let said = |library: &mut wengert_native::Compiled| {
            library.call(entry, &args(n, k)).map_err(|stopped| format!("{:?}", stopped.fault)).err()
        };
        let expected = said(&mut strict);
        assert!(expected.is_some() && said(&mut fast) == expected, "{n} {k}: {expected:?}");
    }
}
