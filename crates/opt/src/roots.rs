//! A number that is divided by its root is the root: what is multiplied with a number and divided by its root, or by twice that, is
//! multiplied with the root.
//!
//! ```text
//! r = sqrt(s)
//! a = mul_zero(x, s)
//! d = r + r
//! z = div_zero(a, d)        t = mul_zero(x, r)  z = t * 0.5
//! ```
//!
//! So it is in derivatives of what has both, as the attraction of bodies does, also where one loop has computed them and another one
//! goes through them. And what is divided by a number whose reciprocal is there, or by twice the number, is multiplied with that.
//! This is rounded otherwise: it is for where numbers need not be to the last bit what they are elsewhere.

use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::op::Op;
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        changed |= Roots::default().block(func, &mut body);
        func.body = body;
    }
    changed
}

/// What is known of the variables that are there.
#[derive(Default)]
struct Roots {
    /// What is computed from reals.
    made: FxHashMap<Var, (RealOp, Vec<Atom>)>,
    /// Arrays of roots, and of what: another array.
    arrays: FxHashMap<Var, Atom>,
    /// Rows of arrays.
    rows: FxHashMap<Var, Atom>,
    /// Numbers and their reciprocals, as far as they are there.
    reciprocals: Vec<(Atom, Var)>,
}

impl Roots {
    fn block(&mut self, func: &mut Func, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (mut changed, there) = (false, self.reciprocals.len());
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                if let Op::Loop(parts) = &stmt.op {
                    let carried = 1 + parts.init.len() + parts.accs.len();
                    let rows =
                        parts.body.params.iter().skip(carried).copied().zip(parts.inputs.iter().cloned());
                    self.rows.extend(rows);
                }
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(func, inner);
                }
                self.arrays_of(&stmt);
                if let (Op::Real(op, args), [var]) = (&stmt.op, stmt.outs.as_slice()) {
                    self.made.insert(*var, (*op, args.clone()));
                    if let (RealOp::Div, [Atom::Real(1.0), of @ Atom::Var(_)]) = (op, args.as_slice()) {
                        self.reciprocals.push((of.clone(), *var));
                    }
                    if let Some((first, op)) = self.better(func, &stmt, *op, args) {
                        out.extend(first);
                        stmt.op = op;
                        changed = true;
                    }
                }
                out.push(stmt);
            }
            place.stmts = out;
            self.reciprocals.truncate(there);
            changed
        })
    }

    fn made(&self, atom: &Atom) -> Option<(RealOp, &[Atom])> {
        let (op, args) = self.made.get(&atom.var()?)?;
        Some((*op, args))
    }

    /// The arrays of roots that a loop makes.
    fn arrays_of(&mut self, stmt: &Stmt) {
        let Op::Loop(parts) = &stmt.op else { return };
        let carried = parts.init.len() + parts.accs.len();
        let rows: Vec<(Var, &Atom)> =
            stmt.outs.iter().copied().zip(&parts.body.results).skip(carried).collect();
        for (array, row) in &rows {
            let Some((RealOp::Sqrt, [of])) = self.made(row) else { continue };
            let whole = rows.iter().find(|(_, row)| *row == of).map(|(array, _)| Atom::Var(*array));
            if let Some(of) = whole.or_else(|| self.rows.get(&of.var()?).cloned()) {
                self.arrays.insert(*array, of);
            }
        }
    }

    /// Whether one number is the root of another.
    fn is_root(&self, root: &Atom, of: &Atom) -> bool {
        if let Some((RealOp::Sqrt, [x])) = self.made(root) {
            return x == of;
        }
        let row = |atom: &Atom| self.rows.get(&atom.var()?);
        let array = row(root).and_then(|array| self.arrays.get(&array.var()?));
        array.is_some() && array == row(of)
    }

    /// A number, and how often it is in a divisor: once or twice. A zero that is added tells zeros apart, which does not matter to what
    /// is multiplied.
    fn times<'a>(&'a self, divisor: &'a Atom) -> (&'a Atom, f64) {
        match self.made(divisor) {
            Some((RealOp::Add, [Atom::Real(zero), x])) if *zero == 0.0 => self.times(x),
            Some((RealOp::Add, [x, y])) if x == y => (x, 2.0),
            _ => (divisor, 1.0),
        }
    }

    /// What is divided by a root or by what has a reciprocal, better: perhaps a statement before it, and the operation.
    fn better(&self, func: &mut Func, stmt: &Stmt, op: RealOp, args: &[Atom]) -> Option<(Option<Stmt>, Op)> {
        let (RealOp::DivZero, [product, divisor]) = (op, args) else { return None };
        let (divisor, times) = self.times(divisor);
        let (op, args) = self.without_root(product, divisor).or_else(|| {
            let (_, reciprocal) = self.reciprocals.iter().find(|(of, _)| of == divisor)?;
            Some((RealOp::MulZero, vec![product.clone(), Atom::Var(*reciprocal)]))
        })?;
        if times == 1.0 {
            return Some((None, Op::Real(op, args)));
        }
        let var = func.vars.push(VarInfo { name: Name::new("t"), ty: Ty::REAL });
        let first = Stmt { outs: vec![var], op: Op::Real(op, args), span: stmt.span };
        Some((Some(first), Op::Real(RealOp::Mul, vec![Atom::Var(var), Atom::Real(1.0 / times)])))
    }

    /// A product, divided by the root of one of its factors.
    fn without_root(&self, product: &Atom, root: &Atom) -> Option<(RealOp, Vec<Atom>)> {
        let (op @ (RealOp::Mul | RealOp::MulZero), [x, y]) = self.made(product)? else { return None };
        let other = if self.is_root(root, y) {
            x
        } else if self.is_root(root, x) {
            y
        } else {
            return None;
        };
        Some((op, vec![other.clone(), root.clone()]))
    }
}
