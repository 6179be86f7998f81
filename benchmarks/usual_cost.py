"""Costs beside EMG and measured knee forces, on all people at hand: the evidence for the default cost.

python -m benchmarks.usual_cost [--sets NAME ...] [--least A ...] [--costs COST ...] [--beside COST] [--strength RULE]
                              [--draws N] [--figure FILE] [--exchange]

A line for each muscle set, cost and least activation. EMG: Pearson r of activation and envelope, mean over the channels
of a walk and then over walks; median: mean over walks of the medians; hamstrings: mean r of their channels; each with
the difference to the default and its 95 % interval. Knee: rms error of the contact force in the instrumented knee
[body weights]. Hip: peak of the contact force, median and largest of the legs of `HIP_WALKS` [body weights]. Reserves:
leg-frames that need one. Short, long: mean forces of the heads of biceps femoris in late swing of the bundled stride
[N]. A second table has r by muscle and phase, mean over walks, with the same intervals.

Intervals: bootstrap over people and, within each, over strides; the default and the other cost are compared in the same
draws. The two walks with an instrumented knee belong to one person. Phases by heel strike and toe off: stance up
to two thirds of its length, push-off after, the halves of swing. Channels with equal envelopes are one electrode: they
count once, with the mean activation of their muscles. Recordings that are absent are named and left out.

A set may be a model of the man with an instrumented knee (`MODELS`). Then the walks are those with a scaled OpenSim
model: his two on that model, the recorded walk and two of a subject of AddBiomechanics on their own, each along its
inverse kinematics with the ground reactions as loads. Muscles have the names of `rajagopal_2023`.

With --exchange instead what static optimization with the default cost and a set lacks: one thing of the muscles or of
the sharing exchanged at a time (`EXCHANGES`). An exchanged arm changes the moment of a muscle, not how it presses
joints.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

import muscle_db
from benchmarks import instrumented_knee
from benchmarks.arguments import command_line
from benchmarks.muscle_sets import models as models_without_emg
from benchmarks.muscle_sets import people, with_muscles
from benchmarks.timing import console, rms
from benchmarks.validation.page import Absent, data_folder
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY, USUAL_COST, USUAL_LEAST_ACTIVATION
from musclesolve.errors import InputError
from musclesolve.files import Event, Trial
from musclesolve.forces import recording_of
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.opensim.assemble_body import model_body
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.opensim.trial_body import model_settings
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.share import share
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    Cost,
    JointReactionSquared,
    JointWeightedActivation,
    KneeSparingActivation,
    StressCubed,
)
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status
from musclesolve.trajectory import solve_rate_limited


@dataclass(frozen=True)
class Exchange:
    """One thing of the muscles or of the sharing that is other than by default."""

    words: str
    muscles: tuple[str, ...] = ()  # beginnings of their names
    arm: tuple[str, float] = ("", 1.0)  # of these muscles: a joint, and a factor on the moment arms about it
    strength: float = 1.0  # factor on their forces
    least: float | None = None  # their least activation
    dynamics: bool = False  # whether activation rises and falls with time constants of 10 and 40 ms

    def of(self, problem: Problem) -> Problem:
        """The problem with the exchange."""
        chosen = np.array([name.startswith(self.muscles) for name in problem.muscle or ()])
        joint, factor = self.arm
        about = np.array([bool(joint) and joint in dof for dof in problem.dof or ()])
        strength = np.where(chosen, self.strength, 1.0)
        capacities = ("force_capacity", "fiber_force_capacity", "max_isometric_force")
        return problem.with_arrays(
            moment_arm=problem.moment_arm * np.where(about[:, None] & chosen, factor, 1.0),
            lower=problem.lower if self.least is None else np.where(chosen, self.least, problem.lower),
            **{name: getattr(problem, name) * strength for name in capacities},
        )


SINGLE = ("rectus_femoris", "semitendinosus", "biceps_femoris_long_head")
EXCHANGES = (
    Exchange("nothing"),
    *(
        Exchange(f"{muscle}, arm at the {joint} x {factor:g}", (muscle,), (joint, factor))
        for muscle, joint in zip(
            (SINGLE[0], *SINGLE, SINGLE[2]), ("hip", "knee", "knee", "hip", "knee"), strict=True
        )
        for factor in (0.8, 1.2)
    ),
    *(
        Exchange(
            f"biceps_femoris_short_head, strength x {factor:g}", ("biceps_femoris_short",), strength=factor
        )
        for factor in (0.5, 2.0)
    ),
    *(Exchange(f"all muscles at least {least:g}", ("",), least=least) for least in (0.0, 0.02)),
    Exchange("vasti, rectus, hamstrings at least 0.03", ("vast", "rectus", "semi", "biceps"), least=0.03),
    Exchange("activation dynamics", dynamics=True),
)
KNEE = {"knee": 1.0}
COSTS: tuple[Cost, ...] = (
    *(JointWeightedActivation(multi_joint_weight=weight) for weight in (1.5, 2.0, 2.5, 3.0)),
    *(JointWeightedActivation(2.5, 2.0), JointWeightedActivation(3.0, 2.0)),
    *(KneeSparingActivation(scale=scale) for scale in (1200.0, 1400.0, 1700.0)),
    *(ActivationPower(), ActivationPower(3.0), ActivationVolume(), StressCubed()),
    ActivationPower() + 1e-7 * JointReactionSquared(KNEE, effort=0.0),
    JointWeightedActivation(multi_joint_weight=1.5) + 3e-8 * JointReactionSquared(KNEE, effort=0.0),
)
MODELS = tuple(instrumented_knee.MODELS)
RECORDED = "recorded walk"
PERSON = {
    **dict.fromkeys(instrumented_knee.WALKS, "man with an instrumented knee"),
    **dict.fromkeys(("AddBiomechanics walking2", "AddBiomechanics walking3"), "subject of AddBiomechanics"),
}
"""Walks of one person; other walks are a person each."""
HIP_WALKS = (RECORDED, "ss1", "ss9", "treadmill p1", "treadmill p3", "bundled stride", *list(PERSON)[2:])
PHASES = ("stance", "push-off", "early swing", "late swing")
PUSH_OFF = 2.0 / 3.0  # share of stance after which push-off begins
FEWEST = 10  # samples of a correlation
SHORTEST = 0.15  # shortest stance or swing of a walk [s]
HAMSTRINGS = ("biceps_femoris_long_head", "semitendinosus", "semimembranosus")
BANDS = (0.025, 0.975)
HEADS = ("set", "cost", "least", "EMG mean", "median", "hamstrings", "knee", "hip", "reserves", "short, long")
OF_MODELS = "rajagopal_2023"
SET_NAMES = {
    muscle.short_name: muscle.name for leg in muscle_db.load(OF_MODELS).sides.values() for muscle in leg
}
"""Names of the muscles of OpenSim models, in lower case, and in the set that was made of them."""


@dataclass(frozen=True, eq=False)
class Leg:
    """A leg of a walk: its problem with joint reactions, and its phases."""

    side: str
    problem: Problem
    phase: Array  # (T,) number in PHASES, -1 where unknown
    stride: Array  # (T,) number of the stride, counted from the first foot strike; -1 before it
    weight: float  # of the body [N]

    def contact(self, joint: str, force: Array) -> Array:
        """Contact force of a joint with muscle forces (T, n) [N], (T,) [N]."""
        names, problem = self.problem.reaction or (), self.problem
        assert problem.reaction_matrix is not None and problem.reaction_offset is not None
        rows = [
            next(k for k, name in enumerate(names) if name.endswith(f"{joint}_{self.side}_{axis}"))
            for axis in "xyz"
        ]
        reaction = (problem.reaction_matrix[:, rows] @ force[:, :, None])[:, :, 0]
        return np.linalg.norm(reaction + problem.reaction_offset[:, rows], axis=1)


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk with the muscles of a set, ready to share."""

    name: str
    time: Array
    legs: tuple[Leg, ...]
    emg: MeasuredActivation | None

    @classmethod
    def from_body(
        cls,
        name: str,
        body: RecordedBody | ModelBody,
        weight: float,
        events: Sequence[Event],
        emg: MeasuredActivation | None,
    ) -> Walk:
        """The walk of a body with muscles; weight [N]."""
        with_reactions = replace(body.sharing, cost=find_cost("joint_reaction_squared"))
        legs = []
        for part in share(body, with_reactions).parts:
            muscles = tuple(SET_NAMES.get(name.lower(), name) for name in part.problem.muscle or ())
            legs.append(
                Leg(
                    part.side,
                    replace(part.problem, muscle=muscles),
                    *phases(body.time, events, part.side),
                    weight,
                )
            )
        return cls(name, body.time, tuple(legs), None if emg is None else electrodes(emg))

    @classmethod
    def with_set(cls, name: str, body: RecordedBody, of_set: str, strength: str = "table") -> Walk:
        """Place the muscles of a set on a body."""
        placed, weight = (
            with_muscles(body, of_set, strength),
            body.mechanics.model.mass.total * STANDARD_GRAVITY,
        )
        return cls.from_body(name, placed, weight, body.gait.events, placed.emg)

    @classmethod
    def on_model(cls, name: str, body: ModelBody, recorded: RecordedBody | None = None) -> Walk:
        """A walk on an OpenSim model, with the events and the EMG of its recording."""
        assert body.dynamics is not None
        emg = None if recorded is None else with_muscles(recorded, OF_MODELS).emg
        events = () if recorded is None else recorded.gait.events
        return cls.from_body(name, body, body.model.weight, events, emg)

    @property
    def person(self) -> str:
        """Whose walk it is."""
        return PERSON.get(self.name, self.name)

    def shared(self, cost: Cost, least: float, exchange: Exchange | None = None) -> Shared:
        """Share the moments of all legs."""
        activation, force, reserves = list[Array](), list[Array](), 0
        for leg in self.legs:
            problem = leg.problem.with_arrays(lower=np.full(leg.problem.lower.shape, least))
            problem = problem if exchange is None else exchange.of(problem)
            if exchange is not None and exchange.dynamics:
                found = solve_rate_limited(problem, self.time, cost, on_infeasible="reserve").solution
            else:
                found = solve(problem, cost, Batch(), on_infeasible="reserve")
            activation.append(np.asarray(found.activation))
            force.append(np.asarray(found.force))
            reserves += int((found.status == Status.SOLVED_WITH_RESERVE).sum())
        return Shared(self, tuple(activation), tuple(force), reserves)


