"""Checks of the plausibility of a recording before any computation: units, axes, sides, gaps, jumps and forces."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices, mean_of_known, true_runs
from musclesolve.constants import SLOWEST_HZ
from musclesolve.errors import file_error
from musclesolve.laboratory.markers.gaps.gap_filling import missing
from musclesolve.laboratory.markers.landmarks import back_landmarks, landmarks
from musclesolve.laboratory.recording.data import SIDES, Recording, Trial
from musclesolve.laboratory.trial.plates.foot_forces import plate_gap_error
from musclesolve.laboratory.trial.plates.plate_checks import check_any_load, plate_error
from musclesolve.tables.document import Document
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import suffix_of

# Height of the shoulders over the feet as a share of stature: about 0.82 upright, more with raised arms. Only units,
# axes and a stature that is off by a factor are refused; less shows in the segments.
STANDING_SHARE = (0.45, 1.5)
MOVING_SHARE = (0.2, 1.5)
# A time off its place by more than this share of a step is not jitter of the last printed digit.
UNEVEN = 0.25
# Share of a step from which jitter of times is taken out; a lost frame makes at least half a step.
JITTER = 0.01
# Where a file of markers states which unit of length it is in.
_UNIT_AT = {".trc": "Units in its header", ".c3d": "POINT:UNITS in it", ".csv": "the unit in its header"}
# landmark -> its proximal neighbor, from the pelvis outward, so that the first pair that disagrees is the swapped one.
# Not the wrists: arms may be folded; swapped wrists show in the length of the forearms.
NEIGHBOR = {
    "psis": "asis",
    "hip_center": "asis",
    "knee_lateral": "asis",
    "knee_medial": "knee_lateral",
    "ankle_lateral": "knee_lateral",
    "ankle_medial": "ankle_lateral",
    "heel": "ankle_lateral",
    "toe": "ankle_lateral",
    "metatarsal_5": "ankle_lateral",
    "shoulder": "asis",
    "shoulder_center": "shoulder",
    "elbow_lateral": "shoulder",
    "elbow_medial": "elbow_lateral",
    "hand_radial": "wrist",
    "hand_ulnar": "wrist",
}

OF_ARMS = ("shoulder", "shoulder_center", "elbow_lateral", "elbow_medial", "hand_radial", "hand_ulnar")
"""Landmarks whose sides the file may have exchanged, from the trunk outward."""


def check_trial(trial: Trial, document: Document, plates_tested: bool = True) -> None:
    """Refuse a trial whose recordings contradict the trial file; forces of plates only if `plates_tested`."""
    check_sampling(trial.markers.time, trial.markers.path)
    if trial.forces:
        check_sampling(trial.forces[0].time, trial.forces[0].path)
    check_cutoff(trial, document)
    check_gaps(trial)
    check_plate_gaps(trial)
    # Before sides: in wrong units or axes everything is on another side.
    check_size(trial, document)
    check_heading(trial, document)
    mapped = {name: weights for name, weights in trial.mapping.items() if trial.sees(name)}
    check_sides(trial, {name: trial.markers.weighted(w)[trial.frames()] for name, w in mapped.items()})
    for index, plate in enumerate(trial.forces if plates_tested else ()):
        if (error := plate_error(trial, plate, index, document)) is not None:
            raise error[1]
    if plates_tested and trial.forces:
        check_any_load(trial, document)


def off_grid(time: Array) -> Array | None:
    """Return the deviation (T,) [s] of times from evenly spaced ones, None if only the last digit deviates."""
    off = np.abs(time - np.linspace(time[0], time[-1], time.size))
    return off if off.max() > UNEVEN * (time[-1] - time[0]) / (time.size - 1) else None


def steady(markers: Markers) -> Markers:
    """Return markers at even times, as filters take them, where times jitter by at most `UNEVEN` of a step."""
    even = np.linspace(markers.time[0], markers.time[-1], markers.time.size)
    off = float(np.abs(markers.time - even).max())
    if not JITTER < off * markers.rate <= UNEVEN:
        return markers
    note = f"Times of {markers.path.name} jitter by up to {1000 * off:.2g} ms: its frames are taken as even."
    return replace(markers, time=even, notes=(*markers.notes, note))


def check_sampling(time: Array, path: Path) -> None:
    """Refuse samples that are not evenly spaced: a filter would distort the motion."""
    off = off_grid(time)
    if off is not None:
        step = (time[-1] - time[0]) / (time.size - 1)
        raise file_error(
            "uneven_sampling",
            (path, f"near {time[off.argmax()]:g} s"),
            "the samples are not evenly spaced in time",
            f"one sample every {step:g} s",
            "export all frames, with empty cells where nothing was seen",
        )


EXAMPLES = {"channel": 'SOL = "soleus_r"', "column": 'GM = "gastrocnemius_medial_r"'}
"""Word for a column -> a line that names one."""


def check_columns(document: Document, names: Collection[str], where: str, table: Table, kind: str) -> None:
    """Refuse keys of the table `where` of a trial file without a column of this name in a file, or with a repeated one.

    A table without any key is refused, too. `kind` is the word for a column, of `EXAMPLES`.
    """
    if not names:
        raise document.fault(
            "missing_key",
            where,
            f"no {kind} is named",
            f'{kind} = "muscle", one line for each',
            f"add a line such as {EXAMPLES[kind]}, or remove [{where.partition('.')[0]}]",
        )
    words = {"after": f" in {table.path}", "code": "missing_column", "expected": f"a {kind} of this file"}
    for name in names:
        document.check_known([name], f"there is no {kind}", table.names, where, name, **words)
        check_used([name], kind, table.repeated, table.path)


def lacking_samples(signal: Array, rate_hz: float) -> str:
    """Return in words how many samples of a signal (S,) are missing (NaN); "" where none is."""
    lost = np.isnan(signal)
    gap = max((stop - first for first, stop in true_runs(lost)), default=0)
    return f"{lost.mean():.1%} of its samples, up to {1000.0 * gap / rate_hz:.0f} ms at once" if gap else ""


THIN = 0.001
"""Extent of all markers along an axis of the file, over all frames, as a share of a frame's largest, of a plane."""
FEWEST_IN_SPACE = 6
"""Least number of markers whose extent along an axis says something."""


