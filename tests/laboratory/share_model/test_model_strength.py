"""The muscles of an OpenSim model in the poses of strength tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_model import TEXT
from small_model_motion import DOFS, save_inputs
from strength_files import asked

from musclesolve.laboratory.bodies.strength_geometry import strength_geometry
from musclesolve.laboratory.forces import prepare
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.model_body import ModelBody


@pytest.fixture
def modeled(small, tmp_path: Path) -> ModelBody:
    folder = tmp_path
    (folder / "leg.osim").write_text(TEXT, encoding="utf-8")
    save_inputs(folder, small)
    path = folder / "trial.toml"
    files = '[files]\nmodel = "leg.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n[filter]\ncutoff_hz = "none"\n'
    path.write_text(f"{files}[sharing]\ndofs = {list(DOFS)}\n", encoding="utf-8")
    body = prepare(path)
    assert isinstance(body, ModelBody)
    return body


def test_the_pose_of_a_frame_of_a_model(modeled: ModelBody, tmp_path: Path) -> None:
    """All angles of a frame as the pose of a test, lengths among the coordinates zero; the ankle alone moves."""
    frame, model, motion = 20, modeled.model, modeled.motion
    driven = {coupler.dependent for coupler in model.couplers}
    values = {
        name: value[frame] if model.coordinates[name].rotational else 0.0
        for name, value in motion.by_name(motion.value).items()
        if name not in driven
    }
    angles = {name: float(np.degrees(value)) for name, value in values.items() if value}
    found = strength_geometry(modeled, asked(tmp_path, DOFS[1], 10.0, 30.0, **angles))

    def lengths(step: float) -> np.ndarray:
        moved = values | {DOFS[1]: values[DOFS[1]] + step}
        given = {name: np.full(1, value) for name, value in moved.items()}
        return opensim_geometry(model, given, muscles=modeled.muscles).length[0]

    slope = (lengths(1e-6) - lengths(-1e-6)) / 2e-6
    np.testing.assert_allclose(found.length[0], lengths(0.0), atol=1e-9)
    np.testing.assert_allclose(found.moment_arm[0], -slope, atol=1e-7)
    np.testing.assert_allclose(found.velocity, -np.radians(30.0) * found.moment_arm, atol=1e-9)
    assert found.parameters.names == modeled.muscles
    translation = next(name for name in model.coordinates if not model.coordinates[name].rotational)
    with refused("unknown_name", "line 6, [[test]] angles_deg", translation):
        strength_geometry(modeled, asked(tmp_path, DOFS[1], 10.0, **{translation: 10.0}))


def test_what_a_model_cannot_be_asked_for(modeled: ModelBody, tmp_path: Path) -> None:
    with refused("unknown_name", "line 2, [[test]] dof", DOFS[0]):
        strength_geometry(modeled, asked(tmp_path, "hip_a", 50.0))
    driven = modeled.model.couplers[0].dependent
    with refused("unknown_name", "line 6, [[test]] angles_deg", driven):
        strength_geometry(modeled, asked(tmp_path, DOFS[0], 50.0, **{driven: 10.0}))


def test_a_moment_that_no_muscle_produces(modeled: ModelBody, tmp_path: Path) -> None:
    """Only one of the muscles that move the ankle is left."""
    arms = strength_geometry(modeled, asked(tmp_path, DOFS[1], 10.0)).moment_arm[0]
    flexor = modeled.muscles[int(arms.argmax())]
    text = modeled.trial.path.read_text(encoding="utf-8").replace(str(list(DOFS)), str([DOFS[1]]))
    modeled.trial.path.write_text(f'{text}[muscles]\nnames = ["{flexor}"]\n', encoding="utf-8")
    alone = prepare(modeled.trial.path)
    assert strength_geometry(alone, asked(tmp_path, DOFS[1], 10.0)).moments().moment[0] > 0.0
    with refused("conflict", "line 2, [[test]] dof", "-10"):
        strength_geometry(alone, asked(tmp_path, DOFS[1], -10.0))
