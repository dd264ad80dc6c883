//! Diagnostics as JSON, for editors and other tools: one object each, lines and columns counted from 1.

use super::excerpt::clamp;
use super::in_source_order;
use serde_json::{Value, json};
use wengert_base::{Diagnostic, Label, Severity, SourceMap, Span};

/// All of `diagnostics`, in source order.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Value {
    in_source_order(diagnostics).into_iter().map(|diagnostic| render_one(sources, diagnostic)).collect()
}

/// One diagnostic: code, severity, message, file, start, end, label, labels, notes, help.
pub fn render_one(sources: &SourceMap, diagnostic: &Diagnostic) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let (file, start, end) = place(sources, diagnostic.primary.span);
    let labels: Vec<Value> = diagnostic.secondary.iter().map(|label| render_label(sources, label)).collect();
    json!({
        "code": diagnostic.code,
        "severity": severity,
        "message": diagnostic.message,
        "file": file,
        "start": start,
        "end": end,
        "label": diagnostic.primary.message,
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
}

fn render_label(sources: &SourceMap, label: &Label) -> Value {
    let (file, start, end) = place(sources, label.span);
    json!({ "message": label.message, "file": file, "start": start, "end": end })
}

/// File name and the two ends, `null` for what stands nowhere.
fn place(sources: &SourceMap, span: Span) -> (Value, Value, Value) {
    let Some(file) = sources.get(span.source) else { return (Value::Null, Value::Null, Value::Null) };
    let range = clamp(&file.text, span.start, span.end);
    let point = |offset: usize| {
        let (line, column) = file.line_col(offset as u32);
        json!({ "line": line, "column": column })
    };
    (file.name.as_str().into(), point(range.start), point(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn everything_is_there() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.wg", "def x =\n  λ\n");
        let diagnostics = [
            Diagnostic::error("E0801", Span::NOWHERE, "nowhere"),
            Diagnostic::error("E0301", Span::new(id, 10, 12), "bad")
                .label("this")
                .also(Span::new(id, 4, 5), "x")
                .help("do"),
        ];
        expect![[r#"[{"code":"E0301","severity":"error","message":"bad","file":"a.wg","start":{"line":2,"column":3},"end":{"line":2,"column":4},"label":"this","labels":[{"message":"x","file":"a.wg","start":{"line":1,"column":5},"end":{"line":1,"column":6}}],"notes":[],"help":"do"},{"code":"E0801","severity":"error","message":"nowhere","file":null,"start":null,"end":null,"label":"","labels":[],"notes":[],"help":null}]"#]]
        .assert_eq(&render(&sources, &diagnostics).to_string());
    }
}
