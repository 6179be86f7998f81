"""Sweeps that ask the same of hundreds of cases: a part of them by default, all in `make test-thorough`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")

THOROUGH = os.environ.get("MUSCLESOLVE_TESTS") == "thorough"


def some(cases: Iterable[Case], every: int) -> list[Case]:
    """Every so many of the cases; all of them in a thorough run."""
    return list(cases)[:: 1 if THOROUGH else every]


def examples(count: int) -> int:
    """Return the number of inputs that hypothesis draws: a third, and all of them in a thorough run."""
    return count if THOROUGH else count // 3
