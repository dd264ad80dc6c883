//! Programs that must compute the same in another way: an oracle for derivatives *inside* programs, whose values finite
//! differences of the whole cannot judge.

use crate::Program;
use crate::tree::{Bound, Child, Form, GenPat, Node, Operator};
use crate::ty::GenType;
use wengert_base::Name;

/// A law by which a program is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Every derivative in the other mode: `derivative` becomes `grad` and the other way round, where the types allow it,
    /// `grad` becomes `grad_fwd`, `jvp` becomes `linearize`, `jacfwd` becomes `jacrev`.
    OtherModes,
    /// The tangent of a function is taken at each argument: `derivative (\x -> e) p` of type `a -> b` becomes
    /// `\z -> derivative (\x -> e z) p`. This is where an implementation may confuse the perturbations of different calls.
    Pointwise,
}

/// The program changed by `law` wherever possible; nothing if it is possible nowhere.
pub fn rewritten(program: &Program, law: Law) -> Option<Program> {
    let mut changes = Changes { law, count: 0 };
    let mut defs = program.defs.clone();
    for def in &mut defs {
        changes.node(&mut def.body);
    }
    let (arg, result) = (program.arg_type.clone(), program.result_type.clone());
    (changes.count > 0).then(|| Program::new(program.decls.clone(), defs, program.entry, arg, result))
}

/// The walk that changes a program.
struct Changes {
    law: Law,
    count: u32,
}

impl Changes {
    /// Changes everything in `node`, then `node` itself.
    fn node(&mut self, node: &mut Node) {
        node.children.iter_mut().for_each(|child| self.node(&mut child.node));
        match self.law {
            Law::OtherModes => self.other_mode(node),
            Law::Pointwise => self.pointwise(node),
        }
    }

    /// The same derivative by another operator.
    fn other_mode(&mut self, node: &mut Node) {
        let Form::Derive(operator, _, from) = &mut node.form else { return };
        let other = match operator {
            Operator::Derivative if node.ty == GenType::Real => Operator::Grad,
            Operator::Grad if *from == GenType::Real => Operator::Derivative,
            Operator::Grad => Operator::GradForward,
            Operator::GradForward => Operator::Grad,
            Operator::Jvp => Operator::Linearize,
            Operator::Linearize => Operator::Jvp,
            Operator::JacForward => Operator::JacReverse,
            Operator::JacReverse => Operator::JacForward,
            Operator::Derivative
            | Operator::Vjp
            | Operator::JvpAlong
            | Operator::Taylor(_)
            | Operator::Pullback
            | Operator::Checkpoint => return,
        };
        *operator = other;
        self.count += 1;
    }

    /// A lambda around a derivative of function type.
    fn pointwise(&mut self, node: &mut Node) {
        let passing = [Operator::Derivative, Operator::Jvp, Operator::JvpAlong, Operator::Linearize];
        let passes_result_on = if let Form::Derive(operator, ..) = &node.form {
            passing.contains(operator)
        } else {
            matches!(node.form, Form::DeriveFun { .. })
        };
        let GenType::Fun(from, to) = node.ty.clone() else { return };
        if !passes_result_on {
            return;
        }
        self.count += 1;
        let z = Name::new(&format!("z{}", self.count));
        let mut inner = node.clone();
        inner.ty = to.as_ref().clone();
        if let Some(body) = inner.children.first_mut() {
            let arg = Node::new(from.as_ref().clone(), Form::Var(z), vec![]);
            let function = body.node.clone();
            body.node = Node::new(to.as_ref().clone(), Form::Apply, vec![function, arg]);
        }
        // The result may be a function again.
        self.pointwise(&mut inner);
        let child = Child { binders: vec![Bound::value(z, from.as_ref().clone())], node: inner };
        *node = Node::binding(
            node.ty.clone(),
            Form::Lambda(GenPat::Var(z, from.as_ref().clone()), true),
            vec![child],
        );
    }
}
