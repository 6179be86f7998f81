"""Costs fitted to EMG: known parameters come back, intervals hold what they promise, and gaps are said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms
from musclesolve import Problem
from musclesolve.sharing.analysis.cost_fit import FITTED, _Search
from musclesolve.sharing.cost import ActivationPower, ForceSquared, StressCubed
from musclesolve.sharing.cost.named.muscle_sums import GeneralPower

FRAMES, MUSCLES = 40, 12
TRUTH = GeneralPower(exponent=3.0, relative=1.0, strength=0.5)
FREE = {"exponent": (1.15, 8.0), "relative": (-3.0, 6.0), "strength": (-3.0, 3.0)}


def leg(seed: int = 1, frames: int = FRAMES) -> Problem:
    """Three moments of 12 muscles over a cycle, met by the muscles alone."""
    draw = np.random.default_rng(seed)
    arm = draw.normal(0.0, 0.03, (3, MUSCLES)) * (draw.random((3, MUSCLES)) < 0.6)
    strength, phase = draw.uniform(200.0, 2500.0, MUSCLES), draw.random(MUSCLES)
    turn = 2.0 * np.pi * (np.linspace(0.0, 1.0, frames)[:, None] + phase)
    capacity = strength * (0.6 + 0.4 * np.abs(np.sin(turn)))
    activation = 0.02 + 0.5 * np.clip(np.sin(turn), 0.0, 1.0)
    return Problem(
        np.broadcast_to(arm, (frames, 3, MUSCLES)),
        np.einsum("mn,tn->tm", arm, capacity * activation),
        capacity,
        strength,
        muscle=[f"m{k}" for k in range(MUSCLES)],
        joints_crossed=draw.integers(1, 3, MUSCLES),
    )


@pytest.fixture(scope="module")
def problem() -> Problem:
    return leg()


def scaled(activation, seed: int = 0):
    """EMG of another gain and offset in each channel."""
    draw = np.random.default_rng(seed)
    count = activation.shape[1]
    return activation * draw.uniform(0.3, 40.0, count) + draw.uniform(0.0, 5.0, count)


def test_parameters_are_found_without_the_scale_of_any_channel(problem):
    emg = scaled(ms.solve(problem, TRUTH).activation)
    emg[3:6, 2], emg[:, 7] = np.nan, np.nan
    fit = ms.sharing.fit_cost(problem, emg, free=FREE)
    assert fit.values == pytest.approx({"exponent": 3.0, "relative": 1.0, "strength": 0.5}, abs=2e-4)
    np.testing.assert_allclose(
        ms.solve(problem, fit.cost).activation, ms.solve(problem, TRUTH).activation, atol=1e-4
    )
    for name, value in fit.values.items():
        low, high = fit.interval(name)
        assert value - 0.01 < low < value < high < value + 0.01
    assert fit.numbers == FRAMES * (MUSCLES - 1) - 3


def test_the_filter_of_envelopes_is_no_difference_of_costs(problem):
    """Smoothed EMG alone moves the exponent; with the same smoothing of activation it is found."""
    place = np.arange(FRAMES)
    weights = np.exp(-0.5 * ((place[:, None] - place) / 5.0) ** 2)
    activation = ms.solve(problem, "activation_power(exponent=3)").activation
    emg = (weights / weights.sum(axis=1, keepdims=True)) @ activation
    plain = ms.sharing.fit_cost(problem, emg, family="activation_power")
    assert abs(plain.values["exponent"] - 3.0) > 0.05
    smooth = ms.sharing.fit_cost(problem, emg, family="activation_power", smoothing=weights)
    assert smooth.values["exponent"] == pytest.approx(3.0, abs=1e-3)


def test_channels_that_no_cost_explains_are_named(problem):
    emg = ms.solve(problem, TRUTH).activation.copy()
    emg[:, 1] = -emg[:, 1]
    emg[:, 2] = 3.0
    fit = ms.sharing.fit_cost(problem, emg, family="activation_power")
    assert "m1" in fit.unexplained and "m2" in fit.constant
    sentences = " ".join(fit.sentences())
    assert (
        "does not explain: m1" in sentences
        and "the same at all times, and shows nothing of a cost: m2" in sentences
    )
    assert np.isfinite(list(fit.left_out().mean_missed.values())).all()  # a constant channel is not tested
    constant = ms.sharing.fit_cost(problem, np.full_like(emg, 3.0), family="activation_power")
    assert np.isnan(list(constant.beside().mean_missed.values())).all()


def test_round_off_of_a_constant_channel_is_no_signal(problem):
    emg = ms.solve(problem, TRUTH).activation.copy()
    fits = []
    for noise in (0.0, 1e-9):
        emg[:, 2] = 0.01 + noise * np.cos(np.arange(len(emg)))
        fits.append(ms.sharing.fit_cost(problem, emg, family="activation_power"))
    assert all("m2" in fit.constant and not fit.unexplained for fit in fits)
    assert fits[1].values == pytest.approx(fits[0].values, rel=1e-9)


def test_a_channel_shows_the_mean_of_its_muscles(problem):
    channels = {"front": ["m0", "m3"], "back": ["m5"], "side": ("m7", "m8", "m9"), "deep": "m10"}
    activation = ms.solve(problem, "activation_power(exponent=4)").activation
    means = [activation[:, [0, 3]].mean(1), activation[:, 5], activation[:, 7:10].mean(1), activation[:, 10]]
    fit = ms.sharing.fit_cost(problem, scaled(np.stack(means, 1)), channels, "activation_power")
    assert fit.values["exponent"] == pytest.approx(4.0, abs=1e-3)
    assert fit.channels == ("front", "back", "side", "deep")


def test_named_columns_of_emg_are_found_by_the_names_of_the_channels(problem):
    channels, activation = {"front": "m1", "back": "m2"}, ms.solve(problem, TRUTH).activation
    given = pd.DataFrame(activation[:, [5, 2, 1]], columns=["other", "back", "front"])
    array = xr.DataArray(given, dims=("time", "channel"))
    for emg in (given, array):
        fit = ms.sharing.fit_cost(problem, emg, channels, "activation_power", gains=False, offsets=False)
        np.testing.assert_array_equal(fit.emg.emg, activation[:, [1, 2]])
    with refused("unknown_name", "'front'"):
        ms.sharing.fit_cost(problem, given[["back", "other"]], channels)
    with refused("duplicate_name", "front"):
        ms.sharing.fit_cost(problem, given[["back", "front", "front"]], channels)


def test_known_scales_are_not_fitted(problem):
    emg = ms.solve(problem, TRUTH).activation
    fit = ms.sharing.fit_cost(problem, emg, free=FREE, gains=False, offsets=False)
    assert fit.values["exponent"] == pytest.approx(3.0, abs=1e-4)
    np.testing.assert_array_equal(fit.gain, 1.0)
    np.testing.assert_array_equal(fit.offset, 0.0)


@pytest.mark.in_part(3)
@pytest.mark.parametrize(("gains", "offsets"), [(True, True), (True, False), (False, True), (False, False)])
def test_derivatives_are_those_of_residuals_up_to_other_scales(problem, gains, offsets):
    """The gradient of the loss is exact: scales are at their optimum, so that their changes do not count."""
    draw = np.random.default_rng(5)
    emg = scaled(ms.solve(problem, TRUTH).activation + draw.normal(0.0, 0.02, (FRAMES, MUSCLES)))
    emg = emg if gains else emg / 20.0
    search: _Search = ms.sharing.fit_cost(problem, emg, free=FREE, gains=gains, offsets=offsets)._search
    theta = np.array([2.4, 0.3, -0.2])
    gradient = 2.0 * search.jacobian(theta).T @ search.residual(theta)
    step = 1e-4
    for k, move in enumerate(step * np.eye(3)):
        loss = [(search.residual(theta + way * move) ** 2).sum() for way in (1.0, -1.0)]
        assert gradient[k] == pytest.approx((loss[0] - loss[1]) / (2.0 * step), rel=2e-3, abs=1e-3)


def test_intervals_hold_the_truth_as_often_as_they_promise(problem):
    activation, inside = ms.solve(problem, "activation_power(exponent=3)").activation, []
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0.0, 0.03, activation.shape)
        fit = ms.sharing.fit_cost(problem, scaled(activation + noise, seed), family="activation_power")
        low, high = fit.interval("exponent")
        assert high - low < 3.0
        inside.append(low < 3.0 < high)
    assert sum(inside) >= 16  # 19 of 20 are expected


def test_noise_that_lasts_counts_as_fewer_numbers(problem):
    activation = ms.solve(problem, "activation_power(exponent=3)").activation
    white = np.random.default_rng(3).normal(0.0, 0.03, activation.shape)
    slow = white.copy()
    for frame in range(1, FRAMES):
        slow[frame] = 0.8 * slow[frame - 1] + 0.6 * white[frame]
    white_fit, slow_fit = (
        ms.sharing.fit_cost(problem, activation + noise, family="activation_power") for noise in (white, slow)
    )
    assert slow_fit.independent_numbers < 0.3 * white_fit.independent_numbers
    assert slow_fit.standard_error[0] > 1.3 * white_fit.standard_error[0]


def test_what_the_data_do_not_determine_has_no_interval(problem):
    """Where every muscle crosses two joints a power of their number changes nothing."""
    alike = problem.with_arrays(joints_crossed=np.full(MUSCLES, 2.0))
    noise = np.random.default_rng(2).normal(0.0, 0.02, (FRAMES, MUSCLES))
    emg = ms.solve(alike, "activation_power(exponent=3)").activation + noise
    fit = ms.sharing.fit_cost(alike, emg, free={"exponent": (1.15, 8.0), "joints": (-3.0, 6.0)})
    assert fit.interval("joints") == (-np.inf, np.inf)
    assert fit.determined == {"exponent": True, "joints": False}
    said = " ".join(fit.sentences())
    assert "The EMG does not determine joints." in said and "exponent is" in said
    assert abs(fit.weakest_direction["joints"]) == 1.0


def test_the_profile_rises_from_the_value_found(problem):
    noise = np.random.default_rng(4).normal(0.0, 0.03, (FRAMES, MUSCLES))
    fit = ms.sharing.fit_cost(
        problem, ms.solve(problem, "activation_power").activation + noise, family="activation_power"
    )
    (value,), error = fit.theta, fit.standard_error[0]
    rise = fit.profile("exponent", [value - error, value, value + error])
    assert rise[1] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(rise[[0, 2]], 1.0, rtol=0.25)


@pytest.mark.parametrize("ratio", [0.01, 0.2])
def test_weights_of_costs_are_found(problem, ratio):
    emg = scaled(ms.solve(problem, StressCubed() + ratio * ForceSquared()).activation)
    fit = ms.sharing.fit_cost(problem, emg, family=["stress_cubed", "force_squared"])
    (first, _), (second, _) = fit.cost.summands
    assert second / first == pytest.approx(ratio, rel=1e-3)


def test_a_weight_too_small_to_see_is_only_bounded(problem):
    """Noise of 1 % hides a term of a millionth; an answer of zero or of thousands would be a guess."""
    clean = ms.solve(problem, StressCubed() + 1e-9 * ForceSquared()).activation
    noise = np.random.default_rng(6).normal(0.0, 0.01, clean.shape)
    fit = ms.sharing.fit_cost(problem, clean + noise, family=["stress_cubed", "force_squared"])
    (name,) = fit.family.parameters
    low, high = fit.interval(name)
    assert low == -np.inf and np.isfinite(high)
    assert any(sentence.startswith(f"{name} is below") for sentence in fit.sentences())


def test_legs_with_other_muscles_share_one_cost(problem):
    other = leg(7, 30)
    emg = [scaled(ms.solve(part, "activation_power(exponent=3)").activation, 1) for part in (problem, other)]
    channels = [{"a": "m1", "b": "m2", "c": "m5"}, {"d": "m0"}]
    shown = [emg[0][:, [1, 2, 5]], emg[1][:, [0]]]
    fit = ms.sharing.fit_cost([problem, other], shown, channels, "activation_power")
    assert fit.values["exponent"] == pytest.approx(3.0, abs=1e-3)
    assert fit.channels == ("a", "b", "c", "d")


def test_an_electrode_of_two_trials_has_one_gain(problem):
    """Without the second trial's own scale, a stride of one trial predicts the stride of the other."""
    trials = [problem, leg(1, 30)]
    draw, columns = np.random.default_rng(11), [1, 2, 5, 3]
    gain, offset = draw.uniform(0.5, 5.0, 4), draw.uniform(0.0, 2.0, 4)
    emg = [gain * ms.solve(part, TRUTH).activation[:, columns] + offset for part in trials]
    channels = {f"electrode {k}": f"m{k}" for k in columns}
    strides = [np.ones(part.n_frames) for part in trials]
    fit = ms.sharing.fit_cost(trials, emg, [channels] * 2, free=FREE, strides=strides)
    np.testing.assert_allclose(fit.gain, gain, rtol=1e-3)
    np.testing.assert_allclose(fit.offset, offset, atol=1e-3)
    agreement = fit.left_out("stride", [])
    assert agreement.of == ("stride 1 of problem 1", "stride 1 of problem 2")
    assert agreement.missed.max() < 1e-4


