"""The road from a recording to muscle forces: the whole method, from top to bottom.

| stage | function | gives |
| --- | --- | --- |
| landmarks | `anatomy` | points and axes of the body over time, (T', 3) [m] each, and where they are in standing |
| model | `subject_model` | bodies, joints and masses of the person: K joint angles, six coordinates of the pelvis |
| motion | `consistent_motion` | points and vectors of all bodies (T, N, 3), coordinates (T, K+6), two derivatives |
| ground reactions | `ground_reactions` | force, moment and center of pressure of each foot, (T, 3) [N, N m, m] |
| moments | `measured_moments` | generalized forces (T, K+6); the last six are the residual at the pelvis |
| muscles | `Options.muscles` | n muscles of the set on each side, scaled to the model |
| state | `muscle_state` | lengths, velocities, capacities (T, n), moment arms (T, m, n) [m] |
| problem | `sharing_problem` | A a = b, lower <= a <= upper in every frame |
| solution | `solve` | activations (T, n), status and certificate of every frame |

`mechanics` calls the first four stages, `recorded_body` the next three, `share` the last two. T' frames have a margin
of 0.1 s on each side of the T frames in the time range, so that derivatives hold at its ends. Axes: x forward, y left,
z up. Coordinates: K joint angles [rad], position [m] and three angles [rad] of the pelvis. Generalized forces: K joint
moments [N m], force [N] and moment [N m] on the pelvis. A number is positive in the direction of its name, which
`model.topology.dof_names` lists; `knee_flexion_r` is 0 in a straight knee. Muscles of a leg produce m = 7 moments; the
moments of the hip, of the knee and of ankle dorsiflexion are shared.

Each stage is a function on plain arrays and dataclasses, and may be replaced by another one. Here a brace pulls the
knee straight, with 20 N m for each radian, and the muscles flex the knee against it:

>>> import musclesolve as ms
>>> from musclesolve.laboratory.forces import find_options, mechanics, recorded_body, share
>>> from musclesolve.laboratory.bodies.mechanics import measured_moments
>>> trial = ms.read_trial(ms.data.reference_stride())
>>> recorded = mechanics(trial)  # landmarks, model, motion, ground reactions
>>> moments = measured_moments(trial, recorded.model, recorded.motion, recorded.wrenches)
>>> knee = recorded.model.dof("knee_flexion_r")
>>> moments[:, knee] += 20.0 * recorded.motion.coordinates[:, knee]
>>> body = recorded_body(trial, find_options(trial, side="r"), recorded, moments=moments)
>>> share(body).parts[0].solution
<Solution of 66 frames, 43 muscles, 5 moments by 'batch' for 'knee_sparing_activation': 66 solved>

To read on, in the order of the stages: laboratory/motion/anatomy/anatomy.py, laboratory/bodies/mechanics.py,
dynamics/model/human_model.py, dynamics/kinematics/consistent_motion.py, dynamics/kinematics/pose_fit.py,
laboratory/motion/ground_reaction.py, dynamics/inverse/newton_euler.py, laboratory/bodies/recorded_body.py,
muscles/scaling/scale_muscles.py, muscles/muscle_state.py, muscles/hill_model.py, models/body_sharing.py,
sharing/problem.py, sharing/solving.py.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from musclesolve._util.arrays import true_runs
from musclesolve._util.messages import Progress, no_progress, unknown_name
from musclesolve._util.processes import return_memory
from musclesolve.dynamics.kinematics.consistent_motion import consistent_motion
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.laboratory.bodies.adjusted_mechanics import (
    changed_motion,
    check_reduction,
    completed_reactions,
)
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN, Mechanics, subject_model
from musclesolve.laboratory.bodies.recorded_body import RecordedBody, recorded_body
from musclesolve.laboratory.bodies.run_options import find_options, read_in_time_range, with_arguments
from musclesolve.laboratory.motion.anatomy.anatomy import anatomy
from musclesolve.laboratory.motion.ground_reaction import ground_reactions
from musclesolve.laboratory.recording.data import AnyTrial, Trial
from musclesolve.laboratory.trial.trial_file import ModelTrial, read_trial
from musclesolve.models.body_sharing import share
from musclesolve.models.settings import REDUCED
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver

if TYPE_CHECKING:
    from musclesolve.laboratory.bodies.measured_body import MeasuredModel


def muscle_forces(
    trial: AnyTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    **settings: Any,
) -> MeasuredAnalysis:
    """Compute the muscle forces of a trial, as arrays of its parts; arguments as in `run`, which labels and judges.

    Raises:
        InputError: see `run`.

    Examples:
        >>> from musclesolve.laboratory.forces import muscle_forces
        >>> right = muscle_forces(ms.data.reference_stride(), side="r").parts[0]
        >>> right.solution.force.shape, right.state.moment_arm.shape
        ((66, 43), (66, 7, 43))
    """
    return share(prepare(trial, cost, solver, side, progress, **settings), progress=progress)


def prepare(
    trial: AnyTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    **settings: Any,
) -> "RecordedBody | MeasuredModel":
    """Compute all stages before the sharing of forces, which do not depend on the cost; arguments as in `run`."""
    trial, others = read_in_time_range(trial, settings)
    if others:
        trial = with_arguments(trial, **others)
    if isinstance(trial, Trial):
        return prepare_recording(trial, cost, solver, side, progress)
    from musclesolve.laboratory.bodies.trial_body import body_of_trial

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
    """Compute all stages before the sharing of forces for a recording; arguments as in `run`."""
    options = find_options(trial, cost, solver, side)
    return recorded_body(trial, options, mechanics(trial, progress), progress)


def mechanics(trial: Trial, progress: Progress | None = None) -> Mechanics:
    """Compute landmarks, model, motion and ground reactions of a recording."""
    report = progress or no_progress
    report("markers", 0.05)
    landmarks = anatomy(trial, TIME_MARGIN)
    return_memory(len(landmarks.time))
    report("kinematics", 0.15)
    consistency = trial.settings.consistency
    if consistency.residual == REDUCED:
        check_reduction(trial)
    model = subject_model(trial, landmarks)
    weights, names = consistency.weights, [*landmarks.points, *landmarks.directions]
    if unknown := [name for name in weights if name not in names]:
        error = unknown_name(unknown[0], "point or axis", names, " of the model that this recording shows")
        raise trial.document.placed(error, "consistency", "weights")
    targets = Targets.build(model, landmarks.points, landmarks.directions, weights)
    fit, motion = consistent_motion(
        model, targets, landmarks.time, consistency.method, consistency.derivatives
    )
    return_memory(len(motion.time))
    inside = trial.inside(landmarks.time, *trial.time_range)
    analyzed = motion.frames(slice(*true_runs(inside)[0]))  # shares the memory of the motion

    if trial.predicted_spans is not None:
        completed = completed_reactions(trial, model, motion, landmarks.filter)
        reactions = [reaction.frames(inside) for reaction in completed]
        predicted = trial.settings.files.predicted
        return Mechanics(landmarks, model, fit, analyzed, reactions, predicted, (motion.time, completed))
    reactions = ground_reactions(trial.forces, analyzed.time, landmarks.filter)
    unchanged = Mechanics(landmarks, model, fit, analyzed, reactions)
    if consistency.residual == REDUCED:
        return changed_motion(trial, unchanged, targets, motion)
    return unchanged


def recording_of(trial: AnyTrial | str | Path, purpose: str) -> Trial:
    """Return the trial of a recording, or read its file; refuse the trial of an OpenSim model for a purpose."""
    trial = read_trial(trial)
    if not isinstance(trial, Trial):
        raise trial.document.fault(
            "unsupported",
            ("files", "model"),
            f"this is the trial of an OpenSim model, and {purpose} needs recorded markers and forces",
            "the trial file of a recording",
            "name markers, forces and the subject instead of a model",
        )
    return trial
