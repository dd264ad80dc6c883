//! What closures capture, where that is the same function in all of them, which captures nothing itself.
//!
//! ```text
//! s = Function::sin()   f = Function::twice(s)        match f { twice(g) { … } … }  becomes  match f { twice(_) { g = Function::sin() … } … }
//! ```

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed neither makes nor takes apart closures"
)]

use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// A field of a constructor.
type Field = (DataId, u32, usize);

/// What is captured in a field.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    One(DataId, u32),
    Several,
}

/// See the module: for closures of these types.
pub(super) fn run(program: &mut Program, closures: &FxHashSet<DataId>) {
    let mut found: FxHashMap<Field, Found> = FxHashMap::default();
    for (_, func) in program.funcs.iter() {
        look(func, closures, &mut found);
    }
    found.retain(|_, what| *what != Found::Several);
    if found.is_empty() {
        return;
    }
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body, &found);
        func.body = body;
    }
}

/// Notes what a function captures in closures.
fn look(func: &Func, closures: &FxHashSet<DataId>, found: &mut FxHashMap<Field, Found>) {
    let mut known: FxHashMap<Var, Found> = FxHashMap::default();
    // What was taken out of a field may be put there again.
    let mut fields: FxHashMap<Var, Field> = FxHashMap::default();
    func.body.for_each_stmt(&mut |stmt| match &stmt.op {
        Op::Make { data, ctor, fields: given } if closures.contains(data) => {
            if given.is_empty() {
                known.extend(stmt.outs.iter().map(|out| (*out, Found::One(*data, *ctor))));
            }
            for (place, atom) in given.iter().enumerate() {
                let field = (*data, *ctor, place);
                let var = atom.var();
                if var.and_then(|var| fields.get(&var)) == Some(&field) {
                    continue;
                }
                let what = var.and_then(|var| known.get(&var)).copied().unwrap_or(Found::Several);
                let before = found.entry(field).or_insert(what);
                if *before != what {
                    *before = Found::Several;
                }
            }
        }
        Op::Match { on, arms } => {
            if let Ty::Scalar(Elem::Data(data)) = func.type_of(on) {
                for (ctor, arm) in (0..).zip(arms) {
                    let params = arm.params.iter().enumerate();
                    fields.extend(params.map(|(place, param)| (*param, (data, ctor, place))));
                }
            }
        }
        _ => {}
    });
}

fn block(func: &mut Func, place: &mut Block, found: &FxHashMap<Field, Found>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut place.stmts {
            if let Op::Match { on, arms } = &mut stmt.op
                && let Ty::Scalar(Elem::Data(data)) = func.type_of(on)
            {
                for (ctor, arm) in (0..).zip(arms) {
                    bind(func, arm, |place| found.get(&(data, ctor, place)).copied());
                }
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, found));
        }
    });
}

/// Makes in an arm what its parameters are known to be.
fn bind(func: &mut Func, arm: &mut Block, known: impl Fn(usize) -> Option<Found>) {
    let used = count_uses(arm);
    let mut made = Vec::new();
    for (place, param) in arm.params.iter_mut().enumerate() {
        let Some(Found::One(data, ctor)) = known(place).filter(|_| used.contains_key(param)) else {
            continue;
        };
        let info = *func.vars.at(*param);
        let op = Op::Make { data, ctor, fields: Vec::<Atom>::new() };
        made.push(Stmt { outs: vec![*param], op, span: func.span });
        *param = func.vars.push(info);
    }
    arm.stmts.splice(0..0, made);
}
