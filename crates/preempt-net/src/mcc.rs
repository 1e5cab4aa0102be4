//! The reachability properties of the Model Checking Contest, as far as they ask whether something can be
//! covered: EF of an upward-closed formula, and AG of the negation of one.

use crate::MOST_HINTS;
use crate::marking::{Marking, Place};
use crate::net::Net;
use crate::predecessor::minimal_while;
use crate::xml::{self, Element};
use foldhash::HashMap;
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, SourceId};
use quick_xml::escape::escape;
use std::cell::Cell;
use std::fmt::Write;

/// A formula whose upward-closed set needs more elements than this is refused.
const LARGEST_BASIS: usize = 20_000;

/// A property that asks whether something can be covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverProperty {
    /// Its name in the file.
    pub id: String,
    /// Can it be covered? The formula is then true for EF, false for AG.
    pub targets: Vec<Marking>,
    /// What it means for the formula if a target can be covered.
    pub quantifier: Quantifier,
}

/// How the formula speaks about runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists-path finally`: true if a target is covered.
    Reachable,
    /// `all-paths globally`: true if none is.
    Invariant,
}

/// Reads a set of properties, or only the one that is wanted. Those that do not ask about an upward-closed set
/// are left out, each with an error.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_net::{Marking, Net, mcc};
///
/// let net = Net { places: vec!["a".into(), "b".into()], ..Net::default() };
/// let text = mcc::print(&net.places, "two", &[Marking::from_pairs([(1, 2)])]);
/// let (properties, mistakes) = mcc::read(&net, SourceMap::new().add("p.xml", &text), &text, None);
/// assert!(mistakes.is_empty());
/// assert_eq!((&*properties[0].id, &properties[0].targets), ("two", &vec![Marking::from_pairs([(1, 2)])]));
/// ```
pub fn read(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
) -> (Vec<CoverProperty>, Vec<Diagnostic>) {
    read_within(net, source, text, wanted, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, an error says so.
pub fn read_within(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
    budget: &Budget,
) -> (Vec<CoverProperty>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut properties = Vec::new();
    let Some(root) = xml::parse(source, text, budget, &mut diagnostics) else {
        return (properties, diagnostics);
    };
    if root.name != "property-set" {
        diagnostics.push(root.error(format!("expected a `property-set` element, found `{}`", root.name)));
        return (properties, diagnostics);
    }
    let transitions = net.transitions.iter().enumerate().map(|(at, t)| (t.name.as_str(), at)).collect();
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
    for property in all {
        let id = id_of(property);
        if wanted.is_some_and(|wanted| wanted != id) {
            continue;
        }
        if budget.exhausted().is_some() {
            diagnostics.push(crate::stopped());
            break;
        }
        let formula = property.child("formula").and_then(|formula| formula.children.first());
        let read = match formula {
            Some(formula) => reader.property(formula),
            None => Err(property.error("a property needs a formula")),
        };
        match read {
            Ok((quantifier, targets)) => properties.push(CoverProperty { id, targets, quantifier }),
            Err(error) => diagnostics.push(error),
        }
    }
    (properties, diagnostics)
}

struct FormulaReader<'n> {
    net: &'n Net,
    places: HashMap<&'n str, Place>,
    transitions: HashMap<&'n str, usize>,
    budget: &'n Budget,
    hints: Cell<usize>,
}

type Basis = Result<Vec<Marking>, Diagnostic>;

impl FormulaReader<'_> {
    fn property(&self, formula: &Element) -> Result<(Quantifier, Vec<Marking>), Diagnostic> {
        let inner = formula.children.first();
        match (formula.name.as_str(), inner.map(|inner| (inner.name.as_str(), inner.children.first()))) {
            ("exists-path", Some(("finally", Some(body)))) => {
                Ok((Quantifier::Reachable, self.basis(body, true)?))
            }
            ("all-paths", Some(("globally", Some(body)))) => {
                Ok((Quantifier::Invariant, self.basis(body, false)?))
            }
            ("negation", Some(("exists-path" | "all-paths", _))) => {
                let (quantifier, targets) = match inner {
                    Some(inner) => self.property(inner)?,
                    None => return Err(formula.error("a negation needs a formula")),
                };
                let other = match quantifier {
                    Quantifier::Reachable => Quantifier::Invariant,
                    Quantifier::Invariant => Quantifier::Reachable,
                };
                Ok((other, targets))
            }
            _ => Err(formula
                .error("this formula is not about reachability")
                .hint("`exists-path finally` and `all-paths globally` at the top are supported")),
        }
    }

    /// A basis of the formula (`positive`) or of its negation, which must be upward closed.
    fn basis(&self, formula: &Element, positive: bool) -> Basis {
        let parts = || formula.children.iter().map(|child| self.basis(child, positive));
        let basis = match (formula.name.as_str(), positive) {
            ("true", true) | ("false", false) => vec![Marking::new()],
            ("true", false) | ("false", true) => Vec::new(),
            ("negation", _) => match formula.children.as_slice() {
                [inner] => self.basis(inner, !positive)?,
                _ => return Err(formula.error("a negation has one part")),
            },
            ("conjunction", true) | ("disjunction", false) => {
                parts().try_fold(vec![Marking::new()], |all, part| self.both(formula, all, &part?))?
            }
            ("conjunction", false) | ("disjunction", true) => {
                let mut union = Vec::new();
                for part in parts() {
                    union.extend(part?);
                }
                union
            }
            ("is-fireable", true) => {
                let named = formula.children.iter().filter(|child| child.name == "transition");
                named.map(|child| self.fireable(child)).collect::<Basis>()?
            }
            ("integer-le", _) => self.at_most(formula, positive)?,
            ("is-fireable", false) => return Err(not_upward_closed(formula)),
            (other, _) => return Err(formula.error(format!("`{other}` is not supported in a formula"))),
        };
        if basis.len() > LARGEST_BASIS {
            return Err(formula.error("this formula has too many cases"));
        }
        self.smallest(basis)
    }

    /// Each is compared with each, which is done for long formulas again and again.
    fn smallest(&self, basis: Vec<Marking>) -> Basis {
        minimal_while(basis, &|_| self.budget.exhausted().is_none()).ok_or_else(crate::stopped)
    }

    fn both(&self, formula: &Element, left: Vec<Marking>, right: &[Marking]) -> Basis {
        if left.len().saturating_mul(right.len()) > LARGEST_BASIS {
            return Err(formula.error("this formula has too many cases"));
        }
        self.smallest(left.iter().flat_map(|a| right.iter().map(|b| a.join(b))).collect())
    }

    fn fireable(&self, element: &Element) -> Result<Marking, Diagnostic> {
        match self.transitions.get(element.text.as_str()) {
            // More tokens may disable it.
            Some(number) if !self.net.transitions[*number].at_most.is_empty() => {
                Err(not_upward_closed(element))
            }
            Some(number) => Ok(self.net.transitions[*number].consume.clone()),
            None => Err(element.error(format!("there is no transition `{}`", element.text))),
        }
    }

    /// `A <= B`, or its negation `A >= B + 1`: one side tokens, and the other a number.
    fn at_most(&self, formula: &Element, positive: bool) -> Basis {
        let [left, right] = formula.children.as_slice() else {
            return Err(formula.error("a comparison has two sides"));
        };
        match (self.sum(left)?, self.sum(right)?, positive) {
            (Sum::Number(least), Sum::Tokens(places), true) => self.at_least(formula, &places, least),
            (Sum::Tokens(places), Sum::Number(most), false) => {
                self.at_least(formula, &places, most.saturating_add(1))
            }
            (Sum::Number(a), Sum::Number(b), _) => {
                Ok(if (a <= b) == positive { vec![Marking::new()] } else { Vec::new() })
            }
            (Sum::Tokens(_), Sum::Tokens(_), _) => Err(formula
                .error("comparing tokens with tokens is not supported")
                .hint("one side must be a number")),
            _ => Err(not_upward_closed(formula)),
        }
    }

    /// Every smallest marking with `least` tokens on the places together.
    fn at_least(&self, formula: &Element, places: &[Place], least: u64) -> Basis {
        let mut cases: Vec<(Marking, u64)> = vec![(Marking::new(), least)];
        for (at, place) in places.iter().enumerate() {
            let last = at + 1 == places.len();
            let mut more = Vec::new();
            for (case, missing) in cases {
                for added in (if last { missing } else { 0 })..=missing {
                    let mut next = case.clone();
                    next.set(*place, added);
                    more.push((next, missing - added));
                    if more.len() > LARGEST_BASIS {
                        return Err(formula.error("this sum has too many cases"));
                    }
                }
            }
            cases = more;
        }
        Ok(cases.into_iter().filter(|(_, missing)| *missing == 0).map(|(case, _)| case).collect())
    }

    fn sum(&self, element: &Element) -> Result<Sum, Diagnostic> {
        match element.name.as_str() {
            "integer-constant" => match element.text.parse() {
                Ok(number) => Ok(Sum::Number(number)),
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
    Number(u64),
    Tokens(Vec<Place>),
}

fn not_upward_closed(formula: &Element) -> Diagnostic {
    formula
        .error("this does not ask whether something can be covered")
        .note("more tokens would make it false")
        .hint("supported are EF of `n <= tokens` and `is-fireable`, and AG of their negations")
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
