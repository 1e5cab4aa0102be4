//! pre*: all configurations from which one of an automaton's can be reached.
//!
//! The saturation of Bouajjani, Esparza and Maler 1997 with the weights of Reps, Schwoon, Jha and Melski 2005: if a rule leads
//! from ⟨p, γ⟩ to ⟨p', u⟩, and the automaton goes from p' to q reading u, it may go from p to q reading γ. No state is added. Every
//! rule that returns makes a transition into a control state, which is what a procedure does as a whole.
//!
//! The automaton that comes out accepts exactly pre* of the one that came in, which must have no transition into a control
//! state; weights are composed from the top of the stack to its bottom. Cost for plain systems: O(|Q|² |Δ|).

use crate::automaton::{Automaton, Edge, Origin};
use crate::semiring::{Semiring, Unfinished, go_on};
use crate::system::{Pds, State, Symbol, Word};
use foldhash::fast::FixedState;
use preempt_core::Budget;
use std::collections::{BTreeMap, HashMap};

/// How often the budget is asked, in transitions.
const LOOK_UP_EVERY: usize = 64;

/// All configurations from which one that the automaton accepts can be reached.
pub fn pre_star<S: Semiring>(
    pds: &Pds<S::Label>,
    semiring: &S,
    given: Automaton<S::Weight>,
    budget: &Budget,
) -> Result<Automaton<S::Weight>, Unfinished> {
    // Rules by the first symbol of what they lead to, and calls by the second.
    let mut first: HashMap<(State, Symbol), Vec<usize>, FixedState> = HashMap::default();
    let mut second: HashMap<Symbol, Vec<usize>, FixedState> = HashMap::default();
    for (number, rule) in pds.rules.iter().enumerate() {
        if let Some(top) = rule.word.symbols().next() {
            first.entry((rule.to, top)).or_default().push(number);
        }
        if let Word::Push(_, below) = rule.word {
            second.entry(below).or_default().push(number);
        }
    }
    let waiting = given.transitions.iter().enumerate();
    let waiting = waiting.map(|(number, transition)| (number, transition.weight.clone())).collect();
    let mut saturation = Saturation { semiring, automaton: given, waiting };
    for (number, rule) in pds.rules.iter().enumerate() {
        if rule.word == Word::Pop {
            let (state, symbol) = rule.from;
            let weight = semiring.before(&rule.label, &semiring.one())?;
            saturation.learn((state, symbol, rule.to), weight, Origin::Popping(number))?;
        }
    }
    let mut steps = 0usize;
    while let Some((edge, news)) = saturation.waiting.pop_first() {
        steps += 1;
        if steps.is_multiple_of(LOOK_UP_EVERY) {
            budget.counters().bytes.set((saturation.automaton.transitions.len() * 96) as u64);
            go_on(budget)?;
        }
        let transition = &saturation.automaton.transitions[edge];
        let (from, symbol, to) = (transition.from, transition.symbol, transition.to);
        for &number in first.get(&(from, symbol)).map_or(&[][..], Vec::as_slice) {
            let rule = &pds.rules[number];
            let (state, head) = rule.from;
            let weight = semiring.before(&rule.label, &news)?;
            let Word::Push(_, below) = rule.word else {
                saturation.learn((state, head, to), weight, Origin::Stepping(number, edge))?;
                continue;
            };
            for next in saturation.automaton.leaving(to).to_vec() {
                let other = &saturation.automaton.transitions[next];
                if other.symbol == below {
                    let (end, weight) = (other.to, semiring.extend(&weight, &other.weight)?);
                    saturation.learn((state, head, end), weight, Origin::Calling(number, edge, next))?;
                }
            }
        }
        for &number in second.get(&symbol).map_or(&[][..], Vec::as_slice) {
            let rule = &pds.rules[number];
            let Word::Push(top, _) = rule.word else { continue };
            let Some(called) = saturation.automaton.find((rule.to, top, from)) else { continue };
            let weight = semiring.extend(&saturation.automaton.transitions[called].weight, &news)?;
            let weight = semiring.before(&rule.label, &weight)?;
            let (state, head) = rule.from;
            saturation.learn((state, head, to), weight, Origin::Calling(number, called, edge))?;
        }
    }
    Ok(saturation.automaton)
}

struct Saturation<'s, S: Semiring> {
    semiring: &'s S,
    automaton: Automaton<S::Weight>,
    /// What has not been followed yet.
    waiting: BTreeMap<Edge, S::Weight>,
}

impl<S: Semiring> Saturation<'_, S> {
    fn learn(
        &mut self,
        key: (State, Symbol, State),
        weight: S::Weight,
        origin: Origin,
    ) -> Result<(), Unfinished> {
        if let Some((edge, news)) = self.automaton.learn(self.semiring, key, weight, origin)? {
            let more = match self.waiting.remove(&edge) {
                Some(waiting) => self.semiring.combine(&waiting, &news)?,
                None => news,
            };
            self.waiting.insert(edge, more);
        }
        Ok(())
    }
}
