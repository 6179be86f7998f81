"""EMG beside the problems that it belongs to, and the unknown scales of its channels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, mean_of_known
from musclesolve._util.checks import check_choice, check_real_array
from musclesolve._util.messages import with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, members
from musclesolve.sharing.problem import Problem

RESOLUTION = 1e-6
"""Activation that solutions resolve: residuals of this size are not noise of a recording."""
FEWEST = 10
"""Fewest frames of a channel, or of a stride, that count."""
LEAST_SIZE = 1e-60
"""Smallest EMG, and one over the largest, whose squares are floating-point numbers."""


@dataclass(frozen=True, eq=False)
class EmgMeasurement:
    """EMG of C channels beside P problems; the frames of all problems stand one after the other, T in all.

    Attributes:
        problems: the moments to share.
        shares: of each problem, (C, n): how a channel averages its n muscles; zero for a channel of other problems.
        names: of the channels.
        emg: (T, C) envelopes in any unit, delayed as activation is; NaN where nothing was measured.
        stride: (T,) index into `stride_names` of each frame, NaN outside of strides.
        stride_names: of the strides of all problems.
        smoothing: of each problem, (T, T) weights by which the recording smooths activation, or None.
    """

    problems: tuple[Problem, ...]
    shares: tuple[Array, ...]
    names: tuple[str, ...]
    emg: Array
    stride: Array
    stride_names: tuple[str, ...]
    smoothing: tuple[Array | None, ...]
    __repr__ = with_sizes

    @cached_property
    def measured(self) -> Mask:
        """Mask of the numbers that were measured, (T, C)."""
        return np.isfinite(self.emg)

    @property
    def level(self) -> Array:
        """The mean of each channel, (C,); NaN for a channel without numbers."""
        return mean_of_known(self.emg)

    @property
    def deviation(self) -> Array:
        """The standard deviation of each channel, (C,); NaN for a channel without numbers."""
        return np.sqrt(mean_of_known(np.square(self.emg - self.level)))

    @property
    def varies(self) -> Mask:
        """Mask of the channels (C,) whose deviation exceeds round-off of their level."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.deviation > RESOLUTION * np.abs(self.level))

    @property
    def size(self) -> Array:
        """The unit in which each channel is compared, (C,): its deviation, one for a channel that does not vary."""
        return np.where(self.varies, self.deviation, 1.0)

    @cached_property
    def follows(self) -> Mask:
        """Mask of the frames but the first, (T - 1,), that follow the frame before in one problem."""
        number = np.repeat(np.arange(len(self.problems)), [problem.n_frames for problem in self.problems])
        return np.asarray(number[1:] == number[:-1])

    def keep(self, mask: Mask) -> "EmgMeasurement":
        """Leave out what a mask (T, C) does not keep."""
        return replace(self, emg=np.where(mask, self.emg, np.nan))

    @cached_property
    def alike(self) -> tuple[frozenset[str], ...]:
        """The muscles of each channel: channels of the same muscles measure the same."""
        muscles: list[set[str]] = [set() for _ in self.names]
        for problem, shares in zip(self.problems, self.shares, strict=True):
            for channel, muscle in zip(*np.nonzero(shares), strict=True):
                muscles[channel].add((problem.muscle or ())[muscle])
        return tuple(map(frozenset, muscles))

    def mean_of(self, number: int, activation: Array, solved: Mask) -> Array:
        """Means of the channels (..., T, C) from activations (..., T, n) of one problem, of its solved frames (T,).

        The other frames are zero, and do not count in the smoothing.
        """
        mean = np.where(solved[:, None], np.nan_to_num(activation) @ self.shares[number].T, 0.0)
        weights = self.smoothing[number]
        if weights is None:
            return np.asarray(mean)
        weights = np.where(solved, weights, 0.0)
        return np.asarray(weights @ mean / _nonzero(weights.sum(axis=1))[:, None])

    def means(self, activations: Iterable[Array]) -> Array:
        """Means of the channels, (T, C), from the activations (T, n) of each problem; NaN without solution."""
        parts = []
        for number, activation in enumerate(activations):
            solved = np.asarray(np.isfinite(np.atleast_2d(activation)).all(axis=1))
            mean = self.mean_of(number, np.atleast_2d(activation), solved)
            parts.append(np.where(solved[:, None], mean, np.nan))
        return np.concatenate(parts)

    def inflation(self, residual: Array) -> Array:
        """How many residuals (T, C) of each channel count as one, (C,): (1 + rho) / (1 - rho), rho from 0 to 0.999.

        rho is the correlation of the residuals of successive frames.
        """
        both = self.measured[1:] & self.measured[:-1] & self.follows[:, None]
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

    def fitted(self, emg: EmgMeasurement, mean: Array) -> tuple[Array, Array]:
        """Gains and offsets (C,) that bring means (T, C) of activations nearest to the EMG."""
        values, valid = np.nan_to_num(emg.emg), emg.measured
        count = np.maximum(valid.sum(axis=0), 1)
        if not self.offsets:
            zero = np.zeros(mean.shape[1])
            if not self.gains:
                return np.ones(mean.shape[1]), zero
            square = (mean**2 * valid).sum(axis=0)
            return _ratio((mean * values * valid).sum(axis=0), square), zero
        middle, level = (mean * valid).sum(axis=0) / count, (values * valid).sum(axis=0) / count
        if not self.gains:
            return np.ones(mean.shape[1]), level - middle
        centered = (mean - middle) * valid
        gain = np.maximum(_ratio((centered * values).sum(axis=0), (centered**2).sum(axis=0)), 0.0)
        return gain, level - gain * middle

    def project(self, emg: EmgMeasurement, mean: Array, change: Array) -> Array:
        """Take from changes (K, T, C) what other gains and offsets would undo."""
        count, direction = np.maximum(emg.measured.sum(axis=0), 1), mean * emg.measured
        if self.offsets:
            direction = (direction - direction.sum(axis=0) / count) * emg.measured
            change = (change - change.sum(axis=1, keepdims=True) / count) * emg.measured
        if self.gains:
            along = np.einsum("ktc,tc->kc", change, direction)
            square = (direction**2).sum(axis=0)
            change = change - direction * _ratio(along, np.broadcast_to(square, along.shape))[:, None, :]
        return change


