"""A check that fails hides no other finding, a pose that is not found is a finding, and JSON is always JSON."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import check
from musclesolve.cli.printing import json_text
from musclesolve.errors import InputError, MuscleSolveError, PoseError
from musclesolve.laboratory.checks.case import Case, Check
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.laboratory.results.finding import Finding, Where
from musclesolve.laboratory.results.judgement import Report

STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
checking = sys.modules["musclesolve.laboratory.checks.check"]
RAISED = {
    "unexpected": (ZeroDivisionError("division by zero"), "check_failed"),
    "refusal": (InputError("no such thing", remedy="another"), "refused"),
    "no solution": (MuscleSolveError("it does not converge"), "refused"),
    "no pose": (PoseError("no pose fits", (0.5, 0.51), (("knee_r", 0.2),)), "pose"),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with two faults that different checks find."""
    copy = TrialCopy(STRIDE)
    copy.move(copy.marker("heel_r"), slice(40, 70), np.nan)
    copy.set_key("subject", "mass_kg", "90.0")
    return copy.write(tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def usual(faulty: Path) -> list[Finding]:
    return examined_file(faulty, all_checks())


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", RAISED)
def test_a_check_that_raises_is_a_finding_beside_the_others(
    kind: str, faulty: Path, usual: list[Finding]
) -> None:
    error, code = RAISED[kind]

    def broken(case: Case) -> list[Finding]:
        raise error

    found = examined_file(faulty, (Check(broken), *all_checks()))
    (own,) = [f for f in found if f.code == code]
    assert own.severity == ("warning" if code == "check_failed" else "error")
    assert str(error).partition("\n")[0] in own.what
    assert {f for f in found if f is not own} == set(usual)
    if kind == "unexpected":
        assert "'broken'" in own.what and "ZeroDivisionError" in own.what


def test_reading_that_fails_by_itself_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise KeyError("side")

    monkeypatch.setattr(checking, "load", broken)
    report = check(STRIDE)
    assert (
        report.codes == ("check_failed",) and not report.ok and report.findings[0].what.count("KeyError") == 1
    )


def spinning(copy: TrialCopy) -> None:
    """The right forearm goes round the elbow three times a second."""
    angle = 20.0 * copy.walk.time
    rotation = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1).reshape(
        -1, 2, 2
    )
    elbow = copy.walk[copy.marker("elbow_lateral_r")]
    for part in ("wrist", "hand_radial", "hand_ulnar"):
        marker = copy.marker(f"{part}_r")
        away = copy.walk[marker] - elbow
        change = np.zeros_like(away)
        change[:, :2] = np.einsum("tij,tj->ti", rotation, away[:, :2]) - away[:, :2]
        copy.move(marker, slice(None), change)


def test_a_frame_without_a_pose_costs_that_stretch(tmp_path: Path) -> None:
    """The forearm spoils one frame of 78: it and six on either side are left out, the others are not."""
    copy = TrialCopy(STRIDE)
    spinning(copy)
    trial = copy.write(tmp_path)
    report = check(trial)
    (found,) = [finding for finding in report.findings if finding.code == "pose"]
    assert report.ok and found.severity == "warning"
    result = ms.run(trial)
    ((first, last),) = found.where.times
    inside = (result.time >= first - 1e-9) & (result.time <= last + 1e-9)
    assert inside.sum() == 13 and not result.consistent.values[inside].any()
    assert result.consistent.values[~inside].all() and not result.valid.values[inside].any()


def test_a_pose_that_is_not_found_is_a_finding_with_its_times_and_markers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as where more frames have none
    monkeypatch.setattr("musclesolve.dynamics.kinematics.pose_fit.FEW_UNFITTED", 0.0)
    copy = TrialCopy(STRIDE)
    spinning(copy)
    trial = copy.write(tmp_path)
    with pytest.raises(PoseError) as caught:
        ms.run(trial)
    report = check(trial)
    (found,) = report.of("error")
    assert found.code == "pose" and "no pose of the body fits" in found.what
    assert {copy.marker("elbow_lateral_r"), copy.marker("wrist_r")} <= set(found.where.markers)
    times = [time for span in found.where.times for time in span]
    assert min(times) <= caught.value.frames[0] + 1e-9 and max(times) >= caught.value.frames[-1] - 1e-9
    assert caught.value.worst[0][1] >= caught.value.worst[-1][1] > 0.0
    answer = typed("check", trial, "--json")
    assert answer.exit_code == 2
    assert json.loads(answer.stdout)["findings"][0]["code"] == "pose"


def test_a_failed_pose_travels_between_processes() -> None:
    error = PoseError("no pose fits", (0.5,), (("knee_r", 0.2),))
    same = pickle.loads(pickle.dumps(error))
    assert (str(same), same.frames, same.worst) == (str(error), error.frames, error.worst)


def _nothing(folder: Path) -> Path:
    return folder / "none.toml"


def _nonsense(folder: Path) -> Path:
    path = folder / "trial.toml"
    path.write_bytes(b"[subject\n\xff\xfe")
    return path


def _without_files(folder: Path) -> Path:
    path = folder / "trial.toml"
    path.write_text(STRIDE.read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [_nothing, _nonsense, _without_files])
def test_input_errors_are_json_too(make, tmp_path: Path) -> None:
    answer = typed("check", make(tmp_path), "--json")
    printed = json.loads(answer.stdout)
    assert answer.exit_code == 2
    assert printed["ok"] is False and printed["findings"][0]["severity"] == "error"


def test_json_holds_what_it_can(tmp_path: Path) -> None:
    where = Where(Path("a\udcff.trc"), np.int64(3), None, ("ä",), None, ((np.float64(0.5), float("nan")),))
    report = Report(tmp_path, (Finding("gap", "error", "≥ 3", "ü", where),))
    text = json_text(report.as_dict())
    assert text.isascii()
    (printed,) = json.loads(text)["findings"]
    assert printed["where"]["times"] == [[0.5, None]]
    assert printed["where"]["line"] == 3 and printed["what"] == "≥ 3"