def test_a_channel_is_left_out_with_all_of_the_same_muscles(problem):
    """Else the other trial would show what shall be predicted."""
    trials = [problem, leg(1, 30)]
    emg = [ms.solve(part, TRUTH).activation[:, [1, 2, 5]] for part in trials]
    channels = [{f"{name} of {trial}": name for name in ("m1", "m2", "m5")} for trial in "ab"]
    agreement = ms.sharing.fit_cost(trials, emg, channels, "activation_power").left_out("channel", [])
    assert agreement.of == ("m1 of a", "m2 of a", "m5 of a")


def test_a_stride_is_scaled_by_frames_of_other_strides_alone(problem):
    strides = np.repeat([1.0, 2.0, np.nan], [16, 16, 8])
    emg = ms.solve(problem, TRUTH).activation.copy()
    emg[strides == 1.0, 0], emg[np.isnan(strides)] = np.nan, 0.0  # channel 0 in one stride; noise outside
    fit = ms.sharing.fit_cost(problem, emg, free=FREE, strides=strides)
    tests = fit._tests("stride")
    assert not tests["stride 2"][:, 0].any() and tests["stride 2"][:, 1].sum() == 16


def test_frames_out_of_reach_are_left_out(problem):
    moment = problem.moment.copy()
    moment[4] = 300.0
    broken = problem.with_arrays(moment=moment)
    emg = scaled(ms.solve(problem, TRUTH).activation)
    fit = ms.sharing.fit_cost(broken, emg, family="activation_power")
    assert fit.numbers == (FRAMES - 1) * MUSCLES


