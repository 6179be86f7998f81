"""Muscles with a tendon that stretches: parameters, smooth curves, and the lengths of fiber and tendon.

With the coordinate z of the tendon (`TendonCurve`), affine in its strain and z = 1 at one maximum isometric force,

    l_T = L_s (1 + e_0) + L_s (e_1 - e_0) z,     F_T = F0 f_T(z),
    l cos(alpha) = L_MT - l_T,   l sin(alpha) = L0 sin(alpha_0)     (constant thickness),
    dl/dt = (dL_MT/dt - dl_T/dt) cos(alpha).

A rigid tendon is the special case without stretch, z being the force over F0.

Solvers with second derivatives need the Hill curves as smooth splines (`SmoothCurves`). Small changes make a family of
curves smooth, so that every muscle has a solution in every state. Where muscles work, the changes are far below the
measured accuracy of the curves:

- the force-velocity curve continues below -1, where it is zero, and force-length and force-velocity factors stay above
zero: x becomes (x + sqrt(x^2 + w^2)) / 2 with w = 2e-3 (half a per mille at zero, 1e-6 at one);
- where the force-velocity curve runs into a plateau with a corner (silva_2003 at 0.2), its last slope times (x +
sqrt(x^2 + 0.01^2)) / 2 - max(x, 0) is subtracted, with the distance x from the corner: 0.9 per cent there;
- the passive force begins with a bend instead of a corner: its strain s above the strain at zero force, as a share of
that at one norm force, becomes (s + sqrt(s^2 + 0.02^2)) / 2.

The changed curves are sampled, and cubic splines over equal steps pass through the samples, with continuous value,
slope and curvature. Newton's method needs second derivatives; families of Hill curves do not offer them, and some do
not have them. Between samples 1e-3 apart a spline differs from a smooth curve by less than 1e-10.

A force-length curve of tendons (`TendonCurve`) is a function of the coordinate z.

    strain = e_0 + z (e_1 - e_0),    F / F0 = f(z),    f(1) = 1,

with the strains e_1 at one maximum isometric force F0 and e_0 at z = 0. So a curve is the same for tendons of any
stiffness.

The balance of fiber and tendon needs force-velocity curves that increase strictly and without bound
(`LengtheningCurves`). Over the maximum isometric force F0, with the rate dz/dt of the coordinate,

    f_T(z) = [a f_l(l / L0) f_v(v / v_max) + b v / v_max] cos(alpha) + p(l) cos(alpha),
    v = (dL_MT/dt - stretch dz/dt) cos(alpha)

(Zajac 1989, Crit Rev Biomed Eng 17:359-411; with the damping b: Millard et al. 2013, J Biomech Eng 135:021005).
Without damping, an activation below `LEAST_ACTIVATION` is raised to it: otherwise no force would hold a fiber.

Between -v_max and v_max the curve is the smooth curve of the muscles, with a slope of at least
`LEAST_SLOPE`: some families are constant where the fiber lengthens fast. Beyond, it is a straight line with the slope
of its end, at least `OUTER_SLOPE`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_type
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.curves.millard_2013 import CurvePoint, Tabulated
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.muscles.muscle_parameters import Families, MuscleParameters
from musclesolve.muscles.strength import check_tendon_strains


class Curved(NamedTuple):
    """A function of one argument with its first and second derivative."""

    value: Array
    slope: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class SampleGrid:
    """A grid of equal steps: the first and the last argument, and the number of steps."""

    first: float
    last: float
    steps: int

    @property
    def points(self) -> Array:
        """Arguments of the samples (steps + 1,)."""
        return np.linspace(self.first, self.last, self.steps + 1)

    @property
    def step(self) -> float:
        """Distance between samples."""
        return (self.last - self.first) / self.steps


@dataclass(frozen=True, eq=False)
class SampledCurves:
    """Cubic splines (k) over one grid, straight beyond its ends.

    coefficient (4, steps, k): factors of the powers 0 to 3 of the distance from the sample before; column (n,): number
    of the curve of each muscle; value (steps + 1, k): the samples.
    """

    grid: SampleGrid
    coefficient: Array
    value: Array
    column: Indices

    @classmethod
    def from_samples(cls, grid: SampleGrid, samples: Array, column: Indices) -> Self:
        """Splines through samples (steps + 1, k), with the third derivative continuous next to the ends.

        column: the curve (n,) of each muscle, by number.
        """
        from scipy.interpolate import CubicSpline

        coefficient = np.ascontiguousarray(CubicSpline(grid.points, samples).c[::-1])
        return cls(grid, coefficient, samples, np.asarray(column, dtype=np.intp))

    def __call__(self, x: Array) -> Curved:
        """Values, slopes and curvatures at arguments (..., n), a column for each muscle."""
        grid = self.grid
        inside = np.clip(x, grid.first, grid.last)
        place, u = self.place(inside)
        c0, c1, c2, c3 = self.coefficient[:, place, self.column]
        value = c0 + u * (c1 + u * (c2 + u * c3))
        slope = c1 + u * (2.0 * c2 + 3.0 * u * c3)
        curvature = np.where(x == inside, 2.0 * c2 + 6.0 * u * c3, 0.0)
        return Curved(value + slope * (x - inside), slope, curvature)

    @cached_property
    def cubics(self) -> Array:
        """The coefficients, four of a step side by side, (k, steps, 4)."""
        return np.ascontiguousarray(self.coefficient.transpose(2, 1, 0))

    def inverse(self, y: Array) -> Array:
        """The arguments (T, n) of values (T, n) of increasing curves, from the samples; limited to the grid."""
        columns = [np.interp(y[:, i], self.value[:, k], self.grid.points) for i, k in enumerate(self.column)]
        return np.stack(columns, axis=1)

    def place(self, inside: Array) -> tuple[Indices, Array]:
        """Number of the interval, and distance from its beginning."""
        grid = self.grid
        # fmin: NaN as an argument has the value NaN, and no interval
        place = np.fmin((inside - grid.first) / grid.step, grid.steps - 1).astype(np.intp)
        return place, inside - (grid.first + place * grid.step)

    def muscles(self, which: Indices) -> "SampledCurves":
        """The curves of some of the muscles."""
        return SampledCurves(self.grid, self.coefficient, self.value, self.column[which])


def positive_part(x: Array, width: float | Array) -> Array:
    """(x + sqrt(x^2 + width^2)) / 2: x where it is large, 0 where it is very negative, width / 2 at zero."""
    # for negative x in a form without cancellation
    root = np.hypot(x, width)
    return np.where(x > 0.0, 0.5 * (x + root), 0.5 * width**2 / (root - np.minimum(x, 0.0)))


LEAST_FACTOR = 2e-3
PASSIVE_BEND = 0.02
PLATEAU_BEND, CORNER = 0.01, 0.1

_LENGTH = SampleGrid(0.0, 4.0, 4000)
_VELOCITY = SampleGrid(-1.5, 1.5, 3000)
_STRETCH = SampleGrid(-1.5, 2.5, 2000)
_TENDON = SampleGrid(-0.5, 3.0, 3500)


@dataclass(frozen=True, eq=False)
class SmoothCurves:
    """Curves of n muscles: active force by l / L0, factor by v / v_max, passive force by the share s of the passive
    strain, tendon force by z; all over their norm force.
    """

    active: SampledCurves
    velocity: SampledCurves
    passive: SampledCurves
    tendon: SampledCurves

    def muscles(self, which: Indices) -> "SmoothCurves":
        """The curves of some of the muscles."""
        return SmoothCurves(*(getattr(self, name).muscles(which) for name in self.__dataclass_fields__))


def smooth_curves(families: Families, passive: PassiveElement, elastic: Mask) -> SmoothCurves:
    """The curves of n muscles; elastic (n,): whether the tendon of each stretches."""
    count = len(passive.force)
    column = np.zeros(count, dtype=np.intp)
    for number, (_, members) in enumerate(families):
        column[members] = number
    tendons = [tendon_of_family(family.name) for family, _ in families]
    of_tendon = np.where(elastic, column, len(tendons))
    lengths, stretches = _LENGTH.points, positive_part(_STRETCH.points, PASSIVE_BEND)[:, None]
    active = [positive_part(family.active(lengths), LEAST_FACTOR) for family, _ in families]
    stretched = np.empty((len(stretches), count))
    for family, members in families:
        zero, one = passive.at_zero[members], passive.at_one[members]
        stretched[:, members] = family.passive(1.0 + zero + stretches * (one - zero), zero, one)
    pulled = [curve.force(_TENDON.points) for curve in (*tendons, RIGID)]
    return SmoothCurves(
        SampledCurves.from_samples(_LENGTH, np.stack(active, axis=1), column),
        SampledCurves.from_samples(
            _VELOCITY, np.stack([_velocity(family) for family, _ in families], axis=1), column
        ),
        SampledCurves.from_samples(_STRETCH, stretched, np.arange(count)),
        SampledCurves.from_samples(_TENDON, np.stack(pulled, axis=1), of_tendon),
    )


def _velocity(family: CurveFamily) -> Array:
    """Samples (steps + 1,) of a force-velocity curve; straight below -1 and above 1 with the slope next to it."""
    velocity = _VELOCITY.points
    low, high = (float(family.velocity_slope(np.array(end))) for end in (-1.0 + 1e-9, 1.0 - 1e-9))
    beyond = low * np.minimum(velocity + 1.0, 0.0) + high * np.maximum(velocity - 1.0, 0.0)
    factor = family.velocity(np.clip(velocity, -1.0, 1.0))
    # round the corner where the curve becomes flat while the fiber lengthens, if it has one
    inner = velocity[(velocity > 0.0) & (velocity < 1.0)]
    slope = family.velocity_slope(inner)
    corner = np.flatnonzero((slope[1:] == 0.0) & (slope[:-1] > CORNER))
    if corner.size:
        rising, flat = inner[int(corner[0])], inner[int(corner[0]) + 1]
        for _ in range(40):  # bisection
            middle = 0.5 * (rising + flat)
            rising, flat = (rising, middle) if family.velocity_slope(middle) == 0.0 else (middle, flat)
        last, x = float(family.velocity_slope(rising)), velocity - flat
        factor = factor - last * (positive_part(x, PLATEAU_BEND) - np.maximum(x, 0.0))
    return positive_part(factor + beyond, LEAST_FACTOR)


@dataclass(frozen=True)
class TendonCurve:
    """A tendon curve: force(z) over F0; strain_at_start: e_0, at z = 0; start: the z at zero force."""

    name: str
    force: Callable[[Array], Array]
    strain_at_start: float = 0.0
    start: float = 0.0


_C1, _C2, _C3 = 0.2, 0.995, 0.25


def _de_groote(z: Array) -> Array:
    """F / F0 = c1 exp(k (1 + strain - c2)) - c3 with f(1) = 1, c = 0.2, 0.995, 0.25 (De Groote et al. 2016, eq. S1).

    In z, whose e_0 is c2 - 1: c1 ((1 + c3) / c1)^z - c3.
    """
    return np.asarray(_C1 * ((1.0 + _C3) / _C1) ** np.asarray(z, dtype=float) - _C3)


_TOE_FORCE, _TOE_SHAPE = 0.33, 3.0


def _thelen(z: Array) -> Array:
    """Exponential toe up to F / F0 = 0.33, straight beyond (Thelen 2003, eq. 6), as in OpenSim's Thelen2003Muscle.

    The toe ends at the share 99 e^3 / (166 e^3 - 67) of the strain at one norm force.
    """
    z = np.asarray(z, dtype=float)
    end = 99.0 * np.exp(3.0) / (166.0 * np.exp(3.0) - 67.0)
    toe = _TOE_FORCE / np.expm1(_TOE_SHAPE) * np.expm1(_TOE_SHAPE * np.minimum(z, end) / end)
    return toe + (1.0 - _TOE_FORCE) / (1.0 - end) * np.maximum(z - end, 0.0)


_STIFFNESS, _TOE_END, _CURVINESS = 1.375, 2.0 / 3.0, 0.5


def _millard() -> Callable[[Array], Array]:
    """Two Bezier corners up to 2/3 F0, straight beyond with the slope 1.375 per strain at F0 (Millard et al. 2013).

    The defaults of OpenSim's TendonForceLengthCurve.
    """
    end = 1.0 - (1.0 - _TOE_END) / _STIFFNESS
    foot = end / 10.0
    middle = 1.0 - (1.0 - 0.5 * _TOE_END) / _STIFFNESS
    slope = 0.5 * _TOE_END / (middle - foot)
    bend = foot + 0.5 * (middle - foot)
    corner = CurvePoint(bend, slope * (bend - foot), slope)
    points = (CurvePoint(0.0, 0.0, 0.0), corner, CurvePoint(end, _TOE_END, _STIFFNESS))
    curve = Tabulated.from_points(points, [_CURVINESS, _CURVINESS])

    def force(z: Array) -> Array:
        z = np.asarray(z, dtype=float)
        return curve.value(z) + _STIFFNESS * np.maximum(z - end, 0.0)

    return force


def _rigid(z: Array) -> Array:
    """Force over F0 of a rigid tendon, whose coordinate z is the force."""
    return np.asarray(z, dtype=float)


RIGID = TendonCurve("rigid", _rigid)
"""The curve of a tendon without stretch: z is the force over F0."""


@cache
def tendon_curves() -> dict[str, TendonCurve]:
    """All tendon curves by name."""
    start = float(np.log(_C3 / _C1) / np.log((1.0 + _C3) / _C1))
    curves = (
        TendonCurve("de_groote_2016", _de_groote, _C2 - 1.0, start),
        TendonCurve("thelen_2003", _thelen),
        TendonCurve("millard_2013", _millard()),
    )
    return {curve.name: curve for curve in curves}


_OF_FAMILY = {
    "silva_2003": "de_groote_2016",
    "de_groote_2016": "de_groote_2016",
    "thelen_2003": "thelen_2003",
}


def tendon_of_family(family: str) -> TendonCurve:
    """The tendon curve of a family of Hill curves; silva_2003, which has none, uses de_groote_2016."""
    return tendon_curves()[_OF_FAMILY.get(family, "millard_2013")]


LEAST_ACTIVATION = 0.01
"""Least activation in the balance without damping, as in OpenSim's equilibrium muscles."""
LEAST_SLOPE = 1e-3
OUTER_SLOPE = 0.1
"""Least slope of the force-velocity curve beyond v_max, in isometric forces per v_max."""

