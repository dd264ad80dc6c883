//! Runs a property on many cases. They come from a fixed stream, so that a failing one is found again by its number;
//! `WENGERT_PROPERTY_CASES` asks for more of them.

use arbitrary::{Result, Unstructured};

/// Runs `property` on as many cases as asked for, at least `least`.
pub(super) fn cases(least: u64, property: impl Fn(&mut Unstructured<'_>) -> Result<()>) {
    let asked = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|n| n.parse().ok());
    for case in 0..asked.unwrap_or(least).max(least) {
        let mut state = case.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0123_4567_89AB_CDEF;
        let mut bytes = Vec::new();
        for _ in 0..400 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend(state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes());
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            property(&mut Unstructured::new(&bytes))
        }));
        match result {
            Ok(result) => result.unwrap(),
            Err(panic) => {
                println!("case {case}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}
