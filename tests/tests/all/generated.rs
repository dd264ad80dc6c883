//! Properties of generated programs: whatever the generators make is accepted, elaborates to a core that verifies and
//! reads back, runs the same way every time, and has derivatives that agree with each other, with finite differences,
//! and with the cost promise.
//!
//! Each property runs over `WENGERT_PROPERTY_CASES` programs (a few hundred if it is not set), the same ones every time;
//! `WENGERT_PROPERTY_SEED` chooses others. A program that fails is made smaller before it is shown.

use std::path::Path;
use wengert_core::{parse, print, strip_spans, verify};
use wengert_driver::{Input, Session};
use wengert_gen::{Config, GenType, Law, rewritten};
use wengert_tests::property::{Case, Verdict, complaints, limits, load, property};

/// Σ aᵢ·bᵢ, and Σ |aᵢ·bᵢ|, which is the scale of rounding errors in it.
fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    assert_eq!(a.len(), b.len(), "a tangent has another size than its point");
    let products = a.iter().zip(b).map(|(x, y)| x * y);
    (products.clone().sum(), products.map(f64::abs).sum())
}

/// Whether two numbers agree up to `tolerance` relative to `scale` and to 1.
fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + scale + a.abs().max(b.abs()))
}

/// Everything, smooth or not.
fn all_configs() -> [Config; 2] {
    [Config::default(), Config::smooth()]
}

#[test]
fn the_checker_accepts_them_and_the_core_verifies_and_reads_back() {
    for config in all_configs() {
        property(&config, None, 1, |case| {
            let mut session = Session::new();
            let report = session.check_text("generated.wg", &case.program.text(), Path::new("."));
            if report.has_errors() {
                return Err(complaints(&report.diagnostics));
            }
            let mut linked = wengert_core::Program::default();
            for module in &report.modules {
                linked.types.extend(module.program.types.clone());
                linked.defs.extend(module.program.defs.clone());
            }
            if let Err(errors) = verify(&linked) {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                return Err(errors.join("\n"));
            }
            let Some(module) = report.modules.last() else { return Err("no module".into()) };
            let text = print(&module.program);
            match parse(&text) {
                Ok(back) if back == strip_spans(&module.program) => Ok(Verdict::Tested),
                Ok(_) => Err(format!("the core reads back as another program:\n{text}")),
                Err(error) => Err(format!("{error}\n{text}")),
            }
        });
    }
}

#[test]
fn they_run_without_errors_and_the_same_way_every_time() {
    for config in all_configs() {
        property(&config, None, 1, |case| {
            let text = format!("entry {}", case.point.text());
            let mut first = load(case, "")?;
            let Some(value) = first.eval(&text)? else { return Ok(Verdict::Skipped) };
            let again = load(case, "")?.eval(&text)?;
            let once_more = first.eval(&text)?;
            if again.as_deref() != Some(&value) || once_more.as_deref() != Some(&value) {
                return Err(format!("{value}\nthen {again:?}\nthen {once_more:?}"));
            }
            Ok(Verdict::Tested)
        });
    }
}

/// `jvp`, `vjp`, `linearize` and `grad_fwd` of the entry at the point, as arrays of numbers.
fn derivatives(case: &Case) -> String {
    format!(
        "let x = {}\n\
         let t = {}\n\
         let (y, y_dot) = jvp entry (x, t)\n\
         let (_, back) = vjp entry x\n\
         let (_, lin) = linearize entry x\n\
         let ct = unravel y (build (length (ravel y)) (\\i -> cos (real i + 0.7)))\n\
         in (ravel t, ravel y_dot, ravel (lin t), ravel ct, ravel (back ct),\n\
             ravel (grad_fwd (\\x -> inner ct (entry x)) x))",
        case.point.text(),
        case.tangent.text()
    )
}

#[test]
fn forward_and_reverse_mode_are_transposes_of_each_other() {
    for (config, tolerance) in [(Config::smooth(), 1e-9), (Config::default(), 1e-7)] {
        property(&config, None, 2, |case| {
            let Some(numbers) = load(case, "")?.numbers(&derivatives(case), 1e6)? else {
                return Ok(Verdict::Skipped);
            };
            let [t, y_dot, linear, ct, x_bar, gradient] = numbers.as_slice() else {
                return Err(format!("six arrays expected: {numbers:?}"));
            };
            let (forward, scale) = dot(ct, y_dot);
            let (linearized, _) = dot(ct, linear);
            let (reverse, reverse_scale) = dot(x_bar, t);
            let scale = scale + reverse_scale;
            if !close(forward, reverse, scale, tolerance) {
                return Err(format!("⟨ct, jvp f x t⟩ is {forward}, ⟨vjp f x ct, t⟩ is {reverse}"));
            }
            if !close(forward, linearized, scale, tolerance) {
                return Err(format!("with jvp {forward}, with linearize {linearized}"));
            }
            let same = |(a, b): (&f64, &f64)| close(*a, *b, scale, tolerance);
            if !x_bar.iter().zip(gradient).all(same) {
                return Err(format!("by reverse mode {x_bar:?}, by forward mode {gradient:?}"));
            }
            Ok(Verdict::Tested)
        });
    }
}

