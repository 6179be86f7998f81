"""Gait cycles averaged: mean, spread and number at every percentage of the cycle.

Cycles are averaged if no cycle occurs twice, and all have the same cost, muscles and passive forces.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, mean_of_known, median_of_known, sd_of_known, slices
from musclesolve._util.sides import OTHER, SIDES
from musclesolve.constants import RIGID
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.results.cycles.gait_cycles import (
    METHODS,
    RESERVES,
    SUBJECT_ATTRIBUTES,
    cycle_names,
    cycles,
    short_path,
)
from musclesolve.laboratory.results.cycles.movement_landmarks import WITHOUT_LEGS
from musclesolve.laboratory.results.cycles.normalization import check_cycles, chosen_units, normalized
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.frame_validity import (
    cut_sides,
    with_word_coordinates,
    with_word_variables,
)
from musclesolve.laboratory.results.dataset.result_quantities import inputs_of, listed
from musclesolve.laboratory.results.files.result_netcdf import read_result
from musclesolve.laboratory.results.judge_result import judge_result
from musclesolve.laboratory.results.judgement import USABLE

STATISTICS = ("std", "median", "count")
"""Suffixes of the statistics beside the mean, such as ``activation_std``."""
SENTENCES = ("left_out", "invalid", "reserves")
"""Attributes of gait cycles with sentences on single cycles."""
TOGETHER = 8
"""Number of percentages whose statistics are computed together."""
MOST_COMMON = 0.5
"""Overlap of two cycles of one recording, as a share of the shorter one, beyond which they are the same stride."""
PROBLEM = ("cost", "muscle_database", "muscle_parameters", "passive", "fiber_lengths", "tendon", "curves")
"""Choices that define the optimization problem whose solution are the muscle forces."""
UNSTATED = {"tendon": RIGID, "muscle_parameters": "the muscles of the set"}
"""Choices of results that do not state them."""


def average_cycles(cycles: xr.Dataset | Sequence[xr.Dataset]) -> xr.Dataset:
    """Mean, standard deviation, median and number of gait cycles, of one result or of many.

    At each percentage all cycles with a valid value count. The standard deviation has the divisor n - 1; NaN for
    a single cycle.

    Args:
        cycles: what ``cycles`` returned, for one result or for each of many; of one leg, or of both with
            ``without_side=True``.

    Returns:
        Dataset over percent, dof, muscle, joint and axis: each variable by its name is the mean; with ``_std``,
        ``_median`` and ``_count`` the other statistics. ``cycles`` is their number, ``cycles_with_reserve`` the number
        of cycles that needed a reserve at each percentage. ``attrs["cycles"]`` lists them, ``left_out``, ``invalid``
        and ``reserves`` come from ``cycles``, ``unlike`` the methods in which their results differ, ``persons``
        the subjects.

    Raises:
        InputError: these are no gait cycles, there is none, a cycle occurs twice, the forces minimize different costs
            or belong to different muscles, or names or percentages differ.

    Examples:
        >>> result = ms.run(ms.data.reference_stride())
        >>> both = [ms.laboratory.cycles(result, side, without_side=True) for side in ("r", "l")]
        >>> average = ms.laboratory.average_cycles(both)
        >>> int(average["cycles"])
        1
    """
    every = [cycles] if isinstance(cycles, xr.Dataset) or not isinstance(cycles, Iterable) else list(cycles)
    needed = {"cycle", "cycle_trial", "cycle_side", "cycle_start", "cycle_end", "percent", RESERVES}
    for leg in every:
        check_cycles(leg, needed)
    sentences = {key: [one for leg in every for one in listed(leg, key)] for key in SENTENCES}
    used = [with_word_coordinates(leg) for leg in every if leg.sizes["cycle"]]
    if not used:
        why = f": {'; '.join(sentences['left_out'])}" if sentences["left_out"] else ""
        of_legs = WITHOUT_LEGS not in why
        strides = "frames from one heel strike of a leg to its next one, or " * of_legs
        widen = ", widen [time] of the trial if more was measured, or take incomplete cycles: partial=True, on the "
        raise input_error(
            "not_comparable",
            problem=f"there is no complete cycle to average{why}",
            expected=f"{strides}cycles stated by cycles_s in [time]",
            remedy="state cycles_s" + f"{widen}command line --partial" * of_legs,
        )
    check_once(used)
    check_alike(used)
    shared = set.intersection(*(set(leg.data_vars) for leg in used))
    same = [leg[sorted(map(str, shared))] for leg in used]
    curves = shared - {RESERVES}
    try:
        together = xr.concat(
            [leg.drop_vars(curves) for leg in same],
            "cycle",
            join="exact",
            combine_attrs="override",
            coords="minimal",
            compat="override",
        )
    except ValueError as error:
        raise input_error(
            "not_comparable",
            problem="these gait cycles do not have the same names or percentages",
            expected="cycles of one leg, or of both without side; the same muscles and the same number of points",
            remedy="ask for all of them in the same way: cycles(result, side, without_side=True)",
        ) from error
    helped = together[RESERVES].sum("cycle").astype(np.int32).variable
    helped.attrs = {"units": "1", "long_name": "gait cycles in the average that needed a reserve"}
    averaged = {}
    for name in sorted(map(str, curves)):
        variable = same[0].variables[name].transpose("cycle", "percent", ..., missing_dims="ignore")
        dims = tuple(map(str, variable.dims[1:]))
        values = [leg.variables[name].transpose("cycle", *dims).values for leg in same]
        for suffix, numbers in zip(("", *STATISTICS), _statistics(values), strict=True):
            attrs = {"units": "1"} if suffix == "count" else dict(variable.attrs)
            if suffix:
                for key in ("long_name", "description"):
                    attrs[key] = f"{suffix} over cycles: {variable.attrs.get(key, name)}"
            averaged["_".join(filter(None, (str(name), suffix)))] = xr.Variable(dims, numbers, attrs)
    number = {"units": "1", "long_name": "gait cycles in the average"}
    averaged["cycles"] = xr.Variable((), np.int32(together.sizes["cycle"]), number)
    averaged["cycles_with_reserve"] = helped
    coords = {name: coord.variable for name, coord in together.coords.items() if "cycle" not in coord.dims}
    alike = {"unlike": differences(used), "persons": persons(used), "cycles": cycle_names(together)}
    return with_word_variables(xr.Dataset(averaged, coords, {**common(used), **sentences, **alike}))


def check_once(cycles: Sequence[xr.Dataset]) -> None:
    """Refuse a stride that occurs twice, also where its result was copied or computed with other options.

    A recording is identified by the contents of its marker files (``attrs["inputs"]``), where a result has these.
    """
    strides: dict[object, list[tuple[float, float, str]]] = defaultdict(list)  # start, end [s], name
    for cycle in cycles:
        markers = frozenset(sha for role, _, sha in inputs_of(cycle) if role == "markers")
        if markers:
            file = cycle.encoding.get("source")
            place = f" ({short_path(file)})" if file else ""
            columns = (cycle[f"cycle_{name}"].values.tolist() for name in ("side", "start", "end"))
            for side, start, end, name in zip(*columns, cycle_names(cycle), strict=True):
                strides[markers, side].append((start, end, name + place))
    for spans in strides.values():
        for (start, end, name), (next_start, next_end, next_name) in pairwise(sorted(spans)):
            shared = min(end, next_end) - next_start
            if shared > MOST_COMMON * min(end - start, next_end - next_start):
                raise input_error(
                    "not_comparable",
                    problem=f"the same stride is there twice: {name}; {next_name}",
                    expected="every recorded stride once: one that counts twice makes the spread too small",
                    remedy="leave one of the results of this recording out",
                )


def check_alike(cycles: Sequence[xr.Dataset]) -> None:
    """Refuse cycles of different movements, and muscle forces of different problems.

    The mean of solutions of different problems is no solution.

    OpenSim models with the same muscles count as the same, whatever their files are called.

    Other choices, of the filter or of the hip joints, change the errors of the same forces; ``differences`` lists them.
    """
    if len(kinds := {about for cycle in cycles if (about := cycle["percent"].attrs.get("long_name"))}) > 1:
        raise input_error(
            "not_comparable",
            problem=f"these are cycles of different movements: {' and '.join(map(str, sorted(kinds)))}",
            expected="cycles of one movement, so that each percentage means the same in all",
            remedy="average the results of each movement for itself; movement and cycles_s of [time] state it",
        )
    for key in PROBLEM:
        # A database is a name, or a file in any folder.
        stated = [cycle.attrs.get(key, UNSTATED.get(key)) for cycle in cycles]
        values = dict.fromkeys(Path(str(value)).name for value in stated if value is not None)
        if key == "muscle_database" and all(name.lower().endswith(".osim") for name in values):
            # every person has a scaled copy of the model, often with another name: the muscles identify the model
            sets = {tuple(cycle["muscle"].values.tolist()) for cycle in cycles if "muscle" in cycle.coords}
            if len(sets) < 2:
                continue
        if len(values) > 1:
            raise input_error(
                "not_comparable",
                problem=f"these gait cycles are not computed with the same {key.replace('_', ' ')}: "
                f"{' or '.join(map(str, values))}",
                expected="the same cost, muscles and passive forces: the spread is then the spread of the strides",
                remedy="average the results of each for itself; musclesolve compare shows what the cost changes",
            )


def _statistics(parts: Sequence[Array]) -> list[Array]:
    """Mean, standard deviation, median and number of the finite values over the first axis of all parts."""

    def of_some(some: slice) -> tuple[Array, ...]:
        values = np.concatenate([part[:, some] if part.ndim > 2 else part for part in parts])
        count = np.isfinite(values).sum(axis=0).astype(np.int32)
        return mean_of_known(values), sd_of_known(values), median_of_known(values), count

    if parts[0].ndim < 3:  # one curve or number of each cycle
        return list(of_some(slice(None)))
    pieces = [of_some(some) for some in slices(parts[0].shape[1], TOGETHER)]
    return [np.concatenate(part) for part in zip(*pieces, strict=True)]


def common(cycles: Sequence[xr.Dataset]) -> dict[str, object]:
    """Attributes with the same value in all cycles."""
    return {
        key: value
        for key, value in cycles[0].attrs.items()
        if key not in SENTENCES and all(np.array_equal(cycle.attrs.get(key, ()), value) for cycle in cycles)
    }


def persons(cycles: Sequence[xr.Dataset]) -> list[str]:
    """The subjects of these cycles, each once: ``S01 (70.25 kg, 1.8 m)``."""
    people = []
    for cycle in cycles:
        name, mass, stature = (cycle.attrs.get(key) for key in SUBJECT_ATTRIBUTES)
        size = [f"{value:g} {unit}" for value, unit in ((mass, "kg"), (stature, "m")) if value is not None]
        people.append(str(name or "no name") + (f" ({', '.join(size)})" if size else ""))
    return list(dict.fromkeys(people))


def differences(cycles: Sequence[xr.Dataset]) -> list[str]:
    """A sentence for every choice of method that differs between the cycles: ``cost: fatigue, sum_cubed``."""
    sentences = []
    for key in METHODS:
        stated: dict[str, None] = {}
        for cycle in cycles:
            parts = np.atleast_1d(np.asarray(cycle.attrs.get(key, "not stated"))).tolist()
            words = (f"{part:g}" if isinstance(part, float) else str(part) for part in parts)
            stated[", ".join(words) or "none"] = None
        if len(stated) > 1:
            sentences.append(f"{key.replace('_', ' ')}: {' or '.join(stated)}")
    return sentences


FIGURE_VARIABLES = ("activation", "muscle_force", "joint_angle", "joint_moment", "group")
"""Variables in the figures of an average."""


def average_results(
    paths: Sequence[str | Path], *, partial: bool = False, units: Mapping[str, str] | None = None
) -> xr.Dataset:
    """Average the cycles of results stored in files.

    Args:
        paths: one or more ``result.nc``.
        partial: also include cycles of which the frames cover less than 95 %.
        units: kind -> unit, as `normalized` takes them. Unless given, the results of one person stay in the units they
            have, results of several persons are averaged in units that these share: N m/kg, body weights, % of maximum
            isometric force.

    Returns:
        The output of ``average_cycles`` for each leg, over the dimension side, names without side. A leg without any
        complete cycle is left out. ``attrs["verdicts"]`` has a sentence on each result in the mean that is not usable,
        or usable with care.
    """
    seen: dict[str, Path] = {}
    for path in map(Path, paths):
        if os.path.realpath(path) in seen:
            raise file_error(
                "duplicate_name",
                path,
                "this result is named twice",
                "every result once: a cycle that counts twice makes the spread too small",
                "leave one of them out",
            )
        seen[os.path.realpath(path)] = path
    of_legs: dict[str, list[xr.Dataset]] = {side: [] for side in (*SIDES, OTHER)}
    verdicts = list[str]()
    for path in seen.values():
        result = checked_result(read_result(path), FIGURE_VARIABLES)
        legs_cut = {
            side: cycles(result, side, partial=partial, without_side=side in SIDES)
            for side in cut_sides(result)
        }
        for side, leg in legs_cut.items():
            of_legs[side].append(leg)
        if any(leg.sizes["cycle"] for leg in legs_cut.values()):
            judgement = judge_result(result) if "plausible" in result else None
            if judgement is None:
                verdicts.append(f"{short_path(str(path))}: not judged, because the file has no plausibility.")
            elif judgement.verdict != USABLE:
                verdicts.append(f"{short_path(str(path))}: {judgement.use}")
    if units or len(persons([one for leg in of_legs.values() for one in leg if one.sizes["cycle"]])) > 1:
        of_legs = {side: [normalized(one, units) for one in leg] for side, leg in of_legs.items()}
    every = [one for leg in of_legs.values() for one in leg]
    used = [one for one in every if one.sizes["cycle"]]
    if not used:
        return average_cycles(every)  # raises the error with the reason
    check_alike(used)
    legs = {
        side: with_word_coordinates(average_cycles(of))
        for side, of in of_legs.items()
        if any(leg.sizes["cycle"] for leg in of)
    }
    together = xr.concat(
        list(legs.values()), xr.Variable("side", list(legs)), combine_attrs="override", join="outer"
    )
    together = with_word_variables(together)
    # attributes common to both legs, and the sentences on each leg
    attributes, subjects = common(used), persons(used)
    attributes.pop("side", None)
    if len(subjects) > 1:
        attributes["subject"] = "several persons"
    for key in ("cycles", "invalid", "reserves"):
        attributes[key] = [sentence for leg in legs.values() for sentence in leg.attrs[key]]
    attributes["left_out"] = [sentence for one in every for sentence in one.attrs["left_out"]]
    together.attrs = {}
    return together.assign_attrs(
        attributes | {"unlike": differences(used), "persons": subjects, "verdicts": verdicts}
    )


def stated_units(texts: Sequence[str]) -> dict[str, str] | None:
    """Units by kind from texts such as "moment=N m/kg"; None without texts."""
    units = {}
    for text in texts:
        kind, equals, unit = (part.strip() for part in text.partition("="))
        if not equals:
            fault = f"the unit {text!r} names no kind of quantity"
            expected = "KIND=UNIT"
            remedy = "--unit moment='N m/kg'"
            raise input_error("bad_usage", where="--unit", problem=fault, expected=expected, remedy=remedy)
        units[kind] = unit
    chosen_units(units)
    return units or None
