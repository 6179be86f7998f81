"""The variables of a result that a data set keeps, with numbers of 32 bits.

A data set of millions of frames has room for what is learned from, not for moment arms and paths of muscles: 7 680 and
5 616 of 18 000 bytes a frame of a model with 80 muscles. Muscle forces, moments and contact forces of 32 bits have
seven digits; measurements have three. Times keep 64 bits, so that frames can be matched with recordings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.names import suggestion
from musclesolve.errors import input_error
from musclesolve.results.dataset.frame_validity import MUSCLE_WORDS
from musclesolve.results.dataset.quantities import QUANTITIES
from musclesolve.results.finding import FINDINGS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "activation": ("activation",),
    "force": ("muscle_force",),
    "moment": ("joint_moment", "reserve_moment"),
    "contact": (
        "contact_force_component",
        "knee_contact_medial",
        "knee_contact_lateral",
        "patellofemoral_force",
    ),
    "angle": ("joint_angle", "pelvis_angle", "trunk_angle"),
    "ground": ("ground_reaction_force", "center_of_pressure", "ground_predicted"),
}
"""What `keep` may name besides the variables of a result -> its variables."""
ALWAYS = ("status", "valid", "kkt_residual", "plausible", "max_isometric_force")
"""Variables of every trial: solution, validity and certificate of each frame, verdict of the legs, and strength."""
SIGNS = (
    "Angles, moments and powers are positive as the name of the coordinate says (hip_flexion: flexion). Joint moments "
    "are internal: muscles produce them. Muscle forces pull. Contact forces act on the distal segment. "
    "Ground reactions act on the foot."
)
UNSAID = (
    "Coordinates such as knee_angle do not say it: angle and moment are positive in flexion or dorsiflexion unless "
    "`extension_positive` names the coordinate."
)
"""Sign of the coordinates of models whose names state none."""
_LABORATORY = "laboratory; of an OpenSim model its ground (x forward, y up, z right)"
FRAMES = {
    **dict.fromkeys(("ground_reaction_force", "center_of_pressure", "joint_reaction"), _LABORATORY),
    **dict.fromkeys(("pelvis_angle", "trunk_angle"), "walking direction, and the vertical"),
    "contact_force_component": "thigh (hip), shank (knee, ankle)",
    "knee_contact_medial": "shank",
    "knee_contact_lateral": "shank",
}
"""Variable -> its frame of reference."""


def kept_variables(keep: Sequence[str]) -> tuple[str, ...]:
    """Return the variables of words of `GROUPS` and names of variables, each once, in the order of `QUANTITIES`.

    Raises:
        InputError: a word is neither.
    """
    for word in keep:
        if word not in GROUPS and word not in QUANTITIES:
            raise input_error(
                "unknown_name",
                where="keep",
                problem=f"there is no {word!r}",
                expected=f"{', '.join(GROUPS)}, or a variable of a result, such as fiber_length",
                remedy=suggestion(word, [*GROUPS, *QUANTITIES]) or f"use {' or '.join(GROUPS)}",
            )
    wanted = {*ALWAYS, *(name for word in keep for name in GROUPS.get(word, (word,)))}
    return tuple(name for name in QUANTITIES if name in wanted)


def kept_of(result: xr.Dataset, keep: Sequence[str]) -> xr.Dataset:
    """Return some variables of a result with numbers of 32 bits, and the coordinates of these variables.

    Variables of vectors state their frame of reference, the dataset the signs. Paths of the machine that computed the
    result are left out of the attributes; of the model the name of its file remains.

    Args:
        result: of `run` or `share_model`.
        keep: names of variables; names that the result lacks are left out.
    """
    there = [name for name in keep if name in result]
    words = MUSCLE_WORDS if any("muscle" in result[name].dims for name in there) else ()
    kept = result[[*there, *(name for name in words if name in result)]]
    kept = kept.drop_vars([name for name, each in kept.coords.items() if not {*each.dims} <= {*kept.dims}])
    changed = {}
    for name in kept.data_vars:
        variable = kept.variables[name]
        attrs = variable.attrs | ({"frame": FRAMES[str(name)]} if name in FRAMES else {})
        dtype = np.float32 if variable.dtype == np.float64 else variable.dtype
        changed[name] = xr.Variable(variable.dims, variable.values.astype(dtype), attrs)
    attrs = {key: value for key, value in result.attrs.items() if key != "trial_file"}
    if "model_file" in attrs:
        attrs["model_file"] = Path(attrs["model_file"]).name
    if FINDINGS in attrs:
        found = json.loads(attrs[FINDINGS])
        for where in (one["where"] for one in found if one["where"]["file"]):
            where["file"] = Path(where["file"]).name
        attrs[FINDINGS] = json.dumps(found)
    return xr.Dataset(changed, kept.coords, attrs | {"signs": f"{SIGNS} {UNSAID}"})
