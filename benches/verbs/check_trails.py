"""Trails of violated models, executed by `spin -t` (and by `pan -r`) to the same violation with the same values.

For every Promela model (default: models/promela) and everything that its header says is violated: `preempt check
--trail`, and then `spin -t`, which must execute every step and end in the same violation with the same values. With
--pan also `pan -r`, which knows where each process stands and takes no step that is not possible there. Ends with 1 if
a trail is not executed as it should be."""
import json, os, re, tempfile

from shared import spin
from shared.commands import ROOT, arguments, preempt, promela_models
from shared.timing import run

# What Spin says when a line of a trail does not fit.
LOST = ("transition failed", "invalid statement", "no matching stmnt", "stop error", "(?)", "lost", "bad node")
LOST_BY_PAN = ("not found", "UNEXECUTABLE", "Recovered", "invalid pid")


def main(words):
    options = arguments(__name__)
    options.add_argument("paths", nargs="*", default=[os.path.join(ROOT, "models", "promela")])
    options.add_argument("--pan", action="store_true", help="also with a compiled verifier")
    options.add_argument("--limit", type=float, default=60, help="seconds for each run")
    options = options.parse_args(words)
    command = preempt()
    good = bad = 0
    for path in promela_models(options.paths):
        for question in questions(path):
            name = " ".join([os.path.basename(path), *question])
            try:
                kind, length = check(command, path, question, options)
                print(f"{name}: {kind}, {length} lines", flush=True)
                good += 1
            except Unviolated:
                pass
            except (Wrong, spin.Refused) as why:
                print(f"{name}: {why}", flush=True)
                bad += 1
    print(f"{good} trails end as they should, {bad} do not")
    return bad > 0


class Wrong(Exception):
    """What is wrong with a trail."""


class Unviolated(Exception):
    """A model that does not say what to expect, and of which nothing is violated, as far as that is found out."""


# The question to a model that does not say what to expect.
ANYTHING = []


def questions(path):
    """The options of each question whose answer is "violated", by the header; a model without one is just checked."""
    with open(path, errors="replace") as file:
        header = re.findall(r"^// (expect|property ([\w-]+)): (.*)$", file.read(), re.M)
    if not header:
        yield ANYTHING
    for word, name, answer in header:
        if answer.startswith("violated") or "fairness" in answer:
            yield {"": [], "non-progress": ["--non-progress"]}.get(name, ["--property", name])


def check(command, path, question, options):
    path = os.path.abspath(path)
    within = lambda words: run(words, folder, wall=2 * options.limit)
    with tempfile.TemporaryDirectory() as folder:
        trail = os.path.join(folder, "run.trail")
        words = [command, "check", path, *question, "--format", "json", "--trail", trail]
        done = within([*words, "--max-time", f"{options.limit:g}s"])
        if question is ANYTHING and done.status in (0, 3):
            raise Unviolated
        if done.status != 1:
            raise Wrong(f"preempt ends with {done.status}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        kind = result["property"]["kind"]
        with open(trail) as file:
            lines = [line for line in file.read().splitlines() if not line.startswith("-")]
        # The claim of a formula is written beside the trail.
        claim = ["-N", trail + ".never"] if os.path.exists(trail + ".never") else []
        if kind == "ltl" and not claim:
            raise Wrong("the formula has no claim")
        judge(kind, result, len(lines), within(["spin", "-t", "-p", *claim, "-k", trail, path]).text)
        if options.pan:
            # A trail without moves of a claim is for a verifier without one.
            flags = ["-O1"] if with_claim(trail) else ["-O1", "-DNOCLAIM"]
            spin.verifier(folder, path, ["-o1", "-o2", "-o3", *claim], flags, wall=2 * options.limit)
            named = ["-N", "preempt_claim"] if claim and "ltl" in open(path, errors="replace").read() else []
            said = within(["./pan", *named, "-r", trail, "-v"]).text
            # `pan -r` does not follow _last: its own trails are not executed either.
            if not (claim and "_last" in open(claim[1]).read()):
                judge_pan(said, len(lines))
    return kind, len(lines)


def with_claim(trail):
    with open(trail) as file:
        return file.readline().startswith("-2:")


def judge(kind, result, length, text):
    for words in LOST:
        # A step that has no meaning is not executed; Spin says why.
        if words in text and not (kind == "runtime-error" and "Error:" in text):
            raise Wrong(next(line for line in text.splitlines() if words in line))
    ended = re.search(r"trail ends after (-?\d+) steps", text)
    if not ended or (length and int(ended[1]) != length):
        raise Wrong(f"Spin ends after {ended and ended[1]} steps of {length}: {text.splitlines()[-3:]}")
    if ("assertion violated" in text) != (kind == "assertion"):
        raise Wrong(f"the violation is {kind}, but Spin says: {text}")
    trace = result["counterexample"]
    cycle, start = "START OF CYCLE" in text, trace["loop_start"]
    # A run that comes to rest repeats nothing, unless a claim goes on.
    repeats = start is not None and start < len(trace["steps"])
    if (cycle and start is None) or (repeats and not cycle):
        raise Wrong("Spin shows a cycle where there is none, or none where there is one")
    # The step with the error may have been left undone.
    if kind not in ("runtime-error", "exclusive"):
        compare(values(trace), text)


def judge_pan(text, length):
    for words in LOST_BY_PAN:
        if words in text:
            raise Wrong("pan: " + next(line for line in text.splitlines() if words in line))
    executed = len(re.findall(r"^\s*\d+: proc\s+\d+ \(", text, re.M))
    if executed < length - 1:
        raise Wrong(f"pan executes {executed} of {length} steps")


def values(trace):
    """The globals after the last step."""
    now = dict(trace["initial"])
    for step in trace["steps"]:
        now.update(step["changed"])
    return now


def compare(ours, text):
    for name, value in re.findall(r"^\t\t(\w+(?:\[\d+\])?) = (\S+)$", text, re.M):
        array = re.match(r"(\w+)\[(\d+)\]$", name)
        mine = ours.get(array[1], [None] * 1000)[int(array[2])] if array else ours.get(name)
        if isinstance(mine, bool):
            mine = int(mine)
        if mine is not None and str(mine) != value and not same_word(mine, value):
            raise Wrong(f"{name} is {mine}, but Spin says {value}")


def same_word(mine, value):
    return {"true": "1", "false": "0"}.get(str(mine)) == value or isinstance(mine, list)
