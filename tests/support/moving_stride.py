"""The bundled stride in motion: model, motion and loads, for tests that know nothing of studies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from musclesolve.dynamics import Model, Wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.studies import synthetic


class MovingStride(NamedTuple):
    model: Model
    motion: Motion
    wrenches: list[Wrench]


def moving_stride(frames: int) -> MovingStride:
    """One stride, its motion in some frames, and the loads on its feet."""
    stride = synthetic.reference_stride()
    time = np.linspace(0.0, stride.period, frames)
    return MovingStride(stride.model, stride.motion(time), stride.wrenches(time))
