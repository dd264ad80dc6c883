//! Printing and parsing the core are inverse: on random trees, well typed or not, with names and literals as odd as
//! the tree allows.

use arbtest::arbitrary::{Result, Unstructured};
use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::parse::parse_term;
use wengert_core::{
    Arm, Binder, Ctor, CtorRef, DataType, Def, Kind, Lit, Param, Pattern, Pred, Program, RecBinding, Row,
    Scheme, Size, Term, TermKind, Type, TypeArg, Var, parse, print, print_term, strip_spans,
};
use wengert_prim::table::PRIMS;

const NAMES: &[&str] = &[
    "x",
    "y'",
    "main.f",
    "main.List",
    "List",
    "let",
    "a.b.c",
    "_",
    "_1",
    "∇",
    "λx",
    "",
    "a b",
    "`",
    "\"",
    "1",
    "end",
    "Real",
    "Num",
    "\n",
    "T",
    "é",
    "x%1",
    "-",
    "#",
    "row",
    "data",
];

fn name(u: &mut Unstructured) -> Result<Name> {
    Ok(Name::new(u.choose(NAMES)?))
}

fn var(u: &mut Unstructured) -> Result<Var> {
    Ok(Var { name: name(u)?, id: u.arbitrary()? })
}

/// Up to three of something, fewer when the tree is deep.
fn several<T>(
    u: &mut Unstructured,
    depth: u32,
    item: impl Fn(&mut Unstructured, u32) -> Result<T>,
) -> Result<Vec<T>> {
    let count = u.int_in_range(0..=if depth == 0 { 0 } else { 3 })?;
    (0..count).map(|_| item(u, depth.saturating_sub(1))).collect()
}

fn row(u: &mut Unstructured, depth: u32) -> Result<Row> {
    let fields = several(u, depth, |u, d| Ok((name(u)?, ty(u, d)?)))?;
    let rest = if u.arbitrary()? { Some(name(u)?) } else { None };
    Ok(Row { fields: fields.into_iter().collect::<BTreeMap<_, _>>(), rest })
}

fn size(u: &mut Unstructured) -> Result<Size> {
    Ok(match u.int_in_range(0..=2)? {
        0 => Size::Const(u.arbitrary()?),
        1 => Size::Var(name(u)?),
        _ => Size::Unknown,
    })
}

fn ty(u: &mut Unstructured, depth: u32) -> Result<Type> {
    let next = depth.saturating_sub(1);
    Ok(match u.int_in_range(0..=if depth == 0 { 4 } else { 10 })? {
        0 => Type::Real,
        1 => Type::Int,
        2 => Type::Bool,
        3 => Type::String,
        4 => Type::Var(name(u)?),
        5 => Type::Tuple(several(u, depth, ty)?),
        6 => Type::Record(row(u, depth)?),
        7 => Type::array(size(u)?, ty(u, next)?),
        8 => Type::fun(ty(u, next)?, ty(u, next)?),
        9 => Type::Data(name(u)?, several(u, depth, ty)?),
        _ => Type::Dual(Arc::new(ty(u, next)?)),
    })
}

fn scheme(u: &mut Unstructured) -> Result<Scheme> {
    let mut params: Vec<Param> = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let kind = match u.int_in_range(0..=2)? {
            0 => Kind::Type(u.choose(&[vec![], vec![Pred::Num], vec![Pred::Data, Pred::Smooth]])?.clone()),
            1 => Kind::Row,
            _ => Kind::Size,
        };
        let param = Param { name: name(u)?, kind };
        if !params.iter().any(|other| other.name == param.name) {
            params.push(param);
        }
    }
    Ok(Scheme { params, ty: ty(u, 2)? })
}

fn type_arg(u: &mut Unstructured, depth: u32) -> Result<TypeArg> {
    Ok(match u.int_in_range(0..=2)? {
        0 => TypeArg::Type(ty(u, depth)?),
        1 => TypeArg::Row(row(u, depth)?),
        _ => TypeArg::Size(size(u)?),
    })
}

fn binder(u: &mut Unstructured) -> Result<Binder> {
    Ok(Binder { var: var(u)?, ty: ty(u, 1)? })
}

