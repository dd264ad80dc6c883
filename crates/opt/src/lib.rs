//! The optimizer: named passes from IR to IR, each of which can be left out without changing what a program computes.
//!
//! [`PASSES`] is the list. A pass is a function on programs; it keeps them well formed, keeps every result to the last bit, and
//! keeps every failure: an operation that may fail is neither dropped, nor done earlier, nor done more often.
//!
//! ```
//! let mut program = wengert_ir::parse("func f(x: Real) -> Real { a = x * 1.0 b = a + a c = a + a d = b * c return d } entry f = f").unwrap();
//! wengert_opt::optimize(&mut program, &wengert_opt::Options::default());
//! assert_eq!(wengert_ir::print(&program), "func f(x: Real) -> Real {\n  b = x + x\n  d = b * b\n  return d\n}\n\nentry f = f\n");
//! ```

mod abreast;
mod added;
mod addends;
mod additions;
mod alike;
mod apart;
mod around;
mod asked;
mod blank;
mod branches;
mod cases;
mod changes;
mod checks;
mod choices;
mod collect;
mod compose;
mod copies;
mod counted;
mod cse;
mod dce;
mod doubles;
mod elements;
mod ends;
mod extremes;
mod facts;
mod finite;
mod flat;
mod fuse;
mod given;
mod handed;
mod held;
mod hoist;
mod idle;
mod inline;
mod known;
mod leaves;
mod linear;
mod lines;
mod listed;
mod lists;
mod live;
mod merge;
mod numbers;
mod onward;
mod opened;
mod picked;
mod powers;
mod products;
mod reciprocals;
mod recursion;
mod relax;
mod roots;
mod rows;
mod said;
mod shares;
mod short;
mod sides;
mod simplify;
mod single;
mod sizes;
mod slopes;
mod small;
mod spare;
mod stages;
mod stands;
mod still;
mod strong;
mod supposed;
mod terms;
mod times;
mod truths;
mod turned;
mod twice;
mod twigs;
mod twofold;
mod unbox;
mod units;
mod unroll;
mod updates;
mod waits;
mod walk;
mod walks;
mod within;

pub use dce::drop_functions;
pub use relax::{RELAXED, Relaxed, relax, share};
pub use supposed::Supposed;
use wengert_ir::Program;

/// A pass.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name: of the switch, and in reports.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
    /// The pass.
    pub run: fn(&mut Program),
}

/// So many passes at the end of the list are in no round: the first of them is done after all rounds.
const LAST: usize = 13;
/// So many of those are done once, after derivatives are made.
const FINISHING: usize = 2;
/// And so many after all that is in another list, too.
const READYING: usize = 2;

