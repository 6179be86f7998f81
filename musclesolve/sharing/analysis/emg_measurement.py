"""EMG beside the problems that it belongs to, and the unknown scales of its channels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_real_array
from musclesolve._util.messages import with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.problem import Problem

RESOLUTION = 1e-6
"""Activation that solutions resolve: residuals of this size are not noise of a recording."""
FEWEST = 10
"""Fewest frames of a channel, or of a stride, that count."""


@dataclass(frozen=True, eq=False)
class Measured:
    """EMG of C channels beside P problems; the frames of all problems stand one after the other, T in all.

    Attributes:
        problems: the moments to share.
        shares: of each problem, (C, n): how a channel averages its n muscles; zero for a channel of other problems.
        names: of the channels.
        emg: (T, C) envelopes in any unit, delayed as activation is; NaN where nothing was measured.
        stride: (T,) number of the stride of each frame, NaN outside of strides; other numbers in each problem.
    """

    problems: tuple[Problem, ...]
    shares: tuple[Array, ...]
    names: tuple[str, ...]
    emg: Array
    stride: Array
    __repr__ = with_sizes

    @cached_property
    def known(self) -> Mask:
        """Mask of the numbers that were measured, (T, C)."""
        return np.isfinite(self.emg)

    @property
    def level(self) -> Array:
        """The mean of each channel, (C,)."""
        return np.asarray(np.nan_to_num(self.emg).sum(axis=0) / np.maximum(self.known.sum(axis=0), 1))

    @property
    def deviation(self) -> Array:
        """The standard deviation of each channel, (C,); one for a channel that does not vary."""
        deviation = np.sqrt(mean_square(self.emg - self.level, self.known))
        return np.where(deviation > 0.0, deviation, 1.0)

    @cached_property
    def follows(self) -> Mask:
        """Mask of the frames but the first, (T - 1,), that follow the frame before in one problem."""
        number = np.repeat(np.arange(len(self.problems)), [problem.n_frames for problem in self.problems])
        return np.asarray(number[1:] == number[:-1])

    def keep(self, mask: Mask) -> "Measured":
        """Leave out what a mask (T, C) does not keep."""
        return replace(self, emg=np.where(mask, self.emg, np.nan))

    def means(self, activations: Iterable[Array]) -> Array:
        """Mean activations of the channels, (T, C), from the activations (T, n) of each problem."""
        pairs = zip(activations, self.shares, strict=True)
        return np.concatenate([np.atleast_2d(activation) @ shares.T for activation, shares in pairs])

    def inflation(self, residual: Array) -> Array:
        """How many residuals (T, C) of each channel count as one, (C,): (1 + rho) / (1 - rho), rho from 0 to 0.999.

        rho is the correlation of the residuals of successive frames.
        """
        both = self.known[1:] & self.known[:-1] & self.follows[:, None]
        products = (residual[1:] * residual[:-1] * both).sum(axis=0)
        squares = ((residual[1:] ** 2 + residual[:-1] ** 2) * both).sum(axis=0) / 2.0
        rho = np.divide(products, squares, out=np.zeros_like(squares), where=squares > 0.0)
        rho = np.clip(rho, 0.0, 0.999)
        return np.asarray((1.0 + rho) / (1.0 - rho))


@dataclass(frozen=True)
class Scales:
    """Whether the channels have unknown gains and offsets: y = g x + o of a mean activation x."""

    gains: bool
    offsets: bool

    @property
    def count(self) -> int:
        """Numbers of unknown scales of a channel."""
        return self.gains + self.offsets

    def fitted(self, emg: Measured, mean: Array) -> tuple[Array, Array]:
        """Gains and offsets (C,) that bring means (T, C) of activations nearest to the EMG."""
        values, known = np.nan_to_num(emg.emg), emg.known
        count = np.maximum(known.sum(axis=0), 1)
        if not self.offsets:
            zero = np.zeros(mean.shape[1])
            if not self.gains:
                return np.ones(mean.shape[1]), zero
            square = (mean**2 * known).sum(axis=0)
            return _ratio((mean * values * known).sum(axis=0), square), zero
        middle, level = (mean * known).sum(axis=0) / count, (values * known).sum(axis=0) / count
        if not self.gains:
            return np.ones(mean.shape[1]), level - middle
        centered = (mean - middle) * known
        gain = np.maximum(_ratio((centered * values).sum(axis=0), (centered**2).sum(axis=0)), 0.0)
        return gain, level - gain * middle

    def project(self, emg: Measured, mean: Array, change: Array) -> Array:
        """Take from changes (K, T, C) what other gains and offsets would undo."""
        count, direction = np.maximum(emg.known.sum(axis=0), 1), mean * emg.known
        if self.offsets:
            direction = (direction - direction.sum(axis=0) / count) * emg.known
            change = (change - change.sum(axis=1, keepdims=True) / count) * emg.known
        if self.gains:
            along = np.einsum("ktc,tc->kc", change, direction)
            square = (direction**2).sum(axis=0)
            change = change - direction * _ratio(along, np.broadcast_to(square, along.shape))[:, None, :]
        return change


def measured(entries: Sequence[tuple[Any, Any, Any, Any]]) -> Measured:
    """The EMG of problems: entries of problem, envelopes, channels and strides, checked."""
    problems, tables = [], []
    for number, (problem, emg, channels, strides) in enumerate(entries):
        problem = replace(check_problem(problem, "fit_cost"))
        frames = problem.n_frames
        names, shares = _channels(channels, problem)
        where = "emg" if len(entries) == 1 else f"emg[{number}]"
        shape = (frames, len(names))
        envelope = check_real_array(emg, where, f"{shape}, frames and channels", shapes=(shape,))
        stride = np.full(frames, np.nan)
        if strides is not None:
            stride = check_real_array(strides, "strides", f"({frames},)", shapes=((frames,),))
        problems.append(problem)
        tables.append((names, shares, envelope, stride))
    every = tuple(dict.fromkeys(name for names, *_ in tables for name in names))
    total = sum(problem.n_frames for problem in problems)
    whole, all_shares, strides, first, count = np.full((total, len(every)), np.nan), [], [], 0, 0.0
    for problem, (names, shares, envelope, stride) in zip(problems, tables, strict=True):
        columns = [every.index(name) for name in names]
        whole[first : first + problem.n_frames, columns] = envelope
        first += problem.n_frames
        of_all = np.zeros((len(every), problem.n_muscles))
        of_all[columns] = shares
        all_shares.append(of_all)
        numbers, order = np.unique(stride[np.isfinite(stride)], return_inverse=True)
        renumbered = stride.copy()
        renumbered[np.isfinite(stride)] = count + 1.0 + order
        strides.append(renumbered)
        count += len(numbers)
    few = np.isfinite(whole).sum(axis=0) < FEWEST
    whole[:, few] = np.nan
    return Measured(tuple(problems), tuple(all_shares), every, whole, np.concatenate(strides))


def _channels(channels: Any, problem: Problem) -> tuple[tuple[str, ...], Array]:
    """Names of the channels, and the shares (C, n) by which they average muscles."""
    muscles = tuple(problem.muscle or map(str, range(problem.n_muscles)))
    if channels is None:
        return muscles, np.eye(len(muscles))
    if isinstance(channels, Mapping):
        shares = np.zeros((len(channels), len(muscles)))
        for row, (name, of) in zip(shares, channels.items(), strict=True):
            listed = [of] if isinstance(of, str) else list(of)
            for muscle in listed:
                check_choice(
                    muscle, f"the muscle of channel {name!r}", muscles, where="fit_cost(channels=...)"
                )
            if not listed:
                raise input_error(
                    "missing_argument",
                    where="fit_cost(channels=...)",
                    problem=f"the channel {name!r} has no muscle",
                    expected="one muscle or more",
                )
            row[[muscles.index(muscle) for muscle in listed]] = 1.0 / len(listed)
        return tuple(map(str, channels)), shares
    shares = np.atleast_2d(check_real_array(channels, "channels", f"(C, {len(muscles)})"))
    if shares.shape[1] != len(muscles):
        raise input_error(
            "bad_shape",
            where="fit_cost(channels=...)",
            problem=f"channels is {shares.shape}",
            expected=f"(C, {len(muscles)}), a share of each muscle",
        )
    return tuple(f"channel {k + 1}" for k in range(len(shares))), shares


def pearson(first: Array, second: Array, known: Mask) -> float:
    """The correlation of two curves (T,) where they are known; zero where one of them does not vary."""
    a, b = first[known], second[known]
    if a.size < 2 or not (np.ptp(a) > RESOLUTION and np.ptp(b) > 0.0):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def mean_square(values: Array, known: Mask) -> Array:
    """The mean of the squares of the known values (T, C) of each channel, (C,)."""
    return (np.where(known, values, 0.0) ** 2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > RESOLUTION**2)
