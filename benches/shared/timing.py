"""Runs a command within limits and says what it cost: seconds of the processor, since other programs may run beside."""
import math, os, resource, signal, subprocess, tempfile, threading, time


class Run:
    """What came of a command. `status` is None if a limit ended it, and negative if another signal did. `seconds` are of the
    processor, `clock` of the clock."""

    def __init__(self, status, stdout, stderr, seconds, clock):
        self.status, self.stdout, self.stderr, self.seconds, self.clock = status, stdout, stderr, seconds, clock

    @property
    def text(self):
        return self.stdout + self.stderr


def run(command, folder=None, wall=None, processor=None, memory=None, variables=None):
    """Runs it in `folder`, limited to seconds of the clock (`wall`), seconds of the processor, and bytes of memory."""

    def limits():
        if processor is not None:
            most = math.ceil(processor)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    # Into files, since nobody reads while `wait4` waits; it alone says what this one child and its children used.
    begin = time.monotonic()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | (variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=limits,
            start_new_session=True,
        )
        slow, status, usage = _wait(process, wall)
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    seconds = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    over = slow or code == -signal.SIGXCPU or (processor is not None and code < 0 and seconds >= processor)
    return Run(None if over else code, *texts, seconds, time.monotonic() - begin)


def _wait(process, wall):
    """Whether the clock ended it, its status, and what it used."""
    slow = threading.Event()

    def end():
        slow.set()
        os.killpg(process.pid, signal.SIGKILL)

    clock = threading.Timer(wall, end) if wall is not None else None
    if clock:
        clock.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        # It has a session of its own, so that Ctrl-C does not reach it.
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        if clock:
            clock.cancel()
    # `Popen` must not wait for it again.
    process.returncode = 0
    return slow.is_set(), status, usage
