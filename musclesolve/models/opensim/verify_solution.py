"""A second opinion on the muscle forces of another program: moments, bounds, and the distance from the least cost.

Muscles with moment arms R (m, n), strengths c and passive forces Fp, whose activations a make the forces F = c a + Fp,
and the moments M that are due at the joints, leave

    moments      M - R F - s, with the reserves s of the table
    bounds       lower <= a <= upper

and cost f(a). A program that met its own moments b' = R c a with reserves, or with an error of its own, is an optimum
only if no other activations within the bounds make b' for less. This least cost is computed and certified by `solve`.
So the excess f(a) - f_least is never negative, and is a fault of the solution alone, not of its moments. The least cost
of the moments that are due is reported, too.

The problem is the one that the program had: OpenSim's static optimization leaves out passive forces, and, except of the
muscles of Thelen (2003), the cosine of pennation in its strengths. Controls of the model bound its activations. Where a
table goes below these bounds, its own least activation is the bound. Tendons are rigid.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_choice, check_number
from musclesolve._util.messages import check_keywords, count_of, few
from musclesolve.constants import RIGID
from musclesolve.errors import input_error
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.models.opensim.actuators import RESTING
from musclesolve.models.opensim.coordinate_motion import Source, as_table
from musclesolve.models.opensim.foreign_solution import (
    CEINMS,
    CMC,
    MOCO,
    OPENSIM,
    ROOT,
    ForeignSolution,
    read_foreign_solution,
)
from musclesolve.models.opensim.model import Actuator, OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.models.opensim.opensim_problem import sharing_body
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.models.opensim.solution_defects import Defect, solution_defects
from musclesolve.models.settings import OpenSimSettings, model_arguments
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

SQUARED_ACTIVATION = "activation_power"
"""The cost unless another one is named: the sum of squared activations, as of OpenSim's static optimization."""
STRENGTHS = TENDON, FIBER = "tendon", "fiber"
"""A muscle's largest active force: at the tendon, or along its fibers without the cosine of pennation."""
OUT_OF_BOUNDS = 1e-3
"""Activation beyond a bound that counts as a violation; solvers of other programs stop within less."""
_LISTED = 5
"""Most muscles out of bounds that get a sentence of their own."""
_SAME = 1e-4
"""Share of the least cost below which an excess is called none."""
_WITH_COSINE = "Thelen2003Muscle"
"""The kind of muscle whose strength contains the cosine of pennation in OpenSim's static optimization."""
_NEAR = 1e-5
"""Round-off of printed times [s]."""
_OWN = ("cost", "quantity", "strength", "reserve_strength", "side")
"""Keywords of `verify_solution` besides those of the model."""
_FEW = 0.1
"""Share of the rows of a table within the motion below which its times are called into question."""
_MISSED, _LEAST_MISSED = 0.1, 1.0
"""Share of the largest due moment of a coordinate, and size [N m; N], beyond which missed moments call the table into
question: inverse dynamics of two programs differs by about 1 N m.
"""


