"""The cases of chapter 4 of Silva (2003): tackles (4.1), a belted occupant on a sled (4.2), a rollover (4.3).

    python -m benchmarks.impact_cases [FOLDER] [--case tackle sled ...] [--subject printed]

Prints what the text says beside what is found, and draws the motion and its histories into the folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.chapter_4 import STANDARD, SUBJECTS, Case
from benchmarks.rollover import rollover_case
from benchmarks.sled import sled_case
from benchmarks.tackle import tackle_case

CASES: dict[str, Case] = {"tackle": tackle_case, "sled": sled_case, "rollover": rollover_case}


def main(arguments: list[str] | None = None) -> None:
    """Simulate, print and draw the cases asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.impact_cases",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument(
        "--case", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help="all unless given"
    )
    parser.add_argument(
        "--subject",
        choices=SUBJECTS,
        default=STANDARD,
        help="81.52 kg with the printed inertia or de Leva's, or 70.25 kg",
    )
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.case:
        CASES[name](given.folder, given.subject)


if __name__ == "__main__":
    main()
