"""Preempt and Spin on the same Promela models (default: models/). Prints a table and writes it to results/.

Installs spin and gcc with apt if they are missing and it may. Nine modes:

whole      The whole state space, every reduction off.
           Preempt: `preempt count --threads 1`, from start to verdict, nothing prepared.
           Spin:    `spin -o1 -o2 -o3 -a`, `gcc -O3 -DNOREDUCE -DSAFETY -DNOCLAIM`, `./pan -c0`; `pan` is also timed alone,
                    without what it takes on a model of one step (its table and its stack).
levels     The same, every state at its level: `preempt check --property safety --reduction none --threads 1` against the same
           `pan`, on models in which nothing is violated.
profile    Both once more under `valgrind --tool=cachegrind`: instructions, references to data and misses for each transition.
bounds     At most 8 and 16 preemptions: `preempt count --bound K --threads 1` against our own whole search (transitions) and
           against Spin's context bound, `-DBCS -DNOREDUCE` and `-LK` (seconds).
threads    `preempt count`, `check` by level, with the stores bitstate and compact, interpreted, depth first, with the strong
           reduction, and for runs without end, weakly fair and not, with one thread and with two, under `valgrind
           --tool=callgrind`: how many instructions the busier of two threads executes, and the seconds by the clock, which
           mean something only on a quiet machine.
clock      `count` and `check` as above with one thread and with two: the seconds that the search takes by the clock, the least of N.
searches   `check` with `--cost steps`, `--max-depth`, the stores compact and bitstate, and `--fair-switch`: the same; with `--before FILE`
           beside another version of Preempt.
reduction  How many states each partial-order reduction leaves, static optimisations off, violations passed over.
           Preempt: `preempt count --reduction strong`.
           Spin:    as above without `-DNOREDUCE`.
defaults   Default against default, safety only: total time, states, verdict.
           Preempt: `preempt check --property safety`, and the same with `--reduction strong`, which promises nothing
                    about the run either.
           Spin:    `spin -a`, `gcc -O2 -DSAFETY -DNOCLAIM`, `./pan`.

Each is run N times, in turns; the least time of the processor (user and system) counts."""
import datetime, json, os, re, tempfile

from shared import spin
from shared.commands import ROOT, arguments, preempt, promela_models
from shared.spin import Refused
from shared.tables import geometric_mean, row, table
from shared.timing import run

# Models of `benches/models` with other constants, which have 0.3 to 10 million states: `--large`.
LARGE = (
    ("anderson_5", "anderson", {"N": 5}),
    ("bakery_max5", "bakery", {"MAX": 5}),
    ("bakery_max6", "bakery", {"MAX": 6}),
    ("cache_5", "cache_4", {"N": 5}),
    ("exchange_4", "exchange", {"N": 4}),
    ("file_transfer_30", "file_transfer", {"BLOCKS": 30, "WINDOW": 6}),
    ("filter_lock_5", "filter_lock", {"N": 5}),
    ("german", "german", {}),
    ("msmie", "msmie", {}),
    ("odometer_99", "odometer", {"N": 99}),
    ("peterson", "peterson", {}),
    ("philosophers_9", "philosophers_9", {}),
    ("philosophers_ring_8", "philosophers_ring", {"N": 8}),
    ("raft_terms_3", "raft_terms", {"TERMS": 3}),
    ("slotted_ring_4", "slotted_ring", {"N": 4}),
    ("worst_case_12", "worst_case_12", {}),
)

PROMELA = (".pml", ".pm", ".prm", ".prom", ".promela", ".spin")


