//! One mutation for each rule: the program is well formed, and with one word changed it is not.

use crate::op::{Op, Var};
use crate::program::FuncId;
use crate::ty::{Elem, Role};
use crate::{DataId, Program, Ty, parse, verify};

fn read(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(verify(&program), Ok(()), "{text}");
    program
}

fn errors(program: &Program) -> Vec<String> {
    verify(program).map_or_else(|errors| errors.iter().map(ToString::to_string).collect(), |()| Vec::new())
}

const SMALL: &str = "\
data List {
  Nil()
  Cons(Real, List)
}

residual kept {}

linear f_map of f(varies, fixed) keeps kept

func f(x: Real, n: Int) -> Real {
  c = n < 3
  y = if c {
    z = x + 1.0
    yield z
  } else {
    yield x
  }
  return y
}

func g(list: List, x: Real) -> (Real, Real) {
  y = match list {
    Nil() {
      yield x
    }
    Cons(head, tail) {
      yield head
    }
  }
  z = f(y, 2)
  v, kept = linearize f_map(x, 3)
  one = Cons(z, list)
  return z, v
}

entry main = g
";

/// What the verifier says after a change to [`SMALL`].
fn broken(change: impl FnOnce(&mut Program)) -> Vec<String> {
    let mut program = read(SMALL);
    change(&mut program);
    errors(&program)
}

const F: FuncId = FuncId(0);
const G: FuncId = FuncId(1);

/// A statement of the outermost block.
fn stmt(program: &mut Program, func: FuncId, index: usize) -> &mut crate::Stmt {
    &mut program.funcs.at_mut(func).body.stmts[index]
}

#[test]
fn declarations() {
    assert_eq!(
        broken(|p| p.data.at_mut(DataId(0)).ctors[1].fields[0] = Ty::Array(Elem::Real, 0)),
        [
            "in `List`: a field of `Cons` is an array without axes",
            "in `g`: y = match list {: the parameters of the arm of `Cons` should be of types (Real, List), but are of types (Real, List)",
            "in `g`: one = Cons(z, list): `z` should be of type Real, but is of type Real",
        ]
    );
    assert_eq!(
        broken(|p| p.data.at_mut(DataId(1)).role = Role::Tangent(DataId(9))),
        [
            "in `kept`: it holds tangents of a type that does not exist",
            "in `linearization 0`: `kept` is no type of residuals"
        ]
    );
    assert_eq!(
        broken(|p| p.linears.iter_mut().for_each(|(_, linear)| linear.active.push(true))),
        ["in `linearization 0`: `f` has 2 parameters, but 3 are spoken of"]
    );
    assert_eq!(
        broken(|p| {
            p.entries.insert("other".into(), FuncId(7));
        }),
        ["in `other`: the entry's function does not exist"]
    );
    assert_eq!(
        broken(|p| p.funcs.at_mut(F).vars.at_mut(Var(1)).ty = Ty::Scalar(Elem::Data(DataId(5))))
            .first()
            .expect("an error"),
        "in `f`: `n` is of a data type that does not exist"
    );
}

#[test]
fn variables() {
    assert_eq!(
        broken(|p| {
            let y = stmt(p, F, 1).outs[0];
            stmt(p, F, 0).outs[0] = y;
        }),
        [
            "in `f`: y = n < 3: the results are (Bool), but the variables are (Real)",
            "in `f`: y = if c {: `c` is used where it is not bound",
            "in `f`: y = if c {: `y` is bound twice",
        ]
    );
    // What a branch binds is not seen behind it.
    assert_eq!(
        broken(|p| {
            let Op::If { then, .. } = &stmt(p, F, 1).op else { panic!("there is an if") };
            let z = then.results.clone();
            p.funcs.at_mut(F).body.results = z;
        }),
        ["in `f`: `z` is used where it is not bound"]
    );
    assert_eq!(
        broken(|p| p.funcs.at_mut(F).body.stmts.swap(0, 1)),
        ["in `f`: y = if c {: `c` is used where it is not bound"]
    );
    assert_eq!(
        broken(|p| stmt(p, F, 0).outs[0] = Var(99)).first().expect("an error"),
        "in `f`: ? = n < 3: Var(99) is not in the function's table"
    );
}

