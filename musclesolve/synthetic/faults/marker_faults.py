"""Faults of markers: units, labels, slips, ghosts, lost and repeated frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES
from musclesolve.synthetic.faults.trial_copy import STATIC, WALK, Copy, fault

# Way that is shown in the tests: 30 mm in a direction that no segment is square to [m].
SLIP = (0.018, 0.0144, 0.0192)


@fault("marker_units")
def markers_in_metres(copy: Copy) -> None:
    """The positions are in metres, the header states mm."""
    copy.put(0.001 * copy.walk.position)


@fault("marker_units")
def static_in_centimetres(copy: Copy) -> None:
    """The positions of the standing trial are in centimetres, the header states mm."""
    if copy.static is not None:
        copy.put(0.1 * copy.static.position, static=True)


@fault("pair_swapped")
def knee_markers_swapped(copy: Copy) -> None:
    """Right and left lateral knee marker carry each other's label in the motion."""
    copy.exchange(copy.marker("knee_lateral_r"), copy.marker("knee_lateral_l"))


@fault("labels_exchanged")
def ankle_swapped_for_a_while(copy: Copy) -> None:
    """The labels of the lateral ankle markers are exchanged in 20 frames."""
    first = copy.frame(0.4)
    copy.exchange(copy.marker("ankle_lateral_r"), copy.marker("ankle_lateral_l"), slice(first, first + 20))


@fault("labels_exchanged")
def heel_and_toe_exchanged(copy: Copy) -> None:
    """Heel and toe of the right foot carry each other's label in the motion."""
    copy.exchange(copy.marker("heel_r"), copy.marker("toe_r"))


@fault("marker_slipped")
def marker_slipped(copy: Copy) -> None:
    """The right lateral ankle marker sits 30 mm off from the middle of the range on."""
    copy.move(copy.marker("ankle_lateral_r"), slice(copy.frame(0.5), None), copy.in_file(SLIP))


@fault("marker_moved")
def marker_moved_after_standing(copy: Copy) -> None:
    """The right fifth metatarsal marker was put back 50 mm off after the standing trial."""
    copy.move(copy.marker("metatarsal_5_r"), slice(None), 50.0 / 30.0 * copy.in_file(SLIP), static=True)


def _standing_marker(copy: Copy, landmark: str) -> tuple[str, Array]:
    """Return the marker of a landmark in the standing trial and its mean place (3,) [m], in the axes of the file."""
    if copy.static is not None:
        for marker in copy.mapping.get(landmark, ()):
            if marker in copy.static:
                return marker, np.nanmean(copy.static[marker], axis=0)
    expected, remedy = "a standing trial with a marker on it", "choose another fault"
    problem = f"no marker of a standing trial shows '{landmark}'"
    raise InputError(problem, code="missing_marker", expected=expected, remedy=remedy)


@fault("joint_width")
def knee_marker_20mm_inward(copy: Copy) -> None:
    """The right medial knee marker of the standing trial sits 20 mm too far from the bone."""
    (marker, medial), (_, lateral) = (
        _standing_marker(copy, f"knee_{way}_r") for way in ("medial", "lateral")
    )
    inward = (medial - lateral) / np.linalg.norm(medial - lateral)
    copy.move(marker, slice(None), 0.02 * inward, static=True)


@fault(None)
def knee_marker_20mm_ahead(copy: Copy) -> None:
    """The left medial knee marker of the standing trial sits 20 mm too far forward: so do epicondyles of some knees."""
    (marker, medial), (_, lateral) = (
        _standing_marker(copy, f"knee_{way}_l") for way in ("medial", "lateral")
    )
    ahead = np.cross(lateral - medial, copy.in_file((0.0, 0.0, 1.0)))
    copy.move(marker, slice(None), 0.02 * ahead / np.linalg.norm(ahead), static=True)


@fault("proportions")
def hip_centers_30mm_up(copy: Copy) -> None:
    """The mapped hip centers lie 30 mm too high."""
    up = copy.in_file((0.0, 0.0, 0.03))
    for side in SIDES:
        marker, _ = _standing_marker(copy, f"hip_center_{side}")
        copy.move(marker, slice(None), up, static=True)
        if marker in copy.walk:
            copy.move(marker, slice(None), up)


@fault("frozen")
def marker_frozen(copy: Copy) -> None:
    """The left heel marker holds its last place for 15 frames while the foot swings."""
    name = copy.marker("heel_l")
    speed = np.linalg.norm(np.diff(copy.walk[name], axis=0), axis=1)
    inside = slice(copy.frame(0.1), copy.frame(0.7))
    first = inside.start + int(np.argmax(speed[inside]))
    position = copy.walk.position.copy()
    position[first : first + 15, copy.walk.names.index(name)] = copy.walk[name][first]
    copy.put(position)


