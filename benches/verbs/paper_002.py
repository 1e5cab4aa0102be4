"""Figs. 6 to 10 of paper 002 on our models, as Markdown on stdout; plots as SVG beside it (--plots FOLDER).

Spin and gcc are needed for one column of Fig. 8. Models with other numbers of threads are made from those that are there.
Seconds are those of the processor, not of the clock: other programs may run."""
import json, os, re, sys, tempfile

from shared import plots, spin
from shared.commands import ROOT, arguments, preempt
from shared.tables import table
from shared.timing import run

MODELS = os.path.join(ROOT, "models", "boolean")
PROMELA = os.path.join(ROOT, "benches", "models")
MEMORY = 6 << 30


def main(words):
    options = arguments(__name__)
    options.add_argument("--seconds", type=int, default=40, help="for each cell")
    options.add_argument("--figures", default="6,7,8,9,10")
    options.add_argument("--plots", help="a folder for plots")
    options = options.parse_args(words)
    bench = Bench(preempt(), options.seconds, options.plots)
    print(f"Seconds of the processor, each cell limited to {options.seconds}. Made by `benches/run paper-002 --seconds "
          f"{options.seconds} --figures {options.figures}`.\n")
    wanted = options.figures.split(",")
    for figure in ("6", "7", "8", "9", "10"):
        if figure in wanted:
            getattr(bench, f"figure_{figure}")()


# The paper's seconds for Fig. 7, as far as its text gives them: K = 2 and K = 6.
PAPER_7 = {"1 + 1": (6.1, 1054.8), "2 + 1": (11.9, 2995.6), "2 + 2": (14.1, 4432.1)}
METHODS = ("portfolio", "rounds", "lazy", "eager")


def counter(text, bits):
    """The same driver with so many bits of pendingIo, where the model has three: it is safe while they count all threads."""
    names = [f"b{bit}" for bit in range(bits)]
    all_names, low = ", ".join(names), lambda bit, sign: " & ".join(sign + name for name in names[:bit])
    up = ["!b0"] + [f"b{bit} ^ ({low(bit, '')})" for bit in range(1, bits)]
    down = ["!b0"] + [f"b{bit} ^ ({low(bit, '!')})" for bit in range(1, bits)]
    last = " & ".join(["b0"] + [f"!b{bit}" for bit in range(1, bits)])
    for old, new in [
        ("decl b2, b1, b0;", f"decl {all_names};"),
        ("b2, b1, b0, stoppingFlag, stoppingEvent, stopped := F, F, T,", f"{all_names}, stoppingFlag, stoppingEvent, stopped := T{', F' * (bits - 1)},"),
        ("b0, b1, b2 := !b0, b1 ^ b0, b2 ^ (b1 & b0);", f"{all_names} := {', '.join(up)};"),
        ("b0, b1, b2, zero := !b0, b1 ^ !b0, b2 ^ (!b1 & !b0), b0 & !b1 & !b2;", f"{all_names}, zero := {', '.join(down)}, {last};"),
    ]:
        assert old in text, old
        text = text.replace(old, new)
    return text


def bluetooth(folder, threads, bits=3):
    """Version 3 with so many threads, all but the last adders: main is the first. It is safe while its bits count them."""
    with open(os.path.join(MODELS, "bluetooth_v3_1a1s.bp")) as file:
        text = counter(file.read(), bits) if bits != 3 else file.read()
    kinds = ["PnpAdd"] * (threads - 1) + ["PnpStop"]
    starts = "".join(f"  start_thread {kind}();\n" for kind in kinds[1:])
    text = re.sub(r"(?m)^  start_thread .*\n", "", text).replace("  PnpAdd();\n", starts + "  PnpAdd();\n", 1)
    path = os.path.join(folder, f"bluetooth_{threads}.bp")
    with open(path, "w") as file:
        file.write(text)
    return path


def show(head, rows):
    print("\n".join(table(head, rows)), flush=True)


