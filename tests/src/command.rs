//! Builds the `wengert` program once and runs it.
//!
//! Cargo hands a test only the programs of its own package, and the command is another package. So the first use asks
//! the very cargo that runs this test to build it, into the same build folder and profile; when nothing has
//! changed that takes a fraction of a second.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a program may run before the test calls it a hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit status; 128 and the number of the signal if a signal ended it, as in a shell.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// Standard output without its last line end, if all went well.
    pub fn value(&self) -> Result<String, String> {
        if self.status == 0 {
            Ok(self.stdout.strip_suffix('\n').unwrap_or(&self.stdout).to_string())
        } else {
            Err(format!("exit status {}\n{}{}", self.status, self.stdout, self.stderr))
        }
    }

    /// The same without the note that the interpreter did what another engine was asked to do.
    pub fn without_note(mut self) -> Ran {
        if let Some(start) = self.stderr.find("warning[E0830]") {
            let rest = self.stderr.split_off(start);
            self.stderr.extend(rest.split_once("\n\n").map(|(_, rest)| rest));
        }
        self
    }

    /// Both streams, errors first, and the exit status: what a golden text holds.
    pub fn transcript(&self) -> String {
        let mut text = self.stderr.clone();
        if !self.stdout.is_empty() {
            text.push_str("[stdout]\n");
            text.push_str(&self.stdout);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[exit status {}]\n", self.status));
        text
    }
}

/// The folder of the build that this test belongs to, for example `target/debug`.
pub fn build_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let this = std::env::current_exe().expect("a running test has a path");
        let folder = this.parent().expect("a program lies in a folder");
        let profile =
            if folder.ends_with("deps") { folder.parent().expect("deps has a parent") } else { folder };
        profile.to_path_buf()
    })
}

/// The `wengert` program, built if need be.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("wengert"))
}

/// A program of this project, built. Both packages with programs are asked for, for one alone would choose other features of
/// what they depend on, and most of the project would be compiled once more.
fn built(program: &str) -> PathBuf {
    let folder = build_folder();
    let target = folder.parent().expect("a profile's folder lies in the build folder");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(other) => other,
    };
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--offline", "-p", "wengert-cli", "-p", "wengert-gradbench"])
        .args(["--bin", program, "--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .current_dir(crate::project::root())
        .output()
        .expect("cargo runs, for it runs this test");
    assert!(output.status.success(), "cannot build {program}: {}", String::from_utf8_lossy(&output.stderr));
    folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX))
}

/// Runs the tool for GradBench with these arguments in the root of the project, with `input` on standard input.
pub fn gradbench(arguments: &[&str], input: &str) -> Ran {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(BINARY.get_or_init(|| built("wengert-gradbench")));
    command.args(arguments);
    run(command, crate::project::root(), input)
}

/// Runs `wengert` with these arguments in the root of the project.
pub fn wengert(arguments: &[&str]) -> Ran {
    wengert_in(crate::project::root(), arguments, "")
}

/// Runs `wengert` with these arguments in a folder, with `input` on standard input.
pub fn wengert_in(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut command = Command::new(binary());
    command.args(arguments);
    run(command, folder, input)
}

/// Runs a line of shell in a folder where `wengert` is the program under test, standard error joined to the output.
pub fn shell_in(folder: &Path, line: &str) -> Ran {
    let mut command = Command::new("sh");
    let programs = binary().parent().expect("a program lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    command.arg("-c").arg(line).env("PATH", format!("{}:{path}", programs.display()));
    run(command, folder, "")
}

fn run(mut command: Command, folder: &Path, input: &str) -> Ran {
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    if std::env::var_os("WENGERT_CACHE").is_none() {
        command.env("WENGERT_CACHE", build_folder().join("libraries"));
    }
    let mut child = command.spawn().expect("the program can be started");
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    std::thread::scope(|scope| {
        let out = scope.spawn(|| read_all(stdout));
        let err = scope.spawn(|| read_all(stderr));
        if let Some(mut stdin) = stdin {
            // A program that does not read its input closes the pipe; that is its right.
            let _ = stdin.write_all(input.as_bytes());
        }
        let status = wait(&mut child);
        let stdout = out.join().expect("reading does not panic");
        let stderr = err.join().expect("reading does not panic");
        Ran { status, stdout, stderr }
    })
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What arrived before an error is what there is to compare.
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn wait(child: &mut Child) -> i32 {
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return status.code().unwrap_or_else(|| 128 + signal(&status));
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the program still ran after {} s", PATIENCE.as_secs());
        }
        let pause = if start.elapsed() < Duration::from_millis(200) { 1 } else { 10 };
        std::thread::sleep(Duration::from_millis(pause));
    }
}

#[cfg(unix)]
fn signal(status: &std::process::ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(status).unwrap_or(0)
}

#[cfg(not(unix))]
fn signal(_: &std::process::ExitStatus) -> i32 {
    0
}
