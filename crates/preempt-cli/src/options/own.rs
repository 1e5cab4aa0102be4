//! Options of the command itself: files, and how things are shown.

use preempt_workbench::Verb;
use preempt_workbench::settings::{Group, Inputs, Rule, Setting, Value};

const CHECK: &[Verb] = &[Verb::Check];
/// Verbs that have a run to show.
const RUNS: &[Verb] = &[Verb::Check, Verb::Cluster, Verb::Simulate, Verb::Replay];
const SIMULATE: &[Verb] = &[Verb::Simulate];
const CLUSTER: &[Verb] = &[Verb::Cluster];
const SEQUENTIALIZE: &[Verb] = &[Verb::Sequentialize];

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Nets,
        verbs: CHECK,
        inputs: Inputs::Able(
            |front_end| front_end.kind.verbs().contains(&Verb::Certify),
            "nets and well-structured systems",
        ),
        example: "OUT",
        ..Setting::new(
            "certificate",
            Value::File("FILE"),
            "For a net or system that holds: write the certificate to a file",
            "`preempt certify` checks it again, by exact arithmetic and without any search.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: &[Verb::Check, Verb::Count, Verb::Cluster, Verb::Replay],
        common: true,
        default: Some("text"),
        example: "json",
        ..Setting::new(
            "format",
            Value::OneOf("FORMAT", &["text", "json"]),
            "How to print the result: text or json",
            "json is one object; the guide's page \"Exit status and JSON\" has every field.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: &Verb::ALL,
        default: Some("auto"),
        example: "never",
        ..Setting::new(
            "color",
            Value::OneOf("WHEN", &["auto", "always", "never"]),
            "When to use colour: auto, always or never",
            "By default on a terminal; NO_COLOR and CLICOLOR_FORCE are respected.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: RUNS,
        common: true,
        ..Setting::new(
            "full",
            Value::Flag,
            "Show every step and every value of the run",
            "Without it, long stretches of one process are folded and long values are cut.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: &[Verb::Check, Verb::Cluster],
        common: true,
        example: "OUT",
        ..Setting::new(
            "trace",
            Value::File("FILE"),
            "Write the counterexample to a JSON file",
            "The file holds the whole result, as --format json prints it. It is not written if nothing is violated.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: RUNS,
        common: true,
        example: "OUT",
        ..Setting::new(
            "report",
            Value::File("FILE"),
            "Write the result as an HTML page to look at",
            "One file that opens from disk and loads nothing: the run as a chart, the source beside it, every variable at every \
             step, and the numbers of the search as pictures.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: RUNS,
        example: "OUT",
        ..Setting::new(
            "svg",
            Value::File("FILE"),
            "Draw the chart of the run, for papers and pull requests",
            "A lane for each process, time downwards, an arrow for each message. It is not written if there is no run.",
        )
    },
    Setting {
        group: Group::Promela,
        verbs: CHECK,
        inputs: Inputs::Able(|front_end| front_end.write_trail.is_some(), "Promela models, which Spin reads"),
        example: "OUT",
        ..Setting::new(
            "trail",
            Value::File("FILE"),
            "Write the counterexample as a trail of Spin's",
            "`spin -t -p -k FILE MODEL` shows it.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: CLUSTER,
        common: true,
        required: true,
        example: "HOSTS",
        ..Setting::new(
            "hosts",
            Value::File("FILE"),
            "The addresses of all processes, one on each line",
            "As in 10.0.0.7:2101; a number alone is a port of this machine. Each process listens at its own address only. # begins \
             a comment.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: CLUSTER,
        common: true,
        example: "0",
        ..Setting::new(
            "index",
            Value::Number("N", 0, 9_999),
            "Which line of --hosts this process is, from 0",
            "Without it all addresses must be of this machine, and all processes are started. The process with the number 0 prints \
             the result.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: CLUSTER,
        common: true,
        example: "SECRET",
        ..Setting::new(
            "secret",
            Value::File("FILE"),
            "What all processes know: at least 16 characters in a file",
            "A process that does not know it is refused, and so is one of another version or with another model. It can be left \
             out where this command starts all processes: then they share one that is made up.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: CLUSTER,
        example: "OUT",
        ..Setting::new(
            "checkpoint",
            Value::File("FOLDER"),
            "Save the search to a folder now and then, to continue it later",
            "Each process writes its own part; on several machines the folder may be another one on each.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: CLUSTER,
        default: Some("60s"),
        rules: &[Rule::needs("checkpoint", &[], "it says how often the folder is written to")],
        example: "5s",
        ..Setting::new(
            "checkpoint-every",
            Value::Time,
            "How often to save (10s, 5m; by default 60s)",
            "The last checkpoint of which every part is complete is kept until there is another one.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: CLUSTER,
        example: "SAVED",
        ..Setting::new(
            "resume",
            Value::File("FOLDER"),
            "Continue the search that a checkpoint holds",
            "With as many processes, the same model and the same options; limits and addresses may be others.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: SIMULATE,
        common: true,
        default: Some("1"),
        rules: &[
            Rule::excludes("interactive", &[], "nothing is random where every step is chosen"),
            Rule::excludes("guided", &[], "nothing is random where a stored run is followed"),
        ],
        example: "3",
        ..Setting::new(
            "seed",
            Value::Number("N", 0, u64::MAX),
            "Which random run: the same number gives the same one (1)",
            "At each step one of all moves of all processes is chosen, each as likely as any other.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: SIMULATE,
        common: true,
        default: Some("1000"),
        rules: &[Rule::excludes("guided", &[], "a stored run ends where it ends")],
        example: "100",
        ..Setting::new(
            "steps",
            Value::Count("N"),
            "Stop after so many steps (1000)",
            "A run that ends before, because nobody can move or something is violated, says so.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: SIMULATE,
        common: true,
        rules: &[Rule::excludes("guided", &[], "one of the two can choose the steps")],
        ..Setting::new(
            "interactive",
            Value::Flag,
            "Choose every step yourself",
            "The possible steps are listed and numbers are read from stdin; u undoes a step, s shows the state, q quits.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: SIMULATE,
        common: true,
        example: "TRACE",
        ..Setting::new(
            "guided",
            Value::File("TRACE"),
            "Follow a stored counterexample",
            "The file is one that `check --trace FILE` wrote.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: SEQUENTIALIZE,
        common: true,
        required: true,
        example: "2",
        ..Setting::new(
            "contexts",
            Value::Number("K", 1, preempt_workbench::sequentialize::MOST_CONTEXTS as u64),
            "How often each thread may have its turn",
            "The sequential program fails if and only if an assertion fails within so many contexts of each thread.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: SEQUENTIALIZE,
        common: true,
        default: Some("boolean"),
        example: "c",
        ..Setting::new(
            "to",
            Value::OneOf("LANGUAGE", &["boolean", "c", "promela", "smv"]),
            "The language of it: boolean, c, promela or smv",
            "c has assumptions and nondeterministic values for CBMC and its kind, and keeps integers. promela and smv (NuSMV's \
             language) have no procedures: a program that calls itself is refused.",
        )
    },
    Setting {
        short: Some('o'),
        group: Group::Output,
        verbs: SEQUENTIALIZE,
        common: true,
        example: "OUT",
        ..Setting::new(
            "output",
            Value::File("FILE"),
            "Write it to a file instead of stdout",
            "The file is written whole or not at all.",
        )
    },
    Setting {
        group: Group::Output,
        verbs: &[Verb::Convert],
        common: true,
        example: "spec",
        ..Setting::new(
            "to",
            Value::Registered("KIND", net_formats),
            "Write this kind of net, whatever the name",
            "spec, pnml or promela; without it the extension of the file decides. Only a bounded net can be written as Promela.",
        )
    },
];

/// What a net can be written as.
fn net_formats() -> Vec<(&'static str, Option<&'static str>)> {
    let writing = preempt_workbench::FRONT_ENDS.iter().filter(|front_end| front_end.write_net.is_some());
    writing.map(|front_end| (front_end.name, None)).collect()
}
