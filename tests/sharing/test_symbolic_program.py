"""The symbolic program: the optimum of `solve`, certified whoever solves it, with terms over several frames."""

import signal
import threading
from dataclasses import replace

import casadi
import numpy as np
import pytest
from packages import need_solver
from refusals import refused

import musclesolve as ms
from musclesolve.sharing import Unknown, expression_constraint, expression_cost, motion_cost, program

CONVEX = ("force_squared", "stress_cubed", "soft_saturation", "activation_power", "joint_reaction_squared")


def smooth(weight):
    return motion_cost("smooth", lambda a, f, d: weight * casadi.sumsqr(a[:, 1:] - a[:, :-1]), convex=True)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", CONVEX)
def test_the_program_has_the_optimum_of_solve(make_leg, cost):
    problem = make_leg(3)
    reference, made = ms.solve(problem, cost), program(problem, cost)
    for name in ("ipopt", "sqpmethod", "fatrop"):
        answer = made.solve(name)
        assert answer.solved.all() and (answer.gap <= 1e-9).all() and not answer.stationary_only
        np.testing.assert_allclose(answer.activation, reference.activation, atol=1e-6)
        np.testing.assert_allclose(answer.multiplier, reference.multiplier, rtol=1e-4, atol=1e-8)


def test_value_and_constraints_of_the_program_are_those_of_the_problem(make_leg):
    """f and g are the cost over its scale, and the missing moments over the largest entries of the rows."""
    problem = make_leg(4).with_arrays(reserve_weight=np.full((4, 7), 3.0))
    made, random = program(problem, "joint_reaction_squared"), np.random.default_rng(0)
    x = random.random(made.x0.size)
    a, s, _ = made.unknowns(x)
    f, g = casadi.Function("nlp", [made.x, made.p], [made.f, made.g])(x, made.p_value)
    cost = made.cost.value(problem, a).sum() + 1.5 * np.square(s).sum()
    np.testing.assert_allclose(float(f) * made.scale.cost, cost, rtol=1e-10)
    missing = (problem.produced(a) + s - problem.moment) / made.scale.row
    np.testing.assert_allclose(np.asarray(g)[:, 0], missing.ravel(), atol=1e-12)
    assert made.x_names[:2] == ("muscle_0[0]", "muscle_1[0]") and len(made.x_names) == x.size
    assert made.g_names[-1] == "moment dof_6[3]"


def test_reserves_of_the_program(make_leg):
    problem = make_leg(3)
    problem = problem.with_arrays(moment=3.0 * problem.moment, reserve_weight=np.full((3, 7), 1e-3))
    answer, reference = program(problem, "force_squared").solve(), ms.solve(problem, "force_squared")
    np.testing.assert_array_equal(answer.status, reference.status)
    np.testing.assert_allclose(answer.reserve, reference.reserve, atol=1e-6)


def test_what_is_infeasible_is_proved(make_leg):
    problem = make_leg(2)
    problem = problem.with_arrays(moment=problem.moment * [[1.0], [50.0]])
    answer = program(problem, "force_squared").solve()
    assert answer.status[1] == ms.Status.INFEASIBLE and np.isfinite(answer.infeasibility_proof[1]).all()


def test_constraints_are_those_of_solve_constrained(make_leg):
    problem = make_leg(3)
    free = ms.solve(problem, "stress_cubed")
    strongest = int(free.force[0].argmax())
    held = expression_constraint("held", lambda a, f, d: f[strongest], upper=0.8 * free.force[:, strongest])
    apart = ms.sharing.solve_constrained(problem, "stress_cubed", held)
    together = program(problem, "stress_cubed", held).solve()
    np.testing.assert_allclose(together.activation, apart.activation, atol=1e-7)
    np.testing.assert_allclose(together.constraint_multiplier, apart.constraint_multiplier, rtol=1e-4)
    assert not together.stationary_only
    for bound, expected in (
        ({"upper": 100.0}, False),
        ({"lower": 1e-6}, True),
    ):  # a ball, and what is beside it
        curved = expression_constraint("curved", lambda a, f, d: casadi.sumsqr(a), **bound)
        assert program(problem, "stress_cubed", curved).stationary_only == expected


