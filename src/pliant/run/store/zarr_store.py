"""Arrays in a run folder, through zarr: one file per frame, and plain errors for damaged ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from pliant.core.errors import RunError
from pliant.core.tables import Table, TableView
from pliant.core.typing import AnyArray

_LEVEL = 1  # of zstd: fast


def open_root(path: Path, attributes: TableView | None = None) -> Any:
    """The run's Zarr group for writing, made with ``attributes`` where these are given."""
    import zarr

    if attributes is not None:
        return zarr.create_group(store=str(path), zarr_format=3, attributes=dict(attributes))
    return zarr.open_group(store=str(path), mode="r+", zarr_format=3)


class Stack:
    """An array that grows by one chunk, and so one file, per frame.

    Zarr makes the array; its chunks are plain enough (little-endian values, through zstd where packed) to
    be written here directly, in a tenth of the time. Positions do not shrink by more than a fifth, so only
    a model's history, which often repeats itself, is packed.
    """

    def __init__(self, path: Path, array: Any) -> None:
        self.path, self.shape = path, array.shape
        self.dtype: np.dtype[Any] = array.dtype
        self._tail = ".".join(["", *["0"] * (array.ndim - 1)])
        self._chunk = array.chunks
        self.packed = bool(array.compressors)

    @classmethod
    def create(
        cls, root: Any, folder: Path, name: str, shape: tuple[int, ...], rows: int, dtype: Any,
        packed: bool = False, **attributes: Any,
    ) -> "Stack":  # fmt: skip
        """Make the array ``name``, shape (frames * rows, ...), under the group ``root`` at ``folder``."""
        return cls(folder / name, _create(root, name, shape, (rows, *shape[1:]), dtype, packed, attributes))

    @classmethod
    def open(cls, path: Path) -> "Stack":
        """Go on with an array; RunError where it is missing or damaged."""
        return cls(path, open_array(path))

    def write(self, index: int, values: AnyArray) -> None:
        """Write chunk ``index``; ``values`` has the shape of a chunk, or of its only row."""
        if 0 in self.shape:
            return
        data: Any = np.ascontiguousarray(values, self.dtype.newbyteorder("<")).reshape(self._chunk)
        if self.packed:
            from numcodecs.zstd import Zstd  # type: ignore[import-untyped]

            data = Zstd(level=_LEVEL).encode(data)
        with self.file(index).open("wb") as file:
            file.write(data)

    def read(self, index: int) -> AnyArray:
        """The only row of chunk ``index`` of an array that is not packed; RunError where it is damaged."""
        file = f"{self.path}/c.{index}{self._tail}"  # thousands of them: making Paths would show
        try:
            values: AnyArray = np.fromfile(file, self.dtype.newbyteorder("<"))
            row: AnyArray = values.reshape(self._chunk)[0].astype(self.dtype, copy=False)
            return row
        except FileNotFoundError:
            raise RunError(f"The run is damaged: {file} is missing.") from None
        except (OSError, ValueError) as error:
            raise RunError(f"The run is damaged: {self.path} cannot be read at {index}: {error}") from error

    def file(self, index: int) -> Path:
        """The file of chunk ``index``."""
        return self.path / f"c.{index}{self._tail}"


def _create(
    root: Any, name: str, shape: tuple[int, ...], chunk: tuple[int, ...], dtype: Any, packed: bool,
    attributes: Table, overwrite: bool = True,
) -> Any:  # fmt: skip
    from zarr.codecs import ZstdCodec

    kind = np.dtype(dtype).newbyteorder("=")
    return root.create_array(
        name,
        shape=shape,
        chunks=tuple(max(1, c) for c in chunk),
        dtype=kind,
        compressors=ZstdCodec(level=_LEVEL) if packed else None,
        fill_value=np.nan if kind.kind == "f" else np.zeros((), kind)[()],
        chunk_key_encoding={"name": "default", "separator": "."},
        config={"write_empty_chunks": True},  # a chunk that is not there is then a damaged one
        attributes=attributes,
        overwrite=overwrite,
    )


def write_whole(root: Any, name: str, values: AnyArray) -> None:
    """A constant array, one compressed chunk."""
    values = np.asarray(values)
    array = _create(root, name, values.shape, values.shape, values.dtype, True, {}, overwrite=False)
    if values.ndim and values.dtype.kind in "biuf":
        Stack(Path(root.store.root, root.path, name), array).write(0, values)
    elif values.size:
        array[...] = values


def read_whole(path: Path) -> AnyArray:
    """A constant array; RunError where it is missing or damaged."""
    return _read(path, open_array(path), ..., [0])


def open_array(path: Path) -> Any:
    """An array for reading; RunError where it is missing or damaged."""
    import zarr

    try:
        return zarr.open_array(store=str(path), mode="r", zarr_format=3)
    except Exception as error:
        raise RunError(f"The run's array {path} is missing or damaged: {error}") from error


class ChunkReader:
    """Rows of an array with one row per chunk.

    Chunks that are not packed are read here directly, as they are written, in a third of zarr's time.
    """

    def __init__(self, path: Path) -> None:
        self._array = open_array(path)
        self._stack = Stack(path, self._array)
        self._plain = not self._stack.packed and 0 not in self._stack.shape

    def row(self, index: int) -> AnyArray:
        """Row ``index``; RunError where it is missing or damaged."""
        if self._plain:
            return self._stack.read(index)
        return _read(self._stack.path, self._array, index, [index])


def read_chunks(path: Path, array: Any, count: int, rows: int) -> AnyArray:
    """The first ``count`` chunks of ``rows`` rows each; RunError where one is missing or damaged."""
    return _read(path, array, slice(0, count * rows), range(count))


def _read(path: Path, array: Any, where: Any, chunks: Iterable[int]) -> AnyArray:
    if 0 not in array.shape:
        for index in chunks:
            file = Stack(path, array).file(index) if array.ndim else path / "c"
            if not file.exists():
                raise RunError(f"The run is damaged: {file} is missing.")
    try:
        return np.asarray(array[where])
    except Exception as error:
        raise RunError(f"The run is damaged: {path} cannot be read at {where}: {error}") from error


def file_name(name: str) -> str:
    """A name as a file name: slashes, letters beyond ASCII and the like are escaped."""
    text = quote(name, safe=" ")
    return f"%{ord(text[0]):02X}{text[1:]}" if text[:1] in (".", "_") else text


def name_of(file: str) -> str:
    """The name that ``file_name`` wrote."""
    return unquote(file)
