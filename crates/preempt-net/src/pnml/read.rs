//! Reading PNML: pages may nest, and nodes may stand for nodes of other pages.

use crate::MOST_HINTS;
use crate::marking::Place;
use crate::net::{Move, Transition};
use crate::problem::{Problem, Range};
use crate::scan::LARGEST;
use crate::xml::{self, Element};
use foldhash::{HashMap, HashMapExt};
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, SourceId};

/// Reads a net with its initial marking; the targets come from elsewhere (see [`mcc`](crate::mcc)). Places and
/// transitions are named by their ids. The problem is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_net::pnml;
///
/// let text = r#"<pnml><net id="n"><page id="p">
///     <place id="a"><initialMarking><text>2</text></initialMarking></place>
///     <transition id="t"/><arc id="arc" source="a" target="t"/>
/// </page></net></pnml>"#;
/// let (problem, mistakes) = pnml::read(SourceMap::new().add("net.pnml", text), text);
/// assert!(mistakes.iter().all(|mistake| !mistake.is_error()), "{mistakes:?}");
/// assert_eq!((problem.net.places, problem.initial[0].low), (vec!["a".to_string()], 2));
/// ```
pub fn read(source: SourceId, text: &str) -> (Problem, Vec<Diagnostic>) {
    read_within(source, text, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, an error says so.
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut problem = Problem::default();
    if let Some(root) = xml::parse(source, text, budget, &mut diagnostics) {
        let (nodes, arcs, weights) = (HashMap::new(), Vec::new(), Vec::new());
        let mut reader = PnmlReader { nodes, arcs, weights, problem, diagnostics, budget };
        reader.document(&root);
        (problem, diagnostics) = (reader.problem, reader.diagnostics);
    }
    (problem, diagnostics)
}

#[derive(Clone, Copy)]
enum Node<'x> {
    Place(Place),
    Transition(usize),
    /// Stands for the node with this id.
    Reference(&'x str),
}

#[derive(Clone, Copy, PartialEq)]
enum ArcKind {
    Normal,
    Read,
    Inhibitor,
    Reset,
}

/// Of arcs, in any order.
type Weights = Vec<(Place, u64)>;

struct PnmlReader<'x> {
    nodes: HashMap<&'x str, Node<'x>>,
    arcs: Vec<&'x Element>,
    /// For each transition what its arcs consume and produce; several for one place add up.
    weights: Vec<(Weights, Weights)>,
    problem: Problem,
    diagnostics: Vec<Diagnostic>,
    budget: &'x Budget,
}

impl<'x> PnmlReader<'x> {
    fn document(&mut self, root: &'x Element) {
        if root.name != "pnml" {
            self.diagnostics.push(root.error(format!("expected a `pnml` element, found `{}`", root.name)));
            return;
        }
        // Some programs put the net into a module, beside its ports.
        let modules = root.children.iter().filter(|child| child.name == "module");
        let inside = modules.flat_map(|module| &module.children);
        let mut nets = root.children.iter().chain(inside).filter(|child| child.name == "net");
        let Some(net) = nets.next() else {
            self.diagnostics.push(root.error("there is no net in this file"));
            return;
        };
        if let Some(second) = nets.next() {
            self.diagnostics.extend(second.warning("only the first net of the file is read"));
        }
        if let Some(kind) = net.attribute("type") {
            let known = ["ptnet", "PTNet", "P/T net", "pt-net"].iter().any(|end| kind.ends_with(end));
            // The core model is the P/T net without a name for its labels.
            if !known && !kind.ends_with("pnmlcoremodel") {
                self.diagnostics.push(
                    net.error(format!("nets of type `{kind}` are not supported"))
                        .hint("place/transition nets are; unfold a coloured net first"),
                );
                return;
            }
        }
        self.page(net);
        let mut counted = 0;
        for (number, arc) in std::mem::take(&mut self.arcs).into_iter().enumerate() {
            if number.is_multiple_of(64) && self.budget.exhausted().is_some() {
                self.diagnostics.push(crate::stopped());
                return;
            }
            if crate::too_many_mistakes(&mut self.diagnostics, &mut counted) {
                return;
            }
            self.arc(arc);
        }
        for (transition, (consumed, produced)) in self.problem.net.transitions.iter_mut().zip(&self.weights) {
            transition.consume = consumed.iter().copied().collect();
            transition.produce = produced.iter().copied().collect();
            transition.moves.sort_by_key(|moved| moved.from);
            transition.moves.dedup_by_key(|moved| moved.from);
        }
    }

    fn page(&mut self, page: &'x Element) {
        for child in &page.children {
            match child.name.as_str() {
                "page" => self.page(child),
                "place" => {
                    let number = self.problem.net.places.len() as Place;
                    if let Some(id) = self.node(child, Node::Place(number)) {
                        let tokens = self.count(child, "initialMarking").unwrap_or(0);
                        self.problem.net.places.push(id.to_string());
                        self.problem.initial.push(Range::exactly(tokens));
                    }
                }
                "transition" => {
                    let number = self.problem.net.transitions.len();
                    if let Some(id) = self.node(child, Node::Transition(number)) {
                        let transition = Transition { name: id.to_string(), ..Transition::default() };
                        self.problem.net.transitions.push(transition);
                        self.weights.push((Vec::new(), Vec::new()));
                        self.problem.spans.extend(child.span);
                    }
                }
                "referencePlace" | "referenceTransition" => match child.attribute("ref") {
                    Some(other) => {
                        self.node(child, Node::Reference(other));
                    }
                    None => self.diagnostics.push(child.error(format!("`{}` needs a `ref`", child.name))),
                },
                "arc" => self.arcs.push(child),
                _ => {}
            }
        }
    }

