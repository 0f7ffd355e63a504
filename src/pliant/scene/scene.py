"""A Scene: bodies, what acts on them, what is measured, and the time it takes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer

from pliant.actions import ACTIONS
from pliant.actions.base import ActionParameters
from pliant.contact import Contact
from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError, MeshError, SceneError
from pliant.core.parameters import parameters
from pliant.core.selection import Select
from pliant.core.tables import Table
from pliant.core.typing import Vector
from pliant.core.units import Number, Time, parse
from pliant.integrators import INTEGRATORS
from pliant.interfaces import ActionRuntime, Model, SelfStepping, Structure
from pliant.measures import MEASURES, Energy, Fracture, Momentum, Volume
from pliant.measures.base import MeasureParameters
from pliant.models import MODELS
from pliant.scene.body import Body
from pliant.scene.camera import CameraKeys
from pliant.scene.geometry import Progress
from pliant.simulation.requests import apply_requests
from pliant.simulation.simulation import DeferredAction, Simulation
from pliant.simulation.system import System
from pliant.simulation.time_step import plan_step
from pliant.state.contact_impulses import ContactImpulses
from pliant.state.world import BodyState, World

if TYPE_CHECKING:
    from pliant.run.progress import RunProgress
    from pliant.run.store import Run

Located = TypeVar("Located", Body, ActionParameters)
UP: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def _step(value: Any) -> Any:
    if value is None or value == "auto":
        return "auto"
    seconds = parse(value, "s")
    if seconds <= 0:
        raise ValueError(f'expected seconds above 0, or "auto", got {value!r}')
    return seconds


AnyIntegrator = Annotated[Any, BeforeValidator(INTEGRATORS.build), PlainSerializer(INTEGRATORS.describe)]


@parameters
class TimeSettings:
    """How long, how many frames a second, which step and integrator; refine: whether explicit steps are
    shortened where energy would rise (if not, such runs stop)."""

    duration: Time = Field(default=1.0, gt=0)
    fps: Number = Field(default=50.0, gt=0)
    step: Annotated[Any, BeforeValidator(_step)] = Field(default="auto")
    integrator: AnyIntegrator = "auto"
    refine: bool = True

    def frames(self) -> int:
        """Number of recorded frames, the initial state included."""
        return round(self.duration * self.fps) + 1


@parameters
class RecordSettings:
    """What is recorded besides positions and series.

    velocities [m/s]; contact_forces [N]: the mean contact force on each particle since the frame before;
    paths: with barrier contact, all straight moves that led to a frame, for ``pliant certify --paths``.
    """

    velocities: bool = False
    contact_forces: bool = False
    paths: bool = False


@dataclass
class Scene:
    """Everything a simulation needs. Bodies without a name are called body, body-2, ...; actions may point
    at bodies by name or by the Body object itself."""

    bodies: Sequence[Body]
    actions: Sequence[ActionParameters] = ()
    measures: Sequence[MeasureParameters] = ()
    integrator: Any = None
    step: Any = None
    title: str = ""
    up: Literal["x", "y", "z"] = "z"
    time: TimeSettings = field(default_factory=TimeSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    contact: Contact = field(default_factory=Contact)
    camera: CameraKeys | None = None  # of pictures and exported files
    folder: Path | None = None  # relative mesh paths are looked up here

    def __post_init__(self) -> None:
        _check_lists(self)
        if not self.bodies:
            raise SceneError("A scene needs at least one body.")
        if self.up not in UP:
            raise SceneError(f"up is 'x', 'y' or 'z', not {self.up!r}.")
        given = {"integrator": self.integrator, "step": self.step}
        self.time = replace(self.time, **{key: value for key, value in given.items() if value is not None})
        self.integrator, self.step = self.time.integrator, self.time.step
        named, renamed = name_bodies(self.bodies)
        self.bodies = named
        self.actions = [_point_at(action, renamed) for action in self.actions]
        self.measures = [_point_at(measure, renamed) for measure in self.measures]

    # ------------------------------------------------------------------------------------ building

    def structures(
        self, diagnostics: Diagnostics | None = None, progress: Progress | None = None
    ) -> list[Structure]:
        """Sample every body: meshes are read and filled, and what a user should know is reported."""
        found = []
        for body in self.bodies:
            own = Diagnostics()
            if diagnostics is not None:
                diagnostics.collect(own, f"body '{body.name}'")
            try:
                found.append(self._in_scene(self.located(body)).structure(own, progress, self.up))
            except MeshError as error:
                error.message = f"body '{body.name}': {error.message}"
                raise
        return found

    def located(self, item: Located) -> Located:
        """A body or an action with its mesh file looked up where the scene is."""
        if item.mesh is None or self.folder is None:
            return item
        return replace(item, mesh=self.folder / item.mesh)  # type: ignore[type-var]

    def _in_scene(self, body: Body) -> Body:
        """``body`` with its model as this scene uses it."""
        implicit = math.isinf(self.time.integrator.stability)
        model = body.model.in_scene(implicit, self.contact.method == "barrier")
        return body if model is body.model else replace(body, model=model)

    def simulation(self, structures: Sequence[Structure] | None = None) -> Simulation:
        """Build the Simulation; ``structures`` skips the sampling (for resumed runs)."""
        if structures is None:
            structures = self.structures()
        made = []
        for given_body, structure in zip(self.bodies, structures, strict=True):
            body = self._in_scene(given_body)
            material = body.resolved_material
            _check_limits(body)
            made.append((body, structure, material, body.model.prepare(structure, material)))
        made.sort(
            key=lambda entry: entry[3].offer(SelfStepping) is not None
        )  # those that own their step last
        parts, start, velocities = [], 0, []
        for body, structure, material, mechanics in made:
            assert body.name is not None
            rows = slice(start, start + len(structure.rest))
            parts.append(BodyState(body.name, rows, structure, body.model, material, mechanics))
            velocities.append(body.start_velocities(structure))
            start = rows.stop
        world = World(parts, velocities)
        if self.record.contact_forces:
            world.contact_impulses = ContactImpulses(world.count)
        acting: list[tuple[str, ActionRuntime]] = []
        later: list[DeferredAction] = []
        for number, given in enumerate(self.actions):
            label, make = f"action {number + 1} ('{given.kind}')", partial(self.prepared, given, world)
            if given.late:
                later.append(DeferredAction(given.starts, number, label, make))
            else:
                acting.append((label, make()))
        apply_requests(world, [runtime for _, runtime in acting])  # contact sees the bodies as they will be
        if self.contact.applies(world):
            acting.append(("contact", self.contact.prepare(world, UP[self.up])))
        if self.record.paths:
            if self.contact.method != "barrier":
                raise SceneError(
                    "Paths are recorded with barrier contact only.", hint='Use [contact] method = "barrier".'
                )
            acting[-1][1].way = []  # type: ignore[attr-defined]
        system = System(world, acting)
        wanted = None if self.time.step == "auto" else float(self.time.step)
        integrator, plan = plan_step(system, self.time.integrator, wanted, self.time.fps, self.time.refine)
        comes_apart = any(part.mechanics.can_crack for part in parts) or any(
            action.parts_bodies for action in self.actions
        )
        made_of = self._all_measures(comes_apart)
        simulation = Simulation(system, integrator, plan, self.time.fps, made_of)
        waiting = {each.number for each in later}
        simulation.defer(later, [k for k in range(len(self.actions)) if k not in waiting])
        return simulation

    def prepared(self, action: ActionParameters, world: World) -> ActionRuntime:
        """The runtime of ``action``, for the particles that ``world`` has now."""
        return self.located(action).prepare(world, UP[self.up])

    def _all_measures(self, comes_apart: bool) -> list[MeasureParameters]:
        """Volume, energy and momentum are always there, unless the scene asks for them in its own way;
        and pieces where a body can break."""
        given = {measure.kind for measure in self.measures}
        whole: list[MeasureParameters] = [Volume(), Energy(), Momentum()]
        if comes_apart:
            whole.append(Fracture())
        always = [measure for measure in whole if measure.kind not in given]
        return [*always, *self.measures]

    def input_hashes(self) -> dict[str, str]:
        """SHA-256 of every mesh file, of bodies and of actions."""
        import hashlib

        given = [body.mesh for body in self.bodies] + [action.mesh for action in self.actions]
        files = {str(path): (self.folder or Path()) / path for path in given if path is not None}
        return {
            name: hashlib.sha256(file.read_bytes()).hexdigest()
            for name, file in files.items()
            if file.is_file()
        }

    # -------------------------------------------------------------------------------------- running

    def run(
        self,
        duration: float | None = None,
        fps: float | None = None,
        to: str | Path | None = None,
        *,
        threads: int | None = None,
        force: bool = False,
        progress: "RunProgress | bool | None" = None,
    ) -> "Run":
        """Simulate into the run folder ``to`` (default: the title or "run", with suffix .pliant).

        progress: True shows it on stderr as ``pliant run`` does, False does not; None: on a terminal.
        """
        from pliant.run.progress import progress_reporter
        from pliant.run.runner import run_scene

        changes: Table = {k: v for k, v in (("duration", duration), ("fps", fps)) if v is not None}
        scene = replace(self, time=replace(self.time, **changes), integrator=None, step=None)
        with progress_reporter(progress) as show:
            return run_scene(scene, to, threads=threads, force=force, progress=show)

    def view(self, height: int = 480) -> Any:
        """The viewer, inline in a notebook, ready to run."""
        from pliant.studio.notebook import view_scene

        return view_scene(self, height)


def name_bodies(bodies: Sequence[Body]) -> tuple[list[Body], dict[int, str]]:
    """Bodies with a name each, and the name of each original object by its id."""
    taken = [body.name for body in bodies if body.name is not None]
    for name in taken:
        if taken.count(name) > 1:
            raise SceneError(f"Two bodies are called '{name}'.", hint="Names of bodies must differ.")
    if len({id(body) for body in bodies}) < len(bodies):
        raise SceneError("A scene has the same Body object twice.", hint="Make a second Body.")
    names = complete_names([body.name for body in bodies])
    named = [b if b.name == name else replace(b, name=name) for b, name in zip(bodies, names, strict=True)]
    return named, {id(body): name for body, name in zip(bodies, names, strict=True)}


def complete_names(given: Sequence[str | None]) -> list[str]:
    """Names of bodies, those included that a scene gives to bodies without one: body, body-2, ..."""
    taken = [name for name in given if name is not None]
    free = (name for name in chain(["body"], (f"body-{k}" for k in count(2))) if name not in taken)
    return [next(free) if name is None else name for name in given]


def _check_lists(scene: Scene) -> None:
    """SceneError where a Scene is given something else than lists of bodies, actions and measures."""
    families: tuple[tuple[str, Any, tuple[type, ...]], ...] = (
        ("bodies", scene.bodies, (Body,)),
        ("actions", scene.actions, (ActionParameters, *ACTIONS.values())),
        ("measures", scene.measures, (MeasureParameters, *MEASURES.values())),
    )
    for family, given, classes in families:
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise SceneError(f"{family} are a list, not {_short(given)}.", hint="Write [...] around it.")
        for number, item in enumerate(given):
            if not isinstance(item, classes):
                raise SceneError(
                    f"{family}[{number}] is {_short(item)}.",
                    hint="A Scene takes a list of bodies, one of actions and one of measures.",
                )


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"


def _point_at(item: Any, renamed: dict[int, str]) -> Any:
    """``item`` with names instead of Body objects: in its fields, in lists of bodies and in selections."""

    def name(value: Any) -> Any:
        if isinstance(value, Body):
            if id(value) not in renamed:
                raise SceneError("An action or measure points at a body that is not in the scene.")
            return renamed[id(value)]
        if isinstance(value, Select) and isinstance(value.body, Body):
            return replace(value, body=name(value.body))
        if isinstance(value, tuple) and any(isinstance(each, Body) for each in value):
            return tuple(name(each) for each in value)
        return value

    given = vars(item) if is_dataclass(item) else {}
    changes = {key: new for key, value in given.items() if (new := name(value)) is not value}
    return replace(item, **changes) if changes else item


def _check_limits(body: Body) -> None:
    """Refuse a strength, toughness or yield stress that is given and that the body's model cannot use. Those
    that come with a preset are left out without a word: a rigid body of steel is no mistake."""
    if isinstance(body.material, str) or not isinstance(body.model, Model):
        return
    for each in (body.material, *body.material.regions):
        given = {"strength": each.strength, "toughness": each.toughness, "yield": each.yield_}
        for name, value in given.items():
            if value is not None and name not in body.model.limits:
                able = [f"'{kind}'" for kind in MODELS if name in MODELS[kind].limits]
                raise IncompatibleError(
                    f"Model '{body.model.kind}' of body '{body.name}' does not use the material's {name}.",
                    hint=f"Leave {name} out, or use model {' or '.join(able)}.",
                )
