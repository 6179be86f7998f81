"""Ground reactions of single frames: optimum of their program, near the plates of a synthetic walk, on a belt too."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from tempfile import mkdtemp

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.predicted_reactions import (
    BandedProgram,
    FrameReactions,
    Ground,
    about_center,
    acting_forces,
    frame_terms,
    predicted_reactions,
    push_limits,
    soles,
)
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, moving_bodies
from musclesolve.dynamics.model.model import mass_center
from musclesolve.laboratory.forces import mechanics, recording_of

BELT = np.array([-1.2, 0.1, 0.0])


@cache
def recorded():
    return mechanics(recording_of(ms.studies.synthetic_recording(mkdtemp()), "this test"))


def frame_by_frame(found, motion: Motion, times: int = 1) -> np.ndarray:
    """Wrenches (T, 2, 6) of the feet, frame by frame; the last where the motion passes several times."""
    reactions = FrameReactions(found.model, found.motion)
    required = predicted_reactions(found.model, motion).required
    wrenches = []
    for k in np.arange(times * len(motion.time)) % len(motion.time):
        at = slice(k, k + 1)
        state = motion.coordinates[at], motion.rates[at], motion.second[at]
        one, bodies = moving_bodies(found.model, motion.time[at], *state)
        wrenches.append(reactions.wrenches(one, bodies, required[k]))
    return np.array(wrenches[-len(motion.time) :])


def on_belt(found) -> Motion:
    """The motion as it is on a belt: all of it moves with the belt."""
    motion, model = found.motion, found.model
    coordinates, rates, q, qd = (
        each.copy() for each in (motion.coordinates, motion.rates, motion.q, motion.qd)
    )
    points, way = model.topology.point_count, motion.time[:, None] * BELT
    coordinates[:, -6:-3] += way
    rates[:, -6:-3] += BELT
    q[:, :points] += way[:, None]
    qd[:, :points] += BELT
    return replace(motion, coordinates=coordinates, rates=rates, q=q, qd=qd)


def test_a_frame_is_the_optimum_that_the_interior_point_method_finds() -> None:
    found = recorded()
    motion, weight = found.motion, found.model.mass.total * STANDARD_GRAVITY
    points, center = soles(found.model, motion), mass_center(found.model, motion.q)
    velocity = np.gradient(points, motion.time, axis=0)
    required = predicted_reactions(found.model, motion).required
    acting = acting_forces(points - center[:, None, None])
    cost = Ground.from_motion(points, velocity).cost(points, velocity)
    square, linear = frame_terms(about_center(required, center) / weight, acting, cost)
    ours = frame_by_frame(found, motion)
    for k in range(5, len(motion.time) - 5, 7):
        size = len(square[k])
        band = np.zeros((size, size))
        for apart in range(size):
            band[apart, : size - apart] = np.diagonal(square[k], -apart)
        unknowns, residual = BandedProgram(
            band, linear[k : k + 1], push_limits(points.shape[2])[None]
        ).solve()
        assert residual < 1e-7
        force = (acting[k] @ unknowns[0]).reshape(2, 6)[:, :3]
        # velocities of the points: exact there, differences of positions here
        np.testing.assert_allclose(ours[k, :, :3] / weight, force, atol=5e-3)


@pytest.mark.parametrize("belt", [False, True])
def test_frames_are_near_the_plates(belt: bool) -> None:
    """The recording is on the floor; on a belt the soles of the last two seconds show its velocity."""
    found = recorded()
    weight = found.model.mass.total * STANDARD_GRAVITY
    ours = frame_by_frame(found, on_belt(found), times=3) if belt else frame_by_frame(found, found.motion)
    for plates, wrench in zip(found.reactions, np.swapaxes(ours, 0, 1), strict=True):
        off = np.sqrt(np.mean((wrench[:, :3] - plates.force) ** 2, axis=0)) / weight
        assert (off < (0.035, 0.015, 0.05)).all(), (plates.side, off)
    upward = ours[..., 2]
    assert upward.min() > -1e-9 * weight
    assert (np.abs(ours[..., :2]) <= 0.5 * upward[..., None] + 1e-9 * weight).all()
