"""Elastic solids in equilibrium, near rest: bars, patches, moduli, a thick sphere, a membrane, waves."""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from pliant.actions import Fix, Force
from pliant.core.typing import Array, BoolArray
from pliant.core.where import plane
from pliant.mesh.mesh import TetMesh
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body
from pliant.validation.cases import Result, case, relative
from pliant.validation.material_card import Card, material_card
from pliant.validation.scenes import MATERIAL, block, end_displacements, equilibrium, played, prepared

YOUNG, DENSITY, G = 1e5, 1000.0, 9.81
BAR = {"young": YOUNG, "poisson": 0.25, "density": DENSITY}  # what all models can do
LENGTH, THICK = 1.0, 0.25


def hung(model: str, cells: int, load: Callable[[Array, BoolArray], Array]) -> tuple[Array, float]:
    """Mean displacement [m] of the far end of a bar along x, held at its near end, and the span between the
    two: elements lie half a cell inside the body.

    load: from masses, and which particles lie at the end, to forces (n, 3) [N].
    """
    bar = Body(
        box(LENGTH, THICK, THICK, divisions=(4 * cells, cells, cells), split="uniform"),
        edge=THICK / cells,
        model=model,
        material=BAR,
    )
    structure, mechanics = prepared(bar)
    x = structure.rest[:, 0]
    near, end = x < x.min() + 1e-6, x > x.max() - 1e-6
    held = np.repeat(near[:, None], 3, axis=1)
    loads = load(structure.mass, end)
    u, _ = equilibrium(mechanics, structure, held, np.zeros_like(loads), bar.resolved_material.lame, loads)
    return np.average(u[end], axis=0, weights=structure.mass[end]), float(np.ptp(x))


@case(
    "short-cantilever",
    "tip of a beam of 1 : 4, six cells thick: w = F L^3 / 3 E I + 6 F L / 5 G A",
    source="Timoshenko 1921",
    why="Six cells of linear tets are about 10 % too stiff in bending, and the clamp holds sideways too.",
)
def short_cantilever(model: str) -> Result:
    force = 1e-3

    def load(mass: Array, end: BoolArray) -> Array:
        out = np.zeros((len(mass), 3))
        out[end, 2] = force * mass[end] / mass[end].sum()
        return out

    moved, span = hung(model, 6, load)
    area, bending, shear = THICK**2, YOUNG * THICK**4 / 12.0, YOUNG / 2.5
    expected = force * span**3 / (3.0 * bending) + 1.2 * force * span / (shear * area)
    return relative(float(moved[2]), expected, 0.12, "[m], relative")


@case(
    "hung-bar",
    "end of a bar that hangs by its own weight: u = rho g L^2 / 2 E",
    source="Hooke's law, integrated",
    why="Also held sideways at its top, which matters through Poisson's ratio: 1 to 2 %.",
)
def hung_bar(model: str) -> Result:
    def load(mass: Array, end: BoolArray) -> Array:
        return np.outer(G * mass, [1.0, 0.0, 0.0])

    moved, span = hung(model, 4, load)
    beyond = 0.5 * (LENGTH - span)  # weight outside the outermost elements
    expected = DENSITY * G / YOUNG * span * (0.5 * span + beyond)
    return relative(float(moved[0]), expected, 0.05, "[m], relative")


LINEAR = "linear elasticity"
SPRINGS = (
    "Springs carry forces along edges only (Cauchy's relation, C1122 = C1212: Poisson's ratio 1/4 where they "
    "point every way alike), and in this cube all cells are cut along the same diagonals, so the stiffness "
    "depends on direction too. Everts (2006), 4.4, found the same."
)
SPRING_SPHERE = (
    "By Cauchy's relation a net of springs has Poisson's ratio 1/4 and not 0.3: that alone gives 0.409. The "
    "rest is the direction of its edges, of which those of the layers point around and outward."
)
DUAL = (
    "Forces pass through dual faces whose strains are averages of neighbouring cells: a uniform strain is in "
    "balance on average and not at every particle."
)
PHYXELS = (
    "Strains of linear fields are exact, but forces are sums over particles with the volumes of their cells: "
    "next to the surface that quadrature does not fulfil the divergence theorem (Chen et al. 2001, Int. J. "
    "Numer. Meth. Engng 50, 435), so a uniform strain is in balance inside and not at the surface."
)
LATTICE = (
    "Connections carry forces along themselves only (Cauchy's relation): their lattice is a solid of "
    "Poisson's ratio 1/4, whatever ratio is asked for: G = 2 E / 5, K = 2 E / 3. Of 5 elements across, those "
    "next to driven faces lack the connections that would leave through them: another 10 to 25 %."
)
CELLS = (
    "Cells at the surface stand for the half cells outside of them too, so that next to them the volumetric "
    "stresses of a uniform strain are not in balance: 2 % at Poisson's ratio 0.3, nothing at 1/4."
)
ON_SURFACE = ("mass-spring", "fem", "cpm1", "cpm2", "multires")  # models with particles on the surface
GRADIENT = 1e-3 * np.array([[1.0, 0.4, -0.2], [0.1, -0.5, 0.3], [0.6, 0.2, 0.8]])