def main(words):
    options = arguments(__name__)
    options.add_argument("paths", nargs="*")
    options.add_argument("--large", action="store_true", help="our own models with constants that make them large, too")
    options.add_argument("--mode", choices=MODES, default="whole")
    options.add_argument("--repeat", type=int, default=3, metavar="N")
    options.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for each run")
    options.add_argument("--most", type=int, default=6_000_000, metavar="STATES", help="leave out models with more")
    options.add_argument("--least", type=int, default=0, metavar="STATES", help="leave out models with fewer")
    options.add_argument("--before", metavar="FILE", help="another version of the command, for the mode searches")
    options.add_argument("--out", metavar="FILE", help="default: results/DATE-compare-spin[-MODE].md")
    options = options.parse_args(words)
    spin.need()
    command = preempt()
    rows, left_out = [], []
    mode = MODES[options.mode]
    made = tempfile.TemporaryDirectory()
    paths = options.paths + (write_large(made.name) if options.large else [])
    for path in promela_models(paths or [os.path.join(ROOT, "models")], PROMELA):
        try:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(mode.compare(Both(command, path, folder, options)))
        except Refused as why:
            left_out.append(f"{os.path.basename(path)}: {why}")
            continue
        cells = mode.cells(rows[-1])
        for line in cells if isinstance(cells, list) else [cells]:
            print(row(line), flush=True)
    lines = mode.report(rows, options)
    if left_out:
        lines += ["Left out: " + "; ".join(left_out) + ".", ""]
    text = "\n".join(lines)
    name = "compare-spin" if options.mode == "whole" else f"compare-spin-{options.mode}"
    out = options.out or os.path.join(ROOT, "results", f"{datetime.date.today()}-{name}.md")
    with open(out, "w") as file:
        file.write(text)
    print(text)


def write_large(folder):
    """The models of LARGE, as files of this folder."""
    paths = []
    for name, source, constants in LARGE:
        with open(os.path.join(ROOT, "benches", "models", source + ".pml")) as file:
            text = file.read()
        for constant, value in constants.items():
            text, count = re.subn(rf"^#define {constant} \d+$", f"#define {constant} {value}", text, flags=re.M)
            assert count == 1, (name, constant)
        paths.append(os.path.join(folder, name + ".pml"))
        with open(paths[-1], "w") as file:
            file.write(text)
    return paths


class Both:
    """Both programs on one model."""

    def __init__(self, command, path, folder, options):
        self.command, self.path, self.folder, self.options = command, os.path.abspath(path), folder, options
        self.name, self.made = os.path.basename(path), None
        self.limits = {"wall": options.limit}

    def ours(self, *words):
        """Preempt's result, and its seconds."""
        command = [self.command, *words, self.path, "--format", "json", "--max-states", str(self.options.most)]
        done = run(command, self.folder, **self.limits)
        if done.status is None:
            raise Refused(f"`preempt` takes more than {self.options.limit:.0f} s")
        if done.status not in (0, 1):
            raise Refused("not finished by preempt" if done.status == 3 else "not read by preempt")
        return json.loads(done.stdout), done.seconds

    def large_enough(self, *words):
        """As `ours`; models that are too small are left out before anything else is done with them."""
        result, seconds = self.ours(*words)
        if result["stats"]["states"] < self.options.least:
            raise Refused("too small")
        return result, seconds

    def pan(self, spin_flags, gcc_flags, pan_flags):
        """What the verifier says, and its seconds. It is made once; `self.made` is what that took."""
        if self.made is None:
            flags = [*gcc_flags, "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=4096"]
            self.made = sum(spin.verifier(self.folder, self.path, spin_flags, flags, **self.limits))
        found = spin.pan(self.folder, [*pan_flags, "-n", "-m2000000", "-w22"], **self.limits)
        return found, found.seconds

    def in_turns(self, *measured):
        """Each of them N times: what it gave first, and its least seconds."""
        turns = [[one() for one in measured] for _ in range(self.options.repeat)]
        return [(runs[0][0], min(seconds for _, seconds in runs)) for runs in zip(*turns)]


STARTUP_MODEL = "active proctype P() { skip }\n"
STARTUP = {}


def startup(options):
    """The least seconds of `pan` on a model of one step, with the flags of the mode `whole`."""
    if not STARTUP:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "one_step.pml")
            with open(path, "w") as file:
                file.write(STARTUP_MODEL)
            both = Both(None, path, folder, options)
            STARTUP["pan"] = min(both.pan(*WHOLE_PAN)[1] for _ in range(max(3, options.repeat)))
    return STARTUP["pan"]


WHOLE_PAN = (["-o1", "-o2", "-o3"], ["-O3", "-DNOREDUCE"], ["-c0"])


