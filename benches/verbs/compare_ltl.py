"""Our translation of formulas against `spin -f`.

For random formulas over p, q and r, on a model that changes these at random, two questions must have the same answer:
`preempt check --ltl FORMULA`, and `preempt check` with the never claim that `spin -f` makes of the formula's negation.
Ends with 1 at the first difference."""
import os, random, re, sys, tempfile

from shared.commands import arguments, preempt
from shared.timing import run

MODEL = """bool p, q, r;
active proctype A() { do :: p = !p :: q = (p -> r : !q) od }
active proctype B() { do :: r = (q -> p : !r) :: q && r -> break od }
"""


def main(words):
    options = arguments(__name__)
    options.add_argument("formulas", type=int, nargs="?", default=100)
    options.add_argument("seed", type=int, nargs="?", default=1)
    options = options.parse_args(words)
    command = preempt()
    rng = random.Random(options.seed)
    same = violated = 0
    with tempfile.TemporaryDirectory() as folder:
        plain, claimed = os.path.join(folder, "plain.pml"), os.path.join(folder, "claimed.pml")
        with open(plain, "w") as file:
            file.write(MODEL)
        while same < options.formulas:
            text = formula(rng, 3)
            spin = run(["spin", "-f", f"!({text})"], wall=20)
            if spin.status is None:
                continue
            claim = re.sub(r"/\*.*?\*/", "", spin.stdout, flags=re.S)
            with open(claimed, "w") as file:
                file.write(MODEL + claim)
            ours = verdict(command, [plain, "--ltl", text])
            theirs = verdict(command, [claimed, "--property", "never"])
            if ours != theirs:
                return f"DIFFERENT: {text}: ours {ours}, with the claim of spin -f {theirs}\n{claim}"
            same += 1
            violated += ours == "violated"
    print(f"{same} formulas, {violated} violated: no difference")


def formula(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice("pqr")
    part = lambda: formula(rng, depth - 1)
    kind = rng.choice(["!", "[]", "<>", "&&", "||", "->", "U", "V"])
    if kind in ("!", "[]", "<>"):
        return f"{kind} ({part()})"
    return f"({part()}) {kind} ({part()})"


def verdict(command, words):
    done = run([command, "check", *words])
    if done.status not in (0, 1):
        sys.exit(f"{words}: exit {done.status}\n{done.stderr}")
    return "violated" if done.status else "holds"