def is_plane(markers: Markers) -> bool:
    """Return whether all markers lie in a plane across an axis of the file, as from one camera."""
    seen = np.isfinite(markers.position).all(axis=2, keepdims=True)
    least = markers.position.min(axis=1, initial=np.inf, where=seen)
    most = markers.position.max(axis=1, initial=-np.inf, where=seen)
    extent = np.maximum(most.max(axis=0, initial=-np.inf) - least.min(axis=0, initial=np.inf), 0.0)
    # who walks far has a large extent over all frames, but not within one
    body = np.maximum(most - least, 0.0).max(initial=0.0)
    return float(extent.min()) < THIN * float(body)


def check_in_space(markers: Markers) -> None:
    """Refuse a motion whose markers all lie in one plane of the file: it was recorded from one side."""
    shown = np.isfinite(markers.position).any(axis=(0, 2)).sum()
    if shown >= FEWEST_IN_SPACE and is_plane(markers):
        raise file_error(
            "markers_in_plane",
            markers.path,
            "all markers lie in one plane in all frames: the motion was recorded from one side",
            "markers in space, of a body that has a breadth",
            "record with several cameras, or with markers; from one side no joint center is known",
        )


def check_cutoff(trial: Trial, document: Document) -> None:
    """Refuse a cut-off that is too high for the recording rates."""
    options = trial.settings.filter
    key = "cutoff_hz" if options.force_cutoff_hz is None else "force_cutoff_hz"
    limits = [("markers", "cutoff_hz", options.fixed_cutoff, trial.markers.rate)]
    if trial.forces:
        limits.append(("forces", key, options.force_cutoff_hz or options.fixed_cutoff, trial.forces[0].rate))
    for what, key, cutoff, rate in limits:
        if cutoff is not None and cutoff >= 0.5 * rate:
            raise document.fault(
                "bad_value",
                ("filter", key),
                f"a cut-off of {cutoff:g} Hz is too high for {what} recorded at {rate:g} Hz",
                f"less than half the recording rate, here below {0.5 * rate:g} Hz",
                "walking needs about 6 Hz, running 10 to 20 Hz"
                if rate >= SLOWEST_HZ
                else f"name the column of times of the {what} time [ms], where they are milliseconds",
            )


