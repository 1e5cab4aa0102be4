//! What small models mean: states, transitions and errors as Spin 6.5.2 counts them with every optimisation off
//! (`spin -a -o1 -o2 -o3`, `-DNOREDUCE -DSAFETY -DNOCLAIM`, `pan -c0`). Spin counts one transition more: the initial
//! state.

mod channels;
mod control;
mod exclusive;
mod processes;
mod values;

use preempt_core::Silent;
use preempt_model::{Interpreter, search};
use preempt_promela::{Additions, load};

fn check(source: &str, states: u64, transitions: u64, errors: u64) {
    let loaded = load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")));
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let stats = search::count(&interpreter, &search::ReferenceOptions::default(), &mut Silent).stats;
    let violations: u64 = stats.violations.values().sum();
    assert_eq!((stats.states, stats.transitions + 1, violations), (states, transitions, errors));
}