@dataclass(frozen=True, eq=False, repr=False)
class VerifiedSolution:
    """A table of another program in the problem of a model: T frames, n muscles, m coordinates.

    time (T,) [s]; force, activation (T, n) [N, 1] of the table; force_capacity (T, n) [N]: strength at the state of the
    fibers, which an activation of 1 exerts; moment_due, moment_of_muscles, reserve (T, m) [N m; N of a
    translation]: due at the joints, produced by the muscles, and exerted by actuators of the table (zero where they
    are not known). problem: of the moments that the activations of the table produce, least: its certified
    solution. problem_due, least_due: of the moments that are due, None where these are not known. compared (T,):
    frames within the bounds, with a certified least cost. rows_outside: rows of the table out of the motion. lower,
    upper (T, n): the bounds. cost_of_table (T,): NaN where it cannot be computed. not_computed: sentences.
    """

    table: ForeignSolution
    body: ModelBody
    cost: Cost
    time: Array
    force: Array
    activation: Array
    force_capacity: Array
    moment_due: Array | None
    moment_of_muscles: Array
    reserve: Array
    lower: Array
    upper: Array
    problem: Problem | None
    least: Solution | None
    problem_due: Problem | None
    least_due: Solution | None
    defects: tuple[Defect, ...]
    rows_outside: int
    notes: tuple[str, ...]
    not_computed: tuple[str, ...]

    def __repr__(self) -> str:
        """File and sizes in one line."""
        return f"<VerifiedSolution of {self.table.file.name}: {len(self.time)} frames, {len(self.muscles)} muscles>"

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return self.body.muscles

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the m coordinates."""
        return self.body.dofs

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Unit of the moment of each coordinate."""
        coordinates = self.body.model.coordinates
        return tuple("N m" if coordinates[name].rotational else "N" for name in self.dofs)

    @cached_property
    def missing_moment(self) -> Array | None:
        """The moments (T, m) that are due less the moments of muscles and reserves of the table."""
        return None if self.moment_due is None else self.moment_due - self.moment_of_muscles - self.reserve

    @cached_property
    def has_numbers(self) -> Mask:
        """Frames (T,) in which every muscle has a force or an activation that is a number."""
        return np.asarray(~np.isnan(self.activation).any(axis=1))

    @cached_property
    def within_bounds(self) -> Mask:
        """Frames (T,) whose activations are known and within the bounds, to OUT_OF_BOUNDS."""
        a = self.activation
        inside = (a >= self.lower - OUT_OF_BOUNDS) & (a <= self.upper + OUT_OF_BOUNDS)
        return np.asarray(inside.all(axis=1))

    @cached_property
    def compared(self) -> Mask:
        """Frames (T,) in which the cost of the table stands beside a certified least cost."""
        if self.least is None:
            return np.zeros(len(self.time), bool)
        return np.asarray(self.within_bounds & self.least.solved)

    @cached_property
    def cost_of_table(self) -> Array:
        """The cost (T,) of the activations of the table; NaN where it is not compared."""
        if self.problem is None:
            return np.full(len(self.time), np.nan)
        value = self.cost.value(self.problem, _held(self.problem, self.activation))
        return np.where(self.compared, value, np.nan)

    @cached_property
    def least_cost(self) -> Array:
        """The certified least cost (T,) of the moments that the table's activations produce; NaN where not compared."""
        if self.least is None:
            return np.full(len(self.time), np.nan)
        return np.where(self.compared, self.least.cost, np.nan)

    @property
    def excess(self) -> Array:
        """Cost of the table over the least cost less 1, (T,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.cost_of_table / self.least_cost - 1.0

    @cached_property
    def force_difference(self) -> Array:
        """Forces (T, n) of the table less the forces of least cost [N]; NaN where not compared."""
        if self.least is None or self.problem is None:
            return np.full(self.force.shape, np.nan)
        difference = self.problem.force_capacity * (self.activation - self.least.activation)
        return np.where(self.compared[:, None], difference, np.nan)

    @cached_property
    def deciding(self) -> Mask:
        """Mask (T, n) of upper bounds that make the least cost higher: their multiplier is not zero."""
        if self.least is None or self.problem is None:
            return np.zeros(self.activation.shape, bool)
        a = np.where(self.compared[:, None], self.least.activation, 0.0)
        pull = self.problem.pull(np.where(self.compared[:, None], self.least.multiplier, 0.0))
        short = self.cost.gradient(self.problem, a) < pull * (1.0 - _SAME)
        return np.asarray((a >= self.problem.upper) & short & self.compared[:, None])

    @property
    def complete(self) -> bool:
        """Whether every frame within the bounds has a certified least cost."""
        return self.least is None or bool(self.compared[self.within_bounds].all())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that was found, as numbers and names for a JSON document."""
        return {
            "file": self.table.file,
            "program": self.table.program,
            "muscles": len(self.muscles),
            "frames": len(self.time),
            "time_s": [float(self.time[0]), float(self.time[-1])],
            "moments": self._moments(),
            "actuators": self._actuators(),
            "bounds": self._bounds(),
            "cost": self._cost(),
            "defects": [asdict(defect) for defect in self.defects],
            "notes": list(self.notes),
            "not_computed": list(self.not_computed),
        }

    def _moments(self) -> list[dict[str, Any]]:
        missing = self.missing_moment
        if missing is None or self.moment_due is None:
            return []
        rows = []
        for k, name in enumerate(self.dofs):
            known = np.isfinite(missing[:, k])
            if not known.any():
                continue
            at = int(np.nanargmax(np.abs(missing[:, k])))
            rows.append(
                {
                    "dof": name,
                    "unit": self.units[k],
                    "missing_rms": _rms(missing[known, k]),
                    "missing_most": float(missing[at, k]),
                    "time_s": float(self.time[at]),
                    "due_most": float(np.nanmax(np.abs(self.moment_due[:, k]))),
                    "reserve_rms": _rms(self.reserve[known, k]),
                    "reserve_most": float(np.abs(self.reserve[known, k]).max()),
                }
            )
        return rows

    def _actuators(self) -> list[dict[str, Any]]:
        """Actuators of the table that are no reserve of a shared coordinate, where it states them in newtons."""
        rows, times = [], self.table.time
        of_frames = (times >= self.time[0] - _NEAR) & (times <= self.time[-1] + _NEAR)
        for name, values in self.table.actuator.items():
            known = of_frames & np.isfinite(values)
            shared = self.table.coordinate_of.get(name, "") in self.dofs
            if self.table.in_newtons and not shared and known.any():
                at = int(np.where(known, np.abs(values), -1.0).argmax())
                rows.append(
                    {
                        "name": name,
                        "most": float(values[at]),
                        "unit": self._unit_of(name),
                        "time_s": float(times[at]),
                    }
                )
        return rows

    def _unit_of(self, actuator: str) -> str:
        """N or N m, by the coordinate of an actuator or by its name; "" if neither shows it."""
        coordinate = self.body.model.coordinates.get(self.table.coordinate_of.get(actuator, ""))
        if coordinate is not None:
            return "N m" if coordinate.rotational else "N"
        return {"F": "N", "M": "N m"}[actuator[0]] if actuator in ROOT else ""

    def _bounds(self) -> dict[str, list[dict[str, Any]]]:
        a, capacity = self.activation, self.force_capacity
        over, under = a - self.upper, self.lower - a
        at_bound = np.abs(over) <= OUT_OF_BOUNDS

        def listed(beyond: Mask, by: Array) -> list[dict[str, Any]]:
            rows = []
            for k in np.flatnonzero(beyond.any(axis=0)):
                at = int(np.where(beyond[:, k], by[:, k], -np.inf).argmax())
                rows.append(
                    {
                        "muscle": self.muscles[k],
                        "frames": int(beyond[:, k].sum()),
                        "activation": float(a[at, k]),
                        "time_s": float(self.time[at]),
                        "active_force_n": float(a[at, k] * capacity[at, k]),
                        "strength_n": float(capacity[at, k]),
                    }
                )
            return sorted(rows, key=lambda row: -abs(row["activation"]))

        return {
            "above": listed(over > OUT_OF_BOUNDS, over),
            "below": listed(under > OUT_OF_BOUNDS, under),
            "at_upper": listed(at_bound, a),
            "deciding": listed(self.deciding, a),
        }

    def _cost(self) -> dict[str, Any] | None:
        if self.least is None or self.problem is None:
            return None
        facts: dict[str, Any] = {
            "name": self.cost.label,
            "formula": self.cost.formula,
            "frames_compared": int(self.compared.sum()),
            "frames_out_of_bounds": int((self.has_numbers & ~self.within_bounds).sum()),
            "frames_without_number": int((~self.has_numbers).sum()),
            "frames_not_certified": int((self.within_bounds & ~self.least.solved).sum()),
        }
        if self.compared.any():
            given, least = float(np.nanmean(self.cost_of_table)), float(np.nanmean(self.least_cost))
            worst = int(np.nanargmax(self.cost_of_table - self.least_cost))
            differing = np.abs(self.force_difference)
            t, i = np.unravel_index(int(np.nanargmax(differing)), differing.shape)
            facts |= {
                "mean": given,
                "least_mean": least,
                "excess": given / least - 1.0 if least > 0.0 else 0.0 if given == least else np.inf,
                "worst_excess": float(np.nan_to_num(self.excess[worst])),
                "worst_time_s": float(self.time[worst]),
                "largest_gap": float(self.least.gap[self.compared].max()),
                "difference": {
                    "muscle": self.muscles[i],
                    "force_n": float(self.force_difference[t, i]),
                    "time_s": float(self.time[t]),
                },
            }
        due = self.least_due
        if due is not None:
            both = self.compared & due.solved
            facts |= {
                "due_frames": int(both.sum()),
                "due_infeasible": int((due.status == Status.INFEASIBLE).sum()),
                "due_least_mean": float(due.cost[both].mean()) if both.any() else None,
                "due_table_mean": float(self.cost_of_table[both].mean()) if both.any() else None,
            }
        return facts

    @cached_property
    def sentences(self) -> dict[str, list[str]]:
        """The findings in words, by subject."""
        return {
            "solution": self._of_table(),
            "moments": self._of_moments(),
            "actuators": self._of_actuators(),
            "bounds": self._of_bounds(),
            "cost": self._of_cost(),
            "defects": self._of_defects(),
            "not computed": list(self.not_computed),
            "notes": list(self.notes),
        }

    def _doubt(self) -> list[str]:
        """A sentence where the table seems to be of another model, motion or unit; else nothing."""
        model = self.body.model
        of_model = {*model.muscles, *model.coordinates}  # as in /forceset/soleus_r/fiber_length
        matched = len(self.table.muscles)
        lacking = sum(of_model.isdisjoint(re.split(r"[/|.]", column)) for column in self.table.left_out)
        if matched < lacking:
            return [
                f"only {matched} of {matched + lacking} columns are muscles of the model: check that the table is of "
                "this model"
            ]
        all_rows = len(self.table.time)
        if (within := all_rows - self.rows_outside) < _FEW * all_rows:
            return [
                f"only {within} of {all_rows} rows of the table lie within the motion: check that the times of both "
                "are in seconds, and of one trial"
            ]
        if not np.nan_to_num(self.activation).any():
            return ["the muscles of the table exert no force in any frame: it holds no solution"]
        rows = [row for row in self.facts["moments"] if abs(row["missing_most"]) > _LEAST_MISSED]
        missed = [abs(row["missing_most"]) / max(row["due_most"], _LEAST_MISSED) for row in rows]
        if max(missed, default=0.0) > _MISSED:
            row = rows[int(np.argmax(missed))]
            unit, at_most = row["unit"], abs(row["missing_most"])
            cutoff = self.body.motion.cutoff_hz
            filtered = "not filtered" if cutoff is None else f"filtered at {cutoff:g} Hz"
            return [
                f"at {row['dof']} muscles and reserves miss up to {at_most:.3g} {unit} of a moment up to "
                f"{row['due_most']:.3g} {unit}: check that table, model and motion belong together, the "
                f"cut-off of the other program (--cutoff-hz; the coordinates are {filtered}), and what the columns are "
                "(--quantity). Until then an excess of the cost says nothing about the optimizer"
            ]
        return []

    def _of_table(self) -> list[str]:
        stated = (
            "forces"
            if self.table.force
            else "tendon forces"
            if self.table.normalized_force
            else "activations"
        )
        return [
            f"{self.table.file.name}: {stated} of {len(self.muscles)} muscles in {count_of(len(self.time), 'frame')}, "
            f"{self.time[0]:.4g} to {self.time[-1]:.4g} s, read as of {self.table.program}",
            *self._doubt(),
        ]

    def _of_moments(self) -> list[str]:
        rows, found = self.facts["moments"], []
        for row in sorted(rows, key=lambda row: -abs(row["missing_most"])):
            unit, most = row["unit"], row["reserve_most"]
            of_reserves = f"; reserves up to {most:.3g} {unit}" if most > 0.0 else ""
            found.append(
                f"{row['dof']}: muscles{' and reserves' * (most > 0.0)} miss "
                f"{abs(row['missing_most']):.3g} {unit} at most, at {row['time_s']:.4g} s ("
                f"{row['missing_rms']:.3g} {unit} rms), of a moment up to {row['due_most']:.3g} "
                f"{unit}{of_reserves}"
            )
        return found

    def _of_actuators(self) -> list[str]:
        rows = self.facts["actuators"]
        named = [
            f"{row['name']} {abs(row['most']):.3g} {row['unit']} at {row['time_s']:.4g} s" for row in rows
        ]
        return [
            f"other actuators of the table, which serve no joint that is compared here, reach {few(named, 8)}"
        ] * bool(rows)

    def _of_bounds(self) -> list[str]:
        found, facts = [], self.facts["bounds"]
        if self.table.elastic and not self.table.activation:
            return []
        for key, words in (("above", "more than it can"), ("below", "less than its least activation allows")):
            for row in facts[key][:_LISTED]:
                found.append(
                    f"{row['muscle']} exerts {words} in {count_of(row['frames'], 'frame')}: "
                    f"{row['active_force_n']:.4g} N at {row['time_s']:.4g} s, where its strength is "
                    f"{row['strength_n']:.4g} N (activation {row['activation']:.3g})"
                )
            if more := facts[key][_LISTED:]:
                found.append(f"likewise {few([row['muscle'] for row in more], 8)}")
        for key, words in (
            ("at_upper", f"at the upper bound of its activation, to {OUT_OF_BOUNDS:g}"),
            ("deciding", "a higher bound would make the least cost lower"),
        ):
            named = [f"{row['muscle']} ({count_of(row['frames'], 'frame')})" for row in facts[key]]
            if named:
                found.append(f"{words}: {few(named, 8)}")
        return found or ["all activations are within their bounds, and none is at its upper bound"]

    def _of_cost(self) -> list[str]:
        facts = self.facts["cost"]
        if facts is None:
            return []
        frames, found = facts["frames_compared"], []
        if frames:
            same = facts["excess"] < _SAME and facts["worst_excess"] < _SAME
            where = (
                f"{_percent(facts['worst_excess'])} in the frame of the largest excess, at "
                f"{facts['worst_time_s']:.4g} s"
            )
            found = [
                f"{facts['formula']} ({facts['name']}) of the table is {facts['mean']:.6g}, the mean over "
                f"{count_of(frames, 'frame')}; the proved least of the same moments is {facts['least_mean']:.6g} "
                f"(largest gap {facts['largest_gap']:.1e}): "
                + (
                    f"the table is the least cost, to {100.0 * _SAME:g} %"
                    if same
                    else f"the table is {_percent(facts['excess'])} above the least cost, {where}"
                )
            ]
            by = facts["difference"]
            if by["force_n"]:
                found.append(
                    f"the largest difference of a force is in {by['muscle']}, {abs(by['force_n']):.3g} N "
                    f"{'more' if by['force_n'] > 0.0 else 'less'} than at the least cost, at {by['time_s']:.4g} s"
                )
        if out := facts["frames_out_of_bounds"]:
            found.append(
                f"not compared, because activations are out of their bounds: {count_of(out, 'frame')}"
            )
        if unknown := facts["frames_without_number"]:
            lacking = np.array(self.muscles)[np.isnan(self.activation).any(axis=0)]
            found.append(
                f"not compared, because there is no number for the activation of {few(lacking, 4)}: "
                f"{count_of(unknown, 'frame')}"
            )
        if lost := facts["frames_not_certified"]:
            found.append(f"not compared, because no least cost is certified: {count_of(lost, 'frame')}")
        if facts.get("due_frames"):
            found.append(
                f"the moments that are due, without reserves, cost {facts['due_least_mean']:.6g} at least, the mean "
                f"over {count_of(facts['due_frames'], 'frame')}; the table {facts['due_table_mean']:.6g}"
            )
        if beyond := facts.get("due_infeasible"):
            found.append(
                f"no activations within the bounds produce the moments that are due in {count_of(beyond, 'frame')}, "
                "which is proved: reserves are needed there"
            )
        return found

    def _of_defects(self) -> list[str]:
        found = []
        for kind, words in (
            ("position", "the slope of the position"),
            ("activation", "the slope of the activation"),
        ):
            defects = [defect for defect in self.defects if defect.kind == kind]
            if not defects:
                continue
            node = max(defects, key=lambda defect: defect.at_node)
            middle = max(defects, key=lambda defect: defect.at_middle)
            rule = "from the speed" if kind == "position" else "from activation dynamics"
            found.append(
                f"{words} differs {rule} by {node.at_node:.3g} {node.unit} at most at a node ({node.name}, "
                f"{node.node_s:.4g} s) and by {middle.at_middle:.3g} {middle.unit} in the middle of an interval "
                f"({middle.name}, {middle.middle_s:.4g} s), over {len(defects)} states; "
                f"{middle.name} changes by {middle.largest_rate:.3g} {middle.unit} at most"
            )
        return found

    def columns(self) -> dict[str, Array]:
        """Columns (T,) over the frames for a table: moments, costs, the muscle that differs most."""
        columns: dict[str, Array] = {"time_s": self.time}
        for k, (name, unit) in enumerate(zip(self.dofs, self.units, strict=True)):
            ending = unit.replace(" ", "").lower()
            if self.moment_due is not None and self.missing_moment is not None:
                columns[f"{name}_due_{ending}"] = self.moment_due[:, k]
                columns[f"{name}_missing_{ending}"] = self.missing_moment[:, k]
            columns[f"{name}_muscles_{ending}"] = self.moment_of_muscles[:, k]
            columns[f"{name}_reserve_{ending}"] = self.reserve[:, k]
        if self.least is not None:
            columns |= {"cost": self.cost_of_table, "least_cost": self.least_cost, "excess": self.excess}
            columns["gap"] = np.where(self.compared, self.least.gap, np.nan)
            columns |= {
                f"{name}_difference_n": values
                for name, values in zip(self.muscles, self.force_difference.T, strict=True)
            }
        return columns


