"""The whole pipeline in one call: from a trial to a labelled result."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve._util.progress import Progress, no_progress
from musclesolve.pipeline.run import prepare
from musclesolve.pipeline.share import share
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.results.dataset.assemble import assemble
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_base import Solver


def run(
    trial: Trial | ModelTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """From recorded motion and ground forces to muscle forces.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: name of a cost, or a Cost; that of the trial file unless given.
        solver: name of a solver, or a Solver; that of the trial file unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over time, dof, muscle, side, joint, axis and component; every variable has its unit in
        attrs["units"]. `valid` (time, side) says which frames may be used: those whose `status` is SOLVED or
        SOLVED_WITH_RESERVE. Frames without a valid solution hold NaN for whatever depends on it: activations, muscle
        and contact forces, reserves, cost and certificate. Motion, joint moments, net reactions and the state of the
        muscles stay, for they show what is wrong.

    Raises:
        InputError: the trial asks for what cannot be done; says which field.
    """
    report = progress or no_progress
    analysis = share(prepare(trial, cost, solver, side, report), progress=report)
    report("result", 1.0)
    return assemble(analysis)
