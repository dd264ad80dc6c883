//! References: one more or one less, atomically where parts of a loop may refer to the same objects.

use super::Body;
use wengert_native::loops::{Kind, Operand};

impl Body<'_, '_> {
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
        let shared = if self.func.shared { "_shared" } else { "" };
        let line = match kind {
            Kind::Plain => return,
            Kind::Text => format!("wg_release_text{shared}(r, {object});"),
            Kind::Array(_) => format!("wg_release_flat{shared}(r, {object});"),
            Kind::Data(_) | Kind::ArrayOfText(_) | Kind::ArrayOfData(..) => {
                format!("wg_release{shared}(r, {object}, {});", self.unit.kind(kind))
            }
        };
        self.put(&line);
    }
}