/// All passes, in the order in which a round does them.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "inline",
        what: "small functions, and those called once, stand where they are called",
        run: inline::run,
    },
    Pass {
        name: "known",
        what: "parameters and fields that are one number wherever they are given; fields that are given twice; functions of which derivatives are asked are copied for the functions that they are given",
        run: |program| {
            known::run(program);
            given::run(program);
            unroll::choices(program);
        },
    },
    Pass {
        name: "simplify",
        what: "known operands, copies, branches on constants, matches on known constructors",
        run: simplify::run,
    },
    Pass {
        name: "compose",
        what: "what a recursive function makes for another that takes it apart is not made",
        run: compose::run,
    },
    Pass {
        name: "recursion",
        what: "functions that call themselves once on each way through them become loops",
        run: recursion::run,
    },
    Pass {
        name: "walks",
        what: "a loop that walks through data as one before it did is counted, and takes what that has collected; so is one that goes from one known number to another",
        run: walks::run,
    },
    Pass {
        name: "lists",
        what: "a list that one loop makes and another takes apart again becomes arrays",
        run: lists::run,
    },
    Pass {
        name: "copies",
        what: "a tape that is a copy of the data that was walked through is that data",
        run: copies::run,
    },
    Pass {
        name: "flat",
        what: "small data that refers to nothing lies flat: the number of its constructor, and its fields; rows that hold nothing are counted",
        run: |program| {
            counted::run(program);
            flat::run(program);
        },
    },
    Pass {
        name: "sizes",
        what: "sizes that are equal have one name; what is required of them and holds is not checked",
        run: sizes::run,
    },
    Pass {
        name: "unbox",
        what: "arrays of boxes around arrays of one shape become arrays with more axes",
        run: unbox::run,
    },
    Pass {
        name: "rows",
        what: "what a loop reads at its index becomes a row that it goes through, what it adds there one that it gives; sums of arrays become loops",
        run: rows::run,
    },
    Pass {
        name: "ends",
        what: "no array goes into a loop twice, unread, or where all its elements are alike; none comes out twice or as it went in",
        run: ends::run,
    },
    Pass {
        name: "elements",
        what: "what is read of an array that is updated is read before; a changed row that is put back is a change of the array",
        run: elements::run,
    },
    Pass {
        name: "picked",
        what: "of an array of which only an element or two are looked at, only those are made",
        run: picked::run,
    },
    Pass { name: "cse", what: "what was computed before is not computed again", run: cse::run },
    Pass {
        name: "branches",
        what: "a branch that makes something for another on the same condition becomes part of it; one whose sides give the same is none; one that gives truth values, or integers that take nothing, is a choice",
        run: |program| {
            alike::run(program);
            truths::run(program);
            branches::run(program);
        },
    },
    Pass {
        name: "cases",
        what: "a match on what branches make becomes part of them, and that is not made",
        run: cases::run,
    },
    Pass {
        name: "sides",
        what: "what becomes simpler on the sides of a branch is done there",
        run: sides::run,
    },
    Pass {
        name: "hoist",
        what: "what does not change in a loop is computed before it, functions also where only a branch in it asks for them; what it hands on as it came is what it began with; what a loop that runs, or both sides of a branch, check first is checked before",
        run: |program| {
            handed::run(program);
            hoist::run(program);
        },
    },
    Pass {
        name: "within",
        what: "a loop that does something only from some index on, or only before one, goes through those iterations alone, as a convolution does",
        run: within::run,
    },
    Pass {
        name: "fuse",
        what: "a loop that makes an array for one other loop becomes part of it",
        run: fuse::run,
    },
    Pass {
        name: "products",
        what: "loops that multiply matrices become products of matrices",
        run: products::run,
    },
    Pass { name: "merge", what: "independent loops over the same indices become one", run: merge::run },
    Pass {
        name: "dce",
        what: "what nobody needs is not computed; loops, calls and data carry and give only what is used",
        run: |program| {
            blank::run(program);
            dce::run(program);
        },
    },
    Pass { name: "strong", what: "what is multiplied with a strong zero is not computed", run: strong::run },
    Pass {
        name: "leaves",
        what: "recursion that branches looks for leaves before it calls itself (once, before derivatives are made)",
        run: |program| {
            leaves::run(program);
        },
    },
    Pass {
        name: "twigs",
        what: "recursion that branches does at once what has only leaves after it (once, before derivatives are made)",
        run: |program| {
            twigs::run(program);
        },
    },
    Pass {
        name: "small",
        what: "small arrays of which the sizes are known are their elements, in loops, and where loops hand them on (once, before derivatives are made)",
        run: |program| {
            small::run(program);
        },
    },
    Pass {
        name: "short",
        what: "loops of a few iterations in other loops are those iterations (once, before derivatives are made)",
        run: |program| {
            short::run(program);
        },
    },
    Pass {
        name: "around",
        what: "a neighbor that is at the other end where there is none on this side is found by a remainder (once, before derivatives are made)",
        run: |program| {
            around::run(program);
        },
    },
    Pass {
        name: "changes",
        what: "a loop that hands an array on, and leaves much of it as it was, changes the rest in place; what is set to itself and something more is added to (once, before derivatives are made)",
        run: |program| {
            in_place(program);
        },
    },
    Pass {
        name: "opened",
        what: "data that loops look at again and again, elements of arrays too, is looked at before them (once, before derivatives are made)",
        run: |program| {
            opened::run(program);
        },
    },
    Pass {
        name: "supposed",
        what: "where arrays that a loop hands on have the shape from the first on that it gives them, the program is another (once, after derivatives are made, and not to be read)",
        run: |program| {
            if let Some(supposed) = supposed::suppose(program) {
                *program = supposed.chosen();
            }
        },
    },
    Pass {
        name: "abreast",
        what: "loops inside of a short one do at once what it does for each of its indices; what loops make of a unit vector is made at its one element; short loops with unit vectors are their iterations, and elements of unit vectors choices (once, after derivatives are made)",
        run: abreast::run,
    },
    Pass {
        name: "still",
        what: "sums over rows of tangents go past those that are zero (once, after derivatives are made)",
        run: still::run,
    },
    Pass {
        name: "stages",
        what: "functions of numbers, and what comes one after the other or goes through rows, are computed in loops of their own (once, after all others but the next)",
        run: stages::run,
    },
    Pass {
        name: "held",
        what: "rows that are looked at after their array is updated are copied, so that the array need not be (once, after all others)",
        run: held::run,
    },
];

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Names of passes to leave out.
    pub without: Vec<String>,
    /// Derivatives must add up in the order of the source.
    pub ordered: bool,
    /// And they are still to be made.
    pub in_order: bool,
    /// None are made: numbers know what they vary by.
    pub tagged: bool,
}

