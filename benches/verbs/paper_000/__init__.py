"""Tables 1 to 4 and Figs. 7 to 11 of Holzmann and Florian, "Model checking with bounded context switching".

On our own models, and Spin's own -DBCS beside them where it is installed. Writes results/paper-000.md, the plots next to
it in results/paper-000/, and there also cells.json with everything measured, a cell a line. With --again only what is
not there yet is measured, so that a run can be continued; cells that ran into the limit are kept as such."""
import os

from shared.commands import ROOT, arguments
from verbs.paper_000.measure import ERRORS, SIZES, Cells, measure_errors, measure_sizes
from verbs.paper_000.report import report


def main(words):
    options = arguments(__name__)
    options.add_argument("--limit", type=float, default=20, metavar="SECONDS", help="of the processor for each cell")
    options.add_argument("--models", metavar="NAME,...", help="only these, by name")
    options.add_argument("--no-spin", action="store_true")
    options.add_argument("--again", action="store_true", help="keep what was measured before")
    options.add_argument("--out", default=os.path.join(ROOT, "results", "paper-000.md"), metavar="FILE")
    options = options.parse_args(words)
    folder = os.path.splitext(options.out)[0]
    os.makedirs(folder, exist_ok=True)
    cells = Cells(os.path.join(folder, "cells.json"), options)
    wanted = lambda names: [name for name in names if not options.models or name in options.models.split(",")]
    sizes, errors = wanted(SIZES), wanted(ERRORS)
    for name in errors:
        measure_errors(cells, name)
    for name in sizes:
        measure_sizes(cells, name)
    with open(options.out, "w") as file:
        file.write(report(cells, sizes, errors, folder, options))
    print(f"{options.out} is written")