def test_smoothness_over_frames_has_the_optimum_of_a_quadratic_program():
    """Two muscles over four frames: the stationarity conditions are one linear system."""
    frames, weight = 4, 0.7
    moment = np.array([10.0, 25.0, 12.0, 20.0])
    arm = np.stack([np.full(frames, 0.05), [0.04, 0.01, 0.05, 0.02]], axis=1)[:, None, :]
    problem = ms.Problem(arm, moment[:, None], [800.0, 600.0], [800.0, 600.0])
    answer = program(problem, "activation_power", motion_costs=smooth(weight)).solve()
    difference = np.diff(np.eye(frames), axis=0)
    block = 2.0 * np.eye(frames) + 2.0 * weight * difference.T @ difference
    hessian, arms = np.kron(block, np.eye(2)), np.zeros((frames, 2 * frames))
    for t in range(frames):
        arms[t, 2 * t : 2 * t + 2] = problem.moment_matrix[t, 0]
    system = np.block([[hessian, -arms.T], [arms, np.zeros((frames, frames))]])
    expected = np.linalg.solve(system, np.concatenate([np.zeros(2 * frames), moment]))
    np.testing.assert_allclose(answer.activation.ravel(), expected[: 2 * frames], atol=1e-9)
    np.testing.assert_allclose(answer.multiplier[:, 0], expected[2 * frames :], rtol=1e-7)
    assert answer.solved.all() and not answer.stationary_only
    jumps = np.diff(ms.solve(problem, "activation_power").activation, axis=0)
    assert np.square(np.diff(answer.activation, axis=0)).sum() < np.square(jumps).sum()


def test_the_optimum_of_the_frames_alone_is_not_certified_for_the_motion(make_leg):
    problem = make_leg(4)
    made, alone = (
        program(problem, "activation_power", motion_costs=smooth(1.0)),
        ms.solve(problem, "activation_power"),
    )
    judged = made.solution(
        alone.activation.ravel(), -(alone.multiplier * made.scale.row / made.scale.cost).ravel()
    )
    assert not judged.solved.any() and (judged.status == ms.Status.SOLVER_FAILED).all()


def test_unknown_weights_of_synergies_are_found(make_leg):
    """With W given, the optimal H for the activations is that of least squares."""
    problem, random = make_leg(5), np.random.default_rng(1)
    modules = random.random((problem.n_muscles, 3))
    synergies = motion_cost(
        "synergies",
        lambda a, f, d: casadi.sumsqr(a - d.W @ d.H),
        constants={"W": modules},
        unknowns={"H": Unknown((3, 5))},
        convex=True,
    )
    made = program(problem, "activation_power", motion_costs=synergies)
    answer = made.solve()
    assert answer.solved.all() and not answer.stationary_only
    best = np.linalg.lstsq(modules, answer.activation.T, rcond=None)[0]
    np.testing.assert_allclose(answer.unknown["H"], best, atol=1e-7)
    data = answer.to_dataset(problem)
    np.testing.assert_array_equal(data["H"], answer.unknown["H"])
    assert data.attrs["total_cost"] == answer.total_cost and data.sizes["constraint"] == 0
    activation, _, found = made.unknowns(np.arange(made.x0.size, dtype=float))
    assert found["H"][1, 0] == found["H"][0, 0] + 1 and activation[1, 0] == problem.n_muscles


@pytest.mark.parametrize("weight", [1e-12, 1.0])
def test_an_unknown_that_could_still_save_cost_is_not_certified(make_leg, weight):
    """A term linear in an unknown has its optimum at a bound alone, unless its weight is nothing beside the cost."""
    problem = make_leg(2)
    linear = motion_cost(
        "linear",
        lambda a, f, d: weight * d.u,
        unknowns={"u": Unknown((1, 1), lower=-1.0, upper=2.0)},
        convex=True,
    )
    made, best = program(problem, "force_squared", motion_costs=linear), ms.solve(problem, "force_squared")
    dual = -(best.multiplier * made.scale.row / made.scale.cost).ravel()
    for u, solved in ((-1.0, True), (0.5, False), (2.0, False)):
        judged = made.solution(np.append(best.activation.ravel(), u), dual)
        assert (judged.solved == (solved or weight < 1e-9)).all()


