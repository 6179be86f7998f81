"""A predicted motion: the highest squat jump of a body of four segments, eight muscles and a smooth ground.

One learns how a goal, limits and contacts state a motion without recording, why the error between the frames decides
whether it is one, and how to check it: momentum and energy. The leg of `opensim_model` carries half a body here.
"""

from pathlib import Path

import casadi
import numpy as np

import musclesolve as ms

G = 9.80665
names = ("tilt", "forward", "height")
planar = "".join(f'<Coordinate name="{n}"><range>-2 2</range></Coordinate>' for n in names)
text = (Path(__file__).parent / "opensim_model" / "leg.osim").read_text(encoding="utf-8")
for old, new in (
    (
        '<WeldJoint name="ground_pelvis">',
        f'<PlanarJoint name="ground_pelvis"><coordinates>{planar}</coordinates>',
    ),
    ("</WeldJoint>", "</PlanarJoint>"),
    ("<mass>11</mass><mass_center>0 0.05 0", "<mass>24</mass><mass_center>0 0.3 0"),  # trunk, arms and head
    ("<inertia>0.1 0.1 0.1", "<inertia>1.2 0.1 1.2"),
):
    text = text.replace(old, new)
Path("jumper.osim").write_text(text, encoding="utf-8")

model = ms.read_osim("jumper.osim")
body, muscles = ms.symbolic.skeleton(model, loads=["foot_r"]), ms.symbolic.muscle_chain(model)
contacts = [
    ms.symbolic.SmoothContact("foot_r", (x, -0.07, 0.0), up="y") for x in (-0.05, 0.16)
]  # heel and ball


def minus_height(frame):
    """The apex of the mass center is at y + v^2 / 2 g; 100 for each meter."""
    place, velocity = body.mass_center(frame.q, frame.qd)
    return -100.0 * (place[1] + casadi.fmax(velocity[1], 0.0) * velocity[1] / (2.0 * G))


def jump(freedom: float, **options):
    """The jump within limits of rates and accelerations; q is tilt, forward, height, hip, knee, ankle [rad, m]."""
    low, high = [-1.2, -0.3, -0.6, -0.5, -2.1, -0.7], [0.4, 0.3, 0.6 * freedom, 2.0, -0.02, 0.6]
    limits = {name: (-size * freedom, size * freedom) for name, size in (("qd", 15.0), ("qdd", 400.0))}
    effort, crouch = (
        [lambda frame: 0.1 * casadi.sumsqr(frame.activation)],
        [-0.5, 0.0, -0.185, 1.2, -1.3, 0.6],
    )
    return ms.symbolic.predicted_motion(body, 0.5, muscles, contacts, minus_height, crouch,
                                        {"q": (low, high), **limits}, costs=effort, **options)  # fmt: skip


for title, found in (
    ("next to no limits", jump(100.0, jerk=1e6, meshes=[16], largest_error=15.0)),
    ("limits", jump(1.0, meshes=[16, 31, 61], largest_error=15.0)),
):
    for mesh in found.meshes:
        print(f"{title}, {mesh.frames} frames: apex {-mesh.goal / 100:.3f} m, equations missed by "
              f"{mesh.in_frames:.0e} in the frames, by {mesh.between_frames:.3g} N m or N between")  # fmt: skip
    try:
        motion = found.motion
    except ms.InputError as refusal:
        print(f"no result: {refusal}")

# The mass center leaves at the speed that the impulse gives, and muscles and ground supply the energy
mass, frames = sum(each.mass for each in model.masses.values()), range(len(motion.time))
place, speed = (
    np.array(x)[1] for x in body.mass_center.map(len(frames))(motion.coordinates.T, motion.rates.T)
)
impulse = np.trapezoid(found.contact_force[:, :, 1].sum(axis=1) / mass - G, motion.time)
print(
    f"take-off at {speed[-1]:.3f} m/s, impulse over mass {impulse:.3f} m/s: {speed[-1] ** 2 / 2 / G:.3f} m of flight"
)
rates = motion.rates
kinetic = [0.5 * rates[k] @ np.array(body.mass(motion.coordinates[k])) @ rates[k] for k in frames]
gained = kinetic[-1] - kinetic[0] + mass * G * (place[-1] - place[0])
power = (
    (motion.moment * rates)[:, 3:].sum(axis=1),
    (found.contact_force * found.contact_velocity).sum(axis=(1, 2)),
)
work = [np.trapezoid(each, motion.time) for each in power]
print(f"energy gained {gained:.1f} J, work of muscles {work[0]:.1f} J and of the ground {work[1]:.1f} J")
