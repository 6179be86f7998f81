"""Cases of chapter 4 of Silva (2003): tackles (4.1), an occupant on a sled (4.2), a rollover (4.3, 4.4), a bus (4.5).

    python -m benchmarks.impact_cases [FOLDER] [--case tackle sled ...] [--subject printed] [--record]

Prints the numbers of every run, and writes moving pictures into the folder. What the text says of them stands beside
them in docs/corrections.md. `--record` keeps the numbers and puts them into the documentation
(`benchmarks.recorded_figures`). The pedestrian takes some minutes, and says how many.
"""

from __future__ import annotations

from rich.table import Table

from benchmarks.arguments import command_line, output_folder
from benchmarks.chapter_4 import STANDARD, SUBJECTS, Case, Figures
from benchmarks.pedestrian import pedestrian_case
from benchmarks.recorded_figures import record
from benchmarks.rollover.cases import rollover_case
from benchmarks.sled import sled_case
from benchmarks.tackle import tackle_case
from benchmarks.timing import console
from musclesolve import save_picture

CASES: dict[str, Case] = {
    "tackle": tackle_case,
    "sled": sled_case,
    "rollover": rollover_case,
    "pedestrian": pedestrian_case,
}


def show(case: str, found: Figures) -> None:
    """Print the numbers: a table for each kind of run, with a row for each quantity or, of many runs, for each run."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for name, numbers in found.items():
        kinds.setdefault(tuple(numbers), []).append(name)
    for quantities, runs in kinds.items():
        across = len(runs) <= len(quantities)
        table = Table(case, *(runs if across else quantities))
        for row in quantities if across else runs:
            cells = [found[run][row] for run in runs] if across else list(found[row].values())
            table.add_row(row, *(f"{value:.4g}" for value in cells))
        console.print(table)


def main(arguments: list[str] | None = None) -> None:
    """Simulate, print and draw the chosen cases."""
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=output_folder, default=".", metavar="FOLDER")
    parser.add_argument(
        "--case", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help="all unless given"
    )
    parser.add_argument(
        "--subject",
        choices=SUBJECTS,
        default=STANDARD,
        help="81.52 kg with the printed inertia or de Leva's, or 70.25 kg",
    )
    parser.add_argument("--record", action="store_true", help="put the numbers into the documentation")
    given = parser.parse_args(arguments)
    if given.record and given.subject != STANDARD:
        parser.error(f"the documentation quotes the subject {STANDARD!r}")
    found = {}
    for case in given.case:
        found[case], drawn = CASES[case](given.subject)
        show(case, found[case])
        for name, run in drawn.items():
            file = given.folder / f"{name}.html"
            save_picture(run, file, title=name.replace("_", " ").capitalize())
            console.print(f"moving picture: {file}")
    if given.record:
        record(found)


if __name__ == "__main__":
    main()
