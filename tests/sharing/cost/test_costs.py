from __future__ import annotations

import sys
from dataclasses import replace

import casadi
import numpy as np
import pytest
from cost_laws import LAWS, activations_inside
from refusals import refused

from musclesolve import Problem, costs, solve
from musclesolve.sharing import expression_cost, motion_cost
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    EmgTracking,
    ForceMomentSquared,
    ForceSquared,
    JointReactionSquared,
    JointWeightedActivation,
    KneeSparingActivation,
    MinMax,
    MusclePower,
    NormalizedForceSquared,
    SoftSaturation,
    StressCubed,
    named,
)
from musclesolve.sharing.cost.cost_base import single_costs
from musclesolve.sharing.cost.cost_registry import find_cost, named_costs
from musclesolve.sharing.cost.sum_of_terms import varied
from musclesolve.sharing.solving import solve_part


def mine(activation, force, data):
    return data.w * casadi.sumsqr(force / data.max_isometric_force) + casadi.sum1(casadi.exp(activation))


COMPOSED = [
    pytest.param(cost, id=cost.label)
    for cost in (
        StressCubed() / 0.5 + ForceSquared() * 1e-3,
        *(kind(p) for kind in (SoftSaturation, ActivationPower) for p in (1.0, 1.5, 3.0, 7.0)),
        ActivationVolume(3.0),
        MusclePower(1.0),
        ActivationPower(3.0, weights={"1": 4.0, "3_r": 9.0, "5": 0.1}),
        2.0 * StressCubed(weights={"3": 9.0}) + EmgTracking(weights={"1": 7.0}),
        JointReactionSquared({"knee": 1.0, "hip_x": 0.5}, effort=10.0),
        3.0 * JointReactionSquared({"knee_r_y": 2.0}) + EmgTracking(0.1),
        expression_cost("mine", mine, uses=("max_isometric_force",), constants={"w": 3.0}, convex=True),
    )
]


@pytest.fixture
def case(make_leg):
    problem = make_leg(5)
    return problem, activations_inside(problem)


@pytest.mark.parametrize("holds", LAWS)
@pytest.mark.parametrize("cost", COMPOSED)
def test_what_holds_for_named_costs_holds_for_composed_ones(case, cost, holds):
    holds(case[0], cost)


