//! The paper's examples and theorems.

use super::examples;
use super::parse::parse;
use super::reduce::{Order, reduce};
use super::syntax::Term;
use super::types::check;
use super::{print, quiet};
use crate::kit::ground::Ground;
use wengert_base::SourceId;

fn read(text: &str) -> Term {
    let program = parse(SourceId(0), text).unwrap_or_else(|e| panic!("{}: {text}", e.message));
    check(&program).unwrap_or_else(|e| panic!("{}: {text}", e.message));
    program.term
}

fn value(text: &str) -> Ground {
    reduce(&read(text), Order::BodyFirst, &quiet()).result.unwrap_or_else(|| panic!("no value"))
}

#[test]
fn section_2_examples() {
    assert_eq!(value(examples::SQUARE_PLUS_ONE), Ground::Tuple(vec![Ground::Real(6.0), Ground::Real(10.0)]));
    assert_eq!(value(examples::CONFUSION), Ground::Real(0.0));
    let naive = super::naive::evaluate(&read(examples::CONFUSION), &None);
    assert!(matches!(naive, Some(super::naive::Value::Dual(1.0, 0.0))), "{naive:?}");
    assert_eq!(value(examples::CHURCH_SUM), Ground::Real(1.0));
    println!("{}", print::term(&read(examples::NOT_CONFLUENT)));
}
