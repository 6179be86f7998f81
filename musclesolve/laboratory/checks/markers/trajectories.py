"""Single markers: held, missing, jumping, merged with another one, slipping on the body; segments that change length.

Samples of held, merged and jumping markers are gaps for later checks. Findings on slips and on segments that stretch
state the frames and the size.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, zip_longest

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from musclesolve._util.arrays import (
    Array,
    Mask,
    at_times,
    long_enough,
    mean_of_known,
    median_of_known,
    sd_of_known,
    time_spans,
    true_runs,
)
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.messages import few
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.case import (
    REACH,
    Case,
    Stage,
    check_at,
    frames_of,
    growth,
    move_back,
    remove_samples,
    replace_fields,
)
from musclesolve.laboratory.checks.files.times_units_axes import even_order, skips
from musclesolve.laboratory.checks.markers.body_distances import (
    A_STRIDE,
    FEWEST_LEFT,
    LEG,
    MERGED,
    bodies,
    distances,
    markers_of,
    misfit,
)
from musclesolve.laboratory.checks.markers.landmark_order import partners
from musclesolve.laboratory.checks.observed_body import smooth
from musclesolve.laboratory.markers.gaps.gap_filling import (
    completed_trial,
    fill_trial,
    largest_jump,
    without_ghosts,
)
from musclesolve.laboratory.markers.gaps.gap_filling import jumps as jump_frames
from musclesolve.laboratory.markers.gaps.rigid_registration import register
from musclesolve.laboratory.markers.landmarks import upper_markers
from musclesolve.laboratory.motion.events.foot_events import FootLoads, force_events, marker_events, walk
from musclesolve.laboratory.motion.events.gait import EventsByFoot
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding, Run, Where, finding

# A marker that stays exactly where it is for so many frames and so long [s], while its distances from its neighbors
# change so much [m], is frozen.
FROZEN_FRAMES, FROZEN_FOR, NEIGHBORS_GO = 4, 0.03, 0.01
# A marker that was held jumps when it is seen again: by more than so many of the smallest steps of the file, which a
# resting marker does not.
HELD_STEPS = 2.5
# A coordinate is filled where it goes along a polynomial for so many frames and so long [s]: its difference of this
# order is at most what rounding makes of zero, and so many times as much just before and after, and usually. Meanwhile
# its distances from its neighbors (on a curve: those on its body) leave their chord by so much [m]. No marker of 15
# sound recordings goes on a line; where two go on curves their distances leave the chord by some mm.
FILLED_FRAMES, FILLED_FOR = 8, 0.1
FILLED_BY = {"straight": (2, 0.001), "curved": (4, 0.015)}
ROUNDED, KINK, USUAL_BEND = 0.505, 4.0, 2.0
# Jitter from frame to frame that gives a warning [m], and how many frames show it: windows of 15 sound recordings have
# up to 1.1 mm, 1.5 mm at 50 Hz. Smallest step of most markers [m]: many files have whole millimeters.
NOISY, FEWEST_FOR_NOISE, COARSE = 0.0016, 20, 0.0015
# Displacement of all markers from one frame to the next that is none of the body, as a share of their median distance
# from their middle, above this frame rate [Hz], and share of the markers that may differ from it by half: 15 sound
# recordings have up to 0.002, made ones with noise, too.
BUMPED, SLOW_HZ, UNLIKE = 0.012, 50.0, 0.1
# Two markers that are in one place for so many frames are one.
MERGED_FRAMES = 3


@check_at(Stage.HELD_SAMPLES)
def held_samples(case: Case) -> Iterator[Finding]:
    """Find markers that stand exactly still, or go along a polynomial, unlike the markers around them."""
    markers, pairs = case.trial.markers, distances(case.trial)
    length = np.zeros((0, 0)) if pairs is None else pairs.measured(markers.position)
    shortest = max(FROZEN_FRAMES, 1 + round(FROZEN_FOR * markers.rate))
    fewest = max(FILLED_FRAMES, frames_of(FILLED_FOR, markers.rate))
    for name in case.trial.used_markers:
        path, digit = markers[name], _smallest_step(markers[name])
        still = np.concatenate([[False], (np.diff(path, axis=0) == 0.0).all(axis=1)])
        held = np.zeros_like(still)
        # Not how far the neighbors go: a foot rotates about a toe that stands still.
        near = pairs.of(markers.names.index(name)) if pairs else np.zeros(0, bool)
        on_body = bool(near.any())
        apart = length[:, near] if on_body else np.linalg.norm(markers.position - path[:, None], axis=-1)
        for start, stop in true_runs(long_enough(still, shortest - 1)):
            first, last = start - 1, stop - 1
            rests = (np.abs(path[stop : stop + 1] - path[last]) <= HELD_STEPS * digit).all(axis=1).any()
            if not rests and median_of_known(np.abs(apart[last] - apart[first])) > NEIGHBORS_GO:
                held[first : last + 1] = True
        kinds, known = {"frozen": held}, np.zeros_like(held)
        for by in FILLED_BY if on_body else ["straight"]:
            kinds[f"frozen.{by}"] = _on_polynomial(path, apart, fewest, digit, *FILLED_BY[by])
        for code, frames in kinds.items():
            frames, known = frames & ~known, frames | known
            if frames.any():
                values = {"name": name, "count": frames.sum()}
                where = Where(markers.path, markers=(name,), times=time_spans(frames, markers.time))
                # The first of the frames was measured.
                yield finding(code, "error", values, where, remove_samples(name, frames & np.roll(frames, 1)))


def _smallest_step(path: Array) -> float:
    """Return the smallest step [m] of a path (T, 3), which its digits allow."""
    steps = np.abs(np.diff(path, axis=0))
    return float(np.nanmin(steps, where=steps > 1e-9, initial=np.inf))


def _on_polynomial(path: Array, apart: Array, fewest: int, digit: float, order: int, far: float) -> Mask:
    """Return frames (T,) in which a coordinate of a path (T, 3) is a polynomial, but distances (T, n) are no line.

    Differences of some order are zero there, beside the rounding to a digit [m]. far: distance from the chord [m].
    """
    bend, zero = np.abs(np.diff(path, n=order, axis=0)), ROUNDED * 2.0**order * digit
    filled: Mask = np.zeros(len(path), bool)
    for axis in np.flatnonzero(median_of_known(bend) > USUAL_BEND * zero):
        for start, stop in true_runs(long_enough(bend[:, axis] <= zero, fewest)):
            run = apart[start : stop + order]
            chord = run[0] + np.linspace(0.0, 1.0, len(run))[:, None] * (run[-1] - run[0])
            leave = np.nan_to_num(np.abs(run - chord)).max() > far
            if leave and np.pad(bend[:, axis], 1)[[start, stop + 1]].min() > KINK * zero:
                filled[start : stop + order - 1] = True
    return filled


@check_at(Stage.HELD_SAMPLES)
def noise(case: Case) -> Iterator[Finding]:
    """Find markers that jitter from frame to frame."""
    markers = case.trial.markers
    if markers.time.size < FEWEST_FOR_NOISE:
        return
    # The third difference of white noise of standard deviation s has sqrt(1 + 9 + 9 + 1) s; motion adds little to it.
    third = {name: np.abs(np.diff(markers[name], n=3, axis=0)) for name in case.trial.used_markers}
    jitter = {n: 1.4826 * float(median_of_known(size.ravel())) / np.sqrt(20.0) for n, size in third.items()}
    noisy = sorted((name for name in jitter if jitter[name] > NOISY), key=lambda name: -jitter[name])
    digit = float(median_of_known(np.array([_smallest_step(markers[name]) for name in third])))
    if COARSE < digit < np.inf:
        rounded = {"name": "the markers", "step": 1000.0 * digit, "unit": "mm"}
        yield finding("noise.steps", "warning", rounded, Where(markers.path))
    elif noisy:
        values: dict[str, object] = {"noisy": len(noisy), "count": len(jitter), "limit": NOISY}
        values |= {"worst": noisy[0], "jitter": jitter[noisy[0]]}
        yield finding("noise", "warning", values, Where(markers.path, markers=tuple(noisy[:5])))


@check_at(Stage.COPIED_FRAMES)
def bumped_cameras(case: Case) -> Iterator[Finding]:
    """Find frames from which on all markers are displaced alike, as where cameras or the origin were moved.

    Where frames were lost a planted foot stays; rows are ordered later. Units are unknown: the body is the measure.
    """
    markers, places = case.trial.markers, mean_of_known(case.trial.markers.position)
    limit = BUMPED * float(median_of_known(np.linalg.norm(places - mean_of_known(places), axis=1)))
    limit *= max(1.0, SLOW_HZ / markers.rate) ** 3

    def together(*four: Array) -> tuple[Array, Array]:
        before, step, after = (b - a for a, b in pairwise(four))
        alone = np.swapaxes(step - 0.5 * (before + after), 0, 1)
        common = median_of_known(alone)
        size, unlike = np.linalg.norm(common, axis=1), np.linalg.norm(alone - common, axis=2)
        others = mean_of_known(np.where(unlike > 0.5 * size, 1.0, 0.0 * unlike))
        return common, np.where(others <= UNLIKE, size, 0.0)

    common, size = in_blocks(together, *(markers.position[k : k - 3 or None] for k in range(4)))
    # a jump makes half of one of the steps beside it
    bumped = (size > limit) & (size > 0.6 * np.maximum(np.pad(size, 1)[:-2], np.pad(size, 1)[2:]))
    if bumped.any() and even_order(markers.position, skips(markers.position)[0]) is None:
        moved = np.cumsum(np.pad(common * bumped[:, None], ((2, 1), (0, 0))), axis=0)
        at = tuple((float(markers.time[k + 1]), float(markers.time[k + 2])) for k in np.flatnonzero(bumped))
        repair = replace_fields(markers=replace(markers, position=markers.position - moved[:, None]))
        values = {"size": size[bumped].max(), "limit": limit}
        yield finding("leap.together", "error", values, Where(markers.path, times=at), repair)


@check_at(Stage.MERGED_MARKERS)
def merged_markers(case: Case) -> Iterator[Finding]:
    """Find two markers in one place: one of them is a ghost."""
    names, markers = case.trial.used_markers, case.trial.markers

    def in_one_place(one: Array, *others: Array) -> Mask:
        return np.linalg.norm(np.stack(others, axis=1) - one[:, None], axis=-1) < MERGED

    for k, name in enumerate(names[:-1]):
        near = in_blocks(in_one_place, *(markers[other] for other in names[k:]))
        for column in np.flatnonzero(near.any(axis=0)):
            other, together = names[k + 1 + column], long_enough(near[:, column], MERGED_FRAMES)
            if not together.any():
                continue
            values = {"one": name, "other": other, "limit": MERGED, "frames": f" in {together.sum()} frames"}
            where = Where(markers.path, markers=(name, other), times=time_spans(together, markers.time))
            ghost, pairs = other, distances(case.trial)
            if pairs is not None:  # the one that is farther from its usual place in its segment
                of, error = pairs.names, pairs.measured(case.trial.markers.position)[together] - pairs.usual
                off = {label: float(misfit(error, pairs, of.index(label)).mean()) for label in (name, other)}
                ghost = max(off, key=lambda label: off[label])
            merged = finding("markers_merged", "error", values, where, remove_samples(ghost, together))
            yield merged
            # Which one is a ghost is decided without the ghosts that are known.
            case = case.repaired(merged)


@check_at(Stage.GAPS)
def gaps(case: Case) -> Iterator[Finding]:
    """Report which gaps within the time range are filled, and how well, and which cannot be."""
    held = {m for f in case.findings if f.code in ("frozen", "marker_moved") for m in f.where.markers}
    start, end = case.trial.time_range
    filled, completed = completed_trial(case.trial, case.settings.gaps)
    above = upper_markers(case.trial)
    path = case.trial.markers.path
    for gap in filled.gaps:
        elsewhere = gap.last < start or gap.first > end
        left_out = gap.marker in above or case.lacks_range
        if gap.marker in held or elsewhere or (left_out and not gap.filled):
            continue
        where = Where(path, markers=(gap.marker,), times=((gap.first, gap.last),))
        values = {"name": gap.marker, "count": gap.frames, "account": gap.account, "error": gap.error}
        throughout = gap.frames == len(case.trial.markers.time)
        code = "gap_filled" if gap.filled else "gap.throughout" if throughout else "gap"
        yield finding(code, "note" if gap.filled else "error", values, where)
    for marker in completed:
        if marker.marker not in held and not case.lacks_range:
            where = Where(path, markers=(marker.marker,), times=((marker.first, marker.last),))
            yield finding("gap.completed", "warning", {"sentence": marker.sentence}, where)


def fill_and_complete(case: Case) -> Case:
    """Return the case with gaps filled and markers above the hips completed."""
    filled, _ = completed_trial(case.trial, case.settings.gaps)
    if filled is case.trial:
        return case
    return case.with_trial(replace(case.trial, markers=filled.markers, mapping=filled.mapping))


@check_at(Stage.JUMPS)
def jumps(case: Case) -> Iterator[Finding]:
    """Find markers that jump within the time range; the samples are removed wherever they are.

    What goes back at once is a gap for the analysis, with no effect on its results: no more than a warning.
    """
    cleaned, reflections = without_ghosts(case.trial, case.settings.gaps)
    for name in dict.fromkeys(marker for marker, _, _ in reflections):
        frames = np.any([frames for marker, frames, _ in reflections if marker == name], axis=0)
        where = Where(cleaned.markers.path, markers=(name,), times=time_spans(frames, cleaned.markers.time))
        values = {"name": name, "size": max(size for marker, _, size in reflections if marker == name)}
        yield finding("leap.ghost", "warning", values, where)
    markers, inside = cleaned.markers, np.zeros(case.trial.markers.time.size, bool)
    inside[case.trial.frames()] = True
    limit = largest_jump(markers.rate)
    for name in case.trial.used_markers:
        frames = jump_frames(markers[name], markers.rate)
        if not (frames & inside).any():
            continue
        change = np.linalg.norm(np.diff(markers[name], n=2, axis=0), axis=1)
        size = float(np.nanmax(np.where(inside[1:-1], change, 0.0)))
        values = {"name": name, "size": size, "limit": limit}
        where = Where(markers.path, markers=(name,), times=time_spans(frames & inside, markers.time))
        yield finding("leap", "error", values, where)


def remove_and_fill_jumps(case: Case) -> Case:
    """Return the case without jumps, in and outside of the time range, and with the gaps filled that are left."""
    cleaned, _ = without_ghosts(case.trial, case.settings.gaps)
    markers, recorded = cleaned.markers, replace(case.recorded, trial=cleaned)
    for name in case.trial.used_markers:
        frames = jump_frames(markers[name], markers.rate)
        if frames.any():
            recorded = remove_samples(name, frames)(recorded)
    filled = fill_trial(recorded.trial, case.settings.gaps)
    if filled is case.trial:
        return case
    return case.with_trial(replace(recorded.trial, markers=filled.markers))


# A step that exceeds the steps around it by so much more than a subject can move [m], [m/s^2] is a jump.
SMALLEST_JUMP, GREATEST_ACCELERATION = 0.012, 80.0
# So many standard deviations of the noise of a coordinate are no noise; the median length of a vector of noise is
# 1.538 of them (chi distribution of three degrees of freedom).
CLEARLY, MEDIAN_LENGTH = 7.0, 1.538
# Steps before and after a jump that show whether a marker was noisy there anyway.
AROUND = 10
# Jumps so little time apart are one, opposite ones within this time are a ghost [s].
TOGETHER, BACK = 0.05, 0.25
# Time before and after a jump that shows whether the marker keeps its new place, without a time next to it [s]; and the
# least number of frames that show it.
BESIDE, CATCH_UP, FEWEST_BESIDE = 0.14, 0.03, 5
# A distance this far from the usual one is none of a rigid segment [m]; toes and skin take up to 26 mm of it, more on
# tall people.
STRETCHED = 0.035
# Time by which markers come later than those beside them [s], what it must change in distances (root of the sum of mean
# squares [m]), and the share of their changes that it explains: there 15 sound recordings and 100 windows of 0.8 to 2 s
# have up to 9.3 ms, because skin follows the bones late; one of 0.7 s has 27 ms. Seen from a belt, it is late by 14 to
# 17 ms on two knees and a foot, but on the other side by 0.68 to 0.76 of it: from half of it on, it is skin.
LATE, LEAST_LATE, HALF, LIKE_SKIN, LONG_ENOUGH = 0.013, 0.005, 0.5, 0.5, 0.8
# So many times as far moves an acromion, 5 cm above the center of the shoulder, as the arm and the shoulder rise.
OF_SHOULDER = 3.0
FEWEST_FRAMES = 3
# Change of two distances of a marker at once, beyond what 9 of 10 frames and the twins show, from which the marker left
# its place [m], and the least time [s]: 15 sound recordings, whole and in 600 windows of a second and more, have 0.005.
LEFT, LEFT_FOR = 0.008, 0.03
# Share of a jump that a distance shows, share of this change that is left over a stride: less is no slip; and so many
# distances show it.
ALONG, LASTS, DISTANCES = 0.6, 0.25, 2
# Standard deviation of a distance on pelvis and legs, or its change from the first stride to the last (sound ones have
# 4.8 mm), over that of its twin on the other side: a factor, and a size [m], over a stride or more. 13 sound
# recordings, whole and in windows of a second, have at most 1.9 mm more than twice the twin, made walks whose skin
# moves by 4 mm 4.5 mm. As legs bend skin moves: BENDS is the largest ratio of the ranges of the distance from pelvis to
# heel of two legs; strides have up to 1.5.
OF_TWIN, BEYOND_TWIN, BENDS = 2.0, 0.007, 2.0
# What a marker sways among the other markers of its body beyond its twin, as root of the difference of the squares [m],
# and the frames compared: 15 sound recordings, in windows of a second and more, have at most 9.3 mm, made walks whose
# skin moves by 4 mm 9.7 mm; a swing of 25 mm (18 mm standard deviation) has 12 to 22 mm on knees, shanks and feet.
# Where both move farther, as front spines among rear ones that lie close together: so many times as far as the twin.
BESIDE_TWIN, TIMES_TWIN, COMPARED = 0.012, 1.6, 100
# Skin that moves everywhere makes other twins unlike, too: a marker that moves alone has more than so many times the
# median variation of a distance, or the median difference of twins on other bodies. Skin that moves by 4 to 10 mm on
# six recordings, in half of the draws twice as far on the right leg, is taken for one in 37 of 288 draws, and a swing
# of 25 mm is found in 122 of 144. Without both, and without the ratio of the legs, 155 and 125.
AMONG_PAIRS, AMONG_TWINS = 1.2, 3.0
# Least variation of distances on a leg that is compared with the other leg [m], and fewest distances of it.
SLIGHT, FEWEST_PAIRS = 0.001, 3
# Share of what a marker shows from which another one of its segment may be the one that moves.
AS_LIKELY = 0.3


@check_at(Stage.SLIPS)
def slips_and_lengths(case: Case) -> Iterator[Finding]:
    """Find markers that slip or jitter on the body, or come late, and segments that stretch for another reason."""
    for late in _late(case.trial):
        yield late
        case = case.repaired(late)
    markers = case.trial.markers
    size = {} if markers.time.size < 8 else _jumps_on_bodies(case.trial)
    # From which size on a jump is none of motion or noise [m].
    smallest, times = SMALLEST_JUMP * growth(case.trial.subject), CLEARLY / MEDIAN_LENGTH
    least = max(smallest, GREATEST_ACCELERATION / markers.rate**2)
    # Marker -> which of its steps stand out among the steps around them, or are high among others that are as high.
    single: dict[str, Mask] = {}
    noisy: dict[str, Mask] = {}
    for name, jump in size.items():
        usual = max(least, times * float(np.median(jump)))
        high = jump > usual
        if not high.any():
            continue
        jumped = high & (jump > np.maximum(usual, times * _around(jump)))
        if jumped.any():
            # A single jump makes half of one of the steps beside it: those that stand out jump themselves.
            beside = np.pad(jump, 1)
            single[name] = jumped & (jump > 0.6 * np.maximum(beside[:-2], beside[2:]))
        else:
            noisy[name] = high
    for name, jumped in single.items():
        yield from _slips_and_ghosts(case.trial, name, jumped)
    if noisy:  # none of their jumps stands out among its neighbors
        time, worst = markers.time, sorted(noisy, key=lambda name: -float(size[name].max()))
        frames = 1 + np.flatnonzero(np.any(list(noisy.values()), axis=0))
        groups = np.split(frames, np.flatnonzero(np.diff(frames) > AROUND) + 1)
        spans = tuple((float(time[group[0]]), float(time[group[-1] + 1])) for group in groups)
        jitter = float(size[worst[0]].max())
        values = {"noisy": len(noisy), "count": len(size), "worst": worst[0], "jitter": jitter}
        where = Where(markers.path, markers=tuple(worst[:5]), times=spans)
        yield finding("noise.frames", "warning", values, where)
    swinging = _swinging(case.trial, [*single, *noisy])
    yield from swinging
    yield from _stretched(case.trial, [*single, *noisy, *(m for f in swinging for m in f.where.markers)])


def _late(trial: Trial) -> Iterator[Finding]:
    """Find the marker of a leg, or the markers of one of its bodies, that come later than the markers beside them.

    A distance to a marker that comes late by t changes by t times the velocity of the marker along it: least squares.
    """
    markers, pairs, legs = trial.markers, distances(trial), markers_of(trial, "pelvis", *LEG, "cluster")
    position = markers.position[trial.frames()]
    if pairs is None or len(position) < frames_of(LONG_ENOUGH, markers.rate):
        return
    velocity = np.gradient(position, 1.0 / markers.rate, axis=0)
    apart = position[:, pairs.other] - position[:, pairs.one]
    length = np.linalg.norm(apart, axis=2)
    rates = [np.sum(apart * velocity[:, of], axis=2) / length for of in (pairs.one, pairs.other)]
    parts = [markers_of(trial, f"foot_{side}") for side in SIDES] + [{*of} for of in trial.clusters.values()]

    def delay(part: set[str]) -> tuple[float, float, list[int]]:
        """By how much some markers come late [s], zero where that explains little, what it changes [m], and columns."""
        some = [markers.names.index(name) for name in part & legs]
        one, other = np.isin(pairs.one, some), np.isin(pairs.other, some)
        due, far = (of[:, one ^ other] for of in (rates[0] * one - rates[1] * other, length))
        due, far = (np.nan_to_num(of - mean_of_known(of)) for of in (due, far))
        power, shared = float(np.sum(due**2)), float(np.sum(due * far))
        if power == 0.0 or shared**2 <= HALF * power * np.sum(far**2):
            return 0.0, 0.0, some
        return shared / power, abs(shared) / np.sqrt(power * len(due)), some

    most, late, by, twins = LEAST_LATE, list[int](), 0.0, partners(trial)
    for part in [*({name} for name in sorted(legs)), *parts]:
        shift, size, some = delay(part)
        if abs(shift) > LATE and size > most:
            on_other_side, *_ = delay({twins.get(name, "") for name in part})
            if on_other_side * np.sign(shift) < LIKE_SKIN * abs(shift):
                most, late, by = size, some, shift
    if late:
        flat = markers.position[:, late].reshape(markers.time.size, -1)
        position = in_blocks(np.ndarray.copy, markers.position)
        position[:, late] = at_times(markers.time, flat, markers.time + by).reshape(markers.time.size, -1, 3)
        names = tuple(markers.names[k] for k in sorted(late))
        word = "late" if by > 0.0 else "early"
        values = {"names": few(names, 5), "size": abs(by), "limit": LATE, "late": word}
        repair = replace_fields(markers=replace(markers, position=position))
        yield finding("segment_length.late", "error", values, Where(markers.path, markers=names), repair)


# How much later one foot may be than the other by the mean of both kinds of events [s], if both agree: sound feet of
# eleven people have up to 0.012, legs that are late by 0.025 have 0.023 and more. The second time over the number of
# the fewest events is added: single events of a sound walk, its forces filtered or held, have up to 0.020.
IN_STEP, OF_ONE_EVENT = 0.016, 0.008


@check_at(Stage.SUPPORT, needs=["plates"])
def feet_in_step(case: Case) -> Iterator[Finding]:
    """Find a leg whose markers are late against the plate under its foot, compared with the other leg."""
    plates, walking = EventsByFoot(force_events(FootLoads.from_trial(case.trial))), walk(case.trial)
    delays = {(kind, side): [np.nan] for kind in ("heel_strike", "toe_off") for side in SIDES}
    for event in marker_events(walking) if walking else ():
        if (twin := plates.twin(event)) is not None:
            delays[event.kind, event.side].append(event.time - twin.time)
    late = median_of_known(np.array([*zip_longest(*delays.values(), fillvalue=np.nan)]))
    strike, off = late[::2] - late[1::2]
    fewest = min(len(of) - 1 for of in delays.values())
    limit = IN_STEP + OF_ONE_EVENT / max(fewest, 1)
    if strike * off > 0.0 and abs(strike + off) > 2.0 * limit:
        one, other = ("right", "left")[:: 1 if off > 0.0 else -1]
        values = {"late": one, "other": other, "strike": abs(strike), "off": abs(off), "limit": limit}
        yield finding("time_offset.legs", "warning", values, Where(case.trial.markers.path))


def _jumps_on_bodies(trial: Trial) -> dict[str, Array]:
    """Return marker -> size of its jump (T - 3,) [m] in steps 1 to T - 3, against the others on each of its bodies."""
    markers = trial.markers
    size: dict[str, Array] = {}
    for names, _ in bodies(trial).values():
        body = [markers.names.index(name) for name in names]

        def jumps_of(*four: Array, body: list[int] = body) -> Array:
            before, step, after = (b[:, body] - a[:, body] for a, b in pairwise(four))
            # By how much each step exceeds the mean of the steps around it.
            alone = step - 0.5 * (before + after)
            # Where the whole body jumps it is not the marker that does.
            others = [np.median(np.delete(alone, k, axis=1), axis=1) for k in range(len(body))]
            against = np.linalg.norm(alone - np.stack(others, axis=1), axis=-1)
            return np.minimum(np.nan_to_num(against), np.nan_to_num(np.linalg.norm(alone, axis=-1)))

        least = in_blocks(jumps_of, *(markers.position[k : k - 3 or None] for k in range(4)))
        for name, smallest in zip(names, least.T, strict=True):
            size[name] = np.minimum(size[name], smallest) if name in size else smallest
    return size


def _around(size: Array) -> Array:
    """Return the greater one of the median sizes (T,) before and after each step, without the two adjacent steps."""
    padded = np.pad(size, AROUND + 2, mode="reflect") if size.size > AROUND + 2 else np.zeros(size.size + 24)
    median = np.median(sliding_window_view(padded, AROUND), axis=1)
    after: Array = median[AROUND + 5 :][: size.size]
    return np.maximum(median[: size.size], after)


def _slips_and_ghosts(trial: Trial, name: str, jumped: Mask) -> Iterator[Finding]:
    """Find slips of a marker, and frames in which it only leaves its place for a while."""
    markers = trial.markers
    time, together = markers.time, frames_of(TOGETHER, markers.rate)
    others = sorted({one for names, _ in bodies(trial).values() if name in names for one in names} - {name})
    around = np.stack([markers[other] for other in others], axis=1)
    away = markers[name][:, None] - around
    distance, beside = np.linalg.norm(away, axis=2), _in_axes(away.mean(axis=1), around)
    leaps: dict[str, list[tuple[float, Run]]] = {}
    slips: list[tuple[int, int, Array]] = []
    for first, stop, moved, far in _events(markers[name], jumped, together):
        before = slips[-1] if slips else None
        kept = _kept(beside, first, stop, markers.rate)
        code, (start, end) = "leap.back", (first, stop)
        if min(float(np.linalg.norm(moved)), kept) < max(0.5 * far, LEFT):
            pass
        elif before and time[first] - time[before[1]] < BACK and moved @ before[2] < -0.5 * (moved @ moved):
            slips.pop()
            start = before[0]
        elif gone := _away(distance, first, stop, frames_of(BACK, markers.rate), together):
            start, end = gone
        elif np.isinf(kept):
            code = "leap.unclear"
        elif _returns(away, distance, first, stop, moved, round(A_STRIDE * markers.rate)):
            code = "leap.stride"
        else:
            slips.append((first, stop, moved))
            continue
        leaps.setdefault(code, []).append((far, (float(time[start]), float(time[end]))))
    if slips:
        values = {"name": name, "reach": REACH, "first": float(time[slips[0][1]])}
        values |= {"size": max(1000 * float(np.linalg.norm(moved)) for *_, moved in slips)}
        values |= {"times": f", {len(slips)} times" if len(slips) > 1 else ""}
        times = tuple((float(time[stop]), float(time[-1])) for _, stop, _ in slips)
        where, repair = Where(markers.path, markers=(name,), times=times), move_back(name, slips)
        # a shorter range before the first slip is no remedy
        early = time[slips[0][0]] - REACH - time[0] < A_STRIDE
        yield finding("marker_slipped.early" if early else "marker_slipped", "error", values, where, repair)
    for code, runs in leaps.items():
        values = {"name": name, "size": max(far for far, _ in runs)}
        where = Where(markers.path, markers=(name,), times=tuple(sorted(run for _, run in runs)))
        yield finding(code, "warning", values, where)


def _in_axes(vector: Array, points: Array) -> Array:
    """Vectors (T, 3) in the axes of points (T, n, 3); as they are where the points span no triangle."""
    whole = np.flatnonzero(np.isfinite(points).all(axis=(1, 2)))
    try:
        poses = register(points[whole[0]], points) if whole.size else None
    except InputError:
        poses = None
    return vector if poses is None else np.einsum("tji,tj->ti", poses.rotation, vector)


def _kept(beside: Array, first: int, stop: int, rate: float) -> float:
    """Return the size [m] of the part of a jump from first to stop that remains, infinite where too few frames show it:
    the least with and without the frames next to the jump, in which a marker catches up.

    beside (T, 3) [m]: place of the marker beside the others on its bodies: before and after the jump a polynomial of
        time, with a step between; rate [Hz].
    """
    sizes, reach = [np.inf], frames_of(BESIDE, rate)
    every = np.arange(max(first + 1 - reach, 0), min(stop + reach, len(beside)))
    every = every[np.isfinite(beside[every]).all(axis=1)]
    for left_out in (0, frames_of(CATCH_UP, rate)):
        frames = every[(every <= first - left_out) | (every >= stop + left_out)]
        later = frames >= stop
        if min(later.sum(), (~later).sum()) < FEWEST_BESIDE:
            continue
        columns = np.column_stack([np.vander((frames - first) / reach, 4), later])
        fit, *_ = np.linalg.lstsq(columns, beside[frames], rcond=None)
        sizes.append(float(np.linalg.norm(fit[-1])))
    return min(sizes)


def _away(distance: Array, first: int, stop: int, reach: int, together: int) -> tuple[int, int] | None:
    """Return the frames around those in which a marker is away from its place, if the jump from first to stop only
    begins or ends a slow drift, as of a wrongly filled gap; None if the marker keeps its new place.

    distance: from the other markers on its bodies (T, K) [m]; the usual ones within `reach` frames before and after
        the jump show whether the marker has changed its place; its size shows within `together` frames.
    """
    before, after = distance[max(first + 1 - reach, 0) : first + 1], distance[stop : stop + reach]
    if min(len(before), len(after)) < 2 * together or np.isnan(np.concatenate([before, after])).any():
        return None
    usual = np.median(before, axis=0), np.median(after, axis=0)
    jump = float(np.ptp(distance[max(first + 1 - together, 0) : stop + together], axis=0).max())
    if jump < SMALLEST_JUMP or np.abs(usual[1] - usual[0]).max() > 0.5 * jump:
        return None
    off = [
        np.abs(part - of).max(axis=1) > 0.5 * SMALLEST_JUMP
        for part, of in zip((before, after), usual, strict=True)
    ]
    drifting, returning = (int(np.argmin([*run, False])) for run in (off[0][::-1], off[1]))
    return max(first - drifting, 0), min(stop + returning, len(distance) - 1)


def _returns(away: Array, distance: Array, first: int, stop: int, moved: Array, reach: int) -> bool:
    """Return whether all distances that a jump changes are the usual ones again over a stride of `reach` frames.

    away (T, K, 3), distance (T, K) [m]: from the other markers on its bodies; moved (3,) [m]. A jump across the lines
    to all other markers changes no distance enough.
    """
    due = np.nan_to_num(away[first] @ moved / distance[first])
    seen = np.abs(due) > ALONG * np.linalg.norm(moved)
    if seen.sum() < DISTANCES or min(first + 1, len(distance) - stop) < reach:
        return False
    before, after = distance[first + 1 - reach : first + 1, seen], distance[stop : stop + reach, seen]
    change = median_of_known(after) - median_of_known(before)
    return bool((change / due[seen] < LASTS).all())


def _events(path: Array, jumped: Mask, together: int) -> list[tuple[int, int, Array, float]]:
    """Return (first, stop, total displacement (3,) [m], greatest distance on the way [m]) of jumps that belong
    together: at most `together` steps apart.

    The surrounding steps of the path give its motion without the jump; the marker leaves its place in the frame
    ``first`` and is at its new place in ``stop``.
    """
    step = np.diff(path, axis=0)
    marked = np.concatenate([[False], jumped, [False]])
    quiet = np.flatnonzero(~marked & np.isfinite(step).all(axis=1))
    if not quiet.size:
        return []
    at = np.arange(marked.size)
    usual = np.stack([np.interp(at, quiet, step[quiet, axis]) for axis in range(3)], axis=1)
    excess = np.where(marked[:, None], np.nan_to_num(step - usual), 0.0)
    steps = np.flatnonzero(marked)
    return [
        (
            int(group[0]),
            int(group[-1]) + 1,
            excess[group].sum(axis=0),
            float(np.linalg.norm(np.cumsum(excess[group], axis=0), axis=1).max()),
        )
        for group in np.split(steps, np.flatnonzero(np.diff(steps) > together) + 1)
    ]


def _legs_alike(trial: Trial) -> bool:
    """Return whether both legs bend as far as each other, over a stride or more."""
    frames, ends = trial.frames(), [(f"asis_{side}", f"heel_{side}") for side in SIDES]
    legs = [(smooth(trial, one), smooth(trial, other)) for one, other in ends]
    bends = [
        np.ptp(np.linalg.norm((a - b)[frames], axis=1)) for a, b in legs if a is not None and b is not None
    ]
    lasts = len(trial.markers.time[frames]) >= A_STRIDE * trial.markers.rate
    return lasts and len(bends) == len(SIDES) and bool(max(bends) <= BENDS * min(bends))


def _swinging(trial: Trial, jumps: list[str]) -> list[Finding]:
    """Return the finding of the marker that swings on its segment farther than its twin on the other side."""
    markers, pairs, frames = trial.markers, distances(trial), trial.frames()
    if pairs is None or not _legs_alike(trial):
        return []
    length, stride = pairs.measured(markers.position[frames]), round(A_STRIDE * markers.rate)
    drift = np.abs(median_of_known(length[-stride:]) - median_of_known(length[:stride]))
    most = np.fmax(sd_of_known(length), drift if len(length) >= 2 * stride else 0.0)
    varies = dict(zip(pairs.ends, most, strict=True))
    twins, shown = partners(trial), markers_of(trial, "pelvis", "thigh", "shank", "foot") - {*jumps}
    twin = {pair: varies.get(frozenset(twins.get(name, "") for name in pair), np.inf) for pair in varies}
    more = {pair: size - OF_TWIN * twin[pair] for pair, size in varies.items() if pair <= shown}
    more = {pair: size for pair, size in more.items() if np.isfinite(size)}
    excess = {name: sum(max(more[pair], 0.0) for pair in more if name in pair) for name in sorted(shown)}
    worst = max(excess, key=lambda name: excess[name], default="")
    # skin moves more on one leg than on the other: what the other pairs of this leg show
    leg = next(
        (mine for side in SIDES if worst in (mine := markers_of(trial, *(f"{k}_{side}" for k in LEG)))), ()
    )
    others = [pair for pair in more if pair <= {*leg} - {worst}]
    here, there = ([of[pair] for pair in others] for of in (varies, twin))
    unlike = np.median(here) / max(np.median(there), SLIGHT) if len(others) >= FEWEST_PAIRS else 1.0
    expected = OF_TWIN * max(1.0, float(unlike))
    usual = max(BEYOND_TWIN, AMONG_PAIRS * float(np.median([varies[pair] for pair in more] or [0.0])))
    pair = max((pair for pair in more if worst in pair), key=lambda pair: more[pair], default=None)
    if pair and varies[pair] > (limit := expected * twin[pair] + usual):
        (other,), size, same, code = pair - {worst}, varies[pair], twin[pair], "segment_length.swings"
        sway = {worst: excess[worst], other: excess[other]}
    else:
        spread = _spread_on_bodies(trial, shown, jumps)
        twins = {name: twins[name] for name in spread if twins[name] in spread}
        beyond = {name: spread[name] ** 2 - spread[other] ** 2 for name, other in twins.items()}
        worst = max(beyond, key=lambda name: beyond[name], default="")
        if not worst:
            return []
        other, size, same = twins[worst], spread[worst], spread[twins[worst]]
        beside = {name for names, _ in bodies(trial).values() if worst in names for name in names}
        unlikes = [abs(beyond[name]) for name in beyond if not {name, twins[name]} & beside]
        usual = max(BESIDE_TWIN, AMONG_TWINS * float(np.sqrt(np.median(unlikes or [0.0]))))
        limit, code = max(float(np.hypot(same, usual)), TIMES_TWIN * same), "segment_length.sways"
        if size <= limit:
            return []
        sway = {name: beyond[name] for name in beyond if name in beside}
    likely = sorted((n for n in sway if sway[n] >= AS_LIKELY * sway[worst]), key=lambda n: -sway[n])
    which = "the marker" if len(likely) == 1 else f"one of {', '.join(map(repr, likely))}"
    values = {"name": worst, "other": other, "size": size, "twin": same, "limit": limit, "which": which}
    return [finding(code, "warning", values, Where(markers.path, markers=tuple(likely)))]


def _spread_on_bodies(trial: Trial, shown: set[str], jumps: list[str]) -> dict[str, float]:
    """Return how far markers with a twin move among the other markers of their bodies, as standard deviation [m].

    In the axes of three others or more that do not jump, over at most `COMPARED` frames; the least of several bodies.
    """
    markers, twins, spread = trial.markers, partners(trial), dict[str, float]()
    position = markers.position[trial.frames()]
    position = position[:: 1 + len(position) // COMPARED]
    for names, _ in bodies(trial).values():
        names = tuple(name for name in names if name not in jumps)
        at = [markers.names.index(name) for name in names]
        for k, name in enumerate(names):
            if len(names) > FEWEST_LEFT and name in shown and name in twins:
                around = position[:, at[:k] + at[k + 1 :]]
                away = position[:, at[k]] - around.mean(axis=1)
                beside = _in_axes(away, around)
                size = float(np.linalg.norm(sd_of_known(beside)))
                if beside is not away and np.isfinite(size):  # three others on a line show no axes
                    spread[name] = min(size, spread.get(name, np.inf))
    return spread


def _stretched(trial: Trial, jumps: list[str]) -> Iterator[Finding]:
    """Find segments that stretch for another reason than the jump of a marker."""
    markers, pairs, twins = trial.markers, distances(trial), partners(trial)
    if pairs is None:
        return
    jumping, ends = np.isin(pairs.names, jumps), pairs.ends
    shoulders = [marker for side in SIDES for marker in trial.mapping.get(f"shoulder_{side}", ())]
    above = np.isin(pairs.names, shoulders)
    wide = np.where(above[pairs.one] | above[pairs.other], OF_SHOULDER, 1.0)
    limit = STRETCHED * growth(trial.subject) * wide
    error = np.nan_to_num(pairs.measured(markers.position) - pairs.usual)
    usable = ~(jumping[pairs.one] | jumping[pairs.other])
    far = usable & (np.abs(error) > limit)
    if _legs_alike(trial):
        fewest = max(FEWEST_FRAMES, frames_of(LEFT_FOR, markers.rate))
        legs = markers_of(trial, "pelvis", *LEG)
        lasting = sliding_window_view(np.abs(error), fewest, axis=0).min(axis=-1).max(axis=0)
        of_legs = {pair: size for pair, size in zip(ends, lasting, strict=True) if pair <= legs}
        twin = [of_legs.get(frozenset(twins.get(name, "") for name in pair), np.inf) for pair in ends]
        expected = np.maximum(twin, np.percentile(np.abs(error), 90.0, axis=0)) + LEFT * growth(trial.subject)
        beyond = usable & (np.abs(error) > expected)
        for marker in pairs.markers:
            left = long_enough(beyond[:, pairs.of(marker)].sum(axis=1) > 1, fewest)
            far |= left[:, None] & beyond & pairs.of(marker)
        limit = np.minimum(limit, expected)
    while far.any():
        # The marker of most of the stretched pairs is the first to look at.
        worst = max(pairs.markers.tolist(), key=lambda marker: int(far[:, pairs.of(marker)].sum()))
        of_worst = np.flatnonzero(pairs.of(worst))
        stretched: Mask = np.asarray(far[:, of_worst].any(axis=1))
        if (frames := long_enough(stretched, FEWEST_FRAMES)).any():
            pair = int(of_worst[np.abs(error / limit)[:, of_worst].max(axis=0).argmax()])
            one, other = pairs.names[worst], pairs.names[pairs.one[pair] + pairs.other[pair] - worst]
            length = pairs.usual[pair] + error[np.abs(error[:, pair]).argmax(), pair]
            values = {"usual": pairs.usual[pair], "length": length, "limit": limit[pair]}
            where = Where(markers.path, markers=(one, other), times=time_spans(frames, markers.time))
            yield finding("segment_length", "warning", values | {"one": one, "other": other}, where)
        far[:, of_worst] = False
