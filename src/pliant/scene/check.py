"""Looks a scene over without running it: what it comes to, what it will cost, what looks wrong."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from pliant.actions.base import ActionParameters
from pliant.contact.obstacle import ObstacleRuntime
from pliant.contact.obstacle_shape import PLANE, ObstacleShape
from pliant.core.diagnostics import Diagnostics
from pliant.core.tables import Table
from pliant.materials import plausibility
from pliant.measures.totals import BodySummary, body_summary
from pliant.scene.geometry import Progress
from pliant.scene.modelling_warnings import report_modelling
from pliant.scene.run_time import estimated_time
from pliant.scene.scene import UP, Scene
from pliant.simulation.simulation import Simulation
from pliant.state.world import BodyState

LARGE, SMALL = 100.0, 1e-3  # extents [m] beyond which the unit is doubtful


@dataclass(frozen=True)
class BodyReport(BodySummary):
    """A body as it will be simulated; also its box and spacing [m], and constants (SI)."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    spacing: float
    material: dict[str, float]


@dataclass(frozen=True)
class Report:
    """What ``check`` found; memory and disk in bytes.

    wall [s] follows from the first ``covered`` seconds of simulated time, which were timed here and now, and
    so does cpu [s], the CPU time; uncounted: what may make the rest slower.
    """

    title: str
    bodies: tuple[BodyReport, ...]
    duration: float
    frames: int
    step: float
    step_reason: str
    steps: int
    integrator: str
    wall: float
    cpu: float
    covered: float
    uncounted: tuple[str, ...]
    memory: int | None
    disk: int
    warnings: tuple[str, ...]

    def to_dict(self) -> Table:
        """Plain numbers, texts and lists, for JSON."""
        table = asdict(self)
        table["bodies"] = [asdict(body) for body in self.bodies]
        table["warnings"], table["uncounted"] = list(self.warnings), list(self.uncounted)
        return table


def check(scene: Scene, progress: Progress | None = None) -> Report:
    """Build the scene, take a few steps to see what they cost, and report.

    ``progress`` is called with (share done or None, what is happening) while meshes are filled.
    """
    diagnostics = Diagnostics()
    simulation = scene.simulation(scene.structures(diagnostics, progress))
    bodies = tuple(_body(part) for part in simulation.system.world.bodies)
    examine(scene, simulation, diagnostics)
    warnings = tuple(diagnostics.texts())
    simulation.start()
    plan, frames = simulation.plan, scene.time.frames()
    steps = (frames - 1) * plan.per_frame
    return Report(
        title=scene.title,
        bodies=bodies,
        duration=scene.time.duration,
        frames=frames,
        step=plan.seconds,
        step_reason=plan.reason,
        steps=steps,
        integrator=simulation.integrator.kind,
        memory=_memory(),
        disk=_disk(scene, simulation, frames),
        **vars(estimated_time(scene, simulation)),
        warnings=warnings,
    )


def _body(part: BodyState) -> BodyReport:
    rest, known = part.structure.rest, part.material
    constants = {"young": known.young, "poisson": known.poisson, "shear": known.shear}
    return BodyReport(
        **body_summary(part.name, part.model.kind, part.structure),
        low=tuple(rest.min(axis=0).tolist()),
        high=tuple(rest.max(axis=0).tolist()),
        spacing=float(part.structure.spacing),
        material={**constants, "density": known.density, "damping": known.damping},
    )


