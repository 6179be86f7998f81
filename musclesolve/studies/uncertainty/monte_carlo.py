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

Samples arrive one after the other and are not stored: mean, standard deviation and quantiles refer to deviations from
the nominal values, so that a constant quantity has a spread of exactly zero.
"""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Mask, split_named
from musclesolve._util.checks import check_integer, check_keywords
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.processes import cores
from musclesolve._util.worker_pool import Pool
from musclesolve.constants import BAND_95, DESIGNED, FAST, SEED
from musclesolve.errors import InputError, MuscleSolveError, input_error
from musclesolve.forces import prepare
from musclesolve.pipeline.body import SolvedGroup
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.run_options import check_consistent
from musclesolve.pipeline.share import share
from musclesolve.plotting.figure_names import UNCERTAINTIES, UNCERTAINTY, pages_of
from musclesolve.plotting.page.page_style import figures_of
from musclesolve.recording.data import AnyTrial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset import assemble as labeled
from musclesolve.results.dataset.frame_validity import MUSCLE_WORDS
from musclesolve.results.dataset.quantities import (
    ANALYSIS,
    QUANTITIES,
    Quantity,
    by_formula,
    in_set,
    of_parts,
)
from musclesolve.results.facts import counted_frames
from musclesolve.results.files.result_netcdf import netcdf_bytes
from musclesolve.results.plausibility import with_uncertainty
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.sum_of_terms import can_vary
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.sharing.status import Status
from musclesolve.studies.uncertainty.contributions import Linear, Task, summed
from musclesolve.studies.uncertainty.model_replay import ModelReplay
from musclesolve.studies.uncertainty.recorded_replay import RecordedReplay, SubjectWithErrors
from musclesolve.studies.uncertainty.replay import (
    OF_COST,
    Replay,
    ReplayLayout,
    SampleBody,
    check_sources,
    sources,
    standard_deviations,
)

if TYPE_CHECKING:
    import xarray as xr


QUANTILES = (BAND_95[0], 0.25, 0.5, 0.75, BAND_95[1])
"""Probabilities of the median and of the ends of the bands of 50 % and 95 %."""

QUANTILE_MEMORY = 256 * 2**20
"""Memory for the samples from which quantiles are computed [bytes]."""

MOST_KEPT, FEWEST_KEPT = 2000, 200
"""Bounds on the number of samples for quantiles; the lower one holds for any recording."""

BLOCK = 4096
"""Number of entries that are sorted at a time."""


class Statistics:
    """Mean, standard deviation and quantiles of vectors (D,) of which some entries may be missing (NaN).

    Mean and variance by the update of Welford (1962, Technometrics 4:419), entry by entry; quantiles from the first
    samples, which are as random as any others.

    nominal (D,): reference of deviations, 0 where it is NaN; samples: expected number of samples. few: the
    k-th of n samples is the quantile (k - 1/3) / (n + 1/3), as likely too low as too high; else (k - 1) / (n - 1),
    which of few samples puts the ends of a band too near to the median (Hyndman and Fan 1996, Am Stat
    50:361-5, definitions 8 and 7).
    """

    def __init__(self, nominal: Array, samples: int, few: bool = False) -> None:
        self.nominal, self._few = nominal, few
        self._origin = np.where(np.isnan(nominal), 0.0, nominal)
        self.count = np.zeros(nominal.size, np.int64)
        self._mean = np.zeros(nominal.size)
        self._squares = np.zeros(nominal.size)
        affordable = QUANTILE_MEMORY // (4 * nominal.size)
        kept = min(samples, MOST_KEPT, max(affordable, FEWEST_KEPT))
        self._first = np.empty((kept, nominal.size), np.float32)
        self.samples = 0

    def add(self, sample: Array) -> None:
        """Take in one sample (D,)."""
        off = sample - self._origin
        if self.samples < len(self._first):
            self._first[self.samples] = off
        self.samples += 1
        there = ~np.isnan(off)
        self.count += there
        step = np.where(there, off - self._mean, 0.0)
        self._mean += step / np.maximum(self.count, 1)
        self._squares += step * np.where(there, off - self._mean, 0.0)

    @property
    def mean(self) -> Array:
        """(D,) NaN where no sample has a value."""
        return np.where(self.count > 0, self._origin + self._mean, np.nan)

    @property
    def sd(self) -> Array:
        """(D,) standard deviation, NaN where fewer than two samples have a value."""
        return np.where(self.count > 1, np.sqrt(self._squares / np.maximum(self.count - 1, 1)), np.nan)

    @property
    def kept(self) -> int:
        """Number of samples from which the quantiles are taken."""
        return min(self.samples, len(self._first))

    def quantiles(self) -> Array:
        """(5, D) `QUANTILES`, between order statistics along straight lines; NaN where no sample has a value."""
        found = np.full((len(QUANTILES), self.nominal.size), np.nan)
        for start in range(0, self.nominal.size, BLOCK):
            ordered = np.sort(self._first[: self.kept, start : start + BLOCK], axis=0)  # missing ones last
            count = (~np.isnan(ordered)).sum(axis=0)
            entry = np.flatnonzero(count)
            for row, quantile in enumerate(QUANTILES):
                place = quantile * (count[entry] - 1)
                if self._few:
                    place = np.clip(quantile * (count[entry] + 1 / 3) - 2 / 3, 0, count[entry] - 1)
                low = place.astype(int)
                high = np.minimum(low + 1, count[entry] - 1)
                below, above = (ordered[at, entry].astype(float) for at in (low, high))
                found[row, start + entry] = (
                    self._origin[start + entry] + below + (place - low) * (above - below)
                )
        return found


Variable = tuple[tuple[str, ...], AnyArray, dict[str, str]]

PEAK = "_peak"


def followed() -> dict[str, Quantity]:
    """The quantities that are followed through the samples: over time, then their peaks over muscles or joints."""
    over_time = {name: QUANTITIES[name] for name in in_set("uncertainty")}
    meaning = "; largest over the valid nominal frames of stance"
    peaks = {
        name + PEAK: replace(each, dims=each.dims[1:], long_name=each.long_name + meaning)
        for name, each in over_time.items()
        if "peak" in each.sets
    }
    return over_time | peaks


PREDICTED = "ground_predicted"
OF_RESULT = ("status", "valid", "ground_reaction_force", PREDICTED, *MUSCLE_WORDS)
"""Variables copied from the nominal result: valid frames, contacts of the feet if known, and words on the muscles."""

COORDINATES = ("muscle", "joint")
"""Coordinates of the nominal result that the quantities have, too; one of a model without loads has no joints."""


def assemble(
    result: xr.Dataset,
    replay: Replay,
    statistics: Statistics,
    reserve: AnyArray,
    variance: Mapping[str, AnyArray],
    unique: AnyArray | None,
    attributes: Mapping[str, Any],
) -> xr.Dataset:
    """Label the output of samples and derivatives.

    Args:
        result: without errors.
        replay: of which the samples are.
        statistics: of the quantities.
        reserve: (T, S) by side, number of samples that needed a reserve.
        variance: quantity -> (source, T, k) first-order variance; empty without contributions.
        unique: (T, S) where the derivatives are the same to both sides; None without contributions.
        attributes: of the Dataset, besides the attributes of the result.
    """
    # loads xarray, which samples do not need
    from musclesolve.results.dataset.result_quantities import listed

    layout, known_quantities = replay.layout, followed()
    known = {name: sources()[name] for name in replay.parameters.shapes}
    coords = {"dof": list(layout.dofs), "quantile": list(QUANTILES), "source": list(known)}
    coords |= {name: result.coords[name] for name in COORDINATES if name in result.coords}
    labeled = result[[name for name in OF_RESULT if name in result]].assign_coords(coords)
    if PREDICTED in labeled and not labeled[PREDICTED].any():
        labeled = labeled.drop_vars(PREDICTED)
    labeled = labeled.assign_coords(
        source_label=("source", [source.label for source in known.values()]),
        source_unit=("source", [source.unit for source in known.values()]),
    )
    parts = {
        "": (statistics.nominal, "without errors"),
        "_mean": (statistics.mean, "mean of the samples"),
        "_sd": (statistics.sd, "standard deviation of the samples"),
        "_quantile": (statistics.quantiles(), "quantiles of the samples"),
    }
    sizes = {dim: size for dim, size in labeled.sizes.items() if replay.moves_ground or dim != "axis"}
    variables: dict[str, Variable] = {}
    for suffix, (values, what) in parts.items():
        first = ("quantile",) if suffix == "_quantile" else ()
        for name, array in separated(values, sizes).items():
            of = known_quantities[name]
            about = _about(of.units, f"{of.long_name}; {what}")
            variables[name + suffix] = ((*first, *of.dims), array, about)

    # the muscles of a part are solved together
    count = separated(statistics.count, sizes)["muscle_force"]
    muscles = [np.concatenate([layout.muscles[k] for k in numbers]) for numbers in layout.parts]
    valid = np.stack([count[:, columns].min(axis=1) for columns in muscles], axis=1)
    share = np.divide(reserve, valid, out=np.full(valid.shape, np.nan), where=valid > 0)
    over = ("time", "side")
    variables |= {
        "valid_samples": (over, valid, _about("1", "samples with a solution of the frame")),
        "reserve_share": (over, share, _about("1", "share of the valid samples that needed a reserve")),
    }
    meaning = "standard deviation of each source: 1 is relative; source_unit says which"
    of_sources = np.array([replay.parameters.sd[name] for name in known])
    about = _about("1, m, rad or body weights", meaning)
    variables["standard_deviation"] = (("source",), of_sources, about)

    # to first order the standard deviation, and the shares of the sources in the variance; 0 where nothing varies
    if unique is not None:
        meaning = "no muscle is about to reach or leave a bound: derivatives are the same to both sides"
        variables["first_order_unique"] = (over, unique, _about("1", meaning))
        for name, of_sources in variance.items():
            total = of_sources.sum(axis=0)
            none = np.where(np.isnan(of_sources), np.nan, 0.0)
            share = np.divide(of_sources, total, out=none, where=total > 0.0)
            of = known_quantities[name]
            spread = _about(of.units, f"{of.long_name}; standard deviation to first order")
            shares = _about("1", f"{of.long_name}; share of each source in the variance, to first order")
            variables[f"{name}_first_order_sd"] = (of.dims, np.sqrt(total), spread)
            variables[f"{name}_contribution"] = (("source", *of.dims), share, shares)
    labeled = labeled.assign(variables)
    notes = [] if replay.person is None else replay.person.error_notes(result["muscle"].values.tolist())
    if any(replay.parameters.sd[name] for name in OF_COST) and not can_vary(cost := replay.sharing.cost):
        notes.append(
            f"the cost is no power sum ({cost.label}): it is the same in all samples, its uncertainty left out"
        )
    labeled.attrs = result.attrs | {
        "notes": [*listed(result, "notes"), *notes],
        "samples": statistics.samples,
        "quantile_samples": statistics.kept,
        **attributes,
    }
    return labeled


def _about(unit: str, meaning: str) -> dict[str, str]:
    return {"units": unit, "long_name": meaning}


def separated(vectors: AnyArray, sizes: Mapping[Hashable, int]) -> dict[str, AnyArray]:
    """Quantities by name from vectors (..., D), in which they lie end to end, given the size of every dimension."""
    known = {name: each.dims for name, each in followed().items() if all(dim in sizes for dim in each.dims)}
    return split_named(vectors, {name: tuple(sizes[dim] for dim in dims) for name, dims in known.items()})


def quantities(
    layout: ReplayLayout, body: SampleBody, parts: list[SolvedGroup], counted: AnyArray, contact_error: Array
) -> dict[str, AnyArray]:
    """The quantities of one run in the order of `followed`; peaks over the frames that count, (T, S) by side.

    contact_error: of the contact model, (T, J) [N], along each joint reaction.
    """
    known: dict[str, AnyArray] = {"joint_moment": body.moment, "joint_angle": body.angle}
    if isinstance(body, SubjectWithErrors):
        known["ground_reaction_force"] = body.ground
    wanted = in_set("uncertainty")
    for name in {argument for of in wanted for argument in (of, *QUANTITIES[of].arguments)} - {ANALYSIS}:
        quantity = QUANTITIES[name]
        if not quantity.part or ("joint" in quantity.dims and not layout.joint_side.size):
            continue
        if not quantity.part.startswith("tendons") or parts[0].tendons is not None:
            known[name] = of_parts(name, parts, layout.over_muscles, layout.over_joints)
    if (reaction := known.get("joint_reaction")) is not None and contact_error.any():
        size = np.linalg.norm(reaction, axis=-1)
        longer = np.divide(contact_error, size, out=np.zeros_like(size), where=size > 0.0)
        known["joint_reaction"] = reaction * (1.0 + longer)[..., None]
    known |= by_formula(known, "uncertainty")
    found = {name: known[name] for name in wanted if name in known}
    verdict_of = {"muscle": layout.muscle_side, "joint": layout.joint_side}
    peaks = {
        name + PEAK: _peak(found[name], counted[:, verdict_of[QUANTITIES[name].dims[-1]]])
        for name in in_set("uncertainty", "peak")
        if name in found
    }
    return found | peaks


def _peak(values: AnyArray, counted: AnyArray) -> AnyArray:
    """Largest of each column (T, k) over the frames (T, k) that count for it, (k,); NaN where none does."""
    known = np.where(counted & np.isfinite(values), values, -np.inf).max(axis=0)
    return np.where(np.isfinite(known), known, np.nan)


NOMINAL = -1
"""Number of the sample without errors."""


@dataclass(frozen=True)
class Samples:
    """Common data of all samples: the pipeline, the frames (T, S) of each side among which peaks are sought, the seed.

    designed (K, count): standard normal numbers of designed samples; None: they are drawn.
    """

    replay: Replay
    counted: Mask
    seed: int
    designed: Array | None = None

    def numbers(self, sample: int) -> Array:
        """The standard normal numbers (count,) of a sample; zeros of that without errors."""
        parameters = self.replay.parameters
        if sample == NOMINAL:
            return np.zeros(parameters.count)
        return parameters.draw(self.seed, sample) if self.designed is None else self.designed[sample]

    @cached_property
    def linear(self) -> Linear:
        """The derivatives of the pipeline at its nominal point."""
        return Linear(self.replay)


def work(common: Samples, task: range | list[Task], progress: object = None) -> list[Any]:
    """Compute some samples by their numbers, or squares of derivatives by some parameters.

    A sample is its quantities (D,), and which frames (T, S) of each side needed a reserve; or why it failed.
    """
    if not isinstance(task, range):
        return [common.linear.squares(each) for each in task]
    parameters, layout = common.replay.parameters, common.replay.layout
    samples: list[tuple[Array, AnyArray] | str] = []
    for number in task:
        errors = parameters.errors(common.numbers(number))
        try:
            body, parts = common.replay.run(errors)
        except MuscleSolveError as error:  # such errors give no model, or no pose of one
            samples.append(str(error))
            continue
        contact_error = common.replay.contact_error(errors)
        arrays = quantities(layout, body, parts, common.counted, contact_error)
        helped = np.stack([part.solution.status == Status.SOLVED_WITH_RESERVE for part in parts], axis=1)
        reserve = np.stack([helped[:, numbers].any(axis=1) for numbers in layout.parts], axis=1)
        samples.append((np.concatenate([values.ravel() for values in arrays.values()]), reserve))
    return samples


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
    workers: number of processes, this one among them, of designed samples threads; the number of cores unless given.
        With 1 no process is started.
    progress: as in `run`.
    result: result without errors of a prepared body, as in `run`; computed by default.
    """

    contributions: bool
    workers: int | None
    progress: Progress | None
    result: xr.Dataset | None


