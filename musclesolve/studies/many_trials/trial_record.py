"""The outcome of one trial of many, its result in a few numbers, and the table of all of them, trials.csv.

The recipe of a result has its inputs and options, which show whether it has to be computed again.
"""

import hashlib
import io
import json
import pickle
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite
from pathlib import Path
from types import FunctionType
from typing import Any, Self

import xarray as xr

import muscle_db
from muscle_db.regular_file import RECORDING, FileState, file_state, open_regular
from musclesolve._util.sides import LEG_JOINTS, joint_kind
from musclesolve.constants import TRIAL_FILE
from musclesolve.errors import file_error
from musclesolve.laboratory.plotting.page.page_style import current_style
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.result_quantities import listed, storable
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.judgement import NOT_USABLE, USABLE, judge
from musclesolve.laboratory.results.plausibility import judged_facts
from musclesolve.laboratory.results.recipe import ATTRIBUTE, _read
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.laboratory.trial.trial_file import named_hashes
from musclesolve.tables.text_file import hash_of, name_in
from musclesolve.version import __version__

BUNDLED = Path(muscle_db.__file__).resolve().parent, Path(__file__).resolve().parents[2]
"""Folders of the program, whose files the version identifies."""
CHANGED = "changed"
"""In place of the hash of a file that changed after it was opened."""


def input_hashes(trial: AnyTrial) -> dict[str, str]:
    """Hash of every file of a trial as it was read, by its path from the folder of the trial file."""
    return dict(named_hashes(trial).values())


def opened_hashes(opened: Mapping[Path, FileState], trial: Path) -> dict[str, str]:
    """Hash of every file that was opened for a trial, its `noted_files`, by its path from the folder of the trial file.

    Some of them only another input file names, such as the data of external loads.
    """
    folder = trial.resolve().parent
    return {
        name_in(folder, path.resolve()): hash_of(path) if file_state(path) == state else CHANGED
        for path, state in opened.items()
        if not any(path.resolve().is_relative_to(bundled) for bundled in BUNDLED)
    }


def recipe(
    hashes: Mapping[str, str], settings: str, options: Mapping[str, object], written: Iterable[str]
) -> str:
    """JSON with version, options, `input_hashes`, `settings_hash`, and the names of the files with the result."""
    made = _choices(options) | {
        "files": dict(hashes),
        "settings": settings,
        "written": sorted(written),
        "page": _page(),
    }
    return json.dumps(made, sort_keys=True)


def is_current(text: str, trial: Path, folder: Path, options: Mapping[str, object], figures: bool) -> bool:
    """Return whether a result of this recipe is current: same version, options and contents of all input files.

    No file of the result may be missing in the folder, nor its figures, in the style in force, if they are wanted.
    """
    made = _read(text)
    if {key: made.get(key) for key in ("version", "options")} != _choices(options):
        return False
    page, written = made["page"], made["written"]
    drawn = page == _page() and any(name.endswith(page["file_format"]) for name in written)
    whole = all((folder / name).is_file() for name in written)
    return whole and (drawn or not figures) and not changed_inputs(made["files"], trial)


def changed_inputs(files: Mapping[str, str], trial: Path) -> list[str]:
    """The names of the files of a trial that differ from the files of `input_hashes`."""
    # These are all files of the trial: a trial file that names others has another hash itself.
    names = [name for name, sha in files.items() if hash_of(trial.resolve().parent / name) != sha]
    return names if trial.name in files else [trial.name, *names]


def hashed_files(text: str) -> dict[str, str]:
    """The `input_hashes` in the JSON of a recipe; empty without any."""
    return dict(_read(text).get("files", {}))


def inputs_hash(text: str) -> str:
    """One hash of the contents of the recordings in the JSON of a recipe, whatever their names; "" without any.

    The trial file is not part of it: it names the recordings from the folder of the results.
    """
    hashes = sorted(sha for name, sha in hashed_files(text).items() if not name.endswith(TRIAL_FILE))
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:16] if hashes else ""


def _page() -> Any:
    """The style of figures in force, in the form of JSON."""
    return json.loads(json.dumps(asdict(current_style())))


def _choices(options: Mapping[str, object]) -> dict[str, Any]:
    return {"version": __version__, "options": {key: _plain(value) for key, value in options.items()}}


