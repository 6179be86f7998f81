"""Contributions: what each muscle does to the center of mass, to the joints and to the ground reactions of a recording.

The equations, and what the contact model decides, stand in `dynamics.inverse.induced_accelerations`. Two contact models
are computed and compared, since neither is right throughout: in push-off the heel has left the ground, so that the
foot is not flat; after heel strike the foot turns about the heel.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.progress import Progress, no_progress
from musclesolve._util.sides import side_of, with_side
from musclesolve.checking.check import findings_of
from musclesolve.dynamics.inverse.induced_accelerations import induced_accelerations
from musclesolve.pipeline.run import prepare_recording, recording_of
from musclesolve.pipeline.run_options import check_consistent
from musclesolve.pipeline.share import share
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.results.dataset.assemble import assemble
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.studies.questions.judged import judgement_of


def contributions(
    trial: Trial | ModelTrial | str | Path,
    cost: str | Cost | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """What each muscle, gravity and the rest contribute to accelerations and ground reactions of a recorded motion.

    Args:
        trial: a recording, from `read_trial`, or the path of its trial file.
        cost: of the sharing; that of the trial file unless given.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over contact ("point", "foot"; see `induced_accelerations`), part, time, dof, side and axis:
        center_acceleration (contact, part, time, axis) [m/s2], joint_acceleration (contact, part, time, dof) [rad/s2],
        ground_contribution (contact, part, time, side, axis) [N]. The parts of a contact model add up to the recorded
        acceleration and ground reaction. Parts are the muscles, then gravity, motion, free_moment, other_moments
        (reserves, joints without muscles, what muscles do not make of moments that are not shared) and residual (force
        and moment at the pelvis that no ground reaction gives). group (part): function group with the side, or the
        name of the part. touching (time, side). Frames in which a leg has no solution are NaN. The attributes hold the
        verdict and the findings on the trial.

    Raises:
        InputError: an OpenSim model, or whatever `run` refuses.
    """
    report = progress or no_progress
    recording = recording_of(trial, "contributions of muscles")
    check_consistent(recording, "contributions of muscles")
    body = prepare_recording(recording, cost, None, "both", report)
    analysis = share(body, progress=report)
    labelled = assemble(analysis, findings_of(recording, body))
    model, motion, wrenches = body.mechanics.model, body.mechanics.motion, list(body.mechanics.wrenches)
    speeds = model.tree.joint_count + 6
    forces: dict[str, Array] = {}
    solved = np.ones(len(body.time), dtype=bool)
    for part in analysis.parts:
        rows = [model.dof(dof) for dof in part.part.dofs]
        solved &= part.solution.solved & part.part.measured
        for k, name in enumerate(part.state.parameters.names):
            forces[name] = np.zeros((len(body.time), speeds))
            forces[name][:, rows] = (
                part.state.moment_arm[:, :, k] * np.nan_to_num(part.tension[:, k])[:, None]
            )
    report("contact models", 0.9)
    found = induced_accelerations(model, motion, wrenches, forces)
    parts = next(iter(found.values())).parts
    rows = [model.dof(dof) for dof in body.dofs]

    def stacked(of: str) -> Array:
        """A share (contact, part, time, ...) under each contact model; NaN in frames without forces."""
        arrays = np.stack([getattr(each, of) for each in found.values()])
        arrays[:, ~solved] = np.nan
        return np.asarray(np.swapaxes(arrays, 1, 2))

    sides = [side_of(wrench.body) for wrench in wrenches]
    groups = dict(zip(map(str, labelled["muscle"].values), map(str, labelled["group"].values), strict=True))
    of_part = [with_side(groups[name], side_of(name)) if name in groups else name for name in parts]
    result = xr.Dataset(
        {
            "center_acceleration": (("contact", "part", "time", "axis"), stacked("center")),
            "joint_acceleration": (("contact", "part", "time", "dof"), stacked("joint")[..., rows]),
            "ground_contribution": (("contact", "part", "time", "side", "axis"), stacked("ground")),
            "touching": (("time", "side"), next(iter(found.values())).touching),
        },
        {
            "contact": list(found),
            "part": list(parts),
            "group": ("part", of_part),
            "time": ("time", body.time, {"units": "s"}),
            "dof": list(body.dofs),
            "side": sides,
            "axis": list("xyz"),
        },
        {
            "subject": recording.subject.name,
            "subject_mass_kg": model.mass.total,
            "cost": body.sharing.cost.label,
            "frames": len(body.time),
            "frames_solved": int(solved.sum()),
            **judgement_of(labelled),
        },
    )
    for name, (units, meaning) in MEANING.items():
        result[name].attrs |= {"units": units, "long_name": meaning}
    return result


MEANING = {
    "center_acceleration": ("m/s2", "share in the acceleration of the center of mass: forward, left, up"),
    "joint_acceleration": ("rad/s2", "share in the acceleration of the degree of freedom"),
    "ground_contribution": ("N", "share in the ground reaction of the foot: forward, left, up"),
    "touching": ("1", "whether the foot touches the ground"),
}
