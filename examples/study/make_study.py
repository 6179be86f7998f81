"""Writes the files of a synthetic study of a plane leg, with a difference and faults that are known.

    make_study.py [FOLDER [SUBJECTS [TRIALS]]]

The 24 subjects are made up: the bundled stride, each with a shape and mass of its own, five trials in two conditions;
in `loaded` every knee moment is 10 % greater. Three trials are broken, and two begin with the second half of the
stride. There are no ground reactions, thus no contact forces: whether a result is plausible is not known.
"""

import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride

MODEL = Path(__file__).parents[1] / "opensim_model" / "leg.osim"
COORDINATES = {"hip_flexion_r": (1, "hip_flexion_r"), "knee_angle_r": (-1, "knee_flexion_r"),
               "ankle_angle_r": (1, "ankle_dorsiflexion_r")}  # fmt: skip
"""Coordinate of the model, whose knee bends in the negative direction -> sign and angle of the stride."""
CONDITIONS, EFFECT, KNEE = ("free", "loaded"), 1.10, 1
OUTCOME = "joint_moment knee_angle"
"""What the study is about, stated before the data are seen."""
BETWEEN, WITHIN = (0.04, 0.05), (0.015, 0.02)
"""Standard deviation of the curves of subjects, and of trials of one subject: angles [rad], moments [N m/kg]."""
STRENGTH = 1.5
"""Factor on the muscles of the model for a body mass of 72 kg: its soleus shortens fast at push-off."""
BROKEN = ("S03_free_2", "S10_loaded_4", "S17_free_5")
SWAPPED = ("S06_loaded_1", "S20_free_3")


def stride() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time (T,), angles (T, 3) and moments per body mass (T, 3) of one gait cycle of the right leg."""
    result = ms.run(reference_stride(), side="r")
    curves = []
    for name in ("joint_angle", "joint_moment"):
        curves.append(
            np.stack([sign * result[name].sel(dof=dof).values for sign, dof in COORDINATES.values()], 1)
        )
    return result["time"].values, curves[0], curves[1] / result.attrs["subject_mass_kg"]


def wave(random: np.random.Generator, time: np.ndarray, size: float) -> np.ndarray:
    """Smooth periodic curves (T, 3) at random, of five harmonics, with the given standard deviation."""
    phase = 2 * np.pi * (time - time[0]) / (time[-1] - time[0])
    harmonics = np.arange(1, 6)
    weights = random.normal(size=(2, 5, 3)) / harmonics[:, None]
    basis = np.stack([np.cos(np.outer(phase, harmonics)), np.sin(np.outer(phase, harmonics))])
    return size * np.einsum("ptk,pkj->tj", basis, weights) / np.sqrt(np.sum(1.0 / harmonics**2))


def table(time: np.ndarray, values: np.ndarray, suffix: str = "") -> ms.tables.Table:
    """Angles or moments as the files of the model name them."""
    return ms.tables.Table(time, tuple(name + suffix for name in COORDINATES), values, False, Path("stride"))


def model_of(mass: float) -> str:
    """The model with bodies and muscles in proportion to a body mass [kg]; as strong as this walk requires."""
    text = MODEL.read_text(encoding="utf-8")
    whole = sum(map(float, re.findall(r"<mass>([^<]+)<", text)))
    for name, factor in (("mass", mass / whole), ("max_isometric_force", STRENGTH * mass / 72.0)):
        text = re.sub(
            rf"<{name}>([^<]+)<",
            lambda found, tag=name, by=factor: f"<{tag}>{by * float(found[1]):.4f}<",
            text,
        )
    return text


def write_trials(
    folder: Path, subjects: int = 24, trials: int = 5, effect: float = EFFECT, seed: int = 1
) -> dict[str, float]:
    """Write the files of all trials, and return the mass of each subject [kg].

    SUBJECT/CONDITION/trial_N_ik.mot and trial_N_id.sto lie beside SUBJECT/leg.osim.
    """
    random = np.random.default_rng(seed)
    time, angle, moment = stride()
    half, masses = time.size // 2, {}
    for number in range(1, subjects + 1):
        subject, mass = f"S{number:02d}", float(random.normal(72.0, 9.0))
        masses[subject] = mass
        own = [wave(random, time, size) for size in BETWEEN]
        (folder / subject).mkdir(parents=True)
        (folder / subject / "leg.osim").write_text(model_of(mass), encoding="utf-8")
        for condition in CONDITIONS:
            place = folder / subject / condition
            place.mkdir()
            for trial in range(1, trials + 1):
                angles = angle + own[0] + wave(random, time, WITHIN[0])
                moments = moment + own[1] + wave(random, time, WITHIN[1])
                if condition == CONDITIONS[1]:
                    moments[:, KNEE] *= effect
                name = f"{subject}_{condition}_{trial}"
                if name in SWAPPED:
                    angles, moments = np.roll(angles, half, axis=0), np.roll(moments, half, axis=0)
                ms.tables.write_mot(place / f"trial_{trial}_ik.mot", table(time, angles))
                ms.tables.write_mot(place / f"trial_{trial}_id.sto", table(time, mass * moments, "_moment"))
                if name in BROKEN:
                    file = place / f"trial_{trial}_id.sto"
                    lines = file.read_text().splitlines()
                    lines[-2] = lines[-2][: len(lines[-2]) // 2]  # a row without its end
                    file.write_text("\n".join(lines))
    return masses


def write_study(folder: Path, masses: dict[str, float], design: str = "") -> Path:
    """Write the study file and the table of trials; `musclesolve init FOLDER --study` drafts them alike."""
    time = stride()[0]
    cycles = f'"[[{time[0]:.6f}, {time[-1]:.6f}]]"'
    lines = ["name,subject,condition,mass_kg,model,coordinates,moments,side,movement,cycles_s"]
    for file in sorted(folder.glob("*/*/*_ik.mot")):
        subject, condition, number = *file.parts[-3:-1], file.name.split("_")[1]
        place = f"{subject}/{condition}"
        files = f"{subject}/leg.osim,{place}/{file.name},{place}/trial_{number}_id.sto"
        said = f"{subject}_{condition}_{number},{subject},{condition},{masses[subject]:.1f}"
        lines.append(f"{said},{files},r,walking,{cycles}")
    (folder / "trials.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = 'title = "Free and loaded walking"\ntrials = "trials.csv"\n\n[settings.sharing]\ncost = "stress_cubed"\n'
    (folder / "study.toml").write_text(head + design, encoding="utf-8")
    return folder / "study.toml"


def main(folder: Path, *counts: int) -> None:
    """Write the trials and the study file, and say what is next; counts of subjects and of trials in a condition."""
    masses = write_trials(folder, *counts)
    study = write_study(folder, masses, f"\n[design]\noutcomes = ['{OUTCOME}']\n")
    print(f"{len(list(folder.glob('*/*/*_ik.mot')))} trials of {len(masses)} subjects")
    print(f"musclesolve study {study} -o {folder / 'results'}")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("study"))
    parser.add_argument("counts", type=int, nargs="*", help="of subjects, and of trials in a condition")
    given = parser.parse_args()
    main(given.folder, *given.counts)