/// Passes after which derivatives add up in another order than the source says: what was computed several times, each time with a
/// cotangent of its own, is computed once, or in another place, loop or function.
const REORDERING: [&str; 17] = [
    "compose",
    "recursion",
    "picked",
    "cse",
    "branches",
    "cases",
    "sides",
    "hoist",
    "fuse",
    "merge",
    "leaves",
    "twigs",
    "small",
    "short",
    "around",
    "changes",
    "opened",
];

impl Options {
    /// Whether the pass of this name is not done.
    fn leaves_out(&self, name: &str) -> bool {
        self.without.iter().any(|left_out| left_out == name)
    }

    /// What a pass does where numbers must be exact, and where derivatives are still to be made that must add up in the order of the source.
    fn way_of(&self, pass: &Pass) -> fn(&mut Program) {
        match pass.name {
            "simplify" if self.in_order => simplify::in_order,
            "simplify" if self.ordered => simplify::exactly,
            "sides" if self.ordered => sides::exactly,
            "abreast" if self.ordered => abreast::exactly,
            "stages" if self.ordered => stages::exactly,
            _ => pass.run,
        }
    }

    /// What to do before derivatives are made.
    pub fn before_derivatives(&self) -> Options {
        let reordering = if self.ordered { REORDERING.as_slice() } else { &[] };
        let without = self.without.iter().cloned().chain(reordering.iter().map(|name| (*name).to_owned()));
        let (ordered, tagged) = (self.ordered, self.tagged);
        Options { without: without.collect(), ordered, in_order: ordered, tagged }
    }
}

/// Rounds at most: a pass may make work for one before it.
const ROUNDS: usize = 4;
/// After so many passes one looks whether they have changed something.
const LOOKED_AT: usize = 6;

