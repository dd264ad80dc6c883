//! Values on their way out of an engine.

use super::{ALL, Form, Target, limits, result_type};
use crate::engine::{Engine, Options};
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_fault::Fault;
use wengert_interp::{Interp, show};

#[test]
fn a_value_that_nobody_waits_for_is_not_put_together() {
    let mut session = Session::new();
    let text = "(map (\\x -> (x, true)) [1, 2], [3, 4])";
    let Ok((expression, mut program)) = session.expression_in(text, None) else { panic!("{text} is right") };
    program.defs.extend(expression.program.defs);
    let target = Target::of(&Options { engine: Engine::Ir, ..Options::default() }).unwrap();
    let (entry, stop) = ((expression.def.name, [].as_slice()), Arc::new(AtomicU64::new(0)));
    let own = limits(1 << 30, &stop, 1);
    let mut native = target.ready(&program, entry, &[], ALL, own).unwrap();
    let flat = native.call(&[]).unwrap();
    let (layout, ty) = (native.entry().result.clone(), result_type(&program, entry, 0).unwrap());
    let mut interp = Interp::new(&program, wengert_interp::Limits::default());
    let mut form = Form { stop: stop.clone(), ..Form::new(&program, &native, &mut interp) };
    assert_eq!(show::show(&form.whole(&flat, &layout, &ty).unwrap()), "([(1, true), (2, true)], [3, 4])");
    stop.store(1, Ordering::Relaxed);
    assert_eq!(form.whole(&flat, &layout, &ty).unwrap_err().code, Fault::Interrupted.code());
    assert!(!show::show(&form.value(&flat, &layout, &ty)).contains("(2, true)"));
}
