"""Does `preempt cluster` say what one process says? Every model of a folder, with bounds and costs, by 1, 2 and 4 processes.

Compared is the whole result but for times and memory: verdict, states, transitions, numbers at each level, and every step of the
run. What differs is printed, and counted in the exit status."""
import json, os, tempfile

from shared.commands import ROOT, arguments, preempt, promela_models
from shared.timing import run
from verbs.cluster_traffic import ports

VARIANTS = [
    ["--property", "safety"],
    ["--property", "safety", "--bound", "1"],
    ["--property", "safety", "--cost", "switches"],
    ["--property", "safety", "--cost", "steps"],
    ["--property", "safety", "--fair-switch"],
    ["--property", "safety", "--symmetry", "auto"],
    ["--property", "never"],
    ["--count"],
]
OF_THE_WAY = ("seconds", "peak_bytes", "memory", "depth", "revisits")


def main(words):
    options = arguments(__name__)
    options.add_argument("models", nargs="*", default=[os.path.join(ROOT, "models", "promela")])
    options.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    options.add_argument("--limit", type=float, default=60, help="seconds of the clock for each run (60)")
    options = options.parse_args(words)
    command = preempt()
    compared = refused = differ = violated = 0
    with tempfile.TemporaryDirectory() as folder:
        hosts = os.path.join(folder, "hosts")
        for path in promela_models(options.models):
            for variant in VARIANTS:
                own = [word for word in variant if word != "--count"]
                alone = ["count", path, "--search", "fewest-preemptions"] if "--count" in variant else ["check", path, "--reduction", "none"]
                expected = run([command, *alone, *own, "--format", "json"], wall=options.limit)
                if expected.status not in (0, 1):
                    continue
                for count in options.processes:
                    with open(hosts, "w") as out:
                        out.writelines(f"{port}\n" for port in ports(count))
                    found = run([command, "cluster", path, *variant, "--hosts", hosts, "--format", "json"], wall=options.limit)
                    if found.status == 2 and "not supported" in found.stderr:
                        refused += 1
                        continue
                    compared += 1
                    violated += expected.status == 1
                    if found.status != expected.status or result(found) != result(expected):
                        differ += 1
                        print(f"{path} {' '.join(variant)}, {count} processes: status {found.status} and not {expected.status}\n{found.stderr}", flush=True)
    print(f"{compared} runs compared, {violated} of them violated, {differ} different, {refused} refused")
    return min(differ, 100)


def result(found):
    try:
        value = json.loads(found.stdout)
    except ValueError:
        return None
    for name in OF_THE_WAY:
        value["stats"].pop(name, None)
    # Marks of what was executed are of one process; what was sent is noted.
    value.pop("executed", None)
    value.pop("notes", None)
    return value
