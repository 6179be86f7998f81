"""Steps across a plate verify its description.

From where a foot lands to where it leaves, the center of pressure travels along the path of the subject, forwards or
backwards, and the ground first brakes and then drives on. A plate whose corners begin at the wrong one, or are listed
the wrong way round, shows one or both of them inverted; one whose moments are in another unit than stated shows a
center of pressure that rests near its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.plates.plate_assignment import Contact, Feet, Foot
from musclesolve.recording.plates.plate_wrench import PlateRecording

SURE = 100.0
"""Above this force the center of pressure is reliable [N]."""

# A step: loaded so long [s]; from so long before it to so long after [s] its foot goes so far [m], in the direction of
# its toe or heel (cosine), and while it is loaded it stays where it is [m].
_LONG, _AROUND, _FAR, _STRAIGHT, _PLANTED = 0.15, 0.15, 0.4, 0.8, 0.1
# The center of pressure of a step travels some 0.2 m; what rests within the first does not travel, what travels the
# second shows its direction [m].
_RESTS, _TRAVELS = 0.03, 0.06
# From braking to driving the force changes by some 0.2 of its vertical peak; so much the other way it is inverted.
_INVERTED = -0.1


@dataclass(frozen=True)
class Step:
    """What a plate shows of one step.

    How far the center of pressure spreads, the longer way [m]; how far it travels along the path of the subject and to
    the left of it (2,) [m]; the change of the force along that path, in vertical peaks.
    """

    contact: Contact
    extent: float
    travel: Array
    drive: float


def check_steps(recording: PlateRecording, found: list[Contact], feet: Feet) -> None:
    """Refuse a plate, global frame, on which every step runs the wrong way, or nowhere: wrong corners or units."""
    steps = [step for contact in found if (step := _step(recording, contact, feet)) is not None]
    for problem, expected, remedy, wrong in (
        (
            "the center of pressure rests in one place while a foot steps on the plate and walks on",
            "a center of pressure that travels under the foot",
            "correct ORIGIN, or the unit of the moments (ANALOG:UNITS), in the capture software",
            lambda step: step.extent < _RESTS,
        ),
        (
            "the center of pressure does not travel the way that the foot goes",
            "travel from where the foot lands to where it leaves",
            "correct CORNERS in the capture software: they begin in the quadrant of +x and +y of the plate, then -x +y",
            _strays,
        ),
        (
            "the force propels first and brakes then",
            "braking first, then propulsion",
            "correct CORNERS, their order and sense, or the signs of the horizontal channels in the capture software",
            lambda step: step.drive < _INVERTED,
        ),
    ):
        if steps and all(wrong(step) for step in steps):
            raise error_at(
                recording.path, str(steps[0].contact), problem, expected, remedy, code="unassigned_plate"
            )


def _strays(step: Step) -> bool:
    length = float(np.linalg.norm(step.travel))
    return length > _TRAVELS and float(step.travel[0]) < 0.5 * length


def _step(recording: PlateRecording, contact: Contact, feet: Feet) -> Step | None:
    """Return what a contact shows, None where it is no whole step straight ahead or back."""
    whole = 0 < contact.first and contact.last < recording.time.size
    if contact.side is None or not contact.significant or not whole or contact.end - contact.start < _LONG:
        return None
    way = _way(feet[contact.side], contact)
    samples = np.arange(contact.first, contact.last)
    samples = samples[recording.force[samples, 2] > SURE]
    if way is None or samples.size < 10:
        return None
    axes = np.stack([way, [-way[1], way[0]]], axis=1)
    point, force = recording.point[samples, :2] @ axes, recording.force[samples, :2] @ axes
    fifth, part = samples.size // 5, 2 * samples.size // 5
    return Step(
        contact,
        float((np.quantile(point, 0.95, axis=0) - np.quantile(point, 0.05, axis=0)).max()),
        point[-fifth:].mean(axis=0) - point[:fifth].mean(axis=0),
        float(force[-part:, 0].mean() - force[:part, 0].mean()) / contact.peak,
    )


def _way(foot: Foot, contact: Contact) -> Array | None:
    """Return the horizontal direction (2,) in which a foot goes on over a contact, None where it is not clear."""
    quarter = 0.25 * (contact.end - contact.start)
    times = np.array(
        [contact.start - _AROUND, contact.start + quarter, contact.end - quarter, contact.end + _AROUND]
    )
    heel, toe = foot.at(times)
    gone = 0.5 * (heel[3] + toe[3] - heel[0] - toe[0])
    far, axis = float(np.linalg.norm(gone)), toe[1] - heel[1]
    straight = abs(float(gone @ axis)) > _STRAIGHT * far * float(np.linalg.norm(axis))
    # Comparisons with what was not seen are false.
    if far > _FAR and straight and float(np.linalg.norm(toe[2] - toe[1])) < _PLANTED:
        return np.asarray(gone / far)
    return None
