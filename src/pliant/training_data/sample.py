"""One run as a training sample: arrays over nodes and recorded times."""

import numpy as np

from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import PrescribedMotion, offered
from pliant.run.store import Frame, Run
from pliant.scene.load import parse

NORMAL, OBSTACLE, HANDLE = 0, 1, 3
"""Types of nodes, with the numbers of MeshGraphNets: free, of a rigid body, prescribed by an action."""
LAYOUT = {
    "cells": "(c, 4) int32: nodes of each tetrahedron",
    "node_type": "(n, 1) int32: 0 free, 1 of a rigid body, 3 prescribed (fix, move, rotate, sine)",
    "mesh_pos": "(n, 3) float32: rest positions [m]",
    "world_pos": "(T, n, 3) float32: positions [m]",
    "velocity": "(T, n, 3) float32: velocities [m/s]",
    "stress": "(T, n, 1) float32: von Mises stress [Pa], cells averaged to nodes",
    "contact_force": "(T, n, 3) float32: mean contact force since the frame before [N]",
    "time": "(T,) float64 [s]",
    "series": "(T, s) float64: series of the run; names in the attribute columns",
    "parameters": "(p,) float64: the varied keys that are numbers, in the order of index.json",
}


def sample_arrays(run: Run, every: int, parameters: list[float]) -> tuple[dict[str, AnyArray], Table]:
    """Arrays of the sample and its attributes; ``every`` n-th frame is taken."""
    if len(run.versions) > 1:
        raise InputError("its mesh changes (cuts or cracks), and samples have one mesh")
    bodies = run.topology(0)
    frames = [run.frames[k] for k in range(0, len(run), every)]
    tets = [body.structure.cells.get("tetra") for body in bodies]
    cells = [
        np.asarray(part)[:, :4].astype(np.int64) + body.rows[0]
        for part, body in zip(tets, bodies, strict=True)
        if part is not None and len(part)
    ]
    count = max(body.rows[1] for body in bodies)
    rest = np.zeros((count, 3))
    for body in bodies:
        rest[slice(*body.rows)] = body.structure.rest
    velocities = [frame.velocities for frame in frames]
    found: dict[str, AnyArray] = {
        "cells": np.concatenate(cells).astype(np.int32) if cells else np.zeros((0, 4), np.int32),
        "node_type": _node_types(run, count)[:, None],
        "mesh_pos": rest.astype(np.float32),
        "world_pos": np.stack([frame.positions for frame in frames]).astype(np.float32),
        "time": np.array([frame.time for frame in frames]),
        "parameters": np.array(parameters, float),
    }
    if all(v is not None for v in velocities):
        found["velocity"] = np.stack([v for v in velocities if v is not None]).astype(np.float32)
    if all("stress" in frames[0].field_names(body.name) for body in bodies):
        found["stress"] = np.stack([_stress(frame, count) for frame in frames])[:, :, None].astype(np.float32)
    if run.recorded(0, "contact-forces"):
        forces = [frame.field("contact-force").values for frame in frames]
        found["contact_force"] = np.stack(forces).astype(np.float32)
    columns = [name for name in run.series if name in run.series.frame_columns]
    found["series"] = np.stack([run.series[name][::every] for name in columns], axis=1)
    return found, {"columns": columns, "bodies": {body.name: list(body.rows) for body in bodies}}


def _stress(frame: Frame, count: int) -> Array:
    """Von Mises stress at the nodes (n,)."""
    nodes = np.zeros(count)
    for body in frame.bodies:
        field = frame.field("stress", body.name)
        rows = slice(*body.rows)
        if field.per == "particle":
            nodes[rows] = field.values
            continue
        cells = np.asarray(body.structure.cells["tetra"])[:, :4]
        values = np.repeat(np.asarray(field.values)[: len(cells)], 4)
        size = body.rows[1] - body.rows[0]
        weight = np.bincount(cells.ravel(), minlength=size)
        nodes[rows] = np.bincount(cells.ravel(), values, size) / np.maximum(weight, 1)
    return nodes


def _node_types(run: Run, count: int) -> AnyArray:
    """The type of each node (n,)."""
    types = np.full(count, NORMAL, np.int32)
    scene = parse(run.scene_text, run.path, "scene", meshes=False)
    structures = {record.name: record.structure for record in run.topology(0)}
    simulation = scene.simulation([structures[str(body.name)] for body in scene.bodies])
    for part in simulation.system.world.bodies:
        if not part.model.deforms:
            types[part.rows] = OBSTACLE
    for action in offered([a for _, a in simulation.system.actions], PrescribedMotion):
        types[action.rows] = HANDLE
    return types
