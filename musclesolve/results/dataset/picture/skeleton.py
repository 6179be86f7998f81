"""Points and bones of a skeleton, and paths of its muscles, as variables of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve.muscles.paths.layout import PathLines

Variable = tuple[tuple[str, ...], AnyArray]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Names of points (S), their positions (T, S, 3) [m] in single precision, and bones from one point to another."""

    points: tuple[str, ...]
    position: AnyArray
    bones: tuple[tuple[str, str], ...]

    @property
    def variables(self) -> dict[str, Variable]:
        """Named as in variables.toml."""
        return {"skeleton_position": (("time", "skeleton_point", "axis"), self.position)}

    @property
    def coordinates(self) -> dict[str, object]:
        """Names of the points; the points at both ends of each bone."""
        ends = np.array(self.bones, np.str_).reshape(-1, 2)
        return {
            "skeleton_point": list(self.points),
            "bone_start": ("bone", ends[:, 0]),
            "bone_end": ("bone", ends[:, 1]),
        }


@dataclass(frozen=True, eq=False)
class MusclePaths:
    """Lines of muscles, those of several parts of the body one after the other."""

    names: tuple[str, ...]
    lines: PathLines

    @classmethod
    def of(cls, parts: Sequence[tuple[Sequence[str], PathLines]]) -> MusclePaths:
        """The muscles of all parts, each with their names and lines."""
        first = np.cumsum([0, *(len(names) for names, _ in parts)])
        joined = PathLines(
            np.concatenate([lines.muscle + start for (_, lines), start in zip(parts, first, strict=False)]),
            np.concatenate([lines.position for _, lines in parts], axis=1),
            np.concatenate([lines.used for _, lines in parts], axis=1),
        )
        return cls(tuple(name for names, _ in parts for name in names), joined)

    @property
    def variables(self) -> dict[str, Variable]:
        """Named as in variables.toml."""
        return {"path_position": (("time", "path_point", "axis"), self.lines.position)}

    @property
    def coordinates(self) -> dict[str, object]:
        """The muscle of every point."""
        return {"path_muscle": ("path_point", np.array(self.names, np.str_)[self.lines.muscle])}


@dataclass(frozen=True, eq=False)
class Drawn:
    """All that a picture of the body is drawn from."""

    skeleton: Skeleton
    paths: MusclePaths

    @property
    def variables(self) -> dict[str, Variable]:
        """Named as in variables.toml."""
        return self.skeleton.variables | self.paths.variables

    @property
    def coordinates(self) -> dict[str, object]:
        """Of both."""
        return self.skeleton.coordinates | self.paths.coordinates