def _plain(value: object) -> object:
    """An option in the form of JSON; an object, such as a cost, by name, content and its code."""
    if value is None or isinstance(value, str | int | float):
        return value
    content = io.BytesIO()
    pickler = _Pickler(content)
    pickler.dump(pickle.loads(pickle.dumps(value)))  # which objects of it are one object does not count
    parts = [content.getvalue(), *(file.read_bytes() for file in pickler.sources())]
    sha = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{getattr(value, 'label', type(value).__name__)} sha256:{sha}"


class _Pickler(pickle.Pickler):
    """A pickler that stores the modules of pickled classes and functions: a pickle has only their names."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.modules: set[str] = set()

    def reducer_override(self, thing: object) -> Any:
        """Store the module; pickle as usual."""
        if isinstance(thing, type | FunctionType):
            self.modules.add(thing.__module__)
        return NotImplemented

    def sources(self) -> list[Path]:
        """Files of the stored modules, except files of musclesolve, which the version identifies."""
        others = sorted(name for name in self.modules if name.partition(".")[0] != "musclesolve")
        files = (getattr(sys.modules.get(name), "__file__", None) for name in others)
        return [Path(file) for file in files if file]


MEASURES = "measures"
"""Attribute of result.nc with its line of the table of many trials."""


class Outcome(StrEnum):
    """The outcome of a trial."""

    COMPUTED = "computed"
    UNCHANGED = "unchanged"  # its result was there already: same version, options and input files
    REFUSED = "refused"  # the input is at fault
    # by an earlier call: same version, options and input files; not tried again
    REFUSED_BEFORE = "refused before"
    FAILED = "failed"  # the program is at fault, or the process was killed
    STOPPED = "not done"  # stopped by Ctrl-C, or another run computes it
    EXCLUDED = "excluded"  # by the study file

    @property
    def has_result(self) -> bool:
        """Whether there is a result of it now."""
        return self in (Outcome.COMPUTED, Outcome.UNCHANGED)

    @property
    def has_fault(self) -> bool:
        """Whether the input or the program is at fault."""
        return self.is_refusal or self is Outcome.FAILED

    @property
    def is_refusal(self) -> bool:
        """Whether the input is at fault."""
        return self in (Outcome.REFUSED, Outcome.REFUSED_BEFORE)

    @property
    def at_last(self) -> Self:
        """The outcome, whichever call reached it: there is a result, the input is refused, or another one."""
        earlier = {Outcome.COMPUTED: Outcome.UNCHANGED, Outcome.REFUSED_BEFORE: Outcome.REFUSED}
        return earlier.get(self, self)


@dataclass(frozen=True)
class Measures:
    """A result in a few numbers."""

    # leg-frames: a frame of two legs counts twice
    solved: int  # the muscles produce the moments
    with_reserve: int  # they fall short
    without_solution: int  # no valid solution
    not_measured: int  # the forces on the leg were not measured
    residual_percent: float  # peak of the residual force at the pelvis [% of body weight]
    # peak contact force by joint, the larger of the legs, frames with a valid solution [body weights]
    contact: dict[str, float]
    movement: str  # movement of the result
    plausibility: str  # the verdict: plausible, at the edge, not plausible or not known
    reason: str  # of this verdict
    verdict: str  # of `laboratory.results.judgement`
    findings: list[str]  # its errors and warnings
    codes: list[str] = field(default_factory=list)  # severity and code of each of these
    frames: int = 0
    muscles: int = 0
    mass_kg: float = float("nan")  # of the subject
    # origin of the ground reactions: "measured", "predicted", "found in the moments", ...; "" without any
    ground: str = ""
    inputs: str = ""  # hash of the hashes of the input files
    extension: str = ""  # coordinates of flexion that are positive in extension or plantarflexion

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints of legs whose contact force is known; none of a model without legs."""
        return tuple(joint for joint in LEG_JOINTS if isfinite(self.contact[joint]))

    @classmethod
    def from_result(cls, result: xr.Dataset, facts: Facts | None = None) -> Self:
        """The measures of a result, which is judged here where it has no verdict; facts: of this result, if known."""
        if facts is None or facts.result is not result:
            facts = Facts(result) if "plausible" in result else judged_facts(result)
        result, legs, judgement = facts.result, facts.legs.values(), judge(facts)
        size, peaks, judged = facts.pelvis_residual, facts.contact_peaks, result["plausible"].attrs
        findings, nan = judgement.of("error", "warning"), float("nan")
        of_joint = {
            joint: [peak.body_weights for peak in peaks if joint_kind(peak.stem) == joint]
            for joint in LEG_JOINTS
        }
        return cls(
            solved=sum(leg.solved for leg in legs),
            with_reserve=sum(leg.with_reserve for leg in legs),
            without_solution=sum(leg.without_solution for leg in legs),
            not_measured=sum(leg.not_analyzed for leg in legs),
            residual_percent=(facts.root_residual_percent or 0.0)
            if size is None
            else size.peak_force_percent_body_weight,
            contact={joint: max(weights, default=nan) for joint, weights in of_joint.items()},
            movement=judged["movement"],
            plausibility=judged["verdict"],
            reason=judged["reason"],
            verdict=judgement.verdict,
            findings=[entry.sentence for entry in findings],
            codes=[f"{entry.severity} {entry.code}" for entry in findings],
            frames=result.sizes["time"],
            muscles=result.sizes["muscle"],
            mass_kg=float(result.attrs.get("subject_mass_kg", "nan")),
            ground=str(result.attrs.get("ground_reactions", "")),
            inputs=inputs_hash(result.attrs.get(ATTRIBUTE, "")),
            extension=" ".join(listed(result, "extension_positive")),
        )

    @property
    def why(self) -> str:
        """The first reason why the result is not usable without care, "" where it is."""
        return "" if self.verdict == USABLE else [*self.findings, self.reason][0]

    def as_json(self) -> str:
        """The measures in a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Measures | None":
        """Return the measures that `as_json` wrote; None for any other text."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None


