//! Certificates of channel systems as text, one line for each state or node.

use super::{ChannelCertificate, DiagramProof, Part};
use preempt_net::channels::{ChannelSystem, State, message_text};
use std::fmt::Write;

const HEADER: &str = "preempt channel certificate 1";

impl ChannelCertificate {
    /// A state has the values of the variables, and the messages of each channel behind a bar. A node has its bit and the numbers of
    /// what follows.
    pub fn write(&self) -> String {
        let mut text = format!("{HEADER}\n");
        match self {
            ChannelCertificate::Basis(elements) => {
                for element in elements {
                    let values: Vec<String> = element.control.iter().map(u64::to_string).collect();
                    let words: Vec<String> = element
                        .words
                        .iter()
                        .map(|word| {
                            word.iter().map(|message| format!(" {}", message_text(message))).collect()
                        })
                        .collect();
                    let _ = writeln!(text, "state {} |{}", values.join(" "), words.join(" |"));
                }
            }
            ChannelCertificate::Diagram(proof) => {
                let _ = writeln!(text, "diagram {} {}", proof.weight, proof.root);
                for ((part, bit), low, high) in &proof.nodes {
                    let part = match part {
                        Part::Variable(at) => format!("v {at}"),
                        Part::Parameter(rule, at) => format!("p {rule} {at}"),
                        Part::Present(channel, slot) => format!("m {channel} {slot}"),
                        Part::Field(channel, slot, field) => format!("f {channel} {slot} {field}"),
                    };
                    let _ = writeln!(text, "{part} {bit} {low} {high}");
                }
            }
        }
        text
    }

    /// Reads what [`write`](ChannelCertificate::write) wrote, for this system. The error says which line is wrong.
    pub fn parse(system: &ChannelSystem, text: &str) -> Result<ChannelCertificate, String> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line.trim()) != Some(HEADER) {
            return Err(format!("line 1: expected `{HEADER}`"));
        }
        let mut elements = Vec::new();
        let mut proof: Option<DiagramProof> = None;
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let mut read = || -> Result<(), String> {
                match (line.strip_prefix("state "), &mut proof) {
                    (Some(line), None) => elements.push(state(system, line)?),
                    (None, None) if line.starts_with("diagram ") && elements.is_empty() => {
                        let [weight, root] = numbers(&line["diagram ".len()..])?[..] else {
                            return Err("expected a weight and a root".into());
                        };
                        proof = Some(DiagramProof { weight: weight as u64, root, ..DiagramProof::default() });
                    }
                    (None, Some(proof)) => proof.nodes.push(node(line)?),
                    _ => return Err("this does not belong here".into()),
                }
                Ok(())
            };
            read().map_err(|reason| format!("line {}: {reason}", at + 1))?;
        }
        Ok(proof.map_or(ChannelCertificate::Basis(elements), ChannelCertificate::Diagram))
    }
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    text.split_whitespace()
        .map(|word| word.parse().map_err(|_| format!("`{word}` is not a number")))
        .collect()
}

fn node(line: &str) -> Result<((Part, usize), usize, usize), String> {
    let (kind, rest) = line.split_once(' ').ok_or("expected a node")?;
    let numbers = numbers(rest)?;
    match (kind, numbers.as_slice()) {
        ("v", [at, bit, low, high]) => Ok(((Part::Variable(*at), *bit), *low, *high)),
        ("m", [channel, slot, bit, low, high]) => Ok(((Part::Present(*channel, *slot), *bit), *low, *high)),
        ("f", [channel, slot, field, bit, low, high]) => {
            Ok(((Part::Field(*channel, *slot, *field), *bit), *low, *high))
        }
        _ => Err(format!("`{line}` is no node")),
    }
}

fn state(system: &ChannelSystem, line: &str) -> Result<State, String> {
    let number = |word: &str, size: u64| match word.parse::<u64>() {
        Ok(value) if value < size => Ok(value),
        _ => Err(format!("`{word}` is not a value below {size}")),
    };
    let mut parts = line.split('|');
    let values: Vec<&str> = parts.next().unwrap_or("").split_whitespace().collect();
    if values.len() != system.variables.len() {
        return Err(format!("expected {} values", system.variables.len()));
    }
    let control = values.iter().zip(&system.variables).map(|(word, (_, size))| number(word, *size));
    let control = control.collect::<Result<Vec<u64>, String>>()?;
    let mut words = Vec::new();
    for ((_, fields), part) in system.channels.iter().zip(parts.by_ref()) {
        let message = |word: &str| -> Result<Vec<u64>, String> {
            let values: Vec<&str> = word.split(',').collect();
            if values.len() != fields.len() {
                return Err(format!("`{word}` is no message of {} fields", fields.len()));
            }
            values.iter().zip(fields).map(|(word, size)| number(word, *size)).collect()
        };
        words.push(part.split_whitespace().map(message).collect::<Result<Vec<_>, String>>()?);
    }
    match (words.len() == system.channels.len(), parts.next()) {
        (true, None) => Ok(State { control, words }),
        // Without channels there is one empty part behind the bar.
        (true, Some(rest)) if words.is_empty() && rest.trim().is_empty() => Ok(State { control, words }),
        _ => Err(format!("expected {} channels", system.channels.len())),
    }
}
