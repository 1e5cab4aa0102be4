//! Binary decision diagrams for the checker alone (Bryant 1986): reduced and ordered, with if-then-else and substitution, and
//! nothing that could be done without. It shares no code with the package that the engines use.

use foldhash::{HashMap, HashMapExt};
use preempt_core::{Budget, StopReason};

/// A diagram by the number of its root: 0 is false and 1 is true.
pub(crate) type Diagram = u32;

pub(crate) const FALSE: Diagram = 0;
pub(crate) const TRUE: Diagram = 1;

pub(crate) struct Diagrams<'b> {
    /// The level, and the children for 0 and for 1.
    nodes: Vec<(u32, Diagram, Diagram)>,
    unique: HashMap<(u32, Diagram, Diagram), Diagram>,
    known: HashMap<(Diagram, Diagram, Diagram), Diagram>,
    budget: &'b Budget,
    steps: u32,
}

/// The level of the constants: below all others.
const BOTTOM: u32 = u32::MAX;
/// Nodes at most.
const MOST_NODES: usize = 1 << 27;

impl<'b> Diagrams<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Diagrams<'b> {
        let nodes = vec![(BOTTOM, FALSE, FALSE), (BOTTOM, TRUE, TRUE)];
        Diagrams { nodes, unique: HashMap::new(), known: HashMap::new(), budget, steps: 0 }
    }

    /// The diagram with these children.
    pub(crate) fn node(&mut self, level: u32, low: Diagram, high: Diagram) -> Result<Diagram, StopReason> {
        if low == high {
            return Ok(low);
        }
        if let Some(known) = self.unique.get(&(level, low, high)) {
            return Ok(*known);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(StopReason::Memory);
        }
        self.nodes.push((level, low, high));
        self.budget.uses(60);
        let number = self.nodes.len() as Diagram - 1;
        self.unique.insert((level, low, high), number);
        Ok(number)
    }

    /// To be called where much may be done before anything is made.
    pub(crate) fn go_on(&self) -> Result<(), StopReason> {
        self.budget.exhausted().map_or(Ok(()), Err)
    }

    /// The bit at a level.
    pub(crate) fn bit(&mut self, level: u32) -> Result<Diagram, StopReason> {
        self.node(level, FALSE, TRUE)
    }

    pub(crate) fn level(&self, diagram: Diagram) -> u32 {
        self.nodes[diagram as usize].0
    }

    fn children(&self, diagram: Diagram, level: u32) -> (Diagram, Diagram) {
        match self.nodes[diagram as usize] {
            (at, low, high) if at == level => (low, high),
            _ => (diagram, diagram),
        }
    }

    /// `then` where the condition holds, and `otherwise` elsewhere. As deep as the diagram has levels.
    pub(crate) fn choice(
        &mut self,
        condition: Diagram,
        then: Diagram,
        otherwise: Diagram,
    ) -> Result<Diagram, StopReason> {
        match (condition, then, otherwise) {
            (TRUE, _, _) => return Ok(then),
            (FALSE, _, _) => return Ok(otherwise),
            (_, TRUE, FALSE) => return Ok(condition),
            _ if then == otherwise => return Ok(then),
            _ => {}
        }
        let key = (condition, then, otherwise);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(1024)
            && let Some(reason) = self.budget.exhausted()
        {
            return Err(reason);
        }
        let level = self.level(condition).min(self.level(then)).min(self.level(otherwise));
        let (c0, c1) = self.children(condition, level);
        let (t0, t1) = self.children(then, level);
        let (o0, o1) = self.children(otherwise, level);
        let low = self.choice(c0, t0, o0)?;
        let high = self.choice(c1, t1, o1)?;
        let result = self.node(level, low, high)?;
        self.known.insert(key, result);
        Ok(result)
    }

    pub(crate) fn and(&mut self, a: Diagram, b: Diagram) -> Result<Diagram, StopReason> {
        self.choice(a, b, FALSE)
    }

    pub(crate) fn or(&mut self, a: Diagram, b: Diagram) -> Result<Diagram, StopReason> {
        self.choice(a, TRUE, b)
    }

    /// Does the first imply the second?
    pub(crate) fn implies(&mut self, a: Diagram, b: Diagram) -> Result<bool, StopReason> {
        Ok(self.choice(a, b, TRUE)? == TRUE)
    }

    /// Functions in the place of bits, all at once; the other bits stay.
    pub(crate) fn substituted(
        &mut self,
        diagram: Diagram,
        functions: &HashMap<u32, Diagram>,
    ) -> Result<Diagram, StopReason> {
        let mut done = HashMap::new();
        self.substitute(diagram, functions, &mut done)
    }

    fn substitute(
        &mut self,
        diagram: Diagram,
        functions: &HashMap<u32, Diagram>,
        done: &mut HashMap<Diagram, Diagram>,
    ) -> Result<Diagram, StopReason> {
        if diagram <= TRUE {
            return Ok(diagram);
        }
        if let Some(known) = done.get(&diagram) {
            return Ok(*known);
        }
        let (level, low, high) = self.nodes[diagram as usize];
        let low = self.substitute(low, functions, done)?;
        let high = self.substitute(high, functions, done)?;
        let bit = match functions.get(&level) {
            Some(function) => *function,
            None => self.bit(level)?,
        };
        let result = self.choice(bit, high, low)?;
        done.insert(diagram, result);
        Ok(result)
    }
}
