//! What is done where numbers need not be to the last bit those of the interpreter: passes as the others are, after all of those. Each
//! keeps every failure, and every number but for how it is rounded.

use crate::{
    Options, PASSES, ROUNDS, added, addends, apart, around, choices, collect, doubles, extremes, finite,
    fuse, idle, lines, listed, onward, powers, reciprocals, roots, shares, sides, slopes, terms, times,
    turned, twofold, updates, waits,
};
use wengert_ir::Program;

/// A pass of those.
#[derive(Clone, Copy)]
pub struct Relaxed {
    /// Its name: of the switch, and in reports.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
    /// The pass. Whether something has changed.
    run: fn(&mut Program) -> bool,
    /// What tidies up after it, where something has changed.
    after: &'static [&'static str],
    /// How often it is done at most: again as long as something changes.
    rounds: usize,
}

/// How the last one is called, which is apart from the others.
const SHARES: &str = "shares";

/// All of them, in the order in which they are done.
pub const RELAXED: &[Relaxed] = &[
    Relaxed {
        name: "reciprocals",
        what: "what is divided by a number whose reciprocal another loop has computed is multiplied with that",
        run: reciprocals::run,
        after: &["dce"],
        rounds: 1,
    },
    Relaxed {
        name: "roots",
        what: "a number that is divided by its root is the root; what is divided by a number whose reciprocal is there is multiplied with that",
        run: roots::run,
        after: &["simplify", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "sums",
        what: "a loop that only adds up what another makes becomes part of that one",
        run: |program| {
            fuse::sums(program);
            false
        },
        after: &[],
        rounds: 1,
    },
    Relaxed {
        name: "extremes",
        what: "the largest or smallest of what a loop makes is found in that loop",
        run: extremes::run,
        after: &["dce"],
        rounds: 1,
    },
    Relaxed {
        name: "choices",
        what: "branches between numbers that cost little are choices",
        run: |program| sides::relaxed(program) | choices::run(program),
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "powers",
        what: "powers with a small whole exponent are products",
        run: powers::run,
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "slopes",
        what: "a loop multiplies what it hands on as a (co)tangent with the slope of the step",
        run: slopes::run,
        after: &["simplify", "hoist", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "rings",
        what: "what is added to a neighbor, or to one at the other end where there is none on this side, is added to one that a remainder tells",
        run: around::run,
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "lines",
        what: "what each iteration of a loop adds to its own row of zeros is a row that it gives, and what all of them add to one other row is summed apart",
        run: lines::run,
        after: &["simplify", "rows", "ends", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "apart",
        what: "what a loop adds to one element of an array is summed apart",
        run: apart::run,
        after: &["simplify", "rows", "ends", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "onward",
        what: "loops that go backward go onward where that is the same, with what a loop before looks for or keeps for them",
        run: onward::run,
        after: &["simplify", "branches", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "added",
        what: "what one side of a branch adds to a sum is chosen first, and then added",
        run: added::run,
        after: &["simplify"],
        rounds: 1,
    },
    Relaxed {
        name: "times",
        what: "a sum of what is the same in all iterations of a loop is a product",
        run: times::run,
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "addends",
        what: "what is added to one element several times is added once; what an iteration adds to a sum in several steps is added up first",
        run: |program| updates::run(program) | addends::run(program),
        after: &["simplify", "hoist", "ends", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "twofold",
        what: "what a loop adds up of an array that it updates is added up before, in a loop of its own",
        run: |program| {
            let changed = twofold::run(program);
            if changed {
                onward::run(program);
            }
            changed
        },
        after: &["ends", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "collect",
        what: "loops that add to their neighbors become loops that collect what the neighbors give",
        run: |program| {
            let changed = collect::run(program);
            if changed {
                // What is left of such a loop may be nothing but sums.
                added::run(program);
            }
            changed
        },
        after: &["simplify", "hoist", "rows", "ends", "cse", "dce", "fuse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "idle",
        what: "where the cotangent that a loop reads of what it hands on is zero, an iteration does nothing",
        run: idle::run,
        after: &["simplify", "branches", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "terms",
        what: "terms of a sum that are alike become one",
        run: |program| {
            finite::run(program);
            terms::run(program)
        },
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "doubles",
        what: "factors of two and signs go into constants and differences",
        run: doubles::run,
        after: &["simplify", "cse", "dce", "simplify"],
        rounds: ROUNDS,
    },
    Relaxed {
        name: "finite",
        what: "strong zeros that meet no infinity are ordinary ones",
        run: finite::run,
        after: &["dce"],
        rounds: 1,
    },
    Relaxed {
        name: "cells",
        what: "what a loop adds to a few elements of an array, and to no others, is summed in numbers",
        run: apart::cells,
        after: &["simplify", "rows", "ends", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "listed",
        what: "what is added to elements of zeros, of which the sizes are known, is listed where that says half of them",
        run: listed::run,
        after: &["simplify", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: "waits",
        what: "of several numbers of which the smallest or largest is taken, the one for which the next iteration waits is compared last",
        run: waits::run,
        after: &[],
        rounds: 1,
    },
    Relaxed {
        name: "turned",
        what: "a long loop around short ones does in each of their iterations what all of its own do, some hundreds at once",
        run: turned::run,
        after: &["simplify", "hoist", "cse", "dce"],
        rounds: 1,
    },
    Relaxed {
        name: SHARES,
        what: "what the user says is associative is made in shares, which threads can make at once",
        run: shares::run,
        after: &["simplify", "hoist", "dce"],
        rounds: 1,
    },
];

/// Optimizes a program further.
pub fn relax(program: &mut Program, options: &Options) {
    RELAXED.iter().filter(|pass| pass.name != SHARES).for_each(|pass| pass.on(program, options));
}

/// Makes what the user says is associative in shares: the last thing to be done.
pub fn share(program: &mut Program, options: &Options) {
    RELAXED.iter().filter(|pass| pass.name == SHARES).for_each(|pass| pass.on(program, options));
}

impl Relaxed {
    fn on(&self, program: &mut Program, options: &Options) {
        let mut left = if options.leaves_out(self.name) { 0 } else { self.rounds };
        while left > 0 && (self.run)(program) {
            for name in self.after.iter().filter(|name| !options.leaves_out(name)) {
                PASSES.iter().filter(|pass| pass.name == *name).for_each(|pass| (pass.run)(program));
            }
            left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RELAXED;
    use crate::PASSES;

    #[test]
    fn what_tidies_up_is_a_pass_and_no_name_is_there_twice() {
        for pass in RELAXED {
            assert!(!PASSES.iter().any(|other| other.name == pass.name), "{}", pass.name);
            assert_eq!(RELAXED.iter().filter(|other| other.name == pass.name).count(), 1, "{}", pass.name);
            for name in pass.after {
                assert!(PASSES.iter().any(|other| other.name == *name), "{name} after {}", pass.name);
            }
        }
    }
}
