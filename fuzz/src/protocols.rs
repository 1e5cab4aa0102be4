//! Protocols, and proofs about them.

use super::{budget, has_error, places_exist};
use preempt_core::{Budget, Diagnostic, SourceId, SourceMap};
use preempt_net::decode;
use preempt_net::protocol::guards::{reduced, side_condition};
use preempt_net::protocol::{Bad, Flat, Protocol};
use preempt_wsts::protocol::{certificate, checker};

/// Reads a protocol from a text.
type Read = fn(SourceId, &str, &[(String, String)], &Budget) -> (Protocol, Vec<Diagnostic>);

/// A text of our own.
pub fn protocol(data: &[u8]) -> bool {
    followed(data, preempt_net::protocol::read_within)
}

/// A model of Cubicle's.
pub fn cubicle(data: &[u8]) -> bool {
    followed(data, preempt_net::protocol::cubicle::read_within)
}

/// What is understood can be reduced, flattened and written as Promela, unless that is too much.
fn followed(data: &[u8], read: Read) -> bool {
    let text = decode(data);
    let mut sources = SourceMap::new();
    let source = sources.add("protocol", text.as_str());
    let (protocol, diagnostics) = read(source, &text, &[], &budget());
    places_exist(&diagnostics, &sources);
    if has_error(&diagnostics) {
        return false;
    }
    let without_guards = reduced(&protocol).protocol;
    assert!(!without_guards.is_guarded());
    if protocol.local_states().is_some_and(|count| count < 64) {
        let _ = side_condition(&protocol, &budget());
        if Flat::refuses(&without_guards).is_none() {
            let _ = Flat::new(&without_guards, &budget());
        }
    }
    let properties: Vec<&Bad> = protocol.properties.iter().collect();
    let _ = preempt_net::protocol::promela::print(&protocol, 2, &properties);
    true
}

/// Two processes can be busy: nothing proves that they cannot.
const UNSAFE: &str = "local s : { idle, busy, done } = idle
global turn : bool = false
rule begin when s = idle do s := busy, turn := not turn
rule finish when s = busy do s := done
rule again when s = done with s = done do s := idle partner do s := idle
bad both: two with s = busy";

fn unsafe_protocol() -> Protocol {
    let (protocol, diagnostics) = preempt_net::protocol::read(SourceMap::new().add("p", UNSAFE), UNSAFE, &[]);
    assert!(!has_error(&diagnostics), "{diagnostics:?}");
    protocol
}

/// Nothing proves what is not so.
pub fn protocol_certificate(data: &[u8]) -> bool {
    let Ok(certificates) = certificate::parse(&decode(data)) else { return false };
    let printed = certificate::write(&certificates);
    assert_eq!(certificate::parse(&printed).as_ref(), Ok(&certificates), "{printed}");
    let protocol = unsafe_protocol();
    for certificate in &certificates {
        let accepted = checker::verify(&protocol, &protocol.properties[0], certificate, &budget());
        assert!(!matches!(accepted, Ok(Ok(()))), "{printed}");
    }
    !certificates.is_empty()
}
