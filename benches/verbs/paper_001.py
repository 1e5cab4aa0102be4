"""The experiments of paper 001 on our own work-stealing queue; writes results/paper-001.md. About a minute."""
import os, subprocess

from shared.commands import ROOT, arguments, peers


def main(words):
    arguments(__name__).parse_args(words)
    program = peers("paper-001")
    with open(os.path.join(ROOT, "results", "paper-001.md"), "w") as out:
        return subprocess.run([program], stdout=out).returncode
