"""Pictures of simulations: bodies as they moved, surfaces and forces where they are, the floor at its plane."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from browser import needs_chromium, opened
from refusals import refused
from surface_separation import separation

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.dynamics import (
    ContactPairs,
    HertzContact,
    Start,
    Surface,
    body_laws,
    body_surfaces,
    forward_human_model,
    simulate,
    simulate_contact,
)
from musclesolve.laboratory.report.picture.moving_picture import picture_page
from musclesolve.laboratory.report.picture.picture_data import Shapes, picture_data
from musclesolve.laboratory.report.picture.simulated import simulation_picture

FLOOR = 0.2
"""Height of the floor [m]."""


@pytest.fixture(scope="module")
def fall():
    """Two persons stand on a floor, a wall beside them; one is struck at the hip by the other's, and both sink."""
    model = forward_human_model()
    floor, wall = (
        Surface.plane("floor", (0, 0, FLOOR), (0, 0, 1)),
        Surface.plane("wall", (0, 1.0, 0), (0, -1, 0)),
    )
    skins = {name: body_surfaces(model, name) for name in ("one", "two")}
    pairs = {}
    for own in skins.values():
        pairs |= floor.pairs_with(own, body_laws(own))
    pairs[("one hip_l", "two hip_r")] = HertzContact(1e5)
    pairs[("wall", "two hip_l")] = HertzContact(1e5)
    contacts = ContactPairs.build(
        {"one": model, "two": model}, [floor, wall, *skins["one"], *skins["two"]], pairs
    )
    starts = {}
    for name, y, speed in (("one", 0.0, 0.0), ("two", 0.39, -1.0)):
        q = model.standing.copy()
        q[: model.topology.point_count] += (0.0, y, FLOOR + 0.945)
        qd = 0.0 * q
        qd[: model.topology.point_count, 1] = speed
        starts[name] = Start(model, q, qd)
    return simulate_contact(starts, contacts, np.linspace(0.0, 0.25, 51))


@pytest.fixture(scope="module")
def drawn(fall) -> xr.Dataset:
    return simulation_picture(fall)


@pytest.fixture(scope="module")
def page_of_fall(fall, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("fall") / "fall.html"
    assert ms.laboratory.save_picture(fall, file, title="Two who fall") == ()
    return file


def test_points_are_those_of_the_models_and_bones_keep_their_length(fall, drawn: xr.Dataset) -> None:
    data = picture_data(drawn)
    for name, motion in fall.motions.items():
        for point in ("hip_r", "head_top", "foot_l"):
            found = data.position[:, data.points.index(f"{name} {point}")]
            np.testing.assert_allclose(found, motion.q[:, motion.model.slot(point)], atol=1e-6)
    ends = data.position[:, data.lines]
    assert np.ptp(np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2), axis=0).max() < 1e-5
    owners = {(data.points[a].split()[0], data.points[b].split()[0]) for a, b in data.lines}
    assert owners == {("one", "one"), ("two", "two")}, "no bone joins two persons"
    joined = {data.points[k] for line in data.lines for k in line}
    assert joined == set(data.points), "every point is drawn"


def test_the_floor_is_at_its_plane_and_other_planes_are_shapes(drawn: xr.Dataset) -> None:
    data = picture_data(drawn)
    assert data.floor == FLOOR and data.level and data.shapes is not None
    assert "floor" not in data.shapes.names and "wall" in data.shapes.names
    assert data.shapes.half[data.shapes.names.index("wall")] > 1.0


