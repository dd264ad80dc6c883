//! `wengert check`: types or diagnostics, for people or for tools.

use crate::output::{AT_FAULT, FINE, print, report};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use wengert_driver::render::{self, Style};
use wengert_driver::{Report, Session};

/// Checks files; with several of them, each list of types has the file's name above it.
pub(crate) fn check(files: &[PathBuf], as_json: bool, style: Style) -> io::Result<u8> {
    let mut session = Session::new();
    let reports: Vec<Report> = files.iter().map(|file| session.check_file(file)).collect();
    let failed = reports.iter().any(Report::has_errors);
    if as_json {
        let list: Vec<Value> =
            files.iter().zip(&reports).map(|(file, report)| describe(&session, file, report)).collect();
        let all = json!({ "ok": !failed, "files": list });
        print(|out| {
            serde_json::to_writer_pretty(&mut *out, &all)?;
            out.write_all(b"\n")
        })?;
    } else {
        let mut diagnostics = Vec::new();
        for diagnostic in reports.iter().flat_map(|report| &report.diagnostics) {
            // A module that several files import has its faults once.
            if !diagnostics.contains(diagnostic) {
                diagnostics.push(diagnostic.clone());
            }
        }
        report(session.sources(), &diagnostics, style)?;
        print(|out| {
            for (file, report) in files.iter().zip(&reports).filter(|(_, report)| !report.has_errors()) {
                if files.len() > 1 {
                    writeln!(out, "{}:", file.display())?;
                }
                for signature in report.signatures() {
                    writeln!(out, "{} : {}", signature.name, signature.ty)?;
                }
            }
            Ok(())
        })?;
    }
    Ok(if failed { AT_FAULT } else { FINE })
}

fn describe(session: &Session, file: &std::path::Path, report: &Report) -> Value {
    let definitions: Vec<Value> = report
        .signatures()
        .into_iter()
        .map(|signature| {
            let place =
                session.sources().get(signature.span.source).map(|f| f.line_col(signature.span.start));
            let (line, column) = place.unwrap_or((1, 1));
            json!({ "name": signature.name.as_str(), "type": signature.ty, "line": line, "column": column })
        })
        .collect();
    json!({
        "file": file.display().to_string(),
        "ok": !report.has_errors(),
        "definitions": definitions,
        "diagnostics": render::json::render(session.sources(), &report.diagnostics),
    })
}