@fault("gap")
def gap(copy: Copy) -> None:
    """The left wrist marker is lost for 0.6 s."""
    first = copy.frame(0.3)
    copy.move(copy.marker("wrist_l"), slice(first, first + round(0.6 * copy.walk.rate)), np.nan)


@fault("leap")
def leap(copy: Copy) -> None:
    """The right lateral knee marker is 300 mm off in one frame."""
    at = copy.frame(0.6)
    copy.move(copy.marker("knee_lateral_r"), slice(at, at + 1), 10.0 * copy.in_file(SLIP))


@fault("leap")
def ghost(copy: Copy) -> None:
    """A reflection 60 mm away is taken for the right heel marker in one frame."""
    at = copy.frame(0.6)
    copy.move(copy.marker("heel_r"), slice(at, at + 1), 2.0 * copy.in_file(SLIP))


@fault("markers_merged")
def two_labels_on_one_marker(copy: Copy) -> None:
    """The fifth metatarsal marker of the left foot was given the place of the toe marker for 25 frames."""
    first = copy.frame(0.3)
    frames = slice(first, first + 25)
    ghost, real, position = copy.marker("metatarsal_5_l"), copy.marker("toe_l"), copy.walk.position.copy()
    position[frames, copy.walk.names.index(ghost)] = copy.walk[real][frames]
    copy.put(position)


@fault("static_of_another")
def static_of_another(copy: Copy) -> None:
    """The standing trial is that of a subject 8 % larger."""
    if copy.static is not None:
        copy.put(1.08 * copy.static.position, static=True)


@fault("up_axis")
def static_in_other_axes(copy: Copy) -> None:
    """The standing trial was exported with other axes than the motion."""
    if copy.static is not None:
        copy.put(np.roll(copy.static.position, 1, axis=-1), static=True)


def _without(copy: Copy, count: int) -> Mask:
    """Return all frames but some in the middle of the time range, (T,)."""
    kept = np.ones(copy.walk.time.size, bool)
    kept[copy.frame(0.5) : copy.frame(0.5) + count] = False
    return kept


@fault("frames_missing")
def frames_dropped(copy: Copy) -> None:
    """Six frames were dropped; the time column shows the hole."""
    kept = _without(copy, 6)
    copy.walk = replace(copy.walk, time=copy.walk.time[kept], position=copy.walk.position[kept])


@fault("frames_skipped")
def frames_skipped(copy: Copy) -> None:
    """Four frames were dropped and the others renumbered, so that the time column shows nothing."""
    kept = _without(copy, 4)
    copy.walk = replace(copy.walk, time=copy.walk.time[: kept.sum()], position=copy.walk.position[kept])


@fault("frames_repeated")
def frames_duplicated(copy: Copy) -> None:
    """The recorder hung: five frames are copies of the one before."""
    first = copy.frame(0.5)
    position = copy.walk.position.copy()
    position[first + 1 : first + 6] = position[first]
    copy.put(position)


@fault("uneven_samples")
def time_step_uneven(copy: Copy) -> None:
    """The frames are stamped by a clock that stutters by 60 % of a step."""
    time = copy.walk.time.copy()
    time[1:-1] += 0.3 / copy.walk.rate * np.sin(1.9 * np.arange(time.size - 2))
    copy.walk = replace(copy.walk, time=time)


def _with_header(lines: list[str], column: int, change: Callable[[str], str]) -> str:
    """Return the text of a TRC file with one value of its header changed."""
    header = lines[2].split("\t")
    header[column] = change(header[column])
    return "\n".join([*lines[:2], "\t".join(header), *lines[3:]]) + "\n"


@fault("repeated_times")
def row_pasted_twice(copy: Copy) -> None:
    """A row of the marker file stands twice."""

    def twice(text: str) -> str:
        lines = text.splitlines()
        lines.insert(len(lines) // 2, lines[len(lines) // 2])
        return _with_header(lines, 2, lambda count: str(int(count) + 1))

    copy.afterwards.append((WALK, twice))


@fault("truncated")
def truncated_file(copy: Copy) -> None:
    """The marker file ends in the middle of a row, after nine tenths of it."""
    copy.afterwards.append((WALK, lambda text: text[: int(0.9 * len(text))]))


@fault("header_rate")
def header_rate_wrong(copy: Copy) -> None:
    """The header of the marker file states 1.2 times the rate."""
    faster = partial(_with_header, column=0, change=lambda rate: f"{1.2 * float(rate):.2f}")
    copy.afterwards.append((WALK, lambda text: faster(text.splitlines())))


@fault("unreadable")
def static_is_no_text(copy: Copy) -> None:
    """The file of the standing trial is a spreadsheet."""
    copy.afterwards.append((STATIC, lambda text: "PK\x03\x04\0\0" + text[:500]))
