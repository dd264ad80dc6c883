//! What makes a program well formed. [`verify()`] lists everything that is wrong; every pass of the engine is followed by it
//! in tests.
//!
//! Declarations:
//! - fields, variables and results have types whose data types exist; arrays have at least one axis;
//! - a tangent type names an existing type; a residual type is named by each linearization, and nothing but a
//!   residual type;
//! - a linearization says of each parameter of an existing function whether it varies;
//! - entries name existing functions.
//!
//! Functions:
//! - a variable is bound once: as a parameter, of the function or of a block inside it, or by a statement;
//! - it is used only after that and inside the block that binds it;
//! - the operands of an operation have the types that it needs ([`crate::types_of`]): fields those of the constructor,
//!   arguments those of the function, parameters and results of blocks those of the branch or loop that they belong to;
//!   there is an arm for each constructor;
//! - the variables that a statement binds are as many as the operation has results, and of their types; an operation
//!   that never returns may bind any;
//! - the results of the body have the types that the function declares;
//! - a loop of mode `each` carries nothing; one of mode `reduce` has an input for each carried value and nothing else;
//! - an accumulator is only added to (`accumulators`).

mod accumulators;

use crate::op::{Block, Op, Stmt, Var};
use crate::print::{Names, print_stmt_with};
use crate::program::{Func, Program};
use crate::ty::{DataId, Elem, Id, Role, Ty};
use crate::typing::{Typing, show_types};
use crate::visit::deep;
use std::fmt;
use wengert_base::Name;

