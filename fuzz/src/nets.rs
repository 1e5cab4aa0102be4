//! Nets, questions about them, and proofs.

use super::{budget, has_error, places_exist};
use preempt_core::{Diagnostic, SourceId, SourceMap};
use preempt_net::{Problem, decode};
use preempt_wsts::{Certificate, checker};

/// Reads a net from a text.
type Read<'a> = dyn Fn(SourceId, &str) -> (Problem, Vec<Diagnostic>) + 'a;

/// What is printed is read as the same.
pub fn spec(data: &[u8]) -> bool {
    let read = |id, text: &str| preempt_net::spec::read_within(id, text, &budget());
    let Some(problem) = understood(&decode(data), &read) else { return false };
    // A sum of weights may be larger than any number that is read: that cannot be said in this format.
    if let Ok(printed) = preempt_net::spec::print(&problem) {
        let again = understood(&printed, &read).unwrap_or_else(|| panic!("not read back:\n{printed}"));
        assert_eq!(preempt_net::spec::print(&again).as_deref(), Ok(printed.as_str()));
    }
    true
}

/// What is printed is read, and then printed as the same: PNML has no ranges, so that a net may grow, once.
pub fn pnml(data: &[u8]) -> bool {
    let read = |id, text: &str| preempt_net::pnml::read_within(id, text, &budget());
    let Some(problem) = understood(&decode(data), &read) else { return false };
    if let Ok(printed) = preempt_net::pnml::print(&problem) {
        let again = understood(&printed, &read).unwrap_or_else(|| panic!("not read back:\n{printed}"));
        assert_eq!(preempt_net::pnml::print(&again).as_deref(), Ok(printed.as_str()));
    }
    true
}

/// What is read can be printed as a `.spec`, unless a number is too large for that.
fn read_only(data: &[u8], read: &Read<'_>) -> bool {
    let Some(mut problem) = understood(&decode(data), read) else { return false };
    preempt_net::complement::complement(&mut problem, &mut |_| None);
    assert!(problem.spans.len() == problem.net.transitions.len());
    let _ = preempt_net::spec::print(&problem);
    true
}

/// LoLA's nets.
pub fn lola(data: &[u8]) -> bool {
    read_only(data, &|id, text| preempt_net::lola::read_within(id, text, &budget()))
}

/// TINA's nets.
pub fn tina(data: &[u8]) -> bool {
    read_only(data, &|id, text| preempt_net::tina::read_within(id, text, &budget()))
}

/// Woflan's nets.
pub fn tpn(data: &[u8]) -> bool {
    read_only(data, &|id, text| preempt_net::tpn::read_within(id, text, &budget()))
}

/// Thread-transition systems, and the same bytes as targets of one with three shared and three local states.
pub fn tts(data: &[u8]) -> bool {
    let system = "3 3\n0 0 -> 1 1\n1 1 +> 2 2";
    let read = |id, text: &str| preempt_net::tts::read_within(id, text, &budget());
    if let Some(problem) = understood(system, &read) {
        let text = decode(data);
        let mut sources = SourceMap::new();
        let source = sources.add("targets", text.as_str());
        let (_, told) = preempt_net::tts::read_prop_within(&problem.net, source, &text, None, &budget());
        places_exist(&told, &sources);
    }
    read_only(data, &read)
}

/// Properties as text.
pub fn query(data: &[u8]) -> bool {
    let (text, problem) = (decode(data), net());
    let mut sources = SourceMap::new();
    let source = sources.add("properties", text.as_str());
    let (found, told) = preempt_net::query::read_within(&problem.net, source, &text, None, &budget());
    places_exist(&told, &sources);
    // A sign that is none of the language is an error even beside what is understood.
    let understood = found.iter().any(|property| property.unsupported().is_none());
    assert!(understood || has_error(&told));
    understood
}

fn understood(text: &str, read: &Read<'_>) -> Option<Problem> {
    let mut sources = SourceMap::new();
    let (problem, diagnostics) = read(sources.add("net", text), text);
    places_exist(&diagnostics, &sources);
    (!has_error(&diagnostics)).then_some(problem)
}

/// Two places, of which the second can be covered: tokens go round.
const NET: &str = "vars p q r
rules
  p >= 1 -> p' = p - 1, q' = q + 1;
  q >= 1 -> q' = q - 1, r' = r + 1;
  r >= 2 -> r' = r - 2, p' = p + 1;
init p = 2, q = 0, r = 0
target q >= 2";

fn net() -> Problem {
    let mut sources = SourceMap::new();
    let (problem, diagnostics) = preempt_net::spec::read(sources.add("net", NET), NET);
    assert!(!has_error(&diagnostics), "{diagnostics:?}");
    problem
}

/// Properties of the Model Checking Contest, for a net with the places `p`, `q` and `r`.
pub fn mcc(data: &[u8]) -> bool {
    let (text, problem) = (decode(data), net());
    let mut sources = SourceMap::new();
    let source = sources.add("properties", text.as_str());
    let (found, diagnostics) = preempt_net::mcc::read_within(&problem.net, source, &text, None, &budget());
    places_exist(&diagnostics, &sources);
    for property in found.iter().filter(|property| !property.targets().is_empty()) {
        let printed = preempt_net::mcc::print(&problem.net.places, "again", property.targets());
        let source = sources.add("printed", printed.as_str());
        let (again, told) = preempt_net::mcc::read_within(&problem.net, source, &printed, None, &budget());
        assert!(!has_error(&told), "{told:?}\n{printed}");
        assert_eq!(again.first().map(|again| again.targets()), Some(property.targets()), "{printed}");
    }
    found.iter().any(|property| property.unsupported().is_none())
}

/// Nothing proves that a target cannot be covered that can.
pub fn certificate(data: &[u8]) -> bool {
    let problem = net();
    let Ok(certificate) = Certificate::parse(&problem.net, &decode(data)) else { return false };
    let printed = certificate.write(&problem.net);
    assert_eq!(Certificate::parse(&problem.net, &printed).as_ref(), Ok(&certificate), "{printed}");
    let accepted = checker::verify_within(&problem, &certificate, &budget());
    assert!(!matches!(accepted, Ok(Ok(()))), "{printed}");
    true
}