def test_times_and_matrices_reach_a_cost_over_frames(make_leg):
    problem = make_leg(3).with_arrays(time=np.array([0.0, 0.1, 0.4]))
    seen = {}

    def look(activation, force, data):
        seen.update(dt=data.dt, arms=data.moment_arm, strong=data.max_isometric_force)
        return casadi.sumsqr(activation)

    program(problem, motion_costs=motion_cost("look", look, uses=("dt", "moment_arm", "max_isometric_force")))
    np.testing.assert_allclose(np.asarray(seen["dt"])[0], [0.1, 0.3])
    np.testing.assert_array_equal(np.asarray(seen["arms"][1]), problem.moment_arm[1])
    assert seen["strong"].shape == (problem.n_muscles, 1)


def test_a_local_optimum_is_said_to_be_one_and_starts_find_the_better():
    """A hollow cost of two alike muscles: one of them works alone, and the middle is stationary."""
    problem = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 900.0], [1000.0, 900.0])
    hollow = expression_cost("hollow", lambda a, f, d: casadi.sum1(casadi.sqrt(a + 1e-3)))
    made = program(problem, hollow)
    answer = made.solve(starts=8, seed=1)
    assert made.stationary_only and answer.stationary_only and len(answer.start_costs) == 8
    assert answer.total_cost == pytest.approx(np.nanmin(answer.start_costs))
    ends = [np.sqrt(a + 1e-3) + np.sqrt(b + 1e-3) for a, b in ((0.4, 0.0), (0.0, 20 / 45))]
    assert answer.total_cost == pytest.approx(min(ends), rel=1e-6)
    again = made.solve(starts=8, seed=1)
    assert again.start_costs == answer.start_costs


def test_what_is_declared_convex_is_checked(make_leg):
    problem = make_leg(2)
    hollow = expression_cost("hollow", lambda a, f, d: casadi.sum1(casadi.sqrt(a + 0.01)), convex=True)
    with refused("bad_cost", "hollow"):
        program(problem, hollow)
    unknown = {"u": Unknown((1, 1), lower=-1.0, upper=1.0)}
    for term in (
        motion_cost("down", lambda a, f, d: -casadi.sumsqr(d.u), unknowns=unknown, convex=True),
        motion_cost("rough", lambda a, f, d: -0.5 * casadi.sumsqr(a[:, 1:] - a[:, :-1]), convex=True),
    ):
        with refused("sharing.cost_not_convex", term.name):
            program(problem, "activation_power", motion_costs=term).solve()


@pytest.mark.parametrize("stiff", [1.0, 1e6, 1e9])
def test_coupled_unknowns_are_certified_at_their_optimum_alone(make_leg, stiff):
    """Two unknowns that a stiff term holds together: the pair may not lie where another term is not least."""
    problem = make_leg(2)
    pair = motion_cost(
        "pair",
        lambda a, f, d: stiff * (d.u[0] - d.u[1]) ** 2 + (d.u[0] - 0.5) ** 2,
        unknowns={"u": Unknown((2, 1))},
        convex=True,
    )
    made, best = program(problem, "force_squared", motion_costs=pair), ms.solve(problem, "force_squared")
    dual = -(best.multiplier * made.scale.row / made.scale.cost).ravel()
    for u, solved in ((0.5, True), (0.8, False)):
        judged = made.solution(np.concatenate([best.activation.ravel(), [u, u]]), dual)
        assert (judged.solved == solved).all()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", [0, 1])
