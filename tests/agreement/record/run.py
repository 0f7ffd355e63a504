"""Run the scenes of the record and write what they come to: hashes, and numbers to judge differences by.

    python tests/agreement/record/run.py OUT.json [NAME ...] [--keep FOLDER]

Everything is read back through ``pl.load``, so that hashes do not depend on how a run lies on disk.
``--keep`` leaves the run folders in FOLDER for a closer look.
"""

import argparse
import hashlib
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait leave the cores to others
sys.path.insert(0, str(Path(__file__).parents[2]))

import pliant as pl
from agreement.record import internals
from agreement.record.scenes import SCENES, Scene, text

TIMED = (".seconds",)  # endings of series that hold measured times


class Digest:
    """SHA-256 over named arrays, whatever their byte order and the width of their integers."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: str, values: Any) -> None:
        array = np.asarray(values)
        kind = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "<i8"}[array.dtype.kind]
        array = np.ascontiguousarray(array, kind)
        self._hash.update(f"{name} {array.shape} {kind};".encode())
        self._hash.update(array.tobytes())

    def __str__(self) -> str:
        return self._hash.hexdigest()


def machine() -> dict[str, str]:
    """What the bytes of results may depend on."""
    import numba
    import scipy

    return {
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }


def _cpu() -> str:
    """Name, family and model of the processor, and which wide instructions it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    first: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        first.setdefault(key.strip(), value.strip())
    flags = first.get("flags", "").split()
    wide = [flag for flag in ("avx", "avx2", "fma", "avx512f") if flag in flags]
    family = f"family {first.get('cpu family', '?')} model {first.get('model', '?')}"
    return " ".join([first.get("model name", platform.processor()), family, *wide])


def play(name: str, folder: Path) -> dict[str, Any]:
    """Run a scene into ``folder`` and sum up what came of it."""
    scene = SCENES[name]
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in scene.files.items():
        (folder / file).write_text(content, encoding="utf-8")
    path = folder / "scene.toml"
    path.write_text(text(scene.tables), encoding="utf-8")
    taken = None
    if scene.hands is not None:
        taken = _take(scene, path)
    place = folder / "run.pliant"
    try:
        pl.read(path).run(to=place, progress=False)
    except pl.errors.PliantError:
        if scene.state == "done":
            raise
    found = summary(pl.load(place))
    if taken is not None:
        digest = Digest()
        for number, positions in enumerate(taken):
            digest.add(str(number), positions)
        found["hashes"]["live"] = str(digest)
        replayed = [frame.positions for frame in pl.load(place).frames]
        found["numbers"]["live.replays"] = float(
            len(replayed) == len(taken) and all(map(np.array_equal, taken, replayed))
        )
    found["misses"] = misses(scene, pl.load(place), found["numbers"])
    return found


def _take(scene: Scene, path: Path) -> list[Any]:
    """Play a scene with hands on it, and put the take in the place of the scene."""
    assert scene.hands is not None
    session = internals.Session(path.read_text(encoding="utf-8"), path.parent)
    time_plan = scene.tables["time"]
    positions = [session.positions()]
    for frame in range(round(time_plan["duration"] * time_plan["fps"])):
        scene.hands(session, frame)
        session.advance()
        positions.append(session.positions())
    path.write_text(session.text(), encoding="utf-8")
    return positions


def misses(scene: Scene, run: Any, numbers: dict[str, float]) -> list[str]:
    """What a scene was to show and did not."""
    found = [f"state is {run.state}, not {scene.state}"] * (run.state != scene.state)
    for key, least in scene.needs.items():
        sign, name = -1.0 if key.startswith("-") else 1.0, key.removeprefix("-")
        values = numbers[name] if name in numbers else run.series[name]
        most = sign * float(np.nanmax(sign * np.asarray(values)))
        if not sign * most >= sign * least:
            found.append(f"{name} comes to {most:g}, not {least:g}")
    return found


