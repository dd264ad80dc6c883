//! The picture of a `Delta` (section 7): each binding is a node, and so is each input. An identifier that several deltas
//! mention is drawn once, which is the sharing that the monadic translation is about.
//!
//! An arrow leads from a delta to one that mentions it, with the factor of its `Scale` if there is one; several arrows into
//! one node are an `Add`. In red is what `eval` passes to each identifier in the reverse pass, the derivative of the result by
//! it. Nodes stand in layers, below all that they use, each near the middle of its neighbors. Beside them stand the same
//! bindings as text, as in the right column of Figure 12. Of a long trace the beginning and the end are drawn.

use super::value::{Delta, DeltaNode};
use crate::kit::simple::{Derive, Program, Term, TermKind, Ty, Var};
use crate::kit::svg;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use wengert_base::real;

/// Bindings that are drawn at most; of more, half of these from each end.
const MOST: usize = 60;
/// Inputs that are drawn at most.
const INPUTS: usize = 40;
const LAYER: f64 = 96.0;
const BOX: (f64, f64) = (10.0, 36.0);
const GAP: f64 = 16.0;
const ROW: f64 = 17.0;
const TOP: f64 = 84.0;

/// A part of a delta: an identifier with the factor in front of it.
type Part = (f64, i64);

/// What is drawn.
struct Node {
    id: i64,
    name: String,
    parts: Vec<Part>,
    /// The delta as text; none for inputs.
    text: Option<String>,
    adjoint: Option<f64>,
    layer: usize,
    x: f64,
}

impl Node {
    fn shown_adjoint(&self) -> String {
        self.adjoint.map_or_else(|| "—".into(), short)
    }

    fn width(&self) -> f64 {
        let longest = self.name.chars().count().max(self.shown_adjoint().chars().count());
        (longest as f64 * 7.5 + 2.0 * BOX.0).max(44.0)
    }
}

/// A number with few digits.
fn short(x: f64) -> String {
    let rounded = format!("{x:.5e}").parse().unwrap_or(x);
    real::show(rounded).trim_end_matches(".0").replace('-', "−")
}

fn subscript(n: i64) -> String {
    let low = |c: char| char::from_u32(0x2080 + c.to_digit(10).unwrap_or(0)).unwrap_or(c);
    n.to_string().chars().map(low).collect()
}

/// The picture of what `eval dt u` works on. Inputs beyond `names` are called `s`.
pub(super) fn draw(dt: f64, u: &Delta, names: &dyn Fn(i64) -> Option<String>) -> String {
    let (bindings, result) = bindings(u);
    let adjoints = adjoints(dt, &bindings, &result);
    let first = bindings.first().map_or(i64::MAX, |(id, _)| *id);
    let name = |id: i64| match names(id) {
        Some(name) if id < first => name,
        _ if id < first => format!("s{}", subscript(id)),
        _ => format!("x{}", subscript(id - first + 1)),
    };
    let hidden = hidden(bindings.len());
    let mut nodes = Vec::new();
    let mentioned = mentioned(&bindings, &result);
    for id in mentioned.into_iter().filter(|id| *id < first).take(INPUTS) {
        let adjoint = adjoints.get(&id).copied();
        nodes.push(Node { id, name: name(id), parts: Vec::new(), text: None, adjoint, layer: 0, x: 0.0 });
    }
    for (_, (id, u)) in bindings.iter().enumerate().filter(|(at, _)| !hidden.contains(at)) {
        let (text, adjoint) = (Some(text(u, &name)), adjoints.get(id).copied());
        nodes.push(Node { id: *id, name: name(*id), parts: parts(u), text, adjoint, layer: 0, x: 0.0 });
    }
    place(&mut nodes);
    let width = nodes.iter().map(|node| node.x + node.width() / 2.0).fold(200.0, f64::max) + 2.0 * GAP;
    let title = format!(
        "{} binding{} of runDelta, result {}",
        bindings.len(),
        if bindings.len() == 1 { "" } else { "s" },
        text(&result, &name)
    );
    let hidden = bindings.get(hidden).unwrap_or_default().iter().map(|(id, _)| *id).collect();
    let shown = Shown { nodes, hidden, result: parts(&result), width };
    shown.svg(&title)
}

