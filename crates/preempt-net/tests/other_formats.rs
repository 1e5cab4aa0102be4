//! The smaller formats: thread-transition systems, LoLA, TINA, Woflan, properties as text; and complements of tested places.

use preempt_core::{Budget, Diagnostic, Rng, SourceId, SourceMap};
use preempt_net::complement::complement;
use preempt_net::{
    Marking, Move, Net, Problem, Question, Range, Transition, lola, property, query, tina, tpn, tts,
};
use std::collections::BTreeSet;

type Reader = fn(SourceId, &str, &Budget) -> (Problem, Vec<Diagnostic>);

const READERS: [(Reader, &str); 4] = [
    (tts::read_within, "2 3 # a lock\n0 0 -> 1 1\n1 1 -> 0 2 0 ~> 2\n0 2 +> 0 0\n1 2 ~> 0 0\n1|1,1\n"),
    (
        lola::read_within,
        "{ x }\nPLACE SAFE 1: a.b, c:d; e;\nMARKING a.b: 2, e;\nTRANSITION t WEAK FAIR CONSUME a.b: 1, e; PRODUCE c:d: 3;\nTRANSITION u CONSUME ; PRODUCE e : 1;\n",
    ),
    (
        tina::read_within,
        "net n\npl p : label (2)\ntr t [0,w[ p*2 q?1 -> {the end} r\ntr u p?-2 -> q\npl r (1K) t -> u*2\n",
    ),
    (
        tpn::read_within,
        "-- w\nplace \"i\" init 1;\nplace o;\ntrans \"t\"~\"T\" in \"i\" \"i\" out o;\ntrans u in o;\n",
    ),
];

fn read(reader: Reader, text: &str) -> (Problem, Vec<String>) {
    let mut map = SourceMap::new();
    let id = map.add("net", text);
    let (problem, diagnostics) = reader(id, text, &Budget::unlimited());
    let show = |diagnostic: &Diagnostic| match diagnostic.span {
        Some(span) => {
            assert!(span.end as usize <= text.len() && span.start <= span.end, "{diagnostic:?}");
            let place = map.location(span);
            format!("{}:{} {}", place.line, place.column, diagnostic.message)
        }
        None => diagnostic.message.clone(),
    };
    (problem, diagnostics.iter().map(show).collect())
}

fn good(reader: Reader, text: &str) -> Problem {
    let (problem, mistakes) = read(reader, text);
    assert!(mistakes.is_empty(), "{text}\n{mistakes:?}");
    assert_eq!(problem.spans.len(), problem.net.transitions.len());
    problem
}

fn marking<const N: usize>(pairs: [(u32, u64); N]) -> Marking {
    Marking::from_pairs(pairs)
}

#[test]
fn a_thread_transition_system_is_a_net() {
    let problem = good(READERS[0].0, READERS[0].1);
    assert_eq!(problem.net.places, ["s0", "s1", "l0", "l1", "l2"]);
    assert_eq!(problem.initial[..3], [Range::exactly(1), Range::exactly(0), Range::ANY]);
    let [lock, unlock, spawn, all] = problem.net.transitions.as_slice() else { panic!() };
    assert_eq!((&lock.consume, &lock.produce), (&marking([(0, 1), (2, 1)]), &marking([(1, 1), (3, 1)])));
    // The thread that moves is not moved again.
    assert_eq!(unlock.fire(&marking([(1, 1), (3, 1), (2, 5)])), Some(marking([(0, 1), (4, 6)])));
    assert_eq!(spawn.fire(&marking([(0, 1), (4, 1)])), Some(marking([(0, 1), (2, 1), (4, 1)])));
    assert_eq!(all.fire(&marking([(1, 1), (4, 3)])), Some(marking([(0, 1), (2, 3)])));
    assert_eq!(problem.targets, [marking([(1, 1), (3, 2)])]);
}

