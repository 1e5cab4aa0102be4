//! Coverability problems in mist's format.

use super::net::{Written, load_net};
use super::{FrontEnd, Kind};
use crate::error::Error;
use preempt_net::spec;

pub const SPEC: FrontEnd = FrontEnd {
    name: "spec",
    alias: Some("net"),
    title: "spec",
    noun: "a net",
    plural: "nets",
    extensions: &["spec"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load: |request| load_net(request, spec::read_within),
    reads_properties: false,
    write_net: Some(|_, input, _| match input.net()?.problem.targets.is_empty() {
        true => Err(Error::refused("a .spec file has a target, and this net has none")
            .hint("give a file of properties, as in --properties FILE")),
        false => {
            let text = spec::print(&input.net()?.problem).map_err(Error::refused)?;
            Ok(vec![Written { extension: None, text }])
        }
    }),
    write_trail: None,
};
