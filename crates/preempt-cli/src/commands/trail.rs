//! `--trail FILE`: the counterexample in the format of Spin's trails.

use super::delivery::Delivery;
use crate::console;
use crate::files;
use crate::input;
use crate::job;
use preempt_core::Report;
use preempt_workbench::frontend::TrailRequest;
use preempt_workbench::{LoadedModel, Plan};
use std::path::{Path, PathBuf};

/// The file, if there is a counterexample. The result is known by now and stays what it is, also where no trail can be
/// written.
pub fn write(path: &Path, plan: &Plan, loaded: &LoadedModel, report: &Report, delivery: &mut Delivery) {
    let (Some(write), Some(_)) = (plan.front_end.write_trail, &report.counterexample) else { return };
    let mut request = TrailRequest {
        loaded,
        report,
        settings: &plan.settings,
        with_claim: files::keeps(path),
        budget: &job::current().budget,
        read: &mut input::read_include,
    };
    let trail = match write(&mut request) {
        Ok(trail) => trail,
        Err(why) => {
            console::complain(&format!("warning: no trail is written: {why}\n"));
            console::complain("help: --trace FILE writes the counterexample for `preempt replay`\n");
            return;
        }
    };
    if let Some(claim) = trail.claim {
        let claim_file = claim_file(path);
        // Spin looks for it beside the model, unless it is told where.
        let place = std::path::absolute(&claim_file).unwrap_or_else(|_| claim_file.clone());
        console::complain(&format!("note: the trail needs the claim: spin -t -N {}\n", place.display()));
        delivery.file(&claim_file, claim);
    } else if trail.without_claim {
        console::complain("note: the trail has the steps of the processes, without moves of Spin's claim\n");
    }
    delivery.file(path, trail.text);
}

/// Beside the trail: `run.trail.never`.
fn claim_file(trail: &Path) -> PathBuf {
    let mut name = trail.as_os_str().to_os_string();
    name.push(".never");
    PathBuf::from(name)
}
