"""The summary of a result: what was solved, what was not and why, and warnings on the rest."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.motion.motion_plausibility import BALANCE_LIMIT
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed
from musclesolve.results.dataset.filter_variables import filter_line
from musclesolve.results.dataset.kinetics.contact_peaks import contact_peaks
from musclesolve.results.dataset.result_quantities import (
    CONSISTENCY_METHODS,
    identity,
    largest_kkt_residual,
    moved_points,
    residual_size,
)
from musclesolve.results.tables.emg_agreement import emg_lines
from musclesolve.results.tables.leg_outcome import LegOutcome
from musclesolve.results.tables.lines import line, lines
from musclesolve.results.tables.tendon_lines import tendon_lines

MOST_STRETCHES = 5
MOST_MOVED = 3
LARGE = 0.08
"""Root mean square of the pelvis residual beyond which it is called large, a share of the peak ground force."""


REASON = {
    frames.LEAPING: "a joint rotates implausibly fast",
    frames.DISPLACED: "the foot lies far from where it was measured",
    frames.UNBALANCED: "the ground forces do not balance the motion",
    frames.INCONSISTENT: "the motion does not satisfy the constraints of the model",
    frames.TOO_FEW_FRAMES: "fewer than four usable frames in a row, too few for elastic tendons",
}
"""The fault of a frame in words, where its name is not plain."""


def summary(result: xr.Dataset) -> str:
    """Several lines: the choices made, frames, each leg, optimality, residual at the pelvis, what else to know."""
    time = result["time"].values
    choices = {"trial": identity(result), "methods": _methods(result)}
    text = [line(subject, choice) for subject, choice in choices.items() if choice]
    text.append(line("frames", f"{time.size}, {time[0]:.3f} to {time[-1]:.3f} s"))
    text += lines("analysed", listed(result, "analysed"))
    for side, name in frames.part_names(result).items():
        found, reasons = LegOutcome.of(result, side), listed(result, f"reasons_{side}")
        text += lines(name, [_counts(found), *_failures(found), *reasons])
    text.append(line("optimality", _optimality(result)))
    text += lines("tendons", tendon_lines(result))
    if "least_normalized_fiber_length" in result:
        text.append(line("fiber lengths", _fiber_lengths(result)))
    if "joint_reaction" in result and (peaks := _contact_peaks(result)):
        text.append(line("contact forces", peaks))
    if "consistency_shift" in result:
        text += lines("consistency", consistency_sentences(result))
    if "pelvis_residual" in result:
        text.append(line("pelvis residual", _pelvis_residual(result)))
    text += lines("EMG", emg_lines(result))
    text += lines("strides", _strides(result))
    for name in ("notes", "completed"):
        text += lines(name, listed(result, name))
    return "\n".join(text)


def any_failed(result: xr.Dataset) -> bool:
    """Whether a frame that was analysed has no valid solution."""
    return any(frames.unsolved(result, side).any() for side in frames.sides(result))


def _methods(result: xr.Dataset) -> str:
    """Filter and hip centers, which the numbers depend on as much as on what `identity` names."""
    given = result.attrs
    parts = [filtered] if (filtered := filter_line(result)) else []
    if "hip_method" in given:
        parts.append(f"hip centers {given['hip_method']}")
    return ",  ".join(parts)


def _counts(found: LegOutcome) -> str:
    parts = [f"{found.solved} solved"]
    if (reserve := found.largest_reserve) is not None:
        largest = f"largest {_plain(reserve.moment, 3)} N m, {reserve.dof} at {reserve.time:.3f} s"
        parts.append(f"{found.with_reserve} with reserve ({largest})")
    if found.not_analysed:
        parts.append(f"{found.not_analysed} not analysed (forces not measured)")
    if found.without_solution:
        parts.append(f"{found.without_solution} WITHOUT VALID SOLUTION")
    return ", ".join(parts)


def _failures(found: LegOutcome) -> list[str]:
    """For each reason how many frames, and when: "0.450" or "0.450 to 0.510"."""
    statements = []
    for reason, (count, stretches) in found.failures.items():
        shown = ", ".join(
            f"{first:.3f}" + (f" to {last:.3f}" if last > first else "")
            for first, last in stretches[:MOST_STRETCHES]
        )
        more = f" and {len(stretches) - MOST_STRETCHES} more" if len(stretches) > MOST_STRETCHES else ""
        why = REASON.get(reason, reason.replace("_", " "))
        statements.append(f"{why}: {count} at {shown} s{more}")
    return statements


def _fiber_lengths(result: xr.Dataset) -> str:
    least, greatest = (result[f"{end}_normalized_fiber_length"] for end in ("least", "greatest"))
    if not np.isfinite(least.values).any():
        return "no frame has a valid solution"
    low, high = least.idxmin("muscle"), greatest.idxmax("muscle")
    ends = (
        f"{float(end.sel(muscle=name)):.2f} ({name.item()})" for end, name in ((least, low), (greatest, high))
    )
    return f"{' to '.join(ends)} optimal fiber lengths"


def _contact_peaks(result: xr.Dataset) -> str:
    """The greatest contact force of each joint, that of the right leg before that of the left one."""
    sides = ", ".join(frames.SIDE_NAMES.get(side, side) for side in frames.sides(result))
    joints = dict.fromkeys(frames.split_side(str(name))[0] for name in result["joint"].values)
    peaks = {joint: contact_peaks(result, joint).values() for joint in joints}
    found = [f"{joint} {', '.join(f'{peak:.2f}' for peak in each)}" for joint, each in peaks.items() if each]
    return f"peaks ({sides}): {'; '.join(found)} body weights" if found else ""


def _optimality(result: xr.Dataset) -> str:
    largest = largest_kkt_residual(result)
    if np.isnan(largest):
        return "no frame has a valid solution"
    return f"largest KKT residual {largest:.1e} of the frames with a solution"


def consistency_sentences(result: xr.Dataset) -> list[str]:
    """How the motion was made consistent, where not as usual, and what that moved."""
    given = result.attrs
    found = [_unchanged(result) if given.get("consistency_method") == "none" else _moved(result)]
    if weights := listed(result, "consistency_weights"):
        found.append(f"measured points weighted: {', '.join(weights)}")
    if borrowed := listed(result, "borrowed_dofs"):
        names = ", ".join(borrowed)
        found.append(f"angles not measured on any body are those of the nearest pose: {names}")
    if given.get("consistency_derivatives") == "splines":
        velocity, acceleration = (
            float(result[f"{rate}_violation"].max()) for rate in ("velocity", "acceleration")
        )
        found.append(
            f"derivatives by splines of the points: constraints violated by up to {velocity:.1g} m/s "
            f"and {acceleration:.1g} m/s2"
        )
    return found


def _unchanged(result: xr.Dataset) -> str:
    violation = float(result["constraint_violation"].max())
    return (
        f"{CONSISTENCY_METHODS['none']}: measured points and axes as they are, joint angles and all that was not "
        f"measured of the nearest pose; constraints violated by up to {violation:.2g} (metres, cosines)"
    )


def _moved(result: xr.Dataset) -> str:
    names, rms, worst = moved_points(result)
    most = np.argsort(-rms, kind="stable")[:MOST_MOVED]
    method = CONSISTENCY_METHODS[str(result.attrs.get("consistency_method", "nearest"))]
    return (
        f"{method}, {1000.0 * np.sqrt(np.mean(rms**2)):.1f} mm rms from the measured points "
        f"(worst {1000.0 * worst.max():.1f} mm); most moved: "
        + ", ".join(f"{names[k]} {1000.0 * rms[k]:.1f}" for k in most)
        + " mm rms"
    )


def _pelvis_residual(result: xr.Dataset) -> str:
    """Peak and root mean square over the frames of the size of the residual force and moment."""
    if (size := residual_size(result)) is None:
        return "not known: both feet were measured in no frame"
    bound = result.attrs.get("balance_limit")
    limit = "" if bound is None else f" (limit {_plain(100.0 * bound, 2)} %)"
    peak_force = 100.0 * (BALANCE_LIMIT if bound is None else bound) / BALANCE_LIMIT
    large = "; large: see masses, synchronisation, filter" if size.rms_percent > LARGE * peak_force else ""
    return (
        f"force: peak {_plain(size.peak_percent, 2)} %, rms {_plain(size.rms_percent, 2)} % of body weight{limit}; "
        f"moment: peak {_plain(size.peak_moment, 3)} N m, rms {_plain(size.rms_moment, 3)} N m{large}"
    )


def _strides(result: xr.Dataset) -> list[str]:
    """A line per recorded stride: when, how long, how much of it stance and double support, how fast."""
    found = []
    for number in range(result.sizes.get("stride", 0)):
        stride = result.isel(stride=number)
        parts = {
            "{:.1f} steps a minute": stride["cadence"],
            "stance {:.0f} %": stride["stance_percent"],
            "double support {:.0f} %": stride["double_support_percent"],
            "{:.2f} m": stride["stride_length"],
            "{:.2f} m/s": stride["walking_speed"],
        }
        known = [text.format(float(value)) for text, value in parts.items() if np.isfinite(value)]
        start, end = float(stride["stride_start"]), float(stride["stride_end"])
        found.append(
            f"{frames.SIDE_NAMES[str(stride['stride_side'].values)]} leg {start:.3f} to {end:.3f} s: {', '.join(known)}"
        )
    more = [f"and {len(found) - MOST_STRETCHES} more"] if len(found) > MOST_STRETCHES else []
    return found[:MOST_STRETCHES] + more


def _plain(value: float, digits: int) -> str:
    """A number to so many digits, never as a power of ten."""
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
