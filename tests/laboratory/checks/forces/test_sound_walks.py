"""Sound recordings are not accused of rotated plates, however they look; plates that are rotated are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import other_walks as walks
import pytest
from examined import examined
from thorough import some
from trial_copy import TrialCopy

import musclesolve
from musclesolve.files import Trial
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.checks.forces.plate_axes import (
    best_rotation,
    horizontal_axes,
    leaning_force,
    rotation_matrix,
    way_of_pressure,
)
from musclesolve.studies.synthetic.faults import tilt_laboratory, tilt_plates

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
Change = Callable[[TrialCopy], None]
SOUND: dict[str, Change] = {
    **{
        f"{angle:+d} degrees off the axis": partial(walks.walk_obliquely, degrees=angle)
        for angle in (-25, 10, 45)
    },
    **{f"sideward force times {k}": partial(walks.scale_sideways, factor=k) for k in (0.5, 2.0)},
    **{
        f"skin 15 mm, {seed}": partial(walks.slide_skin, amplitude=0.015, frequency=0.92, seed=seed)
        for seed in (0, 3)
    },
    # Phases in which the sway goes along with the forward force of one plate, or of both.
    **{
        f"trunk {mm} mm at {hz} Hz, {k}": partial(
            walks.sway_trunk, amplitude=0.001 * mm, frequency=hz, phase=0.25 * np.pi * k
        )
        for mm, hz in ((30, 0.92), (8, 1.85))
        for k in (0, 4, 5)
    },
    **{
        f"sway {way}, {k}": partial(
            walks.sway, direction=way, amplitude=0.004, frequency=1.85, phase=0.5 * np.pi * k
        )
        for way in ((1.0, 0.0), (0.6, 0.8))
        for k in range(2)
    },
    "one leg pushes more": partial(
        walks.sway, direction=(1.0, 0.0), amplitude=0.01, frequency=0.92, phase=0.0
    ),
    "faster": partial(walks.speed_up, acceleration=0.4),
    "slower": partial(walks.speed_up, acceleration=-0.4),
    "pressure 30 mm off": partial(walks.displace_points, forward=0.02, left=0.022),
}


def recorded(trial: Path, folder: Path, *changes: Change) -> Path:
    copy = TrialCopy(trial)
    for change in changes:
        change(copy)
    return copy.write(folder)


def on_plate_axes(trial: Path):
    """Return the findings of the checks of the horizontal axes alone."""
    case, findings = load(trial)
    assert case is not None and not findings
    return [finding for check in (horizontal_axes, way_of_pressure) for finding in check(case)]


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", some(SOUND, 2))
def test_sound_walks_are_not_accused(name: str, recorded_walk_trial: Trial, tmp_path: Path) -> None:
    for number, trial in enumerate((STRIDE, recorded_walk_trial.path)):
        found = on_plate_axes(recorded(trial, tmp_path / str(number), SOUND[name]))
        assert not [finding for finding in found if finding.severity == "error"], found


@pytest.mark.in_part(2)
@pytest.mark.parametrize("side", ["r", "l"])
def test_steps_on_the_border_of_two_plates_are_not_accused(
    side: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    """Each of the plates shows a part of the sole, and the sum of both what one plate would show."""
    for number, trial in enumerate((STRIDE, recorded_walk_trial.path)):
        path = recorded(trial, tmp_path / str(number), partial(walks.step_on_borders, side=side))
        assert examined(path).codes == (), examined(path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("degrees", "oblique"), [(-20.0, 40.0), (20.0, -20.0)])
def test_plates_rotated_together_are_found_on_any_way(
    degrees: float, oblique: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    for number, trial in enumerate((STRIDE, recorded_walk_trial.path)):
        found = on_plate_axes(
            recorded(
                trial,
                tmp_path / str(number),
                lambda copy: walks.rotate_plates(copy, degrees, "rl"),
                lambda copy: walks.walk_obliquely(copy, oblique),
            )
        )
        assert [(f.code, f.where.plate) for f in found] == [("plate_axes", "right"), ("plate_axes", "left")]
        assert {f.severity for f in found} == {"error"}, found


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("degrees", "sides"), [(-10.0, "r"), (10.0, "rl"), (5.0, "rl"), (10.0, "r")])
def test_what_errors_of_the_motion_imitate_is_no_error(
    degrees: float, sides: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    for number, trial in enumerate((STRIDE, recorded_walk_trial.path)):
        found = on_plate_axes(
            recorded(trial, tmp_path / str(number), lambda copy: walks.rotate_plates(copy, degrees, sides))
        )
        assert "error" not in {finding.severity for finding in found}, found


@pytest.mark.in_part(2)
@pytest.mark.parametrize("degrees", [2.0, -3.0])
@pytest.mark.parametrize("tilt", [tilt_plates, tilt_laboratory])
def test_a_tilt_sideways_is_found_with_its_angle(
    tilt: Callable[..., None], degrees: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    """Over a stride the momentum hardly changes: the mean sideward force is the tangent of the tilt."""
    for number, trial in enumerate((STRIDE, recorded_walk_trial.path)):
        case, _ = load(recorded(trial, tmp_path / str(number), partial(tilt, left_deg=degrees)))
        assert case is not None
        (found,) = leaning_force(case)
        said = re.search(r"([-\d.]+) % to the left .* tilted, for instance by ([\d.]+) degrees", found.what)
        assert said and np.sign(float(said[1])) == np.sign(degrees)
        assert float(said[2]) == pytest.approx(abs(degrees), abs=0.2)


def step(time: np.ndarray, start: float) -> np.ndarray:
    """Horizontal force of a step of 0.6 s [N]: it brakes, then pushes; a little inwards."""
    phase = (time - start) / 0.6
    on = (phase > 0.0) & (phase < 1.0)
    along = np.where(on, -140.0 * np.sin(2.0 * np.pi * phase), 0.0)
    return np.stack([along, np.where(on, 35.0 * np.sin(np.pi * phase), 0.0)], axis=1)


def steps(count: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Forces of a walk over two plates of which each takes every other step, and the sum that they must be."""
    time = np.arange(0.0, 0.5 * count + 0.3, 0.01)
    feet = [
        sum(step(time, 0.5 * k) for k in range(foot, count, 2)) * [1.0, 1.0 - 2.0 * foot] for foot in (0, 1)
    ]
    return feet, feet[0] + feet[1], time