def verify_solution(
    solution: str | Path,
    model: OpenSimModel | str | Path,
    coordinates: Source | None = None,
    moments: Source | None = None,
    cost: str | Cost = SQUARED_ACTIVATION,
    quantity: str | None = None,
    strength: str | None = None,
    reserve_strength: float | None = None,
    side: str = "both",
    **choices: Any,
) -> VerifiedSolution:
    """Compare a table of muscle forces or activations of another program with the certified optimum of its problem.

    Args:
        solution: the path of a .sto, .mot or .csv table: of static optimization or Moco of OpenSim, or of any program
            with a column for each muscle of the model (foreign_solution.py).
        model, coordinates, moments, side, choices: see `opensim_problem`. Without coordinates the table must have them,
            as a solution of Moco has; they are then not filtered. Without moments and loads the moments that are due
            are left out. Unless stated, a solution of Moco has the passive forces of the model, others have none; the
            least activation of each muscle is its least control in the model, or of the table where this is lower.
        cost: a name or a Cost that the solution is measured by.
        quantity: "forces" or "activations" of plain muscle columns; None: by their size.
        strength: "tendon" or "fiber": whether the active force of a muscle at activation 1 contains the cosine of
            pennation. None: "tendon"; of OpenSim's static optimization "fiber", except of a Thelen2003Muscle.
        reserve_strength: the moment of a reserve at control 1 [N m], for tables with controls of reserves.

    Returns:
        Arrays over the frames, `facts` for programs, `sentences` for people. Frames are the frames of the coordinates
        that are nearest to the times of the table, whose values are interpolated linearly to them.

    Raises:
        InputError: see `opensim_problem`; no column is a muscle of the model; no common time; elastic tendons.
    """
    check_keywords(choices, (*model_arguments(OpenSimSettings), "loads", *_OWN), "verify_solution()")
    model = model if isinstance(model, OpenSimModel) else read_osim(model)
    if not isinstance(solution, str | PathLike):
        raise input_error(
            "bad_type",
            where="verify_solution(solution=...)",
            problem=f"the solution is of type {type(solution).__name__}",
            expected="the path of a table (.sto, .mot or .csv)",
            remedy="write the numbers into a table first: ms.export of a result, or pandas' to_csv",
        )
    table = read_foreign_solution(solution, model, quantity)
    if strength is not None:
        check_choice(strength, "strength", STRENGTHS)
    if reserve_strength is not None:
        check_number(reserve_strength, "reserve_strength", "a positive moment [N m]", above=0.0)
    notes, not_computed = list(table.notes), list[str]()
    body = _body_of(table, model, coordinates, moments, cost, side, choices, not_computed)
    defects = solution_defects(table, model)
    rows, times_of_table, rows_outside = _frames(table, body.time, notes)
    table = replace(table, time=times_of_table)
    time, state = body.time[rows], body.whole.state.frames(rows)
    capacity = _strengths(table, body, state.force_capacity, state.fiber_force_capacity, strength, notes)
    force, activation = _forces(table, body, time, capacity, state.passive_force)
    arm = state.moment_arm[:, body.whole.rows]
    produced = (arm @ force[:, :, None])[:, :, 0]
    due, usable = None, body.whole.usable[rows]
    if _has_moments(moments, choices):
        due = np.where(usable[:, None], body.whole.shared_moment[rows], np.nan)
        if not usable.all():
            not_computed.append(
                f"Moments that are missed in {count_of(int((~usable).sum()), 'frame')}: loads do not balance the "
                "motion there, or coordinates have no value."
            )
    reserve = _reserves(table, body, time, reserve_strength, model.actuators, not_computed)
    of_bounds = list[str]() if table.elastic and not table.activation else notes
    lower, upper = _bounds(body, activation, choices.get("least_activation"), of_bounds)
    problem = least = problem_due = least_due = None
    if table.elastic:
        not_computed.append(
            "The cost is not compared, nor activations that follow from forces: tendons of the table are elastic, and "
            "it lacks the strengths at the state of their fibers."
        )
    else:
        whole = sharing_problem(body.whole, body.sharing).frames(rows)
        near = np.clip(activation, lower - OUT_OF_BOUNDS, upper + OUT_OF_BOUNDS)
        near = np.where(np.isnan(activation), lower, near)
        arrays = {
            "force_capacity": capacity,
            "lower": np.minimum(lower, np.maximum(near, 0.0)),
            "upper": np.maximum(upper, near),
        }
        problem = problem_due = whole.with_arrays(**arrays)
        inside = np.all(np.abs(activation - near) == 0.0, axis=1, keepdims=True)
        own = np.where(inside, problem.produced(_held(problem, activation)), np.nan)
        problem = problem.with_arrays(moment=own)
        least = solve(problem, body.sharing.cost, body.sharing.solver)
        if due is not None:
            least_due = solve(problem_due, body.sharing.cost, body.sharing.solver)
    if (table.fiber_states or table.states_elastic) and table.activation and not table.force:
        not_computed.append(
            "Moments of elastic tendons: the table has their activations, and no forces. The moments above are moments "
            "of rigid tendons."
        )
    if table.program == MOCO:
        notes.append(
            "Moco minimizes its goals over the whole motion, under activation dynamics where the model has them: an "
            "excess of single frames contains what they demand."
        )
    return VerifiedSolution(
        table=table,
        body=body,
        cost=body.sharing.cost,
        time=time,
        force=force,
        activation=activation,
        force_capacity=capacity,
        moment_due=due,
        moment_of_muscles=produced,
        reserve=reserve,
        lower=lower,
        upper=upper,
        problem=problem,
        least=least,
        problem_due=None if due is None else problem_due,
        least_due=least_due,
        defects=tuple(defects),
        rows_outside=rows_outside,
        notes=(*notes, *_other_than_of(table, model, body.notes)),
        not_computed=tuple(not_computed),
    )


