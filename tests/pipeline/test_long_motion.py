"""A long motion is shared block by block: the same numbers, and never all muscle rows in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from elastic_stride import elastic_trial
from xarray.core.indexing import MemoryCachedArray

import musclesolve as ms
from musclesolve.checking.check import findings_of
from musclesolve.dynamics.kinematics import motion_derivatives
from musclesolve.dynamics.kinematics.motion_derivatives import LongMotion, Motion
from musclesolve.forces import prepare
from musclesolve.muscles.paths import paths
from musclesolve.pipeline import recorded_body
from musclesolve.pipeline import share as share_module
from musclesolve.pipeline.share import share
from musclesolve.results.dataset import assemble, picture
from musclesolve.results.shared_result import judged_result

WEAK = 0.5
"""Strength at which some frames need reserves."""


@pytest.fixture
def in_blocks(monkeypatch):
    """Motions of more than 64 frames are long."""
    monkeypatch.setattr(recorded_body, "MOST_FRAMES", 64)
    monkeypatch.setattr(picture, "MOST_FRAMES", 64)
    monkeypatch.setattr(motion_derivatives, "MOST_FRAMES", 64)
    monkeypatch.setattr(motion_derivatives, "BLOCK", 64)
    monkeypatch.setattr(recorded_body, "BLOCK", 64)
    monkeypatch.setattr(share_module, "BLOCK", 64)
    monkeypatch.setattr(share_module, "MOST_FRAMES", 64)
    monkeypatch.setattr(assemble, "SAMPLED", 20)
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
    blockwise = judged_result(prepared, findings_of(prepared, weak))
    assert at_once.sizes["time"] > recorded_body.BLOCK and at_once.attrs["reasons_r"]
    assert blockwise.identical(at_once)
    for part in prepared.parts:  # nothing in a run needs the rows of all frames
        assert "all_pulls" not in vars(part.loads)


@pytest.mark.parametrize("keep", [slice(0, 65), slice(3, 20), np.array([65, 3])], ids=str)
def test_a_long_motion_computes_its_derivatives_again(trial, keep, in_blocks, monkeypatch):
    long = prepare(trial).mechanics.motion
    assert "qdd" not in vars(long) and isinstance(long.frames(slice(0, 65)), LongMotion)
    monkeypatch.setattr(motion_derivatives, "MOST_FRAMES", 10_000)
    short = prepare(trial).mechanics.motion
    assert not isinstance(short, LongMotion)
    for name in Motion.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(long, name), getattr(short, name))
        np.testing.assert_array_equal(getattr(long.frames(keep), name), getattr(short.frames(keep), name))


@pytest.fixture
def whole_and_long(trial, in_blocks, monkeypatch):
    """The right leg shared at once and block by block."""
    (part, *_) = share(prepare(trial)).parts
    for module in (recorded_body, share_module):
        monkeypatch.setattr(module, "MOST_FRAMES", 10_000)
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


def test_paths_are_traced_when_they_are_read(weak, at_once, in_blocks):
    prepared = prepare(weak)
    result = pickle.loads(pickle.dumps(judged_result(prepared, findings_of(prepared, weak))))
    some, traced = {"time": [65, 3], "path_point": slice(5, 20), "axis": 1}, []
    with pytest.MonkeyPatch.context() as patch:
        trace = paths.trace_paths
        patch.setattr(paths, "trace_paths", lambda *given: traced.append(len(given[1])) or trace(*given))
        read = result["path_position"].isel(some).values
    assert set(traced) == {2}  # the two frames, of each leg
    np.testing.assert_array_equal(read, at_once["path_position"].isel(some))


def test_poses_of_segments_are_computed_when_they_are_read(weak, at_once, in_blocks):
    read = judged_result(prepared := prepare(weak), findings_of(prepared, weak))
    for name in ("segment_position", "segment_rotation"):
        assert isinstance(read.variables[name]._data, MemoryCachedArray)
        some = {"time": [65, 3], "segment": slice(2, 5), "axis": 1}
        np.testing.assert_array_equal(read[name].isel(some), at_once[name].isel(some))


def test_a_cost_of_joint_reactions_has_them_in_its_problem(trial, in_blocks):
    (part, *_) = share(prepare(trial, "joint_reaction_squared")).parts
    some = np.array([3, 65])
    assert part.problem_at(some).reaction_matrix is not None
    np.testing.assert_array_equal(
        part.problem_at(some).reaction_offset, part.part.loads.offset(part.state.passive_force)[some]
    )


def test_elastic_tendons_take_all_frames(in_blocks, monkeypatch):
    monkeypatch.setattr(recorded_body, "MOST_FRAMES", 10)
    prepared = prepare(elastic_trial(), side="r")
    (part,) = share(prepared).parts
    assert part.tendons is not None and part.solution.solved.any()
