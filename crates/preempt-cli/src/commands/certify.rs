//! `preempt certify`: does a certificate show that no target can be covered?

use super::net;
use crate::ExitStatus;
use crate::args::{CertifyArgs, Colour};
use crate::console::{self, Failure};
use crate::input;
use crate::job::{self, Stage};
use preempt_wsts::{Certificate, checker};

pub fn run(args: &CertifyArgs) -> Result<ExitStatus, Failure> {
    let source = input::read_as(&args.net.file, None)?;
    let text = input::text_of(&args.certificate)?;
    let (properties, wanted) = (args.net.properties.as_deref(), args.net.property.as_deref());
    let Some(asked) = net::load(source, properties, wanted, Colour::Auto)? else {
        return Ok(ExitStatus::Input);
    };
    asked.has_target(&args.net.file.display().to_string())?;
    let file = args.certificate.display();
    let certificate = Certificate::parse(&asked.problem.net, &text)
        .map_err(|error| Failure::new(format!("`{file}`: {error}")))?;
    job::check()?;
    let verified = checker::verify_within(&asked.problem, &certificate, &job::current().budget);
    verified.map_err(Failure::stopped)?.map_err(|reason| {
        Failure::new(format!("the certificate does not show it: {reason}"))
            .hint("was the net changed since, or is it a certificate of another property?")
    })?;
    let count = asked.problem.targets.len();
    let targets = if count == 1 { "the target".into() } else { format!("none of the {count} targets") };
    let verb = if count == 1 { "cannot" } else { "can" };
    job::current().enter(Stage::Printing);
    console::print(&format!("certified: {targets} {verb} be covered\n{}", summary(&certificate)))?;
    Ok(ExitStatus::Holds)
}

/// What the certificate is made of.
pub(super) fn summary(certificate: &Certificate) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut text = String::new();
    if !certificate.refutations.is_empty() {
        let steps: usize = certificate.refutations.iter().map(|refutation| refutation.steps.len()).sum();
        let targets = count(certificate.refutations.len(), "target");
        text.push_str(&format!("  {targets} refuted, in {}\n", count(steps, "step")));
    }
    if let Some(basis) = &certificate.basis {
        text.push_str(&format!(
            "  an inductive basis of {}, with {} and {} that stay empty\n",
            count(basis.elements.len(), "element"),
            count(basis.bounds.len(), "bound"),
            count(basis.empty.len(), "place")
        ));
    }
    text
}
