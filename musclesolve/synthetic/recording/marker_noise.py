"""What cameras and skin add to the true position of a marker."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array

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
    slide: Array = np.einsum("th,nxh->tnx", np.cos(waves), cosine) + np.einsum(
        "th,nxh->tnx", np.sin(waves), sine
    )
    return slide


NOISES: dict[str, Noise] = {"white": white, "skin": skin}
