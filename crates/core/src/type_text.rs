//! Types and schemes as text.
//!
//! Two readers, two forms. People read the surface style, which `Display` gives: `Num a => a -> [n]a`, data types by
//! their own name. The core's parser reads the exact form: `forall a [n]. Num a => a -> [n]a` with every binder and its
//! kind, data types by qualified name, and back-quotes around names that are not plain identifiers. Both come from one
//! walk over the type, and differ only in how a name is written.
//!
//! Precedence: a function type needs parentheses as an argument, on the left of an arrow, or as an element; an applied
//! data type needs them as an argument. `[n]` binds like an application: `[n]List a` is an array of lists.

use crate::parse::is_keyword;
use crate::types::{Kind, Param, Pred, Row, Scheme, Size, Type, TypeArg};
use std::fmt::{self, Write};
use wengert_base::Name;

/// How names are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people.
    Surface,
    /// For the parser.
    Exact,
}

/// Where a type stands, from loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Anything goes.
    Open,
    /// Left of an arrow, or an array's element: no bare function.
    Operand,
    /// An argument: no bare function, application or array.
    Argument,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self, Style::Surface, Place::Open)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_row(f, self, Style::Surface)
    }
}

impl fmt::Display for Size {
    /// With its brackets: `[n]`, `[3]`, `[]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_size(f, self, Style::Surface)
    }
}

impl fmt::Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_context(f, &self.params, Style::Surface)?;
        write_type(f, &self.ty, Style::Surface, Place::Open)
    }
}

impl fmt::Display for TypeArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeArg::Type(ty) => ty.fmt(f),
            TypeArg::Row(row) => row.fmt(f),
            TypeArg::Size(size) => size.fmt(f),
        }
    }
}

/// A type at a place.
pub(crate) fn write_type(out: &mut impl Write, ty: &Type, style: Style, place: Place) -> fmt::Result {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real => out.write_str("Real"),
        Type::Int => out.write_str("Int"),
        Type::Bool => out.write_str("Bool"),
        Type::String => out.write_str("String"),
        Type::Tuple(items) => write_tuple(out, items, style),
        Type::Record(row) => write_row(out, row, style),
        Type::Array(size, elem) => parenthesized(out, place >= Place::Argument, |out| {
            write_size(out, size, style)?;
            write_type(out, elem, style, Place::Operand)
        }),
        Type::Fun(from, to) => parenthesized(out, place >= Place::Operand, |out| {
            write_type(out, from, style, Place::Operand)?;
            out.write_str(" -> ")?;
            write_type(out, to, style, Place::Open)
        }),
        Type::Data(name, args) => parenthesized(out, place >= Place::Argument && !args.is_empty(), |out| {
            write_data_name(out, *name, style)?;
            args.iter().try_for_each(|arg| {
                out.write_char(' ')?;
                write_type(out, arg, style, Place::Argument)
            })
        }),
        Type::Dual(of) => parenthesized(out, place >= Place::Argument, |out| {
            out.write_str("Dual ")?;
            write_type(out, of, style, Place::Argument)
        }),
        Type::Var(name) => write_var(out, *name, style),
    })
}

/// `inner`, in parentheses if `needed`.
fn parenthesized<W: Write>(
    out: &mut W,
    needed: bool,
    inner: impl FnOnce(&mut W) -> fmt::Result,
) -> fmt::Result {
    if !needed {
        return inner(out);
    }
    out.write_char('(')?;
    inner(out)?;
    out.write_char(')')
}

/// `()`, `(a, b)`; a one-tuple, which no checker makes, is `(a,)`.
fn write_tuple(out: &mut impl Write, items: &[Type], style: Style) -> fmt::Result {
    out.write_char('(')?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        write_type(out, item, style, Place::Open)?;
    }
    out.write_str(if items.len() == 1 { ",)" } else { ")" })
}

/// `{x : Real | r}`, `{| r}`, `{}`.
pub(crate) fn write_row(out: &mut impl Write, row: &Row, style: Style) -> fmt::Result {
    out.write_char('{')?;
    for (i, (name, ty)) in row.fields.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        write_plain(out, *name, style)?;
        out.write_str(" : ")?;
        write_type(out, ty, style, Place::Open)?;
    }
    if let Some(rest) = row.rest {
        out.write_str(if row.fields.is_empty() { "| " } else { " | " })?;
        write_plain(out, rest, style)?;
    }
    out.write_char('}')
}

/// `[n]`, `[3]`, `[]`.
pub(crate) fn write_size(out: &mut impl Write, size: &Size, style: Style) -> fmt::Result {
    match size {
        Size::Const(n) => write!(out, "[{n}]"),
        Size::Var(name) => {
            out.write_char('[')?;
            write_plain(out, *name, style)?;
            out.write_char(']')
        }
        Size::Unknown => out.write_str("[]"),
    }
}

/// `Num a => `, `(Data a, Smooth a) => `, or nothing.
fn write_context(out: &mut impl Write, params: &[Param], style: Style) -> fmt::Result {
    let preds: Vec<(Pred, Name)> =
        params.iter().flat_map(|param| param.preds().iter().map(|pred| (*pred, param.name))).collect();
    if preds.is_empty() {
        return Ok(());
    }
    parenthesized(out, preds.len() > 1, |out| {
        preds.iter().enumerate().try_for_each(|(i, (pred, name))| {
            out.write_str(if i > 0 { ", " } else { "" })?;
            write!(out, "{} ", pred.text())?;
            write_var(out, *name, style)
        })
    })?;
    out.write_str(" => ")
}

