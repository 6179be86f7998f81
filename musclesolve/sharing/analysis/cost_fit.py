"""Fit the parameters of a cost to EMG: inverse optimization with unknown gains and offsets of the channels.

A cost f(a; theta) has K parameters theta, such as exponents or weights. Its optimum a(theta) shares the moments of
every frame. A channel c of EMG shows the mean activation of some muscles, x_tc = sum_i M_ci a_ti, on a scale that
nobody knows:

    y_tc = g_c x_tc(theta) + o_c + noise,      g_c >= 0.

The offset o_c is what a quiet channel shows: noise, and crosstalk. Theta minimizes the sum of the squares of
e_tc = (g_c x_tc + o_c - y_tc) / s_c, where s_c is the standard deviation of the channel. Gains and offsets are linear
and are eliminated (variable projection: Golub and Pereyra 1973, SIAM J Numer Anal 10:413-432; with the Jacobian of
Kaufman 1975, BIT 15:49-57). The optimum is differentiated exactly (solution_derivatives.py), so that every step is a
Gauss-Newton step. The problem has two levels, as in Mombaur, Truong and Laumond (2010, Auton Robots 28:369-383); the
lower one is solved exactly here.

What the data determine. Successive frames tell almost the same: N residuals of a channel with a correlation rho from
frame to frame count as N (1 - rho) / (1 + rho) independent ones (Bartlett 1946, Suppl J R Stat Soc 8:27-41). With the
variance v_c of the residuals of a channel, times (1 + rho) / (1 - rho), and their Jacobian J_c,

    cov(theta) = H (sum_c v_c J_c^T J_c) H,      H = (sum_c J_c^T J_c)^-1.

A value of parameter k is in its interval if the loss, all other parameters adapted, rises by less than cov_kk / H_kk
times the quantile of F(1, independent residuals): the profile of the parameter (Bates and Watts 1988, Nonlinear
Regression Analysis, chapter 6). An interval that does not end within the range of the parameter is infinite on this
side: the data do not determine the parameter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask, mean_of_known
from musclesolve._util.checks import check_choice, check_number, check_real_array, check_type
from musclesolve._util.messages import with_sizes
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.cost_families import CostFamily, family_of, starts_of
from musclesolve.sharing.analysis.emg_measurement import (
    FEWEST,
    RESOLUTION,
    EmgMeasurement,
    Scales,
    measured,
    pearson,
)
from musclesolve.sharing.arguments import check_problem, members
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.sharing.solving import solve

NAMED = (
    "activation_power",
    "stress_cubed",
    "force_squared",
    "activation_volume",
    "joint_weighted_activation",
    "knee_sparing_activation",
)
"""The named costs beside which a fitted cost is shown, where the problem has their data."""
REACH = "activation_power"
"""A cost with which the frames with a solution are found: they are the same for every cost."""
FITTED = "fitted"
"""The name of the fitted cost beside named ones."""
STEP = 1e-5
"""Step of differences of marginal costs by a parameter, as a share of the range of the parameter."""
UNSEEN = 1e-10
"""Share of the largest curvature of the loss below which a direction has no effect, within round-off."""
CLOSE = 0.02
"""Share of the root of the quantile by which a profile may miss it at the end of an interval."""
FIRST_PROBE = 1e-4
"""Least first distance from the value found at which a profile is probed, as a share of the room to the range's end."""
MOST_PROBES = 15
"""Most values of a parameter that are tried for one end of its interval."""
OF_PROFILE = 1e-6
"""Share of the loss by which a search along a profile changes it in its last step."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well costs predict EMG.

    Attributes:
        costs: J labels; `FITTED` is the fitted cost.
        of: L labels of channels or strides.
        correlation: (J, L) Pearson r of prediction and envelope, the mean over channels for a stride.
        missed: (J, L) share of the variance of the envelope that the prediction does not explain; the mean over
            channels for a stride.
    """

    costs: tuple[str, ...]
    of: tuple[str, ...]
    correlation: Array
    missed: Array
    __repr__ = with_sizes

    @property
    def mean_correlation(self) -> dict[str, float]:
        """Mean correlation of each cost."""
        return dict(zip(self.costs, mean_of_known(self.correlation, axis=1).tolist(), strict=True))

    @property
    def mean_missed(self) -> dict[str, float]:
        """Mean share of the variance that each cost misses."""
        return dict(zip(self.costs, mean_of_known(self.missed, axis=1).tolist(), strict=True))


