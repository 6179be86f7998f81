"""Muscles of a right leg over all that paths know: wrap objects, moving frames, conditional points."""

from __future__ import annotations

import numpy as np

from muscle_db.model import LEG_DOFS
from musclesolve.muscles import MuscleParameters
from musclesolve.muscles.paths.engine import KINDS, PathLayout
from musclesolve.muscles.paths.paths import MovingFrames, NaturalSpline, Paths, PathState, WrapObjects
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles

GLIDING, PATELLA = 0, 1
JOINTS = {"pelvis": "hip_r", "thigh_r": "hip_r", "shank_r": "knee_r", "foot_r": "ankle_r"}

# muscle: points as body, place from the joint [m], moving frame or -1; wraps as object, first, last
MUSCLES = {
    "over_the_patella": (
        [("pelvis", (0.03, -0.02, 0.04), -1), ("shank_r", (0.04, 0.0, 0.0), PATELLA),
         ("shank_r", (0.04, 0.0, -0.08), -1)],
        [("trochlea", 0, 1)],
    ),
    "behind_knee_and_calf": (
        [("thigh_r", (-0.012, 0.01, -0.385), -1), ("foot_r", (-0.05, 0.0, -0.03), -1)],
        [("calf", 0, 1), ("condyles", 0, 1)],
    ),
    "behind_the_hip": (
        [("pelvis", (-0.07, 0.02, 0.03), -1), ("thigh_r", (-0.02, -0.02, -0.10), -1)], [("head", 0, 1)],
    ),
    "over_the_belly": (
        [("pelvis", (-0.05, 0.0, -0.06), -1), ("shank_r", (-0.02, 0.01, -0.05), GLIDING)], [("belly", 0, 1)],
    ),
    "on_the_gliding_cylinder": (
        [("pelvis", (-0.04, 0.02, -0.05), -1), ("shank_r", (0.02, 0.02, -0.09), GLIDING)], [("tibial", 0, 1)],
    ),
    "with_a_conditional_point": (
        [("pelvis", (0.05, 0.0, 0.02), -1), ("thigh_r", (0.03, 0.0, -0.05), -1),
         ("thigh_r", (0.01, -0.02, -0.2), -1)],
        [],
    ),
}  # fmt: skip

# object: kind, body, center from the joint, own z axis, radii, half length, (side axis, sign), moving frame
OBJECTS = {
    "condyles": ("cylinder", "thigh_r", (0.0, 0.0, -0.41), (0.05, 1.0, 0.1), (0.025, 0.025, 0), 0.2, (0, 0), -1),
    "trochlea": ("cylinder", "thigh_r", (0, 0.0, -0.40), (-0.1, 1.0, 0.0), (0.055, 0.055, 0), 0.2, (0, 1), -1),
    "calf": ("cylinder", "shank_r", (0.015, 0.0, -0.1), (0.1, 1.0, 0.0), (0.06, 0.06, 0), 0.2, (0, -1), -1),
    "head": ("sphere", "thigh_r", (-0.01, 0.0, 0.0), (0.0, 0.0, 1.0), (0.04, 0.04, 0.04), 0.0, (0, 0), -1),
    "belly": ("ellipsoid", "thigh_r", (-0.035, 0, -0.2), (0.0, 0.2, 1), (0.025, 0.04, 0.09), 0.0, (0, 0), -1),
    "tibial": ("cylinder", "shank_r", (-0.01, 0, -0.02), (0.0, 1.0, 0.2), (0.035, 0.035, 0), 0.2, (0, 0), GLIDING),
}  # fmt: skip


def frame_along(z):
    """A rotation whose third column is along z."""
    y, z = (column / np.linalg.norm(column) for column in (np.cross(z, (1.0, 0.0, 0.0)), np.asarray(z)))
    return np.column_stack([np.cross(y, z), y, z])


def wrapped_paths(model):
    """The paths of `MUSCLES` on a model."""

    def place(body, offset):
        return model.standing[model.slot(JOINTS[body])] + np.array(offset)

    points = [(n, *point) for n, (some, _) in enumerate(MUSCLES.values()) for point in some]
    of_point = np.array([n for n, *_ in points])
    first = np.searchsorted(of_point, np.arange(len(MUSCLES)))
    wraps = [(n, *wrap) for n, (_, some) in enumerate(MUSCLES.values()) for wrap in some]
    objects, names = list(OBJECTS.values()), list(OBJECTS)
    layout = PathLayout(
        point_muscle=of_point,
        kind=np.array([KINDS.index(kind) for kind, *_ in objects]),
        radii=np.array([each[4] for each in objects], dtype=float),
        half_length=np.array([each[5] for each in objects]),
        side_axis=np.array([each[6][0] for each in objects]),
        side_sign=np.array([float(each[6][1]) for each in objects]),
        wrap_muscle=np.array([n for n, *_ in wraps]),
        wrap_object=np.array([names.index(name) for _, name, *_ in wraps]),
        wrap_first=np.array([first[n] + low for n, _, low, _ in wraps]),
        wrap_last=np.array([first[n] + high for n, _, _, high in wraps]),
    )
    knee, angle = model.dof("knee_flexion_r"), np.deg2rad(np.arange(-20.0, 151.0, 10.0))
    glide = [0.006 * np.sin(angle), 0.002 * angle, 0.005 * (1.0 - np.cos(angle))]
    glide += [0.02 * np.sin(angle), 0.06 * angle, 0.1 * angle]
    patella = [
        0.03 * np.cos(angle),
        0.0 * angle,
        0.03 * np.sin(angle),
        0.0 * angle,
        -0.4 * angle,
        0.05 * angle,
    ]
    return Paths(
        rigid_bodies=model.rigid_bodies,
        layout=layout,
        point_body=np.array([model.body(body) for _, body, _, _ in points]),
        standing=np.array([place(body, offset) for _, body, offset, _ in points]),
        switched=np.array([first[-1] + 1]),
        switch_dof=np.array([model.dof("hip_flexion_r")]),
        switch_lower=np.array([-0.1]),
        switch_upper=np.array([9.0]),
        objects=WrapObjects(
            body=np.array([model.body(each[1]) for each in objects]),
            center=np.array([place(each[1], each[2]) for each in objects]),
            axes=np.array([frame_along(each[3]) for each in objects]),
            frame=np.array([each[7] for each in objects]),
        ),
        frames=MovingFrames(
            body=np.full(2, model.body("shank_r")),
            dof=np.full(2, knee),
            pivot=np.array([place("shank_r", (0.0, 0.0, 0.0))] * 2),
            motion=tuple(NaturalSpline(angle, np.stack(each, axis=1)) for each in (glide, patella)),
        ),
        point_frame=np.array([frame for *_, frame in points]),
    )


def wrapped_leg(model):
    """Return the leg as muscles."""
    names = [f"{name}_r" for name in MUSCLES]
    parameters = MuscleParameters.from_values(names, "silva_2003", 1000.0, 0.1, 0.1, 0.1)
    groups = ("all",) * len(names)
    paths, dofs = wrapped_paths(model), tuple(f"{dof}_r" for dof in LEG_DOFS)
    every = np.ones((len(dofs), len(names)), bool)
    return ScaledMuscles(("r",), dofs, parameters, tuple(names), groups, paths, {}, every)


def pull_on(state: PathState, bodies) -> np.ndarray:
    """Sum (T, n, 3) of dL/dr over the nodes on some bodies: minus the force of unit tension on them."""
    centers = np.zeros((len(state.q), 1, 3))
    return state.pulls(state.paths.groups_on(bodies)[None], centers)[0][:, 0]
