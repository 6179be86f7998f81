"""The project reads the recording of a session, whatever happens to the session."""

from __future__ import annotations

import errno
import shutil
import signal
from multiprocessing import get_context
from time import perf_counter, sleep

import numpy as np
import pytest
from examined import examined
from refusals import refused

import musclesolve as ms
from musclesolve import Status, read_trial
from musclesolve.apps.live import Live, Recorder, read_frames, samples
from musclesolve.apps.live.joining import Wanted
from musclesolve.apps.live.live import Taken
from musclesolve.apps.live.recorder import rows_text
from musclesolve.apps.live.session import SessionWatch, open_source
from musclesolve.apps.live.standing import Standing
from musclesolve.apps.live.stream import Arrival, StreamEnded, run_session
from musclesolve.data import reference_stride
from musclesolve.laboratory.trial.dependent_settings import with_paths
from musclesolve.tables import read_mot, read_trc
from musclesolve.tables.document import tables_text


class Given:
    """A source of the samples of a trial, each replaced by those that `changed` makes of it, `pause` [s] apart."""

    remarks = ()

    def __init__(self, live, changed=lambda k, sample: [sample], pause=0.0):
        self._samples = (each for k, own in enumerate(samples(live, live.trial)) for each in changed(k, own))
        self._pause = pause

    def wait(self, timeout):
        sample = next(self._samples, None)
        if sample is None:
            raise StreamEnded
        sleep(self._pause)
        return Arrival(sample, perf_counter())

    def close(self):
        pass


class Kept:
    """A sink that keeps the frames."""

    def __init__(self):
        self.frames = []

    def begin(self, live):
        pass

    def take(self, arrival, frame):
        self.frames.append(frame)

    def close(self):
        pass


def recorded(live, folder, **given):
    """The recorder of a session and its frames."""
    recorder, kept = Recorder(folder, lambda text: None), Kept()
    run_session(live, Given(live, **given), [recorder, kept])
    return recorder, kept.frames


@pytest.fixture(scope="module")
def recorded_stride(prepared_stride, tmp_path_factory):
    """The folder of the recorded stride, the recorder, and the frames; a test that changes files copies the folder."""
    prepared_stride.clear()
    folder = tmp_path_factory.mktemp("recorded")
    return folder, *recorded(prepared_stride, folder)


def test_numbers_are_written_to_their_decimals():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(20, 9)) * 10.0 ** rng.uniform(-9, 7, (20, 9))
    values[3, 4], values[5, 8], values[6, 0], values[7, 7] = np.nan, np.inf, 0.0, 9.9999999e-7
    decimals = range(9)
    lines = rows_text(values, decimals, ",", "nan").decode().splitlines()
    for line, row in zip(lines, values, strict=True):
        for cell, value, places in zip(line.split(","), row, decimals, strict=True):
            assert cell == ("nan" if not np.isfinite(value) else f"{value:.{places}f}".removeprefix("-")) or (
                abs(float(cell) - value) <= 0.5000001 * 10.0**-places
            )
            assert len(cell.partition(".")[2]) == places or cell == "nan"
    assert rows_text(np.array([[1.0, np.nan]]), decimals[:2], "\t", behind="\t") == b"1\t\t\n"


def test_the_offline_result_of_what_was_recorded_is_that_of_the_recording(live, recorded_stride):
    folder, recorder, frames = recorded_stride
    assert "trial.toml" in recorder.remarks[0]
    trial = read_trial(recorder.trials[0])
    assert not [note for note in trial.notes if "header" in note or "row" in note]
    assert trial.markers.time.size == len(frames)
    for name in live.markers:
        assert np.allclose(trial.markers[name], live.trial.markers[name], atol=1e-7)
    again, before = ms.run(trial), ms.run(live.trial)
    inside = again.sel(time=before.time, method="nearest", tolerance=1e-6)
    # plates were recorded at the rate of the markers
    for name, within in (("joint_angle", 1e-5), ("joint_moment", 0.5), ("muscle_force", 5.0)):
        assert np.sqrt(np.nanmean((before[name].values - inside[name].values) ** 2)) < within

    table = read_frames(folder)
    assert np.allclose(table.time + live.lag, trial.markers.time) and table.sizes["time"] == len(frames)
    for name, attribute, digits in (
        ("muscle_force", "force", 1e-4),
        ("joint_moment", "moment", 1e-5),
        ("joint_reaction", "joint_reaction", 1e-4),
        ("gap", "gap", 1e-14),
    ):
        of_frames = np.array([getattr(frame, attribute) for frame in frames])
        assert np.allclose(table[name], of_frames, atol=digits, rtol=0, equal_nan=True)
    assert tuple(table["muscle"].values) == live.muscles and table["joint_moment"].attrs["units"] == "N m"
    assert (table["status"].values[-1] == "solved").all()