def test_printed_formulas():
    fields = {
        "fiber_velocity": [-0.3, 0.4],
        "optimal_fiber_length": [0.1, 0.05],
        "joints_crossed": [1, 2],
        "emg": [0.2, np.nan],
    }
    rows = {"reaction_matrix": [[1.0, 0.5], [0.0, -1.0]], "reaction_offset": [-300.0, 100.0]}
    arm, capacity = [[0.05, 0.04], [0.0, 0.03]], [800.0, 600.0]
    problem = Problem(arm, [10.0, 0.0], capacity, [1000.0, 800.0], **fields, **rows)
    a = np.array([[0.5, 0.25]])
    force, strongest = np.array([400.0, 150.0]), np.array([1000.0, 800.0])

    def value(cost):
        return cost.value(problem, a)[0]

    area, load = strongest / 31.39, force / strongest
    assert value(ForceSquared()) == pytest.approx((force**2).sum())
    assert value(StressCubed()) == pytest.approx(((force / area) ** 3).sum())
    assert value(NormalizedForceSquared()) == pytest.approx((load**2).sum())
    assert value(ForceMomentSquared()) == pytest.approx((load[0] / 0.05) ** 2 + (load[1] / 0.05) ** 2)
    assert value(SoftSaturation()) == pytest.approx(2 - np.sqrt(1 - load**2).sum())
    assert value(SoftSaturation(3.0)) == pytest.approx(2 - ((1 - load**3) ** (1 / 3)).sum())
    assert value(ActivationPower()) == pytest.approx(0.5**2 + 0.25**2)
    assert value(ActivationPower(1.0)) == pytest.approx(0.75)
    assert value(ActivationVolume(3.0)) == pytest.approx(
        (strongest * [0.1, 0.05] / 31.39e4 * a[0] ** 3).sum()
    )
    assert value(JointWeightedActivation()) == pytest.approx(0.5**2 + 3.0 * 0.25**2)
    assert value(JointWeightedActivation(3.0, 2.0)) == pytest.approx(0.5**3 + 2.0 * 0.25**3)
    knee = replace(
        problem, dof=("hip_flexion_r", "knee_flexion_r")
    )  # the second muscle alone crosses the knee
    assert KneeSparingActivation().value(knee, a)[0] == pytest.approx(0.5**2 + 0.25**2 + (150 / 1400) ** 2)
    assert value(KneeSparingActivation()) == pytest.approx(0.5**2 + 0.25**2)  # no name tells a knee
    assert KneeSparingActivation().remarks(problem) and not KneeSparingActivation().remarks(knee)
    french = replace(problem, dof=("hanche_flexion_d", "Genou_angle_d"))
    named = KneeSparingActivation(knee="genou")
    assert named.value(french, a)[0] == KneeSparingActivation().value(knee, a)[0] and not named.remarks(
        french
    )
    assert find_cost(named.label) == named
    (remark,) = KneeSparingActivation().remarks(french)
    assert named.label in remark
    for cost in (
        KneeSparingActivation(3.0, 900.0),
        varied(KneeSparingActivation(), 1.5, np.array([2.0, 0.7])),
    ):
        apart = cost.apart(knee)
        assert len(single_costs(apart)) == 2
        np.testing.assert_allclose(apart.value(knee, a), cost.value(knee, a))
    assert value(MusclePower(1.0, least_speed=1e-9)) == pytest.approx(400 * 0.3 + 150 * 0.4)
    assert value(MusclePower(least_speed=0.3)) == pytest.approx(400**2 * 0.18 + 150**2 * 0.25)
    assert value(JointReactionSquared(effort=0.0)) == pytest.approx(175.0**2 + 50.0**2)
    assert value(JointReactionSquared(effort=5.0)) == pytest.approx(175.0**2 + 50.0**2 + 5 * (load**2).sum())
    assert value(MinMax()) == pytest.approx(0.4)
    assert value(EmgTracking(0.5)) == pytest.approx(0.3**2 + 0.5 * 0.25**2)


def test_a_stated_name_of_knees_is_in_a_name():
    problem = Problem(
        [[0.05, 0.04], [0.0, 0.03]],
        [3.0, 1.0],
        [800.0] * 2,
        [800.0] * 2,
        dof=("hip_flexion_r", "knee_angle_r"),
    )
    for cost in (
        KneeSparingActivation(knee="genou"),
        "activation_power + knee_sparing_activation(knee='genou')",
    ):
        with refused("unknown_name", '"genou" in its name: hip_flexion_r, knee_angle_r'):
            solve(problem, cost)
    assert not solve(problem, "knee_sparing_activation(knee='Knee')").notes
    arm = replace(problem, dof=("shoulder_r", "elbow_r"))
    (note,) = solve(arm).notes
    assert "knee='genou'" in note
    named = find_cost("knee_sparing_activation(knee='genou')")
    (note,) = solve_part(arm, named).notes  # the knees may be in another part of the body
    assert "knee='genou'" not in note and '"genou"' in note


PRINTED = {
    "force_squared": lambda force, problem: force**2,
    "stress_cubed": lambda force, problem: (31.39 * force / problem.max_isometric_force) ** 3,
    "normalized_force_squared": lambda force, problem: (force / problem.max_isometric_force) ** 2,
    "force_moment_squared": lambda force, problem: (
        (force / (problem.max_isometric_force * problem.moment_arm[:, 0])) ** 2
    ),
    "soft_saturation": lambda force, problem: -np.sqrt(1.0 - (force / problem.max_isometric_force) ** 2),
    "muscle_power": lambda force, problem: force**2 * (problem.fiber_velocity**2 + 0.01**2),
}