class Whole:
    HEAD = (
        "model", "states", "same", "preempt (s)", "pan (s)", "pan / preempt", "spin+gcc+pan (s)", "all / preempt",
        "store (B/state)", "peak (B/state)", "pan (B/state)",
    )

    @staticmethod
    def compare(both):
        (result, seconds), (found, pan_seconds) = both.in_turns(
            lambda: both.large_enough("count", "--threads", "1"),
            lambda: both.pan(*WHOLE_PAN),
        )
        ours = result["stats"]
        alone = max(pan_seconds - startup(both.options), 0.001)
        return {
            "model": both.name,
            "states": ours["states"],
            # Spin counts the way into the initial state.
            "same": (found.states, found.transitions) == (ours["states"], ours["transitions"] + 1),
            "preempt": seconds,
            "pan": alone,
            "all": both.made + pan_seconds,
            "store": ours["memory"]["store"] / ours["states"],
            "peak": ours["peak_bytes"] / ours["states"],
            "pan_bytes": found.bytes / ours["states"],
        }

    @staticmethod
    def cells(row):
        return (
            row["model"], f"{row['states']:,}", "yes" if row["same"] else "NO", f"{row['preempt']:.3f}",
            f"{row['pan']:.3f}", f"{row['pan'] / row['preempt']:.2f}", f"{row['all']:.2f}",
            f"{row['all'] / row['preempt']:.1f}", f"{row['store']:.1f}", f"{row['peak']:.1f}", f"{row['pan_bytes']:.1f}",
        )

    @staticmethod
    def report(rows, options):
        large = [row for row in rows if row["states"] >= 300_000]
        small = [row for row in rows if row["states"] < 100_000]
        lines = [
            "# Preempt and Spin, every reduction off",
            "",
            f"Made by `benches/run compare-spin` with `--repeat {options.repeat}`; times are of the processor, the least of "
            f"the repetitions. The verb's help says what was run. `pan` is without the {startup(options):.3f} s that it takes on "
            "a model of one step.",
            "",
            *table(Whole.HEAD, map(Whole.cells, rows)),
        ]
        if large:
            lines += [
                f"**{len(large)} models of at least 0.3 million states:** pan / preempt "
                f"{geometric_mean([row['pan'] / row['preempt'] for row in large]):.2f} (geometric mean; above 1 preempt is "
                f"faster), least {min(row['pan'] / row['preempt'] for row in large):.2f}; store "
                f"{geometric_mean([row['store'] for row in large]):.1f} bytes a state, everything together "
                f"{geometric_mean([row['peak'] for row in large]):.1f} (geometric means).",
                "",
            ]
        if small:
            ratios = [row["all"] / row["preempt"] for row in small]
            lines += [
                f"**{len(small)} models below 100,000 states:** start to verdict, (spin, gcc and pan) / preempt "
                f"{geometric_mean(ratios):.1f} (geometric mean), least {min(ratios):.1f}.",
                "",
            ]
        return lines


class Levels(Whole):
    @staticmethod
    def compare(both):
        words = ("check", "--property", "safety", "--reduction", "none", "--threads", "1")
        (result, seconds), (found, pan_seconds) = both.in_turns(
            lambda: both.large_enough(*words), lambda: both.pan(*WHOLE_PAN)
        )
        if result["verdict"] != "holds":
            raise Refused("something is violated")
        ours = result["stats"]
        return {
            "model": both.name,
            "states": ours["states"],
            "same": (found.states, found.transitions) == (ours["states"], ours["transitions"] + 1),
            "preempt": seconds,
            "pan": max(pan_seconds - startup(both.options), 0.001),
            "all": both.made + pan_seconds,
            "store": ours["memory"]["store"] / ours["states"],
            "peak": ours["peak_bytes"] / ours["states"],
            "pan_bytes": found.bytes / ours["states"],
        }


    @staticmethod
    def report(rows, options):
        lines = Whole.report(rows, options)
        lines[0] = "# Preempt and Spin, every state at its level"
        return [line.replace("benches/run compare-spin`", "benches/run compare-spin --mode levels`") for line in lines]


