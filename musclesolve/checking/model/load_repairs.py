"""Repairs of external loads: functions of all loads that change nothing on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.model.model_case import Change, Loads
from musclesolve.opensim.external_loads import ExternalLoad


def each_load(change: Callable[[ExternalLoad], ExternalLoad], names: Sequence[str] = ()) -> Change:
    """Change every load, or those of some names."""
    return lambda loads: tuple(change(load) if not names or load.name in names else load for load in loads)


def scaled(factor: float, roles: Sequence[str], names: Sequence[str] = ()) -> Change:
    """Multiply force, point or moment of all loads, or of some, by a factor."""
    return each_load(
        lambda load: replace(load, **{role: factor * getattr(load, role) for role in roles}), names
    )


def delayed(shift: float, drift: float = 0.0, middle: float = 0.0) -> Change:
    """Take loads that act at t + shift + drift (t - middle) as those of the time t [s]."""
    return each_load(lambda load: replace(load, time=(load.time - shift + drift * middle) / (1.0 + drift)))


def turned(axes: Array, roles: Sequence[str], names: Sequence[str] = ()) -> Change:
    """Turn or mirror force, point and moment of loads by a signed permutation (3, 3) of their axes."""
    of_role = {"force": axes, "point": axes, "moment": np.linalg.det(axes) * axes}
    return each_load(
        lambda load: replace(load, **{role: getattr(load, role) @ of_role[role].T for role in roles}), names
    )


def moved(offset: Array, names: Sequence[str] = ()) -> Change:
    """Add an offset (3,) [m] to the points of all loads, or of some."""
    return each_load(lambda load: replace(load, point=load.point + offset), names)


def on_bodies(body_of: dict[str, str]) -> Change:
    """Let loads act on other bodies, by the names of the loads."""
    return each_load(lambda load: replace(load, body=body_of.get(load.name, load.body)), tuple(body_of))


def contacts_on(name: str, body_of_contact: Sequence[tuple[float, float, str]]) -> Change:
    """Let a load act on one body after another: from the middle of one pause between contacts to that of the next.

    body_of_contact: first and last time [s] of each contact of the load, and the body that it acts on.
    """

    def change(loads: Loads) -> Loads:
        changed: list[ExternalLoad] = []
        for load in loads:
            if load.name != name:
                changed.append(load)
                continue
            spans = sorted(body_of_contact)
            ends = [0.5 * (before[1] + after[0]) for before, after in pairwise(spans)]
            number = np.searchsorted(np.array(ends), load.time)
            bodies = [body for _, _, body in spans]
            for body in dict.fromkeys(bodies):
                own = np.isin(number, [k for k, other in enumerate(bodies) if other == body])[:, None]
                parts: dict[str, Any] = {
                    role: np.where(own, getattr(load, role), 0.0) for role in ("force", "moment")
                }
                changed.append(replace(load, body=body, **parts))
        return tuple(changed)

    return change