    fn node(&mut self, element: &'x Element, node: Node<'x>) -> Option<&'x str> {
        let Some(id) = element.attribute("id") else {
            self.diagnostics.push(element.error(format!("a `{}` needs an `id`", element.name)));
            return None;
        };
        if self.nodes.insert(id, node).is_some() {
            self.diagnostics.push(element.error(format!("the id `{id}` is there twice")));
        }
        Some(id)
    }

    /// The number in `<label><text>..</text></label>`. `<value>Default,1</value>` is how PIPE writes it.
    fn count(&mut self, element: &Element, label: &str) -> Option<u64> {
        let label = element.child(label)?;
        let text = label.child("text").or_else(|| label.child("value")).unwrap_or(label);
        let digits = text.text.rsplit(',').next().unwrap_or("").trim();
        match digits.parse() {
            Ok(number) if number <= LARGEST => Some(number),
            _ => {
                let error = text.error(format!("`{}` is not a number of tokens", text.text));
                self.diagnostics.push(if digits.starts_with('-') {
                    error.hint("a number of tokens is never negative")
                } else {
                    error.hint(format!("write a whole number of at most {LARGEST}"))
                });
                None
            }
        }
    }

    /// The node with the id, through references.
    fn resolve(&mut self, arc: &Element, end: &str) -> Option<Node<'x>> {
        let Some(id) = arc.attribute(end) else {
            self.diagnostics.push(arc.error(format!("an arc needs a `{end}`")));
            return None;
        };
        let mut current = id;
        let mut passed: Vec<&'x str> = Vec::new();
        for _ in 0..=self.nodes.len() {
            match self.nodes.get_key_value(current).map(|(id, node)| (*id, *node)) {
                Some((id, Node::Reference(other))) => {
                    passed.push(id);
                    current = other;
                }
                Some((_, node)) => {
                    // Who follows a long chain does so once.
                    self.nodes.extend(passed.into_iter().map(|id| (id, node)));
                    return Some(node);
                }
                None => {
                    let error = arc.error(format!("there is no node `{current}`"));
                    let few = self.diagnostics.len() < MOST_HINTS;
                    let near = few.then(|| nearest(current, self.nodes.keys().copied())).flatten();
                    self.diagnostics.push(match near {
                        Some(near) => error.hint(format!("did you mean `{near}`?")),
                        None => error,
                    });
                    return None;
                }
            }
        }
        self.diagnostics.push(arc.error(format!("the reference `{id}` stands for itself")));
        None
    }

    fn arc_kind(&mut self, arc: &Element) -> Option<ArcKind> {
        let child = arc.child("type").or_else(|| arc.child("arctype"));
        let name = child.and_then(|child| {
            child.attribute("value").or_else(|| child.child("text").map(|text| text.text.as_str()))
        });
        match name.or_else(|| arc.attribute("type")).unwrap_or("normal") {
            "normal" => Some(ArcKind::Normal),
            "read" | "test" => Some(ArcKind::Read),
            "inhibitor" => Some(ArcKind::Inhibitor),
            "reset" => Some(ArcKind::Reset),
            other => {
                self.diagnostics.push(
                    arc.error(format!("arcs of type `{other}` are not supported"))
                        .hint("known types are `normal`, `read`, `inhibitor` and `reset`"),
                );
                None
            }
        }
    }

    fn arc(&mut self, arc: &'x Element) {
        let ends = (self.resolve(arc, "source"), self.resolve(arc, "target"));
        let Some(kind) = self.arc_kind(arc) else { return };
        let weight = match arc.child("inscription") {
            Some(_) => self.count(arc, "inscription"),
            None => Some(1),
        };
        let Some(weight) = weight else { return };
        if weight == 0 {
            self.diagnostics.extend(arc.warning("an arc of weight 0 does nothing"));
            return;
        }
        let transitions = &mut self.problem.net.transitions;
        match ends {
            (Some(Node::Place(place)), Some(Node::Transition(number))) => {
                let transition = &mut transitions[number];
                let (consumed, produced) = &mut self.weights[number];
                match kind {
                    ArcKind::Normal => consumed.push((place, weight)),
                    ArcKind::Read => {
                        consumed.push((place, weight));
                        produced.push((place, weight));
                    }
                    ArcKind::Inhibitor => {
                        transition.at_most.push((place, weight - 1));
                        // No tokens at all: a relaxation may lose them.
                        if weight == 1 {
                            transition.moves.push(Move { from: place, to: Vec::new() });
                        }
                    }
                    ArcKind::Reset => transition.moves.push(Move { from: place, to: Vec::new() }),
                }
            }
            (Some(Node::Transition(number)), Some(Node::Place(place))) if kind == ArcKind::Normal => {
                self.weights[number].1.push((place, weight));
            }
            (Some(Node::Transition(_)), Some(Node::Place(_))) => {
                self.diagnostics.push(arc.error("an arc of this type leads from a place to a transition"));
            }
            (Some(_), Some(_)) => {
                self.diagnostics.push(arc.error("an arc joins a place and a transition"));
            }
            _ => {}
        }
    }
}
