//! The fewest arrays of a block from which all that are needed can be made again.
//!
//! ```text
//! loop, carried y:  a = map (\y -> h * y) y;  b = map2 (\x y -> x * y) xs a        needed: a, b;  y is enough
//! ```
//!
//! Statements are the edges of a network from what can only be kept (parameters of the block, results of operations that
//! cost too much) to what is needed; values are its nodes, each as wide as it is large. The narrowest cut is what to keep: found by pushing
//! flow through until nothing more goes (Ford and Fulkerson), and taken as near to what is needed as it can be, so that as little
//! as possible is computed again. It must save enough for what that costs: to keep an array is to write it and to read it, from memory that
//! is far if there are many iterations.

use super::cost;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use wengert_ir::op::{ArrayOp, Block, IntOp, Loop, Mode, Op, Var};
use wengert_ir::program::Func;
use wengert_prim::RealOp;

/// For each array that need not be kept, operations on elements that may be done again, at most.
const MOST_FOR_ONE: u32 = 14;

/// What a division costs, for one element.
const DIVISION: u32 = 4;

/// So many arrays fewer at least. To make a single one again is no cheaper than to keep it: it is written either way.
const WORTH: usize = 2;

/// Blocks with more statements are not looked at.
const MOST_STATEMENTS: usize = 1000;

/// How much wider an array is than its rows.
const WIDER: u64 = 256;

/// What to keep, and which statements of the block are then computed again.
pub(super) struct Fewest {
    pub(super) kept: Vec<Var>,
    pub(super) again: FxHashSet<usize>,
}

/// What to keep instead of `kept`; `None` if nothing is better. `free` is what costs nothing to have.
pub(super) fn fewest(func: &Func, block: &Block, kept: &[Var], free: &dyn Fn(Var) -> bool) -> Option<Fewest> {
    let is_array = |var: &Var| func.ty(*var).rank() > 0;
    let needed: Vec<Var> = kept.iter().copied().filter(is_array).collect();
    if needed.is_empty() || block.stmts.len() > MOST_STATEMENTS {
        return None;
    }
    let width = |var: Var| WIDER.saturating_pow(u32::from(func.ty(var).rank()));
    let mut net = Network::default();
    block
        .params
        .iter()
        .filter(|param| !free(**param))
        .for_each(|param| net.edge(Node::Source, Node::Enter(*param), ANY));
    for stmt in &block.stmts {
        let operands = super::needs(&stmt.op);
        for out in stmt.outs.iter().filter(|out| !free(**out)) {
            if array_cost(&stmt.op).is_none() {
                net.edge(Node::Source, Node::Enter(*out), ANY);
                continue;
            }
            for operand in operands.iter().filter(|operand| !free(**operand)) {
                net.edge(Node::Leave(*operand), Node::Enter(*out), ANY);
            }
        }
    }
    let bound = block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs));
    bound.for_each(|var| net.edge(Node::Enter(*var), Node::Leave(*var), width(*var)));
    needed.iter().for_each(|var| net.edge(Node::Leave(*var), Node::Sink, ANY));
    net.fill();
    let near = net.before_sink();
    let is_cut = |var: &Var| !near.contains(&Node::Enter(*var)) && near.contains(&Node::Leave(*var));
    let bound = block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs));
    let cut: Vec<Var> = bound.copied().filter(|var| !free(*var) && is_cut(var)).collect();
    let total = |vars: &[Var]| vars.iter().map(|var| width(*var)).sum::<u64>();
    let fewer = needed.len().checked_sub(cut.iter().filter(|var| is_array(var)).count())?;
    if fewer < WORTH || total(&cut) >= total(&needed) {
        return None;
    }
    let again = again(block, &needed, &cut, free);
    let costs = again.iter().filter_map(|at| block.stmts.get(*at)).filter_map(|stmt| array_cost(&stmt.op));
    if costs.sum::<u32>() > MOST_FOR_ONE.saturating_mul(u32::try_from(fewer).unwrap_or(u32::MAX)) {
        return None;
    }
    let scalars = kept.iter().copied().filter(|var| !is_array(var) && !cut.contains(var));
    Some(Fewest { kept: scalars.chain(cut.iter().copied()).collect(), again })
}

/// The statements that `needed` takes if `cut` is there.
fn again(block: &Block, needed: &[Var], cut: &[Var], free: &dyn Fn(Var) -> bool) -> FxHashSet<usize> {
    let mut wanted: FxHashSet<Var> = needed.iter().copied().collect();
    let mut again = FxHashSet::default();
    for (at, stmt) in block.stmts.iter().enumerate().rev() {
        if stmt.outs.iter().any(|out| wanted.contains(out) && !cut.contains(out)) {
            again.insert(at);
            wanted.extend(super::needs(&stmt.op).into_iter().filter(|var| !free(*var)));
        }
    }
    again
}

