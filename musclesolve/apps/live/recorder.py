"""The recording of a session: samples and computed frames are written to a folder as they arrive.

Markers are a TRC file, plates a MOT file, envelopes of EMG a STO file, each with a row for every slot of the clock of
the stream: a lost sample is an empty row, which the readers fill or leave out as any other gap. The trial file beside
them is the session's with these files; it is written first, so that at every moment, also after the process was
killed, `musclesolve run FOLDER/trial.toml` gives the offline result of what was recorded. Where the clock of the stream
has changed, further files begin: `trial_2.toml` and those that it names.

A thread writes the data a few times a second, so that a slow disk delays no frame. A row that was cut
short when the power failed is left out by the readers.
"""

import csv
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import isfinite
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import STATUS_NAMES, Arrival
from musclesolve.constants import PREDICTED
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.bodies.emg_informed import MISFIT
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.recording.trial_settings import AUTO
from musclesolve.laboratory.results.dataset.labels import COMPONENTS
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, by_formula, in_set
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.laboratory.trial.dependent_settings import with_paths
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.tables.document import tables_text
from musclesolve.tables.text_file import file_path, opening, write_text, writing
from musclesolve.version import __version__

LOG = logging.getLogger("musclesolve")
WRITTEN = 0.1
"""Interval at which rows are written [s]: the largest loss if the process is killed."""
SYNCED = 1.0
"""Interval of writing to the disk [s]: the largest loss if the power fails."""
LONGEST_GAP = 10.0
"""Time without samples after which further files begin [s]."""
MOST_WAITING = 1 << 27
"""Largest size of data that wait for a full disk [bytes]; then the recording ends."""
FRAMES, NOTES = "frames.csv", "notes.csv"
RECORDING_FILES = ("trial*.toml", "markers*.trc", "forces*.mot", "emg*.sto", FRAMES, NOTES)
"""Files of a recording."""
STOOD = ("standing.toml", "standing.*", "motion.*")
"""Files of a standing: the trial file, which begins with `STANDING_HEAD`, and its recordings."""
STANDING_HEAD = (
    "# The subject of a live session, by the template of the laboratory and the standing trial.\n\n"
)
_COUNT = 10
"""Width of the number of rows in the header of a TRC file."""
_DECIMALS = {"s": 8, "ms": 3, "rad": 7, "N m": 5, "N": 4, "m": 7, "1": 8}


