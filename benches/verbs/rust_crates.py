"""The loom tests of published crates with the package loom of compat/ in the place of loom, and with loom itself.

Writes results/rust-crates.md. Sources come from the registry, by `cargo vendor`, and are kept in RUST_CRATES_DIR. Both are
bounded by two preemptions (LOOM_MAX_PREEMPTIONS=2), and every program by a time limit."""
import os, pathlib, re, shutil, tempfile

from shared.commands import ROOT, arguments
from shared.tables import head, row as line
from shared.timing import run

WORK = pathlib.Path(os.environ.get("RUST_CRATES_DIR", pathlib.Path(tempfile.gettempdir()) / "rust-crates"))
LIMIT = 300  # seconds for the tests of one crate

# Name, version, flags for the compiler, arguments of `cargo test`.
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
    ("oneshot", "0.2.1", "--cfg oneshot_loom", ["--features", "loom", "--tests"]),
    ("thingbuf", "0.1.6", "--cfg loom", ["--lib"]),
    ("cordyceps", "0.3.5", "--cfg loom", ["--lib"]),
    ("crossbeam-epoch", "0.9.21", "--cfg crossbeam_loom", ["--features", "loom", "--test", "loom"]),
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


def attempt(crate, ours):
    """A row's cell for one of the two: what was built, passed, and how long it took."""
    name, version, flags, words = crate
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
        "CARGO_TARGET_DIR": str(WORK / ("target-ours" if ours else "target-loom")),
        "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1", "CARGO_PROFILE_TEST_OPT_LEVEL": "1",
    }
    built = run(["cargo", "test", "--no-run", *words], copy, wall=900, variables=variables)
    if built.status != 0:
        (copy / "build.txt").write_text(built.text)
        reason = re.search(r"^error.*", built.text, re.M)
        return None, reason.group(0)[:100] if reason else "the build did not end", None, None
    command = ["cargo", "test", *words, "--", "--test-threads=1", "--nocapture"]
    done = run(command, copy, wall=LIMIT, variables=variables)
    output = done.text
    (copy / "output.txt").write_text(output)
    if done.status is None:
        # Wall time, so a busy machine cuts off too: that says nothing about the tests, and nothing was counted.
        return (), f"cut off after {LIMIT} s", None, None
    passed = len(re.findall(r"^test .*?\.\.\. (?:.*\n)*?ok$|^test .* ok$", output, re.M))
    summary = re.findall(r"(\d+) passed; (\d+) failed", output)
    if summary:
        passed, total = sum(int(a) for a, _ in summary), sum(int(a) + int(b) for a, b in summary)
    else:
        total = passed + 1
    executions = sum(int(n) for n in re.findall(r"(\d+) executions?," if ours else r"Completed in (\d+) iterations", output))
    note = "" if summary else f"ended with {done.status}"
    return (passed, total), note, executions, done.seconds


def write(rows):
    """The table of what was tried so far."""
    names = ["crate", "tests passed", "executions", "seconds", "with loom itself", "executions", "seconds"]
    lines = [
        "# Published crates with loom tests",
        "",
        "Made by `benches/run rust-crates`: the tests of each crate with the package of `compat/loom` in the place of loom, by",
        "one line of `[patch.crates-io]`, and with loom itself beside it. At most two preemptions for both; loom also shows some",
        "stale values, and leaves schedules out that the bound allows. Seconds are processor time, built with `opt-level = 1`;",
        f"a program is cut off after {LIMIT} seconds of wall time. Both write a line for each search, and loom more than that.",
        "",
        head(names),
        *(line([*row, *[""] * (len(names) - len(row))]) for row in rows),
        "",
    ]
    pathlib.Path(ROOT, "results/rust-crates.md").write_text("\n".join(lines))


def main(words):
    options = arguments(__name__)
    options.add_argument("names", nargs="*", metavar="NAME", help="only these crates")
    names = options.parse_args(words).names
    chosen = [crate for crate in CRATES if not names or crate[0] in names]
    vendor(chosen)
    rows = [[f"{name} {version}"] for name, version, _, _ in chosen]
    for ours in (True, False):
        for crate, row in zip(chosen, rows):
            result, note, executions, seconds = attempt(crate, ours)
            if result is None:
                row += [f"does not compile: {note}", "", ""]
            elif not result:
                row += [note, "", ""]
            else:
                row += [f"{result[0]} of {result[1]}{', ' + note if note else ''}", executions, f"{seconds:.1f}"]
            print(" | ".join(map(str, row)), flush=True)
            write(rows)
