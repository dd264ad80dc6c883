//! Objects: made, freed, counted; atomically where parts of a loop may refer to the same ones.
//!
//! Each of these is some instructions. Code that does much of it, as derivatives of derivatives with respect to data do, calls
//! functions for it (`far`), of which the C compiler makes instructions once. Loops in such code that do little of it do not.

use super::Body;
use wengert_native::loops::{Kind, Operand, Stmt, Value, every};

/// Code that does so much of it calls functions.
const MUCH: usize = 64;
/// So many fields are given to the function that takes data apart.
const FIELDS: usize = 4;

/// Whether statements make, free, and count objects in so many places that each should be a call.
pub(super) fn is_much(stmts: &[Stmt]) -> bool {
    let mut found = 0;
    every(stmts, &mut |stmt| {
        let handles = matches!(
            stmt,
            Stmt::Set(_, Value::Alloc(..)) | Stmt::Retain(..) | Stmt::Release(..) | Stmt::Free(..)
        );
        found += usize::from(handles);
    });
    found >= MUCH
}

impl Body<'_, '_> {
    /// What functions are called that are called.
    pub(super) fn far(&self) -> &'static str {
        if self.far { "_far" } else { "" }
    }

    /// Prints a loop: one that does little of it does that itself.
    pub(super) fn nearer(&mut self, body: &[Stmt], print: impl FnOnce(&mut Self)) {
        let far = self.far;
        self.far = far && is_much(body);
        print(self);
        self.far = far;
    }

    /// An object to which references are counted.
    fn counted(&mut self, object: Operand, kind: Kind) -> Option<String> {
        if kind == Kind::Plain || !matches!(object, Operand::Local(_)) {
            return None;
        }
        let object = self.reference(object);
        self.flush_reads();
        Some(object.text)
    }

    /// One reference more.
    pub(super) fn retain(&mut self, object: Operand, kind: Kind) {
        let Some(object) = self.counted(object, kind) else { return };
        let what = match kind {
            Kind::Data(_) => "_data",
            Kind::Text => "_text",
            Kind::Plain | Kind::Array(_) | Kind::ArrayOfText(_) | Kind::ArrayOfData(..) => "",
        };
        let shared = if self.func.shared { "_shared(r, " } else { "(" };
        self.put(&format!("wg_retain{what}{shared}{object});"));
    }

    /// One reference less.
    pub(super) fn release(&mut self, object: Operand, kind: Kind) {
        let Some(object) = self.counted(object, kind) else { return };
        let how = if self.func.shared { "_shared" } else { self.far() };
        let line = match kind {
            Kind::Plain => return,
            Kind::Text if self.func.shared => format!("wg_release_text_shared(r, {object});"),
            Kind::Text => format!("wg_release_text(r, {object});"),
            Kind::Array(_) => format!("wg_release_flat{how}(r, {object});"),
            Kind::Data(_) | Kind::ArrayOfText(_) | Kind::ArrayOfData(..) => {
                format!("wg_release{how}(r, {object}, {});", self.unit.kind(kind))
            }
        };
        self.put(&line);
    }

    /// An object is freed, not what it refers to.
    pub(super) fn free(&mut self, object: Operand) {
        let object = self.reference(object);
        self.flush_reads();
        let far = self.far();
        self.put(&format!("wg_free{far}(r, {});", object.text));
    }

    /// A branch that takes the fields out of data, as a call; whether it is one.
    pub(super) fn takes_apart(&mut self, cond: Operand, then: &[Stmt], otherwise: &[Stmt]) -> bool {
        if !self.far || self.func.shared {
            return false;
        }
        let Some((object, fields)) = self.taken_apart(cond, then, otherwise) else { return false };
        // What asks whether there are other references is not needed.
        self.pending.retain(|pending| Some(pending.local) != cond.local());
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        let mut given = vec!["r".to_string(), self.reference(object).text];
        given.extend(fields.iter().map(|field| self.reference(*field).text));
        given.resize(FIELDS + 2, "(ref)1".into());
        self.put(&format!("wg_take_apart_far({});", given.join(", ")));
        self.blocks += 2;
        true
    }

    /// The data and the fields that are objects, if a branch takes it apart and does nothing else.
    fn taken_apart(
        &self,
        cond: Operand,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Option<(Operand, Vec<Operand>)> {
        let cond = cond.local().filter(|cond| self.is_inline(*cond))?;
        let Some(Value::Unique(object, Kind::Data(_))) = self.values.get(&cond) else { return None };
        let ([Stmt::Free(freed, _)], Some((Stmt::Release(released, _), retained))) =
            (then, otherwise.split_last())
        else {
            return None;
        };
        // Texts are counted in another way.
        let field = |stmt: &Stmt| {
            if let Stmt::Retain(field, kind) = stmt { (*kind != Kind::Text).then_some(*field) } else { None }
        };
        let fields: Vec<Operand> = retained.iter().map(field).collect::<Option<_>>()?;
        (freed == object && released == object && fields.len() <= FIELDS).then_some((*object, fields))
    }
}