#[test]
fn types_of_operands_and_results() {
    assert_eq!(
        broken(|p| p.funcs.at_mut(G).results.truncate(1)),
        ["in `g`: the body gives (Real, Real), but (Real) is declared"]
    );
    assert_eq!(
        broken(|p| {
            let Op::Match { arms, .. } = &mut stmt(p, G, 0).op else { panic!("there is a match") };
            arms.pop();
        }),
        ["in `g`: y = match list {: `List` has 2 constructors, but there are 1 arms"]
    );
    assert_eq!(
        broken(|p| {
            let Op::Call { args, .. } = &mut stmt(p, G, 1).op else { panic!("there is a call") };
            args.pop();
        }),
        ["in `g`: z = f(y): it takes 2 operands and has 1"]
    );
    assert_eq!(
        broken(|p| stmt(p, G, 2).outs.truncate(1)).first().expect("an error"),
        "in `g`: v = linearize f_map(x, 3): the results are (Real, kept), but the variables are (Real)"
    );
    assert_eq!(
        broken(|p| {
            let Op::Make { fields, .. } = &mut stmt(p, G, 3).op else { panic!("there is a constructor") };
            fields.swap(0, 1);
        }),
        ["in `g`: one = Cons(list, z): `list` should be of type Real, but is of type List"]
    );
    assert_eq!(
        broken(|p| {
            let Op::If { otherwise, .. } = &mut stmt(p, F, 1).op else { panic!("there is an if") };
            otherwise.results = vec![crate::Atom::Int(3)];
        }),
        ["in `f`: y = if c {: the results of a branch should be of types (Real), but are of types (Int)"]
    );
}

#[test]
fn every_operation_needs_its_types() {
    // In each line one operand is of a wrong type: the parser asks the same rules.
    let lines = [
        "y = exp(n)",
        "y = atan2(x, n)",
        "y = n ^ x",
        "y = power(n, 3)",
        "y = polygamma(x, x)",
        "y = div(n, x)",
        "y = x < n",
        "y = c < c",
        "y = xs == xs",
        "y = real(x)",
        "y = floor(n)",
        "y = is_nan(n)",
        "y = not(n)",
        "y = select(n, x, x)",
        "y = select(c, x, n)",
        "y = t ++ n",
        "y = string_length(n)",
        "y = show(xs)",
        "y = join(t, t)",
        "y: Real = fail(n)",
        "require x == n, rows",
        "y = Nil(x)",
        "y = f(x, x)",
        "y = checkpoint f(x)",
        "y = [x, n]",
        "y = []",
        "y = length(x)",
        "y = length(xs, 1)",
        "y = add_product(xs, xs, xs)",
        "y = add_product(rows, rows, xs)",
        "y = add_product_nt(xs, rows, xs)",
        "y = add_product(rows, rows, rows, rows)",
        "y = add_product(xs, 0, rows, rows)",
        "y = xs[x]",
        "y = xs[n, n]",
        "y = xs with [n] = n",
        "y = ns with [n] += n",
        "y = xs + ns",
        "y = zeros(ns)",
        "y = iota(x)",
        "y = replicate(x, x)",
        "y = concat(xs, ns)",
        "y = flatten(xs)",
        "y = unflatten_like(xs, ns)",
        "y = slice(xs, x, n)",
        "y = reverse(x)",
        "y = transpose(xs)",
        "y = gather(xs, xs)",
        "y = scatter_add(xs, ns, ns)",
        "y = filter(xs, ns)",
        "y = sum(rows)",
        "y = product(ts)",
        "y = maximum(ts)",
        "y = argmin(x)",
        "y = dot(xs, ns)",
        "y = matvec(xs, xs)",
        "y = matmul(rows, xs)",
        "y = sort(rows)",
        "y = argsort(cs)",
        "y = ravel(x)",
        "y = reshape(rows, xs)",
        "y = reshape(xs, x)",
        "y, k = linearize f_map(x, x)",
        "y = forward f_map(x, x)",
        "y = backward f_map(kept, n)",
        "y, dy = jvp f(x, n; n, _)",
        "y, dy = jvp f(x, n; x)",
        "y = custom jvp f[](x, n), f[]",
        "y = custom vjp f[](x, n), f[], f",
        "y = taylor n f[x](x)",
        "y = taylor x one[](x)",
        "each i < x {\n}",
        "each i < n, s = x {\n yield s\n}",
        "y = for i < n, s = x {\n yield n\n}",
        "y = reduce i < n, s = x, r in ns {\n yield s\n}",
        "y = each i < n, a += n {\n yield a\n}",
        "y = while s = x {\n yield s\n} do s {\n yield s\n}",
        "y = while s = x {\n yield c\n} do s {\n yield c\n}",
        "y = if n {\n yield x\n} else {\n yield x\n}",
        "match x {\n}",
    ];
    for line in lines {
        let text = format!(
            "data List {{\n Nil()\n}}\nresidual kept {{}}\nlinear f_map of f(varies, fixed) keeps kept\n\
             func f(x: Real, n: Int) -> Real {{\n return x\n}}\nfunc one(x: Real) -> Real {{\n return x\n}}\n\
             func g(x: Real, n: Int, c: Bool, t: Text, xs: []Real, ns: []Int, ts: []Text, cs: []Bool, rows: [][]Real, kept: kept) -> () {{\n{line}\n}}\n"
        );
        let error = parse(&text).map(|_| ()).expect_err(line);
        assert!(error.line >= 13, "{line}: {error}");
    }
}

