"""The moving body of an OpenSim model before its forces are shared, and the settings of sharing."""

from __future__ import annotations

from typing import Any

from musclesolve import costs
from musclesolve.models.body import Sharing
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.sharing.solver.solver_registry import find_solver


def modeled(model: Any, coordinates: Any, moments: Any = None, **choices: Any) -> ModelBody:
    """The body of which `ms.opensim_problem` makes a problem; without moments, the body under loads."""
    return model_body(model, coordinates, moments, model_settings(**choices))


def sharing_by(cost: str) -> Sharing:
    """The usual settings of sharing, with a named cost."""
    return Sharing(costs()[cost](), find_solver("batch"))
