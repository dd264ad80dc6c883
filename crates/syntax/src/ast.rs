//! The surface tree: what the user wrote, with spans, before names and types are known.
//!
//! Nothing is desugared here: the formatter prints this tree, so it keeps parentheses, annotations and the
//! difference between `\x y -> e` and `\x -> \y -> e`. A hole ([`ExprKind::Error`], [`PatternKind::Error`],
//! [`TypeKind::Error`]) stands where the parser recovered; it always comes with a diagnostic.

use wengert_base::{Name, Span};

/// A name with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Its place.
    pub span: Span,
}

/// A possibly qualified name: `solve` or `linalg.solve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The module alias before the point.
    pub module: Option<Ident>,
    /// The name itself.
    pub name: Ident,
    /// Both.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Imports and declarations in source order.
    pub items: Vec<Item>,
    /// The whole file.
    pub span: Span,
}

/// Something at top level.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `import linalg (solve, det)`
    Import(Import),
    /// `def f x = e`
    Def(Def),
    /// `type Shape = Circle Real | Rect Real Real`
    Type(TypeDecl),
    /// `alias Point = {x : Real, y : Real}`
    Alias(AliasDecl),
}

/// Where an import comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportSource {
    /// `import linalg`: a module of the standard library.
    Library(Ident),
    /// `import "dir/file.wg"`: a file, relative to the importing one.
    File {
        /// The path as written.
        path: String,
        /// Its place, quotes included.
        span: Span,
    },
}

/// `import linalg` brings all names, also as `linalg.name`; `as la` only as `la.name`; `(a, b)` only these.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The module.
    pub source: ImportSource,
    /// `as la`
    pub alias: Option<Ident>,
    /// `(solve, det)`
    pub names: Option<Vec<Ident>>,
    /// The whole line.
    pub span: Span,
}

/// `def name params : result = body`
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// What is defined.
    pub name: Ident,
    /// Parameters, patterns that cannot fail.
    pub params: Vec<Pattern>,
    /// The type after the parameters.
    pub result: Option<Type>,
    /// The right-hand side.
    pub body: Expr,
    /// The whole definition.
    pub span: Span,
}

/// `type Name params = Ctor fields | …`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDecl {
    /// The type's name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Ident>,
    /// Its constructors.
    pub ctors: Vec<CtorDecl>,
    /// The whole declaration.
    pub span: Span,
}

/// A constructor with the types of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct CtorDecl {
    /// The constructor.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<Type>,
    /// Constructor and fields.
    pub span: Span,
}

/// `alias Name params = type`
#[derive(Clone, Debug, PartialEq)]
pub struct AliasDecl {
    /// The alias.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Ident>,
    /// What it stands for.
    pub ty: Type,
    /// The whole declaration.
    pub span: Span,
}

/// An expression.
#[derive(Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the operator that `BinOp::text` shows")]
pub enum BinOp {
    Pipe,
    Compose,
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Append,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Power,
    RealPower,
}

impl BinOp {
    /// All operators.
    pub const ALL: [BinOp; 18] = [
        BinOp::Pipe,
        BinOp::Compose,
        BinOp::Or,
        BinOp::And,
        BinOp::Eq,
        BinOp::Ne,
        BinOp::Lt,
        BinOp::Le,
        BinOp::Gt,
        BinOp::Ge,
        BinOp::Append,
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Rem,
        BinOp::Power,
        BinOp::RealPower,
    ];

    /// The ASCII spelling.
    pub fn text(self) -> &'static str {
        match self {
            BinOp::Pipe => "|>",
            BinOp::Compose => ">>",
            BinOp::Or => "||",
            BinOp::And => "&&",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::Append => "++",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::Power => "^",
            BinOp::RealPower => "**",
        }
    }
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Digits without a point or an exponent: `Int` or `Real` as its use demands. At most `2^63`.
    Number(u64),
    /// With a point or an exponent.
    Real(f64),
    /// `"text"`, escapes resolved.
    String(String),
    /// `true` or `false`
    Bool(bool),
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A variable, or a library name such as `sin` or `∇`.
    Var(Name),
    /// A constructor, `Cons` or `m.Cons`.
    Ctor(Path),
    /// A literal.
    Lit(Literal),
    /// An operator as a function, `(+)`.
    Op(BinOp),
    /// `\p q -> e`
    Lambda {
        /// At least one.
        params: Vec<Pattern>,
        /// The body.
        body: Box<Expr>,
    },
    /// `f a b`: function and at least one argument.
    App {
        /// The function.
        func: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinOp,
        /// Its place.
        op_span: Span,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `-e`
    Neg(Box<Expr>),
    /// `if c then a else b`
    If {
        /// The condition.
        cond: Box<Expr>,
        /// When true.
        then: Box<Expr>,
        /// When false.
        otherwise: Box<Expr>,
    },
    /// `match e with | p -> a | …`
    Match {
        /// The scrutinee.
        scrutinee: Box<Expr>,
        /// The arms.
        arms: Vec<Arm>,
    },
    /// `let p = e in body`, `let f x = e in body`; `in` may be missing before another `let`.
    Let {
        /// The binding.
        binding: Box<Binding>,
        /// The scope.
        body: Box<Expr>,
    },
    /// `let rec f x = … and g y = … in body`
    LetRec {
        /// Functions that may call each other.
        bindings: Vec<Binding>,
        /// The scope.
        body: Box<Expr>,
    },
    /// `()` or `(a, b, …)`, never one element.
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `{x = 1.0, y = 2.0}`
    Record(Vec<(Ident, Expr)>),
    /// `{r with x = 3.0}`
    Update {
        /// The record.
        base: Box<Expr>,
        /// The new fields.
        fields: Vec<(Ident, Expr)>,
    },
    /// `r.x`, or a module's name `linalg.solve`: the checker decides by what is in scope.
    Field {
        /// The record, or a variable that names a module.
        base: Box<Expr>,
        /// The field.
        field: Ident,
    },
    /// `xs[i, j]`
    Index {
        /// The array.
        base: Box<Expr>,
        /// At least one.
        indices: Vec<Expr>,
    },
    /// `(e : t)`
    Annot {
        /// The expression.
        expr: Box<Expr>,
        /// Its type.
        ty: Type,
    },
    /// `(e)`
    Paren(Box<Expr>),
    /// The parser recovered here.
    Error,
}

