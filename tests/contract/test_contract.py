"""One contract for all that is registered: costs, solvers, readers, muscle sets, checks, quantities, figures.

What is registered, by a file of the package or by an entry point of another one, is tested by being registered. `law`
puts a function among the laws of a kind; it takes the registered name and an empty folder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import cost_laws
import numpy as np
import pytest
from packages import need_solver
from refusals import refused
from sharing_cases import RESTING, SMOOTH, equipped, leg

import muscle_db
from muscle_db.toml_text import to_toml
from musclesolve import Cost, Problem, Status, costs, solve, solvers
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.check import all_checks
from musclesolve.laboratory.files import formats
from musclesolve.laboratory.plotting.figure_sets import FIGURES, OF_MODEL
from musclesolve.laboratory.results.dataset.quantities import ANALYSIS, KINDS, QUANTITIES
from musclesolve.sharing import certify
from musclesolve.sharing.cost import NEEDS, ForceSquared
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.status import is_solved

ROOT = Path(__file__).parents[2]
formats._add_readers()
READERS = {
    "markers": (formats.MARKERS, formats.read_markers),
    "forces": (formats.FORCES, formats.read_forces_table),
    "channels": (formats.CHANNELS, formats.read_channels),
}
CHECKS = {check.detect.__name__: check for check in all_checks()}
REGISTERED = {
    "cost": list(costs()),
    "solver": list(solvers()),
    "reader": [f"{role}{suffix}" for role, (table, _) in READERS.items() for suffix in table],
    "muscle set": muscle_db.available(),
    "check": list(CHECKS),
    "quantity": list(QUANTITIES),
    "figure": [*FIGURES, *(name for name in OF_MODEL if name not in FIGURES)],
}
Law = Callable[[str, Path], None]
LAWS: dict[str, list[Law]] = defaultdict(list)


def law(kind: str) -> Callable[[Law], Law]:
    def among(function: Law) -> Law:
        LAWS[kind].append(function)
        return function

    return among


# Costs


@law("cost")
def is_described(name: str, folder: Path) -> None:
    record, cost = costs()[name], costs()[name]()
    assert isinstance(cost, Cost) and cost.name == record.name == name and name.isidentifier()
    assert record.formula and record.source and record.needs <= set(NEEDS)
    assert hash(cost) == hash(costs()[name]()) and cost == costs()[name]()
    assert any(solver.installed and solver.fits(cost) for solver in solvers().values())


@law("cost")
def names_what_the_problem_lacks(name: str, folder: Path) -> None:
    asked = [field for field in costs()[name].data if field != "joints_crossed"]  # the moment arms show it
    if not asked:
        return
    bare = Problem([[0.05, 0.04]], [10.0], [800.0, 600.0], [1000.0, 800.0])
    for cost in (name, 2.0 * costs()[name]() + ForceSquared()):
        with refused("missing_argument", name, asked[0]):
            solve(bare, cost)


@law("cost")
def derivatives_and_expression_agree_with_the_value(name: str, folder: Path) -> None:
    if name in SMOOTH:
        for holds in cost_laws.LAWS:
            holds(leg(5), costs()[name]())


@law("cost")
def rest_costs_nothing_and_cost_only_grows(name: str, folder: Path) -> None:
    if name in RESTING:
        cost, problem = costs()[name](), leg(5)
        activation = cost_laws.activations_inside(problem)
        rest = np.zeros_like(activation)
        assert (cost.value(problem, rest) == 0).all() and (cost.gradient(problem, rest) == 0).all()
        assert (cost.gradient(problem, activation) > 0).all()
        assert (cost.hessian_diagonal(problem, activation) > 0).all()


# Solvers


def elbow(*moments: float) -> Problem:
    """Two flexors and an extensor at one joint; 78 N m are the most that the flexors give."""
    strongest = np.array([1000.0, 400.0, 800.0])
    return equipped(Problem([[0.05, 0.07, -0.02]], np.array(moments)[:, None], strongest, strongest))


@law("solver")
def is_told_apart(name: str, folder: Path) -> None:
    record = solvers()[name]
    assert record.name == name and record.summary and record.packages and record.install
    assert record.can <= {*NEEDS, "linear_program", "quadratic_program"}
    if record.installed:
        found = find_solver(name)
        assert found.name == name and callable(found.solve)
    else:
        with refused("missing_package", name):
            find_solver(name)


@law("solver")
def answers_with_a_certificate_or_not_at_all(name: str, folder: Path) -> None:
    """A moment within reach is met by each cost that fits; one out of reach gets no activations."""
    record = need_solver(name)
    problem = elbow(20.0, 500.0)
    fitting = [cost for cost in map(find_cost, costs()) if record.fits(cost)]
    assert fitting
    for cost in fitting[:3]:
        answer = solve(problem, cost, name)
        within, beyond = answer.status
        assert within == Status.SOLVED and not is_solved(np.array([beyond])).any(), (cost.name, answer.status)
        assert np.isnan(answer.activation[1]).all() and (problem.lower <= answer.activation[0]).all()
        np.testing.assert_allclose(problem.moment_matrix[0] @ answer.activation[0], [20.0], atol=1e-3)
        if cost.name in SMOOTH:
            again = certify(problem, cost, answer.activation, answer.reserve, answer.multiplier)
            assert again.holds[0]
            np.testing.assert_allclose(again.cost_bound[0], answer.cost_bound[0], rtol=1e-8)


@law("solver")
def refuses_a_cost_that_does_not_fit(name: str, folder: Path) -> None:
    record = need_solver(name)
    unfit = [cost for cost in costs() if not record.fits(costs()[cost]())]
    if unfit:
        with refused("unfit_solver", unfit[0]):
            solve(elbow(20.0), unfit[0], name)


# Readers


@law("reader")
def refuses_what_is_no_such_file(name: str, folder: Path) -> None:
    """A file that is not there, a folder, nothing, and bytes of anything: the file is named, with a code."""
    role, _, suffix = name.partition(".")
    read = READERS[role][1]
    contents = {
        "empty": b"",
        "zeros": bytes(700),
        "noise": np.random.default_rng(1).bytes(3000),
        "text": b"a b\n1 2\n",
    }
    for stem, content in contents.items():
        (folder / f"{stem}.{suffix}").write_bytes(content)
    (folder / f"folder.{suffix}").mkdir()
    for stem in ("missing", "folder", *contents):
        path = folder / f"{stem}.{suffix}"
        with pytest.raises(InputError) as refusal:
            read(path)
        assert refusal.value.code != "bad_input", (stem, refusal.value)
        assert path.name in str(refusal.value.file or refusal.value)


# Muscle sets


@law("muscle set")
def is_complete(name: str, folder: Path) -> None:
    database = muscle_db.load(name)
    assert database.name == name
    for muscle in database:
        numbers = (muscle.max_isometric_force, muscle.optimal_fiber_length, muscle.tendon_slack_length)
        assert min(numbers) > 0 and len(muscle.path) >= 2 and muscle.group in database.groups
        assert database[muscle.name] is database[muscle.short_name] is muscle


@law("muscle set")
def its_text_gives_the_set(name: str, folder: Path) -> None:
    """To the last digit of the text; deviations from a printed table stand in the own file of a set alone."""
    database, file = muscle_db.load(name), folder / "again.toml"
    text = to_toml(database, "remarks\nin two lines")
    file.write_text(text, encoding="utf-8")
    again = muscle_db.load(file)
    assert to_toml(again, "remarks\nin two lines") == text
    assert again == database or any(muscle.deviations for muscle in database)


@law("muscle set")
def the_other_leg_twice_is_the_leg(name: str, folder: Path) -> None:
    database = muscle_db.load(name)
    parts = [*database.frames.values(), *database.wrap_objects.values(), *database]
    assert [each.mirrored().mirrored() for each in parts] == parts


# Checks


@law("check")
def is_described_and_stands_among_the_kinds(name: str, folder: Path) -> None:
    check = CHECKS[name]
    assert check.detect.__doc__ and check.detect.__module__.startswith(
        "musclesolve.laboratory.checks.recording"
    )


# Quantities


@law("quantity")
def has_dimensions_unit_and_meaning(name: str, folder: Path) -> None:
    quantity = QUANTITIES[name]
    assert quantity.name == name and name.isidentifier() and quantity.units and quantity.long_name
    assert (
        quantity.attrs.keys() == {"units", "long_name", "description"} and quantity.heading and quantity.noun
    )
    assert not quantity.kind or quantity.units == KINDS[quantity.kind].base
    assert {*quantity.arguments} - {ANALYSIS} <= {*QUANTITIES}


# Figures


@law("figure")
def says_what_it_shows_and_stands_in_the_gallery(name: str, folder: Path) -> None:
    draw = FIGURES.get(name) or OF_MODEL[name]
    assert draw.__doc__ and name.isidentifier()
    assert f"`{name}`" in (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


CASES = [
    pytest.param(one, name, id=f"{kind} {name}: {one.__name__}")
    for kind, names in REGISTERED.items()
    for name in names
    for one in LAWS[kind]
]


@pytest.mark.parametrize(("one", "name"), CASES)
def test_the_contract(one: Law, name: str, tmp_path: Path) -> None:
    one(name, tmp_path)


def test_something_of_every_kind_is_registered() -> None:
    assert all(names and LAWS[kind] for kind, names in REGISTERED.items())
