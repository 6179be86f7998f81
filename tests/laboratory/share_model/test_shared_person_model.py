"""The model of one person is shared as the person's factors on the first model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from person_file import person
from small_model import save_model
from small_model_motion import DOFS, feasible_moments, small_motion

import musclesolve as ms
from musclesolve.models.opensim.person_file import write_person_model
from musclesolve.muscles.person import QUANTITIES, PersonMuscles


def every_factor(model, strain: bool = True, tendon: str = "rigid") -> PersonMuscles:
    """Another factor on every quantity of every muscle but the last one."""
    rng = np.random.default_rng(4)
    names = list(model.muscles)[:-1]
    factors = [
        (quantity, (name,), float(np.exp(rng.normal(0.0, 0.2))))
        for quantity in (QUANTITIES if strain else QUANTITIES[:3])
        for name in names
    ]
    return person(model.file, factors, tendon=tendon)


def test_a_share_of_the_model_is_a_share_with_the_person(tmp_path: Path) -> None:
    model = ms.read_osim(save_model(tmp_path))
    made, path = every_factor(model), tmp_path / "person.osim"
    write_person_model(made, path)
    inputs = small_motion(model), feasible_moments(model, passive="none")
    one = ms.share_model(path, *inputs, dofs=DOFS, reserve_weight=1.0)
    other = ms.share_model(model, *inputs, dofs=DOFS, reserve_weight=1.0, person=made)
    np.testing.assert_allclose(one["force_capacity"], other["force_capacity"], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(one["muscle_force"], other["muscle_force"], atol=1e-5)
