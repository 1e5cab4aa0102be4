"""Table 1 of paper 004 and the family ME-k by every engine for nets, as Markdown on stdout.

Each question has SECONDS. mist stands beside where it is on the PATH, and a folder of other .spec files can be named in
NETS. Ends with 1 if two engines disagree."""
import json, os, platform, shutil, tempfile

from shared.commands import ROOT, arguments, preempt
from shared.tables import head, row
from shared.timing import run
from verbs.me_k import net

ENGINES = ["auto", "prechecks", "basis", "weight", "weight-plain", "forward"]
# Paper 004, Table 1: seconds of the paper's engine and of the classical one on its machine, and the largest height.
PAPER = {
    "central_server": ("95", "0.06", "36"),
    "multi_pool": ("3010", "2.09", "50"),
    "mesh_2x2": ("> 1300", "1.30", "> 40"),
}
SIZES = [5, 10, 25, 50, 100, 150, 200, 250]


def main(words):
    options = arguments(__name__)
    options.add_argument("seconds", type=float, nargs="?", default=60)
    options = options.parse_args(words)
    bench = Bench(preempt(), options.seconds, processor=True)
    limit = f"{bench.limit:.0f}"
    print("# Paper 004 on nets\n")
    print(f"Made by `benches/run paper-004 {limit}` on {platform.machine()} with {os.cpu_count()} cores, Python "
          f"{platform.python_version()}. Seconds of the processor, of one run each; `-` is no answer (pre-checks only prove, forward only finds "
          f"runs), `> {limit}` is out of time.\n")
    print("## Table 1\n\nNets of our own with the structure and the numbers of Table 1, the next larger mesh, and variants with a mistake.\n")
    folder = os.path.join(ROOT, "models", "nets")
    names = sorted(name[:-5] for name in os.listdir(folder) if name.startswith("table1_"))
    bench.table([(name[7:], os.path.join(folder, name + ".spec"), ENGINES) for name in names], "net")
    print("\nThe paper's own numbers, on its nets and its machine of 2005 (Pentium 4, 2.6 GHz):\n")
    print(head(["net", "its engine", "the classical one", "its height"]))
    for name, numbers in PAPER.items():
        print(row([name, *numbers]))
    extra = os.environ.get("NETS")
    if extra:
        print("\n## Other nets\n")
        files = sorted(name for name in os.listdir(extra) if name.endswith(".spec"))
        bench.table([(name[:-5], os.path.join(extra, name), ENGINES) for name in files], "net")
    print("\n## ME-k\n\nBingham's family (`benches/run me-k`): one token may be behind the door, and the question is whether "
          "two are.\n")
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for k in SIZES:
            for tokens, word in ((1, "one"), (2, "two")):
                file = os.path.join(folder, f"me_{k}_{tokens}.spec")
                with open(file, "w") as out:
                    out.write(net(k, tokens))
                engines = [engine for engine in ENGINES if engine != "weight-plain" or k <= 50]
                rows.append((f"{k}, {word}", file, engines))
        bench.table(rows, "k, tokens")
    if bench.wrong:
        return f"engines disagree on: {', '.join(bench.wrong)}"


class Bench:
    def __init__(self, command, limit, processor=False):
        """`processor`: seconds of the processor and not of the clock. Of `auto` they are those of all engines that it has begun."""
        self.command, self.limit, self.mist, self.wrong = command, limit, shutil.which("mist"), []
        self.processor = processor

    def ask(self, file, engine):
        """(verdict or '-', seconds, numbers)"""
        words = ["check", file, "--engine", engine, "--format", "json", "--max-time", f"{int(self.limit * 1000)}ms"]
        done = run([self.command, *words])
        if done.status not in (0, 1, 3):
            return "-", 0.0, {}
        result = json.loads(done.stdout)
        verdict = {"holds": "safe", "violated": "unsafe"}.get(result["verdict"], "-")
        # Out of time by the clock is out of time, however little of the processor there was.
        late = verdict == "-" and result["stats"]["seconds"] >= 0.9 * self.limit
        return verdict, self.limit if late else done.seconds if self.processor else result["stats"]["seconds"], result["stats"]

    def ask_mist(self, file):
        if not self.mist:
            return "not installed"
        done = run([self.mist, "--backward", file], wall=self.limit)
        if done.status is None:
            return f"> {self.limit:.0f}"
        return f"{done.seconds:.2f}" if "concludes" in done.stdout else "refused"

    def cell(self, verdict, seconds):
        if verdict != "-":
            return f"{seconds:.2f}" if seconds >= 0.005 else "0.00"
        return f"> {self.limit:.0f}" if seconds >= 0.9 * self.limit else "-"

    def table(self, nets, first):
        print(head([first, "answer", *ENGINES, "height of weight (n, delta)", "mist"]))
        for name, file, engines in nets:
            answers = {engine: self.ask(file, engine) for engine in engines}
            known = {verdict for verdict, _, _ in answers.values() if verdict != "-"}
            if len(known) > 1:
                self.wrong.append(name)
            cells = [self.cell(*answers[engine][:2]) if engine in answers else "" for engine in ENGINES]
            verdict, _, stats = answers.get("weight", ("-", 0, {}))
            sizes = [stats.get(name) for name in ("diagram_height", "last_new_weight", "delta")]
            height = "{} ({}, {})".format(*sizes) if verdict != "-" else "-"
            print(row([name, "/".join(sorted(known)) or "-", *cells, height, self.ask_mist(file)]), flush=True)
