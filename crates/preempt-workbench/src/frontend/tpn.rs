//! Woflan's nets; their targets come from a file of properties.

use super::net::load_net;
use super::{FrontEnd, Kind};
use preempt_net::tpn;

pub const TPN: FrontEnd = FrontEnd {
    name: "tpn",
    alias: None,
    title: "TPN",
    noun: "a net",
    plural: "Woflan nets",
    extensions: &["tpn"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    load: |request| load_net(request, tpn::read_within, true),
    reads_properties: true,
    write_net: None,
    write_trail: None,
};
