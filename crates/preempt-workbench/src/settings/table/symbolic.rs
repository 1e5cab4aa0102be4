//! The engine that works with sets of states, a number of contexts for each thread.

use super::{CHECK, flag, value, word};
use crate::frontend::Kind;
use crate::settings::units;
use crate::settings::{
    Again, Direction, Engines, Group, Inputs, Method, Setting, Taker, Value, VariableOrder,
};

const SYMBOLIC: Engines = Engines::Of(&[Taker::all("symbolic")]);
/// Both count contexts and have a table of diagrams.
const BOTH: Engines = Engines::Of(&[Taker::all("symbolic"), Taker::all("pushdown")]);
const MODELS: Inputs = Inputs::Kind(Kind::Model);

/// Every context takes three more bits for every shared bit.
const MOST_CONTEXTS: u64 = 64;

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Boolean,
        verbs: CHECK,
        common: true,
        inputs: MODELS,
        engines: BOTH,
        again: Again::Replaced,
        example: "2",
        apply: |settings, text| value(&mut settings.contexts, units::number(text, 1, MOST_CONTEXTS)),
        ..Setting::new(
            "contexts",
            Value::Number("K", 1, MOST_CONTEXTS),
            "Only runs with at most K contexts of each thread",
            "A context is a turn: the threads have their contexts in round-robin order. Without it K = 1, 2, 3, ..., until something goes wrong or \
             nothing new can come.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("symbolic"), Taker::only("pushdown", &["pushdown"])]),
        again: Again::Kept,
        example: "eager",
        apply: |settings, text| word(&mut settings.method, text),
        ..Setting::new(
            "method",
            Value::OneOf("HOW", Method::WORDS),
            "How threads are analysed: portfolio, rounds, lazy, eager or pushdown",
            "rounds list states one by one, with real stacks; when a round brings nothing new, the answer holds for any number of \
             contexts. lazy and eager work with decision diagrams, and do not mind how many states there are nor how deep the calls: \
             lazy looks only at what the other threads can do, eager at whatever they might. portfolio lets rounds and lazy take \
             turns; the first answer wins. pushdown lists the shared states that can be met and makes rules on stacks of the threads.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("pushdown")]),
        again: Again::Kept,
        example: "forward",
        apply: |settings, text| word(&mut settings.direction, text),
        ..Setting::new(
            "direction",
            Value::OneOf("WAY", Direction::WORDS),
            "Analyse rules on stacks forward or backward",
            "For --method pushdown. forward finds what can be reached from the beginning, backward what can lead to an error.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("pushdown")]),
        apply: |settings, _| flag(&mut settings.error_projection),
        ..Setting::new(
            "error-projection",
            Value::Flag,
            "Which statements lie on some error trace, and which on none",
            "With --method pushdown. All runs that go wrong within --contexts are looked at, or, without it, within the contexts \
             that the violation takes. The source is listed with a margin, and JSON has every statement.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: BOTH,
        again: Again::Kept,
        example: "2",
        apply: |settings, text| value(&mut settings.instances, units::number(text, 1, 64)),
        ..Setting::new(
            "instances",
            Value::Number("N", 1, 64),
            "How many threads a start inside a loop is good for (4)",
            "What is found is real. If nothing is, and a run could start more, the program holds with at most N of them; without this option \
             the answer is then inconclusive.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: BOTH,
        example: "10k",
        apply: |settings, text| value(&mut settings.bdd_nodes, units::count(text)),
        ..Setting::new(
            "bdd-nodes",
            Value::Count("N"),
            "Most BDD nodes, 24 bytes each (32M)",
            "When the table is full, the answer is inconclusive. --max-memory makes it smaller too: nodes and cache get a half each.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: BOTH,
        example: "10k",
        apply: |settings, text| value(&mut settings.bdd_cache, units::count(text)),
        ..Setting::new(
            "bdd-cache",
            Value::Count("N"),
            "Entries of the BDD cache, 24 bytes each (4M)",
            "What was computed before and is still there need not be computed again: a larger cache is faster.",
        )
    },
    Setting {
        group: Group::Symbolic,
        verbs: CHECK,
        inputs: MODELS,
        engines: SYMBOLIC,
        again: Again::Kept,
        example: "declared",
        apply: |settings, text| word(&mut settings.bdd_order, text),
        ..Setting::new(
            "bdd-order",
            Value::OneOf("ORDER", VariableOrder::WORDS),
            "Order of the BDD variables: trial, dependencies or declared",
            "dependencies puts variables together that depend on each other, which keeps most diagrams small; declared is the \
             order of the text; trial (the default) takes the one that is better for one context of each thread.",
        )
    },
];
