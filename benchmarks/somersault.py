"""A back somersault on a trampoline, and the reactions in the joints of the legs (Blajer & Czaplicki 2005, figure 2).

The source measured a somersault in the pike position. It prints neither motion nor forces of it, and says that the feet
are on the bed from 0 to 0.4 s, that the joints bear most then, and that the vertical reaction drops from ankle to hip.
This one is made: the seven-segment body bends its joints as `POSES` says, and the motion of the trunk follows from the
equations of motion (2.9) under gravity and the force of the bed. What the source does not print is chosen: the poses
and when they are taken, the body (seven_segment.toml), the speed at which the feet meet the bed, and the bed: elastic,
its force proportional to the depth and toward a place above its middle,

    R = k d (-u / w, 1)         d depth, u horizontal distance of the feet from the middle, w = `CENTERING`.

Three numbers are found (Powell's hybrid method) so that it is the somersault of the text: k for a support of 0.4 s, the
lean at the first touch for a whole turn at the landing, and the horizontal velocity for a landing on the same place.

Then everything is as with a measured motion: coordinates over time are differentiated, and lambda = E^T (h - M (D qdd +
gamma)) (2.10). The figure is 2005.2 of `benchmarks.thesis_figures`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.interpolate import BPoly
from scipy.optimize import root

from benchmarks.thesis_figures.drawing import COLORS, key, panels
from musclesolve._util.arrays import Array
from musclesolve.dynamics.planar import Load, PlanarMotion, PlanarTree, Support, joint_reactions, planar_body
from musclesolve.dynamics.planar.planar_dynamics import equations, load_force, support_position
from musclesolve.dynamics.planar.planar_tree import place
from musclesolve.plotting.page.page_style import SMALL, TEXT
from musclesolve.plotting.page.sheet import heading

POSES = (  # time [s]; flexion of hip, knee; dorsiflexion; flexion of shoulder, elbow; extension of the neck [deg]
    (0.00, 15.0, 15.0, 0.0, 100.0, 10.0, 0.0),
    (0.18, 35.0, 45.0, 15.0, 60.0, 10.0, 0.0),
    (0.40, 0.0, 0.0, -30.0, 170.0, 5.0, 10.0),
    (0.75, 120.0, 0.0, -40.0, 60.0, 5.0, -20.0),
    (1.10, 120.0, 0.0, -40.0, 60.0, 5.0, -20.0),
    (1.50, 15.0, 15.0, 0.0, 100.0, 10.0, 0.0),
)
"""Between them joints move by polynomials of degree seven, at rest in each: the pike is taken and left in flight."""
SENSE = np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
"""Of the angles of `POSES`, counter-clockwise positive seen from the right."""
SPEED = 6.5
"""At which the feet meet the bed [m/s]: a fall from 2.2 m."""
SUPPORT = 0.4
"""How long the feet are on the bed [s]: printed."""
CENTERING = 1.0
"""Of the bed [m]: half of its width of 2.14 m, roughly."""
SOLE = np.array([0.05, -0.066])
"""Where the bed acts on the foot, in its frame [m]: between heel and toe."""
GUESS = np.array([5.91, -0.173, -0.883])
"""Stiffness [kN/m], lean [rad], horizontal velocity [m/s]: where the search for them begins, near its end."""
TOLERANCE = 1e-8
FRAMES_HZ = 1000.0
APART = 1.2
"""Distance between the figures of the picture, beside the way that they travel [m]."""
JOINTS = {"ankle": 2, "knee": 1, "hip": 0}


@dataclass(frozen=True)
class Jumper:
    """A planar body whose joints move as prescribed, on a bed of a stiffness k [N/m]."""

    tree: PlanarTree
    bends: BPoly
    stiffness: float

    @property
    def sole(self) -> Support:
        """The point of the foot on which the bed acts."""
        return Support("foot", SOLE, "foot")

    def coordinates(self, time: Array, base: Array) -> tuple[Array, Array]:
        """q, qd (T, B+2) of the base point and the trunk's turn, with their rates, (T, 6)."""
        spread = self.tree.distal_segments[:, self.tree.joints].T
        q, qd = np.empty((2, len(time), len(self.tree.names) + 2))
        q[:, :2], qd[:, :2] = base[:, :2], base[:, 3:5]
        q[:, 2:] = self.tree.rest + base[:, 2:3] + self.bends(time) @ spread
        qd[:, 2:] = base[:, 5:6] + self.bends(time, 1) @ spread
        return q, qd

    def bed(self, q: Array) -> Load:
        """Force of the bed, whose middle is the origin; zero above it."""
        place = support_position(self.tree, q, self.sole)[:, :2]
        up = self.stiffness * np.maximum(-place[:, 1], 0.0)
        return Load.at(
            "foot", up[:, None] * np.column_stack([-place[:, 0] / CENTERING, np.ones(len(q))]), place
        )

    def accelerations(self, time: Array, base: Array) -> Array:
        """Accelerations qdd (T, B+2): the three equations of (2.9) without joints give the base."""
        q, qd = self.coordinates(time, base)
        tree, system = self.tree, equations(self.tree, q, qd)
        qdd = np.zeros_like(q)
        qdd[:, 2:] = self.bends(time, 2) @ tree.distal_segments[:, tree.joints].T
        whole = np.zeros((q.shape[1], 3))  # all segments move with the base
        whole[0, 0] = whole[1, 1] = 1.0
        whole[2:, 2] = 1.0
        force = system.project(load_force(tree, place(tree, q), [self.bed(q)])) + system.weight - system.bias
        missing = force - np.einsum("tij,tj->ti", system.mass, qdd)
        base_mass = whole.T @ system.mass @ whole
        return qdd + np.linalg.solve(base_mass, (missing @ whole)[..., None])[..., 0] @ whole.T


