"""Cases of chapter 4 of Silva (2003): tackles (4.1), an occupant on a sled (4.2), a rollover (4.3, 4.4), a bus (4.5).

    python -m benchmarks.impact_cases [FOLDER] [--case tackle sled ...] [--subject printed] [--record]

Prints what the text says beside what is found, and draws the motion and its histories into the folder. `--record` keeps
the numbers and puts them into the documentation (`benchmarks.recorded_figures`). The pedestrian takes some minutes, and
says how many.
"""

from __future__ import annotations

from benchmarks.arguments import command_line, output_folder
from benchmarks.chapter_4 import STANDARD, SUBJECTS, Case
from benchmarks.pedestrian import pedestrian_case
from benchmarks.recorded_figures import record
from benchmarks.rollover.cases import rollover_case
from benchmarks.sled import sled_case
from benchmarks.sled_belts import belts_case
from benchmarks.tackle import tackle_case

CASES: dict[str, Case] = {
    "tackle": tackle_case,
    "sled": sled_case,
    "belts": belts_case,
    "rollover": rollover_case,
    "pedestrian": pedestrian_case,
}


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
    found = {name: CASES[name](given.folder, given.subject) for name in given.case}
    if given.record:
        record(found)


if __name__ == "__main__":
    main()