#[test]
fn names_with_dots_and_colons_are_read() {
    let problem = good(READERS[1].0, READERS[1].1);
    assert_eq!(problem.net.places, ["a.b", "c:d", "e"]);
    assert_eq!(problem.lowest_initial(), marking([(0, 2), (2, 1)]));
    let [t, u] = problem.net.transitions.as_slice() else { panic!() };
    assert_eq!((&t.consume, &t.produce), (&marking([(0, 1), (2, 1)]), &marking([(1, 3)])));
    assert_eq!((&u.consume, &u.produce), (&marking([]), &marking([(2, 1)])));
}

#[test]
fn arcs_of_places_and_of_transitions_add_up() {
    let problem = good(READERS[2].0, READERS[2].1);
    assert_eq!(problem.net.places, ["p", "q", "the end", "r"]);
    let [t, u] = problem.net.transitions.as_slice() else { panic!() };
    assert_eq!(t.consume, marking([(0, 2), (1, 1)]));
    assert_eq!(t.produce, marking([(1, 1), (2, 1), (3, 2)]));
    assert_eq!((&u.consume, &u.at_most), (&marking([(3, 2)]), &vec![(0, 1)]));
    assert_eq!(problem.lowest_initial(), marking([(0, 2), (3, 1000)]));
}

#[test]
fn a_place_named_twice_has_weight_two() {
    let problem = good(READERS[3].0, READERS[3].1);
    assert_eq!(problem.net.places, ["i", "o"]);
    assert_eq!(problem.net.transitions[0].consume, marking([(0, 2)]));
}

#[test]
fn mistakes_have_a_place() {
    let check = |reader: usize, text: &str, expected: &str| {
        let found = read(READERS[reader].0, text).1;
        assert!(found.iter().any(|message| message == expected), "{text}\n{found:#?}");
    };
    check(0, "", "there is nothing in this file");
    check(0, "2", "1:1 expected two numbers");
    check(0, "0 1", "1:1 there is at least one shared and one local state");
    check(0, "99999999 1", "1:1 there are too many states");
    check(0, "99999999999999999999 1", "1:1 this number is too large");
    check(0, "2 2\n0 0 -> 2 1", "2:8 there is no shared state 2");
    check(0, "2 2\n0 0 -> 1", "2:1 this is not a whole rule");
    check(0, "2 2\n0 0 => 1 1", "2:5 `=>` is no arrow");
    check(0, "2 2\n0 x -> 1 1", "2:3 `x` is not a number");
    check(0, "2 2\n0 0 -> 1 1 0 ~> 1 0 ~> 0", "2:1 threads of local state 0 are moved to two states");
    check(0, "2 2\n0|2", "2:3 there is no local state 2");
    check(0, "2 2\n0|x", "2:3 `x` is not a number");
    check(1, "", "1:1 expected `PLACE`, but the file ends");
    check(1, "PLACE a; MARKING b: 1;", "1:18 there is no place `b`");
    check(1, "PLACE a; MARKING a: 99999999999;", "1:18 this number is too large");
    check(1, "PLACE a, a; MARKING ;", "1:10 the place `a` is declared twice");
    check(1, "PLACE a; MARKING a: x;", "1:18 `x` is not a number");
    check(1, "PLACE a; TRANSITION t PRODUCE a;", "1:23 expected `CONSUME`");
    check(1, "PLACE a; TRANSITION t CONSUME a PRODUCE a;", "1:33 expected `;`");
    check(1, "PLACE a; { b", "1:10 this comment does not end");
    check(2, "pl p (", "1:7 expected a number, but the file ends");
    check(2, "tr t [1,2] p -> q", "1:6 times are not supported");
    check(2, "pr t > u", "1:1 priorities are not supported");
    check(2, "tr t p!1 -> q", "1:7 stopwatches are not supported");
    check(2, "tr t p -> q?1", "1:13 an arc of this kind leads from a place to a transition");
    check(2, "pl p (5000M)", "1:7 this number is too large");
    check(2, "xx", "1:1 expected `net`, `pl` or `tr`");
    check(2, "", "there is no place in this file");
    check(3, "place", "1:6 expected the name of a place, but the file ends");
    check(3, "place \"a", "1:7 `\"` is missing behind this name");
    check(3, "place a; trans t in b out a;", "1:21 there is no place `b`");
    check(3, "place a init x;", "1:14 expected a number");
    check(3, "place a; trans t in a out a; trans t in a out a;", "1:36 the transition `t` is declared twice");
}

