"""A file of moments contains the loads that inverse dynamics had: one trial has one verdict, by either road."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from measured_model import measured_model
from recorded_data import recorded
from said import judgement, plausible

import musclesolve as ms
from musclesolve.models.opensim.loads_without_plates import found_loads
from musclesolve.tables import Table

PART = 1.1, 1.75
"""Both feet are on plates, and later the left one is beside them [s]."""


def walk() -> tuple[Path, Path, Path]:
    folder = recorded("rajagopal_walk")
    reference = folder / "reference"
    return (
        reference / "rajagopal_lai_uhlrich_2023_scaled.osim",
        reference / "opensim_ik.mot",
        folder / "walk_grf.mot",
    )


@cache
def under_loads():
    model, coordinates, loads = walk()
    return measured_model(model, coordinates, loads=loads, start_s=PART[0], end_s=PART[1])


def moments_of(body, factor: float = 1.0) -> Table:
    """As OpenSim's inverse dynamics writes them; factor: of the moment of the left knee."""
    assert body.dynamics is not None
    names = [
        f"{name}_{'moment' if each.rotational else 'force'}" for name, each in body.model.coordinates.items()
    ]
    values = body.dynamics.dynamics.joint_force.copy()
    values[:, names.index("knee_angle_l_moment")] *= factor
    return Table(body.time, tuple(names), values, False, Path())


@cache
def by_roads() -> tuple[xr.Dataset, xr.Dataset]:
    model, coordinates, loads = walk()
    limits = {"start_s": PART[0], "end_s": PART[1]}
    with_loads = ms.share_model(model, coordinates, loads=loads, **limits)
    return with_loads, ms.share_model(model, coordinates, moments_of(under_loads()), **limits)


def test_the_loads_in_the_moments_are_those_of_the_plates() -> None:
    body = under_loads()
    assert body.dynamics is not None
    loads, why = found_loads(body.model, body.motion, moments_of(body))
    assert loads and not why
    given = body.dynamics.body_wrench[:, :, 3:]
    for load in loads:
        np.testing.assert_allclose(load.force, given[:, body.model.body_number[load.body]], atol=1e-3)


def test_moments_that_disagree_with_each_other_contain_no_loads() -> None:
    body = under_loads()
    loads, why = found_loads(body.model, body.motion, moments_of(body, 4.0))
    assert not loads and "another model, motion or filter" in why
    table = moments_of(body)
    without_root = [k for k, name in enumerate(table.names) if not name.startswith("pelvis")]
    legs = replace(
        table, names=tuple(table.names[k] for k in without_root), values=table.values[:, without_root]
    )
    loads, why = found_loads(body.model, body.motion, legs)
    assert not loads and "free joint" in why


def test_without_a_filter_a_note_says_why_no_contact_force_is_compared() -> None:
    model, coordinates, _ = walk()
    result = ms.share_model(
        model, coordinates, moments_of(under_loads()), cutoff_hz=None, start_s=PART[0], end_s=PART[1]
    )
    assert plausible(result).why_not_known == "no contact forces are known (see the notes)"
    (note,) = [line for line in result.attrs["notes"] if line.startswith("No contact forces")]
    assert "--cutoff-hz 6" in note


def test_both_roads_have_one_verdict_with_the_same_reasons() -> None:
    one, two = (judgement(result) for result in by_roads())
    assert one.verdict == two.verdict and one.legs == two.legs
    assert [(each.code, each.severity) for each in one.findings if each.severity != "note"] == [
        (each.code, each.severity) for each in two.findings if each.severity != "note"
    ]


@pytest.mark.parametrize("name", ["muscle_force", "joint_reaction", "ground_reaction_force"])
def test_both_roads_have_the_same_forces(name: str) -> None:
    one, two = by_roads()
    np.testing.assert_allclose(one[name].values, two[name].values, atol=0.5)


def test_a_knee_of_another_name_is_said(tmp_path: Path) -> None:
    model, coordinates, loads = walk()
    renamed = tmp_path / "renamed.osim"
    renamed.write_text(model.read_text(encoding="utf-8").replace("walker_knee_", "kn_"), encoding="utf-8")
    said = [
        str(note)
        for note in measured_model(renamed, coordinates, loads=loads, start_s=PART[0], end_s=PART[1]).notes
    ]
    usual = [str(note) for note in under_loads().notes]
    assert [note for note in said if "name of a knee" in note] and not any(
        "name of a knee" in n for n in usual
    )
