"""Every variable of a result is a registered quantity with its dimensions; formulas take any axes before those."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.dataset.quantities import (
    KINDS,
    QUANTITIES,
    Quantity,
    by_formula,
    following,
    in_set,
    with_formulas,
)


def test_every_variable_of_a_result_is_a_quantity_over_its_dimensions():
    result = ms.run(reference_stride(), side="r")
    for name, variable in result.data_vars.items():
        quantity = QUANTITIES[str(name)]
        assert variable.dims == quantity.dims, name
        assert {key: variable.attrs[key] for key in quantity.attrs} == quantity.attrs


def test_the_title_of_a_plot_is_the_name_that_was_chosen():
    """xarray puts every scalar coordinate into the title, and cuts the title after 50 characters."""
    result = ms.run(reference_stride(), side="r")
    chosen = {"muscle": "gluteus_medius_anterior_r", "dof": "knee_flexion_r", "joint": "knee_r"}
    curves = [name for name in result.data_vars if result[name].dims in [("time", dim) for dim in chosen]]
    assert {"muscle_force", "activation", "joint_moment", "joint_angle"} <= set(curves)
    for name in curves:
        dim = str(result[name].dims[1])
        (line,) = result[name].sel({dim: chosen[dim]}).plot()
        assert line.axes.get_title() == f"{dim} = {chosen[dim]}", name
        plt.close(line.axes.figure)
    contact = result.contact_force_component.sel(joint="knee_r", direction="axial")
    (line,) = contact.plot()
    assert set(line.axes.get_title().split(", ")) == {"joint = knee_r", "direction = axial"}
    plt.close(line.axes.figure)


def test_a_quantity_has_the_base_unit_of_its_kind():
    of_kinds = [each for each in QUANTITIES.values() if each.kind]
    assert {each.kind for each in of_kinds} == set(KINDS)
    assert all(each.units == KINDS[each.kind].base for each in of_kinds)
    for kind in KINDS.values():
        assert kind.page["unit"] in kind.units


def test_what_a_study_compares_is_in_its_file_and_of_a_kind():
    assert set(in_set("compared")) <= set(in_set("study"))
    assert all(QUANTITIES[name].kind for name in in_set("study") + in_set("values"))


@pytest.mark.parametrize("leading", [(), (4,), (2, 4)])
def test_a_formula_takes_any_axes_before_its_own(leading):
    reaction = np.full((*leading, 3, 3), 2.0)
    found = by_formula({"joint_reaction": reaction}, "uncertainty")
    np.testing.assert_allclose(found["contact_force"], np.full((*leading, 3), 12.0**0.5))


def test_a_formula_follows_from_what_its_arguments_follow_from():
    assert "contact_force" in following("solution") and "normalized_fiber_length" in following("state")


def test_a_comparison_and_a_result_get_what_follows_by_a_formula():
    length = xr.DataArray(np.ones((2, 5, 3)), dims=("cost", "time", "muscle"))
    data = xr.Dataset({"fiber_length": length, "optimal_fiber_length": ("muscle", [1.0, 2.0, 4.0])})
    found = with_formulas(data, "export")["normalized_fiber_length"]
    assert found.dims == ("cost", "time", "muscle") and found.attrs["units"] == "1"
    np.testing.assert_allclose(found[1, 2], [1.0, 0.5, 0.25])


@pytest.mark.parametrize("said", [{"kind": "angel"}, {"follows": "luck"}, {"sets": frozenset({"studies"})}])
def test_an_unknown_kind_or_set_is_refused(said):
    with pytest.raises(ValueError, match="does not exist"):
        Quantity("name", ("time",), "1", "meaning", **said)


@pytest.mark.thorough
def test_every_variable_of_an_answer_is_a_quantity_over_its_dimensions():
    trial = reference_stride()
    answers = {
        "contributions": ms.studies.contributions(trial),
        "margins": ms.studies.margins(trial, pairs=True),
        "what_if": ms.studies.what_if(trial, ["torque.ankle_dorsiflexion=-20:0, minimize=knee"]),
    }
    for answer, found in answers.items():
        own = {each.name for each in QUANTITIES.values() if each.answer == answer}
        in_studies = {"contact_contribution", "contact_contribution_own"}  # sums of variables of the answer
        assert own - in_studies <= set(found), answer
        for name, variable in found.data_vars.items():
            quantity = QUANTITIES[str(name)]
            if quantity.answer:
                assert variable.dims == quantity.dims, name
                assert {key: variable.attrs[key] for key in quantity.attrs} == quantity.attrs
            else:  # of a result, at each strength or under each scenario
                assert quantity.dims in (variable.dims, variable.dims[1:]) and variable.attrs["long_name"]
