//! The types of the primitives, read once from the strings in `wengert_prim`'s table.
//!
//! `Num a => [n]a -> [n]a -> a` becomes a [`Scheme`] whose parameters are the type variables in order of first
//! appearance in the type, then the sizes in the same order; that is the order of `type_args` of a primitive. `#n` marks
//! the one `Int` argument that *is* the size `n`, which is how `build 3 f` gets the type `[3]a`: see
//! [`Signature::size_arg`].

use crate::parse::parse_signature;
use crate::types::Scheme;
use std::sync::LazyLock;
use wengert_base::Name;
use wengert_prim::Prim;
use wengert_prim::table::PRIMS;

/// The type of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Type parameters, then size parameters, and the curried type.
    pub scheme: Scheme,
    /// Which argument (from 0), an `Int`, is the value of which size parameter.
    pub size_arg: Option<(usize, Name)>,
}

/// In the order of the table.
static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    PRIMS
        .iter()
        .map(|info| parse_signature(info.sig).expect("a test parses every signature of the table"))
        .collect()
});

/// The type of `prim`.
#[expect(clippy::indexing_slicing, reason = "the table has an entry for each variant, in order")]
pub fn signature(prim: Prim) -> &'static Signature {
    &SIGNATURES[prim as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subst::VarSort;
    use crate::types::{Kind, Size, Type};

    /// Argument types of a curried function type.
    fn arguments(mut ty: &Type) -> Vec<&Type> {
        let mut args = Vec::new();
        while let Type::Fun(from, to) = ty {
            args.push(from.as_ref());
            ty = to;
        }
        args
    }

    #[test]
    fn every_signature_is_closed_and_has_arrows_for_its_arity() {
        for info in PRIMS {
            parse_signature(info.sig).unwrap_or_else(|error| panic!("{}: {error}", info.name));
            let Signature { scheme, size_arg } = signature(info.prim);
            assert!(info.arity <= arguments(&scheme.ty).len(), "{}", info.name);
            assert!(info.arity > 0, "{}", info.name);
            let free = scheme.ty.free_vars();
            for param in &scheme.params {
                assert!(
                    free.contains(&(param.kind.sort(), param.name)),
                    "{}: unused {}",
                    info.name,
                    param.name
                );
                assert!(param.preds().is_sorted(), "{}", info.name);
            }
            assert!(scheme.free_vars().is_empty(), "{}", info.name);
            if let Some((index, size)) = size_arg {
                assert_eq!(arguments(&scheme.ty)[*index], &Type::Int, "{}", info.name);
                assert!(free.contains(&(VarSort::Size, *size)), "{}", info.name);
            }
        }
    }

    #[test]
    fn types_come_before_sizes_in_order_of_appearance() {
        let names = |prim| {
            signature(prim).scheme.params.iter().map(|param| param.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(Prim::Fold), ["b", "a", "n"]);
        assert_eq!(names(Prim::MatMul), ["a", "m", "k", "n"]);
        let build = signature(Prim::Build);
        assert_eq!(build.size_arg, Some((0, Name::new("n"))));
        assert_eq!(build.scheme.to_string(), "Int -> (Int -> a) -> [n]a");
        assert_eq!(signature(Prim::Concat).scheme.to_string(), "[n]a -> [m]a -> []a");
        assert_eq!(signature(Prim::Vjp).scheme.params[0].preds().len(), 2);
        assert!(matches!(signature(Prim::Filter).scheme.ty, Type::Fun(..)));
        assert!(signature(Prim::Map).scheme.params[2].kind == Kind::Size);
        assert!(signature(Prim::Slice).scheme.ty.to_string().contains(&Size::Unknown.to_string()));
    }
}