class _Search:
    """The residuals and their derivatives, with the last optimum kept."""

    def __init__(self, emg: EmgMeasurement, family: CostFamily, scales: Scales, solver: str | Solver) -> None:
        self.emg, self.family, self.scales, self.solver = emg, family, scales, solver
        self.size = emg.size if scales.gains else np.ones(len(emg.names))
        self._theta: Array | None = None

    def optimum(self, theta: Array) -> tuple[Cost, list[Solution], Array]:
        """Cost, solution of each problem, and predicted mean activations (T, C)."""
        if self._theta is None or not np.array_equal(theta, self._theta):
            cost = self.family.make(theta)
            solutions = [solve(problem, cost, self.solver) for problem in self.emg.problems]
            means = np.nan_to_num(self.emg.means(solution.activation for solution in solutions))
            self._theta, self._last = theta.copy(), (cost, solutions, means)
        return self._last

    def residual(self, theta: Array) -> Array:
        """Weighted residuals e, (T C,), zero where nothing was measured."""
        _, _, mean = self.optimum(theta)
        gain, offset = self.scales.fitted(self.emg, mean)
        return np.where(self.emg.measured, (gain * mean + offset - self.emg.emg) / self.size, 0.0).ravel()

    def jacobian(self, theta: Array) -> Array:
        """The derivatives of the residuals by theta, (T C, K), with gains and offsets adapted."""
        cost, solutions, mean = self.optimum(theta)
        changes = []
        for number, (problem, solution) in enumerate(zip(self.emg.problems, solutions, strict=True)):
            activation = np.atleast_2d(solution.activation)
            tilt = self._tilt(problem, theta, np.nan_to_num(activation))
            moved = solution_derivatives(problem, cost, solution).along(d_marginal_cost=tilt).activation
            solved = np.asarray(np.isfinite(activation).all(axis=1))
            changes.append(self.emg.mean_of(number, moved.reshape(tilt.shape), solved))
        gain, _ = self.scales.fitted(self.emg, mean)
        change = gain * np.concatenate(changes, axis=1) * self.emg.measured  # (K, T, C)
        change = self.scales.project(self.emg, mean, change) / self.size
        return change.reshape(len(theta), -1).T

    def _tilt(self, problem: Problem, theta: Array, activation: Array) -> Array:
        """The derivatives of the marginal costs by theta at activations (T, n), by differences, (K, T, n)."""
        low, high, make = self.family.low, self.family.high, self.family.make
        slopes = []
        for move in np.diag(STEP * (high - low)):
            above, below = np.minimum(theta + move, high), np.maximum(theta - move, low)
            ends = [make(end).gradient(problem, activation) for end in (above, below)]
            slopes.append((ends[0] - ends[1]) / (above - below).max())
        return np.stack(slopes)


