"""The force-sharing problem of an OpenSim model, and the body of which it is the problem."""

from pathlib import Path
from typing import Any

from musclesolve.constants import ELASTIC, RIGID, USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.models.body import Sharing
from musclesolve.models.body_sharing import sharing_problem, solver_search
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.coordinate_motion import Source
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.models.settings import OpenSimSettings
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import Solver


def opensim_problem(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    side: str = "both",
    **choices: Any,
) -> Problem:
    """Make the force-sharing problem of an OpenSim model, such as ``ms.opensim_problem("M.osim", "ik.mot", "id.sto")``.

    Tendons are rigid; curves and parameters come from the model. Musculotendon lengths come from the paths; over
    several wrap objects they are the lengths that OpenSim 4 reports, which belong to no path
    (geometry.py).
    Musculotendon velocity = -moment arm . speed over all coordinates that a muscle crosses. Coupled coordinates follow,
    locked coordinates stay at their default.

    Args:
        model: from `read_osim`, or the path of a .osim file.
        coordinates: the path of a .mot or .sto file, a Table, a Dataset over time, or arrays by name with "time".
        moments: likewise, columns NAME_moment (NAME_force of a translation), interpolated linearly to the times of
            the coordinates; frames beyond them are left out. Arrays by name without "time" are at those times. A
            file or Table has the form of OpenSim's inverse dynamics: moments of ball joints are about the axes of the
            parent frame; arrays belong to the rates of the coordinates. Forces of coordinates driven by couplers are
            added (moments.py). None with `loads`.
        side: "r", "l" or "both": leaves out names that end in _l or _r.
        choices: settings of the trial file of a model by keyword, which are the options of `share`
            (docs/command_line.md): dofs, muscles, passive, loads and others. Each of the `actuators` is a "muscle"
            NAME+ and one NAME- of the problem, with its optimal force and bounds (models/actuator_columns.py).
            `person` may be what `read_person` returns. tendon="elastic" holds for `share_model` alone, which then
            solves the whole motion at once.

    Raises:
        TypeError: there is no such setting.
        InputError: a name is unknown, a column is missing, a part of the model that is needed is not supported, tendons
            are elastic, ...
    """
    settings = model_settings(**choices)
    if settings.muscles.tendon != RIGID:
        raise input_error("models.problem_single_frames", where="tendon", tendon=settings.muscles.tendon)
    body = model_body(model, coordinates, moments, settings, side=side)
    return sharing_problem(body.whole, body.sharing)


def sharing_body(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None,
    settings: OpenSimSettings,
    cost: str | Cost = USUAL_COST,
    solver: str | Solver | None = None,
    side: str = "both",
) -> ModelBody:
    """Make the body of an OpenSim model that `share` shares by a cost and a solver; other arguments as of `model_body`.

    cost: a name or a Cost. solver: a name or a Solver; None: the usual one, or the first one that takes the cost.
    """
    tendon, stated = settings.muscles.tendon, settings.sharing
    chosen = find_cost(cost)
    search = solver_search(chosen, tendon == ELASTIC, solver)
    method = search(USUAL_SOLVER if solver is None else solver)
    sharing = Sharing(chosen, method, tendon, stated.reserve_weight, stated.least_activation)
    return model_body(model, coordinates, moments, settings, sharing, side)
