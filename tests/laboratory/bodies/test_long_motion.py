"""A long motion is computed window by window: the same numbers, and never all muscle rows in memory."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from elastic_stride import elastic_trial
from known_person import known_trials

import musclesolve as ms
from musclesolve._util.messages import no_progress
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.laboratory.bodies import recorded_body
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.forces import prepare, share
from musclesolve.laboratory.results.dataset import assemble
from musclesolve.laboratory.results.plausibility import with_verdict
from musclesolve.models import body_sharing as share_module
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_state import zero_arms
from musclesolve.sharing import expression_cost
from musclesolve.sharing.cost import JointReactionSquared
from musclesolve.studies.many_trials.one_trial import analyze

WEAK = 0.5
"""Strength at which some frames need reserves."""


@pytest.fixture
def windowed(monkeypatch):
    """Motions of more than 64 frames are long."""
    monkeypatch.setattr(recorded_body, "LONG", 64)
    monkeypatch.setitem(zero_arms.__globals__, "MOST_TOGETHER", 64)
    for method in (Motion.windows, Motion.blocks):
        monkeypatch.setattr(method, "__defaults__", (30,))
    for module in (recorded_body, share_module, assemble):
        monkeypatch.setattr(module, "BLOCK", 64)
    monkeypatch.setattr(share_module, "LONG", 64)
    monkeypatch.setattr(assemble, "SAMPLED", 20)


@pytest.fixture(scope="module")
def trial():
    return ms.read_trial(ms.data.reference_stride())


@pytest.fixture(scope="module")
def weak(trial):
    """The stride of a person too weak for it."""
    return trial.with_settings(muscles={"strength": WEAK})


@pytest.fixture(scope="module")
def at_once(weak):
    """The result of a motion that is short."""
    return ms.run(weak)


@pytest.mark.parametrize("in_file", [False, True])
def test_the_numbers_are_the_same_bit_for_bit(weak, at_once, windowed, in_file, tmp_path):
    prepared = prepare(weak)
    folder = tmp_path if in_file else None
    found = assemble.shared_result(prepared, findings_of(prepared, weak), folder=folder)
    assert at_once.sizes["time"] > recorded_body.BLOCK and at_once.attrs["reasons_r"]
    assert with_verdict(found).identical(at_once)
    assert in_file == bool(list(tmp_path.iterdir()))
    assert "joined" not in vars(prepared.parts)  # nothing in a run needs the rows of all frames
    assert not {"q", "qd", "qdd"} & vars(prepared.mechanics.motion).keys()


@pytest.mark.parametrize("in_file", [False, True])
def test_measured_signals_agree_as_in_a_short_motion(trial, request, in_file, tmp_path):
    known, _ = known_trials("rigid", ())
    measured = replace(trial, emg=known.emg, fascicles=known.fascicles)
    at_once = ms.run(measured)
    request.getfixturevalue("windowed")
    prepared = prepare(measured)
    found = assemble.shared_result(prepared, [], folder=tmp_path if in_file else None)
    for name in ("emg_correlation", "emg_delay", "fascicle_rms_error", "fascicle_correlation"):
        assert np.isfinite(at_once[name]).all()
        np.testing.assert_array_equal(found[name], at_once[name])


def test_the_file_of_a_long_result_is_that_of_a_short_one(trial, windowed, monkeypatch, tmp_path):
    path, _ = written(trial, tmp_path / "windows")
    assert sorted(file.name for file in path.parent.iterdir()) == ["result.nc"]
    monkeypatch.setattr(recorded_body, "LONG", 10_000)
    whole, result = written(trial, tmp_path / "whole")
    assert ms.read_result(path).equals(ms.read_result(whole))
    assert ms.read_result(whole).equals(result)


def written(trial, folder):
    """The file of a result in a folder, and the result."""
    result, (path,) = analyze(trial.path, folder, {}, False, no_progress)
    return path, result


@pytest.fixture
def whole_and_long(trial, windowed, monkeypatch):
    """The right leg shared at once and window by window."""
    (part, *_) = share(prepare(trial)).parts
    for module in (recorded_body, share_module):
        monkeypatch.setattr(module, "LONG", 10_000)
    (whole, *_) = share(prepare(trial)).parts
    return whole, part


def test_what_is_not_kept_is_made_again(whole_and_long):
    whole, part = whole_and_long
    for name in ("moment_arm", "moment", "force_capacity", "passive_force"):
        np.testing.assert_array_equal(getattr(part.problem, name), getattr(whole.problem, name))
    for later, known in zip(part.part.loads.all_pulls, whole.part.loads.all_pulls, strict=True):
        np.testing.assert_array_equal(later, known)
    np.testing.assert_array_equal(
        part.part.loads.matrix @ part.tension[:, :, None], whole.part.loads.matrix @ whole.tension[:, :, None]
    )


@pytest.mark.parametrize("key", [65, slice(60, 90), np.array([65, 3]), (slice(None), 2), (4, slice(1, 3), 5)])
def test_moment_arms_are_kept_where_they_are_not_zero(whole_and_long, key):
    whole, kept = (part.state.moment_arm for part in whole_and_long)
    assert kept.strides[0] == 8  # frames last: what no muscle crosses lies in pages that are never written
    np.testing.assert_array_equal(kept[key], whole[key])


def test_a_part_shares_the_memory_of_the_moment_arms(whole_and_long):
    whole, long = (part.state for part in whole_and_long)
    follow, apart = np.array([2, 3, 4]), np.array([30, 2, 3])
    for dofs, muscles in ((follow, follow), (apart[1:], apart)):
        part = long.part(dofs, muscles).moment_arm
        np.testing.assert_array_equal(part, whole.moment_arm[:, dofs][:, :, muscles])
        assert np.shares_memory(part, long.moment_arm) == (dofs is follow)


def test_moment_arms_of_a_result_that_are_zero_take_no_memory(weak, at_once, windowed):
    prepared = prepare(weak)
    arms = assemble.judged_result(prepared, findings_of(prepared, weak))["moment_arm"]
    assert arms.values.strides[0] == 8
    np.testing.assert_array_equal(arms, at_once["moment_arm"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(arms)), at_once["moment_arm"])


@dataclass(frozen=True)
class OwnCost(JointReactionSquared):
    """The cost of a user, which does not state what it reads."""

    data = ()
    name = "own"


@pytest.mark.parametrize("cost", ["joint_reaction_squared", OwnCost()], ids=["named", "own"])
def test_a_cost_of_joint_reactions_has_them_in_its_problem(trial, windowed, cost):
    (part, *_) = share(prepare(trial, cost)).parts
    some = np.array([3, 65])
    assert part.problem_at(some).reaction_matrix is not None
    np.testing.assert_array_equal(
        part.problem_at(some).reaction_offset, part.part.loads.offset(part.state.passive_force)[some]
    )


def test_elastic_tendons_take_all_frames(windowed, monkeypatch):
    monkeypatch.setattr(recorded_body, "LONG", 10)
    prepared = prepare(elastic_trial(), side="r")
    (part,) = share(prepared).parts
    assert part.tendons is not None and part.solution.solved.any()


def test_windows_have_the_cost_of_the_whole_motion(trial, monkeypatch):
    """A muscle that crosses the knee in the last frames alone, and numbers of each frame that a cost holds."""
    monkeypatch.setattr(share_module, "BLOCK", 30)
    body = prepare(trial, side="r")
    (part,) = body.parts
    names, arm = part.state.parameters.names, part.state.moment_arm.copy()
    arm[60:, part.dofs.index("knee_flexion_r"), names.index("gluteus_medius_anterior_r")] = 1e-3
    part = replace(part, loads=None, state=replace(part.state, moment_arm=arm))
    weight = {"weight": np.outer(np.linspace(1.0, 2.0, len(part.time)), np.linspace(1.0, 3.0, len(names)))}

    def weighted(activation, force, data):
        return (data.weight.T @ activation**2)[0]

    own = expression_cost("weighted", weighted, frame_constants=weight, convex=True)
    for cost in (body.sharing.cost, own):
        sharing = replace(body.sharing, cost=cost)
        (blockwise,) = share_module.share_by_windows([part], sharing, lambda *_: None)
        whole = share_module.share_part(part, sharing).solution
        np.testing.assert_allclose(blockwise.solution.activation, whole.activation, atol=1e-6)
        np.testing.assert_allclose(blockwise.solution.cost, whole.cost, rtol=1e-6)
        at = np.array([3, 40])
        alone = cost.value(blockwise.problem_at(at), whole.activation[at])
        np.testing.assert_allclose(alone, whole.cost[at], rtol=1e-6)


def test_runs_with_elastic_tendons_keep_the_numbers_of_their_frames():
    """Each run of valid frames is a motion of its own; a cost has numbers of every frame of the trial."""
    body = prepare(elastic_trial(), side="r")
    (part,) = body.parts
    frames, muscles = len(part.time), ElasticMuscles.from_parameters(part.state.parameters)
    for of, run in ((part, slice(6, 20)), (part.frames(slice(2, None)), slice(4, 18))):
        isometric = share_module.motion_problem(of, run, muscles).frames(slice(1, 9)).isometric
        np.testing.assert_array_equal(isometric.frame_number, np.arange(7, 15))
        assert isometric.whole_frames == frames
