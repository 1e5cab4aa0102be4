//! A problem's net as PNML.
//!
//! PNML has one initial marking. A parametric place gets a transition that adds tokens to it, and a place that
//! begins with `low..=high` a store for the difference. That changes nothing that can be covered, as long as no
//! transition moves all tokens of the place away: tokens that come later are then as good as tokens that were
//! there before. What PNML cannot say at all is refused.

use crate::marking::{Marking, Place};
use crate::net::Net;
use crate::problem::Problem;
use quick_xml::escape::escape;
use std::fmt::Write;

/// The text, or what stands in the way. Read arcs become a pair of arcs; targets are not part of it.
pub fn print(problem: &Problem) -> Result<String, String> {
    let net = &problem.net;
    if let Some(transition) =
        net.transitions.iter().find(|t| t.moves.iter().any(|moved| !moved.to.is_empty()))
    {
        return Err(format!("PNML has no transfers, and `{}` is one", transition.name));
    }
    if let Some(transition) = net.transitions.iter().find(|t| !t.at_most.is_empty()) {
        return Err(format!("standard PNML has no inhibitor arcs, and `{}` has one", transition.name));
    }
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n \
         <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n  <page id=\"page\">\n",
    );
    let ids: Vec<String> = ids(net).iter().map(|id| escape(id.as_str()).into_owned()).collect();
    let (places, transitions) = ids.split_at(net.places.len());
    for ((place, id), name) in (0..).zip(places).zip(&net.places) {
        let range = problem.range(place);
        if range.high != Some(range.low) && loses_all(net, place) {
            return Err(format!(
                "PNML has one initial marking, and `{name}` has several numbers of tokens at first"
            ));
        }
        write_place(&mut text, id, name, range.low);
        if let Some(high) = range.high.filter(|high| *high > range.low) {
            write_place(&mut text, &fresh("store", id, &ids), &format!("store of {name}"), high - range.low);
        }
    }
    let mut arcs = Arcs { text: String::new(), count: 0 };
    for (id, transition) in transitions.iter().zip(&net.transitions) {
        let _ = writeln!(
            text,
            "   <transition id=\"{id}\"><name><text>{}</text></name></transition>",
            escape(transition.name.as_str())
        );
        arcs.from(places, &transition.consume, id);
        arcs.to(places, &transition.produce, id);
        for moved in &transition.moves {
            arcs.add(&places[moved.from as usize], id, 1, " type=\"reset\"");
        }
    }
    for (place, id) in (0..).zip(places) {
        let range = problem.range(place);
        if range.high != Some(range.low) {
            let source = fresh("add", id, &ids);
            let _ = writeln!(text, "   <transition id=\"{source}\"/>");
            if range.high.is_some() {
                arcs.add(&fresh("store", id, &ids), &source, 1, "");
            }
            arcs.to(places, &Marking::from_pairs([(place, 1)]), &source);
        }
    }
    text.push_str(&arcs.text);
    text.push_str("  </page>\n </net>\n</pnml>\n");
    Ok(text)
}

struct Arcs {
    text: String,
    count: usize,
}

impl Arcs {
    fn add(&mut self, source: &str, target: &str, weight: u64, kind: &str) {
        self.count += 1;
        let _ = write!(
            self.text,
            "   <arc id=\"arc{}\" source=\"{source}\" target=\"{target}\"{kind}",
            self.count
        );
        let _ = match weight {
            1 => writeln!(self.text, "/>"),
            _ => writeln!(self.text, "><inscription><text>{weight}</text></inscription></arc>"),
        };
    }

    fn from(&mut self, places: &[String], consume: &Marking, transition: &str) {
        for (place, weight) in consume.iter() {
            self.add(&places[place as usize], transition, weight, "");
        }
    }

    fn to(&mut self, places: &[String], produce: &Marking, transition: &str) {
        for (place, weight) in produce.iter() {
            self.add(transition, &places[place as usize], weight, "");
        }
    }
}

fn fresh(prefix: &str, id: &str, used: &[String]) -> String {
    let mut name = format!("{prefix}_{id}");
    while used.contains(&name) {
        name.push('_');
    }
    name
}

fn write_place(text: &mut String, id: &str, name: &str, tokens: u64) {
    let _ = write!(text, "   <place id=\"{id}\"><name><text>{}</text></name>", escape(name));
    if tokens > 0 {
        let _ = write!(text, "<initialMarking><text>{tokens}</text></initialMarking>");
    }
    text.push_str("</place>\n");
}

fn loses_all(net: &Net, place: Place) -> bool {
    net.transitions.iter().any(|transition| transition.move_of(place).is_some())
}

/// What places, and behind them transitions, are called in PNML: they share one space of ids.
pub fn ids(net: &Net) -> Vec<String> {
    let mut used = foldhash::HashSet::<String>::default();
    let mut ids = Vec::new();
    for name in net.places.iter().chain(net.transitions.iter().map(|t| &t.name)) {
        let mut id = name.clone();
        while !used.insert(id.clone()) {
            id.push('_');
        }
        ids.push(id);
    }
    ids
}
