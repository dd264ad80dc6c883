//! Function symbols that a text defines, `fun g⟨x,y⟩ = …;`, as straight-line programs over the primitives: easily
//! differentiable by construction (Figure 1).

use super::errors;
use super::func::{Func, Instr};
use super::print::print_type;
use super::raw::{Raw, RawKind};
use super::subst::deep;
use super::syntax::Type;
use wengert_base::Diagnostic;
use wengert_prim::RealOp;

type Result<T> = std::result::Result<T, Diagnostic>;

fn emit(code: &mut Vec<Instr>, instr: Instr) -> usize {
    code.push(instr);
    code.len() - 1
}

/// The body of a `fun` as a straight-line program; gives its outputs.
pub(crate) fn compile(term: &Raw, names: &[String], code: &mut Vec<Instr>) -> Result<Vec<usize>> {
    deep(|| match &term.kind {
        RawKind::Real(x) => Ok(vec![emit(code, Instr::Const(*x))]),
        RawKind::Zero => Ok(vec![emit(code, Instr::Const(0.0))]),
        RawKind::Var(name) => match names.iter().position(|known| known == name) {
            Some(input) => Ok(vec![input]),
            None => Err(errors::unknown_variable(term.span, name, None)),
        },
        RawKind::Pair(a, b) => {
            let mut outputs = compile(a, names, code)?;
            outputs.extend(compile(b, names, code)?);
            Ok(outputs)
        }
        RawKind::Fun(func, a) => {
            let args = compile(a, names, code)?;
            if args.len() != func.inputs() {
                let needed = print_type(&Type::reals(func.inputs()));
                let found = print_type(&Type::reals(args.len()));
                let why = format!("`{}` takes {needed}", func.name());
                return Err(errors::type_mismatch(a.span, &needed, &found, &why));
            }
            Ok(inline(func, &args, code))
        }
        RawKind::Sum(..) => Err(errors::bad_definition(term.span, "a sum of terms: write `add(a, b)`")),
        RawKind::Lam(..)
        | RawKind::App(..)
        | RawKind::Let(..)
        | RawKind::Proj(..)
        | RawKind::Jac(..)
        | RawKind::DualMap(..)
        | RawKind::DualConst(_)
        | RawKind::Pull(..)
        | RawKind::Diff(..) => Err(errors::bad_definition(term.span, "this term")),
    })
}

fn inline(func: &Func, args: &[usize], code: &mut Vec<Instr>) -> Vec<usize> {
    match func {
        Func::Prim(op) => vec![emit(code, Instr::Op(*op, args.to_vec()))],
        Func::Scale(r) => {
            let r = emit(code, Instr::Const(*r));
            vec![emit(code, Instr::Op(RealOp::Mul, std::iter::once(r).chain(args.iter().copied()).collect()))]
        }
        Func::Defined(def) => {
            let mut places: Vec<usize> = Vec::new();
            for instr in &def.code {
                let place = |i: &usize| places.get(*i).copied().unwrap_or(0);
                places.push(match instr {
                    Instr::Input(k) => args.get(*k).copied().unwrap_or(0),
                    Instr::Const(x) => emit(code, Instr::Const(*x)),
                    Instr::Op(op, operands) => {
                        let operands = operands.iter().map(place).collect();
                        emit(code, Instr::Op(*op, operands))
                    }
                });
            }
            def.outputs.iter().map(|i| places.get(*i).copied().unwrap_or(0)).collect()
        }
    }
}
