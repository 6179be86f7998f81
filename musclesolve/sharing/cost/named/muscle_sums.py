"""The named costs that are sums over muscles of a function of the activation: powers, soft saturation, EMG tracking.

Each cost states its coefficients c_i; sum_of_terms.py derives the other methods from them. The sums of powers take
weights of muscles, `StressCubed(weights={"soleus": 2})` (`PowerSum`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_number
from musclesolve._util.messages import listed_beside, unknown_name
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Power, Saturation
from musclesolve.sharing.cost.sum_of_terms import PowerSum, SumOfTerms, VariedCost
from musclesolve.sharing.problem import Problem

LEAST_ARM = 1e-4
"""Moment arm from which a muscle crosses a joint [m]: below it are the round-off of a path and its numerical slope."""
REFERENCE_FORCE = 1000.0
"""Maximum isometric force with weight 1 [N]; the sharing does not depend on it."""
LEAST_CAPACITY = 1e-3
"""Least force at activation 1 over the maximum isometric force: a muscle without force has a finite weight."""
LARGEST_POWER = 20.0
"""Largest power of a weight of `general_power`: beyond, weights span more than floating-point numbers have digits."""
FORCES = ("fiber", "tendon")
"""The forces that a cost may count: of the contractile element along the fibers, or its part along the tendon."""


@dataclass(frozen=True)
class ForceSum(SumOfTerms):
    """A sum over the forces F_i of the contractile elements, as the criteria of Silva (2003, 6.6.2) are.

    F_i acts along the fibers (eq. 6.9). Where a problem has no `fiber_force_capacity`, F_i is the force at the tendon.

    Args:
        force: "fiber", or "tendon" for the force along the tendon, which is smaller by the cosine of the pennation.
    """

    force: str = field(default="fiber", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.force not in FORCES:
            raise unknown_name(self.force, "force", FORCES, f" of the cost {self.name!r}", where=self.name)

    def capacity(self, problem: Problem) -> Array:
        """The forces F_i at activation 1, (T, n) [N]."""
        along_fibers = problem.fiber_force_capacity
        return problem.force_capacity if self.force == "tendon" or along_fibers is None else along_fibers


@dataclass(frozen=True)
class ForceSquared(PowerSum, ForceSum):
    """Sum of squared muscle forces: sum_i F_i^2 [N^2], F_i of the contractile element (Silva 2003, eqs 6.15 and 6.20).

    Assumes that a newton costs the same in every muscle, weak or strong.
    """

    name = "force_squared"
    formula = "sum_i F_i^2"
    source = "Silva 2003, eq. 6.15"
    works = ("silva_2003",)
    use = "a newton costs the same in a weak muscle and in a strong one"

    def coefficient(self, problem: Problem) -> Array:
        """The forces F_i at activation 1, (T, n) [N]."""
        return self.capacity(problem)


@dataclass(frozen=True)
class StressCubed(PowerSum, ForceSum):
    """Sum of cubed muscle stresses: sum_i sigma_i^3 with sigma_i = sigma_bar F_i / F0_i [(N/cm^2)^3] (Silva 2003, eqs
    6.16 and 6.21).

    The stress is the force over the physiological cross-section, which is F0_i / sigma_bar. Newtons per square
    centimeter are kept because they make the numbers the ones of the literature; the activations do not depend
    on sigma_bar at all. Assumes that endurance falls with the third power of stress and that the muscles are chosen so
    as to last long (Crowninshield and Brand 1981).

    Args:
        specific_strength: sigma_bar [N/cm^2].
    """

    specific_strength: float = 31.39

    name = "stress_cubed"
    formula = "sum_i (sigma_bar F_i / F0_i)^3"
    source = "Silva 2003, eqs 6.16 and 6.21"
    works = ("crowninshield_1981", "silva_2003")
    use = "to compare with most of the older literature"
    positive = ("specific_strength",)
    exponent = 3.0

    def coefficient(self, problem: Problem) -> Array:
        """The stress at full activation, (T, n) [N/cm^2]."""
        return self.specific_strength * self.capacity(problem) / problem.max_isometric_force


@dataclass(frozen=True)
class NormalizedForceSquared(PowerSum, ForceSum):
    """Sum of squared forces over maximum isometric forces: sum_i (F_i / F0_i)^2, without unit (Silva 2003, eq. 6.17,
    there ascribed to Pedotti et al.).

    Assumes that effort grows with the square of the load relative to the maximum isometric force, whatever force the
    muscle can bear at its present length and velocity.
    """

    name = "normalized_force_squared"
    formula = "sum_i (F_i / F0_i)^2"
    source = "Silva 2003, eq. 6.17"
    works = ("silva_2003",)
    use = "effort counts as force over maximum isometric force, at every length and velocity"

    def coefficient(self, problem: Problem) -> Array:
        """The relative forces F_i / F0_i at activation 1, (T, n)."""
        return self.capacity(problem) / problem.max_isometric_force


@dataclass(frozen=True)
class ForceMomentSquared(PowerSum, ForceSum):
    """Sum of squared forces over maximum moments: sum_i (F_i / M_i)^2 [1/m^2] with M_i = F0_i r_i (Silva 2003, eq.
    6.18, there ascribed to Herzog).

    M_i is the maximum instantaneous moment: the maximum isometric force at the present moment arm r_i. Both F_i and
    F0_i act along the fibers, so that the pennation cancels out. The source has one moment arm for each muscle; for a
    muscle that crosses several degrees of freedom r_i is read as the root of the sum of squares over the degrees of
    freedom of the problem, r_i = sqrt(sum_k r_ik^2). Assumes that muscles with good leverage are preferred. Where a
    muscle has no leverage, M_i would vanish and the cost with it be undefined: r_i counts as at least `least_arm`.

    Args:
        least_arm: [m].
    """

    least_arm: float = 1e-3

    name = "force_moment_squared"
    formula = "sum_i (F_i / M_i)^2, M_i = F0_i r_i"
    source = "Silva 2003, eq. 6.18"
    works = ("silva_2003",)
    use = "muscles with long moment arms take the larger share"
    positive = ("least_arm",)

    def coefficient(self, problem: Problem) -> Array:
        """The ratios F_i / M_i at activation 1, (T, n) [1/m]."""
        arm = np.maximum(np.sqrt(np.square(problem.moment_arm).sum(axis=1)), self.least_arm)
        return self.capacity(problem) / (problem.max_isometric_force * arm)


@dataclass(frozen=True)
class ActivationPower(PowerSum):
    """Sum of powers of the activations: sum_i a_i^p with p >= 1, without unit (static optimization of OpenSim, Delp et
    al. 2007, where p = 2).

    Assumes that effort depends on the activation alone, so that a small muscle costs as much as a large one. As p
    grows the largest activation decides, and the optimum tends to the optimum of a min/max criterion (Rasmussen et al.
    2001). Beyond p = 20 or so the marginal costs of a whole leg span more orders of magnitude than a floating-point
    number has digits: some frames end without a certificate, and `min_max`, which is exact, is the better choice.

    Args:
        exponent: p, at least 1.
    """

    exponent: float = 2.0

    name = "activation_power"
    formula = "sum_i a_i^p, p = 2"
    source = "Delp et al. 2007"
    works = ("delp_2007",)
    use = "to compare with OpenSim's static optimization"

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients: ones, (T, n)."""
        return np.ones_like(problem.force_capacity)


