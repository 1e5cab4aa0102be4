//! Values, assignments, nondeterminism and procedures, on models built by hand.

use crate::common;

use common::{add, bench, equal, load, local, number, set};
use preempt_model::{BinaryOp, CodeKind, Command, Expr, Place, Scope, Type};

#[test]
fn assignment_wraps_around() {
    let mut bench = bench();
    let (byte, bit) = (bench.byte(255), bench.global(Type::BIT, 1));
    let short = bench.global(Type::SHORT, 32767);
    let int = bench.global(Type::INT, i32::MAX);
    let increments = [&byte, &bit, &short, &int].map(|place| set(place, add(load(place), number(1))));
    bench.process(bench.line(increments.to_vec()));
    assert_eq!(bench.ends(), [[0, 0, -32768, i64::from(i32::MIN)]]);
}

#[test]
fn initial_values_wrap_around_too() {
    let mut bench = bench();
    bench.byte(-1);
    bench.global(Type::BIT, 2);
    bench.process(vec![]);
    assert_eq!(bench.ends(), [[255, 0]]);
}

#[test]
fn all_values_are_computed_before_all_are_assigned() {
    let mut bench = bench();
    let (x, y) = (bench.byte(1), bench.byte(2));
    let swap = Command::Assign(vec![(x.clone(), load(&y)), (y.clone(), load(&x))]);
    bench.process(bench.line(vec![swap]));
    assert_eq!(bench.ends(), [[2, 1]]);
}

#[test]
fn any_has_every_outcome_once() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let any = |low, high| Expr::Any { low, high };
    let pair = Command::Assign(vec![(x.clone(), any(1, 3)), (y.clone(), any(5, 6))]);
    bench.process(bench.line(vec![pair]));
    let system = bench.system();
    let initial = preempt_model::System::initial_states(&system).remove(0);
    let moves = preempt_model::System::successors(&system, &initial, 0);
    assert_eq!(moves.len(), 6);
    assert_eq!(bench.ends(), [[1, 5], [1, 6], [2, 5], [2, 6], [3, 5], [3, 6]]);
}

#[test]
fn any_that_is_not_evaluated_is_no_choice() {
    let mut bench = bench();
    let x = bench.byte(0);
    let any = Expr::Any { low: 1, high: 3 };
    let value = Expr::Conditional(Box::new(load(&x)), Box::new(any), Box::new(number(9)));
    bench.process(bench.line(vec![set(&x, value)]));
    assert_eq!(bench.explore().states, 3);
    assert_eq!(bench.ends(), [[9]]);
}

#[test]
fn a_guard_may_choose() {
    let mut bench = bench();
    let x = bench.byte(0);
    let choose = Command::Guard(Expr::Any { low: 0, high: 1 });
    let edges = vec![
        (0, bench.edge(choose, 1)),
        (0, bench.edge(Command::Else, 2)),
        (1, bench.edge(set(&x, number(7)), 2)),
    ];
    bench.process(edges);
    assert_eq!(bench.ends(), [[7]], "one of the outcomes holds, so `else` does not");
}

#[test]
fn the_right_side_is_evaluated_only_if_it_decides() {
    let mut bench = bench();
    let x = bench.byte(0);
    let fault = || Expr::binary(BinaryOp::Div, number(1), load(&x));
    let and = Expr::binary(BinaryOp::And, number(0), fault());
    let or = Expr::binary(BinaryOp::Or, number(2), fault());
    let y = bench.byte(5);
    bench.process(bench.line(vec![set(&y, add(and, or))]));
    assert_eq!(bench.ends(), [[0, 1]]);
}

#[test]
fn remainder_and_shift_are_those_of_c() {
    let mut bench = bench();
    let (x, y) = (bench.global(Type::INT, 0), bench.global(Type::INT, 0));
    let minus_seven = || Expr::Unary(preempt_model::UnaryOp::Negate, Box::new(number(7)));
    let commands = vec![
        set(&x, Expr::binary(BinaryOp::Rem, minus_seven(), number(3))),
        set(&y, Expr::binary(BinaryOp::ShiftRight, minus_seven(), number(1))),
    ];
    bench.process(bench.line(commands));
    assert_eq!(bench.ends(), [[-1, -4]]);
}

/// `f(n) = n == 0 ? 0 : n + f(n - 1)`, with n in slot 0 and the result of the inner call in slot 1.
#[test]
fn procedures_recurse_with_locals_of_their_own() {
    let mut bench = bench();
    let result = bench.global(Type::INT, 0);
    let (n, inner) = (local(0), local(1));
    let is_zero = || equal(load(&n), number(0));
    let f = preempt_model::CodeId(0);
    let less = Expr::binary(BinaryOp::Sub, load(&n), number(1));
    let call = Command::Call { code: f, args: vec![less], results: vec![inner.clone()] };
    let edges = vec![
        (0, bench.edge(Command::Guard(is_zero()), 1)),
        (0, bench.edge(Command::Else, 2)),
        (1, bench.edge(Command::Return(vec![number(0)]), 1)),
        (2, bench.edge(call, 3)),
        (3, bench.edge(Command::Return(vec![add(load(&n), load(&inner))]), 3)),
    ];
    assert_eq!(bench.code(CodeKind::Procedure, 2, edges), f);
    bench.code_mut(f).parameters = vec![Type::INT];
    let call = Command::Call { code: f, args: vec![number(4)], results: vec![result.clone()] };
    bench.process(bench.line(vec![
        set(&local(0), number(50)),
        call,
        set(&result, add(load(&result), load(&n))),
    ]));
    assert_eq!(bench.ends(), [[4 + 3 + 2 + 1 + 50]], "the caller's locals are as they were");
}

#[test]
fn results_go_to_several_places_at_once() {
    let mut bench = bench();
    let (x, y) = (bench.byte(1), bench.byte(2));
    let swap = bench.line(vec![Command::Return(vec![load(&y), load(&x)])]);
    let swap = bench.code(CodeKind::Procedure, 0, swap);
    let call = Command::Call { code: swap, args: vec![], results: vec![x.clone(), y.clone()] };
    bench.process(bench.line(vec![call]));
    assert_eq!(bench.ends(), [[2, 1]]);
}

#[test]
fn what_goes_nowhere_is_forgotten() {
    let mut bench = bench();
    let x = bench.byte(3);
    bench.process(bench.line(vec![set(&Place::nowhere(), number(5))]));
    assert_eq!(bench.ends(), [[3]]);
    assert_eq!(x.scope, Scope::Global);
}
