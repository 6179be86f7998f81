"""MAT files: a result as nested structures, activation.soleus_r, with names as cell arrays."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve.errors import InputError
from musclesolve.results.export.opensim_names import Naming
from musclesolve.results.export.time_series import abscissa_of, chosen, columns, labels, status_names

LONGEST_NAME = 63
"""Of MATLAB."""
_OTHER = re.compile(r"\W", re.ASCII)


def mat_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, bytes]:
    """One MAT file, version 5: `time` (T, 1), and each variable as a structure with a (T, 1) field for each name.

    moment_arm.knee_flexion_r.soleus_r; `names` holds the names along each dimension, `units` the unit of each variable,
    `provenance` the attributes; texts are cell arrays. Letters that MATLAB does not allow become "_".
    """
    from scipy.io import savemat  # only where such a file is written

    over = abscissa_of(result)
    content: dict[str, Any] = {over: np.reshape(result[over].values, (-1, 1))}
    units, names = {}, {}
    for variable in chosen(result, variables):
        found = columns(result, variable, naming)
        values = status_names(result, found.values) if variable == "status" else found.values
        tree: dict[str, Any] = {}
        for k, each in enumerate(found.labels):
            _put(tree, [variable, *each.values()], values[:, k : k + 1])
        content |= tree
        units[_field(variable)] = found.unit
        for dim in found.labels[0] if found.labels else ():
            names[_field(dim)] = _cells(dict.fromkeys(each[dim] for each in found.labels))
    names |= {over: _cells(labels(result, over))} if over == "percent" else {}
    provenance = {_field(key): _attribute(value) for key, value in result.attrs.items()}
    stated = provenance | {"names_and_signs": naming.sentence}
    stream = io.BytesIO()
    savemat(stream, content | {"names": names, "units": units, "provenance": stated}, long_field_names=True)
    return {path.name: stream.getvalue()}


def _put(tree: dict[str, Any], place: list[str], values: Any) -> None:
    """Store values under nested names.

    Raises:
        InputError: two names become one, as letters that MATLAB does not allow are replaced.
    """
    *parents, last = map(_field, place)
    for name in parents:
        tree = tree.setdefault(name, {})
    if last in tree:
        raise InputError(
            f"two series would be called {'.'.join(place)} in MATLAB",
            code="duplicate_name",
            expected="names that differ in letters and digits",
            remedy="--format csv",
        )
    tree[last] = values


def _field(name: str) -> str:
    """A name that MATLAB allows: letters, digits and _, a letter first."""
    name = _OTHER.sub("_", name)
    return (name if name[:1].isalpha() else f"x{name}")[:LONGEST_NAME]


def _cells(texts: Iterable[str]) -> Any:
    """A column cell array of texts."""
    listed = list(texts)
    cells = np.empty((len(listed), 1), dtype=object)
    cells[:, 0] = listed
    return cells


def _attribute(value: Any) -> Any:
    """A number or text as it is, a list of texts as a cell array."""
    array = np.asarray(value)
    if array.ndim and array.dtype.kind in "UO":
        return _cells(map(str, array.ravel().tolist()))
    return value
