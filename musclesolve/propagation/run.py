"""A thousand perturbed subjects instead of one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve import pipeline
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.options import find_options
from musclesolve.propagation.dataset import assemble
from musclesolve.propagation.quantities import joined, quantities, reserves
from musclesolve.propagation.replay import Replay
from musclesolve.propagation.sources import standard_deviations
from musclesolve.propagation.streaming import Statistics
from musclesolve.propagation.workers import cores, ordered
from musclesolve.recording import Trial, read_trial
from musclesolve.results import frames
from musclesolve.sharing import Cost
from musclesolve.sharing.solver.base import Solver

Array = np.ndarray
Progress = Callable[[str, float], None]

CHUNK = 4
"""Samples that a process computes at a time."""

NOMINAL = -1
"""Number of the sample without errors."""


@dataclass(frozen=True)
class Samples:
    """What all samples need: the road, the frames (T, legs) among which peaks are sought, the seed."""

    replay: Replay
    counted: Array
    seed: int


@dataclass(frozen=True)
class Drawn:
    """One sample: its quantities (D,), which frames (T, legs) needed a reserve; why there are none where it failed."""

    values: Array | None
    reserve: Array | None
    reason: str = ""


def uncertainty(
    trial: Trial | str | Path,
    samples: int = 1000,
    seed: int = 0,
    sd: Mapping[str, float] | None = None,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
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
        workers: number of processes; that of the cores unless given. With 1 no process is started.
        progress: as in `run`.

    Returns:
        Dataset with muscle_force, activation, contact_force (magnitude), joint_moment, joint_angle and the peaks
        of muscle and contact forces: the nominal value, and with the suffixes _mean, _sd and _quantile what the
        samples make of it; valid_samples and reserve_share of each frame and leg; the standard deviations by source.

    Raises:
        InputError: the trial asks for what cannot be done; a number of samples, a seed or a standard deviation that
            cannot be.
    """
    report = progress or (lambda stage, fraction: None)
    samples, seed = _whole(samples, "samples", 2), _whole(seed, "seed", 0)
    count = cores() if workers is None else _whole(workers, "workers", 1)
    if not isinstance(trial, Trial):
        trial = read_trial(trial)
    options = find_options(trial, cost, solver, side)
    chosen = standard_deviations(trial, sd)
    report("nominal result", 0.0)
    result = pipeline.run(trial, options.cost, options.solver, side)
    counted = np.stack([~frames.failed(result, side) for side in options.sides], axis=1)
    common = Samples(Replay.of(trial, options, chosen), counted, seed)
    chunks = [range(first, min(first + CHUNK, samples)) for first in range(0, samples, CHUNK)]
    tasks = [range(NOMINAL, NOMINAL + 1), *chunks]
    drawn = itertools.chain.from_iterable(ordered(draw, common, tasks, count))
    first = next(drawn)
    if first.values is None:
        raise MuscleSolveError(f"the trial cannot be run again: {first.reason}")
    statistics = Statistics(first.values, samples)
    reserve, reasons = np.zeros(counted.shape), []
    for number, sample in enumerate(drawn):
        report("samples", number / samples)
        if sample.values is None or sample.reserve is None:
            reasons.append(sample.reason)
            sample = Drawn(np.full(first.values.shape, np.nan), np.zeros(counted.shape))
        statistics.add(sample.values)
        reserve += sample.reserve
    return assemble(result, common.replay, statistics, reserve, seed, reasons)


def draw(common: Samples, numbers: range) -> list[Drawn]:
    """Some samples by their numbers."""
    return [_draw(common, number) for number in numbers]


def _draw(common: Samples, number: int) -> Drawn:
    parameters = common.replay.parameters
    normal = np.zeros(parameters.count) if number == NOMINAL else parameters.draw(common.seed, number)
    try:
        body, legs = common.replay.run(normal)
    except (InputError, MuscleSolveError) as error:  # such errors make no person, or no pose of one
        return Drawn(None, None, str(error))
    return Drawn(joined(quantities(common.replay, body, legs, common.counted)), reserves(legs))


def _whole(value: object, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{what} is {value!r}", where="uncertainty", expected=f"a whole number from {least}")
    return int(value)