@dataclass(frozen=True)
class JointWeightedActivation(PowerSum):
    """Sum of squared activations, muscles of two joints weighted: sum_i w_i a_i^p, w_i = w of a muscle that crosses two
    joints or more, else 1; without unit.

    Assumes that the effort of a muscle counts at every joint that it presses. Uhlrich et al. (2022, Sci Rep 12:9842)
    weighted gastrocnemii and hamstrings to spare the knee; here all muscles of two joints are weighted alike.

    Args:
        exponent: p, at least 1.
        multi_joint_weight: w, any positive number; below 1 muscles of several joints cost less than others.
    """

    exponent: float = 2.0
    multi_joint_weight: float = 3.0

    name = "joint_weighted_activation"
    formula = "sum_i w_i a_i^p, w_i = 3 where a muscle crosses two joints or more, else 1, p = 2"
    source = "weights after Uhlrich et al. 2022"
    works = ("uhlrich_2022",)
    use = "to give all muscles of two joints one higher weight"
    positive = ("multi_joint_weight",)
    data = ("joints_crossed",)

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients w_i^(1/p), (n,)."""
        return np.where(problem.crossed > 1.0, np.power(self.multi_joint_weight, 1.0 / self.exponent), 1.0)


@dataclass(frozen=True)
class KneeSparingActivation(PowerSum):
    """Sum of squared activations, and of squared forces of the muscles that cross a knee: sum_i a_i^p +
    sum_knee (F_i / F_s)^p, F_i the force of the contractile element at the tendon; without unit.

    Assumes that a muscle costs its activation, and its force where it presses a knee (docs/costs.md): where
    it has a moment arm of 0.1 mm in some frame about a degree of freedom whose name contains `knee`. Where no name
    contains "knee" the cost is the sum of the powers of the activations; any other text must be in a name.

    Args:
        exponent: p, at least 1.
        scale: F_s [N].
        knee: what the names of the knees' degrees of freedom have in common, such as "genou"; case does not count.
    """

    exponent: float = 2.0
    scale: float = 1400.0
    knee: str = "knee"

    name = "knee_sparing_activation"
    formula = "sum_i a_i^p + sum_knee (F_i / F_s)^p, F_s = 1400 N, p = 2"
    source = "musclesolve: EMG, hips and knees of eight recordings"
    use = "the usual one: no decision of your own"
    positive = ("scale",)
    of_all_frames = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.knee, str) and self.knee.strip()):
            fault = f"the option knee of {self.name} is {self.knee!r:.60}"
            expected = 'a part of the names of the degrees of freedom of knees, such as "genou"'
            raise input_error("bad_type", where=self.name, problem=fault, expected=expected)

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients (1 + (F_i(1) / F_s)^p)^(1/p) across a knee, else 1, (T, n)."""
        pressing = np.where(self._across(problem), problem.force_capacity / self.scale, 0.0)
        return np.power(1.0 + np.power(pressing, self.exponent), 1.0 / self.exponent)

    def apart(self, problem: Problem) -> Cost:
        """The powers of the activations, and the powers of the forces."""
        share = np.where(self._across(problem), self.scale**-self.exponent, 0.0)
        forces = VariedCost(ForceSquared(force="tendon", weights=self.weights), share, self.exponent)
        return ActivationPower(self.exponent, weights=self.weights) + forces

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Say what is minimized where no knee is found."""
        usual = self.knee == KneeSparingActivation.knee
        way = f" Where knees have other names, state what these names share: {self.name}(knee='genou')."
        remark = (
            f'No degree of freedom has "{self.knee}" in its name: {self.name} is here the sum of the activations to '
            f"the power {self.exponent:g}, as activation_power.{way if usual else ''}"
        )
        return () if self._knees(problem.dof) else (remark,)

    def check_names(self, dofs: Sequence[str], muscles: Sequence[str], reactions: Sequence[str]) -> None:
        """See Cost; without the usual name there is a remark instead: arms have no knees."""
        super().check_names(dofs, muscles, reactions)
        if dofs and self.knee != KneeSparingActivation.knee and not self._knees(dofs):
            fault = f'no degree of freedom has "{self.knee}" in its name: {listed_beside(None, dofs)}'
            expected = "a part of the names of the degrees of freedom of knees"
            remedy = "name them, Problem(..., dof=[...]), or leave out knee= if there is no knee"
            raise input_error(
                "unknown_name", where=self.label, problem=fault, expected=expected, remedy=remedy
            )

    def _across(self, problem: Problem) -> Mask:
        return np.asarray((problem.largest_arm[self._knees(problem.dof)] > LEAST_ARM).any(axis=0))

    def _knees(self, dofs: Sequence[str] | None) -> list[int]:
        return [number for number, dof in enumerate(dofs or ()) if self.knee.lower() in dof.lower()]


@dataclass(frozen=True)
class ActivationVolume(PowerSum):
    """Sum of powers of the activations, weighted by muscle volume: sum_i V_i a_i^p [m^3] with V_i = F0_i L0_i /
    sigma_bar (weights and powers of Ackermann and van den Bogert 2010).

    V_i is the volume of a muscle of cross-section F0_i / sigma_bar and optimal fiber length L0_i. Assumes that every
    unit of active muscle tissue costs the same; sigma_bar is taken to be the same in all muscles, and then scales
    the cost without moving the activations.

    Args:
        exponent: p, at least 1.
        specific_strength: sigma_bar [N/m^2]; 31.39 N/cm^2 (Silva 2003, 6.4).
    """

    exponent: float = 2.0
    specific_strength: float = 31.39e4

    name = "activation_volume"
    formula = "sum_i V_i a_i^p, V_i = F0_i L0_i / sigma_bar, p = 2"
    source = "Ackermann and van den Bogert 2010"
    works = ("ackermann_2010",)
    use = "every unit of muscle tissue costs the same, however a muscle is divided into parts"
    positive = ("specific_strength",)
    data = ("optimal_fiber_length",)

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients V_i^(1/p), (n,)."""
        length = self.field(problem, "optimal_fiber_length")
        return np.power(problem.max_isometric_force * length / self.specific_strength, 1.0 / self.exponent)