@dataclass(frozen=True, eq=False)
class Shared:
    """The activations and forces of a walk under a cost, by leg."""

    walk: Walk
    activation: tuple[Array, ...]
    force: tuple[Array, ...]
    reserves: int

    @property
    def hips(self) -> list[float]:
        """The peak of each hip [body weights]."""
        legs = zip(self.walk.legs, self.force, strict=True)
        return [float(np.nanmax(leg.contact("hip", force)) / leg.weight) for leg, force in legs]

    @property
    def knee(self) -> float:
        """The rms error of the force in the instrumented left knee [body weights]."""
        (leg,) = (leg for leg in self.walk.legs if leg.side == "l")
        force = leg.contact("knee", self.force[self.walk.legs.index(leg)])
        truth = instrumented_knee.measured(self.walk.name)
        known = np.isfinite(force) & (self.walk.time <= truth["time_s"][-1])
        measured = np.interp(self.walk.time[known], truth["time_s"], truth["total_N"])
        return rms(force[known] - measured) / instrumented_knee.WEIGHT

    def mean_force(self, muscle: str, phase: str) -> float:
        """Mean force of a muscle in a phase, over both legs [N]."""
        values = [
            force[leg.phase == PHASES.index(phase), (leg.problem.muscle or ()).index(f"{muscle}_{leg.side}")]
            for leg, force in zip(self.walk.legs, self.force, strict=True)
        ]
        return float(np.nanmean(np.concatenate(values)))

    def channels(self) -> Channels:
        """Activation beside EMG."""
        emg = self.walk.emg
        assert emg is not None
        muscles = [name for leg in self.walk.legs for name in leg.problem.muscle or ()]
        curves = emg.mean_activation(np.concatenate(self.activation, axis=1), muscles)
        r, delay = emg.agreement_of_channels(self.walk.time, curves)
        legs = {leg.side: leg for leg in self.walk.legs}
        own = [legs[names[0][-1]] for names in emg.muscles]
        return Channels(
            self.walk.person,
            tuple(names[0][:-2] for names in emg.muscles),
            r,
            curves,
            emg.delayed(self.walk.time, delay),
            np.stack([leg.phase for leg in own], axis=1),
            np.stack([leg.stride for leg in own], axis=1),
        )


