//! A graph in layers: a node stands below all that it uses, and a line that crosses layers goes through a gap in each.

use rustc_hash::FxHashMap;

const LAYER: f64 = 104.0;
const GAP: f64 = 26.0;
/// The room that a line needs between boxes.
const LANE: f64 = 30.0;
const HALF_BOX: f64 = 23.0;

/// Where everything stands.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    places: FxHashMap<usize, (f64, f64)>,
    ways: FxHashMap<(usize, usize), Vec<(f64, f64)>>,
}

/// What stands in a layer: a node, or a line on its way from a node to the `nth` use of another.
#[derive(Clone, Copy)]
enum Cell {
    Node(usize),
    Line(usize, usize),
}

impl Layout {
    /// `shown` are the nodes that are drawn, in an order in which uses come first; the first `inputs` make the top layer.
    pub(super) fn of(shown: &[usize], widths: &[f64], uses: &[Vec<usize>], inputs: usize) -> Layout {
        let drawn: FxHashMap<usize, ()> = shown.iter().map(|node| (*node, ())).collect();
        let used = |node: usize| {
            let all = uses.get(node).map(Vec::as_slice).unwrap_or_default();
            all.iter().copied().enumerate().filter(|(_, used)| drawn.contains_key(used))
        };
        let mut levels: FxHashMap<usize, usize> = FxHashMap::default();
        for node in shown {
            let below = used(*node).filter_map(|(_, used)| levels.get(&used)).max().map(|level| level + 1);
            levels.insert(*node, below.unwrap_or(usize::from(*node >= inputs)));
        }
        // As near above what uses them as can be: users come later, so theirs is settled.
        let mut lowest: FxHashMap<usize, usize> = FxHashMap::default();
        for node in shown.iter().rev() {
            let own = lowest.get(node).or(levels.get(node)).copied().unwrap_or(0);
            levels.insert(*node, own);
            for (_, used) in used(*node).filter(|(_, used)| *used >= inputs) {
                let level = lowest.entry(used).or_insert(usize::MAX);
                *level = (*level).min(own.saturating_sub(1));
            }
        }
        let deepest = levels.values().copied().max().unwrap_or(0);
        let mut layers: Vec<Vec<Cell>> = vec![Vec::new(); deepest + 1];
        for node in shown {
            let level = levels.get(node).copied().unwrap_or(0);
            for (nth, used) in used(*node) {
                let from = levels.get(&used).copied().unwrap_or(0);
                for layer in layers.iter_mut().take(level).skip(from + 1) {
                    layer.push(Cell::Line(*node, nth));
                }
            }
            if let Some(layer) = layers.get_mut(level) {
                layer.push(Cell::Node(*node));
            }
        }
        let mut layout = Layout {
            width: 0.0,
            height: deepest as f64 * LAYER + 2.0 * HALF_BOX,
            places: FxHashMap::default(),
            ways: FxHashMap::default(),
        };
        layout.arrange(&mut layers, widths, uses);
        for node in shown {
            for (nth, used) in used(*node) {
                layout.finish(*node, nth, used);
            }
        }
        layout
    }

    /// Gives cells their places, layer by layer, as near below what they use as their neighbors allow.
    fn arrange(&mut self, layers: &mut [Vec<Cell>], widths: &[f64], uses: &[Vec<usize>]) {
        let width = |cell: &Cell| match cell {
            Cell::Node(node) => widths.get(*node).copied().unwrap_or(0.0),
            Cell::Line(..) => LANE,
        };
        let row = |layer: &[Cell]| layer.iter().map(|cell| width(cell) + GAP).sum::<f64>() - GAP;
        self.width = layers.iter().map(|layer| row(layer)).fold(0.0, f64::max);
        for (level, layer) in layers.iter_mut().enumerate() {
            layer.sort_by(|a, b| self.wish(a, uses).total_cmp(&self.wish(b, uses)));
            // Boxes are pushed to the right until they fit, then back until the row does.
            let mut x = 0.0;
            let mut centers: Vec<f64> = Vec::new();
            for cell in layer.iter() {
                let half = width(cell) / 2.0;
                let wish = if level == 0 { 0.0 } else { self.wish(cell, uses) };
                let center = wish.max(x + half);
                centers.push(center);
                x = center + half + GAP;
            }
            let mut limit = self.width;
            for (cell, center) in layer.iter().zip(&mut centers).rev() {
                let half = width(cell) / 2.0;
                *center = center.min(limit - half);
                limit = *center - half - GAP;
            }
            let free = if level == 0 { (self.width - row(layer)) / 2.0 } else { 0.0 };
            let y = HALF_BOX + level as f64 * LAYER;
            for (cell, center) in layer.iter().zip(centers) {
                match cell {
                    Cell::Node(node) => {
                        self.places.insert(*node, (center + free, y));
                    }
                    Cell::Line(node, nth) => self.ways.entry((*node, *nth)).or_default().push((center, y)),
                }
            }
        }
    }

    /// The middle of what a cell uses.
    fn wish(&self, cell: &Cell, uses: &[Vec<usize>]) -> f64 {
        let source = |node: usize, nth: usize| {
            let way = self.ways.get(&(node, nth)).and_then(|way| way.last());
            let used = uses.get(node).and_then(|uses| uses.get(nth));
            way.or_else(|| used.and_then(|used| self.places.get(used))).map(|(x, _)| *x)
        };
        let all: Vec<f64> = match cell {
            Cell::Node(node) => {
                let count = uses.get(*node).map_or(0, Vec::len);
                (0..count).filter_map(|nth| source(*node, nth)).collect()
            }
            Cell::Line(node, nth) => source(*node, *nth).into_iter().collect(),
        };
        if all.is_empty() { 0.0 } else { all.iter().sum::<f64>() / all.len() as f64 }
    }

    /// The ends of a line, apart from each other where a node has several.
    fn finish(&mut self, node: usize, nth: usize, used: usize) {
        let (Some((x1, y1)), Some((x2, y2))) = (self.places.get(&used), self.places.get(&node)) else {
            return;
        };
        let (from, to) = ((*x1, y1 + HALF_BOX), (*x2, y2 - HALF_BOX));
        let way = self.ways.entry((node, nth)).or_default();
        way.insert(0, from);
        let near = way.last().map_or(from.0, |(x, _)| *x);
        way.push((to.0 + (near - to.0).clamp(-14.0, 14.0), to.1));
    }

    pub(super) fn place(&self, node: usize) -> Option<(f64, f64)> {
        self.places.get(&node).copied()
    }

    /// The line from what `node` uses as its `nth` to the node.
    pub(super) fn way(&self, node: usize, nth: usize) -> Option<&[(f64, f64)]> {
        self.ways.get(&(node, nth)).map(Vec::as_slice)
    }
}
