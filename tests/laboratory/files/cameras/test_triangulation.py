"""The iteration behind reconstruction: it begins next to the solution and stops when it is there."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.laboratory import camera_at, camera_ring
from musclesolve.laboratory.files.cameras import reconstruction as rays

# One camera so near that points are up to six times as far from the others.
UNEVEN = [
    camera_at("near", [1.8, 0.3, 1.0], [0.0, 0.0, 1.0]),
    camera_at("far", [0.2, 9.0, 2.0], [0.0, 0.0, 1.0]),
    camera_at("third", [-3.0, -3.0, 1.5], [0.0, 0.0, 1.0]),
]


def noisy(cameras: list, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = rng.uniform((-1.0, -0.5, 0.0), (1.0, 0.5, 2.0), (2000, 3))
    image = np.stack([camera.project(points) for camera in cameras])
    return image + noise * rng.normal(size=image.shape), np.ones(image.shape[:2], bool)


def misfits(cameras: list, points: np.ndarray, image: np.ndarray) -> np.ndarray:
    projected = np.stack([camera.project(points) for camera in cameras])
    total: np.ndarray = np.sum((image - projected) ** 2, axis=(0, 2))
    return total


def test_the_linear_start_has_residuals_in_pixels() -> None:
    image, seen = noisy(UNEVEN, 2.0)
    least = rays.solve_points(UNEVEN, image, seen).misfit
    excess = misfits(UNEVEN, rays.first_points(UNEVEN, image, seen), image) - least
    # Three equations over, of 2 px each; without the weights the start is off by as much as the noise itself.
    assert least.mean() == pytest.approx(3.0 * 4.0, rel=0.1)
    assert np.median(excess) < 1e-3 * np.median(least)
    assert excess.min() > -1e-9


@pytest.mark.parametrize(
    ("cameras", "noise", "most"), [(camera_ring(4), 0.5, 5), (camera_ring(4), 0.0, 4), (UNEVEN, 5.0, 9)]
)
def test_it_stops_when_it_is_there(
    monkeypatch: pytest.MonkeyPatch, cameras: list, noise: float, most: int
) -> None:
    image, seen = noisy(cameras, noise)
    sizes = []
    equations = rays._equations

    def counted(*arguments: object) -> object:
        sizes.append(len(arguments[1]))
        return equations(*arguments)

    monkeypatch.setattr(rays, "_equations", counted)
    found = rays.solve_points(cameras, image, seen)
    assert len(sizes) <= most
    # And is there: the slope of the misfit is round-off, of points that took part to the end and of others.
    for k in range(3):
        step = np.eye(3)[k] * 1e-4
        up, down = (misfits(cameras, found.points + sign * step, image) for sign in (1.0, -1.0))
        curvature = found.normal[:, k, k]
        assert np.abs((up - down) / (4.0 * 1e-4 * curvature)).max() < 1e-6
