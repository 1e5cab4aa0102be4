//! Boolean programs.

use super::{FrontEnd, Kind, LoadRequest, Loaded, without_assertions};
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
    let mut loaded = load_within(request.name, request.text, &options, request.budget);
    loaded.diagnostics.extend(loaded.model.as_ref().filter(|_| options.error_label.is_none()).and_then(
        |model| {
            let message =
                "nothing in this program is an error: `main` leads to no assertion and to no error label";
            without_assertions(
                model,
                message,
                "write assert(e); or a label with the word ERROR, or use --error-label",
            )
        },
    ));
    let model = loaded.model.map(|model| (model, Default::default()));
    Loaded::of_model(request.name, model, loaded.sources, loaded.diagnostics)
}