/// `forall a [n] {r}. Num a => type`, only the type if nothing is bound.
pub(crate) fn write_exact_scheme(out: &mut impl Write, scheme: &Scheme) -> fmt::Result {
    if !scheme.params.is_empty() {
        out.write_str("forall")?;
        for param in &scheme.params {
            let (open, close) = match param.kind {
                Kind::Type(_) => ("", ""),
                Kind::Row => ("{", "}"),
                Kind::Size => ("[", "]"),
            };
            write!(out, " {open}")?;
            match param.kind {
                Kind::Type(_) => write_var(out, param.name, Style::Exact)?,
                Kind::Row | Kind::Size => write_plain(out, param.name, Style::Exact)?,
            }
            out.write_str(close)?;
        }
        out.write_str(". ")?;
    }
    write_context(out, &scheme.params, Style::Exact)?;
    write_type(out, &scheme.ty, Style::Exact, Place::Open)
}

/// `@Real`, `@[n]`, `@row {x : Real}`; array types in parentheses, so that `@[n]` is a size.
pub(crate) fn write_exact_arg(out: &mut impl Write, arg: &TypeArg) -> fmt::Result {
    out.write_char('@')?;
    match arg {
        TypeArg::Type(ty) => write_type(out, ty, Style::Exact, Place::Argument),
        TypeArg::Row(row) => {
            out.write_str("row ")?;
            write_row(out, row, Style::Exact)
        }
        TypeArg::Size(size) => write_size(out, size, Style::Exact),
    }
}

/// A type variable: what is not a lower-case identifier is quoted.
fn write_var(out: &mut impl Write, name: Name, style: Style) -> fmt::Result {
    let text = name.as_str();
    let plain = text.starts_with(|c: char| !c.is_uppercase()) && !text.contains('.');
    if style == Style::Exact && !plain { write_quoted(out, text) } else { write_plain(out, name, style) }
}

/// A data type: for people the part after the last point, exactly the qualified name, marked if it does not look like
/// a type.
fn write_data_name(out: &mut impl Write, name: Name, style: Style) -> fmt::Result {
    let text = name.as_str();
    let last = text.rsplit('.').next().unwrap_or(text);
    match style {
        Style::Surface => out.write_str(last),
        Style::Exact
            if last.starts_with(char::is_uppercase)
                && is_plain(text)
                && !is_type_keyword(text)
                && !is_keyword(text) =>
        {
            out.write_str(text)
        }
        Style::Exact => {
            out.write_str("data ")?;
            write_quoted(out, text)
        }
    }
}

/// Names of types that are not declared.
pub(crate) fn is_type_keyword(text: &str) -> bool {
    matches!(text, "Real" | "Int" | "Bool" | "String" | "Dual")
}

/// A name, quoted if it is not an identifier.
pub(crate) fn write_plain(out: &mut impl Write, name: Name, style: Style) -> fmt::Result {
    let text = name.as_str();
    if style == Style::Surface || (is_plain(text) && !is_keyword(text)) {
        out.write_str(text)
    } else {
        write_quoted(out, text)
    }
}

/// Whether `text` reads back as one identifier, points included.
pub(crate) fn is_plain(text: &str) -> bool {
    text.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || (c == '_' && part.len() > 1))
            && part.chars().all(is_identifier_char)
    })
}

/// Letters, digits, `_` and `'`.
pub(crate) fn is_identifier_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// The name between back-quotes, with the escapes of strings.
pub(crate) fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('`')?;
    text.chars().try_for_each(|c| write_escaped(out, c, '`'))?;
    out.write_char('`')
}

/// A character of a string or of a quoted name.
pub(crate) fn write_escaped(out: &mut impl Write, c: char, quote: char) -> fmt::Result {
    match c {
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\\' => out.write_str("\\\\"),
        _ if c == quote => write!(out, "\\{c}"),
        _ if c.is_control() => write!(out, "\\u{{{:x}}}", u32::from(c)),
        _ => out.write_char(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse_scheme, parse_type};

    /// The exact text of a scheme.
    fn exact(scheme: &Scheme) -> String {
        let mut text = String::new();
        write_exact_scheme(&mut text, scheme).unwrap();
        text
    }

    #[test]
    fn parentheses_stand_exactly_where_they_are_needed() {
        for text in [
            "(a -> b) -> [n]a -> [m][n](a -> b)",
            "List (List a) -> Tree ([n]a) (a -> b) (Dual a)",
            "Dual (Dual a) -> () -> (a, (b, c) -> d)",
            "{x : a -> b, y : [3]Real | r} -> {| r} -> {}",
            "[]List a -> [2]Dual (List a)",
        ] {
            assert_eq!(parse_type(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn surface_style_hides_what_exact_style_shows() {
        let text = "forall a [n] {r} b. (Num a, Data b, Smooth b) => [n]a -> m.List b -> {x : a | r}";
        let scheme = parse_scheme(text).unwrap();
        assert_eq!(exact(&scheme), text);
        assert_eq!(scheme.to_string(), "(Num a, Data b, Smooth b) => [n]a -> List b -> {x : a | r}");
    }

    #[test]
    fn odd_names_read_back() {
        let odd = ["A", "forall", "a.b", "?1", "", "`", "é", "_", "a'", "Real"];
        for name in odd.map(Name::new) {
            let param = Param { name, kind: Kind::Type(vec![Pred::Num]) };
            let data = Type::Data(name, vec![Type::Var(name)]);
            let row = Row { fields: [(name, data)].into(), rest: Some(name) };
            let ty = Type::array(Size::Var(name), Type::Record(row));
            let scheme = Scheme { params: vec![param], ty };
            assert_eq!(parse_scheme(&exact(&scheme)).unwrap(), scheme, "{}", exact(&scheme));
        }
    }
}
