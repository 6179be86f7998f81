"""Force sharing on an OpenSim model in one call: from its coordinates and joint moments to a labelled result."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import xarray as xr

from musclesolve.opensim.model import OpenSimModel
from musclesolve.pipeline.body import Sharing
from musclesolve.pipeline.opensim.coordinate_motion import Source
from musclesolve.pipeline.opensim.model_body import Choices, ModelOptions, model_body
from musclesolve.pipeline.share import share
from musclesolve.results.dataset.assemble import assemble
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver


def share_model(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    cost: str | Cost = "stress_cubed",
    solver: str | Solver = "batch",
    **choices: Unpack[Choices],
) -> xr.Dataset:
    """Muscle forces of an OpenSim model.

    Args:
        model, coordinates, moments, choices: see `opensim_problem`.
        cost: a name (`costs()` lists them) or a Cost.
        solver: a name (`solvers()` lists them) or a Solver.

    Returns:
        Dataset over time, dof, muscle and side with the variables of `run`, under the names of the model. Groups of
        coordinates that no muscle connects, such as the legs, are solved apart; the status of a side is the worst of
        its groups.

    Raises:
        InputError: see `opensim_problem`; an unknown cost or solver.
    """
    options = ModelOptions(**choices)
    sharing = Sharing(find_cost(cost), find_solver(solver), options.tendon, options.reserve_weight)
    return assemble(share(model_body(model, coordinates, moments, options, sharing)))
