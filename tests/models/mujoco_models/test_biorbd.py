"""Muscles of a biorbd model share what its inverse dynamics needs; skipped without the package biorbd."""

from __future__ import annotations

import locale
from pathlib import Path

import numpy as np
from packages import need
from refusals import refused

import musclesolve as ms

need("biorbd")
SEGMENT = """segment {}
 parent {}
 rt 0 0 0 xyz 0 0 {}
 rotations y
 mass 2
 inertia
 0.02 0 0
 0 0.02 0
 0 0 0.002
 com 0 0 -0.15
endsegment
"""
MUSCLE = """musclegroup {0}s
 originparent trunk
 insertionparent fore
endmusclegroup
muscle {0}
 type hilldegroote
 statetype degroote
 musclegroup {0}s
 originposition {1} 0 0.05
 insertionposition {1} 0 -0.05
 optimallength 0.2
 maximalforce 800
 tendonslacklength 0.2
 pennationangle 0.1
endmuscle
"""
ARM = (
    "version 4\ngravity 0 0 -9.81\nsegment trunk\nendsegment\n"
    + SEGMENT.format("upper", "trunk", 0.0)
    + SEGMENT.format("fore", "upper", -0.3)
    + MUSCLE.format("front", 0.04)
    + MUSCLE.format("back", -0.04)
)


def test_reading_a_model_leaves_the_region_of_the_process(tmp_path: Path) -> None:
    """biorbd sets the region "C", in which files opened after it would be ASCII."""
    path = tmp_path / "arm.bioMod"
    path.write_text(ARM, encoding="utf-8")
    before = locale.setlocale(locale.LC_ALL)
    ms.models.biorbd.BiorbdModel.read(path)
    assert locale.setlocale(locale.LC_ALL) == before


LIGAMENT = """ligament cord
 type linearspring
 stiffness 900
 origin trunk
 insertion fore
 originposition 0.03 0 -0.1
 insertionposition 0.03 0 -0.05
 ligamentslacklength 0.2
 dampingfactor 0
 maxshorteningspeed 10
endligament
"""
PASSIVE = """passivetorque fore
 type constant
 dof RotY
 torque 3
endpassivetorque
"""
CONTACT = "contact heel\n parent fore\n position 0 0 -0.3\n axis xyz\nendcontact\n"


def arm(folder: Path, text: str) -> ms.models.biorbd.BiorbdModel:
    path = folder / "arm.bioMod"
    path.write_text(text, encoding="utf-8")
    return ms.models.biorbd.BiorbdModel.read(path)


TIME = np.linspace(0.0, 1.0, 51)
SWING = np.stack([0.2 * np.sin(3.0 * TIME), 0.3 + 0.2 * np.sin(2.0 * TIME)], axis=1)


def test_muscles_produce_what_ligaments_and_passive_torques_leave(tmp_path: Path) -> None:
    """The torque of the solved muscles in biorbd is its inverse dynamics less ligaments and passive torques."""
    read = arm(tmp_path, ARM + LIGAMENT + PASSIVE)
    problem = read.problem(TIME, SWING, reserve_weight=1.0)
    solution, model = ms.solve(problem), read.model
    rate = np.gradient(SWING, TIME, axis=0, edge_order=2)
    change = np.gradient(rate, TIME, axis=0, edge_order=2)
    borne = []
    for frame in range(0, len(TIME), 10):
        states = model.stateSet()
        for state, activation in zip(states, solution.activation[frame], strict=True):
            state.setActivation(activation)
        pose, speed = SWING[frame], rate[frame]
        torque = model.muscularJointTorque(states, pose, speed).to_array() + solution.reserve[frame]
        ligaments = model.ligamentsJointTorque(pose, speed).to_array()
        passive = model.passiveJointTorque(pose, speed).to_array()
        due = model.InverseDynamics(pose, speed, change[frame]).to_array() - ligaments - passive
        np.testing.assert_allclose(torque, due, atol=1e-6)
        borne.append((np.abs(ligaments).max(), np.abs(passive).max()))
    assert np.array(borne).min() > 1.0  # both matter
    notes = " ".join(read.along(TIME, SWING).notes)
    assert "comes from the ligaments cord of the model: at most " in notes
    assert "comes from passive torques of joints of the model: at most fore_RotY 3.0 N m" in notes
    assert "part of the joint moments" not in " ".join(arm(tmp_path, ARM).along(TIME, SWING).notes)


def test_contacts_are_named_and_refused(tmp_path: Path) -> None:
    read = arm(tmp_path, ARM + CONTACT)
    assert "Contact points of the model exert no force here: heel" in " ".join(read.along(TIME, SWING).notes)
    assert read.along(TIME, SWING, None, ("none",)).notes
    with refused("unsupported", "contacts"):
        read.along(TIME, SWING, None, ("all",))


def test_muscles_that_do_not_follow_their_activation_are_named(tmp_path: Path) -> None:
    """The length at which a Hill muscle of biorbd is strongest changes with its activation."""
    plain = arm(tmp_path, ARM)
    bent = arm(tmp_path, ARM.replace(" type hilldegroote\n statetype degroote\n", " type hill\n", 1))
    assert "linear" not in " ".join(plain.along(TIME, SWING).notes)
    notes = " ".join(bent.along(TIME, SWING).notes)
    assert "not linear in their activation" in notes and "front " in notes and "back " not in notes
    force = np.full((51, 2), 30.0)
    idle = plain._force_notes(force * [1.0, 2.0], force * [1.0, 1.5], force)
    assert idle == ["The force of these muscles does not depend on their activation: front."]
