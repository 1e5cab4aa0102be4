//! A problem's net as PNML.
//!
//! PNML has one initial marking: a parametric place gets a transition that adds tokens to it, which changes
//! nothing that can be covered. What PNML cannot say at all is refused.

use crate::marking::Marking;
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
    let ids = unique(net.places.iter().chain(net.transitions.iter().map(|t| &t.name)));
    let (places, transitions) = ids.split_at(net.places.len());
    for ((place, id), name) in (0..).zip(places).zip(&net.places) {
        let range = problem.range(place);
        if range.high.is_some_and(|high| high > range.low) {
            return Err(format!("PNML cannot say that `{name}` begins with {} or more tokens", range.low));
        }
        let _ = write!(text, "   <place id=\"{id}\"><name><text>{}</text></name>", escape(name.as_str()));
        if range.low > 0 {
            let _ = write!(text, "<initialMarking><text>{}</text></initialMarking>", range.low);
        }
        text.push_str("</place>\n");
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
        if problem.range(place).high.is_none() {
            let source = format!("add_{id}");
            let _ = writeln!(text, "   <transition id=\"{source}\"/>");
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

/// Ids that are all different: places and transitions share one space of ids.
fn unique<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut used = foldhash::HashSet::<String>::default();
    let mut ids = Vec::new();
    for name in names {
        let mut id: String = escape(name.as_str()).into_owned();
        while !used.insert(id.clone()) {
            id.push('_');
        }
        ids.push(id);
    }
    ids
}