@dataclass(frozen=True)
class MusclePower(PowerSum, ForceSum):
    """Sum of squared muscle powers: sum_i (F_i u_i)^p [W^p] with u_i^2 = v_i^2 + v_0^2, v_i the fiber velocity; p = 2.

    Silva 2003 (6.6.2) names the sum of the instantaneous muscle powers as a criterion without writing it down: this
    is a reading. Power counts here whether it is produced (v_i < 0) or absorbed: a plain sum would be the power of
    the moments, which the motion has fixed, and would be lowest for muscles that work against each other. Squares
    share the power among muscles; `exponent=1` is the sum of the magnitudes, a linear cost.

    Assumes that absorbing power costs as much as producing it. A muscle of constant length has no power, and nothing
    would determine how active it is; v_0 makes it cost as much as one that moves at that speed.

    Args:
        exponent: p, at least 1.
        least_speed: v_0 [m/s].
    """

    exponent: float = 2.0
    least_speed: float = 0.01

    name = "muscle_power"
    formula = "sum_i (F_i u_i)^p, u_i^2 = v_i^2 + v_0^2, p = 2"
    source = "Silva 2003, 6.6.2"
    works = ("silva_2003",)
    use = "as little power of the muscles as possible, produced or absorbed"
    positive = ("least_speed",)
    data = ("fiber_velocity",)

    def coefficient(self, problem: Problem) -> Array:
        """The powers F_i u_i at activation 1, (T, n) [W]."""
        velocity = self.field(problem, "fiber_velocity")
        return self.capacity(problem) * np.sqrt(np.square(velocity) + self.least_speed**2)


