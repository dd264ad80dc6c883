//! How arrays are made.

#[test]
fn rows_of_zeros_are_made_at_once() {
    let text = "func f(n: Int) -> ([][]Real, [][]Real) {
            row = replicate(n, 0.0)
            a = replicate(n, row)
            one = replicate(n, 1.0)
            b = replicate(n, one)
            return a, b
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    assert_eq!(loops.matches("zero_words(").count(), 2, "{loops}");
    assert_eq!(loops.matches("for ").count(), 2, "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    let compiled =
        crate::Compiled::with_math(program, crate::Math::Strict, 1 << 30, std::sync::Arc::default());
    let made =
        compiled.expect("it compiles").call(entry, &[wengert_ir::eval::Value::Int(2)]).expect("it runs");
    let shown: Vec<String> = made.iter().map(|value| format!("{value:?}")).collect();
    let (zeros, ones) = (shown.first().expect("zeros"), shown.get(1).expect("ones"));
    assert_eq!(zeros.replace("0.0", "1.0"), *ones);
}