@pytest.mark.thorough
def test_other_settings_of_the_session_are_those_of_the_recorded_trial(tmp_path):
    live = Live(reference_stride(), cutoff_hz=12.0, side="r", lag_ms=40.0)
    recorder, _ = recorded(live, tmp_path)
    trial = read_trial(recorder.trials[0])
    assert trial.settings.filter.cutoff_hz == 12.0 != live.trial.settings.filter.cutoff_hz
    assert recorder.remarks[0].endswith("trial.toml --side r.")
    assert "--lag-ms 40 --rate 200 --side r" in recorder.trials[0].read_text().replace(
        f"{live.rate:g}", "200"
    )
    before = live.trial.with_settings(filter=dict(cutoff_hz=12.0))
    one, other = (ms.run(each, side="r")["joint_moment"] for each in (before, trial))
    inside = other.sel(time=one.time, method="nearest", tolerance=1e-6)
    assert np.sqrt(np.nanmean((one.values - inside.values) ** 2)) < 0.5


def test_the_options_of_a_cost_are_recorded(tmp_path):
    cost = "joint_weighted_activation(multi_joint_weight=2.0)"
    recorder, _ = recorded(Live(reference_stride(), cutoff_hz=12.0, side="r", cost=cost), tmp_path)
    assert read_trial(recorder.trials[0]).settings.sharing.cost == cost


def test_corrections_of_plates_are_not_for_streams(live, monkeypatch, tmp_path):
    monkeypatch.setitem(live.document.content, "plates", {"offset_s": 0.0, "vertical_gain": {"1": 1.01}})
    with refused("conflict", "vertical_gain", "--from replay"):
        open_source(Wanted.from_live(live), ["replay", "udp:5005"])
    open_source(Wanted.from_live(live), ["replay"]).close()
    template = tmp_path / "template.toml"
    content = with_paths(live.trial.document.content, live.trial.path.parent, template)
    template.write_text(tables_text(content | {"plates": {"offset_s": 0.01}}), encoding="utf-8")
    standing = Standing(template, tmp_path, rate_hz=live.rate)
    with refused("conflict", "offset_s"):
        open_source(Wanted.from_live(standing), ["udp:5005"])


@pytest.mark.thorough
def test_lost_refused_and_hidden_samples_are_gaps_on_an_even_clock(live, tmp_path):
    hidden = live.markers[0]

    def disturbed(k, sample):
        if k == 30:
            sample = sample._replace(markers=sample.markers.copy())
            sample.markers[live.markers.index(hidden)] = np.nan
        late = [sample._replace(time=sample.time - 3.5 / live.rate)] if k == 50 else []
        return [] if k in (40, 41) else [sample._replace(time=sample.time + 1e-3 * (-1) ** k), *late]

    recorder, frames = recorded(live, tmp_path, changed=disturbed)
    markers, forces = read_trc(tmp_path / "markers.trc"), read_mot(tmp_path / "forces.mot")
    whole = live.trial.markers.time
    assert markers.time.size == forces.time.size == whole.size and not markers.row_warning
    assert np.allclose(np.diff(markers.time), 1.0 / live.rate)
    lost = np.isnan(markers.position).any(axis=2)
    assert lost[40:42].all() and lost[30].sum() == 1 and np.isnan(markers[hidden][30]).all()
    assert lost.sum() == 2 * len(live.markers) + 1
    assert np.isnan(forces.values).any(axis=1).nonzero()[0].tolist() == [40, 41]
    trial = read_trial(recorder.trials[0])
    assert any("filled by straight lines" in note for note in trial.notes)
    assert ms.run(trial)["valid"].all()
    notes = (tmp_path / "notes.csv").read_text().splitlines()
    assert any("refused" in note for note in notes) and notes[-1].endswith("nothing is missing")
    assert len((tmp_path / "frames.csv").read_text().splitlines()) == 1 + len(frames)
    assert (
        read_frames(tmp_path).sizes["time"] == len(frames) - 1
    )  # the refused one has no place in the recording


@pytest.mark.thorough
def test_plates_whose_feet_are_found_contact_by_contact_are_recorded_as_such(stride_by_contacts, tmp_path):
    """The offline reader finds the feet again, as it does for the plates of a C3D file."""
    live, whole = stride_by_contacts
    recorder, frames = recorded(live, tmp_path)
    assert frames[-1].valid.all()
    trial = read_trial(recorder.trials[0])
    assert any("foot was found on plate 1" in note for note in trial.notes)
    for side in "rl":
        one, other = (
            np.sum([plate.force[:, 2] for plate in each if plate.side == side], axis=0)
            for each in (trial.forces, whole.forces)
        )
        at = np.interp(trial.forces[0].time, whole.forces[0].time, other)
        assert np.abs(one - at).max() < 30.0 and one.max() > 500.0
    assert ms.run(trial)["valid"].all()


