"""A smaller residual of an OpenSim model with loads: laws, bound, what the result states, refusals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from measured_model import measured_model
from recorded_data import recorded
from refusals import refused
from replays import replay_of
from said import plausible, summary

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.dynamics.inverse.residual_reduction import BodyState, ResidualReduction, _rates_and_metric
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.forces import share
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.facts import Facts
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import read_external_loads
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.reduced_residual import LoadedModel

RANGE = {"start_s": 0.85, "end_s": 1.35}
"""Half a stride in which plates carry both feet."""


def files() -> tuple[str, str, str]:
    """Model, coordinates and loads of the recorded walk."""
    folder = recorded("rajagopal_walk")
    names = "rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot"
    return (*(str(folder / "reference" / name) for name in names), str(folder / "walk_grf.mot"))


def body_of(**choices: object):
    model, coordinates, loads = files()
    return measured_model(model, coordinates, loads=loads, **RANGE, **choices)


@pytest.fixture(scope="module")
def kept():
    return body_of()


@pytest.fixture(scope="module")
def reduced():
    return body_of(residual="reduced")


@pytest.fixture(scope="module")
def result(reduced) -> xr.Dataset:
    return assemble(share(reduced))


def test_the_rates_are_those_of_inverse_dynamics() -> None:
    """A small smooth change of each coordinate changes the residual as the momenta of the bodies say."""

    model_file, coordinates, plates = files()
    model = read_osim(model_file)
    motion = coordinate_motion(model, coordinates)
    motion = motion.frames((motion.time > 0.9) & (motion.time < 1.4))
    loads = read_external_loads(
        plates, model, motion.time, body_motion(model, whole_motion(model, motion).value)
    )
    body = LoadedModel(model, motion, loads)
    (of_value, of_rate, of_second), _ = _rates_and_metric(body)
    turn = 2.0 * np.pi * 2.0 * motion.time
    size = np.random.default_rng(0).choice([-1e-6, 1e-6], len(body.free))
    value, rate, second = (
        size * wave[:, None]
        for wave in (np.sin(turn), 4.0 * np.pi * np.cos(turn), -((4.0 * np.pi) ** 2) * np.sin(turn))
    )
    moved = body.changed(value, rate, second)
    rise = moved.lacking() - body.lacking()
    rise[:, 3:] += np.cross(moved.state.origin - body.state.origin, moved.lacking()[:, :3])
    predicted = sum(
        np.einsum("trk,tk->tr", rows, by)
        for rows, by in ((of_value, value), (of_rate, rate), (of_second, second))
    )
    inner = slice(8, -8)  # the rates of the momenta come from splines
    np.testing.assert_allclose(predicted[inner], rise[inner], atol=3e-3 * np.abs(rise[inner]).max())


@pytest.mark.thorough
def test_a_small_change_leaves_a_small_residual(result: xr.Dataset, kept) -> None:
    """44 N rms to 7 N, by at most 8 mm of any center of mass."""
    change = Facts(result).motion_change
    assert change is not None
    assert change["rms_force_n"] < 0.25 * change["rms_force_before_n"] < 15.0
    assert 1e-3 < change["largest_m"] < 0.012
    assert change["balancing_mass_kg"] == pytest.approx(85.07, rel=0.01)
    assert kept.dynamics is not None and kept.dynamics.root_residual is not None
    assert change["peak_force_before_n"] == pytest.approx(kept.dynamics.root_residual.max(), rel=1e-6)
    assert f"{change['rms_force_before_n']:.0f} to {change['rms_force_n']:.0f} N rms" in summary(result)


def test_moments_are_those_of_the_changed_motion(reduced, kept) -> None:
    """The loads stay, and inverse dynamics of the written coordinates gives the moments that are shared."""
    assert reduced.dynamics is not None
    again = [reduced.dynamics.dynamics.column(name) for name in reduced.dofs]
    np.testing.assert_allclose(reduced.moment, np.stack(again, axis=1))
    changed = np.sqrt(np.mean((reduced.moment - kept.moment) ** 2, axis=0))
    assert 0.1 < changed.max() < 8.0  # [N m]
    np.testing.assert_array_equal(reduced.whole.usable, kept.whole.usable)


def test_the_verdict_is_on_the_residual_before(result: xr.Dataset, kept) -> None:
    shares = [Facts(each).residual_share for each in (result, assemble(share(kept)))]
    assert shares[0] == pytest.approx(shares[1])
    found = [each for each in plausible(result).comparisons if each.criterion == "residual"]
    assert found and all("before" in each.sentence for each in found)


def test_the_note_says_that_its_residual_is_the_one_before(reduced, kept) -> None:
    assert any("Residual force at the root of the model, before" in note for note in reduced.notes)
    assert not any("before the motion" in note for note in kept.notes)


def test_a_few_frames_have_no_rates_to_reduce_anything_by() -> None:
    with refused("bad_range", "5 frames", "at least 6"):
        state = BodyState(np.arange(5.0), 700.0, np.zeros(3), np.zeros((5, 3)), np.zeros((5, 1, 3)))
        ResidualReduction.at(SimpleNamespace(state=state), np.ones(5, dtype=bool), 6.0)  # type: ignore[arg-type]


def test_check_looks_at_the_measured_motion(reduced, kept) -> None:
    before, after = ([each.code for each in findings_of_body(body)] for body in (kept, reduced))
    assert sorted([*before, "motion_change"]) == sorted(after)


def test_a_sample_without_errors_has_the_moments_of_the_result(reduced) -> None:
    replay = replay_of(reduced)
    none = replay.parameters.errors(np.zeros(replay.parameters.count))
    np.testing.assert_array_equal(replay.body(none).moment, reduced.moment)
    turned = none | {"joint_angle": np.full_like(none["joint_angle"], 1e-9)}
    np.testing.assert_allclose(replay.body(turned).moment, reduced.moment, atol=1e-4)


def test_the_bound_holds_and_is_stated() -> None:
    bounded = body_of(residual="reduced", largest_change_mm=3.0)
    assert bounded.change is not None and bounded.change.change.max() <= 3e-3
    held = [each for each in findings_of_body(bounded) if each.code == "motion_change"]
    assert [each.severity for each in held] == ["note", "warning"]


def test_predicted_loads_have_no_residual_to_reduce() -> None:
    model, coordinates, _ = files()
    with refused("dynamics.residual_of_predicted_forces"):
        ms.share_model(model, coordinates, loads="predicted", residual="reduced")