#[test]
fn accumulators_are_only_added_to() {
    let body = |lines: &str| {
        format!(
            "func f(xs: []Real, x: Real, n: Int) -> []Real {{\n  ys = each i < n, g += xs {{\n{lines}\n  }}\n  return ys\n}}\n\
             func add(xs: []Real) -> []Real {{\n  ys = xs with [0] += 1.0\n  return ys\n}}\n"
        )
    };
    let fine = [
        "yield g",
        "a = g with [i] += x\n b = a + xs\n yield b",
        "c = i < 2\n a = if c {\n b = g with [i] += x\n yield b\n } else {\n yield g\n }\n yield a",
        "a = for j < n, h = g {\n b = h with [j] += x\n yield b\n }\n yield a",
        "a = add(g)\n yield a",
        "c = i < 2\n a = if c {\n b: []Real = fail(\"no\")\n yield b\n } else {\n yield g\n }\n yield a",
        "c = i < 2\n a = if c {\n b = if c {\n d: []Real = fail(\"no\")\n yield d\n } else {\n e: []Real = fail(\"no\")\n yield e\n }\n yield b\n } else {\n yield g\n }\n yield a",
        "m = length(g)\n z = zeros(g)\n a = g + z\n yield a",
        "a: []Real = fail(\"no\")\n yield a",
    ];
    for lines in fine {
        read(&body(lines));
    }
    let wrong = [
        (
            "y = g[i]\n a = g with [i] += y\n yield a",
            "the accumulator `g` is used where it is not only added to",
        ),
        ("yield xs", "the body gives back something else than the accumulator with something added"),
        ("a = g + g\n yield a", "an accumulator is added to itself"),
        ("a = g with [i] = x\n yield a", "the accumulator `g` is used where it is not only added to"),
        (
            "c = i < 2\n a = if c {\n b = if c {\n d: []Real = fail(\"no\")\n yield d\n } else {\n yield xs\n }\n yield b\n } else {\n yield g\n }\n yield a",
            "the body gives back something else than the accumulator with something added",
        ),
        (
            "c = i < 2\n a = if c {\n yield xs\n } else {\n yield g\n }\n yield a",
            "the body gives back something else than the accumulator with something added",
        ),
    ];
    for (lines, message) in wrong {
        let program = parse(&body(lines)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(errors(&program), [format!("in `f`: ys = each i < n, g += xs {{: {message}")], "{lines}");
    }
}
