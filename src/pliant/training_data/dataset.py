"""``dataset``: a sweep written as training data, which can be interrupted, continued and rebuilt."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pliant import __version__
from pliant.campaign import Sweep, sweep
from pliant.campaign.plan import AnyScene
from pliant.campaign.points import Point, Variation
from pliant.campaign.progress import SweepProgress
from pliant.core.environment import need
from pliant.core.errors import InputError, Interrupted, PliantError, RunError
from pliant.core.option_names import option
from pliant.core.tables import Table, TableView
from pliant.core.text import counted
from pliant.core.typing import AnyArray
from pliant.run.store.json_files import write_json
from pliant.run.store.run_folder import LOCK, Lock
from pliant.scene.override import Override
from pliant.training_data.card import card_text
from pliant.training_data.loader import Samples
from pliant.training_data.sample import LAYOUT, sample_arrays

SPLITS = ("train", "valid", "test")
FORMATS = ("zarr", "hdf5")
STUDY, INDEX, SUFFIX = "study.sweep", "index.json", ".dataset"


def dataset(
    scene: AnyScene,
    vary: Sequence[Variation] | TableView = (),
    to: str | os.PathLike[str] | None = None,
    *,
    sample: str | None = None,
    points: str | os.PathLike[str] | Sequence[Point] | None = None,
    format: str | None = None,
    split: Sequence[float] | None = None,
    every: int | None = None,
    licence: str | None = None,
    changes: Sequence[Override] = (),
    progress: SweepProgress | bool | None = None,
    **options: Any,
) -> "Dataset":
    """Run a scene at many points and write the runs as training data into the folder ``to``.

    format: "zarr" (default) or "hdf5". split: shares of train, valid and test, default 80, 10, 10; a
    sample's split follows from the hash of its scene, so that it stays where it is when others are added.
    every: of the recorded frames, default 1. Other options are those of ``sweep``. Called again, it does
    what is missing, with the same format, split and frames; ``scene`` may be a data set, which is continued.
    """
    if isinstance(scene, (str, os.PathLike)) and Path(scene).suffix == SUFFIX and not _is_dataset(scene):
        raise RunError(f"{scene} is not a data set: it has no {STUDY}.")
    folder = _folder(scene, to)
    earlier = _index(folder)
    settings = _settings(format, split, every, licence, earlier, folder)
    folder.mkdir(parents=True, exist_ok=True)
    recorded = ("record.velocities", "record.contact-forces")
    study, given = folder / STUDY, list(changes)
    source: AnyScene = study
    if not _is_dataset(scene):
        source, given = scene, [*(Override(key, True, "dataset") for key in recorded), *changes]
    try:
        with _only(folder):
            if earlier is None:  # a data set that is interrupted continues with these settings
                write_json(folder / INDEX, {**settings, "splits": {name: [] for name in SPLITS}})
            found = sweep(
                source, vary, study, sample=sample, points=points, changes=given, progress=progress, **options
            )
            return _write(found, folder, settings)
    except Interrupted as stop:
        raise Interrupted(stop.message, hint=f"Continue with: pliant dataset {folder}") from None
    finally:
        if not study.exists():  # bad input: nothing stays
            for name in (INDEX, LOCK):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()


def _settings(
    format: str | None, split: Sequence[float] | None, every: int | None, licence: str | None,
    earlier: Table | None, folder: Path,
) -> Table:  # fmt: skip
    """The settings of a data set: those of ``earlier``, what is given, or defaults; InputError where what is
    given is wrong or differs from what the samples were made with."""
    if format not in (None, *FORMATS):
        raise InputError(f"{option('format', format)}: expected {' or '.join(FORMATS)}.")
    shares = None if split is None else [float(share) for share in split]
    shown = "" if shares is None else ",".join(f"{share:g}" for share in shares)
    if shares is not None and (len(shares) != 3 or not min(shares) >= 0 or not 0 < sum(shares) < np.inf):
        raise InputError(f"{option('split', shown)}: expected three shares, as in 80,10,10.")
    if every is not None and every < 1:
        raise InputError(f"{option('every', every)}: expected a number above 0.")
    if earlier is not None:
        for name, value, text in (
            ("format", format, format),
            ("split", shares, shown),
            ("every", every, every),
        ):
            if value is not None and value != earlier[name]:
                raise InputError(
                    f"{option(name, text)}: {folder} was made with {earlier[name]}.",
                    hint=f"Leave {option(name)} out, or make another data set.",
                )
    usual: Table = {"format": "zarr", "split": [80.0, 10.0, 10.0], "every": 1, "licence": "not stated"}
    given: Table = {"format": format, "split": shares, "every": every, "licence": licence}
    found = {
        **usual,
        **(earlier or {}),
        **{name: value for name, value in given.items() if value is not None},
    }
    if found["format"] == "hdf5":
        need("HDF5", "h5py")
    return {name: found[name] for name in usual}


class _only:
    """One process at a time writes a data set."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._lock = Lock(self._folder)

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _is_dataset(scene: AnyScene) -> bool:
    return isinstance(scene, (str, os.PathLike)) and (Path(scene) / STUDY).is_dir()


def _folder(scene: AnyScene, to: str | os.PathLike[str] | None) -> Path:
    if to is not None:
        folder = Path(to)
    elif _is_dataset(scene):
        folder = Path(scene)  # type: ignore[arg-type]
    else:
        folder = Path(
            f"{Path(scene).stem}.dataset" if isinstance(scene, (str, os.PathLike)) else "data.dataset"
        )
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / STUDY).is_dir())):
        raise RunError(
            f"{folder} exists and is not a data set; it is not changed.", hint="Choose another name."
        )
    return folder.absolute()