def test_synergies_whose_weights_are_partly_zero_are_certified(make_leg, seed):
    """Ipopt ends 1e-18 inside of a bound; the slope there is no fault. Other numbers are no solution."""
    random, problem = np.random.default_rng(seed), make_leg(20)
    shapes = {"W": (problem.n_muscles, 3), "H": (3, 20)}
    modules = motion_cost(
        "modules",
        lambda a, f, d: 5.0 * casadi.sumsqr(a - d.W @ d.H),
        unknowns={
            key: Unknown(of, lower=0.0, start=random.uniform(0, 0.5, of)) for key, of in shapes.items()
        },
    )
    made = program(problem, "activation_power", motion_costs=modules)
    found = made.solve()
    assert found.solved.all() and (found.unknown["W"] < 1e-9).any()
    with refused("bad_shape", f"{made.x0.size} unknowns"):
        made.solution(made.x0[1:])
    assert not made.solution(made.x0).solved.any()


def test_a_stationary_point_is_not_called_an_optimum():
    problem = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 900.0], [1000.0, 900.0])
    hollow = expression_cost("hollow", lambda a, f, d: casadi.sum1(casadi.sqrt(a + 1e-3)))
    for answer in (ms.solve(problem, hollow, "ipopt"), program(problem, hollow).solve()):
        assert answer.stationary_only and "stationary" in answer.summary()
    assert "stationary" not in ms.solve(problem).summary() and not ms.solve(problem).stationary_only


@pytest.mark.parametrize("kind", [ms.sharing.Ipopt, ms.sharing.Cyipopt])
def test_faults_of_options_come_back(make_leg, kind):
    need_solver(kind.name)
    problem = make_leg(1)
    with refused("unknown_name", "maxiter"):
        ms.solve(problem, "stress_cubed", kind(options={"maxiter": 3}))
    with refused("bad_type", "callback"):
        kind(callback=3)
    with refused("unknown_name", "not installed"):
        ms.solve(problem, "stress_cubed", kind(options={"linear_solver": "ma57", "hsllib": "missing.so"}))
    timed = ms.solve(problem, "stress_cubed", kind(options={"max_wall_time": 1e-6}))
    assert (timed.status == ms.Status.MAX_ITERATIONS).all()


def test_faults_of_callbacks_and_of_options_of_a_program_come_back(make_leg):
    problem = make_leg(1)
    with pytest.raises(ZeroDivisionError):
        ms.solve(problem, "stress_cubed", ms.sharing.Ipopt(callback=lambda iteration, objective: 1 / 0))
    with refused("unknown_name", "maxiter"):
        program(problem).solve("ipopt", {"ipopt": {"maxiter": 3}})
    with refused("bad_type", "dictionary"):
        program(problem).solve("ipopt", [1])


def test_faults_of_unknowns_are_named(make_leg):
    for shape in (3, (3,), (0, 2)):
        with refused("bad_shape", "shape"):
            Unknown(shape)
    with refused("bad_number", "lower"):
        Unknown((2, 1), lower=1.0, upper=0.0)
    with refused("bad_shape", "Unknown.start"):
        Unknown((3, 1), start=np.zeros(4))
    with refused("too_few_frames"):
        program(make_leg(2).frames(np.arange(0)))
    terms = [motion_cost(name, lambda a, f, d: d.u[0], unknowns={"u": Unknown((1, 1))}) for name in "ab"]
    with refused("duplicate_name", "'u'"):
        program(make_leg(2), motion_costs=terms)


def test_a_start_is_taken(make_leg):
    problem = make_leg(2)
    made, reference = program(problem), ms.solve(problem)
    assert made.solve(start=reference).iterations[0] <= made.solve().iterations[0]
    assert made.solve(start=reference.activation).solved.all()
    with refused("bad_shape", "start"):
        made.solve(start=np.zeros(3))
    with refused("bad_number", "starts"):
        made.solve(starts=0)


