//! Values of first-order types: inputs of generated programs, and the literals in them. A value is written as a surface
//! expression ([`GenValue::text`]) or as the JSON that the command reads ([`GenValue::json`]).

use crate::ty::{DataDecl, GenType};
use arbitrary::{Result, Unstructured};
use std::fmt::Write;
use wengert_base::{Name, real};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum GenValue {
    /// `1.5`
    Real(f64),
    /// `3`
    Int(i64),
    /// `true`
    Bool(bool),
    /// `"text"`
    String(String),
    /// `(1.5, 3)`
    Tuple(Vec<GenValue>),
    /// `{x = 1.5}`
    Record(Vec<(Name, GenValue)>),
    /// `[1.5, 2.5]`
    Array(Vec<GenValue>),
    /// `Cons 1.5 Nil`
    Ctor(Name, Vec<GenValue>),
}

/// How deep lists and trees may get.
const MAX_DATA_DEPTH: u32 = 4;

/// A value of a first-order type; `None` if the type holds functions. Real numbers are between -2 and 2, in steps of
/// 1/16, never an integer (where many functions have kinks).
pub fn gen_value(u: &mut Unstructured, ty: &GenType, decls: &[DataDecl]) -> Result<Option<GenValue>> {
    if !ty.is_first_order() {
        return Ok(None);
    }
    value_at(u, ty, decls, 0).map(Some)
}

/// A value inside `depth` constructors.
fn value_at(u: &mut Unstructured, ty: &GenType, decls: &[DataDecl], depth: u32) -> Result<GenValue> {
    Ok(match ty {
        GenType::Real => GenValue::Real(gen_real(u)?),
        GenType::Int => GenValue::Int(u.int_in_range(-3..=5)?),
        GenType::Bool => GenValue::Bool(u.arbitrary()?),
        GenType::String => GenValue::String((*u.choose(&["", "a", "λ x", "tab\tquote\""])?).to_string()),
        GenType::Tuple(items) => {
            GenValue::Tuple(items.iter().map(|item| value_at(u, item, decls, depth)).collect::<Result<_>>()?)
        }
        GenType::Record(fields) => GenValue::Record(
            fields
                .iter()
                .map(|(name, field)| Ok((*name, value_at(u, field, decls, depth)?)))
                .collect::<Result<_>>()?,
        ),
        GenType::Array(n, elem) => {
            GenValue::Array((0..*n).map(|_| value_at(u, elem, decls, depth)).collect::<Result<_>>()?)
        }
        GenType::Data(name, _) => {
            let Some(decl) = decls.iter().find(|decl| decl.name == *name) else { return Ok(unit()) };
            let usable = if depth >= MAX_DATA_DEPTH { 1 } else { decl.ctors.len() };
            let Some((name, fields)) = decl.ctors.get(u.choose_index(usable)?) else { return Ok(unit()) };
            let fields = fields.iter().map(|field| value_at(u, &field.at(ty), decls, depth + 1));
            GenValue::Ctor(*name, fields.collect::<Result<_>>()?)
        }
        GenType::Fun(..) | GenType::Param => unit(),
    })
}

/// What stands for a value that cannot be made.
fn unit() -> GenValue {
    GenValue::Tuple(Vec::new())
}

/// A real number for inputs and literals.
pub(crate) fn gen_real(u: &mut Unstructured) -> Result<f64> {
    Ok(f64::from(u.int_in_range(-16..=15_i32)?) / 8.0 + 0.0625)
}

impl GenValue {
    /// The simplest value of a first-order type: numbers 0.5 and 0, first constructors.
    pub fn simplest(ty: &GenType, decls: &[DataDecl]) -> GenValue {
        match ty {
            GenType::Real => GenValue::Real(0.5),
            GenType::Int => GenValue::Int(0),
            GenType::Bool => GenValue::Bool(false),
            GenType::String => GenValue::String(String::new()),
            GenType::Tuple(items) => {
                GenValue::Tuple(items.iter().map(|item| GenValue::simplest(item, decls)).collect())
            }
            GenType::Record(fields) => GenValue::Record(
                fields.iter().map(|(name, field)| (*name, GenValue::simplest(field, decls))).collect(),
            ),
            GenType::Array(n, elem) => {
                GenValue::Array((0..*n).map(|_| GenValue::simplest(elem, decls)).collect())
            }
            GenType::Data(name, _) => {
                let decl = decls.iter().find(|decl| decl.name == *name);
                let Some((name, fields)) = decl.and_then(|decl| decl.ctors.first()) else { return unit() };
                let fields = fields.iter().map(|field| GenValue::simplest(&field.at(ty), decls));
                GenValue::Ctor(*name, fields.collect())
            }
            GenType::Fun(..) | GenType::Param => unit(),
        }
    }

    /// Whether a scalar is the simplest of its type.
    pub(crate) fn is_simplest(&self) -> bool {
        match self {
            GenValue::Real(x) => *x == 0.5,
            GenValue::Int(n) => *n == 0,
            GenValue::Bool(b) => !b,
            GenValue::String(text) => text.is_empty(),
            GenValue::Tuple(_) | GenValue::Record(_) | GenValue::Array(_) | GenValue::Ctor(..) => false,
        }
    }