_GRID = SampleGrid(-1.0, 1.0, 2000)


@dataclass(frozen=True, eq=False)
class LengtheningCurves:
    """Force-velocity curves of n muscles, without bound; outer (2, n): slopes below -v_max and above v_max."""

    curve: SampledCurves
    outer: Array

    @classmethod
    def from_force_velocity(cls, velocity: SampledCurves) -> Self:
        """Curves over v / v_max from force-velocity curves."""
        from scipy.interpolate import PchipInterpolator

        kinds, column = np.unique(velocity.column, return_inverse=True)
        points = np.broadcast_to(_GRID.points[:, None], (_GRID.steps + 1, len(kinds)))
        curves = SampledCurves(velocity.grid, velocity.coefficient, velocity.value, kinds)
        # slopes of at least `LEAST_SLOPE`: the curves are unchanged from rest to either side as far as they are steeper
        forces, rest = curves(points).value, _GRID.steps // 2
        rise = np.maximum(np.diff(forces, axis=0), LEAST_SLOPE * _GRID.step)
        upward = np.cumsum(rise[rest:], axis=0)
        downward = np.cumsum(rise[:rest][::-1], axis=0)[::-1]
        at_rest = forces[rest : rest + 1]
        samples = np.concatenate([at_rest - downward, at_rest, at_rest + upward])
        spline = PchipInterpolator(_GRID.points, samples)  # keeps an increasing function increasing
        coefficient = np.ascontiguousarray(spline.c[::-1])
        slopes = np.maximum(spline.derivative()(np.array([-1.0, 1.0])), OUTER_SLOPE)
        curve = SampledCurves(_GRID, coefficient, samples, column.astype(np.intp))
        return cls(curve, slopes[:, column])

    def __call__(self, velocity: Array) -> Array:
        """Force over the isometric force, at v / v_max (..., n)."""
        inside = np.clip(velocity, -1.0, 1.0)
        beyond = (
            np.minimum(velocity + 1.0, 0.0) * self.outer[0] + np.maximum(velocity - 1.0, 0.0) * self.outer[1]
        )
        return self.curve(inside).value + beyond


