"""Cases of bars and beams: closed forms of small strain, and the elastica.

Beams are 1 m long and 1/20 of that thick, with Poisson's ratio 0 where the closed form is one-dimensional.
Linear tets: 10 across the thickness, 1 across the width (nothing varies there); quadratic ones: 20 x 1 x 1.
"""

from typing import Any

import numpy as np

from pliant.actions import Fix, Force, Gravity
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.simulation.simulation import Simulation
from pliant.validation.cases import Result, case, relative
from pliant.validation.elastica import elastica
from pliant.validation.scenes import played

BOTH = ("fem", "fem/quadratic")
YOUNG, DENSITY, THICK = 1e7, 1000.0, 0.05
BENDING = YOUNG * THICK**4 / 12.0  # E I [N m2]
LOW, HIGH = plane("x", "min"), plane("x", "max")
WEIGHTS = (1.0, 5.0, 10.0, 20.0)  # q L^3 / E I
TIP_LOADS = (1.0, 5.0, 10.0)  # P L^2 / E I
QUICK = 5.0  # of both
ABOUT: Table = {
    "source": "Euler's elastica, integrated by shooting (Rohde 1953 for own weight, Bisshopp, Drucker 1945)",
    "why": "Linear tets 10 thick are 1 to 3 % too stiff in bending; a beam of 1 : 20 also shears a little.",
}


def fem(model: str, **keys: Any) -> Table:
    """The fem model of "fem" or "fem/quadratic"."""
    return {"type": "fem", "elements": "quadratic" if model == "fem/quadratic" else "linear", **keys}


def beam(model: str, fine: int = 10, **material: float) -> Body:
    """The slender beam along x, ``fine`` linear tets thick."""
    divisions = (20, 1, 1) if model == "fem/quadratic" else (20 * fine, 1, fine)
    properties = {"young": YOUNG, "poisson": 0.0, "density": DENSITY, **material}
    return Body(box(1.0, THICK, THICK, divisions=divisions), model=fem(model), material=properties)


def tip(simulation: Simulation) -> Array:
    """Mean displacement of the free end [m]."""
    world = simulation.system.world
    end = world.rest[:, 0] > world.rest[:, 0].max() - 1e-9
    moved: Array = (world.x - world.rest)[end].mean(axis=0)
    return moved


def settled(body: Body, *actions: Any) -> Simulation:
    """Equilibrium of the clamped body."""
    return played([body], [Fix(body, LOW), *actions], 0.02, integrator="static")[0]


def own_weight(model: str, weight: float, fine: int = 10) -> float:
    """Tip drop over the length for q L^3 / E I = ``weight``."""
    g = weight * BENDING / (DENSITY * THICK**2)
    return -float(tip(settled(beam(model, fine), Gravity(g)))[2])


def _enter_elasticas() -> None:
    for weight in WEIGHTS:

        def drooping(model: str, weight: float = weight) -> Result:
            value, expected = own_weight(model, weight), elastica(weight=weight)[0]
            return relative(value, expected, 0.03, "w/L")

        title = f"theta'' + q (1 - s) cos(theta) = 0, q L^3 / E I = {weight:g}"
        case(f"elastica-weight-{weight:g}", title, BOTH, quick=weight == QUICK, **ABOUT)(drooping)
    for load in TIP_LOADS:

        def loaded(model: str, load: float = load) -> Result:
            body = beam(model)
            push = Force(body, HIGH, value=(0.0, 0.0, -load * BENDING))
            value, expected = -float(tip(settled(body, push))[2]), elastica(tip=load)[0]
            return relative(value, expected, 0.03, "w/L")

        title = f"theta'' + p cos(theta) = 0, P L^2 / E I = {load:g}"
        case(f"elastica-tip-{load:g}", title, BOTH, quick=load == QUICK, **ABOUT)(loaded)


_enter_elasticas()


@case(
    "cantilever",
    "w = F L^3 / 3 E I + 6 F L / 5 G A (small)",
    BOTH,
    source="Timoshenko 1921",
    why="Linear tets 10 thick are 1 to 3 % too stiff in bending.",
)
def cantilever(model: str) -> Result:
    body, force = beam(model), 1e-2
    value = -float(tip(settled(body, Force(body, HIGH, value=(0.0, 0.0, -force))))[2])
    expected = force / (3.0 * BENDING) + 1.2 * force / (0.5 * YOUNG * THICK**2)
    return relative(value, expected, 0.03, "[m]")


