"""Groups of things that are equal, so that each is computed once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from musclesolve._util.arrays import Indices


def equal_groups(*columns: Sequence[object]) -> list[Indices]:
    """Numbers of the rows that are equal in every column, in the order of the first of each group.

    What has no hash, such as an object of one's own with arrays, is equal to itself alone.
    """
    groups: dict[tuple[Hashable, ...], list[int]] = {}
    for number, row in enumerate(zip(*columns, strict=True)):
        groups.setdefault(tuple(map(_key, row)), []).append(number)
    return [np.array(group) for group in groups.values()]


def _key(thing: object) -> Hashable:
    try:
        hash(thing)
    except TypeError:
        return id(thing)
    return thing
