"""The pipeline, one call per stage: from a checked trial to the muscle forces of its legs.

`musclesolve.results.run_trial` labels what `share` returns; studies start from `prepare`.
"""

from __future__ import annotations

from pathlib import Path

from musclesolve._util.progress import Progress, no_progress
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.motion.events.gait import Gait
from musclesolve.pipeline.legs import leg_mechanics, leg_moments, share_leg
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.mechanics import measured_moments, mechanics
from musclesolve.pipeline.run_options import Options, check_emg, find_options
from musclesolve.pipeline.types import Analysis, LegMechanics, Mechanics, Prepared
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
) -> Prepared:
    """Everything that comes before the sharing of forces, the same for every cost; arguments as in `run`."""
    trial = loaded(trial)
    options = find_options(trial, cost, solver, side)
    return prepare_legs(trial, options, mechanics(trial, progress), progress)


def loaded(trial: Trial | str | Path) -> Trial:
    """The trial, read where it is the path of a trial file."""
    return trial if isinstance(trial, Trial) else read_trial(trial)


def prepare_legs(
    trial: Trial, options: Options, recorded: Mechanics, progress: Progress | None = None
) -> Prepared:
    """Inverse dynamics, the frames that are valid, and the mechanics of each analysed leg."""
    report = progress or no_progress
    report("inverse dynamics", 0.35)
    model, motion = recorded.model, recorded.motion
    moments = measured_moments(trial, model, motion, recorded.wrenches)
    segments, validity = segment_motion(model, motion), recorded.validity(moments)
    emg = MeasuredActivation.of_trial(trial, options.channels, options.sides)
    legs = []
    for number, side in enumerate(options.sides):
        report("muscle rows", 0.45 + 0.25 * number / len(options.sides))
        state, loads = leg_mechanics(options, recorded, segments, side)
        own = leg_moments(model, moments, side)
        expected = None if emg is None else emg.expected(motion.time, state.muscles.names)
        legs.append(LegMechanics(state, loads, own, validity.of_leg(side), motion.time, expected))
    gait = Gait.of(trial, recorded.measured)
    return Prepared(trial, options, recorded, moments, validity, gait, tuple(legs), emg)


def share(prepared: Prepared, options: Options | None = None, progress: Progress | None = None) -> Analysis:
    """Share the moments of each leg among its muscles, with other options where they are given."""
    report, chosen = progress or no_progress, options or prepared.options
    check_emg(prepared.trial, chosen.cost)
    legs = []
    for number, leg in enumerate(prepared.legs):
        report("sharing", 0.7 + 0.25 * number / len(prepared.legs))
        legs.append(share_leg(leg, chosen))
    return Analysis(prepared, tuple(legs))
