"""Reasons why muscles of chapter 6 are at activation 1 at push-off: one part of the problem is exchanged at a time.

The moments that the muscles share, A C a = M - A F_passive, hold four parts: joint moments M, moment arms A, passive
forces F_passive, and capacities C = F0 f_l f_v cos(a) of the contractile elements (6.9 to 6.13). Each is exchanged for
the part of the package's default muscles on the same frames, or for another reading of what the source leaves open;
what is left of the saturation says which part causes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from scipy.optimize import linprog

import musclesolve as ms
from benchmarks.thesis_figures import drawing
from benchmarks.thesis_figures.comparison import Finding
from benchmarks.thesis_figures.drawing import COLORS, key, plain
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array, Mask
from musclesolve.files import Trial
from musclesolve.forces import prepare_recording
from musclesolve.muscles import MuscleParameters
from musclesolve.muscles.curves.curve_family import Silva2003
from musclesolve.muscles.hill_model import along_fibers
from musclesolve.pipeline.body import SolvedGroup
from musclesolve.pipeline.share import share
from musclesolve.plotting.page.page_style import SMALL
from musclesolve.plotting.page.sheet import heading, page
from musclesolve.settings.trial import MuscleSettings
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.status import Status

FULL = 0.99
"""A muscle is counted as fully active above this activation."""
SOURCE = "configuration of the source"
NEAREST = "(6.10) in its other reading and 20 L0/s"
STRONG = f"{NEAREST}, F0 of the default"
FASTER = 20.0
"""Maximum shortening velocity of the nearest configuration [L0/s]; the source prints none, and 10 is taken (A11)."""
DRAWN = (
    SOURCE,
    "passive forces: none",
    "moment arms: as in the default set",
    NEAREST,
    "capacities: as in the default set",
)
"""Exchanges whose numbers of saturated muscles are drawn."""


@dataclass(frozen=True)
class Outcome:
    """Activations (K, n) over the cycle, frames that needed a reserve (K,) and the largest reserve [N m]."""

    activation: Array
    reserved: Mask
    largest: float

    @property
    def full(self) -> Array:
        """How many muscles are at activation 1, (K,)."""
        return np.asarray((self.activation > FULL).sum(axis=1))

    @property
    def words(self) -> str:
        """Frames with a reserve (largest), muscles at 1: most in a frame, mean of a frame."""
        size = f" ({self.largest:.0f} N m)" if self.reserved.any() else ""
        return f"{int(self.reserved.sum())}{size}; {int(self.full.max())}; {self.full.mean():.1f}"


@dataclass(frozen=True)
class Leg:
    """The right leg with the muscles of the source, and with the default muscles in the same order."""

    source: SolvedGroup
    default: SolvedGroup

    @cached_property
    def order(self) -> list[int]:
        """Number of each muscle of the source among the default ones."""
        names = list(self.default.problem.muscle)
        return [names.index(name) for name in self.source.problem.muscle]

    def problem(
        self,
        moment: float = 1.0,
        arm: bool = False,
        passive: str = "source",
        capacity: Array | None = None,
    ) -> Problem:
        """The problem with moments times a factor, the default's arms, its passive forces ("none"), capacities [N]."""
        own, other = self.source.problem, self.default.problem
        arms = other.moment_arm[:, :, self.order] if arm else own.moment_arm
        force = own.passive_force if passive == "source" else np.zeros_like(own.passive_force)
        along = own.fiber_force_capacity
        if capacity is not None:
            state = self.source.part.state
            along = along_fibers(capacity, state.fiber_length, state.parameters.thickness)
        net = moment * self.source.part.shared_moment - np.einsum("tmn,tn->tm", arms, force)
        return replace(
            own,
            moment_arm=arms,
            passive_force=force,
            moment=np.where(np.isfinite(own.moment), net, np.nan),
            force_capacity=own.force_capacity if capacity is None else capacity,
            fiber_force_capacity=along,
        )

    def capacity(
        self, form: str = "quartic_plus_quadratic", velocity: float | None = None, *, strong: bool = False
    ) -> Array:
        """Capacities (T, n) [N] of the source's fibers with another reading, maximum velocity [L0/s] or F0."""
        parameters: MuscleParameters = self.source.part.state.parameters
        numbers = np.arange(len(parameters.names))
        changed = replace(parameters, families=((Silva2003(form), numbers),))  # type: ignore[arg-type]
        if velocity is not None:
            changed = replace(changed, max_shortening_velocity=np.full(numbers.size, velocity))
        if strong:
            changed = replace(changed, max_isometric_force=self.strength)
        state = self.source.part.state
        return changed.forces(
            changed.fibers(state.musculotendon_length, state.musculotendon_velocity)
        ).capacity

    @property
    def strength(self) -> Array:
        """Maximum isometric forces of the default muscles, (n,) [N]."""
        return self.default.problem.max_isometric_force[self.order]

    def isometric(self) -> Array:
        """Capacities at rest: the force-velocity factor is 1."""
        state = self.source.part.state
        return state.parameters.forces(
            state.parameters.fibers(state.musculotendon_length, np.zeros_like(state.musculotendon_velocity))
        ).capacity


