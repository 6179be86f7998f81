"""Compute the sections of docs/validation.md and their figures.

python -m benchmarks.validation [SECTION ...] [-o FOLDER | --write]

Without names all sections of the page. By name also solvers (all of them on one stride), branches (how far an error of
a point reaches) and criteria (two criteria of the thesis), which are printed. Sections are printed; with -o a copy of
the page and its figures go into a folder, with --write into docs. A section whose recordings are absent stays as it
is, and the command says so. The recordings are the trials of tests/real/rajagopal_walk.toml; MUSCLESOLVE_DATA names
another folder that holds them.
"""

from __future__ import annotations

from benchmarks.validation import constitution, knee, predicted, recorded, synthetic
from benchmarks.validation.page import PAGE, write_sections

SECTIONS = {
    "laws": constitution.laws,
    "recovery": synthetic.recovery,
    "opensim": recorded.opensim,
    "emg": recorded.emg,
    "sets": recorded.sets,
    "costs": recorded.costs,
    "knee": knee.knee,
    "bands": knee.knee_bands,
    "predicted": predicted.predicted,
}
"""What computes each section, by the name in its marker."""
PRINTED = {"solvers": constitution.solvers, "branches": constitution.branches, "criteria": synthetic.criteria}
"""What is printed, and has no section in the page."""


if __name__ == "__main__":
    write_sections(PAGE, SECTIONS, __doc__, printed=PRINTED)
