//! Runs the built program in a folder of its own.

#![expect(clippy::unwrap_used, reason = "this is part of the tests")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that exists as long as the test runs.
pub(crate) struct Folder {
    path: PathBuf,
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status.
    pub(crate) status: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

static FOLDERS: AtomicU32 = AtomicU32::new(0);

impl Folder {
    /// A fresh folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wengert-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder { path };
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Reads a file in it.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap()
    }

    /// The command, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
        command.args(arguments).current_dir(&self.path).env("NO_COLOR", "1").env("XDG_DATA_HOME", &self.path);
        command
    }

    /// Runs the program with nothing on standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs the program with `input` on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that does not read its input may close it early.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            status: output.status.code().expect("no signal ends the program"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind is no failure of the program.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

impl Ran {
    /// The output of a run that went well.
    #[track_caller]
    pub(crate) fn value(&self) -> &str {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "stdout: {}", self.stdout);
        self.stdout.strip_suffix('\n').expect("the output ends with a newline")
    }

    /// Asserts the exit status and that standard error holds all of `parts`.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in:\n{}", self.stderr);
        }
    }
}