/// What it costs to do an operation again, for each element if it makes an array; `None` if it should not be.
fn array_cost(op: &Op) -> Option<u32> {
    match op {
        Op::Loop(parts) => loop_cost(parts),
        Op::Array(ArrayOp::Slice | ArrayOp::Literal | ArrayOp::Zeros | ArrayOp::Replicate, _) => Some(1),
        Op::Array(ArrayOp::Concat | ArrayOp::Reverse | ArrayOp::Add, _) => Some(2),
        op => cost(op),
    }
}

/// A loop whose iterations each make elements, at little cost.
fn loop_cost(parts: &Loop) -> Option<u32> {
    let Loop { mode, backward: _, len: _, inputs: _, init, accs, body } = parts;
    if *mode != Mode::Each || !init.is_empty() || !accs.is_empty() {
        return None;
    }
    block_cost(body)
}

fn block_cost(block: &Block) -> Option<u32> {
    block.stmts.iter().map(|stmt| element_cost(&stmt.op)).sum()
}

/// What it costs to do an operation again for one element. Many elements are done at once, and an array that is kept is far.
fn element_cost(op: &Op) -> Option<u32> {
    match op {
        Op::Real(RealOp::PowInt(2 | 3) | RealOp::Abs | RealOp::Max | RealOp::Min, _) => Some(2),
        Op::Real(RealOp::Div, _) => Some(DIVISION),
        // Of indices most is known before the loop.
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul, _) => Some(0),
        Op::If { cond: _, then, otherwise } => {
            Some(1 + crate::deep(|| block_cost(then))? + crate::deep(|| block_cost(otherwise))?)
        }
        Op::Loop(parts) => crate::deep(|| loop_cost(parts)),
        op => cost(op),
    }
}

/// A place in the network: where flow comes from, where it goes to, or where it enters or leaves a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Source,
    Sink,
    Enter(Var),
    Leave(Var),
}

/// As wide as anything.
const ANY: u64 = u64::MAX;

/// How much may yet flow between places.
#[derive(Default)]
struct Network {
    room: FxHashMap<(Node, Node), u64>,
    next: FxHashMap<Node, Vec<Node>>,
}

impl Network {
    fn edge(&mut self, from: Node, to: Node, width: u64) {
        if self.room.insert((from, to), width).is_none() && !self.room.contains_key(&(to, from)) {
            self.next.entry(from).or_default().push(to);
            self.next.entry(to).or_default().push(from);
        }
    }

    fn room(&self, from: Node, to: Node) -> u64 {
        self.room.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Lets flow through, each time on a shortest way, until there is no way left.
    fn fill(&mut self) {
        while let Some(way) = self.way() {
            let steps: Vec<(Node, Node)> = way.iter().copied().zip(way.iter().copied().skip(1)).collect();
            let flow = steps.iter().map(|(from, to)| self.room(*from, *to)).min().unwrap_or(0);
            if flow == 0 || flow == ANY {
                return;
            }
            for (from, to) in steps {
                let forth = self.room(from, to);
                let back = self.room(to, from);
                self.room.insert((from, to), if forth == ANY { ANY } else { forth - flow });
                self.room.insert((to, from), back.saturating_add(flow));
            }
        }
    }

    /// A way from the source to the sink.
    fn way(&self) -> Option<Vec<Node>> {
        let mut from: FxHashMap<Node, Node> = FxHashMap::default();
        let mut todo = VecDeque::from([Node::Source]);
        while let Some(node) = todo.pop_front() {
            if node == Node::Sink {
                let mut way = vec![Node::Sink];
                while let Some(before) = way.last().and_then(|node| from.get(node)) {
                    way.push(*before);
                }
                way.reverse();
                return Some(way);
            }
            for to in self.next.get(&node).into_iter().flatten() {
                if *to != Node::Source && !from.contains_key(to) && self.room(node, *to) > 0 {
                    from.insert(*to, node);
                    todo.push_back(*to);
                }
            }
        }
        None
    }

    /// From where there is a way to the sink yet.
    fn before_sink(&self) -> FxHashSet<Node> {
        let mut found = FxHashSet::from_iter([Node::Sink]);
        let mut todo = vec![Node::Sink];
        while let Some(node) = todo.pop() {
            for from in self.next.get(&node).into_iter().flatten() {
                if self.room(*from, node) > 0 && found.insert(*from) {
                    todo.push(*from);
                }
            }
        }
        found
    }
}
