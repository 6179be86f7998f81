"""State of a session on the page: the newest frame and its picture, the curves of the last half minute, steps, counts.

Contacts of a foot (`FootContacts`) are known from its vertical ground force, by `motion.events.foot_events.contacts`.
It is called when a contact has lasted long enough to be a step, and when the foot has been unloaded for longer than a
dropout lasts: what comes later changes nothing then.

Frames come from the computing process through shared memory (`FrameRing`). The writer never waits: it puts a frame into
the next row of a ring and then counts it. A reader that is too slow loses the oldest rows, and learns how many.

`LiveDrawing` has rows of frames as data of the moving picture: the same drawing as of a result, one pose at a time.
"""

from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import OTHER, SIDE_NAMES, side_of, split_side
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.page.page_settings import DURING, PageSettings, ShownQuantities, statistic
from musclesolve.apps.live.stream import STATUS_NAMES
from musclesolve.constants import LOADED_FROM_N
from musclesolve.dynamics.kinematics.motion_derivatives import moving_bodies
from musclesolve.dynamics.model.model import Model
from musclesolve.laboratory.motion.events.foot_events import (
    FIRM_WEIGHTS,
    LONGEST_DROPOUT,
    SHORTEST_CONTACT,
    FootLoads,
    contacts,
)
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.report import picture
from musclesolve.laboratory.report.picture.bones import Bones, bones_of
from musclesolve.laboratory.report.picture.encoded import moving_data, packed, page_data
from musclesolve.laboratory.report.picture.picture_data import (
    Arrows,
    Bellies,
    DrawnLeg,
    PictureData,
    Quantity,
    ends_of,
    lines_beside,
    round_above,
)
from musclesolve.laboratory.results.dataset.frame_validity import VALID
from musclesolve.laboratory.results.dataset.labels import Skeleton, subject_skeleton
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined
from musclesolve.sharing.status import Status

COLORED_BY = {name: QUANTITIES[name].frame for name in ("activation", "muscle_force")}
"""Variables of picture.toml that a frame has -> attribute of the frame."""
LEAST_HIGH = 1000.0
"""Least end of the scale of a force without a fixed end [N]; the scale grows with the values."""


