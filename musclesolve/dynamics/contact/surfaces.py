"""Convex surfaces on bodies or the ground, and the distance, normal and nearest points of two surfaces.

A surface is a plane, or a ball rolled over an ellipsoid. A sphere is the ball alone, an ellipsoid of any order has no
ball, and a cylinder is a ball rolled over a thin ellipsoid: its ends are round, and its side bulges by a twentieth of
its length, so that the point of contact moves continuously from one end to the other as it tips.

The distance is the largest over all unit normals n of the gap between the two tangent planes,

    g(n) = n . c - h_1(n) - h_2(n),        c from the center of the first surface to the center of the second,

negative where they overlap: then it is minus the least translation that parts them. h is how far a shape reaches along
n (its support function), for an ellipsoid of any order (Silva 2003, 4.5)

    h(n) = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p,    1/p + 1/order = 1,    plus the radius of the ball rolled over it;

its gradient is the point where n is the normal, its second derivatives are the radii of curvature. Newton's method on
the sphere of normals finds the largest gap, from the line of centers (`kernel.contact`). Where surfaces overlap by
about half their size, the gap may have several maxima; the one found then need not be the largest.

Orders above 2 have flat faces; these are made to bulge by up to 0.4 % of the semi-axes (`kernel.contact.EDGE`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve.errors import input_error

Law = TypeVar("Law")
BULGE = 0.05
"""Half-width of the ellipsoid inside a cylinder, as a share of its half-length."""


@dataclass(frozen=True)
class Surface:
    """A surface on a body.

    name; model, body: names of model and body with the surface, both empty for the ground; center (3,) and axes (3, 3),
    its own axes as columns, as they lie in the standing layout of the model [m]; semi_axes (3,) and order of the
    ellipsoid and radius of the ball [m]. A plane has no size: its outward normal is the third axis, and it fills all
    that lies behind it.
    """

    name: str
    center: Array
    axes: Array = field(default_factory=lambda: np.eye(3))
    semi_axes: Array = field(default_factory=lambda: np.zeros(3))
    order: float = 2.0
    radius: float = 0.0
    is_plane: bool = False
    body: str = ""
    model: str = ""

    @property
    def extent(self) -> float:
        """Radius [m] of a sphere about the center that contains the surface; infinite for a plane."""
        return np.inf if self.is_plane else self.radius + float(np.linalg.norm(self.semi_axes))

    @classmethod
    def plane(
        cls,
        name: str,
        point: Sequence[float] | Array,
        normal: Sequence[float] | Array,
        body: str = "",
        model: str = "",
    ) -> Self:
        """A plane through a point.

        Args:
            name: of the surface.
            point: (3,) [m], in the standing layout.
            normal: (3,) outward direction.
            body, model: names of the body and model that carry the surface; empty for the ground.

        Examples:
            >>> ms.dynamics.Surface.plane("floor", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)).is_plane
            True
        """
        center, third = _vector(point, name, "point"), _vector(normal, name, "normal")
        length = _size(float(np.linalg.norm(third)), name, "normal")
        return cls(name, center, _axes_about(third / length), is_plane=True, body=body, model=model)

    @classmethod
    def sphere(
        cls, name: str, center: Sequence[float] | Array, radius: float, body: str = "", model: str = ""
    ) -> Self:
        """A sphere.

        Args:
            name: of the surface.
            center: (3,) [m], in the standing layout.
            radius: [m].
            body, model: names of the body and model that carry the surface; empty for the ground.

        Examples:
            >>> ms.dynamics.Surface.sphere("ball", (0.0, 0.0, 1.0), 0.1).radius
            0.1
        """
        radius = _size(radius, name, "radius")
        return cls(name, _vector(center, name, "center"), radius=radius, body=body, model=model)

    @classmethod
    def ellipsoid(
        cls,
        name: str,
        center: Sequence[float] | Array,
        semi_axes: Sequence[float] | Array,
        axes: Array | None = None,
        order: float = 2.0,
        body: str = "",
        model: str = "",
    ) -> Self:
        """An ellipsoid; orders above 2 approach a box (Silva 2003, 4.5).

        Args:
            name: of the surface.
            center: (3,) [m], in the standing layout.
            semi_axes: (3,) [m].
            axes: (3, 3) directions of the semi-axes as columns; the global frame's unless given.
            order: exponent of the equation of the surface, 2 for an ellipsoid.
            body, model: names of the body and model that carry the surface; empty for the ground.

        Examples:
            >>> egg = ms.dynamics.Surface.ellipsoid("egg", (0.0, 0.0, 0.5), (0.1, 0.1, 0.2))
            >>> egg.semi_axes.tolist()
            [0.1, 0.1, 0.2]
        """
        sizes = _vector(semi_axes, name, "semi_axes")
        for size in sizes.tolist():
            _size(size, name, "semi_axes")
        check_number(order, "order", "2 to 20", least=2.0, most=20.0, where=name)
        turned = np.eye(3) if axes is None else check_array(axes, f"axes of {name!r}", (3, 3), axis=0)
        if not np.allclose(turned.T @ turned, np.eye(3), atol=1e-9):
            raise input_error(
                "bad_model", where=name, problem=f"the axes of {name!r} are not perpendicular unit vectors"
            )
        return cls(name, _vector(center, name, "center"), turned, sizes, order, body=body, model=model)

    @classmethod
    def cylinder(
        cls,
        name: str,
        start: Sequence[float] | Array,
        end: Sequence[float] | Array,
        radius: float,
        body: str = "",
        model: str = "",
    ) -> Self:
        """A cylinder about the line from start to end, with round ends that do not reach beyond the line.

        Args:
            name: of the surface.
            start, end: (3,) [m] ends of the line, in the standing layout.
            radius: [m].
            body, model: names of the body and model that carry the surface; empty for the ground.

        Raises:
            InputError: a line without length.

        Examples:
            >>> bar = ms.dynamics.Surface.cylinder("bar", (0.0, -0.5, 1.0), (0.0, 0.5, 1.0), 0.02)
            >>> bar.center.tolist()
            [0.0, 0.0, 1.0]
        """
        first, last = _vector(start, name, "start"), _vector(end, name, "end")
        radius, length = _size(radius, name, "radius"), float(np.linalg.norm(last - first))
        _size(length, name, "length")
        half = max(0.5 * length - radius, 0.0)
        bulge = min(BULGE * half, 0.5 * radius)
        axes = _axes_about((last - first) / length)
        inner = np.array([bulge, bulge, half + bulge])
        return cls(name, 0.5 * (first + last), axes, inner, 2.0, radius - bulge, body=body, model=model)

    def pairs_with(
        self, surfaces: "Iterable[Surface]", law: Law | Mapping[str, Law]
    ) -> dict[tuple[str, str], Law]:
        """Pairs of this surface, such as the floor, with many others.

        Args:
            surfaces: the others.
            law: one contact law for all pairs, or surface name -> law.

        Returns:
            Names of the two surfaces -> law, for `ContactPairs.build`.

        Raises:
            InputError: a surface without a law.

        Examples:
            >>> floor = ms.dynamics.Surface.plane("floor", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
            >>> ball = ms.dynamics.Surface.sphere("ball", (0.0, 0.0, 1.0), 0.1, body="ball")
            >>> list(floor.pairs_with([ball], ms.dynamics.HertzContact(stiffness=1e5, restitution=0.7)))
            [('floor', 'ball')]
        """
        names = [surface.name for surface in check_surfaces(surfaces)]
        if isinstance(law, Mapping):
            check_known(names, "law for the surface", tuple(law))
        return {(self.name, name): law[name] if isinstance(law, Mapping) else law for name in names}


def check_surfaces(surfaces: object) -> list[Surface]:
    """Return surfaces as a list; refuse anything else."""
    several = check_type(surfaces, Iterable, "surfaces", "a list of surfaces")
    expected = "surfaces, such as Surface.plane, sphere, ellipsoid and cylinder make"
    return [check_type(surface, Surface, "surfaces", expected) for surface in several]


def _vector(vector: Sequence[float] | Array, name: str, what: str) -> Array:
    return check_array(vector, f"{what} of {name!r}", (3,), axis=0, where=name)


def _size(size: float, name: str, what: str) -> float:
    return check_number(size, f"{what} of {name!r}", "a positive number of meters", above=0.0, where=name)


def _axes_about(third: Array) -> Array:
    """A right-handed triad (3, 3), as columns, with this third axis."""
    across = np.cross(third, np.eye(3)[np.argmin(np.abs(third))])
    first = across / np.linalg.norm(across)
    return np.column_stack([first, np.cross(third, first), third])
