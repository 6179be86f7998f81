"""A user's model file as a muscle set: `[muscles] database = "my_model.osim"`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from muscle_db import Muscle, MuscleDatabase
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import shortened
from musclesolve.errors import file_error
from musclesolve.models.opensim.geometry import shift_note
from musclesolve.models.opensim.model import OpenSimModel, OpenSimMuscle
from musclesolve.models.opensim.muscle_set import (
    LegBodies,
    NeutralLeg,
    SetDescription,
    leg_muscles,
    muscle_set,
)
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.tables.text_file import sha256


def leg_muscle_set(path: str | Path) -> MuscleDatabase:
    """The muscles of the right leg of a model file as a set; the left leg is its mirror image.

    The file does not state the stature of the model: pelvis and foot scale with the length of thigh and shank
    (`frame_maps`). Muscles in `leg_names.toml` have the names and groups of every set, others the names in the file and
    the group "other". `notes` state which muscles of the model are left out, where its left leg differs, and which
    tendons are longer than in the model because OpenSim reports lengths that differ from the path (`tendon_shifts`).
    """
    return _set_of_file(str(path), sha256(Path(path)))


@lru_cache(maxsize=8)
def _set_of_file(path: str, sha: str) -> MuscleDatabase:
    """The set of a file, computed once for each content."""
    model = read_osim(path)
    about = SetDescription(
        name=model.file.stem,
        source=f"{model.file.name}: {model.publications or model.credits or 'an OpenSim model'}",
        stature=None,
        bodies=leg_bodies(model),
    )
    database, right = muscle_set(model, about), leg_muscles(NeutralLeg(model, about.bodies))
    names_by_set: dict[str, str] = {}
    for muscle, source in zip(database, right, strict=True):
        if names_by_set.setdefault(muscle.name, source.name) != source.name:
            raise file_error(
                "duplicate_name",
                model.file,
                f"{names_by_set[muscle.name]} and {source.name} are both the {muscle.name.replace('_', ' ')}",
                "every muscle once",
                "rename one of them in OpenSim",
            )
    names = [muscle.name for muscle in right]
    others = [name for name in model.muscles if name not in names and not is_left(name)]
    out = shortened(others, _LISTED)
    left_out = f"Muscles of {model.file.name} whose path is not on pelvis and leg alone are left out: {out}."
    shift = [muscle.tendon_slack_length - muscle.printed().tendon_slack_length for muscle in database]
    notes = (left_out if others else "", left_leg_note(model, right), shift_note(names, np.array(shift)))
    # files for this model need its spelling of names
    muscles = tuple(
        replace(muscle, short_name=name.removesuffix("_r"))
        for muscle, name in zip(database, names, strict=True)
    )
    return replace(database, muscles=muscles, notes=tuple(note for note in notes if note))


_RIGHT = ("{}r", "r{}", "{}right", "right{}")
_SEGMENTS = {"pelvis": "pelvis", "femur": "right thigh", "tibia": "right shank", "talus": "right ankle bone"}


def leg_bodies(model: OpenSimModel) -> LegBodies:
    """Bodies of the right leg: femur_r, R_Femur, RightThigh, ... (leg_bodies.toml), each jointed to the one above."""
    bodies = {}
    reachable = (body for body in model.bodies if body in model.reachable)
    body_of = {"".join(filter(str.isalnum, body.casefold())): body for body in reachable}
    for segment, meant in _SEGMENTS.items():
        words = bundled_toml(__package__, "leg_bodies.toml")[segment]
        forms = ("{}",) if segment == "pelvis" else _RIGHT
        usual = [form.format(word) for word in words for form in forms]
        name = next((name for name in usual if name in body_of), None)
        if name is None:
            shown = words[0] if segment == "pelvis" else f"{words[0]}_r"
            raise file_error(
                "bad_muscle_set",
                model.file,
                f"no body is named like the {meant}",
                f"a body {shown}; the bodies are {', '.join(model.bodies[1:]) or 'none'}",
                f"rename the body in OpenSim ({', '.join(map(str, words))}), or name a model with legs",
            )
        bodies[segment] = body_of[name]
    parents = {joint.outboard.body: joint.inboard.body for joint in model.joints}
    chain = list(bodies.values())
    for upper, lower in pairwise(chain):
        if parents.get(lower) != upper:
            raise file_error(
                "unsupported",
                model.file,
                f"{lower} is jointed to {parents.get(lower, 'nothing')}, not to {upper}",
                f"a leg of {', '.join(map(str, chain))}, each jointed to the one before",
                "take a model without bodies between them, or name a bundled muscle set",
            )
    return LegBodies(**bodies)


_RELATIVE, _PLACE = 1e-3, 1e-3
"""Largest relative difference of parameters, and difference of positions [m], of equal muscles."""
_MIRROR = np.array([1.0, 1.0, -1.0])
_PARAMETERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
_LISTED = 6


def left_leg_note(model: OpenSimModel, right: list[OpenSimMuscle]) -> str:
    """Return a note on the change of the left leg by a set from the right leg; empty if both are equal."""
    missing, different = [], []
    for muscle in right:
        twin = model.muscles.get(left_name(muscle.name))
        if twin is None:
            missing.append(muscle.name)
        elif not _equal_muscles(muscle, twin):
            different.append(twin.name)
    mirrored = "The left leg is the mirror image of the right leg of the model"
    if len(missing) == len(right):
        return f"{mirrored}, which has no left leg."
    parts = [f"{shortened(different, _LISTED)} differ in the model"] * bool(different)
    parts += [f"{shortened(missing, _LISTED)} have no left counterpart in it"] * bool(missing)
    return f"{mirrored}: {'; '.join(parts)}." if parts else ""


def left_name(name: str) -> str:
    """The name of the same muscle on the left: soleus_r -> soleus_l, r_soleus -> l_soleus."""
    for right, left in (("_r", "_l"), ("_R", "_L"), ("_right", "_left")):
        if name.endswith(right):
            return name.removesuffix(right) + left
        if name.startswith(right[1:] + "_"):
            return left[1:] + name.removeprefix(right[1:])
    return ""


def right_name(muscle: Muscle, known: Sequence[str]) -> str:
    """The name, among the muscles `known` of a model, of a muscle of its set; see `leg_muscle_set`."""
    stem = muscle.short_name.removesuffix("_r")
    return f"{stem}_r" if f"{stem}_r" in known else stem


def is_left(name: str) -> bool:
    """Return whether a name belongs to a muscle of the left side: soleus_l, l_soleus."""
    folded = name.casefold()
    return folded.endswith(("_l", "_left")) or folded.startswith(("l_", "left_"))


def _equal_muscles(right: OpenSimMuscle, left: OpenSimMuscle) -> bool:
    """Whether parameters and fixed points are equal except for the side."""
    values = [[getattr(muscle, name) for name in _PARAMETERS] for muscle in (right, left)]
    close = (math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-9) for a, b in zip(*values, strict=True))
    if len(right.points) != len(left.points) or not all(close):
        return False
    for one, other in zip(right.points, left.points, strict=True):
        if one.location is not None and other.location is not None:
            right_place, left_place = one.frame.place(one.location), other.frame.place(other.location)
            if np.abs(right_place * _MIRROR - left_place).max() > _PLACE:
                return False
    return True