@dataclass(eq=False)
class LiveDrawing:
    """Drawing of the rows of a `Live`; the object can be sent to another process.

    weight: of the body [N]. heights: of the ground under the right and the left foot (2,) [m]. heading [rad] from x to
    the left. pose: coordinates (K+6,) of a pose of the recording, by which bones get their thickness. joints, sides:
    names in the order of a row. high: end of the scale of each quantity without a fixed one, so far. knee_widths: over
    the epicondyles [m], by side, as far as they are known.
    """

    model: Model
    muscles: ScaledMuscles
    joints: tuple[str, ...]
    sides: tuple[str, ...]
    weight: float
    heights: Array
    heading: float
    pose: Array
    high: dict[str, float]
    knee_widths: dict[str, float]

    @classmethod
    def from_live(cls, live: Live, weight: float) -> Self:
        """The drawing of a session."""
        mechanics = live.body.mechanics
        middle = len(mechanics.motion.time) // 2
        return cls(
            model=live.model,
            muscles=joined(live.body.placed),
            joints=live.joints,
            sides=live.sides,
            weight=weight,
            heights=live.ground_heights,
            heading=float(live.body.gait.heading_at(mechanics.motion.time[middle : middle + 1])[0]),
            pose=mechanics.motion.coordinates[middle],
            high={},
            knee_widths={str(side): width for side, width in mechanics.measured.knee_width.items()},
        )

    def base(self) -> PictureData:
        """Return the picture of the parts that do not move, with the pose of the recording and no other data."""
        skeleton, path, owner = self._placed(self.pose)
        points, names = skeleton.points, self.muscles.names
        first = np.searchsorted(owner, np.arange(len(names) + 1)).astype(np.intp)
        bones = bones_of(skeleton, ("",), self.knee_widths).reaching(ends_of(path, first))
        short = self.muscles.short_names
        parameters = self.muscles.parameters
        number = {name: k for k, name in enumerate(points)}
        kept = [k for k, joint in enumerate(self.joints) if joint in number]
        acting = tuple(self.joints[k] for k in kept)
        at = np.array([number[name] for name in acting], np.intp)
        none = np.full((1, len(SIDES), 3), np.nan)
        lost = np.array([Status.INTERRUPTED.name.lower()])
        return PictureData(
            time=np.zeros(1),
            every=1,
            simulated=False,
            subjects=("",),
            points=points,
            position=skeleton.position,
            lines=lines_beside(skeleton, bones),
            muscles=names,
            short_names=tuple(split_side(name)[0].replace("_", " ") for name in short),
            bellies=Bellies.sized(
                parameters.max_isometric_force, parameters.optimal_fiber_length, path, first
            ),
            path=path,
            first=first,
            legs=tuple(
                DrawnLeg(side, f"{SIDE_NAMES[side]} leg", lost, np.full(1, np.nan)) for side in self.sides
            ),
            quantities=tuple(
                Quantity(about, np.full((1, len(names)), np.nan), float(about.get("high", LEAST_HIGH)))
                for about in bundled_toml(picture.__name__, "picture.toml")["quantity"]
                if about["variable"] in COLORED_BY
            ),
            ground=Arrows(SIDES, SIDES, none, place=none),
            contact=Arrows(acting, tuple(map(side_of, acting)), np.full((1, len(acting), 3), np.nan), at=at),
            weight=self.weight,
            heading=self.heading,
            missing=(),
            bones=bones,
            shapes=None,
            events=[],
        )

    def drawn(self, base: PictureData, row: AnyArray, values: dict[str, Array]) -> PictureData:
        """A row () of a frame as a picture; values (n,) by attribute of the frame, NaN where they are not valid."""
        skeleton, path, _ = self._placed(row["coordinates"])
        force, moment = row["wrench"][:, :3], row["wrench"][:, 3:]
        plates = zip(force[:, None], moment[:, None], self.heights, strict=True)
        place = np.concatenate([center_of_pressure(of, about, float(height)) for of, about, height in plates])
        stands = np.isfinite(place).all(axis=1) & (np.nan_to_num(force[:, 2]) > LOADED_FROM_N)
        force, place = (np.where(stands[:, None], push, np.nan)[None] for push in (force, place))
        kept = [self.joints.index(name) for name in base.contact.names]
        status = [STATUS_NAMES[code].lower() for code in row["status"].tolist()]
        known = {side: name for side, name in zip(self.sides, status, strict=True)}
        lost = [k for k, name in enumerate(base.contact.names) if known.get(side_of(name)) not in VALID]
        contact = row["joint_reaction"][None, kept].copy()
        contact[:, lost] = np.nan
        return replace(
            base,
            time=row["time"][None],
            position=skeleton.position,
            path=path,
            bones=Bones.fixed(base.bones.standard, skeleton),
            legs=tuple(replace(leg, verdict=np.array([known[leg.side]])) for leg in base.legs),
            quantities=tuple(self._colored(quantity, values) for quantity in base.quantities),
            ground=replace(base.ground, force=force, place=place),
            contact=replace(base.contact, force=contact),
        )

    def _colored(self, base: Quantity, values: dict[str, Array]) -> Quantity:
        about = base.about
        color = values[COLORED_BY[about["variable"]]][None].astype(float)
        if "of" in about:
            color = color / getattr(self.muscles.parameters, about["of"])
        if "high" in about:
            return Quantity(about, color, base.high)
        high = max(self.high.get(about["key"], base.high), round_above(color))
        self.high[about["key"]] = high
        return Quantity(about, color, high)

    def _placed(self, coordinates: Array) -> tuple[Skeleton, Array, AnyArray]:
        """Skeleton and paths (1, P, 3) [m] in a pose, NaN where it is not known; the muscle (P,) of each point."""
        known = np.isfinite(coordinates).all()
        pose = np.where(known, coordinates, self.pose)[None]
        still = np.zeros_like(pose)
        motion, _ = moving_bodies(self.model, np.zeros(1), pose, still, still)
        skeleton = subject_skeleton(self.model, motion)
        lines = self.muscles.paths.lines(motion.q, motion.coordinates, trimmed=False)
        position, place, rotation, path = (
            np.where(known, part.astype(float), np.nan)
            for part in (skeleton.position, skeleton.place, skeleton.rotation, lines.position)
        )
        return replace(skeleton, position=position, place=place, rotation=rotation), path, lines.muscle


