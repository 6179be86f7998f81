"""Force sharing on a scaled OpenSim model along the recorded walk, beside a dense reference and OpenSim's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from modeled import sharing_by
from scipy.interpolate import make_interp_spline
from scipy.optimize import lsq_linear

from musclesolve import Status
from musclesolve.laboratory.forces import share
from musclesolve.models.opensim import opensim_geometry

STIFF = 1e5


@pytest.fixture(scope="module")
def walk(recorded_walk: Path):
    files = ("rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot", "opensim_id.sto")
    paths = [recorded_walk / "reference" / name for name in files]
    return measured_model(paths[0], paths[1], paths[2], passive="none")


@pytest.fixture(scope="module")
def stored(recorded_walk: Path, walk) -> dict[str, np.ndarray]:
    """OpenSim's lengths (T, 40) and moment arms (T, 5, 40) of the right leg, in the order of the problem."""
    with np.load(recorded_walk / "reference" / "opensim_rlu2023_right_leg.npz") as data:
        rows = np.searchsorted(data["time"], walk.motion.time - 1e-6)
        muscles = [data["muscle"].tolist().index(name) for name in walk.muscles[:40]]
        dofs = [data["coordinate"].tolist().index(name) for name in walk.choice.dofs[:5]]
        arms = data["moment_arm_m"][rows][:, dofs][:, :, muscles]
        return {"length": data["length_m"][rows][:, muscles], "arm": arms}


def test_the_usual_choice(walk) -> None:
    """Without subtalar and toe joints, which the model locks, and the patella, which the knee drives."""
    stems = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
    assert walk.choice.dofs == tuple(f"{stem}_{side}" for side in "rl" for stem in stems)
    assert len(walk.muscles) == 80 and len(walk.motion.time) == 136
    assert [part.state.moment_arm.shape[1:] for part in walk.parts] == [(5, 40), (5, 40)]


def test_arms_are_those_of_opensim_without_wraps(walk, stored: dict[str, np.ndarray]) -> None:
    """The filter is the same too: differences come from the padding of the ends alone."""
    plain = [k for k, muscle in enumerate(walk.choice.muscles[:40]) if not muscle.wraps]
    arms = walk.whole.state.moment_arm[:, :5, :40]
    assert 1e3 * np.abs(arms - stored["arm"])[..., plain].max() < 0.01
    assert (
        1e3 * np.abs(walk.whole.state.musculotendon_length[:, :40] - stored["length"])[:, plain].max() < 0.01
    )


def test_where_arms_over_wraps_differ_opensim_contradicts_itself(walk, stored: dict[str, np.ndarray]) -> None:
    """OpenSim's own lengths and arms violate dL/dt = -r . speed there, by more than ours do.

    Ours hold to 1e-7 m/s in half of the frames; OpenSim's are off by 500 times as much or more, those of gastrocnemius
    by up to 7 cm/s: its lengths over two cylinders belong to no path, and it has arms about the hip, which it does not
    cross. In a few frames a path meets or leaves its wrap object, where neither length has a derivative.
    """
    speed = np.stack([walk.motion.by_name(walk.motion.speed)[name] for name in walk.choice.dofs[:5]], axis=1)

    def violation(length: np.ndarray, arm: np.ndarray) -> np.ndarray:
        rate = make_interp_spline(walk.motion.time, length, 5)(walk.motion.time, 1)
        return np.abs(rate + np.einsum("tk,tkn->tn", speed, arm))[5:-5]

    arms = walk.whole.state.moment_arm[:, :5, :40]
    apart = 1e3 * np.abs(arms - stored["arm"]).max(axis=(0, 1))
    differ = apart > 0.1
    names = np.array(walk.muscles[:40])
    assert all(walk.model.muscles[name].wraps for name in names[differ])
    values = walk.motion.by_name(walk.motion.value)
    path = opensim_geometry(walk.model, values, (), walk.muscles[:40]).length
    pair = (path, arms), (stored["length"], stored["arm"])
    ours, theirs = (violation(*each)[:, differ] for each in pair)
    assert np.median(ours, axis=0).max() < 1e-7 and np.quantile(ours, 0.8, axis=0).max() < 2e-5
    assert (np.median(theirs, axis=0) > 500.0 * np.median(ours, axis=0)).all()
    assert (np.quantile(theirs, 0.8, axis=0) > 50.0 * np.quantile(ours, 0.8, axis=0)).all()


def test_every_frame_is_certified(walk) -> None:
    for cost in ("activation_power", "stress_cubed"):
        for group in share(walk, sharing_by(cost)).parts:
            assert (group.solution.status == Status.SOLVED).all()
            assert group.solution.gap.max() <= 1e-9


def test_activations_are_those_of_a_dense_reference(walk) -> None:
    """Least squares of [stiff A; I] a = [stiff b; 0] within bounds, by the active sets of SciPy, every tenth frame."""
    result = share(walk, sharing_by("activation_power"))
    for group in result.parts:
        matrix, moment = group.problem.moment_matrix[::10], group.problem.moment[::10]
        for own, right, found in zip(matrix, moment, group.solution.activation[::10], strict=True):
            scale = STIFF / np.abs(own).max()
            rows = np.vstack([scale * own, np.eye(40)])
            wanted, bounds = np.append(scale * right, np.zeros(40)), (result.sharing.least_activation, 1.0)
            dense = lsq_linear(rows, wanted, bounds, method="bvls", tol=1e-15)
            np.testing.assert_allclose(found, dense.x, atol=1e-6)
