"""Writes the recordings of a synthetic study of lateral wedge insoles, with a difference and a fault that are known.

    make_insole_study.py [FOLDER [SUBJECTS [TRIALS]]]

The 12 subjects are made up, with two trials in each of two conditions: the bundled stride with noise of the markers,
for a mass and a stature of each subject. Lengths are proportional to the stature, times to its square root, and forces
to the mass, so that the laws of motion hold for every subject. With `wedge` the points of force lie 7 mm farther
outward under both feet, which lowers the knee adduction moment. The forces of one trial are cut short.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import replace
from pathlib import Path

import numpy as np

import musclesolve as ms

MASS, STATURE = 70.25, 1.70
"""Mass [kg] and stature [m] of the person of the bundled stride, as its trial file states them."""
CONDITIONS, OUTWARD = ("shoe", "wedge"), (0.0, 0.007)
"""Conditions, and how far each moves the points of force outward under a foot [m]."""
OUTCOME = "knee_adduction_moment max"
"""What the study is about, stated before the data are seen."""
BETWEEN, WITHIN = 0.003, 0.003
"""Standard deviation of the points of force across the path, of feet of subjects and of trials of one subject [m]."""
BROKEN = "S03_shoe_2"


def forces_of(file: Path, scale: float, mass: float, outward: dict[str, float]) -> ms.tables.Table:
    """The forces of a person of another size and mass, with points moved outward under each foot [m]."""
    forces = ms.tables.read_mot(file)
    values = forces.values.copy()
    for column, name in enumerate(forces.names):
        side, what, axis = name.split("_")
        factor = {"force": mass / MASS, "moment": scale * mass / MASS, "point": scale}[what]
        values[:, column] *= factor
        if what == "point" and axis == "y":
            values[:, column] += outward[side] if side == "left" else -outward[side]
    return replace(forces, time=forces.time * scale**0.5, values=values)


def write_trial(folder: Path, mass: float, stature: float, outward: dict[str, float], seed: int) -> None:
    """Write trial.toml, walk.trc, static.trc and forces.mot of one trial."""
    trial = ms.studies.synthetic_recording(
        folder,
        truth=False,
        noise_mm=0.3,
        force_noise_n=1.0,
        force_rate_hz=200.0,
        standing_frames=20,
        seed=seed,
    )
    scale = stature / STATURE
    for name in ("walk.trc", "static.trc"):
        markers = ms.tables.read_trc(folder / name)
        made = replace(markers, time=markers.time * scale**0.5, position=markers.position * scale)
        ms.tables.write_trc(folder / name, made)
    ms.tables.write_mot(folder / "forces.mot", forces_of(folder / "forces.mot", scale, mass, outward))
    text = trial.read_text(encoding="utf-8")
    for before, after in (
        (f"mass_kg = {MASS:.2f}", f"mass_kg = {mass:.2f}"),
        (f"stature_m = {STATURE:.2f}", f"stature_m = {stature:.2f}"),
        ("start_s = 0.4\n", f"start_s = {0.4 * scale**0.5:.6f}\n"),
        ("end_s = 1.48333333\n", f"end_s = {1.48333333 * scale**0.5:.6f}\n"),
    ):
        assert before in text, before
        text = text.replace(before, after)
    trial.write_text(text, encoding="utf-8")


def main(folder: Path, subjects: int = 12, trials: int = 2) -> None:
    """Write SUBJECT/CONDITION/NUMBER/trial.toml with its recording, the study file and its table; say what is next."""
    random = np.random.default_rng(1)
    lines = ["name,subject,condition,mass_kg,stature_m,sex,file"]
    for number in range(1, subjects + 1):
        subject, mass, stature = f"S{number:02d}", random.normal(72.0, 9.0), random.normal(1.72, 0.07)
        mass, stature = round(mass, 1), round(stature, 2)
        own = random.normal(0.0, BETWEEN, 2)
        for condition, moved in zip(CONDITIONS, OUTWARD, strict=True):
            for trial in range(1, trials + 1):
                place = folder / subject / condition / str(trial)
                right, left = own + moved + random.normal(0.0, WITHIN, 2)
                write_trial(
                    place, mass, stature, {"right": right, "left": left}, 100 * number + len(lines) - 1
                )
                name = f"{subject}_{condition}_{trial}"
                if name == BROKEN:
                    rows = (place / "forces.mot").read_text().splitlines()
                    rows[-2] = rows[-2][: len(rows[-2]) // 2]  # a row without its end
                    (place / "forces.mot").write_text("\n".join(rows))
                file = (place / "trial.toml").relative_to(folder).as_posix()
                lines.append(f"{name},{subject},{condition},{mass},{stature},male,{file}")
    (folder / "trials.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = 'title = "Lateral wedge insoles"\ntrials = "trials.csv"\n'
    design = f'\n[design]\nconditions = ["shoe", "wedge"]\noutcomes = ["{OUTCOME}"]\n'
    (folder / "study.toml").write_text(head + design, encoding="utf-8")
    print(f"{len(lines) - 1} trials of {subjects} subjects")
    print(f"musclesolve study {folder / 'study.toml'} -o {folder / 'results'}")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("study"))
    parser.add_argument("counts", type=int, nargs="*", help="of subjects, and of trials in a condition")
    given = parser.parse_args()
    main(given.folder, *given.counts)
