//! From a failure and the stack at that moment to a diagnostic.

use super::*;
use wengert_base::Diagnostic;

/// How many places of calls a diagnostic shows.
const SITES_SHOWN: usize = 4;

/// A function and the place where it was called, perhaps again and again.
struct CallSite {
    name: Name,
    span: Span,
    times: usize,
}

/// A call on the stack.
struct Call {
    name: Name,
    span: Span,
}

impl Machine<'_> {
    /// The failure at the innermost expression of the user's own text, with the calls that led there.
    pub(crate) fn diagnose(&mut self, failure: Failure) -> Diagnostic {
        let own = |span: Span| self.is_own(span);
        let calls: Vec<Call> = self.calls().collect();
        let inner = calls.iter().position(|call| own(call.span));
        // Where no frame is of the user's text, all of it was left by tail calls.
        let start = inner.unwrap_or(calls.len());
        let left =
            calls.first().filter(|_| self.outermost.is_nowhere()).map_or(self.outermost, |call| call.span);
        let span = calls.get(start).map_or(left, |call| call.span);
        let text = *failure.0;
        let mut diagnostic = Diagnostic::error(text.code, span, text.message);
        diagnostic.notes = text.notes;
        diagnostic.help = text.help;
        if let (Some(place), true) = (calls.first(), start > 0) {
            diagnostic = diagnostic.note(format!("it happened inside `{}`", short(place.name)));
        }
        let mut sites: Vec<CallSite> = Vec::new();
        let mut more = 0;
        for pair in calls.get(start..).unwrap_or_default().windows(2) {
            let [callee, caller] = pair else { continue };
            let (name, span) = (callee.name, caller.span);
            if let Some(site) = sites.iter_mut().find(|site| site.name == name && site.span == span) {
                site.times += 1;
            } else if own(span) && sites.len() < SITES_SHOWN {
                sites.push(CallSite { name, span, times: 1 });
            } else if own(span) {
                more += 1;
            }
        }
        let many = self.frames.len() > MOST_CALLS;
        for CallSite { name, span, times } in sites {
            let times = match times {
                1 => String::new(),
                _ if many => ", many times".into(),
                n => format!(", {n} times"),
            };
            diagnostic = diagnostic.also(span, format!("in `{}`, called here{times}", short(name)));
        }
        if more > 0 {
            let more = match more {
                _ if many => "many more calls".into(),
                1 => "1 more call".to_string(),
                more => format!("{more} more calls"),
            };
            diagnostic = diagnostic.note(format!("{more} led there"));
        }
        diagnostic
    }

    /// Whether the span is in the user's own text.
    pub(super) fn is_own(&self, span: Span) -> bool {
        !span.is_nowhere() && !self.library_sources.contains(&span.source)
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
