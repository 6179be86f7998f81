from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation

from musclesolve.laboratory.motion.anatomy.joint_centers import (
    assumed_standing,
    hip_center,
    hip_needs,
    hip_regressions,
    neutral_axes,
    pelvic_frame,
    shoulder_center,
    standing_hips,
    upright_tilt,
)

# By hand, in millimeters, for a pelvis 240 wide and 150 deep and a leg of 900.
THETA, BETA, C, X = np.deg2rad(28.4), np.deg2rad(18.0), 0.115 * 900 - 15.3, 0.1288 * 900 - 48.56 + 7.0
BY_HAND = {
    "davis_1991": (
        -X * np.cos(BETA) + C * np.cos(THETA) * np.sin(BETA),
        120 - C * np.sin(THETA),
        -X * np.sin(BETA) - C * np.cos(THETA) * np.cos(BETA),
    ),
    "bell_1990": (-0.19 * 240, 0.36 * 240, -0.30 * 240),
    "harrington_2007": (-0.24 * 150 - 9.9, 0.33 * 240 + 7.3, -0.30 * 240 - 10.9),
    "harrington_2007_leg_length": (
        -0.24 * 150 - 9.9,
        0.28 * 150 + 0.16 * 240 + 7.9,
        -0.16 * 240 - 0.04 * 900 - 7.1,
    ),
    "hara_2016": (11 - 0.063 * 900, 8 + 0.086 * 900, -9 - 0.078 * 900),
}
LENGTHS = {"width": 0.240, "depth": 0.150, "leg": 0.900}


def test_every_regression_has_an_example() -> None:
    assert set(BY_HAND) == set(hip_regressions())


@pytest.mark.parametrize("name", BY_HAND)
def test_regressions_against_the_hand(name: str) -> None:
    forward, out, up = (value / 1000 for value in BY_HAND[name])
    np.testing.assert_allclose(hip_center(name, LENGTHS, "l"), [forward, out, up], atol=2e-6)
    np.testing.assert_allclose(hip_center(name, LENGTHS, "r"), [forward, -out, up], atol=2e-6)


def test_a_regression_names_the_length_it_lacks() -> None:
    assert hip_needs("hara_2016") == {"leg"}
    with refused("missing_argument", "'leg'", "leg_length_m"):
        hip_center("hara_2016", {"width": 0.24, "depth": 0.15}, "r")


def test_an_unknown_regression_is_refused_with_the_nearest_name() -> None:
    with refused("unknown_name", "harrington_2007"):
        hip_center("harington_2007", LENGTHS, "r")


def test_the_shoulder_lies_below_the_acromion() -> None:
    center = shoulder_center(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.7]))
    np.testing.assert_allclose(center, [0.0, 0.0, 1.0 - 0.0312])


PELVIS = {
    "asis_r": np.array([0.0, -0.12, 0.0]),
    "asis_l": np.array([0.0, 0.12, 0.0]),
    "psis_r": np.array([-0.15, -0.05, 0.0]),
    "psis_l": np.array([-0.15, 0.05, 0.0]),
}


def turned(points: dict[str, np.ndarray], turn: Rotation, shift: tuple[float, ...] = (0.0, 0.0, 0.0)) -> dict:
    return {name: turn.apply(point) + shift for name, point in points.items()}


def test_hips_move_with_the_pelvis() -> None:
    turn, shift = Rotation.from_euler("zyx", [0.7, 0.3, -0.2]), (1.0, 2.0, 3.0)
    plain = standing_hips(PELVIS, "harrington_2007", {})
    np.testing.assert_allclose(plain["hip_r"], hip_center("harrington_2007", LENGTHS, "r"), atol=1e-12)
    moved = standing_hips(turned(PELVIS, turn, shift), "harrington_2007", {})
    for name in ("hip_r", "hip_l"):
        np.testing.assert_allclose(moved[name], turn.apply(plain[name]) + shift, atol=1e-12)


def test_a_sacrum_marker_serves_like_the_midpoint_of_the_psis() -> None:
    sacrum = {"asis_r": PELVIS["asis_r"], "asis_l": PELVIS["asis_l"], "sacrum": np.array([-0.15, 0.0, 0.0])}
    for one, other in zip(pelvic_frame(PELVIS), pelvic_frame(sacrum), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("yaw_deg", [0.0, 90.0, -160.0])
def test_neutral_removes_the_tilt_and_keeps_heading_and_obliquity(yaw_deg: float) -> None:
    heading = Rotation.from_euler("z", yaw_deg, degrees=True)
    oblique = Rotation.from_euler("x", 0.1)
    expected = (heading * oblique).as_matrix()
    for tilt in (-0.2, 0.0, 0.3):
        standing = turned(PELVIS, heading * oblique * Rotation.from_euler("y", tilt))
        np.testing.assert_allclose(neutral_axes(standing), expected, atol=1e-12)


def test_the_assumed_posture_has_the_tilt_that_is_asked_for() -> None:
    motion = turned(PELVIS, Rotation.from_euler("zyx", [0.4, -0.3, 0.1]))
    points = {name: np.stack([point, point + 1.0]) for name, point in motion.items()}
    standing = assumed_standing(points, np.deg2rad(11.0))
    slope = standing["asis_r"] - standing["psis_r"]
    assert np.rad2deg(np.arctan2(-slope[2], slope[0])) == pytest.approx(11.0)
    np.testing.assert_allclose(standing["asis_l"] - standing["asis_r"], [0.0, 0.24, 0.0], atol=1e-12)


def squatting(depth: np.ndarray, heading_deg: float = 0.0) -> dict[str, np.ndarray]:
    """A pelvis that tilts by 5 degrees upright and by 50 more at a depth of 1, 0.95 m above the heels less 0.5 m."""
    heading = Rotation.from_euler("z", heading_deg, degrees=True)
    frames = []
    for down in depth:
        place = (0.0, 0.0, 0.95 - 0.5 * down)
        tilted = turned(PELVIS, Rotation.from_euler("y", 5.0 + 50.0 * down, degrees=True), place)
        heels = {f"heel_{side}": np.array([0.0, y, 0.0]) for side, y in (("r", -0.1), ("l", 0.1))}
        frames.append(turned(tilted | heels, heading))
    return {name: np.stack([frame[name] for frame in frames]) for name in frames[0]}


@pytest.mark.parametrize("heading_deg", [0.0, 130.0])
def test_the_tilt_is_that_of_upright_frames(heading_deg: float) -> None:
    depth = np.concatenate([np.zeros(20), np.linspace(0.3, 1.0, 80)])
    found = upright_tilt(squatting(depth, heading_deg), stature=1.75)
    assert found is not None and np.rad2deg(found) == pytest.approx(5.0)


def test_who_is_never_upright_shows_no_tilt() -> None:
    assert upright_tilt(squatting(np.full(10, 0.4)), stature=1.75) is None