def measured(entries: Sequence[tuple[Any, Any, Any, Any, Any]]) -> EmgMeasurement:
    """The EMG of problems: entries of problem, envelopes, channels, strides and smoothing, checked."""
    tables, several = [], len(entries) > 1
    for number, (problem, emg, channels, strides, smoothing) in enumerate(entries):
        problem = replace(check_problem(problem, "fit_cost"))
        frames = problem.n_frames
        names, shares = _channels(channels, problem)
        where = f"emg[{number}]" if several else "emg"
        shape = (frames, len(names))
        named = isinstance(channels, Mapping | None)
        columns = _by_name(emg, names, where) if named else emg
        envelope = check_real_array(columns, where, f"{shape}, frames and channels", shapes=(shape,))
        _check_sizes(envelope, names, where)
        stride = np.full(frames, np.nan)
        if strides is not None:
            stride = check_real_array(strides, "strides", f"({frames},)", shapes=((frames,),))
        if smoothing is not None:
            square = (frames, frames)
            smoothing = check_real_array(smoothing, "smoothing", f"{square} weights", shapes=(square,))
            if not (np.isfinite(smoothing).all() and (smoothing.sum(axis=1) > 0.0).all()):
                raise input_error(
                    "bad_value",
                    where="smoothing",
                    problem="a weight is not finite, or the weights of a frame add up to zero or less",
                    expected="in each row the weights with which a filter adds frames up, of sum one",
                )
        tables.append((problem, names, shares, envelope, stride, smoothing))
    every = tuple(dict.fromkeys(name for _, names, *_ in tables for name in names))
    whole = np.full((sum(problem.n_frames for problem, *_ in tables), len(every)), np.nan)
    all_shares, strides_of_all, stride_names, first = [], [], list[str](), 0
    for number, (problem, names, shares, envelope, stride, _) in enumerate(tables):
        columns = [every.index(name) for name in names]
        whole[first : first + problem.n_frames, columns] = envelope
        first += problem.n_frames
        of_all = np.zeros((len(every), problem.n_muscles))
        of_all[columns] = shares
        all_shares.append(of_all)
        renumbered = np.full(len(stride), np.nan)
        for value in np.unique(stride[np.isfinite(stride)]):
            renumbered[stride == value] = len(stride_names)
            stride_names.append(f"stride {value:g}" + (f" of problem {number + 1}" if several else ""))
        strides_of_all.append(renumbered)
    whole[:, np.isfinite(whole).sum(axis=0) < FEWEST] = np.nan
    return EmgMeasurement(
        problems=tuple(table[0] for table in tables),
        shares=tuple(all_shares),
        names=every,
        emg=whole,
        stride=np.concatenate(strides_of_all),
        stride_names=tuple(stride_names),
        smoothing=tuple(table[5] for table in tables),
    )


