"""Gaps: filled near the truth, with an honest error, and nothing that was seen is touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve._util.arrays import true_runs
from musclesolve.laboratory import Gap, Trial
from musclesolve.laboratory.markers.gaps.gap_filling import (
    expected_error,
    fill_gaps,
    fill_trial,
    gap_notes,
    line_interpolant,
    spline_interpolant,
)
from musclesolve.laboratory.markers.landmarks import groups
from musclesolve.tables import Markers

RATE = 100.0


def turning(frames: int = 300, count: int = 6) -> Markers:
    """Markers of one rigid body that turns and travels, and one that goes its own way."""
    time = np.arange(frames) / RATE
    rng = np.random.default_rng(2)
    shape = rng.normal(size=(count, 3)) * 0.1
    angle = 2.0 * np.sin(2.0 * np.pi * time)
    c, s, zero, one = np.cos(angle), np.sin(angle), 0.0 * angle, 1.0 + 0.0 * angle
    rotation = np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]).transpose(2, 0, 1)
    way = np.stack([1.2 * time, 0.1 * np.cos(7.0 * time), 1.0 + 0.05 * np.sin(5.0 * time)], axis=1)
    position = np.einsum("tij,nj->tni", rotation, shape) + way[:, None]
    alone = way + 0.3 * np.stack([np.sin(3.0 * time), np.cos(4.0 * time), zero], axis=1)
    names = (*(f"M{k}" for k in range(count)), "ALONE")
    return Markers(time, names, np.concatenate([position, alone[:, None]], axis=1), Path("x.trc"))


def without(markers: Markers, *gaps: tuple[str, int, int]) -> Markers:
    position = markers.position.copy()
    for name, start, stop in gaps:
        position[start:stop, markers.names.index(name)] = np.nan
    return replace(markers, position=position)


ALL: tuple[str, ...] = ()
CARRIED = ("R.SH1", "R.SH3", "L.SH2", "L.SH3", "R.PSIS", "L.PSIS", "R.Toe", "L.Heel")
BODY = {"the body": ("M0", "M1", "M2", "M3", "M4")}


def miss(found: Markers, truth: Markers, name: str) -> np.ndarray:
    return np.linalg.norm(found[name] - truth[name], axis=1)


def test_a_spline_is_exact_on_cubic_paths_and_a_line_on_straight_ones() -> None:
    time = np.arange(40.0)
    cubic = np.stack([time**3, 2.0 - time**2, time], axis=1) / 1000.0
    interpolant = spline_interpolant(np.array([-5, -3, -1, 6, 7, 9]), 6)
    np.testing.assert_allclose(interpolant.fill(cubic, 20), cubic[20:26], atol=1e-12)
    assert expected_error(interpolant, cubic, cubic, 20)[0] < 1e-12
    assert interpolant.disagreement(cubic[:, 2:], 20) < 1e-12
    straight = cubic[:, 2:]
    broken = straight + np.where(time[:, None] > 22, 0.1, 0.0)
    assert interpolant.disagreement(broken, 20) == pytest.approx(0.1)
    np.testing.assert_allclose(
        line_interpolant(4, True, True).fill(straight, 10), straight[10:14], atol=1e-12
    )
    np.testing.assert_allclose(
        line_interpolant(4, False, True).fill(straight, 10), np.full((4, 1), straight[14])
    )
    np.testing.assert_allclose(
        line_interpolant(4, True, False).fill(straight, 10), np.full((4, 1), straight[9])
    )


def test_a_body_fills_what_it_carries_exactly() -> None:
    truth = turning()
    lost = without(truth, ("M1", 100, 140), ("M3", 0, 30), ("M2", 260, 300))
    filled, gaps = fill_gaps(lost, BODY)
    assert all(gap.filled and gap.account == "the body" for gap in gaps)
    for gap in gaps:
        assert miss(filled, truth, gap.marker).max() < 1e-9 and gap.error < 1e-9
    assert [(gap.marker, gap.frames) for gap in gaps] == [("M1", 40), ("M2", 40), ("M3", 30)]
    assert gaps[0].first == pytest.approx(1.0) and gaps[0].last == pytest.approx(1.39)


def test_skin_that_slides_is_bridged_from_end_to_end() -> None:
    truth = turning()
    position = truth.position.copy()
    position[:, 1] += 0.01 * np.sin(2.0 * truth.time)[:, None]
    truth = replace(truth, position=position)
    lost = without(truth, ("M1", 100, 140))
    filled, _ = fill_gaps(lost, {"the body": ("M0", "M1", "M2", "M3")})
    assert 1e-5 < miss(filled, truth, "M1").max() < 0.002
    path = filled["M1"]
    steps = np.linalg.norm(np.diff(path, axis=0) - np.diff(truth["M1"], axis=0), axis=1)
    assert steps.max() < 2e-4


@settings(max_examples=40)
@given(
    gaps=st.lists(
        st.tuples(
            st.sampled_from(["M0", "M1", "M2", "M3", "M4", "M5", "ALONE"]),
            st.integers(0, 299),
            st.integers(1, 60),
        ),
        max_size=6,
    )
)
def test_whatever_is_lost_what_was_seen_stays_and_every_gap_is_accounted_for(gaps: list) -> None:
    truth = turning()
    lost = without(truth, *((name, start, start + length) for name, start, length in gaps))
    filled, gaps = fill_gaps(lost, BODY)
    seen = np.isfinite(lost.position)
    np.testing.assert_array_equal(filled.position[seen], lost.position[seen])
    places = [(n, *run) for n in lost.names for run in true_runs(np.isnan(lost[n]).any(axis=1))]
    assert len(gaps) == len(places)
    for (name, start, stop), gap in zip(places, gaps, strict=True):
        there = filled[name][start:stop]
        assert gap.frames == stop - start and gap.marker == name and gap.account
        assert np.isfinite(there).all() if gap.filled else np.isnan(there).all()
        if gap.filled:
            assert miss(filled, truth, name)[start:stop].max() < 0.02
    assert np.isnan(lost.position).any() == bool(places)


def test_a_marker_that_comes_back_elsewhere_is_not_accepted() -> None:
    truth = turning()
    for name, length in (("ALONE", 8), ("M1", 8), ("M1", 40)):
        lost = without(truth, (name, 100, 100 + length))
        lost.position[100 + length :, lost.names.index(name)] += [0.0, 0.0, 0.15]
        gap = fill_gaps(lost, BODY)[1][0]
        assert not gap.filled and "150 mm" in gap.account, (name, gap)


@pytest.mark.parametrize(
    ("gap", "others", "reason"),
    [
        (("ALONE", 100, 120), [], "fewer than three markers"),
        (("ALONE", 0, 5), [], "too little of it is seen around the gap for a spline, and fewer than three"),
        (("M1", 100, 160), [], "gaps of more than 0.5 s"),
        (("M1", 95, 110), [("M1", 0, 85), ("M1", 120, 300)], "not seen long enough"),
        (("M1", 100, 130), [("M0", 110, 200), ("M4", 90, 130)], "fewer than three markers"),
    ],
)
def test_what_cannot_be_done_well_is_left_with_the_reason(gap: tuple, others: list, reason: str) -> None:
    lost = without(turning(), gap, *others)
    left = [found for found in fill_gaps(lost, BODY, names=[gap[0]])[1] if found.frames >= gap[2] - gap[1]]
    assert left
    for found in left:
        assert not found.filled and np.isnan(found.error)
        assert reason in found.account or found.frames > gap[2] - gap[1]


def test_a_body_that_does_not_keep_its_shape_is_unfilled() -> None:
    truth = turning()
    noise = 0.03 * np.random.default_rng(5).normal(size=truth.position.shape)
    lost = without(replace(truth, position=truth.position + noise), ("M1", 100, 130))
    (gap,) = fill_gaps(lost, BODY)[1]
    assert not gap.filled and "the body would fill it only to" in gap.account


def test_markers_on_a_line_fill_nothing() -> None:
    truth = turning()
    position = truth.position.copy()
    for k in (2, 3):
        position[:, k] = position[:, 0] + k * (position[:, 4] - position[:, 0])
    gap = fill_gaps(
        without(replace(truth, position=position), ("M1", 100, 130)),
        {"the body": ("M0", "M1", "M2", "M3", "M4")},
    )[1][0]
    assert not gap.filled


def test_many_gaps_are_one_sentence() -> None:
    gaps = [Gap(f"M{k}", 1.0, 1.0 + 0.01 * k, k + 1, True, "a spline", 0.001 * k) for k in range(5)]
    left = Gap("X", 0.0, 1.0, 100, False, "because")
    assert len(gap_notes([*gaps[:3], left])) == 3
    assert gap_notes([left]) == []
    (sentence,) = gap_notes([*gaps, left])
    assert "5 markers" in sentence and "15 frames" in sentence and "4.0 mm" in sentence and "'M4'" in sentence
    (twice,) = gap_notes([gaps[1], replace(gaps[2], marker="M1", account="the pelvis")])
    assert "2 gaps (5 frames)" in twice and "a spline and the pelvis" in twice


def test_a_trial_without_gaps_is_left_alone(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    assert trial.gaps == () and fill_trial(trial, trial.settings.gaps) is trial


def test_on_a_recorded_walk_splines_and_bodies_come_near_the_truth(recorded_walk_trial: Trial) -> None:
    trial = recorded_walk_trial
    expected, found = [], []
    for name, length, start in [
        (name, length, start)
        for names, length in (
            (trial.used_markers, 5),
            (("R.SH1", "R.SH3", "L.SH2", "L.SH3", "S2", "R.PSIS", "L.PSIS"), 30),
        )
        for name in names
        for start in (60, 90, 130)
    ]:
        lost = without(trial.markers, (name, start, start + length))
        filled, gaps = fill_gaps(lost, groups(trial))
        (gap,) = gaps
        away = miss(filled, trial.markers, name)
        rms = float(np.sqrt(np.mean(away[start : start + length] ** 2)))
        assert gap.filled and rms < 0.005, (name, length, start, rms)
        expected.append(gap.error)
        found.append(rms)
        np.testing.assert_array_equal(np.delete(away, np.s_[start : start + length]), 0.0)
    # What is promised is seldom exceeded, and not so careful that it says nothing.
    assert np.mean(np.array(found) <= expected) > 0.9
    assert np.sqrt(np.mean(np.square(found))) > 0.4 * np.sqrt(np.mean(np.square(expected)))


@pytest.mark.in_part(3)
@pytest.mark.parametrize(
    ("length", "spline_s", "markers"), [(3, 0.1, ALL), (10, 0.1, ALL), (30, 0.0, CARRIED)]
)
def test_the_stated_error_is_kept_wherever_the_gap_is(
    recorded_walk_trial: Trial, length: int, spline_s: float, markers: tuple[str, ...]
) -> None:
    trial = recorded_walk_trial
    together, within, far = groups(trial), [], []
    for name in markers or trial.used_markers:
        path = trial.markers[name]
        for start in range(15, 195, 20):
            lost = without(trial.markers, (name, start, start + length))
            filled, gaps = fill_gaps(lost, together, spline_s, 0.5)
            (gap,) = gaps
            away = miss(filled, trial.markers, name)
            if gap.filled:
                rms = np.sqrt(np.mean(away[start : start + length] ** 2))
                within.append(rms <= gap.error)
                far.append(np.linalg.norm(path[start + length] - path[start - 1]))
    fast = np.array(far) > np.quantile(far, 0.75)
    assert len(within) > 50
    assert np.mean(within) > 0.88 and np.mean(np.array(within)[fast]) > 0.88


def test_a_long_stand_makes_a_gap_in_the_walk_no_better() -> None:
    moving = turning(300)
    still = np.repeat(moving.position[:1], 3000, axis=0)
    position = np.concatenate([still, moving.position])
    long = replace(moving, time=np.arange(len(position)) / RATE, position=position)
    (alone,) = fill_gaps(without(moving, ("M1", 100, 108)), {})[1]
    (after,) = fill_gaps(without(long, ("M1", 3100, 3108)), {})[1]
    assert alone.filled and after.error == pytest.approx(alone.error, rel=0.25)
