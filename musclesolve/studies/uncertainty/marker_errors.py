"""Errors of markers: of their place on the body, and by sliding over it.

A marker moves with a body, so that an error of its place turns with the body; an error of a joint center or an axis
moves the markers that show it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN
from musclesolve.laboratory.motion.anatomy.anatomy import measured_body
from musclesolve.laboratory.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.laboratory.motion.anatomy.landmark_positions import (
    Points,
    axis_end,
    filtered_markers,
    standing_trial,
)
from musclesolve.laboratory.motion.events.gait import gait_events
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice
from musclesolve.laboratory.recording.data import SIDES, Side, Trial
from musclesolve.tables.sampled import Markers

JOINT_SPREAD = 1e-4
"""Difference of its spread in the axes of two bodies below which a marker lies at their joint [m]."""


@dataclass(frozen=True)
class MarkerErrors:
    """The markers of a trial and the bodies that their errors move with."""

    walk: Markers  # filtered markers (T, n, 3) of the motion [m]
    standing: Points  # marker -> (3,) in the standing trial [m]
    rotation: Array  # (T, b, 3, 3) rotation of some bodies from the standing pose
    owner: Array  # (n,) which of them each marker of the motion moves with
    neutral: Array  # (3, 3) forward, left and up of the subject standing, as columns
    placed: tuple[str, ...]  # markers that show landmarks and ends of functional axes, but for hip centers
    hips: dict[Side, tuple[str, ...]]  # side -> markers that show its hip center; none where it is not mapped
    phase: Array  # (T,) of the stride [rad]

    @classmethod
    def from_trial(cls, trial: Trial, chosen: FilterChoice, model: Model, q: Array) -> Self:
        """Find the body of each marker, in whose axes the marker moves least.

        It is the body nearest the pelvis of those that share a joint center or an axis with it; a hip center lies in
        the pelvis. q is the consistent motion (T, N, 3) of the model in the frames of the markers.
        """
        walk = filtered_markers(trial, chosen, TIME_MARGIN)
        standing, _ = with_functional_axes(trial, standing_trial(trial))
        neutral = measured_body(trial, trial.subject, trial.hip_regression, walk, standing).stance.pelvis_axes
        rotation, origin = model.rigid_bodies.rotation(q), model.rigid_bodies.basic(q)[:, :, 0]
        within = np.einsum("tbji,tnbj->tnbi", rotation, walk.position[:, :, None] - origin[:, None])
        spread = np.sqrt(within.var(axis=0).sum(axis=2))
        alike = spread < spread.min(axis=1, keepdims=True) + JOINT_SPREAD
        joints_before = model.tree.distal_frames[: rotation.shape[1]].sum(axis=1)
        best = np.where(alike, joints_before, np.inf).argmin(axis=1)
        hips = {side: tuple(trial.mapping.get(f"hip_center_{side}", ())) for side in SIDES}
        of_hips = {name for names in hips.values() for name in names}
        best[[name in of_hips for name in walk.names]] = model.tree.root
        bodies = np.unique(best)
        mapped = (name for weights in trial.mapping.values() for name in weights)
        shown = dict.fromkeys([*mapped, *map(axis_end, trial.axis_ends)])
        return cls(
            walk=walk,
            standing=standing,
            rotation=rotation[:, bodies],
            owner=np.searchsorted(bodies, best),
            neutral=neutral,
            placed=tuple(name for name in shown if name not in of_hips),
            hips=hips,
            phase=2.0 * np.pi * (walk.time - walk.time[0]) / stride_time(trial),
        )

    @cached_property
    def _turned(self) -> Array:
        """(T, n, 3, 3) rotation of the body of each marker."""
        return self.rotation[:, self.owner]

    def moved(
        self, placement: Array, hip_center: Array, soft_tissue: Array
    ) -> tuple[Markers, Points, dict[Side, Array]]:
        """Markers of motion and standing with errors, and the errors of hip centers that are not mapped.

        Errors are in the axes of the body [m]: (p, 3) of the markers `placed`, (2, 3) of the right and the left hip
        center, and (n, 3, 2) of soft tissue, a and b of a cos + b sin of the phase.
        """
        wave = np.stack([np.cos(self.phase), np.sin(self.phase)], axis=1)
        local = (wave @ soft_tissue.reshape(-1, 2).T).reshape(self.walk.position.shape)
        standing = dict(self.standing)
        offsets = dict(zip(self.placed, placement, strict=True))
        for side, offset in zip(SIDES, hip_center, strict=True):
            offsets |= dict.fromkeys(self.hips[side], offset)
        for name, offset in offsets.items():
            if name in standing:
                standing[name] = standing[name] + self.neutral @ offset
            if name in self.walk:
                local[:, self.walk.names.index(name)] += offset
        position = self.walk.position + (self._turned @ local[..., None])[..., 0]
        unmapped = {side: by for side, by in zip(SIDES, hip_center, strict=True) if not self.hips[side]}
        return replace(self.walk, position=position), standing, unmapped


def stride_time(trial: Trial) -> float:
    """Median time from a heel strike to the next of the same foot, or the time range where there are no two [s]."""
    events = gait_events(trial)
    strikes = [[event.time for event in events.of("heel_strike", side)] for side in SIDES]
    steps = np.concatenate([np.diff(times) for times in strikes])
    return float(np.median(steps)) if steps.size else trial.time_range[1] - trial.time_range[0]
