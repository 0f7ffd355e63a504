"""What is measured of a run of the matrix, and when it counts as good."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import tet_volumes
from pliant.models import MODELS
from pliant.run.store import Run
from pliant.run.store.frames import Frame
from pliant.validation.matrix.figures import SIZE
from pliant.validation.matrix.motions import BALL, Motion

FRAMES, PAIRS = 100, 20  # frames that are looked at for inverted cells and depth, and for two bodies
STILL = 1e-9  # of the energy of a fall by a body's size: less is rounding


@dataclass(frozen=True)
class Limits:
    """Above these a run is not good.

    gain: energy that nothing explains, largest rise, over the largest energy that moved; unexplained: as far
    as the ledger may be from closing, in smooth motion and with impacts; momentum: change of linear and
    angular momentum in free motion, for explicit and implicit steps; volume: change at the end, and ever;
    inverted: share of the cells that is inside out, ever (none may be at the end); depth: of a particle in
    ground or ball, and of a body in another, over the spacing; estimate: factor between time and estimate.
    """

    gain: float = 0.01
    unexplained_smooth: float = 0.001
    unexplained: float = 0.01
    momentum: float = 1e-8
    momentum_implicit: float = 0.01
    volume_end: float = 0.1
    volume: float = 0.3
    inverted: float = 0.01
    depth: float = 0.1
    depth_bodies: float = 0.5
    estimate: float = 2.0


LIMITS = Limits()
CRITERIA = {
    "ended": "X",
    "energy": "E",
    "momentum": "M",
    "volume": "V",
    "inverted": "I",
    "penetration": "P",
    "time": "T",
}
"""Criteria, and the letters that stand for them in tables."""


def measured(run: Run, motion: Motion, body: str) -> Table:
    """The figures of a run, whether it came to its end or not."""
    return {
        **_energy(run),
        **_momentum(run, motion),
        **_volume(run),
        **_cells(run),
        **_depth(run, motion, body),
    }


def judged(figures: Table, motion: Motion, implicit: bool) -> dict[str, bool | None]:
    """For each criterion whether the run is good; None where it does not apply."""
    closed = LIMITS.unexplained_smooth if motion.smooth else LIMITS.unexplained
    drift = LIMITS.momentum_implicit if implicit else LIMITS.momentum
    gains = [figures.get("gain"), figures.get("surplus")]
    if implicit:
        gains.append(figures.get("numerical_gain"))
    ratio = figures.get("time_ratio")
    model = MODELS[figures["model"]] if "model" in figures else None
    oriented, gives_way = model is None or model.oriented, model is None or model.deforms
    depth = figures.get("depth") if gives_way or motion.ball is None else None
    return {
        "ended": figures.get("state") == "done",
        "energy": _all(
            [_below(gain, LIMITS.gain) for gain in gains] + [_below(figures.get("unexplained"), closed)]
        ),
        "momentum": _all(
            [_below(figures.get("linear"), LIMITS.momentum), _below(figures.get("angular"), drift)]
        ),
        "volume": _all(
            [
                _below(figures.get("volume_end"), LIMITS.volume_end),
                _below(figures.get("volume_change"), LIMITS.volume),
            ]
        ),
        "inverted": _all(
            [_below(figures.get("inverted"), LIMITS.inverted), _below(figures.get("inverted_end"), 0.0)]
        )
        if oriented
        else None,
        "penetration": _all(
            [_below(depth, LIMITS.depth), _below(figures.get("depth_bodies"), LIMITS.depth_bodies)]
        ),
        "time": None if not ratio else 1.0 / LIMITS.estimate <= ratio <= LIMITS.estimate,
    }


def _below(value: float | None, limit: float) -> bool | None:
    return None if value is None else bool(value <= limit)  # NaN is not below


def _all(found: list[bool | None]) -> bool | None:
    known = [each for each in found if each is not None]
    return all(known) if known else None


def _energy(run: Run) -> Table:
    """Rises of what nothing explains, over the largest energy that moved."""
    series = run.series
    if len(run) < 2 or "energy.unexplained" not in series:
        return {}
    energy = {name: np.asarray(series[f"energy.{name}"], float) for name in _PARTS}
    own = energy["kinetic"] + energy["elastic"]
    potential = energy["gravity"] + energy["contact"]
    moved = float(np.nanmax([own, np.abs(potential - potential[0]), np.abs(energy["work"])]))
    weight = 9.81 * sum(body.mass for body in run.bodies)
    if not moved > STILL * weight * SIZE:
        return {"moved": moved}
    stored = own + potential + energy["scheme"] - energy["work"]
    unexplained = energy["unexplained"]
    return {
        "moved": moved,
        "gain": _rise(unexplained) / moved,
        "unexplained": _largest(unexplained) / moved,
        "surplus": max(0.0, _largest(np.maximum(stored - stored[0], 0.0))) / moved,
        "numerical": float(energy["numerical"][-1]) / moved,
        "numerical_gain": _rise(-energy["numerical"]) / moved,
        "dissipated": float(energy["dissipated"][-1]) / moved,
    }


_PARTS = (
    "kinetic", "elastic", "gravity", "contact", "scheme", "work", "dissipated", "numerical", "unexplained",
)  # fmt: skip


def _rise(values: Array) -> float:
    """The largest rise over any earlier value; infinite where numbers are not finite."""
    if not np.isfinite(values).all():
        return math.inf
    return float((values - np.minimum.accumulate(values)).max())


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if np.isfinite(values).all() else math.inf


def _momentum(run: Run, motion: Motion) -> Table:
    """Changes of the momenta once no external force acts, over sqrt(2 m K) and that times the size."""
    if motion.free_from is None or len(run) < 3 or "momentum.x" not in run.series:
        return {}
    series, since = run.series, run.times >= motion.free_from - 1e-9
    total = sum(body.mass for body in run.bodies)
    scale = math.sqrt(2.0 * total * float(np.nanmax(series["energy.kinetic"])))
    if not since.any() or not scale > 0.0:
        return {}
    found = {}
    for name, over in (("momentum", scale), ("angular", scale * SIZE)):
        values = np.stack([series[f"{name}.{axis}"][since] for axis in "xyz"], axis=1)
        key = "linear" if name == "momentum" else name
        found[key] = _largest(np.linalg.norm(values - values[0], axis=1)) / over
    return found


def _volume(run: Run) -> Table:
    if len(run) < 2 or "volume" not in run.series:
        return {}
    volume = np.asarray(run.series["volume"], float)
    if not (np.isfinite(volume[0]) and volume[0] > 0.0):
        return {}
    change = np.abs(volume / volume[0] - 1.0)
    last = change[-min(len(change), 10) :]
    return {"volume_change": _largest(change), "volume_end": float(last.mean())}


def _sample(run: Run, most: int) -> Iterator[Frame]:
    """Up to ``most`` frames, evenly spaced, the last one among them."""
    for index in np.unique(np.linspace(0, len(run) - 1, min(most, len(run))).astype(int)):
        yield run.frames[int(index)]


def _cells(run: Run) -> Table:
    """The largest share of tets with negative volume, and that at the end."""
    shares = []
    for frame in _sample(run, FRAMES):
        negative = count = 0
        for body in frame.bodies:
            tets = body.structure.cells.get("tetra")
            if tets is not None and len(tets):
                volumes = tet_volumes(frame.body(body.name), tets[:, :4])
                negative, count = negative + int(np.sum(~(volumes > 0.0))), count + len(tets)
        if count:
            shares.append(negative / count)
    return {"inverted": max(shares), "inverted_end": shares[-1]} if shares else {}


def material_points(frame: Frame) -> Array:
    """Positions of particles that material is at: of rigid bodies those of the surface, without the inner
    ones, which carry the moments of inertia and may be outside."""
    found = []
    for part in frame.bodies:
        x, cells = frame.body(part.name), part.structure.cells
        found.append(x[np.unique(cells["triangle"])] if set(cells) == {"triangle"} else x)
    return np.concatenate(found)


def _depth(run: Run, motion: Motion, body: str) -> Table:
    """How deep particles are in the ground or the ball, and bodies in each other, over their spacing."""
    if not len(run):
        return {}
    found: Table = {}
    spacing = min(part.structure.spacing for part in run.frames[0].bodies)
    if motion.ground:
        depths = [-float(material_points(frame)[:, 2].min()) for frame in _sample(run, FRAMES)]
        found["depth"] = max(0.0, _largest(np.maximum(depths, 0.0))) / spacing
    if motion.ball is not None:
        keys = motion.ball(body)
        times, places = np.array([t for t, _ in keys]), np.array([place for _, place in keys])
        depth = 0.0
        for frame in _sample(run, FRAMES):
            centre = [np.interp(frame.time, times, places[:, k]) for k in range(3)]
            away = np.linalg.norm(material_points(frame) - centre, axis=1)
            depth = max(depth, BALL - float(away.min()))
        found["depth"] = depth / spacing
    if len(run.frames[0].bodies) > 1:
        found["depth_bodies"] = max(_mutual_depth(frame) for frame in _sample(run, PAIRS)) / spacing
    return found


def _mutual_depth(frame: Frame) -> float:
    """The largest depth [m] of a point of a body's surface in another body."""
    if not np.isfinite(frame.positions).all():
        return math.inf
    surfaces = [frame.surface(body.name) for body in frame.bodies if body.structure.carrier is not None]
    depth = 0.0
    for one in surfaces:
        tree = None
        for other in surfaces:
            low, high = one.points.min(axis=0), one.points.max(axis=0)
            near = other.points[((other.points > low) & (other.points < high)).all(axis=1)]
            if other is one or not len(near):
                continue
            tree = tree or Bvh(one.points, one.triangles)
            inside = near[tree.inside(near)]
            if len(inside):
                depth = max(depth, float(tree.nearest(inside)[1].max()))
    return depth
