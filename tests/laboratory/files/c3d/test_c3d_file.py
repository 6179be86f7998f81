"""C3D files: what was stored comes back, from every processor; what is broken is refused by its place."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pytest
from c3d_files import PlateOnPaper, handmade, write_c3d
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thorough import examples

from musclesolve.errors import InputError
from musclesolve.laboratory import Event, read_c3d, read_markers
from musclesolve.laboratory.files.c3d.c3d_description import Coding
from musclesolve.laboratory.files.c3d.c3d_file import stated_events
from musclesolve.laboratory.files.c3d.force_platforms import read_plates
from tests.support.refusals import refused

GLOBAL = np.eye(3)


def trajectories(frames: int = 20, count: int = 3) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(frames, count, 3)) * 1000.0


def write(path: Path, change=None, **more) -> Path:
    points = more.pop("points", trajectories())
    names = more.pop("names", [f"M{k}" for k in range(points.shape[1])])
    return write_c3d(path, 100.0, names, points, change=change, **more)


def setting(group: str, **values):
    def change(file) -> None:
        for name, value in values.items():
            if group in file["parameters"] and name in file["parameters"][group]:
                file["parameters"][group][name]["value"] = value
            else:
                file.add_parameter(group, name, value)

    return change


@pytest.mark.parametrize(("unit", "meters"), [("mm", 1e-3), ("cm", 1e-2), ("m", 1.0)])
def test_markers_come_back_in_meters(tmp_path: Path, unit: str, meters: float) -> None:
    points = trajectories()
    markers = read_markers(write(tmp_path / "a.c3d", points=points, unit=unit).rename(tmp_path / "A.C3D"))
    assert markers.names == ("M0", "M1", "M2")
    np.testing.assert_allclose(markers.position, meters * points, rtol=1e-6)
    np.testing.assert_allclose(markers.time, np.arange(20) / 100.0)
    assert read_c3d(markers.path).notes == ()


def test_a_file_without_a_unit_is_taken_in_millimeters_and_says_so(tmp_path: Path) -> None:
    points = trajectories()
    file = read_c3d(write(tmp_path / "a.c3d", setting("POINT", UNITS=[]), points=points))
    np.testing.assert_allclose(file.markers().position, 1e-3 * points, rtol=1e-6)
    assert "taken as mm" in file.notes[0]


def test_gaps_are_negative_residuals_nothing_and_what_is_no_number(tmp_path: Path) -> None:
    points = trajectories(4, 3)
    points[1, 0], points[2, 1] = np.nan, 0.0

    def lost(file) -> None:
        residuals = np.zeros((1, 3, 4))
        residuals[0, 2, 3] = -1.0
        file["data"]["meta_points"]["residuals"] = residuals

    position = read_markers(write(tmp_path / "a.c3d", lost, points=points)).position
    gaps = np.isnan(position).all(axis=-1)
    assert gaps[1, 0] and gaps[2, 1] and gaps[3, 2] and gaps.sum() == 3
    assert np.isfinite(position[~gaps]).all()


def test_only_measured_markers_with_a_name_are_markers(tmp_path: Path) -> None:
    names = ["LASI", "*1", "", "LKneeAngles", "RASI"]
    points = trajectories(5, 5)
    path = write(tmp_path / "a.c3d", setting("POINT", ANGLES=["LKneeAngles"]), points=points, names=names)
    markers = read_markers(path)
    assert markers.names == ("LASI", "RASI")
    np.testing.assert_allclose(markers.position, 1e-3 * points[:, [0, 4]], rtol=1e-6)


def test_more_than_255_markers_have_their_names_in_two_lists(tmp_path: Path) -> None:
    points = trajectories(3, 300)
    path = write(tmp_path / "a.c3d", points=points)
    stored = ezc3d.c3d(str(path))["parameters"]["POINT"]
    assert len(stored["LABELS"]["value"]) == 255 and len(stored["LABELS2"]["value"]) == 45
    markers = read_markers(path)
    assert markers.names == tuple(f"M{k}" for k in range(300))
    np.testing.assert_allclose(markers.position, 1e-3 * points, rtol=1e-6)


def test_labels_are_those_of_the_file(tmp_path: Path) -> None:
    """The owner of the markers is determined where the mapping is read, for all formats alike."""
    points, names = trajectories(5, 3), ["Ann:LASI", "*4", "Ann:R:1"]
    read = read_markers(write(tmp_path / "a.c3d", points=points, names=names)).names
    assert read == ("Ann:LASI", "Ann:R:1")


def test_points_without_labels_are_left_out(tmp_path: Path) -> None:
    raw = bytearray(handmade(84, np.ones((4, 3, 4)), 100.0, -1.0, np.ones((4, 1, 1))))
    place = raw.index(b"M1      ")
    raw[place : place + 8] = bytes(8)
    path = tmp_path / "a.c3d"
    path.write_bytes(raw)
    assert read_markers(path).names == ("M0", "M2")


STORED = np.random.default_rng(8).integers(-30000, 30000, (12, 3, 4)).astype(float)
STORED[..., 3] = [0.0, 513.0, -1.0]
ANALOG = np.random.default_rng(9).integers(-2000, 2000, (12, 4, 2)).astype(float)


@pytest.mark.every_pair
@pytest.mark.parametrize("processor", [84, 85, 86])
@pytest.mark.parametrize("scale", [-0.1, 0.1])
def test_numbers_of_every_processor_are_read(tmp_path: Path, processor: int, scale: float) -> None:
    """Reals are stored as they are; integers are multiplied by the scale of the file."""
    path = tmp_path / "a.c3d"
    path.write_bytes(handmade(processor, STORED, 60.0, scale, ANALOG))
    file = read_c3d(path)
    position, analog = file.markers().position, file.analog([0, 1])
    expected = STORED[:, :2, :3] * (1.0 if scale < 0.0 else scale) / 1000.0
    np.testing.assert_allclose(position[:, :2], expected, rtol=1e-6)
    assert np.isnan(position[:, 2]).all()
    np.testing.assert_allclose(analog, 0.5 * (ANALOG.reshape(-1, 2) - 7.0))
    if processor == 86:
        return  # ezc3d leaves this one out
    theirs = ezc3d.c3d(str(path))["data"]
    np.testing.assert_allclose(
        position[:, :2], theirs["points"][:3, :2].transpose(2, 1, 0) / 1000.0, rtol=1e-6
    )
    np.testing.assert_allclose(analog, theirs["analogs"][0].T, rtol=1e-6)


def test_reals_of_dec_by_their_bits() -> None:
    """One is 0.5 x 2^1, exponent 129: 0x4080 in the first half; what is too small for a normal number is nothing."""
    raw = bytes.fromhex("8040 0000 80c0 0000 4941 db0f 0000 0000 8000 0100")
    np.testing.assert_allclose(Coding("<", True).reals(raw), [1.0, -1.0, np.pi, 0.0, 0.0], rtol=1e-7)


def test_unsigned_analog_numbers(tmp_path: Path) -> None:
    analog = np.array([0.0, 40000.0, 65535.0, 7.0]).reshape(4, 1, 1)
    raw = bytearray(handmade(84, STORED[:4], 60.0, 0.1, analog))
    # A record behind the last one: ANALOG:FORMAT.
    end = raw.index(b"A0      ") + 9
    record = b"\x06\x02FORMAT" + (14).to_bytes(2, "little") + b"\xff\x01\x08UNSIGNED\0"
    raw[end : end + len(record)] = record
    path = tmp_path / "a.c3d"
    path.write_bytes(raw)
    np.testing.assert_allclose(read_c3d(path).analog([0])[:, 0], 0.5 * (analog.ravel() - 7.0))


def test_time_counts_from_frame_one(tmp_path: Path) -> None:
    path = tmp_path / "a.c3d"
    path.write_bytes(handmade(84, STORED, 60.0, -0.1, ANALOG, first=121))
    file = read_c3d(path)
    np.testing.assert_allclose(file.markers().time, 2.0 + np.arange(12) / 60.0)
    np.testing.assert_allclose(file.analog_time, 2.0 + np.arange(48) / 240.0)


def test_one_frame_of_a_standing_subject_is_read_whether_or_not_its_data_fill_a_block(tmp_path: Path) -> None:
    path = write(tmp_path / "static.c3d", points=trajectories(1))
    whole = read_markers(path)
    layout = read_c3d(path).layout
    path.write_bytes(path.read_bytes()[: layout.start + layout.width * layout.numbers])
    cut = read_markers(path)
    for found in (whole, cut):
        assert found.position.shape[0] == 2 and any("one frame" in note for note in found.notes)
        np.testing.assert_allclose(found.position[0], trajectories(1)[0] * 0.001, atol=1e-6)
        np.testing.assert_array_equal(found.position[0], found.position[1])


def test_recordings_of_more_frames_than_16_bits_count(tmp_path: Path) -> None:
    points = np.zeros((70_000, 1, 3)) + np.arange(1.0, 70_001.0)[:, None, None]
    unstated = read_markers(write(tmp_path / "a.c3d", points=points))
    np.testing.assert_allclose(unstated.position, 1e-3 * points, rtol=1e-6)
    assert "70000" in unstated.notes[0]
    long = setting("POINT", LONG_FRAMES=[70_000.0])
    trial = setting("TRIAL", ACTUAL_START_FIELD=[11, 0], ACTUAL_END_FIELD=[70_010 - 65_536, 1])
    for change, start in ((long, 0.0), (trial, 0.1)):
        markers = read_markers(write(tmp_path / "a.c3d", change, points=points))
        np.testing.assert_allclose(markers.position, 1e-3 * points, rtol=1e-6)
        np.testing.assert_allclose(markers.time, start + np.arange(70_000) / 100.0)


def test_a_count_that_16_bits_have_cut_is_completed_by_the_length(tmp_path: Path) -> None:
    points = np.zeros((70_000, 1, 3)) + np.arange(1.0, 70_001.0)[:, None, None]
    path = write(tmp_path / "a.c3d", setting("POINT", LONG_FRAMES=[70_000.0 - 65_536.0]), points=points)
    found = read_markers(path)
    np.testing.assert_allclose(found.position, 1e-3 * points, rtol=1e-6)
    assert not found.notes


@pytest.mark.parametrize("field", [None, [65_486, 0], [65_486, 65_535], [-50, -1]])
def test_a_recording_may_begin_before_its_trigger(tmp_path: Path, field: list[int] | None) -> None:
    """Frames -50 to 99: read as 16 bits without a sign, the time would begin at 654.85 s."""
    change = setting("TRIAL", ACTUAL_START_FIELD=field, ACTUAL_END_FIELD=[99, 0]) if field else None
    path = write(tmp_path / "a.c3d", change, points=trajectories(150))
    raw = bytearray(path.read_bytes())
    raw[6:10] = np.array([-50, 99], "<i2").tobytes()
    path.write_bytes(raw)
    found = read_markers(path)
    np.testing.assert_allclose(found.time, np.arange(-51, 99) / 100.0)
    assert not found.notes


def test_events_that_the_file_states(tmp_path: Path) -> None:
    def with_events(file) -> None:
        for time, side, label in [
            ([0, 1.2], "Right", "Foot Off"),
            ([0, 0.5], "Right", "Foot Strike"),
            ([1, 0.25], "Left", "Foot Strike"),
            ([0, 0.1], "General", "Event"),
        ]:
            file.add_event(time, side, label)

    path = write(tmp_path / "a.c3d", with_events, points=np.zeros((7100, 1, 3)) + 1.0)
    events, _ = stated_events({"markers": path})
    assert [(e.kind, e.side, e.source) for e in events] == [
        ("heel_strike", "r", "stated"),
        ("toe_off", "r", "stated"),
        ("heel_strike", "l", "stated"),
    ]
    np.testing.assert_allclose([e.time for e in events], [0.5, 1.2, 60.25], rtol=1e-6)
    assert all(isinstance(event, Event) for event in events)


@pytest.mark.parametrize(
    ("times", "stored"),
    [
        ([0.0, 1.5, 0.0, 0.5, 1.0, 10.25], "minutes and seconds in turn"),
        ([0.0, 0.0, 1.0, 1.5, 0.5, 10.25], "all minutes before all seconds"),
        ([1.5, 0.5, 70.25], "seconds without minutes"),
    ],
)
def test_events_in_one_row_with_sides_in_their_labels(tmp_path: Path, times, stored: str) -> None:
    def with_events(file) -> None:
        setting("EVENT", TIMES=times, USED=[3], LABELS=["RHS", "Left Toe-Off", "Foot Strike"])(file)
        setting("EVENT", CONTEXTS=["", "General", "Right"])(file)

    path = write(tmp_path / "a.c3d", with_events, points=np.zeros((7100, 1, 3)) + 1.0)
    events, notes = stated_events({"markers": path})
    assert [(e.kind, e.side) for e in events] == [
        ("toe_off", "l"),
        ("heel_strike", "r"),
        ("heel_strike", "r"),
    ]
    np.testing.assert_allclose([e.time for e in events], [0.5, 1.5, 70.25], rtol=1e-6)
    assert len(notes) == 1 and notes[0].endswith(f"read as {stored}.")


def test_events_without_a_clear_side_are_left_out_and_counted(tmp_path: Path) -> None:
    labels = ["Foot Strike", "LHS", "heel off", "HS_R 2", "RTO"]

    def with_events(file) -> None:
        for k, label in enumerate(labels):
            file.add_event([0, 0.05 * k], "Left" if label == "RTO" else "", label)

    events, notes = stated_events({"markers": write(tmp_path / "a.c3d", with_events)})
    assert [(e.kind, e.side) for e in events] == [("heel_strike", "l"), ("heel_strike", "r")]
    assert "2 gait events without a side" in notes[0]


def test_events_outside_of_the_recording_and_second_ones_of_a_step_are_left_out(tmp_path: Path) -> None:
    """Events may count from the first frame of a cut, or be stored by two programs."""

    def with_events(file) -> None:
        for time, label in [
            (0.1, "Foot Strike"),
            (0.1, "Foot Strike"),
            (0.15, "Foot Strike"),
            (0.3, "Foot Off"),
        ]:
            file.add_event([0, time], "Left", label)
        file.add_event([0, 7.5], "Right", "Foot Strike")

    path = write(tmp_path / "a.c3d", with_events, points=np.zeros((60, 1, 3)) + 1.0)
    events, notes = stated_events({"markers": path})
    assert [(e.kind, e.side, round(e.time, 6)) for e in events] == [
        ("heel_strike", "l", 0.1),
        ("toe_off", "l", 0.3),
    ]
    assert [note.code for note in notes] == ["gait_events"] * 2
    assert "7.500 s" in notes[0] and "0.150 s" in notes[1]


def test_events_before_the_recording_are_counted_from_its_first_frame_if_all_lie_in_it(
    tmp_path: Path,
) -> None:
    def with_events(file) -> None:
        file["header"]["points"]["first_frame"] = 500
        for time, label in [(0.1, "Foot Strike"), (0.6, "Foot Off")]:
            file.add_event([0, time], "Left", label)

    path = write(tmp_path / "a.c3d", with_events, points=np.zeros((100, 1, 3)) + 1.0)
    events, (note,) = stated_events({"markers": path})
    start = read_c3d(path).layout.start_time
    assert start > 4.0
    np.testing.assert_allclose([event.time - start for event in events], [0.1, 0.6], atol=1e-6)
    assert "from its first frame" in note and note.code == "gait_events"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (setting("POINT", LABELS=["*1", "*2", ""]), ("missing_marker", "POINT:LABELS")),
        (setting("POINT", UNITS=["ell"]), ("unknown_unit", "'ell'")),
    ],
)
def test_markers_that_cannot_be_distinguished_are_refused(
    tmp_path: Path, change, parts: tuple[str, ...]
) -> None:
    with refused(*parts):
        read_markers(write(tmp_path / "a.c3d", change))


def patched(tmp_path: Path, place: int, new: bytes) -> Path:
    raw = bytearray(handmade(84, STORED, 60.0, -0.1, ANALOG))
    raw[place : place + len(new)] = new
    path = tmp_path / "a.c3d"
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    ("place", "new", "parts"),
    [
        (0, b"\0", ("bad_format", "a.c3d")),
        (1, b"Q", ("bad_format", "a.c3d")),
        (0, b"\xff", ("truncated_file", "a.c3d")),
        (515, b"\x11", ("bad_format", "17")),
        (2, b"\x09", ("conflict", "9 points", "POINT:USED", "3")),
        (4, b"\x09", ("conflict", "9", "2", "4")),
        (4, b"\0", ("conflict", "0", "ANALOG:USED", "2")),
        (8, b"\xff\x7f", None),
        (12, b"\0\0\0\0", ("bad_number", "0")),
        (16, b"\x09", ("conflict", "9")),
        (18, b"\x02", ("conflict", "ANALOG:USED", "2")),
        (20, b"\0\0\xc8\x43", ("bad_number", "400 Hz", "60")),
        (516, b"\x7f", ("bad_format", "byte 516")),
        (523, b"\xff\xff", ("bad_format", "byte 516")),
    ],
)
def test_header_and_parameters_that_contradict_each_other_are_refused(
    tmp_path: Path, place, new, parts
) -> None:
    path = patched(tmp_path, place, new)
    if parts is None:
        # The other count of frames fits the length of the file.
        markers = read_c3d(path).markers()
        assert len(markers.time) == 12 and "from 1 to 32767, but has 12" in markers.notes[0]
        return
    with refused(*parts) as raised:
        read_c3d(path)
    assert "a.c3d" in str(raised.value) and "remedy" in str(raised.value)


HEADER_BLOCK, PARAMETER_BLOCKS = 16, 514


def start_of_data(raw: bytes, parameter: int | None, header: int | None, blocks: int | None) -> bytes:
    """A file that states another block in POINT:DATA_START, in its header, or another length of its parameters."""
    changed = bytearray(raw)
    place = raw.index(b"DATA_START") + len(b"DATA_START") + 2 + 3
    order = "big" if raw[515] == 86 else "little"
    for at, value in ((place, parameter), (HEADER_BLOCK, header)):
        if value is not None:
            changed[at : at + 2] = value.to_bytes(2, order)
    if blocks is not None:
        changed[PARAMETER_BLOCKS] = blocks
    return bytes(changed)


@pytest.mark.every_pair
@pytest.mark.parametrize("processor", [84, 85, 86])
@pytest.mark.parametrize("scale", [-0.1, 0.1])
@pytest.mark.parametrize(("parameter", "header"), [(0, None), (None, 0), (0, 0), (4, 4)])
def test_the_start_of_the_data_is_where_anything_says_it_is(
    tmp_path: Path, processor: int, scale: float, parameter: int | None, header: int | None
) -> None:
    raw = handmade(processor, STORED, 60.0, scale, ANALOG)
    (tmp_path / "sound.c3d").write_bytes(raw)
    (tmp_path / "a.c3d").write_bytes(start_of_data(raw, parameter, header, None))
    sound, found = read_c3d(tmp_path / "sound.c3d"), read_c3d(tmp_path / "a.c3d")
    np.testing.assert_array_equal(found.markers().position, sound.markers().position)
    np.testing.assert_array_equal(found.analog([0, 1]), sound.analog([0, 1]))


@pytest.mark.parametrize(
    ("parameter", "header", "blocks", "code"),
    [
        (5, 4, 2, "conflict"),
        *((0, 0, blocks, "truncated_file") for blocks in (0, 1, 9, 255)),
        (0, 1, 2, "truncated_file"),
    ],
)
def test_a_start_that_nothing_confirms_is_refused(
    tmp_path: Path, parameter: int, header: int, blocks: int, code: str
) -> None:
    raw = handmade(84, np.tile(STORED, (30, 1, 1)), 60.0, -0.1, np.tile(ANALOG, (30, 1, 1)))
    (tmp_path / "a.c3d").write_bytes(start_of_data(raw, parameter, header, blocks))
    with refused(code, "a.c3d", "remedy"):
        read_c3d(tmp_path / "a.c3d")


def test_an_analog_rate_that_is_no_multiple_is_refused(tmp_path: Path) -> None:
    raw = handmade(84, STORED, 60.0, -0.1, ANALOG)
    place = raw.index(np.array(240.0, "<f4").tobytes())
    with refused("conflict", "250 Hz", "240"):
        read_c3d(patched(tmp_path, place, np.array(250.0, "<f4").tobytes()))


@pytest.mark.parametrize(
    ("share", "code"), [(0.0, "bad_format"), (0.1, "truncated_file"), (0.9, "truncated_file")]
)
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, share: float, code: str) -> None:
    raw = handmade(84, STORED, 60.0, -0.1, ANALOG)
    path = tmp_path / "a.c3d"
    path.write_bytes(raw[: int(share * len(raw))])
    with refused(code, "remedy"):
        read_c3d(path)


def test_analog_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    analog = ANALOG.copy()
    analog[3, 2, 1] = np.nan
    path = tmp_path / "a.c3d"
    path.write_bytes(handmade(84, STORED, 60.0, -0.1, analog))
    with refused("not_finite", "2", "0.0583333 s"):
        read_c3d(path).analog([0, 1])


def test_names_that_are_no_files(tmp_path: Path) -> None:
    with refused("missing_file", "none.c3d"):
        read_c3d(tmp_path / "none.c3d")
    with refused("missing_file"):
        read_c3d(tmp_path)
    with refused("missing_file", "walk.xyz"):
        read_markers(tmp_path / "walk.xyz")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small file with everything in it: markers, a plate, events."""
    plate = PlateOnPaper(4, (0.0, 0.0, 0.0), np.diag([1.0, -1.0, -1.0]))
    count = 8 * 5
    force = np.tile([10.0, 5.0, 700.0], (count, 1))
    channels = plate.channels(force, np.zeros((count, 3)), np.zeros((count, 3)))
    path = tmp_path_factory.mktemp("fuzz") / "a.c3d"
    write_c3d(
        path, 100.0, ["A", "B", "C"], trajectories(8), [plate], [channels], 5,
        change=lambda file: file.add_event([0, 0.02], "Left", "Foot Strike"),
    )  # fmt: skip
    return path.read_bytes()


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_corrupted_file_is_read_or_refused(sound: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """A file with any changed bytes gives numbers of the right shape, or an InputError; nothing else."""
    raw = bytearray(sound)
    # Header and parameters matter most.
    places = st.one_of(st.integers(0, 24), st.integers(512, 2100), st.integers(0, len(raw) - 1))
    values = st.one_of(st.sampled_from([0, 1, 127, 128, 254, 255]), st.integers(0, 255))
    for place, value in data.draw(st.lists(st.tuples(places, values), max_size=6)):
        raw[place] = value
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(raw))))
    raw = raw[:cut] + data.draw(st.one_of(st.just(b""), st.binary(max_size=600)))
    path = tmp_path / "fuzz.c3d"
    path.write_bytes(raw)
    try:
        file = read_c3d(path)
        markers, (events, _) = file.markers(), stated_events({"markers": path})
        recordings = read_plates(file, GLOBAL).recordings
    except InputError as error:
        assert "fuzz.c3d" in str(error)
        return
    frames = len(markers.time)
    assert markers.position.shape == (frames, len(markers.names), 3)
    assert markers.position.nbytes <= 4 * len(raw)
    assert (np.diff(markers.time) > 0.0).all() and all(np.isfinite(event.time) for event in events)
    for recording in recordings:
        for vector in (recording.force, recording.point, recording.moment):
            assert vector.shape == (len(recording.time), 3) and np.isfinite(vector).all()


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0", "a picture (JPEG)"),
        (b"%PDF-1.7", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"PathFileType\t4\t(X/Y/Z)\twalk.trc\n", "a text file"),
    ],
)
def test_another_kind_of_file_is_named(tmp_path: Path, first: bytes, kind: str):
    path = tmp_path / "walk.c3d"
    path.write_bytes(first + (b"" if kind == "a text file" else bytes(600)))
    with pytest.raises(InputError, match="not a C3D file") as error:
        read_c3d(path)
    assert kind in error.value.problem
