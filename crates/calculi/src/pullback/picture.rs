//! The two phases of a pullback as a picture: on the left the values go forward through the let series (reductions 20a, 20b
//! and the last of 9 to 19c), on the right the dual constants come back through the starred maps (reduction 5).
//!
//! Everything in it is read off the steps of the reduction: a step `((Ω λy.⟨y,E⟩)·S) V ⟶ (λv.⟨v,S⟩)*·…` gives the line, its value
//! and its map, a step `(λv.⟨v,S⟩)*·r* ⟶ w*` what flows back. Lines that only name, project or pair are left out,
//! and their contributions go to where the line leads. Both halves have the same layout, in layers.

mod draw;
mod layout;

use super::print::{Notation, print_marked};
use super::reduce::{Reducer, numbers};
use super::syntax::{Kind, Pat, PatKind, Term, Type, TypeKind, Var, paired};
use crate::kit::trace::Limits;
use rustc_hash::FxHashMap;

/// Steps that are looked at.
const MAX_STEPS: usize = 20_000;
/// Characters of a text in the picture.
const MAX_TEXT: usize = 40;

/// A line of the let series, or a number of the point.
struct Node {
    name: String,
    /// `add(x, 1)`; nothing for inputs.
    text: String,
    value: String,
    /// `λv. (J add · v) ⟨1, 1⟩`
    map: String,
    /// What it uses, and what flows back there.
    uses: Vec<(usize, Option<String>)>,
    /// All that flows back to it.
    weight: Option<String>,
}

/// Where a variable comes from.
#[derive(Clone)]
enum Source {
    Node(usize),
    Text(String),
    Tuple(Vec<Source>),
}

/// One step of the forward phase.
struct Stage {
    pat: Pat,
    /// The variable that the line binds; the last line binds none.
    var: Option<Var>,
    elementary: Term,
    value: Option<Term>,
    /// `λv.S` with v.
    mirror: Pat,
    map: Term,
}

/// The picture; nothing if no pullback is taken at a point.
pub(crate) fn picture(start: &Term, limits: &Limits) -> Option<String> {
    let limits = Limits { recorded: 0, ..*limits };
    let steps = Reducer::new(&limits, Notation::Paper).redexes(start, MAX_STEPS);
    let (stages, form) = forward(&steps)?;
    let phases = Phases::of(&stages, &steps);
    Some(phases.draw(&form))
}

