"""The reading of a model by this package, beside OpenSim's answer: agrees, is refused by name, or differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import musclesolve as ms
from benchmarks.opensim_differential.opensim_answers import FRAMES, INTERVAL
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.geometry import opensim_geometry
from musclesolve.opensim.inverse_dynamics import inverse_dynamics, model_motion
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.muscle_parameters import muscle_parameters
from musclesolve.recording.data import Table
from musclesolve.sharing.problem import Problem

AGREES, REFUSED, DIFFERS = "agrees", "refused", "DIFFERS"
SELF = "OpenSim contradicts itself"
"""Its arms are not the slopes of its lengths, or the power of its moments is not the rate of energy."""
TOLERANCE = {
    "coordinate": 1e-4,
    "parameter": 1e-6,
    "length": 1e-3,
    "arm": 1e-3,
    "moment": 1.0,
    "capacity": 5.0,
    "force": 5.0,
}
"""Largest difference of each quantity: rad or m, relative, m, m, N m (N of translations), N, N."""
QUANTITIES = ("read", *TOLERANCE)
_COST = "activation_power"
_JUMP = 0.05
"""An arm that differs so much from the slope of the length stands beside a jump of the path [m]."""
_NO_ARM = 1e-6
"""Below it a muscle does not act on a coordinate [m]."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one quantity of one model: the largest difference, and where it is or why it is refused."""

    quantity: str
    verdict: str
    amount: float = 0.0
    what: str = ""


def compared(file: Path, answer: dict[str, Any], rng: np.random.Generator) -> list[Finding]:
    """Findings on all quantities of a model for which OpenSim has an answer."""
    try:
        model = ms.read_osim(file)
    except InputError as refusal:
        return [Finding("read", REFUSED, what=_reason(refusal))]
    found = [Finding("read", AGREES)]
    beside = _Beside(model, answer, rng)
    for quantity, compare in beside.comparisons.items():
        try:
            found += compare()
        except InputError as refusal:
            found.append(Finding(quantity, REFUSED, what=_reason(refusal)))
    return found


def _reason(refusal: InputError) -> str:
    return f"{refusal.code}: {refusal.problem}"


