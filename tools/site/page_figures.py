"""Figures of how-to pages that no command draws: two results over each other, and what the Python of a page saves.

python tools/site/page_figures.py -o FOLDER
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import casadi
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from places import ROOT

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.sharing.cost import ActivationPower


def main(folder: Path) -> None:
    """Draw the figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    two_muscles(page_names("student", "elbow")["elbow"], folder / "two_muscles.png")
    page_names("database_to_forces", "compared", {"activations.png": folder / "one_pose.png"})
    page_names("sharing", "costs", {"forces.png": folder / "squat.png"})
    moment_arms(page_names("symbolic", "chain")["chain"], folder / "moment_arms.png")
    tangents(folder / "tangents.png")

    result = ms.run(reference_stride(), side="r")
    soleus = result.muscle_force.sel(muscle="soleus_r")
    live = ms.apps.live.replay(reference_stride(), lag_ms=25).result.muscle_force.sel(muscle="soleus_r")
    draw(folder / "live.png", "soleus [N]", offline=soleus, live_25_ms_behind=live)

    walk = ms.studies.synthetic_recording(folder / "walk", noise_mm=1.0, truth=False)
    without_plates = written(walk, "without_plates.toml", ('"forces.mot"', '"predicted"'))
    measured, predicted = (
        ms.run(trial, side="r").ground_reaction_force.sel(side="r", axis="z")
        for trial in (walk, without_plates)
    )
    draw(
        folder / "predicted.png", "vertical ground force [N]", with_plates=measured, without_plates=predicted
    )

    problem = ms.leg_problem(result, "r")
    vasti = [number for number, name in enumerate(problem.muscle) if name.startswith("vastus")]

    def alike(activation, force, data):  # cubed activation, and vasti that work together
        mean = casadi.sum1(activation[vasti]) / 3
        return casadi.sum1(activation**3) + casadi.sum1((activation[vasti] - mean) ** 2)

    cost = ms.sharing.expression_cost("alike", alike, convex=True)
    medialis = problem.muscle.index("vastus_medialis_r")
    named, other = (
        soleus.copy(data=ms.solve(problem, each, "ipopt").force[:, medialis])
        for each in ("activation_power", cost)
    )
    draw(folder / "own_cost.png", "vastus medialis [N]", activation_power=named, own_cost=other)

    at_most = ms.sharing.expression_constraint(
        "vasti", lambda activation, force, data: casadi.sum1(force[vasti]), upper=400.0
    )
    free, bounded = (
        soleus.copy(data=ms.sharing.solve_constrained(problem, cost, constraints).force[:, vasti].sum(axis=1))
        for constraints in ([], [at_most])
    )
    draw(folder / "constraint.png", "vasti together [N]", free=free, at_most_400_N=bounded)


def page_names(page: str, wanted: str, kept: Mapping[str, Path] = MappingProxyType({})) -> dict:
    """Run the Python of a page of docs/ until a name is defined: its names. Files that it saves are kept as stated."""
    names: dict = {"__name__": "__main__"}
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    kept = {file: target.resolve() for file, target in kept.items()}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        while wanted not in names:
            exec(compile(blocks.pop(0), page, "exec"), names)
        for file, target in kept.items():
            shutil.copy(file, target)
    return names


def two_muscles(elbow: ms.Problem, file: Path) -> None:
    """Draw the activations of two muscles that produce a moment, the sum of their squares, and optima of four costs."""
    first, second = np.meshgrid(*2 * [np.linspace(0.0, 0.7, 200)])
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    axes.contour(first, second, first**2 + second**2, 12, colors="0.75", linewidths=0.8)
    (biceps, brachialis), moment = (elbow.moment_arm * elbow.force_capacity).ravel(), elbow.moment.item()
    axes.plot(first[0], (moment - biceps * first[0]) / brachialis, "k", label=f"{moment:g} N m")
    costs = {"sum of squared forces": "force_squared"} | {
        f"sum of a to the power {p}": ActivationPower(p) for p in (2, 3, 16)
    }
    for name, cost in costs.items():
        axes.plot(*ms.solve(elbow, cost).activation.reshape(2, 1), "o", label=name)
    axes.set(xlabel="activation of biceps", ylabel="activation of brachialis", xlim=(0, 0.7), ylim=(0, 0.5))
    axes.legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def moment_arms(chain, file: Path) -> None:
    """Draw moment arms at the knee over its flexion, from the function of a chain."""
    knee, degrees = chain.dofs.index("knee_flexion_r"), np.arange(0.0, 121.0, 2.0)
    poses = np.zeros((len(chain.dofs), len(degrees)))
    poses[knee] = np.radians(degrees)
    arms = np.array([np.asarray(chain.moment_arm(pose))[knee] for pose in poses.T]) * 1e3
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for name in ("rectus_femoris_r", "vastus_lateralis_r", "semimembranosus_r", "gastrocnemius_medial_r"):
        axes.plot(degrees, arms[:, chain.muscles.index(name)], label=name[:-2].replace("_", " "))
    axes.set(xlabel="knee flexion [deg]", ylabel="moment arm [mm]")
    axes.legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def tangents(file: Path) -> None:
    """Draw the forces of docs/differentiable.md over the capacity of the first muscle, with exact gradients."""
    grown, places, reach = np.linspace(120.0, 1000.0, 300), np.array([200.0, 350.0, 550.0, 850.0]), 45.0

    def shared(first) -> tuple[ms.Problem, ms.Solution]:
        capacity = np.stack([first, np.full_like(first, 1000.0), np.full_like(first, 600.0)], axis=1)
        problem = ms.Problem(
            np.array([[0.05, 0.03, -0.02]]),
            np.full((len(first), 1), 35.0),
            capacity,
            np.array([800.0, 1000.0, 600.0]),
        )
        return problem, ms.solve(problem, "activation_power")

    forces = shared(grown)[1].force
    problem, solution = shared(places)
    slopes = (
        ms.sharing.solution_derivatives(problem, "activation_power", solution)
        .along(d_force_capacity=[[1.0, 0.0, 0.0]])
        .force
    )
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for number, curve in enumerate(forces.T):
        axes.plot(grown, curve, color=f"C{number}", label=f"muscle {number + 1}")
        for place, force, slope in zip(
            places, solution.force[:, number], slopes[..., number].ravel(), strict=True
        ):
            ends = np.array([-reach, reach])
            axes.plot(place + ends, force + slope * ends, "k", linewidth=2.5, alpha=0.6)
    axes.set(xlabel="capacity of muscle 1 [N]", ylabel="force [N]")
    axes.legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def written(trial: Path, name: str, change: tuple[str, str]) -> Path:
    """Write a changed copy of a trial file beside it."""
    copy = trial.with_name(name)
    copy.write_text(trial.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    return copy


def draw(file: Path, label: str, **curves) -> None:
    """Draw curves over time, by their names."""
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for (name, curve), style in zip(curves.items(), ("C0-", "C1--"), strict=True):
        axes.plot(curve.time, curve, style, label=name.replace("_", " "))
    axes.set(xlabel="time [s]", ylabel=label)
    axes.legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[2]))
