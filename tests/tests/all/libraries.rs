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

/// Whether it is refused because of its type, with this line.
fn refused(said: String, entry: &str, line: &str) -> Result<(), String> {
    let head = format!("error[E0828]: `{entry}` cannot be called from C: its type is `");
    if said.starts_with(&head) && said.contains(line) { Ok(()) } else { Err(said) }
}

fn header(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join("out").join(format!("{name}.h"))).unwrap_or_default()
}

#[test]
fn functions_and_declared_types_have_no_form_in_c() {
    let program = "\
type F = F (Real -> Real)
type P = P Real Real
def takes (f : Real -> Real) (x : Real) = f x
def gives (x : Real) = (x, \\y -> x + y)
def gives_many (x : Real) = [\\y -> x + y]
def takes_data (x : Real) (f : F) = x
def gives_data (x : Real) = P x x
def many_data (ps : []P) = 1.0
def many = map
def pair = (sin, 1.0)
";
    let folder = folder_of(program, "");
    let entries = ["takes", "gives", "gives_many", "takes_data", "gives_data", "many_data", "many", "pair"];
    let cases: Vec<(&str, &str)> =
        entries.into_iter().flat_map(|entry| [(entry, ""), (entry, "--jvp --vjp")]).collect();
    parallel::check_all("entries", &cases, |(entry, options)| {
        let why = "= note: a function or a value of a data type has no form in C\n";
        refused(built(&folder, entry, options), entry, why)
    });
    assert!(!folder.join("out").exists(), "nothing is written");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn numbers_of_any_type_are_reals_and_other_types_are_to_be_said() {
    if !has_compiler() {
        return;
    }
    let program = "\
def square x = x * x
def identity x = x
def swap (x, y) = (y, x)
def size xs = length xs
def shown x = show x
def none (x : Real) = []
def larger x y = if x < y then y else x
def third point = point.x + 1.0
";
    let folder = folder_of(program, "");
    let open = ["identity", "swap", "size", "shown", "none", "larger"];
    parallel::check_all("open types", &open, |entry| {
        let help = format!("= help: annotate the parameters of `{entry}`, or its result, with their types\n");
        refused(built(&folder, entry, ""), entry, &help)
    });
    let value = "\n/* square : Real -> Real */\nint square(square_run *run, double x, double *result);\n";
    for options in ["", "--jvp --vjp"] {
        built(&folder, "square", options);
        assert!(header(&folder, "square").contains(value), "{options}: {}", header(&folder, "square"));
    }
    let vjp =
        "(\n    square_run *run, double x, double result_cotangent, double *result, double *x_cotangent);";
    assert!(header(&folder, "square").contains(vjp), "{}", header(&folder, "square"));
    // Of a record that may have other fields, too, it is those that are used.
    built(&folder, "third", "");
    assert!(header(&folder, "third").contains("int third(third_run *run, double point, double *result);"));
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn derivatives_are_of_the_entry_whatever_it_is_called() {
    if !has_compiler() {
        return;
    }
    let program = "\
def x (t : Real) = t ^ 2
def cotangent (jvp : Real) (vjp : Real) = jvp * vjp
";
    let c = "\
#include \"x.h\"
#include \"cotangent.h\"
#include <stdio.h>
int main(void) {
    double value, tangent, other;
    x_run *run = x_open(1 << 26);
    printf(\"%d\", x_jvp(run, 3, 10, &value, &tangent));
    printf(\" %g %g\\n\", value, tangent);
    x_close(run);
    cotangent_run *next = cotangent_open(1 << 26);
    printf(\"%d\", cotangent_vjp(next, 2, 3, 10, &value, &tangent, &other));
    printf(\" %g %g %g\\n\", value, tangent, other);
    cotangent_close(next);
    return 0;
}
";
    let folder = folder_of(program, c);
    let line = "for e in x cotangent; do wengert build all.wg --entry $e -o out --jvp --vjp || exit 1; done > /dev/null \
                && cc -Wall -Wextra -Werror -Iout program.c -o program -Lout -lx -lcotangent -Wl,-rpath,$PWD/out && ./program";
    assert_eq!(shell_in(&folder, line).transcript(), "[stdout]\n0 9 60\n0 6 30 20\n[exit status 0]\n");
    let _ = fs::remove_dir_all(folder);
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

#[test]
fn a_library_makes_long_loops_with_as_many_threads_as_the_command_at_most() {
    if !has_compiler() {
        return;
    }
    let program = "def f (n : Int) = build n (\\i -> sum (build 100 (\\j -> sin (real (i * j)))))\n";
    let c = "\
#include \"f.h\"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    int asked[] = {1, -1, 0, 2147483647, -2147483647 - 1, 3000};
    wengert_reals_1 first, values;
    f_run *run = f_open((uint64_t)1 << 30);
    for (int i = 0; i < 6; i++) {
        f_threads(run, asked[i]);
        if (f(run, 20000, i ? &values : &first)) return 1;
        if (i && memcmp(values.data, first.data, 20000 * sizeof(double))) return 2;
        if (i) free(values.data);
    }
    f_close(run);
    puts(\"the same\");
    return 0;
}
";
    let folder = folder_of(program, c);
    let line = "wengert build all.wg --entry f -o out > /dev/null \
                && cc -Iout program.c -o program -Lout -lf -Wl,-rpath,$PWD/out && ./program";
    assert_eq!(shell_in(&folder, line).transcript(), "[stdout]\nthe same\n[exit status 0]\n");
    assert!(header(&folder, "f").contains("1 at first, and from 1 to 1024,"));
    let _ = fs::remove_dir_all(folder);
}

/// For each number another failure.
const FAILING: &str = "\
type T = A | B Real | C Real Real
def named (xs : [n]Real) (ys : [n]Real) : Real = sum xs + sum ys
def measure t = match t with | A -> 1.0 | B a -> a ^ 2 | C a b -> a * b
def three (xs : [3]Real) : Real = sum xs
def f (which : Int) (n : Int) (xs : []Real) (x : Real) : Real =
  if which == 0 then xs[n]
  else if which == 1 then sum (build n (\\i -> real i))
  else if which == 2 then iterate n (\\y -> y + 1.0) x
  else if which == 3 then sum (map2 (\\a b -> a * b) xs [1.0, 2.0, x])
  else if which == 4 then sum (map2 (\\a b -> a * b) (slice xs 0 n) (slice xs 0 1))
  else if which == 5 then real (truncate x)
  else if which == 6 then sum (slice xs n 7)
  else if which == 7 then sum (taylor n sin x)
  else if which == 8 then real (1 / n)
  else if which == 9 then maximum (slice xs 0 n)
  else if which == 10 then three xs
  else if which == 11 then real (2 ^ n)
  else if which == 12 then named xs (slice xs 0 n)
  else if which == 13 then polygamma n x
  else if which == 14 then fail \"no\"
  else if which == 15 then snd (jvp (\\ys -> sum ys) (xs, slice xs 0 n))
  else snd (jvp measure (if n == 0 then A else B x, C x x))
def main = 0
";

/// Arguments of which each makes `f` fail, as JSON and as C.
const CALLS: &[(i64, i64, &[f64], &str)] = &[
    (0, 1, &[1.0], "1.0"),
    (0, -1, &[1.0, 2.0], "1.0"),
    (1, -1, &[], "1.0"),
    (1, -5, &[], "1.0"),
    (1, 1_000_000_000_000_000, &[], "1.0"),
    (2, -1, &[], "1.0"),
    (3, 0, &[1.0], "1.0"),
    (3, 0, &[1.0, 2.0], "1.0"),
    (4, 2, &[1.0, 2.0], "1.0"),
    (5, 0, &[], "1e300"),
    (5, 0, &[], "-1.25e21"),
    (6, 1, &[1.0], "1.0"),
    (6, 1, &[1.0, 2.0], "1.0"),
    (8, 0, &[], "1.0"),
    (9, 0, &[1.0], "1.0"),
    (10, 0, &[1.0], "1.0"),
    (11, -1, &[1.0], "1.0"),
    (12, 1, &[1.0, 2.0], "1.0"),
    (13, -1, &[1.0, 2.0], "1.0"),
    (14, 0, &[], "1.0"),
    (15, 1, &[1.0, 2.0], "1.0"),
    (16, 0, &[], "1.0"),
    (16, 1, &[], "1.0"),
];

/// A C program that makes all these calls, and those whose arguments JSON does not have.
fn calls() -> String {
    let mut c = String::from(
        "#include \"f.h\"\n#include <math.h>\n#include <stdio.h>\nint main(void) {\n    double value;\n    \
         f_run *run = f_open((uint64_t)1 << 30);\n",
    );
    for (which, n, xs, x) in CALLS {
        let elements: Vec<String> = xs.iter().map(|x| format!("{x:?}")).collect();
        let (elements, size) = (elements.join(", "), xs.len());
        let array = format!(
            "(wengert_reals_1){{(double[]){{{elements}{}}}, {{{size}}}}}",
            if size == 0 { "0" } else { "" }
        );
        c.push_str(&format!("    if (f(run, {which}, {n}, {array}, {x}, &value)) puts(f_message(run));\n"));
    }
    // Of the order of a series a library knows less than the command.
    c.push_str("    if (f(run, 7, -1, (wengert_reals_1){0, {0}}, 1, &value)) puts(f_message(run));\n");
    for x in ["NAN", "-NAN", "INFINITY"] {
        c.push_str(&format!(
            "    if (f(run, 5, 0, (wengert_reals_1){{0, {{0}}}}, {x}, &value)) puts(f_message(run));\n"
        ));
    }
    c.push_str(
        "    if (f(run, 0, 0, (wengert_reals_1){0, {-3}}, 0, &value)) puts(f_message(run));\n    f_close(run);\n    \
         return 0;\n}\n",
    );
    c
}

/// What the command says of that call.
fn said(folder: &Path, (which, n, xs, x): &(i64, i64, &[f64], &str)) -> String {
    let line = format!("wengert run all.wg --entry f --engine interp --input '[{which}, {n}, {xs:?}, {x}]'");
    let ran = shell_in(folder, &line);
    let message =
        ran.stderr.lines().next().and_then(|line| line.split_once("]: ")).map(|(_, message)| message);
    let place = ran.stderr.lines().find_map(|line| line.trim().strip_prefix("--> "));
    message.zip(place).map_or(ran.transcript(), |(message, place)| format!("{place}: {message}"))
}

#[test]
fn failures_of_a_library_are_in_the_words_of_the_command() {
    if !has_compiler() {
        return;
    }
    let folder = folder_of(FAILING, &calls());
    let line = "wengert build all.wg --entry f -o out > /dev/null \
                && cc -Wall -Wextra -Werror -Iout program.c -o program -Lout -lf -Wl,-rpath,$PWD/out && ./program";
    let found = shell_in(&folder, line).transcript();
    let expected = parallel::map(CALLS, |call| said(&folder, call)).join("\n");
    let others = "\
all.wg:13:32: an order of `taylor` that is negative or beyond all measure
all.wg:11:33: `truncate NaN`: NaN is not a number
all.wg:11:33: `truncate NaN`: NaN is not a number
all.wg:11:33: `truncate Infinity`: Infinity is outside the range of `Int`
`xs` has the size -3 along axis 0: a size must be 0 or more
";
    assert_eq!(found, format!("[stdout]\n{expected}\n{others}[exit status 0]\n"));
    let _ = fs::remove_dir_all(folder);
}
