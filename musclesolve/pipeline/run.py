"""From a trial to the muscle forces of its body: `prepare` comes before the sharing, `share` is the sharing.

`musclesolve.results.run_trial` labels what `share` returns; studies start from `prepare`.
"""

from __future__ import annotations

from pathlib import Path

from musclesolve._util.progress import Progress
from musclesolve.pipeline.mechanics import mechanics
from musclesolve.pipeline.recorded_body import RecordedBody, recorded_body
from musclesolve.pipeline.run_options import find_options
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_base import Solver


def prepare(
    trial: Trial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> RecordedBody:
    """Everything that comes before the sharing of forces, the same for every cost; arguments as in `run`."""
    trial = loaded(trial)
    options = find_options(trial, cost, solver, side)
    return recorded_body(trial, options, mechanics(trial, progress), progress)


def loaded(trial: Trial | str | Path) -> Trial:
    """The trial, read where it is the path of a trial file."""
    return trial if isinstance(trial, Trial) else read_trial(trial)