@dataclass(frozen=True)
class GeneralPower(PowerSum, ForceSum):
    """Sum of powers of the activations with weights that are powers of what distinguishes muscles: sum_i k_i a_i^p with
    k_i = (F0_i / 1000 N)^strength n_i^joints (F_i(1) / F0_i)^relative, without unit.

    F0_i is the maximum isometric force, n_i the number of joints that a muscle crosses, F_i(1) the force of the
    contractile element at activation 1. The family contains, up to a constant factor, `activation_power` (0, 0, 0),
    `force_squared` (strength 2, relative 2), `normalized_force_squared` (relative 2), `stress_cubed`
    (relative 3, p 3) and costs between them: `ms.sharing.fit_cost` finds the powers that agree best with EMG.

    Args:
        exponent: p, at least 1.
        strength: power of the maximum isometric force; above 0 strong muscles are spared.
        joints: power of the number of joints; above 0 muscles of several joints are spared.
        relative: power of the force at activation 1 over the maximum isometric force; 0 counts activation, p counts
            relative force.
    """

    exponent: float = 2.0
    strength: float = 0.0
    joints: float = 0.0
    relative: float = 0.0

    name = "general_power"
    formula = "sum_i (F0_i / 1000 N)^s n_i^j (F_i(1) / F0_i)^c a_i^p, s = j = c = 0, p = 2"
    source = "musclesolve: a family that contains the sums of powers above"
    use = "a cost between the named ones, fitted to EMG by `fit_cost`"

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("strength", "joints", "relative"):
            power, what = getattr(self, option), f"{option} of {self.name}"
            expected = f"a number from {-LARGEST_POWER:g} to {LARGEST_POWER:g}"
            check_number(power, what, expected, least=-LARGEST_POWER, most=LARGEST_POWER, where=self.name)

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients k_i^(1/p), (T, n)."""
        strong = np.power(problem.max_isometric_force / REFERENCE_FORCE, self.strength / self.exponent)
        crossed = np.power(problem.crossed, self.joints / self.exponent)
        share = np.maximum(self.capacity(problem) / problem.max_isometric_force, LEAST_CAPACITY)
        return strong * crossed * np.power(share, self.relative / self.exponent)


@dataclass(frozen=True)
class SoftSaturation(ForceSum):
    """Soft saturation of the muscles: sum_i (1 - (1 - x_i^p)^(1/p)) with x_i = F_i / F0_i; up to a constant the
    negative of the soft-saturation sum, which the source maximizes.

    With p = 2 it is Silva 2003, eq. 6.19, there ascribed to Siemienski; the general exponent comes from Rasmussen et
    al. (2001). The print minimizes the sum of the roots, which drives every muscle to full co-contraction; the
    criterion is meant to be maximized (correction A12). Here it is a cost that is zero at rest.

    Assumes that no muscle exceeds its maximum isometric force: the domain ends at F_i = F0_i, where the slope is
    infinite for p > 1, so that no activation exceeds F0_i / force_capacity_i. (The exact end is x_i = 1 - 1e-9: nearer
    to F0 a floating-point activation no longer determines the slope.) With p = 1 the cost is the
    linear one sum_i x_i; for 1 < p < 2 the second derivative is infinite at rest.

    Args:
        exponent: p, at least 1.
    """

    exponent: float = 2.0

    name = "soft_saturation"
    formula = "sum_i (1 - (1 - (F_i / F0_i)^p)^(1/p)), p = 2"
    source = "Silva 2003, eq. 6.19, maximized; Rasmussen et al. 2001"
    works = ("silva_2003", "rasmussen_2001")
    use = "no muscle exceeds its maximum isometric force, and the load is even near it"

    @property
    def form(self) -> Power | Saturation:
        """The function 1 - (1 - x^p)^(1/p), which for p = 1 is x itself."""
        return Power(1.0, Saturation.end) if self.exponent == 1 else Saturation(float(self.exponent))

    def coefficient(self, problem: Problem) -> Array:
        """The relative forces F_i / F0_i at activation 1, (T, n)."""
        return self.capacity(problem) / problem.max_isometric_force


@dataclass(frozen=True)
class EmgTracking(PowerSum):
    """Distance of the activations from measured EMG: the sum over measured muscles of (a_i - e_i)^2 + w sum over the
    others of a_i^2, without unit.

    Similar to the EMG-assisted solution of CEINMS (Pizzolato et al. 2015), which weighs the distance from
    measured excitations against their size. Assumes that the envelope e_i is already on the scale of activation and
    delayed as activation is; a muscle that was not measured in a frame (NaN) is as inactive as the moments allow.
    Measured co-contraction is kept as far as the moments permit, so the cost is not least at rest.

    With w = 0 the cost is the misfit to EMG alone, which `effort + 2.0 * EmgTracking(unmeasured_weight=0.0)` adds to
    any cost of effort: the cost of EMG-informed sharing ([emg] weight of a trial file). By itself it then does not
    determine how the muscles without EMG share the other moments.

    Args:
        unmeasured_weight: w, zero or more.
    """

    unmeasured_weight: float = 1.0

    name = "emg_tracking"
    formula = "sum_measured (a_i - e_i)^2 + w sum_others a_i^2, unmeasured_weight w = 1"
    source = "Pizzolato et al. 2015"
    works = ("pizzolato_2015",)
    use = "activations that follow your EMG as far as the moments allow"
    data = ("emg",)

    def __post_init__(self) -> None:
        super().__post_init__()
        description = f"unmeasured_weight of {self.name}"
        check_number(
            self.unmeasured_weight, description, "a number of zero or more", least=0.0, where=self.name
        )

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients 1 where a muscle was measured, else sqrt(w), (T, n)."""
        return np.where(np.isnan(self.field(problem, "emg")), np.sqrt(self.unmeasured_weight), 1.0)

    def target(self, problem: Problem) -> Array:
        """The measured activations e_i, zero where there are none, (T, n)."""
        emg = self.field(problem, "emg")
        return np.where(np.isnan(emg), 0.0, emg)
