//! post*: all configurations that can be reached from those of an automaton.
//!
//! The saturation of Schwoon 2002 (Algorithm 2 of his thesis; reference 25 of paper 002) with the weights of Reps, Schwoon, Jha and
//! Melski 2005. For the head of each call there is a new state, which stands for "whatever lies below the call": so what a
//! procedure does is computed once for all its callers. The transitions that enter such a state say what the procedure has
//! done since its entry, those that leave it what its callers had done before; where both are known and the procedure
//! returns, they are composed. Only the new part of a weight is passed on.
//!
//! The automaton that comes out accepts exactly post* of the one that came in, which must have no transition into a control
//! state and none that reads nothing; the weight of ⟨p, w⟩ is the join over all paths to it, composed from the bottom of the
//! stack to its top. Cost for plain systems: O(|P| |Δ| (|Q| + |P| |Proc|) + |P| |→|), as appendix A.2 of the paper has it.

use crate::automaton::{Automaton, Edge, NOTHING, Origin};
use crate::semiring::{Semiring, Unfinished, go_on};
use crate::system::{Pds, State, Symbol, Word};
use foldhash::fast::FixedState;
use preempt_core::Budget;
use std::collections::{BTreeMap, HashMap};

/// The result of post*.
#[derive(Debug, Clone)]
pub struct PostStar<W> {
    /// Accepts what can be reached.
    pub automaton: Automaton<W>,
    /// The states that stand for what lies below a call, by the state and symbol that it enters.
    pub entries: HashMap<(State, Symbol), State, FixedState>,
}

/// How often the budget is asked, in transitions.
const LOOK_UP_EVERY: usize = 64;

/// All configurations that can be reached from those that the automaton accepts.
pub fn post_star<S: Semiring>(
    pds: &Pds<S::Label>,
    semiring: &S,
    given: Automaton<S::Weight>,
    budget: &Budget,
) -> Result<PostStar<S::Weight>, Unfinished> {
    let heads = pds.by_head();
    let waiting = given.transitions.iter().enumerate();
    let waiting = waiting.map(|(number, transition)| (number, transition.weight.clone())).collect();
    let mut saturation = Saturation {
        semiring,
        result: PostStar { automaton: given, entries: HashMap::default() },
        returned: HashMap::default(),
        waiting,
    };
    let mut steps = 0usize;
    while let Some((edge, news)) = saturation.waiting.pop_first() {
        steps += 1;
        if steps.is_multiple_of(LOOK_UP_EVERY) {
            budget.counters().bytes.set((saturation.result.automaton.transitions.len() * 96) as u64);
            go_on(budget)?;
        }
        let transition = &saturation.result.automaton.transitions[edge];
        let (from, symbol, to) = (transition.from, transition.symbol, transition.to);
        if symbol == NOTHING {
            saturation.returns(edge, from, to, &news)?;
            continue;
        }
        for &number in heads.get(&(from, symbol)).map_or(&[][..], Vec::as_slice) {
            let rule = &pds.rules[number];
            let weight = semiring.after(&news, &rule.label)?;
            match rule.word {
                Word::Pop => {
                    saturation.learn((rule.to, NOTHING, to), weight, Origin::After(number, edge))?;
                }
                Word::Step(next) => {
                    saturation.learn((rule.to, next, to), weight, Origin::After(number, edge))?;
                }
                Word::Push(top, below) => {
                    if semiring.is_zero(&weight) {
                        continue;
                    }
                    let entry = saturation.entry(rule.to, top)?;
                    let key = (entry, below, to);
                    saturation.learn(key, weight, Origin::Below(number, edge))?;
                }
            }
        }
    }
    Ok(saturation.result)
}

struct Saturation<'s, S: Semiring> {
    semiring: &'s S,
    result: PostStar<S::Weight>,
    /// The transitions that read nothing, by where they lead to.
    returned: HashMap<State, Vec<Edge>, FixedState>,
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
        let known = self.result.automaton.transitions.len();
        let Some((edge, news)) = self.result.automaton.learn(self.semiring, key, weight, origin)? else {
            return Ok(());
        };
        if edge == known && key.1 == NOTHING {
            self.returned.entry(key.2).or_default().push(edge);
        }
        // Below a call nothing can be applied: it matters only to whoever returns, or has returned.
        if key.0 >= self.result.automaton.controls {
            for back in self.returned.get(&key.0).cloned().unwrap_or_default() {
                let (to, weight) = {
                    let transition = &self.result.automaton.transitions[back];
                    (transition.from, self.semiring.extend(&news, &transition.weight)?)
                };
                self.learn((to, key.1, key.2), weight, Origin::Returned(back, edge))?;
            }
            return Ok(());
        }
        let more = match self.waiting.remove(&edge) {
            Some(waiting) => self.semiring.combine(&waiting, &news)?,
            None => news,
        };
        self.waiting.insert(edge, more);
        Ok(())
    }

    /// A return to whatever lies below, as far as it is known by now.
    fn returns(&mut self, edge: Edge, from: State, below: State, news: &S::Weight) -> Result<(), Unfinished> {
        for next in self.result.automaton.leaving(below).to_vec() {
            let transition = &self.result.automaton.transitions[next];
            let weight = self.semiring.extend(&transition.weight, news)?;
            let key = (from, transition.symbol, transition.to);
            self.learn(key, weight, Origin::Returned(edge, next))?;
        }
        Ok(())
    }

    /// The state that stands for what lies below a call which enters here.
    fn entry(&mut self, state: State, symbol: Symbol) -> Result<State, Unfinished> {
        if let Some(entry) = self.result.entries.get(&(state, symbol)) {
            return Ok(*entry);
        }
        let entry = self.result.automaton.add_state();
        self.result.entries.insert((state, symbol), entry);
        self.learn((state, symbol, entry), self.semiring.one(), Origin::Entry)?;
        Ok(entry)
    }
}