@case(
    "patch",
    "surface displaced by u = H X: every inner particle follows exactly",
    source="Irons 1966; any book on finite elements",
    why="The solver stops at 1e-7; linear elements reproduce linear fields to that.",
    cannot={"cpm1": DUAL, "efg": PHYXELS, "lattice": CELLS},
)
def patch(model: str) -> Result:
    body = block(model, (4, 3, 3))
    structure, mechanics = prepared(body)
    rest = structure.rest
    outer = np.any((rest < rest.min(axis=0) + 1e-6) | (rest > rest.max(axis=0) - 1e-6), axis=1)
    expected = rest @ GRADIENT.T
    held = np.repeat(outer[:, None], 3, axis=1)
    u, _ = equilibrium(mechanics, structure, held, expected, body.resolved_material.lame)
    size = float(np.abs(expected).max())
    error = float(np.abs(u - expected).max()) / size
    return error, 0.0, error, 1e-5, "largest deviation over the largest displacement"


@lru_cache(maxsize=16)
def card(model: str) -> Card:
    """The model's material card on a structured cube."""
    return material_card(model, MATERIAL, shape=box(1.0, 1.0, 1.0, divisions=(5, 5, 5)))


def _modulus(name: str, tolerance: float, model: str) -> Result:
    found = card(model)
    value, expected = (float(getattr(part, name)) for part in (found.effective, found.requested))
    if name == "poisson":
        return value, expected, abs(value - expected), tolerance, "absolute"
    return relative(value, expected, tolerance, "[Pa], relative")


for _name, _tolerance, _why in (
    ("young", 0.05, "Models that average over directions or cells are within a few percent on a cube."),
    ("poisson", 0.03, "Absolute; as for Young's modulus."),
    ("shear", 0.05, "As for Young's modulus."),
    ("bulk", 0.05, "As for Young's modulus."),
):
    case(
        f"modulus-{_name}",
        f"{_name} of a cube by virtual tests at a strain of 0.001 = the one asked for",
        source=LINEAR,
        why=_why,
        cannot={"mass-spring": SPRINGS, "lattice": LATTICE},
    )(partial(_modulus, _name, _tolerance))


@case(
    "wave-speed",
    "a bar pulled suddenly: its end turns back at t = 2 L / c, c = sqrt(E / rho)",
    source="d'Alembert's solution",
    why="The front is some cells wide on a mesh of 40 cells, and lateral inertia slows it by a percent.",
)
def wave_speed(model: str) -> Result:
    body = Body(
        box(1.0, 0.05, 0.05, divisions=(40, 2, 2), split="uniform"),
        model=model,
        material=MATERIAL | {"poisson": 0.25},
    )
    low, high = plane("x", "min"), plane("x", "max")
    actions = [Fix(body, low, axes=("x",)), Force(body, high, value=(1e-2, 0.0, 0.0))]
    expected = float(np.sqrt(MATERIAL["young"] / MATERIAL["density"]))
    span = 2.0 / expected
    simulation, _ = played([body], actions, 1e-9, fps=200.0 / span)
    places = [0.0]
    for _ in range(260):
        simulation.advance()
        places.append(float(end_displacements(simulation)[:, 0].mean()))
    top = int(np.argmax(places[:260]))
    a, b, c = places[top - 1 : top + 2]
    turned = (top + 0.5 * (a - c) / (a - 2 * b + c)) * span / 200.0
    return relative(2.0 / turned, expected, 0.05, "[m/s], relative")