    /// The value with its real numbers replaced, from left to right.
    pub fn map_reals(&self, replace: &mut dyn FnMut(f64) -> f64) -> GenValue {
        let mut all = |items: &[GenValue]| items.iter().map(|item| item.map_reals(replace)).collect();
        match self {
            GenValue::Real(x) => GenValue::Real(replace(*x)),
            GenValue::Int(_) | GenValue::Bool(_) | GenValue::String(_) => self.clone(),
            GenValue::Tuple(items) => GenValue::Tuple(all(items)),
            GenValue::Array(items) => GenValue::Array(all(items)),
            GenValue::Ctor(name, fields) => GenValue::Ctor(*name, all(fields)),
            GenValue::Record(fields) => GenValue::Record(
                fields.iter().map(|(name, field)| (*name, field.map_reals(replace))).collect(),
            ),
        }
    }

    /// As a surface expression that can stand as an argument.
    pub fn text(&self) -> String {
        match self {
            GenValue::Real(x) if *x < 0.0 => format!("({})", real::show(*x)),
            GenValue::Real(x) => real::show(*x),
            GenValue::Int(n) if *n < 0 => format!("({n})"),
            GenValue::Int(n) => n.to_string(),
            GenValue::Bool(b) => b.to_string(),
            GenValue::String(text) => quoted(text, "{", "}"),
            GenValue::Tuple(items) => format!("({})", joined(items, GenValue::text)),
            GenValue::Array(items) => format!("[{}]", joined(items, GenValue::text)),
            GenValue::Record(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, field)| format!("{name} = {}", field.text())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            GenValue::Ctor(name, fields) if fields.is_empty() => name.to_string(),
            GenValue::Ctor(name, fields) => {
                let fields: Vec<_> = fields.iter().map(GenValue::text).collect();
                format!("({name} {})", fields.join(" "))
            }
        }
    }

    /// As the JSON that the command reads.
    pub fn json(&self) -> String {
        match self {
            GenValue::Real(x) => real::show(*x),
            GenValue::Int(n) => n.to_string(),
            GenValue::Bool(b) => b.to_string(),
            GenValue::String(text) => quoted(text, "", ""),
            GenValue::Tuple(items) | GenValue::Array(items) => {
                format!("[{}]", joined(items, GenValue::json))
            }
            GenValue::Record(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, field)| format!("\"{name}\": {}", field.json())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            GenValue::Ctor(name, fields) => {
                format!("{{\"tag\": \"{name}\", \"fields\": [{}]}}", joined(fields, GenValue::json))
            }
        }
    }
}

/// Items separated by commas.
fn joined(items: &[GenValue], text: fn(&GenValue) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A string literal; control characters by number, between `open` and `close`.
fn quoted(text: &str, open: &str, close: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            _ if c.is_control() => {
                let result = write!(out, "\\u{open}{:04x}{close}", u32::from(c));
                result.expect("writing to a string cannot fail");
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ty::standard_decls;

    #[test]
    fn values_are_written_as_expressions_and_as_json() {
        let list = GenValue::Ctor(
            Name::new("Cons"),
            vec![GenValue::Real(-1.5), GenValue::Ctor(Name::new("Nil"), vec![])],
        );
        let value = GenValue::Record(vec![
            (Name::new("x"), GenValue::Tuple(vec![GenValue::Int(-3), list])),
            (Name::new("y"), GenValue::Array(vec![GenValue::Bool(true)])),
            (Name::new("z"), GenValue::String("a\"\u{1}".into())),
        ]);
        assert_eq!(value.text(), "{x = ((-3), (Cons (-1.5) Nil)), y = [true], z = \"a\\\"\\u{0001}\"}");
        assert_eq!(
            value.json(),
            "{\"x\": [-3, {\"tag\": \"Cons\", \"fields\": [-1.5, {\"tag\": \"Nil\", \"fields\": []}]}], \
             \"y\": [true], \"z\": \"a\\\"\\u0001\"}"
        );
    }

    #[test]
    fn generated_values_have_their_type_and_are_small() {
        let decls = standard_decls();
        let tree = GenType::Data(Name::new("Tree"), vec![GenType::Real]);
        arbtest::arbtest(|u| {
            let value = gen_value(u, &tree, &decls)?.unwrap();
            let mut reals = Vec::new();
            value.map_reals(&mut |x| {
                reals.push(x);
                x
            });
            assert!(reals.len() < 16 && reals.iter().all(|x| x.abs() <= 2.0 && x.fract() != 0.0));
            Ok(())
        });
        assert_eq!(GenValue::simplest(&tree, &decls).text(), "Leaf");
        let function = GenType::fun(GenType::Real, GenType::Real);
        assert_eq!(gen_value(&mut Unstructured::new(&[]), &function, &decls), Ok(None));
    }
}