def _by_name(emg: Any, names: tuple[str, ...], where: str) -> Any:
    """The columns of the channels, in their order, of EMG with names of columns; other EMG as it is."""
    table = emg.to_pandas() if hasattr(emg, "to_pandas") and getattr(emg, "ndim", 0) == 2 else emg
    columns = getattr(table, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return emg
    for name in names:
        check_choice(name, "the channel", tuple(columns), where=f"{where}, of named columns")
    if repeated := [name for name in names if list(columns).count(name) > 1]:
        raise input_error(
            "duplicate_name",
            where=where,
            problem=f"two columns have the name {repeated[0]}",
            expected="one column for each channel",
        )
    return table[list(names)]


def _check_sizes(envelope: Array, names: tuple[str, ...], where: str) -> None:
    """Refuse numbers whose squares leave the range of floating-point numbers."""
    size = np.abs(np.where(np.isfinite(envelope), envelope, 0.0)).max(axis=0, initial=0.0)
    odd = (np.isinf(envelope).any(axis=0)) | (size > 1.0 / LEAST_SIZE) | ((size < LEAST_SIZE) & (size > 0.0))
    for number in np.flatnonzero(odd):
        raise input_error(
            "bad_value",
            where=where,
            problem=f"the EMG of {names[number]} reaches {np.abs(envelope[:, number]).max():g}",
            expected=f"zero, or numbers from {LEAST_SIZE:g} to {1.0 / LEAST_SIZE:g}, NaN where nothing was measured",
        )


def _channels(channels: Any, problem: Problem) -> tuple[tuple[str, ...], Array]:
    """Names of the channels, and the shares (C, n) by which they average muscles."""
    muscles, where = tuple(problem.muscle or ()), "fit_cost(channels=...)"
    if channels is None:
        return muscles, np.eye(len(muscles))
    if not isinstance(channels, Mapping):
        form = f'{{"name": ["muscle", ...]}}, or shares (C, {len(muscles)}) of the muscles'
        shares = np.atleast_2d(check_real_array(channels, "channels", form))
        if shares.ndim != 2 or shares.shape[1] != len(muscles):
            expected = f"(C, {len(muscles)}), a share of each muscle"
            raise input_error(
                "bad_shape", where=where, problem=f"channels is {shares.shape}", expected=expected
            )
        if not (np.isfinite(shares) & (shares >= 0.0)).all() or not (shares.sum(axis=1) > 0.0).all():
            raise input_error(
                "bad_value",
                where=where,
                problem="a channel has a negative share, no number, or no muscle",
                expected="shares of zero or more, one above zero in each channel",
            )
        return tuple(f"channel {k + 1}" for k in range(len(shares))), shares
    names = tuple(map(str, channels))
    if not names or len(set(names)) < len(names):
        code, fault = (
            ("duplicate_name", "two channels have one name") if names else ("missing_argument", "no channel")
        )
        raise input_error(code, where=where, problem=fault, expected="one name for each channel")
    shares = np.zeros((len(names), len(muscles)))
    for row, name, of in zip(shares, names, channels.values(), strict=True):
        listed = [of] if isinstance(of, str) else members(of)
        if not listed:
            fault = f"the channel {name!r} has no muscle"
            raise input_error("missing_argument", where=where, problem=fault, expected="one muscle or more")
        for muscle in listed:
            check_choice(muscle, f"the muscle of channel {name!r}", muscles, where=where)
        row[[muscles.index(muscle) for muscle in listed]] = 1.0 / len(set(listed))
    return names, shares


def pearson(first: Array, second: Array, valid: Mask) -> float:
    """The correlation of two curves (T,) where both are valid; zero where one of them does not vary."""
    a, b = first[valid], second[valid]
    if a.size < 2 or not (np.ptp(a) > RESOLUTION and np.ptp(b) > 0.0):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > RESOLUTION**2)


def _nonzero(sums: Array) -> Array:
    return np.where(np.abs(sums) > 0.0, sums, 1.0)
