"""Print the time of every road to certified forces, beside the compiled kernel and beside Ipopt.

python -m benchmarks.solvers.roads [--road WORD ...] [--budget SECONDS] [--small] [--large] [--no-ipopt]

A road is a way to ask: a cost by its name, weights of every frame, an expression, constraints, limits of a motion,
ranges, margins, elastic tendons. All run on random legs of 6 moments and 43 muscles and of 23 and 80. Times are
processor times of the fastest of some calls [microseconds a frame], after one call on a few frames; `over the kernel`
is the ratio to the usual cost on the same leg in this run, `Ipopt` the same question with the solver "ipopt". Every
answer is certified within its time; `open` counts frames without a certificate. A range of the forces counts as one
frame for all its muscles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import casadi
import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.sharing.analysis.strength_margin import strength_margin
from musclesolve.sharing.cost import ActivationPower
from musclesolve.studies.benchmark.measure import machine, random_problem

SIZES = ((6, 43), (23, 80))
FRAMES = 4000
MOST_MUSCLES = 5000
STEP = 0.01  # time between frames [s]
KERNEL = "usual cost"
FEW = 32


Ask = Callable[[ms.Problem, str | None], Any]


@dataclass(frozen=True)
class Road:
    """A way to ask: `prepare(problem)` gives a function that answers for some of its frames, by the name of a solver.

    The solver None is the usual one. `by_ipopt`: whether Ipopt takes it. `least`: frames of one call; Ipopt has FEW.
    """

    name: str
    prepare: Callable[[ms.Problem], Ask]
    by_ipopt: bool = True
    least: int = 512


def frame_numbers(problem: ms.Problem) -> Array:
    """Numbers (T, n) from 0 to 1 that change from frame to frame and from muscle to muscle."""
    t, i = np.arange(problem.whole_frames)[:, None], np.arange(problem.n_muscles)
    return np.asarray(0.5 + 0.5 * np.sin(0.06 * t + 1.7 * i))


def by_cost(made: Callable[[ms.Problem], Any]) -> Callable[[ms.Problem], Ask]:
    """Solve under a cost that is made for the problem."""

    def prepare(problem: ms.Problem) -> Ask:
        cost = made(problem)
        return lambda part, solver: ms.solve(part, cost, solver)

    return prepare


def expression(name: str, function: Any, **more: Any) -> Callable[[ms.Problem], Any]:
    """A convex expression with numbers of every frame and muscle, `data.w`."""

    def cost(problem: ms.Problem) -> Any:
        numbers = {"w": frame_numbers(problem)}
        return ms.sharing.expression_cost(name, function, frame_constants=numbers, convex=True, **more)

    return cost


def squares(a: Any, force: Any, data: Any) -> Any:
    """Squares with weights of every frame."""
    return casadi.dot(0.5 + data.w, a**2)


def stress(a: Any, force: Any, data: Any) -> Any:
    """Weighted stress to the power 2.5, and squares."""
    return casadi.sum1((0.5 + data.w) * (force / data.max_isometric_force + 1e-3) ** 2.5) + casadi.sumsqr(a)


def followed(a: Any, force: Any, data: Any) -> Any:
    """Distance from targets of every frame."""
    return casadi.sumsqr(a - 0.3 * data.w)


def synergies(a: Any, force: Any, data: Any) -> Any:
    """Distance from the span of five modules, beside squares."""
    return casadi.sumsqr(a) + 2.0 * casadi.sumsqr(a - data.M @ (data.M.T @ a))


def contact(a: Any, force: Any, data: Any) -> Any:
    """Squares of three sums of forces, beside squares of activations."""
    return casadi.sumsqr(a) + casadi.sumsqr(data.R @ force / 500.0 - 1.0)


def pairs(a: Any, force: Any, data: Any) -> Any:
    """Cubed activations, and squared sums of neighbors."""
    return casadi.sum1(a**3) + 0.5 * casadi.sumsqr(a[1:] + a[:-1])


def smooth_largest(a: Any, force: Any, data: Any) -> Any:
    """Log of a sum of exponentials, beside squares: every muscle with every other."""
    return casadi.log(casadi.sum1(casadi.exp(8.0 * a))) / 8.0 + casadi.sumsqr(a)


def modules(problem: ms.Problem, rows: int) -> Array:
    """Orthonormal columns (n, k)."""
    drawn = np.random.default_rng(0).random((problem.n_muscles, rows))
    return np.asarray(np.linalg.qr(drawn)[0])


def coupled(
    name: str, function: Any, **constants: Callable[[ms.Problem], Array]
) -> Callable[[ms.Problem], Any]:
    """A convex expression that couples muscles."""

    def cost(problem: ms.Problem) -> Any:
        numbers = {key: made(problem) for key, made in constants.items()}
        return ms.sharing.expression_cost(name, function, constants=numbers, convex=True)

    return cost


def within_squares(problem: ms.Problem) -> Ask:
    """Each half of the muscles within a sum of squares that binds in some frames."""
    half, count = problem.n_muscles // 2, problem.n_muscles
    free = ms.solve(problem, "activation_power").activation
    bounds = [
        np.quantile((free[:, part] ** 2).sum(axis=1), 0.9) for part in (slice(0, half), slice(half, count))
    ]
    held = [
        ms.sharing.expression_constraint(
            name, lambda a, part=part: casadi.sumsqr(a[part]), upper=1.05 * bound
        )
        for name, part, bound in zip(
            ("first", "second"), (slice(0, half), slice(half, count)), bounds, strict=True
        )
    ]
    return lambda part, solver: ms.sharing.solve_constrained(part, "activation_power", held, solver)


def within_rates(problem: ms.Problem, solver: str | None) -> Any:
    """The motion within rates of activation."""
    time = STEP * np.arange(problem.n_frames)
    limits = ms.sharing.RateLimits(0.05, 0.15)
    return ms.trajectory.solve_rate_limited(problem, time, "activation_power", limits).solution


def smooth(problem: ms.Problem, solver: str | None) -> Any:
    """Squares of changes from frame to frame beside squared activations."""
    cost = ms.sharing.motion_cost(
        "smooth", lambda a, force, data: 5.0 * casadi.sumsqr(a[:, 1:] - a[:, :-1]), convex=True
    )
    program = ms.sharing.program(problem, "activation_power", motion_costs=[cost])
    return program.solve() if solver is None else program.solve(solver)


def ranges(problem: ms.Problem, solver: str | None) -> Any:
    """The least and greatest force of every muscle."""
    return ms.sharing.force_range(problem)


def margins(problem: ms.Problem, solver: str | None) -> Any:
    """The least strength of the first muscle."""
    return strength_margin(problem, [(problem.muscle or ())[0]])


def elastic(problem: ms.Problem, solver: str | None) -> Any:
    """The motion with elastic tendons and activation dynamics."""
    return ms.trajectory.solve_motion(elastic_motion(problem), "activation_power", on_infeasible="reserve")


def elastic_motion(problem: ms.Problem) -> Any:
    """A motion of muscles near their optimal lengths, with tendons of twice the length of the fibers."""
    n, frames = problem.n_muscles, problem.n_frames
    fiber = np.asarray(problem.optimal_fiber_length)
    slack = 2.0 * fiber
    calf = ms.muscles.MuscleParameters.from_values(
        names=problem.muscle,
        curves="de_groote_2016",
        max_isometric_force=problem.max_isometric_force,
        optimal_fiber_length=fiber,
        tendon_slack_length=slack,
        pennation_angle=np.full(n, 0.1),
        max_shortening_velocity=10.0,
        tendon_strain=0.05,
        passive=(0.0, 0.0, 0.6),
    )
    time = STEP * np.arange(frames)
    phase, speed = np.linspace(0.0, 6.0, n), 6.0
    length = slack + fiber * (1.0 + 0.1 * np.sin(speed * time[:, None] + phase))
    velocity = fiber * 0.1 * speed * np.cos(speed * time[:, None] + phase)
    return ms.trajectory.MotionProblem(
        time=time,
        moment_arm=problem.moment_arm,
        moment=0.5 * problem.moment,
        musculotendon_length=length,
        musculotendon_velocity=velocity,
        muscles=ms.muscles.ElasticMuscles.from_parameters(calf),
        dof=problem.dof,
    )


def roads() -> Iterator[Road]:
    """All roads, the kernel first."""
    yield Road(KERNEL, by_cost(lambda problem: "knee_sparing_activation"))
    yield Road("stress cubed", by_cost(lambda problem: "stress_cubed"))
    yield Road("soft saturation", by_cost(lambda problem: "soft_saturation"))
    yield Road("power 4.5", by_cost(lambda problem: ActivationPower(4.5)))
    yield Road("weights of every frame", by_cost(weights_of_frames))
    yield Road("expression: weighted squares", by_cost(expression("squares", squares)))
    yield Road("expression: targets", by_cost(expression("followed", followed)))
    yield Road(
        "expression: powers of stress", by_cost(expression("stress", stress, uses=("max_isometric_force",)))
    )
    yield Road("coupled: synergies", by_cost(coupled("modules", synergies, M=lambda p: modules(p, 5))))
    yield Road("coupled: contact force", by_cost(coupled("contact", contact, R=lambda p: modules(p, 3).T)))
    yield Road("coupled: co-contraction", by_cost(coupled("pairs", pairs)))
    yield Road("coupled: smooth maximum", by_cost(coupled("largest", smooth_largest)))
    yield Road("convex quadratic constraints", within_squares)
    yield Road("rate limits of a motion", lambda _: within_rates, by_ipopt=False, least=100)
    yield Road("cost over frames", lambda _: smooth, least=200)
    yield Road("force_range", lambda _: ranges, by_ipopt=False, least=200)
    yield Road("strength margin", lambda _: margins, by_ipopt=False)
    yield Road("elastic tendons", lambda _: elastic, by_ipopt=False, least=100)


def weights_of_frames(problem: ms.Problem) -> Any:
    """Squared activations with weights (T, n)."""
    return ActivationPower(2.0, weights=0.5 + frame_numbers(problem))


def left_open(answer: Any) -> int:
    """Frames of an answer without a certificate."""
    if hasattr(answer, "solved"):
        return int((~np.asarray(answer.solved)).sum())
    found = answer.greatest if hasattr(answer, "greatest") else answer.strength
    return int(np.isnan(found.reshape(len(found), -1)).any(axis=1).sum())


def timed(
    road: Road, ask: Ask, problem: ms.Problem, solver: str | None, budget: float
) -> tuple[float, int, int]:
    """Microseconds a frame of the fastest call, number of frames, and how many of them are open."""
    frames = road.least if solver is None else FEW
    ask(problem.frames(np.arange(frames)), solver)
    while True:
        part = problem.frames(np.arange(frames))
        part.moment_matrix, part.valid  # noqa: B018, computed once for a problem, whoever solves it
        begun = process_time()
        answer = ask(part, solver)
        seconds = process_time() - begun
        more = min(problem.n_frames, int(frames * budget / 4.0 / max(seconds, 1e-6)))
        if more < 2 * frames:
            break
        frames = more
    best, spent = seconds, seconds
    while spent < budget:
        begun = process_time()
        ask(part, solver)
        seconds = process_time() - begun
        best, spent = min(best, seconds), spent + seconds
    return 1e6 * best / frames, frames, left_open(answer)


def by_size(dofs: int, muscles: int, words: list[str], budget: float, ipopt: bool) -> Table:
    """A row for each road on a leg of one size."""
    title = f"{dofs} moments, {muscles} muscles"
    table = Table("road", "us a frame", "over the kernel", "frames", "open", "Ipopt [us]", title=title)
    problem, kernel = random_problem(FRAMES, dofs, muscles), np.nan
    for road in roads():
        if words and road.name != KERNEL and not any(word in road.name for word in words):
            continue
        console.print(f"[dim]{title}: {road.name}[/dim]")
        numbers = ["-"] * 4
        try:
            ask = road.prepare(problem)
            time, frames, open_frames = timed(road, ask, problem, None, budget)
            kernel = time if road.name == KERNEL else kernel
            numbers = [f"{time:.1f}", f"{time / kernel:.1f}", str(frames), str(open_frames)]
        except ms.MuscleSolveError as error:
            numbers[0] = str(error).splitlines()[0][:40]
        other = "-"
        if ipopt and road.by_ipopt and numbers[1] != "-":
            other = f"{timed(road, ask, problem, 'ipopt', budget / 2.0)[0]:.0f}"
        table.add_row(road.name, *numbers, other)
    return table


def by_usual_cost(problem: ms.Problem, solver: str | None) -> Any:
    """The usual cost."""
    return ms.solve(problem, solver=solver)


def many_muscles(budget: float) -> Table:
    """One leg on either side of the size where the work arrays of the kernel once ended."""
    table = Table("muscles", "us a frame", "us a frame and 1000 muscles", title="Many muscles, 6 moments")
    for muscles in (1000, 4000, MOST_MUSCLES, 20_000):
        problem = random_problem(20, 6, muscles)
        each, _, _ = timed(Road("", lambda _: by_usual_cost, least=20), by_usual_cost, problem, None, budget)
        table.add_row(str(muscles), f"{each:.0f}", f"{1e3 * each / muscles:.0f}")
    return table


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--road", nargs="*", default=[], metavar="WORD", help="roads with one of these words")
    parser.add_argument("--budget", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--no-ipopt", action="store_true")
    parser.add_argument("--small", action="store_true", help="the leg of 43 muscles alone")
    parser.add_argument("--large", action="store_true", help="more than 4096 muscles as well")
    options = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    ms.sharing.compile_kernel()
    for dofs, muscles in SIZES[:1] if options.small else SIZES:
        console.print(by_size(dofs, muscles, options.road, options.budget, not options.no_ipopt))
    if options.large:
        console.print(many_muscles(options.budget))


if __name__ == "__main__":
    main()
