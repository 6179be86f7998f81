"""Strength tests: their file, the largest moments of muscles and derivatives, and measured strength."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fiber_dynamics import FiberDynamics
from poses import motion_through
from refusals import refused

import muscle_db
from musclesolve.muscles import ElasticMuscles, MuscleParameters, muscle_state, scale_muscles
from musclesolve.muscles.person import QUANTITIES
from musclesolve.muscles.strength_tests import read_strength_tests, strength_moments

TEXT = """
[[test]]
dof = "ankle_dorsiflexion_l"
moment_N_m = -120.0
velocity_deg_s = -60
angles_deg = { ankle_dorsiflexion_l = 10.0, knee_flexion_l = 90 }
error_N_m = 10.0

[[test]]
dof = "knee_flexion_r"
moment_N_m = 80
error_N_m = 8
"""


def written(folder: Path, *edits: tuple[str, str]) -> Path:
    text = TEXT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "strength.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    found = read_strength_tests(written(tmp_path))
    first, second = found.tests
    assert (first.dof, first.moment, first.error) == ("ankle_dorsiflexion_l", -120.0, 10.0)
    assert first.velocity == pytest.approx(-np.pi / 3.0)
    assert first.angles == pytest.approx(
        {"ankle_dorsiflexion_l": np.pi / 18.0, "knee_flexion_l": np.pi / 2.0}
    )
    assert (second.velocity, dict(second.angles)) == (0.0, {})
    np.testing.assert_array_equal(found.sign, [-1.0, 1.0])


@pytest.mark.parametrize(
    ("old", "new", "code", "parts"),
    [
        ("moment_N_m = 80", "moment_N_m = 0", "bad_value", ("line 11, [[test]] moment_N_m",)),
        ("moment_N_m = 80\n", "", "missing_key", ("line 9, [[test]]", "moment_N_m")),
        ("error_N_m = 8", "error_N_m = -8", "bad_value", ("line 12, [[test]] error_N_m",)),
        ("error_N_m = 8", "error = 8", "unknown_key", ("line 12", "error_N_m")),
        ("velocity_deg_s = -60", "velocity_deg_s = 6000", "bad_value", ("line 5",)),
        ("10.0, knee", "1000.0, knee", "bad_value", ("line 6", "'ankle_dorsiflexion_l' is 1000")),
        ('"knee_flexion_r"', "3", "bad_value", ("line 10, [[test]] dof",)),
    ],
)
def test_what_cannot_be_right_has_its_line(
    tmp_path: Path, old: str, new: str, code: str, parts: tuple[str, ...]
) -> None:
    with refused(code, "strength.toml", *parts):
        read_strength_tests(written(tmp_path, (old, new)))


def test_a_file_without_tests(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text("# nothing yet\n", encoding="utf-8")
    with refused("missing_key", "[[test]]"):
        read_strength_tests(path)
    with refused("missing_file", "no.toml"):
        read_strength_tests(tmp_path / "no.toml")


def posed(model, database: str, dof: str, degrees, pose=None, speeds=0.0, passive="none"):
    """The right leg at some angles of a degree of freedom, and its moment arms about it (P, n)."""
    leg = scale_muscles(model, muscle_db.load(database), "r", passive=passive)
    angles, rates = np.zeros((2, len(degrees), len(model.topology.dof_names)))
    for name, angle in (pose or {}).items():
        angles[:, model.dof(name)] = np.radians(angle)
    angles[:, model.dof(dof)], rates[:, model.dof(dof)] = np.radians(degrees), speeds
    motion = motion_through(model, angles, rates)
    state = muscle_state(model, leg, motion)
    return state, state.moment_arm[:, leg.dof_names.index(dof)]


def arguments(state, arm: np.ndarray, sign: float) -> tuple[np.ndarray, ...]:
    return state.musculotendon_length, state.musculotendon_velocity, arm, np.full(len(arm), sign)


CASES = [("gait2392", "ankle_dorsiflexion_r", -1.0), ("rajagopal_2023", "knee_flexion_r", -1.0)]
CASES += [("silva_2003", "knee_flexion_r", 1.0), ("rajagopal_2023", "hip_flexion_r", 1.0)]


@pytest.fixture(scope="module", params=CASES, ids="-".join(map(str, range(len(CASES)))).split("-"))
def case(model, request):
    """Muscles with passive forces, shortening, at rest and lengthening."""
    database, dof, sign = request.param
    degrees, speeds = np.linspace(-5.0, 20.0, 5), sign * np.array([4.0, 0.0, 1.0, -1.0, -3.0])
    state, arm = posed(model, database, dof, degrees, {"hip_flexion_r": 30.0}, speeds, "table")
    return state, arm, sign


@pytest.mark.in_part(3)
@pytest.mark.parametrize("elastic", [False, True])
def test_derivatives_are_those_of_the_moments(case, elastic: bool) -> None:
    """Against differences of fourth order, except within them of a kink of a rigid muscle's curves."""
    state, arm, sign = case
    muscles, given = state.parameters, arguments(state, arm, sign)
    exact = strength_moments(muscles, *given, elastic).by_log
    assert exact.shape == (len(arm), 4, len(muscles.names))
    for number, name in enumerate(QUANTITIES):

        def forces(step: float, name: str = name) -> np.ndarray:
            changed = replace(muscles, **{name: getattr(muscles, name) * np.exp(step)})
            return strength_moments(changed, *given, elastic).tendon_force

        h = 1e-4
        fourth = (8.0 * (forces(h) - forces(-h)) - forces(2 * h) + forces(-2 * h)) / (12.0 * h)
        error = np.abs(arm * fourth - exact[:, number])
        scale = np.abs(exact[:, number]).max() + 1.0
        right = error < 1e-6 * scale
        if elastic:
            assert right.all(), (name, float(error.max() / scale))
        else:
            assert right.mean() > 0.97, (name, float(error.max() / scale))
    if not elastic:
        assert not exact[:, QUANTITIES.index("tendon_strain")].any()