/// The stages of the first pullback at a point, and its 1-form.
fn forward(steps: &[(&'static str, Term, Term)]) -> Option<(Vec<Stage>, String)> {
    let mut stages: Vec<Stage> = Vec::new();
    let mut next: Option<Pat> = None;
    let mut last = None;
    for (index, (_, redex, reduct)) in steps.iter().enumerate() {
        let Kind::App(pull, at) = redex.kind() else { continue };
        let Kind::Pull(pat, body, form) = pull.kind() else { continue };
        if next.as_ref().is_some_and(|next| next.ptr() != pat.ptr()) {
            continue;
        }
        let elementary = paired(pat, body).unwrap_or(body).clone();
        let (mirror, map) = match reduct.kind() {
            Kind::DualMap(mirror, map, _) => (mirror.clone(), map.clone()),
            Kind::Zero => (pat.clone(), reduct.clone()),
            // Reduction 17 makes another pullback of it.
            _ => continue,
        };
        if let Some(before) = stages.last_mut()
            && let Kind::Pair(_, value) = at.kind()
        {
            before.value = Some(value.clone());
        }
        let var = match form.kind() {
            Kind::Pull(longer, ..) => last_var(longer),
            _ => None,
        };
        let ends = var.is_none();
        next = if let Kind::Pull(longer, ..) = form.kind() { Some(longer.clone()) } else { None };
        stages.push(Stage { pat: pat.clone(), var, elementary, value: None, mirror, map });
        if ends {
            last = Some((form.clone(), index));
            break;
        }
    }
    let (form, index) = last?;
    // The form is applied to the value of the last line.
    let rest = steps.get(index + 1..).unwrap_or_default();
    let applied = rest.iter().find_map(|(_, redex, _)| match redex.kind() {
        Kind::App(f, value) if f.ptr() == form.ptr() => Some(value.clone()),
        _ => None,
    });
    if let Some(stage) = stages.last_mut() {
        stage.value = applied;
    }
    Some((stages, short(&form)))
}

fn last_var(pat: &Pat) -> Option<Var> {
    let PatKind::Pair(_, second) = pat.kind() else { return None };
    if let PatKind::Var(var) = second.kind() { Some(var.clone()) } else { None }
}

fn short(term: &Term) -> String {
    cut(&print_marked(term, None, Notation::Paper).0)
}

fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_TEXT { text.into() } else { text.chars().take(MAX_TEXT - 1).chain(['…']).collect() }
}

/// A vector or number as the picture shows it.
fn numeric(numbers: &[f64]) -> String {
    let show = |x: &f64| {
        let exact = format!("{x}");
        match x.abs() {
            _ if exact.len() <= 7 => exact,
            size if (1e-3..1e6).contains(&size) => format!("{x:.4}"),
            _ => format!("{x:.2e}"),
        }
    };
    match numbers {
        [x] => show(x),
        all => cut(&format!("[{}]", all.iter().map(show).collect::<Vec<_>>().join("; "))),
    }
}

fn value_text(term: Option<&Term>) -> String {
    let Some(term) = term.filter(|term| !holds_function(term.ty())) else { return String::new() };
    match numbers(term) {
        Some(all) if all.len() == 1 => numeric(&all),
        Some(all) => cut(&format!("⟨{}⟩", all.iter().map(|x| numeric(&[*x])).collect::<Vec<_>>().join(", "))),
        None => short(term),
    }
}

fn holds_function(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Real | TypeKind::Dual(_) => false,
        TypeKind::Function(..) => true,
        TypeKind::Product(a, b) => holds_function(a) || holds_function(b),
    }
}

/// Where the numbers of a pattern's variable stand among those of the whole.
fn place(pat: &Pat, id: u32) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    for var in pat.vars().iter().rev() {
        let width = usize::try_from(var.ty().width()?).ok()?;
        if var.id() == id {
            return Some(at..at + width);
        }
        at += width;
    }
    None
}

/// What the picture shows.
#[derive(Default)]
struct Phases {
    nodes: Vec<Node>,
    inputs: usize,
    /// How many lines have no name of the user's.
    unnamed: usize,
    /// Whether the maps were composed by reduction 6 before a vector came back.
    composed: bool,
    output: Option<usize>,
    /// The number of lines of the series, with those that are left out.
    lines: usize,
    result: String,
}

