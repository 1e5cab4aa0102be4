"""Table 3 of paper 004, the alternating bit protocol by number of values, and the grammars, as Markdown on stdout.

Each question has SECONDS; times are seconds of the processor, of one run, with starting the command. Ends with 1 if an answer is not
the one that is expected."""
import json, os, platform, tempfile

from shared.commands import ROOT, arguments, preempt
from shared.tables import head, row
from shared.timing import run

# Paper 004, Table 3: seconds of its engine by number of values.
PAPER = {3: "0.2", 7: "0.6", 15: "1.9", 31: "5.7", 63: "23.1", 127: "90.0", 255: "340.7"}


def main(words):
    options = arguments(__name__)
    options.add_argument("seconds", type=float, nargs="?", default=60)
    options = options.parse_args(words)
    command, limit, wrong = preempt(), f"{options.seconds:.0f}s", []

    def ask(file, engine):
        done = run([command, "check", file, "--engine", engine, "--format", "json", "--max-time", limit])
        result = json.loads(done.stdout) if done.status in (0, 1, 3) else {"verdict": "-", "stats": {}}
        verdict = {"holds": "safe", "violated": "unsafe"}.get(result["verdict"], "-")
        return verdict, done.seconds, result

    print("## Table 3: the alternating bit protocol\n")
    print(f"Made by `benches/run paper-004-words` on {platform.machine()} with {os.cpu_count()} cores: `models/channels/alternating_bit"
          ".channels` with so many values, by weight; seconds of the processor, with the check of the certificate.\n")
    print(head(["values", "answer", "s", "n, delta, last weight", "BDD nodes", "certificate", "by basis, s", "paper, s"]))
    with open(os.path.join(ROOT, "models", "channels", "alternating_bit.channels")) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        for values, paper in PAPER.items():
            name = os.path.join(folder, f"abp_{values}.channels")
            with open(name, "w") as file:
                file.write(text.replace("const last = 2", f"const last = {values - 1}"))
            verdict, seconds, result = ask(name, "weight")
            if verdict != "safe":
                wrong.append(f"{values} values")
            stats = result["stats"]
            basis = ask(name, "basis") if values <= 7 else ("-", None, None)
            shown = f"{basis[1]:.2f}" if basis[0] == "safe" else "-"
            numbers = f"{stats.get('last_new_weight')}, {stats.get('delta')}, {stats.get('weight')}"
            certificate = "; ".join(result.get("certificate") or [])
            print(row([values, verdict, f"{seconds:.2f}", numbers, stats.get("bdd_nodes"), certificate, shown, paper]), flush=True)
    for kind in ("channels", "grammars"):
        print(f"\n## {kind.capitalize()}\n")
        print(head(["model", "expected", "basis, s", "weight, s"]))
        folder = os.path.join(ROOT, "models", kind)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            with open(path) as file:
                expected = "unsafe" if "# expect: unsafe" in file.read() else "safe"
            cells = []
            for engine in ("basis", "weight"):
                verdict, seconds, _ = ask(path, engine)
                if verdict not in (expected, "-"):
                    wrong.append(f"{name} by {engine}")
                cells.append(f"{seconds:.2f}" if verdict != "-" else "-")
            print(row([name.split(".")[0], expected, *cells]), flush=True)
    return f"not as expected: {', '.join(wrong)}" if wrong else None
