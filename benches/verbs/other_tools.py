"""Sequential programs for other tools: do CBMC, Spin and NuSMV say of them what Preempt says of the concurrent program?

A program is written by `preempt sequentialize --to c`, `promela` and `smv`, for each of the numbers of contexts, and given to the tool.
Recursion is unwound by CBMC only so often, so that it may miss an error of a recursive program; it must not find one that is
not there. Of Promela the number of states that Spin stores without its reductions must be what `preempt count` says. A tool
that is not installed has no column."""
import json, os, shutil, sys, tempfile

from shared import spin
from shared.commands import ROOT, arguments, preempt
from shared.tables import table
from shared.timing import run

MODELS = os.path.join(ROOT, "models", "boolean")
USUAL = ["lock", "lock_broken", "two_locks", "two_locks_broken", "bluetooth_v1_1a1s", "bluetooth_v1_1a2s", "bluetooth_v2_1a1s",
         "bluetooth_v2_1a2s", "bluetooth_v3_1a1s", "bluetooth_v3_1a2s", "bluetooth_v3_2a1s", "mutual_recursion",
         "mutual_recursion_broken", "recursive_lock", "recursive_lock_broken", "readers_writer", "readers_writer_broken",
         "peterson_2"]
LIMITS = {"processor": 120, "memory": 6 << 30}


def main(words):
    options = arguments(__name__)
    options.add_argument("models", nargs="*", default=USUAL)
    options.add_argument("--contexts", type=int, default=2)
    options = options.parse_args(words)
    command = preempt()
    nusmv = shutil.which("NuSMV") or shutil.which("nuXmv") or shutil.which("nuxmv")
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            path = os.path.join(MODELS, f"{name}.bp")
            for contexts in range(1, options.contexts + 1):
                done = run([command, "check", path, "--contexts", str(contexts), "--format", "json"], **LIMITS)
                expected = json.loads(done.stdout)["verdict"]
                row = [name, contexts, expected, cbmc(command, folder, path, contexts), *promela(command, folder, path, contexts),
                       smv(command, nusmv, folder, path, contexts)]
                told = [row[3], row[4], row[7]]
                wrong += sum(1 for answer in told if answer in ("holds", "violated") and answer != expected)
                wrong += row[5] != row[6]
                rows.append(row)
                print(*row, file=sys.stderr, sep=" | ", flush=True)
    head = ("model", "contexts", "preempt", "CBMC", "Spin", "states of Spin", "states of preempt", "NuSMV")
    print("\n".join(table(head, rows)))
    print(f"\n{wrong} differences")
    return 1 if wrong else 0


def written(command, folder, path, contexts, language, ending):
    """The file, or None if the program cannot be written so."""
    out = os.path.join(folder, f"sequential.{ending}")
    words = [command, "sequentialize", path, "--contexts", str(contexts), "--to", language, "-o", out]
    return out if run(words, **LIMITS).status == 0 else None


def cbmc(command, folder, path, contexts):
    if not shutil.which("cbmc"):
        return "not here"
    out = written(command, folder, path, contexts, "c", "c")
    done = run(["cbmc", "--unwind", "20", out], **LIMITS)
    return {0: "holds", 10: "violated", None: "too slow"}.get(done.status, "refused")


def promela(command, folder, path, contexts):
    """Spin's verdict, the states that it stores, and those that `preempt count` counts."""
    out = written(command, folder, path, contexts, "promela", "pml")
    if out is None:
        return "recursive", "-", "-"
    if not spin.is_here():
        return "not here", "-", "-"
    try:
        spin.verifier(folder, out, ["-o1", "-o2", "-o3"], ["-O1", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=4000"], **LIMITS)
        found = spin.pan(folder, ["-c0", "-n", "-m1000000"], **LIMITS)
    except spin.Refused as why:
        return str(why), "-", "-"
    counted = run([command, "count", out, "--format", "json"], **LIMITS)
    states = json.loads(counted.stdout)["stats"]["states"] if counted.status in (0, 1) else "too many"
    return "violated" if found.errors else "holds", found.states, states


def smv(command, nusmv, folder, path, contexts):
    if not nusmv:
        return "not here"
    out = written(command, folder, path, contexts, "smv", "smv")
    if out is None:
        return "recursive"
    done = run([nusmv, out], **LIMITS)
    if done.status is None:
        return "too slow"
    if "is false" in done.stdout:
        return "violated"
    return "holds" if "is true" in done.stdout else "refused"
