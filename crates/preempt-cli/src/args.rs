//! What can be typed. The same definitions make the help, the completions and the man page.

use crate::job::{self, Terms};
use crate::plan::{Engine, Input};
use crate::units::{self, Definition};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use preempt_core::Limits;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Parser)]
#[command(
    name = "preempt",
    version,
    about = "Find the simplest run that breaks a concurrent system, or prove there is none",
    after_help = "Exit status: 0 holds, 1 violated, 2 bad usage or input, 3 inconclusive",
    after_long_help = AFTER_HELP,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Simplest means: fewest preemptions first, then fewest steps. A preemption is a switch away from a process that \
could have gone on.

Exit status:
  0  the property holds; the text says how far: exhaustively, up to the bound, or approximately
  1  violated: a counterexample was found and replayed
  2  bad usage or bad input: stderr says what, and nothing is written to stdout
  3  inconclusive: a limit was reached, the search was interrupted, or it visits only part
  4  the answer is known, but it or a file could not be written: stderr says which

The result goes to stdout; diagnostics and progress go to stderr.";

// There is one command, so the size of the largest does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the simplest run that breaks a model
    ///
    /// Looks for failed assertions, run-time errors and invalid end states. The first run found has the fewest
    /// preemptions and, among those, the fewest steps; it is replayed before it is shown.
    Check(CheckArgs),

    /// Count states, transitions and violations
    ///
    /// Visits the whole state space, or all states within the bound; claims are ignored.
    /// A failed assertion is counted, and its process goes on as if it had held.
    Count(CountArgs),

    /// Run a model once, at random or by hand
    ///
    /// Prints one line a step. The same seed gives the same run.
    Simulate(SimulateArgs),

    /// Execute a stored counterexample again
    ///
    /// The file is one that `check --trace FILE` wrote. Every step is executed again; if one does not fit the model,
    /// the answer says which and why.
    Replay(ReplayArgs),

    /// Make a concurrent program sequential
    ///
    /// The sequential program fails if and only if an assertion of the concurrent one fails within so many contexts per
    /// thread, the threads taking turns. Takes Boolean programs, and Promela models without channels.
    Sequentialize(SequentializeArgs),

    /// Check a certificate that `check --certificate` wrote
    ///
    /// By exact arithmetic and without any search: the certificate alone must show that no target of the net can
    /// be covered.
    Certify(CertifyArgs),

    /// Translate a net: .spec, PNML, or Promela if it is bounded
    ///
    /// The kind of a file is that of its extension. PNML has no targets: they are read with --properties, and
    /// written next to the net, in a file with the extension .xml.
    Convert(ConvertArgs),

    /// Show which engine takes which input
    Engines,

    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },

    /// Print a manual page
    #[command(hide = true)]
    Man {
        /// The subcommand to describe; the command itself if there is none
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub symbolic: SymbolicArgs,
    #[command(flatten)]
    pub output: OutputArgs,

    /// Check only this ltl formula or never claim
    ///
    /// Also safety, trace or acceptance. Without it, everything the model says about itself is checked.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ltl", "non_progress"])]
    pub property: Option<String>,

    /// Check a formula, as in --ltl '[] (x < 3)'
    #[arg(long, value_name = "FORMULA", conflicts_with = "non_progress")]
    pub ltl: Option<String>,

    /// Look for cycles without progress labels
    #[arg(long)]
    pub non_progress: bool,

    /// Only runs in which nobody waits for ever to move
    ///
    /// A process that could move all the time does so infinitely often.
    #[arg(long)]
    pub weak_fairness: bool,

    /// Report every different violation, each with its own simplest run
    #[arg(long, hide_short_help = true)]
    #[arg(conflicts_with_all = ["property", "ltl", "non_progress", "trace", "trail"])]
    pub all_errors: bool,

    /// Which steps need not be tried in every order: auto, exact, strong, paper or none
    ///
    /// exact keeps verdict and fewest preemptions; strong keeps the verdict only, with fewer states; none visits every
    /// state. auto looks for a violation with exact and, if there are many states, for a proof with strong. paper is that
    /// of Holzmann and Florian's Fig. 5, with --search context-bounded.
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub reduction: Option<ReductionKind>,

    /// No claim or formula counts how often a state is repeated
    ///
    /// Formulas without X never do. Of hand-written never claims and formulas with X that is not known, so no reduction
    /// applies to them unless you say so.
    #[arg(long, hide_short_help = true)]
    pub stutter_invariant: bool,

    /// Look for the fewest steps, however long that takes
    ///
    /// A run found with a reduction has the fewest preemptions; a shorter one with as many is then looked for without
    /// the reduction, and without this option only for a while.
    #[arg(long, hide_short_help = true)]
    pub shortest: bool,

    /// Show every step and every value of the counterexample
    ///
    /// Without it, long stretches of one process are folded and long values are cut.
    #[arg(long)]
    pub full: bool,

    /// For a PNML net: the file of properties, as in the Model Checking Contest
    ///
    /// Of all properties, or of the one that --property names: no target is to be covered.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub properties: Option<PathBuf>,

    /// For a net that holds: write the certificate to a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub certificate: Option<PathBuf>,

    /// Write the counterexample to a JSON file
    ///
    /// The file holds the whole result, as --format json prints it. It is not written if nothing is violated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,

    /// Write the counterexample as a trail of Spin's
    ///
    /// For Promela models; `spin -t -p -k FILE MODEL` shows it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub trail: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct NetArgs {
    /// The net: a .spec or .pnml file
    #[arg(value_name = "NET", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// For a PNML net: the file of properties
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub properties: Option<PathBuf>,

    /// Only the property with this name
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
}

