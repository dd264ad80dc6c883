//! Many programs in one library, for engines whose compiler is slow: each program is a module, and the main module's one
//! function answers the question whose number it is given.

use super::{Answer, Question, program_text, worded};
use crate::property::{Case, complaints};
use crate::text;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_base::Span;
use wengert_driver::json::parse::Document;
use wengert_driver::{Options, Session};
use wengert_interp::View;

/// Programs in a folder of their own.
pub struct Batch {
    folder: PathBuf,
    /// The arguments of all questions, as JSON.
    args: String,
    /// How many questions there are about each program.
    asked: Vec<usize>,
}

impl Batch {
    /// These programs, with these questions about each.
    pub fn new(cases: &[(&Case, Vec<Question>)]) -> Result<Batch, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("wengert-batch-{}-{number}", std::process::id()));
        let write =
            |name: String, text: String| fs::write(folder.join(name), text).map_err(|e| e.to_string());
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (mut main, mut params, mut args) = (String::new(), String::new(), Vec::new());
        let mut answers = String::new();
        let mut count = 0;
        for (place, (case, questions)) in cases.iter().enumerate() {
            write(format!("p{place}.wg"), program_text(case, questions))?;
            main.push_str(&format!("import \"p{place}.wg\" as p{place}\n"));
            params.push_str(&format!(" x{place} t{place}"));
            args.extend([case.point.json(), case.tangent.json()]);
            for question in questions {
                let along = if question.along { format!(" t{place}") } else { String::new() };
                let answer = format!("show (p{place}.{} x{place}{along})", question.name);
                answers.push_str(&format!("  if question == {count} then {answer} else\n"));
                count += 1;
            }
        }
        main.push_str(&format!("\ndef all question{params} =\n{answers}  \"\"\n"));
        write("main.wg".into(), main)?;
        let asked = cases.iter().map(|(_, questions)| questions.len()).collect();
        Ok(Batch { folder, args: args.join(", "), asked })
    }

    /// The answers of an engine about each program, in the order of the questions; nothing where it has none.
    pub fn answers(&self, options: &Options) -> Result<Vec<Vec<Option<Answer>>>, String> {
        let mut session = Session::new();
        let document = |question: usize| {
            Document::parse(Span::NOWHERE.source, &format!("[{question}, {}]", self.args))
                .map_err(|error| complaints(&[error]))
        };
        let prepared = session.prepare(&self.folder.join("main.wg"), "all", &document(0)?, options);
        let mut prepared = prepared.map_err(|errors| complaints(&errors))?;
        let mut answer = |question: usize| -> Result<Option<Answer>, String> {
            let held = prepared.read(&document(question)?).map_err(|error| complaints(&[error]))?;
            let held = held.ok_or("the arguments are read otherwise")?;
            let result = match prepared.call(&held) {
                Ok(result) => result,
                Err(error) => return Ok(worded(&[error])),
            };
            let value = prepared.value(&result);
            let View::String(shown) = value.view() else { return Err("no text came out".into()) };
            Ok(Some(Ok(text::unsigned(&shown))))
        };
        let mut next = 0;
        let mut numbers = |count: usize| {
            next += count;
            next - count..next
        };
        self.asked.iter().map(|count| numbers(*count).map(&mut answer).collect()).collect()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