FRAMES_KEPT_S = 30.0
"""Duration for which frames are kept [s]."""
SHOWN_STEPS = 10
"""Number of steps of each side that are shown."""
RECENT = 10.0
"""Duration over which invalid samples are counted [s]."""
MOST_VALUES = 10_000
"""Number of stored values of steps."""
SHOWN = "shown"
"""Message of the server to the session when a browser shows the page for the first time."""
RATE_OVER = 1.0
"""Duration over which samples per second are counted [s]."""

Span = tuple[float, float]
"""Beginning and end of a contact, or of a gait cycle, by the clock of the frames [s]."""


@dataclass(frozen=True, eq=False)
class PageSetup:
    """Setup of the page by a `Live`, in a form that can be sent to another process.

    title, subtitle: of the page. rate: frames a second. threshold, firm: levels of the vertical force of a contact [N].
    """

    title: str
    subtitle: str
    rate: float
    quantities: ShownQuantities
    drawing: LiveDrawing
    threshold: float
    firm: float

    @classmethod
    def from_live(cls, live: Live) -> Self:
        """The setup of the page for a session."""
        weight, loads = live.model.weight, FootLoads.from_trial(live.trial)
        return cls(
            title=live.trial.subject.name or "Live",
            subtitle=f"live, {1e3 * live.lag:g} ms behind the newest sample, filtered at {live.cutoff:g} Hz"
            + (", ground reactions predicted" if live.predicts else ""),
            rate=live.rate,
            quantities=ShownQuantities(live.muscles, live.dofs, live.joints, live.sides, weight),
            drawing=LiveDrawing.from_live(live, weight),
            threshold=loads.unloaded_below,
            firm=loads.level(FIRM_WEIGHTS),
        )

    @property
    def keys(self) -> list[str]:
        """Keys of all quantities that can be chosen."""
        return [shown.key for shown in self.quantities.every]


@dataclass(frozen=True, eq=False)
class Order:
    """Order of the session to the server: the page, its settings and their file, port and token."""

    setup: PageSetup
    settings: PageSettings
    file: Path | None
    kind: np.dtype[Any]
    port: int
    token: str
    opens: bool


