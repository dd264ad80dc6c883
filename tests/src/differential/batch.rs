//! Many programs in one library, for engines whose compiler is slow: each program is a module, and the main module's one
//! function gives the answers of all.

use super::{Answer, Question, program_text};
use crate::property::{Case, complaints};
use crate::text;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_driver::{Input, Options, Session, Value};
use wengert_interp::View;

/// Programs in a folder of their own.
pub struct Batch {
    folder: PathBuf,
    input: String,
    /// Questions about each program.
    asked: Vec<Vec<Question>>,
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
        let (mut main, mut params, mut args, mut shown) =
            (String::new(), String::new(), Vec::new(), Vec::new());
        for (place, (case, questions)) in cases.iter().enumerate() {
            write(format!("p{place}.wg"), program_text(case, questions))?;
            main.push_str(&format!("import \"p{place}.wg\" as p{place}\n"));
            params.push_str(&format!(" x{place} t{place}"));
            args.extend([case.point.json(), case.tangent.json()]);
            for question in questions {
                let along = if question.along { format!(" t{place}") } else { String::new() };
                shown.push(format!("  show (p{place}.{} x{place}{along})", question.name));
            }
        }
        main.push_str(&format!("\ndef all{params} =\n  [{}]\n", shown.join(",\n").trim_start()));
        write("main.wg".into(), main)?;
        let asked = cases.iter().map(|(_, questions)| questions.clone()).collect();
        Ok(Batch { folder, input: format!("[{}]", args.join(", ")), asked })
    }

    /// The answers of an engine, question by question; nothing if it leaves some to the interpreter.
    pub fn answers(&self, options: &Options) -> Result<Option<Vec<Vec<Answer>>>, String> {
        let input = Input::Text(self.input.clone());
        let run = Session::new().run(&self.folder.join("main.wg"), "all", Some(&input), options);
        let evaluated = run.map_err(|diagnostics| complaints(&diagnostics))?;
        if evaluated.engine != options.engine {
            return Ok(None);
        }
        let mut texts = strings(&evaluated.value).into_iter();
        let answers = |questions: &Vec<Question>| {
            questions.iter().map(|_| Ok(text::unsigned(&texts.next().unwrap_or_default()))).collect()
        };
        Ok(Some(self.asked.iter().map(answers).collect()))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn strings(value: &Value) -> Vec<String> {
    let View::Array(items) = value.view() else { return Vec::new() };
    let text =
        |item: &Value| if let View::String(text) = item.view() { text.to_string() } else { String::new() };
    items.iter().map(text).collect()
}