def check_gaps(trial: Trial) -> None:
    """Refuse a needed marker that is missing within the time range, or never seen in the standing trial."""
    frames = trial.frames()
    for name in trial.used_markers:
        lost = missing(trial.markers[name][frames])
        if lost.any():
            start, stop = true_runs(lost)[0]
            first, last = trial.markers.time[frames][[start, stop - 1]]
            left = [gap for gap in trial.gaps if gap.marker == name and not gap.filled and gap.last >= first]
            unfilled = f"; the gap is not filled: {left[0].account}" if left else ""
            raise file_error(
                "missing_samples",
                trial.markers.path,
                f"the marker '{name}' is missing from {first:g} to {last:g} s ({lost.sum()} "
                f"of {lost.size} frames are without it)",
                f"every mapped marker in every frame of the time range{unfilled}",
                "fill the gap in the capture software, or choose a range without it ([time])",
            )
    static = trial.static
    if static is None:
        return
    known = landmarks()
    mapped = {m for name, weights in trial.mapping.items() if known[name].standing for m in weights}
    clustered = {m for markers in trial.clusters.values() for m in markers}
    for name in sorted(mapped | clustered | set(trial.carried)):
        if np.isnan(static[name]).any(axis=1).all():
            raise file_error(
                "missing_samples",
                static.path,
                f"the marker '{name}' is never seen",
                "every needed marker in at least one frame of the standing trial",
                "label it in the capture software, or record the standing trial again",
            )


def check_plate_gaps(trial: Trial) -> None:
    """Refuse a plate with gaps too long to be filled while its leg is analyzed."""
    # where legs are found, no other is analyzed
    nowhere = (np.inf, -np.inf) if trial.legs else trial.time_range
    for plate in trial.forces:
        start, end = trial.legs.get(plate.side, nowhere)
        for gap in plate.gaps:
            predicted = trial.predicted(plate.side, np.array([gap.first, gap.last])).all()
            if not gap.filled and not predicted and gap.first <= end and gap.last >= start:
                raise plate_gap_error(plate, gap)


def check_size(trial: Trial, document: Document) -> None:
    """Compare the height of the shoulders over the feet with the stature, which shows wrong units and axes."""
    feet = [f"{part}_{side}" for part in ("heel", "toe") for side in SIDES]
    shoulders = [f"shoulder_{side}" for side in SIDES]
    recordings = []
    if all(trial.sees(name) for name in (*feet, *shoulders)):
        recordings.append((trial.markers, trial.frames(), MOVING_SHARE))
    needed = {marker for name in (*feet, *shoulders) for marker in trial.mapping.get(name, {"": 1.0})}
    if trial.static is not None and needed <= set(trial.static.names):
        recordings.append((trial.static, slice(None), STANDING_SHARE))
    for markers, frames, share in recordings:
        low, high = (
            [markers.weighted(trial.mapping[name])[frames, 2] for name in names]
            for names in (feet, shoulders)
        )
        heights = np.mean(high, axis=0) - np.min(low, axis=0)
        seen = np.isfinite(heights)
        if not seen.any():
            continue
        height, stature = float(np.median(heights[seen])), trial.subject.stature
        if not share[0] <= height / stature <= share[1]:
            unit = _UNIT_AT.get(suffix_of(markers.path), "its unit of length")
            raise document.fault(
                "bad_units",
                ("subject", "stature_m"),
                f"the shoulders are {height:.2f} m above the feet of a {stature:g} m tall subject in {markers.path}",
                f"{share[0]:g} to {share[1]:g} of the stature",
                f"check {unit}, stature_m, and up in [laboratory]",
            )


