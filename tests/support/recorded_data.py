"""Where recorded data lies, beside the repository or where MUSCLESOLVE_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def recorded(name: str) -> Path:
    """A folder or file of the recorded data; the test that asks for it is skipped where it is absent."""
    path = Path(os.environ.get("MUSCLESOLVE_DATA", REPOSITORY / ".." / "shared" / "data")) / name
    if not path.exists():
        pytest.skip(f"no {path} (set MUSCLESOLVE_DATA to the folder that holds {name})")
    return path