class _Log:
    """A file that is appended to by whole lines, first those that wait in memory.

    head: its beginning; count_at: where the number of its rows stands in it, None where it states none.
    """

    def __init__(self, path: Path, head: str, count_at: int | None = None) -> None:
        self.path, self.waiting = path, bytearray()
        self._count_at, self._rows = count_at, 0
        with writing(path):
            self._file = path.open("xb", buffering=0)
            self._file.write(head.encode())

    def write(self) -> None:
        """Write what waits.

        Raises:
            OSError: not all of it could be written; the rest waits on.
        """
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path} is gone")
        if not self.waiting:
            return
        while self.waiting:
            done = self._file.write(bytes(self.waiting[: 1 << 20])) or 0
            self._rows += self.waiting.count(b"\n", 0, done)
            del self.waiting[:done]
        if self._count_at is not None:
            self._file.seek(self._count_at)
            self._file.write(f"{self._rows:<{_COUNT}d}".encode())
            self._file.seek(0, os.SEEK_END)

    def sync(self) -> None:
        """Write the data to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Item(NamedTuple):
    """A sample with its frame, as it waits for the disk.

    slot: of the clock in its part, None where it was refused. order: as `MarkerLabels.order`.
    """

    part: int
    slot: int | None
    arrival: Arrival
    frame: Frame
    latency: float
    order: NDArray[np.intp] | None


def rows_text(
    values: Array, decimals: Sequence[int], separator: str, missing: str = "", behind: str = ""
) -> bytes:
    """Rows of numbers as text, each with the end of its line.

    Args:
        values: rows (T, k).
        decimals: k, of each number, which is rounded to so many.
        separator: between two numbers.
        missing: what stands for a number that is not finite.
        behind: what follows a row that ends with such a number: OpenSim does not count an empty cell that ends a line,
            a tab behind it makes it count.
    """
    forms, text = [f"z.{places}f" for places in decimals], ""
    for row in values.tolist():
        cells = [format(x, form) if isfinite(x) else missing for x, form in zip(row, forms, strict=True)]
        text += f"{separator.join(cells)}{'' if isfinite(row[-1]) else behind}\n"
        sleep(0.0)  # a frame that is due goes first
    return text.encode()


class Recorder:
    """A sink that writes a session to a folder.

    Args:
        folder: made if missing; one that holds a recording is refused, but for a standing after which no session began.
        say: called, from another thread, with a sentence where the disk fails and when it works again; default: the
            log of the package.

    Attributes:
        trials: the trial files so far.

    Raises:
        InputError: the folder holds a recording already, or cannot be written.
    """

    def __init__(self, folder: str | Path, say: Callable[[str], None] = LOG.warning) -> None:
        self.folder, self.trials = file_path(folder, "folder"), list[Path]()
        _make(self.folder)
        if files := _recording_in(self.folder):
            raise file_error(
                "occupied_folder",
                self.folder,
                f"the folder holds a recording already: {', '.join(map(str, files[:4]))}",
                "a new or an empty folder",
                "name another folder",
            )
        self._say, self._trouble, self._over = say, "", False
        self._logs, self._waiting, self._ending = list[_Log](), list[_Item](), Event()
        self._part, self._slot = 1, 0  # of the newest sample
        self._empty = True  # whether the part has no sample yet
        self._written = -1  # newest slot of that part
        self._noted: tuple[str, ...] = ()
        self._thread: Thread | None = None

    def begin(self, live: Live) -> None:
        """See Sink: the trial file and the headers."""
        self._live = live
        # p_file = p_global R: row vectors
        self._axes = rotation_of(live.trial.document, live.trial.settings.laboratory)
        columns = frame_columns(live)
        self._decimals = [
            0
            if name == "part"
            else 15
            if name.startswith(("gap", "moment_error"))
            else _DECIMALS.get(unit, 8)
            for name, unit in columns
        ]
        names = [f"{name} [{unit}]" for name, unit in columns]
        head = ",".join([*names, *(f"status.{side} []" for side in live.sides)])
        self._begin_part(1)
        self._frames = self._opened(FRAMES, head + "\n")
        self._notes = self._opened(NOTES, "sample_time [s],note []\n")
        self._thread = Thread(target=self._write_on, name="recorder", daemon=True)
        self._thread.start()

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        taken, slot = frame.taken, None
        if not taken.refusal:
            changed = taken.anew and (taken.slots == 0 or taken.slots > LONGEST_GAP * self._live.rate)
            if changed and not self._empty:
                self._part, self._slot = self._part + 1, 0
            elif not self._empty:
                self._slot += taken.slots
            self._empty, slot = False, self._slot
        latency, order = perf_counter() - arrival.received, self._live.labels.order
        self._waiting.append(_Item(self._part, slot, arrival, frame, latency, order))

    def close(self) -> None:
        """See Sink: write what waits."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for log in self._logs:
            log.close()
        self._logs.clear()

    def discard(self) -> None:
        """Remove the recording of a session that was refused, so that the next one can have the folder."""
        written = [*self.trials, *(log.path for log in self._logs)]
        self.close()
        for path in written:
            path.unlink(missing_ok=True)
        self.trials.clear()
        with suppress(OSError):  # a folder with other files stays
            self.folder.rmdir()

    @property
    def remarks(self) -> list[str]:
        """Sentences on the recording for the summary of a session."""
        if self._trouble:
            return [f"The recording in {self.folder} is not complete: {self._trouble}."]
        also = f" and {len(self.trials) - 1} more, where the clock changed" if len(self.trials) > 1 else ""
        side = side_option(self._live) if self.trials else ""
        return [f"Recorded: musclesolve run {self.trials[0]}{side}{also}."] if self.trials else []

    def _opened(self, name: str, head: str, count_at: int | None = None) -> _Log:
        log = _Log(self.folder / name, head, count_at)
        self._logs.append(log)
        return log

    def _begin_part(self, part: int) -> None:
        """Begin with other files: a trial file and the recordings that it names."""
        live, end = self._live, "" if part == 1 else f"_{part}"
        names = {"markers": f"markers{end}.trc", "forces": f"forces{end}.mot", "emg": f"emg{end}.sto"}
        path = self.folder / f"trial{end}.toml"
        write_text(path, recorded_trial(live, path, names))
        rate, count = f"{live.rate:.6f}", len(live.markers)
        fields = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"
        before = f"PathFileType\t4\t(X/Y/Z)\t{names['markers']}\n{fields}\n{rate}\t{rate}\t"
        head = (
            f"{before}{0:<{_COUNT}d}\t{count}\tmm\t{rate}\t1\t0\nFrame#\tTime\t"
            + "\t\t\t".join(live.markers)
            + "\t\t\n\t\t"
            + "\t".join(f"{axis}{k}" for k in range(1, count + 1) for axis in "XYZ")
            + "\n\n"
        )
        self._markers = self._opened(names["markers"], head, len(before.encode()))
        count = len(live.plates)
        columns = [f"{of}{axis}" for k in range(count) for of in plate_columns(k).values() for axis in "xyz"]
        self._forces = self._opened(names["forces"], _mot_head(names["forces"], columns)) if count else None
        self._emg = (
            self._opened(names["emg"], _mot_head(names["emg"], live.channels)) if live.channels else None
        )
        self.trials.append(path)
        self._written = -1

    def _as_rows(self, items: Sequence[_Item]) -> None:
        """Append samples and frames of one part to what waits for each file."""
        live, count = self._live, len(items)
        times = np.full(count, np.nan)  # times of the slots [s]
        if taken := [item for item in items if item.slot is not None]:
            slots = np.array([item.slot for item in taken])
            # a row for every slot, empty where no sample came
            numbers = np.arange(self._written + 1, slots[-1] + 1)
            at, time = slots - numbers[0], numbers / live.rate
            times[[item.slot is not None for item in items]] = time[at]
            samples = [item.arrival.sample for item in taken]
            markers = np.full((len(numbers), len(live.markers), 3), np.nan)
            plates = np.full((len(numbers), 3 * len(live.plates), 3), np.nan)
            named = [
                item.arrival.sample.markers if item.order is None else item.arrival.sample.markers[item.order]
                for item in taken
            ]
            markers[at] = 1e3 * np.array(named) @ self._axes
            plates[at] = np.reshape([sample.plates for sample in samples], (len(at), -1, 3)) @ self._axes
            flat = [table.reshape(len(numbers), -1) for table in (markers, plates)]
            rows, decimals = np.column_stack([numbers + 1, time, flat[0]]), [0, 8] + [5] * flat[0].shape[1]
            self._markers.waiting += rows_text(rows, decimals, "\t", behind="\t")
            if self._forces is not None:
                rows = np.column_stack([time, flat[1]])
                decimals = [8] + [5, 5, 5, 8, 8, 8, 6, 6, 6] * len(live.plates)
                self._forces.waiting += rows_text(rows, decimals, "\t", "nan")
            if self._emg is not None:
                emg = np.full((len(numbers), len(live.channels)), np.nan)
                for row, sample in zip(at, samples, strict=True):
                    emg[row] = np.nan if sample.emg is None else sample.emg
                rows = np.column_stack([time, emg])
                self._emg.waiting += rows_text(rows, [8] * rows.shape[1], "\t", "nan")
            self._written = int(slots[-1])

        frames = [item.frame for item in items]
        stamps = [(item.part, item.arrival.sample.time, 1e3 * item.latency) for item in items]
        part, stamp, latency = np.array(stamps).T
        known: dict[str, Any] = {
            name: np.array([getattr(frame, quantity.frame) for frame in frames])
            for name, quantity in QUANTITIES.items()
            if quantity.frame
        }
        known |= by_formula(known, "live")
        values = [np.reshape(known[name], (count, -1)) for name in _recorded()]
        rows = np.column_stack([part, times - live.lag, stamp, latency, *values])
        for frame, row in zip(frames, rows_text(rows, self._decimals, ",").split(b"\n"), strict=False):
            words = ",".join(STATUS_NAMES[int(code)].lower() for code in frame.status)
            self._frames.waiting += b"%s,%s\n" % (row, words.encode())
        for item in items:
            if (notes := item.frame.notes) != self._noted:
                self._noted = notes
                cells = [
                    [f"{item.arrival.sample.time:.6f}", note] for note in notes or ("nothing is missing",)
                ]
                self._notes.waiting += csv_text(cells).encode()

    def _write_on(self) -> None:
        """Write waiting data until the session ends, also after errors of the disk."""
        ended, synced, behind = False, perf_counter(), list[_Item]()
        while not ended:
            ended = self._ending.wait(WRITTEN)
            items, self._waiting = self._waiting, []
            behind += items
            if self._over:
                behind.clear()
                continue
            try:
                while behind:
                    if behind[0].part > len(self.trials):
                        self._begin_part(behind[0].part)
                    now = [item for item in behind if item.part == len(self.trials)]
                    del behind[: len(now)]
                    self._as_rows(now)
                due = ended or perf_counter() - synced > SYNCED
                for log in self._logs:
                    log.write()
                    if due:
                        log.sync()
            except Exception as error:  # the session continues after any error
                self._fail(error, ended or not isinstance(error, OSError | InputError))
            else:
                synced = perf_counter() if due else synced
                if self._trouble:
                    self._trouble = ""
                    self._say(f"{self.folder} can be written again: nothing was lost.")

    def _fail(self, error: Exception, ended: bool) -> None:
        """Report once that the folder cannot be written; end the recording if the error is permanent."""
        gone = not self.folder.is_dir() or isinstance(error, FileNotFoundError)
        reason = str(getattr(error, "strerror", None) or getattr(error, "problem", error))
        reason = "its files are gone" if gone else reason
        if gone or ended or sum(len(log.waiting) for log in self._logs) > MOST_WAITING:
            self._over, self._trouble = True, reason
            self._say(f"The session is no longer recorded in {self.folder}: {reason}.")
        elif not self._trouble:
            self._trouble = reason
            self._say(f"{self.folder} cannot be written ({reason}): make room; the session goes on.")


