"""Where recorded data lies, beside the repository or where MUSCLESOLVE_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def recorded(name: str) -> Path:
    """A folder or file of the recorded data; the test is skipped where it is absent.

    A complete run (`skips.py`) may skip the tests of recorded data where there is none at all, but no test where a
    part of the data is absent.
    """
    __tracebackhide__ = True
    folder = Path(os.environ.get("MUSCLESOLVE_DATA", REPOSITORY / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("there is no folder of recorded data (MUSCLESOLVE_DATA)")
    if not (folder / name).exists():
        pytest.skip(f"the recorded data has no {name}")
    return folder / name