@pytest.mark.parametrize("along", ["fiber", "tendon"])
@pytest.mark.parametrize("name", PRINTED)
def test_the_optimum_is_the_best_of_many_shares_by_the_printed_criterion(name, along):
    """Two muscles of one moment, one of them pennate by 60 degrees: the other one's share decides everything."""
    capacity, cosine = np.array([900.0, 700.0]), np.array([0.5, 1.0])
    problem = Problem(
        [[0.04, 0.03]],
        [20.0],
        capacity,
        [2500.0, 900.0],
        fiber_force_capacity=capacity / cosine,
        fiber_velocity=[-0.1, -0.2],
    )
    solution = solve(problem, f"{name}(force={along!r})")
    other = np.linspace(0.0, 1.0, 200_001)
    first = (20.0 - 0.03 * capacity[1] * other) / (0.04 * capacity[0])
    shares = np.stack([first, other], axis=1)[(first >= 0.0) & (first <= 1.0)]
    forces = shares * (problem.fiber_force_capacity if along == "fiber" else capacity)
    best = shares[PRINTED[name](forces, problem).sum(axis=1).argmin()]
    np.testing.assert_allclose(solution.activation, best, atol=1e-5)
    pull = best * capacity
    assert not np.allclose(
        solve(problem, f"{name}(force={({'fiber', 'tendon'} - {along}).pop()!r})").force, pull, atol=5
    )


def test_without_the_force_along_the_fibers_costs_take_the_force_at_the_tendon(case):
    problem, activation = case
    assert problem.fiber_force_capacity is None
    for name in PRINTED:
        ours, theirs = (
            find_cost(text).gradient(problem, activation) for text in (name, f"{name}(force='tendon')")
        )
        np.testing.assert_array_equal(ours, theirs)


