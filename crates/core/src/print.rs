//! The core's text form, written. `parse` is the inverse; its module doc has the grammar.
//!
//! ```text
//! type main.List a = Nil | Cons a (main.List a)
//!
//! def main.sum_list : forall a. Num a => main.List a -> a =
//!   \(xs%0 : main.List a) ->
//!     match xs%0 with
//!     | main.List::Nil#0 @a -> 0~a
//!     | main.List::Cons#1 @a (x%1 : a) (rest%2 : main.List a) -> #+ @a x%1 (main.sum_list @a rest%2)
//!     end
//! ```
//!
//! Everything the tree holds is shown, spans excepted: `x%1` is variable 1, called `x`; `#+` is the primitive; `@a` is a
//! type argument; `0~a` is a number at the type variable `a`; `t!0` is the first component of a tuple; a constructor
//! has its data type before it and its position after it.
//!
//! Layout: each construct is first tried on the rest of its line (which ends early when the line is full, so that
//! printing stays linear), and broken over several lines when it does not fit.

use crate::term::{
    Arm, Binder, CtorRef, DataType, Def, Lit, Pattern, Program, RecBinding, Term, TermKind, Var,
};
use crate::type_text::{
    Place, Style, write_escaped, write_exact_arg, write_exact_scheme, write_plain, write_quoted, write_type,
};
use crate::types::{Scheme, Type, TypeArg};
use std::fmt::{self, Write};
use std::sync::Arc;
use wengert_base::{Name, Span};

/// Characters in a line, where possible.
const WIDTH: usize = 110;

/// Deeper nesting is not indented further, so that the text stays linear in the size of the program.
const MAX_INDENT: usize = 60;

/// The whole program: data types, then definitions, in their order.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new();
    for (i, data) in program.types.values().enumerate() {
        let result = printer.separate(i == 0).and_then(|()| printer.data_type(data));
        result.expect("only lines tried for their length can fail");
    }
    for (i, def) in program.defs.values().enumerate() {
        let first = i == 0 && program.types.is_empty();
        let result = printer.separate(first).and_then(|()| printer.def(def));
        result.expect("only lines tried for their length can fail");
    }
    printer.out
}

/// A term.
pub fn print_term(term: &Term) -> String {
    let mut printer = Printer::new();
    printer.term(term, Level::Open).expect("only lines tried for their length can fail");
    printer.out
}

/// The program without its spans: what printing and parsing keeps.
pub fn strip_spans(program: &Program) -> Program {
    let strip_type = |data: &DataType| DataType { span: Span::NOWHERE, ..data.clone() };
    let strip_def = |def: &Def| {
        let mut def = def.clone();
        def.span = Span::NOWHERE;
        forget_spans(&mut def.body);
        def
    };
    Program {
        types: program.types.iter().map(|(name, data)| (*name, Arc::new(strip_type(data)))).collect(),
        defs: program.defs.iter().map(|(name, def)| (*name, Arc::new(strip_def(def)))).collect(),
    }
}

/// Takes the spans from a term and all its subterms.
fn forget_spans(term: &mut Term) {
    term.span = Span::NOWHERE;
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &mut term.kind {
        TermKind::Var { .. } | TermKind::Global { .. } | TermKind::Lit(_) => {}
        TermKind::Lam { body, .. } => forget_spans(Arc::make_mut(body)),
        TermKind::App { func, arg } => {
            forget_spans(Arc::make_mut(func));
            forget_spans(Arc::make_mut(arg));
        }
        TermKind::Let { value, body, .. } => {
            forget_spans(Arc::make_mut(value));
            forget_spans(Arc::make_mut(body));
        }
        TermKind::LetRec { bindings, body } => {
            bindings.iter_mut().for_each(|binding| forget_spans(&mut binding.value));
            forget_spans(Arc::make_mut(body));
        }
        TermKind::If { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|part| forget_spans(Arc::make_mut(part)));
        }
        TermKind::Proj { tuple, .. } => forget_spans(Arc::make_mut(tuple)),
        TermKind::Record(fields) => fields.iter_mut().for_each(|(_, field)| forget_spans(field)),
        TermKind::Field { record, .. } => forget_spans(Arc::make_mut(record)),
        TermKind::Update { record, fields } => {
            forget_spans(Arc::make_mut(record));
            fields.iter_mut().for_each(|(_, field)| forget_spans(field));
        }
        TermKind::Tuple(items)
        | TermKind::Ctor { fields: items, .. }
        | TermKind::Array { items, .. }
        | TermKind::Prim { args: items, .. } => items.iter_mut().for_each(forget_spans),
        TermKind::Match { scrutinee, arms } => {
            forget_spans(Arc::make_mut(scrutinee));
            arms.iter_mut().for_each(|arm| forget_spans(&mut arm.body));
        }
        TermKind::CheckSize { array, expected, .. } => {
            forget_spans(Arc::make_mut(array));
            forget_spans(Arc::make_mut(expected));
        }
    });
}

