"""Normative curves are those of their publications, and stand behind curves of walking only."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from synthetic_result import few_muscles, result, set_status

import musclesolve as ms
from musclesolve.errors import InputError
from musclesolve.laboratory.plotting import (
    clinical_sheet,
    ground_reaction,
    joint_angles_and_moments,
    joint_powers,
    page_style,
)
from musclesolve.laboratory.plotting.page.curves import BAND_COLOR, MEAN_COLOR, WITHOUT_NORM, NormBands
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR
from musclesolve.laboratory.results.cycles.gait_scores import NORMS, norm

TABLES = Path(__file__).resolve().parents[4] / "tools" / "reference_stride"


def bands(figure):
    found = [part for axes in figure.axes for part in axes.collections if isinstance(part, PolyCollection)]
    return [part for part in found if to_hex(part.get_facecolor()[0]).upper() == BAND_COLOR]


def texts(figure):
    return " ".join(text.get_text() for text in figure.texts)


def walking(speed: float | None = 1.25) -> xr.Dataset:
    data = few_muscles(result())
    if speed is not None:
        data["walking_speed"] = (("stride",), np.array([speed, speed]))
    return data


def table(name: str) -> dict[str, np.ndarray]:
    lines = (TABLES / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def test_angles_and_moments_are_those_of_the_table():
    columns, found = table("schwartz_2008"), norm("schwartz_2008")
    np.testing.assert_array_equal(found.percent, columns["percent"])
    for (quantity, name), curve in found.curves.items():
        if quantity not in ("joint_angle", "pelvis_angle", "joint_moment"):
            continue
        key = f"{name}_{'deg' if quantity.endswith('_angle') else 'moment'}"
        key = f"pelvis_{key}" if quantity == "pelvis_angle" else key
        less = found.standing_deg.get(name, 0.0) if quantity.endswith("_angle") else 0.0
        np.testing.assert_allclose(curve.mean + less, columns[key])
        np.testing.assert_allclose(curve.sd, columns[f"{key}_sd"])


def test_ground_reaction_is_that_of_the_table_without_a_spread():
    columns, found = table("winter_1991"), norm("winter_1991")
    for axis, key in (("x", "force_forward"), ("z", "force_up")):
        curve = found.curves["ground_reaction_force", axis]
        np.testing.assert_allclose(curve.mean, columns[key])
        assert curve.sd is None


def test_powers_have_the_bursts_of_walking():
    """Signs and times after Winter (1991): A2 in push-off, K3 before toe-off, K4 in late swing, H3 about toe-off."""
    found = norm("schwartz_2008")
    percent, power = found.percent, {j: found.curves["joint_power", j].mean for j in ("hip", "knee", "ankle")}
    assert 50 <= percent[power["ankle"].argmax()] <= 58 and 2.5 < power["ankle"].max() < 3.5
    assert 86 <= percent[power["knee"].argmin()] <= 96
    assert 50 <= percent[power["knee"][:40].argmin()] <= 64
    assert 56 <= percent[power["hip"].argmax()] <= 68 and power["hip"].max() > 0.5
    moment = found.curves["joint_moment", "ankle_dorsiflexion"].mean
    assert moment.min() < -1.0 and 40 <= percent[moment.argmin()] <= 55


def test_foot_progression_and_knee_adduction_moment_have_the_signs_of_results():
    """Toes out; an external adduction moment with two peaks of stance, as in adults (.45 and .45 N m/kg, SD .09 and
    .13, PLOS ONE 12:e0179260), and none in swing: it is a third to two thirds of the hip abductors' moment.
    """
    found = norm("schwartz_2008")
    curves = {
        name: found.curves[name, name].mean for name in ("foot_progression_angle", "knee_adduction_moment")
    }
    stance = (found.percent > 10) & (found.percent < 50)
    assert (curves["foot_progression_angle"][stance] < -4.0).all()
    moment = curves["knee_adduction_moment"]
    first, second = found.percent < 30, (found.percent > 34) & (found.percent < 60)
    assert 10 <= found.percent[first][moment[first].argmax()] <= 18 and 0.2 < moment[first].max() < 0.54
    assert 44 <= found.percent[second][moment[second].argmax()] <= 52 and 0.2 < moment[second].max() < 0.58
    assert np.abs(moment[found.percent > 64]).max() < 0.05
    hip = -found.curves["joint_moment", "hip_adduction"].mean
    assert 0.3 < moment[stance].sum() / hip[stance].sum() < 0.7


@pytest.mark.parametrize("name", NORMS)
def test_every_norm_names_its_source_and_covers_the_cycle(name):
    found = norm(name)
    assert found.name in found.sentence and found.subjects in found.sentence and found.speed
    assert found.percent[0] == 0.0 and found.percent[-1] == 100.0
    for curve in found.curves.values():
        assert curve.mean.shape == found.percent.shape
        assert curve.sd is None or (curve.sd > 0.0).all()


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("figure", "count"), [(joint_angles_and_moments, 9), (joint_powers, 3)])
def test_bands_are_behind_the_curves_and_named(figure, count):
    drawn = figure(walking())
    assert len(bands(drawn)) == count
    assert all(band.get_zorder() < 1.0 for band in bands(drawn))
    assert "Schwartz et al. (2008), 83 children" in texts(drawn) and "1 SD" in texts(drawn)


def test_a_mean_without_a_spread_is_a_line():
    drawn = ground_reaction(walking())
    lines = [line for axes in drawn.axes for line in axes.lines if line.get_color() == MEAN_COLOR]
    assert len(lines) == 2 and not bands(drawn)
    assert 1.0 < lines[0].get_ydata().max() < 1.2
    assert "Winter (1991)" in texts(drawn) and "SD" not in texts(drawn)


def test_no_bands_on_an_axis_of_time():
    data = walking()
    data.attrs["heel_strike_times_l"] = []
    drawn = joint_powers(data)
    assert not bands(drawn) and "Schwartz" not in texts(drawn)


@pytest.mark.parametrize("speed", [0.5, 2.5])
def test_no_bands_at_another_speed_but_a_note(speed):
    drawn = joint_powers(walking(speed))
    assert not bands(drawn) and f"{speed:.2f} m/s" in texts(drawn)


def test_no_bands_but_a_note_where_the_speed_is_not_known():
    drawn = joint_powers(walking(None))
    assert not bands(drawn) and "not known" in texts(drawn)


def test_bands_can_be_left_out():
    with page_style(norms=False):
        assert not bands(joint_powers(walking()))
    assert bands(joint_powers(walking()))


@pytest.mark.parametrize("quantity", WITHOUT_NORM)
def test_a_standard_figure_without_a_norm_says_so(quantity: str) -> None:
    """At the speed of the norms, and not where they are not drawn for another reason."""
    axes = Figure().subplots()
    fitting, too_fast = NormBands.at_speed(1.2, True), NormBands.at_speed(3.0, True)
    for each in (fitting, too_fast):
        each.draw(axes, quantity, "any")
    assert WITHOUT_NORM[quantity] in fitting.why_not and not fitting.drawn
    assert WITHOUT_NORM[quantity] not in too_fast.why_not


@pytest.mark.thorough
def test_a_misspelt_curve_of_a_norm_file_is_named_with_what_it_may_mean(tmp_path):
    file = tmp_path / "norms.csv"
    names = ("joint_angle,hip_flexon,deg", "joint_angle,knee_flexion,deg", "activation,soleus,1")
    rows = [f"{name},{percent},10,2,20" for name in names for percent in range(0, 101, 2)]
    file.write_text("\n".join(["quantity,name,unit,percent,mean,sd,subjects", *rows]), encoding="utf-8")
    with page_style(norm_file=str(file)):
        said = texts(clinical_sheet(walking())).replace("\n", " ")
    assert "no curve is named joint_angle hip_flexon" in said and "'hip_flexion'" in said
    assert "named joint_angle knee" not in said and "named activation" not in said
    assert "no curve is named" not in texts(clinical_sheet(walking()))


def test_results_on_one_sheet_have_their_own_dashes_and_a_stride():
    walk = walking()
    still = walk.isel(time=slice(0, 20)).assign_attrs(trial="still")
    shown = clinical_sheet({"still": still, "before": walk, "after": walk})
    (legend,) = (each for each in shown.legends if each.get_texts())
    assert [text.get_text() for text in legend.get_texts()][-2:] == ["before", "after"]
    assert "still is not drawn" in texts(shown)
    for results in ({str(k): walk for k in range(5)}, {"a": still, "b": still}):
        with pytest.raises(InputError, match="stride of each leg"):
            clinical_sheet(results)


def test_angles_of_a_leg_beside_the_plates_stand_over_the_cycle_and_its_moments_do_not():
    data = walking()
    set_status(data, ms.Status.NOT_MEASURED, slice(None), 0)
    sheet = clinical_sheet(data)
    right = {
        axes.get_title(loc="left") or axes.get_title(): [
            line for line in axes.lines if line.get_color() == SIDE_COLOR["r"] and len(line.get_xdata()) > 2
        ]
        for axes in sheet.axes
    }
    drawn = {title: any(np.isfinite(line.get_ydata()).any() for line in of) for title, of in right.items()}
    angle = next(title for title in drawn if title.startswith("knee flexion") and "moment" not in title)
    assert drawn[angle] and bands(sheet)
    assert all(axes.get_xlim() == (0.0, 100.0) for axes in sheet.axes if axes.lines)
    moment = next(title for title in drawn if "moment" in title)
    assert not drawn[moment]


@pytest.mark.parametrize(("age", "told"), [(None, "no age is stated"), (30.0, "is of children"), (9.0, "")])
def test_a_norm_of_children_is_said_to_be_one_beside_an_adult(age, told):
    of_children, of_adults = norm("schwartz_2008"), norm("winter_1991")
    said = of_children.caution(age)
    assert "conventional gait model: offsets from it are expected" in said
    assert ("children" in said) == bool(told) and told in said
    assert of_adults.caution(age) == ""
