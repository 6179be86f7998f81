"""Unusual but correct recordings have no findings; findings about faults state their size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from treadmill import on_a_treadmill
from trial_copy import TrialCopy

import musclesolve
from musclesolve import check
from musclesolve.laboratory import Trial, forces
from musclesolve.laboratory.checks.case import examine
from musclesolve.laboratory.checks.forces.newtons_law import COMPARED
from musclesolve.laboratory.recording import data
from musclesolve.laboratory.run_trial import run
from musclesolve.laboratory.trial import trial_file
from musclesolve.studies import synthetic_recording

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def test_a_recording_is_read_and_posed_once(walk_with_emg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that `check` and `run` both need are computed once, those of EMG too."""
    asked: Counter[str] = Counter()

    def counted(place: object, name: str) -> None:
        function = getattr(place, name)

        def once_more(*arguments: object, **options: object) -> object:
            asked[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(place, name, once_more)

    counted(trial_file.TrialReader, "trial")
    counted(forces, "consistent_motion")
    counted(data, "channel_states")
    monkeypatch.setattr(
        "musclesolve.laboratory.checks.check.examine", examine
    )  # not what another test has found
    for compute in (check, run):
        asked.clear()
        compute(walk_with_emg)
        assert asked == {"trial": 1, "consistent_motion": 1, "channel_states": 1}, compute


def test_a_treadmill_is_no_fault(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    on_a_treadmill(copy)
    assert check(copy.write(tmp_path)).codes == ()


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "options",
    [
        {"noise_mm": 1.2, "force_noise_n": 2.0},
        {"strides": 5, "noise_mm": 1.0, "force_rate_hz": 300.0},
        {"marker_set": "plug_in_gait", "forward": "-y", "up": "+x"},
        {"marker_set": "silva_2003", "decimals": 0},
        {"marker_rate_hz": 60.0, "noise": "skin", "noise_mm": 3.0},
    ],
)
def test_recordings_of_the_reference_stride_are_clean(options: dict[str, object], tmp_path: Path) -> None:
    report = check(synthetic_recording(tmp_path, truth=False, **options))
    assert report.codes == (), str(report)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("late_ms", "frames"), [(-120, COMPARED), (20, COMPARED), (20, 20)])
def test_shifts_are_measured_to_a_few_milliseconds(
    late_ms: int, frames: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a recording with more than `COMPARED` frames some of them suffice."""
    monkeypatch.setattr("musclesolve.laboratory.checks.forces.newtons_law.COMPARED", frames)
    copy = TrialCopy(STRIDE)
    copy.forces = replace(copy.forces, time=copy.forces.time + 0.001 * late_ms)
    found = [f for f in check(copy.write(tmp_path)).findings if f.code == "time_offset"]
    assert len(found) == 1
    measured = float(found[0].what.partition("(")[2].partition(" ms")[0])
    assert measured == pytest.approx(late_ms, abs=3.0)
    assert found[0].severity == ("error" if abs(late_ms) >= 30 else "warning")


@pytest.mark.in_part(2)
@pytest.mark.parametrize("left_mm", [-100, 100])
def test_displaced_plates_are_measured(left_mm: int, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    (plate,) = copy.plates("l")
    copy.set_plate(plate, "point", copy.plate(plate, "point") + np.array([0.0, 0.001 * left_mm, 0.0]))
    (found,) = [f for f in check(copy.write(tmp_path)).findings if f.code == "pressure_offset"]
    measured = float(found.what.partition("forward, ")[2].partition(" mm")[0])
    assert measured == pytest.approx(left_mm, abs=15.0)
    assert found.where.plate == "left"
