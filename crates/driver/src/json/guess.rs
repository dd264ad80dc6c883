//! Which types JSON itself suggests, for the parameters of polymorphic functions: `def f x = x ^ 2` applied to `[3.0]`.
//!
//! The decoder walks the arguments once with the type variables unsettled and notes which nodes stood where a variable was
//! (`Open`). All nodes of a variable together give its type: a number without a point is an `Int`, as in the language,
//! unless another one has a point or the variable must hold a `Real`.

use super::parse::{Document, NodeKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use wengert_base::{Name, Span};
use wengert_core::{Kind, Param, Pred, Row, Size, Type, TypeArg};

/// What numbers without a point are where the type leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// `Int`, as in the language.
    Int,
    /// `Real`: what is to be differentiated.
    Real,
}

/// The nodes that stand where a type was unsettled.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// For type variables.
    pub(super) types: FxHashMap<Name, Vec<usize>>,
    /// For row variables, by field.
    pub(super) rows: FxHashMap<Name, BTreeMap<Name, Vec<usize>>>,
}

/// Why no type fits.
pub(super) struct Conflict {
    /// The node that does not fit.
    pub(super) span: Span,
    /// In words.
    pub(super) why: String,
}

/// Deeper JSON says nothing about a type.
const MAX_DEPTH: usize = 100;

/// `NaN` and the infinities, which JSON has no numbers for.
pub(super) fn special_real(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// What `param` stands for.
pub(super) fn type_arg(
    document: &Document,
    param: &Param,
    open: &Open,
    numbers: Numbers,
) -> Result<TypeArg, Conflict> {
    match &param.kind {
        Kind::Size => Ok(TypeArg::Size(Size::Unknown)),
        Kind::Type(preds) => {
            let nodes = open.types.get(&param.name).map_or(&[][..], Vec::as_slice);
            let real = numbers == Numbers::Real || prefers_real(preds);
            type_of(document, nodes, preds, real).map(TypeArg::Type)
        }
        Kind::Row => {
            let mut row = Row::default();
            for (field, nodes) in open.rows.get(&param.name).into_iter().flatten() {
                row.fields.insert(*field, type_of(document, nodes, &[], numbers == Numbers::Real)?);
            }
            Ok(TypeArg::Row(row))
        }
    }
}

/// What a parameter of a type stands for when nothing decides it: `Int` for numbers, as in the language, `Real` where a `Real`
/// is needed, and `()` where anything will do.
pub fn default_arg(param: &Param) -> TypeArg {
    match &param.kind {
        Kind::Size => TypeArg::Size(Size::Unknown),
        Kind::Row => TypeArg::Row(Row::default()),
        Kind::Type(preds) => TypeArg::Type(default_type(preds, false)),
    }
}

/// Whether its numbers are `Real` unless something else decides.
fn prefers_real(preds: &[Pred]) -> bool {
    preds.contains(&Pred::Smooth) || preds.contains(&Pred::Tangent)
}

fn default_type(preds: &[Pred], real: bool) -> Type {
    let real = real || prefers_real(preds);
    match preds {
        _ if preds.contains(&Pred::Smooth) || (real && preds.contains(&Pred::Num)) => Type::Real,
        _ if preds.contains(&Pred::Num) || preds.contains(&Pred::Ord) => Type::Int,
        _ => Type::unit(),
    }
}

/// A type, or as much of it as the JSON shows.
#[derive(Clone, Debug, PartialEq)]
enum Guess {
    Nothing,
    Int,
    Real,
    /// `"NaN"` and the like: a `Real` among numbers, a `String` among strings.
    Special,
    Bool,
    String,
    Array(Box<Guess>),
    Record(BTreeMap<Name, Guess>),
}

fn type_of(document: &Document, nodes: &[usize], preds: &[Pred], real: bool) -> Result<Type, Conflict> {
    let wants_number = preds.contains(&Pred::Num);
    let mut guess = Guess::Nothing;
    for node in nodes {
        let seen = look(document, *node, 0)?;
        // What is no number where one is needed is reported when it is read, with its place.
        if wants_number && !matches!(seen, Guess::Int | Guess::Real | Guess::Special) {
            continue;
        }
        guess = join(guess, seen).map_err(|why| Conflict { span: document.span(*node), why })?;
    }
    let ordered = !matches!(guess, Guess::Bool | Guess::Array(_) | Guess::Record(_));
    if preds.contains(&Pred::Ord) && !ordered {
        let node = nodes.first().copied().unwrap_or(0);
        let found = document.kind(node).describe();
        let why = format!("a number or a string is expected, and this is {found}");
        return Err(Conflict { span: document.span(node), why });
    }
    if guess == Guess::Nothing && wants_number && !nodes.is_empty() {
        return Ok(Type::Real);
    }
    if guess == Guess::Nothing {
        return Ok(default_type(preds, real));
    }
    if guess == Guess::Special && (wants_number || preds.contains(&Pred::Smooth)) {
        return Ok(Type::Real);
    }
    Ok(finish(guess, real))
}

fn finish(guess: Guess, real: bool) -> Type {
    match guess {
        Guess::Int if real => Type::Real,
        Guess::Int => Type::Int,
        Guess::Real => Type::Real,
        Guess::Nothing if real => Type::Real,
        Guess::Nothing => Type::unit(),
        Guess::Special | Guess::String => Type::String,
        Guess::Bool => Type::Bool,
        Guess::Array(elem) => Type::array(Size::Unknown, finish(*elem, real)),
        Guess::Record(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, finish(field, real))).collect();
            Type::Record(Row { fields, rest: None })
        }
    }
}

