//! The inside of a `d_step` as a graph of its own.

use super::build::Places;
use super::syntax::{Loop, Statement, size};
use super::terms::Terms;
use crate::command::{Block, BlockEdge, Command};

impl Terms<'_> {
    pub fn block(&self, body: &[Statement], number: usize, places: &Places<'_>) -> Command {
        let mut nodes = Nodes { terms: *self, places, nodes: Vec::new() };
        let entry = nodes.sequence(body, number, Exits { next: None, after_loop: None });
        Command::Deterministic(Box::new(in_order(&nodes.nodes, entry)))
    }
}

struct Nodes<'b> {
    terms: Terms<'b>,
    places: &'b Places<'b>,
    nodes: Vec<Vec<BlockEdge>>,
}

/// `None`: the block ends.
#[derive(Debug, Clone, Copy)]
struct Exits {
    next: Option<usize>,
    after_loop: Option<usize>,
}

impl Nodes<'_> {
    fn node(&mut self, edges: Vec<BlockEdge>) -> usize {
        self.nodes.push(edges);
        self.nodes.len() - 1
    }

    fn sequence(&mut self, statements: &[Statement], number: usize, exits: Exits) -> Option<usize> {
        let mut exits = exits;
        let mut number = number + size(statements);
        for (i, statement) in statements.iter().enumerate().rev() {
            number -= statement.size();
            exits.next = match statement {
                Statement::Break if i > 0 => exits.after_loop,
                _ => Some(self.statement(statement, number, exits)),
            };
        }
        exits.next
    }

    fn statement(&mut self, statement: &Statement, number: usize, exits: Exits) -> usize {
        match statement {
            Statement::If(options) => {
                let edges = self.alternatives(options, number, exits);
                self.node(edges)
            }
            Statement::Do(Loop { options, .. }) => {
                let head = self.node(Vec::new());
                let inside = Exits { next: Some(head), after_loop: exits.next };
                self.nodes[head] = self.alternatives(options, number, inside);
                head
            }
            simple => {
                let next = if *simple == Statement::Break { exits.after_loop } else { exits.next };
                let (span, text) = (self.places.span(number), self.places.text(number));
                let command = Some(self.terms.command(simple));
                self.node(vec![BlockEdge { command, next, span, text }])
            }
        }
    }

    fn alternatives(&mut self, options: &[Vec<Statement>], number: usize, exits: Exits) -> Vec<BlockEdge> {
        let mut number = number + 1;
        let mut edges = Vec::new();
        for option in options {
            if let Some(entry) = self.sequence(option, number, exits) {
                edges.extend(self.nodes[entry].iter().cloned());
            }
            number += size(option);
        }
        edges
    }
}

/// The nodes that can be reached, numbered as they are met: the entry is number 0.
fn in_order(nodes: &[Vec<BlockEdge>], entry: Option<usize>) -> Block {
    let mut met: Vec<usize> = entry.into_iter().collect();
    let mut block = Block::default();
    while block.nodes.len() < met.len() {
        let mut edges = nodes[met[block.nodes.len()]].clone();
        for edge in &mut edges {
            edge.next = edge.next.map(|next| {
                met.iter().position(|known| *known == next).unwrap_or_else(|| {
                    met.push(next);
                    met.len() - 1
                })
            });
        }
        block.nodes.push(edges);
    }
    block
}
