"""The two ways to fill one gap: the marker's own path around it, and the body that the marker sits on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.data import Gap, Markers
from musclesolve.recording.gaps.rigid_registration import register
from musclesolve.recording.gaps.spline_interpolant import (
    GapInterpolant,
    expected_error,
    line_interpolant,
    spline_interpolant,
)

WORST = 0.02
"""A gap is not filled where the error to expect, which 19 of 20 stay below, is above this [m]."""

DISAGREEMENT = 0.03
"""The two sides of a gap may disagree by this [m], or by twice of what they do where nothing is missing: a marker that
comes back under another's name disagrees by more."""

BESIDE = 3
"""Samples on either side that a spline uses. On a recorded walk 3, 5 and 10 differ by a tenth of the error."""

_FEWEST_DONORS = 3
_MOST_FRAMES = 200
_TOO_FEW = "fewer than three markers that move with it are seen throughout"


Place = tuple[str, int, int]
"""A gap: marker, first missing frame and one past the last."""


class GapFiller:
    """Markers that are being filled."""

    def __init__(self, markers: Markers, together: Mapping[str, Sequence[str]]) -> None:
        self.markers = replace(markers, position=markers.position.copy())
        self._given = markers
        self._together = together
        self._carried: dict[tuple[str, ...], Array | None] = {}

    def fill_by_spline(self, place: Place, longest_s: float) -> Gap:
        """Fill the gap by a cubic spline through the nearest samples on both sides."""
        (name, start, stop), longest = place, _frames(longest_s, self.markers)
        if stop - start > longest:
            return self._unfilled(place, "")
        path = self._given[name]
        seen = np.flatnonzero(np.isfinite(path).all(axis=1))
        nodes = np.concatenate([seen[seen < start][-BESIDE:], seen[seen >= stop][:BESIDE]]) - start
        if nodes.size < 2 * BESIDE or nodes[-1] - nodes[0] > 2 * longest + 2 * BESIDE:
            return self._unfilled(place, "too little of it is seen around the gap for a spline")
        interpolant = spline_interpolant(nodes, stop - start)
        return self._fill_well(place, interpolant, path, np.zeros_like(path), "a spline")

    def fill_by_body(self, place: Place, longest_s: float, before: str) -> Gap:
        """Fill the gap by the body whose markers predict this one best; ``before`` is why the spline did not."""
        name, start, stop = place
        if stop - start > _frames(longest_s, self.markers):
            return self._unfilled(place, before or f"gaps of more than {longest_s:g} s are not filled")
        found = self._best_body(place)
        if found is None:
            return self._unfilled(place, f"{before}, and {_TOO_FEW}" if before else _TOO_FEW)
        interpolant, group, predicted = found
        return self._fill_well(place, interpolant, self._given[name] - predicted, predicted, group)

    def fill_by_neighbors(self, place: Place) -> Gap:
        """Fill a gap of any length by the body whose markers predict this one best, however well that is."""
        found = self._best_body(place)
        if found is None:
            return self._unfilled(place, _TOO_FEW)
        interpolant, group, predicted = found
        path = self._given[place[0]]
        error, _ = expected_error(interpolant, path - predicted, path, place[1])
        return self._fill(place, interpolant, path - predicted, predicted, (group, error))

    def _best_body(self, place: Place) -> tuple[GapInterpolant, str, Array] | None:
        """Return the interpolant, the body that predicts the marker best, and the predicted path (T, 3)."""
        name, start, stop = place
        path = self._given[name]
        ends = [frame for frame in (start - 1, stop) if 0 <= frame < self.markers.time.size]
        ends = [frame for frame in ends if np.isfinite(path[frame]).all()]
        interpolant = line_interpolant(stop - start, start - 1 in ends, stop in ends)
        best: tuple[float, str, Array] | None = None
        for group, members in self._together.items():
            predicted = self._predicted(name, members, range(start, stop), ends) if name in members else None
            if predicted is not None:
                error, _ = expected_error(interpolant, path - predicted, path, start)
                if best is None or not best[0] <= error:
                    best = (error, group, predicted)
        return None if best is None else (interpolant, *best[1:])

    def _fill_well(
        self, place: Place, interpolant: GapInterpolant, samples: Array, base: Array, by: str
    ) -> Gap:
        """Fill the gap with base + interpolant over the samples, unless it cannot be done well."""
        name, start, _ = place
        error, usual = expected_error(interpolant, samples, self._given[name], start)
        if np.isnan(error):
            return self._unfilled(place, f"the marker is not seen long enough to try how well {by} fills it")
        apart = interpolant.disagreement(samples, start)
        if apart > max(DISAGREEMENT, 2.0 * usual):
            why = f"it comes back {1000 * apart:.0f} mm beside its path: under another marker's name?"
            return self._unfilled(place, why)
        if error > WORST:
            return self._unfilled(place, f"{by} would fill it only to {1000 * error:.0f} mm")
        return self._fill(place, interpolant, samples, base, (by, error))

    def _fill(
        self, place: Place, interpolant: GapInterpolant, samples: Array, base: Array, how: tuple[str, float]
    ) -> Gap:
        """Write base + interpolant into the gap; `how` is by what it was filled and the error to expect [m]."""
        name, start, stop = place
        filled = base[start:stop] + interpolant.fill(samples, start)
        self.markers.position[start:stop, self.markers.names.index(name)] = filled
        return self._gap(place, True, *how)

    def _predicted(self, name: str, members: Sequence[str], gap: range, ends: Sequence[int]) -> Array | None:
        """Return the path of a marker that the other members predict, (T, 3), NaN where they are not all seen.

        None where they cannot: fewer than three are seen throughout the gap and at its ends, or they lie on a
        line, or are never seen together with the marker.
        """
        frames = [*gap, *ends]
        donors = tuple(
            other
            for other in members
            if other != name and other in self.markers and np.isfinite(self.markers[other][frames]).all()
        )
        if len(donors) < _FEWEST_DONORS or not ends:
            return None
        key = (name, *donors)
        if key not in self._carried:
            self._carried[key] = self._carry(key)
        return self._carried[key]

    def _carry(self, names: tuple[str, ...]) -> Array | None:
        """Return where the body of the other names carries the first one, (T, 3)."""
        path = np.stack([self.markers[name] for name in names], axis=1)
        seen = np.isfinite(path[:, 1:]).all(axis=(1, 2))
        whole = np.isfinite(path).all(axis=(1, 2))
        if not whole.any():
            return None
        try:
            shape = _shape(path[whole])
            poses = register(shape[1:], path[seen, 1:])
        except InputError:
            # On a line: the rotation about it is unknown.
            return None
        predicted = np.full((len(path), 3), np.nan)
        predicted[seen] = poses.point(shape[0])
        return predicted

    def _unfilled(self, place: Place, why: str) -> Gap:
        return self._gap(place, False, why, np.nan)

    def _gap(self, place: Place, filled: bool, account: str, error: float) -> Gap:
        (name, start, stop), time = place, self.markers.time
        return Gap(name, float(time[start]), float(time[stop - 1]), stop - start, filled, account, error)


def _shape(path: Array) -> Array:
    """Return the mean shape (n, 3) of a body from frames (T, n, 3), each rotated back into the middle one of them.

    The first point is the one to be carried: it takes no part in the registration.
    """
    some = path[:: -(-len(path) // _MOST_FRAMES)]
    poses = register(some[len(some) // 2, 1:], some[:, 1:])
    back = np.einsum("tji,tnj->tni", poses.rotation, some - poses.translation[:, None])
    return np.asarray(back.mean(axis=0))


def _frames(longest_s: float, markers: Markers) -> int:
    # A hundredth of a frame: 0.1 s at 100 Hz are ten frames, whatever the rounding of the division.
    return int(longest_s * markers.rate + 0.01)
