//! The command line: every option with its help text.

mod choices;

pub(crate) use choices::{EmitArg, EngineArg, PartArg};

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, Resettable};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::time::Duration;
use wengert_driver::growth::{FAMILIES, Family};
use wengert_driver::{MOST_THREADS, passes};

const EXAMPLES: &str = "\
Examples:
  wengert eval 'grad (\\x -> x ^ 3) 2.0'        a value: 12.0
  wengert run model.wg                         the value of `main`
  wengert run model.wg --entry f --input '[[1.0, 2.0]]'
  wengert check model.wg                       types of all definitions, or what is wrong
  wengert repl                                 try things out

Exit status: 0 fine, 1 the program is at fault, 2 wrong usage.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "wengert", version, after_help = EXAMPLES, arg_required_else_help = true)]
#[command(about = "A small functional language in which derivatives are values")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Whether messages are colored
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
}

impl Cli {
    /// The command line of this program; ends the program if it is wrong.
    pub(crate) fn read() -> Cli {
        let mut command = without_empty_variables(Cli::command());
        let matches = command.get_matches_mut();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

/// A variable of the environment that is empty says nothing: `WENGERT_ENGINE=` is as if it were not there.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty =
        |arg: &clap::Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| if is_empty(&arg) { arg.env(Resettable::Reset) } else { arg });
    command.mut_subcommands(without_empty_variables)
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the value of an expression
    #[command(after_help = "\
Examples:
  wengert eval '1 + 2'
  wengert eval 'grad f (1, 3)' --file f.wg      with the definitions of f.wg in scope
  wengert eval 'hessian g [1.0, 2.0]' --file g.wg --json")]
    Eval {
        /// The expression
        #[arg(value_name = "EXPR", allow_hyphen_values = true)]
        expression: String,

        /// Evaluate with the definitions and imports of this file in scope
        #[arg(long, short, value_name = "FILE")]
        file: Option<PathBuf>,

        #[command(flatten)]
        how: How,
    },

