//! Section 10.4 and open main expressions as properties: what is written out without the shaded constructs means the same, and
//! can be translated again.

use super::examples::{checked, close, doubling, evaluate, quiet, reals, source_of};
use super::generate::{data_type, main_expression, real, value, vector_type};
use super::syntax::{E, Expr, Kind, Pat, Poly, Ty, make};
use super::tests::cases;
use super::{forward, monadic, naive, print, reduce, tower, types, unshade};
use make::{app, pair, var};
use std::rc::Rc;
use wengert_base::Name;

fn numbers(f: &E, x: E) -> Vec<f64> {
    reals(&evaluate(&app(Rc::clone(f), x)).0)
}

/// A term without shaded constructs, which checks at the same type.
fn unshaded(e: &E) -> E {
    let (e, ty) = types::check(e).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(e)));
    let plain = unshade::unshade(&e).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(&e)));
    assert!(unshade::is_shaded(&e) && !unshade::is_shaded(&plain), "{}", print::term(&plain));
    let annotated = Expr::new(Kind::Ann(plain.clone(), ty));
    types::check(&annotated).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(&plain)));
    plain
}

/// The numbers of two lists are alike, or some are too large to tell.
fn same(a: &[f64], b: &[f64], what: &str, e: &E) {
    let wild = a.iter().chain(b).any(|x| !x.is_finite() || x.abs() > 1e9);
    assert!(wild || close(a, b), "{what}: {a:?} {b:?}\n{}", print::term(e));
}

#[test]
fn wrappers_without_shaded_constructs_mean_the_same() {
    cases(600, |u| {
        let (s, t) = (data_type(u, 2)?, data_type(u, 2)?);
        let e = main_expression(u, &s, &t, 8)?;
        let shape = u.int_in_range(0..=1000)?;
        let (point, ds) = (value(u, &s, shape)?, value(u, &s, shape)?);
        let dt = app(e.clone(), value(u, &s, shape)?);
        let reverse = monadic::general_wrapper(&e, &s, &t).unwrap();
        let argument = pair(point.clone(), dt);
        let expected = numbers(&reverse, argument.clone());
        same(&numbers(&unshaded(&reverse), argument), &expected, "ℛ", &e);
        let forward = forward::general_wrapper(&e, &s, &t).unwrap();
        let argument = pair(point, ds);
        same(&numbers(&unshaded(&forward), argument.clone()), &numbers(&forward, argument), "ℱ", &e);
        Ok(())
    });
}

#[test]
fn the_other_polytypic_functions_are_what_their_definitions_say() {
    cases(500, |u| {
        let ty = data_type(u, 3)?;
        let shape = u.int_in_range(0..=1000)?;
        let (x, y) = (value(u, &ty, shape)?, value(u, &ty, shape)?);
        let p = Name::new("p");
        // primal (zip (x, y)) = x and delta (zip (x, y)) = y
        for (poly, expected) in [(Poly::Primal, &x), (Poly::Delta, &y)] {
            let zipped = app(make::poly(Poly::Zip, &ty), var(p));
            let body = app(make::poly(poly, &ty), zipped);
            let f = Expr::new(Kind::Lam(Pat::Var(p), Some(Ty::prod(ty.clone(), ty.clone())), body));
            let found = numbers(&unshaded(&f), pair(x.clone(), y.clone()));
            assert!(close(&found, &reals(&evaluate(expected).0)), "{}", print::ty(&ty));
        }
        Ok(())
    });
}

#[test]
fn the_first_reverse_mode_can_be_translated_again_too() {
    cases(200, |u| {
        let s = vector_type(u)?;
        let e = main_expression(u, &s, &Ty::Real, 8)?;
        let argument = pair(value(u, &s, 0)?, make::real(real(u)?));
        let naive = naive::wrapper(&e, &s).unwrap();
        same(&numbers(&unshaded(&naive), argument.clone()), &numbers(&naive, argument), "ℛ¹", &e);
        Ok(())
    });
}

/// `ds · H ds`, by the tower, by `𝒟⃗` of `ℛ`, and by `ℛ` of `ℛ`, where `H` is the second derivative.
#[test]
fn reverse_derivatives_have_derivatives_in_both_modes() {
    cases(300, |u| {
        let s = vector_type(u)?;
        let e = main_expression(u, &s, &Ty::Real, 8)?;
        let (point, ds) = (value(u, &s, 0)?, value(u, &s, 0)?);
        let tower = numbers(&tower::wrapper(&e, &s, 2).unwrap(), pair(point.clone(), ds.clone()));
        let gradient = unshaded(&monadic::wrapper(&e, &s).unwrap());
        // The gradient at (s, dt), of which dt = 1 does not move.
        let arguments = Ty::prod(s.clone(), Ty::Real);
        let at = pair(point, make::real(1.0));
        let direction = reals(&evaluate(&ds).0);
        let dot = |v: &[f64]| -> f64 { v.iter().zip(&direction).map(|(x, y)| x * y).sum() };
        let along = pair(ds.clone(), make::real(0.0));
        let forward = forward::general_wrapper(&gradient, &arguments, &s).unwrap();
        let over = dot(&numbers(&forward, pair(at.clone(), along)));
        let reverse = monadic::general_wrapper(&gradient, &arguments, &s).unwrap();
        let twice = dot(&numbers(&reverse, pair(at, ds)));
        let size = tower.iter().chain([&over, &twice]).fold(0.0_f64, |size, x| size.max(x.abs()));
        if tower.iter().all(|x| x.is_finite()) && size < 1e6 {
            let near = |x: f64| (x - tower[2]).abs() <= 1e-6 * (1.0 + size);
            assert!(near(over) && near(twice), "{tower:?} {over} {twice}\n{}", print::term(&e));
        }
        Ok(())
    });
}

