"""How time and memory of the dynamics grow with frames and bodies, beside Pinocchio where it is installed.

Pinocchio's recursive Newton-Euler (`pip install pin`) runs on a tree with the same joints, frame by frame, as its
Python interface does. It starts from joint angles and knows neither markers nor constraints: it is what inverse
dynamics alone can cost.
"""

from __future__ import annotations

import tracemalloc
from importlib.util import find_spec

import numpy as np
from rich.table import Table

from benchmarks.routes import swinging
from benchmarks.serial_chains import random_chain
from benchmarks.timing import console, measure
from musclesolve.dynamics import (
    Model,
    Targets,
    differentiate,
    fit_pose,
    human_model,
    joint_loads,
    lagrange_multipliers,
    projected_moments,
)
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.files import Trial


def report(trial: Trial) -> None:
    """Print microseconds a frame for growing numbers of frames, then of bodies."""
    person = trial.subject
    human = human_model(person.mass, person.stature, person.sex)
    table = Table(
        "model",
        "dofs",
        "frames",
        "fit",
        "rates",
        "projection",
        "Newton-Euler",
        "multipliers",
        "Pinocchio",
        "kB/frame",
        title="microseconds a frame (in brackets: times Pinocchio's RNEA)",
    )
    for frames in (100, 1000, 10000):
        table.add_row("human", "44", str(frames), *_row(human, frames))
    for links in (5, 10, 20, 40):
        model = random_chain(links)
        table.add_row(f"{links} links", str(links + 5), "1000", *_row(model, 1000))
    console.print(table)


def _row(model: Model, frames: int) -> list[str]:
    motion = swinging(model, frames)
    names, count = model.topology.coordinate_names, model.topology.point_count
    points = {name: motion.q[:, k] for k, name in enumerate(names[:count])}
    axes = {name: motion.q[:, count + k] for k, name in enumerate(names[count:])}
    targets = Targets.build(model, points, axes)
    repeats = 1 if frames > 2000 else 3
    calls = (
        lambda: fit_pose(model, targets),
        lambda: differentiate(model, motion.time, motion.coordinates),
        lambda: projected_moments(model, motion, []),
        lambda: joint_loads(model, motion, segment_motion(model, motion), []),
        lambda: lagrange_multipliers(model, motion, []),
    )
    times = [1e6 * measure(call, repeats)[0] / frames for call in calls]
    twin = _pinocchio(model, frames)
    cells = [f"{time:.0f}" + (f" ({time / twin:.0f})" if twin else "") for time in times]
    tracemalloc.start()
    fit = fit_pose(model, targets)
    projected_moments(model, differentiate(model, motion.time, fit.coordinates), [])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [*cells, f"{twin:.1f}" if twin else "not installed", f"{peak / frames / 1000:.0f}"]


def _pinocchio(model: Model, frames: int) -> float | None:
    """Microseconds a frame of RNEA on a tree with the same parents; None where it is not installed."""
    if find_spec("pinocchio") is None:
        return None
    import pinocchio

    tree, twin = model.tree, pinocchio.Model()
    joints = {tree.root: twin.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "base")}
    for k, (parent, child) in enumerate(zip(tree.parent, tree.child, strict=True)):
        place = pinocchio.SE3.Random()
        joints[child] = twin.addJoint(joints[parent], pinocchio.JointModelRY(), place, f"joint{k}")
    for joint in joints.values():
        twin.appendBodyToJoint(joint, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    data, rng = twin.createData(), np.random.default_rng(0)
    poses = np.stack(
        [pinocchio.randomConfiguration(twin, -np.ones(twin.nq), np.ones(twin.nq)) for _ in range(50)]
    )
    rates = rng.normal(size=(2, 50, twin.nv))
    few = min(frames, 2000)

    def sweep() -> None:
        for t in range(few):
            pinocchio.rnea(twin, data, poses[t % 50], rates[0, t % 50], rates[1, t % 50])

    return 1e6 * measure(sweep, 2)[0] / few
