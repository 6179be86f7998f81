"""The recorded walk without [time]: the left foot's earlier and later stance were not measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from said import judgement
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve._util.arrays import true_runs
from musclesolve.constants import LOADED_FROM_N
from musclesolve.laboratory import Trial
from musclesolve.laboratory.results.dataset import frame_validity as frames


@pytest.fixture(scope="module")
def path(recorded_walk_trial: Trial, tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = recorded_walk_trial.path.read_text(encoding="utf-8")
    given = "[time]\nstart_s = 0.45\nend_s = 1.80\n"
    assert given in text
    path = tmp_path_factory.mktemp("walk") / "trial.toml"
    path.write_text(text.replace(given, ""), encoding="utf-8")
    return path


def test_both_feet_were_measured_from_0_45_s_on(path):
    trial = ms.read_trial(path)
    assert trial.balanced_range == pytest.approx((0.45, 1.96), abs=0.015)
    assert trial.legs["l"] == trial.balanced_range
    assert trial.legs["r"] == trial.time_range == pytest.approx((0.1, 2.27), abs=0.001)
    assert "beside the plates (0.00 to 0.44 s)" in trial.analyzed[1]


def test_check_finds_nothing_wrong(path):
    report = examined(path)
    assert report.ok
    assert {finding.severity for finding in report.findings} == {"note"}
    (said,) = [finding.what for finding in report.findings if finding.code == "analyzed"]
    assert "Left leg: 0.46 to 1.96 s; before it the foot is on the floor beside the plates" in said


def test_forces_are_those_of_the_range_given_by_hand(path, recorded_walk_trial):
    found, by_hand = ms.run(path), ms.run(recorded_walk_trial)
    assert judgement(found).complete
    assert (frames.unsolved(found, "l").sum(), frames.not_measured(found, "r").sum()) == (0, 0)
    first = int(np.searchsorted(found.time, by_hand.time[0] - 0.001))
    same = found.isel(time=slice(first, first + by_hand.sizes["time"]))
    # The left leg begins a frame or two later.
    kept = ~frames.not_measured(same, "l")
    assert kept.sum() >= by_hand.sizes["time"] - 2
    # Lengths that are averaged over the range differ by what joint centers wander: a few hundredths of a millimeter.
    force = (same.muscle_force - by_hand.muscle_force).values[kept]
    moment = (same.joint_moment - by_hand.joint_moment).values[kept]
    assert np.sqrt(np.mean(force**2)) < 1.0 and np.abs(force).max() < 50.0
    assert np.abs(moment).max() < 0.5


def other_mass(copy: TrialCopy) -> None:
    copy.set_key("subject", "mass_kg", f"{1.15 * copy.settings.subject.mass_kg:.2f}")


def other_marker(copy: TrialCopy) -> None:
    copy.set_key("mapping", "toe_r", '"R.Tow"')


@pytest.mark.parametrize(("change", "code"), [(other_mass, "mass"), (other_marker, "mapping")])
def test_faults_are_found_as_in_a_range_given_by_hand(
    path: Path, tmp_path: Path, change: Callable[[TrialCopy], None], code: str
) -> None:
    copy = TrialCopy(path)
    change(copy)
    assert copy.examined(tmp_path).codes == (code,)


def test_a_contact_that_was_not_measured_ends_the_range(path: Path, tmp_path: Path) -> None:
    copy = TrialCopy(path)
    (plate,) = copy.plates("l")
    loaded = true_runs(copy.plate(plate, "force")[:, 2] > LOADED_FROM_N)
    first, last = max(loaded, key=lambda contact: contact[1] - contact[0])
    lost = slice(max(first - 40, 0), last + 40)
    for role in ("force", "moment"):
        vectors = copy.plate(plate, role)
        vectors[lost] = 0.0
        copy.set_plate(plate, role, vectors)
    report = copy.examined(tmp_path)
    (said,) = [finding.what for finding in report.findings if finding.code == "analyzed"]
    assert report.ok and "Left leg: 1.60 to 1.96 s; before it the foot is on the floor" in said
