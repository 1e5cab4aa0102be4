"""Tables 2 to 4 and Fig. 11: what is explored up to the first error, and how good the counterexample is."""
from shared.plots import bars
from shared.tables import table
from verbs.paper_000.measure import FIRST_ERROR, SHOWN_ERRORS, shown


def error_tables(get, errors, folder):
    if not errors:
        return []
    head = ["model", "BFS", "DFS", *(f"L{bound}" for bound in FIRST_ERROR), "fewest", "PO"]
    text = []
    for number, what, title in (("2", "states", "States"), ("3", "transitions", "Transitions")):
        rows = []
        for name in errors:
            of = lambda cell: "-" if cell and cell["verdict"] == "holds" else shown(cell, what)
            rows.append(
                [name, of(get(name, "breadth")), of(get(name, "full"))]
                + [of(get(name, "context", bound)) for bound in FIRST_ERROR]
                + [of(get(name, "fewest")), "-"]
            )
            rows.append(["", "", of(get(name, "strong"))] + [of(get(name, "paper", bound)) for bound in FIRST_ERROR] + ["", "+"])
        text += [f"## Table {number}: {title.lower()} explored up to the first error", ""]
        if what == "states":
            text += [
                "`--search breadth-first`, `--search depth-first` (`--reduction none`, below `strong`), `--search "
                "context-bounded --bound N` (below with `--reduction paper`), and the default search with `--reduction none`. "
                "worst_case_10 is the paper's Appendix C with the assertion in the processes; of its model the paper has 59,058 "
                "states and 378,941 transitions by depth-first search.",
                "",
            ]
        text += table(head, rows)
    rows = []
    quality = {}
    for name in errors:
        of = lambda cell: f"{cell['switches']:,}/{cell['preemptions']:,}" if cell and "switches" in cell else shown(cell, "switches")
        kinds = [("full", "context", "-/-"), ("strong", "paper", "+/-"), ("full-reach", "context-reach", "-/+"), (None, "paper-reach", "+/+")]
        for plain, key, label in kinds:
            first = label == "-/-"
            row = [name if first else "", of(get(name, "breadth")) if first else ""]
            row.append(of(get(name, plain)) if plain else "n/a")
            row += [of(get(name, key, bound)) for bound in FIRST_ERROR]
            rows.append([*row, of(get(name, "fewest")) if first else "", label])
        if name in SHOWN_ERRORS:
            best = lambda key: [(get(name, key, bound) or {}).get("switches") for bound in FIRST_ERROR]
            least = lambda found: min((it for it in found if it is not None), default=None)
            quality[name] = {
                "BFS": get(name, "breadth").get("switches"),
                "DFS": get(name, "full").get("switches"),
                "DFS-i": (get(name, "full-reach") or {}).get("switches"),
                "bounded": least(best("context")),
                "bounded, reduced": least(best("paper")),
                "bounded-i": least(best("context-reach")),
                "reduced-i": least(best("paper-reach")),
                "fewest": get(name, "fewest").get("switches"),
            }
    bars(f"{folder}/fig11.svg", "Context switches in the counterexample", "context switches", quality)
    return text + [
        "## Table 4: context switches in the counterexample",
        "",
        "All switches / those that are preemptions. REACH is `--iterative-shortening`: the search goes on after an error, "
        "for shorter runs only. The trace of the reduced search is shown with its steps in their cheapest order, so its "
        "numbers are those of that order. There is no row of depth-first search with both.",
        "",
        *table(["model", "BFS", "DFS", *(f"L{bound}" for bound in FIRST_ERROR), "fewest", "PO/REACH"], rows),
        "## Fig. 11: quality of counterexamples",
        "",
        "Of each bounded search the best over the bounds; `-i` is with `--iterative-shortening`.",
        "",
        "![Fig. 11](paper-000/fig11.svg)",
        "",
    ]
