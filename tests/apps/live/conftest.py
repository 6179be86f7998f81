"""The bundled stride, prepared once for all tests of this folder."""

from __future__ import annotations

import pytest

from musclesolve.apps.live import Live
from musclesolve.cli import live_progress
from musclesolve.data import reference_stride


@pytest.fixture(autouse=True)
def idle_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say nothing of the load of the computer that runs the tests."""
    monkeypatch.setattr(live_progress, "busy_sentence", lambda: None)


@pytest.fixture(scope="session")
def prepared_stride() -> Live:
    live = Live(reference_stride())
    live.warm_up()
    return live


@pytest.fixture
def live(prepared_stride: Live) -> Live:
    """Without samples of the past."""
    prepared_stride.clear()
    return prepared_stride
