//! Smaller programs of the same types.
//!
//! An edit replaces one subexpression by something lighter of the same type that may stand there: one of its own parts
//! (if no name that the part uses is bound on the way down to it), a variable in scope, or the simplest value; a loop
//! count becomes 1; a definition or a declaration that nothing uses goes. Every edit makes [`Node::weight`] smaller, so
//! [`minimize`] ends.

use crate::Program;
use crate::generate::program::GenDef;
use crate::tree::{Bound, Child, Form, GenPat, Node, What};
use crate::ty::{DataDecl, GenType};
use crate::value::GenValue;
use std::collections::BTreeSet;
use wengert_base::Name;

/// How often [`minimize`] may try.
const MAX_TRIES: usize = 20_000;

/// Programs that are one edit smaller, the ones that shrink most first.
pub fn shrink(program: &Program) -> impl Iterator<Item = Program> + use<> {
    let program = program.clone();
    let mut edits = Vec::new();
    for (i, def) in program.defs.iter().enumerate() {
        let mut scope: Vec<Bound> =
            def.params.iter().map(|(name, ty, _)| Bound::value(*name, ty.clone())).collect();
        let mut finder = Finder { decls: &program.decls, def: i, path: Vec::new(), edits: &mut edits };
        finder.node(&def.body, &mut scope);
    }
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.gain));
    let cleaned = without_unused(&program);
    cleaned.into_iter().chain(edits.into_iter().map(move |edit| edit.apply(&program)))
}

/// The smallest program found, one edit at a time, for which `still_fails` holds; `program` itself if it holds for no
/// smaller one.
pub fn minimize(program: Program, mut still_fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program;
    let mut tries = 0;
    loop {
        let mut smaller = None;
        for candidate in shrink(&smallest) {
            tries += 1;
            if tries > MAX_TRIES {
                return smallest;
            }
            if still_fails(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(candidate) => smallest = candidate,
            None => return smallest,
        }
    }
}

/// The program without what nothing uses, if there is any.
fn without_unused(program: &Program) -> Option<Program> {
    let mut called = BTreeSet::from([program.entry]);
    let mut used = BTreeSet::new();
    note_data(&program.arg_type, &mut used);
    // Definitions call earlier ones, but for those that call each other.
    let mut before = 0;
    while called.len() > before {
        before = called.len();
        for def in program.defs.iter().rev().filter(|def| called.contains(&def.name)).collect::<Vec<_>>() {
            def.body.calls(&mut called);
        }
    }
    let kept: Vec<GenDef> = program.defs.iter().filter(|def| called.contains(&def.name)).cloned().collect();
    for def in &kept {
        def.params.iter().for_each(|(_, ty, _)| note_data(ty, &mut used));
        def.body.visit(&mut |node| note_data(&node.ty, &mut used));
    }
    let decls: Vec<DataDecl> =
        program.decls.iter().filter(|decl| used.contains(&decl.name)).cloned().collect();
    if kept.len() == program.defs.len() && decls.len() == program.decls.len() {
        return None;
    }
    Some(Program::new(decls, kept, program.entry, program.arg_type.clone(), program.result_type.clone()))
}

/// Adds the declared types in `ty`.
fn note_data(ty: &GenType, used: &mut BTreeSet<Name>) {
    match ty {
        GenType::Data(name, args) => {
            used.insert(*name);
            args.iter().for_each(|arg| note_data(arg, used));
        }
        GenType::Real | GenType::Int | GenType::Bool | GenType::String | GenType::Param => {}
        GenType::Tuple(items) => items.iter().for_each(|item| note_data(item, used)),
        GenType::Record(fields) => fields.iter().for_each(|(_, field)| note_data(field, used)),
        GenType::Array(_, elem) => note_data(elem, used),
        GenType::Fun(from, to) => {
            note_data(from, used);
            note_data(to, used);
        }
    }
}

/// A replacement of the subexpression at `path` of a definition.
struct Edit {
    def: usize,
    path: Vec<usize>,
    replacement: Node,
    gain: u64,
}

impl Edit {
    /// The program after the edit.
    fn apply(self, program: &Program) -> Program {
        let mut defs = program.defs.clone();
        if let Some(def) = defs.get_mut(self.def) {
            let mut place = Some(&mut def.body);
            for index in &self.path {
                place = place.and_then(|node| node.children.get_mut(*index)).map(|child| &mut child.node);
            }
            if let Some(place) = place {
                *place = self.replacement;
            }
        }
        let (arg, result) = (program.arg_type.clone(), program.result_type.clone());
        Program::new(program.decls.clone(), defs, program.entry, arg, result)
    }
}

/// The walk that finds edits.
struct Finder<'f> {
    decls: &'f [DataDecl],
    def: usize,
    path: Vec<usize>,
    edits: &'f mut Vec<Edit>,
}

