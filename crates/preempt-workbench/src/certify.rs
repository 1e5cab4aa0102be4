//! Does a certificate show that no target can be covered? By exact arithmetic and without any search.

use crate::engine::certificate_summary;
use crate::error::Error;
use crate::frontend::LoadedNet;
use preempt_core::Budget;
use preempt_wsts::{Certificate, checker};

/// What the certificate is made of, if it shows it.
pub fn certify(net: &LoadedNet, certificate: &str, budget: &Budget) -> Result<Vec<String>, Error> {
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