    /// Evaluate `main` of a file, or call one of its functions
    #[command(after_help = "\
The arguments are a JSON array. A Real is a number, or \"NaN\", \"Infinity\", \"-Infinity\"; tuples and arrays
are arrays, () is [], a record is an object, a constructor is {\"tag\": \"Cons\", \"fields\": [...]}.

Examples:
  wengert run model.wg
  wengert run model.wg --entry loss --input '[[0.5, 0.1], {\"rate\": 0.01}]'
  wengert run model.wg --entry loss --input @arguments.json --json
  generate | wengert run model.wg --entry loss --input @-")]
    Run {
        /// The program
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The definition to evaluate
        #[arg(long, short, value_name = "NAME", default_value = "main")]
        entry: String,

        /// The arguments as a JSON array, or @FILE that holds it (@- is standard input)
        #[arg(long, short, value_name = "JSON|@FILE", allow_hyphen_values = true)]
        input: Option<String>,

        #[command(flatten)]
        how: How,
    },

    /// Print the types of all definitions, or what is wrong
    #[command(after_help = "\
Examples:
  wengert check model.wg
  wengert check --json model.wg data.wg      for editors and other tools")]
    Check {
        /// The programs
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,

        /// Print definitions and diagnostics as JSON
        #[arg(long)]
        json: bool,
    },

    /// Put programs into the one layout
    #[command(after_help = "\
Examples:
  wengert fmt model.wg            rewrites the file
  wengert fmt --check *.wg        lists files that would change, exit status 1 if there are any
  wengert fmt - < a.wg > b.wg     from standard input to standard output")]
    Fmt {
        /// The programs; `-` is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,

        /// Change nothing; list the files that are not in the one layout
        #[arg(long)]
        check: bool,
    },

    /// Try things out: expressions, definitions, types, costs
    #[command(after_help = "Type :help at the prompt. History is kept between sessions.")]
    Repl {
        /// Start with the definitions of this file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,

        #[command(flatten)]
        limits: LimitArgs,

        /// The evaluator
        #[arg(long, value_enum, env = "WENGERT_ENGINE", default_value_t = EngineArg::Interp)]
        engine: EngineArg,
    },

    /// Count the floating-point operations of a function and of its derivatives
    #[command(after_help = "\
Prints a JSON object: `primal` for f x, `jvp` for its value and directional derivative, `vjp` for its value and
gradient. An elementary function such as exp counts as 4 operations.

Example:
  wengert cost model.wg --entry loss --input '[[0.5, 0.1]]'")]
    Cost {
        /// The program
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The function
        #[arg(long, short, value_name = "NAME")]
        entry: String,

        /// The arguments as a JSON array, or @FILE that holds it (@- is standard input)
        #[arg(long, short, value_name = "JSON|@FILE", allow_hyphen_values = true)]
        input: String,

        #[command(flatten)]
        limits: LimitArgs,
    },

    /// Make a shared library of a function, for C programs
    #[command(after_help = "\
Writes libNAME.so, NAME.h, which declares what is in it, and NAME.c, of which it was made. The function NAME of the
library takes the function's arguments; NAME_jvp takes a tangent of each besides, NAME_vjp a cotangent of the value.
It needs a C compiler: the one that the variable CC names, or cc, gcc or clang.

Example:
  wengert build model.wg --entry loss -o lib --vjp")]
    Build {
        /// The program
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The function
        #[arg(long, short, value_name = "NAME")]
        entry: String,

        /// Where to put the files
        #[arg(long, short, value_name = "DIR", default_value = ".")]
        output: PathBuf,

        /// With the derivative in the direction of a tangent
        #[arg(long)]
        jvp: bool,

        /// With the gradient: what a cotangent of the value is for the arguments
        #[arg(long)]
        vjp: bool,

        /// Stop after so many seconds
        #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
        timeout: Option<Duration>,
    },

    /// Measure a function and its derivatives
    #[command(after_help = "\
Prints medians: of the function, of its value and directional derivative, of its pullback. Tangent and
cotangent are 1 everywhere. Compilation and reading the input are not in them.

Examples:
  wengert bench model.wg --entry loss --input '[[0.5, 0.1]]'
  wengert bench model.wg --entry loss --input @arguments.json --engine interp --json")]
    Bench {
        /// The program
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The function
        #[arg(long, short, value_name = "NAME")]
        entry: String,

        /// The arguments as a JSON array, or @FILE that holds it (@- is standard input)
        #[arg(long, short, value_name = "JSON|@FILE", allow_hyphen_values = true)]
        input: String,

        /// Call each at least so often
        #[arg(long, value_name = "N", default_value_t = 10)]
        runs: u64,

        /// Call each for at least so many seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "0.3")]
        seconds: Duration,

        /// Print as JSON
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        with: MeasuredWith,

        #[command(flatten)]
        limits: LimitArgs,
    },

    /// Show where a function or a derivative of it spends its time, by lines of the source
    #[command(after_help = "\
Examples:
  wengert profile model.wg --entry loss --input '[[0.5, 0.1]]'
  wengert profile model.wg --entry loss --input @arguments.json --of vjp")]
    Profile {
        /// The program
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The function
        #[arg(long, short, value_name = "NAME")]
        entry: String,

        /// The arguments as a JSON array, or @FILE that holds it (@- is standard input)
        #[arg(long, short, value_name = "JSON|@FILE", allow_hyphen_values = true)]
        input: String,

        /// What to run: the function, its directional derivative, its pullback
        #[arg(long, value_enum, value_name = "WHAT", default_value_t = PartArg::Primal)]
        of: PartArg,

        /// Run for about so many seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "1")]
        seconds: Duration,

        /// Print as JSON
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        limits: LimitArgs,
    },

    /// Reduce an expression step by step in one of the calculi
    #[command(after_help = "\
The calculi are those of `wengert calculus`. The part that the next rule rewrites is marked in each term.

Examples:
  wengert trace 'grad (\\x -> x * x) 3.0' --in pullback
  wengert trace 'grad f (1, 3)' --file f.wg --in delta --steps 10
  wengert trace 'jvp sin (1.0, 1.0)' --in perturbative --json")]
    Trace {
        /// The expression
        #[arg(value_name = "EXPR", allow_hyphen_values = true)]
        expression: String,

        /// The calculus: pullback, differential, perturbative, negation or delta
        #[arg(long = "in", value_name = "NAME")]
        calculus: String,

        /// Trace with the definitions and imports of this file in scope
        #[arg(long, short, value_name = "FILE")]
        file: Option<PathBuf>,

        #[command(flatten)]
        show: TraceArgs,

        /// Write a drawing of the computational graph to this file
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },

    /// Work on terms written in the notation of a calculus
    #[command(after_help = "\
Examples:
  wengert calculus                           the calculi
  wengert calculus pullback                  its rules
  wengert calculus pullback check term.txt   its type
  wengert calculus pullback step term.txt    one step; more with --steps N
  wengert calculus delta translate term.txt
  wengert calculus growth                    steps, sizes and times against n, with growth orders
  wengert calculus growth --family product --in perturbative --svg .")]
    Calculus {
        /// The calculus, or `growth`; without it, all are listed
        #[arg(value_name = "NAME")]
        name: Option<String>,

        /// What to do; without it, the rules are listed
        #[arg(value_name = "WHAT", value_enum, requires = "file")]
        verb: Option<Verb>,

        /// The term; `-` is standard input
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,

        #[command(flatten)]
        show: TraceArgs,

        #[command(flatten)]
        growth: GrowthArgs,
    },

    /// Describe a function or a module of the library
    #[command(after_help = "\
Examples:
  wengert doc                 everything there is
  wengert doc vjp             signature and meaning
  wengert doc linalg          a module
  wengert doc linalg.solve")]
    Doc {
        /// A function, a module, or module.function
        #[arg(value_name = "NAME", allow_hyphen_values = true)]
        name: Option<String>,
    },

    /// Explain the code of an error message
    #[command(after_help = "\
Examples:
  wengert explain E0301
  wengert explain             all codes")]
    Explain {
        /// A code such as E0301
        #[arg(value_name = "CODE")]
        code: Option<String>,
    },

    /// Print a script that completes commands and options in a shell
    #[command(after_help = "\
Examples:
  wengert completions bash > ~/.local/share/bash-completion/completions/wengert
  wengert completions fish > ~/.config/fish/completions/wengert.fish")]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL", value_enum)]
        shell: Shell,
    },
}