/// For verbs that have no search with limits of its own.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// Stop after a time (30s, 5m, 1h30m)
    #[arg(long, value_name = "TIME", value_parser = units::duration, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,

    /// Stop when this much memory is used (512M, 2G)
    ///
    /// Without it, most of what the machine has free.
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, allow_negative_numbers = true)]
    pub max_memory: Option<u64>,
}

#[derive(Debug, Args)]
pub struct CertifyArgs {
    #[command(flatten)]
    pub net: NetArgs,

    /// The certificate, as `check --certificate FILE` wrote it
    #[arg(value_hint = ValueHint::FilePath)]
    pub certificate: PathBuf,

    #[command(flatten)]
    pub budget: BudgetArgs,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub net: NetArgs,

    /// The file to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub out: PathBuf,

    /// Write this kind (spec, pnml or promela), whatever the name
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    pub to: Option<NetFormat>,

    #[command(flatten)]
    pub budget: BudgetArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetFormat {
    Spec,
    Pnml,
    Promela,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Which of the random runs; the same number gives the same run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Stop after so many steps
    #[arg(long, value_name = "N", value_parser = units::count, default_value = "1000")]
    pub steps: u64,

    /// Choose every step yourself
    #[arg(long, conflicts_with_all = ["guided", "seed"])]
    pub interactive: bool,

    /// Follow a stored counterexample
    #[arg(long, value_name = "TRACE", value_hint = ValueHint::FilePath, conflicts_with_all = ["seed", "steps"])]
    pub guided: Option<PathBuf>,

    /// Show every step and every value
    #[arg(long)]
    pub full: bool,

    #[command(flatten)]
    pub budget: BudgetArgs,

    /// When to use colour: auto, always or never
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Colour,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// The counterexample, as `check --trace FILE` wrote it
    #[arg(value_hint = ValueHint::FilePath)]
    pub trace: PathBuf,

    /// Show every step and every value
    #[arg(long)]
    pub full: bool,

    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct CountArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Count what a reduction leaves: none or strong
    ///
    /// The numbers are then those of a depth-first search, not of the model.
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub reduction: Option<ReductionKind>,

    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct SequentializeArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// How often each thread may have its turn
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub contexts: usize,

    /// The language of the sequential program: boolean or c
    ///
    /// c has assumptions and nondeterministic values for CBMC and its kind, and keeps integers.
    #[arg(long, value_enum, default_value_t = Language::Boolean, value_name = "LANGUAGE")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub to: Language,

    /// Write it to a file instead of stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub budget: BudgetArgs,

    /// When to use colour: auto, always or never
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Boolean,
    C,
}

#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model, or - for stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Define a macro (without a value: 1)
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = units::definition)]
    pub defines: Vec<Definition>,

    /// Who wrote a Boolean program: satabs or getafix
    ///
    /// They differ in how strongly = and != bind. By default as SATABS does, with a warning where it matters.
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true, hide_short_help = true)]
    pub dialect: Option<Dialect>,

    /// The label of a Boolean program that must not be reached
    ///
    /// By default SLIC_ERROR, and every label that speaks of an ERROR.
    #[arg(long, value_name = "LABEL", hide_short_help = true)]
    pub error_label: Option<String>,

    /// Read the file as KIND (promela, boolean, net or pnml), whatever its name
    #[arg(long, value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub input: Option<Input>,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Only runs with at most K preemptions
    ///
    /// The answer is exact: all runs within the bound are considered, and no others.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub bound: Option<u32>,

    /// Which engine; `preempt engines` shows them
    ///
    /// For Promela, reference is the definition, explicit runs machine code, and symbolic bounds the contexts of each
    /// thread. For Boolean programs: symbolic, explicit or reference. For nets: prechecks, basis, weight, forward.
    #[arg(long, value_enum, value_name = "ENGINE", hide_possible_values = true, hide_short_help = true)]
    pub engine: Option<Engine>,

    /// In which order to search
    ///
    /// fewest-preemptions (the simplest runs first), breadth-first (the shortest runs first) or depth-first (whatever
    /// comes first, with little memory beside the states themselves). For comparison, the published depth-first searches
    /// within --bound: naive-bounded (each state once; it misses errors) and context-bounded (with revisits). For state
    /// spaces that are too large: random (walks) and swarm (many different searches until --max-time), which prove nothing.
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true, hide_short_help = true)]
    pub search: Option<SearchOrder>,

    /// What is kept of each state: exact, compact or bitstate
    ///
    /// exact keeps the states. compact keeps fingerprints: what holds then, holds with a probability that is told.
    /// bitstate keeps a few bits, in an array within --max-memory (64 MB without it): it finds errors and proves nothing.
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub store: Option<StoreKind>,

    /// Bits of a fingerprint in the store compact: 64, 96 or 128 (64)
    #[arg(long, value_name = "N", value_parser = units::fingerprint_bits, hide_short_help = true)]
    pub fingerprint_bits: Option<u32>,

    /// Hash functions, and thereby bits a state, in the store bitstate (3)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32), hide_short_help = true)]
    pub hashes: Option<u32>,

    /// For random and swarm: the same number gives the same choices (1)
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub seed: Option<u64>,

    /// For random: how many walks (1000, or as many as --max-time allows)
    #[arg(long, value_name = "N", value_parser = units::count, hide_short_help = true)]
    pub walks: Option<u64>,

    /// What is to be fewest, before the steps: preemptions, switches or steps
    ///
    /// --bound counts the same. A switch is any change of the running process, forced or not.
    #[arg(long, value_enum, value_name = "UNIT", hide_possible_values = true, hide_short_help = true)]
    pub cost: Option<CostUnit>,

    /// In a published search: leaving a process that only goes round is free
    ///
    /// The rule of Holzmann and Florian's section 3.1, which depends on the order of the search; --fair-switch does not.
    #[arg(long, hide_short_help = true)]
    pub paper_cycles: bool,

    /// In a depth-first search: go on after an error, with shorter runs only
    ///
    /// Spin's -DREACH with -i.
    #[arg(long, hide_short_help = true)]
    pub iterative_shortening: bool,

    /// How steps are computed: native or interpreted
    ///
    /// By default in machine code, or by the interpreter where a model cannot be compiled.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true, hide_short_help = true)]
    pub successors: Option<SuccessorsArg>,

    /// Forget dead variables and merge private steps: on or off
    ///
    /// Verdict and fewest preemptions stay what they are, with fewer states; a run may have more steps. By default on
    /// with --reduction strong, and where auto looks for a proof.
    #[arg(long, value_enum, value_name = "WHETHER", hide_possible_values = true, hide_short_help = true)]
    pub statics: Option<Statics>,

    /// Leaving a process that only spins is no preemption
    ///
    /// A process spins if every state that it can reach alone leads back, by the same process alone, to where it is.
    #[arg(long)]
    pub fair_switch: bool,

    /// Save the search to a file now and then, to continue it later
    ///
    /// Also when a limit is reached or the search is interrupted. It applies to counting and to safety.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub checkpoint: Option<PathBuf>,

    /// How often to save (10s, 5m)
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "60s")]
    #[arg(hide_short_help = true, requires = "checkpoint")]
    pub checkpoint_every: Duration,

    /// Continue the search that a checkpoint holds
    ///
    /// The model and the options of the search must be the same; limits may be others.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub resume: Option<PathBuf>,

    /// Stop after N states (500k, 10M)
    #[arg(long, value_name = "N", value_parser = units::count, allow_negative_numbers = true)]
    pub max_states: Option<u64>,

    /// Stop after a time (30s, 5m, 1h30m)
    ///
    /// From the first byte read to the last byte written.
    #[arg(long, value_name = "TIME", value_parser = units::duration, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,

    /// Stop at runs longer than N steps
    #[arg(long, value_name = "N", value_parser = units::count, allow_negative_numbers = true)]
    pub max_depth: Option<u64>,

    /// Stop when this much memory is used (512M, 2G)
    ///
    /// By the whole process, give or take a tenth and 64 MB. Without it, most of what the machine has free.
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, allow_negative_numbers = true)]
    pub max_memory: Option<u64>,
}