class Profile:
    """Counts do not depend on what else the machine does."""

    HEAD = ("model", "transitions", "", "instructions", "data references", "D1 misses", "LL misses")
    COUNTS = ("I refs", "D refs", "D1  misses", "LLd misses")

    @staticmethod
    def compare(both):
        result, _ = both.large_enough("count", "--threads", "1")
        both.pan(*WHOLE_PAN)
        count = [both.command, "count", both.path, "--threads", "1"]
        levels = [*count, "--search", "fewest-preemptions"]
        pan = [os.path.join(both.folder, "pan"), "-c0", "-n", "-m2000000", "-w22"]
        counted = {"count": count, "count, by level": levels, "pan": pan}
        each = {name: Profile.counts(command, both) for name, command in counted.items()}
        return {"model": both.name, "transitions": result["stats"]["transitions"], "each": each}

    @staticmethod
    def counts(command, both):
        flags = ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
        done = run(["valgrind", *flags, *command], both.folder, wall=20 * both.options.limit)
        found = [re.search(rf"{name}:\s+([\d,]+)", done.text) for name in Profile.COUNTS]
        if not all(found):
            raise Refused("not counted by valgrind")
        return [int(number[1].replace(",", "")) for number in found]

    @staticmethod
    def cells(row):
        lines = []
        for name, numbers in row["each"].items():
            each = [number / row["transitions"] for number in numbers]
            lines.append((row["model"], f"{row['transitions']:,}", name, *(f"{number:,.1f}" for number in each)))
        return lines

    @staticmethod
    def report(rows, options):
        lines = [line for row in rows for line in Profile.cells(row)]
        return [
            "# Preempt and Spin: instructions and misses for each transition",
            "",
            "Made by `benches/run compare-spin --mode profile`; the verb's help says what was run. Start-up is part of it: "
            "compiling the model here, clearing the table there.",
            "",
            *table(Profile.HEAD, lines),
        ]


class Bounds:
    HEAD = (
        "model", "bound", "transitions", "of the whole search", "preempt (s)", "pan -DBCS (s)", "pan / preempt", "states", "pan's states",
    )
    EACH = (8, 16)

    @staticmethod
    def compare(both):
        whole, _ = both.large_enough("count", "--threads", "1")
        each = {}
        for bound in Bounds.EACH:
            ours, seconds = both.ours("count", "--threads", "1", "--bound", str(bound))
            try:
                found, pan = both.pan(["-o1", "-o2", "-o3"], ["-O3", "-DNOREDUCE", "-DBCS"], ["-c0", f"-L{bound}"])
                states = f"{found.states:,}"
            except Refused:
                pan, states = both.options.limit, "not finished"
            each[bound] = (ours["stats"], seconds, pan, states)
        return {"model": both.name, "whole": whole["stats"]["transitions"], "each": each}

    @staticmethod
    def cells(row):
        def line(bound, ours, seconds, pan, states):
            share, at_least = ours["transitions"] / row["whole"], "at least " if states == "not finished" else ""
            return (
                row["model"], bound, f"{ours['transitions']:,}", f"{share:.3f}", f"{seconds:.3f}", f"{at_least}{pan:.2f}",
                f"{at_least}{pan / seconds:.1f}", f"{ours['states']:,}", states,
            )

        return [line(bound, *each) for bound, each in row["each"].items()]

    @staticmethod
    def report(rows, options):
        each = [(row["whole"], *numbers) for row in rows for numbers in row["each"].values()]
        return [
            "# Within 8 and 16 preemptions",
            "",
            f"Made by `benches/run compare-spin --mode bounds` with `--limit {options.limit:.0f}`; the verb's help says what was run. Times "
            "are of the processor, one run each.",
            "",
            *table(Bounds.HEAD, [line for row in rows for line in Bounds.cells(row)]),
            f"Transitions within the bound / all: at most {max(ours['transitions'] / whole for whole, ours, *_ in each):.3f}. "
            f"pan / preempt: {geometric_mean([pan / seconds for _, _, seconds, pan, _ in each]):.1f} (geometric mean; what did not finish "
            f"counts with the limit), least {min(pan / seconds for _, _, seconds, pan, _ in each):.1f}.",
            "",
        ]


