//! What a thread does to all others, `b$` and `broadcast`, against an interpreter of a few lines that knows threads and nothing
//! else.

use preempt_boolean::load;
use preempt_core::Rng;
use preempt_model::Interpreter;
use preempt_model::search::oracle;
use std::collections::HashSet;

fn violated(text: &str) -> bool {
    let loaded = load("others.bp", text, &Default::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    !oracle::cheapest_costs(&interpreter, false).violations.is_empty()
}

/// `refused` is in the first message.
fn refused(text: &str) -> String {
    let loaded = load("others.bp", text, &Default::default());
    assert!(loaded.model.is_none(), "{text}");
    loaded.diagnostics.first().map(|mistake| mistake.message.clone()).unwrap_or_default()
}

#[test]
fn a_predicate_of_all_threads_is_set_by_one() {
    // As SATABS writes it: what is assigned to a shared variable may falsify what every thread believes of it.
    let program = |update: &str| {
        format!(
            "decl s := F;
             void main() begin
               decl b := F;
               start_thread goto l; start_thread goto l; goto m;
               l: skip;
               m: s, {update};
               assert(b => s); b := s; assert(b => s);
               end_thread;
             end"
        )
    };
    assert!(violated(&program("b, b$ := *, *, b$ constrain T")), "the others keep what is wrong now");
    assert!(!violated(&program("b, b$ := *, F, F")));
    assert!(!violated(&program("b, b$ := *, *, * constrain ('b => 's) & ('b$ => 's)")));
    assert!(violated(&program("b, b$ := *, *, * constrain ('b => 's)")));
}

#[test]
fn who_waits_is_woken_by_a_broadcast_and_stays_awake() {
    let program = |first: &str, second: &str| {
        format!(
            "decl done := F, n := F;
             void main() begin start_thread waiter(); {first} broadcast; done := T; {second} end
             void waiter() begin wait; n := T; end"
        )
    };
    assert!(violated(&program("", "assert(!n);")));
    assert!(!violated(&program("assert(!n);", "")));
    // Who has not arrived is not woken.
    let late = "decl there := F, n := F;
        void main() begin start_thread waiter(); broadcast; assume(there); assert(!n); end
        void waiter() begin there := T; wait; n := T; end";
    assert!(violated(late), "it may have arrived before");
    let never = "decl go := F, n := F;
        void main() begin start_thread waiter(); broadcast; go := T; assert(!n); end
        void waiter() begin assume(go); wait; n := T; end";
    assert!(!violated(never));
}

#[test]
fn what_needs_the_number_of_threads_says_so() {
    let mistake =
        refused("void main() begin decl b; while * do start_thread goto l; l: skip; od; b, b$ := T, T; end");
    assert_eq!(mistake, "this start can be repeated");
    let mistake = refused(
        "void main() begin decl b; l: start_thread f(); b$ := T; goto l; end void f() begin skip; end",
    );
    assert_eq!(mistake, "this start can be repeated");
    let mistake = refused(
        "decl thread_local b; void main() begin f(); b$ := T; end void f() begin start_thread g(); end void g() begin skip; end",
    );
    assert_eq!(mistake, "this start stands in a procedure that is called");
    let mistake = refused("decl b; void main() begin b$ := T; end");
    assert_eq!(mistake, "`b$` would mean `b` of other threads, but `b` is shared by all");
    let mistake = refused("void main() begin f(); end void f() begin decl b; b$ := T; end");
    assert!(mistake.starts_with("`b$` would mean a local of a procedure that is called"), "{mistake}");
    let mistake =
        refused("void main() begin start_thread f(); wait; end void f() begin start_thread f(); end");
    assert_eq!(mistake, "there are more than 64 threads");
}

/// A random program for three threads: `x` is shared, every thread has a `b`.
#[derive(Clone, Debug)]
enum Statement {
    Assign { x: Option<Value>, b: Option<Value>, others: Option<Value>, constrain: Option<Value> },
    Assert(Value),
    Wait,
    Broadcast,
}

/// An expression as text, and as what it is for each value of the variables it may read: a table of truth.
#[derive(Clone, Debug)]
struct Value {
    text: String,
    /// Bit `x + 2 b + 4 b$ + 8 'b$`.
    table: u16,
    any: bool,
}

fn value(rng: &mut Rng, of_others: bool, primed: bool) -> Value {
    let atoms = [("x", 0xaaaa), ("b", 0xcccc), ("b$", 0xf0f0), ("'b$", 0xff00)];
    let atoms = &atoms[..if primed {
        4
    } else if of_others {
        3
    } else {
        2
    }];
    let atom = |rng: &mut Rng| {
        let (text, table): (&str, u16) = atoms[rng.below(atoms.len())];
        if rng.below(3) == 0 { (format!("!{text}"), !table) } else { (text.to_string(), table) }
    };
    let (left, a) = atom(rng);
    let (right, b) = atom(rng);
    let (text, table) = match rng.below(5) {
        0 => ("T".into(), 0xffff),
        1 => (left, a),
        2 => (format!("({left} | {right})"), a | b),
        3 => (format!("({left} & {right})"), a & b),
        _ => (format!("({left} ^ {right})"), a ^ b),
    };
    Value { text, table, any: false }
}

impl Value {
    fn any() -> Value {
        Value { text: "*".into(), table: 0, any: true }
    }

    fn at(&self, x: bool, b: bool, other: bool, next: bool) -> bool {
        self.table >> (u16::from(x) + 2 * u16::from(b) + 4 * u16::from(other) + 8 * u16::from(next)) & 1 == 1
    }

    /// The values that it can have.
    fn outcomes(&self, x: bool, b: bool, other: bool) -> Vec<bool> {
        if self.any { vec![false, true] } else { vec![self.at(x, b, other, false)] }
    }
}

fn statement(rng: &mut Rng) -> Statement {
    match rng.below(8) {
        0 => Statement::Wait,
        1 | 2 => Statement::Broadcast,
        3 => Statement::Assert(value(rng, false, false)),
        _ => {
            let some = |rng: &mut Rng, others: bool| {
                (rng.below(2) == 0)
                    .then(|| if rng.below(4) == 0 { Value::any() } else { value(rng, others, false) })
            };
            let (x, b, others) = (some(rng, false), some(rng, false), some(rng, true));
            let constrain = (others.is_some() && rng.below(2) == 0).then(|| value(rng, true, true));
            Statement::Assign { x, b, others, constrain }
        }
    }
}

fn text(statement: &Statement) -> String {
    match statement {
        Statement::Wait => "wait;".into(),
        Statement::Broadcast => "broadcast;".into(),
        Statement::Assert(value) => format!("assert({});", value.text),
        Statement::Assign { x, b, others, constrain } => {
            let parts = [("x", x), ("b", b), ("b$", others)];
            let parts: Vec<_> =
                parts.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?))).collect();
            if parts.is_empty() {
                return "skip;".into();
            }
            let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
            let values: Vec<&str> = parts.iter().map(|(_, value)| value.text.as_str()).collect();
            let constrain =
                constrain.as_ref().map_or(String::new(), |value| format!(" constrain {}", value.text));
            format!("{} := {}{constrain};", names.join(", "), values.join(", "))
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    x: bool,
    b: [bool; 3],
    /// Of the first, how many it has started comes first.
    at: [usize; 3],
    started: usize,
}

