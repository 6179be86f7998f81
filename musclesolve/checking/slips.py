"""Rigid segments that change length: markers that slip, and segments that stretch, in which frames and by how much."""

from __future__ import annotations

import numpy as np

from musclesolve.checking.case import REACH, Array, Case, Mask, long_enough, stretches
from musclesolve.checking.distances import Distances, distances, middle

# A distance that changes from one frame to the next by so much more than around it [m], [m/s^2] has jumped.
SMALLEST_JUMP, GREATEST_ACCELERATION = 0.012, 80.0
# So many standard deviations of the noise are no noise.
CLEARLY = 7.0
# Frames within which a marker that jumped may come back: then it was a spike, not a slip.
BACK = 5
# A distance this far from the usual one is none of a rigid segment [m]; toes and skin take up to 26 mm of it.
STRETCHED = 0.035
FEWEST_FRAMES = 3


def all_lengths(case: Case) -> None:
    """Find slipped markers first; what else stretches is told then."""
    blamed = _jumps(case)
    _stretched(case, blamed)


def _jump(path: Array) -> Array:
    """Return by how much each step exceeds the mean of the steps around it, (T - 3, ...), for steps 1 to T - 3."""
    step = np.diff(path, axis=0)
    return step[1:-1] - 0.5 * (step[:-2] + step[2:])


def _jumps(case: Case) -> set[str]:
    markers, blamed = case.trial.markers, set[str]()
    pairs = distances(case.trial)
    if pairs is None or markers.time.size < 8:
        return blamed
    least = max(SMALLEST_JUMP, GREATEST_ACCELERATION / markers.rate**2)
    size = np.abs(_jump(pairs.measured(markers.position)))
    # Noise jumps as well: 1.4826 times the median is its standard deviation, if it is normal.
    limit = np.maximum(least, CLEARLY * 1.4826 * np.nan_to_num(middle(size)))
    size = np.nan_to_num(size) / limit
    while (size > 1.0).any():
        # The pairs of the marker that jumped jump together.
        score = {
            int(m): size[:, pairs.of(m)].mean(axis=1) for m in pairs.markers if pairs.names[m] not in blamed
        }
        if not score:
            return blamed
        worst = max(score, key=lambda m: float(score[m].max()))
        own = size[:, pairs.of(worst)]
        if own.max() <= 1.0:
            return blamed
        _tell_jump(case, pairs, worst, int(score[worst].argmax()))
        blamed.add(pairs.names[worst])
        size[:, pairs.of(worst)] = 0.0
    return blamed


def _tell_jump(case: Case, pairs: Distances, marker: int, at: int) -> None:
    markers, name = case.trial.markers, pairs.names[marker]
    path = markers.position[:, marker]
    moved = 1000 * float(np.nan_to_num(np.linalg.norm(_jump(path)[at])))
    frame = at + 1
    when = ((float(markers.time[frame]), float(markers.time[frame + 1])),)
    around = path[max(0, frame - BACK) : frame + BACK + 1]
    # Jumped and back again: opposite jumps shortly after each other.
    near = _jump(path)[max(0, at - BACK) : at + BACK + 1]
    back = bool(np.nanmin(near @ _jump(path)[at]) < -0.7 * np.sum(_jump(path)[at] ** 2)) and around.size > 0
    if back:
        case.tell(
            "leap",
            "warning",
            f"'{name}' jumps by about {moved:.0f} mm and back again within {BACK} frames: a ghost was taken for it",
            "delete these frames of the marker in the capture software, and fill the gap",
            file=markers.path,
            markers=(name,),
            times=when,
        )
        return
    before, after = _means(pairs.measured(markers.position)[:, pairs.of(marker)], frame)
    change = 1000 * float(np.nanmax(np.abs(after - before), initial=0.0))
    case.tell(
        "marker_slipped",
        "error",
        f"'{name}' moves by {moved:.0f} mm on the body from one frame to the next and stays there: its distances from "
        f"the markers of its segment change by up to {change:.0f} mm at once",
        f"the marker slipped or its label jumped to another marker: choose a range that ends {REACH:g} s before "
        "it ([time]), or map the landmark through a cluster without it",
        file=markers.path,
        markers=(name,),
        times=((float(markers.time[frame + 1]), float(markers.time[-1])),),
    )


def _means(length: Array, frame: int) -> tuple[Array, Array]:
    first, last = length[max(0, frame - 2) : frame + 1], length[frame + 1 : frame + 4]
    return np.median(first, axis=0), np.median(last, axis=0)


def _stretched(case: Case, blamed: set[str]) -> None:
    markers = case.trial.markers
    pairs = distances(case.trial)
    if pairs is None:
        return
    error = pairs.measured(markers.position) - pairs.usual
    error[
        :,
        [
            pairs.names[a] in blamed or pairs.names[b] in blamed
            for a, b in zip(pairs.one, pairs.other, strict=True)
        ],
    ] = 0.0
    far = np.abs(np.nan_to_num(error)) > STRETCHED
    while far.any():
        # The marker of most of the stretched pairs is the first to look at.
        count = {int(m): int(far[:, pairs.of(m)].sum()) for m in pairs.markers}
        worst = max(count, key=lambda m: count[m])
        own = pairs.of(worst)
        stretched: Mask = np.asarray(far[:, own].any(axis=1))
        frames = long_enough(stretched, FEWEST_FRAMES)
        if frames.any():
            pair = int(np.flatnonzero(own)[np.abs(np.nan_to_num(error[:, own])).max(axis=0).argmax()])
            greatest = float(error[np.abs(np.nan_to_num(error[:, pair])).argmax(), pair])
            names = pairs.names[pairs.one[pair]], pairs.names[pairs.other[pair]]
            other = names[0] if pairs.names[worst] == names[1] else names[1]
            case.tell(
                "segment_length",
                "warning",
                f"'{pairs.names[worst]}' and '{other}', usually {1000 * pairs.usual[pair]:.0f} mm apart, come to "
                f"{1000 * (pairs.usual[pair] + greatest):.0f} mm: the markers of one segment keep their distances to "
                f"{1000 * STRETCHED:.0f} mm",
                "check the label of the marker in these frames, and that it is on the segment it is mapped to",
                file=markers.path,
                markers=(pairs.names[worst], other),
                times=stretches(frames, markers.time),
            )
        far[:, own] = False
