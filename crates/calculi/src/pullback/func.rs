//! The set F of easily differentiable functions f : Rⁿ → Rᵐ (Figure 1): the primitives, with value and derivative from
//! the one table of the project; scalings `r × −` (appendix D); and functions that a term's header defines from these.

use std::rc::Rc;
use wengert_prim::{RealOp, rules};

/// A function of F.
#[derive(Clone, Debug)]
pub(crate) enum Func {
    /// A primitive.
    Prim(RealOp),
    /// `r × −`
    Scale(f64),
    /// Defined by a header `fun g⟨x,y⟩ = …;`.
    Defined(Rc<Def>),
}

/// A straight-line program.
#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) code: Vec<Instr>,
    /// Which instructions' results are the outputs.
    pub(crate) outputs: Vec<usize>,
    /// The definition as written.
    pub(crate) text: String,
}

/// An instruction; arguments are earlier instructions.
#[derive(Debug)]
pub(crate) enum Instr {
    Input(usize),
    Const(f64),
    Op(RealOp, Vec<usize>),
}

/// Operators under the names that the calculus gives them.
const OPERATORS: [(&str, RealOp); 5] = [
    ("add", RealOp::Add),
    ("sub", RealOp::Sub),
    ("mult", RealOp::Mul),
    ("div", RealOp::Div),
    ("neg", RealOp::Neg),
];

impl PartialEq for Func {
    fn eq(&self, other: &Func) -> bool {
        match (self, other) {
            (Func::Prim(a), Func::Prim(b)) => a == b,
            (Func::Scale(a), Func::Scale(b)) => a.to_bits() == b.to_bits(),
            (Func::Defined(a), Func::Defined(b)) => Rc::ptr_eq(a, b) || a.text == b.text,
            (Func::Prim(_) | Func::Scale(_) | Func::Defined(_), _) => false,
        }
    }
}

