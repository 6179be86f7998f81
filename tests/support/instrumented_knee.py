"""Two walks of a man with an instrumented knee as folders without a trial file: text files, or the raw C3D file."""

from __future__ import annotations

import shutil
from pathlib import Path

from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts

WALK, STATIC = "PS_ngait_og_ss1", "Static_for_scaling.trc"
KINDS = {"text": (f"{WALK}.trc", f"{WALK}_kinetics.mot"), "c3d": (f"{WALK}.c3d",)}
BY_HAND = {"mass_kg": 75.0, "stature_m": 1.80, "sex": "male"}


def knee_folder(recorded: Path, folder: Path, kind: str, static: bool = True) -> Path:
    """Copy the files of one walk, with its standing trial or without."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*KINDS[kind], *((STATIC,) if static else ())):
        shutil.copyfile(recorded / name, folder / name)
    return folder


def completed_by_hand(folder: Path) -> Path:
    """The draft of a folder with mass, stature and sex entered where it leaves them open, and nothing else."""
    (path,) = write_drafts(draft_folder(folder))
    lines = path.read_text(encoding="utf-8").splitlines()
    for key, value in BY_HAND.items():
        (at,) = [k for k, line in enumerate(lines) if line.startswith((f"# {key} =", f"{key} ="))]
        lines[at] = f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
