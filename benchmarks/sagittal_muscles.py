"""The muscles of the leg on a planar body: fifteen of the sagittal plane, made from the muscle database."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources

import numpy as np

import muscle_db
from benchmarks.planar import PlanarMuscles, PlanarTree, Switches, into_plane
from benchmarks.planar.planar_tree import place
from muscle_db import Muscle, MuscleDatabase, PathPoint
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.muscles.scaling.scaled_paths import SEARCH, least_gap, reachable, search_grid

SEGMENTS = {"pelvis": "pelvis", "femur": "thigh", "tibia": "shank", "foot": "foot"}
"""Segment of a planar body for each frame of the database."""

_JOINTS = {
    "hip_flexion": ("femur", 1.0),
    "knee_flexion": ("tibia", -1.0),
    "ankle_dorsiflexion": ("foot", 1.0),
}
"""Distal frame of each sagittal joint, and the sense of its named motion (counter-clockwise positive)."""


def sagittal_groups() -> dict[str, tuple[str, ...]]:
    """The fifteen muscles, and the muscles of the database (short names) that stand for each."""
    file = resources.files("benchmarks") / "sagittal_muscles.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["muscle"]
    return {row["name"]: tuple(row["members"]) for row in rows}


def sagittal_muscles(
    tree: PlanarTree,
    database: MuscleDatabase | None = None,
    groups: Mapping[str, tuple[str, ...]] | None = None,
    segments: Mapping[str, str] = SEGMENTS,
    legs: int = 2,
    keep_lateral: bool = False,
    hip_width: float | None = None,
) -> PlanarMuscles:
    """Muscles of the right leg on the sagittal plane of a planar body (Blajer, Dziewiecki & Mazur 2006, section 2).

    Merged muscles bear equal stress: member i takes F0_i / sum F0 of the force, strengths are summed. Positions scale
    with the thigh (femur), the shank (tibia) and stature (pelvis, foot); conditional points join and leave the path
    where it does not jump.

    segments: which segment holds the points of each frame of the database. legs: how many legs the body's leg stands
    for; strengths are multiplied by it. keep_lateral: keep the lateral distances in the lengths; then forces are the
    forces of the muscles, otherwise projections on the plane, as in the source, and at most as large. hip_width:
    distance between the hips [m], for the lateral distances; from stature unless given.
    """
    database = muscle_db.load("silva_2003") if database is None else database
    groups = sagittal_groups() if groups is None else groups
    owner = {name: tree.segment(segment) for name, segment in segments.items()}
    members = [database[name] for names in groups.values() for name in names]
    group = np.repeat(np.arange(len(groups)), [len(names) for names in groups.values()])
    points = [point for muscle in members for point in muscle.path]
    standing = _standing(points, database, _scales(tree, database, owner, hip_width))
    lines = _lines(tree, members, standing, owner, keep_lateral)
    share = (group == np.arange(len(groups))[:, None]) * lines.max_force
    total = share.sum(axis=1)
    return replace(
        lines,
        names=tuple(groups),
        max_force=legs * total,
        share=share / total[:, None],
        switches=_switches(tree, lines, points, owner),
    )


def _lines(
    tree: PlanarTree, members: list[Muscle], standing: Array, owner: dict[str, int], keep_lateral: bool
) -> PlanarMuscles:
    """Every muscle of the database by itself, from the standing positions (P, 3) of its points."""
    segment = np.array([owner[point.frame] for muscle in members for point in muscle.path])
    local, lateral = into_plane(standing, tree.rest[segment])
    # Positions in the pelvis are here from the hip; the hip may not be the origin of the segment.
    local[segment == owner["pelvis"]] += tree.mount[owner["femur"]]
    return PlanarMuscles(
        names=tuple(muscle.name for muscle in members),
        max_force=np.array([muscle.max_isometric_force for muscle in members]),
        share=np.eye(len(members)),
        line=np.repeat(np.arange(len(members)), [len(muscle.path) for muscle in members]),
        segment=segment,
        local=local,
        lateral=lateral if keep_lateral else np.zeros(len(lateral)),
    )


def _scales(
    tree: PlanarTree, database: MuscleDatabase, owner: dict[str, int], hip_width: float | None
) -> dict[str, Array]:
    """Factors (3,) forward, left, up on the positions of each frame; the same as for the leg in space."""
    if tree.stature is None:
        raise InputError(
            "the stature of the planar body is not known",
            code="missing_argument",
            remedy="give PlanarTree its stature [m]",
        )
    reference = database.reference
    stature = tree.stature / reference.stature
    pelvis = stature / reference["pelvis"].position_scale
    width = pelvis if hip_width is None else hip_width / reference["pelvis"].width
    return {
        "pelvis": np.array([pelvis, width, pelvis]),
        "femur": np.full(3, np.hypot(*tree.mount[owner["tibia"]]) / reference["femur"].length),
        "tibia": np.full(3, np.hypot(*tree.mount[owner["foot"]]) / reference["tibia"].length),
        "foot": np.full(3, stature / reference["foot"].position_scale),
    }


def _standing(points: list[PathPoint], database: MuscleDatabase, scale: dict[str, Array]) -> Array:
    """Points (P, 3) from the proximal joint of their segment (pelvis: from the hip), standing [m]."""
    hip = np.array(database.reference["pelvis"].position)
    return np.array(
        [
            scale[point.frame] * (np.array(point.position) - (hip if point.frame == "pelvis" else 0.0))
            for point in points
        ]
    )


def _switches(
    tree: PlanarTree, lines: PlanarMuscles, points: list[PathPoint], owner: dict[str, int]
) -> Switches:
    """Ranges of the conditional points as joint angles of the planar body, moved to where the path does not jump."""
    found = [(index, point.active) for index, point in enumerate(points) if point.active is not None]
    joint = np.array([owner[_JOINTS[active.dof][0]] for _, active in found], dtype=int)
    sense = np.array([_JOINTS[active.dof][1] for _, active in found])
    edges = np.array([(active.lower, active.upper) for _, active in found]).reshape(-1, 2)
    point = np.array([index for index, _ in found], dtype=int)
    for distal in np.unique(joint):
        own = np.flatnonzero(joint == distal)
        ends = edges[own][reachable(edges[own])]
        if not ends.size:
            continue
        angles = search_grid(ends)
        gap = _gaps(tree, lines, Switches(point, joint, *edges.T), int(distal), sense[own[0]] * angles)
        of_end = np.broadcast_to(lines.line[point[own]][:, None], edges[own].shape)[reachable(edges[own])]
        least = least_gap(angles, gap[:, of_end].T, np.abs(angles - ends[:, None]) <= SEARCH)
        moved = edges[own]
        moved[reachable(moved)] = np.where(np.isnan(least), ends, least)
        edges[own] = moved
    rotated = np.sort(sense[:, None] * edges, axis=1)
    return Switches(point, joint, rotated[:, 0], rotated[:, 1])


def _gaps(tree: PlanarTree, lines: PlanarMuscles, switches: Switches, distal: int, angle: Array) -> Array:
    """Length through all conditional points less length past them, (P, l) [m], one joint rotated from standing."""
    q = np.tile(np.concatenate([np.zeros(2), tree.rest]), (len(angle), 1))
    q[:, 2:] += angle[:, None] * tree.distal_segments[:, distal]
    p, always = place(tree, q), np.full(len(switches.point), np.inf)
    through = replace(lines, switches=replace(switches, lower=-always, upper=always)).length(tree, p)
    past = replace(lines, switches=replace(switches, lower=always, upper=always)).length(tree, p)
    return through - past
