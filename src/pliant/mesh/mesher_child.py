"""The child process of a mesher: ``python -m pliant.mesh.mesher_child IN.npz OUT.npz``.

fTetWild shuffles its input with a generator seeded from ``std::random_device``, and its Python package has
no seed to set, so the same surface gives another mesh each time. The extension calls the C++ library's
function through its table of imported addresses; ``fix_random_device`` puts the address of a constant
function there. Linux with 64-bit ELF files only; elsewhere nothing happens and the caller is told.
"""

import ctypes
import importlib
import mmap
import struct
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.tables import Table, TableView

SYMBOL = b"_ZNSt13random_device9_M_getvalEv"  # unsigned int std::random_device::_M_getval()
SEED = 20_240_229
_DYNAMIC = 2  # program header type
_STRTAB, _SYMTAB, _RELA, _RELASZ, _JMPREL, _PLTRELSZ = 5, 6, 7, 8, 23, 2
_KEEP: list[Any] = []  # the constant function must outlive the calls


def fix_random_device(module: Path) -> bool:
    """Redirect the random device of a loaded extension ``module``; True when it was found and replaced."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        data = module.read_bytes()
        if data[:6] != b"\x7fELF\x02\x01":
            return False
        base = _base(module)
        slots = list(_slots(_dynamic(data), base))
        if slots:
            constant = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p)(lambda _: SEED)
            _KEEP.append(constant)
            address = ctypes.cast(constant, ctypes.c_void_p).value or 0
            return all(_write(slot, address) for slot in slots)
    except (OSError, ValueError, KeyError, struct.error):
        pass
    return False


def _base(module: Path) -> int:
    """Address at which the module is loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5] == str(module.resolve()) and int(fields[2], 16) == 0:
            return int(fields[0].split("-")[0], 16)
    raise ValueError("not loaded")


def _dynamic(data: bytes) -> dict[int, int]:
    """The dynamic section's tags and values."""
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for k in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, table + k * size)
        if kind == _DYNAMIC:
            return dict(struct.iter_unpack("<qQ", data[offset : offset + length]))
    raise ValueError("no dynamic section")


def _slots(tags: dict[int, int], base: int) -> Iterator[int]:
    """Addresses of the table entries through which the module reaches the symbol."""
    for where, size in ((_JMPREL, _PLTRELSZ), (_RELA, _RELASZ)):
        if where not in tags:
            continue
        entries = ctypes.string_at(base + tags[where], tags[size])
        for offset, info, _ in struct.iter_unpack("<QQq", entries):
            symbol = info >> 32
            if symbol:
                name = ctypes.string_at(base + tags[_SYMTAB] + 24 * symbol, 4)
                if ctypes.string_at(base + tags[_STRTAB] + struct.unpack("<I", name)[0]) == SYMBOL:
                    yield base + offset


def _write(slot: int, address: int) -> bool:
    """Put an address into a table entry, which may be on a read-only page."""
    page = mmap.PAGESIZE
    libc = ctypes.CDLL(None, use_errno=True)
    writable = 1 | 2  # PROT_READ | PROT_WRITE
    if libc.mprotect(ctypes.c_void_p(slot // page * page), ctypes.c_size_t(page), writable) != 0:
        return False
    ctypes.c_uint64.from_address(slot).value = address
    return True


def _tetwild(given: TableView) -> Table:
    """Points and tets from points, triangles and options, and whether the seed could be fixed."""
    try:
        importlib.import_module("pyvista")
    except ImportError:  # pytetwild imports it on loading, but needs it only for functions not used here
        sys.modules["pyvista"] = types.ModuleType("pyvista")
    import pytetwild

    fixed = fix_random_device(Path(pytetwild.pytetwild.PyfTetWildWrapper.__file__))
    points, tets = pytetwild.tetrahedralize(
        given["points"],
        given["triangles"].astype(np.int32),
        edge_length_abs=float(given["edge"]),
        epsilon=float(given["epsilon"]),
        stop_energy=float(given["energy"]),
        coarsen="coarsen" in given,
        num_threads=1,
    )
    return {"points": points, "tets": tets.astype(np.int64), "fixed": np.array(fixed)}


def _tetgen(given: TableView) -> Table:
    """Points and tets from points, triangles and switches."""
    import tetgen

    mesher = tetgen.TetGen(given["points"], given["triangles"].astype(np.int32))
    mesher.tetrahedralize(switches=str(given["switches"]))
    return {"points": mesher.node, "tets": np.asarray(mesher.elem)[:, :4].astype(np.int64)}


if __name__ == "__main__":
    with np.load(sys.argv[1]) as given:
        np.savez(sys.argv[2], **(_tetgen(given) if "switches" in given else _tetwild(given)))
