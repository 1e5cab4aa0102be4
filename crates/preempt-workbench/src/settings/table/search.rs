//! How states are searched.

use super::{CHECK, EXPLICIT, ONE_BY_ONE, SEARCHES, SEARCHES_OR_TOGETHER, flag, value, word};
use crate::engine;
use crate::frontend::Kind;
use crate::settings::units;
use crate::settings::{
    Again, CostUnit, Engines, Group, Inputs, Rule, SearchOrder, Setting, SuccessorsKind, Taker, Value,
};
use crate::verb::Verb;

const COUNT: &[Verb] = &[Verb::Count];
/// Not a number of threads that search, but of those that the program has.
const ANY: &[&str] = &["any"];
const MODELS: Inputs = Inputs::Kind(Kind::Model);

/// Those that do not go in the order of cost.
const NOT_BY_COST: &[&str] = &["depth-first", "naive-bounded", "context-bounded", "random", "swarm"];
const PUBLISHED: &[&str] = &["naive-bounded", "context-bounded"];
const WITHOUT_STATES: &[&str] = &["compact", "bitstate"];

pub const ROWS: &[Setting] = &[
    Setting {
        verbs: SEARCHES_OR_TOGETHER,
        common: true,
        inputs: MODELS,
        engines: ONE_BY_ONE,
        rules: &[Rule::excludes(
            "search",
            &["breadth-first", "depth-first"],
            "a bound needs a search in the order of cost: leave out --search, or limit the length of runs with --max-depth",
        )],
        again: Again::Replaced,
        example: "2",
        apply: |settings, text| value(&mut settings.bound, units::number(text, 0, u32::MAX as u64)),
        ..Setting::new(
            "bound",
            Value::Number("K", 0, u32::MAX as u64),
            "Only runs with at most K preemptions",
            "The answer is exact: all runs within the bound are considered, and no others. With --cost it counts switches or \
             steps.",
        )
    },
    Setting {
        group: Group::Input,
        verbs: SEARCHES,
        again: Again::Replaced,
        example: "auto",
        apply: |settings, name| {
            settings.engine = engine::find(name);
            Ok(())
        },
        ..Setting::new(
            "engine",
            Value::Registered("ENGINE", engine::names),
            "Which engine; `preempt engines` shows them",
            "auto is the first engine for the input that takes all the options given. For Promela, reference is the definition, \
             explicit runs machine code, and symbolic bounds the contexts of each thread. For Boolean programs: symbolic, \
             pushdown, explicit or reference. For nets: coverability, prechecks, basis, weight, weight-plain or forward.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["fewest-preemptions"])]),
        rules: &[
            Rule::needs("bound", &[], "as in --bound 2").of(PUBLISHED),
            Rule::needs("max-time", &[], "a swarm searches until its time is over, as in --max-time 1m")
                .of(&["swarm"]),
        ],
        usual: &["fewest-preemptions"],
        again: Again::KeptUnless(&["swarm"]),
        example: "depth-first",
        apply: |settings, text| word(&mut settings.search, text),
        ..Setting::new(
            "search",
            Value::OneOf("ORDER", SearchOrder::WORDS),
            "In which order to search",
            "fewest-preemptions (the simplest runs first), breadth-first (the shortest runs first) or depth-first (whatever \
             comes first, with little memory beside the states themselves). For comparison, the published depth-first searches \
             within --bound: naive-bounded (each state once; it misses errors) and context-bounded (with revisits). For state \
             spaces that are too large: random (walks) and swarm (many different searches until --max-time), which prove nothing.",
        )
    },
    Setting {
        verbs: COUNT,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["fewest-preemptions"])]),
        example: "depth-first",
        apply: |settings, text| word(&mut settings.search, text),
        ..Setting::new(
            "search",
            Value::OneOf("ORDER", &["fewest-preemptions", "breadth-first", "depth-first"]),
            "In which order to search (any)",
            "The number of states is the same. With fewest-preemptions, and within a bound, it is told how many there are at each \
             level, which takes longer; without an order nobody counts. The other searches of `check` look for a violation and do \
             not count.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: Engines::Of(&[
            Taker::but("explicit", ANY),
            Taker::just("coverability", ANY),
            Taker::just("basis", ANY),
            Taker::just("weight", ANY),
            Taker::just("forward", ANY),
        ]),
        again: Again::KeptFor(ANY),
        example: "2",
        apply: |settings, text| match text {
            "any" => flag(&mut settings.any_threads),
            number => value(&mut settings.threads, units::number(number, 1, 256)),
        },
        ..Setting::new(
            "threads",
            Value::NumberOr("N", 1, 256, "any"),
            "How many threads search; any: a program with any number",
            "As many as the machine has, if nothing is said. Verdict, numbers and the run that is shown do not depend on it. \
             All threads search where states are stored whole and visited in any order or in that of the fewest preemptions, and \
             the searches of a swarm; in other searches in order of cost they help one thread, and along a path there is only \
             that one. With any, a Boolean program without recursion is checked \
             for any number of its own threads: what it starts may be started any number of times, and if it starts nobody, any \
             number of threads execute main.",
        )
    },
    Setting {
        verbs: &[Verb::Count],
        inputs: MODELS,
        engines: EXPLICIT,
        example: "2",
        apply: |settings, text| value(&mut settings.threads, units::number(text, 1, 256)),
        ..Setting::new(
            "threads",
            Value::Number("N", 1, 256),
            "How many threads search (as many as the machine has)",
            "The numbers do not depend on it.",
        )
    },
    Setting {
        verbs: &[Verb::Simulate, Verb::Replay],
        inputs: Inputs::Able(|front_end| front_end.any_threads, "Boolean programs"),
        example: "any",
        apply: |settings, _| flag(&mut settings.any_threads),
        ..Setting::new(
            "threads",
            Value::OneOf("N", ANY),
            "any: a program with any number of threads, as for `check`",
            "A run that was found with it is one of the program in which starts may be repeated.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[Rule::needs("search", &["random", "swarm"], "only these searches are random")],
        again: Again::Kept,
        example: "3",
        apply: |settings, text| value(&mut settings.seed, units::number(text, 0, u64::MAX)),
        ..Setting::new(
            "seed",
            Value::Number("N", 0, u64::MAX),
            "For random and swarm: the same number gives the same choices (1)",
            "The same seed makes the same walks. A swarm's searches are the same too, but how many there is time for is not.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[Rule::needs("search", &["random"], "it says how many random walks to make")],
        again: Again::Kept,
        example: "2",
        apply: |settings, text| value(&mut settings.walks, units::count(text)),
        ..Setting::new(
            "walks",
            Value::Count("N"),
            "For random: how many walks (1000, or as many as --max-time allows)",
            "Each walk begins in an initial state and ends at a violation, where nobody can move, or at --max-depth.",
        )
    },
    Setting {
        verbs: SEARCHES_OR_TOGETHER,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["preemptions"])]),
        rules: &[
            Rule::excludes(
                "search",
                NOT_BY_COST,
                "this search does not look for the cheapest run: leave out one of the two",
            ),
            Rule::excludes(
                "search",
                &["breadth-first"],
                "breadth-first has the fewest steps first: leave out --search",
            )
            .of(&["preemptions", "switches"]),
        ],
        usual: &["preemptions"],
        again: Again::Kept,
        example: "switches",
        apply: |settings, text| word(&mut settings.cost, text),
        ..Setting::new(
            "cost",
            Value::OneOf("UNIT", CostUnit::WORDS),
            "What is to be fewest, before the steps: preemptions, switches or steps",
            "--bound counts the same. A switch is any change of the running process, forced or not.",
        )
    },
    Setting {
        verbs: SEARCHES_OR_TOGETHER,
        inputs: MODELS,
        engines: ONE_BY_ONE,
        rules: &[
            Rule::excludes(
                "cost",
                &["switches", "steps"],
                "it says what is a preemption, and preemptions are not counted then",
            ),
            Rule::excludes(
                "search",
                NOT_BY_COST,
                "it says what is a preemption, and this search does not count them so",
            ),
            Rule::excludes(
                "search",
                &["breadth-first"],
                "it says what is a preemption, and steps are counted then",
            ),
        ],
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.fair_switch),
        ..Setting::new(
            "fair-switch",
            Value::Flag,
            "Leaving a process that only spins is no preemption",
            "A process spins if every state that it can reach alone leads back, by the same process alone, to where it is.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: ONE_BY_ONE,
        rules: &[Rule::excludes(
            "search",
            NOT_BY_COST,
            "it needs a search in the order of cost: leave out --search",
        )],
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.shortest),
        ..Setting::new(
            "shortest",
            Value::Flag,
            "Look for the fewest steps, however long that takes",
            "A run found with a reduction has the fewest preemptions; a shorter one with as many is then looked for without \
             the reduction, and without this option only for a while.",
        )
    },
    Setting {
        verbs: SEARCHES,
        inputs: MODELS,
        engines: Engines::Of(&[Taker::all("explicit"), Taker::only("reference", &["interpreted"])]),
        again: Again::Kept,
        example: "native",
        apply: |settings, text| word(&mut settings.successors, text),
        ..Setting::new(
            "successors",
            Value::OneOf("HOW", SuccessorsKind::WORDS),
            "How steps are computed: native or interpreted",
            "By default in machine code, or by the interpreter where a model cannot be compiled.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[
            Rule::needs(
                "search",
                PUBLISHED,
                "it is a rule of these searches; --fair-switch is for the others",
            ),
            Rule::excludes(
                "store",
                WITHOUT_STATES,
                "that store keeps too little of each state: leave out --store",
            ),
        ],
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.paper_cycles),
        ..Setting::new(
            "paper-cycles",
            Value::Flag,
            "In a published search: leaving a process that only goes round is free",
            "The rule of Holzmann and Florian's section 3.1, which depends on the order of the search; --fair-switch does not.",
        )
    },
    Setting {
        verbs: CHECK,
        inputs: MODELS,
        engines: EXPLICIT,
        rules: &[
            Rule::needs(
                "search",
                &["depth-first", "naive-bounded", "context-bounded"],
                "the search in the order of cost finds the shortest run anyway",
            ),
            Rule::excludes(
                "store",
                WITHOUT_STATES,
                "that store keeps too little of each state: leave out --store",
            ),
        ],
        again: Again::Kept,
        apply: |settings, _| flag(&mut settings.iterative_shortening),
        ..Setting::new(
            "iterative-shortening",
            Value::Flag,
            "In a depth-first search: go on after an error, with shorter runs only",
            "Spin's -DREACH with -i.",
        )
    },
];
