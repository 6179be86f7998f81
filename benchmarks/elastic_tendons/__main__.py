"""Compute the sections of docs/elastic_tendons.md and their figure.

python -m benchmarks.elastic_tendons [SECTION ...] [-o FOLDER | --write]

Without names all sections, some minutes. They are printed; with -o a copy of the page and its figure go into a
folder, with --write into docs. The recorded walk is the trial tests/real/rajagopal_walk.toml;
MUSCLESOLVE_DATA names another folder that holds it.
"""

from __future__ import annotations

from benchmarks.elastic_tendons import agreement, drawing, published, times
from benchmarks.validation.page import PAGE as VALIDATION
from benchmarks.validation.page import write_sections

PAGE = VALIDATION.parent / "elastic_tendons.md"
SECTIONS = {
    "emg": agreement.emg,
    "costs": agreement.costs,
    "forces": agreement.forces,
    "push_off": published.push_off,
    "calf": drawing.calf,
    "published": published.published,
    "times": times.times,
}
"""What computes each section, by the name in its marker."""


if __name__ == "__main__":
    write_sections(PAGE, SECTIONS, __doc__)
