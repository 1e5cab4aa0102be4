"""What `preempt cluster` sends between processes of this machine, and what that costs.

For each model and 1, 2 and 4 processes: states, what was sent, the largest part, the time of the clock and of all processors;
beside it `preempt count` in one process. A model that is one long chain says what a moment costs at which nobody has work:
timely must have heard of everybody that it is over. Numbers must be the same for any number of processes, or it is an error."""
import json, os, re, socket, tempfile, time

from shared.commands import ROOT, arguments, preempt
from shared.tables import table
from shared.timing import run

MODELS = [
    ("odometer.pml", ["-DN=60"]),
    ("bakery.pml", []),
    ("german.pml", ["-DN=3"]),
    ("raft_terms.pml", ["-DN=4"]),
    ("filter_lock.pml", ["-DN=4"]),
]
CHAIN = "int n; active proctype P() { do :: n < %d -> n++ :: else -> break od }"
NOTE = re.compile(
    r"(\d+) processes: (\d+) states sent in (\d+) messages of (\d+) bytes together, (\d+) moments; the largest part has (\d+)"
)


def main(words):
    options = arguments(__name__)
    options.add_argument("--chain", type=int, default=5_000, help="steps of the long chain (5000)")
    options.add_argument("--limit", type=float, default=300, help="seconds of the clock for each run (300)")
    options.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    options = options.parse_args(words)
    command = preempt()
    with tempfile.TemporaryDirectory() as folder:
        chain = os.path.join(folder, "chain.pml")
        with open(chain, "w") as out:
            out.write(CHAIN % options.chain)
        models = [(os.path.join(ROOT, "benches", "models", name), given) for name, given in MODELS]
        rows, problems = [], 0
        for path, given in [*models, (chain, [])]:
            name = " ".join([os.path.basename(path), *given])
            alone, numbers = measured([command, "count", path, *given, "--search", "fewest-preemptions", "--threads", "1"], options)
            if numbers is None:
                print(f"{name}: {alone.text}")
                problems += 1
                continue
            rows.append([name, "count", thousands(numbers[0]), "", "", "", "", "", f"{alone.clock:.2f}", micro(alone.seconds, numbers[0])])
            for count in options.processes:
                hosts = os.path.join(folder, "hosts")
                with open(hosts, "w") as out:
                    out.writelines(f"127.0.0.1:{port}\n" for port in ports(count))
                found, same = measured([command, "cluster", path, *given, "--count", "--hosts", hosts], options)
                note = NOTE.search(found.stderr)
                if same != numbers or not note:
                    print(f"{name}, {count} processes: {same} and not {numbers}: {found.stderr}")
                    problems += 1
                    continue
                _, sent, messages, size, moments, most = map(int, note.groups())
                rows.append([
                    name,
                    count,
                    thousands(numbers[0]),
                    f"{sent / numbers[0]:.2f}",
                    f"{size / numbers[0]:.1f}",
                    f"{size / max(sent, 1):.1f}",
                    f"{messages} / {moments}",
                    f"{most * count / numbers[0]:.3f}",
                    f"{found.clock:.2f}",
                    micro(found.seconds, numbers[0]),
                ])
    heads = ["model", "processes", "states", "sent a state", "bytes a state", "bytes a state sent", "messages / moments", "largest part", "seconds", "processor, us a state"]
    print("\n".join(table(heads, rows)))
    return problems


def measured(words, options):
    started = time.monotonic()
    found = run([*words, "--format", "json"], wall=options.limit)
    found.clock = time.monotonic() - started
    if found.status not in (0, 1):
        return found, None
    stats = json.loads(found.stdout)["stats"]
    return found, (stats["states"], stats["transitions"], json.dumps(stats["per_level"]))


def ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    numbers = [it.getsockname()[1] for it in sockets]
    [it.close() for it in sockets]
    return numbers


def thousands(number):
    return f"{number:,}"


def micro(seconds, states):
    return f"{seconds / states * 1e6:.2f}"
