"""Poses of a model, the numbers of the package in them, and how much OpenSim's numbers differ.

python -m benchmarks.foreign_models.package_numbers MODEL NUMBERS.json poses|compare
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.geometry import difference_note
from musclesolve.models.opensim.inverse_dynamics import (
    ModelMotion,
    distal_reactions,
    inverse_dynamics,
    model_motion,
)
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.models.simulated_body import problem_of
from musclesolve.models.simulated_files import read_simulated
from musclesolve.sharing.solving import solve

COLUMNS = (
    *("model", "read", "muscles", "coordinates"),
    *("length opensim mm", "length path mm", "arm opensim mm", "arm path mm"),
    *("inverse dynamics N m", "compared", "reactions N", "unnamed"),
)
FRAMES = 4
WIDEST = 1.2
"""Largest distance of a coordinate from its default [rad]; of a length a tenth of it [m]."""
IN_LOOP = 0.05
"""Of a coordinate of a closed loop."""
LARGE_MM, LARGE_N_M, LARGE_N = 1.0, 1.0, 1.0
SMALL = 1e-4
"""Difference of a large force, beside its size, that is round-off of accelerations of a fall."""


def main() -> None:
    """Write poses, or compare."""
    file, numbers, step = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if file.suffix.lower() != ".osim":
        row = simulated(file)
        numbers.write_text(json.dumps({"row": row}), encoding="utf-8")
        return
    model = read_osim(file)
    usable = [name for name in model.muscles if _is_usable(model, name)]
    if step == "poses":
        motion = poses_of(model)
        names = list(model.coordinates)
        driven = {coupler.dependent for coupler in model.couplers}
        crossed = frozenset().union(*(model.crossing[name] for name in usable))
        arms = [name for name in names if name in crossed - driven - model.in_loops]
        arrays = {key: getattr(motion, key).tolist() for key in ("value", "speed", "acceleration")}
        left_out = len(model.muscles) + len(model.pathless) - len(usable)
        row = {
            "read": "yes" if not left_out else f"without {left_out} muscles, named",
            "muscles": len(usable),
            "coordinates": len(names),
        }
        given = {"names": names, "muscles": usable, "arms": arms, **arrays, "row": row}
    else:
        given = json.loads(numbers.read_text(encoding="utf-8"))
        given["row"] |= compared(model, given)
    numbers.write_text(json.dumps(given), encoding="utf-8")


def simulated(file: Path) -> dict[str, Any]:
    """A model of a simulator that rests in its first pose: how many frames have forces of the muscles."""
    model = read_simulated(file)
    start = np.array(model.model.qpos0) if hasattr(model.model, "qpos0") else np.zeros(len(model.positions))
    time = np.linspace(0.0, 0.2, 11)
    motion = model.along(time, np.tile(start, (len(time), 1)))
    problem = problem_of(motion, 0.0, None)
    solution = solve(problem)
    return {
        "read": f"{int(solution.solved.sum())} of {len(time)} frames by muscles alone, {len(motion.notes)} notes",
        "muscles": problem.n_muscles,
        "coordinates": problem.n_dof,
    }


def _is_usable(model: OpenSimModel, name: str) -> bool:
    try:
        model.chosen([name])
    except InputError:
        return False
    return True


def poses_of(model: OpenSimModel) -> ModelMotion:
    """Random poses within the ranges, with speeds and accelerations; coordinates of ball and free joints rest at 0."""
    draw = np.random.default_rng(1)
    parts: tuple[dict[str, Array], ...] = ({}, {}, {})
    driven, angular = {coupler.dependent for coupler in model.couplers}, angular_coordinates(model)
    for name, coordinate in model.coordinates.items():
        if name in driven:
            continue
        reach = WIDEST if coordinate.rotational else 0.1 * WIDEST
        if name in model.in_loops:
            reach = IN_LOOP
        low, high = (
            max(coordinate.lower, coordinate.default - reach),
            min(coordinate.upper, coordinate.default + reach),
        )
        still = np.zeros(FRAMES)
        if name in angular and name not in model.in_loops:
            parts[0][name], parts[1][name], parts[2][name] = still, still, still
            continue
        parts[0][name] = draw.uniform(min(low, high), max(low, high), FRAMES)
        parts[1][name], parts[2][name] = draw.normal(0.0, 2.0, FRAMES), draw.normal(0.0, 5.0, FRAMES)
        if name in model.in_loops:
            parts[1][name], parts[2][name] = still, still
    return model_motion(model, 0.1 * np.arange(FRAMES), *parts)


def angular_coordinates(model: OpenSimModel) -> set[str]:
    """Coordinates whose speeds in OpenSim are components of an angular velocity."""
    return {name for joint in model.joints if joint.speeds_are_angular for name in joint.coordinates[:3]}


def compared(model: OpenSimModel, given: dict[str, Any]) -> dict[str, Any]:
    """The largest differences from OpenSim's numbers, and what no note names."""
    theirs, names = given["theirs"], given["names"]
    value, speed, acceleration = (np.array(given[key]) for key in ("value", "speed", "acceleration"))
    motion = ModelMotion(0.1 * np.arange(FRAMES), value, speed, acceleration)
    row: dict[str, Any] = {}
    unnamed: list[str] = []
    notes = " ".join(map(str, model.notes))
    if given["muscles"]:
        length, arm = np.array(theirs["length"], float), np.array(theirs["arm"], float)
        by_name = dict(zip(names, value.T, strict=True))
        found = opensim_geometry(model, by_name, given["arms"], given["muscles"])
        note = difference_note(found, (model, by_name)) + notes
        for label, ours, other in (
            ("length opensim mm", found.opensim_length, length),
            ("length path mm", found.length, length),
            ("arm opensim mm", found.opensim_arm, arm),
            ("arm path mm", found.moment_arm, arm),
        ):
            off = 1e3 * np.nan_to_num(np.abs(ours - other), nan=np.inf)
            off[np.isnan(ours) & np.isnan(other)] = 0.0
            row[label] = round(float(off.max(initial=0.0)), 3)
            worst = off.reshape(-1, off.shape[-1]).max(axis=0, initial=0.0)
            unnamed += [
                f"{name} {by:.1f} mm ({label.split()[0]})"
                for name, by in zip(given["muscles"], worst, strict=True)
                if by > 1.3 * LARGE_MM
                and f"{name} (" not in note
                and f" {name} " not in notes
                and f" {name}," not in notes
            ]
    kept = [
        k
        for k, name in enumerate(names)
        if name not in angular_coordinates(model) or name not in model.in_loops
    ]
    force = inverse_dynamics(model, motion).joint_force
    off = np.abs(force - np.array(theirs["force"]))[:, kept].max(axis=0, initial=0.0)
    row["inverse dynamics N m"], row["compared"] = float(f"{off.max(initial=0.0):.3g}"), len(kept)
    unnamed += [
        f"{names[k]} {by:.3g} N m"
        for k, by in zip(kept, off, strict=True)
        if by > LARGE_N_M and names[k] not in notes
    ]
    row |= reactions(model, given, unnamed, notes)
    row["unnamed"] = "; ".join(dict.fromkeys(unnamed))
    return row


def reactions(model: OpenSimModel, given: dict[str, Any], unnamed: list[str], notes: str) -> dict[str, Any]:
    """Largest difference of the force of a joint of the falling model [N]; none with closed loops."""
    if model.in_loops:
        return {"reactions N": "closed loops"}
    fall = np.array([given["theirs"]["fall"]])
    motion = ModelMotion(np.zeros(1), np.array(given["value"][:1]), np.zeros_like(fall), fall)
    found = distal_reactions(model, inverse_dynamics(model, motion))
    worst = 0.0
    for joint, ours in zip(found.joints, found.force[0], strict=True):
        other = np.array(given["theirs"]["reaction"].get(joint, np.full(3, np.nan)))
        off = float(np.nan_to_num(np.abs(ours - other)).max())
        worst = max(worst, off)
        if off > LARGE_N + SMALL * np.abs(other).max() and joint not in notes:
            unnamed.append(f"{joint} {off:.3g} N")
    return {"reactions N": float(f"{worst:.3g}")}


if __name__ == "__main__":
    main()
