"""How far two runs of the same scene are apart, whatever their meshes."""

import numpy as np

from pliant.core.typing import Array
from pliant.embedding.barycentric import embed
from pliant.interfaces import Structure
from pliant.mesh.mesh import Surface
from pliant.run.store import Run


def error_against(run: Run, reference: Run) -> float:
    """Root mean square distance of the particles of ``run`` from where ``reference`` has them, over all
    frames that both have at the same times, and over the largest displacement of the reference.

    A particle's place in the reference is found at rest: in the tet that holds it, or, for a reference
    without tets, from its four nearest particles.
    """
    ratio = float(reference.manifest["fps"]) / float(run.manifest["fps"])
    squares, count, largest = 0.0, 0, 0.0
    first = reference.frames[0]
    names = [body.name for body in run.frames[0].bodies if body.name in {b.name for b in first.bodies}]
    maps = {name: _Map(run.topology(0), reference.topology(0), name) for name in names}
    for frame in run.frames:
        other = round(frame.index * ratio)
        if other >= len(reference) or abs(other - frame.index * ratio) > 1e-9:
            continue
        there = reference.frames[other]
        for name in names:
            before, after = there.record(name).structure.rest, there.body(name)
            if len(after) != maps[name].there or len(frame.body(name)) != maps[name].here:
                continue  # the topology has changed: places at rest no longer match
            largest = max(largest, float(np.linalg.norm(after - before, axis=1).max()))
            apart = frame.body(name) - maps[name].places(after)
            squares += float(np.sum(apart**2))
            count += len(apart)
    if not count or largest == 0.0:
        return float("nan")
    return float(np.sqrt(squares / count)) / largest


class _Map:
    """From the particles of one structure to those of another, by their places at rest."""

    def __init__(self, run: tuple, reference: tuple, name: str) -> None:  # type: ignore[type-arg]
        points: Structure = next(b.structure for b in run if b.name == name)
        target: Structure = next(b.structure for b in reference if b.name == name)
        self.here, self.there = len(points.rest), len(target.rest)
        tets = target.cells.get("tetra")
        if tets is not None and len(tets):
            carrier = embed(Surface(points.rest, np.empty((0, 3), np.int64)), target.rest, tets[:, :4])
            self.indices, self.weights = carrier.indices, carrier.weights
        else:
            from scipy.spatial import cKDTree

            away, near = cKDTree(target.rest).query(points.rest, k=min(4, len(target.rest)))
            share = 1.0 / (np.atleast_2d(away) + 1e-6 * target.spacing) ** 2
            self.indices, self.weights = (
                np.atleast_2d(near).astype(np.uint32),
                share / share.sum(axis=1, keepdims=True),
            )

    def places(self, x: Array) -> Array:
        found: Array = np.einsum("pk,pkc->pc", self.weights, x[self.indices])
        return found
