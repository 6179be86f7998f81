"""Which bodies of a model are pelvis, thigh, shank and ankle bone of the right leg, by their names."""

from __future__ import annotations

from itertools import pairwise

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.errors import InputError
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.neutral_leg import LegBodies

_RIGHT = ("{}r", "r{}", "{}right", "right{}")
_SEGMENTS = {"pelvis": "pelvis", "femur": "right thigh", "tibia": "right shank", "talus": "right ankle bone"}


def leg_bodies(model: OpenSimModel) -> LegBodies:
    """The bodies of the right leg: femur_r, R_Femur, RightThigh, ... (leg_bodies.toml), each jointed to the one above.

    Raises:
        InputError: no body has such a name, or another body lies between two of them.
    """
    found = {segment: _body(model, segment) for segment in _SEGMENTS}
    parents = {joint.outboard.body: joint.inboard.body for joint in model.joints}
    chain = list(found.values())
    for upper, lower in pairwise(chain):
        if parents.get(lower) != upper:
            raise InputError(
                f"{lower} is jointed to {parents.get(lower, 'nothing')}, not to {upper}",
                code="unsupported",
                file=model.file,
                expected=f"a leg of {', '.join(chain)}, each jointed to the one before",
                remedy="take a model without bodies between them, or name a bundled muscle set",
            )
    return LegBodies(**found)


def _body(model: OpenSimModel, segment: str) -> str:
    words = bundled_toml(__package__, "leg_bodies.toml")[segment]
    forms = ("{}",) if segment == "pelvis" else _RIGHT
    known = {_folded(body): body for body in model.bodies if body in model.reachable}
    for name in (form.format(word) for word in words for form in forms):
        if name in known:
            return known[name]
    shown = words[0] if segment == "pelvis" else f"{words[0]}_r"
    raise InputError(
        f"no body is named like the {_SEGMENTS[segment]}",
        code="bad_muscle_set",
        file=model.file,
        expected=f"a body {shown}; the bodies are {', '.join(model.bodies[1:]) or 'none'}",
        remedy=f"rename the body in OpenSim ({', '.join(words)}), or name a model with legs",
    )


def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
