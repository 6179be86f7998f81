"""Options of a synthetic recording, checked."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import as_text, few
from musclesolve.constants import FLIGHT_CUTOFF_HZ, WALKING_CUTOFF_HZ
from musclesolve.errors import input_error
from musclesolve.recording.file_axes import AXES, global_from_laboratory
from musclesolve.recording.markers.marker_set import marker_sets
from musclesolve.synthetic.faults import faults

CUTOFF_METHODS = ("residual_analysis", "residual_analysis_silva_2003", "cross_validation")
"""How a recording may choose its cut-off frequencies."""

CUTOFF_HZ = {"walk": WALKING_CUTOFF_HZ, "run": FLIGHT_CUTOFF_HZ}
MOTIONS = tuple(CUTOFF_HZ)
"""Motions that may be recorded."""

Gap = tuple[str, float, float]
"""A marker and the first and last time at which it is not seen [s]."""

Test = Callable[[Any], bool]

USUALLY_UNLOADED, MOST_UNLOADED = 10.0, 200.0
"""Vertical force under which a plate counts as unloaded [N]: usually, and at most."""

MOST_TURN_DEG = 60.0
"""Tightest curve of a stride [deg]."""

SIGMAS = 5.0
"""Noise of so many standard deviations does not occur: one sample in three millions exceeds it."""


@dataclass(frozen=True)
class RecordingOptions:
    """Options of a synthetic recording."""

    motion: str = "walk"  # "walk", the reference stride, or "run", one with flight; which goes straight ahead
    noise_mm: float = 0.0  # root mean square of the noise of a marker coordinate [mm]
    noise: str = "white"  # "white" (the camera's) or "skin" (the marker slides with the stride, see `skin`)
    # root mean square of the noise of a force component [N]; its moments get a hundredth in N m
    force_noise_n: float = 0.0
    marker_rate_hz: float = 100.0  # marker rate [Hz]
    force_rate_hz: float = 1000.0  # rate of the plates [Hz]
    strides: int = 1  # how many strides are to be analyzed
    margin_s: float = 0.4  # recorded before and after them [s]
    standing_frames: int = 100  # frames of the standing trial
    gaps: tuple[Gap, ...] = ()  # when markers are not seen
    # the contacts that have a plate, the first contact of each foot in the recording being r1 and l1; all of
    # them when None. With steps the trial file has no [time]: the range is for the reader to find
    steps: tuple[str, ...] | None = None
    # what went wrong (`musclesolve.synthetic.faults`), planted one after the other
    faults: tuple[str, ...] = ()
    # name of a marker set (`musclesolve markers`); a marker on every landmark when None
    marker_set: str | None = None
    # how far knees and ankles bend in a movement recorded beside the walk, from which their axes are found: markers
    # of segments then replace those of epicondyles and malleoli [deg]; without it with 0
    functional_deg: float = 0.0
    cameras: int = 0  # how many cameras see the markers; with 0 the files hold the markers themselves
    noise_px: float = 0.0  # standard deviation of every pixel coordinate of the cameras [px]
    forward: str = "+x"  # axis of the files along which the subject walks
    up: str = "+z"  # axis of the files that points up
    heading_deg: float = 0.0  # direction in which the subject sets out, to the left of that axis [deg]
    # how far the path turns to the left over the strides that are analyzed [deg]; a circle, negative: to the
    # right
    turn_deg: float = 0.0
    seed: int = 0  # of the random numbers
    # what the trial file asks the filter for: a frequency [Hz], or a word such as "residual_analysis"; 6 Hz
    # for a walk and 15 Hz for a run when None
    cutoff_hz: float | str | None = None
    force_cutoff_hz: float | None = None  # the same for the forces alone; that of the markers when None
    # vertical force under which a plate counts as unloaded [N]; when None, 10 N or five times the noise,
    # whichever is more: an unloaded plate must not seem loaded
    unloaded_below_n: float | None = None
    decimals: int = 4  # of a marker coordinate in the file [mm]

    def __post_init__(self) -> None:
        """Refuse what makes no recording."""
        self._need("motion", lambda v: v in MOTIONS, " or ".join(f'"{name}"' for name in MOTIONS))
        self._need("noise_mm", number(0.0, 1000.0), "a number of millimeters from 0 to 1000")
        self._need("noise", lambda v: v in NOISES, " or ".join(f'"{name}"' for name in NOISES))
        most = MOST_UNLOADED / SIGMAS
        self._need("force_noise_n", number(0.0, most), f"a number of newtons from 0 to {most:g}")
        self._need("marker_rate_hz", number(20.0, 10000.0), "a rate from 20 to 10000 Hz")
        self._need("force_rate_hz", number(20.0, 100000.0), "a rate from 20 to 100000 Hz")
        self._need("strides", whole(1, 1000), "a whole number from 1 to 1000")
        self._need("margin_s", number(0.0, 100.0), "a time from 0 to 100 s")
        self._need("standing_frames", whole(2, 100000), "a whole number from 2 to 100000")
        gaps = "a list of (marker, first time, last time) in seconds, the first before the last"
        self._need("gaps", _are_gaps, gaps)
        self._need("steps", _are_steps, "a list of contacts such as r2 and l2")
        known, plain = faults(), not self.cameras and self.marker_set is None
        self._need("faults", lambda v: set(v) <= set(known), f"some of {few(known, 20)}")
        self._need("faults", lambda v: plain or not v, "none of them with cameras or a marker set")
        sets = marker_sets()
        self._need("marker_set", lambda v: v is None or v in sets, "one of " + ", ".join(sets))
        self._need("cameras", lambda v: whole(0, 100)(v) and v != 1, "0, or 2 to 100 cameras")
        self._need("functional_deg", number(0.0, 120.0), "an angle from 0 to 120 degrees")
        plain = plain and not self.faults
        self._need("functional_deg", lambda v: plain or not v, "0 with cameras, faults or a marker set")
        self._need("noise_px", number(0.0, 100.0), "a number of pixels from 0 to 100")
        self._need("noise_px", lambda v: bool(v == 0.0 or self.cameras), "0 where no cameras have pixels")
        self._need("forward", lambda v: v in AXES, "one of " + ", ".join(AXES))
        self._need("up", lambda v: v in AXES, "one of " + ", ".join(AXES))
        self._need("heading_deg", number(-360.0, 360.0), "an angle from -360 to 360 degrees")
        most = MOST_TURN_DEG * self.strides
        turns = f"at most {MOST_TURN_DEG:g} degrees to either side for every stride"
        self._need("turn_deg", number(-most, most), turns)
        self._need("seed", whole(0), "a whole number from 0 on")
        cuts = _below(0.5 * self.marker_rate_hz)
        below = f"below half the marker rate, or one of {', '.join(CUTOFF_METHODS)}"
        self._need("cutoff_hz", lambda v: v in CUTOFF_METHODS if isinstance(v, str) else cuts(v), below)
        below = "above 0 and below half the rate of the plates"
        self._need("force_cutoff_hz", _below(0.5 * self.force_rate_hz), below)
        good, force = number(0.0, MOST_UNLOADED), f"a force above 0 and up to {MOST_UNLOADED:g} N"
        self._need("unloaded_below_n", lambda v: v is None or (good(v) and v > 0.0), force)
        self._need("decimals", whole(0, 12), "0 to 12 decimals")
        global_from_laboratory(self.forward, self.up)

    @property
    def unloaded_below(self) -> float:
        """Vertical force under which a plate counts as unloaded [N]."""
        if self.unloaded_below_n is not None:
            return self.unloaded_below_n
        return max(USUALLY_UNLOADED, SIGMAS * self.force_noise_n)

    @property
    def cutoff(self) -> float | str:
        """Cut-off of the filter as the trial file states it."""
        return CUTOFF_HZ[self.motion] if self.cutoff_hz is None else self.cutoff_hz

    def _need(self, name: str, good: Test, expected: str) -> None:
        value = getattr(self, name)
        try:
            if good(value):
                return
        except (TypeError, ValueError):
            pass
        raise input_error(
            "synthetic.bad_option", where=name, expected=expected, name=name, value=as_text(value)
        )


def number(low: float = -inf, high: float = inf) -> Test:
    """A test whether something is a number from low to high; true and false are none."""
    return lambda value: (
        isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) <= high
    )


def _below(top: float) -> Test:
    """A test whether something is nothing, or a number above zero and below another."""
    return lambda value: value is None or (number(0.0, top)(value) and 0.0 < value < top)


def whole(low: int, high: float = inf) -> Test:
    """A test whether something is an integer from low to high; 2.0 is none."""
    return lambda value: isinstance(value, Integral) and number(low, high)(value)


def _are_gaps(value: Any) -> bool:
    finite = number(-1e9, 1e9)
    return isinstance(value, tuple | list) and all(
        isinstance(marker, str) and finite(first) and finite(last) and first <= last
        for marker, first, last in value
    )


def _are_steps(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple | list)
        and len(value) > 0
        and all(re.fullmatch(r"[rl][1-9]\d*", step) for step in value)
    )


def parse_gap(text: str) -> Gap:
    """A gap written as MARKER:FROM:TO."""
    parts = text.rsplit(":", 2)
    try:
        marker, first, last = parts[0], float(parts[1]), float(parts[2])
    except (IndexError, ValueError):
        raise input_error("synthetic.no_gap", where="--gap", text=as_text(text)) from None
    return marker, first, last


def parse_cutoff(text: str | None) -> float | str | None:
    """A cut-off written in a shell: a number, or the word that it is."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


Noise = Callable[[np.random.Generator, tuple[int, int, int], Array], Array]

SKIN_HARMONICS = 4
"""Soft tissue moves with the stride: most of its motion lies in the first harmonics of walking."""


def white(rng: np.random.Generator, shape: tuple[int, int, int], phase: Array) -> Array:
    """Independent from frame to frame: the noise of the cameras, (T, n, 3) of root mean square one."""
    return rng.normal(size=shape)


def skin(rng: np.random.Generator, shape: tuple[int, int, int], phase: Array) -> Array:
    """A marker that slides with the stride, (T, n, 3) of root mean square one over many markers; phase (T,).

    A sum of the first four harmonics with random amplitudes that fall with the harmonic and random phases, the same
    in every stride. No filter can remove it: it lies where the motion lies.
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
