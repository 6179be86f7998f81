"""The contact surfaces of the human body (Silva 2003, Table 3.3)."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known
from musclesolve.dynamics.contact.contact_pairs import HertzContact
from musclesolve.dynamics.contact.surfaces import Surface, check_surfaces
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.errors import input_error

SLIP_SPEED = 0.05
"""Slip speed of friction with the body [m/s]: friction is the stiffest part of a fall; a fifth costs twice as long."""


def body_surfaces(model: Model, called: str = "") -> list[Surface]:
    """The 26 surfaces of a forward human model, scaled with the lengths of its segments (Silva 2003, 3.1).

    Args:
        model: a forward human model.
        called: name of the model where a simulation has several; its surfaces are then "{called} head" and so on.

    Raises:
        InputError: a model without the bodies and points of `forward_human`.

    Examples:
        >>> len(ms.dynamics.body_surfaces(ms.dynamics.forward_human_model()))
        26
    """
    positions = dict(zip(check_model(model).topology.coordinate_names, model.standing, strict=True))
    positions["mid_hip"] = np.zeros(3)
    missing = {name for row in _rows() for name in row["line"]} - set(positions)
    missing |= {row["body"] for row in _rows()} - set(model.topology.body_index)
    if missing:
        raise input_error(
            "bad_model",
            problem=f"the model {model.topology.name!r} has no {', '.join(map(str, sorted(missing)[:4]))}",
            expected="the forward human model, or one with the same points and bodies",
            remedy="make surfaces with Surface.sphere, cylinder and ellipsoid",
        )
    surfaces = []
    for row in _rows():
        start, end = (positions[name] for name in row["line"])
        factor = float(np.linalg.norm(end - start)) / row["length"]
        name, carrier = f"{called} {row['name']}".strip(), (row["body"], called)
        center = (
            start + row.get("at", 0.0) * (end - start) + factor * np.array(row.get("offset", np.zeros(3)))
        )
        if row["kind"] == "cylinder":
            surfaces.append(Surface.cylinder(name, start, end, factor * row["radius"], *carrier))
        elif row["kind"] == "sphere":
            surfaces.append(Surface.sphere(name, center, factor * row["radius"], *carrier))
        else:
            sizes = factor * np.array(row["semi_axes"])
            surfaces.append(Surface.ellipsoid(name, center, sizes, body=row["body"], model=called))
    return surfaces


def body_laws(surfaces: Iterable[Surface], **options: float) -> dict[str, HertzContact]:
    """Contact laws of the surfaces of the body with a hard floor (Lankarani & Nikravesh; Silva 2003, 4.3).

    Args:
        surfaces: of `body_surfaces`.
        **options: fields of `HertzContact` other than the stiffness, such as friction.

    Returns:
        Surface name -> law.

    Raises:
        InputError: a surface that is not one of `body_surfaces`.

    Examples:
        >>> surfaces = ms.dynamics.body_surfaces(ms.dynamics.forward_human_model())
        >>> laws = ms.dynamics.body_laws(surfaces, friction=0.5)
        >>> laws["head"].friction
        0.5
    """
    stiffness = {row["name"]: row["stiffness"] for row in _rows()}
    by_surface = {}
    for surface in check_surfaces(surfaces):
        name = surface.name.removeprefix(f"{surface.model} ")
        check_known([name], "surface of the body", tuple(stiffness))
        by_surface[surface.name] = HertzContact(stiffness[name], **{"slip_speed": SLIP_SPEED} | options)
    return by_surface


@cache
def _rows() -> tuple[dict, ...]:
    """Rows of the table, rows of right limbs repeated for the left side."""

    def left(name: str) -> str:
        return name[:-1] + "l" if name.endswith("_r") else name

    rows = []
    for row in bundled_toml("musclesolve.dynamics.model", "definitions", "forward_surfaces.toml")["surface"]:
        rows.append(row)
        if row["name"].endswith("_r"):
            line = [left(name) for name in row["line"]]
            rows.append(row | {"name": left(row["name"]), "body": left(row["body"]), "line": line})
    return tuple(rows)
