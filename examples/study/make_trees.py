"""Writes the recordings of a synthetic study in folders as laboratories have them, each with its own flaws.

    make_trees.py [FOLDER [SUBJECTS [TRIALS]]]

FOLDER gets one tree for each layout of `LAYOUTS`; TRIALS are the trials of a subject under a condition. All is made up:
the bundled stride of `musclesolve synthesize`, with noise, and forces and mass of each subject times a factor of its
own. C3D files are written by ezc3d (`pip install ezc3d`), a table of Excel by openpyxl.
"""

import json
import runpy
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from musclesolve.studies.synthetic.synthetic_recording import recording_files
from musclesolve.tables import Markers, Table, read_mot, read_trc, write_mot, write_trc

MASS, STATURE = 70.25, 1.70
"""Mass [kg] and stature [m] of the person of the bundled stride."""
RATE = 50.0
"""Rate of the markers [Hz]; that of the plates is ten times as much."""
HALF = (0.25, 0.2)
"""Half edges of a force plate along and across the path [m]."""
LEAST = 10.0
"""A plate is loaded from this vertical force on [N]."""
WORDS = {
    # landmark without side -> name of the marker without the letter of the side
    "plug_in_gait": {"asis": "ASI", "psis": "PSI", "knee_lateral": "KNE", "knee_medial": "KNM",
                     "ankle_lateral": "ANK", "ankle_medial": "ANM", "heel": "HEE", "toe": "TOE",
                     "metatarsal_5": "MT5", "shoulder": "SHO", "elbow_lateral": "ELB"},
    "epicondyles": {"asis": "ASI", "psis": "PSI", "knee_lateral": "LEP", "knee_medial": "MEP",
                    "ankle_lateral": "LML", "ankle_medial": "MML", "heel": "CAL", "toe": "2MT",
                    "metatarsal_5": "5TH", "shoulder": "AC"},
    "external_internal": {"asis": "FWT", "psis": "BWT", "knee_lateral": "KNE", "knee_medial": "KNI",
                          "ankle_lateral": "ANE", "ankle_medial": "ANI", "heel": "HEE", "toe": "TOE",
                          "metatarsal_5": "MT5", "shoulder": "SHO"},
    # The markers at the outer side of the knee have names that say nothing.
    "own_names": {"asis": "ASIS", "psis": "PSIS", "knee_lateral": "X1", "knee_medial": "MK", "ankle_lateral": "LA",
                  "ankle_medial": "MA", "heel": "HEEL", "toe": "TOE", "shoulder": "SHO"},
}  # fmt: skip
PERSONS = [
    # name, mass [kg], stature [cm], sex, age [years], group, affected side
    ("S01", 71.4, 172, "f", 34, "control", "none"), ("S02", 82.9, 181, "m", 41, "patient", "right"),
    ("S03", 64.0, 165, "f", 29, "control", "none"), ("S04", 90.2, 186, "m", 52, "patient", "left"),
    ("S05", 77.7, 176, "m", 38, "control", "none"), ("S06", 59.8, 160, "f", 45, "patient", "right"),
]  # fmt: skip


def person(number: int) -> tuple:
    """The person of a number from 0 on; the six of the list again under other names from the seventh on."""
    name, *rest = PERSONS[number % len(PERSONS)]
    return (name if number < len(PERSONS) else f"S{number + 1:02d}", *rest)


