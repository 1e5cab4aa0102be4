//! Thread-transition systems; their targets stand in a `.prop` file, or in the file itself.

use super::net::load_net;
use super::{FrontEnd, Kind};
use preempt_net::tts;

pub const TTS: FrontEnd = FrontEnd {
    name: "tts",
    alias: None,
    title: "TTS",
    noun: "a thread-transition system",
    plural: "thread-transition systems",
    extensions: &["tts"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    load: |request| load_net(request, tts::read_within, true),
    reads_properties: true,
    write_net: None,
    write_trail: None,
};
