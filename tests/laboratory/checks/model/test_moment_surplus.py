"""What no force on the feet explains of moments names faults of columns and a shift in time, with their size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded

import musclesolve as ms
from benchmarks import sound_models
from benchmarks.planted_model_faults import WRONG_LOADS, Case, moments_of_wrong_loads, on_column, trials
from musclesolve.files import Table, read_mot
from musclesolve.laboratory.checks.model.examine import OF_MOMENTS
from musclesolve.laboratory.checks.model.given_moments import MomentCase, moment_case, surplus
from musclesolve.laboratory.checks.model.model_case import Motion
from musclesolve.laboratory.checks.model.moment_columns import columns_of_moments

WALKS = "moments", "belt 1", "belt 3"


@cache
def walk(name: str) -> Case:
    """A walk with its moments: over ground, or on a belt with moments of a model that has arms and turning knees."""
    recorded("fascicle_walk")
    with TemporaryDirectory() as folder:
        model, coordinates, moments, _ = trials(recorded("rajagopal_walk").parent)[name](Path(folder))
    assert moments is not None
    return Case(ms.read_osim(model), read_mot(coordinates), read_mot(moments), None, (), ())


def examined(name: str, change: Callable[[Table], Table]) -> MomentCase:
    """The moments of a walk after a change, before any check."""
    case = walk(name)
    assert case.moments is not None
    body = modeled(case.model, case.coordinates, change(case.moments)).measured
    found = moment_case(body, Motion.from_body(body))
    assert found is not None
    return found


def found_in(name: str, change: Callable[[Table], Table]):
    case = examined(name, change)
    for check in OF_MOMENTS:
        case = case.with_findings(list(check(case)))
    return [each for each in case.findings if each.code != "other_coordinates"]


def lost(table: Table) -> Table:
    """Without the numbers of a stretch of 80 ms."""
    middle = table.time[len(table.time) // 2]
    gone = np.abs(table.time - middle) < 0.04
    return replace(table, values=np.where(gone[:, None], np.nan, table.values))


@pytest.mark.parametrize("name", WALKS)
def test_frames_beside_a_gap_have_the_moments_of_the_file_or_are_left_out(name: str) -> None:
    whole, part = (surplus(examined(name, change)) for change in (lambda table: table, lost))
    assert whole is not None and part is not None
    same, at, own = np.intersect1d(whole.time, part.time, return_indices=True)
    assert same.size > 0.8 * part.time.size
    assert np.abs(whole.moments[at] - part.moments[own]).max() < 0.05 * np.abs(whole.moments).max()
    assert [each.code for each in found_in(name, lost)] == [each.code for each in found_in(name, lambda t: t)]


def column(table: Table, name: str) -> np.ndarray:
    return np.asarray(table.values[:, table.names.index(f"{name}_moment")])


def changed(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Table], Table]:
    return lambda table: on_column(table, f"{name}_moment", change)


def stepping(moment: np.ndarray) -> np.ndarray:
    """A moment with -40 N m from the middle on: no factor is its fault."""
    return moment - 40.0 * (np.arange(len(moment)) > len(moment) // 2)


def reversed_later(values: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(values)) < len(values) // 2, values, -values)


def exchanged(table: Table) -> Table:
    other = {"knee_angle_r_moment": "ankle_angle_l_moment", "ankle_angle_l_moment": "knee_angle_r_moment"}
    return replace(table, names=tuple(other.get(name, name) for name in table.names))


def of_both_sides(table: Table) -> Table:
    for side in "rl":
        table = on_column(table, f"hip_adduction_{side}_moment", lambda each: 1.5 * each)
    return table


def offset_of_both_sides(table: Table) -> Table:
    for side in "rl":
        table = on_column(table, f"hip_flexion_{side}_moment", lambda each: each + 25.0)
    return table


def sides_exchanged_later(table: Table) -> Table:
    values, middle = table.values.copy(), len(table.time) // 2
    legs = [
        name for name in table.names if name.startswith(("hip", "knee_angle", "ankle")) and "beta" not in name
    ]
    for name in legs:
        other = f"{name[:-8]}{'l' if name[-8] == 'r' else 'r'}_moment"
        values[middle:, table.names.index(name)] = table.values[middle:, table.names.index(other)]
    return replace(table, values=values)


def added(name: str, other: str, share: float = 1.0) -> Callable[[Table], Table]:
    return lambda table: on_column(table, f"{name}_moment", lambda each: each + share * column(table, other))


def test_a_fifth_less_of_a_moment_of_the_model_itself_is_named(recorded_walk: Path) -> None:
    """Inverse dynamics of the loads leaves nothing in the frames after a foot has left the ground."""
    model, coordinates, _, loads = trials(recorded_walk.parent)["service"](recorded_walk)
    read, motion = ms.read_osim(model), read_mot(coordinates)
    own = modeled(read, motion, loads=loads).measured
    assert own.dynamics is not None
    names = [name for name in read.coordinates if name in read.coordinate_number]
    forces = np.stack([own.dynamics.dynamics.column(name) for name in names], axis=1)
    ends = ["moment" if read.coordinates[name].rotational else "force" for name in names]
    columns = tuple(f"{name}_{end}" for name, end in zip(names, ends, strict=True))
    known = np.isfinite(forces).all(axis=1)
    table = Table(own.time[known], columns, forces[known], False, Path())
    for name in ("hip_flexion_r", "hip_adduction_l", "knee_angle_r", "ankle_angle_l"):
        body = modeled(read, motion, changed(name, lambda each: 0.8 * each)(table)).measured
        case = moment_case(body, Motion.from_body(body))
        assert case is not None
        (found,) = columns_of_moments(case)
        assert found.code == "moment_scale" and f"{name} is 0.8" in found.what, found.what


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (changed("knee_angle_l", reversed_later), "moment_sign", "the moment of knee_angle_l is reversed"),
        (added("ankle_angle_r", "knee_angle_r"), "moment_unlike", "of the moment of knee_angle_r"),
        (exchanged, "columns_exchanged", "knee_angle_r and ankle_angle_l"),
        (changed("knee_angle_r", lambda each: each - 15.0), "moment_offset", "knee_angle_r is -1"),
        (
            changed("knee_angle_r", lambda each: each + np.linspace(0.0, 25.0, len(each))),
            "moment_offset",
            "knee_angle_r drifts by +2",
        ),
        (changed("ankle_angle_l", lambda each: 1.4 * each), "moment_scale", "ankle_angle_l is 1."),
        (changed("ankle_angle_l", lambda each: 0.67 * each), "moment_scale", "ankle_angle_l is 0."),
        (
            changed("hip_rotation_r", lambda each: -each),
            "moment_sign",
            "the moment of hip_rotation_r is reversed",
        ),
        (added("hip_adduction_r", "hip_flexion_r", 0.3), "moment_unlike", "of the moment of hip_flexion_r"),
        (changed("hip_rotation_l", stepping), "moment_unlike", "hip_rotation_l"),
        (of_both_sides, "moment_scale", "hip_adduction_l and of hip_adduction_r is 1."),
        (offset_of_both_sides, "moment_offset", "hip_flexion_l and hip_flexion_r is +2"),
    ],
    ids=[
        "part",
        "sum",
        "exchange",
        "offset",
        "drift",
        "scale",
        "ankle",
        "rotation",
        "leak",
        "step",
        "plane",
        "twins",
    ],
)
def test_a_fault_of_a_column_has_its_name_and_no_other(
    name: str, change: Callable[[Table], Table], code: str, said: str
) -> None:
    (found,) = found_in(name, change)
    assert found.code == code and said in found.what, found.what


def test_a_fault_of_a_part_of_the_time_does_not_depend_on_the_last_digits() -> None:
    """Beside a factor of the whole time a factor until 1.13 s explains the same as one from 1.13 s on."""
    draw = np.random.default_rng(0)

    def noisy(table: Table) -> Table:
        factors = 1.0 + 1e-12 * draw.standard_normal(table.values.shape)
        return replace(table, values=factors * table.values)

    of_step = changed("hip_rotation_l", stepping)
    found = [found_in("moments", lambda table: noisy(of_step(table))) for _ in range(8)]
    assert {each.what for (each,) in found} == {each.what for (each,) in found[:1]}
    assert "from 1.13 to 1.75 s" in found[0][0].what


@pytest.mark.parametrize("name", ["moments", "belt 3"])
def test_legs_that_are_exchanged_from_a_time_on_are_found(name: str) -> None:
    assert found_in(name, sides_exchanged_later)[0].code == "sides_swapped"


@pytest.mark.parametrize("name", WALKS)
def test_the_repair_of_a_fault_leaves_no_finding(name: str) -> None:
    (found,) = found_in(name, added("knee_angle_l", "ankle_angle_l"))
    assert found.repair is not None

    def mended(table: Table) -> Table:
        assert found.repair is not None
        return found.repair(added("knee_angle_l", "ankle_angle_l")(table))

    assert found_in(name, mended) == []


@pytest.mark.parametrize("name", WALKS)
def test_a_delay_of_moments_is_known_to_a_few_milliseconds(name: str) -> None:
    def delay(by: float) -> tuple[float, float]:
        seen = surplus(examined(name, lambda table: replace(table, time=table.time + by)))
        assert seen is not None
        (late, _), (error, _) = seen.delay(float(seen.time.mean()))
        return float(late), float(error)

    sound, error = delay(0.0)
    assert abs(sound) < 0.007 and error < 0.004
    for by in (-0.02, 0.02):
        assert delay(by)[0] - sound == pytest.approx(by, abs=0.005)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("rate", [0.93, 1.08])
def test_a_clock_of_another_rate_is_named_and_mended(name: str, rate: float) -> None:
    def at_rate(table: Table) -> Table:
        middle = table.time.mean()
        return replace(table, time=middle + rate * (table.time - middle))

    (found,) = found_in(name, at_rate)
    assert found.code == "clock_rate" and f"run {1.0 / rate:.2f}"[:-1] in found.what, found.what
    assert found.repair is not None
    time = found.repair(at_rate(walk(name).moments)).time  # type: ignore[arg-type]
    assert np.ptp(time) == pytest.approx(np.ptp(walk(name).moments.time), rel=0.02)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("factor", [1.0 / 75.0, 0.5, 1.4])
def test_a_leg_in_another_unit_is_one_fault(name: str, factor: float) -> None:
    def of_leg(table: Table) -> Table:
        for column in [each for each in table.names if each.endswith("_l_moment")]:
            table = on_column(table, column, lambda each: factor * each)
        return table

    (found,) = found_in(name, of_leg)
    assert found.code == "moment_scale" and "hip_flexion_l and of" in found.what, found.what


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("angle", ["pelvis_tilt", "pelvis_rotation"])
def test_moments_are_not_accused_of_a_fault_of_the_motion(name: str, angle: str) -> None:
    """Factors that take most of the moments away explain everything, and nothing."""
    case = walk(name)
    turned = on_column(case.coordinates, angle, lambda each: -each)
    body = modeled(case.model, turned, case.moments).measured
    found = moment_case(body, Motion.from_body(body))
    assert found is not None and not list(columns_of_moments(found))


def test_forces_on_the_standing_feet_are_no_surplus() -> None:
    """Any wrench on a foot that stands changes nothing, and a moment of one joint alone does."""
    seen = surplus(examined("moments", lambda table: table))
    assert seen is not None
    alone = np.zeros((len(seen.time), len(seen.columns), 1))
    alone[:, list(seen.columns).index("knee_angle_r")] = 1.0
    assert np.linalg.norm(seen.of(alone)) > 0.1 * np.linalg.norm(seen.beyond[:, :, [0]])
    left = seen.left(seen.errors)[: seen.errors[:, :, 0].size]
    assert np.linalg.norm(left[:, 0]) < 1e-6 * np.linalg.norm(seen.errors[:, :, 0])


@pytest.mark.parametrize(("name", "side", "by"), [("moments", "r", 0.04), ("belt 1", "l", -0.04)])
def test_the_moments_of_one_leg_come_late(name: str, side: str, by: float) -> None:
    def late(table: Table) -> Table:
        values = table.values.copy()
        for k, column in enumerate(table.names):
            if f"_{side}_" in column:
                values[:, k] = np.interp(table.time - by, table.time, values[:, k])
        return replace(table, values=values)

    (found,) = [each for each in found_in(name, late) if each.code == "time_offset"]
    assert f"the {'right' if side == 'r' else 'left'} leg" in found.what
    assert ("late" if by > 0.0 else "early") in found.what


def of_loads(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A walk with the moments that its loads give."""
    files = trials(recorded("instrumented_knee").parent)[name](folder)
    monkeypatch.setitem(WRONG_LOADS, "as they are", lambda load: load)
    monkeypatch.setattr("benchmarks.planted_model_faults.pick", lambda draw, of: of[-1])
    return moments_of_wrong_loads(sound_models.walk(files), np.random.default_rng(0))[0]


