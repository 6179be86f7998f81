"""A person who faints and falls: simulated from a model, the blow on the head, and a moving picture of it.

One learns how the bodies of a model get surfaces and touch a floor, which numbers show that the simulation is right
(the balance of energy, what carries the weight at the end), and that `save_picture` draws it like a recording.
"""

import sys
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve import dynamics as dy


def main(folder: Path) -> None:
    """Somebody of 70 kg sinks down from standing, knees and hips slightly bent, leaning forward by five degrees."""
    model = dy.forward_human_model()
    angles = np.zeros((1, model.tree.joint_count))
    for side in "rl":
        angles[0, model.joint(f"knee_flexion_{side}")] = np.radians(20.0)
        angles[0, model.joint(f"hip_flexion_{side}")] = np.radians(15.0)
    c, s = np.cos(np.radians(5.0)), np.sin(np.radians(5.0))
    leaning = np.array([[[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]])
    q = model.tree.pose(angles, np.array([[0.0, 0.0, 0.91]]), leaning)[0]

    floor, surfaces = dy.Surface.plane("floor", (0, 0, 0), (0, 0, 1)), dy.body_surfaces(model)
    touching = floor.pairs_with(surfaces, dy.body_laws(surfaces))
    pairs = dy.ContactPairs.build({"person": model}, [floor, *surfaces], touching)
    start = dy.Start(model, q, 0.0 * q, [dy.JointResistance.build(model)])
    fall = dy.simulate_contact({"person": start}, pairs, np.linspace(0.0, 2.0, 1001))

    for name in ("knee_r", "head"):
        hit = next(event for event in fall.events if event.begins and event.pair == f"floor and {name}")
        print(f"{name:<7} meets the floor after {hit.time:.2f} s at {hit.speed:.1f} m/s")
    head = fall.motions["person"].qdd[:, model.slot("head_base")] - model.gravity
    print(f"head injury criterion {ms.laboratory.head_injury_criterion(fall.time, head).value:.0f}")
    lost, missing = fall.lost[-1], np.abs(fall.imbalance).max()
    print(f"energy: {lost:.0f} J lost in contacts, {missing:.4f} J unaccounted for")
    carried, weight = fall.force_on("floor")[-100:, 2].mean(), 9.80665 * model.mass.total
    print(f"the floor carries {-carried / weight:.2f} body weights at the end")
    ms.laboratory.save_picture(fall, folder / "fall.html", title="A fall")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
