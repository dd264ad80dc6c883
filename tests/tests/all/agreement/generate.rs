//! Programs of the fragment that the calculi have in common, made from their types: real numbers, tuples, `let` with
//! shadowing, functions that are passed and returned, primitives, and folds over lists of known length.
//!
//! A program is a tree of [`Node`]s, each with its type, so that a part can take the place of the whole if their types are
//! the same: that is how a failing program is made smaller. Values stay moderate, since every function that grows fast is
//! applied to a bounded one.

use std::fmt::Write;

/// A type of the fragment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Real,
    Tuple(Vec<Type>),
    Fun(Box<Type>, Box<Type>),
}

impl Type {
    pub(crate) fn pair(a: Type, b: Type) -> Type {
        Type::Tuple(vec![a, b])
    }

    pub(crate) fn fun(a: &Type, b: &Type) -> Type {
        Type::Fun(Box::new(a.clone()), Box::new(b.clone()))
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Type::Real => "Real".into(),
            Type::Tuple(parts) => {
                format!("({})", parts.iter().map(Type::text).collect::<Vec<_>>().join(", "))
            }
            Type::Fun(a, b) => format!("({} -> {})", a.text(), b.text()),
        }
    }

    /// How many numbers a value has.
    pub(crate) fn width(&self) -> usize {
        match self {
            Type::Real => 1,
            Type::Tuple(parts) => parts.iter().map(Type::width).sum(),
            Type::Fun(..) => 0,
        }
    }

    /// These numbers as a value of the type.
    pub(crate) fn value(&self, numbers: &mut impl Iterator<Item = f64>) -> String {
        match self {
            Type::Real | Type::Fun(..) => number(numbers.next().unwrap_or(0.0)),
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| part.value(numbers)).collect();
                format!("({})", parts.join(", "))
            }
        }
    }
}

/// A number as text, in parentheses if it is negative.
pub(crate) fn number(r: f64) -> String {
    if r < 0.0 || r.is_sign_negative() { format!("({r:?})") } else { format!("{r:?}") }
}

/// What binds variables.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Variable(String, Type),
    Tuple(Vec<Pattern>),
}

impl Pattern {
    fn text(&self) -> String {
        match self {
            Pattern::Variable(name, ty) => format!("{name} : {}", ty.text()),
            Pattern::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Pattern::text).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    fn variables(&self, found: &mut Vec<(String, Type)>) {
        match self {
            Pattern::Variable(name, ty) => found.push((name.clone(), ty.clone())),
            Pattern::Tuple(parts) => parts.iter().for_each(|part| part.variables(found)),
        }
    }
}

/// What a node is; `{}` in an operation stands for its parts in order.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Number(f64),
    Variable(String),
    Operation(&'static str),
    Tuple,
    Apply,
    /// Parts: the body.
    Lambda(Pattern),
    /// Parts: the value and the body.
    Let(Pattern),
    /// `fold (\h a -> …) start [items]`; parts: the body, the start, the items.
    Fold(Pattern, Pattern),
    /// `sum (map (\a -> …) [items])`; parts: the body, the items.
    SumMap(Pattern),
}

/// A term.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) ty: Type,
    pub(crate) form: Form,
    pub(crate) parts: Vec<Node>,
}

impl Node {
    pub(crate) fn size(&self) -> usize {
        1 + self.parts.iter().map(Node::size).sum::<usize>()
    }

    /// Whether a list is folded anywhere.
    pub(crate) fn has_lists(&self) -> bool {
        matches!(self.form, Form::Fold(..) | Form::SumMap(_)) || self.parts.iter().any(Node::has_lists)
    }

    /// Whether a function stands somewhere that is not smooth everywhere.
    pub(crate) fn has_kinks(&self) -> bool {
        matches!(self.form, Form::Operation(text) if KINKED.contains(&text))
            || self.parts.iter().any(Node::has_kinks)
    }

