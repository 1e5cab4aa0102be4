//! Searches that are saved and continued. The files are the caller's ([`Context::checkpoints`](crate::Context)).

use super::SEARCHES;
use crate::frontend::Kind;
use crate::settings::{Engines, Group, Inputs, Rule, Setting, Taker, Value};

/// Only this engine can be stopped and continued.
const SAVED: Engines = Engines::Of(&[Taker::all("explicit")]);

/// A checkpoint is of a search in machine code that goes in the order of cost and keeps the states it met.
const SAVES: &[Rule] = &[
    Rule::excludes("store", &["compact", "bitstate"], "it needs a search that keeps the states it met"),
    Rule::excludes(
        "search",
        &["depth-first", "naive-bounded", "context-bounded", "random", "swarm"],
        "it needs a search in the order of cost: leave out --search",
    ),
    Rule::excludes(
        "reduction",
        &["strong"],
        "it needs a search in the order of cost, and this reduction has none",
    ),
    Rule::excludes("successors", &["interpreted"], "it needs machine code"),
];

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Limits,
        verbs: SEARCHES,
        inputs: Inputs::Kind(Kind::Model),
        engines: SAVED,
        rules: &[
            Rule::needs("max-memory", &[], "it says when the memory is used up, as in --max-memory 2G"),
            Rule::excludes("checkpoint", &[], "a search on disk is not saved"),
            Rule::excludes("resume", &[], "a search on disk is not saved"),
            Rule::excludes("store", &["compact", "bitstate"], "it keeps the states themselves"),
            Rule::excludes(
                "search",
                &["depth-first", "naive-bounded", "context-bounded", "random", "swarm"],
                "it needs a search in the order of cost",
            ),
        ],
        example: "OUT",
        ..Setting::new(
            "disk",
            Value::File("FOLDER"),
            "When --max-memory is near, go on with the states in a folder",
            "The search begins again with its states in sorted files, of which only filters are in memory: slower, with the \
             same verdict, numbers and run. The files are gone when the command ends. It applies to counting and to safety.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: SEARCHES,
        inputs: Inputs::Kind(Kind::Model),
        engines: SAVED,
        rules: SAVES,
        example: "OUT",
        ..Setting::new(
            "checkpoint",
            Value::File("FILE"),
            "Save the search to a file now and then, to continue it later",
            "Also when a limit is reached or the search is interrupted. It applies to counting and to safety.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: SEARCHES,
        inputs: Inputs::Kind(Kind::Model),
        engines: SAVED,
        default: Some("60s"),
        rules: &[Rule::needs("checkpoint", &[], "it says how often that file is written")],
        example: "5s",
        ..Setting::new(
            "checkpoint-every",
            Value::Time,
            "How often to save (10s, 5m; by default 60s)",
            "A checkpoint takes the place of the one before when it is complete: whatever ends the command, one of them is there.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: SEARCHES,
        inputs: Inputs::Kind(Kind::Model),
        engines: SAVED,
        rules: SAVES,
        example: "SAVED",
        ..Setting::new(
            "resume",
            Value::File("FILE"),
            "Continue the search that a checkpoint holds",
            "The model and the options of the search must be the same; limits may be others.",
        )
    },
];
