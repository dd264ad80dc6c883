//! From a failure and the stack at that moment to a diagnostic.

use super::*;
use rustc_hash::FxHashSet;
use wengert_base::{Diagnostic, SourceId};

/// How many calls a diagnostic lists.
const CALLS_SHOWN: usize = 4;

/// A call on the stack.
struct Call {
    name: Name,
    span: Span,
}

impl Machine<'_> {
    /// The failure at the innermost expression of the user's own text, with the calls that led there.
    pub(crate) fn diagnose(&mut self, failure: Failure, library_sources: &FxHashSet<SourceId>) -> Diagnostic {
        let own = |span: Span| !span.is_nowhere() && !library_sources.contains(&span.source);
        let calls: Vec<Call> = self.calls().collect();
        let inner = calls.iter().position(|call| own(call.span));
        let start = inner.unwrap_or(0);
        let span = calls.get(start).map_or(Span::NOWHERE, |call| call.span);
        let text = *failure.0;
        let mut diagnostic = Diagnostic::error(text.code, span, text.message);
        diagnostic.notes = text.notes;
        diagnostic.help = text.help;
        if let (Some(place), true) = (calls.first(), start > 0) {
            diagnostic = diagnostic.note(format!("it happened inside `{}`", short(place.name)));
        }
        for pair in calls.get(start..).unwrap_or_default().windows(2).take(CALLS_SHOWN) {
            let [callee, caller] = pair else { continue };
            if own(caller.span) {
                diagnostic =
                    diagnostic.also(caller.span, format!("in `{}`, called here", short(callee.name)));
            }
        }
        let more = calls.len().saturating_sub(start + 1 + CALLS_SHOWN);
        if more > 0 {
            let depth = if self.frames.len() > MOST_CALLS { "many".to_owned() } else { more.to_string() };
            diagnostic = diagnostic.note(format!("{depth} more calls led there"));
        }
        diagnostic
    }

    fn calls(&self) -> impl Iterator<Item = Call> {
        self.frames.iter().rev().take(MOST_CALLS).filter_map(|frame| match frame {
            Frame::Code(activation) => {
                let at = (activation.pc as usize).saturating_sub(1);
                let span = activation.code.spans.get(at).copied().unwrap_or(Span::NOWHERE);
                Some(Call { name: activation.code.name, span })
            }
            Frame::Builtin(_) | Frame::Rest(_) | Frame::Constant(_) => None,
        })
    }
}

/// How many frames are looked at.
const MOST_CALLS: usize = 1000;

/// A qualified name without its module.
fn short(name: Name) -> &'static str {
    let text = name.as_str();
    text.rsplit_once('.').map_or(text, |(_, last)| last)
}
