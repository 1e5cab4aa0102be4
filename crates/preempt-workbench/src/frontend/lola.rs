//! LoLA's nets; their targets come from a file of properties.

use super::net::load_net;
use super::{FrontEnd, Kind};
use preempt_net::lola;

pub const LOLA: FrontEnd = FrontEnd {
    name: "lola",
    alias: None,
    title: "LoLA",
    noun: "a net",
    plural: "LoLA nets",
    extensions: &["lola"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    load: |request| load_net(request, lola::read_within, true),
    reads_properties: true,
    write_net: None,
    write_trail: None,
};
