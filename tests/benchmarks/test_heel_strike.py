"""The table of methods that find heel strikes."""

from __future__ import annotations

import pytest

from benchmarks.heel_strike import report_events
from musclesolve.data import reference_stride


def test_the_table_of_events_has_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    report_events([reference_stride()])
    shown = capsys.readouterr().out
    assert all(
        f"{name}" in shown for name in ("Zeni", "O'Connor, 8 Hz", "Ghoussayni, 15 Hz", "Hreljac, 20 Hz")
    )