def _held(problem: Problem, activation: Array) -> Array:
    """Activations (T, n) within the bounds of a problem."""
    return np.clip(activation, problem.lower, problem.upper)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %"


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _has_moments(moments: Source | None, choices: Mapping[str, Any]) -> bool:
    return moments is not None or choices.get("loads") is not None


def _body_of(
    table: ForeignSolution,
    model: OpenSimModel,
    coordinates: Source | None,
    moments: Source | None,
    cost: str | Cost,
    side: str,
    choices: Mapping[str, Any],
    not_computed: list[str],
) -> ModelBody:
    """The body of the muscles in the table, along the coordinates; moments are zero where none are given."""
    stated = dict(choices)
    if stated.get("actuators"):
        raise input_error(
            "conflict",
            where="actuators",
            problem="actuators beside the muscles, of a table that is verified",
            expected="the actuators of the table, which are compared as they are",
            remedy="leave the actuators out",
        )
    if coordinates is None:
        if not table.value:
            raise input_error(
                "missing_argument",
                where="coordinates",
                problem=f"{table.file.name} has no coordinates, and none are given",
                expected="the coordinates of the motion (--coordinates ik.mot)",
            )
        coordinates = table.file
        stated.setdefault("cutoff_hz", "none")
    stated.setdefault("passive", "table" if table.program in (MOCO, CMC, CEINMS) else "none")
    if stated.get("tendon", RIGID) != RIGID:
        raise input_error("models.problem_single_frames", where="tendon", tendon=stated["tendon"])
    if stated.get("muscles") is None:
        stated["muscles"] = [
            name
            for name in table.muscles
            if name not in (stated.get("without_muscles") or ()) and model.muscles[name].enabled
        ]
        lacking = [name for name, one in model.muscles.items() if one.enabled and name not in table.muscles]
        if lacking:
            not_computed.append(
                f"Muscles of the model without a column in the table are left out: {few(lacking, 8)}."
            )
    if not _has_moments(moments, stated):
        not_computed.append(
            "Moments that are missed: neither moments nor loads are given, so the moments that are due are not known."
        )
        times = as_table(coordinates, "coordinates").time
        moments = {"time": times, **{name: np.zeros(len(times)) for name in model.coordinates}}
    settings = model_settings(**stated)
    return sharing_body(model, coordinates, moments, settings, find_cost(cost), None, side)