/// For the symbolic engine.
#[derive(Debug, Args)]
pub struct SymbolicArgs {
    /// Only runs with at most K contexts of each thread, the threads taking turns
    ///
    /// Without it K = 1, 2, 3, ..., until something goes wrong or nothing new can come.
    #[arg(long, value_name = "K", allow_negative_numbers = true, hide_short_help = true)]
    pub contexts: Option<u32>,

    /// How threads are analysed: lazy or eager
    ///
    /// lazy looks only at what the other threads can do, eager at whatever they might.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true, hide_short_help = true)]
    pub method: Option<AnalysisMethod>,

    /// How many threads a start inside a loop is good for (4)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), hide_short_help = true)]
    pub instances: Option<u32>,

    /// Most BDD nodes, 24 bytes each (32M)
    #[arg(long, value_name = "N", value_parser = units::count, hide_short_help = true)]
    pub bdd_nodes: Option<u64>,

    /// Entries of the BDD cache, 24 bytes each (4M)
    #[arg(long, value_name = "N", value_parser = units::count, hide_short_help = true)]
    pub bdd_cache: Option<u64>,

    /// Order of the BDD variables: dependencies or declared
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true, hide_short_help = true)]
    pub bdd_order: Option<VariableOrder>,
}

impl Command {
    /// What may be spent, for verbs that read something; how the answer is to be printed if there is to be one.
    pub fn terms(&self) -> Option<Terms> {
        let terms = |time, memory, answer, file: &PathBuf| {
            Some(Terms { time, memory, answer, file: file.display().to_string() })
        };
        let of = |budget: &BudgetArgs, answer, file| terms(budget.max_time, budget.max_memory, answer, file);
        let shown = |output: &OutputArgs| Some((output.format, output.color));
        match self {
            Command::Check(CheckArgs { model, search, output, .. })
            | Command::Count(CountArgs { model, search, output, .. }) => {
                terms(search.max_time, search.max_memory, shown(output), &model.file)
            }
            Command::Replay(args) => of(&args.budget, shown(&args.output), &args.model.file),
            Command::Simulate(args) => of(&args.budget, Some((Format::Text, args.color)), &args.model.file),
            Command::Certify(args) => of(&args.budget, Some((Format::Text, Colour::Auto)), &args.net.file),
            Command::Sequentialize(args) => of(&args.budget, None, &args.model.file),
            Command::Convert(args) => of(&args.budget, None, &args.net.file),
            Command::Engines | Command::Completions { .. } | Command::Man { .. } => None,
        }
    }
}

