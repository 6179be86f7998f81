"""Compute the sections of docs/validation.md and their figures.

python -m benchmarks.validation [SECTION ...] [-o FOLDER | --write]

Without names all sections. They are printed; with -o a copy of the page and its figures go into a folder, with --write
into docs. A section whose recordings are absent stays as it is, and the command says so. The recordings are the trials
of tests/real/rajagopal_walk.toml; MUSCLESOLVE_DATA names another folder that holds them.
"""

from __future__ import annotations

from benchmarks.validation import constitution, knee, predicted, recorded, synthetic
from benchmarks.validation.page import PAGE, write_sections

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
    "bands": knee.knee_bands,
    "predicted": predicted.predicted,
}
"""What computes each section, by the name in its marker."""


if __name__ == "__main__":
    write_sections(PAGE, SECTIONS, __doc__)
