"""The cycles of one result as a file beside it, written by the computation of the trial."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.sides import OTHER, side_of, split_side
from musclesolve.constants import DESIGNED, FAST, TRIAL_FILE
from musclesolve.errors import file_error
from musclesolve.laboratory.plotting.figure_names import UNCERTAINTY
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.results.cycles.gait_cycles import SPREAD, cycles
from musclesolve.laboratory.results.dataset.frame_validity import cut_sides, sides, with_word_coordinates
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, explained, in_set, with_formulas
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.result_netcdf import (
    netcdf_bytes,
    read_answers,
    read_result,
    result_attributes,
)
from musclesolve.laboratory.results.tables.question_tables import NO_ANSWER, contact_shares, grouped
from musclesolve.studies.known_names import muscle_groups

CYCLES = "cycles.nc"
OF_CONTRIBUTIONS = (
    "center_acceleration joint_acceleration contact_contribution contact_contribution_own".split()
)
"""Curves of the answer to `contributions`."""


def cycles_file(result: xr.Dataset, path: Path) -> bytes:
    """Return the content of cycles.nc: the cycles of both legs of a result, names without side, in SI units.

    Where uncertainty.nc is beside it, they have its standard deviations, as NAME_uncertainty_sd; where answers to
    questions are, their curves and values, see `cycles_of_trial`.
    """
    beside = path.with_name(UNCERTAINTY)
    extended = _with_uncertainty(result, read_result(beside)) if beside.is_file() else result
    return netcdf_bytes(cycles_of_trial(extended, read_answers(path.parent)))


class UncertaintyFile:
    """Makes uncertainty.nc of a trial from its trial file, beside the result; samples as in `uncertainty`."""

    def __init__(self, samples: int | str) -> None:
        self.samples = samples

    def made(self, path: Path) -> bool:
        """Return whether a file has these samples."""
        stored = result_attributes(path)
        if stored.get("sampling") == DESIGNED:
            return self.samples == FAST
        return stored.get("samples") == str(self.samples)

    def __call__(self, result: xr.Dataset, path: Path) -> bytes:
        """The content of the file."""
        from musclesolve.studies.uncertainty.monte_carlo import uncertainty

        legs = sides(result)
        side = legs[0] if len(legs) == 1 and legs[0] in SIDES else "both"
        how: dict[str, Any] = {"jobs": 1, "contributions": False}
        return netcdf_bytes(uncertainty(path.with_name(TRIAL_FILE), self.samples, side=side, **how))


def _with_uncertainty(result: xr.Dataset, uncertainty: xr.Dataset) -> xr.Dataset:
    """A result with the standard deviations of its quantities."""
    more = {}
    for name in in_set("uncertainty"):
        if name in result and f"{name}_sd" in uncertainty:
            spread = uncertainty[f"{name}_sd"].reindex_like(result[name])
            more[name + SPREAD] = result[name].copy(data=spread.transpose(*result[name].dims).values)
    return result.assign(more)


def cycles_of_trial(result: xr.Dataset, answers: Mapping[str, xr.Dataset] | None = None) -> xr.Dataset:
    """Return the cycles of both legs of a result along `cycle`, names without side, in single precision.

    A model without legs has the cycles of its trial.

    Args:
        result: of `run` or `share`.
        answers: of the same trial, by the name of the question.

    Returns:
        What `cycles` returns of both legs. Over cycle besides metabolic_rate [W/kg] and cost_of_transport [J/(kg m)] of
        the trial, where they are known, the same in all its cycles. For answers the curves center_acceleration (part,
        axis), joint_acceleration (part, dof), contact_contribution and contact_contribution_own (part, place: hip,
        knee, knee_medial, knee_lateral, ankle), with the first contact model, and least_strength (part), cut into
        cycles; and margin (part), a number of the trial and the leg; parts are the function groups of the leg. The
        attribute no_answer says which question has none, and why.
    """
    known = {name: answer for name, answer in (answers or {}).items() if NO_ANSWER not in answer.attrs}
    extended = result.assign(_curves_of_answers(result, known))
    legs = []
    for side in cut_sides(result):
        leg = with_word_coordinates(cycles(extended, side, without_side=side != OTHER))
        legs.append(leg.assign(_numbers_of_leg(result, known, side, leg.sizes["cycle"])))
    sentences = {
        key: [text for leg in legs for text in leg.attrs[key]] for key in ("left_out", "invalid", "reserves")
    }
    together = legs[0]
    if len(legs) > 1:
        together = xr.concat(legs, "cycle", join="outer", combine_attrs="drop_conflicts")
    if "group" in together.coords:  # subjects have groups, too
        together = together.rename(group="function_group")
    double = [name for name, variable in together.data_vars.items() if variable.dtype == np.float64]
    single = {name: together[name].variable.astype(np.float32) for name in double}
    sentences["no_answer"] = [
        f"{name}: {answer.attrs[NO_ANSWER]}" for name, answer in (answers or {}).items() if name not in known
    ]
    return with_formulas(together.assign(single), "study").assign_attrs(sentences)


def _curves_of_answers(result: xr.Dataset, answers: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """The curves of answers over the frames of a result; parts are the function groups of both legs."""
    groups, curves = muscle_groups(result), dict[str, xr.DataArray]()
    if "contributions" in answers:
        together = grouped(answers["contributions"]).isel(contact=[0])
        together = together.assign(_of_contact_forces(together)).isel(contact=0, drop=True)
        named = [name for name in map(str, together["group"].values) if name in groups]
        for name in OF_CONTRIBUTIONS:
            if name in together:
                curves[name] = together[name].sel(group=named).rename(group="part")
    if "margins" in answers:
        curves["least_strength"] = _of_groups(answers["margins"]["least_strength"], groups)
    together = xr.merge(curves.values(), join="outer", compat="override", combine_attrs="drop")
    if together.data_vars and not together.indexes["time"].equals(result.indexes["time"]):
        raise file_error(
            "bad_result",
            result.encoding.get("source"),
            "an answer beside the result is of other frames",
            "answers to the same trial",
            "remove contributions.nc and margins.nc, and compute again",
        )
    return explained(together.reindex({"dof": result["dof"]}) if "dof" in together.dims else together)


def _of_contact_forces(together: xr.Dataset) -> dict[str, xr.DataArray]:
    """Shares of groups in the contact forces of both legs by place: hip_r, knee_r, knee_medial_r, ..."""
    shares = {
        f"{place.replace(f'_{side}', '', 1)}_{side}": share
        for side in map(str, together["side"].values)
        for place, share in contact_shares(together, side).items()
    }
    if not shares:
        return {}
    places = xr.IndexVariable("place", list(shares))
    pressing, dynamics = (
        xr.concat([part.reset_coords(drop=True) for part in way], places).transpose(
            ..., "group", "time", "place"
        )
        for way in zip(*shares.values(), strict=True)
    )
    return {"contact_contribution": pressing + dynamics, "contact_contribution_own": pressing}


def _of_groups(values: xr.DataArray, groups: Mapping[str, Sequence[str]]) -> xr.DataArray:
    """Values of `margins` over the function groups (part); a group of one muscle is this muscle."""
    of = {name: name if len(muscles) > 1 else muscles[0] for name, muscles in groups.items()}
    there = set(map(str, values["of"].values))
    names = [name for name, members in of.items() if members in there]
    kept = values.sel(of=[of[name] for name in names]).reset_coords(drop=True)
    return kept.rename(of="part").assign_coords(part=names)


def _numbers_of_leg(
    result: xr.Dataset, answers: Mapping[str, xr.Dataset], side: str, count: int
) -> dict[str, xr.DataArray]:
    """The numbers of a trial and its leg, in each of its cycles."""
    numbers = dict[str, xr.DataArray]()
    if (energy := Facts(result).metabolic_rate) is not None:
        rates = {"metabolic_rate": energy.rate, "cost_of_transport": energy.cost_of_transport}
        numbers |= {name: xr.DataArray(value, attrs=QUANTITIES[name].attrs) for name, value in rates.items()}
    if "margins" in answers:
        margin = _of_groups(answers["margins"]["margin"], muscle_groups(result))
        margin = margin.sel(part=[name for name in map(str, margin["part"].values) if side_of(name) == side])
        numbers["margin"] = margin.assign_coords(
            part=[split_side(str(name))[0] for name in margin["part"].values]
        )
    return {name: value.expand_dims(cycle=count) for name, value in numbers.items()}
