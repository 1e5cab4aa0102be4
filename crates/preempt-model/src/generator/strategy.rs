//! Random trees. Every part is drawn by itself and shrinks by itself; numbers of variables, channels and processes
//! are drawn without knowing how many there are, and [`normal`](super::normal) makes them fit.

use super::normal::normal;
use super::syntax::{
    Channel, Check, Domain, Expression, Loop, Operator, Pattern, Place, Process, Program, Statement, Variable,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};

/// Programs of two or three process types whose state space is small: hundreds to a few thousand states, as values
/// stay few. Assertions may fail and processes may block for ever; nothing that has no meaning happens.
pub fn programs() -> impl Strategy<Value = Program> {
    program(false)
}

/// As [`programs`], but an index may be out of range, a divisor zero, and a deterministic block may block.
pub fn faulty_programs() -> impl Strategy<Value = Program> {
    program(true)
}

fn program(faults: bool) -> impl Strategy<Value = Program> {
    let parts = (vec(variable(), 1..=3), vec(channel(), 0..=2), vec(process(faults), 2..=3));
    (parts, option::weighted(0.1, Just(())), option::weighted(0.1, Just(()))).prop_map(
        move |((globals, channels, mut processes), priorities, provided)| {
            for process in &mut processes {
                if priorities.is_none() {
                    process.priority = 1;
                }
                if provided.is_none() {
                    process.provided = None;
                }
            }
            normal(Program { globals, channels, processes }, priorities.is_some(), faults)
        },
    )
}

fn variable() -> impl Strategy<Value = Variable> {
    let domain = prop_oneof![
        4 => Just(Domain::Bit), 4 => Just(Domain::Byte), 1 => Just(Domain::Short), 1 => Just(Domain::TwoBits)
    ];
    (domain, option::weighted(0.2, Just(2)), 0..=2i8).prop_map(|(domain, length, initial)| Variable {
        domain,
        length,
        initial,
    })
}

fn channel() -> impl Strategy<Value = Channel> {
    let domain = prop_oneof![3 => Just(Domain::Byte), 2 => Just(Domain::Bit), 1 => Just(Domain::Short)];
    let capacity = prop_oneof![3 => Just(0u8), 3 => Just(1), 2 => Just(2)];
    (capacity, vec(domain, 1..=2)).prop_map(|(capacity, fields)| Channel { capacity, fields })
}

fn process(faults: bool) -> impl Strategy<Value = Process> {
    let active = prop_oneof![7 => Just(1u8), 1 => Just(0), 2 => Just(2)];
    let own = channel().prop_map(|channel| Channel { capacity: channel.capacity.max(1), ..channel });
    (
        (active, 1..=3u8, option::weighted(0.5, comparison(faults))),
        (any::<bool>(), vec(variable(), 0..=1), option::weighted(0.1, own)),
        vec(statement(2, faults), 2..=6),
    )
        .prop_map(|((active, priority, provided), (parameter, locals, channel), body)| Process {
            active,
            priority,
            provided,
            parameter,
            locals,
            channel,
            body,
        })
}

fn statement(depth: u32, faults: bool) -> BoxedStrategy<Statement> {
    let simple = simple_statement(faults);
    if depth == 0 {
        return simple.boxed();
    }
    let inner = statement(depth - 1, faults);
    let choice = (vec(option_of(inner.clone()), 1..=3), any::<bool>()).boxed();
    prop_oneof![
        16 => simple,
        3 => choice.clone().prop_map(|(options, _)| Statement::If(options)),
        3 => choice.prop_map(|(options, end)| Statement::Do(Loop { options, end })),
        2 => vec(inner.clone(), 1..=3).prop_map(Statement::Atomic),
        2 => vec(block_statement(faults), 1..=3).prop_map(Statement::Deterministic),
        1 => (0..=2usize, 1..=3i8).prop_map(|(variable, limit)| counting_loop(variable, limit)),
        1 => (vec(inner.clone(), 1..=3), vec(inner, 1..=2))
            .prop_map(|(body, escape)| Statement::Unless { body, escape }),
    ]
    .boxed()
}

