//! Terms of the core: explicitly typed, explicitly polymorphic (System F with prenex schemes), call by value, left to
//! right. Types of subterms can be recomputed (`verify`), so only binders, instantiations and literals carry them.

use crate::types::{Scheme, Type, TypeArg};
use indexmap::IndexMap;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_prim::Prim;

/// A local variable. Within one definition no two binders share an `id`; `name` is what the user wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Var {
    /// The user's name.
    pub name: Name,
    /// Makes it unique in its definition.
    pub id: u32,
}

/// A local variable with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Binder {
    /// The variable.
    pub var: Var,
    /// Its type.
    pub ty: Type,
}

/// A term and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// The user's text it stands for.
    pub span: Span,
}

/// What a term is.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A local variable; `args` instantiate the scheme of its `let`, and are empty for monomorphic variables.
    Var {
        /// The variable.
        var: Var,
        /// Instantiation.
        args: Vec<TypeArg>,
    },
    /// A top-level definition, by qualified name.
    Global {
        /// The name.
        name: Name,
        /// Instantiation.
        args: Vec<TypeArg>,
    },
    /// A literal.
    Lit(Lit),
    /// `\x -> body`
    Lam {
        /// The parameter.
        param: Binder,
        /// The body.
        body: Arc<Term>,
    },
    /// `func arg`
    App {
        /// The function.
        func: Arc<Term>,
        /// The argument.
        arg: Arc<Term>,
    },
    /// `let x : scheme = value in body`; `value` is checked under the scheme's parameters.
    Let {
        /// The variable.
        var: Var,
        /// Its type.
        scheme: Scheme,
        /// The value.
        value: Arc<Term>,
        /// The scope.
        body: Arc<Term>,
    },
    /// `let rec … in body`: functions that may call each other. Inside the group they are monomorphic in the group's
    /// scheme parameters: an occurrence there instantiates them with exactly these parameters.
    LetRec {
        /// The functions.
        bindings: Vec<RecBinding>,
        /// The scope.
        body: Arc<Term>,
    },
    /// `if cond then then else otherwise`
    If {
        /// The condition.
        cond: Arc<Term>,
        /// When true.
        then: Arc<Term>,
        /// When false.
        otherwise: Arc<Term>,
    },
    /// `()`, `(a, b)`, …
    Tuple(Vec<Term>),
    /// Component `index` of a tuple.
    Proj {
        /// The tuple.
        tuple: Arc<Term>,
        /// Which, from 0.
        index: u32,
    },
    /// `{x = 1.0}`: fields in the order written, which is the order of evaluation.
    Record(Vec<(Name, Term)>),
    /// `r.x`
    Field {
        /// The record.
        record: Arc<Term>,
        /// The field.
        field: Name,
    },
    /// `{r with x = 3.0}`: keeps the field's type.
    Update {
        /// The record.
        record: Arc<Term>,
        /// The new fields.
        fields: Vec<(Name, Term)>,
    },
    /// A saturated constructor.
    Ctor {
        /// Which.
        ctor: CtorRef,
        /// Arguments of the data type.
        args: Vec<Type>,
        /// One for each field.
        fields: Vec<Term>,
    },
    /// The first arm whose pattern matches; the checker has shown that one does.
    Match {
        /// The scrutinee.
        scrutinee: Arc<Term>,
        /// The arms.
        arms: Vec<Arm>,
    },
    /// `[a, b]`
    Array {
        /// Type of the elements.
        elem: Type,
        /// The elements.
        items: Vec<Term>,
    },
    /// A saturated primitive; `type_args` instantiate its signature.
    Prim {
        /// Which.
        prim: Prim,
        /// Instantiation.
        type_args: Vec<TypeArg>,
        /// One for each parameter.
        args: Vec<Term>,
    },
    /// The array `array`, after a run-time check that its size along `axis` (from 0) is `expected`: where the user named
    /// a size that types could not settle. A failed check says `name`.
    CheckSize {
        /// The array.
        array: Arc<Term>,
        /// The axis.
        axis: u32,
        /// An `Int`.
        expected: Arc<Term>,
        /// How the user wrote the size: `n` or `3`.
        name: Name,
    },
}

