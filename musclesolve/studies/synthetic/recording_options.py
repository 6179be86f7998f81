"""Options of a synthetic recording, checked."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import as_text, unknown_name
from musclesolve.errors import input_error
from musclesolve.laboratory.markers.marker_names import marker_sets
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.laboratory.recording.command_settings import CUTOFF_HZ, SIGMAS, SyntheticSettings
from musclesolve.tables.settings import is_number, settings_of

Gap = tuple[str, float, float]
"""A marker and the first and last time at which it is not seen [s]."""

USUALLY_UNLOADED = 10.0
"""Vertical force under which a plate usually counts as unloaded [N]."""

MOST_TURN_DEG = 60.0
"""Tightest curve of a stride [deg]."""


class RecordingOptions(SyntheticSettings):
    """Settings of a synthetic recording, checked; gaps: times at which markers are not seen."""

    gaps: tuple[Gap, ...]

    def __init__(self, gaps: tuple[Gap, ...] = (), **values: Any) -> None:
        """Refuse options without a possible recording."""
        super().__init__(**values)
        rules = settings_of(SyntheticSettings)
        for name, value in values.items():
            plain = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
            plain = list(value) if isinstance(value, tuple) else plain
            absent = plain == [] or (plain is None and rules[name].default is None)
            if not absent and (wrong := rules[name].problem(plain)):
                self._need(name, False, wrong[1])
        self.__dict__["gaps"] = gaps
        form = "a list of (marker, first time, last time) in seconds, the first before the last"
        self._need("gaps", _are_gaps(gaps), form)
        of_a_foot = self.steps is None or (
            self.steps and all(re.fullmatch(r"[rl][1-9]\d*", s) for s in self.steps)
        )
        self._need("steps", of_a_foot, "a list of contacts such as r2 and l2")
        sets = marker_sets()
        if self.marker_set is not None and self.marker_set not in sets:
            raise unknown_name(self.marker_set, "marker set", sets, where="marker_set")
        self._need("cameras", self.cameras != 1, "0, or 2 to 100 cameras")
        plain = not self.cameras and self.marker_set is None
        self._need("functional_deg", plain or not self.functional_deg, "0 with cameras or a marker set")
        self._need("noise_px", not self.noise_px or self.cameras, "0 where no cameras have pixels")
        turns = f"at most {MOST_TURN_DEG:g} degrees to either side for every stride"
        self._need("turn_deg", abs(self.turn_deg) <= MOST_TURN_DEG * self.strides, turns)
        for name, rate in (("cutoff_hz", self.marker_rate_hz), ("force_cutoff_hz", self.force_rate_hz)):
            below = not is_number(self[name]) or self[name] < 0.5 * rate
            self._need(name, below, f"below half the rate of {rate:g} Hz")
        global_from_laboratory(self.forward, self.up)

    @property
    def unloaded_below(self) -> float:
        """Vertical force under which a plate counts as unloaded [N]."""
        if self.unloaded_below_n is not None:
            return self.unloaded_below_n
        return max(USUALLY_UNLOADED, SIGMAS * self.force_noise_n)

    @property
    def cutoff(self) -> float | str:
        """Cut-off of the filter for the trial file."""
        return CUTOFF_HZ[self.motion] if self.cutoff_hz is None else self.cutoff_hz

    def _need(self, name: str, good: object, expected: str) -> None:
        if not good:
            problem, remedy = f"the value is {as_text(self[name])}", "choose another value"
            raise input_error("bad_value", where=name, problem=problem, expected=expected, remedy=remedy)


def _are_gaps(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(
        isinstance(gap, tuple | list)
        and len(gap) == 3
        and isinstance(gap[0], str)
        and all(is_number(time) and abs(time) < 1e9 for time in gap[1:])
        and gap[1] <= gap[2]
        for gap in value
    )


def parse_gap(text: str) -> Gap:
    """A gap written as MARKER:FROM:TO."""
    parts = text.rsplit(":", 2)
    try:
        marker, first, last = parts[0], float(parts[1]), float(parts[2])
    except (IndexError, ValueError):
        raise input_error(
            "bad_format",
            where="--gap",
            problem=f"{as_text(text)} is not a gap",
            expected="MARKER:FROM:TO with the times in seconds",
            remedy="write knee_lateral_r:0.5:0.6",
        ) from None
    return marker, first, last


Noise = Callable[[np.random.Generator, tuple[int, int, int], Array], Array]

SKIN_HARMONICS = 4
"""Soft tissue moves with the stride: most of its motion lies in the first harmonics of walking."""


def white(rng: np.random.Generator, shape: tuple[int, int, int], phase: Array) -> Array:
    """Noise of the cameras, independent from frame to frame, (T, n, 3) of root mean square one."""
    return rng.normal(size=shape)


def skin(rng: np.random.Generator, shape: tuple[int, int, int], phase: Array) -> Array:
    """Sliding of markers with the stride, (T, n, 3) of root mean square one over many markers; phase (T,).

    It is a sum of the first four harmonics with random amplitudes, smaller for higher harmonics, and random phases,
    equal in every stride. No filter can remove it, because it has the frequencies of the motion.
    """
    harmonics = np.arange(1, SKIN_HARMONICS + 1)
    waves = 2.0 * np.pi * harmonics * phase[:, None]
    # A wave a cos + b sin has the mean square (a^2 + b^2) / 2: with unit variance of a and b, one.
    size = (1.0 / harmonics) / np.sqrt(np.sum(1.0 / harmonics**2))
    cosine, sine = size * rng.normal(size=(2, *shape[1:], SKIN_HARMONICS))
    return np.asarray(
        np.einsum("th,nxh->tnx", np.cos(waves), cosine) + np.einsum("th,nxh->tnx", np.sin(waves), sine)
    )


NOISES: dict[str, Noise] = {"white": white, "skin": skin}