LEAST_ALONG = 2e-3
"""Lower bound of the fiber length along the tendon, about this share of L0, where the path is shorter than the
tendon.
"""


@dataclass(frozen=True, eq=False)
class ElasticMuscles:
    """Muscles (n) whose tendons stretch.

    parameters: of the muscles; curves: their Hill and tendon curves, smooth; start (n,): the z without force;
    strain_at_start, strain_by_coordinate (n,): strain = strain_at_start + z strain_by_coordinate, which is zero where
    the tendon is rigid.
    """

    parameters: MuscleParameters
    curves: SmoothCurves
    start: Array
    strain_at_start: Array
    strain_by_coordinate: Array

    @classmethod
    def from_parameters(cls, parameters: MuscleParameters, elastic: bool = True) -> Self:
        """Make the muscles with tendons that have `tendon_strain` at one maximum isometric force.

        Args:
            parameters: of n muscles.
            elastic: False: all tendons are rigid; a tendon of no length is rigid in any case.

        Raises:
            InputError: numbers that no muscle, or no tendon that stretches, can have.
        """
        check_type(parameters, MuscleParameters, "parameters", "the parameters of muscles").check()
        stretches = (parameters.tendon_slack_length > 0.0) & elastic
        strained = [name for name, stretch in zip(parameters.names, stretches, strict=True) if stretch]
        check_tendon_strains(parameters.tendon_strain[stretches], strained, "these muscles")
        of_family = {k: family.name for family, members in parameters.families for k in members.tolist()}
        tendons = [tendon_of_family(of_family[k]) if stretches[k] else RIGID for k in range(len(stretches))]
        at_start = np.array([curve.strain_at_start for curve in tendons])
        return cls(
            parameters,
            smooth_curves(parameters.families, parameters.passive, stretches),
            start=np.array([curve.start for curve in tendons]),
            strain_at_start=at_start,
            strain_by_coordinate=np.where(stretches, parameters.tendon_strain - at_start, 0.0),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return self.parameters.names

    @property
    def elastic(self) -> Mask:
        """Muscles (n,) whose tendon stretches."""
        return np.asarray(self.strain_by_coordinate > 0.0)

    @cached_property
    def rest(self) -> Array:
        """Tendon lengths (n,) at z = 0 [m]."""
        return self.parameters.tendon_slack_length * (1.0 + self.strain_at_start)

    @cached_property
    def stretch(self) -> Array:
        """Changes of tendon length (n,) by z [m], zero where the tendon is rigid."""
        return self.parameters.tendon_slack_length * self.strain_by_coordinate

    @cached_property
    def thickness(self) -> Array:
        """Thickness L0 sin(alpha_0) (n,) of the muscles [m]."""
        return self.parameters.optimal_fiber_length * np.sin(self.parameters.pennation_angle)

    def along(self, musculotendon_length: Array, z: Array) -> Array:
        """Length of the fiber along the tendon (T, n) [m], kept above zero."""
        free = musculotendon_length - self.rest - self.stretch * z
        return positive_part(free, LEAST_ALONG * self.parameters.optimal_fiber_length)

    def strain(self, z: Array) -> Array:
        """Tendon strain (T, n) at tendon coordinates z (T, n)."""
        return self.strain_at_start + self.strain_by_coordinate * z

    def rigid(self) -> Self:
        """Return the same muscles with rigid tendons of slack length."""
        none = np.zeros_like(self.start)
        return replace(self, strain_at_start=none, strain_by_coordinate=none)

    def muscles(self, which: Indices) -> "ElasticMuscles":
        """Some of the muscles, by number."""
        return ElasticMuscles(
            self.parameters.muscles(which),
            self.curves.muscles(which),
            self.start[which],
            self.strain_at_start[which],
            self.strain_by_coordinate[which],
        )


def tendon_energy(muscles: ElasticMuscles, z: Array) -> Array:
    """F0 stretch int f_T dz [J] from the start of the curve, at zero force, to coordinates z (T, n).

    Zero where the tendon is slack or rigid. The spline is integrated exactly.
    """
    curve, start = muscles.curves.tendon, muscles.start
    stored = _integral(curve, np.maximum(z, start)) - _integral(curve, start)
    return np.asarray(muscles.parameters.max_isometric_force * muscles.stretch * stored)


def _integral(curve: SampledCurves, x: Array) -> Array:
    """Integral of curves from the first sample to x (..., n), straight beyond the ends."""
    grid, step = curve.grid, curve.grid.step
    powers = np.arange(1.0, 5.0)
    pieces = np.einsum("psk,p->sk", curve.coefficient, step**powers / powers)
    sums = np.concatenate([np.zeros((1, pieces.shape[1])), np.cumsum(pieces, axis=0)])
    inside = np.clip(x, grid.first, grid.last)
    place, u = curve.place(inside)
    c0, c1, c2, c3 = curve.coefficient[:, place, curve.column]
    within = u * (c0 + u * (c1 / 2.0 + u * (c2 / 3.0 + u * c3 / 4.0)))
    end, beyond = curve(inside), x - inside
    return np.asarray(sums[place, curve.column] + within + beyond * (end.value + 0.5 * end.slope * beyond))
