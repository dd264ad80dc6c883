//! Sizes of arrays that a loop hands on: where all that may be there were made with one size, nobody looks for it in the array.
//!
//! ```text
//! o = alloc(n + 2)  o[1] = n  a = o                          o = alloc(n + 2)  o[1] = n  a = o
//! for i in 0..k {                                            for i in 0..k {
//!     m = a[1]  … j is in range of m …             becomes       … j is in range of n …
//!     b = alloc(n + 2)  b[1] = n  a = b                          b = alloc(n + 2)  b[1] = n  a = b
//! }                                                          }
//! ```
//!
//! What looks for edges and makes checks before loops sees then that it is one size. Variables that are copies of each other are one class. Its
//! objects are made in this function, and a word at the beginning of each is stored with one and the same value; or it comes from one that
//! was there, whose word is read before all others are. The value is bound in the block where the class is assigned, or outside of
//! that, so that no object of the class is from an earlier iteration with another value.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed says nothing of sizes")]

use crate::loops::walk::{Uses, every, map_parts, parts, renamed, writes};
use crate::loops::{Func, Local, Operand, Program, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::ty::Id;

/// Does that in all functions of a program.
pub(crate) fn read(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut carries = false;
        every(&func.body, &mut |stmt| carries |= matches!(stmt, Stmt::For { .. } | Stmt::While { .. }));
        if carries {
            let known = Facts::of(func).known(func);
            if !known.is_empty() {
                let body = without(std::mem::take(&mut func.body), &known);
                func.body = renamed(&body, &mut |local| named(&known, local));
            }
        }
    }
}

/// What a size is called that was read.
fn named(known: &FxHashMap<Local, Operand>, mut local: Local) -> Local {
    while let Some(Operand::Local(other)) = known.get(&local) {
        local = *other;
    }
    local
}

/// Sizes that have another name are not read, constant ones are what they are.
fn without(body: Vec<Stmt>, known: &FxHashMap<Local, Operand>) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let one = |stmt: Stmt| match stmt {
            Stmt::Set(local, value) => match known.get(&local) {
                Some(Operand::Local(_)) => None,
                Some(number) => Some(Stmt::Set(local, Value::Copy(*number))),
                None => Some(Stmt::Set(local, value)),
            },
            stmt => Some(map_parts(stmt, &mut |inner| without(inner, known))),
        };
        body.into_iter().filter_map(one).collect()
    })
}

/// A word of an object: of which variable, and which one.
type Place = (Local, i64);

/// What a function does with references.
#[derive(Default)]
struct Facts {
    /// Around each block: the next one. The first is that of the function.
    around: Vec<usize>,
    /// In which block a variable was last seen to be assigned.
    blocks: FxHashMap<Local, usize>,
    /// In which block references are assigned.
    assigned: Vec<(Local, usize)>,
    /// Variables that are assigned new objects, once for each.
    made: Vec<Local>,
    /// Variables that are copies of others.
    copies: Vec<(Local, Local)>,
    /// Variables that may be any object.
    unknown: Vec<Local>,
    /// Words of objects, at the beginning, that are stored.
    stored: Vec<(Place, Operand)>,
    /// Where the elements of an object begin.
    begins: Vec<Place>,
    /// Words of objects that are read.
    read: Vec<(Local, Place)>,
}

impl Facts {
    fn of(func: &Func) -> Facts {
        let mut facts = Facts { around: vec![0], ..Facts::default() };
        let is_ref = |local: &Local| func.locals.get(*local) == Some(&Word::Ref);
        for param in &func.params {
            facts.blocks.insert(*param, 0);
            if is_ref(param) {
                facts.assigned.push((*param, 0));
                facts.unknown.push(*param);
            }
        }
        facts.stmts(func, &func.body, 0);
        facts
    }

