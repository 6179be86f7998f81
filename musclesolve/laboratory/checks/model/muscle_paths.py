"""Does a moment arm leap in this motion? A path then jumps over a wrap object, or a point of it comes and goes."""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.sides import sided
from musclesolve.laboratory.checks.model.model_case import moment_cost
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.models.opensim.model_body import ModelBody

LEAP_M = 0.012
"""Change of a moment arm from one frame to the next beyond its changes in the frames beside them [m]."""


def leaps_of_moment_arms(body: ModelBody) -> Iterator[Finding]:
    """Find the moment arm that leaps farthest; its cost is the moment of the strongest force of the muscle."""
    state = body.whole.state
    angles = np.array([body.model.coordinates[name].rotational for name in body.dofs])
    worst, muscle, dof = 0.0, 0, 0
    for k in range(len(state.parameters.names)):  # one after the other: a motion may be long
        step = np.abs(np.diff(state.moment_arm[:, :, k], axis=0))
        beyond = (step[1:-1] - np.maximum(step[:-2], step[2:])).max(axis=0, initial=0.0) * angles
        if beyond.size and beyond.max() > worst:
            worst, muscle, dof = float(beyond.max()), k, int(beyond.argmax())
    if worst > LEAP_M:
        name, coordinate = state.parameters.names[muscle], body.dofs[dof]
        force = float(state.parameters.max_isometric_force[muscle])
        values = {"muscle": sided(name), "dof": coordinate, "leap": worst, "force": force}
        cost = moment_cost(worst * force, coordinate, body.mass)
        yield finding("moment_arm_leap", "warning", values, Where(body.model.file), cost=cost)