def _frames(table: ForeignSolution, time: Array, notes: list[str]) -> tuple[Indices, Array, int]:
    """Numbers of the frames nearest to the times of a table, its times [s] without round-off, and its rows outside.

    Times up to half a sample outside of the frames, or of the table, are within: printed times are evened.
    """
    steps = [np.diff(times).min() for times in (time, table.time) if len(times) > 1]
    near = max(0.5 * float(min(steps, default=0.0)), _NEAR)
    inside = time[(time >= table.time[0] - near) & (time <= table.time[-1] + near)]
    if not inside.size:
        raise input_error(
            "no_overlap",
            file=table.file,
            problem=f"its times are {table.time[0]:g} to {table.time[-1]:g} s, the times of the frames {time[0]:g} to "
            f"{time[-1]:g} s",
            expected="a table and a motion of the same trial",
        )
    first = int(np.searchsorted(time, inside[0]))
    after = np.clip(np.searchsorted(inside, table.time), 1, max(len(inside) - 1, 1))
    before = inside[after - 1]
    later = inside[np.minimum(after, len(inside) - 1)]
    nearest = np.where(
        table.time - before <= later - table.time, after - 1, np.minimum(after, len(inside) - 1)
    )
    within = (table.time >= inside[0] - near) & (table.time <= inside[-1] + near)
    if outside := int((~within).sum()):
        notes.append(
            f"Rows of the table outside of the frames, {time[0]:.4g} to {time[-1]:.4g} s, are not compared: {outside}."
        )
    rows = np.unique(nearest[within] if within.any() else nearest)
    same = np.abs(table.time - inside[nearest]) <= _NEAR
    return first + rows, np.where(same, inside[nearest], table.time), outside


