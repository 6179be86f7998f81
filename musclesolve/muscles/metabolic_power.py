"""Metabolic power of muscles: heat of activation, maintenance and shortening, and mechanical power.

Four models of three papers, as OpenSim's probes have them. Symbols of a muscle: a activation, l fiber length over L0,
v fiber velocity [L0/s] (negative while it shortens), f(l) active force-length curve, F force of the contractile
element and P of the passive element along the fiber [N], m mass [kg], s share of slow fibers.

Umberger, Gerritsen and Martin (2003), Comput Methods Biomech Biomed Engin 6:99-111, and Umberger (2010), J R Soc
Interface 7:1329-1340, per kg of muscle, with the aerobic factor S = 1.5:

    activation and maintenance   h_AM = S a^0.6 (128 (1 - s) + 25),             with (0.4 + 0.6 f) times that for l > 1
    shortening                   h_S  = -S a^2 (min(100, c_s |v|) s + c_f |v| (1 - s)) sign(v)     for v <= 0
    lengthening                  h_L  = S a k c_s v                                                for v > 0
    c_f = 153 / v_max, c_s = 250 / v_max; h_S and h_L times f for l > 1

k = 4 in 2003; k = 0.3 in 2010, where the mechanical power absorbed by a lengthening muscle does not count.

Bhargava, Pandy and Anderson (2004), J Biomech 37:81-88, with u_s = s sin(a pi / 2), u_f = (1 - s) (1 - cos(a pi / 2)):

    activation    m (40 u_s + 133 u_f)
    maintenance   m (74 u_s + 111 u_f) L(l),  L piecewise linear: 0.5 up to l = 0.5, 1 at l = 1, 0 from l = 1.5 on
    shortening    -(0.16 a f F0 + 0.18 (F + P)) v L0  for v <= 0;  -0.157 (F + P) v L0  for v > 0

All add the mechanical power -F v L0; the whole power of a muscle is zero or more, and the sum of its heats at least
1 W/kg. Activation replaces the excitation, which is not computed: with rising activation the heat of activation is a
little too small, with falling activation a little too large. The rates belong to single muscles; a basal rate is added
to their sum (BASAL).
"""

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import split_side

BASAL = 1.2
"""Basal rate [W per kg of the body] (Umberger et al. 2003)."""
DENSITY = 1059.7
"""Density of muscle [kg/m3] (Mendez and Keys 1960)."""
AEROBIC = 1.5
LEAST_HEAT = 1.0
"""Least heat of a muscle [W/kg]."""
SLOW_LIMIT = 100.0
"""Most heat of shortening of slow fibers [W/kg]."""
MAINTENANCE = (np.array([0.5, 1.0, 1.5]), np.array([0.5, 1.0, 0.0]))


@dataclass(frozen=True)
class EnergyState:
    """Muscles (n) over T frames, all (T, n) but for mass, velocity and strength, (n,), and slow, (n,) or (T, n).

    activation [1]; length [L0]; speed [L0/s], positive while fibers lengthen; isometric: active force-length curve [1];
    force, passive: of the contractile and the passive element along the fiber [N]; fiber_speed [m/s]; mass [kg]; slow:
    share of slow fibers [1]; velocity: maximum shortening velocity [L0/s]; strength: maximum isometric force [N].
    """

    activation: Array
    length: Array
    speed: Array
    isometric: Array
    force: Array
    passive: Array
    fiber_speed: Array
    mass: Array
    slow: Array
    velocity: Array
    strength: Array


def umberger_2010(state: EnergyState) -> Array:
    """Metabolic power (T, n) [W] of each muscle by Umberger (2010); the mechanical power of shortening alone counts."""
    work = np.maximum(-state.force * state.fiber_speed, 0.0)
    return _total(*_umberger_heat(state, 0.3), work, state.mass)


