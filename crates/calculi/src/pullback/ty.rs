//! Types σ, τ of Figure 2, shared and with the dimension of vector types at hand.

use std::rc::Rc;

/// σ, τ of Figure 2.
#[derive(Clone, Debug)]
pub(crate) struct Type(Rc<TypeNode>);

#[derive(Debug)]
struct TypeNode {
    kind: TypeKind,
    /// `n` if the type is Rⁿ, however nested.
    width: Option<u64>,
}

/// What a type is.
#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    /// R
    Real,
    /// σ₁ × σ₂
    Product(Type, Type),
    /// σ₁ ⇒ σ₂
    Function(Type, Type),
    /// σ*
    Dual(Type),
}

impl Type {
    fn make(kind: TypeKind) -> Type {
        let width = match &kind {
            TypeKind::Real => Some(1),
            TypeKind::Product(a, b) => a.0.width.zip(b.0.width).map(|(a, b)| a.saturating_add(b)),
            TypeKind::Function(..) | TypeKind::Dual(_) => None,
        };
        Type(Rc::new(TypeNode { kind, width }))
    }

    pub(crate) fn real() -> Type {
        thread_local!(static REAL: Type = Type::make(TypeKind::Real));
        REAL.with(Clone::clone)
    }

    pub(crate) fn product(a: Type, b: Type) -> Type {
        Type::make(TypeKind::Product(a, b))
    }

    pub(crate) fn function(a: Type, b: Type) -> Type {
        Type::make(TypeKind::Function(a, b))
    }

    pub(crate) fn dual(a: Type) -> Type {
        Type::make(TypeKind::Dual(a))
    }

    /// Ωσ ≡ σ ⇒ σ*
    pub(crate) fn omega(a: Type) -> Type {
        Type::function(a.clone(), Type::dual(a))
    }

    /// Rⁿ, nested to the left (3.1.3).
    pub(crate) fn reals(n: usize) -> Type {
        (1..n).fold(Type::real(), |ty, _| Type::product(ty, Type::real()))
    }

    pub(crate) fn kind(&self) -> &TypeKind {
        &self.0.kind
    }

    /// `n` for Rⁿ.
    pub(crate) fn width(&self) -> Option<u64> {
        self.0.width
    }

    /// The component types of a product; a type that is none stands for itself.
    pub(crate) fn parts(&self) -> (Type, Type) {
        match self.kind() {
            TypeKind::Product(a, b) => (a.clone(), b.clone()),
            TypeKind::Real | TypeKind::Function(..) | TypeKind::Dual(_) => (self.clone(), self.clone()),
        }
    }

    /// The result type of a function.
    pub(crate) fn result(&self) -> Type {
        match self.kind() {
            TypeKind::Function(_, b) => b.clone(),
            TypeKind::Real | TypeKind::Product(..) | TypeKind::Dual(_) => self.clone(),
        }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        let mut stack = vec![(self.clone(), other.clone())];
        while let Some((a, b)) = stack.pop() {
            if Rc::ptr_eq(&a.0, &b.0) {
                continue;
            }
            match (a.kind(), b.kind()) {
                (TypeKind::Real, TypeKind::Real) => {}
                (TypeKind::Product(a1, a2), TypeKind::Product(b1, b2))
                | (TypeKind::Function(a1, a2), TypeKind::Function(b1, b2)) => {
                    stack.push((a1.clone(), b1.clone()));
                    stack.push((a2.clone(), b2.clone()));
                }
                (TypeKind::Dual(a), TypeKind::Dual(b)) => stack.push((a.clone(), b.clone())),
                _ => return false,
            }
        }
        true
    }
}

impl Drop for TypeNode {
    fn drop(&mut self) {
        let mut stack = vec![std::mem::replace(&mut self.kind, TypeKind::Real)];
        while let Some(kind) = stack.pop() {
            let mut take = |ty: Type| {
                if let Some(mut node) = Rc::into_inner(ty.0) {
                    stack.push(std::mem::replace(&mut node.kind, TypeKind::Real));
                }
            };
            match kind {
                TypeKind::Real => {}
                TypeKind::Product(a, b) | TypeKind::Function(a, b) => {
                    take(a);
                    take(b);
                }
                TypeKind::Dual(a) => take(a),
            }
        }
    }
}
