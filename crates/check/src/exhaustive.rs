//! Does a `match` cover every value, and is every arm of use?
//!
//! The algorithm is Maranget's (*Warnings for pattern matching*, 2007), with the rows of a matrix as arms and its
//! columns as the parts of the scrutinee still to be looked at. To find a value that no row matches, look at the first
//! column. Each constructor `c` of its type splits the search: keep the rows whose first pattern is `c p…` or a
//! wildcard, put the `p…` in place of that pattern, and search on; a value `v…` found there gives `c v…` here. If the
//! rows do not name every constructor (or the column holds numbers or texts, which have too many), rows that start with
//! a wildcard must do alone: one search in these, and the first part of the value is a constructor that nobody named.
//!
//! ```text
//! match (xs, b) with            xs        b        with Cons:  y   rest      b       (nothing left of row 1)
//! | (Nil, _)       -> …         Nil       _                    _   Nil       true
//! | (Cons _ Nil, true) -> …     Cons _ Nil  true               `rest` does not name Cons, so no row is left there:
//!                                                              missing (Cons _ (Cons _ _), _)
//! ```
//!
//! An arm is redundant if no value matches it that no arm above matches: the same search, led by the arm's patterns.
//! After a missing value is found it becomes a row of its own, and the search starts again, for up to
//! `MAX_EXAMPLES` examples.
//!
//! Before the search, patterns lose what does not matter: `x`, `p as x` and tuples or records of wildcards become
//! wildcards. Records are open: in each column the fields that its patterns mention are looked at. The problem is
//! NP-complete, so the search counts the patterns it copies and gives up after `BUDGET`: then
//! `MatchReport::gave_up` is set, what was found so far stands, and the match counts as exhaustive (a value that no
//! arm matches is still an error when the program runs).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wengert_base::Name;
use wengert_core::{DataType, Lit, Pattern, Type};

/// How many missing values are shown.
const MAX_EXAMPLES: usize = 3;

/// How many patterns the search may copy: some tenths of a second.
const BUDGET: u64 = 20_000_000;

/// What there is to say about a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatchReport {
    /// Examples of values that no arm matches, as patterns; none if the match is exhaustive.
    pub(crate) missing: Vec<String>,
    /// Arms, from 0, that no value can reach.
    pub(crate) redundant: Vec<usize>,
    /// Whether the search was too long; then something may be missing or redundant that is not listed.
    pub(crate) gave_up: bool,
}

/// Checks the patterns of a match on a value of type `scrutinee`; `types` knows the declared data types.
pub(crate) fn check_match(
    patterns: &[Pattern],
    scrutinee: &Type,
    types: &dyn Fn(Name) -> Option<Arc<DataType>>,
) -> MatchReport {
    let mut search = Search { types, budget: BUDGET };
    let mut report = MatchReport::default();
    let arms: Vec<Pat> = patterns.iter().map(|pattern| search.simplify(pattern)).collect();
    if arms.is_empty() {
        report.missing = search.all_of(scrutinee).iter().map(Pat::text).collect();
        return report;
    }
    let mut examples: Vec<Pat> = Vec::new();
    while examples.len() < MAX_EXAMPLES {
        let all: Vec<Vec<&Pat>> = arms.iter().chain(&examples).map(|arm| vec![arm]).collect();
        match search.missing(&all, 1) {
            Ok(None) => break,
            Ok(Some(example)) => examples.extend(example),
            Err(Overrun) => {
                report.gave_up = true;
                break;
            }
        }
    }
    // The second question has a budget of its own: the answer to the first one matters more.
    search.budget = BUDGET;
    let rows: Vec<Vec<&Pat>> = arms.iter().map(|arm| vec![arm]).collect();
    for (i, row) in rows.iter().enumerate() {
        match search.useful(rows.get(..i).unwrap_or(&[]), row) {
            Ok(true) => {}
            Ok(false) => report.redundant.push(i),
            Err(Overrun) => {
                report.gave_up = true;
                break;
            }
        }
    }
    report.missing = examples.iter().map(Pat::text).collect();
    report
}

/// A simplified pattern.
#[derive(Clone, Debug)]
enum Pat {
    /// Anything.
    Wild,
    /// A constructor and as many patterns as it has parts.
    Con(Head, Vec<Pat>),
    /// The given fields.
    Record(BTreeMap<Name, Pat>),
}

/// What stands where a row ends.
static WILD: Pat = Pat::Wild;