/// Choices are the point of a deterministic block.
fn block_statement(faults: bool) -> impl Strategy<Value = Statement> {
    let simple = simple_statement(faults).boxed();
    prop_oneof![
        4 => simple.clone(),
        2 => vec(option_of(simple), 1..=3).prop_map(Statement::If),
        1 => (0..=2usize, 1..=3i8).prop_map(|(variable, limit)| counting_loop(variable, limit)),
    ]
}

/// An option of a choice: perhaps an `else`, some statements, perhaps a `break`.
fn option_of(inner: BoxedStrategy<Statement>) -> impl Strategy<Value = Vec<Statement>> {
    let first = option::weighted(0.25, Just(Statement::Else));
    let last = option::weighted(0.35, Just(Statement::Break));
    (first, vec(inner, 0..=2), last)
        .prop_map(|(first, middle, last)| first.into_iter().chain(middle).chain(last).collect())
}

/// The only loop that may stand in an atomic sequence: it surely ends.
fn counting_loop(variable: usize, limit: i8) -> Statement {
    let counter = Place { local: true, variable, index: None };
    let load = || Expression::Load(counter.clone());
    let below = Expression::binary(Operator::Lt, load(), Expression::Constant(limit));
    let next = Expression::binary(Operator::Add, load(), Expression::Constant(1));
    let options = vec![
        vec![Statement::Guard(below), Statement::Assign(counter.clone(), next)],
        vec![Statement::Else, Statement::Break],
    ];
    Statement::Do(Loop { options, end: false })
}

fn simple_statement(faults: bool) -> impl Strategy<Value = Statement> {
    prop_oneof![
        20 => (place(faults), value(faults)).prop_map(|(place, value)| Statement::Assign(place, value)),
        4 => condition(faults).prop_map(Statement::Guard),
        2 => Just(Statement::Skip),
        3 => condition(faults).prop_map(Statement::Assert),
        5 => (0..3usize, option::weighted(0.3, Just(())), vec(value(faults), 2))
            .prop_map(|(channel, sorted, fields)| Statement::Send { channel, sorted: sorted.is_some(), fields }),
        6 => receive(faults),
        2 => (0..3usize, 1..=3u8, leaf(faults))
            .prop_map(|(process, priority, argument)| Statement::Run { process, priority, argument }),
        1 => Just(Statement::Guard(Expression::Timeout)),
    ]
}

fn receive(faults: bool) -> impl Strategy<Value = Statement> {
    let rarely = || option::weighted(0.2, Just(()));
    (0..3usize, rarely(), rarely(), vec(pattern(faults), 2)).prop_map(|(channel, random, keep, pattern)| {
        Statement::Receive { channel, random: random.is_some(), keep: keep.is_some(), pattern }
    })
}

fn pattern(faults: bool) -> impl Strategy<Value = Pattern> {
    prop_oneof![
        5 => place(faults).prop_map(Pattern::Bind),
        3 => (0..=2i8).prop_map(Pattern::Constant),
        1 => place(faults).prop_map(|place| Pattern::Eval(Expression::Load(place))),
        1 => Just(Pattern::Ignore),
    ]
}

fn place(faults: bool) -> impl Strategy<Value = Place> {
    let scalar = (any::<bool>(), 0..3usize);
    let index = prop_oneof![
        2 => (0..=1i8).prop_map(Expression::Constant),
        1 => scalar.clone().prop_map(move |(local, variable)| {
            let load = Expression::Load(Place { local, variable, index: None });
            match faults {
                true => load,
                false => Expression::binary(Operator::BitAnd, load, Expression::Constant(1)),
            }
        }),
    ];
    (scalar, index).prop_map(|((local, variable), index)| Place {
        local,
        variable,
        index: Some(Box::new(index)),
    })
}

