//! Machine code that is kept on disk: made once, never used when it is broken, by several processes at once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use wengert_tests::command::shell_in;
use wengert_tests::goldens::mode;
use wengert_tests::{parallel, project};

const PROGRAM: &str = "\
type List a = Nil | Cons a (List a)
def total (xs : List Real) : Real = match xs with | Nil -> 0.0 | Cons x rest -> sin x + total rest
def slope (point : {name : String, xs : []Real}) =
  let f xs = fold (\\sum x -> sum + total (Cons x (Cons (x * x) Nil))) 0.0 xs
  in {gradient = grad f point.xs, name = point.name ++ \"!\", third = point.xs[2]}
";

const RUN: &str = "WENGERT_CACHE=./cache wengert run program.wg --entry slope --engine native --strict";
const GOOD: &str = r#"--input '[{"name": "λ", "xs": [0.5, 1.5, 2.5]}]'"#;
const SHORT: &str = r#"--input '[{"name": "λ", "xs": [0.5, 1.5]}]'"#;

/// A new folder with the program in it.
fn folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("wengert-kept-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    fs::write(folder.join("program.wg"), PROGRAM).expect("there is room");
    folder
}

/// The kept files, each with what tells whether it was made anew.
fn kept(folder: &Path) -> Vec<(PathBuf, u64)> {
    let files = fs::read_dir(folder.join("cache")).into_iter().flatten().flatten();
    let mut kept: Vec<(PathBuf, u64)> = files
        .map(|file| (file.path(), file.metadata().expect("it is there").ino()))
        .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "code"))
        .collect();
    kept.sort();
    kept
}

fn run(folder: &Path, input: &str) -> String {
    shell_in(folder, &format!("{RUN} {input}")).transcript()
}

#[test]
fn machine_code_is_made_once() {
    let folder = folder();
    let interpreted =
        shell_in(&folder, &format!("wengert run program.wg --entry slope --engine interp {GOOD}"));
    let good = run(&folder, GOOD);
    assert_eq!(good, interpreted.transcript());
    let made = kept(&folder);
    assert_eq!(made.len(), 1);
    assert_eq!(run(&folder, GOOD), good);
    // What fails is reported where it stands in the source.
    let short = run(&folder, SHORT);
    assert!(short.contains("E0701") && short.contains("program.wg:5:"), "{short}");
    assert_eq!(kept(&folder), made, "a program that was compiled before is compiled again");
    for option in ["--without cse", "--threads 2"] {
        assert_eq!(run(&folder, &format!("{GOOD} {option}")), good, "{option}");
    }
    assert_eq!(kept(&folder).len(), 2, "other passes make other code, other threads do not");
    // The same definitions at other places.
    fs::write(folder.join("program.wg"), format!("-- a remark\n{PROGRAM}")).expect("there is room");
    assert_eq!(run(&folder, GOOD), good);
    assert!(run(&folder, SHORT).contains("program.wg:6:"));
    assert_eq!(kept(&folder).len(), 3);
    let _ = fs::remove_dir_all(folder);
}

/// The most threads that a run of a long loop has, of which so many may make it.
#[cfg(target_os = "linux")]
fn most_threads(folder: &Path, threads: usize) -> usize {
    let loops = "def total (n : Int) : Real = sum (map (\\i -> sin (real i)) (iota n))\n";
    fs::write(folder.join("loops.wg"), loops).expect("there is room");
    let count = threads.to_string();
    let args = ["run", "loops.wg", "--entry", "total", "--input", "[100000000]", "--engine", "native"];
    let mut command = std::process::Command::new(wengert_tests::command::binary());
    command.current_dir(folder).env("WENGERT_CACHE", "./cache").args(args).args(["--threads", &count]);
    let mut run = command.stdout(std::process::Stdio::null()).spawn().expect("it runs");
    let tasks = PathBuf::from(format!("/proc/{}/task", run.id()));
    let mut most = 0;
    while run.try_wait().expect("it is there").is_none() {
        most = most.max(fs::read_dir(&tasks).map_or(0, Iterator::count));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    most
}

#[test]
#[cfg(target_os = "linux")]
fn kept_code_runs_with_as_many_threads() {
    let folder = folder();
    let made = most_threads(&folder, 3);
    let alone = most_threads(&folder, 1);
    assert_eq!(kept(&folder).len(), 1);
    assert_eq!(made, alone + 2);
    assert_eq!(most_threads(&folder, 3), made);
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_broken_file_is_made_anew() {
    let folder = folder();
    let good = run(&folder, GOOD);
    let (path, _) = kept(&folder).pop().expect("the code is kept");
    let whole = fs::read(&path).expect("it is a file");
    let mut broken: Vec<Vec<u8>> =
        vec![Vec::new(), b"no code".to_vec(), [&whole, b"more".as_slice()].concat()];
    for place in (0..24).chain((24..whole.len()).step_by(whole.len() / 24)) {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        broken.push(flipped);
        broken.push(whole[..place].to_vec());
    }
    for bytes in broken {
        fs::write(&path, &bytes).expect("it is a file");
        assert_eq!(run(&folder, GOOD), good, "{} bytes", bytes.len());
        assert!(fs::read(&path).expect("it is a file") == whole, "the file is whole again");
    }
    let many: Vec<usize> = (0..12).collect();
    let _ = fs::remove_dir_all(folder.join("cache"));
    parallel::check_all("processes at once", &many, |_| {
        let found = run(&folder, GOOD);
        if found == good { Ok(()) } else { Err(found) }
    });
    assert_eq!(fs::read_dir(folder.join("cache")).map_or(0, Iterator::count), 1, "nothing unfinished stays");
    // Where nothing can be kept it does no harm.
    let line = format!("{RUN} {GOOD}").replace("./cache", "/dev/null/cache");
    assert_eq!(shell_in(&folder, &line).transcript(), good);
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn kept_code_fails_in_the_same_words_at_the_same_place() {
    let folder = folder();
    let cache = folder.join("cache");
    let evals = |path: &PathBuf| mode(path).is_some_and(|mode| mode.starts_with("eval"));
    let programs: Vec<PathBuf> = project::files("tests/errors", "wg").into_iter().filter(evals).collect();
    parallel::check_all("wrong programs", &programs, |path| {
        let text = mode(path).unwrap_or_default();
        let (text, place) = (text.strip_prefix("eval ").unwrap_or_default(), path.parent());
        let quoted = text.replace('\'', "'\\''");
        let line = format!(
            "WENGERT_CACHE='{}' wengert eval '{quoted}' --file '{}' --engine native --max-memory 256M",
            cache.display(),
            path.display()
        );
        let [first, second] = [0, 1].map(|_| shell_in(place.unwrap_or(path), &line).transcript());
        if first == second { Ok(()) } else { Err(format!("{first}\nthen\n{second}")) }
    });
    let _ = fs::remove_dir_all(folder);
}
