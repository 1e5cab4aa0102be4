//! What a proof about a protocol is: a set of states from a weight on that contains the bad ones and no initial one, and into
//! which no step leads from outside; as the smallest elements of an upward-closed set, or as a diagram.
//!
//! It is about the protocol without guards (B' of section 6 of paper 004), which is made from the text in the same way.

use super::slices::DiagramSet;
use preempt_net::protocol::{Place, Protocol, ProtocolState, Scope};
use std::fmt::Write as _;

/// A proof that no state of a property can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolCertificate {
    /// The name of the property.
    pub property: String,
    /// States with at least so many processes are spoken of: others have larger ones above them.
    pub weight: u64,
    /// Everything above these is excluded.
    pub set: CertificateSet,
}

/// A set of states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateSet {
    /// By its smallest elements, none heavier than the weight of the certificate.
    Elements(Vec<ProtocolState>),
    /// The states of the certificate's weight, as a diagram.
    Diagram(DiagramSet),
}

/// The first line of a file of certificates.
pub const HEADER: &str = "preempt certificate 1";
/// The second line of one about a protocol.
pub const KIND: &str = "protocol";

/// Several certificates as one file.
pub fn write(certificates: &[ProtocolCertificate]) -> String {
    let mut text = format!("{HEADER}\n{KIND}\n");
    for certificate in certificates {
        let _ = writeln!(text, "property {}\n  weight {}", certificate.property, certificate.weight);
        match &certificate.set {
            CertificateSet::Elements(elements) => {
                for element in elements {
                    let _ = write!(text, "  element {}", element.global);
                    for process in &element.processes {
                        let _ = write!(text, " {process}");
                    }
                    text.push('\n');
                }
            }
            CertificateSet::Diagram(diagram) => {
                text.push_str("  bits");
                for (place, slot, bit) in &diagram.order {
                    let _ = match place.scope {
                        Scope::Global => write!(text, " g.{}.{bit}", place.variable),
                        _ => write!(text, " {slot}.{}.{bit}", place.variable),
                    };
                }
                text.push('\n');
                for (level, low, high) in &diagram.nodes {
                    let _ = writeln!(text, "  node {level} {low} {high}");
                }
                let _ = writeln!(text, "  root {}", diagram.root);
            }
        }
    }
    text
}

/// Reads what [`write()`] wrote. The error says which line is wrong, and why.
pub fn parse(text: &str) -> Result<Vec<ProtocolCertificate>, String> {
    let mut lines = text.lines().enumerate();
    for expected in [HEADER, KIND] {
        let line = lines.next();
        if line.map(|(_, line)| line.trim()) != Some(expected) {
            return Err(format!("line {}: expected `{expected}`", line.map_or(1, |(at, _)| at + 1)));
        }
    }
    let mut certificates: Vec<ProtocolCertificate> = Vec::new();
    for (at, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            line_of(&words, &mut certificates).map_err(|reason| format!("line {}: {reason}", at + 1))?;
        }
    }
    Ok(certificates)
}

fn line_of(words: &[&str], certificates: &mut Vec<ProtocolCertificate>) -> Result<(), String> {
    let numbers = || -> Result<Vec<u64>, String> { words[1..].iter().map(|word| number(word)).collect() };
    if let ["property", name] = words {
        let set = CertificateSet::Elements(Vec::new());
        certificates.push(ProtocolCertificate { property: name.to_string(), weight: 0, set });
        return Ok(());
    }
    let current = certificates.last_mut().ok_or("expected `property`")?;
    match (words[0], &mut current.set) {
        ("weight", set) => {
            current.weight = *numbers()?.first().ok_or("which weight?")?;
            if let CertificateSet::Diagram(diagram) = set {
                diagram.weight = current.weight;
            }
        }
        ("element", CertificateSet::Elements(elements)) => {
            let numbers = numbers()?;
            let (global, processes) = numbers.split_first().ok_or("an element without a global part")?;
            elements.push(ProtocolState { global: *global, processes: processes.to_vec() });
        }
        ("bits", CertificateSet::Elements(elements)) if elements.is_empty() => {
            let order = words[1..].iter().map(|word| bit(word)).collect::<Result<_, _>>()?;
            let weight = current.weight;
            current.set = CertificateSet::Diagram(DiagramSet { weight, order, nodes: Vec::new(), root: 0 });
        }
        ("node", CertificateSet::Diagram(diagram)) => {
            let [level, low, high] = numbers()?[..] else { return Err("a node has three numbers".into()) };
            let next = diagram.nodes.len() as u64 + 2;
            if level >= diagram.order.len() as u64 || low >= next || high >= next {
                return Err("a node has a bit, and children that were there before".into());
            }
            diagram.nodes.push((level as u32, low as usize, high as usize));
        }
        ("root", CertificateSet::Diagram(diagram)) => {
            let root = *numbers()?.first().ok_or("which node?")?;
            if root >= diagram.nodes.len() as u64 + 2 {
                return Err("there is no such node".into());
            }
            diagram.root = root as usize;
        }
        (word, _) => return Err(format!("`{word}` does not belong here")),
    }
    Ok(())
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number"))
}

fn bit(word: &str) -> Result<(Place, usize, usize), String> {
    let parts: Vec<&str> = word.split('.').collect();
    let [slot, variable, bit] = parts[..] else { return Err(format!("`{word}` is not a bit")) };
    let small = |word: &str| Ok::<usize, String>(number(word)?.min(1 << 20) as usize);
    let variable = small(variable)?;
    Ok(match slot {
        "g" => (Place { scope: Scope::Global, variable }, 0, small(bit)?),
        slot => (Place { scope: Scope::Mover, variable }, small(slot)?, small(bit)?),
    })
}

/// What a certificate is made of, in words.
pub fn summary(certificate: &ProtocolCertificate, protocol: &Protocol) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let reduced = if protocol.is_guarded() { ", with guards as broadcasts" } else { "" };
    let processes = match certificate.weight {
        1 => "1 process".to_string(),
        n => format!("{n} processes"),
    };
    let set = match &certificate.set {
        CertificateSet::Elements(elements) => {
            format!("an inductive basis of {}, with up to {processes}", count(elements.len(), "element"))
        }
        CertificateSet::Diagram(diagram) => {
            format!("an inductive set of {processes}, a diagram of {}", count(diagram.nodes.len(), "node"))
        }
    };
    format!("{}: {set}{reduced}", certificate.property)
}
