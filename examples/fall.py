"""A person falls forward onto the floor: simulated from a model, written as a moving picture.

One learns to give the bodies of a model surfaces, to let them touch a floor, what a simulation with contact returns,
and that `save_picture` draws it as it draws the result of a recording.
"""

import sys
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.dynamics import (
    ContactPairs,
    JointResistance,
    Start,
    body_laws,
    body_surfaces,
    forward_human_model,
    pairs_with,
    plane,
    simulate_contact,
)

LEAN = np.radians(30.0)


def main(folder: Path) -> None:
    """Simulate 0.8 s, print how the head meets the floor, and draw everything."""
    model = forward_human_model()
    floor, surfaces = plane("floor", (0, 0, 0), (0, 0, 1)), body_surfaces(model)
    laws = body_laws(surfaces)
    pairs = ContactPairs.build({"person": model}, [floor, *surfaces], pairs_with(floor, surfaces, laws))

    c, s = np.cos(LEAN), np.sin(LEAN)
    leaning = np.array([[[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]])
    q = model.tree.pose(np.zeros((1, model.tree.joint_count)), np.array([[0.0, 0.0, 0.86]]), leaning)[0]
    start = Start(model, q, 0.0 * q, [JointResistance.build(model)])
    fall = simulate_contact({"person": start}, pairs, np.linspace(0.0, 0.8, 401))

    hit = next(event for event in fall.events if event.begins and event.pair == "floor and head")
    print(f"the head meets the floor after {hit.time:.2f} s at {hit.speed:.1f} m/s")
    ms.save_picture(fall, folder / "fall.html", title="A fall forward")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
