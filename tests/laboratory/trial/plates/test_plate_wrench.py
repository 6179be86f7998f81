"""Force plates: channels made on paper come back as the force, the point and the moment they were made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import ezc3d
import numpy as np
import pytest
from c3d_files import MATRIX, PlateOnPaper, write_c3d
from scipy.spatial.transform import Rotation

from musclesolve.laboratory import read_c3d
from musclesolve.laboratory.files.c3d.force_platforms import PlateRecording, beside_plate, read_plates
from musclesolve.laboratory.files.formats import convert
from musclesolve.laboratory.trial.plates.foot_contacts import to_center_of_pressure
from tests.support.refusals import refused

GLOBAL = np.eye(3)
DOWNWARD = np.diag([1.0, -1.0, -1.0])
FRAMES, SAMPLES = 40, 5
ORIGINS = {1: (0.0, 0.0, 0.0), 2: (2.0, -1.0, -40.0), 3: (120.0, 200.0, -54.0), 4: (2.0, -1.0, -40.0)}


def paper(kind: int, turn_deg: float = 0.0, **more) -> PlateOnPaper:
    axes = Rotation.from_euler("z", turn_deg, degrees=True).as_matrix() @ DOWNWARD
    return PlateOnPaper(kind, (0.4, -0.2, 0.03), axes, **({"origin": ORIGINS[kind]} | more))


def step(plate: PlateOnPaper) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A foot on the plate: the ground's force, the point on the surface, the free moment."""
    rng = np.random.default_rng(5)
    count = FRAMES * SAMPLES
    force = rng.normal(size=(count, 3)) * [80.0, 40.0, 100.0] + [0.0, 0.0, 700.0]
    point = np.array(plate.center) + rng.uniform(-0.2, 0.2, (count, 3)) * [1.0, 1.0, 0.0]
    return force, point, rng.normal(size=(count, 3)) * [0.0, 0.0, 5.0]


def write(
    path: Path, plates: list[PlateOnPaper], channels: list[np.ndarray], change=None, unit: str = "mm"
) -> Path:
    return write_c3d(
        path, 100.0, ["A", "B"], np.ones((FRAMES, 2, 3)), plates, channels, SAMPLES, change=change, unit=unit
    )


def setting(name: str, value, group: str = "FORCE_PLATFORM"):
    """A change of one parameter of a file."""

    def change(file) -> None:
        if name in file["parameters"][group]:
            file["parameters"][group][name]["value"] = value
        else:
            file.add_parameter(group, name, value)

    return change


def only(path: Path, said: Sequence[str] = ()) -> PlateRecording:
    recordings, notes, *_ = read_plates(read_c3d(path), GLOBAL)
    assert len(recordings) == 1 and len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))
    return recordings[0]


def assert_is(found: PlateRecording, force: np.ndarray, point: np.ndarray, free: np.ndarray) -> None:
    np.testing.assert_allclose(found.force, force, atol=1e-3)
    np.testing.assert_allclose(found.point, point, atol=1e-6)
    np.testing.assert_allclose(found.moment, free, atol=1e-3)