/// What to do with a term of a calculus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verb {
    /// Print its type
    Check,
    /// Print the first step, or more with --steps
    Step,
    /// Reduce it to the end
    Reduce,
    /// Print what the calculus's transformations make of it
    Translate,
}

/// What to print of a trace.
#[derive(Clone, Debug, Args)]
pub(crate) struct TraceArgs {
    /// Print at most so many steps
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<usize>,

    /// Print only steps by these rules, separated by commas; `beta` is the rule β
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,

    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Characters of a term to a line; longer terms are folded around the part that is rewritten
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) width: usize,

    /// Stop after so many steps (suffixes K, M, G)
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M")]
    pub(crate) max_steps: u64,

    /// Stop at a term of more nodes than this (suffixes K, M, G)
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10M")]
    pub(crate) max_size: u64,
}

/// What `calculus growth` measures.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "With `growth`")]
pub(crate) struct GrowthArgs {
    /// Measure only this family of programs
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(FAMILIES.iter().map(family)))]
    pub(crate) family: Option<String>,

    /// Measure only this calculus, with its variants
    #[arg(long = "in", value_name = "NAME")]
    pub(crate) calculus: Option<String>,

    /// Leave out times: what is left is the same every time
    #[arg(long)]
    pub(crate) counts: bool,

    /// Show every count that a calculus makes
    #[arg(long)]
    pub(crate) all: bool,

    /// Write plots to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
}

