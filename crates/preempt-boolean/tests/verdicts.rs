//! Small programs with known answers, decided by brute force on the lowered model.

use preempt_boolean::{BooleanOptions, load};
use preempt_core::{PropertyKind, SourceMap};
use preempt_model::search::oracle;
use preempt_model::{Interpreter, Model};

fn model(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &BooleanOptions::default());
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    (loaded.model.expect("no errors"), loaded.sources)
}

/// Does an assertion fail in some run? Nothing else may be wrong.
fn violated(text: &str) -> bool {
    let (model, sources) = model(text);
    let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
    let answers = oracle::cheapest_costs(&interpreter, false);
    assert_eq!(answers.deadlock, None, "{text}");
    for violation in answers.violations.keys() {
        assert_eq!(violation.kind, PropertyKind::Assertion, "{violation:?}\n{text}");
    }
    !answers.violations.is_empty()
}

#[track_caller]
fn holds(body: &str) {
    assert!(!violated(&whole(body)), "{body}");
}

#[track_caller]
fn fails(body: &str) {
    assert!(violated(&whole(body)), "{body}");
}

/// Statements alone are the body of `main`, with three globals.
fn whole(text: &str) -> String {
    if text.contains("main") {
        return text.to_string();
    }
    format!("decl a, b, c; void main() begin {text} end")
}

#[test]
fn variables_begin_with_any_value() {
    fails("assert(a);");
    fails("assert(!a);");
    holds("a := b; assert(a = b);");
    holds("decl a := 1, b := 0; void main() begin assert(a & !b); end");
    fails(
        "void f(p) begin decl l; if p then assert(l); else l := 1; fi end void main() begin f(0); f(1); end",
    );
    fails("void main(p) begin assert(p); end");
    holds("void main() begin decl l := 1; assert(l); end");
    fails("void main() begin decl l := *; assert(l); end");
}

#[test]
fn parallel_assignment_is_simultaneous() {
    holds("a, b := T, F; a, b := b, a; assert(!a & b);");
    holds("a := T; a, _ := !a, a; assert(!a);");
}

#[test]
fn choices() {
    fails("a := *; assert(a);");
    fails("a := T; a := * & a; assert(a);");
    holds("a := F; a := * & a; assert(!a);");
    holds("a := schoose[T, T]; assert(a);");
    holds("a := schoose[F, T]; assert(!a);");
    fails("a := schoose[F, F]; assert(a);");
    fails("a := schoose[F, F]; assert(!a);");
    holds("if * then a := T; else a := F; fi; if a then assert(a); else assert(!a); fi");
    fails("if * then a := T; else a := F; fi; assert(a);");
    holds("a := T; if a ? F : T then assert(F); fi");
    fails("a := T; dead a; assert(a);");
}

#[test]
fn constrained_assignments() {
    holds("a, b := *, * constrain 'a = 'b; assert(a = b);");
    fails("a, b := *, * constrain 'a = 'b; assert(a);");
    // Unprimed is the value before.
    holds("a := T; a, b := *, * constrain ('a != a) & ('b = a); assert(!a & b);");
    // What is not assigned stays.
    holds("c := T; a := * constrain 'a = 'c; assert(a);");
    // No outcome: the run ends.
    holds("a := T; a := F constrain 'a; assert(F);");
    fails("a := F constrain !'a; assert(F);");
    holds("a, b := F, T; a := * & b constrain 'a => !b; assert(!a);");
}

#[test]
fn enforce_holds_in_every_state_of_the_procedure() {
    let enforced =
        "decl a, b; void f() begin enforce a & !b; assert(a & !b); a, b := *, *; assert(a & !b); end
        void main() begin a, b := *, *; f(); CHECK end";
    holds(&enforced.replace("CHECK", "assert(a);"));
    fails(&enforced.replace("CHECK", "a := *; assert(a);"));
    holds("decl a; void f() begin abortif !a; a := *; assert(a); end void main() begin f(); end");
    // A call may change what is enforced; then the run ends.
    holds(
        "decl a; void g() begin a := F; end void f() begin enforce a; g(); assert(F); end void main() begin f(); end",
    );
}

#[test]
fn control_flow() {
    holds("a := T; goto out; a := F; out: assert(a);");
    fails("a := T; goto in, out; in: a := F; out: assert(a);");
    holds("a := T; while a do a := *; od; assert(!a);");
    holds("again: goto again; assert(F);");
    holds("one: goto two; two: goto one; assert(F);");
    holds("a := F; b := T; if a then assert(F); elsif b then c := T; else assert(F); fi; assert(c);");
    fails("a := T; SLIC_ERROR: skip;");
    fails("a := T; ERROR3: skip;");
    fails("a := T; MYERROR: skip;");
    holds("a := T; assume(!a); SLIC_ERROR: skip;");
    fails("void main() begin goto 2; 1: skip; 2: goto 1, 3; 3: assert(0); end");
    holds("assume(a); print(a, b); assert(a);");
}

