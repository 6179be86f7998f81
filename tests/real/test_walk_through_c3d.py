"""The recorded walk as a C3D file: the same moments as through TRC and MOT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c3d_files import PlateOnPaper, write_c3d
from other_walks import at_border

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.dynamics import projected_moments
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import mechanics
from musclesolve.tables import Markers, read_mot, read_trc, write_trc

RATE, SAMPLES = 100.0, 20
# Axes of the plates in those of the files (x forward, y up, z right), as columns; z of a plate points down.
ALONG = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
AGAINST = ALONG @ np.diag([-1.0, -1.0, 1.0])
ACROSS = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def lanes(kinds: tuple[int, int]) -> list[PlateOnPaper]:
    """Two long plates side by side, the first under the right foot."""
    right, left = kinds
    origins = {1: (0.0, 0.0, 0.0), 2: (2.0, -1.0, -40.0), 3: (120.0, 200.0, -54.0), 4: (-3.0, 5.0, -32.0)}
    return [
        PlateOnPaper(right, (1.0, 0.0, 0.06), AGAINST, (1.2, 0.3), origins[right]),
        PlateOnPaper(left, (1.0, 0.0, -0.55), ACROSS, (0.3, 1.2), origins[left]),
    ]


@pytest.fixture(scope="module")
def recorded(recorded_walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recording, the markers rounded to what 32 bits hold: a C3D file has no more."""
    folder = tmp_path_factory.mktemp("c3d")
    for name in ("walk", "static"):
        markers = read_trc(recorded_walk / f"{name}.trc")
        millimeters = (1000.0 * markers.position).astype(np.float32).astype(float)
        exact = Markers(markers.time, markers.names, millimeters / 1000.0, markers.path)
        write_trc(folder / f"{name}.trc", exact, decimals=10)
    for name in ("walk_grf.mot", "emg.sto"):
        (folder / name).write_bytes((recorded_walk / name).read_bytes())
    return folder


