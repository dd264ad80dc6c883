//! JSON to values and back, and what is said about JSON that does not fit.

use super::arguments::{Arguments, arguments};
use super::decode::DataTypes;
use super::encode;
use super::guess::Numbers;
use super::parse::Document;
use crate::render::{Style, text::render_one};
use expect_test::{Expect, expect};
use wengert_base::{Diagnostic, SourceMap};
use wengert_core::Scheme;
use wengert_core::parse::parse_scheme;
use wengert_interp::value::Value;

fn data_types() -> DataTypes {
    let text = "type m.List a = Nil | Cons a (m.List a)\n\
                type m.Nest a = Flat a | Deep (m.Nest (a, a))\n\
                type m.Shape = Circle Real | Rect Real Real";
    wengert_core::parse(text).expect("the types are well formed").types
}

fn scheme(text: &str) -> Scheme {
    parse_scheme(text).expect("the type is well formed")
}

fn read(ty: &str, text: &str, numbers: Numbers) -> (SourceMap, Result<Arguments, Diagnostic>) {
    let mut sources = SourceMap::new();
    let id = sources.add("<input>", text);
    let types = data_types();
    let result = Document::parse(id, text)
        .and_then(|document| arguments(&document, "f", &scheme(ty), &types, numbers));
    (sources, result)
}

/// Reads the arguments of `f : ty` and writes them back.
fn round(ty: &str, text: &str) -> String {
    let (sources, result) = read(ty, text, Numbers::Int);
    let arguments = result.unwrap_or_else(|error| panic!("{}", render_one(&sources, &error, Style::Plain)));
    let written: Vec<String> = arguments.values.iter().map(encode::to_string).collect();
    format!("[{}]", written.join(", "))
}

/// What the arguments make of the type: their types and the type of the result.
fn types(ty: &str, text: &str, numbers: Numbers) -> String {
    let (_, result) = read(ty, text, numbers);
    let arguments = result.unwrap_or_else(|error| panic!("{}", error.message));
    let mut shown: Vec<String> = arguments.types.iter().map(|ty| ty.to_string()).collect();
    shown.push(arguments.result.to_string());
    shown.join("; ")
}

fn fails(ty: &str, text: &str, expected: Expect) {
    let (sources, result) = read(ty, text, Numbers::Int);
    let Err(error) = result else { panic!("{text} was read as {ty}") };
    expected.assert_eq(&render_one(&sources, &error, Style::Plain));
}

