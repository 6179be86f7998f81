"""Solvers of quadratic programmes through their own interfaces; a package is imported when it is asked for.

What stays as it is in frames of the same shape is set up once: patterns, workspaces, settings. Multipliers are turned
to the sign of `quadratic.Found`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_matrix

from musclesolve._util.arrays import Array
from musclesolve.sharing.solver.quadratic import Ask, Found, Frame, QuadraticSolver
from musclesolve.sharing.status import Status

SOLVED, INFEASIBLE = Status.SOLVED, Status.INFEASIBLE
FAILED, ENDLESS = Status.SOLVER_FAILED, Status.MAX_ITERATIONS


@dataclass(frozen=True)
class Daqp(QuadraticSolver):
    """DAQP, a dual active-set method (Arnström, Bemporad and Axehill 2022)."""

    name: ClassVar[str] = "daqp"

    def open(self, frame: Frame) -> Ask:
        """Every frame is solved anew."""
        import daqp

        rows, unknowns = frame.matrix.shape
        kind = np.repeat(np.array([0, 5], np.int32), [unknowns, rows])  # 5: an equality
        claims = {1: SOLVED, 2: SOLVED, -1: INFEASIBLE, -4: ENDLESS}
        options = {"primal_tol": self.tolerance, "iter_limit": self.max_iterations}

        def ask(frame: Frame) -> Found:
            lower = np.concatenate([frame.lower, frame.moment])
            upper = np.concatenate([frame.upper, frame.moment])
            hessian = np.diag(frame.curvature)
            x, _, flag, said = daqp.solve(hessian, frame.slope, frame.matrix, upper, lower, kind, **options)
            return Found(x, -said["lam"][unknowns:], said["iterations"], claims.get(flag, FAILED))

        return ask


@dataclass(frozen=True)
class Quadprog(QuadraticSolver):
    """quadprog, the dual active-set method of Goldfarb and Idnani (1983); it ends by itself."""

    name: ClassVar[str] = "quadprog"

    def open(self, frame: Frame) -> Ask:
        """Every frame is solved anew."""
        import quadprog

        rows, unknowns = frame.matrix.shape
        low, high = np.flatnonzero(np.isfinite(frame.lower)), np.flatnonzero(np.isfinite(frame.upper))
        normals = np.zeros((unknowns, rows + low.size + high.size))
        normals[low, rows + np.arange(low.size)] = 1.0
        normals[high, rows + low.size + np.arange(high.size)] = -1.0

        def ask(frame: Frame) -> Found:
            normals[:, :rows] = frame.matrix.T
            floors = np.concatenate([frame.moment, frame.lower[low], -frame.upper[high]])
            root = np.diag(1.0 / np.sqrt(frame.curvature))
            try:
                found = quadprog.solve_qp(root, -frame.slope, normals, floors, rows, True)
            except ValueError:  # its way to say that the constraints contradict each other
                return Found(np.full(unknowns, np.nan), np.full(rows, np.nan), 0, INFEASIBLE)
            return Found(found[0], found[4][:rows], int(found[3][0]), SOLVED)

        return ask


@dataclass(frozen=True)
class Osqp(QuadraticSolver):
    """OSQP, an operator-splitting method with a last step that refines the answer (Stellato et al. 2020)."""

    name: ClassVar[str] = "osqp"

    def open(self, frame: Frame) -> Ask:
        """The pattern is kept, and each frame starts from the one before."""
        import osqp

        rows, unknowns = frame.matrix.shape
        stacked = _Stacked(frame, np.eye(unknowns))
        settings = {"eps_abs": self.tolerance, "eps_rel": self.tolerance, "max_iter": self.max_iterations}
        solver = osqp.OSQP()
        lower, upper = _sides(frame)
        hessian = csc_matrix(np.diag(frame.curvature))
        solver.setup(
            hessian, frame.slope, stacked.sparse, lower, upper, verbose=False, polishing=True, **settings
        )
        code = osqp.SolverStatus
        claims = {code.OSQP_SOLVED: SOLVED, code.OSQP_SOLVED_INACCURATE: SOLVED}
        claims |= {code.OSQP_PRIMAL_INFEASIBLE: INFEASIBLE, code.OSQP_MAX_ITER_REACHED: ENDLESS}

        def ask(frame: Frame) -> Found:
            lower, upper = _sides(frame)
            solver.update(
                Px=frame.curvature, q=frame.slope, Ax=stacked.numbers(frame.matrix), l=lower, u=upper
            )
            found = solver.solve(raise_error=False)
            claim = claims.get(found.info.status_val, FAILED)
            return Found(_copy(found.x), -_copy(found.y)[:rows], found.info.iter, claim)

        return ask


@dataclass(frozen=True)
class Piqp(QuadraticSolver):
    """PIQP, a proximal interior-point method (Schwan, Jiang, Kuhn and Jones 2023)."""

    name: ClassVar[str] = "piqp"

    def open(self, frame: Frame) -> Ask:
        """The workspace is kept."""
        import piqp

        solver = piqp.DenseSolver()
        settings = solver.settings
        settings.eps_abs = settings.eps_duality_gap_abs = self.tolerance
        settings.eps_rel = settings.eps_duality_gap_rel = self.tolerance
        settings.max_iter = self.max_iterations
        solver.setup(*_dense(frame), x_l=frame.lower, x_u=frame.upper)
        claims = {piqp.PIQP_SOLVED: SOLVED, piqp.PIQP_PRIMAL_INFEASIBLE: INFEASIBLE}
        claims[piqp.PIQP_MAX_ITER_REACHED] = ENDLESS

        def ask(frame: Frame) -> Found:
            hessian, slope, matrix, moment = _dense(frame)
            solver.update(hessian, slope, matrix, moment, x_l=frame.lower, x_u=frame.upper)
            claim, found = claims.get(solver.solve(), FAILED), solver.result
            return Found(_copy(found.x), -_copy(found.y), found.info.iter, claim)

        return ask


@dataclass(frozen=True)
class Proxqp(QuadraticSolver):
    """ProxQP, a proximal augmented-Lagrangian method (Bambade, El-Kazdadi, Taylor and Carpentier 2022)."""

    name: ClassVar[str] = "proxqp"

    def open(self, frame: Frame) -> Ask:
        """The workspace is kept."""
        from proxsuite import proxqp

        rows, unknowns = frame.matrix.shape
        solver = proxqp.dense.QP(unknowns, rows, 0, True, proxqp.dense.HessianType.Diagonal)
        solver.settings.eps_abs, solver.settings.eps_rel = self.tolerance, self.tolerance
        solver.settings.max_iter = self.max_iterations
        solver.init(*_dense(frame), l_box=frame.lower, u_box=frame.upper)
        claims = {proxqp.PROXQP_SOLVED: SOLVED, proxqp.PROXQP_PRIMAL_INFEASIBLE: INFEASIBLE}
        claims[proxqp.PROXQP_MAX_ITER_REACHED] = ENDLESS

        def ask(frame: Frame) -> Found:
            box = {"l_box": frame.lower, "u_box": frame.upper}
            solver.update(*_dense(frame), **box, update_preconditioner=True)
            solver.solve()
            found = solver.results
            claim = claims.get(found.info.status, FAILED)
            return Found(_copy(found.x), -_copy(found.y), found.info.iter, claim)

        return ask


@dataclass(frozen=True)
class Clarabel(QuadraticSolver):
    """Clarabel, an interior-point method of homogeneous embedding (Goulart and Chen 2024)."""

    name: ClassVar[str] = "clarabel"

    def open(self, frame: Frame) -> Ask:
        """The pattern is kept."""
        import clarabel

        rows, unknowns = frame.matrix.shape
        low, high = np.isfinite(frame.lower), np.isfinite(frame.upper)
        unit = np.eye(unknowns)
        stacked = _Stacked(frame, np.vstack([-unit[low], unit[high]]))
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter, settings.presolve_enable = False, self.max_iterations, False
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = self.tolerance
        cones = [clarabel.ZeroConeT(rows), clarabel.NonnegativeConeT(int(low.sum() + high.sum()))]

        def right(frame: Frame) -> Array:
            return np.concatenate([frame.moment, -frame.lower[low], frame.upper[high]])

        hessian = csc_matrix(np.diag(frame.curvature))
        solver = clarabel.DefaultSolver(hessian, frame.slope, stacked.sparse, right(frame), cones, settings)
        code = clarabel.SolverStatus
        claims = {str(code.Solved): SOLVED, str(code.AlmostSolved): SOLVED, str(code.MaxIterations): ENDLESS}
        claims[str(code.PrimalInfeasible)] = INFEASIBLE

        def ask(frame: Frame) -> Found:
            solver.update(P=frame.curvature, q=frame.slope, A=stacked.numbers(frame.matrix), b=right(frame))
            found = solver.solve()
            claim = claims.get(str(found.status), FAILED)
            return Found(_copy(found.x), -_copy(found.z)[:rows], found.iterations, claim)

        return ask


@dataclass(frozen=True)
class Highs(QuadraticSolver):
    """HiGHS, its active-set method for quadratic programmes."""

    name: ClassVar[str] = "highs"

    def open(self, frame: Frame) -> Ask:
        """Every frame is a new model."""
        import highspy

        solver = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "primal_feasibility_tolerance": max(self.tolerance, 1e-10),
            "dual_feasibility_tolerance": max(self.tolerance, 1e-10),
            "qp_regularization_value": 0.0,
            "qp_iteration_limit": self.max_iterations,
        }.items():
            solver.setOptionValue(option, value)
        code = highspy.HighsModelStatus
        claims = {code.kOptimal: SOLVED, code.kInfeasible: INFEASIBLE, code.kIterationLimit: ENDLESS}

        def ask(frame: Frame) -> Found:
            solver.passModel(_highs_model(highspy, frame))
            solver.run()
            found, claim = solver.getSolution(), claims.get(solver.getModelStatus(), FAILED)
            iterations = max(solver.getInfo().qp_iteration_count, 0)
            return Found(_copy(found.col_value), _copy(found.row_dual), iterations, claim)

        return ask


def _highs_model(highspy: Any, frame: Frame) -> Any:
    model, matrix = highspy.HighsModel(), csc_matrix(frame.matrix)
    programme, hessian = model.lp_, model.hessian_
    programme.num_row_, programme.num_col_ = frame.matrix.shape
    programme.col_cost_, programme.col_lower_, programme.col_upper_ = frame.slope, frame.lower, frame.upper
    programme.row_lower_ = programme.row_upper_ = frame.moment
    programme.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    programme.a_matrix_.start_, programme.a_matrix_.index_ = matrix.indptr, matrix.indices
    programme.a_matrix_.value_ = matrix.data
    hessian.dim_, hessian.format_ = len(frame.slope), highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_ = np.arange(len(frame.slope) + 1), np.arange(len(frame.slope))
    hessian.value_ = frame.curvature
    return model


class _Stacked:
    """The rows above others that stay as they are, as a sparse matrix that keeps its pattern whatever is zero."""

    def __init__(self, frame: Frame, below: Array) -> None:
        rows, self.unknowns = frame.matrix.shape
        pattern = csc_matrix(np.vstack([np.ones_like(frame.matrix), below]))
        self.moving = pattern.indices < rows
        pattern.data[self.moving] = frame.matrix.T.ravel()
        self.sparse = pattern

    def numbers(self, matrix: Array) -> Array:
        """The entries of the whole with other numbers in the rows, column by column."""
        self.sparse.data[self.moving] = matrix.T.ravel()
        entries: Array = self.sparse.data
        return entries


def _sides(frame: Frame) -> tuple[Array, Array]:
    """The least and the largest value of every row and unknown."""
    return np.concatenate([frame.moment, frame.lower]), np.concatenate([frame.moment, frame.upper])


def _dense(frame: Frame) -> tuple[Array, Array, Array, Array]:
    """Hessian, slope, matrix and moment."""
    return np.diag(frame.curvature), frame.slope, frame.matrix, frame.moment


def _copy(numbers: Any) -> Array:
    """What a solver returns, apart from its memory."""
    return np.array(numbers, dtype=np.float64)