def _right(trial: Trial) -> SolvedGroup:
    (leg,) = share(prepare_recording(trial, side=SIDE)).parts
    return leg


def exchanges(leg: Leg) -> dict[str, Problem]:
    """The problems by what is exchanged, in words; the first belongs to the source."""
    default = leg.default.problem.force_capacity[:, leg.order]
    other = "quartic_minus_quadratic"
    return {
        SOURCE: leg.problem(),
        "moments: 0.8 of them": leg.problem(moment=0.8),
        "moments: half of them": leg.problem(moment=0.5),
        "passive forces: none": leg.problem(passive="none"),
        "moment arms: as in the default set": leg.problem(arm=True),
        "capacities: as in the default set": leg.problem(capacity=default),
        "F0 alone: as in the default set": leg.problem(capacity=leg.capacity(strong=True)),
        "F0 alone: 1.5 times": leg.problem(capacity=1.5 * leg.source.problem.force_capacity),
        "force-velocity factor 1": leg.problem(capacity=leg.isometric()),
        "(6.10) in its other reading (A10)": leg.problem(capacity=leg.capacity(other)),
        f"{FASTER:.0f} L0/s for 10 (A11)": leg.problem(capacity=leg.capacity(velocity=FASTER)),
        NEAREST: leg.problem(capacity=leg.capacity(other, FASTER)),
        STRONG: leg.problem(capacity=leg.capacity(other, FASTER, strong=True)),
    }


def outcome(study: Study, problem: Problem) -> Outcome:
    """The problem solved by the criterion of the source, (6.21)."""
    solution = ms.solve(problem, study.trial.settings.sharing.cost, on_infeasible="reserve")
    reserve = np.abs(study.of_cycle(solution.reserve))
    return Outcome(
        study.of_cycle(solution.activation),
        study.of_cycle(solution.status) == Status.SOLVED_WITH_RESERVE,
        float(np.nanmax(reserve)),
    )


@cache
def legs(study: Study) -> Leg:
    """The right leg of a study with the muscles of the source and with the muscles of a run without choices."""
    return Leg(_right(study.trial), _right(study.trial.with_settings(muscles=MuscleSettings())))


@cache
def outcomes(study: Study) -> Mapping[str, Outcome]:
    """Every exchange, solved."""
    return {name: outcome(study, problem) for name, problem in exchanges(legs(study)).items()}


