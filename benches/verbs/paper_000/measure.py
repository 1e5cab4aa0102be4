"""What is measured for paper 000: the models, the searches, and the cells that are kept."""
import json, os, tempfile

from shared import spin
from shared.commands import ROOT, preempt
from shared.timing import run

BOUNDS = [0, 1, 2, 4, 8, 16, 32, 64]
FIRST_ERROR = [0, 1, 2, 4, 8, 16]

# Models without an error and with at least 10,000 states, and what is to be defined.
SIZES = {
    "ms_queue": ("models/promela/ms_queue.pml", []),
    "barrier": ("models/promela/barrier.pml", []),
    "file_transfer": ("benches/models/file_transfer.pml", []),
    "kernel": ("benches/models/kernel.pml", []),
    "odometer": ("benches/models/odometer.pml", ["-DN=24"]),
    "slotted_ring": ("benches/models/slotted_ring.pml", []),
    "cache_4": ("benches/models/cache_4.pml", []),
    "paxos": ("models/promela/paxos.pml", []),
    "bakery": ("models/promela/bakery.pml", []),
    "worst_case": ("models/promela/bcs_worst_case.pml", []),
    "exchange": ("benches/models/exchange.pml", []),
}
# Models with an error, for what is explored up to the first one.
ERRORS = {
    "nbq": ("models/promela/nbq.pml", []),
    "stack_aba": ("models/promela/stack_aba.pml", []),
    "ms_queue_broken": ("models/promela/ms_queue_broken.pml", []),
    "sliding_window_broken": ("models/promela/sliding_window_broken.pml", []),
    "raft_election_broken": ("models/promela/raft_election_broken.pml", []),
    "paxos_broken": ("models/promela/paxos_broken.pml", []),
    "worst_case_10": ("benches/models/worst_case_10.pml", []),
}
SHOWN = ["kernel", "file_transfer", "slotted_ring", "cache_4"]
SHOWN_ERRORS = ["nbq", "stack_aba", "sliding_window_broken", "worst_case_10"]


class Cells:
    """What was measured, by a name for each cell; kept in a file."""

    def __init__(self, path, options):
        self.path, self.options, self.known, self.pans = path, options, {}, {}
        self.preempt = None
        self.spin = spin.is_here() and not options.no_spin
        if options.again and os.path.exists(path):
            with open(path) as file:
                self.known = json.load(file)

    def get(self, *key):
        return self.known.get("/".join(map(str, key)))

    def keep(self, key, cell):
        self.known["/".join(map(str, key))] = cell
        with open(self.path + ".new", "w") as file:
            file.write(one_a_line(self.known))
        os.replace(self.path + ".new", self.path)
        if cell:
            print(*key, {name: cell[name] for name in ("verdict", "states", "transitions") if name in cell}, flush=True)

    def ours(self, key, model, arguments):
        """One run of `preempt check`, safety only."""
        if "/".join(map(str, key)) in self.known:
            return
        self.preempt = self.preempt or preempt()
        path, defines = model
        command = [self.preempt, "check", os.path.join(ROOT, path), *defines, "--property", "safety"]
        done = run([*command, *arguments, "--format", "json"], processor=self.options.limit)
        if done.status is None:
            return self.keep(key, {"verdict": "inconclusive"})
        if done.status not in (0, 1, 3):
            return self.keep(key, None)
        result = json.loads(done.stdout)
        cell = {name: result["stats"][name] for name in ("states", "transitions", "revisits", "depth")}
        # A search that says itself that it sees only part of the states has not run into the limit.
        verdict = "holds" if result.get("reason") == "partial" else result["verdict"]
        cell.update(verdict=verdict, seconds=done.seconds)
        if "--search" not in arguments:
            cell.update(levels=result["stats"]["per_level"])
        found = result["counterexample"]
        if found:
            switches = [step["switch"] for step in found["steps"]]
            cell.update(steps=len(switches), preemptions=switches.count("preemption"))
            cell.update(switches=sum(switch != "none" for switch in switches))
        self.keep(key, cell)

    def spins(self, key, model, flags, arguments):
        """One run of `pan`, compiled once for all bounds."""
        if not self.spin or "/".join(map(str, key)) in self.known:
            return
        pan = self.pan(model, flags)
        if not pan:
            return self.keep(key, None)
        done = run([pan, *arguments, "-c0", "-n", "-m2000000", "-w22"], processor=self.options.limit)
        if "-DCONSERVATIVE=2" in done.text and "-DCONSERVATIVE=2" not in flags:
            # More than eight processes.
            return self.spins(key, model, [*flags, "-DCONSERVATIVE=2"], arguments)
        try:
            found = spin.Counts(done)
        except spin.Refused:
            return self.keep(key, None)
        numbers = dict(states=found.states, transitions=found.transitions, depth=found.depth, seconds=found.seconds)
        self.keep(key, numbers)

    def pan(self, model, flags):
        name = (model[0], *model[1], *flags)
        if name not in self.pans:
            folder = tempfile.mkdtemp(prefix="paper-000-")
            path, defines = model
            try:
                flags = ["-O2", "-DSAFETY", "-DNOCLAIM", *flags]
                spin.verifier(folder, os.path.join(ROOT, path), ["-o1", "-o2", "-o3", *defines], flags, processor=120)
                self.pans[name] = os.path.join(folder, "pan")
            except spin.Refused:
                self.pans[name] = None
        return self.pans[name]