@dataclass(frozen=True)
class TrialRecord:
    """The outcome of a trial."""

    name: str  # of its folder
    trial: Path  # the trial file
    folder: Path  # where result.nc is, or error.txt
    outcome: Outcome  # see there
    seconds: float = 0.0  # how long that took
    measures: Measures | None = None  # of its result, if there is one
    message: str = ""  # why there is none
    details: str = ""  # where the program failed, for a report of the fault
    recipe: str = ""  # of a refusal by which it is known at the next call, see `recipe`

    @property
    def fine(self) -> bool:
        """Whether the trial has a result without an error, and with a valid solution in every frame."""
        measures = self.measures
        whole = measures is not None and measures.without_solution == 0 and measures.verdict != NOT_USABLE
        return self.outcome.has_result and whole


CSV = "trials.csv"
FIRST = (
    *("name", "status", "leg_frames_solved", "leg_frames_with_reserve", "leg_frames_without_solution"),
    *("leg_frames_not_measured", "peak_pelvis_residual_percent_body_weight"),
)
JUDGED = ("movement", "plausibility", "plausibility_reason", "verdict", "findings")
PARTED = " | "
"""Between the findings of a trial."""
LAST = ("seconds", "trial", "folder", "message")


def csv_bytes(
    records: Sequence[TrialRecord], header: Sequence[str] = (), further: Sequence[Sequence[str]] = ()
) -> bytes:
    """The table of all trials with all digits, the files and the messages; further columns stand behind the status."""
    forces_of = (f"peak_{joint}_contact_force_body_weights" for joint in LEG_JOINTS)
    rows: list[list[object]] = [[*FIRST[:2], *header, *FIRST[2:], *forces_of, *JUDGED, *LAST]]
    more = further or [()] * len(records)
    for record, of_record in zip(records, more, strict=True):
        m = record.measures
        numbers: list[object] = [""] * (5 + len(LEG_JOINTS) + len(JUDGED))
        if m is not None:
            forces = [f"{m.contact[joint]:.6g}" for joint in LEG_JOINTS]
            counts = [m.solved, m.with_reserve, m.without_solution, m.not_measured]
            judged = [m.movement, m.plausibility, m.reason, m.verdict]
            rest = [*judged, PARTED.join(m.findings)]
            numbers = [*counts, f"{m.residual_percent:.6g}", *forces, *rest]
        ends = [f"{record.seconds:.3f}", str(record.trial), str(record.folder), record.message]
        rows.append([record.name, record.outcome.value, *of_record, *numbers, *ends])
    return str(storable(csv_text(rows))).encode()


def check_table(path: Path, begins: str = "name,status") -> None:
    """Refuse to overwrite a file with the name of a table that is no such table: it begins otherwise."""
    try:
        with open_regular(path, RECORDING) as file:
            first = file.readline(1000).decode("utf-8", "replace")
    except OSError:
        return  # a missing or unreadable file is reported when the table is written
    if not first.startswith(begins):
        raise file_error(
            "occupied_folder",
            path,
            "this is no table of musclesolve, and one of this name is to be written: it would be lost",
            remedy="choose another folder with -o, or rename the file",
        )
