"""Binary messages to the page: a JSON header, then arrays.

"PLF1", length of the header (uint32), header padded with spaces to a multiple of 4, arrays one after the
other, each padded to a multiple of 4. The header's ``arrays`` says name, type, columns, offset and count.
"""

import json
import struct
from collections.abc import Mapping

import numpy as np

from pliant.core.typing import AnyArray, Table, TableView

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
