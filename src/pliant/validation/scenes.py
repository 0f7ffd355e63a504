"""What cases share: small scenes run in memory, and static equilibria of any model near rest."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Integrator, Mechanics, StoredEnergy, Structure
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.scene.scene import TimeSettings
from pliant.simulation.simulation import Simulation

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}


def block(model: Any, divisions: tuple[int, int, int] = (3, 2, 2), **options: Any) -> Body:
    """A structured block with cells of 0.1 m."""
    size = tuple(0.1 * n for n in divisions)
    return Body(box(*size, divisions=divisions), model=model, **{"material": MATERIAL, **options})


def prepared(body: Body) -> tuple[Structure, Any]:
    """The particles of a body, and its mechanics."""
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def end_displacements(simulation: Simulation, low: bool = False) -> Array:
    """Displacements (k, 3) [m] of the particles at the largest x at rest, or at the smallest."""
    world = simulation.system.world
    x = -world.rest[:, 0] if low else world.rest[:, 0]
    return np.asarray((world.x - world.rest)[x > x.max() - 1e-6])


def played(
    bodies: Sequence[Body],
    actions: Sequence[Any],
    seconds: float,
    measures: Sequence[Any] = (),
    integrator: str | Integrator = "leapfrog",
    step: float | str = "auto",
    fps: float = 50.0,
) -> tuple[Simulation, list[dict[str, float]]]:
    """Run a scene in memory: the simulation at its end, and the series of every frame."""
    plan = TimeSettings(duration=seconds, fps=fps, step=step, integrator=integrator)
    return run_in_memory(Scene(bodies, actions, measures, time=plan))


def run_in_memory(scene: Scene) -> tuple[Simulation, list[dict[str, float]]]:
    """The simulation of a scene at its end, and the series of every frame."""
    simulation = scene.simulation()
    simulation.start()
    rows = [simulation.row()]
    for _ in range(scene.time.frames() - 1):
        simulation.advance()
        rows.append(simulation.row())
    return simulation, [dict(zip(simulation.columns, row, strict=True)) for row in rows]


DIFFERENCE = 1e-5  # of the spacing: size of the differences that products with the stiffness are made of


def equilibrium(
    mechanics: Mechanics,
    structure: Structure,
    held: BoolArray,
    given: Array,
    lame: tuple[float, float],
    loads: Array | None = None,
) -> tuple[Array, Array]:
    """Displacements near rest where the degrees of freedom ``held`` (n, 3) have the values ``given`` and the
    others bear ``loads`` [N], and the forces [N] that hold them; (n, 3) each.

    Linear about the rest shape: products with the stiffness are differences of forces, so any model will
    do. Conjugate gradients for models with an energy, GMRES for others; tets help as a preconditioner.
    """
    from scipy.sparse.linalg import LinearOperator, cg, gmres

    free = ~held.ravel()
    rest, still = structure.rest, np.zeros_like(structure.rest)

    def stiffness(u: Array) -> Array:
        size = float(np.abs(u).max())
        if size == 0.0:
            return np.zeros_like(u)
        scale = DIFFERENCE * structure.spacing / size
        ahead, behind = np.zeros_like(rest), np.zeros_like(rest)
        mechanics.add_forces(rest + scale * u.reshape(-1, 3), still, ahead)
        mechanics.add_forces(rest - scale * u.reshape(-1, 3), still, behind)
        return ((behind - ahead) / (2.0 * scale)).ravel()

    def product(w: Any) -> Any:
        full = np.zeros(rest.size)
        full[free] = np.asarray(w).ravel()
        return stiffness(full)[free]

    prescribed = np.where(held, given, 0.0).ravel()
    count = int(free.sum())
    operator: Any = LinearOperator((count, count), matvec=product, dtype=np.float64)
    near = _preconditioner(structure, free, lame)
    right = -stiffness(prescribed)[free]
    if loads is not None:
        right += loads.ravel()[free]
    if mechanics.offer(StoredEnergy):
        found, failed = cg(operator, right, rtol=1e-7, maxiter=5000, M=near)
    else:
        found, failed = gmres(operator, right, rtol=1e-7, restart=100, maxiter=50, M=near)
    if failed:
        raise IncompatibleError("No static equilibrium was found: the model has no stiffness at rest.")
    u = prescribed.copy()
    u[free] = found
    return u.reshape(-1, 3), np.where(held, stiffness(u).reshape(-1, 3), 0.0)


def _preconditioner(structure: Structure, free: BoolArray, lame: tuple[float, float]) -> Any:
    """The inverse of linear elasticity on the body's tets; None where it has none."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import LinearOperator, splu

    from pliant.models.tets.stiffness import linear_stiffness

    if "tetra" not in structure.cells:
        return None
    tets = structure.cells["tetra"]
    lam, mu = (np.full(len(tets), value) for value in lame)
    matrix = linear_stiffness(structure.rest, tets, lam, mu).tocsr()[free][:, free]
    shift = 1e-6 * float(matrix.diagonal().mean())
    factor = splu((matrix + shift * eye_array(matrix.shape[0])).tocsc())
    return LinearOperator(matrix.shape, matvec=factor.solve, dtype=np.float64)