impl SearchArgs {
    /// For the next search: of the time, what is left.
    pub fn limits(&self) -> Limits {
        Limits {
            states: self.max_states,
            depth: self.max_depth,
            time: self.max_time.map(|most| job::current().time_left().unwrap_or(most)),
            memory_bytes: self.max_memory,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    Satabs,
    Getafix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnalysisMethod {
    Lazy,
    Eager,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VariableOrder {
    Dependencies,
    Declared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchOrder {
    FewestPreemptions,
    BreadthFirst,
    DepthFirst,
    NaiveBounded,
    ContextBounded,
    Random,
    Swarm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StoreKind {
    Exact,
    Compact,
    Bitstate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostUnit {
    Preemptions,
    Switches,
    Steps,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuccessorsArg {
    Native,
    Interpreted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Statics {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReductionKind {
    Auto,
    Exact,
    Strong,
    Paper,
    None,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// How to print the result: text or json
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub format: Format,

    /// When to use colour: auto, always or never
    ///
    /// By default on a terminal; NO_COLOR and CLICOLOR_FORCE are respected.
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn short_help_fits_one_screen() {
        let mut command = Cli::command().term_width(80);
        command.build();
        let mut pages = vec![("preempt".to_string(), command.render_help().to_string())];
        for sub in command.get_subcommands_mut() {
            pages.push((sub.get_name().to_string(), sub.render_help().to_string()));
        }
        for (name, page) in pages {
            assert!(page.lines().count() <= 24, "{name}: {} lines\n{page}", page.lines().count());
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{name}:\n{page}");
        }
    }
}