/// Which bindings are left out.
fn hidden(count: usize) -> std::ops::Range<usize> {
    if count <= MOST { 0..0 } else { MOST / 2..count - MOST / 2 }
}

/// The bindings of a delta from the first to the last, and what is under them.
fn bindings(u: &Delta) -> (Vec<(i64, Delta)>, Delta) {
    let mut all = Vec::new();
    let mut rest = u.clone();
    while let DeltaNode::Let(id, bound, body) = &*rest.clone() {
        all.push((*id, bound.clone()));
        rest = body.clone();
    }
    (all, rest)
}

/// The identifiers that a delta without bindings mentions, with their factors, from left to right.
fn parts(u: &Delta) -> Vec<Part> {
    let mut found = Vec::new();
    let mut open = vec![(1.0, u)];
    while let Some((factor, u)) = open.pop() {
        match &**u {
            DeltaNode::Zero => {}
            DeltaNode::Var(id) | DeltaNode::OneHot(id) => found.push((factor, *id)),
            DeltaNode::Scale(x, u) => open.push((wengert_prim::special::mul_zero(factor, *x), u)),
            DeltaNode::Add(a, b) | DeltaNode::Let(_, a, b) => open.extend([(factor, b), (factor, a)]),
        }
    }
    found
}

/// Every identifier that is mentioned, in order.
fn mentioned(bindings: &[(i64, Delta)], result: &Delta) -> Vec<i64> {
    let all = bindings.iter().map(|(_, u)| u).chain([result]);
    let mut ids: Vec<i64> = all.flat_map(parts).map(|(_, id)| id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// What `eval` of Figure 10 passes to each identifier.
fn adjoints(dt: f64, bindings: &[(i64, Delta)], result: &Delta) -> FxHashMap<i64, f64> {
    let mut map: FxHashMap<i64, f64> = FxHashMap::default();
    let pass = |x: f64, u: &Delta, map: &mut FxHashMap<i64, f64>| {
        for (factor, id) in parts(u) {
            *map.entry(id).or_insert(0.0) += wengert_prim::special::mul_zero(x, factor);
        }
    };
    pass(dt, result, &mut map);
    for (id, u) in bindings.iter().rev() {
        if let Some(x) = map.get(id).copied() {
            pass(x, u, &mut map);
        }
    }
    map
}

/// A delta as the paper writes it, with names for identifiers; `Var` is left out.
fn text(u: &Delta, name: &dyn Fn(i64) -> String) -> String {
    let inner = |u: &Delta| match &**u {
        DeltaNode::Scale(..) | DeltaNode::Add(..) | DeltaNode::Let(..) => format!("({})", text(u, name)),
        DeltaNode::Zero | DeltaNode::Var(_) | DeltaNode::OneHot(_) => text(u, name),
    };
    super::syntax::grow(|| match &**u {
        DeltaNode::Zero => "Zero".into(),
        DeltaNode::Var(id) | DeltaNode::OneHot(id) => name(*id),
        DeltaNode::Scale(x, u) => format!("Scale {} {}", short(*x), inner(u)),
        DeltaNode::Add(a, b) => format!("Add {} {}", inner(a), inner(b)),
        DeltaNode::Let(id, a, b) => format!("Let {} {} {}", name(*id), inner(a), inner(b)),
    })
}

/// Gives each node its layer and its place in it.
fn place(nodes: &mut [Node]) {
    let index: FxHashMap<i64, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let mut edges = Vec::new();
    for at in 0..nodes.len() {
        let Some(node) = nodes.get(at) else { continue };
        let used: Vec<usize> = node.parts.iter().filter_map(|(_, id)| index.get(id).copied()).collect();
        let below = used.iter().filter_map(|at| nodes.get(*at)).map(|node| node.layer + 1).max();
        edges.extend(used.iter().map(|used| (*used, at)));
        if let Some(node) = nodes.get_mut(at) {
            node.layer = below.unwrap_or(usize::from(node.text.is_some()));
        }
    }
    let deepest = nodes.iter().map(|node| node.layer).max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); deepest + 1];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(layer) = layers.get_mut(node.layer) {
            layer.push(at);
        }
    }
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, to) in edges {
        for (a, b) in [(from, to), (to, from)] {
            if let Some(neighbors) = neighbors.get_mut(a) {
                neighbors.push(b);
            }
        }
    }
    for layer in &layers {
        spread(nodes, layer, None);
    }
    for round in 0..16 {
        let order: Vec<&Vec<usize>> =
            if round % 2 == 0 { layers.iter().collect() } else { layers.iter().rev().collect() };
        for layer in order {
            let wish = |at: usize| {
                let all: Vec<f64> = neighbors
                    .get(at)
                    .into_iter()
                    .flatten()
                    .filter_map(|other| nodes.get(*other))
                    .map(|node| node.x)
                    .collect();
                let own = nodes.get(at).map_or(0.0, |node| node.x);
                if all.is_empty() { own } else { all.iter().sum::<f64>() / all.len() as f64 }
            };
            let mut wishes: Vec<(f64, usize)> = layer.iter().map(|at| (wish(*at), *at)).collect();
            wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let layer: Vec<usize> = wishes.iter().map(|(_, at)| *at).collect();
            spread(nodes, &layer, Some(&wishes));
        }
    }
    close_gaps(nodes);
}

