"""Parts and other forms of sound files of moments have no finding that the whole file does not have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded
from sound_moments import part, variations, windows

import musclesolve as ms
from benchmarks.planted_model_faults import Case, on_column, trials
from musclesolve.files import Table, read_mot
from musclesolve.laboratory.checks.model.examine import OF_MOMENTS, findings_of_body
from musclesolve.laboratory.checks.model.given_moments import moment_case
from musclesolve.laboratory.checks.model.model_case import Motion
from musclesolve.laboratory.checks.model.moment_columns import held_moments


def case_of(name: str, folder: Path) -> Case:
    recorded("fascicle_walk")
    files = trials(recorded("rajagopal_walk").parent)[name](folder)
    model, coordinates, moments, _ = files
    assert moments is not None
    return Case(ms.read_osim(model), read_mot(coordinates), read_mot(moments), None, (), ())


def findings(case: Case):
    body = modeled(case.model, case.coordinates, case.moments).measured
    examined = moment_case(body, Motion.from_body(body))
    assert examined is not None
    for check in OF_MOMENTS:
        examined = examined.with_findings(list(check(examined)))
    yield from examined.findings


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", ["belt 3", "belt 1", "moments"])
def test_parts_and_other_numbers_of_sound_moments_have_no_other_finding(name: str, tmp_path: Path) -> None:
    case = case_of(name, tmp_path)
    whole = {each.code for each in findings(case)}
    for text, form in chain(variations(case), windows(case, 0.2, (0.8, 1.0, 1.2))):
        new = [each.what for each in findings(form) if each.code not in whole]
        assert not new, (text, new)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", ["belt 1", "belt 3", "moments"])
def test_a_reversed_column_and_late_moments_are_found_in_parts_of_a_stride(name: str, tmp_path: Path) -> None:
    late = []
    for text, form in windows(case_of(name, tmp_path), 0.1, (1.0, 1.1, 1.2)):
        table, time = form.moments, form.coordinates.time
        assert table is not None
        if min(table.time[-1], time[-1]) - max(table.time[0], time[0]) < 1.0 - 1e-6:
            continue
        for column in ("hip_flexion_r_moment", "knee_angle_r_moment"):
            opposite = replace(form, moments=on_column(table, column, lambda each: -each))
            assert "moment_sign" in {each.code for each in findings(opposite)}, (text, column)
        shifted = replace(form, moments=replace(table, time=table.time + 0.06))
        late.append("time_offset" in {each.code for each in findings(shifted)})
    assert len(late) > 10 and np.mean(late) > 2.0 / 3.0, late


def test_parts_of_a_slightly_late_motion_have_no_shift_and_late_moments_have_one() -> None:
    """The whole file is 10 ms late, within the limit; in parts of it chance adds up to 10 ms."""
    folder = recorded("foreign_recordings") / "opensim_rra"
    table = read_mot(folder / "task_InverseDynamics.sto")
    coordinates = read_mot(folder / "task_Kinematics_q.sto")
    case = Case(ms.read_osim(folder / "model_adjusted.osim"), coordinates, table, None, (), ())
    for first, last in ((0.7, 1.7), (0.5, 1.7), (0.9, 1.7)):
        assert not list(findings(replace(case, moments=part(table, first, last)))), (first, last)
    late = replace(case, moments=replace(table, time=table.time + 0.03))
    assert "time_offset" in {each.code for each in findings(late)}


def held(case: Case, column: str, change: Callable[[np.ndarray], np.ndarray]) -> list[str]:
    """What is said of a column that a change keeps at one value."""
    assert case.moments is not None
    spoiled = on_column(case.moments, column, change)
    body = modeled(case.model, case.coordinates, spoiled).measured
    examined = moment_case(body, Motion.from_body(body))
    assert examined is not None
    return [each.what for each in held_moments(examined) if "is exactly" in each.what]


def test_a_moment_that_rounds_to_zero_is_no_stretch_and_one_that_drops_to_zero_is(tmp_path: Path) -> None:
    case = case_of("moments", tmp_path)
    assert case.moments is not None
    time, column = case.moments.time, "hip_adduction_r_moment"
    before = (time.mean() - time) / 0.4
    gone = np.clip(before, 0.0, 1.0) ** 2
    landed = np.where(before < -0.75, 1.0, gone)
    for share, unit in ((gone, 0.1), (landed, 0.1), (landed, 0.5), (landed, 1.0)):
        said = held(case, column, lambda each, share=share, unit=unit: unit * np.round(each * share / unit))
        assert not said, said
    for dropped in (before < 0.0, (before < 0.0) & (before > -0.75)):
        said = held(case, column, lambda each, dropped=dropped: -0.0 + np.where(dropped, 0.0, each))
        assert said and not any("-0 N m" in each for each in said), said


def test_a_gap_hides_no_held_moment_and_is_none(tmp_path: Path) -> None:
    case = case_of("moments", tmp_path)

    def spoiled(each: np.ndarray, first: int) -> np.ndarray:
        column = each.copy()
        column[first : first + 60] = column[first : first + 1]
        column[40:60] = np.nan
        return column

    assert held(case, "hip_flexion_r_moment", lambda each: spoiled(each, len(each) // 2))
    assert not held(case, "hip_flexion_r_moment", lambda each: spoiled(each, len(each)))


def lines(table: Table, rate: float) -> Table:
    """A table interpolated from a lower rate [Hz]."""
    few = np.arange(table.time[0], table.time[-1] + 1.0 / rate, 1.0 / rate)
    columns = [np.interp(table.time, few, np.interp(few, table.time, each)) for each in table.values.T]
    return replace(table, values=np.stack(columns, axis=1))


@pytest.mark.parametrize("name", ["moments", "belt 1", "belt 3"])
def test_rows_that_are_no_samples_are_named(name: str, tmp_path: Path) -> None:
    """Moments and coordinates from 8 Hz, and 0.1 s of the moments pasted twice; sound files have neither."""
    case = case_of(name, tmp_path)
    assert case.moments is not None
    twice, count = case.moments.values.copy(), round(0.1 / float(np.diff(case.moments.time).mean()))
    middle = len(twice) // 2
    twice[middle : middle + count] = twice[middle - count : middle]
    said = {"low_rate", "frames_repeated"}
    for spoiled, codes in (
        (case, set[str]()),
        (replace(case, moments=lines(case.moments, 8.0)), {"low_rate"}),
        (replace(case, coordinates=lines(case.coordinates, 8.0)), {"low_rate"}),
        (replace(case, moments=replace(case.moments, values=twice)), {"frames_repeated"}),
    ):
        found = findings_of_body(modeled(spoiled.model, spoiled.coordinates, spoiled.moments))
        assert {each.code for each in found} & said == codes


@pytest.mark.parametrize("name", ["moments", "belt 1"])
def test_a_moment_that_freezes_until_the_end_is_found(name: str, tmp_path: Path) -> None:
    case = case_of(name, tmp_path)
    for column in ("hip_flexion_r_moment", "hip_flexion_l_moment", "knee_angle_l_moment"):
        for share in (0.5, 0.7, 0.8):
            assert held(case, column, lambda each, share=share: frozen(each, share)), (column, share)


def frozen(values: np.ndarray, share: float) -> np.ndarray:
    """Values that stay as they are from a share of their frames on."""
    first = int(share * len(values))
    return np.where(np.arange(len(values)) < first, values, values[first])
