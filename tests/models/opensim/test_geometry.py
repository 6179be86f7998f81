"""Lengths and moment arms of OpenSim models: laws, and what OpenSim computes for sampled poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from refusals import refused
from scipy.signal import butter, filtfilt

from musclesolve import read_osim
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.geometry import difference_note
from musclesolve.tables import read_mot

MODELS = ["gait2392", "hamner_2010", "arm26", "rajagopal_2016", "rajagopal_lai_uhlrich_2023"]
STEP = 1e-6


def test_moment_arm_is_the_slope_of_the_length(small) -> None:
    """-dL/dq over every coordinate, with a conditional point, a wrap and a coupled patella."""
    rng = np.random.default_rng(5)
    names = [name for name in small.coordinates if name != "beta_r"]
    given = {name: rng.uniform(-0.3, 0.9, 6) for name in names}
    found = opensim_geometry(small, given)
    for k, name in enumerate(names):
        ends = [opensim_geometry(small, {**given, name: given[name] + s}).length for s in (STEP, -STEP)]
        np.testing.assert_allclose(found.moment_arm[:, k], -(ends[0] - ends[1]) / (2 * STEP), atol=2e-8)


def test_the_pelvis_moves_no_muscle_of_the_leg(small) -> None:
    found = opensim_geometry(small, {"px": np.array([0.4]), "ty": np.array([2.0])})
    np.testing.assert_allclose(found.moment_arm, 0.0, atol=1e-14)


def test_muscles_and_coordinates_are_chosen_by_name(small) -> None:
    given = {"knee_r": np.array([0.3, 0.6])}
    every = opensim_geometry(small, given, coordinates=["hip_a_r", "knee_r"])
    one = opensim_geometry(small, given, coordinates=["knee_r"], muscles=["two_r"])
    assert (one.coordinates, one.muscles) == (("knee_r",), ("two_r",))
    np.testing.assert_allclose(one.length[:, 0], every.length[:, 1], atol=1e-14)
    np.testing.assert_allclose(one.moment_arm[:, 0, 0], every.moment_arm[:, 1, 1], atol=1e-14)


def test_names_may_stand_alone_and_be_generated(small) -> None:
    given = {"knee_r": np.array([0.3, 0.6])}
    alone = opensim_geometry(small, given, coordinates="knee_r", muscles="two_r")  # type: ignore[arg-type]
    generated = opensim_geometry(small, given, (each for each in given), (each for each in ["two_r"]))  # type: ignore[arg-type]
    assert alone.coordinates == generated.coordinates == ("knee_r",)
    np.testing.assert_array_equal(alone.moment_arm, generated.moment_arm)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (None, ("bad_type", "values")),
        ([0.3], ("bad_type", "values")),
        ({"knee_r": "a"}, ("not_numbers", "knee_r")),
        ({"knee_r": np.zeros((2, 2))}, ("bad_shape", "knee_r")),
        ({"knee_r": np.zeros(2), "hip_a_r": np.zeros(3)}, ("bad_shape", "2, 3")),
        ({"knee_r": np.array([0.0, 90.0])}, ("bad_number", "knee_r", "radians")),
    ],
)
def test_values_that_are_none(small, values: object, words: tuple[str, ...]) -> None:
    with refused(*words):
        opensim_geometry(small, values)  # type: ignore[arg-type]


def test_only_joints_that_muscles_cross_turn_less_than_once(small) -> None:
    """A person turns many times about the vertical axis; 20 m of walkway are no degrees."""
    found = opensim_geometry(small, {"px": np.array([0.0, 20.0]), "tx": np.array([0.0, 20.0])})
    np.testing.assert_allclose(found.length[1], found.length[0], atol=1e-12)
    with refused("missing_argument", "small"):
        opensim_geometry(small, {"knee_r": 0.3}, muscles=[])  # type: ignore[dict-item]


def test_more_poses_than_one_block(small) -> None:
    flexion = np.linspace(0.0, 1.0, 600)
    every = opensim_geometry(small, {"knee_r": flexion})
    last = opensim_geometry(small, {"knee_r": flexion[-3:]})
    np.testing.assert_array_equal(every.length[-3:], last.length)
    np.testing.assert_array_equal(every.moment_arm[-3:], last.moment_arm)


def compared(model, file: Path):
    with np.load(file) as stored:
        data = {key: stored[key] for key in stored}
    names = [str(name) for name in data["coordinate"]]
    given = {name: data["value_rad"][:, k] for k, name in enumerate(names)}
    return opensim_geometry(model, given, names, [str(name) for name in data["muscle"]]), data


@pytest.mark.parametrize("name", MODELS)
def test_as_opensim_without_wraps(model_folder: Path, public_model, name: str) -> None:
    """Both use one formula, so only round-off differs."""
    model = public_model(name)
    found, data = compared(model, model_folder / f"{name}_geometry.npz")
    plain = [k for k, muscle in enumerate(found.muscles) if not model.muscles[muscle].wraps]
    np.testing.assert_allclose(found.length[:, plain], data["length_m"][:, plain], atol=1e-12)
    np.testing.assert_allclose(found.moment_arm[..., plain], data["moment_arm_m"][..., plain], atol=1e-11)


@pytest.mark.parametrize("name", ["arm26", "rajagopal_2016", "rajagopal_lai_uhlrich_2023"])
def test_as_opensim_with_wraps(model_folder: Path, public_model, name: str) -> None:
    """OpenSim's tangent points are not those of the shortest path: ours is shorter, by less than 0.3 mm.

    Its lengths over two cylinders contradict its moment arms: standing, the medial gastrocnemius of 2023 is given an
    arc of 38.0 mm between points 45.3 mm apart, and an arm about the knee of 22.5 mm where its lengths have a slope
    of 5.7 mm. So only arms are compared for those.
    """
    model = public_model(name)
    found, data = compared(model, model_folder / f"{name}_geometry.npz")
    count = np.array([len(model.muscles[muscle].wraps) for muscle in found.muscles])
    longer = 1e3 * (found.length - data["length_m"])[:, count == 1]
    assert longer.max() < 0.02 and longer.min() > -0.3
    assert np.quantile(np.abs(longer), 0.95) < 0.1
    arms = 1e3 * np.abs(found.moment_arm - data["moment_arm_m"]).max(axis=1)[:, count > 0]
    assert np.quantile(arms, 0.95) < 0.4 and arms.max() < 3.0


def test_as_opensim_along_the_recorded_walk(recorded_walk: Path) -> None:
    """A scaled model over a stride, with angles filtered as for the stored values."""
    model = read_osim(recorded_walk / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")
    with np.load(recorded_walk / "reference" / "opensim_rlu2023_right_leg.npz") as stored:
        data = {key: stored[key] for key in stored}
    table = read_mot(recorded_walk / "reference" / "opensim_ik.mot")
    rows = np.searchsorted(table.time, data["time"] - 1e-6)
    angles = filtfilt(*butter(3, 6.0 / 50.0), table.values, axis=0)[rows]
    names = [str(name) for name in data["coordinate"]]
    given = {name: np.deg2rad(angles[:, table.names.index(name)]) for name in names}
    found = opensim_geometry(model, given, names, [str(name) for name in data["muscle"]])
    plain = [k for k, muscle in enumerate(found.muscles) if not model.muscles[muscle].wraps]
    np.testing.assert_allclose(found.length[:, plain], data["length_m"][:, plain], atol=1e-8)
    np.testing.assert_allclose(found.moment_arm[..., plain], data["moment_arm_m"][..., plain], atol=1e-8)
    assert np.abs(found.moment_arm - data["moment_arm_m"]).max() < 2e-3


def test_a_long_difference_is_named_with_its_pose() -> None:
    """TRIlong of arm26 over three objects: 7 mm between the path and OpenSim's length."""
    model = read_osim(recorded("opensim_models") / "arm26.osim")
    poses = {"r_shoulder_elev": np.radians([0.0, -2.0]), "r_elbow_flex": np.radians([30.0, 129.0])}
    geometry = opensim_geometry(model, poses, muscles=["TRIlong", "BRA"])
    note = difference_note(geometry, (model, poses))
    assert "TRIlong (length" in note and "mm at r_shoulder_elev -2° r_elbow_flex 129°" in note
    assert "BRA" not in note and "°" not in difference_note(geometry)


def test_points_that_move_beside_their_body_are_named(small) -> None:
    """OpenSim's arm of a latissimus differs from the slope of its length by 3.5 mm at such a point."""
    model = read_osim(recorded("models_of_today") / "thoracoscapular.osim")
    (note,) = (note for note in model.notes if "OpenSim's leave out" in note)
    assert "LatissimusDorsi_S, LatissimusDorsi_M" in note and "Deltoideus" not in note
    assert not any("OpenSim's leave out" in note for note in small.notes)