/// A variable whose value is given from outside is a constant: the gradient is part of that by both.
#[test]
fn open_main_expressions_have_partial_derivatives() {
    cases(500, |u| {
        let (c, s, t) = (data_type(u, 2)?, data_type(u, 2)?, data_type(u, 1)?);
        let both = Ty::prod(c.clone(), s.clone());
        let e = main_expression(u, &both, &t, 8)?;
        let shape = u.int_in_range(0..=1000)?;
        let (constant, point, ds) = (value(u, &c, shape)?, value(u, &s, shape)?, value(u, &s, shape)?);
        let (given, x) = (Name::new("given"), Name::new("open"));
        let call = app(e.clone(), pair(var(given), var(x)));
        let open = Expr::new(Kind::Lam(Pat::Var(x), Some(s.clone()), call));
        let with_constant = |f: E| make::bind(Pat::Var(given), constant.clone(), f);
        let context = [(given, c.clone())];
        let dt = app(e.clone(), pair(constant.clone(), point.clone()));
        let whole = monadic::general_wrapper(&e, &both, &t).unwrap();
        let whole = make::lam(Pat::Var(x), make::snd(app(whole, var(x))));
        let expected = numbers(&whole, pair(pair(constant.clone(), point.clone()), dt.clone()));
        let part = with_constant(monadic::open_wrapper(&open, &s, &t, &context).unwrap());
        same(&numbers(&part, pair(point.clone(), dt)), &expected, "ℛ", &e);
        let zero = app(make::poly(Poly::Scale, &c), pair(make::real(0.0), constant.clone()));
        let along = pair(pair(constant.clone(), point.clone()), pair(zero, ds.clone()));
        let expected = numbers(&forward::general_wrapper(&e, &both, &t).unwrap(), along);
        let part = with_constant(forward::open_wrapper(&open, &s, &t, &context).unwrap());
        same(&numbers(&part, pair(point, ds)), &expected, "ℱ", &e);
        Ok(())
    });
}

/// Steps of the gradient of `doubling n`, and of its derivative by `𝒟⃗` and by `ℛ`.
fn steps(n: usize) -> [f64; 3] {
    let (e, ty) = checked(&doubling(n));
    let (s, _) = source_of(&ty);
    let first = monadic::wrapper(&e, &s).unwrap();
    let plain = unshade::unshade(&first).unwrap();
    let pairs = Ty::prod(Ty::Real, Ty::Real);
    let at = || pair(make::real(1.0), make::real(1.0));
    let count = |f: E, x: E| {
        let reduction = reduce::reduce(&app(f, x), &quiet()).unwrap();
        assert_eq!(reduction.stopped, None);
        reduction.counts.steps as f64
    };
    [
        count(first, at()),
        count(forward::general_wrapper(&plain, &pairs, &Ty::Real).unwrap(), pair(at(), at())),
        count(monadic::general_wrapper(&plain, &pairs, &Ty::Real).unwrap(), pair(at(), make::real(1.0))),
    ]
}

/// Section 7.4 for second derivatives: linear but for the logarithm that the tree for `DeltaMap` costs.
#[test]
fn second_derivatives_cost_a_logarithm_more_than_a_constant_factor() {
    let (small, large) = (steps(64), steps(256));
    let growth: Vec<f64> = small.iter().zip(&large).map(|(a, b)| b / a).collect();
    assert!(growth[0] < 4.1, "{small:?} {large:?}");
    // From 64 to 256 the tree grows from 6 or 7 levels to 8 or 9.
    assert!(growth[1] > 4.0 && growth[1] < 5.5 && growth[2] < 5.5, "{small:?} {large:?}");
}

#[test]
fn a_vector_of_no_elements_is_numbered_too() {
    let (e, ty) = checked("λ((v, x) : Vector ℝ × ℝ). x × x");
    let (s, t) = source_of(&ty);
    let plain = unshaded(&monadic::general_wrapper(&e, &s, &t).unwrap());
    let (point, _) = checked("((build (0, λi. 1.0), 3.0), 1.0)");
    assert_eq!(numbers(&plain, point), [6.0]);
    // A program that stops itself does so in every translation.
    let (e, ty) = checked("λx. if x < 0.0 then fail \"negative\" else sqrt x");
    let (s, _) = source_of(&ty);
    let wrapper = monadic::wrapper(&e, &s).unwrap();
    assert_eq!(numbers(&wrapper, pair(make::real(4.0), make::real(1.0))), [0.25]);
    let stopped = reduce::reduce(&app(wrapper, pair(make::real(-4.0), make::real(1.0))), &quiet());
    assert_eq!(stopped.err().map(|error| error.code), Some("E0979"));
}
