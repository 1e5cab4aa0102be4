"""The loom tests of published crates with the package loom of compat/ in the place of loom, and with loom itself.

Writes results/rust-crates.md. Sources come from the registry, by `cargo vendor`, and are kept in RUST_CRATES_DIR, with what
came of each crate, so that crates can be run one by one. Both are bounded by two preemptions (LOOM_MAX_PREEMPTIONS=2) and by time
(LOOM_MAX_DURATION), which a search notices itself and tells; who does not is ended."""
import json, os, pathlib, re, shutil, tempfile

from shared.commands import ROOT, arguments
from shared.tables import head, row as line
from shared.timing import run

WORK = pathlib.Path(os.environ.get("RUST_CRATES_DIR", pathlib.Path(tempfile.gettempdir()) / "rust-crates"))
LIMIT = 20  # seconds by the clock for each search: who reaches it says so and passes
HARD = 3 * LIMIT  # seconds of the processor for each test: who reaches it hangs

# Name, version, flags for the compiler, arguments of `cargo test`, and behind `--` which of its tests.
CRATES = [
    ("parking", "2.2.1", "--cfg loom", ["--features", "loom", "--test", "loom"]),
    ("concurrent-queue", "2.5.0", "--cfg loom", ["--features", "loom", "--test", "loom"]),
    ("event-listener", "5.4.2", "--cfg loom", ["--features", "loom", "--test", "loom"]),
    ("async-lock", "3.5.0", "--cfg loom", ["--features", "loom", "--test", "loom"]),
    ("left-right", "0.11.8", "--cfg loom", ["--test", "loom"]),
    ("arcstr", "1.2.0", "--cfg loom", ["--lib", "loom"]),
    ("bytes", "1.12.1", "--cfg loom", ["--lib"]),
    ("async-event", "0.2.1", "--cfg async_event_loom", ["--lib"]),
    ("diatomic-waker", "0.2.3", "--cfg diatomic_waker_loom", ["--lib"]),
    ("tachyonix", "0.3.1", "--cfg tachyonix_loom", ["--lib"]),
    ("sharded-slab", "0.1.7", "--cfg loom", ["--lib"]),
    ("oneshot", "0.2.1", "--cfg oneshot_loom", ["--features", "loom,std,async", "--tests"]),
    ("thingbuf", "0.1.6", "--cfg loom", ["--lib"]),
    ("cordyceps", "0.3.5", "--cfg loom", ["--lib"]),
    ("crossbeam-epoch", "0.9.21", "--cfg crossbeam_loom", ["--features", "loom", "--test", "loom"]),
    ("tokio", "1.54.1", "--cfg loom", ["--features", "full,test-util", "--lib", "--", "loom"]),
]


def vendor(crates):
    """Their sources, below WORK/vendor."""
    scratch = WORK / "scratch"
    (scratch / "src").mkdir(parents=True, exist_ok=True)
    (scratch / "src/lib.rs").write_text("")
    lines = ["[workspace]", "[package]", 'name = "scratch"', 'version = "0.0.0"', 'edition = "2021"', "[dependencies]"]
    lines += [f'{name} = "={version}"' for name, version, _, _ in crates]
    (scratch / "Cargo.toml").write_text("\n".join(lines) + "\n")
    run(["cargo", "vendor", "--versioned-dirs", "../vendor"], scratch, wall=600)


def prepare(crate, ours):
    """A copy of the crate that uses loom itself or the package in its place, and the variables for cargo."""
    name, version, flags, _ = crate
    copy = WORK / ("ours" if ours else "loom") / name
    if not copy.exists():
        shutil.copytree(WORK / "vendor" / f"{name}-{version}", copy)
        # What a crate was locked to when it was published may be too old for us.
        for left in (".cargo-checksum.json", "Cargo.lock"):
            (copy / left).unlink(missing_ok=True)
        manifest = copy / "Cargo.toml"
        # Only the benchmarks need it, and it takes minutes to build.
        text = re.sub(r"\[dev-dependencies\.criterion\]\n(?:[^\[\n].*\n|\n)*", "", manifest.read_text()) + "\n[workspace]\n"
        if ours:
            # Older versions have the same interface, as far as it is used.
            text = re.sub(r'(dependencies\.loom(?:-crate)?\]\nversion = )"0\.[0-9.]+"', r'\1"0.7"', text)
            text += f'\n[patch.crates-io]\nloom = {{ path = "{ROOT}/compat/loom" }}\n'
        manifest.write_text(text)
    variables = {
        "RUSTFLAGS": f"{flags} --cap-lints warn", "LOOM_MAX_PREEMPTIONS": "2", "LOOM_LOG": "info",
        "LOOM_MAX_DURATION": str(LIMIT), "LOOM_CHECKPOINT_INTERVAL": "100",
        "CARGO_TARGET_DIR": str(WORK / ("target-ours" if ours else "target-loom")),
        "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1", "CARGO_PROFILE_TEST_OPT_LEVEL": "1",
    }
    return copy, variables