@dataclass(frozen=True)
class Somersault:
    """Motion over time (T,) from first touch to landing, force of the bed, and when the feet leave it [s]."""

    jumper: Jumper
    time: Array
    motion: PlanarMotion
    bed: Load
    take_off: float

    def reactions(self, motion: PlanarMotion | None = None) -> Array:
        """Force of the distal on the proximal segment in the joints, (T, J, 2) [N] (2.10)."""
        tree, motion = self.jumper.tree, motion or self.motion
        force = load_force(tree, place(tree, motion.q), [self.bed])
        return joint_reactions(tree, motion, force).reshape(len(motion.q), -1, 2)

    def largest(self, on_bed: bool, axis: int) -> list[float]:
        """Largest horizontal (0) or vertical (1) reactions of ankle, knee and hip in a phase [body weights]."""
        phase, tree = (self.time <= self.take_off) == on_bed, self.jumper.tree
        largest = np.abs(self.reactions()[phase, :, axis]).max(axis=0) / (tree.mass.sum() * tree.gravity)
        return [float(largest[number]) for number in JOINTS.values()]


def jump(tree: PlanarTree, guess: Array) -> tuple[Jumper, list]:
    """Support and flight from the first touch on, as solutions of `solve_ivp`, for stiffness, lean and velocity."""
    poses = np.array([*POSES, (10.0, *POSES[-1][1:])])  # the last one is kept
    angles = SENSE * np.radians(poses[:, 1:])
    still = np.zeros_like(angles)
    bends = BPoly.from_derivatives(poses[:, 0], np.stack([angles, still, still, still], axis=1))
    jumper = Jumper(tree, bends, 1e3 * guess[0])

    def rates(time: float, base: Array) -> Array:
        return np.concatenate([base[3:], jumper.accelerations(np.array([time]), base[None])[0, :3]])

    def height(time: float, base: Array) -> float:
        q, _ = jumper.coordinates(np.array([time]), base[None])
        return float(support_position(tree, q, jumper.sole)[0, 1])

    start = np.array([0.0, 0.0, guess[1], guess[2], -SPEED, 0.0])
    q, _ = jumper.coordinates(np.zeros(1), start[None])
    start[:2] = -support_position(tree, q, jumper.sole)[0, :2]
    phases, now = [], 0.0
    for direction in (1.0, -1.0):
        height.terminal, height.direction = True, direction
        phases.append(
            solve_ivp(
                rates,
                (now, now + 5.0),
                start,
                "DOP853",
                events=height,
                dense_output=True,
                rtol=TOLERANCE,
                atol=TOLERANCE,
            )
        )
        now, start = phases[-1].t[-1], phases[-1].y[:, -1]
    return jumper, phases


