//! Nets as editors write them; their targets come from a file of properties.

use super::net::{Written, load_net};
use super::{FrontEnd, Input, Kind};
use crate::error::Error;
use crate::plan::Plan;
use preempt_core::Budget;
use preempt_net::{mcc, pnml};

pub const PNML: FrontEnd = FrontEnd {
    name: "pnml",
    alias: None,
    title: "PNML",
    noun: "a net",
    plural: "PNML nets",
    extensions: &["pnml"],
    kind: Kind::Net,
    engines: &["coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load: |request| load_net(request, pnml::read_within),
    reads_properties: true,
    write_net: Some(write),
    write_trail: None,
};

/// The targets stand beside the net, in a file of their own.
fn write(_: &Plan, input: &Input, _: &Budget) -> Result<Vec<Written>, Error> {
    let problem = &input.net()?.problem;
    let text = pnml::print(problem).map_err(Error::refused)?;
    let mut files = vec![Written { extension: None, text }];
    if !problem.targets.is_empty() {
        let text = mcc::print(&pnml::ids(&problem.net), "target", &problem.targets);
        files.push(Written { extension: Some("xml"), text });
    }
    Ok(files)
}
