"""Ground reactions without plates: beside the truth of synthetic walks and runs, and what a result says of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.live.live import Live
from musclesolve.pipeline.mechanics import Mechanics, mechanics, reactions_of_motion
from musclesolve.recording.trial.trial_file import read_recording
from musclesolve.synthetic.running_stride import running_stride
from musclesolve.synthetic.synthetic_recording import synthetic_recording

# Largest differences to the plates, rms of a foot: forward, sideways, upward [body weights].
LIMITS = {"walk": (0.02, 0.01, 0.04), "run": (0.03, 0.01, 0.03)}


@cache
def recorded(kind: str) -> Mechanics:
    stride = running_stride() if kind == "run" else None
    return mechanics(read_recording(synthetic_recording(Path(mkdtemp()), stride), "this test"))


@cache
def without_plates() -> Path:
    """A synthetic walk whose trial file asks for predicted forces."""
    path = ms.synthetic_recording(mkdtemp())
    text = path.read_text()
    assert 'forces = "forces.mot"' in text
    path.write_text(text.replace('forces = "forces.mot"', 'forces = "predicted"'))
    (path.parent / "forces.mot").unlink()
    return path


@pytest.mark.parametrize("kind", LIMITS)
def test_plates_and_prediction_agree(kind: str) -> None:
    found = recorded(kind)
    weight = found.model.mass.total * STANDARD_GRAVITY
    for plates, ours in zip(found.reactions, reactions_of_motion(found.model, found.motion), strict=True):
        off = np.sqrt(np.mean((ours.force - plates.force) ** 2, axis=0)) / weight
        assert (off < LIMITS[kind]).all(), (plates.side, off)
        unloaded = plates.force[:, 2] < 1.0
        assert unloaded.any() and ours.force[unloaded, 2].max() < 0.06 * weight
        stands = plates.force[:, 2] > 0.5 * weight
        apart = (ours.center_of_pressure - plates.center_of_pressure)[stands, :2]
        assert np.sqrt(np.mean(apart**2)) < 0.03


@pytest.mark.parametrize("kind", LIMITS)
def test_the_feet_push_within_friction_and_carry_the_body(kind: str) -> None:
    found = recorded(kind)
    weight = found.model.mass.total * STANDARD_GRAVITY
    predicted = predicted_reactions(found.model, found.motion)
    assert predicted.residual < 1e-6 and (predicted.ground_velocity == 0.0).all()
    for wrench in predicted.wrenches:
        upward = wrench.force[:, 2]
        assert upward.min() > -1e-6 * weight
        assert (np.abs(wrench.force[:, :2]) <= 0.5 * upward[:, None] + 1e-5 * weight).all()
    assert np.sqrt(np.mean(predicted.lacking[:, :3] ** 2)) < 0.03 * weight


def test_the_origin_of_the_laboratory_does_not_matter() -> None:
    found, shift = recorded("walk"), (3.0, -2.0, 0.4)
    coordinates, q = found.motion.coordinates.copy(), found.motion.q.copy()
    coordinates[:, -6:-3] += shift
    q[:, [found.model.slot(point.name) for point in found.model.topology.points]] += shift
    elsewhere = predicted_reactions(found.model, replace(found.motion, coordinates=coordinates, q=q))
    here = predicted_reactions(found.model, found.motion)
    for one, other in zip(here.wrenches, elsewhere.wrenches, strict=True):
        np.testing.assert_allclose(one.force, other.force, atol=0.05)


def test_a_result_says_that_forces_are_predicted() -> None:
    result = ms.run(without_plates())
    assert result.attrs["ground_reactions"] == "predicted"
    assert any("predicted" in note for note in result.attrs["notes"])
    assert "predicted_forces" in {finding.code for finding in ms.check(without_plates()).findings}
    measured = ms.run(ms.synthetic_recording(mkdtemp()))
    assert measured.attrs["ground_reactions"] == "measured"
    off = (result.joint_moment - measured.joint_moment.sel(time=result.time, method="nearest").values).sel(
        dof=["hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_r"]
    )
    assert float(np.sqrt((off**2).mean("time")).max()) < 0.15 * result.attrs["subject_mass_kg"]


def test_a_programme_that_is_not_solved_gives_no_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    found = recorded("walk")
    monkeypatch.setattr("musclesolve.dynamics.inverse.banded_programme.MOST_ITERATIONS", 2)
    with refused("dynamics.reactions_not_found", "predicted"):
        predicted_reactions(found.model, found.motion)


def test_who_needs_plates_says_so() -> None:
    trial = read_recording(without_plates(), "this test")
    with refused("conflict", "forces", "predicted"):
        Live(trial)
    with refused("conflict", "forces", "predicted"):
        ms.calibrate_body([trial])