@dataclass(frozen=True, eq=False)
class CostFit:
    """A cost fitted to EMG, with what the EMG determines of it.

    Attributes:
        family: the costs among which it was sought.
        theta: (K,) the parameters found, in the order of `family.parameters`.
        cost: the cost of these parameters.
        emg: what was measured; frames out of reach are left out.
        gain, offset: of each channel, (C,) in units of the EMG.
        standard_error: (K,) of the parameters by the curvature of the loss; `interval` needs no small noise.
        covariance: (K, K), of the directions that have an effect.
        numbers: EMG numbers that were used.
        independent_numbers: as many independent numbers tell as much.
    """

    family: CostFamily
    theta: Array
    cost: Cost
    emg: EmgMeasurement
    gain: Array
    offset: Array
    standard_error: Array
    covariance: Array
    numbers: int
    independent_numbers: float
    _weakest: Array = field(repr=False)  # (K,) joint change of the parameters with the least effect
    _loss: float = field(repr=False)
    _noise: Array = field(repr=False)  # (K,) rise of the loss by one variance of each parameter
    _search: _Search = field(repr=False)
    _intervals: dict[tuple[str, float], tuple[float, float]] = field(default_factory=dict, repr=False)
    __repr__ = with_sizes

    @property
    def values(self) -> dict[str, float]:
        """The parameters found, by name."""
        return dict(zip(self.family.parameters, self.theta.tolist(), strict=True))

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        return self.emg.names

    def profile(self, name: str, values: ArrayLike) -> Array:
        """The rise of the loss at values (V,) of a parameter, the others adapted, over the variance of its noise, (V,).

        A value is in the 95 % interval where the rise is below the quantile of F(1, independent numbers), about 4.
        """
        place = self._place(name)
        values = np.atleast_1d(check_real_array(values, "values", "(V,)", shapes=((np.size(values),), ())))
        low, high = self.family.low[place], self.family.high[place]
        for value in values:
            check_number(
                float(value), name, "a value within its range", least=low, most=high, where="profile"
            )
        return np.array([self._rise(place, float(value), self.theta)[0] for value in values])

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """The interval of a parameter by its profile; infinite on a side where it does not end within the range."""
        level = check_number(level, "level", "a number between 0 and 1", above=0.0, below=1.0)
        place = self._place(name)
        if (name, level) not in self._intervals:
            self._intervals[name, level] = self._end(place, -1.0, level), self._end(place, 1.0, level)
        return self._intervals[name, level]

    @property
    def determined(self) -> dict[str, bool]:
        """Whether the 95 % interval of each parameter ends on both sides within its range."""
        return {name: bool(np.isfinite(self.interval(name)).all()) for name in self.family.parameters}

    @property
    def weakest_direction(self) -> dict[str, float]:
        """The joint change of the parameters that alters the predictions least; the largest entry is 1 or -1."""
        largest = np.abs(self._weakest).max()
        return dict(zip(self.family.parameters, (self._weakest / largest).tolist(), strict=True))

    @property
    def constant(self) -> tuple[str, ...]:
        """Channels whose EMG is the same at all times: an offset explains it under every cost."""
        return tuple(np.array(self.channels)[self.emg.measured.any(axis=0) & ~self.emg.varies].tolist())

    @property
    def unexplained(self) -> tuple[str, ...]:
        """Channels whose EMG varies, and does not rise with the fitted activation."""
        _, _, mean = self._search.optimum(self.theta)
        predicted = replace(self.emg, emg=self.gain * mean).keep(self.emg.measured)
        explains = predicted.deviation > RESOLUTION * self.emg.size
        return tuple(np.array(self.channels)[self.emg.varies & ~explains].tolist())

    def sentences(self) -> list[str]:
        """Sentences on what the EMG determines of the cost, and what it does not."""
        said = [
            f"{self.numbers} numbers of {len(self.channels)} channels tell as much as {self.independent_numbers:.0f} "
            "independent ones."
        ]
        for name, value in self.values.items():
            low, high = self.interval(name)
            if np.isfinite([low, high]).all():
                said.append(f"{name} is {value:.3g} (95 % interval {low:.3g} to {high:.3g}).")
            elif np.isfinite(low):
                said.append(f"{name} is above {low:.3g}; the EMG does not tell how far.")
            elif np.isfinite(high):
                said.append(f"{name} is below {high:.3g}; the EMG does not tell how far.")
            else:
                said.append(f"The EMG does not determine {name}.")
        if self.unexplained:
            flat = ", ".join(self.unexplained)
            said.append(
                f"EMG that does not rise with the activation, which this cost does not explain: {flat}."
            )
        if self.constant:
            said.append(
                f"EMG that is the same at all times, and shows nothing of a cost: {', '.join(self.constant)}."
            )
        if len(self.theta) > 1 and not all(self.determined.values()):
            together = ", ".join(f"{name} {by:+.2g}" for name, by in self.weakest_direction.items())
            said.append(f"These changes together alter the predicted EMG least: {together}.")
        return said

    def predicted(self) -> Array:
        """The EMG that the fitted cost predicts, (T, C): gain times mean activation plus offset."""
        return np.asarray(self.gain * self._means(self.cost) + self.offset)

    def beside(self, costs: Iterable[str | Cost] | None = None) -> Agreement:
        """The agreement of the fitted and of other costs with each channel, on the data of the fit.

        costs: the named costs for which the problems have the data, unless given.
        """
        chosen = [self.cost, *self._others(costs)]
        means = [self._means(cost) for cost in chosen]
        return Agreement(_labels(chosen), self.channels, *self._score(means, self.emg, self.emg))

    def left_out(self, by: str = "channel", costs: Iterable[str | Cost] | None = None) -> Agreement:
        """The agreement with channels or strides that the fit has not seen, each left out of a fit of its own.

        A channel is left out with all channels of the same muscles, and has its own gain and offset, since nothing else
        knows them. A stride has gains and offsets of the other strides, for named costs, too; its agreement is the mean
        over its channels.

        Args:
            by: "channel" or "stride".
            costs: the named costs for which the problems have the data, unless given.

        Raises:
            InputError: fewer than two channels or strides, or strides that were not stated.
        """
        check_choice(by, "by", ("channel", "stride"), where="left_out(by=...)")
        chosen = [self.cost, *self._others(costs)]
        others, scores, tests = [self._means(cost) for cost in chosen[1:]], [], self._tests(by)
        in_stride = np.isfinite(self.emg.stride)[:, None] | (by == "channel")
        for mask in tests.values():
            train, test = self.emg.keep(self.emg.measured & ~mask & in_stride), self.emg.keep(mask)
            again = _fitted(train, self.family, self._search.scales, self._search.solver, [self.theta])
            correlation, missed = self._score(
                [self._means(again.cost), *others], test, test if by == "channel" else train
            )
            seen = np.isfinite(missed).all(axis=0)
            scores.append(
                (mean_of_known(correlation[:, seen], axis=1), mean_of_known(missed[:, seen], axis=1))
            )
        correlations, shares = (np.stack(each, axis=1) for each in zip(*scores, strict=True))
        return Agreement(_labels(chosen), tuple(tests), correlations, shares)

    def _tests(self, by: str) -> dict[str, Mask]:
        """Label of each channel or stride -> mask (T, C) of its numbers."""
        measured, stride = self.emg.measured, self.emg.stride
        if by == "channel":
            alike = self.emg.alike
            first = {muscles: name for name, muscles in reversed([*zip(self.emg.names, alike, strict=True)])}
            tests = {
                name: measured & np.array([of == muscles for of in alike])
                for muscles, name in reversed(first.items())
            }
        else:
            tests = {
                name: measured & (stride == number)[:, None]
                for number, name in enumerate(self.emg.stride_names)
            }
            # a stride is scaled by other strides, in channels that these show
            of_others = {
                name: measured & np.isfinite(stride)[:, None] & ~mask for name, mask in tests.items()
            }
            tests = {name: mask & (of_others[name].sum(axis=0) >= FEWEST) for name, mask in tests.items()}
        tests = {name: mask for name, mask in tests.items() if (mask.sum(axis=0) >= FEWEST).any()}
        if len(tests) < 2:
            raise input_error(
                "missing_argument",
                where="left_out",
                problem=f"there are fewer than two {by}s to leave out",
                expected=f"two {by}s or more" + (", fit_cost(..., strides=...)" if by == "stride" else ""),
            )
        return tests

    def _others(self, costs: Iterable[str | Cost] | None) -> list[Cost]:
        if costs is not None:
            listed = [costs] if isinstance(costs, str | Cost) else costs
            check_type(listed, Iterable, "costs", "names of costs, or Cost objects")
            return [find_cost(cost) for cost in listed]
        return [
            cost
            for cost in map(find_cost, NAMED)
            if all(getattr(problem, data) is not None for problem in self.emg.problems for data in cost.data)
        ]

    def _means(self, cost: Cost) -> Array:
        """Mean activations (T, C) of the channels under a cost, NaN where it has no solution."""
        solver = self._search.solver if cost.built_in and cost.needs == {"separable"} else USUAL_SOLVER
        return self.emg.means(solve(problem, cost, solver).activation for problem in self.emg.problems)

    def _score(
        self, means: Sequence[Array], test: EmgMeasurement, train: EmgMeasurement
    ) -> tuple[Array, Array]:
        """Correlation and missed share (J, C) of J predictions, with gains and offsets of the frames to train on."""
        solved, scales = np.all([np.isfinite(mean) for mean in means], axis=0), self._search.scales
        test, train = test.keep(test.measured & solved), train.keep(train.measured & solved)
        total = mean_of_known(np.square(test.emg - (test.level if scales.offsets else 0.0)))
        enough = (test.measured.sum(axis=0) >= FEWEST) & (total > 0.0)
        correlation, missed = [], []
        for mean in map(np.nan_to_num, means):
            gain, offset = scales.fitted(train, mean)
            left = mean_of_known(np.square(gain * mean + offset - test.emg))
            missed.append(np.divide(left, total, out=np.full_like(left, np.nan), where=enough))
            r = [pearson(*pair) for pair in zip(mean.T, test.emg.T, test.measured.T, strict=True)]
            correlation.append(np.where(enough, r, np.nan))
        return np.stack(correlation), np.stack(missed)

    def _place(self, name: str) -> int:
        check_choice(name, "the parameter", self.family.parameters, where="CostFit")
        return self.family.parameters.index(name)

    def _rise(self, place: int, value: float, near: Array) -> tuple[float, Array]:
        """The rise of the loss over its noise with one parameter at a value, and the parameters (K,) there."""
        free = np.delete(np.arange(len(self.theta)), place)

        def parameters(part: Array) -> Array:
            theta = np.empty(len(self.theta))
            theta[free], theta[place] = part, value
            return theta

        theta = parameters(near[free])
        if free.size:
            theta = parameters(
                _least_squares(
                    lambda part: self._search.residual(parameters(part)),
                    lambda part: self._search.jacobian(parameters(part))[:, free],
                    near[free],
                    self.family.low[free],
                    self.family.high[free],
                    OF_PROFILE,
                ).x
            )
        loss = float((self._search.residual(theta) ** 2).sum())
        return (loss - self._loss) / float(self._noise[place]), theta

    def _end(self, place: int, way: float, level: float) -> float:
        """One end of an interval: where the profile reaches the quantile; infinite where it does not in the range."""
        from scipy.stats import f as f_distribution

        most = float(f_distribution.ppf(level, 1, max(self.independent_numbers, 1.0)))
        limit = float((self.family.high if way > 0 else self.family.low)[place])
        room = abs(limit - self.theta[place])
        if room <= STEP * (self.family.high - self.family.low)[place]:
            return way * np.inf
        # the root of the rise grows about evenly: the next distance by interpolation, within a bracket
        inside, of_inside, near = 0.0, 0.0, self.theta
        outside, of_outside = np.inf, np.inf
        distance = min(max(float(self.standard_error[place]) * np.sqrt(most), FIRST_PROBE * room), room)
        for _ in range(MOST_PROBES):
            rise, theta = self._rise(place, self.theta[place] + way * distance, near)
            of_this = float(np.sqrt(max(rise, 0.0)))
            if abs(of_this - np.sqrt(most)) <= CLOSE * np.sqrt(most):
                break
            if of_this > np.sqrt(most):
                outside, of_outside = distance, of_this
            elif distance == room:
                return way * np.inf
            else:
                inside, of_inside, near = distance, of_this, theta
            if np.isinf(outside):
                distance = min(
                    max(distance * min(np.sqrt(most) / max(of_this, 1e-3), 4.0), 1.2 * distance), room
                )
            else:
                share = (np.sqrt(most) - of_inside) / (of_outside - of_inside)
                distance = inside + min(max(share, 0.1), 0.9) * (outside - inside)
        return float(self.theta[place] + way * distance)


