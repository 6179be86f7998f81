"""Paths as functions of coordinates, inside a model and in a file beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from function_paths import COEFFICIENTS, KNEE_AND_ANKLE, function_path, with_function
from plain_leg import TEXT, save_leg
from recorded_data import recorded
from refusals import refused

import musclesolve as ms
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.read_model import with_function_paths


def beside(folder: Path, *paths: str) -> Path:
    file = folder / "paths.xml"
    file.write_text(
        '<OpenSimDocument Version="40600"><Set_FunctionBasedPath_><objects>'
        + "".join(paths)
        + "</objects></Set_FunctionBasedPath_></OpenSimDocument>",
        encoding="utf-8",
    )
    return file


def test_arms_are_derivatives(tmp_path: Path) -> None:
    model = ms.read_osim(with_function(tmp_path / "leg.osim"))
    a, b = np.random.default_rng(3).uniform(-1.0, 1.0, (2, 50))
    names = ("knee_angle_r", "ankle_angle_r", "hip_flexion_r")
    values = dict(zip(names, (a, b, 0.0 * a), strict=True))
    found = opensim_geometry(model, values, names, ("tib_ant_r", "soleus_r"))
    length = np.stack([a**0, b, b**2, a, a * b, a**2], axis=1) @ COEFFICIENTS
    np.testing.assert_allclose(found.length[:, 1], length, atol=1e-15)
    expected = -np.stack([0.04 + 0.05 * b - 0.12 * a, 0.02 - 0.06 * b + 0.05 * a, 0.0 * a], axis=1)
    np.testing.assert_allclose(found.moment_arm[:, :, 1], expected, atol=1e-15)
    (alone,) = opensim_geometry(model, values, names, ("tib_ant_r",)).length.T
    np.testing.assert_array_equal(found.length[:, 0], alone)


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("", "bad_format", "FunctionBasedPath"),
        (function_path("/forceset/other", KNEE_AND_ANKLE), "unknown_name", "other"),
        (function_path("soleus_r", "a b"), "unknown_name", "'a'"),
        (function_path("soleus_r", KNEE_AND_ANKLE, "SignalGenerator"), "unsupported", "soleus_r"),
        (function_path("soleus_r", f"{KNEE_AND_ANKLE} {KNEE_AND_ANKLE}"), "bad_model", "dimension 2"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, path: str, code: str, words: str) -> None:
    model = ms.read_osim(save_leg(tmp_path)[0])
    with refused(code, words):
        with_function_paths(model, beside(tmp_path, path))


def over_obstacles(file: Path, points: tuple[str, str], *obstacles: tuple[str, str, float, str]) -> Path:
    """The plain leg whose soleus passes obstacles on the shank: kind, place, radius and hint of each."""
    ends = [
        f'<Scholz2015GeometryPathPoint name="p{k}"><PathPoint name="pathpoint"><socket_parent_frame>/bodyset/tibia_r'
        f"</socket_parent_frame><location>{place}</location></PathPoint></Scholz2015GeometryPathPoint>"
        for k, place in enumerate(points)
    ]
    between = "".join(
        f'<Scholz2015GeometryPathObstacle name="o{k}"><socket_contact_geometry>/contactgeometryset/c{k}'
        f"</socket_contact_geometry><contact_hint>{hint}</contact_hint></Scholz2015GeometryPathObstacle>"
        for k, (*_, hint) in enumerate(obstacles)
    )
    shapes = "".join(
        f'<{kind} name="c{k}"><socket_frame>/bodyset/tibia_r</socket_frame><location>{place}</location>'
        f"<orientation>0 0 0</orientation><radius>{radius}</radius></{kind}>"
        for k, (kind, place, radius, _) in enumerate(obstacles)
    )
    start = TEXT.index('<GeometryPath name="path">', TEXT.index('name="soleus_r"'))
    end = TEXT.index("</GeometryPath>", start) + len("</GeometryPath>")
    path = f"<path_elements>{ends[0]}{between}{ends[1]}</path_elements>"
    text = f'{TEXT[:start]}<Scholz2015GeometryPath name="path">{path}</Scholz2015GeometryPath>{TEXT[end:]}'
    shapes = f'<ContactGeometrySet name="contactgeometryset"><objects>{shapes}</objects></ContactGeometrySet></Model>'
    file.write_text(text.replace("</Model>", shapes), encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", ["ContactCylinder", "ContactSphere"])
@pytest.mark.parametrize("beside", [-0.08, -0.02, 0.0, 0.02, 0.08])
@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_a_path_passes_obstacles_on_the_side_of_their_hints(
    tmp_path: Path, kind: str, beside: float, turned: float
) -> None:
    """In the plane across the axis: two tangents and an arc, or the straight line where it passes on this side."""
    radius, along = 0.05, 0.2
    c, s = np.cos(turned), np.sin(turned)
    points = [f"{beside * c - y * s} {beside * s + y * c} 0" for y in (along, -along)]
    obstacle = kind, "0 0 0", radius, f"{c} {s} 0"
    model = ms.read_osim(over_obstacles(tmp_path / "leg.osim", (points[0], points[1]), obstacle))
    (length,) = opensim_geometry(model, {"knee_angle_r": np.zeros(1)}, muscles=("soleus_r",)).length[0]
    away = np.hypot(beside, along)
    arc = 2.0 * (0.5 * np.pi - np.arctan2(beside, along) - np.arccos(radius / away)) % (2.0 * np.pi)
    straight = beside >= radius
    np.testing.assert_allclose(
        length, 2.0 * along if straight else 2.0 * np.sqrt(away**2 - radius**2) + radius * arc, rtol=1e-12
    )
    assert not any("OpenSim 4 reports" in note for note in model.notes)


def test_obstacles_are_passed_in_their_order(tmp_path: Path) -> None:
    """A path in the form of an S: behind the upper cylinder, before the lower one."""
    two = [("ContactCylinder", f"0 {y} 0", 0.03, f"{x} 0 0") for y, x in ((0.1, -1), (-0.1, 1))]
    path = over_obstacles(tmp_path / "leg.osim", ("0 0.3 0", "0 -0.3 0"), *two)
    (length,) = opensim_geometry(
        ms.read_osim(path), {"knee_angle_r": np.zeros(1)}, muscles=("soleus_r",)
    ).length[0]
    outer, inner = np.arccos(0.03 / 0.2), np.arccos(0.03 / 0.1)
    parts = (
        2.0 * np.sqrt(0.2**2 - 0.03**2),
        2.0 * np.sqrt(0.1**2 - 0.03**2),
        2.0 * 0.03 * (np.pi - outer - inner),
    )
    np.testing.assert_allclose(length, sum(parts), rtol=1e-12)


def test_a_path_of_another_kind_is_given_as_a_function(tmp_path: Path) -> None:
    """A path over an obstacle of another shape is refused by its kind, until a file has a function for it."""
    torus = "ContactTorus", "0 0 0", 0.05, "1 0 0"
    over_obstacles(tmp_path / "scholz.osim", ("0 0.2 0", "0 -0.2 0"), torus)
    model = ms.read_osim(tmp_path / "scholz.osim")
    for names in (None, ["soleus_r"]):
        with refused("unsupported", "Scholz2015GeometryPath over a ContactTorus", "--paths"):
            model.chosen(names)
    given = with_function_paths(model, beside(tmp_path, function_path("soleus_r", KNEE_AND_ANKLE)))
    (muscle,) = given.chosen(["soleus_r"])
    assert muscle.by_function is not None and not given.pathless and "soleus_r" in given.muscles
    assert "soleus_r" in {each.name for each in given.chosen()}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("leg.bioMod", "version 4\n", ("biorbd", "share --model leg.bioMod")),
        ("leg.xml", "<mujoco/>", ("MuJoCo", "share --model leg.xml")),
    ],
)
def test_models_of_other_programs_are_named_with_their_road(
    tmp_path: Path, name: str, text: str, words: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with refused("bad_format", *words):
        ms.read_osim(tmp_path / name)


def test_fitted_paths_of_a_walk_equal_opensim() -> None:
    folder = recorded("models_of_today")
    model = with_function_paths(
        ms.read_osim(folder / "walk_scaled.osim"), folder / "walk_function_based_paths.xml"
    )
    pose = {"hip_flexion_r": 0.4, "hip_adduction_r": -0.1, "hip_rotation_r": 0.2, "knee_angle_r": 0.6}
    values = {name: np.array([angle]) for name, angle in pose.items()} | {"ankle_angle_r": np.array([0.1])}
    found = opensim_geometry(model, values, ("hip_flexion_r", "knee_angle_r"), tuple(EXPECTED))
    rows = np.concatenate([found.length, found.moment_arm[0]]).T
    np.testing.assert_allclose(rows, list(EXPECTED.values()), atol=1e-12)


EXPECTED: dict[str, tuple[float, float, float]] = {
    "recfem_r": (0.5251301882144308, 0.05075101871923132, -0.045755788740803),
    "semimem_r": (0.40475753489116184, -0.0599796910366997, 0.042703481823677544),
    "glmax1_r": (0.2278553531178429, -0.04248386777462926, 0.0),
    "gasmed_r": (0.5315229837199489, 0.0, 0.02150089365868443),
}
"""Length [m], arms about hip flexion and knee angle [m] of OpenSim 4.6 (ModOpReplacePathsWithFunctionBasedPaths)."""
