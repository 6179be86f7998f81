"""The compiled functions that Python calls, compiled once for all problems and kept in numba's cache.

`run` solves frames by Newton's method on the dual. It stops at a frame that needs the interior point, which `finish`
solves: most recordings need none, and a third of the compiling is saved.
"""

from pathlib import Path

import numpy as np

from musclesolve._util.compiled_code import OPTIONS, CompiledFunction, on_disk, source_version, types_of
from musclesolve.sharing.kernel.compiled_certificate import Terms
from musclesolve.sharing.kernel.constants import (
    ALONE,
    CERTIFY,
    CHAIN,
    OF_ROWS,
    PREVIOUS,
    RESERVE_WEIGHT,
    RateBounds,
)
from musclesolve.sharing.kernel.dual_newton import UNKNOWN, dual_form
from musclesolve.sharing.kernel.solve_frame import (
    ONWARD,
    ONWARD_RESERVED,
    SOLVED,
    Data,
    FrameOutput,
    Workspace,
    begin_frame,
    bounds_of,
    certify,
    end_frame,
    refine,
    rows_from,
    solve_by_interior_point,
)

MESSAGE = "compiling the force-sharing kernel for this machine, once (ten to twenty seconds)"


_ARRAYS = types_of(
    "r3? r2? r2? r2? r2? r2? b1? r2? r3? r2? r2? i1? r1? r2? i1? r3? "
    "r i b r1? r r r1 r1 r2 r2 r2 r2 s1 r1 r1 r1 r1 i1 r2 r2 r1 r2 r2 r2 r2 i1"
)
"""Problem and cost, options, rate limits, solution, work arrays."""


def build_run(version: str) -> CompiledFunction:
    """Define the function that solves frames, under a name with this version; it is compiled later."""

    def run(
        task, start, first, last,
        moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
        soft_matrix, soft_target, soft_weight,
        kind, exponent, factor, row, coefficient,
        tolerance, max_iterations, allow_reserve,
        time, activation_time, deactivation_time, before, since,
        activation, force, reserve, multiplier, status, gap, cost_bound, moment_error, cost, iterations, proof, weight,
        w, s, full_matrix, matrix, schur, free,
    ):  # fmt: skip
        """Solve or certify frames from `first`, in a range from `start`; return the one that needs `finish`.

        Where `first` is not the start, `finish` has solved the frame before, which is refined.
        """
        terms = Terms(kind, exponent, factor, row, coefficient)
        data = Data(
            moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
            soft_matrix, soft_target, soft_weight, terms, dual_form(terms),
        )  # fmt: skip
        output = FrameOutput(
            activation, force, reserve, multiplier,
            status, gap, cost_bound, moment_error, cost, iterations, proof, weight,
        )  # fmt: skip
        rate = RateBounds(time, activation_time, deactivation_time, before, since)
        work = Workspace(w, s, full_matrix, matrix, schur, free)
        if first > start and data.form != UNKNOWN and status[first - 1] == SOLVED:
            refine(data, first - 1, work, output, tolerance, max_iterations)
            end_frame(data, first - 1, rate, output, status[first - 1])
        for t in range(first, last):
            if t == start or t % CHAIN == 0 or task == ALONE:
                for r in range(s.shape[1]):  # a cold start; a slice here slows the whole function
                    s[PREVIOUS, r] = np.nan
            if task != CERTIFY:
                found = begin_frame(data, t, rate, work, output, tolerance, max_iterations, allow_reserve)
                if found <= ONWARD:
                    status[t] = found
                    return t
                end_frame(data, t, rate, output, found)
            else:
                bounds_of(data, t, rate, work.w)
                reserved = data.reserve_weight.size > 0
                for r in range(moment.shape[1]):
                    work.s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if reserved else 0.0
                of_rows = s[OF_ROWS, : soft_target.shape[1]]
                rows_from(data, t, activation[t], of_rows)
                certify(data, t, reserved, s[RESERVE_WEIGHT], of_rows, output, w)
        return last

    return CompiledFunction(run, (*types_of("i i i i"), *_ARRAYS), OPTIONS, version, MESSAGE)


def finish(
    t,
    moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
    soft_matrix, soft_target, soft_weight,
    kind, exponent, factor, row, coefficient,
    tolerance, max_iterations, allow_reserve,
    time, activation_time, deactivation_time, before, since,
    activation, force, reserve, multiplier, status, gap, cost_bound, moment_error, cost, iterations, proof, weight,
    w, s, full_matrix, matrix, schur, free,
):  # fmt: skip
    """Solve frame t, which `run` left in the work arrays, by the interior point."""
    terms = Terms(kind, exponent, factor, row, coefficient)
    data = Data(
        moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
        soft_matrix, soft_target, soft_weight, terms, UNKNOWN,
    )  # fmt: skip
    output = FrameOutput(
        activation, force, reserve, multiplier,
        status, gap, cost_bound, moment_error, cost, iterations, proof, weight,
    )  # fmt: skip
    work = Workspace(w, s, full_matrix, matrix, schur, free)
    reserved = status[t] == ONWARD_RESERVED or reserve_weight.size > 0
    found = solve_by_interior_point(data, t, work, output, tolerance, max_iterations, allow_reserve, reserved)
    rate = RateBounds(time, activation_time, deactivation_time, before, since)
    end_frame(data, t, rate, output, found)


RUN = build_run(source_version(Path(__file__).parent))
FINISH = on_disk(MESSAGE, Path(__file__).parent)(finish, "i", *_ARRAYS)


def is_kept() -> bool:
    """Return whether compiled code of this version is in the cache on disk."""
    return RUN.is_kept() and FINISH.is_kept()
