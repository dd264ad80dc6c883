//! Drawings as SVG text: graphs in layers.
//!
//! A graph without cycles is drawn from top to bottom: a node stands one layer below the lowest node that it uses, and
//! within a layer as near below these as its neighbors allow. What would close a cycle does not move a node down.

use std::fmt::Write;

/// A directed graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Text and kind of each node.
    pub nodes: Vec<(String, Kind)>,
    /// From what is used to what uses it, by number.
    pub edges: Vec<(usize, usize)>,
}

/// What a node stands for, which is its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is given.
    Input,
    /// A number.
    Constant,
    /// What is computed.
    Step,
    /// What is wanted.
    Output,
}

impl Graph {
    /// A node; gives its number.
    pub fn node(&mut self, text: impl Into<String>, kind: Kind, uses: &[usize]) -> usize {
        let number = self.nodes.len();
        self.nodes.push((text.into(), kind));
        self.edges.extend(uses.iter().map(|used| (*used, number)));
        number
    }
}

const CHARACTER: f64 = 8.0;
const BOX_HEIGHT: f64 = 28.0;
const LAYER_HEIGHT: f64 = 64.0;
const GAP: f64 = 16.0;
/// How far from the middle of a node its outermost arrows end.
const ARROWS: f64 = 9.0;

/// The drawing of a graph.
pub fn draw(graph: &Graph) -> String {
    let layers = layers(graph);
    let width = |node: usize| {
        graph
            .nodes
            .get(node)
            .map_or(0.0, |(text, _)| (text.chars().count() as f64 * CHARACTER + 16.0).max(32.0))
    };
    let row = |layer: &[usize]| layer.iter().map(|node| width(*node) + GAP).sum::<f64>() + GAP;
    let total = layers.iter().map(|layer| row(layer)).fold(100.0, f64::max);
    let mut places = vec![(0.0, 0.0); graph.nodes.len()];
    for (level, layer) in layers.iter().enumerate() {
        let mut x = (total - row(layer)) / 2.0 + GAP;
        for node in layer {
            if let Some(place) = places.get_mut(*node) {
                *place = (x + width(*node) / 2.0, GAP + BOX_HEIGHT / 2.0 + level as f64 * LAYER_HEIGHT);
            }
            x += width(*node) + GAP;
        }
    }
    let height = layers.len() as f64 * LAYER_HEIGHT - (LAYER_HEIGHT - BOX_HEIGHT) + 2.0 * GAP;
    let mut out = open(total, height.max(BOX_HEIGHT));
    out.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n",
    );
    for (edge, (from, to)) in graph.edges.iter().enumerate() {
        if let (Some((x1, y1)), Some((x2, y2))) = (places.get(*from), places.get(*to)) {
            let (y1, y2) = if y2 > y1 { (y1 + BOX_HEIGHT / 2.0, y2 - BOX_HEIGHT / 2.0) } else { (*y1, *y2) };
            let spread = |beside: f64, node: usize| beside * ARROWS.min((width(node) - 8.0) / 2.0);
            let x1 = x1 + spread(beside(graph, edge, &|other| other == (*from, *to)), *from);
            let x2 = x2 + spread(beside(graph, edge, &|other| other.1 == *to), *to);
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#555\" \
                 marker-end=\"url(#arrow)\"/>"
            );
        }
    }
    for (node, ((text, kind), (x, y))) in graph.nodes.iter().zip(&places).enumerate() {
        let wide = width(node);
        let fill = match kind {
            Kind::Input => "#cfe8ff",
            Kind::Constant => "#eeeeee",
            Kind::Step => "#ffffff",
            Kind::Output => "#d8f5d0",
        };
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"{fill}\" \
             stroke=\"#333\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x - wide / 2.0,
            y - BOX_HEIGHT / 2.0,
            y + 4.5,
            escaped(text)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Where an edge stands among those like it, from -1 to 1, so that no arrow hides another.
fn beside(graph: &Graph, edge: usize, like: &dyn Fn((usize, usize)) -> bool) -> f64 {
    let all = graph.edges.iter().filter(|other| like(**other)).count();
    let before = graph.edges.iter().take(edge).filter(|other| like(**other)).count();
    if all < 2 { 0.0 } else { 2.0 * before as f64 / (all - 1) as f64 - 1.0 }
}

/// The nodes by layers, in order.
fn layers(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.nodes.len();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut used: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in &graph.edges {
        if let (Some(users), Some(used)) = (users.get_mut(*from), used.get_mut(*to)) {
            users.push(*to);
            used.push(*from);
        }
    }
    let mut waiting: Vec<usize> = used.iter().map(Vec::len).collect();
    let mut level = vec![0usize; count];
    let mut ready: Vec<usize> = (0..count).filter(|node| waiting.get(*node) == Some(&0)).collect();
    while let Some(node) = ready.pop() {
        let own = level.get(node).copied().unwrap_or(0);
        for user in users.get(node).into_iter().flatten() {
            if let (Some(level), Some(waiting)) = (level.get_mut(*user), waiting.get_mut(*user)) {
                *level = (*level).max(own + 1);
                *waiting -= 1;
                if *waiting == 0 {
                    ready.push(*user);
                }
            }
        }
    }
    let deepest = level.iter().copied().max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); deepest + 1];
    for (node, level) in level.iter().enumerate() {
        if let Some(layer) = layers.get_mut(*level) {
            layer.push(node);
        }
    }
    let mut place = vec![0.0; count];
    for layer in &mut layers {
        let wish = |node: &usize, place: &[f64]| {
            let all: Vec<f64> =
                used.get(*node).into_iter().flatten().filter_map(|used| place.get(*used).copied()).collect();
            if all.is_empty() { *node as f64 } else { all.iter().sum::<f64>() / all.len() as f64 }
        };
        layer.sort_by(|a, b| wish(a, &place).total_cmp(&wish(b, &place)));
        for (index, node) in layer.iter().enumerate() {
            if let Some(place) = place.get_mut(*node) {
                *place = index as f64;
            }
        }
    }
    layers
}

/// The beginning of a drawing of that size.
pub(crate) fn open(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n"
    )
}

/// A text between tags or in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(printable).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_below_what_they_use() {
        let mut graph = Graph::default();
        let x = graph.node("x", Kind::Input, &[]);
        let y = graph.node("y", Kind::Input, &[]);
        let product = graph.node("*", Kind::Step, &[x, y]);
        graph.node("<sin> & \"co\"", Kind::Output, &[product, x]);
        assert_eq!(layers(&graph), [vec![0, 1], vec![2], vec![3]]);
        let drawn = draw(&graph);
        assert!(
            drawn.contains("&lt;sin&gt; &amp; &quot;co&quot;") && drawn.matches("<line").count() == 4,
            "{drawn}"
        );
        assert!(draw(&Graph::default()).ends_with("</svg>\n"));
        // What is used twice has two arrows.
        let mut graph = Graph::default();
        let x = graph.node("x", Kind::Input, &[]);
        graph.node("*", Kind::Output, &[x, x]);
        assert_eq!([0, 1].map(|edge| beside(&graph, edge, &|other| other == (0, 1))), [-1.0, 1.0]);
        assert_eq!(beside(&graph, 0, &|other| other == (1, 0)), 0.0);
        let cycle = Graph {
            nodes: vec![("a".into(), Kind::Step), ("b".into(), Kind::Step)],
            edges: vec![(0, 1), (1, 0)],
        };
        assert_eq!(draw(&cycle).matches("<text").count(), 2);
    }
}