def uncertainty(
    trial: AnyTrial | RecordedBody | ModelBody | str | Path,
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
        >>> found = ms.uncertainty(ms.data.reference_stride(), samples=2, contributions=False, workers=1)
        >>> found["muscle_force_sd"].dims
        ('time', 'muscle')
    """
    check_keywords(how, Computing.__annotations__, "uncertainty")
    workers, report, known = how.get("workers"), how.get("progress") or no_progress, how.get("result")
    workers = cores() if workers is None else check_integer(workers, "workers", 1)
    fast = samples == FAST
    if isinstance(samples, str) and not fast:
        problem, expected = f"samples is {samples!r}", f"a whole number, 2 or more, or {FAST!r}"
        raise input_error("bad_number", where="samples", problem=problem, expected=expected)
    count = RUNS if fast else check_integer(samples, "samples", 2)
    seed = check_integer(seed, "seed", 0)
    report("nominal result", 0.0)
    if isinstance(trial, RecordedBody | ModelBody):
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
    if isinstance(prepared, ModelBody):
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
    with closing(_ordered(common, tasks, workers, fast)) as computed:
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
    common: Samples, tasks: Sequence[range | list[Task]], workers: int, few: bool
) -> Generator[list[Any]]:
    """Yield the results of `work` for every task, in their order, from several workers.

    They are processes, or, of few samples, which are finished before processes would have started, threads: more than
    half of the time compiled code leaves Python to the other threads.
    """
    if workers == 1 or len(tasks) < 2:
        yield from (work(common, task) for task in tasks)
        return
    if few:
        with ThreadPoolExecutor(workers) as threads:
            yield from threads.map(partial(work, common), tasks)
        return
    try:
        pool = Pool(work, common, tasks, min(workers, len(tasks)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise input_error(
            "bad_type",
            where="workers",
            problem=f"the analysis cannot be sent to other processes: {error}",
            expected="a cost and a solver that can be pickled",
            remedy="workers=1 computes in this process",
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


@dataclass
class UncertaintyFiles:
    """A maker of the uncertainty files of a trial, which keeps the computed uncertainty."""

    samples: int | str  # how many, or "fast"
    seed: int  # of the random numbers
    figures: bool  # whether they are drawn
    progress: Progress  # as in `run`
    found: xr.Dataset | None = None  # what `uncertainty` returned

    def __call__(self, body: RecordedBody | ModelBody, result: xr.Dataset) -> dict[str, bytes]:
        """The content of every file, by its name, of a body and its result."""
        self.found = uncertainty(body, self.samples, self.seed, progress=self.progress, result=result)
        pages = pages_of(self.found, UNCERTAINTIES) if self.figures else {}
        drawn = figures_of(self.found, pages, self.progress)
        return {UNCERTAINTY: netcdf_bytes(self.found), **drawn}

    def judged(self, result: xr.Dataset) -> xr.Dataset:
        """The result of the trial, judged by the uncertainty that was found for it."""
        if self.found is None or "joint" not in result.coords or "joint" not in self.found.coords:
            return result
        return with_uncertainty(result, self.found)
