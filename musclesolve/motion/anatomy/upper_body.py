"""Trunk, arms, hands and head as far as markers show them; the other parts move rigidly with their neighbors.

An arm is followed from the shoulder outward as far as its joints are seen. Markers beyond a joint that is not seen are
not used: with a wrist but no elbow, the direction in which the arm bends is unknown.
"""

from collections.abc import Collection

from musclesolve._util.arrays import Array
from musclesolve.motion.anatomy.joint_centers import between, shoulder_center
from musclesolve.motion.anatomy.landmark_positions import Points
from musclesolve.motion.anatomy.proportions import segment_shares
from musclesolve.recording.data import SIDE_NAMES, SIDES

# Points that are the landmarks of the same name, when they are mapped.
HEAD_POINTS = ("head_base", "head_low", "head_top")
HAND = ("hand_radial", "hand_ulnar")


def upper_body(moving: Points, hips: Points, pelvis_up: Array, vertical: Array, stature: float) -> Points:
    """Return the model points of trunk, arms, hands and head that the landmarks show, without the back.

    Linear in all but the stature [m], see `anatomy.linear_points`.
    """
    points = {name: moving[name] for name in HEAD_POINTS if name in moving}
    for side in SIDES:
        lateral = moving.get(f"elbow_lateral_{side}")
        elbow = None if lateral is None else between(lateral, moving.get(f"elbow_medial_{side}", lateral))
        if f"shoulder_center_{side}" in moving:
            points[f"shoulder_{side}"] = moving[f"shoulder_center_{side}"]
        elif f"shoulder_{side}" in moving:
            acromion = moving[f"shoulder_{side}"]
            # An arm that no marker shows hangs straight down from the trunk.
            hanging = acromion - segment_shares()["upper arm"]["share"] * stature * pelvis_up
            points[f"shoulder_{side}"] = shoulder_center(acromion, hanging if elbow is None else elbow)
        else:
            continue
        if elbow is None:
            continue
        points[f"elbow_{side}"] = elbow
        names = [name for part in ("wrist", *HAND) if (name := f"{part}_{side}") in moving]
        # One end of the hand alone does not show the angle of the wrist; both ends do, in place of the wrist.
        if f"wrist_{side}" in names or len(names) == len(HAND):
            points |= {name: moving[name] for name in names}
    neck = moving.get("neck_base")
    if neck is None and "shoulder_r" in points and "shoulder_l" in points:
        neck = between(points["shoulder_r"], points["shoulder_l"])
    if neck is None:
        # The trunk stays upright over a pelvis that tilts; tilting with it, it would be thrown about.
        neck = between(hips["hip_r"], hips["hip_l"]) + segment_shares()["trunk"]["share"] * stature * vertical
    return points | {"neck_base": neck}


def completed(moving: Collection[str], points: Collection[str]) -> list[str]:
    """Return a sentence for every part of the upper body that is not followed."""
    sentences = []
    if "neck_base" not in moving and not {"shoulder_r", "shoulder_l"} <= set(points):
        sentences.append("The trunk: no markers, completed upright over the hips.")
    if "head_base" in points and not set(HEAD_POINTS) <= set(points):
        sentences.append("The head: too few markers, completed rigidly with the neck.")
    elif not set(HEAD_POINTS) <= set(points):
        sentences.append("Head and neck: no markers, completed rigidly with the trunk.")
    shows = {"shoulder": ("shoulder", "shoulder_center"), "elbow": ("elbow_lateral",)}
    for side in SIDES:
        # Joints of the arm and ends of the hand that landmarks show, followed or not.
        mapped = [
            part
            for part in ("shoulder", "elbow", "wrist", *HAND)
            if any(f"{landmark}_{side}" in moving for landmark in shows.get(part, (part,)))
        ]
        for part, ends, carrier in (
            ("arm", ("elbow",), "trunk"),
            ("forearm", ("wrist",), "upper arm"),
            ("hand", HAND, "forearm"),
        ):
            lost = [end for end in ends if f"{end}_{side}" not in points]
            if not lost:
                continue
            why = "no markers"
            if set(lost) & set(mapped):
                missing = next(joint for joint in ("shoulder", "elbow", "wrist") if joint not in mapped)
                why = f"no marker of the {missing}, so that those beyond it are left out"
            sentences.append(f"The {SIDE_NAMES[side]} {part}: {why}, completed rigidly with the {carrier}.")
    return sentences