def fit_cost(
    problem: Problem | Sequence[Problem],
    emg: ArrayLike | Sequence[ArrayLike],
    channels: Any = None,
    family: str | Cost | Sequence[str | Cost] = "general_power",
    free: Mapping[str, tuple[float, float]] | None = None,
    *,
    gains: bool = True,
    offsets: bool = True,
    strides: Any = None,
    smoothing: Any = None,
    solver: str | Solver = USUAL_SOLVER,
) -> CostFit:
    """Fit the parameters of a cost to EMG of some muscles.

    The EMG needs no scale: each channel has a gain and an offset of its own, unless these are switched off.

    Args:
        problem: T frames with n muscles; or a list, one for each leg or trial, whose muscles may differ. Frames whose
            moments are out of reach are left out.
        emg: (T, C) envelopes in any unit, a delay of activation behind EMG taken off; NaN where nothing was measured.
            One array for each problem. Named columns of a DataFrame are found by the names of the channels.
        channels: the muscles of each channel, whose mean activation it shows: a table of C names with the names of
            muscles, {"hamstrings": ["semimem_r", "bflh_r"]}, or (C, n) shares. None: the n muscles, in their order.
            One for each problem; a name that stands in several is one electrode, with one gain and offset.
        family: a cost whose options are fitted, "general_power" unless given; or two costs or more whose weights are
            fitted.
        free: options of the cost that are fitted -> least and largest value. By default all of `general_power`, and
            the exponent of another cost.
        gains: whether each channel has an unknown gain; without, EMG is activation.
        offsets: whether each channel has an unknown offset.
        strides: (T,) number of the stride of each frame, for `CostFit.left_out("stride")`; NaN outside of strides. One
            for each problem.
        smoothing: (T, T) weights with which the filters of the envelopes smooth activation, a row for each frame.
            Without them an envelope that is smoother than activation moves the parameters. One for each problem.
        solver: by which frames are shared.

    Raises:
        InputError: shapes or names that do not fit, a cost that is not smooth and convex or has no such option, or
            fewer independent measurements than parameters.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.04, 0.03]], 10 + 5 * np.sin(np.arange(40.0))[:, None], [900.0, 500.0, 700.0],
        ...     [1000.0, 600.0, 800.0])
        >>> emg = 3.0 * ms.solve(problem, "activation_power(exponent=3)").activation + 0.1
        >>> fit = ms.sharing.fit_cost(problem, emg, family="activation_power")
        >>> round(fit.values["exponent"], 3)
        3.0
    """
    if isinstance(problem, Problem):
        entries = [(problem, emg, channels, strides, smoothing)]
    else:
        if not isinstance(problem, list | tuple):
            check_problem(problem, "fit_cost")
        lists: list[list[Any]] = [list(problem)]
        given = {"emg": emg, "channels": channels, "strides": strides, "smoothing": smoothing}
        for name, value in given.items():
            lists.append([None] * len(lists[0]) if value is None and name != "emg" else members(value))
            if len(lists[-1]) != len(lists[0]):
                raise input_error(
                    "bad_shape",
                    where=f"fit_cost({name}=...)",
                    problem=f"there are {len(lists[0])} problems, and {len(lists[-1])} entries of {name}",
                    expected="a list with one entry for each problem",
                )
        entries = list(zip(*lists, strict=True))
    if not entries:
        raise input_error(
            "missing_argument", where="fit_cost", problem="there is no problem", expected="one or more"
        )
    for name, switch in (("gains", gains), ("offsets", offsets)):
        check_type(switch, bool, name, "True or False")
    scales, shown = Scales(gains, offsets), measured(entries)
    reached = [solve(each, REACH) for each in shown.problems]
    solved = np.concatenate([np.atleast_1d(solution.solved) for solution in reached])
    if not solved.any():
        raise input_error(
            "bad_value",
            where="fit_cost",
            problem="no frame can be shared: the moments are out of reach of the muscles",
            expected="a frame with a solution",
            remedy="ms.diagnose names the missing moments of a problem",
        )
    shown = shown.keep(shown.measured & solved[:, None])
    chosen = family_of(family, free, shown.problems, reached)
    numbers, used = int(shown.measured.sum()), int(shown.measured.any(axis=0).sum())
    if numbers <= len(chosen.start) + used * scales.count:
        raise input_error(
            "bad_value",
            where="fit_cost(emg=...)",
            problem=f"{numbers} numbers of EMG in frames with a solution are not enough for {len(chosen.start)} "
            f"parameter(s) and {used * scales.count} scales",
            expected=f"more frames or channels; a channel counts with {FEWEST} numbers or more",
        )
    return _fitted(shown, chosen, scales, solver, starts_of(chosen))


