"""Runs with flight: exact, in balance, and analyzed with notes that make sense."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms
from musclesolve import check
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory.motion.events.foot_events import FootLoads, flights
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import running_stride
from musclesolve.studies.synthetic.running_stride import RunningStride

RUNS = {"fast": (3.0, 0.68, 0.31), "slow": (2.5, 0.70, 0.36)}


def flights_of(trial):
    return flights(trial, FootLoads.from_trial(trial))


@pytest.fixture(scope="module", params=RUNS)
def stride(request: pytest.FixtureRequest) -> RunningStride:
    return running_stride(*RUNS[request.param])


@pytest.mark.in_part(2)
def test_the_motion_is_exact_and_nothing_holds_the_pelvis(stride: RunningStride) -> None:
    time, step = np.linspace(0.01, 1.5 * stride.period, 41), 2e-6
    motion, before, after = (stride.motion(time + shift) for shift in (0.0, -step, step))
    np.testing.assert_allclose((after.q - before.q) / (2 * step), motion.qd, atol=5e-5)
    np.testing.assert_allclose((after.qd - before.qd) / (2 * step), motion.qdd, atol=1e-2)
    assert np.abs(stride.pelvis_residual(time)).max() < 1e-8


@pytest.mark.in_part(2)
def test_stances_do_not_overlap_and_in_flight_there_is_no_force(stride: RunningStride) -> None:
    time = np.linspace(0.0, 2.0 * stride.period, 1201)
    right, left = (wrench.force[:, 2] for wrench in stride.wrenches(time))
    assert np.minimum(right, left).max() < 1e-9
    assert 0.2 < np.mean(right + left == 0.0) < 0.5
    weight = stride.person.weight
    assert np.mean((right + left)[:-1]) == pytest.approx(weight, rel=1e-3)
    assert 2.1 < right.max() / weight < 2.8


@pytest.mark.in_part(2)
def test_the_pressure_travels_forward_under_a_planted_foot(stride: RunningStride) -> None:
    time = np.linspace(0.0, stride.contact.contact, 60)
    ground, q = stride.ground(time)["r"], stride.motion(time).q
    heel, toe = (q[:, stride.person.slot(f"{end}_r")] for end in ("heel", "toe"))
    loaded = ground.force[:, 2] > 100.0
    ahead = (ground.point - heel)[loaded, 0]
    assert ahead[0] > 0.0 and ahead[-1] < 0.25 and ahead[-1] - ahead[0] > 0.05
    assert np.abs((ground.point - heel)[loaded, 1]).max() < 0.045
    assert np.abs(toe - toe[len(toe) // 4]).max() < 0.02


@pytest.mark.thorough
def test_moments_are_those_of_slow_running() -> None:
    """Peaks of internal moments [N m/kg], near those published for 2.5 to 3.5 m/s.

    Novacheck (1998), Gait Posture 7:77-95; Hamner and Delp (2013), J Biomech 46:780-787: hip extension 1 to 2, hip
    abduction 1.2 to 2, knee extension 2 to 3, ankle plantarflexion 2 to 2.6, all about.
    """
    stride = running_stride()
    time = np.linspace(0.0, stride.period, 141)
    moment = projected_moments(stride.model, stride.motion(time), stride.wrenches(time))
    least = moment.min(axis=0) / stride.model.mass.total
    for dof, (low, high) in {
        "hip_flexion_r": (1.0, 2.1),
        "hip_adduction_r": (1.2, 2.0),
        "knee_flexion_r": (2.0, 3.1),
        "ankle_dorsiflexion_r": (2.0, 2.6),
    }.items():
        assert low < -least[stride.model.dof(dof)] < high, dof


@pytest.fixture(scope="module")
def fast() -> RunningStride:
    return running_stride(*RUNS["fast"])


@pytest.fixture(scope="module")
def recorded(fast: RunningStride, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_recording(
        tmp_path_factory.mktemp("run"),
        fast,
        noise_mm=0.3,
        marker_rate_hz=200.0,
        force_rate_hz=600.0,
        cutoff_hz=15.0,
    )


@pytest.fixture(scope="module")
def result(recorded: Path) -> xr.Dataset:
    return ms.run(recorded)


def with_cutoff(trial: Path, cutoff: str) -> Path:
    text = trial.read_text(encoding="utf-8")
    other = trial.with_name(f"cutoff_{cutoff}.toml")
    other.write_text(text.replace("cutoff_hz = 15", f"cutoff_hz = {cutoff}"), encoding="utf-8")
    return other


@pytest.mark.thorough
def test_nothing_is_wrong_with_a_run(recorded: Path) -> None:
    report = check(recorded)
    assert report.codes == (), str(report)


def test_the_truth_of_a_run_comes_back_with_every_frame_valid(recorded: Path, result: xr.Dataset) -> None:
    truth = ms.read_result(recorded.with_name("truth.nc"))
    assert result.balanced.all() and result.steady.all() and result.foot_in_place.all()
    for name, most in {"joint_angle": 0.03, "joint_moment": 70.0}.items():
        assert np.abs(result[name] - truth[name].interp(time=result["time"])).max() < most, name


def test_what_is_customary_in_walking_is_not_said_of_a_run(result: xr.Dataset) -> None:
    notes = " ".join(result.attrs["notes"])
    assert "walking" not in notes and "periodic" not in notes and "Sources differ" not in notes
    assert "periodic" not in result.event_source.values
    assert np.isnan(result.double_support_percent).all()
    kinds = result.event_kind.values
    assert set(result.event_source.values[kinds == "toe_off"]) == {"forces"}


def test_events_and_speed_of_a_run(fast: RunningStride, result: xr.Dataset) -> None:
    stride = fast
    known = stride.events(-stride.period, 3.0 * stride.period)
    for kind, side, time, source in zip(
        *(result[f"event_{name}"].values for name in ("kind", "side", "time", "source")), strict=True
    ):
        if kind == "foot_below_hip":
            continue
        truth = [event.time + 0.4 for event in known if (event.kind, event.side) == (kind, side)]
        assert np.abs(np.array(truth) - time).min() < (0.012 if source == "forces" else 0.06)
    np.testing.assert_allclose(result.walking_speed, stride.speed, rtol=0.02)
    np.testing.assert_allclose(result.stance_percent, 100.0 * stride.person.toe_off, atol=2.5)


def test_a_cutoff_for_walking_is_a_warning_that_says_what_to_write(recorded: Path) -> None:
    slow = with_cutoff(recorded, "6")
    report = check(slow)
    (found,) = [finding for finding in report.findings if finding.severity != "note"]
    assert (found.code, found.severity) == ("cutoff", "warning")
    assert "6 Hz" in found.what and "cutoff_hz = 15" in found.remedy and "10 to 20 Hz" in found.remedy
    assert any("cutoff_hz = 15" in note for note in ms.run(slow).attrs["notes"])


def test_mid_stance_counts_where_masses_are_a_little_off(recorded: Path) -> None:
    """An error of 12 % of the forces is 30 % of body weight at mid-stance of a run, and 12 % of it in walking."""
    trial = recorded.with_name("lighter.toml")
    mass = 70.25
    text = recorded.read_text(encoding="utf-8").replace(f"mass_kg = {mass}", f"mass_kg = {0.88 * mass:.2f}")
    trial.write_text(text, encoding="utf-8")
    result = ms.run(trial)
    residual = np.linalg.norm(result.pelvis_residual.values[:, :3], axis=1)
    weight = 0.88 * mass * 9.80665
    assert residual.max() > 0.3 * weight
    assert result.balanced.all()
    total = np.linalg.norm(result.ground_reaction_force.sum("side"), axis=1)
    assert result.attrs["balance_limit"] == pytest.approx(0.25 * total.max() / weight, rel=1e-6)


def test_a_lost_contact_of_a_run_does_not_count(recorded: Path) -> None:
    """The left foot's plate was left out: without its force nothing carries the runner."""
    trial = ms.read_trial(recorded)
    lost = [plate for plate in trial.forces if plate.side == "r"]
    result = ms.run(replace(trial, forces=tuple(lost)))
    force = np.linalg.norm(result.pelvis_residual.values[:, :3], axis=1)
    unbalanced = ~result.balanced.values
    assert unbalanced.sum() > 0.2 * unbalanced.size
    assert force[unbalanced].min() > 0.6 * 70.25 * 9.8


