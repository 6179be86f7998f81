"""The stride against the published curves in tools/reference_stride: angles, ground reaction, moments, sole."""

import csv
from pathlib import Path

import numpy as np
import pytest

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.studies.synthetic import reference_stride

TABLES = Path(__file__).resolve().parents[4] / "tools" / "reference_stride"
STANDING_TILT = 11.0  # deg, tools/reference_stride/aims.toml
LEAST_DEVIATION = 0.05  # N m/kg
MOMENTS = {
    "hip_flexion": "winter_1991.csv",
    "hip_adduction": "schwartz_2008.csv",
    "knee_flexion": "winter_1991.csv",
    "ankle_dorsiflexion": "winter_1991.csv",
}


def table(name):
    lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def stride():
    return reference_stride()


@pytest.fixture(scope="module")
def schwartz():
    return table("schwartz_2008.csv")


def times(stride, columns):
    return columns["percent"] / 100.0 * stride.period


@pytest.mark.parametrize("dof", sorted(MOMENTS))
@pytest.mark.parametrize("side", ["r", "l"])
def test_joint_moments_lie_inside_the_bands(stride, schwartz, dof, side):
    """Winter's means (Schwartz' for hip adduction) and two of Schwartz' standard deviations, at every row but one.

    The ankle moment at 94 % is a misprint in the table of Winter, five times larger than its neighbors.
    """
    columns = table(MOMENTS[dof])
    time = times(stride, columns) + (0.5 * stride.period if side == "l" else 0.0)
    moment = (
        stride.joint_moments(time)[:, stride.dof_names.index(f"{dof}_{side}")] / stride.person.subject.mass
    )
    deviation = np.maximum(schwartz[f"{dof}_moment_sd"], LEAST_DEVIATION)
    used = (columns["percent"] != 94.0) | (dof != "ankle_dorsiflexion")
    away = (np.abs(moment - columns[f"{dof}_moment"]) / deviation)[used]
    assert away.max() < 2.0
    assert np.sqrt(np.mean(away**2)) < 1.1


@pytest.mark.parametrize(
    ("dof", "zero"),
    [
        ("hip_flexion", STANDING_TILT),
        ("hip_adduction", 0.0),
        ("knee_flexion", 0.0),
        ("ankle_dorsiflexion", 0.0),
    ],
)
def test_joint_angles_follow_the_published_curves(stride, schwartz, dof, zero):
    angle = np.rad2deg(stride.joint_angles(times(stride, schwartz))[:, stride.dof_names.index(f"{dof}_r")])
    away = np.abs(angle + zero - schwartz[f"{dof}_deg"]) / schwartz[f"{dof}_deg_sd"]
    assert away.max() < 1.0


def test_the_ground_reaction_follows_winters(stride):
    winter = table("winter_1991.csv")
    force = stride.wrenches(times(stride, winter))[0].force / stride.person.subject.mass
    for column, name, most in ((0, "force_forward", 0.03), (2, "force_up", 0.07)):
        off = (force[:, column] - winter[name]) / STANDARD_GRAVITY
        assert np.sqrt(np.mean(off**2)) < most


@pytest.mark.parametrize("side", [0, 1])
def test_vertical_force_peaks_twice_between_one_and_one_point_two_body_weights(stride, side):
    from scipy.signal import find_peaks

    time = np.arange(2000) / 2000.0 * stride.period
    up = np.roll(stride.wrenches(time)[side].force[:, 2], 1000 * side) / stride.person.weight
    peaks, _ = find_peaks(up, prominence=0.02)
    assert len(peaks) == 2
    assert ((up[peaks] > 1.0) & (up[peaks] < 1.2)).all()
    assert up.min() > -1e-6


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_center_of_pressure_stays_in_the_outline_of_the_foot(stride, side):
    """The outline is from heel to tip of the toes and half a sole to each side; the point always moves forward."""
    time = np.linspace(0.0, stride.period, 3001) + (0.5 * stride.period if side == "l" else 0.0)
    ground = stride.ground(time, loaded_above=2.0)[side]
    loaded = np.isfinite(ground.point[:, 0])
    names, foot = stride.marker_names, stride.person.settings["foot"]
    # The foot stands still from when it is flat until the heel rises.
    flat = stride.markers(time[:1] + 0.2 * stride.period)[0]
    heel, ball = (flat[names.index(f"{name}_{side}"), :2] for name in ("heel", "toe"))
    forward = (ball - heel) / np.linalg.norm(ball - heel)
    away = ground.point[loaded, :2] - ball
    ahead, beside = away @ forward, away @ np.array([-forward[1], forward[0]])
    assert loaded.mean() > 0.58
    assert ahead.min() > -stride.person.sole_length
    assert ahead.max() < foot["tip"]
    assert np.abs(beside).max() < foot["half_width"]
    assert (np.maximum.accumulate(ahead) - ahead).max() < 0.006


def test_the_tables_say_where_they_come_from():
    for name, source in (("winter_1991.csv", "Winter DA (1991)"), ("schwartz_2008.csv", "Schwartz MH")):
        text = (TABLES / name).read_text(encoding="utf-8")
        assert source in text
        assert len(table(name)["percent"]) == 51
