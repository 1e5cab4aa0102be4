"""Generated Promela against Spin: states and transitions of the whole state space, every reduction off.

The programs are those of crates/preempt-campaign. Only what Spin has, too, is generated (no `_last` or `hidden`, which
Spin keeps outside of the state; no `enabled` in processes). Programs that Spin refuses are left out, and those with
run-time errors, at which it stops elsewhere. Ends with 1 if counts differ; with --keep the programs that do are written
to DIR."""
import collections, os, tempfile, time

from shared import spin
from shared.commands import arguments, campaign
from shared.timing import run

SECONDS = 60


def main(words):
    options = arguments(__name__)
    options.add_argument("--first", type=int, default=0, metavar="SEED")
    options.add_argument("--programs", type=int, default=300, metavar="N")
    options.add_argument("--seconds", type=float, default=1e9, metavar="S")
    options.add_argument("--keep", metavar="DIR")
    options = options.parse_args(words)
    command = campaign()
    started = time.time()
    same = different = tried = 0
    left = collections.Counter()
    for seed in range(options.first, options.first + options.programs):
        if time.time() - started > options.seconds:
            break
        tried += 1
        text = run([command, "--plain", "text", str(seed)], wall=SECONDS).stdout
        try:
            ours, spins = counts(run([command, "--plain", "count", str(seed)], wall=SECONDS), text)
        except spin.Refused as why:
            left[str(why)] += 1
            continue
        if ours == spins:
            same += 1
            continue
        different += 1
        print(f"seed {seed}: preempt {ours}, spin {spins}", flush=True)
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
            with open(os.path.join(options.keep, f"{seed}.pml"), "w") as file:
                file.write(text)
    print(f"{tried} programs: {same} have the same counts, {different} have not")
    for why, count in left.most_common():
        print(f"{count} left out: {why}")
    return different > 0


def counts(ours, text):
    """Both counts; `ours` is as the campaign prints it."""
    if ours.status is None:
        raise spin.Refused("`campaign` takes too long")
    if len(ours.stdout.split()) != 3:
        raise spin.Refused("no answer from Preempt within 20000 states")
    states, transitions, errors = map(int, ours.stdout.split())
    if errors:
        raise spin.Refused("a run-time error ends Spin's run elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.pml")
        with open(model, "w") as file:
            file.write(text)
        flags = ["-O1", "-DNOREDUCE", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=4096"]
        spin.verifier(folder, model, ["-o1", "-o2", "-o3"], flags, wall=SECONDS)
        found = spin.pan(folder, ["-m100000", "-c0", "-n", "-E"], wall=SECONDS)
    # Spin counts the way into the initial state.
    return (states, transitions + 1), (found.states, found.transitions)