class _Beside:
    """One model and OpenSim's answer on it."""

    def __init__(self, model: OpenSimModel, answer: dict[str, Any], rng: np.random.Generator) -> None:
        self.model, self.answer, self.rng = model, answer, rng
        self.places: list[dict[str, Any]] = [*answer["poses"], *answer["frames"]]
        self.names: list[str] = answer["coordinates"]
        self.free: list[str] = answer["free"]
        self.given = [name for name in self.names if name not in (*answer["dependent"], *answer["locked"])]
        self.comparisons: dict[str, Callable[[], list[Finding]]] = {
            "coordinate": self.coordinates,
            "parameter": self.parameters,
            "length": self.lengths,
            "arm": self.arms,
            "moment": self.moments,
            "force": self.forces,
        }

    def columns(
        self, rows: Iterable[Sequence[float]], names: Sequence[str] | None = None
    ) -> dict[str, Array]:
        """Columns of coordinates by name, from rows of all coordinates; those that are given to both unless named."""
        array = np.array(list(rows), dtype=float)
        return {name: array[:, self.names.index(name)] for name in (self.given if names is None else names)}

    @property
    def poses(self) -> dict[str, Array]:
        return self.columns(pose["value"] for pose in self.places)

    def coordinates(self) -> list[Finding]:
        """Values of all coordinates, those that others drive included."""
        found = coordinate_values(self.model, self.poses)
        coupled = {coupler.dependent for coupler in self.model.couplers}
        others = [
            f"{name} ({kind})"
            for name, kind in self.model.unsupported.items()
            if name.startswith("constraint ")
        ]
        worst, findings = _Worst("coordinate"), []
        for name in self.names:
            if name in self.answer["dependent"] and name not in coupled and others:
                findings.append(Finding("coordinate", REFUSED, what=", ".join(others)))
                continue
            there = np.array([pose["value"][self.names.index(name)] for pose in self.places])
            worst.add(np.abs(found[:, self.model.coordinate_number[name]] - there), name)
        return findings + worst.findings()

    def muscles(self) -> tuple[list[str], list[Finding]]:
        """Muscles that both have; those that are refused or missing here."""
        kept, findings = [], []
        for name in dict.fromkeys(self.answer["muscles"]):
            if name not in self.model.muscles and not any(
                name in key.split() for key in self.model.unsupported
            ):
                findings.append(Finding("length", DIFFERS, np.inf, f"{name} is missing without a word"))
                continue
            try:
                self.model.chosen([name])
                kept.append(name)
            except InputError as refusal:
                findings.append(Finding("length", REFUSED, what=_reason(refusal)))
        return kept, findings

    def parameters(self) -> list[Finding]:
        """Parameters of the muscles that both have."""
        worst = _Worst("parameter")
        for name, there in zip(self.answer["muscles"], self.answer["parameters"], strict=True):
            if (muscle := self.model.muscles.get(name)) is not None:
                for key, value in there.items():
                    here = float(getattr(muscle, key))
                    worst.add(np.array([abs(here - value) / max(abs(value), 1e-3)]), f"{key} of {name}")
        for name, enabled in zip(self.answer["muscles"], self.answer["enabled"], strict=True):
            if name in self.model.muscles and self.model.muscles[name].enabled != enabled:
                worst.add(np.array([np.inf]), f"whether {name} applies its force")
        return worst.findings()

    def lengths(self) -> list[Finding]:
        kept, findings = self.muscles()
        worst, against = _Worst("length"), _Worst("length", SELF)
        poses = self.poses
        for name, here in self._each(
            kept, lambda names: opensim_geometry(self.model, poses, [], names).length
        ):
            if isinstance(here, InputError):
                findings.append(Finding("length", REFUSED, what=_reason(here)))
                continue
            k = self.answer["muscles"].index(name)
            there = np.array([pose["length"][k] for pose in self.places])
            itself = np.array([self._contradicts(pose, k) for pose in self.places])
            worst.add(np.where(itself, 0.0, np.abs(here[:, 0] - there)), name)
            against.add(np.where(itself, np.abs(here[:, 0] - there), 0.0), name)
        return findings + worst.findings() + against.contradictions()

    def _contradicts(self, pose: dict[str, Any], muscle: int) -> bool:
        """Whether OpenSim's arms of a muscle are not the slopes of its lengths, or a length is no number."""
        rows = [self.names.index(name) for name in self.free]
        arm, slope = (np.array(pose[key])[:, muscle] for key in ("arm", "slope"))
        return not float(np.max(np.abs(arm[rows] - slope), initial=0.0)) <= TOLERANCE["arm"]

    def _each(self, names: list[str], compute: Callable[[list[str]], Array]) -> Iterable[tuple[str, Any]]:
        """The array of each muscle (its last axis): all at once, or each by itself where that is refused."""
        try:
            whole = compute(names) if names else np.zeros((0, 0))
            yield from ((name, whole[..., [k]]) for k, name in enumerate(names))
        except InputError:
            for name in names:
                try:
                    yield name, compute([name])
                except InputError as refusal:
                    yield name, refusal

    def arms(self) -> list[Finding]:
        """-dL/dq about the coordinates that move freely, and about locked ones without couplings."""
        kept, findings = self.muscles()[0], []
        worst, against = _Worst("arm"), _Worst("arm", SELF)
        poses, about = self.poses, self.free
        for name, here in self._each(
            kept, lambda names: opensim_geometry(self.model, poses, about, names).moment_arm
        ):
            if isinstance(here, InputError):
                findings.append(Finding("arm", REFUSED, what=_reason(here)))
                continue
            k = self.answer["muscles"].index(name)
            for c, coordinate in enumerate(about):
                row = self.names.index(coordinate)
                there = np.array([pose["arm"][row][k] for pose in self.places])
                slope = np.array([pose["slope"][c][k] for pose in self.places])
                differs, contradicts = np.abs(here[:, c, 0] - there), np.abs(there - slope)
                known = np.isfinite(there) & np.isfinite(slope)  # a loop may leave the coordinate no motion
                differs = np.where(known, differs, 0.0)
                own = np.abs(here[:, c, 0] - slope)
                shown = (own < TOLERANCE["arm"]) | (contradicts > _JUMP)
                itself = (differs > TOLERANCE["arm"]) & (contradicts > 0.5 * differs) & shown
                worst.add(np.where(itself, 0.0, differs), f"{name} about {coordinate}")
                against.add(np.where(itself, differs, 0.0), f"{name} about {coordinate}")
        return findings + worst.findings() + against.contradictions()

    def moments(self) -> list[Finding]:
        """Generalized forces of free coordinates, with the forces of what they drive."""
        if self.answer["closed"]:
            return []  # OpenSim leaves the forces of constraints out
        dynamics = [pose["dynamics"] for pose in self.answer["poses"]]
        value, speed, acceleration = (
            self.columns(each[key] for each in dynamics) for key in ("value", "speed", "acceleration")
        )
        motion = model_motion(self.model, 0.01 * np.arange(len(dynamics)), value, speed, acceleration)
        here = inverse_dynamics(self.model, motion)
        worst, against = _Worst("moment"), _Worst("moment", SELF)
        power = np.sum([here.column(name) * speed[name] for name in self.free], axis=0)
        for c, name in enumerate(self.free):
            there = [
                np.dot(pose["follow"][c], _without(each["joint_force"], self.names, self.answer["locked"]))
                for pose, each in zip(self.answer["poses"], dynamics, strict=True)
            ]
            differs = np.abs(here.column(name) - there)
            itself = np.abs([each["power_lacking"] for each in dynamics]) > 1.0
            worst.add(np.where(itself, 0.0, differs), name)
            against.add(np.where(itself, differs, 0.0), name)
        rate = np.array([each["power"] for each in dynamics])
        worst.add(np.abs(power - rate) / np.maximum(1.0, np.abs(rate)), "power [W]")
        return worst.findings() + against.contradictions()

    def forces(self) -> list[Finding]:
        """Forces shared by the problem made here, and by one made of OpenSim's arms, lengths and speeds.

        OpenSim's problem is also solved with the slopes of its lengths as arms. Where its forces change by that as much
        as they differ from those here, it contradicts itself.
        """
        frames = self.answer["frames"]
        known = np.array([each["frame"] for each in frames])
        enabled = [n for n, on in zip(self.answer["muscles"], self.answer["enabled"], strict=True) if on]
        columns = [self.answer["muscles"].index(name) for name in enabled]
        muscles = muscle_parameters(self.model.chosen(enabled))
        length, rate = (np.array([each[key] for each in frames])[:, columns] for key in ("length", "rate"))
        produced = muscles.forces(muscles.fibers(length, rate))
        activation = self.rng.uniform(0.1, 0.5, (len(frames), len(enabled)))
        arm = np.array([each["arm"] for each in frames])[:, :, columns]
        total = np.einsum("tkn,tn->tk", arm, activation * produced.capacity + produced.passive)
        if not np.isfinite(total).all():
            return [Finding("force", SELF, np.inf, "a length or an arm is no number")]
        problem = ms.opensim_problem(self.model, *self._files(known, total), cutoff_hz=None, passive="table")
        dofs, names = list(problem.dof or ()), list(problem.muscle or ())
        if held := [name for name in dofs if name not in self.free]:
            what = f"{', '.join(held)} is shared, which OpenSim does not let move"
            return [Finding("force", DIFFERS, np.inf, what)]
        rows, own = [self.names.index(name) for name in dofs], [enabled.index(name) for name in names]
        acting = np.abs(arm[:, rows]).max(axis=(0, 1)) > _NO_ARM
        if left := {name for name, acts in zip(enabled, acting, strict=True) if acts} - set(names):
            return [Finding("force", DIFFERS, np.inf, f"{', '.join(sorted(left))} left out of the sharing")]
        itself = np.array([[self._contradicts(each, columns[i]) for i in own] for each in frames])
        capacity = np.where(itself, problem.force_capacity[known], produced.capacity[:, own])
        passive = np.where(itself, self._passive(problem)[known], produced.passive[:, own])
        slope = np.array([each["slope"] for each in frames])[:, :, columns]
        here, there, by_slopes = (
            ms.solve(each, _COST, on_infeasible="reserve")
            for each in (
                problem.frames(known),
                *(
                    Problem(
                        moment_arm=each,
                        moment=total[:, rows] - np.einsum("tmn,tn->tm", each, passive),
                        force_capacity=capacity,
                        max_isometric_force=muscles.max_isometric_force[own],
                        lower=problem.frames(known).lower,
                    )
                    for each in (
                        arm[:, rows][:, :, own],
                        slope[:, [self.free.index(n) for n in dofs]][:, :, own],
                    )
                ),
            )
        )
        worst, against = _Worst("force"), _Worst("force", SELF)
        differs = np.abs(here.force - there.force)
        doubt = np.abs(by_slopes.force - there.force).max(axis=1) > 0.5 * differs.max(axis=1)
        for k, name in enumerate(names):
            worst.add(np.where(doubt, 0.0, differs[:, k]), name)
            against.add(np.where(doubt, differs[:, k], 0.0), name)
        if (here.solved & ~there.solved & ~doubt).any():
            worst.add(np.array([np.inf]), "a frame is solved that has no solution with OpenSim's arms")
        return self._capacities(problem, known, itself) + worst.findings() + against.contradictions()

    def _files(self, known: Array, total: Array) -> tuple[Table, Table]:
        """Coordinates and moments as OpenSim writes them, for generalized forces (T, K) in some frames."""
        time, turns = INTERVAL * np.arange(FRAMES), self.answer["rotational"]
        degrees = np.where(turns, 180.0 / np.pi, 1.0) * np.array(self.answer["course"])
        columns = self._as_inverse_dynamics(total)
        labels = [
            f"{name}_moment" if on else f"{name}_force" for name, on in zip(self.names, turns, strict=True)
        ]
        moments = np.stack([np.interp(np.arange(FRAMES), known, each) for each in columns.T], axis=1)
        return (
            Table(time, tuple(self.names), degrees, in_degrees=True, path=Path()),
            Table(time, tuple(labels), moments, in_degrees=False, path=Path()),
        )

    def _capacities(self, problem: Problem, known: Array, itself: Array) -> list[Finding]:
        worst = _Worst("capacity")
        passive = self._passive(problem)
        for k, name in enumerate(problem.muscle or ()):
            column = self.answer["muscles"].index(name)
            for key, array in (("active", problem.force_capacity), ("passive", passive)):
                there = np.array([each[key][column] for each in self.answer["frames"]], dtype=float)
                differs = np.abs(array[known, k] - there)
                worst.add(np.where(itself[:, k] | np.isnan(there), 0.0, differs), f"{key} force of {name}")
        return worst.findings()

    @staticmethod
    def _passive(problem: Problem) -> Array:
        assert problem.passive_force is not None
        return problem.passive_force

    def _as_inverse_dynamics(self, total: Array) -> Array:
        """Columns (T, K) as OpenSim writes them, on its speeds, for generalized forces of the free coordinates.

        What couplers drive has moments of its own, which the independent coordinate's column lacks.
        """
        found = total.copy()
        driven = [self.names.index(name) for name in self.answer["dependent"]]
        found[:, driven] = self.rng.uniform(-5.0, 5.0, (len(total), len(driven)))
        for c, name in enumerate(self.free):
            follow = np.array([each["follow"][c] for each in self.answer["frames"]])
            found[:, self.names.index(name)] -= (follow[:, driven] * found[:, driven]).sum(axis=1)
        for row, each in zip(found, self.answer["frames"], strict=True):
            if each["by_rates"] is not None:
                row[:] = np.linalg.solve(np.array(each["by_rates"]), row)
        return found


def _without(forces: Sequence[float], names: Sequence[str], left: Sequence[str]) -> Array:
    """Forces (K) with the forces of some coordinates zero."""
    return np.array([0.0 if name in left else force for name, force in zip(names, forces, strict=True)])


class _Worst:
    """The largest difference of a quantity."""

    def __init__(self, quantity: str, verdict: str = DIFFERS) -> None:
        self.quantity, self.verdict = quantity, verdict
        self.amount, self.what, self.any = 0.0, "", False

    def add(self, difference: Array, what: str) -> None:
        self.any = True
        worst = float(np.max(np.where(np.isfinite(difference), difference, np.inf), initial=0.0))
        if worst > self.amount:
            self.amount, self.what = worst, what

    def findings(self) -> list[Finding]:
        if not self.any:
            return []
        verdict = AGREES if self.amount <= TOLERANCE[self.quantity] else self.verdict
        return [Finding(self.quantity, verdict, self.amount, self.what)]

    def contradictions(self) -> list[Finding]:
        """Only what differs."""
        return [each for each in self.findings() if each.verdict != AGREES]