def smooth_error(time: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    rate, phase, height = rng.uniform(0.4, 3.0, 4), rng.uniform(0.0, 2.0 * np.pi, 4), rng.normal(size=4)
    waves = height @ np.cos(2.0 * np.pi * rate[:, None] * time + phase[:, None])
    return size * waves / waves.std()


GROUPS = [(0, 1), (0,), (1,)]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("count", [3, 6])
def test_random_errors_of_the_sideward_motion_are_hardly_ever_an_accusation(count: int) -> None:
    feet, due, time = steps(count)
    rng, accused = np.random.default_rng(5), 0
    for _ in range(1000):
        error = smooth_error(time, rng.uniform(0.2, 0.9) * due[:, 1].std(), rng)
        found = best_rotation(feet, due + np.stack([np.zeros_like(error), error], axis=1), GROUPS)
        accused += found is not None
    assert accused <= 2


@pytest.mark.parametrize("degrees", [-150.0, -60.0, -20.0, 15.0, 35.0])
@pytest.mark.parametrize("plates", GROUPS)
def test_the_angle_is_that_by_which_they_were_rotated(degrees: float, plates: tuple[int, ...]) -> None:
    feet, due, _ = steps(4)
    spoilt = [
        foot @ rotation_matrix(np.radians(degrees)) if k in plates else foot for k, foot in enumerate(feet)
    ]
    found = best_rotation(spoilt, due, GROUPS)
    if len(plates) == 1 and abs(degrees) < 25.0:
        assert found is None
        return
    assert found is not None and found[0] == plates
    assert np.degrees(found[1]) == pytest.approx(-degrees, abs=1e-6)
    assert found[2] == pytest.approx(1.0)


def test_a_rotation_that_only_braking_shows_is_none() -> None:
    feet, due, _ = steps(4)
    spoilt = [np.where(foot[:, :1] < 0.0, foot @ rotation_matrix(np.radians(20.0)), foot) for foot in feet]
    assert best_rotation(spoilt, due, GROUPS) is None


def test_plates_that_are_rotated_opposite_ways_are_not_one_rotation() -> None:
    feet, due, _ = steps(4)
    spoilt = [foot @ rotation_matrix(np.radians(a)) for foot, a in zip(feet, (15.0, -15.0), strict=True)]
    assert best_rotation(spoilt, due, GROUPS) is None
