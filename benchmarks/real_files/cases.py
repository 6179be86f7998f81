"""The cases of a folder of public files: what each consists of, and what is known about it."""

from __future__ import annotations

import csv
import gzip
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

TABLE, FACTS = "README.md", "facts.csv"
"""Files of the folder: a table with one line a case, and facts on the files."""
SHARED_FILE = re.compile(r"(?P<name>[^|;=]+?) = [^;|]*\(same file as (?P<path>[^)]+)\)")
"""A file of a case that lies in the folder of another case, as the table states it."""


@dataclass(frozen=True)
class RealCase:
    """One motion of one laboratory.

    name: the folder of the case, "source/motion". files: name in the case -> compressed file. facts: (file, fact,
    value) of each fact on its files, measured without musclesolve.
    """

    name: str
    files: Mapping[str, Path]
    facts: tuple[tuple[str, str, str], ...] = ()

    @property
    def source(self) -> str:
        """The laboratory: the first folder of the name."""
        return self.name.partition("/")[0]

    def unpack(self, folder: Path) -> Path:
        """Write the files of the case, uncompressed, below a folder; return the folder of the case."""
        target = folder / self.name
        target.mkdir(parents=True)
        for name, file in self.files.items():
            with gzip.open(file) as compressed, (target / name).open("wb") as written:
                shutil.copyfileobj(compressed, written)
        return target

    def numbers(self, fact: str) -> Iterator[str]:
        """Yield the values of a fact over the files of the case."""
        yield from (value for _, name, value in self.facts if name == fact)

    def carried_mass(self) -> float | None:
        """The mass that the plates carry [kg]: over two steps or more, else the mean of a whole recording."""
        for value in self.numbers("mass_kg_step"):
            mass, _, steps = value.partition(" of ")
            if int(steps.partition(" ")[0]) > 1:
                return float(mass)
        return next(map(float, self.numbers("mass_kg_mean_total")), None)


def real_cases(folder: Path, pattern: str = "*") -> list[RealCase]:
    """Return the cases of a folder whose names match a pattern, in the order of their names."""
    shared = _shared_files(folder)
    facts: dict[str, list[tuple[str, str, str]]] = {}
    with (folder / FACTS).open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            name, _, file = row["file"].rpartition("/")
            facts.setdefault(name, []).append((file, row["fact"], row["value"]))
    cases = []
    for place in sorted({file.parent for file in folder.glob("*/*/*.gz")}):
        name = place.relative_to(folder).as_posix()
        own = {file.name.removesuffix(".gz"): file for file in sorted(place.glob("*.gz"))}
        files = own | {name: folder / f"{path}.gz" for name, path in shared.get(name, ())}
        if fnmatch(name, pattern):
            cases.append(RealCase(name, files, tuple(facts.get(name, ()))))
    return cases


def _shared_files(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the files of each case that lie in the folder of another one: name in the case, and path."""
    shared: dict[str, list[tuple[str, str]]] = {}
    for line in (folder / TABLE).read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            case, *_, files = (cell.strip() for cell in line.strip("| ").split(" | "))
            shared[case] = [(m["name"].strip(), m["path"]) for m in SHARED_FILE.finditer(files)]
    return shared