#[test]
fn procedures() {
    holds(
        "decl g; bool<2> f(x, y) begin x, y := !x, !y; return x, y; end
        void main() begin decl p, q; _, _ := f(g, g); p, q := f(g, !g); assert(p = !g); assert(q = g); f(g, g); end",
    );
    holds(
        "decl g; bool f() begin return g; assert(F); end void main() begin decl l; l := f(); assert(l = g); end",
    );
    // Results are assigned at once.
    holds(
        "decl a; decl b; bool<2> swap(x, y) begin return y, x; end
        void main() begin a, b := T, F; a, b := swap(a, b); assert(!a & b); end",
    );
    // Each call has its own locals.
    holds(
        "bool not(x, deep) begin decl y; y := x; if deep then y := not(y, F); fi; return !y; end
        void main() begin decl r; r := not(T, T); assert(r); end",
    );
    fails("bool f() begin skip; end void main() begin decl l; l := f(); assert(l); end");
}

#[test]
fn threads_in_every_form() {
    let raced = "decl g; void t() begin g := F; end void main() begin g := T; START assert(g); end";
    for start in
        ["start_thread t();", "ASYNC_1: t();", "start_thread goto n; goto m; n: g := F; end_thread; m:"]
    {
        fails(&raced.replace("START", start));
    }
    holds(&raced.replace("START", ""));
    // A thread has its arguments, and a copy of the locals when it starts at a label.
    holds("void t(x, y) begin assert(x & !y); end void main() begin start_thread t(T, F); end");
    holds(
        "decl g; void main() begin decl l; l := T; start_thread goto n; l := F; goto m;
        n: assert(l); end_thread; m: assert(!l); end",
    );
    // Its locals are its own.
    holds(
        "decl g; void t() begin decl l; l := T; assert(l); l := F; end void main() begin start_thread t(); start_thread t(); end",
    );
    // end_thread ends the thread also within a call.
    holds("void f() begin end_thread; end void main() begin f(); assert(F); end");
}

#[test]
fn thread_local_variables() {
    let text = "decl g; decl thread_local t; void set(v) begin t := v; end
        void other() begin set(F); assert(!t); end
        void main() begin set(T); start_thread other(); CHECK end";
    holds(&text.replace("CHECK", "assert(t);"));
    fails(&text.replace("CHECK", "assert(!t);"));
    holds(
        "decl thread_local t := 1; void f() begin assert(t); t := F; end void main() begin start_thread f(); f(); assert(!t); end",
    );
    holds(
        "decl thread_local t; void main() begin t := T; start_thread goto n; t := F; goto m; n: assert(t); end_thread; m: skip; end",
    );
}

#[test]
fn atomic_blocks() {
    let seen = "decl g, h; void t() begin BEGIN g := T; g := F; END h := T; end
        void main() begin g, h := F, F; start_thread t(); assert(!g); assume(h); assert(!g); end";
    fails(&seen.replace("BEGIN", "").replace("END", ""));
    holds(&seen.replace("BEGIN", "atomic_begin;").replace("END", "atomic_end;"));
    // Nested blocks, loops and choices inside.
    holds(
        &seen
            .replace("BEGIN", "atomic_begin; while * do g := !g; od; if * then g := T; fi; atomic_begin;")
            .replace("END", "atomic_end; atomic_end;"),
    );
    // A call within a block stays within it, and after the block others may run.
    let called = "decl g, h; void set(v) begin g := v; end void t() begin atomic_begin; set(T); set(F); atomic_end; CHECK end
        void main() begin g, h := F, F; start_thread t(); assert(!g); h := T; end";
    holds(&called.replace("CHECK", ""));
    fails(&called.replace("CHECK", "h := F; assert(!h);"));
    fails(&called.replace("CHECK", "assert(!h);"));
    // Outside of a block the same procedure is interrupted.
    fails(&called.replace("CHECK", "set(T); set(F);"));
    // Jumps inside a block.
    holds(
        &seen
            .replace("BEGIN", "atomic_begin; g := T; goto l, k; l: g := F; goto e; k: g := T;")
            .replace("END", "e: atomic_end;")
            .replace("h := T;", "if g then assume(F); fi; h := T;")
            .replace("assert(!g); assume(h);", "assume(h);"),
    );
}

#[test]
fn who_blocks_in_an_atomic_block_ends_the_run() {
    // At its beginning it only waits.
    fails(
        "decl g; void t() begin atomic_begin; assume(g); atomic_end; assert(F); end void main() begin g := F; start_thread t(); g := T; end",
    );
    // Later nobody may see how far it has come.
    holds(
        "decl g, h; void t() begin atomic_begin; g := T; assume(h); g := F; atomic_end; end void main() begin g, h := F, F; start_thread t(); assert(!g); end",
    );
    fails(
        "decl g, h; void t() begin atomic_begin; g := T; assume(h); g := F; atomic_end; end void main() begin g, h := F, F; start_thread t(); h := T; assert(g); end",
    );
}

#[test]
fn a_lock() {
    let text = "decl lock, x; void t() begin ACQUIRE x := T; x := F; RELEASE end
        void main() begin lock, x := F, F; start_thread t(); ACQUIRE assert(!x); RELEASE end";
    let acquire = "atomic_begin; assume(!lock); lock := T; atomic_end;";
    holds(&text.replace("ACQUIRE", acquire).replace("RELEASE", "lock := F;"));
    fails(&text.replace("ACQUIRE", "").replace("RELEASE", ""));
    // Taken without an atomic block, it is no lock.
    fails(&text.replace("ACQUIRE", "assume(!lock); lock := T;").replace("RELEASE", "lock := F;"));
}

#[test]
fn main_may_be_started_again() {
    holds("decl g := 0, n; void main() begin if !g then g := T; start_thread main(); fi; assert(g); end");
}
