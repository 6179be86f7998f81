"""Whether the first markers of a session are in the unit that their stream states.

Markers spread as those of the standing subject do, whatever the pose and the axes: compared is the median of their
distances from their middle, by the limits of the check of recordings (`marker_units`).
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.files.unit_scale import LENGTH_BAND, LENGTHS, unit_factor
from musclesolve.errors import InputError

SAMPLES = 10
"""So many samples are looked at: a single one may be anything."""


class FirstMarkers:
    """The sizes of the first samples of a session.

    Args:
        standing: places (n, 3) [m] of the markers on the standing subject.
    """

    def __init__(self, standing: Array) -> None:
        self._standing, self._sizes = standing, list[tuple[float, float]]()

    def check(self, markers: Array) -> None:
        """Look at a sample, markers (n, 3) [m], of which half or more have to be seen.

        Raises:
            InputError: the samples so far are in another unit.
        """
        if len(self._sizes) == SAMPLES:
            return
        seen = np.isfinite(markers).all(axis=1)
        if seen.mean() < 0.5 or not (size := _size(markers[seen])) > 0.0:
            return
        self._sizes.append((size, _size(self._standing[seen])))
        if len(self._sizes) < SAMPLES:
            return
        size, usual = np.median(self._sizes, axis=0)
        factor = unit_factor(size / usual, LENGTHS, LENGTH_BAND)
        if factor is not None:
            raise InputError(
                f"the markers are {size:.3g} m from their middle (median): the positions are {LENGTHS[factor]}",
                code="bad_units",
                where="--from",
                expected=f"about {usual:.2g} m, as on the subject who stands",
                remedy="state the unit where the samples are sent: as the unit of the channels of an LSL stream, or "
                'as "unit": "mm" in each datagram',
            )


def _size(points: Array) -> float:
    """Median distance [m] of points (n, 3) from their middle."""
    return float(np.median(np.linalg.norm(points - np.median(points, axis=0), axis=1)))
