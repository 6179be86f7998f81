"""Paths over every kind of wrap object, half and method, as OpenSim 4.6 has them: it runs in a process of its own.

The path engine has two answers for a path: the shortest one that goes around as OpenSim does, and the one that OpenSim
reports. The second is compared with OpenSim; where the first differs from it, that is said by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from opensim_answers import answers, task
from refusals import refused
from thorough import some
from wrap_models import HINGE, Thing, model_text, random_places, random_thing

from musclesolve import read_osim
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.geometry import NEGLIGIBLE, OpenSimGeometry, difference_note, path_lines
from musclesolve.models.opensim.model import rotation_xyz
from musclesolve.muscles.paths.engine import METHODS

COUNT = 30
NAMES = [f"m{k}" for k in range(COUNT)]
HALVES = ("all", "+x", "-x", "+y", "-y", "+z", "-z")
KINDS = [("WrapCylinder", "hybrid"), ("WrapSphere", "hybrid"), *(("WrapEllipsoid", each) for each in METHODS)]
SEEDS = {
    (kind, half, method): seed
    for seed, ((kind, method), half) in enumerate((each, half) for each in KINDS for half in HALVES)
}
CASES = [each for each in SEEDS if each[0] != "WrapCylinder" or each[1][-1] != "z"]
"""Without the quadrants along the axis of a cylinder: OpenSim's lengths jump there, and they are refused."""
TURNS = np.linspace(-0.5, 0.5, 4)


def compared(
    folder: Path,
    models: Mapping[int, Sequence[Thing]],
    placed: Callable[[Thing, int], np.ndarray] = lambda _, seed: random_places(COUNT, seed),
) -> list[tuple[OpenSimGeometry, np.ndarray, np.ndarray, np.ndarray]]:
    """For each model our geometry, OpenSim's lengths and arms (T, n), and the slopes of our lengths.

    models: what lies in the way, by the seed of the places of its muscles.
    """
    files = []
    for number, things in models.items():
        files.append(folder / f"{number}.osim")
        files[-1].write_text(model_text(things, placed(things[0], number)), encoding="utf-8")
    theirs = answers(*[task("paths", file, ["turn"], TURNS[:, None], muscles=NAMES) for file in files])
    found = []
    for file, answer in zip(files, theirs, strict=True):
        model, step = read_osim(file), 1e-6
        ours, ahead, behind = (
            opensim_geometry(model, {"turn": TURNS + s}, muscles=NAMES) for s in (0, step, -step)
        )
        slope = (ahead.length - behind.length) / (2.0 * step)
        length, arm = np.array(answer["length"], float), np.array(answer["arm"], float)[:, 0]
        found.append((ours, length, arm, slope))
    return found


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory):
    """Paths over one object."""
    things = {SEEDS[case]: [random_thing(*case, SEEDS[case])] for case in CASES}
    return dict(zip(CASES, compared(tmp_path_factory.mktemp("single"), things), strict=True))


@pytest.mark.in_part(4)
@pytest.mark.parametrize("case", some(CASES, 2))
def test_lengths_and_arms_of_opensim(single, case: tuple[str, str, str]) -> None:
    """To 0.01 mm, and none where OpenSim finds none; its search for tangent points may end elsewhere, once in 100."""
    ours, length, arm, _ = single[case]
    known = np.isfinite(length)
    np.testing.assert_array_equal(np.isfinite(ours.opensim_length), known)
    assert (np.abs(ours.opensim_length - length)[known] > 1e-5).mean() < 0.01
    assert (np.abs(ours.opensim_arm[:, 0] - arm)[known] > 1e-4).mean() < 0.03


