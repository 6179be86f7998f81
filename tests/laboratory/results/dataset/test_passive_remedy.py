"""Sentences about a knee bent so deeply that passive forces extend it: the cause, and a remedy that works."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from modeled import sharing_by
from poses import motion_through

import muscle_db
from muscle_db.model import LEG_DOFS, CalibratedPassive, PassiveStrain
from musclesolve import Status, solve
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.results.dataset.muscle_labels import reserve_reasons
from musclesolve.models.body import JointLoads, Pulls, SharingGroup
from musclesolve.models.body_sharing import share_part, sharing_problem
from musclesolve.muscles import muscle_state, scale_muscles

DEEP, FRAMES = 120.0, 3
TABLE = replace(muscle_db.load("silva_2003"), calibrated_passive=None)
SOFT = {m.name: PassiveStrain(0.0, 1.2) for m in TABLE if m.group == "quadriceps_femoris"}
CALIBRATED = replace(TABLE, calibrated_passive=CalibratedPassive("for a test", SOFT))
USELESS = replace(TABLE, calibrated_passive=CalibratedPassive("for a test: the strains of the family"))


@pytest.fixture(scope="module")
def squat(model):
    """Three frames at rest, hip and knee of the right leg bent, the knee deeply in the last one."""
    coordinates = np.zeros((FRAMES, len(model.topology.dof_names)))
    coordinates[:, model.dof("hip_flexion_r")] = np.radians(60.0)
    coordinates[:, model.dof("knee_flexion_r")] = np.radians([30.0, 60.0, DEEP])
    return motion_through(model, coordinates)


def leg_of(model, squat, database, rule) -> tuple[SharingGroup, Options]:
    """The right leg, whose knee needs 1 N m of flexion."""
    sharing = sharing_by("stress_cubed")
    options = Options(("r",), database, sharing, LEG_DOFS[:5], passive=rule)
    state = muscle_state(model, scale_muscles(model, database, "r", passive=rule), squat)
    moment = np.zeros((FRAMES, len(LEG_DOFS)))
    moment[:, LEG_DOFS.index("knee_flexion")] = 1.0
    none, across = np.zeros((FRAMES, 1, 3)), np.zeros((FRAMES, 1, len(state.muscles.names), 3))
    loads = JointLoads(("hip_r",), none, none, Pulls(across, across, across[:, :0]).frames)
    dofs = state.muscles.dof_names
    every = np.ones(FRAMES, dtype=bool)
    return SharingGroup(("r",), dofs, dofs[:5], state, moment, every, squat.time, loads), options


def told(model, squat, database) -> str:
    """Return the sentences about the deepest frame."""
    leg, options = leg_of(model, squat, database, "table")
    said = reserve_reasons(share_part(leg, options.sharing), options)
    return next(sentence for sentence in said if f"at {squat.time[-1]:.3f} s" in sentence)


@pytest.mark.parametrize(
    ("database", "rule"), [(TABLE, "none"), (CALIBRATED, "calibrated"), (USELESS, "none")]
)
def test_the_rule_that_is_proposed_solves_the_frame(model, squat, database, rule):
    sentence = told(model, squat, database)
    proposed = re.search(r'passive = "(\w+)" in \[muscles\]$', sentence)
    assert proposed is not None and proposed.group(1) == rule, sentence
    for applied, expected in (("table", Status.INFEASIBLE), (rule, Status.SOLVED)):
        leg, options = leg_of(model, squat, database, applied)
        assert solve(sharing_problem(leg, options.sharing)).status[-1] == expected


def test_the_cause_is_named_with_its_moment(model, squat):
    sentence = told(model, squat, TABLE)
    moment = float(re.search(r"gives ([\d.]+) N m of extension at knee_flexion_r", sentence).group(1))
    assert moment > 200.0 and "where the motion needs 1.0 N m of flexion" in sentence
    assert "passive force of vastus" in sentence and "times" not in sentence
