"""The recording of a draft as far as it can be read, with usual values in place of what is still open."""

from __future__ import annotations

import tempfile
from pathlib import Path

from musclesolve.checking.case import Case
from musclesolve.checking.loading import load
from musclesolve.drafting.writing.draft_text import DraftTable, Line, draft_text
from musclesolve.errors import MuscleSolveError

USUAL = {"mass_kg": 70.0, "stature_m": 1.7, "sex": "male", "knee_width_m": 0.1, "ankle_width_m": 0.07}
"""What stands for the subject while the recording is looked at; nothing of it is written."""


def working_case(tables: tuple[DraftTable, ...], files: dict[str, Path]) -> Case | None:
    """The case of a draft, None where there is none: no motion, or nothing that could be looked at."""
    subject = DraftTable("subject", tuple(Line(key, value) for key, value in USUAL.items()))
    named = DraftTable("files", tuple(Line(role, str(path.absolute())) for role, path in files.items()))
    kept = tuple(table for table in tables if table.name not in ("subject", "files") and table.written)
    try:
        with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
            path = Path(folder) / "trial.toml"
            path.write_text(draft_text((), (subject, named, *kept)), encoding="utf-8")
            return load(path)[0]
    except (MuscleSolveError, ArithmeticError, LookupError, ValueError):
        # What is wrong with the recording is for `check` to say; the draft does without what it would show.
        return None
