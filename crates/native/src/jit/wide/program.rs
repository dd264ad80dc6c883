//! What a loop does to eight iterations at a time: straight-line code on vectors, masks and words in memory.

/// A vector or a mask; each is assigned once.
pub(super) type Id = usize;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    /// A vector.
    Vector(Id),
    /// A number that is given when the loop begins, by its place.
    Given(usize),
    /// The bits of a constant.
    Constant(u64),
}

impl Arg {
    /// The vector.
    pub(super) fn vector(self) -> Option<Id> {
        if let Arg::Vector(id) = self { Some(id) } else { None }
    }
}

/// Arithmetic on reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Real {
    Add,
    Sub,
    Mul,
    Div,
    /// Zero if one of them is.
    MulZero,
    /// Zero if the first is.
    DivZero,
    /// On the bits.
    And,
    Xor,
}

/// What is done with a product: something is added to it or taken from it, or it is taken from something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fused {
    Plus,
    Less,
    From,
}

/// Arithmetic on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Int {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Min,
    Max,
    ShiftLeft,
    ShiftRight,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// Words one after the other, from a given address on.
    Load {
        from: usize,
    },
    /// The words at `from + 8·index`.
    Gather {
        from: usize,
        index: Id,
    },
    /// `first + step·i` of the iteration `i`.
    Index {
        first: Arg,
        step: i64,
    },
    Real(Real, Arg, Arg),
    /// The product of the first two and the third, rounded once.
    Fused(Fused, Arg, Arg, Arg),
    /// The same of a product that is zero if a factor is: where one looks for that, it is a product and a sum.
    FusedZero(Fused, Arg, Arg, Arg),
    Sqrt(Arg),
    /// 1 down, 2 up, 3 towards zero.
    Round(u8, Arg),
    Int(Int, Arg, Arg),
    ToReal(Id),
    /// The second where the mask has bits, else the third.
    Choose(Mask, Arg, Arg),
}

/// A mask: one that is computed, or a given truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    Made(Id),
    Given(usize),
}

/// How masks are made of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    Xor,
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Reals, by the processor's number.
    Real(u8),
    /// Integers.
    Int(u8),
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Vector(Id, Op),
    Compare(Id, Test, Arg, Arg),
    Join(Id, Join, Mask, Mask),
    /// Words one after the other, to a given address on.
    Store {
        to: usize,
        value: Arg,
    },
    /// Words to `to + 8·index`.
    Scatter {
        to: usize,
        index: Id,
        value: Arg,
    },
}

/// What is carried from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Carried {
    pub(super) before: Id,
    pub(super) after: Arg,
    /// What it begins with: a given number, or zero.
    pub(super) first: Option<usize>,
}

/// A loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) carried: Vec<Carried>,
    /// How many vectors there are, and how many masks.
    pub(super) vectors: usize,
    pub(super) masks: usize,
    /// How many numbers are given.
    pub(super) given: usize,
    /// How often the body is written one after the other, with sums of its own each time.
    pub(super) copies: usize,
    /// Whether nobody looks for strong zeros first.
    pub(super) quick: bool,
}

impl Op {
    pub(super) fn args(&self) -> Vec<Arg> {
        match self {
            Op::Load { .. } => Vec::new(),
            Op::Gather { index, .. } | Op::ToReal(index) => vec![Arg::Vector(*index)],
            Op::Index { first, .. } => vec![*first],
            Op::Real(_, a, b) | Op::Int(_, a, b) | Op::Choose(_, a, b) => vec![*a, *b],
            Op::Fused(_, a, b, c) | Op::FusedZero(_, a, b, c) => vec![*a, *b, *c],
            Op::Sqrt(a) | Op::Round(_, a) => vec![*a],
        }
    }
}

impl Program {
    /// Products that only one sum or difference reads become part of that.
    pub(super) fn fuse(&mut self) {
        let mut reads = vec![0_usize; self.vectors];
        let carried = self.carried.iter().filter_map(|carried| carried.after.vector());
        let read = self.steps.iter().flat_map(Step::vectors).chain(carried);
        read.for_each(|id| {
            if let Some(reads) = reads.get_mut(id) {
                *reads += 1
            }
        });
        let mut products: Vec<Option<(Arg, Arg, bool)>> = vec![None; self.vectors];
        let mut gone = vec![false; self.vectors];
        for step in &mut self.steps {
            let Step::Vector(id, Op::Real(real, a, b)) = *step else { continue };
            let product = |arg: Arg| {
                let id = arg.vector().filter(|id| reads.get(*id) == Some(&1))?;
                products.get(id).copied().flatten().map(|factors| (id, factors))
            };
            let found = match real {
                Real::MulZero if !self.quick => None,
                Real::Mul | Real::MulZero => {
                    // One of them must be in a register.
                    let is_vector = a.vector().or(b.vector()).is_some();
                    let strong = real == Real::MulZero;
                    if let Some(product) = products.get_mut(id).filter(|_| is_vector) {
                        *product = Some(if a.vector().is_some() { (a, b, strong) } else { (b, a, strong) });
                    }
                    None
                }
                Real::Add => product(b)
                    .map(|found| (found, Fused::Plus, a))
                    .or_else(|| product(a).map(|found| (found, Fused::Plus, b))),
                Real::Sub => product(b)
                    .map(|found| (found, Fused::From, a))
                    .or_else(|| product(a).map(|found| (found, Fused::Less, b))),
                Real::Div | Real::DivZero | Real::And | Real::Xor => None,
            };
            if let Some(((product, (x, y, strong)), how, other)) = found {
                let op = if strong { Op::FusedZero } else { Op::Fused };
                *step = Step::Vector(id, op(how, x, y, other));
                if let Some(gone) = gone.get_mut(product) {
                    *gone = true;
                }
            }
        }
        self.steps.retain(|step| !matches!(step, Step::Vector(id, _) if gone.get(*id) == Some(&true)));
    }
}

impl Step {
    /// The vectors that it reads.
    pub(super) fn vectors(&self) -> Vec<Id> {
        let args = match self {
            Step::Vector(_, op) => op.args(),
            Step::Compare(_, _, a, b) => vec![*a, *b],
            Step::Join(..) => Vec::new(),
            Step::Store { value, .. } => vec![*value],
            Step::Scatter { index, value, .. } => vec![Arg::Vector(*index), *value],
        };
        args.into_iter().filter_map(Arg::vector).collect()
    }

    /// The masks that it reads.
    pub(super) fn masks(&self) -> Vec<Id> {
        let masks = match self {
            Step::Vector(_, Op::Choose(mask, _, _)) => vec![*mask],
            Step::Join(_, _, a, b) => vec![*a, *b],
            Step::Vector(..) | Step::Compare(..) | Step::Store { .. } | Step::Scatter { .. } => Vec::new(),
        };
        let made = |mask| if let Mask::Made(id) = mask { Some(id) } else { None };
        masks.into_iter().filter_map(made).collect()
    }

    /// Whether it reads or writes words that lie apart.
    pub(super) fn is_apart(&self) -> bool {
        matches!(self, Step::Vector(_, Op::Gather { .. }) | Step::Scatter { .. })
    }

    /// Whether it writes memory.
    pub(super) fn stores(&self) -> bool {
        matches!(self, Step::Store { .. } | Step::Scatter { .. })
    }
}