@case(
    "thick-sphere",
    "inner surface moved out by u(a): u(b) / u(a) = (1.5 - 1.5 nu) b / ((1 - 2 nu) a + (1 + nu) b^3 / 2 a^2)",
    source="Lame 1852; Timoshenko and Goodier, Theory of Elasticity, section 136",
    why="Four layers over 320 triangles: 3 % for linear tets and 9 % for dual cells; four times as many "
    "triangles bring that to 2.5 % and 0.7 %.",
    models=ON_SURFACE,
    cannot={"mass-spring": SPRING_SPHERE},
)
def thick_sphere(model: str) -> Result:
    inner, outer, layers = 0.1, 0.2, 4
    mesh = hollow_ball(inner, outer, layers)
    body = Body(mesh, model=model, material=MATERIAL)
    structure, mechanics = prepared(body)
    radius = np.linalg.norm(structure.rest, axis=1)
    normal = structure.rest / radius[:, None]
    at_inner, at_outer = radius < inner + 1e-6, radius > outer - 1e-6
    given = 1e-4 * normal * at_inner[:, None]
    held = np.repeat(at_inner[:, None], 3, axis=1)
    u, _ = equilibrium(mechanics, structure, held, given, body.resolved_material.lame)
    value = float(np.einsum("ij,ij->i", u, normal)[at_outer].mean()) / 1e-4
    nu = MATERIAL["poisson"]
    expected = 1.5 * (1 - nu) * outer / ((1 - 2 * nu) * inner + (1 + nu) * outer**3 / (2 * inner**2))
    return relative(value, expected, 0.1)


def hollow_ball(inner: float, outer: float, layers: int) -> TetMesh:
    """Tets between two spheres: an icosphere's triangles, extruded in layers of three tets each."""
    surface = icosphere(1.0, subdivisions=2).surface()
    radii = np.linspace(inner, outer, layers + 1)
    points = np.concatenate([r * surface.points for r in radii])
    count = len(surface.points)
    corners = np.sort(surface.triangles, axis=1)  # the same diagonal on both sides of every wall
    tets = []
    for layer in range(layers):
        a, b, c = (corners[:, k] + layer * count for k in range(3))
        d, e, f = (corners[:, k] + (layer + 1) * count for k in range(3))
        tets += [np.stack(rows, axis=1) for rows in ((a, b, c, f), (a, b, f, e), (a, e, f, d))]
    whole = np.concatenate(tets)
    p = points[whole]
    wrong = np.linalg.det(p[:, 1:] - p[:, :1]) < 0
    whole[wrong] = whole[wrong][:, [0, 2, 1, 3]]
    return TetMesh(points, whole)


@case(
    "cook-membrane",
    "tapered membrane, plane stress, E = 1, nu = 1/3, F = 1: the middle of the free edge rises by 23.96",
    models=("fem",),
    source="Cook 1974; converged value of linear theory",
    why="Linear tets are too stiff in bending: 32 x 32 of them give about 4 %.",
)
def cook(model: str) -> Result:
    from scipy.sparse.linalg import spsolve

    n = 32
    flat = box(1.0, 1.0, 1.0, divisions=(n, n, 1)).volume()
    assert flat is not None
    s, t, z = flat.points.T
    x, y = 48.0 * s, 44.0 * s + t * (44.0 - 28.0 * s)
    mesh = TetMesh(np.stack([x, y, z], axis=1), flat.tets)
    material = {"young": 1.0, "poisson": 1.0 / 3.0, "density": 1.0}
    body = Body(mesh, model=model, material=material)
    structure, mechanics = prepared(body)
    rest = structure.rest
    held, end = rest[:, 0] < 1e-9, np.flatnonzero(rest[:, 0] > 48.0 - 1e-9)
    share = np.where((rest[end, 1] < 44.0 + 1e-9) | (rest[end, 1] > 60.0 - 1e-9), 0.5, 1.0)
    load = np.zeros_like(rest)
    load[end, 1] = share / share.sum()  # a uniform shear: half as much at the corners
    free = np.repeat(~held, 3)
    u = np.zeros(rest.size)
    u[free] = spsolve(mechanics.rest_stiffness().tocsr()[free][:, free].tocsc(), load.ravel()[free])
    middle = np.linalg.norm(rest[:, :2] - [48.0, 52.0], axis=1) < 1e-6
    value = float(u.reshape(-1, 3)[middle, 1].mean())
    return relative(value, 23.96, 0.06)
