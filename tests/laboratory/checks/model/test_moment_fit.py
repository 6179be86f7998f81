"""Moments and loads that contradict the model are found, those of the same body and motion never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from musclesolve import read_osim
from musclesolve.laboratory.checks.model import given_moments, load_balance
from musclesolve.laboratory.checks.model.load_units_and_axes import best_fit
from musclesolve.laboratory.checks.model.model_case import ModelCase, Motion
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion, coordinate_motion
from musclesolve.models.opensim.external_loads import ExternalLoad, foot_of_side
from musclesolve.models.opensim.load_dynamics import load_dynamics, whole_motion
from musclesolve.tables import Table, read_mot

TIME = np.linspace(0.0, 2.0, 201)


@pytest.fixture(scope="module")
def walker(public_model):
    return public_model("rajagopal_2016")


def motion_of(model, seed: int = 0) -> dict[str, np.ndarray]:
    """Every free coordinate swings, at 1 and 2 Hz."""
    rng, found = np.random.default_rng(seed), {"time": TIME}
    driven = {coupler.dependent for coupler in model.couplers}
    for name, each in model.coordinates.items():
        if each.locked or name in driven:
            continue
        size = 0.02 if not each.rotational else 0.1 if name.startswith("pelvis") else 0.35
        first, second = rng.uniform(0.0, 2.0 * np.pi, 2)
        wave = np.sin(2.0 * np.pi * TIME + first) + 0.3 * np.sin(4.0 * np.pi * TIME + second)
        found[name] = (0.6 if name.startswith("knee") else 0.0) + size * wave
    return found


def heavier(model, factor: float):
    grown = {
        name: replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
        for name, body in model.masses.items()
    }
    return replace(model, masses=grown)


def loads_of(model, motion: CoordinateMotion, share: float = 1.0) -> list[ExternalLoad]:
    """Ground reactions that carry a share of the model, by turns on its feet, with points and free moments at will."""
    dynamics = inverse_dynamics(model, whole_motion(model, motion))
    force, rng = dynamics.wrench[:, :, 3:].sum(axis=1) * share, np.random.default_rng(3)
    right = 0.5 + 0.5 * np.sin(2.0 * np.pi * TIME)[:, None]
    none = np.zeros((len(TIME), 3))
    found = []
    for side, part in (("r", right), ("l", 1.0 - right)):
        point = none + rng.uniform(-0.2, 0.2, 3)
        found.append(
            ExternalLoad(
                side, foot_of_side(model, side), TIME, part * force, point, none + rng.normal(size=3)
            )
        )
    return found


def moments_of(model, motion: CoordinateMotion, loads: list[ExternalLoad]) -> Table:
    """As OpenSim writes them: of every coordinate, those of its own joint alone."""
    dynamics = inverse_dynamics(model, whole_motion(model, motion), loads)
    names = tuple(
        f"{name}_{'moment' if each.rotational else 'force'}" for name, each in model.coordinates.items()
    )
    return Table(TIME, names, dynamics.joint_force, False, Path())


def body_of(
    model, motion: CoordinateMotion, table: Table | None = None, loads: list[ExternalLoad] | None = None
) -> SimpleNamespace:
    """Return those attributes of a prepared body that the checks read."""
    dofs = (
        "hip_flexion_r",
        "knee_angle_r",
        "ankle_angle_r",
        "hip_flexion_l",
        "knee_angle_l",
        "ankle_angle_l",
    )
    dynamics = None if loads is None else load_dynamics(model, motion, loads)
    shown = {"model": model, "motion": motion, "dofs": dofs, "moment_table": table, "moment_file": None}
    shown["every_motion"] = motion
    return SimpleNamespace(**shown, dynamics=dynamics, moment=np.zeros((len(motion.time), len(dofs))))


def load_case(model, motion: CoordinateMotion, loads: list[ExternalLoad]) -> ModelCase:
    body = body_of(model, motion, loads=loads)
    return ModelCase(body, Motion.from_body(body), tuple(loads), tuple(loads))  # type: ignore[arg-type]


def case_of(model, motion: CoordinateMotion, table: Table) -> given_moments.MomentCase:
    body = body_of(model, motion, table)
    case = given_moments.moment_case(body, Motion.from_body(body))  # type: ignore[arg-type]
    assert case is not None
    return replace(case, due=np.nan * case.due)


def found_in(model, motion: CoordinateMotion, table: Table):
    """Return the findings about moments of the whole body, and about the times and columns of their file."""
    case = case_of(model, motion, table)
    return [*given_moments.belonging(case.body), *given_moments.whole_body(case)]


def test_its_own_moments_fit_whatever_the_ground_gave(walker) -> None:
    """The projection takes out any wrenches on the feet: k and r are 1 with loads, without, and with half of them."""
    motion = coordinate_motion(walker, motion_of(walker))
    for share, carried in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (1.4, -0.4)):
        table = moments_of(walker, motion, loads_of(walker, motion, share))
        factor, _, likeness, borne, _ = given_moments.moment_fit(case_of(walker, motion, table))
        np.testing.assert_allclose([factor, likeness], 1.0, atol=0.01)
        assert borne == pytest.approx(carried, abs=0.02)
        said = [each.code for each in found_in(walker, motion, table)]
        assert said == (["root_carries"] if abs(carried) > 0.15 else [])


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("factor", "codes"), [(0.6, ["mass"]), (0.85, []), (1.0, []), (1.2, []), (1.5, ["mass"])]
)
def test_moments_of_another_mass(walker, factor: float, codes: list[str]) -> None:
    """The root shows nothing of it: the loads are those of that person."""
    motion, other = coordinate_motion(walker, motion_of(walker)), heavier(walker, factor)
    table = moments_of(other, motion, loads_of(other, motion))
    fitting, _, likeness, carried, _ = given_moments.moment_fit(case_of(walker, motion, table))
    assert fitting == pytest.approx(factor, abs=0.02)
    assert abs(carried) < 0.02 and likeness > 0.99
    assert [each.code for each in found_in(walker, motion, table)] == codes


def test_moments_of_another_motion(walker) -> None:
    given, other = motion_of(walker), motion_of(walker, seed=5)
    motion, another = coordinate_motion(walker, given), coordinate_motion(walker, other)
    (said,) = found_in(walker, motion, moments_of(walker, another, loads_of(walker, another)))
    assert said.code == "another_trial" and said.severity == "error"
    table = moments_of(walker, motion, loads_of(walker, motion))
    assert found_in(walker, motion, table) == []
    late = found_in(walker, motion, replace(table, time=table.time + 1.5))
    assert late[0].code == "another_trial" and late[0].severity == "warning"
    renamed = tuple(name.replace("knee_angle_r_m", "knee_r_m") for name in table.names)
    assert found_in(walker, motion, replace(table, names=renamed))[0].code == "other_coordinates"


def test_what_does_not_suffice_accuses_nobody(walker) -> None:
    """Fewer coordinates than wrenches have components, a model without mass, gaps throughout."""
    motion = coordinate_motion(walker, motion_of(walker))
    table = moments_of(heavier(walker, 2.0), motion, [])
    legs = [k for k, name in enumerate(table.names) if name.startswith(("hip", "knee_angle_r_m", "ankle"))]
    few = Table(TIME, tuple(table.names[k] for k in legs), table.values[:, legs], False, Path())
    assert found_in(walker, motion, few) == []
    assert found_in(replace(walker, masses={}), motion, table) == []
    assert found_in(walker, motion, replace(table, values=np.full(table.values.shape, np.nan))) == []


@pytest.mark.in_part(2)
@pytest.mark.parametrize("share", [0.7, 0.9, 0.97, 1.0, 1.03, 1.1, 1.3])
def test_loads_of_another_person(walker, share: float) -> None:
    """The scale is found whatever the motion, also where one foot is not measured for a while."""
    motion = coordinate_motion(walker, motion_of(walker))
    loads = loads_of(walker, motion, share)
    step = np.where((TIME > 0.3) & (TIME < 0.9), 0.0, 1.0)[:, None]
    for given in (loads, [loads[0], replace(loads[1], force=loads[1].force * step)]):
        case = load_case(walker, motion, given)
        fit = best_fit(case)
        assert fit is not None and 1.0 / fit.scale == pytest.approx(share, abs=0.02)
        found = [each.code for each in load_balance.mass_of_model(case)]
        assert found == (["mass"] if abs(share - 1.0) > 0.06 else [])


@pytest.mark.parametrize("shift", [-0.08, -0.02, 0.0, 0.03, 0.15])
def test_loads_that_are_late(walker, shift: float) -> None:
    """The shift of loads that carry and accelerate the body exactly is found to a millisecond at any scale."""
    motion = coordinate_motion(walker, motion_of(walker))
    loads = [replace(load, time=load.time + shift) for load in loads_of(walker, motion, 1.2)]
    early, late = loads[0].time[[0, -1]]
    case = load_case(walker, motion.frames((TIME >= early) & (TIME <= late)), loads)
    fit = best_fit(case, 0.2)
    assert fit is not None and abs(fit.shift - shift) < 0.001 and abs(fit.drift) < 0.002
    assert fit.errors[0] < 0.001


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.05, 0.15])
def test_loads_beside_the_body(walker, shift: float) -> None:
    """Moved by d they leave the residual moment d x F: d is found again."""
    motion = coordinate_motion(walker, motion_of(walker))
    right, left = loads_of(walker, motion)
    lacking = load_dynamics(walker, motion, [right, left]).root_wrench
    assert lacking is not None
    balancing = [replace(right, moment=right.moment + lacking[:, :3]), left]
    loads = [replace(load, point=load.point + np.array([shift, 0.0, 0.0])) for load in balancing]
    found = list(load_balance.place_of_points(load_case(walker, motion, loads)))
    assert [each.code for each in found] == (["pressure_offset"] if shift > 0.03 else [])
    for each in found:
        assert each.repair is not None
        moved = each.repair(tuple(loads))
        np.testing.assert_allclose(moved[0].point, balancing[0].point, atol=0.003)


def test_without_gravity_nobody_stands(walker) -> None:
    floating = replace(walker, gravity=np.zeros(3))
    motion = coordinate_motion(floating, motion_of(floating))
    found = load_dynamics(floating, motion, loads_of(floating, motion))
    assert not found.stands and found.balance_limit is None and found.balanced is None
    assert found.root_residual is not None and found.root_residual.max() < 1e-6


def test_moments_of_a_model_that_was_not_scaled(model_folder: Path, recorded_walk: Path) -> None:
    reference = recorded_walk / "reference"
    generic = read_osim(model_folder / "rajagopal_2016.osim")
    motion = coordinate_motion(generic, reference / "opensim_ik.mot")
    factor, *_ = given_moments.moment_fit(case_of(generic, motion, read_mot(reference / "opensim_id.sto")))
    assert factor == pytest.approx(1.27, abs=0.01)