def test_rigid_moments_are_arms_times_capacities(case) -> None:
    state, arm, sign = case
    agonist = arm * sign > 0.0
    expected = (arm * (agonist * state.force_capacity + state.passive_force)).sum(axis=1)
    found = strength_moments(state.parameters, *arguments(state, arm, sign), elastic=False)
    np.testing.assert_allclose(found.moment, expected, rtol=1e-12)


def test_elastic_forces_are_those_of_the_fiber_dynamics(case) -> None:
    """The dynamics of fibers find the same balance by another curve; silent muscles count there with 1 % activation."""
    state, arm, sign = case
    muscles = ElasticMuscles.from_parameters(state.parameters)
    length, velocity, *_ = given = arguments(state, arm, sign)
    agonist = arm * sign > 0.0
    z = FiberDynamics(muscles, damping=1e-12).equilibrium(length, agonist.astype(float), velocity)
    expected = state.parameters.max_isometric_force * muscles.curves.tendon(z).value
    found = strength_moments(state.parameters, *given, elastic=True).tendon_force
    np.testing.assert_allclose(found, expected, atol=0.5)


@pytest.mark.in_part(2)
def test_stiffer_tendons_end_at_rigid_ones(case) -> None:
    state, arm, sign = case
    given = arguments(state, arm, sign)
    rigid = strength_moments(state.parameters, *given, elastic=False).moment
    strain = state.parameters.tendon_strain
    away = [
        np.abs(
            strength_moments(replace(state.parameters, tendon_strain=each * strain), *given, True).moment
            - rigid
        )
        for each in (1.0, 0.3, 0.11)
    ]
    assert (away[2] < 0.5 * away[0]).mean() > 0.5
    assert away[2].max() < away[0].max()


def test_arrays_that_do_not_fit_are_refused() -> None:
    muscles = MuscleParameters.from_values(["a"], "de_groote_2016", 1000.0, 0.1, 0.2)
    one = np.full((1, 1), 0.3)
    with refused("bad_shape", "velocity"):
        strength_moments(muscles, one, np.zeros((2, 1)), one, np.ones(1), elastic=True)
    found = strength_moments(muscles, one, np.zeros((1, 1)), 0.05 * one / 0.3, np.ones(1), elastic=False)
    assert found.moment == pytest.approx(0.05 * 1000.0, rel=1e-3)
