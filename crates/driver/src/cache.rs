//! The folder in which machine code is kept, for every engine: its place, its size, and what is done against broken files.
//!
//! The code generator's own code is kept in files whose names are made of all that it depends on: the part of the program that is
//! needed, with the places of its expressions, this very program file, the processor and the options. A file has a mark, its
//! length and a checksum; what does not agree is as if it were not there. New files are written under names of their own and then
//! renamed, so that several programs may do this at once.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The folder may be so large.
const LARGEST: u64 = 256 << 20;
/// Files that nobody has finished are removed after so long.
const FORGOTTEN: Duration = Duration::from_secs(3600);
/// What stands at the beginning of a file of machine code.
const BEGIN: &[u8; 8] = b"wengert2";

/// The name of what depends on this value.
pub(crate) fn key(of: &impl Hash) -> u128 {
    let program = std::env::current_exe().and_then(fs::metadata).ok();
    let program = program.map(|data| (data.len(), data.modified().ok()));
    let half = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, env!("CARGO_PKG_VERSION"), &program, machine()).hash(&mut hasher);
        of.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

fn file(folder: &Path, key: u128) -> PathBuf {
    folder.join(format!("{key:032x}.code"))
}

/// What was kept under that name.
pub(crate) fn load(key: u128) -> Option<Vec<u8>> {
    let path = file(&cache_folder()?, key);
    let mut bytes = fs::read(&path).ok()?;
    let (begin, rest) = bytes.split_first_chunk::<24>()?;
    let mut expected = BEGIN.to_vec();
    expected.extend((rest.len() as u64).to_le_bytes());
    expected.extend(checksum(rest).to_le_bytes());
    if begin.as_slice() != expected {
        return None;
    }
    if let Ok(file) = File::options().append(true).open(&path) {
        // It was used now.
        let _ = file.set_modified(SystemTime::now());
    }
    bytes.drain(..24);
    Some(bytes)
}

/// Keeps bytes under that name, if files can be made.
pub(crate) fn store(key: u128, bytes: &[u8]) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let Some(folder) = cache_folder() else { return };
    let own = format!("{}-{}.tmp.code", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let (path, new) = (file(&folder, key), folder.join(own));
    let mut all = BEGIN.to_vec();
    all.extend((bytes.len() as u64).to_le_bytes());
    all.extend(checksum(bytes).to_le_bytes());
    all.extend(bytes);
    if fs::write(&new, all).and_then(|()| fs::rename(&new, &path)).is_err() {
        let _ = fs::remove_file(&new);
        return;
    }
    evict(&folder, &format!("{key:032x}"));
}

/// What the machine code depends on beside the compiler: the features of the processor that matter.
pub(crate) fn machine() -> String {
    let mut machine = std::env::consts::ARCH.to_string();
    #[cfg(target_arch = "x86_64")]
    for (name, has) in [
        ("sse3", std::arch::is_x86_feature_detected!("sse3")),
        ("ssse3", std::arch::is_x86_feature_detected!("ssse3")),
        ("sse4.1", std::arch::is_x86_feature_detected!("sse4.1")),
        ("sse4.2", std::arch::is_x86_feature_detected!("sse4.2")),
        ("popcnt", std::arch::is_x86_feature_detected!("popcnt")),
        ("lzcnt", std::arch::is_x86_feature_detected!("lzcnt")),
        ("bmi1", std::arch::is_x86_feature_detected!("bmi1")),
        ("avx", std::arch::is_x86_feature_detected!("avx")),
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("bmi2", std::arch::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
        ("avx512vl", std::arch::is_x86_feature_detected!("avx512vl")),
        ("avx512dq", std::arch::is_x86_feature_detected!("avx512dq")),
        ("avx512vbmi", std::arch::is_x86_feature_detected!("avx512vbmi")),
        ("avx512bitalg", std::arch::is_x86_feature_detected!("avx512bitalg")),
        ("avx512vnni", std::arch::is_x86_feature_detected!("avx512vnni")),
        ("avx512vp2intersect", std::arch::is_x86_feature_detected!("avx512vp2intersect")),
    ] {
        if has {
            machine.push(' ');
            machine.push_str(name);
        }
    }
    machine
}

/// `$WENGERT_CACHE`, `$XDG_CACHE_HOME/wengert` or `~/.cache/wengert`, if files can be made there.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("WENGERT_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("wengert")))
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("wengert")))?;
    make_private(&folder).ok()?;
    Some(folder)
}

/// Makes a folder in which only this user can put files.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let probe = folder.join(format!(".{}", std::process::id()));
    File::create(&probe)?;
    fs::remove_file(probe)
}

pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Removes the files that were not used for longest until the folder is small enough, and what was left unfinished.
pub(crate) fn evict(folder: &Path, keep: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(data) = entry.metadata() else { continue };
        let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if name.contains(".tmp.") {
            if used.elapsed().is_ok_and(|age| age > FORGOTTEN) {
                let _ = fs::remove_file(entry.path());
            }
        } else if data.is_file() {
            files.push((used, name, data.len()));
        }
    }
    files.sort();
    let mut size: u64 = files.iter().map(|(_, _, size)| size).sum();
    for (_, name, bytes) in files {
        if size <= LARGEST {
            return;
        }
        if !name.starts_with(keep) && fs::remove_file(folder.join(name)).is_ok() {
            size -= bytes;
        }
    }
}