def vectors(folder: Path, side: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, point and free moment of a foot, in the axes of the files."""
    table = read_mot(folder / "walk_grf.mot")
    names = (f"ground_force_{side}_v", f"ground_force_{side}_p", f"ground_torque_{side}_")
    force, point, free = (np.stack([table[n + axis] for axis in "xyz"], axis=1)[:count] for n in names)
    # The point means nothing while the plate is unloaded.
    return force, np.where(force[:, 1:2] > 0.0, point, 0.0), free


def write_trial(folder: Path, text_edits: list[tuple[str, str]]) -> Path:
    text = (Path(__file__).parent / "rajagopal_walk.toml").read_text(encoding="utf-8")
    for old, new in [("../../../shared/data/rajagopal_walk/", ""), *text_edits]:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"trial_{len(list(folder.iterdir()))}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def without_forces() -> list[tuple[str, str]]:
    """Edits of the trial file: the C3D file, whose plates are for the contacts to divide."""
    text = (Path(__file__).parent / "rajagopal_walk.toml").read_text(encoding="utf-8")
    tables = text[text.index("[[force]]") : text.index("[muscles]")]
    return [
        (tables, ""),
        ('forces = "walk_grf.mot"\n', ""),
        ('"walk.trc"', '"walk.c3d"'),
        ('"static.trc"', '"static.c3d"'),
    ]


def write_recording(folder: Path, plates: list[PlateOnPaper], change=None) -> None:
    for name in ("walk", "static"):
        markers = read_trc(folder / f"{name}.trc")
        moving = name == "walk"
        channels = [
            plate.channels(*vectors(folder, side, SAMPLES * len(markers.time)))
            for plate, side in zip(plates, "rl", strict=True)
        ]
        write_c3d(
            folder / f"{name}.c3d",
            RATE,
            list(markers.names),
            1000.0 * markers.position,
            plates if moving else None,
            channels if moving else None,
            SAMPLES if moving else 1,
            change=change if moving else None,
        )


def moments(trial: Trial) -> np.ndarray:
    recorded = mechanics(trial)
    return projected_moments(recorded.model, recorded.motion, recorded.wrenches)


@pytest.fixture(scope="module")
def through_text(recorded: Path) -> np.ndarray:
    return moments(read_trial(write_trial(recorded, [])))


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """To a millionth of the peak of each moment."""
    assert found.shape == expected.shape
    assert (np.abs(found - expected).max(axis=0) <= 1e-6 * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize("kinds", [(2, 4), (1, 3)])
def test_moments_are_those_through_text_files(recorded, through_text, kinds):
    write_recording(recorded, lanes(kinds))
    trial = read_trial(write_trial(recorded, without_forces()))
    assert [plate.side for plate in trial.forces] == ["r", "l"]
    assert_same(moments(trial), through_text)


def test_a_foot_on_the_border_of_two_plates(recorded, through_text):
    """The second plate shows the forefoot alone, where the center of pressure hardly travels."""
    right, left = lanes((2, 4))
    markers = read_trc(recorded / "walk.trc")
    count = SAMPLES * len(markers.time)
    force, point, free = vectors(recorded, "r", count)
    share = at_border(force[:, 1], point[:, 0], under=0.8)[:, None]
    away = np.array([0.12, 0.0, 0.0])
    channels = [
        right.channels(share * force, point - (1.0 - share) * away, share * free),
        left.channels(*vectors(recorded, "l", count)),
        right.channels((1.0 - share) * force, point + share * away, (1.0 - share) * free),
    ]
    position = 1000.0 * markers.position
    plates = [right, left, right]
    write_c3d(recorded / "walk.c3d", RATE, list(markers.names), position, plates, channels, SAMPLES)
    edits = [edit for edit in without_forces() if "static" not in edit[0]]
    trial = read_trial(write_trial(recorded, edits))
    assert [plate.side for plate in trial.forces] == ["r", "l", "r"]
    # A plate that bears less than 20 N counts as unloaded.
    found = moments(trial)
    assert (np.abs(found - through_text).max(axis=0) <= 0.02 * np.abs(through_text).max(axis=0)).all()


def test_plates_named_with_their_foot(recorded, through_text):
    write_recording(recorded, lanes((2, 4)))
    tables = '[[force]]\nside = "l"\nplate = 2\n\n[[force]]\nside = "r"\nplate = 1\n\n'
    edits = without_forces()
    trial = read_trial(write_trial(recorded, [(edits[0][0], tables), *edits[1:]]))
    assert [plate.side for plate in trial.forces] == ["l", "r"]
    assert_same(moments(trial), through_text)


def test_markers_as_text_and_forces_from_c3d(recorded, through_text):
    write_recording(recorded, lanes((2, 4)))
    edits = [without_forces()[0], ('forces = "walk_grf.mot"', 'forces = "walk.c3d"')]
    assert_same(moments(read_trial(write_trial(recorded, edits))), through_text)


def test_the_forces_on_the_plates_and_the_other_axes(recorded, through_text):
    """Signs of another maker: what the foot does to the plate, and ORIGIN from the surface to the transducers."""

    def other(file):
        file["data"]["analogs"] *= -1.0
        group = file["parameters"]["FORCE_PLATFORM"]
        group["ORIGIN"]["value"] = -group["ORIGIN"]["value"]

    write_recording(recorded, lanes((2, 4)), other)
    trial = read_trial(write_trial(recorded, without_forces()))
    assert sum("sign is inverted" in note for note in trial.notes) == 2
    assert_same(moments(trial), through_text)


def test_who_stood_where_is_said(recorded):
    write_recording(recorded, lanes((2, 4)))
    notes = read_trial(write_trial(recorded, without_forces())).notes
    assert any(
        note.startswith("The right foot was found on plate 1 from 0.268 to 1.023 s; plate 1")
        for note in notes
    )
    assert any(note.startswith("The left foot was found on plate 2 from 0.837 to 1.589 s") for note in notes)


def test_both_feet_on_one_plate_are_refused(recorded):
    """A plate as wide as the room: while both feet are on the ground, nobody knows what each of them bears."""
    plate = PlateOnPaper(2, (1.0, 0.0, -0.2), AGAINST, (1.5, 0.8))
    markers = read_trc(recorded / "walk.trc")
    both = sum(plate.channels(*vectors(recorded, side, SAMPLES * len(markers.time))) for side in "rl")
    write_recording(recorded, lanes((2, 4)))
    write_c3d(
        recorded / "walk.c3d", RATE, list(markers.names), 1000.0 * markers.position, [plate], [both], SAMPLES
    )
    with pytest.raises(
        InputError, match=r"walk.c3d, plate 1 from 0.268 to 2.167 s: .* both feet stand on it"
    ):
        read_trial(write_trial(recorded, without_forces()))


def test_steps_outside_of_the_range_may_be_anybodys(recorded):
    """The second right step on the left plate, shifted to where no foot is: left out, and said."""
    plates = lanes((2, 2))
    write_recording(recorded, plates)

    def stranger(file):
        analog = file["data"]["analogs"]
        late = slice(round(1.9 * RATE * SAMPLES), round(2.1 * RATE * SAMPLES))
        force = np.tile([0.0, 500.0, 0.0], (late.stop - late.start, 1))
        there = np.tile([-0.1, 0.0, -0.75], (late.stop - late.start, 1))
        analog[0, 6:12, late] = plates[1].channels(force, there, 0.0 * force).T

    write_recording(recorded, plates, stranger)
    trial = read_trial(write_trial(recorded, without_forces()))
    assert any("plate 2 from 1.900 to 2.099 s" in note and "no foot is near" in note for note in trial.notes)
    left = next(plate for plate in trial.forces if plate.side == "l")
    assert (left.force[left.time > 1.7] == 0.0).all()
    with pytest.raises(InputError, match=r"plate 2 from 1.900(.|\n)*no foot is near(.|\n)*\[time\]"):
        read_trial(write_trial(recorded, [*without_forces(), ("end_s = 1.80", "end_s = 2.0")]))


PLATE = '[[force]]\nside = "r"\nplate = {}\n\n'


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            '[[force]]\nside = "r"\nforce = "v"\npoint = "p"\n\n',
            r"'force' is of no use(.|\n)*write plate = 1",
        ),
        ('[[force]]\nside = "r"\n\n', r"'plate' is missing"),
        (PLATE.format(3), r"there is no plate 3 in walk.c3d(.|\n)*from 1 to 2"),
        (PLATE.format(1.5), r"the value is 1.5(.|\n)*a whole number"),
        (PLATE.format(0), r"the value is 0"),
        (PLATE.format(1) + PLATE.format(1).replace('"r"', '"l"'), r"plate 1 is named twice"),
    ],
)
def test_tables_that_do_not_fit_a_c3d_file_name_their_line(recorded, tables, said):
    write_recording(recorded, lanes((2, 4)))
    edits = without_forces()
    path = write_trial(recorded, [(edits[0][0], tables), *edits[1:]])
    with pytest.raises(InputError, match=said) as raised:
        read_trial(path)
    assert "line " in str(raised.value) and path.name in str(raised.value)


def test_a_plate_number_is_of_no_use_with_columns(recorded):
    path = write_trial(recorded, [('side = "r"\n', 'side = "r"\nplate = 1\n')])
    with pytest.raises(InputError, match=r"line \d+, \[\[force\]\] plate: 'plate' is of no use with forces"):
        read_trial(path)


def test_a_file_without_plates_needs_forces(recorded):
    write_recording(recorded, lanes((2, 4)))
    edits = [*without_forces()[:2], ('"walk.trc"', '"static.c3d"'), ('"static.trc"', '"static.c3d"')]
    with pytest.raises(InputError, match=r"static.c3d has no force plates(.|\n)*under forces"):
        read_trial(write_trial(recorded, edits))


def test_corners_at_another_place_are_refused(recorded):
    def moved(file):
        file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"][0, :, 0] += 3000.0
        file["parameters"]["FORCE_PLATFORM"]["ORIGIN"]["value"][0, 0] -= 3000.0

    write_recording(recorded, lanes((2, 4)), moved)
    with pytest.raises(InputError, match="center of pressure of plate 1 is beside the plate"):
        read_trial(write_trial(recorded, without_forces()))


@pytest.mark.parametrize("named", [True, False])
def test_what_is_wrong_with_a_plate_names_the_plate(recorded, named):
    """The horizontal channels of the left plate are amplified too much."""

    def amplified(file):
        file["data"]["analogs"][0, 6:8] *= 20.0

    write_recording(recorded, lanes((2, 4)), amplified)
    edits = without_forces()
    tables = PLATE.format(1) + PLATE.format(2).replace('"r"', '"l"') if named else ""
    with pytest.raises(InputError, match=r"walk.c3d, plate 2: .* pushed sideways(.|\n)*CHANNEL") as raised:
        read_trial(write_trial(recorded, [(edits[0][0], tables), *edits[1:]]))
    assert "columns" not in str(raised.value)


def test_plates_that_stand_upright_show_that_another_axis_points_up(recorded):
    write_recording(recorded, lanes((2, 4)))
    edits = [*without_forces(), ('up = "+y"', 'up = "+z"')]
    with pytest.raises(
        InputError, match=r"line \d+, \[laboratory\] up: plate 1 of walk.c3d is not horizontal"
    ):
        read_trial(write_trial(recorded, edits))


def test_events_of_the_file_are_those_of_the_trial(recorded):
    write_recording(recorded, lanes((2, 4)), lambda file: file.add_event([0, 0.817], "Left", "Foot Strike"))
    (event,) = read_trial(write_trial(recorded, without_forces())).events
    assert (event.kind, event.side, event.source) == ("heel_strike", "l", "stated")
    assert abs(event.time - 0.817) < 1e-6


def one_step_each(kinds: tuple[int, int], folder: Path) -> tuple[list[PlateOnPaper], list[np.ndarray]]:
    """Two plates of 0.6 x 0.4 m that one step each hits somewhat beside the middle, and what they measure."""
    origins = {1: (0.0, 0.0, 0.0), 2: (2.0, -1.0, -40.0), 3: (200.0, 120.0, -54.0), 4: (-3.0, 5.0, -32.0)}
    plates, channels = [], []
    frames = read_trc(folder / "walk.trc").time.size
    beside = ([0.05, 0.0, 0.03], [-0.06, 0.0, -0.02])
    for side, kind, axes, offset in zip("rl", kinds, (AGAINST, ALONG), beside, strict=True):
        force, point, free = vectors(folder, side, SAMPLES * frames)
        step = (force[:, 1] > 20.0) & (np.arange(len(force)) < 1.7 * RATE * SAMPLES)
        # The right foot steps at 0.27 s and again at 1.49 s: the second step misses the plate.
        step &= (np.arange(len(force)) < 1.2 * RATE * SAMPLES) | (side == "l")
        middle = 0.5 * (point[step].min(axis=0) + point[step].max(axis=0)) * [1.0, 0.0, 1.0] + offset
        plate = PlateOnPaper(kind, tuple(middle), axes, (0.3, 0.2), origins[kind])
        plates.append(plate)
        nothing = np.where(step[:, None], 1.0, 0.0)
        there = np.where(step[:, None], point, plate.center)
        channels.append(plate.channels(nothing * force, there, nothing * free))
    return plates, channels


def write_steps(folder: Path, kinds: tuple[int, int], change=None) -> Path:
    """A trial with forces of one step on each plate; [[force]] is left out."""
    plates, channels = one_step_each(kinds, folder)
    for name in ("walk", "static"):
        markers = read_trc(folder / f"{name}.trc")
        moving = (plates, channels, SAMPLES) if name == "walk" else ()
        points = 1000.0 * markers.position
        changed = change if moving else None
        write_c3d(folder / f"{name}.c3d", RATE, list(markers.names), points, *moving, change=changed)
    return write_trial(folder, [*without_forces(), ("end_s = 1.80", "end_s = 1.38")])


def in_newton_meters(kind: int):
    """The moments of both plates, the points of type 1 too, in meters without a word in the file."""

    def change(file):
        matrix = file["parameters"]["FORCE_PLATFORM"]["CAL_MATRIX"]
        if kind == 4:
            scaled = np.array(matrix["value"])
            scaled[3:] /= 1000.0
            matrix["value"] = scaled
        else:
            file["data"]["analogs"][0, [3, 4, 5, 9, 10, 11]] /= 1000.0

    return change


def corners(turned):
    def change(file):
        group = file["parameters"]["FORCE_PLATFORM"]
        group["CORNERS"]["value"] = np.array(group["CORNERS"]["value"])[:, turned]

    return change


@pytest.mark.parametrize("kinds", [(2, 4), (1, 3)])
def test_small_plates_are_accepted(recorded, kinds):
    trial = read_trial(write_steps(recorded, kinds))
    assert [plate.side for plate in trial.forces] == ["r", "l"]
    assert [plate.number for plate in trial.forces] == [1, 2]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("turned", [[2, 3, 0, 1], [1, 2, 3, 0], [3, 0, 1, 2], [1, 0, 3, 2], [3, 2, 1, 0]])
def test_corners_that_begin_at_another_one_or_run_the_wrong_way_give_no_usable_result(recorded, turned):
    report = ms.check(write_steps(recorded, (2, 2), corners(turned)))
    assert report.judgement is not None and report.judgement.verdict == "not_usable"


def test_a_plate_that_the_other_foot_steps_on_as_well_is_refused(recorded):
    """Both feet, one after the other, on one plate as long as the room."""
    markers = read_trc(recorded / "walk.trc")
    plate = PlateOnPaper(2, (1.0, 0.0, -0.2), AGAINST, (1.5, 0.8))
    measured = []
    for side, until in (("r", 1.1), ("l", 1.7)):
        force, point, free = vectors(recorded, side, SAMPLES * len(markers.time))
        clock = np.arange(len(force)) / (RATE * SAMPLES)
        alone = ((clock < until) & (clock > until - 0.6 if side == "l" else clock < until))[:, None]
        measured.append(plate.channels(alone * force, point, alone * free))
    write_recording(recorded, lanes((2, 4)))
    path = recorded / "walk.c3d"
    write_c3d(path, RATE, list(markers.names), 1000.0 * markers.position, [plate], [sum(measured)], SAMPLES)
    edits = without_forces()
    assert {p.side for p in read_trial(write_trial(recorded, edits)).forces} == {"r", "l"}
    named = write_trial(recorded, [(edits[0][0], PLATE.format(1)), *edits[1:]])
    with pytest.raises(
        InputError, match=r"line \d+, \[\[force\]\] side: the left foot stands on plate 1 from 1.1"
    ):
        read_trial(named)
    before = named.read_text(encoding="utf-8").replace("end_s = 1.80", "end_s = 0.8")
    named.write_text(before, encoding="utf-8")
    assert [plate.side for plate in read_trial(named).forces] == ["r"]
