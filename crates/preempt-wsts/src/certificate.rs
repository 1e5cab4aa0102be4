//! Why nothing bad can be covered, as plain data: what [`checker`](crate::checker) verifies without knowing how
//! it was found, and what can be written to a file and read again.

use num_bigint::BigUint;
use preempt_net::{Marking, Net, Place};
use std::fmt::Write;

/// Every target is refuted by itself, or covered by the inductive basis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Targets that are refuted one by one.
    pub refutations: Vec<Refutation>,
    /// For all other targets.
    pub basis: Option<InductiveBasis>,
}

/// An argument about one run that is supposed to cover the target: step by step, what it cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// Its number among the problem's targets.
    pub target: usize,
    /// Each may use what those before it have excluded.
    pub steps: Vec<RefutationStep>,
}

/// With "live" transitions those that the steps before have not excluded from the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefutationStep {
    /// These places are empty at first, and no live transition puts a token there without taking one (a siphon):
    /// they stay empty, and who needs them is excluded. Refutes the target if it needs one of them.
    Empty(Vec<Place>),
    /// These places have a token at first, and every live transition that takes from them leaves one there (a
    /// trap): one of them is marked at the end.
    Trap(Vec<Place>),
    /// The weighted sum never grows by a live transition, and begins no larger than the target needs: so it never
    /// shrinks either, and the transitions that shrink it are excluded.
    Unused(Combination),
    /// The weighted sum never grows, and begins smaller than the target needs. This ends the argument.
    Contradiction(Combination),
}

/// Weights of places, and of the traps found before (by the order of their steps). The end of the run has at
/// least `places . target + sum of trap weights`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Combination {
    /// What a token on a place counts.
    pub places: Vec<(Place, BigUint)>,
    /// What a trap counts, by its number among the traps of the refutation.
    pub traps: Vec<(usize, BigUint)>,
}

/// An upward-closed set that no step enters from outside, as far as markings are not excluded otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InductiveBasis {
    /// A siphon that is empty at first: markings with a token there are excluded.
    pub empty: Vec<Place>,
    /// Weighted sums that never grow: markings with more than there is at first are excluded.
    pub bounds: Vec<Vec<(Place, BigUint)>>,
    /// The smallest markings of the set.
    pub elements: Vec<Marking>,
}

const HEADER: &str = "preempt certificate 1";
/// Weights have as many digits as the exact solution of a linear program of the net needs: far fewer than this.
const LONGEST_NUMBER: usize = 20_000;

impl Certificate {
    /// One line for each fact, with the names of places.
    pub fn write(&self, net: &Net) -> String {
        let mut text = format!("{HEADER}\n");
        let name = |place: Place| escape(net.places.get(place as usize).map_or("?", String::as_str));
        let list = |places: &[Place]| places.iter().map(|p| format!(" {}", name(*p))).collect::<String>();
        let sum = |weights: &[(Place, BigUint)]| {
            weights.iter().map(|(p, w)| format!(" {w}*{}", name(*p))).collect::<String>()
        };
        let combination = |c: &Combination| {
            let traps: String = c.traps.iter().map(|(trap, w)| format!(" {w}@{}", trap + 1)).collect();
            format!("{}{traps}", sum(&c.places))
        };
        for refutation in &self.refutations {
            let _ = writeln!(text, "refute {}", refutation.target + 1);
            for step in &refutation.steps {
                let _ = match step {
                    RefutationStep::Empty(places) => writeln!(text, "  empty{}", list(places)),
                    RefutationStep::Trap(places) => writeln!(text, "  trap{}", list(places)),
                    RefutationStep::Unused(c) => writeln!(text, "  unused{}", combination(c)),
                    RefutationStep::Contradiction(c) => writeln!(text, "  contradiction{}", combination(c)),
                };
            }
        }
        if let Some(basis) = &self.basis {
            let _ = writeln!(text, "basis\n  empty{}", list(&basis.empty));
            for bound in &basis.bounds {
                let _ = writeln!(text, "  bound{}", sum(bound));
            }
            for element in &basis.elements {
                let tokens: String = element.iter().map(|(p, n)| format!(" {n}*{}", name(p))).collect();
                let _ = writeln!(text, "  element{tokens}");
            }
        }
        text
    }