#[test]
fn derivatives_agree_with_finite_differences() {
    property(&Config::smooth(), None, 2, |case| {
        let text = format!(
            "let x = {}\n\
             let t = {}\n\
             let at h = ravel (entry (unravel x (add (ravel x) (scale h (ravel t)))))\n\
             let slope h = scale (0.5 / h) (add (at h) (scale (-1.0) (at (-h))))\n\
             in (ravel (snd (jvp entry (x, t))), slope 2e-3, slope 1e-3, slope 5e-4)",
            case.point.text(),
            case.tangent.text()
        );
        let Some(numbers) = load(case, "")?.numbers(&text, 1e4)? else { return Ok(Verdict::Skipped) };
        let [exact, coarse, middle, fine] = numbers.as_slice() else {
            return Err(format!("four arrays expected: {numbers:?}"));
        };
        for (((exact, coarse), middle), fine) in exact.iter().zip(coarse).zip(middle).zip(fine) {
            // Halving the step divides the error by four; if it does not, the function is too wild here.
            let better = (4.0 * fine - middle) / 3.0;
            let good = (4.0 * middle - coarse) / 3.0;
            if !close(good, better, 0.0, 1e-4) {
                return Ok(Verdict::Skipped);
            }
            if !close(*exact, better, 0.0, 1e-3) {
                return Err(format!("the derivative is {exact}, the difference quotient {better}"));
            }
        }
        Ok(Verdict::Tested)
    });
}

/// That the programs and what the law makes of them have the same values and derivatives.
fn assert_law(law: Law, config: &Config, tolerance: f64) {
    property(config, None, 1, |case| {
        // A program without anything to change fulfills the law.
        let Some(other) = rewritten(&case.program, law) else { return Ok(Verdict::Tested) };
        let text = format!(
            "let (y, y_dot) = jvp entry ({}, {}) in (ravel y, ravel y_dot)",
            case.point.text(),
            case.tangent.text()
        );
        let other =
            Case { program: other, point: case.point.clone(), tangent: case.tangent.clone(), ..*case };
        let Some(before) = load(case, "")?.numbers(&text, 1e6)? else { return Ok(Verdict::Skipped) };
        let Some(after) = load(&other, "")?.numbers(&text, f64::INFINITY)? else {
            return Err(format!("{before:?} becomes infinite by {law:?}"));
        };
        let (before, after) = (before.concat(), after.concat());
        let agree = before.len() == after.len()
            && before.iter().zip(&after).all(|(a, b)| close(*a, *b, 0.0, tolerance));
        if agree { Ok(Verdict::Tested) } else { Err(format!("{before:?} becomes {after:?} by {law:?}")) }
    });
}

#[test]
fn derivatives_inside_programs_agree_in_other_modes() {
    assert_law(Law::OtherModes, &Config::default(), 1e-6);
    assert_law(Law::OtherModes, &Config::smooth(), 1e-8);
    assert_law(Law::OtherModes, &Config { max_derivatives: 3, ..Config::smooth() }, 1e-7);
}

#[test]
fn tangents_of_functions_are_taken_pointwise() {
    assert_law(Law::Pointwise, &Config::default(), 1e-6);
    assert_law(Law::Pointwise, &Config::smooth(), 1e-8);
    assert_law(Law::Pointwise, &Config { max_derivatives: 3, ..Config::smooth() }, 1e-7);
}

#[test]
fn nested_modes_agree() {
    let entry = Some((GenType::Real, GenType::Real));
    let config = Config { max_derivatives: 1, ..Config::smooth() };
    property(&config, entry, 2, |case| {
        let modes = ["derivative", "grad"];
        let mut all = Vec::new();
        for outer in modes {
            for inner in modes {
                all.push(format!("{outer} ({inner} entry) x"));
            }
        }
        all.push("(taylor 2 entry x)[2]".into());
        let third = ["derivative (grad (derivative entry)) x", "grad (derivative (grad entry)) x"];
        let text = format!(
            "let x = {}\n in ([{}], [{}, (taylor 3 entry x)[3]])",
            case.point.text(),
            all.join(", "),
            third.join(", ")
        );
        let Some(numbers) = load(case, "")?.numbers(&text, 1e8)? else { return Ok(Verdict::Skipped) };
        let all_close =
            |values: &[f64]| values.iter().all(|x| values.iter().all(|y| close(*x, *y, 0.0, 1e-8)));
        match numbers.iter().find(|values| !all_close(values)) {
            Some(values) => {
                Err(format!("ff, fr, rf, rr and taylor (or frf, rfr and taylor) give {values:?}"))
            }
            None => Ok(Verdict::Tested),
        }
    });
}

#[test]
fn derivatives_cost_what_is_promised() {
    let folder = std::env::temp_dir().join(format!("wengert-generated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    for config in all_configs() {
        property(&config, None, 2, |case| {
            let thread = std::thread::current().id();
            let file = folder.join(format!("{}-{thread:?}.wg", case.seed));
            std::fs::write(&file, case.program.text()).map_err(|error| error.to_string())?;
            let input = Input::Text(format!("[{}]", case.point.json()));
            let cost = match Session::new().cost(&file, "entry", &input, &limits()) {
                Ok(cost) => cost,
                Err(diagnostics) => return Err(complaints(&diagnostics)),
            };
            // A function may hand out an input many times without computing anything; reverse mode must add up what
            // comes back, one addition for each `Real` of the result.
            let counted = format!("[real (length (ravel (entry {})))]", case.point.text());
            let outputs = load(case, "")?.numbers(&counted, 1e9)?;
            let outputs = outputs.and_then(|groups| groups.concat().first().copied()).unwrap_or(0.0) as u64;
            if cost.jvp > 4 * cost.primal || cost.vjp > 6 * cost.primal + outputs {
                return Err(format!("{cost:?}, with {outputs} numbers in the result"));
            }
            Ok(Verdict::Tested)
        });
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
}
