"""The printed summary of a result, and of its uncertainty: facts as lines of text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.recording.markers.mapping_tables import FUNCTIONAL, HINGES
from musclesolve.results.dataset.result_quantities import CONSISTENCY_METHODS, filter_line, identity, listed
from musclesolve.results.facts import (
    LARGE_ERROR,
    Facts,
    LegFacts,
    Stretch,
    UncertainPeak,
    UncertaintyFacts,
    verdict_words,
)
from musclesolve.results.finding import SEVERITIES
from musclesolve.results.judgement import LABELS, Judgement, judge
from musclesolve.results.plausibility import AT_EDGE, NOT_PLAUSIBLE, PLAUSIBLE, plausibility
from musclesolve.results.tables.lines import decimal, line, lines

MOST_STRETCHES, MOST_MOVED, MOST_MUSCLES = 5, 3, 6
CHANNELS_IN_A_LINE = 5
STRIDE = {
    "cadence": "{:.1f} steps a minute",
    "stance_percent": "stance {:.0f} %",
    "double_support_percent": "double support {:.0f} %",
    "stride_length": "{:.2f} m",
    "walking_speed": "{:.2f} m/s",
}
NONE_VALID = "no frame has a valid solution"


def summary(result: xr.Dataset) -> str:
    """Several lines: the choices made, frames, each leg, optimality, residual at the pelvis, what else to know."""
    facts, time = Facts(result), result["time"].values
    judgement = judge(facts)
    parts: list[tuple[str, Iterable[str]]] = [
        ("trial", [identity(result)]),
        ("methods", [_methods(result)]),
        ("frames", [f"{time.size}, {time[0]:.3f} to {time[-1]:.3f} s"]),
        ("analysed", listed(result, "analysed")),
        ("verdict", verdict_lines(judgement)),
        *((severity, [each.line for each in judgement.of(severity)]) for severity in SEVERITIES[:2]),
        *((leg.part, [_counts(leg), *_failures(leg), *leg.reasons]) for leg in facts.legs.values()),
        ("optimality", [_optimality(facts)]),
        ("tendons", tendon_lines(facts)),
        ("fiber lengths", [fiber_lengths(facts)]),
        ("contact forces", [_contact_peaks(facts), _knee_peaks(facts)]),
        ("plausibility", _plausibility(facts) if judgement.ok else []),
        ("consistency", consistency_sentences(facts)),
        ("pelvis residual", [_pelvis_residual(facts)]),
        ("EMG", _emg(facts)),
        ("fascicles", _fascicles(facts)),
        ("strides", _strides(facts)),
        *((name, listed(result, name)) for name in ("notes", "completed")),
    ]
    return "\n".join(text for name, statements in parts for text in lines(name, filter(None, statements)))


def verdict_lines(judgement: Judgement) -> list[str]:
    """The verdict and why; below it those of the legs, where they differ."""
    legs = (
        f"{SIDE_NAMES[side]} leg {LABELS[verdict].lower()}"
        for side, verdict in judgement.legs.items()
        if side in SIDE_NAMES
    )
    differ = len(set(judgement.legs.values())) > 1
    return [judgement.sentence, *([", ".join(legs)] if differ else [])]


def _methods(result: xr.Dataset) -> str:
    """Filter and joint centers, which the numbers depend on as much as on what `identity` names."""
    hip = f"hip centers {result.attrs['hip_method']}" if "hip_method" in result.attrs else ""
    hinges = [joint for joint in HINGES if result.attrs.get(f"{joint}_method") == FUNCTIONAL]
    by_motion = f"{' and '.join(hinges)} axes functional" if hinges else ""
    return ",  ".join(filter(None, (filter_line(result), hip, by_motion)))


def _counts(leg: LegFacts) -> str:
    parts = [f"{leg.solved} solved"]
    if (reserve := leg.largest_reserve) is not None:
        largest = f"largest {_plain(reserve.moment, 3)} N m, {reserve.dof} at {reserve.time:.3f} s"
        parts.append(f"{leg.with_reserve} with reserve ({largest})")
    if leg.not_analysed:
        parts.append(f"{leg.not_analysed} not analysed (forces not measured)")
    if leg.without_solution:
        parts.append(f"{leg.without_solution} WITHOUT VALID SOLUTION")
    return ", ".join(parts)


def _failures(leg: LegFacts) -> list[str]:
    """For each reason how many frames, and when: "0.450" or "0.450 to 0.510"."""
    return [
        f"{verdict_words().get(verdict, {}).get('reason', verdict.replace('_', ' '))}: "
        f"{sum(each.count for each in stretches)} at {_times(stretches)}"
        for verdict, stretches in leg.failures.items()
    ]


def _times(stretches: list[Stretch]) -> str:
    shown = ", ".join(
        f"{each.start:.3f}" + (f" to {each.end:.3f}" if each.end > each.start else "")
        for each in stretches[:MOST_STRETCHES]
    )
    rest = len(stretches) - MOST_STRETCHES
    return f"{shown} s" + (f" and {rest} more" if rest > 0 else "")


def _optimality(facts: Facts) -> str:
    largest = facts.largest_kkt_residual
    return (
        NONE_VALID
        if np.isnan(largest)
        else f"largest KKT residual {largest:.1e} of the frames with a solution"
    )


def tendon_lines(facts: Facts) -> list[str]:
    """How tendons were solved, how far they are from balance, the largest strains; none where they are rigid."""
    if (tendons := facts.tendons) is None:
        return []
    steps = " and ".join(f"{count} ({_side(side)})" for side, count in tendons.iterations.items())
    solver = facts.result.attrs.get("solver")
    text = [f"elastic, with activation dynamics; {solver}, {steps} iterations" if solver else "elastic"]
    if (balance := tendons.balance) is not None:
        many = f"; above {LARGE_ERROR:g} in {balance.large} of {balance.known} frames of the legs"
        text.append(
            f"balance midway between frames: activation to {balance.error:.2g} "
            f"({_side(balance.side)} at {balance.time:.3f} s)" + (many if balance.large else "")
        )
    strains = [
        f"{whose} {100.0 * each.strain:.1f} % ({each.muscle} at {each.time:.3f} s)"
        for whose, each in (("Achilles tendon", tendons.achilles), ("of all", tendons.all))
        if each is not None
    ]
    return text + ([f"largest strain: {'; '.join(strains)}"] if strains else [])


def fiber_lengths(facts: Facts) -> str:
    """The least and the greatest normalized length of the fibers, and of which muscles; "" where they are not known."""
    if "least_normalized_fiber_length" not in facts.result:
        return ""
    if facts.fibers is None:
        return NONE_VALID
    ends = " to ".join(f"{end.normalized_length:.2f} ({end.muscle})" for end in facts.fibers)
    return f"{ends} optimal fiber lengths"


def _contact_peaks(facts: Facts) -> str:
    """The greatest contact force of each joint, that of the right leg before that of the left one."""
    joints = [
        f"{joint} {', '.join(f'{peak.body_weights:.2f}' for peak in peaks.values())}"
        for joint, peaks in facts.contact_by_joint.items()
        if peaks
    ]
    legs = ", ".join(leg.name for leg in facts.legs.values())
    return f"peaks ({legs}): {'; '.join(joints)} body weights" if joints else ""


def _knee_peaks(facts: Facts) -> str:
    """The greatest forces of the parts of the knee, that of the right leg before that of the left one."""
    parts = [
        f"{part} {', '.join(f'{peak.body_weights:.2f}' for peak in peaks.values())}"
        for part, peaks in facts.knee_peaks.items()
    ]
    contacts = f" (contacts {facts.contact_spacing})" if facts.contact_spacing else ""
    return f"of the knee: {'; '.join(parts)} body weights{contacts}" if parts else ""


def _plausibility(facts: Facts) -> list[str]:
    """The verdict and the movement that it is of, or why nothing was compared; reasons stand among the warnings."""
    judged = plausibility(facts)
    if judged.verdict in (NOT_PLAUSIBLE, AT_EDGE):
        label = judged.label.upper() if judged.verdict == NOT_PLAUSIBLE else judged.label
        unknown = judged.why_not_known if judged.verdict == AT_EDGE else ""
        return [f"{label}; {judged.movement_words}", *([unknown] if unknown else [])]
    first = f"{judged.label}; {judged.movement_words}"
    return [f"{first}: {judged.why_not_known}" if judged.why_not_known else first]


def consistency_sentences(facts: Facts) -> list[str]:
    """How the motion was made consistent, where not as usual, and what that moved; none where that is not known."""
    result, moved = facts.result, facts.moved
    if moved is None:
        return []
    method = str(result.attrs.get("consistency_method", "nearest"))
    if method == "none":
        violation = float(result["constraint_violation"].max())
        sentences = [
            f"{CONSISTENCY_METHODS[method]}: measured points and axes as they are, joint angles and all that was not "
            f"measured of the nearest pose; constraints violated by up to {violation:.2g} (metres, cosines)"
        ]
    else:
        most = np.argsort(-moved.rms, kind="stable")[:MOST_MOVED]
        sentences = [
            f"{CONSISTENCY_METHODS[method]}, {1000.0 * moved.overall:.1f} mm rms from the measured points "
            f"(worst {1000.0 * moved.worst:.1f} mm); most moved: "
            + ", ".join(f"{moved.points[k]} {1000.0 * moved.rms[k]:.1f}" for k in most)
            + " mm rms"
        ]
    if weights := listed(result, "consistency_weights"):
        sentences.append(f"measured points weighted: {', '.join(weights)}")
    if borrowed := listed(result, "borrowed_dofs"):
        sentences.append(
            f"angles not measured on any body are those of the nearest pose: {', '.join(borrowed)}"
        )
    if result.attrs.get("consistency_derivatives") == "splines":
        velocity, acceleration = (
            float(result[f"{rate}_violation"].max()) for rate in ("velocity", "acceleration")
        )
        sentences.append(
            f"derivatives by splines of the points: constraints violated by up to {velocity:.1g} m/s "
            f"and {acceleration:.1g} m/s2"
        )
    return sentences


def _pelvis_residual(facts: Facts) -> str:
    """Peak and root mean square over the frames of the size of the residual force and moment."""
    if "pelvis_residual" not in facts.result:
        return ""
    if (size := facts.pelvis_residual) is None:
        return "not known: both feet were measured in no frame"
    bound = facts.result.attrs.get("balance_limit")
    limit = "" if bound is None else f" (limit {_plain(100.0 * bound, 2)} %)"
    beyond = [
        f"; {each.sentence}"
        for each in plausibility(facts).comparisons
        if each.criterion == "residual" and each.verdict != PLAUSIBLE
    ]
    return (
        f"force: peak {_plain(size.peak_percent, 2)} %, rms {_plain(size.rms_percent, 2)} % of body weight{limit}; "
        f"moment: peak {_plain(size.peak_moment, 3)} N m, rms {_plain(size.rms_moment, 3)} N m"
        + "".join(beyond)
    )


def _emg(facts: Facts) -> list[str]:
    """Median and mean of the correlations, then each channel with its delay; none without EMG."""
    if not facts.channels:
        return []
    both = facts.median_and_mean_correlation
    agreement = "median {:.2f}, mean {:.2f}".format(*both) if both else "not known"
    count, follows = len(facts.channels), "; no test, the cost follows this EMG" if facts.follows_emg else ""
    of = "r of activation and envelope"
    if facts.predicts_emg:
        known = [r for r in facts.followed_correlations.values() if np.isfinite(r)]
        followed = f"median {np.median(known):.2f}" if known else "not known"
        of, follows = (
            "each predicted while it alone is not followed, r",
            f"; r while followed, no test: {followed}",
        )
    each = [
        f"{channel.name} {decimal(channel.correlation, 2)}"
        + (f" ({1000.0 * channel.delay:.0f} ms)" if np.isfinite(channel.delay) else "")
        for channel in facts.channels
    ]
    return [
        f"{count} channels, {of} {agreement}; in brackets the delay of activation{follows}",
        *(", ".join(each[k : k + CHANNELS_IN_A_LINE]) for k in range(0, count, CHANNELS_IN_A_LINE)),
    ]


def _fascicles(facts: Facts) -> list[str]:
    """A line for each measured fascicle length; none without any."""
    error = facts.result.attrs.get("fascicle_error_m")
    certain = "" if error is None else f"; measured to {1000.0 * float(error):.3g} mm"
    return [
        f"{each.muscle}: fiber length less measured {decimal(1000.0 * each.mean, 1)} mm, "
        f"rms {decimal(1000.0 * each.rms, 1)} mm, r {decimal(each.correlation, 2)}{certain}"
        for each in facts.fascicles
    ]


def _strides(facts: Facts) -> list[str]:
    """A line per recorded stride: when, how long, how much of it stance and double support, how fast."""
    text = []
    for stride in facts.strides[:MOST_STRETCHES]:
        known = [
            words.format(stride.measures[name])
            for name, words in STRIDE.items()
            if np.isfinite(stride.measures.get(name, np.nan))
        ]
        leg = f"{SIDE_NAMES[stride.side]} leg {stride.start:.3f} to {stride.end:.3f} s"
        text.append(f"{leg}: {', '.join(known)}")
    rest = len(facts.strides) - MOST_STRETCHES
    return text + ([f"and {rest} more"] if rest > 0 else [])


def _side(side: str) -> str:
    return SIDE_NAMES.get(side, side)


def _plain(value: float, digits: int) -> str:
    """A number to so many digits, never as a power of ten."""
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


ROUGH = 0.1
"""Relative standard error of a standard deviation from which the summary says it."""


def uncertainty_summary(found: xr.Dataset) -> str:
    """Several lines: samples, peak of every contact force, the least certain muscles, the sources that matter.

    The sources stand beside the muscles where no contact forces are known.
    """
    facts = UncertaintyFacts(found)
    contact = [
        f"{_joint_in_words(joint)} {_uncertain_contact(at, facts.body_weight)}"
        for joint, at in facts.contact.items()
    ]
    least = list(facts.least_certain.items())[:MOST_MUSCLES]
    peaks = "peaks in stance" if "ground_reaction_force" in found else "peaks"
    if contact:
        muscles = [", ".join(f"{name} {at.value:.0f} ± {at.sd:.0f} N" for name, at in least)]
    else:
        muscles = [_with_sources(f"{name} {at.value:.0f} ± {at.sd:.0f} N", at) for name, at in least]
    text = [
        line("uncertainty", _samples(found)),
        *lines(peaks, contact),
        *lines(
            "least certain",
            [f"at their {peaks} {muscles[0]}", *muscles[1:]] if least else ["no leg has a valid frame"],
        ),
    ]
    if missing := found.attrs["without_contributions"]:
        text.append(line("sources", f"no contributions: {missing}"))
    return "\n".join(text)


def _joint_in_words(joint: str) -> str:
    """The right hip; of an OpenSim model its own name without side, such as right walker_knee."""
    stem, side = split_side(joint)
    return f"{SIDE_NAMES[side]} {stem}" if side in SIDE_NAMES else joint


def _with_sources(text: str, at: UncertainPeak) -> str:
    sources = at.main_sources()
    return text + (f": {sources}" if sources else "")


def _samples(found: xr.Dataset) -> str:
    given = found.attrs
    parts = [f"{given['samples']} samples, seed {given['seed']}"]
    if given["failed_samples"]:
        parts.append(f"{given['failed_samples']} of them FAILED")
    error = (
        2.0 * max(int(given["samples"]) - int(given["failed_samples"]) - 1, 1)
    ) ** -0.5  # of normal errors
    if error > ROUGH:
        parts.append(f"few: standard deviations are known to {100.0 * error:.0f} %")
    shares = {str(side): found["reserve_share"].sel(side=side) for side in found["side"].values}
    helped = [
        f"{_side(side)} {100.0 * float(share.mean()):.0f} %"
        for side, share in shares.items()
        if np.isfinite(share).any()
    ]
    return ", ".join(parts) + (f"; frames with reserve: {', '.join(helped)}" if helped else "")


def _uncertain_contact(at: UncertainPeak | None, weight: float) -> str:
    """Contact force, standard deviation and shares of the sources, all at the peak."""
    if at is None:
        return "has no valid frame"
    text = f"{at.value / weight:.1f} ± {at.sd / weight:.1f} body weights at {at.time:.3f} s"
    return _with_sources(f"{text} (mean of the samples {at.mean / weight:.1f})", at)
