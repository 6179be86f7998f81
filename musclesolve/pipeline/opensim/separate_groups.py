"""Which coordinates and muscles of an OpenSim model can be shared apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

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
