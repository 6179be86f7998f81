"""The readers themselves are tested here."""

from __future__ import annotations

import pytest

from musclesolve.tables import number_rows


@pytest.fixture(autouse=True)
def _every_text_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was parsed before (see `computed_once`)."""
    monkeypatch.setattr(number_rows, "_all_at_once", number_rows._all_at_once.__wrapped__)