def test_forces_begin_on_the_surfaces_that_press_and_are_those_of_the_simulation(
    fall, drawn: xr.Dataset
) -> None:
    data = picture_data(drawn)
    arrows, shapes = data.ground, data.shapes
    assert arrows.place is not None and shapes is not None
    shown = np.isfinite(arrows.force).all(axis=2)
    assert shown.any() and "one hip_l and two hip_r" in arrows.names
    assert "wall and two hip_l" not in arrows.names, "a pair that never pressed"
    for k, name in enumerate(arrows.names):
        p = fall.pairs.names.index(name)
        np.testing.assert_array_equal(shown[:, k], np.linalg.norm(fall.force[:, p], axis=1) > 0.0)
        np.testing.assert_array_equal(arrows.force[shown[:, k], k], fall.force[shown[:, k], p])
        if not name.startswith("floor"):
            continue
        place = arrows.place[shown[:, k], k]
        depth = fall.depth[shown[:, k], p]
        np.testing.assert_allclose(place[:, 2], FLOOR - 0.5 * depth, atol=2e-3)
        own = shapes.names.index(name.removeprefix("floor and "))
        for frame, at, deep in zip(np.flatnonzero(shown[:, k]), place, depth, strict=True):
            lowest = shapes.rims(frame, np.array([[0.0, 0.0, -1.0]]))[own, 0]
            assert lowest[2] == pytest.approx(FLOOR - deep, abs=1e-6), (
                "the drawn surface is that of the contact"
            )
            assert np.hypot(*(lowest - at)[:2]) < 1e-3
    hips = arrows.names.index("one hip_l and two hip_r")
    assert (arrows.force[shown[:, hips], hips, 1] > 0.0).all(), "the second is pushed away from the first"


def test_events_are_marked_in_the_frame_that_follows_them(fall, drawn: xr.Dataset) -> None:
    events = picture_data(drawn).events
    assert len(events) == len(fall.events) > 2
    for mark, event in zip(events, fall.events, strict=True):
        frame, shown = mark["frame"], (mark["pair"], mark["begins"], mark["speed"])
        assert shown == (event.pair, event.begins, event.speed)
        assert fall.time[frame] >= event.time > (fall.time[frame - 1] if frame else -1.0)


TURNED = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]


