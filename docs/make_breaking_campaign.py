"""Prints the table of random shatter scenes of docs/fracture.md.

    python docs/make_breaking_campaign.py FOLDER [--scenes 100] [--particles 2000] [--models fem efg lattice]

Scene number n is made of random numbers from seed n: what happens (a drop, a ball that flies into a plate, a
twisted and a pulled bar), material, shape, size, direction, speed. Each is a file in FOLDER; scenes that are
there already are not run again. Columns: energy that went in (kinetic at the start, and work); the largest
``energy.unexplained`` over it; how far kinetic and elastic energy ever exceeded what went in; the
largest fall of ``energy.friction``, in which a gain of contacts could hide; what cracks took; the drift of
the mass, and of both momenta where nothing acts from outside; the largest stretch of an edge (fem) or of
a connection that still holds (efg, lattice); by how much the volume of the shown surface, in the rest shape,
differs from that at the start.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.contact.parameters import Contact
from pliant.core.errors import PliantError
from pliant.mesh.mesh import surface_volume, tet_edges

KINDS = ("drop", "ball", "twist", "pull")
MATERIALS = ("chocolate", "ice", "concrete", "glass", "bone")
MODELS = ("fem", "efg", "lattice")
FRAMES = 20
TRANSITS = 30.0  # of a wave through the body's length, in a drop or an impact


def scene(number: int, particles: int, models: tuple[str, ...]) -> tuple[dict[str, str], Any]:
    """What scene ``number`` is made of, in words, and the scene."""
    random = np.random.default_rng(number)
    kind, model = KINDS[number % len(KINDS)], models[number // len(KINDS) % len(models)]
    material = str(random.choice(MATERIALS))
    properties = pl.materials.resolve(material)
    assert properties.strength is not None
    strength = properties.strength
    speed_of_waves = properties.wave_speed
    break_speed = strength / (properties.density * speed_of_waves)  # of an impact that breaks
    length = float(random.uniform(0.05, 0.3))
    made: dict[str, Any] = {"model": model, "material": {"preset": material}, "name": "body"}
    if kind in ("twist", "pull"):
        thick = float(random.uniform(0.2, 0.3)) * length
        size = np.array([length, thick, thick * float(random.uniform(0.8, 1.2))])
        shape: Any = {"necked-bar": {"size": size.tolist(), "neck": 0.6}}
    elif kind == "ball":
        size = np.array([length, length * float(random.uniform(0.6, 1.0)), length * 0.12])
        shape = {"box": {"size": size.tolist()}}
    else:
        size = length * random.uniform(0.4, 1.0, 3)
        shape = {"box": {"size": size.tolist()}}
    edge = float(np.cbrt(size.prod() / particles))
    if model == "fem":  # as many cells as particles of the others
        made["shape"] = _divided(shape, size, edge)
    else:
        made["shape"], made["edge"] = shape, edge
    duration = TRANSITS * length / speed_of_waves
    actions: list[Any] = []
    bodies: list[Any] = []
    if kind == "drop":
        speed = break_speed * float(random.uniform(2.0, 6.0))
        made["rotation"] = {"axis": random.normal(size=3).tolist(), "degrees": float(random.uniform(0, 90))}
        low = pl.Body(**made).structure().rest[:, 2].min()
        thick = 0.51 * edge if model == "lattice" else 0.0  # elements touch the ground with their faces
        height = thick + 0.02 * speed * duration
        bodies = [pl.Body(**made, position=(0, 0, height - low), velocity=(0, 0, -speed))]
        actions = [pl.Gravity(), pl.Ground(friction=float(random.uniform(0.0, 0.5)))]
    elif kind == "ball":
        speed = break_speed * float(random.uniform(3.0, 8.0))
        radius = 0.15 * length
        at = size * random.uniform(0.3, 0.7, 3)
        place = (at[0], at[1], size[2] + radius + 0.3 * edge)
        duration += 0.3 * edge / speed
        ball = pl.Body(
            pl.shapes.sphere(radius), edge=radius, model="rigid", name="ball", position=place,
            material={"young": properties.young, "poisson": 0.25, "density": 3.0 * properties.density},
            velocity=(0.0, 0.0, -speed),
        )  # fmt: skip
        bodies = [pl.Body(**made), ball]
    else:
        duration *= 2.0
        strain = float(random.uniform(3.0, 5.0)) * strength / properties.young
        ends: list[Any] = [
            {"body": "body", "plane": {"axis": "x", "at": "min"}},
            {"body": "body", "plane": {"axis": "x", "at": "max"}},
        ]
        bodies = [pl.Body(**made)]
        if kind == "pull":
            speed = 0.5 * strain * length / duration
            for end, sign in zip(ends, (-1.0, 1.0), strict=True):
                actions.append(pl.Move(select=end, velocity=(sign * speed, 0, 0)))
        else:
            centre = (0.0, 0.5 * size[1], 0.5 * size[2])
            speed = 4.0 * strain * length / size[1] / duration  # of the angle
            far = pl.Rotate(select=ends[1], axis=(1, 0, 0), centre=centre, speed=speed)
            actions = [pl.Fix(select=ends[0]), far]
    words = {"kind": kind, "model": model, "material": material}
    measures = [pl.Energy(), pl.Momentum(), pl.Fracture()]
    time_settings = pl.TimeSettings(duration=duration, fps=FRAMES / duration)
    contact = Contact(self_="pieces") if model == "fem" else Contact()
    return words, pl.Scene(bodies, actions, measures=measures, time=time_settings, contact=contact)


def _divided(shape: dict[str, Any], size: Any, edge: float) -> dict[str, Any]:
    """``shape`` divided into cells of about ``edge``."""
    ((name, options),) = shape.items()
    divisions = np.maximum(2, np.round(size / edge)).astype(int)
    return {name: {**options, "divisions": divisions.tolist()}}


def figures(number: int, particles: int, models: tuple[str, ...]) -> dict[str, Any]:
    """The figures of scene ``number``."""
    words, made = scene(number, particles, models)
    begun = time.process_time()
    simulation = made.simulation()
    simulation.start()
    world = simulation.system.world
    mass, shown = float(world.mass.sum()), _shown_volume(world)
    rows = [simulation.row()]
    found: dict[str, Any] = {"scene": number, "size": particles, **words, "stopped": ""}
    found["particles"] = world.bodies[0].count
    try:
        for _ in range(FRAMES):
            simulation.advance()
            rows.append(simulation.row())
    except PliantError as error:
        found["stopped"] = str(error)
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    holds = series["energy.kinetic"] + series["energy.elastic"]
    given = max(
        float(series["energy.kinetic"][0]) + float(np.maximum(series["energy.work"], 0.0).max()), 1e-300
    )
    own = holds - np.maximum.accumulate(series["energy.work"])
    gravity = series.get("energy.gravity", np.zeros(len(own)))
    found |= {
        "given": given,
        "unexplained": float(np.abs(series["energy.unexplained"]).max() / given),
        "gain": float((own + gravity - own[0] - gravity[0]).max() / given),
        "returned": float((np.maximum.accumulate(heat := series["energy.friction"]) - heat).max() / given),
        "fracture": float(series["energy.fracture"][-1] / given),
        "pieces": int(series["fracture.pieces"][-1]),
        "mass": abs(float(world.mass.sum()) / mass - 1.0),
        "stretch": _stretch(world.bodies[0], world.x[world.bodies[0].rows]),
        "volume": abs(_shown_volume(world) / shown - 1.0),
        "finite": bool(np.isfinite(world.x).all()),
        "cpu": time.process_time() - begun,
    }  # fmt: skip
    if words["kind"] == "ball":
        for name in ("momentum", "angular"):
            kept = np.stack([series[f"{name}.{c}"] for c in "xyz"])
            found[name] = float(np.abs(kept - kept[:, :1]).max() / np.abs(kept[:, 0]).max())
    return found


def _shown_volume(world: Any) -> float:
    """Volume of the shown surface of the first body in its rest shape [m3]."""
    structure = world.bodies[0].structure
    if structure.carrier is None:
        return float(surface_volume(structure.rest, structure.cells["triangle"]))
    surface = structure.carrier.surface
    return float(surface_volume(structure.carrier.positions(structure.rest), surface.triangles))


def _stretch(part: Any, x: Any) -> float:
    """Largest stretch of an edge, or of a connection that holds."""
    structure, mechanics = part.structure, part.mechanics
    rest = structure.rest
    if "tetra" in structure.cells:
        i, j = tet_edges(structure.cells["tetra"]).T
    elif hasattr(mechanics, "support"):
        s, rest = mechanics.support, mechanics.reference
        i, j = s.rows[s.weight > 0.0], s.around[s.weight > 0.0]
    else:
        i, j = structure.cells["edge"].T
    now, then = (np.linalg.norm(p[j] - p[i], axis=1) for p in (x, rest))
    return float((now / then).max())


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| scene | | particles | pieces | went in [J] | unexplained | gain | returned "
        "| fracture | mass "
        "| momentum, angular | stretch | shown volume |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        momenta = f"{row['momentum']:.0e}, {row['angular']:.0e}" if "momentum" in row else ""
        what = f"{row['model']}, {row['kind']}, {row['material']}{' (stopped)' * bool(row['stopped'])}"
        shares = [f"{100 * row[key]:.2g} %" for key in ("unexplained", "gain", "returned", "fracture")]
        cells = [
            str(row["scene"]), what, str(row["particles"]), str(row["pieces"]), f"{row['given']:.3g}",
            *shares, f"{row['mass']:.0e}", momenta, f"{row['stretch']:.3g}", f"{100 * row['volume']:.2g} %",
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--particles", type=int, default=2000)
    parser.add_argument("--models", nargs="*", default=MODELS)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(asked.scenes):
        path = asked.folder / f"scene-{number:03d}-{asked.particles}.json"
        if not path.exists():
            path.write_text(json.dumps(figures(number, asked.particles, tuple(asked.models))))
        rows.append(json.loads(path.read_text()))
    print(table(rows))


if __name__ == "__main__":
    main()