fn leaf(faults: bool) -> impl Strategy<Value = Expression> + Clone {
    prop_oneof![
        5 => (0..=3i8).prop_map(Expression::Constant),
        8 => place(faults).prop_map(Expression::Load),
        1 => Just(Expression::Pid),
        1 => Just(Expression::ProcessCount),
        1 => (0..3usize).prop_map(Expression::Len),
    ]
    .boxed()
}

/// Operators that could make values grow are followed by one that makes them small again.
fn value(faults: bool) -> impl Strategy<Value = Expression> {
    let growing = prop_oneof![
        Just(Operator::Add),
        Just(Operator::Sub),
        Just(Operator::Mul),
        Just(Operator::BitXor),
        Just(Operator::BitOr),
    ];
    let shift = prop_oneof![Just(Operator::ShiftLeft), Just(Operator::ShiftRight)];
    let small = || {
        prop_oneof![
            Just((Operator::Rem, Expression::Constant(3))),
            Just((Operator::BitAnd, Expression::Constant(3)))
        ]
    };
    let bounded = |inner: Expression, (operator, limit)| Expression::binary(operator, inner, limit);
    let divisor = match faults {
        true => leaf(true).boxed(),
        false => (1..=3i8).prop_map(Expression::Constant).boxed(),
    };
    let division = prop_oneof![Just(Operator::Div), Just(Operator::Rem)];
    prop_oneof![
        8 => leaf(faults),
        5 => (growing, leaf(faults), leaf(faults), small())
            .prop_map(move |(operator, left, right, small)| bounded(Expression::binary(operator, left, right), small)),
        1 => (shift, leaf(faults), 0..=2i8, small()).prop_map(move |(operator, left, by, small)| {
            bounded(Expression::binary(operator, left, Expression::Constant(by)), small)
        }),
        1 => (division, leaf(faults), divisor)
            .prop_map(|(operator, left, right)| Expression::binary(operator, left, right)),
        1 => leaf(faults).prop_map(|inner| Expression::Negate(Box::new(inner))),
        1 => (leaf(faults), small())
            .prop_map(move |(inner, small)| bounded(Expression::Complement(Box::new(inner)), small)),
        1 => condition(faults),
        1 => (comparison(faults), leaf(faults), leaf(faults))
            .prop_map(|(condition, then, otherwise)| Expression::Conditional(Box::new([condition, then, otherwise]))),
    ]
}

fn comparison(faults: bool) -> impl Strategy<Value = Expression> + Clone {
    let operator = prop_oneof![
        1 => Just(Operator::Eq), 3 => Just(Operator::Ne), 1 => Just(Operator::Lt),
        2 => Just(Operator::Le), 1 => Just(Operator::Gt), 2 => Just(Operator::Ge),
    ];
    (operator, place(faults), leaf(faults))
        .prop_map(|(operator, place, right)| Expression::binary(operator, Expression::Load(place), right))
        .boxed()
}

fn condition(faults: bool) -> impl Strategy<Value = Expression> {
    let both = prop_oneof![Just(Operator::And), Just(Operator::Or)];
    let question =
        prop_oneof![Just(Check::Full), Just(Check::NotFull), Just(Check::Empty), Just(Check::NotEmpty)];
    prop_oneof![
        6 => comparison(faults),
        2 => (both, comparison(faults), comparison(faults))
            .prop_map(|(operator, left, right)| Expression::binary(operator, left, right)),
        1 => comparison(faults).prop_map(|inner| Expression::Not(Box::new(inner))),
        1 => (question, 0..3usize).prop_map(|(question, channel)| Expression::Ask(question, channel)),
        1 => (0..3usize, any::<bool>(), vec(pattern(faults), 2))
            .prop_map(|(channel, random, pattern)| Expression::Poll { channel, random, pattern }),
    ]
}