def summary(run: Any) -> dict[str, Any]:
    """Hashes and readable numbers of a run."""
    frames, surfaces, topology, series = Digest(), Digest(), Digest(), Digest()
    each, known = [], None
    for frame in run.frames:
        own = Digest()
        own.add("positions", frame.positions)
        if frame.velocities is not None:
            own.add("velocities", frame.velocities)
        frames.add(str(own), [frame.index])
        each.append(str(own)[:12])
        if frame.version != known:
            known = frame.version
            topology.add(f"from frame {frame.index}", [])
            for body in _bodies(frame):
                for name, array in internals.topology(frame, body).items():
                    topology.add(f"{body}.{name}", array)
                topology.add(f"{body}.surface", frame.surface(body).triangles)
        for body in _bodies(frame):
            surfaces.add(f"{frame.index} {body}", frame.surface(body).points)
    names = sorted(name for name in run.series if not name.endswith(TIMED))
    for name in names:
        series.add(name, run.series[name])
    hashes = {
        "frames": str(frames),
        "surfaces": str(surfaces),
        "topology": str(topology),
        "fields": str(_fields(run)),
        "series": str(series),
    }
    return {
        "state": run.state,
        "frames": each,
        "hashes": hashes,
        "numbers": numbers(run, names),
    }


def _bodies(frame: Any) -> list[str]:
    return [body.name for body in frame.bodies]


def _fields(run: Any) -> Digest:
    """All fields of all bodies, at the first and the last frame."""
    digest = Digest()
    for frame in (run.frames[0], run.frames[-1]):
        for body in _bodies(frame):
            for name in sorted(frame.field_names(body)):
                field = frame.field(name, body)
                digest.add(f"{frame.index} {body}.{name} {field.per} {field.unit}", field.values)
    return digest


def numbers(run: Any, names: Iterable[str]) -> dict[str, float]:
    """Numbers to judge a difference by: where bodies end, what they were made of, where series go."""
    last, first = run.frames[-1], run.frames[0]
    x, v = last.positions, last.velocities
    found: dict[str, float] = {"particles": len(x), "particles.first": len(first.positions)}
    found["versions"] = len(run.versions)
    for body in _bodies(last):
        centre = np.average(last.body(body), axis=0, weights=internals.topology(last, body)["mass"])
        found |= {f"{body}.centre.{axis}": value for axis, value in zip("xyz", centre, strict=True)}
    for axis, low, high in zip("xyz", x.min(axis=0), x.max(axis=0), strict=True):
        found |= {f"min.{axis}": low, f"max.{axis}": high}
    if v is not None:
        found["speed.rms"] = math.sqrt(float((v * v).sum(axis=1).mean()))
    for name in names:
        values = run.series[name]
        if name == "energy.total":
            found["energy.total.first"] = values[0]
        finite = values[np.isfinite(values)]
        found[f"{name}.last"] = finite[-1] if len(finite) else 0.0
        found[f"{name}.size"] = float(np.abs(finite).max(initial=0.0))
    return {key: float(value) for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if unknown := set(given.names) - set(SCENES):
        parser.error(f"no such scene: {', '.join(sorted(unknown))}")
    found: dict[str, Any] = {"machine": machine(), "scenes": {}}
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        internals.fill_meshes_in(Path(scratch) / "meshes")
        for name in given.names or SCENES:
            begun, worked = time.perf_counter(), time.process_time()
            try:
                result = play(name, (given.keep or Path(scratch)) / name)
            except Exception as error:  # the other scenes are still worth running
                result = {"state": "error", "frames": [], "hashes": {}, "numbers": {}, "error": repr(error)}
            missed = result.pop("misses", [])
            found["scenes"][name] = result
            told = "; ".join([result["state"], *missed, *([result["error"]] if "error" in result else [])])
            wall, own = time.perf_counter() - begun, time.process_time() - worked
            print(f"{name:40} {wall:6.2f} s, cpu {own:6.2f} s  {told}", file=sys.stderr, flush=True)
    given.out.write_text(dumped(found), encoding="utf-8")
    print(f"{len(found['scenes'])} scenes in {time.perf_counter() - started:.1f} s", file=sys.stderr)


def dumped(found: dict[str, Any]) -> str:
    """JSON with a line for each number, and one for all frames of a scene."""
    body = json.dumps(found, indent=1)
    for scene in found["scenes"].values():
        if scene["frames"]:
            spread = json.dumps(scene["frames"], indent=1).replace("\n", "\n   ")
            body = body.replace(spread, json.dumps(scene["frames"]))
    return body + "\n"


if __name__ == "__main__":
    main()
