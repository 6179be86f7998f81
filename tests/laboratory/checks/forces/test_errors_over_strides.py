"""Errors that return in each stride: a plate turned about the vertical, a force that grows, a clock that wanders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import loaded
from recorded_data import recorded
from scipy.interpolate import make_interp_spline
from trial_copy import TrialCopy

from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.checks.forces.newtons_law import speed_of_belt
from musclesolve.laboratory.checks.forces.plate_balance import BalanceFit, _over_strides, balance
from musclesolve.laboratory.forces import prepare
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic.places import plate_middles

Measured = tuple[Trial, BalanceFit]


def balance_of(path: Path) -> Measured:
    body = prepare(path)
    assert isinstance(body, RecordedBody)
    measured = balance(body.trial, body.mechanics)
    assert measured is not None
    return body.trial, measured


@pytest.fixture(scope="module")
def treadmill() -> Measured:
    """Five seconds on two belts."""
    return balance_of(recorded("treadmill_emg/s01/trial.toml"))


def turned(copy: TrialCopy, side: str, degrees: float) -> None:
    """Turn the plate of a foot to the left about its middle."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    rotation = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    (plate,) = copy.plates(side)
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    middle = plate_middles(force[:, 2], point)
    copy.set_plate(plate, "force", force @ rotation)
    copy.set_plate(plate, "point", middle + (point - middle) @ rotation)


def test_a_turned_plate_and_a_growing_force_are_found_together(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s01/trial.toml"))
    turned(copy, "r", 8.0)
    (plate,) = copy.plates("l")
    force = copy.plate(plate, "force").copy()
    force[:, 0] += np.linspace(0.0, -30.0, len(force)) * (force[:, 2] > 20.0)
    copy.set_plate(plate, "force", force)
    trial, measured = balance_of(copy.write(tmp_path))
    found = {(each.code, each.where.plate): each.what for each in _over_strides(trial, measured, [0, 1])}
    assert set(found) == {("plate_axes", "right"), ("plate_drift", "left")}
    assert "8 degrees to the right" in found["plate_axes", "right"]
    change = float(found["plate_drift", "left"].partition("changes by ")[2].split()[0])
    assert change == pytest.approx(-30.0, abs=9.0)


@pytest.mark.parametrize("period", [0.7, 1.5])
def test_a_clock_that_wanders_is_found(treadmill: Measured, period: float) -> None:
    trial, measured = treadmill
    wave = 0.02 * np.sin(2.0 * np.pi * measured.time / period)[:, None]
    spoiled = replace(measured, residual=measured.residual + wave * measured.change)
    (found,) = _over_strides(trial, spoiled, [0, 1])
    assert found.code == "clock_rate"
    size = float(found.what.partition("varies by ")[2].split()[0])
    assert size == pytest.approx(20.0 / np.sqrt(2.0), rel=0.25)


def test_a_sound_treadmill_has_none(treadmill: Measured) -> None:
    assert list(_over_strides(*treadmill, [0, 1])) == []


@pytest.mark.parametrize("name", ["treadmill_emg/s01/trial.toml", "treadmill_walk/p3/walk.toml"])
@pytest.mark.parametrize(("size", "period"), [(0.0, 1.0), (0.01, 0.7), (0.01, 1.5)])
def test_soles_on_a_belt_show_the_clock_of_the_markers(name: str, size: float, period: float) -> None:
    case = loaded(recorded(name))
    markers, time = case.trial.markers, case.trial.markers.time
    at = time + size * np.sin(2.0 * np.pi * (time - time[0]) / period)
    seen = make_interp_spline(time, np.nan_to_num(markers.position), k=1)(at)
    position = np.where(np.isfinite(markers.position), seen, np.nan)
    spoiled = case.with_trial(replace(case.trial, markers=replace(markers, position=position)))
    assert [each.code for each in speed_of_belt(spoiled)] == ["clock_rate"] * (size > 0.0)


def test_ground_that_rests_shows_no_clock() -> None:
    case = loaded(Path(reference_stride()))
    assert list(speed_of_belt(case)) == []


@pytest.mark.parametrize(("radians", "is_found"), [(0.0, False), (-0.3, True), (0.3, True)])
def test_a_whole_contact_shows_a_turned_plate(treadmill: Measured, radians: float, is_found: bool) -> None:
    trial, measured = treadmill
    short = measured.time < measured.time[0] + 2.0
    across = np.cross([0.0, 0.0, 1.0], measured.wrench[0][:, :3])
    cut = replace(
        measured,
        time=measured.time[short],
        residual=(measured.residual + radians * np.pad(across, ((0, 0), (0, 3))))[short],
        change=measured.change[short],
        wrench=[each[short] for each in measured.wrench],
        segments={name: part[short] for name, part in measured.segments.items()},
        channels=[{name: part[short] for name, part in each.items()} for each in measured.channels],
    )
    found = [(f.code, f.where.plate) for f in _over_strides(trial, cut, [0, 1])]
    assert found == [("plate_axes", "right")] * is_found


@pytest.mark.parametrize("millimeters", [2.0, 4.0])
def test_markers_on_moving_skin_turn_no_plate(tmp_path: Path, millimeters: float) -> None:
    trial, measured = balance_of(synthetic_recording(tmp_path, noise="skin", noise_mm=millimeters, strides=3))
    assert not list(_over_strides(trial, measured, [0, 1]))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("trial", ["stride", "walk"])
def test_a_clock_that_changes_is_found(
    trial: str, sign: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    """20 ms of the forces are missing amid the range, or stand twice; without them there is nothing to find."""
    copy = TrialCopy({"stride": reference_stride(), "walk": recorded_walk_trial.path}[trial])
    time, (start, end) = copy.forces.time, copy.span
    shift = np.where(time > 0.5 * (start + end), sign * 0.02, 0.0)
    copy.forces = replace(
        copy.forces,
        values=np.stack([np.interp(time + shift, time, column) for column in copy.forces.values.T], axis=1),
    )
    report = copy.examined(tmp_path)
    (found,) = (each for each in report.findings if each.code == "clock_rate")
    assert f"{'earlier' if sign > 0.0 else 'later'} than at other times" in found.what
    at, size = (
        float(found.what.partition(word)[2].split()[0]) for word in ("clearly from ", "the forces are ")
    )
    assert 6.0 < size < 25.0 and at == pytest.approx(0.5 * (start + end), abs=0.3)


@pytest.mark.parametrize("gain", [0.88, 1.12])
def test_a_gain_that_changes_is_found(gain: float, tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s01/trial.toml"))
    (plate,), middle = copy.plates("l"), len(copy.forces.time) // 2
    force = copy.plate(plate, "force").copy()
    force[middle:] *= gain
    copy.set_plate(plate, "force", force)
    (found,) = (each for each in copy.examined(tmp_path).findings if each.code == "plate_scale")
    assert found.where.plate == "left"
    assert float(found.what.partition(" it shows ")[2].split()[0]) == pytest.approx(gain, abs=0.04)
