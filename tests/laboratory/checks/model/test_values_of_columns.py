"""Columns that were rounded, held, late or played backward are named by that, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded
from scipy.ndimage import uniform_filter1d

import musclesolve as ms
from benchmarks.planted_model_faults import on_column, trials
from musclesolve.files import Table, read_mot
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.posture import bounces
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.signals import low_pass

WALKS = "moments", "belt 1", "belt 3"


@cache
def walk(name: str) -> tuple[OpenSimModel, Table, Table]:
    """Model, coordinates and moments of a recorded walk."""
    with TemporaryDirectory() as folder:
        model, coordinates, moments, _ = trials(recorded("rajagopal_walk").parent)[name](Path(folder))
    assert moments is not None
    return ms.read_osim(model), read_mot(coordinates), read_mot(moments)


def changed(table: Table, change: Callable[[np.ndarray], np.ndarray]) -> Table:
    return replace(table, values=change(table.values.copy()))


def held(values: np.ndarray) -> np.ndarray:
    values[40:48] = values[40]
    return values


def found(model: OpenSimModel, coordinates: Table, moments: Table) -> list[tuple[str, str]]:
    """Code and first sentence of errors and warnings, but for what the sound file has."""
    findings = findings_of_body(modeled(model, coordinates, moments))
    said = [(each.code, each.what) for each in findings if each.severity != "note"]
    return [each for each in said if each[0] != "other_coordinates"]


@pytest.mark.parametrize("name", WALKS)
def test_rounded_moments_are_named_and_fine_rounding_is_none(name: str) -> None:
    model, coordinates, moments = walk(name)
    for step in (3.0, 5.0, 15.0):
        rounded = changed(moments, lambda values, step=step: step * np.round(values / step))
        ((code, what),) = found(model, coordinates, rounded)
        assert code == "noise" and f"multiples of {step:g} N m" in what
    assert not found(model, coordinates, changed(moments, lambda values: np.round(values, 1)))


@pytest.mark.parametrize("name", WALKS)
def test_rounded_coordinates_are_named_and_fine_rounding_is_none(name: str) -> None:
    model, coordinates, moments = walk(name)
    angles = np.array(
        [not each.startswith("pelvis_t") or each == "pelvis_tilt" for each in coordinates.names]
    )
    for step in (1.0, 3.0):
        rounded = changed(
            coordinates, lambda values, step=step: np.where(angles, step * np.round(values / step), values)
        )
        assert ("noise", f"multiples of {step:g} degrees") in [
            (code, what[what.index("multiples") : what.index(":")])
            for code, what in found(model, rounded, moments)
            if "multiples" in what
        ]
    fine = changed(coordinates, lambda values: np.where(angles, np.round(values, 2), values))
    assert not found(model, fine, moments)


@pytest.mark.parametrize("name", WALKS)
def test_rows_that_were_held_are_named_alone(name: str) -> None:
    model, coordinates, moments = walk(name)
    ((code, what),) = found(model, changed(coordinates, held), moments)
    assert code == "frames_repeated" and what.startswith("the coordinates") and what.endswith("held")
    ((code, what),) = found(model, coordinates, changed(moments, held))
    assert code == "frames_repeated" and what.startswith("the moments") and what.endswith("held")


@pytest.mark.parametrize("name", WALKS)
def test_a_motion_that_runs_backward_goes_backward(name: str) -> None:
    model, coordinates, moments = walk(name)
    backward = changed(coordinates, lambda values: values[::-1])
    assert any("backward over the ground" in what for _, what in found(model, backward, moments))


@pytest.mark.parametrize("name", ["belt 1", "belt 3"])
def test_an_angle_without_its_sign_is_named(name: str) -> None:
    model, coordinates, moments = walk(name)
    for angle in ("hip_flexion_r", "ankle_angle_l", "hip_rotation_l"):
        said = found(model, on_column(coordinates, angle, np.abs), moments)
        assert ("angle_sign", angle) in [
            (code, what.split()[3]) for code, what in said if "turn back" in what
        ]


@pytest.mark.parametrize("name", ["hip_flexion_l", "hip_rotation_r", "knee_angle_r", "ankle_angle_l"])
def test_an_angle_that_drifts_from_stride_to_stride_is_named(name: str) -> None:
    model, coordinates, moments = walk("moments")
    for by in (-20.0, 12.0):
        ramp = np.linspace(0.0, by, len(coordinates.time))
        said = found(model, on_column(coordinates, name, lambda angle, ramp=ramp: angle + ramp), moments)
        (drift,) = [what for code, what in said if code == "angle_offset"]
        assert drift.startswith(f"the values of {name} change by {'-' if by < 0.0 else '+'}")


@pytest.mark.parametrize("start", [0.0, 0.2, 0.4])
def test_less_than_a_stride_and_a_half_shows_no_drift(start: float) -> None:
    model, coordinates, moments = walk("moments")
    since = coordinates.time - coordinates.time[0]
    part = (since >= start) & (since <= start + 1.5)
    values = coordinates.values[part]
    cut = replace(coordinates, time=coordinates.time[part], values=values, lines=coordinates.lines[:0])
    assert not [what for _, what in found(model, cut, moments) if "stride" in what]


def test_angles_that_touch_or_cross_zero_keep_their_signs() -> None:
    time = np.linspace(0.0, 3.0, 200)
    wave = np.sin(2.0 * np.pi * time)
    rebound = np.where(time < 2.5, wave, np.abs(wave))  # near zero once, and below it elsewhere
    for sound in (wave, wave + 1.0, 1.0 + 0.0 * time, np.maximum(wave, 0.0), wave**2, rebound):
        assert bounces(sound) < 1.5
    assert bounces(np.abs(wave)) > 8.0


@pytest.mark.parametrize("by", [-0.025, 0.025])
def test_a_moment_that_is_late_alone_is_named(by: float) -> None:
    model, coordinates, moments = walk("moments")
    for column in ("ankle_angle_r", "ankle_angle_l"):
        late = on_column(
            moments, f"{column}_moment", lambda values: np.interp(moments.time - by, moments.time, values)
        )
        said = found(model, coordinates, late)
        assert any(
            code == "time_offset" and f"the moment of {column} is about" in what for code, what in said
        ), said


@pytest.mark.parametrize("name", WALKS)
def test_averaged_moments_are_named_and_a_usual_filter_is_not(name: str) -> None:
    model, coordinates, moments = walk(name)
    rate = 1.0 / float(np.diff(moments.time).mean())
    averaged = changed(moments, lambda values: uniform_filter1d(values, round(0.15 * rate), axis=0))
    assert "over_filtered" in {code for code, _ in found(model, coordinates, averaged)}
    usual = changed(moments, lambda values: low_pass(values, rate, 6.0))
    assert "over_filtered" not in {code for code, _ in found(model, coordinates, usual)}
