r"""From one arrangement of levels to another, without a gain of energy.

Refining is inclusion: the finer space contains the field, so positions and velocities stay as they are.
Coarsening leaves momenta as they are, :math:`p' = H^T p`, and takes the positions that are nearest in energy:
:math:`G'^T (\nabla E(G' q') - \nabla E(u)) = 0`, so that for linear bodies :math:`E(G' q') = E(u) - E(u - G'
q')`. The same momenta at other positions have another angular momentum; a small rigid rotation makes up
for it, so that pieces that nothing holds keep both momenta. The energy of both is checked: where it would
rise, what is not rigid in the motion pays for it, or the change is refused."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import element_kernels, level_kernels, motion_kernels
from pliant.models.multires.arrangement import Arrangement, Prescribed
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.motion_kernels import NodeMotion

NEWTON, ITERATIONS, RESIDUAL = 3, 60, 1e-4
TOLERATED = 3e-7  # gain of a change, as a share of the largest energy so far, that may be repaid later


def plain_energy(arrangement: Arrangement, motion: NodeMotion) -> float:
    """Kinetic and elastic energy [J]."""
    return arrangement.kinetic_energy(motion) + arrangement.elastic_energy(motion)


def change_levels(
    before: Arrangement, after: Arrangement, motion: NodeMotion, loads: Array, moved: float
) -> float | None:
    """Let ``after`` go on from where ``before`` is; motion is changed in place. Returns the change of the
    elastic and kinetic energy and of the potential of ``loads`` (particles, 3) [N] in J, at most a 3e-7th of
    ``moved`` [J], the largest energy so far; or None where it was refused, and nothing has changed.

    The nearest coarse field of a body that sags under its weight hangs higher: what its elastic energy falls
    by is half of what the weight's potential rises by. That is a gain too."""
    h = before.hierarchy
    level_kernels.interpolate_all(before.own, h.corners, h.weights, motion.x, motion.v)
    energy = plain_energy(before, motion) + _potential(h, motion, loads)
    momenta = momenta_of_pieces(before, motion, before.acting.piece)
    kept = [array.copy() for array in (motion.x, motion.v, motion.p)]
    was, now = set_of(before, h), set_of(after, h)
    if not (was & ~now).any() or not (before.own & ~after.own).any():
        _refine(after, motion)
    else:
        _coarsen(before, after, motion, kept[2].copy())
    restore_momenta(after, motion, after.acting.piece, momenta)
    level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)
    rise = plain_energy(after, motion) + _potential(h, motion, loads) - energy
    if rise > 0.0:
        rise -= pay(after, motion, rise, 0.9, 0.0)
    if rise > TOLERATED * moved:
        for array, old in zip((motion.x, motion.v, motion.p), kept, strict=True):
            array[:] = old
        return None
    level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)
    return rise


def _potential(h: Hierarchy, motion: NodeMotion, loads: Array) -> float:
    """Of ``loads`` on particles [J]."""
    return -float(np.sum(loads * motion.x[h.particles]))


def prescribe(before: Arrangement, flags: BoolArray, motion: NodeMotion) -> Arrangement:
    """What goes on from where ``before`` is with other prescribed degrees of freedom (particles, 3)."""
    h = before.hierarchy
    level_kernels.interpolate_all(before.own, h.corners, h.weights, motion.x, motion.v)
    after = Arrangement(h, before.split, Prescribed(flags), before.beta)
    both = Arrangement(h, before.split, Prescribed(flags | before.prescribed.flags), before.beta)
    v = motion.v[both.active]
    motion.p[:] = 0.0
    motion.p[both.active] = both.momenta_of(v)
    level_kernels.restrict_all(after.own, h.corners, h.weights, motion.p)
    motion_kernels.velocities(after.acting, motion)
    level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)
    return after


def set_of(arrangement: Arrangement, h: Hierarchy) -> BoolArray:
    """Flags (n,) of the active nodes."""
    found = np.zeros(len(h.points), bool)
    found[arrangement.active] = True
    return found


def _refine(after: Arrangement, motion: NodeMotion) -> None:
    own = after.active
    v = np.where(after.held, motion.led[own], motion.v[own])
    p = after.momenta_of(v)
    motion.p[:] = 0.0
    motion.p[own] = p
    motion_kernels.velocities(after.acting, motion)


