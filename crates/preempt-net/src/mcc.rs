//! The reachability properties of the Model Checking Contest: EF and AG of formulas over tokens.

use crate::MOST_HINTS;
use crate::formula::{Formula, Linear};
use crate::marking::{Marking, Place};
use crate::net::Net;
use crate::property::{Collected, NetProperty, Quantifier};
use crate::scan::LARGEST;
use crate::xml::{self, Element};
use foldhash::HashMap;
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, SourceId};
use quick_xml::escape::escape;
use std::cell::Cell;
use std::fmt::Write;

/// Reads a set of properties, or only the one that is wanted. Those that are not understood say so, each with a warning; or
/// with an error, if none is understood.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_net::{Marking, Net, mcc};
///
/// let net = Net { places: vec!["a".into(), "b".into()], ..Net::default() };
/// let text = mcc::print(&net.places, "two", &[Marking::from_pairs([(1, 2)])]);
/// let (properties, mistakes) = mcc::read(&net, SourceMap::new().add("p.xml", &text), &text, None);
/// assert!(mistakes.is_empty());
/// assert_eq!((&*properties[0].id, properties[0].targets()), ("two", &[Marking::from_pairs([(1, 2)])][..]));
/// ```
pub fn read(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
) -> (Vec<NetProperty>, Vec<Diagnostic>) {
    read_within(net, source, text, wanted, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, an error says so.
pub fn read_within(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
    budget: &Budget,
) -> (Vec<NetProperty>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let Some(root) = xml::parse(source, text, budget, &mut diagnostics) else {
        return (Vec::new(), diagnostics);
    };
    if root.name != "property-set" {
        diagnostics.push(root.error(format!("expected a `property-set` element, found `{}`", root.name)));
        return (Vec::new(), diagnostics);
    }
    let transitions = net.transition_index();
    let reader = FormulaReader { net, places: net.place_index(), transitions, budget, hints: Cell::new(0) };
    let all: Vec<&Element> = root.children.iter().filter(|child| child.name == "property").collect();
    let id_of = |property: &Element| property.child("id").map_or("", |id| id.text.as_str()).to_string();
    if let Some(wanted) = wanted.filter(|wanted| all.iter().all(|property| id_of(property) != *wanted)) {
        let ids: Vec<String> = all.iter().map(|property| id_of(property)).collect();
        let error = root.error(format!("there is no property `{wanted}`"));
        diagnostics.push(match nearest(wanted, ids.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        });
    }
    let mut collected = Collected::default();
    for property in all {
        let id = id_of(property);
        if wanted.is_some_and(|wanted| wanted != id) {
            continue;
        }
        if budget.exhausted().is_some() {
            collected.diagnostics.push(crate::stopped());
            break;
        }
        let formula = property.child("formula").and_then(|formula| formula.children.first());
        let read = match formula {
            Some(formula) => reader.property(id.clone(), formula),
            None => Err(property.error("a property needs a formula")),
        };
        collected.add(id, read);
    }
    let (properties, told) = collected.finish();
    diagnostics.extend(told);
    (properties, diagnostics)
}

struct FormulaReader<'n> {
    net: &'n Net,
    places: HashMap<&'n str, Place>,
    transitions: HashMap<&'n str, Vec<usize>>,
    budget: &'n Budget,
    hints: Cell<usize>,
}

impl FormulaReader<'_> {
    fn property(&self, id: String, formula: &Element) -> Result<NetProperty, Diagnostic> {
        let (quantifier, body) = self.quantified(formula)?;
        NetProperty::new(self.net, id, quantifier, body, self.budget)
    }

    fn quantified(&self, formula: &Element) -> Result<(Quantifier, Formula), Diagnostic> {
        let inner = formula.children.first();
        match (formula.name.as_str(), inner.map(|inner| (inner.name.as_str(), inner.children.first()))) {
            ("exists-path", Some(("finally", Some(body)))) => {
                Ok((Quantifier::Reachable, self.formula(body)?))
            }
            ("all-paths", Some(("globally", Some(body)))) => Ok((Quantifier::Invariant, self.formula(body)?)),
            ("negation", Some(("exists-path" | "all-paths" | "negation", _))) => match inner {
                Some(inner) => {
                    // Not EF f is AG not f.
                    let (quantifier, body) = self.quantified(inner)?;
                    Ok((quantifier.other(), body.negated()))
                }
                None => Err(formula.error("a negation needs a formula")),
            },
            _ => Err(formula
                .error("this formula is not about reachability")
                .hint("`exists-path finally` and `all-paths globally` at the top are supported")),
        }
    }

    fn formula(&self, formula: &Element) -> Result<Formula, Diagnostic> {
        let parts = || -> Result<Vec<Formula>, Diagnostic> {
            formula.children.iter().map(|child| self.formula(child)).collect()
        };
        match formula.name.as_str() {
            "true" => Ok(Formula::Constant(true)),
            "false" => Ok(Formula::Constant(false)),
            "negation" => match formula.children.as_slice() {
                [inner] => Ok(self.formula(inner)?.negated()),
                _ => Err(formula.error("a negation has one part")),
            },
            "conjunction" => Ok(Formula::All(parts()?)),
            "disjunction" => Ok(Formula::Any(parts()?)),
            "is-fireable" => {
                let named = formula.children.iter().filter(|child| child.name == "transition");
                Ok(Formula::Any(named.map(|child| self.fireable(child)).collect::<Result<_, _>>()?))
            }
            "deadlock" | "is-deadlock" => Ok(Formula::Deadlock),
            "integer-le" => match formula.children.as_slice() {
                [left, right] => Ok(Formula::AtMost(self.difference(left, right)?)),
                _ => Err(formula.error("a comparison has two sides")),
            },
            other => Err(formula.error(format!("`{other}` is not supported in a formula"))),
        }
    }

    fn fireable(&self, element: &Element) -> Result<Formula, Diagnostic> {
        match self.transitions.get(element.text.as_str()) {
            Some(numbers) => {
                Ok(Formula::Any(numbers.iter().map(|number| Formula::Fireable(*number)).collect()))
            }
            None => Err(element.error(format!("there is no transition `{}`", element.text))),
        }
    }

    /// `left <= right`, as a sum of both with a limit.
    fn difference(&self, left: &Element, right: &Element) -> Result<Linear, Diagnostic> {
        let mut weights = Vec::new();
        let mut most = 0;
        for (element, sign) in [(left, 1), (right, -1)] {
            match self.sum(element)? {
                Sum::Number(number) => most -= sign * number,
                Sum::Tokens(places) => weights.extend(places.into_iter().map(|place| (place, sign))),
            }
        }
        Ok(Linear::new(weights, most))
    }

    fn sum(&self, element: &Element) -> Result<Sum, Diagnostic> {
        match element.name.as_str() {
            "integer-constant" => match element.text.parse::<u64>() {
                // So far from the ends that two of them can be added.
                Ok(number) if number <= LARGEST => Ok(Sum::Number(number as i64)),
                Ok(_) => Err(element
                    .error("this number is too large")
                    .hint(format!("the largest number of tokens is {LARGEST}"))),
                Err(_) => Err(element.error(format!("`{}` is not a number of tokens", element.text))),
            },
            "tokens-count" => {
                let mut places = Vec::new();
                for child in element.children.iter().filter(|child| child.name == "place") {
                    let Some(place) = self.places.get(child.text.as_str()) else {
                        let error = child.error(format!("there is no place `{}`", child.text));
                        self.hints.set(self.hints.get() + 1);
                        let few = self.hints.get() < MOST_HINTS;
                        let near = few.then(|| nearest(&child.text, self.places.keys().copied())).flatten();
                        return Err(match near {
                            Some(near) => error.hint(format!("did you mean `{near}`?")),
                            None => error,
                        });
                    };
                    places.push(*place);
                }
                places.sort_unstable();
                places.dedup();
                Ok(Sum::Tokens(places))
            }
            other => Err(element.error(format!("`{other}` is not supported in a comparison"))),
        }
    }
}

enum Sum {
    Number(i64),
    Tokens(Vec<Place>),
}

/// The targets as one EF property, with what the places are called (see [`pnml::ids`](crate::pnml::ids)).
pub fn print(places: &[String], id: &str, targets: &[Marking]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<property-set xmlns=\"http://mcc.lip6.fr/\">\n <property>\n",
    );
    let _ = write!(text, "  <id>{}</id>\n  <formula><exists-path><finally><disjunction>\n", escape(id));
    for target in targets {
        text.push_str("   <conjunction>\n");
        for (place, least) in target.iter() {
            let name = places.get(place as usize).map_or("", String::as_str);
            let _ = writeln!(
                text,
                "    <integer-le><integer-constant>{least}</integer-constant>\
                 <tokens-count><place>{}</place></tokens-count></integer-le>",
                escape(name)
            );
        }
        text.push_str("   </conjunction>\n");
    }
    text.push_str("  </disjunction></finally></exists-path></formula>\n </property>\n</property-set>\n");
    text
}
