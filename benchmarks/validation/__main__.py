"""Write the sections of docs/validation.md and their figures from a computation.

python -m benchmarks.validation [SECTION ...]

Without names all sections. A section whose recordings are absent stays as it is, and the command says so. The
recordings are those of tests/real/rajagopal_walk.toml; MUSCLESOLVE_DATA names another folder that holds them.
"""

from __future__ import annotations

import sys

from benchmarks.timing import console
from benchmarks.validation import constitution, knee, recorded, synthetic
from benchmarks.validation.page import PAGE, Absent, written

SECTIONS = {
    "laws": constitution.laws,
    "solvers": constitution.solvers,
    "branches": constitution.branches,
    "recovery": synthetic.recovery,
    "criteria": synthetic.criteria,
    "opensim": recorded.opensim,
    "emg": recorded.emg,
    "sets": recorded.sets,
    "costs": recorded.costs,
    "knee": knee.knee,
}
"""What computes each section, by the name in its marker."""


def main(names: list[str]) -> None:
    """Compute sections and write them into the page."""
    if unknown := [name for name in names if name not in SECTIONS]:
        sys.exit(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    for name in names or SECTIONS:
        try:
            text = SECTIONS[name]()
        except Absent as reason:
            console.print(f"{name:10} unchanged: {reason}")
            continue
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        console.print(f"{name:10} written")


if __name__ == "__main__":
    main(sys.argv[1:])
