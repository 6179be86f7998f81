"""Coordinates and muscles of an OpenSim model that take part in the force sharing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve._util.checks import check_choice, check_type
from musclesolve._util.message_text import WarningNote
from musclesolve._util.names import check_known, shortened
from musclesolve._util.sides import SIDES
from musclesolve.errors import input_error
from musclesolve.opensim.external_loads import toes_of_side
from musclesolve.opensim.model import PRESCRIBED, OpenSimModel, OpenSimMuscle

LEFT_OUT = {"r": "_l", "l": "_r", "both": ""}
"""Side -> ending of the names to leave out."""
_NAMED = 6


@dataclass(frozen=True, eq=False)
class SharedChoice:
    """Shared coordinates `dofs` (m) and the `muscles` (n) that act on them.

    crossing: coordinates on which each muscle depends; notes: sentences on coordinates and muscles left out.
    """

    dofs: tuple[str, ...]
    muscles: tuple[OpenSimMuscle, ...]
    crossing: Crossing
    notes: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def acts(self) -> Mask:
        """Mask of the muscles that act on each coordinate, (m, n)."""
        return np.array([[dof in self.crossing[name] for name in self.names] for dof in self.dofs])

    @property
    def needed(self) -> frozenset[str]:
        """The independent coordinates on which the lengths of the muscles depend."""
        return frozenset().union(*(self.crossing[name] for name in self.names))


def shared_choice(
    model: OpenSimModel,
    dofs: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
    side: str = "both",
    without: Sequence[str] = (),
) -> SharedChoice:
    """Look up the requested coordinates and muscles, or choose them.

    Args:
        dofs: names of coordinates. By default all rotations on which a muscle acts, except locked and driven
            coordinates, coordinates with muscles of the side that is left out, such as at the lumbar joint, and the
            angles of the toes: one ground reaction acts on the foot as a whole, so that inverse dynamics finds the
            moment of the inertia of the toes alone (below 1 N m), which would keep the muscles of the toes at rest
            although they flex the ankle.
        muscles: names; by default all that act on these coordinates.
        side: "r" or "l" leaves out the coordinates and muscles of the other side (_l or _r), except requested names.
        without: names of coordinates that are left out, whose moments no muscle has to produce.
    """
    check_choice(side, "side", LEFT_OUT)
    crossing, other = model.crossing, LEFT_OUT[side]

    def crossed(names: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(crossing[name] for name in names))

    requested = _known(muscles, model.muscles, "muscle", model) if muscles is not None else None
    candidates = requested or _usual_muscles(model, other)
    halved: tuple[str, ...] = ()
    prescribed: tuple[str, ...] = ()
    toes: tuple[str, ...] = ()
    excluded = _known(without, model.coordinates, "coordinate", model)
    if dofs is None:
        free = crossed(candidates) & model.turning - {coupler.dependent for coupler in model.couplers}
        shared = tuple(
            name
            for name, coordinate in model.coordinates.items()
            if name in free and not coordinate.locked and not (other and name.endswith(other))
        )
        if other and not requested:
            across = crossed(name for name in _usual_muscles(model, "") if name.endswith(other))
            halved = tuple(name for name in shared if name in across)
            shared = tuple(name for name in shared if name not in across)
        held = frozenset().union(
            *(each.involved for each in model.other_constraints if each.kind == PRESCRIBED)
        )
        prescribed = tuple(name for name in shared if name in held and name not in excluded)
        shared = tuple(name for name in shared if name not in prescribed)
        of_toes = _of_toes(model)
        toes = tuple(name for name in shared if name in of_toes and name not in excluded)
        shared = tuple(name for name in shared if name not in (*toes, *excluded))
    else:
        shared = _known(dofs, model.coordinates, "coordinate", model)
        if both := [name for name in shared if name in excluded]:
            raise input_error(
                "conflict",
                where="without",
                problem=f"{', '.join(map(str, both))}: to be shared and left out",
                expected="a coordinate that is shared, or left out",
                remedy="remove it from one of the two lists",
            )
        for coupler in model.couplers:
            if coupler.dependent in shared:
                raise input_error(
                    "conflict",
                    file=model.file,
                    problem=f"{coupler.dependent} is driven by {', '.join(map(str, coupler.independent))}",
                    expected="coordinates that move independently",
                    remedy=f"choose {', '.join(map(str, coupler.independent))}, whose moment arms "
                    "include the driven coordinate",
                )
    acting = tuple(name for name in candidates if crossing[name] & set(shared))
    acted_on = crossed(acting)
    bare = [name for name in shared if name not in acted_on]
    if bare or not shared:
        raise input_error(
            "conflict",
            file=model.file,
            problem=f"no muscle acts on {', '.join(bare) or 'any free angle'}",
            expected="coordinates that one of the chosen muscles moves",
            remedy="choose other coordinates or muscles",
        )
    # an unsupported constraint makes the moment of a coordinate depend on other coordinates
    for constraint in model.other_constraints:
        if constraint.kind == PRESCRIBED:
            continue
        if constrained := [name for name in shared if name in constraint.involved]:
            raise input_error(
                "unsupported",
                file=model.file,
                problem=f"{', '.join(map(str, constrained[:8]))}: the constraint {constraint.name} "
                f"({constraint.kind}) ties these coordinates to others",
                expected="coordinates that no constraint of this kind acts on",
                remedy="choose other coordinates or muscles, or remove the constraint in OpenSim",
            )
    chosen = tuple(model.chosen(acting))
    elements = {name: f"{name} ({kind})" for name, kind in model.unsupported.items()}
    left_out = {
        "Coordinates left out, whose moments muscles of both sides produce: {}; with both sides they are shared.": (
            halved
        ),
        "Coordinates of the toes left out: {}. Ground reactions act on the foot as a whole, and do not show the moment "
        "at the toes; name all coordinates to share it.": toes,
        "Coordinates left out, which the model prescribes over time: {}. Their values come from the file, and the "
        "prescription bears their moments; name all coordinates to share these.": prescribed,
        "Coordinates left out as requested: {}.": excluded,
        "Muscles left out, which the model switches off: {}.": [
            name for name, muscle in model.muscles.items() if not muscle.enabled and name not in candidates
        ],
        "Muscles left out, which act on no shared coordinate: {}.": [
            name for name in candidates if name not in acting
        ],
        "Contacts of the model are left out, because loads or moments stand in their place: {}.": [
            part for name, part in elements.items() if _is_contact(name, model)
        ],
        "Parts of the model that are not supported, and are not needed here: {}.": [
            part for name, part in elements.items() if not name.startswith("force ")
        ],
    }
    lost = [
        part for name, part in elements.items() if name.startswith("force ") and not _is_contact(name, model)
    ]
    warnings = [
        WarningNote(
            f"The model has forces that are not computed: {shortened(lost, _NAMED)}. The muscles also get the part of "
            "the joint moments that these forces produce.",
            "model",
            "write them as a force that is computed (docs/opensim_details.md, what is supported), or share moments "
            "without their part (--moments)",
        )
    ] * bool(lost)
    notes = [sentence.format(shortened(names, _NAMED)) for sentence, names in left_out.items() if names]
    return SharedChoice(shared, chosen, crossing, (*model.notes, *warnings, *notes))


def _is_contact(part: str, model: OpenSimModel) -> bool:
    """Return whether an unsupported part of a model is a force of contacts."""
    kind = model.unsupported[part]
    return part.startswith("force ") and any(
        word in kind for word in ("HuntCrossley", "Elastic", "HalfSpace")
    )


def _of_toes(model: OpenSimModel) -> frozenset[str]:
    """Names of the coordinates of the joints between feet and toes."""
    toes = {toes_of_side(model, side) for side in SIDES}
    return frozenset().union(*(joint.moved_by for joint in model.joints if joint.outboard.body in toes))


def _usual_muscles(model: OpenSimModel, other: str) -> tuple[str, ...]:
    """Names of all muscles that the model does not disable; each must have a path."""
    model.require_paths()
    enabled = [name for name, muscle in model.muscles.items() if muscle.enabled]
    return tuple(name for name in enabled if not (other and name.endswith(other)))


def _known(names: Sequence[str], known: Iterable[str], what: str, model: OpenSimModel) -> tuple[str, ...]:
    """Return the names; refuse an unknown or repeated name."""
    check_type(names, Iterable, what, "a list of names")  # type: ignore[type-abstract]
    names, known = tuple(map(str, [names] if isinstance(names, str) else names)), tuple(known)
    for k, name in enumerate(names):
        check_known([name], what, known, f" in the model {model.name}", model.file)
        if name in names[:k]:
            raise input_error(
                "duplicate_name", problem=f"{what} {name} occurs twice", expected=f"every {what} once"
            )
    return names


Crossing = Mapping[str, frozenset[str]]
"""Muscle -> independent coordinates on which its length depends."""