class Threads:
    """Instructions do not depend on what else the machine does."""

    HEAD = (
        "model", "states", "search", "one thread", "two: all", "two: the busier one", "one / busier", "clock, one (s)", "clock, two (s)",
    )
    CHECK = ("check", "--property", "safety", "--reduction", "none")
    SEARCHES = {
        "count": ("count",),
        "check": CHECK,
        "bitstate": (*CHECK, "--store", "bitstate"),
        "compact": (*CHECK, "--store", "compact"),
        "interpreted": (*CHECK, "--successors", "interpreted"),
        "depth first": (*CHECK, "--search", "depth-first"),
        "strong": ("count", "--reduction", "strong"),
        "without end": ("check", "--ltl", "[]<> (_nr_pr >= 0)", "--reduction", "none"),
        "weak fairness": ("check", "--ltl", "[]<> (_nr_pr >= 0)", "--reduction", "none", "--weak-fairness"),
    }

    @staticmethod
    def compare(both):
        result, _ = both.large_enough("count", "--threads", "1")
        searches = {}
        for name, words in Threads.SEARCHES.items():
            (one, _), (two, busier) = (Threads.instructions(both, words, threads) for threads in (1, 2))
            clock = [Threads.seconds(both, words, threads) for threads in (1, 2)]
            searches[name] = {"one": one, "two": two, "busier": busier, "clock": clock}
        return {"model": both.name, "states": result["stats"]["states"], "searches": searches}

    @staticmethod
    def seconds(both, words, threads):
        """By the clock. A store of bits proves nothing, so that no verdict is one too."""
        command = [both.command, *words, both.path, "--threads", str(threads), "--max-states", str(both.options.most)]
        done = run([*command, "--format", "json"], both.folder, **both.limits)
        if done.status not in (0, 1, 3):
            raise Refused("not finished by preempt")
        return json.loads(done.stdout)["stats"]["seconds"]

    @staticmethod
    def instructions(both, words, threads):
        """Of all threads, and of the busiest. Valgrind lets one thread execute at a time, each for as long as the others."""
        out = f"callgrind.{threads}"
        flags = ["--separate-threads=yes", "--fair-sched=yes", f"--callgrind-out-file={os.path.join(both.folder, out)}"]
        command = [both.command, *words, both.path, "--threads", str(threads), "--max-states", str(both.options.most)]
        run(["valgrind", "--tool=callgrind", *flags, *command], both.folder, wall=20 * both.options.limit)
        each = []
        for name in sorted(os.listdir(both.folder)):
            if name.startswith(out + "-"):
                with open(os.path.join(both.folder, name)) as file:
                    each += [int(found) for found in re.findall(r"^totals: (\d+)", file.read(), re.M)]
                os.remove(os.path.join(both.folder, name))
        if not each:
            raise Refused("not counted by valgrind")
        return sum(each), max(each)

    @staticmethod
    def cells(row):
        lines = []
        for name, search in row["searches"].items():
            millions = [f"{search[key] / 1e6:,.0f}" for key in ("one", "two", "busier")]
            clock = [f"{seconds:.2f}" for seconds in search["clock"]]
            ratio = f"{search['one'] / search['busier']:.2f}"
            lines.append((row["model"], f"{row['states']:,}", name, *millions, ratio, *clock))
        return lines

    @staticmethod
    def report(rows, options):
        means = []
        for name in Threads.SEARCHES:
            ratios = [row["searches"][name]["one"] / row["searches"][name]["busier"] for row in rows]
            means.append(f"{name} {geometric_mean(ratios):.2f} (least {min(ratios, default=float('nan')):.2f})")
        return [
            "# One thread and two",
            "",
            "Made by `benches/run compare-spin --mode threads`; the verb's help says what was run. Millions of instructions, start and "
            "translation included. Where the machine is not quiet, *one / busier* says what two cores of their own would bring: no "
            "thread waits for more than the busier one executes, as long as both have something to do.",
            "",
            *table(Threads.HEAD, [line for row in rows for line in Threads.cells(row)]),
            f"**{len(rows)} models**, one / busier (geometric mean): {'; '.join(means)}.",
            "",
        ]


