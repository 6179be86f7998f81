"""The patella as a lever: what the quadriceps does to the shank through the patellar ligament.

The ligament, not the quadriceps tendon, pulls at the shank. It carries the moment of the quadriceps about the knee at
its own arm h, so its tension is F_L = sum r_i F_i / h with the moment arms r_i of the muscles: virtual work, whatever
the path of the muscles, and moments and sharing stay as they are. Between the two tensions the patella is a lever:
F_L / F is 1.0 near extension, 0.73 at 70 and 0.56 at 100 degrees of flexion with the moment arms of gait2392
(measured: 1.16 at 10 degrees, 0.65 at 70 degrees, Buff, Jones & Hungerford 1988, J Biomech 21:17-23; van Eijden et al.
1986, J Biomech 19:219-229). A patella without mass is in equilibrium of muscles, ligament and femur:

    sum_i F_i q_i - F_L u + F_patellofemoral = 0

with q_i the direction in which a muscle pulls at it and u that of the ligament, up from the shank. Arm and direction of
the ligament are those of measured knees (patella.toml), square to the axis of the knee, a little lateral of its center.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.vectors import vector_product

QUADRICEPS = re.compile(
    r"((r|l|right|left)[_. -])?(rec(t|tus)?[_. -]?fem|vas|quadriceps|quads)", re.IGNORECASE
)
"""How the names of its heads begin: recfem_r, vas_med_r, rectus_femoris_l, RectFem_r, R_VasLat."""


def quadriceps(names: Sequence[str]) -> Indices:
    """Numbers of the heads of the quadriceps among names of muscles."""
    return np.array(_matching(QUADRICEPS, tuple(names)), np.intp)


@lru_cache(maxsize=64)
def _matching(pattern: re.Pattern[str], names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(k for k, name in enumerate(names) if pattern.match(name))


@dataclass(frozen=True)
class Ligament:
    """Where the patellar ligament of a knee is: distance from the helical axis and to the left of the center [m]."""

    arm: float
    left: float

    @classmethod
    def of(cls, side: str, shank_length: float | None) -> Ligament:
        """That of the knee of a side, "r" or "l", by the length of the shank [m] where it is known."""
        table = bundled_toml(__package__, "patella.toml")
        size = 1.0 if shank_length is None else shank_length / table["shank_length"]
        return cls(table["arm"] * size, table["lateral"] * size * (1.0 if side == "l" else -1.0))


@dataclass(frozen=True, eq=False)
class PatellarLever:
    """What the knee carries where muscles have one newton metre about a coordinate, through the patellar ligament.

    force (T, 3) [1/m], moment about the knee center (T, 3) [1]: minus those of the ligament on the shank. With the
    moment arm r of a muscle they are its part of `JointLoads.across` and `JointLoads.moment_across`.
    """

    force: Array
    moment: Array

    @classmethod
    def of(
        cls,
        ligament: Ligament,
        flexion: Array,
        up: Array,
        left: Array,
        spin: Array,
        velocity: Array | None = None,
    ) -> PatellarLever:
        """The lever of a knee.

        Where the knee glides, the ligament is at its arm from the helical axis, and so a little farther from the knee
        center, or nearer: the power of its force is that of the muscles.

        Args:
            ligament: where it is.
            flexion: (T,) [rad].
            up, left: (T, 3) unit vectors along the shank and across it.
            spin: (T, 3) angular velocity of the shank relative to the thigh for a unit rate of the coordinate.
            velocity: (T, 3) velocity of its point at the knee center, likewise [m]; none of a hinge.
        """
        table = bundled_toml(__package__, "patella.toml")
        lean = np.radians(np.interp(np.degrees(flexion), table["flexion"], table["angle"]))[:, None]
        rate = np.linalg.norm(spin, axis=1) * np.sign(np.einsum("tx,tx->t", spin, left))  # of flexion
        axis = spin / rate[:, None]
        straight = up - np.einsum("tx,tx->t", up, axis)[:, None] * axis
        straight = straight / np.linalg.norm(straight, axis=1)[:, None]
        along = np.cos(lean) * straight + np.sin(lean) * vector_product(axis, straight)
        distance = np.full(len(rate), ligament.arm)
        if velocity is not None:
            distance = distance + np.einsum("tx,tx->t", velocity, along) / rate
        about_center = ligament.left * vector_product(axis, along) - distance[:, None] * axis
        per_moment = (1.0 / (ligament.arm * rate))[:, None]
        return cls(per_moment * along, per_moment * about_center)