def _strengths(
    table: ForeignSolution,
    body: ModelBody,
    tendon: Array,
    fiber: Array,
    strength: str | None,
    notes: list[str],
) -> Array:
    """Active forces (T, n) [N] at activation 1, as the program of a table counts them.

    OpenSim 4.6: `calcInextensibleTendonActiveFiberForce` contains the cosine of pennation in Thelen2003Muscle, and does
    not in Millard2012EquilibriumMuscle and DeGrooteFregly2016Muscle.
    """
    if strength is not None:
        return fiber if strength == FIBER else tendon
    along = np.array([muscle.kind != _WITH_COSINE for muscle in body.choice.muscles])
    if table.program != OPENSIM or not along.any():
        return tendon
    which = "Strengths" if along.all() else f"Strengths of all muscles but the kind {_WITH_COSINE}"
    notes.append(
        f"{which} are along the fibers, without the cosine of pennation, as static optimization of OpenSim counts them "
        "(--strength tendon: with it)."
    )
    return np.where(along, fiber, tendon)


def _forces(
    table: ForeignSolution, body: ModelBody, at: Array, capacity: Array, passive: Array
) -> tuple[Array, Array]:
    """Tendon forces and activations (T, n) of the muscles of a body at some times."""
    force, activation = np.empty(capacity.shape), np.empty(capacity.shape)
    strengths = body.whole.state.parameters.max_isometric_force
    for k, name in enumerate(body.muscles):
        values = {
            kind: np.interp(at, table.time, columns[name])
            for kind in ("force", "normalized_force", "activation")
            if name in (columns := getattr(table, kind))
        }
        if "normalized_force" in values:
            values["force"] = values["normalized_force"] * strengths[k]
        if "force" not in values:
            values["force"] = values["activation"] * capacity[:, k] + passive[:, k]
        if "activation" not in values:
            with np.errstate(divide="ignore", invalid="ignore"):
                values["activation"] = (values["force"] - passive[:, k]) / capacity[:, k]
        force[:, k], activation[:, k] = values["force"], values["activation"]
    return force, activation


