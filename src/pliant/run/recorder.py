"""What a simulation writes into its run folder, and the scene that repeats the run."""

from pathlib import Path

import numpy as np

from pliant.contact.barrier.barrier_contact import BarrierContact
from pliant.core.parameters import to_table
from pliant.core.tables import Table
from pliant.core.typing import AnyArray
from pliant.kernels.element_blocks import MOST_PARTITIONS, WIDTH
from pliant.kernels.jit import ROW_PARTITIONS, SERIAL_ROWS, threads_in_use
from pliant.measures.totals import body_summary
from pliant.models import MODELS
from pliant.run.scenery import keep_meshes
from pliant.run.store import BodyRecord, RunWriter
from pliant.scene.scene import Scene
from pliant.scene.to_toml import scene_text, to_table_of, to_toml
from pliant.simulation.simulation import Simulation
from pliant.state.world import World

SEED = 0
"""What every random start is made with: those of power iterations. Nothing else is random."""
PARTITIONS = {
    "block": WIDTH,
    "most": MOST_PARTITIONS,
    "reduction": ROW_PARTITIONS,
    "serial_below": SERIAL_ROWS,
}
"""How work is divided, whatever the threads: elements a block, partitions at most, parts of a sum over
particles, rows below which one thread does it all. With the mesh they say in which order sums are made."""


def create(
    scene: Scene, simulation: Simulation, folder: Path, frames: int, threads: int, text: str, force: bool
) -> RunWriter:
    """A new run folder for ``simulation``, without a frame yet."""
    plan = simulation.plan
    writer = RunWriter.create(
        folder,
        manifest=_manifest(scene, simulation, threads),
        scene=text,
        columns=simulation.columns,
        step_columns=simulation.step_columns,
        frames_total=frames,
        steps_per_frame=plan.per_frame,
        force=force,
    )
    keep_meshes(scene, folder)
    writer.log(f"step {plan.seconds:.6g} s: {plan.reason}")
    return writer


def begin_recording(scene: Scene, simulation: Simulation, folder: Path, frames: int) -> RunWriter:
    """A new run folder that holds the initial state of a started ``simulation``; ``write_frame`` goes on."""
    writer = create(scene, simulation, folder, frames, threads_in_use(), to_toml(scene), True)
    begin(simulation, writer, scene.record.velocities)
    return writer


def begin(simulation: Simulation, writer: RunWriter, velocities: bool) -> None:
    """Topology, frame and checkpoint of the initial state."""
    first = np.array([simulation.row_of_steps()]) if simulation.step_columns else None
    write_frame(simulation, writer, velocities, first, True)
    writer.write_checkpoint(0, simulation.state())


def write_frame(
    simulation: Simulation, writer: RunWriter, velocities: bool, steps: AnyArray | None, changed: bool
) -> list[float]:
    """Write the frame that ``simulation`` has come to, with its topology where that ``changed``; gives the
    row of its series."""
    world = simulation.system.world
    if changed:
        writer.write_topology(world.topology_version, _records(world), simulation.frame)
    arrays: Table = {"positions": world.x}
    if velocities:
        arrays["velocities"] = world.v
    if world.contact_impulses is not None and world.contact_impulses.recorded:
        arrays["contact-forces"] = world.contact_impulses.mean_force()
    for part in world.bodies:
        if part.mechanics.recorded:
            state = part.mechanics.state()
            for name in part.mechanics.recorded:
                arrays[f"memory.{part.name}.{name}"] = state[name]
    row = simulation.row()
    for _, action in simulation.system.actions:
        if isinstance(action, BarrierContact) and (way := action.take_way()) is not None:
            writer.write_way(simulation.frame, way)
    writer.write_frame(simulation.frame, world.topology_version, arrays, row, steps)
    return row


def _records(world: World) -> list[BodyRecord]:
    return [
        BodyRecord(
            part.name,
            (part.rows.start, part.rows.stop),
            MODELS.describe(part.model),
            to_table(part.material),
            part.structure,
        )
        for part in world.bodies
    ]


def _manifest(scene: Scene, simulation: Simulation, threads: int) -> Table:
    world, plan = simulation.system.world, simulation.plan
    bodies = [body_summary(part.name, part.model.kind, part.structure) for part in world.bodies]
    return {
        "title": scene.title,
        "bodies": bodies,
        "duration": scene.time.duration,
        "fps": scene.time.fps,
        "step": plan.seconds,
        "step_reason": plan.reason,
        "integrator": simulation.integrator.kind,
        "threads": threads,
        "seed": SEED,
        "partitions": PARTITIONS,
        "inputs": scene.input_hashes(),
        "folder": str((scene.folder or Path()).absolute()),
    }


def write_replay(scene: Scene, simulation: Simulation, folder: Path) -> None:
    """``replay.toml`` beside the scene of such a run: the same scene with the decisions, which repeats the
    run to the byte."""
    table = to_table_of(scene, absolute=True)
    if add_decisions(table, simulation):
        (folder / "replay.toml").write_text(scene_text(table))


def add_decisions(table: Table, simulation: Simulation) -> bool:
    """Write what bodies decided into the bodies of a scene's ``table``; True if any."""
    found = False
    bodies = {body.get("name"): body for body in table["bodies"]}
    for part in simulation.system.world.bodies:
        keys = part.mechanics.replay_parameters()
        if keys:
            bodies[part.name]["model"] |= keys
            found = True
    return found