/// Moves everything to the left edge, and closes columns in which nothing stands.
fn close_gaps(nodes: &mut [Node]) {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    let left = |at: &usize| nodes.get(*at).map_or(0.0, |node| node.x - node.width() / 2.0);
    order.sort_by(|a, b| left(a).total_cmp(&left(b)));
    let (mut right, mut shift) = (0.0_f64, None);
    for at in order {
        let Some(node) = nodes.get_mut(at) else { continue };
        let left = node.x - node.width() / 2.0;
        let moved = shift.map_or(left - GAP, |shift: f64| shift.max(left - right - GAP));
        let moved = if shift.is_none() || left - moved > right { moved } else { shift.unwrap_or(moved) };
        node.x -= moved;
        right = right.max(node.x + node.width() / 2.0);
        shift = Some(moved);
    }
}

/// Puts a layer side by side without overlap, each node as near to where it wants to be as those before it allow, and the
/// whole where it is right on average.
fn spread(nodes: &mut [Node], layer: &[usize], wishes: Option<&[(f64, usize)]>) {
    let wish = |at: usize| wishes.and_then(|wishes| wishes.iter().find(|(_, other)| *other == at));
    let (mut right, mut error, mut count) = (f64::NEG_INFINITY, 0.0, 0.0);
    for at in layer {
        let wanted = wish(*at).map_or(0.0, |(x, _)| *x);
        let Some(node) = nodes.get_mut(*at) else { continue };
        let half = node.width() / 2.0 + GAP / 2.0;
        node.x = wanted.max(right + half);
        right = node.x + half;
        error += wanted - node.x;
        count += 1.0;
    }
    for at in layer {
        if let Some(node) = nodes.get_mut(*at) {
            node.x += error / f64::max(count, 1.0);
        }
    }
}

struct Shown {
    nodes: Vec<Node>,
    /// Bindings that are left out.
    hidden: FxHashSet<i64>,
    result: Vec<Part>,
    /// Of the graph.
    width: f64,
}

