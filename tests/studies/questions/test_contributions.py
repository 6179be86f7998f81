"""Contributions of muscles to walking: sums, what others have published of each group, the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from refusals import refused
from small_model import TEXT
from small_model_motion import DOFS, save_inputs

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.dataset.result_quantities import along_heading
from musclesolve.laboratory.results.tables.question_tables import (
    contact_records,
    contribution_records,
    grouped,
    in_stance,
    over_stance,
    work_records,
)
from musclesolve.studies import contributions


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return contributions(reference_stride())


def test_groups_and_muscles_add_up_to_the_same(found, stride_result):
    known = found["center_acceleration"].isel(contact=0, part=0, axis=0).notnull()
    together = grouped(found)
    for contact in found["contact"].values:
        total = found["ground_contribution"].sel(contact=contact).sum("part", skipna=False)
        both = together["ground_contribution"].sel(contact=contact).sum("group", skipna=False)
        np.testing.assert_allclose(both.transpose(*total.dims), total, atol=1e-8)
        loaded = known & found["touching"]
        measured = stride_result["ground_reaction_force"].transpose(*total.dims)
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
    facts = contribution_records(found)
    assert {each["leg"] for each in facts} == {"r", "l"}
    assert all(len(each["support_m_s2"]) == found.sizes["contact"] for each in facts)
    gravity = next(each for each in facts if each["group"] == "gravity")
    assert -9.9 < gravity["support_m_s2"][0] < -5.0
    for leg in "rl":
        support = {each["group"]: np.array(each["support_m_s2"]) for each in facts if each["leg"] == leg}
        whole = support.pop("all_parts")
        np.testing.assert_allclose(sum(support.values()), whole, atol=1e-9)
        np.testing.assert_allclose(whole, whole[0], atol=1e-9)


@pytest.mark.parametrize("contact", ["rocker", "point", "foot"])
def test_own_and_dynamic_parts_are_the_contact_forces(found, contact, stride_result):
    known = found["contact_own"].isel(part=0, joint=0, axis=0).notnull()
    through = found[["contact_dynamics", "knee_dynamics"]].sel(contact=contact).sum("part", skipna=False)
    joints = found["contact_own"].sum("part", skipna=False) + through["contact_dynamics"]
    whole = stride_result["joint_reaction"].where(known).transpose(*joints.dims)
    assert known.sum() > 30
    np.testing.assert_allclose(joints, whole, atol=1e-7)
    knees = found["knee_own"].sum("part", skipna=False) + through["knee_dynamics"] + found["knee_ligaments"]
    for name in ("medial", "lateral"):
        whole = stride_result[f"knee_contact_{name}"].where(known)
        np.testing.assert_allclose(knees.sel(compartment=name), whole.transpose("time", "side"), atol=1e-7)


def test_powers_are_the_rate_of_kinetic_energy(found, stride_result):
    known = found["power"].isel(part=0).notnull()
    whole = found["power"].sum("part") + found["ground_power"].sum("side")
    np.testing.assert_allclose(whole.where(known), found["kinetic_power"].where(known), atol=1e-8)
    # of a muscle the power is force times rate of shortening
    muscles = stride_result["muscle"].values
    shortening = -(stride_result["muscle_force"] * stride_result["musculotendon_velocity"]).where(known)
    own = found["power"].sel(part=muscles).transpose("time", "part")
    np.testing.assert_allclose(own, shortening.transpose("time", "muscle"), atol=1e-6)


def test_facts_of_contact_forces_and_work(found):
    """Muscles that do not cross a joint load it through dynamics (Sasaki and Neptune 2010, J Biomech 43:2780-2784).

    There as here the vasti load the knee most in early stance, the calf in late stance.
    """
    facts = {(each["joint"], each["group"]): each for each in contact_records(found)}
    assert facts["ankle_r", "hip_abductors_r"]["own_bw"] == 0.0
    assert facts["ankle_r", "triceps_surae_r"]["own_bw"] > 0.8
    for side in "rl":
        assert facts[f"knee_{side}_medial", f"hip_abductors_{side}"]["dynamics_bw"][0] > 0.2
        joint = [each for name, each in facts.items() if name[0] == f"knee_{side}" and name[1] != "all_parts"]
        whole = facts[f"knee_{side}", "all_parts"]
        assert sum(each["own_bw"] for each in joint) == pytest.approx(whole["own_bw"])
        dynamics = np.sum([each["dynamics_bw"] for each in joint], axis=0)
        np.testing.assert_allclose(dynamics, whole["dynamics_bw"])
    work = {each["group"]: each for each in work_records(found)}
    assert work["triceps_surae_r"]["positive_j_kg"] > 0.05
    assert work["quadriceps_femoris_r"]["negative_j_kg"] < 0.0


def test_the_command_writes_contributions(tmp_path):
    out = typed("ask", "contributions", reference_stride(), "-o", tmp_path, "--json")
    assert out.exit_code == 0, out.output
    assert json.loads(out.stdout)["contacts"] == ["rocker", "point", "foot"]
    names = {path.name for path in tmp_path.iterdir()}
    figures = {f"{name}_{side}.png" for name in ("contributions", "contact_contributions") for side in "rl"}
    assert names >= {"contributions.nc", "contributions_stance.csv"} | figures


def test_a_model_with_moments_instead_of_loads_is_refused(tmp_path):
    (tmp_path / "leg.osim").write_text(TEXT, encoding="utf-8")
    save_inputs(tmp_path, ms.read_osim(tmp_path / "leg.osim"))
    file = tmp_path / "trial.toml"
    file.write_text(
        '[files]\nmodel = "leg.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n'
        f"[sharing]\ndofs = {list(DOFS)}\n",
        encoding="utf-8",
    )
    with refused("missing_argument", "ground reactions are not known"):
        contributions(file)


def test_propulsion_is_along_the_walking_direction(found):
    """A walk along y of the laboratory has the braking, propulsion and support of the same walk along x."""
    turned = found.copy(deep=True)
    center = found["center_acceleration"]
    x, y, z = (center.sel(axis=axis, drop=True) for axis in "xyz")
    turned["center_acceleration"] = xr.concat([-y, x, z], center["axis"]).transpose(*center.dims)
    turned["heading"] = found["heading"] + 0.5 * np.pi
    for one, other in zip(contribution_records(found), contribution_records(turned), strict=True):
        for what in ("support", "braking", "propulsion"):
            np.testing.assert_allclose(one[f"{what}_m_s2"], other[f"{what}_m_s2"], atol=1e-12)
    np.testing.assert_allclose(
        over_stance(found)["center_acceleration"], over_stance(turned)["center_acceleration"], atol=1e-9
    )


def test_curves_over_the_stance_are_those_of_complete_stances(found):
    """Its ends are the first and the last frame of the stance; where the analyzed time cuts a stance there is none."""
    of = over_stance(found)
    for leg in of["leg"].values:
        touching = found["touching"].sel(side=leg).values
        changes = np.flatnonzero(np.diff(touching.astype(int)) == 1)
        own = of.sel(leg=leg)["center_acceleration"]
        if not int(of["stances"].sel(leg=leg)):
            assert own.isnull().all()
            continue
        assert int(of["stances"].sel(leg=leg)) == 1
        first = changes[0] + 1
        together = grouped(found)
        begin = along_heading(together, together["center_acceleration"]).isel(time=first)
        begin = begin.transpose(*own.isel(percent=0).dims)
        np.testing.assert_allclose(own.isel(percent=0), begin, atol=1e-9)
    assert int(of["stances"].sum()) >= 1
