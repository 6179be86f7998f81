"""Uncertainty of the results of a trial: samples over the sources of error, and first-order contributions.

Designed samples: few of them give the spread that many random samples would. The variance of a quantity F that
depends on the standard normal numbers z_j as sum_j J_j z_j is sum_j J_j^2. K samples estimate it by

    1/K sum_k (sum_j J_j z_kj)^2 = sum_j J_j^2 |z_j|^2 / K + sum_i!=j J_i J_j z_i . z_j / K

The columns z_j of a design are orthogonal, have the mean 0 and the square length K, so that the second sum vanishes:
the estimate is exact where F is linear, and an estimate by samples where F is not. K samples have K - 1 such
columns. More parameters take further blocks of K - 1, each turned at random, and the products between blocks add noise
as in drawn samples; columns of parameters that never meet in one part of the body are shared. Each column is
one of random normal numbers made orthogonal (QR), so that every parameter has its tails, and co-contraction, the size
of a number, its spread. Compare orthogonal Latin hypercubes (Owen 1994, J Am Stat Assoc 89:1517-22).
"""

import itertools
import pickle
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_integer
from musclesolve._util.messages import Progress, check_keywords, no_progress
from musclesolve._util.processes import cores
from musclesolve._util.worker_pool import Pool
from musclesolve.constants import DESIGNED, FAST, SEED
from musclesolve.errors import InputError, MuscleSolveError, input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.run_options import check_consistent
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset import assemble as labeled
from musclesolve.laboratory.results.facts import counted_frames
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body_sharing import share
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.studies.uncertainty.contributions import Task, summed
from musclesolve.studies.uncertainty.model_replay import ModelReplay
from musclesolve.studies.uncertainty.recorded_replay import RecordedReplay
from musclesolve.studies.uncertainty.replay import Replay, check_sources, standard_deviations
from musclesolve.studies.uncertainty.sample_statistics import NOMINAL, Samples, Statistics, assemble, work

RUNS = 64
"""Samples of a design: their 63 columns hold the parameters that matter most, and one in forty lies beyond either end
of the band of 95 %."""


def designed_numbers(replay: Replay, seed: int) -> Array:
    """Standard normal numbers of all parameters in designed samples, (RUNS, count).

    Sources with few parameters share the first block; a source that does not fit into what is left of a block begins
    one of its own.
    """
    shapes, random = replay.parameters.shapes, np.random.default_rng(np.random.SeedSequence(seed))
    first = dict(zip(shapes, np.cumsum([0, *map(prod, shapes.values())])[:-1].tolist(), strict=True))
    numbers, width = np.empty((RUNS, replay.parameters.count)), RUNS - 1
    block, used = np.empty((RUNS, 0)), width
    for source in sorted(shapes, key=lambda name: prod(shapes[name])):
        size, places = prod(shapes[source]), replay.meeting(source)
        count = int(places.max(initial=-1)) + 1
        if used + count > width:
            used = width
        for start in range(0, count, width):
            if used == width:
                block, used = _orthogonal(random), 0
            here = np.flatnonzero((places >= start) & (places < start + width))
            numbers[:, first[source] + here] = block[:, used + places[here] - start]
            used += min(count - start, width)
        numbers[:, first[source] : first[source] + size] *= random.choice([-1.0, 1.0], size)
    return numbers


def _orthogonal(random: np.random.Generator) -> Array:
    """Random normal numbers (RUNS, RUNS - 1) whose columns are orthogonal, with the mean 0 and the variance 1."""
    drawn = random.standard_normal((RUNS, RUNS - 1))
    columns, triangle = np.linalg.qr(drawn - drawn.mean(axis=0))
    return np.asarray(np.sqrt(RUNS) * columns * np.sign(np.diag(triangle)))


CHUNK = 4
"""Number of samples, or of parameters of the derivatives, that a process computes at a time."""

MOST_REASONS = 10
"""Reasons of failed samples that are listed; a pose that no model fits is named with its frames, each time others."""

SAMPLES_SHARE = 0.8
"""Share of the time for the samples where contributions are computed too."""


class Computing(TypedDict, total=False):
    """Options of the computation of samples.

    contributions: also compute the contribution of each source, to first order from exact derivatives (default).
    jobs: number of processes, this one among them, of designed samples threads; the number of cores unless given.
        With 1 no process is started.
    progress: as in `run`.
    result: result without errors of a prepared body, as in `run`; computed by default.
    """

    contributions: bool
    jobs: int | None
    progress: Progress | None
    result: xr.Dataset | None


