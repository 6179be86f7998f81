"""Stores for the windows of a long recording: the numbers of its result, and what describes the whole motion."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr
from xarray.backends import NetCDF4DataStore

from musclesolve._util.arrays import AnyArray, Indices, Mask
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.results.dataset.labels import Variable
from musclesolve.models.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.muscles.muscle_state import MuscleState, zero_arms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution, SolutionArrays

ARMS = ("time", "dof", "muscle")
"""Dimensions of moment arms, most of which are zero throughout."""
ARM_FRAMES = 64
"""Frames of moment arms that are made or packed together: all arms of a window take as much memory as its rest."""
CACHE = 1 << 20
"""Memory in which the library holds chunks of a variable [bytes]; each chunk is written once, as a whole."""
KEPT = "status", "reserve", "reserve_weight"
"""Arrays of a solution by which the sentences on reserves describe the whole motion."""
NARROW = 16
"""Numbers a frame up to which a variable stays in memory."""


class FrameStore:
    """The variables of T frames while windows of them are put into it."""

    def __init__(self, frames: int) -> None:
        self.frames, self.variables = frames, dict[str, Variable]()

    def put(self, window: slice, variables: Mapping[str, Variable]) -> None:
        """Store the variables of a window of frames; those that are not over time, once."""
        for name, (dims, values, *_) in variables.items():
            if dims[0] != "time":
                self.variables[name] = dims, values
                continue
            if name not in self.variables:
                shape = self.frames, *values.shape[1:]
                whole = zero_arms(*shape) if dims == ARMS else np.empty(shape, values.dtype)
                self.variables[name] = dims, whole
            # what is never written takes no memory
            crossed = (values != 0.0).any(axis=0) if dims == ARMS else ...
            self.variables[name][1][window][:, crossed] = values[:, crossed]

    def finished(self) -> dict[str, Variable]:
        """All variables, when all windows were put."""
        return self.variables


class FileStore(FrameStore):
    """A store whose wide variables lie in a file until the result is written, and are read where they are needed."""

    def __init__(self, frames: int, path: Path) -> None:
        super().__init__(frames)
        self._file = netCDF4.Dataset(path, "w")

    def put(self, window: slice, variables: Mapping[str, Variable]) -> None:
        """See FrameStore."""
        wide = {
            name: variable
            for name, variable in variables.items()
            if variable[0][0] == "time" and variable[1].dtype.kind == "f" and variable[1][0].size > NARROW
        }
        super().put(window, {name: variable for name, variable in variables.items() if name not in wide})
        for name, (dims, values, *_) in wide.items():
            if name not in self._file.variables:
                sizes = dict(zip(dims, (self.frames, *values.shape[1:]), strict=True))
                for dim in sizes.keys() - self._file.dimensions.keys():
                    self._file.createDimension(dim, sizes[dim])
                of_arms = dims == ARMS
                chunks = min(len(values), ARM_FRAMES) if of_arms else len(values), *values.shape[1:]
                packed: dict[str, Any] = {"zlib": True, "complevel": 1} if of_arms else {}
                made = self._file.createVariable(
                    name, values.dtype, dims, chunksizes=chunks, fill_value=False, **packed
                )
                made.set_var_chunk_cache(CACHE)  # the usual one holds 16 MB of every variable in memory
            self._file[name][window] = values

    def finished(self) -> dict[str, Variable]:
        """See FrameStore."""
        self._file.sync()
        stored = xr.open_dataset(NetCDF4DataStore(self._file), cache=False, mask_and_scale=False)
        wide: dict[str, Any] = {str(name): (of.dims, of) for name, of in stored.variables.items()}
        return super().finished() | wide


@dataclass(frozen=True, eq=False)
class WindowedGroup(SharingGroup):
    """A part in all frames of a long motion, without the states of its muscles; states of some frames are made anew.

    number: of the part; body: the body in all frames.
    """

    number: int = 0
    body: RecordedBody | None = None

    def frames(self, which: slice | Indices, loaded: bool = False) -> SharingGroup:
        """See SharingGroup."""
        assert self.body is not None
        some = np.arange(len(self.time))[which]
        part = self.body.frames(some).parts[self.number]
        return part if loaded else replace(part, loads=None)


class WindowedAnalysis:
    """Arrays that describe the solutions of a long recording, while windows of frames are put into it.

    Activations are kept beside EMG alone, fiber lengths beside measured fascicles: all others lie in the store.
    """

    def __init__(self, body: RecordedBody) -> None:
        self.body, self.lifted = body, dict[tuple[int, str], Mask]()
        self._parts, self._last = list[_KeptPart](), MeasuredAnalysis(body, body.sharing, ())

    def put(self, window: slice, analysis: MeasuredAnalysis, lifted: Mapping[tuple[int, str], Mask]) -> None:
        """Keep a window of frames; lifted: see `Knees`."""
        frames, body = len(self.body.time), self.body
        if not self._parts:
            solved = KEPT if body.emg is None else (*KEPT, "activation")
            states = () if body.fascicles is None else ("fiber_length",)
            self._parts = [_KeptPart(solved, states) for _ in analysis.parts]
            self.lifted = {key: np.empty(frames, bool) for key in lifted}
        for kept, part in zip(self._parts, analysis.parts, strict=True):
            kept.put(window, frames, part)
        for key, mask in lifted.items():
            self.lifted[key][window] = mask
        if window.stop >= frames:
            self._last = analysis

    @property
    def analysis(self) -> MeasuredAnalysis:
        """The analysis of all frames, whose parts hold what was kept and make the rest of some frames anew."""
        parts = tuple(map(self._part, range(len(self._parts))))
        return replace(self._last, body=self.body, parts=parts)

    def _part(self, number: int) -> SolvedGroup:
        body, kept, last = self.body, self._parts[number], self._last.parts[number]
        rows = [body.mechanics.model.dof(dof) for dof in last.part.dofs]
        # what is not kept is no attribute
        state, solution = object.__new__(MuscleState), object.__new__(Solution)
        vars(state).update(parameters=last.state.parameters, **kept.of("fiber_length"))
        arrays = {field.name for field in fields(SolutionArrays)}
        named = {name: value for name, value in vars(last.solution).items() if name not in arrays}
        vars(solution).update(named | kept.of(*KEPT, "activation") | {"time": body.time})
        known: dict[str, Any] = {"sides": last.part.sides, "dofs": last.part.dofs, "shared": last.part.shared}
        known |= {"state": state, "moment": body.moments[:, rows], **kept.of("usable")}
        part = WindowedGroup(**known, time=body.time, number=number, body=body)
        whole = SolvedGroup(part, partial(_problem_in, part, self._last.sharing), solution)
        vars(whole).update(fiber_ends=kept.fiber_ends)
        return whole


class _KeptPart:
    """Arrays of a part over all frames, filled by windows: some of its solution, some of its state, usable frames.

    fiber_ends: see `SolvedGroup`.
    """

    def __init__(self, solution: Collection[str], state: Collection[str]) -> None:
        self._solution, self._state, self._arrays = solution, state, dict[str, AnyArray]()
        self.fiber_ends = np.empty((0, 0))

    def put(self, window: slice, frames: int, part: SolvedGroup) -> None:
        """Keep a window of so many frames."""
        some = {name: getattr(part.solution, name) for name in self._solution}
        some |= {name: getattr(part.state, name) for name in self._state}
        for name, values in (some | {"usable": part.part.usable}).items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((frames, *values.shape[1:]), values.dtype)
            self._arrays[name][window] = values
        least, greatest = part.fiber_ends
        if window.start:
            least, greatest = np.fmin(self.fiber_ends[0], least), np.fmax(self.fiber_ends[1], greatest)
        self.fiber_ends = np.stack([least, greatest])

    def of(self, *names: str) -> dict[str, AnyArray]:
        """The arrays of these names that are kept."""
        return {name: self._arrays[name] for name in names if name in self._arrays}


def _problem_in(part: SharingGroup, sharing: Sharing, frames: slice | Indices) -> Problem:
    """The problem of some frames, with joint reactions if the cost may read them."""
    return sharing_problem(part.frames(frames, sharing.reads_reactions), sharing)
