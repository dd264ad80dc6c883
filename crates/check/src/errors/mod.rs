//! Every kind of error that the checker reports: one function for each, which words it. [`CODES`] lists them.

pub(crate) mod derivatives;
pub(crate) mod names;
pub(crate) mod patterns;
pub(crate) mod sizes;
pub(crate) mod types;

use wengert_base::Span;
use wengert_base::codes::Code;

/// An expression whose type is not the one demanded, with both types as text.
pub(crate) struct Mismatch {
    pub(crate) span: Span,
    pub(crate) want: String,
    pub(crate) got: String,
    pub(crate) advice: Option<String>,
}

macro_rules! codes {
    ($($code:ident $title:literal)*) => {
        $(pub(crate) const $code: &str = stringify!($code);)*

        /// Every kind of diagnostic of this crate.
        pub const CODES: &[Code] = &[$(Code { code: stringify!($code), title: $title },)*];
    };
}

codes! {
    E0201 "unknown name"
    E0202 "unknown constructor"
    E0203 "unknown type"
    E0204 "unknown module"
    E0205 "name that a module does not have"
    E0206 "import of a name that the module does not have"
    E0207 "ambiguous name"
    E0208 "name defined twice"
    E0209 "variable bound twice"
    E0210 "constructor declared twice"
    E0211 "type declared twice"
    E0212 "field given twice"
    E0213 "type parameter given twice"
    E0214 "unbound type variable in a declaration"
    E0215 "cyclic alias"
    E0216 "value that needs itself"
    E0217 "recursive binding that is not a function"
    E0218 "module alias used twice"
    E0219 "module used as a value"
    E0220 "declaration of a built-in type"

    E0301 "type differs from the annotation"
    E0302 "result differs from the annotation"
    E0303 "argument of the wrong type"
    E0304 "operand of the wrong type"
    E0305 "branches of different types"
    E0306 "arms of different types"
    E0307 "elements of different types"
    E0308 "condition that is not a truth value"
    E0309 "index that is not an integer"
    E0310 "not a function"
    E0311 "too many arguments"
    E0312 "infinite type"
    E0313 "not a number"
    E0314 "no order on this type"
    E0315 "not first-order"
    E0316 "no such field"
    E0317 "not a record"
    E0318 "not an array"
    E0319 "field of another type"
    E0320 "annotation is too general"
    E0321 "different type variables must be the same"
    E0323 "types too large"
    E0324 "real exponent of `^`"
    E0325 "integer power with `**`"
    E0326 "number where something else is needed"
    E0327 "wrong number of type arguments"
    E0328 "recursive use of another type"

    E0401 "match that misses a case"
    E0402 "arm that is never used"
    E0403 "pattern that can fail where it must not"
    E0404 "wrong number of constructor arguments in a pattern"
    E0405 "pattern of the wrong type"
    E0406 "tuple pattern of the wrong length"
    E0407 "field pattern for a field that is not there"

    E0501 "sizes contradict each other"
    E0502 "size variable in a declaration"
    E0503 "size that no argument determines"
    E0504 "index outside the array"
    E0505 "one variable as type and as size"

    E0601 "nothing to differentiate"
    E0602 "gradient of a function whose result is not real"
    E0603 "vjp with three arguments"
    E0604 "jvp without a pair"
    E0605 "derivative at a type that is not first-order"
    E0606 "input is not a real number"
    E0607 "input is not an array"
    E0608 "point given in pieces"
    E0609 "derivative of something that is not a function"
    E0610 "custom rule of the wrong type"
}

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn codes_ascend() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(CODES.iter().all(|code| !code.title.is_empty()));
    }
}