def umberger_2010_recruitment(state: EnergyState) -> Array:
    """Umberger (2010) with slow fibers recruited first, (T, n) [W]: the default of OpenSim's probe.

    The share of slow fibers is the share among the recruited ones, u_s / (u_s + u_f) of Bhargava, Pandy and Anderson
    (2004).
    """
    slow, fast = _recruited(state)
    both = slow + fast
    share = np.divide(slow, both, out=np.ones_like(both), where=both > 0.0)
    return umberger_2010(replace(state, slow=share))


def umberger_2003(state: EnergyState) -> Array:
    """Metabolic power (T, n) [W] of each muscle by Umberger, Gerritsen and Martin (2003)."""
    return _total(*_umberger_heat(state, 4.0), -state.force * state.fiber_speed, state.mass)


def _umberger_heat(state: EnergyState, lengthening: float) -> tuple[Array, Array]:
    """Heat of activation and maintenance, and of shortening and lengthening with the factor k, (T, n) [W] each."""
    a, v, slow = state.activation, state.speed, state.slow
    fast, beyond = 1.0 - slow, state.length > 1.0
    steady = a**0.6 * (128.0 * fast + 25.0) * np.where(beyond, 0.4 + 0.6 * state.isometric, 1.0)
    of_slow, of_fast, speed = 250.0 / state.velocity, 153.0 / state.velocity, np.abs(v)
    shortened = a**2 * (np.minimum(of_slow * speed, SLOW_LIMIT) * slow + of_fast * speed * fast)
    moved = np.where(v <= 0.0, shortened, a * lengthening * of_slow * speed)
    moved = moved * np.where(beyond, state.isometric, 1.0)
    return AEROBIC * state.mass * steady, AEROBIC * state.mass * moved


def bhargava_2004(state: EnergyState) -> Array:
    """Metabolic power (T, n) [W] of each muscle by Bhargava, Pandy and Anderson (2004)."""
    a, shortens = state.activation, state.speed <= 0.0
    slow, fast = _recruited(state)
    activated = 40.0 * slow + 133.0 * fast
    maintained = (74.0 * slow + 111.0 * fast) * np.interp(state.length, *MAINTENANCE)
    along_fiber = state.force + state.passive
    of_shortening = 0.16 * a * state.isometric * state.strength + 0.18 * along_fiber
    constant = np.where(shortens, of_shortening, 0.157 * along_fiber)
    work = -state.force * state.fiber_speed
    return _total(state.mass * (activated + maintained), -constant * state.fiber_speed, work, state.mass)


def _recruited(state: EnergyState) -> tuple[Array, Array]:
    """The shares u_s and u_f (T, n) of slow and fast fibers that are recruited."""
    angle = 0.5 * np.pi * state.activation
    return state.slow * np.sin(angle), (1.0 - state.slow) * (1.0 - np.cos(angle))


MODELS = {
    "umberger_2010": umberger_2010,
    "umberger_2010_recruitment": umberger_2010_recruitment,
    "umberger_2003": umberger_2003,
    "bhargava_2004": bhargava_2004,
}
"""The models by name; results have `umberger_2010_recruitment`."""


def _total(held: Array, moved: Array, work: Array, mass: Array) -> Array:
    """Total power (T, n) [W]: heats of activation and velocity and mechanical power, with the lower bounds above."""
    total = held + moved + work
    heat = held + np.where(total < 0.0, moved - total, moved)
    return np.asarray(np.maximum(heat, LEAST_HEAT * mass) + work)


def slow_fibers(names: tuple[str, ...]) -> Array:
    """The shares of slow fibers (n,) of muscles by their names; 0.5 for muscles that are not in the table."""
    table = bundled_toml(__package__, "slow_fibers.toml")["muscles"]
    stems = [split_side(name)[0].casefold() for name in names]
    return np.array(
        [next((row["share"] for row in table if stem.startswith(tuple(row["names"]))), 0.5) for stem in stems]
    )
