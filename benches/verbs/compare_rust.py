"""The same Rust programs under preempt, loom and shuttle, side by side; writes results/rust-peers.md.

Takes about two minutes. Numbers of executions do not depend on the machine; times do."""
import os, subprocess

from shared.commands import ROOT, arguments, peers


def main(words):
    arguments(__name__).parse_args(words)
    program = peers("rust-peers")
    with open(os.path.join(ROOT, "results", "rust-peers.md"), "w") as out:
        return subprocess.run([program], stdout=out).returncode