/// The outermost constructor of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Head {
    /// A tuple of that many components.
    Tuple(usize),
    /// A record, of which these fields matter.
    Record(Vec<Name>),
    /// Constructor `index` of a data type.
    Ctor { data: Name, index: u32, name: Name, arity: usize },
    /// `true` or `false`.
    Bool(bool),
    /// A number without a point.
    Int(i64),
    /// A number with a point, by its bits; the two zeros are equal.
    Real(u64),
    /// A text.
    String(Arc<str>),
}

impl Head {
    /// How many parts it has.
    fn arity(&self) -> usize {
        match self {
            Head::Tuple(n) => *n,
            Head::Record(fields) => fields.len(),
            Head::Ctor { arity, .. } => *arity,
            Head::Bool(_) | Head::Int(_) | Head::Real(_) | Head::String(_) => 0,
        }
    }

    /// The value with this constructor and these parts.
    fn rebuild(self, parts: Vec<Pat>) -> Pat {
        match self {
            Head::Record(fields) => Pat::Record(fields.into_iter().zip(parts).collect()),
            head @ (Head::Tuple(_)
            | Head::Ctor { .. }
            | Head::Bool(_)
            | Head::Int(_)
            | Head::Real(_)
            | Head::String(_)) => Pat::Con(head, parts),
        }
    }
}

/// Which constructors the values of a column have, as far as the patterns tell.
enum Signature {
    /// All of them.
    Complete(Vec<Head>),
    /// There are others; the first of these, or none if they are numbers or texts, or if nothing is known.
    Open(Option<Head>),
}

/// The search took too long.
struct Overrun;

/// The search and what is left of its budget.
struct Search<'a> {
    types: &'a dyn Fn(Name) -> Option<Arc<DataType>>,
    budget: u64,
}

/// A row: the *last* element is the first column.
type Row<'p> = Vec<&'p Pat>;