    pub(crate) fn text(&self) -> String {
        let mut parts = self.parts.iter().map(Node::text);
        let mut next = || parts.next().unwrap_or_default();
        match &self.form {
            Form::Number(r) => number(*r),
            Form::Variable(name) => name.clone(),
            Form::Operation(text) => {
                let mut out = String::from("(");
                let mut pieces = text.split("{}");
                out.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    let _ = write!(out, "{}{piece}", next());
                }
                out + ")"
            }
            Form::Tuple => format!("({})", parts.collect::<Vec<_>>().join(", ")),
            Form::Apply => format!("({} {})", next(), next()),
            Form::Lambda(pattern) => format!("(\\{} -> {})", in_parentheses(pattern), next()),
            Form::Let(pattern) => format!("(let {} = {} in {})", plain(pattern), next(), next()),
            Form::Fold(h, a) => {
                let (body, start) = (next(), next());
                let items: Vec<String> = parts.collect();
                let (h, a) = (in_parentheses(h), in_parentheses(a));
                format!("(fold (\\{h} {a} -> {body}) {start} [{}])", items.join(", "))
            }
            Form::SumMap(a) => {
                let body = next();
                let items: Vec<String> = parts.collect();
                format!("(sum (map (\\{} -> {body}) [{}]))", in_parentheses(a), items.join(", "))
            }
        }
    }

    /// Smaller terms of the same type that may still be well formed, the smallest first.
    pub(crate) fn smaller(&self) -> Vec<Node> {
        let mut found = Vec::new();
        if self.ty == Type::Real && !matches!(self.form, Form::Number(_) | Form::Variable(_)) {
            found.push(Node { ty: Type::Real, form: Form::Number(0.5), parts: Vec::new() });
        }
        self.within(&self.ty, &mut found);
        if let Form::Fold(..) | Form::SumMap(_) = self.form {
            let first = if matches!(self.form, Form::SumMap(_)) { 1 } else { 2 };
            for index in first..self.parts.len() {
                if self.parts.len() > first + 1 {
                    let mut less = self.clone();
                    less.parts.remove(index);
                    found.push(less);
                }
            }
        }
        found.sort_by_key(Node::size);
        for (index, part) in self.parts.iter().enumerate() {
            for smaller in part.smaller() {
                let mut less = self.clone();
                less.parts[index] = smaller;
                found.push(less);
            }
        }
        found
    }

    /// The proper parts of type `ty`.
    fn within(&self, ty: &Type, found: &mut Vec<Node>) {
        for part in &self.parts {
            if part.ty == *ty {
                found.push(part.clone());
            }
            part.within(ty, found);
        }
    }
}

/// A pattern as a parameter of a function.
fn in_parentheses(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Variable(..) => format!("({})", pattern.text()),
        Pattern::Tuple(_) => pattern.text(),
    }
}

/// A pattern without types.
fn plain(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Variable(name, _) => name.clone(),
        Pattern::Tuple(parts) => format!("({})", parts.iter().map(plain).collect::<Vec<_>>().join(", ")),
    }
}

/// A function of type `from → to` and where to differentiate it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) from: Type,
    pub(crate) to: Type,
    pub(crate) function: Node,
    /// As many as `from` has numbers.
    pub(crate) point: Vec<f64>,
    pub(crate) tangent: Vec<f64>,
    /// As many as `to` has numbers.
    pub(crate) cotangent: Vec<f64>,
}

impl Program {
    pub(crate) fn at(&self, numbers: &[f64]) -> String {
        self.from.value(&mut numbers.iter().copied())
    }

    pub(crate) fn result(&self, numbers: &[f64]) -> String {
        self.to.value(&mut numbers.iter().copied())
    }

    /// An expression in which the function is called `f`.
    pub(crate) fn with(&self, expression: &str) -> String {
        let ty = Type::fun(&self.from, &self.to);
        format!("let f = ({} : {}) in {expression}", self.function.text(), ty.text())
    }
}

/// Random choices, the same for each seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// A number with two decimals between -2 and 2.
    pub(crate) fn real(&mut self) -> f64 {
        (self.below(401) as f64 - 200.0) / 100.0
    }
}

/// Smooth functions of one number, of moderate growth.
const UNARY: [&str; 14] = [
    "sin {}",
    "cos {}",
    "tanh {}",
    "atan {}",
    "exp (sin {})",
    "log (2.5 + cos {})",
    "sqrt (1.5 + sin {})",
    "sin {} ^ 3",
    "cos {} ^ 2",
    "tanh {} ^ 4",
    "-{}",
    "sinh (cos {})",
    "1.0 / (2.0 + sin {})",
    "(2.0 + cos {}) ^ -2",
];

/// Smooth functions of two numbers.
const BINARY: [&str; 8] = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} * {}",
    "{} / (2.5 + sin {})",
    "(1.5 + sin {}) ** cos {}",
    "atan2 {} (3.0 + cos {})",
    "hypot (2.0 + sin {}) {}",
];

