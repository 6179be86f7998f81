"""A long motion is shared block by block: the same numbers, and never all muscle rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from elastic_stride import elastic_trial

import musclesolve as ms
from musclesolve.checking.check import findings_of, judged_result
from musclesolve.muscles.paths import paths
from musclesolve.pipeline import body, recorded_body
from musclesolve.pipeline.body import JoinedGroup, LaterParts
from musclesolve.pipeline.run import prepare
from musclesolve.pipeline.share import share

WEAK = 0.5
"""Strength at which some frames need reserves."""


@pytest.fixture
def in_blocks(monkeypatch):
    """Motions of more than 64 frames are long."""
    monkeypatch.setattr(recorded_body, "LONG", 64)
    monkeypatch.setattr(body, "BLOCK", 64)
    monkeypatch.setattr(body, "SAMPLED", 20)
    monkeypatch.setattr(paths, "_LINES", 30)


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


def test_the_numbers_are_the_same_bit_for_bit(weak, at_once, in_blocks):
    prepared = prepare(weak)
    assert isinstance(prepared.parts, LaterParts)
    blockwise = judged_result(prepared, findings_of(weak, prepared))
    assert at_once.sizes["time"] > body.BLOCK and at_once.attrs["reasons_r"]
    assert blockwise.identical(at_once)
    assert "_whole" not in vars(prepared.parts)  # nothing in a run needs the rows of all frames


def test_what_is_not_kept_is_made_again(trial, in_blocks, monkeypatch):
    prepared = prepare(trial)
    (part, *_) = share(prepared).parts
    assert isinstance(part, JoinedGroup)
    monkeypatch.setattr(recorded_body, "LONG", 10_000)
    (whole, *_) = share(prepare(trial)).parts
    for name in ("moment_arm", "moment", "force_capacity", "passive_force"):
        np.testing.assert_array_equal(getattr(part.problem, name), getattr(whole.problem, name))
    for name in ("across", "moment_across", "patella"):
        np.testing.assert_array_equal(getattr(part.part.loads, name), getattr(whole.part.loads, name))
    np.testing.assert_array_equal(
        part.part.loads.matrix @ part.tension[:, :, None], whole.part.loads.matrix @ whole.tension[:, :, None]
    )


def test_a_cost_of_joint_reactions_has_them_in_its_problem(trial, in_blocks):
    (part, *_) = share(prepare(trial, "joint_reaction_squared")).parts
    some = np.array([3, 65])
    assert part.problem_at(some).reaction_matrix is not None
    np.testing.assert_array_equal(
        part.problem_at(some).reaction_offset, part.part.loads.offset(part.state.passive_force)[some]
    )


def test_elastic_tendons_take_all_frames(in_blocks, monkeypatch):
    monkeypatch.setattr(recorded_body, "LONG", 10)
    prepared = prepare(elastic_trial(), side="r")
    assert isinstance(prepared.parts, LaterParts)
    (part,) = share(prepared).parts
    assert part.tendons is not None and part.solution.solved.any()
