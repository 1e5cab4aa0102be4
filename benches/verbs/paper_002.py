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
    options.add_argument("--figures", default="6,7,8,9,10,table-1")
    options.add_argument("--methods", default=",".join(METHODS), help="of Fig. 6")
    options.add_argument("--threads", default="4,5,6,7,8,10,12,14,16,18,20", help="of Fig. 6 (a)")
    options.add_argument("--plots", help="a folder for plots")
    options = options.parse_args(words)
    bench = Bench(preempt(), options.seconds, options.plots)
    bench.methods, bench.threads = options.methods.split(","), [int(number) for number in options.threads.split(",")]
    print(f"Seconds of the processor, each cell limited to {options.seconds}. Made by `benches/run paper-002 --seconds "
          f"{options.seconds} --figures {options.figures}`.\n")
    wanted = options.figures.split(",")
    for figure in ("6", "7", "8", "9", "10"):
        if figure in wanted:
            getattr(bench, f"figure_{figure}")()
    if "table-1" in wanted:
        table_1()


# The paper's seconds for Fig. 7, K = 2 to 6.
PAPER_7 = {
    "1 + 1": (6.1, 21.6, 84.5, 314.8, 1054.8),
    "2 + 1": (11.9, 46.8, 211.9, 832.0, 2995.6),
    "2 + 2": (14.1, 64.4, 298.0, 1255.4, 4432.1),
}
# Fig. 10 of the paper by the driver of ours that has the shape of its driver: its name, and for each version the seconds of its
# tool and of Smv, and the context switches after which a bug was found.
PAPER_10 = {
    "nvram": ("generic nvram", {"pos": (2.3, 88.1, "")}),
    "watchdog": ("machzwd", {"pos": (0.9, 103.4, ""), "neg": (85.6, 4214.7, "[0, 6]")}),
    "button": ("nwbutton", {"pos": (0.19, 2.8, ""), "neg": (0.88, 26.1, "[1, 6]")}),
    "lines": ("gpio", {"pos": (280.6, 92.8, ""), "neg": (106.8, 299.6, "[1, 6]")}),
    "serial": ("applicom", {"pos": (1.3, 147.1, ""), "neg": (33.0, 147.1, "[1, 3]")}),
    "power": ("toshiba", {"pos": (3.8, 197.1, ""), "neg": (192.8, 243.43, "[1, 6]")}),
}
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


