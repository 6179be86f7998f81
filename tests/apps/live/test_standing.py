"""A subject who stands first: the trial of the laboratory, measured anew; and what is said when it is wrong."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import pytest
from refusals import refused

from musclesolve import read_trial
from musclesolve.apps.live import Live, Recorder, samples
from musclesolve.apps.live import standing as of_standing
from musclesolve.apps.live.live import SampleClock
from musclesolve.apps.live.sample_poses import MarkerBodies
from musclesolve.apps.live.session import SessionWatch
from musclesolve.apps.live.standing import Standing, stand_first
from musclesolve.apps.live.stream import Arrival, Sample, StreamEnded, run_session
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN
from musclesolve.laboratory.motion.anatomy.landmark_positions import filtered_markers
from musclesolve.tables.document import tables_text


class Stream:
    """A source of given samples."""

    remarks = ()
    closed = False

    def __init__(self, given):
        self._samples = iter(given)

    def wait(self, timeout):
        sample = next(self._samples, None)
        if sample is None:
            raise StreamEnded
        return Arrival(sample, perf_counter())

    def skip_waiting_samples(self):
        with suppress(StreamEnded):
            while self.wait(0.0) is not None:
                pass

    def close(self):
        self.closed = True


def standing_samples(standing, trial, changed=lambda markers, plates: None):
    """The standing trial of a trial again and again, half of the weight on each plate."""
    static, weight = trial.static, trial.subject.mass * STANDARD_GRAVITY
    heels = [static.weighted(trial.mapping[f"heel_{side}"]).mean(axis=0) for side in "rl"]
    for k in count():
        markers = np.full((len(standing.markers), 3), np.nan)
        for place, name in enumerate(standing.markers):
            if name in static:
                markers[place] = static[name][k % len(static.time)]
        plates = np.zeros((2, 9))
        for plate, heel in zip(plates, heels, strict=True):
            plate[2], plate[3:6] = 0.5 * weight, (*heel[:2], 0.0)
        changed(markers, plates)
        yield Sample(k / standing.rate, markers, plates)


def walking_samples(standing, trial, live):
    """The motion of a trial after its standing, in the order of the standing, one clock."""
    for sample in samples(live, trial):
        markers = np.full((len(standing.markers), 3), np.nan)
        markers[[standing.markers.index(name) for name in live.markers]] = sample.markers
        yield sample._replace(time=sample.time + 100.0, markers=markers)


@pytest.fixture(scope="module")
def stride():
    return read_trial(reference_stride())


@pytest.fixture(scope="module")
def live(stride):
    return Live(stride)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory) -> Path:
    """The trial file of the stride without a recording, a mass and the columns of the forces."""
    content = tomllib.loads(reference_stride().read_text(encoding="utf-8"))
    del content["files"], content["subject"]["mass_kg"], content["time"]
    content["force"] = [{"side": entry["side"]} for entry in content["force"]]
    path = tmp_path_factory.mktemp("laboratory") / "laboratory.toml"
    path.write_text(tables_text(content), encoding="utf-8")
    return path


def forces_after(standing, trial, live, seconds, walk=0.0):
    """Frames of a walk after a standing, and those of the `Live` of the trial itself, at the same samples."""
    given = list(islice(standing_samples(standing, trial), round(seconds * standing.rate) + 1))
    walking = list(walking_samples(standing, trial, live))
    first = walking if walk else []
    before = [sample._replace(time=sample.time - 50.0) for sample in first]
    ready, source = stand_first(
        standing,
        Stream([*given, *before]),
        lambda of: Live(of, rate_hz=live.rate, plates=standing.plates),
        seconds=seconds,
        walk=walk,
        say=lambda text: None,
    )
    source._source = Stream(walking)
    live.clear()
    places = [standing.markers.index(name) for name in live.markers]
    frames = []
    for sample in walking:
        arrival = source.wait(0.0)
        frames.append(
            (ready.step(*arrival.sample), live.step(sample.time, sample.markers[places], sample.plates))
        )
    return ready, [pair for pair in frames if pair[0].valid.all() and pair[1].valid.all()]


@pytest.mark.thorough
def test_a_template_and_a_standing_give_the_forces_of_the_trial(laboratory, stride, live, tmp_path):
    standing = Standing(laboratory, tmp_path, rate_hz=live.rate)
    ready, frames = forces_after(standing, stride, live, seconds=1.0)
    assert ready.trial.subject.mass == pytest.approx(stride.subject.mass, rel=1e-3)
    slots = [
        ready.model.slot(f"{point}_{side}")
        for point in ("hip", "knee", "ankle", "heel", "toe")
        for side in "rl"
    ]
    assert np.allclose(ready.model.standing[slots], live.model.standing[slots], atol=1e-6)
    assert len(frames) > 80
    assert max(np.abs(one.force - other.force).max() for one, other in frames) < 1.0
    assert {path.name for path in tmp_path.iterdir()} == {"standing.trc", "standing.mot", "standing.toml"}
    # the same person by the offline reader: feet on plates, so a trial like any other
    assert read_trial(tmp_path / "standing.toml").subject.mass == ready.trial.subject.mass
    recorder = Recorder(tmp_path / "session")
    recorder.begin(ready)
    recorder.close()
    assert "standing.trc" in recorder.trials[0].read_text()


@pytest.mark.thorough
def test_the_recorded_walk_after_its_standing_trial(recorded_walk_text, default_walk_trial, tmp_path):
    """Its subject stands with arms raised to the side: trunk and arms are taken from the movement."""
    path, folder = tmp_path / "walk.toml", tmp_path / "session"
    path.write_text(recorded_walk_text, encoding="utf-8")
    standing, trial = Standing(path, folder), default_walk_trial
    live = Live(trial)
    ready, frames = forces_after(standing, trial, live, len(trial.static.time) / standing.rate, walk=2.2)
    raised = [found.what for found in standing._stood.findings]
    assert standing._stood.ok and len(raised) == 2 and all("arm is raised by" in what for what in raised)
    assert standing._stood.mass == pytest.approx(trial.subject.mass, rel=1e-3)
    legs = [
        k
        for k, name in enumerate(live.model.topology.coordinate_names)
        if name[:4] in ("hip_", "knee", "ankl")
    ]
    assert np.allclose(ready.model.standing[legs], live.model.standing[legs], atol=1e-3)
    assert len(frames) > 140
    off = np.array([one.force - other.force for one, other in frames])
    assert np.sqrt(np.mean(off**2)) < 1.0 and np.abs(off).max() < 20.0


def test_a_marker_belongs_to_the_body_that_motion_shows(default_walk_trial):
    """By landmarks, clusters and the nearest segment: for legs and pelvis the same as by the motion."""
    live = Live(default_walk_trial)
    fit, filtered = live.body.mechanics.fit, live.body.mechanics.measured.filter
    walk = filtered_markers(live.trial, filtered, TIME_MARGIN)
    found = MarkerBodies.from_standing(live.trial, live.model, walk.position, live._poses.bodies(fit.q))
    names = [body.name for body in live.model.topology.bodies]
    of_motion, of_standing = (
        [names[k].replace("_distal", "") for k in each.body] for each in (live.marker_bodies, found)
    )
    leg = [k for k, name in enumerate(of_standing) if name.startswith(("pelvis", "thigh", "shank", "foot"))]
    assert len(leg) == 22 and [of_motion[k] for k in leg] == [of_standing[k] for k in leg]
    # the markers of the plate on the shank alone: the nearest segment
    plate = tuple(name for name in live.markers if name.startswith("R.SH"))
    alone = replace(live.trial, clusters={**live.trial.clusters, "shank_r": plate, "knee_r": plate})
    near = MarkerBodies.from_standing(
        alone, live.model, walk.position[:1], tuple(e[:1] for e in live._poses.bodies(fit.q))
    )
    assert len(plate) == 4 and {names[near.body[live.markers.index(name)]] for name in plate} == {"shank_r"}


def exchange(standing, one, other):
    places = [standing.markers.index(name) for name in (one, other)]

    def changed(markers, plates):
        markers[places] = markers[places[::-1]]

    return changed


@pytest.mark.thorough
def test_what_is_wrong_is_said_while_the_subject_stands(stride, tmp_path):
    path = reference_stride()

    def findings(changed, **options):
        standing = Standing(path, tmp_path, rate_hz=60.0, **options)
        own = changed(standing) if changed.__code__.co_argcount == 1 else changed
        stood = standing.measure(Stream(standing_samples(standing, stride, own)), 1.0)
        assert stood.ok == (not [found for found in stood.findings if found.severity == "error"])
        return {found.code: found for found in stood.findings}

    def nothing(markers, plates):
        pass

    assert findings(nothing) == {}
    heel = next(iter(stride.mapping["heel_r"]))
    hidden = findings(lambda s: lambda markers, plates: markers.__setitem__(s.markers.index(heel), np.nan))
    assert hidden["gap"].severity == "error" and heel in hidden["gap"].what
    knees = [next(iter(stride.mapping[f"knee_lateral_{side}"])) for side in "rl"]
    swapped = findings(lambda s: exchange(s, *knees))
    assert swapped["pair_swapped"].severity == "error"
    loaded = findings(lambda markers, plates: plates.__setitem__((1, slice(0, 3)), (0.0, 0.0, 12.0)))
    assert "plate 2 shows 12 N up" in loaded["plate_baseline"].what
    light = findings(lambda markers, plates: plates.__setitem__((slice(None), 2), 0.85 * plates[:, 2]))
    assert light["mass"].severity == "warning" and "-15 %" in light["mass"].what
    assert "mass" not in findings(lambda m, p: p.__setitem__((slice(None), 2), 0.85 * p[:, 2]), weigh=True)
    beside = findings(lambda markers, plates: plates.__setitem__(slice(None), 0.0))
    assert beside["mass"].severity == "note" and "nobody stands" in beside["mass"].what
    beside = findings(lambda markers, plates: plates.__setitem__(slice(None), 0.0), weigh=True)
    assert beside["mass"].severity == "error"
    rng = np.random.default_rng(5)
    shoulder = next(iter(stride.mapping["shoulder_r"]))

    def moving(standing):
        def changed(markers, plates):
            markers[standing.markers.index(shoulder)] += rng.uniform(-0.06, 0.06, 3)

        return changed

    assert "subject moved" in findings(moving)["leap"].what


def test_the_subject_may_stand_three_times(stride, tmp_path):
    standing, said = Standing(reference_stride(), tmp_path, rate_hz=60.0), list[str]()
    hidden = standing_samples(standing, stride, lambda markers, plates: markers.__setitem__(0, np.nan))
    source = Stream(islice(hidden, 1000))
    with refused("bad_standing", "hidden most of the time"):
        stand_first(standing, source, Live, seconds=0.5, say=said.append)
    assert sum("Stand still" in text for text in said) == 3 and source.closed
    # its folder may be used again, unlike one with files of somebody else
    Recorder(tmp_path)
    (tmp_path / "standing.toml").write_text("# mine", encoding="utf-8")
    with refused("occupied_folder", "standing.toml", "standing.trc"):
        Recorder(tmp_path)
    source = Stream([])
    with refused("no_stream", "0 samples"):
        stand_first(standing, source, Live, seconds=0.5, say=said.append)


class InRealTime(Stream):
    """A stream whose samples arrive at their times, and wait until they are asked for."""

    def __init__(self, given, begun):
        super().__init__(given)
        self.begun, self.next = begun, None

    def wait(self, timeout):
        self.next = self.next or next(self._samples)
        arrives = self.begun + self.next.time
        sleep(min(max(arrives - perf_counter(), 0.0), timeout))
        if perf_counter() < arrives:
            return None
        sample, self.next = self.next, None
        return Arrival(sample, arrives)


@pytest.mark.thorough
def test_a_standing_begins_when_it_is_asked_for(stride, tmp_path):
    """Samples that arrived while the last attempt was examined show somebody who has not been asked yet, and do not
    count.
    """
    standing, said = Standing(reference_stride(), tmp_path, rate_hz=60.0), list[str]()
    asked, begun = list[float](), perf_counter()

    def say(text):
        said.append(text)
        if text == "Once more.":
            sleep(0.4)
        elif text.startswith("Stand still"):
            asked.append(perf_counter())

    def hidden(markers, plates):
        markers[0] = np.nan

    first, second = (standing_samples(standing, stride, *how) for how in ((hidden,), ()))
    mixed = (
        one if begun + one.time < (asked[1] if len(asked) > 1 else np.inf) else other
        for one, other in zip(first, second, strict=True)
    )
    source = InRealTime(mixed, begun)

    class Interrupted(Exception):
        pass

    def make(trial):
        raise Interrupted

    with pytest.raises(Interrupted):
        stand_first(standing, source, make, seconds=0.5, say=say)
    assert len(asked) == 2 and source.closed


def test_a_stream_that_falls_silent_or_jumps_while_the_subject_stands(stride, tmp_path, monkeypatch):
    standing = Standing(reference_stride(), tmp_path, rate_hz=60.0)

    class Silent(Stream):
        def wait(self, timeout):
            try:
                return super().wait(timeout)
            except StreamEnded:
                sleep(0.01)

    monkeypatch.setattr(of_standing, "PATIENCE", 0.1)
    with refused("no_stream", "50 samples came", "the last one"):
        standing.measure(Silent(islice(standing_samples(standing, stride), 50)), 1.0)
    monkeypatch.undo()
    jumped = (
        sample._replace(time=sample.time + 1e12 * (k > 40))
        for k, sample in enumerate(standing_samples(standing, stride))
    )
    time, markers, plates = standing._taken(Stream(jumped), 1.0, lambda: False)
    assert len(time) == len(markers) == len(plates) == 61 and np.isfinite(plates).all()


def test_a_standing_that_is_stopped_ends_as_any_command(stride, tmp_path):
    standing = Standing(reference_stride(), tmp_path, rate_hz=60.0)
    source, answers = Stream(standing_samples(standing, stride)), iter([False] * 20)
    with pytest.raises(KeyboardInterrupt):
        stand_first(standing, source, Live, seconds=1.0, stop=lambda: next(answers, True), say=str)
    assert source.closed and not list(tmp_path.iterdir())


def test_a_template_that_cannot_be_used_is_refused(laboratory, tmp_path):
    with refused("missing_argument", "--rate"):
        Standing(laboratory, tmp_path)
    text = laboratory.read_text(encoding="utf-8")

    def template(edited):
        path = tmp_path / "other.toml"
        path.write_text(edited, encoding="utf-8")
        return Standing(path, tmp_path, rate_hz=100.0)

    with refused("missing_key", "--plate r"):
        template(text[: text.index("[[force]]")])
    with refused("missing_key", "stature_m"):
        template(text.replace("stature_m", "# stature_m"))
    with refused("conflict", "cutoff_hz"):
        template(text.replace("cutoff_hz = 15", 'cutoff_hz = "residual_analysis"'))
    assert template(text).weighed and template(text).plates == ("r", "l")


def test_what_goes_wrong_later_is_said_now_and_then(stride, live):
    said = list[str]()
    watch, heel = SessionWatch(said.append), next(iter(stride.mapping["heel_r"]))
    clock = SampleClock(live.rate, live.bridge)
    walk = list(samples(live, stride))
    place, period = live.markers.index(heel), 1.0 / live.rate

    def session(seconds, changed):
        said.clear()
        live.clear()
        for k in range(int(seconds * live.rate)):
            sample = walk[30 + k % 65]  # the stride is periodic, but for the way that it goes
            yield Sample(k * period, sample.markers.copy(), sample.plates.copy()), changed

    def run(seconds, changed):
        watch.begin(live)
        clock.clear()
        for sample, change in session(seconds, changed):
            change(sample)
            frame = live._interrupted(0.0, 0.0, (), clock.take(sample.time))
            watch.take(Arrival(sample, 0.0), frame)
        return list(said)

    assert run(12.0, lambda sample: None) == []
    hidden = run(14.0, lambda sample: sample.markers.__setitem__(place, np.nan))
    assert len(hidden) == 2 and all(f"the marker {heel} is hidden" in text for text in hidden)
    # the time of another clock is no time for which the marker was hidden, nor is a time that is far off
    back = run(0.5, lambda sample: sample.markers.__setitem__(place, np.nan))
    for jump in (-100.0, 1e12):
        for time in 100.0 + jump + np.arange(60) * period:
            markers = walk[30].markers.copy()
            markers[place] = np.nan
            frame = live._interrupted(0.0, 0.0, (), clock.take(time))
            watch.take(Arrival(Sample(time, markers, walk[30].plates), 0.0), frame)
    assert back == said == []
    # a marker that lies far off for a moment is none that is labeled wrong
    assert run(0.5, lambda sample: sample.markers.__setitem__(place, 8.0)) == []
    far = run(1.5, lambda sample: sample.markers.__setitem__(place, 8.0))
    assert len(far) == 1 and heel in far[0] and "middle of the markers" in far[0]
    drifted = run(12.0, lambda sample: sample.plates.__setitem__((0, 2), sample.plates[0, 2] + 9.0))
    assert len(drifted) == 1 and "plate 1 shows 9 N" in drifted[0]
    partly = " or the plates carried only part of the weight"
    for factor, unit in (
        (1e-3, f"kilonewtons{partly}"),
        (1.0 / STANDARD_GRAVITY, f"kilograms-force{partly}"),
        (0.25, f"pounds-force{partly}"),  # a harness carries three quarters of the weight
        (1e3, "millinewtons"),
    ):
        scaled = run(
            12.0, lambda sample, factor=factor: sample.plates.__setitem__(..., factor * sample.plates)
        )
        (of_unit,) = (text for text in scaled if "as if" in text)
        assert f"as if forces were in {unit}: send newtons" in of_unit
        assert of_unit.endswith("a harness, a seat or the floor carries the rest") == (factor < 1.0)


def test_a_plate_and_emg_that_fall_silent_are_said(stride, live, monkeypatch):
    said, clock = list[str](), SampleClock(live.rate, live.bridge)
    walk = list(samples(live, stride))
    monkeypatch.setattr(live, "channels", ("soleus",))

    def session(silent_plate=None, emg=None, late=()):
        watch = SessionWatch(said.append)
        said.clear()
        clock.clear()
        watch.begin(live)
        for k in range(int(3.0 * live.rate)):
            _, markers, plates, _ = walk[30 + k % 65]
            plates = plates.copy()
            if silent_plate is not None:
                plates[silent_plate] = np.nan
            sample = Sample(k / live.rate, markers, plates, emg)
            watch.take(
                Arrival(sample, 0.0, late=late), live._interrupted(0.0, 0.0, (), clock.take(sample.time))
            )
        return list(said)

    envelope = np.array([0.3])
    assert session(emg=envelope) == []
    (delayed,) = session(emg=envelope, late=(("plate 2", 0.151),))
    assert "plate 2 come up to 151 ms after" in delayed and "--wait-ms 170" in delayed
    assert session(silent_plate=1, emg=envelope, late=(("plate 2", 0.151),)) == [delayed]
    (both,) = session(emg=envelope, late=(("plate 1", 0.05), ("plate 2", 0.151)))
    assert "plate 1, plate 2 come up to 151 ms after" in both
    (plate,) = session(silent_plate=1, emg=envelope)
    assert "plate 2 has sent no numbers" in plate
    (slow,) = session(emg=None, late=(("EMG", 0.306),))
    assert "EMG come up to 306 ms after" in slow
    (late,) = session(emg=None)
    assert "no EMG has come for 1 s" in late
    assert session(emg=np.array([np.nan]))[0] == late


def test_forces_that_do_not_fit_the_movement_are_said(stride, live):
    said, shown = list[str](), list(samples(live, stride))
    live.clear()
    frames = [live.step(*sample) for sample in shown]
    valid = [frame for frame in frames if frame.valid.all()]
    watch = SessionWatch(said.append)
    for share, expected in ((1.0, 0), (0.2 * weight_of(live), 1)):
        watch.begin(live)
        for k in range(int(11 * live.rate)):
            frame = valid[k % len(valid)]
            residual = frame.pelvis_residual.copy()
            if expected:
                residual[:3] = (0.0, 0.0, share)
            changed = type(frame)(**{**frame.__dict__, "pelvis_residual": residual})
            watch.take(Arrival(shown[50]._replace(time=k / live.rate), 0.0), changed)
        assert (len(said) > 0) == bool(expected)
    assert "20 % of the body weight" in said[0]


def weight_of(live):
    return live.model.mass.total * STANDARD_GRAVITY


def test_a_session_after_a_standing_goes_through_all_sinks(laboratory, stride, live, tmp_path):
    standing = Standing(laboratory, tmp_path, rate_hz=live.rate)
    first = list(islice(standing_samples(standing, stride), 61))
    ready, source = stand_first(
        standing,
        Stream(first),
        lambda of: Live(of, plates=standing.plates),
        seconds=1.0,
        say=lambda text: None,
    )
    source._source = Stream(walking_samples(standing, stride, live))
    recorder = Recorder(tmp_path / "session")
    passed = run_session(ready, source, [recorder, SessionWatch()])
    assert passed.valid > 80 and any("musclesolve run" in text for text in passed.remarks)
    again = read_trial(recorder.trials[0])
    assert again.static.path.name == "standing.trc" and again.subject.mass == ready.trial.subject.mass