fn ctor(u: &mut Unstructured) -> Result<CtorRef> {
    Ok(CtorRef { data: name(u)?, index: u.arbitrary()?, name: name(u)? })
}

fn lit(u: &mut Unstructured) -> Result<Lit> {
    Ok(match u.int_in_range(0..=5)? {
        0 => Lit::Real(*u.choose(&[f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-300, 1e20])?),
        1 => Lit::Real(u.arbitrary::<f64>().map(|x| if x.is_nan() { 0.5 } else { x })?),
        2 => Lit::Int(u.arbitrary()?),
        3 => Lit::Num(u.arbitrary()?, name(u)?),
        4 => Lit::Bool(u.arbitrary()?),
        _ => Lit::String(u.arbitrary::<String>()?.into()),
    })
}

fn pattern(u: &mut Unstructured, depth: u32) -> Result<Pattern> {
    Ok(match u.int_in_range(0..=if depth == 0 { 2 } else { 6 })? {
        0 => Pattern::Wildcard,
        1 => Pattern::Bind(binder(u)?),
        2 => Pattern::Lit(lit(u)?),
        3 => Pattern::Tuple(several(u, depth, pattern)?),
        4 => Pattern::Record(several(u, depth, |u, d| Ok((name(u)?, pattern(u, d)?)))?),
        5 => Pattern::Ctor { ctor: ctor(u)?, args: several(u, 1, ty)?, fields: several(u, depth, pattern)? },
        _ => Pattern::As(Box::new(pattern(u, depth - 1)?), binder(u)?),
    })
}

fn field(u: &mut Unstructured, depth: u32) -> Result<(Name, Term)> {
    Ok((name(u)?, term(u, depth)?))
}

fn term(u: &mut Unstructured, depth: u32) -> Result<Term> {
    let next = depth.saturating_sub(1);
    let part = |u: &mut Unstructured| Ok(Arc::new(term(u, next)?));
    let kind = match u.int_in_range(0..=if depth == 0 { 2 } else { 17 })? {
        0 => TermKind::Var { var: var(u)?, args: several(u, 1, type_arg)? },
        1 => TermKind::Global { name: name(u)?, args: several(u, 1, type_arg)? },
        2 => TermKind::Lit(lit(u)?),
        3 => TermKind::Lam { param: binder(u)?, body: part(u)? },
        4 | 5 => TermKind::App { func: part(u)?, arg: part(u)? },
        6 => TermKind::Let { var: var(u)?, scheme: scheme(u)?, value: part(u)?, body: part(u)? },
        7 => {
            let binding = |u: &mut Unstructured, d| {
                Ok(RecBinding { var: var(u)?, scheme: scheme(u)?, value: term(u, d)? })
            };
            TermKind::LetRec { bindings: several(u, depth, binding)?, body: part(u)? }
        }
        8 => TermKind::If { cond: part(u)?, then: part(u)?, otherwise: part(u)? },
        9 => TermKind::Tuple(several(u, depth, term)?),
        10 => TermKind::Proj { tuple: part(u)?, index: u.arbitrary()? },
        11 => TermKind::Record(several(u, depth, field)?),
        12 => TermKind::Field { record: part(u)?, field: name(u)? },
        13 => TermKind::Update { record: part(u)?, fields: several(u, depth, field)? },
        14 => TermKind::Ctor { ctor: ctor(u)?, args: several(u, 1, ty)?, fields: several(u, depth, term)? },
        15 => {
            let arm = |u: &mut Unstructured, d| Ok(Arm { pattern: pattern(u, 3)?, body: term(u, d)? });
            TermKind::Match { scrutinee: part(u)?, arms: several(u, depth, arm)? }
        }
        16 => match u.arbitrary()? {
            true => TermKind::Array { elem: ty(u, 2)?, items: several(u, depth, term)? },
            false => TermKind::CheckSize {
                array: part(u)?,
                axis: u.arbitrary()?,
                expected: part(u)?,
                name: name(u)?,
            },
        },
        _ => TermKind::Prim {
            prim: u.choose(PRIMS)?.prim,
            type_args: several(u, 1, type_arg)?,
            args: several(u, depth, term)?,
        },
    };
    Ok(Term { kind, span: Span::NOWHERE })
}

