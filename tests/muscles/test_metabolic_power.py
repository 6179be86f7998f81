"""Models of metabolic power beside OpenSim's probes, in the same states of one muscle; laws; masses."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from packages import need

from musclesolve.muscles.metabolic_power import MODELS, EnergyState, slow_fibers

SLOW, STRENGTH, OPTIMAL, FASTEST, DENSITY, TENSION = 0.6, 1000.0, 0.10, 10.0, 1059.7, 0.25e6


def state_of(rows: np.ndarray) -> EnergyState:
    """One muscle in states of activation, length, speed, active curve, force and passive force (T, 6)."""
    activation, length, speed, isometric, force, passive = (column[:, None] for column in rows.T)
    mass = STRENGTH * OPTIMAL * DENSITY / TENSION
    each = (np.array([value]) for value in (mass, SLOW, FASTEST, STRENGTH))
    return EnergyState(activation, length, speed, isometric, force, passive, OPTIMAL * speed, *each)


ASK = """
import json, sys
import opensim as osim
osim.Logger.setLevelString("off")
slow, strength, optimal, fastest = json.loads(sys.argv[1])

def probe_of(name):
    model, body = osim.Model(), osim.Body("body", 1.0, osim.Vec3(0), osim.Inertia(1, 1, 1))
    model.addBody(body)
    joint = osim.SliderJoint("joint", model.getGround(), body)
    joint.updCoordinate().setName("x")
    model.addJoint(joint)
    muscle = osim.Millard2012EquilibriumMuscle("muscle", strength, optimal, 0.2, 0.0)
    muscle.set_ignore_tendon_compliance(True)
    muscle.set_max_contraction_velocity(fastest)
    muscle.addNewPathPoint("origin", model.getGround(), osim.Vec3(0))
    muscle.addNewPathPoint("insertion", body, osim.Vec3(0))
    model.addForce(muscle)
    if name == "bhargava_2004":
        probe = osim.Bhargava2004MuscleMetabolicsProbe(True, True, True, True, True)
        probe.set_use_force_dependent_shortening_prop_constant(True)
        fibers = (slow, 40.0, 133.0, 74.0, 111.0)
    else:
        probe = osim.Umberger2010MuscleMetabolicsProbe(True, True, True, True)
        probe.set_include_negative_mechanical_work(name == "umberger_2003")
        probe.set_use_Bhargava_recruitment_model(name == "umberger_2010_recruitment")
        fibers = (slow,)
    probe.set_basal_coefficient(0.0)
    probe.setName("probe")
    probe.setOperation("value")
    model.addProbe(probe)
    probe.addMuscle("muscle", *fibers)
    return model, model.initSystem(), probe, muscle

answer = {}
for name in sys.argv[2:]:
    model, state, probe, muscle = probe_of(name)
    rows = answer[name] = []
    for length in (0.6, 0.85, 1.0, 1.2, 1.4):
        for speed in (-6.0, -2.0, -0.3, 0.0, 0.4, 2.0):
            for activation in (0.02, 0.3, 0.9):
                model.getCoordinateSet().get(0).setValue(state, 0.2 + optimal * length)
                model.getCoordinateSet().get(0).setSpeedValue(state, optimal * speed)
                muscle.setActivation(state, activation)
                model.realizeVelocity(state)
                model.setControls(state, osim.Vector(1, activation))
                model.realizeReport(state)
                forces = muscle.getActiveFiberForce(state), muscle.getPassiveFiberForce(state)
                curve = muscle.getActiveForceLengthMultiplier(state)
                rows.append((activation, length, speed, curve, *forces, probe.getProbeOutputs(state).get(0)))
print("ANSWER" + json.dumps(answer))
"""
"""OpenSim's wheel and casadi cannot share a process. One muscle with a rigid tendon, and each probe."""


@pytest.fixture(scope="module")
def probes() -> dict[str, np.ndarray]:
    """Model -> states of one muscle and the power (T, 7) that the probe of OpenSim gives."""
    need("opensim")
    numbers = json.dumps([SLOW, STRENGTH, OPTIMAL, FASTEST])
    asked = [sys.executable, "-c", ASK, numbers, *MODELS]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    return {name: np.array(rows) for name, rows in json.loads(done.stdout.rpartition("ANSWER")[2]).items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_probe_of_opensim_gives_the_same(name, probes):
    rows = probes[name]
    own = MODELS[name](state_of(rows[:, :6]))[:, 0]
    np.testing.assert_allclose(own, rows[:, 6], rtol=1e-10, atol=1e-10)
    assert np.ptp(own) > 50.0


@pytest.mark.parametrize("name", MODELS)
def test_laws(name):
    rest = state_of(np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(MODELS[name](rest)[0], rest.mass, rtol=1e-12)  # 1 W/kg
    # forces by Hill's hyperbola, a / F0 = 0.25
    hill = {speed: 475.0 * (1.0 + speed / 10.0) / (1.0 - speed / 2.5) for speed in (-3.0, -1.0, 0.0)}
    works = state_of(np.array([[0.5, 0.9, speed, 0.95, force, 0.0] for speed, force in hill.items()]))
    power = MODELS[name](works)[:, 0]
    assert (power > 0).all() and (np.diff(power) < 0).all(), "shortening costs most"
    lengthens = state_of(np.array([[0.5, 0.9, 1.0, 0.95, 400.0, 0.0]]))
    assert MODELS[name](lengthens)[0, 0] >= 0.0
    double = replace(works, mass=2 * works.mass, force=2 * works.force, strength=2 * works.strength)
    np.testing.assert_allclose(MODELS[name](double)[:, 0], 2.0 * power, rtol=1e-12)
    efficient = -works.force * works.fiber_speed / MODELS[name](works)
    assert 0.2 < efficient.max() < 0.6, "initial efficiency of muscle"


def test_shares_of_slow_fibers():
    names = ("soleus_r", "gluteus_medius_anterior_l", "tib_ant_r", "per_tert_l", "unknown_r", "VasLat_r")
    np.testing.assert_array_equal(slow_fibers(names), [0.803, 0.55, 0.70, 0.75, 0.5, 0.455])