@dataclass(frozen=True, eq=False)
class Channels:
    """Activation beside envelopes at the best delay: (T, k) each, with phase and stride of each sample."""

    person: str
    muscle: tuple[str, ...]  # the first muscle of each channel, without side
    r: Array  # (k,)
    activation: Array
    envelope: Array
    phase: Array
    stride: Array

    @cached_property
    def sums(self) -> Array:
        """Sums of 1, a, e, a^2, e^2, a e over the samples of each stride and phase, all phases last, (S, 5, 6, k)."""
        known = np.isfinite(self.activation) & np.isfinite(self.envelope)
        a, e = (np.where(known, values, 0.0) for values in (self.activation, self.envelope))
        products = np.array([known, a, e, a * a, e * e, a * e], float)
        strides = [self.stride == number for number in np.unique(self.stride)]
        chosen = [self.phase == phase for phase in range(len(PHASES))] + [np.full(self.phase.shape, True)]
        return np.array([[(products * (own & part)).sum(axis=1) for part in chosen] for own in strides])

    def correlation(self, phase: int = -1, draw: np.random.Generator | None = None) -> Array:
        """Correlation of each channel, (k,), in a phase or all, over strides drawn with replacement.

        NaN of few samples, and where a curve is constant.
        """
        times = np.ones(len(self.sums))
        if draw is not None:
            times = np.bincount(draw.integers(len(times), size=len(times)), minlength=len(times)).astype(
                float
            )
        count, a, e, aa, ee, ae = np.tensordot(times, self.sums[:, phase], axes=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            size = np.sqrt(np.maximum(aa - a * a / count, 0.0) * np.maximum(ee - e * e / count, 0.0))
            r = (ae - a * e / count) / size
        return np.where((count >= FEWEST) & (size > 1e-9 * np.sqrt(aa * ee)), r, np.nan)


def electrodes(emg: MeasuredActivation) -> MeasuredActivation:
    """Join channels with equal envelopes."""
    first: list[int] = []
    joined: list[tuple[str, ...]] = []
    for k, column in enumerate(emg.envelope.T):
        same = next(
            (i for i, j in enumerate(first) if np.array_equal(column, emg.envelope[:, j], True)), None
        )
        if same is None:
            first.append(k)
            joined.append(emg.muscles[k])
        else:
            joined[same] = tuple(dict.fromkeys([*joined[same], *emg.muscles[k]]))
    names = tuple(emg.channels[k] for k in first)
    return replace(emg, channels=names, muscles=tuple(joined), envelope=emg.envelope[:, first])


def phases(time: Array, events: Sequence[Event], side: str) -> tuple[Array, Array]:
    """Phase and stride of every frame by the events of a foot; the ends of the recording end a phase, too."""
    own = [event for event in events if event.side == side and event.kind in ("heel_strike", "toe_off")]
    own.sort(key=lambda event: event.time)
    phase, stride = np.full(len(time), -1), np.full(len(time), -1)
    if not own:
        return phase, stride
    before = "toe_off" if own[0].kind == "heel_strike" else "heel_strike"
    begins = [(-np.inf, before), *((event.time, event.kind) for event in own), (np.inf, "")]
    for (start, kind), (end, _) in pairwise(begins):
        inside = (time >= start) & (time < end)
        start, end = max(start, time[0]), min(end, time[-1])
        if kind == "heel_strike":
            stride[time >= start] += 1
        if end - start >= SHORTEST:
            first, cut = (0, PUSH_OFF) if kind == "heel_strike" else (2, 0.5)
            phase[inside] = first + (time[inside] - start >= cut * (end - start))
    return phase, stride


@dataclass(frozen=True, eq=False)
class Choice:
    """A set, a cost and a least activation on all walks."""

    words: tuple[str, ...]
    shared: dict[str, Shared]
    channels: list[Channels]

    @classmethod
    def of(
        cls,
        words: tuple[str, ...],
        walks: Sequence[Walk],
        cost: Cost,
        least: float,
        exchange: Exchange | None = None,
    ) -> Choice:
        """Share every walk."""
        shared = {walk.name: walk.shared(cost, least, exchange) for walk in walks}
        return cls(words, shared, [one.channels() for one in shared.values() if one.walk.emg is not None])

    @property
    def knees(self) -> list[float]:
        """The rms errors of the instrumented knee."""
        return [self.shared[walk].knee for walk in instrumented_knee.WALKS if walk in self.shared]

    @property
    def hips(self) -> list[float]:
        """The peaks of the hips of `HIP_WALKS`."""
        return [peak for name, one in self.shared.items() if name in HIP_WALKS for peak in one.hips]


def summaries(channels: Channels, draw: np.random.Generator | None = None) -> Array:
    """Mean and median r over the channels of a walk and mean r of the hamstrings, (3,)."""
    r = channels.r if draw is None else channels.correlation(draw=draw)
    hamstrings = [name in HAMSTRINGS for name in channels.muscle]
    return np.array(
        [np.nanmean(r), np.nanmedian(r), np.nanmean(r[hamstrings]) if any(hamstrings) else np.nan]
    )


def muscle_phases(names: Sequence[str]) -> Any:
    """Return a statistic of a walk: r by muscle and phase, (m, 4); NaN of muscles without a channel."""

    def by_muscle(channels: Channels, draw: np.random.Generator | None = None) -> Array:
        state = None if draw is None else draw.bit_generator.state
        found = np.full((len(names), len(PHASES)), np.nan)
        for phase in range(len(PHASES)):
            if draw is not None:
                draw.bit_generator.state = state  # the same strides for every phase
            r = channels.correlation(phase, draw)
            for row, name in enumerate(names):
                of_muscle = r[[each == name for each in channels.muscle]]
                if np.isfinite(of_muscle).any():
                    found[row, phase] = np.nanmean(of_muscle)
        return found

    return by_muscle


def difference(
    choice: Sequence[Channels], default: Sequence[Channels], statistic: Any, draws: int
) -> tuple[Array, Array]:
    """The difference of a statistic of walks, their mean, to the default, and its interval (2, ...) of the draws."""
    pairs: dict[str, list[tuple[Channels, Channels]]] = {}
    for one, other in zip(choice, default, strict=True):
        pairs.setdefault(one.person, []).append((one, other))
    everyone = list(pairs.values())

    def mean(chosen: Sequence[list[tuple[Channels, Channels]]], seed: int | None) -> Array:
        """Both costs have the same strides, by the same seed."""
        values = []
        for place, walks in enumerate(chosen):
            for number, pair in enumerate(walks):
                a, b = (
                    statistic(each, None if seed is None else np.random.default_rng((seed, place, number)))
                    for each in pair
                )
                values.append(a - b)
        return mean_known(values)

    drawn_people, count, whole = np.random.default_rng(0), len(everyone), mean(everyone, None)
    drawn = [
        mean([everyone[k] for k in drawn_people.integers(count, size=count)], seed) for seed in range(draws)
    ]
    values = np.array(drawn).reshape(draws, *whole.shape)
    band = np.full((2, *whole.shape), np.nan)
    known = np.isfinite(values).any(axis=0)
    if draws:
        band[:, known] = np.nanquantile(values[:, known], BANDS, axis=0)
    return whole, band


def mean_known(values: Sequence[Array]) -> Array:
    """Mean over the first axis of the numbers that are known; NaN without any."""
    array = np.array(values)
    count = np.isfinite(array).sum(axis=0)
    return np.where(count > 0, np.nansum(array, axis=0) / np.maximum(count, 1), np.nan)


def treadmill_with_emg(who: str) -> Trial:
    """The walk of a person on a treadmill with EMG of the right leg."""
    file = data_folder() / "treadmill_emg" / who / "trial.toml"
    if not file.is_file():
        raise Absent(f"no {file}")
    return recording_of(file, "this comparison")


def choices(
    sets: Sequence[str], costs: Sequence[Cost], floors: Sequence[float], beside: Cost, strength: str
) -> Iterator[tuple[Choice, Choice]]:
    """Every set, cost and least activation, each with the cost beside it that it is compared with."""
    for name, walks in walks_of(sets, strength):
        default = Choice.of((name, "default", ""), walks, beside, USUAL_LEAST_ACTIVATION)
        for cost, least in product(costs, floors):
            yield Choice.of((name, cost.label, f"{least:g}"), walks, cost, least), default


def walks_of(sets: Sequence[str], strength: str = "table") -> Iterator[tuple[str, list[Walk]]]:
    """Every set, and all walks with its muscles."""
    more = {f"treadmill {who}": partial(treadmill_with_emg, who) for who in ("s01", "s18")}
    everyone = dict(people(**more))
    if not all(walk in everyone for walk in instrumented_knee.WALKS):
        raise SystemExit("No cost can be compared without the walks with an instrumented knee.")
    for name in sets:
        if name in MODELS:
            yield name, list(model_walks(name, everyone))
        else:
            yield name, [Walk.with_set(who, body, name, strength) for who, body in everyone.items()]


def model_walks(name: str, recorded: Mapping[str, RecordedBody]) -> Iterator[Walk]:
    """The walks of scaled OpenSim models, those with an instrumented knee on the model of that name."""
    for walk in instrumented_knee.WALKS:
        yield Walk.on_model(walk, instrumented_knee.walk_on_model(name, walk), recorded[walk])
    if RECORDED in recorded:
        folder, time = data_folder() / "rajagopal_walk", recorded[RECORDED].time
        settings = model_settings(
            loads=folder / "walk_grf.mot", passive="none", cutoff_hz=6.0, start_s=time[0], end_s=time[-1]
        )
        reference = folder / "reference"
        model, motion = reference / "rajagopal_lai_uhlrich_2023_scaled.osim", reference / "opensim_ik.mot"
        yield Walk.on_model(RECORDED, model_body(model, motion, None, settings), recorded[RECORDED])
    for walk, body in models_without_emg():
        yield Walk.on_model(walk, body)


def exchanged(sets: Sequence[str], cost: Cost) -> Table:
    """A line for each exchange, and the mean r of the channels of single muscles over walks."""
    shown = Table("set", "exchanged", "EMG mean", "hamstrings", *SINGLE, *HEADS[6:])
    for name, walks in walks_of(sets):
        for exchange in EXCHANGES:
            choice = Choice.of((name, exchange.words, ""), walks, cost, USUAL_LEAST_ACTIVATION, exchange)
            mean, _, hamstrings = mean_known([summaries(channels) for channels in choice.channels])
            single = [
                np.concatenate([walk.r[[own == one for own in walk.muscle]] for walk in choice.channels])
                for one in SINGLE
            ]
            of_muscles = (f"{np.nanmean(r):.2f}" for r in single)
            rest = row(choice, choice, 0)[6:]
            shown.add_row(name, exchange.words, f"{mean:.3f}", f"{hamstrings:.3f}", *of_muscles, *rest)
    return shown


def row(choice: Choice, default: Choice, draws: int) -> list[str]:
    """The cells of the first table."""
    values = mean_known([summaries(channels) for channels in choice.channels])
    differences, bands = difference(choice.channels, default.channels, summaries, draws)
    cells = [f"{value:.3f} {words(*each)}" for value, *each in zip(values, differences, *bands, strict=True)]
    stride = choice.shared.get("bundled stride")
    heads = (f"biceps_femoris_{head}_head" for head in ("short", "long"))
    return [
        *choice.words,
        *cells,
        ", ".join(f"{error:.2f}" for error in choice.knees),
        f"{np.median(choice.hips):.2f}, {max(choice.hips):.2f}",
        str(sum(one.reserves for one in choice.shared.values())),
        "" if stride is None else ", ".join(f"{stride.mean_force(head, 'late swing'):.0f}" for head in heads),
    ]


def words(change: float, low: float, high: float) -> str:
    """A difference with its interval; empty where it is not known."""
    return "" if np.isnan(change) else f"{change:+.3f} ({low:+.3f}, {high:+.3f})"


def draw(points: Sequence[tuple[str, float, Array, list[float]]], file: Path) -> None:
    """EMG beside the instrumented knee, one point a cost: r with its interval, the errors of both walks.

    Costs that differ in numbers alone have one color; a number names each in the legend; the default is drawn larger.
    """
    figure = Figure(figsize=(8.0, 7.5), layout="constrained")
    axes = figure.subplots()
    families: list[str] = []
    defaults = {USUAL_COST: " (default)", JointWeightedActivation.name: " (default before)"}
    for number, (label, change, band, knees) in enumerate(points, start=1):
        family = "sum with the force of the knee" if " + " in label else label.partition("(")[0]
        middle = float(np.mean(knees))
        families += [family] * (family not in families)
        color = f"C{families.index(family)}"
        words = re.sub(r"joint_reaction_squared\(.*\)", "knee force squared", label) + defaults.get(label, "")
        words = words.replace("multi_joint_weight", "weight").replace(".0", "")
        axes.errorbar(
            middle,
            change,
            xerr=[[middle - min(knees)], [max(knees) - middle]],
            yerr=np.abs(band - change)[:, None],
            fmt="o",
            markersize=9 if label == USUAL_COST else 4,
            color=color,
            label=f"{number}  {words}",
            capsize=2,
            linewidth=0.6,
        )
        axes.annotate(str(number), (middle, change), (4, 4), textcoords="offset points", color=color)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.set_xlabel("rms error of the knee contact force [body weights], two walks")
    axes.set_ylabel("mean r of activation and EMG, less the default's")
    figure.legend(fontsize=7.5, loc="outside lower center", ncols=2)
    figure.savefig(file, dpi=110)


def cost_of(text: str) -> Cost:
    """A cost by its name and options."""
    try:
        return find_cost(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def least_of(text: str) -> float:
    """A least activation, from 0 to below 1."""
    value = float(text)
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"{text} is no activation from 0 to below 1")
    return value


def main() -> None:
    parser = command_line(__doc__)
    names = [*muscle_db.available(), *MODELS]
    parser.add_argument("--sets", nargs="+", choices=names, default=[muscle_db.DEFAULT], metavar="NAME")
    parser.add_argument("--costs", nargs="+", type=cost_of, default=COSTS, metavar="COST")
    parser.add_argument("--least", nargs="+", type=least_of, default=[USUAL_LEAST_ACTIVATION], metavar="A")
    parser.add_argument("--beside", type=cost_of, default=USUAL_COST, help="what the costs are compared with")
    parser.add_argument(
        "--strength", choices=("table", "handsfield_2014"), default="table", help="of all muscles"
    )
    parser.add_argument("--draws", type=int, default=200, help="draws of the bootstrap")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw EMG beside the knee")
    parser.add_argument("--exchange", action="store_true", help="one thing of muscles or sharing at a time")
    chosen = parser.parse_args()
    console.width = 250
    if chosen.exchange:
        console.print(exchanged(chosen.sets, find_cost(USUAL_COST)))
        return
    shown = Table(*HEADS)
    phase = Table("set", "cost", "least", "muscle", *PHASES)
    points = []
    for choice, default in choices(chosen.sets, chosen.costs, chosen.least, chosen.beside, chosen.strength):
        shown.add_row(*row(choice, default, chosen.draws))
        names = sorted({name for channels in choice.channels for name in channels.muscle})
        by_muscle = muscle_phases(names)
        values = mean_known([by_muscle(channels, None) for channels in choice.channels])
        changes, bands = difference(choice.channels, default.channels, by_muscle, chosen.draws)
        for k, name in enumerate(names):
            cells = [
                "-" if np.isnan(value) else f"{value:.2f} {words(change, *band)}".strip()
                for value, change, band in zip(values[k], changes[k], bands[:, k].T, strict=True)
            ]
            phase.add_row(*choice.words, name, *cells)
        change, band = difference(choice.channels, default.channels, summaries, chosen.draws)
        points.append((choice.words[1], float(change[0]), band[:, 0], choice.knees))
    console.print(shown, phase)
    if chosen.figure:
        draw(points, chosen.figure)


if __name__ == "__main__":
    main()