impl Func {
    /// The primitive called `name`.
    pub(crate) fn by_name(name: &str) -> Option<Func> {
        if let Some((_, op)) = OPERATORS.iter().find(|(operator, _)| *operator == name) {
            return Some(Func::Prim(*op));
        }
        if let Some(power) = name.strip_prefix("pow") {
            let n = match power.strip_prefix("_m") {
                Some(n) => n.parse::<i64>().ok().map(|n| -n),
                None if power.is_empty() => return Some(Func::Prim(RealOp::Pow)),
                None => power.parse().ok(),
            };
            return n.map(|n| Func::Prim(RealOp::PowInt(n)));
        }
        if let Some(n) = name.strip_prefix("polygamma") {
            return n.parse().ok().filter(|n| *n >= 1).map(|n| Func::Prim(RealOp::Polygamma(n)));
        }
        let named = |op: &&RealOp| op.name() == name && name.starts_with(|c: char| c.is_ascii_alphabetic());
        RealOp::SAMPLES.iter().find(named).map(|op| Func::Prim(*op))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Func::Prim(RealOp::PowInt(n)) if *n < 0 => format!("pow_m{}", n.unsigned_abs()),
            Func::Prim(RealOp::PowInt(n)) => format!("pow{n}"),
            Func::Prim(RealOp::Pow) => "pow".to_string(),
            Func::Prim(RealOp::Polygamma(n)) => format!("polygamma{n}"),
            Func::Prim(op) => {
                let operator = OPERATORS.iter().find(|(_, operator)| operator == op);
                operator.map_or(op.name(), |(name, _)| name).to_string()
            }
            Func::Scale(r) => format!("scale[{}]", wengert_base::real::show(*r)),
            Func::Defined(def) => def.name.clone(),
        }
    }

    /// n of Rⁿ → Rᵐ.
    pub(crate) fn inputs(&self) -> usize {
        match self {
            Func::Prim(op) => op.arity(),
            Func::Scale(_) => 1,
            Func::Defined(def) => def.inputs,
        }
    }

    /// m of Rⁿ → Rᵐ.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Func::Prim(_) | Func::Scale(_) => 1,
            Func::Defined(def) => def.outputs.len(),
        }
    }

    /// How many floating-point operations a call is.
    pub(crate) fn cost(&self) -> u64 {
        match self {
            Func::Prim(op) => op.cost(),
            Func::Scale(_) => 1,
            Func::Defined(def) => def
                .code
                .iter()
                .map(|instr| match instr {
                    Instr::Op(op, _) => op.cost(),
                    Instr::Input(_) | Instr::Const(_) => 0,
                })
                .sum(),
        }
    }

    /// f(r)
    pub(crate) fn eval(&self, args: &[f64]) -> Vec<f64> {
        match self {
            Func::Prim(op) => vec![op.eval(args)],
            Func::Scale(r) => args.iter().take(1).map(|x| r * x).collect(),
            Func::Defined(def) => {
                let values = def.values(args);
                def.outputs.iter().map(|i| at(&values, *i)).collect()
            }
        }
    }

    /// J(f)(r)(v)
    pub(crate) fn tangent(&self, args: &[f64], along: &[f64]) -> Vec<f64> {
        match self {
            Func::Prim(op) => vec![rules::lookup(*op).tangent(args, op.eval(args), along)],
            Func::Scale(r) => along.iter().take(1).map(|x| r * x).collect(),
            Func::Defined(def) => {
                let values = def.values(args);
                let mut tangents: Vec<f64> = Vec::new();
                for (i, instr) in def.code.iter().enumerate() {
                    tangents.push(match instr {
                        Instr::Input(k) => at(along, *k),
                        Instr::Const(_) => 0.0,
                        Instr::Op(op, operands) => rules::lookup(*op).tangent(
                            &pick(&values, operands),
                            at(&values, i),
                            &pick(&tangents, operands),
                        ),
                    });
                }
                def.outputs.iter().map(|i| at(&tangents, *i)).collect()
            }
        }
    }

    /// (J(f)(r))*(w)
    pub(crate) fn cotangent(&self, args: &[f64], weights: &[f64]) -> Vec<f64> {
        match self {
            Func::Prim(op) => {
                let (rule, out, w) = (rules::lookup(*op), op.eval(args), at(weights, 0));
                (0..op.arity()).map(|k| scaled(w, rule.partial(args, out, k))).collect()
            }
            Func::Scale(r) => weights.iter().take(1).map(|x| r * x).collect(),
            Func::Defined(def) => def.cotangent(args, weights),
        }
    }
}

impl Def {
    fn values(&self, args: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        for instr in &self.code {
            values.push(match instr {
                Instr::Input(k) => at(args, *k),
                Instr::Const(x) => *x,
                Instr::Op(op, operands) => op.eval(&pick(&values, operands)),
            });
        }
        values
    }

    fn cotangent(&self, args: &[f64], weights: &[f64]) -> Vec<f64> {
        let values = self.values(args);
        let (mut bars, mut result) = (vec![0.0; self.code.len()], vec![0.0; self.inputs]);
        let add = |to: &mut Vec<f64>, i: usize, x: f64| {
            if let Some(slot) = to.get_mut(i) {
                *slot += x;
            }
        };
        for (i, w) in self.outputs.iter().zip(weights) {
            add(&mut bars, *i, *w);
        }
        for (i, instr) in self.code.iter().enumerate().rev() {
            let bar = at(&bars, i);
            match instr {
                Instr::Input(k) => add(&mut result, *k, bar),
                Instr::Const(_) => {}
                Instr::Op(op, operands) => {
                    let (inputs, rule) = (pick(&values, operands), rules::lookup(*op));
                    for (k, operand) in operands.iter().enumerate() {
                        add(&mut bars, *operand, scaled(bar, rule.partial(&inputs, at(&values, i), k)));
                    }
                }
            }
        }
        result
    }
}

/// A cotangent times a coefficient, with strong zeros.
fn scaled(weight: f64, coefficient: f64) -> f64 {
    RealOp::MulZero.eval2(weight, coefficient)
}

fn at(numbers: &[f64], i: usize) -> f64 {
    numbers.get(i).copied().unwrap_or(0.0)
}

fn pick(numbers: &[f64], which: &[usize]) -> Vec<f64> {
    which.iter().map(|i| at(numbers, *i)).collect()
}