impl GrowthArgs {
    /// An option that was given, though nothing is measured.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.family.is_some(), "--family"),
            (self.calculus.is_some(), "--in"),
            (self.counts, "--counts"),
            (self.all, "--all"),
            (self.svg.is_some(), "--svg"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

/// The name of a pass; nothing leaves out none.
fn parse_pass(text: &str) -> Result<String, String> {
    if text.is_empty() || passes().any(|(name, _)| name == text) {
        return Ok(text.to_string());
    }
    let names: Vec<&str> = passes().map(|(name, _)| name).collect();
    Err(format!("there is no such pass; there are {}", names.join(", ")))
}

fn family(family: &Family) -> PossibleValue {
    PossibleValue::new(family.name).help(family.what)
}

/// What is measured with.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MeasuredWith {
    /// The evaluator
    #[arg(long, value_enum, env = "WENGERT_ENGINE", default_value_t = EngineArg::Native)]
    pub(crate) engine: EngineArg,

    /// Measure what gives every number to the last bit as the interpreter does
    #[arg(long, env = "WENGERT_STRICT", value_parser = BoolishValueParser::new())]
    pub(crate) strict: bool,
}

/// How to evaluate and print.
#[derive(Clone, Debug, Args)]
pub(crate) struct How {
    /// Print the value as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The evaluator
    #[arg(long, value_enum, env = "WENGERT_ENGINE", default_value_t = EngineArg::Interp)]
    pub(crate) engine: EngineArg,

    /// Compute every number to the last bit as the interpreter does, whatever the engine
    #[arg(long, env = "WENGERT_STRICT", value_parser = BoolishValueParser::new())]
    pub(crate) strict: bool,

    /// Leave out a pass of the optimizer, or several separated by commas: results stay the same
    #[arg(
        long, value_name = "PASS", env = "WENGERT_WITHOUT", value_delimiter = ',',
        value_parser = parse_pass,
    )]
    pub(crate) without: Vec<String>,

    /// Print what the compiler makes of it instead of evaluating it
    #[arg(long, value_enum, value_name = "STAGE", conflicts_with = "json")]
    pub(crate) emit: Option<EmitArg>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Bounds on what a program may use.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after so many evaluation steps (suffixes K, M, G: thousands, millions, billions)
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_steps: Option<u64>,

    /// Stop when the program's values need more memory than this (bytes, or with K, M, G: 64M)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after so many seconds
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Make long loops with so many threads, where the engine can; results do not depend on it
    #[arg(long, value_name = "N", env = "WENGERT_THREADS", default_value_t = 1, value_parser = parse_threads)]
    pub(crate) threads: usize,

    /// Divide short loops between threads too: to find mistakes
    #[arg(long, hide = true)]
    pub(crate) short_loops: bool,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n));
    number.ok_or_else(|| format!("expected a number of threads, from 1 to {MOST_THREADS}"))
}

/// `1000`, `1_000`, `10K`, `5M`, `2G`
fn parse_count(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| "expected a whole number, perhaps with K, M or G: 10M".into())
}

/// `1048576`, `512K`, `64M`, `64MB`, `2GiB`
fn parse_size(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(['b', 'B']).trim_end_matches('i');
    scaled(number, 1024).ok_or_else(|| "expected a number of bytes, perhaps with K, M or G: 64M".into())
}

fn scaled(text: &str, unit: u64) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let number: u64 = digits.replace('_', "").parse().ok()?;
    let factor = match suffix.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => unit,
        "M" => unit.pow(2),
        "G" => unit.pow(3),
        "T" => unit.pow(4),
        _ => return None,
    };
    number.checked_mul(factor)
}

/// `10`, `0.5`, `2s`; what is too long to be counted is as long as can be.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim_end_matches('s').parse().ok();
    seconds
        .filter(|seconds| *seconds > 0.0)
        .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        .ok_or_else(|| "expected a number of seconds greater than 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_sizes_and_seconds() {
        assert_eq!(parse_count("10_000"), Ok(10_000));
        assert_eq!(parse_count("3M"), Ok(3_000_000));
        assert!(parse_count("3X").is_err() && parse_count("-1").is_err() && parse_count("").is_err());
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("100"), Ok(100));
        assert!(parse_size("99999999999999G").is_err());
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_seconds("1e20"), Ok(Duration::MAX));
        assert!(parse_seconds("0").is_err() && parse_seconds("nan").is_err() && parse_seconds("-1").is_err());
    }
}
