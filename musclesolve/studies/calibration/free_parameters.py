"""Parameters of a person's muscles that are fitted: factors that several muscles share, their priors and bounds.

A factor is free by the word of a user ("gastrocnemius", "ankle_plantarflexors_l", "achilles", "soleus_r", "each",
"all") or because a measurement shows its effect:

    fascicle lengths     optimal fiber and tendon slack length of the measured muscle with its other heads, and, where
                         tendons are elastic, the strain of its tendon (of the Achilles tendon for all that share it)
    EMG                  the strength of the function groups whose muscles have a channel
    strength tests       the strength of the function groups that turn a tested joint

Lengths and strains hold for both legs, unless a word names a side; strength has a factor of each leg.

The optimum of a part of a body with other muscles has derivatives by the logarithms of their numbers. Elastic tendons:
every run of usable frames is a motion (trajectory/), solved from the optimum of the previous muscles, with reserves
that act only where muscles lack moments. Rigid tendons: frame by frame (sharing/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import unknown_name
from musclesolve._util.sides import OTHER, SIDES, side_of, split_side, with_side
from musclesolve.errors import input_error
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.path_point_derivatives import MuscleChange, muscle_change
from musclesolve.muscles.strength import ACHILLES, achilles_muscles
from musclesolve.opensim.muscle_set import long_name
from musclesolve.pipeline.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.pipeline.share import motion_problem, share_part
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.studies.force_sensitivity import IN_PROBLEM, problem_change
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, MotionCost, MotionProblem
from musclesolve.trajectory.optimum_derivatives import OptimumChange, OptimumDerivatives, with_parameters
from musclesolve.trajectory.solve_motion import static_start

STRENGTH, FIBER, SLACK, STRAIN = QUANTITIES
NAMES = {"strength": STRENGTH} | {name: name for name in QUANTITIES}
"""Word of a user for a quantity -> its name."""
ALL, EACH, GROUPS = "all", "each", "groups"
DELAY, SHAPE = "emg_delay", "emg_shape"
OF_EMG = (DELAY, SHAPE)
"""Numbers of EMG that are free on request; the gain of every channel is free in any case."""


@dataclass(frozen=True)
class Factor:
    """The logarithm of a factor that some muscles share: normal around zero, within bounds.

    name: in results; quantity: one of `QUANTITIES`; muscles: names with side; around: the value of the quantity around
    which it is normal instead, where that was measured in people.
    """

    name: str
    quantity: str
    muscles: tuple[str, ...]
    prior_sd: float
    lower: float
    upper: float
    around: float | None = None

    def on(self, names: Sequence[str]) -> Array:
        """The direction (4, n) of the logarithms of `QUANTITIES` of n muscles by name."""
        direction = np.zeros((len(QUANTITIES), len(names)))
        direction[QUANTITIES.index(self.quantity)] = np.isin(names, self.muscles)
        return direction


@dataclass(frozen=True)
class Measured:
    """The measured muscles, by fascicles, EMG and strength; and whether tendons are elastic."""

    fascicles: tuple[str, ...]
    emg: tuple[str, ...]
    strength: tuple[str, ...]
    elastic: bool


@dataclass(frozen=True)
class Anatomy:
    """Anatomy of n muscles: their units (heads of one muscle), function groups, and the muscles that pull at the
    Achilles tendon.

    words: word without side -> names with side, of one leg or both.
    """

    names: tuple[str, ...]
    unit: Mapping[str, str]
    group: Mapping[str, str]
    achilles: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Anatomy:
        """The anatomy of muscles by their names in a set or a model, with side."""
        units = bundled_toml(__package__, "priors.toml")["units"]
        owner = {head: unit for unit, heads in units.items() for head in heads}
        unit, group, words = {}, {}, dict[str, list[str]]()
        achilles = tuple(names[k] for k in achilles_muscles([(name,) for name in names]))
        for name in names:
            stem, _ = split_side(name)
            long, of_function, _ = long_name(stem)
            unit[name], group[name] = owner.get(long, long), of_function
            for word in dict.fromkeys((stem, long, unit[name], of_function)):
                words.setdefault(word, []).append(name)
        if achilles:
            words[ACHILLES] = list(achilles)
        return cls(tuple(names), unit, group, achilles, {word: tuple(each) for word, each in words.items()})

    def meant(self, word: str, quantity: str) -> dict[str, tuple[str, ...]]:
        """The muscles of each factor that a word means, by the name of the factor."""
        if word in (EACH, GROUPS):
            words = dict.fromkeys((self.unit if word == EACH else self.group).values())
            return {name: of for each in words for name, of in self.meant(each, quantity).items()}
        stem, side = split_side(word)
        known = {ALL: self.names, **self.words}
        muscles = known.get(word, ()) or tuple(name for name in known.get(stem, ()) if side_of(name) == side)
        if not muscles:
            likely = [*known, *(with_side(each, s) for each in self.words for s in SIDES)]
            raise unknown_name(word, "muscle, unit or group", likely, " of these trials", where=quantity)
        sides = dict.fromkeys(side_of(name) for name in muscles)
        if side != OTHER or quantity != STRENGTH or len(sides) == 1:
            alone = len(sides) == 1 and side == OTHER and OTHER not in sides
            return {with_side(word, next(iter(sides))) if alone else word: muscles}
        return {with_side(word, each): tuple(x for x in muscles if side_of(x) == each) for each in sides}


def usual_words(anatomy: Anatomy, measured: Measured) -> dict[str, list[str]]:
    """Return the parameters that are free by default, words by quantity (module docstring)."""
    words: dict[str, dict[str, None]] = {quantity: {} for quantity in QUANTITIES}
    for name in measured.fascicles:
        words[FIBER][anatomy.unit[name]] = words[SLACK][anatomy.unit[name]] = None
        if measured.elastic:
            words[STRAIN][ACHILLES if name in anatomy.achilles else anatomy.unit[name]] = None
    for name in (*measured.emg, *measured.strength):
        words[STRENGTH][anatomy.group[name]] = None
    return {quantity: list(names) for quantity, names in words.items() if names}


def free_factors(
    names: Sequence[str],
    measured: Measured,
    free: Mapping[str, Iterable[str]] | None = None,
    fixed: Mapping[str, Iterable[str]] | None = None,
) -> tuple[Factor, ...]:
    """The factors that are fitted.

    Args:
        names: of all muscles, with side.
        measured: the measured curves.
        free: quantity ("strength", "optimal_fiber_length", "tendon_slack_length", "tendon_strain") -> words; None:
            what was measured decides.
        fixed: quantity -> words that are not free though something was measured; no words: none of the quantity.
    """
    anatomy = Anatomy.from_names(names)
    chosen = usual_words(anatomy, measured) if free is None else _by_quantity(free)
    for quantity, words in chosen.items():
        if not words:  # the usual parts of a quantity
            words.append({STRENGTH: GROUPS, STRAIN: ALL}.get(quantity, EACH))
    held = _by_quantity(fixed or {})
    for quantity, words in held.items():
        both = set(words) & set(chosen.get(quantity, ())) if free is not None else set()
        if both or (free is not None and not words and chosen.get(quantity)):
            raise input_error(
                "conflict",
                where="free",
                problem=f"{quantity} of {', '.join(sorted(both)) or 'all muscles'} is free and fixed",
                expected="each parameter free or fixed",
                remedy="leave out one of the two",
            )
    if STRAIN in chosen and not measured.elastic:
        raise input_error(
            "conflict",
            where="free",
            problem="the strain of tendons is free, and tendons are rigid",
            expected="tendon strains of elastic tendons only",
            remedy='write tendon = "elastic" in [muscles] of the trials, or leave tendon_strain out',
        )
    factors: dict[tuple[str, tuple[str, ...]], Factor] = {}
    for quantity in QUANTITIES:
        taken, prior = held.get(quantity), bundled_toml(__package__, "priors.toml").get(quantity, {})
        groups = (muscles for word in taken or () for muscles in anatomy.meant(word, quantity).values())
        fixed_muscles = {name for muscles in groups for name in muscles}
        for word in chosen.get(quantity, ()) if taken is None or taken else ():
            for name, meant in anatomy.meant(word, quantity).items():
                if muscles := tuple(each for each in meant if each not in fixed_muscles):
                    units = {anatomy.unit[muscle] for muscle in muscles}
                    sd = max(prior.get("spread", {}).get(unit, prior["sd"]) for unit in units)
                    achilles = set(muscles) <= set(anatomy.achilles)
                    around = prior.get("measured", {}).get(ACHILLES) if achilles else None
                    numbers = float(sd), *np.log(prior["bounds"]).tolist(), around
                    factor = Factor(f"{quantity} of {name}", quantity, muscles, *numbers)
                    factors.setdefault((quantity, muscles), factor)
    if not factors:
        raise input_error(
            "missing_argument",
            where="trials",
            problem="there is nothing to calibrate: no parameter of a muscle is free",
            expected="EMG ([emg]), fascicle lengths ([fascicle]) or strength tests, or parameters that are said free",
            remedy="add what was measured to the trial files, or say what is free, as --free strength=groups",
        )
    return tuple(factors.values())


def _by_quantity(words: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Words by the names of quantities."""
    found: dict[str, list[str]] = {}
    for name, names in words.items():
        if name not in NAMES:
            raise unknown_name(name, "parameter of muscles", [*NAMES, *OF_EMG], where="free")
        found.setdefault(NAMES[name], []).extend([names] if isinstance(names, str) else names)
    return found


