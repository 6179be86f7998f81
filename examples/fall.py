"""A person who faints and falls to the ground: contact forces, the blow on the head, and whether to believe it.

One learns how surfaces are put on a body and paired with the floor, how a simulation with contact is run, and which
numbers show that it is right: the balance of energy, and what carries the weight at the end.
"""

import numpy as np

from musclesolve import head_injury_criterion
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


def main() -> None:
    """Somebody of 70 kg sinks down from standing, knees and hips slightly bent, leaning forward by five degrees."""
    model = forward_human_model()
    angles = np.zeros((1, model.tree.joint_count))
    for side in "rl":
        angles[0, model.joint(f"knee_flexion_{side}")] = np.radians(20.0)
        angles[0, model.joint(f"hip_flexion_{side}")] = np.radians(15.0)
    lean = np.radians(5.0)
    turned = np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    q = model.tree.pose(angles, np.array([[0.0, 0.0, 0.91]]), turned[None])[0]

    floor, surfaces = plane("floor", (0, 0, 0), (0, 0, 1)), body_surfaces(model)
    pairs = ContactPairs.build(
        {"person": model}, [floor, *surfaces], pairs_with(floor, surfaces, body_laws(surfaces))
    )
    start = Start(model, q, 0.0 * q, [JointResistance.build(model)])
    fall = simulate_contact({"person": start}, pairs, np.linspace(0.0, 2.0, 1001))

    for name in ("knee_r", "hand_r", "head"):
        hit = next(
            (event for event in fall.events if event.begins and event.pair == f"floor and {name}"), None
        )
        print(
            f"{name:<7} "
            + (f"meets the floor after {hit.time:.2f} s at {hit.speed:.1f} m/s" if hit else "stays up")
        )
    head = fall.motions["person"].qdd[:, model.slot("head_base")] - model.gravity
    print(f"head injury criterion {head_injury_criterion(fall.time, head).value:.0f}")
    print(
        f"energy: {fall.lost[-1]:.0f} J lost in contacts, {abs(fall.imbalance).max():.4f} J unaccounted for"
    )
    carried, weight = fall.force_on("floor")[-100:, 2].mean(), 9.80665 * model.mass.total
    print(f"the floor carries {-carried / weight:.2f} body weights at the end")


if __name__ == "__main__":
    main()
