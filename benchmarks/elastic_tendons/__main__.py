"""Write the computed sections of docs/elastic_tendons.md and their figure.

python -m benchmarks.elastic_tendons [SECTION ...]

Without names all sections, some eight minutes. The recorded walk is that of tests/real/rajagopal_walk.toml;
MUSCLESOLVE_DATA names another folder that holds it.
"""

from __future__ import annotations

import sys

from benchmarks.elastic_tendons import agreement, between, drawing, published, times
from benchmarks.timing import console
from benchmarks.validation.page import PAGE as VALIDATION
from benchmarks.validation.page import Absent, written

PAGE = VALIDATION.parent / "elastic_tendons.md"
SECTIONS = {
    "emg": agreement.emg,
    "costs": agreement.costs,
    "forces": agreement.forces,
    "push_off": published.push_off,
    "calf": drawing.calf,
    "published": published.published,
    "loads": times.loads,
    "times": times.times,
    "growth": times.growth,
    "starts": times.starts,
    "between": between.between,
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
            sys.exit(str(reason))
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        console.print(f"{name:10} written")


if __name__ == "__main__":
    main(sys.argv[1:])
