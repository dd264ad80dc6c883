//! Large and hostile programs: the checker stays within its stack and its time.

use super::{Loader, render};
use crate::interface::KnownTypes;
use crate::ty::{Len, MetaState, Rest, RowState, RowTy, SizeState, Store, Ty};
use std::collections::BTreeMap;
use std::rc::Rc;

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

/// How many bindings lie between an unknown type, a rest of a record or a size and what it stands for.
fn bindings(store: &Store<'_>, ty: &Ty) -> u32 {
    let next = if let Ty::Meta(id) = ty {
        let bound = if let MetaState::Bound(next) = &store.metas[id.0 as usize] { Some(next) } else { None };
        bound.cloned()
    } else if let Ty::Array(Len::Meta(id), _) = ty {
        let bound = if let SizeState::Bound(next) = store.sizes[id.0 as usize] { Some(next) } else { None };
        bound.map(|next| Ty::array(next, Ty::Real))
    } else if let Ty::Record(row) = ty
        && let Rest::Meta(id) = row.rest
    {
        let bound = if let RowState::Bound(next) = &store.rows[id.0 as usize] { Some(next) } else { None };
        bound.map(|next| Ty::Record(next.clone()))
    } else {
        None
    };
    next.map_or(0, |next| 1 + bindings(store, &next))
}

#[test]
fn what_is_equal_to_many_is_few_bindings_away() {
    let known = KnownTypes::default();
    let number = |store: &mut Store<'_>| store.fresh();
    let array = |store: &mut Store<'_>| Ty::array(store.fresh_size(None), Ty::Real);
    let literal = |store: &mut Store<'_>| Ty::array(store.soft_size(3), Ty::Real);
    let record = |store: &mut Store<'_>| {
        let rest = store.fresh_row(None);
        Ty::Record(Rc::new(RowTy { fields: BTreeMap::new(), rest }))
    };
    let kinds: [&dyn Fn(&mut Store<'_>) -> Ty; 4] = [&number, &array, &literal, &record];
    for make in kinds {
        // The elements of a literal, each against the first, and from either side; then each against the next.
        for order in 0..3 {
            let mut store = Store::new(&known);
            let all: Vec<Ty> = (0..1000).map(|_| make(&mut store)).collect();
            for pair in all.windows(2) {
                let (one, other) = match order {
                    0 => (&all[0], &pair[1]),
                    1 => (&pair[1], &all[0]),
                    _ => (&pair[0], &pair[1]),
                };
                assert!(store.unify(one, other).is_ok());
            }
            let longest = all.iter().map(|ty| bindings(&store, ty)).max();
            assert!(longest <= Some(10), "{longest:?} in order {order}");
        }
    }
}
