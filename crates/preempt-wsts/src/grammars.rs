//! Context-free grammars: can a word be derived that has a bad word as a subword? By basis (Fig. 1 of Bingham and Hu 2005, paper
//! 004) and by weight (Fig. 3) on sets of words, one by one. What is found is a derivation, replayed by the rules, or an inductive
//! basis, checked by [`verify`], which shares no code with the engines.

use crate::basis::{BasisOutcome, by_basis};
use crate::weight::explicit::Explicit;
use crate::weight::{Layer, WeightOutcome, by_weight};
use foldhash::HashSet;
use preempt_core::{Budget, StopReason};
use preempt_net::WellStructured;
use preempt_net::grammar::{Grammar, Letter};

type Word = Vec<Letter>;

/// What is known about a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrammarVerdict {
    /// The words of a derivation, from the start to one above a bad word. It was replayed.
    Derived(Vec<Word>),
    /// The smallest words of a set that nothing enters from outside. It was checked.
    Safe(Vec<Word>),
    /// Nobody knows.
    Unknown(StopReason),
}

/// Which algorithm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarEngine {
    /// Backward by basis.
    Basis,
    /// Backward by weight, word by word.
    Weight,
}

/// Words of one weight are listed up to so many.
const MOST_WORDS: usize = 3_000;

/// Can a bad word be derived?
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::grammar::read_within;
/// use preempt_wsts::grammars::{GrammarEngine, GrammarVerdict, check};
///
/// let text = "start S\nS -> a S b | a b\nbad b a";
/// let (grammar, _) = read_within(SourceMap::new().add("x.grammar", text), text, &Budget::unlimited());
/// let found = check(&grammar, GrammarEngine::Basis, &Budget::unlimited());
/// assert!(matches!(found, Ok(GrammarVerdict::Safe(basis)) if basis.len() == 4));
/// ```
pub fn check(grammar: &Grammar, engine: GrammarEngine, budget: &Budget) -> Result<GrammarVerdict, String> {
    let initial = vec![grammar.start];
    let below_initial = |word: &Word| word.is_empty() || *word == initial;
    let found = match engine {
        GrammarEngine::Basis => match by_basis(grammar, &grammar.bad, &below_initial, budget) {
            BasisOutcome::Stopped(reason) => GrammarVerdict::Unknown(reason),
            BasisOutcome::Inductive(basis) => GrammarVerdict::Safe(basis),
            BasisOutcome::Reached { steps, .. } => {
                let steps: Vec<(usize, Word)> = steps;
                derivation(grammar, &steps)
            }
        },
        GrammarEngine::Weight => weight(grammar, &below_initial, budget),
    };
    match &found {
        GrammarVerdict::Derived(words) => {
            is_derivation(grammar, words).then_some(found).ok_or("a derivation that is none".into())
        }
        GrammarVerdict::Safe(basis) => verify(grammar, basis).map(|()| found.clone()),
        GrammarVerdict::Unknown(_) => Ok(found),
    }
}

/// From the start: each rule is applied where it leads above the next word.
fn derivation(grammar: &Grammar, steps: &[(usize, Word)]) -> GrammarVerdict {
    let mut words = vec![vec![grammar.start]];
    for (rule, next) in steps {
        let last = words.last().cloned().unwrap_or_default();
        let after = grammar.replaced(&last, *rule).into_iter().find(|word| grammar.below(next, word));
        match after {
            Some(after) => words.push(after),
            None => return GrammarVerdict::Unknown(StopReason::Partial),
        }
    }
    GrammarVerdict::Derived(words)
}

fn weight(grammar: &Grammar, below_initial: &dyn Fn(&Word) -> bool, budget: &Budget) -> GrammarVerdict {
    let system = Explicit { system: grammar, targets: grammar.bad.clone(), below_initial };
    // All words of a weight are listed: more letters or weights than this are beyond it.
    let most = |weight: u64| {
        (grammar.letters.len() as u64).checked_pow(weight as u32).is_none_or(|n| n > MOST_WORDS as u64)
    };
    let base = grammar.bad.iter().map(Vec::len).max().unwrap_or(0) as u64;
    if most(base + grammar.deflation().unwrap_or(0)) {
        return GrammarVerdict::Unknown(StopReason::Memory);
    }
    let stopped = std::cell::Cell::new(None);
    let limited = Limited { system, stopped: &stopped, budget, most: &most };
    match by_weight(&limited, true, &mut |_, _| budget.exhausted().map_or(Ok(()), Err)) {
        Err(reason) => GrammarVerdict::Unknown(reason),
        Ok(WeightOutcome::Converged { set, .. }) => {
            let smallest = set
                .iter()
                .filter(|word| !set.iter().any(|other| other != *word && grammar.below(other, word)));
            GrammarVerdict::Safe(smallest.cloned().collect())
        }
        Ok(WeightOutcome::Reached { part, layers, .. }) => match part.into_iter().next() {
            Some(start) => walk(grammar, &layers, start),
            None => GrammarVerdict::Unknown(StopReason::Partial),
        },
    }
}

/// [`Explicit`] with an end to its patience.
struct Limited<'s> {
    system: Explicit<'s, Grammar>,
    stopped: &'s std::cell::Cell<Option<StopReason>>,
    budget: &'s Budget,
    most: &'s dyn Fn(u64) -> bool,
}

impl Limited<'_> {
    fn go_on(&self, weight: u64) -> Result<(), StopReason> {
        let reason = if (self.most)(weight) { Some(StopReason::Memory) } else { self.budget.exhausted() };
        self.stopped.set(reason);
        reason.map_or(Ok(()), Err)
    }
}

