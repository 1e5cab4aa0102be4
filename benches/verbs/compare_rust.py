"""The same Rust programs under preempt, loom and shuttle, side by side; writes results/rust-peers.md.

Takes about two minutes. Numbers of executions do not depend on the machine; times do. With --before COMMIT the page also compares
the instructions of an execution (counted by valgrind) with those of that commit; otherwise that part stays as it was."""
import io, os, pathlib, re, shutil, subprocess, tarfile, tempfile

from shared.commands import ROOT, arguments, peers
from shared.tables import head, row as line

PAGE = pathlib.Path(ROOT, "results/rust-peers.md")
PEERS = pathlib.Path("benches/rust-peers")
SECTION = "## Instructions of an execution, before and now"
# How often a search is repeated: the difference between the two leaves out what is done once in a process.
TIMES = {"cb-dfs": (1, 3), "default": (2, 22)}


def build_before(commit):
    """The program `repeat` as it is now, with the crates of the commit."""
    work = pathlib.Path(tempfile.gettempdir()) / "rust-peers-before" / commit
    if not work.exists():
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        tarfile.open(fileobj=io.BytesIO(packed)).extractall(work, filter="data")
    (work / PEERS / "src/bin").mkdir(parents=True, exist_ok=True)
    for file in ("Cargo.toml", "src/programs.rs", "src/bin/repeat.rs"):
        shutil.copy(pathlib.Path(ROOT) / PEERS / file, work / PEERS / file)
    variables = os.environ | {"RUSTFLAGS": "--cfg before", "CARGO_TARGET_DIR": str(work / "target")}
    subprocess.run(["cargo", "build", "--release", "--bin", "repeat"], cwd=work / PEERS, env=variables, check=True)
    return work / "target/release/repeat"


def instructions(program, number, strategy):
    """Of one execution, and how many there are in a search."""
    counts = []
    for times in TIMES[strategy]:
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        done = subprocess.run([*command, program, str(number), strategy, str(times)], capture_output=True, text=True)
        refs = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        if done.returncode or not refs:
            raise SystemExit(f"{program} {number} {strategy}: {done.stderr}")
        counts.append((int(refs[1].replace(",", "")), int(done.stdout)))
    (few, few_runs), (many, many_runs) = counts
    searches = TIMES[strategy][1] - TIMES[strategy][0]
    return (many - few) / (many_runs - few_runs), (many_runs - few_runs) // searches


def comparison(commit, names):
    """The section."""
    before, now = build_before(commit), peers("repeat")
    rows = []
    for number, name in enumerate(names):
        cells = [name]
        for strategy in TIMES:
            (old, old_runs), (new, new_runs) = (instructions(program, number, strategy) for program in (before, now))
            runs = str(new_runs) if new_runs == old_runs else f"{old_runs}, now {new_runs}"
            cells += [runs, f"{old / 1000:.1f}", f"{new / 1000:.1f}", f"{new / old:.2f}"]
        rows.append(cells)
        print(" | ".join(cells), flush=True)
    titles = ["executions", "thousands before", "now", "now / before"]
    return "\n".join([
        SECTION,
        "",
        f"Made by `benches/run compare-rust --before {commit}`: the same programs with the crates of that commit and with those of",
        "today, built alike, in thousands of instructions (valgrind), which do not depend on what else the machine does. The first",
        "four columns are plain depth-first search with at most three preemptions (all bounds from 0 on), the others the whole default search.",
        "Searches are repeated in one process, and what is done once is left out. The repetitions of the first run that show whether a",
        "test is deterministic are switched off: the older crates have none.",
        "",
        head(["program", *titles, *titles]),
        *map(line, rows),
        "",
    ])


def main(words):
    options = arguments(__name__)
    options.add_argument("--before", metavar="COMMIT", help="compare instructions with those of this commit")
    options.add_argument("--only-before", action="store_true", help="leave the rest of the page as it is")
    options = options.parse_args(words)
    page = PAGE.read_text() if PAGE.exists() else ""
    kept, _, section = page.partition(SECTION)
    section = SECTION + section if section else ""
    if not options.only_before:
        done = subprocess.run([peers("rust-peers")], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            return done.returncode
        kept = done.stdout.rstrip("\n") + "\n\n"
    if options.before:
        # The names as the page has them, in the order of the programs.
        names = re.findall(r"^\| (.*?) \|", kept.partition("| program | HB")[2].partition("\n\n")[0], re.M)[1:]
        section = comparison(options.before, names)
    PAGE.write_text((kept + section).rstrip("\n") + "\n")
