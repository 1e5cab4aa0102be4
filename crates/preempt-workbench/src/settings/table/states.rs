//! What is kept of states, and which of them need not be visited.

use super::{CHECK, EXPLICIT, SEARCHES, SEARCHES_OR_TOGETHER, flag, value, word};
use crate::frontend::Kind;
use crate::settings::units;
use crate::settings::{
    Again, Engines, Inputs, Reduction, Rule, Setting, Simplify, StoreKind, Symmetry, Taker, Value,
};
use crate::verb::Verb;

const COUNT: &[Verb] = &[Verb::Count];
const MODELS: Inputs = Inputs::Kind(Kind::Model);

const PUBLISHED: &[&str] = &["naive-bounded", "context-bounded"];
const WITHOUT_STATES: &[&str] = &["compact", "bitstate"];

pub const ROWS: &[Setting] = &[
    Setting {
        verbs: SEARCHES,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["exact"])]),
        rules: &[
            Rule::excludes("search", &["random"], "random walks store nothing"),
            Rule::excludes("search", &["swarm"], "a swarm chooses its stores itself"),
            Rule::excludes("search", PUBLISHED, "the published searches have an exact store or bits")
                .of(&["compact"]),
        ],
        usual: &["exact"],
        again: Again::Kept,
        example: "compact",
        apply: |settings, text| word(&mut settings.store, text),
        ..Setting::new(
            "store",
            Value::OneOf("KIND", StoreKind::WORDS),
            "What is kept of each state: exact, compact or bitstate",
            "exact keeps the states. compact keeps fingerprints: what holds then, holds with a probability that is told. \
             bitstate keeps a few bits, in an array within --max-memory (64 MB without it): it finds errors and proves nothing.",
        )
    },
    Setting {
        verbs: SEARCHES,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[Rule::needs("store", &["compact"], "only that store has fingerprints")],
        again: Again::Kept,
        example: "96",
        apply: |settings, text| value(&mut settings.fingerprint_bits, units::number(text, 64, 128)),
        ..Setting::new(
            "fingerprint-bits",
            Value::OneOf("N", &["64", "96", "128"]),
            "Bits of a fingerprint in the store compact: 64, 96 or 128 (64)",
            "More bits make it less probable that two states are taken for one, and each state takes more memory.",
        )
    },
    Setting {
        verbs: SEARCHES,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[Rule::needs("store", &["bitstate"], "it says how many bits a state has in that store")],
        again: Again::Kept,
        example: "2",
        apply: |settings, text| value(&mut settings.hashes, units::number(text, 1, 32)),
        ..Setting::new(
            "hashes",
            Value::Number("N", 1, 32),
            "Hash functions, and thereby bits a state, in the store bitstate (3)",
            "With more of them fewer states are taken for others while the array is sparse, and more when it fills up.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["auto", "none"])]),
        rules: &[
            Rule::needs("search", &["context-bounded"], "it is that of a published search").of(&["paper"]),
            Rule::excludes(
                "store",
                WITHOUT_STATES,
                "that store keeps too little of each state: leave out --store",
            )
            .of(&["paper"]),
            Rule::excludes("search", &["random", "swarm"], "a random search has no reduction of its own")
                .of(&["exact", "strong"]),
            Rule::excludes(
                "search",
                PUBLISHED,
                "a published search has only its own: --search context-bounded with --reduction paper",
            )
            .of(&["exact", "strong"]),
            Rule::excludes("iterative-shortening", &[], "a published search has only its own reduction")
                .of(&["exact", "strong"]),
            Rule::excludes("all-errors", &[], "no reduction keeps every violation at its cheapest")
                .of(&["exact", "strong"]),
            Rule::excludes("cost", &["steps"], "no reduction keeps the fewest steps")
                .of(&["exact", "strong"]),
            Rule::excludes("search", &["breadth-first"], "no reduction keeps the fewest steps")
                .of(&["exact", "strong"]),
            Rule::excludes("bound", &[], "it promises nothing about preemptions").of(&["strong"]),
            Rule::excludes("fair-switch", &[], "it promises nothing about preemptions").of(&["strong"]),
        ],
        usual: &["auto"],
        again: Again::Kept,
        example: "strong",
        apply: |settings, text| word(&mut settings.reduction, text),
        ..Setting::new(
            "reduction",
            Value::OneOf("KIND", Reduction::WORDS),
            "Which steps need not be tried in every order",
            "exact keeps verdict and fewest preemptions; strong keeps the verdict only, with fewer states; none visits every \
             state. auto looks for a violation with exact and, if there are many states, for a proof with strong. paper is that \
             of Holzmann and Florian's Fig. 5, with --search context-bounded.",
        )
    },
    Setting {
        verbs: COUNT,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["none"])]),
        rules: &[
            Rule::excludes("bound", &[], "it promises nothing about preemptions").of(&["strong"]),
            Rule::excludes("cost", &["switches", "steps"], "the reduced search goes depth first")
                .of(&["strong"]),
            Rule::excludes("search", &["breadth-first"], "the reduced search goes depth first")
                .of(&["strong"]),
        ],
        usual: &["none"],
        example: "strong",
        apply: |settings, text| word(&mut settings.reduction, text),
        ..Setting::new(
            "reduction",
            Value::OneOf("KIND", &["none", "strong"]),
            "Count what a reduction leaves: none or strong",
            "The numbers are then those of a depth-first search, not of the model.",
        )
    },
    Setting {
        verbs: SEARCHES,
        alias: Some("statics"),
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["off"])]),
        rules: &[
            Rule::excludes("all-errors", &[], "it does not keep every violation at its cheapest").of(&["on"]),
            Rule::excludes("cost", &["steps"], "it does not keep the fewest steps").of(&["on"]),
            Rule::excludes("search", &["breadth-first"], "it does not keep the fewest steps").of(&["on"]),
        ],
        usual: &["off"],
        again: Again::Kept,
        example: "on",
        apply: |settings, text| word(&mut settings.simplify, text),
        ..Setting::new(
            "simplify",
            Value::OneOf("WHETHER", Simplify::WORDS),
            "Forget dead variables and merge private steps: on or off",
            "Verdict and fewest preemptions stay what they are, with fewer states; a run may have more steps. By default on \
             with --reduction strong, and where auto looks for a proof.",
        )
    },
    Setting {
        verbs: SEARCHES_OR_TOGETHER,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["off"])]),
        usual: &["off"],
        again: Again::Kept,
        example: "auto",
        apply: |settings, text| word(&mut settings.symmetry, text),
        ..Setting::new(
            "symmetry",
            Value::OneOf("WHETHER", Symmetry::WORDS),
            "States up to the order of interchangeable processes: auto or off",
            "Processes of the same code that the model does not tell apart can change their places, with the array elements and \
             messages that are theirs: auto keeps one of all states that differ only so. Verdict, fewest preemptions and fewest \
             steps stay what they are, and runs are shown as the model goes them; states are counted up to the order. A note says \
             who can be interchanged, or what in the model tells them apart. For safety.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: EXPLICIT,
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.stutter_invariant),
        ..Setting::new(
            "stutter-invariant",
            Value::Flag,
            "No claim or formula counts how often a state is repeated",
            "Formulas without X never do. Of hand-written never claims and formulas with X that is not known, so no reduction \
             applies to them unless you say so.",
        )
    },
];