def _coarsen(before: Arrangement, after: Arrangement, motion: NodeMotion, momenta: Array) -> None:
    """Momenta are handed up; positions are those nearest in energy."""
    h = before.hierarchy
    x, own = motion.x, after.active
    target = np.zeros_like(x)  # forces of the field, on the nodes of the coarser space
    _forces(before, x, target)
    p = momenta
    p[np.setdiff1d(np.arange(len(x)), before.active)] = 0.0
    both = np.concatenate([target, p], axis=1)
    level_kernels.restrict_all(after.own, h.corners, h.weights, both)
    target = both[:, :3]
    fresh = own[~before.own[own] | ~set_of(before, h)[own]]
    fit_nodes(h, x, fresh)
    level_kernels.interpolate_all(after.own, h.corners, h.weights, x, motion.v)
    for _ in range(NEWTON):
        off = np.zeros_like(x)
        _forces(after, x, off)
        off = np.where(after.held, 0.0, off[own] - target[own])
        if np.abs(off).max(initial=0.0) <= RESIDUAL * max(np.abs(target[own]).max(initial=0.0), 1e-30):
            break
        _move(after, x, motion.v, _solve(after, x, off))
        if h.mesh.law in (element_kernels.LINEAR, element_kernels.DEBUNNE):
            break
    motion.p[:] = 0.0
    motion.p[own] = both[own, 3:]
    motion_kernels.velocities(after.acting, motion)


def _move(after: Arrangement, x: Array, spare: Array, by: Array) -> None:
    """Move the active nodes, and what hangs on them."""
    h = after.hierarchy
    x[after.active] += by
    level_kernels.interpolate_all(after.own, h.corners, h.weights, x, spare)


def _forces(arrangement: Arrangement, x: Array, out: Array) -> None:
    """Elastic forces [N] on the active nodes at x, which is known at all nodes."""
    h = arrangement.hierarchy
    element_kernels.cluster_forces(arrangement.clusters, h.clusters, h.mesh.law, h.points, x, out)
    element_kernels.tet_forces(arrangement.tets, h.mesh, x[h.particles], out[h.particles])
    level_kernels.restrict_all(arrangement.own, h.corners, h.weights, out)


def _product(arrangement: Arrangement, x: Array, u: Array) -> Array:
    """``G^T K G u`` of displacements of the active nodes, (a, 3)."""
    h = arrangement.hierarchy
    full, out, spare = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    full[arrangement.active] = u
    level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, full, spare)
    law, clusters = h.mesh.law, h.clusters
    element_kernels.cluster_products(arrangement.clusters, clusters, law, x, full, 1.0, out)
    tets = (arrangement.tets, h.mesh, x[h.particles], full[h.particles], 1.0, out[h.particles])
    element_kernels.tet_products(*tets)
    level_kernels.restrict_all(arrangement.own, h.corners, h.weights, out)
    return np.where(arrangement.held, 0.0, out[arrangement.active])


def _solve(after: Arrangement, x: Array, b: Array) -> Array:
    """``K u = b`` by conjugate gradients; masses stand for the diagonal, to which stiffness is in
    proportion."""
    scale = 1.0 / after.mass[:, None]
    u, r = np.zeros_like(b), b.copy()
    z = scale * r
    d, rho = z.copy(), float(np.sum(r * z))
    first = rho
    for _ in range(ITERATIONS):
        if rho <= RESIDUAL**2 * first or rho == 0.0:
            break
        product = _product(after, x, d)
        curvature = float(np.sum(d * product))
        if curvature <= 0.0:
            break
        step = rho / curvature
        u += step * d
        r -= step * product
        z = scale * r
        rho, last = float(np.sum(r * z)), rho
        d = z + rho / last * d
    return u


def fit_nodes(h: Hierarchy, x: Array, nodes: IntArray) -> None:
    """Positions of ``nodes`` from the affine maps nearest to what hangs on them, the finer ones first."""
    for i in sorted((int(node) for node in nodes), reverse=True):
        some = h.children[h.children_first[i] : h.children_first[i + 1]]
        if not len(some):
            continue
        weight = np.sqrt(np.abs(h.weights[some] * (h.corners[some] == i)).sum(axis=1) + 1e-3)
        centre, there = h.points[some].mean(axis=0), x[some].mean(axis=0)
        arms, moved = h.points[some] - centre, x[some] - there
        turn = np.eye(3)
        if len(some) >= 4:
            a, b = weight[:, None] * arms, weight[:, None] * (moved - arms)
            size = float(np.sum(a * a)) + 1e-30
            gram = a.T @ a + 1e-3 * size * np.eye(3)
            turn = turn + np.linalg.solve(gram, a.T @ b).T
        x[i] = there + turn @ (h.points[i] - centre)