impl Search<'_> {
    /// The pattern without what does not matter.
    fn simplify(&self, pattern: &Pattern) -> Pat {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
            Pattern::Wildcard | Pattern::Bind(_) => Pat::Wild,
            Pattern::As(inner, _) => self.simplify(inner),
            Pattern::Lit(lit) => Pat::Con(literal(lit), Vec::new()),
            Pattern::Tuple(items) => {
                let parts: Vec<Pat> = items.iter().map(|item| self.simplify(item)).collect();
                if parts.iter().all(Pat::is_wild) {
                    Pat::Wild
                } else {
                    Pat::Con(Head::Tuple(parts.len()), parts)
                }
            }
            Pattern::Record(fields) => {
                let fields = fields.iter().map(|(name, field)| (*name, self.simplify(field)));
                let fields: BTreeMap<Name, Pat> = fields.filter(|(_, field)| !field.is_wild()).collect();
                if fields.is_empty() { Pat::Wild } else { Pat::Record(fields) }
            }
            Pattern::Ctor { ctor, fields, .. } => {
                let declared = (self.types)(ctor.data);
                let alone = declared.as_ref().is_some_and(|data| data.ctors.len() == 1);
                let arity = declared
                    .and_then(|data| Some(data.ctors.get(ctor.index as usize)?.fields.len()))
                    .unwrap_or(fields.len());
                let parts: Vec<Pat> = fields.iter().map(|field| self.simplify(field)).collect();
                if alone && parts.iter().all(Pat::is_wild) {
                    return Pat::Wild;
                }
                let head = Head::Ctor { data: ctor.data, index: ctor.index, name: ctor.name, arity };
                Pat::Con(head, parts)
            }
        })
    }

    /// Patterns that together match every value of `ty`, one for each of its first few constructors.
    fn all_of(&self, ty: &Type) -> Vec<Pat> {
        let heads = match ty {
            Type::Bool => vec![Head::Bool(true), Head::Bool(false)],
            Type::Data(name, _) => self.ctors_of(*name),
            Type::Real
            | Type::Int
            | Type::String
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Array(..)
            | Type::Fun(..)
            | Type::Dual(_)
            | Type::Var(_) => Vec::new(),
        };
        if heads.is_empty() {
            return vec![Pat::Wild];
        }
        let wild = |head: Head| {
            let parts = vec![Pat::Wild; head.arity()];
            head.rebuild(parts)
        };
        heads.into_iter().take(MAX_EXAMPLES).map(wild).collect()
    }

    /// The constructors of a data type.
    fn ctors_of(&self, data: Name) -> Vec<Head> {
        let Some(declared) = (self.types)(data) else { return Vec::new() };
        (0..)
            .zip(&declared.ctors)
            .map(|(index, ctor)| Head::Ctor { data, index, name: ctor.name, arity: ctor.fields.len() })
            .collect()
    }

    /// Whether some value matches `wanted` and none of `rows`.
    fn useful(&mut self, rows: &[Row], wanted: &Row) -> Result<bool, Overrun> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let Some(first) = wanted.last() else { return Ok(rows.is_empty()) };
            if rows.is_empty() {
                return Ok(true);
            }
            let heads = match first {
                Pat::Con(head, _) => vec![head.clone()],
                Pat::Record(_) => vec![record_head(rows.iter().chain([wanted]))],
                Pat::Wild => match self.signature(rows) {
                    Signature::Complete(heads) => heads,
                    Signature::Open(_) => {
                        let rows = self.starting_with_wildcard(rows)?;
                        return self.useful(&rows, &without_first(wanted));
                    }
                },
            };
            for head in heads {
                let rows = self.starting_with(&head, rows)?;
                if let Some(wanted) = specialize(&head, wanted)
                    && self.useful(&rows, &wanted)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// A value that no row matches, as `width` patterns, the last one for the first column.
    fn missing(&mut self, rows: &[Row], width: usize) -> Result<Option<Vec<Pat>>, Overrun> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            if rows.is_empty() {
                return Ok(Some(vec![Pat::Wild; width]));
            }
            if width == 0 {
                return Ok(None);
            }
            match self.signature(rows) {
                Signature::Open(unnamed) => {
                    let rows = self.starting_with_wildcard(rows)?;
                    let Some(mut value) = self.missing(&rows, width - 1)? else { return Ok(None) };
                    value.push(match unnamed {
                        Some(head) => {
                            let parts = vec![Pat::Wild; head.arity()];
                            head.rebuild(parts)
                        }
                        None => Pat::Wild,
                    });
                    Ok(Some(value))
                }
                Signature::Complete(heads) => {
                    for head in heads {
                        let arity = head.arity();
                        let rows = self.starting_with(&head, rows)?;
                        if let Some(mut value) = self.missing(&rows, width - 1 + arity)? {
                            let mut parts = value.split_off(width - 1);
                            parts.reverse();
                            value.push(head.rebuild(parts));
                            return Ok(Some(value));
                        }
                    }
                    Ok(None)
                }
            }
        })
    }

    /// The constructors in the first column.
    fn signature(&self, rows: &[Row]) -> Signature {
        let mut named = BTreeSet::new();
        for row in rows {
            match row.last() {
                Some(Pat::Con(head, _)) => {
                    named.insert(head);
                }
                Some(Pat::Record(_)) => return Signature::Complete(vec![record_head(rows)]),
                Some(Pat::Wild) | None => {}
            }
        }
        let Some(first) = named.first() else { return Signature::Open(None) };
        let all = match first {
            Head::Tuple(_) | Head::Record(_) => vec![(*first).clone()],
            Head::Bool(_) => vec![Head::Bool(true), Head::Bool(false)],
            Head::Ctor { data, .. } => match self.ctors_of(*data) {
                heads if heads.is_empty() => named.iter().map(|head| (*head).clone()).collect(),
                heads => heads,
            },
            Head::Int(_) | Head::Real(_) | Head::String(_) => return Signature::Open(None),
        };
        match all.iter().find(|head| !named.contains(head)) {
            Some(unnamed) => Signature::Open(Some(unnamed.clone())),
            None => Signature::Complete(all),
        }
    }

    /// The rows whose first pattern admits `head`, with the patterns of its parts in place of that pattern.
    fn starting_with<'p>(&mut self, head: &Head, rows: &[Row<'p>]) -> Result<Vec<Row<'p>>, Overrun> {
        let mut kept = Vec::new();
        for row in rows {
            self.spend(row.len() + head.arity())?;
            kept.extend(specialize(head, row));
        }
        Ok(kept)
    }

    /// The rows whose first pattern is a wildcard, without it.
    fn starting_with_wildcard<'p>(&mut self, rows: &[Row<'p>]) -> Result<Vec<Row<'p>>, Overrun> {
        let mut kept = Vec::new();
        for row in rows {
            self.spend(row.len())?;
            if row.last().is_some_and(|first| first.is_wild()) {
                kept.push(without_first(row));
            }
        }
        Ok(kept)
    }

    /// Counts copied patterns.
    fn spend(&mut self, cells: usize) -> Result<(), Overrun> {
        self.budget = self.budget.checked_sub(cells as u64 + 1).ok_or(Overrun)?;
        Ok(())
    }
}

