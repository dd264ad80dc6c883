//! What a loop keeps of its iterations, and what of that it makes again or reads in the end.

use super::made;
use wengert_ir::print;

/// What is kept of the iterations of a loop in which arrays are made of `y`, by these statements.
fn kept_of_steps(steps: &str) -> String {
    let text = format!(
        "
residual F {{}}
linear f_map of f(varies, varies) keeps F
func f(xs: []Real, ys: []Real) -> []Real {{
  n = length(xs)
  m = n - 1
  zs = for k < 100, y = ys {{
    {steps}
    yield e
  }}
  return zs
}}
func main(xs: []Real, ys: []Real) -> ([]Real, []Real) {{
  v, r = linearize f_map(xs, ys)
  gx, gy = backward f_map(r, xs)
  return gx, gy
}}
entry main = main
"
    );
    let made = print(&made(&text));
    let primal = made.split("func primal_f").nth(1).and_then(|text| text.split("\n}").next());
    let last = primal.and_then(|text| text.lines().rfind(|line| line.contains("    yield")));
    last.unwrap_or("nothing").trim().to_owned()
}

/// Of arrays that can be made of each other at little cost as few as possible are kept, the state at the beginning if that is
/// enough; but what costs something is kept.
#[test]
fn loops_keep_the_fewest_arrays() {
    let cheap = "
    a = each i < n, x in xs, u in y { u1 = x * u yield u1 }
    one = [1.0]
    part = slice(a, 0, m)
    b = concat(one, part)
    c = each j < n, x2 in xs, v in b { v1 = x2 * v v2 = v1 * v yield v2 }
    d = each k2 < n, w in c, w0 in b { w1 = w * w0 yield w1 }
    e = each l < n, z in d, z0 in y { z1 = z * z0 yield z1 }";
    assert_eq!(kept_of_steps(cheap), "yield e, y2");
    // The exponentials are kept, and what is made of them is not.
    let costly = cheap.replace("u1 = x * u yield u1", "t = x * u u1 = exp(t) yield u1");
    assert_eq!(kept_of_steps(&costly), "yield e, y2, u1s, a");
    // Nothing can be had of anything else.
    let costs = cheap.replace("v2 = v1 * v", "v2 = sin(v1)").replace("u1 = x * u", "u1 = sin(u)");
    let costs = costs.replace("w1 = w * w0", "w1 = cos(w)");
    let kept = kept_of_steps(&costs);
    assert_eq!(kept.matches(", ").count(), 6, "{kept}");
    // Two arrays less are worth some work, and not any.
    let sums = |count: usize| {
        let sums: String = (1..=count).map(|i| format!("s{i} = s{} + x2 ", i - 1)).collect();
        format!(
            "
    a = each i < n, x2 in xs, s0 in y {{ {sums} yield s{count} }}
    b = each j < n, x3 in xs, r0 in y {{ r1 = r0 * x3 yield r1 }}
    e = each l < n, z in a, z0 in y, v in b {{ z1 = z * z0 z2 = z1 * v yield z2 }}"
        )
    };
    assert_eq!(kept_of_steps(&sums(26)), "yield e, y2");
    assert_eq!(kept_of_steps(&sums(29)).matches(", ").count(), 3, "{}", kept_of_steps(&sums(29)));
    // Where neighbors are is no work: something is added to them in any case.
    let neighbors = "e = each i < n { i1 = i + 1 r = i1 % n o = i + n l1 = o - 2 l = l1 % n a = y[r] b = y[l] d = a - b p = d * d yield p }";
    assert_eq!(kept_of_steps(neighbors), "yield e, y2");
    let costly = neighbors.replace("d = a - b", "c = sin(a) d = c - b");
    assert_eq!(kept_of_steps(&costly), "yield e, ts, ds, y2");
    // One is not: it is written either way.
    let single = sums(1).replace(", v in b", "").replace("z2 = z1 * v yield z2", "yield z1");
    assert_eq!(kept_of_steps(&single), "yield e, y2, a");
}

/// What is read in any case costs nothing more to what is made of it, and that is made again if the rest is cheap.
#[test]
fn what_is_read_anyway_costs_nothing_more() {
    let step = |more: &str| {
        kept_of_steps(&format!(
            "
    p = xs[0] q = xs[1] d = xs[2]
    e = each i < n {{ i1 = i + 1 k = i1 % n a = y[k] b = y[i] s = p * a t = q * b u0 = s + t {more} r = d * u yield r }}"
        ))
    };
    assert_eq!(step("u = u0 + a"), "yield e, y2");
    assert_eq!(step("u1 = u0 + a u = u1 + b"), "yield e, us, y2");
}

/// A square is made again of what is read in any case; a power that costs more is kept.
#[test]
fn squares_are_not_kept() {
    let step = |power: &str| {
        kept_of_steps(&format!("e = each i < n, u in y, x in xs {{ {power} r = u * s t = r * x yield t }}"))
    };
    assert_eq!(step("s = u ^ 2"), "yield e, y2");
    assert_eq!(step("s = sin(u)"), "yield e, y2, ts, ss");
}

/// An array in which a loop puts numbers is not kept for its shape, which it had before the loop; but for what is read in it.
#[test]
fn what_numbers_are_put_in_is_not_kept_for_its_shape() {
    let swaps = "
    a = y[k]
    b = y[m]
    c = a < b
    e = if c { u = y with [k] = b w = u with [m] = a yield w } else { yield y }";
    assert_eq!(kept_of_steps(swaps), "yield e, c");
    let doubles = "
    a = y[k]
    b = 2.0 * a
    e = y with [k] = b";
    assert_eq!(kept_of_steps(doubles), "yield e");
    let squares = doubles.replace("2.0 * a", "a * a");
    assert_eq!(kept_of_steps(&squares), "yield e, a");
    // A row of another shape is another array.
    let other = "
    a = y[k]
    b = a * a
    c = [b, b]
    e = c with [0] = a";
    assert_eq!(kept_of_steps(other), "yield e, y2, c");
}