def saturation(study: Study) -> Finding:
    """Activations of all muscles as an image, and how many are at 1 under some exchanges."""
    leg, found = legs(study), outcomes(study)
    source = found[SOURCE]
    worst = int(source.full.argmax())
    about = xr.Dataset(attrs=study.identity)
    title = "Muscles at full activation, and what causes it"
    figure, axes = page(about, title, 2, 1, height=0.95, labels=True, space={"left": 1.0})
    image, lines = axes[:, 0]
    _image(image, study, leg, source)
    for number, name in enumerate(DRAWN):
        lines.plot(
            study.percent, found[name].full, color=COLORS[number], linewidth=2.0 - 0.25 * number, label=name
        )
    lines.set_ylim(0.0, 1.35 * max(each.full.max() for each in found.values()))
    heading(lines, "Muscles at activation 1, one part of the problem exchanged")
    drawing.over_cycle(lines, study, "muscles at 1")
    key(lines, loc="upper left")
    nearest = next((name for name in (NEAREST, STRONG) if not found[name].reserved.any()), "none of these")
    text = (
        f"{int(source.full.max())} of {source.activation.shape[1]} muscles are at 1 together at "
        f"{study.percent[worst]:.0f} %: {', '.join(_short(leg, source.activation[worst]))}. "
        f"{_lacking(study, leg, worst)} The nearest configuration of the table without a reserve: {nearest}."
    )
    rows = [("exchanged", "frames with a reserve (largest); muscles at 1: most; mean")]
    return Finding(figure, text, (*rows, *((name, each.words) for name, each in found.items())))


def _image(axes: Axes, study: Study, leg: Leg, source: Outcome) -> None:
    names = [name.removesuffix(f"_{SIDE}").replace("_", " ") for name in leg.source.problem.muscle]
    edges = np.interp(np.arange(study.percent.size + 1) - 0.5, np.arange(study.percent.size), study.percent)
    axes.pcolormesh(edges, np.arange(len(names) + 1), source.activation.T, cmap="YlOrRd", vmin=0.0, vmax=1.0)
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=SMALL - 2)
    axes.set(xlim=(0.0, 100.0), ylim=(len(names) + 1.2, 0.0))
    axes.tick_params(labelbottom=False)
    for percent in study.percent[source.reserved]:
        axes.plot(percent, len(names) + 0.6, "^", color="black", markersize=3, clip_on=False)
    heading(axes, "Activation, pale 0 to dark 1; triangles: frames that need a reserve moment")


def _short(leg: Leg, activation: Array) -> list[str]:
    names = leg.source.problem.muscle
    return [
        name.removesuffix(f"_{SIDE}").replace("_", " ")
        for name, value in zip(names, activation, strict=True)
        if value > FULL
    ]


def _lacking(study: Study, leg: Leg, worst: int) -> str:
    """Return the moments that muscles can produce in the worst frame at ankle and hip, and the needed ones."""
    problem, t = leg.source.problem, int(study.cycle.index[worst])
    still = leg.isometric()
    hip_and_knee = [row for row, dof in enumerate(problem.dof) if not dof.startswith("ankle")]
    parts = []
    for dof, sign, held, word in (
        (f"ankle_dorsiflexion_{SIDE}", -1.0, [], "plantar flexion"),
        (f"hip_flexion_{SIDE}", 1.0, hip_and_knee, "hip flexion beside the other moments of hip and knee"),
    ):
        row = problem.dof.index(dof)
        held = [each for each in held if each != row]
        moving, resting = (
            largest(problem, capacity, t, row, sign, held) for capacity in (problem.force_capacity, still)
        )
        parts.append(
            f"{word} of {plain(moving)} N m is possible ({plain(resting)} without force-velocity), "
            f"{plain(sign * problem.moment[t, row])} are needed"
        )
    return "There " + "; ".join(parts) + "."


def largest(problem: Problem, capacity: Array, t: int, row: int, sign: float, held: list[int]) -> float:
    """Largest moment [N m] of a row in a frame, in the direction of a sign, with the moments of the held rows met."""
    matrix = problem.moment_arm[t] * capacity[t]
    equal = {"A_eq": matrix[held], "b_eq": problem.moment[t, held]} if held else {}
    found = linprog(-sign * matrix[row], bounds=(0.0, 1.0), **equal)
    return -float(found.fun) if found.success else float("nan")
