//! The system's C compiler, and what it has made before.
//!
//! A library is kept in a folder of the user's cache under a name made of the C text, the compiler and its options. Beside it
//! lies the text, and behind its last byte stand its length and a checksum: what does not agree is made anew. New files are
//! written under names of their own and then renamed, so that several programs may do this at once. When the folder has
//! grown too large, the files that were not used for longest go.

use crate::cache::{cache_folder, checksum, evict, machine, make_private};
use crate::errors;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wengert_base::Diagnostic;

/// What stands behind the last byte of a library, before its length and checksum.
const MARK: &[u8; 8] = b"wengert1";

/// Options of the compiler for every library.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-march=native",
    "-fwrapv",
    "-ffp-contract=off",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-optimize-sibling-calls",
    // What these two look for was found before; in long functions they take a quarter of the compiler's time.
    "-fno-gcse",
    "-fno-gcse-after-reload",
    "-fvisibility=hidden",
    "-fPIC",
    "-pthread",
    "-shared",
    "-w",
];

/// Texts up to so many bytes are worth all that the compiler can do; longer ones would take minutes.
const LONG: usize = 400_000;

/// Of texts of more bytes than this the small functions that they call most stay functions: that halves the time.
const HUGE: u64 = 2_000_000;

/// What follows the file.
const LIBRARIES: &[&str] = &["-lm"];

/// A compiler.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    program: PathBuf,
    arguments: Vec<String>,
}

/// A shared library in a file.
pub(crate) struct Library {
    path: PathBuf,
    /// A folder that goes with it, if there is no cache.
    temporary: Option<PathBuf>,
}

impl Library {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl Compiler {
    /// The compiler that `CC` names, else `cc`, `gcc` or `clang`.
    pub(crate) fn find() -> Result<Compiler, Diagnostic> {
        if let Some(named) = std::env::var_os("CC").filter(|named| !named.is_empty()) {
            let named = named.to_string_lossy().into_owned();
            let mut words = named.split_whitespace();
            let program = words.next().and_then(in_path);
            let arguments = words.map(str::to_string).collect();
            return program
                .map(|program| Compiler { program, arguments })
                .ok_or_else(|| errors::no_compiler(Some(&named)));
        }
        let found = ["cc", "gcc", "clang"].into_iter().find_map(in_path);
        found
            .map(|program| Compiler { program, arguments: Vec::new() })
            .ok_or_else(|| errors::no_compiler(None))
    }

    /// The library of a C text; from the cache, if it is there.
    pub(crate) fn library(&self, text: &str) -> Result<Library, Diagnostic> {
        let name = format!("{:032x}", self.key(text));
        let Some(folder) = cache_folder() else {
            let folder = temporary_folder().map_err(|error| errors::compiler_failed(&error.to_string()))?;
            let path = folder.join("program.so");
            let library = Library { path: path.clone(), temporary: Some(folder.clone()) };
            self.compile(text, &folder.join("program.c"), &path)?;
            return Ok(library);
        };
        let (path, source) = (folder.join(format!("{name}.so")), folder.join(format!("{name}.c")));
        if !is_whole(&path, &source, text) {
            self.add(text, &path, &source)?;
            evict(&folder, &name);
        } else if let Ok(file) = File::options().append(true).open(&path) {
            // It was used now.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(Library { path, temporary: None })
    }

    /// Compiles a file to a given place, for good.
    pub(crate) fn build(&self, source: &Path, library: &Path) -> Result<(), Diagnostic> {
        self.run(source, library)
    }

    fn key(&self, text: &str) -> u128 {
        let version = fs::metadata(&self.program).ok();
        let version = version.map(|data| (data.len(), data.modified().ok()));
        let half = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            let options = (FLAGS, LIBRARIES, env!("CARGO_PKG_VERSION"), machine());
            (seed, text, &self.program, &self.arguments, version, options).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    /// Makes a library in the cache.
    fn add(&self, text: &str, path: &Path, source: &Path) -> Result<(), Diagnostic> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let own = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let new = |ending: &str| path.with_extension(format!("{own}.tmp.{ending}"));
        let (new_source, new_library) = (new("c"), new("so"));
        let done = self.compile(text, &new_source, &new_library).and_then(|()| {
            let finish = || -> io::Result<()> {
                let mut bytes = fs::read(&new_library)?;
                let (length, sum) = (bytes.len() as u64, checksum(&bytes));
                bytes.extend(MARK);
                bytes.extend(length.to_le_bytes());
                bytes.extend(sum.to_le_bytes());
                fs::write(&new_library, bytes)?;
                fs::rename(&new_library, path)?;
                fs::rename(&new_source, source)
            };
            finish().map_err(|error| errors::compiler_failed(&error.to_string()))
        });
        if done.is_err() {
            let _ = (fs::remove_file(&new_source), fs::remove_file(&new_library));
        }
        done
    }

    fn compile(&self, text: &str, source: &Path, library: &Path) -> Result<(), Diagnostic> {
        fs::write(source, text).map_err(|error| errors::compiler_failed(&error.to_string()))?;
        self.run(source, library)
    }

    fn run(&self, source: &Path, library: &Path) -> Result<(), Diagnostic> {
        let length = fs::metadata(source).map_or(0, |data| data.len());
        let long = length > LONG as u64;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .args(FLAGS)
            .arg(if long { "-O1" } else { "-O3" })
            .args((length > HUGE).then_some("-DWG_HUGE"))
            .arg("-o")
            .arg(library)
            .arg(source)
            .args(LIBRARIES)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (success, said) =
            finished(&mut command).map_err(|error| errors::compiler_failed(&error.to_string()))?;
        if success {
            return Ok(());
        }
        let said: Vec<&str> = said.lines().take(8).collect();
        Err(errors::compiler_failed(&said.join("\n")))
    }
}

/// Runs a program until it is done, or nobody waits for it any more: whether it succeeded, and what it said of errors.
fn finished(command: &mut Command) -> io::Result<(bool, String)> {
    // A compiler is several processes, which are to end together.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        // What cannot be read was not said.
        let _ = errors.as_mut().map(|errors| errors.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.success(), reader.join().unwrap_or_default()));
        }
        if wengert_engine::is_asked() {
            let group = format!("-{}", child.id());
            // Whatever has ended by itself meanwhile need not be ended.
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
            let _ = child.kill();
            child.wait()?;
            return Ok((false, "it was stopped".into()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The file of a program: a path, or a name in one of the folders of `PATH`.
fn in_path(name: &str) -> Option<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn temporary_folder() -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("wengert-{}-{number}", std::process::id()));
    make_private(&folder)?;
    Ok(folder)
}

/// Whether a library is complete and was made of this text.
fn is_whole(path: &Path, source: &Path, text: &str) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    let Some((code, tail)) = bytes.len().checked_sub(24).map(|length| bytes.split_at(length)) else {
        return false;
    };
    let mut expected = MARK.to_vec();
    expected.extend((code.len() as u64).to_le_bytes());
    expected.extend(checksum(code).to_le_bytes());
    tail == expected && fs::read(source).is_ok_and(|made_of| made_of == text.as_bytes())
}
