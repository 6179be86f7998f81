"""Paths as lines, for drawing: as long as the muscles, through their points, on the surfaces that they touch."""

from __future__ import annotations

import numpy as np
import pytest
from wrapped_leg import wrapped_paths

from musclesolve.dynamics import Model
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.muscles.paths.engine import KINDS, PathLayout, PathLines, solve_paths, trace_paths
from musclesolve.muscles.paths.kernel import entry

RADII = {"cylinder": (0.03, 0.0, 0.0), "sphere": (0.03, 0.03, 0.03), "ellipsoid": (0.035, 0.02, 0.045)}
SINGLE = 5e-7
"""Rounding of the length to single precision [m]."""


def drawn_lengths(lines: PathLines) -> np.ndarray:
    """(T, n) lengths of the lines."""
    segments = np.linalg.norm(np.diff(lines.position.astype(float), axis=1), axis=2)
    own = lines.muscle[1:] == lines.muscle[:-1]
    return np.stack(
        [segments[:, own & (lines.muscle[1:] == m)].sum(axis=1) for m in range(lines.used.shape[1])], axis=1
    )


def over(kind: str, seed: int = 3, poses: int = 60):
    """One muscle over one object: layout, ends, centers, axes, and where it is on the path."""
    rng = np.random.default_rng(seed)
    layout = PathLayout(
        point_muscle=np.zeros(2, dtype=int),
        kind=np.array([KINDS.index(kind)]),
        radii=np.array([RADII[kind]]),
        half_length=np.array([1.0]),
        side_axis=np.zeros(1, dtype=int),
        side_sign=np.zeros(1),
        wrap_muscle=np.zeros(1, dtype=int),
        wrap_object=np.zeros(1, dtype=int),
        wrap_first=np.zeros(1, dtype=int),
        wrap_last=np.ones(1, dtype=int),
    )
    position = np.array([[-0.12, 0.0, 0.0], [0.12, 0.0, 0.0]]) + rng.normal(0.0, 0.015, (poses, 2, 3))
    axes = np.linalg.qr(np.eye(3) + 0.3 * rng.normal(size=(poses, 1, 3, 3)))[0]
    return (
        layout,
        position,
        np.ones((poses, 2), dtype=bool),
        rng.normal(0.0, 0.01, (poses, 1, 3)),
        axes * np.sign(np.linalg.det(axes))[..., None, None],
    )


@pytest.mark.parametrize("kind", RADII)
def test_the_line_lies_on_the_surface_and_is_as_long_as_the_path(kind: str) -> None:
    given = over(kind)
    lines, nodes = trace_paths(*given), solve_paths(*given)
    wrapped = lines.used[:, 0] > 2
    assert wrapped.sum() > 20
    lack = nodes.length - drawn_lengths(lines)
    assert (lack > -SINGLE).all() and lack.max() < 1e-3, "chords are shorter than arcs, and not by much"
    _, _, _, center, axes = given
    own = np.einsum("tij,tki->tkj", axes[:, 0], lines.position[:, 1:7] - center)[wrapped]
    own = own[..., :2] if kind == "cylinder" else own
    radii = np.where(np.array(RADII[kind]) > 0.0, RADII[kind], 0.03)[: own.shape[-1]]
    np.testing.assert_allclose(((own / radii) ** 2).sum(axis=-1), 1.0, atol=1e-4)


def test_over_cylinders_alone_the_smaller_function_solves_the_same(monkeypatch) -> None:
    given = over("cylinder")
    with monkeypatch.context() as patch:
        patch.setattr(entry, "PATHS", None)  # not needed
        smaller, lines = (
            [solve_paths(*given, as_opensim=rules) for rules in (False, True)],
            trace_paths(*given),
        )
    monkeypatch.setattr(entry, "OVER_CYLINDERS", None)
    monkeypatch.setattr(entry, "OPENSIM_OVER_CYLINDERS", None)
    assert over("ellipsoid")[0].cylinders_alone is False and solve_paths(*over("sphere")).length.all()
    monkeypatch.setattr(PathLayout, "cylinders_alone", False)
    given = over("cylinder")
    np.testing.assert_array_equal(trace_paths(*given).position, lines.position)
    for rules, small in enumerate(smaller):
        for mine, whole in zip(small, solve_paths(*given, as_opensim=bool(rules)), strict=True):
            np.testing.assert_array_equal(mine, whole)
    assert np.abs(smaller[1].length - smaller[0].length).max() > 1e-6, "the rules differ"


@pytest.mark.parametrize("kind", RADII)
def test_the_points_of_an_arc_are_evenly_spaced(kind: str) -> None:
    lines = trace_paths(*over(kind))
    steps = np.linalg.norm(np.diff(lines.position[:, 1:7].astype(float), axis=1), axis=2)
    steps = steps[lines.used[:, 0] > 2]
    np.testing.assert_allclose(steps, steps.mean(axis=1, keepdims=True) * np.ones(5), rtol=0.02, atol=2e-7)


def test_a_path_that_touches_nothing_is_its_points() -> None:
    layout, position, on, center, axes = over("sphere")
    lines = trace_paths(layout, position, on, center + np.array([0.0, 0.5, 0.0]), axes)
    assert (lines.used == 2).all()
    trimmed = PathLines.joined([lines], len(position))
    assert trimmed.position.shape[1] == 2
    np.testing.assert_allclose(trimmed.position, position, atol=1e-7)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023"])
def test_lines_of_a_leg_are_as_long_as_its_muscles(model: Model, motion, name: str) -> None:
    paths = scale_muscles(model, load_muscle_set(name), "r").paths
    check_lengths(paths, motion)


def test_lines_over_all_kinds_of_objects_and_conditional_points(model: Model, motion) -> None:
    check_lengths(wrapped_paths(model), motion)


def check_lengths(paths, motion) -> None:
    lines = paths.lines(motion.q, motion.coordinates)
    length = paths.evaluate(motion.q, motion.coordinates).length
    lack = length - drawn_lengths(lines)
    assert lack.min() > -2e-6 and lack.max() < 0.004, (lack.min(), lack.max())
    assert (np.abs(lack) < 1e-6).mean() > 0.3, "straight paths are exact"
    assert lines.used.max() <= np.bincount(lines.muscle).max()


def test_what_a_muscle_does_not_need_repeats_its_last_point(model: Model, motion) -> None:
    lines = wrapped_paths(model).lines(motion.q, motion.coordinates)
    start = np.searchsorted(lines.muscle, np.arange(lines.used.shape[1] + 1))
    varied = 0
    for t, m in np.ndindex(lines.used.shape):
        own = lines.position[t, start[m] : start[m + 1]]
        rest = own[lines.used[t, m] :]
        varied += len(rest) > 0
        assert (rest == own[lines.used[t, m] - 1]).all()
    assert varied > 0
