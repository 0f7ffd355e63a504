"""Cases of bars and beams: closed forms of small strain, the elastica, a full circle, and locking.

Beams are 1 m long and 1/20 of that thick, with Poisson's ratio 0 where the closed form is one-dimensional.
Linear tets: 10 across the thickness, 1 across the width (nothing varies there); quadratic ones: 20 x 1 x 1.
The soft beam shows what locking does, and what cures it: clamped, 2.0 x 0.2 x 0.2 m, E 3 MPa, density
1200 kg/m3, g 10 m/s2. Its expected tip drops are those of quadratic neo-Hookean elements on a fine mesh.
"""

from functools import partial

import numpy as np

from pliant.actions import Fix, Force, Gravity, Moment
from pliant.core.curves import Curve
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.core.where import all as everything
from pliant.core.where import plane
from pliant.interfaces import Structure
from pliant.measures import Reaction
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.simulation.simulation import Simulation
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import end_displacements, played, prepared


def elastica(weight: float = 0.0, tip: float = 0.0) -> tuple[float, float]:
    r"""Drop w and shortening u of the free end, over the length, of a beam clamped level.

    .. math:: \theta''(s) + (q (1 - s) + p) \cos\theta = 0, \qquad \theta(0) = 0,\; \theta'(1) = 0,

    with :math:`q = q_0 L^3 / EI` (``weight``) and :math:`p = P L^2 / EI` (``tip``), both acting downwards;
    then :math:`w/L = \int \sin\theta\,ds` and :math:`u/L = 1 - \int \cos\theta\,ds`.
    """
    from scipy.integrate import solve_bvp

    def slopes(s: Array, y: Array) -> Array:
        return np.stack([y[1], -(weight * (1.0 - s) + tip) * np.cos(y[0]), np.sin(y[0]), np.cos(y[0])])

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, 1.0, 101)
    guess = np.stack([np.sin(0.5 * np.pi * s), np.cos(0.5 * np.pi * s), s**2, s])
    found = solve_bvp(slopes, ends, s, guess, tol=1e-8, max_nodes=100000)
    if not found.success:
        raise ArithmeticError(f"no elastica for weight {weight:g}, tip load {tip:g}: {found.message}")
    return float(found.y[2, -1]), 1.0 - float(found.y[3, -1])


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


def fem(model: str) -> Table:
    """The fem model of "fem" or "fem/quadratic"."""
    return {"type": "fem", "elements": "quadratic" if model == "fem/quadratic" else "linear"}


def beam(model: str, fine: int = 10, **material: float) -> Body:
    """The slender beam along x, ``fine`` linear tets thick."""
    divisions = (20, 1, 1) if model == "fem/quadratic" else (20 * fine, 1, fine)
    properties = {"young": YOUNG, "poisson": 0.0, "density": DENSITY, **material}
    return Body(box(1.0, THICK, THICK, divisions=divisions), model=fem(model), material=properties)


def tip(simulation: Simulation) -> Array:
    """Mean displacement of the free end [m]."""
    return np.asarray(end_displacements(simulation).mean(axis=0))


def settled(body: Body, *actions: object) -> Simulation:
    """Equilibrium of the clamped body."""
    return played([body], [Fix(body, LOW), *actions], 0.02, integrator="static")[0]


def own_weight(model: str, weight: float, fine: int = 10) -> float:
    """Tip drop over the length for q L^3 / E I = ``weight``."""
    g = weight * BENDING / (DENSITY * THICK**2)
    return -float(tip(settled(beam(model, fine), Gravity(g)))[2])


def _drooping(weight: float, model: str) -> Result:
    return relative(own_weight(model, weight), elastica(weight=weight)[0], 0.03, "w/L")


def _loaded(load: float, model: str) -> Result:
    body = beam(model)
    push = Force(body, HIGH, value=(0.0, 0.0, -load * BENDING))
    return relative(-float(tip(settled(body, push))[2]), elastica(tip=load)[0], 0.03, "w/L")


for _name, _title, _run, _loads in (
    ("weight", "theta'' + q (1 - s) cos(theta) = 0, q L^3 / E I", _drooping, WEIGHTS),
    ("tip", "theta'' + p cos(theta) = 0, P L^2 / E I", _loaded, TIP_LOADS),
):
    for _load in _loads:
        _about = {"quick": _load == QUICK, **ABOUT}
        case(f"elastica-{_name}-{_load:g}", f"{_title} = {_load:g}", BOTH, **_about)(partial(_run, _load))


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
    return relative(value, DENSITY * 9.81 / (2.0 * YOUNG), 0.03, "[m]")


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


