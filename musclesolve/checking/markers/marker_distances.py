"""Distances between the markers of one body: in every frame, usually in the motion, and in the standing trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.recording.data import SIDES, Markers, Trial

Indices = NDArray[np.int_]


def body_landmarks() -> dict[str, Any]:
    """Return body -> its landmarks."""
    return bundled_toml(__package__, "bodies.toml")


def bodies(trial: Trial) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return body -> markers of the motion on it, and whether the standing trial shows the same distances."""
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for name, entry in body_landmarks().items():
        sided = any("{side}" in landmark for landmark in entry["landmarks"])
        for side in SIDES if sided else ("",):
            single = [trial.mapping.get(mark.format(side=side), {}) for mark in entry["landmarks"]]
            markers = [next(iter(weights)) for weights in single if len(weights) == 1]
            shown = tuple(dict.fromkeys(marker for marker in markers if marker in trial.markers))
            if len(shown) > 1:
                found[f"{name}_{side}" if sided else name] = (shown, entry["standing"])
    for name, group in trial.clusters.items():
        seen = tuple(marker for marker in group if marker in trial.markers)
        if len(seen) > 1:
            found[f"cluster {name}"] = (seen, True)
    return found


@dataclass(frozen=True)
class Distances:
    """Pairs of markers of one body."""

    names: tuple[str, ...]  # n marker names of the motion
    one: Indices  # (P,) index of the first marker of each pair
    other: Indices  # (P,) index of the second
    usual: Array  # (P,) median distance in the motion [m]
    standing: Array  # (P,) median distance in the standing trial [m], NaN where it is not known

    def measured(self, position: Array) -> Array:
        """Return the distances (T, P) [m] of positions (T, n, 3)."""
        return np.asarray(np.linalg.norm(position[:, self.one] - position[:, self.other], axis=-1))

    def of(self, marker: int) -> Mask:
        """Return which pairs (P,) a marker belongs to."""
        return np.asarray((self.one == marker) | (self.other == marker))

    @property
    def markers(self) -> Indices:
        """Indices of all markers of any pair."""
        return np.unique(np.concatenate([self.one, self.other]))


def distances(trial: Trial) -> Distances | None:
    """Return the pairs of a trial, None where there are none."""
    names = trial.markers.names
    pairs: dict[tuple[int, int], bool] = {}
    for markers, standing in bodies(trial).values():
        at = sorted(names.index(marker) for marker in markers)
        for k, one in enumerate(at):
            for other in at[k + 1 :]:
                pairs[one, other] = pairs.get((one, other), False) or standing
    if not pairs:
        return None
    one, other = np.array(list(pairs)).T
    length = np.linalg.norm(trial.markers.position[:, one] - trial.markers.position[:, other], axis=-1)
    shown = np.array(
        [_standing(trial.static, names[a], names[b]) if s else np.nan for (a, b), s in pairs.items()]
    )
    return Distances(names, one, other, middle(length), shown)


def _standing(static: Markers | None, one: str, other: str) -> float:
    if static is None or one not in static or other not in static:
        return float("nan")
    return float(middle(np.linalg.norm(static[one] - static[other], axis=-1)[:, None])[0])


def middle(columns: Array) -> Array:
    """Return the median (P,) of columns (T, P) over what is no gap, NaN where all is."""
    seen = np.isfinite(columns)
    if seen.all() and len(columns):
        return np.asarray(np.median(columns, axis=0))
    whole = np.where(seen.any(axis=0), columns, 0.0)
    return np.where(seen.any(axis=0), np.nanmedian(whole, axis=0), np.nan)
