"""Moments and loads that contradict the model are reported, those of the same body and motion never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musclesolve.checking.judged_run import share_model
from musclesolve.opensim.external_loads import ExternalLoad, foot_of_side
from musclesolve.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.read_model import read_osim
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion, coordinate_motion
from musclesolve.pipeline.opensim.load_dynamics import load_dynamics, load_moments, whole_motion
from musclesolve.pipeline.opensim.moments_and_model import moment_fit, moment_warnings
from musclesolve.recording.data import Table

TIME = np.linspace(0.0, 2.0, 201)


@pytest.fixture(scope="module")
def walker(public_model: Callable[[str], OpenSimModel]) -> OpenSimModel:
    return public_model("rajagopal_2016")


def motion_of(model: OpenSimModel, seed: int = 0) -> dict[str, np.ndarray]:
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


def heavier(model: OpenSimModel, factor: float) -> OpenSimModel:
    grown = {
        name: replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
        for name, body in model.masses.items()
    }
    return replace(model, masses=grown)


def loads_of(model: OpenSimModel, motion: CoordinateMotion, share: float = 1.0) -> list[ExternalLoad]:
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


def moments_of(model: OpenSimModel, motion: CoordinateMotion, loads: list[ExternalLoad]) -> Table:
    """As OpenSim writes them: of every coordinate, those of its own joint alone."""
    dynamics = inverse_dynamics(model, whole_motion(model, motion), loads)
    names = tuple(
        f"{name}_{'moment' if each.rotational else 'force'}" for name, each in model.coordinates.items()
    )
    return Table(TIME, names, dynamics.joint_force, False, Path())


def test_its_own_moments_fit_whatever_the_ground_gave(walker: OpenSimModel) -> None:
    """The projection takes out any wrenches on the feet: k and r are 1 with loads, without, and with half of them."""
    given = motion_of(walker)
    motion = coordinate_motion(walker, given)
    for share, carried in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (1.4, -0.4)):
        found = moment_fit(walker, given, moments_of(walker, motion, loads_of(walker, motion, share)), motion)
        assert found is not None
        np.testing.assert_allclose([found.factor, found.likeness], 1.0, atol=0.01)
        assert found.carried == pytest.approx(carried, abs=0.02)
        said = " ".join(found.sentences(75.0))
        assert ("heavier person" in said) is (carried < -0.15) and ("left out" in said) is (carried > 0.15)


@pytest.mark.parametrize(
    ("factor", "warned"), [(0.6, True), (0.85, False), (1.0, False), (1.2, False), (1.5, True)]
)
def test_moments_of_another_mass(walker: OpenSimModel, factor: float, warned: bool) -> None:
    """The root shows nothing of it: the loads are those of that person."""
    given = motion_of(walker)
    motion, other = coordinate_motion(walker, given), heavier(walker, factor)
    table = moments_of(other, motion, loads_of(other, motion))
    found = moment_fit(walker, given, table, motion)
    assert found is not None and found.factor == pytest.approx(factor, abs=0.02)
    assert abs(found.carried) < 0.02 and found.likeness > 0.99
    assert bool(found.sentences(75.0)) is warned


def test_a_result_says_so(walker: OpenSimModel) -> None:
    given = motion_of(walker)
    motion, other = coordinate_motion(walker, given), heavier(walker, 1.5)
    table = moments_of(other, motion, loads_of(other, motion))
    result = share_model(walker, given, table, reserve_weight=1.0, side="r", end_s=0.1)
    assert any("times as large" in str(note) for note in result.attrs["notes"])


def test_moments_of_another_motion(walker: OpenSimModel) -> None:
    given, other = motion_of(walker), motion_of(walker, seed=5)
    motion, another = coordinate_motion(walker, given), coordinate_motion(walker, other)
    (said,) = moment_warnings(walker, given, moments_of(walker, another, loads_of(walker, another)), motion)
    assert "another motion" in said
    table = moments_of(walker, motion, loads_of(walker, motion))
    assert moment_warnings(walker, given, table, motion) == []
    assert (
        "see whether they are of the same trial"
        in moment_warnings(walker, given, replace(table, time=table.time + 1.5), motion)[0]
    )
    renamed = tuple(name.replace("knee_angle_r_m", "knee_r_m") for name in table.names)
    assert "knee_r are not in" in moment_warnings(walker, given, replace(table, names=renamed), motion)[0]


def test_what_does_not_suffice_accuses_nobody(walker: OpenSimModel) -> None:
    """Fewer coordinates than wrenches have components, a model without mass, gaps throughout, arrays of a program."""
    given = motion_of(walker)
    motion = coordinate_motion(walker, given)
    table = moments_of(heavier(walker, 2.0), motion, [])
    legs = [k for k, name in enumerate(table.names) if name.startswith(("hip", "knee_angle_r_m", "ankle"))]
    few = Table(TIME, tuple(table.names[k] for k in legs), table.values[:, legs], False, Path())
    assert moment_warnings(walker, given, few, motion) == []
    assert moment_warnings(replace(walker, masses={}), given, table, motion) == []
    assert (
        moment_warnings(walker, given, replace(table, values=np.full(table.values.shape, np.nan)), motion)
        == []
    )
    arrays = {"time": TIME, **{name: table.values[:, k] for k, name in enumerate(table.names)}}
    assert moment_warnings(walker, given, arrays, motion) == []
    partly = {name: values for name, values in given.items() if not name.startswith("arm")}
    assert moment_fit(walker, partly, table, coordinate_motion(walker, partly)) is None


@pytest.mark.parametrize("share", [0.7, 0.95, 1.0, 1.1, 1.3])
def test_loads_of_another_person(walker: OpenSimModel, share: float) -> None:
    """Also where one foot is not measured for a while."""
    motion = coordinate_motion(walker, motion_of(walker))
    loads = loads_of(walker, motion, share)
    found = load_dynamics(walker, motion, loads)
    assert found.mass_share == pytest.approx(share, abs=1e-6)
    assert any("contradict" in note for note in found.warnings()) is (abs(share - 1.0) > 0.15)
    balanced = found.balanced
    if share < 0.75:
        assert balanced is None  # as of a body that sits
    elif abs(share - 1.0) < 0.2:
        assert balanced is not None and balanced.all()
    late = [replace(load, time=load.time + 0.2) for load in loads]
    shifted = load_dynamics(walker, motion.frames(TIME > 0.3), late).balanced
    assert shifted is None or not shifted.all()
    step = np.where((TIME > 0.3) & (TIME < 0.9), 0.0, 1.0)[:, None]
    lacking = [replace(load, force=load.force * step) for load in loads]
    assert load_dynamics(walker, motion, lacking).mass_share == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.15])
def test_loads_beside_the_body(walker: OpenSimModel, shift: float) -> None:
    """Moved by d they leave the residual moment d x F: d is found again, where the force is perpendicular to it."""
    motion = coordinate_motion(walker, motion_of(walker))
    right, left = loads_of(walker, motion)
    lacking = load_dynamics(walker, motion, [right, left]).root_wrench
    assert lacking is not None
    balancing = [replace(right, moment=right.moment + lacking[:, :3]), left]
    loads = [replace(load, point=load.point + np.array([shift, 0.0, 0.0])) for load in balancing]
    found = load_dynamics(walker, motion, loads)
    assert found.balanced is not None and found.balanced.all()
    assert found.displacement == pytest.approx(shift, rel=0.05, abs=1e-6)
    assert any("act beside the body" in note for note in found.warnings()) is (shift > 0.08)


def test_without_gravity_nobody_stands(walker: OpenSimModel) -> None:
    floating = replace(walker, gravity=np.zeros(3))
    motion = coordinate_motion(floating, motion_of(floating))
    found = load_dynamics(floating, motion, loads_of(floating, motion))
    assert not found.stands and found.balance_limit is None and found.balanced is None
    assert found.root_residual is not None and found.root_residual.max() < 1e-6


def test_the_recorded_walk_and_its_moments(model_folder: Path, recorded_walk: Path) -> None:
    """Moments by OpenSim's own inverse dynamics fit; on a model that was not scaled to the person they do not."""
    reference = recorded_walk / "reference"
    model = read_osim(reference / "rajagopal_lai_uhlrich_2023_scaled.osim")
    coordinates, moments = reference / "opensim_ik.mot", reference / "opensim_id.sto"
    motion = coordinate_motion(model, coordinates, None)
    assert moment_warnings(model, coordinates, moments, motion) == []
    generic = read_osim(model_folder / "rajagopal_2016.osim")
    (said,) = moment_warnings(generic, coordinates, moments, motion)
    assert "1.26 times as large" in said and "75.3 kg" in said


def test_the_recorded_walk_and_its_loads(recorded_walk: Path) -> None:
    reference = recorded_walk / "reference"
    model = read_osim(reference / "rajagopal_lai_uhlrich_2023_scaled.osim")
    motion = coordinate_motion(model, reference / "opensim_ik.mot")
    found = load_moments(model, motion, ("knee_angle_r",), recorded_walk / "walk_grf.mot")
    assert found.loads is not None
    measured, lighter = motion.frames(found.known), heavier(model, 0.8)
    dynamics = load_dynamics(model, measured, found.loads)
    assert dynamics.mass_share == pytest.approx(1.0, abs=0.02) and dynamics.warnings() == []
    assert dynamics.displacement is not None and dynamics.displacement < 0.03
    for own, contradicts in ((model, False), (lighter, True)):
        notes = load_dynamics(own, measured, found.loads).warnings()
        assert any("contradict" in note for note in notes) is contradicts
