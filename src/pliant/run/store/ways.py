"""The ways between frames: the places between which all particles moved straight."""

import os
from pathlib import Path

import numpy as np

from pliant.core.typing import Array

FOLDER = "paths"


def write_way(run: Path, index: int, places: Array) -> None:
    """Keep ``places`` (w, n, 3) [m] of the way to frame ``index``; the file appears as a whole."""
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    draft = folder / f"draft-{index}"
    with draft.open("wb") as file:
        np.savez_compressed(file, places=places)
    os.replace(draft, folder / f"{index}.npz")


def read_way(run: Path, index: int) -> Array | None:
    """The places (w, n, 3) of the way to frame ``index``; None where none were recorded."""
    file = run / FOLDER / f"{index}.npz"
    if not file.is_file():
        return None
    with np.load(file) as kept:
        return np.asarray(kept["places"])
