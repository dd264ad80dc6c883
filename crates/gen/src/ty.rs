//! Types of generated expressions, and the data types that generated programs declare.
//!
//! Array sizes are constants, so that every generated access is in range and operations on two arrays get arrays of one
//! size: a generated program never fails when it runs.

use wengert_base::Name;

/// A type without variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenType {
    /// `Real`
    Real,
    /// `Int`
    Int,
    /// `Bool`
    Bool,
    /// `String`
    String,
    /// `()`, `(a, b)`, …; never one component.
    Tuple(Vec<GenType>),
    /// `{x : a, y : b}`, fields in order of their names.
    Record(Vec<(Name, GenType)>),
    /// `[3]a`
    Array(u64, Box<GenType>),
    /// A declared type and its arguments.
    Data(Name, Vec<GenType>),
    /// `a -> b`
    Fun(Box<GenType>, Box<GenType>),
    /// The parameter of a declaration; occurs only in the fields of a [`DataDecl`].
    Param,
}

/// A declared data type with at most one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct DataDecl {
    /// Its name.
    pub name: Name,
    /// Whether it has the parameter `a`.
    pub has_param: bool,
    /// Its constructors and their fields.
    pub ctors: Vec<(Name, Vec<GenType>)>,
}

impl GenType {
    /// `a -> b`
    pub fn fun(from: GenType, to: GenType) -> GenType {
        GenType::Fun(Box::new(from), Box::new(to))
    }

    /// `[n]a`
    pub fn array(n: u64, elem: GenType) -> GenType {
        GenType::Array(n, Box::new(elem))
    }

    /// Whether it holds no function.
    pub fn is_first_order(&self) -> bool {
        !self.any(&|ty| matches!(ty, GenType::Fun(..)))
    }

    /// Whether it holds a `Real` outside of functions' arguments. Declared types count as holding one if they do for
    /// their argument or in a field, so `decls` is asked.
    pub fn holds_real(&self, decls: &[DataDecl]) -> bool {
        match self {
            GenType::Real => true,
            GenType::Int | GenType::Bool | GenType::String | GenType::Param => false,
            GenType::Tuple(items) => items.iter().any(|item| item.holds_real(decls)),
            GenType::Record(fields) => fields.iter().any(|(_, field)| field.holds_real(decls)),
            GenType::Array(_, elem) => elem.holds_real(decls),
            GenType::Fun(_, to) => to.holds_real(decls),
            GenType::Data(name, args) => {
                let decl = decls.iter().find(|decl| decl.name == *name);
                let mut fields = decl.iter().flat_map(|decl| &decl.ctors).flat_map(|(_, fields)| fields);
                fields.any(|field| {
                    let of_arg = *field == GenType::Param && args.iter().any(|arg| arg.holds_real(decls));
                    // Declared types refer to themselves only, which adds nothing.
                    of_arg || (!matches!(field, GenType::Data(..)) && field.holds_real(decls))
                })
            }
        }
    }

    /// Whether all values have the same structure and consist of `Real`s alone: then any value is a tangent at any other.
    pub fn is_vector(&self) -> bool {
        match self {
            GenType::Real => true,
            GenType::Tuple(items) => !items.is_empty() && items.iter().all(GenType::is_vector),
            GenType::Record(fields) => fields.iter().all(|(_, field)| field.is_vector()),
            GenType::Array(_, elem) => elem.is_vector(),
            GenType::Int
            | GenType::Bool
            | GenType::String
            | GenType::Data(..)
            | GenType::Fun(..)
            | GenType::Param => false,
        }
    }

    /// Whether this type or a part of it satisfies `test`; arguments of data types count, their fields do not.
    pub fn any(&self, test: &dyn Fn(&GenType) -> bool) -> bool {
        test(self)
            || match self {
                GenType::Real | GenType::Int | GenType::Bool | GenType::String | GenType::Param => false,
                GenType::Tuple(items) | GenType::Data(_, items) => items.iter().any(|item| item.any(test)),
                GenType::Record(fields) => fields.iter().any(|(_, field)| field.any(test)),
                GenType::Array(_, elem) => elem.any(test),
                GenType::Fun(from, to) => from.any(test) || to.any(test),
            }
    }

    /// Whether a parameter of the type should be annotated: of a record that has to be first-order, inference takes the
    /// fields that the function uses for all there are.
    pub(crate) fn needs_annotation(&self) -> bool {
        self.any(&|part| matches!(part, GenType::Record(_)))
    }

    /// The field's type in a value of the declared type `whole`.
    pub fn at(&self, whole: &GenType) -> GenType {
        let arg = if let GenType::Data(_, args) = whole { args.first() } else { None };
        match self {
            GenType::Param => arg.cloned().unwrap_or(GenType::Real),
            GenType::Real | GenType::Int | GenType::Bool | GenType::String => self.clone(),
            GenType::Tuple(items) => GenType::Tuple(items.iter().map(|item| item.at(whole)).collect()),
            GenType::Record(fields) => {
                GenType::Record(fields.iter().map(|(name, field)| (*name, field.at(whole))).collect())
            }
            GenType::Array(n, elem) => GenType::array(*n, elem.at(whole)),
            GenType::Data(name, args) => GenType::Data(*name, args.iter().map(|arg| arg.at(whole)).collect()),
            GenType::Fun(from, to) => GenType::fun(from.at(whole), to.at(whole)),
        }
    }
}

/// `type List a = Nil | Cons a (List a)`, `type Tree a = Leaf | Node (Tree a) a (Tree a)` and
/// `type Shape = Circle Real | Rect Real Real | Named Int Shape`: what every program may use.
pub fn standard_decls() -> Vec<DataDecl> {
    let own = |name| GenType::Data(Name::new(name), vec![GenType::Param]);
    let ctor = |name, fields: Vec<GenType>| (Name::new(name), fields);
    vec![
        DataDecl {
            name: Name::new("List"),
            has_param: true,
            ctors: vec![ctor("Nil", vec![]), ctor("Cons", vec![GenType::Param, own("List")])],
        },
        DataDecl {
            name: Name::new("Tree"),
            has_param: true,
            ctors: vec![ctor("Leaf", vec![]), ctor("Node", vec![own("Tree"), GenType::Param, own("Tree")])],
        },
        DataDecl {
            name: Name::new("Shape"),
            has_param: false,
            ctors: vec![
                ctor("Circle", vec![GenType::Real]),
                ctor("Rect", vec![GenType::Real, GenType::Real]),
                ctor("Named", vec![GenType::Int, GenType::Data(Name::new("Shape"), vec![])]),
            ],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_types_look_inside() {
        let decls = standard_decls();
        let list = |of| GenType::Data(Name::new("List"), vec![of]);
        assert!(list(GenType::Real).holds_real(&decls));
        assert!(!list(GenType::Int).holds_real(&decls));
        assert!(GenType::Data(Name::new("Shape"), vec![]).holds_real(&decls));
        assert!(!list(GenType::fun(GenType::Int, GenType::Real)).is_first_order());
        assert!(GenType::array(2, GenType::Tuple(vec![GenType::Real, GenType::Real])).is_vector());
        assert!(!GenType::Tuple(vec![GenType::Real, GenType::Int]).is_vector());
        let cons = &decls[0].ctors[1].1;
        assert_eq!(cons[1].at(&list(GenType::Int)), list(GenType::Int));
        assert_eq!(cons[0].at(&list(GenType::Int)), GenType::Int);
    }
}
