//! The runs that automata tell, one of them by hand.

use preempt_core::Budget;
use preempt_pushdown::witness::to_reached;
use preempt_pushdown::*;

/// main calls f, f calls itself or returns; after the call main goes on: calls and returns are matched.
#[test]
fn a_run_with_calls_and_returns_is_told_rule_by_rule() {
    let (main, after, f, done) = (0, 1, 2, 3);
    let rules = vec![
        Rule::new((0, main), 0, Word::Push(f, after)),
        Rule::new((0, f), 0, Word::Push(f, done)),
        Rule::new((0, f), 1, Word::Pop),
        Rule::new((1, done), 1, Word::Pop),
        Rule::new((1, after), 1, Word::Step(main)),
    ];
    let pds = Pds { states: 2, symbols: 4, rules };
    let first = Configuration { state: 0, stack: vec![main] };
    let given = Automaton::of(2, &first, (), ());
    let reached = post_star(&pds, &Boolean, given, &Budget::unlimited()).expect("it ends").automaton;
    let end = Configuration { state: 1, stack: vec![main] };
    let witness = to_reached(&reached, &end).expect("it is reached");
    let mut at = first;
    for rule in &witness.rules {
        at = pds.rules[*rule].apply(&at).expect("every rule can be applied");
    }
    assert_eq!(at, end);
    assert_eq!(to_reached(&reached, &Configuration { state: 0, stack: vec![after] }), None);
}
