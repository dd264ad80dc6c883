//! What people see: expressions in their places.

use crate::{parse, print_used};

#[track_caller]
fn shown(text: &str, wanted: &str) {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(crate::verify(&program), Ok(()));
    let body = print_used(&program);
    let (_, body) = body.split_once("func f(").expect("a function");
    let (_, body) = body.split_once("{\n").expect("its beginning");
    let (body, _) = body.rsplit_once("}\n\nentry").expect("its end");
    assert_eq!(body, wanted);
}

#[test]
fn what_is_used_once_stands_in_its_place() {
    shown(
        "func f(x: Real, y: Real) -> Real {
            t = x + y  t2 = -t  t3 = x * y  t4 = t2 - t3  t5 = y ^ 2  t6 = t4 / t5  t7 = -x  t8 = t6 + t7
            return t8
        } entry f = f",
        "  t6 = (-(x + y) - x * y) / y ^ 2\n  return t6 - x\n",
    );
    // Sums and products are read from the left.
    shown(
        "func f(x: Real, y: Real) -> Real {
            t = x + y  t2 = x + t  t3 = x * y  t4 = t3 * t2  t5 = x * t4  t6 = -y  t7 = t5 * t6  t8 = t7 ** x
            return t8
        } entry f = f",
        "  t7 = x * (x * y * (x + (x + y))) * (-y)\n  return t7 ** x\n",
    );
}

#[test]
fn a_sum_with_itself_is_twice_the_number() {
    shown(
        "func f(x: Real, y: Real) -> (Real, Real, Real) {
            t = x * y  t2 = t + t  t3 = x + x  t4 = t3 * y  t5 = y - t3  t6 = t5 + t5  t7 = t2 ^ 2
            return t7, t4, t6
        } entry f = f",
        "  t3 = 2.0 * x\n  t6 = 2.0 * (y - t3)\n  return (2.0 * (x * y)) ^ 2, t3 * y, t6\n",
    );
}

#[test]
fn names_of_the_source_stay_and_so_does_what_is_used_twice() {
    shown(
        "func f(x: Real) -> Real {
            speed = x * x  t = sin(speed)  t2 = exp(x)  t3 = t2 * t2  t4 = t + t3
            return t4
        } entry f = f",
        "  speed = x * x\n  t2 = exp(x)\n  return sin(speed) + t2 * t2\n",
    );
}

#[test]
fn what_may_fail_does_not_pass_what_may_fail() {
    shown(
        "func f(xs: []Real, i: Int, j: Int) -> Real {
            t = xs[i]  t2 = xs[j]  t3 = t + t2
            return t3
        } entry f = f",
        "  return xs[i] + xs[j]\n",
    );
    shown(
        "func f(xs: []Real, i: Int, j: Int) -> Real {
            t = xs[i]  require i == j, rows  t2 = sin(t)
            return t2
        } entry f = f",
        "  t = xs[i]\n  require i == j, rows\n  return sin(t)\n",
    );
}

#[test]
fn what_is_inside_of_a_loop_or_a_branch_does_not_go_there() {
    shown(
        "func f(x: Real, n: Int) -> Real {
            t = exp(x)
            s = for i < n, s = 0.0 { t2 = s + t yield t2 }
            return s
        } entry f = f",
        "  t = exp(x)\n  s = for i < n, s2 = 0.0 {\n    yield s2 + t\n  }\n  return s\n",
    );
}

