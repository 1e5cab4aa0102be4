//! What is said about the input itself.

use super::{text, word};
use crate::frontend::FRONT_ENDS;
use crate::settings::units;
use crate::settings::{Again, Dialect, Group, Inputs, Rule, Setting, Value};
use crate::verb::Verb;

const OF_MODELS: &[Verb] = &[Verb::Check, Verb::Count, Verb::Simulate, Verb::Replay, Verb::Sequentialize];
const OF_NETS: &[Verb] = &[Verb::Check, Verb::Certify, Verb::Convert];

pub const ROWS: &[Setting] = &[
    Setting {
        short: Some('D'),
        group: Group::Promela,
        verbs: OF_MODELS,
        common: true,
        inputs: Inputs::Of(&["promela"]),
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
            "As if the model began with `#define NAME VALUE`; a definition in the model itself wins. It may be given several \
             times.",
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
        inputs: Inputs::Of(&["boolean"]),
        again: Again::Kept,
        example: "E",
        apply: |settings, label| text(&mut settings.error_label, label),
        ..Setting::new(
            "error-label",
            Value::Text("LABEL"),
            "The label that must not be reached",
            "By default SLIC_ERROR, and every label that speaks of an ERROR.",
        )
    },
    Setting {
        group: Group::Nets,
        verbs: OF_NETS,
        common: true,
        inputs: Inputs::Able(
            |front_end| front_end.reads_properties,
            "nets without a target of their own (PNML)",
        ),
        again: Again::Kept,
        example: "properties.xml",
        ..Setting::new(
            "properties",
            Value::File("FILE"),
            "The file of properties for a PNML net",
            "In the format of the Model Checking Contest. Of all properties, or of the one that --property names: no target is \
             to be covered.",
        )
    },
    Setting {
        group: Group::Nets,
        verbs: &[Verb::Certify, Verb::Convert],
        inputs: Inputs::Able(
            |front_end| front_end.reads_properties,
            "nets without a target of their own (PNML)",
        ),
        rules: &[Rule::needs("properties", &[], "it names one of the properties in a file")],
        example: "p",
        apply: |settings, name| text(&mut settings.property, name),
        ..Setting::new(
            "property",
            Value::Text("NAME"),
            "Only the property with this name",
            "One of those in the file that --properties names; without it, all of them.",
        )
    },
];

/// The names that a file's kind can be given by.
fn input_names() -> Vec<(&'static str, Option<&'static str>)> {
    FRONT_ENDS.iter().map(|front_end| (front_end.name, front_end.alias)).collect()
}
