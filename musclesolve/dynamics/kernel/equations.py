"""The augmented Lagrangian iteration of one state with sparse rows and matrices.

(M + alpha Phi_q^T Phi_q) d = right is factored by Cholesky's method row by row, each row from its first element that
is not zero: with the slots in a good order that is a few per cent of the work with full matrices. The iterates are
derived in `forward.accelerations.CompiledEquations`.
"""

from math import sqrt

from musclesolve._util.compiled_code import compiled
from musclesolve.dynamics.kernel.arrays import ACCELERATE, HOLD, SINGULAR, UNSETTLED
from musclesolve.dynamics.kernel.bodies import difference

TOLERANCE = 1e-12
ITERATIONS = 40


@compiled
def set_lines(q, rows, out):
    """The two lines of every scalar product."""
    for c in range(rows.constant.size):
        for x in range(3):
            out.lines[c, 0, x] = difference(q, rows.first[c, 0], rows.first[c, 1], x)
            out.lines[c, 1, x] = difference(q, rows.second[c, 0], rows.second[c, 1], x)


@compiled
def set_right(state, rows, out, kind):
    """Right-hand side of the rows."""
    products = rows.constant.size
    out.right[:] = 0.0
    if kind == HOLD:
        return
    damping, spring = (state.numbers[1], state.numbers[2]) if kind == ACCELERATE else (0.0, 1.0)
    if kind == ACCELERATE:
        times_rows(state.qd, rows, out, out.right)
        for c in range(out.right.size):
            out.right[c] *= -damping
    for c in range(products):
        value, gamma = -rows.constant[c], 0.0
        for x in range(3):
            value += out.lines[c, 0, x] * out.lines[c, 1, x]
            if kind == ACCELERATE:
                one = difference(state.qd, rows.first[c, 0], rows.first[c, 1], x)
                gamma -= 2.0 * one * difference(state.qd, rows.second[c, 0], rows.second[c, 1], x)
        out.right[c] += gamma - spring * value
    for c in range(rows.target.shape[0]):
        for x in range(3):
            value = -rows.target[c, x]
            for e in range(rows.start[c], rows.start[c + 1]):
                value += rows.weight[e] * state.q[rows.slot[e], x]
            out.right[products + 3 * c + x] -= spring * value


@compiled
def times_rows(v, rows, out, result):
    """Store the products Phi_q v (c,) of all rows with v (N, 3) in `result`."""
    products = rows.constant.size
    for c in range(products):
        total = 0.0
        for x in range(3):
            total += difference(v, rows.first[c, 0], rows.first[c, 1], x) * out.lines[c, 1, x]
            total += difference(v, rows.second[c, 0], rows.second[c, 1], x) * out.lines[c, 0, x]
        result[c] = total
    for c in range(rows.target.shape[0]):
        for x in range(3):
            total = 0.0
            for e in range(rows.start[c], rows.start[c + 1]):
                total += rows.weight[e] * v[rows.slot[e], x]
            result[products + 3 * c + x] = total


@compiled
def take_rows(multipliers, rows, out, force, factor):
    """Add factor Phi_q^T multipliers to a vector (3N,) in the order of the matrix."""
    products = rows.constant.size
    for c in range(products):
        size = factor * multipliers[c]
        for side in range(4):
            slots = rows.first if side < 2 else rows.second
            slot, sign = slots[c, side % 2], (2.0 * (side % 2) - 1.0) * size
            if slot < rows.place.size:
                for x in range(3):
                    force[3 * rows.place[slot] + x] += sign * out.lines[c, 1 if side < 2 else 0, x]
    for c in range(rows.target.shape[0]):
        for e in range(rows.start[c], rows.start[c + 1]):
            for x in range(3):
                size = factor * rows.weight[e] * multipliers[products + 3 * c + x]
                force[3 * rows.place[rows.slot[e]] + x] += size


@compiled
def set_matrix(state, rows, out):
    """Set the matrix M + alpha Phi_q^T Phi_q, the elements below and on the diagonal."""
    matrix, penalty, none = out.factor, state.numbers[0], rows.place.size
    for e in range(matrix.size):
        matrix[e] = state.mass[e]
    for c in range(rows.constant.size):
        for side in range(4):
            slot = (rows.first if side < 2 else rows.second)[c, side % 2]
            if slot == none:
                continue
            line, sign = (1 if side < 2 else 0), penalty * (2.0 * (side % 2) - 1.0)
            for other in range(4):
                beside = (rows.first if other < 2 else rows.second)[c, other % 2]
                if beside == none or rows.place[beside] > rows.place[slot]:
                    continue
                size = sign * (2.0 * (other % 2) - 1.0)
                across = 1 if other < 2 else 0
                for x in range(3):
                    i = 3 * rows.place[slot] + x
                    last = x + 1 if beside == slot else 3
                    for y in range(last):
                        at = rows.element[i] + 3 * rows.place[beside] + y
                        matrix[at] += size * out.lines[c, line, x] * out.lines[c, across, y]
    for c in range(rows.target.shape[0]):
        for e in range(rows.start[c], rows.start[c + 1]):
            for f in range(rows.start[c], rows.start[c + 1]):
                one, two = rows.place[rows.slot[e]], rows.place[rows.slot[f]]
                if two <= one:
                    for x in range(3):
                        at = rows.element[3 * one + x] + 3 * two + x
                        matrix[at] += penalty * rows.weight[e] * rows.weight[f]


