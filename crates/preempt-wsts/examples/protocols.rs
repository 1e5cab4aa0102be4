//! Numbers of the engine by weight on protocols: `protocols FILE PROPERTY ORDER [NAME=VALUE]...`, with the order `slots` or
//! `blocks`; one line for `benches/run paper-004-protocols`.

use preempt_core::{Silent, SourceMap, Verdict};
use preempt_wsts::Engine;
use preempt_wsts::protocol::certificate::CertificateSet;
use preempt_wsts::protocol::{ProtocolOptions, SlotOrder, check_protocol, checker};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, property, order, definitions @ ..] = arguments.as_slice() else {
        return Err("protocols FILE PROPERTY ORDER [NAME=VALUE]...".into());
    };
    let definitions: Vec<(String, String)> = definitions
        .iter()
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let text = std::fs::read_to_string(file)?;
    let (protocol, mistakes) =
        preempt_net::protocol::read(SourceMap::new().add(file.as_str(), text.as_str()), &text, &definitions);
    if let Some(mistake) = mistakes.first() {
        return Err(mistake.message.clone().into());
    }
    let order = if order == "slots" { SlotOrder::Slots } else { SlotOrder::Blocks };
    let options = ProtocolOptions {
        engine: Engine::Weight,
        order,
        property: Some(property.clone()),
        ..ProtocolOptions::default()
    };
    let before = processor_time()?;
    let answer = check_protocol(&protocol, &options, &mut Silent).remove(0);
    let whole = processor_time()? - before;
    // The certificate once more, to know what that takes.
    let before = processor_time()?;
    if let (Some(certificate), Some(bad)) =
        (&answer.certificate, protocol.properties.iter().find(|it| it.name == *property))
    {
        checker::verify(&protocol, bad, certificate, &preempt_core::Budget::unlimited())
            .map_err(|reason| format!("{reason:?}"))??;
    }
    let checking = processor_time()? - before;
    let verdict = match answer.verdict {
        Verdict::Holds => "safe".to_string(),
        Verdict::Violated => {
            format!("unsafe, {}", answer.run.map_or(0, |run| run.initial.processes.len()))
        }
        Verdict::Inconclusive(reason) => format!("inconclusive ({reason:?})"),
    };
    let certificate = answer.certificate.map_or(0, |it| match it.set {
        CertificateSet::Elements(elements) => elements.len(),
        CertificateSet::Diagram(diagram) => diagram.nodes.len(),
    });
    let numbers = &answer.numbers;
    let sizes: Vec<String> = numbers.sizes.iter().map(|(_, size)| size.to_string()).collect();
    println!(
        "{verdict}\t{}\t{}\t{}\t{}\t{}\t{}\t{certificate}\t{:.2}\t{:.2}",
        numbers.n,
        numbers.delta,
        numbers.weight,
        numbers.height,
        sizes.join(" / "),
        numbers.images,
        whole.as_secs_f64(),
        checking.as_secs_f64(),
    );
    Ok(())
}

/// What the process has used so far, as the system counts it.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let rest = text.rsplit_once(')').ok_or("a strange /proc/self/stat")?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(Duration::from_millis(ticks * 10))
}
