"""Columns of angles that are exchanged, or in another unit, are named by the floor and by the other leg."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded

import musclesolve as ms
from benchmarks.planted_model_faults import on_column, trials
from musclesolve.files import Table, read_mot
from musclesolve.laboratory.analysis.opensim.coordinate_motion import coordinate_motion
from musclesolve.laboratory.checks.model.coordinates import angle_units, frozen_coordinates
from musclesolve.laboratory.checks.model.model_case import Motion
from musclesolve.laboratory.checks.model.posture import feet_on_floor, unlike_twins

WALKS = "moments", "belt 1", "belt 3"


@cache
def walk(name: str):
    """A recorded walk of a model, and its coordinates."""
    with TemporaryDirectory() as folder:
        model, coordinates, moments, _ = trials(recorded("rajagopal_walk").parent)[name](Path(folder))
    return modeled(ms.read_osim(model), coordinates, moments), read_mot(coordinates)


def moved(name: str, table: Table):
    body = replace(walk(name)[0], motion=coordinate_motion(walk(name)[0].model, table, None), dynamics=None)
    return body, Motion.from_body(body)


def found(name: str, table: Table):
    return list(feet_on_floor(*moved(name, table)))


def exchanged(table: Table, *pairs: tuple[str, str]) -> Table:
    other = dict(pairs) | {two: one for one, two in pairs}
    return replace(table, names=tuple(other.get(name, name) for name in table.names))


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize(
    "pairs",
    [
        [("hip_flexion_r", "knee_angle_r")],
        [("knee_angle_l", "ankle_angle_l")],
        [("hip_flexion_r", "hip_flexion_l")],
        [("hip_flexion_r", "knee_angle_r"), ("hip_flexion_l", "knee_angle_l")],
        [("knee_angle_r", "knee_angle_l"), ("ankle_angle_r", "ankle_angle_l")],
    ],
)
def test_exchanged_columns_are_named(name: str, pairs: list[tuple[str, str]]) -> None:
    (fault,) = found(name, exchanged(walk(name)[1], *pairs))
    said = ", and ".join(" and ".join(pair) for pair in pairs)
    assert fault.code == "columns_exchanged" and f"with {said} exchanged" in fault.what, fault.what


@pytest.mark.parametrize("name", WALKS)
def test_an_angle_that_is_a_copy_of_another_one_is_named(name: str) -> None:
    table = walk(name)[1]
    copied = on_column(table, "knee_angle_r", lambda _: table.values[:, table.names.index("knee_angle_l")])
    assert [fault.code for fault in frozen_coordinates(*moved(name, copied))] == ["angle_copied"]
    assert not list(frozen_coordinates(*moved(name, table)))


@pytest.mark.parametrize("name", WALKS)
def test_exchanged_legs_are_named(name: str) -> None:
    """In a symmetric walk reversed hip adductions are nearly as good an explanation."""
    right = [column for column in walk(name)[1].names if column.endswith("_r")]
    pairs = [(column, f"{column[:-1]}l") for column in right if f"{column[:-1]}l" in walk(name)[1].names]
    assert [fault.code for fault in found(name, exchanged(walk(name)[1], *pairs))] == ["sides_swapped"]


@pytest.mark.parametrize("trial", ["walking2", "walking3"])
def test_exchanged_legs_with_joints_in_the_foot_are_named(trial: str) -> None:
    """The soles depend on the subtalar joint, too: without its exchange reversed hip adductions explain more."""
    service = recorded("addbiomechanics") / "opencap_subject"
    table = read_mot(service / "IK" / f"{trial}_ik.mot")
    right = [column for column in table.names if column.endswith("_r")]
    swapped = exchanged(table, *((column, f"{column[:-1]}l") for column in right))
    loads = service / "ID" / f"{trial}_grf.mot"
    body = modeled(ms.read_osim(service / "Models" / "final.osim"), swapped, loads=loads)
    (fault,) = feet_on_floor(body, Motion.from_body(body))
    assert "with right and left leg exchanged" in fault.what, fault.what
    assert "exchange the columns of" in fault.remedy, fault.remedy


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("column", ["hip_flexion_l", "knee_angle_r", "ankle_angle_r"])
def test_one_column_in_radians_is_named(name: str, column: str) -> None:
    (fault,) = found(name, on_column(walk(name)[1], column, np.radians))
    assert fault.code == "angle_units" and f"with {column} read as radians" in fault.what, fault.what


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize(
    ("column", "kept", "middle"),
    [("ankle_angle_r", 0.05, 0.0), ("knee_angle_l", 0.03, 0.3), ("knee_angle_r", 0.4, 0.6)],
)
def test_a_stiff_joint_is_no_fault_of_a_column(name: str, column: str, kept: float, middle: float) -> None:
    """A joint that hardly moves differs from the other leg, and no exchange and no unit makes it alike."""
    stiff = on_column(
        walk(name)[1], column, lambda angle: kept * angle + middle * (1.0 - kept) * angle.mean()
    )
    assert not {each.code for each in found(name, stiff)} & {"columns_exchanged", "angle_units", "angle_sign"}


def test_radians_called_degrees_on_a_belt_are_an_error() -> None:
    """The body stays in place, and its feet walk once the angles are read as radians."""
    table = walk("belt 3")[1]
    angles = [
        k for k, name in enumerate(table.names) if not name.startswith("pelvis_t") or name == "pelvis_tilt"
    ]
    values = table.values.copy()
    values[:, angles] = np.radians(values[:, angles])
    units, still = (
        list(angle_units(*moved("belt 3", replace(table, values=factor * values, in_degrees=True))))
        for factor in (1.0, 0.01)
    )
    assert [each.severity for each in (*units, *still)] == ["error", "warning"]


def test_a_leg_that_repeats_the_other_half_a_stride_later_differs_by_nothing() -> None:
    time, step = np.arange(0.0, 1.6, 0.01), 0.01
    right = np.stack([np.sin(2.0 * np.pi * time), np.cos(4.0 * np.pi * time) + time * 0.0], axis=1)
    left = np.stack([np.sin(2.0 * np.pi * (time + 0.5)), np.cos(4.0 * np.pi * (time + 0.5))], axis=1)
    both = np.stack([right, left], axis=2)
    apart = unlike_twins(np.array([both, both + np.array([0.0, 0.2])]), step)
    assert np.allclose(apart, [0.0, 0.2], atol=1e-9)
    assert np.isinf(unlike_twins(both[None, :60], step)).all()
