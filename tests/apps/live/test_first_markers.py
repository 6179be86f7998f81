"""The unit of the first markers of a session, whatever the pose, the axes, and what single samples show."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from refusals import refused

from musclesolve.apps.live import Live, Recorder, samples
from musclesolve.apps.live.stream import SAMPLES, Arrival, FirstMarkers, Sample, StreamEnded, run_session

UNITS = (
    *(("a thousand times too large", 1000.0), ("a hundred times too small", 0.01)),
    *(("in inches", 1.0 / 0.0254), ("in inches", 0.001 / 0.0254), ("in feet", 0.001 / 0.3048)),
    ("in inches", 0.85 * 0.001 / 0.0254),  # of a body that is bent
)


@pytest.fixture
def walk(live: Live) -> list[Sample]:
    return list(samples(live, live.trial))


def check(live: Live, markers) -> None:
    first = FirstMarkers(live.marker_bodies.place)
    for each in markers:
        first.check(each)


@pytest.mark.parametrize(("said", "size"), UNITS)
def test_another_unit_is_refused_in_every_phase_of_a_step_and_in_any_axes(live, walk, said, size):
    turned = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for begin in range(0, len(walk) - SAMPLES, SAMPLES):
        right = [sample.markers for sample in walk[begin : begin + SAMPLES]]
        check(live, right)
        for axes in (np.eye(3), turned):
            with refused("bad_units", said, "unit"):
                check(live, [size * markers @ axes for markers in right])


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ([[1, 0, 0], [0, 0, 1], [0, -1, 0]], "left"),  # y up in the place of z up
        ([[1, 0, 0], [0, 0, -1], [0, 1, 0]], "right"),
        ([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], "forward"),
        ([[1, 0, 0], [0, -1, 0], [0, 0, -1]], "down"),
        ([[-1, 0, 0], [0, -1, 0], [0, 0, 1]], ""),  # in the other direction, upright
    ],
)
def test_a_body_that_does_not_stand_in_its_axes_is_refused_with_the_axes_as_remedy(live, walk, rows, head):
    for begin in range(0, len(walk) - SAMPLES, SAMPLES):
        turned = [sample.markers @ np.array(rows).T for sample in walk[begin : begin + SAMPLES]]
        with refused("bad_axes", f"points {head}", "--up") if head else nullcontext():
            check(live, turned)


def test_single_samples_and_hidden_markers_decide_nothing(live, walk):
    first = [sample.markers.copy() for sample in walk[:SAMPLES]]
    for k in (0, 3, 7):
        first[k] *= 1000.0
    check(live, first)
    for markers in first:
        markers[2:] = np.nan
    check(live, [*(1000.0 * markers for markers in first), *(sample.markers for sample in walk)])
    check(live, np.zeros((30, len(live.markers), 3)))


def test_a_session_in_another_unit_ends_with_its_first_samples_and_leaves_no_recording(live, walk, tmp_path):
    class Millimeters:
        remarks, closed, given = (), False, iter(walk)

        def wait(self, timeout):
            sample = next(self.given, None)
            if sample is None:
                raise StreamEnded
            return Arrival(sample._replace(markers=1000.0 * sample.markers), 0.0)

        def close(self):
            self.closed = True

    source = Millimeters()
    with refused("bad_units", "a thousand times too large"):
        run_session(live, source, [Recorder(tmp_path / "session")])
    assert not (tmp_path / "session").exists()
    Recorder(tmp_path / "session")  # the next session may have the folder
    assert source.closed and len(list(source.given)) == len(walk) - SAMPLES


def test_sides_that_the_stream_alone_exchanges_are_no_fault_of_the_trial_file(live, walk):
    """The trial has passed its check: a remedy in its file would exchange what is right there."""
    exchanged = np.arange(len(live.markers))
    right, left = (live.markers.index(f"shoulder_{side}") for side in "rl")
    exchanged[[right, left]] = left, right
    live.clear()
    sample = walk[0]
    notes = " ".join(live.step(sample.time, sample.markers[exchanged], sample.plates, sample.emg).notes)
    assert "see the labels of the stream" in notes and ".toml" not in notes
