//! `wengert build`: which definitions have a form in C, what all is called there, and what failures say.
//!
//! Without a C compiler on the machine these tests pass, as those of the engine `c` do.

use crate::engine_c::{folder, has_compiler};
use std::fs;
use std::path::{Path, PathBuf};
use wengert_tests::command::shell_in;
use wengert_tests::parallel;

/// A new folder with a program, and perhaps a C program.
fn folder_of(program: &str, c: &str) -> PathBuf {
    let folder = folder("libraries");
    for (name, text) in [("all.wg", program), ("program.c", c)] {
        fs::write(folder.join(name), text).expect("there is room");
    }
    folder
}

/// What `wengert build` says of an entry of the program in a folder.
fn built(folder: &Path, entry: &str, options: &str) -> String {
    shell_in(folder, &format!("wengert build all.wg --entry {entry} -o out {options}")).transcript()
}

fn header(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join("out").join(format!("{name}.h"))).unwrap_or_default()
}

#[test]
fn parameters_may_be_called_as_others_of_a_derivative_are() {
    if !has_compiler() {
        return;
    }
    let program = "\
def f (x : Real) (x_tangent : Real) (result : Real) (result_tangent : Real) (x_cotangent : Real) = \
  x * x_tangent * result * result_tangent * x_cotangent
";
    let folder = folder_of(program, "#include \"f.h\"\n");
    let line = "wengert build all.wg --entry f -o out --jvp --vjp && cc -Wall -Wextra -Werror -Iout -fsyntax-only program.c";
    assert_eq!(
        shell_in(&folder, line).transcript(),
        "[stdout]\nout/libf.so\nout/f.h\nout/f.c\n[exit status 0]\n"
    );
    let value = "double result, double result_tangent,\n    double x_cotangent, double *result_2);";
    assert!(header(&folder, "f").contains(value), "{}", header(&folder, "f"));
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn macros_and_words_of_cpp_are_no_names_of_parameters() {
    if !has_compiler() {
        return;
    }
    let program = "\
def f (linux : Real) (unix : Real) (math_errhandling : Real) (stdin : []Real) (class : Real) (new : Real) = \
  sum (map (\\template -> template * linux) stdin) + unix * math_errhandling * class / new
def texts (arguments : String) (results : String) (failed : String) (no_memory : String) (wengert_reals_1 : []Real) = \
  (arguments ++ results ++ failed ++ no_memory, wengert_reals_1)
";
    let folder = folder_of(program, "#include <stdio.h>\n#include \"f.h\"\n#include \"texts.h\"\n");
    let run = "wengert run all.wg --entry f --engine c --input '[2, 3, 4, [1, 2], 5, 6]'";
    assert_eq!(shell_in(&folder, run).value().as_deref(), Ok("16.0"));
    let line = "for e in f texts; do wengert build all.wg --entry $e -o out > /dev/null || exit 1; done; \
                cc -Wall -Wextra -Werror -std=gnu11 -Iout -fsyntax-only program.c \
                && if command -v c++ > /dev/null; then c++ -Wall -Wextra -Werror -Iout -fsyntax-only -x c++ program.c; fi";
    assert_eq!(shell_in(&folder, line).transcript(), "[exit status 0]\n");
    let head = "double linux_2, double unix_2, double math_errhandling_2, wengert_reals_1 stdin_2,\n    double class_2, double new_2";
    assert!(header(&folder, "f").contains(head), "{}", header(&folder, "f"));
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn entries_with_names_of_the_c_library_get_others() {
    if !has_compiler() {
        return;
    }
    let names = ["sin", "y1", "index", "free", "printf", "write", "pthread_create", "mq", "new"];
    let defs = names.map(|name| format!("def {name} (x : Real) = 2.0 * x\n")).concat();
    let folder = folder_of(&format!("{defs}def wengert_reals_1 (xs : []Real) = sum xs\n"), "");
    parallel::check_all("names", &names, |name| {
        let said = built(&folder, name, "");
        let expected =
            format!("[stdout]\nout/lib{name}_2.so\nout/{name}_2.h\nout/{name}_2.c\n[exit status 0]\n");
        if said == expected { Ok(()) } else { Err(said) }
    });
    let said = built(&folder, "wengert_reals_1", "");
    assert!(said.contains("out/v_wengert_reals_1.h\n"), "{said}");
    let _ = fs::remove_dir_all(folder);
}
