"""Moments and forces of one program from markers to muscles, beside one stage after the other, on a known truth.

python -m benchmarks.motion_program [--noise-mm N] [--skin-mm N] [--seed N] [--muscles] [--jerk J ...] [--sizes]

The bundled stride with noise on its markers and, with --skin-mm, slow sliding of the skin. `one after the other`:
nearest poses, a filter of 6 Hz without delay, splines, inverse dynamics, sharing. `program`:
`ms.symbolic.motion_program` without muscles, for each expected jerk, then sharing; with --muscles also with them.
Errors are root mean squares to the truth, of the moments of the legs [N m] and of the forces [N], eight frames at
each end left out; the residual [N, N m] is of the pelvis. `benchmarks.smoothness` leaves markers out to find the jerk.

--sizes prints other numbers instead, of the programs with torques alone, with muscles, and with rows of activation
rates: unknowns, rows, nonzeros of the Jacobian and of the lower triangle of the Hessian, iterations of Ipopt, and the
processor time [s] that it takes to make and to solve the program.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.signal import butter, filtfilt

import muscle_db
import musclesolve as ms
from benchmarks.arguments import command_line
from musclesolve._util.arrays import Array
from musclesolve.dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import joined, scale_muscles

FRAMES, CUTOFF_HZ, INNER = 66, 6.0, slice(8, -8)
JERKS = (10000.0, 3000.0, 1000.0, 300.0, 100.0, 30.0)
RATES = 0.015, 0.06
"""Shortest times for an activation to rise and to fall [s]."""


def rms(values: Array) -> float:
    return float(np.sqrt(np.nanmean(np.square(values))))


class Stride:
    """The bundled stride: its truth, and how moments and forces follow from a motion."""

    def __init__(self, noise: float, skin: float, seed: int) -> None:
        stride, draw = ms.studies.synthetic.reference_stride(), np.random.default_rng(seed)
        self.model, self.time = stride.model, np.arange(FRAMES) * stride.period / (FRAMES - 1)
        names, places, bodies = stride.person.markers
        self.places = dict(zip(names, zip(bodies, places, strict=True), strict=True))
        self.wrenches = stride.wrenches(self.time)
        self.loads = {each.body: np.hstack([each.force, each.moment]) for each in self.wrenches}
        markers = stride.markers(self.time)
        slides = skin * draw.normal(size=(2, *markers.shape[1:]))
        phases = draw.uniform(0.0, 2.0 * np.pi, slides.shape)
        sliding = sum(
            slides[k] * np.sin(2.0 * np.pi * (k + 1) * self.time[:, None, None] / stride.period + phases[k])
            for k in range(2)
        )
        self.measured = markers + noise * draw.normal(size=markers.shape) + sliding
        database = muscle_db.load()
        self.muscles = joined([scale_muscles(self.model, database, side, passive="table") for side in "rl"])
        self.legs = [self.model.dof(name) for name in self.muscles.dof_names]
        self.truth = self.with_forces(stride.motion(self.time))

    def with_forces(self, motion: Motion) -> tuple[Array, Array]:
        """Moments (T, K+6) of a motion, and the forces (T, n) that share them."""
        moments = projected_moments(self.model, motion, self.wrenches)
        state = muscle_state(self.model, self.muscles, motion)
        passive = np.einsum("tmn,tn->tm", state.moment_arm, state.passive_force)
        problem = ms.Problem(
            state.moment_arm,
            moments[:, self.legs] - passive,
            state.force_capacity,
            state.parameters.max_isometric_force,
        )
        shared = ms.solve(problem, "activation_power", on_infeasible="reserve")
        return moments, shared.activation * state.force_capacity + state.passive_force

    def row(self, moments: Array, forces: Array) -> list[str]:
        """Errors to the truth, and the residual at the pelvis."""
        moment = rms((moments - self.truth[0])[INNER][:, self.legs])
        force = rms((forces - self.truth[1])[INNER])
        left = rms(moments[INNER, -6:-3]), rms(moments[INNER, -3:])
        return [f"{moment:.2f}", f"{force:.1f}", f"{left[0]:.2f}, {left[1]:.2f}"]


class Sizes(NamedTuple):
    """How large a program is: numbers of unknowns, rows, and nonzeros of Jacobian and Hessian."""

    unknowns: int
    rows: int
    jacobian: int
    hessian: int


def sizes(program: ms.symbolic.MotionProgram, weights: ms.symbolic.MotionWeights) -> Sizes:
    """The sizes of a program as Ipopt receives it."""
    rest = np.zeros((len(program.time), len(program.body.dofs)))
    sums = program._sums(weights, rest)
    places = sums.jacobian_places[0], sums.hessian_places[0]
    return Sizes(rest.shape[0] * sums.frame.size, len(sums.lower), *(len(each) for each in places))


def report_sizes(stride: Stride, jerk: float) -> None:
    """Print the sizes of the programs, and what Ipopt needs."""
    body, weights = (
        ms.symbolic.skeleton(stride.model, tuple(stride.loads)),
        ms.symbolic.MotionWeights(jerk=jerk),
    )
    chains = [ms.symbolic.muscle_chain(stride.model, side=side) for side in "rl"]
    columns = "program", "unknowns", "rows", "nonzeros of J", "of H", "iterations", "s to make", "s to solve"
    table = Table(
        *columns, title=f"{FRAMES} frames, {len(body.dofs)} coordinates, jerk {jerk:g}; processor time"
    )
    for name, muscles, times in (
        ("torques", [], None),
        ("muscles", chains, None),
        ("muscles, activation rates", chains, RATES),
    ):
        began = process_time()
        program = ms.symbolic.motion_program(
            body, stride.time, stride.places, stride.measured, stride.loads, muscles, activation_times=times
        )
        size, made = sizes(program, weights), process_time()
        found = program.solve(weights)
        table.add_row(
            name,
            *map(str, size),
            f"{found.iterations}" if found.converged else found.message,
            f"{made - began:.1f}",
            f"{process_time() - made:.1f}",
        )
    Console(width=120).print(table)


def report(stride: Stride, jerks: list[float], muscles: bool) -> None:
    """Print the table."""
    body = ms.symbolic.skeleton(stride.model, tuple(stride.loads))
    arguments = body, stride.time, stride.places, stride.measured, stride.loads
    program = ms.symbolic.motion_program(*arguments)
    chains = [ms.symbolic.muscle_chain(stride.model, side=side) for side in "rl"]
    whole = ms.symbolic.motion_program(*arguments, chains) if muscles else None
    poses = program.nearest_poses()
    rate = (FRAMES - 1) / stride.time[-1]
    filtered = filtfilt(*butter(2, CUTOFF_HZ / 0.802 / (0.5 * rate)), poses, axis=0)
    columns = "way", "iterations", "s", "moments", "forces", "pelvis", "between frames"
    table = Table(*columns, title="errors of one stride of a known truth")
    table.add_row(
        "one after the other",
        *("", ""),
        *stride.row(*stride.with_forces(ms.dynamics.differentiate(stride.model, stride.time, filtered))),
    )
    start = None
    for jerk in jerks:
        weights = ms.symbolic.MotionWeights(jerk=jerk)
        began = perf_counter()
        start = program.solve(weights, poses if start is None else start)
        seconds = perf_counter() - began
        motion = motion_from(stride.model, stride.time, start.coordinates, start.rates, start.accelerations)
        table.add_row(
            f"program, jerk {jerk:g}",
            str(start.iterations),
            f"{seconds:.0f}",
            *stride.row(*stride.with_forces(motion)),
            f"{start.certificate.between_frames:.2f}",
        )
        if whole is not None:
            began = perf_counter()
            joint = whole.solve(weights, start.coordinates)
            table.add_row(
                "  with muscles",
                str(joint.iterations),
                f"{perf_counter() - began:.0f}",
                *stride.row(joint.moment, joint.force),
                f"{joint.certificate.between_frames:.2f}",
            )
    Console(width=120).print(table)


def stride_options(about: str | None, jerks: Sequence[float]) -> ArgumentParser:
    """The parser of a command on the bundled stride with noise, for expected jerks."""
    parser = command_line(about)
    parser.add_argument("--noise-mm", type=float, default=3.0)
    parser.add_argument("--skin-mm", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--jerk", type=float, nargs="+", default=list(jerks))
    return parser


def main() -> None:
    parser = stride_options(__doc__, JERKS)
    parser.add_argument("--muscles", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    stride = Stride(1e-3 * options.noise_mm, 1e-3 * options.skin_mm, options.seed)
    if options.sizes:
        report_sizes(stride, ms.symbolic.MotionWeights().jerk)
    else:
        report(stride, options.jerk, options.muscles)


if __name__ == "__main__":
    main()
