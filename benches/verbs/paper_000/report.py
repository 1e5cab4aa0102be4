"""The tables and figures of paper 000, from the cells that were measured."""
from shared.plots import lines
from shared.tables import table
from verbs.paper_000.errors import error_tables
from verbs.paper_000.measure import BOUNDS, SHOWN, finished, shown, within


def report(cells, sizes, errors, folder, options):
    get = cells.get
    text = [
        "# Paper 000 on our models",
        "",
        f"Made by `benches/run paper-000 --limit {options.limit:g}`, which has the list of the models and of everything that "
        "is run; `cells.json` next to the plots has every number. The paper's models are not all public, so these are our "
        "own, smaller ones, and only the shape of its tables is to be compared. Times are seconds of the processor on a "
        f"machine that was busy with other work; `> limit` is a cell that took more than {options.limit:g} of them, `-` is no error found, "
        "`n/a` is not offered. Spin is 6.5.2, `spin -o1 -o2 -o3 -a`, `gcc -O2 -DSAFETY -DNOCLAIM`.",
        "",
    ]
    text += summary(get, sizes)
    text += table1(get, sizes)
    text += naive(get, sizes)
    text += spin_table(get, sizes)
    text += costs(get, sizes)
    text += figures_7_to_10(get, sizes, folder)
    text += bitstate(get, sizes)
    text += error_tables(get, errors, folder)
    return "\n".join(text)


def summary(get, sizes):
    if not sizes:
        return []
    count = len(sizes)
    everything = lambda bound: sum(within(get(n, "fewest"), bound, "states") == get(n, "full")["states"] for n in sizes)
    text = [
        f"- **Few preemptions reach everything.** Of {count} models, {everything(4)} have all their states within a bound of "
        f"4, {everything(8)} within 8, {everything(16)} within 16, as the paper found.",
    ]
    for bound in (8, 16):
        ratios = {}
        for name in sizes:
            cell = get(name, "context", bound)
            if finished(cell):
                ratios[name] = cell["transitions"] / within(get(name, "fewest"), bound, "transitions")
        least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
        text.append(
            f"- **Bound {bound}:** Fig. 3 executes {ratios[least]:.1f} ({least}) to {ratios[most]:.1f} ({most}) times the "
            "transitions of the search in the order of cost, for the same states and verdicts."
        )
    losses = []
    for name in sizes:
        for bound in BOUNDS:
            right = within(get(name, "fewest"), bound, "states")
            losses.append((get(name, "naive", bound)["states"] / right, name, bound, right))
    share, name, bound, right = min(losses)
    text.append(
        f"- **The naive search** (Fig. 2) at worst visits {share:.0%} of what lies within its bound: {name}, bound {bound}, "
        f"{get(name, 'naive', bound)['states']:,} of {right:,} states."
    )
    return text + [""]


def table1(get, sizes):
    head = ["model", "search", "full", *(f"L{bound}" for bound in BOUNDS)]
    rows, same = [], True
    for name in sizes:
        fewest = get(name, "fewest")
        context = [get(name, "context", bound) for bound in BOUNDS]
        rows.append([name, "context-bounded", shown(get(name, "full"), "states"), *(shown(it, "states") for it in context)])
        rows.append(["", "with reduction", shown(get(name, "strong"), "states")] + [shown(get(name, "paper", bound), "states") for bound in BOUNDS])
        exact = get(name, "exact")
        rows.append(["", "exact reduction", shown(exact, "states"), *(f"{within(exact, bound, 'states'):,}" for bound in BOUNDS)])
        for bound, cell in zip(BOUNDS, context):
            same &= cell["verdict"] == "inconclusive" or cell["states"] == within(fewest, bound, "states")
    return [
        "## Table 1: states",
        "",
        "`preempt check MODEL --property safety --search context-bounded --bound N` (Fig. 3), the same with `--reduction "
        "paper` (Fig. 5), and the default search with `--reduction exact`. The column *full* has `--search depth-first` "
        "with `--reduction none` and with `strong`, and the default search without a bound.",
        "",
        *table(head, rows),
        "The default search without reduction (`--reduction none`) has the states of Fig. 3 in "
        + ("every cell that was finished." if same else "NOT every cell: see cells.json."),
        "",
    ]


