"""Which coordinates and muscles of an OpenSim model take part in the force sharing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.checks import check_choice
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.opensim.model import OpenSimModel, OpenSimMuscle

SIDES = {"r": "_l", "l": "_r", "both": ""}
"""Side -> the ending of the names that are left out."""
_NAMED = 6


@dataclass(frozen=True, eq=False)
class SharedChoice:
    """dofs: m shared coordinates; muscles: n that act on them; crossing: see there; notes: what was left out."""

    dofs: tuple[str, ...]
    muscles: tuple[OpenSimMuscle, ...]
    crossing: Crossing
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def needed(self) -> frozenset[str]:
        """The independent coordinates that the lengths of the muscles depend on."""
        return frozenset().union(*(self.crossing[name] for name in self.names))


def shared_choice(
    model: OpenSimModel,
    dofs: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
    side: str = "both",
) -> SharedChoice:
    """Look up what is asked for, or choose it.

    Args:
        dofs: names of coordinates; unless given, all by which a joint rotates and on which a muscle acts, without
            locked and driven ones, and without those whose moments muscles that `side` leaves out produce, too, such as
            those of the lumbar joint.
        muscles: names; unless given, all that act on these coordinates.
        side: "r" or "l" leaves out the coordinates and muscles of the other side (_l or _r); not those given by name.

    Raises:
        InputError: an unknown or driven coordinate, one without a muscle, an unknown or unsupported muscle, no muscle
            at all.
    """
    check_choice(side, "side", SIDES)
    crossing, other = model.crossing, SIDES[side]
    asked = _known(muscles, model.muscles, "muscle", model) if muscles is not None else None
    candidates = asked or _usual_muscles(model, other)
    halved: tuple[str, ...] = ()
    if dofs is None:
        shared = _usual_dofs(model, crossing, candidates, other)
        if other and not asked:
            left = [name for name in _usual_muscles(model, "") if name.endswith(other)]
            across = frozenset().union(*(crossing[name] for name in left))
            halved = tuple(name for name in shared if name in across)
            shared = tuple(name for name in shared if name not in across)
    else:
        shared = _known(dofs, model.coordinates, "coordinate", model)
        _refuse_driven(model, shared)
    acting = tuple(name for name in candidates if crossing[name] & set(shared))
    _require_muscles(model, shared, acting, crossing)
    _refuse_constrained(model, shared)
    chosen = tuple(model.chosen(acting))
    return SharedChoice(shared, chosen, crossing, _notes(model, candidates, acting, halved))


def _usual_muscles(model: OpenSimModel, other: str) -> tuple[str, ...]:
    """All muscles that the model does not switch off; each must have a path."""
    model.require_paths()
    enabled = [name for name, muscle in model.muscles.items() if muscle.enabled]
    return tuple(name for name in enabled if not (other and name.endswith(other)))


def _usual_dofs(
    model: OpenSimModel, crossing: Crossing, muscles: Iterable[str], other: str
) -> tuple[str, ...]:
    crossed = frozenset().union(*(crossing[name] for name in muscles)) & model.turning
    driven = {coupler.dependent for coupler in model.couplers}
    return tuple(
        name
        for name, coordinate in model.coordinates.items()
        if name in crossed - driven and not coordinate.locked and not (other and name.endswith(other))
    )


def _known(names: Sequence[str], known: Iterable[str], what: str, model: OpenSimModel) -> tuple[str, ...]:
    """The names, each once, all of them known."""
    names, known = tuple(map(str, [names] if isinstance(names, str) else names)), tuple(known)
    for k, name in enumerate(names):
        if name not in known:
            raise unknown_name(name, what, known, f" in the model {model.name}", model.file)
        if name in names[:k]:
            raise InputError(
                f"{what} {name} stands twice", code="duplicate_name", expected=f"every {what} once"
            )
    return names


def _refuse_driven(model: OpenSimModel, dofs: Sequence[str]) -> None:
    for coupler in model.couplers:
        if coupler.dependent in dofs:
            raise InputError(
                f"{coupler.dependent} is driven by {', '.join(coupler.independent)}",
                code="conflict",
                file=model.file,
                expected="coordinates that move independently",
                remedy=f"choose {', '.join(coupler.independent)}, whose moment arms include what it drives",
            )


def _refuse_constrained(model: OpenSimModel, dofs: Sequence[str]) -> None:
    """A constraint that is not supported makes the moment of a coordinate one of others too."""
    for constraint in model.other_constraints:
        if held := [name for name in dofs if name in constraint.involved]:
            raise InputError(
                f"{', '.join(held[:8])}: the constraint {constraint.name} ({constraint.kind}) ties these coordinates "
                "to others",
                code="unsupported",
                file=model.file,
                expected="coordinates that no constraint of this kind acts on",
                remedy="choose other coordinates or muscles, or remove the constraint in OpenSim",
            )


def _require_muscles(
    model: OpenSimModel, dofs: Sequence[str], muscles: Sequence[str], crossing: Crossing
) -> None:
    acted_on = frozenset().union(*(crossing[name] for name in muscles))
    bare = [name for name in dofs if name not in acted_on]
    if bare or not dofs:
        raise InputError(
            f"no muscle acts on {', '.join(bare) or 'any free angle'}",
            code="conflict",
            file=model.file,
            expected="coordinates that one of the chosen muscles moves",
            remedy="choose other coordinates or muscles",
        )


def _notes(
    model: OpenSimModel, candidates: Sequence[str], acting: Sequence[str], halved: Sequence[str]
) -> tuple[str, ...]:
    left = [name for name in candidates if name not in acting]
    notes = [*model.notes]
    if halved:
        notes.append(
            f"Coordinates left out, whose moments muscles of both sides produce: {_listed(halved)}; with both sides "
            "they are shared."
        )
    off = [name for name, muscle in model.muscles.items() if not muscle.enabled and name not in candidates]
    notes += [f"Muscles left out, which the model switches off: {_listed(off)}."] if off else []
    notes += [f"Muscles left out, which act on no shared coordinate: {_listed(left)}."] if left else []
    parts = {name: f"{name} ({kind})" for name, kind in model.unsupported.items()}
    forces = [part for name, part in parts.items() if name.startswith("force ")]
    others = [part for part in parts.values() if part not in forces]
    if forces:
        notes.append(f"Forces of the model that are left out, of joint moments too: {_listed(forces)}.")
    if others:
        notes.append(
            f"Parts of the model that are not supported, and are not needed here: {_listed(others)}."
        )
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


Crossing = Mapping[str, frozenset[str]]
"""Muscle -> the independent coordinates that its length depends on."""


def separate_groups(
    crossing: Crossing, muscles: Sequence[str], dofs: Sequence[str]
) -> list[tuple[list[int], list[int]]]:
    """Coordinates and muscles, by number, that can be shared apart: no muscle of a group acts on another group.

    Returns:
        Coordinates and muscles of each group, in the order of the first coordinate.
    """
    group = np.arange(len(dofs))
    acts = [[k for k, dof in enumerate(dofs) if dof in crossing[name]] for name in muscles]
    for own in acts:
        group[np.isin(group, group[own])] = group[own].min()
    return [
        (np.flatnonzero(group == first).tolist(), [i for i, own in enumerate(acts) if group[own[0]] == first])
        for first in np.unique(group)
    ]