@cache
def recording(turn_deg: float, seed: int) -> tuple[Markers, Markers, Table]:
    """A walk, the standing trial and the forces of the plates; markers by the names of landmarks."""
    files = recording_files(
        truth=False, marker_rate_hz=RATE, force_rate_hz=10.0 * RATE, standing_frames=25, noise_mm=0.3,
        turn_deg=turn_deg, seed=seed,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        for file, content in files.items():
            (Path(name) / file).write_bytes(content)
        return (
            read_trc(Path(name) / "walk.trc"),
            read_trc(Path(name) / "static.trc"),
            read_mot(Path(name) / "forces.mot"),
        )


def renamed(markers: Markers, words: dict[str, str], without: tuple[str, ...] = ()) -> Markers:
    """The markers that have a name in a vocabulary, by that name: RKNE for knee_lateral_r."""
    kept = [
        (k, f"{name[-1].upper()}{words[stem]}")
        for k, name in enumerate(markers.names)
        if (stem := name[:-2]) in words and stem not in without
    ]
    return replace(
        markers, names=tuple(name for _, name in kept), position=markers.position[:, [k for k, _ in kept]]
    )


def write_c3d(file: Path, markers: Markers, forces: Table | None = None, stated: dict | None = None) -> None:
    """Write a C3D file: markers [mm], a plate of type 2 for each contact of a foot, and what is stated of the subject.

    A channel of a plate is the component of the force, or of the moment about the middle of its surface, along an axis
    of the plate; its z axis points down.
    """
    import ezc3d

    c3d = ezc3d.c3d()
    points = np.ones((4, len(markers.names), markers.time.size))
    points[:3] = 1000.0 * np.moveaxis(markers.position, 0, -1).transpose(1, 0, 2)
    c3d["data"]["points"] = points
    point = c3d["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"] = list(markers.names), ["mm"]
    point["RATE"]["value"] = [markers.rate]
    for key, value in (stated or {}).items():
        c3d.add_parameter("PROCESSING", key, [value])
    if forces is not None:
        down = np.diag([1.0, -1.0, -1.0])
        samples = round(forces.rate / markers.rate) * markers.time.size
        channels, corners = [], []
        for side in ("right", "left"):
            force, place, free = (
                np.stack([forces[f"{side}_{what}_{axis}"] for axis in "xyz"], axis=1)
                for what in ("force", "point", "moment")
            )
            loaded = np.flatnonzero(force[:, 2] > LEAST)
            for step in np.split(loaded, np.flatnonzero(np.diff(loaded) > 1) + 1):
                middle = 0.5 * (place[step].min(axis=0) + place[step].max(axis=0)) * [1.0, 1.0, 0.0]
                measured = np.zeros((samples, 6))
                moment = 1000.0 * (np.cross(place[step] - middle, force[step]) + free[step])
                measured[step] = np.hstack([force[step] @ down, moment @ down])
                signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
                channels.append(measured)
                corners.append(1000.0 * (middle + (signs * HALF) @ down[:, :2].T))
        count = len(channels)
        c3d["data"]["analogs"] = np.concatenate(channels, axis=1).T[None]
        analog, plates = c3d["parameters"]["ANALOG"], c3d["parameters"]["FORCE_PLATFORM"]
        analog["RATE"]["value"] = [forces.rate]
        analog["LABELS"]["value"] = [f"{what}{k + 1}" for k in range(count) for what in
                                     ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]  # fmt: skip
        analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * count
        plates["USED"]["value"], plates["TYPE"]["value"] = [count], [2] * count
        plates["CHANNEL"]["value"] = np.arange(1, 6 * count + 1).reshape(count, 6).T
        plates["CORNERS"]["value"] = np.stack([each.T for each in corners], axis=2)
        plates["ORIGIN"]["value"] = np.zeros((3, count))
    file.parent.mkdir(parents=True, exist_ok=True)
    c3d.write(str(file))


def scaled(forces: Table, mass: float) -> Table:
    """The forces and free moments of a person of another mass [kg] who moves alike."""
    factor = [1.0 if "point" in name else mass / MASS for name in forces.names]
    return replace(forces, values=forces.values * factor)


def write_table(file: Path, header: list[str], rows: list[tuple], separator: str = ",") -> None:
    """Write a table of subjects as a laboratory keeps it, CSV or Excel."""
    if file.suffix == ".xlsx":
        from openpyxl import Workbook

        book = Workbook()
        for row in (header, *rows):
            book.active.append(list(row))
        book.save(file)
        return
    lines = [separator.join(map(str, row)) for row in (header, *rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def conditions_below_subjects(root: Path, subjects: int, trials: int) -> None:
    """SUBJECT/{Static,Walk,Turn}/*.c3d: the standing trial in a folder beside.

    The C3D files state mass and stature. The sex stands in no file.
    """
    words = WORDS["plug_in_gait"]
    for number in range(subjects):
        name, mass, stature, *_ = person(number)
        stated = {"Bodymass": mass, "Height": 10.0 * stature}
        write_c3d(
            root / name / "Static" / "Trial01.c3d", renamed(recording(0.0, number)[1], words), None, stated
        )
        for folder, turn in (("Walk", 0.0), ("Turn", 25.0)):
            for trial in range(1, trials + 1):
                walk, _, forces = recording(turn, 10 * number + trial)
                file = root / name / folder / f"{folder.lower()}_{trial:02d}.c3d"
                write_c3d(file, renamed(walk, words), scaled(forces, mass), stated)


def one_folder(root: Path, subjects: int, trials: int) -> None:
    """All in one folder: S01_walk_01.c3d, S01_fast_01.c3d, S01_static.c3d; RLEP, RMEP, RLML, RMML; a CSV from Excel."""
    root.mkdir(parents=True, exist_ok=True)
    words = WORDS["epicondyles"]
    for number in range(subjects):
        name, mass, *_ = person(number)
        write_c3d(root / f"{name}_static.c3d", renamed(recording(0.0, number)[1], words))
        for condition, offset in (("walk", 0), ("fast", 5)):
            for trial in range(1, trials + 1):
                walk, _, forces = recording(0.0, 10 * number + trial + offset)
                file = root / f"{name}_{condition}_{trial:02d}.c3d"
                write_c3d(file, renamed(walk, words), scaled(forces, mass))
    people = [person(k) for k in range(subjects)]
    rows = [(p[0], f"{p[1]:.1f}".replace(".", ","), p[2], p[3], p[4], p[5], p[6]) for p in people]
    header = ["Participant", "Weight [kg]", "Height [cm]", "Gender", "Age [years]", "Group", "Affected side"]
    write_table(root / "participants.csv", header, rows, ";")


def subjects_below_conditions(root: Path, subjects: int, trials: int) -> None:
    """CONDITION/SUBJECT/trial1.trc and trial1_forces.mot; RKNE and RKNI, RANE and RANI, RFWT and RBWT.

    The standing trial lies with the first condition alone, and nothing states mass, stature and sex.
    """
    words = WORDS["external_internal"]
    for number in range(subjects):
        name, mass, *_ = person(number)
        for condition, offset in (("normal", 0), ("fast", 5)):
            folder = root / condition / name
            folder.mkdir(parents=True)
            for trial in range(1, trials + 1):
                walk, standing, forces = recording(0.0, 10 * number + trial + offset)
                write_trc(folder / f"trial{trial}.trc", renamed(walk, words))
                write_mot(folder / f"trial{trial}_forces.mot", scaled(forces, mass))
                if condition == "normal" and trial == 1:
                    write_trc(folder / "static.trc", renamed(standing, words))


def motion_service(root: Path, subjects: int, trials: int) -> None:
    """Result folders of AddBiomechanics: trials walking4, STSAsym1, squats_Asym1, whose names are to stay.

    They hold moments and no ground forces; where a stride begins and ends is seen from the reach of the foot.
    """
    study = runpy.run_path(str(Path(__file__).with_name("make_study.py")))
    time, angle, moment = study["stride"]()
    rng = np.random.default_rng(3)
    for number in range(subjects):
        name, mass, stature, sex, age, *_ = person(number)
        home = root / name
        for folder in ("Models", "IK", "ID"):
            (home / folder).mkdir(parents=True)
        (home / "Models" / "final.osim").write_bytes(study["MODEL"].read_bytes())
        stated = {
            "massKg": mass,
            "heightM": 0.01 * stature,
            "sex": {"f": "female", "m": "male"}[sex],
            "ageYears": age,
        }
        (home / "_subject.json").write_text(json.dumps(stated))
        for called in ("walking", "STSAsym", "squats_Asym"):
            for trial in range(4, 4 + trials) if called == "walking" else range(1, 1 + trials):
                own = [values + study["wave"](rng, time, size) for values, size in
                       ((angle, study["WITHIN"][0]), (moment, study["WITHIN"][1]))]  # fmt: skip
                write_mot(home / "IK" / f"{called}{trial}_ik.mot", study["table"](time, own[0]))
                moments = study["table"](time, mass * own[1], "_moment")
                write_mot(home / "ID" / f"{called}{trial}_id.sto", moments)


def days_of_subjects(root: Path, subjects: int, trials: int) -> None:
    """SUBJECT/DATE/{markers,forces}/...: names of the laboratory's own, of which some say nothing; a table in Excel."""
    words = WORDS["own_names"]
    for number in range(subjects):
        name, mass, *_ = person(number)
        folder = root / name / f"2024-03-{number + 4:02d}"
        for kind in ("Markers", "Forces"):
            (folder / kind).mkdir(parents=True)
        for trial in range(1, trials + 1):
            walk, standing, forces = recording(0.0, 10 * number + trial)
            write_trc(folder / "Markers" / f"gait{trial}.trc", renamed(walk, words))
            write_mot(folder / "Forces" / f"gait{trial}.mot", scaled(forces, mass))
            if trial == 1:
                write_trc(folder / "Markers" / "standing.trc", renamed(standing, words))
    rows = [(p[0], p[1], p[2], {"f": "woman", "m": "man"}[p[3]], p[4], p[5], p[6])
            for p in map(person, range(subjects))]  # fmt: skip
    header = ["ID", "Body mass (kg)", "Body height (cm)", "Sex", "Age", "Diagnosis", "Affected side"]
    write_table(root / "Subjects.xlsx", header, rows)


LAYOUTS = {
    "conditions_below_subjects": conditions_below_subjects,
    "one_folder": one_folder,
    "subjects_below_conditions": subjects_below_conditions,
    "motion_service": motion_service,
    "days_of_subjects": days_of_subjects,
}


def main(root: Path, subjects: int = 6, trials: int = 2) -> None:
    """Write all trees, and say which commands make a page of each."""
    for name, write in LAYOUTS.items():
        write(root / name, subjects, trials)
        study = root / name / "study.toml"
        print(f"musclesolve init {root / name} --study; musclesolve check {study}; "
              f"musclesolve study {study} -o {root / (name + '_results')}")  # fmt: skip


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("trees"))
    parser.add_argument("counts", type=int, nargs="*", help="of subjects, and of trials in a condition")
    given = parser.parse_args()
    main(given.folder, *given.counts)