@pytest.mark.parametrize("turn_deg", [0.0, 90.0, 200.0])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_channels_become_what_the_ground_does_to_the_foot(tmp_path: Path, kind: int, turn_deg: float) -> None:
    plate = paper(kind, turn_deg)
    force, point, free = step(plate)
    found = only(write(tmp_path / "a.c3d", [plate], [plate.channels(force, point, free)]))
    assert_is(found, force, point, free)
    np.testing.assert_allclose(found.time, np.arange(FRAMES * SAMPLES) / 500.0)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_force_at_the_point_gives_the_moment_about_the_transducers(tmp_path: Path, kind: int) -> None:
    """r x F + T about the transducers is what they measured, whatever they measured: half of it without load."""
    plate = paper(kind)
    rng = np.random.default_rng(6)
    channels = rng.normal(size=(FRAMES * SAMPLES, 8 if kind == 3 else 6)) * 100.0
    channels[: len(channels) // 2] *= 1e-9
    found = only(write(tmp_path / "a.c3d", [plate], [channels]))
    transducers = np.array(plate.center) - plate.axes @ (np.array(plate.origin) / 1000.0)
    if kind == 3:
        transducers = np.array(plate.center) - plate.axes[:, 2] * plate.origin[2] / 1000.0
        a, b = plate.origin[0] / 1000.0, plate.origin[1] / 1000.0
        x12, x34, y14, y23, z1, z2, z3, z4 = channels.T
        # Four transducers at (+-a, +-b): the sum of r x F over them, the shears acting on the sides of their pairs.
        arms = np.array([[a, b, 0.0], [-a, b, 0.0], [-a, -b, 0.0], [a, -b, 0.0]])
        up = np.array([0.0, 0.0, 1.0])
        measured = sum(np.cross(arm, z[:, None] * up) for arm, z in zip(arms, (z1, z2, z3, z4), strict=True))
        measured = measured + np.cross([0.0, b, 0.0], x12[:, None] * [1.0, 0.0, 0.0])
        measured = measured + np.cross([0.0, -b, 0.0], x34[:, None] * [1.0, 0.0, 0.0])
        measured = measured + np.cross([a, 0.0, 0.0], y14[:, None] * [0.0, 1.0, 0.0])
        measured = measured + np.cross([-a, 0.0, 0.0], y23[:, None] * [0.0, 1.0, 0.0])
    else:
        measured = (channels @ plate.matrix.T if kind == 4 else channels)[:, 3:] / 1000.0
    about = np.cross(found.point - transducers, found.force) + found.moment
    np.testing.assert_allclose(about @ plate.axes, measured, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_another_reader_finds_the_same(tmp_path: Path, kind: int) -> None:
    plates = [paper(kind), paper(kind, 90.0)]
    channels = [plate.channels(*step(plate)) for plate in plates]
    path = write(tmp_path / "a.c3d", plates, channels)
    recordings = read_plates(read_c3d(path), GLOBAL).recordings
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    assert len(recordings) == len(theirs) == 2
    for own, other in zip(recordings, theirs, strict=True):
        np.testing.assert_allclose(own.force, other["force"].T, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(own.point, other["center_of_pressure"].T / 1000.0, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(own.moment, other["Tz"].T / 1000.0, rtol=1e-9, atol=1e-9)


def test_an_origin_that_points_the_other_way_is_turned(tmp_path: Path) -> None:
    plate = paper(2)
    force, point, free = step(plate)
    turned = setting("ORIGIN", -np.array([plate.origin]).T)
    assert_is(
        only(write(tmp_path / "a.c3d", [plate], [plate.channels(force, point, free)], turned)),
        force,
        point,
        free,
    )


def test_a_plate_whose_axis_points_up_has_its_transducers_below_it_too(tmp_path: Path) -> None:
    plate = PlateOnPaper(2, (0.4, -0.2, 0.0), np.eye(3), origin=(2.0, -1.0, 40.0))
    force, point, free = step(plate)
    assert_is(
        only(write(tmp_path / "a.c3d", [plate], [plate.channels(force, point, free)])), force, point, free
    )


POUND = 4.4482216


# Units of the channels of a plate, and what a number of each is in N, mm and N mm.
@pytest.mark.parametrize(
    ("kind", "units", "sizes"),
    [
        (1, ["N", "N", "N", "m", "m", "Nm"], [1, 1, 1, 1e3, 1e3, 1e3]),
        (1, ["N", "N", "N", "cm", "cm", "Nmm"], [1, 1, 1, 10, 10, 1]),
        (1, ["kN", "kN", "kN", "mm", "mm", "N m"], [1e3, 1e3, 1e3, 1, 1, 1e3]),
        (1, [""] * 6, [1] * 6),
        (2, ["N"] * 3 + ["Nm"] * 3, [1, 1, 1, 1e3, 1e3, 1e3]),
        (2, ["N"] * 3 + ["N.m"] * 3, [1, 1, 1, 1e3, 1e3, 1e3]),
        (2, ["N"] * 3 + ["N*mm"] * 3, [1] * 6),
        (2, ["Newtons"] * 3 + [""] * 3, [1] * 6),
        (2, ["V"] * 6, [1] * 6),
        (2, ["N"] * 6, [1] * 6),
        (2, ["N", "kN", "N", "Nmm", "Nmm", "Nm"], [1, 1e3, 1, 1, 1, 1e3]),
        (2, ["lbf"] * 3 + ["in-lbf"] * 3, [POUND] * 3 + [POUND * 25.4] * 3),
        (3, ["N"] * 4 + ["kN"] * 4, [1] * 4 + [1e3] * 4),
        (4, ["N"] * 3 + ["Nm"] * 3, [1, 1, 1, 1e3, 1e3, 1e3]),
        (4, ["V"] * 6, [1] * 6),
    ],
)
def test_every_channel_is_in_the_unit_that_it_states(
    tmp_path: Path, kind: int, units: list[str], sizes: list[float]
) -> None:
    """For type 4 it is the unit of what the matrix makes of the channels."""
    size = np.array(sizes)
    plate = paper(kind, matrix=MATRIX / size[:, None]) if kind == 4 else paper(kind)
    force, point, free = step(plate)
    channels = paper(kind).channels(force, point, free) / (1.0 if kind == 4 else size)
    found = only(write(tmp_path / "a.c3d", [plate], [channels], setting("UNITS", units, "ANALOG")))
    assert_is(found, force, point, free)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_a_unit_that_is_not_known_is_refused(tmp_path: Path, kind: int) -> None:
    plate = paper(kind)
    channels = plate.channels(*step(plate))
    units = ["N", "N", "fathom", *[""] * (channels.shape[1] - 3)]
    path = write(tmp_path / "a.c3d", [plate], [channels], setting("UNITS", units, "ANALOG"))
    with refused("unknown_unit", "a.c3d", "ANALOG:UNITS", "1"):
        read_plates(read_c3d(path), GLOBAL)


@pytest.mark.parametrize("arms", [(0.0, 0.0), (0.12, 0.2), (120.0, 2000.0), (320.0, 200.0)])
def test_transducers_that_do_not_lie_below_the_plate_are_refused(
    tmp_path: Path, arms: tuple[float, float]
) -> None:
    plate = paper(3)
    origin = setting("ORIGIN", np.array([[*arms, -54.0]]).T)
    path = write(tmp_path / "a.c3d", [plate], [plate.channels(*step(plate))], origin)
    with refused("bad_plate", "FORCE_PLATFORM:ORIGIN", "1"):
        read_plates(read_c3d(path), GLOBAL)


def test_lengths_in_meters_make_moments_of_newton_meters(tmp_path: Path) -> None:
    plate = paper(2)
    force, point, free = step(plate)
    channels = plate.channels(force, point, free) * np.repeat([1.0, 1e-3], 3)

    def in_meters(file) -> None:
        group = file["parameters"]["FORCE_PLATFORM"]
        for name in ("CORNERS", "ORIGIN"):
            group[name]["value"] = group[name]["value"] / 1000.0

    found = only(write(tmp_path / "a.c3d", [plate], [channels], in_meters, unit="m"))
    np.testing.assert_allclose(found.point, point, atol=1e-6)
    np.testing.assert_allclose(found.moment, free, atol=1e-3)


def test_scales_and_offsets_of_the_channels_are_applied(tmp_path: Path) -> None:
    """Stored numbers s with (s - offset) x scale x general scale = measured, as ezc3d reads them too."""
    plate = paper(2)
    force, point, free = step(plate)
    path = tmp_path / "a.c3d"

    def scaled(file) -> None:
        analog = file["parameters"]["ANALOG"]
        analog["GEN_SCALE"]["value"] = [0.5]
        analog["SCALE"]["value"] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
        analog["OFFSET"]["value"] = [100, -50, 0, 3, 20, -1]

    write(path, [plate], [plate.channels(force, point, free)], scaled)
    assert_is(only(path), force, point, free)
    own = read_c3d(path).analog(list(range(6)))
    np.testing.assert_allclose(own, ezc3d.c3d(str(path))["data"]["analogs"][0].T, rtol=1e-6, atol=1e-6)


def test_what_unloaded_frames_show_is_taken_away(tmp_path: Path) -> None:
    plate = paper(2)
    force, point, free = step(plate)
    channels = plate.channels(force, point, free)
    quiet = slice(0, 10 * SAMPLES)
    channels[quiet] = 0.0
    drift = np.array([3.0, -2.0, 12.0, 400.0, -900.0, 100.0])
    path = write(tmp_path / "a.c3d", [plate], [channels + drift], setting("ZERO", np.array([1, 10])))
    found = only(path, ["12.0 N of vertical force are taken off"])
    np.testing.assert_allclose(found.force[quiet], 0.0, atol=1e-4)
    loaded = slice(10 * SAMPLES, None)
    np.testing.assert_allclose(found.force[loaded], force[loaded], atol=1e-3)
    np.testing.assert_allclose(found.point[loaded], point[loaded], atol=1e-5)


def test_somebody_who_stands_on_the_plate_is_no_zero(tmp_path: Path) -> None:
    plate = paper(2)
    force, point, free = step(plate)
    path = write(
        tmp_path / "a.c3d", [plate], [plate.channels(force, point, free)], setting("ZERO", np.array([1, 10]))
    )
    (found,), notes, *_ = read_plates(read_c3d(path), GLOBAL)
    assert_is(found, force, point, free)
    assert len(notes) == 1 and "frames 1 to 10" in notes[0]


def test_the_force_on_the_plate_becomes_the_one_on_the_foot(tmp_path: Path) -> None:
    plate = paper(4)
    force, point, free = step(plate)
    path = write(tmp_path / "a.c3d", [plate], [-plate.channels(force, point, free)])
    (found,), notes, *_ = read_plates(read_c3d(path), GLOBAL)
    assert_is(found, force, point, free)
    assert len(notes) == 1 and "Plate 1" in notes[0]


@pytest.mark.parametrize(
    ("name", "value", "parts"),
    [
        ("TYPE", [5], ("bad_plate", "1", "5")),
        ("TYPE", [21], ("bad_plate", "1", "2", "3")),
        ("TYPE", [], ("bad_plate", "1")),
        ("USED", [9999], ("bad_plate", "9999")),
        ("CHANNEL", np.array([[1], [2], [3], [4], [5], [7]]), ("bad_plate", "1", "2", "3")),
        ("CHANNEL", np.array([[1], [2], [3], [4], [5], [0]]), ("bad_plate", "6")),
        ("CHANNEL", np.array([[1], [1], [3], [4], [5], [6]]), ("bad_plate", "6")),
        ("CHANNEL", np.array([[1], [2], [3]]), ("bad_plate", "6")),
        ("CORNERS", np.zeros((3, 4, 1)), ("bad_plate", "1", "0", "0 m")),
        ("CORNERS", np.ones((3, 3, 1)), ("bad_plate", "1")),
        ("ORIGIN", np.zeros((2, 1)), ("bad_plate", "1")),
        ("CAL_MATRIX", np.zeros((6, 6, 1)), ("bad_plate", "FORCE_PLATFORM:CAL_MATRIX")),
        ("CAL_MATRIX", np.ones((5, 6, 1)), ("bad_plate", "FORCE_PLATFORM:CAL_MATRIX")),
    ],
)
def test_plates_that_are_not_understood_are_refused(
    tmp_path: Path, name: str, value, parts: tuple[str, ...]
) -> None:
    plate = paper(4)
    value = np.asarray(value) if not isinstance(value, list) else value
    path = write(tmp_path / "a.c3d", [plate], [plate.channels(*step(plate))], setting(name, value))
    with refused(*parts, "FORCE_PLATFORM:") as raised:
        read_plates(read_c3d(path), GLOBAL)
    assert "a.c3d, FORCE_PLATFORM:" in str(raised.value) and "remedy" in str(raised.value)


def test_corners_that_cross_over_are_refused(tmp_path: Path) -> None:
    plate = paper(2)
    crossed = 1000.0 * plate.corners[[0, 2, 1, 3]].T[..., None]
    path = write(tmp_path / "a.c3d", [plate], [plate.channels(*step(plate))], setting("CORNERS", crossed))
    with refused("bad_plate", "FORCE_PLATFORM:CORNERS"):
        read_plates(read_c3d(path), GLOBAL)


def test_a_file_without_plates_has_none(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "a.c3d", 100.0, ["A"], np.ones((5, 1, 3)))
    assert read_plates(read_c3d(path), GLOBAL)[:2] == ([], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TYPE", np.array([2, 6])),
        ("CHANNEL", np.array([[1, 2, 3, 4, 5, 6], [0] * 6]).T),
        ("CHANNEL", np.array([[1, 2, 3, 4, 5, 6], [8, 9, 10, 11, 12, 13]]).T),
        ("CORNERS", None),
    ],
)
def test_a_plate_that_cannot_be_read_is_left_out_beside_another(tmp_path: Path, name: str, value) -> None:
    plate = paper(2)
    loads = step(plate)
    if value is None:
        value = np.stack([1000.0 * plate.corners.T, np.zeros((3, 4))], axis=2)
    path = write(tmp_path / "a.c3d", [plate, plate], [plate.channels(*loads)] * 2, setting(name, value))
    found = read_plates(read_c3d(path), GLOBAL)
    assert_is(found.recordings[0], *loads)
    assert list(found.left_out) == [2] and len(found.notes) == 1 and "Plate 2" in found.notes[0]


@pytest.mark.parametrize("seen", [True, False])
def test_an_origin_reversed_in_the_plane_is_found_by_the_feet_or_the_edges(
    tmp_path: Path, seen: bool
) -> None:
    plate = paper(2, origin=(240.0, 800.0, 0.0), half=(0.25, 0.8))
    force, point, free = step(plate)
    # One of the markers is a foot on the plate, the other one a head; or both are high.
    markers = np.stack(
        [
            point[::SAMPLES] + np.array([0.03, 0.0, 0.05 if seen else 2.0]),
            point[::SAMPLES] + np.array([0.0, 0.0, 1.7]),
        ],
        1,
    )
    right = [240.0, 800.0, 0.0]
    for stated in (right, [-240.0, -800.0, 0.0]):
        path = write_c3d(
            tmp_path / "a.c3d", 100.0, ["A", "B"], 1000.0 * markers, [plate], [plate.channels(force, point, free)],
            SAMPLES, change=setting("ORIGIN", np.array([stated]).T),
        )  # fmt: skip
        (found,), notes, *_ = read_plates(read_c3d(path), GLOBAL)
        assert_is(found, force, point, free)
        assert [
            ("ORIGIN of plate 1" in note and "reversed. Then the center of pressure lies" in note)
            for note in notes
        ] == [True] * (stated != right)
    (as_stated,), notes, *_ = read_plates(read_c3d(path), GLOBAL, "stated")
    assert not notes and beside_plate(as_stated) == pytest.approx(1.67, abs=0.1)
    (found,), notes, *_ = read_plates(read_c3d(path), GLOBAL, "reversed")
    assert_is(found, force, point, free)
    assert len(notes) == 1


@pytest.mark.parametrize("case", ["corners", "moments", "corners in m", "all in m"])
def test_other_readings_of_a_plate_are_found_by_the_feet(tmp_path: Path, case: str) -> None:
    plate = paper(2, half=(0.25, 0.8))
    force, point, free = step(plate)
    point = np.repeat(point[::SAMPLES], SAMPLES, axis=0) + np.array([0.0, 0.4, 0.0])
    markers = point[::SAMPLES, None] + np.array([0.03, 0.0, 0.05])
    channels = plate.channels(force, point, free) * ([1.0] * 3 + [0.001 if case == "moments" else 1.0] * 3)
    corners = 1000.0 * plate.corners.T[:, :, None]
    changed = {"corners": np.roll(corners, 2, axis=1), "moments": corners}.get(case, 0.001 * corners)
    all_in_m = case == "all in m"
    path = write_c3d(
        tmp_path / "a.c3d", 100.0, ["A"], markers * (1.0 if all_in_m else 1000.0), [plate], [channels], SAMPLES,
        change=setting("CORNERS", changed), unit="m" if all_in_m else "mm",
    )  # fmt: skip
    (found,), notes, *_ = read_plates(read_c3d(path), GLOBAL)
    assert_is(found, force, point, free)
    word = {"corners": "3, 4, 1, 2", "moments": "N m", "all in m": "N mm"}.get(case, "")
    assert [word in note for note in notes] == [True] * bool(word)


@pytest.mark.parametrize("name", ["SCALE", "GEN_SCALE"])
def test_a_scale_of_zero_is_named(tmp_path: Path, name: str) -> None:
    plate = paper(2)
    path = write(tmp_path / "a.c3d", [plate], [plate.channels(*step(plate))])
    raw = path.read_bytes()
    found = re.finditer(rb"(?<![A-Z_])" + name.encode(), raw)
    at = [each.end() for each in found][-1]  # after POINT:SCALE
    values = at + 4 + raw[at + 3]
    path.write_bytes(raw[:values] + bytes(4) + raw[values + 4 :])
    with refused("bad_plate", f"ANALOG:{name}", "channel 1"):
        read_plates(read_c3d(path), GLOBAL)


def test_points_beside_their_plate_are_not_converted_without_a_word(tmp_path: Path) -> None:
    plate = paper(2)
    force, point, free = step(plate)
    path = write(
        tmp_path / "a.c3d", [plate], [plate.channels(force, point + np.array([2.0, 0.0, 0.0]), free)]
    )
    (note,) = convert(path, [tmp_path / "a.mot"])
    assert "plate 1" in note and "beside the plate" in note


@pytest.mark.parametrize(
    ("factor", "word"), [(1.0, ""), (0.0, "rests"), (0.001, "too small"), (-1.0, "reversed")]
)
def test_a_wrong_channel_of_the_vertical_moment_is_named(tmp_path: Path, factor: float, word: str) -> None:
    plate = paper(2, half=(0.25, 0.8))
    force, point, free = step(plate)
    point[:, 1] = plate.center[1] + np.linspace(-0.7, 0.7, len(point))
    channels = plate.channels(force, point, free * [1.0, 1.0, 0.5])
    channels[:, 5] *= factor
    fault = only(write(tmp_path / "a.c3d", [plate], [channels])).moment_fault
    assert word in fault and bool(fault) == bool(word) and ("channel 6" in fault) == bool(word)


def test_a_load_that_rests_on_a_plate_shows_no_wrong_channel(tmp_path: Path) -> None:
    plate = paper(2, half=(0.25, 0.8))
    force, point, free = step(plate)
    force[:], point[:], free[:] = [0.0, 300.0, 800.0], np.add(plate.center, [0.2, 0.1, 0.0]), 0.0
    channels = plate.channels(force, point, free)
    channels[:, 5] *= -1.0
    assert not only(write(tmp_path / "a.c3d", [plate], [channels])).moment_fault


def test_moments_about_a_fixed_point_beside_centers_of_pressure_become_free_moments() -> None:
    force, point, moment = step(paper(2))
    for origin in ([0.0, 0.0, 0.0], [1.2, -0.4, -0.05]):
        at, free = to_center_of_pressure(force, point, moment + np.cross(point - origin, force))
        np.testing.assert_allclose(at, point, atol=1e-12)
        np.testing.assert_allclose(free, moment, atol=1e-8)
    # A wrench about a point that rests: the center of pressure moves.
    rests = 0.0 * point + [0.4, -0.2, 0.03]
    at, free = to_center_of_pressure(force, rests, moment + np.cross(point - rests, force))
    np.testing.assert_allclose(at, point, atol=1e-9)
    np.testing.assert_allclose(free, moment, atol=1e-8)