def uncertainty(
    trial: AnyTrial | RecordedBody | MeasuredModel | str | Path,
    samples: int | str = 1000,
    seed: int = SEED,
    sd: Mapping[str, float] | None = None,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    **how: Unpack[Computing],
) -> xr.Dataset:
    """Uncertainty of a trial by samples: every sample has errors of all sources and runs the whole pipeline.

    Args:
        trial: from `read_trial`, the path of a trial file, or a body that is ready to share its moments: from
            `forces.prepare` or `pipeline.opensim.assemble_body.model_body`.
        samples: how many are drawn at random (Monte Carlo), 2 or more; or "fast": 64 that are designed (`design`),
            with contributions by few directions, known to a quarter of themselves.
        seed: of the random numbers, 0 or more.
        sd: standard deviations by key, {"segment_mass": 0}, instead of the values of the trial file or
            ``sources.toml``.
        cost, solver, side: as in `run`; a body has its own.
        **how: see `Computing`.

    Returns:
        Dataset with muscle_force, activation, contact_force (magnitude; not of a model without loads), joint_moment,
        joint_angle and the peaks of forces: nominal, and with _mean, _sd and _quantile of the samples; valid_samples
        and reserve_share of each frame and side; standard deviations by source. Forces and moments have
        _first_order_sd and _contribution (shares of the variance by source) too, first_order_unique says where the
        active set of the solution is stable.

    Raises:
        InputError: as in `run`; a number or a standard deviation outside of its range, or one of
            a source that this body does not have.

    Examples:
        >>> found = ms.studies.uncertainty(ms.data.reference_stride(), samples=2, contributions=False, jobs=1)
        >>> found["muscle_force_sd"].dims
        ('time', 'muscle')
    """
    check_keywords(how, Computing.__annotations__, "uncertainty()")
    jobs, report, known = how.get("jobs"), how.get("progress") or no_progress, how.get("result")
    jobs = cores() if jobs is None else check_integer(jobs, "jobs", 1)
    fast = samples == FAST
    if isinstance(samples, str) and not fast:
        problem, expected = f"samples is {samples!r}", f"a whole number, 2 or more, or {FAST!r}"
        raise input_error("bad_number", where="samples", problem=problem, expected=expected)
    count = RUNS if fast else check_integer(samples, "samples", 2)
    seed = check_integer(seed, "seed", 0)
    report("nominal result", 0.0)
    if isinstance(trial, RecordedBody | MeasuredModel):
        if cost is not None or solver is not None or side != "both":
            raise input_error(
                "conflict",
                where="uncertainty",
                problem="cost, solver or side of a body that is ready",
                expected="those with which it was made",
                remedy="make the body with them",
            )
        prepared = trial
        stated = {} if trial.trial is None else trial.trial.settings.uncertainty.stated
    else:
        trial = read_trial(trial)
        prepared, stated = prepare(trial, cost, solver, side), trial.settings.uncertainty.stated
    chosen = standard_deviations(stated, sd)
    check_consistent(prepared.trial, "the uncertainty")
    check_sources({**stated, **(sd or {})}, prepared.kind, prepared.person is not None, prepared.is_predicted)
    result = labeled.assemble(share(prepared)) if known is None else known
    if isinstance(prepared, MeasuredModel):
        replay: Replay = ModelReplay.from_body(prepared, chosen)
    else:
        replay = RecordedReplay.from_body(prepared, chosen)
    counted = np.stack([counted_frames(result, side) for side in replay.layout.sides], axis=1)
    common = Samples(replay, counted, seed, designed_numbers(replay, seed) if fast else None)
    # the parameters of the derivatives; empty, with the reason, for a cost without derivatives
    wanted, why_not = list[Task](), "not requested"
    if how.get("contributions", True):
        try:
            wanted = common.linear.tasks(few=fast) if common.linear.responses else []
            why_not = "" if wanted else "every source is switched off"
        except InputError as error:
            why_not = error.problem
    chunks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    parts = [wanted[first : first + CHUNK] for first in range(0, len(wanted), CHUNK)]
    tasks: list[range | list[Task]] = [range(NOMINAL, NOMINAL + 1), *chunks, *parts]
    part = SAMPLES_SHARE if wanted else 1.0
    with closing(_ordered(common, tasks, jobs, fast)) as computed:
        done = itertools.chain.from_iterable(computed)
        statistics, reserve, reasons = _gathered(
            done, count, counted, lambda fraction: report("samples", part * fraction), fast
        )

        def squares() -> Iterator[tuple[Task, dict[str, Array]]]:
            for number, pair in enumerate(zip(wanted, done, strict=True)):
                report("contributions", SAMPLES_SHARE + (1.0 - SAMPLES_SHARE) * number / len(wanted))
                yield pair

        variance = summed(replay.parameters.shapes, squares())
    attributes = {
        "seed": seed,
        "sampling": DESIGNED if fast else "random",
        "failed_samples": len(reasons),
        "failures": [f"{number} x {why}" for why, number in Counter(reasons).most_common(MOST_REASONS)],
        "without_contributions": why_not,
    }
    unique = common.linear.unique if wanted else None
    return assemble(result, replay, statistics, reserve, variance, unique, attributes)


def _ordered(
    common: Samples, tasks: Sequence[range | list[Task]], jobs: int, few: bool
) -> Generator[list[Any]]:
    """Yield the results of `work` for every task, in their order, from several processes.

    They are processes, or, of few samples, which are finished before processes would have started, threads: more than
    half of the time compiled code leaves Python to the other threads.
    """
    if jobs == 1 or len(tasks) < 2:
        yield from (work(common, task) for task in tasks)
        return
    if few:
        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(partial(work, common), tasks)
        return
    try:
        pool = Pool(work, common, tasks, min(jobs, len(tasks)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise input_error(
            "bad_type",
            where="jobs",
            problem=f"the analysis cannot be sent to other processes: {error}",
            expected="a cost and a solver that can be pickled",
            remedy="jobs=1 computes in this process",
        ) from error
    yield from pool.ordered()


def _gathered(
    done: Iterator[tuple[Array, Array] | str],
    samples: int,
    counted: Mask,
    report: Callable[[float], None],
    few: bool,
) -> tuple[Statistics, Array, list[str]]:
    """Statistics of the samples, number with a reserve (T, S), reasons of failures; the nominal sample comes first."""
    first = next(done)
    if isinstance(first, str):
        raise MuscleSolveError(f"the trial cannot be run again: {first}")
    statistics = Statistics(first[0], samples, few)
    reserve, reasons = np.zeros(counted.shape), []
    for number, sample in enumerate(itertools.islice(done, samples)):
        report(number / samples)
        if isinstance(sample, str):
            reasons.append(sample)
            statistics.add(np.full(first[0].shape, np.nan))
        else:
            statistics.add(sample[0])
            reserve += sample[1]
    return statistics, reserve, reasons
