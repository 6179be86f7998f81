"""Contributions of muscles to walking: sums, what others have published of each group, the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import musclesolve as ms
from musclesolve.cli import app as cli
from musclesolve.data import reference_stride
from musclesolve.results.tables.question_tables import contribution_facts, grouped, in_stance
from musclesolve.studies import contributions


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return contributions(reference_stride())


def test_groups_and_muscles_add_up_to_the_same(found):
    result = ms.run(reference_stride())
    known = found["center_acceleration"].isel(contact=0, part=0, axis=0).notnull()
    together = grouped(found)
    for contact in found["contact"].values:
        total = found["ground_contribution"].sel(contact=contact).sum("part", skipna=False)
        both = together["ground_contribution"].sel(contact=contact).sum("group", skipna=False)
        np.testing.assert_allclose(both.transpose(*total.dims), total, atol=1e-8)
        loaded = known & found["touching"]
        measured = result["ground_reaction_force"].transpose(*total.dims)
        np.testing.assert_allclose(total.where(loaded), measured.where(loaded), atol=1e-6)
    assert known.sum() > 30


def test_groups_do_what_is_published(found):
    """Neptune et al. 2001 (J Biomech 34:1387), Liu et al. 2006 (39:2623): contact by a point, as there."""
    together = grouped(found)
    for side in "rl":
        stance = in_stance(together, side)["center_acceleration"].sel(contact="point")
        percent = np.linspace(0.0, 1.0, stance.sizes["time"])
        early, late = percent < 0.35, percent > 0.5
        calf, vasti = (stance.sel(group=f"{name}_{side}") for name in ("triceps_surae", "quadriceps_femoris"))
        abductors = stance.sel(group=f"hip_abductors_{side}")
        assert float(calf.sel(axis="z")[late].mean()) > 2.0, "plantar flexors support in late stance"
        assert float(calf.sel(axis="x")[late].max()) > 0.3, "and propel"
        if early.any() and float(vasti.sel(axis="z")[early].max()) > 1.0:
            assert float(vasti.sel(axis="x")[early].mean()) < 0.0, "vasti support and brake in early stance"
        assert float(abductors.sel(axis="z").max()) > 0.5, "abductors support"


def test_facts_have_both_contact_models(found):
    facts = contribution_facts(found)
    assert {each["leg"] for each in facts} == {"r", "l"}
    assert all(len(each["support_m_s2"]) == found.sizes["contact"] for each in facts)
    gravity = next(each for each in facts if each["group"] == "gravity")
    assert -9.9 < gravity["support_m_s2"][0] < -5.0


def test_the_command_writes_contributions(tmp_path):
    out = CliRunner().invoke(
        cli.app, ["contributions", str(reference_stride()), "-o", str(tmp_path), "--json"]
    )
    assert out.exit_code == 0, out.output
    assert json.loads(out.stdout)["contacts"] == ["point", "foot"]
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"contributions.nc", "contributions_r.png", "contributions_l.png"}


def test_an_opensim_model_is_refused(tmp_path):
    file = tmp_path / "trial.toml"
    file.write_text(
        '[files]\nmodel = "m.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n', encoding="utf-8"
    )
    for name in ("m.osim", "ik.mot", "id.sto"):
        (tmp_path / name).write_text("", encoding="utf-8")
    with pytest.raises(ms.InputError):
        contributions(file)