class PageState:
    """The state of a page; `take` brings it up to date.

    settings: may be replaced; the values of the steps follow, as far back as frames are kept.
    number: of the newest frame, -1 before the first; received: when its sample arrived (`perf_counter` [s]).
    """

    def __init__(self, setup: PageSetup, settings: PageSettings) -> None:
        self.setup, self.settings = setup, settings
        self.every = {shown.key: shown for shown in setup.quantities.every}
        self.columns = {key: k for k, key in enumerate(self.every)}
        self.base = setup.drawing.base()
        self.number, self.received = -1, np.nan
        self.lost = 0  # frames that came too fast for the page
        self.frames = self.invalid = 0
        self._row: AnyArray | None = None
        self._first = np.inf  # time of the first frame: a stream may count from the start of its computer [s]
        capacity = max(int(2 * FRAMES_KEPT_S * setup.rate), 1000)
        self._time, self._numbers = np.empty(capacity), np.empty(capacity, np.int64)
        self._values: NDArray[np.float32] = np.empty((capacity, len(self.every)), np.float32)
        self._count = 0
        # arrival of the last frames, and whether they failed
        self._recent: deque[tuple[float, bool]] = deque()
        self._feet = {side: FootContacts(setup.threshold, setup.firm) for side in SIDES}
        self._spans = {
            (str(side), kind): deque[Span](maxlen=SHOWN_STEPS) for side in SIDES for kind in DURING
        }
        self._done = dict.fromkeys(self._spans, 0)  # how many spans there were of each kind
        self._span_values: dict[tuple[Span, str, str], float] = {}
        self._picture: tuple[int, dict[str, Any]] | None = None

    @property
    def page_data(self) -> dict[str, Any]:
        """Data of the page when it is opened."""
        return page_data(self.base, self.setup.title, self.setup.subtitle)

    def take(self, rows: AnyArray, lost: int = 0) -> None:
        """Take new frames (k,) in their order; lost: so many before them never arrived."""
        if lost:
            self.lost += lost
            self._forget_contacts()
        if not len(rows):
            return
        for row, values in zip(rows, self.setup.quantities.values(rows), strict=True):
            self._recent.append((float(row["received"]), bool(row["failed"])))
            self._keep(row, values, cut=lost > 0)
            lost = 0
        self.frames += len(rows)
        self.invalid += int(rows["failed"].sum())
        self._row = rows[-1]
        self._first = float(np.nanmin([self._first, *rows["time"]]))
        self.number, self.received = int(rows["number"][-1]), float(rows["received"][-1])
        while self._recent and self._recent[0][0] < self.received - RECENT:
            self._recent.popleft()

    def _forget_contacts(self) -> None:
        for foot in self._feet.values():
            foot.clear()

    def _keep(self, row: AnyArray, values: NDArray[np.float32], cut: bool) -> None:
        """Add a frame to curves and contacts; not one that came late, and everything anew after another clock."""
        time, newest = float(row["time"]), self._time[self._count - 1] if self._count else -np.inf
        if not np.isfinite(time) or (time <= newest and (row["status"] == Status.INTERRUPTED).all()):
            return
        if time <= newest:
            self._count = 0
            self._span_values.clear()
            self._forget_contacts()
            for query, spans in self._spans.items():
                spans.clear()
                self._done[query] = 0
        if self._count + 2 > len(self._time):
            half = len(self._time) // 2
            for kept in (self._time, self._numbers, self._values):
                kept[:half] = kept[self._count - half : self._count]
            self._count = half
        if cut and self._count:  # a gap in the curves
            self._add(0.5 * (newest + time), int(row["number"]) - 1, np.full_like(values, np.nan))
        self._add(time, int(row["number"]), values)
        for k, side in enumerate(SIDES):
            stances, cycles = self._feet[side].push(time, float(row["wrench"][k, 2]))
            for kind, done in (("stance", stances), ("cycle", cycles)):
                self._spans[side, kind].extend(done)
                self._done[side, kind] += len(done)
                key = self.every[self.settings.quantity].on(side)
                for span in done if key in self.columns else ():
                    self._of_span(span, key)

    def _add(self, time: float, number: int, values: NDArray[np.float32]) -> None:
        k = self._count
        self._time[k], self._numbers[k], self._values[k] = time, number, values
        self._count += 1

    def curves(self, since: int) -> tuple[Array, NDArray[np.float32]]:
        """Times (k,) [s] and values (k, c) of the chosen quantities, of the frames with a number above `since`."""
        first = int(np.searchsorted(self._numbers[: self._count], since, side="right"))
        if self._count:
            newest = self._time[self._count - 1]
            first = max(first, int(np.searchsorted(self._time[: self._count], newest - self.settings.span)))
        chosen = [self.columns[key] for key in self.settings.curves]
        return self._time[first : self._count], self._values[first : self._count, chosen]

    def packed_curves(self, since: int) -> dict[str, str]:
        """The curves since a frame, packed as text for JSON."""
        time, values = self.curves(since)
        return {"time": packed(time, "<f8"), "values": packed(values, "<f4")}

    def steps(self) -> dict[str, list[float]]:
        """Return by side the value of each of the last steps, NaN where unknown, oldest first.

        There is none of a leg that is not analyzed.
        """
        settings, quantity = self.settings, self.every[self.settings.quantity]
        if settings.value == "now":
            return {side: [] for side in SIDES}
        return {
            side: [self._of_span(span, key) for span in self._spans[side, settings.during]]
            if key in self.columns
            else []
            for side, key in {side: quantity.on(side) for side in SIDES}.items()
        }

    def _of_span(self, span: Span, key: str) -> float:
        """The value of a step, computed once: later its frames are no longer kept."""
        query = span, key, self.settings.value
        if query not in self._span_values and self.settings.value != "now":
            if len(self._span_values) > MOST_VALUES:
                self._span_values.clear()
            first, stop = np.searchsorted(self._time[: self._count], span)
            of_span = self._values[first if first else stop : stop, self.columns[key]].astype(float)
            self._span_values[query] = statistic(self.settings.value, of_span)
        return self._span_values.get(query, float("nan"))

    def feedback(self) -> dict[str, Any]:
        """Value, place in the band and steps of both legs, as the pages of operator and subject show them.

        The value is the present one, or the value of the last step of the leg of the quantity; done: how many steps
        there were.
        """
        settings, quantity, steps = self.settings, self.every[self.settings.quantity], self.steps()
        sides = SIDES if quantity.side == OTHER else (quantity.side,)
        value = float("nan")
        if settings.value == "now":
            value = float(self._values[self._count - 1, self.columns[quantity.key]]) if self._count else value
        else:
            last = max(
                (side for side in sides if steps[side]),
                key=lambda side: self._spans[side, settings.during][-1][1],
                default=None,
            )
            value = value if last is None else steps[last][-1]
        return {
            "value": _number(value),
            "place": settings.place(value),
            "steps": {
                side: [{"value": _number(step), "place": settings.place(step)} for step in of_side]
                for side, of_side in steps.items()
            },
            "done": sum(self._done[side, settings.during] for side in sides),
        }

    def status(self, now: float) -> dict[str, Any]:
        """Counts, and how old the newest sample is at a reading of `perf_counter` [s]."""
        return {
            "age": now - self.received if self.frames else None,
            "rate": sum(at > now - RATE_OVER for at, _ in self._recent) / RATE_OVER,
            "frames": self.frames,
            "invalid": self.invalid,
            "recentInvalid": sum(failed for _, failed in self._recent),
            "lost": self.lost,
            "seconds": None if self._row is None else float(self._row["seconds"]),
        }

    def picture(self) -> dict[str, Any]:
        """The newest frame as the moving picture takes it, its time since the first one; made once for all browsers."""
        if self._picture is None or self._picture[0] != self.number:
            assert self._row is not None
            values = self.setup.quantities.values(self._row[None])[0]
            muscles = len(self.setup.quantities.muscles)
            first = {
                kind: self.columns[f"{kind}:{self.setup.quantities.muscles[0]}"]
                for kind in ("activation", "muscle_force")
            }
            row = {
                "activation": values[first["activation"] :][:muscles],
                "force": values[first["muscle_force"] :][:muscles],
            }
            drawn = self.setup.drawing.drawn(self.base, self._row, row)
            self._picture = self.number, moving_data(replace(drawn, time=drawn.time - self._first))
        return self._picture[1]

    @property
    def notes(self) -> str:
        """Note of the newest frame on missing parts."""
        return "" if self._row is None else bytes(self._row["notes"]).decode(errors="replace")

    @property
    def faults(self) -> str:
        """Markers of the newest sample that are off, with reasons; else what the session says."""
        texts = () if self._row is None else (self._row["faults"], self._row["said"])
        return next((bytes(text).decode(errors="replace") for text in texts if text), "")


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