impl Shown {
    fn svg(&self, title: &str) -> String {
        let lines = self.nodes.iter().filter(|node| node.text.is_some()).count() + 2;
        let deepest = self.nodes.iter().map(|node| node.layer).max().unwrap_or(0);
        let longest =
            self.nodes.iter().filter_map(|node| node.text.as_ref()).map(|t| t.chars().count()).max();
        let listing = longest.unwrap_or(0) as f64 * 7.3 + 190.0;
        let height = (TOP + deepest as f64 * LAYER + BOX.1 + 2.0 * GAP).max(TOP + lines as f64 * ROW + GAP);
        let total = (self.width + listing).max(title.chars().count() as f64 * 8.5 + 2.0 * GAP).max(720.0);
        let mut out = svg::open(total, height);
        out.push_str(
            "<defs><marker id=\"use\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n",
        );
        let _ = writeln!(
            out,
            "<text x=\"{GAP}\" y=\"24\" font-weight=\"bold\" font-size=\"15\">{}</text>\
             <text x=\"{GAP}\" y=\"44\" fill=\"#555\">a node for each identifier; arrows show where it is used, with \
             the factor of Scale</text><text x=\"{GAP}\" y=\"62\" fill=\"#555\"><tspan fill=\"#b00020\">red: what eval passes \
             to it in the reverse pass</tspan>; blue: inputs; green: result; gray: nothing reaches it</text>",
            svg::escaped(title)
        );
        let mut labels = Vec::new();
        for node in &self.nodes {
            self.arrows(&mut out, node, &mut labels);
        }
        Self::factors(&mut out, &labels);
        for node in &self.nodes {
            self.node(&mut out, node);
        }
        self.listing(&mut out);
        out.push_str("</svg>\n");
        out
    }

    fn y(node: &Node) -> f64 {
        TOP + node.layer as f64 * LAYER
    }

    /// The arrows into a node, from left to right as their sources stand.
    fn arrows(&self, out: &mut String, node: &Node, labels: &mut Vec<(String, f64, f64)>) {
        let source = |id: i64| self.nodes.iter().find(|node| node.id == id);
        let mut used: Vec<(f64, &Node)> =
            node.parts.iter().filter_map(|(factor, id)| Some((*factor, source(*id)?))).collect();
        used.sort_by(|a, b| a.1.x.total_cmp(&b.1.x));
        let count = used.len() as f64;
        for (at, (factor, from)) in used.into_iter().enumerate() {
            let shift = (at as f64 - (count - 1.0) / 2.0) * (node.width() - 16.0) / count.max(1.0);
            let (x1, y1) = (from.x + shift / 3.0, Self::y(from) + BOX.1);
            let (x2, y2) = (node.x + shift, Self::y(node));
            let bend = ((y2 - y1) / 2.0).min(70.0);
            let _ = writeln!(
                out,
                "<path d=\"M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#888\" \
                 marker-end=\"url(#use)\"/>",
                y1 + bend,
                y2 - bend
            );
            if factor != 1.0 {
                labels.push((short(factor), x2 + (x1 - x2) * 0.04, y2 - 14.0 - 12.0 * (at % 2) as f64));
            }
        }
        for (_, id) in node.parts.iter().filter(|(_, id)| self.hidden.contains(id)) {
            let x = node.x + if id % 2 == 0 { 8.0 } else { -8.0 };
            let y = Self::y(node);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"#888\" stroke-dasharray=\"3 3\" \
                 marker-end=\"url(#use)\"/>",
                y - 34.0
            );
        }
    }

    /// The factors of the arrows, over them.
    fn factors(out: &mut String, labels: &[(String, f64, f64)]) {
        for (text, x, y) in labels {
            let wide = text.chars().count() as f64 * 5.8 + 4.0;
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"11\" fill=\"white\"/><text x=\"{x:.1}\" \
                 y=\"{y:.1}\" font-size=\"10\" text-anchor=\"middle\" fill=\"#1f4e8c\">{}</text>",
                x - wide / 2.0,
                y - 9.0,
                svg::escaped(text)
            );
        }
    }

    fn node(&self, out: &mut String, node: &Node) {
        let (wide, y) = (node.width(), Self::y(node));
        let is_result = self.result.iter().any(|(_, id)| *id == node.id);
        let fill = match (&node.text, is_result, node.adjoint) {
            (_, true, _) => "#d8f5d0",
            (None, _, _) => "#cfe8ff",
            (_, _, None) => "#eeeeee",
            _ => "#ffffff",
        };
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{}\" rx=\"6\" fill=\"{fill}\" \
             stroke=\"#333\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#b00020\">{}</text>",
            node.x - wide / 2.0,
            BOX.1,
            node.x,
            y + 15.0,
            svg::escaped(&node.name),
            node.x,
            y + 30.0,
            svg::escaped(&node.shown_adjoint())
        );
    }

    /// The bindings as text, each with what it gets in the reverse pass.
    fn listing(&self, out: &mut String) {
        let x = self.width + GAP;
        let mut y = TOP + 12.0;
        let drawn: Vec<&Node> = self.nodes.iter().filter(|node| node.text.is_some()).collect();
        for (at, node) in drawn.iter().enumerate() {
            if !self.hidden.is_empty() && at == MOST / 2 {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"#555\">… {} more bindings, not drawn</text>",
                    x + 80.0,
                    self.hidden.len()
                );
                y += ROW;
            }
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\" font-size=\"11\" fill=\"#b00020\">{}</text>\
                 <text x=\"{:.1}\" y=\"{y:.1}\" font-family=\"monospace\" font-size=\"12\">{} = {}</text>",
                x + 66.0,
                svg::escaped(&node.shown_adjoint()),
                x + 80.0,
                svg::escaped(&node.name),
                svg::escaped(node.text.as_deref().unwrap_or_default())
            );
            y += ROW;
        }
    }
}

