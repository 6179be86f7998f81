"""Samples of the Monte Carlo analysis: the quantities followed through them, their statistics, and all as one Dataset.

Samples arrive one after the other and are not stored: mean, standard deviation and quantiles refer to deviations from
the nominal values, so that a constant quantity has a spread of exactly zero.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Mask, split_named
from musclesolve.constants import BAND_95
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.results.dataset.frame_validity import MUSCLE_WORDS
from musclesolve.laboratory.results.dataset.quantities import (
    ANALYSIS,
    QUANTITIES,
    Quantity,
    by_formula,
    in_set,
    of_parts,
)
from musclesolve.models.body import SolvedGroup
from musclesolve.sharing.cost.sum_of_terms import can_vary
from musclesolve.sharing.status import Status
from musclesolve.studies.uncertainty.contributions import Linear, Task
from musclesolve.studies.uncertainty.recorded_replay import SubjectWithErrors
from musclesolve.studies.uncertainty.replay import OF_COST, Replay, ReplayLayout, SampleBody, sources

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
        quantiles = np.full((len(QUANTILES), self.nominal.size), np.nan)
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
                quantiles[row, start + entry] = (
                    self._origin[start + entry] + below + (place - low) * (above - below)
                )
        return quantiles


Variable = tuple[tuple[str, ...], AnyArray, dict[str, str]]

PEAK = "_peak"


def followed() -> dict[str, Quantity]:
    """The quantities that are followed through the samples: over time, then their peaks over muscles or joints."""
    over_time = {name: QUANTITIES[name] for name in in_set("uncertainty")}
    meaning = "; largest over the valid nominal frames of stance"
    peaks = {
        name + PEAK: replace(quantity, dims=quantity.dims[1:], long_name=quantity.long_name + meaning)
        for name, quantity in over_time.items()
        if "peak" in quantity.sets
    }
    return over_time | peaks


PREDICTED = "ground_predicted"
OF_RESULT = ("status", "valid", "ground_reaction_force", PREDICTED, *MUSCLE_WORDS)
"""Variables copied from the nominal result: valid frames, contacts of the feet if known, and words on the muscles."""

COORDINATES = ("muscle", "joint")
"""Coordinates of the nominal result that the quantities have, too; one of a model without loads has no joints."""


def assemble(
    result: "xr.Dataset",
    replay: Replay,
    statistics: Statistics,
    reserve: AnyArray,
    variance: Mapping[str, AnyArray],
    unique: AnyArray | None,
    attributes: Mapping[str, Any],
) -> "xr.Dataset":
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
    from musclesolve.laboratory.results.dataset.result_quantities import listed

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
    known = {name: one.dims for name, one in followed().items() if all(dim in sizes for dim in one.dims)}
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
    chosen = {name: known[name] for name in wanted if name in known}
    verdict_of = {"muscle": layout.muscle_side, "joint": layout.joint_side}
    peaks = {
        name + PEAK: _peak(chosen[name], counted[:, verdict_of[QUANTITIES[name].dims[-1]]])
        for name in in_set("uncertainty", "peak")
        if name in chosen
    }
    return chosen | peaks


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
        return [common.linear.squares(one) for one in task]
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