def test_what_is_no_program_is_refused(make_leg):
    problem = make_leg(2)
    with refused("unknown_name", "no_such_solver"):
        program(problem).solve("no_such_solver")
    with refused("unknown_name", "no_such_option"):
        program(problem).solve("ipopt", {"no_such_option": 1})
    with refused("not_finite", "frame 1"):
        program(problem.with_arrays(moment=problem.moment * [[1.0], [np.nan]]))
    with refused("bad_cost", "min_max"):
        program(problem, "min_max")
    with refused("unknown_name", "'nothing'"):
        motion_cost("x", lambda a, f, d: a, uses=("nothing",))
    with refused("duplicate_name"):
        motion_cost("x", lambda a, f, d: a, uses=("emg",), constants={"emg": 1.0})
    with refused("bad_cost", "data has the shapes"):
        program(problem, motion_costs=motion_cost("x", lambda a, f, d: a @ d.w, constants={"w": np.ones(9)}))
    with refused("bad_shape"):
        program(problem, motion_costs=motion_cost("x", lambda a, f, d: a))
    with refused("missing_argument", "time"):
        program(problem, motion_costs=motion_cost("x", lambda a, f, d: d.dt, uses=("dt",)))


def test_ctrl_c_during_ipopt_ends_solve(make_leg):
    """CasADi only prints it."""
    problem = make_leg(3000)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
        ms.solve(problem, "stress_cubed", "ipopt")
    signal.signal(signal.SIGINT, before)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [ms.sharing.Ipopt, ms.sharing.Cyipopt])
def test_options_of_ipopt(make_leg, tmp_path, kind):
    need_solver(kind.name)
    problem, seen = make_leg(3), []
    reference = ms.solve(problem, "stress_cubed")
    log = tmp_path / "ipopt.log"

    def watch(iteration, objective):
        seen.append((iteration, objective))

    options = {"hessian_approximation": "limited-memory", "output_file": str(log), "file_print_level": 5}
    answer = ms.solve(problem, "stress_cubed", kind(options=options, callback=watch))
    np.testing.assert_allclose(answer.activation, reference.activation, atol=1e-6)
    assert len(seen) > 3 and seen[0][0] == 0 and all(np.isfinite(value) for _, value in seen)
    assert "limited-memory" in log.read_text() or "L-BFGS" in log.read_text() or log.stat().st_size > 0
    stopped = ms.solve(problem, "stress_cubed", kind(callback=lambda iteration, objective: iteration >= 1))
    assert (stopped.iterations <= 3).all() and (stopped.status == ms.Status.MAX_ITERATIONS).all()
    with refused("bad_type", "options"):
        kind(options=3)
    with refused("bad_type", "'tol'"):
        kind(options={"tol": [1.0]})


@pytest.mark.thorough
def test_frame_constants_follow_their_frames(make_leg):
    problem, random = make_leg(9), np.random.default_rng(2)
    problem = problem.with_arrays(moment=np.where(np.arange(9)[:, None] == 4, np.nan, problem.moment))
    weight = random.uniform(1.0, 5.0, (9, problem.n_muscles))
    cost = expression_cost(
        "weighted", lambda a, f, d: casadi.dot(d.w, a**2), frame_constants={"w": weight}, convex=True
    )
    together = ms.solve(problem, cost, "ipopt")
    for t in (0, 8):
        alone = expression_cost(
            "one", lambda a, f, d: casadi.dot(d.w, a**2), constants={"w": weight[t]}, convex=True
        )
        single = ms.solve(problem.frames(np.array([t])), alone)
        np.testing.assert_allclose(together.activation[t], single.activation[0], atol=1e-7)
    with refused("bad_shape", "'w'"):
        ms.solve(make_leg(4), cost)
    assert (
        ms.sharing.force_range(problem, within=0.05, cost=cost, solver="ipopt", muscles=["muscle_0"])
        is not None
    )


def test_a_wrong_shape_is_blamed_on_its_own_name(make_leg):
    problem = make_leg(9)
    cost = expression_cost("x", lambda a, f, d: casadi.sum1(d.weight * a), constants={"weight": np.ones(9)})
    with refused("bad_shape", "'weight'"):
        ms.solve(problem, cost, "ipopt")
    with refused("bad_shape", "'weight'"):
        expression_cost("x", lambda a, f, d: casadi.sum1(a), constants={"weight": np.ones((2, 2, 2))})