def _index(folder: Path) -> Table | None:
    try:
        table: Table = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return table


def split_of(run: str, shares: Sequence[float]) -> str:
    """The split of a sample, by the hash of its scene."""
    place, below = int(run[:8], 16) / 16**8 * sum(shares), 0.0
    for name, share in zip(SPLITS, shares, strict=True):
        below += share
        if place < below:
            return name
    return SPLITS[-1]


def _write(study: Sweep, folder: Path, settings: Table) -> "Dataset":
    """Add the samples that are not there yet, and the index and card of all."""
    numbers = [
        key for key in study.keys if all(isinstance(p.get(key, 0.0), (int, float)) for p in study.points)
    ]
    splits: dict[str, list[str]] = {name: [] for name in SPLITS}
    refused: list[Table] = []
    for row in study.results:
        name = split_of(row["run"], settings["split"])
        try:
            if not _has(folder, settings["format"], name, row["run"]):
                values = [float("nan") if row[key] is None else float(row[key]) for key in numbers]
                arrays, attributes = sample_arrays(study.run(row["point"]), settings["every"], values)
                _store(folder, settings["format"], name, row["run"], arrays, attributes)
            splits[name].append(row["run"])
        except PliantError as error:
            refused.append({"point": row["point"], "run": row["run"], "reason": str(error)})
    index: Table = {
        **settings, "pliant": __version__, "versions": study.manifest["versions"],
        "scene": Path(study.manifest["scene"]).name, "scene_hash": study.manifest["scene_hash"],
        "parameters": {key: study.manifest["keys"][key]["unit"] for key in numbers},
        "layout": LAYOUT, "splits": splits, "refused": refused, "failures": len(study.failures),
    }  # fmt: skip
    write_json(folder / INDEX, index)
    (folder / "card.md").write_text(card_text(folder.name, index, study), encoding="utf-8")
    return Dataset(folder)


def _has(folder: Path, format: str, split: str, run: str) -> bool:
    if format == "zarr":
        return (folder / "data.zarr" / split / run / "zarr.json").is_file()
    import h5py

    if not (folder / "data.h5").exists():
        return False
    with h5py.File(folder / "data.h5", "r") as file:
        return f"{split}/{run}" in file


def _store(
    folder: Path, format: str, split: str, run: str, arrays: Mapping[str, AnyArray], attributes: Table
) -> None:
    """Write a sample; it appears whole or not at all."""
    if format == "hdf5":
        import h5py

        with h5py.File(folder / "data.h5", "a") as file:
            file.pop("draft", None)
            draft = file.create_group("draft")
            for name, values in arrays.items():
                draft.create_dataset(name, data=values, compression="gzip")
            draft.attrs["about"] = json.dumps(attributes)
            file.require_group(split)
            file.move("draft", f"{split}/{run}")
        return
    import zarr

    root = zarr.open_group(folder / "data.zarr", mode="a")
    root.require_group(split)
    place = folder / "data.zarr" / split
    shutil.rmtree(place / f"draft-{run}", ignore_errors=True)
    draft = root.create_group(f"{split}/draft-{run}", attributes=attributes)
    for name, values in arrays.items():
        chunks = (1, *values.shape[1:]) if values.ndim == 3 and values.size else values.shape or (1,)
        draft.create_array(name, data=values, chunks=tuple(max(1, n) for n in chunks))
    os.replace(place / f"draft-{run}", place / run)


class Dataset:
    """A data set on disk: ``train``, ``valid`` and ``test`` are its samples."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        index = _index(self.path)
        if index is None:
            raise RunError(f"{self.path} is not a data set: it has no index.json.")
        self.index = index

    def samples(self, split: str = "all", **options: Any) -> Samples:
        """The samples of a split; see ``Samples``."""
        return Samples(self.path, split, **options)

    @property
    def train(self) -> Samples:
        return self.samples("train")

    @property
    def valid(self) -> Samples:
        return self.samples("valid")

    @property
    def test(self) -> Samples:
        return self.samples("test")

    @property
    def sweep(self) -> Sweep:
        """The sweep that it was made from."""
        return Sweep(self.path / STUDY)

    def rebuild(self, run: str) -> list[str]:
        """Run a sample again from its scene; the names of arrays that differ by a byte (none should)."""
        from pliant.scene.load import parse

        study, split = self.sweep, split_of(run, self.index["split"])
        if run not in self.index["splits"][split]:
            raise InputError(f"{self.path} has no sample '{run}'.")
        chosen = self.samples(split)
        stored = chosen[chosen.names.index(f"{split}/{run}")]
        first = study.run(run)
        with tempfile.TemporaryDirectory() as place:
            scene = parse(first.scene_text, first.path, str(first.path / "scene.toml"))
            again = scene.run(to=Path(place) / f"{run}.pliant", progress=False)
            arrays, _ = sample_arrays(again, self.index["every"], stored["parameters"].tolist())
        return [name for name in arrays if np.asarray(stored[name]).tobytes() != arrays[name].tobytes()]

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(runs)} {name}" for name, runs in self.index["splits"].items())
        total = sum(map(len, self.index["splits"].values()))
        return f"Dataset({self.path.name!r}: {counted(total, 'sample')}, {counts})"
