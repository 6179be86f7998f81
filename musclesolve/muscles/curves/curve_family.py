"""Families of Hill curves by name: closed forms, their protocol, and a check that curves are possible for a muscle.

Silva (2003), eq. 6.10-6.12. Thelen (2003), J Biomech Eng 125:70-77, as OpenSim's Thelen2003Muscle has them at
activation 1. De Groote et al. (2016), Ann Biomed Eng 44:2922-36, smooth everywhere in the working range: coefficients
come from OpenSim's DeGrooteFregly2016Muscle, the published ones to all digits. Sampled curves are in millard_2013.py.

Each closed form is stated once, in the functions of an `Arithmetic`: of numpy, or of CasADi for expressions
(symbolic/hill.py, which has the Gaussians of De Groote et al. once more). Slopes follow by a complex step
(`COMPLEX_STEP`; Squire and Trapp 1998, SIAM Rev 40:110-112).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import COMPLEX_STEP, Array
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import check_known
from musclesolve.muscles.curves.millard_2013 import Millard2013

ForceLengthForm = Literal["quartic_plus_quadratic", "quartic_minus_quadratic"]

_END = 1.26  # the passive force is constant beyond this many times the strain at one norm force


class Arithmetic(NamedTuple):
    """The functions of closed forms; limited: a number kept between two others."""

    asarray: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    arctan: Callable[[Any], Any]
    arcsinh: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]
    limited: Callable[[Any, Any, Any], Any]


def _limited(x: Any, low: Any, high: Any) -> Any:
    """Between two numbers, at which the slope is zero; real parts of complex numbers count."""
    if not np.iscomplexobj(x):
        return np.minimum(np.maximum(x, low), high)
    x = np.where(np.real(x) <= low, low, x)
    return np.where(np.real(x) >= high, high, x)


NUMPY = Arithmetic(np.asarray, np.exp, np.expm1, np.arctan, np.arcsinh, np.where, _limited)


def _slope(curve: Callable[[Any], Any], x: ArrayLike) -> Array:
    with np.errstate(invalid="ignore"):  # comparisons of what is missing
        return np.asarray(np.imag(curve(np.asarray(x, dtype=float) + 1j * COMPLEX_STEP)) / COMPLEX_STEP)


class CurveFamily(Protocol):
    """Active force-length, force-velocity and passive force-length curves; slopes of closed forms follow from them.

    Functions are elementwise. Lengths are in optimal fiber lengths, velocities in maximum shortening velocities
    (positive while the fiber lengthens), forces in maximum isometric forces. Strains are l / L0 - 1: at_zero, where the
    passive force begins, and at_one, where it is one maximum isometric force; they broadcast against the lengths.
    """

    @property
    def name(self) -> str:
        """The name of the family."""
        ...

    @property
    def passive_strain(self) -> tuple[float, float]:
        """Default strains at zero and at one norm force, for muscle sets without strains."""
        ...

    def active(self, l_norm: ArrayLike) -> Array:
        """Isometric force over F0 at activation 1, by fiber length over L0."""
        ...

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force over the isometric force at the same length, by fiber velocity over v_max."""
        ...

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Force over F0 without activation, by fiber length over L0."""
        ...

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        return _slope(self.active, l_norm)

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        return _slope(self.velocity, v_norm)

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Derivative of `passive` by the length over L0."""
        return _slope(lambda x: self.passive(x, at_zero, at_one), l_norm)


@dataclass(frozen=True)
class Silva2003(CurveFamily):
    """The curves of Silva (2003).

    The print of eq. 6.10 can also be read as exp(-(x^4 - x^2 / 4)), whose maximum is 1.0157: the form
    "quartic_minus_quadratic".
    """

    form: ForceLengthForm = "quartic_plus_quadratic"
    name: ClassVar[str] = "silva_2003"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.5)

    def __post_init__(self) -> None:
        """Refuse an unknown force-length form."""
        check_choice(self.form, "force-length form", get_args(ForceLengthForm))

    def active(self, l_norm: Any, m: Arithmetic = NUMPY) -> Any:
        """Force exp(-(x^4 + x^2 / 4)), x = (9/4) (l / L0 - 19/20), 1 at l = 0.95 L0 (eq. 6.10)."""
        # Beyond |x| = 30 the exponential is 0 in double precision; the bound keeps x^4 from overflowing.
        square = m.limited(2.25 * (m.asarray(l_norm) - 0.95), -30.0, 30.0) ** 2
        sign = 1.0 if self.form == "quartic_plus_quadratic" else -1.0
        return m.exp(-(square**2 + sign * 0.25 * square))  # eq. 6.10

    def velocity(self, v_norm: Any, m: Arithmetic = NUMPY) -> Any:
        """Force 1 + atan(5 v) / atan(5) for -1 <= v <= 0.2; 0 below, 1 + pi / (4 atan(5)) = 1.5719 above (eq. 6.11)."""
        return 1.0 + m.arctan(5.0 * m.limited(m.asarray(v_norm), -1.0, 0.2)) / np.arctan(5.0)  # eq. 6.11

    def passive(
        self, l_norm: Any, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.5, m: Arithmetic = NUMPY
    ) -> Any:
        """Force ((l / L0 - 1 - e0) / (e1 - e0))^3 from the strain e0 on, limited to 2.

        With strains 0 and 0.5 this is eq. 6.12: 8 (l / L0 - 1)^3 up to l = 1.63 L0, 2 above. At 1.63 the cubic is
        2.0004: the printed curve steps down by 4e-4 there.
        """
        l_norm, zero = m.asarray(l_norm), np.asarray(at_zero, dtype=float)
        span = np.asarray(at_one, dtype=float) - zero
        cubic = m.limited(l_norm - 1.0 - zero, 0.0, _END * span) ** 3 / span**3
        return m.where(l_norm > 1.0 + zero + _END * span, 2.0, cubic)  # eq. 6.12


