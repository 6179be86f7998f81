"""Tables of muscle forces or activations that other programs wrote, by the names of an OpenSim model.

Columns are found by their names:

    soleus_r                                 a force or an activation, as the numbers show
    /forceset/soleus_r, soleus_r.excitation  control of Moco, excitation of CMC
    /forceset/soleus_r/activation            activation
    /forceset/soleus_r/normalized_tendon_force    tendon force over the maximum isometric force
    /forceset/soleus_r|tendon_force          an output of a model [N]
    /jointset/hip_r/hip_flexion_r/value, /speed   a coordinate and its rate
    hip_flexion_r_reserve, /forceset/reserve_jointset_hip_r_hip_flexion_r    an actuator of a coordinate
    FX, FY, FZ, MX, MY, MZ                   residual actuators of the root
    calcn_r_right_Fx, .._px, .._Tx           external loads, which are part of the problem

A control is the activation of a muscle without a column of activation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import few
from musclesolve.constants import ELASTIC
from musclesolve.errors import file_error
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.tables.cells import blocks_of, title_lines, titled_columns
from musclesolve.tables.number_rows import RowReader, timed_rows
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.sampled import Table
from musclesolve.tables.text_file import file_path, suffix_of

QUANTITIES = FORCES, ACTIVATIONS = "forces", "activations"
OPENSIM, MOCO, UNKNOWN = "static optimization of OpenSim", "Moco of OpenSim", "another program"
CMC, CEINMS, OWN = "CMC of OpenSim", "CEINMS", "musclesolve"
"""Programs whose tables are recognized."""
LARGEST_ACTIVATION = 1.5
"""Numbers of plain muscle columns that stay below it are activations: the forces of a person exceed it."""
ROOT = ("FX", "FY", "FZ", "MX", "MY", "MZ")
"""Names of the residual actuators that OpenSim's examples give them."""
_LOAD = re.compile(r"_(F|p|T)[xyz]$")
_WORDS = {
    "activation": "activation",
    "excitation": "control",
    "normalized_tendon_force": "normalized_force",
    "tendon_force": "force",
    "value": "value",
    "speed": "speed",
}
"""Last word of a column -> field of `ForeignSolution`."""
_MARKS = {
    "musclesolve": OWN,
    "static optimization": OPENSIM,
    "modelforces": OPENSIM,
    "num_controls": MOCO,
    "mocosolution": MOCO,
    "actuatorforces": CMC,
    "ceinms output": CEINMS,
}
_TITLES_OF_FORCES = ("modelforces", "actuatorforces")
"""Titles of tables of forces of OpenSim: of static optimization, and of CMC."""
_OF_CEINMS = re.compile(
    r"(norm)?fib(er|re)|emgs?$|adjustedemgs|pennationangles?|tendonlength|lmt$|ma_", re.IGNORECASE
)
"""Beginnings of the names of tables of CEINMS whose columns are muscles, but neither forces nor activations."""
_HEADER = 40