LONGEST_CONTACT = 5.0
"""Longest contact that is a step [s]; in a longer one the foot stands."""


class FootContacts:
    """One foot, sample by sample; threshold and firm level of its vertical force [N] as in `contacts`."""

    def __init__(self, threshold: float, firm: float) -> None:
        self.threshold, self.firm = threshold, firm
        self.clear()

    def clear(self) -> None:
        """Forget all samples: a contact of which a part is not known is none, and no cycle goes on from before it."""
        self._strike = np.nan  # the last one [s]
        self._seen = -np.inf  # begin of the last contact whose strike is known [s]
        self._unknown = np.nan  # time since which the force is not known [s]
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._time, self._vertical = list[float](), list[float]()
        self._first = self._last = np.nan  # loaded samples since the foot was unloaded for long
        self._asked = False  # whether the strike of the present contact is known

    def push(self, time: float, vertical: float) -> tuple[list[Span], list[Span]]:
        """Take a sample: time [s], later than the one before, and vertical force [N], NaN where it is not known.

        A contact whose force is below the firm level before it is not known has ended. A gait cycle goes on over a
        force that is not known for no longer than a dropout, while no foot is firmly on the ground.

        Returns:
            The contacts that have ended, and the gait cycles (from strike to strike) that have; mostly none.
        """
        if not np.isfinite(vertical):
            return self._lost(time)
        if time - self._first > LONGEST_CONTACT or time - self._unknown > LONGEST_DROPOUT:
            self.clear()
        self._unknown = np.nan
        self._time.append(time)
        self._vertical.append(vertical)
        if vertical > self.threshold:
            self._first = time if np.isnan(self._first) else self._first
            self._last = time
            return [], [] if self._asked or time - self._first < SHORTEST_CONTACT else self._cycles()
        if np.isnan(self._last):  # unloaded for long: the newest sample is enough
            del self._time[:-1], self._vertical[:-1]
        if np.isnan(self._last) or time - self._last < LONGEST_DROPOUT:
            return [], []
        cycles, ended = self._cycles(), self._ended()
        del self._time[:-1], self._vertical[:-1]
        self._first = self._last = np.nan
        self._asked = False
        return ended, cycles

    def _lost(self, time: float) -> tuple[list[Span], list[Span]]:
        """Take a sample without a force."""
        if not self._time:
            self._unknown = time if np.isnan(self._unknown) else self._unknown
            return [], []
        if self._vertical[-1] > self.firm:
            self.clear()
            return [], []
        self._time.append(time)
        self._vertical.append(0.0)
        cycles, ended = self._cycles(), self._ended()
        self._begin_anew()
        self._unknown = time
        return ended, cycles

    def _contacts(self) -> list[Span]:
        spans = contacts(np.array(self._time), np.array(self._vertical), self.threshold, self.firm)
        return [(float(begin), float(end)) for begin, end in spans]

    def _ended(self) -> list[Span]:
        """The contacts of which both ends are known."""
        return [contact for contact in self._contacts() if np.isfinite(contact).all()]

    def _cycles(self) -> list[Span]:
        """Note the strikes of contacts that are long enough for a step; the cycles that end with them."""
        cycles = []
        for begin, _ in self._contacts():
            self._asked = True
            if begin > self._seen:
                if np.isfinite(self._strike):
                    cycles.append((self._strike, begin))
                self._strike = self._seen = begin
        return cycles