class Clock:
    HEAD = ("model", "search", "states met", "one thread (s)", "two threads (s)", "one / two")
    SEARCHES = ("count", "check")

    @staticmethod
    def compare(both):
        both.large_enough("count", "--threads", "1")
        searches = {}
        for name in Clock.SEARCHES:
            runs = [
                [both.ours(*Threads.SEARCHES[name], "--threads", str(threads))[0]["stats"] for threads in (1, 2)]
                for _ in range(both.options.repeat)
            ]
            seconds = [min(stats["seconds"] for stats in of_threads) for of_threads in zip(*runs)]
            searches[name] = (runs[0][0]["states"], *seconds)
        return {"model": both.name, "searches": searches}

    @staticmethod
    def cells(row):
        return [
            (row["model"], name, f"{states:,}", f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}")
            for name, (states, one, two) in row["searches"].items()
        ]

    @staticmethod
    def report(rows, options):
        def mean(name, least):
            found = [row["searches"][name] for row in rows if row["searches"][name][0] >= least]
            ratios = [one / two for _, one, two in found]
            return f"{name} {geometric_mean(ratios):.2f} ({len(ratios)})" if ratios else f"{name} -"

        groups = [", ".join(mean(name, least) for name in Clock.SEARCHES) for least in (0, 300_000, 2_000_000)]
        return [
            "# One thread and two, by the clock",
            "",
            f"Made by `benches/run compare-spin --mode clock` with `--repeat {options.repeat}`; the verb's help says what was run.",
            "",
            *table(Clock.HEAD, [line for row in rows for line in Clock.cells(row)]),
            f"**{len(rows)} models**, one / two (geometric mean, of so many searches): {groups[0]}; searches that met 0.3 million states and more: "
            f"{groups[1]}; two million: {groups[2]}.",
            "",
        ]