def somersault(tree: PlanarTree | None = None) -> Somersault:
    """The somersault of the text: a support of 0.4 s, a whole turn, a landing where it began."""
    tree = planar_body("seven_segment") if tree is None else tree

    def missed(guess: Array) -> Array:
        jumper, (support, flight) = jump(tree, guess)
        end = jumper.coordinates(flight.t[-1:], flight.y[:, -1:].T)[0]
        landing = support_position(tree, end, jumper.sole)[0, 0]
        return np.array([support.t[-1] - SUPPORT, flight.y[2, -1] - guess[1] - 2.0 * np.pi, landing])

    found = root(missed, GUESS, options={"eps": 1e-8, "factor": 0.1})
    assert np.abs(found.fun).max() < 1e-6, found.message
    jumper, (support, flight) = jump(tree, found.x)
    time = np.arange(0.0, flight.t[-1], 1.0 / FRAMES_HZ)
    on_bed = time <= support.t[-1]
    base = np.concatenate([support.sol(time[on_bed]).T, flight.sol(time[~on_bed]).T])
    q, qd = jumper.coordinates(time, base)
    return Somersault(
        jumper, time, PlanarMotion(q, qd, jumper.accelerations(time, base)), jumper.bed(q), support.t[-1]
    )


def picture(run: Somersault) -> Figure:
    """The motion, and horizontal and vertical reactions over time (figure 2 of the source)."""
    figure, axes = panels(None, "Back somersault on a trampoline: reactions in the leg", 3, 1, 0.8)
    motion, *curves = axes[:, 0]
    for k, frame in enumerate(np.linspace(0, len(run.time) - 1, 12).astype(int)):
        for line in _lines(run.jumper.tree, run.motion.q[[frame]]):
            motion.plot(*(line + np.array([APART * k, 0.0])).T, color=COLORS[0], linewidth=1.3)
        motion.text(APART * k, -1.05, f"{run.time[frame]:.2f} s", ha="center", fontsize=SMALL)
    motion.axhline(0.0, color="black", linewidth=0.4)
    motion.set(aspect="equal", xticks=[], ylim=(-1.2, 4.2))
    motion.set_ylabel("above the bed [m]", fontsize=TEXT)
    heading(motion, f"motion, the figures {APART:g} m apart beside the way that they travel")
    reaction = run.reactions()
    for panel, axis, way in zip(curves, (0, 1), ("horizontal", "vertical"), strict=True):
        for color, (joint, number) in zip(COLORS, JOINTS.items(), strict=False):
            panel.plot(run.time, reaction[:, number, axis], color=color, linewidth=1.0, label=joint)
        panel.axvspan(0.0, run.take_off, color="0.92", linewidth=0.0)
        panel.set_xlim(0.0, run.time[-1])
        panel.set_ylabel("[N]", fontsize=TEXT)
        heading(panel, f"{way} reaction; gray: on the bed")
    key(curves[1])
    curves[0].tick_params(labelbottom=False)
    curves[1].set_xlabel("time [s]", fontsize=TEXT)
    return figure


def _lines(tree: PlanarTree, q: Array) -> list[Array]:
    """Trunk and head, leg with foot, and arm as lines (P, 2) of one frame."""

    def at(segment: str, xi: float, eta: float = 0.0) -> Array:
        return support_position(tree, q, Support(segment, np.array([xi, eta]), segment))[0, :2]

    foot = [at("foot", 0.17, -0.066), at("foot", -0.087, -0.066)]
    ends = tree.mount[:, 0]
    shoulder, neck = ends[tree.segment("upper_arm")], ends[tree.segment("head")]
    return [
        np.array([at("trunk", 0.0), at("trunk", neck), at("head", -0.24)]),
        np.array([at("thigh", 0.0), at("shank", 0.0), at("foot", 0.0), *foot, at("foot", 0.0)]),
        np.array([at("trunk", shoulder), at("forearm", 0.0), at("forearm", 0.4)]),
    ]
