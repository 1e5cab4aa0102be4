"""A simulation of `preempt cluster` with many machines: what they hold, how long it takes, and where it breaks.

It goes through the moments of a search as the command does. At each moment the new states fall to the processes at random (the hash
partition), each expands its own, sends what belongs to others and receives its share, and nobody begins the next moment before
everybody has ended this one. What a state and a moment cost is measured (`benches/run cluster-traffic`) and given as options;
machines and network are assumed, and given as options, too. Every random number comes from the seed."""
import math, random

from shared.commands import arguments
from shared.tables import table

GB = 1e9


class Machine:
    """What a machine of so many has, for each of its processes. Every process is connected with every other one, and timely has two
    threads for each connection: so many processes as there are cores, or fewer, so that there are not too many threads."""

    def __init__(self, options, machines):
        threads = lambda each: each * 2 * (machines * each - 1)
        self.processes = options.cores
        while self.processes > 1 and threads(self.processes) > options.threads:
            self.processes //= 2
        # Each process has a copy of everybody's tables.
        tables = self.processes * machines * self.processes * options.table_bytes
        self.memory = max(0, options.memory * GB * 0.8 - tables)
        # Bytes a second for one process, if all send at once.
        self.network = options.network * 1e9 / 8 / self.processes


class Model:
    """What a state costs, as measured."""

    def __init__(self, options):
        self.bytes = options.state_bytes
        self.seconds = options.state_seconds
        self.transitions = options.transitions
        self.wire = options.wire_bytes


def main(words):
    options = arguments(__name__)
    add = options.add_argument
    add("--state-bytes", type=float, default=40, help="of memory for a state, with what waits (40)")
    add("--state-seconds", type=float, default=6e-6, help="of the processor for a state (6e-6)")
    add("--transitions", type=float, default=3.5, help="of a state (3.5)")
    add("--wire-bytes", type=float, default=10, help="of a state that is sent (10)")
    add("--table-bytes", type=float, default=200e3, help="of the word tables of a process, which all others have (200e3)")
    add("--threads", type=int, default=30_000, help="that a machine can have (30000)")
    add("--barrier", type=float, default=60e-6, help="seconds of a moment without work, two processes (60e-6)")
    add("--barrier-each", type=float, default=8e-6, help="seconds more for each further process (8e-6)")
    add("--latency", type=float, default=50e-6, help="seconds of the network, beyond loopback (50e-6)")
    add("--cores", type=int, default=32, help="processes of a machine (32)")
    add("--memory", type=float, default=256, help="gigabytes of a machine (256)")
    add("--network", type=float, default=25, help="gigabits a second of a machine (25)")
    add("--disk", type=float, default=1, help="gigabytes a second of a machine's disk, for checkpoints (1)")
    add("--failures", type=float, default=3, help="years until a machine fails (3)")
    add("--seed", type=int, default=1)
    options = options.parse_args(words)
    rng, model = random.Random(options.seed), Model(options)
    rows = []
    for count in (10, 100, 1000):
        machine = Machine(options, count)
        holds = count * machine.memory / model.bytes
        for states in (1e9, 1e12):
            for moments in (200, 2_000, 20_000):
                rows.append(planned(count, states, moments, holds, machine, model, options, rng))
    heads = ["machines", "processes", "hold", "states", "moments", "time", "work", "network", "barriers", "skew", "checkpoint", "what limits it"]
    print("\n".join(table(heads, rows)))


def planned(count, states, moments, holds, machine, model, options, rng):
    processes = count * machine.processes
    shape = [count_at(states, moments, moment) for moment in range(moments)]
    if states > holds:
        return [count, processes, short(holds), short(states), moments, "", "", "", "", "", "", "memory: it does not fit"]
    total = work = network = waits = skew = 0.0
    for new in sampled(shape):
        weight, size = new
        slowest, mean, sent = moment_of(size, processes, model, machine, rng)
        wait = barrier(processes, options)
        total += weight * (max(slowest, sent) + wait)
        work += weight * slowest
        network += weight * max(0.0, sent - slowest)
        waits += weight * wait
        skew += weight * (slowest - mean)
    saving = states * model.bytes / count / (options.disk * GB)
    fails = options.failures * 365 * 86_400 / count
    limits = max((work - skew, "processors"), (network, "network"), (waits, "barriers"), (skew, "skew"))[1]
    if total > fails:
        limits += "; a machine fails on the way: needs checkpoints"
    return [
        count, processes, short(holds), short(states), moments, clock(total), clock(work - skew), clock(network), clock(waits),
        clock(skew), clock(saving), limits,
    ]


def count_at(states, moments, moment):
    """New states at a moment: few at first, most in the middle, few at the end, as a search has them."""
    return states / moments * 2 * math.sin(math.pi * (moment + 0.5) / moments) ** 2


def sampled(shape, most=60):
    """Some of the moments, each for its neighbours: (how many, states)."""
    step = max(1, len(shape) // most)
    for start in range(0, len(shape), step):
        part = shape[start : start + step]
        yield len(part), sum(part) / len(part)


def moment_of(states, processes, model, machine, rng):
    """Seconds of the slowest process, of the mean one, and of the network; states fall to processes at random."""
    mean = states / processes
    # The largest of so many binomial shares: drawn one by one, as normal or Poisson numbers.
    if mean > 30:
        deviation = math.sqrt(mean * (1 - 1 / processes))
        largest = max(rng.gauss(mean, deviation) for _ in range(min(processes, 4_000)))
    else:
        largest = max(poisson(mean, rng) for _ in range(min(processes, 4_000)))
    away = 1 - 1 / processes
    bytes_out = largest * model.transitions * away * model.wire
    return largest * model.seconds, mean * model.seconds, bytes_out / machine.network


def poisson(mean, rng):
    limit, count, product = math.exp(-mean), 0, rng.random()
    while product > limit:
        count += 1
        product *= rng.random()
    return count


def barrier(processes, options):
    """Timely tells every process what every process has done: the more, the longer."""
    return options.barrier + options.latency * 2 + options.barrier_each * max(0, processes - 2)


def short(number):
    for size, letter in ((1e15, "e15"), (1e12, "e12"), (1e9, "e9"), (1e6, "e6")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def clock(seconds):
    for size, letter in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{seconds / size:.3g} {letter}"
    return f"{float(f'{seconds * 1000:.2g}'):g} ms"
