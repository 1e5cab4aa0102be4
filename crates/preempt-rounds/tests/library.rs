//! The library of Boolean procedures in `models/boolean/lib`: what it promises holds, and misuse is found.

use preempt_core::{Guarantee, Silent, Verdict};
use preempt_rounds::{RoundsOptions, RoundsReport, check};
use std::path::Path;

fn with(library: &str, program: &str) -> RoundsReport {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean/lib").join(library);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let loaded =
        preempt_boolean::load(library, &(text + program), &preempt_boolean::BooleanOptions::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{library}: {:?}", loaded.diagnostics));
    check(&model, &loaded.sources, &RoundsOptions::default(), &mut Silent).unwrap()
}

fn holds(library: &str, program: &str) {
    let report = with(library, program);
    assert_eq!(report.outcome.verdict, Verdict::Holds, "{library}\n{program}");
    assert_eq!(report.outcome.guarantee, Guarantee::Exhaustive, "{library}");
}

fn fails(library: &str, program: &str) {
    assert_eq!(with(library, program).outcome.verdict, Verdict::Violated, "{library}\n{program}");
}

const INSIDE: &str = "decl inside := F; void work() begin assert(!inside); inside := T; inside := F; end";

#[test]
fn a_mutex_excludes() {
    let main = "void main() begin start_thread other(); start_thread other(); other(); end";
    holds(
        "mutex.bp",
        &format!("{INSIDE} {main} void other() begin mutex_lock(); work(); mutex_unlock(); end"),
    );
    let tries =
        "void other() begin decl ok; ok := mutex_try_lock(); if ok then work(); mutex_unlock(); fi; end";
    holds("mutex.bp", &format!("{INSIDE} {main} {tries}"));
    fails(
        "mutex.bp",
        &format!("{INSIDE} {main} void other() begin mutex_lock(); mutex_unlock(); work(); end"),
    );
    fails("mutex.bp", &format!("{main} void other() begin mutex_unlock(); end"));
}

#[test]
fn a_semaphore_counts() {
    let main = "void main() begin start_thread other(); start_thread other(); semaphore_up(); end";
    holds(
        "semaphore.bp",
        &format!("{INSIDE} {main} void other() begin semaphore_down(); work(); semaphore_up(); end"),
    );
    let twice = main.replace("semaphore_up();", "semaphore_up(); semaphore_up();");
    fails(
        "semaphore.bp",
        &format!("{INSIDE} {twice} void other() begin semaphore_down(); work(); semaphore_up(); end"),
    );
    fails(
        "semaphore.bp",
        "void main() begin semaphore_up(); semaphore_up(); semaphore_up(); semaphore_up(); end",
    );
}

#[test]
fn readers_and_writers_exclude_each_other() {
    let main = "decl x := F, y := F; void main() begin start_thread reader(); start_thread reader(); start_thread writer(); end";
    let reader = "void reader() begin read_lock(); assert(x = y); read_unlock(); end";
    holds(
        "rwlock.bp",
        &format!("{main} {reader} void writer() begin write_lock(); x := T; y := T; write_unlock(); end"),
    );
    fails(
        "rwlock.bp",
        &format!("{main} {reader} void writer() begin read_lock(); x := T; y := T; read_unlock(); end"),
    );
}

#[test]
fn events_and_things_done_once_are_waited_for() {
    let main = "decl x := F; void main() begin start_thread other(); x := T; event_set(); end";
    holds("event.bp", &format!("{main} void other() begin event_wait(); assert(x); end"));
    fails(
        "event.bp",
        &main
            .replace("x := T; event_set();", "event_set(); x := T;")
            .replace("void main", "void other() begin event_wait(); assert(x); end void main"),
    );
    let main =
        "decl x := F, y := F; void main() begin start_thread other(); start_thread other(); other(); end";
    let once = "decl mine; mine := once_enter(); if mine then assert(!x); x := T; y := T; once_done(); fi; once_wait(); assert(y);";
    holds("once.bp", &format!("{main} void other() begin {once} end"));
    fails(
        "once.bp",
        &format!(
            "{main} void other() begin {} end",
            once.replace("y := T; once_done();", "once_done(); y := T;")
        ),
    );
}

#[test]
fn a_handler_does_not_run_while_interrupts_are_disabled() {
    let main = "decl x := F, y := F; void main() begin start_thread handler(); DRIVER end
                void handler() begin while (T) do irq_enter(); assert(x = y); irq_leave(); od; end";
    let right = "irq_disable(); x := T; y := T; irq_enable();";
    holds("interrupt.bp", &main.replace("DRIVER", right));
    fails("interrupt.bp", &main.replace("DRIVER", "x := T; irq_disable(); y := T; irq_enable();"));
}