impl Phases {
    fn of(stages: &[Stage], steps: &[(&'static str, Term, Term)]) -> Phases {
        let mut phases = Phases { lines: stages.len(), ..Phases::default() };
        let mut sources: FxHashMap<u32, Source> = FxHashMap::default();
        let back = backward(steps);
        phases.composed = stages.iter().any(|stage| vectors(stage, &back).is_none());
        if let Some(first) = stages.first() {
            phases.inputs(first, steps, &mut sources);
        }
        for (index, stage) in stages.iter().enumerate() {
            let source = match plumbing(&stage.elementary, &sources) {
                Some(source) => source,
                None => Source::Node(phases.line(stage, &sources, vectors(stage, &back))),
            };
            if let Some(var) = &stage.var {
                sources.insert(var.id(), source.clone());
            }
            if index + 1 == stages.len() {
                phases.output = leaves(&source).last().copied();
            }
        }
        phases.totals(stages.first(), &back);
        phases
    }

    /// The numbers of the point.
    fn inputs(
        &mut self,
        first: &Stage,
        steps: &[(&'static str, Term, Term)],
        sources: &mut FxHashMap<u32, Source>,
    ) {
        let at = steps.iter().find_map(|(_, redex, _)| match redex.kind() {
            Kind::App(pull, at) => match pull.kind() {
                Kind::Pull(pat, ..) if pat.ptr() == first.pat.ptr() => Some(at.clone()),
                _ => None,
            },
            _ => None,
        });
        for var in first.pat.vars().iter().rev() {
            let value = at.as_ref().and_then(|at| first.pat.component(at, var.id()));
            let node = Node {
                name: var.name().to_string(),
                text: String::new(),
                value: value_text(value.as_ref()),
                map: String::new(),
                uses: Vec::new(),
                weight: None,
            };
            sources.insert(var.id(), Source::Node(self.nodes.len()));
            self.nodes.push(node);
        }
        self.inputs = self.nodes.len();
    }

    /// A line that computes.
    fn line(
        &mut self,
        stage: &Stage,
        sources: &FxHashMap<u32, Source>,
        back: Option<&(Vec<f64>, Vec<f64>)>,
    ) -> usize {
        let name = match &stage.var {
            Some(var) if !var.is_fresh() => var.name().to_string(),
            _ => {
                self.unnamed += 1;
                format!("z{}", self.unnamed)
            }
        };
        let mut uses = Vec::new();
        for var in stage.pat.vars().iter().rev() {
            if stage.elementary.mentions(&|id| id == var.id())
                && let Some(source) = sources.get(&var.id())
            {
                let flows = contribution(stage, var, back);
                let nodes = leaves(source);
                let each = flows.filter(|flows| nodes.len() == flows.len() || nodes.len() == 1);
                for (i, node) in nodes.iter().enumerate() {
                    let flow = each.as_ref().map(|flows| match nodes.len() {
                        1 => numeric(flows),
                        _ => numeric(flows.get(i..=i).unwrap_or_default()),
                    });
                    if *node != usize::MAX {
                        uses.push((*node, flow));
                    }
                }
            }
        }
        let names: FxHashMap<u32, String> =
            sources.iter().map(|(id, source)| (*id, self.text_of(source))).collect();
        self.nodes.push(Node {
            name,
            text: cut(&elementary_text(&stage.elementary, &names)),
            value: value_text(stage.value.as_ref()),
            map: map_text(stage),
            uses,
            weight: back.and_then(|(weights, _)| of_line(stage, weights)).map(|w| numeric(&w)),
        });
        self.nodes.len() - 1
    }

    fn text_of(&self, source: &Source) -> String {
        match source {
            Source::Node(node) => self.nodes.get(*node).map(|node| node.name.clone()).unwrap_or_default(),
            Source::Text(text) => text.clone(),
            Source::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.text_of(part)).collect();
                parts.join(", ")
            }
        }
    }

    /// What flows back to the point in all.
    fn totals(&mut self, first: Option<&Stage>, back: &FxHashMap<*const (), (Vec<f64>, Vec<f64>)>) {
        let Some(first) = first else { return };
        let Some((_, result)) = back.get(&first.mirror.ptr()) else { return };
        self.result = numeric(result);
        let vars = first.pat.vars();
        for (node, var) in self.nodes.iter_mut().zip(vars.iter().rev()) {
            node.weight = place(&first.pat, var.id()).and_then(|place| result.get(place)).map(numeric);
        }
    }
}

/// By mirrored pattern: the vectors that come in and go out by reduction 5.
fn backward(steps: &[(&'static str, Term, Term)]) -> FxHashMap<*const (), (Vec<f64>, Vec<f64>)> {
    let mut found = FxHashMap::default();
    for (_, redex, reduct) in steps {
        if let (Kind::DualMap(pat, _, dual), Kind::DualConst(out)) = (redex.kind(), reduct.kind())
            && let Kind::DualConst(weights) = dual.kind()
            && let Some(vectors) = numbers(weights).zip(numbers(out))
        {
            found.insert(pat.ptr(), vectors);
        }
    }
    found
}

/// The vectors that come in and go out at the map of a stage.
fn vectors<'a>(
    stage: &Stage,
    back: &'a FxHashMap<*const (), (Vec<f64>, Vec<f64>)>,
) -> Option<&'a (Vec<f64>, Vec<f64>)> {
    let found = back.get(&stage.mirror.ptr())?;
    let own = stage.elementary.ty().width()?;
    let before = if stage.var.is_some() { stage.pat.ty().width()? } else { 0 };
    // After reduction 6 the map of a stage is that of all stages to its right.
    (found.0.len() as u64 == before + own).then_some(found)
}

/// The part of an incoming vector that belongs to the line: all of it for the last.
fn of_line(stage: &Stage, weights: &[f64]) -> Option<Vec<f64>> {
    let before = match stage.var {
        Some(_) => usize::try_from(stage.pat.ty().width()?).ok()?,
        None => 0,
    };
    weights.get(before..).map(<[f64]>::to_vec)
}

/// What the line adds to the entries of a variable.
fn contribution(stage: &Stage, var: &Var, back: Option<&(Vec<f64>, Vec<f64>)>) -> Option<Vec<f64>> {
    let (weights, out) = back?;
    let place = place(&stage.pat, var.id())?;
    let after = out.get(place.clone())?;
    let none = Vec::new();
    let before = match stage.var {
        Some(_) => weights.get(place)?,
        None => none.as_slice(),
    };
    Some(after.iter().enumerate().map(|(i, x)| x - before.get(i).copied().unwrap_or(0.0)).collect())
}

/// The nodes of a source, from left to right.
fn leaves(source: &Source) -> Vec<usize> {
    match source {
        Source::Node(node) => vec![*node],
        Source::Text(_) => vec![usize::MAX],
        Source::Tuple(parts) => parts.iter().flat_map(leaves).collect(),
    }
}

/// What a line stands for that computes nothing.
fn plumbing(elementary: &Term, sources: &FxHashMap<u32, Source>) -> Option<Source> {
    match elementary.kind() {
        Kind::Var(var) => sources.get(&var.id()).cloned(),
        Kind::Real(_) | Kind::Zero | Kind::DualConst(_) => Some(Source::Text(short(elementary))),
        Kind::Lam(..) if !elementary.mentions(&|id| sources.contains_key(&id)) => {
            Some(Source::Text(format!("({})", short(elementary))))
        }
        Kind::Proj(index, of) => match plumbing(of, sources)? {
            Source::Tuple(mut parts) => {
                let last = parts.pop()?;
                match (index, parts.len()) {
                    (2, _) => Some(last),
                    (_, 1) => parts.pop(),
                    _ => Some(Source::Tuple(parts)),
                }
            }
            Source::Node(_) | Source::Text(_) => None,
        },
        Kind::Pair(a, b) => {
            let (a, b) = (plumbing(a, sources)?, plumbing(b, sources)?);
            Some(match a {
                Source::Tuple(mut parts) => {
                    parts.push(b);
                    Source::Tuple(parts)
                }
                a => Source::Tuple(vec![a, b]),
            })
        }
        _ => None,
    }
}

/// `add(x, 1)`, with the names of the picture.
fn elementary_text(term: &Term, names: &FxHashMap<u32, String>) -> String {
    let of = |term: &Term| match term.kind() {
        Kind::Var(var) => names.get(&var.id()).cloned().unwrap_or_else(|| var.name().to_string()),
        _ => short(term),
    };
    match term.kind() {
        Kind::Lam(pat, _) => format!("λ{}. …", short(&pat.term())),
        Kind::Fun(f, a) => format!("{}({})", f.name(), of(a)),
        Kind::App(f, a) => format!("{} ({})", of(f), of(a)),
        Kind::Sum(a, b) => format!("{} + {}", of(a), of(b)),
        Kind::Proj(i, a) => format!("π{i}({})", of(a)),
        Kind::Jac(f, a) => format!("J {} · {}", f.name(), of(a)),
        _ => short(term),
    }
}

/// `λv. S`, of which only the part for the line is shown.
fn map_text(stage: &Stage) -> String {
    let own = match (stage.var.as_ref(), stage.map.kind()) {
        (Some(_), Kind::Pair(_, own)) => own.clone(),
        _ => stage.map.clone(),
    };
    let body = match own.kind() {
        Kind::App(jacobian, point) => match jacobian.kind() {
            Kind::Jac(f, _) => format!("(J {} · v) {}", f.name(), value_text(Some(point))),
            _ => short(&own),
        },
        _ => short(&own),
    };
    cut(&format!("(λv. {body})*"))
}

#[cfg(test)]
mod tests {
    use super::super::examples::term;
    use super::picture;
    use crate::kit::trace::Limits;

    fn drawn(text: &str) -> String {
        picture(&term(text), &Limits::default()).expect("a pullback at a point")
    }

    /// The texts in the picture, without the white edges below them.
    fn texts(svg: &str) -> Vec<&str> {
        let all = svg.lines().filter(|line| !line.contains("stroke=\"white\""));
        all.flat_map(|line| line.split("<text").skip(1))
            .filter_map(|text| text.split_once('>')?.1.split_once("</text>"))
            .map(|(text, _)| text)
            .collect()
    }

    #[test]
    fn example_3_9_has_the_paper_s_numbers() {
        let svg = drawn(
            "fun g⟨x,y⟩ = ⟨add(x,1), add(mult(2,x), pow2(y))⟩;\n((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩",
        );
        let texts = texts(&svg);
        for expected in [
            "z1 = g(x, y)",
            "= ⟨2, 11⟩",
            "z2 = mult(z1)",
            "= 22",
            "z3 = pow2(z2)",
            "= 484",
            "484",
            "1",
            "44",
            "[484; 88]",
            "660",
            "528",
            "(λv. (J mult · v) ⟨2, 11⟩)*",
            "· [44]*",
            "· [484; 88]*",
            "= 660",
            "= 528",
        ] {
            assert!(texts.contains(&expected), "{expected} in {texts:?}");
        }
        assert_eq!(svg.matches("<path d=\"M").count() - 2, 2 * 4 + 2, "{svg}");
    }

    #[test]
    fn what_flows_along_an_edge_is_that_line_s_part() {
        let svg = drawn("((Ω λ⟨x,y⟩. let a = mult(x, y); b = add(a, x) in mult(b, a)) · Ω [1]) ⟨2,3⟩");
        let texts = texts(&svg);
        // b = 8 flows to a, and 6 from b as well; x gets 6 from b and 14·3 from a.
        for expected in
            ["a = mult(x, y)", "b = add(a, x)", "· [14]*", "· [6]*", "8", "6", "42", "28", "= 48", "= 28"]
        {
            assert!(texts.contains(&expected), "{expected} in {texts:?}");
        }
    }

    #[test]
    fn functions_and_lists_are_drawn_without_vectors() {
        let svg = drawn("((Ω λw. (λf. f (f 0.5)) (λh. mult(w, h))) · Ω [1]) 2");
        assert!(svg.contains("reduction 6") && svg.contains("f = λh. …"), "{svg}");
        assert!(texts(&svg).contains(&"= 2"), "{svg}");
    }

    #[test]
    fn a_large_program_has_a_bounded_picture() {
        let lets: Vec<String> = (1..=3000).map(|i| format!("a{i} = sin(a{})", i - 1)).collect();
        let svg = drawn(&format!(
            "((Ω λa0. let {} in a1000) · Ω [1]) 1",
            lets.get(..1000).unwrap_or_default().join("; ")
        ));
        assert!(svg.len() < 60_000 && svg.contains("961 that compute"), "{}", svg.len());
        assert!(picture(&term("2"), &Limits::default()).is_none());
    }
}
