//! Remopla, the language of Moped.

use super::{FrontEnd, Kind, LoadRequest, Loaded, without_assertions};
use preempt_remopla::RemoplaOptions;

pub const REMOPLA: FrontEnd = FrontEnd {
    name: "remopla",
    alias: None,
    title: "Remopla",
    noun: "a Remopla program",
    plural: "Remopla programs",
    extensions: &["rem", "remopla"],
    kind: Kind::Model,
    // Modules may call themselves, which leaves no end of states to be listed.
    engines: &["symbolic", "pushdown", "explicit", "reference", "coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load,
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let options = RemoplaOptions { error_label: request.settings.error_label.clone() };
    let mut loaded = preempt_remopla::load(request.name, request.text, &options, request.budget);
    loaded.diagnostics.extend(loaded.model.as_ref().filter(|_| options.error_label.is_none()).and_then(|model| {
        let message = "no label in this program is an error: only an index out of range or a division by zero can be found";
        without_assertions(model, message, "say what must not be reached, as in `error: skip;`, or use --error-label")
    }));
    let model = loaded.model.map(|model| (model, Default::default()));
    Loaded::of_model(request.name, model, loaded.sources, loaded.diagnostics)
}
