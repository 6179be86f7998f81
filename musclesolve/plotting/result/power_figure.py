"""Powers of hip, knee and ankle, and the support moment of each leg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import split_side, with_side
from musclesolve.plotting.page.arrangement import KEPT
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.norm_bands import NormBands
from musclesolve.plotting.page.sheet import Sheet, heading, native, page, zero_line
from musclesolve.results.dataset.leg_kinetics import joint_dofs, joint_power, powered_joints, support_moment
from musclesolve.results.facts import Facts
from musclesolve.results.movement import RUNNING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUPPORT = "support moment: hip extension + knee extension + plantarflexion"


@native
def joint_powers(result: xr.Dataset) -> Sheet:
    """Power per body mass [W/kg] of all rotations of each joint, and of flexion alone with its bursts by name.

    The lower panels show the support moment of each leg [N m/kg] (Winter 1980) and the power of all its joints. Units
    are W and N m where the mass is unknown; a model without such joints has panels of each coordinate.
    """
    legs, joints = Legs.from_result(result, analyzed=False), powered_joints(result)
    # Per body mass where that is known.
    mass, of_mass = result.attrs.get("subject_mass_kg", 1.0), "/kg" * ("subject_mass_kg" in result.attrs)
    if not joints:
        return _coordinates(legs, mass, f"[W{of_mass}]")
    norms = NormBands.from_result(result, legs.x)
    bursts = (
        legs.x.is_cycle and Facts(result).movement.name != RUNNING
    )  # bursts of running are at other times
    moments = {side: support_moment(result, side) for side in legs.sides}
    known = {side: moment / mass for side, moment in moments.items() if moment is not None}
    rows, title = len(joints) + 1, "Joint powers, support moment" if known else "Joint powers"
    height = min(1.0, 0.12 + 0.19 * rows)
    sheet, panels = page(result, title, rows, 2, height=height, labels=True)
    totals: dict[str, Array] = {}
    for row, joint in zip(panels, joints, strict=False):
        if of_mass:
            norms.draw(row[0], "joint_power", joint)
        whole, sagittal = (
            {
                side: joint_power(result, joint, side, sagittal=alone) / mass
                for side in legs.sides
                if joint_dofs(result, joint, side, sagittal=alone)
            }
            for alone in (False, True)
        )
        _curves(row[0], legs, whole, f"[W{of_mass}]")
        _curves(row[1], legs, sagittal, f"[W{of_mass}]", lowest=not known and joint == joints[-1])
        heading(row[0], f"{joint}: power of all rotations, generated (+)   absorbed (-)")
        heading(
            row[1],
            f"{joint}: power of flexion and extension",
            _bursts(legs, joint, sagittal) if bursts else "",
        )
        totals = {side: totals.get(side, 0.0) + power for side, power in whole.items()}
    if known:
        _curves(panels[-1, 0], legs, known, f"[N m{of_mass}]", lowest=True)
        heading(panels[-1, 0], SUPPORT)
    together = panels[-1, 1 if known else 0]
    _curves(together, legs, totals, f"[W{of_mass}]", lowest=True)
    heading(together, f"{', '.join(joints)} together: power of all rotations")
    panels[-1, 1].set_visible(bool(known))
    legs.legend(sheet, stance=True)
    norms.explain(sheet)
    return sheet


def _coordinates(legs: Legs, mass: float, unit: str) -> Sheet:
    """A panel for each coordinate of the result."""
    power = legs.result["joint_power"] / mass
    known = list(map(str, power["dof"].values))
    stems = list(dict.fromkeys(split_side(name)[0] for name in known))
    sheet, panels = page(legs.result, "Powers", len(stems), 1, height=min(1.0, 0.12 + 0.15 * len(stems)))
    for axes, stem in zip(panels.flat, stems, strict=True):
        names = {side: with_side(stem, side) for side in legs.sides}
        curves = {side: power.sel(dof=name).values for side, name in names.items() if name in known}
        _curves(axes, legs, curves, unit, lowest=stem == stems[-1])
        heading(axes, f"{stem.replace('_', ' ')}: power, generated (+)   absorbed (-)")
    legs.legend(sheet)
    return sheet


def _curves(axes: Axes, legs: Legs, values: Mapping[str, Array], unit: str, *, lowest: bool = False) -> None:
    for side, curve in values.items():
        legs.draw(axes, side, curve)
        legs.mark_stance(axes, side)
    axes.set_ylabel(unit)
    zero_line(axes)
    legs.x.apply(axes, labeled=lowest)


def _bursts(legs: Legs, joint: str, powers: Mapping[str, Array]) -> str:
    """The bursts that Winter names, of the right and the left leg, on an axis of the gait cycle.

    Each is the greatest power of its sign within its window of the gait cycle, mean of the cycles of which the frames
    cover that window: where a recording begins or ends within it, the greatest power may lie at the cut edge.
    """
    bursts = []
    for name, (sign, first, last) in bundled_toml(__package__, "power_bursts.toml")[joint].items():
        shown = []
        for side, power in powers.items():
            values, validity = [], legs.validity[side]
            valid = validity.solved | validity.reserve
            for part in legs.x.passes[side]:
                step = float(np.median(np.diff(part.place)))
                if part.place[0] > first + step or part.place[-1] < last - step:
                    continue
                inside = (part.place >= first) & (part.place <= last) & valid[part.index]
                known = sign * power[part.index[inside]]
                if np.isfinite(known).any():
                    values.append(float(np.nanmax(known)))
            shown.append(f"{sign * float(np.mean(values)):z.2f}" if values else "–")
        bursts.append(f"{name} {' / '.join(shown)}".replace(" ", KEPT))
    return ",  ".join(bursts)
