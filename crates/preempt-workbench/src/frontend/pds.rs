//! Pushdown systems.

use super::{FrontEnd, Kind, LoadRequest, Loaded};
use preempt_pushdown::format;

pub const PDS: FrontEnd = FrontEnd {
    name: "pds",
    alias: None,
    title: "PDS",
    noun: "a pushdown system",
    plural: "pushdown systems",
    extensions: &["pds"],
    kind: Kind::Model,
    engines: &["pushdown", "symbolic", "explicit", "reference", "coverability"],
    has_runtime_errors: false,
    any_threads: false,
    load,
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let loaded = format::load(request.name, request.text);
    let model = loaded.model.map(|model| (model, Default::default()));
    Loaded::of_model(request.name, model, loaded.sources, loaded.diagnostics)
}
