//! What failures of a library say: the words of the interpreter.
//!
//! They are made once for each place, of a fault whose numbers are unlikely ones; where these stand in the words, the C program puts
//! the real ones. Where other numbers would make other words (`1 element`, not `1 elements`), those are made beside them.

use crate::Unit;
use wengert_c::{Case, RANGES, Range};
use wengert_ir::op::Requirement;
use wengert_native::loops::Failure;

/// What a failure says, with characters below 32 for its numbers.
pub(super) struct Words {
    pub(super) text: String,
    /// What it says of some numbers.
    pub(super) cases: Vec<Case>,
    /// Whether it is that arrays of different sizes stand in an array.
    pub(super) uneven: bool,
}

/// Numbers of which a failure may speak in other words than of others.
#[derive(Clone, Copy)]
struct Special {
    range: Range,
    /// One of them.
    example: i64,
}

// Each number is unlike every other part of the message.
const FIRST: i64 = 770_001;
const NUMBERS: usize = 15;
const REAL: f64 = 771_000.25;
/// So many other words are made of one failure at most; with more constructors than that, what fits all is said.
const MOST_CASES: usize = 64;

/// What a failure says.
pub(super) fn words(unit: &Unit, failure: Failure) -> Words {
    if failure == Failure::Memory {
        // The limit is the caller's, who knows it.
        return Words { text: "out of memory".into(), cases: Vec::new(), uneven: false };
    }
    let text = text(unit, failure, &[]);
    let uneven = matches!(failure, Failure::Ragged(_) | Failure::Required(Requirement::Rows));
    let special: Vec<Special> = specials(unit, failure)
        .into_iter()
        .filter(|special| differs(unit, failure, &text, *special))
        .collect();
    let cases =
        if special.len() * special.len() <= MOST_CASES { cases(unit, failure, &special) } else { Vec::new() };
    Words { text, cases, uneven }
}

/// The words of a failure with these numbers, and unlikely ones in the other places.
fn text(unit: &Unit, failure: Failure, special: &[Special]) -> String {
    let real = matches!(failure, Failure::NotAnInt(_));
    let usual = |place: usize| if real { REAL.to_bits().cast_signed() } else { FIRST + place as i64 };
    let number = |place: usize| {
        let special = special.iter().find(|special| special.range.number == place);
        special.map_or(usual(place), |special| special.example).cast_unsigned()
    };
    let numbers: Vec<u64> = (0..NUMBERS).map(number).collect();
    let fault = wengert_native::faults::example(&unit.program, failure, &numbers, "\u{1}");
    let mut text = fault.message();
    if real {
        return text.replace(&REAL.to_string(), "\u{10}");
    }
    for (place, mark) in (0..NUMBERS).zip('\u{1}'..='\u{f}') {
        let (number, mark) = (usual(place), mark.to_string());
        text = text.replace(&(-number).to_string(), &mark).replace(&number.to_string(), &mark);
    }
    text
}

/// Whether a failure speaks of such a number in other words.
fn differs(unit: &Unit, failure: Failure, usual: &str, special: Special) -> bool {
    let Range { number, least, most } = special.range;
    let mark = ('\u{1}'..='\u{f}').nth(number).map(String::from).unwrap_or_default();
    let said = if least == most { usual.replace(&mark, &least.to_string()) } else { usual.to_string() };
    text(unit, failure, &[special]) != said
}

/// Numbers of which a failure may speak in other words.
fn specials(unit: &Unit, failure: Failure) -> Vec<Special> {
    let only = |number, n| Special { range: Range { number, least: n, most: n }, example: n };
    let nan = |least, most| Special {
        range: Range { number: 0, least, most },
        example: f64::NAN.to_bits().cast_signed(),
    };
    if matches!(failure, Failure::NotAnInt(_)) {
        let infinity = |x: f64| x.to_bits().cast_signed();
        return vec![nan(infinity(f64::INFINITY) + 1, i64::MAX), nan(infinity(f64::NEG_INFINITY) + 1, -1)];
    }
    // What the user says has no numbers.
    if failure == Failure::User {
        return Vec::new();
    }
    // One of something, and what numbers are names of.
    let mut all: Vec<Special> = (0..3).map(|number| only(number, 1)).collect();
    if let Failure::Required(Requirement::Count(_)) = failure {
        all.push(Special { range: Range { number: 0, least: i64::MIN, most: -1 }, example: -FIRST });
    }
    if let Failure::Required(Requirement::NamedSize(name, _)) = failure {
        all.extend(name.as_str().parse().ok().filter(|n| *n != 1).map(|n| only(0, n)));
    }
    if let Failure::Required(Requirement::SameCtor(_, data)) = failure {
        let ctors = unit.program.data.get(data).map_or(0, |data| data.ctors.len() as i64);
        let others = (0..ctors).filter(|n| *n != 1);
        all.extend(others.flat_map(|n| [only(0, n), only(1, n)]));
    }
    all
}

/// The words for such numbers: for two of them, then for one.
fn cases(unit: &Unit, failure: Failure, special: &[Special]) -> Vec<Case> {
    let case = |numbers: &[Special]| Case {
        ranges: numbers.iter().map(|special| special.range).collect(),
        text: text(unit, failure, numbers),
    };
    const { assert!(RANGES == 2, "the words are for two numbers at most") };
    let mut all = Vec::new();
    for (place, one) in special.iter().enumerate() {
        let others = special.iter().skip(place + 1).filter(|other| other.range.number != one.range.number);
        all.extend(others.map(|other| case(&[*one, *other])));
    }
    all.extend(special.iter().map(|one| case(&[*one])));
    all
}