BYTES = 1 << 23
"""Size of the ring: some 15 s of a hundred frames a second with 86 muscles."""
HEADER_BYTES = 64
NOTE = 400
"""Largest size of each text of a frame [bytes]."""

OF_FRAME = (
    *("time", "seconds", "coordinates", "wrench", "angle", "moment", "activation", "force", "joint_reaction"),
)
"""Attributes of a frame that a page shows, beside its status."""
TEXTS = ("notes", "faults")


def row_type(live: Live) -> np.dtype[Any]:
    """A frame as a row: number, arrival of its sample (`perf_counter` [s]), whether it failed, status and texts."""
    numbers = [(name, "f8", live.shapes.get(name, ())) for name in OF_FRAME]
    texts = [(name, f"S{NOTE}", ()) for name in (*TEXTS, "said")]
    status = ("status", "i1", (len(live.sides),))
    return np.dtype(
        [("number", "i8", ()), ("received", "f8", ()), ("failed", "?", ()), *numbers, status, *texts]
    )


class FrameRing:
    """Rows of frames in shared memory of `BYTES`; one writes, another one reads."""

    def __init__(self, memory: Any, kind: np.dtype[Any]) -> None:
        self._counts = np.frombuffer(memory, np.int64, 2)  # frames begun, frames done
        slots = (BYTES - HEADER_BYTES) // kind.itemsize
        self.rows: NDArray[Any] = np.frombuffer(memory, kind, slots, HEADER_BYTES)
        self._read = 0

    def write(self, received: float, frame: Frame, said: str = "") -> None:
        """Add a frame, and a sentence that the session says with it."""
        number = int(self._counts[1])
        self._counts[0] = number + 1
        row = self.rows[number % len(self.rows)]
        row["number"], row["received"] = number, received
        for name in (*OF_FRAME, "status", "failed"):
            row[name] = getattr(frame, name)
        # what is off is shown by itself
        texts = {"faults": frame.faults, "notes": [note for note in frame.notes if note not in frame.faults]}
        for name in TEXTS:
            row[name] = "; ".join(texts[name]).encode()[:NOTE]
        row["said"] = said.encode()[:NOTE]
        self._counts[1] = number + 1

    def read(self) -> tuple[NDArray[Any], int]:
        """The frames (k,) since the last reading, and how many before them are lost."""
        first, done = self._read, int(self._counts[1])
        oldest = max(first, done - len(self.rows))
        rows = self.rows[np.arange(oldest, done) % len(self.rows)]
        # what was overwritten meanwhile is no frame any more
        kept = (rows["number"] == np.arange(oldest, done)) & (
            np.arange(oldest, done) > int(self._counts[0]) - 1 - len(self.rows)
        )
        self._read = done
        return rows[kept], done - first - int(kept.sum())