SILVA_2003 = Silva2003()


@dataclass(frozen=True)
class Thelen2003(CurveFamily):
    """The curves of Thelen (2003); fields are the parameters of OpenSim's Thelen2003Muscle.

    active_width: KshapeActive; passive_shape: KshapePassive; concentric_shape: Af; max_eccentric_force: Flen.
    """

    active_width: float = 0.45
    passive_shape: float = 5.0
    concentric_shape: float = 0.25
    max_eccentric_force: float = 1.4
    name: ClassVar[str] = "thelen_2003"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.6)

    def active(self, l_norm: Any, m: Arithmetic = NUMPY) -> Any:
        """Force exp(-(l - 1)^2 / KshapeActive)."""
        return m.exp(-((m.asarray(l_norm) - 1.0) ** 2) / self.active_width)

    def velocity(self, v_norm: Any, m: Arithmetic = NUMPY) -> Any:
        """Force (1 + v) / (1 - v / Af) for -1 <= v <= 0, (1 + c Flen v) / (1 + c v) up to v = 1; constant beyond.

        c = (2 + 2 / Af) / (Flen - 1).
        """
        v, most = m.asarray(v_norm), self.max_eccentric_force
        steep = (2.0 + 2.0 / self.concentric_shape) / (most - 1.0)
        # each form is finite where the other one is taken
        shortening, lengthening = m.limited(v, -1.0, 0.0), m.limited(v, -0.5 / steep, 1.0)
        force = (1.0 + shortening) / (1.0 - shortening / self.concentric_shape)
        return m.where(v < 0.0, force, (1.0 + steep * most * lengthening) / (1.0 + steep * lengthening))

    def passive(
        self, l_norm: Any, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6, m: Arithmetic = NUMPY
    ) -> Any:
        """Force (exp(k s) - 1) / (exp(k) - 1) for 0 <= s <= 1, s = (l - 1 - e0) / (e1 - e0).

        Straight beyond s = 1, where OpenSim continues the exponential: no fiber gets there.
        """
        s, k = passive_share(m.asarray(l_norm), at_zero, at_one), self.passive_shape
        beyond = 1.0 + k * np.exp(k) / np.expm1(k) * (s - 1.0)
        return m.where(s > 1.0, beyond, m.expm1(k * m.limited(s, 0.0, 2.0)) / np.expm1(k))


def passive_share(l_norm: Any, at_zero: ArrayLike, at_one: ArrayLike) -> Any:
    """Share s = (l / L0 - 1 - e0) / (e1 - e0) of the passive strain at l / L0 for strains e0 and e1."""
    zero = np.asarray(at_zero, dtype=float)
    return (l_norm - 1.0 - zero) / (np.asarray(at_one, dtype=float) - zero)


# Height, center, width and growth of the width with the length, of three Gaussians.
GAUSSIANS = np.array(
    [
        [0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465],
        [0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188],
        [0.1, 1.0, 0.353553390593274, 0.0],
    ]
)
_D1, _D2, _D3, _D4 = -0.3211346127989808, -8.149, -0.374, 0.8825327733249912
_STIFFNESS = 4.0  # kpe of Thelen (2003) too
_THELEN = Thelen2003(passive_shape=_STIFFNESS)