def one_a_line(cells):
    """As JSON, so that a difference shows the cells that are different."""
    lines = (f"{json.dumps(key)}: {json.dumps(cells[key], sort_keys=True)}" for key in sorted(cells))
    return "{\n" + ",\n".join(lines) + "\n}\n"


FULL = ["--search", "depth-first", "--reduction", "none"]
STRONG = ["--search", "depth-first", "--reduction", "strong", "--simplify", "off"]
CONTEXT = ["--search", "context-bounded"]
PAPER = [*CONTEXT, "--reduction", "paper"]
REACH = ["--iterative-shortening"]
BITS = ["--store", "bitstate", "--max-memory", "64MiB"]


def measure_sizes(cells, name):
    model = SIZES[name]
    cells.ours((name, "full"), model, FULL)
    cells.ours((name, "strong"), model, STRONG)
    cells.ours((name, "fewest"), model, ["--reduction", "none"])
    cells.ours((name, "exact"), model, ["--reduction", "exact"])
    cells.spins((name, "spin-full"), model, ["-DNOREDUCE"], [])
    cells.spins((name, "spin-strong"), model, [], [])
    for bound in BOUNDS:
        within = ["--bound", str(bound)]
        cells.ours((name, "naive", bound), model, ["--search", "naive-bounded", *within])
        cells.ours((name, "context", bound), model, [*CONTEXT, *within])
        cells.ours((name, "paper", bound), model, [*PAPER, *within])
        cells.spins((name, "spin", bound), model, ["-DBCS", "-DNOREDUCE"], [f"-L{bound}"])
        cells.spins((name, "spin+", bound), model, ["-DBCS"], [f"-L{bound}"])
    if name in SHOWN:
        cells.ours((name, "bits-full"), model, [*FULL, *BITS])
        for bound in BOUNDS:
            cells.ours((name, "bits", bound), model, [*CONTEXT, *BITS, "--bound", str(bound)])


def measure_errors(cells, name):
    model = ERRORS[name]
    cells.ours((name, "breadth"), model, ["--search", "breadth-first"])
    cells.ours((name, "full"), model, FULL)
    cells.ours((name, "strong"), model, STRONG)
    cells.ours((name, "full-reach"), model, [*FULL, *REACH])
    cells.ours((name, "fewest"), model, ["--reduction", "none"])
    for bound in FIRST_ERROR:
        within = ["--bound", str(bound)]
        cells.ours((name, "context", bound), model, [*CONTEXT, *within])
        cells.ours((name, "paper", bound), model, [*PAPER, *within])
        cells.ours((name, "context-reach", bound), model, [*CONTEXT, *REACH, *within])
        cells.ours((name, "paper-reach", bound), model, [*PAPER, *REACH, *within])


def finished(cell):
    return cell and cell.get("verdict") != "inconclusive"


def shown(cell, what):
    if cell is None:
        return "n/a"
    if cell.get("verdict") == "inconclusive" and "bits" not in what:
        return "> limit"
    value = cell.get(what.removeprefix("bits-"))
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


def within(cell, bound, what):
    """Of a search in the order of cost: what lies within a bound."""
    return sum(level[what] for level in cell["levels"] if level["level"] <= bound)