@case(
    "hanging-bar",
    "u = rho g L^2 / 2 E (small)",
    BOTH,
    source="Hooke's law, integrated",
    why="Half an edge of the last cell hangs on itself.",
)
def hanging_bar(model: str) -> Result:
    divisions = (1, 1, 10) if model == "fem/quadratic" else (2, 2, 20)
    material = {"young": YOUNG, "poisson": 0.0, "density": DENSITY}
    body = Body(box(THICK, THICK, 1.0, divisions=divisions), model=fem(model), material=material)
    actions = [Gravity(9.81), Fix(body, plane("z", "max"))]
    world = played([body], actions, 0.02, integrator="static")[0].system.world
    value = -float((world.x - world.rest)[world.rest[:, 2] < 1e-9, 2].mean())
    expected = DENSITY * 9.81 / (2.0 * YOUNG)
    return relative(value, expected, 0.03, "[m]")


@case(
    "sudden-load",
    "a bar pulled suddenly reaches 2 F L / E A, at t = 2 L / c",
    BOTH,
    source="d'Alembert's solution",
    why="The front is some cells wide.",
)
def sudden_load(model: str) -> Result:
    body, force = beam(model, 2), 1.0
    actions = [Fix(body, LOW, axes=("x",)), Force(body, HIGH, value=(force, 0.0, 0.0))]
    simulation, _ = played([body], actions, 0.0005, fps=2000.0)
    reached = []
    for _ in range(60):
        simulation.advance()
        reached.append(float(tip(simulation)[0]))
    value = max(reached) / (force / (YOUNG * THICK**2))
    return relative(value, 2.0, 0.03, "over the static stretch")


def free_modes(model: str, length: float, divisions: tuple[int, int, int], **material: float) -> Any:
    """Angular frequencies [rad/s] of the slowest 16 modes of a free bar 0.1 x 0.1 m thick, rigid ones
    included; their shapes (n, 3, 16); its Structure."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    properties = {"young": YOUNG, "poisson": 0.3, "density": DENSITY, **material}
    body = Body(box(length, 0.1, 0.1, divisions=divisions), model=fem(model), material=properties)
    structure = body.structure()
    stiffness = body.model.prepare(structure, body.resolved_material).rest_stiffness().tocsc()
    mass = np.repeat(structure.mass, 3)
    shift = -0.01 * YOUNG / DENSITY
    found = eigsh(stiffness, 16, M=diags(mass).tocsc(), sigma=shift, v0=np.ones(len(mass)))
    return np.sqrt(np.maximum(found[0], 0.0)), found[1].reshape(-1, 3, 16), structure


@case(
    "axial-mode",
    "omega = pi sqrt(E / rho) / L of a free bar",
    BOTH,
    source="Rayleigh, Theory of Sound",
    why="20 lumped cells: (pi / 40)^2 / 6 below.",
)
def axial_mode(model: str) -> Result:
    divisions = (10, 1, 1) if model == "fem/quadratic" else (20, 2, 2)
    omega, shapes, structure = free_modes(model, 1.0, divisions, poisson=0.0)
    wave = np.cos(np.pi * structure.rest[:, 0])
    value = float(omega[np.argmax(np.abs(np.einsum("n,n,nk->k", structure.mass, wave, shapes[:, 0])))])
    expected = np.pi * np.sqrt(YOUNG / DENSITY)
    return relative(value, expected, 0.03, "[rad/s]")


@case(
    "torsion-mode",
    "omega = pi sqrt(G J / rho I_p) / L, J = 0.1406 a^4, I_p = a^4 / 6",
    BOTH,
    source="Saint-Venant's torsion",
    why="Linear tets 9 thick are 1 to 3 % too stiff in torsion.",
)
def torsion_mode(model: str) -> Result:
    length, divisions = 0.4, (6, 4, 4) if model == "fem/quadratic" else (36, 9, 9)
    omega, shapes, structure = free_modes(model, length, divisions)
    x, y, z = (structure.rest - structure.rest.mean(axis=0)).T
    twist = np.sin(np.pi * x / length)[:, None] * np.stack([0.0 * x, -z, y], axis=1)
    value = float(omega[np.argmax(np.abs(np.einsum("n,nc,nck->k", structure.mass, twist, shapes)))])
    expected = np.pi / length * np.sqrt(YOUNG / 2.6 / DENSITY * 0.1406 * 6.0)
    return relative(value, expected, 0.03, "[rad/s]")
