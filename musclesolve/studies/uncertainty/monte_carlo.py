"""A thousand perturbed subjects instead of one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve._util.processes import cores
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.pipeline.run import loaded, prepare, share
from musclesolve.recording.data import Trial
from musclesolve.results.dataset import assemble as labelled
from musclesolve.results.tables import error_shares as shares
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.studies.uncertainty.contributions import Linear, Task, summed
from musclesolve.studies.uncertainty.error_sources import standard_deviations
from musclesolve.studies.uncertainty.followed_quantities import joined, quantities, reserves
from musclesolve.studies.uncertainty.replay import Replay
from musclesolve.studies.uncertainty.statistics_dataset import Found, assemble
from musclesolve.studies.uncertainty.streaming_statistics import Statistics
from musclesolve.studies.uncertainty.worker_tasks import ordered

Progress = Callable[[str, float], None]

CHUNK = 4
"""Samples, or parameters of the derivatives, that a process computes at a time."""

SAMPLES_SHARE = 0.8
"""Of the time, where contributions are computed too."""

NOMINAL = -1
"""Number of the sample without errors."""


@dataclass(frozen=True)
class Samples:
    """What all samples need: the road, the frames (T, legs) among which peaks are sought, the seed."""

    replay: Replay
    counted: AnyArray
    seed: int

    @cached_property
    def linear(self) -> Linear:
        """The derivatives of the road at its nominal point."""
        return Linear(self.replay)


@dataclass(frozen=True)
class Drawn:
    """One sample: its quantities (D,), and which frames (T, legs) needed a reserve."""

    values: AnyArray
    reserve: AnyArray


def uncertainty(
    trial: Trial | str | Path,
    samples: int = 1000,
    seed: int = 0,
    sd: Mapping[str, float] | None = None,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    contributions: bool = True,
    workers: int | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """How far the results of a trial can be trusted: Monte Carlo over the sources of error.

    Every sample draws all errors and runs the road again, from the markers to the muscle forces; nothing is
    linearised. Sample k has its own stream of random numbers, so the result depends on the seed alone, not on how
    many processes compute it.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        samples: how many, 2 or more.
        seed: of the random numbers, 0 or more.
        sd: standard deviations by key, such as {"marker_placement_mm": 3, "segment_mass": 0}; those of the trial
            file and the usual ones (``sources.toml``) unless given; 0 switches a source off.
        cost: as in `run`.
        solver: as in `run`.
        side: as in `run`.
        contributions: also compute, to first order and from exact derivatives, which source contributes how much.
        workers: number of processes; that of the cores unless given. With 1 no process is started.
        progress: as in `run`.

    Returns:
        Dataset with muscle_force, activation, contact_force (magnitude), joint_moment, joint_angle and the peaks
        of muscle and contact forces: the nominal value, and with the suffixes _mean, _sd and _quantile what the
        samples make of it; valid_samples and reserve_share of each frame and leg; the standard deviations by source.
        muscle_force, contact_force and joint_moment have _first_order_sd and _contribution too, the latter as shares
        of the variance by source; first_order_unique says where the solution is not at a change of its active set.

    Raises:
        InputError: the trial asks for what cannot be done; a number of samples, a seed or a standard deviation that
            cannot be.
    """
    report = progress or (lambda stage, fraction: None)
    samples, seed = _whole(samples, "samples", 2), _whole(seed, "seed", 0)
    count = cores() if workers is None else _whole(workers, "workers", 1)
    report("nominal result", 0.0)
    trial = loaded(trial)
    chosen = standard_deviations(trial, sd)
    prepared = prepare(trial, cost, solver, side)
    options = prepared.options
    result = labelled.assemble(share(prepared))
    counted = np.stack([shares.counted(result, side) for side in options.sides], axis=1)
    common = Samples(Replay.of(prepared, chosen), counted, seed)
    wanted, why_not = _differentiable(common) if contributions else ([], "not asked for")
    chunks = [range(first, min(first + CHUNK, samples)) for first in range(0, samples, CHUNK)]
    parts = [wanted[first : first + CHUNK] for first in range(0, len(wanted), CHUNK)]
    tasks = [range(NOMINAL, NOMINAL + 1), *chunks, *parts]
    part = SAMPLES_SHARE if wanted else 1.0
    with closing(ordered(work, common, tasks, count)) as answers:
        done = itertools.chain.from_iterable(answers)
        statistics, reserve, reasons = _gathered(
            done, samples, counted, lambda f: report("samples", part * f)
        )
        answered = _told(zip(wanted, done, strict=True), len(wanted), report)
        found = Found(statistics, reserve, seed, reasons, summed(chosen, answered), why_not)
    return assemble(result, common.replay, found, common.linear.unique if wanted else None)


def work(common: Samples, task: range | list[Task]) -> list[Any]:
    """Some samples by their numbers, or the squares of some parameters of the derivatives."""
    if isinstance(task, range):
        return [_draw(common, number) for number in task]
    return [common.linear.squares(each) for each in task]


def _differentiable(common: Samples) -> tuple[list[Task], str]:
    """What there is to differentiate; nothing, and why, for a cost that has no derivatives."""
    try:
        common.linear.differentiate()
    except InputError as error:
        return [], error.problem
    tasks = common.linear.tasks()
    return tasks, "" if tasks else "every source is switched off"


def _gathered(
    done: Iterator[Drawn | str], samples: int, counted: AnyArray, report: Callable[[float], None]
) -> tuple[Statistics, AnyArray, list[str]]:
    """Statistics of the samples, how many needed a reserve (T, legs), why some failed; the nominal one comes first."""
    first = next(done)
    if isinstance(first, str):
        raise MuscleSolveError(f"the trial cannot be run again: {first}")
    statistics = Statistics(first.values, samples)
    reserve, reasons = np.zeros(counted.shape), []
    for number, sample in enumerate(itertools.islice(done, samples)):
        report(number / samples)
        if isinstance(sample, str):
            reasons.append(sample)
            sample = Drawn(np.full(first.values.shape, np.nan), np.zeros(counted.shape))
        statistics.add(sample.values)
        reserve += sample.reserve
    return statistics, reserve, reasons


def _told(
    parts: Iterator[tuple[Task, dict[str, AnyArray]]], count: int, report: Progress
) -> Iterator[tuple[Task, dict[str, AnyArray]]]:
    """The same parts, told as they come."""
    for number, part in enumerate(parts):
        report("contributions", SAMPLES_SHARE + (1.0 - SAMPLES_SHARE) * number / count)
        yield part


def _draw(common: Samples, number: int) -> Drawn | str:
    """One sample, or why there is none."""
    parameters = common.replay.parameters
    normal = np.zeros(parameters.count) if number == NOMINAL else parameters.draw(common.seed, number)
    try:
        body, legs = common.replay.run(normal)
    except (InputError, MuscleSolveError) as error:  # such errors make no person, or no pose of one
        return str(error)
    return Drawn(joined(quantities(common.replay, body, legs, common.counted)), reserves(legs))


def _whole(value: object, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{what} is {value!r}", where="uncertainty", expected=f"a whole number from {least}")
    return int(value)
