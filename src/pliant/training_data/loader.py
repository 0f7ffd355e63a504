"""Reads a data set: samples as tables of NumPy arrays or torch tensors."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError, MissingExtra, RunError
from pliant.core.registry import nearest


class Samples(Sequence[dict[str, Any]]):
    """The samples of one split ("train", "valid", "test" or "all") of the data set at ``path``.

    A sample is a table of arrays: cells (c, 4), node_type (n, 1), mesh_pos (n, 3), world_pos (T, n, 3),
    velocity (T, n, 3), stress (T, n, 1), contact_force (T, n, 3), time (T,), series (T, s), parameters (p,).
    ``torch``: tensors, not arrays. ``arrays``: the names to read.
    """

    def __init__(
        self,
        path: str | Path,
        split: str = "train",
        *,
        torch: bool = False,
        arrays: Sequence[str] | None = None,
    ) -> None:
        self.path, self._wanted = Path(path), arrays
        try:
            self.about: dict[str, Any] = json.loads((self.path / "index.json").read_text(encoding="utf-8"))
        except OSError:
            raise RunError(f"{self.path} is not a data set: it has no index.json.") from None
        splits = self.about["splits"]
        if split != "all" and split not in splits:
            raise KeyError(f"split '{split}': there are {', '.join(splits)} and all")
        chosen = splits if split == "all" else [split]
        self.names = [f"{part}/{run}" for part in chosen for run in splits[part]]
        self._convert: Any = np.asarray
        if torch:
            try:
                import torch as library
            except ImportError:
                raise MissingExtra("torch is not installed here.", hint="pip install torch") from None

            self._convert = library.as_tensor
        self._file: Any = None

    def _open(self) -> Any:
        if self._file is None:
            if self.about["format"] == "hdf5":
                import h5py

                self._file = h5py.File(self.path / "data.h5", "r")
            else:
                import zarr

                self._file = zarr.open_group(self.path / "data.zarr", mode="r")
        return self._file

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        group = self._open()[self.names[number]]
        wanted = self._wanted or list(group.keys())
        if lacking := [name for name in wanted if name not in group]:
            known = nearest(lacking[0], list(group.keys()))
            raise InputError(f"A sample has no array '{lacking[0]}'; {known}")
        return {name: self._convert(np.asarray(group[name][...])) for name in wanted}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[number] for number in range(len(self)))