@compiled
def factor_matrix(rows, matrix):
    """Cholesky factor in place of the matrix; False where it is not positive definite."""
    for i in range(rows.begin.size):
        first, row = rows.begin[i], rows.element[i]
        for k in range(first, i):
            above = rows.element[k]
            total = matrix[row + k]
            for m in range(max(first, rows.begin[k]), k):
                total -= matrix[row + m] * matrix[above + m]
            matrix[row + k] = total / matrix[above + k]
        total = matrix[row + i]
        for m in range(first, i):
            total -= matrix[row + m] * matrix[row + m]
        if not total > 0.0:
            return False
        matrix[row + i] = sqrt(total)
    return True


@compiled
def solve_factored(rows, matrix, right):
    """Replace the right-hand side (3N,) with the solution."""
    count = rows.begin.size
    for i in range(count):
        total, row = right[i], rows.element[i]
        for k in range(rows.begin[i], i):
            total -= matrix[row + k] * right[k]
        right[i] = total / matrix[row + i]
    for back in range(count):
        i = count - 1 - back
        row = rows.element[i]
        right[i] /= matrix[row + i]
        for k in range(rows.begin[i], i):
            right[k] -= matrix[row + k] * right[i]


@compiled
def set_missing(state, rows, out, multipliers):
    """Set the next right-hand side, force - M qdd - Phi_q^T multipliers, in the order of the matrix."""
    need, none = out.step, rows.place.size
    for slot in range(none):
        for x in range(3):
            need[3 * rows.place[slot] + x] = state.force[slot, x]
            out.flat[3 * rows.place[slot] + x] = out.qdd[slot, x]
    for i in range(rows.begin.size):
        total, row, value = 0.0, rows.element[i], out.flat[i]
        for k in range(rows.begin[i], i):
            total += state.mass[row + k] * out.flat[k]
            need[k] -= state.mass[row + k] * value
        need[i] -= total + state.mass[row + i] * value
    take_rows(multipliers, rows, out, need, -1.0)


@compiled
def constrained(state, rows, out, kind):
    """Solve M qdd + Phi_q^T lambda = force, Phi_q qdd = right for qdd and lambda; return the number of iterations."""
    penalty = state.numbers[0]
    set_lines(state.q, rows, out)
    set_right(state, rows, out, kind)
    set_matrix(state, rows, out)
    if not factor_matrix(rows, out.factor):
        return SINGULAR
    out.qdd[:, :] = 0.0
    out.multipliers[:] = 0.0
    for c in range(out.right.size):
        out.off[c] = -out.right[c]
    for iteration in range(1, ITERATIONS + 1):
        for c in range(out.right.size):
            out.pushed[c] = out.multipliers[c] + penalty * out.off[c]
        set_missing(state, rows, out, out.pushed)
        solve_factored(rows, out.factor, out.step)
        moved, size = _take_step(rows, out)
        times_rows(out.qdd, rows, out, out.off)
        for c in range(out.right.size):
            out.off[c] -= out.right[c]
            out.multipliers[c] += penalty * out.off[c]
        if moved <= TOLERANCE * max(1.0, size):
            _polish(state, rows, out)
            return iteration
    return UNSETTLED


@compiled
def _take_step(rows, out):
    """Add the step; return the largest component of the step and of the sum."""
    moved, size = 0.0, 0.0
    for slot in range(rows.place.size):
        for x in range(3):
            step = out.step[3 * rows.place[slot] + x]
            out.qdd[slot, x] += step
            moved, size = max(moved, abs(step)), max(size, abs(out.qdd[slot, x]))
            if not step == step:
                return step, size
    return moved, size


@compiled
def _polish(state, rows, out):
    """Free the multipliers of Phi_q^T lambda = force - M x from alpha times the round-off of the rows."""
    for _ in range(int(state.numbers[3])):
        set_missing(state, rows, out, out.multipliers)
        solve_factored(rows, out.factor, out.step)
        for slot in range(rows.place.size):
            for x in range(3):
                out.missing[slot, x] = out.step[3 * rows.place[slot] + x]
        times_rows(out.missing, rows, out, out.off)
        for c in range(out.right.size):
            out.multipliers[c] += state.numbers[0] * out.off[c]
