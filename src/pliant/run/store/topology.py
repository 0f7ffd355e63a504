"""Bodies as they are from one topology version to the next, on disk."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import RunError
from pliant.core.tables import Table
from pliant.core.typing import AnyArray
from pliant.embedding.carriers import CARRIERS
from pliant.interfaces import Carrier, StoredExtra, Structure
from pliant.run.store.json_files import plain, read_json
from pliant.run.store.zarr_store import file_name, read_whole, write_whole

_VOLUME_SHARE = "tet-share"  # the name among the extra arrays under which run folders keep it


@dataclass(frozen=True)
class BodyRecord:
    """A body of a run: its rows (start, stop) in the frames, its scene tables and what it is made of."""

    name: str
    rows: tuple[int, int]
    model: Table
    material: Table
    structure: Structure


def write_topology(
    root: Any, folder: Path, version: int, bodies: Sequence[BodyRecord], first_frame: int
) -> None:
    """Write ``topology/VERSION``; it appears as a whole, in place of an older one of that number."""
    draft, final = folder / "topology" / f"draft-{version}", folder / "topology" / str(version)
    for old in (draft, final):
        shutil.rmtree(old, ignore_errors=True)
    attributes: Table = {"first_frame": first_frame, "bodies": len(bodies)}
    top = root.create_group(f"topology/draft-{version}", overwrite=True, attributes=attributes)
    for number, body in enumerate(bodies):
        structure, carrier = body.structure, body.structure.carrier
        attributes = {
            "name": body.name,
            "rows": [int(row) for row in body.rows],
            "model": plain(body.model),
            "material": plain(body.material),
            "spacing": float(structure.spacing),
            "carrier": None if carrier is None else carrier.kind,
        }
        group = top.create_group(str(number), attributes=attributes)
        write_whole(group, "rest", structure.rest)
        write_whole(group, "mass", structure.mass)
        if structure.regions is not None:
            write_whole(group, "regions", structure.regions)
        _write_named(group, "cells", structure.cells)
        _write_named(group, "groups", structure.groups)
        extra = {} if structure.extra is None else structure.extra.arrays()
        if structure.volume_share is not None:
            extra[_VOLUME_SHARE] = structure.volume_share
        if extra:
            _write_named(group, "extra", extra)
        if carrier is not None:
            _write_named(group, "carrier", carrier.arrays())
    os.rename(draft, final)


def first_frames(folder: Path) -> dict[int, int]:
    """First frame of each topology version on disk, in order of versions."""
    versions = sorted(int(p.name) for p in (folder / "topology").glob("*") if p.name.isdigit())
    return {version: _attributes(folder / "topology" / str(version))["first_frame"] for version in versions}


def read_topology(folder: Path, version: int) -> tuple[BodyRecord, ...]:
    """The bodies of a topology version; RunError where it is damaged."""
    top = folder / "topology" / str(version)
    return tuple(_read_body(top / str(number)) for number in range(_attributes(top)["bodies"]))


def _read_body(path: Path) -> BodyRecord:
    attributes = _attributes(path)
    try:
        extra = dict(_read_named(path / "extra")) if (path / "extra").exists() else {}
        share = extra.pop(_VOLUME_SHARE, None)
        structure = Structure(
            rest=read_whole(path / "rest"),
            mass=read_whole(path / "mass"),
            cells=_read_named(path / "cells"),
            groups=_read_named(path / "groups"),
            spacing=attributes["spacing"],
            carrier=_read_carrier(path, attributes["carrier"]),
            regions=read_whole(path / "regions") if (path / "regions").exists() else None,
            extra=StoredExtra(extra) if extra else None,
            volume_share=share,
        )
        start, stop = attributes["rows"]
        name, model, material = attributes["name"], attributes["model"], attributes["material"]
    except (KeyError, ValueError, TypeError) as error:
        raise RunError(f"The run's topology {path} is damaged: {error!r}.") from error
    return BodyRecord(name, (start, stop), model, material, structure)


def _read_carrier(path: Path, kind: str | None) -> Carrier | None:
    if kind is None:
        return None
    if kind not in CARRIERS:
        raise RunError(f"{path} holds an embedded surface of kind '{kind}', which this pliant does not know.")
    carrier: Carrier = CARRIERS[kind].from_arrays(_read_named(path / "carrier"))
    return carrier


def _attributes(path: Path) -> Table:
    attributes = read_json(path / "zarr.json").get("attributes")
    if not isinstance(attributes, dict):
        raise RunError(f"{path / 'zarr.json'} is damaged: it has no attributes.")
    return attributes


def _write_named(group: Any, folder: str, arrays: Mapping[str, AnyArray]) -> None:
    sub = group.create_group(folder, attributes={"names": list(arrays)})
    for name, values in arrays.items():
        write_whole(sub, file_name(name), np.asarray(values))


def _read_named(path: Path) -> dict[str, AnyArray]:
    return {name: read_whole(path / file_name(name)) for name in _attributes(path)["names"]}