/// The record with all the fields that the first column mentions.
fn record_head<'r, 'p: 'r>(rows: impl IntoIterator<Item = &'r Row<'p>>) -> Head {
    let mut names = BTreeSet::new();
    for row in rows {
        if let Some(Pat::Record(fields)) = row.last() {
            names.extend(fields.keys().copied());
        }
    }
    Head::Record(names.into_iter().collect())
}

/// The row with the parts of `head` in place of its first pattern, unless that wants another constructor.
fn specialize<'p>(head: &Head, row: &Row<'p>) -> Option<Row<'p>> {
    let (first, rest) = row.split_last()?;
    let parts: Vec<&'p Pat> = match (first, head) {
        (Pat::Wild, _) => vec![&WILD; head.arity()],
        (Pat::Con(own, parts), _) if own == head => {
            (0..head.arity()).map(|i| parts.get(i).unwrap_or(&WILD)).collect()
        }
        (Pat::Record(fields), Head::Record(names)) => {
            names.iter().map(|name| fields.get(name).unwrap_or(&WILD)).collect()
        }
        (Pat::Con(..) | Pat::Record(_), _) => return None,
    };
    let mut row = Vec::with_capacity(rest.len() + parts.len());
    row.extend_from_slice(rest);
    row.extend(parts.into_iter().rev());
    Some(row)
}

/// The row without its first pattern.
fn without_first<'p>(row: &Row<'p>) -> Row<'p> {
    row.split_last().map_or_else(Vec::new, |(_, rest)| rest.to_vec())
}

/// A literal as a constructor.
fn literal(lit: &Lit) -> Head {
    match lit {
        Lit::Bool(b) => Head::Bool(*b),
        Lit::Int(n) | Lit::Num(n, _) => Head::Int(*n),
        Lit::Real(x) => Head::Real(if *x == 0.0 { 0 } else { x.to_bits() }),
        Lit::String(text) => Head::String(Arc::clone(text)),
    }
}

impl Pat {
    /// Whether it matches everything.
    fn is_wild(&self) -> bool {
        matches!(self, Pat::Wild)
    }

    /// As the user would write it.
    fn text(&self) -> String {
        self.text_at(false)
    }

