"""The front door: `run` and `share_model` compute muscle forces, label them and judge them."""

from pathlib import Path
from typing import Any

import xarray as xr

from musclesolve._util.messages import Progress, no_progress
from musclesolve.constants import ELASTIC, RIGID, USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.laboratory.analysis.opensim.assemble_body import model_body
from musclesolve.laboratory.analysis.opensim.coordinate_motion import Source
from musclesolve.laboratory.analysis.opensim.trial_body import model_settings
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.checks.named_causes import causes_named
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.assemble import judged_result
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body import Sharing
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.share import sharing_problem, solver_search
from musclesolve.models.simulated_body import is_simulated
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import Solver


def run(
    trial: AnyTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    **settings: Any,
) -> xr.Dataset:
    """Compute muscle forces from recorded motion and ground forces.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: name of a cost, or a Cost; the trial file's unless given.
        solver: name of a solver, or a Solver; the trial file's unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.
        settings: settings of the trial file that are replaced here, by keyword. emg_weight: w of EMG-informed sharing,
            cost + w sum (a - e)^2 over the muscles with EMG, in units of the cost; 0 compares EMG without following it.

    Returns:
        Dataset over time, dof, muscle, side, joint, axis and component; every variable has its unit in
        attrs["units"]. `valid` (time, side) marks the frames that may be used, with `status` SOLVED or
        SOLVED_WITH_RESERVE. Frames without a valid solution have NaN for all variables of the solution: activations,
        muscle and contact forces, reserves, cost and certificate. Motion, joint moments, net reactions and the state of
        the muscles remain, because they show the cause. `plausible` (side) states whether the values of a leg are near
        measured ones; its attributes give the reasons. attrs["findings"] has the findings of `check` on the recording
        or model, as JSON.

    Raises:
        TypeError: there is no such setting.
        InputError: the trial requests an impossible analysis; the message names the field.

    Examples:
        >>> result = ms.run(ms.data.reference_stride(), cost="stress_cubed")
        >>> result["muscle_force"].attrs["units"], bool(result["valid"].all())
        ('N', True)
    """
    report = progress or no_progress
    with causes_named(trial):
        trial = read_trial(trial)
        body = prepare(trial, cost, solver, side, report, **settings)
    return judged_result(body, findings_of(body, trial), report)


def share_model(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    cost: str | Cost = USUAL_COST,
    solver: str | Solver | None = None,
    side: str = "both",
    **choices: Any,
) -> xr.Dataset:
    """Compute the muscle forces of an OpenSim model from its motion and joint moments or loads.

    Such as ``ms.share_model("M.osim", "ik.mot", "id.sto")`` (docs/opensim.md). The path of a model of MuJoCo or biorbd
    is taken likewise, with the path of a table of its positions: ``ms.share_model("leg.xml", "qpos.csv")``.

    Args:
        model, coordinates, moments, side, choices: see `opensim_problem`.
        cost: a name (`costs()` lists them) or a Cost.
        solver: a name (`solvers()` lists them) or a Solver. None: "batch", or the first one that takes the cost where
            "batch" does not.

    Returns:
        Dataset over time, dof, muscle and side with the variables of `run`, under the names of the model. Groups of
        coordinates that no muscle connects, such as the legs, are solved apart; the status of a side is the worst of
        its groups.

    Raises:
        InputError: see `opensim_problem`; an unknown cost or solver.
    """
    if is_simulated(model):
        from musclesolve.laboratory.simulated import simulated_result

        return simulated_result(model, coordinates, moments, cost, solver, side, choices)
    settings = model_settings(**choices)
    tendon, stated = settings.muscles.tendon, settings.sharing
    chosen = find_cost(cost)
    search = solver_search(chosen, tendon == ELASTIC, solver)
    method = search(USUAL_SOLVER if solver is None else solver)
    sharing = Sharing(chosen, method, tendon, stated.reserve_weight, stated.least_activation)
    body = model_body(model, coordinates, moments, settings, sharing, side)
    return judged_result(body, findings_of(body))


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
    (models/opensim/geometry.py).
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
            (docs/command_line.md): dofs, muscles, passive, loads and others. `person` may be what `read_person`
            returns. tendon="elastic" holds for `share_model` alone, which then solves the whole motion at once.

    Raises:
        TypeError: there is no such setting.
        InputError: a name is unknown, a column is missing, a part of the model that is needed is not supported, tendons
            are elastic, ...
    """
    settings = model_settings(**choices)
    if settings.muscles.tendon != RIGID:
        raise input_error(
            "laboratory.analysis.problem_single_frames", where="tendon", tendon=settings.muscles.tendon
        )
    body = model_body(model, coordinates, moments, settings, side=side)
    return sharing_problem(body.whole, body.sharing)
