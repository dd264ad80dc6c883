//! Printing and reading back.

use crate::{parse, print, verify};

/// A program with every operation, as the printer writes it.
pub(crate) const EVERYTHING: &str = include_str!("everything.ir");

#[test]
fn a_program_with_every_operation_is_read_and_printed_as_it_was() {
    let program = parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&program), Ok(()));
    let printed = print(&program);
    assert_eq!(printed, EVERYTHING);
    assert_eq!(print(&parse(&printed).expect("what was printed is read")), printed);
}

#[test]
fn the_program_with_every_operation_has_every_operation() {
    for word in
        ["checkpoint", "backward", "forward", "linearize", "jvp", "custom", "taylor", "require", "reduce"]
    {
        assert!(EVERYTHING.contains(word), "{word}");
    }
}

#[test]
fn names_are_told_apart_and_quoted() {
    let text = "\
func `sin`(`if`: Real, x: Real) -> Real {
  x = x * `if`
  `a b` = -x
  x = `sin`(`a b`, x)
  return x
}

entry `main f` = `sin`
";
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&program), Ok(()));
    let printed = print(&program);
    let expected = text
        .replace("  x = x *", "  x2 = x *")
        .replace("-x", "-x2")
        .replace("x = `sin`(`a b`, x)", "x3 = `sin`(`a b`, x2)");
    assert_eq!(printed, expected.replace("return x", "return x3"));
    assert_eq!(print(&parse(&printed).expect("what was printed is read")), printed);
}

#[test]
fn a_wrong_text_is_refused_with_its_place() {
    let cases = [
        ("func f() -> Real {\n  return y\n}", "2:10: there is no variable `y`"),
        ("func f() -> Real {\n  y = g(1.0)\n  return y\n}", "2:7: there is no function or constructor `g`"),
        (
            "func f(x: Real) -> Real {\n  y = x + 1\n  return y\n}",
            "2:3: 1 should be of type Real, but is of type Int",
        ),
        (
            "func f(x: Real) -> Real {\n  y, z = x\n}",
            "2:3: the operation has 1 results, but there are 2 names",
        ),
        ("func f(x: Tree) -> Real {\n}", "1:11: there is no data type `Tree`"),
        ("func f(x: Real) -> Real {\n  y = x $ x\n}", "2:9: unexpected character `$`"),
        ("func f() -> Real {\n  x = fail(\"no\")\n}", "2:3: `x` needs a type: nothing tells it"),
        ("func f() -> Real {\n", "1:18: `{` is never closed"),
        ("func f() -> Real {}\nfunc f() -> Real {}", "2:6: the function `f` is declared twice"),
        (
            "data A {\n  B()\n}\nfunc f(a: A) -> () {\n  match a {\n  }\n}",
            "5:9: an arm is missing: there is one for each constructor",
        ),
        ("let x", "1:1: expected a declaration (`data`, `func`, `linear`, `entry`), found `let`"),
        (
            "func f(xs: []Real) -> Real {\n  y = xs[1.0]\n  return y\n}",
            "2:3: 1.0 should be of type Int, but is of type Real",
        ),
        ("func f() -> () {\n  for i < 3, x in 3 {\n  }\n}", "2:14: `x` is to be a row of no array"),
        (
            "func f() -> () {\n  for i < 3, g += 1.0, s = 2.0 {\n  }\n}",
            "2:24: first what is carried (`=`), then accumulators (`+=`), then rows (`in`)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).map(|_| ()).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn deep_texts_are_read_or_refused_without_overflow() {
    for (depth, fine) in [(4_990, true), (100_000, false)] {
        let open = "if c {\n".repeat(depth);
        let close = "} else {\n}\n".repeat(depth);
        let text = format!("func f(c: Bool) -> () {{\n{open}{close}}}\n");
        match parse(&text) {
            Ok(program) => {
                assert!(fine);
                assert_eq!(verify(&program), Ok(()));
                let printed = print(&program);
                assert_eq!(print(&parse(&printed).expect("what was printed is read")), printed);
            }
            Err(error) => assert!(!fine && error.message == "blocks nest too deeply", "{error}"),
        }
    }
}

/// Small numbers that a seed decides.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = crate::generate::Random::new(seed);
    move |limit| random.below(limit)
}

#[test]
fn no_text_breaks_the_parser() {
    let words: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n', '(', ')', ',']).collect();
    for seed in 0..1500 {
        let mut random = random(seed);
        let mut words = words.clone();
        for _ in 0..1 + random(4) {
            let place = random(words.len());
            match random(3) {
                0 => {
                    words.remove(place);
                }
                1 => words.insert(place, words[random(words.len())]),
                _ => words[place] = words[random(words.len())],
            }
        }
        // What is still read may be wrong, but it can be verified and printed.
        if let Ok(program) = parse(&words.concat()) {
            let _ = verify(&program);
            assert!(!print(&program).is_empty());
        }
    }
}

#[test]
fn no_program_breaks_verifier_and_printer() {
    let program = parse(EVERYTHING).expect("it is read");
    for seed in 0..400 {
        let (mut random, mut broken) = (random(seed), program.clone());
        for (_, func) in broken.funcs.iter_mut() {
            func.body.for_each_atom_mut(&mut |atom| {
                if random(40) == 0 {
                    *atom = crate::Atom::Var(crate::Var(u32::try_from(random(60)).expect("a small number")));
                }
            });
            if random(3) == 0 {
                func.body.params.pop();
            }
        }
        assert!(verify(&broken).is_err());
        assert!(!print(&broken).is_empty());
    }
}