@pytest.fixture(scope="module")
def stride_by_contacts():
    """A Live that does not know which foot stands on which plate, and its trial."""
    live = Live(reference_stride(), plates=(None, None))
    return live, live.trial


def test_a_clock_that_has_changed_begins_other_files(live, tmp_path):
    def changed(k, sample):
        return [sample if k < 50 else sample._replace(time=sample.time - 200.0)]

    recorder, frames = recorded(live, tmp_path, changed=changed)
    first, second = (read_trc(tmp_path / name) for name in ("markers.trc", "markers_2.trc"))
    assert [path.name for path in recorder.trials] == ["trial.toml", "trial_2.toml"]
    assert first.time.size == 50 and first.time[0] == second.time[0] == 0.0
    assert read_frames(tmp_path, part=2)["sample_time"][0] < -190.0
    assert second.time.size == len(frames) - 50 - sum("refused" in "".join(frame.notes) for frame in frames)
    assert read_frames(tmp_path, part=2).sizes["time"] == second.time.size
    assert read_trial(recorder.trials[1]).markers.path.name == "markers_2.trc"


def test_envelopes_of_a_cost_that_follows_emg_are_recorded(default_walk_trial, tmp_path):
    live = Live(default_walk_trial.with_settings(emg={"weight": 0.5}))
    recorder = Recorder(tmp_path, lambda text: None)
    recorder.begin(live)
    for k, sample in enumerate(list(samples(live, live.trial))[:40]):
        frame = live._interrupted(sample.time, 0.0, (), Taken(min(k, 1)))
        recorder.take(Arrival(sample, perf_counter()), frame)
    recorder.close()
    written = read_mot(tmp_path / "emg.sto")
    assert written.names == live.channels
    assert np.allclose(written.values, live.body.emg.at(written.time), atol=1e-7, equal_nan=True)
    trial = read_trial(recorder.trials[0])
    assert trial.emg.options.processed and trial.emg.maximum == (1.0,) * len(live.channels)


def test_a_folder_with_a_recording_is_refused(recorded_stride, tmp_path):
    with refused("occupied_folder", "trial.toml"):
        Recorder(recorded_stride[0])
    (tmp_path / "file").write_text("")
    for below in ("file", "file/below"):
        with refused("not_writable", f"{tmp_path / 'file'} is a file"):
            Recorder(tmp_path / below)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("gone", [False, True])
def test_a_disk_that_fails_does_not_end_the_session(live, tmp_path, gone):
    said, folder = list[str](), tmp_path / "session"
    recorder = Recorder(folder, said.append)

    class Full:
        """A disk that takes a part of a row and then nothing, until there is room."""

        def __init__(self, file):
            self.file, self.room, self.full = file, 1000, True

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            if self.full and not self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            done = self.file.write(data[: self.room] if self.full else data)
            self.room -= done if self.full else 0
            return done

    def changed(k, sample):
        log = recorder._markers
        if k == 30 and gone:
            shutil.rmtree(folder)
        elif k == 30:
            log._file = Full(log._file)
        elif k == 80 and not gone:
            while not said:
                sleep(0.01)
            log._file.full = False
        return [sample]

    kept = Kept()
    run_session(live, Given(live, changed, pause=0.002), [recorder, kept])
    assert kept.frames[-1].valid.all()
    if gone:
        assert len(said) == 1 and "no longer recorded" in said[0] and "not complete" in recorder.remarks[0]
    else:
        assert "No space left" in said[0] and "nothing was lost" in said[1] and len(said) == 2
        markers = read_trc(folder / "markers.trc")
        assert markers.time.size == len(kept.frames) and not markers.row_warning
        assert np.allclose(markers[live.markers[0]], live.trial.markers[live.markers[0]], atol=1e-7)


