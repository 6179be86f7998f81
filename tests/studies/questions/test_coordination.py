"""Synergies of known factors, stiffness in closed form, the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from refusals import refused
from scipy.integrate import quad

from musclesolve.studies import coordination
from musclesolve.studies.questions.coordination import (
    EACH,
    WHOLE,
    joint_stiffness,
    nonnegative_factors,
    tendon_stiffness,
)


@pytest.fixture(scope="module")
def result(stride_result) -> xr.Dataset:
    return stride_result.copy(deep=True)


@pytest.fixture(scope="module")
def found(result) -> xr.Dataset:
    return coordination(result)


def test_factors_of_a_known_product_are_found():
    time = np.linspace(0.0, 1.0, 80)
    courses = np.stack([np.exp(-0.5 * ((time - at) / 0.08) ** 2) for at in (0.2, 0.5, 0.8)], axis=1)
    weights = np.array([[1.0, 0.4, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.5, 0.0], [0.3, 0.0, 0.0, 1.0, 0.7]])
    own, loads = nonnegative_factors(courses @ weights, 3)
    order = np.argsort(own.argmax(axis=0))
    np.testing.assert_allclose(own[:, order], courses, atol=0.02)
    np.testing.assert_allclose(loads[order], weights, atol=0.02)
    assert (own >= 0.0).all() and (loads >= 0.0).all()
    two = nonnegative_factors(courses @ weights, 2)
    assert np.abs(two[0] @ two[1] - courses @ weights).max() > 0.1


@pytest.mark.thorough
def test_the_number_of_synergies_follows_the_rule(found, result):
    for side in found["side"].values:
        own = found.sel(side=side)
        enough = (own["variance_accounted"] >= WHOLE) & (own["least_of_muscle"] >= EACH)
        assert int(own["synergies"]) == int(own["number"].values[enough.values][0])
        rising = own["variance_accounted"].dropna("number").values
        assert (np.diff(rising) > -1e-3).all()
        # the factors that are given account for what is said
        names = [str(n) for n in found["muscle"].values if n.endswith(f"_{side}")]
        weight = found["synergy_weight"].sel(muscle=names).dropna("muscle", how="all").fillna(0.0)
        course = own["synergy_course"].dropna("time", how="all").fillna(0.0)
        activation = result["activation"].sel(muscle=weight["muscle"], time=course["time"])
        pattern = (activation / activation.max("time")).transpose("time", "muscle").values
        rest = pattern - course.values @ weight.transpose("synergy", "muscle").values
        accounted = 1.0 - np.square(rest).sum() / np.square(pattern).sum()
        assert accounted == pytest.approx(
            float(own["variance_accounted"].sel(number=int(own["synergies"]))), abs=1e-6
        )


def test_the_tendon_curve_has_its_strain_at_full_force():
    """The strain that the stiffness leads to at one maximum isometric force is that of the curve, Thelen 2003."""
    for strain in (0.033, 0.049):
        reached = quad(lambda f, e0=strain: 1.0 / tendon_stiffness(np.array(f), e0), 0.0, 1.0, points=[0.33])[
            0
        ]
        assert reached == pytest.approx(strain, rel=2e-3)


def test_stiffness_of_one_muscle_in_closed_form(result):
    needed = ("muscle_force", "passive_force", "optimal_fiber_length", "max_isometric_force")
    one = result[[*needed, "tendon_slack_length", "moment_arm"]].isel(time=[10])
    alone = one.sel(muscle=["soleus_r"]).copy(deep=True)
    alone["muscle_force"][:] = 1000.0
    alone["passive_force"][:] = 0.0
    alone["tendon_slack_length"][:] = 0.0
    stiffness = joint_stiffness(alone).sel(dof="ankle_dorsiflexion_r").item()
    arm = float(alone["moment_arm"].sel(dof="ankle_dorsiflexion_r").values.ravel()[0])
    fibers = 23.4 * 1000.0 / float(alone["optimal_fiber_length"][0])
    assert stiffness == pytest.approx(arm**2 * fibers)
    with_tendon = one.sel(muscle=["soleus_r"]).copy(deep=True)
    with_tendon["muscle_force"][:], with_tendon["passive_force"][:] = 1000.0, 0.0
    assert 0.0 < joint_stiffness(with_tendon).sel(dof="ankle_dorsiflexion_r").item() < stiffness


def test_stiffness_is_of_the_joints_whose_moments_are_shared(found, result):
    known = [str(dof) for dof in found["dof"].values if found["joint_stiffness"].sel(dof=dof).notnull().any()]
    assert set(known) == set(map(str, result.attrs["shared_dofs"]))
    peak = float(found["joint_stiffness"].sel(dof="ankle_dorsiflexion_r").max())
    assert 100.0 < peak < 1500.0


def test_the_command_writes_coordination(tmp_path, result):
    result.to_netcdf(tmp_path / "result.nc")
    out = typed("coordination", tmp_path / "result.nc", "-o", tmp_path / "out", "--json")
    assert out.exit_code == 0, out.output
    document = json.loads(out.stdout)
    assert set(document["sides"]) == {"r", "l"}
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"coordination.nc", "synergies.png", "co_contractions.png", "stiffnesses.png"}


def test_a_result_without_activations_is_refused(result):
    with refused("no_overlap"):
        coordination(result.assign(activation=result["activation"] * np.nan))


def test_the_dataset_of_another_command_is_refused(result):
    """A file of `margins` or `what-if` has activations over a further dimension; one of `uncertainty` has none."""
    for other in (result.expand_dims(scenario=["now"]), result.drop_vars("activation")):
        with refused("bad_result"):
            coordination(other)
    for other in (None, "result.nc"):
        with refused("bad_type"):
            coordination(other)
