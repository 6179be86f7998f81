"""How a stride follows linearly from its coefficients: Fourier series of the motion, splines of the ground's wrench.

The left side does what the right side does half a stride later, mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import BSpline

from musclesolve._util.arrays import Array
from musclesolve.synthetic.stride.stride_subject import StrideSubject

# Force and moment on the left foot mirrored to the right one's: y of the force, x and z of the moment change sign.
MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])

WRENCH = ("force_forward", "force_left", "force_up", "moment_forward", "moment_left", "moment_up")
"""Components of the wrench on the right foot, about its ball: [body weight], [body weight metre]."""


@dataclass(frozen=True)
class Layout:
    """Which coefficients a stride has, and where they lie in the vector of all of them."""

    person: StrideSubject  # the subject
    # the Fourier series of the motion by name: harmonics, and sided or moves (see series.toml)
    series: Mapping[str, Mapping[str, Any]]
    # what the joints of the neck take back, degree of freedom -> series -> factor
    head: Mapping[str, Mapping[str, float]]
    splines: int  # how many cubic B-splines describe a component of the wrench over a stance
    onset: int  # knots at heel strike: 3 lets the force start with a slope, 2 with a curvature only

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each group of coefficients lies."""
        sizes = {name: sum(2 if k else 1 for k in entry["harmonics"]) for name, entry in self.series.items()}
        sizes |= {"speed": 1, "place": 2} | dict.fromkeys(WRENCH, self.splines)
        ends = np.cumsum(list(sizes.values()))
        return {
            name: slice(int(end) - size, int(end))
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }

    @cached_property
    def size(self) -> int:
        """How many coefficients there are."""
        return max(part.stop for part in self.slices.values())

    @cached_property
    def links(self) -> list[tuple[int, str, float, float]]:
        """(degree of freedom, series, factor, lead in phase) for everything that moves."""
        dof = self.person.model.dof
        links = []
        for name, entry in self.series.items():
            if entry.get("sided"):
                links += [(dof(f"{name}_r"), name, 1.0, 0.0), (dof(f"{name}_l"), name, 1.0, 0.5)]
            else:
                links += [
                    (dof(d), name, factor, 0.0) for d, factor in entry.get("moves", {name: 1.0}).items()
                ]
        for name, sources in self.head.items():
            links += [(dof(name), source, factor, 0.0) for source, factor in sources.items()]
        return links

    def basis(self, name: str, phase: Array, order: int = 0) -> Array:
        """(T, size of the series): what each coefficient adds to a series, or to its derivative in time."""
        columns = []
        for k in self.series[name]["harmonics"]:
            rate = 2.0 * np.pi * k / self.person.period
            angle = 2.0 * np.pi * k * phase + 0.5 * np.pi * order
            waves = [np.cos(angle)] if k == 0 else [np.cos(angle), np.sin(angle)]
            columns += [rate**order * wave for wave in waves]
        return np.stack(columns, axis=1)

    def contact_basis(self, phase: Array) -> Array:
        """(T, splines): cubic B-splines over the stance, zero in swing.

        They vanish with their slope at heel strike (for two knots there), with two derivatives at toe-off.
        """
        stance, count, onset = self.person.toe_off, self.splines, self.onset
        knots = np.concatenate([np.zeros(onset - 1), np.linspace(0.0, stance, count + 5 - onset)])
        wrapped = np.mod(phase, 1.0)
        values = [BSpline.basis_element(knots[j : j + 5], extrapolate=False)(wrapped) for j in range(count)]
        return np.nan_to_num(np.stack(values, axis=1))

    def coordinates(self, coefficients: Array, phase: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44), or their derivatives in time, at phases of the stride."""
        full = np.zeros((phase.size, len(self.person.model.topology.dof_names)))
        for dof, name, factor, lead in self.links:
            full[:, dof] += factor * (self.basis(name, phase + lead, order) @ coefficients[self.slices[name]])
        full[:, self.person.model.dof("pelvis_tx")] += coefficients[self.slices["speed"]] * self.advance(
            phase, order
        )
        return full

    def advance(self, phase: Array, order: int) -> Array:
        """What a unit of mean speed adds to the forward position, or to its derivatives, (T,)."""
        return {0: phase * self.person.period, 1: np.ones_like(phase)}.get(order, np.zeros_like(phase))

    def wrench(self, coefficients: Array, phase: Array) -> Array:
        """(T, 6): force and moment about its ball of the ground on the right foot [body weights, times m]."""
        start, stop = self.slices[WRENCH[0]].start, self.slices[WRENCH[-1]].stop
        return np.asarray(
            self.contact_basis(phase) @ coefficients[start:stop].reshape(len(WRENCH), self.splines).T
        )
