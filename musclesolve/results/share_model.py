"""Force sharing on an OpenSim model in one call: from its coordinates and joint moments to a labelled result."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import xarray as xr

from musclesolve.opensim.model import OpenSimModel
from musclesolve.pipeline.opensim.coordinate_motion import Source
from musclesolve.pipeline.opensim.model_problem import Choices, ModelOptions, model_problem
from musclesolve.pipeline.opensim.share_groups import share_groups
from musclesolve.results.dataset.assemble_model import assemble_model
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
    chosen, method, options = find_cost(cost), find_solver(solver), ModelOptions(**choices)
    found = model_problem(model, coordinates, moments, options)
    return assemble_model(share_groups(found, chosen, method))
