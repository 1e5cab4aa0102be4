"""`auto` against every single engine on nets: it should never take more than 1.5 times as long as the fastest of them.

Looks at models/nets and at every folder or file in PATH (.spec). auto has SECONDS for each question, and a single engine as long as auto
took: who is slower does not matter here. Each is asked REPEAT times, of which the fastest counts; times below FLOOR are taken for FLOOR, since
starting a process takes as long. The clock counts, so other programs should not run beside. mist stands beside where it is on
the PATH. Ends with 1 if two engines disagree, or if auto is too slow somewhere."""
import os, platform

from shared.commands import ROOT, arguments, preempt, promela_models
from shared.tables import head, row
from verbs.paper_004 import Bench

ENGINES = ["prechecks", "basis", "weight", "forward"]
MOST = 1.5


def main(words):
    options = arguments(__name__)
    options.add_argument("path", nargs="*", help="folders or files with .spec nets, beside models/nets")
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--floor", type=float, default=0.05)
    options.add_argument("--all", action="store_true", help="every net, and not only those where auto is slow")
    options = options.parse_args(words)
    bench = Bench(preempt(), options.seconds)
    files = list(promela_models([os.path.join(ROOT, "models", "nets"), *options.path], endings=(".spec",)))
    print("# auto against single engines\n")
    print(f"Made by `benches/run auto-nets` with {len(files)} nets on {platform.machine()} with {os.cpu_count()} cores: seconds, the "
          f"fastest of {options.repeat}, {options.seconds:.0f} at most for each question; `-` is no answer in the time that auto took.\n")
    print(head(["net", "answer", "auto", *ENGINES, "auto / fastest", "mist"]))
    slow, answered, most = [], 0, 0.0
    for file in files:
        name = os.path.relpath(file, ROOT) if file.startswith(ROOT) else os.path.basename(os.path.dirname(file)) + "/" + os.path.basename(file)
        times, verdicts = {}, set()
        for engine in ["auto", *ENGINES]:
            limit = options.seconds if engine == "auto" else max(times["auto"] or options.seconds, options.floor)
            times[engine] = fastest(bench, file, engine, limit, options.repeat, verdicts)
        if len(verdicts) > 1:
            bench.wrong.append(name)
        known = [times[engine] for engine in ENGINES if times[engine] is not None]
        answered += times["auto"] is not None
        ratio = None
        if known:
            auto = options.seconds if times["auto"] is None else times["auto"]
            ratio = max(auto, options.floor) / max(min(known), options.floor)
            most = max(most, ratio)
            if ratio > MOST:
                slow.append(name)
        bench.limit = options.seconds
        if options.all or (ratio is not None and ratio > MOST) or times["auto"] is None:
            shown = [f"{it:.2f}" if it is not None else "-" for it in (times[e] for e in ["auto", *ENGINES])]
            print(row([name, "/".join(sorted(verdicts)) or "-", *shown, f"{ratio:.1f}" if ratio else "-", bench.ask_mist(file)]), flush=True)
    print(f"\n{answered} of {len(files)} nets are answered by auto; the largest ratio is {most:.2f}.")
    if bench.wrong:
        return f"engines disagree on: {', '.join(bench.wrong)}"
    return f"auto is slower than {MOST} times the fastest on: {', '.join(slow)}" if slow else None


def fastest(bench, file, engine, limit, repeat, verdicts):
    """The seconds of the fastest answer, if there is one."""
    bench.limit, best = limit, None
    for _ in range(repeat):
        verdict, seconds, _ = bench.ask(file, engine)
        if verdict == "-":
            break
        verdicts.add(verdict)
        best = seconds if best is None else min(best, seconds)
    return best
