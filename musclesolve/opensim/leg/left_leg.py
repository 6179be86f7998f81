"""Whether the left leg of a model is the mirror image of its right leg, from which muscle sets are made."""

from __future__ import annotations

import math

import numpy as np

from musclesolve.opensim.model import OpenSimModel, OpenSimMuscle

_RELATIVE, _PLACE = 1e-3, 1e-3
"""Largest differences of parameters, relative, and of places [m] that count as equal."""
_MIRROR = np.array([1.0, 1.0, -1.0])
_PARAMETERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
_LISTED = 6


def left_leg_note(model: OpenSimModel, right: list[OpenSimMuscle]) -> str:
    """What a set made of the right leg does to the left one of the model; empty where both are alike."""
    missing, different = [], []
    for muscle in right:
        twin = model.muscles.get(left_name(muscle.name))
        if twin is None:
            missing.append(muscle.name)
        elif not _alike(muscle, twin):
            different.append(twin.name)
    mirrored = "The left leg is the mirror image of the right leg of the model"
    if len(missing) == len(right):
        return f"{mirrored}, which has no left leg."
    parts = [f"{listed(different)} differ in the model"] * bool(different)
    parts += [f"{listed(missing)} have no left counterpart in it"] * bool(missing)
    return f"{mirrored}: {'; '.join(parts)}." if parts else ""


def left_name(name: str) -> str:
    """The name of the same muscle on the left: soleus_r -> soleus_l, r_soleus -> l_soleus."""
    for right, left in (("_r", "_l"), ("_R", "_L"), ("_right", "_left")):
        if name.endswith(right):
            return name.removesuffix(right) + left
        if name.startswith(right[1:] + "_"):
            return left[1:] + name.removeprefix(right[1:])
    return ""


def is_left(name: str) -> bool:
    """Whether a name is that of a muscle of the left side: soleus_l, l_soleus."""
    folded = name.casefold()
    return folded.endswith(("_l", "_left")) or folded.startswith(("l_", "left_"))


def _alike(right: OpenSimMuscle, left: OpenSimMuscle) -> bool:
    """Whether parameters and fixed points are equal, but for the side."""
    values = [[getattr(each, name) for name in _PARAMETERS] for each in (right, left)]
    if not all(math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-9) for a, b in zip(*values, strict=True)):
        return False
    if len(right.points) != len(left.points):
        return False
    for one, other in zip(right.points, left.points, strict=True):
        if one.location is not None and other.location is not None:
            places = (
                point.frame.place(point.location) for point in (one, other) if point.location is not None
            )
            here, there = places
            if np.abs(here * _MIRROR - there).max() > _PLACE:
                return False
    return True


def listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = [f"{len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])
