"""Write muscle_norms.toml of musclesolve/laboratory/checks/model: quantities of muscles in public models.

    python tools/muscle_norms.py MODEL.osim ...

For every muscle that `leg_names.toml` knows: the lowest and the highest value over the models, of both sides, in the
units of `INVARIANTS` of musclesolve/laboratory/checks/model/muscles.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from musclesolve._util.sides import split_side
from musclesolve.laboratory.checks.model import muscles
from musclesolve.models.opensim.read_model import read_osim

TARGET = Path(muscles.__file__).with_name("muscle_norms.toml")
HEADER = """\
# Muscles of the legs in public models, lowest and highest value, written by tools/muscle_norms.py.
# Models: {models}.
# wraps: number of wrap objects, force: maximum isometric force [N], in {public}.
# ends: body and place [mm] of origin and insertion, of parent and child frame of joints, in {public}.
# Lengths and arms as of a person with a shank of {shank:g} m. strength: logarithm of force times optimal length [N m];
# fiber: logarithm of the optimal fiber length [m]; pennation [degrees]; path and arm [mm] and stretch [optimal fiber
# lengths] in the poses of musclesolve/laboratory/checks/model/muscles.py. An arm that is not here is zero.
"""


def name_of(stem: str) -> str:
    """The long name of a muscle, and a coordinate as it is."""
    return muscles.long_names().get(stem.casefold(), stem)


def main(*files: str) -> None:
    """Write the table."""
    found: dict[str, dict[str, list[np.ndarray]]] = {}
    ends: dict[str, list[list[list[object]]]] = {}
    wraps: dict[str, list[int]] = {}
    forces: dict[str, list[float]] = {}
    stems: dict[str, None] = {}
    for file in files:
        model = read_osim(file)
        body = muscles.anatomy_of(model, [name for name, each in model.muscles.items() if each.enabled])
        quantities = {each.key: each.quantity(body) for each in muscles.INVARIANTS if each.key != "ends"}
        for k, name in enumerate((*body.names, *body.joints)):
            stem, side = split_side(name)
            if side == "r" and Path(file).stem in muscles.PUBLIC:
                both = [
                    [split_side(bone)[0], *np.round(place, 1).tolist()]
                    if np.isfinite(place).all()
                    else ["", 0, 0, 0]
                    for bone, place in zip(body.bones[k], body.ends[k], strict=True)
                ]
                known = ends.setdefault(name_of(stem), [[] for _ in muscles.PUBLIC])
                public = muscles.PUBLIC.index(Path(file).stem)
                known[public] = both
                if name in model.muscles:
                    wraps.setdefault(name_of(stem), [0] * len(muscles.PUBLIC))[public] = len(
                        model.muscles[name].wraps
                    )
                    own_forces = forces.setdefault(name_of(stem), [0.0] * len(muscles.PUBLIC))
                    own_forces[public] = round(model.muscles[name].max_isometric_force, 1)
        for name, k in body.number.items():
            long = muscles.long_names().get(split_side(name)[0].casefold())
            if long is None:
                continue
            own = found.setdefault(long, {})
            for key, values in quantities.items():
                if key != "arm":
                    own.setdefault(key, []).append(values[k])
            for stem, arm in zip(body.stems, quantities["arm"][k].reshape(muscles.COUNT, -1).T, strict=True):
                if stem in muscles.POSES:
                    stems[stem] = None
                    own.setdefault(f"arm.{stem}", []).append(arm)
    lines = [
        HEADER.format(
            models=", ".join(Path(file).name for file in files),
            shank=muscles.SHANK,
            public=", ".join(muscles.PUBLIC),
        )
    ]
    for name, own in (found | {stem: {} for stem in muscles.JOINTS}).items():
        lines.append(f"[{name}]")
        lines.append(f"ends = {json.dumps(ends[name])}")
        parameters = []
        for key, values in own.items():
            digits = 3 if key in ("strength", "fiber", "stretch") else 1
            low, high = np.round([np.min(values, axis=0), np.max(values, axis=0)], digits)
            if key.startswith("arm.") and not low.any() and not high.any():
                continue
            pairs = ", ".join(f"[{a:.{digits}f}, {b:.{digits}f}]" for a, b in zip(low, high, strict=True))
            if len(low) > 1:
                lines.append(f"{key} = [{pairs}]")
            else:
                parameters.append(f"{key} = {pairs}")
        if name in wraps:
            parameters += [f"wraps = {wraps[name]}", f"force = {forces[name]}"]
        if parameters:
            lines.append(f"parameters = {{ {', '.join(parameters)} }}")
        lines.append("")
    TARGET.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