def _make(folder: Path) -> None:
    """Make the folder of a recording; refuse an impossible one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        in_the_way = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        problem, remedy = f"{in_the_way} is a file", "name another folder"
        if in_the_way.is_dir():
            problem = f"the folder cannot be made ({reason.strerror or reason})"
            remedy = "name a folder where you may write"
        raise file_error("not_writable", folder, problem, "a folder for the recording", remedy) from None


def _recording_in(folder: Path) -> list[str]:
    """Files of a recording in a folder; files of a standing after which no session began are replaced."""
    files, stood = (
        [path.name for name in names for path in sorted(folder.glob(name))]
        for names in (RECORDING_FILES, STOOD)
    )
    stood = list(dict.fromkeys(stood))
    if files or not stood:
        return files + stood
    with opening(folder / stood[0]), (folder / stood[0]).open(encoding="utf-8", errors="replace") as file:
        begins = stood[0] == STOOD[0] and file.read(len(STANDING_HEAD)) == STANDING_HEAD
    return [] if begins else stood


def _recorded() -> dict[str, tuple[str, ...]]:
    """The quantities of a frame that are recorded, and their dimensions: what a frame has, and what follows from it."""
    of_frame = {name: quantity.dims[1:] for name, quantity in QUANTITIES.items() if quantity.frame}
    formulas = [name for name in in_set("live") if of_frame.keys() >= set(QUANTITIES[name].arguments)]
    of_formulas = {name: QUANTITIES[name].dims[1:] for name in formulas}
    return of_frame | of_formulas | {"reserve_moment": ("side", "shared_dof")}


def frame_columns(live: Live) -> list[tuple[str, str]]:
    """Name and unit of the columns of numbers of the table of frames, "muscle_force.soleus_r" and "N"."""
    labels: dict[str, Iterable[str]] = {
        "side": live.sides,
        "dof": live.dofs,
        "shared_dof": live.shared,
        "component": COMPONENTS,
        "muscle": live.muscles,
        "joint": live.joints,
        "axis": "xyz",
    }
    columns = [("part", "1"), ("time", "s"), ("sample_time", "s"), ("latency", "ms")]
    for variable, dims in _recorded().items():
        unit = "1" if variable == "cost" else QUANTITIES[variable].units
        for combination in product(*(labels[dim] for dim in dims)):
            if variable == "pelvis_residual":
                unit = "N" if combination[0].startswith("force") else "N m"
            columns.append((".".join([variable, *combination]), unit))
    return columns


def read_frames(folder: str | Path, part: int = 1) -> xr.Dataset:
    """The frames of a recorded session as a dataset, with the names and dimensions of a result.

    Times (T,) [s] are the times of the recording and count from its first sample, so that frames can be compared with
    the result of `run` on it.
    The reserve moment is by side and shared degree of freedom; `sample_time` is the time of the newest sample as it
    came [s], `latency` how long after its arrival the frame was there [ms]. A last row that was cut short is left out.

    Args:
        folder: of the recording.
        part: number of the trial file whose frames are read.

    Raises:
        InputError: there is no such table, or it is of something else.
    """
    path = file_path(folder, "folder") / FRAMES
    with opening(path), path.open(newline="", encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    heading, *rows = csv.reader(lines)
    names = [title.rpartition(" [")[0] for title in heading]
    units = {name: title.rpartition(" [")[2].rstrip("]") for name, title in zip(names, heading, strict=True)}
    if "part" not in names or "sample_time" not in names:
        problem, expected = f"the columns are {few(names)}", "the table of frames that a live session records"
        raise file_error("bad_format", path, problem, expected, "name the folder of a recording")
    which, when = names.index("part"), names.index("time")
    kept = [row for row in rows if row[which] == str(part) and row[when]]
    columns = dict(zip(names, zip(*kept, strict=True) if kept else [()] * len(names), strict=True))
    data: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    shapes = _recorded() | {"status": ("side",)}
    for variable in dict.fromkeys(name.partition(".")[0] for name in names if name != "part"):
        of, dims = [name for name in names if name.partition(".")[0] == variable], shapes.get(variable, ())
        cells = np.array([columns[name] for name in of]).reshape(len(of), len(kept)).T
        if variable != "status":
            cells = np.where(cells == "", "nan", cells).astype(float)
        for dim, text in zip(dims, zip(*(name.split(".")[1:] for name in of), strict=True), strict=True):
            labels[dim] = list(dict.fromkeys(text))
        attributes = {"units": ", ".join(dict.fromkeys(units[name] for name in of))}
        if variable in QUANTITIES:
            attributes["long_name"] = QUANTITIES[variable].long_name
        shape = (len(kept), *(len(labels[dim]) for dim in dims))
        data[variable] = (("time", *dims), cells.reshape(shape), attributes)
    return xr.Dataset(data | {dim: (dim, label) for dim, label in labels.items()}).set_coords("time")


def plate_columns(plate: int) -> dict[str, str]:
    """Common beginnings of the columns of a plate, counted from 0, by the keys of [[force]]."""
    return {
        "force": f"ground_force_{plate + 1}_v",
        "point": f"ground_force_{plate + 1}_p",
        "moment": f"ground_torque_{plate + 1}_",
    }


def side_option(live: Live) -> str:
    """Return the option of `musclesolve run` for the legs of a session, "" for both: a trial file has no key for it."""
    return f" --side {live.sides[0]}" if len(live.sides) == 1 else ""


def recorded_trial(live: Live, path: Path, names: Mapping[str, str]) -> str:
    """The text of the trial file of a recorded session.

    Cut-off, cost and plates are the session's; lag and legs, which have no key, stand in a comment. What the
    plates measured is recorded as it came, without [plates], and without [time] the range is found.

    Args:
        live: of the session.
        path: where the trial file is to be.
        names: of the recorded files by "markers", "forces" and "emg", beside it.
    """
    trial = live.trial
    content = with_paths(trial.document.content, trial.path.parent, path)
    for name in ("plates", "fascicle", "force", "emg"):
        content.pop(name, None)
    forces = PREDICTED if live.predicts else names["forces"]
    content["files"] |= {"markers": names["markers"], "forces": forces}
    movement = content.pop("time", {}).get("movement")
    if movement is not None:
        content["time"] = {"movement": movement}
    # the number that the session used, also where the trial file lets its recording choose one
    content["filter"] = {**content.get("filter", {}), "cutoff_hz": float(live.cutoff)}
    cost = _stated_cost(live.body.options.sharing.cost)
    if cost is not None:
        content["sharing"] = {**content.get("sharing", {}), "cost": cost}
    content["force"] = [
        {"side": AUTO if side is None else side} | plate_columns(k) for k, side in enumerate(live.plates)
    ]
    if live.channels:
        stated = dict(trial.document.content["emg"])
        stated |= {"file": names["emg"], "processed": True, "maximum": dict.fromkeys(live.channels, 1.0)}
        content["emg"] = {key: value for key, value in stated.items() if key != "offset_s"}
    head = (
        f"# Recorded by `musclesolve live` (musclesolve {__version__}); the range is found.\n"
        f"# The session: --lag-ms {1e3 * live.lag:g} --rate {live.rate:g}{side_option(live)}\n\n"
    )
    return head + tables_text(content)


def _stated_cost(cost: Cost) -> str | None:
    """The text by which a trial file finds the cost; None for one of a program or informed by EMG ([emg] weight)."""
    try:
        return cost.label if MISFIT not in single_costs(cost) and find_cost(cost.label) == cost else None
    except InputError:
        return None


def _mot_head(name: str, columns: Any) -> str:
    """The header of a MOT or STO file that states no number of rows, as of OpenSim 4."""
    lines = [Path(name).stem, "version=1", f"nColumns={len(columns) + 1}", "inDegrees=no", "endheader"]
    return "\n".join([*lines, "\t".join(["time", *columns])]) + "\n"
