use super::*;
use crate::fixtures::without_colour;
use preempt_core::{Expansion, ExpansionId, ExpansionKind, SourceId, Span};

/// The span of the n-th (from 0) occurrence of `needle`.
fn find(sources: &SourceMap, needle: &str, n: usize) -> Span {
    let text = &sources.source(SourceId(0)).text;
    let (start, _) = text.match_indices(needle).nth(n).unwrap();
    Span::new(SourceId(0), start as u32, (start + needle.len()) as u32)
}

fn sources(text: &str) -> SourceMap {
    let mut sources = SourceMap::new();
    sources.add("model.pml", text);
    sources
}

fn plain(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    render_diagnostics(diagnostics, sources, 80, Style::plain())
}

#[track_caller]
fn check(diagnostics: &[Diagnostic], sources: &SourceMap, want: &str) {
    let got = plain(diagnostics, sources);
    assert_eq!(got.trim_end(), want.trim_matches('\n').trim_end(), "\n{got}");
}

#[test]
fn an_error_shows_the_line_the_mark_the_other_place_and_the_hint() {
    let sources = sources("byte turn;\n\nactive proctype P() {\n\ttrun = 1\n}\n");
    let error = Diagnostic::error(find(&sources, "trun", 0), "unknown name `trun`")
        .note("not declared")
        .label(find(&sources, "turn", 0), "a similar name is declared here")
        .hint("did you mean `turn`?");
    check(
        &[error],
        &sources,
        "
error: unknown name `trun`
 --> model.pml:4:2
  |
1 | byte turn;
  |      ---- a similar name is declared here
...
4 |     trun = 1
  |     ^^^^ not declared
  |
  = help: did you mean `turn`?

1 error
",
    );
}

#[test]
fn several_are_in_the_order_of_the_text_with_the_whole_input_first() {
    let sources = sources("a b\nc\n");
    let list = [
        Diagnostic::warning(find(&sources, "c", 0), "third"),
        Diagnostic::error(find(&sources, "a", 0), "second"),
        Diagnostic::global_error("first").note("about everything"),
    ];
    check(
        &list,
        &sources,
        "
error: first
 |
 = note: about everything

error: second
 --> model.pml:1:1
  |
1 | a b
  | ^

warning: third
 --> model.pml:2:1
  |
2 | c
  | ^

2 errors, 1 warning
",
    );
}

#[test]
fn inside_nested_macros_the_use_is_shown_and_every_definition() {
    let mut sources = sources("#define INC(x) x = x + one\n#define TWICE INC(n); INC(n)\n\nTWICE\n");
    let (inc, twice) = (find(&sources, "INC", 0), find(&sources, "TWICE", 0));
    let outer = sources.add_expansion(Expansion {
        kind: ExpansionKind::Macro,
        name: "TWICE".into(),
        call: find(&sources, "TWICE", 1),
        definition: twice,
    });
    let inner = sources.add_expansion(Expansion {
        kind: ExpansionKind::Macro,
        name: "INC".into(),
        call: Span { expansion: outer, ..find(&sources, "INC(n)", 1) },
        definition: inc,
    });
    let error =
        Diagnostic::error(Span { expansion: inner, ..find(&sources, "one", 0) }, "unknown name `one`");
    check(
        &[error],
        &sources,
        "
error: unknown name `one`
 --> model.pml:4:1
  |
1 | #define INC(x) x = x + one
  |         --- `INC` is defined here
2 | #define TWICE INC(n); INC(n)
  |         -----         ------ in this use of macro `INC`
  |         |
  |         `TWICE` is defined here
3 |
4 | TWICE
  | ^^^^^ in this use of macro `TWICE`

1 error
",
    );
}