def _reserves(
    table: ForeignSolution,
    body: ModelBody,
    at: Array,
    strength: float | None,
    of_model: Mapping[str, Actuator],
    not_computed: list[str],
) -> Array:
    """Moments (T, m) of the actuators of a table at the coordinates of a body [N m].

    Controls are times the optimal force that is stated, or that the model has.
    """
    reserve = np.zeros((len(at), len(body.dofs)))
    own = {name: moved for name, moved in table.coordinate_of.items() if moved in body.dofs}
    unknown = []
    for name, moved in own.items():
        values = np.interp(at, table.time, table.actuator[name])
        optimal = 1.0 if table.in_newtons else strength
        if optimal is None and name in of_model:
            optimal = of_model[name].optimal_force
        if optimal is None:
            unknown.append(name)
        else:
            reserve[:, body.dofs.index(moved)] += optimal * values
    if unknown:
        not_computed.append(
            f"Moments of {few(unknown, 4)}: the table has their controls, and their optimal force is not known "
            "(--reserve-strength)."
        )
    return reserve


def _other_than_of(table: ForeignSolution, model: OpenSimModel, notes: Sequence[str]) -> list[str]:
    """Notes of a body, without the one on actuators that exert no force where the table has them all."""
    has_all = {name for name, each in model.actuators.items() if each.enabled} <= set(table.actuator)
    return [note for note in notes if not (has_all and str(note).startswith(RESTING))]


def _bounds(body: ModelBody, activation: Array, least: float | None, notes: list[str]) -> tuple[Array, Array]:
    """Bounds (T, n) of activations: as stated or of the model, and not above what the table goes down to."""
    controls = np.array([muscle.controls for muscle in body.choice.muscles])
    lower = controls[:, 0] if least is None else np.full(len(controls), float(least))
    lower = np.maximum(lower, 0.0)
    least_of_table = np.where(np.isnan(activation), np.inf, activation).min(axis=0)
    lowest = np.maximum(least_of_table, 0.0)
    below = lowest < lower - OUT_OF_BOUNDS
    if least is None and below.any():
        lower = np.where(below, lowest, lower)
        pulling = below & (least_of_table >= -OUT_OF_BOUNDS)  # a force that pushes is no bound
        named = [
            f"{name} {value:.3g}"
            for name, value in zip(np.array(body.muscles)[pulling], lowest[pulling], strict=True)
        ]
        if named:
            notes.append(
                f"The table goes below the least controls of the model, and is the bound there: {few(named, 6)}."
            )
    shape = activation.shape
    return np.broadcast_to(lower, shape).copy(), np.broadcast_to(controls[:, 1], shape).copy()
