"""Tables 2 and 4 of paper 004 (MESI over blocks, German's protocol), and the textbook protocols.

usage: run paper-004-protocols [MOST_BLOCKS]

Markdown on stdout, for results/paper-004.md. Seconds are processor time of one run each, as the system counts it (in hundredths). The
environment may name the example `protocols` of preempt-wsts, built already (PROTOCOLS); otherwise it is built first.
"""
import os, platform, subprocess, sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
MODELS = os.path.join(ROOT, "models", "protocols")
# The paper's: seconds on a Pentium 4 with 2.6 GHz, of its engine, of covering sharing trees, of Hytech.
TABLE_2 = {1: ("0.0", "0.0", "0.0"), 2: ("0.1", "0.2", "380.0"), 3: ("0.7", "131.9", "> 7989"), 4: ("4.6", "-", "-")}
# Nodes of the last two sets that an independent prototype with CUDD had, slot by slot; of German's protocol those of the last.
NODES_2 = {1: "9 / 27", 2: "53 / 149", 3: "193 / 607", 4: "621 / 2253", 5: "1913 / 8003", 6: "5797 / 27685"}
NODES_4 = {"pointer": "54", "control": "7450", "data": "9143", "read": "11202", "side-condition": "418"}
TABLE_4 = {"pointer": "3", "side-condition": "214", "data": "63", "read": "63"}


def measured(program, model, prop, order, *definitions):
    line = subprocess.run(
        [program, os.path.join(MODELS, model + ".protocol"), prop, order, *definitions],
        capture_output=True, text=True, timeout=600,
    )
    if line.returncode != 0:
        sys.exit(f"{model} {prop}: {line.stderr}")
    keys = "verdict n delta weight height sizes images certificate seconds checking".split()
    return dict(zip(keys, line.stdout.rstrip("\n").split("\t")))


def built():
    command = ["cargo", "build", "--release", "-p", "preempt-wsts", "--example", "protocols"]
    subprocess.run(command, cwd=ROOT, check=True)
    return os.path.join(ROOT, "target", "release", "examples", "protocols")


def expectations(model):
    for line in open(os.path.join(MODELS, model + ".protocol")):
        if line.startswith("# expect "):
            yield line[len("# expect "):].strip().split(": ", 1)


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        return print(__doc__)
    most = int(arguments[0]) if arguments else 6
    program = os.environ.get("PROTOCOLS") or built()
    out = [
        "# Paper 004 on protocols",
        "",
        f"Made by `benches/run paper-004-protocols {most}` on {platform.machine()} with {os.cpu_count()} cores. Seconds are processor time of one run",
        "each, with the check of the certificate; the column behind is that check alone. Nodes are those of the sets Gamma, weight by",
        "weight, the constants among them. Slot by slot, five blocks took more than 19 s of processor time; block by block the sets are linear in m.",
        "",
        "## Table 2: MESI over m blocks",
        "",
        "| m | dimension | order | answer (n, delta) | height | nodes of Gamma | a prototype's | images | s | checking | paper: s | its CST | its Hytech |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for m in range(1, most + 1):
        # Slot by slot takes a multiple with every block.
        for order in ["slots"] if m == 1 else ["blocks", "slots"] if m <= 4 else ["blocks"]:
            row = measured(program, "mesi_blocks", "coherence", order, f"m={m}")
            paper = TABLE_2.get(m, ("-", "-", "-"))
            out.append(
                f"| {m} | {5 ** m} | {order} | {row['verdict']} ({row['n']}, {row['delta']}) | {row['height']} | {row['sizes']} "
                f"| {NODES_2.get(m, '-') if order == 'slots' else '-'} | {row['images']} | {row['seconds']} | {row['checking']} | {' | '.join(paper)} |"
            )
    out += [
        "",
        "## Table 4: German's protocol",
        "",
        "| property | answer (n, delta) | last weight | height | nodes of Gamma | a prototype's last | images | s | checking | paper: s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    total = 0.0
    for model in ["german", "german_control", "german_no_guard", "german_broken"]:
        for prop, _ in expectations(model):
            row = measured(program, model, prop, "slots")
            if model == "german":
                total += float(row["seconds"])
            paper = TABLE_4.get(prop, "-") if model == "german" else "-"
            out.append(
                f"| {model}: {prop} | {row['verdict']} ({row['n']}, {row['delta']}) | {row['weight']} | {row['height']} "
                f"| {row['sizes']} | {NODES_4.get(prop, '-') if model == 'german' else '-'} | {row['images']} | {row['seconds']} "
                f"| {'-' if prop == 'side-condition' else row['checking']} | {paper} |"
            )
    out += ["", f"All of `german` together: {total:.2f} s.", "", "## Textbook protocols", ""]
    out += ["| protocol: property | answer (n, delta) | nodes of Gamma | s |", "| --- | --- | --- | --- |"]
    for name in sorted(os.listdir(MODELS)):
        model, extension = os.path.splitext(name)
        if extension != ".protocol" or model.startswith("german") or model == "mesi_blocks":
            continue
        for prop, _ in expectations(model):
            row = measured(program, model, prop, "slots")
            out.append(f"| {model}: {prop} | {row['verdict']} ({row['n']}, {row['delta']}) | {row['sizes']} | {row['seconds']} |")
    print("\n".join(out))