/// By the definition: what each thread can do from each state.
fn brute_force(threads: &[Vec<Statement>; 3]) -> bool {
    let first = State { x: false, b: [false; 3], at: [0; 3], started: 1 };
    let mut met = HashSet::from([first.clone()]);
    let mut waiting = vec![first];
    while let Some(state) = waiting.pop() {
        let mut next = Vec::new();
        if state.started < 3 {
            next.push(State { started: state.started + 1, ..state.clone() });
        }
        for me in 0..state.started {
            // The first thread starts the others before it does anything else.
            let Some(statement) = threads[me].get(state.at[me]).filter(|_| me > 0 || state.started == 3)
            else {
                continue;
            };
            let mut moved = state.clone();
            moved.at[me] += 1;
            match statement {
                Statement::Wait => {}
                Statement::Broadcast => {
                    for other in (0..state.started).filter(|other| *other != me) {
                        // The first stands at its first statement only when it has started everybody.
                        let there = other > 0 || state.started == 3;
                        if there && matches!(threads[other].get(state.at[other]), Some(Statement::Wait)) {
                            moved.at[other] += 1;
                        }
                    }
                    next.push(moved);
                }
                Statement::Assert(value) if !value.at(state.x, state.b[me], false, false) => return true,
                Statement::Assert(_) => next.push(moved),
                Statement::Assign { x, b, others, constrain } => {
                    let mine = state.b[me];
                    let of = |value: &Option<Value>, now: bool| {
                        value.as_ref().map_or(vec![now], |value| value.outcomes(state.x, mine, false))
                    };
                    let mut outcomes = Vec::new();
                    for x in of(x, state.x) {
                        for b in of(b, mine) {
                            let mut after = State { x, ..moved.clone() };
                            after.b[me] = b;
                            outcomes.push(after);
                        }
                    }
                    for other in (0..state.started).filter(|other| *other != me) {
                        let theirs = state.b[other];
                        let values = others
                            .as_ref()
                            .map_or(vec![theirs], |value| value.outcomes(state.x, mine, theirs));
                        let allowed = |next: &bool| {
                            constrain.as_ref().is_none_or(|clause| clause.at(state.x, mine, theirs, *next))
                        };
                        let values: Vec<bool> = values.into_iter().filter(allowed).collect();
                        outcomes = outcomes
                            .iter()
                            .flat_map(|state| {
                                values.iter().map(move |value| {
                                    let mut state = state.clone();
                                    state.b[other] = *value;
                                    state
                                })
                            })
                            .collect();
                    }
                    next.extend(outcomes);
                }
            }
        }
        waiting.extend(next.into_iter().filter(|state| met.insert(state.clone())));
    }
    false
}

#[test]
fn random_programs_do_to_others_what_the_definition_says() {
    let mut wrong = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut threads: [Vec<Statement>; 3] = Default::default();
        for thread in &mut threads {
            *thread = (0..2 + rng.below(3)).map(|_| statement(&mut rng)).collect();
        }
        // A clause without `b$` in it speaks of the step, not of the others: also where there are none.
        let constrained = |statement: &Statement| matches!(statement, Statement::Assign { constrain: Some(clause), .. } if !clause.text.contains('$'));
        if threads.iter().flatten().any(constrained) {
            continue;
        }
        let body = |thread: &[Statement]| thread.iter().map(text).collect::<Vec<_>>().join(" ");
        let program = format!(
            "decl x := F; decl thread_local b := F;
             void main() begin start_thread one(); start_thread two(); {} end
             void one() begin {} end
             void two() begin {} end",
            body(&threads[0]),
            body(&threads[1]),
            body(&threads[2])
        );
        let expected = brute_force(&threads);
        assert_eq!(violated(&program), expected, "seed {seed}\n{program}");
        wrong += usize::from(expected);
    }
    assert!((40..360).contains(&wrong), "{wrong} of them are wrong");
}
