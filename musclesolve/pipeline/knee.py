"""The patella as a lever: the load of the quadriceps on the shank through the patellar ligament.

The ligament, not the quadriceps tendon, pulls at the shank. It carries the moment of the quadriceps about the knee at
its own arm h, so its tension is F_L = sum r_i F_i / h with the moment arms r_i of the muscles: virtual work, whatever
the path of the muscles, and moments and sharing stay as they are. Between the two tensions the patella is a lever:
F_L / F is 1.0 near extension, 0.73 at 70 and 0.56 at 100 degrees of flexion with the moment arms of gait2392
(measured: 1.16 at 10 degrees, 0.65 at 70 degrees, Buff, Jones & Hungerford 1988, J Biomech 21:17-23; van Eijden et al.
1986, J Biomech 19:219-229). A patella without mass is in equilibrium of muscles, ligament and femur:

    sum_i F_i q_i - F_L u + F_patellofemoral = 0

with q_i the direction in which a muscle pulls at it and u the direction of the ligament, up from the shank. Arm and
direction of the ligament come from measured knees (patella.toml), square to the axis of the knee, a little lateral
of its center.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, contiguous
from musclesolve._util.bundled_toml import bundled_toml

QUADRICEPS = re.compile(
    r"((r|l|right|left)[_. -])?(rec(t|tus)?[_. -]?fem|vas|quadriceps|quads)", re.IGNORECASE
)
"""Beginnings of the names of the heads of the quadriceps: recfem_r, vas_med_r, rectus_femoris_l, RectFem_r,
R_VasLat.
"""


def quadriceps(names: Sequence[str]) -> Indices:
    """Numbers of the heads of the quadriceps among names of muscles."""
    return np.array(_matching(QUADRICEPS, tuple(names)), np.intp)


@lru_cache(maxsize=64)
def _matching(pattern: re.Pattern[str], names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(k for k, name in enumerate(names) if pattern.match(name))


class Ligament(NamedTuple):
    """Patellar ligament of a knee: its distance from the helical axis and to the left of the center [m]."""

    arm: float
    left: float

    @classmethod
    def from_shank_length(cls, side: str, shank_length: float | None) -> Ligament:
        """The ligament of the knee of a side, "r" or "l", scaled by the length of the shank [m] where it is known."""
        table = bundled_toml(__package__, "patella.toml")
        size = 1.0 if shank_length is None else shank_length / table["shank_length"]
        return cls(table["arm"] * size, table["lateral"] * size * (1.0 if side == "l" else -1.0))


@dataclass(frozen=True, eq=False)
class PatellarLever:
    """Load on the knee through the patellar ligament for one newton meter of the muscles about a coordinate.

    force (T, 3) [1/m], moment about the knee center (T, 3) [1]: minus force and moment of the ligament on the shank.
    Times the moment arm r of a muscle they are its contribution to `JointLoads.across` and `JointLoads.moment_across`.
    """

    force: Array
    moment: Array

    @classmethod
    def from_flexion(
        cls,
        ligament: Ligament,
        flexion: Array,
        up: Array,
        left: Array,
        spin: Array,
        velocity: Array | None = None,
    ) -> PatellarLever:
        """The lever of a knee.

        Where the knee glides, the arm of the ligament is its distance from the helical axis, which differs a little
        from the distance to the knee center: the power of its force equals the power of the muscles.

        Args:
            ligament: its distances from the helical axis and the center.
            flexion: (T,) [rad].
            up, left: (T, 3) unit vectors along the shank and across it.
            spin: (T, 3) angular velocity of the shank relative to the thigh for a unit rate of the coordinate.
            velocity: (T, 3) velocity of the shank's point at the knee center for a unit rate [m]; None for a hinge.
        """
        from musclesolve.pipeline.patella_kernel import LEVER

        if velocity is None:
            velocity = np.zeros_like(spin)
        force, moment = np.empty((2, *spin.shape))
        segment, motion = (contiguous(up), contiguous(left)), (contiguous(spin), contiguous(velocity))
        LEVER.load()(np.array(ligament), lean_table(), contiguous(flexion), segment, motion, force, moment)
        return cls(force, moment)


@cache
def lean_table() -> tuple[Array, Array]:
    """Angles of flexion (k,) and lean of the ligament there (k,) [rad]."""
    table = bundled_toml(__package__, "patella.toml")
    return np.radians(table["flexion"]), np.radians(table["angle"])
