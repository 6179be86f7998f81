"""A live session without force plates: its forces beside the plates, and where it says that they are predicted."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from refusals import refused
from said import judgement

import musclesolve as ms
from musclesolve import Status
from musclesolve.apps.live import Live, Recorder, replay, samples
from musclesolve.apps.live.adapters.udp import UdpStream
from musclesolve.apps.live.channels import Channel, Layout
from musclesolve.apps.live.joining import Wanted
from musclesolve.apps.live.live import NOT_CARRIED
from musclesolve.apps.live.page.page_state import PageSetup
from musclesolve.apps.live.session import SessionWatch
from musclesolve.apps.live.standing import Standing
from musclesolve.apps.live.stream import Arrival
from musclesolve.cli.live_progress import StatusLine
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.forces import mechanics, recording_of


@cache
def without_plates() -> Path:
    """A synthetic walk whose trial file asks for predicted forces."""
    path = ms.studies.synthetic_recording(mkdtemp())
    text = path.read_text(encoding="utf-8")
    other = path.with_name("predicted.toml")
    other.write_text(text.replace('forces = "forces.mot"', 'forces = "predicted"'), encoding="utf-8")
    return path


@cache
def passed():
    return replay(without_plates().with_name("predicted.toml"), lag_ms=50.0)


@pytest.mark.thorough
def test_forces_of_a_session_are_near_the_plates() -> None:
    plates = mechanics(recording_of(without_plates(), "this test"))
    first, last = plates.motion.time[[0, -1]]
    frames = [frame for frame in passed().frames if frame.valid.all() and first <= frame.time <= last]
    weight = plates.model.mass.total * STANDARD_GRAVITY
    assert len(frames) > 0.5 * len(plates.motion.time)
    time = np.array([frame.time for frame in frames])
    for k, ground in enumerate(plates.reactions):
        truth = np.stack([np.interp(time, plates.motion.time, each) for each in ground.force.T], axis=1)
        ours = np.array([frame.wrench[k, :3] for frame in frames])
        assert (np.sqrt(np.mean((ours - truth) ** 2, axis=0)) < weight * np.array([0.04, 0.02, 0.06])).all()


def test_a_session_says_that_its_forces_are_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, shown = passed(), list[str]()
    assert done.live.plates == () and "predicted_forces" in {found.code for found in done.findings}
    assert done.result.attrs["ground_reactions"] == "predicted" and done.result.ground_predicted.all()
    said = [found for found in judgement(done.result).findings if found.code == "predicted_forces"]
    assert (
        len(said) == 1 and "lag" in said[0].what
    )  # the errors of live forces, not those of the whole motion
    assert "ground reactions predicted" in PageSetup.from_live(done.live).subtitle
    recorder = Recorder(tmp_path / "session")
    recorder.begin(done.live)
    came = list(samples(done.live, done.live.trial))
    for sample, frame in zip(came, done.frames, strict=True):
        recorder.take(Arrival(sample, 0.0), frame)
    recorder.close()
    assert not list(recorder.folder.glob("forces*"))
    assert recording_of(recorder.trials[0], "this test").settings.files.predicted
    watch = SessionWatch(shown.append)
    watch.begin(done.live)
    for sample, frame in zip(came, done.frames, strict=True):
        watch.take(Arrival(sample, 0.0), frame)
    assert not [said for said in shown if "plate" in said]  # there is none to be silent
    line = StatusLine()
    monkeypatch.setattr(line, "_show", lambda text, wrong=False: shown.append(text))
    line.begin(done.live)
    line._since -= 1.0
    line.take(Arrival(came[-1], 0.0), done.frames[-1])
    assert "ground reactions predicted" in shown[-1]


def test_plates_that_a_sender_has_are_not_read_where_forces_are_predicted() -> None:
    live, own = passed().live, recording_of(without_plates(), "this test").forces
    wanted, spot = Wanted.from_live(live), [0.0, 0.0, 0.0]
    content = {"musclesolve": 1, "time": 0.5, "plates": [{"force": spot, "point": spot}] * len(own)}
    content["markers"] = {name: [0.0, 1.0, 2.0] for name in live.markers}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stream = UdpStream(str(port), wanted)
    with closing(stream), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(json.dumps(content).encode(), ("127.0.0.1", port))
        readings = stream.read(5.0)
    assert [reading.kind for reading in readings] == ["markers"]
    plates = [Channel(f"plate1_{role}_{axis}") for role in ("force", "point") for axis in "xyz"]
    markers = [Channel(f"{name}_{axis}") for name in live.markers for axis in "xyz"]
    layout = Layout.from_channels([*plates, *markers], wanted, "lsl:both")
    assert [each.kind for each in layout.readings(np.zeros(len(plates) + len(markers)), 0.5, 0.0)] == [
        "markers"
    ]
    assert Layout.from_channels(plates, wanted, "lsl:plates").readings(np.zeros(6), 0.5, 0.0) == []


def test_a_body_that_something_else_carries_has_no_forces() -> None:
    """The body speeds up by twice the acceleration of gravity, four times what friction under its feet supplies."""
    live, motion = passed().live, passed().live.body.mechanics.motion
    middle = len(motion.time) // 2
    second = motion.second[middle].copy()
    state = motion.time[middle], motion.coordinates[middle], motion.rates[middle]
    assert live.evaluate(*state, second).valid.all()
    second[-6] += 2.0 * STANDARD_GRAVITY
    frame = live.evaluate(*state, second)
    assert (frame.status == Status.INVALID_MOTION).all() and NOT_CARRIED in frame.notes


def test_plates_of_a_session_without_plates_are_refused(tmp_path: Path) -> None:
    template = without_plates().with_name("predicted.toml")
    with refused("conflict", "[files] forces"):
        Live(recording_of(template, "this test"), plates=("r", "l"))
    with refused("conflict", "[files] forces"):
        Standing(template, tmp_path, plates=("r", "l"))
    with refused("conflict", "[files] forces"):
        Standing(template, tmp_path, weigh=True)
    assert Standing(template, tmp_path).plates == ()
