"""The muscles of one leg on a subject's skeleton, and where their conditional via points join and leave the path.

A via point stands for bone or a retinaculum that the muscle wraps around, so it can only lengthen the path, and it
belongs to it just as long as it does. Where the path through the point is shortest against the path past it, the two
have the same moment arm (the derivative of their difference is zero) and all but the same length: switching there,
the path does not jump. That angle depends on the proportions of the subject, so the tabulated one is where the search
begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from muscle_db import Muscle, MuscleDatabase
from muscle_db.model import DEGREES_OF_FREEDOM
from muscle_db.standing import standing_length
from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.layout import PathLayout
from musclesolve.muscles.paths.paths import Paths

LEG_DOFS = DEGREES_OF_FREEDOM
"""The degrees of freedom that leg muscles move, without side."""


def _body(frame: str, side: str) -> str:
    """Body of a frame of the database: 7, 4 (10), 3 (11) and 1 (13) (correction A9)."""
    bone = {"femur": "thigh", "tibia": "shank", "foot": "foot"}
    return "pelvis" if frame == "pelvis" else f"{bone[frame]}_{side}"


@dataclass(frozen=True)
class LegMuscles:
    """Muscles (n) of one side: paths on the skeleton and the parameters of the Hill model, each (n,).

    max_isometric_force [N]; optimal_fiber_length and tendon_slack_length [m], scaled to the subject;
    pennation_angle [rad]; max_shortening_velocity [optimal fiber lengths / s]; length_scale: k of correction A4;
    segment_scale: factors of the positions by frame, forward, left, up.
    """

    side: str
    names: tuple[str, ...]
    short_names: tuple[str, ...]
    groups: tuple[str, ...]
    paths: Paths
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    length_scale: Array
    segment_scale: dict[str, Array]

    @property
    def dof_names(self) -> tuple[str, ...]:
        """The seven degrees of freedom of this leg."""
        return tuple(f"{dof}_{self.side}" for dof in LEG_DOFS)


def place_muscles(
    model: Model, database: MuscleDatabase, side: str, strength_factor: float = 1.0
) -> LegMuscles:
    """Put the muscles of a database on the leg "r" or "l" of a subject.

    Positions scale by segment (Silva 2003, 6.5): femur with the thigh, tibia with the shank, the width of the pelvis
    with the distance between the hips; its height and depth, and the foot, with stature. Optimal fiber and tendon
    slack lengths scale with k = L_MT(subject) / L_MT(source), both standing (correction A4), so normalised fiber length
    does not depend on body size. Maximum isometric force is as tabulated, times strength_factor.
    """
    muscles = database.legs[side]
    paths = adjust_switches(model, _paths(model, database, muscles, side))
    standing = paths.evaluate(model.standing[None], np.zeros((1, len(model.topology.dof_names)))).length[0]
    source = np.array([standing_length(muscle, database.reference, unscaled=True) for muscle in database])
    scale = standing / source
    return LegMuscles(
        side=side,
        names=tuple(muscle.name for muscle in muscles),
        short_names=tuple(muscle.short_name for muscle in muscles),
        groups=tuple(muscle.group for muscle in muscles),
        paths=paths,
        max_isometric_force=strength_factor * np.array([m.max_isometric_force for m in muscles]),
        optimal_fiber_length=scale * np.array([m.optimal_fiber_length for m in muscles]),
        tendon_slack_length=scale * np.array([m.tendon_slack_length for m in muscles]),
        pennation_angle=np.array([m.pennation_angle for m in muscles]),
        max_shortening_velocity=np.array([m.max_shortening_velocity for m in muscles]),
        length_scale=scale,
        segment_scale=segment_scales(model, database, side),
    )


def _paths(model: Model, database: MuscleDatabase, muscles: tuple[Muscle, ...], side: str) -> Paths:
    frames = _frames(model, database, side)
    points = [(n, point) for n, muscle in enumerate(muscles) for point in muscle.path]
    body = {frame: model.body(_body(frame, side)) for frame in frames}
    place = np.array([(*point.position, 1.0) for _, point in points])
    ranges = [(p, point.active) for p, (_, point) in enumerate(points) if point.active is not None]
    return Paths(
        rigid_bodies=model.rigid_bodies,
        layout=PathLayout(np.array([n for n, _ in points])),
        point_body=np.array([body[point.frame] for _, point in points]),
        standing=(np.stack([frames[point.frame] for _, point in points]) @ place[:, :, None])[:, :, 0],
        switched=np.array([p for p, _ in ranges], dtype=int),
        switch_dof=np.array([model.dof(f"{active.dof}_{side}") for _, active in ranges], dtype=int),
        switch_lower=np.array([active.lower for _, active in ranges]),
        switch_upper=np.array([active.upper for _, active in ranges]),
    )


def segment_scales(model: Model, database: MuscleDatabase, side: str) -> dict[str, Array]:
    """How much longer each frame of the database becomes on this subject, (3,) forward, left, up.

    Stature is compared with that of the skeleton before the table's own scaling, hence the factors of the table.
    """
    reference = database.reference
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    width = np.linalg.norm(model.standing[model.slot("hip_r")] - model.standing[model.slot("hip_l")])
    stature = 1.0 if model.stature is None else model.stature / reference.stature
    by_stature = {frame: stature / reference.position_scale[frame] for frame in ("pelvis", "foot")}
    return {
        "pelvis": np.array([by_stature["pelvis"], width / reference.hip_width, by_stature["pelvis"]]),
        "femur": np.full(3, np.linalg.norm(knee - hip) / reference.thigh_length),
        "tibia": np.full(3, np.linalg.norm(ankle - knee) / reference.shank_length),
        "foot": np.full(3, by_stature["foot"]),
    }


def _frames(model: Model, database: MuscleDatabase, side: str) -> dict[str, Array]:
    """Affine maps (3, 4) from the frames of the database to standing positions."""
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    scale = segment_scales(model, database, side)
    mirror = np.array([1.0, -1.0 if side == "l" else 1.0, 1.0])
    forward = model.standing[model.slot(f"shank_forward_{side}")]
    foot = np.column_stack([forward, np.cross([0.0, 0.0, 1.0], forward), [0.0, 0.0, 1.0]])
    return {
        "pelvis": _affine(
            np.diag(scale["pelvis"]), hip - scale["pelvis"] * mirror * database.reference.hip_center
        ),
        "femur": _affine(np.diag(scale["femur"]), hip),
        "tibia": _affine(np.diag(scale["tibia"]), knee),
        "foot": _affine(foot * scale["foot"], ankle),
    }


def _affine(matrix: Array, origin: Array) -> Array:
    return np.column_stack([matrix, origin])


SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """The same paths with every reachable end of a conditional range moved to where the path does not jump."""
    lower, upper = paths.switch_lower.copy(), paths.switch_upper.copy()
    for dof in np.unique(paths.switch_dof):
        own = np.flatnonzero(paths.switch_dof == dof)
        angles = search_grid(np.concatenate([lower[own], upper[own]]))
        gap = _gaps(model, paths, int(dof), angles)
        for c in own:
            muscle = paths.muscle[paths.switched[c]]
            for edges in (lower, upper):
                edges[c] = refined_edge(edges[c], angles, gap[:, muscle])
    return replace(paths, switch_lower=lower, switch_upper=upper)


def search_grid(edges: Array) -> Array:
    """Angles [rad] around all reachable edges."""
    inside = edges[(edges > _REACHABLE[0]) & (edges < _REACHABLE[1])]
    if not inside.size:
        return np.zeros(1)
    return np.arange(inside.min() - SEARCH, inside.max() + SEARCH + _STEP, _STEP)


def _gaps(model: Model, paths: Paths, dof: int, angles: Array) -> Array:
    """Length through all conditional points less length past them, (P, n) [m], one joint rotated."""
    joints, size = model.tree.joint_count, len(angles)
    coordinates = np.zeros((size, joints))
    coordinates[:, dof] = angles
    base = np.broadcast_to(np.eye(3), (size, 3, 3))
    q = model.tree.pose(coordinates, np.zeros((size, 3)), base, moving=np.arange(joints) == dof)
    every = np.ones((size, len(paths.switched)), dtype=bool)
    return paths.lengths(q, coordinates, every) - paths.lengths(q, coordinates, ~every)


def refined_edge(edge: float, angles: Array, gap: Array) -> float:
    """Angle of the smallest gap within the search range, by a parabola; the edge itself where there is no minimum."""
    near = np.flatnonzero(np.abs(angles - edge) <= SEARCH)
    if not _REACHABLE[0] < edge < _REACHABLE[1] or near.size < 3:
        return edge
    best = int(near[np.argmin(gap[near])])
    if best in (near[0], near[-1]):
        return edge
    before, here, after = gap[best - 1 : best + 2]
    return float(angles[best] + 0.5 * _STEP * (before - after) / (before - 2.0 * here + after))
