"""Markers with a wrong label or off their place are named, mended or left out: forces are those of the right ones."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from recorded_data import recorded

import musclesolve.cli.live_progress as live_progress
from musclesolve import Status, read_trial
from musclesolve.apps.live import Live, replay, samples
from musclesolve.apps.live.page.page_settings import PageSettings
from musclesolve.apps.live.page.page_state import BYTES, FrameRing, PageSetup, PageState, row_type
from musclesolve.apps.live.session import SessionWatch
from musclesolve.apps.live.stream import SAMPLES, Arrival, Passed
from musclesolve.cli.live_progress import StatusLine, session_document, session_lines
from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import case_of
from musclesolve.laboratory.checks.recording.segments import labels_exchanged

EXCHANGES = (
    ("knee_lateral_r", "knee_medial_r"),
    ("ankle_lateral_l", "ankle_medial_l"),
    ("heel_r", "toe_r"),
    ("asis_r", "psis_r"),
    ("toe_l", "metatarsal_5_l"),
    ("ankle_lateral_r", "ankle_lateral_l"),
)
WHEN = {"throughout": slice(None), "from a time on": slice(45, None), "for a while": slice(45, 60)}


@pytest.fixture(scope="module")
def stream(prepared_stride):
    """The samples of the stride: times (T,), markers (T, n, 3), plates."""
    taken = list(samples(prepared_stride, prepared_stride.trial))
    return [s.time for s in taken], np.array([s.markers for s in taken]), [s.plates for s in taken]


def exchanged(live, position, one, other, frames=slice(None)):
    i, j = live.markers.index(one), live.markers.index(other)
    planted = position.copy()
    planted[frames, i], planted[frames, j] = position[frames, j], position[frames, i]
    return planted


def mended(live, time, position):
    return np.array([live.labels.mended(t, markers) for t, markers in zip(time, position, strict=True)])


def stepped(live, time, position, plates):
    live.clear()
    return [live.step(*sample) for sample in zip(time, position, plates, strict=True)]


@pytest.fixture(scope="module")
def right(prepared_stride, stream):
    """The frames of the samples as they are."""
    return stepped(prepared_stride, *stream)


def found(live):
    return [(finding.code, set(finding.where.markers)) for finding in live.findings]


@pytest.mark.every_pair
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize(("one", "other"), EXCHANGES)
def test_exchanged_labels_are_exchanged_back(live, stream, one, other, when):
    time, position, _ = stream
    planted = exchanged(live, position, one, other, WHEN[when])
    assert np.array_equal(mended(live, time, planted), position)
    assert found(live) == [("labels_exchanged", {one, other})]
    # it cost no frame
    assert live.findings[0].severity == "warning"


def test_forces_are_those_of_the_right_labels(live, stream, right):
    time, position, plates = stream
    frames = stepped(live, time, exchanged(live, position, "heel_r", "toe_r", slice(45, None)), plates)
    assert sum(frame.valid.all() for frame in right) > 20
    for frame, clean in zip(frames, right, strict=True):
        assert np.array_equal(frame.status, clean.status)
        assert np.allclose(frame.force, clean.force, atol=1e-6, equal_nan=True)
    assert not frames[44].faults and frames[45].faults == frames[-1].faults != ()
    assert not any(frame.left_out for frame in frames)


def test_a_ghost_is_left_out_until_the_marker_is_back(live, stream):
    time, position, _ = stream
    marker, ghost = live.markers.index("knee_medial_r"), slice(45, 55)
    planted = position.copy()
    planted[ghost, marker] += np.random.default_rng(0).normal(0.0, 0.15, (10, 3))
    out = []
    for t, markers, right in zip(time, planted, position, strict=True):
        place = live.labels.mended(t, markers)
        out.append(live.labels.left_out == ("knee_medial_r",))
        assert np.linalg.norm(place - right, axis=1).max() < 0.01
    assert all(out[ghost]) and not any(out[:45]) and not any(out[60:])
    assert found(live) == [("leap", {"knee_medial_r"})]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("shift", [(0.03, 0.0, 0.0), (0.0, 0.025, 0.0), (0.0, 0.0, 0.03)])
def test_no_valid_frame_has_a_marker_that_slipped(live, stream, right, shift):
    time, position, plates = stream
    planted = position.copy()
    planted[45:, live.markers.index("knee_lateral_r")] += shift
    frames = stepped(live, time, planted, plates)
    assert found(live) == [("marker_slipped", {"knee_lateral_r"})]
    assert frames[-1].left_out == ("knee_lateral_r",) and "knee_lateral_r" in frames[-1].notes[0]
    errors = [
        np.abs(frame.force - clean.force).max()
        for frame, clean in zip(frames[45:], right[45:], strict=True)
        if frame.valid.all() and clean.valid.all()
    ]
    assert len(errors) > 20 and max(errors) < 60.0


def test_of_two_markers_in_one_place_the_one_off_its_own_is_left_out(live, stream):
    time, position, _ = stream
    planted = position.copy()
    ghost, real = live.markers.index("toe_r"), live.markers.index("metatarsal_5_r")
    planted[:, ghost] = position[:, real]
    mended(live, time, planted)
    assert live.labels.left_out == ("toe_r",) and found(live)[0] == (
        "markers_merged",
        {"toe_r", "metatarsal_5_r"},
    )


def test_another_clock_begins_anew(live, stream):
    time, position, plates = stream
    stepped(live, time[:60], exchanged(live, position, "heel_r", "toe_r", slice(45, None))[:60], plates[:60])
    for k in range(3):  # the first one alone may be anything
        frame = live.step(time[k] + 100.0, position[k], plates[k])
    assert frame.taken.refusal == "" and not frame.faults
    assert found(live) == [("labels_exchanged", {"heel_r", "toe_r"})]


def test_status_line_summary_page_and_watch_say_the_cause(live, stream, monkeypatch, capsys):
    time, position, plates = stream
    planted = exchanged(live, position, "heel_r", "toe_r")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(live_progress, "RENEWED", 0.0)
    setup = PageSetup.from_live(live)
    page, ring = PageState(setup, PageSettings.usual(setup.keys)), FrameRing(bytearray(BYTES), row_type(live))
    said, line, passed = list[str](), StatusLine(), Passed()
    watch = SessionWatch(said.append)
    live.clear()
    for sink in (line, watch):
        sink.begin(live)
    for sample in zip(time[: SAMPLES + 2], planted, plates, strict=False):
        frame = live.step(*sample)
        for sink in (line, watch):
            sink.take(Arrival(next(iter(samples(live, live.trial)))._replace(time=sample[0]), 0.0), frame)
        passed.count(frame)
        ring.write(0.0, frame)
    page.take(*ring.read())
    passed.findings = live.findings
    assert said == list(frame.faults) and "heel_r" in said[0]
    assert "heel_r" in page.faults
    assert "heel_r and toe_r" in capsys.readouterr().err
    assert live.findings[0].sentence in " ".join(map(str, session_lines(passed)))
    document = session_document(passed, live.trial.path, live)
    assert [each["code"] for each in document["findings"]] == ["labels_exchanged"]


@pytest.mark.thorough
def test_a_recording_with_exchanged_labels_is_replayed_with_the_right_ones(live):
    trial = read_trial(reference_stride())
    one, other = (trial.markers.names.index(name) for name in ("heel_r", "toe_r"))
    wrong = trial.markers.position.copy()
    wrong[:, [one, other]] = wrong[:, [other, one]]
    replayed = replay(replace(trial, markers=replace(trial.markers, position=wrong)))
    right = replay(trial, live)
    assert [finding.code for finding in replayed.findings] == ["labels_exchanged"]
    assert np.allclose(replayed.stacked("force"), right.stacked("force"), atol=1e-4, equal_nan=True)
    assert right.findings == ()


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "name", ["instrumented_knee/walk_ss9.toml", "treadmill_walk/p3/walk.toml", "rajagopal"]
)
def test_sound_recordings_have_no_findings(name, default_walk_trial):
    live = Live(default_walk_trial if name == "rajagopal" else recorded(name))
    taken = list(samples(live, live.trial))
    out = mended(live, [s.time for s in taken], [s.markers for s in taken])
    assert live.findings == () and np.array_equal(out, [s.markers for s in taken])


def test_a_cluster_of_three_in_which_one_slips_ends_the_forces_and_says_why():
    live = Live(recorded("instrumented_knee/walk_ss9.toml"))
    live.warm_up()
    taken = list(samples(live, live.trial))
    frames = []
    for k, sample in enumerate(taken):
        if k >= 70:
            sample.markers[live.markers.index("RShankLateral"), 1] += 0.025
        frames.append(live.step(*sample))
    assert not frames[-1].valid.any() and (frames[-1].status == Status.INTERRUPTED).all()
    assert "RShankLateral" in frames[-1].notes[0]
    (finding,) = live.findings
    assert (finding.code, finding.severity) == ("marker_slipped", "error")


def test_live_and_check_say_the_same_of_the_same_fault(live, stream):
    time, position, _ = stream
    mended(live, time, exchanged(live, position, "heel_r", "toe_r", WHEN["for a while"]))
    trial = read_trial(reference_stride())
    frames = np.isin(np.arange(len(trial.markers.time)), np.arange(45, 60))
    markers = trial.markers.exchanged({"heel_r": "toe_r"}, frames)
    (of_check,) = labels_exchanged(case_of(replace(trial, markers=markers)))
    (of_live,) = live.findings
    assert of_live.code == of_check.code and of_live.remedy == of_check.remedy
    assert of_live.where.times == pytest.approx(np.array(of_check.where.times))
    # the markers and the number of frames; how far off is by another measure
    assert of_live.what.partition(":")[0] == of_check.what.partition(":")[0]
