"""Stores for the windows of a long recording: the numbers of its result, and what describes the whole motion."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr
from xarray.backends import NetCDF4DataStore

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.results.dataset.labels import Variable
from musclesolve.models.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.muscles.muscle_state import MuscleState, zero_arms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import SolutionArrays

ARMS = ("time", "dof", "muscle")
"""Dimensions of moment arms, most of which are zero throughout."""
CACHE = 1 << 20
"""Memory in which the library holds chunks of a variable [bytes]; each chunk is written once, as a whole."""
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
                chunks = len(values), *values.shape[1:]
                packed: dict[str, Any] = {"zlib": True, "complevel": 1} if dims == ARMS else {}
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
    """A part in all frames of a long motion, of whose muscles the fiber lengths are kept; some frames are made anew.

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
    """The solutions and fiber lengths of a long recording while windows of them are put into it."""

    def __init__(self, body: RecordedBody) -> None:
        self.body, self.lifted = body, dict[tuple[int, str], Mask]()
        self._solutions, self._lengths = list[SolutionArrays](), list[Array]()
        self._usable, self._last = list[Mask](), MeasuredAnalysis(body, body.sharing, ())

    def put(self, window: slice, analysis: MeasuredAnalysis, lifted: Mapping[tuple[int, str], Mask]) -> None:
        """Keep a window of frames; lifted: see `Knees`."""
        frames, parts = len(self.body.time), analysis.parts
        if not self._solutions:
            sizes = [(len(part.part.shared), len(part.state.parameters.names)) for part in parts]
            self._solutions = [SolutionArrays.unfilled(frames, *size) for size in sizes]
            self._lengths = [np.empty((frames, muscles)) for _, muscles in sizes]
            self._usable = [np.empty(frames, bool) for _ in sizes]
            self.lifted = {key: np.empty(frames, bool) for key in lifted}
        for number, part in enumerate(parts):
            self._solutions[number].store(window, SolutionArrays.from_solution(part.solution))
            self._lengths[number][window] = part.state.fiber_length
            self._usable[number][window] = part.part.usable
        for key, mask in lifted.items():
            self.lifted[key][window] = mask
        if window.stop >= frames:
            self._last = analysis

    @property
    def analysis(self) -> MeasuredAnalysis:
        """The analysis of all frames, whose parts hold what was kept and make the rest of some frames anew."""
        return replace(self._last, body=self.body, parts=tuple(map(self._part, range(len(self._solutions)))))

    def _part(self, number: int) -> SolvedGroup:
        body, last = self.body, self._last.parts[number]
        rows = [body.mechanics.model.dof(dof) for dof in last.part.dofs]
        state = object.__new__(MuscleState)
        vars(state).update(parameters=last.state.parameters, fiber_length=self._lengths[number])
        known: dict[str, Any] = {"sides": last.part.sides, "dofs": last.part.dofs, "shared": last.part.shared}
        known |= {"state": state, "moment": body.moments[:, rows], "usable": self._usable[number]}
        part = WindowedGroup(**known, time=body.time, number=number, body=body)
        solution = replace(last.solution, **vars(self._solutions[number]), time=body.time)
        return SolvedGroup(part, partial(_problem_in, part, self._last.sharing), solution)


def _problem_in(part: SharingGroup, sharing: Sharing, frames: slice | Indices) -> Problem:
    """The problem of some frames, with joint reactions if the cost may read them."""
    return sharing_problem(part.frames(frames, sharing.reads_reactions), sharing)