class Searches:
    """Where steps are charged or limited, states are not kept, or it is asked who spins."""

    HEAD = ("model", "search", "states met", "one thread (s)", "two threads (s)", "one / two")
    BEFORE = ("one thread before (s)", "before / one", "before / two")
    CHECK = ("check", "--property", "safety", "--reduction", "none")
    EACH = (
        ("--cost", "steps"), ("--max-depth", "1000000"), ("--store", "compact"), ("--store", "bitstate"), ("--fair-switch",),
    )

    @staticmethod
    def compare(both):
        both.large_enough("count", "--threads", "1")
        before = [(both.options.before, 1)] if both.options.before else []
        searches = []
        for words in Searches.EACH:
            runs = [
                [Searches.stats(both, command, words, threads) for command, threads in
                 [(both.command, 1), (both.command, 2), *before]]
                for _ in range(both.options.repeat)
            ]
            seconds = [min(stats["seconds"] for stats in of_kind) for of_kind in zip(*runs)]
            searches.append((" ".join(words), runs[0][0]["states"], *seconds))
        return {"model": both.name, "searches": searches}

    @staticmethod
    def stats(both, command, words, threads):
        command = [command, *Searches.CHECK, *words, both.path, "--format", "json", "--threads", str(threads)]
        done = run([*command, "--max-states", str(both.options.most)], both.folder, **both.limits)
        result = json.loads(done.stdout) if done.status in (0, 1, 3) else {}
        # With the store bitstate nothing is proved.
        if not result or result["verdict"] == "inconclusive" and "bitstate" not in words:
            raise Refused("not finished by preempt")
        return result["stats"]

    @staticmethod
    def cells(row):
        lines = []
        for name, states, one, two, *before in row["searches"]:
            ratios = [cell for then in before for cell in (f"{then:.3f}", f"{then / one:.2f}", f"{then / two:.2f}")]
            lines.append((row["model"], f"`{name}`", f"{states:,}", f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}", *ratios))
        return lines

    @staticmethod
    def report(rows, options):
        def mean(number, which, least=0):
            found = [row["searches"][number] for row in rows if row["searches"][number][1] >= least]
            return f"{geometric_mean([which(search) for search in found]):.2f} ({len(found)})" if found else "-"

        head = (*Searches.HEAD, *Searches.BEFORE) if options.before else Searches.HEAD
        means = []
        for number, words in enumerate(Searches.EACH):
            means.append((
                f"`{' '.join(words)}`",
                mean(number, lambda search: search[2] / search[3]),
                mean(number, lambda search: search[2] / search[3], 300_000),
                *([mean(number, lambda search: search[4] / search[2])] if options.before else []),
            ))
        of_means = ("search", "one / two", "with 0.3 million states and more", *(["before / one"] if options.before else []))
        return [
            "# Other searches than the usual ones, by the clock",
            "",
            f"Made by `benches/run compare-spin --mode searches` with `--repeat {options.repeat}`; the verb's help says what was run.",
            "",
            *table(head, [line for row in rows for line in Searches.cells(row)]),
            "Geometric means, of so many models:",
            "",
            *table(of_means, means),
        ]


class Reduction:
    HEAD = ("model", "all states", "Spin leaves", "strong leaves", "strong / Spin")

    @staticmethod
    def compare(both):
        whole, _ = both.large_enough("count")
        strong, _ = both.ours("count", "--reduction", "strong")
        pan, _ = both.pan(["-o1", "-o2", "-o3"], ["-O1"], ["-c0"])
        states = lambda result: result["stats"]["states"]
        return {"model": both.name, "states": states(whole), "strong": states(strong), "spin": pan.states}

    @staticmethod
    def cells(row):
        ratio = f"{row['strong'] / row['spin']:.2f}"
        return row["model"], f"{row['states']:,}", f"{row['spin']:,}", f"{row['strong']:,}", ratio

    @staticmethod
    def report(rows, options):
        ratios = geometric_mean([row["strong"] / row["spin"] for row in rows])
        return [
            "# States that partial-order reduction leaves",
            "",
            "Made by `benches/run compare-spin --mode reduction`; the verb's help says what was run.",
            "",
            *table(Reduction.HEAD, map(Reduction.cells, rows)),
            f"**{len(rows)} models:** {fewer_states(rows, 'strong', 'spin')}; strong / Spin {ratios:.2f} (geometric mean).",
            "",
        ]


def fewer_states(rows, ours, spins):
    fewer = sum(row[ours] < row[spins] for row in rows)
    same = sum(row[ours] == row[spins] for row in rows)
    return f"strong leaves fewer states than Spin on {fewer}, as many on {same}, more on {len(rows) - fewer - same}"


class Defaults:
    HEAD = (
        "model", "verdict", "same", "preempt (s)", "states", "strong (s)", "states", "pan (s)", "spin+gcc+pan (s)", "states",
        "all / preempt",
    )

    @staticmethod
    def compare(both):
        check = ["check", "--property", "safety"]
        (found, seconds), (strong, strong_seconds), (pan, pan_seconds) = both.in_turns(
            lambda: both.large_enough(*check),
            lambda: both.ours(*check, "--reduction", "strong"),
            lambda: both.pan([], ["-O2"], []),
        )
        return {
            "model": both.name,
            "verdict": found["verdict"],
            "same": found["verdict"] == strong["verdict"] == ("violated" if pan.errors else "holds"),
            "preempt": seconds,
            "states": found["stats"]["states"],
            "strong": strong_seconds,
            "strong_states": strong["stats"]["states"],
            "pan": pan_seconds,
            "all": both.made + pan_seconds,
            "spin_states": pan.states,
        }

    @staticmethod
    def cells(row):
        return (
            row["model"], row["verdict"], "yes" if row["same"] else "NO", f"{row['preempt']:.3f}", f"{row['states']:,}",
            f"{row['strong']:.3f}", f"{row['strong_states']:,}", f"{row['pan']:.3f}", f"{row['all']:.2f}",
            f"{row['spin_states']:,}", f"{row['all'] / row['preempt']:.1f}",
        )

    @staticmethod
    def report(rows, options):
        proofs = [row for row in rows if row["verdict"] == "holds"]
        ratios = geometric_mean([row["strong_states"] / row["spin_states"] for row in proofs])
        return [
            "# Preempt and Spin, default against default",
            "",
            f"Made by `benches/run compare-spin --mode defaults` with `--repeat {options.repeat}`; times are of the processor, "
            "the least of the repetitions. The verb's help says what was run. `preempt check` finds the *simplest* violation; "
            "`--reduction strong` and `pan` find some.",
            "",
            *table(Defaults.HEAD, map(Defaults.cells, rows)),
            f"**{len(rows)} models:** (spin, gcc and pan) / preempt "
            f"{geometric_mean([row['all'] / row['preempt'] for row in rows]):.1f} (geometric mean). **{len(proofs)} of them "
            f"hold:** {fewer_states(proofs, 'strong_states', 'spin_states')}; strong / Spin {ratios:.2f} (geometric mean).",
            "",
        ]


MODES = {
    "whole": Whole, "levels": Levels, "profile": Profile, "bounds": Bounds, "threads": Threads, "clock": Clock, "searches": Searches,
    "reduction": Reduction, "defaults": Defaults,
}