def test_an_expression_sees_every_field_in_its_shape(make_leg):
    problem = make_leg(3)
    shapes = {}

    def look(activation, force, data):
        shapes.update({name: getattr(data, name).shape for name in uses})
        return casadi.sumsqr(data.moment_arm @ force - data.moment) + casadi.sumsqr(data.C @ activation)

    uses = ("moment_arm", "moment", "reaction_matrix", "reaction_offset", "max_isometric_force", "lower")
    matrix = np.random.default_rng(0).random((2, problem.n_muscles))
    cost = expression_cost("look", look, uses=uses, constants={"C": matrix}, convex=True)
    a = np.random.default_rng(1).random(problem.force_capacity.shape)
    missing = problem.produced(a) - problem.moment
    expected = np.square(missing).sum(axis=1) + np.square(a @ matrix.T).sum(axis=1)
    np.testing.assert_allclose(cost.value(problem, a), expected)
    n, m, k = problem.n_muscles, problem.n_dof, problem.reaction_matrix.shape[1]
    assert shapes["moment_arm"] == (m, n) and shapes["reaction_matrix"] == (k, n)
    assert shapes["moment"] == (m, 1) and shapes["max_isometric_force"] == (n, 1)
    assert cost.needs == {"coupled"}
    assert ms.solve(problem, cost, "ipopt").solved.all()


def test_the_registry_leads_to_the_cost():
    assert ms.costs()["stress_cubed"]().label == "stress_cubed"
    assert ms.costs()["activation_power"](exponent=3).exponent == 3
    with refused("unknown_name", "'power'"):
        ms.costs()["activation_power"](power=3)


def test_an_absent_field_is_named(make_leg):
    problem = make_leg(2)
    cost = expression_cost(
        "x", lambda a, f, d: casadi.sum1(d.reserve_weight) * a[0], uses=("reserve_weight",)
    )
    with refused("missing_argument", "reserve_weight"):
        ms.solve(problem, cost, "ipopt")


@pytest.mark.parametrize("weight", [None, 1e5])
def test_the_matrices_are_the_quadratic_program(make_leg, weight):
    """The conditions of optimality hold in P, q and A at the optimum; its multipliers are certified."""
    problem = replace(make_leg(3), reserve_weight=weight)
    least = expression_constraint("least", lambda a, force, data: casadi.sum1(a) + 1.0, lower=1.5)
    whole = program(problem, "force_squared", [least], [smooth(1.0)])
    numbers = whole.quadratic()
    found = whole.nlpsol("ipopt")(**whole.arguments)
    x, rows, bounds = (np.asarray(found[key])[:, 0] for key in ("x", "lam_g", "lam_x"))
    met = numbers["A"] @ x
    assert (met > numbers["lba"] - 1e-9).all() and (met < numbers["uba"] + 1e-9).all()
    slope = numbers["P"] @ x + numbers["q"] + numbers["A"].T @ rows + bounds
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)
    assert whole.solution(x, rows).solved.all()


@pytest.mark.parametrize("distance", [1e-5, 1e-4])
def test_multipliers_are_estimated_from_activations_beside_their_bounds(make_leg, distance):
    """Interior-point methods end beside a bound, not at it; other activations than the optimum stay uncertified."""
    problem, random = make_leg(6), np.random.default_rng(0)
    best = ms.solve(problem, "force_squared").activation
    near = best + distance * random.random(best.shape)
    made = program(problem, "force_squared")
    found = made.solution(near.ravel())
    assert found.solved.all()
    np.testing.assert_allclose(found.activation, best, atol=1e-6)
    assert not made.solution(np.full(best.size, 0.5)).solved.any()


def test_a_program_that_is_not_quadratic_has_no_matrices(make_leg):
    curved = expression_constraint("curved", lambda a, force, data: a[0] ** 2, upper=0.5)
    pieces = expression_constraint("pieces", lambda a, force, data: casadi.fabs(a[0] - 0.45), upper=0.5)
    for cost, constraints in (("stress_cubed", []), ("force_squared", [curved]), ("force_squared", [pieces])):
        with refused("bad_cost", "quadratic"):
            program(make_leg(2), cost, constraints).quadratic()