@pytest.mark.parametrize(
    "surface",
    [
        Surface.sphere("ball", (0.1, 0.2, 0.3), 0.25),
        Surface.ellipsoid("egg", (0.1, 0.2, 0.3), (0.1, 0.2, 0.35), TURNED),
        Surface.ellipsoid("box", (0.1, 0.2, 0.3), (0.1, 0.2, 0.35), TURNED, order=6.0),
        Surface.cylinder("limb", (0.0, 0.1, 0.0), (0.2, 0.3, 0.5), 0.07),
    ],
    ids=lambda surface: surface.name,
)
def test_an_outline_lies_on_its_surface_where_the_normal_is_the_one_asked_for(surface: Surface) -> None:
    """A plane moved to that point, facing the surface, touches it.

    Contact rounds the edges of orders above 2 by some hundredths of a millimeter (kernel.support); the drawn points
    obey |x_1/a_1|^order + |x_2/a_2|^order + |x_3/a_3|^order = 1.
    """
    allowed = 1e-9 if surface.order == 2.0 else 1e-4
    shapes = Shapes(
        ("it",),
        surface.center[None],
        surface.axes[None],
        surface.semi_axes[None],
        np.array([surface.order]),
        np.array([surface.radius]),
        np.zeros(1),
        np.zeros(1, np.intp),
        np.zeros(1, np.intp),
        np.zeros((1, 1, 3)),
        np.eye(3)[None, None],
        None,
    )
    normals = np.random.default_rng(1).standard_normal((12, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for normal, point in zip(normals, shapes.rims(0, normals)[0], strict=True):
        found = separation(Surface.plane("tangent", point, -normal), surface)
        assert abs(found.gap) < allowed
        if not surface.radius:
            own = ((point - surface.center) @ surface.axes) / surface.semi_axes
            assert np.sum(np.abs(own) ** surface.order) == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(found.point, point, atol=1e-8 if surface.order == 2.0 else 1e-3)


def in_page(text: str) -> dict:
    found = re.search(r'data-msp="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_free_model_and_one_without_a_head_are_pictures_too(small_fall: xr.Dataset) -> None:
    page = in_page(picture_page(small_fall))
    assert page["shapes"] is None and page["events"] == [] and page["ground"]["names"] == []
    assert len(page["heads"]) == len(page["ribs"]) == 1 and page["missing"] == []


@pytest.fixture(scope="module")
def small_fall() -> xr.Dataset:
    model = forward_human_model()
    return simulation_picture(
        simulate(model, model.standing, 0.0 * model.standing, np.linspace(0.0, 0.02, 3))
    )


@pytest.mark.thorough
def test_muscles_that_drive_have_the_activation_of_their_course(tmp_path: Path) -> None:
    problem = ms.studies.forward_problem(reference_stride())
    swing = problem.simulate(0.02)
    data = picture_data(simulation_picture(swing, problem.muscles))
    assert [each.about["key"] for each in data.quantities][:2] == ["activation", "force"]
    assert list(data.muscles) == [name for name in problem.muscles.names if name in data.muscles]
    chosen = [problem.muscles.names.index(name) for name in data.muscles]
    np.testing.assert_allclose(data.quantities[0].values, problem.muscles.course(swing.time)[:, chosen])
    path = problem.muscles.path(swing.q).length[:, chosen]
    for k, (first, end) in enumerate(zip(data.first[:-1], data.first[1:], strict=True)):
        steps = np.diff(data.path[:, first:end], axis=1)
        length = np.linalg.norm(steps, axis=2).sum(axis=1)
        assert np.abs(length - path[:, k]).max() < 1e-3, "the drawn line is the path"
    other = forward_human_model()
    free = simulate(other, other.standing, 0.0 * other.standing, np.linspace(0.0, 0.01, 2))
    with refused("conflict"):
        ms.laboratory.save_picture(free, tmp_path / "x.html", muscles=problem.muscles)
    with refused("bad_type"):
        ms.laboratory.save_picture(free, tmp_path / "x.html", muscles=["soleus"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shown", "options", "code"),
    [
        (7, {}, "bad_type"),
        ("nowhere.nc", {}, "missing_file"),
        (xr.Dataset(), {"title": "a walk"}, "conflict"),
        (xr.Dataset(attrs={"kind": "simulation"}), {}, "bad_result"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(
    tmp_path: Path, shown: object, options: dict, code: str
) -> None:
    with refused(code):
        ms.laboratory.save_picture(shown, tmp_path / "x.html", **options)
    assert list(tmp_path.iterdir()) == []


@needs_chromium
def test_the_page_plays_without_errors_or_requests(page_of_fall: Path, fall) -> None:
    with opened(page_of_fall) as found:
        page = found.page
        page.wait_for_function("() => document.querySelector('.ms-picture').picture !== undefined")
        page.evaluate("() => document.querySelector('.ms-picture').picture.pause()")
        show = "(frame) => document.querySelector('.ms-picture').picture.show(frame)"
        page.evaluate(show, len(fall.time) - 1)
        pressing = int((np.linalg.norm(fall.force[-1], axis=1) > 0.0).sum())
        arrows = "document.querySelector('.ms-picture').picture.scene.ground"
        visible = f"() => {arrows}.filter((each) => each.visible).length"
        assert page.evaluate(visible) == pressing > 0
        assert "floor and" in page.locator('[data-msp="verdict"]').inner_text()
        center = page.evaluate(
            """() => { const { scene, data } = document.querySelector('.ms-picture').picture;
                       const mesh = scene.shapes.bodies.flatMap((body) => body.children)[0];
                       mesh.updateWorldMatrix(true, false);
                       return [mesh.matrixWorld.elements.slice(12, 15), scene.scene.fog !== null]; }"""
        )[0]
        shapes = picture_data(simulation_picture(fall)).shapes
        nearest = np.linalg.norm(shapes.placed(len(fall.time) - 1)[0] - center, axis=1).min()
        assert nearest < 1e-3, "a surface stands where it was simulated"
        picture = "() => document.querySelector('[data-msp=\"canvas\"]').toDataURL()"
        draw = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        shots = [page.evaluate(picture)]
        for part in ("shapes", "ground"):
            page.locator(f'[data-msp="{part}"]').click()
            page.evaluate(draw)
            shots.append(page.evaluate(picture))
        assert len(set(shots)) == 3
        page.evaluate(show, 0)
        page.locator('[data-msp="play"]').click()
        page.wait_for_function(
            "() => Number(document.querySelector('[data-msp=\"canvas\"]').dataset.frame) > 3"
        )
        assert found.errors == [] and found.requests == []
