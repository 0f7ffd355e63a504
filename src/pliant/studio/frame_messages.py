"""Frames for the page as binary messages: the present state of a take, or a recorded frame.

"PLF1", length of the header (uint32), header padded with spaces to a multiple of 4, arrays one after the
other, each padded to a multiple of 4. The header's ``arrays`` says name, type, columns, offset and count.
"""

import json
import struct
from collections.abc import Mapping

import numpy as np

from pliant.actions import ACTIONS
from pliant.core.tables import Table, TableView
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import FieldData
from pliant.measures.totals import body_summary, structure_volume
from pliant.run.store import Run
from pliant.studio.take import Take
from pliant.studio.view_arrays import Fields, ShownBody, dual_arrays, frame_arrays, scene_arrays

MAGIC = b"PLF1"
_TYPES = {"f": (np.float32, "f32"), "i": (np.uint32, "u32"), "u": (np.uint32, "u32")}


def pack(header: TableView, arrays: Mapping[str, AnyArray]) -> bytes:
    """A message; floats go as float32, whole numbers as uint32."""
    listed, chunks, offset = [], [], 0
    for name, values in arrays.items():
        dtype, code = _TYPES[values.dtype.kind]
        data = np.ascontiguousarray(values, dtype)
        columns = data.shape[1] if data.ndim > 1 else 1
        listed.append({"name": name, "type": code, "columns": columns, "offset": offset, "count": data.size})
        chunks.append(data.data.cast("B") if data.size else b"")
        offset += data.nbytes
    text = json.dumps({**header, "arrays": listed}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *chunks])


def unpack(message: bytes) -> tuple[Table, dict[str, AnyArray]]:
    """The header and arrays of a message, for Python clients and tests."""
    if message[:4] != MAGIC:
        raise ValueError("not a message of the studio")
    (length,) = struct.unpack_from("<I", message, 4)
    header = json.loads(message[8 : 8 + length])
    start, arrays = 8 + length, {}
    for entry in header.pop("arrays"):
        dtype = np.float32 if entry["type"] == "f32" else np.uint32
        flat = np.frombuffer(message, dtype, entry["count"], start + entry["offset"])
        arrays[entry["name"]] = flat.reshape(-1, entry["columns"]) if entry["columns"] > 1 else flat
    return header, arrays


class FrameEncoder:
    """Makes messages; what stays the same while the topology does goes out once.

    colours: fields that some page is coloured by; cells: whether dual cells are wanted.
    """

    def __init__(self) -> None:
        self.colours: list[str] = []
        self.particles, self.cells = True, False
        self._version = -1

    def look(self, colours: list[str], particles: bool, cells: bool) -> None:
        if cells and not self.cells:
            self.forget()
        self.colours, self.particles, self.cells = colours, particles, cells

    def forget(self) -> None:
        """Send everything with the next picture."""
        self._version = -1

    def present(self, take: Take, factor: float | None, playing: bool) -> bytes:
        """The state that ``take`` has come to."""
        world, simulation = take.simulation.system.world, take.simulation
        header = {
            "frame": take.frame,
            "time": simulation.time,
            "last": take.frame,
            "rows": [[finite(v) for v in row] for row in take.rows],
            "factor": factor,
            "load": take.busy * take.scene.time.fps,
            "playing": playing,
            **take.hands(),
        }
        take.rows.clear()
        plan = simulation.plan
        about = {"columns": list(simulation.columns), "fps": simulation.fps, "step": plan.seconds}
        about |= {"per_frame": plan.per_frame, "reason": plan.reason, "frames": take.frames}
        return self._pack(header, about, take.bodies(), world.x, world.topology_version, take.field)

    def recorded(self, run: Run, index: int) -> bytes:
        """Frame ``index`` of a run."""
        frame = run.frames[min(index, len(run) - 1)]
        bodies = [
            ShownBody(
                b.name, b.model["type"], slice(*b.rows), b.structure, run.mechanics(frame.version, b.name)
            )
            for b in frame.bodies
        ]
        x = frame.positions

        def field(body: ShownBody, name: str) -> FieldData:
            if name not in frame.field_names(body.name):
                return FieldData(x[body.rows] * 0.0)
            data: FieldData = frame.field(name, body.name)
            return data

        header = {"frame": frame.index, "time": frame.time, "last": len(run) - 1, "rows": []}
        header |= {"factor": None, "load": None, "playing": False, "pulls": [], "barriers": []}
        manifest = run.manifest
        about = {"columns": list(manifest["columns"]), "fps": manifest["fps"], "step": manifest["step"]}
        about |= {"per_frame": manifest["steps_per_frame"], "reason": manifest["step_reason"]}
        return self._pack(header, about | {"frames": len(run)}, bodies, x, frame.version, field)

    def _pack(
        self, header: Table, about: Table, bodies: list[ShownBody], x: Array, version: int, field: Fields
    ) -> bytes:
        arrays, units = frame_arrays(bodies, x, self.colours, self.particles, field)
        whole = version != self._version
        header = {"whole": whole, **header}  # first, so that the server need not read on
        if whole:
            self._version = version
            arrays |= scene_arrays(bodies)
            if self.cells:
                arrays |= dual_arrays(bodies)
            header["scene"] = about | {"bodies": [_describe(body) for body in bodies]}
        header |= {"kind": "frame", "units": units, "topology": version}
        header["volume"] = sum(structure_volume(body.structure, x[body.rows]) for body in bodies)
        return pack(header, arrays)


def _describe(body: ShownBody) -> Table:
    structure = body.structure
    return body_summary(body.name, body.model, structure) | {
        "spacing": float(structure.spacing),
        "low": structure.rest.min(axis=0).tolist(),
        "high": structure.rest.max(axis=0).tolist(),
        "fields": body.fields,
        "can": [
            name
            for name, cls in ACTIONS.items()
            if cls.needs is not None and body.mechanics.offer(cls.needs) is not None
        ],
        "present": getattr(structure.carrier, "kind", "") != "hidden",
        "groups": {name: [int(k) for k in ids] for name, ids in structure.groups.items()},
    }


def finite(value: float) -> float | None:
    """``value``, or None where JSON has no word for it."""
    value = float(value)
    return value if value - value == 0.0 else None
