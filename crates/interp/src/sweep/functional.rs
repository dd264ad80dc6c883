//! Functionals applied to tangents: `Σ ⟨wᵢ, h xᵢ⟩`, which calls the function `h` at each point.

use crate::arith;
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Tag, Value};
use crate::vector;
use crate::walk;
use smallvec::smallvec;
use wengert_prim::RealOp;

/// The rest of an application.
struct Application {
    sum: Option<Value>,
    calls: Vec<Call>,
    /// The weight of the result that is awaited, and the tags under which only the tangent of the product counts.
    awaited: Option<(Value, Vec<Tag>)>,
}

/// A function to be called.
struct Call {
    func: Value,
    point: Value,
    weight: Value,
    tags: Vec<Tag>,
}

/// The functional `dual` at the tangent `h`.
pub(crate) fn apply_dual(cx: &mut Context, dual: &Value, h: &Value) -> Result<Step, Failure> {
    let weight = super::weight_of(dual)?;
    let mut application = Box::new(Application { sum: None, calls: Vec::new(), awaited: None });
    application.add(cx, h, &weight, &[])?;
    application.run()
}

fn mismatch(h: &Value, weight: &Value) -> Failure {
    errors::shapes("apply_dual", &walk::describe(weight), &walk::describe(h))
}

impl Application {
    /// Adds the tangent under all `tags` of `⟨weight, h⟩`.
    fn add(&mut self, cx: &mut Context, h: &Value, weight: &Value, tags: &[Tag]) -> Result<(), Failure> {
        // The last call is made first.
        let first_new = self.calls.len();
        walk::pairs(cx, h, weight, &mismatch, &mut |cx, h, weight| {
            let Value::Cotangent(functional) = weight else { return self.add_real(cx, h, weight, tags) };
            for pair in functional.pairs.as_slice().chunks_exact(2) {
                let [point, weight] = pair else { continue };
                let open = vector::open_pair(cx, point, weight)?;
                let tags = tags.iter().copied().chain(open.tags).collect();
                self.calls.push(Call { func: h.clone(), point: open.point, weight: open.weight, tags });
            }
            Ok(())
        })?;
        if let Some(new) = self.calls.get_mut(first_new..) {
            new.reverse();
        }
        Ok(())
    }

    fn add_real(&mut self, cx: &mut Context, h: &Value, weight: &Value, tags: &[Tag]) -> Result<(), Failure> {
        let mut product = arith::real2(cx, RealOp::Mul, weight, h)?;
        for tag in tags {
            let (_, tangent) = perturb::split_real(*tag, &product)?;
            product = tangent.unwrap_or(Value::Real(0.0));
        }
        self.sum = Some(match self.sum.take() {
            Some(sum) => arith::real2(cx, RealOp::Add, &sum, &product)?,
            None => product,
        });
        Ok(())
    }

    fn run(mut self: Box<Self>) -> Result<Step, Failure> {
        let Some(Call { func, point, weight, tags }) = self.calls.pop() else {
            return Ok(Step::Done(self.sum.unwrap_or(Value::Real(0.0))));
        };
        self.awaited = Some((weight, tags));
        Ok(Step::Call { func, args: smallvec![point], then: Some(self) })
    }
}

impl Resume for Application {
    fn resume(mut self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        if let Some((weight, tags)) = self.awaited.take() {
            self.add(cx, &value, &weight, &tags)?;
        }
        self.run()
    }

    fn bytes(&self) -> usize {
        96 + self.calls.len() * size_of::<Call>()
    }
}
