"""Small errors of plates, found from the residual at the pelvis: place, scale, sign of the free moment.

With the measured loads the motion lacks a force and a moment about mid-hip: the residual r (T, 6). To first order an
error of a plate adds a known pattern times its size to the residual,

    r = sum_j A_j theta_j + sum_k B_k beta_k + e,

theta the corrections of the plates: the shift of a point of force (e x F), the scale of the way of the point about its
middle (p - m) x F, the scale of a plate (its wrench), the sign or scale of its free moment (T), the delay of all forces
(the derivative of their wrench) or of one channel (of its part of the wrench), a horizontal force that grows in time.
beta are the errors of the body model, which every sound recording has with similar sizes: masses of the segments, place
of the center of mass of the trunk, total mass. e is the remainder: smooth errors of the markers, correlated in time.

e is taken as a process of the first order with a correlation time of 80 ms, so that e(t) - phi e(t-h) is nearly white
(Cochrane & Orcutt 1949). Its variance includes the correlation that is left (`long_run_variance`): errors depend on the
recording and not on the number of its frames. A size that the recording hardly shows, as a part of a step does, is not
judged. beta, and the usual errors of plates, have normal priors. The model is then linear and normal: the estimate of
theta_j follows from generalized least squares with the covariance of all other terms,

    theta_j = (A' S^-1 A)^-1 A' S^-1 r,  S = cov(e) + B P B' + sum of all other A_i P_i A_i',

with the standard deviation of its error from (A' S^-1 A)^-1. Priors are standard deviations of sound recordings. The
search is for errors that no sound plate has, one hypothesis at a time, beginning with the one that explains most.

The points of force are also compared with the feet: they pass under each foot at the usual place, up to the placement
error of heel and toe markers, which is similar on both feet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, correlated_products, covariance, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.newton_euler import angular_momentum_rate, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.laboratory.analysis.mechanics import Mechanics, measured_moments
from musclesolve.laboratory.checks.case import TABLES, Case, change_plate, in_order, on_plate
from musclesolve.laboratory.checks.forces.newtons_law import (
    CORRELATION,
    EARLY_S,
    ERRORS,
    carried_mass,
    center_of_mass,
    early_or_late,
    law,
    time_offset,
)
from musclesolve.laboratory.checks.forces.plate_axes import Passage, passages
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import CHANNELS
from musclesolve.laboratory.checks.observed_body import runs
from musclesolve.laboratory.motion.anatomy.anatomy import Anatomy
from musclesolve.laboratory.motion.events.foot_events import headings
from musclesolve.laboratory.motion.ground_reaction import sampled_wrench, wrench_at_origin
from musclesolve.laboratory.recording.data import SIDE_NAMES, PlateForce, Trial
from musclesolve.laboratory.results.facts import CENTER_HEIGHT
from musclesolve.laboratory.results.finding import Finding, Where, finding

# Standard deviations of sound recordings: place of a plate [m], its scale and the factor of its free moment;
# delay of the forces, which follow the markers by 5 to 11 ms on recorded walks, as soft tissue follows the bones [s].
PLACE, SCALE, TWIST, DELAY, WAY = 0.004, 0.012, 0.15, 0.006, 0.03
# Of the body: center of mass of the whole, forward and to the left [m]; where both feet are, outward [m]; its mass,
# which another check looks at; the mass of a segment.
CENTER, OUTWARD, MASS, SEGMENT = (0.009, 0.004), 0.006, 0.1, 0.08
# Of the scales of space and of time between markers and plates.
RATE = 0.003
# Of the center of pressure under a foot, on one foot, and on both feet alike: forward, outward, and of its way [m].
UNDER_FOOT, UNDER_FEET = np.array([0.008, 0.008, 0.015]), (0.014, 0.018, 0.016)
# Least and first deviation of the residual by component: force [body weights], moment [body weights x stature].
LEAST, FIRST = np.array([1, 1, 1, 0.3, 0.3, 0.1]) * 0.01, np.array([2, 2, 2, 0.4, 0.4, 0.2]) * 0.01
# Least vertical impulse for a judgement of a plate while its foot carries the body alone [s x body weight], largest
# share of the weight on the other foot, and least duration for a judgement of the balance [s].
CARRIED, ALOFT, SHORTEST_BALANCE = 0.2, 0.05, 0.4
# Limits of a reported displacement [m], scale, and scale of a way, of which the foot alone shows at least the share
# and so much [m]: in made walks whose skin moves by 4 mm it shows up to 19 mm, of a way that is a quarter off 27. By
# the balance the ways on a sound treadmill are 11 % off, and 12 % as if its belts rose.
DISPLACED, MISSCALED, LONGER, OF_FEET, OF_FOOT = 0.012, 0.06, 0.15, 0.5, 0.022
# Least logarithm of the likelihood ratio to the usual, by the beginning of a term; that for the place of the only
# judged plate, and for other terms. Windows of 13 sound recordings, 0.5 to 1.5 s, have at most 4.6, 2.7 and 2.8; but a
# walk that stands off its plates has places of 7.7, and one that begins and ends beside them delays of 6.3.
# Scales of plates in windows of 13 sound recordings have at most 0.8, plates that show 10 % less or more 2.2 and more.
# No delay of one channel is beyond its limit in 122 windows; 20 ms of a forward channel have 4.
# The scale of space has at most 3.5 in them; 18 mm of one plate on a treadmill imitate it with 4.5.
EVIDENCE = {"place": 5.4, "space": 5.4, "added": 3.2, "late": 3.2, "scale": 2.2}
UNSURE, ALONE = 8.0, 4.5
# Errors of all plates or all markers alike.
WHOLE = ("space", "place", "center")
# Difference of evidence below which the places of two plates are as likely: belts whose right points are 16 to 18 mm
# behind have 0.5 and less, plates in a walk whose points are 18 to 20 mm off 1.6 and more.
AS_LIKELY = 1.0
# Place of one plate along the walk, in standard deviations of its error and of sound plates, from which this part of it
# is evidence alone, and the largest standard error of it [m]: with so small an error plates in windows of 15 sound
# recordings have at most 1.5, whole ones 1.1, with a greater error up to 2.4; 18 mm have 2.0 to 4.2.
AHEAD, WELL_SHOWN = 1.8, 0.0055
# Distance of the center of the body from where the ground carries it that is reported [m]: nine sound recordings have 0
# to 18 mm; markers that are tilted by 2 degrees against the plates 27 to 46 mm.
OFF_SUPPORT = 0.025
# Scale of space and of time from which it is reported, and so many of its standard errors: windows of 13 sound
# recordings have up to 2.5 of them where they show it; a made walk with noise had a clock of 0.006 with 3.0 of them.
SPACE, CLOCK, STANDARD_ERRORS = 0.015, 0.0075, 3.0
# Error of a stated body mass as a share: clothes, shoes, another day, a scale.
STATED_MASS_ERROR = 0.03
LEVEL = CHANNELS[:2]
# Spread on sound plates of the delay of a channel, of the delay of a plate [s], and of the force that a level channel
# adds under the foot [body weights]: root mean square of 11 judged plates of six recordings (the largest are 15.5,
# 17, 9 and 7 ms, and 1.9 %), each fitted alone: beside another error they have hardly any size.
CHANNEL = {"late forward": 0.0065, "late sideward": 0.0085, "late vertical": 0.0045, "late whole": 0.003}
CHANNEL |= {f"added {name}": 0.01 for name in LEVEL} | {"added turning": 0.001}
UNUSUAL = {"late": 1e-4, "added": 1e-7}
# Size from which a term is reported.
LIMITS = {
    "place": DISPLACED,
    "scale": MISSCALED,
    "way": LONGER,
    "center": OFF_SUPPORT,
    "space": SPACE,
    "clock": CLOCK,
    "delay": EARLY_S,
    "late forward": 0.018,
    "late sideward": 0.02,
    "late vertical": 0.012,
    "late whole": 0.012,
    # body weights x stature: 23 plates of 12 sound recordings have 0.0017 at most
    "added turning": 0.0035,
    "added": 0.027,  # body weights
    "turned": np.radians(6.0),
    "grown": 0.008,
}
# Largest standard error of a size, in its direction, as a share of the limit: above it nothing is said. 0.5 to
# 0.8 clear the same windows of sound recordings. A scale of so many standard errors is shown, too.
SHOWN, CERTAIN = 0.7, {"scale": 5.0, "space": STANDARD_ERRORS, "place": 4.0}
# Standard deviation of an error that was found (any size) while others are searched; and of a factor of free moments.
FOUND, FOUND_FACTOR = 0.2, 2.0
# The free moment reverses sign or does not: the factor that the balance needs and its deviation (17 plates of eight
# sound recordings: -0.7 to 1.3), evidence of the one over the other as a logarithm, and so many standard errors from
# the factor 1, and from 0 where the balance alone shows it.
NEEDED, FACTOR, REVERSED, CLEAR = 0.45, 0.4, 3.0, 2.0
# The free moment resists inward rotation of the foot early in stance and outward rotation later (Almosnino et al. 2009,
# Sports Med Arthrosc Rehabil Ther Technol 1:19): amid stance less early, positive about the upward axis for the right
# foot, in body weights x stature, and its deviation. 17 feet have 0.00002 to 0.0041; later in stance it may fall.
EARLY, AMID, TURN, TURN_VARIES = (0.10, 0.42), (0.42, 0.60), 0.0017, 0.00115
# Components of the residual that level channels balance, and usual factors. Whole sound walks need horizontal forces
# 0.89 to 1.14 times, 618 plates in windows 0.9 to 1.22 times where it is clear, so many standard errors from 1; one
# channel 0.67 to 0.94 times forward, 0.63 to 0.88 times to the side.
SHEARS = {"horizontal": ([3, 4], 0.8, 1.25), "forward": ([0, 4], 0.6, 1.25), "sideward": ([1, 3], 0.5, 1.25)}
FROM_ONE = 6.0
# An unseen trunk leans and sways: 16 plates of eight sound walks without its markers need forward forces 0.86 to 1.33
# times and level ones 0.79 to 1.02 times, show it early by up to 20 ms, on a treadmill space 0.9 to 2.3 % too large.
# Limits are so many times wider; a delay of the forward force, and space on a treadmill, are not judged.
UNSEEN_TRUNK = 1.2
# Least number of contacts of a foot whose errors are judged by their return in each stride, and the limits: angle
# of a plate about the vertical [rad], change of a level force in a standard deviation of the time on the plate [body
# weights], wandering of a clock, root mean square [s]. Sound recordings of so many strides have at most 2.0 degrees,
# 0.6 % and 5.1 ms, and made walks whose skin moves by 4 mm 3.1 degrees and 8.6 ms; 8 degrees have 7 to 9, a drift of
# 30 N 1.1 %, waves of 20 ms have 14 ms. An angle needs a foot that comes and leaves: windows of 0.5 to 1.5 s then have
# no clear one.
STRIDES, WANDERS = 3, 0.01
# Shortest half wave of a clock [s], most half waves in a recording, and wandering relative to its standard error, which
# is near 1 for noise: at most 1.3 on these recordings, 1.8 in parts of three contacts, 1.6 to 4.5 in waves of 10 and
# 20 ms.
HALF_WAVE, MOST_WAVES, UNLIKE_NOISE = 0.35, 40, 1.5
# Code of an error that changes during a recording, the change that is reported, and its spread on sound recordings;
# least time between the times that are tried, most of them, and least time that an error acts before and after [s].
# 250 windows of recorded and made walks have at most 1.9 standard deviations of error and spread; 20 ms that are lost
# from the forces have 2.2 to 4.4, a plate that shows 12 % more or less from a time on 2.0 to 4.7. In single contacts
# none of 122 windows is beyond the change that is reported.
CHANGES = {
    "delay": ("clock_rate", 0.006, 0.003),
    "late": ("clock_rate", 0.006, 0.003),
    "scale": ("plate_scale", 0.05, 0.02),
    "place": ("pressure_offset", 0.015, 0.005),
}
BETWEEN, MOST_TIMES, BEFORE_AND_AFTER = 0.1, 21, 0.25
# A while [s], and the vertical force that plates lack or have too much in it [body weights]: 12 sound recordings have
# at most 0.09, a thirteenth 0.14; a forefoot beside its plate 0.30, a share of the other foot 0.30.
WHILE, UNSUPPORTED = 0.06, 0.2
# Findings that do not affect the balance.
HARMLESS: tuple[str, ...] = tuple(TABLES["harmless"])
# Beginnings of landmarks of the arms below the shoulder.
ARM = ("elbow", "wrist", "hand")


@dataclass(frozen=True)
class BalanceFit:
    """The residual at the pelvis in the frames in which both feet are measured, and the contributions of the plates.

    All vectors point along the walk, to the left and up: usual errors of the body differ along the walk and across.
    """

    time: Array  # (T,) [s]
    residual: Array  # (T, 6) force [N] and moment about mid-hip [N m]
    size: Array  # (6,) body weight [N] and body weight times stature [N m]
    wrench: list[Array]  # of every plate, (T, 6), moments about mid-hip
    twist: list[Array]  # of every plate, its free moment (T, 6)
    change: Array  # (T, 6) rate of change of the wrench of all plates [1/s], about the present mid-hip
    segments: dict[str, Array]  # segment -> change of the residual with its mass, (T, 6) per factor
    axes: Array = field(default_factory=lambda: np.eye(3))  # forward, left and up, in the laboratory
    # (T, 6) change of the residual as mid-hip goes farther by a factor
    space: Array | None = None
    # of every plate, the wrench of its horizontal forces, and the change as its points go farther by a factor (T, 6)
    shear: list[Array] = field(default_factory=list)
    way: list[Array] = field(default_factory=list)
    # of every plate, the changes (T, 6, p) with the delay of a channel [1/s], and with the force that it adds under the
    # foot: its mean, and how it grows in a standard deviation of the time under the foot; by term
    channels: list[dict[str, Array]] = field(default_factory=list)

    @property
    def memory(self) -> int:
        """Frames of twice `CORRELATION`, over which products of effects and remainder are correlated."""
        return int(2.0 * CORRELATION / float(np.median(np.diff(self.time))))

    def loaded(self, plate: int) -> Mask:
        """Return the frames (T,) in which a plate carries more than `ALOFT` of the body."""
        return np.asarray(self.wrench[plate][:, 2] > ALOFT * self.size[0])

    def begins_and_ends(self, plate: int) -> bool:
        """Return whether a foot comes to a plate and leaves it, also before: less imitates many errors."""
        return {1, -1} <= {*np.diff(self.loaded(plate).astype(int))}


def balance(trial: Trial, recorded: Mechanics, moments: Array | None = None) -> BalanceFit | None:
    """Return the balance of forces of a motion, None where too little of it is measured.

    moments (T, K+6): generalized forces of inverse dynamics where they are known.
    """
    model, motion = recorded.model, recorded.unchanged
    if moments is None:
        moments = measured_moments(trial, model, motion, recorded.wrenches)
    residual = moments[:, -6:]
    known: Mask = np.asarray(np.isfinite(residual).all(axis=1))
    if not trial.forces or known.sum() < max(SHORTEST_BALANCE * trial.markers.rate, 3):
        return None
    middle, chosen, axes = motion.origin, recorded.measured.filter, walking_axes(recorded.measured)
    below = chosen.options.unloaded_below_n

    begin, end = motion.time[known][[0, -1]]

    def sampled(plate: PlateForce) -> dict[str, Array]:
        """Wrenches (T, 6): of each component, of forces that are added to it, of the free moment and of the way."""
        whole = wrench_at_origin(plate, below)
        loaded = whole[:, [2]] != 0.0
        point = np.where(loaded, plate.point, 0.0)
        away = np.zeros_like(point)
        for start, stop in true_runs(loaded[:, 0]):
            away[start:stop, :2] = (point[start:stop] - point[start:stop].mean(axis=0))[:, :2]
        judged = plate.time[loaded[:, 0] & (plate.time >= begin) & (plate.time <= end)]
        later = (
            (plate.time[:, None] - judged.mean()) / judged.std() if judged.size > 2 else 0.0 * point[:, :1]
        )
        acting = {
            name: whole[:, :3] @ np.outer(axis, axis) for name, axis in zip(CHANNELS, axes, strict=True)
        }
        for name, axis in zip(LEVEL, axes[:2], strict=True):
            acting |= {f"{name} 0": loaded * axis, f"{name} 1": loaded * later * axis}
        parts = {name: np.hstack([force, np.cross(point, force)]) for name, force in acting.items()}
        parts["turning"] = np.pad(loaded * axes[2], ((0, 0), (3, 0)))
        parts["twist"] = np.pad(whole[:, 3:] - np.cross(point, whole[:, :3]), ((0, 0), (3, 0)))
        parts["way"] = np.pad(np.cross(away, whole[:, :3]), ((0, 0), (3, 0)))
        return {name: sampled_wrench(plate, part, chosen, motion.time) for name, part in parts.items()}

    def turned(wrench: Array) -> Array:
        return np.concatenate([wrench[:, :3] @ axes.T, wrench[:, 3:] @ axes.T], axis=1)

    def about(wrench: Array) -> Array:
        moved = wrench[:, 3:] - np.cross(middle, wrench[:, :3])
        return turned(np.concatenate([wrench[:, :3], moved], axis=1)[known])

    def rate(wrench: Array) -> Array:
        return about(np.gradient(wrench, motion.time, axis=0))

    every = [sampled(plate) for plate in trial.forces]
    wrenches = [np.sum([one[name] for name in (*CHANNELS, "twist")], axis=0) for one in every]
    weight = model.mass.total * STANDARD_GRAVITY
    channels = [
        {"late whole": rate(whole)[..., None]}
        | {f"late {name}": rate(one[name])[..., None] for name in CHANNELS}
        | {f"added {n}": np.stack([weight * about(one[f"{n} {k}"]) for k in (0, 1)], axis=2) for n in LEVEL}
        for one, whole in zip(every, wrenches, strict=True)
    ]
    for one, of_plate in zip(every, channels, strict=True):
        of_plate["added turning"] = weight * trial.subject.stature * turned(one["turning"][known])[..., None]
    total, gone = about(np.sum(wrenches, axis=0)), middle[known] @ axes.T
    return BalanceFit(
        time=motion.time[known],
        residual=turned(residual[known]),
        size=weight * np.array([1.0, 1.0, 1.0, *[trial.subject.stature] * 3]),
        wrench=[about(wrench) for wrench in wrenches],
        twist=[turned(one["twist"][known]) for one in every],
        shear=[about(np.sum([one[name] for name in LEVEL], axis=0)) for one in every],
        way=[turned(one["way"][known]) for one in every],
        channels=channels,
        change=rate(np.sum(wrenches, axis=0)),
        segments={name: turned(gain) for name, gain in segment_masses(model, motion.frames(known)).items()},
        axes=axes,
        space=np.concatenate([np.zeros_like(gone), np.cross(gone, total[:, :3])], axis=1),
    )


def walking_axes(measured: Anatomy) -> Array:
    """Return the axes (3, 3) forward, left and up of a motion; of a walk to and fro, along most of it."""
    hips = 0.5 * (measured.points["hip_r"] + measured.points["hip_l"])
    x, y = headings(measured.time, hips, measured.directions["pelvis_forward"])[0][:, :2].T
    # twice the angle is the same there and back
    angle = 0.5 * np.angle(np.mean((x + 1j * y) ** 2))
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    along *= 1.0 if along @ [x.mean(), y.mean(), 0.0] >= 0.0 else -1.0
    return np.stack([along, np.cross([0.0, 0.0, 1.0], along), [0.0, 0.0, 1.0]])


def segment_masses(model: Model, motion: Motion) -> dict[str, Array]:
    """Return the change of the residual with the mass of each segment, (T, 6) per factor, at constant body mass.

    A body needs the force m (a - g) and about mid-hip the moment (c - o) x m (a - g) + dL/dt. With a factor 1 + b on
    the bodies of a segment and all masses scaled to the same sum, the need changes by b (need of the segment - its
    share of the mass x need of the body), to first order.
    """
    segments, bodies = segment_motion(model, motion), model.topology.bodies
    force = model.mass.mass[:, None] * (segments.center_acceleration - model.gravity)
    moment = np.cross(segments.center - motion.origin[:, None], force)
    moment += angular_momentum_rate(model, segments, np.arange(len(bodies)))
    need = np.concatenate([force, moment], axis=2)
    gains = {}
    for name in model.topology.segments:
        of_segment = np.array([body.segment == name for body in bodies])
        share = model.mass.mass[of_segment].sum() / model.mass.total
        gains[name] = need[:, of_segment].sum(axis=1) - share * need.sum(axis=1)
    return gains


def patterns(measured: BalanceFit, judged: list[int]) -> dict[str, tuple[Array, list[float]]]:
    """Return the contributions of plate corrections to the residual, (T, 6, p), with their usual sizes (p,).

    "place 0" belongs to plate 0, "place" to all plates together. Plates that are not judged may have any error.
    """
    terms: dict[str, tuple[Array, list[float]]] = {}
    for k, (wrench, twist) in enumerate(zip(measured.wrench, measured.twist, strict=True)):
        large = 1.0 if k in judged else 8.0
        terms[f"place {k}"] = _moved(wrench), [large * PLACE] * 2
        terms[f"scale {k}"] = wrench[..., None], [large * SCALE]
        terms[f"twist {k}"] = twist[..., None], [large * TWIST]
        if measured.way:
            terms[f"way {k}"] = measured.way[k][..., None], [large * WAY]
        for name, change in measured.channels[k].items() if measured.channels else ():
            terms[f"{name} {k}"] = change, [UNUSUAL[name.split()[0]]] * change.shape[2]
    # No more than usual for every plate: the common part is a term of its own.
    terms["place"] = np.sum([terms[f"place {k}"][0] for k in range(len(measured.wrench))], axis=0), [1e-4] * 2
    terms["twist"] = np.sum(measured.twist, axis=0)[..., None], [1e-3]
    return terms


def _moved(wrench: Array) -> Array:
    """Return the change (T, 6, 2) of a wrench (T, 6) when its point moves by a meter forward and to the left."""
    moment = np.cross(np.eye(2, 3)[:, None], wrench[:, :3])
    return np.pad(moment, ((0, 0), (0, 0), (3, 0))).transpose(1, 2, 0)


@dataclass(frozen=True)
class BalanceTerm:
    """One error of plates, or of the body model."""

    effect: Array  # (N, p) of its p parameters on all observations, whitened
    prior: Array  # (p,) standard deviations on sound recordings


@dataclass(frozen=True)
class Estimate:
    """An estimated error of plates or of the body model."""

    size: Array  # (p,) its parameters
    covariance: Array  # (p, p) of their errors
    # logarithm of its likelihood over the likelihood of an error of the size of its prior
    evidence: float

    @property
    def deviation(self) -> Array:
        """Standard deviations (p,) of the errors of its parameters, infinite where rounding leaves no variance."""
        variance = np.diag(self.covariance)
        return np.sqrt(np.where(variance >= 0.0, variance, np.inf))


@dataclass(frozen=True)
class Observed:
    """The balance and the feet as independent observations of variance one, and the terms that contribute to them."""

    values: Array  # (N,)
    terms: dict[str, BalanceTerm]
    deviation: Array  # (6,) of the remainder of the residual
    axes: Array  # forward, left and up, in the laboratory
    with_feet: bool  # whether a foot shows where the center of pressure passes

    def fit(self, name: str) -> Estimate:
        """Estimate one of the terms, by its name."""
        return estimate(self.values, list(self.terms.values()), self.terms[name])

    def freed(self, name: str, prior: float) -> "Observed":
        """Return the observations with one term of any size: its fault is known."""
        term = self.terms[name]
        freed = replace(term, prior=np.full_like(term.prior, prior))
        return replace(self, terms=self.terms | {name: freed})


def observed(
    measured: BalanceFit, feet: list[Passage], sides: Sequence[str | None], judged: list[int]
) -> Observed:
    """Return the observations; the residual is scaled by its remainder when any plate may be wrong.

    sides: of the foot on each plate.
    """
    plates, total = patterns(measured, judged), np.sum(measured.wrench, axis=0)
    left = [1.0 if side == "l" else -1.0 for side in sides]
    outward = np.sum([s * _moved(w)[..., 1] for s, w in zip(left, measured.wrench, strict=True)], axis=0)
    # What errors of the body and of time add to the residual, (T, 6, p), with the usual size of each (p,).
    body: dict[str, tuple[Array, list[float]]] = {
        "center": (_moved(total), list(CENTER)),
        "outward": (outward[..., None], [OUTWARD]),
        "mass": (total[..., None], [MASS]),
        "delay": (measured.change[..., None], [DELAY]),
        **{name: (effect[..., None], [SEGMENT]) for name, effect in measured.segments.items()},
    }
    axes = measured.axes[:2, :2]
    if measured.space is not None:
        drift = measured.change * (measured.time - measured.time.mean())[:, None]
        body |= {"space": (measured.space[..., None], [RATE]), "clock": (drift[..., None], [RATE])}
    deviation = FIRST * measured.size
    # A place moves the center of pressure under the feet, the other way; space moves the feet.
    under_feet = [
        np.pad(axes @ np.stack([foot.ahead, foot.outward], axis=1), ((0, 1), (0, 1))) + np.diag([0, 0, 1.0])
        for foot in feet
    ]
    at_feet = {"place": [-np.eye(3, 2)] * len(feet)}
    at_feet["space"] = [np.append(axes @ -foot.place, 0.0)[:, None] for foot in feet]
    for number, foot in enumerate(feet):
        alone = np.eye(len(feet))[number]
        at_feet[f"place {foot.plate}"] = [-here * np.eye(3, 2) for here in alone]
        at_feet[f"way {foot.plate}"] = [-here * foot.gain * np.eye(3)[:, 2:] for here in alone]
    for wide in (10.0, 10.0, 1.0):
        terms = {}
        for name, (effect, prior) in (plates | body).items():
            of_feet = at_feet.get(name, [np.zeros((3, len(prior)))] * len(feet))
            moved = [part / UNDER_FOOT[:, None] for part in of_feet]
            white = np.concatenate([whitened(effect, measured.time, deviation), *moved])
            terms[name] = BalanceTerm(white, (wide if name in plates else 1.0) * np.array(prior))
        rows = whitened(measured.residual, measured.time, deviation)
        terms["markers of feet"] = BalanceTerm(
            np.concatenate([np.zeros((rows.size, 3)), *(part / UNDER_FOOT[:, None] for part in under_feet)]),
            np.array(UNDER_FEET),
        )
        under = [np.append(axes @ foot.off, foot.travel) / UNDER_FOOT for foot in feet]
        values = np.concatenate([rows, *under])
        rest = remainder(values, list(terms.values()))[: rows.size].reshape(-1, 6)
        if wide > 1.0:
            power = long_run_variance(rest, float(np.median(np.diff(measured.time))))
            deviation = np.maximum(deviation * np.sqrt(power), LEAST * measured.size)
    return Observed(values, terms, deviation, measured.axes, bool(feet))


def plates_out_of_balance(case: Case, recorded: Mechanics) -> Iterator[Finding]:
    """Find plates that are displaced, of a wrong scale, or whose free moment has the wrong sign.

    No finding where another finding may be the cause, or the subject runs: the usual errors come from walking.
    """
    trial = case.trial
    serious = [f for f in case.findings if f.severity != "note"]
    # A leaning force may come from the plates, a channel or the laboratory, which need different repairs; of a mass
    # that is far off, the forces of the body are, too.
    spoils = {"leaning_force"} | {f.code for f in serious if (f.code, f.severity) == ("mass", "error")}
    lasting = (f for f in serious if f.repair is None and (f.code != "noise" or not f.where.times))
    # a filter spoils the balance, whatever is wrong with it
    spoiling = (f for f in lasting if f.code not in HARMLESS or (f.where.field or "").startswith("[filter]"))
    blamed = [f for f in spoiling if not of_arms(trial, f)]
    if blamed or any(f.code in spoils for f in serious):
        return
    prepared, moments = case.prepared, None
    if prepared is not None and prepared.mechanics is recorded and recorded.change is None:
        moments = prepared.moments
    measured = balance(trial, recorded, moments)
    if measured is None or runs(trial):
        return
    # where a force steps the balance may tell what changes; instants that no foot can cause count as not measured
    known = {f.where.plate for f in serious if f.code not in ("force_step", "plate_instant")}
    sides = [plate.side for plate in trial.forces]
    judged = [k for k in carrying_alone(measured, sides) if SIDE_NAMES[trial.forces[k].side] not in known]
    feet = passages(case)
    sample = observed(measured, feet, sides, judged)
    # where the plates carry less than the body something else carries it, with a moment
    lacks = case.found("mass") and (need := law(case)) and carried_mass(case, need)[0] < trial.subject.mass
    names = [f"{what} {k}" for k in judged for what in (("scale",) if lacks else ("place", "scale"))]
    names += [f"way {foot.plate}" for foot in feet if foot.plate in judged]
    trunk = center_of_mass(trial, False) is not None  # an unseen one leans and sways as far as these errors
    whole_body = [*([] if lacks else ["place"]), *(["center"] if trunk else []), "clock"]
    names += whole_body if len(judged) > 1 and {sides[k] for k in judged} == set(sides) else []
    goes = trunk or np.ptp(recorded.unchanged.origin[:, :2], axis=0).max() > 1.0
    names += ["space"] if goes and len(judged) > 1 else []
    whole = [k for k in judged if measured.begins_and_ends(k)]
    channels = [
        f"{name} {k}" for k in judged for name in measured.channels[k] if k in whole or "turning" in name
    ]
    channels = [name for name in channels if trunk or not name.startswith("late forward")]
    # the balance shows other errors once these forces are right
    if (fits := accusations(sample, names + channels)) and (name := likeliest(fits)) in channels:
        yield _accused(trial, name, fits[name], sample.axes)
        return
    spoiled = [*_sheared(trial, measured, judged, 1.0 if trunk else UNSEEN_TRUNK)] or [
        *_changing(trial, measured, sample, judged)
    ]
    spoiled = spoiled or [*_over_strides(trial, measured, judged)]
    # noise of markers and plates that are not read have their own findings
    if spoiled := spoiled or ([] if serious else [*_unsupported(trial, measured)]):
        yield from spoiled
        return
    for _ in range(len(judged) + 1):
        fits = accusations(sample, names)
        if len(judged) < len(trial.forces):  # what one plate shows may be of the body
            fits = {n: fit for n, fit in fits.items() if not n.startswith("place") or fit.evidence > UNSURE}
        for foot in feet:
            # a foot that rolls in another way moves its plate: the balance alone accuses no way
            if (fit := fits.get(f"way {foot.plate}")) is not None:
                needed = foot.gain * float(fit.size[0])
                if -foot.travel * np.sign(needed) < max(OF_FEET * abs(needed), OF_FOOT):
                    del fits[f"way {foot.plate}"]
        if not fits:
            break
        name = likeliest(fits)
        other = _other_mass(case, sample, names, name) if name.startswith("scale") else None
        if other is None:
            yield _accused(trial, name, fits[name], sample.axes, fits)
        elif not case.found("mass"):
            values = _scale_values(trial, name, fits[name]) | {"given": trial.subject.mass, "other": other}
            yield finding("mass.or_plate", "warning", values, case.key("subject", "mass_kg"))
        sample = sample.freed(name, FOUND)
        if name in WHOLE:  # beside it the others are hardly shown
            names = [n for n in names if n not in WHOLE]
    shift, deviation = time_offset(trial) or (0.0, 0.0)
    if lag := accusations(sample, ["delay"] if trunk else []).get("delay"):
        shift, deviation = float(lag.size[0]), 0.0
    # sound ones are late
    if trunk and -shift > max(EARLY_S, ERRORS * deviation) and not case.found("time_offset"):
        yield early_or_late(case, shift)
    yield from _reversed_moments(trial, sample, judged)


def of_arms(trial: Trial, fault: Finding) -> bool:
    """Return whether a finding concerns markers of the arms alone, which weigh too little to spoil the balance."""
    arms = {m for name, marks in trial.mapping.items() if name.startswith(ARM) for m in marks}
    return bool(fault.where.markers) and arms.issuperset(fault.where.markers)


def carrying_alone(measured: BalanceFit, sides: Sequence[str | None]) -> list[int]:
    """Return the plates that can be judged, by their vertical impulse while their foot carries the body alone."""
    step, weight = float(np.median(np.diff(measured.time))), measured.size[0]
    upward, judged = [wrench[:, 2] for wrench in measured.wrench], []
    for k, force in enumerate(upward):
        others = np.sum([f for f, side in zip(upward, sides, strict=True) if side != sides[k]], axis=0)
        if step * float(np.sum(force * (others < ALOFT * weight))) / weight >= CARRIED:
            judged.append(k)
    return judged


def _changing(trial: Trial, measured: BalanceFit, sample: Observed, judged: list[int]) -> Iterator[Finding]:
    """Find the clearest change of an error: delay of all forces or of one plate, scale or place of a plate.

    Errors of sound plates and clocks are the same throughout. An error of any size is one term of the balance, what it
    changes from a time on, or in one contact, is another; times over the whole recording are tried.
    """
    time, step, errors = measured.time, float(np.median(np.diff(measured.time))), dict[str, Array]()
    if len(judged) == len(trial.forces):
        errors = {"delay": measured.change[..., None]}
        for k in judged:
            errors |= {f"scale {k}": measured.wrench[k][..., None], f"place {k}": _moved(measured.wrench[k])}
            errors[f"late whole {k}"] = measured.channels[k]["late whole"]
    times = np.linspace(time[0], time[-1], int(min(np.ptp(time) / BETWEEN, MOST_TIMES)) + 2)[1:-1]
    frames, clearest = np.arange(time.size), list[tuple[float, str, str, Array, Array]]()
    for name, error in errors.items():
        plates = judged if name == "delay" else [int(name.split()[-1])]
        acts = np.any([measured.loaded(k) for k in plates], axis=0)
        # the center of pressure under a foot differs from foot to foot, and the last contact may be a part of one
        steps = times if name.startswith(("delay", "scale")) else ()
        tried = [(f"from {at:.1f} s on", time > at) for at in steps]
        for first, stop in (contact for k in plates for contact in true_runs(measured.loaded(k))):
            if first > 0 and stop < time.size:
                within = (first <= frames) & (frames < stop)
                tried.append((f"in the contact that begins at {time[first]:.1f} s", within))
        others = list(sample.freed(name, FOUND).terms.values())
        _, least, usual = CHANGES[name.split()[0]]
        for when, changed in tried:
            if min(np.sum(acts & changed), np.sum(acts & ~changed)) * step < BEFORE_AND_AFTER:
                continue
            white = whitened(error * changed[:, None, None], time, sample.deviation)
            effect = np.pad(white, ((0, len(sample.values) - len(white)), (0, 0)))
            weighted = remainder(effect, others)
            inverse = np.linalg.pinv(effect.T @ weighted)
            size = inverse @ (weighted.T @ sample.values)
            spread = inverse + usual**2 * np.eye(len(size))
            if np.linalg.norm(size) > least and (clear := size @ np.linalg.solve(spread, size)) > CLEAR**2:
                clearest.append((float(clear), name, when, size, np.sqrt(np.diag(inverse))))
    if not clearest:
        return
    _, name, when, size, error_of = max(clearest, key=lambda entry: entry[0])
    (code, limit, _), change = CHANGES[name.split()[0]], float(size[0])
    where = Where(trial.markers.path) if name == "delay" else on_plate(trial.forces[int(name.split()[-1])])
    values = {"when": when, "size": float(np.linalg.norm(size)), "error": float(error_of.max())}
    values |= {"late": "later" if change > 0.0 else "earlier", "factor": 1.0 / (1.0 + change)}
    yield finding(f"{code}.changes", "warning", values | {"limit": limit}, where)


def _unsupported(trial: Trial, measured: BalanceFit) -> Iterator[Finding]:
    """Find a while in which the plates carry another vertical force than the motion needs, at any scales and delays.

    The mean over `WHILE` of residual - sum_k c_k F_k - d dF/dt, by least squares.
    """
    vertical = np.stack([*(wrench[:, 2] for wrench in measured.wrench), measured.change[:, 2]], axis=1)
    rest = (
        measured.residual[:, 2] - vertical @ np.linalg.lstsq(vertical, measured.residual[:, 2], rcond=None)[0]
    )
    count = max(int(WHILE / float(np.median(np.diff(measured.time)))), 1)
    lacking = np.convolve(rest, np.full(count, 1.0 / count), "valid") / measured.size[0]
    worst = int(np.abs(lacking).argmax())
    if abs(share := float(lacking[worst])) > UNSUPPORTED:
        span = float(measured.time[worst]), float(measured.time[worst + count - 1])
        values = {"share": abs(share), "amount": "less" if share > 0.0 else "more", "limit": UNSUPPORTED}
        yield finding("unbalanced.vertical", "warning", values, Where(trial.forces[0].path, times=(span,)))


def _sheared(trial: Trial, measured: BalanceFit, judged: list[int], wider: float = 1.0) -> Iterator[Finding]:
    """Find horizontal forces, or one level channel, of another scale, by parts of the residual (`SHEARS`).

    Residual = sum_k (g_k - 1) times the part of the horizontal forces of plate k, by least squares; the residual is
    correlated over `CORRELATION`. A fit in which all points may lie elsewhere must show it, too.
    """
    known, moved = set[int](), _moved(np.sum(measured.wrench, axis=0))
    effects = np.concatenate([np.stack(measured.shear, axis=2), moved], axis=2) / measured.size[:, None]
    for channel, (rows, *_) in SHEARS.items():
        acts: Mask = np.asarray(effects[:, rows].any(axis=(0, 1)))
        if not judged or not acts[: len(measured.shear)].all():
            return
        part = effects[:, rows][..., acts]
        residual, columns = (measured.residual / measured.size)[:, rows], (len(measured.shear), part.shape[2])
        fits = [Estimate(*covariance(part[..., :n], residual, measured.memory), 0.0) for n in columns]
        for k in (k for k in judged if k not in known):
            plate, needed = trial.forces[k], 1.0 + float(fits[0].size[k])
            foot = f"the {SIDE_NAMES[plate.side]} foot"
            values, again = (
                shear_values(foot, 1.0 + f.size[k], f.deviation[k], channel, wider) for f in fits
            )
            if values is None or again is None:
                continue
            known.add(k)
            gains = [needed if channel in ("horizontal", name) else 1.0 for name in LEVEL]
            repair = change_plate(k, force=plate.force @ (measured.axes.T * [*gains, 1.0]) @ measured.axes)
            yield finding("plate_scale.shear", "warning", values, on_plate(plate), repair)


def _over_strides(trial: Trial, measured: BalanceFit, judged: list[int]) -> Iterator[Finding]:
    """Find a plate that is turned, and by several strides a level force that grows and a clock that wanders.

    Residual force = d(t) dF/dt + sum_k (a_k z x F_k + s_k F_k + (c_k + g_k time) while the foot is on plate k), by
    least squares; the delay d(t) is a straight line and cosines over the recording. For a_k, which a single stride
    shows, d is constant, and c_k and g_k are zero.
    """
    columns = {"delay 0": measured.change[:, :3]}
    for k, wrench in enumerate(measured.wrench):
        columns |= {f"turned {k}": np.cross([0.0, 0.0, 1.0], wrench[:, :3]), f"scale {k}": wrench[:, :3]}
    if whole := [f"turned {k}" for k in judged if measured.begins_and_ends(k)]:
        yield from _shown_twice(trial, measured, columns, whole)[1]
    least = SHORTEST_BALANCE / float(np.median(np.diff(measured.time)))
    lasting = {k: [b - a > least for a, b in true_runs(measured.loaded(k))] for k in judged}
    enough = [k for k in judged if sum(lasting[k]) >= STRIDES]
    if not enough or not measured.channels:
        return
    for k, channels in enumerate(measured.channels):
        for name in LEVEL:
            level = channels[f"added {name}"][:, :3]
            columns |= {f"added {name} {k}": level[..., 0], f"grown {name} {k}": level[..., 1]}
    passed = (measured.time - measured.time[0]) / np.ptp(measured.time)
    count = min(int(np.ptp(measured.time) / HALF_WAVE), MOST_WAVES)
    # a straight line stands for the longest half wave
    waves = np.cos(np.pi * np.outer(passed, np.arange(2, count + 1)))
    for j, wave in enumerate((passed, *waves.T), 1):
        columns[f"delay {j}"] = measured.change[:, :3] * wave[:, None]
    growing = [f"grown {name} {k}" for name in LEVEL for k in enough]
    fits, faults = _shown_twice(trial, measured, columns, growing)
    yield from faults
    last = len(columns) - waves.shape[1]
    wander = float((waves @ fits.size[last:]).std())
    spread = np.einsum("tj,jk,tk->t", waves, fits.covariance[last:, last:], waves)
    if len(judged) == len(trial.forces) and wander > max(WANDERS, UNLIKE_NOISE * np.sqrt(abs(spread.mean()))):
        values = {"size": wander, "limit": WANDERS}
        yield finding("clock_rate.wanders", "warning", values, Where(trial.markers.path))


def _shown_twice(
    trial: Trial, measured: BalanceFit, effects: dict[str, Array], judged: Sequence[str]
) -> tuple[Estimate, list[Finding]]:
    """Estimate effects (T, 3) on the residual force, and accuse the judged ones that are clear in two fits.

    Markers on moving skin imitate a turned plate, and so do masses of segments a part of it: a fit with other masses
    must show it, too.
    """
    parts, residual = np.stack(list(effects.values()), axis=2), measured.residual[:, :3]
    masses = np.stack([effect[:, :3] for effect in measured.segments.values()], axis=2)
    fits, faults = Estimate(*covariance(parts, residual, measured.memory), 0.0), list[Finding]()
    freed, _ = covariance(np.concatenate([parts, masses], axis=2), residual, measured.memory)
    for j, name in enumerate(effects):
        fit = Estimate(fits.size[[j]], fits.covariance[j : j + 1, j : j + 1], 0.0)
        least = max(limit_of(name), STANDARD_ERRORS * fit.deviation[0])
        clear = fit.size[0] * freed[j] > 0.0 and min(abs(fit.size[0]), abs(freed[j])) > least
        if clear and name in judged:
            faults.append(_accused(trial, name, fit, measured.axes))
    return fits, faults


def shear_values(
    foot: str, gain: float, error: float, channel: str, wider: float = 1.0
) -> dict[str, object] | None:
    """The values of a finding on horizontal forces whose balance needs a factor; None where it is usual or unclear."""
    low, high = SHEARS[channel][1] / wider, SHEARS[channel][2] * wider
    beyond = max(low - gain, gain - high) / STANDARD_ERRORS
    if low < gain < high or max(beyond, abs(gain - 1.0) / FROM_ONE) < error:
        return None
    return {"foot": foot, "gain": gain, "error": error, "low": low, "high": high, "channel": channel}


def accusations(sample: Observed, names: list[str]) -> dict[str, Estimate]:
    """Return the errors of plates that are larger and more likely than the errors of sound plates."""
    # A dead channel has no effect of its own.
    errors = {name: sample.terms[name] for name in names if sample.terms[name].effect.any(axis=0).all()}
    fits = {name: sample.fit(name) for name, error in errors.items() if error.prior.max() < FOUND}

    def clear(name: str, fit: Estimate) -> bool:
        size, limit = float(np.linalg.norm(fit.size)), limit_of(name)
        # a short part, or a body that stays in its place as on a treadmill, hardly shows some errors
        least = max(SHOWN * limit, size / CERTAIN.get(name.split()[0], np.inf))
        if size <= limit or not 0.0 <= fit.size @ fit.covariance @ fit.size <= (least * size) ** 2:
            return False
        if name in ("clock", "delay"):
            return float(np.abs(fit.size) @ (1.0 / fit.deviation)) > STANDARD_ERRORS
        evidence = fit.evidence
        if spread := CHANNEL.get(name.rpartition(" ")[0]):
            usual = fit.covariance + spread**2 * np.eye(len(fit.size))
            evidence = 0.5 * float(fit.size @ np.linalg.solve(usual, fit.size))
        if name.startswith("place ") and sample.with_feet:
            ahead, error = abs(fit.size[0]), fit.deviation[0]
            if error < WELL_SHOWN and ahead > AHEAD * np.hypot(error, PLACE):
                return True
        return evidence > EVIDENCE.get(name.split()[0], ALONE)

    return {name: fit for name, fit in fits.items() if clear(name, fit)}


def limit_of(name: str) -> float:
    """The size of a term of the balance from which it is reported."""
    return next(limit for what, limit in LIMITS.items() if name.startswith(what))


def likeliest(fits: dict[str, Estimate]) -> str:
    """Return the name of the error that explains most, one unit less for each parameter (Akaike 1974)."""
    return max(fits, key=lambda key: fits[key].evidence - len(fits[key].size))


def _other_mass(case: Case, sample: Observed, names: list[str], name: str) -> float | None:
    """Return a mass [kg] as likely as the stated one with which no scale of a plate is a fault; None without one.

    The balance compares what each plate carries with the stated mass. Where one carries too little and the other too
    much, the mass decides which of them is accused. The stated one may be off by `STATED_MASS_ERROR`; where plates and
    mass do not fit it may be the one that the plates carry. A greater mass needs more of all that the plates carry.
    """
    scales, stated = [text for text in names if text.startswith("scale")], case.trial.subject.mass
    masses = [stated * (1.0 - STATED_MASS_ERROR), stated * (1.0 + STATED_MASS_ERROR)]
    if case.found("mass") and (required := law(case)) is not None:
        masses.append(carried_mass(case, required)[0])
    (change,) = sample.terms["mass"].effect.T
    for mass in masses:
        fits = accusations(replace(sample, values=sample.values + (mass / stated - 1.0) * change), scales)
        if not fits or likeliest(fits) != name:
            return mass
    return None


def _accused(
    trial: Trial, name: str, fit: Estimate, axes: Array, others: Mapping[str, Estimate] | None = None
) -> Finding:
    """The finding of a term of the balance: an error of one plate, of all, or of the markers.

    axes: of the balance, in the laboratory; others: terms that are as clear.
    """
    what, *rest = name.split()
    if what in ("place", "center"):
        in_laboratory = axes[:2, :2].T
        spread = in_laboratory @ fit.covariance @ in_laboratory.T
        fit = replace(fit, size=in_laboratory @ fit.size, covariance=spread)
    plates = [int(rest[-1])] if rest else list(range(len(trial.forces)))
    plate, first, error = trial.forces[plates[0]], float(fit.size[0]), float(fit.deviation[0])
    where = on_plate(plate) if rest else Where(plate.path if what == "place" else trial.markers.path)
    size, limit = float(np.linalg.norm(fit.size)), limit_of(name)
    values: dict[str, object] = {"size": size, "error": error, "limit": limit}
    code, repair = TABLES["terms"][what], None
    if what == "scale":
        values, factor = _scale_values(trial, name, fit), 1.0 + first
        repair = change_plate(plates[0], force=factor * plate.force, moment=factor * plate.moment)
    elif what == "turned":
        angle, error, limit = np.degrees([first, error, limit])
        direction = "left" if first > 0.0 else "right"
        values = {"angle": abs(angle), "direction": direction, "error": error, "limit": limit}
    elif what == "grown":
        # the residual gains what the force lacks; an even time has a deviation of its length over the root of twelve
        whole = np.sqrt(12.0) * trial.subject.mass * STANDARD_GRAVITY
        values |= {"channel": rest[0], "change": -whole * first}
        values |= {"error": whole * error, "limit": whole * limit}
    elif what == "late":
        values |= {"late": "late" if first > 0.0 else "early", "channel": rest[0]}
        values["others"] = "the other plates" if rest[0] == "whole" else "its other channels"
    elif what == "added":
        # the residual gains what the force lacks
        weight = trial.subject.mass * STANDARD_GRAVITY
        if rest[0] == "turning":
            weight, code = weight * trial.subject.stature, "free_moment.added"
        values |= {"size": weight * size, "limit": weight * limit}
        values |= {"channel": rest[0], "mean": -weight * first, "error": weight * float(fit.deviation.max())}
    elif what == "way":
        values |= {"share": 1.0 / (1.0 + first), "uncertain": error / (1.0 + first) ** 2}
    elif what in ("space", "clock"):
        values |= {"share": abs(first), "rate": 1.0 - first, "size": "large" if first > 0.0 else "small"}
    elif what == "center":
        angle = np.degrees(np.linalg.norm(fit.size) / (CENTER_HEIGHT * trial.subject.stature))
        values |= {"forward": first, "left": fit.size[1], "angle": angle}
    else:
        forward, left = -fit.size
        values |= {"forward": forward, "left": left, "plates": "this plate" if rest else "all plates alike"}
        alike = {n for n, x in (others or {}).items() if fit.evidence - x.evidence < AS_LIKELY} - {name}
        for rival in (x for x in alike if rest and x.startswith("place ")):
            one, other = (SIDE_NAMES[trial.forces[int(x.split()[1])].side] for x in (name, rival))
            where = Where(plate.path)
            values["plates"] = f"the {one} plate, or of the {other} one about as far the other way,"
        values |= {"uncertain_forward": error, "uncertain_left": fit.deviation[1]}
        by = np.array([forward, left, 0.0])
        repair = in_order(*(change_plate(k, point=trial.forces[k].point - by) for k in plates))
    return finding(code, "warning", values, where, repair)


def _scale_values(trial: Trial, name: str, fit: Estimate) -> dict[str, object]:
    """The values of a finding on the scale of a plate: true = (1 + c) measured."""
    factor = 1.0 + float(fit.size[0])
    reads = 1.0 / factor - 1.0
    values: dict[str, object] = {"share": abs(reads), "amount": "little" if reads < 0.0 else "much"}
    values |= {"limit": MISSCALED, "factor": factor, "uncertain": float(fit.deviation[0]) / factor**2}
    return values | {"side": SIDE_NAMES[trial.forces[int(name.split()[1])].side]}


def _reversed_moments(trial: Trial, sample: Observed, judged: list[int]) -> Iterator[Finding]:
    """Find free moments of the wrong sign, the clearest first: of all plates, or of one.

    By the balance the factor on the measured moment is 1 + c, usually `NEEDED` or its opposite; by its time course the
    moment of a walk is normal or reversed. The evidence is the logarithm of the likelihood ratio of the wrong sign to
    the right one; zero where the balance hardly shows it.
    """
    turns = {k: turn for k in judged if (turn := _turn(trial, trial.forces[k])) is not None}
    left = [k for k in judged if sample.terms[f"twist {k}"].effect.any()]
    while left:
        groups = {f"twist {k}": [k] for k in left}
        groups |= {"twist": left} if len(left) == len(trial.forces) > 1 else {}
        fits, evidence = {name: sample.fit(name) for name in groups}, dict.fromkeys(groups, 0.0)
        for name, fit in fits.items():
            seen = [turns[k] for k in groups[name] if k in turns]
            by_course = -2.0 * TURN * float(np.mean(seen)) / TURN_VARIES**2 if seen else 0.0
            # without a reversed time course a motion that needs no free moment accuses none
            needless = by_course <= 0.0 and 1.0 + fit.size[0] > -CLEAR * fit.deviation[0]
            if (by_balance := evidence_of_reversal(fit)) is not None and not needless:
                evidence[name] = by_balance + by_course
        name = max(evidence, key=lambda key: evidence[key])
        if evidence[name] < REVERSED:
            return
        values = {
            "factor": 1.0 + fits[name].size[0],
            "uncertain": fits[name].deviation[0],
            "odds": min(np.exp(evidence[name]), 1000.0),
        }
        for index in groups[name]:
            plate = trial.forces[index]
            repair = change_plate(index, moment=plate.moment * [1.0, 1.0, -1.0])
            yield finding("free_moment", "warning", values, on_plate(plate), repair)
        sample, left = sample.freed(name, FOUND_FACTOR), [k for k in left if k not in groups[name]]


def evidence_of_reversal(fit: Estimate) -> float | None:
    """Return the log likelihood of a factor 1 + c about -`NEEDED` over one about `NEEDED`; None where c is unclear."""
    (correction,), (deviation,) = fit.size, fit.deviation
    if -correction < CLEAR * deviation:
        return None
    return float(-2.0 * NEEDED * (1.0 + correction) / (deviation**2 + FACTOR**2))


def _turn(trial: Trial, plate: PlateForce) -> float | None:
    """Return the free moment amid less early in the whole contacts of a plate, for the right foot, None without one."""
    weight = trial.subject.mass * STANDARD_GRAVITY
    loaded: Mask = plate.force[:, 2] > 0.15 * weight
    sign, turns = 1.0 if plate.side == "r" else -1.0, []
    for first, stop in true_runs(loaded):
        if first > 0 and stop < loaded.size and plate.time[stop - 1] - plate.time[first] > SHORTEST_BALANCE:
            moment, count = sign * plate.moment[first:stop, 2], stop - first
            early, amid = (moment[int(a * count) : int(b * count)].mean() for a, b in (EARLY, AMID))
            turns.append(float(amid - early) / (weight * trial.subject.stature))
    return float(np.mean(turns)) if turns else None


def whitened(values: Array, time: Array, deviation: Array) -> Array:
    """Return series (T, c, ...) as independent samples of variance one: of the first order in time, by component (c,).

    Whitening restarts after a gap between frames.
    """
    scaled = values / deviation.reshape(1, -1, *[1] * (values.ndim - 2))
    phi = np.exp(-np.diff(time) / CORRELATION).reshape(-1, *[1] * (values.ndim - 1))
    white = scaled.copy()
    white[1:] = (scaled[1:] - phi * scaled[:-1]) / np.sqrt(1.0 - phi**2)
    return np.asarray(white.reshape(len(values) * values.shape[1], *values.shape[2:]))


def long_run_variance(series: Array, step: float) -> Array:
    """Return the variance (c,) of series (T, c) as it counts in their sums: with covariances up to `CORRELATION`.

    It does not depend on the step [s] of a smooth series. It is at least the variance, for a jump makes steps that
    cancel.
    """
    memory = min(int(CORRELATION / step + 1e-9), len(series) - 1)
    correlated = np.diag(correlated_products(series, memory)) / len(series)
    return np.asarray(np.maximum(correlated, np.mean(series**2, axis=0)))


def estimate(observed: Array, terms: Sequence[BalanceTerm], free: BalanceTerm) -> Estimate:
    """Estimate one error from observations (N,) of variance one; all other errors follow their priors."""
    weighted = remainder(free.effect, [term for term in terms if term is not free])
    normal, right = free.effect.T @ weighted, weighted.T @ observed
    size, spread = np.linalg.solve(normal, right), np.linalg.inv(normal)
    usual = np.linalg.solve(normal + np.diag(free.prior**-2.0), right)
    return Estimate(np.asarray(size, float), np.asarray(spread, float), 0.5 * float(right @ (size - usual)))


def remainder(observed: Array, terms: Sequence[BalanceTerm]) -> Array:
    """Return the remainder (N, ...) of observations after the best fit of all errors with their priors.

    (1 + L L')^-1 = 1 - L (1 + L' L)^-1 L' times the observations, L the effects of these priors.
    """
    loads = np.concatenate([term.effect * term.prior for term in terms], axis=1)
    shares = np.linalg.solve(np.eye(loads.shape[1]) + loads.T @ loads, loads.T @ observed)
    return np.asarray(observed - loads @ shares)