    /// As the user would write it, in parentheses if it has arguments and is one.
    fn text_at(&self, argument: bool) -> String {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match self {
            Pat::Wild => "_".into(),
            Pat::Record(fields) => {
                let named = fields.iter().filter(|(_, field)| !field.is_wild());
                let named: Vec<String> =
                    named.map(|(name, field)| format!("{name} = {}", field.text_at(false))).collect();
                if named.is_empty() { "_".into() } else { format!("{{{}}}", named.join(", ")) }
            }
            Pat::Con(head, parts) => match head {
                Head::Tuple(_) => {
                    let parts: Vec<String> = parts.iter().map(|part| part.text_at(false)).collect();
                    format!("({})", parts.join(", "))
                }
                Head::Ctor { name, .. } if parts.is_empty() => name.to_string(),
                Head::Ctor { name, .. } => {
                    let parts: Vec<String> = parts.iter().map(|part| part.text_at(true)).collect();
                    let text = format!("{name} {}", parts.join(" "));
                    if argument { format!("({text})") } else { text }
                }
                Head::Bool(b) => b.to_string(),
                Head::Record(_) | Head::Int(_) | Head::Real(_) | Head::String(_) => "_".into(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbtest::arbitrary::{self, Unstructured};
    use wengert_base::Span;
    use wengert_core::{Binder, Ctor, CtorRef, Var};

    /// `type List a = Nil | Cons a (List a)`, `type Wrap a = Wrap a`, `type Color = Red | Green | Blue | Gray`.
    fn types(name: Name) -> Option<Arc<DataType>> {
        let a = || Type::Var(Name::new("a"));
        let ctors: Vec<(&str, Vec<Type>)> = match name.as_str() {
            "List" => vec![("Nil", vec![]), ("Cons", vec![a(), Type::Data(name, vec![a()])])],
            "Wrap" => vec![("Wrap", vec![a()])],
            "Color" => vec![("Red", vec![]), ("Green", vec![]), ("Blue", vec![]), ("Gray", vec![])],
            _ => return None,
        };
        let ctors = ctors.into_iter().map(|(name, fields)| Ctor { name: Name::new(name), fields }).collect();
        Some(Arc::new(DataType { name, params: vec![Name::new("a")], ctors, span: Span::NOWHERE }))
    }

    fn ctor(data: &str, name: &str, fields: Vec<Pattern>) -> Pattern {
        let data = Name::new(data);
        let index =
            types(data).unwrap().ctors.iter().position(|ctor| ctor.name.as_str() == name).unwrap() as u32;
        Pattern::Ctor { ctor: CtorRef { data, index, name: Name::new(name) }, args: vec![Type::Bool], fields }
    }

    fn nil() -> Pattern {
        ctor("List", "Nil", vec![])
    }

    fn cons(head: Pattern, tail: Pattern) -> Pattern {
        ctor("List", "Cons", vec![head, tail])
    }

    fn bool(b: bool) -> Pattern {
        Pattern::Lit(Lit::Bool(b))
    }

    fn bind(name: &str) -> Pattern {
        Pattern::Bind(Binder { var: Var { name: Name::new(name), id: 0 }, ty: Type::Real })
    }

    const ANY: Pattern = Pattern::Wildcard;

    /// The report, which must not have given up.
    fn report(patterns: &[Pattern]) -> (Vec<String>, Vec<usize>) {
        let report = check_match(patterns, &Type::Bool, &types);
        assert!(!report.gave_up);
        (report.missing, report.redundant)
    }

    #[test]
    fn nested_data_shows_what_is_missing() {
        let arms = [Pattern::Tuple(vec![nil(), ANY]), Pattern::Tuple(vec![cons(ANY, nil()), bool(true)])];
        let (missing, redundant) = report(&arms);
        assert_eq!(missing, ["(Cons _ (Cons _ _), _)", "(Cons _ Nil, false)"]);
        assert_eq!(redundant, [0usize; 0]);
    }

    #[test]
    fn literals_need_a_wildcard_and_may_stand_once() {
        let int = |n| Pattern::Lit(Lit::Int(n));
        let real = |x| Pattern::Lit(Lit::Real(x));
        assert_eq!(report(&[int(0), int(1), int(0)]), (vec!["_".into()], vec![2]));
        assert_eq!(report(&[real(0.0), real(-0.0), ANY]), (vec![], vec![1]));
        let text = |text: &str| Pattern::Lit(Lit::String(text.into()));
        assert_eq!(report(&[text("a"), bind("s"), text("b")]), (vec![], vec![2]));
        assert_eq!(report(&[bool(true), bool(false), ANY]), (vec![], vec![2]));
        assert_eq!(report(&[bool(false)]).0, ["true"]);
    }

    #[test]
    fn records_are_open_and_show_only_the_fields_that_matter() {
        let field = |name: &str, pattern| (Name::new(name), pattern);
        let arms = [
            Pattern::Record(vec![field("on", bool(true))]),
            Pattern::Record(vec![field("xs", nil()), field("z", bind("z"))]),
        ];
        assert_eq!(report(&arms).0, ["{on = false, xs = Cons _ _}"]);
        let whole =
            Pattern::As(Box::new(ANY), Binder { var: Var { name: Name::new("r"), id: 1 }, ty: Type::Real });
        assert_eq!(report(&[arms[0].clone(), whole, arms[1].clone()]), (vec![], vec![2]));
    }

    #[test]
    fn no_arm_at_all_and_many_constructors_show_three_examples() {
        let color = Type::Data(Name::new("Color"), vec![]);
        assert_eq!(check_match(&[], &color, &types).missing, ["Red", "Green", "Blue"]);
        assert_eq!(check_match(&[], &Type::Int, &types).missing, ["_"]);
        assert_eq!(report(&[ctor("Color", "Green", vec![])]).0, ["Red", "Blue", "Gray"]);
        assert_eq!(report(&[ctor("Wrap", "Wrap", vec![bind("x")])]), (vec![], vec![]));
        assert_eq!(report(&[ctor("Wrap", "Wrap", vec![nil()])]).0, ["Wrap (Cons _ _)"]);
    }

    #[test]
    fn a_hostile_match_ends_soon_and_says_so() {
        // Row i demands `true` at i and `false` at i + 1: covering is a satisfiability problem.
        let width = 60;
        let row = |i: usize, j: usize, a: bool, b: bool| {
            let cell = |k| {
                if k == i {
                    bool(a)
                } else if k == j {
                    bool(b)
                } else {
                    ANY
                }
            };
            Pattern::Tuple((0..width).map(cell).collect())
        };
        let mut arms = Vec::new();
        for i in 0..width {
            arms.push(row(i, (i * 7 + 3) % width, true, false));
            arms.push(row((i * 13 + 5) % width, i, false, true));
            arms.push(row((i * 11 + 1) % width, (i * 5 + 2) % width, true, true));
        }
        let start = std::time::Instant::now();
        let _ = check_match(&arms, &Type::Bool, &types);
        let numbers: Vec<Pattern> = (0..10_000).map(|n| Pattern::Lit(Lit::Int(n))).collect();
        let large = check_match(&numbers, &Type::Int, &types);
        assert_eq!((large.missing, large.gave_up), (vec!["_".to_string()], true));
        assert!(start.elapsed().as_secs() < 20);
        let mut deep = nil();
        for _ in 0..2000 {
            deep = cons(ANY, deep);
        }
        assert_eq!(report(&[nil(), deep]).0.len(), 3);
    }

    #[test]
    fn an_overrun_is_reported_and_not_taken_for_an_answer() {
        let mut search = Search { types: &types, budget: 3 };
        let arms = [search.simplify(&nil()), search.simplify(&cons(bool(true), nil()))];
        let rows: Vec<Row> = arms.iter().map(|arm| vec![arm]).collect();
        assert!(search.missing(&rows, 1).is_err());
    }

    /// A value of `(List Bool, Bool)`: the truth values of the list, and the other.
    type Value = (Vec<bool>, bool);

    /// A random pattern for a list.
    fn list_pattern(u: &mut Unstructured, depth: u32) -> arbitrary::Result<Pattern> {
        Ok(match u.int_in_range(0..=if depth == 0 { 1 } else { 3 })? {
            0 => bind("xs"),
            1 => nil(),
            _ => cons(bool_pattern(u)?, list_pattern(u, depth - 1)?),
        })
    }

    /// A random pattern for a truth value.
    fn bool_pattern(u: &mut Unstructured) -> arbitrary::Result<Pattern> {
        Ok(if u.ratio(1, 2)? { ANY } else { bool(u.arbitrary()?) })
    }

    /// Whether the pattern matches, by its meaning.
    fn matches_list(pattern: &Pattern, value: &[bool]) -> bool {
        match (pattern, value) {
            (Pattern::Wildcard | Pattern::Bind(_), _) => true,
            (Pattern::Ctor { fields, .. }, []) => fields.is_empty(),
            (Pattern::Ctor { fields, .. }, [first, rest @ ..]) => {
                fields.len() == 2 && matches_bool(&fields[0], *first) && matches_list(&fields[1], rest)
            }
            (other, _) => panic!("not a list pattern: {other:?}"),
        }
    }

    fn matches_bool(pattern: &Pattern, value: bool) -> bool {
        pattern == &ANY || pattern == &bool(value)
    }

    #[test]
    fn the_report_agrees_with_trying_all_small_values() {
        // Patterns look at no more than three elements, so lists of up to four elements show everything.
        let mut values: Vec<Value> = Vec::new();
        for length in 0..=4 {
            for bits in 0..1 << (length + 1) {
                values.push(((0..length).map(|i| bits >> i & 1 == 1).collect(), bits >> length & 1 == 1));
            }
        }
        arbtest::arbtest(|u| {
            let mut arms = Vec::new();
            for _ in 0..u.int_in_range(1..=7)? {
                arms.push((list_pattern(u, 3)?, bool_pattern(u)?));
            }
            let patterns: Vec<Pattern> =
                arms.iter().map(|(list, b)| Pattern::Tuple(vec![list.clone(), b.clone()])).collect();
            let first_match = |(list, b): &Value| {
                arms.iter().position(|arm| matches_list(&arm.0, list) && matches_bool(&arm.1, *b))
            };
            let reached: Vec<Option<usize>> = values.iter().map(first_match).collect();
            let (missing, redundant) = report(&patterns);
            assert_eq!(missing.is_empty(), reached.iter().all(Option::is_some), "{patterns:?}");
            let unreached: Vec<usize> = (0..arms.len()).filter(|i| !reached.contains(&Some(*i))).collect();
            assert_eq!(redundant, unreached, "{patterns:?}");
            Ok(())
        });
    }
}
