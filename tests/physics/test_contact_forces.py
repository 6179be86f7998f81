"""Newton's law for each segment of the leg: muscles, joints, weight and ground together make it accelerate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from thorough import some

import muscle_db
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import Wrench, segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.models.knee import quadriceps
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles import muscle_state, scale_muscles


@pytest.mark.parametrize(
    ("name", "side"), some([(name, side) for name in muscle_db.available() for side in "rl"], 3)
)
def test_every_segment_of_the_leg_obeys_newton(model, motion, wrenches, name, side):
    rng = np.random.default_rng(40)
    muscles = scale_muscles(model, muscle_db.load(name), side, passive="table")
    state = muscle_state(model, muscles, motion)
    tension = 500.0 * rng.uniform(size=state.musculotendon_length.shape)
    tension[:, quadriceps(muscles.names)] = 0.0  # with them: test_patella.py
    loads = MuscleJoints(model, state.muscles).loads(
        motion, distal_loads(model, segment_motion(model, motion), wrenches), state
    )
    net, contact = loads.net, loads.contact(tension)
    ground = next(w for w in wrenches if w.body == f"foot_{side}").force
    on = muscles.paths.on_path(motion.coordinates)
    assert on.all() == (muscles.paths.switched.size == 0)
    points = point_forces(muscles, state, on, tension)
    for near, far, bodies in (("ankle", None, ["foot"]), ("knee", "ankle", ["shank", "shank_distal"])):
        indices = [model.body(f"{name}_{side}") for name in bodies]
        pulled = points[:, np.isin(muscles.paths.body, indices)].sum(axis=1)
        force = contact[f"{near}_{side}"] + pulled + weight(model, indices)
        force = force + ground if far is None else force - contact[f"{far}_{side}"]
        np.testing.assert_allclose(force, momentum_rate(model, motion, indices), atol=1e-8)
    indices = [model.body(f"{name}_{side}") for name in ("thigh", "thigh_proximal")]
    pulled = points[:, np.isin(muscles.paths.body, indices)].sum(axis=1)
    force = contact[f"hip_{side}"] - contact[f"knee_{side}"] + pulled + weight(model, indices)
    np.testing.assert_allclose(force, momentum_rate(model, motion, indices), atol=1e-8)
    np.testing.assert_allclose(
        net[:, loads.joints.index(f"ankle_{side}")] + ground + weight(model, [model.body(f"foot_{side}")]),
        momentum_rate(model, motion, [model.body(f"foot_{side}")]),
        atol=1e-8,
    )


def point_forces(muscles, state, on, tension):
    """Force on the node of each path point and tangent point (T, N, 3), segment by segment from the places alone."""
    places = state.path.nodes.position
    force = np.zeros_like(places)
    for frame in range(len(force)):
        for n in range(muscles.paths.layout.muscles):
            for a, b, bends in segments(muscles.paths.layout, places[frame], on[frame], n):
                if not bends:
                    pull = places[frame, b] - places[frame, a]
                    pull = tension[frame, n] * pull / np.linalg.norm(pull)
                    force[frame, a] += pull
                    force[frame, b] -= pull
    return force


def segments(layout, place, on, muscle):
    """Nodes at the ends of each piece of a path, and whether it bends over an object.

    The two tangent points of an object lie between the two points of the path where they make the least detour.
    """
    points = np.flatnonzero(layout.point_muscle == muscle)
    first = [p for p in points if on[p]]
    pieces = [(a, b, False) for a, b in pairwise(first)]
    for w in np.flatnonzero(layout.wrap_muscle == muscle):
        near, far = layout.points + 2 * w, layout.points + 2 * w + 1
        if not np.any(place[near] != place[far]):
            continue  # not touched: both at the center

        def detour(piece, near=near, far=far):
            a, b, bends = piece
            through = [place[k] for k in (a, near, far, b)]
            longer = np.linalg.norm(np.diff(through, axis=0), axis=1).sum() - np.linalg.norm(
                place[b] - place[a]
            )
            return np.inf if bends else longer

        a, b, _ = split = min(pieces, key=detour)
        k = pieces.index(split)
        pieces[k : k + 1] = [(a, near, False), (near, far, True), (far, b, False)]
    return pieces


def weight(model, indices):
    return np.array([0.0, 0.0, -STANDARD_GRAVITY * model.mass.mass[indices].sum()])


def momentum_rate(model, motion, indices):
    """Sum of m a, with the acceleration of each mass center from its natural coordinates (2.44)."""
    own = model.rigid_bodies.subset(np.array(indices))
    basic = own.basic(motion.q, motion.qd, motion.qdd)
    place = own.coordinates(model.mass.center[indices])
    return np.einsum("b,be,tbex->tx", model.mass.mass[indices], place, basic)


def test_a_pull_on_the_foot_presses_the_ankle(model, motion):
    """Tension alone, nothing else: the joint pushes back exactly what the muscles pull across it."""
    muscles = scale_muscles(model, muscle_db.load("silva_2003"), "r", passive="table")
    state = muscle_state(model, muscles, motion)
    nothing = np.zeros_like(state.musculotendon_length)
    soleus = nothing.copy()
    soleus[:, muscles.names.index("soleus_r")] = 1000.0
    segments, feet = segment_motion(model, motion), [Wrench("foot_r", motion.q[:, 0] * 0, motion.q[:, 0] * 0)]
    loads = MuscleJoints(model, state.muscles).loads(motion, distal_loads(model, segments, feet), state)
    without, with_it = loads.contact(nothing), loads.contact(soleus)
    np.testing.assert_allclose(np.linalg.norm(with_it["ankle_r"] - without["ankle_r"], axis=1), 1000.0)
    np.testing.assert_allclose(with_it["knee_r"], without["knee_r"], atol=1e-9)
