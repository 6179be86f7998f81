"""Sound recordings that are cut, turned, scaled, sampled or labeled otherwise: nothing is said against them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from benchmarks.sound_variations import (
    EXCUSED,
    FACTS,
    KINDS,
    Sound,
    accusations,
    copy_of,
    cut,
    drafted,
    of_time,
    scale_forces,
    times_at,
    tried,
    without_fact,
    write,
)
from musclesolve.laboratory.checks.forces.newtons_law import time_offset
from musclesolve.laboratory.checks.forces.plate_axes import displaced_plates, passages
from musclesolve.laboratory.results.finding import texts
from musclesolve.studies import synthetic_recording
from tests.support.examined import loaded
from tests.support.recorded_data import recorded

WALKS = {"p1": "treadmill_walk/p1/walk.toml", "p3": "treadmill_walk/p3/walk.toml"}
WALKS |= {"s18": "treadmill_emg/s18/trial.toml", "implant": "instrumented_knee/walk_ss1.toml"}
WALKS |= {"implant nine": "instrumented_knee/walk_ss9.toml"}


@pytest.fixture(scope="module")
def stride(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return copy_of(Path(ms.data.reference_stride()), tmp_path_factory.mktemp("stride"))


class Fixed(np.random.Generator):
    """Draws of one value instead of uniform numbers; else those of a seed."""

    def __init__(self, value: float) -> None:
        super().__init__(np.random.PCG64(3))
        self.value = value

    def uniform(self, *args: object, **_: object) -> float:  # type: ignore[override]
        return self.value


def scaled(mass: float) -> Callable[[Sound], Sound]:
    return lambda copy: KINDS["scaled"](copy, Fixed(mass))[0]


def window(first: float, last: float) -> Callable[[Sound], Sound]:
    def change(copy: Sound) -> Sound:
        cut(copy, first, last)
        return copy

    return change


def drawn(kind: str, seed: int) -> Callable[[Sound], Sound]:
    return lambda copy: KINDS[kind](copy, np.random.default_rng(seed))[0]


def at_rate(rate: float) -> Callable[[Sound], Sound]:
    def change(copy: Sound) -> Sound:
        at = times_at(copy.walk.time, rate)
        position = of_time(copy.walk.time, copy.walk.position, at)
        copy.walk = replace(copy.walk, time=at, position=position)
        return copy

    return change


def of_mass(mass: float) -> Callable[[Sound], Sound]:
    def change(copy: Sound) -> Sound:
        copy.set_key("subject", "mass_kg", f"{mass}")
        return copy

    return change


# Each of these was accused once, of what the number behind it says.
ACCUSED = {
    "one whole contact of a foot": ("p1", window(2.17, 3.32)),  # pressure_offset
    "a ghost at the first frame": ("p3", window(2.48, 3.7)),  # marker_slipped
    "a ghost near the last frame": ("p3", window(1.22, 2.63)),  # marker_slipped
    "another number of frames in 30 ms": ("p1", scaled(1.64)),  # force_without_contact
    "a long foot": ("s18", scaled(1.62)),  # pressure_outside
    "a plate that bears nothing": ("p3", drawn("empty_plate", 7)),  # plate_axes
    "more frames of the same motion": ("implant", at_rate(500.0)),  # time_offset
    "a motion that needs no free moment": ("implant", of_mass(83.0)),  # free_moment
    "belts that rise by 9 %": ("p1", drawn("inclined", 4)),  # pressure_way
    "a foot on a plate for a moment": ("implant nine", window(0.10, 0.93)),  # plate_channel
    "a contact without its beginning": ("implant", window(0.14, 0.75)),  # time_offset
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_variation_of_the_stride_is_accused(kind: str, stride: Sound, tmp_path: Path) -> None:
    accused = [trial for trial in tried({"stride": stride}, tmp_path, 1, 1, [kind]) if trial.accusations]
    assert not accused, "\n".join(sentence for trial in accused for sentence in trial.sentences)


@pytest.mark.parametrize("case", ACCUSED)
def test_no_recording_is_accused_again(case: str, tmp_path: Path) -> None:
    name, change = ACCUSED[case]
    copy = copy_of(recorded(WALKS[name]), tmp_path)
    original = ms.check(write(deepcopy(copy), tmp_path / "original"))
    report = ms.check(write(change(copy), tmp_path / "varied"))
    assert not accusations(report, original, EXCUSED["files_cut"]), str(report)


def test_a_bend_of_a_tall_foot_is_no_slip(tmp_path: Path) -> None:
    """The toe marker of the original bends by 10 mm, on a person 1.18 times as tall by 12 mm."""
    folder = recorded("foreign_recordings/functional_walk")
    copy = copy_of(drafted(folder, tmp_path / "draft", 60.0, 1.68, "female"), tmp_path / "text")
    assert "marker_slipped" not in ms.check(write(scaled(1.65)(copy), tmp_path / "varied")).codes


def test_ten_frames_a_second_show_no_delay(tmp_path: Path) -> None:
    """They showed 29 ms where 120 frames a second show none."""
    copy = copy_of(recorded(WALKS["implant nine"]), tmp_path)
    for rate, known in ((60.0, True), (10.0, False)):
        case = loaded(write(at_rate(rate)(deepcopy(copy)), tmp_path / f"{rate:g}"))
        assert (time_offset(case.trial) is not None) == known


@pytest.mark.parametrize("rate", [25.0, 30.0])
def test_few_frames_show_no_way_of_the_pressure(rate: float, tmp_path: Path) -> None:
    """A foot is seen on the ground two frames too short, in which the center of pressure goes a tenth of its way."""
    copy = copy_of(recorded(WALKS["p1"]), tmp_path)
    codes = set(ms.check(write(at_rate(rate)(copy), tmp_path / "varied")).codes)
    assert "low_rate" in codes and "pressure_way" not in codes


def test_a_code_of_an_original_needs_a_fact(stride: Sound, tmp_path: Path) -> None:
    of_results = set(FACTS["of_results"])
    assert set().union(*FACTS.values()) - of_results < set(texts())
    faulty = deepcopy(stride)
    scale_forces(faulty, 1.2, 1.0)
    report = ms.check(write(faulty, tmp_path))
    assert "mass" in without_fact("stride", report) and "mass" not in without_fact("implant ss9", report)


def test_a_fault_is_no_sound_variation(stride: Sound, tmp_path: Path) -> None:
    original = ms.check(write(deepcopy(stride), tmp_path / "original"))
    faulty = deepcopy(stride)
    scale_forces(faulty, 1.2, 1.0)
    report = ms.check(write(faulty, tmp_path / "faulty"))
    assert {"mass", "verdict"} & set(accusations(report, original))


def test_times_at_a_rate_stay_within_the_recording() -> None:
    assert times_at(np.array([0.5, 1.0, 1.5]), 4.0).tolist() == [0.5, 0.75, 1.0, 1.25, 1.5]


def test_early_forces_of_a_short_window_are_found(tmp_path: Path) -> None:
    """18 ms early in 0.8 s: what soft tissue does to late forces raises no limit of early ones."""
    recorded("rajagopal_walk")
    copy = copy_of(Path(__file__).parents[2] / "real" / "rajagopal_walk.toml", tmp_path)
    first, last = copy.analyzed
    cut(copy, 0.5 * (first + last) - 0.4, 0.5 * (first + last) + 0.4)
    assert "time_offset" not in {f.code for f in ms.check(write(deepcopy(copy), tmp_path / "sound")).findings}
    copy.forces = replace(copy.forces, time=copy.forces.time - 0.018)
    (said,) = (f for f in ms.check(write(copy, tmp_path / "early")).findings if f.code == "time_offset")
    assert "ms early" in said.what


@pytest.mark.parametrize(("sideward", "is_found"), [(0.06, False), (0.08, True)])
def test_one_foot_on_plates_shows_a_displaced_plate(
    sideward: float, is_found: bool, stride: Sound, tmp_path: Path
) -> None:
    """The limit is higher for one foot, and the repair takes the whole displacement away."""
    copy, _ = KINDS["one_plate"](deepcopy(stride), np.random.default_rng(1))
    case = loaded(write(copy, tmp_path))
    (foot,) = passages(case)
    (plate,) = case.trial.forces
    outward = np.array([*foot.outward, 0.0])
    point = plate.point + (sideward - foot.off @ foot.outward) * outward
    case = case.with_trial(replace(case.trial, forces=(replace(plate, point=point),)))
    found = list(displaced_plates(case))
    assert [f.code for f in found] == ["pressure_offset"] * is_found
    for each in found:
        (after,) = passages(case.repaired(each))
        assert np.abs(after.off).max() < 3e-3


def test_a_tall_person_who_walks_slowly_is_not_filtered(tmp_path: Path) -> None:
    copy = copy_of(
        synthetic_recording(tmp_path, noise_mm=0.5, force_noise_n=1.0, strides=3), tmp_path / "text"
    )
    assert "over_filtered" not in ms.check(write(scaled(1.7)(copy), tmp_path / "varied")).codes