def check_heading(trial: Trial, document: Document) -> None:
    """Refuse a pelvis whose right and left are swapped, for any direction of the subject in the laboratory."""
    frames = trial.frames()

    def first(name: str) -> Array:
        return trial.markers.weighted(trial.mapping[name])[frames][0]

    behind = back_landmarks(trial.mapping)
    if not behind or not all(trial.sees(name) for name in ("asis_r", "asis_l", *behind)):
        return
    back = np.mean([first(name) for name in behind], axis=0)
    ahead = 0.5 * (first("asis_r") + first("asis_l")) - back
    left = first("asis_l") - first("asis_r")
    ahead[2] = 0.0
    if np.cross([0.0, 0.0, 1.0], ahead) @ left < 0:
        raise document.fault(
            "sides_swapped",
            ("mapping", "asis_r"),
            "the right side of the pelvis is left of the left side",
            "the right of the pelvis on the right, seen from behind",
            "swap the markers of right and left, or check up in [laboratory]; where the axes are left-handed, reverse "
            "one axis of all markers and forces",
        )


def on_other_sides(name: str, points: Mapping[str, Array]) -> bool:
    """Return whether right and left of a landmark are swapped, among the seen points (T, 3) [m].

    With e from the right to the left landmark and n from the right to the left neighbor, sum |r - n_r|^2 + |l - n_l|^2
    - |r - n_l|^2 - |l - n_r|^2 = -2 e . n: if the mean of e . n is negative, each landmark is nearer to the neighbor of
    the other side.
    """
    pairs = [[f"{landmark}_{side}" for side in SIDES] for landmark in (name, NEIGHBOR[name])]
    if not all(landmark in points for pair in pairs for landmark in pair):
        return False
    across, beside = (points[left] - points[right] for right, left in pairs)
    return bool(mean_of_known(np.sum(across * beside, axis=-1)) < 0.0)


def with_arms_on_their_sides(trial: Trial) -> Trial:
    """Return a trial in which labels of the arms that are on the other side are exchanged, in each recording alone."""
    walk, notes = _with_arms_on_their_sides(trial, trial.markers, trial.frames())
    standing, static = (list[str](), None)
    if trial.static is not None:
        static, standing = _with_arms_on_their_sides(trial, trial.static, slice(None))
    if not (notes or standing):
        return trial
    return replace(trial, markers=walk, static=static, notes=(*trial.notes, *notes, *standing))


def _with_arms_on_their_sides(
    trial: Trial, markers: Markers, frames: slice | Indices
) -> tuple[Markers, list[str]]:
    """Return markers of a recording with labels of the arms on their sides, and a note on the exchanged ones."""
    points = {
        name: markers.weighted(weights)[frames]
        for name, weights in trial.mapping.items()
        if weights and all(marker in markers for marker in weights)
    }
    pairs, swapped = dict[str, str](), list[str]()
    for name in OF_ARMS:
        right, left = f"{name}_r", f"{name}_l"
        if not on_other_sides(name, points) or len(trial.mapping[right]) + len(trial.mapping[left]) > 2:
            continue
        pairs[next(iter(trial.mapping[right]))] = next(iter(trial.mapping[left]))
        points[right], points[left] = points[left], points[right]
        swapped.append(name)
    if not swapped:
        return markers, []
    note = (
        f"The right and the left {', '.join(swapped)} are exchanged in {markers.path.name}: they are read the other "
        "way round."
    )
    return markers.exchanged(pairs), [note]


def check_sides(trial: Recording, points: Mapping[str, Array]) -> None:
    """Refuse a landmark whose right and left are swapped, among the seen points (T, 3) [m]."""
    for name, neighbor in NEIGHBOR.items():
        if on_other_sides(name, points):
            key = f"{name}_r"
            raise trial.document.fault(
                "sides_swapped",
                ("mapping", key),
                f"right and left are swapped: each {name} is nearer to the {neighbor} of the other side",
                f"{name}_r on the side of {neighbor}_r, {name}_l on the side of {neighbor}_l",
                f"swap the markers of {name}_r and {name}_l",
            )