/// The names of the inputs of the first reverse derivative in a program: the user's for its parameters and what they are taken
/// apart into.
pub(super) fn input_names(program: &Program) -> impl Fn(i64) -> Option<String> + use<> {
    let mut known = Vec::new();
    let mut rest = None;
    if let Some((parameter, ty, body)) = main_function(&program.term) {
        let mut names: FxHashMap<Vec<usize>, String> = FxHashMap::default();
        names.insert(Vec::new(), parameter.name.to_string());
        taken_apart(parameter, body, &mut names);
        leaves(ty, &mut Vec::new(), &names, &mut known, &mut rest);
    }
    move |id| {
        let at = usize::try_from(id - 1).ok()?;
        known.get(at).cloned().or_else(|| Some(format!("{}[{}]", rest.as_ref()?, at - known.len())))
    }
}

fn main_function(term: &Term) -> Option<(Var, &Ty, &Term)> {
    let mut open = std::collections::VecDeque::from([term]);
    while let Some(term) = open.pop_front() {
        if let TermKind::Derive(Derive::Grad | Derive::ValueAndGrad | Derive::Vjp, args) = &term.kind {
            let TermKind::Lam(var, ty, body) = &args.first()?.kind else { return None };
            return Some((*var, ty, body));
        }
        open.extend(term.children());
    }
    None
}

/// Follows `let x = p.0 in …` at the beginning of a function.
fn taken_apart(parameter: Var, body: &Term, names: &mut FxHashMap<Vec<usize>, String>) {
    let mut paths: FxHashMap<Var, Vec<usize>> = FxHashMap::default();
    paths.insert(parameter, Vec::new());
    let mut body = body;
    while let TermKind::Let(var, _, value, rest) = &body.kind {
        let mut path = Vec::new();
        let mut value: &Term = value;
        while let TermKind::Proj(tuple, at, _) = &value.kind {
            path.insert(0, *at);
            value = tuple;
        }
        if let TermKind::Var(from) = &value.kind
            && let Some(before) = paths.get(from)
        {
            let path = [before.clone(), path].concat();
            names.insert(path.clone(), var.name.to_string());
            paths.insert(*var, path);
        }
        body = rest;
    }
}

