"""Decompression that ends before it fills the memory: a small file may stand for gigabytes."""

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from pliant.core.errors import MeshError

MODULE = "meshio.vtu._vtu"  # the one reader that decompresses


class _Bounded:
    """Stands for the module ``zlib`` or ``lzma``: all that it decompresses is at most ``budget`` bytes."""

    def __init__(self, module: Any, budget: list[int]) -> None:
        self._module, self._budget = module, budget

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def decompress(self, data: Any) -> bytes:
        left = self._budget[0]
        decoder: Any = zlib.decompressobj() if self._module is zlib else lzma.LZMADecompressor()
        found: bytes = decoder.decompress(bytes(data), left + 1)
        if len(found) > left:
            raise MeshError(
                "the compressed data of the file is far larger than the file.",
                hint="Export the mesh again without compression.",
            )
        self._budget[0] -= len(found)
        return found


@contextmanager
def bounded_decompression(most: int) -> Iterator[None]:
    """While this holds, VTU files are decompressed to ``most`` bytes in all; MeshError for more."""
    reader, budget = import_module(MODULE), [most]
    kept = {name: getattr(reader, name) for name in ("zlib", "lzma") if getattr(reader, name) is not None}
    for name, module in kept.items():
        setattr(reader, name, _Bounded(module, budget))
    try:
        yield
    finally:
        for name, module in kept.items():
            setattr(reader, name, module)
