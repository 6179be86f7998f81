"""Places of markers on the body, and what they say of the names of the markers.

A pair of landmarks at the pelvis (or the shoulders) and one at a foot show the directions of the body in every frame:
r from left to right, u upward, f = u x r forward. A marker is described by the median over the frames of its way from
the middle of the pair along f and r, and by its height above the feet as a share of the height of the pelvis.

A name that may mean several landmarks means the one in whose place the marker is, if it is in the place of one only.
A marker of an unknown name is described to the user by its place: "between the knee and the ankle of the right leg,
12 cm below the knee, on the outer side".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, median_of_known
from musclesolve._util.sides import SIDE_NAMES, SIDES, has_side, split_side

MOST_FRAMES = 300
"""Number of frames of a recording from which places are taken."""
PAIRS = ("asis", "psis", "hip_center", "shoulder", "shoulder_center")
"""Landmarks whose two sides show where right is, the best first."""
PELVIS_OVER_SHOULDER = 0.67
"""Height of the pelvis over that of the shoulders, by the proportions of Drillis & Contini (1966)."""
ANKLE_HEIGHT = 0.08
"""Height of the ankle over that of the pelvis; with knees at 0.52, by the same proportions."""
KNEE_HEIGHT = 0.52
FEET = ("heel", "toe", "metatarsal_5", "ankle_lateral", "ankle_medial", "ankle_center")
UPRIGHT = 0.5
"""Least horizontal share of the way from left to right of a subject who stands or walks."""
ZONES = {
    **dict.fromkeys(("heel", "heel_top", "heel_bottom", "toe", "metatarsal_5", "metatarsal_1"), (-0.1, 0.2)),
    **dict.fromkeys(("ankle_lateral", "ankle_medial", "ankle_center"), (0.0, 0.27)),
    **dict.fromkeys(("knee_lateral", "knee_medial", "knee_center"), (0.36, 0.68)),
    **dict.fromkeys(("hip_center", "asis", "psis"), (0.78, 1.25)),
    **dict.fromkeys(("elbow_lateral", "elbow_medial"), (0.8, 1.6)),
    "shank_wand": (0.1, 0.55),
    "thigh_wand": (0.5, 0.9),
}
"""Landmark -> range of its height over that of the pelvis, in walking as in standing."""
ACROSS = 0.03
"""Distance by which a marker may be beyond the middle of the body and still be of its side [m]."""
AHEAD = 0.06
"""Least distance of a marker of the forefoot ahead of heel or ankle, and of these ahead of the heel [m], as a median
over a recording in which the foot points down for a while."""
BESIDE = 0.03
"""Least distance of a lateral marker outside the medial one of its joint [m]."""
INSIDE = 0.01
"""Largest distance of a wand inside the lateral markers of its leg [m]: a wand in front shows no lateral plane."""
COINCIDENT = 0.02
"""Distance below which a marker is the joint center that a program computed [m]; epicondyles are 4 cm away."""


@dataclass(frozen=True)
class Body:
    """The directions of a body in its frames.

    right: unit vectors (T, 3) from left to right, horizontal. up: (3,) along an axis of the file. middle: (T, 3) of the
    pair that shows them [m]. height: of the pelvis above the feet [m]. floor: height of the feet along up [m].
    landmarks: landmark -> its path (T, 3) [m]. pelvis: whether the pair is one of the pelvis. frames: of the recording.
    """

    right: Array
    up: Array
    middle: Array
    height: float
    floor: float
    landmarks: Mapping[str, Array]
    pelvis: bool
    frames: slice

    @classmethod
    def of(cls, landmarks: Mapping[str, Array]) -> Self | None:
        """Return the body of landmarks -> paths (T, 3) [m]; None where they show no upright one."""
        pair = next((name for name in PAIRS if {f"{name}_r", f"{name}_l"} <= set(landmarks)), None)
        feet = {name: path for name, path in landmarks.items() if split_side(name)[0] in FEET}
        if pair is None or not feet:
            return None
        count = len(landmarks[f"{pair}_r"])
        frames = slice(None, None, max(count // MOST_FRAMES, 1))
        landmarks = {name: path[frames] for name, path in landmarks.items()}
        one, other = landmarks[f"{pair}_r"], landmarks[f"{pair}_l"]
        middle, right = 0.5 * (one + other), one - other
        # The axis of the file that is nearest to the way from the feet to the pair.
        lower = [median_of_known(landmarks[name]) for name in feet]
        lower = [place for place in lower if np.isfinite(place).all()]
        way = median_of_known(middle) - (np.mean(lower, axis=0) if lower else np.nan)
        if not np.isfinite(way).all():
            return None
        axis = int(np.argmax(np.abs(way)))
        up = np.sign(way[axis]) * np.eye(3)[axis]
        apart = np.linalg.norm(right, axis=1, keepdims=True)
        right = right - (right @ up)[:, None] * up
        length = np.linalg.norm(right, axis=1, keepdims=True)
        if not float(np.nan_to_num(median_of_known(length / apart))[0]) > UPRIGHT:
            return None
        heights = {name: float(median_of_known(landmarks[name] @ up)) for name in feet}
        pelvis = not pair.startswith("shoulder")
        level = float(median_of_known(middle @ up))
        above = [h for name, h in heights.items() if np.isfinite(h) and not name.startswith("ankle")]
        ankles = [h for name, h in heights.items() if np.isfinite(h)]
        floor = min(above or ankles)
        height = (level - floor) * (1.0 if pelvis else PELVIS_OVER_SHOULDER)
        height /= 1.0 if above else 1.0 - ANKLE_HEIGHT
        floor -= 0.0 if above else ANKLE_HEIGHT * height
        return cls(right / length, up, middle, height, floor, landmarks, pelvis, frames)

    @property
    def forward(self) -> Array:
        """Unit vectors forward (T, 3)."""
        return np.cross(self.up, self.right)

    def place(self, path: Array) -> Array:
        """Return how far ahead and how far to the right of the middle a path (T, 3) is, and its height above the feet
        (3,), medians [m].
        """
        way = path - self.middle
        ahead, right = np.vecdot(way, self.forward), np.vecdot(way, self.right)
        return median_of_known(np.stack([ahead, right, path @ self.up - self.floor], axis=1))

    def of_landmark(self, name: str) -> Array | None:
        """Return the place of a known landmark (3,), None where it is not known."""
        place = self.place(self.landmarks[name]) if name in self.landmarks else None
        return None if place is None or not np.isfinite(place).all() else place

    def may_be(self, landmark: str, place: Array) -> bool:
        """Return whether a marker at a place (3,) may show a landmark: by height, side, and order along the foot."""
        stem, side = split_side(landmark)
        low, high = ZONES.get(stem, (-np.inf, np.inf))
        if not low < place[2] / self.height < high:
            return False
        if has_side(landmark) and place[1] * (1.0 if side == "r" else -1.0) < -ACROSS:
            return False
        if stem.endswith("_wand"):
            lateral = [self.of_landmark(f"{joint}_lateral_{side}") for joint in ("knee", "ankle")]
            outwards = [abs(other[1]) for other in lateral if other is not None]
            if not outwards or abs(place[1]) < np.mean(outwards) - INSIDE:
                return False
        behind = {
            "toe": ("heel", "ankle_lateral", "ankle_center"),
            "metatarsal_5": ("heel", "ankle_lateral", "ankle_center"),
            "metatarsal_1": ("heel", "ankle_lateral", "ankle_center"),
        }.get(stem, ())
        ahead = ("toe", "metatarsal_5") if stem.startswith("heel") else ()
        others = [
            (self.of_landmark(f"{name}_{side}"), sign)
            for names, sign in ((behind, 1.0), (ahead, -1.0))
            for name in names
        ]
        return all(sign * (place[0] - other[0]) > AHEAD for other, sign in others if other is not None)

    def decided(self, possible: Mapping[str, Sequence[str]], paths: Mapping[str, Array]) -> dict[str, str]:
        """Return marker -> the landmark that its name means, of those that its place decides.

        Args:
            possible: marker -> landmarks that its name may mean.
            paths: marker -> its path (T, 3) [m].
        """
        meant: dict[str, str] = {}
        places: dict[str, Array] = {}
        for marker, landmarks_of in possible.items():
            place = self.place(paths[marker][self.frames])
            there = [name for name in landmarks_of if self.may_be(name, place)]
            if np.isfinite(place).all() and len(there) == 1 and there[0] not in self.landmarks:
                meant[marker], places[marker] = there[0], place
        # Two markers for one landmark leave it open.
        several = {name for name in meant.values() if list(meant.values()).count(name) > 1}
        meant = {marker: name for marker, name in meant.items() if name not in several}
        of = {name: places[marker] for marker, name in meant.items()}
        wrong = set()
        for name in of:
            if "_lateral_" not in name and "_medial_" not in name:
                continue
            ends = (name.replace("_medial_", "_lateral_"), name.replace("_lateral_", "_medial_"))
            outer, inner = (of[end] if end in of else self.of_landmark(end) for end in ends)
            sign = 1.0 if name.endswith("_r") else -1.0
            if outer is not None and inner is not None and sign * (outer[1] - inner[1]) < BESIDE:
                wrong |= {*ends}
        return {marker: name for marker, name in meant.items() if name not in wrong}

    def where(self, path: Array) -> str:
        """Return in words where a path (T, 3) [m] is on the body; "" where it is not seen."""
        place = self.place(path[self.frames])
        if not np.isfinite(place).all():
            return ""
        side = "r" if place[1] > 0.0 else "l"
        leg = f"the {SIDE_NAMES[side]} leg"
        joints = {
            "knee": self._joint("knee", side, KNEE_HEIGHT),
            "ankle": self._joint("ankle", side, ANKLE_HEIGHT),
        }
        hip, knee, ankle = self.height, joints["knee"][2], joints["ankle"][2]
        if place[2] > 1.15 * hip:
            return f"{_cm(place[2] - hip)} above the pelvis, {self._off_middle(place)}"
        if place[2] > 0.85 * hip:
            level = "at the height of the pelvis" if self.pelvis else "about at the height of the pelvis"
            return f"{level}, {self._off_middle(place)}"
        if place[2] > knee + 0.04:
            way = self._beside(place, joints["knee"], self._joint("hip", side, 1.0))
            return f"between the hip and the knee of {leg}, {_cm(place[2] - knee)} above the knee{way}"
        if place[2] > knee - 0.04:
            return f"at the knee of {leg}{self._beside(place, joints['knee'], joints['knee'])}"
        if place[2] > ankle + 0.04:
            way = self._beside(place, joints["ankle"], joints["knee"])
            return f"between the knee and the ankle of {leg}, {_cm(knee - place[2])} below the knee{way}"
        along, across = place[0] - joints["ankle"][0], abs(place[1]) - abs(joints["ankle"][1])
        if abs(along) < 0.03:
            end = f", {_cm(abs(across))} to its {'outer' if across > 0.0 else 'inner'} side"
            return f"at the ankle of {leg}{end}"
        return f"on the {SIDE_NAMES[side]} foot, {_cm(abs(along))} {'ahead of' if along > 0.0 else 'behind'} the ankle"

    def _joint(self, joint: str, side: str, share: float) -> Array:
        """The place (3,) of a joint: the mean of its known landmarks, else where a usual body has it."""
        stems = {"hip": ("hip_center", "asis", "psis")}.get(
            joint, (f"{joint}_lateral", f"{joint}_medial", f"{joint}_center")
        )
        places = [place for stem in stems if (place := self.of_landmark(f"{stem}_{side}")) is not None]
        if places:
            return np.asarray(np.mean(places, axis=0))
        out = 0.08 if side == "r" else -0.08
        return np.array([0.0, out, share * self.height])

    @staticmethod
    def _beside(place: Array, lower: Array, upper: Array) -> str:
        """On which side of the line between two joints a place is."""
        rise = upper[2] - lower[2]
        share = 0.0 if abs(rise) < 1e-6 else float(np.clip((place[2] - lower[2]) / rise, 0.0, 1.0))
        line = lower + share * (upper - lower)
        ahead, outward = place[0] - line[0], (place[1] - line[1]) * (1.0 if place[1] > 0.0 else -1.0)
        if max(abs(ahead), abs(outward)) < 0.02:
            return ""
        if abs(outward) >= abs(ahead):
            return f", on the {'outer' if outward > 0.0 else 'inner'} side"
        return ", in front" if ahead > 0.0 else ", behind"

    @staticmethod
    def _off_middle(place: Array) -> str:
        """How far a place is from the middle of the body, to a side and ahead."""
        side = f"{_cm(abs(place[1]))} to the {'right' if place[1] > 0.0 else 'left'} of the middle"
        if abs(place[0]) < 0.05:
            return side
        return f"{side}, {'in front' if place[0] > 0.0 else 'at the back'}"


def _cm(length: float) -> str:
    return f"{100.0 * length:.0f} cm"


def decided_by_limbs(possible: Mapping[str, Sequence[str]], shown: Iterable[str]) -> dict[str, str]:
    """Return marker -> its landmark, of epicondyles whose name does not say of which limb they are.

    They are of the knee where the elbows have other markers or only legs have any, and the other way around.
    """
    stems = {split_side(name)[0] for name in shown}
    knees, elbows = ({name for name in stems if name.startswith(joint)} for joint in ("knee", "elbow"))
    legs = bool(stems & {"heel", "toe", "metatarsal_5", "ankle_lateral", "ankle_medial"}) or bool(knees)
    arms = bool(stems & {"shoulder", "wrist", "wrist_thumb", "wrist_finger"}) or bool(elbows)
    decided = {}
    for marker, landmarks_of in possible.items():
        limbs = {name.partition("_")[0]: name for name in landmarks_of}
        if limbs.keys() != {"knee", "elbow"} or (bool(knees) and bool(elbows)):
            continue
        if elbows or (legs and not arms):
            decided[marker] = limbs["knee"]
        elif knees or (arms and not legs):
            decided[marker] = limbs["elbow"]
    return decided


def without_centers(shown: Mapping[str, str], paths: Mapping[str, Array]) -> dict[str, str]:
    """Return landmark -> marker without the lateral and medial ones that are in the place of their joint center."""
    left = dict(shown)
    for name in shown:
        stem, side = split_side(name)
        joint, _, end = stem.partition("_")
        center = shown.get(f"{joint}_center_{side}", "")
        if end in ("lateral", "medial") and center in paths and shown[name] in paths:
            apart = np.linalg.norm(paths[shown[name]] - paths[center], axis=1)
            if float(median_of_known(apart)) < COINCIDENT:
                del left[name]
    return left


BANDS = {"knee": (0.40, 0.62), "ankle": (0.03, 0.17)}
"""Heights over that of the pelvis between which markers of a joint lie; by the proportions of Drillis & Contini (1966),
as printed by Winter (1990), knees are at 0.52 and ankles at 0.07 of the height of the pelvis."""
WIDTHS = {"knee": (0.06, 0.17), "ankle": (0.045, 0.13)}
"""Range of the distance between the lateral and the medial marker of a joint, on the skin [m]."""
OBLIQUE = 0.05
"""Largest distance of the two markers perpendicular to the line from left to right [m]."""
TOE_HEIGHT = 0.1
"""Largest height of a marker of the toes over the lowest marker, as a share of the height of the pelvis."""
TOE_AHEAD = {"heel": 0.14, "ankle_lateral": 0.08}
"""Least distance of a marker of the toes ahead of another landmark of the foot [m]."""
HEEL_HEIGHT = 0.13
"""Largest height of a marker of the heel over the lowest marker, as a share of the height of the pelvis."""
HEEL_BEHIND = {"ankle_lateral": 0.02, "toe": 0.14}
"""Least distance of a marker of the heel behind other landmarks of the foot [m]."""
SIDES_OF_JOINTS = ("knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial")
GUESSED = (*SIDES_OF_JOINTS, "toe", "heel")
"""Landmarks that places on the standing subject show where no name does."""


def guessed_by_place(
    landmarks: Mapping[str, Array], free: Mapping[str, Array], lacking: Iterable[str]
) -> dict[str, str]:
    """Return landmark -> marker for the missing landmarks of knees, ankles and feet that places show.

    With the height z above the lowest marker, divided by the height of the pelvis, a marker at a knee or ankle lies in
    a band of z. The lateral and the medial marker of a joint are a pair of such markers on one side: apart by the width
    of a joint from left to right, and by little square to it; among several pairs the one that is least apart square to
    it. The toe is the marker farthest ahead near the floor, the heel the only one behind the ankle there.

    Args:
        landmarks: landmark -> its place (3,) on the standing subject [m], in any axes; both sides of the pelvis.
        free: marker -> its place (3,) [m], of those that show no landmark.
        lacking: landmarks without a marker, such as "knee_lateral_r".
    """
    body = Body.of({name: place[None] for name, place in landmarks.items()})
    if body is None or not body.pelvis:
        return {}
    middle, right, up, forward = body.middle[0], body.right[0], body.up, body.forward[0]
    floor = min(float(place @ up) for place in (*landmarks.values(), *free.values()))
    height = float(middle @ up) - floor
    lacking = list(lacking)
    level = {name: float(place @ up - floor) / height for name, place in free.items()}
    by: dict[str, str] = {}
    for side in SIDES:
        outwards = right if side == "r" else -right
        beside = {name: place for name, place in free.items() if (place - middle) @ outwards > 0.0}
        for joint, (low, high) in BANDS.items():
            outer, inner = f"{joint}_lateral_{side}", f"{joint}_medial_{side}"
            if not {outer, inner} & set(lacking):
                continue
            there = {name: place for name, place in beside.items() if low < level[name] < high}
            places = {f"known {name}": landmarks[name] for name in (outer, inner) if name in landmarks}
            pairs = []
            for first, second in permutations([*there, *places], 2):
                if (outer in landmarks) != (first == f"known {outer}") or (inner in landmarks) != (
                    second == f"known {inner}"
                ):
                    continue
                apart = (there | places)[first] - (there | places)[second]
                width = float(apart @ outwards)
                oblique = float(np.linalg.norm(apart - width * outwards))
                if WIDTHS[joint][0] < width < WIDTHS[joint][1] and oblique < OBLIQUE:
                    pairs.append((oblique, first, second))
            if pairs:
                _, first, second = min(pairs)
                pair = {outer: first, inner: second}
                by |= {name: marker for name, marker in pair.items() if name in lacking and marker in free}
        start = next((name for name in TOE_AHEAD if f"{name}_{side}" in landmarks), None)
        if f"toe_{side}" in lacking and start is not None:
            ways = {name: place - landmarks[f"{start}_{side}"] for name, place in beside.items()}
            ahead = {
                name: float(way @ forward)
                for name, way in ways.items()
                if level[name] < TOE_HEIGHT
                and float(way @ forward) > max(TOE_AHEAD[start], abs(float(way @ right)))
            }
            if ahead:
                by[f"toe_{side}"] = max(ahead, key=lambda name: ahead[name])
        if f"heel_{side}" in lacking and all(f"{name}_{side}" in landmarks for name in HEEL_BEHIND):
            behind = [
                name
                for name, place in beside.items()
                if level[name] < HEEL_HEIGHT
                and all(
                    (landmarks[f"{n}_{side}"] - place) @ forward > least for n, least in HEEL_BEHIND.items()
                )
            ]
            if len(behind) == 1:
                by[f"heel_{side}"] = behind[0]
    return by
