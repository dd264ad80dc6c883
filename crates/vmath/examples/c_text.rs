//! Prints the C text.
#![expect(clippy::print_stdout, reason = "it is a program")]

fn main() {
    print!("{}", wengert_vmath::c_source());
}
