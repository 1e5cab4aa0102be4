"""The own tests of loom or shuttle, from a checkout of its repository, against the package of that name in compat/.

Nothing is copied: a package is made in the temporary directory whose only test program names the files of the checkout.
Every test runs in a process of its own, with a limit of 30 seconds of the processor. Prints a line for each test that does not pass, and a
summary. docs/src/rust.md lists those that cannot, with the reason."""
import os, pathlib, re, tempfile

from shared.commands import ROOT, arguments
from shared.timing import run

LIMIT = 30  # seconds of the processor for each test
NEEDED = {
    "loom": ['futures-util = "0.3"'],
    "shuttle": [
        'futures = "0.3"',
        'rand = "0.8"',
        'pin-project = "1"',
        'tracing = "0.1"',
        'regex = "1"',
        'tempfile = "3"',
        'proptest = "1"',
        'proptest-derive = "0.5"',
        'test-log = { version = "0.2", default-features = false }',
    ],
}
# Left out are the files on shuttle's own engine, for the reasons that docs/src/rust.md has: `SHUTTLE` are the others.
SHUTTLE = {
    "basic": """atomic barrier clocks condvar config dfs execution labels lazy_static metrics mpsc mutex once panic pct portfolio replay
        rwlock shrink tag task thread timeout uncontrolled_nondeterminism""",
    "data": "random",
    "demo": "async_match_deadlock bounded_buffer surw",
    "future": "basic batch_semaphore channel countdown_timer pct streams waker",
}


def main(words):
    options = arguments(__name__)
    options.add_argument("name", choices=sorted(NEEDED))
    options.add_argument("checkout", help="of its repository")
    options = options.parse_args(words)
    work = pathlib.Path(tempfile.gettempdir()) / "rust-peers-suites" / options.name
    make(work, options.name, pathlib.Path(options.checkout).resolve())
    program = build(work)
    if program is None:
        return "\n".join(re.findall(r"^(?:error|.*error[\[:]).*", (work / "build.log").read_text(), re.M)) or 1
    listed = run([program, "--list", "--format", "terse"], work).stdout
    tests = re.findall(r"^(.*): test$", listed, re.M)
    passed = 0
    for test in tests:
        done = run([program, "--exact", test], work, wall=20 * LIMIT, processor=LIMIT)
        (work / f"{test}.txt").write_text(done.text)
        if done.status == 0:
            passed += 1
        else:
            print(f"not passed: {test} (see {work / test}.txt)", flush=True)
    print(f"{options.name}: {passed} of {len(tests)} pass or are ignored")


def make(work, name, checkout):
    """The package."""
    (work / "src").mkdir(parents=True, exist_ok=True)
    (work / "tests").mkdir(exist_ok=True)
    (work / "src/lib.rs").write_text("")
    lines = ["[workspace]", "[package]", f'name = "{name}-suite"', 'version = "0.0.0"', 'edition = "2021"']
    lines += ["[features]", 'default = ["futures", "checkpoint"]', "futures = []", "checkpoint = []"]
    lines += ["[profile.dev]", "debug = false", "opt-level = 1", "[dev-dependencies]"]
    lines += [f'{name} = {{ path = "{ROOT}/compat/{name}" }}', *NEEDED[name]]
    (work / "Cargo.toml").write_text("\n".join(lines) + "\n")
    (work / "tests/suite.rs").write_text(loom_suite(checkout) if name == "loom" else shuttle_suite(checkout))


def loom_suite(checkout):
    """Names the files."""
    files = sorted((checkout / "tests").glob("*.rs"))
    return "".join(f'#[path = "{file}"]\nmod r#{file.stem};\n' for file in files)


def shuttle_suite(checkout):
    """Its files refer to each other by their modules, and to functions of the root, which has all files of the suite: so the root is
    made of the checkout's, with the files that are wanted."""
    root = (checkout / "shuttle/tests/mod.rs").read_text()
    root = re.sub(r"^#!\[.*\n|^mod \w+;\n|^#\[test\]\nfn ui\(\) \{\n(?:.*\n)*?\}\n", "", root, flags=re.M)
    for folder, files in SHUTTLE.items():
        lines = (f'#[path = "{checkout}/shuttle/tests/{folder}/{file}.rs"] pub mod r#{file};\n' for file in files.split())
        root += f"mod {folder} {{\n{''.join(lines)}}}\n"
    return root


def build(work):
    """The test program; None if it does not compile, and build.log says why."""
    # Lints that the peers deny in their own tests are not our business.
    flags = {"RUSTFLAGS": os.environ.get("RUSTFLAGS", "") + " --cap-lints warn"}
    built = run(["cargo", "test", "--no-run", "--message-format", "short"], work, variables=flags)
    (work / "build.log").write_text(built.text)
    found = re.search(r"Executable tests.*\((.*)\)$", built.text, re.M)
    return work / found[1] if found else None