def table_1():
    """The stages of post* on the reduced system, of random threads, beside the bounds that the paper gives."""
    print("## Table 1: the stages of post* on the reduced system\n")
    command = ["cargo", "test", "-q", "--workspace", "--test", "pushdown", "table_1", "--", "--nocapture"]
    for line in run(command, ROOT).stdout.splitlines():
        if line.startswith("|P|"):
            print("\n" + line.replace("|", "\\|") + "\n")
        elif line.startswith("|"):
            print(line, flush=True)


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
    def __init__(self, command, limit, folder):
        self.command, self.limit, self.folder = command, limit, folder
        self.limits = {"processor": limit, "memory": MEMORY}
        self.driven = []

    def check(self, path, *more):
        """The result and seconds; None if they were not enough."""
        done = run([self.command, "check", path, "--format", "json", *more], **self.limits)
        return (json.loads(done.stdout), done.seconds) if done.status in (0, 1) else None

    def cell(self, answer):
        return f"> {self.limit}" if answer is None else f"{answer[1]:.2f}" + (" v" if answer[0]["verdict"] == "violated" else "")

    def said(self, answer):
        return f"> {self.limit}" if answer is None else f"{answer[0]['verdict']}, {answer[1]:.2f}"

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

    def plot(self, name, title, x_name, series):
        self.picture(name, title, lambda path: plots.lines(path, title, x_name, "seconds", series))

    def picture(self, name, title, draw):
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            draw(os.path.join(self.folder, name))
            print(f"![{title}](paper-002/{name})\n")

    def figure_6(self):
        print("## Fig. 6: the Bluetooth driver, version 3, all threads adders but one stopper\n")
        with tempfile.TemporaryDirectory() as folder:
            for title, name, x_name, cells in [
                ("(a) 4 contexts of each thread, and as many as it takes", "bluetooth-threads.svg", "threads", [(n, 4) for n in self.threads]),
                ("(b) 3 threads", "bluetooth-contexts.svg", "contexts", [(3, k) for k in range(2, 7)]),
            ]:
                print(title + ": `preempt check FILE --contexts K --method M`; the last column has no `--contexts`. The counter has five bits.\n")
                ways = [(method, lambda k, method=method: ["--contexts", str(k), "--method", method]) for method in self.methods]
                ways.append(("portfolio, no bound", lambda k: []))
                rows, slow, series = [], set(), {way: [] for way, _ in ways}
                for threads, contexts in cells:
                    path, row = bluetooth(folder, threads, 5), [threads, contexts]
                    for way, words in ways:
                        answer = None if way in slow else self.check(path, *words(contexts))
                        if answer is None:
                            slow.add(way)
                        else:
                            series[way].append((threads if x_name == "threads" else contexts, max(answer[1], 0.01)))
                        row.append(self.cell(answer))
                    rows.append(row)
                    print(*row, file=sys.stderr, sep=" | ", flush=True)
                show(("threads", "contexts", *[way for way, _ in ways]), rows)
                self.plot(name, f"Bluetooth driver: time against {x_name}", x_name, series)

    def figure_7(self):
        print("## Fig. 7: the search tree: `preempt check models/boolean/search_tree_I_S.bp --contexts K`, and without `--contexts`\n")
        rows, series = [], {}
        for name, label in [("1_1", "1 + 1"), ("2_1", "2 + 1"), ("2_2", "2 + 2")]:
            row, path = [label], os.path.join(MODELS, f"search_tree_{name}.bp")
            for contexts in (*range(2, 7), None):
                answer = self.check(path, *(["--contexts", str(contexts)] if contexts else []))
                row.append(self.cell(answer))
                if answer and contexts:
                    series.setdefault(label, []).append((contexts, max(answer[1], 0.01)))
            series[f"{label}, paper"] = list(zip(range(2, 7), PAPER_7[label]))
            rows += [row, (f"{label}, paper", *PAPER_7[label], "-")]
            print(*row, file=sys.stderr, sep=" | ", flush=True)
        show(("inserters + searchers", "2", "3", "4", "5", "6", "no bound"), rows)
        self.plot("search-tree.svg", "Search tree: time against contexts", "contexts", series)

    def figure_8(self):
        print("## Fig. 8: protocols\n")
        print("Portfolio and lazy: `preempt check models/boolean/MODEL.bp --contexts K --method M`; explicit: `preempt check ... --engine")
        print("explicit`, the simplest run or none at all; Spin: `spin -a`, `gcc -O2 -DSAFETY -DCOLLAPSE`, `pan -c0 -E -n` on the same")
        print("protocol and sizes in benches/models, that is all states, as in the paper. The last columns have the paper's seconds.\n")
        rows, groups = [], {}
        for name, contexts, model, defines, paper, paper_spin in [
            ("anderson_6", 2, "anderson", ["N=6", "ERROR=0"], 52.46, None),
            ("anderson_6_broken", 2, "anderson", ["N=6", "ERROR=1"], 54.90, None),
            ("bakery_4_7", 2, "bakery", ["N=4", "MAX=7", "ERROR=0"], 5.87, 28.5),
            ("bakery_4_5_broken", 2, "bakery", ["N=4", "MAX=5", "ERROR=1"], 13.88, 44.2),
            ("peterson_4", 3, "peterson", ["N=4", "ERROR=0"], 5.46, 3.05),
            ("peterson_4_broken", 3, "peterson", ["N=4", "ERROR=1"], 25.72, None),
            ("msmie_5_10_10", 2, "msmie", ["N=5", "S=10", "M=10"], 47.94, 31.0),
            ("msmie_2_7_6_broken", 2, "msmie", ["N=2", "S=7", "M=6"], 1.29, 1.04),
        ]:
            path = os.path.join(MODELS, f"{name}.bp")
            ours = [self.check(path, "--contexts", str(contexts), "--method", method) for method in ("portfolio", "lazy")]
            ours.append(self.check(path, "--engine", "explicit"))
            rows.append((name, contexts, *map(self.said, ours), self.spin(model, defines), paper, paper_spin or "out of memory"))
            columns = zip(("portfolio", "lazy", "explicit"), ours)
            groups[name] = {column: round(max(answer[1], 0.01), 2) for column, answer in columns if answer} | {"paper": paper}
            print(*rows[-1], file=sys.stderr, sep=" | ", flush=True)
        show(("model", "contexts", "portfolio", "lazy", "explicit", "Spin", "paper", "paper, Spin"), rows)
        self.picture("protocols.svg", "Protocols: time", lambda path: plots.bars(path, "Protocols: time", "seconds", groups))

    def drivers(self):
        """Each driver with its mistake (neg) and without (pos): the portfolio's answer and the explicit engine's; measured once."""
        if not self.driven:
            with tempfile.TemporaryDirectory() as folder:
                for name, version, text in drivers():
                    path = os.path.join(folder, f"{name}_{version}.bp")
                    with open(path, "w") as file:
                        file.write(text)
                    self.driven.append((name, version, self.check(path), self.check(path, "--engine", "explicit")))
        return self.driven

    def figure_9(self):
        print("## Fig. 9: drivers, portfolio against the explicit engine\n")
        print("The paper compares with Smv on programs of DDVerify, which are not public. These are drivers of our own of that shape: locks,")
        print("interrupts and flags, made by `benches/run paper-002`, right (pos) and with a mistake (neg), and the other tool is our own")
        print("explicit engine.\n")
        rows, series = [], {"pos": [], "neg": []}
        for name, version, ours, explicit in self.drivers():
            contexts = ours[0]["stats"]["contexts"] if ours and version == "neg" else ""
            rows.append((name, version, self.said(ours), self.said(explicit), contexts))
            if ours and explicit:
                series[version].append((max(explicit[1], 0.01), max(ours[1], 0.01), str(contexts)))
        show(("driver", "version", "portfolio", "explicit", "contexts"), rows)
        title = "Drivers: portfolio against explicit, seconds"
        self.picture("drivers.svg", title, lambda path: plots.scatter(path, title, "explicit", "portfolio", series))

    def figure_10(self):
        print("## Fig. 10: the same by driver\n")
        sums = {}
        for name, version, ours, explicit in self.drivers():
            kind = name.rsplit("_", 1)[0]
            entry = sums.setdefault((kind, version), [0, 0, []])
            entry[0] += ours[1] if ours else self.limit
            entry[1] += explicit[1] if explicit else self.limit
            if ours and version == "neg":
                entry[2].append(ours[0]["stats"]["contexts"])
        rows = []
        for (kind, version), (ours, other, k) in sums.items():
            driver, times = PAPER_10[kind]
            tool, smv, switches = times.get(version, ("-", "-", ""))
            ratio = f"{smv / tool:.1f}" if version in times else "-"
            rows.append((kind, version, f"{ours:.2f}", f"{other:.2f}", f"{other / max(ours, 0.01):.1f}", f"[{min(k)}, {max(k)}]" if k else "",
                         driver, tool, smv, ratio, switches))
        show(("driver", "version", "portfolio", "explicit", "ratio", "contexts", "paper's driver", "its tool", "Smv", "ratio", "switches"), rows)


