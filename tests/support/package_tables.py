"""Tables of the package: files of numbers and words, and the settings of a trial file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import musclesolve as ms
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.settings import tables_of


@cache
def package_table(place: str) -> dict[str, Any]:
    """The content of a TOML file at a place below the package."""
    return tomllib.loads((Path(ms.__file__).parent / place).read_text(encoding="utf-8"))


def trial_tables() -> dict[str, Any]:
    """The tables that a trial file may have, with their settings."""
    return dict(tables_of(RecordedSettings))
