//! TINA's nets; their targets come from a file of properties.

use super::net::load_net;
use super::{FrontEnd, Kind};
use preempt_net::tina;

pub const TINA: FrontEnd = FrontEnd {
    name: "tina",
    alias: None,
    title: "TINA",
    noun: "a net",
    plural: "TINA nets",
    extensions: &["net"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    load: |request| load_net(request, tina::read_within, true),
    reads_properties: true,
    write_net: None,
    write_trail: None,
};