def test_left_out_channels_and_strides_are_predicted_by_the_true_cost_best(problem):
    strides = np.repeat([1.0, 2.0], FRAMES // 2)
    noise = np.random.default_rng(8).normal(0.0, 0.01, (FRAMES, MUSCLES))
    emg = scaled(ms.solve(problem, TRUTH).activation + noise)
    fit = ms.sharing.fit_cost(problem, emg, free=FREE, strides=strides)
    for by, count in (("channel", MUSCLES), ("stride", 2)):
        agreement = fit.left_out(by, ["activation_power", TRUTH])
        assert agreement.costs == (FITTED, "activation_power", TRUTH.label)
        assert agreement.missed.shape == agreement.correlation.shape == (3, count)
        missed = agreement.mean_missed
        assert missed[TRUTH.label] <= missed[FITTED] < missed["activation_power"]


def test_on_its_own_data_the_fit_misses_less_than_a_cost_of_its_family(problem):
    noise = np.random.default_rng(9).normal(0.0, 0.02, (FRAMES, MUSCLES))
    fit = ms.sharing.fit_cost(problem, ms.solve(problem, TRUTH).activation + noise)
    beside = fit.beside()
    assert beside.costs[0] == FITTED and "activation_volume" not in beside.costs  # no fiber lengths
    assert beside.of == problem.muscle
    missed = beside.mean_missed
    assert all(missed[FITTED] < missed[name] for name in beside.costs[1:])


@pytest.mark.parametrize(
    ("cost", "powers"),
    [
        (ForceSquared(), {"strength": 2.0, "relative": 2.0}),
        (StressCubed(), {"exponent": 3.0, "relative": 3.0}),
        (ActivationPower(4.0), {"exponent": 4.0}),
    ],
)
def test_the_general_power_contains_named_costs(problem, cost, powers):
    general = ms.solve(problem, GeneralPower(**powers)).activation
    np.testing.assert_allclose(general, ms.solve(problem, cost).activation, atol=1e-7)


def test_muscles_of_several_joints_weigh_by_their_number(problem):
    weighted = GeneralPower(joints=np.log2(3.0))
    np.testing.assert_allclose(
        ms.solve(problem, weighted).activation,
        ms.solve(problem, "joint_weighted_activation").activation,
        atol=1e-7,
    )


def test_arguments_that_do_not_fit_are_refused(problem):
    emg = ms.solve(problem, "activation_power").activation
    fit = ms.sharing.fit_cost
    with refused("bad_shape", "emg"):
        fit(problem, emg[:, :3])
    with refused("unknown_name", "'m99'"):
        fit(problem, emg[:, :1], {"a": "m99"})
    with refused("missing_argument", "'a'"):
        fit(problem, emg[:, :1], {"a": []})
    with refused("bad_shape", "(2, 3)"):
        fit(problem, emg[:, :2], np.ones((2, 3)))
    with refused("unknown_name", "'power'"):
        fit(problem, emg, family="activation_power", free={"power": (1.0, 2.0)})
    with refused("bad_value", "exponent"):
        fit(problem, emg, family="activation_power", free={"exponent": (3.0, 2.0)})
    with refused("missing_argument", "free"):
        fit(problem, emg, free={})
    with refused("missing_argument", "no cost"):
        fit(problem, emg, family=[])
    with refused("duplicate_name", "twice"):
        fit(problem, emg, family=["stress_cubed", "stress_cubed"])
    for no_exponent in ("stress_cubed", "force_squared"):
        with refused("unknown_name", "has no exponent", "a second cost", "free={...}"):
            fit(problem, emg, family=no_exponent)
    with refused("no_numbers", '{"name": ["muscle", ...]}'):
        fit(problem, emg[:, :1], ["m1"])
    for smoothing in (np.full((FRAMES, FRAMES), np.nan), np.zeros((FRAMES, FRAMES))):
        with refused("bad_value", "smoothing"):
            fit(problem, emg, family="activation_power", smoothing=smoothing)
    for free in (["exponent"], "exponent", ("a", "b")):
        with refused("missing_argument", "free options"):
            fit(problem, emg, family="activation_power", free=free)
    for ends in ((2, 2 + 1e-12), {2, 4}, 3, (1, 2, 3)):
        with refused("bad_value", "two numbers"):
            fit(problem, emg, family="activation_power", free={"exponent": ends})
    for ends in (("2", "4"), (True, 4), (2, np.inf)):
        with refused("bad_number", "exponent"):
            fit(problem, emg, family="activation_power", free={"exponent": ends})
    with refused("bad_value", "-2"):
        fit(problem, emg, family="activation_power", free={"exponent": (-2, 4)})
    for shares in ([[-1.0, *[0.0] * 11]], [[0.0] * 12], [[np.nan, *[0.0] * 11]]):
        with refused("bad_value", "share"):
            fit(problem, emg[:, :1], shares)
    with refused("duplicate_name", "one name"):
        fit(problem, emg[:, :2], {1: ["m1"], "1": ["m2"]})
    for nothing in (5, None):
        with refused("missing_argument", "'x'"):
            fit(problem, emg[:, :1], {"x": nothing})
    with refused("missing_argument", "no channel"):
        fit(problem, emg[:, :0], {})
    for size in (1e200, 1e-200):
        with refused("bad_value", "reaches"):
            fit(problem, size * emg)
    with refused("wrong_type", "gains"):
        fit(problem, emg, gains="no")
    with refused("wrong_type"):
        fit(None, emg)
    with refused("bad_value", "out of reach"):
        fit(problem.with_arrays(moment=problem.moment + 300.0), emg)
    with refused("bad_cost", "min_max"):
        fit(problem, emg, family="min_max")
    with refused("bad_value", "0 numbers"):
        fit(problem, np.full_like(emg, np.nan))
    with refused("bad_shape", "problems"):
        fit([problem, problem], [emg])
    with refused("missing_argument"):
        fit([], [])


def test_strides_must_be_stated_to_be_left_out(problem):
    fit = ms.sharing.fit_cost(problem, ms.solve(problem, TRUTH).activation, family="activation_power")
    with refused("missing_argument", "strides"):
        fit.left_out("stride")
    with refused("unknown_name", "'leg'"):
        fit.left_out("leg")
    with refused("unknown_name", "'power'"):
        fit.interval("power")
    with refused("bad_number", "level"):
        fit.interval("exponent", 1.5)
    with refused("bad_number", "range"):
        fit.profile("exponent", [50.0])
    assert fit.beside("stress_cubed").costs == (FITTED, "stress_cubed")
    with refused("wrong_type", "costs"):
        fit.beside(5)
