//! `match`: the arms are tried in order, each a sequence of tests and bindings in which a failed test jumps to the
//! next arm. Parts of the scrutinee are loaded when a pattern looks at them.

use super::function::{PendingJump, Place};
use super::instr::{Instr, Operand};
use super::lower::{Lowering, Target};
use wengert_base::Span;
use wengert_core::{Arm, Pattern, Term};

impl Lowering<'_> {
    /// `match scrutinee with arms`
    pub(crate) fn match_of(&mut self, scrutinee: &Term, arms: &[Arm], target: Target, span: Span) {
        let subject = self.operand(scrutinee);
        let mut to_end = Vec::new();
        for (i, arm) in arms.iter().enumerate() {
            let mut failed = Vec::new();
            self.pattern(&arm.pattern, subject, arm.body.span, &mut failed);
            self.term(&arm.body, target);
            let unconditional = failed.is_empty();
            if i + 1 < arms.len() || !unconditional {
                to_end.extend(self.jump_to_end(target, span));
            }
            self.land_all(failed);
            if unconditional {
                // What follows is never tried.
                return self.land_all(to_end);
            }
        }
        self.emit(span, Instr::NoMatch { src: subject });
        self.land_all(to_end);
    }

    /// Tests `subject` against a pattern and binds its variables; jumps that say no are added to `failed`.
    fn pattern(&mut self, pattern: &Pattern, subject: Operand, span: Span, failed: &mut Vec<PendingJump>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.pattern_inner(pattern, subject, span, failed)
        });
    }

    fn pattern_inner(
        &mut self,
        pattern: &Pattern,
        subject: Operand,
        span: Span,
        failed: &mut Vec<PendingJump>,
    ) {
        match pattern {
            Pattern::Wildcard => {}
            Pattern::Bind(binder) => {
                self.current().scope.insert(binder.var.id, Place::At(subject));
            }
            Pattern::As(inner, binder) => {
                self.current().scope.insert(binder.var.id, Place::At(subject));
                self.pattern(inner, subject, span, failed);
            }
            Pattern::Lit(lit) => {
                let value = self.literal_value(lit);
                let function = self.current();
                let constant = function.constant(value);
                failed.push(
                    function.emit_jump(span, Instr::JumpUnlessConst { src: subject, constant, skip: 0 }),
                );
            }
            Pattern::Tuple(parts) => self.components(parts, subject, span, failed),
            Pattern::Ctor { ctor, fields, .. } => {
                let single = self.library.ctors(ctor.data).is_some_and(|ctors| ctors.len() == 1);
                if !single {
                    let jump = Instr::JumpUnlessCtor { src: subject, index: ctor.index, skip: 0 };
                    failed.push(self.current().emit_jump(span, jump));
                }
                self.components(fields, subject, span, failed);
            }
            Pattern::Record(fields) => {
                for (name, part) in fields {
                    if matches!(part, Pattern::Wildcard) {
                        continue;
                    }
                    let dst = self.current().register();
                    self.emit(span, Instr::Field { dst, src: subject, name: *name });
                    self.pattern(part, Operand::Local(dst), span, failed);
                }
            }
        }
    }

    fn components(&mut self, parts: &[Pattern], subject: Operand, span: Span, failed: &mut Vec<PendingJump>) {
        // All parts are loaded before any is looked into, so that the last load is the last use of the whole.
        let mut loaded = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if !matches!(part, Pattern::Wildcard) {
                let dst = self.current().register();
                self.emit(span, Instr::Component { dst, src: subject, index: index as u32 });
                loaded.push((part, dst));
            }
        }
        for (part, dst) in loaded {
            self.pattern(part, Operand::Local(dst), span, failed);
        }
    }
}
