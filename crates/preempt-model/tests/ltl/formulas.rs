//! Formulas that the literature measures translations with, and how many states their automata, and those of their
//! negations, may have.

/// Formula, states, states of the negation.
pub type Row = (&'static str, usize, usize);

/// The simplest ones; the lists of Etessami and Holzmann (CONCUR 2000) and of Somenzi and Bloem (CAV 2000).
pub const CLASSIC: &[Row] = &[
    ("true", 1, 1),
    ("p", 2, 2),
    ("[]p", 1, 2),
    ("<>p", 2, 1),
    ("X p", 3, 3),
    ("p W q", 2, 2),
    ("p V q", 2, 2),
    ("[]<>p", 2, 2),
    ("<>[]p", 2, 2),
    ("[]<>p && []<>q", 3, 3),
    ("p U (q && []r)", 2, 4),
    ("p U (q && X(r U s))", 3, 4),
    ("p U (q && X(r && <>(s && X(<>(t && X(<>(u && X<>v)))))))", 7, 8),
    ("<>(p && X[]q)", 2, 3),
    ("<>(p && X(q && X<>r))", 4, 3),
    ("<>(q && X(p U r))", 3, 2),
    ("<>[]q || <>[]p", 3, 3),
    ("[](p -> (q U r))", 2, 3),
    ("<>(p && X<>(q && X<>(r && X<>s)))", 5, 4),
    ("[]<>p && []<>q && []<>r && []<>s && []<>t", 6, 6),
    ("(p U (q U r)) || (q U (r U p)) || (r U (p U q))", 2, 2),
    ("[](p -> (q U ([]r || []s)))", 4, 8),
    ("p U q", 2, 2),
    ("p U (q U r)", 3, 3),
    ("[]<>p -> []<>q", 4, 3),
    ("<>p U []q", 3, 3),
    ("[]p U q", 4, 3),
    ("<><>p <-> <>p", 1, 1),
    ("[]<>p <-> []<>q", 5, 5),
    ("p V (p || q)", 2, 2),
    ("(X p U X q) || !X(p U q)", 1, 1),
    ("(X p U q) || !X(p U (p && q))", 4, 1),
    ("[](p -> <>q) && ((X p U q) || !X(p U (p && q)))", 6, 2),
    ("[](p -> <>q) && ((X p U X q) || !X(p U q))", 2, 2),
    ("[](p -> <>q)", 2, 2),
    ("[](p -> X(q V r))", 2, 3),
    ("[]<>p || <>[]p", 2, 2),
    ("[](<>p && <>q)", 3, 3),
    ("<>p && <>!p", 4, 3),
    ("(X q && r) V X(((s U p) V r) U (s V r))", 5, 4),
    ("([](q || []<>p) && [](r || []<>!p)) || []q || []r", 6, 10),
    ("([](q || <>[]p) && [](r || <>[]!p)) || []q || []r", 3, 10),
    ("[](q || X[]p) && [](r || X[]!p)", 3, 4),
    ("[](q || (X p && X!p))", 1, 2),
    ("(p U p) || (q U p)", 2, 2),
];

/// The specification patterns of Dwyer, Avrunin and Corbett (FMSP 1998), in the order of their scopes: globally,
/// before `r`, after `q`, between `q` and `r`, after `q` until `r`.
pub const PATTERNS: &[Row] = &[
    // Absence.
    ("[]!p", 1, 2),
    ("<>r -> (!p U r)", 4, 3),
    ("[](q -> []!p)", 2, 3),
    ("[]((q && !r && <>r) -> (!p U r))", 3, 4),
    ("[]((q && !r) -> (!p W r))", 2, 3),
    // Existence.
    ("<>p", 2, 1),
    ("!r W (p && !r)", 2, 2),
    ("[]!q || <>(q && <>p)", 5, 2),
    ("[]((q && !r) -> (!r W (p && !r)))", 2, 3),
    ("[]((q && !r) -> (!r U (p && !r)))", 2, 3),
    // At most twice.
    ("!p W (p W (!p W (p W []!p)))", 5, 6),
    (
        "<>r -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r)))))))))",
        8,
        7,
    ),
    ("<>q -> (!q U (q && (!p W (p W (!p W (p W []!p))))))", 8, 7),
    (
        "[]((q && <>r) -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r))))))))))",
        10,
        8,
    ),
    (
        "[](q -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p W r) || []p)))))))))",
        9,
        7,
    ),
    // Universality.
    ("[]p", 1, 2),
    ("<>r -> (p U r)", 4, 3),
    ("[](q -> []p)", 2, 3),
    ("[]((q && !r && <>r) -> (p U r))", 3, 4),
    ("[]((q && !r) -> (p W r))", 2, 3),
    // Precedence.
    ("!p W s", 2, 2),
    ("<>r -> (!p U (s || r))", 4, 3),
    ("[]!q || <>(q && (!p W s))", 5, 3),
    ("[]((q && !r && <>r) -> (!p U (s || r)))", 3, 4),
    ("[]((q && !r) -> (!p W (s || r)))", 2, 3),
    // Response.
    ("[](p -> <>s)", 2, 2),
    ("<>r -> ((p -> (!r U (s && !r))) U r)", 5, 3),
    ("[](q -> [](p -> <>s))", 3, 3),
    ("[]((q && !r && <>r) -> ((p -> (!r U (s && !r))) U r))", 4, 4),
    ("[]((q && !r) -> ((p -> (!r U (s && !r))) W r))", 3, 4),
    // Two causes before one effect.
    ("<>p -> (!p U (s && !p && X(!p U t)))", 5, 3),
    ("<>r -> (!p U (r || (s && !p && X(!p U t))))", 5, 4),
    ("[]!q || (!q U (q && (<>p -> (!p U (s && !p && X(!p U t))))))", 7, 4),
    ("[]((q && <>r) -> (!p U (r || (s && !p && X(!p U t)))))", 7, 5),
    ("[](q -> (<>p -> (!p U (r || (s && !p && X(!p U t))))))", 7, 4),
    // One cause before two effects.
    ("<>(s && X<>t) -> (!s U p)", 5, 3),
    ("<>r -> (!(s && !r && X(!r U (t && !r))) U (r || p))", 6, 4),
    ("[]!q || (!q U (q && (<>(s && X<>t) -> (!s U p))))", 7, 4),
    ("[]((q && <>r) -> (!(s && !r && X(!r U (t && !r))) U (r || p)))", 6, 5),
    ("[](q -> ((!(s && !r && X(!r U (t && !r))) U (r || p)) || [](!(s && X<>t))))", 7, 4),
    // One effect of two causes.
    ("[]((s && X<>t) -> X(<>(t && <>p)))", 7, 3),
    ("<>r -> ((s && X(!r U t) -> X(!r U (t && <>p))) U r)", 9, 4),
    ("[](q -> []((s && X<>t) -> X(!t U (t && <>p))))", 8, 4),
    ("[]((q && <>r) -> ((s && X(!r U t) -> X(!r U (t && <>p))) U r))", 13, 5),
    (
        "[](q -> ((s && X(!r U t) -> X(!r U (t && <>p))) U (r || [](s && X(!r U t) -> X(!r U (t && <>p))))))",
        19,
        4,
    ),
    // Two effects of one cause.
    ("[](p -> <>(s && X<>t))", 5, 3),
    ("<>r -> ((p -> (!r U (s && !r && X(!r U t)))) U r)", 6, 4),
    ("[](q -> [](p -> (s && X<>t)))", 4, 4),
    ("[]((q && <>r) -> ((p -> (!r U (s && !r && X(!r U t)))) U r))", 5, 5),
    ("[](q -> ((p -> (!r U (s && !r && X(!r U t)))) U (r || [](p -> (s && X<>t)))))", 7, 9),
    // Two effects of one cause, without a third thing between them.
    ("[](p -> <>(s && !z && X(!z U t)))", 5, 3),
    ("<>r -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U r)", 7, 4),
    ("[](q -> [](p -> (s && !z && X(!z U t))))", 4, 4),
    ("[]((q && <>r) -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U r))", 6, 5),
    (
        "[](q -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U (r || [](p -> (s && !z && X(!z U t))))))",
        8,
        13,
    ),
];