impl Term {
    /// Adds its parts to a list of terms.
    pub fn push_children<'t>(&'t self, out: &mut Vec<&'t Term>) {
        match &self.kind {
            TermKind::Var { .. } | TermKind::Global { .. } | TermKind::Lit(_) => {}
            TermKind::Lam { body, .. } => out.push(body),
            TermKind::App { func, arg } => out.extend([func.as_ref(), arg.as_ref()]),
            TermKind::Let { value, body, .. } => out.extend([value.as_ref(), body.as_ref()]),
            TermKind::LetRec { bindings, body } => {
                out.extend(bindings.iter().map(|binding| &binding.value));
                out.push(body);
            }
            TermKind::If { cond, then, otherwise } => {
                out.extend([cond.as_ref(), then.as_ref(), otherwise.as_ref()]);
            }
            TermKind::Tuple(items) | TermKind::Array { items, .. } => out.extend(items),
            TermKind::Proj { tuple, .. } => out.push(tuple),
            TermKind::Record(fields) => out.extend(fields.iter().map(|(_, field)| field)),
            TermKind::Field { record, .. } => out.push(record),
            TermKind::Update { record, fields } => {
                out.push(record);
                out.extend(fields.iter().map(|(_, field)| field));
            }
            TermKind::Ctor { fields, .. } => out.extend(fields),
            TermKind::Match { scrutinee, arms } => {
                out.push(scrutinee);
                out.extend(arms.iter().map(|arm| &arm.body));
            }
            TermKind::Prim { args, .. } => out.extend(args),
            TermKind::CheckSize { array, expected, .. } => out.extend([array.as_ref(), expected.as_ref()]),
        }
    }
}

/// A function of a recursive group.
#[derive(Clone, Debug, PartialEq)]
pub struct RecBinding {
    /// The variable.
    pub var: Var,
    /// Its type.
    pub scheme: Scheme,
    /// A [`TermKind::Lam`].
    pub value: Term,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// `1.5`
    Real(f64),
    /// `3`
    Int(i64),
    /// A number without a point at a type variable with the predicate `Num`: an `Int` or a `Real` as that is instantiated.
    Num(i64, Name),
    /// `true`
    Bool(bool),
    /// `"text"`
    String(Arc<str>),
}

/// A constructor of a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CtorRef {
    /// The data type's qualified name.
    pub data: Name,
    /// Its position in the declaration.
    pub index: u32,
    /// Its name as the user sees it, unqualified.
    pub name: Name,
}

/// `pattern -> body`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// What it gives.
    pub body: Term,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `_`
    Wildcard,
    /// Binds a variable.
    Bind(Binder),
    /// Equals a literal (never [`Lit::Num`] for a `Real` with value NaN; equality is numeric).
    Lit(Lit),
    /// `()`, `(p, q)`, …
    Tuple(Vec<Pattern>),
    /// At least these fields.
    Record(Vec<(Name, Pattern)>),
    /// A constructor with a pattern for each field.
    Ctor {
        /// Which.
        ctor: CtorRef,
        /// Arguments of the data type.
        args: Vec<Type>,
        /// One for each field.
        fields: Vec<Pattern>,
    },
    /// `p as x`
    As(Box<Pattern>, Binder),
}

/// A declared data type.
#[derive(Clone, Debug, PartialEq)]
pub struct DataType {
    /// Its qualified name.
    pub name: Name,
    /// Its parameters, all types.
    pub params: Vec<Name>,
    /// Its constructors, at least one.
    pub ctors: Vec<Ctor>,
    /// The declaration.
    pub span: Span,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Ctor {
    /// Its name as the user sees it, unqualified.
    pub name: Name,
    /// Types of its fields, over the parameters of the data type.
    pub fields: Vec<Type>,
}

/// A top-level definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// Its qualified name, `module.name`.
    pub name: Name,
    /// Its type.
    pub scheme: Scheme,
    /// Its value, checked under the scheme's parameters. Occurrences of definitions of the same recursive group are
    /// instantiated with exactly these parameters.
    pub body: Term,
    /// The user's definition.
    pub span: Span,
}

/// A closed set of data types and definitions: what one or several modules elaborate to. Definitions may refer to
/// each other in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Data types by qualified name.
    pub types: IndexMap<Name, Arc<DataType>>,
    /// Definitions by qualified name.
    pub defs: IndexMap<Name, Arc<Def>>,
}