fn whole<T>(never: Result<T, std::convert::Infallible>) -> T {
    match never {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

impl crate::weight::Sliceable for Limited<'_> {
    type Set = HashSet<Word>;
    type Error = StopReason;

    fn deflation(&self) -> u64 {
        self.system.deflation()
    }
    fn base_weight(&self) -> u64 {
        self.system.base_weight()
    }
    fn targets(&self, weight: u64) -> Result<Self::Set, StopReason> {
        self.go_on(weight)?;
        Ok(whole(self.system.targets(weight)))
    }
    fn lift(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, StopReason> {
        self.go_on(weight)?;
        Ok(whole(self.system.lift(set, weight)))
    }
    /// Whatever leads *above* the set, also with a word that is heavier: a derivation makes words longer, and letters that
    /// nobody asks for must not count. Sound, since the set stands for all that is above it; without it the weight would have to
    /// reach the length of the derived word.
    fn before(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, StopReason> {
        self.go_on(weight)?;
        let mut smallest: HashSet<Word> = HashSet::default();
        for (number, word) in set.iter().enumerate() {
            if number.is_multiple_of(64) {
                self.go_on(weight)?;
            }
            for rule in self.system.system.rules() {
                smallest.extend(self.system.system.predecessor_basis(word, &rule));
            }
        }
        Ok(self.system.above(smallest, weight))
    }
    fn initial(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, StopReason> {
        Ok(whole(self.system.initial(set, weight)))
    }
    fn union(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        Ok(whole(self.system.union(a, b)))
    }
    fn minus(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        Ok(whole(self.system.minus(a, b)))
    }
    fn is_empty(&self, set: &Self::Set) -> bool {
        self.system.is_empty(set)
    }
}

/// Through earlier and earlier layers: a rule that leads above a word of one where the layer was made by rules, and a letter less
/// where it was lifted. Letters that are left out are carried along in the derivation itself.
fn walk(grammar: &Grammar, layers: &[Layer<HashSet<Word>>], start: Word) -> GrammarVerdict {
    let first_with =
        |word: &Word, before: usize| layers.iter().take(before).position(|layer| layer.set.contains(word));
    let below = |word: &Word, before: usize| {
        let earlier = layers.iter().take(before).enumerate();
        earlier
            .flat_map(|(at, layer)| layer.set.iter().map(move |it| (at, it)))
            .find(|(_, it)| grammar.below(it, word))
    };
    let mut steps: Vec<(usize, Word)> = Vec::new();
    let (mut word, mut before) = (start, layers.len());
    'next: while !grammar.bad.iter().any(|bad| grammar.below(bad, &word)) {
        let Some(at) = first_with(&word, before) else { break };
        if layers[at].lifted {
            for place in 0..word.len() {
                let fewer = [&word[..place], &word[place + 1..]].concat();
                if first_with(&fewer, at + 1).is_some() {
                    (word, before) = (fewer, at + 1);
                    continue 'next;
                }
            }
            break;
        }
        for rule in grammar.rules() {
            for after in grammar.replaced(&word, rule) {
                if let Some((earlier, next)) = below(&after, at) {
                    steps.push((rule, next.clone()));
                    (word, before) = (next.clone(), earlier + 1);
                    continue 'next;
                }
            }
        }
        break;
    }
    derivation(grammar, &steps)
}

/// Does each word come from the one before by a rule, from the start to a bad one?
pub fn is_derivation(grammar: &Grammar, words: &[Word]) -> bool {
    let step = |pair: &[Word]| {
        (0..grammar.rules.len()).any(|rule| grammar.replaced(&pair[0], rule).contains(&pair[1]))
    };
    let bad = |word: &Word| grammar.bad.iter().any(|bad| grammar.below(bad, word));
    words.first().is_some_and(|first| *first == [grammar.start])
        && words.windows(2).all(step)
        && words.last().is_some_and(bad)
}

/// Is the set above these words never entered, with all bad words in it and the start outside? The error says what is missing.
///
/// By the definition and without the engines: a derivation step enters the set above w at a word that the rule has made of a
/// letter; the part of w that the rule wrote is a factor of w, and a subword of what the rule writes.
pub fn verify(grammar: &Grammar, basis: &[Word]) -> Result<(), String> {
    let inside = |word: &[Letter]| {
        basis.iter().any(|small| {
            let mut at = 0;
            small.iter().all(|letter| {
                while at < word.len() && word[at] != *letter {
                    at += 1;
                }
                at += 1;
                at <= word.len()
            })
        })
    };
    if let Some(bad) = grammar.bad.iter().find(|bad| !inside(bad)) {
        return Err(format!("the bad word {} is not in the set", grammar.show(bad)));
    }
    if inside(&[grammar.start]) {
        return Err("the start is in the set".into());
    }
    for word in basis {
        for (from, to) in &grammar.rules {
            for begin in 0..=word.len() {
                // How far into what the rule writes the factor reaches.
                let mut reaches = 0;
                for end in begin..=word.len() {
                    if end > begin {
                        match to[reaches..].iter().position(|letter| *letter == word[end - 1]) {
                            Some(at) => reaches += at + 1,
                            None => break,
                        }
                    }
                    let before = [&word[..begin], &[*from], &word[end..]].concat();
                    if !inside(&before) {
                        return Err(format!("{} enters the set", grammar.show(&before)));
                    }
                }
            }
        }
    }
    Ok(())
}