@pytest.mark.parametrize("case", some(CASES, 2))
def test_no_difference_from_opensim_is_silent(single, case: tuple[str, str, str]) -> None:
    """Every muscle whose path is longer or shorter, or has other arms, by a millimeter is named."""
    ours, length, arm, _ = single[case]
    note = difference_note(ours)
    off = np.nan_to_num(np.abs(ours.length - length), nan=np.inf).max(axis=0) > 1.1 * NEGLIGIBLE
    off |= np.nan_to_num(np.abs(ours.moment_arm[:, 0] - arm), nan=np.inf).max(axis=0) > 1.3 * NEGLIGIBLE
    for name, differs in zip(NAMES, off, strict=True):
        assert not differs or f"{name} (" in note
    if case[0] == "WrapSphere":
        assert not note


def test_arms_are_the_slopes_of_lengths_but_on_a_half_of_an_ellipsoid(single) -> None:
    """There OpenSim's rule holds the path where no shortest one is, and arms belong to the tension at its points."""
    for (kind, half, _), (ours, _, _, slope) in single.items():
        wrong = np.abs(ours.moment_arm[:, 0] + slope) > 1e-6
        if kind != "WrapEllipsoid" or half == "all":
            assert wrong.mean() < 0.01  # a path that meets its object within the step
        else:
            assert wrong.mean() < 0.4


def test_paths_over_free_objects_are_opensims_but_shorter(single) -> None:
    """No half: never longer (OpenSim measures arcs by chords), and by how many mm shorter at most: none on a sphere."""
    most = {"WrapSphere": 1e-6, "WrapCylinder": 0.6, "WrapEllipsoid": 2.8}
    for (kind, half, _), (ours, length, _, _) in single.items():
        if half == "all":
            shorter = 1e3 * (length - ours.length)
            assert -0.005 < shorter.min() and shorter.max() < most[kind] and (shorter > 0.5).mean() < 0.01


def test_an_ellipsoid_whose_line_passes_on_the_other_half(single) -> None:
    """The path is held on the edge of its half; it does not go the long way around."""
    held = 0
    for (kind, half, method), (ours, length, _, _) in single.items():
        if kind == "WrapEllipsoid" and half != "all" and method == "hybrid":
            off = np.abs(ours.length - length)
            assert np.nanquantile(off, 0.95) < 1e-3
            held += int((np.abs(ours.length - ours.opensim_length) < 1e-5).sum())
    assert held > 100


@pytest.mark.thorough
def test_several_objects(tmp_path: Path) -> None:
    """OpenSim's rounds over two objects; without cylinders on a half, where its search for heights may not end."""
    rng = np.random.default_rng(4)
    free = [case for case in CASES if case[0] != "WrapCylinder" or case[1] == "all"]
    pairs = [[free[k] for k in rng.integers(len(free), size=2)] for _ in range(8)] + [[CASES[0], CASES[0]]]
    models = {
        k: [random_thing(*first, 50 + k, -0.05), random_thing(*last, 90 + k, 0.06)]
        for k, (first, last) in enumerate(pairs)
    }
    for ours, length, _, _ in compared(tmp_path, models):
        np.testing.assert_allclose(ours.opensim_length, length, atol=1e-4)


@pytest.fixture(scope="module")
def through_tori(tmp_path_factory: pytest.TempPathFactory):
    """Paths through the hole of a torus, and beside it."""
    folder, seeds = tmp_path_factory.mktemp("torus"), range(200, 203)
    things = {seed: [random_thing("WrapTorus", "all", "hybrid", seed)] for seed in seeds}
    return [
        (things[seed][0], each) for seed, each in zip(seeds, compared(folder, things, through), strict=True)
    ]


def through(thing: Thing, seed: int) -> np.ndarray:
    """Places on both sides of the plane of a ring, across which the straight line passes its hole, or beside it."""
    rng, ring = np.random.default_rng(seed), thing.radii[1]
    across = rng.uniform(-1.0, 1.0, (COUNT, 2, 2)) * np.array([[ring], [1.8 * ring]])
    height = rng.uniform(0.05, 0.15, (COUNT, 2, 1)) * np.array([[-1.0], [1.0]])
    places = np.concatenate([across, height], axis=2) @ rotation_xyz(thing.turn).T + thing.center
    return places - np.array([[[0.0], [1.0]]]) * HINGE


