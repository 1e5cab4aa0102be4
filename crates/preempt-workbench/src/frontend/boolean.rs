//! Boolean programs.

use super::{FrontEnd, Kind, LoadRequest, Loaded};
use crate::settings::Dialect;
use preempt_boolean::load_within;

pub const BOOLEAN: FrontEnd = FrontEnd {
    name: "boolean",
    alias: None,
    title: "Boolean",
    noun: "a Boolean program",
    plural: "Boolean programs",
    extensions: &["bp", "nbp"],
    kind: Kind::Model,
    // Procedures may call themselves, which leaves no end of states to be listed.
    engines: &["symbolic", "pushdown", "explicit", "reference", "coverability"],
    has_runtime_errors: false,
    any_threads: true,
    load,
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let options = preempt_boolean::BooleanOptions {
        dialect: request.settings.dialect.map(|dialect| match dialect {
            Dialect::Satabs => preempt_boolean::Dialect::Satabs,
            Dialect::Getafix => preempt_boolean::Dialect::Getafix,
        }),
        error_label: request.settings.error_label.clone(),
        any_threads: request.settings.any_threads,
    };
    let loaded = load_within(request.name, request.text, &options, request.budget);
    let model = loaded.model.map(|model| (model, Default::default()));
    Loaded::of_model(request.name, model, loaded.sources, loaded.diagnostics)
}