/// Functions with kinks.
const KINKED: [&str; 3] = ["abs {}", "max {} {}", "min {} {}"];

const NAMES: [&str; 6] = ["x", "y", "z", "u", "g", "h"];

/// A program with that seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let from = first_order(&mut random);
    let to = if random.below(3) == 0 { first_order(&mut random) } else { Type::Real };
    let fuel = 3 + random.below(6) as u32;
    let lists = random.below(3) == 0;
    let mut generator = Generator { random, scope: Vec::new(), lists };
    let pattern = generator.pattern(&from);
    let function = generator.lambda(pattern, &from, &to, fuel);
    let mut random = generator.random;
    let mut numbers = |n: usize| (0..n).map(|_| random.real()).collect::<Vec<f64>>();
    let (point, tangent, cotangent) = (numbers(from.width()), numbers(from.width()), numbers(to.width()));
    Program { from, to, function, point, tangent, cotangent }
}

fn first_order(random: &mut Random) -> Type {
    let real = || Type::Real;
    match random.below(7) {
        0..=2 => Type::Real,
        3 | 4 => Type::pair(real(), real()),
        5 => Type::Tuple(vec![real(), real(), real()]),
        _ => Type::pair(real(), Type::pair(real(), real())),
    }
}

struct Generator {
    random: Random,
    scope: Vec<(String, Type)>,
    /// Whether there may be lists.
    lists: bool,
}

impl Generator {
    /// A type for something inside.
    fn some_type(&mut self, depth: u32) -> Type {
        if depth == 0 {
            return Type::Real;
        }
        match self.random.below(6) {
            0 | 1 => Type::Real,
            2 => Type::pair(self.some_type(depth - 1), self.some_type(depth - 1)),
            _ => Type::fun(&self.some_type(depth - 1), &self.some_type(depth - 1)),
        }
    }

    fn name(&mut self) -> String {
        self.random.choose(&NAMES).copied().unwrap_or("x").to_owned()
    }

    /// A pattern for values of that type. Names may shadow others, but not each other.
    fn pattern(&mut self, ty: &Type) -> Pattern {
        if let (Type::Tuple(parts), true) = (ty, self.random.below(3) > 0) {
            let pattern = Pattern::Tuple(parts.iter().map(|part| self.pattern(part)).collect());
            let mut names = Vec::new();
            pattern.variables(&mut names);
            let distinct: std::collections::BTreeSet<&String> = names.iter().map(|(name, _)| name).collect();
            if distinct.len() == names.len() {
                return pattern;
            }
        }
        Pattern::Variable(self.name(), ty.clone())
    }

    fn inside(&mut self, pattern: &Pattern, make: impl FnOnce(&mut Generator) -> Node) -> Node {
        let mark = self.scope.len();
        pattern.variables(&mut self.scope);
        let node = make(self);
        self.scope.truncate(mark);
        node
    }

    fn lambda(&mut self, pattern: Pattern, from: &Type, to: &Type, fuel: u32) -> Node {
        let body = self.inside(&pattern, |generator| generator.term(to, fuel));
        Node { ty: Type::fun(from, to), form: Form::Lambda(pattern), parts: vec![body] }
    }

    /// The variables of that type that are not shadowed.
    fn variables(&self, ty: &Type) -> Vec<String> {
        let visible = |at: usize, name: &str| self.scope.iter().skip(at + 1).all(|(later, _)| later != name);
        let fitting =
            self.scope.iter().enumerate().filter(|(at, (name, own))| own == ty && visible(*at, name));
        fitting.map(|(_, (name, _))| name.clone()).collect()
    }