/// Where a term stands, from loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Anything goes.
    Open,
    /// An argument.
    Atom,
    /// Before `.x` or `!0`: nothing that ends in a name or a type.
    Base,
}

/// The text so far.
struct Printer {
    out: String,
    /// Characters in the last line.
    column: usize,
    indent: usize,
    /// Whether everything must fit on this line; then writing past its end fails.
    flat: bool,
}

impl Write for Printer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.push_str(text);
        self.column += text.chars().count();
        if self.flat && self.column > WIDTH { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Printer {
    /// Nothing yet.
    fn new() -> Printer {
        Printer { out: String::new(), column: 0, indent: 0, flat: false }
    }

    /// A new line, or a space if everything stands on one.
    fn line(&mut self) -> fmt::Result {
        if self.flat { self.write_char(' ') } else { self.new_line() }
    }

    /// A new line, or nothing if everything stands on one.
    fn soft_line(&mut self) -> fmt::Result {
        if self.flat { Ok(()) } else { self.new_line() }
    }

    /// A new line.
    fn new_line(&mut self) -> fmt::Result {
        self.out.push('\n');
        self.column = 0;
        let indent = self.indent.min(MAX_INDENT);
        write!(self, "{:indent$}", "")
    }

    /// A blank line between items.
    fn separate(&mut self, first: bool) -> fmt::Result {
        if !first {
            self.out.push('\n');
        }
        Ok(())
    }

    /// `write`, on this line if it fits, else broken.
    fn group(&mut self, write: impl Fn(&mut Printer) -> fmt::Result) -> fmt::Result {
        if self.flat {
            return write(self);
        }
        let (length, column) = (self.out.len(), self.column);
        self.flat = true;
        let result = write(self);
        self.flat = false;
        result.or_else(|fmt::Error| {
            self.out.truncate(length);
            self.column = column;
            write(self)
        })
    }

    /// `write`, indented.
    fn indented(&mut self, write: impl FnOnce(&mut Printer) -> fmt::Result) -> fmt::Result {
        self.indent += 2;
        let result = write(self);
        self.indent -= 2;
        result
    }

    /// `type main.List a = Nil | Cons a (main.List a)`
    fn data_type(&mut self, data: &DataType) -> fmt::Result {
        self.write_str("type ")?;
        write_plain(self, data.name, Style::Exact)?;
        for param in &data.params {
            self.write_char(' ')?;
            write_plain(self, *param, Style::Exact)?;
        }
        self.write_str(" =")?;
        self.group(|p| {
            p.indented(|p| {
                for (i, ctor) in data.ctors.iter().enumerate() {
                    p.line()?;
                    p.write_str(if i == 0 { "" } else { "| " })?;
                    write_plain(p, ctor.name, Style::Exact)?;
                    for field in &ctor.fields {
                        p.write_char(' ')?;
                        write_type(p, field, Style::Exact, Place::Argument)?;
                    }
                }
                Ok(())
            })
        })?;
        self.new_line()
    }

    /// `def main.f : scheme = body`
    fn def(&mut self, def: &Def) -> fmt::Result {
        self.write_str("def ")?;
        write_plain(self, def.name, Style::Exact)?;
        self.write_str(" : ")?;
        self.value(&def.scheme, &def.body)?;
        self.new_line()
    }

    /// `scheme = value`, indented.
    fn value(&mut self, scheme: &Scheme, value: &Term) -> fmt::Result {
        self.indented(|p| {
            write_exact_scheme(p, scheme)?;
            p.write_str(" =")?;
            p.group(|p| {
                p.line()?;
                p.term(value, Level::Open)
            })
        })
    }

    /// A term at a level.
    fn term(&mut self, term: &Term, level: Level) -> fmt::Result {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.group(|p| {
                if level <= tightness(term) {
                    return p.bare_term(term);
                }
                p.write_char('(')?;
                p.bare_term(term)?;
                p.write_char(')')
            })
        })
    }

    /// A term without parentheses.
    fn bare_term(&mut self, term: &Term) -> fmt::Result {
        match &term.kind {
            TermKind::Var { var, args } => self.var(*var).and_then(|()| self.type_args(args)),
            TermKind::Global { name, args } => {
                write_plain(self, *name, Style::Exact)?;
                self.type_args(args)
            }
            TermKind::Lit(lit) => self.literal(lit),
            TermKind::Lam { param, body } => self.lambda(param, body),
            TermKind::App { func, arg } => self.application(func, arg),
            TermKind::Let { var, scheme, value, body } => {
                self.write_str("let ")?;
                self.binding(*var, scheme, value)?;
                self.scope(body)
            }
            TermKind::LetRec { bindings, body } => self.let_rec(bindings, body),
            TermKind::If { cond, then, otherwise } => self.if_term([cond, then, otherwise]),
            TermKind::Tuple(items) => self.enclosed("(", items, if items.len() == 1 { ",)" } else { ")" }),
            TermKind::Proj { tuple, index } => {
                self.term(tuple, Level::Base)?;
                write!(self, "!{index}")
            }
            TermKind::Record(fields) => self.write_char('{').and_then(|()| self.fields(fields)),
            TermKind::Field { record, field } => self.projection(record, *field),
            TermKind::Update { record, fields } => {
                self.write_char('{')?;
                self.indented(|p| p.term(record, Level::Open))?;
                self.write_str(" with ")?;
                self.fields(fields)
            }
            TermKind::Ctor { ctor, args, fields } => {
                self.ctor(*ctor, args)?;
                self.arguments(fields)
            }
            TermKind::Match { scrutinee, arms } => self.match_term(scrutinee, arms),
            TermKind::Array { elem, items } => self.array(elem, items),
            TermKind::Prim { prim, type_args, args } => {
                write!(self, "#{}", prim.info().name)?;
                self.type_args(type_args)?;
                self.arguments(args)
            }
            TermKind::CheckSize { array, axis, expected, name } => {
                self.write_str("check_size ")?;
                write_quoted(self, name.as_str())?;
                write!(self, " {axis}")?;
                self.indented(|p| {
                    p.line()?;
                    p.term(expected, Level::Atom)?;
                    p.line()?;
                    p.term(array, Level::Atom)
                })
            }
        }
    }

    /// `\(x%3 : type) -> body`
    fn lambda(&mut self, param: &Binder, body: &Term) -> fmt::Result {
        self.write_char('\\')?;
        self.binder(param)?;
        self.write_str(" ->")?;
        self.indented(|p| {
            p.line()?;
            p.term(body, Level::Open)
        })
    }

    /// `f a`
    fn application(&mut self, func: &Term, arg: &Term) -> fmt::Result {
        let level = if matches!(func.kind, TermKind::App { .. }) {
            Level::Open
        } else if matches!(func.kind, TermKind::Ctor { .. }) {
            // Its argument would be read as a field.
            Level::Base
        } else {
            Level::Atom
        };
        self.term(func, level)?;
        self.arguments(std::slice::from_ref(arg))
    }

    /// `if c then a else b`
    fn if_term(&mut self, [cond, then, otherwise]: [&Term; 3]) -> fmt::Result {
        self.write_str("if ")?;
        self.indented(|p| p.term(cond, Level::Open))?;
        for (word, branch) in [("then ", then), ("else ", otherwise)] {
            self.line()?;
            self.write_str(word)?;
            self.indented(|p| p.term(branch, Level::Open))?;
        }
        Ok(())
    }

    /// `r.x`
    fn projection(&mut self, record: &Term, field: Name) -> fmt::Result {
        self.term(record, Level::Base)?;
        self.write_char('.')?;
        if field.as_str().contains('.') {
            return write_quoted(self, field.as_str());
        }
        write_plain(self, field, Style::Exact)
    }

    /// `[a, b : type]`
    fn array(&mut self, elem: &Type, items: &[Term]) -> fmt::Result {
        self.enclosed("[", items, if items.is_empty() { ": " } else { " : " })?;
        write_type(self, elem, Style::Exact, Place::Open)?;
        self.write_char(']')
    }

    /// ` in body`
    fn scope(&mut self, body: &Term) -> fmt::Result {
        self.write_str(" in")?;
        self.line()?;
        self.term(body, Level::Open)
    }

    /// `rec f = e and … in body`, after `let`.
    fn let_rec(&mut self, bindings: &[RecBinding], body: &Term) -> fmt::Result {
        self.write_str("let rec")?;
        for (i, RecBinding { var, scheme, value }) in bindings.iter().enumerate() {
            if i > 0 {
                self.line()?;
                self.write_str("and")?;
            }
            self.write_char(' ')?;
            self.binding(*var, scheme, value)?;
        }
        self.scope(body)
    }

    /// `x%3 : scheme = value`
    fn binding(&mut self, var: Var, scheme: &Scheme, value: &Term) -> fmt::Result {
        self.var(var)?;
        self.write_str(" : ")?;
        self.value(scheme, value)
    }

    /// `match e with | p -> a … end`
    fn match_term(&mut self, scrutinee: &Term, arms: &[Arm]) -> fmt::Result {
        self.write_str("match ")?;
        self.indented(|p| p.term(scrutinee, Level::Open))?;
        self.write_str(" with")?;
        for Arm { pattern, body } in arms {
            self.line()?;
            self.write_str("| ")?;
            self.pattern(pattern, Level::Open)?;
            self.write_str(" ->")?;
            self.indented(|p| {
                p.group(|p| {
                    p.line()?;
                    p.term(body, Level::Open)
                })
            })?;
        }
        self.line()?;
        self.write_str("end")
    }

    /// Atoms after what is applied to them.
    fn arguments(&mut self, args: &[Term]) -> fmt::Result {
        self.indented(|p| {
            args.iter().try_for_each(|arg| {
                p.line()?;
                p.term(arg, Level::Atom)
            })
        })
    }

    /// Terms separated by commas.
    fn enclosed(&mut self, open: &str, items: &[Term], close: &str) -> fmt::Result {
        self.write_str(open)?;
        self.indented(|p| {
            items.iter().enumerate().try_for_each(|(i, item)| {
                if i > 0 {
                    p.write_char(',')?;
                    p.line()?;
                }
                p.term(item, Level::Open)
            })
        })?;
        self.write_str(close)
    }

    /// `x = a, y = b}`
    fn fields(&mut self, fields: &[(Name, Term)]) -> fmt::Result {
        self.indented(|p| {
            fields.iter().enumerate().try_for_each(|(i, (name, value))| {
                if i > 0 {
                    p.write_char(',')?;
                    p.line()?;
                }
                write_plain(p, *name, Style::Exact)?;
                p.write_str(" = ")?;
                p.term(value, Level::Open)
            })
        })?;
        self.soft_line()?;
        self.write_char('}')
    }

    /// `x%3`
    fn var(&mut self, var: Var) -> fmt::Result {
        write_plain(self, var.name, Style::Exact)?;
        write!(self, "%{}", var.id)
    }

    /// `(x%3 : type)`
    fn binder(&mut self, binder: &Binder) -> fmt::Result {
        self.write_char('(')?;
        self.bare_binder(binder)?;
        self.write_char(')')
    }

    /// `x%3 : type`
    fn bare_binder(&mut self, binder: &Binder) -> fmt::Result {
        self.var(binder.var)?;
        self.write_str(" : ")?;
        write_type(self, &binder.ty, Style::Exact, Place::Open)
    }

    /// ` @Real @[n]`
    fn type_args(&mut self, args: &[TypeArg]) -> fmt::Result {
        args.iter().try_for_each(|arg| {
            self.write_char(' ')?;
            write_exact_arg(self, arg)
        })
    }

    /// `main.List::Cons#1 @Real`
    fn ctor(&mut self, ctor: CtorRef, args: &[Type]) -> fmt::Result {
        write_plain(self, ctor.data, Style::Exact)?;
        self.write_str("::")?;
        write_plain(self, ctor.name, Style::Exact)?;
        write!(self, "#{}", ctor.index)?;
        args.iter().try_for_each(|arg| {
            self.write_str(" @")?;
            write_type(self, arg, Style::Exact, Place::Argument)
        })
    }

    /// A literal.
    fn literal(&mut self, lit: &Lit) -> fmt::Result {
        match lit {
            Lit::Real(x) => self.write_str(&wengert_base::real::show(*x)),
            Lit::Int(n) => write!(self, "{n}"),
            Lit::Num(n, var) => {
                write!(self, "{n}~")?;
                write_plain(self, *var, Style::Exact)
            }
            Lit::Bool(b) => write!(self, "{b}"),
            Lit::String(text) => {
                self.write_char('"')?;
                text.chars().try_for_each(|c| write_escaped(self, c, '"'))?;
                self.write_char('"')
            }
        }
    }

    /// A pattern.
    fn pattern(&mut self, pattern: &Pattern, level: Level) -> fmt::Result {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
            Pattern::Wildcard => self.write_char('_'),
            Pattern::Bind(binder) => self.binder(binder),
            Pattern::Lit(lit) => self.literal(lit),
            Pattern::Tuple(items) => {
                self.write_char('(')?;
                for (i, item) in items.iter().enumerate() {
                    self.write_str(if i == 0 { "" } else { ", " })?;
                    self.pattern(item, Level::Open)?;
                }
                self.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Pattern::Record(fields) => {
                self.write_char('{')?;
                for (i, (name, field)) in fields.iter().enumerate() {
                    self.write_str(if i == 0 { "" } else { ", " })?;
                    write_plain(self, *name, Style::Exact)?;
                    self.write_str(" = ")?;
                    self.pattern(field, Level::Open)?;
                }
                self.write_char('}')
            }
            Pattern::Ctor { ctor, args, fields } => {
                let parentheses = level > Level::Open && !fields.is_empty();
                self.write_str(if parentheses { "(" } else { "" })?;
                self.ctor(*ctor, args)?;
                for field in fields {
                    self.write_char(' ')?;
                    self.pattern(field, Level::Atom)?;
                }
                self.write_str(if parentheses { ")" } else { "" })
            }
            Pattern::As(inner, binder) => {
                self.write_char('(')?;
                self.pattern(inner, Level::Open)?;
                self.write_str(" as ")?;
                self.bare_binder(binder)?;
                self.write_char(')')
            }
        })
    }
}

/// The tightest level at which the term needs no parentheses.
fn tightness(term: &Term) -> Level {
    match &term.kind {
        TermKind::Var { args, .. } if args.is_empty() => Level::Base,
        TermKind::Tuple(_)
        | TermKind::Record(_)
        | TermKind::Update { .. }
        | TermKind::Array { .. }
        | TermKind::Proj { .. }
        | TermKind::Field { .. } => Level::Base,
        TermKind::Var { .. } | TermKind::Global { .. } | TermKind::Lit(_) => Level::Atom,
        TermKind::Ctor { fields, .. } if fields.is_empty() => Level::Atom,
        TermKind::Ctor { .. }
        | TermKind::Lam { .. }
        | TermKind::App { .. }
        | TermKind::Let { .. }
        | TermKind::LetRec { .. }
        | TermKind::If { .. }
        | TermKind::Match { .. }
        | TermKind::Prim { .. }
        | TermKind::CheckSize { .. } => Level::Open,
    }
}