/// `name params : result = value`, or `pattern = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// What is bound.
    pub target: Target,
    /// The type after the parameters.
    pub result: Option<Type>,
    /// The right-hand side.
    pub value: Expr,
    /// The whole binding.
    pub span: Span,
}

/// What a `let` binds.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A function with at least one parameter: `let f x y = …`
    Function {
        /// Its name.
        name: Ident,
        /// Its parameters.
        params: Vec<Pattern>,
    },
    /// A pattern that cannot fail: `let (a, b) = …`; a plain variable is a pattern too.
    Pattern(Pattern),
}

/// `| pattern -> body`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// What it gives.
    pub body: Expr,
    /// From the bar to the end.
    pub span: Span,
}

/// A pattern.
#[derive(Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// What a pattern is.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// `x`
    Var(Name),
    /// A literal; numbers may be negative.
    Lit {
        /// The literal.
        lit: Literal,
        /// Whether a minus stands before it.
        negative: bool,
    },
    /// `Cons x rest`
    Ctor {
        /// The constructor.
        ctor: Path,
        /// One for each field.
        args: Vec<Pattern>,
    },
    /// `()` or `(p, q, …)`
    Tuple(Vec<Pattern>),
    /// `{x = p, y}`: matches any record with at least these fields; `y` alone binds the variable `y`.
    Record(Vec<(Ident, Option<Pattern>)>),
    /// `p as x`
    As {
        /// The pattern.
        pattern: Box<Pattern>,
        /// The name for the whole.
        name: Ident,
    },
    /// `(p : t)`
    Annot {
        /// The pattern.
        pattern: Box<Pattern>,
        /// Its type.
        ty: Type,
    },
    /// `(p)`
    Paren(Box<Pattern>),
    /// The parser recovered here.
    Error,
}

/// A type as written.
#[derive(Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `a`
    Var(Name),
    /// `Real`, `List a`, `m.Shape`: a named type with its arguments.
    Named {
        /// The name.
        path: Path,
        /// Its arguments.
        args: Vec<Type>,
    },
    /// `a -> b`
    Fun(Box<Type>, Box<Type>),
    /// `()`, `(a, b)`, `a × b`
    Tuple(Vec<Type>),
    /// `{x : Real | r}`: fields and, for a row-polymorphic record, the name of the rest.
    Record {
        /// The fields.
        fields: Vec<(Ident, Type)>,
        /// The rest.
        rest: Option<Ident>,
    },
    /// `[n]a`, `[3]a`, `[]a`
    Array {
        /// The size.
        size: SizeExpr,
        /// The elements.
        elem: Box<Type>,
    },
    /// `(t)`
    Paren(Box<Type>),
    /// The parser recovered here.
    Error,
}

/// An array size as written.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeExpr {
    /// `[]`
    Unknown,
    /// `[3]`
    Number(u64, Span),
    /// `[n]`
    Name(Ident),
}

/// Copies what may be nested as deeply as the parser allows, whatever the size of the stack.
fn with_room<T>(copy: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, copy)
}

impl Clone for Expr {
    fn clone(&self) -> Expr {
        with_room(|| Expr { kind: self.kind.clone(), span: self.span })
    }
}

impl Clone for Pattern {
    fn clone(&self) -> Pattern {
        with_room(|| Pattern { kind: self.kind.clone(), span: self.span })
    }
}

impl Clone for Type {
    fn clone(&self) -> Type {
        with_room(|| Type { kind: self.kind.clone(), span: self.span })
    }
}