fn look(document: &Document, node: usize, depth: usize) -> Result<Guess, Conflict> {
    let conflict = |why: &str| Conflict { span: document.span(node), why: why.into() };
    if depth > MAX_DEPTH {
        return Err(conflict("it is nested too deeply"));
    }
    Ok(match document.kind(node) {
        NodeKind::Null | NodeKind::Key(_) => return Err(conflict("`null` is no value")),
        NodeKind::Bool(_) => Guess::Bool,
        NodeKind::Number { plain: true, .. } => Guess::Int,
        NodeKind::Number { .. } => Guess::Real,
        NodeKind::Text(text) if special_real(text).is_some() => Guess::Special,
        NodeKind::Text(_) => Guess::String,
        NodeKind::Array { .. } => {
            let mut elem = Guess::Nothing;
            for child in document.children(node) {
                let seen = look(document, child, depth + 1)?;
                elem = join(elem, seen).map_err(|why| Conflict { span: document.span(child), why })?;
            }
            Guess::Array(Box::new(elem))
        }
        NodeKind::Object { .. } => {
            let mut fields = BTreeMap::new();
            for key in document.children(node) {
                if document.key(key) == "tag" {
                    return Err(conflict("a constructor does not tell its type"));
                }
                fields.insert(Name::new(document.key(key)), look(document, key + 1, depth + 1)?);
            }
            Guess::Record(fields)
        }
    })
}

fn join(a: Guess, b: Guess) -> Result<Guess, String> {
    Ok(match (a, b) {
        (a, b) if a == b => a,
        (Guess::Nothing, other) | (other, Guess::Nothing) => other,
        (Guess::Int | Guess::Real | Guess::Special, Guess::Int | Guess::Real)
        | (Guess::Int | Guess::Real, Guess::Special) => Guess::Real,
        (Guess::String, Guess::Special) | (Guess::Special, Guess::String) => Guess::String,
        (Guess::Array(a), Guess::Array(b)) => Guess::Array(Box::new(join(*a, *b)?)),
        (Guess::Record(a), Guess::Record(mut b)) if a.keys().eq(b.keys()) => {
            let mut fields = BTreeMap::new();
            for (name, field) in a {
                let other = b.remove(&name).unwrap_or(Guess::Nothing);
                fields.insert(name, join(field, other)?);
            }
            Guess::Record(fields)
        }
        (a, b) => return Err(format!("{} and {} cannot be one type", words(&a), words(&b))),
    })
}

fn words(guess: &Guess) -> &'static str {
    match guess {
        Guess::Nothing => "nothing",
        Guess::Int | Guess::Real => "a number",
        Guess::Special | Guess::String => "a string",
        Guess::Bool => "a boolean",
        Guess::Array(_) => "an array",
        Guess::Record(_) => "a record",
    }
}
