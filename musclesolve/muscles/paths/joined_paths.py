"""Paths of several groups of muscles as one set: the path engine is called once for both legs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import AnyArray, Indices
from musclesolve.muscles.paths.carriers import WrapObjects
from musclesolve.muscles.paths.layout import PathLayout
from musclesolve.muscles.paths.moving_frames import MovingFrames
from musclesolve.muscles.paths.paths import Paths


def joined_paths(parts: Sequence[Paths]) -> Paths:
    """The muscles of all parts in order, on the model that the parts have in common."""
    if len(parts) == 1:
        return parts[0]
    frames = [len(part.frames) for part in parts]
    points = [part.layout.points for part in parts]
    return Paths(
        parts[0].rigid_bodies,
        _layout([part.layout for part in parts]),
        _joined([part.point_body for part in parts]),
        _joined([part.standing for part in parts]),
        _renumbered([part.switched for part in parts], points),
        _joined([part.switch_dof for part in parts]),
        _joined([part.switch_lower for part in parts]),
        _joined([part.switch_upper for part in parts]),
        WrapObjects(
            _joined([part.objects.body for part in parts]),
            _joined([part.objects.center for part in parts]),
            _joined([part.objects.axes for part in parts]),
            _renumbered([part.objects.frame for part in parts], frames),
        ),
        MovingFrames(
            _joined([part.frames.body for part in parts]),
            _joined([part.frames.dof for part in parts]),
            _joined([part.frames.pivot for part in parts]),
            tuple(spline for part in parts for spline in part.frames.motion),
        ),
        _renumbered([part.carriers.point_frame for part in parts], frames),
    )


def _layout(parts: Sequence[PathLayout]) -> PathLayout:
    muscles, points = [part.muscles for part in parts], [part.points for part in parts]
    objects = [len(part.kind) for part in parts]
    return PathLayout(
        _renumbered([part.point_muscle for part in parts], muscles),
        _joined([part.kind for part in parts]),
        _joined([part.radii for part in parts]),
        _joined([part.half_length for part in parts]),
        _joined([part.side_axis for part in parts]),
        _joined([part.side_sign for part in parts]),
        _renumbered([part.wrap_muscle for part in parts], muscles),
        _renumbered([part.wrap_object for part in parts], objects),
        _renumbered([part.wrap_first for part in parts], points),
        _renumbered([part.wrap_last for part in parts], points),
        _joined([part.arrays.wrap_method for part in parts]),
    )


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate(parts)


def _renumbered(parts: Sequence[Indices], counts: Sequence[int]) -> Indices:
    """Indices into parts of so many entries as indices into all of them; -1 stands for none."""
    before = np.cumsum([0, *counts[:-1]])
    numbered = [np.where(part < 0, part, part + shift) for part, shift in zip(parts, before, strict=True)]
    return np.concatenate(numbered).astype(np.intp)
