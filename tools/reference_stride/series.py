"""What is unknown of the stride, and how coordinates and foot forces follow from it linearly.

Unknowns: Fourier coefficients of the angles and of the pelvis' path, its mean speed, where the right foot stands, and
the coefficients of the ground's wrench on that foot. The left side does the same half a stride later, mirrored.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from person import HERE, Person
from scipy.interpolate import BSpline

Array = np.ndarray

SPLINES = 20
"""Splines that describe each component of the ground's wrench over a stance."""

ONSET = 2
"""Knots at heel strike: 3 lets the force start with a slope, 2 with a curvature only."""

# Force and moment on the left foot mirrored to the right one's: y of the force, x and z of the moment change sign.
MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


@dataclass(frozen=True)
class Plan:
    """The layout of the unknowns of one person's stride."""

    person: Person
    tables: dict[str, Any]

    @classmethod
    def load(cls, person: Person) -> Plan:
        """Read series.toml."""
        return cls(person, tomllib.loads((HERE / "series.toml").read_text(encoding="utf-8")))

    @cached_property
    def series(self) -> dict[str, dict[str, Any]]:
        """The Fourier series by name."""
        return {name: entry for name, entry in self.tables.items() if name != "head"}

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each group of unknowns lies."""
        sizes = {name: sum(2 if k else 1 for k in entry["harmonics"]) for name, entry in self.series.items()}
        sizes |= {"speed": 1, "place": 2, "force": 6 * SPLINES}
        ends = np.cumsum(list(sizes.values()))
        return {
            name: slice(int(end) - size, int(end))
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }

    @cached_property
    def size(self) -> int:
        """How many unknowns there are."""
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
        for name, sources in self.tables["head"].items():
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

    def coordinate_map(self, phase: Array, order: int = 0) -> Array:
        """(T, 44, P): coordinates, or their derivatives in time, per unit of each unknown."""
        full = np.zeros((phase.size, len(self.person.model.topology.dof_names), self.size))
        for dof, name, factor, lead in self.links:
            full[:, dof, self.slices[name]] += factor * self.basis(name, phase + lead, order)
        advance = {0: phase * self.person.period, 1: np.ones_like(phase)}.get(order, np.zeros_like(phase))
        full[:, self.person.model.dof("pelvis_tx"), self.slices["speed"]] += advance[:, None]
        return full

    def force_map(self, phase: Array) -> Array:
        """(T, 6, P): force and moment about its ball of the ground on the right foot [body weights, times m].

        Cubic splines that vanish with their slope at heel strike, with two derivatives at toe-off.
        """
        stance = self.person.toe_off
        knots = np.concatenate([np.zeros(ONSET - 1), np.linspace(0.0, stance, SPLINES + 5 - ONSET)])
        wrapped = np.mod(phase, 1.0)
        values = np.stack(
            [BSpline.basis_element(knots[j : j + 5], extrapolate=False)(wrapped) for j in range(SPLINES)],
            axis=1,
        )
        full = np.zeros((phase.size, 6, self.size))
        for component in range(6):
            start = self.slices["force"].start + component * SPLINES
            full[:, component, start : start + SPLINES] = np.nan_to_num(values)
        return full
