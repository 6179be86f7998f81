"""Preparation of a trial: `prepare` makes a body whose moments `pipeline.share.share` shares.

`musclesolve.checking.check` labels what `share` returns; studies start from `prepare`.
"""

from pathlib import Path
from typing import Any

from musclesolve._util.progress import Progress, no_progress
from musclesolve.pipeline.emg_informed import with_arguments
from musclesolve.pipeline.mechanics import mechanics
from musclesolve.pipeline.opensim.model_body import ModelBody, body_of_trial
from musclesolve.pipeline.recorded_body import RecordedBody, recorded_body
from musclesolve.pipeline.run_options import find_options
from musclesolve.recording.data import AnyTrial, Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver


def prepare(
    trial: AnyTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    **settings: Any,
) -> RecordedBody | ModelBody:
    """Compute all steps before the sharing of forces, which do not depend on the cost; arguments as in `run`."""
    trial = read_trial(trial)
    trial = with_arguments(trial, **settings)
    if isinstance(trial, Trial):
        return prepare_recording(trial, cost, solver, side, progress)
    assert isinstance(trial, ModelTrial)
    (progress or no_progress)("inverse dynamics", 0.35)
    return body_of_trial(trial, cost, solver, side)


def prepare_recording(
    trial: Trial,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> RecordedBody:
    """Compute all steps before the sharing of forces for a recording; arguments as in `run`."""
    options = find_options(trial, cost, solver, side)
    return recorded_body(trial, options, mechanics(trial, progress), progress)


def recording_of(trial: AnyTrial | str | Path, purpose: str, plates: bool = False) -> Trial:
    """Return the trial of a recording, or read its file; refuse the trial of an OpenSim model for a purpose.

    plates: refuse a trial whose ground reactions are predicted, too.
    """
    trial = read_trial(trial)
    if not isinstance(trial, Trial):
        raise trial.document.error("pipeline.needs_recording", "files", "model", purpose=purpose)
    if plates and trial.settings.files.predicted:
        raise trial.document.error("pipeline.needs_plates", "files", "forces", purpose=purpose)
    return trial
