"""The smallest change of a motion that reduces the residual force and moment at the base.

Newton's law for the whole body, with the momentum h = (sum m v, sum c x m v + I w) of its bodies, leaves the residual

    r = dh/dt - (sum m g, sum c x m g) - external force and moment

which has to act on the base from outside. A small change of the pose along the speeds of the model, y(t), moves the
centers of mass by dc = C y and turns the bodies by dt = S y. With v and w as they are,

    dr = d^2/dt^2 (A y) + d/dt (B y) - (0, sum dc x m g)
    A y = (sum m dc, sum c x m dc + I dt),   B y = (0, sum 2 m dc x v + dt x I w - w x I dt + I (w x dt))

so that dr is linear in y and its first two derivatives by time, with matrices that follow from A and B. The change
minimizes, over all frames,

    sum |r + dr - f b|^2 / s_r^2 + (f / s_f)^2 + sum [ |dc|^2 + L^2 |dt|^2 ] / s^2

and the last sum once more with the second derivatives by time over w^2, by Gauss-Newton: the first sum in frames in
which all external forces are known, the others in all frames. s is the size of the errors of a measured motion, which
have little content beyond the cut-off frequency w to which the motion was filtered. y is a spline of the fifth degree
with knots dense enough for all that the motion holds: a coarse one answers fast parts by a wrong change at
low frequencies. f is the relative error of the mass of the body, with b = sum m (a - g) and its moment: a mass that the
forces contradict must not bend the motion. It is found, and not applied.

OpenSim's residual reduction (Delp et al. 2007, IEEE Trans Biomed Eng 54:1940) serves the same purpose: there a forward
simulation tracks the motion with residual actuators of limited strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Mask, vector_product
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import segment_motion, turned_inertia
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits, differentiate
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import input_error

CHANGE = 0.005
"""Size s of the change of a segment [m]: what soft tissue moves markers against bones ([uncertainty])."""
FIRMER = {"foot": 3.0, "shank": 2.0}
"""Segments that are known so much better: shoes do not slide on feet, and soles are where the force acts."""
ROTATED = 0.1
"""Length L at which a rotation counts like a shift [m]."""
RESIDUAL = 0.01
"""Size s_r of the residual that stays: force over the body weight, moment over the body weight times 1 m."""
MASS = 0.02
"""Size s_f of the relative error of the body mass."""
DEGREE, DENSE = 5, 12.0
"""Degree of the splines, and their knots per period of the cut-off frequency."""
MOST_STEPS, CONVERGED = 12, 2e-5
"""Most steps, and the largest step after which they end [m, rad]."""
SHRINK, MOST_TRIALS = 0.9, 12
"""Share of the bound that is tried where a change is larger, and how often."""


@dataclass(frozen=True)
class ReducedResidual:
    """A changed motion of T frames with a smaller residual.

    motion: the changed one; its positions satisfy every constraint, its derivatives come from `differentiate`.
    change (T, n): how far each point of the model moved [m]. mass: factor on the body mass that would balance the
    forces best beside the change; it is not applied.
    """

    motion: Motion
    change: Array
    mass: float


@dataclass(frozen=True)
class ResidualReduction:
    """The reduction prepared at one motion of T frames; also for models, motions and forces near those.

    splines (T, n); rows (n, T, 6, K+6): change of the residual over s_r with the coefficients of each spline; scale
    (T, 1): 1 / s_r in the frames in which all external forces are known, 0 elsewhere; bands: normal equations of the
    residual, and of the change for s = 1 m, by their diagonals; size: s [m].
    """

    splines: Array
    rows: tuple[Array, ...]
    scale: Array
    bands: tuple[Array, Array]
    size: float = CHANGE

    @classmethod
    def at(
        cls, model: Model, motion: Motion, known: Mask, cutoff: float, locked: Sequence[str] = ()
    ) -> ResidualReduction:
        """Prepare the reduction at a motion.

        Args:
            model: the body.
            motion: (T,) frames.
            known: (T,) the frames in which all external forces are known.
            cutoff: frequency to which the motion was filtered [Hz].
            locked: degrees of freedom that nothing measured shows, which stay as they are.

        Raises:
            InputError: the motion of another model.
        """
        from scipy.interpolate import BSpline

        time, weight = motion.time, model.mass.total * STANDARD_GRAVITY
        check_fits(model, motion)
        length = time[-1] - time[0]
        count = min(int(np.ceil(length * DENSE * cutoff)), len(time) - 1)
        knots = time[0] + length / count * np.arange(-DEGREE, count + DEGREE + 1)
        basis = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
        splines, slopes, curvatures = (basis(time, nu=order) for order in range(3))
        scale = known[:, None] / (RESIDUAL * weight)
        rates, metric = _rates(model, motion), _metric(model, motion)
        for dof in map(model.dof, locked):
            metric[:, dof] = metric[:, :, dof] = 0.0
            metric[:, dof, dof] = 1.0
            for rate in rates:
                rate[:, :, dof] = 0.0
        speeds, number = metric.shape[1], splines.shape[1]
        reach = [np.flatnonzero(splines[:, k]) for k in range(number)]
        spans = [slice(each[0], each[-1] + 1) if each.size else slice(0, 0) for each in reach]
        rows = tuple(
            sum(
                scale[on, :, None] * rate[on] * base[on, k, None, None]
                for rate, base in zip(rates, (splines, slopes, curvatures), strict=True)
            )
            for k, on in enumerate(spans)
        )
        bands = np.zeros((2, (DEGREE + 1) * speeds, number * speeds))
        place = np.subtract.outer(np.arange(speeds), np.arange(speeds))
        column = np.broadcast_to(np.arange(speeds), place.shape)
        for k in range(number):
            for other in range(k, min(k + DEGREE + 1, number)):
                both = slice(spans[other].start, max(spans[k].stop, spans[other].start))
                mine = rows[k][both.start - spans[k].start :]
                theirs = rows[other][: len(mine)]
                share = splines[both, k] * splines[both, other]
                share = share + curvatures[both, k] * curvatures[both, other] / (2.0 * np.pi * cutoff) ** 4
                lower = place + (other - k) * speeds
                kept = lower >= 0
                at = lower[kept], column[kept] + k * speeds
                flat = theirs.reshape(-1, speeds), mine.reshape(-1, speeds)
                bands[0][at] = (flat[0].T @ flat[1])[kept]
                bands[1][at] = np.tensordot(share, metric[both], axes=(0, 0))[kept]
        return cls(splines, rows, scale, (bands[0], bands[1]))

    def bounded(
        self, model: Model, motion: Motion, wrenches: list[Wrench], largest: float
    ) -> tuple[ResidualReduction, ReducedResidual]:
        """The reduction of a motion that moves no point by more than a bound [m], and its consequences.

        Where a change would be larger the motion is taken to be known better, until it is not.
        """
        tried = self
        for _ in range(MOST_TRIALS):
            coefficients = tried.reduced(model, motion, wrenches)
            most = float(coefficients.change.max(initial=0.0))
            if most <= largest:
                return tried, coefficients
            tried = replace(tried, size=tried.size * SHRINK * largest / most)
        raise input_error("dynamics.residual_not_reduced", largest=1e3 * largest, most=1e3 * most)

    def reduced(self, model: Model, motion: Motion, wrenches: list[Wrench]) -> ReducedResidual:
        """Change a motion as little as possible such that the residual at the base becomes smaller.

        Args:
            model: the body; its masses are not changed.
            motion: (T,) frames.
            wrenches: all forces from outside, in all frames.

        Raises:
            InputError: the motion or the wrenches do not fit the model.
        """
        from scipy.linalg import cho_solve_banded

        heavier = self.scale * projected_moments(model, motion, [])[:, -6:]
        by_mass = self._gradient(heavier)
        with_mass = cho_solve_banded((self._factor, True), by_mass.ravel(), check_finite=False)
        # the mass borders the band by one row and column
        own = float((heavier**2).sum()) + MASS**-2 - float(by_mass.ravel() @ with_mass)
        coefficients, mass, changed = np.zeros_like(by_mass), 0.0, motion
        for _ in range(MOST_STEPS):
            residual = self.scale * projected_moments(model, changed, wrenches)[:, -6:] - mass * heavier
            right = -self._gradient(residual) - self._held(coefficients)
            plain = cho_solve_banded((self._factor, True), right.ravel(), check_finite=False)
            gain = (float((heavier * residual).sum()) - mass / MASS**2 + float(by_mass.ravel() @ plain)) / own
            step = (plain + gain * with_mass).reshape(coefficients.shape)
            coefficients, mass = coefficients + step, mass + gain
            changed = _moved(model, motion, self.splines @ coefficients)
            if np.abs(self.splines @ step).max() < CONVERGED:
                break
        points = model.topology.point_count
        return ReducedResidual(
            changed, np.linalg.norm((changed.q - motion.q)[:, :points], axis=2), 1.0 - mass
        )

    @cached_property
    def _factor(self) -> Array:
        """Cholesky factor of the normal equations, by diagonals."""
        from scipy.linalg import cholesky_banded

        of_residual, of_change = self.bands
        return np.asarray(
            cholesky_banded(of_residual + of_change / self.size**2, lower=True, check_finite=False)
        )

    def _gradient(self, residual: Array) -> Array:
        """Half the slope (n, K+6) of the sum of squares of a residual over s_r, (T, 6), by the coefficients."""
        coefficients = []
        for k, rows in enumerate(self.rows):
            first = int(np.argmax(self.splines[:, k] != 0.0))
            coefficients.append(np.einsum("trj,tr->j", rows, residual[first : first + len(rows)]))
        return np.array(coefficients)

    def _held(self, coefficients: Array) -> Array:
        """Return the pull of the coefficients (n, K+6) toward zero, (n, K+6)."""
        band, flat = self.bands[1], coefficients.ravel()
        product = band[0] * flat
        for k in range(1, min(len(band), flat.size)):
            product[k:] += band[k, :-k] * flat[:-k]
            product[:-k] += band[k, :-k] * flat[k:]
        return np.asarray(product.reshape(coefficients.shape) / self.size**2)


def _moved(model: Model, motion: Motion, change: Array) -> Motion:
    """A motion after a change (T, K+6) along its speeds."""
    angles, position, rotation = Pose.from_coordinates(motion.coordinates).moved(model.tree, change)
    before, cardan = motion.coordinates[:, -3:], np.column_stack(to_cardan(rotation))
    cardan += 2.0 * np.pi * np.round((before - cardan) / (2.0 * np.pi))
    return differentiate(model, motion.time, np.column_stack([angles, position, cardan]))


def _metric(model: Model, motion: Motion) -> Array:
    """Sum over segments of |dc|^2 + L^2 |dt|^2 per square of a change along the speeds, (T, K+6, K+6)."""
    mass = model.mass.mass
    bodies = np.flatnonzero(mass > 0.0)
    segments = np.array([body.segment for body in model.topology.bodies])
    # a segment of several bodies counts once, by their masses
    weight = np.array([mass[b] / mass[segments == segments[b]].sum() for b in bodies])
    weight *= [FIRMER.get(segments[b].rsplit("_", 1)[0], 1.0) ** 2 for b in bodies]
    parts = []
    for block in blocks(len(motion.time)):
        part = motion.frames(block)
        center = segment_motion(model, part).center[:, bodies]
        spin, reach = model.tree.body_directions(part.q, part.origin, bodies, center)
        moved = np.concatenate([reach, ROTATED * spin], axis=3) * np.sqrt(weight)[:, None, None]
        flat = moved.transpose(0, 2, 1, 3).reshape(len(spin), spin.shape[2], -1)
        parts.append(flat @ np.swapaxes(flat, 1, 2))
    return np.concatenate(parts)


def _rates(model: Model, motion: Motion) -> tuple[Array, Array, Array]:
    """Change of the residual per change along the speeds, per its first and its second derivative, (T, 6, K+6) each.

    The moment is about the origin of the layout as it is in this motion.
    """
    from scipy.interpolate import make_interp_spline

    parts = [_momenta(model, motion.frames(block)) for block in blocks(len(motion.time))]
    a, b, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    of_a, of_b = (make_interp_spline(motion.time, each, k=5) for each in (a, b))
    coefficients = []
    for each in (of_a(motion.time, 2) + of_b(motion.time, 1) - weight, 2.0 * of_a(motion.time, 1) + b, a):
        force, moment = (np.swapaxes(each[:, rows], 1, 2) for rows in (slice(3), slice(3, 6)))
        about = moment - vector_product(motion.origin[:, None], force)
        coefficients.append(_rows(force, about))
    return coefficients[0], coefficients[1], coefficients[2]


def _momenta(model: Model, motion: Motion) -> tuple[Array, Array, Array]:
    """A, B and the moment of the weights per change along the speeds, (T, 6, K+6) each, about the global origin."""
    segments, bodies = segment_motion(model, motion), np.flatnonzero(model.mass.mass > 0.0)
    mass, center = model.mass.mass[bodies], segments.center[:, bodies]
    omega = segments.velocity[:, bodies][:, :, None]
    inertia = turned_inertia(model, segments, bodies)
    spin, reach = model.tree.body_directions(motion.q, motion.origin, bodies, center)
    velocity = np.einsum("tbkx,tk->tbx", reach, motion.speeds)
    shifted = mass[:, None, None] * reach

    def applied(vectors: Array) -> Array:
        return vectors @ inertia  # symmetric

    turned = applied(spin)
    linear, angular = shifted.sum(axis=1), (vector_product(center[:, :, None], shifted) + turned).sum(axis=1)
    moving = 2.0 * vector_product(shifted, velocity[:, :, None]) + vector_product(spin, applied(omega))
    moving += applied(vector_product(omega, spin)) - vector_product(omega, turned)

    still = np.zeros_like(linear)
    weight = vector_product(linear, np.asarray(model.gravity))
    return _rows(linear, angular), _rows(still, moving.sum(axis=1)), _rows(still, weight)


def _rows(force: Array, moment: Array) -> Array:
    """Forces and moments by speed, (T, K+6, 3) each, as rows (T, 6, K+6)."""
    return np.swapaxes(np.concatenate([force, moment], axis=2), 1, 2)