    /// Reads what [`write`](Certificate::write) wrote. The error says which line is wrong, and why.
    pub fn parse(net: &Net, text: &str) -> Result<Certificate, String> {
        let index = net.place_index();
        let place = |word: &str| {
            let name = unescape(word);
            index.get(name.as_str()).copied().ok_or(format!("there is no place `{name}`"))
        };
        let number = |word: &str| match word.len() {
            // Reading a number takes the square of its length.
            length if length > LONGEST_NUMBER => Err(format!("a number of {length} digits is too long")),
            _ => word.parse::<BigUint>().map_err(|_| format!("`{word}` is not a number")),
        };
        let weighted = |word: &str| match word.split_once('*') {
            Some((weight, name)) => Ok((place(name)?, number(weight)?)),
            None => Err(format!("expected `weight*place`, found `{word}`")),
        };
        let combination = |words: &[&str]| {
            let mut found = Combination::default();
            for word in words {
                match word.split_once('@').filter(|(weight, _)| weight.bytes().all(|b| b.is_ascii_digit())) {
                    Some((weight, trap)) => {
                        let trap: usize = trap.parse().map_err(|_| format!("`{trap}` is not a number"))?;
                        let trap = trap.checked_sub(1).ok_or("traps are counted from 1")?;
                        found.traps.push((trap, number(weight)?));
                    }
                    None => found.places.push(weighted(word)?),
                }
            }
            Ok::<_, String>(found)
        };
        let mut certificate = Certificate::default();
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line.trim()) != Some(HEADER) {
            return Err(format!("line 1: expected `{HEADER}`"));
        }
        for (at, line) in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some((kind, rest)) = words.split_first() else { continue };
            let mut read = || -> Result<(), String> {
                let places = || rest.iter().map(|word| place(word)).collect::<Result<Vec<Place>, String>>();
                match (*kind, &mut certificate.basis, certificate.refutations.last_mut()) {
                    ("refute", None, _) => {
                        let target = rest.first().and_then(|word| word.parse::<usize>().ok());
                        let target = target.and_then(|n| n.checked_sub(1)).ok_or("which target?")?;
                        certificate.refutations.push(Refutation { target, steps: Vec::new() });
                    }
                    ("basis", basis @ None, _) => *basis = Some(InductiveBasis::default()),
                    ("empty", Some(basis), _) => basis.empty = places()?,
                    ("bound", Some(basis), _) => {
                        let bound: Result<Vec<_>, String> = rest.iter().map(|word| weighted(word)).collect();
                        basis.bounds.push(bound?);
                    }
                    ("element", Some(basis), _) => {
                        let mut tokens = Vec::new();
                        for word in rest {
                            let (place, count) = weighted(word)?;
                            tokens.push((place, u64::try_from(count).map_err(|_| "too many tokens")?));
                        }
                        basis.elements.push(Marking::from_pairs(tokens));
                    }
                    ("empty", None, Some(r)) => r.steps.push(RefutationStep::Empty(places()?)),
                    ("trap", None, Some(r)) => r.steps.push(RefutationStep::Trap(places()?)),
                    ("unused", None, Some(r)) => r.steps.push(RefutationStep::Unused(combination(rest)?)),
                    ("contradiction", None, Some(r)) => {
                        r.steps.push(RefutationStep::Contradiction(combination(rest)?))
                    }
                    _ => return Err(format!("`{kind}` does not belong here")),
                }
                Ok(())
            };
            read().map_err(|reason| format!("line {}: {reason}", at + 1))?;
        }
        Ok(certificate)
    }
}

/// Names without white space, so that a line can be split at it.
fn escape(name: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && c != '%';
    name.chars().map(|c| if plain(c) { c.to_string() } else { format!("%{:x};", c as u32) }).collect()
}

fn unescape(word: &str) -> String {
    let mut parts = word.split('%');
    let mut name = parts.next().unwrap_or("").to_string();
    for part in parts {
        let (code, rest) = part.split_once(';').unwrap_or((part, ""));
        name.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        name.push_str(rest);
    }
    name
}
