//! Woflan's `.tpn`: `place "i" init 1;` and `trans "t" in "a" out "b" "c";`. A place that is named twice by an arc has weight two.

use crate::builder::Builder;
use crate::marking::Marking;
use crate::problem::Problem;
use crate::scan::{self, Cursor, Lexis, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId};

const LEXIS: Lexis = Lexis {
    comments: &[("--", "\n")],
    quotes: &[('"', '"')],
    in_word: |letter| letter.is_alphanumeric() || "_.#/-:".contains(letter),
    lines: false,
};

/// Reads a net; its targets come from a file of properties. The problem is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::tpn;
///
/// let text = "place \"in\" init 1; place \"out\"; trans \"work\" in \"in\" out \"out\";";
/// let (problem, mistakes) = tpn::read_within(SourceMap::new().add("net.tpn", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!((problem.net.places.len(), problem.net.transitions[0].name.as_str()), (2, "work"));
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tokens = scan::tokens(source, text, &LEXIS, &mut diagnostics);
    let mut builder = Builder::new();
    let mut cursor = Cursor::new(&tokens, &mut diagnostics);
    let mut counted = 0;
    while cursor.peek().0 != Token::End {
        if budget.exhausted().is_some() {
            cursor.diagnostics.push(crate::stopped());
            break;
        }
        if crate::too_many_mistakes(cursor.diagnostics, &mut counted) {
            break;
        }
        if statement(&mut cursor, &mut builder).is_err() {
            cursor.skip_until(|token| token == Token::Sign(';'));
        }
        cursor.accept_sign(';');
    }
    if builder.problem.net.places.is_empty() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::global_error("there is no place in this file"));
    }
    (builder.problem, diagnostics)
}

fn statement(cursor: &mut Cursor<'_, '_>, builder: &mut Builder) -> Read<()> {
    let start = cursor.peek().1;
    if cursor.accept_word("place") {
        let (name, span) = cursor.name("the name of a place")?;
        let place = builder.declare(name, span, cursor.diagnostics);
        if cursor.accept_word("init") {
            let tokens = cursor.number()?;
            builder.add_tokens(place, tokens);
        }
    } else if cursor.accept_word("trans") {
        let (name, span) = cursor.name("the name of a transition")?;
        if cursor.accept_sign('~') {
            cursor.name("what the transition stands for")?;
        }
        let consume = arcs(cursor, builder, "in")?;
        let produce = arcs(cursor, builder, "out")?;
        let (number, twice) = builder.transition(name, start.to(cursor.last()));
        if twice {
            return Err(cursor.error(span, format!("the transition `{name}` is declared twice"), None));
        }
        let transition = &mut builder.problem.net.transitions[number];
        (transition.consume, transition.produce) = (consume, produce);
    } else {
        return cursor.expected(
            "`place` or `trans`",
            Some("as in `place \"p\" init 1;` or `trans \"t\" in \"p\" out \"q\";`"),
        );
    }
    match cursor.peek().0 {
        Token::Sign(';') => Ok(()),
        _ => cursor.expected("`;`", None),
    }
}

fn arcs(cursor: &mut Cursor<'_, '_>, builder: &Builder, word: &str) -> Read<Marking> {
    let mut arcs = Vec::new();
    if cursor.accept_word(word) {
        while !cursor.is_word("out") && matches!(cursor.peek().0, Token::Word(_) | Token::Quoted(_)) {
            let (name, span) = cursor.name("the name of a place")?;
            arcs.extend(builder.known(name, span, cursor.diagnostics).map(|place| (place, 1)));
        }
    }
    Ok(Marking::from_pairs(arcs))
}
