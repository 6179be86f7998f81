"""A squat to 110 degrees of knee flexion is solved: quasi-static, half of the body weight on each foot."""

from __future__ import annotations

import re

import numpy as np
import pytest
from modeled import sharing_by
from poses import motion_through

import muscle_db
from muscle_db.model import LEG_DOFS
from musclesolve import Status
from musclesolve.constants import STANDARD_GRAVITY, USUAL_LEAST_ACTIVATION
from musclesolve.dynamics import Wrench, projected_moments, segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.laboratory.bodies.recorded_body import sharing_group
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.results.dataset.muscle_labels import reserve_reasons
from musclesolve.models.body_sharing import share_part
from musclesolve.muscles import muscle_state, scale_muscles

FRAMES = 23
DEEPEST_DEG = {
    "hip_flexion": 90.0,
    "knee_flexion": 110.0,
    "ankle_dorsiflexion": 25.0,
    "shoulder_flexion": 90.0,
}
TRUNK_DEG, TILT_DEG = 50.0, 5.0
"""Flexion of the trunk that puts the center of mass above the feet, and the tilt that leaves the feet flat."""


@pytest.fixture(scope="module")
def squat(model):
    """Return a motion from standing to the deepest pose, at rest; half of the force that holds the body acts on each
    foot.
    """
    depth = np.linspace(0.0, 1.0, FRAMES)
    coordinates = np.zeros((FRAMES, len(model.topology.dof_names)))
    angles = {f"{dof}_{side}": angle for dof, angle in DEEPEST_DEG.items() for side in "rl"}
    for dof, angle in (angles | {"trunk_flexion": TRUNK_DEG, "pelvis_tilt": TILT_DEG}).items():
        coordinates[:, model.dof(dof)] = np.radians(angle) * depth
    motion = motion_through(model, coordinates)
    needed = projected_moments(model, motion, [])[:, -6:]
    moment = 0.5 * (needed[:, 3:] + np.cross(motion.origin, needed[:, :3]))
    wrenches = []
    for side in "rl":
        ankle = motion.q[:, model.slot(f"ankle_{side}")] * [0.0, 1.0, 0.0]
        force = 0.5 * needed[:, :3]
        wrenches.append(Wrench(f"foot_{side}", force, moment + np.cross(ankle, force)))
    return motion, wrenches


def shared(model, squat, name, passive, strength="table"):
    motion, wrenches = squat
    sharing = sharing_by("activation_volume")
    options = Options(("r",), muscle_db.load(name), sharing, LEG_DOFS[:5], strength, passive)
    state = muscle_state(model, scale_muscles(model, options.database, "r", strength, passive), motion)
    forces = distal_loads(model, segment_motion(model, motion), wrenches)
    moments, every = projected_moments(model, motion, wrenches), np.ones(FRAMES, dtype=bool)
    leg = sharing_group(options, model, motion, forces, state, moments, every)
    return share_part(leg, sharing), options


def test_the_squat_is_one(model, squat):
    """Feet flat, half of the weight on each, the pressure under the soles."""
    motion, wrenches = squat
    for side, wrench in zip("rl", wrenches, strict=True):
        heel, toe = (motion.q[:, model.slot(f"{end}_{side}")] for end in ("heel", "toe"))
        np.testing.assert_allclose((toe - heel)[:, 2], 0.0, atol=1e-9)
        # moments are about the origin: M_y = -x F_z for a vertical force
        pressure = -wrench.moment[:, 1] / wrench.force[:, 2]
        assert (pressure > heel[:, 0]).all() and (pressure < toe[:, 0]).all()
        np.testing.assert_allclose(wrench.force[:, 2], 0.5 * model.mass.total * STANDARD_GRAVITY, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "passive"),
    [("gait2392", "calibrated"), ("rajagopal_2023", "none"), ("rajagopal_2023", "calibrated")],
)
def test_a_deep_squat_is_solved_at_the_strength_of_the_table(model, squat, name, passive):
    """The quadriceps hold the knee; the others that extend it have their least activation."""
    result, _ = shared(model, squat, name, passive)
    assert (result.solution.status == Status.SOLVED).all()
    knee = LEG_DOFS.index("knee_flexion")
    moment = result.state.moment_arm[-1, knee] * result.solution.force[-1]
    extends = np.array([group == "quadriceps_femoris" for group in result.state.muscles.groups])
    assert moment[extends].sum() < -60.0
    active = result.solution.activation[-1] > USUAL_LEAST_ACTIVATION + 1e-6
    assert (moment[~extends & active] > -1e-6).all() and moment[~extends].min() > -1.0
    middle = FRAMES // 2
    assert result.solution.activation[middle].max() < 0.6


def test_the_remedy_for_the_weak_quadriceps_of_gait2392_works(model, squat):
    """Without passive force the deepest frame lacks 1 N m at the knee; the strength that is proposed gives it."""
    result, options = shared(model, squat, "gait2392", "none")
    assert [*result.solution.status] == [Status.SOLVED] * (FRAMES - 1) + [Status.SOLVED_WITH_RESERVE]
    assert np.abs(result.solution.reserve).max() < 2.0
    sentence, *_ = reserve_reasons(result, options)
    strength = float(re.search(r"strength = ([\d.]+) in \[muscles\]", sentence).group(1))
    assert 1.0 < strength < 1.1
    assert (shared(model, squat, "gait2392", "none", strength)[0].solution.status == Status.SOLVED).all()
