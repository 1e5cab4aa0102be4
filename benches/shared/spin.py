"""Spin: a verifier made by `spin -a` and gcc, and what it says."""
import os, re, shutil, subprocess, sys

from shared.timing import run


class Refused(Exception):
    """Why there is no verifier, or no answer of it."""


def is_here():
    return bool(shutil.which("spin") and shutil.which("gcc"))


def need():
    """Installs what is missing with apt, if it may."""
    for tool in ("spin", "gcc"):
        if not shutil.which(tool):
            subprocess.run(["apt-get", "install", "-y", tool], stdout=subprocess.DEVNULL)
        if not shutil.which(tool):
            sys.exit(f"this needs {tool}, and it could not be installed")


def verifier(folder, path, spin_flags, gcc_flags, **limits):
    """Makes `pan` in the folder; the processor's seconds for spin and for gcc."""
    generated = _finished(run(["spin", *spin_flags, "-a", os.path.abspath(path)], folder, **limits), "spin")
    if generated.status or not os.path.exists(os.path.join(folder, "pan.c")):
        raise Refused("not read by spin")
    compiled = _finished(run(["gcc", *gcc_flags, "-w", "-o", "pan", "pan.c"], folder, **limits), "gcc")
    if compiled.status:
        raise Refused("not compiled by gcc")
    return generated.seconds, compiled.seconds


def pan(folder, flags, **limits):
    """One run of the verifier in the folder, as `Counts`."""
    done = _finished(run([os.path.join(folder, "pan"), *flags], folder, **limits), "pan")
    return Counts(done)


def _finished(done, tool):
    if done.status is None:
        raise Refused(f"`{tool}` takes too long")
    return done


class Counts:
    """The numbers that `pan` prints; `Refused` if it did not come to its end."""

    def __init__(self, done):
        self.text, self.seconds = done.text, done.seconds
        if not re.search(r"states, stored", self.text) or "max search depth too small" in self.text:
            raise Refused("not finished by pan")
        self.states = self._number(r"(\S+) states, stored")
        self.transitions = self._number(r"(\S+) transitions")
        self.depth = self._number(r"depth reached (\d+)")
        self.errors = self._number(r"errors: (\d+)")
        used = re.search(r"([\d.]+)\s+actual memory usage for states", self.text)
        self.bytes = float(used[1]) * 1e6 if used else float("nan")

    def _number(self, pattern):
        return int(float(re.search(pattern, self.text)[1]))
