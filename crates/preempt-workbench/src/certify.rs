//! Does a certificate show that no target can be covered? By exact arithmetic and without any search.

use crate::engine::certificate_summary;
use crate::error::Error;
use crate::frontend::{Certified, Input, LoadedNet};
use preempt_core::Budget;
use preempt_wsts::{Certificate, checker};

/// What the certificate shows of the input, and what it is made of; an error if it shows nothing.
pub fn certify(input: &Input, certificate: &str, budget: &Budget) -> Result<Certified, Error> {
    if let Input::System(loaded) = input {
        return loaded.system.certify(certificate, budget);
    }
    let net = input.net()?;
    let summary = certify_net(net, certificate, budget)?;
    let statement = match net.problem.targets.len() {
        1 => "the target cannot be covered".to_string(),
        count => format!("none of the {count} targets can be covered"),
    };
    Ok(Certified { statement, summary })
}

fn certify_net(net: &LoadedNet, certificate: &str, budget: &Budget) -> Result<Vec<String>, Error> {
    net.has_target()?;
    let certificate = Certificate::parse(&net.problem.net, certificate)
        .map_err(|error| Error::refused(format!("the certificate cannot be read: {error}")))?;
    if let Some(reason) = budget.exhausted() {
        return Err(Error::Stopped(reason));
    }
    let verified = checker::verify_within(&net.problem, &certificate, budget);
    verified.map_err(Error::Stopped)?.map_err(|reason| {
        Error::refused(format!("the certificate does not show it: {reason}"))
            .hint("was the net changed since, or is it a certificate of another property?")
    })?;
    Ok(certificate_summary(&certificate))
}