def test_a_row_that_is_cut_short_anywhere_is_left_out(recorded_stride, tmp_path):
    shutil.copytree(recorded_stride[0], tmp_path, dirs_exist_ok=True)
    count = read_trc(tmp_path / "markers.trc").time.size
    for name, read, attribute in (("markers.trc", read_trc, "position"), ("forces.mot", read_mot, "values")):
        path = tmp_path / name
        # as it is until the number of rows in the header is renewed
        text = path.read_bytes().replace(b"%-10d" % count, b"%-10d" % (count - 6))
        whole = read(path)
        last = len(text[: text.rindex(b"\n")].split(b"\n")[-1])
        for left_over in (0, 1, last // 3, last - 2):
            path.write_bytes(text[: len(text) - left_over - 1])
            found = read(path)
            assert found.time.size == count - 1 and found.row_warning
            assert np.array_equal(getattr(found, attribute), getattr(whole, attribute)[:-1], equal_nan=True)
    frames = (tmp_path / "frames.csv").read_bytes()
    (tmp_path / "frames.csv").write_bytes(frames[:-20])
    assert read_frames(tmp_path).sizes["time"] == count - 1


def session(live, folder):
    """Record the stride at its pace."""
    run_session(live, Given(live, pause=1.0 / live.rate), [Recorder(folder)])


def test_a_process_that_is_killed_leaves_its_recording(live, tmp_path):
    folder = tmp_path / "session"
    process = get_context("fork").Process(target=session, args=(live, folder))
    process.start()
    markers = folder / "markers.trc"
    try:
        while not (markers.exists() and markers.read_bytes().count(b"\n") > 80):
            assert process.is_alive()
            sleep(0.02)
    finally:
        process.kill()
        process.join()
    assert process.exitcode == -signal.SIGKILL
    rows = read_trc(markers).time.size
    assert rows >= 60 and read_frames(folder).sizes["time"] >= rows - live.rate
    trial = read_trial(folder / "trial.toml")
    assert np.allclose(
        trial.markers.position[:60],
        live.trial.markers.position[
            :60, [live.trial.markers.names.index(name) for name in trial.markers.names]
        ],
        atol=1e-7,
    )
    assert ms.run(trial)["valid"].any()


# ---- sessions with a planted fault: reported, recorded, analyzed again

START = 12_664.7
"""A clock counts from the start of its computer [s]."""
FROM, TO = 42, 72
"""Samples with the fault."""


def faulty_session(live, folder, plant):
    """Return the counts, the recorder and the frames of a session; plant: changes a sample with the fault."""

    def changed(k, sample):
        sample = sample._replace(
            time=sample.time + START, markers=sample.markers.copy(), plates=sample.plates.copy()
        )
        if FROM <= k < TO:
            plant(sample)
        return [sample]

    kept, recorder = Kept(), Recorder(folder, lambda text: None)
    passed = run_session(live, Given(live, changed), [recorder, kept, SessionWatch(lambda text: None)])
    return passed, recorder, kept.frames


def test_exchanged_markers_are_exchanged_back_in_the_recording(live, tmp_path):
    one, other = (live.markers.index(name) for name in ("knee_lateral_r", "ankle_lateral_r"))

    def plant(sample):
        sample.markers[[one, other]] = sample.markers[[other, one]]

    passed, recorder, _ = faulty_session(live, tmp_path, plant)
    (found,) = passed.findings
    ((first, last),) = found.where.times
    assert abs(first - FROM / live.rate) < 0.1 and abs(last - TO / live.rate) < 0.1  # from the first sample
    written, whole = read_trc(tmp_path / "markers.trc"), live.trial.markers
    assert written.time[0] == 0.0 and "knee_lateral_r" in (tmp_path / "notes.csv").read_text()
    for name in ("knee_lateral_r", "ankle_lateral_r"):
        assert np.allclose(
            np.linalg.norm(written[name], axis=1), np.linalg.norm(whole[name], axis=1), atol=1e-6
        )
    assert "labels_exchanged" not in examined(recorder.trials[0]).codes


def test_a_plate_that_drops_is_named_and_does_not_spoil_the_recording(live, tmp_path):
    passed, recorder, frames = faulty_session(live, tmp_path, lambda sample: sample.plates[1].fill(np.nan))
    assert "no numbers of plate 2 came in time" in {note for frame in frames for note in frame.notes}
    assert "no numbers of plate 2" in passed.reason
    report = examined(recorder.trials[0])
    assert not {"force_without_contact", "pressure_outside", "gait_events"} & set(report.codes), str(report)


def test_a_plate_that_repeats_its_numbers_measures_nothing(live, tmp_path):
    loads = []

    def plant(sample):
        loads.append(sample.plates[1].copy())
        sample.plates[1] = np.array([3.0, -2.0, 400.0, *loads[0][3:]])

    _, _, frames = faulty_session(live, tmp_path, plant)
    seen = [k for k, frame in enumerate(frames) if "the numbers of plate 2 repeat" in frame.notes]
    assert FROM < seen[0] <= FROM + 0.2 * live.rate and seen[-1] == TO - 1
    left = live.sides.index("l")
    assert all(frames[k].status[left] == Status.NOT_MEASURED for k in range(seen[0] + 4, TO))
