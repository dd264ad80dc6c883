//! What the processor that this runs on has beyond what all of its architecture have: asked for in one place, so that all kernels and the
//! code generator mean the same by it.

/// Vectors of four numbers, and products and sums that are rounded once.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma")
}

/// Vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has_avx2()
}
