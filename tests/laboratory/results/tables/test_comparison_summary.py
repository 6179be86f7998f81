"""A comparison of three costs fits on a page of 60 lines and 80 columns, and its numbers are those of the result."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import xarray as xr
from rich.console import Console

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.judgement import judge
from musclesolve.laboratory.results.plausibility import plausibility
from musclesolve.laboratory.results.tables.comparison_tables import ComparisonFacts, comparison_tables

COSTS = ["stress_cubed", "force_squared", "soft_saturation"]


@pytest.fixture(scope="module")
def comparison() -> xr.Dataset:
    return ms.compare(reference_stride(), COSTS)


def printed(comparison, width: int = 80) -> list[str]:
    out = Console(width=width, markup=False, file=io.StringIO())
    for heading, table in comparison_tables(comparison).items():
        out.print(heading, table, "", sep="\n")
    return out.file.getvalue().splitlines()


def test_it_fits_on_a_page_and_names_stay_whole(comparison):
    lines = printed(comparison)
    assert len(lines) + 5 < 60  # with the files
    assert max(map(len, lines)) <= 80 and "…" not in "\n".join(lines)


@pytest.mark.parametrize("width", [80, 140])
def test_its_numbers_are_those_of_the_result(comparison, width):
    lines = printed(comparison, width)
    force = comparison["group_force"].sel(function_group=["triceps_surae_r", "triceps_surae_l"]).max("time")
    row = next(line for line in lines if line.startswith("triceps_surae"))
    assert re.findall(r"\d+", row) == [f"{value:.0f}" for value in force.sel(cost=COSTS).values.ravel()]

    weight = 9.80665 * float(comparison.attrs["subject_mass_kg"])
    size = np.linalg.norm(
        comparison["joint_reaction"].transpose("cost", "joint", "time", "axis").values, axis=-1
    )
    peaks = (
        size.max(axis=-1) / weight
    )  # (cost, joint): hip, knee and ankle of the right leg, then of the left one
    heading = next(k for k, line in enumerate(lines) if line.startswith("peak contact force"))
    for number, cost in enumerate(COSTS):
        row = next(line for line in lines[heading:] if line.startswith(cost))
        found = [float(each) for each in re.findall(r"\d+\.\d+", row)]
        order = [list(comparison["joint"].values).index(f"{joint}_{side}") for joint in ("hip", "knee", "ankle")
                 for side in "rl"]  # fmt: skip
        np.testing.assert_allclose(found, peaks[number, order], atol=0.005)


def test_the_muscle_on_top_differs_most(comparison):
    lines = printed(comparison)
    start = next(k for k, line in enumerate(lines) if line.startswith("muscles that differ most"))
    name = next(line for line in lines[start:] if re.match(r"\w+_[rl] ", line)).split()[0]
    apart = comparison["rms_difference"].sel(other=COSTS[0]).max("cost")
    assert float(apart.sel(muscle=name)) == float(apart.max())


def test_one_leg_without_contact_forces(comparison):
    muscles = [name for name in comparison["muscle"].values if name.endswith("_r")]
    one = comparison.sel(muscle=muscles).drop_vars("joint_reaction")
    text = "\n".join(printed(one))
    assert "(right)" in text and "left" not in text and "contact force" not in text


def test_each_cost_has_its_verdict_and_the_joints_beyond_what_was_measured(comparison):
    text = "\n".join(printed(comparison, 140))
    for cost, under in ComparisonFacts(comparison).under.items():
        judged = plausibility(under)
        row = next(line for line in text.partition("contact force")[2].splitlines() if line.startswith(cost))
        assert judge(under).label in row
        assert ("knee" in row) == any("knee" in each for each in judged.against)