def naive(get, sizes):
    rows = []
    for name in sizes:
        row = []
        for bound in BOUNDS:
            cell, right = get(name, "naive", bound), get(name, "fewest")
            missing = within(right, bound, "states") - cell["states"]
            row.append(f"{cell['states']:,}" + (f" (-{missing:,})" if missing else ""))
        rows.append([name, *row])
    return [
        "## Fig. 2: what the naive search loses",
        "",
        "`--search naive-bounded`: states visited, and in parentheses how many within the bound it never sees.",
        "",
        *table(["model", *(f"L{bound}" for bound in BOUNDS)], rows),
    ]


def spin_table(get, sizes):
    rows, low, compared = [], 0, 0
    for name in sizes:
        for key, label in (("spin", "-DBCS -DNOREDUCE"), ("spin+", "-DBCS")):
            full = get(name, "spin-full" if key == "spin" else "spin-strong")
            row = [name if key == "spin" else "", label, shown(full, "states") if full else "> limit"]
            for bound in BOUNDS:
                cell = get(name, key, bound)
                if not cell:
                    row.append("> limit")
                    continue
                right = within(get(name, "fewest"), bound, "states")
                wrong = key == "spin" and cell["states"] < right
                compared, low = compared + (key == "spin"), low + wrong
                row.append(f"**{cell['states']:,}** ({right:,})" if wrong else f"{cell['states']:,}")
            rows.append(row)
    if not any(get(name, "spin", 0) for name in sizes):
        return []
    return [
        "## Table 1 by Spin",
        "",
        "`pan -LN`. Bold: fewer states than lie within the bound, which are in parentheses "
        "(`2026-11-15-bounded-counts.md` says why Spin loses them).",
        "",
        *table(["model", "compiled with", "full", *(f"L{bound}" for bound in BOUNDS)], rows),
        f"Without reduction {low} of {compared} cells are too low." + same_as_printed(get, sizes),
        "",
    ]


def same_as_printed(get, sizes):
    """The paper prints Table 1 for this model, which is in its Appendix C."""
    printed = {0: 7167, 1: 22784, 2: 45567, 4: 80511, 8: 88571, 16: 88573}
    cells = {bound: get("worst_case", "spin", bound) for bound in printed}
    if "worst_case" not in sizes or not all(cells.values()):
        return ""
    same = all(cells[bound]["states"] == states for bound, states in printed.items())
    return f" The row of worst_case is {'' if same else 'not '}that of the paper's Table 1, number for number."


def costs(get, sizes):
    rows = []
    for name in sizes:
        fewest, spin = get(name, "fewest"), get(name, "spin-full")
        row = [name, shown(get(name, "full"), "transitions")]
        for bound in (8, 16):
            context, mine = get(name, "context", bound), within(fewest, bound, "transitions")
            ratio = f"{context['transitions'] / mine:.1f}" if context["verdict"] == "holds" else "> limit"
            row += [shown(context, "transitions"), f"{mine:,}", ratio]
            bcs = get(name, "spin", bound)
            row.append(f"{bcs['transitions'] / spin['transitions']:.1f}" if bcs and spin else "n/a")
        rows.append(row)
    head = ["model", "full"]
    for bound in (8, 16):
        head += [f"context-bounded L{bound}", f"fewest-preemptions L{bound}", "ratio", "Spin: BCS / full"]
    return [
        "## Transitions executed at bounds 8 and 16",
        "",
        "`--search context-bounded` against the default `--search fewest-preemptions --reduction none`: both visit "
        "the same states and both find no error. The last column of each bound is Spin's own slowdown in transitions. It is "
        "lower than that of Fig. 3 as published, because Spin does not remember who came with the lowest number, and so "
        "leaves out visits that it should make.",
        "",
        *table(head, rows),
    ]


def series(get, names, what, key="context"):
    found = {}
    for name in names:
        points = [(bound, get(name, key, bound)) for bound in BOUNDS]
        found[name] = [(bound, cell[what]) for bound, cell in points if finished(cell)]
    return found