    fn stmts(&mut self, func: &Func, stmts: &[Stmt], block: usize) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                self.stmt(func, stmt, block);
                for part in parts(stmt) {
                    self.around.push(block);
                    self.stmts(func, part, self.around.len() - 1);
                }
            }
        });
    }

    fn stmt(&mut self, func: &Func, stmt: &Stmt, block: usize) {
        let is_ref = |local: &Local| func.locals.get(*local) == Some(&Word::Ref);
        for local in writes(stmt) {
            self.blocks.insert(local, block);
            if is_ref(&local) {
                self.assigned.push((local, block));
            }
        }
        if let Stmt::Set(local, value) = stmt {
            if is_ref(local) { self.reference(*local, value) } else { self.value(*local, value) }
        } else if let Stmt::Store { base: Operand::Local(base), index, offset, value } = stmt {
            match index {
                Operand::Int(n) => self.stored.push(((*base, n.saturating_add(i64::from(*offset))), *value)),
                _ => self.begins.push((*base, i64::from(*offset))),
            }
        } else {
            self.unknown.extend(writes(stmt).into_iter().filter(is_ref));
        }
    }

    fn reference(&mut self, local: Local, value: &Value) {
        if let Value::Copy(Operand::Local(other)) = value {
            self.copies.push((local, *other));
        } else if let Value::Select(_, Operand::Local(then), Operand::Local(otherwise)) = value {
            self.copies.extend([(local, *then), (local, *otherwise)]);
        } else if let Value::Alloc(..) = value {
            self.made.push(local);
        } else {
            self.unknown.push(local);
        }
    }

    fn value(&mut self, local: Local, value: &Value) {
        let (base, index, offset, is_read) = match value {
            Value::Load { base: Operand::Local(base), index, offset } => (*base, *index, *offset, true),
            Value::Address { base: Operand::Local(base), index, offset } => (*base, *index, *offset, false),
            _ => return,
        };
        match index {
            Operand::Int(n) if is_read => {
                self.read.push((local, (base, n.saturating_add(i64::from(offset)))));
            }
            Operand::Int(n) => self.begins.push((base, n.saturating_add(i64::from(offset)))),
            _ => self.begins.push((base, i64::from(offset))),
        }
    }

    /// The sizes that are read of which it is known what they are.
    fn known(&self, func: &Func) -> FxHashMap<Local, Operand> {
        let classes = Classes::of(self, func.locals.len());
        let once = Uses::of(func, &func.body).sets;
        let once = |local: &Local| once.get(local) == Some(&1);
        let mut known = FxHashMap::default();
        for (local, (of, word)) in &self.read {
            let Some(class) = classes.facts.get(&classes.root(of.index())) else { continue };
            let is_size = func.locals.get(*local) == Some(&Word::Int) && once(local);
            if let Some(value) = self.word(class, *word).filter(|_| is_size)
                && value.local().is_none_or(|size| {
                    size != *local && once(&size) && class.assigned.iter().all(|at| self.is_inside(*at, size))
                })
            {
                known.insert(*local, value);
            }
        }
        known
    }

    /// The word that all objects of a class have there.
    fn word(&self, class: &Class, word: i64) -> Option<Operand> {
        if word < 1 || class.begins.is_some_and(|begins| word >= begins) {
            return None;
        }
        let read = class.read.get(&word)?;
        let none = Vec::new();
        let stored = class.stored.get(&word).unwrap_or(&none);
        // Each object gets it when it is made.
        let times = |local: &Local| stored.iter().filter(|(of, _)| of == local).count();
        let all: usize = class.made.values().sum();
        if all != stored.len() || class.made.iter().any(|(local, made)| times(local) != *made) {
            return None;
        }
        let is_read =
            |value: &Operand| value.local().is_some_and(|local| read.iter().any(|(of, _)| *of == local));
        let first = match class.unknown.as_slice() {
            [] => stored.iter().map(|(_, value)| *value).find(|value| !is_read(value))?,
            // The first that reads it does so where that object comes from.
            [from] => {
                let (first, of) = read.first()?;
                let is_there = of == from && self.blocks.get(first) == self.blocks.get(from);
                is_there.then_some(Operand::Local(*first))?
            }
            _ => return None,
        };
        stored.iter().all(|(_, value)| *value == first || is_read(value)).then_some(first)
    }

    /// Whether a block is the one in which a variable is assigned, or is in it.
    fn is_inside(&self, mut at: usize, local: Local) -> bool {
        let Some(outer) = self.blocks.get(&local) else { return false };
        loop {
            if at == *outer {
                return true;
            }
            match self.around.get(at) {
                Some(next) if at > 0 => at = *next,
                _ => return false,
            }
        }
    }
}