def library(*names):
    texts = []
    for name in names:
        with open(os.path.join(MODELS, "lib", f"{name}.bp")) as file:
            texts.append(file.read())
    return "".join(texts)


def drivers():
    """Name, version and text: a device that is opened once, a watchdog, a button, and lines of a chip, for two to four users."""
    for users in (2, 4, 6):
        starts = "".join("  start_thread user();\n" for _ in range(users - 1))
        for version, test in (("pos", "atomic_begin; ok := !is_open; is_open := T; atomic_end;"), ("neg", "ok := !is_open; is_open := T;")):
            yield f"nvram_{users}", version, f"""decl is_open := F, busy := F;
void main() begin
{starts}  user();
end
void user() begin
  decl ok;
  {test}
  if ok then assert(!busy); busy := T; busy := F; is_open := F; fi;
end
"""
        for version, before, after in (("pos", "irq_disable();", "irq_enable();"), ("neg", "", "")):
            yield f"watchdog_{users}", version, library("interrupt", "mutex") + f"""decl armed := F, fed := F;
void main() begin
  start_thread handler();
{starts}  user();
end
void handler() begin
  while (T) do irq_enter(); if armed then assert(fed); fi; irq_leave(); od;
end
void user() begin
  mutex_lock(); {before} armed := T; fed := T; {after} mutex_unlock();
  mutex_lock(); {before} fed := F; armed := F; {after} mutex_unlock();
end
"""
        for version, order in (("pos", "pressed := T; event_set();"), ("neg", "event_set(); pressed := T;")):
            yield f"button_{users}", version, library("event") + f"""decl pressed := F;
void main() begin
{starts}  {order}
end
void user() begin event_wait(); assert(pressed); end
"""
        for version, lock, unlock in (("pos", "mutex_lock();", "mutex_unlock();"), ("neg", "read_lock();", "read_unlock();")):
            yield f"lines_{users}", version, library("mutex", "rwlock") + f"""decl line_1 := F, line_0 := F, shadow_1 := F, shadow_0 := F;
void main() begin
{starts}  user();
end
void set(high, low) begin line_1 := high; line_0 := low; shadow_1 := high; shadow_0 := low; end
void user() begin
  decl high, low;
  {lock} high, low := *, *; set(high, low); assert((line_1 = shadow_1) & (line_0 = shadow_0)); {unlock}
end
"""
        # A serial line: a writer fills a buffer that the interrupt empties; the length is checked and used in one critical section.
        for version, before, after in (("pos", "irq_disable();", "irq_enable();"), ("neg", "", "")):
            yield f"serial_{users}", version, library("interrupt", "mutex") + f"""decl full_1 := F, full_0 := F;
void main() begin
  start_thread handler();
{starts}  user();
end
void handler() begin
  while (T) do irq_enter(); full_1, full_0 := F, F; irq_leave(); od;
end
void user() begin
  mutex_lock();
  {before}
  if (!(full_1 & full_0)) then
    full_1, full_0 := full_1 ^ full_0, !full_0;
    assert(full_1 | full_0);
  fi;
  {after}
  mutex_unlock();
end
"""
        # Two registers behind a semaphore: the address is written before the data, and nobody may come in between.
        for version, permits in (("pos", "semaphore_up();"), ("neg", "semaphore_up(); semaphore_up();")):
            yield f"power_{users}", version, library("semaphore") + f"""decl address := F, data := F;
void main() begin
  {permits}
{starts}  user();
end
void user() begin
  decl mine;
  semaphore_down(); mine := *; address := mine; data := mine; assert(address = data); semaphore_up();
end
"""