/// A text that is wrong everywhere gets a hundred errors, and not a hundred thousand.
#[test]
fn mistakes_have_an_end() {
    let many = |line: &str| line.repeat(5000);
    for (reader, text) in [
        (0, format!("2 2\n{}", many("0 7 -> 1 1\n"))),
        (1, format!("PLACE a; MARKING ; {}", many("TRANSITION t CONSUME z; PRODUCE z;\n"))),
        (2, many("xx\n")),
        (3, many("place ;")),
    ] {
        let count = read(READERS[reader].0, &text).1.len();
        assert!((100..=103).contains(&count), "{count}");
    }
}

fn small() -> Net {
    let transition = |name: &str, consume| Transition { name: name.into(), consume, ..Transition::default() };
    let transitions = vec![transition("t", marking([(0, 1)])), transition("u", marking([(1, 2), (2, 1)]))];
    Net { places: vec!["a".into(), "b.c".into(), "d".into()], transitions }
}

fn ask(text: &str, wanted: Option<&str>) -> (Vec<preempt_net::NetProperty>, Vec<String>) {
    let (net, mut map) = (small(), SourceMap::new());
    let id = map.add("x", text);
    let (found, diagnostics) = query::read_within(&net, id, text, wanted, &Budget::unlimited());
    for diagnostic in &diagnostics {
        assert!(diagnostic.span.is_none_or(|span| span.end as usize <= text.len()), "{diagnostic:?}");
    }
    (found, diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
}

#[test]
fn properties_are_written_as_text() {
    let targets = |text: &str| {
        let (found, mistakes) = ask(text, None);
        assert!(mistakes.is_empty() && found.len() == 1, "{text}: {mistakes:?}");
        let mut targets = found[0].targets().to_vec();
        targets.sort();
        targets
    };
    assert_eq!(targets("EF (a >= 1 AND b.c > 1)"), [marking([(0, 1), (1, 2)])]);
    assert_eq!(targets("FORMULA (a > 1 OR d >= 3)"), [marking([(0, 2)]), marking([(2, 3)])]);
    assert_eq!(targets("AG (2 * a + 3 <= 6)"), [marking([(0, 2)])]);
    assert_eq!(targets("ALLPATH ALWAYS a < 4"), [marking([(0, 4)])]);
    assert_eq!(targets("NOT EF a > 0"), [marking([(0, 1)])]);
    assert_eq!(targets("AG (a >= 1 -> FALSE)"), [marking([(0, 1)])]);
    assert_eq!(targets("EF FIREABLE(u)"), [marking([(1, 2), (2, 1)])]);
    assert_eq!(targets("AG DEADLOCK").len(), 2);
    assert_eq!(targets("AG ONESAFE").len(), 3);
    let text = "PROPERTY one: EF a = 1; PROPERTY \"two\" EF (a >= 1 || d != 0); EF (a - 1 > d)";
    let (found, mistakes) = ask(text, None);
    assert!(mistakes.is_empty(), "{mistakes:?}");
    assert_eq!(found.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["one", "two", "3"]);
    assert!(
        matches!(found[0].question, Question::Reach(_)) && matches!(found[2].question, Question::Reach(_))
    );
    assert_eq!(ask(text, Some("two")).0.len(), 1);
    assert_eq!(ask(text, Some("four")).1, ["there is no property `four`"]);
    assert_eq!(ask("", None).1, ["there is no property in this file"]);
}

#[test]
fn one_property_that_is_wrong_does_not_spoil_another() {
    let (found, mistakes) =
        ask("EF (a >= ; EF zz > 1; AF a > 1; EF a > 1; EF a < b < 3; EF 99999999999 > a", None);
    let reasons: Vec<Option<&str>> = found.iter().map(|it| it.unsupported()).collect();
    assert_eq!(
        reasons,
        [
            Some("expected a place or a number"),
            Some("there is no place `zz`"),
            Some("this formula is not about reachability"),
            None,
            Some("there is no place `b`"),
            Some("this number is too large")
        ]
    );
    assert_eq!(mistakes.len(), 5);
    let deep = format!("EF {}a > 1", "NOT ".repeat(100_000));
    assert_eq!(ask(&deep, None).1, ["formulas are nested too deeply"]);
    let deep = format!("EF {}a > 1", "(".repeat(100_000));
    assert_eq!(ask(&deep, None).1, ["formulas are nested too deeply"]);
}

#[test]
fn targets_of_a_system_stand_in_a_file() {
    let problem = good(READERS[0].0, "2 3\n0 0 -> 1 1\n");
    let text = "1|1,1\n0|7\n 1 | # no thread at all\n";
    let mut map = SourceMap::new();
    let id = map.add("x.prop", text);
    let (found, told) = property::read_within(&problem.net, id, text, None, &Budget::unlimited());
    assert_eq!(found[0].targets(), [marking([(1, 1), (3, 2)])]);
    assert_eq!(found[1].unsupported(), Some("there is no local state 7"));
    assert_eq!(found[2].targets(), [marking([(1, 1)])]);
    assert_eq!(told.len(), 1);
}

fn random_tested(rng: &mut Rng) -> Problem {
    let places = 3;
    let mut transitions = Vec::new();
    for number in 0..2 + rng.below(4) {
        let mut transition = Transition { name: format!("t{number}"), ..Transition::default() };
        for place in 0..places {
            if rng.below(2) == 0 {
                transition.consume.set(place, rng.below_u64(2));
                transition.produce.set(place, rng.below_u64(2));
            }
            if rng.below(4) == 0 {
                transition.at_most.push((place, rng.below_u64(3)));
            }
            if rng.below(5) == 0 {
                let to = if rng.below(2) == 0 { Vec::new() } else { vec![rng.below(3) as u32] };
                transition.moves.push(Move { from: place, to });
            }
        }
        transitions.push(transition);
    }
    let net = Net { places: vec!["a".into(), "b".into(), "c".into()], transitions };
    let initial = (0..places).map(|_| Range::exactly(rng.below_u64(3))).collect();
    Problem { net, initial, targets: Vec::new(), spans: Vec::new() }
}

/// Everything that can be reached with few tokens, on the first three places. Was anything cut?
fn reached(problem: &Problem) -> (BTreeSet<Marking>, bool) {
    let mut seen = BTreeSet::from([problem.lowest_initial()]);
    let (mut open, mut cut) = (vec![problem.lowest_initial()], false);
    while let Some(marking) = open.pop() {
        for after in problem.net.transitions.iter().filter_map(|transition| transition.fire(&marking)) {
            if (0..3).any(|place| after.get(place) > 6) {
                cut = true;
            } else if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    (seen.iter().map(|it| it.iter().filter(|(place, _)| *place < 3).collect()).collect(), cut)
}

/// A complement changes nothing that can be reached, and is the place's bound minus its tokens.
#[test]
fn complements_are_exact() {
    let mut rng = Rng::new(0xC0);
    let (mut complemented, mut monotone) = (0, 0);
    for _ in 0..3000 {
        let problem = random_tested(&mut rng);
        let mut with = problem.clone();
        complement(&mut with, &mut |_| None);
        complemented += usize::from(with.net.places.len() > 3);
        monotone += usize::from(!problem.net.is_monotone() && with.net.is_monotone());
        assert_eq!(reached(&problem), reached(&with), "{problem:?}\n{with:?}");
    }
    assert!(complemented > 300 && monotone > 100, "{complemented} {monotone}");
}