/// Optimizes a program. Gives whether nothing is left to do: the same again would change nothing.
pub fn optimize(program: &mut Program, options: &Options) -> bool {
    let (rounds, last) = PASSES.split_at_checked(PASSES.len() - LAST).unwrap_or((PASSES, &[]));
    let mut before = size(program);
    // Whether something has changed: what some passes make smaller others may make larger again.
    let mut run = |passes: &[Pass]| {
        let mut changed = false;
        for some in passes.chunks(LOOKED_AT) {
            for pass in some {
                wengert_ir::stop::check();
                if !options.leaves_out(pass.name) {
                    options.way_of(pass)(program);
                }
            }
            let after = size(program);
            changed |= after != before;
            before = after;
        }
        changed
    };
    let mut settled = false;
    for _ in 0..ROUNDS {
        settled = !run(rounds);
        if settled {
            break;
        }
    }
    run(last.get(..1).unwrap_or_default());
    settled
}

/// Unrolls recursion once, as far as it pays, and short loops in loops: before derivatives are made. If there was something to do, gives what
/// [`optimize`] gives.
pub fn unroll(program: &mut Program, options: &Options) -> Option<bool> {
    let wanted = |name: &str| !options.leaves_out(name);
    let leaves = (wanted("leaves") && leaves::run(program)).then(|| optimize(program, options));
    let twigs = (wanted("twigs") && twigs::run(program)).then(|| optimize(program, options));
    // What one writes out the other may see.
    let mut written_out = || {
        let small = (wanted("small") && small::run(program)).then(|| optimize(program, options));
        let short = (wanted("short") && short::run(program)).then(|| optimize(program, options));
        short.or(small)
    };
    let first = written_out();
    let written_out = first.and_then(|_| written_out()).or(first);
    let around = (wanted("around") && around::run(program)).then(|| optimize(program, options));
    let changes = (wanted("changes") && in_place(program)).then(|| optimize(program, options));
    let opened = (wanted("opened") && opened::run(program)).then(|| optimize(program, options));
    opened.or(changes).or(around).or(written_out).or(twigs).or(leaves)
}

fn in_place(program: &mut Program) -> bool {
    changes::run(program) | additions::run(program)
}

/// Supposes of arrays that loops hand on that they have one shape, after derivatives are made. If there was something to do, gives the program for which
/// the rest is to be done, which does what the other one does: it is not to be read.
pub fn suppose(program: &Program, options: &Options) -> Option<Supposed> {
    let wanted = !options.ordered && !options.leaves_out("supposed");
    let mut supposed = wanted.then(|| supposed::suppose(program)).flatten()?;
    optimize(&mut supposed.program, options);
    finish(&mut supposed.program, options);
    Some(supposed)
}

/// What is done once, after derivatives are made and the program is optimized.
pub fn finish(program: &mut Program, options: &Options) {
    let (_, once) = PASSES.split_at_checked(PASSES.len() - READYING - FINISHING).unwrap_or_default();
    for pass in once.iter().take(FINISHING).filter(|pass| !options.leaves_out(pass.name)) {
        options.way_of(pass)(program);
    }
    sizes::drop_said(program);
    if !options.leaves_out("within") {
        within::with_sums(program);
    }
    checks::run(program);
}

/// What is only there to be known, or to be asked though it is asked again, is left out, and what only that asks for: people need not see it.
pub fn unsaid(program: &mut Program) {
    sizes::forget_beside(program);
    twice::run(program);
    dce::run(program);
}

/// What is done last, before a program is lowered: it means nothing to other passes.
pub fn ready(program: &mut Program, options: &Options) {
    let (_, last) = PASSES.split_at_checked(PASSES.len() - READYING).unwrap_or_default();
    for pass in last.iter().filter(|pass| !options.leaves_out(pass.name)) {
        options.way_of(pass)(program);
    }
}

/// The names of all passes, in the order in which they are done first, and what each does.
pub fn page() -> impl Iterator<Item = (&'static str, &'static str)> {
    let plain = PASSES.iter().map(|pass| (pass.name, pass.what));
    plain.chain(RELAXED.iter().map(|pass| (pass.name, pass.what)))
}

fn size(program: &Program) -> usize {
    program.funcs.iter().map(|(_, func)| func.body.size()).sum()
}

#[cfg(test)]
mod tests;