impl Finder<'_> {
    /// Edits in `node`, where `scope` is visible.
    fn node(&mut self, node: &Node, scope: &mut Vec<Bound>) {
        let weight = node.weight();
        for part in parts(node) {
            self.edit(weight, part.clone());
        }
        if !matches!(node.form, Form::Var(_)) {
            let visible = |i: usize, name: Name| !scope.iter().skip(i + 1).any(|later| later.name == name);
            let wanted = What::Value(node.ty.clone());
            let mut fitting = scope
                .iter()
                .enumerate()
                .rev()
                .filter(|(i, bound)| visible(*i, bound.name) && bound.what == wanted);
            if let Some((_, bound)) = fitting.next() {
                self.edit(weight, Node::new(node.ty.clone(), Form::Var(bound.name), vec![]));
            }
        }
        self.edit(weight, simplest(&node.ty, self.decls));
        if let Some(form) = fewer_rounds(&node.form) {
            self.edit(weight, Node { form, ..node.clone() });
        }
        for (i, child) in node.children.iter().enumerate() {
            let outer = scope.len();
            scope.extend(child.binders.iter().cloned());
            self.path.push(i);
            self.node(&child.node, scope);
            self.path.pop();
            scope.truncate(outer);
        }
    }

    /// Notes an edit that makes the program lighter.
    fn edit(&mut self, weight: u64, replacement: Node) {
        let gain = weight.saturating_sub(replacement.weight());
        if gain > 0 {
            self.edits.push(Edit { def: self.def, path: self.path.clone(), replacement, gain });
        }
    }
}

/// Parts of the same type that use no name bound on the way to them.
fn parts(node: &Node) -> Vec<&Node> {
    let mut found = Vec::new();
    collect_parts(node, &node.ty, &mut Vec::new(), &mut found);
    found
}

/// Adds the parts inside `node`; `bound` are the names bound on the way.
fn collect_parts<'n>(node: &'n Node, ty: &GenType, bound: &mut Vec<Name>, found: &mut Vec<&'n Node>) {
    for Child { binders, node } in &node.children {
        let outer = bound.len();
        bound.extend(binders.iter().map(|binder| binder.name));
        if node.ty == *ty && !node.free_names().iter().any(|name| bound.contains(name)) {
            found.push(node);
        }
        collect_parts(node, ty, bound, found);
        bound.truncate(outer);
    }
}

/// The same loop with one round.
fn fewer_rounds(form: &Form) -> Option<Form> {
    let mut fewer = form.clone();
    let (Form::Iterate(count, _)
    | Form::While(count, ..)
    | Form::WhileCond(count, ..)
    | Form::Loop { count, .. }
    | Form::FuelCall(_, count)) = &mut fewer
    else {
        return None;
    };
    if *count <= 1 {
        return None;
    }
    *count = 1;
    Some(fewer)
}

/// The simplest expression of a type.
fn simplest(ty: &GenType, decls: &[DataDecl]) -> Node {
    match ty {
        GenType::Fun(from, to) => {
            let param = GenPat::Var(Name::new("u"), from.as_ref().clone());
            let body = Child { binders: param.binders(), node: simplest(to, decls) };
            Node::binding(ty.clone(), Form::Lambda(param, true), vec![body])
        }
        GenType::Real | GenType::Int | GenType::Bool | GenType::String => {
            Node::new(ty.clone(), Form::Lit(GenValue::simplest(ty, decls)), vec![])
        }
        GenType::Tuple(items) => {
            Node::new(ty.clone(), Form::Tuple, items.iter().map(|item| simplest(item, decls)).collect())
        }
        GenType::Record(fields) => {
            let names = fields.iter().map(|(name, _)| *name).collect();
            let items = fields.iter().map(|(_, field)| simplest(field, decls)).collect();
            Node::new(ty.clone(), Form::Record(names), items)
        }
        GenType::Array(n, elem) => {
            Node::new(ty.clone(), Form::Array, (0..*n).map(|_| simplest(elem, decls)).collect())
        }
        GenType::Data(name, _) => {
            let first = decls.iter().find(|decl| decl.name == *name).and_then(|decl| decl.ctors.first());
            let Some((ctor, fields)) = first else { return Node::new(ty.clone(), Form::Tuple, vec![]) };
            let fields = fields.iter().map(|field| simplest(&field.at(ty), decls)).collect();
            Node::new(ty.clone(), Form::Ctor(*ctor), fields)
        }
        GenType::Param => Node::new(ty.clone(), Form::Tuple, vec![]),
    }
}
