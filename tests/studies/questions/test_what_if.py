"""Scenarios: what must not change, what has to, and the optimality of torques by an independent route."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from cost_laws import some_frames_have_the_cost_of_the_whole
from refusals import refused
from rich.console import Console

import musclesolve as ms
from musclesolve import Status
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.data import reference_stride
from musclesolve.dynamics import Wrench, projected_moments
from musclesolve.dynamics.inverse.induced_accelerations import LinkedBodies
from musclesolve.laboratory.forces import prepare, share
from musclesolve.laboratory.results.tables.question_tables import (
    answer_facts,
    in_short,
    scenario_records,
    scenario_tables,
)
from musclesolve.models.body_sharing import share_part
from musclesolve.sharing.cost.cost_check import check_cost
from musclesolve.studies import Scenario, what_if
from musclesolve.studies.questions.assistance import (
    MusclesAlone,
    Target,
    cooperation,
    muscle_target,
    optimal_torque,
    torque_against,
)
from musclesolve.studies.questions.what_if import _heavier, stated_scenarios

LIMITS = (-25.0, 5.0)


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return what_if(
        reference_stride(),
        [
            Scenario("same", strength={"soleus": 1.0}),
            "none: tibialis_anterior_r=0",
            "exo: torque.ankle_dorsiflexion=-25:5",
            "spring.knee_flexion_r=10@20",
            "cost: sharing.cost=force_squared",
        ],
    )


def test_now_and_the_same_are_the_result_of_a_run(found, stride_result):
    for name in ("now", "same"):
        np.testing.assert_array_equal(found["activation"].sel(scenario=name), stride_result["activation"])
    other = ms.run(reference_stride(), cost="force_squared")
    np.testing.assert_array_equal(found["activation"].sel(scenario="cost"), other["activation"])


def test_a_missing_muscle_has_no_force_and_others_do_its_work(found):
    none, now = found.sel(scenario="none"), found.sel(scenario="now")
    assert float(abs(none["muscle_force"].sel(muscle="tibialis_anterior_r")).max()) == 0.0
    others = ["extensor_digitorum_longus_r", "extensor_hallucis_longus_r"]
    assert (none.muscle_force.sel(muscle=others).max() > now.muscle_force.sel(muscle=others).max()).all()
    left = [name for name in found["muscle"].values if name.endswith("_l")]
    np.testing.assert_array_equal(none["activation"].sel(muscle=left), now["activation"].sel(muscle=left))


def test_devices_and_muscles_produce_the_moments_together(found, stride_result):
    for name in ("exo", "spring.knee_flexion_r=10@20"):
        own = found.sel(scenario=name)
        for dof in ("ankle_dorsiflexion_r", "knee_flexion_r", "ankle_dorsiflexion_l"):
            muscles = (stride_result["moment_arm"].sel(dof=dof) * own["muscle_force"]).sum("muscle")
            total = (
                muscles + own["device_torque"].sel(dof=dof).fillna(0.0) + own["reserve_moment"].sel(dof=dof)
            )
            np.testing.assert_allclose(total, stride_result["joint_moment"].sel(dof=dof), atol=1e-4)
    spring = found["device_torque"].sel(scenario="spring.knee_flexion_r=10@20", dof="knee_flexion_r")
    angle = stride_result["joint_angle"].sel(dof="knee_flexion_r")
    np.testing.assert_allclose(spring, -10.0 * (angle - np.radians(20.0)), atol=1e-12)


def test_the_best_torque_leaves_no_gain(found):
    """No other torque within its limits costs less."""
    low, high = LIMITS
    body = prepare(reference_stride())
    for part in body.parts:
        dof = next(name for name in part.shared if name.startswith("ankle_dorsiflexion"))
        row = part.shared.index(dof)
        torque, certificate = optimal_torque(part, body.sharing, {dof: LIMITS})
        assert np.nanmax(certificate) < 1e-6
        best = torque[:, row]
        np.testing.assert_allclose(found["device_torque"].sel(scenario="exo", dof=dof), best, atol=1e-9)
        assert (best >= low - 1e-9).all() and (best <= high + 1e-9).all()
        about = np.arange(len(part.dofs)) == part.dofs.index(dof)
        held, less, more = (
            share_part(
                replace(part, moment=part.moment - np.multiply.outer(best + step, about)), body.sharing
            ).solution
            for step in (0.0, -0.1, 0.1)
        )
        without = share_part(part, body.sharing).solution
        multiplier = held.multiplier[:, row]
        scale = np.nanmax(np.abs(without.multiplier[:, row]))
        inside = (best > low + 1e-3) & (best < high - 1e-3)
        assert (np.minimum(less.cost, more.cost) >= held.cost - 1e-9)[inside].all()
        # at a limit more of it would cost less still
        assert (multiplier[best <= low + 1e-9] <= 1e-6 * scale).all()
        assert (held.cost <= without.cost + 1e-9).all() and held.cost.sum() < without.cost.sum()


def test_the_cost_of_muscles_and_torques_has_its_derivatives(stride_result):
    problem = ms.leg_problem(stride_result, "r")
    for name in ("joint_weighted_activation", "soft_saturation"):
        cost = MusclesAlone(ms.costs()[name](), 2)
        check_cost(problem, cost, problem.valid)
    # some frames have the slopes that they have among all
    some_frames_have_the_cost_of_the_whole(problem, MusclesAlone(ms.costs()["knee_sparing_activation"](), 2))


def test_facts_of_scenarios(found):
    facts = {each["scenario"]: each for each in scenario_records(found)}
    assert facts["now"]["effort_ratio"] == 1.0 and facts["exo"]["effort_ratio"] < 1.0
    assert facts["none"]["effort_ratio"] > 1.0
    assert facts["cost"]["effort_ratio"] is None, "efforts of different costs cannot be compared"
    assert set(facts["exo"]["torque_range_nm"]) == {"ankle_dorsiflexion_r", "ankle_dorsiflexion_l"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("soleos=0.5", "unknown_name"),
        ("soleus=-1", "bad_number"),
        ("soleus=50", "bad_number"),
        ("spring.elbow_flexion=40@10", "unknown_name"),
        ("soleus", "bad_value"),
        ("torque.ankle_dorsiflexion=-30", "bad_value"),
        ("torque.ankle_dorsiflexion=-30000:0", "bad_value"),
        ("torque.ankle=-30:0", "unknown_name"),
        ("torque.ankle_dorsiflexion=0:-30", "bad_range"),
        ("subject.mass_kg=80", "bad_value"),
        ("strength.soleus=0.5", "bad_value"),
        ("muscles.color=1", "unknown_name"),
        ("now: soleus=0.5", "duplicate_name"),
        ("soleus=0.5, triceps_surae_r=0, soleus=0.6", "duplicate_name"),
        ("torque.ankle_dorsiflexion=-10:0, torque.ankle_dorsiflexion=-5:0", "duplicate_name"),
        ("minimize=soleus", "missing_argument"),
        ("torque.ankle_dorsiflexion=-30:0, minimize=soleos", "unknown_name"),
        ("mass=heavy", "bad_value"),
        ("mass=-1", "bad_value"),
        ("load=500", "bad_value"),
        ("torque.ankle_dorsiflexion=-30:0, minimize=kne", "unknown_name"),
        ("load=-5", "bad_value"),
        ("muscles.database=silva_2003", "conflict"),
    ],
)
def test_scenarios_that_cannot_be(text, code):
    with refused(code):
        what_if(reference_stride(), [text], side="r")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"mass": "heavy"}, "bad_value"),
        ({"strength": {"soleus": np.nan}}, "bad_number"),
        ({"strength": 0.5}, "wrong_type"),
        ({"torque": {"ankle_dorsiflexion": 3}}, "bad_number"),
        ({"torque": {"ankle_dorsiflexion": (5, -5)}}, "bad_range"),
        ({"spring": {"knee_flexion": (1, 2, 3)}}, "bad_number"),
        ({"minimize": "knee"}, "missing_argument"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused_where_it_is_made(given, code):
    with refused(code):
        Scenario("odd", **given)


def test_a_torque_of_one_number_is_refused_with_both_limits():
    with refused("bad_value", "-10:-10"):
        Scenario.from_text("torque.ankle_dorsiflexion=-10")


def test_scenarios_are_texts_or_scenarios_each_with_a_name_of_its_own():
    weak = Scenario("weak", strength={"soleus": 0.5})
    assert stated_scenarios("weak: soleus=0.5") == stated_scenarios([weak]) == [weak]
    for given in (None, 3, [3]):
        with refused("wrong_type", "scenarios"):
            stated_scenarios(given)
    with refused("duplicate_name", "weak"):
        stated_scenarios([weak, "weak: soleus=0.4"])


def test_a_word_that_is_no_muscle_is_not_said_to_have_a_strength():
    with refused("bad_number", "mass_kg is 80", "muscle or group"):
        Scenario("heavy", strength={"mass_kg": 80.0})


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_of_a_scenario_are_finite(number):
    for key in ("mass", "load"):
        with refused("bad_value", key):
            Scenario("a", **{key: number})
    for key in ("torque", "spring"):
        with refused("bad_number", "ankle_dorsiflexion"):
            Scenario("a", **{key: {"ankle_dorsiflexion": (-number, 0.0)}})


def test_a_scenario_in_words():
    scenario = Scenario.from_text(
        "a, b: soleus=0.5, sharing.cost=activation_power(exponent=3, x=1), spring.knee_flexion=4"
    )
    assert scenario.name == "a, b" and scenario.strength == {"soleus": 0.5}
    assert scenario.settings == {"sharing.cost": "activation_power(exponent=3, x=1)"}
    assert scenario.spring == {"knee_flexion": (4.0, 0.0)}


@pytest.mark.parametrize(
    "text, name",
    [
        ("exo:torque.ankle_dorsiflexion=-30:0", "exo"),
        ("a=1: torque.ankle_dorsiflexion=-30:0", "a=1"),
        ("torque.ankle_dorsiflexion=-30:0", "torque.ankle_dorsiflexion=-30:0"),
    ],
)
def test_the_colon_of_a_name_beside_the_colon_of_a_torque(text, name):
    scenario = Scenario.from_text(text)
    assert (scenario.name, scenario.torque) == (name, {"ankle_dorsiflexion": (-30.0, 0.0)})


def test_a_comma_in_the_name_of_a_group():
    scenario = Scenario.from_text("hip, knee_l=0.5, soleus_r=0")
    assert scenario.strength == {"hip, knee_l": 0.5, "soleus_r": 0.0}


def test_numbers_stay_whole_on_80_columns(found):
    text = StringIO()
    table = scenario_tables(found.isel(scenario=[0, 4]))[0]
    Console(file=text, width=80).print(table)
    for peak in scenario_records(found)[0]["contact_peaks_bw"].values():
        assert f"{peak:.2f}" in text.getvalue()


def test_effort_counts_frames_with_a_solution_in_both(found):
    lost = found.isel(scenario=[0, 1]).copy(deep=True)
    lost["status"][1, :10] = Status.INFEASIBLE
    lost["least_cost"][1, :10] = np.nan
    _, same = scenario_records(lost)
    assert same["effort_ratio"] == pytest.approx(1.0) and same["without_solution"] == 20


def test_frames_whose_motion_is_not_valid_now_are_not_said_to_lack_strength(found):
    unbalanced = found.isel(scenario=[0, 1]).copy(deep=True)
    unbalanced["status"][:, :10] = Status.INVALID_MOTION
    said = in_short(answer_facts(unbalanced, "what_if"))
    assert "not possible" not in said and "no valid solution" not in said
    unbalanced["status"][1, 10:12] = Status.SOLVED_WITH_RESERVE
    unbalanced["status"][1, 12] = Status.SOLVER_FAILED
    said = in_short(answer_facts(unbalanced, "what_if"))
    analyzed = 2 * (found.sizes["time"] - 11)
    assert f"4 of {analyzed} frames are not possible without a reserve" in said
    assert "22 frames have no valid solution instead of 20" in said


def test_the_command_writes_scenarios(tmp_path):
    words = ["--set", "weak: triceps_surae=0.7", "--set", "torque.ankle_dorsiflexion=-20:0"]
    arguments = [
        "ask",
        "what-if",
        str(reference_stride()),
        "-o",
        str(tmp_path),
        "--side",
        "r",
        "--json",
        *words,
    ]
    out = typed(*arguments)
    assert out.exit_code in (0, 3), out.output
    names = [each["scenario"] for each in json.loads(out.stdout)["scenarios"]]
    assert names == ["now", "weak", "torque.ankle_dorsiflexion=-20:0"]
    assert {path.name for path in tmp_path.iterdir()} >= {"what_if.nc", "scenarios.png"}


def test_no_torque_of_a_fine_grid_does_better_against_a_force():
    """Against the soleus; cooperating muscles reach less, in one convex problem."""
    body = prepare(reference_stride())
    part = next(each for each in body.parts if "ankle_dorsiflexion_r" in each.shared)
    limits, target = {"ankle_dorsiflexion_r": (-20.0, 20.0)}, muscle_target(part, ["soleus_r"])
    torque, together = torque_against(part, body.sharing, limits, target)
    row, dof = part.shared.index("ankle_dorsiflexion_r"), part.dofs.index("ankle_dorsiflexion_r")

    def reached(tried: np.ndarray) -> np.ndarray:
        moment = part.moment.copy()
        moment[:, dof] -= tried
        return target.value(share_part(replace(part, moment=moment), body.sharing).solution.force)

    best = reached(torque[:, row])
    for tried in np.linspace(-20.0, 20.0, 15):
        other = reached(np.full(len(best), tried))
        assert (best <= other + 0.01 * np.nanmax(best) + 1e-3).all()
    assert best.sum() < reached(np.zeros(len(best))).sum()
    assert (together <= best + 0.02 * np.nanmax(best)).all() and together.sum() < best.sum()
    assert (cooperation(part, body.sharing, limits, Target(target.row, target.offset)) == together).all()


def test_the_medial_knee_force_falls_by_a_knee_torque():
    words = "torque.knee_flexion=-20:20"
    answer = what_if(reference_stride(), [f"effort: {words}", f"medial: {words}, minimize=knee_medial"])
    mean = answer["knee_contact_medial"].mean("time")
    assert (mean.sel(scenario="medial") < mean.sel(scenario="effort")).all()
    assert (mean.sel(scenario="effort") < mean.sel(scenario="now")).all()
    own = answer.sel(scenario="medial")
    assert (own["minimized_together"].mean("time") < own["minimized"].mean("time")).all()
    assert answer["minimized"].sel(scenario="effort").isnull().all()
    assert np.nanmax(answer["gap"]) <= 1e-9


def test_mass_and_load():
    """Moments of a body of other mass are proportional to it; a load presses the feet at their centers of pressure."""
    body = prepare(reference_stride())
    now = share(body)
    heavy = _heavier(body, Scenario("heavy", mass=1.2), now)
    for part, before in zip(heavy, body.parts, strict=True):
        np.testing.assert_allclose(part.moment, 1.2 * before.moment)
        np.testing.assert_allclose(part.loads.net, 1.2 * before.loads.net)
    loaded = _heavier(body, Scenario("pack", load=10.0), now)
    model, motion, wrenches = body.mechanics.model, body.mechanics.motion, list(body.mechanics.wrenches)
    trunk = LinkedBodies.from_motion(model, motion)
    push = 10.0 * (trunk.center_acceleration[:, trunk.mass.argmax()] - model.gravity)
    upward = np.stack([np.where(each.force[:, 2] > 20.0, each.force[:, 2], 0.0) for each in wrenches], axis=1)
    share_of = upward / upward.sum(axis=1, keepdims=True)
    more = []
    for k, each in enumerate(wrenches):
        point = np.nan_to_num(center_of_pressure(each.force, each.moment))
        own = share_of[:, k, None] * push
        more.append(Wrench(each.body, each.force + own, each.moment + np.cross(point, own)))
    moments = projected_moments(model, motion, more)
    for part in loaded:
        rows = [model.dof(dof) for dof in part.dofs]
        np.testing.assert_allclose(part.moment, moments[:, rows], atol=1e-8)
    answer = what_if(reference_stride(), ["mass=1.2", "load=10"])
    effort = [each["effort_ratio"] for each in scenario_records(answer)]
    assert effort[1] > 1.1 and effort[2] > 1.1


@pytest.mark.thorough
def test_other_tendons_are_compared_with_now_behind_such_tendons():
    answer = what_if(reference_stride(), ["weak: soleus=0.9, muscles.tendon=elastic"], side="r")
    facts = {each["scenario"]: each for each in scenario_records(answer)}
    assert list(facts) == ["now", "now, elastic tendons", "weak"]
    assert facts["weak"]["reference"] == "now, elastic tendons" and facts["weak"]["effort_ratio"] > 1.0


def test_a_tendon_transfer_is_a_path_of_the_set(tmp_path):
    """The path of the tibialis anterior turned to the heel: with a set of the same muscles it is a scenario."""
    text = (Path(__file__).parents[3] / "muscle_db" / "gait2392.toml").read_text(encoding="utf-8")
    begin = text.index('name = "tibialis_anterior"')
    path = text.index("path = [", begin)
    end = text.index("]\n", text.index("{ frame", path)) + 2
    donor = text.index("path = [", text.index('name = "soleus"'))
    moved = text[donor : text.index("]\n", text.index("{ frame", donor)) + 2]
    (tmp_path / "transfer.toml").write_text(text[:path] + moved + text[end:], encoding="utf-8")
    usual = ms.read_trial(reference_stride()).with_settings(muscles={"database": "gait2392"})
    answer = what_if(usual, [f"transfer: muscles.database={tmp_path / 'transfer.toml'}"], side="r")
    others = ["extensor_digitorum_longus_r", "extensor_hallucis_longus_r"]
    force = answer["muscle_force"].sel(muscle=others).max("time")
    assert (force.sel(scenario="transfer") >= force.sel(scenario="now")).all()
    assert (force.sel(scenario="transfer") > 1.05 * force.sel(scenario="now")).any()