def _labels(costs: Sequence[Cost]) -> tuple[str, ...]:
    return (FITTED, *(cost.label for cost in costs[1:]))


def _least_squares(
    residual: Any, jacobian: Any, start: Array, low: Array, high: Array, least_change: float = 1e-11
) -> Any:
    """Gauss-Newton steps within a trust region and bounds, until the loss changes by less than a share."""
    from scipy.optimize import least_squares

    width = high - low
    start = np.clip(start, low + 1e-9 * width, high - 1e-9 * width)
    return least_squares(
        residual, start, jacobian, (low, high), x_scale=width, xtol=1e-9, ftol=least_change, max_nfev=60
    )


def _fitted(
    emg: EmgMeasurement, family: CostFamily, scales: Scales, solver: str | Solver, starts: Sequence[Array]
) -> CostFit:
    """The best of the fits from several starts, with the statistics of its residuals."""
    search, width = _Search(emg, family, scales, solver), family.high - family.low
    found = [
        _least_squares(search.residual, search.jacobian, start, family.low, family.high) for start in starts
    ]
    theta = np.asarray(min(found, key=lambda result: float(result.cost)).x, float)
    residual = search.residual(theta).reshape(emg.emg.shape)
    slopes = search.jacobian(theta).reshape(*emg.emg.shape, len(theta))
    gain, offset = scales.fitted(emg, search.optimum(theta)[2])

    # variance of the residuals of each channel, and how many of them are independent
    used = emg.measured.sum(axis=0)
    left = np.maximum(used * (1.0 - len(theta) / used.sum()) - scales.count * (used > 0), 1.0)
    resolved = np.square(RESOLUTION * np.where(gain > 0.0, gain, 1.0) / search.size)
    alike = emg.inflation(residual)
    variance = alike * np.maximum(np.square(residual).sum(axis=0) / left, resolved)
    independent = float((left / alike)[used > 0].sum())

    # covariance of the parameters over their ranges, in the directions that have an effect
    scaled = (slopes * width).reshape(-1, len(theta))
    curvature, direction = np.linalg.eigh(scaled.T @ scaled)
    seen = curvature > UNSEEN * max(curvature[-1], np.finfo(float).tiny)
    inverse = (direction[:, seen] / curvature[seen]) @ direction[:, seen].T
    middle = np.einsum("tck,c,tcl->kl", slopes * width, variance, slopes * width)
    covariance = inverse @ middle @ inverse
    own, alone = np.diag(covariance), np.diag(inverse)
    noise = np.divide(own, alone, out=np.zeros_like(own), where=alone > 0.0)
    unseen = np.square(direction[:, ~seen]).sum(axis=1) > UNSEEN
    return CostFit(
        family=family,
        theta=theta,
        cost=family.make(theta),
        emg=emg,
        gain=gain,
        offset=offset,
        standard_error=np.where(unseen, np.inf, np.sqrt(own) * width),
        covariance=covariance * np.outer(width, width),
        numbers=int(used.sum()),
        independent_numbers=max(independent, 1.0),
        _weakest=direction[:, 0] * width,
        _loss=float((residual**2).sum()),
        # a mean of the variances of the channels, also for a parameter without effect
        _noise=np.clip(noise, variance[used > 0].min(), variance[used > 0].max()),
        _search=search,
    )
