//! Wengert as a tool of the GradBench suite: programs from a folder, messages on standard input, responses on standard output.
//!
//! [`kernels`] measures the programs of `bench/kernels` beside C++.
//!
//! [`protocol`] reads messages and writes responses, [`suite`] keeps the compiled programs. To measure,
//! [`connect`] is the intermediary between an eval and any tool, and [`report`] makes the tables and [`plot`] the pictures of
//! the [`results`].

mod connect;
mod kernels;
mod plot;
mod protocol;
mod report;
mod results;
mod suite;

use clap::{Parser, Subcommand, ValueEnum};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use suite::Suite;
use wengert_driver::{Engine, Options};

/// Recursion over a program's text grows its stack where needed; this is for what little is left.
const STACK_BYTES: usize = 64 << 20;
/// What an evaluation may use where nothing says how much memory there is.
const MEMORY: u64 = 4 << 30;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "gradbench", version, about = "Speaks the GradBench protocol on standard input and output")]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Measure>,

    /// The evaluator [default: `c` where there is a C compiler, else `native`]
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,

    /// The folder of the programs, one for each module
    #[arg(long, value_name = "DIR", default_value = "bench/gradbench")]
    programs: PathBuf,

    /// Make long loops with so many threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Bytes that an evaluation may use [default: three quarters of the machine's]
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<u64>,
}

/// What is done with measurements.
#[derive(Debug, Subcommand)]
enum Measure {
    /// Run an eval with a tool and note the times
    Connect {
        /// What the tool is called in the results
        #[arg(long)]
        name: String,
        /// The eval, a line of shell
        #[arg(long)]
        eval: String,
        /// The tool, a line of shell
        #[arg(long)]
        tool: String,
        /// What stands before the sizes in the results, where evals of one name differ
        #[arg(long, default_value = "")]
        label: String,
        /// Where lines are added
        #[arg(long, value_name = "FILE")]
        log: PathBuf,
    },
    /// Measure the kernels beside C++ and write the page with the table and the picture
    Kernels {
        /// Which kernels; all of them, with the page, if none is named
        names: Vec<String>,
        /// Where the programs, `hand.cpp` and README.md are
        #[arg(long, value_name = "DIR", default_value = "bench/kernels")]
        folder: PathBuf,
        /// How often each is measured, the tools taking turns
        #[arg(long, value_name = "N", default_value = "3")]
        rounds: usize,
        /// How long each function is repeated in each round
        #[arg(long, value_name = "SECONDS", default_value = "0.3")]
        seconds: f64,
        /// Instead: with so many threads beside one, through C
        #[arg(long, value_name = "N")]
        threads: Option<usize>,
    },
    /// Put tables into README.md and pictures into the folder `plots`
    Report {
        /// What `connect` wrote
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// Where README.md is
        #[arg(long, value_name = "DIR", default_value = "bench/gradbench")]
        folder: PathBuf,
    },
}

/// An evaluator.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineArg {
    /// Machine code, made in memory
    Native,
    /// C text, compiled by the system's compiler
    C,
    /// The reference interpreter
    Interp,
}

impl EngineArg {
    fn engine(self) -> Engine {
        match self {
            EngineArg::Native => Engine::Native,
            EngineArg::C => Engine::C,
            EngineArg::Interp => Engine::Interp,
        }
    }
}

fn main() -> ExitCode {
    let mut cli = Cli::parse();
    if let Some(command) = cli.command.take() {
        return match measure(command) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => failure(&error),
        };
    }
    // A crash is answered like any other failure; what it said goes to standard error.
    let worker = std::thread::Builder::new().name("main".into()).stack_size(STACK_BYTES).spawn(|| serve(cli));
    let result = worker.map(|worker| worker.join().unwrap_or(Ok(())));
    match result {
        // Nobody listens any more: that is how a session may end.
        Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) | Err(error) => failure(&error),
    }
}

fn failure(error: &io::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "gradbench: {error}");
    ExitCode::FAILURE
}

/// Whether all went well.
fn measure(command: Measure) -> io::Result<bool> {
    match command {
        Measure::Connect { name, eval, tool, label, log } => {
            Ok(connect::connect((&name, &label), &eval, &tool, &log)? == 0)
        }
        Measure::Kernels { names, folder, rounds, seconds, threads } => {
            let memory = memory_of_the_machine().unwrap_or(MEMORY);
            let plan = kernels::Plan { folder, names, rounds, seconds, memory };
            match threads {
                None => kernels::measure(&plan),
                Some(threads) => kernels::threads::measure(&plan, threads),
            }
        }
        Measure::Report { results, folder } => report::report(&results, &folder).map(|()| true),
    }
}

/// Answers messages until there are none.
fn serve(cli: Cli) -> io::Result<()> {
    let best = if Engine::C.require().is_ok() { Engine::C } else { Engine::Native };
    let engine = cli.engine.map_or(best, EngineArg::engine);
    let memory = cli.max_memory.or_else(memory_of_the_machine).unwrap_or(MEMORY);
    let options = Options { engine, max_memory: Some(memory), threads: cli.threads, ..Options::default() };
    let mut suite = Suite::new(cli.programs, options);
    let mut input = io::stdin().lock();
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        protocol::answer(&line, &mut suite, &mut output)?;
        output.flush()?;
    }
}

/// Three quarters of the memory that the system says there is.
fn memory_of_the_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024 / 4 * 3)
}
