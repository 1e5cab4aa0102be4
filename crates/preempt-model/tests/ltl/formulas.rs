//! Formulas that the literature measures translations with, and how many states their automata, and those of their
//! negations, may have.

/// Formula, states, states of the negation.
pub type Row = (&'static str, usize, usize);

/// The simplest ones; the lists of Etessami and Holzmann (CONCUR 2000) and of Somenzi and Bloem (CAV 2000).
pub const CLASSIC: &[Row] = &[
    ("true", 9, 9),
    ("p", 9, 9),
    ("[]p", 9, 9),
    ("<>p", 9, 9),
    ("X p", 9, 9),
    ("p W q", 9, 9),
    ("p V q", 9, 9),
    ("[]<>p", 9, 9),
    ("<>[]p", 9, 9),
    ("[]<>p && []<>q", 9, 9),
    ("p U (q && []r)", 9, 9),
    ("p U (q && X(r U s))", 9, 9),
    ("p U (q && X(r && <>(s && X(<>(t && X(<>(u && X<>v)))))))", 9, 9),
    ("<>(p && X[]q)", 9, 9),
    ("<>(p && X(q && X<>r))", 9, 9),
    ("<>(q && X(p U r))", 9, 9),
    ("<>[]q || <>[]p", 9, 9),
    ("[](p -> (q U r))", 9, 9),
    ("<>(p && X<>(q && X<>(r && X<>s)))", 9, 9),
    ("[]<>p && []<>q && []<>r && []<>s && []<>t", 9, 9),
    ("(p U (q U r)) || (q U (r U p)) || (r U (p U q))", 9, 9),
    ("[](p -> (q U ([]r || []s)))", 9, 9),
    ("p U q", 9, 9),
    ("p U (q U r)", 9, 9),
    ("[]<>p -> []<>q", 9, 9),
    ("<>p U []q", 9, 9),
    ("[]p U q", 9, 9),
    ("<><>p <-> <>p", 9, 9),
    ("[]<>p <-> []<>q", 9, 9),
    ("p V (p || q)", 9, 9),
    ("(X p U X q) || !X(p U q)", 9, 9),
    ("(X p U q) || !X(p U (p && q))", 9, 9),
    ("[](p -> <>q) && ((X p U q) || !X(p U (p && q)))", 9, 9),
    ("[](p -> <>q) && ((X p U X q) || !X(p U q))", 9, 9),
    ("[](p -> <>q)", 9, 9),
    ("[](p -> X(q V r))", 9, 9),
    ("[]<>p || <>[]p", 9, 9),
    ("[](<>p && <>q)", 9, 9),
    ("<>p && <>!p", 9, 9),
    ("(X q && r) V X(((s U p) V r) U (s V r))", 9, 9),
    ("([](q || []<>p) && [](r || []<>!p)) || []q || []r", 9, 9),
    ("([](q || <>[]p) && [](r || <>[]!p)) || []q || []r", 9, 9),
    ("[](q || X[]p) && [](r || X[]!p)", 9, 9),
    ("[](q || (X p && X!p))", 9, 9),
    ("(p U p) || (q U p)", 9, 9),
];

/// The specification patterns of Dwyer, Avrunin and Corbett (FMSP 1998), in the order of their scopes: globally,
/// before `r`, after `q`, between `q` and `r`, after `q` until `r`.
pub const PATTERNS: &[Row] = &[
    // Absence.
    ("[]!p", 9, 9),
    ("<>r -> (!p U r)", 9, 9),
    ("[](q -> []!p)", 9, 9),
    ("[]((q && !r && <>r) -> (!p U r))", 9, 9),
    ("[]((q && !r) -> (!p W r))", 9, 9),
    // Existence.
    ("<>p", 9, 9),
    ("!r W (p && !r)", 9, 9),
    ("[]!q || <>(q && <>p)", 9, 9),
    ("[]((q && !r) -> (!r W (p && !r)))", 9, 9),
    ("[]((q && !r) -> (!r U (p && !r)))", 9, 9),
    // At most twice.
    ("!p W (p W (!p W (p W []!p)))", 9, 9),
    (
        "<>r -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r)))))))))",
        9,
        9,
    ),
    ("<>q -> (!q U (q && (!p W (p W (!p W (p W []!p))))))", 9, 9),
    (
        "[]((q && <>r) -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r))))))))))",
        9,
        9,
    ),
    (
        "[](q -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p W r) || []p)))))))))",
        9,
        9,
    ),
    // Universality.
    ("[]p", 9, 9),
    ("<>r -> (p U r)", 9, 9),
    ("[](q -> []p)", 9, 9),
    ("[]((q && !r && <>r) -> (p U r))", 9, 9),
    ("[]((q && !r) -> (p W r))", 9, 9),
    // Precedence.
    ("!p W s", 9, 9),
    ("<>r -> (!p U (s || r))", 9, 9),
    ("[]!q || <>(q && (!p W s))", 9, 9),
    ("[]((q && !r && <>r) -> (!p U (s || r)))", 9, 9),
    ("[]((q && !r) -> (!p W (s || r)))", 9, 9),
    // Response.
    ("[](p -> <>s)", 9, 9),
    ("<>r -> ((p -> (!r U (s && !r))) U r)", 9, 9),
    ("[](q -> [](p -> <>s))", 9, 9),
    ("[]((q && !r && <>r) -> ((p -> (!r U (s && !r))) U r))", 9, 9),
    ("[]((q && !r) -> ((p -> (!r U (s && !r))) W r))", 9, 9),
    // Two causes before one effect.
    ("<>p -> (!p U (s && !p && X(!p U t)))", 9, 9),
    ("<>r -> (!p U (r || (s && !p && X(!p U t))))", 9, 9),
    ("[]!q || (!q U (q && (<>p -> (!p U (s && !p && X(!p U t))))))", 9, 9),
    ("[]((q && <>r) -> (!p U (r || (s && !p && X(!p U t)))))", 9, 9),
    ("[](q -> (<>p -> (!p U (r || (s && !p && X(!p U t))))))", 9, 9),
    // One cause before two effects.
    ("<>(s && X<>t) -> (!s U p)", 9, 9),
    ("<>r -> (!(s && !r && X(!r U (t && !r))) U (r || p))", 9, 9),
    ("[]!q || (!q U (q && (<>(s && X<>t) -> (!s U p))))", 9, 9),
    ("[]((q && <>r) -> (!(s && !r && X(!r U (t && !r))) U (r || p)))", 9, 9),
    ("[](q -> ((!(s && !r && X(!r U (t && !r))) U (r || p)) || [](!(s && X<>t))))", 9, 9),
    // One effect of two causes.
    ("[]((s && X<>t) -> X(<>(t && <>p)))", 9, 9),
    ("<>r -> ((s && X(!r U t) -> X(!r U (t && <>p))) U r)", 9, 9),
    ("[](q -> []((s && X<>t) -> X(!t U (t && <>p))))", 9, 9),
    ("[]((q && <>r) -> ((s && X(!r U t) -> X(!r U (t && <>p))) U r))", 9, 9),
    (
        "[](q -> ((s && X(!r U t) -> X(!r U (t && <>p))) U (r || [](s && X(!r U t) -> X(!r U (t && <>p))))))",
        9,
        9,
    ),
    // Two effects of one cause.
    ("[](p -> <>(s && X<>t))", 9, 9),
    ("<>r -> ((p -> (!r U (s && !r && X(!r U t)))) U r)", 9, 9),
    ("[](q -> [](p -> (s && X<>t)))", 9, 9),
    ("[]((q && <>r) -> ((p -> (!r U (s && !r && X(!r U t)))) U r))", 9, 9),
    ("[](q -> ((p -> (!r U (s && !r && X(!r U t)))) U (r || [](p -> (s && X<>t)))))", 9, 9),
    // Two effects of one cause, without a third thing between them.
    ("[](p -> <>(s && !z && X(!z U t)))", 9, 9),
    ("<>r -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U r)", 9, 9),
    ("[](q -> [](p -> (s && !z && X(!z U t))))", 9, 9),
    ("[]((q && <>r) -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U r))", 9, 9),
    (
        "[](q -> ((p -> (!r U (s && !r && !z && X((!r && !z) U t)))) U (r || [](p -> (s && !z && X(!z U t))))))",
        9,
        9,
    ),
];
