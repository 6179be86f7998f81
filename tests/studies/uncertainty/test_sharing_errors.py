"""Errors of what no model knows: the cost, co-contraction, and what presses a joint besides its muscles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from replays import NO_ERRORS, replay_of
from scipy.stats import foldnorm

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.constants import USUAL_LEAST_ACTIVATION
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.results.dataset.result_quantities import body_weight
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.sharing.cost import JointWeightedActivation
from musclesolve.studies.uncertainty.contributions import size_sd

SHARING = (
    *("cost_exponent", "multi_joint_weight", "muscle_weight", "co_contraction"),
    *("contact_model", "patellar_ligament"),
)


@pytest.fixture(scope="module")
def trial() -> Trial:
    """A quarter of a stride, whose cost is the one that has a weight of two-joint muscles."""
    return replace(read_trial(reference_stride()), time_range=(0.55, 0.7))


def uncertain(trial: Trial, samples: int, seed: int = 0, contributions: bool = False, **sd: float):
    return ms.studies.uncertainty(
        *(trial, samples, seed, NO_ERRORS | sd, JointWeightedActivation()),
        **dict(side="r", jobs=1, contributions=contributions),
    )


@pytest.mark.thorough
def test_a_truth_of_the_family_is_covered_at_the_nominal_rate(trial: Trial) -> None:
    """Muscles that follow a cost and a co-contraction drawn as stated have contact forces within the band of 95 %.

    The truths are solutions of the problem without errors, by named costs and a lower bound.
    """
    found = uncertain(trial, 200, cost_exponent=0.35, multi_joint_weight=0.4, co_contraction=0.02)
    low, high = (found["contact_force_quantile"].sel(quantile=share).values for share in (0.025, 0.975))
    body = prepare(trial, JointWeightedActivation(), side="r")
    (leg,), random = body.parts, np.random.default_rng(7)
    problem = sharing_problem(leg, body.sharing)
    inside = []
    for _ in range(200):
        exponent, weight, floor = random.standard_normal(3)
        truth = JointWeightedActivation(1.0 + np.exp(0.35 * exponent), 3.0 * np.exp(0.4 * weight))
        there = problem.with_arrays(
            lower=np.full_like(problem.lower, abs(USUAL_LEAST_ACTIVATION + 0.02 * floor))
        )
        solution = ms.solve(there, truth, on_infeasible="reserve")
        forces = leg.loads.contact(solution.force + leg.state.passive_force)
        force = np.stack(
            [np.linalg.norm(forces[str(joint)], axis=1) for joint in found["joint"].values], axis=1
        )
        inside.append((low <= force + 1e-6) & (force - 1e-6 <= high))
    # 200 truths know a share of 0.95 to 0.015, bands of 200 samples are narrower by 0.005 to 0.01 of the truths
    assert np.mean(inside) == pytest.approx(0.95, abs=0.04)
    # without these sources the band has no width, and holds next to none
    assert (high - low).mean() > 0.05 * body_weight(found)


@pytest.mark.thorough
def test_the_contact_model_moves_contact_forces_alone_by_its_share_of_body_weight(trial: Trial) -> None:
    found = uncertain(trial, 300, contributions=True, contact_model_bw=0.1)
    weight = body_weight(found)
    large = found["contact_force"].min("time") > 0.5 * weight  # far from zero, where a size would turn around
    assert large.any()
    spread = found["contact_force_sd"].sel(joint=large) / weight
    assert spread.values == pytest.approx(
        0.1, rel=0.2
    )  # 300 samples know it to 4 %, the worst of all frames less
    assert float(spread.mean()) == pytest.approx(0.1, rel=0.06)
    assert found["contact_force_first_order_sd"].values == pytest.approx(0.1 * weight)
    assert (found["contact_force_contribution"].sel(source="contact_model") == 1.0).all()
    for name in ("muscle_force", "activation", "joint_moment"):
        assert (found[f"{name}_sd"] == 0.0).all()
    assert (found["contact_force_quantile"] >= 0.0).all()


def test_the_patellar_ligament_moves_the_knee_alone_by_what_the_quadriceps_presses(trial: Trial) -> None:
    """The ligament bears the moment of the quadriceps at its arm; forces, moments and other joints stay."""
    found = uncertain(trial, 60, contributions=True, patellar_ligament=0.05)
    for name in ("muscle_force", "activation", "joint_moment"):
        assert (found[f"{name}_sd"] < 1e-9).all()
    assert (found["contact_force_sd"].sel(joint=["hip_r", "ankle_r"]) < 1e-9).all()
    ratio = found["contact_force_sd"] / found["contact_force_first_order_sd"]
    assert float(ratio.sel(joint="knee_r").median()) == pytest.approx(1.0, abs=0.25)
    body = prepare(trial, JointWeightedActivation(), side="r")
    replay = replay_of(body, NO_ERRORS | {"patellar_ligament": 0.05})
    (leg,), errors = body.parts, replay.parameters.errors(np.zeros(replay.parameters.count))
    tension = np.full(leg.state.force_capacity.shape, 100.0)
    nominal, moment = (
        leg.loads.contact(tension)["knee_r"],
        leg.loads.carried(tension)["contact_moment"]["knee_r"],
    )
    longer = replay.part(replay.body(errors), errors | {"patellar_ligament": np.array([np.log(2.0)])}, 0)
    halved = longer.loads.contact(tension)["knee_r"]
    across = leg.loads.all_pulls.force[:, leg.loads.joints.index("knee_r")]
    heads = [n for n, name in enumerate(leg.state.parameters.names) if name.startswith(("vastus", "rectus"))]
    pressed = 100.0 * across[:, heads].sum(axis=1)
    assert np.linalg.norm(pressed, axis=1).min() > 100.0
    np.testing.assert_allclose(nominal - halved, 0.5 * pressed, atol=1e-8)
    axis = body.mechanics.motion.axes(body.mechanics.model.tree)[
        :, body.mechanics.model.dof("knee_flexion_r")
    ]
    about = longer.loads.carried(tension)["contact_moment"]["knee_r"] - moment
    np.testing.assert_allclose(np.einsum("tx,tx->t", about, axis), 0.0, atol=1e-8)


def test_co_contraction_is_a_floor_under_all_activations(trial: Trial) -> None:
    found = uncertain(trial, 200, contributions=True, co_contraction=0.02)
    idle = found["activation"].max("time") < USUAL_LEAST_ACTIVATION + 1e-6
    assert idle.sum() > 5
    # the size of a normal number around the usual one; 200 samples know its mean to 5 %
    floor = foldnorm(USUAL_LEAST_ACTIVATION / 0.02, scale=0.02)
    assert 0.02 * size_sd(USUAL_LEAST_ACTIVATION / 0.02) == pytest.approx(floor.std())
    assert found["activation_mean"].sel(muscle=idle).values == pytest.approx(floor.mean(), rel=0.15)
    assert found["activation_sd"].sel(muscle=idle).values == pytest.approx(floor.std(), rel=0.2)
    first = found["contact_force_first_order_sd"]
    assert float((found["contact_force_sd"] / first).median()) == pytest.approx(1.0, abs=0.2)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("key", ["cost_exponent", "multi_joint_weight", "muscle_weight"])
def test_small_errors_of_the_cost_spread_as_the_first_order_says(trial: Trial, key: str) -> None:
    found = uncertain(replace(trial, time_range=(0.6, 0.65)), 80, 1, contributions=True, **{key: 0.01})
    drawn, predicted = found["muscle_force_sd"] ** 2, found["muscle_force_first_order_sd"] ** 2
    ratio = np.sqrt(drawn.sum("muscle") / predicted.sum("muscle"))
    assert float(ratio.median()) == pytest.approx(1.0, abs=0.2)  # 80 samples know it to 8 %
    shares = found["muscle_force_contribution"].sel(source=key).where(predicted > 0.0)
    assert float(shares.min()) == 1.0


def test_without_them_all_other_errors_are_drawn_as_before(trial: Trial) -> None:
    replay = replay_of(prepare(trial, side="r"), NO_ERRORS)
    shapes = replay.parameters.shapes
    assert tuple(shapes)[-len(SHARING) :] == SHARING
    others = sum(int(np.prod(shape)) for name, shape in shapes.items() if name not in SHARING)
    stream = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(5,)))
    assert np.array_equal(replay.parameters.draw(3, 5)[:others], stream.standard_normal(others))
    errors = replay.parameters.errors(replay.parameters.draw(3, 5))
    part = replay.part(replay.body(errors), errors, 0)
    assert replay.sharing_with(errors, part, 0) == replay.sharing


def test_a_cost_that_is_no_power_sum_stays_and_a_note_says_so(trial: Trial) -> None:
    short = replace(trial, time_range=(0.6, 0.65))
    sd = NO_ERRORS | {"cost_exponent": 0.35, "muscle_weight": 0.3}
    how = dict(side="r", jobs=1, contributions=False)
    found = ms.studies.uncertainty(short, 3, 0, sd, "soft_saturation", **how)
    assert (found["muscle_force_sd"] == 0.0).all()
    assert any("soft_saturation" in note for note in found.attrs["notes"])
    plain = ms.studies.uncertainty(short, 3, 0, sd, "stress_cubed", **how)
    assert float(plain["muscle_force_sd"].max()) > 1.0
    assert not any("stress_cubed" in note for note in plain.attrs["notes"])
