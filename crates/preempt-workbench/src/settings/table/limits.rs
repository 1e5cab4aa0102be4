//! What may be spent. Reaching a limit is no answer: the verdict is then inconclusive.

use super::{ONE_BY_ONE, SEARCHES, SEARCHES_OR_TOGETHER, value};
use crate::frontend::Kind;
use crate::settings::units;
use crate::settings::{Again, Engines, Group, Inputs, Setting, Taker, Value};
use crate::verb::Verb;

pub const ROWS: &[Setting] = &[
    Setting {
        group: Group::Limits,
        verbs: SEARCHES_OR_TOGETHER,
        engines: Engines::AllBut(&[Taker::none("symbolic"), Taker::none("pushdown")]),
        // It may have kept the search from a shorter run.
        again: Again::Kept,
        example: "100k",
        apply: |settings, text| value(&mut settings.limits.states, units::count(text)),
        ..Setting::new(
            "max-states",
            Value::Count("N"),
            "Stop after N states (500k, 10M)",
            "For nets: after N elements of a basis and markings together. A checkpoint continues the search later.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: &Verb::ALL,
        common: true,
        example: "1m",
        apply: |settings, text| value(&mut settings.limits.time, units::duration(text)),
        ..Setting::new(
            "max-time",
            Value::Time,
            "Stop after a time (30s, 5m, 1h30m)",
            "From the first byte read to the last byte written.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: SEARCHES,
        inputs: Inputs::Kind(Kind::Model),
        engines: ONE_BY_ONE,
        // It may have cut the runs that are longer.
        again: Again::Kept,
        example: "100",
        apply: |settings, text| value(&mut settings.limits.depth, units::count(text)),
        ..Setting::new(
            "max-depth",
            Value::Count("N"),
            "Stop at runs longer than N steps",
            "If there are longer runs, nothing is proved; a violation within so many steps is found all the same.",
        )
    },
    Setting {
        group: Group::Limits,
        verbs: &Verb::ALL,
        common: true,
        // The size of the array of bits: what it takes for visited depends on it.
        again: Again::KeptWith("store", &["bitstate"]),
        example: "1G",
        apply: |settings, text| value(&mut settings.limits.memory_bytes, units::bytes(text)),
        ..Setting::new(
            "max-memory",
            Value::Size,
            "Stop when this much memory is used (512M, 2G)",
            "By the whole process, give or take a tenth and 64 MB. Without it, most of what the machine has free.",
        )
    },
];
