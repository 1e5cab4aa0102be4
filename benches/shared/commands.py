"""Where things are, our own commands, and how a verb reads its arguments."""
import argparse, os, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments(module):
    """A parser that explains the verb with the text at the head of its file."""
    name = module.rsplit(".", 1)[-1].replace("_", "-")
    return argparse.ArgumentParser(
        prog=f"benches/run {name}",
        description=sys.modules[module].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def preempt():
    """The command `preempt`, named by PREEMPT or built now."""
    return _command("PREEMPT", "preempt", "preempt-cli")


def campaign():
    """The command `campaign`, named by CAMPAIGN or built now."""
    return _command("CAMPAIGN", "campaign", "preempt-campaign")


def peers(name):
    """A program of benches/rust-peers, which is no member of the workspace: it alone needs loom and shuttle."""
    folder = os.path.join(ROOT, "benches", "rust-peers")
    subprocess.run(["cargo", "build", "--release", "--bin", name], cwd=folder, check=True)
    return os.path.join(_target(folder), "release", name)


def _command(variable, name, package):
    if variable in os.environ:
        return os.path.abspath(os.environ[variable])
    subprocess.run(["cargo", "build", "--release", "-p", package], cwd=ROOT, check=True)
    return os.path.join(_target(ROOT), "release", name)


def _target(folder):
    return os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(folder, "target")))


def promela_models(paths, endings=(".pml",)):
    """The files that are named, and those in the folders that are named."""
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        for folder, _, files in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(endings))