def pay(after: Arrangement, motion: NodeMotion, rise: float, most: float, least: float) -> float:
    """Take ``rise`` [J] out of the motion that is not rigid, at most and at least (negative) so many times
    its energy; returns what was taken."""
    own = after.active
    free = ~after.held
    rigid = _rigid(after, motion.x[own], motion.v[own])
    extra = np.where(free, motion.v[own] - rigid, 0.0)
    energy = 0.5 * float(np.sum(after.momenta_of(extra) * extra))
    if not np.isfinite(rise) or not 0.0 < energy < np.inf:
        return 0.0  # nothing moves, or the run has diverged
    taken = min(max(rise, -least * energy), most * energy)
    share = np.sqrt(1.0 - taken / energy)
    v = np.where(free, rigid + share * extra, motion.v[own])
    motion.p[own] = np.where(free, after.momenta_of(v), motion.p[own])
    motion_kernels.velocities(after.acting, motion)
    return taken


def _rigid(after: Arrangement, x: Array, v: Array) -> Array:
    """The rigid motion (a, 3) with the momenta of each piece, at the present positions; none of pieces that
    something holds."""
    out, p, piece = np.zeros_like(v), after.momenta_of(v), after.acting.piece
    for e in sorted(set(np.unique(piece).tolist()) - held_pieces(after, piece)):
        rows = piece == e
        basis, weighted = _rigid_basis(after, x, rows)
        given = np.einsum("knc,nc->k", basis, p[rows])
        out[rows] = np.einsum("k,knc->nc", _twist(basis, weighted, given), basis)
    return out


def _rigid_basis(after: Arrangement, x: Array, rows: BoolArray) -> tuple[Array, Array]:
    """Rigid velocities (6, r, 3) of the active nodes ``rows`` at x, three translations and three rotations
    about their middle, and their momenta."""
    arms = x[rows] - x[rows].mean(axis=0)
    basis = np.zeros((6, int(rows.sum()), 3))
    weighted, full = np.zeros_like(basis), np.zeros((len(x), 3))
    for c in range(3):
        basis[c, :, c] = 1.0
        basis[3 + c] = np.cross(np.eye(3)[c], arms)
    for k, each in enumerate(basis):
        full[rows] = each
        weighted[k] = after.momenta_of(full)[rows]
    return basis, weighted


def _twist(basis: Array, weighted: Array, momenta: Array) -> Array:
    """The rigid motion (6,) with these momenta: those of ``basis``."""
    gram = np.einsum("knc,lnc->kl", basis, weighted)
    return np.asarray(np.linalg.lstsq(gram, momenta, rcond=None)[0])


def held_pieces(arrangement: Arrangement, piece: IntArray) -> set[int]:
    """The pieces (a,) of which something is held."""
    return set(np.unique(piece[arrangement.held.any(axis=1)]).tolist())


def momenta_of_pieces(arrangement: Arrangement, motion: NodeMotion, piece: IntArray) -> dict[int, Array]:
    """Linear and angular momentum (6,) about the origin of each piece (a,) of which nothing is held."""
    own, found = arrangement.active, dict[int, Array]()
    for e in set(np.unique(piece).tolist()) - held_pieces(arrangement, piece):
        rows = own[piece == e]
        turning = np.cross(motion.x[rows], motion.p[rows]).sum(axis=0)
        found[e] = np.concatenate([motion.p[rows].sum(axis=0), turning])
    return found


def restore_momenta(
    after: Arrangement, motion: NodeMotion, piece: IntArray, wanted: dict[int, Array]
) -> None:
    """Add the rigid motion to each piece (a,) that gives it the ``wanted`` momenta."""
    own, there = after.active, momenta_of_pieces(after, motion, piece)
    for e in sorted(wanted.keys() & there.keys()):
        rows = piece == e
        basis, weighted = _rigid_basis(after, motion.x[own], rows)
        missing = wanted[e] - there[e]
        missing[3:] -= np.cross(motion.x[own[rows]].mean(axis=0), missing[:3])
        twist = _twist(basis, weighted, missing)
        motion.p[own[rows]] += np.einsum("k,knc->nc", twist, weighted)
    motion_kernels.velocities(after.acting, motion)
