"""The whole pipeline in one call: from a trial, or an OpenSim model and its motion, to a labelled, judged result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import xarray as xr

from musclesolve._util.progress import Progress, no_progress
from musclesolve.checking.examination import findings_of, findings_of_body
from musclesolve.constants import USUAL_COST
from musclesolve.opensim.model import OpenSimModel
from musclesolve.pipeline.body import Sharing
from musclesolve.pipeline.opensim.coordinate_motion import Source
from musclesolve.pipeline.opensim.model_body import Choices, ModelBody, ModelOptions, model_body
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.run import prepare
from musclesolve.pipeline.share import share
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset.assemble import assemble
from musclesolve.results.finding import Finding
from musclesolve.results.plausibility import with_verdict
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import Solver, find_solver


def run(
    trial: Trial | ModelTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    emg_weight: float | None = None,
) -> xr.Dataset:
    """From recorded motion and ground forces to muscle forces.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: name of a cost, or a Cost; that of the trial file unless given.
        solver: name of a solver, or a Solver; that of the trial file unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.
        emg_weight: w of EMG-informed sharing, cost + w sum (a - e)^2 over the muscles with EMG, in units of the cost;
            that of the trial file unless given, 0 compares EMG without following it.

    Returns:
        Dataset over time, dof, muscle, side, joint, axis and component; every variable has its unit in
        attrs["units"]. `valid` (time, side) says which frames may be used: those whose `status` is SOLVED or
        SOLVED_WITH_RESERVE. Frames without a valid solution hold NaN for whatever depends on it: activations, muscle
        and contact forces, reserves, cost and certificate. Motion, joint moments, net reactions and the state of the
        muscles stay, for they show what is wrong. `plausible` (side) says whether what the result says of a leg is near
        what was ever measured; its attributes say why. attrs["findings"] holds what `check` finds in the recording or
        model, as JSON.

    Raises:
        InputError: the trial asks for what cannot be done; says which field.
    """
    report = progress or no_progress
    trial = trial if isinstance(trial, Trial | ModelTrial) else read_trial(trial)
    body = prepare(trial, cost, solver, side, report, emg_weight)
    return judged_result(body, findings_of(trial, body), report)


def judged_result(
    body: RecordedBody | ModelBody, findings: Sequence[Finding], progress: Progress | None = None
) -> xr.Dataset:
    """Share the moments of a body, and label the result with what was found wrong with the trial."""
    report = progress or no_progress
    analysis = share(body, progress=report)
    report("result", 1.0)
    return with_verdict(assemble(analysis, findings))


def share_model(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    cost: str | Cost = USUAL_COST,
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
    body = model_body(model, coordinates, moments, options, sharing)
    return judged_result(body, findings_of_body(body))