def test_moments_without_a_root_that_lack_a_foot_at_the_ends_keep_their_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside other faults of the columns a leg would have 1.04 times the moments that it needs."""
    case = of_loads("knee", tmp_path, monkeypatch)
    assert case.moments is not None
    kept = [k for k, name in enumerate(case.moments.names) if not name.startswith("pelvis")]
    names = tuple(case.moments.names[k] for k in kept)
    moments = replace(case.moments, names=names, values=case.moments.values[:, kept])
    assert "moment_scale" not in {f.code for f in sound_models.findings(replace(case, moments=moments))}


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_leg_of_another_scale_is_named_where_a_foot_stood_beside_the_plates(
    factor: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = of_loads("overground", tmp_path, monkeypatch)
    assert case.moments is not None
    left = np.array(["_l_" in name for name in case.moments.names])
    scaled = replace(case.moments, values=case.moments.values * np.where(left, factor, 1.0))
    found = [
        f for f in sound_models.findings(replace(case, moments=scaled)) if f.code != "contact_without_force"
    ]
    assert [f.code for f in found] == ["moment_scale"], found
    gain, error = (
        float(found[0].what.split(words)[1].split()[0].strip(":")) for words in (" is ", "error of ")
    )
    assert abs(gain - factor) < 2.0 * error + 0.01 < 0.2 * factor
    assert not {f.code for f in sound_models.findings(case)} - {"contact_without_force"}
