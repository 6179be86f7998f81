"""Inverse dynamics: laws of mechanics on a model with every kind of joint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from sampled_motion import at_rest, free_names, sine_motion
from small_model import TEXT, save_model

from musclesolve import read_osim
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.external_loads import ExternalLoad
from musclesolve.models.opensim.inverse_dynamics import (
    ModelMotion,
    body_dynamics,
    model_motion,
    require_masses,
)
from musclesolve.models.opensim.kinematics import body_motion

STEP = 1e-4
TIME = np.linspace(0.0, 1.0, 21)


def push(
    time: np.ndarray, body: str = "talus_r", frame: str = "ground", point_frame: str = "ground"
) -> ExternalLoad:
    """A load that changes linearly, so that interpolation is exact where force or point is constant."""
    force = np.stack([40.0 + 10.0 * time, 300.0 - 50.0 * time, -20.0 + 0.0 * time], axis=1)
    point = np.tile([0.1, 0.02, 0.05], (len(time), 1))
    moment = np.stack([0.0 * time, 5.0 + time, 2.0 * time], axis=1)
    return ExternalLoad("push", body, time, force, point, moment, frame, point_frame)


def energy(model, motion: ModelMotion) -> np.ndarray:
    """Kinetic and potential energy (T,), from poses and twists."""
    bodies, total = body_dynamics(model, motion), np.zeros(len(motion.time))
    for k, body in enumerate(model.bodies[1:], start=1):
        mass = model.masses[body]
        rotation, omega = bodies.pose.rotation[:, k], bodies.twist[:, k, :3]
        center = rotation @ mass.center + bodies.pose.position[:, k]
        velocity = bodies.twist[:, k, 3:] + np.cross(omega, center)
        local = np.einsum("tji,tj->ti", rotation, omega)
        total += 0.5 * mass.mass * (velocity**2).sum(axis=1) - mass.mass * center @ model.gravity
        total += 0.5 * np.einsum("ti,ij,tj->t", local, mass.inertia, local)
    return total


def moved(motion: ModelMotion, step: float) -> ModelMotion:
    """The motion a little later, to second order."""
    value = motion.value + step * motion.speed + 0.5 * step**2 * motion.acceleration
    return replace(motion, value=value, speed=motion.speed + step * motion.acceleration)


def test_accelerations_are_second_differences_of_the_poses(small) -> None:
    motion = sine_motion(small, TIME)
    bodies = body_dynamics(small, motion)
    place = [body_motion(small, moved(motion, step).value).position for step in (-STEP, 0.0, STEP)]
    expected = (place[0] - 2.0 * place[1] + place[2]) / STEP**2
    omega, v = bodies.twist[..., :3], bodies.twist[..., 3:]
    alpha, a = bodies.acceleration[..., :3], bodies.acceleration[..., 3:]
    found = a + np.cross(alpha, place[1]) + np.cross(omega, v + np.cross(omega, place[1]))
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


def test_power_of_the_generalized_forces_is_the_rate_of_energy(small) -> None:
    motion = sine_motion(small, TIME)
    dynamics = inverse_dynamics(small, motion)
    rate = (energy(small, moved(motion, STEP)) - energy(small, moved(motion, -STEP))) / (2.0 * STEP)
    for force in (dynamics.force, dynamics.joint_force):
        np.testing.assert_allclose((force * motion.speed).sum(axis=1), rate, atol=1e-6 * np.abs(rate).max())


def test_generalized_forces_are_virtual_power(small) -> None:
    """With loads: tau_k is the power of all wrenches on the twists by coordinate k, couplings included."""
    motion = sine_motion(small, TIME)
    dynamics = inverse_dynamics(small, motion, [push(TIME)])
    names = free_names(small)
    twist = body_motion(small, motion.value, names).twist
    power = np.einsum("tkbi,tbi->tk", twist, dynamics.wrench)
    found = np.stack([dynamics.column(name) for name in names], axis=1)
    np.testing.assert_allclose(found, power, atol=1e-9 * np.abs(power).max())


def test_at_rest_they_are_the_slope_of_potential_energy(small) -> None:
    pose = sine_motion(small, TIME).value
    dynamics = inverse_dynamics(small, at_rest(small, pose))
    for name in free_names(small):
        column = small.coordinate_number[name]
        ends = []
        for step in (1e-5, -1e-5):
            shifted = pose.copy()
            shifted[:, column] += step
            ends.append(energy(small, at_rest(small, shifted)))
        np.testing.assert_allclose(dynamics.column(name), (ends[0] - ends[1]) / 2e-5, atol=1e-5)


def test_a_body_in_free_fall_needs_nothing(small) -> None:
    """The joint of the pelvis moves along the axes of its parent frame; the limbs do not move."""
    time = np.linspace(0.0, 0.5, 6)
    gravity = small.joints[0].parent.rotation.T @ small.gravity
    zero = {name: np.zeros(6) for name in free_names(small)}
    fall = {name: gravity[k] * np.ones(6) for k, name in enumerate(("tx", "ty", "tz"))}
    place = {name: 0.5 * gravity[k] * time**2 for k, name in enumerate(("tx", "ty", "tz"))}
    speed = {name: gravity[k] * time for k, name in enumerate(("tx", "ty", "tz"))}
    dynamics = inverse_dynamics(
        small, model_motion(small, time, {**zero, **place}, {**zero, **speed}, {**zero, **fall})
    )
    np.testing.assert_allclose(dynamics.joint_force, 0.0, atol=1e-10)


def test_weight_is_carried_by_the_root(small) -> None:
    dynamics = inverse_dynamics(small, at_rest(small, sine_motion(small, TIME).value))
    weight = sum(mass.mass for mass in small.masses.values()) * small.gravity
    axes = small.joints[0].parent.rotation
    found = np.stack([dynamics.column(name) for name in ("tx", "ty", "tz")], axis=1) @ axes.T
    np.testing.assert_allclose(found, np.tile(-weight, (len(TIME), 1)), atol=1e-9)


def test_a_load_in_the_frame_of_a_body_is_that_in_the_ground(small) -> None:
    motion = sine_motion(small, TIME)
    pose = body_motion(small, motion.value)
    load, shank = push(TIME), small.body_number["tibia_r"]
    turned, origin = pose.rotation[:, shank].swapaxes(1, 2), pose.position[:, shank]

    def inward(vector: np.ndarray) -> np.ndarray:
        return np.asarray((turned @ vector[..., None])[..., 0])

    local = {"force": inward(load.force), "moment": inward(load.moment), "force_frame": "tibia_r"}
    same = replace(load, **local, point=inward(load.point - origin), point_frame="tibia_r")
    mixed = replace(load, **local)
    expected = inverse_dynamics(small, motion, [load]).force
    for other in (same, mixed):
        np.testing.assert_allclose(inverse_dynamics(small, motion, [other]).force, expected, atol=1e-8)


def test_a_pin_joint_by_hand(tmp_path: Path) -> None:
    """The force along the slider of the planar patella follows from gravity and the acceleration of a point mass."""
    model = read_osim(save_model(tmp_path))
    motion = sine_motion(model, TIME)
    dynamics = inverse_dynamics(model, motion)
    patella = model.body_number["patella_r"]
    along = body_motion(model, motion.value, ["slide_a_r"]).twist[:, 0, patella]
    expected = (along * dynamics.wrench[:, patella]).sum(axis=1)
    np.testing.assert_allclose(dynamics.column("slide_a_r"), expected, atol=1e-9)


def test_coupled_coordinates_follow_and_need_nothing_themselves(small) -> None:
    motion = sine_motion(small, TIME)
    dynamics = inverse_dynamics(small, motion)
    np.testing.assert_array_equal(dynamics.column("beta_r"), 0.0)
    knee, beta = (small.coordinate_number[name] for name in ("knee_r", "beta_r"))
    np.testing.assert_allclose(motion.acceleration[:, beta], motion.acceleration[:, knee])  # 2 (0.5 q + 0.1)
    expected = dynamics.joint_force[:, knee] + dynamics.joint_force[:, beta]
    np.testing.assert_allclose(dynamics.force[:, knee], expected)


def test_bodies_without_joint_are_refused(tmp_path: Path) -> None:
    model = read_osim(save_model(tmp_path, TEXT.replace("UniversalJoint", "ScrewJoint")))
    with refused("unsupported", "small.osim", "talus_r"):
        inverse_dynamics(model, sine_motion(model, TIME))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<mass>4</mass>", ""),
        ("<mass>4</mass>", "<mass>-3</mass>"),
        ("<inertia>0.07 0.03", "<inertia>-0.07 0.03"),
        ("<inertia>0.07 0.03 0.05 0.001", "<inertia>0.07 0.03 0.05 0.5"),
    ],
)
def test_impossible_mass_properties_stop_what_needs_them(tmp_path: Path, old: str, new: str) -> None:
    """A load on the tibia: the ankle beyond it does not carry it, hip and knee do."""
    assert old in TEXT
    model = read_osim(save_model(tmp_path, TEXT.replace(old, new)))
    usual = read_osim(save_model(tmp_path, TEXT))
    found, right = (inverse_dynamics(each, sine_motion(usual, TIME)) for each in (model, usual))
    np.testing.assert_array_equal(found.column("ankle_a_r"), right.column("ankle_a_r"))
    assert np.isnan(found.column("knee_r")).all() and np.isnan(found.column("hip_a_r")).all()
    require_masses(model, ["ankle_a_r"], found.column("ankle_a_r")[:, None])
    with refused("bad_model", "small.osim", "tibia_r", "knee_r", "line"):
        require_masses(model, ["knee_r"], found.column("knee_r")[:, None])
    chosen = [muscle.name for muscle in model.chosen()]
    assert chosen == ["one_r", "two_r", "three_r"]


def test_a_motion_must_be_complete(small) -> None:
    zero = {name: np.zeros(3) for name in free_names(small)}
    lacking = {name: column for name, column in zero.items() if name != "knee_r"}
    with refused("missing_column", "knee_r"):
        model_motion(small, np.arange(3.0), lacking, lacking, lacking)
    with refused("bad_shape", "knee_r"):
        model_motion(small, np.arange(3.0), {**zero, "knee_r": np.zeros(2)}, zero, zero)
    with refused("not_finite", "knee_r"):
        model_motion(small, np.arange(3.0), {**zero, "knee_r": np.full(3, np.nan)}, zero, zero)
    with refused("bad_type", "speed"):
        model_motion(small, np.arange(3.0), zero, None, zero)  # type: ignore[arg-type]
    for time in ([0.0, 2.0, 1.0], [0.0, 1.0, np.nan]):
        with refused("time_not_increasing" if np.isfinite(time).all() else "not_finite", "time"):
            model_motion(small, time, zero, zero, zero)  # type: ignore[arg-type]
    values = np.zeros((3, len(small.coordinates) + 1))
    with refused("bad_shape", "values"):
        body_motion(small, values)


def test_loads_must_fit_model_and_motion(small) -> None:
    motion = sine_motion(small, TIME)
    with refused("unknown_name", "push", "toes_r"):
        inverse_dynamics(small, motion, [push(TIME, body="toes_r")])
    with refused("unknown_name", "push", "toes_r"):
        inverse_dynamics(small, motion, [push(TIME, frame="toes_r")])
    with refused("no_overlap", "push", "0.5"):
        inverse_dynamics(small, motion, [push(0.5 * TIME)])
