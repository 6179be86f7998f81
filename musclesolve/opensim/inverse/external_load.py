"""Loads that act on bodies from outside: ground reactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve._util.time_holes import HoleLimits
from musclesolve.errors import InputError
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import GROUND, OpenSimModel

_BEYOND = 1e-6
"""Most that times of a motion may lie beyond those of a load [s]: rounding of the files."""


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """Force [N], its point [m] and a free moment [N m] on a body, (S, 3) each at times (S,) [s].

    force_frame: body whose axes force and moment are in; point_frame: body that the point is measured in; notes: on
    the file.
    """

    name: str
    body: str
    time: Array
    force: Array
    point: Array
    moment: Array
    force_frame: str = GROUND
    point_frame: str = GROUND
    file: Path | None = None
    notes: tuple[str, ...] = ()

    def with_holes(self, limits: HoleLimits) -> ExternalLoad:
        """The same, with NaN in holes that are too long to be filled, from the sample before to the one after."""
        holes = limits.long_holes(self.time)
        if not holes:
            return self
        first, last = np.array(holes).T
        after = np.searchsorted(self.time, last)
        edges = np.stack([first + _BEYOND, 0.5 * (first + last), last - _BEYOND], axis=1).ravel()
        places = np.repeat(after, 3)

        def parted(values: Array) -> Array:
            lost = np.full_like(values[after], np.nan)
            rows = np.stack([values[after - 1], lost, values[after]], axis=1).reshape(-1, 3)
            return np.insert(values, places, rows, axis=0)

        time = np.insert(self.time, places, edges)
        force, point, moment = map(parted, (self.force, self.point, self.moment))
        return replace(self, time=time, force=force, point=point, moment=moment)


def load_wrench(model: OpenSimModel, loads: Sequence[ExternalLoad], time: Array, pose: BodyMotion) -> Array:
    """Moment about the origin of the ground and force of all loads, on every body: (T, B, 6).

    Force and moment about the origin of the frame, not the point, are interpolated: they vary smoothly where a foot
    strikes or leaves the ground, and the point does not.

    Raises:
        InputError: a body is unknown, or a load does not cover the times (T,).
    """
    total = np.zeros((*pose.position.shape[:2], 6))
    number = model.body_number
    for load in loads:
        _check(model, load, time)
        force = _turned(pose, number[load.force_frame], at_times(time, load.time, load.force))
        free = _turned(pose, number[load.force_frame], at_times(time, load.time, load.moment))
        if load.point_frame == load.force_frame:
            about = at_times(time, load.time, np.cross(load.point, load.force))
            lever = _turned(pose, number[load.point_frame], about)
        else:
            arm = _turned(pose, number[load.point_frame], at_times(time, load.time, load.point))
            lever = np.cross(arm, force)
        origin = pose.position[:, number[load.point_frame]]
        moment = free + lever + np.cross(origin, force)
        total[:, number[load.body]] += np.concatenate([moment, force], axis=1)
    return total


def load_in_ground(
    model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion
) -> tuple[Array, Array]:
    """Force [N] and its point [m] of a load in the axes of the ground, (T, 3) each, interpolated linearly."""
    number = model.body_number
    force = _turned(pose, number[load.force_frame], at_times(time, load.time, load.force))
    point = _turned(pose, number[load.point_frame], at_times(time, load.time, load.point))
    return force, point + pose.position[:, number[load.point_frame]]


def at_times(time: Array, known: Array, values: Array) -> Array:
    """Linear interpolation of values (S, 3) to times (T,)."""
    return np.stack([np.interp(time, known, column) for column in values.T], axis=1)


def _turned(pose: BodyMotion, frame: int, vector: Array) -> Array:
    return np.asarray((pose.rotation[:, frame] @ vector[..., None])[..., 0])


def _check(model: OpenSimModel, load: ExternalLoad, time: Array) -> None:
    for body in (load.body, load.force_frame, load.point_frame):
        if body not in model.body_number:
            raise unknown_name(body, "body", model.bodies, f" in {model.name!r}", load.file, load.name)
    if time[0] < load.time[0] - _BEYOND or time[-1] > load.time[-1] + _BEYOND:
        raise InputError(
            f"{load.name} is known from {load.time[0]:g} to {load.time[-1]:g} s, "
            f"the motion lasts from {time[0]:g} to {time[-1]:g} s",
            code="no_overlap",
            file=load.file,
            expected="loads at all times of the motion",
            remedy="choose a time range that both cover",
        )
