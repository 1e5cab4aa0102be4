//! Formulas in negation normal form, stored once each.
//!
//! Every formula is stored next to its negation, at numbers that differ in the last bit, so that negation costs
//! nothing and a rewriting rule written for conjunction or until serves disjunction and release too.

use foldhash::HashMap;

/// The number of a stored formula.
pub(super) type Id = u32;

pub(super) const TRUE: Id = 0;
pub(super) const FALSE: Id = 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    True,
    False,
    Literal {
        atom: u32,
        positive: bool,
    },
    /// Sorted, without repetition, at least two.
    And(Box<[Id]>),
    Or(Box<[Id]>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// The formulas seen so far.
#[derive(Debug)]
pub(super) struct Store {
    nodes: Vec<Node>,
    ids: HashMap<Node, Id>,
    /// Does the formula hold of a word whenever it holds of one of its suffixes?
    eventual: Vec<bool>,
}

/// The negation: stored formulas come in pairs.
pub(super) fn negation(id: Id) -> Id {
    id ^ 1
}

impl Store {
    pub(super) fn new() -> Store {
        let mut store = Store { nodes: Vec::new(), ids: HashMap::default(), eventual: Vec::new() };
        store.intern(Node::True);
        store
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The number of a node, without any rewriting.
    pub(super) fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = self.nodes.len() as Id;
        let dual = dual(&node);
        for (id, node) in [(id, node), (id + 1, dual)] {
            let eventual = self.eventual_node(&node);
            self.ids.insert(node.clone(), id);
            self.nodes.push(node);
            self.eventual.push(eventual);
        }
        id
    }

    pub(super) fn literal(&mut self, atom: u32, positive: bool) -> Id {
        // The positive literal is interned first, so that it has the even number.
        let id = self.intern(Node::Literal { atom, positive: true });
        if positive { id } else { negation(id) }
    }

    /// The pure eventualities of Etessami and Holzmann, "Optimizing Büchi Automata" (CONCUR 2000): `<>f` says
    /// no more than `f`.
    pub(super) fn is_eventual(&self, id: Id) -> bool {
        self.eventual[id as usize]
    }

    /// Their purely universal formulas: `[]f` says no more than `f`.
    pub(super) fn is_universal(&self, id: Id) -> bool {
        self.is_eventual(negation(id))
    }

    /// Both: the formula holds of all suffixes of a word or of none.
    pub(super) fn is_suspendable(&self, id: Id) -> bool {
        self.is_eventual(id) && self.is_universal(id)
    }

    /// The operands of a conjunction, or the formula itself.
    pub(super) fn conjuncts(&self, id: Id) -> Vec<Id> {
        match self.node(id) {
            Node::True => Vec::new(),
            Node::And(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    fn eventual_node(&self, node: &Node) -> bool {
        match node {
            Node::True | Node::False => true,
            Node::Literal { .. } => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_eventual(part)),
            Node::Next(inner) => self.is_eventual(*inner),
            Node::Until(left, right) => *left == TRUE || self.is_eventual(*right),
            Node::Release(_, right) => self.is_eventual(*right),
        }
    }
}

fn dual(node: &Node) -> Node {
    let all = |parts: &[Id]| -> Box<[Id]> {
        let mut parts: Vec<Id> = parts.iter().map(|&part| negation(part)).collect();
        parts.sort_unstable();
        parts.into()
    };
    match node {
        Node::True => Node::False,
        Node::False => Node::True,
        Node::Literal { atom, positive } => Node::Literal { atom: *atom, positive: !positive },
        Node::And(parts) => Node::Or(all(parts)),
        Node::Or(parts) => Node::And(all(parts)),
        Node::Next(inner) => Node::Next(negation(*inner)),
        Node::Until(left, right) => Node::Release(negation(*left), negation(*right)),
        Node::Release(left, right) => Node::Until(negation(*left), negation(*right)),
    }
}
