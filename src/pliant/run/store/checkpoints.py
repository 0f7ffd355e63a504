"""Checkpoints: flat dictionaries of arrays, each file whole or not there at all."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pliant.core.typing import AnyArray
from pliant.run.store.json_files import replace_file

FOLDER = "checkpoints"
KEPT = 2


def write_checkpoint(folder: Path, frame: int, state: Mapping[str, AnyArray]) -> None:
    """Write ``checkpoints/FRAME.npz`` (safe on disk when this returns) and drop all but the last two."""
    arrays = {name: np.asarray(values) for name, values in state.items()}
    objects = [name for name, values in arrays.items() if values.dtype.hasobject]
    if objects:
        raise ValueError(f"a checkpoint holds plain arrays only, not {', '.join(objects)}")

    def write(file: BinaryIO) -> None:  # as numpy.savez does, for any key, "file" among them
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, values in arrays.items():
                with archive.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, values, allow_pickle=False)

    (folder / FOLDER).mkdir(exist_ok=True)
    replace_file(folder / FOLDER / f"{frame}.npz", write, sync=True)
    for old in frames_of(folder)[:-KEPT]:
        (folder / FOLDER / f"{old}.npz").unlink(missing_ok=True)


def frames_of(folder: Path) -> list[int]:
    """Frames that have a checkpoint, ascending."""
    return sorted(int(path.stem) for path in (folder / FOLDER).glob("*.npz") if path.stem.isdigit())


def read_checkpoint(folder: Path, frame: int) -> dict[str, AnyArray] | None:
    """A checkpoint's arrays, or None where it is missing or damaged (every byte is checked)."""
    path = folder / FOLDER / f"{frame}.npz"
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                return None
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def newest(folder: Path, below: int) -> tuple[int, dict[str, AnyArray]] | None:
    """The newest readable checkpoint of a frame before ``below``."""
    for frame in reversed(frames_of(folder)):
        if frame < below and (state := read_checkpoint(folder, frame)) is not None:
            return frame, state
    return None
