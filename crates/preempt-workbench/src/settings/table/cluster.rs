//! Searches by several processes. Who they are, and where their checkpoints are kept, is the caller's matter.

use crate::frontend::Kind;
use crate::settings::{Group, Inputs, Rule, Setting, Value};
use crate::verb::Verb;

const CLUSTER: &[Verb] = &[Verb::Cluster];
const MODELS: Inputs = Inputs::Kind(Kind::Model);

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Search,
        verbs: CLUSTER,
        common: true,
        inputs: MODELS,
        ..Setting::new(
            "count",
            Value::Flag,
            "Count states, and pass over violations",
            "As `preempt count` does, with the numbers at each level of the cost.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: CLUSTER,
        inputs: MODELS,
        rules: &[Rule::needs("max-memory", &[], "it says when the memory is used up, as in --max-memory 2G")],
        example: "OUT",
        ..Setting::new(
            "disk",
            Value::File("FOLDER"),
            "Where the first process finds the run, if memory is too small",
            "All processes find what the simplest run costs, and the first one finds the run, as one process would: if what is \
             cheaper does not fit into half of --max-memory, with the states in sorted files in this folder.",
        )
    },
];
