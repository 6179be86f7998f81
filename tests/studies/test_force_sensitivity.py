"""Muscle forces by muscle parameters, against complete solutions of legs with other muscles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.dynamics import projected_moments, segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.laboratory.bodies.recorded_body import sharing_group
from musclesolve.laboratory.forces import find_options, mechanics
from musclesolve.models.body_sharing import share_part
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.sharing.solver.batch import Batch
from musclesolve.studies import synthetic_recording
from musclesolve.studies.force_sensitivity import PARAMETERS, leg_sensitivity

STEP = 1e-4
STENCIL = {1: 8 / (12 * STEP), -1: -8 / (12 * STEP), 2: -1 / (12 * STEP), -2: 1 / (12 * STEP)}


@dataclass
class Walk:
    trial: ms.laboratory.Trial
    side: str

    def __post_init__(self):
        recorded, third = mechanics(self.trial), slice(None, None, 3)
        self.model, self.motion = recorded.model, recorded.motion.frames(third)
        self.wrenches = [wrench.frames(third) for wrench in recorded.wrenches]
        self.moments = projected_moments(self.model, self.motion, self.wrenches)
        self.segments = segment_motion(self.model, self.motion)
        self.options = find_options(self.trial, None, None, self.side)
        self.database = self.options.database
        self.muscles = self.placed(self.database)

    def placed(self, database):
        rules = (self.options.strength, self.options.passive, "standing")
        return scale_muscles(self.model, database, self.side, *rules)

    def leg(self, cost, muscles=None):
        """Everything anew that depends on muscles."""
        sharing = replace(self.options.sharing, cost=ms.costs()[cost](), solver=Batch(tolerance=1e-12))
        state = muscle_state(self.model, self.muscles if muscles is None else muscles, self.motion)
        forces = distal_loads(self.model, self.segments, self.wrenches)
        every = np.ones(len(self.moments), bool)
        found = self.model, self.motion, forces, state, self.moments, every
        return share_part(sharing_group(self.options, *found), sharing)

    def differences(self, cost, changed):
        """Derivative of the force at the tendon by the step of `changed(step)`, and the frames where it is one."""
        total, good = 0.0, True
        pieces = []
        for j, weight in STENCIL.items():
            leg = self.leg(cost, changed(j * STEP))
            total = total + weight * (leg.tension)
            good = good & (leg.solution.status == ms.Status.SOLVED)
            normal = leg.state.fiber_length / leg.state.muscles.parameters.optimal_fiber_length
            pieces.append(np.stack([normal > 1.63, leg.state.slack]))
        kinks = [(piece != pieces[0]).any(axis=(0, 2)) for piece in pieces]
        return total, good & ~np.any(kinks, axis=0)


@pytest.fixture(scope="module", params=["recorded", "stride"])
def walk(request, tmp_path_factory):
    if request.param == "recorded":
        return Walk(request.getfixturevalue("recorded_walk_trial"), "r")
    file = synthetic_recording(tmp_path_factory.mktemp("stride"), truth=False)
    return Walk(ms.read_trial(file), "l")


def close(found, ours, differences, margin=1e-3):
    """To 1e-5 of the largest change of a frame, or of 1 N where nothing changes by more."""
    theirs, good = differences
    clear = good & (found.derivatives.margin > margin)
    assert clear.sum() > 4
    scale = np.maximum(np.abs(theirs[clear]).max(axis=1, keepdims=True), 1.0)
    np.testing.assert_allclose(ours[clear] / scale, theirs[clear] / scale, rtol=0, atol=1e-5)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "cost", ["stress_cubed", "soft_saturation", "activation_volume", "joint_reaction_squared"]
)
def test_parameters_of_muscles(walk, cost):
    found = leg_sensitivity(walk.leg(cost), cost)
    assert found.derivatives.unique.mean() > 0.9
    random, names = np.random.default_rng(1), (*PARAMETERS, "pennation_angle")
    size = {name: getattr(walk.muscles.parameters, name) for name in names}
    direction = {name: 0.1 * random.normal(size=size[name].shape) for name in names}

    def changed(step):
        numbers = {name: size[name] * (1.0 + step * direction[name]) for name in names}
        return replace(walk.muscles, parameters=replace(walk.muscles.parameters, **numbers))

    ours = sum(found.by(name) @ direction[name] for name in names)
    # In a frame of the stride a muscle is so near its bound that the steps cross it.
    margin = 5e-3 if cost == "joint_reaction_squared" else 1e-3
    close(found, ours, walk.differences(cost, changed), margin)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", ["force_moment_squared", "joint_reaction_squared"])
def test_path_points(walk, cost):
    found = leg_sensitivity(walk.leg(cost), cost)
    direction = 0.01 * np.random.default_rng(2).normal(size=walk.muscles.paths.standing.shape)

    def changed(step):
        paths = walk.muscles.paths
        return replace(walk.muscles, paths=replace(paths, standing=paths.standing + step * direction))

    ours = np.einsum("tnpx,px->tn", found.by_points(walk.model, walk.motion), direction)
    close(found, ours, walk.differences(cost, changed), 5e-3 if cost == "joint_reaction_squared" else 1e-3)


def test_a_stronger_muscle_of_the_database(walk):
    """One entry of the table changed, the muscles placed anew: relative changes pass through the scaling."""
    name, cost = "soleus", "stress_cubed"
    found = leg_sensitivity(walk.leg(cost), cost)
    column = walk.muscles.names.index(f"{name}_{walk.side}")
    for parameter in PARAMETERS:

        def changed(step, parameter=parameter):
            table = [
                replace(muscle, **{parameter: getattr(muscle, parameter) * (1.0 + step)})
                if muscle.name == name
                else muscle
                for muscle in walk.database
            ]
            placed = walk.placed(replace(walk.database, muscles=tuple(table)))
            # the force of the table is a part of the passive elements
            same = replace(placed.parameters, passive=walk.muscles.parameters.passive)
            return replace(placed, parameters=same)

        close(found, found.by(parameter)[:, :, column], walk.differences(cost, changed))


def test_what_does_not_exist_is_refused(walk):
    found = leg_sensitivity(walk.leg("force_squared"), "force_squared")
    with refused("unknown_name", "'strength'"):
        found.by("strength")


def test_of_a_trial(recorded_walk_trial):
    """Units, names, and two laws: all muscles stronger by one factor; moments met whatever changes."""
    found = ms.studies.force_sensitivity(recorded_walk_trial, cost="force_squared")
    assert found.by_tendon_slack_length.dims == ("side", "time", "muscle", "changed")
    assert found.by_tendon_slack_length.attrs["units"] == "N"
    assert list(found.side.values) == ["r", "l"]
    assert "soleus" in found.muscle and "soleus" in found.changed
    result = ms.run(recorded_walk_trial, cost="force_squared")
    for side in "rl":
        own = found.sel(side=side)
        names = [f"{name}_{side}" for name in found.muscle.values]
        np.testing.assert_allclose(own.muscle_force, result.muscle_force.sel(muscle=names), rtol=1e-9)
        dofs = [dof for dof in result.attrs["shared_dofs"] if dof.endswith(f"_{side}")]
        arm = result.moment_arm.sel(muscle=names, dof=dofs).values
        alone = (result.status.sel(side=side) == ms.Status.SOLVED).values & own.unique.values
        assert alone.sum() > 80
        for name in PARAMETERS:
            moments = arm[alone] @ own[f"by_{name}"].values[alone]
            np.testing.assert_allclose(moments, 0.0, atol=1e-5)
