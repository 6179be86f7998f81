"""Folders of recordings without a trial file, as somebody has them who begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from c3d_files import PlateOnPaper, write_c3d

from muscle_db.model import LEG_DOFS
from musclesolve import read_trial
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.draft_folder import FolderDraft, draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.forces import mechanics
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.synthetic_recording import recording_files
from musclesolve.tables import Markers, Table, read_mot, write_mot, write_trc

OWN = "own.toml"
"""The synthesizer's own trial file, under a name that no draft takes."""
DOWN = np.diag([1.0, -1.0, -1.0])
"""Axes of a plate in a laboratory whose z points up."""


@cache
def _files(options: tuple[tuple[str, object], ...]) -> dict[str, bytes]:
    return recording_files(None, False, **dict(options))


def recordings(folder: Path, own: bool = False, **options: object) -> Path:
    """A folder with the files of a synthetic recording, without its trial file unless `own`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _files(tuple(options.items())).items():
        if name != "trial.toml":
            (folder / name).write_bytes(content)
        elif own:
            (folder / OWN).write_bytes(content)
    return folder


def stated_subject() -> GivenSubject:
    """The subject of the synthetic recordings, as their trial files state it."""
    subject = reference_stride().person.subject
    return GivenSubject(None, subject.mass, round(subject.stature, 2), subject.sex)


def drafted(folder: Path, **given: object) -> Path:
    """The trial file that is drafted for the one motion of a folder."""
    (path,) = write_drafts(draft_folder(folder, None, GivenSubject(**given) if given else stated_subject()))
    return path


def table(draft: FolderDraft, name: str, index: int = 0) -> dict[str, object]:
    """Key -> value of the lines of a table that count."""
    found = [each for each in draft.trials[0].tables if each.name == name and each.lines]
    return {line.key: line.value for line in found[index].lines if not line.open and not found[index].open}


def renamed(folder: Path, new: Callable[[str], str | None], *files: str) -> None:
    """Give markers other names; those without one are left out."""
    for file in files or ("walk.trc", "static.trc"):
        markers = read_markers(folder / file)
        kept = [k for k, name in enumerate(markers.names) if new(name) is not None]
        names = tuple(str(new(markers.names[k])) for k in kept)
        write_trc(
            folder / file, replace(markers, names=names, position=markers.position[:, kept]), decimals=6
        )


def relabeled(folder: Path, new: Callable[[str], str | None], file: str = "forces.mot") -> None:
    """Give columns of forces other names; those without one are left out."""
    forces = read_mot(folder / file)
    kept = [k for k, name in enumerate(forces.names) if new(name) is not None]
    names = tuple(str(new(forces.names[k])) for k in kept)
    write_mot(folder / file, Table(forces.time, names, forces.values[:, kept], False, folder / file))


def standing_forces(path: Path, newtons: float) -> None:
    """Write the forces of a plate under a standing subject."""
    time = np.arange(1000) / 1000.0
    names = tuple(f"plate_{what}_{axis}" for what in ("force", "point", "moment") for axis in "xyz")
    values = np.zeros((1000, 9))
    values[:, 2] = newtons
    write_mot(path, Table(time, names, values, False, path))


def as_c3d(folder: Path, target: Path, change=None) -> Path:
    """A recording of a laboratory whose z points up as C3D files, a long plate under each foot."""
    target.mkdir(parents=True, exist_ok=True)
    forces, walk = read_mot(folder / "forces.mot"), read_markers(folder / "walk.trc")
    plates = [PlateOnPaper(2, (1.0, y, 0.0), DOWN, (2.0, 0.3)) for y in (-0.31, 0.31)]
    samples = 10 * walk.time.size
    channels = []
    for plate, side in zip(plates, ("right", "left"), strict=True):
        vectors = [
            np.stack([forces[f"{side}_{what}_{axis}"] for axis in "xyz"], axis=1)
            for what in ("force", "point", "moment")
        ]
        more = max(0, samples - forces.time.size)
        channels.append(
            plate.channels(*(np.pad(v, ((0, more), (0, 0)), mode="edge")[:samples] for v in vectors))
        )
    _write(target / "walk.c3d", walk, plates=plates, channels=channels, samples=10, change=change)
    _write(target / "static.c3d", read_markers(folder / "static.trc"))
    return target


def _write(path: Path, markers: Markers, **more) -> None:
    write_c3d(path, markers.rate, list(markers.names), 1000.0 * markers.position, **more)


def moments(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times of a trial and the moments of both legs (T, 14) [N m]."""
    found = mechanics(read_trial(path))
    legs = [found.model.dof(f"{name}_{side}") for side in "rl" for name in LEG_DOFS]
    every = projected_moments(found.model, found.motion, found.wrenches)
    return np.round(found.motion.time, 6), every[:, legs]


def largest_difference(one: Path, other: Path) -> float:
    """Return the largest difference of all moments that both trials have [N m]."""
    (first, a), (second, b) = moments(one), moments(other)
    _, i, j = np.intersect1d(first, second, return_indices=True)
    assert i.size > 60
    return float(np.nanmax(np.abs(a[i] - b[j])))


OTHER_NAMES = {
    "ASIS": ("_IAS", "ASIS"), "Knee.Lat": ("_FLE", "LatKnee"), "Knee.Med": ("_FME", "MedKnee"),
    "Ankle.Lat": ("_FAL", "LatAnkle"), "Ankle.Med": ("_TAM", "MedAnkle"), "Heel": ("_FCC", "HeelBack"),
    "Toe.Tip": ("_FM2", "Toe2"), "Toe.Lat": ("_FM5", "MT5"), "Acromium": ("_SAE", "Acromion"),
    "Elbow": ("_HLE", "ElbowLat"), "Wrist.Lat": ("_RSP", "WristLat"), "Wrist.Med": ("_USP", "WristMed"),
}  # fmt: skip


def other_name(label: str, style: int) -> str | None:
    """A marker of the set gait2392 as another laboratory calls it."""
    if label in ("V.Sacral", "Top.Head"):
        return {"V.Sacral": "SACR"}.get(label)
    side, _, rest = label.partition(".")
    if rest not in OTHER_NAMES:
        return label.replace(".", "_")
    return (side, "Right" if side == "R" else "Left")[style] + OTHER_NAMES[rest][style]