def test_a_torus_draws_paths_through_its_hole(through_tori) -> None:
    """OpenSim's path is over a cylinder that touches the ring; ours is the geodesic: 2 mm longer at most."""
    for _, (ours, length, arm, slope) in through_tori:
        np.testing.assert_allclose(ours.opensim_length, length, atol=1e-9)
        np.testing.assert_allclose(ours.opensim_arm[:, 0], arm, atol=1e-8)
        np.testing.assert_allclose(ours.moment_arm[:, 0], -slope, atol=1e-6)
        assert np.abs(ours.length - length).max() < 2e-3


def test_the_path_through_a_torus_lies_on_it(tmp_path: Path, through_tori) -> None:
    """Its arc has the distance of the tube from the ring everywhere."""
    for number, (thing, _) in enumerate(through_tori):
        file = tmp_path / f"{number}.osim"
        file.write_text(model_text([thing], through(thing, 200 + number)), encoding="utf-8")
        model = read_osim(file)
        tube, ring, _ = model.surfaces["thing0"].radii
        lines = path_lines(model, np.zeros((1, 1)), NAMES)
        for muscle in range(COUNT):
            line = lines.position[0, lines.muscle == muscle][: lines.used[0, muscle]]
            local = (line - thing.center) @ rotation_xyz(thing.turn)
            away = np.hypot(np.hypot(local[:, 0], local[:, 1]) - ring, local[:, 2])
            np.testing.assert_allclose(away[1:-1], tube, atol=1e-6)
            assert len(line) > 2 or away.min() > tube


@pytest.mark.parametrize("half", some(HALVES, 3))
def test_a_torus_anywhere_beside_opensim(tmp_path: Path, half: str) -> None:
    """OpenSim's search for a point of the ring may end elsewhere, in 5 of 100; no difference is silent."""
    seed = 300 + HALVES.index(half)
    ((ours, length, _, _),) = compared(tmp_path, {seed: [random_thing("WrapTorus", half, "hybrid", seed)]})
    alike = np.abs(ours.opensim_length - length) < 1e-6
    assert alike.mean() > 0.95
    note = difference_note(ours)
    off = (alike & (np.abs(ours.length - length) > 1.1 * NEGLIGIBLE)).any(axis=0)
    assert all(f"{name} (" in note for name, differs in zip(NAMES, off, strict=True) if differs)


@pytest.mark.parametrize("radii", [("0.05", "0.05"), ("-0.01", "0.05"), ("0", "0.05")])
def test_a_torus_without_a_hole_is_refused(tmp_path: Path, radii: tuple[str, str]) -> None:
    text = model_text([random_thing("WrapTorus", "all", "hybrid", 1)], random_places(2, 1))
    for tag, radius in zip(("inner_radius", "outer_radius"), radii, strict=True):
        text = re.sub(f"<{tag}>[^<]*<", f"<{tag}>{radius}<", text)
    file = tmp_path / "torus.osim"
    file.write_text(text, encoding="utf-8")
    with refused("bad_model", "inner_radius"):
        read_osim(file)


@pytest.mark.parametrize("half", ["z", "-z"])
def test_a_cylinder_with_a_quadrant_along_its_axis_is_refused_by_name(tmp_path: Path, half: str) -> None:
    file = tmp_path / "along.osim"
    text = model_text([random_thing("WrapCylinder", half, "hybrid", 1)], random_places(2, 1))
    file.write_text(text, encoding="utf-8")
    with refused("unsupported", "m0", "quadrant along its axis"):
        read_osim(file).chosen(["m0"])


def test_an_unknown_method_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "method.osim"
    file.write_text(
        model_text([random_thing("WrapEllipsoid", "all", "fan", 1)], random_places(2, 1)), "utf-8"
    )
    with refused("bad_model", "'fan'", "hybrid, midpoint, axial"):
        read_osim(file)
