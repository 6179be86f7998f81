"""Labels of a model of MuJoCo or biorbd: its skeleton, the paths of its muscles, and provenance."""

import os

import numpy as np

from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.simulated_body import LENGTH, SimulatedBody
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.frame_validity import MUSCLE_SIDE
from musclesolve.results.dataset.labels import Labels, Skeleton, VariablesAndAttributes, path_labels
from musclesolve.results.dataset.muscle_labels import reserve_reasons


def simulated_labels(body: SimulatedBody, analysis: Analysis, paths: bool) -> Labels:
    """Labels of a model of another program; names are the model's; paths: as of `assemble`."""
    model, drawing = body.model, body.model.drawing(body.positions)
    bones = [
        (drawing.bodies[parent], name, name)
        for name, parent in zip(drawing.bodies, drawing.parents, strict=True)
        if parent >= 0
    ]
    none = np.zeros((len(body.time), 0, 3))
    origin = drawing.origin.astype(np.float32)
    skeleton, points = Skeleton(
        drawing.bodies, origin, tuple(bones), (), none, np.zeros((*none.shape, 3))
    ).labels
    lines: VariablesAndAttributes = {}, {}
    if paths and drawing.paths:
        owners = np.concatenate([np.repeat(name, path.shape[1]) for name, path in drawing.paths.items()])
        position = np.concatenate(list(drawing.paths.values()), axis=1).astype(np.float32)
        lines = path_labels(owners, position)
    inputs = [f"{role} {path.name} sha256:{sha256(path)}" for role, path in body.files.items()]
    reasons = {
        side: [line for part in analysis.of_side(side) for line in reserve_reasons(part)]
        for side in analysis.sides
    }
    return Labels(
        variables={
            **skeleton,
            **lines[0],
            "short_name": (("muscle",), np.array(body.muscles)),
            "group": (("muscle",), np.array(["other"] * len(body.muscles))),
            MUSCLE_SIDE: (("muscle",), np.array(analysis.muscle_sides)),
        },
        coordinates={**points, **lines[1]},
        attributes={
            "subject": body.files["model"].stem,
            "model_file": os.path.realpath(body.files["model"]),
            "simulator": model.program,
            "inputs": inputs,
            "muscle_database": body.files["model"].name,
            "trial_file": os.path.realpath(body.files["coordinates"]),
            "subject_mass_kg": model.mass,
            **{f"reasons_{side}": lines for side, lines in reasons.items() if lines},
        },
        notes=[
            *body.notes,
            *body.warnings,
            f"{model.program} computed lengths, moment arms, muscle curves and inverse dynamics; coordinates not "
            "filtered, tendons rigid.",
            *analysis.notes,
        ],
        translates=LENGTH in body.motion.units,
    )