/// What is known of variables that are copies of each other.
#[derive(Default)]
struct Class {
    /// Those that may be any object, as often as they are assigned.
    unknown: Vec<Local>,
    /// In which blocks they are assigned.
    assigned: FxHashSet<usize>,
    /// How often variables are assigned new objects.
    made: FxHashMap<Local, usize>,
    /// The words that are stored, in which variables; and those that are read, in order.
    stored: FxHashMap<i64, Vec<(Local, Operand)>>,
    read: FxHashMap<i64, Vec<(Local, Local)>>,
    /// From here on there are elements.
    begins: Option<i64>,
}

/// Variables that are copies of each other, by the first of them.
struct Classes {
    parents: Vec<usize>,
    facts: FxHashMap<usize, Class>,
}

impl Classes {
    fn of(facts: &Facts, locals: usize) -> Classes {
        let mut classes = Classes { parents: (0..locals).collect(), facts: FxHashMap::default() };
        for (a, b) in &facts.copies {
            let (a, b) = (classes.root(a.index()), classes.root(b.index()));
            if let Some(parent) = classes.parents.get_mut(a.max(b)) {
                *parent = a.min(b);
            }
        }
        // Later each is found in one step.
        for local in 0..locals {
            let root = classes.root(local);
            if let Some(parent) = classes.parents.get_mut(local) {
                *parent = root;
            }
        }
        classes.note(facts);
        classes
    }

    fn note(&mut self, facts: &Facts) {
        facts.unknown.iter().for_each(|local| self.class(*local).unknown.push(*local));
        for (local, at) in &facts.assigned {
            self.class(*local).assigned.insert(*at);
        }
        for local in &facts.made {
            *self.class(*local).made.entry(*local).or_default() += 1;
        }
        for ((local, word), value) in &facts.stored {
            self.class(*local).stored.entry(*word).or_default().push((*local, *value));
        }
        for (local, (of, word)) in &facts.read {
            self.class(*of).read.entry(*word).or_default().push((*local, *of));
        }
        for (local, begins) in &facts.begins {
            let least = &mut self.class(*local).begins;
            *least = Some(least.map_or(*begins, |least| least.min(*begins)));
        }
    }

    fn class(&mut self, local: Local) -> &mut Class {
        let root = self.root(local.index());
        self.facts.entry(root).or_default()
    }

    fn root(&self, mut at: usize) -> usize {
        while let Some(parent) = self.parents.get(at).filter(|parent| **parent != at) {
            at = *parent;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use crate::Math;
    use crate::beside::Beside;
    use wengert_ir::eval::{Items, Value};

    /// Arrays handed on, made in the loop or before it; the last gets another size in each iteration.
    const STEPS: &str = "func f(k: Int, n: Int, xs: []Real, ys: []Real) -> (Real, Real, Real) {
        p = length(xs)
        t = replicate(n, 1.0)
        a = for i < k, u = t { v = each j < n { w = u[j] x = w + 1.0 yield x } yield v }
        b = for i < k, u = xs { m = length(u) v = each j < m { q = real(p) w = u[j] x = w + q yield x } yield v }
        c = for i < k, u = ys { m = length(u) l = m + 1 v = each j < l { w = real(j) yield w } yield v }
        d = a[0]
        e = b[2]
        o = c[4]
        return d, e, o
    } entry f = f";

    #[test]
    fn a_size_that_all_arrays_of_a_loop_have_is_not_read() {
        let program = wengert_ir::parse::parse(STEPS).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        let sizes = |loops: &crate::loops::Program| {
            let printed = crate::loops::print(loops);
            printed.lines().filter(|line| line.contains(" = o") && line.ends_with("[1]")).count()
        };
        let before = sizes(&loops);
        super::read(&mut loops);
        // In and after the first two loops none stays, but that of what comes in; of the last, all stay.
        assert_eq!((before, sizes(&loops)), (8, 4), "{}", crate::loops::print(&loops));
        let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
        for (k, n) in [(0, 3), (1, 3), (7, 40), (7, 1), (2, 0)] {
            let xs = Value::array([5], Items::Reals((0..5).map(f64::from).collect()));
            beside.agrees(&[Value::Int(k), Value::Int(n), xs.clone(), xs], format_args!("{k} steps of {n}"));
        }
    }
}