#[test]
fn branches_at_the_end_give_what_is_given() {
    shown(
        "func f(x: Real, n: Int) -> Real {
            c = x > 0.0
            s = if c { yield x } else {
              c2 = n == 0
              s = if c2 { t = -x yield t } else { t: Real = fail(\"no\") yield t }
              yield s
            }
            return s
        } entry f = f",
        "  return if x > 0.0 {
    yield x
  } else if n == 0 {
    yield -x
  } else {
    fail(\"no\")
  }
",
    );
}

#[test]
fn what_is_one_or_zero_as_a_comparison_holds_is_that_in_brackets() {
    // The slope of `max` by both: the comparisons are seen in the brackets only, and so are the choices.
    shown(
        "func f(x: Real, y: Real) -> (Real, Real) {
            c = y <= x  d = x < y
            t = select(d, 0.0, NaN)  t2 = select(c, 1.0, t)
            t3 = select(d, 1.0, NaN)  t4 = select(c, 0.0, t3)  t5 = mul_zero(t4, y)
            return t2, t5
        } entry f = f",
        "  return [y <= x], mul_zero([x < y], y)\n",
    );
    // Of `relu`, beside another use of the comparison. Numbers are on the right.
    shown(
        "func f(x: Real) -> (Real, Bool) {
            c = 0.0 < x  d = x <= 0.0  t = select(d, 0.0, NaN)  t2 = select(c, 1.0, t)  t3 = t2 + t2
            return t3, c
        } entry f = f",
        "  return 2.0 * [x > 0.0], x > 0.0\n",
    );
    // Where one is not the opposite of the other, or something else than NaN is left, it is as it is.
    for (second, left) in [("d = x < 0.0", "NaN"), ("d = y <= 0.0", "NaN"), ("d = x <= 0.0", "-1.0")] {
        let text = format!(
            "func f(x: Real, y: Real) -> Real {{
                c = 0.0 < x  {second}  t = select(d, 0.0, {left})  t2 = select(c, 1.0, t)
                return t2
            }} entry f = f"
        );
        let second = second.trim_start_matches("d = ");
        shown(&text, &format!("  return select(x > 0.0, 1.0, select({second}, 0.0, {left}))\n"));
    }
}

#[test]
fn one_of_two_and_both_are_written_between_them() {
    shown(
        "func f(i: Int, n: Int, x: Real) -> (Real, Bool) {
            c = i == 0  d = i == n  t = select(c, true, d)  c2 = x < 1.0  t2 = select(t, c2, false)
            t3 = select(t2, x, 0.0)  t4 = select(c2, true, t2)  t5 = select(t4, d, false)
            return t3, t5
        } entry f = f",
        "  d = i == n
  c2 = x < 1.0
  t2 = (i == 0 || d) && c2
  return select(t2, x, 0.0), (c2 || t2) && d
",
    );
}

#[test]
fn numbers_come_first_in_products_and_signs_go_into_differences() {
    shown(
        "func f(x: Real, y: Real, i: Int) -> (Real, Real, Real, Int) {
            t = y * -2.0  t2 = x + t  t3 = x + -1.0  t4 = t2 * 3.0  t5 = t4 - -0.5
            t6 = t3 * -1.5  t7 = t6 + x  t8 = x * y  t9 = t8 * 6.0  t10 = -y  t11 = t10 + t9
            k = i + -1  k2 = k - -3
            return t5, t7, t11, k2
        } entry f = f",
        "  t7 = x - 1.5 * (x - 1.0)
  t11 = 6.0 * (x * y) - y
  k2 = i - 1 + 3
  return 3.0 * (x - 2.0 * y) + 0.5, t7, t11, k2
",
    );
}

