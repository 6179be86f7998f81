"""A simulation with contact under way: steps, and the events at which surfaces begin to touch or part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.contact.contact_pairs import Touch
from musclesolve.dynamics.forward.contact_world import EXTRA, World
from musclesolve.dynamics.forward.simulate import Integration, SmallSteps, stepper
from musclesolve.errors import InputError, MuscleSolveError

LOOKS = np.array([0.25, 0.5, 0.75, 1.0])
"""Shares of a step at which it is seen whether surfaces overlap."""
PULL = 10.0
"""Acceleration [m/s2] that surfaces may have towards each other before they touch, for the longest step."""
OVERLAP = 20.0
"""Force of a contact at the start, in weights of all models together, beyond which it is refused."""
FOLLOWED = 1e-3
"""Constraint error [m or 1] over the tolerance of the steps beyond which a step is projected."""


@dataclass(frozen=True)
class ContactEvent:
    """Two surfaces begin to touch, or part, with the rate [m/s] at which they approach each other."""

    time: float
    pair: str
    begins: bool
    speed: float


@dataclass
class Run:
    """The state at `now`, which pairs touch and at what speed they began to, and the frames so far."""

    world: World
    how: Integration
    times: Array
    now: float = 0.0
    state: Array = field(default_factory=lambda: np.zeros(0))
    touching: Mask = field(default_factory=lambda: np.zeros(0, bool))
    approach: Array = field(default_factory=lambda: np.zeros(0))
    touch: Touch | None = None
    states: list[Array] = field(default_factory=list)
    contacts: list[tuple[Array, Mask]] = field(default_factory=list)
    events: list[ContactEvent] = field(default_factory=list)
    drift: float = 0.0
    small: SmallSteps = field(default_factory=SmallSteps)
    steps: int = 0
    evaluations: int = 0

    def start(self, state: Array) -> None:
        """Take the first state; pairs that overlap touch from the beginning."""
        self.now, self.state = float(self.times[0]), np.concatenate([state, np.zeros(EXTRA)])
        count = len(self.world.pairs.first)
        self.approach, self.touching = np.full(count, np.inf), np.ones(count, bool)
        touch = self.touch = self._touch()
        self._refuse_overlap(touch)
        self.touching = touch.depth > 0.0
        self.approach = np.where(self.touching, np.maximum(touch.rate, 0.0), np.inf)
        self._store(self.state)

    def go_to_next_event(self) -> None:
        """Integrate until a contact begins or the last frame is reached."""
        solver = stepper(self._derivative, self.now, self.state, float(self.times[-1]), self.how)
        while solver.status == "running":
            solver.max_step = min(self.how.largest_step, self._longest_step())
            self._step(solver)
            between = solver.dense_output()
            end, met = self._first_touch(between, self.now, solver.t)
            self._store_frames(between, end)
            if len(met):
                self.state = between(end)
            self._settle(end, solver, len(met) > 0)
            self._part(between)
            self.now = float(end)
            if len(met):
                self._begin(met)
                break
        self.evaluations += solver.nfev

    def _step(self, solver: Any) -> None:
        """One step of the integrator, or an error that says when it failed and what presses most."""
        try:
            fault = self.small.step(solver)
        except MuscleSolveError as error:
            raise MuscleSolveError(f"{error}{self._pressing()}") from error
        self.steps += 1
        if fault:
            raise MuscleSolveError(f"the simulation stops at {solver.t:.4f} s: {fault}{self._pressing()}")

    def _settle(self, end: float, solver: Any, is_event: bool) -> None:
        """Project the state at the end of a step where it has left the constraints."""
        state = self.state if is_event else solver.y
        off = self.world.violation(state)
        self.drift = max(self.drift, off)
        self.state = state
        if is_event or off > FOLLOWED * self.how.tolerance:
            self.state = self.world.projected(end, state)
            if not is_event:
                solver.y = self.state
                solver.f = self._derivative(end, self.state)

    def _derivative(self, time: float, state: Array) -> Array:
        return self.world.derivative(time, state, self.approach, self.touching)

    def _touch(self) -> Touch:
        return self.world.touch(self.now, self.state, self.approach, self.touching)

    def _longest_step(self) -> float:
        """A step in which no pair can pass through each other unseen."""
        touch, thickness = self.touch, self.world.pairs.thickness
        free = ~self.touching & np.isfinite(thickness)
        if touch is None or not free.any():
            return np.inf
        way = np.maximum(touch.gap[free] + thickness[free], len(LOOKS) * thickness[free])
        speed = np.maximum(touch.rate[free], 0.0)
        return float(((np.sqrt(speed**2 + 2.0 * PULL * way) - speed) / PULL).min())

    def _first_touch(self, between: Any, begin: float, end: float) -> tuple[float, Indices]:
        """The earliest time in a step at which surfaces that were apart meet, and which; the end where none do."""
        from scipy.optimize import brentq

        gaps, free, before = self.world.gaps, np.flatnonzero(~self.touching), begin
        for share in LOOKS if len(free) else ():
            time = begin + share * (end - begin)
            met = free[gaps(time, between(time))[free] < 0.0]
            if len(met):

                def least(at: float, met: Indices = met) -> float:
                    return float(gaps(at, between(at))[met].min())

                if least(before) > 0.0:
                    time = float(brentq(least, before, time, xtol=1e-13, rtol=1e-14))
                elif before > begin:
                    time = before
                else:  # they overlap by round-off already
                    time = begin + 1e-3 * (time - begin)
                found = gaps(time, between(time))[met]
                return time, met[found <= max(1e-10, float(found.min()))]
            before = time
        return end, free[:0]

    def _begin(self, met: Indices) -> None:
        """Note the speeds at which pairs begin to touch."""
        touch = self.touch = self._touch()
        for p in met:
            speed = float(touch.rate[p])
            self.touching[p], self.approach[p] = True, max(speed, 0.0)
            self.events.append(ContactEvent(self.now, self.world.pairs.names[p], True, speed))

    def _part(self, between: Any) -> None:
        """Let go of the pairs that have parted in a step."""
        from scipy.optimize import brentq

        begin, end = between.t_old, between.t
        touch = self.touch = self.world.touch(end, self.state, self.approach, self.touching)
        for p in np.flatnonzero(self.touching & (touch.depth < 0.0) & (touch.rate < 0.0)):

            def gap(at: float, p: int = int(p)) -> float:
                return float(self.world.gaps(at, between(at))[p])

            time = float(brentq(gap, begin, end, xtol=1e-12) if gap(begin) < 0.0 < gap(end) else end)
            left = self.world.touch(time, between(time), self.approach, self.touching)
            self.touching[p], self.approach[p] = False, np.inf
            self.events.append(ContactEvent(time, self.world.pairs.names[p], False, float(left.rate[p])))

    def _store_frames(self, between: Any, end: float) -> None:
        wanted = self.times[len(self.states) : int(np.searchsorted(self.times, end, side="right"))]
        for time in wanted:
            self._store(self.world.projected(time, between(time)))

    def _store(self, state: Array) -> None:
        self.states.append(state)
        self.contacts.append((self.approach.copy(), self.touching.copy()))

    def _refuse_overlap(self, touch: Touch) -> None:
        size = np.linalg.norm(touch.force, axis=1)
        if not len(size) or size.max() <= OVERLAP * max(self.world.weight, 1e-3):
            return
        worst = int(np.argmax(size))
        raise InputError(
            f"{self.world.pairs.names[worst]} overlap by {1000.0 * touch.depth[worst]:.1f} mm at the start, "
            f"a force of {size[worst]:.3g} N",
            code="conflict",
            where=self.world.pairs.names[worst],
            expected="surfaces that are apart or hardly touch",
            remedy="move the models apart, or leave the pair out",
        )

    def _pressing(self) -> str:
        """What presses and what pulls most at the last good state, for a message."""
        text = ""
        loads = self.world.loads(self.now, self.state, self.approach, self.touching)
        if self.touching.any():
            size = np.linalg.norm(loads.touch.force, axis=1)
            worst = int(np.argmax(size)) if size.any() else int(np.argmax(self.touching))
            text += (
                f" {self.world.pairs.names[worst]} press most, {size[worst]:.3g} N at {self.now:.4f} s. A contact that "
                "is too stiff for the steps is softer with less stiffness, a larger slip_speed or the stepper 'radau'."
            )
        if loads.pull is not None and self.world.straps is not None and loads.pull.tension.any():
            worst = int(np.argmax(loads.pull.tension))
            name = self.world.straps.straps[worst].name
            text += f" The strap {name} carries {loads.pull.tension[worst]:.3g} N at {self.now:.4f} s."
        return text
