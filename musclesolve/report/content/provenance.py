"""Where the numbers come from: files with hashes, options, versions."""

from __future__ import annotations

import platform

import numpy as np

from musclesolve.report.content.pieces import Table, digest
from musclesolve.report.inputs import KIND_NAMES, Inputs, TrialFiles
from musclesolve.results.dataset.attributes import listed, text
from musclesolve.version import __version__

APART = {"inputs", "notes", "completed", "recipe", "measures", "reasons_r", "reasons_l", "reasons_other"}
"""Attributes that stand elsewhere in the page, or are for the program itself."""


def given_files(inputs: Inputs) -> Table:
    """The files that the page was made from."""
    rows = [
        (
            source.path.name,
            KIND_NAMES[source.kind],
            text(source.data, "musclesolve_version", "–"),
            digest(source.digest),
        )
        for source in inputs.sources
    ]
    return Table("Files of this report", ("file", "what", "made by version", "SHA-256"), rows)


def provenance(trial: TrialFiles) -> dict[str, object]:
    """Files that the result was computed from, and the options that it was computed with."""
    result = trial.base
    files = []
    for line in listed(result, "inputs"):
        named, _, hashed = line.rpartition(" sha256:")
        role, _, name = named.partition(" ")
        files.append((role, name, digest(hashed)))
    options = [(name, _shown(value)) for name, value in result.attrs.items() if name not in APART]
    tables = [
        Table("Options and subject, as stored in the result", ("attribute", "value"), options, compact=True)
    ]
    if files:
        tables.insert(0, Table("Files that the result was computed from", ("role", "file", "SHA-256"), files))
    return {"tables": tables, "without_files": not files}


def versions() -> list[tuple[str, str]]:
    """What made the page."""
    return [("musclesolve", __version__), ("Python", platform.python_version()), ("NumPy", np.__version__)]


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value or "–"
    parts = np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    return ", ".join(f"{part:.6g}" if isinstance(part, float) else str(part) for part in parts) or "–"
