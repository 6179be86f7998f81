"""The facts of a result and of an uncertainty, with their sentences: the table that everything reads.

A function of `OF_RESULT` or `OF_UNCERTAINTY` states its topic with the numbers of `Facts`; the sentences stand in
facts.toml, filled by `fact`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from operator import itemgetter
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.messages import shortened
from musclesolve._util.sides import OTHER, SIDE_NAMES, joint_titles, side_of, split_side
from musclesolve.constants import DESIGNED, PREDICTED
from musclesolve.laboratory.markers.landmarks import FUNCTIONAL, HINGES
from musclesolve.laboratory.results.dataset.checked import MODEL, of_data_set
from musclesolve.laboratory.results.dataset.result_quantities import (
    BODY_WEIGHTS,
    CONSISTENCY_METHODS,
    filter_line,
    force_unit,
    identity,
    is_elastic,
    listed,
    shared_dofs,
    text,
)
from musclesolve.laboratory.results.fact_table import Fact, Number, fact, number, plain_fact, silent
from musclesolve.laboratory.results.facts import (
    FULL,
    LARGE_ERROR,
    STRIDE_MEASURES,
    ContactPeak,
    Facts,
    LegFacts,
    UncertainPeak,
    UncertaintyFacts,
)
from musclesolve.laboratory.results.judgement import FULL_FOR, LABELS, judge, muscle_names
from musclesolve.laboratory.results.plausibility import (
    DEGREES,
    FAR_ABOVE,
    NOT_PLAUSIBLE,
    NOT_RECOGNIZED,
    PLAUSIBLE,
    measured,
    never_measured,
    plausibility,
)
from musclesolve.sharing.status import verdict_reason
from musclesolve.version import __version__

MOST_STRETCHES, MOST_MOVED, MOST_MUSCLES = 5, 3, 6
CHANNELS_IN_A_LINE = 5
SHOULDER = ("shoulder", "glenohumeral", "acromiohumeral")
"""Parts of the names of the joint between upper arm and scapula, or trunk."""
ROUGH = 0.1
"""Relative standard error of a standard deviation from which the summary states it."""
SUBJECT_KEYS = {"name": "subject", "mass_kg": "subject_mass_kg", "stature_m": "subject_stature_m"}
CHOICES = {
    **{
        name: name
        for name in ("cost", "solver", "muscle_person", "passive", "strength", "tendon", "cutoff_hz")
    },
    **{name: name for name in ("hip_method", "knee_method", "ankle_method", "consistency_method")},
    "residual": "consistency_residual",
    "muscle_set": "muscle_database",
    "inertia_table": "inertia_table",
}
"""Keys of the document and the attributes that they stand for."""


Rows = Iterator[Fact]
OF_RESULT: list[Callable[[Facts], Rows]] = []
OF_UNCERTAINTY: list[Callable[[UncertaintyFacts], Rows]] = []
"""The functions that make the facts, in the order of the summary."""


def of_result(topic: Callable[[Facts], Rows]) -> Callable[[Facts], Rows]:
    """Register a function that makes facts of every result, after the functions before it."""
    OF_RESULT.append(topic)
    return topic


def of_uncertainty(topic: Callable[[UncertaintyFacts], Rows]) -> Callable[[UncertaintyFacts], Rows]:
    """Register a function that makes facts of every uncertainty."""
    OF_UNCERTAINTY.append(topic)
    return topic


def facts_of(
    result: xr.Dataset | Facts,
    uncertainty: xr.Dataset | None = None,
    damage: tuple[type[Exception], ...] = (),
) -> list[Fact]:
    """Return the facts of a result, and of its uncertainty where that is known.

    Args:
        result: of `run` or `share`.
        uncertainty: of the same trial.
        damage: errors that a damaged file raises; a fact reports the damage in place of the missing facts.
    """
    table = list(_topics(OF_RESULT, result if isinstance(result, Facts) else Facts(result), damage))
    if uncertainty is None:
        return [*table, silent(None, "uncertainty")]
    return table + list(_topics(OF_UNCERTAINTY, UncertaintyFacts(uncertainty), damage))


def _topics(topics: Iterable[Callable[[Any], Rows]], facts: Any, damage: tuple[type[Exception], ...]) -> Rows:
    faults = dict[str, str]()  # each fault once, with its first topic
    for topic in topics:
        try:
            yield from list(topic(facts))
        except damage as fault:
            reason = f"not known: {type(fault).__name__}: {fault}".partition("\n")[0]
            faults.setdefault(reason, topic.__name__.replace("_", " "))
    for reason, subject in faults.items():
        yield Fact((), None, pieces=(reason,), subject=subject, section="fit")


# The facts of a result


@of_result
def in_short(facts: Facts) -> Rows:
    """State the result in at most ten plain sentences, for readers who do not know the method."""
    judged, plausible, time = judge(facts), plausibility(facts), facts.result["time"].values
    yield fact("short_use", use=judged.use)
    if words := plausible.movement_words:
        yield fact("short_motion", movement=words, start_s=time[0], end_s=time[-1])
    else:
        yield fact("short_time", start_s=time[0], end_s=time[-1])
    for side, leg in facts.legs.items():
        verb, alone = "have" if side == OTHER else "has", side == OTHER and len(facts.legs) == 1
        if not (analyzed := leg.valid + leg.without_solution):
            yield fact("short_not_analyzed" if alone else "short_leg_not_analyzed", part=leg.part, verb=verb)
            continue
        yield fact(
            "short_all" if alone else "short_leg",
            part=leg.part,
            verb=verb,
            valid=leg.valid,
            analyzed=analyzed,
            with_reserve=leg.with_reserve or None,
            lacking_nm=leg.largest_reserve and leg.largest_reserve["moment_nm"],
        )
    titles = joint_titles(facts.contact_by_joint)
    weight, unit = facts.force_unit
    joints = [
        f"{max(peak.newton for peak in of_legs.values()) / weight:.{0 if unit == 'N' else 1}f} ({titles[joint]})"
        for joint, of_legs in facts.contact_by_joint.items()
        if of_legs
    ]
    if joints and unit == "N":
        yield fact("short_newtons", joints=", ".join(joints))
    elif joints:
        # the force that is named is the larger one of both legs: neither may be outside
        names = " and ".join(plausible.joints_within)
        compared = (
            f"at the {names} this is within the widest range of implants in this movement" if names else None
        )
        words = f"body weight, {weight:.0f} N" if MODEL in facts.result.attrs else "body weight"
        yield fact("short_joints", joints=", ".join(joints), weight=words, compared=compared)
    if (strongest := facts.strongest_muscle) is not None:
        yield fact("short_muscle", **strongest)
    # Forces predicted from the motion agree with the motion by construction.
    if (
        text(facts.result, "ground_reactions") != PREDICTED
        and (residual := facts.pelvis_residual) is not None
    ):
        percent, limit = residual.peak_force_percent_body_weight, facts.result.attrs.get("balance_limit")
        yield fact("short_balance", percent=percent, limit=limit)
    if facts.median_and_mean_correlation and not facts.follows_emg:
        yield fact("short_emg", count=len(facts.correlations), median=facts.median_and_mean_correlation[0])
    if first := [entry for entry in judged.of("error", "warning") if entry.remedy]:
        todo = first[0]  # a fault that explains the failure is mended, the failure is not
        if todo.code == "implausible":
            todo = next((entry for entry in first if entry.code in plausible.causes), todo)
        ratio = todo.cost.ratio if todo.cost and todo is first[0] and not todo.decides else None
        decides = "it may explain the verdict" if todo.decides and todo.code != "implausible" else None
        yield fact(
            "short_todo", place=str(todo.where) or None, remedy=todo.remedy, ratio=ratio, decides=decides
        )


@of_result
def choices(facts: Facts) -> Rows:
    """State the subject and the trial, the choices on which the numbers depend, and the frames."""
    result, attrs, time = facts.result, facts.result.attrs, facts.result["time"].values
    hinges = [joint for joint in HINGES if attrs.get(f"{joint}_method") == FUNCTIONAL]
    yield silent(attrs.get("musclesolve_version"), "version")
    yield silent(attrs.get("trial_file") or attrs.get("model_file"), "trial")
    yield silent({key: attrs.get(name) for key, name in SUBJECT_KEYS.items()}, "subject")
    yield fact("identity", identity=identity(result))
    made = {key: attrs.get(name) for key, name in CHOICES.items()}
    yield fact("choices", made, filter=filter_line(result), hinges=" and ".join(hinges))
    yield fact("frames", {"count": time.size, "start_s": time[0], "end_s": time[-1]})
    yield from (fact("analyzed", text=sentence) for sentence in listed(result, "analyzed"))
    if facts.predicted:
        values: dict[str, Any] = {"origin": text(result, "ground_reactions")}
        for side, (frames, steps) in facts.predicted.items():
            values |= {f"frames_{side}": frames, f"steps_{side}": steps}
        feet = " and ".join(
            f"{SIDE_NAMES[side]} {count} frames, {steps} {'step' if steps == 1 else 'steps'}"
            for side, (count, steps) in facts.predicted.items()
        )
        yield fact("ground_reactions", values, feet=feet)


@of_result
def judgement(facts: Facts) -> Rows:
    """State the verdict with its reasons, the verdicts on the legs where they differ, and the findings."""
    judged = judge(facts)
    yield fact("judgement", judged.as_dict(), sentence=judged.sentence)
    legs = [
        f"{facts.legs[side].part} {LABELS[verdict].lower()}"
        for side, verdict in judged.legs.items()
        if side in SIDE_NAMES and side in facts.legs
    ]
    if len(set(judged.legs.values())) > 1:
        yield plain_fact("verdict", ", ".join(legs))
    alike = Counter((entry.severity, entry.remedy) for entry in judged.findings)
    left = alike.copy()
    for entry in judged.findings:  # a remedy of several is said once, behind the last of them
        key = entry.severity, entry.remedy
        left[key] -= 1
        of_these = f" of these {alike[key]}" if alike[key] > 1 else ""
        remedy = "" if left[key] else f" Remedy{of_these}: {entry.remedy.rstrip('.')}."
        yield plain_fact(entry.severity, f"{entry.placed}{remedy}", entry.as_dict(), severity=entry.severity)
    yield silent([entry.sentence for entry in judged.of("error", "warning")], "warnings")


@of_result
def legs(facts: Facts) -> Rows:
    """State the numbers of frames of each leg by status, with times and reasons, and their optimality."""
    yield silent({}, "legs")
    for leg in facts.legs.values():
        yield fact(
            *("legs", leg_document(leg), leg.name),
            subject=leg.part,
            unmeasured=leg.not_analyzed or None,
            failed=leg.without_solution or None,
        )
        for verdict, stretches in leg.failures.items():
            reason = verdict_reason(verdict)
            times = [
                f"{stretch.start:.3f}" + (f" to {stretch.end:.3f}" if stretch.end > stretch.start else "")
                for stretch in stretches
            ]
            frames, at = sum(stretch.count for stretch in stretches), shortened(times, MOST_STRETCHES)
            yield fact("failure", subject=leg.part, reason=reason, frames=frames, times=at)
        yield from (fact("reason", subject=leg.part, text=reason) for reason in leg.reasons)
    gap = facts.largest_gap if np.isfinite(facts.largest_gap) else None
    yield fact("largest_gap", gap, asked=True, optimality=facts.optimality)


@of_result
def actuators(facts: Facts) -> Rows:
    """State the largest force of each actuator that bears moments beside the muscles."""
    if "actuator_force" not in facts.result:
        return
    force = facts.result["actuator_force"].transpose("time", "actuator")
    known, peaks = force.values[np.isfinite(force.values).all(axis=1)], dict[str, Any]()
    if not len(known):
        return
    for k, (name, unit) in enumerate(
        zip(force["actuator"].values, facts.result["actuator_units"].values, strict=True)
    ):
        row = int(np.abs(known[:, k]).argmax())
        peaks[str(name)] = {"peak": float(known[row, k]), "unit": str(unit)}
    words = [f"{name} {at['peak']:.3g} {at['unit']}" for name, at in peaks.items()]
    yield fact("actuators", peaks, peaks=shortened(words, 6))


def leg_document(leg: LegFacts) -> dict[str, Any]:
    """Return the numbers of frames of a leg by status."""
    return {
        "solved": leg.solved,
        "with_reserve": leg.with_reserve,
        "not_analyzed": leg.not_analyzed,
        "without_valid_solution": leg.without_solution,
        "largest_reserve": leg.largest_reserve,
        "failures": [
            {
                "reason": verdict,
                "frames": sum(stretch.count for stretch in stretches),
                "stretches_s": [(stretch.start, stretch.end) for stretch in stretches],
            }
            for verdict, stretches in leg.failures.items()
        ],
        "reasons": leg.reasons,
    }


@of_result
def tendons(facts: Facts) -> Rows:
    """State the solution of the tendons, their distance from balance, the largest strains; none for rigid ones."""
    if (known := facts.tendons) is None:
        yield silent(None, "tendons")
        return
    balance, strains = known["balance"], {name: known[name] for name in ("achilles", "all")}
    value = {
        "iterations": {_side(side): count for side, count in known["iterations"].items()},
        "balance_error": balance and balance["error"],
        "largest_strain": strains,
    }
    steps = " and ".join(f"{count} ({_side(side)})" for side, count in known["iterations"].items())
    yield fact("tendons", value, solver=facts.result.attrs.get("solver"), steps=steps)
    if balance is not None:
        leg, large = _side(balance["side"]), balance["large"] or None
        yield fact("tendon_balance", at=balance, leg=leg, limit=LARGE_ERROR, large=large)
    words = [
        f"{whose} {100.0 * most['strain']:.1f} % ({most['muscle']} at {most['time_s']:.3f} s)"
        for whose, most in zip(("Achilles tendon", "of all"), strains.values(), strict=True)
        if most is not None
    ]
    yield fact("tendon_strain", strains="; ".join(words))


@of_result
def fiber_lengths(facts: Facts) -> Rows:
    """State the least and the greatest normalized fiber length, with their muscles."""
    known = facts.fibers is None and "least_normalized_fiber_length" in facts.result
    yield fact("fiber_lengths", facts.fibers, asked=known)


@of_result
def contact_forces(facts: Facts) -> Rows:
    """The greatest contact force of each joint and of the parts of the knee, the right leg before the left one."""
    peaks = facts.contact_by_joint
    sided = [name for side, name in SIDE_NAMES.items() if any(side in of_legs for of_legs in peaks.values())]
    known, every = "joint_reaction" in facts.result, [peak for of in peaks.values() for peak in of.values()]
    unit = "N" if every and not any(np.isfinite(peak.body_weights) for peak in every) else BODY_WEIGHTS
    words = {"legs": ", ".join(sided), "joints": _peak_words(peaks, joint_titles(peaks), unit)}
    if unit == "N":
        yield fact("contact_force_peaks_n", _peaks(peaks, unit) if known else None, **words)
        yield silent(None, "contact_force_peaks_body_weights")
    else:
        yield fact("contact_force_peaks_body_weights", _peaks(peaks, unit) if known else None, **words)
    parts = facts.knee_peaks
    yield fact(
        *("knee_contact_peaks_body_weights", (unit != "N" and _peaks(parts, unit)) or None),
        parts=_peak_words(parts, {}, unit),
        spacing=facts.contact_spacing,
    )
    yield silent(listed(facts.result, "knee_contact_spacing") or None, "knee_contact_spacing")


@of_result
def contact_rows(facts: Facts) -> Rows:
    """The rows of tables of contact forces: each joint and leg, with what implants measured."""
    titles = joint_titles(dict.fromkeys(peak.stem for peak in facts.contact_peaks))
    for peak in facts.contact_peaks:
        band = measured(peak.stem, facts.movement)
        implants = {"mean_words": "", "about": never_measured(peak.stem), "far": "", "far_words": ""}
        if band is not None:
            implants = {
                "mean_words": band.mean_words,
                "about": f"{band.words} in {band.movement}: {band.about}",
                "far": FAR_ABOVE if peak.body_weights > band.far_above else "",
                "far_words": band.far_words,
            }
        yield _row("contact_peak", titles[peak.stem], peak, facts, implants=implants)


@of_result
def knee_rows(facts: Facts) -> Rows:
    """The rows of tables of the forces of the parts of the knee."""
    for part, of_legs in facts.knee_peaks.items():
        for peak in of_legs.values():
            yield _row("knee_part_peak", part, peak, facts)


def _row(code: str, name: str, peak: ContactPeak, facts: Facts, **more: Any) -> Fact:
    """A row of a peak; its body weights are None where the weight of the person is not known."""
    share = None if facts.force_unit[1] == "N" else peak.body_weights
    numbers = {"newton": peak.newton, "body_weights": share, "time_s": peak.time}
    value = {"joint": peak.joint, "side": peak.side, **numbers, **more}
    return fact(code, value, subject=name, leg=SIDE_NAMES.get(peak.side, peak.joint))


def _size(peak: ContactPeak, unit: str) -> float:
    return peak.newton if unit == "N" else peak.body_weights


def _peaks(peaks: Mapping[str, Mapping[str, ContactPeak]], unit: str) -> dict[str, dict[str, float]]:
    return {
        joint: {_side(side): _size(peak, unit) for side, peak in of_legs.items()}
        for joint, of_legs in peaks.items()
    }


def _peak_words(peaks: Mapping[str, Mapping[str, ContactPeak]], titles: Mapping[str, str], unit: str) -> str:
    digits = 0 if unit == "N" else 2
    return "; ".join(
        f"{titles.get(joint, joint)} {', '.join(f'{_size(peak, unit):.{digits}f}' for peak in of_legs.values())}"
        for joint, of_legs in peaks.items()
        if of_legs
    )


@of_result
def plausible(facts: Facts) -> Rows:
    """State the verdict with its movement, or the reason why nothing was compared; the warnings have the details."""
    judged, shown = plausibility(facts), judge(facts).ok
    implausible = judged.verdict == NOT_PLAUSIBLE
    value = {
        "verdict": judged.verdict,
        "reason": judged.reason,
        "use": judged.use or None,
        "movement": judged.movement.name,
        "movement_is_stated": judged.movement.stated,
        "movement_seen": judged.movement.seen or None,
        "speed_m_s": judged.movement.speed,
        "legs": {_side(side): judged.verdict_of(side) for side in judged.sides},
        "criteria": [
            {
                "criterion": comparison.criterion,
                "leg": _side(comparison.side) or None,
                "passed": comparison.passed,
                "degree": DEGREES[comparison.verdict],
                "value": comparison.value,
                "sentence": comparison.sentence,
            }
            for comparison in judged.comparisons
        ],
    }
    yield fact(
        *("plausibility", value),
        label=(judged.label.upper() if implausible else judged.label)
        if shown
        else "not judged beside errors",
        words=judged.movement_words or None,
        why=judged.why_not_known.removeprefix(NOT_RECOGNIZED) if shown and not implausible else "",
    )


@of_result
def consistency(facts: Facts) -> Rows:
    """State the method of consistency, where not the usual one, and the distances that it moved points."""
    result, moved = facts.result, facts.moved
    if moved is None:
        yield silent(None, "consistency")
        return
    value = {
        "rms_m": moved.overall,
        "worst_m": moved.worst,
        "rms_of_points_m": dict(zip(moved.points, moved.rms, strict=True)),
    }
    name = text(result, "consistency_method", "nearest")
    method = CONSISTENCY_METHODS[name]
    if name == "none":
        yield fact(
            "not_consistent", value, method=method, violation=float(result["constraint_violation"].max())
        )
    else:
        most = np.argsort(-moved.rms, kind="stable")[:MOST_MOVED]
        points = ", ".join(f"{moved.points[k]} {1000.0 * moved.rms[k]:.1f}" for k in most)
        yield fact("consistency", value, method=method, most=points)
    yield fact("weighted", points=", ".join(listed(result, "consistency_weights")))
    yield fact("borrowed", dofs=", ".join(listed(result, "borrowed_dofs")))
    if text(result, "consistency_derivatives") == "splines":
        velocity, acceleration = (
            float(result[f"{rate}_violation"].max()) for rate in ("velocity", "acceleration")
        )
        yield fact("by_splines", velocity=velocity, acceleration=acceleration)


@of_result
def residuals(facts: Facts) -> Rows:
    """Peak and root mean square over the frames of the residual force and moment at the pelvis."""
    size, bound = facts.pelvis_residual, facts.result.attrs.get("balance_limit")
    beyond = "; ".join(_residual_beyond(facts)) if size else ""
    value, known = size and asdict(size), "pelvis_residual" in facts.result
    yield fact("pelvis_residual", value, limit=bound, beyond=beyond, asked=known)
    if (change := facts.motion_change) is None:
        yield silent(None, "motion_change")
        return
    of_points = sorted(change["rms_of_points_m"].items(), key=itemgetter(1), reverse=True)[:MOST_MOVED]
    most = ", ".join(f"{point} {1e3 * rms:.1f}" for point, rms in of_points)
    yield fact("motion_change", change, most=most)


def _residual_beyond(facts: Facts) -> list[str]:
    """Return the sentences of plausibility on a residual that is larger than advised."""
    return [
        comparison.sentence
        for comparison in plausibility(facts).comparisons
        if comparison.criterion.startswith("residual") and comparison.verdict != PLAUSIBLE
    ]


@of_result
def emg(facts: Facts) -> Rows:
    """Median and mean of the correlations with EMG, then each channel with its delay."""
    if not facts.channels:
        yield silent(None, "emg")
        return
    (median, mean), r = facts.median_and_mean_correlation or (None, None), facts.correlations
    channels = {
        channel.name: {"correlation": channel.correlation, "delay_s": channel.delay}
        for channel in facts.channels
    }
    for name, correlation in facts.followed_correlations.items():
        channels[name]["correlation_followed"] = correlation
    value = {"median_correlation": median, "mean_correlation": mean, "channels": channels}
    value |= {"followed": facts.follows_emg, "weight": facts.result.attrs.get("emg_weight")}
    ends = [{"name": name, "r": r[name]} for name in sorted(r, key=lambda name: -r[name])]
    predicted = "each predicted while it alone is not followed, r"
    followed = [x for x in facts.followed_correlations.values() if np.isfinite(x)]
    yield fact(
        *("emg", value),
        count=f"{len(r)} of {len(channels)}" if 0 < len(r) < len(channels) else len(channels),
        of=predicted if facts.predicts_emg else "r of activation and envelope",
        unknown="" if r else " not known",
        best=ends[0] if ends else None,
        weakest=ends[-1] if ends else None,
        followed_median=float(np.median(followed)) if followed else None,
        tracked="no test, the cost follows this EMG" if facts.follows_emg and not facts.predicts_emg else "",
    )
    for k in range(0, len(facts.channels), CHANNELS_IN_A_LINE):
        pieces: list[str | Number] = []
        for channel in facts.channels[k : k + CHANNELS_IN_A_LINE]:
            coefficient = number(f"emg_correlation {channel.name}", channel.correlation, ".2f")
            delay = f" ({1000.0 * channel.delay:.0f} ms)" if np.isfinite(channel.delay) else ""
            pieces += [f"{', ' if pieces else ''}{channel.name} ", coefficient, delay]
        yield fact("channels", channels=pieces)


@of_result
def fascicles(facts: Facts) -> Rows:
    """State the agreement of each fiber length with the measured fascicle length."""
    certain = facts.result.attrs.get("fascicle_error_m")
    if not facts.fascicles:
        yield silent(None, "fascicles")
    for name, fascicle in facts.fascicles.items():
        yield fact("fascicles", asdict(fascicle), name, certain=certain)


@of_result
def strides(facts: Facts) -> Rows:
    """State time, duration, stance, double support and speed of every recorded stride."""
    stride_rows: list[dict[str, Any]] = [
        {"leg": _side(stride.side), "start_s": stride.start, "end_s": stride.end}
        | {measure.key: stride.measures.get(measure.variable) for measure in STRIDE_MEASURES if measure.key}
        for stride in facts.strides
    ]
    yield silent(stride_rows, "strides")
    for stride in stride_rows[:MOST_STRETCHES]:
        known = {
            key: value if isinstance(value, str) or (value is not None and np.isfinite(value)) else None
            for key, value in stride.items()
        }
        yield fact("stride", known)
    if len(stride_rows) > MOST_STRETCHES:
        yield fact("more_strides", count=len(stride_rows) - MOST_STRETCHES)


@of_result
def metabolic_rate(facts: Facts) -> Rows:
    """The gross metabolic rate over complete strides, and the cost of transport."""
    rate = facts.metabolic_rate
    document = None
    if rate is not None:
        cost = rate.cost_of_transport
        document = {
            "gross_w_kg": rate.rate,
            "cost_of_transport_j_kg_m": cost if np.isfinite(cost) else None,
            "speed_m_s": rate.speed if np.isfinite(rate.speed) else None,
            "measured_w_kg": rate.measured if np.isfinite(rate.measured) else None,
        }
        yield fact("metabolic_rate", document)
    yield silent(document, "metabolic_rate")


@of_result
def notes(facts: Facts) -> Rows:
    """State the notes of the analysis, and the parts that it completed."""
    for name in ("notes", "completed"):
        yield silent(listed(facts.result, name), name)
        yield from (fact(name, text=note) for note in listed(facts.result, name))


# Remarks on what was left out or not compared; cautions are findings


@of_result
def frames_left_out(facts: Facts) -> Rows:
    """Name frames and legs that were not analyzed, and results of another version."""
    total = facts.result.sizes["time"]
    for side, leg in facts.legs.items():
        if count := leg.not_analyzed:
            code = "not_measured" if count < total or side not in SIDE_NAMES else "leg_not_measured"
            yield fact(code, count=count, total=total, leg=SIDE_NAMES.get(side, "all muscles"))
    if len(facts.legs) == 1 and OTHER not in facts.legs:
        yield fact("one_leg", part=next(iter(facts.legs.values())).part)
    if (change := facts.motion_change) is not None:
        yield fact("motion_changed", **change)
    version = text(facts.result, "musclesolve_version")
    if version != __version__:
        made = f"version {version}" if version else "a version that it does not name"
        yield fact("version", made=made, this=__version__)


@of_result
def muscles_at_limit(facts: Facts) -> Rows:
    """Name the muscles that work at full activation for a while; those that do so for long are findings."""
    if full := [entry for entry in facts.muscles_at_limit if entry.share <= FULL_FOR]:
        work = "muscle works" if len(full) == 1 else "muscles work"
        yield fact("full", count=len(full), work=work, muscles=muscle_names(entry.muscle for entry in full))
        if {"force_capacity", "fiber_velocity"} <= set(facts.result.variables):
            yield from _shortening(facts.result, full[0].muscle)


def _shortening(result: xr.Dataset, muscle: str) -> Rows:
    """State how fast the fibers of a muscle shorten at full activation, and the force that this leaves."""
    names = "activation", "force_capacity", "max_isometric_force", "fiber_velocity", "optimal_fiber_length"
    curves = result[list(names)].sel(muscle=muscle)
    curves = curves.isel(time=np.flatnonzero(curves["activation"].values >= FULL))
    capacity = curves["force_capacity"] / curves["max_isometric_force"]
    speed = -curves["fiber_velocity"] / curves["optimal_fiber_length"]
    if float(capacity.max()) < 1.0 and float(speed.min()) > 0.0:
        rigid = "" if is_elastic(result) else " A rigid tendon leaves the whole shortening to the fibers."
        yield fact(
            "full_shortening",
            muscle=muscle_names([muscle]),
            lowest=100.0 * float(capacity.min()),
            highest=100.0 * float(capacity.max()),
            speed=float(speed.max()),
            rigid=rigid,
        )


@of_result
def residual_in_doubt(facts: Facts) -> Rows:
    """Repeat the sentence on the residual, whose verdict is among the findings."""
    yield from (fact("residual", text=sentence) for sentence in _residual_beyond(facts))


@of_result
def emg_in_doubt(facts: Facts) -> Rows:
    """State the reason why activation is not compared with EMG, or with which muscles it is not."""
    if not facts.correlations:
        yield why_no_emg(facts)
        return
    if facts.follows_emg:
        yield fact("predicted" if facts.predicts_emg else "tracked")
    muscles = [name for channel in facts.channels if channel.muscles for name in channel.muscles.split(", ")]
    legs = set(map(side_of, muscles)) if muscles else set(facts.legs)
    yield from (fact("emg_of_leg", part=leg.part) for side, leg in facts.legs.items() if side not in legs)


def why_no_emg(facts: Facts) -> Fact:
    """Return the reason why activations are not compared with EMG."""
    if "emg_envelope" not in facts.result.attrs:
        return fact("no_emg")
    return fact("emg_not_there" if of_data_set(facts.result) else "emg_of_no_leg")


@of_result
def choices_in_doubt(facts: Facts) -> Rows:
    """Name choices that need caution: events from markers, no passive forces, joints without markers."""
    result = facts.result
    if "event_source" in result and "markers" in set(map(str, result["event_source"].values)):
        yield fact("events")
    if text(result, "passive") == "none":
        yield fact("passive")
    locked = [dof.replace("_", " ") for dof in listed(result, "locked_dofs")]
    yield fact("locked", dofs=shortened(locked, 12))


@of_result
def method(facts: Facts) -> Rows:
    """State the limits of the method: own skeleton, OpenSim model or model of a simulator; rigid or elastic tendons."""
    if simulator := facts.result.attrs.get("simulator"):
        yield fact("minimum")
        yield fact("simulated", simulator=simulator)
        yield fact("purpose")
        return
    of, legs = facts.result, facts.shows_legs
    kind = "elastic_tendons" if is_elastic(of) else "rigid_tendons" if legs else "rigid_tendons_of_model"
    if legs:
        others = ("opensim",) if MODEL in of.attrs else ("foot", "knee")
        codes = "minimum", kind, "strength", "ligaments", *others, "markers", "purpose"
    else:
        socket = ("socket",) if any(part in name for name in _names(of) for part in SHOULDER) else ()
        codes = "minimum", kind, "ligaments_of_model", "opensim", *socket, "motion", "purpose"
    for code in codes:
        yield fact(code)


def _names(result: xr.Dataset) -> list[str]:
    """Names of joints and shared coordinates, in lower case."""
    joints = result["joint"].values if "joint" in result.coords else ()
    return [str(name).lower() for name in (*joints, *shared_dofs(result))]


def _side(side: str) -> str:
    return SIDE_NAMES.get(side, side)


# The facts of an uncertainty


@of_uncertainty
def samples(facts: UncertaintyFacts) -> Rows:
    """State the number of samples, the certainty of standard deviations, and the share of samples with a reserve."""
    answer, attrs = facts.answer, {"sampling": "random"} | facts.answer.attrs
    keys = ("samples", "sampling", "failed_samples", "seed")
    for key in keys:
        yield silent(attrs[key], "uncertainty", key)
    failed = int(attrs["failed_samples"])
    rough = (2.0 * max(int(attrs["samples"]) - failed - 1, 1)) ** -0.5  # of normal errors
    shares = {str(side): answer["reserve_share"].sel(side=side) for side in answer["side"].values}
    helped = (
        f"{_side(side)} {100.0 * float(share.mean()):.0f} %"
        for side, share in shares.items()
        if np.isfinite(share).any()
    )
    yield fact(
        *("uncertainty", {key: attrs[key] for key in keys}),
        designed="designed" if attrs["sampling"] == DESIGNED else None,
        failed=failed or None,
        rough=rough if rough > ROUGH else None,
        helped=", ".join(helped),
    )


@of_uncertainty
def uncertain_peaks(facts: UncertaintyFacts) -> Rows:
    """The peak of every contact force and of the least certain muscles, with the sources that matter most.

    The sources are named with the muscles where no contact forces are known.
    """
    peaks = "peaks in stance" if "ground_reaction_force" in facts.answer else "peaks"
    weight, unit = force_unit(facts.answer)
    key = "contact_force_peaks_n" if unit == "N" else "contact_force_peaks_body_weights"
    yield silent({}, "uncertainty", key)
    for name, at in facts.contact.items():
        stem, side = split_side(name)
        joint = f"{SIDE_NAMES[side]} {stem}" if side in SIDE_NAMES else name
        value = at and _uncertain(at, weight)
        yield silent(value, "uncertainty", key, name)
        if at is None:
            yield fact("no_uncertain_contact", subject=peaks, joint=joint)
        else:
            code = "uncertain_newtons" if unit == "N" else "uncertain_contact"
            yield fact(code, value, subject=peaks, joint=joint, sources=at.main_sources())
    yield silent(
        {name: at and _uncertain(at, 1.0) for name, at in facts.muscles.items()},
        *("uncertainty", "muscle_force_peaks_n"),
    )
    least = [(f"{name} {at.value:.0f} ± {at.sd:.0f} N", at) for name, at in facts.least_certain.items()][
        :MOST_MUSCLES
    ]
    if not least:
        yield fact("no_valid_leg")
    elif facts.contact:
        yield fact("least_certain", peaks=peaks, muscles=", ".join(words for words, _ in least), sources="")
    else:
        for words, at in least:
            yield fact("least_certain", peaks=peaks, muscles=words, sources=at.main_sources())
    missing = facts.answer.attrs["without_contributions"]
    yield silent(missing or None, "uncertainty", "without_contributions")
    if missing:
        yield fact("no_contributions", why=missing)


@of_uncertainty
def first_order(facts: UncertaintyFacts) -> Rows:
    """State the share of values in which the first order, the base of the contributions, agrees with the samples."""
    shares = facts.first_order_shares
    yield silent(shares or None, "uncertainty", "near_first_order")
    if shares:
        words = {"muscle_force": "muscle forces", "contact_force": "contact forces"}
        near = " and ".join(f"{100.0 * share:.0f} % of the {words[name]}" for name, share in shares.items())
        few = "by few directions" if facts.answer.attrs.get("sampling") == DESIGNED else None
        within, frames = facts.first_order_between_bounds, facts.one_sided_frames
        yield fact("first_order", near=near, few=few, within=within, frames=frames or None)


def _uncertain(at: UncertainPeak, unit: float) -> dict[str, Any]:
    """The numbers of a peak, all in the frame of the stated time."""
    shares = at.shares
    value, mean, sd = (quantity / unit for quantity in (at.value, at.mean, at.sd))
    return {
        **{"time_s": at.time, "value": value, "mean": mean, "sd": sd},
        "shares_of_variance": None
        if shares is None
        else dict(zip(shares["source"].values.tolist(), shares.values.tolist(), strict=True)),
    }