def free_modes(
    model: str, length: float, divisions: tuple[int, int, int], **material: float
) -> tuple[Array, Array, Structure]:
    """Angular frequencies [rad/s] of the slowest 16 modes of a free bar 0.1 x 0.1 m thick, rigid ones
    included; their shapes (n, 3, 16); its Structure."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    properties = {"young": YOUNG, "poisson": 0.3, "density": DENSITY, **material}
    body = Body(box(length, 0.1, 0.1, divisions=divisions), model=fem(model), material=properties)
    structure, mechanics = prepared(body)
    stiffness = mechanics.rest_stiffness().tocsc()
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
    return relative(value, np.pi * np.sqrt(YOUNG / DENSITY), 0.03, "[rad/s]")


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


FRAMES = 8  # equilibria on the way, 45 degrees each


def rolled(
    model: str, turns: float = 1.0, frames: int = FRAMES, fine: int = 10
) -> tuple[float, float, Array]:
    """Reaction torque [N m] of the clamp over E I / L, angle [rad] of the tip, and where the tip is [m].

    The end carries ``turns`` 2 pi E I / L. Motion across the plane is held: a moment about a fixed axis lets
    a square beam buckle out of it.
    """
    body = beam(model, fine)
    moment = Curve([0.0, 1.0], [0.0, -turns * 2.0 * np.pi * BENDING])
    actions = [
        Fix(body, LOW, axes=("x", "z")),
        Fix(body, everything(), axes=("y",)),
        Moment(body, HIGH, axis=(0.0, 1.0, 0.0), value=moment),
    ]
    measures = [Reaction(select=LOW)]
    simulation, rows = played([body], actions, 1.0, measures, integrator="static", fps=frames)
    world = simulation.system.world
    end = world.rest[:, 0] > 1.0 - 1e-9
    r, r0 = (at[end] - at[end].mean(axis=0) for at in (world.x, world.rest))
    turned = np.arctan2(-float((r[:, 0] * r0[:, 2]).sum()), float((r[:, 2] * r0[:, 2]).sum()))
    angle = turned + 2.0 * np.pi * np.round(turns - turned / (2.0 * np.pi))
    return rows[-1]["reaction.torque.y"] / BENDING, float(angle), world.x[end].mean(axis=0)


@case(
    "full-circle",
    "M = 2 pi E I / L rolls a beam up to a full circle: M L / E I theta = 1",
    BOTH,
    quick=False,
    source="theta = M L / E I of pure bending, exact at any angle for a slender beam",
    why="Linear tets 10 thick are 3 % too stiff; at a strain of t pi / L = 16 % the law softens by 1.6 %.",
)
def full_circle(model: str) -> Result:
    torque, angle, _ = rolled(model)
    return relative(torque / angle, 1.0, 0.03, "reaction torque of the clamp over angle")


DROPS = {0.3: 1.397, 0.45: 1.389}  # [m] by Poisson's ratio
AVERAGED, QUADRATIC = {"locking": "averaged-pressure"}, {"elements": "quadratic", "law": "neo-hookean"}
SET_UPS: dict[str, tuple[Table, tuple[int, int, int], float]] = {  # keys, cells, tolerance
    "fem": ({}, (90, 14, 14), 0.03),  # 20475 particles
    "fem/averaged-pressure": (AVERAGED, (119, 12, 12), 0.01),  # 20280
    "fem/averaged-pressure-coarse": (AVERAGED, (48, 5, 5), 0.05),  # 1764
    "fem/quadratic-neo-hookean": (QUADRATIC, (20, 2, 2), 0.01),  # 1025
}


def drop(poisson: float, keys: Table, divisions: tuple[int, int, int]) -> float:
    """The tip's drop [m] at equilibrium."""
    material = {"young": 3e6, "poisson": poisson, "density": 1200.0}
    beam = Body(
        box(2.0, 0.2, 0.2, divisions=divisions), model={"type": "fem", **keys}, material=material, name="beam"
    )
    return -float(tip(settled(beam, Gravity(10.0)))[2])


def _hanging(poisson: float, model: str) -> Result:
    keys, divisions, tolerance = SET_UPS[model]
    cells = " x ".join(str(n) for n in divisions)
    return relative(
        drop(poisson, keys, divisions), DROPS[poisson], tolerance, f"[m], relative; {cells} cells"
    )


for _poisson in DROPS:
    case(
        f"soft-beam-{_poisson:g}",
        f"a clamped beam under its weight at Poisson's ratio {_poisson:g}",
        tuple(SET_UPS),
        quick=False,
        source="quadratic neo-Hookean elements, converged",
        why="Linear tets are too stiff in bending, the more the nearer Poisson's ratio is to 1/2.",
    )(partial(_hanging, _poisson))
