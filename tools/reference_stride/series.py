"""Unknowns of the stride: the layout by series.toml, and the linear maps from its coefficients."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve.studies.synthetic.reference_stride import MIRROR, WRENCH, StrideLayout, StrideSubject

Array = np.ndarray
HERE = Path(__file__).resolve().parent

SPLINES = 26
"""Splines that describe each component of the ground's wrench over a stance."""

ONSET = 3
"""Knots at heel strike: 3 lets the force start with a slope, 2 with a curvature only."""


@dataclass(frozen=True)
class Plan:
    """The layout of the unknowns, and what they are meant to do: series.toml and aims.toml."""

    layout: StrideLayout
    series: dict[str, Any]
    aims: dict[str, Any]

    @classmethod
    def load(cls) -> Plan:
        """Read both files."""
        series = tomllib.loads((HERE / "series.toml").read_text(encoding="utf-8"))
        head = series.pop("head")
        layout = StrideLayout(StrideSubject.load(), series, head, SPLINES, ONSET)
        return cls(layout, series, tomllib.loads((HERE / "aims.toml").read_text(encoding="utf-8")))

    @property
    def person(self) -> StrideSubject:
        """The subject."""
        return self.layout.person

    @property
    def slices(self) -> dict[str, slice]:
        """Place of each group of unknowns."""
        return self.layout.slices

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.layout.size


def coordinate_map(layout: StrideLayout, phase: Array, order: int = 0) -> Array:
    """(T, 44, P): coordinates, or their derivatives in time, per unit of each unknown."""
    full = np.zeros((phase.size, len(layout.person.model.topology.dof_names), layout.size))
    for dof, name, factor, lead in layout.links:
        full[:, dof, layout.slices[name]] += factor * layout.basis(name, phase + lead, order)
    full[:, layout.person.model.dof("pelvis_tx"), layout.slices["speed"]] += layout.advance(phase, order)[
        :, None
    ]
    return full


def force_map(layout: StrideLayout, phase: Array) -> Array:
    """(T, 6, P): force and moment about its ball of the ground on the right foot [body weights, times m]."""
    full = np.zeros((phase.size, len(WRENCH), layout.size))
    values = layout.contact_basis(phase)
    for component, name in enumerate(WRENCH):
        full[:, component, layout.slices[name]] = values
    return full


def inputs(layout: StrideLayout, phase: Array) -> tuple[Array, Array]:
    """Linear maps from the unknowns to coordinates and two derivatives (T, 132, P), and to both wrenches (T, 12, P)."""
    motion = np.concatenate([coordinate_map(layout, phase, order) for order in range(3)], axis=1)
    left = force_map(layout, phase + 0.5) * MIRROR[:, None]
    wrenches = np.concatenate([force_map(layout, phase), left], axis=1)
    return motion, wrenches * layout.person.weight
