//! What is said about the input itself.

use super::{text, value, word};
use crate::frontend::{FRONT_ENDS, Kind};
use crate::settings::units;
use crate::settings::{Again, Dialect, Group, Inputs, Setting, Value};
use crate::verb::Verb;

const OF_MODELS: &[Verb] = &[Verb::Check, Verb::Count, Verb::Simulate, Verb::Replay, Verb::Sequentialize];
const OF_NETS: &[Verb] = &[Verb::Check, Verb::Certify, Verb::Convert];

pub const ROWS: &[Setting] = &[
    Setting {
        short: Some('D'),
        group: Group::Promela,
        verbs: &Verb::ALL,
        common: true,
        inputs: Inputs::Of(&["promela", "protocol"]),
        again: Again::Kept,
        example: "N=3",
        apply: |settings, text| {
            settings.defines.push(units::definition(text)?);
            Ok(())
        },
        ..Setting::new(
            "define",
            Value::Definition,
            "Define a macro (without a value: 1)",
            "As if the model began with `#define NAME VALUE`; a definition in the model itself wins. In a protocol it takes \
             the place of the constant's value. It may be given several times.",
        )
    },
    Setting {
        group: Group::Input,
        verbs: &Verb::ALL,
        again: Again::Kept,
        example: "promela",
        ..Setting::new(
            "input",
            Value::Registered("KIND", input_names),
            "Read the file as KIND, whatever its name: see `preempt engines`",
            "Without it the extension decides. A file without an extension is taken for Promela, as Spin does, and so is stdin.",
        )
    },
    Setting {
        group: Group::Boolean,
        verbs: OF_MODELS,
        inputs: Inputs::Of(&["boolean"]),
        again: Again::Kept,
        example: "satabs",
        apply: |settings, text| word(&mut settings.dialect, text),
        ..Setting::new(
            "dialect",
            Value::OneOf("NAME", Dialect::WORDS),
            "Who wrote the program: satabs or getafix",
            "They differ in how strongly = and != bind. By default as SATABS does, with a warning where it matters.",
        )
    },
    Setting {
        group: Group::Boolean,
        verbs: OF_MODELS,
        inputs: Inputs::Of(&["boolean", "remopla"]),
        again: Again::Kept,
        example: "E",
        apply: |settings, label| text(&mut settings.error_label, label),
        ..Setting::new(
            "error-label",
            Value::Text("LABEL"),
            "The label that must not be reached",
            "By default SLIC_ERROR, and every label that speaks of an ERROR; in Remopla, in small letters too.",
        )
    },
    Setting {
        group: Group::Nets,
        verbs: OF_NETS,
        common: true,
        inputs: Inputs::Able(
            |front_end| front_end.reads_properties,
            "nets whose targets stand in a file of their own",
        ),
        again: Again::Kept,
        example: "properties.xml",
        ..Setting::new(
            "properties",
            Value::File("FILE"),
            "The file of properties for a net without a target",
            "In the format of the Model Checking Contest, as text like `EF (a >= 1 AND b > 2)`, or the targets of a \
             thread-transition system (`1|2,2`). All properties are answered, or the one that --property names.",
        )
    },
    Setting {
        group: Group::Nets,
        verbs: &[Verb::Certify, Verb::Convert],
        inputs: Inputs::Able(
            |front_end| front_end.reads_properties || front_end.kind == Kind::System,
            "nets with a file of properties, and well-structured systems",
        ),
        example: "p",
        apply: |settings, name| text(&mut settings.property, name),
        ..Setting::new(
            "property",
            Value::Text("NAME"),
            "Only the property with this name",
            "One of those in the file that --properties names, or in the text of a protocol; without it, all of them.",
        )
    },
    Setting {
        group: Group::Nets,
        verbs: &[Verb::Convert],
        common: true,
        inputs: Inputs::Kind(Kind::System),
        example: "3",
        apply: |settings, text| value(&mut settings.processes, units::count(text)),
        ..Setting::new(
            "processes",
            Value::Count("N"),
            "Write a Promela model with N processes",
            "A protocol has any number of processes, and a Promela model a fixed one.",
        )
    },
];

/// The names that a file's kind can be given by.
fn input_names() -> Vec<(&'static str, Option<&'static str>)> {
    FRONT_ENDS.iter().map(|front_end| (front_end.name, front_end.alias)).collect()
}