fn program(u: &mut Unstructured) -> Result<Program> {
    let mut program = Program::default();
    for _ in 0..u.int_in_range(0..=2)? {
        let ctors = several(u, 2, |u, _| Ok(Ctor { name: name(u)?, fields: several(u, 2, ty)? }))?;
        let params = several(u, 1, |u, _| name(u))?;
        let data = DataType { name: name(u)?, params, ctors, span: Span::NOWHERE };
        program.types.insert(data.name, Arc::new(data));
    }
    for _ in 0..u.int_in_range(0..=2)? {
        let def = Def { name: name(u)?, scheme: scheme(u)?, body: term(u, 6)?, span: Span::NOWHERE };
        program.defs.insert(def.name, Arc::new(def));
    }
    Ok(program)
}

#[test]
fn parse_of_print_is_the_same_program() {
    arbtest::arbtest(|u| {
        let program = program(u)?;
        let text = print(&program);
        let back = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(back, program, "\n{text}");
        Ok(())
    })
    .size_max(4096)
    .budget_ms(1000);
}

#[test]
fn a_number_that_is_none_reads_back() {
    let nan = parse_term("NaN").unwrap();
    assert!(matches!(nan.kind, TermKind::Lit(Lit::Real(x)) if x.is_nan()));
    assert_eq!(print_term(&nan), "NaN");
}

#[test]
fn the_layout_is_the_documented_one() {
    let text = "\
type main.List a = Nil | Cons a (main.List a)

def main.sum_list : forall a. Num a => main.List a -> a =
  \\(xs%0 : main.List a) ->
    match xs%0 with
    | main.List::Nil#0 @a -> 0~a
    | main.List::Cons#1 @a (x%1 : a) (rest%2 : main.List a) -> #+ @a x%1 (main.sum_list @a rest%2)
    end

def main.shift : {x : Real | r} -> {x : Real | r} = \\(r%1 : {x : Real | r}) -> {r%1 with x = #sin r%1.x}
";
    let program = parse(text).unwrap();
    assert_eq!(print(&program), text);
    assert_eq!(strip_spans(&program), program);
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let error = |text| parse(text).unwrap_err().to_string();
    assert_eq!(error("def f : Real =\n  #sine 1.0"), "2:3: expected the name of a primitive, found `#sine`");
    assert_eq!(error("def f : Real = (1.0"), "1:20: expected `,` or `)`, found the end of the text");
    assert_eq!(error("def f : Num a => a = 1"), "1:9: `a` is not bound by `forall`");
    assert_eq!(error("def f : Real = \"a"), "1:16: `\"` is never closed");
    assert_eq!(error("def f : Real = 1 def f : Real = 2"), "1:18: `f` is defined twice");
}

#[test]
fn deep_programs_are_printed_compared_and_dropped_safely() {
    let depth = wengert_core::parse::MAX_DEPTH as usize / 4;
    for (open, close) in [("#sin (", ")"), ("(1, ", ")"), ("\\(x%1 : Real) -> (", ")"), ("[: Real] (", ")")] {
        let text = format!("def f : Real = {}1.0{}", open.repeat(depth), close.repeat(depth));
        let program = parse(&text).unwrap_or_else(|error| panic!("{open}: {error}"));
        assert_eq!(parse(&print(&program)).unwrap(), program);
    }
}

#[test]
fn any_text_parses_or_is_an_error_and_deep_text_is_no_overflow() {
    arbtest::arbtest(|u| {
        let pieces =
            ["(", ")", "\\", "let", "x%1", ":", "Real", "=", "in", "->", "[", "]", "{", "}", "#+", "@", "`"];
        let mut text = String::from("def f : Real = ");
        while !u.is_empty() {
            text.push_str(u.choose(&pieces)?);
            text.push(' ');
        }
        let _ = parse(&text);
        let _ = parse(&u.arbitrary::<String>()?);
        Ok(())
    });
    for open in ["(", "[", "{x = ", "\\(x%1 : Real) -> ", "#sin (", "if ", "match "] {
        let error = parse(&format!("def f : Real = {}", open.repeat(100_000))).unwrap_err();
        assert!(error.message.contains("nested deeper"), "{open}: {error}");
    }
}
