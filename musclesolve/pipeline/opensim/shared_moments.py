"""Moments of the shared coordinates from those that OpenSim's inverse dynamics writes for every coordinate.

Two things differ. A force of OpenSim is that of its own joint alone: where couplers drive other coordinates with q_i,
the muscles that move q_i have to make

    tau_i = M_i + sum_d M_d dq_d/dq_i.

And the forces of the angles of ball and free joints belong to the components of the angular velocity omega of the
child in the parent frame, not to the rates of the angles. With omega = sum_k a_k qd_k about the axes a_k of the three
rotations, equal power means M_k = a_k . M (Simbody's mobilizers; Featherstone 2008, 4.4). Arrays that a program gives
belong to the rates already, as those of `inverse_dynamics` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.geometry import coordinate_chain
from musclesolve.opensim.kinematics import coordinate_values, joint_motion
from musclesolve.opensim.model import Joint, OpenSimModel
from musclesolve.pipeline.opensim.coordinate_moments import CoordinateMoments, coordinate_moments
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion, Source
from musclesolve.recording.data import Table


def shared_moments(
    model: OpenSimModel, source: Source, dofs: Sequence[str], motion: CoordinateMotion
) -> CoordinateMoments:
    """Generalized forces (T, m) of the shared coordinates, those of what they drive included.

    Args:
        source: see `coordinate_moments`; a path and a Table hold what OpenSim writes. A coordinate that is
            driven may be missing, which is said.

    Raises:
        InputError: see `coordinate_moments`.
    """
    number = model.coordinate_number
    values = coordinate_values(model, motion.by_name(motion.value))
    chain = coordinate_chain(model, values, dofs)
    moved = [name for name in model.coordinates if chain[:, number[name]].any()]
    turned = [each for each in model.joints if each.speeds_are_angular and set(moved) & set(_angles(each))]
    angular = turned if isinstance(source, str | Path | Table) else []
    together = [name for joint in angular for name in _angles(joint)]
    needed = tuple(dict.fromkeys([*dofs, *together]))
    driven = tuple(name for name in moved if name not in needed)
    found = coordinate_moments(source, needed, motion.time, driven, motion.cutoff_hz)
    added = [name for name, own in zip(driven, found.moment[:, len(needed) :].T, strict=True) if own.any()]
    force = np.zeros(values.shape)
    force[:, [number[name] for name in (*needed, *driven)]] = found.moment
    for joint in angular:
        columns = [number[name] for name in _angles(joint)]
        force[:, columns] = np.einsum("tki,ti->tk", _spin_axes(model, joint, values), force[:, columns])
    moment = np.empty((len(values), len(dofs)))
    for j in range(len(dofs)):
        own = chain[:, :, j].any(axis=0)  # a moment that is not known concerns no other coordinate
        moment[:, j] = (force[:, own] * chain[:, own, j]).sum(axis=1)
    return replace(
        found,
        moment=moment,
        notes=(*found.notes, *_notes(added, angular)),
    )


def _angles(joint: Joint) -> tuple[str, ...]:
    """The coordinates of the three rotations of a ball or free joint."""
    return joint.coordinates[:3]


def _spin_axes(model: OpenSimModel, joint: Joint, values: Array) -> Array:
    """Axes (T, 3, 3) of the three rotations of a joint, one after the other, in its parent frame."""
    upright = np.broadcast_to(np.eye(3), (len(values), 3, 3))
    moved = joint_motion(model, joint, values, upright, np.zeros((len(values), 3)))
    axis_of = {axis.axis.coordinates[0]: axis.unit[:, :3] for axis in moved.axes}
    return np.stack([axis_of[name] for name in _angles(joint)], axis=1)


def _notes(added: Sequence[str], angular: Sequence[Joint]) -> list[str]:
    notes = []
    if added:
        notes.append(
            f"The moments of {', '.join(added)} are added to those of the coordinates that drive them."
        )
    notes += [
        f"Moments of {', '.join(_angles(joint))} are read as those of the angular velocity of {joint.name}, as OpenSim "
        "writes them, and given as those of the rates of the angles."
        for joint in angular
    ]
    return notes
