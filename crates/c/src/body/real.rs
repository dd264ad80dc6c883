//! Operations on reals, exactly as `wengert_prim` defines them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation that is not listed is a call of its own name"
)]

use crate::text::{Expr, Level, real};
use crate::unit::Unit;
use wengert_prim::RealOp;
use wengert_prim::real_op::ELEMENTARY_COST;

/// Powers up to here are products, as in `wengert_prim`.
const MULTIPLIED_OUT: u64 = 32;

/// An operation on values.
pub(super) fn apply(unit: &mut Unit<'_>, op: RealOp, args: &[Expr]) -> Expr {
    match (op, args) {
        (RealOp::Add, [x, y]) => Expr::binary(Level::Sum, "+", x, y),
        (RealOp::Sub, [x, y]) => Expr::binary(Level::Sum, "-", x, y),
        (RealOp::Mul, [x, y]) => Expr::binary(Level::Product, "*", x, y),
        (RealOp::Div, [x, y]) => Expr::binary(Level::Product, "/", x, y),
        (RealOp::Neg, [x]) => Expr::unary("-", x),
        (RealOp::Abs, [x]) => Expr::call("fabs", std::slice::from_ref(x)),
        (RealOp::Sqrt, [x]) => Expr::call("sqrt", std::slice::from_ref(x)),
        (RealOp::PowInt(n), [x]) => power(unit, n, x),
        (RealOp::Polygamma(n), [x]) => Expr::call("wg_polygamma", &[Expr::primary(n.to_string()), x.clone()]),
        (RealOp::MulZero, args) if unit.in_vectors => Expr::call("wg_each_mul_zero", args),
        (RealOp::Min, args) if unit.in_vectors => Expr::call("wg_each_min", args),
        (RealOp::Max, args) if unit.in_vectors => Expr::call("wg_each_max", args),
        (RealOp::DivZero, args) if unit.in_vectors => Expr::call("wg_each_div_zero", args),
        (op, args) => {
            if op.cost() == ELEMENTARY_COST {
                unit.needs_functions();
                if let Some(called) = unit.called(op) {
                    return Expr::call(&called, args);
                }
            }
            Expr::call(function(op), args)
        }
    }
}

fn power(unit: &mut Unit<'_>, n: i64, x: &Expr) -> Expr {
    let is_name = x.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match n {
        0 => real(1.0),
        1 => x.clone(),
        2 if is_name => Expr::binary(Level::Product, "*", x, x),
        n if n.unsigned_abs() <= MULTIPLIED_OUT => Expr::call(&unit.power(n), std::slice::from_ref(x)),
        n => {
            unit.needs_functions();
            Expr::call("wg_power", &[x.clone(), crate::text::int(n)])
        }
    }
}

/// The C function for an operation.
fn function(op: RealOp) -> &'static str {
    match op {
        RealOp::MulZero => "wg_mul_zero",
        RealOp::DivZero => "wg_div_zero",
        RealOp::Sign => "wg_sign",
        RealOp::Min => "wg_min",
        RealOp::Max => "wg_max",
        RealOp::Relu => "wg_relu",
        RealOp::Exp => "wg_exp",
        RealOp::Expm1 => "wg_expm1",
        RealOp::Log => "wg_log",
        RealOp::Log1p => "wg_log1p",
        RealOp::Log2 => "wg_log2",
        RealOp::Log10 => "wg_log10",
        RealOp::Cbrt => "wg_cbrt",
        RealOp::Sin => "wg_sin",
        RealOp::Cos => "wg_cos",
        RealOp::Tan => "wg_tan",
        RealOp::Asin => "wg_asin",
        RealOp::Acos => "wg_acos",
        RealOp::Atan => "wg_atan",
        RealOp::Atan2 => "wg_atan2",
        RealOp::Sinh => "wg_sinh",
        RealOp::Cosh => "wg_cosh",
        RealOp::Tanh => "wg_tanh",
        RealOp::Asinh => "wg_asinh",
        RealOp::Acosh => "wg_acosh",
        RealOp::Atanh => "wg_atanh",
        RealOp::Pow => "wg_pow",
        RealOp::Hypot => "wg_hypot",
        RealOp::Gamma => "wg_gamma",
        RealOp::Lgamma => "wg_lgamma",
        RealOp::Digamma => "wg_digamma",
        RealOp::Erf => "wg_erf",
        RealOp::Erfc => "wg_erfc",
        RealOp::Sigmoid => "wg_sigmoid",
        RealOp::Softplus => "wg_softplus",
        // The others have no other number of operands.
        _ => "wg_nothing",
    }
}

/// A C function that multiplies out a power as `wengert_prim` does: by repeated squaring from the lowest bit.
pub(crate) fn power_function(name: &str, n: i64) -> String {
    let mut lines = Vec::new();
    let (mut rest, mut square, mut power) = (n.unsigned_abs(), "x".to_string(), None::<String>);
    let mut exponent = 1;
    while rest > 0 {
        if rest & 1 == 1 {
            power = Some(match power {
                Some(power) => format!("{power} * {square}"),
                None => square.clone(),
            });
        }
        rest >>= 1;
        if rest > 0 {
            exponent *= 2;
            let next = format!("x{exponent}");
            lines.push(format!("    const double {next} = {square} * {square};\n"));
            square = next;
        }
    }
    let power = power.unwrap_or_else(|| "1.0".into());
    let result = if n < 0 { format!("1.0 / ({power})") } else { power };
    format!(
        "static inline WG_UNUSED double {name}(double x) {{\n{}    return {result};\n}}\n",
        lines.concat()
    )
}