#[test]
fn inside_an_inline_the_body_is_shown_and_its_use() {
    let mut sources = sources("inline lock(m) {\n  m == 0;\n  own = 1\n}\ninit {\n  lock(a)\n}\n");
    let lock = sources.add_expansion(Expansion {
        kind: ExpansionKind::Inline,
        name: "lock".into(),
        call: find(&sources, "lock(a)", 0),
        definition: find(&sources, "lock", 0),
    });
    let error = Diagnostic::error(Span { expansion: lock, ..find(&sources, "own", 0) }, "unknown name `own`")
        .note("here");
    check(
        &[error],
        &sources,
        "
error: unknown name `own`
 --> model.pml:3:3
  |
1 | inline lock(m) {
  |        ---- `lock` is defined here
2 |   m == 0;
3 |   own = 1
  |   ^^^ here
...
6 |   lock(a)
  |   ------- in this use of inline `lock`

1 error
",
    );
}

#[test]
fn a_mark_in_another_file_has_its_own_snippet() {
    let mut sources = sources("#include \"b.pml\"\nint x;\n");
    let other = sources.add("b.pml", "int x;\n");
    let error = Diagnostic::error(find(&sources, "x", 0), "`x` is declared twice")
        .label(Span::new(other, 4, 5), "the first time");
    let text = plain(&[error], &sources);
    assert!(text.contains("--> model.pml:2:5"), "{text}");
    assert!(text.contains("::: b.pml:1:5"), "{text}");
}

#[test]
fn colour_adds_only_colour() {
    let sources = sources("a b\n");
    let list = [
        Diagnostic::error(find(&sources, "b", 0), "wrong").note("this").hint("mend it"),
        Diagnostic::warning(find(&sources, "a", 0), "odd"),
    ];
    let coloured = render_diagnostics(&list, &sources, 80, Style::coloured());
    assert!(coloured.contains("\x1b["));
    assert_eq!(without_colour(&coloured), plain(&list, &sources));
}

#[test]
fn spans_over_several_lines_and_at_the_end_of_the_file() {
    let sources = sources("do\n:: x\nod");
    let whole = Diagnostic::error(Span::new(SourceId(0), 0, 10), "this loop has no guard");
    let end =
        Diagnostic::error(Span::new(SourceId(0), 10, 10), "unexpected end of file").note("expected `;`");
    check(
        &[end, whole],
        &sources,
        "
error: this loop has no guard
 --> model.pml:1:1
  |
1 | / do
2 | | :: x
3 | | od
  | |__^

error: unexpected end of file
 --> model.pml:3:3
  |
3 | od
  |   ^ expected `;`

2 errors
",
    );
}

/// No span, however wrong, and no text, however odd, may bring the renderer down.
#[test]
fn every_span_of_every_odd_text_can_be_rendered() {
    let texts = [
        "",
        "\n",
        "\n\n",
        "x",
        "no final newline",
        "\ttabs\there\n\t\tand there\t",
        "äöü 漢字 e\u{301} 👩‍👩‍👧 \u{200b}\n  ü",
        "windows\r\nlines\r\n",
        "\r",
        "old\rmac\r",
        "\u{feff}x = 1\n",
        "nul \0 and \x1b[31m escape\x07\n",
        "a\n\n\n\n\n\n\n\n\n\n\nb",
    ];
    for text in texts {
        let sources = sources(text);
        let ends: Vec<u32> = (0..=text.len() as u32 + 2).chain([u32::MAX]).collect();
        for &start in &ends {
            for &end in &ends {
                let span = Span::new(SourceId(0), start, end);
                let error = Diagnostic::error(span, "wrong")
                    .note("here")
                    .label(Span::new(SourceId(0), end, start), "x");
                for style in [Style::plain(), Style::coloured()] {
                    assert!(
                        render_diagnostics(std::slice::from_ref(&error), &sources, 80, style)
                            .contains("wrong")
                    );
                }
            }
        }
    }
}

/// The same with everything at random: several labels, expansions of expansions, ids from nowhere.
#[test]
fn random_diagnostics_of_random_texts_can_be_rendered() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: u32| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as u32 % below
    };
    let pieces = ["a", "\n", "\t", "ü", "漢", "\r\n", " ", "do", "\u{301}", "\u{7}", "x = 1;"];
    for _ in 0..3000 {
        let text: String = (0..random(30)).map(|_| pieces[random(pieces.len() as u32) as usize]).collect();
        let mut sources = sources(&text);
        sources.add("other.h", "one\ntwo");
        let mut span = |expansions| Span {
            expansion: ExpansionId(random(expansions)),
            ..Span::new(SourceId(random(3)), random(80), random(80))
        };
        for i in 1..4 {
            let kind = if i % 2 == 0 { ExpansionKind::Macro } else { ExpansionKind::Inline };
            let expansion = Expansion { kind, name: "M".into(), call: span(i), definition: span(i) };
            sources.add_expansion(expansion);
        }
        let error =
            Diagnostic::error(span(5), "wrong").note("n").label(span(5), "l").label(span(5), "k").hint("h");
        assert!(plain(&[error], &sources).contains("wrong"), "{text:?}");
    }
}

#[test]
fn of_very_many_the_errors_are_shown() {
    let sources = sources("a\n");
    let mut list = vec![Diagnostic::warning(Span::new(SourceId(0), 0, 1), "odd"); 100];
    list.push(Diagnostic::error(Span::new(SourceId(0), 1, 1), "wrong"));
    let text = plain(&list, &sources);
    assert!(
        text.contains("error: wrong") && text.ends_with("1 error, 100 warnings (50 are shown)\n"),
        "{text}"
    );
}

#[test]
fn a_very_long_line_is_cut_around_the_mark() {
    let text = format!("{}mark{}", "x".repeat(100_000), "y".repeat(100_000));
    let sources = sources(&text);
    let error = Diagnostic::error(find(&sources, "mark", 0), "wrong");
    let text = plain(&[error], &sources);
    assert!(text.contains("mark") && text.len() < 1000, "{} bytes", text.len());
}

#[test]
fn spans_of_unknown_sources_and_cyclic_expansions_are_survived() {
    let mut sources = sources("abc\n");
    let foreign = Span::new(SourceId(7), 0, 3);
    assert!(
        plain(&[Diagnostic::error(foreign, "somewhere else").hint("h")], &sources).contains("somewhere else")
    );
    let inside = Span { expansion: ExpansionId(1), ..find(&sources, "b", 0) };
    let cyclic = sources.add_expansion(Expansion {
        kind: ExpansionKind::Inline,
        name: "loop".into(),
        call: inside,
        definition: find(&sources, "a", 0),
    });
    assert_eq!(cyclic, ExpansionId(1));
    assert!(plain(&[Diagnostic::error(inside, "round and round")], &sources).contains("inline `loop`"));
}