def test_the_weights_of_reactions_go_by_the_words_of_their_names(make_leg):
    problem = make_leg(1)

    def weights(given):
        return JointReactionSquared(given).component_weights(problem).tolist()

    assert weights({}) == [1.0] * 6
    assert weights({"knee": 2.0}) == [0, 0, 0, 2, 2, 2]
    assert weights({"knee": 2.0, "knee_x": 0.0, "r_hip_z": 3.0}) == [0, 0, 3, 0, 2, 2]
    with refused("unknown_name", "'nee'"):
        JointReactionSquared({"nee": 1.0}).check_names(*problem.names)
    trunk = problem.with_arrays(reaction=tuple(f"lumbar_{k}" for k in range(6)))
    assert JointReactionSquared({"knee": 1.0}).soft_rows(trunk) is None  # a part without that joint
    JointReactionSquared({"knee": 1.0}).check_names((), (), ("lumbar_x", "knee_r_x"))
    assert JointReactionSquared({"hip": 1}).soft_rows(problem).target.shape == (1, 3)
    assert JointReactionSquared({"hip": 0}).soft_rows(problem) is None


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: ActivationPower(0.5), "bad_number"),
        (lambda: ActivationPower(1000.0), "bad_number"),
        (lambda: SoftSaturation(np.nan), "bad_number"),
        (lambda: MusclePower(least_speed=0.0), "bad_number"),
        (lambda: ForceMomentSquared(least_arm=-1.0), "bad_number"),
        (lambda: EmgTracking(-1.0), "bad_number"),
        (lambda: JointReactionSquared({"knee": -1.0}), "bad_number"),
        (lambda: JointReactionSquared(effort=np.inf), "bad_number"),
        (lambda: ActivationVolume(specific_strength=0.0), "bad_number"),
        (lambda: MinMax() + ForceSquared(), "bad_cost"),
        (lambda: ActivationPower("3"), "bad_number"),
        (lambda: SoftSaturation([2.0]), "bad_number"),
        (lambda: MusclePower(least_speed="slow"), "bad_number"),
        (lambda: JointReactionSquared("knee"), "bad_type"),
        (lambda: JointReactionSquared(3.0), "bad_type"),
        (lambda: JointReactionSquared({"knee": "a"}), "bad_number"),
        (lambda: JointReactionSquared({"knee": np.nan}), "bad_number"),
        (lambda: JointReactionSquared(effort="much"), "bad_number"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(make, code):
    with refused(code):
        make()


def test_soft_saturation_ends_at_the_maximum_isometric_force():
    problem = Problem([[0.05, 0.05]], [10.0], [1250.0, 0.0], [1000.0, 800.0])
    cost = SoftSaturation()
    np.testing.assert_allclose(cost.largest_activation(problem), [[0.8, np.inf]], rtol=1e-8)
    assert np.isinf(cost.gradient(problem, np.array([[0.8, 1.0]]))[0, 0])


def test_costs_add_up(case):
    problem, activation = case
    mixed = 2 * StressCubed() + SoftSaturation() * 3.0
    expected = 2 * StressCubed().value(problem, activation) + 3 * SoftSaturation().value(problem, activation)
    np.testing.assert_allclose(mixed.value(problem, activation), expected)
    np.testing.assert_array_equal(
        mixed.largest_activation(problem), SoftSaturation().largest_activation(problem)
    )
    assert mixed.name == "2 * stress_cubed + 3 * soft_saturation"
    assert (2 * mixed).name == "2 * (2 * stress_cubed + 3 * soft_saturation)"
    assert hash(mixed) == hash(2 * StressCubed() + SoftSaturation() * 3.0)


@pytest.mark.parametrize("factor", [0.0, -1.0, np.inf, np.nan])
def test_only_positive_multiples(factor):
    with refused("bad_number", "force_squared"):
        factor * ForceSquared()


def test_a_label_shows_what_differs_from_the_defaults():
    assert ActivationPower().label == "activation_power"
    assert ActivationPower(3.0).label == "activation_power(exponent=3.0)"
    assert (
        2 * ActivationPower(3.0) + MusclePower()
    ).label == "2 * activation_power(exponent=3.0) + muscle_power"
    assert (2 * EmgTracking() + MusclePower()).data == ("emg", "fiber_velocity")
    assert hash(JointReactionSquared({"knee": 1})) == hash(JointReactionSquared({"knee": 1.0}))


def test_registry_lists_and_finds():
    promised = {
        *("force_squared", "stress_cubed", "normalized_force_squared", "force_moment_squared"),
        *("soft_saturation", "activation_power", "activation_volume", "muscle_power"),
        *("joint_reaction_squared", "min_max", "emg_tracking"),
    }
    assert promised <= set(costs())
    assert all(record.formula and record.source for record in costs().values())
    assert all("Assumes" in (costs()[name].kind.__doc__ or "") for name in promised)
    assert costs()["joint_reaction_squared"].needs == {"separable", "rows"}
    assert costs()["stress_cubed"]() == StressCubed()
    assert costs()["activation_power"](3.0) == ActivationPower(3.0)
    with refused("unknown_name", "'stress_qubed'", "'stress_cubed'"):
        find_cost("stress_qubed")
    with refused("unknown_name", "3"):
        find_cost(3)


COSTS_BY_TEXT = [
    *(costs()[name]() for name in sorted(costs())),
    JointWeightedActivation(multi_joint_weight=2),
    ActivationPower(np.float64(2.5)),
    ActivationVolume(3.0, 25e4),
    JointReactionSquared({"knee": 1.0, "knee_x": 0.2}, effort=10.0),
    2.0 * StressCubed(),
    ForceSquared() + MusclePower(exponent=1.0),
    1e-6 * JointReactionSquared({"hip_r": 1}) + ActivationPower(3) + 0.3 * EmgTracking(unmeasured_weight=0.0),
    2.0 * (ForceSquared() + 0.5 * StressCubed()) + MusclePower(),
    1.0 * (ForceSquared() + StressCubed()) + MusclePower(),
]


@pytest.mark.parametrize("cost", COSTS_BY_TEXT, ids=lambda cost: cost.label)
def test_a_cost_is_found_by_the_text_that_it_prints(case, cost):
    found = find_cost(cost.label)
    assert found.label == cost.label and find_cost(f"  {found.label} ").label == cost.label
    problem, activation = case
    assert np.array_equal(found.value(problem, activation), cost.value(problem, activation))


@pytest.mark.parametrize(
    ("text", "code", "parts"),
    [
        ("activation_power(exponnt=3)", "unknown_name", ("'exponnt'", "exponent")),
        ("actvation_power(exponent=3)", "unknown_name", ("'actvation_power'", "'activation_power'")),
        ("activation_power(exponent=0.5)", "bad_number", ("0.5", "at least 1")),
        ("activation_power(exponent='a')", "bad_number", ("'a'",)),
        ("joint_weighted_activation(multi_joint_weight=-2)", "bad_number", ("-2", "positive")),
        ("stress_cubed(specific_strength=0)", "bad_number", ("specific_strength",)),
        ("activation_power(3)", "bad_cost", ("activation_power(exponent=3)",)),
        ("activation_power(exponent=2, exponent=3)", "duplicate_name", ("'exponent'",)),
        ("activation_power(exponent=1+1)", "bad_cost", ("1+1",)),
        ("activation_power(exponent=print('a'))", "bad_cost", ("print",)),
        ("activation_power(**{'exponent': 3})", "sharing.unreadable_cost", ()),
        ("min_max(exponent=3)", "unknown_name", ("min_max",)),
        ("activation_power(exponent=3", "sharing.unreadable_cost", ()),
        ("().__class__()", "sharing.unreadable_cost", ()),
        ("2 + stress_cubed", "sharing.unreadable_cost", ()),
        ("(" * 5000 + "stress_cubed", "sharing.unreadable_cost", ()),
        ("-1 * stress_cubed", "bad_number", ("-1",)),
        ("stress_cubed * 2", "bad_cost", ("stress_cubed",)),
        ("min_max + stress_cubed", "bad_cost", ("min_max",)),
    ],
)
def test_a_text_that_is_no_cost_is_refused_with_the_part_at_fault(text, code, parts):
    with refused(code, *parts):
        find_cost(text)


def test_costs_say_their_options():
    assert costs()["joint_weighted_activation"].options == ("exponent", "multi_joint_weight", "weights")
    assert costs()["min_max"].options == ()


NEW = """
from dataclasses import dataclass
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms

@dataclass(frozen=True)
class Loudest(SumOfTerms):
    name, formula, source, exponent = "loudest", "sum_i F_i^4", "a test", 4.0

    def coefficient(self, problem):
        return problem.force_capacity
"""


def test_two_costs_of_one_name_are_refused_and_abstract_ones_are_left_out(tmp_path, monkeypatch):
    head, _, body = NEW.partition("@dataclass")
    abstract = "class Base(SumOfTerms):\n    name = 'base'\n\n"
    text = f"{head}{abstract}@dataclass{body}".replace('"loudest"', '"force_squared"')
    (tmp_path / "second.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(named, "__path__", [*named.__path__, str(tmp_path)])
    with refused("duplicate_name", "'force_squared'", "muscle_sums", "named.second"):
        named_costs()
    monkeypatch.delitem(sys.modules, f"{named.__name__}.second")


def test_a_new_cost_is_one_file(tmp_path, monkeypatch, case):
    """Its dependence on the problem is found by differences, its expression and its certificate are inherited."""
    (tmp_path / "loudest.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(named, "__path__", [*named.__path__, str(tmp_path)])
    found = named_costs()
    monkeypatch.delitem(sys.modules, f"{named.__name__}.loudest")
    assert list(found) == sorted([*costs(), "loudest"])
    problem, _ = case
    batch, ipopt = (solve(problem, found["loudest"](), solver) for solver in ("batch", "ipopt"))
    assert batch.solved.all() and batch.cost_name == "loudest"
    np.testing.assert_allclose(batch.activation, ipopt.activation, atol=1e-6)


def test_a_sharp_power_says_what_round_off_hides():
    """(1 / 10)^59 is below the digits of a number beside one, 0.54^59 is at their limit."""
    problem = Problem([[0.05, 0.05]], [20.0], [1000.0, 1000.0], [1000.0, 1000.0])
    (note,) = solve(problem, ActivationPower(60.0)).notes
    assert "below 54%" in note and "min_max" in note
    assert solve(problem, ActivationPower(10.0)).notes == ()


def test_what_is_no_cost_is_refused_by_what_it_is():
    problem = Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
    with refused("unknown_name", "stress_cubed", 'ms.costs()["stress_cubed"]()'):
        solve(problem, costs()["stress_cubed"])
    over_frames = motion_cost("smooth", lambda activation, *_: activation[0, 0] ** 2)
    with refused("unknown_name", "smooth", "ms.sharing.program"):
        solve(problem, over_frames)
