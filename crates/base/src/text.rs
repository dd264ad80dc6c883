//! How a text is written: quoted, as in a program.
//!
//! ```
//! use wengert_base::text::quote;
//! assert_eq!(quote("a \"b\"\n"), r#""a \"b\"\n""#);
//! ```

/// The text between quotation marks, with what cannot stand there escaped.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