def figures_7_to_10(get, sizes, folder):
    names = [name for name in SHOWN if name in sizes]
    if not names:
        return []
    bound = "bound on preemptions"
    lines(f"{folder}/fig7.svg", "States visited within a bound", bound, "states", series(get, names, "states"))
    times = {name: points for name, points in series(get, names, "seconds").items()}
    lines(f"{folder}/fig8.svg", "Processor time of context-bounded search", bound, "seconds", times)
    largest = max(names, key=lambda name: get(name, "full")["states"])
    effect = {
        "full": series(get, [largest], "states")[largest],
        "with reduction": series(get, [largest], "states", "paper")[largest],
    }
    lines(f"{folder}/fig9.svg", f"Effect of the reduction on {largest}", bound, "states", effect)
    averages, count = average(get, sizes)
    lines(f"{folder}/fig10.svg", f"Relative to the full search, {count} models", bound, "times the full search", averages)
    rows = []
    for name in names:
        cells = [get(name, "context", bound) for bound in BOUNDS]
        full = get(name, "full")
        rows.append([name, "seconds", shown(full, "seconds"), *(shown(cell, "seconds") for cell in cells)])
        rows.append(["", "depth", shown(full, "depth"), *(shown(cell, "depth") for cell in cells)])
    relative = [[what, *(f"{dict(points).get(bound, float('nan')):.2f}" for bound in BOUNDS)] for what, points in averages.items()]
    head = ["model", "", "full", *(f"L{bound}" for bound in BOUNDS)]
    return [
        "## Figs. 7 and 8: states and time by bound",
        "",
        "`--search context-bounded --bound N`; the lines between the points are not data.",
        "",
        "![Fig. 7](paper-000/fig7.svg)",
        "![Fig. 8](paper-000/fig8.svg)",
        "",
        *table(head, rows),
        "## Fig. 9: the reduction within a bound",
        "",
        "`--reduction paper`.",
        "",
        "![Fig. 9](paper-000/fig9.svg)",
        "",
        "## Fig. 10: averages",
        "",
        f"Over the {count} models of at least 10,000 states: each number divided by that of the full search of the same "
        "kind, then averaged (arithmetic mean). Without reduction against `--search depth-first --reduction none`; "
        "with reduction (`--reduction paper`) against `--reduction strong`. A model with a cell beyond the limit is "
        "left out of all averages.",
        "",
        "![Fig. 10](paper-000/fig10.svg)",
        "",
        *table(["average", *(f"L{bound}" for bound in BOUNDS)], relative),
    ]


def average(get, sizes):
    whole = [
        name
        for name in sizes
        if get(name, "full")["states"] >= 10_000
        and all(finished(get(name, key, bound)) for key in ("context", "paper") for bound in BOUNDS)
    ]
    found = {}
    for label, key, full in (("", "context", "full"), (", reduced", "paper", "strong")):
        for what in ("states", "transitions", "depth"):
            ratios = lambda bound: [get(name, key, bound)[what] / max(1, get(name, full)[what]) for name in whole]
            found[what + label] = [(bound, sum(ratios(bound)) / len(whole)) for bound in BOUNDS if whole]
    mine = lambda bound: [within(get(n, "fewest"), bound, "transitions") / get(n, "full")["transitions"] for n in whole]
    found["transitions, default search"] = [(bound, sum(mine(bound)) / len(whole)) for bound in BOUNDS if whole]
    return found, len(whole)


def bitstate(get, sizes):
    names = [name for name in SHOWN if name in sizes and get(name, "bits-full")]
    if not names:
        return []
    rows = []
    for name in names:
        for what in ("states", "seconds"):
            bits = [shown(get(name, "bits", bound), f"bits-{what}") for bound in BOUNDS]
            exact = [shown(get(name, "context", bound), what) for bound in BOUNDS]
            rows.append([name if what == "states" else "", f"exact, {what}", shown(get(name, "full"), what), *exact])
            rows.append(["", f"bitstate, {what}", shown(get(name, "bits-full"), f"bits-{what}"), *bits])
    return [
        "## Bitstate against exact storage (section 3.2)",
        "",
        "`--search context-bounded --bound N --store bitstate --max-memory 64MiB`: a state is entered once for each bound "
        "from its own up (replicated storage), and who came with it is not kept.",
        "",
        *table(["model", "", "full", *(f"L{bound}" for bound in BOUNDS)], rows),
    ]