    fn leaf(&mut self, ty: &Type) -> Node {
        let variables = self.variables(ty);
        if self.random.below(6) > 0
            && let Some(name) = self.random.choose(&variables)
        {
            return Node { ty: ty.clone(), form: Form::Variable(name.clone()), parts: Vec::new() };
        }
        match ty {
            Type::Real => Node { ty: Type::Real, form: Form::Number(self.random.real()), parts: Vec::new() },
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.leaf(part)).collect();
                Node { ty: ty.clone(), form: Form::Tuple, parts }
            }
            Type::Fun(from, to) => {
                let pattern = self.pattern(from);
                self.lambda(pattern, from, to, 0)
            }
        }
    }

    fn term(&mut self, ty: &Type, fuel: u32) -> Node {
        let Some(less) = fuel.checked_sub(1) else { return self.leaf(ty) };
        match self.random.below(12) {
            0 => self.leaf(ty),
            1..=3 => self.binding(ty, less),
            4 | 5 => self.application(ty, less),
            6 if self.lists => self.fold(ty, less),
            _ => self.constructed(ty, less),
        }
    }

    fn binding(&mut self, ty: &Type, fuel: u32) -> Node {
        let bound = self.some_type(2);
        let value = self.term(&bound, fuel);
        let pattern = self.pattern(&bound);
        let body = self.inside(&pattern, |generator| generator.term(ty, fuel));
        Node { ty: ty.clone(), form: Form::Let(pattern), parts: vec![value, body] }
    }

    fn application(&mut self, ty: &Type, fuel: u32) -> Node {
        // A function that is there already, or a new one.
        let known: Vec<Type> = self.scope.iter().map(|(_, own)| own.clone()).collect();
        let fitting: Vec<Type> = known
            .into_iter()
            .filter_map(|own| match own {
                Type::Fun(from, to) if *to == *ty => Some(*from),
                Type::Fun(..) | Type::Real | Type::Tuple(_) => None,
            })
            .collect();
        let from = match self.random.choose(&fitting) {
            Some(from) => from.clone(),
            None => self.some_type(2),
        };
        let (function, argument) = (self.term(&Type::fun(&from, ty), fuel), self.term(&from, fuel / 2));
        Node { ty: ty.clone(), form: Form::Apply, parts: vec![function, argument] }
    }

    fn fold(&mut self, ty: &Type, fuel: u32) -> Node {
        let a = self.pattern(&Type::Real);
        let count = 1 + self.random.below(3);
        if *ty == Type::Real && self.random.below(3) == 0 {
            let mut parts = vec![self.inside(&a, |generator| generator.term(&Type::Real, fuel / 2))];
            parts.extend((0..count).map(|_| self.term(&Type::Real, fuel / 3)));
            return Node { ty: Type::Real, form: Form::SumMap(a), parts };
        }
        let mut h = self.pattern(ty);
        let mut names = Vec::new();
        h.variables(&mut names);
        a.variables(&mut names);
        let distinct: std::collections::BTreeSet<&String> = names.iter().map(|(name, _)| name).collect();
        if distinct.len() < names.len() {
            h = Pattern::Variable("acc".into(), ty.clone());
        }
        let both = Pattern::Tuple(vec![h.clone(), a.clone()]);
        let body = self.inside(&both, |generator| generator.term(ty, fuel / 2));
        let mut parts = vec![body, self.term(ty, fuel / 3)];
        parts.extend((0..count).map(|_| self.term(&Type::Real, fuel / 3)));
        Node { ty: ty.clone(), form: Form::Fold(h, a), parts }
    }

    fn constructed(&mut self, ty: &Type, fuel: u32) -> Node {
        match ty {
            Type::Real => {
                let (table, count): (&[&str], usize) = match self.random.below(20) {
                    0 => (&KINKED[..1], 1),
                    1 => (&KINKED[1..], 2),
                    2..=9 => (&UNARY, 1),
                    _ => (&BINARY, 2),
                };
                let form = Form::Operation(self.operation(table));
                let parts = (0..count).map(|_| self.term(&Type::Real, fuel)).collect();
                Node { ty: Type::Real, form, parts }
            }
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.term(part, fuel)).collect();
                Node { ty: ty.clone(), form: Form::Tuple, parts }
            }
            Type::Fun(from, to) => {
                let pattern = self.pattern(from);
                self.lambda(pattern, from, to, fuel)
            }
        }
    }

    fn operation(&mut self, table: &[&'static str]) -> &'static str {
        self.random.choose(table).copied().unwrap_or("sin {}")
    }
}

/// A parameter with its type.
pub(crate) fn parameter(name: &str, ty: &Type) -> String {
    format!("({name} : {})", ty.text())
}

/// A pattern of names for a value of that type.
pub(crate) fn names_of(ty: &Type, names: &mut impl Iterator<Item = String>) -> String {
    match ty {
        Type::Real | Type::Fun(..) => names.next().unwrap_or_default(),
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| names_of(part, names)).collect();
            format!("({})", parts.join(", "))
        }
    }
}
