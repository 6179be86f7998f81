"""Muscle forces of a prepared model in some frames, from its own or other moments: what a fault changes in newtons."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.constants import RIGID, USUAL_COST
from musclesolve.models.body_sharing import share_part
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import able_solver


def shared_forces(
    body: ModelBody,
    frames: Indices,
    moments: Array | None = None,
    names: Sequence[str] = (),
    state: MuscleState | None = None,
) -> Array:
    """Forces (F, n) [N] of the n muscles of a model in F frames; NaN where a frame has no solution.

    Tendons are rigid, and a cost that needs EMG is replaced by the usual one.

    Args:
        body: the model along its motion.
        frames: numbers of the frames.
        moments: (F, k) [N m] of k coordinates, instead of the moments of the body.
        names: the k coordinates.
        state: of all muscles in the F frames, instead of the state of the body.
    """
    cost = body.sharing.cost if "emg" not in body.sharing.cost.data else find_cost(USUAL_COST)
    sharing = replace(body.sharing, cost=cost, solver=able_solver(cost), tendon=RIGID)
    columns = {name: column for column, name in enumerate(names)}
    muscles = list(body.whole.state.parameters.names)
    forces = np.full((len(frames), len(muscles)), np.nan)
    for part in body.parts:
        shared = part.frames(frames, loaded=sharing.reads_reactions)
        moment = shared.moment.copy()
        for row, dof in enumerate(part.dofs):
            if moments is not None and dof in columns:
                moment[:, row] = moments[:, columns[dof]]
        places = np.array([muscles.index(name) for name in part.state.parameters.names])
        rows = np.array([body.whole.dofs.index(dof) for dof in part.dofs])
        of_part = shared.state if state is None else state.part(rows, places)
        with warnings.catch_warnings():  # of moments that no muscles produce: the finding says more
            warnings.simplefilter("ignore")
            solution = share_part(replace(shared, moment=moment, state=of_part), sharing).solution
        forces[:, places] = np.where(solution.solved[:, None], solution.force, np.nan)
    return forces