def stated_words(stated: Iterable[str]) -> dict[str, list[str]]:
    """Words by quantity from texts such as "strength=groups,soleus" or "emg_delay"."""
    words: dict[str, list[str]] = {}
    for text in stated:
        quantity, _, listed = text.partition("=")
        if quantity not in (*NAMES, *OF_EMG):
            raise unknown_name(quantity, "parameter of muscles", [*NAMES, *OF_EMG], where=text)
        words.setdefault(quantity, []).extend(word.strip() for word in listed.split(",") if word.strip())
    return words


WEIGHTS = 1e3, 1.0
"""Weights of reserves over the usual one: the first with which a motion is solved."""
GOOD, ENOUGH = 1e-6, 1e-4
"""Certificates: the one at which a motion is not refined, and the one with which it counts."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Activation and fiber_length [m] (T, n), reserve [N m] (T, m); NaN in frames that were not solved.

    along: gives the derivatives along directions (K, 4, n) of the logarithms of `QUANTITIES`.
    """

    activation: Array
    fiber_length: Array
    reserve: Array
    along: Callable[[Array], OptimumChange]


def _along_runs(
    arrays: Sequence[Array], runs: Sequence[tuple[slice, OptimumDerivatives]], directions: Array
) -> OptimumChange:
    """The derivatives of the arrays of a part with elastic tendons, as `Optimum.along`; NaN between its runs."""
    whole = [np.full((len(directions), *array.shape), np.nan) for array in arrays]
    for run, derivatives in runs:
        for array, change in zip(whole, vars(derivatives.along(directions)).values(), strict=True):
            array[:, run] = change
    return OptimumChange(*whole)