def attempt(crate, ours):
    """What came of each of its tests, by name: (outcome, executions, seconds). A text if it does not compile."""
    _, _, _, words = crate
    copy, variables = prepare(crate, ours)
    split = words.index("--") if "--" in words else len(words)
    built = run(["cargo", "test", "--no-run", *words[:split]], copy, wall=1800, variables=variables)
    (copy / "build.txt").write_text(built.text)
    if built.status != 0:
        reason = re.search(r"^error.*", built.text, re.M)
        return reason.group(0)[:100] if reason else "the build did not end"
    results = {}
    for program in re.findall(r"Executable .*\((.*)\)$", built.text, re.M):
        program = pathlib.Path(copy, program)
        listed = run([program, "--list", "--format", "terse", *words[split + 1:]], copy, wall=60, variables=variables).stdout
        for test in re.findall(r"^(.*): test$", listed, re.M):
            # A process each: whoever does not end says nothing about the others.
            done = run([program, "--exact", test, "--nocapture"], copy, wall=10 * HARD, processor=HARD, variables=variables)
            (copy / f"{test.replace('::', '.')}.txt").write_text(done.text)
            # Those that use loom's types beside a model are none, and cannot pass with either.
            if "1 ignored" in done.text or "from outside a Loom model" in done.text:
                continue
            pattern = r"(\d+) executions?," if ours else r"Completed in (\d+) iterations"
            executions = sum(int(n) for n in re.findall(pattern, done.text))
            # loom stops without a word.
            told = "the time was over" in done.text if ours else done.clock >= LIMIT
            outcome = "hung" if done.status is None else "cut" if done.status == 0 and told else "passed" if done.status == 0 else "failed" if done.status == 101 else "aborted"
            results[test] = outcome, executions, done.seconds
    return results


def cells(results, common):
    """A row's cells for one of the two; executions and seconds of the tests that both have completed."""
    if isinstance(results, str):
        return [f"does not compile: {results}", "", ""]
    outcomes = [outcome for outcome, _, _ in results.values()]
    if not outcomes:
        return ["none that is not ignored", "", ""]
    text = f"{outcomes.count('passed')} of {len(outcomes)}"
    for outcome, words in (("failed", "failed"), ("aborted", "aborted"), ("cut", f"not done in {LIMIT} s"), ("hung", "hung")):
        if outcome in outcomes:
            text += f", {outcomes.count(outcome)} {words}"
    executions, seconds = (sum(results[test][i] for test in common) for i in (1, 2))
    # loom says how many only where its own `model` is called, not a `Builder`.
    return [text, executions or "not told", f"{seconds:.1f}"]


def write(rows):
    """The table of what was tried so far. Remarks that stand behind it stay."""
    page = pathlib.Path(ROOT, "results/rust-crates.md")
    remarks = re.search(r"^## Remarks.*", page.read_text(), re.M | re.S) if page.exists() else None
    names = ["crate", "tests passed", "executions", "seconds", "with loom itself", "executions", "seconds"]
    lines = [
        "# Published crates with loom tests",
        "",
        "Made by `benches/run rust-crates`: the tests of each crate with the package of `compat/loom` in the place of loom, by",
        "one line of `[patch.crates-io]`, and with loom itself beside it. At most two preemptions for both; loom also shows some",
        "stale values, and leaves schedules out that the bound allows. Every test is a process of its own. A search ends after",
        f"{LIMIT} seconds by the clock (`LOOM_MAX_DURATION`), says so and passes: *not done*. A test that uses {HARD} seconds of the processor",
        "is ended: *hung*. Executions and seconds (of the processor, built with `opt-level = 1`) are those of the tests that both have",
        "completed. Left out are tests that a crate ignores, and those that use loom's types without a model, which",
        "loom itself refuses. Not all others are models.",
        "",
        head(names),
        *(line(row) for row in rows),
        "",
        *([remarks[0].rstrip("\n"), ""] if remarks else []),
    ]
    page.write_text("\n".join(lines))


def main(words):
    options = arguments(__name__)
    options.add_argument("names", nargs="*", metavar="NAME", help="only these crates; the rows of others stay as they were")
    names = options.parse_args(words).names
    if not (WORK / "vendor").exists():
        vendor(CRATES)
    kept = WORK / "rows.json"
    rows = json.loads(kept.read_text()) if kept.exists() else {}
    for crate in CRATES:
        if names and crate[0] not in names:
            continue
        ours, loom = attempt(crate, True), attempt(crate, False)
        both = [] if isinstance(ours, str) or isinstance(loom, str) else ours.keys() & loom.keys()
        if both:
            ours = {test: ours[test] for test in both}
        common = [test for test in both if ours[test][0] == loom[test][0] == "passed"]
        rows[crate[0]] = [f"{crate[0]} {crate[1]}", *cells(ours, common), *cells(loom, common)]
        print(" | ".join(map(str, rows[crate[0]])), flush=True)
        for test, (outcome, _, _) in sorted([] if isinstance(ours, str) else ours.items()):
            if outcome != "passed":
                print(f"  {test}: {outcome}, with loom {loom.get(test, ['none'])[0] if isinstance(loom, dict) else 'none'}")
        kept.write_text(json.dumps(rows))
        write([rows[name] for name, *_ in CRATES if name in rows])
