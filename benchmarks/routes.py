"""Do the routes of inverse dynamics agree? On recordings and on random chains.

    python -m benchmarks.routes [TRIAL.toml ...]

The bundled reference stride and the chains are always among them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.serial_chains import random_chain
from benchmarks.timing import console
from musclesolve.data import reference_stride
from musclesolve.dynamics import Model, Wrench, differentiate, forward_human_model, joint_moments_by_route
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.laboratory.forces import mechanics


def cases(trials: list[str]) -> Iterator[tuple[str, Model, Motion, list[Wrench]]]:
    """Names, models, motions and outside forces."""
    for file in trials:
        trial = ms.read_trial(file)
        recorded = mechanics(trial)
        yield trial.subject.name, recorded.model, recorded.motion, recorded.wrenches
    for links in (3, 10, 30):
        model = random_chain(links, seed=links)
        motion = swinging(model)
        yield model.topology.name, model, motion, [pulled(f"link{links - 1}", len(motion.time))]
    model = forward_human_model()
    motion = swinging(model)
    yield "29-degree-of-freedom human", model, motion, [pulled("head", len(motion.time))]


def pulled(body: str, frames: int) -> Wrench:
    """A force and a couple on one body that change from frame to frame."""
    wave = np.sin(np.linspace(0.0, 7.0, frames))[:, None]
    return Wrench(body, wave * [30.0, -10.0, 200.0], wave * [5.0, 20.0, -8.0])


def swinging(model: Model, frames: int = 50) -> Motion:
    """A smooth motion of every degree of freedom."""
    rng = np.random.default_rng(1)
    time = np.linspace(0.0, 1.0, frames)
    phase = rng.uniform(0.0, 2.0 * np.pi, size=len(model.topology.dof_names))
    return differentiate(model, time, 0.4 * np.sin(4.0 * time[:, None] + phase))


def main(trials: list[str]) -> None:
    """Print the largest relative disagreement of every pair of routes."""
    table = None
    for name, model, motion, wrenches in cases([*trials, str(reference_stride())]):
        pairs = joint_moments_by_route(model, motion, wrenches).disagreement()
        if table is None:
            table = Table("case", "frames", "dofs", *(f"{one}\n{other}" for one, other in pairs))
        size = (str(len(motion.time)), str(len(model.topology.dof_names)))
        table.add_row(name, *size, *(f"{value:.0e}" for value in pairs.values()))
    assert table is not None
    console.print(table)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("trials", nargs="*", type=input_file, metavar="TRIAL.toml")
    main([str(path) for path in parser.parse_args().trials])