def _along_frames(shared: SolvedGroup, cost: Cost, directions: Array) -> OptimumChange:
    """The derivatives of a part with rigid tendons, as `Optimum.along`."""
    derivatives, found = solution_derivatives(shared.problem, cost, shared.solution), []
    for direction in directions:
        factors = {
            name: by for name, by in zip(QUANTITIES, direction, strict=True) if name != "tendon_strain"
        }
        moved = {name: getattr(shared.state.parameters, name) * by for name, by in factors.items()}
        change = MuscleChange(*(array[None] for array in vars(muscle_change(shared.state, **moved)).values()))
        of_problem = {f"d_{name}": moved[name][None] for name in IN_PROBLEM}
        along = derivatives.along(**problem_change(shared.problem, shared.state, change), **of_problem)
        found.append((along.activation[0], change.fiber_length[0], along.reserve[0]))
    return OptimumChange(*(np.stack(each) for each in zip(*found, strict=True)))


class PartMuscles:
    """A part of a body with changeable muscle parameters, which keeps its last optimum as the next start.

    Args:
        part: with the muscles of the parent.
        sharing: how its moments are shared.
    """

    def __init__(self, part: SharingGroup, sharing: Sharing) -> None:
        self.part, self.sharing = part if sharing.reads_reactions else replace(part, loads=None), sharing
        self.names = part.state.parameters.names
        self.elastic = sharing.elastic
        self.motions: list[tuple[slice, MotionProblem]] = []
        self.last: dict[int, MotionAttempt] = {}
        self.known: tuple[Array, Optimum] | None = None
        if self.elastic:
            muscles = ElasticMuscles.from_parameters(part.state.parameters)
            for first, stop in true_runs(np.asarray(part.usable & part.measured)):
                if stop - first >= FEWEST_FRAMES:
                    run = slice(first, stop)
                    self.motions.append((run, motion_problem(part, run, muscles, sharing.least_activation)))

    def solve(self, logarithm: Array) -> Optimum | None:
        """The optimum with the logarithms (4, n) of factors on `QUANTITIES`; None where there is none."""
        if self.known is None or not np.array_equal(self.known[0], logarithm):
            found = self._solve(logarithm)
            if found is None:
                return None
            self.known = logarithm.copy(), found
        return self.known[1]

    def _solve(self, logarithm: Array) -> Optimum | None:
        muscles = self.part.state.parameters.with_factors(np.exp(logarithm))
        if not self.elastic:
            state = self.part.state
            lengths = state.musculotendon_length, state.musculotendon_velocity
            part = replace(self.part, state=MuscleState.from_lengths(muscles, *lengths, state.moment_arm))
            shared = share_part(part, self.sharing)
            arrays = shared.solution.activation, part.state.fiber_length, shared.solution.reserve
            known = [np.where(shared.solution.solved[:, None], array, np.nan) for array in arrays]
            along = partial(_along_frames, shared, self.sharing.cost)
            return Optimum(known[0], known[1], known[2], along)
        frames, count = self.part.state.musculotendon_length.shape
        activation, fiber = np.full((2, frames, count), np.nan)
        reserve = np.full((frames, len(self.part.shared)), np.nan)
        runs, attempts = [], {}
        for number, (run, motion) in enumerate(self.motions):
            solved = self._solve_motion(number, with_parameters(motion, muscles), motion)
            if solved is None:
                return None
            attempts[number], derivatives = solved
            activation[run] = attempts[number].activation
            fiber[run] = derivatives.state.fiber_length
            reserve[run] = derivatives.problem.compliance * attempts[number].multiplier
            runs.append((run, derivatives))
        self.last = attempts
        along = partial(_along_runs, (activation, fiber, reserve), runs)
        return Optimum(activation, fiber, reserve, along)

    def _solve_motion(
        self, number: int, problem: MotionProblem, parent: MotionProblem
    ) -> tuple[MotionAttempt, OptimumDerivatives] | None:
        """Solve from the last optimum, else from the static one, with stiff reserves; if that fails, with soft ones."""
        cost, method = self.sharing.cost, BandedInteriorPoint(good=GOOD)
        # of the parent, so that it does not change with the muscles
        usual = fallback_weight(parent.isometric, cost)
        for weight in WEIGHTS:
            motion = replace(problem, reserve_weight=weight * usual)
            costs = MotionCost.from_cost(motion, cost)
            certifier = Certifier(motion, costs)
            for start in (self.last.get(number), None):
                if start is not None:
                    attempt = method.resume(motion, costs, start)
                elif weight == WEIGHTS[0] or number not in self.last:
                    attempt = method.solve(motion, costs, static_start(motion, cost)[:2])
                else:
                    continue
                if float(certifier.misses(attempt).residual.max()) <= ENOUGH:
                    derivatives = OptimumDerivatives(motion, costs, attempt)
                    if derivatives.known:
                        return attempt, derivatives
        return None


def directions_of(factors: Sequence[Factor], names: Sequence[str]) -> Array:
    """The directions (K, 4, n) of some factors in the numbers of n muscles by name."""
    return np.stack([factor.on(names) for factor in factors]) if factors else np.zeros((0, 4, len(names)))