/// The names of the reals of a type; what comes from the first array on is that array's, if nothing follows it.
fn leaves(
    ty: &Ty,
    path: &mut Vec<usize>,
    names: &FxHashMap<Vec<usize>, String>,
    known: &mut Vec<String>,
    rest: &mut Option<String>,
) {
    if rest.is_some() {
        return;
    }
    let called = |path: &[usize]| {
        let named = (0..=path.len()).rev().find_map(|n| Some((n, names.get(path.get(..n)?)?)));
        let (n, name) = named?;
        let more: String = path.get(n..)?.iter().map(|at| format!(".{at}")).collect();
        Some(format!("{name}{more}"))
    };
    match ty {
        Ty::Real => known.extend(called(path)),
        Ty::Tuple(parts) => {
            for (at, part) in parts.iter().enumerate() {
                path.push(at);
                super::syntax::grow(|| leaves(part, path, names, known, rest));
                path.pop();
            }
        }
        Ty::Array(_) | Ty::Data(..) => *rest = called(path),
        Ty::Int | Ty::Bool | Ty::String | Ty::Fun(..) | Ty::Dual(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{QUATERNION, checked, doubling, quiet, source_of};
    use super::super::{monadic, parse, reduce};
    use super::*;
    use crate::delta::syntax::make;
    use wengert_base::SourceId;

    /// What `eval` gets first in `ℛ{e}` at a point.
    fn captured(text: &str, point: &str) -> (f64, Delta) {
        let (e, ty) = checked(text);
        let wrapper = monadic::wrapper(&e, &source_of(&ty).0).unwrap();
        let point = parse::parse(SourceId(0), point).unwrap();
        let call = make::app(wrapper, make::pair(point, make::real(1.0)));
        reduce::reduce(&call, &quiet()).unwrap().first_eval.unwrap()
    }

    #[test]
    fn figure_12_is_drawn_with_its_gradient() {
        let (dt, u) = captured(QUATERNION, "((1.1, 2.2, 3.3, 4.4), 5.5, 6.6, 7.7)");
        let (all, result) = bindings(&u);
        let adjoints = adjoints(dt, &all, &result);
        let gradient: Vec<String> = (1..=7).map(|id| short(adjoints[&id])).collect();
        assert_eq!(gradient, ["91.96", "58.08", "−77.44", "38.72", "4.84", "−24.2", "26.62"]);
        let drawn = draw(dt, &u, &|_| None);
        // A node for each input and each binding, an arrow for each use.
        let uses: usize = all.iter().map(|(_, u)| parts(u).len()).sum();
        assert_eq!(drawn.matches("rx=\"6\"").count(), 47);
        assert_eq!(drawn.matches("<path d=\"M").count(), uses + 1);
        assert!(drawn.contains("Add (Scale −4.84 x₂₅) (Scale 8.8 x₂₈)") && drawn.contains(">s₇<"), "{drawn}");
        assert_eq!(drawn.matches("#d8f5d0").count(), 1, "one node is the result");
    }

    #[test]
    fn long_traces_are_cut_in_the_middle() {
        let (dt, u) = captured(&doubling(500), "1.0");
        let drawn = draw(dt, &u, &|_| Some("x<".into()));
        assert!(drawn.contains("… 440 more bindings") && drawn.contains(">x&lt;<"), "{drawn}");
        assert_eq!(drawn.matches("rx=\"6\"").count(), 61);
        assert!(drawn.len() < 100_000 && !drawn.contains("NaN") && !drawn.contains("inf\""));
    }

    #[test]
    fn layers_do_not_overlap_and_stand_below_what_they_use() {
        let (dt, u) = captured(QUATERNION, "((1.1, 2.2, 3.3, 4.4), 5.5, 6.6, 7.7)");
        let (all, result) = bindings(&u);
        let node = |id: i64, u: Option<&Delta>| Node {
            id,
            name: format!("n{id}"),
            parts: u.map(parts).unwrap_or_default(),
            text: u.map(|_| String::new()),
            adjoint: Some(dt),
            layer: 0,
            x: 0.0,
        };
        let mut nodes: Vec<Node> = (1..=7).map(|id| node(id, None)).collect();
        nodes.extend(all.iter().map(|(id, u)| node(*id, Some(u))));
        place(&mut nodes);
        for a in &nodes {
            assert!(a.x - a.width() / 2.0 >= 0.0);
            for b in nodes.iter().filter(|b| b.id > a.id) {
                let apart = (a.x - b.x).abs() - (a.width() + b.width()) / 2.0;
                assert!(a.layer != b.layer || apart > 0.0, "{} and {}", a.name, b.name);
                assert!(!b.parts.iter().any(|(_, id)| *id == a.id) || a.layer < b.layer);
            }
        }
        assert!(parts(&result).len() == 1);
    }
}
