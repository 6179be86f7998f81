"""Several costs on one trial: the same forces as one at a time; measures checked by hand."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from refusals import refused
from synthetic_result import few_muscles, result, set_status, with_troubles
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.laboratory.plotting import activations as of_result
from musclesolve.laboratory.plotting.figure_names import drawings
from musclesolve.laboratory.plotting.study.comparison_figures import COST_COLORS, line_style
from musclesolve.laboratory.results.tables.comparison_tables import (
    ComparisonFacts,
    agreement_csv,
    comparison_facts,
    comparison_tables,
)
from musclesolve.sharing.cost import ActivationPower
from musclesolve.studies import compare as comparison
from musclesolve.studies.compare import co_contraction, side_by_side

REFERENCE = "musclesolve/data/reference_stride/trial.toml"
COSTS = ["stress_cubed", "force_squared"]


def one(scale: float = 1.0, data: xr.Dataset | None = None) -> xr.Dataset:
    """A small result that has what a comparison needs; forces are scaled."""
    data = result() if data is None else data
    data["muscle_force"] = scale * data["muscle_force"]
    data["passive_force"] = 0.0 * data["muscle_force"]
    arm = np.zeros((data.sizes["time"], data.sizes["dof"], data.sizes["muscle"]))
    for leg in range(2):  # even muscles extend the knee with 4 cm, odd ones flex it with 2 cm
        arm[:, 7 * leg + 3, 43 * leg : 43 * (leg + 1)] = np.where(np.arange(43) % 2, 0.02, -0.04)
    data["moment_arm"] = (("time", "dof", "muscle"), arm)
    data["cost"] = (("time", "side"), np.full((data.sizes["time"], 2), scale), {"units": "N"})
    return data


@pytest.fixture
def pair() -> xr.Dataset:
    return side_by_side([one(), one(1.5)], ["a", "b"])


@pytest.fixture(scope="module")
def stride(pytestconfig) -> xr.Dataset:
    return ms.compare(pytestconfig.rootpath / REFERENCE, COSTS)


def test_each_cost_gets_the_forces_that_it_gets_alone(stride, pytestconfig):
    alone = ms.run(pytestconfig.rootpath / REFERENCE, cost=COSTS[1])
    for name in ("activation", "muscle_force", "joint_reaction", "status", "valid", "reserve_moment"):
        np.testing.assert_array_equal(stride[name].sel(cost=COSTS[1]).values, alone[name].values)
    np.testing.assert_array_equal(stride["least_cost"].sel(cost=COSTS[1]).values, alone["cost"].values)
    assert stride["activation"].dims == ("cost", "time", "muscle")
    assert stride["joint_moment"].dims == ("time", "dof")
    assert all("units" in variable.attrs for variable in stride.data_vars.values())


def test_mechanics_is_computed_once(monkeypatch, pytestconfig):
    calls = []
    kept = comparison.prepare
    monkeypatch.setattr(comparison, "prepare", lambda *given: calls.append(1) or kept(*given))
    ms.compare(pytestconfig.rootpath / REFERENCE, [*COSTS, "soft_saturation"], side="r")
    assert calls == [1]


def test_costs_differ_where_they_should_and_agree_with_themselves(stride):
    for prefix in ("", "group_"):
        rms = stride[f"{prefix}rms_difference"]
        assert float(rms.sel(cost=COSTS[0], other=COSTS[0]).max()) == 0.0
        assert float(rms.sel(cost=COSTS[0], other=COSTS[1]).max()) > 1.0
        np.testing.assert_allclose(rms.values, rms.transpose("other", "cost", ...).values)
        correlation = stride[f"{prefix}correlation"].sel(cost=COSTS[1], other=COSTS[1]).values
        # A force that stays zero is correlated with nothing.
        assert np.isfinite(correlation).mean() > 0.9
        np.testing.assert_allclose(correlation[np.isfinite(correlation)], 1.0, atol=1e-12)


def test_the_cost_that_is_minimized_is_least_under_its_own_name(stride):
    """Sum of squared forces of the contractile elements, of both solutions, in frames without reserves."""
    force = stride["activation"] * stride["force_capacity"]
    muscles = [name for name in stride.muscle.values if name.endswith("_r")]
    squares = (force.sel(muscle=muscles) ** 2).sum("muscle")
    exact = (stride["status"].sel(side="r") == ms.Status.SOLVED).all("cost")
    difference = (squares.sel(cost=COSTS[0]) - squares.sel(cost=COSTS[1])).where(exact, drop=True)
    assert difference.sizes["time"] > 10
    assert float(difference.min()) > -1e-3 and float(difference.max()) > 1.0


def test_measures_of_a_scaled_force(pair):
    """b = 1.5 a: rms 0.5 rms(a), correlation 1, peaks 3:2."""
    force = pair["muscle_force"].sel(cost="a").values
    rms = pair["rms_difference"].sel(cost="b", other="a").values
    np.testing.assert_allclose(rms, 0.5 * np.sqrt(np.mean(force**2, axis=0)))
    np.testing.assert_allclose(pair["peak_ratio"].sel(cost="b", other="a"), 1.5)
    np.testing.assert_allclose(pair["peak_ratio"].sel(cost="a", other="b"), 2 / 3)
    np.testing.assert_allclose(pair["correlation"], 1.0)
    np.testing.assert_allclose(pair["group_peak_ratio"].sel(cost="b", other="a"), 1.5)


def test_correlation_is_pearsons():
    first, second = one(), one()
    random = np.random.default_rng(0)
    second["muscle_force"][:] = random.uniform(0.0, 100.0, second["muscle_force"].shape)
    second["muscle_force"][:, 3] = 7.0
    found = side_by_side([first, second], ["a", "b"])["correlation"].sel(cost="b", other="a").values
    pairs = zip(first["muscle_force"].values.T, second["muscle_force"].values.T, strict=True)
    known = [np.corrcoef(x, y)[0, 1] if np.ptp(y) else np.nan for x, y in pairs]
    np.testing.assert_allclose(found, known)
    assert np.isnan(found[3])


def test_groups_are_sums_of_their_muscles_leg_by_leg(pair):
    members = (pair["group"] == "hamstrings") & pair["muscle"].str.endswith("_l")
    total = pair["muscle_force"].isel(muscle=members.values).sum("muscle")
    np.testing.assert_allclose(pair["group_force"].sel(function_group="hamstrings_l"), total)


def test_frames_without_solution_do_not_count():
    spoilt = one(1.0, with_troubles(result()))
    spoilt["muscle_force"][40:43, :43] = 1e9
    found = side_by_side([one(), spoilt], ["a", "b"])
    np.testing.assert_allclose(found["rms_difference"], 0.0)
    np.testing.assert_allclose(found["peak_ratio"], 1.0)
    assert not ComparisonFacts(found).complete and ComparisonFacts(found.sel(cost=["a"])).complete


@pytest.mark.thorough
def test_a_leg_without_a_single_solution_has_no_agreement():
    lost = one()
    set_status(lost, ms.Status.INFEASIBLE, slice(None), 0)
    lost["muscle_force"][:, :43] = np.nan
    found = side_by_side([one(), lost], ["a", "b"])
    pairs = found["correlation"].sel(cost="b", other="a").values
    assert np.isnan(pairs[:43]).all() and np.isfinite(pairs[43:]).all()
    assert comparison_tables(found)
    assert all(draw(few_muscles(found), side) for draw in drawings("comparison").values() for side in "rl")


def test_co_contraction_by_hand():
    """Knee: extensors 0.04 m each, flexors 0.02 m each, forces 1 N: 22 x 0.04 against 21 x 0.02."""
    data = one()
    data["muscle_force"][:] = 1.0
    index = co_contraction(data)["co_contraction"]
    less, more = 21 * 0.02, 22 * 0.04
    np.testing.assert_allclose(index.sel(dof="knee_flexion_r"), 2 * less / (less + more))
    assert np.isnan(index.sel(dof="hip_flexion_r")).all()
    data["passive_force"][:] = 1.0  # nothing contracts
    assert np.isnan(co_contraction(data)["co_contraction"]).all()
    data["passive_force"][:] = 0.0
    data["muscle_force"][5, 2] = np.nan
    index = co_contraction(data)["co_contraction"]
    assert np.isnan(index.sel(dof="knee_flexion_r").values[5])
    assert np.isfinite(index.sel(dof="knee_flexion_l").values).all()


def test_no_antagonist_no_co_contraction():
    data = one()
    data["muscle_force"][:, 1::2] = 0.0  # the flexors of the right knee
    np.testing.assert_allclose(co_contraction(data)["co_contraction"].sel(dof="knee_flexion_r"), 0.0)


@pytest.mark.parametrize(
    ("costs", "code", "name"),
    [
        *((costs, "missing_argument", "costs") for costs in (["stress_cubed"], "stress_cubed", None, 2)),
        ((name for name in ["stress_cubed", "stress_cubed"]), "duplicate_name", "'stress_cubed'"),
        (["stress_cubed", "stress_cubed"], "duplicate_name", "'stress_cubed'"),
    ],
)
def test_what_cannot_be_compared_is_refused(costs, code, name):
    with refused(code, name) as error:
        ms.compare("trial.toml", costs)
    assert code == "duplicate_name" or "--cost" in str(error.value)
    with pytest.raises(ms.InputError, match="stres_cubed"):
        ms.compare("trial.toml", ["stress_cubed", "stres_cubed"])


@pytest.mark.parametrize("name", drawings("comparison"))
def test_a_color_for_every_cost(pair, name):
    figure = drawings("comparison")[name](few_muscles(pair), "r")
    colors = {line.get_color() for line in figure.axes[0].lines}
    assert colors == set(COST_COLORS[:2])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "foot on the ground"]


@pytest.mark.thorough
def test_muscles_are_in_the_order_of_the_pages_of_a_run(pair):
    pages = (drawings("comparison")["compare_activations"](pair, side="r"), of_result(pair.isel(cost=0)))
    orders = [[axes.get_title(loc="left").replace("\n", " ") for axes in page.axes] for page in pages]
    assert orders[0] == orders[1]


def test_failed_frames_are_crosses_in_the_color_of_their_cost():
    found = side_by_side([one(), one(1.0, with_troubles(result()))], ["a", "b"])
    found.attrs["heel_strike_times_l"] = []
    lines = drawings("comparison")["compare_activations"](few_muscles(found), "r").axes[0].lines
    drawn = [x for x in lines if x.get_color() == COST_COLORS[1] and x.get_linestyle() != "None"]
    assert all(np.isnan(line.get_ydata()[40:43]).all() for line in drawn)
    crosses = [x for x in lines if x.get_color() == COST_COLORS[1] and x.get_linestyle() == "None"]
    assert [list(x.get_xdata()) for x in crosses] == [list(found["time"].values[40:43])]


def test_curves_of_many_costs_differ_in_color_or_dashes():
    styles = {(style["color"], style["linestyle"]) for style in (line_style(k, 13) for k in range(13))}
    assert len(styles) == 13
    many = side_by_side([one() for _ in range(7)], list("abcdefg"))
    assert drawings("comparison")["compare_activations"](many) is not None


def test_the_table_for_other_programs_holds_every_pair(pair):
    rows = list(csv.DictReader(io.StringIO(agreement_csv(pair).decode())))
    assert len(rows) == 2 * (pair.sizes["muscle"] + pair.sizes["function_group"])
    row = next(r for r in rows if (r["name"], r["cost"]) == ("soleus_r", "b"))
    known = float(pair["peak_ratio"].sel(muscle="soleus_r", cost="b", other="a"))
    assert float(row["peak_ratio"]) == pytest.approx(known)


def test_the_command_writes_everything_and_prints_the_tables(tmp_path, pytestconfig, monkeypatch):
    few = {"compare_contact_forces": drawings("comparison")["compare_contact_forces"]}
    monkeypatch.setattr("musclesolve.laboratory.plotting.figure_names.drawings", lambda kind: few)
    options = [part for cost in COSTS for part in ("--cost", cost)]
    done = typed("compare", pytestconfig.rootpath / REFERENCE, *options, "-o", tmp_path, "--side", "r")
    assert done.exit_code in (0, 3), done.output
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"comparison.nc", "agreement.csv", "compare_contact_forces_r.png"}
    for text in ("triceps_surae ", "mean co-contraction [%]", "peak contact force [body weights]", *COSTS):
        assert text in done.output
    with xr.open_dataset(tmp_path / "comparison.nc", engine="netcdf4") as kept:
        assert list(kept["cost"].values) == COSTS


def test_the_command_refuses_a_single_cost_with_two(tmp_path, pytestconfig):
    done = typed("compare", pytestconfig.rootpath / REFERENCE, "--cost", COSTS[0], "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith("musclesolve: costs: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_a_cost_that_the_solver_cannot_take_gets_one_that_can(pytestconfig):
    trial = pytestconfig.rootpath / REFERENCE
    found = ms.compare(trial, ["stress_cubed", "min_max"], side="r")
    assert found.attrs["solver"] == "batch, linprog"
    found = ms.compare(trial, ["min_max", "stress_cubed", "force_squared"], solver="batch", side="r")
    assert list(found["cost"].values) == ["stress_cubed", "force_squared"]
    assert found.attrs["refused"].startswith("min_max: ") and "linprog" in found.attrs["refused"]


def test_a_single_cost_is_not_compared_with_itself(pytestconfig, tmp_path):
    """One of two is refused: nothing is left to compare it with, neither of a trial nor of a problem."""
    with refused("unfit_solver", "min_max"):
        ms.compare(ms.Problem([[0.05]], [2.0], [1e3], [1e3]), ["activation_power", "min_max"], "batch")
    options = ["--cost", "activation_power", "--cost", "min_max", "--solver", "batch", "--side", "r"]
    done = typed("compare", pytestconfig.rootpath / REFERENCE, *options, "-o", tmp_path / "out")
    assert done.exit_code == 2 and "cannot minimize min_max" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_refused_cost_is_left_out_with_its_reason():
    alike = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
    wanted = ["emg_tracking", "stress_cubed", "force_squared"]
    found = ms.compare(alike, wanted)
    assert list(found["cost"].values) == wanted[1:] == list(found["evaluated_cost"].values)
    assert found.attrs["refused"].startswith("emg_tracking: Problem.emg: ")
    assert "refused" not in ms.compare(alike, wanted[1:]).attrs
    with refused("missing_argument", "emg"):
        ms.compare(alike, ["emg_tracking", "2 * emg_tracking"])


def test_the_facts_name_a_cost_that_was_left_out(stride):
    lost = stride.assign_attrs(refused="min_max: no solver takes it")
    told = [(each.subject, each.sentence) for each in comparison_facts(lost)]
    assert ("left out", "min_max: no solver takes it") in told
    assert "left out" not in [each.subject for each in comparison_facts(stride)]


def test_costs_of_one_kind_differ_by_their_options(pytestconfig):
    costs = [ActivationPower(), ActivationPower(5.0)]
    found = ms.compare(pytestconfig.rootpath / REFERENCE, costs, side="r")
    assert len(set(found["cost"].values)) == 2


def written(folder) -> xr.Dataset:
    """The comparison that a command has written."""
    with xr.open_dataset(folder / "comparison.nc", engine="netcdf4") as kept:
        return kept.load()


def test_a_weak_person_and_a_small_reserve_weight(tmp_path, monkeypatch):
    """Frames out of reach get reserves, or are left without a solution; needless reserves are printed."""
    few = {"compare_contact_forces": drawings("comparison")["compare_contact_forces"]}
    monkeypatch.setattr("musclesolve.laboratory.plotting.figure_names.drawings", lambda kind: few)
    copy = TrialCopy()
    copy.lines += ["[muscles]", "strength = 0.25"]
    weak = copy.write(tmp_path / "weak")
    options = [part for cost in COSTS for part in ("--cost", cost)] + ["--side", "r"]
    for choice in ("reserve", "report"):
        done = typed("compare", weak, *options, "-o", tmp_path / choice, "--on-infeasible", choice)
        assert done.exit_code == (3 if choice == "report" else 0), done.output
        answer = written(tmp_path / choice)
        counts = {
            name: int((answer["status"] == ms.Status[name]).sum())
            for name in ("INFEASIBLE", "SOLVED_WITH_RESERVE")
        }
        assert (counts["INFEASIBLE"] > 10) == (choice == "report")
        assert (counts["SOLVED_WITH_RESERVE"] > 10) == (choice == "reserve")
    found = ms.compare(weak, COSTS, side="r", on_infeasible="report")
    np.testing.assert_array_equal(found["status"].values, answer["status"].values)
    usual = ms.compare(weak, COSTS, side="r")
    assert (usual["status"] == ms.Status.SOLVED_WITH_RESERVE).any() and "needless_reserves" not in usual.attrs

    copy = TrialCopy()
    copy.lines += ["[sharing]", "reserve_weight = 1.0"]
    soft = copy.write(tmp_path / "soft")
    done = typed("compare", soft, *options, "-o", tmp_path / "needless")
    found = written(tmp_path / "needless").attrs["needless_reserves"].splitlines()
    assert [line.split(":")[0] for line in found] == COSTS and all("_r (" in line for line in found)
    assert all(line[:60] in done.output for line in found)