@dataclass(frozen=True, eq=False)
class ForeignSolution:
    """A table of another program over T times, by muscle, coordinate and actuator: columns (T,).

    force: tendon forces [N]; activation; control: excitations, where there are activations, too; normalized_force:
    tendon forces of elastic tendons over the maximum isometric force; value, speed: of coordinates; actuator: of other
    actuators, in newtons and newton meters in a table of forces, else controls; coordinate_of: actuator -> coordinate,
    "" if not known; left_out: columns that are none of these. program: one of OPENSIM, MOCO, CMC, CEINMS, OWN,
    UNKNOWN.
    fiber_states: whether there are lengths of fibers. states_elastic: whether its header states elastic tendons, as
    this program writes them.
    """

    file: Path
    program: str
    time: Array
    force: Mapping[str, Array] = field(default_factory=dict)
    activation: Mapping[str, Array] = field(default_factory=dict)
    control: Mapping[str, Array] = field(default_factory=dict)
    normalized_force: Mapping[str, Array] = field(default_factory=dict)
    value: Mapping[str, Array] = field(default_factory=dict)
    speed: Mapping[str, Array] = field(default_factory=dict)
    actuator: Mapping[str, Array] = field(default_factory=dict)
    coordinate_of: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fiber_states: bool = False
    states_elastic: bool = False

    @property
    def elastic(self) -> bool:
        """Whether tendons were elastic: by states of tendons or fibers, by the header, or as always in CMC."""
        stated = self.fiber_states or self.states_elastic
        return stated or bool(self.normalized_force) or self.program == CMC

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles with a force or an activation."""
        return tuple(dict.fromkeys([*self.force, *self.normalized_force, *self.activation]))

    @property
    def in_newtons(self) -> bool:
        """Whether actuators are stated as forces and moments."""
        return bool(self.force) and not self.activation


def read_foreign_solution(
    path: str | Path, model: OpenSimModel, quantity: str | None = None
) -> ForeignSolution:
    """Read a table of muscle forces or activations by the names of a model.

    Args:
        path: of a .sto, .mot or .csv file, the time in its first column [s].
        model: whose muscles, coordinates and actuators the columns name.
        quantity: of plain muscle columns, "forces" [N] or "activations". None: activations where all numbers are below
            1.5 and OpenSim does not title the table as forces, else forces.

    Raises:
        InputError: no column is a muscle of the model; a muscle occurs twice.
    """
    path = file_path(path)
    if quantity is not None:
        check_choice(quantity, "quantity", QUANTITIES)
    table = _read_columns(path) if suffix_of(path) in (".csv", ".tsv") else read_mot(path)
    columns = _sorted_columns(table, model)
    by_kind, header = columns.by_kind, _header(path)
    if plain := by_kind.pop("plain"):
        title = header.partition("\n")[0].strip()
        _check_plain(path, title, quantity)
        by_kind[_kind_of_plain(plain, title, quantity)].update(plain)
    for name, values in by_kind["control"].items():  # muscles without activation dynamics
        by_kind["activation"].setdefault(name, values)
    if not any(by_kind[kind] for kind in ("force", "activation", "normalized_force")):
        raise file_error(
            "missing_column",
            path,
            f"no column is a muscle of the model {model.name}: there are {few(table.names, 8)}",
            f"columns such as {few(model.muscles, 4)} or /forceset/{next(iter(model.muscles), 'NAME')}/activation",
            "give a table of muscle forces or activations of this model",
        )
    notes, left_out = list(table.sentences), columns.left_out
    if columns.loads:
        notes.append(
            f"{columns.loads} columns of external loads are not read: the loads are part of the problem."
        )
    if left_out:
        notes.append(f"Columns that are neither muscle, coordinate nor actuator: {few(left_out, 6)}.")
    program = _program(header, table)
    return ForeignSolution(
        path,
        program,
        table.time,
        **by_kind,
        coordinate_of=columns.coordinate_of,
        fiber_states=columns.fiber_states,
        states_elastic=program == OWN and f"{ELASTIC} tendons" in header,
        left_out=tuple(left_out),
        notes=tuple(notes),
    )


@dataclass
class _Columns:
    """The columns of a table by what they are.

    by_kind: kind of number -> name -> column (T,). coordinate_of: actuator -> its coordinate, "" of the root. loads:
    number of columns of external loads; fiber_states: whether there are states of fibers.
    """

    by_kind: dict[str, dict[str, Array]]
    coordinate_of: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    loads: int = 0
    fiber_states: bool = False


def _sorted_columns(table: Table, model: OpenSimModel) -> _Columns:
    """The columns of a table by the names of a model; refuses a name that occurs twice."""
    columns = _Columns({name: {} for name in ("plain", *dict.fromkeys(_WORDS.values()), "actuator")})
    for column, values in zip(table.names, table.values.T, strict=True):
        name, word = _parts(column)
        kind = _WORDS.get(word, "")
        if column.endswith("/fiber_length"):
            columns.fiber_states = True
            continue
        if name in model.muscles and kind not in ("value", "speed"):
            kind = kind or ("control" if column.startswith("/") else "plain")
        elif name in model.coordinates and kind in ("value", "speed"):
            pass
        elif _LOAD.search(name):
            columns.loads += 1
            continue
        elif not word and (name in ROOT or (moved := _coordinate_of(name, model)) or name in model.actuators):
            kind, columns.coordinate_of[name] = "actuator", "" if name in ROOT else moved
        else:
            columns.left_out.append(column)
            continue
        if name in columns.by_kind[kind] or column in table.repeated:
            again = table.repeated.get(column, f"the second time as '{column}'")
            raise file_error(
                "duplicate_name",
                table.path,
                f"{name} occurs twice: {again}",
                "one column for each muscle, coordinate and actuator",
                "remove one of them",
            )
        columns.by_kind[kind][name] = values
    return columns


def _check_plain(path: Path, title: str, quantity: str | None) -> None:
    """Refuse tables of CMC and CEINMS whose plain muscle columns are neither forces nor activations."""
    if title == "controls":
        raise file_error(
            "bad_value",
            path,
            "the controls of CMC are excitations, from which muscles make no force without their dynamics",
            "forces or activations",
            "give NAME_Actuation_force.sto, which CMC writes beside it",
        )
    if quantity is None and _OF_CEINMS.match(path.stem):
        raise file_error(
            "bad_value",
            path,
            f"{path.name} is the name that CEINMS gives a table of muscles without forces or activations",
            "tendon forces or activations",
            "give MuscleForces.sto, MuscleTendonForces.sto or Activations.sto, which CEINMS writes beside it; "
            "if the table has forces or activations, state it with --quantity",
        )


def _kind_of_plain(plain: Mapping[str, Array], title: str, quantity: str | None) -> str:
    """Whether plain muscle columns are an "activation" or a "force": as requested, else by their title and size."""
    if quantity is not None:
        return "activation" if quantity == ACTIVATIONS else "force"
    largest = max(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for values in plain.values())
    small = largest <= LARGEST_ACTIVATION and title not in _TITLES_OF_FORCES
    return "activation" if small else "force"


def _parts(column: str) -> tuple[str, str]:
    """The name in a column, and the word behind it, "" without one."""
    pieces = re.split(r"[/|]", column.strip("/"))
    if pieces[-1] in _WORDS and len(pieces) > 1:
        return pieces[-2], pieces[-1]
    name, dot, word = pieces[-1].rpartition(".")
    return (name, word) if dot and word in _WORDS else (pieces[-1], "")


def _coordinate_of(actuator: str, model: OpenSimModel) -> str:
    """The coordinate of an actuator, by the model or by its name; "" if neither shows it."""
    if actuator in model.actuators:
        return model.actuators[actuator].coordinate
    stem = re.sub(r"^reserve_|_reserve$|_actuator$", "", actuator)
    if stem == actuator and stem not in model.coordinates:
        return ""
    named = [name for name in model.coordinates if stem == name or stem.endswith(f"_{name}")]
    return max(named, key=len, default="")


def _header(path: Path) -> str:
    """The first lines of a table, up to the end of its header, in small letters."""
    with RowReader(path) as reader:
        return "\n".join(islice(iter(reader.line, None), _HEADER)).partition("endheader")[0].casefold()


def _program(header: str, table: Table) -> str:
    """The program that wrote a table, by marks in its header and its columns."""
    if any(name.startswith("/") for name in table.names):
        return MOCO if "num_controls" in header or "_jointset" in header else UNKNOWN
    found = [program for mark, program in _MARKS.items() if mark in header]
    return found[0] if found else UNKNOWN


def _read_columns(path: Path) -> Table:
    """Read columns over time between commas, semicolons or tabs, in the units of the file."""
    with RowReader(path) as reader:
        header = titled_columns(title_lines(reader, reader.first_line()), reader, in_si=False)
        time, values, lines, notes, warning = timed_rows(
            reader,
            blocks_of(reader, header),
            lambda rows: (header.times(rows), rows[:, header.columns]),
            "column",
            header.names,
            header.repeated,
            header.count,
        )
    rest = lines, (), (*header.notes, *notes), header.repeated, warning, reader.sha256
    return Table(time, header.names, values, None, path, *rest)
