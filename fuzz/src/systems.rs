//! Channel systems and grammars: what is understood is decided within limits, and whatever is found is verified inside.

use super::{budget, has_error, places_exist};
use preempt_core::{Budget, Limits, SourceMap};
use preempt_net::decode;
use preempt_wsts::channels::{ChannelCertificate, ChannelEngine, ChannelVerdict};
use preempt_wsts::grammars::GrammarEngine;
use std::time::Duration;

/// For a search: texts that are changed at random may ask for very much.
fn moment() -> Budget {
    let (time, states) = (Some(Duration::from_millis(50)), Some(2_000));
    Budget::within(&Limits { time, states, memory_bytes: Some(64 << 20), ..Limits::default() })
}

/// A system; its certificate is read back as it was written.
pub fn channels(data: &[u8]) -> bool {
    let text = decode(data);
    let mut sources = SourceMap::new();
    let source = sources.add("system", text.as_str());
    let (system, told) = preempt_net::channels::read_within(source, &text, &budget());
    places_exist(&told, &sources);
    if has_error(&told) {
        return false;
    }
    let found = preempt_wsts::channels::check(&system, ChannelEngine::Basis, &moment());
    assert_eq!(found.internal_error, None);
    if let ChannelVerdict::Safe(certificate) = found.verdict {
        assert_eq!(ChannelCertificate::parse(&system, &certificate.write()), Ok(certificate));
    }
    true
}

/// A grammar.
pub fn grammar(data: &[u8]) -> bool {
    let text = decode(data);
    let mut sources = SourceMap::new();
    let source = sources.add("grammar", text.as_str());
    let (grammar, told) = preempt_net::grammar::read_within(source, &text, &budget());
    places_exist(&told, &sources);
    if has_error(&told) {
        return false;
    }
    let found = preempt_wsts::grammars::check(&grammar, GrammarEngine::Basis, &moment());
    assert!(found.is_ok(), "{found:?}");
    true
}
