"""A person who falls: seconds, energy balance, the effect of the tolerance, drift of two integrators, and pictures.

    python -m benchmarks.contact [FOLDER]

Stick figures and a moving picture of the fall go to the folder (the working one unless given).
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line, output_folder
from benchmarks.timing import console, measure
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.body_surfaces import SLIP_SPEED, body_laws, body_surfaces, pairs_with
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs
from musclesolve.dynamics.contact.surfaces import plane
from musclesolve.dynamics.forward.accelerations import direct
from musclesolve.dynamics.forward.contact_simulation import (
    EXTRA,
    ContactSimulation,
    Start,
    World,
    simulate_contact,
)
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.forward.simulate import Integration, Simulation, System, simulate
from musclesolve.dynamics.model.human_model import forward_human_model
from musclesolve.dynamics.model.joint_and_body_constraints import fixed
from musclesolve.dynamics.model.model import Model
from musclesolve.report.picture.save_picture import save_picture

FLOOR = plane("floor", (0, 0, 0), (0, 0, 1))
LINES = (
    *(("head_top", "head_base"), ("head_base", "neck_base"), ("neck_base", "back"), ("back", "mid")),
    *(("shoulder_r", "shoulder_l"), ("hip_r", "hip_l")),
    *((f"{a}_{side}", f"{b}_{side}") for side in "rl" for a, b in (("shoulder", "elbow"), ("elbow", "hand"))),
    *((f"{a}_{side}", f"{b}_{side}") for side in "rl" for a, b in (("hip", "knee"), ("knee", "foot"))),
)


def bent_person(model: Model, angles: dict[str, float], lean: float) -> Array:
    """Positions (N, 3) with joint angles [deg], both sides alike, leaning forward [deg]; the hips at the origin."""
    joints = np.zeros((1, model.tree.joint_count))
    for name, degrees in angles.items():
        for side in "rl":
            joints[0, model.joint(f"{name}_{side}")] = np.radians(degrees)
    c, s = np.cos(np.radians(lean)), np.sin(np.radians(lean))
    turned = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return model.tree.pose(joints, np.zeros((1, 3)), turned[None])[0]


def person_on_floor(slip_speed: float = SLIP_SPEED) -> tuple[Start, ContactPairs]:
    """A person with slightly bent knees who leans forward, two millimeters above the floor."""
    model = forward_human_model()
    q = bent_person(model, {"knee_flexion": 20.0, "hip_flexion": 15.0}, 5.0)
    surfaces = body_surfaces(model)
    laws = body_laws(surfaces, slip_speed=slip_speed)
    pairs = ContactPairs.build({"person": model}, [FLOOR, *surfaces], pairs_with(FLOOR, surfaces, laws))
    gap = pairs.gaps(BodyStates.from_models([model], [(q, 0.0 * q)])).min()
    q[: model.topology.point_count, 2] += 0.002 - gap
    return Start(model, q, 0.0 * q, [JointResistance.build(model)]), pairs


def main(folder: Path) -> None:
    """Print all tables and draw the fall into a folder."""
    start, pairs = person_on_floor()
    simulate_contact({"person": start}, pairs, 0.01)  # compiles
    run = falls()
    evaluations()
    drifts()
    draw(run, folder / "fall.png")
    save_picture(person_falling(), folder / "fall.html", title="Collapse")
    console.print(f"moving picture: {folder / 'fall.html'}")


def person_falling() -> ContactSimulation:
    """The fall in so many frames that a slow picture of it runs smoothly."""
    start, pairs = person_on_floor()
    return simulate_contact({"person": start}, pairs, np.linspace(0.0, 1.5, 601))


def falls() -> ContactSimulation:
    """The fall with several tolerances, steppers and slip speeds."""
    table = Table(*("slip speed, stepper, tolerance", "seconds", "steps", "evaluations", "events", "drift"))
    for name in ("imbalance / lost", "head at the end, x and z [m]"):
        table.add_column(name)
    cases = [(SLIP_SPEED, "rk45", tolerance) for tolerance in (1e-5, 1e-6, 1e-7, 1e-8)]
    cases += [(SLIP_SPEED, "dop853", 1e-6), (0.01, "rk45", 1e-6), (0.1, "rk45", 1e-6)]
    kept = None
    for slip, name, tolerance in cases:
        start, pairs = person_on_floor(slip)
        begin = time.perf_counter()
        run = simulate_contact({"person": start}, pairs, 1.5, Integration(tolerance=tolerance, stepper=name))
        seconds, fall = time.perf_counter() - begin, run.motions["person"]
        head = fall.q[-1, start.model.slot("head_top")]
        balance = np.abs(run.imbalance).max() / run.lost[-1]
        table.add_row(
            *(f"{slip:g} {name} {tolerance:g}", f"{seconds:.2f}", str(fall.steps), str(fall.evaluations)),
            *(str(len(run.events)), f"{fall.drift:.1e}", f"{balance:.1e}", f"{head[0]:.4f} {head[2]:.4f}"),
        )
        kept = run if (slip, name, tolerance) == (SLIP_SPEED, "rk45", 1e-6) else kept
    console.print(table)
    assert kept is not None
    return kept


def evaluations() -> None:
    """One evaluation of joint resistance and of accelerations, compiled and plain."""
    start, pairs = person_on_floor()
    model, q, qd, resist = start.model, start.q, start.qd, JointResistance.build(start.model)
    system = System(model, model.constraints, (), "augmented_lagrangian")
    world = World({"person": System(model, model.constraints, (resist,), "augmented_lagrangian")}, pairs)
    rows, mass, force = model.constraints, system.masses(q)[0], system.own_force(q, qd).ravel()
    state = np.concatenate([q.ravel(), qd.ravel(), np.zeros(EXTRA)])
    approach, touching = np.full(26, 1.0), np.ones(26, bool)

    def plain_resistance() -> Array:
        couples = resist.couples
        return couples.force(q[None], resist.moments(q[None], qd[None])) + couples.body_force(
            q[None], resist.cone_couples(q[None])
        )

    def plain_accelerations() -> Array:
        jacobian = rows.jacobian(q[None])[0].reshape(len(rows.names), -1)
        right = rows.gamma(qd[None])[0] - 100.0 * rows.value(q[None])[0]
        return direct(mass, jacobian, force, right).qdd

    time, table = np.zeros(1), Table("evaluation", "plain [us]", "compiled [us]", "ratio")
    for name, old, new in (
        ("joint resistance", plain_resistance, lambda: resist(time, q[None], qd[None])),
        ("accelerations", plain_accelerations, lambda: system.accelerations(0.0, q, qd, polished=False)),
    ):
        before, after = (1e6 * measure(call).best for call in (old, new))
        table.add_row(name, f"{before:.0f}", f"{after:.0f}", f"{before / after:.1f}")
    whole = 1e6 * measure(lambda: world.derivative(0.0, state, approach, touching)).best
    table.add_row("all of a step's stage, 26 pairs", "", f"{whole:.0f}", "")
    console.print(table)


def drifts() -> None:
    """Constraint errors over two seconds: Adams' method with the source's stabilization alone, and with projection."""
    table = Table(
        "motion", "tolerance", "Adams, stabilized [m or 1]", "projected, before / after", "evaluations"
    )
    for name, start, held in _motions():
        rows = start.model.constraints
        if held:
            rows = rows.with_linear(*fixed(start.model.topology, start.q, held))
        system = System(start.model, rows, tuple(start.forces), "augmented_lagrangian")
        for tolerance in (1e-4, 1e-6, 1e-8):
            worst, count = adams_drift(system, start, tolerance)
            how = Integration(tolerance=tolerance, stepper="rk45")
            ours: Simulation = simulate(
                start.model, start.q, start.qd, 2.0, start.forces, held=held, integration=how
            )
            both = f"{ours.drift:.1e} / {ours.violation.max():.1e}"
            table.add_row(name, f"{tolerance:g}", f"{worst:.1e}", both, f"{count} / {ours.evaluations}")
    console.print(table)


def _motions() -> list[tuple[str, Start, tuple[str, ...]]]:
    """A free fall with turning joints, and a swing by the hips, both without joint resistance."""
    model = forward_human_model()
    q = bent_person(model, {"knee_flexion": 40.0, "hip_flexion": 60.0, "elbow_flexion": 50.0}, 20.0)
    speeds = np.concatenate([np.sin(np.arange(model.tree.joint_count)), [0.0, 0.0, 1.0, 0.5, 3.0, 0.2]])
    directions = model.tree.allowed(q[None], np.zeros((1, 3)))[0]
    moving = Start(model, q, directions @ (3.0 * speeds))
    return [("free fall", moving, ()), ("swing by the hips", Start(model, q, 0.0 * q), ("hip_r", "hip_l"))]


def adams_drift(system: System, start: Start, tolerance: float) -> tuple[float, int]:
    """Worst constraint error over two seconds with the variable-order Adams method, and evaluations."""
    from scipy.integrate import ode

    count, worst = 0, 0.0

    def rate(time: float, state: Array) -> Array:
        nonlocal count
        count += 1
        return system.derivative(time, state)

    solver = ode(rate).set_integrator("vode", method="adams", rtol=tolerance, atol=tolerance, nsteps=100_000)
    solver.set_initial_value(system.checked_start(start.q, start.qd), 0.0)
    for at in np.linspace(0.02, 2.0, 100):
        state = solver.integrate(at)
        worst = max(worst, system.violation(state.reshape(2, -1, 3)[0]))
    return worst, count


def draw(run: ContactSimulation, file: Path) -> None:
    """Stick figures of the fall from the side, six of them side by side."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    (motion,) = run.motions.values()
    figure, panels = plt.subplots(1, 6, figsize=(14, 4), sharey=True)
    for panel, k in zip(panels, np.linspace(0, len(run.time) - 1, 6).astype(int), strict=True):
        where = dict(zip(motion.model.topology.coordinate_names, motion.q[k], strict=True))
        where["mid"] = 0.5 * (where["hip_r"] + where["hip_l"])
        for one, other in LINES:
            pair = np.array([where[one], where[other]])
            color = "tab:red" if one.endswith("_r") else "tab:blue"
            panel.plot(pair[:, 0], pair[:, 2], color=color, linewidth=2)
        pressed = np.flatnonzero(run.depth[k] > 0.0)
        panel.plot(run.point[k, pressed, 0], run.point[k, pressed, 2], "k.")
        panel.axhline(0.0, color="gray")
        panel.set(title=f"{run.time[k]:.2f} s", aspect="equal", xlim=(-1.3, 1.0), ylim=(-0.1, 1.8))
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)
    console.print(f"picture of the fall: {file}")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=output_folder, default=".", metavar="FOLDER")
    main(parser.parse_args().folder)
