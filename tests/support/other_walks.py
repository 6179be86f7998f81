"""Other walks made of a recorded one: across the laboratory, swaying, speeding up; and plates that are rotated.

`sway` and `speed_up` move the whole body and add the force that this takes to the plates, in proportion to what they
carry, so that Newton's law holds for the center of mass as it did before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from musclesolve._util.arrays import at_times, true_runs
from musclesolve.constants import LOADED_FROM_N

Array = NDArray[np.float64]
ROLES = ("force", "point", "moment")


def about_vertical(degrees: float) -> Array:
    """Return the matrix (3, 3) that rotates rows of vectors in the global frame to the left, from the right."""
    rotation: Array = Rotation.from_euler("z", degrees, degrees=True).as_matrix().T
    return rotation


def walk_obliquely(copy, degrees: float) -> None:
    """Rotate the walk to the left of the forward axis: markers, forces and points rotate together."""
    rotation = about_vertical(degrees)
    copy.put(copy.walk.position @ copy.rotation.T @ rotation @ copy.rotation)
    for plate in copy.plates():
        for role in ROLES:
            if copy.columns(plate, role):
                copy.set_plate(plate, role, copy.plate(plate, role) @ rotation)


def rotate_plates(copy, degrees: float, sides: str, *, points: bool = False) -> None:
    """Plates whose forces are rotated to the left: a fault. With them the points about the middle of each contact."""
    rotation = about_vertical(degrees)
    for plate in (plate for side in sides for plate in copy.plates(side)):  # type: ignore[arg-type]
        force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
        copy.set_plate(plate, "force", force @ rotation)
        for first, stop in true_runs(force[:, 2] > LOADED_FROM_N) if points else []:
            middle = point[first:stop].mean(axis=0)
            point[first:stop] = (point[first:stop] - middle) @ rotation + middle
        copy.set_plate(plate, "point", point)


def scale_sideways(copy, factor: float) -> None:
    """Sideward forces larger or smaller than the markers ask for: arms and trunk that these do not show."""
    for plate in copy.plates():
        copy.set_plate(plate, "force", copy.plate(plate, "force") * [1.0, factor, 1.0])


def displace_points(copy, forward: float, left: float) -> None:
    """Points of force beside where they are [m]."""
    away = np.array([forward, left, 0.0])
    for plate in copy.plates():
        copy.set_plate(plate, "point", copy.plate(plate, "point") + away)


def at_border(vertical: Array, along: Array, under: float = 0.5) -> Array:
    """Return the share (S,) that the first of two plates bears, whose border lies under each step.

    vertical: force (S,) [N]; along: the center of pressure in the walking direction [m]; under: share of a contact
    before the center of pressure passes the border. The share falls over 0.1 m.
    """
    share = np.ones(vertical.size)
    for first, stop in true_runs(vertical > LOADED_FROM_N):
        contact = slice(first, stop)
        share[contact] = np.clip(0.5 + (np.quantile(along[contact], under) - along[contact]) / 0.1, 0.0, 1.0)
    return share


def step_on_borders(copy, side: str, apart: float = 0.12) -> None:
    """Every step of a foot is on two plates, with centers of pressure so far apart [m] under heel and forefoot."""
    (plate,) = copy.plates(side)  # type: ignore[arg-type]
    force, point, moment = (copy.plate(plate, role) for role in ROLES)
    share = at_border(force[:, 2], point[:, 0])[:, None]
    away = apart * np.array([1.0, 0.0, 0.0])
    copy.set_plate(plate, "force", share * force)
    copy.set_plate(plate, "point", point - (1.0 - share) * away)
    copy.set_plate(plate, "moment", share * moment)
    other = np.concatenate([(1.0 - share) * force, point + share * away, (1.0 - share) * moment], axis=1)
    in_file = (other.reshape(-1, 3, 3) @ copy.rotation).reshape(-1, 9)
    names = tuple(f"beyond_{role}_{axis}" for role in ROLES for axis in "xyz")
    values = np.concatenate([copy.forces.values, in_file], axis=1)
    copy.forces = replace(copy.forces, names=(*copy.forces.names, *names), values=values)
    table = [f'{role} = "beyond_{role}_"' for role in ROLES]
    copy.lines += ["", "[[force]]", f'side = "{side}"', *table]


def slide_skin(copy, amplitude: float, frequency: float, seed: int) -> None:
    """Every marker slides on the skin by itself, at about one frequency: root mean square [m], frequency [Hz]."""
    rng = np.random.default_rng(seed)
    shape = copy.walk.position.shape[1:]
    phase, rate = rng.uniform(0.0, 2.0 * np.pi, shape), frequency * rng.uniform(0.8, 1.2, shape)
    waves = np.sqrt(2.0) * np.sin(2.0 * np.pi * rate * copy.walk.time[:, None, None] + phase)
    copy.put(copy.walk.position + amplitude * waves)


def sway_trunk(copy, amplitude: float, frequency: float, phase: float) -> None:
    """The markers above the legs sway sideways [m] without a force: clothes, or a trunk unlike that of the tables."""
    side = amplitude * np.sin(2.0 * np.pi * frequency * copy.walk.time + phase)
    upper = ("shoulder", "neck", "head", "elbow", "wrist", "hand")
    for landmark in copy.mapping:
        if landmark.startswith(upper):
            copy.move(copy.marker(landmark), slice(None), side[:, None] * copy.in_file((0.0, 1.0, 0.0)))


def sway(copy, direction: tuple[float, float], amplitude: float, frequency: float, phase: float) -> None:
    """The whole body sways along a horizontal direction: amplitude [m], frequency [Hz], phase [rad]."""
    rate = 2.0 * np.pi * frequency
    wave = amplitude * np.sin(rate * copy.walk.time + phase)
    _move(copy, direction, wave, -(rate**2) * wave)


def speed_up(copy, acceleration: float) -> None:
    """The subject walks faster and faster [m/s^2]; slower and slower where it is negative."""
    away = copy.walk.time - copy.walk.time.mean()
    _move(copy, (1.0, 0.0), 0.5 * acceleration * away**2, np.full(away.size, acceleration))


def _move(copy, direction: tuple[float, float], place: Array, acceleration: Array) -> None:
    way = np.array([*direction, 0.0])
    copy.put(copy.walk.position + (place[:, None] * (way @ copy.rotation))[:, None])
    time = copy.forces.time
    moved, pushed = at_times(copy.walk.time, np.stack([place, acceleration], axis=1), time).T
    load = {plate: np.clip(copy.plate(plate, "force")[:, 2], 0.0, None) for plate in copy.plates()}
    total = np.sum(list(load.values()), axis=0)
    mass = copy.settings.subject.mass_kg
    for plate, own in load.items():
        share = np.where(total > LOADED_FROM_N, own / np.where(total > LOADED_FROM_N, total, 1.0), 0.0)
        force = copy.plate(plate, "force")
        copy.set_plate(plate, "force", force + (mass * share * pushed)[:, None] * way)
        copy.set_plate(
            plate, "point", copy.plate(plate, "point") + (own > 0.0)[:, None] * moved[:, None] * way
        )
