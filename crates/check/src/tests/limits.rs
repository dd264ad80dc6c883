//! Large and hostile programs: the checker stays within its stack and its time.

use super::{Loader, render};

/// Runs on a small stack, as library users may.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(work).unwrap().join().unwrap();
}

fn diagnostics(text: &str) -> String {
    render(&Loader::default().load("main", text))
}

#[test]
fn deep_nesting_fits_on_the_stack() {
    on_small_stack(|| {
        let depth = 1900;
        let texts = [
            format!("def f x = {}x{}", "(".repeat(depth), ")".repeat(depth)),
            format!("def f x = {}x", "\\y -> ".repeat(depth / 2)),
            format!("def f x = {} x", "let y = x in ".repeat(depth)),
            format!("def f x = x{}", " + 1".repeat(depth)),
            format!("def f x = {}x{}", "[".repeat(depth / 2), "]".repeat(depth / 2)),
            format!("def f x = {}1", "if x then 1 else ".repeat(depth)),
            format!("def f (x : {}Int{}) = x", "(".repeat(depth), ")".repeat(depth)),
            format!("def f (x : {}Int) = x", "[]".repeat(depth / 2)),
            format!("def f {}x{} = x", "(".repeat(depth), ")".repeat(depth)),
            format!("def f x = {}x", "match x with | _ -> ".repeat(depth / 2)),
            format!("def f x ={} x", " let rec g y = y in".repeat(depth / 2)),
            format!("def f x = x{}", " |> \\y -> y".repeat(depth / 2)),
        ];
        for text in texts {
            let found = diagnostics(&text);
            assert!(!found.contains("E0323"), "{found}");
        }
    });
}

#[test]
fn exploding_types_are_refused_in_time() {
    on_small_stack(|| {
        let mut doubled = String::from("type S a = S a\ndef f0 x = S (S x)\n");
        let mut pairs = String::from("def g0 x = (x, x)\n");
        let mut local = String::from("def f x =\n  let h0 = \\y -> (y, y)\n");
        for i in 1..60 {
            doubled.push_str(&format!("def f{i} x = f{} (f{} x)\n", i - 1, i - 1));
            pairs.push_str(&format!("def g{i} x = g{} (g{} x)\n", i - 1, i - 1));
            local.push_str(&format!("  let h{i} = \\y -> h{} (h{} y)\n", i - 1, i - 1));
        }
        local.push_str("  in h59 x\n");
        for text in [doubled, pairs, local] {
            let start = std::time::Instant::now();
            let found = diagnostics(&text);
            assert!(found.contains("E0323"), "{found}");
            assert_eq!(found.matches("\n  at").count(), 1, "{found}");
            assert!(start.elapsed().as_secs() < 10);
        }
    });
}

#[test]
fn long_programs_are_checked_quickly() {
    let mut text = String::new();
    for i in 0..1000 {
        let before = if i == 0 { "sin".to_owned() } else { format!("f{}", i - 1) };
        text.push_str(&format!(
            "def f{i} x = let y = {before} (x * {i}.5) in if y > 0.0 then y ^ 2 + sum (map (\\z -> z * y) [1, x, y]) else exp x\n"
        ));
    }
    let mut loader = Loader::default();
    loader.load("main", "def x = 1");
    let start = std::time::Instant::now();
    let loaded = loader.load("main", &text);
    assert_eq!(render(&loaded), "");
    // Generous: this is neither an optimized build nor a quiet machine.
    assert!(start.elapsed().as_millis() < 3_000, "{:?}", start.elapsed());
}
