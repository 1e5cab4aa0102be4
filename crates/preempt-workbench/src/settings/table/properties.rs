//! What is checked.

use super::{CHECK, CHECK_OR_TOGETHER, ONE_BY_ONE, flag, text};
use crate::frontend::Kind;
use crate::settings::{Again, Engines, Group, Inputs, Rule, Setting, Taker, Value};

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Search,
        verbs: CHECK_OR_TOGETHER,
        common: true,
        inputs: Inputs::Able(
            |front_end| front_end.kind != Kind::Net || front_end.reads_properties,
            "models and systems, and for nets with a file of properties",
        ),
        // Whatever these two find is a violation of safety.
        engines: Engines::AllBut(&[
            Taker::only("symbolic", &["safety"]),
            Taker::only("pushdown", &["safety"]),
        ]),
        rules: &[
            Rule::excludes("ltl", &[], "a formula of one's own is a property by itself"),
            Rule::excludes("non-progress", &[], "cycles without progress are a property by themselves"),
        ],
        again: Again::Kept,
        example: "safety",
        apply: |settings, name| text(&mut settings.property, name),
        ..Setting::new(
            "property",
            Value::Text("NAME"),
            "Check only this formula, never claim or property",
            "Also safety, trace or acceptance; for a net, one of the properties in the file; for a protocol, one of what is bad, \
             or side-condition. Without it, everything that the model says about itself is checked.",
        )
    },
    Setting {
        group: Group::Promela,
        verbs: CHECK,
        common: true,
        inputs: Inputs::Of(&["promela"]),
        engines: ONE_BY_ONE,
        rules: &[Rule::excludes("non-progress", &[], "one of the two can be checked at a time")],
        again: Again::Kept,
        example: "<>(x==1)",
        apply: |settings, formula| text(&mut settings.ltl, formula),
        ..Setting::new(
            "ltl",
            Value::Text("FORMULA"),
            "Check a formula, as in --ltl '[] (x < 3)'",
            "In Spin's syntax, with expressions over global variables in parentheses; the model's macros can be used. It is \
             checked in place of what the model says about itself.",
        )
    },
    Setting {
        group: Group::Promela,
        verbs: CHECK,
        inputs: Inputs::Kind(Kind::Model),
        engines: ONE_BY_ONE,
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.non_progress),
        ..Setting::new(
            "non-progress",
            Value::Flag,
            "Look for cycles without progress labels",
            "A run without end must pass a statement whose label begins with `progress` again and again.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: CHECK,
        inputs: Inputs::Kind(Kind::Model),
        engines: ONE_BY_ONE,
        rules: &[Rule::excludes(
            "bound",
            &[],
            "a fair run may need any number of preemptions: check one of the two",
        )],
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.weak_fairness),
        ..Setting::new(
            "weak-fairness",
            Value::Flag,
            "Only runs in which nobody waits for ever to move",
            "A process that could move all the time does so infinitely often.",
        )
    },
    Setting {
        group: Group::Search,
        verbs: CHECK,
        inputs: Inputs::Kind(Kind::Model),
        engines: Engines::Of(&[Taker::all("explicit")]),
        rules: &[
            Rule::excludes("property", &[], "it is about all properties together"),
            Rule::excludes("ltl", &[], "it is about all properties of the model together"),
            Rule::excludes("non-progress", &[], "it is about all properties of the model together"),
            Rule::excludes("trace", &[], "a file holds one run"),
            Rule::excludes("trail", &[], "a trail is one run"),
            Rule::excludes(
                "search",
                &["depth-first", "naive-bounded", "context-bounded", "random", "swarm"],
                "it needs a search in the order of cost: leave out --search",
            ),
            Rule::excludes(
                "store",
                &["compact", "bitstate"],
                "it needs a search that keeps the states it met",
            ),
        ],
        again: Again::Never,
        apply: |settings, _| flag(&mut settings.all_errors),
        ..Setting::new(
            "all-errors",
            Value::Flag,
            "Report every different violation, each with its own simplest run",
            "Two violations are different if they are of different properties, or of different statements. The whole state space \
             is visited, without a reduction.",
        )
    },
];