@dataclass(frozen=True)
class DeGroote2016(CurveFamily):
    """The curves of De Groote et al. (2016); the passive one is Thelen's (2003), J Biomech Eng 125:70-77.

    active_width: factor s on the width of the active curve, active_force_width_scale of OpenSim.
    """

    active_width: float = 1.0
    name: ClassVar[str] = "de_groote_2016"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.6)

    def active(self, l_norm: ArrayLike) -> Any:
        """Force sum_k b1 exp(-(x - b2)^2 / (2 (b3 + b4 x)^2)) at x = 1 + (l - 1) / s."""
        height, center, width, growth = GAUSSIANS.T
        x = 1.0 + (np.asarray(l_norm)[..., None] - 1.0) / self.active_width
        z = (x - center) / (width + growth * x)
        return np.exp(-0.5 * z * z) @ height

    def velocity(self, v_norm: Any, m: Arithmetic = NUMPY) -> Any:
        """Force d1 asinh(d2 v + d3) + d4 for -1 <= v <= 1; constant beyond."""
        return _D1 * m.arcsinh(_D2 * m.limited(m.asarray(v_norm), -1.0, 1.0) + _D3) + _D4

    def passive(
        self, l_norm: Any, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6, m: Arithmetic = NUMPY
    ) -> Any:
        """Force (exp(k s) - 1) / (exp(k) - 1), k = 4, for 0 <= s <= 1, s = (l / L0 - 1 - e0) / (e1 - e0).

        0 below and a straight line above, like `Thelen2003.passive`.
        """
        return _THELEN.passive(l_norm, at_zero, at_one, m)


@dataclass(frozen=True)
class DeGrooteFregly2016(DeGroote2016):
    """The curves of OpenSim's DeGrooteFregly2016Muscle, which has another passive curve."""

    def passive(
        self, l_norm: Any, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6, m: Arithmetic = NUMPY
    ) -> Any:
        """Force (exp(k s) - exp(k s0)) / (exp(k) - exp(k s0)), k = 4, zero at 0.2 L0 and below.

        s = (l / L0 - 1 - e0) / (e1 - e0) for strains e0 and e1, s0 its value at 0.2 L0: a force of 1.7 % at the
        optimal length where e1 is 0.6 (De Groote et al. 2016 with the offset of OpenSim's class).
        """
        share = passive_share(m.limited(m.asarray(l_norm), _SHORTEST_FIBER, np.inf), at_zero, at_one)
        start = np.exp(_STIFFNESS * passive_share(_SHORTEST_FIBER, at_zero, at_one))
        return (m.exp(_STIFFNESS * share) - start) / (np.exp(_STIFFNESS) - start)


_SHORTEST_FIBER = 0.2
"""Length of a fiber, in optimal lengths, below which it has no passive force."""


_ROUND_OFF = 1e-6
_NEARLY = 1e-2
_LENGTHS = np.linspace(0.3, 2.5, 221)
_TOE = 0.1
"""Largest passive force at its strain of onset: not zero in OpenSim's class of De Groote and Fregly."""
_VELOCITIES = np.linspace(-1.0, 1.0, 201)
_SHORTENING = 100
"""Number of the velocities below zero."""
_PLATEAU = (0.9, 1.1)
"""Lengths between which the greatest active force lies."""


def curve_fault(family: CurveFamily, strains: tuple[float, float]) -> tuple[str, str] | None:
    """Return the name of an impossible curve, "active", "velocity" or "passive", and the reason; None without fault.

    Active force f(l) is between 0 and 1, rises up to l = 1, where it is 1, and falls beyond it; f(v) rises from 0 at
    v = -1 through 1 at v = 0; passive force rises from 0 to 1 between the two strains.
    """
    with np.errstate(all="ignore"):
        zero, one = strains
        if not one > zero:
            return "passive", "the passive force is to be 1 at a strain not above that where it begins"
        active, velocity = family.active(_LENGTHS), family.velocity(_VELOCITIES)
        passive = family.passive(1.0 + zero + (one - zero) * np.linspace(0.0, 1.2, 121), zero, one)
        at_one = float(family.active(1.0))
    shorter, longer = _LENGTHS <= _PLATEAU[0], _LENGTHS >= _PLATEAU[1]
    sound = {
        "active": _rises(active[shorter])
        and _rises(-active[longer])
        and active.min() >= -_ROUND_OFF
        and active.max() <= 1.0 + _NEARLY
        and abs(at_one - 1.0) < _NEARLY,
        "velocity": _rises(velocity)
        and abs(velocity[0]) < _NEARLY
        and abs(velocity[_SHORTENING] - 1.0) < _NEARLY,
        "passive": _rises(passive)
        and -_ROUND_OFF < passive[0] < _TOE
        and abs(passive[100] - 1.0) < _ROUND_OFF,
    }
    names = {"active": "force-length", "velocity": "force-velocity", "passive": "passive force-length"}
    return next(
        ((part, f"there is no {names[part]} curve") for part, good in sound.items() if not good), None
    )


def _rises(values: Array) -> bool:
    """Whether finite numbers never decrease by more than round-off."""
    return bool(np.isfinite(values).all() and (np.diff(values) > -_ROUND_OFF).all())


CURVES: dict[str, CurveFamily] = {
    family.name: family
    for family in (
        SILVA_2003,
        Millard2013(),
        Millard2013("millard_2013_rajagopal"),
        DeGroote2016(),
        Thelen2003(),
    )
}


def curve_family(name: str) -> CurveFamily:
    """The family of a name; an unknown name raises an InputError."""
    check_known([name], "family of Hill curves", CURVES)
    return CURVES[name]
