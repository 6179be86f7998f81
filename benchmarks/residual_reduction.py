"""Changes by the reduction of the residual, on recordings and beside a known truth.

python -m benchmarks.residual_reduction [TRIAL.toml ...]
python -m benchmarks.residual_reduction MODEL.osim COORDINATES LOADS ...

For each trial, with `residual = "kept"` and "reduced" in [consistency]: root mean square and peak over the frames of
the force and moment that the motion lacks at the pelvis [N, N m], how far points were moved [mm], the body mass that
would balance the forces [kg], root mean square of the change of joint moments (both legs) [N m], and, of the walks with
an instrumented knee, the rms error of the knee force [body weights].

For each OpenSim model, with its coordinates and loads: the same without the knee force; the largest change of any angle
[degrees] instead.

Without trials: synthetic walks with planted errors, whose true joint moments are known: markers that slide with the
stride (5 mm), markers with white noise (3 mm), a trunk that is 15 % too heavy at the cost of the rest, and none. Root
mean square errors of joint moments over the stride, both legs.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.instrumented_knee import WALKS, Agreement
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.forces import mechanics, recording_of
from musclesolve.opensim.read_model import read_osim
from musclesolve.pipeline.mechanics import Mechanics
from musclesolve.pipeline.opensim.model_body import model_body, model_settings
from musclesolve.recording.data import SIDES, SegmentValues, Trial
from musclesolve.settings.trial import REDUCED
from musclesolve.synthetic.reference_stride import reference_stride
from musclesolve.synthetic.synthetic_recording import synthetic_recording

JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")
SHORT = ("hip flexion", "adduction", "knee", "ankle")
HEAVIER = {"lower_torso": 1.15, "upper_torso": 1.15}


def rms(values: Array) -> float:
    """Root mean square of the lengths of vectors (T, 3), or of values (T,)."""
    return float(np.sqrt(np.mean(np.sum(values.reshape(len(values), -1) ** 2, axis=1))))


def sizes(residual: Array) -> str:
    """Root mean square and peak of the vectors (T, 3) where they are known."""
    known = residual[np.isfinite(residual).all(axis=1)]
    return f"{rms(known):.0f}, {np.linalg.norm(known, axis=1).max():.0f}"


def report_trials(files: list[str]) -> None:
    """Print what the reduction does to recordings."""
    shown = Table("trial", "force", "reduced", "moment", "reduced", "moved", "mass", *SHORT, "knee force")
    for file in files:
        trial = recording_of(file, "this comparison")
        kept, reduced = ms.run(trial), ms.run(trial, residual=REDUCED)
        before, after = (each["pelvis_residual"].values for each in (kept, reduced))
        change = (reduced["joint_moment"] - kept["joint_moment"]).to_series().dropna()
        moved = reduced["motion_change"].values
        stem = trial.path.stem
        walk = next((name for name in WALKS if stem.endswith(f"_{name}")), None)
        errors = [Agreement.from_result(each, walk).rms for each in (kept, reduced)] if walk else []
        by_dof = change.unstack("dof")
        shown.add_row(
            f"{trial.path.parent.name}/{trial.path.stem}",
            *(sizes(each[:, part]) for part in (slice(3), slice(3, 6)) for each in (before, after)),
            f"{1e3 * np.sqrt(np.mean(moved**2)):.1f}, {1e3 * reduced.attrs['largest_motion_change_m']:.0f}",
            f"{reduced.attrs['mass_balancing_forces_kg']:.1f}",
            *(
                f"{np.sqrt(np.nanmean(by_dof[[f'{joint}_{side}' for side in SIDES]].values ** 2)):.1f}"
                for joint in JOINTS
            ),
            " to ".join(f"{error:.3f}" for error in errors),
        )
    console.print(shown)


def report_models(files: list[str]) -> None:
    """Print what the reduction does to models, with coordinates and loads each."""
    shown = Table("coordinates", "force", "reduced", "moment", "reduced", "moved", "mass", "angles", *SHORT)
    for file, coordinates, loads in zip(files[::3], files[1::3], files[2::3], strict=True):
        model = read_osim(file)
        moments = {}
        for residual in ("kept", REDUCED):
            body = model_body(model, coordinates, None, model_settings(loads=loads, residual=residual))
            moments[residual] = dict(zip(body.dofs, body.moment.T, strict=True))
        assert body.change is not None and body.dynamics is not None
        before = body.change.before
        known = np.isfinite(before.dynamics.root_residual)
        lacking = [each.lacking()[known] for each in (before, replace(before, motion=body.motion))]
        angles = [name for name in before.free if model.coordinates[name].rotational]
        columns = [body.motion.names.index(name) for name in angles]
        turned = np.abs((body.motion.value - before.motion.value)[known][:, columns]).max(axis=0)
        change = body.change.change[known]
        pairs = [
            ("hip_flexion",),
            ("hip_adduction",),
            ("knee_angle", "knee_flexion"),
            ("ankle_angle", "ankle_flexion"),
        ]
        differences = [
            [moments[REDUCED][name] - moments["kept"][name] for name in body.dofs if name[:-2] in stems]
            for stems in pairs
        ]
        shown.add_row(
            Path(coordinates).stem,
            *(sizes(each[:, part]) for part in (slice(3), slice(3, 6)) for each in lacking),
            f"{1e3 * np.sqrt(np.mean(change**2)):.1f}, {1e3 * change.max():.0f}",
            f"{model.mass:.1f}: {body.change.carried:.1f}",
            f"{np.degrees(turned.max()):.1f} {angles[int(turned.argmax())]}",
            *(f"{np.sqrt(np.nanmean(np.square(each))):.1f}" for each in differences),
        )
    console.print(shown)


def planted() -> dict[str, Trial]:
    """Synthetic walks by what is wrong with them."""
    options: dict[str, dict[str, object]] = {
        **{
            f"markers slide by 5 mm, {seed}": {"noise": "skin", "noise_mm": 5.0, "seed": seed}
            for seed in range(1, 7)
        },
        **{f"white noise of 3 mm, {seed}": {"noise_mm": 3.0, "seed": seed} for seed in (1, 2)},
        "nothing": {},
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, chosen in options.items():
            path = synthetic_recording(Path(folder) / name, truth=False, **chosen)
            found[name] = recording_of(path, "this comparison")
        sound = found["nothing"]
    heavier = {name: SegmentValues(mass_factor=factor) for name, factor in HEAVIER.items()}
    return found | {"trunk 15 % too heavy": replace(sound, subject=replace(sound.subject, segments=heavier))}


def errors_of(trial: Trial, recorded: Mechanics) -> list[float]:
    """Root mean square errors of the joint moments, both legs together [N m]."""
    stride, motion = reference_stride(), recorded.motion
    moments = projected_moments(recorded.model, motion, recorded.wrenches)
    truth = stride.joint_moments(motion.time - trial.time_range[0])
    names = list(stride.dof_names)
    return [
        rms(
            np.concatenate(
                [
                    moments[:, recorded.model.dof(f"{joint}_{side}")]
                    - truth[:, names.index(f"{joint}_{side}")]
                    for side in SIDES
                ]
            )
        )
        for joint in JOINTS
    ]


def report_truth() -> None:
    """Print how far joint moments are from the truth, with the residual as it is and reduced."""
    shown = Table(
        *(
            "planted",
            "force rms [N]",
            "reduced",
            "moment rms [N m]",
            "reduced",
            "points moved rms, most [mm]",
        ),
        *(f"{joint} [N m]" for joint in JOINTS),
        "mean",
    )
    for name, trial in planted().items():
        kept = mechanics(trial)
        reduced = mechanics(trial.with_settings(consistency={"residual": REDUCED}))
        change = reduced.change
        assert change is not None
        lacking = [
            projected_moments(each.model, each.motion, each.wrenches)[:, -6:] for each in (kept, reduced)
        ]
        before, after = (errors_of(trial, each) for each in (kept, reduced))
        pairs = [*zip(before, after, strict=True), (np.mean(before), np.mean(after))]
        shown.add_row(
            name,
            *(f"{rms(each[:, part]):.1f}" for part in (slice(3), slice(3, 6)) for each in lacking),
            f"{1e3 * np.sqrt(np.mean(change.change**2)):.1f}, {1e3 * change.change.max():.0f}",
            *(f"{one:.2f} to {two:.2f}" for one, two in pairs),
        )
    console.print(shown)


def main(*files: str) -> None:
    if files and files[0].endswith(".osim"):
        report_models(list(files))
    elif files:
        report_trials(list(files))
    else:
        report_truth()


if __name__ == "__main__":
    main(*sys.argv[1:])
