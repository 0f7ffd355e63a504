"""Small static equilibria of any model: the displacement that balances prescribed ones."""

from typing import Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Mechanics, StoredEnergy, Structure

STEP = 1e-5  # of the spacing: size of the differences that products with the stiffness are made of


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
        scale = STEP * structure.spacing / size
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
