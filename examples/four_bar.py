"""Motion and forces of a closed loop, a four-bar whose crank turns once in a second.

One learns how rows close a loop of bodies, how a driver prescribes an angle, and which parts of a reaction are
determined.
"""

from pathlib import Path

import numpy as np

from musclesolve.dynamics import (
    AngleDriver,
    MassProperties,
    Model,
    Rigid,
    assemble,
    coincident,
    fixed,
    load_topology,
    mechanism_forces,
)

topology = load_topology(Path(__file__).parent / "four_bar" / "four_bar.toml")
standing = topology.standing_layout()
middle = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.15], [0.45, 0.0, 0.45], [0.95, 0.0, 0.3]])
model = Model(
    topology,
    standing,
    MassProperties(np.array([1.0, 0.5, 1.5, 1.0]), middle, np.tile(0.02 * np.eye(3), (4, 1, 1))),
)

closing = coincident(topology, [("c", "e")])
rows = model.constraints.with_linear(*fixed(topology, standing, ["a", "d", "up", "axis"])).with_linear(
    *closing
)
speed = 2.0 * np.pi  # one revolution in a second
crank = AngleDriver.build(
    topology,
    standing,
    axis=(None, "axis"),
    v=("a", "d"),
    u=("a", "b"),
    course=lambda t: (
        speed * t - np.pi / 2.0,
        speed + 0.0 * t,
        0.0 * t,
    ),  # angle from v to u, its rate, its second derivative
)
kinds = [Rigid(rows), crank]

time = np.linspace(0.0, 1.0, 101)
q = assemble(kinds, time, standing, topology.coordinate_names, driven=True)
forces = mechanism_forces(model, kinds, time, q)
print(forces.of(crank)[:3])  # moment on the crank [N m]
pin = forces.reaction(closing[0], body="rocker", about="e")
print(pin.force[0], pin.unique)  # what the rocker receives [N]; which components are determined
