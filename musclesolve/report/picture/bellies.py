"""Muscles as bellies between tendons, with the same volume in every frame: a muscle that shortens gets thicker.

The volume of a muscle is its physiological cross section times its fibers, V = F0 L0 / SPECIFIC (60 N/cm^2: Rajagopal
et al. 2016, IEEE Trans Biomed Eng 63:2068-79). A path of length l is drawn as a tendon of constant length with a belly
of length L = l - l_tendon in it, of which a share PROXIMAL of the tendon lies before and the rest after it:

    r(u)^2 = THIN^2 + 2 DRAWN V / (pi L) sin^2(pi u),   0 <= u <= 1 along the belly,

whose volume beyond the tendon is DRAWN V. The belly is as long as its fibers, or SLENDER V^(1/3), which is about the
length of the muscles of the leg (Ward et al. 2009, Clin Orthop 467:1074-82), but no longer than WHOLE of the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices

SPECIFIC = 60e4
"""Specific tension [Pa]."""
DRAWN = 0.45
"""Drawn share of the volume: whole muscles about their lines of action would hide each other and the bones."""
SLENDER, WHOLE, PROXIMAL = 4.5, 0.9, 0.3
THIN = 0.0025
"""Radius of tendons [m]."""
UNKNOWN = (500.0, 0.07)
"""Maximum isometric force [N] and optimal fiber length [m] of a drawn muscle that has none."""


@dataclass(frozen=True, eq=False)
class Bellies:
    """Drawn volume (n,) [m^3] and length of the tendon (n,) [m] of muscles."""

    volume: Array
    tendon: Array

    @classmethod
    def of(cls, muscles: xr.Dataset, path: Array, first: Indices) -> Bellies:
        """Bellies of the muscles of a result with the points (T, P, 3) [m] of their paths."""
        strength, fiber = (
            np.asarray(muscles[name].values, dtype=float)
            if name in muscles
            else np.full(muscles.sizes["muscle"], np.nan)
            for name in ("max_isometric_force", "optimal_fiber_length")
        )
        return cls.sized(strength, fiber, path, first)

    @classmethod
    def sized(cls, strength: Array, fiber: Array, path: Array, first: Indices) -> Bellies:
        """Bellies from maximum isometric forces (n,) [N] and optimal fiber lengths (n,) [m]."""
        strength, fiber = (
            np.where(np.isfinite(each) & (each > 0.0), each, instead)
            for each, instead in zip((strength, fiber), UNKNOWN, strict=True)
        )
        length = path_lengths(path, first)
        known = np.isfinite(length)
        total = np.where(known, length, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        volume = strength * fiber / SPECIFIC
        belly = np.minimum(np.maximum(fiber, SLENDER * np.cbrt(volume)), WHOLE * total)
        return cls(DRAWN * volume, total - belly)

    def radius(self, muscle: Indices, along: Array, length: Array) -> Array:
        """Radius [m] of muscles by number at places along their paths, of such lengths [m]; all of one shape."""
        belly = np.maximum(length - self.tendon[muscle], 0.2 * length)
        share = np.clip((along - PROXIMAL * (length - belly)) / belly, 0.0, 1.0)
        swell = 2.0 * self.volume[muscle] / (np.pi * belly)
        return np.asarray(np.sqrt(THIN**2 + swell * np.sin(np.pi * share) ** 2))


def path_lengths(path: Array, first: Indices) -> Array:
    """Lengths (T, n) [m] of paths of points (T, P, 3)."""
    step = np.linalg.norm(np.diff(path, axis=1, append=path[:, -1:]), axis=2)
    step[:, first[1:] - 1] = 0.0  # from the end of a muscle to the next one
    return np.add.reduceat(step, first[:-1], axis=1) if len(first) > 1 else np.zeros((len(path), 0))