def _memory() -> int | None:
    """The most memory that this process has used so far [bytes], the scene being built."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _disk(scene: Scene, simulation: Simulation, frames: int) -> int:
    """Bytes of the run folder: positions, other arrays where asked, series, two checkpoints."""
    row = simulation.system.world.x.nbytes
    recorded = 1 + scene.record.velocities + scene.record.contact_forces
    per_frame = row * recorded + 8 * len(simulation.columns)
    per_step = 8 * len(simulation.step_columns) * simulation.plan.per_frame
    return frames * (per_frame + per_step) + 10 * row


def examine(scene: Scene, simulation: Simulation, diagnostics: Diagnostics) -> None:
    """Report what a user should know before the simulation starts, and collect what it reports itself."""
    report_choices(scene, diagnostics)
    diagnostics.collect(simulation.diagnostics)
    for body in scene.bodies:
        for text in plausibility(body.material):
            diagnostics.warn(text, f"body '{body.name}'")
    plan = simulation.plan
    if plan.seconds > plan.limit:
        diagnostics.warn(
            f"the step {plan.seconds:.3g} s is above the stable {plan.limit:.3g} s: the run may diverge"
        )
    if not scene.actions and not any(np.any(b.velocity) or np.any(b.spin) for b in scene.bodies):
        diagnostics.warn("nothing acts on the bodies and they are at rest: nothing will happen")
    runtimes = dict(simulation.system.actions)
    for number, action in enumerate(scene.actions, 1):
        label = f"action {number} ('{action.kind}')"
        for text in _action_warnings(scene, action, label):
            diagnostics.warn(text)
        shape, runtime = scene.located(action).scenery(UP[scene.up]), runtimes.get(label)
        for part in simulation.system.world.bodies:
            if shape is not None and shape.shape == PLANE:
                _warn_below(part, shape, number, diagnostics)
            elif isinstance(runtime, ObstacleRuntime) and runtime.start == 0.0:
                _warn_inside(part, runtime, label, diagnostics)
    for part in simulation.system.world.bodies:
        _warn_extent(part, diagnostics)
    report_modelling(scene, simulation, diagnostics)


def report_choices(scene: Scene, diagnostics: Diagnostics) -> None:
    """Note what follows from the choice of models and contact."""
    if len(scene.bodies) > 1 and not scene.contact.between:
        diagnostics.note("bodies do not collide with each other: contact.between is false")
    for body in scene.bodies:
        for text in body.model.notes(body.resolved_material):
            diagnostics.note(text, f"body '{body.name}'")


def _action_warnings(scene: Scene, action: ActionParameters, label: str) -> Iterator[str]:
    if action.is_zero:
        yield f"{label} does nothing: its value is 0"
    if action.starts >= scene.time.duration:
        yield f"{label} starts at {action.starts:g} s, after the end at {scene.time.duration:g} s"


def _warn_below(part: BodyState, plane: ObstacleShape, number: int, diagnostics: Diagnostics) -> None:
    """Warn of a body that starts below a plane."""
    rest, normal = part.structure.rest, plane.frame[:, 2]
    extent = float((rest.max(axis=0) - rest.min(axis=0)).max())
    depth = float(plane.path.at(0.0) @ normal) - float((rest @ normal).min())
    if depth > 1e-9 * extent:
        diagnostics.warn(
            f"body '{part.name}' starts {depth:.3g} m below the {plane.role} (action {number}) and "
            "will be pushed out at once: move it up with position"
        )


def _warn_inside(part: BodyState, obstacle: ObstacleRuntime, label: str, diagnostics: Diagnostics) -> None:
    """Warn of a body that starts inside an obstacle."""
    depth = -float(obstacle.distances(0.0, part.structure.rest)[0].min())
    if depth > 0.1 * part.structure.spacing:
        diagnostics.warn(
            f"body '{part.name}' starts {depth:.3g} m inside {label} and will be pushed "
            "out at once, which may tear it: move one of them"
        )


def _warn_extent(part: BodyState, diagnostics: Diagnostics) -> None:
    """Warn of a body whose unit of length is doubtful."""
    rest = part.structure.rest
    extent = float((rest.max(axis=0) - rest.min(axis=0)).max())
    name = f"body '{part.name}'"
    if extent > LARGE:
        diagnostics.warn(f"{name} is {extent:.4g} m long: if its mesh is in millimetres, use scale = 0.001")
    if extent < SMALL:
        diagnostics.warn(f"{name} is only {extent:.3g} m long: are its units right? scale makes it larger")
