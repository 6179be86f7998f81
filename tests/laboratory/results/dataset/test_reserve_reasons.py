"""Sentences on what a leg's muscles cannot bear: which frames are explained, in which order, and when none is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from modeled import sharing_by

import muscle_db
from muscle_db.model import LEG_DOFS
from musclesolve import Problem, solve
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.results.dataset.muscle_labels import reserve_reasons
from musclesolve.laboratory.results.dataset.result_quantities import OPPOSITE, directions
from musclesolve.models.body import SolvedGroup

TIME = 0.01 * np.arange(12)
STRENGTH = np.array([1000.0, 600.0, 400.0])


def leg(moment, passive=0.0):
    """An ankle alone: two plantarflexors of 50 and 18 N m, a dorsiflexor of 16 N m."""
    arm = np.zeros((len(TIME), len(LEG_DOFS), 3))
    arm[:, LEG_DOFS.index("ankle_dorsiflexion")] = [-0.05, -0.03, 0.04]
    names = ("soleus_r", "gastrocnemius_r", "tibialis_anterior_r")
    muscles = SimpleNamespace(names=names, side="r")
    capacity, rest = np.tile(STRENGTH, (len(TIME), 1)), np.full((len(TIME), 3), passive)
    state = SimpleNamespace(moment_arm=arm, passive_force=rest, force_capacity=capacity, muscles=muscles)
    rows = arm[:, [LEG_DOFS.index("ankle_dorsiflexion")]]
    needed = moment - np.einsum("tkm,tm->tk", rows, rest)
    dof = ("ankle_dorsiflexion_r",)
    problem = Problem(rows, needed, capacity, STRENGTH, muscle=names, dof=dof, passive_force=rest)
    solution = solve(problem, "force_squared", on_infeasible="reserve")
    return SolvedGroup(
        SimpleNamespace(time=TIME, shared=dof, shared_moment=moment, state=state), problem.frames, solution
    )


def moments(**frames):
    moment = np.full((len(TIME), 1), -30.0)
    for frame, value in frames.items():
        moment[int(frame[1:])] = value
    return moment


def said(moment, passive=0.0, strength="table"):
    return reserve_reasons(leg(moment, passive), options(strength))


def options(strength):
    """Return the options of a trial; only muscles and strength matter here."""
    sharing = sharing_by("stress_cubed")
    return Options(("r",), muscle_db.load("silva_2003"), sharing, LEG_DOFS, strength=strength)


def test_the_factor_is_on_what_the_trial_has_already():
    assert said(moments(f4=-80.0), strength=1.5)[0].endswith(": write strength = 1.77 in [muscles]")
    assert "[muscles]" not in said(moments(f4=-80.0), strength="handsfield_2014")[0]


def test_nothing_is_said_of_a_leg_that_bears_everything():
    assert said(moments()) == []


def test_the_worst_frame_of_a_stretch_is_explained():
    found = said(moments(f3=-70.0, f4=-80.0, f5=-75.0))
    assert found == [
        "ankle_dorsiflexion_r lacks 12.0 N m of plantarflexion at 0.040 s; soleus_r and gastrocnemius_r are at their "
        "limit; 1.18 times their strength would suffice; only where check finds no fault, for it would hide one: "
        "write strength = 1.18 in [muscles]",
        "the reserve of ankle_dorsiflexion_r reaches 15 % of its peak moment, beyond the limit of 10 %: large",
    ]


def test_the_worst_stretch_comes_first_and_three_are_enough():
    found = said(moments(f1=-70.0, f3=-90.0, f5=-71.0, f7=20.0, f9=-100.0))
    assert [sentence.split(" at ")[1][:5] for sentence in found[:-1]] == ["0.090", "0.030", "0.070"]
    assert "4.0 N m of dorsiflexion" in found[2] and "tibialis_anterior_r is at its limit" in found[2]
    assert len(found) == 4


def test_passive_forces_are_not_asked_of_the_muscles():
    """40 N in each tendon bear 1.6 N m of plantarflexion by themselves."""
    borne = 40.0 * (0.05 + 0.03 - 0.04)
    found = said(moments(f4=-80.0), passive=40.0)
    assert found[0].startswith(
        f"ankle_dorsiflexion_r lacks {12.0 - borne:.1f} N m of plantarflexion at 0.040 s"
    )


def test_a_moment_that_is_no_number_is_passed_over():
    found = said(moments(f2=np.nan, f4=-80.0))
    assert "at 0.040 s" in found[0]


@pytest.mark.parametrize("dof", LEG_DOFS)
def test_every_direction_of_a_leg_has_two_names(dof):
    positive, negative = directions(f"{dof}_l")
    assert positive == dof.split("_", 1)[1].replace("_", " ")
    assert negative == OPPOSITE[dof] != positive