def test_flights_are_where_nothing_carries_the_runner(fast: RunningStride, recorded: Path) -> None:
    stride, found = fast, flights_of(ms.read_trial(recorded)) - 0.4
    flight = 0.5 * stride.period - stride.contact.contact
    ends = [
        event.time for event in stride.events(-stride.period, 3.0 * stride.period) if event.kind == "toe_off"
    ]
    whole = found[(found[:, 0] > 0.0) & (found[:, 1] < stride.period)]
    assert len(whole) >= 1
    for first, last in whole:
        begins = min(ends, key=lambda end: abs(end - first))
        assert abs(first - begins) < 0.04 and abs(last - begins - flight) < 0.04


def test_only_a_walk_can_be_carried_along_another_path(fast: RunningStride, tmp_path: Path) -> None:
    with refused("conflict", "turn_deg"):
        synthetic_recording(tmp_path, fast, turn_deg=30.0)


@pytest.mark.thorough
def test_a_runner_may_land_on_the_forefoot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The center of pressure stays within 5 cm about the ball of the foot; in walking its plate would be displaced."""
    module = sys.modules[RunningStride.__module__]
    monkeypatch.setattr(module, "MIDDLE", 0.12)
    monkeypatch.setattr(module, "PRESSURE_TRAVEL", 0.05)
    forefoot = running_stride.__wrapped__()
    report = check(synthetic_recording(tmp_path, forefoot, force_rate_hz=600.0, cutoff_hz=15.0, truth=False))
    assert report.codes == (), str(report)


@pytest.mark.parametrize(
    ("speed", "period", "stance"),
    [(3.0, 0.7, 0.5), pytest.param(2.5, 0.72, 0.46, marks=pytest.mark.thorough), (float("nan"), 0.7, 0.36)],
)
def test_a_run_that_the_legs_cannot_do_is_refused(speed: float, period: float, stance: float) -> None:
    with refused("bad_number", f"{speed:g} m/s"):
        running_stride(speed, period, stance)