#[test]
fn arms_that_fail_alike_are_shown_once() {
    shown(
        "data Shape { Point() Circle(Real) Square(Real) Named(Text, Real) }
        func f(s: Shape, y: Real) -> Real {
            r = match s {
              Point() { t: Real = fail(\"none\") yield t }
              Circle(radius) { t = radius + y yield t }
              Square(side) { t: Real = fail(\"none\") yield t }
              Named(name, size) { t: Real = fail(\"a name\") yield t }
            }
            return r
        } entry f = f",
        "  return match s {
    Circle(radius) {
      yield radius + y
    }
    Named(_, _) {
      fail(\"a name\")
    }
    _ {
      fail(\"none\")
    }
  }
",
    );
}

#[test]
fn products_stand_alone_where_nothing_else_is_added() {
    shown(
        "func f(a: [][]Real, x: []Real, y: []Real, z: []Real, i: Int) -> ([][]Real, []Real, [][]Real, []Real) {
            n = length(x) k = length(a)
            zeros = replicate(n, 0.0) zeros2 = replicate(k, zeros)
            b = add_product(zeros2, y, x)
            zeros3 = zeros(x)
            c = add_product_tn(zeros3, a, y)
            d = add_product(a, a, a)
            e = z with [i] += -1.5
            return b, c, d, e
        } entry f = f",
        "  b = outer(y, x)\n  c = matvec(transpose(a), y)\n  d = a + matmul(a, a)\n  e = z with [i] -= 1.5\n  return b, c, d, e\n",
    );
}

#[test]
fn what_is_not_used_has_no_name() {
    shown(
        "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s, ys, zs = for i < n, s = 0.0, x in xs { t = s + x u = t * x yield t, u, t }
            return s, zs
        } entry f = f",
        "  s, _, zs = for i < length(xs), s2 = 0.0, x in xs {\n    t = s2 + x\n    u = t * x\n    yield t, u, t\n  }\n  return s, zs\n",
    );
}

#[test]
fn the_condition_of_a_loop_stands_in_its_head() {
    shown(
        "func f(x: Real) -> Real {
            y, ts = while v = x { t = v * v c = t > 2.0 yield c } do w { t = sqrt(w) yield t, w }
            return y
        } entry f = f",
        "  y, _ = while w = x, w * w > 2.0 {\n    yield sqrt(w), w\n  }\n  return y\n",
    );
    // What is shown in lines of its own stays before.
    shown(
        "func f(x: Real) -> Real {
            y = while v = x { speed = v * v c = speed > 2.0 yield c } do w { t = sqrt(w) yield t }
            return y
        } entry f = f",
        "  y = while v = x {\n    speed = v * v\n    yield speed > 2.0\n  } do w {\n    yield sqrt(w)\n  }\n  return y\n",
    );
}

/// A loop over the elements of two lists, with this condition for the second one's and this step.
#[track_caller]
fn over_two_lists(also: &str, step: &str, wanted: &str) {
    let text = format!(
        "data List {{ Nil() Cons(Real, List) }}
        func f(xs: List, ys: List) -> List {{
            a, b, s = while l = xs, m = ys, t = 0.0 {{
              go = match l {{
                Nil() {{ yield false }}
                Cons(x, r) {{ go = match m {{ Nil() {{ yield false }} Cons(y, s) {{ {also} }} }} yield go }}
              }}
              yield go
            }} do l2, m2, u {{
              l3, m3, v = match l2 {{
                Nil() {{ l: List, m: List, t: Real = fail(\"over\") yield l, m, t }}
                Cons(x, r) {{ {step} }}
              }}
              yield l3, m3, v
            }}
            return b
        }} entry f = f"
    );
    let rest = "    yield r, s, total\n  }\n  return b\n";
    shown(&text, &format!("  _, b, _ = while l2 = xs, m2 = ys, u = 0.0, l2 is Cons(x, r), {wanted}{rest}"));
}

#[test]
fn what_is_taken_apart_for_the_condition_is_taken_apart_in_the_head() {
    let step =
        "s, y = match m2 { Nil() { l: List, t: Real = fail(\"over\") yield l, t } Cons(y, s) { yield s, y } }
        w = x * y  total = u + w  yield r, s, total";
    over_two_lists("yield true", step, "m2 is Cons(y, s) {\n    w = x * y\n    total = u + w\n");
    // What the condition asks of the fields has their names.
    let more = "c = y > x yield c";
    over_two_lists(more, step, "m2 is Cons(y, s), y > x {\n    w = x * y\n    total = u + w\n");
    let other = step.replace("w = x * y", "w = exp(x)");
    over_two_lists(more, &other, "m2 is Cons(y, s), y > x {\n    w = exp(x)\n    total = u + w\n");
    // A step that does something else where there is no element, or before it looks, keeps its own.
    let otherwise = "total = x * u s, y = match m2 { Nil() { yield ys, 0.0 } Cons(y, s) { yield s, y } } yield r, s, total";
    over_two_lists(
        "yield true",
        otherwise,
        "m2 is Cons(_, _) {
    total = x * u
    s, _ = match m2 {
      Nil() {
        yield ys, 0.0
      }
      Cons(y, s2) {
        yield s2, y
      }
    }
",
    );
}