/// Of a matrix that is another one in each step what is read is kept, where else only its shape is needed: that may be had without the matrix.
#[test]
fn matrices_that_are_new_in_each_step_are_not_kept() {
    let kept = |row: &str| {
        let text = format!(
            "
residual F {{}}
linear f_map of f(varies) keeps F
func f(xs: [][]Real) -> [][]Real {{
  n = length(xs)
  zs = for k < n, y = xs {{
    p = y[k, k]
    d = p * p
    e = each i < n, r in y {{
      q = r[k]
      w = q * q
      v = w + d
      s = each j < n, x in r {{ {row} }}
      yield s
    }}
    yield e
  }}
  return zs
}}
func main(xs: [][]Real) -> [][]Real {{
  v, r = linearize f_map(xs)
  gx = backward f_map(r, xs)
  return gx
}}
entry main = main
"
        );
        let made = print(&made(&text));
        let primal = made.split("func primal_f").nth(1).and_then(|text| text.split("\n}").next());
        let yields = primal.map(|text| text.lines().filter(|line| line.contains("yield")).map(str::trim));
        yields.map(|yields| yields.collect::<Vec<_>>().join("; ")).unwrap_or_default()
    };
    assert_eq!(kept("u = x + v yield u"), "yield u; yield s, q; yield e, y2, p, qs");
    // Here all elements are needed: the first of these numbers is read of them again.
    assert_eq!(kept("u = x * x yield u"), "yield u; yield s, q; yield e, y2, qs");
}

/// Rows of one shape need no boxes: here the shape is that of an array from around the loop, and one that a number from there says.
#[test]
fn what_a_loop_keeps_of_one_shape_needs_no_boxes() {
    let text = "
residual F {}
linear f_map of f(varies, fixed, fixed) keeps F
func f(x: Real, n: Int, zs: []Real) -> Real {
  y = for i < 3, s = x {
    xs = each k < n {
      t = real(k)
      u = t * s
      v = sin(u)
      yield v
    }
    ws = reverse(zs)
    w = ws[i]
    q = replicate(n, w)
    p = dot(xs, q)
    r = p * s
    yield r
  }
  return y
}
func main(x: Real, n: Int, zs: []Real) -> Real {
  v, r = linearize f_map(x, n, zs)
  gx = backward f_map(r, 1.0)
  return gx
}
entry main = main
";
    let after = print(&made(text));
    assert!(after.contains("for backward") && !after.contains("Row"), "{after}");
}

/// The backward function of a loop over `i < n` with a carried array `x`, which begins as zeros, and a body.
fn backward_of(body: &str) -> String {
    let text = format!(
        "
residual F {{}}
linear f_map of f(varies) keeps F
func f(b: []Real) -> []Real {{
  n = length(b)
  start = replicate(n, 0.5)
  y = for {body}
  return y
}}
func g(b: []Real, w: []Real) -> []Real {{
  y, r = linearize f_map(b)
  b_bar = backward f_map(r, w)
  return b_bar
}}
entry g = g
"
    );
    let made = print(&made(&text));
    let (_, back) = made.split_once("func back_f").expect("there is a backward function");
    back.to_owned()
}

/// A sum over a part of the array, of which linear code needs the elements.
const SUM: &str = "s = for k < m, s = 0.0, u in us { v = u * u t = s + v yield t } c = b[i] new = s + c";

#[test]
fn what_is_not_written_any_more_is_read_in_the_end() {
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM} z = x with [i] = new yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
    // Places fall: as the loop goes backward, or as they are counted from the end.
    let back = backward_of(&format!(
        "backward i < n, x = start {{ j = i + 1 us = slice(x, j, n) m = length(us) {SUM} z = x with [i] = new yield z }}"
    ));
    assert!(back.contains("slice(y, ") && !back.contains("Row"), "{back}");
    let back = backward_of(&format!(
        "i < n, x = start {{ l = n - 1 j = l - i f = n - i us = slice(x, f, n) m = length(us) {SUM} z = x with [j] = new yield z }}"
    ));
    assert!(back.contains("slice(y, ") && !back.contains("Row"), "{back}");
    // Written on one side of a branch, and in a loop inside.
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM} p = new > 0.5
           z = if p {{ q = x with [i] = new yield q }} else {{ yield x }} yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM}
           z = for k < 2, x2 = x {{ q = x2 with [i] = new yield q }} yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
}

#[test]
fn what_may_be_written_later_is_kept() {
    let kept = [
        // One element too many.
        "i < n, x = start { j = i + 1 us = slice(x, 0, j) m = length(us) SUM z = x with [i] = new yield z }",
        // Places rise as they are counted, and the loop goes backward.
        "backward i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = x with [i] = new yield z }",
        // On the other side.
        "i < n, x = start { us = slice(x, i, n) m = length(us) SUM z = x with [i] = new yield z }",
        // Two places, one of which moves the other way, and one that stays.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM l = n - 1 j = l - i z = x with [i] = new q = z with [j] = new yield q }",
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = x with [i] = new q = z with [0] = new yield q }",
        // A place that is made of what changes.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM h = i * i j = h % n z = x with [j] = new yield z }",
        // Another array altogether.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = each k < n, e in x { q = e * new yield q } yield z }",
    ];
    for body in kept {
        let back = backward_of(&body.replace("SUM", SUM));
        assert!(back.contains("Row") && !back.contains("slice(y,"), "{body}\n{back}");
    }
}
