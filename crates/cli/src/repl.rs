//! The terminal side of the interactive mode: line editing, history, completion, Ctrl-C. What inputs mean is in
//! [`wengert_driver::Repl`]. Input that does not come from a terminal is read line by line, without prompts.

use crate::args::{EngineArg, LimitArgs, When};
use crate::commands::run::options;
use crate::output::{AT_FAULT, FINE, USAGE, error_style, print_text, report};
use crate::progress::Progress;
use rustyline::completion::{Completer, Pair};
use rustyline::config::CompletionType;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use wengert_base::SourceMap;
use wengert_driver::render::Style;
use wengert_driver::{Engine, Options, Repl, Reply, is_incomplete};

const PROMPT: &str = "wengert> ";

/// `wengert repl [FILE]`
pub(crate) fn repl(
    file: Option<&Path>,
    limits: LimitArgs,
    engine: EngineArg,
    color: When,
    style: Style,
) -> io::Result<u8> {
    if let Err(error) = Engine::from(engine).require() {
        report(&SourceMap::new(), &[error], style)?;
        return Ok(USAGE);
    }
    let options = Options { engine: engine.into(), ..options(&limits) };
    let mut conversation = Repl::new(options.clone(), error_style(color));
    let mut failed = false;
    if let Some(file) = file {
        failed = say(&conversation.answer(&format!(":load {}", file.display())))?;
    }
    if io::stdin().is_terminal() {
        in_terminal(conversation, &options)?;
        return Ok(FINE);
    }
    failed |= from_pipe(&mut conversation, &options)?;
    Ok(if failed { AT_FAULT } else { FINE })
}

/// Shows an answer; whether something was wrong.
fn say(reply: &Reply) -> io::Result<bool> {
    print_text(&reply.output)?;
    io::stderr().lock().write_all(reply.errors.as_bytes())?;
    Ok(reply.failed)
}

/// Inputs are lines, joined as long as they are incomplete; an empty line ends an input in any case. After an arm of a
/// `match` the next line decides: with another arm it belongs to the input.
fn from_pipe(conversation: &mut Repl, options: &Options) -> io::Result<bool> {
    let mut failed = false;
    let mut pending = String::new();
    let mut lines = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let ended = lines.read_until(b'\n', &mut line)? == 0;
        let line = String::from_utf8_lossy(&line);
        let mut quit = false;
        if ends_with_arm(&pending) && !begins_arm(&line) {
            let reply = answer(conversation, &std::mem::take(&mut pending), options);
            quit = reply.quit;
            failed |= say(&reply)?;
        }
        pending.push_str(&line);
        let open = !ended && !line.trim().is_empty() && (waits_for_more(&pending) || ends_with_arm(&pending));
        if !open && !quit {
            let reply = answer(conversation, &std::mem::take(&mut pending), options);
            quit = reply.quit;
            failed |= say(&reply)?;
        }
        if ended || quit {
            return Ok(failed);
        }
    }
}

fn begins_arm(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('|') && !line.starts_with("|>") && !line.starts_with("||")
}

/// Whether the last of several lines begins with an arm of a `match`, so that another arm may follow.
fn ends_with_arm(text: &str) -> bool {
    text.trim_end().rsplit_once('\n').is_some_and(|(_, last)| begins_arm(last))
}

/// Answers an input, with a sign of life if that takes long. Ctrl-C ends the evaluation and nothing else.
fn answer(conversation: &mut Repl, text: &str, options: &Options) -> Reply {
    let progress = Progress::start(options);
    let reply = conversation.answer(text);
    progress.finish();
    options.interrupt.store(false, Ordering::SeqCst);
    reply
}

fn waits_for_more(text: &str) -> bool {
    !text.trim_start().starts_with(':') && is_incomplete(text)
}

fn in_terminal(conversation: Repl, options: &Options) -> io::Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(10_000);
    let config = config.map_err(io::Error::other)?.auto_add_history(true).build();
    let mut editor: Editor<Prompting, FileHistory> = Editor::with_config(config).map_err(io::Error::other)?;
    let conversation = Rc::new(RefCell::new(conversation));
    editor.set_helper(Some(Prompting { conversation: conversation.clone() }));
    let history = history_file();
    if let Some(history) = &history {
        // On the first day there is no history.
        let _ = editor.load_history(history);
    }
    print_text(concat!("Wengert ", env!("CARGO_PKG_VERSION"), ". Type :help for help, :quit to leave.\n"))?;
    loop {
        match editor.readline(PROMPT) {
            Ok(line) => {
                let reply = answer(&mut conversation.borrow_mut(), &line, options);
                say(&reply)?;
                if reply.quit {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => print_text("(:quit or Ctrl-D to leave)\n")?,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    if let Some(history) = history {
        save(&mut editor, &history)?;
    }
    Ok(())
}

fn save(editor: &mut Editor<Prompting, FileHistory>, history: &Path) -> io::Result<()> {
    let folder = history.parent().unwrap_or(Path::new("."));
    let saved = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
    if let Err(why) = saved.and_then(|()| editor.save_history(history).map_err(|error| error.to_string())) {
        writeln!(io::stderr(), "wengert: the history could not be kept in {}: {why}", history.display())?;
    }
    Ok(())
}

/// Where the history is kept: in the user's folder for data, as the system has it.
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    Some(data?.join("wengert").join("history"))
}

/// What the line editor asks about the text being typed.
struct Prompting {
    conversation: Rc<RefCell<Repl>>,
}

impl Helper for Prompting {}

impl Hinter for Prompting {
    type Hint = String;
}

impl Highlighter for Prompting {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _default: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\u{1b}[1;32m{prompt}\u{1b}[0m"))
    }
}

impl Validator for Prompting {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        // An empty line ends the input even if something is missing, so that the message about it can be seen.
        let insists = text.ends_with('\n');
        Ok(if !insists && (waits_for_more(text) || ends_with_arm(text)) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Prompting {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or("");
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'');
        let start = before
            .rfind(|c| !word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let prefix = before.get(start..).unwrap_or("");
        let conversation = self.conversation.borrow();
        let pairs = conversation.complete(before.get(..start).unwrap_or(""), prefix);
        let pairs = pairs.into_iter().map(|(name, ty)| {
            let display = if ty.is_empty() { name.clone() } else { format!("{name} : {ty}") };
            Pair { display, replacement: name }
        });
        Ok((start, pairs.collect()))
    }
}