#[test]
fn every_kind_of_value_comes_back() {
    for (ty, text) in [
        ("Real -> Int -> Bool", "[1.5, -3]"),
        ("Real -> Real", r#"["NaN"]"#),
        ("Real -> Real", r#"["-Infinity"]"#),
        ("Bool -> String -> ()", r#"[true, "a \"b\" \u0001 é"]"#),
        ("(Real, Int) -> () -> Real", "[[1.0, 2], []]"),
        ("{x : Real, y : [2]Int} -> Real", r#"[{"x": 1.0, "y": [1, 2]}]"#),
        ("[][]Real -> Real", "[[[1.0, 2.0], [3.0, 4.0]]]"),
        ("[]Bool -> Real", "[[true, false]]"),
        ("m.List Real -> Real", r#"[{"tag": "Cons", "fields": [1.0, {"tag": "Nil", "fields": []}]}]"#),
        ("m.Nest Int -> Real", r#"[{"tag": "Deep", "fields": [{"tag": "Flat", "fields": [[1, 2]]}]}]"#),
    ] {
        assert_eq!(round(ty, text), text, "{ty}");
    }
    assert_eq!(round("Real -> Int -> Real", "[2, 1e3]"), "[2.0, 1000]");
    assert_eq!(round("{b : Int, a : Int} -> Int", r#"[{"b": 1, "a": 2}]"#), r#"[{"a": 2, "b": 1}]"#);
    assert_eq!(round("m.List Int -> Int", r#"[{"tag": "Nil"}]"#), r#"[{"tag": "Nil", "fields": []}]"#);
}

#[test]
fn rows_of_different_sizes_are_refused() {
    for (ty, text) in [
        ("[][]Real -> Real", "[[[1.0, 2.0], []]]"),
        ("[][]String -> Real", r#"[[["x"], ["x", "y"]]]"#),
        ("[][][]Int -> Real", "[[[[1], [2]], [[1]]]]"),
        ("[][][]Int -> Real", "[[[[1], [2]], [[1, 2], [3, 4]]]]"),
    ] {
        let (_, result) = read(ty, text, Numbers::Int);
        let error = result.err().unwrap_or_else(|| panic!("{text} was read"));
        assert_eq!(error.code, "E0815", "{text}: {}", error.message);
    }
    // Elements that hold arrays may differ.
    assert_eq!(round("[](Int, []Int) -> Real", "[[[1, [2]], [3, []]]]"), "[[[1, [2]], [3, []]]]");
}

#[test]
fn a_list_of_a_hundred_thousand_cells_is_read_and_written() {
    let length = 100_000;
    let text = format!(
        "[{}{{\"tag\": \"Nil\", \"fields\": []}}{}]",
        "{\"tag\": \"Cons\", \"fields\": [1.0, ".repeat(length),
        "]}".repeat(length)
    );
    assert_eq!(round("m.List Real -> Real", &text), text);
}

#[test]
fn a_nested_type_does_not_double_at_each_level() {
    let depth = 1000;
    let text = format!(
        "[{}{{\"tag\": \"Oops\"}}{}]",
        "{\"tag\": \"Deep\", \"fields\": [".repeat(depth),
        "]}".repeat(depth)
    );
    let (_, result) = read("m.Nest Int -> Real", &text, Numbers::Int);
    let error = result.err().expect("there is no such constructor");
    assert!(error.message.contains("992 more") && error.message.len() < 1000, "{}", error.message);
}

#[test]
fn open_types_are_settled_by_the_json() {
    let numbers = "forall a. Num a => a -> a";
    assert_eq!(types(numbers, "[3]", Numbers::Int), "Int; Int");
    assert_eq!(types(numbers, "[3.0]", Numbers::Int), "Real; Real");
    assert_eq!(types(numbers, "[3]", Numbers::Real), "Real; Real");
    assert_eq!(types(numbers, r#"["NaN"]"#, Numbers::Int), "Real; Real");
    assert_eq!(types("forall a. (Data a, Smooth a) => a -> a", "[[1, 2]]", Numbers::Int), "[]Real; []Real");
    assert_eq!(types("forall a. Num a => (a, a) -> a", "[[3, 4.5]]", Numbers::Int), "(Real, Real); Real");
    assert_eq!(types("forall a. a -> a", r#"[[["x"], ["y"]]]"#, Numbers::Int), "[][]String; [][]String");
    assert_eq!(types("forall a b. a -> b -> a", "[1, true]", Numbers::Int), "Int; Bool; Int");
    assert_eq!(
        types("forall a {r}. {x : a | r} -> a", r#"[{"x": 1, "z": [true]}]"#, Numbers::Int),
        "{x : Int, z : []Bool}; Int"
    );
    assert_eq!(
        types("forall [n] [m]. [n]Real -> [m][n]Real -> [m]Real", "[[1, 2], [[1, 2]]]", Numbers::Int),
        "[2]Real; [1][2]Real; [1]Real"
    );
    assert_eq!(types("Real -> Real -> Real", "[1]", Numbers::Int), "Real; Real -> Real");
}

#[test]
fn wrong_kinds() {
    fails(
        "Real -> Real",
        "3",
        expect![[r#"
        error[E0811]: the input must be a JSON array of the arguments of `f`, found a number
         --> <input>:1:1
          |
        1 | 3
          | ^
          |
          = help: write one argument as `[3.0]`, and one argument that is a tuple as `[[1.0, 2.0]]`"#]],
    );
    fails(
        "Real -> Real",
        "[1, 2]",
        expect![[r#"
        error[E0812]: `f` takes at most 1 argument, but the input has 2
         --> <input>:1:5
          |
        1 | [1, 2]
          |     ^
          |
          = note: `f : Real -> Real`
          = help: an argument that is a tuple is an array inside the array of arguments: `[[1.0, 2.0]]`"#]],
    );
    fails(
        "Real",
        "[1]",
        expect![[r#"
        error[E0812]: `f` is not a function, but the input has 1 argument
         --> <input>:1:2
          |
        1 | [1]
          |  ^
          |
          = note: `f : Real`
          = help: leave the input out"#]],
    );
    fails(
        "Real -> Real -> Real",
        "[1, 2, 3]",
        expect![[r#"
        error[E0812]: `f` takes at most 2 arguments, but the input has 3
         --> <input>:1:8
          |
        1 | [1, 2, 3]
          |        ^
          |
          = note: `f : Real -> Real -> Real`"#]],
    );
    fails(
        "{x : []Real} -> Real",
        r#"[{"x": [1, 2, "three"]}]"#,
        expect![[r#"
        error[E0813]: argument 1, field "x", element 3: expected a number, found a string
         --> <input>:1:15
          |
        1 | [{"x": [1, 2, "three"]}]
          |               ^^^^^^^"#]],
    );
    fails(
        "[](Real, Bool) -> Real",
        "[[[1, true], [2, null]]]",
        expect![[r#"
        error[E0813]: argument 1, element 2, component 2: expected a boolean, found null
         --> <input>:1:18
          |
        1 | [[[1, true], [2, null]]]
          |                  ^^^^"#]],
    );
    fails(
        "Int -> Int",
        "[1.5]",
        expect![[r#"
        error[E0814]: argument 1: 1.5 is not an `Int`
         --> <input>:1:2
          |
        1 | [1.5]
          |  ^^^
          |
          = help: an `Int` is a whole number from -2^63 to 2^63 - 1"#]],
    );
    fails(
        "Int -> Int",
        "[9223372036854775808]",
        expect![[r#"
        error[E0814]: argument 1: 9.223372036854776e18 is not an `Int`
         --> <input>:1:2
          |
        1 | [9223372036854775808]
          |  ^^^^^^^^^^^^^^^^^^^
          |
          = help: an `Int` is a whole number from -2^63 to 2^63 - 1"#]],
    );
    fails(
        "Real -> Real",
        "[1e999]",
        expect![[r#"
        error[E0814]: argument 1: a number this large is not a `Real`
         --> <input>:1:2
          |
        1 | [1e999]
          |  ^^^^^
          |
          = help: write "Infinity" or "-Infinity", in quotes, for the infinities"#]],
    );
    fails(
        "(Real -> Real) -> Real",
        "[1]",
        expect![[r#"
        error[E0818]: argument 1: a value of type `Real -> Real` cannot be written as JSON
         --> <input>:1:2
          |
        1 | [1]
          |  ^
          |
          = help: define an entry that builds it from data, or use `wengert eval` with an expression"#]],
    );
}

#[test]
fn wrong_sizes_and_fields() {
    fails(
        "[3]Real -> Real",
        "[[1, 2]]",
        expect![[r#"
        error[E0815]: argument 1: expected an array of 3, found 2
         --> <input>:1:2
          |
        1 | [[1, 2]]
          |  ^"#]],
    );
    fails(
        "forall [n]. [n]Real -> [n]Real -> Real",
        "[[1, 2], [1]]",
        expect![[r#"
        error[E0815]: argument 2: expected an array of 2, found 1
         --> <input>:1:10
          |
        1 | [[1, 2], [1]]
          |          ^
          |
          = note: the size `n` is 2 in argument 1"#]],
    );
    fails(
        "(Real, Real) -> Real",
        "[[1, 2, 3]]",
        expect![[r#"
        error[E0815]: argument 1: expected an array of 2, for a tuple, found 3
         --> <input>:1:2
          |
        1 | [[1, 2, 3]]
          |  ^"#]],
    );
    fails(
        "{x : Real, y : Real} -> Real",
        r#"[{"x": 1}]"#,
        expect![[r#"
        error[E0816]: argument 1: the field "y" is missing
         --> <input>:1:2
          |
        1 | [{"x": 1}]
          |  ^
          |
          = note: the type is `{x : Real, y : Real}`"#]],
    );
    fails(
        "{length : Real} -> Real",
        r#"[{"length": 1, "lenght": 2}]"#,
        expect![[r#"
        error[E0816]: argument 1: there is no field "lenght" in the type
         --> <input>:1:16
          |
        1 | [{"length": 1, "lenght": 2}]
          |                ^^^^^^^^
          |
          = note: the type is `{length : Real}`
          = help: did you mean "length"?"#]],
    );
    fails(
        "{x : Real} -> Real",
        r#"[{"x": 1, "x": 2}]"#,
        expect![[r#"
        error[E0816]: argument 1: the field "x" is there twice
         --> <input>:1:11
          |
        1 | [{"x": 1, "x": 2}]
          |           ^^^"#]],
    );
}

#[test]
fn wrong_constructors() {
    fails(
        "m.Shape -> Real",
        r#"[{"tag": "Cirlce", "fields": [1]}]"#,
        expect![[r#"
        error[E0817]: argument 1: `Cirlce` is not a constructor of `Shape`
         --> <input>:1:10
          |
        1 | [{"tag": "Cirlce", "fields": [1]}]
          |          ^^^^^^^^
          |
          = note: its constructors are Circle, Rect
          = help: did you mean "Circle"?"#]],
    );
    fails(
        "m.Shape -> Real",
        r#"[{"tag": "Rect", "fields": [1]}]"#,
        expect![[r#"
        error[E0815]: argument 1: expected 2 fields for `Rect`, found 1
         --> <input>:1:28
          |
        1 | [{"tag": "Rect", "fields": [1]}]
          |                            ^"#]],
    );
    fails(
        "m.Shape -> Real",
        r#"[{"Circle": 1}]"#,
        expect![[r#"
        error[E0816]: argument 1: this object is not a constructor of `Shape`
         --> <input>:1:2
          |
        1 | [{"Circle": 1}]
          |  ^
          |
          = help: a constructor is written `{"tag": "Name", "fields": [ … ]}`"#]],
    );
    fails(
        "m.List m.Shape -> Real",
        r#"[{"tag": "Cons", "fields": [{"tag": "Circle", "fields": ["x"]}, {"tag": "Nil"}]}]"#,
        expect![[r#"
            error[E0813]: argument 1, `Cons` field 1, `Circle` field 1: expected a number, found a string
             --> <input>:1:58
              |
            1 | [{"tag": "Cons", "fields": [{"tag": "Circle", "fields": ["x"]}, {"tag": "Nil"}]}]
              |                                                          ^^^"#]],
    );
}

#[test]
fn json_that_leaves_the_type_open() {
    fails(
        "forall a. Num a => a -> a",
        r#"["x"]"#,
        expect![[r#"
            error[E0813]: argument 1: expected a number, found a string
             --> <input>:1:2
              |
            1 | ["x"]
              |  ^^^"#]],
    );
    fails(
        "forall a. a -> a",
        r#"[[1, "x"]]"#,
        expect![[r#"
        error[E0819]: the JSON does not tell what `a` is: a number and a string cannot be one type
         --> <input>:1:6
          |
        1 | [[1, "x"]]
          |      ^^^
          |
          = note: `f : a -> a`
          = help: annotate the parameters of `f` with their types"#]],
    );
    fails(
        "forall a. a -> a",
        r#"[{"tag": "Nil"}]"#,
        expect![[r#"
        error[E0819]: the JSON does not tell what `a` is: a constructor does not tell its type
         --> <input>:1:2
          |
        1 | [{"tag": "Nil"}]
          |  ^
          |
          = note: `f : a -> a`
          = help: annotate the parameters of `f` with their types"#]],
    );
}

#[test]
fn results_of_every_kind_are_written() {
    assert_eq!(encode::to_string(&Value::Real(f64::NAN)), "\"NaN\"");
    assert_eq!(encode::to_string(&Value::Real(1e-9)), "1e-9");
    assert_eq!(encode::to_string(&Value::Int(i64::MIN)), "-9223372036854775808");
}

#[test]
fn any_json_at_any_type_is_read_or_refused() {
    const TYPES: &[&str] = &[
        "Real -> Int -> Bool -> String -> Real",
        "(Real, ()) -> {x : Real, y : [2]Int} -> Real",
        "forall a [n]. Num a => [n]a -> [n][3]a -> a",
        "forall a {r}. {x : a | r} -> a -> a",
        "m.List Real -> m.Nest Int -> m.Shape -> Real",
        "forall a b. (Data a, Smooth a) => a -> m.List a -> b -> a",
        "(Real -> Real) -> [](Dual Real) -> Real",
    ];
    const PIECES: &[&str] = &[
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"x\": ",
        "\"y\": ",
        "1",
        "2.5",
        "-3",
        "true",
        "\"a\"",
        "\"NaN\"",
        "null",
        "[1, 2]",
        "{\"x\": 1}",
        "{\"tag\": \"Nil\"}",
        "{\"tag\": \"Cons\", \"fields\": [",
        "{\"tag\": \"Circle\", \"fields\": [1]}",
    ];
    arbtest::arbtest(|u| {
        let mut text = String::from("[");
        while !u.is_empty() && text.len() < 300 {
            text.push_str(u.choose(PIECES)?);
        }
        // Close what is open, so that most texts are JSON.
        let mut open = Vec::new();
        for c in text.chars() {
            match c {
                '[' => open.push(']'),
                '{' => open.push('}'),
                ']' | '}' if open.last() == Some(&c) => drop(open.pop()),
                _ => {}
            }
        }
        text.extend(open.into_iter().rev());
        let ty = *u.choose(TYPES)?;
        let (sources, result) = read(ty, &text, *u.choose(&[Numbers::Int, Numbers::Real])?);
        match result {
            Ok(arguments) => {
                let written: Vec<String> = arguments.values.iter().map(encode::to_string).collect();
                let again = round(ty, &format!("[{}]", written.join(", ")));
                assert_eq!(again, format!("[{}]", written.join(", ")), "{ty} from {text}");
            }
            Err(error) => assert!(render_one(&sources, &error, Style::Plain).contains("error[E08")),
        }
        Ok(())
    })
    .budget_ms(1_500);
}
