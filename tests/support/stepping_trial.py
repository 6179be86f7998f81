"""A person who walks with flat feet, on the floor or on a belt, in any direction: when each foot rests is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from musclesolve.laboratory import Event, PlateForce, Subject, Trial
from musclesolve.laboratory.recording.trial_settings import FilterSettings, RecordedSettings
from musclesolve.tables import Markers

Array = NDArray[np.float64]

WEIGHT = 70.0 * 9.80665
RAMP = 0.05
"""The vertical force rises to the weight, and falls from it, in this time [s]."""
FOOT = 0.2
"""From heel to toe [m]."""
HALF_WIDTH = 0.06
THRESHOLD = 20.0
LATE = RAMP * THRESHOLD / WEIGHT
"""The force crosses 20 N so much after the foot has come down, and before it leaves [s]."""


@dataclass(frozen=True)
class Steps:
    """Steps of the person; the right foot comes down at `first`, the left one half a stride later [s, m/s]."""

    stride: float = 1.1
    stance: float = 0.62
    first: float = 0.35
    speed: float = 1.3
    heading_deg: float = 0.0
    belt: bool = False
    duration: float = 5.0
    rate: float = 100.0
    noise: float = 0.0

    def begin(self, side: str) -> float:
        return self.first + (0.5 * self.stride if side == "l" else 0.0)

    def strikes(self, side: str) -> Array:
        """Times at which a foot comes down within the recording."""
        return self._within(self.begin(side))

    def toe_offs(self, side: str) -> Array:
        return self._within(self.begin(side) + self.stance * self.stride)

    def turns(self, side: str, kind: str) -> Array:
        """Times at which heel and toe turn, seen from the pelvis: the zeros of the derivative of the cubic."""
        share = 0.5 - 0.5 * np.sqrt(1.0 - 2.0 * (1.0 - self.stance) / 3.0)
        early = share * (1.0 - self.stance) * self.stride
        return self.strikes(side) - early if kind == "heel_strike" else self.toe_offs(side) + early

    def _within(self, time: float) -> Array:
        times = time + self.stride * np.arange(-3, 1 + int(self.duration / self.stride))
        return times[(times > 0.0) & (times < self.duration)]

    def ahead(self, side: str, time: Array) -> Array:
        """The heel ahead of the pelvis: carried back at walking speed in stance, brought forward by a cubic."""
        phase = (time - self.begin(side)) / self.stride % 1.0
        reach = 0.5 * self.speed * self.stance * self.stride
        swing = (1.0 - self.stance) * self.stride
        u = np.clip((phase - self.stance) / (1.0 - self.stance), 0.0, 1.0)
        slope = -self.speed * swing
        forward = 2.0 * reach * (3 * u**2 - 2 * u**3) - reach + slope * (u - 3 * u**2 + 2 * u**3)
        return np.where(phase < self.stance, reach - self.speed * phase * self.stride, forward)

    def vertical(self, side: str, time: Array) -> Array:
        since = (time - self.begin(side)) % self.stride
        return WEIGHT * np.clip(np.minimum(since, self.stance * self.stride - since) / RAMP, 0.0, 1.0)

    def trial(self, plates: str = "rl", events: tuple[Event, ...] = ()) -> Trial:
        """The recording; plates: the feet that have one."""
        time = np.arange(round(self.duration * self.rate)) / self.rate
        turn = np.deg2rad(self.heading_deg)
        forward = np.array([np.cos(turn), np.sin(turn), 0.0])
        left = np.array([-forward[1], forward[0], 0.0])
        traveled = 0.0 if self.belt else self.speed
        pelvis = np.array([3.0, -1.0, 1.0]) + traveled * time[:, None] * forward
        paths = {f"psis_{s}": pelvis + y * 0.05 * left for s, y in (("r", -1.0), ("l", 1.0))}
        for side, sign in (("r", -1.0), ("l", 1.0)):
            ahead = self.ahead(side, time)[:, None]
            paths[f"heel_{side}"] = pelvis + ahead * forward + sign * HALF_WIDTH * left - [0.0, 0.0, 0.95]
            paths[f"toe_{side}"] = paths[f"heel_{side}"] + FOOT * forward
        position = np.stack(list(paths.values()), axis=1)
        position += self.noise * np.random.default_rng(5).normal(size=position.shape)
        path = Path("steps.trc")
        return Trial(
            document=SimpleNamespace(path=Path("trial.toml")),  # type: ignore[arg-type]
            subject=Subject("walker", 70.0, 1.75, "female"),
            markers=Markers(time, tuple(paths), position, path),
            static=None,
            forces=tuple(self.plate(side) for side in plates),
            mapping={name: {name: 1.0} for name in paths},
            clusters={},
            carried={},
            time_range=(float(time[0]), float(time[-1])),
            settings=RecordedSettings(filter=FilterSettings(unloaded_below_n=THRESHOLD)),
            events=events,
        )

    def plate(self, side: str, rate: float = 1000.0) -> PlateForce:
        time = np.arange(round(self.duration * rate)) / rate
        force = np.zeros((time.size, 3))
        force[:, 2] = self.vertical(side, time)
        return PlateForce(side, time, force, 0.0 * force, 0.0 * force, Path("steps.mot"))  # type: ignore[arg-type]