class Bench:
    def __init__(self, command, limit):
        self.command, self.limit = command, limit
        self.limits = {"processor": limit, "memory": MEMORY}

    def check(self, path, *more):
        """Verdict and seconds; None if they were not enough."""
        done = run([self.command, "check", path, "--format", "json", *more], **self.limits)
        return (json.loads(done.stdout)["verdict"], done.seconds) if done.status in (0, 1) else None

    def cell(self, answer):
        return f"> {self.limit}" if answer is None else f"{answer[1]:.2f}" + (" v" if answer[0] == "violated" else "")

    def said(self, answer):
        return f"> {self.limit}" if answer is None else f"{answer[0]}, {answer[1]:.2f}"

    def spin(self, name, defines):
        """What Spin needs for all states of the same protocol, its errors counted and passed over."""
        if not spin.is_here():
            return "not here"
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = os.path.join(PROMELA, f"{name}.pml")
                flags = ["-O2", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=4000"]
                spin.verifier(folder, path, [f"-D{define}" for define in defines], flags, processor=120)
            except spin.Refused:
                return "not built"
            done = run(["./pan", "-c0", "-E", "-n", "-w26", "-m10000000"], folder, **self.limits)
        try:
            if done.status == 0:
                found = spin.Counts(done)
                verdict = "violated" if found.errors else "holds"
                return f"{verdict}, {found.seconds:.2f} ({found.states:.3g} states)"
        except spin.Refused:
            pass
        return f"> {self.limit}" if done.status is None else "out of memory"

    def figure_6(self):
        print("## Fig. 6: the Bluetooth driver, version 3, all threads adders but one stopper\n")
        with tempfile.TemporaryDirectory() as folder:
            for title, cells in [
                ("(a) 4 contexts of each thread", [(n, 4) for n in range(1, 11)]),
                ("(b) 3 threads", [(3, k) for k in range(2, 7)]),
            ]:
                print(title + ": `preempt check FILE --contexts K --method M`; v: the assertion fails, and the search ends there.\n")
                rows, slow = [], set()
                for threads, contexts in cells:
                    path, row = bluetooth(folder, threads), [threads, contexts]
                    for method in ("lazy", "eager"):
                        answer = None if method in slow and threads < 9 else self.check(path, "--contexts", str(contexts), "--method", method)
                        if answer is None:
                            slow.add(method)
                        row.append(self.cell(answer))
                    rows.append(row)
                show(("threads", "contexts", "lazy", "eager"), rows)

    def figure_7(self):
        print("## Fig. 7: the search tree: `preempt check models/boolean/search_tree_I_S.bp --contexts K`\n")
        rows = []
        for name, label in [("1_1", "1 + 1"), ("2_1", "2 + 1"), ("2_2", "2 + 2")]:
            row, slow = [label], False
            for contexts in range(2, 7):
                answer = None if slow else self.check(os.path.join(MODELS, f"search_tree_{name}.bp"), "--contexts", str(contexts))
                slow = answer is None
                row.append(self.cell(answer))
                print(*row, file=sys.stderr, sep=" | ", flush=True)
            rows.append(row)
        show(("inserters + searchers", "2", "3", "4", "5", "6"), rows)

    def figure_8(self):
        print("## Fig. 8: protocols\n")
        print("lazy: `preempt check models/boolean/MODEL.bp --contexts K`; explicit: `preempt check ... --engine explicit`, the")
        print("simplest run or none at all; Spin: `spin -a`, `gcc -O2 -DSAFETY -DCOLLAPSE`, `pan -c0 -E -n` on the same protocol")
        print("and sizes in benches/models, that is all states, as in the paper.\n")
        rows = []
        for name, contexts, model, defines in [
            ("anderson_6", 2, "anderson", ["N=6", "ERROR=0"]),
            ("anderson_6_broken", 2, "anderson", ["N=6", "ERROR=1"]),
            ("bakery_4_7", 2, "bakery", ["N=4", "MAX=7", "ERROR=0"]),
            ("bakery_4_5_broken", 2, "bakery", ["N=4", "MAX=5", "ERROR=1"]),
            ("peterson_4", 3, "peterson", ["N=4", "ERROR=0"]),
            ("peterson_4_broken", 3, "peterson", ["N=4", "ERROR=1"]),
            ("msmie_5_10_10", 2, "msmie", ["N=5", "S=10", "M=10"]),
            ("msmie_2_7_6_broken", 2, "msmie", ["N=2", "S=7", "M=6"]),
        ]:
            path = os.path.join(MODELS, f"{name}.bp")
            lazy, explicit = self.check(path, "--contexts", str(contexts)), self.check(path, "--engine", "explicit")
            rows.append((name, contexts, self.said(lazy), self.said(explicit), self.spin(model, defines)))
            print(*rows[-1], file=sys.stderr, sep=" | ", flush=True)
        show(("model", "contexts", "lazy", "explicit", "Spin"), rows)