/// A rule that is broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function, or data type, or entry.
    pub inside: Name,
    /// The statement as the printer writes it; its first line.
    pub stmt: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`: ", self.inside)?;
        if let Some(stmt) = &self.stmt {
            write!(f, "{stmt}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program; everything that is wrong with it.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    declarations(program, &mut errors);
    for (_, func) in program.funcs.iter() {
        verify_func(program, func, &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks one function of (or for) a program.
pub fn verify_func(program: &Program, func: &Func, errors: &mut Vec<VerifyError>) {
    let mut check = Check {
        program,
        func,
        typing: Typing { program, vars: &func.vars },
        bound: vec![false; func.vars.len()],
        visible: vec![false; func.vars.len()],
        errors,
        names: None,
    };
    for (_, info) in func.vars.iter() {
        check.known_type(info.ty, &format!("`{}`", info.name));
    }
    func.results.iter().for_each(|ty| check.known_type(*ty, "a result"));
    check.block(&func.body);
    let found: Option<Vec<Ty>> =
        func.body.results.iter().map(|atom| crate::typing::type_of_atom(&func.vars, atom)).collect();
    if let Some(found) = found
        && found != func.results
    {
        let [found, declared] = [&found, &func.results].map(|types| show_types(program, types));
        check.report(None, format!("the body gives {found}, but {declared} is declared"));
    }
}

fn declarations(program: &Program, errors: &mut Vec<VerifyError>) {
    let mut report = |inside: Name, message: String| errors.push(VerifyError { inside, stmt: None, message });
    let known = |id: DataId| program.data.get(id).is_some();
    for (_, data) in program.data.iter() {
        for ctor in &data.ctors {
            for ty in &ctor.fields {
                if let Some(message) = type_error(program, *ty) {
                    report(data.name, format!("a field of `{}` {message}", ctor.name));
                }
            }
        }
        if let Role::Tangent(of) = data.role
            && !known(of)
        {
            report(data.name, "it holds tangents of a type that does not exist".into());
        }
    }
    for (id, linear) in program.linears.iter() {
        let inside = Name::new(&format!("linearization {}", id.index()));
        match program.funcs.get(linear.func) {
            None => report(inside, "its function does not exist".into()),
            Some(func) if func.body.params.len() != linear.active.len() => {
                let (params, active) = (func.body.params.len(), linear.active.len());
                report(
                    inside,
                    format!("`{}` has {params} parameters, but {active} are spoken of", func.name),
                );
            }
            Some(_) => {}
        }
        match program.data.get(linear.residual) {
            Some(data) if data.role == Role::Residual => {}
            Some(data) => report(inside, format!("`{}` is no type of residuals", data.name)),
            None => report(inside, "the type of its residual does not exist".into()),
        }
    }
    for (name, func) in &program.entries {
        if program.funcs.get(*func).is_none() {
            report(*name, "the entry's function does not exist".into());
        }
    }
}

/// What is wrong with a type.
fn type_error(program: &Program, ty: Ty) -> Option<&'static str> {
    match (ty, ty.elem()) {
        (Ty::Array(_, 0), _) => Some("is an array without axes"),
        (_, Elem::Data(id)) if program.data.get(id).is_none() => {
            Some("is of a data type that does not exist")
        }
        _ => None,
    }
}

/// One function under check.
struct Check<'a> {
    program: &'a Program,
    func: &'a Func,
    typing: Typing<'a>,
    /// By variable: whether it has been bound.
    bound: Vec<bool>,
    /// By variable: whether it may be used here.
    visible: Vec<bool>,
    errors: &'a mut Vec<VerifyError>,
    /// For messages; made when there is one.
    names: Option<Names>,
}

impl Check<'_> {
    fn report(&mut self, stmt: Option<&Stmt>, message: String) {
        let names = self.names.get_or_insert_with(|| Names::new(self.program));
        let stmt = stmt.map(|stmt| print_stmt_with(names, self.func, stmt));
        self.errors.push(VerifyError { inside: self.func.name, stmt, message });
    }

    fn known_type(&mut self, ty: Ty, what: &str) {
        if let Some(message) = type_error(self.program, ty) {
            self.report(None, format!("{what} {message}"));
        }
    }

    fn name(&self, var: Var) -> String {
        self.func.vars.get(var).map_or_else(|| format!("{var:?}"), |info| format!("`{}`", info.name))
    }

    fn bind(&mut self, var: Var, stmt: Option<&Stmt>) {
        match self.bound.get_mut(var.index()) {
            None => self.report(stmt, format!("{} is not in the function's table", self.name(var))),
            Some(true) => self.report(stmt, format!("{} is bound twice", self.name(var))),
            Some(bound) => *bound = true,
        }
        self.visible.get_mut(var.index()).into_iter().for_each(|visible| *visible = true);
    }

    fn demand(&mut self, var: Var, stmt: Option<&Stmt>) {
        match self.visible.get(var.index()) {
            None => self.report(stmt, format!("{} is not in the function's table", self.name(var))),
            Some(true) => {}
            Some(false) => self.report(stmt, format!("{} is used where it is not bound", self.name(var))),
        }
    }

    fn block(&mut self, block: &Block) {
        deep(|| {
            block.params.iter().for_each(|var| self.bind(*var, None));
            block.stmts.iter().for_each(|stmt| self.stmt(stmt));
            block.results.iter().filter_map(|atom| atom.var()).for_each(|var| self.demand(var, None));
            let bound = block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs));
            for var in bound {
                self.visible.get_mut(var.index()).into_iter().for_each(|visible| *visible = false);
            }
        });
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.op.operand_vars().into_iter().for_each(|var| self.demand(var, Some(stmt)));
        stmt.op.blocks().into_iter().for_each(|block| self.block(block));
        match self.typing.op(&stmt.op) {
            Err(message) => self.report(Some(stmt), message),
            Ok(_) if stmt.op.never_returns() => {}
            Ok(types) => {
                let outs: Option<Vec<Ty>> =
                    stmt.outs.iter().map(|var| self.func.vars.get(*var).map(|info| info.ty)).collect();
                if let Some(outs) = outs
                    && outs != types
                {
                    let [outs, types] = [&outs, &types].map(|types| show_types(self.program, types));
                    self.report(Some(stmt), format!("the results are {types}, but the variables are {outs}"));
                }
            }
        }
        if let Op::Loop(parts) = &stmt.op
            && let Some(message) = accumulators::check(self.func, parts)
        {
            self.report(Some(stmt), message);
        }
        stmt.outs.iter().for_each(|var| self.bind(*var, Some(stmt)));
    }
}

#[cfg(test)]
mod tests;
