//! `doc` and `explain`.

use crate::output::{AT_FAULT, FINE, print_text, report};
use std::fmt::Write;
use std::io;
use wengert_driver::render::Style;
use wengert_driver::{Session, all_codes, errors, find_code};

/// `wengert doc [NAME]`
pub(crate) fn doc(name: Option<&str>, style: Style) -> io::Result<u8> {
    let mut session = Session::new();
    match session.doc(name) {
        Ok(text) => {
            print_text(&text)?;
            Ok(FINE)
        }
        Err(error) => {
            report(session.sources(), &[error], style)?;
            Ok(AT_FAULT)
        }
    }
}

/// `wengert explain [CODE]`
pub(crate) fn explain(code: Option<&str>, style: Style) -> io::Result<u8> {
    let Some(asked) = code else {
        let mut text = String::new();
        for code in all_codes() {
            let _ = writeln!(text, "{}  {}", code.code, code.title);
        }
        print_text(&text)?;
        return Ok(FINE);
    };
    match find_code(asked) {
        Some(code) => {
            print_text(&wengert_driver::explain(code))?;
            Ok(FINE)
        }
        None => {
            report(Session::new().sources(), &[errors::unknown_code(asked)], style)?;
            Ok(AT_FAULT)
        }
    }
}
